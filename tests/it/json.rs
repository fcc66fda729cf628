//! JSON that commands print, against the page that says what its keys mean.

use crate::export::text;
use crate::support::{
    PROF, copy_modules, execute, folder, link, merge, original, project, rewrite, run, runtime,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// All keys of a value, however deep.
fn collect_keys(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                keys.insert(key.clone());
                // Its keys are words of outcomes.
                if key != "outcomes" {
                    collect_keys(member, keys);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}

fn printed(arguments: &[&str]) -> Value {
    let mut command = Command::new(PROF);
    // Differences are status 1.
    let output = command
        .args(arguments)
        .args(["--format", "json"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() < Some(2), "{arguments:?}: {said}");
    serde_json::from_str(&text(output)).unwrap()
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

/// The page names every key of every command's JSON, on profiles of each kind.
#[test]
fn every_key_of_json_is_in_the_page() {
    let dir = folder();
    let made = |name: &str, scheme: &str, options: &[&str]| {
        let own = dir.path().join(format!("{name}-{scheme}"));
        std::fs::create_dir(&own).unwrap();
        let (modules, expected) = original(name, &["-O1", "-g"], &["-O1"], &own);
        let out = own.join("out");
        rewrite(
            &modules,
            &[&["--scheme", scheme, "-k", "1"], options].concat(),
            &out,
        );
        let exe = own.join("exe");
        link(&copy_modules(&modules, &out, 0), runtime(), &["-O1"], &exe);
        assert_eq!(execute(&exe, &out), expected);
        merge(&out)
    };
    let demo = made("demo", "sbl", &["--count-hits"]);
    let some = made("demo", "p3", &["--paths", "through=main"]);
    let thrown = made("exceptions", "sbl", &[]);
    let [edges, subpaths, bursts] =
        ["edge", "subpath", "shadow"].map(|scheme| made("exceptions", scheme, &[]));
    let (demo, some, thrown) = (path(&demo), path(&some), path(&thrown));
    let new = format!("--new={thrown}");
    let spec = format!("top=9:{demo}");
    let hits = dir.path().join("demo-sbl/out");
    let patch = dir.path().join("change.diff");
    let source = std::fs::read_to_string(project("testdata/programs/demo.c")).unwrap();
    let line = source.lines().nth(60).unwrap();
    let diff = format!("--- a/demo.c\n+++ b/demo.c\n@@ -61,1 +61,1 @@\n-x\n+{line}\n");
    std::fs::write(&patch, diff).unwrap();
    let mut keys = BTreeSet::new();
    for arguments in [
        &["show", demo, "--by", "loop"][..],
        &["show", some],
        &["show", thrown, "--edges"],
        &["show", path(&edges), "--edges"],
        &["show", path(&subpaths)],
        &["show", path(&bursts)],
        &["coverage", demo, "--nearest", "1"],
        &["coverage", some],
        &["coverage", demo, "--patch", path(&patch)],
        &["coverage", demo, "--diff", thrown],
        &["coverage", demo, &new],
        &["diff", demo, thrown],
        &["paths", &spec, demo],
        &["simulate", demo],
        &["simulate", demo, "--functions", "--scheme", "p3", "-k", "2"],
        &["accuracy", demo],
        &["accuracy", path(&bursts), "--against", thrown],
    ] {
        collect_keys(&printed(arguments), &mut keys);
    }
    let mut command = Command::new(PROF);
    command
        .arg("hits")
        .arg("--manifest")
        .arg(hits.join("manifest.json"));
    let raw = walkdir::WalkDir::new(&hits).into_iter().flatten();
    let raw = raw.filter(|f| f.path().extension().is_some_and(|e| e == "p3raw"));
    command.args(raw.map(walkdir::DirEntry::into_path));
    let counted = text(run(command.args(["--format", "json"])));
    collect_keys(&serde_json::from_str(&counted).unwrap(), &mut keys);
    assert!(keys.len() > 120, "{keys:?}");
    let page = std::fs::read_to_string(project("docs/JSON.md")).unwrap();
    let missing: Vec<&String> = keys
        .iter()
        .filter(|key| !page.contains(&format!("`{key}`")))
        .collect();
    assert!(missing.is_empty(), "docs/JSON.md does not name {missing:?}");
}
