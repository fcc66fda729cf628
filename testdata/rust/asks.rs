#![no_std]
#![no_main]
struct Noisy(u32);
static mut DROPPED: u32 = 0;
impl Drop for Noisy {
    fn drop(&mut self) {
        unsafe { DROPPED += self.0 };
    }
}
enum Kind {
    Plain,
    Sized(u32),
    Named { size: u32 },
}
macro_rules! check {
    ($c:expr) => {
        if !$c {
            return 0;
        }
    };
}
fn half(n: u32) -> Option<u32> {
    if n % 2 == 0 { Some(n / 2) } else { None }
}
fn quarter(n: u32) -> Option<u32> {
    let once = half(n)?;
    let twice = half(once)?;
    Some(twice)
}
fn keep(kind: &Kind, kept: &mut Option<Noisy>) -> u32 {
    let noisy = Noisy(1);
    if let Kind::Sized(n) = kind {
        if *n > 3 {
            *kept = Some(noisy);
        }
    }
    match kind {
        Kind::Plain => 1,
        Kind::Sized(n) if *n > 2 => *n,
        Kind::Sized(_) => 7,
        Kind::Named { size } => *size,
    }
}
fn checked(a: u32, b: u32) -> u32 {
    check!(a != 3);
    assert!(b < 1000);
    a + b
}
#[no_mangle]
pub extern "C" fn main() -> i32 {
    let mut sum = 0;
    let mut kept = None;
    let kinds = [Kind::Plain, Kind::Sized(2), Kind::Sized(3), Kind::Sized(9), Kind::Named { size: 4 }];
    let mut i = 0;
    while i < 5 {
        sum += keep(&kinds[i], &mut kept);
        sum += checked(i as u32, 2);
        sum += quarter(i as u32 * 2).unwrap_or(1);
        i += 1;
    }
    runs_tests();
    (sum - sum) as i32
}
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
mod test {
    pub fn assert_test_result() {}
    pub fn test_main_static() {
        super::tests_by_closure();
    }
}
fn tests() {
    assert!(half(3).is_none());
}
fn tests_by_closure() {
    tests();
    test::assert_test_result();
}
fn runs_tests() {
    test::test_main_static();
}
