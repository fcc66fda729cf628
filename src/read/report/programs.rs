//! The programs of a report of several.

use crate::base::error::Result;
use crate::base::names::escape_unprintable;
use crate::base::rows::{Cell, Table};
use crate::base::table::{Layout, group_digits};
use crate::profile::locate::MERGED;
use crate::profile::several::Part;
use std::cmp::Reverse;

/// The programs, those with most executed paths first: how many paths each executed, and where it is.
///
/// # Errors
/// A profile that counts no paths.
pub fn text(parts: &[Part], layout: Layout) -> Result<String> {
    let mut rows = Vec::new();
    for Part { profile, .. } in parts {
        let paths = profile.paths()?;
        let executed: u128 = paths.all_counts().map(|(_, n)| u128::from(n)).sum();
        let is_program = profile.path.ends_with(MERGED);
        let folder = profile.path.parent().filter(|_| is_program);
        let name = folder.unwrap_or(&profile.path).display().to_string();
        rows.push((Reverse(executed), escape_unprintable(&name).into_owned()));
    }
    rows.sort();
    let table = Table::new()
        .text("paths", |row: &(Reverse<u128>, String)| match row.0.0 {
            0 => Cell::Figure("none ran".into()),
            n => Cell::Figure(group_digits(n)),
        })
        .text("program", |row| row.1.clone());
    Ok(table.columns(&rows).render(layout))
}
