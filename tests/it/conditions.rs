//! Conditions as reports quote them, against the regions that clang's own coverage gives each condition.

use crate::export::{profiled, read, text};
use crate::support::text::{assert_line, in_dir};
use crate::support::{PROF, llvm, module, project, run, run_and_profile, sources};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A text without blanks and comments, and without what a report leaves out: negation and brackets around all of it.
fn bare(text: &str) -> String {
    let comments = regex::Regex::new(r"(?s)/\*.*?\*/|//[^\n]*").unwrap();
    let text = comments.replace_all(text, "");
    let mut text: String = text.split_whitespace().collect();
    while let Some(inner) = text.strip_prefix('!').filter(|t| t.starts_with('(')) {
        text = inner.to_string();
    }
    let whole = text.starts_with('(') && text.ends_with(')') && {
        let mut depth = 0;
        let ends = text.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '(') - i32::from(*c == ')');
            depth == 0
        });
        ends.is_some_and(|(i, _)| i + 1 == text.len())
    };
    if whole {
        return bare(&text[1..text.len() - 1]);
    }
    text
}

/// The text of a region.
pub(crate) fn region(source: &str, [line, column, end_line, end_column]: [usize; 4]) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let mut text = String::new();
    for number in line..=end_line {
        let whole = lines[number - 1];
        let from = if number == line { column - 1 } else { 0 };
        let to = if number == end_line {
            end_column - 1
        } else {
            whole.len()
        };
        text += &whole[from..to];
        text.push('\n');
    }
    text
}

/// The conditions that clang counts in `source`.
fn counted(source: &Path, dir: &Path) -> BTreeSet<String> {
    let object = dir.join("counted.o");
    let mut clang = Command::new(llvm("clang"));
    clang.args([
        "-O0",
        "-g",
        "-w",
        "-c",
        "-fprofile-instr-generate",
        "-fcoverage-mapping",
    ]);
    if source.extension().is_some_and(|e| e == "cpp") {
        clang.arg("-std=c++20");
    }
    clang.arg("-I").arg(project("testdata/include"));
    run(clang.arg(source).arg("-o").arg(&object));
    // Regions are wanted, and no counts.
    let (counts, none) = (dir.join("none.profdata"), dir.join("none.proftext"));
    std::fs::write(&none, "nobody\n1\n1\n1\n").unwrap();
    let mut merge = Command::new(llvm("llvm-profdata"));
    run(merge.arg("merge").arg(&none).arg("-o").arg(&counts));
    let mut cov = Command::new(llvm("llvm-cov"));
    cov.args(["export", "-instr-profile"]).arg(&counts);
    let out = text(run(cov.arg(&object)));
    let found: Value = serde_json::from_str(&out).unwrap();
    let functions = found["data"][0]["functions"].as_array().unwrap().iter();
    let own = functions.filter(|f| f["filenames"][0] == source.to_str().unwrap());
    let branches = own.flat_map(|f| f["branches"].as_array().unwrap());
    let content = read(source);
    let number = |b: &Value, i: usize| b[i].as_u64().unwrap() as usize;
    let direct = branches.filter(|b| number(b, 6) == number(b, 7));
    let texts = direct.map(|b| bare(&region(&content, [0, 1, 2, 3].map(|i| number(b, i)))));
    texts.collect()
}

/// What reports quote at branches in `source`, and the line that each is on.
fn quoted(profile: &Path, source: &Path) -> BTreeSet<(u64, String)> {
    let mut show = Command::new(PROF);
    let shown = text(run(show
        .arg("show")
        .arg(profile)
        .args(["--format", "json"])));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let functions = shown["functions"].as_array().unwrap().iter();
    let paths = functions.flat_map(|f| f["paths"].as_array().unwrap());
    let decisions = paths.flat_map(|p| p["decisions"].as_array().unwrap());
    let here = decisions.filter(|d| d["file"] == source.to_str().unwrap() && d["way"].is_null());
    let quote = |d: &Value| Some((d["line"].as_u64()?, bare(d["condition"].as_str()?)));
    here.filter_map(quote).collect()
}

/// Every condition that is quoted is one that clang counts, but for those inside macros and the headers of loops over
/// ranges.
#[test]
fn quoted_text_is_a_condition() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for name in ["conditions", "loops", "switches", "exceptions", "operands"] {
        let source = sources(name).remove(0);
        for level in ["-O0", "-O2"] {
            let dir = crate::support::folder();
            let profile = profiled(name, &[level, "-g"], dir.path());
            let counted = counted(&source, dir.path());
            for (line, condition) in quoted(&profile, &source) {
                let whole = read(&source);
                let on = whole.lines().nth(line as usize - 1).unwrap();
                // A macro's branch has no text of its own; for what is declared, clang has the name alone.
                // Whether an exception has to be freed is no condition of the source.
                let throws = condition.starts_with("throw");
                let declares = condition.starts_with("intk=")
                    || on.contains("for (") && condition.contains(':');
                // Optimised, one branch may be on several conditions, or nothing tells on which of them.
                let joins =
                    level != "-O0" && (condition.contains("&&") || condition.contains("||"));
                if on.contains("MACRO") || declares || throws || joins {
                    continue;
                }
                if !counted.contains(&condition) {
                    wrong.push(format!("{name} {level} line {line}: {condition}"));
                }
                compared += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared > 60, "{compared}");
}

fn shown(profile: &Path, options: &[&str]) -> String {
    let mut show = Command::new(PROF);
    text(run(show.arg("show").arg(profile).args(options)))
}

/// Sources that are elsewhere are found, and those that have changed are not quoted.
#[test]
fn sources_that_moved_or_changed() {
    let dir = crate::support::folder();
    let source = dir.path().join("a/conditions.cpp");
    std::fs::create_dir_all(source.parent().unwrap()).unwrap();
    std::fs::copy(project("testdata/programs/conditions.cpp"), &source).unwrap();
    let bitcode = dir.path().join("conditions.bc");
    let mut clang = Command::new(llvm("clang++"));
    clang.args(["-std=c++20", "-O0", "-g", "-w", "-c", "-emit-llvm"]);
    run(clang.arg(&source).arg("-o").arg(&bitcode));
    let mut link = Command::new(llvm("clang++"));
    let exe = dir.path().join("exe");
    run(link.args(["-x", "ir"]).arg(&bitcode).arg("-o").arg(&exe));
    let expected = crate::support::execute(&exe, &dir.path().join("native"));
    let out = dir.path().join("out");
    let profile = crate::support::profile(&[bitcode], &[], 2, &["-O0"], &expected, &out);
    let options = ["--function", "^pick"];
    let first = shown(&profile, &options);
    assert_line(&first, "        17  n > 3               true");
    assert_line(&first, "        17  n > 3               false");
    std::fs::rename(dir.path().join("a"), dir.path().join("b")).unwrap();
    let gone = shown(&profile, &options);
    // Without its text, each row of a path that is shown says where it goes.
    let rows = gone.lines().filter(|l| l.starts_with("        "));
    let is_place = |row: &str| row.split_whitespace().nth(1) == Some("→");
    let others: Vec<&str> = rows.filter(|row| !is_place(row)).collect();
    assert_eq!(others, ["            ⋯ 5 more (--full)"], "{gone}");
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    let map = format!("{}={}", a.display(), b.display());
    for more in [
        ["--path-map", map.as_str()],
        ["--source-dir", b.to_str().unwrap()],
    ] {
        assert_eq!(shown(&profile, &[&options[..], &more[..]].concat()), first);
    }
    let warned = |more: &[&str]| {
        let mut show = Command::new(PROF);
        let output = run(show.arg("show").arg(&profile).args(options).args(more));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (said, text(output))
    };
    let (said, shown) = warned(&[]);
    let no_folder = "warning: --source-dir nodir: no such folder; check its name\n";
    let missing = "conditions.cpp: source not found, so its text is not shown; name its folder by --source-dir";
    assert!(said.contains(missing), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(shown, gone);
    let (said, _) = warned(&["--source-dir", "nodir"]);
    assert!(said.contains(no_folder), "{said}");
    let (said, _) = warned(&["--path-map", &map]);
    assert_eq!(said, "");
    std::fs::write(b.join("conditions.cpp"), "int main() {}\n").unwrap();
    let (said, shown) = warned(&["--path-map", &map]);
    let other = "warning: DIR/b/conditions.cpp: it is not what was compiled, so its text is not shown; --source-dir \
                 names a folder with the old one\n";
    assert_eq!(in_dir(&said, dir.path()), other);
    assert_eq!(shown, gone);
}

/// The profile of a program that runs once, compiled at a level.
pub(crate) fn executed(name: &str, source: &str, level: &str, dir: &Path) -> PathBuf {
    let modules = [module(name, source, &[level, "-g"], dir)];
    let options = ["--scheme", "sbl"];
    run_and_profile(&modules, &options, 1, &[level], dir)
}

/// Cases of an `int`, of which not all are characters.
const KINDS: &str = "#include <stdlib.h>
__attribute__((noinline)) int kind(int c) {
  switch (c) {
  case 'a':
    return 1;
  case 'b':
  case '\\n':
    return abs(c);
  case 0x80: return 4;
  case ' ': case ':': return abs(c + 1);
  case 300:
    return 8;
  default:
    return 6;
  }
}
int main(void) {
  const char *volatile from = \"ab\\n: \\x80x\";
  const char *text = from;
  int sum = kind(300);
  for (; *text; text++)
    sum += kind((unsigned char)*text);
  return sum == 99999;
}
";

/// A case reads as the source has it, also where the optimiser has left no code of its arm, or several lead there.
#[test]
fn cases_of_characters_read_as_in_the_source() {
    for level in ["-O0", "-O1"] {
        let dir = crate::support::folder();
        let profile = executed("kinds.c", KINDS, level, dir.path());
        let shown = shown(&profile, &["--by", "path", "--function", "kind"]);
        let step = |l: &&str| l.contains("switch (c)");
        let outcome = |l: &str| {
            let behind = l.split("switch (c)").nth(1).unwrap();
            behind.split('→').next().unwrap().trim().to_string()
        };
        let cases: BTreeSet<String> = shown.lines().filter(step).map(outcome).collect();
        let expected = [
            "case ' '",
            "case '\\n'",
            "case ':'",
            "case 'a'",
            "case 'b'",
            "case 0x80",
            "case 300",
            "default",
        ];
        assert_eq!(cases, expected.map(String::from).into(), "{level}: {shown}");
    }
}

/// An interpreter whose dispatch is a `goto` by a table of labels.
const DISPATCH: &str = "#define vmcase(op) L_##op:
__attribute__((noinline)) int run(const unsigned char *code) {
  static const void *const table[] = {&&add, &&L_SUB, &&end};
  int acc = 0;
  goto *table[*code];
add:
  acc += 3;
  goto *table[*++code];
  vmcase(SUB) {
    acc -= 1;
    goto *table[*++code];
  }
end:
  return acc;
}
int main(void) {
  const unsigned char code[] = {0, 1, 0, 0, 2};
  return run(code) != 8;
}
";

/// What clang makes of all `goto *` of a function has no line: it is called so, with the label that it reaches.
#[test]
fn dispatch_of_an_interpreter_names_labels() {
    let dir = crate::support::folder();
    let profile = executed("run.c", DISPATCH, "-O0", dir.path());
    let shown = shown(&profile, &["--by", "path", "--function", "^run$"]);
    let steps = |what: &str| shown.matches(&format!("  –  goto *  {what}  ")).count();
    assert_eq!(
        [steps("add"), steps("vmcase(SUB)"), steps("end")],
        [2, 1, 1],
        "{shown}"
    );
    let heads = shown.lines().filter_map(|l| l.split(" instrs  ").nth(1));
    let heads: Vec<&str> = heads.map(|l| l.split("  ").next().unwrap()).collect();
    let of_loop = "run · loop at goto * (b4)";
    assert_eq!(heads, [of_loop, "run", of_loop, of_loop], "{shown}");
    // Other code without a line is still called so, and edges of the dispatch have their labels' lines.
    let edges = self::shown(&profile, &["--edges", "--function", "^run$"]);
    assert_line(&edges, "    → b1 run.c:7 (goto #0): 3");
}
