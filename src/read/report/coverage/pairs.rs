//! Edge pairs (Ammann & Offutt, *Introduction to Software Testing*, 2nd edition 2016, §7.2.1): two edges in turn. Every
//! decision with every decision after it, which stays a number that tests can reach where paths explode.
//!
//! The graph is the DAG whose paths are counted, so a pair may begin with the start of an iteration, or end with its
//! end: which iteration came before is not known of counted paths.

use super::Paths;
use super::through::Through;
use crate::base::index::{BlockId, EdgeId, IdSet, VertexId};
use crate::paths::dag::Dag;
use crate::profile::Ran;
use std::collections::HashSet;

/// The pairs of edges that ran on `executed` paths, and those that are in `dag`, of those that `through` admits and
/// that do not meet at a choice that the compiler added (`is_generated`). Where not all paths are counted, `certain`
/// are the edges of which all are. O(total path length + V + E).
pub(super) fn pairs(
    dag: &Dag,
    is_generated: impl Fn(BlockId) -> bool,
    executed: &[Ran],
    through: &Through,
    certain: Option<&IdSet<EdgeId>>,
) -> Paths {
    let meets = |v: VertexId| !dag.block(v).is_some_and(&is_generated);
    let ran: HashSet<(EdgeId, EdgeId)> = executed
        .iter()
        .flat_map(|path| path.edges.windows(2).map(|pair| (pair[0], pair[1])))
        .filter(|(into, out)| through.admits_pair(dag.edge(*into), dag.edge(*out)))
        .filter(|(_, out)| meets(dag.edge(*out).src))
        .collect();
    let feasible = match certain {
        None => count_all(dag, through, meets),
        Some(certain) => count_known(dag, through, certain, &ran, meets),
    };
    Paths {
        executed: ran.len() as u128,
        feasible,
    }
}

/// The pairs that ran, and those of which all paths are counted, since all that take one of the two edges are.
fn count_known(
    dag: &Dag,
    through: &Through,
    certain: &IdSet<EdgeId>,
    ran: &HashSet<(EdgeId, EdgeId)>,
    meets: impl Fn(VertexId) -> bool,
) -> u128 {
    let mut number = 0;
    for into in dag.edge_ids().filter(|e| meets(dag.edge(*e).dst)) {
        let edge = dag.edge(into);
        for out in dag.out_edges(edge.dst) {
            let is_known = certain.contains(into) || certain.contains(out);
            let counts = is_known && through.admits_pair(edge, dag.edge(out));
            number += u128::from(counts || ran.contains(&(into, out)));
        }
    }
    number
}

/// At each vertex where pairs meet, every way in with every way out.
fn count_all(dag: &Dag, through: &Through, meets: impl Fn(VertexId) -> bool) -> u128 {
    let mut ways = dag.by_vertex((0u128, 0u128));
    for edge in dag.edges().iter().filter(|e| through.open(**e)) {
        ways[edge.src].1 += 1;
        ways[edge.dst].0 += 1;
    }
    let admitted = dag
        .order()
        .zip(ways)
        .filter(|(v, _)| through.touches_pairs(*v) && meets(*v));
    admitted.map(|(_, (into, out))| into * out).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::function::Measuring;
    use crate::paths::numbering::enumerate;
    use crate::paths::random_cfg::any_cfg;
    use proptest::prelude::*;

    proptest! {
        /// Where every path ran every pair did; one path runs as many as it has vertices inside.
        #[test]
        fn every_path_runs_every_pair(graph in any_cfg(9)) {
            let paths = Measuring::from_cfg(&graph);
            let all = enumerate(&paths.dag);
            prop_assume!(all.len() < 500);
            let ran: Vec<Ran> = all
                .iter()
                .map(|edges| Ran { id: paths.id(edges), count: 1, edges: edges.clone() })
                .collect();
            let everything = Through::new(&paths.dag, None, &IdSet::with_capacity(0));
            let every = pairs(&paths.dag, |_| false, &ran, &everything, None);
            prop_assert_eq!(every.executed, every.feasible);
            let one = pairs(&paths.dag, |_| false, &ran[..1], &everything, None);
            prop_assert_eq!(one.executed, ran[0].edges.len() as u128 - 1);
        }
    }
}
