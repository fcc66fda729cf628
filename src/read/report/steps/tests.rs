use super::*;
use crate::read::report::line;
use crate::read::source::Search;
use std::collections::HashSet;
use std::path::Path;

/// Functions with more paths are not looked through.
const MOST: u64 = 20_000;

/// Two paths of one function never read alike, with `--full`, whether they ran or not.
#[test]
fn full_rows_of_different_paths_differ() {
    let mut looked_at = 0;
    for name in ["demo", "orders", "variants"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/reading");
        let profile = Profile::read(&folder.join(format!("{name}.p3prof"))).unwrap();
        let search = Search {
            folders: vec![folder.clone(), folder.join("../programs")],
            ..Search::default()
        };
        let manifest = &profile.manifest;
        let sources = Sources::new(&manifest.files, &manifest.checksums, search);
        let steps = Steps::new(&profile, &sources, true);
        for f in profile.functions() {
            if profile.entry(f).status.is_skipped() {
                continue;
            }
            let structure = profile.structure(f).unwrap();
            if structure.paths.numbering.total() > MOST {
                continue;
            }
            let mut seen = HashSet::new();
            for id in structure.paths.ids() {
                let line = line(&profile, &structure, (f, id, 0)).unwrap();
                let told = (steps.start(&line), steps.rows(&line));
                assert!(
                    seen.insert(told.clone()),
                    "{name} {} #{id}: {told:#?}",
                    steps.name(f)
                );
                looked_at += 1;
            }
        }
    }
    assert!(looked_at > 1000, "{looked_at}");
}

fn row(place: usize, outcome: &str) -> StepRow {
    StepRow::Step(Step {
        place: place.to_string(),
        line: None,
        within: None,
        text: format!("c{place}"),
        outcome: outcome.into(),
        note: String::new(),
        times: 1,
    })
}

fn rows(outcomes: &str) -> Vec<StepRow> {
    let outcome = |c| if c == 't' { "true" } else { "false" };
    let rows = outcomes.chars().enumerate();
    rows.map(|(i, c)| row(i, outcome(c))).collect()
}

/// The numbers of rows that are shown; `⋯ 4` for what is folded.
fn shown_rows(rows: &[StepRow]) -> String {
    let of = |row: &StepRow| match row {
        StepRow::Step(step) => step.place.clone(),
        StepRow::More(n) => format!("⋯{n}"),
        _ => panic!("{row:?}"),
    };
    rows.iter().map(of).collect::<Vec<_>>().join(" ")
}

/// Fewer than four rows are not worth a fold, whatever is kept between them.
#[test]
fn fold_hides_at_least_four_rows() {
    let all = |n: usize| rows(&"t".repeat(n));
    assert_eq!(
        shown_rows(&fold_middle(&all(8), |_| false)),
        "0 1 2 3 4 5 6 7"
    );
    assert_eq!(shown_rows(&fold_middle(&all(9), |_| false)), "0 1 ⋯4 6 7 8");
    assert_eq!(
        shown_rows(&fold_middle(&all(9), |i| i == 4)),
        "0 1 2 3 4 5 6 7 8"
    );
    assert_eq!(
        shown_rows(&fold_middle(&all(14), |i| i == 6)),
        "0 1 ⋯4 6 ⋯4 11 12 13"
    );
    assert_eq!(shown_rows(&fold_middle(&[], |_| false)), "");
    let longest = (0..100)
        .map(|n| fold_middle(&all(n), |_| false).len())
        .max();
    assert_eq!(longest, Some(8));
    for n in 0..30 {
        for kept in 0..n {
            let some = fold_middle(&all(n), |i| i == kept || i == 17);
            let hidden = some.iter().map(|r| match r {
                StepRow::More(n) => *n,
                _ => 1,
            });
            assert_eq!(hidden.sum::<usize>(), n);
            assert!(!some.iter().any(|r| matches!(r, StepRow::More(0..=3))));
            assert!(some.contains(&row(kept, "true")));
        }
    }
}

/// What differs between two paths is kept in both: the first row, and each condition with another outcome.
#[test]
fn deciding_row_is_not_folded() {
    let (a, b) = (rows("tttttttttttttt"), rows("tttttftttftttt"));
    assert_eq!(apart::deciding_rows(&a, &b), [5, 5, 9]);
    assert_eq!(apart::deciding_rows(&b, &a), [5, 5, 9]);
    assert!(apart::deciding_rows(&a, &a).is_empty());
    // One that ends earlier: the first row that the other does not have.
    assert_eq!(apart::deciding_rows(&a, &a[..6]), [6]);
    assert!(apart::deciding_rows(&a[..6], &a).is_empty());
}
