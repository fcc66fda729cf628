//! A function that is entered at its loops: what counts the rest of an activation that began without counting.
//!
//! An activation of a function that does not count can go on in one that does where a path ends and the next begins: on
//! a back edge. [`plan_resume`] makes the control flow of such a function and its plan. Block 0 leads to the headers of
//! loops, each in the version in which the paths that begin there are counted, and sets the register as the back edges
//! into that version do. The other blocks are the function's, of which those are left out of the plan that cannot be
//! reached any more.
//!
//! A header that ends in `indirectbr` or a large `switch` is that of an interpreter, which code generators duplicate
//! behind every operation: nothing may be added to it. Activations go on at those of its successors instead to which
//! nothing else leads.
#![cfg_attr(
    not(feature = "llvm"),
    allow(dead_code, reason = "only engines use all of it")
)]

use crate::base::index::{BlockId, CfgEdge, IdSet, TiSlice, TiVec, ti_vec};
use crate::copies::plan::{FunctionPlan, Op, Site, SiteCode};
use crate::input::ir::{Block, Cfg, Terminator};
use crate::paths::dag::Order;
use crate::paths::versions::Versions;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What enters a function at its loops.
#[derive(Clone, Debug)]
pub(crate) struct Resume {
    /// Its control flow: block 0, then the function's blocks in their order.
    pub cfg: Cfg,
    /// Its plan, which counts under the function's ids.
    pub plan: FunctionPlan,
    /// Where block 0 leads: its successors, in order.
    pub places: Vec<ResumePoint>,
}

/// A place where activations go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResumePoint {
    /// The block of the function itself.
    pub block: BlockId,
    /// The header of the loop, where paths begin that are counted from here on.
    pub header: BlockId,
    /// The edge from the header, where the block is another one.
    pub via: Option<CfgEdge>,
    /// The edges to the header that end paths. Not all of what else leads there begins one: see `p3_shadow_child.c`.
    pub edges: Vec<CfgEdge>,
}

/// Where activations go on in the function's versions, and the code on the way there.
struct Start {
    block: BlockId,
    ops: Vec<Op>,
}

/// What resumes the function with control flow `cfg` under `plan`; `None` where it has no loop that can be left for it.
/// O(V + E).
pub(crate) fn plan_resume(cfg: &Cfg, plan: &FunctionPlan) -> Option<Resume> {
    let places = places(cfg, plan);
    if places.is_empty() {
        return None;
    }
    let starts: Vec<Start> = places.iter().map(|p| start(cfg, plan, p)).collect();
    let own = with_entry(cfg, places.iter().map(|p| p.block));
    let versions = plan
        .versions
        .as_ref()
        .map(|versions| shifted_versions(versions, &starts));
    let counting = versions.as_ref().map_or(&own, |v| &v.cfg);
    let order = order_reachable(counting, plan.order());
    let own_order = Arc::new(order_reachable(&own, &plan.own_order));
    let probes = probes(plan, &starts, &order);
    let versions = versions.map(|v| Arc::new(Versions { order, ..v }));
    Some(Resume {
        cfg: own,
        places,
        plan: FunctionPlan {
            own_order,
            versions,
            probes,
            mostly_in_window: shifted_set(&plan.mostly_in_window),
            branches: Vec::new(),
            entries: false,
            ..*plan
        },
    })
}

/// A `switch` with so many targets becomes a jump by a table: what LLVM takes for fewer is a few comparisons.
const TABLE: usize = 4;

/// By header, ascending.
fn places(cfg: &Cfg, plan: &FunctionPlan) -> Vec<ResumePoint> {
    let mut edges: BTreeMap<BlockId, Vec<CfgEdge>> = BTreeMap::new();
    for (edge, header) in plan.own_order.back_edges(cfg) {
        edges.entry(header).or_default().push(edge);
    }
    // Visits of one header may pass by its places unnoticed, and only of one: see `p3_shadow_child.c`.
    let only = only_before(cfg);
    let jumps = edges.keys().map(|&h| (h, find_edges_behind(cfg, h, &only)));
    let interpreter = jumps
        .filter(|(_, behind)| !behind.is_empty())
        .min_by_key(|(h, behind)| (std::cmp::Reverse(behind.len()), *h));
    let places = edges.into_iter().flat_map(|(header, edges)| {
        let vias = match &interpreter {
            Some((h, behind)) if *h == header => behind.clone(),
            _ => vec![None],
        };
        vias.into_iter().map(move |via| ResumePoint {
            block: via.map_or(header, |e| cfg.target(e)),
            header,
            via,
            edges: edges.clone(),
        })
    });
    places.collect()
}

/// The edges out of an interpreter's header, one to each block that is reached from nowhere else; none of another
/// header.
fn find_edges_behind(
    cfg: &Cfg,
    header: BlockId,
    only: &TiSlice<BlockId, Predecessor>,
) -> Vec<Option<CfgEdge>> {
    let targets: BTreeSet<BlockId> = cfg.block(header).succs.iter().copied().collect();
    let jumps = match cfg.block(header).terminator {
        Terminator::IndirectBr => true,
        Terminator::Switch => targets.len() >= TABLE,
        _ => false,
    };
    if !jumps {
        return Vec::new();
    }
    let mut first: BTreeMap<BlockId, CfgEdge> = BTreeMap::new();
    for (succ, &to) in (0..).zip(&cfg.block(header).succs) {
        let edge = CfgEdge {
            block: header,
            succ,
        };
        if to != header && only[to] == Predecessor::One(header) {
            first.entry(to).or_insert(edge);
        }
    }
    first.into_values().map(Some).collect()
}

/// The blocks from which control comes to another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Predecessor {
    None,
    One(BlockId),
    Several,
}

/// By block. O(V + E).
fn only_before(cfg: &Cfg) -> TiVec<BlockId, Predecessor> {
    let mut all = cfg.by_block(Predecessor::None);
    for b in cfg.ids() {
        for &to in &cfg.block(b).succs {
            all[to] = match all[to] {
                Predecessor::None => Predecessor::One(b),
                Predecessor::One(other) if other == b => Predecessor::One(b),
                _ => Predecessor::Several,
            };
        }
    }
    all
}

/// Behind any version of any of the loop's edges: a path ends there, so where the next begins is all that is known.
fn start(cfg: &Cfg, plan: &FunctionPlan, of: &ResumePoint) -> Start {
    let edge = of.edges[0];
    let counting = plan.versions.as_ref().map_or(cfg, |v| &v.cfg);
    let is_version = |b: &&BlockId| match &plan.versions {
        Some(versions) => versions.origin[**b] == edge.block,
        None => **b == edge.block,
    };
    let block = plan.order().rpo.iter().find(is_version);
    let version = CfgEdge {
        block: *block.expect("a block that is reached has a version that is"),
        ..edge
    };
    let register = plan
        .ops(Site::Edge(version))
        .iter()
        .fold(None, register_after);
    let header = counting.target(version);
    let via = of.via.map(|e| CfgEdge { block: header, ..e });
    let more = via.map_or(&[][..], |e| plan.ops(Site::Edge(e)));
    let set = register.map(Op::Set).into_iter();
    Start {
        block: via.map_or(header, |e| counting.target(e)),
        ops: set.chain(more.iter().copied()).collect(),
    }
}

fn register_after(register: Option<i64>, op: &Op) -> Option<i64> {
    match *op {
        Op::Set(c) => Some(c),
        Op::Add(c) => register.map(|r| r.wrapping_add(c)),
        Op::Count(_) | Op::CountInWindow(_) | Op::CountConst(_) => register,
    }
}

fn shift_block(b: BlockId) -> BlockId {
    BlockId(b.0 + 1)
}

fn shifted_set(blocks: &IdSet<BlockId>) -> IdSet<BlockId> {
    let mut set = IdSet::with_capacity(blocks.capacity() + 1);
    set.extend(blocks.iter().map(shift_block));
    set
}

/// `cfg` behind a block that leads to `targets`.
pub(crate) fn with_entry(cfg: &Cfg, targets: impl Iterator<Item = BlockId>) -> Cfg {
    let entry = Block {
        instructions: 1,
        ..Block::with_terminator(Terminator::Switch, targets.map(shift_block).collect())
    };
    let mut blocks = ti_vec![entry];
    blocks.extend(cfg.blocks.iter().cloned().map(|mut block| {
        block.succs.iter_mut().for_each(|s| *s = shift_block(*s));
        block
    }));
    Cfg { blocks }
}

fn shifted_versions(versions: &Versions, starts: &[Start]) -> Versions {
    let origins = versions.origin.iter().map(|&b| shift_block(b));
    Versions {
        cfg: with_entry(&versions.cfg, starts.iter().map(|s| s.block)),
        origin: std::iter::once(BlockId(0)).chain(origins).collect(),
        order: Order::from_topological(Vec::new(), 0),
    }
}

/// The blocks that block 0 of `cfg` reaches, in `order`, which is that of the blocks behind it.
fn order_reachable(cfg: &Cfg, order: &Order) -> Order {
    let mut reached = cfg.by_block(false);
    reached[BlockId(0)] = true;
    let mut work = vec![BlockId(0)];
    while let Some(b) = work.pop() {
        for &to in &cfg.block(b).succs {
            if !std::mem::replace(&mut reached[to], true) {
                work.push(to);
            }
        }
    }
    let behind = order.rpo.iter().map(|&b| shift_block(b));
    let all = std::iter::once(BlockId(0)).chain(behind);
    Order::from_topological(all.filter(|b| reached[*b]).collect(), cfg.len())
}

fn probes(plan: &FunctionPlan, starts: &[Start], order: &Order) -> Vec<SiteCode> {
    let first = (0..).zip(starts).map(|(succ, start)| SiteCode {
        site: Site::Edge(CfgEdge {
            block: BlockId(0),
            succ,
        }),
        ops: start.ops.clone(),
    });
    let first = first.filter(|code| !code.ops.is_empty());
    let moved = plan.probes.iter().filter_map(|code| {
        let (block, site) = match code.site {
            Site::Entry => return None,
            Site::Edge(CfgEdge { block, succ }) => {
                let block = shift_block(block);
                (block, Site::Edge(CfgEdge { block, succ }))
            }
            Site::Exit(block) => (shift_block(block), Site::Exit(shift_block(block))),
        };
        let ops = code.ops.clone();
        order.position[block].map(|_| SiteCode { site, ops })
    });
    let mut probes: Vec<SiteCode> = first.chain(moved).collect();
    probes.sort_by_key(|code| code.site);
    probes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copies::plan::interp::{Activation, Outcome};
    use crate::copies::plan::made::whole_plan;
    use crate::copies::plan::register::Registers;
    use crate::paths::random_cfg::{Walk, any_cfg, cfg, walk};
    use proptest::prelude::*;

    /// What the plan counts along the walk, on edges from number `from` on.
    fn counted_from(plan: &FunctionPlan, walk: &Walk, from: usize) -> Outcome {
        let (mut before, mut all) = (Outcome::default(), Outcome::default());
        let mut activation = Activation::enter_function(plan, &mut before).unwrap();
        for e in &walk.edges[..from] {
            activation.take_edge(e.block, e.succ).unwrap();
        }
        crate::copies::plan::interp::run(plan, walk, &mut all).unwrap();
        for (id, count) in before.counts {
            *all.counts.get_mut(&id).unwrap() -= count;
        }
        all.counts.retain(|_, count| *count > 0);
        all
    }

    fn resumed_from(resume: &Resume, place: usize, walk: &Walk, from: usize) -> Outcome {
        let mut outcome = Outcome::default();
        let mut activation = Activation::enter_function(&resume.plan, &mut outcome).unwrap();
        activation.take_edge(BlockId(0), place as u32).unwrap();
        for e in &walk.edges[from..] {
            activation.take_edge(shift_block(e.block), e.succ).unwrap();
        }
        if let Some(exit) = walk.exit {
            activation.leave_function(shift_block(exit)).unwrap();
        }
        outcome
    }

    proptest! {
        /// From every back edge of a walk on, the same is counted as by the function that counts from its entry.
        #[test]
        fn what_follows_a_back_edge_is_counted(
            graph in any_cfg(20),
            choices in proptest::collection::vec(any::<u8>(), 0..120),
        ) {
            let Some(walk) = walk(&graph, &choices) else { return Ok(()) };
            let plan = whole_plan(&graph);
            let Some(resume) = plan_resume(&graph, &plan) else { return Ok(()) };
            let counting = resume.plan.versions.as_ref().map_or(&resume.cfg, |v| &v.cfg);
            Registers::new(counting, resume.plan.order(), &resume.plan);
            for (i, e) in walk.edges.iter().enumerate() {
                let next = walk.edges.get(i + 1);
                let mut places = resume.places.iter();
                let resumes = |p: &ResumePoint| p.edges.contains(e) && p.via.is_none_or(|v| next == Some(&v));
                let Some(n) = places.position(resumes) else { continue };
                let from = i + 1 + usize::from(resume.places[n].via.is_some());
                let rest = resumed_from(&resume, n, &walk, from);
                prop_assert_eq!(rest.counts, counted_from(&plan, &walk, i + 1).counts);
            }
        }
    }

    proptest! {
        /// Counts of both functions add up for an interpreter, too, in any order of operations.
        #[test]
        fn what_an_interpreter_does_is_counted(
            operations in proptest::collection::vec(0usize..4, 0..60),
            terminator in proptest::sample::select(vec![Terminator::IndirectBr, Terminator::Switch]),
        ) {
            let mut graph = cfg(&[&[1], &[2, 3, 4, 2], &[1], &[1, 5], &[], &[6, 1], &[1], &[1]]);
            if terminator == Terminator::Switch {
                graph.blocks[BlockId(1)].succs[3] = BlockId(7);
            }
            graph.blocks[BlockId(1)].terminator = terminator;
            let plan = whole_plan(&graph);
            let resume = plan_resume(&graph, &plan).unwrap();
            // Of each operation the choices after it: back, or by block 5, and by block 6.
            let mut choices = vec![0];
            for o in operations {
                choices.extend(match o {
                    0 => vec![0, 0],
                    1 => vec![1, 0],
                    2 => vec![1, 1, 1],
                    _ => vec![1, 1, 0, 0],
                });
            }
            choices.push(2);
            let walk = walk(&graph, &choices).expect("it returns");
            for (i, e) in walk.edges.iter().enumerate() {
                let next = walk.edges.get(i + 1);
                let place = |p: &ResumePoint| p.edges.contains(e) && p.via.as_ref() == next;
                let Some(n) = resume.places.iter().position(place) else { continue };
                let rest = resumed_from(&resume, n, &walk, i + 2);
                prop_assert_eq!(rest.counts, counted_from(&plan, &walk, i + 1).counts);
            }
        }
    }

    /// Block and header of each place at which the function is entered again.
    fn resumed_places(graph: &Cfg) -> Vec<(u32, u32)> {
        let resume = plan_resume(graph, &whole_plan(graph)).unwrap();
        resume
            .places
            .iter()
            .map(|p| (p.block.0, p.header.0))
            .collect()
    }

    /// An interpreter: block 1 leads to three operations, of which two come back. Some may be another's target, too.
    #[test]
    fn interpreters_are_entered_behind_their_jump() {
        let mut graph = cfg(&[&[1], &[2, 3, 4, 2], &[1], &[1, 5], &[], &[1]]);
        graph.blocks[BlockId(1)].terminator = Terminator::IndirectBr;
        assert_eq!(resumed_places(&graph), [(2, 1), (3, 1), (4, 1)]);
        graph.blocks[BlockId(2)].succs = vec![BlockId(3)];
        assert_eq!(resumed_places(&graph), [(2, 1), (4, 1)]);
        graph.blocks[BlockId(0)].succs = [1, 2, 3, 4].map(BlockId).into();
        assert_eq!(resumed_places(&graph), [(1, 1)]);
    }

    /// Of two large switches the larger one is an interpreter's: block 1's, to 2, 3, 4, 5 and 6; not block 3's, to 3,
    /// 7, 8 and 1.
    #[test]
    fn large_switches_are_interpreters() {
        let mut graph = cfg(&[
            &[1],
            &[2, 3, 4, 5, 6, 2],
            &[1],
            &[3, 7, 8, 1],
            &[1],
            &[1],
            &[],
            &[3],
            &[3],
        ]);
        let behind = [(2, 1), (4, 1), (5, 1), (6, 1), (3, 3)];
        assert_eq!(resumed_places(&graph), behind);
        graph.blocks[BlockId(1)].succs = [2, 4, 6].map(BlockId).into();
        assert_eq!(resumed_places(&graph), [(1, 1)]);
    }

    #[test]
    fn without_loops_there_is_nothing_to_resume() {
        let graph = cfg(&[&[1, 2], &[2], &[]]);
        assert!(plan_resume(&graph, &whole_plan(&graph)).is_none());
    }
}
