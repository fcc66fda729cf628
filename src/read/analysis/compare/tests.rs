//! What differs, and what does not matter.

use super::*;
use crate::base::index::{BlockId, CopyId, FuncId, ti_vec};
use crate::copies::strategy::Scheme;
use crate::input::ir::SkipReason;
use crate::paths::random_cfg::cfg;
use crate::profile::made;
use crate::profile::manifest::{ShareEntry, Status};
use crate::profile::tests::profile;

fn differences(a: &Profile, b: &Profile) -> Vec<String> {
    let line = |finding| match finding {
        Finding::Differs(line) => line,
        Finding::Explained(line) => panic!("explained: {line}"),
    };
    compare(a, b).unwrap().map(line).collect()
}

#[test]
fn equal_profiles_do_not_differ() {
    let a = profile(vec![(0, 1), (3, 5)]);
    let mut b = a.clone();
    b.path = "elsewhere".into();
    b.manifest.copies = 9;
    b.manifest.functions[FuncId(0)].share = ShareEntry::Whole(CopyId(8));
    assert_eq!(differences(&a, &b), [] as [&str; 0]);
}

#[test]
fn paths_that_ran_otherwise() {
    let a = profile(vec![(0, 1), (3, 5), (4, 2)]);
    let b = profile(vec![(1, 7), (3, 6), (4, 2)]);
    let expected = [
        "main, path 0: 1 against 0",
        "main, path 1: 0 against 7",
        "main, path 3: 5 against 6",
    ];
    assert_eq!(differences(&a, &b), expected);
}

#[test]
fn functions_of_one_profile_only() {
    let a = profile(vec![(0, 1)]);
    let mut b = a.clone();
    b.path = "other".into();
    b.manifest.functions[FuncId(0)].name = "nain".into();
    assert_eq!(
        differences(&a, &b),
        ["main: only in m", "nain: only in other"]
    );
}

/// Successors, terminators and cut edges each make it another function's paths.
#[test]
fn other_control_flow_is_not_compared() {
    let a = profile(vec![(0, 1)]);
    let changed = |change: fn(&mut crate::profile::manifest::FunctionEntry)| {
        let mut b = a.clone();
        change(&mut b.manifest.functions[FuncId(0)]);
        differences(&a, &b)
    };
    let other = ["main: different control flow"];
    assert_eq!(changed(|f| f.succs[BlockId(3)] = vec![BlockId(5)]), other);
    assert_eq!(changed(|f| f.terminators.raw.swap(0, 1)), other);
    let cut = |f: &mut crate::profile::manifest::FunctionEntry| {
        f.cuts = vec![crate::base::index::CfgEdge {
            block: BlockId(2),
            succ: 1,
        }];
    };
    assert_eq!(changed(cut), other);
    let skipped = changed(|f| f.status = Status::Skipped(SkipReason::Naked));
    assert_eq!(skipped, ["main: exact against skipped(naked function)"]);
}

/// A function that may be left in block 1, profiled under either kind of scheme, when its paths ran so often.
fn either(counts: [u64; 2]) -> (Profile, Profile) {
    let mut graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
    graph.blocks[BlockId(1)].may_leave = true;
    let program = made::program([made::body(graph)]);
    let mut paths = made::profile(&program, Scheme::Sbl, 1);
    let structure = paths.structure(FuncId(0)).unwrap();
    let ran = (0..).map(PathId).zip(counts).filter(|(_, n)| *n > 0);
    made::path_counts(&mut paths)[FuncId(0)] = ran.collect();
    let entries = ti_vec![Some(counts[0] + counts[1])];
    paths.entries = entries.clone();
    let mut edges = made::profile(&program, Scheme::Edge, 1);
    let counted = edges.counted_edges(FuncId(0), &structure).unwrap();
    let flow = flow(&paths, FuncId(0), &structure).unwrap();
    let ran = counted.iter().map(|e| (e, flow.dag[e]));
    edges.measured =
        Measurement::Exact(Exact::Edges(ti_vec![ran.filter(|(_, n)| *n > 0).collect()]));
    edges.entries = entries;
    (paths, edges)
}

#[test]
fn paths_against_edges() {
    let (paths, edges) = either([4, 3]);
    assert_eq!(differences(&paths, &edges), [] as [&str; 0]);
    assert_eq!(differences(&edges, &edges), [] as [&str; 0]);
    let more = differences(&paths, &either([6, 3]).1);
    let expected = [
        "f0, entries: 7 against 9",
        "f0, edge b0.0: 4 against 6",
        "f0, edge b1.0: 4 against 6",
    ];
    assert_eq!(more, expected);
    let other = differences(&paths, &either([3, 4]).1);
    assert_eq!(other.len(), 4, "every edge, and no entries: {other:?}");
}

#[test]
fn what_is_skipped_has_no_edges_to_compare() {
    let (paths, edges) = either([4, 3]);
    let skipped = |p: &Profile| {
        let mut p = p.clone();
        p.manifest.functions[FuncId(0)].status = Status::Skipped(SkipReason::Naked);
        p
    };
    let one = ["f0: skipped in one of them"];
    assert_eq!(differences(&paths, &skipped(&edges)), one);
    assert_eq!(differences(&skipped(&paths), &edges), one);
    assert_eq!(
        differences(&skipped(&paths), &skipped(&edges)),
        [] as [&str; 0]
    );
}

/// Two of seven activations were left in block 1, as paths tell; edges that lead there were not counted.
#[test]
fn what_was_left_explains_differences() {
    let (mut paths, mut edges) = either([2, 3]);
    (paths.entries, edges.entries) = (ti_vec![Some(7)], ti_vec![Some(7)]);
    let found: Vec<Finding> = compare(&paths, &edges).unwrap().collect();
    let why = "it was left before its end 2 times, and where is not counted";
    let explained = format!("f0: 1 edge differs within bounds: {why}");
    assert_eq!(found, [Finding::Explained(explained)]);
}

#[test]
fn why_counts_are_not_certain() {
    let (paths, _) = either([4, 3]);
    let structure = paths.structure(FuncId(0)).unwrap();
    let flow = flow(&paths, FuncId(0), &structure).unwrap();
    let executed = |again, left| {
        let mut executed = Executed::new(&paths, FuncId(0), &structure, &flow);
        (executed.again, executed.left) = (again, left);
        executed
    };
    let (certain, twice, left) = (executed(false, 0), executed(true, 0), executed(false, 3));
    assert!(explain_uncertainty(&left, &certain).contains(" left before its end 3 times"));
    assert_eq!(
        explain_uncertainty(&certain, &left),
        explain_uncertainty(&left, &certain)
    );
    for (a, b) in [(&twice, &left), (&left, &twice)] {
        assert!(explain_uncertainty(a, b).starts_with("setjmp may return to it again"));
    }
}
