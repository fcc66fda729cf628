//! The papers' own examples, as they print them: what a reader who holds the paper beside the code can check.
//!
//! What of the figures is not here, and why, is in `papers/figures.md` and in `docs/ALGORITHMS.md`, section 11.

use crate::base::index::{BlockId, CfgEdge, EdgeId, IdSet, TiSlice};
use crate::copies::partition::distribute;
use crate::input::ir::Cfg;
use crate::paths::dag::{Dag, EdgeKind, Shape};
use crate::paths::edges::{counted_edges, propagate};
use crate::paths::numbering::{Numbering, ball_larus, enumerate, pspp};
use crate::paths::random_cfg::cfg;
use crate::paths::spantree::SpanningTree;
use crate::paths::weights::static_weights;

mod p3;

/// The running example of Ball & Larus 1996 (Fig. 1 to 3), without its back edge.
///
/// ```text
///        A
///      /   \          A → C, B
///     B     |         B → C, D
///     | \   |         C → D
///     |  \  |         D → F, E
///     |    C          E → F
///     |   /
///      \ /
///       D
///       | \
///       |  E
///       | /
///       F
/// ```
fn running_example() -> Cfg {
    cfg(&[&[2, 1], &[2, 3], &[3], &[5, 4], &[5], &[]])
}

/// The blocks that a path goes through, as letters.
fn letters(dag: &Dag, path: &[EdgeId]) -> String {
    let targets = path.iter().filter_map(|&e| dag.block(dag.edge(e).dst));
    targets.map(|b| char::from(b'A' + b.0 as u8)).collect()
}

/// Every path as letters, with its id, by id.
fn ids(dag: &Dag, numbering: &Numbering) -> Vec<(u64, String)> {
    let paths = enumerate(dag).into_iter();
    let mut ids: Vec<_> = paths
        .map(|p| (numbering.id(&p), letters(dag, &p)))
        .collect();
    ids.sort();
    ids
}

/// The label of the edge between two blocks given by letters.
fn label_between(dag: &Dag, labels: &TiSlice<EdgeId, u64>, from: char, to: char) -> u64 {
    let vertex = |letter| dag.vertex(BlockId(u32::from(letter) - u32::from('A')));
    let dst = vertex(to).expect("a block");
    let mut outs = dag.out_edges(vertex(from).expect("a block"));
    let edge = outs.find(|&e| dag.edge(e).dst == dst).expect("an edge");
    labels[edge]
}

/// Ball & Larus 1996, Fig. 2 and 3: the labels on the edges, and the six paths by the sums of their labels.
#[test]
fn ball_larus_1996_figures_2_and_3() {
    let dag = Dag::from_cfg(&running_example(), &[]);
    let numbering = ball_larus(&dag).expect("six paths");
    let label = |from, to| label_between(&dag, &numbering.labels, from, to);
    assert_eq!([label('A', 'C'), label('A', 'B')], [0, 2]);
    assert_eq!([label('B', 'C'), label('B', 'D')], [0, 2]);
    assert_eq!([label('D', 'F'), label('D', 'E')], [0, 1]);
    assert_eq!([label('C', 'D'), label('E', 'F')], [0, 0]);
    let expected = ["ACDF", "ACDEF", "ABCDF", "ABCDEF", "ABDF", "ABDEF"];
    let expected = expected.map(str::to_string).into_iter();
    assert_eq!(
        ids(&dag, &numbering),
        (0..).zip(expected).collect::<Vec<_>>()
    );
}

/// The block of `docs/ALGORITHMS.md`, or of `papers/figures.md`, that has these words behind its backquotes and `text`.
fn printed_block(words: &str) -> String {
    let pages = [
        include_str!("../../docs/ALGORITHMS.md"),
        include_str!("papers/figures.md"),
    ];
    let mark = format!("```text {words}\n");
    let block = pages.iter().find_map(|page| page.split_once(&mark));
    let (_, block) = block.expect("a block");
    block.split("```").next().expect("an end").to_string()
}

/// The page prints, under its drawings of the running example and of a loop, what is computed.
#[test]
fn paths_in_the_book() {
    for (name, graph) in [("running", running_example()), ("loop", section_3_5())] {
        let dag = Dag::from_cfg(&graph, &[]);
        let numbering = ball_larus(&dag).expect("few paths");
        let lines = ids(&dag, &numbering).into_iter();
        let lines: String = lines.map(|(id, path)| format!("{id}  {path}\n")).collect();
        assert_eq!(printed_block(&format!("paths {name}")), lines);
    }
}

/// So it does for the chords, `increment` by edge.
fn chords_in_the_book(dag: &Dag, tree: &SpanningTree, increments: &TiSlice<EdgeId, i64>) -> String {
    let letter = |v| dag.block(v).map(|b| char::from(b'A' + b.0 as u8));
    let inner = dag.edges().iter_enumerated();
    let chords = inner.filter(|(e, _)| !tree.tree.contains(*e));
    chords
        .filter_map(|(e, edge)| Some((letter(edge.src)?, letter(edge.dst)?, increments[e])))
        .map(|(from, to, n)| match n {
            0 => format!("{from} → {to}   0\n"),
            n => format!("{from} → {to}  {n:+}\n"),
        })
        .collect()
}

/// Ball & Larus 1996, Fig. 1: two runs whose edges were taken equally often, and whose paths were not. The path that
/// follows the hottest edge out of each block, ACDEF, is the hottest of neither.
#[test]
fn ball_larus_1996_figure_1() {
    let dag = Dag::from_cfg(&running_example(), &[]);
    //             ACDF ACDEF ABCDF ABCDEF ABDF ABDEF
    let first = [90u64, 60, 0, 100, 20, 0];
    let second = [110u64, 40, 0, 100, 0, 20];
    let numbering = ball_larus(&dag).expect("six paths");
    let flow = |runs: [u64; 6]| {
        let mut flow = dag.by_edge(0u64);
        for path in enumerate(&dag) {
            let n = runs[numbering.id(&path) as usize];
            path.iter().for_each(|e| flow[*e] += n);
        }
        flow
    };
    assert_eq!(flow(first), flow(second));
    let count = |from, to| label_between(&dag, &flow(first), from, to);
    assert_eq!([count('A', 'B'), count('A', 'C')], [120, 150]);
    assert_eq!([count('B', 'C'), count('B', 'D')], [100, 20]);
    assert_eq!([count('D', 'E'), count('D', 'F')], [160, 110]);
    let mut greedy = vec![dag.entry_edge()];
    while dag.edge(greedy[greedy.len() - 1]).dst != dag.exit() {
        let outs = dag.out_edges(dag.edge(greedy[greedy.len() - 1]).dst);
        greedy.push(outs.max_by_key(|e| flow(first)[*e]).expect("an edge"));
    }
    assert_eq!(letters(&dag, &greedy), "ACDEF");
    let id = numbering.id(&greedy) as usize;
    assert!(first[id] < first[3] && second[id] < second[0]);
}

/// Ball & Larus 1996, §3.3: increments on the chords of a spanning tree add up to the same ids, and there are
/// |E| − |V| + 1 chords, EXIT → ENTRY counted as an edge.
#[test]
fn ball_larus_1996_section_3_3() {
    let dag = Dag::from_cfg(&running_example(), &[]);
    let numbering = ball_larus(&dag).expect("six paths");
    let tree = SpanningTree::maximum(
        &dag,
        &static_weights(&dag, &Shape::new(&running_example()).loops),
    );
    let increments = tree.increments(&dag, &numbering.labels);
    for path in enumerate(&dag) {
        let sum: i64 = path.iter().map(|e| increments[*e]).sum();
        assert_eq!(sum as u64, numbering.id(&path), "{}", letters(&dag, &path));
    }
    let chords = dag.edges().len() + 1 - (dag.vertices() - 1);
    assert!(increments.iter().filter(|&&i| i != 0).count() <= chords);
    assert_eq!(chords, 4);
    let shown = chords_in_the_book(&dag, &tree, &increments);
    assert_eq!(printed_block("chords running"), shown);
}

/// Ball & Larus 1996, §3.5: a loop. The back edge E → B becomes ENTRY → B and E → EXIT, and each of the four kinds
/// of paths occurs: entry to exit, entry to back edge, back edge to back edge, back edge to exit.
///
/// ```text
///     A → B ◄─┐
///        / \  │
///       C   D │
///        \ /  │
///         E ──┘
///         ↓
///         F
/// ```
fn section_3_5() -> Cfg {
    cfg(&[&[1], &[2, 3], &[4], &[4], &[5, 1], &[]])
}

#[test]
fn ball_larus_1996_section_3_5() {
    let dag = Dag::from_cfg(&section_3_5(), &[]);
    let numbering = ball_larus(&dag).expect("eight paths");
    let paths: Vec<String> = ids(&dag, &numbering).into_iter().map(|p| p.1).collect();
    assert_eq!(
        paths,
        [
            "ABCEF", "ABCE", "ABDEF", "ABDE", "BCEF", "BCE", "BDEF", "BDE"
        ]
    );
}

/// Knuth & Stevenson 1973 (as Ball & Larus 1994, §3.1, tell it): |E| − |V| + 1 counters suffice, none on EXIT → ENTRY,
/// and the leaf of the tree is settled first. In the seminar paper's words: Q is a leaf, P → Q and Q → A are counted,
/// so Q → B is what P → Q has more than Q → A, and then B → R follows.
///
/// ```text
///     0
///     ↓
///     P ◄───┐       8 vertices with EXIT, 10 edges with X → EXIT and EXIT → 0: 3 counters
///    / \    │
///   Q   X   │
///  / \      │
/// A   B     │
///  \ /      │
///   R ──────┘
/// ```
#[test]
fn knuth_stevenson_1973() {
    let graph = cfg(&[&[1], &[2, 6], &[3, 4], &[5], &[5], &[1], &[]]);
    let dag = Dag::from_cfg(&graph, &[]);
    let counted = counted_edges(
        &dag,
        &static_weights(&dag, &Shape::new(&graph).loops),
        false,
    );
    assert_eq!(counted.len(), 3);
    assert!(!counted.contains(dag.entry_edge()));
    // P runs 1 + 10 times, Q → A is taken 7 of 10 times.
    let edge = |block, succ| {
        let block = BlockId(block);
        dag.edge_of(CfgEdge { block, succ }).expect("an edge")
    };
    let known = [
        (edge(0, 0), 1),
        (edge(1, 0), 10),
        (edge(1, 1), 1),
        (edge(2, 0), 7),
        (edge(2, 1), 3),
        (edge(3, 0), 7),
        (edge(4, 0), 3),
        (edge(5, 0), 10),
    ];
    let mut given = dag.by_edge(0u64);
    for &(e, n) in known.iter().filter(|(e, _)| counted.contains(*e)) {
        given[e] = n;
    }
    let exit = dag.ins(dag.exit()).iter();
    for &e in exit.filter(|&&e| dag.edge(e).kind == EdgeKind::Leave) {
        given[e] = u64::from(counted.contains(e));
    }
    let propagated = propagate(&dag, &counted, &given).expect("a tree is left out");
    for (e, n) in known {
        assert_eq!(propagated.counts[e], n, "{:?}", dag.edge(e));
    }
    assert_eq!(propagated.counts[dag.entry_edge()], 1);
}

/// Afraz, Saha & Kanade 2015, §2.3, in the smallest graph that shows it: where the interesting out-edges of a vertex
/// are labelled in any order (SPP, Apiwattanapong & Harrold 2002), an uninteresting path can get the id of an
/// interesting one. In Algorithm 1 they are labelled by decreasing `min` of their targets, and it cannot.
///
/// ```text
///   ENTRY ──────────► EXIT     interesting: ENTRY → EXIT and ENTRY → a → EXIT
///     │               ▲ ▲
///     └────► a ───────┘ │      SPP:  0, 2; the third path has 0 after absorption
///            └───► b ───┘      PSPP: 2, 1; the third path has 0
/// ```
#[test]
fn p3_2015_section_2_3() {
    let edges = [(0, 3), (0, 1), (1, 2), (1, 3), (2, 3)];
    let dag = Dag::from_edges(4, &edges);
    let mut interesting = IdSet::with_capacity(edges.len());
    interesting.extend([0, 1, 3].map(EdgeId::new));
    // Edge 0 first, as edge order has it: label 0, and 1 for edge 1; 0 and 1 at `a`. The label of edge 1 moves on to
    // edges 2 and 3, that of edge 2 to edge 4, and edge 4, uninteresting, loses it.
    let spp = [0u64, 0, 0, 2, 0];
    let sum = |labels: &[u64], path: &[usize]| path.iter().map(|&e| labels[e]).sum::<u64>();
    assert_eq!(sum(&spp, &[0]), sum(&spp, &[1, 2, 4]));
    let labels = pspp(&dag, &interesting).labels;
    let ids = [[0].as_slice(), &[1, 3], &[1, 2, 4]].map(|path| sum(&labels.raw, path));
    assert_eq!(ids, [2, 1, 0]);
    let spp = [[0].as_slice(), &[1, 3], &[1, 2, 4]].map(|path| sum(&spp, path));
    let [direct, short, long] = [0, 1, 2].map(|p| format!("{:>4} {:>4}", ids[p], spp[p]));
    let table = format!(
        "             PSPP  SPP\n→ EXIT       {direct}    interesting\n→ a → EXIT   {short}    interesting\n→ a → \
         b      {long}\n"
    );
    assert_eq!(printed_block("pspp"), table);
}

/// Afraz, Saha & Kanade 2015, §1: three procedures of 100, 10 and 5 probes on three copies. Whole, the slowest copy has
/// 100 of 115; with the first in four tasks of 25 probes, 40.
#[test]
fn p3_2015_section_1() {
    assert_eq!(distribute(&[100, 10, 5], 3).load.raw, [100, 10, 5]);
    let split = distribute(&[20, 20, 20, 20, 20, 10, 5], 3).load;
    assert_eq!(split.iter().max(), Some(&40));
}

/// Graham 1969: on two copies the costs 3, 3, 2, 2, 2 give 7 where 6 is best, the bound 4/3 − 1/(3k) exactly.
#[test]
fn graham_1969() {
    assert_eq!(distribute(&[3, 3, 2, 2, 2], 2).load.raw, [7, 5]);
    let (k, best) = (2, 6);
    assert_eq!(7 * 3 * k, best * (4 * k - 1));
}
