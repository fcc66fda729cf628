use super::modes::RESUMED;
use super::*;
use crate::base::index::BlockId;
use crate::input::ir::Call;
use crate::paths::dag::{Dominators, EdgeKind};
use crate::paths::function::Measuring;
use crate::paths::random_cfg::{any_cfg, cfg};
use proptest::prelude::*;

fn plain_flow(own: &Cfg) -> SampledFlow {
    SampledFlow::function_flow(own, &Measuring::from_cfg(own))
}

/// With every loop once.
fn plan(own: &Cfg, of: Sequence) -> SubpathPlan {
    SubpathPlan::new(FuncId(0), 0, plain_flow(own), of)
}

/// With loops several times.
fn plan_of_iterations(own: &Cfg) -> SubpathPlan {
    let flow = SampledFlow::new(own, &Measuring::from_cfg(own));
    SubpathPlan::new(FuncId(0), 0, flow, Sequence::Activation)
}

#[test]
fn longest_ways() {
    // 0 → 1 → {2, 3}, 2 → 3, 3 → {1, 4}
    let graph = cfg(&[&[1], &[2, 3], &[3], &[1, 4], &[]]);
    let segments = Segments::new(&plain_flow(&graph));
    assert_eq!(segments.longest.raw, [5, 4, 3, 2, 1]);
    assert_eq!(segments.boundaries, [(edge(3, 0), BlockId(1))]);
}

fn edge(block: u32, succ: u32) -> CfgEdge {
    let block = BlockId(block);
    CfgEdge { block, succ }
}

fn segments(succs: &[Vec<u32>]) -> Segments {
    let graph = cfg(&succs.iter().map(Vec::as_slice).collect::<Vec<_>>());
    Segments::new(&plain_flow(&graph))
}

/// Blocks that lead from one to the next, from number `from` on, and return.
fn straight_blocks(from: u32, blocks: u32) -> impl Iterator<Item = Vec<u32>> {
    let on = (1..blocks).map(move |n| vec![from + n]);
    on.chain([vec![]])
}

/// A loop is left once in ten iterations: what follows is paid for there as soon as that is cheaper than paying for it
/// in each.
#[test]
fn exits_of_loops_pay_for_what_follows() {
    let before_way = |blocks| {
        let loops = [vec![1], vec![1, 2]].into_iter();
        segments(&loops.chain(straight_blocks(2, blocks)).collect::<Vec<_>>())
    };
    let long = before_way(47);
    assert_eq!(long.longest.raw[..3], [2, 1, 47]);
    let boundaries = [(edge(1, 0), BlockId(1)), (edge(1, 1), BlockId(2))];
    assert_eq!(long.boundaries, boundaries);
    let short = before_way(46);
    assert_eq!(short.longest.raw[..3], [48, 47, 46]);
    assert_eq!(short.boundaries, boundaries[..1]);
}

/// A `switch` with one long case in sixteen, and an `indirectbr` that cannot tell it apart.
#[test]
fn a_long_case_pays_for_itself() {
    let first = [(1..17).collect::<Vec<u32>>()].into_iter();
    let cases = (1..16).map(|_| vec![]);
    let succs: Vec<_> = first.chain(cases).chain(straight_blocks(16, 36)).collect();
    let split = segments(&succs);
    assert_eq!(split.longest[BlockId(0)], 2);
    assert_eq!(split.boundaries, [(edge(0, 15), BlockId(16))]);
    let mut graph = cfg(&succs.iter().map(Vec::as_slice).collect::<Vec<_>>());
    graph.blocks[BlockId(0)].terminator = Terminator::IndirectBr;
    let whole = Segments::new(&plain_flow(&graph));
    assert_eq!(whole.longest[BlockId(0)], 37);
    assert_eq!(whole.boundaries, []);
}

proptest! {
    /// All back edges are boundaries, and where none is the longest way is one block longer than the longest one
    /// behind.
    #[test]
    fn segments_are_paid_for(graph in any_cfg(30)) {
        let flow = SampledFlow::new(&graph, &Measuring::from_cfg(&graph));
        let segments = Segments::new(&flow);
        let Versions { cfg: graph, order, .. } = &flow.versions;
        for &b in &order.rpo {
            let mut longest = 0;
            for (succ, &to) in (0..).zip(&graph.block(b).succs) {
                let is_boundary = segments.boundaries.contains(&(edge(b.0, succ), to));
                prop_assert!(is_boundary || !order.is_retreating(b, to));
                if !is_boundary {
                    longest = longest.max(segments.longest[to]);
                }
            }
            prop_assert_eq!(segments.longest[b], longest + 1);
        }
    }
}

/// The entry and the back edge pay; what is behind them exists twice, what pays at the entry once.
#[test]
fn a_loop() {
    let graph = cfg(&[&[1], &[1, 2], &[]]);
    let plan = plan(&graph, Sequence::Activation);
    let on = CfgEdge {
        block: BlockId(1),
        succ: 0,
    };
    assert_eq!(plan.made, [Made::Body, Made::New, Made::On(on), Made::New]);
    let pays: Vec<End> = plan.nodes.iter().map(|n| n.end).collect();
    let [e, b] = [End::Pays(3), End::Pays(2)];
    let (d, f) = (End::Decides(3), End::Decides(2));
    assert_eq!(pays, [e, End::Own, End::Own, End::Own, d, b, f]);
    let modes: Vec<_> = plan.modes.iter().flatten().collect();
    let sampling = modes.iter().filter(|m| ***m == Mode::Sampling).count();
    let resumed = modes.iter().filter(|m| ***m == Mode::Resumed(BlockId(1)));
    // Block 1, and what pays and decides on the back edge; with block 2 and the body of 0; with what pays and decides
    // at the entry.
    let skipping = modes.len() - sampling - resumed.clone().count();
    assert_eq!((resumed.count(), sampling, skipping), (3, 5, 7));
}

/// Every loop is resumed as deep as nests are copied, and not deeper.
#[test]
fn nests() {
    // i → i + 1, and back to i from 2n - i: n loops around each other.
    let n = RESUMED + 2;
    let succs: Vec<Vec<u32>> = (0..=2 * n as u32)
        .map(|i| match i {
            0 => vec![1],
            _ if i <= n as u32 => vec![i + 1],
            _ if i < 2 * n as u32 => vec![i + 1, 2 * n as u32 - i],
            _ => vec![],
        })
        .collect();
    let graph = cfg(&succs.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let plan = plan(&graph, Sequence::Activation);
    let mut versions = graph.by_block(Vec::new());
    for (mode, origin) in plan.modes.iter().zip(&plan.versions.origin) {
        if let (Some(Mode::Resumed(h)), Some(of)) = (mode, versions.get_mut(*origin)) {
            of.push(h.0);
        }
    }
    versions.iter_mut().for_each(|of| of.sort());
    let header = |i: usize| &versions[BlockId::new(i)];
    assert_eq!(header(1)[..], [1]);
    assert_eq!(
        header(RESUMED)[..],
        (1..=RESUMED as u32).collect::<Vec<_>>()
    );
    assert_eq!(header(RESUMED + 1), header(RESUMED));
    assert!(natural(&graph, &plan));
}

/// Whether loops of `own`, if each has one entry, have one entry in every version but the sampling one.
fn natural(own: &Cfg, plan: &SubpathPlan) -> bool {
    let once = |cfg: &Cfg, within: &dyn Fn(BlockId, BlockId) -> bool| {
        let dominators = Dominators::new(cfg);
        let order = Order::new(cfg);
        let mut backs = order.back_edges(cfg).filter(|(e, to)| within(e.block, *to));
        backs.all(|(e, to)| dominators.dominates(to, e.block))
    };
    let skips = |b| plan.modes[b] != Some(Mode::Sampling);
    let same = |a, b| skips(a) && plan.modes[a] == plan.modes[b];
    !once(own, &|_, _| true) || once(&plan.versions.cfg, &same)
}

proptest! {
    /// Along any walk through the versions, the blocks that begin are those of a walk through the function; each
    /// segment begins as many as it paid for at most; and a version is left at boundaries only.
    #[test]
    fn walks(
        graph in any_cfg(20),
        choices in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let plan = plan_of_iterations(&graph);
        prop_assert!(natural(&graph, &plan), "a loop that is skipped has a second entry");
        let cfg = &plan.versions.cfg;
        let (mut at, mut slots, mut last) = (BlockId(0), 0, None);
        let mut next = choices.iter();
        loop {
            let origin = plan.versions.origin[at];
            let node = plan.nodes[origin];
            if node.begins {
                let own = BlockId(plan.number(node));
                match last {
                    Some(last) => prop_assert!(graph.block(last).succs.contains(&own)),
                    None => prop_assert_eq!(own, BlockId(0)),
                }
                last = Some(own);
                slots -= 1;
                prop_assert!(slots >= 0);
            }
            if let End::Pays(n) = node.end {
                slots = i64::from(n);
            }
            let succs = &cfg.block(at).succs;
            let (Some(choice), false) = (next.next(), succs.is_empty()) else { break };
            let to = succs[usize::from(*choice) % succs.len()];
            let decides = matches!(node.end, End::Decides(_));
            let (from, into) = (plan.modes[at].unwrap(), plan.modes[to].unwrap());
            let leaves = matches!((from, into), (Mode::Resumed(_), Mode::Sampling));
            prop_assert!(decides || leaves || from == into);
            // The version that began is never entered again.
            prop_assert!(from == into || into != Mode::Skipping);
            at = to;
        }
    }
}

/// What was run of an activation since it left a function.
struct Gone {
    /// The loop around the place that was not left, as the two functions tell each other.
    inside: Option<u32>,
    /// The blocks of the flow that began.
    run: BTreeSet<BlockId>,
}

impl Gone {
    fn leave_at(nest: &Nest, place: Continuation) -> Gone {
        Gone {
            inside: nest.find_around(place.block),
            run: BTreeSet::new(),
        }
    }

    fn is_inside(&self, nest: &Nest, number: u32) -> bool {
        let last = nest.loops[number as usize].last;
        self.inside.is_some_and(|l| (number..=last).contains(&l))
    }
}

proptest! {
    /// Walks through two functions are recorded, too: what the first pays for and leaves is gone on with by the other.
    /// That goes back to a header if nothing was run again that defines what is live there.
    #[test]
    fn walks_apart(
        graph in any_cfg(20),
        calls in any::<bool>(),
        choices in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let callee = if calls { Callee::Indirect } else { Callee::Asm };
        let graph = with_calls(graph, &callee);
        let flow = SampledFlow::new(&graph, &Measuring::from_cfg(&graph));
        let plan = SubpathPlan::new(FuncId(0), 0, flow, Sequence::Thread);
        let apart = plan.apart.as_deref().expect("there are no landing pads");
        prop_assert!(apart.skipping.modes.iter().flatten().all(|m| *m == Mode::Skipping));
        prop_assert!(natural(&graph, &apart.skipping));
        let dominators = Dominators::new(&plan.flow.versions.cfg);
        let mut gone = None;
        let mut now = &apart.skipping;
        let (mut at, mut slots, mut last) = (BlockId(0), 0, None);
        let mut next = choices.iter();
        loop {
            let node = now.nodes[now.versions.origin[at]];
            if node.begins {
                let own = BlockId(now.number(node));
                match last {
                    Some(last) => prop_assert!(graph.block(last).succs.contains(&own)),
                    None => prop_assert_eq!(own, BlockId(0)),
                }
                last = Some(own);
                slots -= 1;
                prop_assert!(slots >= 0);
                if let Some(Gone { run, .. }) = &mut gone {
                    run.insert(BlockId(node.origin.0 - 1));
                }
            }
            match node.end {
                End::Pays(n) => slots = i64::from(n),
                End::Decides(n) => prop_assert_eq!(slots, i64::from(n), "what is decided on was paid"),
                End::Looks => prop_assert!(calls && slots > 0, "in the middle of a segment"),
                _ => {}
            }
            let succs = &now.versions.cfg.block(at).succs;
            match (node.end, &mut gone) {
                (End::Leaves(place), None) => {
                    gone = Some(Gone::leave_at(&apart.nest, apart.places[place as usize]));
                    now = &apart.sampling;
                    let entry = now.versions.cfg.block(BlockId(0));
                    at = entry.succs[place as usize];
                }
                (End::Enters(number), Some(gone)) => {
                    if gone.is_inside(&apart.nest, number) {
                        gone.inside = apart.nest.loops[number as usize].outer;
                    }
                    at = succs[0];
                }
                (End::Stays(number), Some(gone)) => {
                    at = succs[usize::from(!gone.is_inside(&apart.nest, number))];
                }
                (End::Back(number), Some(Gone { run, .. })) => {
                    let header = apart.nest.loops[number as usize].header;
                    let again = run.iter().find(|b| **b != header && dominators.dominates(**b, header));
                    prop_assert_eq!(again, None, "what is live at {} was defined again", header);
                    gone = None;
                    now = &apart.skipping;
                    at = header;
                }
                (End::Leaves(_) | End::Enters(_) | End::Stays(_) | End::Back(_), _) => {
                    prop_assert!(false, "{:?} is of the other function", node.end);
                }
                _ => {
                    let (Some(choice), false) = (next.next(), succs.is_empty()) else { break };
                    at = succs[usize::from(*choice) % succs.len()];
                }
            }
        }
    }
}

/// Two loops around a third one, which is entered in its middle as well, and a large one by itself.
#[test]
fn nests_are_numbered_from_outside() {
    let succs: &[&[u32]] = &[&[1], &[2], &[3, 4], &[4], &[3, 2, 5], &[1, 6], &[6, 7], &[]];
    let nest = |code| {
        let graph = with_code(succs, 6, code);
        Nest::new(&graph, &Order::new(&graph))
    };
    let of = |nest: &Nest, b| {
        let header = |l| nest.loops[l as usize].header.0;
        nest.find_all_around(BlockId(b))
            .map(header)
            .collect::<Vec<_>>()
    };
    let large = nest(257);
    let around: Vec<_> = (0..8).map(|b| of(&large, b)).collect();
    let [inner, outer] = [vec![2, 1], vec![1]];
    let (none, alone) = (vec![], vec![6]);
    let expected = [&none, &outer, &inner, &inner, &inner, &outer, &alone, &none];
    assert_eq!(around.iter().collect::<Vec<_>>(), expected);
    for (number, l) in (0..).zip(&large.loops) {
        assert_eq!(large.find_headed_by(l.header), Some(number));
        let holds = |o: u32| o < number && large.loops[o as usize].last >= l.last;
        assert!(l.outer.is_none_or(holds));
    }
    let entries = |header| {
        let number = large.find_headed_by(BlockId(header)).expect("it is one");
        large.loops[number as usize].entries.clone()
    };
    let all = [1, 2, 6].map(entries);
    assert_eq!(all, [[edge(0, 0)], [edge(1, 0)], [edge(5, 1)]]);
    assert_eq!(
        [3, 4].map(|b| large.find_headed_by(BlockId(b))),
        [None, None]
    );
    // Of two blocks that are entered from elsewhere neither is a header; a loop that is not large and holds no other
    // one is left alone.
    assert!(of(&nest(256), 6).is_empty());
    // One that calls a function of the program is gone on with, however small it is.
    let calling = |callee| {
        let mut graph = with_code(succs, 6, 1);
        graph.blocks[BlockId(6)].calls.push(Call {
            callee,
            span: 0,
            may_leave: false,
        });
        of(&Nest::new(&graph, &Order::new(&graph)), 6)
    };
    assert_eq!(calling(Callee::Indirect), [6]);
    assert!(calling(Callee::External("sin".into())).is_empty());
}

/// The blocks of the function that a flow has, by how often.
fn times(own: &Cfg, flow: &SampledFlow) -> Vec<usize> {
    let mut times = own.by_block(0);
    for b in &flow.versions.order.rpo {
        times[flow.versions.origin[*b]] += 1;
    }
    times.raw
}

fn with_code(succs: &[&[u32]], block: u32, instructions: u32) -> Cfg {
    let mut graph = cfg(succs);
    graph.blocks[BlockId(block)].instructions = instructions;
    graph
}

/// A short loop pays for its first iteration, then once for four, or as many as make 256 instructions, and where it is
/// left for what is behind it.
#[test]
fn a_short_loop() {
    let times = |graph: &Cfg| times(graph, &SampledFlow::new(graph, &Measuring::from_cfg(graph)));
    let of = |code| times(&with_code(&[&[1], &[1, 2], &[]], 1, code));
    assert_eq!(of(1), [1, 5, 1]);
    assert_eq!(of(64), [1, 5, 1]);
    assert_eq!(of(65), [1, 4, 1]);
    assert_eq!(of(128), [1, 3, 1]);
    assert_eq!(of(129), [1, 1, 1]);
    let graph = cfg(&[&[1], &[1, 2], &[]]);
    let plan = plan_of_iterations(&graph);
    let pays = |n: &Node| matches!(n.end, End::Pays(_)).then_some(n.end);
    let pays: Vec<End> = plan.nodes.iter().filter_map(pays).collect();
    assert_eq!(pays, [End::Pays(3), End::Pays(5), End::Pays(5)]);
}

/// Only the innermost loops are there several times, and those that are entered at their headers.
#[test]
fn loops_that_are_there_once() {
    let times = |succs: &[&[u32]]| {
        let graph = cfg(succs);
        times(
            &graph,
            &SampledFlow::new(&graph, &Measuring::from_cfg(&graph)),
        )
    };
    assert_eq!(times(&[&[1], &[2], &[2, 3], &[1, 4], &[]]), [1, 1, 5, 1, 1]);
    assert_eq!(times(&[&[1, 2], &[2], &[1, 3], &[]]), [1, 1, 1, 1]);
}

/// A loop that is left after one iteration, or never ran, has nothing to be saved.
#[test]
fn loops_that_do_not_go_round() {
    let graph = cfg(&[&[1], &[1, 2], &[]]);
    let mut paths = Measuring::from_cfg(&graph);
    let weigh = |paths: &mut Measuring, back: f64, out: f64| {
        for e in paths.dag.edge_ids() {
            let kind = paths.dag.edge(e).kind;
            paths.weights[e] = match kind {
                EdgeKind::BackEdge(_) => back,
                _ => out,
            };
        }
        times(&graph, &SampledFlow::new(&graph, paths))
    };
    assert_eq!(weigh(&mut paths, 1.0, 1.0), [1, 5, 1]);
    assert_eq!(weigh(&mut paths, 1.0, 2.0), [1, 1, 1]);
    assert_eq!(weigh(&mut paths, 0.0, 0.0), [1, 1, 1]);
}

proptest! {
    /// Whatever is there several times, back edges are the function's, and one iteration alone of a loop has its own.
    #[test]
    fn back_edges_stay(graph in any_cfg(20)) {
        let paths = Measuring::from_cfg(&graph);
        let flow = SampledFlow::new(&graph, &paths);
        let Versions { cfg, origin, order } = &flow.versions;
        let of = |(e, _): (CfgEdge, BlockId)| flow.versions.origin_of(e);
        let mut backs: Vec<CfgEdge> = order.back_edges(cfg).map(of).collect();
        backs.sort();
        backs.dedup();
        let mut own: Vec<CfgEdge> = paths.shape.order.back_edges(&graph).map(|(e, _)| e).collect();
        own.sort();
        prop_assert_eq!(backs, own);
        let inside = |e: CfgEdge, to| {
            let at = |b: BlockId| paths.shape.order.position[b].unwrap();
            paths.shape.loops.loop_of(at(origin[e.block])) == Some(at(origin[to]))
        };
        let mut of_its_own: Vec<CfgEdge> = order.back_edges(cfg).filter(|(e, to)| inside(*e, *to)).map(of).collect();
        let all = of_its_own.len();
        of_its_own.sort();
        of_its_own.dedup();
        prop_assert_eq!(of_its_own.len(), all);
        for &b in &order.rpo {
            let succs: Vec<BlockId> = cfg.block(b).succs.iter().map(|s| origin[*s]).collect();
            prop_assert_eq!(&succs[..], &graph.block(origin[b]).succs[..]);
        }
    }
}

/// Calls in every block.
fn with_calls(mut graph: Cfg, callee: &Callee) -> Cfg {
    for block in &mut graph.blocks {
        let callee = callee.clone();
        block.calls.push(Call {
            callee,
            span: 0,
            may_leave: false,
        });
    }
    graph
}

/// Behind calls something may be recorded: not behind those of a library that calls nothing back, nor where the budget
/// is looked at to be paid from. Behind landing pads control goes over in the middle of a block: there is one function.
#[test]
fn calls_are_looked_behind() {
    let looks = |graph: &Cfg, of| {
        let plan = plan(graph, of);
        (plan.figures().tests, plan.apart.is_some())
    };
    let graph = cfg(&[&[1], &[1, 2], &[]]);
    let calls = with_calls(graph.clone(), &Callee::Indirect);
    assert_eq!(looks(&graph, Sequence::Thread), (0, true));
    assert_eq!(looks(&calls, Sequence::Thread), (2, true));
    assert_eq!(looks(&calls, Sequence::Activation), (0, true));
    let of = |name: &str| with_calls(graph.clone(), &Callee::External(name.into()));
    assert_eq!(looks(&of("strlen"), Sequence::Thread), (0, true));
    assert_eq!(looks(&of("qsort"), Sequence::Thread), (2, true));
    let mut invokes = calls;
    invokes.blocks[BlockId(1)].terminator = Terminator::Invoke;
    invokes.blocks[BlockId(1)].succs = [0, 2].map(BlockId).into();
    assert!(!looks(&invokes, Sequence::Thread).1);
    assert!(looks(&invokes, Sequence::Activation).1);
}
