//! `p3-prof export`: every format is opened by the tool that it is for, and its sums are those of the profile.

use crate::support::{PROF, link, llvm, original, paths, profile, project, run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags of programs with debug information, one LLVM block for one in the source.
const DEBUG: &[&str] = &["-O1", "-g", "-fno-inline"];

fn profiled(name: &str, flags: &[&str], dir: &Path) -> PathBuf {
    let (modules, expected) = original(name, flags, &["-O1"], dir);
    profile(&modules, &[], 3, &["-O1"], &expected, &dir.join("out"))
}

/// The profile in a format, as a file.
fn export(profile: &Path, format: &str, options: &[&str]) -> PathBuf {
    let out = profile.with_extension(format);
    let mut export = Command::new(PROF);
    export.arg("export").arg(profile).args(["--format", format]);
    run(export.args(options).arg("-o").arg(&out).env("PATH", ""));
    out
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

fn text(output: std::process::Output) -> String {
    String::from_utf8(output.stdout).unwrap()
}

/// A tool of `make test`'s, which installs what is missing.
fn tool(name: &str, arguments: &[&str], file: &Path) -> String {
    text(run(Command::new(name).args(arguments).arg(file)))
}

/// Executed paths and instructions of a profile.
fn totals(profile: &Path) -> (u64, u64) {
    let table = text(run(Command::new(PROF)
        .args(["show", "--format", "csv"])
        .arg(profile)));
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let column = |name: &str| heads.iter().position(|h| h == name).unwrap();
    let (count, instructions) = (column("count"), column("instructions"));
    let mut sums = (0, 0);
    for record in reader.records() {
        let record = record.unwrap();
        let number = |i: usize| record[i].parse::<u64>().unwrap();
        sums.0 += number(count);
        sums.1 += number(count) * number(instructions);
    }
    sums
}

/// `text` with everything but digits taken out.
fn digits(text: &str) -> u64 {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[test]
fn tables_are_those_of_show() {
    let dir = tempfile::tempdir().unwrap();
    let profile = profiled("demo", DEBUG, dir.path());
    for format in ["csv", "json"] {
        let shown = run(Command::new(PROF)
            .args(["show", "--format", format])
            .arg(&profile));
        assert_eq!(read(&export(&profile, format, &[])), text(shown));
    }
}

#[test]
fn genhtml_reads_lcov() {
    for name in ["demo", "exceptions", "modules"] {
        let dir = tempfile::tempdir().unwrap();
        let profile = profiled(name, DEBUG, dir.path());
        let tracefile = export(&profile, "lcov", &[]);
        let html = dir.path().join("html");
        // System headers, of which lines are inlined, need not be there.
        let mut genhtml = Command::new("genhtml");
        genhtml.args(["--branch-coverage", "--ignore-errors", "source", "-o"]);
        let said = text(run(genhtml.arg(&html).arg(&tracefile)));
        let records = read(&tracefile);
        let sum = |what: &str| -> u64 {
            let lines = records.lines().filter_map(|l| l.strip_prefix(what));
            lines.map(digits).sum()
        };
        let of = |ran, all| format!("({} of {} ", sum(ran), sum(all));
        assert!(said.contains(&of("LH:", "LF:")), "{said}");
        assert!(said.contains(&of("FNH:", "FNF:")), "{said}");
        assert!(said.contains(&of("BRH:", "BRF:")), "{said}");
        assert!(html.join("index.html").exists());
    }
}

/// Executions of lines, by line.
fn line_counts(tracefile: &str) -> BTreeMap<u32, u64> {
    let records = tracefile.lines().filter_map(|l| l.strip_prefix("DA:"));
    let numbers = records.map(|r| {
        let mut numbers = r.split(',').map(|n| n.parse::<u64>().unwrap());
        (numbers.next().unwrap() as u32, numbers.next().unwrap())
    });
    numbers.collect()
}

/// Lines ran as often as clang's own source-based coverage says, wherever a line is one region there.
#[test]
fn lines_are_those_of_llvm_cov() {
    for name in ["demo", "loops"] {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let profile = profiled(name, &["-O0", "-g", "-Xclang", "-disable-O0-optnone"], dir);
        let ours = line_counts(&read(&export(&profile, "lcov", &[])));
        let source = &crate::support::sources(name)[0];
        let (exe, raw, data) = (
            dir.join("cov.exe"),
            dir.join("cov.profraw"),
            dir.join("cov.profdata"),
        );
        let mut clang = Command::new(llvm("clang"));
        clang.args([
            "-O0",
            "-w",
            "-fprofile-instr-generate",
            "-fcoverage-mapping",
        ]);
        clang.arg("-I").arg(project("testdata/include")).arg(source);
        run(clang.args(["-lm", "-o"]).arg(&exe));
        // (Its own exit status is not of interest.)
        let mut program = Command::new(&exe);
        program.env("LLVM_PROFILE_FILE", &raw).output().unwrap();
        let mut merge = Command::new(llvm("llvm-profdata"));
        run(merge.arg("merge").arg(&raw).arg("-o").arg(&data));
        let mut cov = Command::new(llvm("llvm-cov"));
        cov.args(["export", "--format=lcov", "--instr-profile"]);
        let theirs = line_counts(&text(run(cov.arg(&data).arg(&exe))));
        let lines: Vec<String> = read(source).lines().map(str::to_string).collect();
        let mut compared = 0;
        for (line, count) in &ours {
            // Loop heads run on the way in, too; what has an arm of its own has several counts.
            let words = ["for (", "while (", "?", "&&", "||", "case", "}", "do "];
            let code = &lines[*line as usize - 1];
            if words.iter().any(|w| code.contains(w)) {
                continue;
            }
            assert_eq!(theirs.get(line), Some(count), "{name}:{line}: {code}");
            compared += 1;
        }
        assert!(compared > 15, "{name}: {compared} lines compared");
    }
}

#[test]
fn callgrind_annotate_reads_callgrind() {
    for (name, main) in [("demo", true), ("modules", false), ("exceptions", false)] {
        let dir = tempfile::tempdir().unwrap();
        let profile = profiled(name, DEBUG, dir.path());
        let file = export(&profile, "callgrind", &[]);
        let (_, instructions) = totals(&profile);
        let shown = tool("callgrind_annotate", &["--threshold=100"], &file);
        let total = shown.lines().find(|l| l.ends_with("PROGRAM TOTALS"));
        let total = total.unwrap().split(' ').next().unwrap();
        assert_eq!(digits(total), instructions, "{shown}");
        if main {
            // Everything is called directly, so all of it is main's.
            let shown = tool("callgrind_annotate", &["--inclusive=yes"], &file);
            let main = shown.lines().find(|l| l.ends_with("demo.c:main")).unwrap();
            let inclusive = digits(main.trim().split(' ').next().unwrap());
            assert!(inclusive.abs_diff(instructions) < 3, "{shown}");
        }
    }
}

/// Recursion and cycles of calls: what a function costs with all that it calls is at most everything.
#[test]
fn callgrind_of_recursion() {
    let dir = tempfile::tempdir().unwrap();
    let profile = profiled("recursion", DEBUG, dir.path());
    let file = export(&profile, "callgrind", &[]);
    let (_, instructions) = totals(&profile);
    let shown = tool("callgrind_annotate", &["--inclusive=yes"], &file);
    let functions = shown.lines().filter(|l| l.contains("recursion.c:"));
    let mut seen = 0;
    for line in functions.filter(|l| l.contains('%')) {
        let inclusive = digits(line.trim().split(' ').next().unwrap());
        assert!(inclusive <= instructions + 9, "{line}");
        seen += 1;
    }
    assert!(seen > 3, "{shown}");
}

#[test]
fn inferno_reads_folded() {
    for (name, flags) in [("demo", DEBUG), ("exceptions", DEBUG), ("loops", &["-O1"])] {
        let dir = tempfile::tempdir().unwrap();
        let profile = profiled(name, flags, dir.path());
        let (paths, instructions) = totals(&profile);
        for (weigh, total) in [("paths", paths), ("instructions", instructions)] {
            let folded = read(&export(&profile, "folded", &["--weigh", weigh]));
            let weights = folded.lines().map(|l| l.rsplit_once(' ').unwrap().1);
            assert_eq!(weights.map(digits).sum::<u64>(), total);
            let mut options = inferno::flamegraph::Options::default();
            options.min_width = 0.0;
            let mut svg = Vec::new();
            let lines = folded.lines();
            inferno::flamegraph::from_lines(&mut options, lines, &mut svg).unwrap();
            let svg = String::from_utf8(svg).unwrap();
            let all = format!("total_samples=\"{total}\"");
            assert!(svg.contains(&all), "{name}");
            assert!(svg.contains("main"), "{name}");
        }
    }
}

#[test]
fn pprof_reads_pprof() {
    for name in ["demo", "modules", "exceptions"] {
        let dir = tempfile::tempdir().unwrap();
        let profile = profiled(name, DEBUG, dir.path());
        let file = export(&profile, "pprof", &[]);
        let mut stdout = Command::new(PROF);
        let printed = run(stdout
            .arg("export")
            .arg(&profile)
            .args(["--format", "pprof"]));
        assert_eq!(printed.stdout, std::fs::read(&file).unwrap());
        let (paths, instructions) = totals(&profile);
        for (index, total) in [("paths", paths), ("instructions", instructions)] {
            let index = format!("-sample_index={index}");
            let options = ["tool", "pprof", "-top", "-nodefraction=0", &index];
            let shown = tool("go", &options, &file);
            let all = format!(" of {total} total");
            assert!(shown.contains(&all), "{name}: {shown}");
        }
    }
    // A label names each path.
    let dir = tempfile::tempdir().unwrap();
    let profile = profiled("demo", DEBUG, dir.path());
    let file = export(&profile, "pprof", &["--function", "^classify$"]);
    let tags = tool("go", &["tool", "pprof", "-tags"], &file);
    assert!(
        tags.contains("path: Total") && tags.contains("classify #0"),
        "{tags}"
    );
}

/// By speedscope's own schema of its files, and in a browser.
#[test]
fn speedscope_opens_speedscope() {
    let package = tempfile::tempdir().unwrap();
    let package = package.path();
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "speedscope@1"]);
    let file = text(run(npm.current_dir(package)));
    let mut tar = Command::new("tar");
    run(tar.arg("-xzf").arg(file.trim()).current_dir(package));
    let release = package.join("package/dist/release");
    let schema = read(&release.join("file-format-schema.json"));
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, flags) in [("demo", DEBUG), ("exceptions", DEBUG), ("loops", &["-O1"])] {
        let dir = tempfile::tempdir().unwrap();
        let profile = profiled(name, flags, dir.path());
        let file: serde_json::Value =
            serde_json::from_str(&read(&export(&profile, "speedscope", &[]))).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&file)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:?}");
        let (paths, instructions) = totals(&profile);
        for (profile, total) in file["profiles"]
            .as_array()
            .unwrap()
            .iter()
            .zip([paths, instructions])
        {
            let weights = profile["weights"].as_array().unwrap();
            let sum: f64 = weights.iter().map(|w| w.as_f64().unwrap()).sum();
            assert_eq!(sum, total as f64);
            assert_eq!(profile["endValue"].as_f64(), Some(sum));
            let frames = file["shared"]["frames"].as_array().unwrap().len() as u64;
            let samples = profile["samples"].as_array().unwrap();
            let known = |s: &serde_json::Value| {
                s.as_array()
                    .unwrap()
                    .iter()
                    .all(|f| f.as_u64().unwrap() < frames)
            };
            assert!(samples.len() == weights.len() && samples.iter().all(known));
        }
    }
    // The schema refuses what it should.
    assert!(!validator.is_valid(&serde_json::json!({ "profiles": [] })));

    let dir = tempfile::tempdir().unwrap();
    let profile = profiled("demo", DEBUG, dir.path());
    let exported = std::fs::read(export(&profile, "speedscope", &[])).unwrap();
    let page = in_browser(&release, &exported, dir.path());
    assert!(
        page.contains("paths executed") && page.contains("1/2"),
        "{page}"
    );
}

/// What speedscope's page looks like, as text, when it has loaded a file.
fn in_browser(release: &Path, exported: &[u8], dir: &Path) -> String {
    use base64::Engine;
    let data = base64::engine::general_purpose::STANDARD.encode(exported);
    let script = dir.join("load.js");
    let load = format!("speedscope.loadFileFromBase64('demo', '{data}')\n");
    std::fs::write(&script, load).unwrap();
    let mut browser = Command::new("chromium");
    browser.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-unsafe-swiftshader",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--allow-file-access-from-files",
        "--virtual-time-budget=20000",
        "--dump-dom",
    ]);
    browser.arg(format!("--user-data-dir={}", dir.join("browser").display()));
    let index = release.join("index.html");
    let (index, script) = (index.display(), script.display());
    text(run(
        browser.arg(format!("file://{index}#localProfilePath={script}"))
    ))
}

#[test]
fn graphviz_draws_dot() {
    for (name, flags) in [
        ("demo", DEBUG),
        ("exceptions", DEBUG),
        ("switches", &["-O1"]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let profile = profiled(name, flags, dir.path());
        let file = export(&profile, "dot", &[]);
        let graphs = read(&file).matches("digraph ").count();
        let ran: std::collections::BTreeSet<_> =
            paths(&profile).into_keys().map(|k| (k.0, k.1)).collect();
        assert_eq!(graphs, ran.len());
        let svg = tool("dot", &["-Tsvg"], &file);
        assert_eq!(svg.matches("</svg>").count(), graphs);
        assert!(
            svg.matches("stroke-width=\"4\"").count() >= graphs / 2,
            "{name}"
        );
    }
}

/// A profile of edges serves what is about edges, and says so where paths are asked for.
#[test]
fn edges_instead_of_paths() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (modules, expected) = original("demo", DEBUG, &["-O1"], dir);
    let run = |options: &[&str], to: &str| {
        profile(&modules, options, 2, &["-O1"], &expected, &dir.join(to))
    };
    let (edges, paths) = (run(&["--scheme", "edge"], "edge"), run(&[], "p3"));
    let comparable = |text: String| -> Vec<String> {
        let lines = text.lines().filter(|l| !l.starts_with("cmd:"));
        lines.map(str::to_string).collect()
    };
    for format in ["lcov", "callgrind"] {
        let of = |profile| comparable(read(&export(profile, format, &[])));
        assert_eq!(of(&edges), of(&paths));
    }
    assert!(read(&export(&edges, "dot", &[])).contains("digraph"));
    for format in ["folded", "pprof", "speedscope", "csv", "json"] {
        let mut command = Command::new(PROF);
        command.arg("export").arg(&edges).args(["--format", format]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{format}");
        assert!(output.stdout.is_empty());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("it counts edges, not paths"), "{said}");
    }
}

/// What is not profiled is not exported, and named.
#[test]
fn skipped_functions_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (modules, expected) = original("demo", DEBUG, &["-O1"], dir);
    let options = ["--exclude", "^sort$"];
    let merged = profile(&modules, &options, 2, &["-O1"], &expected, &dir.join("out"));
    let mut command = Command::new(PROF);
    command
        .arg("export")
        .arg(&merged)
        .args(["--format", "lcov"]);
    let output = run(&mut command);
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(said.starts_with("warning: sort: skipped("), "{said}");
    assert!(!text(output).contains(",sort"));
}

/// Nothing about lines without debug information.
#[test]
fn lcov_needs_lines() {
    let dir = tempfile::tempdir().unwrap();
    let profile = profiled("loops", &["-O1"], dir.path());
    let mut command = Command::new(PROF);
    command
        .arg("export")
        .arg(&profile)
        .args(["--format", "lcov"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("-g") && said.lines().count() == 1, "{said}");
    // Instructions by function can be told all the same.
    let shown = tool(
        "callgrind_annotate",
        &[],
        &export(&profile, "callgrind", &[]),
    );
    assert!(shown.contains("???:main"), "{shown}");
}

/// Modules of one program, linked together, annotated together.
#[test]
fn annotate_folders() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (modules, expected) = original("modules", &["-O1"], &["-O1"], dir);
    let merged = profile(&modules, &[], 2, &["-O1"], &expected, &dir.join("out"));
    let annotated = dir.join("annotated");
    let mut annotate = Command::new(crate::support::REWRITE);
    annotate
        .arg("annotate")
        .arg(dir.join("input"))
        .arg("--profile");
    let said = run(annotate.arg(&merged).arg("-o").arg(&annotated));
    assert!(
        String::from_utf8(said.stderr)
            .unwrap()
            .contains("functions annotated")
    );
    let names = modules.iter().map(|m| m.file_name().unwrap());
    let annotated: Vec<PathBuf> = names.map(|n| annotated.join(n)).collect();
    let exe = dir.join("annotated.exe");
    link(&annotated, &[], &["-O2"], &exe);
    assert_eq!(crate::support::execute(&exe, &dir.join("again")), expected);
}

/// Functions and a source file with names that are records, numbers, escapes and control sequences to some format.
const HOSTILE: &str = r##"
#include <stdio.h>
#line 1 "evil\nSF:forged\nfn=(1) x,\"\\\033[31m.c"
#define NAMED(f, name) __attribute__((noinline)) int f(int) __asm__(name)
NAMED(forged, "x\nend_of_record\nSF:y\nfn=z\nforged 1");
NAMED(numbered, "(1) x");
NAMED(listed, "a,b;c d 12");
NAMED(quoted, "quo\"te\\");
NAMED(coloured, "\033]0;title\007\033[31mred");
NAMED(comment, "#comment");
NAMED(flag, ":ir");
int forged(int x) { return x > 1 ? x : 7; }
int numbered(int x) { return x > 2 ? forged(x) : 3; }
int listed(int x) { return x > 3 ? numbered(x) : 4; }
int quoted(int x) { return x & 1 ? listed(x) : 5; }
int coloured(int x) { return x & 2 ? quoted(x) : 6; }
int comment(int x) { return x & 4 ? coloured(x) : 8; }
int flag(int x) { return x & 3 ? comment(x) : 9; }
int main(void) {
    int sum = 0;
    for (int i = 0; i < 64; i++) sum += flag(i);
    printf("%d\n", sum);
    return 0;
}
"##;

/// The profile of [`HOSTILE`].
fn hostile(dir: &Path) -> PathBuf {
    let (source, module) = (dir.join("hostile.c"), dir.join("hostile.bc"));
    std::fs::write(&source, HOSTILE).unwrap();
    let mut clang = Command::new(llvm("clang"));
    clang.args(["-O1", "-g", "-c", "-emit-llvm"]).arg(&source);
    run(clang.arg("-o").arg(&module));
    let exe = dir.join("native.exe");
    link(std::slice::from_ref(&module), &[], &["-O1"], &exe);
    let expected = crate::support::execute(&exe, &dir.join("run"));
    profile(&[module], &[], 2, &["-O1"], &expected, &dir.join("out"))
}

/// No name reaches a terminal or a line of its own as anything but text.
#[test]
fn hostile_names_are_only_text() {
    let dir = tempfile::tempdir().unwrap();
    let profile = hostile(dir.path());
    let text_only = |text: &str| !text.chars().any(|c| c.is_control() && c != '\n');
    let p = profile.to_str().unwrap();
    for command in [
        &["show", p][..],
        &["show", p, "--edges"],
        &["show", p, "--format", "csv"],
        &["show", p, "--format", "json"],
        &["verify", p],
        &["accuracy", p],
        &["coverage", p, "--function", "red"],
        &["coverage", p, "--format", "csv"],
        &["compare", p, p],
        &["diff", p, p],
    ] {
        let shown = text(run(Command::new(PROF).args(command)));
        assert!(text_only(&shown), "{command:?}: {shown:?}");
        // The names have line ends, which would begin lines.
        let forged = shown
            .lines()
            .any(|l| l.starts_with("end_of_record") || l.starts_with("SF:"));
        assert!(!forged, "{command:?}: {shown}");
    }
    let json = text(run(Command::new(PROF).args(["show", p, "--format", "json"])));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let functions = json["functions"].as_array().unwrap().iter();
    let names: Vec<&str> = functions.map(|f| f["name"].as_str().unwrap()).collect();
    assert!(
        names.contains(&"x\nend_of_record\nSF:y\nfn=z\nforged 1"),
        "{names:?}"
    );
    let said = Command::new(PROF)
        .args(["show", "x\u{1b}[31m\ny"])
        .output()
        .unwrap();
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(text_only(&said) && said.lines().count() == 1, "{said:?}");

    let (paths, instructions) = totals(&profile);
    let lcov = read(&export(&profile, "lcov", &[]));
    let begin = |what: &str| lcov.lines().filter(|l| l.starts_with(what)).count();
    assert_eq!(
        (
            begin("SF:"),
            begin("end_of_record"),
            begin("FN:"),
            begin("FNDA:")
        ),
        (1, 1, 8, 8),
        "{lcov}"
    );
    assert!(
        text_only(&lcov)
            && lcov
                .lines()
                .filter(|l| l.starts_with("FN:"))
                .all(|l| l.matches(',').count() == 1)
    );
    let html = dir.path().join("html");
    let mut genhtml = Command::new("genhtml");
    genhtml.args(["--ignore-errors", "source", "-o"]).arg(&html);
    let said = text(run(genhtml.arg(profile.with_extension("lcov"))));
    assert!(said.contains("(8 of 8 functions)"), "{said}");

    let file = export(&profile, "callgrind", &[]);
    assert!(text_only(&read(&file)));
    let shown = tool("callgrind_annotate", &["--threshold=100"], &file);
    let total = shown
        .lines()
        .find(|l| l.ends_with("PROGRAM TOTALS"))
        .unwrap();
    assert_eq!(
        digits(total.split(' ').next().unwrap()),
        instructions,
        "{shown}"
    );
    for name in [":(1) x", ":a,b;c d 12", ":quo\"te\\", ":main"] {
        assert!(shown.lines().any(|l| l.ends_with(name)), "{name}: {shown}");
    }

    let folded = read(&export(&profile, "folded", &[]));
    let weights = folded.lines().map(|l| l.rsplit_once(' ').unwrap().1);
    assert!(text_only(&folded));
    assert_eq!(weights.map(digits).sum::<u64>(), paths);
    let first = |l: &str| l.split(';').next().unwrap().to_string();
    let functions: std::collections::BTreeSet<String> = folded.lines().map(first).collect();
    assert_eq!(functions.len(), 8, "{functions:?}");

    let file = export(&profile, "dot", &[]);
    let svg = tool("dot", &["-Tsvg"], &file);
    assert_eq!(svg.matches("</svg>").count(), 8);
    assert!(
        text_only(&read(&file)) && svg.contains("quo&quot;te\\: entered"),
        "{svg}"
    );

    let file = export(&profile, "pprof", &[]);
    let shown = tool("go", &["tool", "pprof", "-top", "-nodefraction=0"], &file);
    assert!(text_only(&shown) && shown.contains("(1) x"), "{shown}");
    let speedscope = read(&export(&profile, "speedscope", &[]));
    let speedscope: serde_json::Value = serde_json::from_str(&speedscope).unwrap();
    let frames = speedscope["shared"]["frames"].as_array().unwrap();
    assert!(frames.iter().any(|f| f["name"] == "(1) x"));

    // Of the names two cannot stand in a proftext, as comment and as flag, and two have control characters.
    let proftext = dir.path().join("hostile.proftext");
    let mut export = Command::new(PROF);
    export.args(["export", p, "--format", "proftext", "--modules"]);
    export
        .arg(dir.path().join("hostile.bc"))
        .arg("-o")
        .arg(&proftext);
    let said = String::from_utf8(run(&mut export).stderr).unwrap();
    assert_eq!(
        said.matches("proftext cannot hold its name").count(),
        4,
        "{said}"
    );
    assert!(text_only(&said));
    let data = dir.path().join("hostile.profdata");
    let mut merge = Command::new(llvm("llvm-profdata"));
    run(merge.arg("merge").arg(&proftext).arg("-o").arg(&data));
    let mut show = Command::new(llvm("llvm-profdata"));
    let shown = text(run(show.args(["show", "--all-functions"]).arg(&data)));
    assert!(shown.contains("Total functions: 4"), "{shown}");
}
