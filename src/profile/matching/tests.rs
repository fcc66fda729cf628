//! Both rules, on programs that are made up. The rule within one set of builds is also tested by what `union` joins.

use super::*;
use crate::base::index::{BlockId, FuncId, ModuleId};
use crate::copies::strategy::Scheme;
use crate::input::ir::{Body, Loc, SkipReason};
use crate::paths::random_cfg::cfg;
use crate::profile::manifest::{FunctionEntry, Status};
use crate::profile::{Profile, made};

const GRAPH: &[&[u32]] = &[&[1, 2], &[3], &[3], &[]];

/// Functions with these names, each in a module of its own, `m0`, `m1` and so on, without debug information.
fn profile(names: &[&str], linkage: Linkage) -> Profile {
    let bodies = names.iter().map(|_| made::body(cfg(GRAPH)));
    let mut p = made::profile(&made::program(bodies), Scheme::Sbl, 1);
    let module = p.manifest.modules[ModuleId(0)].clone();
    p.manifest.modules = (0..names.len())
        .map(|i| crate::profile::manifest::ModuleEntry {
            name: format!("m{i}"),
            hash: format!("{i:064x}"),
            ..module.clone()
        })
        .collect();
    for (i, f) in p.manifest.functions.iter_mut().enumerate() {
        f.name = names[i].into();
        f.linkage = linkage;
        f.bodies = vec![Body {
            module: ModuleId::new(i),
            ordinal: 0,
        }];
    }
    p
}

/// A profile whose functions begin in these files, at these lines.
fn profile_at(places: &[(&str, &str, u32)]) -> Profile {
    let names: Vec<&str> = places.iter().map(|p| p.0).collect();
    let mut p = profile(&names, Linkage::External);
    p.manifest.files = places.iter().map(|p| p.1.to_string()).collect();
    let functions = p.manifest.functions.iter_mut().enumerate();
    for (i, f) in functions {
        f.loc = Some(Loc {
            file: i as u32,
            line: places[i].2,
        });
    }
    p
}

/// A build of one module with these files.
fn build<'a>(module: &'a str, files: &[(&'a str, &'a str)]) -> Build<'a> {
    Build {
        files: files.to_vec(),
        modules: vec![(module, "")],
    }
}

fn find(p: &Profile, module: &str, name: &str, local: bool) -> Match {
    let cfg = cfg(GRAPH);
    let known = Known {
        module,
        hash: "",
        name,
        local,
        begins: None,
        cfg: &cfg,
    };
    Index::of_same_program(p, &build(module, &[])).find(&known)
}

/// A function of another build that begins at a line of a file.
fn find_at(p: &Profile, name: &str, begins: (&str, u32)) -> [Match; 2] {
    let cfg = cfg(GRAPH);
    let known = Known {
        module: "other",
        hash: "",
        name,
        local: false,
        begins: Some(begins),
        cfg: &cfg,
    };
    let other = build("other", &[(begins.0, "")]);
    [
        Index::of_same_program(p, &other).find(&known),
        Index::of_any_program(p, &other).find(&known),
    ]
}

#[test]
fn function_without_lines_is_found_in_its_module() {
    let p = profile(&["f", "f"], Linkage::Local);
    assert_eq!(find(&p, "m0", "f", true), Match::Same(FuncId(0)));
    assert_eq!(find(&p, "m1", "f", true), Match::Same(FuncId(1)));
    assert_eq!(find(&p, "m1", "g", true), Match::Unknown);
    assert_eq!(find(&p, "renamed", "f", true), Match::Unknown);
    assert_eq!(find(&p, "m0", "f", false), Match::Unknown, "other linkage");
}

#[test]
fn function_without_lines_is_found_in_a_moved_module() {
    let p = profile(&["f", "g"], Linkage::External);
    assert_eq!(find(&p, "moved/m1.bc", "g", false), Match::Same(FuncId(1)));
    assert_eq!(find(&p, "renamed", "g", false), Match::Unknown);
    // Who knows whether another program's module of that name is this one?
    let cfg = cfg(GRAPH);
    let known = Known {
        module: "moved/m1.bc",
        ..Known::new(&p.manifest, FuncId(1), &cfg)
    };
    let other = build("moved/m1.bc", &[]);
    let strict = Index::of_any_program(&p, &other);
    assert_eq!(strict.find(&known), Match::Same(FuncId(1)), "equal bytes");
    assert_eq!(strict.find(&Known { hash: "", ..known }), Match::Unknown);
    // Of programs of one module each it is that one.
    let alone = profile(&["f"], Linkage::Local);
    assert_eq!(find(&alone, "renamed", "f", true), Match::Same(FuncId(0)));
}

#[test]
fn function_of_another_source_is_unknown() {
    let p = profile_at(&[("main", "/p/t1.c", 1), ("main", "/p/t2.c", 2)]);
    let found = |file| find_at(&p, "main", (file, 2));
    assert_eq!(found("/p/t1.c"), [Match::Same(FuncId(0)); 2]);
    assert_eq!(found("/p/t2.c"), [Match::Same(FuncId(1)); 2]);
    assert_eq!(found("/p/t3.c"), [Match::Unknown; 2]);
    // Another checkout, if both are said to be of one program.
    assert_eq!(found("/q/t2.c"), [Match::Same(FuncId(1)), Match::Unknown]);
}

#[test]
fn line_chooses_between_functions_of_one_source() {
    let p = profile_at(&[("f", "/p/a.c", 10), ("f", "/p/a.c", 20), ("g", "/p/a.c", 5)]);
    let found = |line| find_at(&p, "f", ("/p/a.c", line))[1];
    assert_eq!(found(10), Match::Same(FuncId(0)));
    assert_eq!(found(20), Match::Same(FuncId(1)));
    assert_eq!(found(13), Match::Same(FuncId(0)));
    assert_eq!(found(19), Match::Same(FuncId(1)));
    let moved = find_at(&p, "g", ("/p/a.c", 500));
    assert_eq!(moved, [Match::Same(FuncId(2)); 2]);
}

#[test]
fn rust_function_is_found_under_another_hash() {
    let old = "_ZN3std6string6String3new17h0123456789abcdefE";
    let new = "_ZN3std6string6String3new17hfedcba9876543210E";
    let p = profile_at(&[(old, "/p/a.rs", 3)]);
    assert_eq!(find_at(&p, new, ("/p/a.rs", 4))[1], Match::Same(FuncId(0)));
    // Two instances of a generic function.
    let third = "_ZN3std6string6String3new17h0000000000000000E";
    let p = profile_at(&[(old, "/p/a.rs", 3), (third, "/p/a.rs", 3)]);
    assert_eq!(find_at(&p, new, ("/p/a.rs", 3))[1], Match::Unknown);
    assert_eq!(find_at(&p, old, ("/p/a.rs", 3))[1], Match::Same(FuncId(0)));
}

#[test]
fn function_of_other_control_flow_has_changed() {
    let shaped = |change: fn(&mut FunctionEntry)| {
        let mut p = profile(&["f", "g"], Linkage::External);
        change(&mut p.manifest.functions[FuncId(0)]);
        find(&p, "m0", "f", false)
    };
    assert_eq!(shaped(|_| {}), Match::Same(FuncId(0)));
    assert_eq!(
        shaped(|f| f.succs[BlockId(1)] = vec![BlockId(2)]),
        Match::Changed
    );
    assert_eq!(shaped(|f| f.terminators.raw.swap(0, 3)), Match::Changed);
    let shorter = |f: &mut FunctionEntry| {
        f.succs.pop();
        f.terminators.pop();
    };
    assert_eq!(shaped(shorter), Match::Changed);
    let skipped = |f: &mut FunctionEntry| f.status = Status::Skipped(SkipReason::Naked);
    assert_eq!(shaped(skipped), Match::Unknown);
}

/// Of bodies of one name that differ, the one with this control flow.
#[test]
fn function_of_this_shape_is_chosen() {
    let mut p = profile_at(&[("f", "/p/a.c", 1), ("f", "/p/a.c", 1)]);
    p.manifest.functions[FuncId(0)].succs[BlockId(1)] = vec![BlockId(2)];
    let found = find_at(&p, "f", ("/p/a.c", 1));
    assert_eq!(found, [Match::Same(FuncId(1)); 2]);
}

/// A static function of a header: each module has its own, and a module more does not take that of another.
#[test]
fn function_of_a_profile_is_matched_once() {
    let three = [("f", "/p/a.h", 1); 3];
    let (old, new) = (profile_at(&three[..2]), profile_at(&three));
    let index = Index::of_same_program(&old, &Build::of_manifest(&new.manifest));
    let functions: Vec<FuncId> = [2, 1, 0].map(FuncId).to_vec();
    let found = index.match_each(&new, &functions);
    let expected = [
        Match::Unknown,
        Match::Same(FuncId(1)),
        Match::Same(FuncId(0)),
    ];
    assert_eq!(found, expected);
    // Its paths are known all the same.
    let cfg = cfg(GRAPH);
    let third = Known::new(&new.manifest, FuncId(2), &cfg);
    assert_eq!(index.find(&third), Match::Same(FuncId(0)));
}

#[test]
fn function_of_a_manifest_is_that_of_its_program() {
    let p = profile_at(&[("f", "/p/a.c", 1), ("g", "/p/b.c", 7)]);
    let cfg = cfg(GRAPH);
    let known = Known::new(&p.manifest, FuncId(1), &cfg);
    assert_eq!((known.module, known.name, known.local), ("m1", "g", false));
    assert_eq!(known.begins, Some(("/p/b.c", 7)));
    let local = profile(&["f"], Linkage::Local);
    assert!(Known::new(&local.manifest, FuncId(0), &cfg).local);
    let program = made::program([made::body(cfg.clone())]);
    let module = &program.modules[ModuleId(0)];
    let known = Known::in_module(&program, module, &module.bodies[0]);
    assert_eq!(
        (known.module, known.name, known.local, known.begins),
        ("m.bc", "f0", false, None)
    );
}
