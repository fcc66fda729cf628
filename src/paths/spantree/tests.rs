//! Properties of spanning trees and event counting, against trees found otherwise: by trying all sets of
//! edges, and by the cycle property.

use super::*;
use crate::base::index::ti_vec;
use crate::paths::edges::counted_edges;
use crate::paths::numbering::{ball_larus, enumerate};
use crate::paths::random_cfg::{any_cfg, cfg};
use proptest::prelude::*;
use std::collections::VecDeque;

/// An edge of an undirected graph: its two ends and its weight.
type Undirected = (usize, usize, f64);

/// EXIT → ENTRY, heavier than all others together: every tree of maximum weight holds it.
fn root(dag: &Dag) -> Undirected {
    (dag.exit().index(), dag.entry().index(), 1e9)
}

/// The edges of `dag` in order, then EXIT → ENTRY.
fn undirected(dag: &Dag, weights: &TiSlice<EdgeId, f64>) -> Vec<Undirected> {
    let edge = |e: EdgeId| {
        let (from, to) = (dag.edge(e).src.index(), dag.edge(e).dst.index());
        (from, to, weights[e])
    };
    dag.edge_ids().map(edge).chain([root(dag)]).collect()
}

/// The edges on the way between two vertices, by breadth-first search; `None` when there is no way.
fn find_way(edges: &[Undirected], from: usize, to: usize) -> Option<Vec<Undirected>> {
    let vertices = edges.iter().map(|e| e.0.max(e.1) + 1).max()?;
    let mut reached: Vec<Option<(usize, Undirected)>> = vec![None; vertices.max(from.max(to) + 1)];
    let mut queue = VecDeque::from([from]);
    while let Some(v) = queue.pop_front() {
        for &edge in edges {
            let w = match edge {
                (a, b, _) if a == v => b,
                (a, b, _) if b == v => a,
                _ => continue,
            };
            if w != from && reached[w].is_none() {
                reached[w] = Some((v, edge));
                queue.push_back(w);
            }
        }
    }
    let (mut at, mut edges) = (to, Vec::new());
    while at != from {
        let (before, edge) = reached[at]?;
        edges.push(edge);
        at = before;
    }
    Some(edges)
}

/// The weight of the heaviest of all spanning trees, by trying every set of `vertices - 1` edges.
fn heaviest(vertices: usize, edges: &[Undirected]) -> f64 {
    let spans = |set: &[Undirected]| (1..vertices).all(|v| find_way(set, 0, v).is_some());
    let trees = (0u32..1 << edges.len())
        .filter(|bits| bits.count_ones() as usize == vertices - 1)
        .map(|bits| chosen(edges, |i| bits >> i & 1 == 1))
        .filter(|set| spans(set));
    trees.map(|set| weight(&set)).fold(0.0, f64::max)
}

fn chosen(edges: &[Undirected], is: impl Fn(usize) -> bool) -> Vec<Undirected> {
    let taken = edges.iter().enumerate().filter(|&(i, _)| is(i));
    taken.map(|(_, &e)| e).collect()
}

fn weight(edges: &[Undirected]) -> f64 {
    edges.iter().map(|e| e.2).sum()
}

/// One of these for each edge of any of these graphs.
fn by_edge<T: std::fmt::Debug>(
    value: impl Strategy<Value = T>,
) -> impl Strategy<Value = TiVec<EdgeId, T>> {
    proptest::collection::vec(value, 200).prop_map(TiVec::from)
}

/// Few different weights, so that many are equal.
fn few_weights() -> impl Strategy<Value = TiVec<EdgeId, f64>> {
    by_edge((0..6u8).prop_map(f64::from))
}

proptest! {
    #[test]
    fn chords_keep_every_id(
        graph in any_cfg(14),
        weights in by_edge(0.0..100.0f64),
    ) {
        let dag = Dag::from_cfg(&graph, &[]);
        let numbering = ball_larus(&dag).unwrap();
        prop_assume!(numbering.total() <= 3000);
        let tree = SpanningTree::maximum(&dag, &weights);
        // |E| + 1 edges with EXIT → ENTRY, |V| - 1 of them in the tree.
        prop_assert_eq!(tree.tree.len(), dag.vertices() - 2);
        let inc = tree.increments(&dag, &numbering.labels);
        for path in enumerate(&dag) {
            let sum = path.iter().fold(0i64, |s, e| s.wrapping_add(inc[*e]));
            prop_assert_eq!(sum as u64, numbering.id(&path));
        }
    }

    /// Any labels, sums that overflow included: what PSPP and cut functions bring is no special case.
    #[test]
    fn increments_stand_on_chords_and_sum_to_the_labels(
        graph in any_cfg(12),
        weights in few_weights(),
        labels in by_edge(any::<u64>()),
    ) {
        let dag = Dag::from_cfg(&graph, &[]);
        prop_assume!(ball_larus(&dag).unwrap().total() <= 1000);
        let tree = SpanningTree::maximum(&dag, &weights);
        let inc = tree.increments(&dag, &labels);
        for e in tree.tree.iter() {
            prop_assert_eq!(inc[e], 0);
        }
        for path in enumerate(&dag) {
            let sum = path.iter().fold(0i64, |s, e| s.wrapping_add(inc[*e]));
            let label = path.iter().fold(0u64, |s, e| s.wrapping_add(labels[*e]));
            prop_assert_eq!(sum as u64, label);
        }
    }

    /// The cycle property: a spanning tree is maximum if and only if no chord is heavier than an edge of
    /// the cycle that it closes. (EXIT → ENTRY is never to be exchanged.)
    #[test]
    fn no_chord_is_heavier_than_its_cycle(graph in any_cfg(24), weights in few_weights()) {
        let dag = Dag::from_cfg(&graph, &[]);
        let tree = SpanningTree::maximum(&dag, &weights).tree;
        let edges = undirected(&dag, &weights);
        let inside = chosen(&edges, |i| i == dag.edges().len() || tree.contains(EdgeId::new(i)));
        for (from, to, chord) in chosen(&edges[..dag.edges().len()], |i| !tree.contains(EdgeId::new(i))) {
            for (_, _, on_cycle) in find_way(&inside, from, to).expect("the tree spans") {
                prop_assert!(chord <= on_cycle, "chord of {chord} on a cycle with {on_cycle}");
            }
        }
    }

    #[test]
    fn no_tree_is_heavier(graph in any_cfg(6), weights in few_weights()) {
        let dag = Dag::from_cfg(&graph, &[]);
        prop_assume!(dag.edges().len() <= 11);
        let tree = SpanningTree::maximum(&dag, &weights).tree;
        let edges = undirected(&dag, &weights);
        let found = weight(&chosen(&edges, |i| i == dag.edges().len() || tree.contains(EdgeId::new(i))));
        prop_assert_eq!(found, heaviest(dag.vertices(), &edges));
    }

    /// The counted edges of scheme edge are the cheapest that leave a tree: against all sets of edges of
    /// the graph without ENTRY, in which back edges lead back and EXIT leads to the entry block.
    #[test]
    fn no_counters_are_cheaper(
        graph in any_cfg(5), weights in few_weights(), may_be_left: bool,
    ) {
        use crate::paths::dag::EdgeKind;
        let dag = Dag::from_cfg(&graph, &[]);
        let exit = dag.exit().index();
        let mut edges: Vec<Undirected> = vec![(exit, dag.edge(dag.entry_edge()).dst.index(), 1e9)];
        let mut countable = 0.0;
        for e in dag.edge_ids().skip(1) {
            let edge = dag.edge(e);
            let to = match edge.kind {
                EdgeKind::LoopStart => continue,
                EdgeKind::BackEdge(_) => dag.vertex(dag.back_target(e)).unwrap().index(),
                _ => edge.dst.index(),
            };
            countable += weights[e];
            // Where control may be left, exits are counted: EXIT → entry alone leads to EXIT.
            if !(may_be_left && edge.kind == EdgeKind::Leave) {
                edges.push((edge.src.index(), to, weights[e]));
            }
        }
        prop_assume!(edges.len() <= 11);
        let renumbered: Vec<Undirected> = edges.iter().map(|&(a, b, w)| (a - 1, b - 1, w)).collect();
        let counted = counted_edges(&dag, &weights, may_be_left);
        let cost: f64 = counted.iter().map(|e| weights[e]).sum();
        let tree = heaviest(dag.vertices() - 1, &renumbered) - 1e9;
        prop_assert_eq!(cost, countable - tree);
    }
}

/// A diamond, heavy on the left: weights in brackets, labels after the colon, `*` for chords.
///
/// ```text
///          ENTRY
///            | e0 [10]
///            0
///  e1 [9]:0 / \ e2 [1]:1
///          1   2
///  e4 [9]*  \ / e3 [1]*
///            3
///            | e5 [10]
///          EXIT
/// ```
///
/// With EXIT → ENTRY in the tree each side closes a cycle, and parts with its lightest edge: of equal ones
/// the one with the lower id is in the tree. The chord on the right gets what its cycle sums to.
#[test]
fn each_side_of_a_diamond_has_one_chord() {
    let dag = Dag::from_cfg(&cfg(&[&[1, 2], &[3], &[3], &[]]), &[]);
    let tree = SpanningTree::maximum(&dag, &ti_vec![10.0, 9.0, 1.0, 1.0, 9.0, 10.0]);
    assert_eq!(
        tree.tree.iter().collect::<Vec<_>>(),
        [0, 1, 2, 5].map(EdgeId)
    );
    let labels = ball_larus(&dag).unwrap().labels;
    assert_eq!(labels.raw, [0, 0, 1, 0, 0, 0]);
    assert_eq!(tree.increments(&dag, &labels).raw, [0, 0, 0, 1, 0, 0]);
}
