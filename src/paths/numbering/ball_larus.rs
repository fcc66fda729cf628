//! Ball–Larus numbering (T. Ball, J. R. Larus: *Efficient Path Profiling*, MICRO 1996, §3.2 and Fig. 5;
//! `docs/ALGORITHMS.md` §2).
//!
//! After a vertex is visited, the sums of labels from it to EXIT are `0 .. N(v)`, each once: those over its i-th
//! out-edge are the interval of `N(target)` numbers from that edge's label on.

use super::Numbering;
use crate::paths::dag::{Dag, MAX_PATHS};

/// Numbers all paths of `dag`: ids are dense in `0 .. total()`. O(V + E).
///
/// `None` when there are more than [`MAX_PATHS`]: cut first ([`crate::paths::dag::choose_cuts`]).
pub fn ball_larus(dag: &Dag) -> Option<Numbering> {
    let mut paths = dag.by_vertex(0u64);
    let mut labels = dag.by_edge(0u64);
    paths[dag.exit()] = 1; // a leaf of the paper's DAG
    for v in dag.order_from_exit() {
        // Fig. 5: Val(e) = NumPaths(v); NumPaths(v) += NumPaths(w)
        let mut n = 0u64;
        for e in dag.out_edges(v) {
            labels[e] = n;
            n = n
                .checked_add(paths[dag.edge(e).dst])
                .filter(|&n| n <= MAX_PATHS)?;
        }
        paths[v] = n;
    }
    Some(Numbering {
        labels,
        paths,
        decoding: None,
    })
}
