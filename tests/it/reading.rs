//! The text of `show` for programs in C, C++ and Rust, at three widths. `tools/reading.sh` made the profiles.

use crate::support::{PROF, project, run};
use std::process::Command;

/// What `show` prints of a kept profile.
fn shown(program: &str, width: usize, options: &[&str]) -> String {
    let mut show = Command::new(PROF);
    show.current_dir(project(""));
    show.args(["show", &format!("testdata/reading/{program}.p3prof")]);
    show.args(["--width", &width.to_string()]).args(options);
    String::from_utf8(run(&mut show).stdout).unwrap()
}

fn assert_width(text: &str, width: usize) {
    for line in text.lines() {
        assert!(line.chars().count() <= width, "{width}: {line}");
    }
}

fn assert_views(program: &str) {
    let mut all = String::new();
    for width in [60, 100, 200] {
        for options in [
            ["--top", "5", "--by", "function"],
            ["--top", "8", "--by", "path"],
            ["--top", "6", "--by", "loop"],
        ] {
            let text = shown(program, width, &options);
            assert_width(&text, width);
            all += &format!("=== {width} {}\n{text}", options.join(" "));
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(project("snapshots/report"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("reading_{program}"), all));
}

#[test]
fn text_of_c_fits_three_widths() {
    assert_views("demo");
}

#[test]
fn text_of_cpp_fits_three_widths() {
    assert_views("variants");
}

#[test]
fn text_of_rust_fits_three_widths() {
    assert_views("orders");
}

/// No width makes a line wider, down to the least that there is, and few lines say it.
#[test]
fn text_is_narrow_and_short() {
    for program in ["demo", "variants", "orders"] {
        for width in [40, 55, 79, 120] {
            for by in ["function", "file", "loop", "path"] {
                assert_width(&shown(program, width, &["--by", by]), width);
            }
        }
    }
    let lines = |program, top| shown(program, 100, &["--top", top]).lines().count();
    assert!(lines("orders", "5") <= 35);
    assert!(lines("variants", "20") <= 150);
}
