//! Reads orders, one a line, and adds them up by article: collections, iterators, closures, generics, `match`, `if let`, `?`.
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Display;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Buy,
    Sell,
    Return,
    Cancel,
}

#[derive(Clone, Debug)]
struct Order {
    kind: Kind,
    article: String,
    amount: i64,
}

fn parse(line: &str) -> Result<Order, String> {
    let mut words = line.split_whitespace();
    let kind = match words.next().ok_or("empty")? {
        "buy" => Kind::Buy,
        "sell" => Kind::Sell,
        "return" => Kind::Return,
        "cancel" => Kind::Cancel,
        other => return Err(format!("what is {other}?")),
    };
    let article = words.next().ok_or("no article")?.to_string();
    let amount = match words.next() {
        Some(text) => text.parse::<i64>().map_err(|e| e.to_string())?,
        None => 1,
    };
    Ok(Order { kind, article, amount })
}

/// Applies an order; what cannot be sold yet waits.
fn apply(stock: &mut BTreeMap<String, i64>, waiting: &mut VecDeque<Order>, order: Order) {
    let have = stock.entry(order.article.clone()).or_insert(0);
    match order.kind {
        Kind::Buy | Kind::Return => *have += order.amount,
        Kind::Sell if *have >= order.amount => *have -= order.amount,
        Kind::Sell => waiting.push_back(order),
        Kind::Cancel => {
            if let Some(at) = waiting.iter().position(|o| o.article == order.article) {
                waiting.remove(at);
            }
        }
    }
}

fn drain(stock: &mut BTreeMap<String, i64>, waiting: &mut VecDeque<Order>) -> usize {
    let mut served = 0;
    for _ in 0..waiting.len() {
        let Some(order) = waiting.pop_front() else { break };
        match stock.get_mut(&order.article) {
            Some(have) if *have >= order.amount => {
                *have -= order.amount;
                served += 1;
            }
            _ => waiting.push_back(order),
        }
    }
    served
}

fn largest<K: Display, V: PartialOrd + Copy>(of: impl Iterator<Item = (K, V)>) -> Option<String> {
    let mut best: Option<(K, V)> = None;
    for (key, value) in of {
        if best.as_ref().is_none_or(|(_, b)| value > *b) {
            best = Some((key, value));
        }
    }
    best.map(|(key, _)| key.to_string())
}

fn collatz(mut n: u64) -> u32 {
    let mut steps = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

fn main() {
    let count: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(3000);
    let (mut stock, mut waiting) = (BTreeMap::new(), VecDeque::new());
    let (mut bad, mut served) = (0, 0);
    for n in 1..=count {
        let steps = collatz(n);
        let kind = ["buy", "sell", "return", "sell", "cancel", "steal"][steps as usize % 6];
        let line = if n % 11 == 0 { kind.to_string() } else { format!("{kind} a{} {}", n % 13, steps) };
        match parse(&line) {
            Ok(order) => apply(&mut stock, &mut waiting, order),
            Err(_) => bad += 1,
        }
        if n % 100 == 0 {
            served += drain(&mut stock, &mut waiting);
        }
    }
    let total: i64 = stock.values().filter(|v| **v > 0).sum();
    let name = largest(stock.iter()).unwrap_or_default();
    println!("{total} {bad} {served} {} {name}", waiting.len());
}
