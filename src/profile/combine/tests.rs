//! Who is believed, and what is said where copies contradict each other.

use super::*;
use crate::base::index::{FuncId, ti_vec};
use crate::copies::strategy::Scheme;
use crate::paths::function::Paths;
use crate::paths::random_cfg::{any_cfg, cfg};
use crate::profile::made;
use crate::profile::verdict::{Processes, Verdict};
use proptest::prelude::*;

/// What copies count of path `id`.
fn add_differing(differences: &mut Differences, id: PathId, counts: &[u64]) {
    let counts: Vec<(CopyId, u64)> = (0..).map(CopyId).zip(counts.iter().copied()).collect();
    differences.add(id, &counts);
}

#[test]
fn the_largest_difference_is_told() {
    let mut found = Differences::default();
    add_differing(&mut found, PathId(1), &[10]);
    add_differing(&mut found, PathId(2), &[10, 10, 10]);
    assert_eq!((found.paths, found.off), (0, 0));
    add_differing(&mut found, PathId(3), &[4, 5, 2]);
    let one = "path 3: copy 0 counted 4, copy 2 2";
    assert_eq!(found.most, Some((2, one.into())));
    add_differing(&mut found, PathId(4), &[0, 7]);
    add_differing(&mut found, PathId(5), &[7, 0]);
    let violation = found.violation(FuncId(9)).unwrap();
    assert_eq!((violation.function, violation.off), (FuncId(9), 2 + 7 + 7));
    assert_eq!(
        violation.what,
        "path 4: copy 0 counted 0, copy 1 7 (3 such paths)"
    );
}

#[test]
fn a_single_difference_is_told_alone() {
    let mut found = Differences::default();
    add_differing(&mut found, PathId(3), &[4, 5]);
    let what = found.violation(FuncId(0)).unwrap().what;
    assert_eq!(what, "path 3: copy 0 counted 4, copy 1 5");
    assert_eq!(Differences::default().violation(FuncId(0)), None);
}

/// What each copy says when all ran alike: `count` of every path that it counts.
fn counts_of_equal_runs(
    structure: &Structure,
    share: &Share,
    copies: u32,
    count: impl Fn(PathId) -> u64,
) -> BTreeMap<CopyId, BTreeMap<PathId, u64>> {
    let paths = &structure.paths;
    let mut said: BTreeMap<CopyId, BTreeMap<PathId, u64>> =
        (0..copies).map(|c| (CopyId(c), BTreeMap::new())).collect();
    for path in crate::paths::numbering::enumerate(&paths.dag) {
        let id = paths.id(&path);
        for c in Owners(share).copies_counting(id, &path) {
            if count(id) > 0 {
                said.get_mut(&c).expect("a copy").insert(id, count(id));
            }
        }
    }
    said
}

proptest! {
    /// All paths come out; a copy that lies is believed where it is the first, and found out elsewhere; one that did
    /// not run through is believed, and not compared; one that did not run leaves its paths to others.
    #[test]
    fn owners_are_believed(graph in any_cfg(8), copies in 2..5u32, wrong in any::<prop::sample::Index>()) {
        let mut profile = made::profile(&made::program([made::body(graph)]), Scheme::P3, copies);
        let structure = profile.structure(FuncId(0)).unwrap();
        let Paths { dag, numbering, .. } = &**structure.paths.paths();
        prop_assume!(numbering.total() <= 300);
        let share = profile.entry(FuncId(0)).share(&structure.cfg, &structure.paths).unwrap();
        let count = |id: PathId| id.0 % 3 * 5;
        let paths = crate::paths::numbering::enumerate(dag);
        let all: BTreeMap<PathId, u64> = structure.paths.ids().map(|id| (id, count(id))).filter(|p| p.1 > 0).collect();
        let said = counts_of_equal_runs(&structure, &share, copies, count);
        let (merged, differences) = take_counts_of_owners(&profile, &structure, &share, &said).unwrap();
        prop_assert_eq!(&merged, &all);
        prop_assert_eq!(differences.paths, 0);

        let path = wrong.get(&paths);
        let id = structure.paths.id(path);
        let owners: Vec<CopyId> = Owners(&share).copies_counting(id, path).collect();
        let liar = *owners.last().expect("someone counts it");
        let mut lie = said.clone();
        lie.get_mut(&liar).expect("a copy").insert(id, count(id) + 2);
        let (merged, differences) = take_counts_of_owners(&profile, &structure, &share, &lie).unwrap();
        let believed = if owners.len() == 1 { count(id) + 2 } else { count(id) };
        prop_assert_eq!(merged.get(&id).copied().unwrap_or(0), believed);
        prop_assert_eq!(differences.off, if owners.len() == 1 { 0 } else { 2 });

        profile.processes[liar].cut_short = 1;
        let (_, differences) = take_counts_of_owners(&profile, &structure, &share, &lie).unwrap();
        prop_assert_eq!(differences.paths, 0);

        let mut silent = said.clone();
        silent.remove(&owners[0]);
        let merged = take_counts_of_owners(&profile, &structure, &share, &silent);
        if owners.len() > 1 && count(id) > 0 {
            let (merged, _) = merged.unwrap();
            prop_assert_eq!(merged.get(&id), Some(&count(id)));
        }
    }
}

/// What counters of edges say is taken as it is, edge by edge.
#[test]
fn counters_become_edges() {
    let graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
    let mut profile = made::profile(&made::program([made::body(graph)]), Scheme::Edge, 1);
    let structure = profile.structure(FuncId(0)).unwrap();
    let counted = profile.counted_edges(FuncId(0), &structure).unwrap();
    let edges: Vec<EdgeId> = counted.iter().collect();
    let by_copy = |ids: &[(u64, u64)]| -> BTreeMap<CopyId, LocalCounts> {
        [(
            CopyId(0),
            [(FuncId(0), ids.iter().copied().collect())].into(),
        )]
        .into()
    };
    assert_eq!(
        combine(&mut profile, &by_copy(&[(0, 7), (1, 2)])).unwrap(),
        []
    );
    let counts = vec![vec![(edges[0], 7), (edges[1], 2)]];
    assert_eq!(
        profile.measured,
        Measurement::Exact(Exact::Edges(counts.into()))
    );
    let beyond = combine(&mut profile, &by_copy(&[(edges.len() as u64, 7)]));
    assert!(beyond.is_err());
}

/// Whole functions: only their copy counts them, under ids that have to be those of paths.
#[test]
fn whole_functions() {
    let graphs = (0..2).map(|_| made::body(cfg(&[&[1, 2], &[3], &[3], &[]])));
    let mut profile = made::profile(&made::program(graphs), Scheme::Pbl, 2);
    profile.processes = ti_vec![Processes::default(); 2];
    profile.verdict = Verdict::default();
    let owner = |f: usize| profile.manifest.functions[FuncId::new(f)].share.copies()[0];
    let (first, second) = (owner(0), owner(1));
    let counted = |f: u32, ids: &[(u64, u64)]| -> LocalCounts {
        [(FuncId(f), ids.iter().copied().collect())].into()
    };
    let by_copy = [
        (first, counted(0, &[(0, 4), (1, 9)])),
        (second, counted(1, &[])),
    ]
    .into();
    assert_eq!(combine(&mut profile, &by_copy).unwrap(), []);
    let counts = vec![made::counts(&[(0, 4), (1, 9)]), vec![]];
    assert_eq!(
        profile.measured,
        Measurement::Exact(Exact::Paths(counts.into()))
    );
    let impossible = [(first, counted(0, &[(2, 1)]))].into();
    let error = combine(&mut profile, &impossible).unwrap_err().to_string();
    assert!(
        error.starts_with("m: f0: ") && error.ends_with("; run the copies again"),
        "{error}"
    );
}
