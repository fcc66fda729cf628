//! Any selections of any control flow: what is selected is counted, what is not runs free, and readers know which is
//! which.

use super::*;
use crate::base::index::{CopyId, LocalId};
use crate::copies::partition::{Assignment, Iterations, Owners, Part, Share, Side};
use crate::copies::plan::build::{copy_plan, function_code};
use crate::copies::plan::interp::{self, Outcome};
use crate::copies::strategy::Scheme;
use crate::input::ir::Cfg;
use crate::paths::dag::edges_through;
use crate::paths::dag::{Path, Shape, choose_cuts};
use crate::paths::function::{Expected, Measuring};
use crate::paths::random_cfg::{Walk, any_cfg, find_retreating_edges, input, paths_of, walk};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The schemes that count paths.
const SCHEMES: [Scheme; 5] = [
    Scheme::P3,
    Scheme::P3Weighted,
    Scheme::P3Hot,
    Scheme::Pbl,
    Scheme::Sbl,
];

fn paths_with_cuts(graph: &Cfg, bits: u32) -> Measuring {
    let cuts = choose_cuts(graph, &Shape::new(graph), 1 << bits);
    let cut = Measuring::from_cfg_with_cuts(graph, cuts).unwrap();
    let apart = cut.choose_apart(graph);
    cut.with_apart(apart)
}

/// As a rewriting assigns the selected paths of its only function.
fn assign_one(
    scheme: Scheme,
    graph: &Cfg,
    paths: &Measuring,
    selection: Selection,
    copies: u32,
) -> (Assignment, Measuring) {
    let (f, selections) = (input(graph), TiVec::from(vec![selection]));
    let mut expected = [Some(Expected::guess(paths))];
    weigh(
        &[Some(Arc::clone(paths.paths()))],
        &mut expected,
        &selections,
    );
    let expected = expected[0].take().unwrap();
    let strategy = scheme.strategy();
    let measured = strategy.measure(&f, paths.paths(), expected, paths.layout());
    let (assignment, mut all) = assign(scheme, &[f], vec![Some(measured)], &selections, copies);
    (assignment, all[0].take().unwrap())
}

fn count_walks(graph: &Cfg, paths: &Measuring, walks: &[Walk]) -> BTreeMap<PathId, u64> {
    let mut ends = find_retreating_edges(graph);
    ends.extend(&paths.cuts);
    ends.sort_unstable();
    let mut counts = BTreeMap::new();
    let all: Vec<Path> = walks
        .iter()
        .flat_map(|w| paths_of(graph, w, &ends))
        .collect();
    for path in all {
        let edges = paths.dag.path_edges(&path).expect("a path of the DAG");
        *counts.entry(paths.id(&edges)).or_default() += 1;
    }
    counts
}

fn walks(graph: &Cfg, choices: &[Vec<u8>]) -> Vec<Walk> {
    choices.iter().filter_map(|c| walk(graph, c)).collect()
}

fn some_edges(edges: usize, numbers: &[usize], most: bool) -> IdSet<EdgeId> {
    let mut set = IdSet::with_capacity(edges);
    set.extend(numbers.iter().map(|i| EdgeId::new(i % edges)));
    if most {
        let mut rest = IdSet::with_all(edges);
        rest.difference_with(&set);
        return rest;
    }
    set
}

/// What the copies count together of what ran, merged as `p3-prof merge` does.
fn merged(graph: &Cfg, paths: &Measuring, share: &Share, walks: &[Walk]) -> BTreeMap<PathId, u64> {
    let (functions, all) = ([input(graph)], [Some(paths.clone())]);
    let mut merged = BTreeMap::new();
    for (copy, part) in share.parts() {
        let plan = copy_plan(&functions, &all, std::slice::from_ref(share), copy);
        let mut outcome = Outcome::default();
        for w in walks {
            interp::run(&plan.functions[0], w, &mut outcome).unwrap();
        }
        let code = function_code(graph, paths, part);
        for (id, n) in outcome.counts {
            let Some(id) = code.ids.canonical_id(paths, LocalId(id)) else {
                assert!(
                    matches!(part, Part::Edges(_)),
                    "only PSPP counts paths that nobody asked for"
                );
                continue;
            };
            let edges = paths.decode(id).unwrap();
            let owners: Vec<CopyId> = Owners(share).copies_counting(id, &edges).collect();
            assert!(
                owners.contains(&copy),
                "a path is counted that is another copy's"
            );
            let before = merged.insert(id, n);
            assert!(before.is_none_or(|b| b == n), "copies disagree");
        }
    }
    merged
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 200 } else { 3000 }))]

    /// Inside and outside any set, by versions: exactly the paths on that side are counted, and a path that takes no
    /// edge of the copy's DAG runs no statement.
    #[test]
    fn sides_count_their_paths(
        graph in any_cfg(18),
        edges in proptest::collection::vec(any::<usize>(), 0..30),
        most in any::<bool>(),
        outside in any::<bool>(),
        bits in 8..20u32,
        choices in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 1..5),
    ) {
        let paths = paths_with_cuts(&graph, bits);
        let iterations = Iterations::new(&graph, &paths);
        let dag = if outside { iterations.dag(&paths) } else { &paths.dag };
        let set = useful_edges(dag, &some_edges(dag.edges().len(), &edges, most));
        prop_assume!(!set.is_empty() && !set.is_full());
        let share = if outside {
            Share::Outside(CopyId(0), set.clone())
        } else {
            Share::Inside(vec![(CopyId(0), set.clone())])
        };
        let counted = CountedPaths::new(&graph, &paths, &share);
        let walks = walks(&graph, &choices);
        let mut wanted = count_walks(&graph, &paths, &walks);
        let all = wanted.clone();
        wanted.retain(|id, _| counted.contain_id(&paths, *id));
        prop_assert_eq!(&merged(&graph, &paths, &share, &walks), &wanted);
        // By definition.
        for id in all.keys() {
            let own = paths.decode(*id).unwrap();
            let local = iterations.path(&own).unwrap();
            let inside = if outside { &local } else { &own };
            let inside = inside.iter().all(|e| set.contains(*e));
            prop_assert_eq!(counted.contain_path(&own), inside != outside);
            let part = share.part_of_copy(CopyId(0)).unwrap();
            let hits = function_code(&graph, &paths, part).hits(&own);
            prop_assert_eq!(hits > 0, inside != outside);
        }
        if paths.numbering.total() <= 2000 {
            let n = paths.ids().filter(|id| counted.contain_id(&paths, *id)).count() as u64;
            prop_assert_eq!(counted.number(&paths), n);
            let mut on_them = paths.dag.edge_set();
            for id in paths.ids().filter(|id| counted.contain_id(&paths, *id)) {
                on_them.extend(paths.decode(id).unwrap());
            }
            // Of what leaves a known sub-DAG the edges before and behind may be more: a path is more than its pieces.
            let edges = counted.edges(&paths);
            prop_assert!(on_them.iter().all(|e| edges.contains(e)));
            if !outside {
                prop_assert_eq!(&edges, &on_them);
            }
        }
    }

    /// Any selection under any scheme, for any number of copies: every selected path has its count, and no other path
    /// than those that readers are told of.
    #[test]
    fn selections_count_what_was_asked_for(
        graph in any_cfg(18),
        edges in proptest::collection::vec(any::<usize>(), 0..30),
        kind in 0..5u8,
        scheme in 0..SCHEMES.len(),
        copies in 1..5u32,
        known in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 1..4),
        choices in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 1..5),
    ) {
        let mut paths = paths_with_cuts(&graph, 18);
        let before = count_walks(&graph, &paths, &walks(&graph, &known));
        let selection = match kind {
            0 => Selection::Edges(some_edges(paths.dag.edges().len(), &edges, true)),
            1 => Selection::Edges(edges_through(&paths.dag, &some_edges(paths.dag.edges().len(), &edges, false))),
            2 => Selection::Paths(before.keys().copied().collect()),
            3 => Selection::Nothing,
            _ => Selection::Known(before.iter().map(|(id, n)| KnownPath(*id, n * 100_000)).collect()),
        };
        let scheme = SCHEMES[scheme];
        let (assignment, measured) = assign_one(scheme, &graph, &paths, selection.clone(), copies);
        paths = measured;
        let share = &assignment.shares[0];
        let counted = CountedPaths::new(&graph, &paths, share);
        let walks = walks(&graph, &choices);
        let ran = count_walks(&graph, &paths, &walks);
        let merged = merged(&graph, &paths, share, &walks);
        for (id, n) in &ran {
            let edges = paths.decode(*id).unwrap();
            let expected = counted.contain_path(&edges).then_some(n);
            prop_assert_eq!(merged.get(id), expected, "{} k={}", scheme, copies);
            prop_assert!(expected.is_some() || !selection.selects_path(*id, &edges));
        }
        prop_assert!(merged.keys().all(|id| ran.contains_key(id)));
        prop_assert!(counted.number(&paths) >= selection.number(&paths));
        // Residual: new paths are those that ran now and did not before.
        if let Selection::Known(_) = &selection {
            let is_new = |id: &&PathId| selection.selects_path(**id, &[]);
            let new: Vec<&PathId> = merged.keys().filter(is_new).collect();
            let difference: Vec<&PathId> = ran.keys().filter(|id| !before.contains_key(id)).collect();
            prop_assert_eq!(new, difference);
        }
    }

    /// A known sub-DAG holds known paths alone, among them the hottest.
    #[test]
    fn known_edges_hold_known_paths(
        graph in any_cfg(14),
        known in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 1..6),
    ) {
        let paths = paths_with_cuts(&graph, 10);
        let ran = count_walks(&graph, &paths, &walks(&graph, &known));
        let known: Vec<KnownPath> = ran.iter().map(|(id, n)| KnownPath(*id, *n)).collect();
        let iterations = Iterations::new(&graph, &paths);
        let set = known::known_edges(&iterations, &paths, &known);
        let inside = |id: &PathId| {
            let local = iterations.path(&paths.decode(*id).unwrap()).unwrap();
            local.iter().all(|e| set.contains(*e))
        };
        let n = paths.ids().filter(&inside).count();
        prop_assert_eq!(n, ran.keys().filter(|id| inside(id)).count());
        let hottest = known.iter().max_by_key(|k| (k.1, std::cmp::Reverse(k.0)));
        prop_assert!(hottest.is_none_or(|k| inside(&k.0)));
    }

    /// The union of two selections selects what either does; between sets of edges it may select more.
    #[test]
    fn unions_select_what_either_does(
        graph in any_cfg(10),
        kinds in (0..5u8, 0..5u8),
        lists in proptest::collection::vec(proptest::collection::vec(any::<usize>(), 0..12), 2),
    ) {
        let paths = paths_with_cuts(&graph, 8);
        let make = |kind: u8, list: &[usize]| {
            let total = paths.numbering.total();
            let mut ids: Vec<PathId> = list.iter().map(|n| PathId(*n as u64 % total)).collect();
            ids.sort_unstable();
            ids.dedup();
            match kind {
                0 => Selection::Nothing,
                1 => Selection::All,
                2 => Selection::Edges(some_edges(paths.dag.edges().len(), list, true)),
                3 => Selection::Paths(ids),
                _ => Selection::Known(ids.into_iter().map(|id| KnownPath(id, 1)).collect()),
            }
        };
        let (a, b) = (make(kinds.0, &lists[0]), make(kinds.1, &lists[1]));
        let both = a.clone().union(b.clone(), &paths);
        let exact = !matches!(both, Selection::Edges(_));
        for id in paths.ids() {
            let edges = paths.decode(id).unwrap();
            let either = a.selects_path(id, &edges) || b.selects_path(id, &edges);
            let selected = both.selects_path(id, &edges);
            let right = selected == either || selected && !exact;
            prop_assert!(right);
            prop_assert_eq!(selected, both.clone().simplify(&paths).selects_path(id, &edges));
        }
    }
}

/// A loop whose iterations are all known, and which is left before they differ, has no code: 0 → 1 → 2 → {3, 4} → 6 →
/// 1, 1 → 5.
#[test]
fn known_iterations_run_no_statement() {
    let graph = crate::paths::random_cfg::cfg(&[&[1], &[2, 5], &[3, 4], &[6], &[6], &[], &[1]]);
    let paths = paths_with_cuts(&graph, 10);
    assert!(!paths.apart.is_empty());
    let iteration = |id: &PathId| {
        let edges = paths.decode(*id).unwrap();
        let path = paths.dag.path(&edges);
        path.start == crate::paths::dag::PathStart::Loop
            && path.end != crate::paths::dag::PathEnd::Exit
    };
    let known = paths
        .ids()
        .filter(iteration)
        .map(|id| KnownPath(id, 1_000_000));
    let known = Selection::Known(known.collect());
    let (assignment, measured) = assign_one(Scheme::Sbl, &graph, &paths, known, 1);
    let Share::Outside(_, set) = &assignment.shares[0] else {
        panic!("{:?}", assignment.shares);
    };
    let paths = measured;
    let side = Part::Side(Side::Outside(set));
    let code = function_code(&graph, &paths, side);
    let local = match &code.ids {
        crate::copies::plan::ids::Ids::Local(local) => local,
        other => panic!("{other:?}"),
    };
    for id in paths.ids().filter(iteration) {
        let prefix = local.prefix(&paths.decode(id).unwrap());
        assert_eq!(code.placement.hits(&prefix), 0, "path {id}");
    }
}

/// Known paths that no set of edges holds without an unknown one run no statement, since each prefix that they share
/// with it has blocks of its own: 0 → {1, 2} → 3 → {4, 5}, where 2 → 3 → 5 is new.
#[test]
fn known_paths_that_close_over_a_new_one_run_no_statement() {
    let graph = crate::paths::random_cfg::cfg(&[&[1, 2], &[3], &[3], &[4, 5], &[], &[]]);
    let paths = paths_with_cuts(&graph, 10);
    let new = PathId(3);
    let known: Vec<PathId> = paths.ids().filter(|id| *id != new).collect();
    assert_eq!(known.len(), 3);
    let with_counts: Vec<KnownPath> = known.iter().map(|id| KnownPath(*id, 1)).collect();
    let set = known::known_edges(&Iterations::new(&graph, &paths), &paths, &with_counts);
    let is_inside = |id: &&PathId| paths.decode(**id).unwrap().iter().all(|e| set.contains(*e));
    assert_eq!(known.iter().filter(is_inside).count(), 2);
    let ranges = ranges::ranges_without_known(&graph, &paths, &with_counts, CopyId(0)).unwrap();
    let share = Share::Ranges(ranges);
    assert!(!share.counts_all(&paths.dag));
    let part = share.part_of_copy(CopyId(0)).unwrap();
    let hits = |id: &PathId| {
        let edges = paths.decode(*id).unwrap();
        function_code(&graph, &paths, part).hits(&edges)
    };
    assert!(known.iter().all(|id| hits(id) == 0));
    assert_eq!(hits(&new), 1);
    let counted = CountedPaths::new(&graph, &paths, &share);
    assert_eq!(counted.number(&paths), 1);
    assert!(counted.contain_id(&paths, new));
}
