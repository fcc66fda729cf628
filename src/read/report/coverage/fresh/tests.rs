use super::*;
use crate::base::index::{TiVec, ti_vec};
use crate::copies::strategy::Scheme;
use crate::paths::random_cfg::cfg;
use crate::profile::made;

/// New paths: ids, how many pairs are new on each, and the nearest known path with the number of common blocks.
type New = Vec<(u64, usize, Option<(u64, usize)>)>;

/// Two diamonds in turn with a block between them have four paths. Those that are known, and what ran: how many ran
/// again, how many pairs are new, and the new paths.
fn find_new_paths(known: &[u64], ran: &[(u64, u64)]) -> (usize, usize, New) {
    let graph = cfg(&[&[1, 2], &[3], &[3], &[4], &[5, 6], &[7], &[7], &[]]);
    let mut profile = made::profile(&made::program([made::body(graph)]), Scheme::Sbl, 1);
    made::path_counts(&mut profile)[FuncId(0)] = made::counts(ran);
    let known = known.iter().map(|id| (PathId(*id), 7)).collect();
    let known: TiVec<FuncId, BTreeMap<PathId, u64>> = ti_vec![known];
    let scope = Scope::default();
    let fresh = find_new(
        profile.paths().unwrap(),
        &known,
        &Selection::default(),
        &scope,
    )
    .unwrap();
    let paths = fresh.paths.iter().map(|new| {
        let near = new.near.as_ref().map(|n| (n.id.0, n.common));
        (new.path.id.0, new.pairs, near)
    });
    (fresh.again, fresh.pairs, paths.collect())
}

/// Ids 0 and 1 begin alike, as 2 and 3 do, as far as to the second decision.
#[test]
fn new_paths_stand_beside_the_known_path_with_the_longest_common_beginning() {
    let (again, pairs, paths) = find_new_paths(&[0], &[(0, 5), (1, 9)]);
    // The way to the other side of the second diamond, through it, and to the end.
    assert_eq!((again, pairs, paths), (1, 3, vec![(1, 3, Some((0, 4)))]));
    let (_, _, paths) = find_new_paths(&[0, 3], &[(1, 9), (2, 4)]);
    assert_eq!(paths, [(1, 0, Some((0, 4))), (2, 0, Some((3, 4)))]);
}

#[test]
fn nothing_is_known_of_a_function_without_known_paths() {
    let (again, _, paths) = find_new_paths(&[], &[(2, 1)]);
    assert_eq!((again, paths.len(), paths[0].2), (0, 1, None));
}

/// All pairs of the fourth path are on one of three others.
#[test]
fn combination_of_known_pairs_is_a_new_path_without_new_pairs() {
    let (_, pairs, paths) = find_new_paths(&[0, 1, 2], &[(3, 1)]);
    assert_eq!((pairs, paths[0].1), (0, 0));
}
