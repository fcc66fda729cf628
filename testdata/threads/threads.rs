//! std::thread, scoped threads and a channel. Each thread counts itself, and writes its slot when it is over, as truth.h
//! has them.

use std::fs::OpenOptions;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::sync::mpsc;
use std::thread;

#[derive(Default)]
struct Slot {
    step: [u64; 4],
    walk: [u64; 8],
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn step(n: u32) {
    if n & 1 != 0 { black_box(1); } else { black_box(2); }
    if n % 3 == 0 { black_box(3); } else { black_box(4); }
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn walk(mut n: i32) {
    loop {
        if n & 1 != 0 { black_box(5); } else { black_box(6); }
        if n > 0 { n -= 1; } else { break; }
    }
}

fn once(slot: &mut Slot, n: u32) {
    step(n);
    slot.step[(n & 1) as usize + usize::from(n % 3 == 0) * 2] += 1;
    let mut left = (n % 5) as i32;
    walk(left);
    let mut first = 1;
    loop {
        let goes_on = left > 0;
        slot.walk[first * 4 + (left & 1) as usize * 2 + usize::from(goes_on)] += 1;
        first = 0;
        if !goes_on { break; }
        left -= 1;
    }
}

fn work(number: u64, rounds: u64) {
    let mut slot = Slot::default();
    let mut seed = number as u32;
    for _ in 0..rounds {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12345);
        once(&mut slot, seed >> 16);
    }
    let words = [u64::from(std::process::id())];
    let words = words.iter().chain(&slot.step).chain(&slot.walk);
    let bytes: Vec<u8> = words.flat_map(|w| w.to_ne_bytes()).collect();
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(std::env::var("TRUTH").unwrap()).unwrap();
    file.write_all_at(&bytes, 4096 + number * 128).unwrap();
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).map_or(1000, |n| n.parse().unwrap());
    let threads: Vec<_> = (0..4).map(|i| thread::spawn(move || work(i, rounds))).collect();
    thread::scope(|scope| {
        for i in 4..8 {
            scope.spawn(move || work(i, rounds));
        }
    });
    let (send, receive) = mpsc::channel();
    let receiver = thread::spawn(move || receive.iter().for_each(|i| work(i, rounds)));
    (8..12).for_each(|i| send.send(i).unwrap());
    drop(send);
    receiver.join().unwrap();
    threads.into_iter().for_each(|t| t.join().unwrap());
    let file = OpenOptions::new().write(true).open(std::env::var("TRUTH").unwrap()).unwrap();
    file.write_all_at(&12u64.to_ne_bytes(), 0).unwrap();
}
