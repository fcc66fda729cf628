//! Profiles of programs that tests make up or load, before anything has run.

use super::Profile;
use super::forks::{AllForked, ForkCounts};
use super::measurement::{Exact, ExactCounts, Measurement};
use super::verdict::{Processes, Verdict};
use crate::base::index::{FuncId, ModuleId, PathId, TiSlice, ti_vec};
use crate::copies::strategy::Scheme;
use crate::input::ir::{Body, Cfg, FunctionBody, Linkage, Module, ProgFunction, Program};
use crate::input::load::positions::Optimised;
use crate::paths::function::function_inputs;
use crate::paths::function::made::all_measured as all_paths;
use crate::profile::manifest::{Manifest, Parts};
use std::collections::BTreeSet;

/// A function with this control flow that anyone may call.
pub(crate) fn body(cfg: Cfg) -> FunctionBody {
    FunctionBody {
        name: String::new(),
        linkage: Linkage::External,
        cfg,
        loc: None,
        skip: None,
        address_taken: false,
        branchless: Vec::new(),
        loops: Vec::new(),
        split_loops: Vec::new(),
        optimised: Optimised::Unknown,
    }
}

/// A program of one module with these functions, called `f0`, `f1` and so on, each called once and a unit of its own.
pub(crate) fn program(bodies: impl IntoIterator<Item = FunctionBody>) -> Program {
    let named = bodies
        .into_iter()
        .enumerate()
        .map(|(i, body)| FunctionBody {
            name: format!("f{i}"),
            ..body
        });
    let module = Module {
        name: "m.bc".into(),
        hash: "0".repeat(64),
        optimized: None,
        bodies: named.collect(),
    };
    Program {
        functions: module.bodies.iter().enumerate().map(function).collect(),
        modules: ti_vec![module],
        ..Program::default()
    }
}

fn function((i, body): (usize, &FunctionBody)) -> ProgFunction {
    let place = Body {
        module: ModuleId(0),
        ordinal: i as u32,
    };
    ProgFunction {
        name: body.name.clone(),
        bodies: vec![place],
        unit: FuncId::new(i),
        call_sites: 1,
        recursive: false,
    }
}

/// Counts of paths by their ids.
pub(crate) fn counts(counts: &[(u64, u64)]) -> Vec<(PathId, u64)> {
    counts.iter().map(|&(id, n)| (PathId(id), n)).collect()
}

/// The counts of a profile of paths.
pub(crate) fn path_counts(profile: &mut Profile) -> &mut ExactCounts<PathId> {
    match &mut profile.measured {
        Measurement::Exact(Exact::Paths(counts)) => counts,
        Measurement::Exact(Exact::Edges(_)) | Measurement::Estimated(_) => {
            panic!("it does not count paths")
        }
    }
}

/// A profile of `program`, without counts, of one run of every copy.
pub(crate) fn profile(program: &Program, scheme: Scheme, copies: u32) -> Profile {
    let functions = function_inputs(program);
    let paths = all_paths(&functions);
    let paths = scheme.strategy().measure_all(&functions, &paths);
    let manifest = Manifest::new(&Parts {
        program,
        paths: TiSlice::from_ref(&paths),
        assignment: &scheme.strategy().assign(&functions, &paths, copies),
        scheme,
        copies,
        asked: None,
        options: "",
    });
    let once = Processes {
        runs: 1,
        ..Processes::default()
    };
    Profile {
        path: "m".into(),
        manifest,
        processes: ti_vec![once; copies as usize],
        sources: Vec::new(),
        verdict: Verdict::default(),
        measured: Measurement::empty(scheme.strategy().measure, functions.len()),
        entries: ti_vec![None; functions.len()],
        forked: AllForked::new(),
        forks: ForkCounts::new(),
        threads: Vec::new(),
        under_way: BTreeSet::new(),
    }
}
