//! What printed text must be: whole, or whole lines of it.

use std::path::Path;

/// One of the lines must be this, from its first column to its last.
#[track_caller]
pub(crate) fn assert_line(text: &str, line: &str) {
    assert_lines(text, &[line]);
}

/// These lines must stand in the text one below the other.
#[track_caller]
pub(crate) fn assert_lines(text: &str, lines: &[&str]) {
    let all: Vec<&str> = text.lines().collect();
    let found = all.windows(lines.len()).any(|window| window == lines);
    assert!(found, "without {lines:#?}:\n{text}");
}

/// The text with `DIR` in place of the name of a folder that differs from run to run.
pub(crate) fn in_dir(text: &str, dir: &Path) -> String {
    text.replace(dir.to_str().unwrap(), "DIR")
}
