//! Each violation provoked by counts that break one law, and each excuse that makes it none.

use super::*;
use crate::base::index::{BlockId, CfgEdge, CopyId, EdgeId, FuncId, ti_vec};
use crate::copies::strategy::Scheme;
use crate::input::ir::{Call, Callee, Cfg, FunctionBody, SkipReason};
use crate::paths::dag::{Path, PathEnd, PathStart};
use crate::paths::random_cfg::cfg;
use crate::profile::made;
use crate::profile::manifest::ShareEntry;
use crate::profile::measurement::{Exact, Measurement};
use crate::profile::verdict::Verdict;

/// A function of a program to profile.
struct Function {
    cfg: Cfg,
    linkage: Linkage,
    address_taken: bool,
    skip: Option<SkipReason>,
    unit: u32,
}

/// A function with these successors that anyone may call.
fn function(unit: u32, succs: &[&[u32]]) -> Function {
    Function {
        cfg: cfg(succs),
        linkage: Linkage::External,
        address_taken: false,
        skip: None,
        unit,
    }
}

/// A function with these successors that can only be called from its module.
fn local_function(unit: u32, succs: &[&[u32]]) -> Function {
    Function {
        linkage: Linkage::Local,
        ..function(unit, succs)
    }
}

impl Function {
    fn with_call(mut self, block: usize, callee: u32) -> Self {
        let callee = Callee::Function(FuncId(callee));
        self.cfg.blocks[BlockId::new(block)].calls.push(Call {
            callee,
            span: 0,
            may_leave: false,
        });
        self
    }

    fn may_leave(mut self, block: usize) -> Self {
        self.cfg.blocks[BlockId::new(block)].may_leave = true;
        self
    }

    fn returns_twice(mut self, block: usize) -> Self {
        self.cfg.blocks[BlockId::new(block)].returns_twice = true;
        self
    }

    fn body(&self) -> FunctionBody {
        FunctionBody {
            linkage: self.linkage,
            skip: self.skip,
            address_taken: self.address_taken,
            ..made::body(self.cfg.clone())
        }
    }
}

/// A profile without counts of one run of every copy.
fn profile_under(scheme: Scheme, copies: u32, functions: &[Function]) -> Profile {
    let mut program = made::program(functions.iter().map(Function::body));
    for (entry, f) in program.functions.iter_mut().zip(functions) {
        entry.unit = FuncId(f.unit);
    }
    made::profile(&program, scheme, copies)
}

fn profile(functions: &[Function]) -> Profile {
    profile_under(Scheme::Sbl, 1, functions)
}

/// Counts `n` executions of the path of `f` through `blocks`, from the entry or a loop, to an exit or, with
/// `back`, over the back edge to that block.
fn count(p: &mut Profile, f: u32, start: PathStart, blocks: &[u32], back: Option<u32>, n: u64) {
    let f = FuncId(f);
    let Structure { cfg, paths } = p.structure(f).unwrap();
    let succ = |from: u32, to: u32| {
        let succs = &cfg.block(BlockId(from)).succs;
        succs.iter().position(|s| s.0 == to).expect("an edge") as u32
    };
    let last = *blocks.last().unwrap();
    let end = |to: u32| {
        let edge = CfgEdge {
            block: BlockId(last),
            succ: succ(last, to),
        };
        PathEnd::Back(edge, BlockId(to))
    };
    let path = Path {
        start,
        blocks: blocks.iter().map(|&b| BlockId(b)).collect(),
        succs: blocks.windows(2).map(|w| succ(w[0], w[1])).collect(),
        end: back.map_or(PathEnd::Exit, end),
    };
    let edges = paths.dag.path_edges(&path).expect("a path");
    let counts = &mut made::path_counts(p)[f];
    counts.push((paths.id(&edges), n));
    counts.sort_unstable();
}

/// What is wrong, as function and text.
fn violation_texts(p: &Profile) -> Vec<String> {
    let found = verify(p).unwrap().violations;
    let line = |v: &Violation| format!("{}: {} ({})", v.function, v.what, v.off);
    found.iter().map(line).collect()
}

/// `0 → 1 ⇄ 2, 1 → 3`: a loop and an exit.
const LOOP: &[&[u32]] = &[&[1], &[2, 3], &[1], &[]];

/// Entered by `entered` activations that all go round the loop once, `left` of which return.
fn profile_of_loop(function: Function, entered: u64, left: u64) -> Profile {
    let mut p = profile(&[function]);
    count(&mut p, 0, PathStart::Entry, &[0, 1, 2], Some(1), entered);
    count(&mut p, 0, PathStart::Loop, &[1, 3], None, left);
    p
}

#[test]
fn what_holds_is_no_violation() {
    let report = verify(&profile_of_loop(function(0, LOOP), 5, 5)).unwrap();
    let clean = Findings {
        functions: 1,
        calls_compared: true,
        ..Findings::default()
    };
    assert_eq!(report, clean);
}

#[test]
fn paths_begun_are_not_completed() {
    let expected = [
        "0: 5 back edges lead to block 1, 3 completed paths begin there (2)",
        "0: entered 5 times, left 3 times (2)",
    ];
    assert_eq!(
        violation_texts(&profile_of_loop(function(0, LOOP), 5, 3)),
        expected
    );
}

#[test]
fn paths_completed_were_not_begun() {
    let expected = [
        "0: 3 back edges lead to block 1, 5 completed paths begin there (2)",
        "0: entered 3 times, left 5 times (2)",
    ];
    assert_eq!(
        violation_texts(&profile_of_loop(function(0, LOOP), 3, 5)),
        expected
    );
    // Where control may leave fewer may come out, not more.
    assert_eq!(
        violation_texts(&profile_of_loop(function(0, LOOP).may_leave(2), 3, 5)),
        expected
    );
}

#[test]
fn paths_may_be_abandoned_where_control_may_leave() {
    let report = verify(&profile_of_loop(function(0, LOOP).may_leave(2), 5, 3)).unwrap();
    assert_eq!(report.violations, []);
    assert_eq!(report.abandoned, [(FuncId(0), 2)]);
}

/// After `longjmp` what ran once is in two paths.
#[test]
fn paths_repeat_where_calls_return_twice() {
    for (entered, left) in [(5, 3), (3, 5)] {
        let p = profile_of_loop(function(0, LOOP).returns_twice(2), entered, left);
        assert_eq!(violation_texts(&p), [] as [&str; 0]);
    }
}

/// Two loops in a row: what one lacks the other has too much of, so that entries equal exits.
#[test]
fn every_header_is_checked() {
    let mut p = profile(&[function(0, &[&[1], &[1, 2], &[2, 3], &[]])]);
    count(&mut p, 0, PathStart::Entry, &[0, 1], Some(1), 5);
    count(&mut p, 0, PathStart::Entry, &[0, 1, 2], Some(2), 2);
    count(&mut p, 0, PathStart::Loop, &[1, 2, 3], None, 4);
    count(&mut p, 0, PathStart::Loop, &[2, 3], None, 3);
    let expected = [
        "0: 5 back edges lead to block 1, 4 completed paths begin there (1)",
        "0: 2 back edges lead to block 2, 3 completed paths begin there (1)",
    ];
    assert_eq!(violation_texts(&p), expected);
}

/// Entries are counted beside the paths.
#[test]
fn entries_contradict_paths() {
    let with_entries = |function: Function, entries| {
        let mut p = profile_of_loop(function, 5, 5);
        p.entries[FuncId(0)] = Some(entries);
        violation_texts(&p)
    };
    let many = [
        "0: 4 activations enter block 0, 5 completed paths begin there (1)",
        "0: entered 4 times, left 5 times (1)",
    ];
    assert_eq!(with_entries(function(0, LOOP).may_leave(0), 4), many);
    let few = [
        "0: 7 activations enter block 0, 5 completed paths begin there (2)",
        "0: entered 7 times, left 5 times (2)",
    ];
    assert_eq!(with_entries(function(0, LOOP), 7), few);
    assert_eq!(
        with_entries(function(0, LOOP).may_leave(0), 7),
        [] as [&str; 0]
    );
}

/// A killed process begins more than it ends; a forked child may also end more than it begins.
#[test]
fn processes_in_flight_are_excused() {
    let in_flight = |entered, left, children, cut_short| {
        let mut p = profile_of_loop(function(0, LOOP), entered, left);
        p.processes[CopyId(0)] = Processes {
            runs: 1,
            children,
            cut_short,
            ..Processes::default()
        };
        violation_texts(&p).len()
    };
    assert_eq!(in_flight(5, 3, 0, 1), 0);
    assert_eq!(in_flight(3, 5, 0, 1), 2);
    assert_eq!(in_flight(5, 3, 1, 0), 0);
    assert_eq!(in_flight(3, 5, 1, 0), 0);
}

/// `0 → {1, 2} → 3`. The exit is counted where control may leave, and one of the edges into 3.
const DIAMOND: &[&[u32]] = &[&[1, 2], &[3], &[3], &[]];

fn counted_edges(p: &Profile, f: FuncId) -> Vec<EdgeId> {
    let structure = p.structure(f).unwrap();
    let counted = p.counted_edges(f, &structure).unwrap();
    counted.iter().collect()
}

/// Counts of edges: `exits`, and `arm` on the counted edge of an arm.
fn edge_profile(exits: u64, arm: u64, entries: u64) -> Profile {
    let mut p = profile_under(Scheme::Edge, 1, &[function(0, DIAMOND).may_leave(1)]);
    let counted: Vec<EdgeId> = counted_edges(&p, FuncId(0));
    assert_eq!(counted.len(), 2, "an arm and, after it, the exit");
    p.measured = Measurement::Exact(Exact::Edges(ti_vec![vec![
        (counted[0], arm),
        (counted[1], exits)
    ]]));
    p.entries[FuncId(0)] = Some(entries);
    p
}

#[test]
fn edges_do_not_add_up() {
    assert_eq!(violation_texts(&edge_profile(5, 2, 5)), [] as [&str; 0]);
    let expected =
        ["0: counts of edges do not add up, although every activation reached an exit (0)"];
    assert_eq!(violation_texts(&edge_profile(2, 5, 2)), expected);
    // Three activations were left on their way to an exit.
    let report = verify(&edge_profile(2, 5, 5)).unwrap();
    assert_eq!((report.violations, report.uncertain), (Vec::new(), 1));
    assert_eq!(report.abandoned, [(FuncId(0), 3)]);
    let mut killed = edge_profile(2, 5, 2);
    killed.processes[CopyId(0)].cut_short = 1;
    assert_eq!(violation_texts(&killed), [] as [&str; 0]);
}

#[test]
fn edges_that_nobody_counts_are_refused() {
    let mut p = edge_profile(5, 2, 5);
    p.measured = Measurement::Exact(Exact::Edges(ti_vec![vec![(EdgeId(0), 5)]]));
    let error = verify(&p).unwrap_err().to_string();
    assert!(error.contains("edge 0 is not counted"), "{error}");
}

#[test]
fn sums_that_overflow_are_refused() {
    let mut p = profile(&[function(0, DIAMOND)]);
    count(&mut p, 0, PathStart::Entry, &[0, 1, 3], None, u64::MAX);
    count(&mut p, 0, PathStart::Entry, &[0, 2, 3], None, 1);
    let error = verify(&p).unwrap_err().to_string();
    assert!(error.contains("a count overflows"), "{error}");
}

/// `caller` runs its only block `calls` times and calls function 1 there; that is entered `entered` times.
fn profile_of_call(caller: Function, callee: Function, calls: u64, entered: u64) -> Profile {
    let mut p = profile(&[caller.with_call(0, 1), callee]);
    count(&mut p, 0, PathStart::Entry, &[0], None, calls);
    count(&mut p, 1, PathStart::Entry, &[0], None, entered);
    p
}

const BLOCK: &[&[u32]] = &[&[]];

#[test]
fn calls_contradict_entries() {
    let p = |calls, entered| {
        profile_of_call(function(0, BLOCK), local_function(1, BLOCK), calls, entered)
    };
    assert_eq!(violation_texts(&p(5, 5)), [] as [&str; 0]);
    for (calls, entered) in [(5, 3), (3, 5)] {
        let expected = format!(
            "1: called {calls} times by completed paths (and at most 0 by others), entered {entered} times (2)"
        );
        assert_eq!(violation_texts(&p(calls, entered)), [expected]);
    }
    // One call site more, and it is called twice as often.
    let twice = profile_of_call(
        function(0, BLOCK).with_call(0, 1),
        local_function(1, BLOCK),
        3,
        6,
    );
    assert_eq!(violation_texts(&twice), [] as [&str; 0]);
}

/// Abandoned paths may have called or not.
#[test]
fn abandoned_callers_leave_a_range() {
    let entered = |entered| {
        let mut p = profile_of_call(
            function(0, BLOCK).may_leave(0),
            local_function(1, BLOCK),
            5,
            entered,
        );
        p.entries[FuncId(0)] = Some(7);
        violation_texts(&p)
    };
    for n in 5..=7 {
        assert_eq!(entered(n), [] as [&str; 0]);
    }
    let line = |entered, off| {
        [format!(
            "1: called 5 times by completed paths (and at most 2 by others), entered {entered} times ({off})"
        )]
    };
    assert_eq!(entered(4), line(4, 1));
    assert_eq!(entered(9), line(9, 2));
}

/// Who else may call, or which body runs, is not known.
#[test]
fn calls_that_say_nothing_are_not_compared() {
    let pointed_to = Function {
        address_taken: true,
        ..local_function(1, BLOCK)
    };
    for callee in [function(1, BLOCK), pointed_to, local_function(0, BLOCK)] {
        let p = profile_of_call(function(0, BLOCK), callee, 5, 3);
        assert_eq!(violation_texts(&p), [] as [&str; 0]);
    }
    let again = profile_of_call(
        function(0, BLOCK).returns_twice(0),
        local_function(1, BLOCK),
        5,
        3,
    );
    assert_eq!(violation_texts(&again), [] as [&str; 0]);
    let skipped = Function {
        skip: Some(SkipReason::Naked),
        ..function(0, BLOCK)
    };
    let mut p = profile(&[skipped.with_call(0, 1), local_function(1, BLOCK)]);
    count(&mut p, 1, PathStart::Entry, &[0], None, 3);
    let report = verify(&p).unwrap();
    assert_eq!((report.violations, report.functions), (Vec::new(), 1));
}

/// Calls of a function whose edge counts may be off are not known.
#[test]
fn uncertain_callers_are_not_compared() {
    let functions = || {
        [
            function(0, DIAMOND).may_leave(1).with_call(3, 1),
            local_function(1, BLOCK),
        ]
    };
    let p = |entries| {
        let mut p = profile_under(Scheme::Edge, 1, &functions());
        let counted = [(0, &[2, 5][..]), (1, &[3])].map(|(f, counts)| {
            let edges = counted_edges(&p, FuncId(f));
            assert_eq!(edges.len(), counts.len());
            edges.into_iter().zip(counts.iter().copied()).collect()
        });
        p.measured = Measurement::Exact(Exact::Edges(Vec::from(counted).into()));
        p.entries[FuncId(0)] = Some(entries);
        violation_texts(&p)
    };
    assert_eq!(
        p(5),
        ["1: called 5 times by completed paths (and at most 0 by others), entered 3 times (2)"]
    );
    assert_eq!(p(6), [] as [&str; 0]);
}

/// Copies that are missing or were killed: what they took part in is not compared.
#[test]
fn copies_that_did_not_run_through_are_excused() {
    let p = || {
        let functions = [function(0, BLOCK).with_call(0, 1), local_function(1, BLOCK)];
        let mut p = profile_under(Scheme::Pbl, 2, &functions);
        for (f, copy) in p.manifest.functions.iter_mut().zip([CopyId(0), CopyId(1)]) {
            f.share = ShareEntry::Whole(copy);
        }
        count(&mut p, 0, PathStart::Entry, &[0], None, 5);
        count(&mut p, 1, PathStart::Entry, &[0], None, 3);
        p
    };
    assert_eq!(violation_texts(&p()).len(), 1);
    for copy in 0..2 {
        let mut killed = p();
        killed.processes[CopyId(copy)].cut_short = 1;
        let report = verify(&killed).unwrap();
        assert_eq!((report.violations, report.calls_compared), (vec![], false));
        // Five calls and three entries, by processes of which one was killed: it is told.
        assert_eq!(
            report.apart,
            UnexplainedEntries {
                functions: 1,
                most: 2
            }
        );
        // More than a stack holds: the copies ran differently.
        count(&mut killed, 0, PathStart::Entry, &[0], None, 5 + (1 << 24));
        let report = verify(&killed).unwrap();
        assert_eq!(report.violations.len(), 1);
        assert!(
            report.violations[0]
                .what
                .ends_with("copies ran differently")
        );
        assert_eq!(report.apart, UnexplainedEntries::default());
        let mut missing = p();
        missing.processes[CopyId(copy)] = Processes::default();
        missing.verdict = Verdict::of_processes(&missing.manifest, &missing.processes);
        let report = verify(&missing).unwrap();
        assert_eq!((report.violations, report.calls_compared), (vec![], false));
        assert_eq!((report.functions, report.unchecked), (1, 1));
        assert_eq!(report.apart, UnexplainedEntries::default());
    }
    let mut one = p();
    one.processes[CopyId(0)].cut_short = 1;
    one.manifest.functions[FuncId(1)].share = ShareEntry::Whole(CopyId(0));
    let report = verify(&one).unwrap();
    assert_eq!(
        (report.violations, report.apart),
        (vec![], UnexplainedEntries::default())
    );
}

/// A caller and its callee in different copies agree where calls are entries; where they are not, nobody knows which is
/// wrong. Functions that nothing was compared with are not said to agree.
#[test]
fn functions_that_copies_agree_on_are_counted() {
    let functions = [
        function(0, BLOCK).with_call(0, 1).with_call(0, 2),
        local_function(1, BLOCK),
        local_function(2, BLOCK),
        function(3, BLOCK),
    ];
    let agreeing = |entered: u64, copies: [u32; 4]| {
        let mut p = profile_under(Scheme::Pbl, 2, &functions);
        for (f, copy) in p.manifest.functions.iter_mut().zip(copies) {
            f.share = ShareEntry::Whole(CopyId(copy));
        }
        for (f, n) in [(0, 5), (1, 5), (2, entered), (3, 9)] {
            count(&mut p, f, PathStart::Entry, &[0], None, n);
        }
        verify(&p).unwrap().agreeing
    };
    assert_eq!(agreeing(5, [0, 1, 1, 0]), 3);
    assert_eq!(agreeing(5, [0, 1, 0, 1]), 2);
    assert_eq!(agreeing(4, [0, 1, 1, 0]), 1);
    assert_eq!(agreeing(5, [0, 0, 0, 0]), 0);
}
