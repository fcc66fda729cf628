//! Local ids become canonical ones; what a copy has no part in is refused.

use super::*;
use crate::ir::Cfg;
use crate::numbering::enumerate;
use crate::partition::Owners;
use crate::paths::{FunctionPaths, all_paths};
use crate::random_cfg::{any_cfg, cfg, input};
use crate::strategy::Scheme;
use proptest::prelude::*;

fn structure(graph: &Cfg) -> Structure {
    Structure {
        cfg: graph.clone(),
        paths: FunctionPaths::new(graph),
    }
}

/// What p3 gives `copies` copies of `graph`.
fn share(graph: &Cfg, copies: u32) -> Share {
    let functions = [input(graph)];
    let shares = Scheme::P3
        .strategy()
        .assign(&functions, &all_paths(&functions), copies)
        .shares;
    shares.into_iter().next().expect("one function")
}

proptest! {
    /// Every path that a copy counts comes back under its canonical id.
    #[test]
    fn ids_become_canonical(graph in any_cfg(10), copies in 1..4u32) {
        let structure = structure(&graph);
        let FunctionPaths { dag, numbering, .. } = &structure.paths;
        prop_assume!(numbering.total() <= 500);
        let share = share(&graph, copies);
        for copy in (0..copies).map(CopyId) {
            let set = match &share {
                Share::Split(sets) => sets.iter().find(|(c, _)| *c == copy).map(|(_, s)| s),
                _ => None,
            };
            let local = ids(&graph, &structure.paths, set);
            let of_copy = |p: &Vec<_>| Owners(&share).of(p).any(|c| c == copy);
            for path in enumerate(dag).into_iter().filter(of_copy) {
                let id = local.local(&structure.paths, &path);
                let decoded = decode(&structure, &share, copy, &[(id, 7)].into());
                prop_assert_eq!(decoded, Ok([(numbering.id(&path), 7)].into()));
            }
        }
    }
}

#[test]
fn foreign_copies_are_refused() {
    let graph = cfg(&[&[1], &[1, 2], &[2, 3], &[]]);
    let structure = structure(&graph);
    let counted = BTreeMap::from([(0, 1)]);
    let refused = |share: &Share, copy| decode(&structure, share, CopyId(copy), &counted).is_err();
    assert!(refused(&Share::Nothing, 0));
    assert!(refused(&Share::Whole(CopyId(1)), 0) && !refused(&Share::Whole(CopyId(1)), 1));
    let split = share(&graph, 2);
    assert!(!refused(&split, 0) && !refused(&split, 1) && refused(&split, 2));
}

/// Under the scheme edge the ids are positions among the counted edges.
#[test]
fn counters_become_edges() {
    let graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
    let mut structure = structure(&graph);
    structure.paths.count_edges(&graph);
    let whole = Share::Whole(CopyId(0));
    let decoded = |counted: BTreeMap<u64, u64>| decode(&structure, &whole, CopyId(0), &counted);
    assert_eq!(
        decoded([(0, 5), (1, 6)].into()),
        Ok([(3, 5), (4, 6)].into())
    );
    assert!(decoded([(0, 5), (2, 7)].into()).is_err());
}
