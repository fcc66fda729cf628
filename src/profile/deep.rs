//! Programs that are deep rather than large, long chains of calls and of blocks, on a small stack.

use super::Profile;
use super::tests::use_profile;
use crate::index::{CopyId, FuncId, ModuleId};
use crate::ir::{Body, Call, Callee, Cfg, FunctionBody, Linkage, Module, ProgFunction, Program};
use crate::manifest::{Manifest, Parts};
use crate::partition::{FunctionInput, Scheme, all_paths, assign};
use crate::plan::build::copy_plan;
use crate::random_cfg::cfg;

/// A program of functions with this control flow, through all of its stages to a profile in which the first path
/// of each function ran once.
fn profile(cfgs: Vec<Cfg>) -> Profile {
    let bodies = cfgs.into_iter().enumerate().map(body);
    let module = Module {
        name: "m".into(),
        hash: "0".repeat(64),
        bodies: bodies.collect(),
    };
    let functions = module.bodies.iter().enumerate().map(function).collect();
    let program = Program {
        modules: vec![module],
        functions,
        ..Program::default()
    };
    let functions: Vec<FunctionInput> = program
        .functions
        .iter()
        .map(|f| input(&program, f))
        .collect();
    let paths = all_paths(&functions);
    let assignment = assign(&functions, &paths, Scheme::P3, 2);
    for copy in 0..2 {
        let plan = copy_plan(&functions, &paths, &assignment.shares, CopyId(copy));
        assert!(!plan.text(|_| "f").is_empty());
    }
    let manifest = Manifest::new(&Parts {
        program: &program,
        paths: &paths,
        assignment: &assignment,
        scheme: Scheme::P3,
        copies: 2,
        options: "",
    });
    Profile {
        counts: vec![vec![(0, 1)]; functions.len()],
        entries: vec![None; functions.len()],
        manifest,
        ..super::tests::profile(Vec::new())
    }
}

fn body((i, cfg): (usize, Cfg)) -> FunctionBody {
    FunctionBody {
        name: format!("f{i}"),
        linkage: Linkage::External,
        cfg,
        loc: None,
        skip: None,
        address_taken: false,
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

fn input<'a>(program: &'a Program, f: &ProgFunction) -> FunctionInput<'a> {
    FunctionInput {
        cfg: &program.body_at(f).cfg,
        unit: f.unit,
        call_sites: 1,
        skip: None,
    }
}

/// Does everything with a profile of these functions, on a stack that recursion over all of them would overflow.
fn on_a_small_stack(cfgs: Vec<Cfg>) {
    let thread = std::thread::Builder::new().stack_size(1 << 18);
    let work = thread.spawn(|| use_profile(&profile(cfgs)));
    work.expect("a thread starts").join().expect("it ends");
}

/// Functions of one block, each of which calls the next. (The groups of a million: `ir::callgraph`.)
#[test]
fn a_long_chain_of_calls() {
    let n = 5_000;
    let calling = |i: u32| {
        let mut cfg = cfg(&[&[]]);
        let callee = Callee::Function(FuncId(i + 1));
        let call = Call { callee, span: 0 };
        cfg.blocks[0].calls.extend((i + 1 < n).then_some(call));
        cfg
    };
    on_a_small_stack((0..n).map(calling).collect());
}

/// A function of one branch after the other: far more than 2^62 paths.
#[test]
fn a_long_chain_of_blocks() {
    let n = 100_000;
    let succs: Vec<Vec<u32>> = (0..n)
        .map(|b| match b {
            _ if b + 1 == n => vec![],
            _ if b % 2 == 0 && b + 2 < n => vec![b + 1, b + 2],
            _ => vec![b + 1],
        })
        .collect();
    let succs: Vec<&[u32]> = succs.iter().map(Vec::as_slice).collect();
    on_a_small_stack(vec![cfg(&succs)]);
}
