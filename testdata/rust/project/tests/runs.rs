//! The program as its users run it.

use std::process::Command;

fn run(texts: &[&str]) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_count")).args(texts).output();
    String::from_utf8(run.unwrap().stdout).unwrap()
}

#[test]
fn texts_are_counted_apart() {
    let lines = run(&["one three", "four"]);
    assert_eq!(lines, "Report: 1 short, 1 long\nReport: 0 short, 1 long\n");
}

#[test]
fn an_empty_word_is_told() {
    assert_eq!(run(&["a  b"]), "an empty word\n");
}
