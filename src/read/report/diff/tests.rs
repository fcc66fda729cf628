use super::{Change, Diff, Matched, diff, text};
use crate::base::index::{BlockId, CfgEdge, FuncId, ModuleId};
use crate::copies::strategy::Scheme;
use crate::paths::random_cfg::cfg;
use crate::profile::filter::Selection;
use crate::profile::made;
use crate::profile::tests::profile;

#[test]
fn diff_by_hand() {
    let (a, b) = (
        profile(vec![(0, 90), (1, 10)]),
        profile(vec![(0, 50), (2, 50)]),
    );
    let ids = |changes: &[Change]| changes.iter().map(|c| c.line.id.0).collect::<Vec<_>>();
    let all = Selection::default();
    let d = diff(a.paths().unwrap(), b.paths().unwrap(), &all, 0.1).unwrap();
    assert_eq!(
        (ids(&d.appeared), ids(&d.vanished), ids(&d.changed)),
        (vec![2], vec![1], vec![0])
    );
    assert!(d.has_differences() && d.steady == 0);
    let shown = text(
        &d,
        5,
        [&crate::read::source::Sources::without_files(); 2],
        crate::base::table::Layout::default(),
    );
    assert!(
        shown.contains("  90 (90.00%) → 50 (50.00%)  ") && shown.contains("    b2  → b3\n"),
        "{shown}"
    );
    let d = diff(a.paths().unwrap(), b.paths().unwrap(), &all, 0.5).unwrap();
    assert_eq!((ids(&d.changed), d.steady), (vec![], 1));
    let d = diff(a.paths().unwrap(), a.paths().unwrap(), &all, 0.0).unwrap();
    assert!(!d.has_differences() && d.steady == 2);
}

/// Functions that changed are named, not compared.
#[test]
fn diff_of_other_builds() {
    let (a, mut b) = (profile(vec![(0, 1)]), profile(vec![(0, 1)]));
    let all = Selection::default();
    b.manifest.modules[ModuleId(0)].name = "renamed.ll".into();
    assert!(
        !diff(a.paths().unwrap(), b.paths().unwrap(), &all, 0.1)
            .unwrap()
            .has_differences()
    );
    let hash = b.manifest.functions[FuncId(0)].cfg_hash();
    b.manifest.functions[FuncId(0)].succs[BlockId(3)] = vec![BlockId(5)];
    assert_ne!(b.manifest.functions[FuncId(0)].cfg_hash(), hash);
    let d = diff(a.paths().unwrap(), b.paths().unwrap(), &all, 0.1).unwrap();
    assert_eq!(
        (&d.incomparable[..], d.appeared.len()),
        (&["main".to_string()][..], 0)
    );
    assert!(d.has_differences() && d.only_before.is_empty() && d.only_after.is_empty());
    b.manifest.functions[FuncId(0)].name = "other".into();
    let d = diff(a.paths().unwrap(), b.paths().unwrap(), &all, 0.1).unwrap();
    assert_eq!(
        (&d.only_before[..], &d.only_after[..]),
        (&["main".to_string()][..], &["other".to_string()][..])
    );
}

/// Programs are different ones if hardly a function of the smaller one is in both.
#[test]
fn programs_with_few_common_functions_are_unrelated() {
    let of = |same: usize, changed, alone: [usize; 2]| {
        let functions = |n: usize| (0..n).map(FuncId::new).collect::<Vec<_>>();
        let matched = Matched {
            pairs: functions(same).into_iter().zip(functions(same)).collect(),
            changed: functions(changed),
            only_before: functions(alone[0]),
            only_after: functions(alone[1]),
        };
        matched.count_if_unrelated()
    };
    assert_eq!(of(1, 0, [2, 9]), Some([1, 12]));
    assert_eq!(of(0, 1, [2, 9]), Some([1, 12]));
    // A part of a program; half of it; nothing at all.
    assert_eq!(
        (of(1, 0, [0, 9]), of(1, 1, [2, 2]), of(0, 0, [0, 0])),
        (None, None, None)
    );
}

/// Each kind of change alone is one.
#[test]
fn any_change_is_found() {
    let p = profile(vec![(0, 1)]);
    let paths = p.paths().unwrap();
    let none = || diff(paths, paths, &Selection::default(), 0.0).unwrap();
    let other = profile(vec![(0, 1), (1, 1)]);
    let changes = || {
        let all = Selection::default();
        diff(paths, other.paths().unwrap(), &all, 0.0)
            .unwrap()
            .appeared
    };
    let names = || vec!["f".to_string()];
    assert!(!none().has_differences());
    let kinds: [&dyn Fn(&mut Diff<'_>); 6] = [
        &|d| d.incomparable = names(),
        &|d| d.only_before = names(),
        &|d| d.only_after = names(),
        &|d| d.appeared = changes(),
        &|d| d.vanished = changes(),
        &|d| d.changed = changes(),
    ];
    for set in kinds {
        let mut d = none();
        set(&mut d);
        assert!(d.has_differences());
    }
}

/// A change of just as much as was asked for is told, and the largest comes first, whichever way it went.
#[test]
fn the_largest_changes_first() {
    let a = profile(vec![(0, 8), (1, 5), (2, 3)]);
    let b = profile(vec![(0, 6), (1, 9), (2, 1)]);
    let told = |least| {
        let all = Selection::default();
        let d = diff(a.paths().unwrap(), b.paths().unwrap(), &all, least).unwrap();
        let changed = d.changed.iter().map(|c| (c.line.id.0, c.change()));
        (changed.collect::<Vec<_>>(), d.steady)
    };
    let (most, first, last) = ((1, 0.25), (0, -0.125), (2, -0.125));
    assert_eq!(told(0.125), (vec![most, first, last], 0));
    assert_eq!(told(0.126), (vec![most], 2));
}

/// Paths are described by the profile that has them, whatever the order of its functions.
#[test]
fn functions_in_another_order() {
    let wide = || made::body(cfg(&[&[1, 2], &[3], &[3], &[]]));
    let small = || made::body(cfg(&[&[1, 1], &[]]));
    let mut a = made::profile(&made::program([wide(), small()]), Scheme::Sbl, 1);
    let mut b = made::profile(&made::program([small(), wide()]), Scheme::Sbl, 1);
    b.manifest.functions[FuncId(0)].name = "f1".into();
    b.manifest.functions[FuncId(1)].name = "f0".into();
    made::path_counts(&mut a)[FuncId(0)] = made::counts(&[(0, 1)]);
    made::path_counts(&mut b)[FuncId(0)] = made::counts(&[(1, 1)]);
    let all = Selection::default();
    let d = diff(a.paths().unwrap(), b.paths().unwrap(), &all, 0.0).unwrap();
    let one = |c: &[Change]| {
        c.iter()
            .map(|c| (c.line.func.0, c.line.id.0, c.line.path.blocks.len()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (one(&d.appeared), one(&d.vanished)),
        (vec![(0, 1, 2)], vec![(0, 0, 3)])
    );
    b.manifest.functions[FuncId(0)].cuts = vec![CfgEdge {
        block: BlockId(0),
        succ: 1,
    }];
    let d = diff(a.paths().unwrap(), b.paths().unwrap(), &all, 0.0).unwrap();
    assert_eq!(
        (&d.incomparable[..], d.appeared.len()),
        (&["f1".to_string()][..], 0)
    );
}
