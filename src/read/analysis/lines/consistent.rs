//! What the readers of tracefiles want of a source file: functions, lines and branches that contradict each other
//! nowhere.
//!
//! genhtml 2 refuses a function without a line where it begins, a function that never ran around a line that ran,
//! functions that begin at one line and end at several, and a branch on a line that is not there or whose line ran
//! while none of its ways did. Each of these is possible in a program: code of a lambda is on the lines of the function
//! around it, macros and templates put several functions on one line.

use super::SourceFile;
use crate::base::names::readable_name;
use crate::profile::left::Range;
use std::collections::BTreeMap;

/// What genhtml knows the name of a lambda by.
const LAMBDA: &str = "{lambda(";

/// The name of a lambda as genhtml knows one, `main::{lambda()#1}::operator()(int) const`; clang's own names for
/// lambdas are `main::$_0::…`. `None`: it is another function's symbol.
pub fn lambda_name(symbol: &str) -> Option<String> {
    let name = readable_name(symbol);
    if name == symbol {
        return None;
    }
    if name.contains(LAMBDA) {
        return Some(name.into_owned());
    }
    let (before, rest) = name.split_once("$_")?;
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let number: u32 = rest[..digits].parse().ok()?;
    Some(format!(
        "{before}{LAMBDA})#{}}}{}",
        number + 1,
        &rest[digits..]
    ))
}

/// The functions that begin at one line, which readers take for one.
#[derive(Default)]
struct AtLine {
    end: u32,
    entered: u64,
    /// Whether readers know all of them for lambdas, whose first line may have run without them.
    lambdas: bool,
}

impl SourceFile {
    /// Changes as little as that takes.
    pub(super) fn make_consistent(&mut self, name: &str) {
        let mut starts = self.counts_at_starts();
        for (line, at) in &mut starts {
            let own = self.lines.entry(*line).or_default();
            if own.count < at.entered || own.may_have_run() {
                *own = Range::exact(at.entered);
            }
        }
        starts.retain(|line, at| at.entered > 0 || self.bound(*line, at, is_c(name)));
        for function in self.functions.values_mut() {
            if let Some(at) = starts.get(&function.line) {
                function.end = at.end;
            }
        }
        self.functions.retain(|_, f| starts.contains_key(&f.line));
        let lines: BTreeMap<u32, u64> = self.lines().collect();
        self.branches.retain(|line, branches| {
            let taken = || branches.iter().flatten().any(|n| n.is_some_and(|n| n > 0));
            lines.get(line).is_some_and(|ran| *ran == 0 || taken())
        });
    }

    fn counts_at_starts(&self) -> BTreeMap<u32, AtLine> {
        let mut starts: BTreeMap<u32, AtLine> = BTreeMap::new();
        for (symbol, function) in &self.functions {
            let at = starts.entry(function.line).or_insert(AtLine {
                lambdas: true,
                ..AtLine::default()
            });
            at.end = at.end.max(function.end);
            at.entered = at.entered.saturating_add(function.entered);
            at.lambdas = at.lambdas && lambda_name(symbol).is_some();
        }
        starts
    }

    /// Lets what never ran end before the first line of it that did, which is another function's. Whether it can be
    /// told apart at all: not, if that is the line that it begins at.
    fn bound(&self, line: u32, at: &mut AtLine, is_c: bool) -> bool {
        let from = if at.lambdas && is_c { line + 1 } else { line };
        let inside = self.lines.range(from..=at.end.max(from));
        let ran = inside.filter(|(_, r)| r.count > 0).map(|(line, _)| *line);
        match ran.min() {
            Some(ran) if ran == line => return false,
            Some(ran) => at.end = at.end.min(ran - 1),
            None => {}
        }
        true
    }
}

/// Whether a file's name is that of C or C++.
fn is_c(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, e)| e);
    let known = ["c", "h", "i", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "icc"];
    known.contains(&extension.to_ascii_lowercase().as_str())
}
