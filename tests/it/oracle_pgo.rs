//! Counts against LLVM's own, from a run of the same module with `pgo-instr-gen`: edges that follow from paths
//! and from counted edges; branch weights, entry counts and summaries in annotated modules; the text form of
//! its profiles.

use crate::support::{PROF, REWRITE, link, llvm, original, parsed, profile, run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What LLVM says of one function: its entry count, and the weights of the terminators of its
/// blocks, by ordinal.
#[derive(Debug, Default, PartialEq, Eq)]
struct Measured {
    entry: Option<u64>,
    weights: BTreeMap<usize, Vec<u64>>,
}

fn check(name: &str, flags: &[&str], linking: &[&str]) {
    let dir = crate::support::folder();
    let dir = dir.path();
    let (modules, expected) = original(name, flags, linking, dir);
    let module = &modules[0];
    let theirs = pgo(module, &[], dir);
    let run = |options: &[&str], k, to: &str| {
        profile(&modules, options, k, linking, &expected, &dir.join(to))
    };
    let paths = run(&[], 4, "p3");
    for merged in [&paths, &run(&["--scheme", "edge"], 2, "edge")] {
        check_edges(merged, &theirs.functions);
        check_annotated(module, merged, &theirs, dir);
        check_proftext(module, merged, &theirs, dir);
    }
}

/// Edge counts are LLVM's branch weights.
fn check_edges(merged: &Path, theirs: &BTreeMap<String, Measured>) {
    let shown = run(Command::new(PROF)
        .args(["show", "--edges", "--format", "json"])
        .arg(merged));
    let ours = parsed(&shown.stdout);
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

/// An annotated module has LLVM's weights and entry counts; its summary too, where no `select` is counted,
/// and attributes.
fn check_annotated(module: &Path, merged: &Path, theirs: &Theirs, dir: &Path) {
    let out = dir.join("annotated.ll");
    let mut annotate = Command::new(REWRITE);
    annotate.arg("annotate").arg(module).arg("--profile");
    run(annotate.arg(merged).arg("-o").arg(&out).env("PATH", ""));
    let text = std::fs::read_to_string(&out).unwrap();
    assert_eq!(parse(&text), theirs.functions);
    if theirs.selects.values().all(|&n| n == 0) {
        // Besides, it says who annotated it.
        let (ours, same): (Vec<&str>, Vec<&str>) = text
            .lines()
            .partition(|l| l.contains("by p3-rewrite annotate"));
        assert_eq!(ours.len(), 1);
        let same = same.join("\n");
        assert_eq!(numbers(&same), numbers(&theirs.annotated));
        assert_eq!(heat(&text), heat(&theirs.annotated));
        assert!(text.contains("ProfileSummary"));
    }
    // What optimises by it takes it.
    let mut clang = Command::new(llvm("clang"));
    clang.args(["-O2", "-w", "-c"]).arg(&out);
    run(clang.arg("-o").arg(dir.join("annotated.o")));
    let again = Command::new(REWRITE)
        .arg("annotate")
        .arg(&out)
        .arg("--profile")
        .arg(merged)
        .arg("-o")
        .arg(dir.join("again.bc"))
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(2), "annotated twice");
}

/// The numbers of a summary, of branches, entries and loops in order. Weights of loops with several entries
/// are left out where no `indirectbr` makes them.
fn numbers(text: &str) -> Vec<&str> {
    let jumps = text.contains("indirectbr");
    let nodes = text.lines().filter_map(|l| Some(l.split_once(" = !{")?.1));
    nodes
        .filter(|n| n.starts_with("!\"") || n.starts_with("i32"))
        .filter(|n| !n.contains(", !") && !n.contains("version") && !n.contains(';'))
        .filter(|n| !n.starts_with("!\"VP\"") && (jumps || !n.contains("loop_header_weight")))
        .collect()
}

/// Whether each function is called cold or hot.
fn heat(text: &str) -> BTreeMap<String, [bool; 2]> {
    let groups: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|l| l.strip_prefix("attributes ")?.split_once(" = "))
        .collect();
    let defined = text.lines().filter(|l| l.starts_with("define "));
    let of = |line: &str| {
        let group = line.split(' ').find(|w| w.starts_with('#'));
        let has = |word| group.is_some_and(|g| groups[g].split(' ').any(|w| w == word));
        (symbol(line), [has("cold"), has("inlinehint")])
    };
    defined.map(of).collect()
}

/// The text profile has LLVM's hashes and counters, and LLVM takes it for the module without a word.
fn check_proftext(module: &Path, merged: &Path, theirs: &Theirs, dir: &Path) {
    let (text, data) = (dir.join("ours.proftext"), dir.join("ours.profdata"));
    let mut export = Command::new(PROF);
    export.args(["export", "--format", "proftext"]).arg(merged);
    export.arg("--modules").arg(module).arg("-o").arg(&text);
    run(&mut export);
    let ours = records(&std::fs::read_to_string(&text).unwrap());
    for ((name, hash), counters) in &theirs.records {
        let mine = &ours[&(name.clone(), *hash)];
        assert_eq!(mine.len(), counters.len(), "{name}");
        // Counters of selects come last.
        let symbol = name.rsplit(';').next().unwrap();
        let known = counters.len() - theirs.selects.get(symbol).unwrap_or(&0);
        assert_eq!(mine[..known], counters[..known], "{name}");
    }
    run(Command::new(llvm("llvm-profdata"))
        .arg("merge")
        .arg(&text)
        .arg("-o")
        .arg(&data));
    let used = used(module, &data, dir);
    if theirs.selects.values().all(|&n| n == 0) {
        assert_eq!(numbers(&used), numbers(&theirs.annotated));
        assert_eq!(parse(&used), theirs.functions);
    }
}

/// By name and hash: the counters of a text profile.
fn records(text: &str) -> BTreeMap<(String, u64), Vec<u64>> {
    let number = |l: &&str| l.parse::<u64>().ok();
    let mut records = BTreeMap::new();
    for record in text.split("\n\n") {
        let lines: Vec<&str> = record
            .lines()
            .filter(|l| !l.starts_with(['#', ':']) && !l.is_empty())
            .collect();
        if let [name, hash, count, counters @ ..] = &lines[..] {
            let count: usize = count.parse().unwrap();
            let counters = counters[..count].iter().filter_map(number);
            let key = (name.to_string(), hash.parse().unwrap());
            records.insert(key, counters.collect());
        }
    }
    records
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

/// What LLVM makes of a module and a run of it.
struct Theirs {
    /// The module with LLVM's annotations.
    annotated: String,
    /// What it says.
    functions: BTreeMap<String, Measured>,
    /// The profile.
    records: BTreeMap<(String, u64), Vec<u64>>,
    /// How many `select`s are counted, by function.
    selects: BTreeMap<String, usize>,
}

/// Instruments, runs and annotates `module` with LLVM.
fn pgo(module: &Path, objects: &[PathBuf], dir: &Path) -> Theirs {
    let file = |name: &str| dir.join(name);
    let (instrumented, exe) = (file("gen.bc"), file("gen.exe"));
    let passes = |passes: &str, out: &Path| {
        let mut opt = Command::new(llvm("opt"));
        opt.arg(format!("-passes={passes}")).arg(module);
        run(opt.arg("-S").arg("-o").arg(out));
    };
    passes("pgo-instr-gen,instrprof", &instrumented);
    passes("pgo-instr-gen", &file("gen.ll"));
    // In two steps: -fprofile-generate would instrument a module once more. Unoptimised: LLVM's
    // instrumentation leaves memory(none) on functions that count, and loses calls.
    let object = file("gen.o");
    let mut clang = Command::new(llvm("clang"));
    clang.args(["-O0", "-w", "-c", "-x", "ir"]);
    run(clang.arg(&instrumented).arg("-o").arg(&object));
    let objects = [std::slice::from_ref(&object), objects].concat();
    link(&[], &objects, &["-fprofile-generate"], &exe);
    let mut program = Command::new(&exe);
    program
        .env("LLVM_PROFILE_FILE", file("raw.profraw"))
        .current_dir(dir)
        .output()
        .unwrap();
    let merge = |form: &[&str], out: &Path| {
        let mut merge = Command::new(llvm("llvm-profdata"));
        merge.arg("merge").args(form).arg(file("raw.profraw"));
        run(merge.arg("-o").arg(out));
    };
    merge(&[], &file("data.profdata"));
    merge(&["-text"], &file("data.proftext"));
    let read = |name| std::fs::read_to_string(file(name)).unwrap();
    let annotated = used(module, &file("data.profdata"), dir);
    Theirs {
        functions: parse(&annotated),
        annotated,
        records: records(&read("data.proftext")),
        selects: selects(&read("gen.ll")),
    }
}

/// `module` as LLVM annotates it by a profile, without a warning.
fn used(module: &Path, data: &Path, dir: &Path) -> String {
    let out: PathBuf = dir.join("use.ll");
    let mut opt = Command::new(llvm("opt"));
    // Without the correction of entry counts by block frequency estimates.
    opt.args([
        "-passes=pgo-instr-use",
        "-pgo-fix-entry-count=false",
        "-pgo-warn-missing-function",
        "-S",
    ]);
    opt.arg(format!("-pgo-test-profile-file={}", data.display()));
    let output = run(opt.arg(module).arg("-o").arg(&out));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    std::fs::read_to_string(&out).unwrap()
}

/// Counted `select`s in instrumented text, by function.
fn selects(text: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        if line.starts_with("define ") {
            current = symbol(line);
        } else if line.contains("call void @llvm.instrprof.increment.step(") {
            *counts.entry(current.clone()).or_default() += 1;
        }
    }
    counts
}

/// The function that a line defines.
fn symbol(line: &str) -> String {
    let (_, name) = line.split_once('@').unwrap();
    name.split('(').next().unwrap().trim_matches('"').into()
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
            current = symbol(line);
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
        let own = |name: &&str| label.contains(*name);
        if !line.starts_with(' ') && ["_crit_edge", ".clone"].iter().any(own) {
            split = true; // LLVM's own block, on an edge
        } else if ends && split {
            split = false;
        } else if ends && inner.starts_with("br label %") && inner.contains(".split") {
            // A target of indirectbr, whose terminator is in the next block.
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

/// Random control flow: LLVM's counters have our values, in every function that is always left by an exit.
#[test]
fn random_programs() {
    let mut compared = 0;
    for first in [1, 100, 200] {
        let dir = crate::support::folder();
        let dir = dir.path();
        let seeds: Vec<u64> = (first..first + 20).collect();
        let modules = [crate::support::generate::module(&seeds, dir)];
        let objects = [crate::support::generate::support_object(dir)];
        let exe = dir.join("native.exe");
        link(&modules, &objects, &["-O0"], &exe);
        let expected = crate::support::execute(&exe, &dir.join("native"));
        let theirs = pgo(&modules[0], &objects, dir);
        let out = dir.join("out");
        let merged =
            crate::support::profile_with(&modules, &objects, &[], 2, &["-O0"], &expected, &out);
        let merged = merged.unwrap();
        let verified = run(Command::new(PROF).args(["verify", "--full"]).arg(&merged)).stdout;
        let verified = String::from_utf8(verified).unwrap();
        let left = |name: &str| verified.contains(&format!("{name}: "));
        let mut export = Command::new(PROF);
        export.args(["export", "--format", "proftext"]).arg(&merged);
        let text = run(export.arg("--modules").arg(&modules[0])).stdout;
        let ours = records(&String::from_utf8(text).unwrap());
        assert_eq!(ours.len(), theirs.records.len());
        for (key, counters) in &theirs.records {
            let name = key.0.rsplit(';').next().unwrap();
            let known = counters.len() - theirs.selects.get(name).unwrap_or(&0);
            assert_eq!(ours[key].len(), counters.len(), "{name}");
            if !left(name) && counters.iter().any(|&n| n > 0) {
                assert_eq!(
                    ours[key][..known],
                    counters[..known],
                    "{name}, seeds {first}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 30, "{compared} functions compared");
}

/// A module taken where clang would instrument it: its profile serves `clang -fprofile-use` on the sources.
#[test]
fn used_by_clang_on_the_sources() {
    for name in ["demo", "callbacks", "switches"] {
        let dir = crate::support::folder();
        let dir = dir.path();
        let source = &crate::support::sources(name)[0];
        let clang = |options: &[&str], out: &Path| {
            let mut clang = Command::new(llvm("clang"));
            clang.args(["-O2", "-Wall", "-Wno-unused"]).arg("-I");
            clang.arg(crate::support::project("testdata/include"));
            run(clang.args(options).arg(source).arg("-o").arg(out))
        };
        let dump = [
            "-c",
            "-fprofile-generate",
            "-mllvm",
            "-print-after=globaldce",
            "-mllvm",
            "-print-module-scope",
        ];
        let module = dir.join("taken.ll");
        let printed = clang(&dump, Path::new("/dev/null")).stderr;
        let printed = String::from_utf8(printed).unwrap();
        // The pass that runs just before `pgo-instr-gen`, whose name LLVM 22 does not print by.
        let first = printed.split("; *** IR Dump").nth(1).unwrap();
        std::fs::write(&module, format!(";{first}")).unwrap();
        let out = dir.join("p3");
        crate::support::rewrite(std::slice::from_ref(&module), &["-k", "2"], &out);
        let mut make = Command::new("make");
        make.arg("-s").arg("-C").arg(&out).arg("run");
        run(make.env("P3_PROF", PROF));
        // Without --modules: they are kept beside the profile.
        let (text, data) = (dir.join("p.proftext"), dir.join("p.profdata"));
        let mut export = Command::new(PROF);
        export.arg("export").arg(out.join("profile.p3prof"));
        run(export.args(["--format", "proftext", "-o"]).arg(&text));
        let mut merge = Command::new(llvm("llvm-profdata"));
        run(merge.arg("merge").arg(&text).arg("-o").arg(&data));
        let using = format!("-fprofile-use={}", data.display());
        let options = [
            &using,
            "-Wprofile-instr-out-of-date",
            "-Wprofile-instr-unprofiled",
            "-Wprofile-instr-missing",
            "-S",
            "-emit-llvm",
        ];
        let used = dir.join("used.ll");
        let said = clang(&options, &used).stderr;
        assert_eq!(String::from_utf8_lossy(&said), "");
        let text = std::fs::read_to_string(&used).unwrap();
        assert!(text.contains("function_entry_count") && text.contains("branch_weights"));
    }
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
