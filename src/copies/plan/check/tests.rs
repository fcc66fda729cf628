//! Sound plans are accepted; plans that an interpreter finds wrong on some walk are refused.

use super::*;
use crate::base::index::{BlockId, CfgEdge, CopyId, FuncId, IdSet, LocalId, PathId};
use crate::copies::plan::SiteCode;
use crate::copies::plan::build::copy_plan;
use crate::copies::plan::interp::{self, Outcome};
use crate::copies::strategy::Scheme;
use crate::paths::dag::Shape;
use crate::paths::function::made::all_measured as all_paths;
use crate::paths::numbering::{ball_larus, enumerate};
use crate::paths::random_cfg::{Walk, any_cfg, cfg, input, paths_of, walk};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};

mod mutation;

use mutation::{Mutation, any_mutation};

/// A function, a copy's part in it, and the walks that plans are tried on.
struct Case<'a> {
    cfg: &'a Cfg,
    paths: Measuring,
    part: Option<IdSet<EdgeId>>,
    walks: Vec<(Walk, BTreeMap<PathId, u64>)>,
}

impl<'a> Case<'a> {
    fn new(cfg: &'a Cfg, part: Option<IdSet<EdgeId>>, walks: Vec<Walk>) -> Self {
        let paths = Measuring::from_cfg(cfg);
        let mut case = Case {
            cfg,
            paths,
            part,
            walks: Vec::new(),
        };
        let expect = |walk: Walk| {
            let counts = case.expected_counts(&walk);
            (walk, counts)
        };
        case.walks = walks.into_iter().map(expect).collect();
        case
    }

    /// By definition: the complete paths of the walk that are in the copy's part, by canonical id.
    fn expected_counts(&self, walk: &Walk) -> BTreeMap<PathId, u64> {
        let dag = &self.paths.dag;
        let mut ends: Vec<CfgEdge> = dag.edges().iter().filter_map(path_end).collect();
        ends.sort_unstable();
        let mut counts = BTreeMap::new();
        for path in paths_of(self.cfg, walk, &ends) {
            let edges = dag.path_edges(&path).expect("a path of the DAG");
            let inside = |set: &IdSet<EdgeId>| edges.iter().all(|e| set.contains(*e));
            if self.part.as_ref().is_none_or(inside) {
                *counts.entry(self.paths.id(&edges)).or_default() += 1;
            }
        }
        counts
    }

    fn plan(&self) -> FunctionPlan {
        let share = match &self.part {
            Some(set) => Share::Split(vec![(CopyId(0), set.clone())]),
            None => Share::Whole(CopyId(0)),
        };
        let paths = [Some(self.paths.clone())];
        let plan = copy_plan(&[input(self.cfg)], &paths, &[share], CopyId(0));
        plan.functions.into_iter().next().expect("one function")
    }

    fn counted_part(&self) -> Part<'_> {
        self.part.as_ref().map_or(Part::All, Part::of_edges)
    }

    fn check(&self, plan: &FunctionPlan) -> Proved {
        function(self.cfg, &self.paths, self.counted_part(), plan)
    }

    /// Whether the counts of some walk are others than they should be.
    fn is_wrong(&self, plan: &FunctionPlan) -> bool {
        let ids = choose_ids(self.cfg, &self.paths, self.counted_part());
        let right = |(walk, expected): &(Walk, BTreeMap<PathId, u64>)| {
            let mut outcome = Outcome::default();
            interp::run(plan, walk, &mut outcome).is_ok()
                && self.decoded(&ids, &outcome).as_ref() == Some(expected)
        };
        !self.walks.iter().all(right)
    }

    /// As `profile::decode` does it; `None` where that finds an id that nothing has.
    fn decoded(&self, ids: &Ids, outcome: &Outcome) -> Option<BTreeMap<PathId, u64>> {
        let mut counts = BTreeMap::new();
        for (&id, &n) in &outcome.counts {
            match ids.canonical_id(&self.paths, LocalId(id)) {
                Some(path) => drop(counts.insert(path, n)),
                None if self.part.is_some() && id < ids.numbering().total() => {}
                None => return None,
            }
        }
        Some(counts)
    }
}

fn path_end(edge: &crate::paths::dag::Edge) -> Option<CfgEdge> {
    match edge.kind {
        EdgeKind::BackEdge(c) => Some(c),
        _ => None,
    }
}

/// The shortest walks to exits, and to blocks that control may leave in their middle.
fn shortest_walks(cfg: &Cfg) -> Vec<Walk> {
    let (mut walks, mut ways) = (Vec::new(), VecDeque::from([(Vec::new(), BlockId(0))]));
    for _ in 0..1000 {
        let Some((edges, at)) = ways.pop_front() else {
            break;
        };
        let block = cfg.block(at);
        for exit in [
            block.succs.is_empty().then_some(Some(at)),
            block.may_leave.then_some(None),
        ] {
            let edges = edges.clone();
            walks.extend(exit.map(|exit| Walk { edges, exit }));
        }
        for (i, &to) in block.succs.iter().enumerate() {
            let mut edges = edges.clone();
            let succ = i as u32;
            edges.push(CfgEdge { block: at, succ });
            ways.push_back((edges, to));
        }
    }
    walks
}

/// How many mutations were tried, and what became of them.
#[derive(Default)]
struct Tally {
    wrong: AtomicUsize,
    right_and_accepted: AtomicUsize,
    right_and_refused: AtomicUsize,
}

impl Tally {
    fn try_all(&self, case: &Case, mutations: &[Mutation]) -> Result<(), TestCaseError> {
        let plan = case.plan();
        prop_assert_eq!(case.check(&plan), Ok(()), "{}", plan.text("f"));
        prop_assert!(!case.is_wrong(&plan));
        for mutation in mutations {
            let mutant = mutation.apply(case.cfg, &plan);
            let checked = case.check(&mutant);
            let outcome = match (case.is_wrong(&mutant), checked.is_ok()) {
                (true, true) => {
                    let text = plan.text("f") + &mutant.text("broken");
                    return Err(TestCaseError::fail(format!(
                        "{mutation:?} is accepted\n{text}"
                    )));
                }
                (true, false) => &self.wrong,
                (false, true) => &self.right_and_accepted,
                (false, false) => &self.right_and_refused,
            };
            outcome.fetch_add(usize::from(mutant != plan), Ordering::Relaxed);
        }
        Ok(())
    }

    fn sum(&self) -> [usize; 3] {
        let counts = [
            &self.wrong,
            &self.right_and_accepted,
            &self.right_and_refused,
        ];
        let sums = counts.map(|n| n.load(Ordering::Relaxed));
        println!("wrong and refused, right and accepted, right and refused: {sums:?}");
        sums
    }
}

/// Some paths, and all those inside their edges.
fn choose_part(dag: &Dag, chosen: &[prop::sample::Index]) -> Option<IdSet<EdgeId>> {
    let all = enumerate(dag);
    let mut part = dag.edge_set();
    for i in chosen {
        part.extend(i.get(&all).iter().copied());
    }
    (!part.is_empty()).then_some(part)
}

fn cases(debug: u32, release: u32) -> Config {
    Config::with_cases(if cfg!(debug_assertions) {
        debug
    } else {
        release
    })
}

#[test]
fn broken_plans_are_refused() {
    let tally = Tally::default();
    let chosen = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    let mutations = prop::collection::vec(any_mutation(), 24);
    let given = (any_cfg(8), chosen, mutations);
    let mut runner = TestRunner::new(cases(150, 3000));
    let run = runner.run(&given, |(graph, chosen, mutations)| {
        let dag = Dag::from_cfg(&graph, &[]);
        prop_assume!(ball_larus(&dag).is_some_and(|n| n.total() <= 200));
        let case = Case::new(&graph, choose_part(&dag, &chosen), shortest_walks(&graph));
        tally.try_all(&case, &mutations)
    });
    run.unwrap();
    let [wrong, accepted, _] = tally.sum();
    assert!(wrong > 500 && accepted > 100, "the mutations try something");
}

/// Two loops of three diamonds, and ten diamonds around each: too many paths for an array.
fn windows() -> Cfg {
    let mut succs: Vec<Vec<u32>> = Vec::new();
    let diamonds = |succs: &mut Vec<Vec<u32>>, n: usize| {
        for _ in 0..n {
            let at = succs.len() as u32;
            succs.extend([vec![at + 1, at + 2], vec![at + 3], vec![at + 3]]);
        }
    };
    for _ in 0..2 {
        diamonds(&mut succs, 10);
        let header = succs.len() as u32;
        diamonds(&mut succs, 3);
        let latch = succs.len() as u32;
        succs.push(vec![header, latch + 1]);
    }
    succs.push(vec![]);
    cfg(&succs.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Broken plans are refused, too, where iterations count in a window.
#[test]
fn broken_plans_with_windows_are_refused() {
    let graph = windows();
    let tally = Tally::default();
    let given = (
        prop::collection::vec(prop::collection::vec(any::<u8>(), 150), 12),
        prop::collection::vec(any_mutation(), 12),
    );
    let mut runner = TestRunner::new(cases(12, 200));
    let run = runner.run(&given, |(choices, mutations)| {
        let walks = choices.iter().filter_map(|c| walk(&graph, c)).collect();
        let case = Case::new(&graph, None, walks);
        let window = matches!(case.plan().table, Table::Window { .. });
        prop_assert!(window);
        tally.try_all(&case, &mutations)
    });
    run.unwrap();
    assert!(tally.sum()[0] > 50);
}

/// The largest id of either part of a table has to fit.
#[test]
fn windows_that_are_too_small() {
    let graph = windows();
    let case = Case::new(&graph, None, Vec::new());
    let plan = case.plan();
    let Table::Window { slots, ids } = plan.table else {
        panic!("iterations count in a window");
    };
    for table in [
        Table::Window {
            slots: slots - 1,
            ids,
        },
        Table::Window {
            slots,
            ids: ids - 1,
        },
    ] {
        let small = FunctionPlan {
            table,
            ..plan.clone()
        };
        let said = case.check(&small).unwrap_err().to_string();
        assert!(
            said.ends_with("the id is in another part of the table, or outside"),
            "{said}"
        );
    }
}

#[test]
#[should_panic(expected = "b3.exit: a path ends here that is not counted (copy 0, function 0)")]
fn copies_are_proved() {
    let graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
    let case = Case::new(&graph, None, Vec::new());
    let empty = FunctionPlan {
        probes: Vec::new(),
        ..case.plan()
    };
    let plan = CopyPlan {
        copy: CopyId(0),
        functions: vec![empty],
    };
    let paths = [Some(case.paths.clone())];
    copy(&[input(&graph)], &paths, &[Share::Whole(CopyId(0))], &plan);
}

#[test]
fn other_versions_are_refused() {
    let graph = cfg(&[&[1], &[2, 3], &[1], &[]]);
    let case = Case::new(&graph, None, Vec::new());
    let plan = case.plan();
    let versions = plan.versions.as_deref().expect("a loop apart");
    let mut other = versions.clone();
    other.cfg.blocks[BlockId(2)].succs[0] = BlockId(1);
    assert_eq!(versions_of(&graph, &other), Ok(()), "another automaton");
    let other = FunctionPlan {
        versions: Some(other.into()),
        ..plan.clone()
    };
    assert_eq!(
        case.check(&other).unwrap_err().to_string(),
        "decoding does not know these versions"
    );
    for broken in 0..4 {
        let mut versions = versions.clone();
        match broken {
            0 => versions.cfg.blocks[BlockId(4)].succs.swap(0, 1),
            1 => versions.cfg.blocks[BlockId(5)].may_leave = true,
            2 => versions.origin.raw.swap(0, 1),
            _ => versions.origin.push(BlockId(0)),
        }
        assert!(versions_of(&graph, &versions).is_err(), "{broken}");
    }
}

/// Every wrong counter of an edge.
#[test]
fn edge_counters_are_checked() {
    let graph = cfg(&[&[1, 2], &[3], &[3], &[0]]);
    let graph = Cfg {
        blocks: [graph.blocks.raw, cfg(&[&[]]).blocks.raw].concat().into(),
    };
    let mut case = Case::new(&graph, None, Vec::new());
    case.paths = case.paths.counting_edges(&graph);
    let plan = case.plan();
    assert_eq!(case.check(&plan), Ok(()));
    for i in 0..plan.probes.len() {
        for op in [Op::CountConst(9), Op::Set(0), Op::Count(0)] {
            let mut broken = plan.clone();
            broken.probes[i].ops = vec![op];
            assert!(case.check(&broken).is_err());
        }
        let mut broken = plan.clone();
        broken.probes.remove(i);
        assert!(case.check(&broken).is_err());
    }
    let mut broken = plan.clone();
    broken.table = Table::Hash { ids: 9 };
    assert!(case.check(&broken).is_err());
}

proptest! {
    #![proptest_config(cases(100, 3000))]

    /// Whatever the scheme.
    #[test]
    fn sound_plans_are_accepted(graph in any_cfg(24), copies in 1..6u32, bits in 11..63u32) {
        let functions = [input(&graph)];
        let cuts = crate::paths::dag::choose_cuts(&graph, &Shape::new(&graph), 1 << bits);
        let cut = Measuring::from_cfg_with_cuts(&graph, cuts).unwrap();
        for all in [all_paths(&functions), vec![Some(cut)]] {
            for scheme in Scheme::ALL {
                let strategy = scheme.strategy();
                let paths = strategy.measure_all(&functions, &all);
                let shares = strategy.assign(&functions, &paths, copies).shares;
                for c in (0..copies).map(CopyId) {
                    let plan = copy_plan(&functions, &paths, &shares, c);
                    super::copy(&functions, &paths, &shares, &plan);
                }
            }
        }
    }
}

/// What cannot be a plan, rule by rule.
#[test]
fn mistakes_say_what_is_wrong() {
    let mut graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
    graph.blocks[BlockId(3)].may_leave = true;
    let case = Case::new(&graph, None, Vec::new());
    let edge = |block, succ| {
        let block = BlockId(block);
        Site::Edge(CfgEdge { block, succ })
    };
    let exit = Site::Exit(BlockId(3));
    let one = |at, op| vec![(at, vec![op])];
    let two = [
        (edge(0, 0), vec![Op::CountConst(0)]),
        (edge(0, 1), vec![Op::CountConst(1)]),
    ];
    let set = [
        (edge(0, 0), vec![Op::Set(0)]),
        (edge(0, 1), vec![Op::Set(1)]),
    ];
    let with = |first: &[(Site, Vec<Op>)], at, ops: &[Op]| [first, &[(at, ops.to_vec())]].concat();
    let broken = [
        (vec![], "b3.exit: a path ends here that is not counted"),
        (
            two.to_vec(),
            "b3.exit: a path is counted that may be left in this block",
        ),
        (
            one(Site::Entry, Op::CountConst(0)),
            "entry: a path is counted before it is known which",
        ),
        (
            one(exit, Op::Count(0)),
            "b3.exit: r is read before it is set",
        ),
        (
            with(&set[..1], exit, &[Op::Count(0)]),
            "b3.exit: r is read before it is set",
        ),
        (
            two[..1].to_vec(),
            "b1.0: paths meet behind it, of which only some are counted",
        ),
        (
            with(&set, exit, &[Op::Count(1)]),
            "b3.exit: the id is not the path's",
        ),
        (
            with(&set, exit, &[Op::Count(0), Op::CountConst(0)]),
            "b3.exit: a path is counted twice",
        ),
        (
            with(&set, exit, &[Op::CountConst(0)]),
            "b3.exit: the id is not the path's",
        ),
        (
            with(&set, Site::Exit(BlockId(9)), &[Op::Count(0)]),
            "b3.exit: a path ends here that is not counted",
        ),
    ];
    let plan = |code: &[(Site, Vec<Op>)], slots| FunctionPlan {
        mostly_in_window: IdSet::with_capacity(0),
        branches: Vec::new(),
        func: FuncId(0),
        own_order: case.paths.shape.order.clone(),
        versions: None,
        table: Table::Array { slots },
        entries: false,
        forks: 0,
        probes: code
            .iter()
            .map(|(site, ops)| SiteCode {
                site: *site,
                ops: ops.clone(),
            })
            .collect(),
    };
    let says =
        |code: &[(Site, Vec<Op>)], slots| case.check(&plan(code, slots)).map_err(|m| m.to_string());
    for (code, text) in &broken {
        assert_eq!(says(code, 2), Err(text.to_string()), "{code:?}");
    }
    let sound = with(&set, exit, &[Op::Count(0)]);
    assert_eq!(says(&sound, 2), Ok(()));
    let outside = "b3.exit: the id is in another part of the table, or outside";
    assert_eq!(says(&sound, 1), Err(outside.to_string()));
    let unreachable = with(&sound, Site::Exit(BlockId(9)), &[Op::Set(0)]);
    let nowhere = "there is code where control never comes by";
    assert_eq!(says(&unreachable, 2), Err(nowhere.to_string()));
    let twice = [&sound[..1], &sound].concat();
    assert_eq!(
        says(&twice, 2),
        Err("sites are not sorted, or without code".to_string())
    );
}
