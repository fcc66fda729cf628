//! `p3-prof export`: what files hold, and LLVM's own tools. `viewers` opens them by the others that they are for.

use crate::support::text::{assert_line, in_dir};
use crate::support::{PROF, link, llvm, original, profile, project, run, run_and_profile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags of programs with debug information, one LLVM block for one in the source.
pub(crate) const DEBUG: &[&str] = &["-O1", "-g", "-fno-inline"];

pub(crate) fn profiled(name: &str, flags: &[&str], dir: &Path) -> PathBuf {
    let (modules, expected) = original(name, flags, &["-O1"], dir);
    profile(&modules, &[], 3, &["-O1"], &expected, &dir.join("out"))
}

/// The profile in a format, as a file.
pub(crate) fn export(profile: &Path, format: &str, options: &[&str]) -> PathBuf {
    let out = profile.with_extension(format);
    let mut export = Command::new(PROF);
    export.arg("export").arg(profile).args(["--format", format]);
    // Outside this repository: files of one are named from there.
    export.current_dir(profile.parent().unwrap());
    run(export.args(options).arg("-o").arg(&out).env("PATH", ""));
    out
}

pub(crate) fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

pub(crate) fn text(output: std::process::Output) -> String {
    String::from_utf8(output.stdout).unwrap()
}

/// Executed paths and instructions of a profile.
pub(crate) fn totals(profile: &Path) -> (u64, u64) {
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
pub(crate) fn digits(text: &str) -> u64 {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[test]
fn tables_are_those_of_show() {
    let dir = crate::support::folder();
    let profile = profiled("demo", DEBUG, dir.path());
    for format in ["csv", "json"] {
        let shown = run(Command::new(PROF)
            .args(["show", "--format", format])
            .arg(&profile));
        assert_eq!(read(&export(&profile, format, &[])), text(shown));
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
        let dir = crate::support::folder();
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
fn inferno_reads_folded() {
    for (name, flags) in [("demo", DEBUG), ("exceptions", DEBUG), ("loops", &["-O1"])] {
        let dir = crate::support::folder();
        let profile = profiled(name, flags, dir.path());
        let (paths, instructions) = totals(&profile);
        for (weigh, total) in [("paths", paths), ("instructions", instructions)] {
            let folded = read(&export(&profile, "folded", &["--weigh", weigh, "--force"]));
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

/// A profile of edges serves what is about edges, and says so where paths are asked for.
#[test]
fn edges_instead_of_paths() {
    let dir = crate::support::folder();
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
        assert_line(
            &in_dir(&said, dir),
            "error: DIR/edge/merged.p3prof: it counts edges, not paths; use show --edges \
            or export --format lcov, or profile paths",
        );
    }
}

/// What is not profiled is not exported, and named.
#[test]
fn skipped_functions_are_named() {
    let dir = crate::support::folder();
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
    let dir = crate::support::folder();
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
}

/// By symbol, or a part of it: where a function begins and ends, and how often it was entered.
fn functions_of(tracefile: &str, part: &str) -> (Vec<u32>, u64) {
    let of = |key: &str| -> Vec<String> {
        let lines = tracefile.lines().filter_map(|l| l.strip_prefix(key));
        lines
            .filter(|l| l.contains(part))
            .map(str::to_string)
            .collect()
    };
    let [place] = &of("FN:")[..] else {
        panic!("{part}: one function")
    };
    let numbers = place.splitn(3, ',').take(2).map(|n| n.parse().unwrap());
    let entered = of("FNDA:")[0].split(',').next().unwrap().parse().unwrap();
    (numbers.collect(), entered)
}

/// What is inlined was entered as often as what is not. Functions have a line where they begin and one where they end,
/// a lambda that never ran too, which ends before the next line that did.
#[test]
fn lcov_of_inlined_functions() {
    let dir = crate::support::folder();
    for flags in [["-O0", "-g"], ["-O2", "-g"]] {
        let dir = dir.path().join(flags[0]);
        std::fs::create_dir(&dir).unwrap();
        let tracefile = read(&export(&profiled("lambdas", &flags, &dir), "lcov", &[]));
        let inlined = flags[0] == "-O2";
        let lines = line_counts(&tracefile);
        for (part, begins, ends, entered) in [
            ("twiceIi", 5, 6, 1),
            ("helper", 13, 20, 1),
            ("{lambda()#2}", 14, 14, 0),
            ("main", 23, 29, 1),
        ] {
            let part = if part == "helper" {
                ",_ZL6helper"
            } else {
                part
            };
            let (place, found) = functions_of(&tracefile, part);
            assert_eq!(found, entered, "{part}: {tracefile}");
            // Without a body of its own the first line with code stands for the one that it begins at.
            let fits = |line: u32, expected: u32| {
                line == expected || inlined && (begins..=ends).contains(&line)
            };
            assert!(
                fits(place[0], begins) && fits(place[1], ends),
                "{part}: {place:?}"
            );
            assert!(lines[&place[0]] >= entered);
        }
        let (_, sorts) = functions_of(&tracefile, "{lambda()#1}");
        assert!(
            sorts >= 2,
            "as often as three numbers are compared: {sorts}"
        );
    }
}

/// Files have one name, without folders that are left at once, and every format that names them has them where
/// `--path-map` says.
#[test]
fn files_are_named_where_they_are() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let source = "#include \"../lib/x.h\"\nint main(void) {\n  return twice(2) - 4;\n}\n";
    let header = "static inline int twice(int n) {\n  return n > 7 ? n : 2 * n;\n}\n";
    for folder in ["src", "lib", "build"] {
        std::fs::create_dir_all(dir.join(folder)).unwrap();
    }
    std::fs::write(dir.join("src/a b.c"), source).unwrap();
    std::fs::write(dir.join("lib/x.h"), header).unwrap();
    let module = dir.join("m.bc");
    let map = format!("-ffile-prefix-map={}=/usr/src/pkg", dir.display());
    let mut clang = Command::new(llvm("clang"));
    clang
        .args(["-O0", "-g", "-emit-llvm", "-c", &map])
        .current_dir(dir.join("build"));
    run(clang
        .arg(dir.join("build/../src/a b.c"))
        .arg("-o")
        .arg(&module));
    let modules = [module];
    let options = ["--scheme", "sbl"];
    let merged = run_and_profile(&modules, &options, 1, &[], dir);
    let here = dir.display().to_string();
    let map = format!("/usr/src/pkg={here}");
    for format in [
        "lcov",
        "lcov-1",
        "cobertura",
        "callgrind",
        "speedscope",
        "json",
    ] {
        let plain = read(&export(&merged, format, &[]));
        assert!(
            plain.contains("/usr/src/pkg") && !plain.contains(".."),
            "{format}: {plain}"
        );
        let mapped = read(&export(&merged, format, &["--path-map", &map]));
        assert!(!mapped.contains("/usr/src/pkg"), "{format}: {mapped}");
        let named = mapped.contains(&format!("{here}/src/a b.c")) || format == "cobertura";
        assert!(named && mapped.contains("lib/x.h"), "{format}: {mapped}");
    }
    let lcov = read(&export(&merged, "lcov", &["--path-map", &map]));
    let files = lcov.lines().filter_map(|l| l.strip_prefix("SF:"));
    assert!(
        files.clone().count() == 2 && files.clone().all(|f| Path::new(f).exists()),
        "{lcov}"
    );
}

/// Counts that `show --edges` marks are marked, and the formats differ in nothing but the ends of functions.
#[test]
fn lcov_of_setjmp() {
    let dir = crate::support::folder();
    let profile = profiled("longjmp", &["-O0", "-g"], dir.path());
    let tracefile = read(&export(&profile, "lcov", &[]));
    // The first comment says who wrote the file.
    let comments = tracefile.lines().filter(|l| l.starts_with('#'));
    let marks: Vec<&str> = comments.skip(1).collect();
    let shown = text(run(Command::new(PROF)
        .args(["show", "--edges"])
        .arg(&profile)));
    let uncertain = shown
        .lines()
        .filter(|l| l.contains("counts are not certain"));
    let names: Vec<&str> = uncertain.map(|l| l.split("  ").next().unwrap()).collect();
    assert!(!names.is_empty());
    let marked: Vec<&str> = marks
        .iter()
        .map(|l| l[2..].split(':').next().unwrap())
        .collect();
    assert_eq!(marked, names);
    let without = |l: &str| match l
        .strip_prefix("FN:")
        .map(|l| l.split(',').collect::<Vec<_>>())
    {
        Some(parts) => format!("FN:{},{}", parts[0], parts[2]),
        None => l.to_string(),
    };
    let first: Vec<String> = tracefile.lines().map(without).collect();
    assert_eq!(
        read(&export(&profile, "lcov-1", &[]))
            .lines()
            .collect::<Vec<_>>(),
        first
    );
}

/// What `coverage-04.dtd` asks of each element: what is in it, in order, and its attributes. `*`: any number.
const COBERTURA: [(&str, &[&str], &str); 15] = [
    (
        "coverage",
        &["sources", "packages"],
        "line-rate branch-rate lines-covered lines-valid branches-covered branches-valid complexity version timestamp",
    ),
    ("sources", &["source*"], ""),
    ("source", &[], ""),
    ("packages", &["package*"], ""),
    (
        "package",
        &["classes"],
        "name line-rate branch-rate complexity",
    ),
    ("classes", &["class*"], ""),
    (
        "class",
        &["methods", "lines"],
        "name filename line-rate branch-rate complexity",
    ),
    ("methods", &["method*"], ""),
    (
        "method",
        &["lines"],
        "name signature line-rate branch-rate complexity",
    ),
    ("lines", &["line*"], ""),
    ("line", &["conditions*"], "number hits"),
    ("conditions", &["condition*"], ""),
    ("condition", &[], "number type coverage"),
    // Those of a line are not required.
    ("line?", &[], "branch condition-coverage"),
    ("", &["coverage"], ""),
];

/// An element of XML.
struct Element {
    name: String,
    of: BTreeMap<String, String>,
    inside: Vec<Element>,
}

fn xml(text: &str) -> Element {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(text);
    let mut open = vec![Element {
        name: String::new(),
        of: BTreeMap::new(),
        inside: Vec::new(),
    }];
    loop {
        let event = reader.read_event().unwrap();
        let (start, empty) = match &event {
            Event::Start(e) => (e, false),
            Event::Empty(e) => (e, true),
            Event::End(_) => {
                let done = open.pop().unwrap();
                open.last_mut().unwrap().inside.push(done);
                continue;
            }
            Event::Eof => break,
            _ => continue,
        };
        let text = |s: &[u8]| String::from_utf8(s.to_vec()).unwrap();
        let of = start.attributes().map(|a| a.unwrap());
        let of = of.map(|a| (text(a.key.as_ref()), text(&a.value))).collect();
        let element = Element {
            name: text(start.name().as_ref()),
            of,
            inside: Vec::new(),
        };
        if empty {
            open.last_mut().unwrap().inside.push(element);
        } else {
            open.push(element);
        }
    }
    assert_eq!(open.len(), 1);
    open.pop().unwrap()
}

fn valid(element: &Element) {
    let rule = |name: &str| {
        COBERTURA
            .iter()
            .find(|r| r.0 == name)
            .unwrap_or_else(|| panic!("{name}"))
    };
    let (_, inside, required) = rule(&element.name);
    let given: Vec<&str> = element.of.keys().map(String::as_str).collect();
    let required: Vec<&str> = required.split_whitespace().collect();
    let optional: Vec<&str> = match element.name.as_str() {
        "line" => rule("line?").2.split_whitespace().collect(),
        _ => Vec::new(),
    };
    assert!(
        required.iter().all(|a| given.contains(a)),
        "{}: {given:?}",
        element.name
    );
    assert!(
        given
            .iter()
            .all(|a| required.contains(a) || optional.contains(a)),
        "{given:?}"
    );
    let names: Vec<&str> = element.inside.iter().map(|e| e.name.as_str()).collect();
    match inside {
        [] => assert_eq!(names, [""; 0]),
        [many] if many.ends_with('*') => {
            assert!(names.iter().all(|n| *n == many.trim_end_matches('*')));
        }
        exactly => assert_eq!(names, *exactly),
    }
    element.inside.iter().for_each(valid);
}

fn all<'a>(element: &'a Element, name: &str, found: &mut Vec<&'a Element>) {
    if element.name == name {
        found.push(element);
    }
    element.inside.iter().for_each(|e| all(e, name, found));
}

/// The elements are those of the DTD, and the numbers those of lcov, line by line.
#[test]
fn cobertura() {
    let dir = crate::support::folder();
    let profile = profiled("switches", DEBUG, dir.path());
    let text = read(&export(&profile, "cobertura", &[]));
    assert!(
        text.starts_with(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE coverage SYSTEM \""
        )
    );
    assert!(!text.contains("</condition>"), "empty");
    assert!(text.contains("<condition "), "{text}");
    let document = xml(&text);
    valid(&document);
    let lcov = read(&export(&profile, "lcov", &[]));
    let values =
        |key: &str| -> Vec<&str> { lcov.lines().filter_map(|l| l.strip_prefix(key)).collect() };
    let sum = |key: &str| -> u64 { values(key).iter().map(|v| v.parse::<u64>().unwrap()).sum() };
    let root = &document.inside[0].of;
    for (ours, theirs) in [
        ("lines-valid", "LF:"),
        ("lines-covered", "LH:"),
        ("branches-valid", "BRF:"),
        ("branches-covered", "BRH:"),
    ] {
        assert_eq!(root[ours], sum(theirs).to_string(), "{ours}");
    }
    let share = |ran: &str, all: &str| format!("{:.4}", sum(ran) as f64 / sum(all) as f64);
    assert_eq!(
        [&root["line-rate"], &root["branch-rate"]],
        [&share("LH:", "LF:"), &share("BRH:", "BRF:")]
    );
    let (mut classes, mut lines) = (Vec::new(), Vec::new());
    all(&document, "class", &mut classes);
    let [class] = classes[..] else {
        panic!("one file")
    };
    assert_eq!(class.of["filename"], "switches.c");
    all(&class.inside[1], "line", &mut lines);
    let told: Vec<String> = lines
        .iter()
        .map(|l| format!("{},{}", l.of["number"], l.of["hits"]))
        .collect();
    assert_eq!(told, values("DA:"));
    // Every line with a branch says how many of its ways were taken.
    let mut ways: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for branch in values("BRDA:") {
        let (line, rest) = branch.split_once(',').unwrap();
        let taken = rest.rsplit(',').next().unwrap();
        let of = ways.entry(line).or_default();
        of.0 += u64::from(!["-", "0"].contains(&taken));
        of.1 += 1;
    }
    for line in lines {
        let expected = ways.get(line.of["number"].as_str());
        let expected = expected.map(|(ran, all)| format!("{}% ({ran}/{all})", ran * 100 / all));
        assert_eq!(line.of.get("condition-coverage"), expected.as_ref());
        assert_eq!(line.of["branch"], expected.is_some().to_string());
    }
    // No line without debug information.
    let bare = profiled("loops", &["-O1"], &dir.path().join("bare"));
    let mut refused = Command::new(PROF);
    let refused = refused
        .arg("export")
        .arg(&bare)
        .args(["--format", "cobertura"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
}

/// Headers of the system are in it only if they are asked for, and the option is for formats that know it.
#[test]
fn cobertura_is_about_own_files() {
    let dir = crate::support::folder();
    let profile = profiled("exceptions", &["-O0", "-g"], dir.path());
    let own = read(&export(&profile, "cobertura", &[]));
    let all = read(&export(&profile, "cobertura", &["--all"]));
    assert!(own.contains("filename=\"exceptions.cpp\"") && !own.contains("include/c++"));
    assert!(all.contains("exceptions.cpp\""), "{all}");
    assert!(all.contains("include/c++"), "{all}");
    let mut refused = Command::new(PROF);
    refused.arg("export").arg(&profile);
    let refused = refused
        .args(["--format", "callgrind", "--all"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    for (options, status) in [
        (&["--function", "^std::"][..], 2),
        (&["--function", "^std::", "--all"], 0),
    ] {
        let mut export = Command::new(PROF);
        export
            .arg("export")
            .arg(&profile)
            .args(["--format", "cobertura"]);
        let export = export.args(options).output().unwrap();
        assert_eq!(export.status.code(), Some(status), "{options:?}");
    }
}

/// Modules of one program, linked together, annotated together.
#[test]
fn annotate_folders() {
    let dir = crate::support::folder();
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

/// Whether a text holds nothing but characters and line ends.
pub(crate) fn text_only(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() && c != '\n')
}

/// The profile of [`HOSTILE`].
pub(crate) fn hostile(dir: &Path) -> PathBuf {
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
    let dir = crate::support::folder();
    let profile = hostile(dir.path());
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

    let (paths, _) = totals(&profile);
    for format in ["callgrind", "dot"] {
        assert!(text_only(&read(&export(&profile, format, &[]))), "{format}");
    }
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
                .all(|l| l.matches(',').count() == 2)
    );
    let folded = read(&export(&profile, "folded", &[]));
    let weights = folded.lines().map(|l| l.rsplit_once(' ').unwrap().1);
    assert!(text_only(&folded));
    assert_eq!(weights.map(digits).sum::<u64>(), paths);
    let first = |l: &str| l.split(';').next().unwrap().to_string();
    let functions: std::collections::BTreeSet<String> = folded.lines().map(first).collect();
    assert_eq!(functions.len(), 8, "{functions:?}");

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

/// Markers are those of the source where it is, whatever it is to be called in the result; a source that is not there
/// is reported, and so are a marker that nothing ends, and one in a string.
#[test]
fn markers_are_read_before_files_are_renamed() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let source = "const char *s = \"LCOV_EXCL_LINE\";\nint f(int n) { // LCOV_EXCL_START\n  return n;\n}\n\
                  // LCOV_EXCL_STOP\nint main(void) {\n  return f(0);\n}\n// LCOV_EXCL_START\n";
    let modules = [crate::support::module("a.c", source, &["-O0", "-g"], dir)];
    let profile = run_and_profile(&modules, &["--scheme", "sbl"], 1, &["-O0"], dir);
    let export = |format: &str, options: &[&str]| {
        let mut export = Command::new(PROF);
        export
            .arg("export")
            .arg(&profile)
            .args(["--format", format]);
        let output = run(export.args(options));
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        let text = text(output);
        let lines = text
            .lines()
            .filter(|l| l.starts_with("DA:") || l.contains("<line "));
        (lines.count(), text, said)
    };
    let open = "a.c:9: nothing ends LCOV_EXCL_START, so all lines behind it are left out";
    let map = format!("{}=/nowhere/src", dir.display());
    for format in ["lcov", "cobertura"] {
        let here = export(format, &[]);
        let there = export(format, &["--path-map", &map]);
        // Two lines of `main`.
        let is_right = here.0 == there.0 && (format != "lcov" || here.0 == 2);
        assert!(is_right, "{} {}", here.1, there.1);
        assert!(there.1.contains("/nowhere/src"), "{}", there.1);
        for said in [here.2, there.2] {
            assert!(said.contains(open) && !said.contains("not found"), "{said}");
            assert_line(
                &in_dir(&said, dir),
                "warning: DIR/a.c:1: LCOV_EXCL_LINE in a string is a marker, like for \
                lcov",
            );
        }
    }
    std::fs::rename(dir.join("a.c"), dir.join("b.c")).unwrap();
    let (lines, _, said) = export("lcov", &["--path-map", &map]);
    assert_eq!(lines, 4);
    let missing = "a.c: source not found, so its markers (LCOV_EXCL_…) are not known";
    assert!(said.contains(missing), "{said}");
}
