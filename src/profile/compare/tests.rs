//! What differs, and what does not matter.

use super::*;
use crate::index::{BlockId, CopyId};
use crate::ir::SkipReason;
use crate::manifest::{ShareEntry, Status};
use crate::profile::tests::profile;

fn differences(a: &Profile, b: &Profile) -> Vec<String> {
    let line = |finding| match finding {
        Finding::Differs(line) => line,
        Finding::Explained(line) => panic!("explained: {line}"),
    };
    compare(a, b).map(line).collect()
}

#[test]
fn equal_profiles_do_not_differ() {
    let a = profile(vec![(0, 1), (3, 5)]);
    let mut b = a.clone();
    b.path = "elsewhere".into();
    b.manifest.copies = 9;
    b.manifest.functions[0].share = ShareEntry::Whole(CopyId(8));
    assert_eq!(differences(&a, &b), [] as [&str; 0]);
}

#[test]
fn paths_that_ran_otherwise() {
    let a = profile(vec![(0, 1), (3, 5), (4, 2)]);
    let b = profile(vec![(1, 7), (3, 6), (4, 2)]);
    let expected = [
        "main, path 0: 1 against 0",
        "main, path 1: 0 against 7",
        "main, path 3: 5 against 6",
    ];
    assert_eq!(differences(&a, &b), expected);
}

#[test]
fn functions_of_one_profile_only() {
    let a = profile(vec![(0, 1)]);
    let mut b = a.clone();
    b.path = "other".into();
    b.manifest.functions[0].name = "nain".into();
    assert_eq!(
        differences(&a, &b),
        ["main: only in m", "nain: only in other"]
    );
}

/// Successors, terminators and cut edges each make it another function's paths.
#[test]
fn other_control_flow_is_not_compared() {
    let a = profile(vec![(0, 1)]);
    let changed = |change: fn(&mut crate::manifest::FunctionEntry)| {
        let mut b = a.clone();
        change(&mut b.manifest.functions[0]);
        differences(&a, &b)
    };
    let other = ["main: different control flow"];
    assert_eq!(changed(|f| f.succs[3] = vec![BlockId(5)]), other);
    assert_eq!(changed(|f| f.terminators.swap(0, 1)), other);
    let cut = |f: &mut crate::manifest::FunctionEntry| {
        f.cuts = vec![crate::index::CfgEdge {
            block: BlockId(2),
            succ: 1,
        }];
    };
    assert_eq!(changed(cut), other);
    let skipped = changed(|f| f.status = Status::Skipped(SkipReason::Naked));
    assert_eq!(skipped, ["main: Exact against Skipped(Naked)"]);
}
