//! Twins that count how often native code comes by a place (`p3_shadow_passes.c`).

use super::kernels::built;
use crate::support::{PROF, folder, llvm, parsed, project, run};
use std::process::Command;

/// Every instruction that is moved has the length that a disassembler gives it: of all instructions of a large C++ program.
#[test]
fn moved_instructions_have_the_disassembler_lengths() {
    let dir = folder();
    let (exe, listing) = (dir.path().join("lengths"), dir.path().join("listing"));
    let mut clang = Command::new(llvm("clang"));
    clang.arg("-O1").arg("-I").arg(project("runtime-c"));
    run(clang
        .arg(project("testdata/shadow/lengths.c"))
        .arg("-o")
        .arg(&exe));
    let mut objdump = Command::new(llvm("llvm-objdump"));
    let text = run(objdump
        .args(["-d", "--no-leading-addr"])
        .arg(llvm("FileCheck")))
    .stdout;
    let text = String::from_utf8(text).unwrap();
    let is_byte = |word: &&str| word.len() == 2 && u8::from_str_radix(word, 16).is_ok();
    let bytes = |line: &str| -> String {
        let before = line.split('\t').next().unwrap_or_default();
        let words: Vec<&str> = before.split_whitespace().collect();
        let all = words.iter().all(is_byte);
        if all { words.join(" ") } else { String::new() }
    };
    // The distinct ones: constants do not matter.
    let distinct: std::collections::BTreeSet<String> = text.lines().map(bytes).collect();
    let lines: Vec<String> = distinct.into_iter().filter(|l| !l.is_empty()).collect();
    std::fs::write(&listing, lines.join("\n") + "\n").unwrap();
    let said = run(Command::new(&exe).arg(&listing)).stdout;
    let said = String::from_utf8(said).unwrap();
    let (known, all) = said.trim().split_once(" of ").expect("no length is wrong");
    let [known, all] = [known, all].map(|n| n.parse::<usize>().expect("no length is wrong"));
    assert_eq!(all, lines.len());
    assert!(known * 2 > all, "{said}");
}

/// No place of a recursive function is rare, and breakpoints at one would take longer than the burst: passes are counted.
#[test]
fn bursts_of_recursive_functions_are_timed() {
    let dir = folder();
    let [_, shadowed] = built("permutations.c", dir.path());
    let raw = dir.path().join("raw");
    std::fs::create_dir(&raw).unwrap();
    let mut command = Command::new(shadowed);
    command
        .args(["9", "20"])
        .env("P3_SHADOW", "load=1,burst=4M,cost=100%");
    run(command.env("P3_PROFILE_FILE", raw.join("%p.p3raw")));
    let merged = dir.path().join("merged.p3prof");
    let manifest = dir.path().join("out/manifest.json");
    let mut merge = Command::new(PROF);
    run(merge
        .arg("merge")
        .arg("-m")
        .arg(manifest)
        .arg("-o")
        .arg(&merged)
        .arg(raw));
    let mut show = Command::new(PROF);
    let shown = parsed(&run(show.arg("show").arg(merged).args(["--format", "json"])).stdout);
    let [bursts, untimed] = ["bursts", "untimed"].map(|n| shown[n].as_u64().unwrap());
    assert!(bursts > 3, "{shown}");
    assert!(untimed * 3 < bursts, "{untimed} of {bursts}");
}
