//! Parallel iterators, sorts and joins over numbers and words, by RAYON_NUM_THREADS. What is printed does not depend on
//! their number.

use rayon::prelude::*;
use std::collections::BTreeMap;

fn steps(mut n: u64) -> u64 {
    let mut steps = 0;
    while n > 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

fn fibonacci(n: u64) -> u64 {
    if n < 16 {
        return if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) };
    }
    let (a, b) = rayon::join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

fn words(seed: u64) -> BTreeMap<String, u64> {
    let mut state = seed;
    let mut counts = BTreeMap::new();
    for _ in 0..400 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let word = format!("{:x}", (state >> 40) % 97);
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}

fn merged(mut a: BTreeMap<String, u64>, b: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    for (word, n) in b {
        *a.entry(word).or_insert(0) += n;
    }
    a
}

fn main() {
    let size: u64 = std::env::args().nth(1).map_or(300_000, |n| n.parse().unwrap());
    let longest = (1..size).into_par_iter().map(|n| (steps(n), n)).max();
    let mut numbers: Vec<u64> = (0..size).map(|n| n.wrapping_mul(2_654_435_761) % 1_000_003).collect();
    numbers.par_sort_unstable_by_key(|n| (n % 7, *n));
    let checked = numbers.par_windows(2).filter(|w| w[0] <= w[1]).count();
    let all = (0..size / 200).into_par_iter().map(words).reduce(BTreeMap::new, merged);
    println!("{longest:?} {checked} {} {}", all.values().max().unwrap(), fibonacci(27));
}
