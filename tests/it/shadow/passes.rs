//! Twins that count how often native code comes by a place (`p3_shadow_passes.c`).

use super::kernels::built;
use super::{accuracy, counting};
use crate::support::{
    PROF, accepted_text, copy_modules, folder, llvm, parsed, project, run, runtime_headers,
};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every instruction that is moved has the length that a disassembler gives it: of all instructions of a large C++
/// program.
#[test]
fn moved_instructions_have_the_disassembler_lengths() {
    let dir = folder();
    let (exe, listing) = (dir.path().join("lengths"), dir.path().join("listing"));
    let mut clang = Command::new(llvm("clang"));
    clang.arg("-O1").args(runtime_headers());
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

/// No place of a recursive function is rare, and breakpoints at one would take longer than the burst: passes are
/// counted.
#[test]
fn bursts_of_recursive_functions_are_timed() {
    let dir = folder();
    let [_, shadowed] = built("permutations.c", dir.path());
    let merged = profile(&shadowed, &["9", "20"], "run", &dir.path().join("out"));
    let mut show = Command::new(PROF);
    let shown = parsed(&run(show.arg("show").arg(merged).args(["--format", "json"])).stdout);
    let [bursts, untimed] = ["bursts", "untimed"].map(|n| shown[n].as_u64().unwrap());
    assert!(bursts > 3, "{shown}");
    assert!(untimed * 3 < bursts, "{untimed} of {bursts}");
}

/// The inner loop of `encode` uses its variable less one and less two, never as it is: handed over as it is, it would
/// be one register more in each iteration. What is counted behind it is what runs, as far as a handful of bursts tell.
#[test]
fn countdown_is_handed_over_as_a_sum_of_its_loop() {
    let dir = folder();
    let [_, shadowed] = built("huffman.c", dir.path());
    let text = accepted_text(
        &copy_modules(&[dir.path().join("huffman.bc")], &dir.path().join("out"), 0)[0],
    );
    let encode = text
        .split("\ndefine ")
        .find(|f| f.starts_with("internal") && f.contains("@encode("));
    let encode = encode.expect("it is there").split("\n}").next().unwrap();
    let stores: Vec<&str> = encode
        .lines()
        .filter(|l| l.contains("store i32") && l.contains("@__p3_handed"))
        .collect();
    assert_eq!(stores.len(), 1, "{encode}");
    let stored = stores[0].split(['%', ',']).nth(1).unwrap();
    let sum = encode
        .lines()
        .find(|l| l.trim_start().starts_with(&format!("%{stored} = ")));
    let is_one =
        |l: &str| l.contains("= add i32 %") && (l.ends_with(", -1") || l.ends_with(", -2"));
    assert!(sum.is_some_and(is_one), "{sum:?}");
    let (exact, counting) = counting(dir.path(), "huffman.c", &[]);
    let arguments = ["50000", "40"];
    let exact = profile(&counting, &arguments, "exact-run", &exact);
    let found = profile(&shadowed, &arguments, "run", &dir.path().join("out"));
    let overlap = &accuracy(&found, &exact)["overlap"];
    assert!(overlap.as_f64().unwrap() > 0.4, "{overlap}");
}

/// What a run with as many shadows as there can be left, merged, beside the program.
fn profile(exe: &Path, arguments: &[&str], name: &str, folder: &Path) -> PathBuf {
    let raw = exe.with_file_name(name);
    std::fs::create_dir(&raw).unwrap();
    let mut command = Command::new(exe);
    command
        .args(arguments)
        .env("P3_PROFILE_FILE", raw.join("%p.p3raw"));
    run(command.env("P3_SHADOW", "load=1,burst=4M,cost=100%"));
    let merged = raw.with_extension("p3prof");
    let mut merge = Command::new(PROF);
    merge
        .arg("merge")
        .arg("-m")
        .arg(folder.join("manifest.json"));
    run(merge.arg("-o").arg(&merged).arg(raw));
    merged
}
