//! Rewritten IR: diffs of small functions, named by phenomenon (`snapshots/ir`), and what must hold
//! of every rewritten module.

use crate::support::normal::{self, normalised};
use crate::support::{REWRITE, json, llvm, project, rewrite, run};
use clap::Parser;
use p3_rewrite::cli::rewrite::Args;
use similar::TextDiff;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A module as LLVM prints it, which it has to accept, without the lines that name files.
fn printed(module: &Path) -> String {
    let text = crate::support::accepted_text(module);
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
    // How many lines are before, and in, each part of a difference.
    settings.add_filter("(?m)^@@ .* @@$", "@@");
    settings
}

#[test]
fn rewritten_functions() {
    for entry in project("testdata/cfg").read_dir().unwrap() {
        let input = entry.unwrap().path();
        let name = input.file_stem().unwrap().to_str().unwrap().to_string();
        let dir = crate::support::folder();
        let mut options = vec!["--scheme", "sbl", "--emit", "ll"];
        if printed(&input).contains("@leaf(") {
            options.extend(["--exclude", "^leaf$"]);
        }
        rewrite(std::slice::from_ref(&input), &options, dir.path());
        let copy = dir.path().join("copy-0/m0.ll");
        let (old, new) = (printed(&input), printed(&copy));
        let names = normal::names(&old);
        let text = diff(&normalised(&old, &names), &normalised(&new, &names));
        snapshots("ir").bind(|| insta::assert_snapshot!(name, text));
    }
}

#[test]
fn plans_and_views() {
    for name in ["loop", "parallel_edges", "invoke_shared_pad", "indirectbr"] {
        let dir = crate::support::folder();
        let options = [
            "-k",
            "2",
            "--scheme",
            "p3",
            "--dump",
            "plan,numbering,cfg,dag",
            "--stats",
        ];
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
        let dir = crate::support::folder();
        rewrite(
            std::slice::from_ref(&input),
            &["-k", "1", "--emit", "ll", "--exclude", "."],
            dir.path(),
        );
        let copy = dir.path().join("copy-0/m0.ll");
        assert_eq!(printed(&input), printed(&copy));
    }
}

/// With debug information, an uninstrumented function is unchanged in a copy that instruments
/// others, and LLVM accepts every copy.
#[test]
fn only_profiled_functions_change() {
    let dir = crate::support::folder();
    let modules = crate::support::compile("demo", &["-O1", "-g", "-fno-inline"], dir.path());
    let out = dir.path().join("out");
    rewrite(
        &modules,
        &["--scheme", "sbl", "--include", "^(sort|scan)$"],
        &out,
    );
    let (old, new) = (printed(&modules[0]), printed(&out.join("copy-0/m0.bc")));
    let mut unchanged = 0;
    for name in ["main", "classify", "fill", "split", "sort", "scan"] {
        let same = body(&old, name) == body(&new, name);
        assert_eq!(same, !["sort", "scan"].contains(&name), "{name}");
        unchanged += usize::from(same);
    }
    assert_eq!(unchanged, 4);
}

/// The iterations of the loop count in an array, what follows it in a hash table. Ids become keys by a multiplication,
/// which no count needs here: outside the loop's second version the register holds a key from the beginning.
#[test]
fn count_in_hash_table_behind_loop_multiplies_nothing() {
    const SOURCE: &str = "
unsigned next(void);
void step(unsigned);
unsigned walk(unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; i++) {
    unsigned v = next();
    if (v & 1) sum += v; else sum ^= i;
    if (v == n) return sum;
    if (v < 7) break;
  }
#define STEP(bit) if (sum >> (bit) & 1) step(bit);
#define STEPS(bit) STEP(bit) STEP((bit) + 1) STEP((bit) + 2) STEP((bit) + 3)
  STEPS(0) STEPS(4) STEPS(8) STEPS(12) STEPS(16)
  return sum;
}
";
    let dir = crate::support::folder();
    let [source, module] = ["walk.c", "walk.bc"].map(|name| dir.path().join(name));
    std::fs::write(&source, SOURCE).unwrap();
    let mut clang = Command::new(llvm("clang"));
    clang.args(["-O2", "-emit-llvm", "-c"]).arg(source);
    run(clang.arg("-o").arg(&module));
    let out = dir.path().join("out");
    rewrite(&[module], &["--scheme", "sbl"], &out);
    let text = printed(&out.join("copy-0/m0.bc"));
    let text = body(&text, "walk");
    assert_eq!(text.matches("@__p3_missed(").count(), 7, "{text}");
    assert!(!text.contains(" mul "), "{text}");
}

/// A loop is vectorised in the copies that do not profile it as in the original.
#[test]
fn hot_loops_keep_their_shape() {
    let dir = crate::support::folder();
    let flags = ["-O2", "-fno-vectorize", "-fno-unroll-loops"];
    let modules = crate::support::compile("vectors", &flags, dir.path());
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
        let module = out.join(format!("copy-{copy}/m0.bc"));
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

/// Every file of an output folder and what is in it, by name.
fn files(out: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let walk = walkdir::WalkDir::new(out).sort_by_file_name().into_iter();
    let file = |e: walkdir::DirEntry| {
        let bytes = std::fs::read(e.path()).ok()?;
        Some((e.path().strip_prefix(out).unwrap().to_path_buf(), bytes))
    };
    walk.filter_map(|e| file(e.unwrap())).collect()
}

/// The same input, options and version give the same bytes, whatever the number of threads, or of children where there
/// is one module.
#[test]
fn output_is_deterministic() {
    let dir = crate::support::folder();
    let modules = crate::support::compile("modules", &["-O1", "-g"], &dir.path().join("input"));
    for (i, modules) in [&modules[..], &modules[..1]].into_iter().enumerate() {
        let made = |jobs: &str| {
            let out = dir.path().join(format!("out-{i}-{jobs}"));
            rewrite(modules, &["-k", "5", "-j", jobs, "--emit", "bc,ll"], &out);
            files(&out)
        };
        let first = made("1");
        assert!(first.len() > 20);
        assert_eq!(first, made("2"));
        assert_eq!(first, made("7"));
    }
}

/// Where children are killed that make the copies, and where there can be none since the process has threads, the
/// copies are the same.
#[test]
fn copies_need_no_children() {
    let dir = crate::support::folder();
    let program = crate::support::compile("demo", &["-O1", "-g"], &dir.path().join("input"));
    let made = |name: &str, run: &dyn Fn(&[String])| {
        let out = dir.path().join(name);
        let options = ["p3-rewrite", "-q", "-k", "16", "--emit", "bc,ll", "-o"];
        let names = [&out, &program[0]].map(|p| p.display().to_string());
        run(&[options.map(str::to_string).to_vec(), names.to_vec()].concat());
        files(&out)
    };
    let undisturbed = made("undisturbed", &|line| {
        run(Command::new(REWRITE).args(&line[1..]));
    });
    let killed = made("killed", &|line| {
        let mut process = Command::new(REWRITE).args(&line[1..]).spawn().unwrap();
        let children = format!("/proc/{0}/task/{0}/children", process.id());
        let mut kills = 0;
        while process.try_wait().unwrap().is_none() {
            // It may have ended meanwhile.
            let ids = std::fs::read_to_string(&children).unwrap_or_default();
            for id in ids.split_whitespace() {
                let id = rustix::process::Pid::from_raw(id.parse().unwrap()).unwrap();
                let kill = rustix::process::kill_process(id, rustix::process::Signal::KILL);
                kills += u32::from(kill.is_ok());
            }
        }
        assert!(process.wait().unwrap().success());
        assert!(kills > 0);
    });
    let threads = made("threads", &|line| {
        let options = Args::parse_from(line).resolve().unwrap();
        p3_rewrite::rewrite(&options).unwrap();
    });
    for other in [killed, threads] {
        assert_eq!(undisturbed.len(), other.len());
        for (one, other) in undisturbed.iter().zip(&other) {
            assert!(one == other, "{:?} {:?}", one.0, other.0);
        }
    }
}

/// What is known of a program is freed while its only copy is made, unless it is to be shown: the copies are the same.
#[test]
fn only_copy_is_same_where_program_is_shown() {
    let dir = crate::support::folder();
    let program = crate::support::compile("demo", &["-O1", "-g"], &dir.path().join("input"));
    for scheme in ["sbl", "edge", "trace", "subpath", "shadow"] {
        let made = |name: &str, more: &[&str]| {
            let out = dir.path().join(format!("{scheme}-{name}"));
            rewrite(
                &program,
                &[&["--scheme", scheme, "-k", "1"], more].concat(),
                &out,
            );
            files(&out)
        };
        assert_eq!(made("freed", &[]), made("shown", &["--stats"]), "{scheme}");
    }
}

/// The ways of counting that insert different code.
const WAYS: [&[&str]; 5] = [
    &["--scheme", "sbl", "-k", "1"],
    &["--scheme", "p3", "-k", "2", "--counters", "call"],
    &["--scheme", "p3", "-k", "2", "--update", "atomic"],
    &["--scheme", "edge", "-k", "1"],
    &["--scheme", "sbl", "-k", "1", "--count-hits"],
];

/// The modules that rewriting `input` in each of [`WAYS`] gives, which LLVM accepts.
fn in_every_way(input: &Path, mut check: impl FnMut(&Path)) {
    for options in WAYS {
        let dir = crate::support::folder();
        let input = input.to_path_buf();
        rewrite(std::slice::from_ref(&input), options, dir.path());
        let copies = if options.contains(&"2") { 2 } else { 1 };
        for copy in 0..copies {
            let module = only_module(dir.path(), copy);
            crate::support::accepted_text(&module);
            check(&module);
        }
    }
}

/// The module of a copy of a program that has one.
fn only_module(out: &Path, copy: u32) -> PathBuf {
    let files = out.join(format!("copy-{copy}")).read_dir().unwrap();
    let files: Vec<_> = files.map(|e| e.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[test]
fn odd_modules_stay_valid() {
    for folder in ["testdata/valid", "testdata/cfg"] {
        for entry in project(folder).read_dir().unwrap() {
            in_every_way(&entry.unwrap().path(), |_| {});
        }
    }
}

/// Where hot paths of a loop have versions, each of which goes back to its header, LLVM still knows what the loop's
/// variables are.
#[test]
fn loops_in_versions_have_induction_variables() {
    let dir = crate::support::folder();
    let input = dir.path().join("f.ll");
    let out = dir.path().join("out");
    let module = "
        define void @f(ptr %v, i64 %n) {
        entry:
          br label %loop
        loop:
          %i = phi i64 [ 0, %entry ], [ %next, %back ]
          %p = phi ptr [ %v, %entry ], [ %after, %back ]
          %x = load i64, ptr %p
          %odd = trunc i64 %x to i1
          br i1 %odd, label %change, label %back
        change:
          %y = xor i64 %x, 5
          store i64 %y, ptr %p
          br label %back
        back:
          %next = add nuw nsw i64 %i, 1
          %after = getelementptr inbounds i8, ptr %p, i64 8
          %more = icmp ult i64 %next, %n
          br i1 %more, label %loop, label %end
        end:
          ret void
        }
        define i32 @main() {
          call void @f(ptr null, i64 1)
          ret i32 0
        }
    ";
    std::fs::write(&input, module).unwrap();
    let options = ["--scheme", "ranges-test", "-k", "1", "--emit", "ll"];
    rewrite(&[input], &options, &out);
    let copy = only_module(&out, 0);
    let mut opt = Command::new(llvm("opt"));
    opt.args([
        "-passes=loop-simplify,print<scalar-evolution>",
        "-disable-output",
    ]);
    let output = opt.arg(copy).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    // By one, and by eight bytes, around the version in which iterations begin.
    for step in [",+,1}<", ",+,8}<"] {
        assert!(text.contains(step), "{text}");
    }
}

/// A loop with versions that lead back to its header stays one loop for LLVM. Its loop simplification would make nested
/// loops of one that has several back edges, and each would compute the variables of the other anew.
#[test]
fn optimisers_make_no_nested_loops_of_versions() {
    let dir = crate::support::folder();
    let out = dir.path().join("out");
    let input = dir.path().join("queens.bc");
    let source = project("testdata/kernels/queens.c");
    run(Command::new(llvm("clang"))
        .args(["-O2", "-emit-llvm", "-c", "-o"])
        .args([&input, &source]));
    let options = ["--scheme", "ranges-test", "-k", "1", "--emit", "ll"];
    rewrite(&[input], &options, &out);
    let mut opt = Command::new(llvm("opt"));
    opt.args(["-passes=default<O2>,loop-simplify,print<loops>"]);
    let output = opt.arg("-disable-output").arg(only_module(&out, 0));
    let text = String::from_utf8(output.output().unwrap().stderr).unwrap();
    assert!(text.contains("Loop at depth 1"), "{text}");
    assert!(!text.contains("Loop at depth 2"), "{text}");
}

/// Loops that hold what no copy may be made of stay as they are.
#[test]
fn calls_that_must_stay_single_are_skipped() {
    let dir = crate::support::folder();
    rewrite(
        &[project("testdata/valid/single.ll")],
        &["--scheme", "sbl"],
        dir.path(),
    );
    let manifest = json(&dir.path().join("manifest.json"));
    let functions = manifest["functions"].as_array().unwrap();
    let apart = functions.iter().filter(|f| f.get("apart").is_some());
    let names: Vec<_> = apart.map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(functions.len(), 6);
    assert_eq!(names, ["label_per_copy"]);
}

/// A function with 2^19 paths, counted in a hash table, that ends as `end` says; `%n` is its parameter.
fn many_paths(name: &str, end: &str) -> String {
    let diamond = |i: usize| {
        format!(
            "s{i}:\n  %b{i} = and i32 %n, {}\n  %c{i} = icmp eq i32 %b{i}, 0\n  \
             br i1 %c{i}, label %t{i}, label %s{1}\nt{i}:\n  br label %s{1}\n",
            1 << i,
            i + 1
        )
    };
    let diamonds: String = (0..19).map(diamond).collect();
    format!("define i32 @{name}(i32 %n) {{\n  br label %s0\n{diamonds}s19:\n  {end}\n}}\n")
}

/// What must stand before `ret` stands there also where counting branches.
#[test]
fn calls_that_end_paths_in_tables() {
    let dir = crate::support::folder();
    let input = dir.path().join("ends.ll");
    let text = [
        many_paths(
            "deoptimizes",
            "%v = call i32 (...) @llvm.experimental.deoptimize.i32(i32 %n) [ \"deopt\"() ]\n  ret i32 %v",
        ),
        many_paths("tail", "%v = musttail call i32 @callee(i32 %n)\n  ret i32 %v"),
        many_paths("traps", "call void @llvm.trap()\n  unreachable"),
        "declare i32 @llvm.experimental.deoptimize.i32(...)\ndeclare i32 @callee(i32)\ndeclare void @llvm.trap()\n"
            .to_string(),
    ];
    std::fs::write(&input, text.concat()).unwrap();
    in_every_way(&input, |_| {});
}

/// A module may have no data layout, and then LLVM takes atomic accesses of eight bytes for calls of a library, unless
/// they say how they are aligned.
#[test]
fn atomic_counts_call_no_library() {
    let dir = crate::support::folder();
    let input = dir.path().join("atomic.ll");
    std::fs::write(&input, many_paths("large", "ret i32 %n")).unwrap();
    let out = dir.path().join("out");
    rewrite(&[input], &["--scheme", "sbl", "--update", "atomic"], &out);
    let assembly = dir.path().join("code.s");
    run(Command::new(llvm("llc"))
        .args(["-O2", "-mtriple=x86_64-linux-gnu", "-o"])
        .args([&assembly, &only_module(&out, 0)]));
    let code = std::fs::read_to_string(assembly).unwrap();
    assert!(code.contains("__p3_count_atomic"), "counts stand inline");
    assert!(!code.contains("__atomic_"), "{code}");
}

/// A path ends before a call in tail position, so that the function still needs no frame for it; also where it counts
/// in a table.
#[test]
fn tail_calls_stay_jumps() {
    let dir = crate::support::folder();
    let input = dir.path().join("tail.ll");
    let joined = "%odd = and i32 %n, 1\n  %is = icmp eq i32 %odd, 0\n  br i1 %is, label %one, label %return\n\
                  one:\n  %v = tail call i32 @callee(i32 %n)\n  br label %return\n\
                  return:\n  %r = phi i32 [ %v, %one ], [ %n, %s19 ]\n  ret i32 %r";
    let direct = "%v = tail call i32 @callee(i32 %n)\n  ret i32 %v";
    let small = std::fs::read_to_string(project("testdata/cfg/tail_calls.ll")).unwrap();
    let text = [
        &small,
        &many_paths("large", joined),
        &many_paths("large_direct", direct),
    ];
    std::fs::write(&input, text.map(String::as_str).concat()).unwrap();
    let calls = |module: &Path| {
        let assembly = dir.path().join("code.s");
        run(Command::new(llvm("llc"))
            .args(["-O2", "-mtriple=x86_64-linux-gnu", "-o"])
            .args([&assembly, module]));
        let code = std::fs::read_to_string(assembly).unwrap();
        let name = |callee: &str| code.matches(&format!("callq\t{callee}@PLT")).count();
        ["callee", "nothing", "something"].map(name)
    };
    // Two that are no tail calls, and one before a block that adds something.
    assert_eq!(calls(&input), [3, 0, 0]);
    let ways = WAYS
        .iter()
        .filter(|options| !options.contains(&"--count-hits"));
    for options in ways {
        let out = dir.path().join("out");
        rewrite(std::slice::from_ref(&input), options, &out);
        assert_eq!(calls(&only_module(&out, 0)), [3, 0, 0], "{options:?}");
        std::fs::remove_dir_all(out).unwrap();
    }
}

/// Recursion by tail calls needs no stack natively. Callees behind pointers may never come back, so that no count can
/// stand in front of them but for the path's end being there.
#[test]
fn tail_calls_need_no_stack() {
    const SOURCE: &str = r#"
#include <stdio.h>
typedef int fn(unsigned, unsigned);
extern fn *table[2];
int even(unsigned n, unsigned k) {
    if (!n) return (int)k;
    if (n & 4) k ^= n;
    return table[n & 1](n - 1, k);
}
int odd(unsigned n, unsigned k) {
    if (!n) return 0;
    if (n % 3 == 0) k += n;
    return table[n & 1](n - 1, k);
}
fn *table[2] = { even, odd };
int main(void) {
    printf("%d\n", even(1000000, 1));
    return 0;
}
"#;
    let dir = crate::support::folder();
    let input = crate::support::module("deep.c", SOURCE, &["-O2"], dir.path());
    let out = dir.path().join("out");
    rewrite(&[input], &["--scheme", "sbl", "-k", "1"], &out);
    let exe = dir.path().join("deep");
    let runtime = crate::support::runtime();
    crate::support::link(&[only_module(&out, 0)], runtime, &["-O2"], &exe);
    let script = "ulimit -s 256; P3_PROFILE_FILE=deep.p3raw exec ./deep";
    run(Command::new("sh")
        .args(["-c", script])
        .current_dir(dir.path()));
}

/// Local functions and variables with names of ours get others, and calls of the runtime reach the runtime.
#[test]
fn local_names_make_way() {
    let dir = crate::support::folder();
    let input = dir.path().join("local.ll");
    let local = "define internal void @__p3_count(ptr %p, i64 %n) memory(none) {\n  ret void\n}\n\
                 @__p3_tables = internal global i32 7\n";
    let end = "call void @__p3_count(ptr @__p3_tables, i64 0) memory(none)\n  ret i32 %n";
    std::fs::write(&input, [local, &many_paths("f", end)].concat()).unwrap();
    let calls = ["--scheme", "sbl", "--counters", "call", "--emit", "ll"];
    let options = [&calls[..], &["--update", "single"]].concat();
    let out = dir.path().join("out");
    rewrite(&[input], &options, &out);
    let copy = std::fs::read_to_string(only_module(&out, 0)).unwrap();
    for part in [
        "declare void @__p3_count(ptr, i64)",
        "call void @__p3_count(ptr @__p3_tables, i64 %",
        "define internal void @local.__p3_count(ptr %p, i64 %n) {",
        "call void @local.__p3_count(ptr @local.__p3_tables, i64 0)\n",
        "@local.__p3_tables = internal global i32 7",
    ] {
        assert!(copy.contains(part), "{part}: {copy}");
    }
}

/// Functions without a name are counted and reported as others are.
#[test]
fn unnamed_functions() {
    let dir = crate::support::folder();
    let module = dir.path().join("unnamed.bc");
    let text = project("testdata/valid/unnamed.ll");
    run(Command::new(llvm("llvm-as"))
        .arg(text)
        .arg("-o")
        .arg(&module));
    let (modules, exe) = ([module], dir.path().join("native.exe"));
    crate::support::link(&modules, &[], &["-O1"], &exe);
    let expected = crate::support::execute(&exe, &dir.path().join("native"));
    for (i, options) in [&["--scheme", "sbl"][..], &["--scheme", "pbl"]]
        .iter()
        .enumerate()
    {
        let out = dir.path().join(i.to_string());
        let merged =
            crate::support::profile(&modules, options, 1 + i as u32, &["-O2"], &expected, &out);
        let counts = |name: &str| -> Vec<u64> {
            let paths = crate::support::paths(&merged);
            let of = paths.iter().filter(|(key, _)| key.1 == name);
            of.map(|(_, n)| *n).collect()
        };
        // Three calls of loops that run 3, 5 and 5 times.
        assert_eq!(counts("unnamed.0").iter().sum::<u64>(), 13);
        assert_eq!(counts("unnamed.1").iter().sum::<u64>(), 3);
        assert_eq!(counts("unnamed.1").len(), 2);
    }
}

/// Triple, data layout, and the address space of code.
const TARGETS: [(&str, &str, &str, u32); 13] = [
    (
        "i386",
        "i386-unknown-linux-gnu",
        "e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-i128:128-f64:32:64-f80:32-n8:16:32-S128",
        0,
    ),
    (
        "x32",
        "x86_64-unknown-linux-gnux32",
        "e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
        0,
    ),
    (
        "armv7",
        "armv7-unknown-linux-gnueabihf",
        "e-m:e-p:32:32-Fi8-i64:64-v128:64:128-a:0:32-n32-S64",
        0,
    ),
    (
        "aarch64_be",
        "aarch64_be-unknown-linux-gnu",
        "E-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32",
        0,
    ),
    (
        "mips",
        "mips-unknown-linux-gnu",
        "E-m:m-p:32:32-i8:8:32-i16:16:32-i64:64-n32-S64",
        0,
    ),
    (
        "ppc64",
        "powerpc64-unknown-linux-gnu",
        "E-m:e-Fi64-i64:64-n32:64",
        0,
    ),
    (
        "s390x",
        "s390x-unknown-linux-gnu",
        "E-m:e-i1:8:16-i8:8:16-i64:64-f128:64-v128:64-a:8:16-n32:64",
        0,
    ),
    (
        "riscv32",
        "riscv32-unknown-linux-gnu",
        "e-m:e-p:32:32-i64:64-n32-S128",
        0,
    ),
    (
        "wasm32",
        "wasm32-unknown-unknown",
        "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-n32:64-S128-ni:1:10:20",
        0,
    ),
    (
        "avr",
        "avr",
        "e-P1-p:16:8-i8:8-i16:8-i32:8-i64:8-f32:8-f64:8-n8-a:8",
        1,
    ),
    (
        "msp430",
        "msp430",
        "e-m:e-p:16:16-i32:16-i64:16-f32:16-f64:16-a:8-n8:16-S16",
        0,
    ),
    ("code", "", "e-P1-p:64:64-p1:64:64", 1),
    ("none", "", "", 0),
];

/// A module for a target: two hash tables, an array, a constructor, calls.
fn for_target(triple: &str, layout: &str, code: u32) -> String {
    let ptr = format!("ptr addrspace({code})");
    let list = format!("@llvm.global_ctors = appending global [1 x {{ i32, {ptr}, ptr }}]");
    [
        format!("target datalayout = \"{layout}\"\ntarget triple = \"{triple}\"\n"),
        format!("{list} [{{ i32, {ptr}, ptr }} {{ i32 5, {ptr} @start, ptr null }}]\n"),
        "declare i32 @callee(i32)\ndefine void @start() {\n  ret void\n}\n".to_string(),
        many_paths("f", "ret i32 %n"),
        many_paths("g", "%v = call i32 @callee(i32 %n)\n  ret i32 %v"),
        "define i32 @h(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  ret i32 0\nb:\n  ret i32 1\n}\n"
            .to_string(),
    ]
    .concat()
}

/// Code for devices passes as it is: all of it is skipped.
#[test]
fn devices() {
    for triple in [
        "nvptx64-nvidia-cuda",
        "amdgcn-amd-amdhsa",
        "spirv64-unknown-unknown",
        "bpfel",
    ] {
        let dir = crate::support::folder();
        let input = dir.path().join("device.ll");
        let text = format!(
            "target triple = \"{triple}\"\n{}",
            many_paths("f", "ret i32 %n")
        );
        std::fs::write(&input, text).unwrap();
        let out = dir.path().join("out");
        rewrite(
            std::slice::from_ref(&input),
            &["--scheme", "sbl", "--emit", "ll"],
            &out,
        );
        assert_eq!(printed(&input), printed(&only_module(&out, 0)));
        let manifest = std::fs::read_to_string(out.join("manifest.json")).unwrap();
        assert!(manifest.contains(r#"{"skipped":"device"}"#), "{manifest}");
    }
}

/// Copies for other targets are valid for LLVM and for the code generator: small pointers, big-endian ones,
/// code and globals in other address spaces.
#[test]
fn other_targets() {
    for (name, triple, layout, code) in TARGETS {
        let dir = crate::support::folder();
        let input = dir.path().join(format!("{name}.ll"));
        std::fs::write(&input, for_target(triple, layout, code)).unwrap();
        in_every_way(&input, |module| {
            if triple.is_empty() && !layout.is_empty() {
                return; // llc would take the data layout of this machine
            }
            let object = dir.path().join("object");
            let mut llc = Command::new(llvm("llc"));
            run(llc
                .args(["-O1", "-filetype=obj", "-o"])
                .arg(&object)
                .arg(module));
        });
    }
}
