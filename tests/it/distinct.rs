//! That what people read of loops and paths tells them apart, and that outcomes called "never" did not come up.

use crate::export::{profiled, read, text};
use crate::support::{PROF, folder, parsed, run, sources};
use serde_json::Value;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs with loops that are inlined, rotated and unrolled; with exceptions, templates and `switch`.
const PROGRAMS: [&str; 7] = [
    "words",
    "scan",
    "shapes",
    "conditions",
    "exceptions",
    "loops",
    "switches",
];

fn prof(words: &[&str], profile: &Path) -> String {
    let mut command = Command::new(PROF);
    text(run(command.args(words).arg(profile)))
}

fn each_profile(levels: &[&str], check: impl Fn(&str, &str, &Path)) {
    for name in PROGRAMS {
        for level in levels {
            let dir = folder();
            let profile = profiled(name, &[level, "-g"], dir.path());
            check(name, level, &profile);
        }
    }
}

/// No two loops of a function have one name, and each is called after the line that it begins at.
#[test]
fn loop_names_of_a_function_are_different_and_of_lines_with_loops() {
    let (of_loops, others) = (Cell::new(0), Cell::new(0));
    each_profile(&["-O0", "-O2"], |name, level, profile| {
        let shown = parsed(prof(&["show", "--by", "loop", "--format", "json"], profile).as_bytes());
        let content = read(&sources(name)[0]);
        let lines: Vec<&str> = content.lines().collect();
        let mut names = BTreeSet::new();
        let loops = shown["loops"].as_array().unwrap();
        assert!(!loops.is_empty(), "{name}");
        for found in loops {
            let key = [&found["function"], &found["name"]].map(|v| v.as_str().unwrap());
            assert!(
                names.insert(key.map(String::from)),
                "{name} {level} {key:?}"
            );
            let [file, line] = [0, 1].map(|i| found["position"][i].as_u64().unwrap() as usize);
            if shown["files"][file] == sources(name)[0].to_str().unwrap() {
                let text = lines[line - 1];
                let begins = ["for (", "while (", "do {", "goto"]
                    .iter()
                    .any(|w| text.contains(w));
                let kind = if begins { &of_loops } else { &others };
                kind.set(kind.get() + 1);
            }
        }
        // The text has the same facts.
        let told = prof(
            &["show", "--by", "loop", "--top", "1000", "--full"],
            profile,
        );
        for found in loops {
            let loop_name = found["name"].as_str().unwrap();
            assert!(
                told.contains(loop_name),
                "{name} {level} {loop_name}: {told}"
            );
        }
    });
    // Of loops that an optimiser made one the line is that of the header's code.
    let (of_loops, others) = (of_loops.get(), others.get());
    assert!(
        of_loops > 50 && others * 10 <= of_loops,
        "{of_loops}, {others}"
    );
}

/// The paths of a text of `show`: headline without rank, share and id, and what is below.
fn blocks_of_show(shown: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let behind = shown.split("hottest paths").nth(1).unwrap_or_default();
    for line in behind.lines().skip(1) {
        match line.split_once(" instrs  ") {
            Some((_, headline)) if line.contains(" × ") => {
                let (what, id) = headline.rsplit_once('#').unwrap();
                id.parse::<u64>().unwrap();
                blocks.push(format!("{}\n", what.trim()));
            }
            _ => *blocks.last_mut().unwrap() += &format!("{line}\n"),
        }
    }
    blocks
}

/// The paths of a text of `coverage`, each with its function: where it starts, and what is below but what ran next to
/// it.
fn blocks_of_coverage(shown: &str) -> Vec<String> {
    let (mut blocks, mut function) = (Vec::<String>::new(), String::new());
    for line in shown.lines().filter(|l| !l.contains("nearest: #")) {
        if !line.starts_with("    ") {
            function = line.to_string();
        } else if let Some((_, start)) = line.split_once(" not covered") {
            blocks.push(format!("{function}\n{start}\n"));
        } else if let Some(block) = blocks.last_mut() {
            *block += &format!("{line}\n");
        }
    }
    blocks
}

fn assert_distinct(what: &str, blocks: Vec<String>) -> usize {
    let mut seen = BTreeSet::new();
    for block in &blocks {
        assert!(seen.insert(block), "{what}: twice\n{block}");
    }
    blocks.len()
}

/// Two paths of a function never read alike, whether they ran or not, with every step or with few.
#[test]
fn paths_of_a_function_never_read_alike() {
    each_profile(&["-O0", "-O2"], |name, level, profile| {
        let what = format!("{name} {level}");
        let shown = ["show", "--top", "100000", "--by", "path"];
        let uncovered = [
            "coverage",
            "--nearest",
            "60",
            "--top",
            "1000",
            "--function",
            ".",
        ];
        // Names of functions are whole with --full, so that blocks of different ones differ.
        for options in [&["--full"][..], &["--width", "100"], &["--width", "60"]] {
            let shown = prof(&[&shown[..], options].concat(), profile);
            if options[0] == "--full" || options[1] == "100" {
                assert!(
                    assert_distinct(&what, blocks_of_show(&shown)) > 5,
                    "{what}: {shown}"
                );
            }
            let uncovered = prof(&[&uncovered[..], options].concat(), profile);
            // Of three or more paths alike but for what is left out, two may have one mark.
            let mut blocks = blocks_of_coverage(&uncovered);
            blocks.retain(|block| options[0] == "--full" || !block.contains("⋯ with "));
            assert_distinct(&what, blocks);
        }
    });
}

/// The outcomes of the conditions on each line that some path had: condition, outcome, and line that follows.
fn outcomes(profile: &Path, source: &Path) -> BTreeMap<u64, BTreeSet<(String, String, u64)>> {
    let shown = parsed(prof(&["show", "--format", "json"], profile).as_bytes());
    let mut outcomes: BTreeMap<u64, BTreeSet<(String, String, u64)>> = BTreeMap::new();
    let functions = shown["functions"].as_array().unwrap().iter();
    let paths = functions.flat_map(|f| f["paths"].as_array().unwrap());
    for decision in paths.flat_map(|p| p["decisions"].as_array().unwrap()) {
        let word = |key: &str| decision[key].as_str().unwrap_or_default().to_string();
        let number = |v: &Value| v.as_u64().unwrap_or(0);
        if decision["file"] == source.to_str().unwrap() && decision["implied"] != true {
            let told = (
                word("condition"),
                word("outcome"),
                number(&decision["to_line"]),
            );
            let line = outcomes.entry(number(&decision["line"])).or_default();
            line.insert(told);
        }
    }
    outcomes
}

/// What is called "never" of a condition, in all its copies, is on no path.
#[test]
fn outcome_called_never_is_on_no_path() {
    let checked = Cell::new(0);
    each_profile(&["-O0", "-O2"], |name, level, profile| {
        let source: PathBuf = sources(name).remove(0);
        let ran = outcomes(profile, &source);
        let told = prof(&["coverage", "--annotate", "--width", "200"], profile);
        let mut line = 0;
        for text in told.lines() {
            let Some((_, never)) = text.split_once("↳ never ") else {
                let mut numbers = text
                    .split_whitespace()
                    .filter_map(|w| w.parse::<u64>().ok());
                let second = |n: u64| if text.starts_with("         ") { n } else { 0 };
                line = match (numbers.next(), numbers.next()) {
                    (Some(_), Some(n)) => n,
                    (Some(n), None) => n.max(second(n)),
                    _ => line,
                };
                continue;
            };
            let (outcomes, condition) = never.split_once(": ").unwrap_or((never, ""));
            for outcome in outcomes.split(", ").filter(|o| !o.contains(" ways ")) {
                if outcome.contains(" copies") {
                    continue;
                }
                let here = ran.get(&line).into_iter().flatten();
                let mut here = here.filter(|(text, ..)| text == condition);
                let came_up = here.any(|(_, said, to)| match outcome.strip_prefix("→ ") {
                    None => said == outcome,
                    Some(place) => {
                        let plain = place.parse() == Ok(*to);
                        plain && said == "unknown"
                    }
                });
                assert!(
                    !came_up,
                    "{name} {level} line {line}: never {never}: {here:?}",
                    here = ran[&line]
                );
                checked.set(checked.get() + 1);
            }
        }
    });
    assert!(checked.get() > 40, "{}", checked.get());
}

/// With -O2, two ways lead from `isalpha(c)` to one line: that one of them never ran does not mean that the line did
/// not follow.
#[test]
fn ways_to_one_line_are_told_apart() {
    let dir = folder();
    let profile = profiled("words", &["-O2", "-g"], dir.path());
    let shown = prof(&["show", "--by", "path", "--top", "100"], &profile);
    assert!(
        shown.contains("loop in line_stats at words.c:18 (called at 60)"),
        "{shown}"
    );
    let told = prof(
        &["coverage", "--annotate=missing", "--width", "100"],
        &profile,
    );
    // Of two places of a condition one alone leads there, which says nothing of what the optimiser decided.
    assert!(!told.contains("↳ never →"), "{told}");
}
