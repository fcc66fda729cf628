//! Counts words by their length, on two threads.

use named::Named;
use words::{Lengths, lengths};

include!(concat!(env!("OUT_DIR"), "/limit.rs"));

#[derive(Named)]
struct Report(Lengths);

impl Report {
    fn line(&self) -> String {
        let Lengths { short, long } = self.0;
        format!("{}: {short} short, {long} long", Report::name())
    }
}

fn main() {
    let texts: Vec<String> = std::env::args().skip(1).collect();
    let counting = texts.iter().map(|text| {
        let text = text.clone();
        std::thread::spawn(move || lengths(text.split(' '), LIMIT))
    });
    let counting: Vec<_> = counting.collect();
    for thread in counting {
        match thread.join() {
            Ok(counted) => println!("{}", Report(counted).line()),
            Err(_) => println!("an empty word"),
        }
    }
}
