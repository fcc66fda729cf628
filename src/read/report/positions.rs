//! Source files and positions in text: names without folders, lists of lines.

use crate::base::names::escape_unprintable;
use crate::input::ir::Loc;
use std::borrow::Cow;

/// A path shows at most this many source lines and decisions.
const MAX_ITEMS: usize = 40;

/// The name of a source file without its folders, as it is printed.
pub(crate) fn base_name(file: &str) -> Cow<'_, str> {
    escape_unprintable(file.rsplit('/').next().unwrap_or(file))
}

/// Source positions as `file.c:12→14→20`; where the file changes it is named again.
pub(crate) fn join_positions(files: &[String], locs: &[Loc]) -> String {
    shorten_list(&name_positions(files, locs), "→")
}

/// Each source position with its file's name, unless the one before has the same.
pub(super) fn name_positions(files: &[String], locs: &[Loc]) -> Vec<String> {
    let mut items = Vec::new();
    let mut current = None;
    for loc in locs {
        if current == Some(loc.file) {
            items.push(loc.line.to_string());
        } else {
            current = Some(loc.file);
            items.push(format!(
                "{}:{}",
                base_name(&files[loc.file as usize]),
                loc.line
            ));
        }
    }
    items
}

/// Joins items with `separator`; of very many the middle is left out, and said so.
pub(crate) fn shorten_list(items: &[String], separator: &str) -> String {
    if items.len() <= MAX_ITEMS {
        return items.join(separator);
    }
    let half = MAX_ITEMS / 2;
    let middle = format!("…({} more)…", items.len() - 2 * half);
    let (first, last) = (&items[..half], &items[items.len() - half..]);
    [first.join(separator), middle, last.join(separator)].join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_very_many() {
        let items: Vec<String> = (1..=43).map(|n| n.to_string()).collect();
        assert!(!shorten_list(&items[..40], " ").contains('…'));
        let shown = shorten_list(&items, " ");
        assert!(shown.ends_with(
            " 19 20 …(3 more)… 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43"
        ));
        assert!(shown.starts_with("1 2 3 "), "{shown}");
    }
}
