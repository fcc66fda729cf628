//! What is open, what is pending and what is filtered is the program's alone: nobody feels shadows by it.

use super::{Program, behaviour, files};
use crate::support::{llvm, run};
use std::process::Command;

/// Runs a mode natively and with as many shadows as there can be: what both do is the same. The number of shadows.
fn compare(program: &Program, mode: &str, rounds: &str) -> u64 {
    let arguments = [mode, rounds];
    let native = format!("{mode}-native");
    let (expected, output) = program.run(&program.native, &native, &arguments, "");
    let expects = behaviour(&output);
    assert_eq!(output.status.code(), Some(3), "{mode}: {expects:?}");
    let knobs = "load=1,burst=2M,cost=100%";
    let (found, output) = program.run(&program.shadowed, mode, &arguments, knobs);
    assert_eq!(behaviour(&output), expects, "{mode}");
    assert_eq!(files(&found), files(&expected), "{mode}");
    program.shown(mode)["shadows"].as_u64().unwrap()
}

/// The same, again if no shadow came: on a busy machine, a program that runs for milliseconds may get none.
fn compare_with_shadows(mode: &str, rounds: &str) {
    let has_shadows = |_| {
        let dir = crate::support::folder();
        let program = Program::new("open.c", &["-O1"], dir.path());
        compare(&program, mode, rounds) > 0
    };
    assert!((0..10).any(has_shadows), "{mode}");
}

#[test]
fn files_are_not_kept_open() {
    for (mode, rounds) in [("programs", "60"), ("locks", "60"), ("ends", "200")] {
        compare_with_shadows(mode, rounds);
    }
}

#[test]
fn signals_of_the_timer_are_not_pending() {
    compare_with_shadows("masks", "60");
}

/// A signal that somebody else sends is pending where the program has it blocked; there are no shadows from there on.
#[test]
fn signal_that_is_sent_is_pending() {
    let dir = crate::support::folder();
    let program = Program::new("open.c", &["-O1"], dir.path());
    compare(&program, "own-signal", "60");
    let shown = program.shown("own-signal");
    assert_eq!(shown["signal_taken"], 1, "{shown}");
    let text = program.summary("own-signal");
    let said = "shadows of 1 process ended where the program came to use the signal of their timer";
    assert!(text.contains(said), "{text}");
}

/// The program's filter kills for all that shadows need: they end before it is there.
#[test]
fn filtered_program_is_not_killed() {
    let dir = crate::support::folder();
    let program = Program::new("open.c", &["-O1"], dir.path());
    for mode in ["strict", "number", "filter", "returns"] {
        compare(&program, mode, "60");
        let shown = program.shown(mode);
        assert_eq!(shown["filtered"], 1, "{mode}: {shown}");
        let text = program.summary(mode);
        let said = "nothing is known of what ran behind a filter of system calls (seccomp): shadows of 1 process ended \
                    there";
        assert!(text.contains(said), "{text}");
    }
}

/// Linked as users link it, where threads are watched as well.
#[test]
fn filtered_program_of_a_makefile_is_not_killed() {
    let dir = crate::support::folder();
    let program = Program::new("open.c", &["-O1"], dir.path());
    let mut make = Command::new("make");
    make.arg("-sC").arg(dir.path().join("out"));
    let compiler = format!("CC={}", llvm("clang").display());
    run(make.arg("bin/copy-0").arg(compiler));
    let program = Program {
        shadowed: dir.path().join("out/bin/copy-0"),
        ..program
    };
    for mode in ["strict", "filter"] {
        compare(&program, mode, "60");
        assert_eq!(program.shown(mode)["filtered"], 1, "{mode}");
    }
}

/// Where there are no shadows, nothing of theirs is done at the end.
#[test]
fn filtered_program_without_shadows_is_not_killed() {
    let dir = crate::support::folder();
    let program = Program::new("open.c", &["-O1"], dir.path());
    let arguments = ["returns", "1"];
    let native = program.run(&program.native, "native", &arguments, "");
    let expected = behaviour(&native.1);
    let without = program.run(&program.shadowed, "without", &arguments, "off");
    assert_eq!(behaviour(&without.1), expected);
}
