//! Time beside instructions: samples of perf with the profile of the same program.

use crate::support::text::{assert_line, in_dir};
use crate::support::{PROF, original, parsed, profile, project, run};
use p3_rewrite::base::table::display_width;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What `perf script -F +srcline` printed of samples of the same program, without its folder.
const SAMPLES: &str = "testdata/samples/demo.txt";

fn profiled(dir: &Path) -> PathBuf {
    let flags = ["-O1", "-g", "-fno-inline"];
    let (modules, expected) = original("demo", &flags, &["-O1"], dir);
    profile(
        &modules,
        &["--scheme", "p3"],
        1,
        &["-O1"],
        &expected,
        &dir.join("out"),
    )
}

fn show(merged: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(PROF);
    command.arg("show").arg(merged).args(arguments);
    let output = run(&mut command);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

/// Samples whose frames hold `text`.
fn samples_with(text: &str) -> u64 {
    let samples = std::fs::read_to_string(project(SAMPLES)).unwrap();
    samples.lines().filter(|l| l.contains(text)).count() as u64
}

fn sum<'a>(rows: impl IntoIterator<Item = &'a Value>, key: &str) -> f64 {
    let rows = rows.into_iter();
    rows.filter_map(|row| row[key].as_f64()).sum()
}

#[test]
fn time_of_samples_stands_beside_instructions() {
    let dir = crate::support::folder();
    let merged = profiled(dir.path());
    let samples = project(SAMPLES);
    let perf = ["--perf", samples.to_str().unwrap()];
    let shown = show(&merged, &[&perf[..], &["--format", "json"]].concat());
    let shown = parsed(shown.as_bytes());
    let functions = shown["functions"].as_array().unwrap();
    let mut seen = 0;
    for f in functions {
        let name = f["name"].as_str().unwrap();
        let expected = samples_with(&format!(" {name}+0x"));
        assert_eq!(f["samples"], expected, "{name}");
        seen += u64::from(expected > 0);
        let lines = f["sampled_lines"].as_array().map_or(0, |lines| {
            lines.iter().map(|l| l[2].as_u64().unwrap()).sum()
        });
        assert_eq!(lines, expected, "{name}");
        if expected > 0 {
            let paths = sum(f["paths"].as_array().unwrap(), "expected_time_share");
            let share = f["time_share"].as_f64().unwrap();
            assert!((paths - share).abs() < 1e-4, "{name}: {paths} of {share}");
        }
    }
    assert!(seen >= 2, "{shown}");
    let outside = shown["outside"].as_array().unwrap();
    let libc = outside.iter().find(|o| o["name"] == "libc.so.6").unwrap();
    assert_eq!(libc["samples"], samples_with("/libc.so.6)"));
    assert!(outside.iter().any(|o| o["name"] == "[kernel.kallsyms]"));
    let all = sum(functions, "samples") + sum(outside, "samples");
    assert_eq!(all, samples_with("cpu-clock:") as f64);
    let shares = sum(functions, "time_share") + sum(outside, "time_share");
    assert!((shares - 1.0).abs() < 1e-4, "{shares}");
}

#[test]
fn text_with_time_keeps_to_its_width() {
    let dir = crate::support::folder();
    let merged = profiled(dir.path());
    let samples = project(SAMPLES);
    let samples = samples.to_str().unwrap();
    for width in [60, 80, 100] {
        let columns = width.to_string();
        let shown = show(&merged, &["--perf", samples, "--width", &columns]);
        // The first line, the verdict, is the same without samples; headlines keep a number's and a place's whole
        // width.
        let widest = |text: &str| text.lines().skip(1).map(display_width).max().unwrap();
        let plain = widest(&show(&merged, &["--width", &columns]));
        let widest = widest(&shown);
        assert!(widest <= width.max(plain), "{widest} of {width}: {shown}");
        let sort = shown
            .lines()
            .find(|l| l.contains(" sort  demo.c:"))
            .unwrap();
        let time = 100.0 * samples_with(" sort+0x") as f64 / samples_with("cpu-clock:") as f64;
        assert!(sort.contains(&format!("{time:.2}%")), "{time}: {sort}");
        for row in [
            "outside: libc.so.6",
            "outside: [kernel.kallsyms]",
            " samples of cpu-clock",
        ] {
            assert!(shown.contains(row), "{row}: {shown}");
        }
        assert!(shown.contains("  ~"), "{shown}");
        assert!(shown.contains("% of time"), "{shown}");
    }
    let plain = show(&merged, &[]);
    assert!(!plain.contains("time") && !plain.contains('~'), "{plain}");
    let from_file = show(&merged, &["--perf", samples]);
    let mut command = Command::new(PROF);
    command.arg("show").arg(&merged).args(["--perf", "-"]);
    command.stdin(std::fs::File::open(samples).unwrap());
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), from_file);
}

/// An export of our own has instructions as its samples: both shares are the same.
#[test]
fn exported_instructions_are_time() {
    let dir = crate::support::folder();
    let merged = profiled(dir.path());
    let file = dir.path().join("demo.pb.gz");
    let mut export = Command::new(PROF);
    export.args(["export", "--format", "pprof"]).arg(&merged);
    run(export.arg("-o").arg(&file));
    let shown = show(
        &merged,
        &["--perf", file.to_str().unwrap(), "--format", "json"],
    );
    let shown = parsed(shown.as_bytes());
    let total = shown["program"]["instructions"].as_f64().unwrap();
    for f in shown["functions"].as_array().unwrap() {
        let share = f["executed_instructions"].as_f64().unwrap() / total;
        let time = f["time_share"].as_f64().unwrap();
        assert!((share - time).abs() < 1e-5, "{share} {time}: {f}");
    }
    assert_eq!(shown["outside"], Value::Array(vec![]));
}

/// Samples of another program are shown, and that they are of one.
#[test]
fn samples_of_another_program_are_noticed() {
    let dir = crate::support::folder();
    let merged = profiled(dir.path());
    let file = dir.path().join("other.txt");
    let sample = "other 1 1.5: 10 cycles:  55d7 nothing+0x1 (/bin/other)\n";
    std::fs::write(&file, sample).unwrap();
    let mut command = Command::new(PROF);
    let output = run(command.arg("show").arg(&merged).arg("--perf").arg(&file));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_line(
        &in_dir(&said, dir.path()),
        "warning: DIR/other.txt: no sample is in a function of the profile; \
        sample the program that was profiled",
    );
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("100.00%")
    );
}

/// What has no samples: one line that names the file and what to give instead.
#[test]
fn files_without_samples_are_refused() {
    let dir = crate::support::folder();
    let merged = profiled(dir.path());
    let cases: [(&[u8], &str); 4] = [
        (b"", "what perf script prints"),
        (b"hello\nworld\n", "what perf script prints"),
        (b"PERFILE2\0\0\0\0", "install perf"),
        (b"\x1f\x8bhello", "CPU profile of pprof"),
    ];
    for (content, remedy) in cases {
        let file = dir.path().join("samples");
        std::fs::write(&file, content).unwrap();
        let mut command = Command::new(PROF);
        command.env("PATH", "").stdin(Stdio::null());
        command.arg("show").arg(&merged).arg("--perf").arg(&file);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(
            said.contains(file.to_str().unwrap()) && said.contains(remedy),
            "{said}"
        );
        assert!(output.stdout.is_empty());
    }
}
