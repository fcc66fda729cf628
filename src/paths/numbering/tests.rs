//! Worked cases and properties of both numberings.

use super::*;
use crate::paths::random_cfg::any_cfg;
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// `testdata/vectors/pspp.json`; the fields are described beside it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    vertices: usize,
    edges: Vec<(u32, u32)>,
    bl_labels: Vec<u64>,
    num_paths: u64,
    interesting_edges: Vec<usize>,
    pspp_labels: Vec<u64>,
    interesting_ids: Vec<u64>,
    threshold: usize,
    partition_without_reduction: Vec<Vec<usize>>,
}

fn cases() -> Vec<Case> {
    let text = include_str!("../../../testdata/vectors/pspp.json");
    serde_json::from_str(text).expect("vectors parse")
}

/// All paths, by plain enumeration.
pub(crate) fn enumerate(dag: &Dag) -> Vec<Vec<EdgeId>> {
    fn visit(dag: &Dag, v: VertexId, path: &mut Vec<EdgeId>, all: &mut Vec<Vec<EdgeId>>) {
        if v == dag.exit() {
            return all.push(path.clone());
        }
        for e in dag.out_edges(v) {
            path.push(e);
            visit(dag, dag.edge(e).dst, path, all);
            path.pop();
        }
    }
    let mut all = Vec::new();
    visit(dag, dag.entry(), &mut Vec::new(), &mut all);
    all
}

fn set(edges: usize, members: impl IntoIterator<Item = usize>) -> IdSet<EdgeId> {
    let mut set = IdSet::with_capacity(edges);
    set.extend(members.into_iter().map(EdgeId::new));
    set
}

#[test]
fn vectors_agree_in_every_field() {
    let cases = cases();
    assert_eq!(cases.len(), 200);
    for (i, case) in cases.iter().enumerate() {
        let dag = Dag::from_edges(case.vertices, &case.edges);
        let bl = ball_larus(&dag).unwrap();
        assert_eq!(bl.labels.raw, case.bl_labels, "case {i}");
        assert_eq!(bl.total(), case.num_paths, "case {i}");
        let interesting = set(case.edges.len(), case.interesting_edges.iter().copied());
        let numbering = pspp(&dag, &interesting);
        assert_eq!(numbering.labels.raw, case.pspp_labels, "case {i}");
        let is = |p: &Vec<EdgeId>| p.iter().all(|e| interesting.contains(*e));
        let ids: BTreeSet<u64> = enumerate(&dag)
            .iter()
            .filter(|p| is(p))
            .map(|p| numbering.id(p))
            .collect();
        assert!(ids.iter().eq(&case.interesting_ids), "case {i}");
        let reduced = crate::paths::dag::reduced::Reduced::from_unreduced(&dag);
        let tasks = crate::copies::partition::find_partition(&dag, &reduced, case.threshold);
        let mut tasks: Vec<Vec<usize>> = tasks
            .iter()
            .map(|t| t.iter().map(EdgeId::index).collect())
            .collect();
        tasks.sort(); // the vectors list them sorted
        assert_eq!(tasks, case.partition_without_reduction, "case {i}");
    }
}

fn small_dag() -> impl Strategy<Value = Dag> {
    any_cfg(14)
        .prop_map(|graph| Dag::from_cfg(&graph, &[]))
        .prop_filter("too many paths", |dag| {
            ball_larus(dag).is_some_and(|n| n.total() <= 3000)
        })
}

proptest! {
    #[test]
    fn ball_larus_ids_are_dense_and_decode(dag in small_dag()) {
        let numbering = ball_larus(&dag).unwrap();
        let mut ids = BTreeSet::new();
        for path in enumerate(&dag) {
            let id = numbering.id(&path);
            prop_assert_eq!(numbering.decode(&dag, id), Some(path));
            ids.insert(id);
        }
        prop_assert!(ids.into_iter().eq(0..numbering.total()));
        prop_assert_eq!(numbering.decode(&dag, numbering.total()), None);
    }

    /// Validity, the definition in P3 §2.1, for the closure of a few random paths.
    #[test]
    fn pspp_is_valid(dag in small_dag(), picks in proptest::collection::vec(any::<u32>(), 1..6)) {
        let all = enumerate(&dag);
        let chosen = picks.iter().flat_map(|&p| all[p as usize % all.len()].clone());
        let interesting = set(dag.edges().len(), chosen.map(|e| e.index()));
        let numbering = pspp(&dag, &interesting);
        let mut by_id: BTreeMap<u64, Vec<&Vec<EdgeId>>> = BTreeMap::new();
        for path in &all {
            prop_assert!(numbering.id(path) < numbering.total());
            by_id.entry(numbering.id(path)).or_default().push(path);
        }
        let is = |p: &Vec<EdgeId>| p.iter().all(|e| interesting.contains(*e));
        for (id, paths) in by_id {
            let interesting_path = paths.iter().find(|p| is(p)).map(|p| p.to_vec());
            prop_assert!(interesting_path.is_none() || paths.len() == 1, "id {id} is shared");
            prop_assert_eq!(numbering.decode(&dag, id), interesting_path);
        }
    }

    /// PSPP numbers paths uniquely inside any set of edges, some of which may lie on no path inside it.
    #[test]
    fn pspp_is_valid_for_any_edges(dag in small_dag(), bits in proptest::collection::vec(any::<bool>(), 64)) {
        let chosen = (0..dag.edges().len()).filter(|e| bits[e % bits.len()]);
        let interesting = set(dag.edges().len(), chosen);
        let numbering = pspp(&dag, &interesting);
        let is = |p: &Vec<EdgeId>| p.iter().all(|e| interesting.contains(*e));
        let (inside, others): (Vec<_>, Vec<_>) = enumerate(&dag).into_iter().partition(is);
        let ids: BTreeSet<u64> = inside.iter().map(|p| numbering.id(p)).collect();
        prop_assert_eq!(ids.len(), inside.len(), "two interesting paths share an id");
        prop_assert_eq!(inside.len() as u64, crate::paths::dag::paths_inside(&dag, &interesting));
        for path in others {
            prop_assert!(!ids.contains(&numbering.id(&path)), "another path has an interesting id");
        }
    }

    #[test]
    fn pspp_of_all_edges_is_dense(dag in small_dag()) {
        let numbering = pspp(&dag, &set(dag.edges().len(), 0..dag.edges().len()));
        let ids: BTreeSet<u64> = enumerate(&dag).iter().map(|p| numbering.id(p)).collect();
        prop_assert!(ids.into_iter().eq(0..numbering.total()));
    }
}
