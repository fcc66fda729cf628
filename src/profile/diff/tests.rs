use super::{Change, diff, text};
use crate::index::BlockId;
use crate::profile::report::Selection;
use crate::profile::tests::profile;

#[test]
fn diff_by_hand() {
    let (a, b) = (
        profile(vec![(0, 90), (1, 10)]),
        profile(vec![(0, 50), (2, 50)]),
    );
    let ids = |changes: &[Change]| changes.iter().map(|c| c.line.id).collect::<Vec<_>>();
    let all = Selection::default();
    let d = diff(a.paths().unwrap(), b.paths().unwrap(), &all, 0.1).unwrap();
    assert_eq!(
        (ids(&d.appeared), ids(&d.vanished), ids(&d.changed)),
        (vec![2], vec![1], vec![0])
    );
    assert!(d.found() && d.steady == 0);
    let shown = text(&d, 5);
    assert!(
        shown.contains("  90 (90.00%) → 50 (50.00%)  main #0  b0→b1→b2→b3→b4"),
        "{shown}"
    );
    let d = diff(a.paths().unwrap(), b.paths().unwrap(), &all, 0.5).unwrap();
    assert_eq!((ids(&d.changed), d.steady), (vec![], 1));
    let d = diff(a.paths().unwrap(), a.paths().unwrap(), &all, 0.0).unwrap();
    assert!(!d.found() && d.steady == 2);
}

/// Functions that changed are named, not compared.
#[test]
fn diff_of_other_builds() {
    let (a, mut b) = (profile(vec![(0, 1)]), profile(vec![(0, 1)]));
    let all = Selection::default();
    b.manifest.modules[0].name = "renamed.ll".into();
    assert!(
        !diff(a.paths().unwrap(), b.paths().unwrap(), &all, 0.1)
            .unwrap()
            .found()
    );
    let hash = b.manifest.functions[0].cfg_hash();
    b.manifest.functions[0].succs[3] = vec![BlockId(5)];
    assert_ne!(b.manifest.functions[0].cfg_hash(), hash);
    let d = diff(a.paths().unwrap(), b.paths().unwrap(), &all, 0.1).unwrap();
    assert_eq!(
        (&d.incomparable[..], d.appeared.len()),
        (&["main".to_string()][..], 0)
    );
    assert!(d.found() && d.only_before.is_empty() && d.only_after.is_empty());
    b.manifest.functions[0].name = "other".into();
    let d = diff(a.paths().unwrap(), b.paths().unwrap(), &all, 0.1).unwrap();
    assert_eq!(
        (&d.only_before[..], &d.only_after[..]),
        (&["main".to_string()][..], &["other".to_string()][..])
    );
}
