//! Properties of partitions, and of everything from shares to counts: plans of all copies,
//! interpreted on random walks, must give back the paths of the walks.

use super::*;
use crate::base::index::{BlockId, CfgEdge, CopyId, EdgeId, IdSet, LocalId, PathId, TiVec, ti_vec};
use crate::copies::plan::Table;
use crate::copies::plan::build::{copy_plan, function_code};
use crate::copies::plan::interp::{self, Outcome};
use crate::copies::strategy::{Measure, Scheme};
use crate::input::ir::Cfg;
use crate::paths::dag::reduced::Reduced;
use crate::paths::dag::{Dag, EdgeKind, Path, Shape};
use crate::paths::function::made::all_measured as all_paths;
use crate::paths::function::{Counted, Measuring};
use crate::paths::numbering::{MAX_ARRAY_SLOTS, ball_larus, enumerate, pspp};
use crate::paths::random_cfg::{Walk, any_cfg, cfg, find_retreating_edges, input, paths_of, walk};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[test]
fn longest_processing_time_first() {
    let d = distribute(&[7, 3, 5, 5, 4, 0], 2);
    assert_eq!(
        d.copy.iter().map(|c| c.0).collect::<Vec<_>>(),
        [0, 1, 1, 1, 0, 0]
    );
    assert_eq!(d.load.raw, [11, 13]);
}

/// Edges are counted as far as needed: all where calls return twice, exits where control may leave, else
/// those outside a tree. What cannot be reached does not matter.
#[test]
fn control_flow_decides_which_edges_are_counted() {
    let plain = cfg(&[&[1, 2], &[3], &[3], &[], &[3]]);
    let mut left = plain.clone();
    left.blocks[BlockId(1)].may_leave = true;
    let mut twice = plain.clone();
    twice.blocks[BlockId(1)].returns_twice = true;
    let mut unreachable = plain.clone();
    unreachable.blocks[BlockId(4)].may_leave = true;
    unreachable.blocks[BlockId(4)].returns_twice = true;
    // ENTRY→0, 0→1, 0→2, 2→3, 1→3, 3→EXIT
    let cases = [
        (plain, false, vec![3, 4]),
        (left, true, vec![4, 5]),
        (twice, false, vec![1, 2, 3, 4, 5]),
        (unreachable, false, vec![3, 4]),
    ];
    for (graph, may_be_left, counted) in cases {
        let paths = Measuring::from_cfg(&graph).counting_edges(&graph);
        assert_eq!(paths.may_be_left(&graph), may_be_left);
        let Counted::Edges(edges) = paths.counted else {
            panic!("edges are counted")
        };
        assert_eq!(edges.iter().map(EdgeId::index).collect::<Vec<_>>(), counted);
    }
}

/// The least load of the busiest copy, by trying every distribution.
fn optimum(costs: &[u64], load: &mut [u64]) -> u64 {
    let Some((&cost, rest)) = costs.split_first() else {
        return load.iter().copied().max().expect("at least one copy");
    };
    let mut best = u64::MAX;
    for c in 0..load.len() {
        load[c] += cost;
        best = best.min(optimum(rest, load));
        load[c] -= cost;
        if load[c] == 0 {
            break; // the copies behind it have nothing either: the same again
        }
    }
    best
}

/// Graham 1969: where the bound is reached. Two of each of `2k - 1 .. k + 1` and three times `k` make
/// 4k − 1 on the busiest copy, and could make 3k on each.
#[test]
fn longest_first_reaches_its_bound() {
    for k in 2..=4u64 {
        let pairs = (k + 1..2 * k).rev().flat_map(|cost| [cost; 2]);
        let costs: Vec<u64> = pairs.chain([k; 3]).collect();
        let found = distribute(&costs, k as u32).load.into_iter().max();
        assert_eq!(found, Some(4 * k - 1));
        assert_eq!(optimum(&costs, &mut vec![0; k as usize]), 3 * k);
    }
}

proptest! {
    /// Whatever tasks really cost: a copy has part of what one of half as many has, and none is idle that could do
    /// something.
    #[test]
    fn twice_as_many_copies_are_parts(costs in proptest::collection::vec(1u64..100, 0..40), half in 1u32..9) {
        let (few, many) = (distribute_by_halves(&costs, half), distribute_by_halves(&costs, half * 2));
        prop_assert_eq!(many.load.len(), half as usize * 2);
        let mut load = ti_vec![0; many.load.len()];
        let mut part_of: TiVec<CopyId, Option<CopyId>> = ti_vec![None; many.load.len()];
        for (t, c) in many.copy.iter().enumerate() {
            let before = *part_of[*c].get_or_insert(few.copy[t]);
            prop_assert_eq!(before, few.copy[t]);
            load[*c] += costs[t];
        }
        prop_assert_eq!(&load, &many.load);
        let idle = part_of.iter().filter(|p| p.is_none()).count();
        prop_assert_eq!(idle, part_of.len().saturating_sub(costs.len()));
        prop_assert_eq!(distribute_by_halves(&costs, 1).load.raw, vec![costs.iter().sum::<u64>()]);
        prop_assert_eq!(distribute_by_halves(&costs, 7), distribute(&costs, 7));
    }
}

/// One large task takes one copy, and the other copies share the rest.
#[test]
fn a_large_task_leaves_no_copy_idle() {
    let spread = distribute_by_halves(&[100, 5, 6, 7], 4);
    assert_eq!(spread.load.raw, [100, 7, 6, 5]);
}

/// Two loops in a row: three starts of paths, so three tasks.
#[test]
fn loops_make_a_procedure_profitable() {
    let graph = cfg(&[&[1], &[1, 2], &[2, 3], &[]]);
    let functions = [input(&graph)];
    let assignment = Scheme::P3
        .strategy()
        .assign(&functions, &all_paths(&functions), 2);
    assert_eq!(assignment.tasks, [3]);
    assert!(matches!(&assignment.shares[0], Share::Split(s) if s.len() == 2));
}

#[test]
fn functions_of_one_unit_stay_together() {
    let (a, b) = (
        cfg(&[&[1], &[1, 2], &[]]),
        cfg(&[&[1], &[1, 2], &[2, 3], &[]]),
    );
    let functions = [input(&a), input(&b)];
    let assignment = Scheme::P3
        .strategy()
        .assign(&functions, &all_paths(&functions), 4);
    assert!(matches!(assignment.shares[0], Share::Whole(_)));
    assert_eq!(assignment.shares[0], assignment.shares[1]);
}

/// Counts by canonical id from one copy's plan over walks.
fn profile(
    graph: &Cfg,
    part: Part,
    plan: &crate::copies::plan::FunctionPlan,
    paths: &Measuring,
    walks: &[Walk],
) -> (BTreeMap<PathId, u64>, u64) {
    let mut outcome = Outcome::default();
    for w in walks {
        interp::run(plan, w, &mut outcome).unwrap();
    }
    let code = function_code(graph, paths, part);
    let canonical =
        |(&id, &count): (&u64, &u64)| Some((code.ids.canonical_id(paths, LocalId(id))?, count));
    (
        outcome.counts.iter().filter_map(canonical).collect(),
        outcome.hits,
    )
}

/// By definition: the paths of the walks, by canonical id.
fn expected_counts(paths: &Measuring, all: &[Path]) -> BTreeMap<PathId, u64> {
    let mut counts = BTreeMap::new();
    for p in all {
        let edges = paths.dag.path_edges(p).expect("path of the DAG");
        *counts.entry(paths.id(&edges)).or_default() += 1;
    }
    counts
}

/// Merges as `p3-prof merge` does: the owner's count, which the others must confirm.
fn check_scheme(
    graph: &Cfg,
    paths: &[Option<Measuring>],
    walks: &[Walk],
    wanted: &BTreeMap<PathId, u64>,
    scheme: Scheme,
    copies: u32,
) -> Result<(), TestCaseError> {
    let functions = [input(graph)];
    let only = paths[0].as_ref().unwrap();
    let assignment = scheme.strategy().assign(&functions, paths, copies);
    let mut merged: BTreeMap<PathId, u64> = BTreeMap::new();
    for copy in (0..copies).map(CopyId) {
        let plan = copy_plan(&functions, paths, &assignment.shares, copy);
        let Some(plan) = plan.functions.first() else {
            continue;
        };
        let part = assignment.shares[0].part_of_copy(copy).unwrap();
        for (id, count) in profile(graph, part, plan, only, walks).0 {
            let edges = only.decode(id).unwrap();
            let counting: Vec<CopyId> = Owners(&assignment.shares[0])
                .copies_counting(id, &edges)
                .collect();
            prop_assert!(counting.contains(&copy));
            let before = merged.insert(id, count);
            prop_assert!(before.is_none_or(|b| b == count), "copies disagree");
        }
    }
    prop_assert_eq!(&merged, wanted, "{} k={}", scheme, copies);
    Ok(())
}

/// 0 → a₀ ◇ a₁ ◇ … ◇ aₙ → a₀ or out
fn loop_of_diamonds(n: u32) -> Cfg {
    let arms = |i: u32| [vec![3 * i + 2, 3 * i + 3], vec![3 * i + 4], vec![3 * i + 4]];
    let diamonds = (0..n).flat_map(arms);
    let ends = [vec![1, 3 * n + 2], vec![]];
    let blocks: Vec<Vec<u32>> = [vec![1]].into_iter().chain(diamonds).chain(ends).collect();
    cfg(&blocks.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn some_edges(dag: &Dag, numbers: &[usize]) -> Vec<EdgeId> {
    let n = dag.edges().len();
    numbers.iter().map(|i| EdgeId::new(i % n)).collect()
}

fn some_ranges(total: u64, owners: &[(u64, u32)], hot: &[u64]) -> Ranges {
    let id = |n: u64| PathId(n % total);
    let owners = owners.iter().map(|&(n, c)| (id(n), CopyId(c)));
    let owners: BTreeMap<PathId, CopyId> = std::iter::once((PathId(0), CopyId(0)))
        .chain(owners)
        .collect();
    let hot = hot.iter().map(|&n| id(n)).collect();
    Ranges::new(owners.into_iter().collect(), hot)
}

fn walks(graph: &Cfg, choices: &[Vec<u8>]) -> Vec<Walk> {
    choices.iter().filter_map(|c| walk(graph, c)).collect()
}

fn all_paths_of(graph: &Cfg, walks: &[Walk], cuts: &[CfgEdge]) -> Vec<Path> {
    let mut ends = find_retreating_edges(graph);
    ends.extend(cuts);
    ends.sort_unstable();
    walks
        .iter()
        .flat_map(|w| paths_of(graph, w, &ends))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 3000 }))]

    #[test]
    fn tasks_partition_the_paths(graph in any_cfg(16), k in 1..9usize) {
        let dag = crate::paths::dag::Dag::from_cfg(&graph, &[]);
        prop_assume!(ball_larus(&dag).unwrap().total() <= 2000);
        let threshold = dag.out_degree(dag.entry()).max(k);
        let tasks = find_partition(&dag, &Reduced::new(&dag), threshold);
        for path in enumerate(&dag) {
            let holds = |t: &&IdSet<EdgeId>| path.iter().all(|e| t.contains(*e));
            prop_assert_eq!(tasks.iter().filter(holds).count(), 1);
        }
        for t in tasks.iter().filter(|t| !t.is_full()) {
            let used: IdSet<EdgeId> = enumerate(&dag).iter()
                .filter(|p| p.iter().all(|e| t.contains(*e)))
                .flatten().copied().collect();
            prop_assert!(t.iter().eq(used.iter()), "an edge of a task is on none of its paths");
            let _ = pspp(&dag, t);
        }
    }

    /// Graham 1969: at most 4/3 − 1/(3k) of the least possible load.
    #[test]
    fn longest_first_keeps_its_bound(
        costs in proptest::collection::vec(0..40u64, 0..9), k in 1..5u32,
    ) {
        let Distribution { copy, load } = distribute(&costs, k);
        let mut sums = ti_vec![0; k as usize];
        for (c, cost) in copy.iter().zip(&costs) {
            sums[*c] += cost;
        }
        prop_assert_eq!(&sums, &load);
        let (k, found) = (u64::from(k), load.into_iter().max().unwrap());
        let least = optimum(&costs, &mut vec![0; k as usize]);
        prop_assert!(found >= least, "{found} is less than {least}");
        prop_assert!(3 * k * found <= (4 * k - 1) * least, "{found}, possible: {least}");
    }

    #[test]
    fn all_schemes_count_what_ran(
        graph in any_cfg(20),
        choices in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 1..6),
    ) {
        let functions = [input(&graph)];
        let paths = all_paths(&functions);
        let only = paths[0].as_ref().unwrap();
        let walks = walks(&graph, &choices);
        let wanted = expected_counts(only, &all_paths_of(&graph, &walks, &only.cuts));
        let counts_paths = |s: &&Scheme| s.strategy().measure == Measure::Paths;
        for &scheme in Scheme::ALL.iter().filter(counts_paths) {
            for copies in [1, 2, 3, 8, 17] {
                check_scheme(&graph, &paths, &walks, &wanted, scheme, copies)?;
            }
        }
    }

    #[test]
    fn cut_functions_count_what_ran(
        graph in any_cfg(40),
        bits in 11..16u32,
        choices in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 1..4),
    ) {
        let cuts = crate::paths::dag::choose_cuts(&graph, &Shape::new(&graph), 1 << bits);
        let cut = Measuring::from_cfg_with_cuts(&graph, cuts).unwrap();
        let apart = cut.choose_apart(&graph);
        let paths = [Some(cut.with_apart(apart))];
        let only = paths[0].as_ref().unwrap();
        let walks = walks(&graph, &choices);
        let wanted = expected_counts(only, &all_paths_of(&graph, &walks, &only.cuts));
        check_scheme(&graph, &paths, &walks, &wanted, Scheme::P3, 4)?;
        check_scheme(&graph, &paths, &walks, &wanted, Scheme::P3Weighted, 4)?;
        check_scheme(&graph, &paths, &walks, &wanted, Scheme::Sbl, 1)?;
    }

    /// The placement's own idea of its cost is what the interpreter measures.
    #[test]
    fn hits_along_paths_are_those_of_the_interpreter(
        graph in any_cfg(20),
        choices in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        let paths = Measuring::from_cfg(&graph);
        let Some(walk) = walk(&graph, &choices).filter(|w| w.exit.is_some()) else {
            return Ok(());
        };
        let functions = [input(&graph)];
        let plan = copy_plan(&functions, &[Some(paths.clone())], &[Share::Whole(CopyId(0))], CopyId(0));
        let measured = profile(&graph, Part::All, &plan.functions[0], &paths, std::slice::from_ref(&walk)).1;
        let code = function_code(&graph, &paths, Part::All);
        let computed: u64 = all_paths_of(&graph, &[walk], &paths.cuts).iter()
            .map(|p| code.hits(&paths.dag.path_edges(p).unwrap())).sum();
        prop_assert_eq!(computed, measured);
    }

    /// Any ranges, hot paths and warm edges: every copy counts its own paths, each once; foreign ones run no statement,
    /// hot ones one; and hits are those of the interpreter.
    #[test]
    fn ranges_count_what_ran(
        graph in any_cfg(20),
        owners in proptest::collection::vec((any::<u64>(), 0..4u32), 0..8),
        hot in proptest::collection::vec(any::<u64>(), 0..6),
        warm in proptest::collection::vec(any::<usize>(), 0..60),
        bits in 8..20u32,
        choices in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 1..5),
    ) {
        let cuts = crate::paths::dag::choose_cuts(&graph, &Shape::new(&graph), 1 << bits);
        let cut = Measuring::from_cfg_with_cuts(&graph, cuts).unwrap();
        let apart = cut.choose_apart(&graph);
        let paths = cut.with_apart(apart);
        let total = paths.numbering.total();
        let ranges = some_ranges(total, &owners, &hot).with_warm(some_edges(&paths.dag, &warm));
        prop_assert!(ranges.are_sound(4));
        let walks = walks(&graph, &choices);
        let ran = all_paths_of(&graph, &walks, &paths.cuts);
        let ids: Vec<_> = ran.iter().map(|p| paths.id(&paths.dag.path_edges(p).unwrap())).collect();
        let share = Share::Ranges(ranges.clone());
        let (functions, all) = ([input(&graph)], [Some(paths.clone())]);
        for (copy, part) in share.parts() {
            let plan = copy_plan(&functions, &all, std::slice::from_ref(&share), copy);
            let (counts, hits) = profile(&graph, part, &plan.functions[0], &paths, &walks);
            let mut wanted = expected_counts(&paths, &ran);
            wanted.retain(|&id, _| ranges.owner(id) == copy);
            prop_assert_eq!(counts, wanted);
            let code = function_code(&graph, &paths, part);
            let mut computed = 0;
            for (path, id) in ran.iter().zip(&ids) {
                let n = code.hits(&paths.dag.path_edges(path).unwrap());
                let own = ranges.owner(*id) == copy;
                prop_assert_eq!(own, n > 0);
                prop_assert!(n <= 1 || ranges.hot.binary_search(id).is_err());
                computed += n;
            }
            if walks.iter().all(|w| w.exit.is_some()) {
                prop_assert_eq!(computed, hits);
            }
        }
    }

    /// A loop of diamonds has more paths than an array has room for. Those along warm edges have the lowest ids and an
    /// array, whatever the warm edges are, and all are counted.
    #[test]
    fn warm_paths_have_an_array(
        arms in proptest::collection::vec(0..3u8, 15..18),
        missing in any::<Option<usize>>(),
        choices in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 1..4),
    ) {
        let graph = loop_of_diamonds(arms.len() as u32);
        let paths = Measuring::from_cfg(&graph);
        let dag = &paths.dag;
        // Left, right, or both; and perhaps one edge too few, so that some ways inside have no end.
        let is_warm = |e: &EdgeId| match dag.edge(*e).kind {
            EdgeKind::Real(c) if graph.block(c.block).succs.len() == 2 && c.block.0 % 3 == 1 => {
                let arm = arms.get(c.block.index() / 3);
                arm.is_none_or(|a| *a == 2 || u32::from(*a) == c.succ)
            }
            _ => true,
        };
        let mut warm: Vec<EdgeId> = dag.edge_ids().filter(is_warm).collect();
        if let Some(i) = missing {
            warm.remove(i % warm.len());
        }
        let ranges = some_ranges(1, &[], &[]).with_warm(warm);
        let share = Share::Ranges(ranges.clone());
        let part = share.part_of_copy(CopyId(0)).unwrap();
        let code = function_code(&graph, &paths, part);
        let walks = walks(&graph, &choices);
        let (functions, all) = ([input(&graph)], [Some(paths.clone())]);
        let plan = copy_plan(&functions, &all, std::slice::from_ref(&share), CopyId(0));
        let (counts, _) = profile(&graph, part, &plan.functions[0], &paths, &walks);
        let ran = all_paths_of(&graph, &walks, &paths.cuts);
        prop_assert_eq!(counts, expected_counts(&paths, &ran));
        let inside: u64 = arms.iter().map(|a| if *a == 2 { 2 } else { 1 }).product();
        // From the entry and from the header, each to the back edge and the exit
        let slots = 4 * inside;
        if missing.is_none() && slots <= 2 * MAX_ARRAY_SLOTS {
            prop_assert!(matches!(code.table, Table::Window { slots: n, .. } if n == slots), "{:?}", code.table);
            let mut ids = std::collections::BTreeSet::new();
            for path in &ran {
                let edges = dag.path_edges(path).unwrap();
                let id = code.ids.local(&edges).unwrap();
                let warm = edges.iter().all(|e| ranges.is_warm(*e));
                prop_assert_eq!(warm, id.0 < slots);
                if warm {
                    prop_assert_eq!(code.instructions(&edges), code.hits(&edges), "an array");
                }
                ids.insert(id);
            }
            prop_assert_eq!(ids.len(), expected_counts(&paths, &ran).len());
        }
    }

    /// Ids are dense: of the paths of a copy and of nothing else.
    #[test]
    fn ranges_have_dense_ids(
        graph in any_cfg(14),
        owners in proptest::collection::vec((any::<u64>(), 0..3u32), 0..8),
        hot in proptest::collection::vec(any::<u64>(), 0..6),
    ) {
        let paths = Measuring::from_cfg(&graph);
        let total = paths.numbering.total();
        prop_assume!(total <= 2000);
        let ranges = some_ranges(total, &owners, &hot);
        let share = Share::Ranges(ranges.clone());
        for (copy, part) in share.parts() {
            let ids = crate::copies::plan::ids::choose_ids(&graph, &paths, part);
            let mut counted = std::collections::BTreeSet::new();
            for edges in enumerate(&paths.dag) {
                let id = paths.id(&edges);
                let local = ids.local(&edges);
                prop_assert_eq!(local.is_some(), ranges.owner(id) == copy);
                prop_assert_eq!(local.map(|l| ids.canonical_id(&paths, l)), local.map(|_| Some(id)));
                counted.extend(local);
            }
            let dense = (0..counted.len() as u64).map(LocalId);
            prop_assert!(counted.iter().copied().eq(dense));
            prop_assert_eq!(ids.canonical_id(&paths, LocalId(counted.len() as u64)), None);
        }
    }
}

/// The versions of an edge run as often as the edge: those of a loop share what it runs.
#[test]
fn versions_share_weights() {
    let graph = cfg(&[&[1], &[2, 5], &[3, 4], &[4], &[1, 4], &[]]);
    let paths = Measuring::from_cfg(&graph);
    let local = Local::new(&graph, &paths, Part::All).unwrap();
    let mut sums = paths.dag.by_edge(0.0);
    for (&origin, weight) in local.origins.iter().zip(&local.weights(&paths)) {
        sums[origin] += weight;
    }
    for (sum, weight) in sums.iter().zip(&paths.weights) {
        assert!((sum / weight - 1.0).abs() < 1e-9, "{sum} {weight}");
    }
}

/// A subset of few paths has ids of its own; one of more than an array holds keeps those by which iterations are in the
/// window.
#[test]
fn subsets_of_many_paths_keep_the_window() {
    for (diamonds, many) in [(2, false), (19, true)] {
        // 0 → 1 → 2 | 3 → 4 → 1 | 5, and diamonds from 5 on
        let arms = |i: u32| [vec![3 * i + 6, 3 * i + 7], vec![3 * i + 8], vec![3 * i + 8]];
        let head = [vec![1], vec![2, 3], vec![4], vec![4], vec![1, 5]];
        let blocks: Vec<Vec<u32>> = head
            .into_iter()
            .chain((0..diamonds).flat_map(arms))
            .chain([vec![]])
            .collect();
        let graph = cfg(&blocks.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let paths = Measuring::from_cfg(&graph);
        let arm = CfgEdge {
            block: BlockId(1),
            succ: 0,
        };
        let mut set = IdSet::with_all(paths.dag.edges().len());
        set.remove(paths.dag.edge_of(arm).unwrap());
        let subset = Local::new(&graph, &paths, Part::Edges(&set)).unwrap();
        assert_eq!(subset.numbering.has_window(), many);
        let selective = pspp(&subset.dag, subset.interesting.as_ref().unwrap());
        assert_eq!(subset.numbering.labels == selective.labels, !many);
    }
}
