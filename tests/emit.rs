//! Rewritten IR: diffs of small functions, named by phenomenon (`snapshots/ir`), and what must hold
//! of every rewritten module.

mod support;

use similar::TextDiff;
use std::path::Path;
use std::process::Command;
use support::{llvm, project, rewrite, run};

/// A module as LLVM prints it, without the lines that name files.
fn printed(module: &Path) -> String {
    let output = run(Command::new(llvm("opt"))
        .args(["-S", "-o", "-"])
        .arg(module));
    let text = String::from_utf8(output.stdout).unwrap();
    let named = |l: &&str| !l.starts_with("; ModuleID") && !l.starts_with("source_filename");
    text.lines()
        .filter(named)
        .map(|l| format!("{l}\n"))
        .collect()
}

fn diff(old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .to_string()
}

fn snapshots(folder: &str) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(project("snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    // The hash of the manifest.
    settings.add_filter(r#"\[16 x i8\] c"[^"]*""#, "[16 x i8] PROGRAM");
    settings
}

#[test]
fn rewritten_functions() {
    for entry in project("testdata/cfg").read_dir().unwrap() {
        let input = entry.unwrap().path();
        let name = input.file_stem().unwrap().to_str().unwrap().to_string();
        let dir = tempfile::tempdir().unwrap();
        let options = ["--scheme", "sbl", "--emit", "ll", "--exclude", "^leaf$"];
        rewrite(std::slice::from_ref(&input), &options, dir.path());
        let copy = dir.path().join("copy-0").join(input.file_name().unwrap());
        let text = diff(&printed(&input), &printed(&copy));
        snapshots("ir").bind(|| insta::assert_snapshot!(name, text));
    }
}

#[test]
fn plans_and_views() {
    for name in ["loop", "parallel_edges", "invoke_shared_pad", "indirectbr"] {
        let dir = tempfile::tempdir().unwrap();
        let options = ["-k", "2", "--dump", "plan,numbering,cfg,dag", "--stats"];
        let input = project("testdata/cfg").join(format!("{name}.ll"));
        rewrite(&[input], &options, dir.path());
        let read =
            |file: &str| std::fs::read_to_string(dir.path().join("dump").join(file)).unwrap();
        let files = [
            "0.f.numbering.txt",
            "0.f.cfg.dot",
            "0.f.dag.dot",
            "copy-0.plan.txt",
            "copy-1.plan.txt",
        ];
        let text: String = files.map(|f| format!("--- {f}\n{}", read(f))).concat();
        snapshots("plan").bind(|| insta::assert_snapshot!(name, text));
    }
}

/// A module in which nothing is profiled is the input, byte for byte.
#[test]
fn excluded_functions_are_untouched() {
    for entry in project("testdata/cfg").read_dir().unwrap() {
        let input = entry.unwrap().path();
        let dir = tempfile::tempdir().unwrap();
        rewrite(
            std::slice::from_ref(&input),
            &["-k", "1", "--emit", "ll", "--exclude", "."],
            dir.path(),
        );
        let copy = dir.path().join("copy-0").join(input.file_name().unwrap());
        assert_eq!(printed(&input), printed(&copy));
    }
}

/// With debug information, an uninstrumented function is unchanged in a copy that instruments
/// others, and LLVM accepts every copy.
#[test]
fn only_profiled_functions_change() {
    let dir = tempfile::tempdir().unwrap();
    let modules = support::compile("demo", &["-O1", "-g", "-fno-inline"], dir.path());
    let out = dir.path().join("out");
    rewrite(
        &modules,
        &["--scheme", "sbl", "--include", "^(sort|scan)$"],
        &out,
    );
    let (old, new) = (printed(&modules[0]), printed(&out.join("copy-0/demo.bc")));
    let mut unchanged = 0;
    for name in ["main", "classify", "fill", "split", "sort", "scan"] {
        let same = body(&old, name) == body(&new, name);
        assert_eq!(same, !["sort", "scan"].contains(&name), "{name}");
        unchanged += usize::from(same);
    }
    assert_eq!(unchanged, 4);
}

/// A loop is vectorised in the copies that do not profile it as in the original.
#[test]
fn hot_loops_keep_their_shape() {
    let dir = tempfile::tempdir().unwrap();
    let flags = ["-O2", "-fno-vectorize", "-fno-unroll-loops"];
    let modules = support::compile("vectors", &flags, dir.path());
    let out = dir.path().join("out");
    rewrite(&modules, &["--scheme", "pbl", "-k", "2"], &out);
    let optimised = |module: &Path| {
        let mut opt = Command::new(llvm("opt"));
        let output = run(opt
            .args(["-passes=default<O2>", "-S", "-o", "-"])
            .arg(module));
        String::from_utf8(output.stdout).unwrap()
    };
    let original = optimised(&modules[0]);
    let mut left_alone = 0;
    for copy in 0..2 {
        let module = out.join(format!("copy-{copy}/vectors.bc"));
        let (written, optimised) = (printed(&module), optimised(&module));
        for name in ["add", "sum"] {
            if !body(&written, name).contains("@__p3_counters") {
                assert!(body(&original, name).contains("<4 x i32>"), "{name}");
                assert_eq!(body(&optimised, name), body(&original, name));
                left_alone += 1;
            }
        }
    }
    assert_eq!(left_alone, 2);
}

/// A function's definition. Numbers of attribute groups and metadata depend on what else is in the
/// module, the order in the comment that lists predecessors on that of their uses.
fn body(text: &str, name: &str) -> String {
    let heads = |l: &&str| !(l.starts_with("define ") && l.contains(&format!("@{name}(")));
    let lines = text.lines().skip_while(heads).take_while(|l| *l != "}");
    let text: String = lines.map(|l| format!("{l}\n")).collect();
    assert!(text.starts_with("define "), "{name}");
    let varies = regex::Regex::new(r"[#!]\d+|; preds.*").unwrap();
    varies.replace_all(&text, "N").into_owned()
}

/// The same input, options and version give the same bytes, whatever the number of threads.
#[test]
fn output_is_deterministic() {
    let dir = tempfile::tempdir().unwrap();
    let modules = support::compile("modules", &["-O1", "-g"], &dir.path().join("input"));
    let files = |jobs: &str| {
        let out = dir.path().join(format!("out-{jobs}"));
        rewrite(&modules, &["-k", "5", "-j", jobs, "--emit", "bc,ll"], &out);
        let walk = walkdir::WalkDir::new(&out).sort_by_file_name().into_iter();
        let file = |e: walkdir::DirEntry| {
            let bytes = std::fs::read(e.path()).ok()?;
            Some((e.path().strip_prefix(&out).unwrap().to_path_buf(), bytes))
        };
        walk.filter_map(|e| file(e.unwrap())).collect::<Vec<_>>()
    };
    let first = files("1");
    assert!(first.len() > 20);
    assert_eq!(first, files("2"));
    assert_eq!(first, files("7"));
}
