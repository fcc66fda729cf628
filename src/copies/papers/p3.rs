//! Afraz, Saha & Kanade 2015, Fig. 1 to 4: one procedure, two partitions of its paths, and its labels by SPP and PSPP.
//!
//! The text that the project was made from has lost the figures' edges and most of their digits. Here is the graph that
//! follows from the sentences about it; where each comes from, and what they say besides that then must hold, is in
//! [`GRAPH`] and the tests. Left open is where `v21` leads to, EXIT or `v11`: no label or id depends on it. Fig. 5 to 7
//! are measurements as bars, Fig. 8 draws two cases of the proof.

use super::printed_block;
use crate::base::index::{EdgeId, IdSet, TiVec, VertexId};
use crate::copies::partition::{distribute, find_partition};
use crate::paths::dag::Dag;
use crate::paths::dag::reduced::Reduced;
use crate::paths::numbering::{ball_larus, enumerate, pspp};
use std::cmp::Reverse;

/// ENTRY is 0, `v0` 1, `v21` 22, EXIT 23.
const EXIT: u32 = 23;

/// The procedure, as numbers of `v`s; −1 is ENTRY, 22 EXIT.
///
/// - There are five diamonds, and four paths without them: through `v0`, `v3`, `v4` and `v12` (§2.2, §3.2).
/// - `v4 v5 v6 v7` is a diamond (§3.2), `v7 … v10` the one behind it, and from `v12` on, with eight paths, there are
///   three: by way of `v15` and `v18`.
/// - `v3 → v11` keeps a label that comes from above, so `v11` has another edge in (§2.2).
const GRAPH: [(i32, i32); 30] = [
    (-1, 0),
    (-1, 1),
    (0, 22),
    (1, 2),
    (1, 12),
    (2, 3),
    (2, 4),
    (3, 11),
    (4, 6),
    (4, 5),
    (5, 7),
    (6, 7),
    (7, 9),
    (7, 8),
    (8, 10),
    (9, 10),
    (10, 11),
    (11, 22),
    (12, 13),
    (12, 14),
    (13, 15),
    (14, 15),
    (15, 17),
    (15, 16),
    (16, 18),
    (17, 18),
    (18, 20),
    (18, 19),
    (19, 21),
    (20, 21),
];

fn procedure() -> Dag {
    let vertex = |v: i32| (v + 1) as u32;
    let inner = GRAPH.map(|(a, b)| (vertex(a), vertex(b)));
    let edges: Vec<(u32, u32)> = inner.into_iter().chain([(vertex(21), EXIT)]).collect();
    Dag::from_edges(EXIT as usize + 1, &edges)
}

type Labels = TiVec<EdgeId, u64>;

fn edge(dag: &Dag, from: i32, to: i32) -> EdgeId {
    let ends = |e: &EdgeId| {
        let edge = dag.edge(*e);
        (edge.src.0 as i32 - 1, edge.dst.0 as i32 - 1) == (from, to)
    };
    dag.edge_ids().find(ends).expect("an edge")
}

/// The `v`s of a path.
fn values_of_path(dag: &Dag, path: &[EdgeId]) -> Vec<i32> {
    let inner = path.iter().map(|&e| dag.edge(e).dst.0 as i32 - 1);
    inner.filter(|&v| v < 22).collect()
}

/// The only path through these `v`s.
fn path(dag: &Dag, vs: &[i32]) -> Vec<EdgeId> {
    let is = |p: &Vec<EdgeId>| vs.iter().all(|v| values_of_path(dag, p).contains(v));
    let mut found = enumerate(dag).into_iter().filter(is);
    let one = found.next().expect("a path");
    assert_eq!(found.next(), None, "{vs:?}");
    one
}

/// The edges of all paths that go through one of `vs`.
fn of_paths(dag: &Dag, is: impl Fn(&[i32]) -> bool) -> IdSet<EdgeId> {
    let paths = enumerate(dag).into_iter();
    let chosen = paths.filter(|p| is(&values_of_path(dag, p)));
    let mut edges = dag.edge_set();
    edges.extend(chosen.flatten());
    edges
}

/// What P_a profiles: of the paths through `v7` those by `v8`, of those through `v12` those by `v13`. For Fig. 1(a) has
/// six labels; a path by `v9` has an id there, which is less than that of the one by `v8`, and yet the lowest
/// interesting one is by `v8` (§3.1).
fn pa(dag: &Dag) -> IdSet<EdgeId> {
    of_paths(dag, |vs| vs.contains(&8) || vs.contains(&13))
}

/// What P_b does: all other paths (§2.2).
fn pb(dag: &Dag) -> IdSet<EdgeId> {
    of_paths(dag, |vs| !vs.contains(&8) && !vs.contains(&13))
}

fn sum(labels: &Labels, path: &[EdgeId]) -> u64 {
    path.iter().map(|&e| labels[e]).sum()
}

/// A labelled edge, as `v8→v10`, for the book.
fn name(dag: &Dag, e: EdgeId) -> String {
    let vertex = |v: VertexId| match v.0 {
        0 => "ENTRY".to_string(),
        EXIT => "EXIT".to_string(),
        n => format!("v{}", n - 1),
    };
    format!("{}→{}", vertex(dag.edge(e).src), vertex(dag.edge(e).dst))
}

/// The first step of SPP, Algorithm 1 without its order; with it, that of PSPP. Beside the labels, the least id of the
/// interesting paths from each vertex on.
fn first_step(
    dag: &Dag,
    interesting: &IdSet<EdgeId>,
    ordered: bool,
) -> (Labels, TiVec<VertexId, u64>) {
    let (mut labels, mut n) = (dag.by_edge(0u64), dag.by_vertex(0u64));
    let mut min = dag.by_vertex(u64::MAX);
    (n[dag.exit()], min[dag.exit()]) = (1, 0);
    for v in dag.order_from_exit() {
        let mut outs: Vec<EdgeId> = dag.out_edges(v).collect();
        if ordered {
            outs.sort_by_key(|&e| Reverse(min[dag.edge(e).dst]));
        }
        outs.sort_by_key(|&e| interesting.contains(e));
        for e in outs {
            let w = dag.edge(e).dst;
            if interesting.contains(e) {
                labels[e] = n[v];
                min[v] = min[v].min(min[w].saturating_add(n[v]));
            }
            n[v] += n[w];
        }
    }
    (labels, min)
}

/// The second: what an edge that is alone adds goes to those behind it.
fn second_step(dag: &Dag, mut labels: Labels) -> Labels {
    for v in dag.order().filter(|&v| v != dag.exit()) {
        if let &[alone] = dag.ins(v) {
            let label = std::mem::take(&mut labels[alone]);
            dag.out_edges(v).for_each(|e| labels[e] += label);
        }
    }
    labels
}

/// The third: absorption.
fn third_step(mut labels: Labels, interesting: &IdSet<EdgeId>) -> Labels {
    let edges: Vec<EdgeId> = labels.keys().collect();
    let dashed = edges.into_iter().filter(|e| !interesting.contains(*e));
    dashed.for_each(|e| labels[e] = 0);
    labels
}

/// The two partitions: P_a and P_b of Fig. 1, P'_a (without the paths through `v12`) and P'_b of Fig. 3.
fn partitions(dag: &Dag) -> [IdSet<EdgeId>; 4] {
    let with = |v: i32| move |vs: &[i32]| vs.contains(&v);
    [
        pa(dag),
        pb(dag),
        of_paths(dag, |vs| !with(12)(vs)),
        of_paths(dag, with(12)),
    ]
}

/// Fig. 1: six labels in P_a; the ids and probes that the text names; each path is in one of the two, exactly.
#[test]
fn figure_1() {
    let dag = procedure();
    let [a, b, ..] = partitions(&dag);
    let [in_a, in_b] = [&a, &b].map(|i| pspp(&dag, i));
    assert_eq!(in_a.label_count(), 6);
    assert_eq!(sum(&in_a.labels, &path(&dag, &[6, 9])), 10);
    // p and p' of §2.2.
    let [p, other] = [path(&dag, &[6, 8]), path(&dag, &[14, 16, 19])];
    assert_eq!(
        [&p, &other].map(|path| sum(&in_a.labels, path)),
        [11u64, 3u64]
    );
    let probes = |labels: &Labels| {
        let on = p.iter().filter(|e| labels[**e] != 0);
        on.map(|&e| name(&dag, e)).collect::<Vec<_>>()
    };
    assert_eq!(probes(&in_a.labels), ["v6→v7", "v8→v10"]);
    assert_eq!(probes(&in_b.labels), ["v6→v7"]);
    let inside = |path: &Vec<EdgeId>, set: &IdSet<EdgeId>| path.iter().all(|e| set.contains(*e));
    let paths = enumerate(&dag);
    assert!(paths.iter().all(|p| inside(p, &a) != inside(p, &b)));
    assert_eq!(paths.iter().filter(|p| inside(p, &a)).count(), 6);
    assert_eq!(paths.len(), 14);
    assert!(inside(&path(&dag, &[0]), &b));
}

/// Fig. 2: the labels of the edges out of one vertex.
#[test]
fn figure_2() {
    let edges = [
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 4),
        (1, 4),
        (2, 4),
        (2, 4),
        (2, 4),
        (3, 4),
    ];
    let dag = Dag::from_edges(5, &edges);
    let numbering = ball_larus(&dag).expect("six paths");
    let [n1, n2] = [1, 2].map(|v| numbering.paths[VertexId::new(v)]);
    assert_eq!([n1, n2], [2, 3]);
    let labels = [0, 1, 2].map(|e| numbering.labels[EdgeId::new(e)]);
    assert_eq!(labels, [0, n1, n1 + n2]);
}

/// Fig. 3: what P3 makes of the procedure. Four tasks; on two copies five labels at most, where Fig. 1 has six and
/// more.
#[test]
fn figure_3() {
    let dag = procedure();
    let labels = |edges: &IdSet<EdgeId>| pspp(&dag, edges).label_count();
    let tasks = find_partition(&dag, &Reduced::new(&dag), 100);
    let mut of: Vec<(Vec<i32>, usize)> = Vec::new();
    for task in &tasks {
        let mark = [0, 3, 4, 12].into_iter();
        let marks = mark.filter(|&v| {
            dag.ins(VertexId::new(v as usize + 1))
                .iter()
                .all(|e| task.contains(*e))
        });
        of.push((marks.collect(), labels(task)));
    }
    of.sort();
    let expected = [(0, 1), (3, 1), (4, 3), (12, 4)].map(|(v, cost)| (vec![v], cost));
    assert_eq!(of, expected);
    let [a, b, third, fourth] = partitions(&dag).map(|edges| labels(&edges));
    assert_eq!([third, fourth], [5, 4]);
    assert!(third.max(fourth) < a.max(b));
    // The paper has the three cheap tasks on one copy. Its rule leaves open where the last of them goes: both have 4.
    assert_eq!(distribute(&[1, 1, 3, 4], 2).load.raw, [5, 4]);
}

/// Fig. 4: SPP, step by step, on the paths of P_a; and what PSPP does instead (§3.1).
#[test]
fn figure_4() {
    let dag = procedure();
    let a = pa(&dag);
    let at = |labels: &Labels, from, to| labels[edge(&dag, from, to)];
    let (first, _) = first_step(&dag, &a, false);
    assert_eq!(at(&first, 1, 12), 5);
    assert_eq!(at(&first, 3, 11), 0);
    let second = second_step(&dag, first);
    let dashed = dag
        .edge_ids()
        .filter(|e| !a.contains(*e) && second[*e] != 0);
    let dashed: Vec<String> = dashed.map(|e| name(&dag, e)).collect();
    assert_eq!(dashed, ["v3→v11", "v14→v15"]);
    let third = third_step(second, &a);
    let both = [path(&dag, &[6, 8]), path(&dag, &[14, 16, 19])];
    assert_eq!(both.each_ref().map(|p| sum(&third, p)), [3, 3]);

    let (first, min) = first_step(&dag, &a, true);
    assert_eq!([at(&first, 1, 12), at(&first, 1, 2)], [0, 8]);
    let behind = |v: i32, path: &[EdgeId]| {
        let on = path
            .iter()
            .skip_while(|e| dag.edge(**e).src.0 as i32 - 1 != v);
        on.map(|&e| first[e]).sum::<u64>()
    };
    let least = |v: i32| min[VertexId::new(v as usize + 1)];
    assert_eq!(least(2), behind(2, &path(&dag, &[6, 8])));
    assert_eq!(least(12), behind(12, &path(&dag, &[13, 17, 20])));
    assert!(least(12) > least(2));
    let ours = third_step(second_step(&dag, first), &a);
    assert_eq!(ours, pspp(&dag, &a).labels);
    assert_eq!(both.each_ref().map(|p| sum(&ours, p)), [11, 3]);
}

/// `figures.md` prints the labels of all these figures: `·` is 0, brackets are dashed edges.
#[test]
fn labels_in_the_book() {
    let dag = procedure();
    let parts = partitions(&dag);
    let mut columns: Vec<(Labels, &IdSet<EdgeId>)> = Vec::new();
    for part in &parts {
        columns.push((pspp(&dag, part).labels, part));
    }
    let (first, _) = first_step(&dag, &parts[0], false);
    columns.push((first.clone(), &parts[0]));
    columns.push((second_step(&dag, first), &parts[0]));
    let shown = |e: EdgeId, labels: &Labels, part: &IdSet<EdgeId>| {
        let label = match labels[e] {
            0 => "·".to_string(),
            n => n.to_string(),
        };
        if part.contains(e) {
            format!("{label:>6} ")
        } else {
            format!("{:>7}", format!("({label})"))
        }
    };
    let mut table = format!("{:10}", "");
    for head in ["1(a)", "1(b)", "3(a)", "3(b)", "4(a)", "4(b)"] {
        table += &format!("{head:>7}");
    }
    for e in dag.edge_ids() {
        if columns.iter().all(|(labels, _)| labels[e] == 0) {
            continue;
        }
        let cells = columns.iter().map(|(labels, part)| shown(e, labels, part));
        let row = format!("{:10}{}", name(&dag, e), cells.collect::<String>());
        table = table.trim_end().to_string() + "\n" + row.trim_end();
    }
    assert_eq!(printed_block("p3 figures"), table + "\n");
}
