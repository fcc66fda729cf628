//! The function of the same module and name, else of the same name where that is one function.

use super::*;
use crate::index::{BlockId, FuncId, ModuleId};
use crate::ir::{Body, SkipReason};
use crate::manifest::Status;
use crate::profile::made;
use crate::random_cfg::cfg;
use crate::strategy::Scheme;

const GRAPH: &[&[u32]] = &[&[1, 2], &[3], &[3], &[]];

/// Functions `f0`, `f1`, each in a module of its own, `m0` and `m1`, with these names.
fn profile(names: [&str; 2], linkage: Linkage) -> Profile {
    let bodies = (0..2).map(|_| made::body(cfg(GRAPH)));
    let mut p = made::profile(&made::program(bodies), Scheme::Sbl, 1);
    let mut second = p.manifest.modules[ModuleId(0)].clone();
    (p.manifest.modules[ModuleId(0)].name, second.name) = ("m0".into(), "m1".into());
    p.manifest.modules.push(second);
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

fn find(p: &Profile, module: &str, name: &str, local: bool) -> Match {
    let cfg = cfg(GRAPH);
    Index::new(p).find(&Known {
        module,
        name,
        local,
        cfg: &cfg,
    })
}

#[test]
fn by_module_and_name() {
    let p = profile(["f", "f"], Linkage::Local);
    assert_eq!(find(&p, "m0", "f", true), Match::Same(FuncId(0)));
    assert_eq!(find(&p, "m1", "f", true), Match::Same(FuncId(1)));
    assert_eq!(find(&p, "m1", "g", true), Match::Unknown);
    assert_eq!(find(&p, "renamed", "f", true), Match::Unknown);
    assert_eq!(
        find(&p, "renamed", "f", false),
        Match::Unknown,
        "both are local"
    );
}

#[test]
fn by_name_where_modules_were_renamed() {
    let p = profile(["f", "g"], Linkage::External);
    assert_eq!(find(&p, "renamed", "g", false), Match::Same(FuncId(1)));
    assert_eq!(
        find(&p, "renamed", "g", true),
        Match::Unknown,
        "local to one of two modules"
    );
    let mut alone = profile(["f", "g"], Linkage::Local);
    alone.manifest.modules.pop();
    alone.manifest.functions[FuncId(1)].bodies[0].module = ModuleId(0);
    assert_eq!(find(&alone, "renamed", "g", true), Match::Same(FuncId(1)));
}

#[test]
fn other_control_flow() {
    let shaped = |change: fn(&mut FunctionEntry)| {
        let mut p = profile(["f", "g"], Linkage::External);
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
fn the_one_of_this_shape() {
    let mut p = profile(["f", "f"], Linkage::External);
    p.manifest.functions[FuncId(0)].succs[BlockId(1)] = vec![BlockId(2)];
    assert_eq!(find(&p, "renamed", "f", false), Match::Same(FuncId(1)));
    p.manifest.functions[FuncId(1)].bodies[0].module = ModuleId(0);
    assert_eq!(find(&p, "m0", "f", false), Match::Same(FuncId(1)));
}

#[test]
fn what_is_known_of_a_function() {
    let p = profile(["f", "g"], Linkage::Local);
    let cfg = cfg(GRAPH);
    let known = Known::of(&p.manifest, FuncId(1), &cfg);
    assert_eq!((known.module, known.name, known.local), ("m1", "g", true));
    let p = profile(["f", "g"], Linkage::Mergeable);
    assert!(!Known::of(&p.manifest, FuncId(1), &cfg).local);
    let program = made::program([made::body(cfg.clone())]);
    let module = &program.modules[ModuleId(0)];
    let known = Known::in_module(module, &module.bodies[0]);
    assert_eq!(
        (known.module, known.name, known.local),
        ("m.bc", "f0", false)
    );
}
