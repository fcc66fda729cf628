//! Counts of an earlier run → branch weights, by which LLVM lays out the code of a copy.

use crate::base::index::{BlockId, EdgeId, TiSlice};
use crate::copies::partition::Local;
use crate::input::ir::{Cfg, Terminator};
use crate::paths::dag::{Dag, EdgeKind};
use crate::paths::function::Measuring;

/// What the largest weight of a block becomes. The sum of up to 255 ways has 32 bits then, and LLVM scales none of
/// them.
const LARGEST: f64 = (1 << 24) as f64;

/// Of a block that has a choice: how often each successor is taken, in proportion.
pub(crate) type Branch = (BlockId, Vec<u32>);

/// The weights of all blocks with a choice, in versions if there are any, ascending. Empty where nothing was measured:
/// LLVM's own guesses are better than static weights. O(V + E).
///
/// `cfg` is the function's control flow; `weights` are those of the edges of its DAG, or of that of `local`.
pub(super) fn weigh_branches(
    cfg: &Cfg,
    paths: &Measuring,
    local: Option<&Local>,
    weights: &TiSlice<EdgeId, f64>,
) -> Vec<Branch> {
    if !paths.measured {
        return Vec::new();
    }
    match local {
        Some(local) => {
            let cfg = &local.versions.cfg;
            branches(cfg, |b| version_ways(b, cfg, local, weights, paths))
        }
        None => branches(cfg, |b| ways(b, cfg, &paths.dag, weights)),
    }
}

fn branches(cfg: &Cfg, ways: impl Fn(BlockId) -> Vec<f64>) -> Vec<Branch> {
    let has_choice = |b: &BlockId| {
        let block = cfg.block(*b);
        let branches = [
            Terminator::Branch,
            Terminator::Switch,
            Terminator::IndirectBr,
        ];
        block.succs.len() > 1 && branches.contains(&block.terminator)
    };
    let with_choice = cfg.ids().filter(has_choice);
    with_choice
        .filter_map(|b| Some((b, scale_ways(&ways(b))?)))
        .collect()
}

/// Ways that are taken at all keep a weight of 1 at least. `None` where none is.
fn scale_ways(ways: &[f64]) -> Option<Vec<u32>> {
    let largest = ways.iter().copied().fold(0.0, f64::max);
    let scaled = |&w: &f64| match w {
        0.0 => 0,
        w => ((w / largest * LARGEST) as u32).max(1),
    };
    (largest > 0.0).then(|| ways.iter().map(scaled).collect())
}

/// How often each successor of `block` is taken along edges of `dag`, whose weights these are: 0 where another edge is
/// taken instead, or none of `dag`. O(successors).
fn ways(block: BlockId, cfg: &Cfg, dag: &Dag, weights: &TiSlice<EdgeId, f64>) -> Vec<f64> {
    let mut ways = vec![0.0; cfg.block(block).succs.len()];
    for e in dag.vertex(block).into_iter().flat_map(|v| dag.out_edges(v)) {
        if let EdgeKind::Real(c) | EdgeKind::BackEdge(c) = dag.edge(e).kind {
            ways[c.succ as usize] = weights[e];
        }
    }
    ways
}

/// Expected executions of each way out of a block of versions. Where paths leave the DAG, as foreign ones, they go on
/// as the function does, and so do all in foreign versions.
fn version_ways(
    block: BlockId,
    cfg: &Cfg,
    local: &Local,
    weights: &TiSlice<EdgeId, f64>,
    paths: &Measuring,
) -> Vec<f64> {
    let own_ways = || {
        ways(
            local.versions.origin[block],
            cfg,
            &paths.dag,
            &paths.weights,
        )
    };
    let Some(v) = local.dag.vertex(block) else {
        return own_ways();
    };
    let mut ways = ways(block, cfg, &local.dag, weights);
    // Paths of other copies leave the DAG here: of what arrives, the edges of the DAG do not account for them.
    if local.open.contains(v) {
        let arriving: f64 = local.dag.ins(v).iter().map(|e| weights[*e]).sum();
        let rest = (arriving - ways.iter().sum::<f64>()).max(0.0);
        let mut foreign = own_ways();
        for e in local.dag.out_edges(v) {
            if let EdgeKind::Real(c) | EdgeKind::BackEdge(c) = local.dag.edge(e).kind {
                foreign[c.succ as usize] = 0.0;
            }
        }
        let all: f64 = foreign.iter().sum();
        for (way, foreign) in ways.iter_mut().zip(foreign) {
            *way += rest * foreign / all.max(f64::MIN_POSITIVE);
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::{CfgEdge, PathId};
    use crate::copies::partition::{Part, Side};
    use crate::copies::plan::ids::choose_ids;
    use crate::paths::dag::edges_through;
    use crate::paths::random_cfg::{Walk, any_cfg, cfg, paths_of, walk};
    use crate::paths::weights::measured_weights;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn ways_keep_their_proportion() {
        assert_eq!(scale_ways(&[0.0, 0.0]), None);
        assert_eq!(
            scale_ways(&[0.5, 0.0, 0.25]),
            Some(vec![1 << 24, 0, 1 << 23])
        );
        assert_eq!(scale_ways(&[1e-9, 1e9]), Some(vec![1, 1 << 24]));
    }

    #[test]
    fn guesses_are_left_to_llvm() {
        let graph = cfg(&[&[1, 2], &[2], &[]]);
        let guessed = Measuring::from_cfg(&graph);
        let weights = |paths: &Measuring| weigh_branches(&graph, paths, None, &paths.weights);
        assert_eq!(weights(&guessed), []);
        let measured = guessed.with_measured(Dag::from_cfg(&graph, &[]).by_edge(1.0));
        assert_eq!(weights(&measured), [(BlockId(0), vec![1 << 24; 2])]);
    }

    /// The function on the way of `walk`, all of whose paths were measured there.
    fn measure_walk(graph: &Cfg, walk: &Walk) -> Measuring {
        let paths = Measuring::from_cfg(graph);
        let back = paths.shape.order.back_edges(graph).map(|(e, _)| e);
        let mut ends: Vec<CfgEdge> = back.chain(paths.cuts.iter().copied()).collect();
        ends.sort_unstable();
        let mut counts: BTreeMap<PathId, u64> = BTreeMap::new();
        for path in paths_of(graph, walk, &ends) {
            let edges = paths.dag.path_edges(&path).expect("a path of the function");
            *counts.entry(paths.id(&edges)).or_default() += 1;
        }
        let counts: Vec<(PathId, u64)> = counts.into_iter().collect();
        let weights = measured_weights(&paths.dag, &paths.numbering, &counts);
        let mut measured = paths.with_measured(weights);
        measured.ran = measured.that_ran(counts);
        measured
    }

    /// By block, in versions if there are any: how often the walk takes each successor.
    fn count_branches(graph: &Cfg, local: Option<&Local>, walk: &Walk) -> Vec<Vec<f64>> {
        let graph = local.map_or(graph, |l| &l.versions.cfg);
        let mut taken: Vec<Vec<f64>> = graph
            .blocks
            .iter()
            .map(|b| vec![0.0; b.succs.len()])
            .collect();
        let mut at = BlockId(0);
        for e in &walk.edges {
            taken[at.index()][e.succ as usize] += 1.0;
            at = graph.block(at).succs[e.succ as usize];
        }
        taken
    }

    /// `ways` out of a block, of which those that leave the DAG of its version are one.
    fn join_leaving_ways(local: Option<&Local>, block: BlockId, ways: Vec<f64>) -> Vec<f64> {
        let inside =
            |succ: u32| local.is_none_or(|l| l.dag.edge_of(CfgEdge { block, succ }).is_some());
        let (inside, outside): (Vec<_>, Vec<_>) =
            (0..).zip(ways).partition(|(succ, _)| inside(*succ));
        let outside = outside.iter().map(|(_, way)| way).sum();
        inside
            .into_iter()
            .map(|(_, way)| way)
            .chain([outside])
            .collect()
    }

    fn are_alike(weights: &[f64], taken: &[f64]) -> bool {
        let sum = |of: &[f64]| of.iter().sum::<f64>();
        let pairs = weights.iter().zip(taken);
        let mut shares = pairs.map(|(w, t)| (w / sum(weights), t / sum(taken)));
        shares.all(|(w, t)| (w - t).abs() < 1e-3)
    }

    proptest! {
        /// Each version of a block gets the weights of what ran there. Where paths leave those of interest, the ways on
        /// which they do are one.
        #[test]
        fn weights_are_what_ran(
            graph in any_cfg(12),
            choices in proptest::collection::vec(any::<u8>(), 0..200),
            edge in any::<prop::sample::Index>(),
        ) {
            let Some(walk) = walk(&graph, &choices).filter(|w| w.exit.is_some()) else { return Ok(()) };
            let paths = measure_walk(&graph, &walk);
            let mut through = paths.dag.edge_set();
            through.insert(EdgeId::new(edge.index(paths.dag.edges().len())));
            let set = edges_through(&paths.dag, &through);
            for part in [Part::All, Part::Edges(&set), Part::Side(Side::Inside(&set))] {
                let ids = choose_ids(&graph, &paths, part);
                let local = ids.version_ids();
                let taken = count_branches(&graph, local, &walk);
                let weights = weigh_branches(&graph, &paths, local, &ids.weights(&paths));
                let weights: BTreeMap<BlockId, Vec<u32>> = weights.into_iter().collect();
                for (b, ran) in (0..).map(BlockId).zip(taken) {
                    let has_choice = ran.len() > 1 && ran.iter().any(|n| *n > 0.0);
                    let weights = weights.get(&b);
                    prop_assert!(weights.is_some() || !has_choice, "{b}: {ran:?}");
                    let is_foreign = local.is_some_and(|l| l.dag.vertex(b).is_none());
                    if let Some(weights) = weights && has_choice && !is_foreign {
                        let weights = weights.iter().map(|w| f64::from(*w)).collect();
                        let (weights, ran) = (join_leaving_ways(local, b, weights), join_leaving_ways(local, b, ran));
                        prop_assert!(are_alike(&weights, &ran), "{b}: {weights:?}, {ran:?}");
                    }
                }
            }
        }
    }
}
