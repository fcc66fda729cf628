//! Which functions may be on the stack when a process forks.

use super::*;
use crate::base::index::CopyId;
use crate::copies::strategy::Scheme;
use crate::input::ir::{Call, Callee, Cfg};
use crate::paths::random_cfg::cfg;
use crate::profile::made;

/// A function of one block that makes these calls.
fn function_with_calls(callees: &[Callee]) -> Cfg {
    let mut graph = cfg(&[&[]]);
    graph.blocks[BlockId(0)].calls = callees
        .iter()
        .map(|callee| Call {
            callee: callee.clone(),
            span: 0,
            may_leave: true,
        })
        .collect();
    graph.blocks[BlockId(0)].may_leave = true;
    graph
}

fn outside_callee(name: &str) -> Callee {
    Callee::External(name.into())
}

/// A program of functions with these calls, of which two children were forked.
fn profile(functions: &[&[Callee]]) -> Profile {
    let bodies = functions
        .iter()
        .map(|calls| made::body(function_with_calls(calls)));
    let mut profile = made::profile(&made::program(bodies), Scheme::Sbl, 1);
    profile.processes[CopyId(0)].runs = 1;
    profile.processes[CopyId(0)].children = 2;
    profile
}

fn forked_functions(profile: &Profile) -> Vec<(u32, u64)> {
    let found = find_forked(profile);
    found.iter().map(|(f, forked)| (f.0, forked.most)).collect()
}

#[test]
fn callers_of_an_uncounted_fork_are_found() {
    let f = |n| Callee::Function(FuncId(n));
    let functions: [&[Callee]; 5] = [
        &[f(1)],
        &[outside_callee("daemon"), outside_callee("read")],
        &[outside_callee("read"), outside_callee("printf")],
        &[f(2)],
        &[f(0), f(2)],
    ];
    let mut profile = profile(&functions);
    assert_eq!(forked_functions(&profile), [(0, 2), (1, 2), (4, 2)]);
    profile.processes[CopyId(0)].children = 0;
    assert_eq!(forked_functions(&profile), []);
}

/// What children of a counted `fork` did is known where they came back to their caller, or did not.
#[test]
fn callers_of_a_counted_fork_are_found_if_children_returned() {
    let f = |n| Callee::Function(FuncId(n));
    let functions: [&[Callee]; 3] = [
        &[outside_callee("fork")],
        &[f(0)],
        &[outside_callee("waitpid")],
    ];
    let mut profile = profile(&functions);
    profile
        .forks
        .insert(FuncId(0), BTreeMap::from([(FORKED, 2)]));
    assert_eq!(forked_functions(&profile), []);
    let one = BTreeMap::from([(FORKED, 2), (RETURNED, 1), (COMPLETED, 1)]);
    profile.forks.insert(FuncId(0), one);
    assert_eq!(forked_functions(&profile), [(1, 1)]);
    // One child is not explained.
    profile
        .forks
        .insert(FuncId(0), BTreeMap::from([(FORKED, 1)]));
    assert_eq!(forked_functions(&profile), [(0, 1), (1, 1)]);
}

#[test]
fn calls_through_pointers_reach_functions_whose_address_is_taken() {
    let functions: [&[Callee]; 3] = [
        &[outside_callee("fork")],
        &[Callee::Indirect],
        &[outside_callee("qsort")],
    ];
    let mut of = profile(&functions);
    // `qsort` may call what is visible, and a pointer may be that of `fork`.
    assert_eq!(forked_functions(&of), [(0, 2), (1, 2), (2, 2)]);
    of.manifest.functions[FuncId(0)].address_taken = true;
    // Several activations may be there: the first calls, in effect, itself.
    assert_eq!(forked_functions(&of), [(0, u64::MAX), (1, 2), (2, 2)]);
    of.manifest.functions[FuncId(0)].address_taken = false;
    for f in 0..2 {
        of.manifest.functions[FuncId(f)].linkage = Linkage::Local;
    }
    assert_eq!(forked_functions(&of), [(0, 2), (1, 2)]);
}

/// Children without handlers, whose number nobody knows: by a name, if its function ran, or by a pointer.
#[test]
fn callers_of_forks_that_are_not_noticed_are_found() {
    let f = |n| Callee::Function(FuncId(n));
    let functions: [&[Callee]; 4] = [
        &[outside_callee("_Fork")],
        &[f(0)],
        &[Callee::Indirect],
        &[outside_callee("daemon")],
    ];
    let mut of = profile(&functions);
    of.processes[CopyId(0)].children = 0;
    assert_eq!(forked_functions(&of), []);
    of.manifest.starters = Some(vec!["_Fork".into(), "pthread_create".into()]);
    assert_eq!(forked_functions(&of), []);
    made::path_counts(&mut of)[FuncId(0)] = made::counts(&[(0, 1)]);
    assert_eq!(forked_functions(&of), [(0, u64::MAX), (1, u64::MAX)]);
    assert_eq!(find_unnoticed(&of).unwrap().symbols, ["_Fork"]);
    of.manifest.starters = Some(vec!["clone".into()]);
    let all = [(0, u64::MAX), (1, u64::MAX), (2, u64::MAX)];
    assert_eq!(forked_functions(&of), all);
    of.manifest.functions[FuncId(3)].name = "clone".into();
    assert_eq!(forked_functions(&of), []);
}

#[test]
fn functions_outside_are_told_apart() {
    let all = [
        "fork",
        "daemon",
        "g_spawn_async",
        "qsort",
        "read",
        "printf",
        "_ZNSo5flushEv",
        "_ZNSt6vectorE",
    ];
    let classes = all.map(classify_symbol);
    use Outside::*;
    assert_eq!(
        classes,
        [
            Forks, Forks, Unknown, CallsBack, Neither, Neither, CallsBack, CallsBack
        ]
    );
}
