//! Selections of paths of real programs against their whole profiles, which `oracle_trace` holds against brute force:
//! every path that is counted has its count, no other path has any, and whatever was asked for is counted.

use crate::support::{compile, folder, original, profile, rewrite_here, whole_profile};
use p3_rewrite::base::index::PathId;
use p3_rewrite::profile::Profile;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The schemes, and numbers of copies.
const SCHEMES: [(&str, u32); 5] = [
    ("sbl", 1),
    ("p3", 4),
    ("p3-hot", 1),
    ("p3-hot", 4),
    ("p3-weighted", 3),
];

/// A selection for each function of a whole profile, by what its paths and counts are.
pub(crate) fn selection(
    whole: &Profile,
    of: impl Fn(usize, &[(PathId, u64)], usize) -> Value,
) -> Value {
    let mut functions = Map::new();
    let counts = whole.paths().unwrap();
    for (i, f) in whole.functions().enumerate() {
        if whole.entry(f).status.is_skipped() {
            continue;
        }
        let edges = whole.structure(f).unwrap().paths.dag.edges().len();
        let selected = of(i, counts.counts(f), edges);
        if !selected.is_null() {
            functions.insert(whole.entry(f).name.clone(), selected);
        }
    }
    Value::Object(functions)
}

pub(crate) fn some_of(
    counts: &[(PathId, u64)],
    wanted: impl Fn(usize) -> bool,
) -> Vec<(PathId, u64)> {
    let some = counts.iter().enumerate().filter(|(i, _)| wanted(*i));
    some.map(|(_, c)| *c).collect()
}

/// Compares what was counted with a whole profile, and with what was asked for; how many functions count some paths.
pub(crate) fn compare(whole: &Profile, selective: &Profile, asked: &Value) -> usize {
    let mut some = 0;
    for f in whole.functions() {
        let entry = selective.entry(f);
        if entry.status.is_skipped() {
            continue;
        }
        let name = &entry.name;
        assert_eq!(*name, whole.entry(f).name);
        let structure = selective.structure(f).unwrap();
        let counted = selective.counted_paths(f, &structure).unwrap();
        some += usize::from(!counted.are_none() && !counted.are_all());
        let is_counted = |id: &PathId| counted.contain_id(&structure.paths, *id);
        let mut expected = whole.paths().unwrap().counts(f).to_vec();
        expected.retain(|(id, _)| is_counted(id));
        assert_eq!(selective.paths().unwrap().counts(f), expected, "{name}");
        let asked = &asked[name];
        let ids = |list: &Value, at: fn(&Value) -> &Value| -> BTreeSet<u64> {
            let list = list.as_array().into_iter().flatten();
            list.map(|id| at(id).as_u64().unwrap()).collect()
        };
        let listed = ids(&asked["paths"], |id| id);
        assert!(listed.iter().all(|id| is_counted(&PathId(*id))), "{name}");
        if !asked["known"].is_null() {
            let known = ids(&asked["known"], |pair| &pair[0]);
            let ran = whole.paths().unwrap().counts(f).iter();
            let mut new = ran.filter(|(id, _)| !known.contains(&id.0));
            assert!(new.all(|(id, _)| is_counted(id)), "{name}");
            let stored: BTreeSet<u64> = entry.known.iter().map(|id| id.0).collect();
            assert_eq!(stored, known, "{name}");
        }
    }
    some
}

fn check(name: &str, flags: &[&str]) {
    let dir = folder();
    let dir = dir.path();
    let (modules, expected) = original(name, flags, &["-O1"], dir);
    let whole = whole_profile(&modules, &expected, &dir.join("whole"));
    let pairs = |counts: Vec<(PathId, u64)>, times: u64| {
        let pairs = counts.iter().map(|(id, n)| json!([id.0, n * times]));
        pairs.collect::<Vec<Value>>()
    };
    let asked = [
        // After half of the paths, and after all; with counts that make known sub-DAGs worth their code.
        selection(
            &whole,
            |_, counts, _| json!({"known": pairs(some_of(counts, |i| i % 2 == 0), 100_000)}),
        ),
        selection(
            &whole,
            |_, counts, _| json!({"known": pairs(counts.to_vec(), 100_000)}),
        ),
        selection(
            &whole,
            |f, _, edges| json!({"edges": (0..edges).filter(|e| (e + f) % 5 != 4).collect::<Vec<_>>()}),
        ),
        selection(&whole, |f, counts, _| match f % 3 {
            0 => json!("all"),
            1 => {
                json!({"paths": some_of(counts, |i| i < 2).iter().map(|c| c.0.0).collect::<Vec<_>>()})
            }
            _ => Value::Null,
        }),
    ];
    let mut some = 0;
    for (i, asked) in asked.iter().enumerate() {
        let file = dir.join(format!("{i}.json"));
        std::fs::write(&file, asked.to_string()).unwrap();
        for (scheme, copies) in SCHEMES {
            let out = dir.join(format!("{i}-{scheme}-{copies}"));
            let options = ["--selection", file.to_str().unwrap(), "--scheme", scheme];
            let merged = profile(&modules, &options, copies, &["-O1"], &expected, &out);
            let selective = Profile::read(&merged).unwrap();
            assert!(selective.is_selective());
            some += compare(&whole, &selective, asked);
        }
    }
    assert!(some > 0, "{name}");
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name), &["-O1", "-g"]);
        })*
    };
}

programs! { loops many_paths exceptions longjmp recursion switches short_loops warm computed_goto modules vfork }

/// A module of whose paths none is selected is the input, byte for byte; the others say less than they would.
#[test]
fn unselected_modules_are_unchanged() {
    let dir = folder();
    let modules = compile("modules", &["-O2", "-g"], &dir.path().join("input"));
    let file = dir.path().join("selection.json");
    std::fs::write(&file, r#"{"main": "all"}"#).unwrap();
    let out = dir.path().join("out");
    let options = ["--selection", file.to_str().unwrap(), "-k", "2", "-q", "-o"];
    let words = modules.iter().map(|m| m.as_os_str());
    let words = words.chain(options.iter().map(|o| o.as_ref()));
    let words: Vec<&OsStr> = words.chain([out.as_os_str()]).collect();
    rewrite_here(&words).unwrap();
    let mut unchanged = 0;
    for i in 0..modules.len() {
        let read = |file: PathBuf| std::fs::read(file).unwrap();
        let native = read(out.join(format!("native/m{i}.bc")));
        unchanged += usize::from(native == read(out.join(format!("copy-0/m{i}.bc"))));
        let other = read(out.join(format!("copy-1/m{i}.bc")));
        assert!(native == other, "nothing is left for the second copy");
    }
    assert_eq!(unchanged, modules.len() - 1);
}

/// What counts no paths has none to select.
#[test]
fn other_schemes_are_refused() {
    let dir = folder();
    let refused = |scheme: &str, file: &Path| {
        let words = ["in.bc", "--scheme", scheme, "-o", "out", "--selection"].map(OsStr::new);
        let words: Vec<&OsStr> = words.into_iter().chain([file.as_os_str()]).collect();
        rewrite_here(&words).unwrap_err()
    };
    let file = dir.path().join("selection.json");
    for scheme in ["edge", "subpath", "shadow", "trace"] {
        let expected = format!(
            "--scheme {scheme} cannot count selected paths; choose one of p3, p3-weighted, p3-hot, pbl, sbl"
        );
        assert_eq!(refused(scheme, &file), expected);
    }
}
