//! lcov's tracefile: executions of functions, lines and branches by source file, as [`by_line`] has them.

use super::by_line::{SourceFile, by_line};
use super::{Asked, Counts, Export};
use crate::error::Result;
use crate::names::{escaped, printable};
use std::fmt::Write;

/// See [`Export::ABOUT`].
pub(super) struct Lcov;

impl Export for Lcov {
    const NAME: &'static str = "lcov";
    const ABOUT: &'static str = "genhtml: executions of lines and branches";
    const UNFIT: Option<&'static str> = Some("what is in no sample may have run all the same");
    type View<'a> = Counts<'a>;

    fn write(counts: &Counts, _: Asked) -> Result<Vec<u8>> {
        let sources = by_line(counts)?;
        let records = sources.iter().map(|(name, source)| record(name, source));
        // A comment: how `export -o` knows its own files.
        let head = std::iter::once("# p3-prof\n".to_string());
        Ok(head.chain(records).collect::<String>().into())
    }
}

fn record(name: &str, source: &SourceFile) -> String {
    let mut out = format!("TN:\nSF:{}\n", printable(name));
    // Symbols, as gcov writes them: genhtml demangles. Commas end fields, and nothing quotes them.
    let name = |symbol: &str| escaped(symbol, &[',']);
    for (line, function) in source.functions.keys() {
        let _ = writeln!(out, "FN:{line},{}", name(function));
    }
    for ((_, function), n) in &source.functions {
        let _ = writeln!(out, "FNDA:{n},{}", name(function));
    }
    found(&mut out, "FN", source.functions.values().copied());
    let mut all = Vec::new();
    for (line, branches) in &source.branches {
        for (i, ways) in branches.iter().enumerate() {
            for (way, n) in ways.iter().enumerate() {
                let taken = n.map_or("-".to_string(), |n| n.to_string());
                let _ = writeln!(out, "BRDA:{line},{i},{way},{taken}");
                all.push(n.unwrap_or(0));
            }
        }
    }
    found(&mut out, "BR", all.into_iter());
    for (line, n) in source.lines() {
        let _ = writeln!(out, "DA:{line},{n}");
    }
    found(&mut out, "L", source.lines().map(|(_, n)| n));
    out + "end_of_record\n"
}

/// How many there are, and how many ran.
fn found(out: &mut String, what: &str, counts: impl Iterator<Item = u64> + Clone) {
    let (all, ran) = (counts.clone().count(), counts.filter(|&n| n > 0).count());
    let _ = writeln!(out, "{what}F:{all}\n{what}H:{ran}");
}
