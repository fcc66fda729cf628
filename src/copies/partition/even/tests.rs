//! `p3-weighted`: when it splits, and that it is no worse than the other schemes by its own costs.

use super::*;
use crate::base::index::{BlockId, CopyId, FuncId, IdSet};
use crate::copies::partition::Share;
use crate::copies::partition::cost::{ELSEWHERE, WHOLE};
use crate::copies::strategy::Scheme;
use crate::input::ir::{Call, Callee, Cfg, SkipReason};
use crate::paths::function::made::all_measured as all_paths;
use crate::paths::function::{FunctionInput, Measuring};
use crate::paths::random_cfg::{any_cfg, cfg};
use proptest::prelude::*;

fn inputs(graphs: &[Cfg]) -> Vec<FunctionInput<'_>> {
    let input = |(i, cfg)| FunctionInput {
        cfg,
        unit: FuncId::new(i),
        call_sites: 1,
        skip: None,
    };
    graphs.iter().enumerate().map(input).collect()
}

/// The load of the busiest copy when `shares` are charged as p3-weighted charges its own.
fn busiest(
    functions: &[FunctionInput],
    paths: &[Option<Measuring>],
    shares: &[Share],
    copies: u32,
) -> u64 {
    let units = Units::new(functions, paths, Costs::hits, copies);
    units.union_load(shares).into_iter().max().expect("a copy")
}

fn is_split(share: &Share) -> bool {
    matches!(share, Share::Split(_))
}

/// Takes the weights for those of a profile with so many entries.
fn measure(paths: &mut Measuring, entries: f64) {
    paths.measured = true;
    paths.weights.iter_mut().for_each(|w| *w *= entries);
}

/// Adds calls: of which function, in which of its blocks, of whom (each modulo how many there are).
fn with_calls(mut graphs: Vec<Cfg>, calls: &[(usize, usize, u32)]) -> Vec<Cfg> {
    let functions = graphs.len() as u32;
    for &(f, b, callee) in calls {
        let f = f % graphs.len();
        let blocks = &mut graphs[f].blocks;
        let b = b % blocks.len();
        blocks[BlockId::new(b)].calls.push(Call {
            callee: Callee::Function(FuncId(callee % functions)),
            span: 0,
            may_leave: false,
        });
    }
    graphs
}

/// Two loops in a row, and nothing else to do for the second copy.
#[test]
fn the_only_function_is_split() {
    let graphs = [cfg(&[&[1], &[1, 2], &[2, 3], &[]])];
    let functions = inputs(&graphs);
    let paths = all_paths(&functions);
    let assignment = Scheme::P3Weighted.strategy().assign(&functions, &paths, 2);
    assert!(is_split(&assignment.shares[0]), "{assignment:?}");
    let pbl = Scheme::Pbl.strategy().assign(&functions, &paths, 2).shares;
    let weighted = assignment.load.iter().max().unwrap();
    assert!(*weighted < busiest(&functions, &paths, &pbl, 2));
}

/// A function that is measured to run a thousand times as much as the others is split, the others are not;
/// when all run alike, none is.
#[test]
fn what_is_hot_is_split() {
    let two_loops = cfg(&[&[1], &[1, 2], &[2, 3], &[]]);
    let graphs = [two_loops.clone(), two_loops.clone(), two_loops];
    let functions = inputs(&graphs);
    let mut paths = all_paths(&functions);
    for (p, times) in paths.iter_mut().flatten().zip([1.0, 1000.0, 1.0]) {
        measure(p, times);
    }
    let split = |paths: &[Option<Measuring>], copies| -> Vec<bool> {
        let shares = Scheme::P3Weighted
            .strategy()
            .assign(&functions, paths, copies)
            .shares;
        shares.iter().map(is_split).collect()
    };
    assert_eq!(split(&paths, 2), [false, true, false]);
    paths[1] = paths[0].clone();
    assert_eq!(split(&paths, 3), [false, false, false]);
}

/// What is called from many places is not split by p3, by p3-weighted it is.
#[test]
fn call_sites_do_not_keep_it_from_splitting() {
    let graphs = [cfg(&[&[1], &[1, 2], &[2, 3], &[]])];
    let mut functions = inputs(&graphs);
    functions[0].call_sites = 7;
    let paths = all_paths(&functions);
    let share = |scheme: Scheme| scheme.strategy().assign(&functions, &paths, 2).shares[0].clone();
    assert!(!is_split(&share(Scheme::P3)));
    assert!(is_split(&share(Scheme::P3Weighted)));
}

/// A row of diamonds: as many labels.
fn diamonds(n: u32) -> Cfg {
    let arms = |i: u32| [vec![3 * i + 1, 3 * i + 2], vec![3 * i + 3], vec![3 * i + 3]];
    let blocks: Vec<Vec<u32>> = (0..n).flat_map(arms).chain([vec![]]).collect();
    cfg(&blocks.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// By hits, longest first makes 3 + 2 + 2 and 3 + 2. By labels it makes 3 + 3 and 2 + 2 + 2, of 7 and 8 labels.
#[test]
fn pbl_is_taken_where_it_is_evener_by_luck() {
    let graphs = [6, 4, 3, 1, 1].map(diamonds);
    let functions = inputs(&graphs);
    let mut paths = all_paths(&functions);
    for (p, hits) in paths.iter_mut().flatten().zip([2.0, 3.0, 3.0, 2.0, 2.0]) {
        measure(p, 0.0);
        *p.weights.last_mut().unwrap() = hits; // the only edge to EXIT
    }
    let shares = |scheme: Scheme| scheme.strategy().assign(&functions, &paths, 2).shares;
    assert_eq!(shares(Scheme::P3Weighted), shares(Scheme::Pbl));
    let load = Scheme::P3Weighted
        .strategy()
        .assign(&functions, &paths, 2)
        .load;
    for (load, labels) in load.iter().zip([8.0, 7.0]) {
        let expected = WHOLE * (0.5 + ELSEWHERE * labels / 15.0);
        assert!(load.abs_diff(expected as u64) < 10, "{load}, {expected}");
    }
}

/// The load that it gives is that of what the copies have.
#[test]
fn the_load_is_that_of_the_shares() {
    let graphs = [
        cfg(&[&[1], &[1, 2], &[2, 3], &[]]),
        cfg(&[&[1, 2], &[2], &[]]),
    ];
    let mut functions = inputs(&graphs);
    let paths = all_paths(&functions);
    let assignment = Scheme::P3Weighted.strategy().assign(&functions, &paths, 3);
    let units = Units::new(&functions, &paths, Costs::hits, 3);
    assert_eq!(assignment.load, units.union_load(&assignment.shares));
    // What is skipped is nobody's, and costs nothing.
    functions[1].skip = Some(SkipReason::Naked);
    let assignment = Scheme::P3Weighted
        .strategy()
        .assign(&functions, &all_paths(&functions), 3);
    assert_eq!(assignment.shares[1], Share::Nothing);
    assert_eq!(assignment.tasks[1], 0);
}

/// A function without a profile is taken for an average one of those with.
#[test]
fn what_was_not_measured_is_average() {
    let graphs = [1, 1, 5].map(diamonds);
    let functions = inputs(&graphs);
    let mut paths = all_paths(&functions);
    for (p, hits) in paths.iter_mut().flatten().zip([2.0, 6.0]) {
        measure(p, 0.0);
        *p.weights.last_mut().unwrap() = hits;
    }
    let units = Units::new(&functions, &paths, Costs::hits, 1);
    for (cost, [hits, labels]) in units.cost.iter().zip([[2.0, 1.0], [6.0, 1.0], [4.0, 5.0]]) {
        let expected = WHOLE * (hits / 12.0 + ELSEWHERE * labels / 7.0);
        assert!(cost.abs_diff(expected as u64) < 100, "{:?}", units.cost);
    }
}

/// What cannot be tried in reasonable time stays whole: 1024 tasks of 70,000 edges.
#[test]
fn what_is_too_large_to_split_stays_whole() {
    let graphs = [cfg(&[&[1; 70_000], &[]])];
    let functions = inputs(&graphs);
    let paths = all_paths(&functions);
    let shares = |copies| {
        Scheme::P3
            .strategy()
            .assign(&functions, &paths, copies)
            .shares
    };
    assert_eq!(shares(1024), [Share::Whole(CopyId(0))]);
    assert!(is_split(&shares(2)[0]));
}

/// Alone, a copy has all tasks of a function, and so the whole.
#[test]
fn one_copy_has_it_whole() {
    let graphs = [cfg(&[&[1], &[1, 2], &[2, 3], &[]])];
    let functions = inputs(&graphs);
    let assignment = Scheme::P3
        .strategy()
        .assign(&functions, &all_paths(&functions), 1);
    assert_eq!(assignment.tasks, [3]);
    assert_eq!(assignment.shares, [Share::Whole(CopyId(0))]);
}

#[test]
fn the_first_copy_of_a_share() {
    let set = || IdSet::with_capacity(1);
    let split = Share::Split(vec![(CopyId(2), set()), (CopyId(3), set())]);
    assert_eq!(Share::Nothing.first_copy(), None);
    assert_eq!(Share::Whole(CopyId(1)).first_copy(), Some(CopyId(1)));
    assert_eq!(split.first_copy(), Some(CopyId(2)));
}

proptest! {
    /// Static and measured weights, calls and all.
    #[test]
    fn weighted_is_no_worse_than_whole_functions(
        graphs in proptest::collection::vec(any_cfg(12), 1..6),
        calls in proptest::collection::vec((0..6usize, 0..12usize, 0..6u32), 0..12),
        measured in proptest::option::of(proptest::collection::vec(0..1000u32, 6)),
        copies in 1..6u32,
    ) {
        let graphs = with_calls(graphs, &calls);
        let functions = inputs(&graphs);
        let mut paths = all_paths(&functions);
        for (p, &times) in paths.iter_mut().flatten().zip(measured.iter().flatten()) {
            measure(p, f64::from(times));
        }
        let load = |scheme: Scheme| {
            let shares = scheme.strategy().assign(&functions, &paths, copies).shares;
            busiest(&functions, &paths, &shares, copies)
        };
        let weighted = load(Scheme::P3Weighted);
        prop_assert!(weighted <= load(Scheme::Sbl), "sbl {}", load(Scheme::Sbl));
        prop_assert!(weighted <= load(Scheme::Pbl), "{weighted}, pbl {}", load(Scheme::Pbl));
    }
}
