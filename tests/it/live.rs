//! What running programs count, looked at while they run, and on a terminal.

use crate::support::{PROF, copy_modules, link, merge, module, parsed, rewrite, run, runtime};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// Runs for ever, and says when it has begun.
const LOOPING: &str = r#"
    #include <stdio.h>
    __attribute__((noinline)) static int step(int i) {
        int sum = 0;
        for (int j = 0; j < i % 7; j++) sum += j % 3 ? j : i;
        return sum;
    }
    int main(void) {
        volatile int sink = 0;
        for (int i = 0;; i++) {
            sink += step(i);
            if (i == 100000) { puts("begun"); fflush(stdout); }
        }
    }"#;

pub(crate) struct Program {
    _dir: tempfile::TempDir,
    out: PathBuf,
    copies: u32,
}

impl Program {
    pub(crate) fn new(options: &[&str], copies: u32) -> Program {
        let dir = crate::support::folder();
        let path = dir.path();
        let (input, out) = (path.join("input"), path.join("out"));
        let modules = [module(
            "w.c",
            LOOPING,
            &["-O1", "-g", "-fno-inline"],
            &input,
        )];
        rewrite(&modules, options, &out);
        for copy in 0..copies {
            let exe = out.join(format!("copy-{copy}.exe"));
            link(
                &copy_modules(&modules, &out, copy),
                runtime(),
                &["-O1"],
                &exe,
            );
        }
        Program {
            _dir: dir,
            out,
            copies,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.out
    }

    /// Starts all copies, and stops them where they are: what they have counted stays as it is.
    pub(crate) fn stopped(&self) -> Vec<Running> {
        let start = |copy| Running::new(&self.path().join(format!("copy-{copy}.exe")), self.path());
        let running: Vec<Running> = (0..self.copies).map(start).collect();
        for r in &running {
            r.signal("STOP");
        }
        running
    }

    pub(crate) fn raw(&self, copy: u32, running: &Running) -> PathBuf {
        self.path()
            .join(format!("raw/{copy}-{}.p3raw", running.0.id()))
    }
}

/// A process that ends with its test.
pub(crate) struct Running(Child);

impl Running {
    fn new(exe: &Path, dir: &Path) -> Running {
        let child = Command::new(exe)
            .env("P3_PROFILE_FILE", dir.join("raw/%k-%p.p3raw"))
            .stdout(Stdio::piped())
            .spawn();
        let mut running = Running(child.unwrap());
        let mut line = String::new();
        let mut out = BufReader::new(running.0.stdout.as_mut().unwrap());
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "begun\n");
        running
    }

    fn signal(&self, name: &str) {
        let id = self.0.id().to_string();
        run(Command::new("kill").args(["-s", name, &id]));
        if name == "STOP" {
            let status = format!("/proc/{id}/stat");
            let stopped = || std::fs::read_to_string(&status).unwrap().contains(") T ");
            while !stopped() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn top(arguments: &[&str]) -> Output {
    let mut top = Command::new(PROF);
    top.args(["top", "--once"]).args(arguments);
    top.stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn shown(arguments: &[&str]) -> String {
    let output = top(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    assert_eq!(stderr, "");
    String::from_utf8(output.stdout).unwrap()
}

/// The one line that says what is wrong.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = top(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("error: ") && stderr.lines().count() == 1,
        "{stderr}"
    );
    stderr
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A number with its digits in groups.
fn number(text: &str) -> u64 {
    text.replace(',', "").parse().unwrap()
}

/// Counts of paths, by function and id, as a table of `top` has them.
fn counts(table: &str) -> Vec<(u64, String)> {
    let lines = table.lines().filter(|l| l.contains(" #"));
    let count = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|w| w.starts_with('#')).unwrap();
        // Where a path begins at a loop, that stands between its function and its id.
        let behind = words.iter().position(|w| *w == "·").unwrap_or(at);
        (
            number(words[0]),
            format!("{} {}", words[behind - 1], words[at]),
        )
    };
    let mut counts: Vec<_> = lines.map(count).collect();
    counts.sort();
    counts
}

/// The same, as `show` has them.
fn merged(profile: &Path) -> Vec<(u64, String)> {
    let output = run(Command::new(PROF)
        .args(["show", "--format", "json"])
        .arg(profile));
    let shown = parsed(&output.stdout);
    let mut counts = Vec::new();
    for f in shown["functions"].as_array().unwrap() {
        for p in f["paths"].as_array().unwrap() {
            let id = p["id"].as_str().unwrap();
            let name = format!("{} #{id}", f["name"].as_str().unwrap());
            counts.push((p["count"].as_u64().unwrap(), name));
        }
    }
    counts.sort();
    counts
}

/// A server that counts the paths that were hottest in an earlier profile.
#[test]
fn top_shows_the_selected_paths_of_a_program_that_runs() {
    let program = Program::new(&["--scheme", "sbl"], 1);
    let whole = {
        let _running = program.stopped();
        merge(program.path())
    };
    let spec = format!("top=2:{}", whole.display());
    let hot = Program::new(&["-k", "1", "--paths", &spec], 1);
    let running = hot.stopped();
    let live = counts(&shown(&[text(&hot.raw(0, &running[0])), "--top", "1000"]));
    let counted = merge(hot.path());
    assert_eq!(live, merged(&counted));
    assert!(live.len() < merged(&whole).len(), "{live:?}");
    let listed = crate::paths::json(&["paths", &spec], &[&whole]);
    let functions = listed["functions"].as_array().unwrap().iter();
    let hottest = functions.flat_map(|f| {
        let paths = f["paths"].as_array().unwrap().iter();
        paths.map(|p| {
            format!(
                "{} #{}",
                f["name"].as_str().unwrap(),
                p["id"].as_str().unwrap()
            )
        })
    });
    let hottest: Vec<String> = hottest.collect();
    assert_eq!(hottest.len(), 2);
    for path in &hottest {
        assert!(live.iter().any(|(_, name)| name == path), "{path} {live:?}");
    }
}

/// By file, by process and by folder, what is shown is what a merge says.
#[test]
fn counts_of_a_program_that_runs() {
    let program = Program::new(&["--scheme", "sbl"], 1);
    let running = program.stopped();
    let raw = program.raw(0, &running[0]);
    let id = running[0].0.id().to_string();
    let by_file = shown(&[text(&raw), "--top", "1000"]);
    assert!(
        by_file.starts_with(&format!(
            "copy-0.exe, process {id} (sbl, 1 copy, running)\n"
        )),
        "{by_file}"
    );
    assert_eq!(by_file, shown(&[&id, "--top", "1000"]));
    assert_eq!(by_file, shown(&[text(program.path()), "--top", "1000"]));
    let counts = counts(&by_file);
    assert_eq!(counts, merged(&merge(program.path())));
    let all: u64 = counts.iter().map(|c| c.0).sum();
    let second = by_file.lines().nth(1).unwrap();
    assert_eq!(number(second.split(' ').next().unwrap()), all);
    // A process that is stopped counts nothing.
    let twice = shown(&[&id, "--interval", "0.05", "--top", "1"]);
    assert!(twice.contains(", 0 paths a second, "), "{twice}");
    drop(running);
    assert!(shown(&[text(&raw)]).contains("(sbl, 1 copy, ended)"));
    assert_eq!(
        refused(&[&id]),
        format!(
            "error: {id}: no process and no file has this name; name a running program, a raw profile or an output \
             folder\n"
        )
    );
}

/// Copies are added up; one alone says that it has its share only.
#[test]
fn counts_of_copies() {
    let program = Program::new(&["--scheme", "p3", "-k", "2"], 2);
    let running = program.stopped();
    let all = shown(&[text(program.path()), "--top", "1000"]);
    assert!(
        all.contains("(p3, all 2 copies, 2 raw profiles, 2 running)"),
        "{all}"
    );
    let raws: Vec<PathBuf> = (0..)
        .zip(&running)
        .map(|(c, r)| program.raw(c, r))
        .collect();
    assert_eq!(
        all,
        shown(&[
            text(&raws[0]),
            text(&raws[1]),
            text(&raws[0]),
            "--top",
            "1000"
        ])
    );
    let one = shown(&[text(&raws[1]), "--top", "1000", "--width", "400"]);
    assert!(one.contains("those of copy 0 are not here"), "{one}");
    let (all, one) = (counts(&all), counts(&one));
    assert!(one.len() < all.len() && one.iter().all(|c| all.contains(c)));
}

/// Of samples the same estimates are shown, with their errors.
#[test]
fn subpaths_of_a_program_that_runs() {
    let program = Program::new(
        &["--scheme", "subpath", "--period", "1000", "--seed", "1"],
        1,
    );
    let running = program.stopped();
    let shown = shown(&[text(&program.raw(0, &running[0])), "--top", "10000"]);
    let profile = merge(program.path());
    let output = run(Command::new(PROF)
        .args(["show", "--format", "json"])
        .arg(profile));
    let report = parsed(&output.stdout);
    let subpaths = report["subpaths"].as_array().unwrap();
    let rounded = |v: &Value| v.as_f64().unwrap().round() as u64;
    let expected: Vec<u64> = subpaths.iter().map(|s| rounded(&s["count"])).collect();
    let rows = shown
        .lines()
        .filter(|l| l.contains("%  ") && !l.contains("95 %"));
    let counts: Vec<u64> = rows
        .map(|l| number(l.split_whitespace().next().unwrap()))
        .collect();
    assert_eq!(counts, expected);
    assert!(shown.contains("j < i % 7"), "by the texts of the source");
    assert!(shown.contains("counts are estimates: ± half of the 95 % interval"));
}

/// What cannot be shown is said in one line.
#[test]
fn profiles_without_paths_are_refused() {
    let said = |path: &Path, problem: &str| format!("error: {}: {problem}\n", path.display());
    let edges = Program::new(&["--scheme", "edge"], 1);
    let running = edges.stopped();
    let raw = edges.raw(0, &running[0]);
    assert_eq!(
        refused(&[text(&raw)]),
        said(
            &edges.path().join("manifest.json"),
            "its copies count edges, not paths; use p3-prof merge, then p3-prof show --edges"
        )
    );
    let paths = Program::new(&["--scheme", "sbl"], 1);
    assert_eq!(
        refused(&[text(paths.path())]),
        said(
            paths.path(),
            "there is no *.p3raw file in it; run the program first, or name its process"
        )
    );
    let other = paths.path().join("manifest.json");
    assert!(refused(&[text(&raw), "-m", text(&other)]).contains("of another program"));
    assert!(refused(&[text(&other)]).contains("not a raw profile"));
    let whole = std::fs::read(&raw).unwrap();
    let lonely = crate::support::folder();
    let copy = lonely.path().join("a.p3raw");
    std::fs::write(&copy, &whole).unwrap();
    assert_eq!(
        refused(&[text(&copy)]),
        said(
            &copy,
            "the manifest.json of its program is not in a folder above it; name it, or a folder that holds it, with -m"
        )
    );
    // Cut anywhere.
    for n in [0, 1, 8, 100, 4095, 4096, 5000, whole.len() - 1] {
        std::fs::write(&copy, &whole[..n]).unwrap();
        refused(&[text(&copy), "-m", text(&edges.path().join("manifest.json"))]);
    }
    let nobody = std::process::id().to_string();
    assert_eq!(
        refused(&[&nobody]),
        format!(
            "error: process {nobody}: it maps no raw profile; name a program that p3-rewrite made (a program that \
             printed that it counts in memory has none)\n"
        )
    );
    assert!(refused(&[text(&raw), "--interval", "0"]).contains("give seconds"));
    let no_screen = Command::new(PROF).arg("top").arg(&raw).output().unwrap();
    assert_eq!(no_screen.status.code(), Some(2));
}

/// Runs a command in a pseudo-terminal of this size, gives it keys once `wait` is on the screen; what it wrote.
fn in_terminal(command: &str, columns: u32, lines: u32, wait: &str, keys: &str) -> String {
    let command =
        format!("stty cols {columns} rows {lines}; stty -a; {command}; echo status $?; stty -a");
    let mut script = Command::new("timeout")
        .args(["60", "script", "-qefc", &command, "/dev/null"])
        .env("TERM", "xterm-256color")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = script.stdout.take().unwrap();
    let mut seen = Vec::new();
    let mut part = [0; 4096];
    let mut keys = Some(keys);
    while let Ok(n @ 1..) = out.read(&mut part) {
        seen.extend_from_slice(&part[..n]);
        let there = String::from_utf8_lossy(&seen).contains(wait);
        if let Some(keys) = keys.take_if(|_| there) {
            let mut input = script.stdin.as_ref().unwrap();
            input.write_all(keys.as_bytes()).unwrap();
            input.flush().unwrap();
        }
    }
    script.wait().unwrap();
    String::from_utf8_lossy(&seen).into_owned()
}

/// The terminal's settings before and after are the same, and so is which of its screens is shown.
#[track_caller]
fn is_given_back(seen: &str) {
    let settings: Vec<&str> = seen.matches("-echo ").collect();
    let (enter, leave) = (seen.rfind("\u{1b}[?1049h"), seen.rfind("\u{1b}[?1049l"));
    assert!(enter.is_some() && enter < leave, "{seen:?}");
    assert!(settings.is_empty(), "{seen:?}");
    let speeds: Vec<usize> = seen.match_indices("speed ").map(|m| m.0).collect();
    let status = seen.find("status ").unwrap();
    let before = &seen[speeds[0]..enter.unwrap()];
    let after = &seen[*speeds.last().unwrap()..];
    assert!(speeds.last().unwrap() > &status);
    let flags = |s: &str| {
        let words = s.split([' ', '\r', '\n', ';']).filter(|w| !w.is_empty());
        words
            .take_while(|w| !w.starts_with('\u{1b}'))
            .map(String::from)
            .collect::<Vec<_>>()
    };
    assert_eq!(flags(before), flags(after));
}

#[test]
fn a_terminal_is_given_back() {
    let program = Program::new(&["--scheme", "sbl"], 1);
    let running = program.stopped();
    running[0].signal("CONT");
    let id = running[0].0.id();
    for (columns, lines) in [(80, 24), (20, 6), (300, 70)] {
        let keys = "\u{1b}[B\u{1b}[6~srpq";
        let seen = in_terminal(
            &format!("{PROF} top {id} --interval 0.1"),
            columns,
            lines,
            "by share",
            if columns > 30 { keys } else { "q" },
        );
        is_given_back(&seen);
        assert!(seen.contains("status 0"), "{seen:?}");
    }
    drop(running);
    let merged = merge(program.path());
    let command = format!("{PROF} browse {}", text(&merged));
    let seen = in_terminal(
        &command,
        80,
        24,
        "by instructions",
        "/step\r\r\r\u{1b}[B\u{1b}[Cq",
    );
    is_given_back(&seen);
    assert!(seen.contains("status 0") && seen.contains("▶"), "{seen:?}");
}
