//! Plans as data and as text; the register in SSA form against the register as plans set it.

use super::build::{copy_plan, function_code};
use super::ids::choose_ids;
use super::place::CountCosts;
use super::register::{Registers, Value};
use super::*;
use crate::base::index::{BlockId, LocalId, PathId, ti_vec};
use crate::copies::partition::{Part, Share};
use crate::copies::strategy::Scheme;
use crate::input::ir::Cfg;
use crate::paths::dag::Order;
use crate::paths::function::Measuring;
use crate::paths::function::made::all_measured as all_paths;
use crate::paths::numbering::{MAX_ARRAY_SLOTS, WIDE_SLOTS};
use crate::paths::random_cfg::{Walk, any_cfg, cfg, input, walk};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The plans of the copies that profile something of `graph` under p3.
fn plans(graph: &Cfg, copies: u32) -> Vec<CopyPlan> {
    let functions = [input(graph)];
    let paths = all_paths(&functions);
    let shares = Scheme::P3
        .strategy()
        .assign(&functions, &paths, copies)
        .shares;
    let plan = |c| copy_plan(&functions, &paths, &shares, CopyId(c));
    (0..copies).map(plan).collect()
}

/// A row of diamonds: 2^n paths.
fn diamonds(n: u32) -> Cfg {
    let arms = |i: u32| [vec![3 * i + 1, 3 * i + 2], vec![3 * i + 3], vec![3 * i + 3]];
    let blocks: Vec<Vec<u32>> = (0..n).flat_map(arms).chain([vec![]]).collect();
    cfg(&blocks.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn some_operations_count() {
    let count = [Op::Count(0), Op::CountConst(0), Op::CountInWindow(0)];
    let other = [Op::Set(1), Op::Add(1)];
    assert!(count.iter().all(|op| op.counts()));
    assert!(!other.iter().any(|op| op.counts()));
    assert!(Op::any_counts(&[other[0], count[0]]));
    assert!(!Op::any_counts(&other) && !Op::any_counts(&[]));
}

/// A statement takes one instruction, but a count in a hash table more.
#[test]
fn what_statements_take() {
    for (n, count) in [(3, 1), (MAX_ARRAY_SLOTS.ilog2() + 2, 14)] {
        let graph = diamonds(n);
        let paths = Measuring::from_cfg(&graph);
        let code = function_code(&graph, &paths, Part::All);
        for id in [0, 1, 5, paths.numbering.total() - 1] {
            let path = paths.numbering.decode(&paths.dag, id).unwrap();
            let hits = code.placement.hits(&path);
            assert_eq!(code.instructions(&path), hits - 1 + count);
        }
    }
}

/// What is expected of a row of diamonds, whose arms are equally likely, is the average over its paths.
#[test]
fn costs_are_averages() {
    for n in [3, MAX_ARRAY_SLOTS.ilog2() + 1] {
        let graph = diamonds(n);
        let paths = Measuring::from_cfg(&graph);
        let code = function_code(&graph, &paths, Part::All);
        let ids = 0..paths.numbering.total();
        let on = |id| code.instructions(&paths.numbering.decode(&paths.dag, id).unwrap());
        let all: u64 = ids.map(on).sum();
        let average = all as f64 / paths.numbering.total() as f64;
        let expected = average * paths.weights[paths.dag.entry_edge()];
        assert!((code.cost() / expected - 1.0).abs() < 1e-9);
    }
}

/// Which counts go to the hash table, if there is one.
#[test]
fn where_counts_go() {
    let all = [
        Op::Set(0),
        Op::Count(0),
        Op::CountInWindow(0),
        Op::CountConst(3),
        Op::CountConst(4),
    ];
    let hashed = |table: Table| all.map(|op| table.hashes_op(op));
    let array = Table::Array { slots: 5 };
    assert_eq!(hashed(array), [false; 5]);
    let hash = Table::Hash { ids: 9 };
    assert_eq!(hashed(hash), [false, true, false, true, true]);
    let window = Table::Window { slots: 4, ids: 9 };
    assert_eq!(hashed(window), [false, true, false, false, true]);
    assert!(window.hashes_any(&all) && !window.hashes_any(&all[2..4]));
}

/// Ids that no path has.
#[test]
fn ids_end_with_the_paths() {
    let graph = diamonds(2);
    let paths = Measuring::from_cfg(&graph);
    let ids = choose_ids(&graph, &paths, Part::All);
    let canonical = [0, 3, 4].map(|id| ids.canonical_id(&paths, LocalId(id)));
    assert_eq!(canonical, [Some(PathId(0)), Some(PathId(3)), None]);
}

#[test]
fn as_many_ids_as_fit_have_an_array() {
    let table =
        |n| function_code(&diamonds(n), &Measuring::from_cfg(&diamonds(n)), Part::All).table;
    let slots = MAX_ARRAY_SLOTS;
    assert_eq!(slots, 1 << 14);
    assert_eq!(table(14), Table::Array { slots });
    // One of the two arms that paths end by fits, and then none does.
    assert_eq!(
        table(15),
        Table::Window {
            slots,
            ids: 2 * slots
        }
    );
    assert_eq!(table(16), Table::Hash { ids: 4 * slots });
}

/// Wide arrays go to the functions with the fewest paths, as far as there is room.
#[test]
fn the_smallest_of_large_functions_have_arrays() {
    let graphs = [
        diamonds(18),
        diamonds(17),
        diamonds(14),
        diamonds(16),
        diamonds(15),
        diamonds(15),
    ];
    let inputs: Vec<_> = graphs.iter().map(input).collect();
    let paths = all_paths(&inputs);
    let wide = |p: &Option<Measuring>| p.as_ref().unwrap().wide;
    let of: Vec<bool> = paths.iter().map(wide).collect();
    assert_eq!(of, [false, true, false, true, true, true]);
    assert_eq!(WIDE_SLOTS, (1 << 17) + (1 << 16) + 2 * (1 << 15));
    let table = |i: usize| function_code(&graphs[i], paths[i].as_ref().unwrap(), Part::All).table;
    assert_eq!(table(1), Table::Array { slots: 1 << 17 });
    assert_eq!(table(0), Table::Hash { ids: 1 << 18 });
}

/// Of a diamond each path is known where it parts, and counted there.
#[test]
fn a_diamond_is_counted_where_it_parts() {
    let plan = &plans(&diamonds(1), 1)[0];
    let text =
        "copy 0\nf: array of 2, 2 sites\n  b0.0:        count[0]++\n  b0.1:        count[1]++\n";
    assert_eq!(plan.text(|_| "f"), text);
    let (graph, paths) = (diamonds(1), Measuring::from_cfg(&diamonds(1)));
    let code = function_code(&graph, &paths, Part::All);
    assert_eq!(code.placement.probes(), 2);
    let weights = ti_vec![9.0, 0.25, 3.75, 8.0, 8.0, 9.0];
    let counts = CountCosts::new(&paths.numbering, 2, MAX_ARRAY_SLOTS);
    assert_eq!(code.placement.cost(&weights, &counts), 4.0);
}

/// A count whose register varies stays behind ways in that have no statement: one site instead of two.
#[test]
fn counts_stay_where_nothing_is_swallowed() {
    let plan = &plans(&cfg(&[&[2, 1, 1], &[2], &[]]), 3)[2];
    let text =
        "copy 2\nf: array of 3, 2 sites\n  b0.0:        count[2]++\n  b1.0:        count[0]++\n";
    assert_eq!(plan.text(|_| "f"), text);
}

#[test]
fn operations_as_text() {
    let texts = [
        (Op::Set(-4), "r = -4"),
        (Op::Add(3), "r += 3"),
        (Op::Add(0), "r += 0"),
        (Op::Add(-3), "r -= 3"),
        (Op::Add(i64::MIN), "r -= 9223372036854775808"),
        (Op::Count(5), "count[r + 5]++"),
        (Op::Count(0), "count[r]++"),
        (Op::Count(-5), "count[r - 5]++"),
        (Op::CountConst(7), "count[7]++"),
        (Op::CountInWindow(-5), "count[r - 5]++ in window"),
    ];
    for (op, text) in texts {
        assert_eq!(op.to_string(), text);
    }
}

/// `0 → 1 ⇄ 2, 1 → 3` with this code on the edge from `block` inside the loop, and `r` set before it and
/// counted behind it.
fn loop_plan(block: u32, inside: &[Op]) -> (Cfg, FunctionPlan) {
    let at = |block, succ| {
        Site::Edge(CfgEdge {
            block: BlockId(block),
            succ,
        })
    };
    let code = |site, ops: &[Op]| SiteCode {
        site,
        ops: ops.to_vec(),
    };
    let graph = cfg(&[&[1], &[2, 3], &[1], &[]]);
    let plan = FunctionPlan {
        branches: Vec::new(),
        func: FuncId(0),
        own_order: Order::new(&graph).into(),
        versions: None,
        table: Table::Array { slots: 9 },
        mostly_in_window: IdSet::with_capacity(0),
        entries: false,
        forks: 0,
        probes: vec![
            code(Site::Entry, &[Op::Set(5)]),
            code(at(0, 0), &[Op::Set(5)]),
            code(at(block, 0), inside),
            code(Site::Exit(BlockId(3)), &[Op::Count(0)]),
        ],
    };
    (graph, plan)
}

/// What is added to a constant is a constant.
#[test]
fn sums_of_constants_are_constants() {
    let (graph, plan) = loop_plan(1, &[Op::Set(5), Op::Add(3)]);
    let edge = CfgEdge {
        block: BlockId(1),
        succ: 0,
    };
    let registers = Registers {
        at: graph.by_block(None),
    };
    assert_eq!(registers.value_after(edge, &plan), Some(Value::Const(8)));
}

/// The register never flows over a back edge: such a plan is a mistake of ours.
#[test]
#[should_panic(expected = "which reads the register")]
fn a_sum_over_a_back_edge_is_no_plan() {
    let (graph, plan) = loop_plan(2, &[Op::Add(3)]);
    Registers::new(&graph, plan.order(), &plan);
}

/// Entries are counted by the first of the copies, where control may leave.
#[test]
fn one_copy_counts_entries() {
    let two_loops = cfg(&[&[1], &[1, 2], &[2, 3], &[]]);
    let mut left = two_loops.clone();
    left.blocks[BlockId(2)].may_leave = true;
    for (graph, expected) in [(&two_loops, [false, false]), (&left, [true, false])] {
        let plans = plans(graph, 2).into_iter();
        let entries = plans.map(|p| p.functions[0].entries);
        assert_eq!(entries.collect::<Vec<_>>(), expected);
    }
    let functions = [input(&left)];
    let plan = |copy| {
        copy_plan(
            &functions,
            &all_paths(&functions),
            &[Share::Whole(CopyId(1))],
            copy,
        )
    };
    assert!(plan(CopyId(0)).functions.is_empty());
    assert!(plan(CopyId(1)).functions[0].entries);
}

/// Runs a plan along a walk beside its SSA form.
struct Both<'a> {
    graph: &'a Cfg,
    plan: &'a FunctionPlan,
    ssa: &'a Registers,
    /// What the plan has set.
    register: Option<i64>,
    /// What φs and sums yielded last.
    phis: BTreeMap<BlockId, i64>,
    sums: BTreeMap<CfgEdge, i64>,
}

impl Both<'_> {
    fn eval(&self, value: Value) -> Option<i64> {
        match value {
            Value::Const(c) => Some(c),
            Value::Phi(b) => self.phis.get(&b).copied(),
            Value::Sum(e) => self.sums.get(&e).copied(),
        }
    }

    /// Runs the statements of a site that begins with the value `ssa` has.
    fn run(&mut self, site: Site, mut value: Option<i64>) -> Result<(), TestCaseError> {
        for &op in self.plan.ops(site) {
            if let Op::Add(_) | Op::Count(_) | Op::CountInWindow(_) = op {
                prop_assert!(value.is_some(), "{site:?} reads a value that is not there");
                prop_assert_eq!(value, self.register, "at {:?}", site);
            }
            match op {
                Op::Set(c) => (value, self.register) = (Some(c), Some(c)),
                Op::Add(c) => {
                    self.register = self.register.map(|r| r.wrapping_add(c));
                    value = self.register;
                }
                Op::Count(_) | Op::CountInWindow(_) | Op::CountConst(_) => {}
            }
        }
        Ok(())
    }

    fn take_edge(&mut self, e: CfgEdge) -> Result<(), TestCaseError> {
        let before = self.ssa.at[e.block].and_then(|v| self.eval(v));
        self.run(Site::Edge(e), before)?;
        let after = self.ssa.value_after(e, self.plan);
        if after == Some(Value::Sum(e)) {
            let sum = self.register.expect("a sum of something");
            self.sums.insert(e, sum);
        }
        let to = self.graph.target(e);
        if self.ssa.at[to] == Some(Value::Phi(to)) {
            let value = after.and_then(|v| self.eval(v));
            prop_assert!(value.is_some(), "{e} brings nothing to the φ of block {to}");
            self.phis.insert(to, value.expect("checked"));
        }
        if let Some(at) = self.ssa.at[to] {
            prop_assert_eq!(self.eval(at), self.register, "in block {}", to);
        }
        Ok(())
    }
}

fn check_registers(graph: &Cfg, plan: &FunctionPlan, walk: &Walk) -> Result<(), TestCaseError> {
    let ssa = Registers::new(graph, plan.order(), plan);
    let mut both = Both {
        graph,
        plan,
        ssa: &ssa,
        register: None,
        phis: BTreeMap::new(),
        sums: BTreeMap::new(),
    };
    both.run(Site::Entry, None)?;
    for &e in &walk.edges {
        both.take_edge(e)?;
    }
    if let Some(b) = walk.exit {
        let value = ssa.at[b].and_then(|v| both.eval(v));
        both.run(Site::Exit(b), value)?;
    }
    Ok(())
}

/// The walk through versions of the blocks.
fn versioned(versions: &Versions, walk: &Walk) -> Walk {
    let mut at = BlockId(0);
    let mut edges = Vec::new();
    for e in &walk.edges {
        edges.push(CfgEdge { block: at, ..*e });
        at = versions.cfg.block(at).succs[e.succ as usize];
    }
    let exit = walk.exit.map(|_| at);
    Walk { edges, exit }
}

/// A φ is only where different values meet.
fn no_phi_is_spare(graph: &Cfg, plan: &FunctionPlan) {
    let ssa = Registers::new(graph, plan.order(), plan);
    for b in graph.ids() {
        if ssa.at[b] != Some(Value::Phi(b)) {
            continue;
        }
        let from = |p: BlockId| {
            let succs = graph.block(p).succs.iter().enumerate();
            let into = succs.filter(move |&(_, &to)| to == b);
            into.map(move |(i, _)| CfgEdge {
                block: p,
                succ: i as u32,
            })
        };
        let reachable = |e: &CfgEdge| Order::new(graph).position[e.block].is_some();
        let ins = graph.ids().flat_map(from).filter(reachable);
        let mut values: Vec<_> = ins
            .map(|e| format!("{:?}", ssa.value_after(e, plan)))
            .collect();
        values.sort();
        values.dedup();
        assert!(values.len() > 1, "block {b}: {values:?}");
    }
}

proptest! {
    #[test]
    fn the_register_in_ssa_form_is_the_register(
        graph in any_cfg(20),
        copies in 1..5u32,
        choices in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        let Some(walk) = walk(&graph, &choices) else { return Ok(()) };
        for copy in plans(&graph, copies) {
            for plan in &copy.functions {
                let (graph, walk) = match &plan.versions {
                    Some(versions) => (&versions.cfg, &versioned(versions, &walk)),
                    None => (&graph, &walk),
                };
                check_registers(graph, plan, walk)?;
                no_phi_is_spare(graph, plan);
                let mut ops = plan.probes.iter().flat_map(|code| &code.ops);
                prop_assert!(!ops.any(|op| *op == Op::Add(0)), "an addition of nothing");
            }
        }
    }
}
