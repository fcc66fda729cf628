//! Programs that are deep rather than large, long chains of calls and of blocks, on a small stack.

use super::measurement::{Exact, Measurement};
use super::tests::use_profile;
use super::{Profile, made};
use crate::base::index::{BlockId, CopyId, FuncId, PathId, ti_vec};
use crate::copies::plan::build::copy_plan;
use crate::copies::strategy::Scheme;
use crate::input::ir::{Call, Callee, Cfg};
use crate::paths::function::function_inputs;
use crate::paths::function::made::all_measured as all_paths;
use crate::paths::random_cfg::cfg;

/// A program of functions with this control flow, through all of its stages to a profile in which the first path
/// of each function ran once.
fn profile(cfgs: Vec<Cfg>) -> Profile {
    let program = made::program(cfgs.into_iter().map(made::body));
    let functions = function_inputs(&program);
    let paths = all_paths(&functions);
    let assignment = Scheme::P3.strategy().assign(&functions, &paths, 2);
    for copy in 0..2 {
        let plan = copy_plan(&functions, &paths, &assignment.shares, CopyId(copy));
        assert!(!plan.text(|_| "f").is_empty());
    }
    Profile {
        measured: Measurement::Exact(Exact::Paths(ti_vec![vec![(PathId(0), 1)]; functions.len()])),
        ..made::profile(&program, Scheme::P3, 2)
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
        let call = Call {
            callee,
            span: 0,
            may_leave: false,
        };
        cfg.blocks[BlockId(0)]
            .calls
            .extend((i + 1 < n).then_some(call));
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
