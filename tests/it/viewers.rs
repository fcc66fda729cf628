//! `p3-prof export`: every format is opened by the tool that it is for, which reads what the profile holds.
//! `make test-viewers` installs these tools and runs all of this; `make test` needs no browser.

use crate::export::{DEBUG, digits, export, hostile, profiled, read, text, text_only, totals};
use crate::support::{PROF, paths, project, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What one of these tools prints.
fn tool(name: &str, arguments: &[&str], file: &Path) -> String {
    text(run(Command::new(name).args(arguments).arg(file)))
}

/// The releases of genhtml: that of Debian 12, and that of Debian 13 as `tools/lcov2.sh` has put it. Each with its
/// format.
fn genhtmls() -> [(PathBuf, &'static str); 2] {
    let second = project("target/lcov2/genhtml");
    assert!(second.exists(), "{}: make setup-viewers", second.display());
    [("genhtml".into(), "lcov-1"), (second, "lcov")]
}

/// What a genhtml prints; it complains of nothing, unless there are `options` to ignore something.
fn pages_by(genhtml: &Path, options: &[&str], tracefile: &Path, html: &Path) -> String {
    let mut command = Command::new(genhtml);
    command.args(options);
    command
        .args(["--branch-coverage", "-o"])
        .arg(html)
        .arg(tracefile);
    let output = run(&mut command);
    assert!(html.join("index.html").exists());
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    let complains = |l: &&str| l.contains("ERROR") || l.contains("WARNING");
    assert!(
        !options.is_empty() || said.lines().find(complains).is_none(),
        "{said}"
    );
    text(output)
}

#[test]
#[ignore = "make test-viewers"]
fn genhtml_reads_lcov() {
    for (name, flags) in [
        ("demo", DEBUG),
        ("exceptions", DEBUG),
        ("modules", DEBUG),
        ("longjmp", &["-O0", "-g"]),
        ("exits", &["-O0", "-g"]),
        ("lambdas", &["-O0", "-g"]),
        ("lambdas", &["-O2", "-g"]),
        ("conditions", &["-O2", "-g"]),
    ] {
        let dir = crate::support::folder();
        let profile = profiled(name, flags, dir.path());
        for (genhtml, format) in genhtmls() {
            let tracefile = export(&profile, format, &[]);
            let said = pages_by(
                &genhtml,
                &[],
                &tracefile,
                &dir.path().join(format!("html-{format}")),
            );
            let records = read(&tracefile);
            let sum = |what: &str| -> u64 {
                let lines = records.lines().filter_map(|l| l.strip_prefix(what));
                lines.map(digits).sum()
            };
            // genhtml 2 takes functions of one line for one.
            let functions = records.lines().filter(|l| l.starts_with("FN:"));
            let first = |l: &str| l.split(',').next().unwrap().to_string();
            let starts: std::collections::BTreeSet<String> = functions.map(first).collect();
            let of = |ran, all| format!("({ran} of {all} ");
            assert!(said.contains(&of(sum("LH:"), sum("LF:"))), "{name}: {said}");
            let functions = if starts.len() as u64 == sum("FNF:") {
                of(sum("FNH:"), sum("FNF:"))
            } else {
                "functions".into()
            };
            assert!(said.contains(&functions), "{name}: {said}");
            if sum("BRF:") > 0 {
                assert!(
                    said.contains(&of(sum("BRH:"), sum("BRF:"))),
                    "{name}: {said}"
                );
            }
        }
    }
}

#[test]
#[ignore = "make test-viewers"]
fn callgrind_annotate_reads_callgrind() {
    for (name, main) in [("demo", true), ("modules", false), ("exceptions", false)] {
        let dir = crate::support::folder();
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
#[ignore = "make test-viewers"]
fn callgrind_of_recursion() {
    let dir = crate::support::folder();
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
#[ignore = "make test-viewers"]
fn pprof_reads_pprof() {
    for name in ["demo", "modules", "exceptions"] {
        let dir = crate::support::folder();
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
    let dir = crate::support::folder();
    let profile = profiled("demo", DEBUG, dir.path());
    let file = export(&profile, "pprof", &["--function", "^classify$"]);
    let tags = tool("go", &["tool", "pprof", "-tags"], &file);
    assert!(
        tags.contains("path: Total") && tags.contains("classify #0"),
        "{tags}"
    );
    // What was inlined is a function of its own.
    let dir = crate::support::folder();
    let profile = profiled("lambdas", &["-O2", "-g"], dir.path());
    let top = tool(
        "go",
        &["tool", "pprof", "-top"],
        &export(&profile, "pprof", &[]),
    );
    assert!(top.contains("(inline)") && top.contains("helper"), "{top}");
}

/// By speedscope's own schema of its files, and in a browser.
#[test]
#[ignore = "make test-viewers"]
fn speedscope_opens_speedscope() {
    let package = crate::support::folder();
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
        let dir = crate::support::folder();
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

    let dir = crate::support::folder();
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
#[ignore = "make test-viewers"]
fn graphviz_draws_dot() {
    for (name, flags) in [
        ("demo", DEBUG),
        ("exceptions", DEBUG),
        ("switches", &["-O1"]),
    ] {
        let dir = crate::support::folder();
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

/// Instructions by function can be told without debug information.
#[test]
#[ignore = "make test-viewers"]
fn callgrind_without_lines() {
    let dir = crate::support::folder();
    let profile = profiled("loops", &["-O1"], dir.path());
    let file = export(&profile, "callgrind", &[]);
    let shown = tool("callgrind_annotate", &[], &file);
    assert!(shown.contains("???:main"), "{shown}");
}

/// Names that look like the formats' own words are names to each of these tools.
#[test]
#[ignore = "make test-viewers"]
fn hostile_names_are_only_names() {
    let dir = crate::support::folder();
    let profile = hostile(dir.path());
    for (genhtml, format) in genhtmls() {
        let html = dir.path().join(format);
        let missing = ["--ignore-errors", "source", "--synthesize-missing"];
        // genhtml 1 makes pages of sources that are not there.
        let known = if format == "lcov" { 3 } else { 2 };
        let tracefile = export(&profile, format, &[]);
        let said = pages_by(&genhtml, &missing[..known], &tracefile, &html);
        assert!(said.contains("(8 of 8 functions)"), "{said}");
    }

    let file = export(&profile, "callgrind", &[]);
    let shown = tool("callgrind_annotate", &["--threshold=100"], &file);
    let total = shown.lines().find(|l| l.ends_with("PROGRAM TOTALS"));
    let total = digits(total.unwrap().split(' ').next().unwrap());
    assert_eq!(total, totals(&profile).1, "{shown}");
    for name in [":(1) x", ":a,b;c d 12", ":quo\"te\\", ":main"] {
        assert!(shown.lines().any(|l| l.ends_with(name)), "{name}: {shown}");
    }

    let svg = tool("dot", &["-Tsvg"], &export(&profile, "dot", &[]));
    assert_eq!(svg.matches("</svg>").count(), 8);
    assert!(svg.contains("quo&quot;te\\: entered"), "{svg}");

    let file = export(&profile, "pprof", &[]);
    let shown = tool("go", &["tool", "pprof", "-top", "-nodefraction=0"], &file);
    assert!(text_only(&shown) && shown.contains("(1) x"), "{shown}");
}
