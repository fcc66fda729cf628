//! `p3-rewrite doctor`.

use super::print;
use crate::compiler::doctor::{State, checks};
use crate::error::{Error, Result};
use crate::names::printable;
use crate::table::{Align, Columns};
use anstyle::AnsiColor;
use std::path::PathBuf;
use std::process::ExitCode;

/// Says of everything that may be called whether it is there; exit status 1 if something is missing without which nothing works.
///
/// # Errors
/// Standard output cannot be written.
pub fn run() -> Result<ExitCode> {
    let version = crate::emit::llvm_version();
    let checks = checks((&version, library()));
    let mut table = Columns::new([Align::Left, Align::Left, Align::Left]);
    for check in &checks {
        let state = match check.state {
            State::Ok => "ok",
            State::Without => "without",
            State::Missing => "MISSING",
        };
        table.row([
            state.to_string(),
            check.what.to_string(),
            printable(&check.told).into_owned(),
        ]);
    }
    let missing = checks.iter().filter(|c| c.state == State::Missing).count();
    let (color, said) = match missing {
        0 => (AnsiColor::Green, "all that is needed is here".to_string()),
        n => (AnsiColor::Red, format!("{n} missing, of what is needed")),
    };
    let style = color.on_default();
    let text = format!(
        "{}{style}{said}{style:#}\n",
        table.render(super::layout(None))
    );
    print(anstream::stdout(), text.as_bytes()).map_err(|e| Error::write("standard output", e))?;
    Ok(ExitCode::from(u8::from(missing > 0)))
}

/// The file of the LLVM that this process has mapped; there is none where LLVM is part of the program.
fn library() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let files = maps.lines().filter_map(|l| l.find('/').map(|at| &l[at..]));
    let mut llvm = files.filter(|f| {
        f.rsplit('/')
            .next()
            .is_some_and(|n| n.starts_with("libLLVM"))
    });
    llvm.next().map(PathBuf::from)
}
