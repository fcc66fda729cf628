//! A Rust program for `make test-engines`: pattern matching, iterators, trait objects, a caught panic.

use std::collections::BTreeMap;

trait Shape {
    fn area(&self) -> u64;
}

struct Square(u64);
struct Bar(u64, u64);

impl Shape for Square {
    fn area(&self) -> u64 {
        self.0 * self.0
    }
}

impl Shape for Bar {
    fn area(&self) -> u64 {
        if self.0 > self.1 { self.0 } else { self.0 * self.1 }
    }
}

fn class(n: u64) -> &'static str {
    match n % 7 {
        0 => "seven",
        1 | 2 => "low",
        x if x % 2 == 0 => "even",
        _ => "odd",
    }
}

#[inline(never)]
fn collatz(mut n: u64) -> u32 {
    let mut steps = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

fn main() {
    let n = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1000u64);
    let mut classes = BTreeMap::new();
    let mut lengths = BTreeMap::new();
    for i in 1..=n {
        *classes.entry(class(i)).or_insert(0u64) += 1;
        *lengths.entry(collatz(i)).or_insert(0u64) += 1;
    }
    let shapes: [Box<dyn Shape>; 2] = [Box::new(Square(n)), Box::new(Bar(n, 3))];
    let area: u64 = shapes.iter().map(|s| s.area()).sum();
    let caught = std::panic::catch_unwind(|| assert!(n < 10, "too many"));
    println!("{classes:?} {} {area} {}", lengths.len(), caught.is_err());
}
