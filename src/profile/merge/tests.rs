//! What a merge takes, adds up and refuses, and what it says of copies that were run otherwise.

use super::*;
use crate::base::index::{BlockId, CopyId, FuncId, ti_vec};
use crate::copies::strategy::Scheme;
use crate::paths::random_cfg::cfg;
use crate::profile::made;
use tempfile::TempDir;

/// Two functions of two paths each, of which each of two copies profiles one; the second may be left, so that its
/// entries are counted.
pub(super) fn diamonds() -> Profile {
    let graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
    let mut left = graph.clone();
    left.blocks[BlockId(1)].may_leave = true;
    made::profile(
        &made::program([graph, left].map(made::body)),
        Scheme::Pbl,
        2,
    )
}

/// The profile of a run of [`diamonds`] with these counts of the first function's paths; `source` tells runs apart.
fn profile_of_run(source: u8, counts: &[(u64, u64)]) -> Profile {
    let mut p = diamonds();
    p.sources = vec![[source; 16]];
    made::path_counts(&mut p)[FuncId(0)] = made::counts(counts);
    p
}

/// A folder with a manifest and these profiles in files 0, 1 and so on.
fn folder(profiles: &[Profile]) -> (TempDir, PathBuf, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let manifest = dir.path().join("manifest.json");
    let json = serde_json::to_vec(&diamonds().manifest).unwrap();
    std::fs::write(&manifest, json).unwrap();
    let names = (0..profiles.len()).map(|i| dir.path().join(i.to_string()));
    let files: Vec<PathBuf> = names.collect();
    for (p, file) in profiles.iter().zip(&files) {
        p.write(file).unwrap();
    }
    (dir, manifest, files)
}

/// Merges these; the error's text.
fn merge_profiles(profiles: &[Profile], mode: FailureMode) -> Result<Merged, String> {
    let (_dir, manifest, files) = folder(profiles);
    merge(&manifest, &files, mode).map_err(|e| e.to_string())
}

fn merge_error(profiles: &[Profile], mode: FailureMode) -> String {
    merge_profiles(profiles, mode).err().expect("refused")
}

#[test]
fn profiles_add_up() {
    let (mut a, mut b) = (
        profile_of_run(9, &[(0, 5), (1, 2)]),
        profile_of_run(4, &[(1, 3)]),
    );
    a.entries[FuncId(1)] = Some(0);
    b.entries[FuncId(1)] = Some(0);
    made::path_counts(&mut b)[FuncId(1)] = made::counts(&[(0, 1)]);
    b.entries[FuncId(1)] = Some(7);
    b.processes[CopyId(1)].cut_short = 1;
    let m = merge_profiles(&[a, b], FailureMode::Any).unwrap();
    let counts = vec![made::counts(&[(0, 5), (1, 5)]), made::counts(&[(0, 1)])];
    assert_eq!(
        m.profile.measured,
        Measurement::Exact(Exact::Paths(counts.into()))
    );
    assert_eq!(m.profile.entries.raw, [None, Some(7)]);
    assert_eq!(m.profile.sources, [[4; 16], [9; 16]]);
    let processes = |cut_short| Processes {
        runs: 2,
        cut_short,
        ..Processes::default()
    };
    assert_eq!(m.profile.processes.raw, [processes(0), processes(1)]);
    assert!(m.warnings.is_empty());
    assert_eq!(
        summary(&m.profile, "a b.p3prof"),
        "a b.p3prof: incomplete
  raw profiles  2
  copies        2 of 2
  runs          2 of each copy
  functions     2 of 2 ran
  incomplete    processes that did not end normally (killed, _exit, exec, or threads left behind): 1 of copy 1
"
    );
}

/// A copy that leaves nothing, since no function is its own, is not missing.
#[test]
fn a_copy_with_nothing_to_profile_is_told() {
    let graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
    let mut p = made::profile(&made::program([made::body(graph)]), Scheme::Pbl, 3);
    p.processes[CopyId(0)].runs = 1;
    p.processes[CopyId(1)..].fill(Processes::default());
    let said = summary(&p, "x");
    let copies = "\n  copies        1 of 3; copies 1, 2 have nothing to profile (use -k 1)\n";
    assert!(said.contains(copies), "{said}");
}

/// What verification finds in the sum, and what earlier merges found.
#[test]
fn the_verdict_is_of_all_parts() {
    let (mut a, mut b) = (profile_of_run(1, &[]), profile_of_run(2, &[]));
    // No activation that was never begun ends.
    made::path_counts(&mut b)[FuncId(1)] = made::counts(&[(0, 5)]);
    b.entries[FuncId(1)] = Some(2);
    a.entries[FuncId(1)] = Some(0);
    a.verdict.unlike = vec!["copy 1 ran otherwise".into()];
    a.verdict.violations = vec![Violation {
        function: FuncId(0),
        off: 1,
        what: "earlier".into(),
    }];
    let verdict = merge_profiles(&[a, b], FailureMode::Any)
        .unwrap()
        .profile
        .verdict;
    assert_eq!(verdict.unlike, ["copy 1 ran otherwise"]);
    let found = verdict.violations.iter().map(|v| (v.function.0, v.off));
    assert_eq!(found.collect::<Vec<_>>(), [(1, 3), (0, 1)]);
    assert!(verdict.gaps.is_empty() && verdict.interrupted.is_empty());
}

#[test]
fn nothing_counts_twice() {
    let twice = [profile_of_run(1, &[(0, 5)]), profile_of_run(1, &[(0, 5)])];
    let (_dir, manifest, files) = folder(&twice);
    let error = merge(&manifest, &files, FailureMode::Any).err().unwrap();
    let problem = format!("its counts were read before, from {}", files[0].display());
    let line = format!("{}: {problem}; name every run once", files[1].display());
    assert_eq!(error.to_string(), line);
    for mode in [FailureMode::All, FailureMode::Warn] {
        let m = merge(&manifest, &files, mode).unwrap();
        assert_eq!(m.warnings, std::slice::from_ref(&line));
        assert_eq!(
            m.profile.paths().unwrap().counts(FuncId(0)),
            made::counts(&[(0, 5)])
        );
    }
}

#[test]
fn other_files_are_refused_or_left_out() {
    let (dir, manifest, mut files) = folder(&[profile_of_run(1, &[(0, 5)])]);
    let other = dir.path().join("notes");
    std::fs::write(&other, "no counts").unwrap();
    let line = format!(
        "{}: not a raw profile; run this copy again",
        other.display()
    );
    files.push(other);
    let error = merge(&manifest, &files, FailureMode::Any).err().unwrap();
    assert_eq!(error.to_string(), line);
    let m = merge(&manifest, &files, FailureMode::All).unwrap();
    assert_eq!(m.warnings, [line]);
    assert_eq!(
        m.profile.paths().unwrap().counts(FuncId(0)),
        made::counts(&[(0, 5)])
    );
}

#[test]
fn nothing_to_merge() {
    for mode in [FailureMode::Any, FailureMode::All] {
        assert!(merge_error(&[], mode).contains("no raw profile of it can be used"));
    }
    let m = merge_profiles(&[], FailureMode::Warn).unwrap();
    assert_eq!(
        m.profile.verdict.gaps,
        ["nothing of copies 0, 1 was merged"]
    );
    let said = summary(&m.profile, "x");
    assert!(said.starts_with("x: incomplete\n  raw profiles  0\n  copies        0 of 2\n"));
}

#[test]
fn copies_that_are_missing() {
    let mut p = profile_of_run(1, &[(0, 5)]);
    p.processes[CopyId(1)] = Processes::default();
    let one = std::slice::from_ref(&p);
    assert!(merge_error(one, FailureMode::Any).contains("no raw profile of copy 1; run it"));
    let gaps = |mode| merge_profiles(one, mode).unwrap().profile.verdict.gaps;
    for mode in [FailureMode::All, FailureMode::Warn] {
        assert_eq!(gaps(mode), ["nothing of copy 1 was merged"]);
    }
    p.processes[CopyId(1)].absent = 1;
    let could_not = merge_error(std::slice::from_ref(&p), FailureMode::Any);
    assert!(
        could_not.contains("copy 1 could not write a raw profile; see its stderr"),
        "{could_not}"
    );
    // A child of a fork is a raw profile of its copy.
    p.processes[CopyId(1)].children = 1;
    let m = merge_profiles(&[p], FailureMode::Any).unwrap();
    let said = summary(&m.profile, "x");
    assert!(
        said.contains("  runs          0 to 1 of each copy\n"),
        "{said}"
    );
}

#[test]
fn foreign_and_incomplete_profiles_are_refused() {
    let mut p = profile_of_run(1, &[(0, 5)]);
    p.verdict.gaps = vec!["nothing of copy 1 was merged".into()];
    let error = merge_error(std::slice::from_ref(&p), FailureMode::Any);
    assert!(
        error.contains("it is incomplete: nothing of copy 1 was merged"),
        "{error}"
    );
    p.manifest.program = "f".repeat(p.manifest.program.len());
    let error = merge_error(&[p], FailureMode::Any);
    assert!(error.contains("it is of another program"), "{error}");
}

/// Same program, other evidence: only a damaged file says so.
#[test]
fn counts_of_paths_and_of_edges_do_not_add_up() {
    let mut sum = diamonds();
    let mut part = diamonds();
    part.measured = Measurement::Exact(Exact::Edges(ti_vec![Vec::new(); 2]));
    let error = add_profile(&mut sum, &part).unwrap_err().to_string();
    assert!(error.contains("it counts by another scheme"), "{error}");
}

#[test]
fn sums_that_overflow() {
    let most = [
        profile_of_run(1, &[(0, u64::MAX)]),
        profile_of_run(2, &[(0, 1)]),
    ];
    let error = merge_error(&most, FailureMode::Any);
    assert!(
        error.contains("a count of function 0 overflows; merge fewer runs"),
        "{error}"
    );
    assert!(
        merge_profiles(
            &[
                profile_of_run(1, &[(0, u64::MAX - 1)]),
                profile_of_run(2, &[(0, 1)])
            ],
            FailureMode::Any
        )
        .is_ok()
    );
}
