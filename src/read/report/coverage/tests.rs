use super::{coverage, text};
use crate::base::index::FuncId;
use crate::input::ir::{Loc, SkipReason};
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::profile::tests::profile;

/// The program has 20 paths: 10 from its entry, 10 from its loop. Of one that ran, everything one decision away
/// is told, what has fewest new edges first.
#[test]
fn coverage_by_hand() {
    let explained = |counts: &[(u64, u64)]| {
        let p = profile(counts.to_vec());
        let found = coverage(
            p.paths().unwrap(),
            &Selection::default(),
            &crate::read::report::coverage::Scope::default(),
            crate::read::report::coverage::Sort::Missing,
            99,
        )
        .unwrap();
        let total = found.total;
        assert_eq!((total.executed, total.feasible), (counts.len() as u128, 20));
        let shown = text(
            &found,
            &crate::read::source::Sources::without_files(),
            crate::base::table::Layout::default(),
        );
        // What is not indented further begins the next path.
        let mut told: Vec<String> = Vec::new();
        for line in shown.lines().filter_map(|l| l.strip_prefix("    ")) {
            match line.strip_prefix("  ") {
                Some(more) if !told.is_empty() => *told.last_mut().unwrap() += &format!("; {more}"),
                _ if line.starts_with('#') => told.push(line.to_string()),
                _ => {}
            }
        }
        told
    };
    let one = explained(&[(0, 7)]);
    let ids = |lines: &[String]| -> Vec<String> {
        let id = |l: &String| l.split(' ').next().unwrap().to_string();
        lines.iter().map(id).collect()
    };
    assert_eq!(ids(&one), ["#2", "#4", "#6", "#8", "#10", "#1"]);
    assert_eq!(
        one[0],
        "#2 not covered; b1  default; b2  → b4; b4  → b1     ↺ loop at b1; \
         nearest: #0 ran 7 times, with b2 → b3"
    );
    assert_eq!(
        one[4],
        "#10 not covered · loop at b1; b1  default; b2  → b3; b4  → b1     ↺ next iteration; \
         nearest: #0 ran 7 times and starts elsewhere"
    );
    // Left and right at both decisions, but never right at both.
    let three = explained(&[(0, 7), (1, 1), (2, 1)]);
    assert_eq!(
        three[0],
        "#3 not covered; b1  default; b2  → b4; b4  → b5     → return; \
         nearest: #1 ran once, with b2 → b3; each step ran on some path"
    );
    let every: Vec<(u64, u64)> = (0..20).map(|id| (id, 1)).collect();
    assert!(explained(&every).is_empty());
    assert_eq!(
        explained(&[]),
        ["#0 not covered; b1  default; b2  → b3; b4  → b1     ↺ loop at b1"]
    );
}

/// What is not profiled is in the denominator, and named.
#[test]
fn coverage_of_skipped_functions() {
    let mut p = profile(vec![]);
    p.manifest.functions[FuncId(0)].status =
        crate::profile::manifest::Status::Skipped(SkipReason::NoProfile);
    let found = coverage(
        p.paths().unwrap(),
        &Selection::default(),
        &crate::read::report::coverage::Scope::default(),
        crate::read::report::coverage::Sort::Missing,
        1,
    )
    .unwrap();
    assert_eq!((found.total.executed, found.total.feasible), (0, 20));
    assert!(
        text(
            &found,
            &crate::read::source::Sources::without_files(),
            crate::base::table::Layout::default()
        )
        .contains("main: skipped(attribute noprofile)")
    );
}

#[test]
fn coverage_by_file() {
    let mut p = profile(vec![(0, 7)]);
    let rows = |p: &Profile| {
        let found = coverage(
            p.paths().unwrap(),
            &Selection::default(),
            &crate::read::report::coverage::Scope::default(),
            crate::read::report::coverage::Sort::Missing,
            0,
        )
        .unwrap();
        let files = found.files.into_iter().map(|(f, n)| (f, n.0.executed));
        (files.collect::<Vec<_>>(), found.rows[0].ran)
    };
    assert_eq!(rows(&p), (vec![("m.ll".into(), 1)], true));
    p.manifest.files = vec!["a.c".into(), "b.c".into()];
    p.manifest.functions[FuncId(0)].loc = Some(Loc { file: 1, line: 3 });
    assert_eq!(rows(&p), (vec![("b.c".into(), 1)], true));
    assert!(!rows(&profile(vec![])).1);
}
