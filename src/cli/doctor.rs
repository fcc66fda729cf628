//! `doctor`, of `p3-rewrite` and of `p3-prof`.

use crate::base::names::escape_unprintable;
use crate::base::table::{Align, Columns};
use crate::project::doctor::{CheckState, checks};
use anstyle::AnsiColor;

/// Says of everything that may be called whether it is there; whether something is missing without which nothing works.
pub fn report() -> (String, bool) {
    let checks = checks();
    let mut table = Columns::new([Align::Left, Align::Left, Align::Left]);
    for check in &checks {
        let state = match check.state {
            CheckState::Ok => "ok",
            CheckState::Without => "without",
            CheckState::Missing => "MISSING",
        };
        table.row([
            state.to_string(),
            check.what.to_string(),
            escape_unprintable(&check.told).into_owned(),
        ]);
    }
    let missing = checks
        .iter()
        .filter(|c| c.state == CheckState::Missing)
        .count();
    let (color, said) = match missing {
        0 => (AnsiColor::Green, "all that is needed is here".to_string()),
        n => (AnsiColor::Red, format!("{n} missing, of what is needed")),
    };
    let style = color.on_default();
    let text = format!(
        "{}{style}{said}{style:#}\n",
        table.render(super::layout(None))
    );
    (text, missing > 0)
}

/// Prints that; exit status 1 if something is missing.
///
/// # Errors
/// Standard output cannot be written.
pub fn run() -> crate::base::error::Result<std::process::ExitCode> {
    let (text, missing) = report();
    super::print(anstream::stdout(), text.as_bytes())
        .map_err(|e| crate::base::error::Error::write("standard output", e))?;
    Ok(u8::from(missing).into())
}
