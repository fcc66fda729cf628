//! The paths of a function that the copies count.

use super::outside::Outside;
use crate::base::index::{EdgeId, IdSet, PathId};
use crate::copies::partition::Share;
use crate::input::ir::Cfg;
use crate::paths::dag::{Dag, edges_through, paths_inside, useful_edges};
use crate::paths::function::Measuring;

/// The paths of a function that some copy counts: of all others nothing is known.
#[derive(Clone, Debug)]
pub enum CountedPaths {
    /// None: the function has no code of ours.
    Nothing,
    /// All.
    All,
    /// Those whose edges are all in this set of the function's DAG.
    Inside(IdSet<EdgeId>),
    /// All but those that earlier profiles know.
    Outside(Box<Outside>),
}

impl CountedPaths {
    /// What copies with these shares count of the function with control flow `cfg`. O(V + E).
    pub fn new(cfg: &Cfg, paths: &Measuring, share: &Share) -> CountedPaths {
        match share {
            Share::Nothing => CountedPaths::Nothing,
            Share::Whole(_) => CountedPaths::All,
            Share::Ranges(ranges) if ranges.count_all() => CountedPaths::All,
            Share::Ranges(ranges) => {
                CountedPaths::Outside(Box::new(Outside::of_ranges(paths, ranges)))
            }
            Share::Split(sets) | Share::Inside(sets) => {
                let mut all = paths.dag.edge_set();
                sets.iter().for_each(|(_, set)| all.union_with(set));
                if all.is_full() {
                    CountedPaths::All
                } else {
                    CountedPaths::Inside(all)
                }
            }
            Share::Outside(_, set) => {
                CountedPaths::Outside(Box::new(Outside::of_set(cfg, paths, set)))
            }
        }
    }

    /// Whether all paths are counted, as without a selection.
    pub fn are_all(&self) -> bool {
        matches!(self, CountedPaths::All)
    }

    /// Whether no path is.
    pub fn are_none(&self) -> bool {
        matches!(self, CountedPaths::Nothing)
    }

    /// Whether the path along `edges`, of the function's DAG, is counted; if not, it is *not selected*. O(edges ·
    /// out-degree).
    pub fn contain_path(&self, edges: &[EdgeId]) -> bool {
        match self {
            CountedPaths::Nothing => false,
            CountedPaths::All => true,
            CountedPaths::Inside(set) => edges.iter().all(|e| set.contains(*e)),
            CountedPaths::Outside(outside) => !outside.is_known(edges),
        }
    }

    /// Whether the path of `paths` with id `id` is counted; `false` where there is none.
    pub fn contain_id(&self, paths: &Measuring, id: PathId) -> bool {
        paths
            .decode(id)
            .is_some_and(|edges| self.contain_path(&edges))
    }

    /// The number of counted paths. O(V + E).
    pub fn number(&self, paths: &Measuring) -> u64 {
        match self {
            CountedPaths::Nothing => 0,
            CountedPaths::All => paths.numbering.total(),
            CountedPaths::Inside(set) => paths_inside(&paths.dag, set),
            CountedPaths::Outside(outside) => outside.number(paths),
        }
    }

    /// The edges of the function's DAG that lie on a counted path: of all others nothing is known. O(V + E).
    pub fn edges(&self, paths: &Measuring) -> IdSet<EdgeId> {
        let dag: &Dag = &paths.dag;
        match self {
            CountedPaths::Nothing => dag.edge_set(),
            CountedPaths::All => IdSet::with_all(dag.edges().len()),
            CountedPaths::Inside(set) => useful_edges(dag, set),
            CountedPaths::Outside(outside) => outside.counted_edges(paths),
        }
    }
}

impl CountedPaths {
    /// The edges of the function's DAG of which every path is counted: how often these ran is known, also where that is
    /// never. O(V + E).
    pub fn certain_edges(&self, paths: &Measuring) -> IdSet<EdgeId> {
        let dag: &Dag = &paths.dag;
        let mut certain = IdSet::with_all(dag.edges().len());
        match self {
            CountedPaths::All => {}
            CountedPaths::Nothing => certain = dag.edge_set(),
            CountedPaths::Inside(set) => {
                let mut outside = certain.clone();
                outside.difference_with(set);
                certain.difference_with(&edges_through(dag, &outside));
            }
            CountedPaths::Outside(outside) => {
                certain.difference_with(&outside.known_edges(paths));
            }
        }
        certain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::CopyId;
    use crate::copies::partition::{Iterations, Ranges};
    use crate::paths::numbering::enumerate;
    use crate::paths::random_cfg::any_cfg;
    use proptest::prelude::*;

    proptest! {
        /// An edge is certain if every path over it is counted, whether these are inside a set of edges, outside of
        /// one, or in ranges.
    /// Counted edges have all counted paths, and of ranges no others.
        #[test]
        fn certain_edges_are_those_all_of_whose_paths_are_counted(
            graph in any_cfg(9),
            chosen in proptest::collection::vec(any::<bool>(), 11),
            kind in 0..3u8,
        ) {
            let paths = Measuring::from_cfg(&graph);
            let all = enumerate(&paths.dag);
            prop_assume!(all.len() < 500);
            let iterations = Iterations::new(&graph, &paths);
            let edges = if kind == 0 { &paths.dag } else { iterations.dag(&paths) };
            let mut set = edges.edge_set();
            set.extend(edges.edge_ids().filter(|e| chosen[e.index() % 11]));
            let known: Vec<PathId> = paths.ids().filter(|id| chosen[id.0 as usize % 11]).collect();
            let total = paths.numbering.total();
            prop_assume!(known.len() < total as usize);
            let share = match kind {
                0 => Share::Inside(vec![(CopyId(0), set)]),
                1 => Share::Outside(CopyId(0), set),
                _ => Share::Ranges(Ranges::all_but(&known, total, CopyId(0))),
            };
            let counted = CountedPaths::new(&graph, &paths, &share);
            let certain = counted.certain_edges(&paths);
            for e in paths.dag.edge_ids() {
                let mut over = all.iter().filter(|path| path.contains(&e));
                prop_assert_eq!(certain.contains(e), over.all(|path| counted.contain_path(path)));
            }
            let on_them = all.iter().filter(|path| counted.contain_path(path));
            let number = on_them.clone().count() as u64;
            prop_assert_eq!(counted.number(&paths), number);
            let mut of_them = paths.dag.edge_set();
            of_them.extend(on_them.flatten().copied());
            let edges = counted.edges(&paths);
            prop_assert!(of_them.iter().all(|e| edges.contains(e)));
            prop_assert!(kind == 1 || edges == of_them);
        }
    }
}
