//! p3-hot: every path counted once, costs that are what runs, bounds on code, and nothing worse
//! than pbl or than fewer copies.

use super::costs::Splitting;
use super::flow::PrefixFlow;
use super::{ranges, ranges_everywhere};
use crate::base::index::{CfgEdge, CopyId, LocalId, PathId};
use crate::copies::partition::{Assignment, Costs, Local, Part, Share, Units, WHOLE};
use crate::copies::plan::build::{copy_plan, function_code};
use crate::copies::plan::interp::{self, Outcome};
use crate::copies::strategy::Scheme;
use crate::input::ir::Cfg;
use crate::paths::dag::Path;
use crate::paths::function::made::all_measured as all_paths;
use crate::paths::function::{FunctionInput, Measuring};
use crate::paths::numbering::enumerate;
use crate::paths::random_cfg::{Walk, any_cfg, cfg, find_retreating_edges, input, paths_of, walk};
use crate::paths::versions::size;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn inputs(graphs: &[Cfg]) -> Vec<FunctionInput<'_>> {
    let unit = |(i, g)| FunctionInput {
        unit: crate::base::index::FuncId::new(i),
        ..input(g)
    };
    graphs.iter().enumerate().map(unit).collect()
}

/// The paths of completed walks.
fn count_walks(graph: &Cfg, paths: &Measuring, walks: &[Walk]) -> BTreeMap<PathId, u64> {
    let mut ends: Vec<CfgEdge> = find_retreating_edges(graph);
    ends.extend(&paths.cuts);
    ends.sort_unstable();
    let of_walk = |w: &Walk| paths_of(graph, w, &ends);
    let mut counts = BTreeMap::new();
    for path in walks.iter().flat_map(of_walk).collect::<Vec<Path>>() {
        let edges = paths.dag.path_edges(&path).unwrap();
        *counts.entry(paths.id(&edges)).or_default() += 1;
    }
    counts
}

/// As `--profile` does with a profile of these paths.
fn measure(paths: &mut Measuring, counts: &BTreeMap<PathId, u64>) {
    let counts: Vec<(PathId, u64)> = counts.iter().map(|(&id, &n)| (id, n)).collect();
    let measured = crate::paths::weights::measured_weights(&paths.dag, &paths.numbering, &counts);
    paths.ran = paths.that_ran(counts);
    for (w, n) in paths.weights.iter_mut().zip(measured) {
        *w = n + *w * 1e-12;
    }
    paths.measured = true;
}

fn completed(graph: &Cfg, choices: &[Vec<u8>]) -> Vec<Walk> {
    let walks = choices.iter().filter_map(|c| walk(graph, c));
    walks.filter(|w| w.exit.is_some()).collect()
}

/// What `copy` counts, by canonical id, and the instructions that this takes.
fn count_by_copy(
    functions: &[FunctionInput],
    paths: &[Option<Measuring>],
    shares: &[Share],
    copy: CopyId,
    walks: &[Vec<Walk>],
    in_versions: f64,
) -> (Vec<BTreeMap<PathId, u64>>, f64) {
    let plan = copy_plan(functions, paths, shares, copy);
    let mut counts = vec![BTreeMap::new(); functions.len()];
    let mut cost = 0.0;
    for plan in &plan.functions {
        let i = plan.func.index();
        let mut outcome = Outcome::default();
        for w in &walks[i] {
            interp::run(plan, w, &mut outcome).unwrap();
        }
        let (cfg, paths) = (functions[i].cfg, paths[i].as_ref().unwrap());
        let part = shares[i].part_of_copy(copy).unwrap();
        let code = function_code(cfg, paths, part);
        let is_split = matches!(part, Part::Ranges(ranges, _) if ranges.owners.len() > 1);
        let in_versions = if is_split { in_versions } else { 0.0 };
        let mut hits = 0;
        for (id, n) in count_walks(cfg, paths, &walks[i]) {
            let edges = paths.decode(id).unwrap();
            hits += n * code.hits(&edges);
            cost += n as f64 * (in_versions + code.instructions(&edges) as f64);
        }
        assert_eq!(hits, outcome.hits);
        let ids = crate::copies::plan::ids::choose_ids(cfg, paths, part);
        let canonical =
            |(&id, &n): (&u64, &u64)| (ids.canonical_id(paths, LocalId(id)).unwrap(), n);
        counts[i] = outcome.counts.iter().map(canonical).collect();
    }
    (counts, cost)
}

/// p3-hot, or its like that splits whatever can be, and what a path takes in a function that is
/// split there.
fn scheme(everywhere: bool) -> (Scheme, f64) {
    if everywhere {
        (Scheme::RangesTest, Splitting::Everywhere.path_cost())
    } else {
        (Scheme::P3Hot, Splitting::WhereItPays.path_cost())
    }
}

fn slowest(assignment: &Assignment) -> u64 {
    assignment.load.iter().copied().max().unwrap()
}

/// What a path takes in versions grows with what it executes: a function is split where its paths are
/// short, and not where they are long.
#[test]
fn functions_with_long_paths_are_not_split() {
    // 2^16 paths, which a hash table counts.
    let diamonds = 16;
    let succs = |b: u32| match b % 3 {
        _ if b == 3 * diamonds => vec![],
        0 => vec![b + 1, b + 2],
        1 => vec![b + 2],
        _ => vec![b + 1],
    };
    let succs: Vec<Vec<u32>> = (0..=3 * diamonds).map(succs).collect();
    let succs: Vec<&[u32]> = succs.iter().map(Vec::as_slice).collect();
    let is_split = |instructions: u32| {
        let mut graph = cfg(&succs);
        for block in &mut graph.blocks {
            block.instructions = instructions;
        }
        let graphs = [graph];
        let functions = inputs(&graphs);
        let mut paths = all_paths(&functions);
        let counts = (0..1 << 14).map(|i| (PathId(4 * i), 1000)).collect();
        measure(paths[0].as_mut().unwrap(), &counts);
        let shares = Scheme::P3Hot
            .strategy()
            .assign(&functions, &paths, 4)
            .shares;
        shares[0].parts().len() > 1
    };
    // 33 blocks are executed by each path.
    assert!(is_split(1));
    assert!(!is_split(10));
}

/// Where more values are live than there are registers, versions spill more than hot paths save.
#[test]
fn functions_without_free_registers_have_no_hot_paths() {
    let has_hot_paths = |pressure: u32| {
        let mut graph = cfg(&[&[1], &[2, 3], &[4], &[4], &[5, 6], &[7], &[7], &[1, 8], &[]]);
        for block in &mut graph.blocks {
            block.instructions = 8;
            block.pressure = pressure;
        }
        let graphs = [graph];
        let functions = inputs(&graphs);
        let paths = all_paths(&functions);
        let shares = Scheme::P3Hot
            .strategy()
            .assign(&functions, &paths, 1)
            .shares;
        matches!(&shares[0], Share::Ranges(ranges) if !ranges.hot.is_empty())
    };
    assert!(has_hot_paths(0) && has_hot_paths(2));
    assert!(!has_hot_paths(100));
}

/// What the measured run never entered is spread over the copies that have less to do, and not
/// given to the one that has least: another input may run nothing else.
#[test]
fn functions_that_never_ran() {
    let ran = [1_000_000, 1002, 1001, 1000];
    let graphs = vec![cfg(&[&[1, 2], &[3], &[3], &[]]); ran.len() + 9];
    let functions = inputs(&graphs);
    let measured = graphs.iter().enumerate().map(|(i, graph)| {
        let mut paths = Measuring::from_cfg(graph);
        let counts = ran.get(i).map(|&n| (PathId(0), n));
        measure(&mut paths, &counts.into_iter().collect());
        Some(paths)
    });
    let paths: Vec<_> = measured.collect();
    let units = Units::new(&functions, &paths, Costs::hits, 4);
    let weighted = Scheme::P3Weighted.strategy();
    let weighted = weighted.assign(&functions, &paths, 4).shares;
    for shares in [ranges(&units).shares, weighted] {
        let of = |copy| {
            let has = |s: &&Share| s.part_of_copy(CopyId(copy)).is_some();
            shares.iter().filter(has).count()
        };
        assert_eq!([0, 1, 2, 3].map(of), [1, 4, 4, 4]);
    }
}

/// Of eight paths four ran. The others, which another input may run, are not all of one copy.
#[test]
fn paths_that_never_ran_are_spread_over_copies() {
    let graphs = [cfg(&[
        &[1, 2, 3, 4, 5, 6, 7, 8],
        &[9],
        &[9],
        &[9],
        &[9],
        &[9],
        &[9],
        &[9],
        &[9],
        &[],
    ])];
    let functions = inputs(&graphs);
    let mut paths = Measuring::from_cfg(&graphs[0]);
    measure(&mut paths, &(0..4).map(|id| (PathId(id), 1000)).collect());
    let paths = [Some(paths)];
    let units = Units::new(&functions, &paths, Costs::hits, 4);
    let assignment = ranges_everywhere(&units);
    let Share::Ranges(ranges) = &assignment.shares[0] else {
        panic!("it is split: {:?}", assignment.shares[0]);
    };
    let owner = |id| {
        let behind = ranges
            .owners
            .partition_point(|(first, _)| *first <= PathId(id));
        ranges.owners[behind - 1].1
    };
    let of = |copy| (0..8).filter(|id| owner(*id) == CopyId(copy)).count();
    assert_eq!([0, 1, 2, 3].map(of), [2, 2, 2, 2]);
}

fn choices() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(vec(any::<u8>(), 0..100), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 100 } else { 1000 }))]

    /// With weights of the same run: every path has one copy that counts it, and what a copy is
    /// said to cost is what the interpreter runs of it. With any number of copies and more, no
    /// worse than pbl.
    #[test]
    fn costs_are_what_runs(
        graphs in vec(any_cfg(14), 1..4),
        choices in vec(choices(), 4),
        copies in 1..6u32,
        everywhere: bool,
    ) {
        let (scheme, in_versions) = scheme(everywhere);
        let functions = inputs(&graphs);
        let mut paths = all_paths(&functions);
        let walks: Vec<Vec<Walk>> = graphs.iter().zip(&choices).map(|(g, c)| completed(g, c)).collect();
        let mut wanted = Vec::new();
        for ((graph, p), walks) in graphs.iter().zip(&mut paths).zip(&walks) {
            let p = p.as_mut().unwrap();
            wanted.push(count_walks(graph, p, walks));
            measure(p, wanted.last().unwrap());
        }
        let assignment = scheme.strategy().assign(&functions, &paths, copies);
        let mut merged = vec![BTreeMap::new(); graphs.len()];
        let mut costs: Vec<f64> = Vec::new();
        for copy in (0..copies).map(CopyId) {
            let (counts, n) = count_by_copy(&functions, &paths, &assignment.shares, copy, &walks, in_versions);
            costs.push(n);
            for (all, more) in merged.iter_mut().zip(counts) {
                for (id, n) in more {
                    prop_assert_eq!(all.insert(id, n), None, "two copies count a path");
                }
            }
        }
        prop_assert_eq!(&merged, &wanted);
        let pbl = Scheme::Pbl.strategy().assign(&functions, &paths, copies);
        let pbl_costs: Vec<f64> = (0..copies).map(CopyId)
            .map(|c| count_by_copy(&functions, &paths, &pbl.shares, c, &walks, 0.0).1).collect();
        let most = |costs: &[f64]| costs.iter().copied().fold(0.0, f64::max);
        prop_assert!(most(&costs) <= most(&pbl_costs) * 1.0001 + 0.01, "{costs:?}, pbl {pbl_costs:?}");
        let whole: Vec<Share> = graphs.iter().map(|_| Share::Whole(CopyId(0))).collect();
        let all = count_by_copy(&functions, &paths, &whole, CopyId(0), &walks, 0.0).1;
        for (load, cost) in assignment.load.iter().zip(&costs) {
            let expected = *load as f64 / WHOLE * all;
            prop_assert!((expected - cost).abs() < 0.01 + all * 1e-4, "{expected} expected, {cost} ran");
        }
    }

    /// By its costs, measured or guessed, no worse with more copies, and within the room for code.
    #[test]
    fn more_copies_are_no_worse(
        graphs in vec(any_cfg(14), 1..4),
        choices in vec(choices(), 4),
        guess: bool,
        everywhere: bool,
    ) {
        let functions = inputs(&graphs);
        let mut paths = all_paths(&functions);
        for ((graph, p), choices) in graphs.iter().zip(&mut paths).zip(&choices).filter(|_| !guess) {
            let p = p.as_mut().unwrap();
            let counts = count_walks(graph, p, &completed(graph, choices));
            measure(p, &counts);
        }
        let native: u64 = graphs.iter().map(size_of).sum();
        let mut before = u64::MAX;
        for copies in 1..6 {
            let assignment = scheme(everywhere).0.strategy().assign(&functions, &paths, copies);
            prop_assert!(slowest(&assignment) <= before);
            before = slowest(&assignment);
            for copy in (0..copies).map(CopyId) {
                let plan = copy_plan(&functions, &paths, &assignment.shares, copy);
                let made = plan.functions.iter().filter_map(|f| f.versions.as_ref().map(|v| (f.func, v)));
                let (mut more, mut apart) = (0, 0);
                for (f, versions) in made {
                    let graph = &graphs[f.index()];
                    more += size_of(&versions.cfg) - size_of(graph);
                    let local = Local::new(graph, paths[f.index()].as_ref().unwrap(), Part::All);
                    apart += local.map_or(0, |l| size_of(&l.versions.cfg) - size_of(graph));
                }
                prop_assert!(more <= apart + native.max(4096) / 2, "{more}, {apart} of {native}");
            }
        }
    }

    /// Prefixes part into what they hold, and the hottest paths are those of enumeration.
    #[test]
    fn flows_add_up(graph in any_cfg(12), choices in choices(), guess: bool) {
        let functions = [input(&graph)];
        let mut paths = all_paths(&functions).remove(0).unwrap();
        prop_assume!(paths.numbering.total() <= 1000);
        if !guess {
            let counts = count_walks(&graph, &paths, &completed(&graph, &choices));
            prop_assume!(!counts.is_empty());
            measure(&mut paths, &counts);
        }
        let flow = PrefixFlow::new(&paths);
        let mut open = vec![flow.all_paths()];
        let mut single = BTreeMap::new();
        while let Some(prefix) = open.pop() {
            match flow.parts(&prefix) {
                Some((_, parts)) => {
                    let sum: f64 = parts.iter().map(|p| p.flow).sum();
                    prop_assert!((sum - prefix.flow).abs() <= 1e-9 * prefix.flow.max(1.0));
                    open.extend(parts);
                }
                None => drop(single.insert(prefix.id, prefix.flow)),
            }
        }
        prop_assert!(single.keys().copied().eq(paths.ids()));
        let mut wanted: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        for path in enumerate(&paths.dag) {
            wanted.entry(path[0]).or_default().push(single[&paths.id(&path)]);
        }
        // What weights expect beside paths that ran is next to nothing.
        let nothing = if guess { 0.0 } else { 1e-6 };
        let close = |a: f64, b: f64| (a - b).abs() <= nothing + 1e-9 * a.max(1.0);
        let mut found: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        for (id, n) in flow.find_hottest(3) {
            let start = paths.decode(id).unwrap()[0];
            prop_assert!(close(n, single[&id]), "{n}, {}", single[&id]);
            found.entry(start).or_default().push(n);
        }
        for (start, mut flows) in wanted {
            flows.retain(|&n| n > nothing);
            flows.sort_by(|a, b| b.total_cmp(a));
            flows.truncate(3);
            let hottest = found.remove(&start).unwrap_or_default();
            prop_assert_eq!(hottest.len(), flows.len());
            let mut both = hottest.iter().zip(&flows);
            prop_assert!(both.all(|(a, b)| close(*a, *b)), "{hottest:?}, wanted {flows:?}");
        }
    }
}

fn size_of(graph: &Cfg) -> u64 {
    size(graph, &crate::paths::dag::Order::new(graph))
}
