//! Values that are printed for missing paths, against what runs with them.

use super::solver;
use crate::support::{PROF, folder, module, run_and_profile};
use p3_rewrite::profile::Profile;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const EXAMPLES: &str = include_str!("examples.c");

/// What coverage says of functions, with a solver.
fn coverage(file: &Path, options: &[&str]) -> String {
    let mut command = Command::new(PROF);
    command.arg("coverage").arg(file).args(options);
    command.env("P3_SOLVER", &solver().path);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn functions(file: &Path, nearest: &str) -> Value {
    let options = [
        "--function",
        "^ex_",
        "--nearest",
        nearest,
        "--format",
        "json",
    ];
    serde_json::from_str(&coverage(file, &options)).unwrap()
}

/// The types and names of the parameters of each function.
fn signatures() -> BTreeMap<String, Vec<(String, String)>> {
    let starts = EXAMPLES
        .lines()
        .filter_map(|line| line.strip_prefix("int ex_"));
    let read = |line: &str| {
        let (name, rest) = line.split_once('(').unwrap();
        let list = rest.split_once(')').unwrap().0;
        let parameters = list.split(", ").map(|parameter| {
            let parameter = parameter.replace("const ", "");
            let at = parameter.rfind([' ', '*']).unwrap() + 1;
            (parameter[..at].to_string(), parameter[at..].to_string())
        });
        (format!("ex_{name}"), parameters.collect())
    };
    starts.map(read).collect()
}

/// Calls a function with an example: what it does not name is 0, or points to zeros.
fn call(name: &str, parameters: &[(String, String)], example: &Value) -> String {
    let mut code = String::from("    {\n");
    for (ty, name) in parameters {
        code += &if ty.ends_with('*') {
            format!("        {ty}{name} = calloc(64, 64);\n")
        } else {
            format!("        {ty}{name}; memset(&{name}, 0, sizeof {name});\n")
        };
    }
    for setting in example["settings"].as_array().unwrap() {
        assert_eq!(setting["when"], "start", "{setting}");
        let name = setting["name"].as_str().unwrap();
        // What another pointer points to is there, unless it is said to be null.
        let pointers = name.match_indices("->").skip(1).map(|(at, _)| &name[..at]);
        for pointer in pointers {
            code += &format!("        if (!{pointer}) {pointer} = calloc(64, 64);\n");
        }
        code += &match setting["value"].as_str() {
            Some(value) => format!("        {name} = {value};\n"),
            None => format!("        {name} = calloc(64, 64);\n"),
        };
    }
    let names: Vec<&str> = parameters.iter().map(|(_, name)| name.as_str()).collect();
    code + &format!("        sink = {name}({});\n    }}\n", names.join(", "))
}

/// Of the examples, 95 % take exactly the path that they are printed for.
#[test]
fn examples_take_their_paths() {
    let dir = folder();
    let flags = ["-O0", "-g"];
    let modules = [module("a.c", EXAMPLES, &flags, dir.path())];
    let file = run_and_profile(&modules, &[], 1, &["-O0"], dir.path());
    let json = functions(&file, "100");
    assert_eq!(
        json["solver"]["name"],
        solver().name(),
        "{}",
        json["solver"]
    );
    let signatures = signatures();
    let mut harness =
        format!("#define HARNESS\n{EXAMPLES}\nstatic volatile int sink;\nint main(void) {{\n");
    let (mut promised, mut suggested) = (Vec::new(), 0);
    for function in json["functions"].as_array().unwrap() {
        let name = function["name"].as_str().unwrap();
        for path in function["uncovered"].as_array().unwrap() {
            suggested += 1;
            if let Some(example) = path.get("example") {
                harness += &call(name, &signatures[name], example);
                promised.push((name.to_string(), path["id"].as_str().unwrap().to_string()));
            }
        }
    }
    harness += "    return 0;\n}\n";
    assert!(signatures.len() >= 15 && json["functions"].as_array().unwrap().len() >= 15);
    let dir = folder();
    let flags = [&flags[..], &["-Wno-everything"]].concat();
    let modules = [module("a.c", &harness, &flags, dir.path())];
    let file = run_and_profile(&modules, &[], 1, &["-O0"], dir.path());
    let profile = Profile::read(&file).unwrap();
    let paths = profile.paths().unwrap();
    let mut ran: BTreeMap<(String, String), u64> = BTreeMap::new();
    for f in profile.executed_functions() {
        for (id, count) in paths.counts(f) {
            ran.insert((profile.entry(f).name.clone(), id.to_string()), *count);
        }
    }
    let is_kept = |path: &&(String, String)| ran.get(*path) == Some(&1);
    let kept = promised.iter().filter(is_kept).count();
    let broken: Vec<_> = promised.iter().filter(|path| !is_kept(path)).collect();
    println!(
        "{suggested} paths, {} examples, {kept} take their path; not: {broken:?}\n{harness}",
        promised.len()
    );
    assert!(kept * 100 >= promised.len() * 95, "{broken:?}\n{harness}");
    assert!(
        promised.len() * 100 >= suggested * 90,
        "{} of {suggested}",
        promised.len()
    );
}

/// Text and annotations have values.
#[test]
fn values_are_printed_with_missing_paths() {
    let dir = folder();
    let modules = [module("a.c", EXAMPLES, &["-O0", "-g"], dir.path())];
    let file = run_and_profile(&modules, &[], 1, &["-O0"], dir.path());
    let text = coverage(&file, &["--function", "^ex_color$"]);
    assert!(text.contains("e.g. color = BLUE\n"), "{text}");
    let github = coverage(&file, &["--function", "^ex_color$", "--format", "github"]);
    assert!(github.contains("e.g. color = BLUE"), "{github}");
}
