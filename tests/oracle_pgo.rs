//! Edge counts that follow from path counts against LLVM's own: the branch weights and entry
//! counts that `pgo-instr-use` writes from a run of the same module with `pgo-instr-gen`.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use support::{PROF, link, llvm, original, profile, run};

/// What LLVM says of one function: its entry count, and the weights of the terminators of its
/// blocks, by ordinal.
#[derive(Debug, Default)]
struct Measured {
    entry: Option<u64>,
    weights: BTreeMap<usize, Vec<u64>>,
}

fn check(name: &str, flags: &[&str], linking: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (modules, expected) = original(name, flags, linking, dir);
    let merged = profile(&modules, &[], 4, linking, &expected, &dir.join("p3"));
    let shown = run(Command::new(PROF)
        .args(["show", "--edges", "--format", "json"])
        .arg(&merged));
    let ours: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let theirs = pgo(&modules[0], dir);
    let mut compared = 0;
    for f in ours["functions"].as_array().unwrap() {
        let name = f["name"].as_str().unwrap();
        let measured = &theirs[name];
        let counts = edges(f);
        // A function that never ran keeps what weights it had.
        if counts.values().flatten().all(|&n| n == 0) && f["entry"] == 0 {
            assert!(
                matches!(measured.entry, None | Some(0)),
                "{name} ran for LLVM"
            );
            continue;
        }
        assert_eq!(f["entry"].as_u64(), measured.entry, "entries of {name}");
        for (block, counts) in counts.iter().filter(|(_, c)| c.len() > 1) {
            if counts.iter().any(|&n| n > 0) {
                assert_eq!(
                    measured.weights.get(block),
                    Some(counts),
                    "{name}, block {block}"
                );
                compared += counts.len();
            }
        }
    }
    assert!(compared > 4, "{compared} edges compared");
}

/// Counts of a function's edges by source block.
fn edges(f: &serde_json::Value) -> BTreeMap<usize, Vec<u64>> {
    let mut counts: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for e in f["edges"].as_array().unwrap() {
        let of_block = counts
            .entry(e["src"].as_u64().unwrap() as usize)
            .or_default();
        of_block.push(e["count"].as_u64().unwrap());
    }
    counts
}

/// Instruments, runs and annotates `module` with LLVM.
fn pgo(module: &Path, dir: &Path) -> BTreeMap<String, Measured> {
    let file = |name: &str| dir.join(name);
    let (instrumented, exe) = (file("gen.bc"), file("gen.exe"));
    let mut opt = Command::new(llvm("opt"));
    opt.arg("-passes=pgo-instr-gen,instrprof")
        .arg(module)
        .arg("-o")
        .arg(&instrumented);
    run(&mut opt);
    // In two steps: -fprofile-generate would instrument a module once more. Unoptimised: LLVM's
    // instrumentation leaves memory(none) on functions that count, and loses calls.
    let object = file("gen.o");
    let mut clang = Command::new(llvm("clang"));
    clang.args(["-O0", "-w", "-c", "-x", "ir"]);
    run(clang.arg(&instrumented).arg("-o").arg(&object));
    link(&[], &[object], &["-fprofile-generate"], &exe);
    let mut program = Command::new(&exe);
    program
        .env("LLVM_PROFILE_FILE", file("raw.profraw"))
        .current_dir(dir)
        .output()
        .unwrap();
    let mut merge = Command::new(llvm("llvm-profdata"));
    run(merge
        .arg("merge")
        .arg(file("raw.profraw"))
        .arg("-o")
        .arg(file("data.profdata")));
    let mut opt = Command::new(llvm("opt"));
    let profile = format!("-pgo-test-profile-file={}", file("data.profdata").display());
    // Without the correction of entry counts by block frequency estimates.
    opt.args([
        "-passes=pgo-instr-use",
        &profile,
        "-pgo-fix-entry-count=false",
        "-S",
    ]);
    run(opt.arg(module).arg("-o").arg(file("use.ll")));
    parse(&std::fs::read_to_string(file("use.ll")).unwrap())
}

/// Reads entry counts and branch weights out of LLVM assembly.
fn parse(text: &str) -> BTreeMap<String, Measured> {
    let nodes: BTreeMap<&str, Vec<u64>> = text.lines().filter_map(node).collect();
    let attached = |line: &str| {
        let (_, node) = line.split_once("!prof ")?;
        nodes.get(node.split([',', ' ']).next()?).cloned()
    };
    let mut functions: BTreeMap<String, Measured> = BTreeMap::new();
    let (mut current, mut block, mut in_switch, mut split) = (String::new(), 0, false, false);
    for line in text.lines() {
        if line.starts_with("define ") {
            let (_, name) = line.split_once('@').unwrap();
            current = name
                .split('(')
                .next()
                .unwrap()
                .trim_matches('"')
                .to_string();
            block = 0;
            let entry = attached(line).map(|n| n[0]);
            functions.insert(
                current.clone(),
                Measured {
                    entry,
                    ..Measured::default()
                },
            );
            continue;
        }
        let inner = line.trim_start();
        let starts = |words: &[&str]| words.iter().any(|w| inner.starts_with(w));
        let ends = if in_switch {
            inner.starts_with(']')
        } else {
            in_switch = inner.starts_with("switch ");
            starts(&["br ", "ret ", "unreachable", "resume ", "indirectbr "])
        };
        let label = line.split(':').next().unwrap_or("");
        if !line.starts_with(' ') && label.contains("_crit_edge") {
            split = true; // LLVM's own block, on an edge
        } else if ends && split {
            split = false;
        } else if ends && line.starts_with("  ") {
            in_switch = false;
            let function = functions.get_mut(&current).unwrap();
            function.weights.extend(attached(line).map(|w| (block, w)));
            block += 1;
        }
    }
    functions
}

/// `!7 = !{!"branch_weights", i32 1, i32 2}` and entry counts.
fn node(line: &str) -> Option<(&str, Vec<u64>)> {
    let (name, body) = line.split_once(" = !{!\"")?;
    let (kind, values) = body.trim_end_matches('}').split_once("\", ")?;
    let number = |v: &str| v.rsplit(' ').next()?.parse().ok();
    let known = ["branch_weights", "function_entry_count"].contains(&kind);
    known.then(|| (name, values.split(", ").filter_map(number).collect()))
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(mod $name {
            #[test]
            fn unoptimised() {
                let flags = ["-O0", "-Xclang", "-disable-O0-optnone"];
                super::check(stringify!($name), &flags, &["-O0"]);
            }

            #[test]
            fn optimised() {
                super::check(stringify!($name), &["-O2"], &["-O2"]);
            }
        })*
    };
}

// Programs whose activations all return: LLVM counts what `exit` and `longjmp` leave behind. Without
// `pure`: code generation drops calls of functions that LLVM instrumented and left memory(none).
programs! {
    callbacks
    computed_goto
    demo
    irreducible
    loops
    many_paths
    recursion
    switches
}
