//! Local ids become canonical ones; what a copy has no part in is refused.

use super::*;
use crate::copies::partition::Owners;
use crate::copies::strategy::Scheme;
use crate::input::ir::Cfg;
use crate::paths::edges::counted_edges;
use crate::paths::function::Measuring;
use crate::paths::function::made::all_measured as all_paths;
use crate::paths::numbering::enumerate;
use crate::paths::random_cfg::{any_cfg, cfg, input};
use proptest::prelude::*;

fn structure(graph: &Cfg) -> Structure {
    Structure {
        cfg: graph.clone(),
        paths: Measuring::from_cfg(graph),
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
        let paths = &structure.paths;
        prop_assume!(paths.numbering.total() <= 500);
        let share = share(&graph, copies);
        for copy in (0..copies).map(CopyId) {
            let Some(part) = share.part_of_copy(copy) else {
                continue;
            };
            let local = choose_ids(&graph, &structure.paths, part);
            let of_copy = |p: &Vec<_>| Owners(&share).copies_counting(paths.id(p), p).any(|c| c == copy);
            for path in enumerate(&paths.dag).into_iter().filter(of_copy) {
                let id = local.local(&path).unwrap();
                let decoded = decode_paths(&structure, &share, copy, &[(id.0, 7)].into());
                prop_assert_eq!(decoded, Ok([(paths.id(&path), 7)].into()));
            }
        }
    }
}

#[test]
fn foreign_copies_are_refused() {
    let graph = cfg(&[&[1], &[1, 2], &[2, 3], &[]]);
    let structure = structure(&graph);
    let counted = BTreeMap::from([(0, 1)]);
    let refused =
        |share: &Share, copy| decode_paths(&structure, share, CopyId(copy), &counted).is_err();
    assert!(refused(&Share::Nothing, 0));
    assert!(refused(&Share::Whole(CopyId(1)), 0) && !refused(&Share::Whole(CopyId(1)), 1));
    let split = share(&graph, 2);
    assert!(!refused(&split, 0) && !refused(&split, 1) && refused(&split, 2));
}

#[test]
fn ids_that_nothing_has() {
    // Six diamonds in a loop: worth splitting.
    let arms = |i: u32| [vec![3 * i + 2, 3 * i + 3], vec![3 * i + 4], vec![3 * i + 4]];
    let ends = [vec![1, 20], vec![]];
    let blocks = [vec![1]]
        .into_iter()
        .chain((0..6).flat_map(arms))
        .chain(ends);
    let blocks: Vec<Vec<u32>> = blocks.collect();
    let graph = cfg(&blocks.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let structure = structure(&graph);
    let paths = &structure.paths;
    let split = share(&graph, 2);
    assert!(matches!(split, Share::Split(_)), "{split:?}");
    let whole = Share::Whole(CopyId(0));
    for share in [split, whole] {
        let local = choose_ids(&graph, paths, share.part_of_copy(CopyId(0)).unwrap());
        let total = local.numbering().total();
        let decoded = |id| decode_paths(&structure, &share, CopyId(0), &[(id, 1)].into());
        assert!((0..total).all(|id| decoded(id).is_ok()));
        let said = decoded(total).unwrap_err().to_string();
        assert_eq!(
            said,
            format!("copy 0 counted id {total}, which no path or edge has")
        );
    }
    let error = CountProblem::NoPart(CopyId(1));
    let counted = [(0, 1)].into();
    let decoded = decode_paths(&structure, &Share::Whole(CopyId(0)), CopyId(1), &counted);
    assert_eq!(decoded, Err(error));
}

/// Under the scheme edge the ids are positions among the counted edges.
#[test]
fn counters_become_edges() {
    let graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
    let paths = Measuring::from_cfg(&graph);
    let counted = counted_edges(&paths.dag, &paths.weights, false);
    let decoded = |share: Share, ids: &[(u64, u64)]| {
        decode_edges(&counted, &share, CopyId(0), &ids.iter().copied().collect())
    };
    let whole = Share::Whole(CopyId(0));
    assert_eq!(
        decoded(whole.clone(), &[(0, 5), (1, 6)]),
        Ok([(EdgeId(3), 5), (EdgeId(4), 6)].into())
    );
    assert!(decoded(whole, &[(0, 5), (2, 7)]).is_err());
    assert!(decoded(Share::Whole(CopyId(1)), &[(0, 5)]).is_err());
}
