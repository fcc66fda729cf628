//! Ball–Larus numbering (Ball & Larus, MICRO 1996, §3.2; spec §2).

use super::Numbering;
use crate::dag::{Dag, MAX_PATHS};

/// Numbers all paths of `dag`: ids are dense in `0 .. total()`. O(V + E).
///
/// `None` when there are more than [`MAX_PATHS`]: cut first ([`crate::dag::choose_cuts`]).
pub fn ball_larus(dag: &Dag) -> Option<Numbering> {
    let mut paths = vec![0u64; dag.vertices()];
    let mut labels = vec![0u64; dag.edges().len()];
    paths[dag.exit().index()] = 1;
    for v in dag.order().rev().skip(1) {
        let mut n = 0u64;
        for e in dag.outs(v) {
            labels[e.index()] = n;
            n = n
                .checked_add(paths[dag.edge(e).dst.index()])
                .filter(|&n| n <= MAX_PATHS)?;
        }
        paths[v.index()] = n;
    }
    Some(Numbering {
        labels,
        paths,
        decoding: None,
    })
}
