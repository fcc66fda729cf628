//! What a merge takes, adds up and refuses, and what it says of copies that were run otherwise.

use super::*;
use crate::profile::made;
use crate::profile::raw::{RawFunction, Started};
use crate::random_cfg::cfg;
use crate::strategy::Scheme;
use tempfile::TempDir;

/// Two functions of two paths each, of which each of two copies profiles one; the second may be left, so that its
/// entries are counted.
fn diamonds() -> Profile {
    let graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
    let mut left = graph.clone();
    left.blocks[1].may_leave = true;
    made::profile(
        &made::program([graph, left].map(made::body)),
        Scheme::Pbl,
        2,
    )
}

/// The same with these counts of the first function's paths; `source` tells runs apart.
fn run(source: u8, counts: &[(u64, u64)]) -> Profile {
    let mut p = diamonds();
    p.sources = vec![[source; 16]];
    made::path_counts(&mut p)[0] = counts.to_vec();
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
fn merged(profiles: &[Profile], mode: FailureMode) -> Result<Merged, String> {
    let (_dir, manifest, files) = folder(profiles);
    merge(&manifest, &files, mode).map_err(|e| e.to_string())
}

fn refused(profiles: &[Profile], mode: FailureMode) -> String {
    merged(profiles, mode).err().expect("refused")
}

#[test]
fn profiles_add_up() {
    let (mut a, mut b) = (run(9, &[(0, 5), (1, 2)]), run(4, &[(1, 3)]));
    a.entries[1] = Some(0);
    b.entries[1] = Some(0);
    made::path_counts(&mut b)[1] = vec![(0, 1)];
    b.entries[1] = Some(7);
    b.processes[1].cut_short = 1;
    let m = merged(&[a, b], FailureMode::Any).unwrap();
    let counts = vec![vec![(0, 5), (1, 5)], vec![(0, 1)]];
    assert_eq!(m.profile.measured, Measurement::Paths(counts));
    assert_eq!(m.profile.entries, [None, Some(7)]);
    assert_eq!(m.profile.sources, [[4; 16], [9; 16]]);
    let processes = |cut_short| Processes {
        runs: 2,
        children: 0,
        cut_short,
    };
    assert_eq!(m.profile.processes, [processes(0), processes(1)]);
    assert!(m.warnings.is_empty());
    let line = "merged 2 raw profiles: 2 of 2 copies, runs: 2 of each; 2 of 2 functions ran";
    assert_eq!(m.line(), line);
}

/// What verification finds in the sum, and what earlier merges found.
#[test]
fn the_verdict_is_of_all_parts() {
    let (mut a, mut b) = (run(1, &[]), run(2, &[]));
    // No activation that was never begun ends.
    made::path_counts(&mut b)[1] = vec![(0, 5)];
    b.entries[1] = Some(2);
    a.entries[1] = Some(0);
    a.verdict.unlike = vec!["copy 1 ran otherwise".into()];
    a.verdict.violations = vec![Violation {
        function: FuncId(0),
        off: 1,
        what: "earlier".into(),
    }];
    let verdict = merged(&[a, b], FailureMode::Any).unwrap().profile.verdict;
    assert_eq!(verdict.unlike, ["copy 1 ran otherwise"]);
    let found = verdict.violations.iter().map(|v| (v.function.0, v.off));
    assert_eq!(found.collect::<Vec<_>>(), [(1, 3), (0, 1)]);
    assert!(verdict.gaps.is_empty() && verdict.interrupted.is_empty());
}

#[test]
fn nothing_counts_twice() {
    let twice = [run(1, &[(0, 5)]), run(1, &[(0, 5)])];
    let (_dir, manifest, files) = folder(&twice);
    let error = merge(&manifest, &files, FailureMode::Any).err().unwrap();
    let problem = format!("its counts were read before, from {}", files[0].display());
    let line = format!("{}: {problem}; name every run once", files[1].display());
    assert_eq!(error.to_string(), line);
    for mode in [FailureMode::All, FailureMode::Warn] {
        let m = merge(&manifest, &files, mode).unwrap();
        assert_eq!(m.warnings, std::slice::from_ref(&line));
        assert_eq!(m.profile.paths().unwrap().counts(FuncId(0)), [(0, 5)]);
    }
}

#[test]
fn other_files_are_refused_or_left_out() {
    let (dir, manifest, mut files) = folder(&[run(1, &[(0, 5)])]);
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
    assert_eq!(m.profile.paths().unwrap().counts(FuncId(0)), [(0, 5)]);
}

#[test]
fn nothing_to_merge() {
    for mode in [FailureMode::Any, FailureMode::All] {
        assert!(refused(&[], mode).contains("no raw profile of it can be used"));
    }
    let m = merged(&[], FailureMode::Warn).unwrap();
    assert_eq!(
        m.profile.verdict.gaps,
        ["nothing of copies 0, 1 was merged"]
    );
    let line = "merged 0 raw profiles: 0 of 2 copies, runs: 0 of each; 0 of 2 functions ran";
    assert_eq!(m.line(), line);
}

#[test]
fn copies_that_are_missing() {
    let mut p = run(1, &[(0, 5)]);
    p.processes[1] = Processes::default();
    let one = std::slice::from_ref(&p);
    assert!(refused(one, FailureMode::Any).contains("no raw profile of copy 1; run it"));
    let gaps = |mode| merged(one, mode).unwrap().profile.verdict.gaps;
    for mode in [FailureMode::All, FailureMode::Warn] {
        assert_eq!(gaps(mode), ["nothing of copy 1 was merged"]);
    }
    // A child of a fork is a raw profile of its copy.
    p.processes[1].children = 1;
    let m = merged(&[p], FailureMode::Any).unwrap();
    assert!(
        m.line().contains("2 of 2 copies, runs: 0 to 1 of each;"),
        "{}",
        m.line()
    );
}

#[test]
fn foreign_and_incomplete_profiles_are_refused() {
    let mut p = run(1, &[(0, 5)]);
    p.verdict.gaps = vec!["nothing of copy 1 was merged".into()];
    let error = refused(std::slice::from_ref(&p), FailureMode::Any);
    assert!(
        error.contains("it is incomplete: nothing of copy 1 was merged"),
        "{error}"
    );
    p.manifest.program = "f".repeat(p.manifest.program.len());
    let error = refused(&[p], FailureMode::Any);
    assert!(error.contains("it is of another program"), "{error}");
}

/// Same program, other evidence: only a damaged file says so.
#[test]
fn counts_of_paths_and_of_edges_do_not_add_up() {
    let mut sum = diamonds();
    let mut part = diamonds();
    part.measured = Measurement::Edges(vec![Vec::new(); 2]);
    let error = add_profile(&mut sum, &part).unwrap_err().to_string();
    assert!(error.contains("it counts by another scheme"), "{error}");
}

#[test]
fn sums_that_overflow() {
    let most = [run(1, &[(0, u64::MAX)]), run(2, &[(0, 1)])];
    let error = refused(&most, FailureMode::Any);
    assert!(
        error.contains("a count of function 0 overflows; merge fewer runs"),
        "{error}"
    );
    assert!(
        merged(
            &[run(1, &[(0, u64::MAX - 1)]), run(2, &[(0, 1)])],
            FailureMode::Any
        )
        .is_ok()
    );
}

/// A raw profile of one run of copy 0.
fn raw() -> Raw {
    let manifest = diamonds().manifest;
    Raw {
        program: manifest.program_bytes(),
        copies: 2,
        runs: 1,
        ended: 1,
        started: vec![started(&["./x"], 1)],
        ..Raw::default()
    }
}

#[test]
fn foreign_and_lossy_raw_profiles_are_refused() {
    let manifest = diamonds().manifest;
    let problem = |change: fn(&mut Raw)| {
        let mut raw = raw();
        change(&mut raw);
        let checked = check(&raw, &manifest, Path::new("x"));
        checked.err().map(|e| e.to_string())
    };
    assert_eq!(problem(|_| {}), None);
    assert_eq!(problem(|raw| raw.copy = CopyId(1)), None);
    for (change, expected) in [
        (
            (|raw| raw.program = [0; 16]) as fn(&mut Raw),
            "it is of another program",
        ),
        (|raw| raw.copies = 3, "it is of copy 0 of 3"),
        (|raw| raw.copy = CopyId(2), "it is of copy 2 of 2"),
        (|raw| raw.lost = true, "dropped counts"),
        (
            |raw| drop(raw.functions.insert(FuncId(2), RawFunction::default())),
            "the manifest has no function 2",
        ),
    ] {
        let problem = problem(change).expect("refused");
        assert!(problem.contains(expected), "{problem}");
    }
    let mut last = raw();
    last.functions.insert(FuncId(1), RawFunction::default());
    assert!(check(&last, &manifest, Path::new("x")).is_ok());
}

/// How so many processes were started.
fn started(arguments: &[&str], runs: u64) -> Started {
    Started {
        arguments: arguments.iter().map(|a| a.as_bytes().to_vec()).collect(),
        runs,
        ..Started::default()
    }
}

/// A file of a pool counts for all its processes.
#[test]
fn files_of_pools_add_up() {
    let file = Path::new("x");
    let pool = |listed: &[(&[&str], u64)]| Raw {
        runs: 1000,
        children: 20,
        ended: 1003,
        pooled: true,
        started: listed.iter().map(|(a, n)| started(a, *n)).collect(),
        ..raw()
    };
    let mut copy = Copy::default();
    add(
        &mut copy,
        pool(&[(&["./x", "a"], 999), (&["./x"], 1)]),
        file,
    )
    .unwrap();
    let processes = Processes {
        runs: 1000,
        children: 20,
        cut_short: 17,
    };
    assert_eq!(copy.processes, processes);
    assert_eq!(
        copy.arguments,
        [(vec![b"a".to_vec()], 999), (vec![], 1)].into()
    );
    assert!(copy.all_told);
    // One run has no record.
    add(&mut copy, pool(&[(&["./x", "a"], 999)]), file).unwrap();
    assert!(!copy.all_told);
}

#[test]
fn processes_of_a_copy_add_up() {
    let mut copy = Copy::default();
    let counted = |counts: &[(u64, u64)], entries| {
        let f = RawFunction {
            counts: counts.iter().copied().collect(),
            entries,
            hits: None,
        };
        let functions = [(FuncId(1), f)].into();
        Raw { functions, ..raw() }
    };
    let file = Path::new("x");
    add(&mut copy, counted(&[(0, 2), (5, 1)], Some(4)), file).unwrap();
    let child = Raw {
        runs: 0,
        children: 1,
        ended: 0,
        started: vec![started(&["./x", "of the parent"], 0)],
        ..counted(&[(5, 6)], None)
    };
    add(&mut copy, child, file).unwrap();
    let second = Raw {
        started: vec![started(&["./x", "-v"], 1)],
        ..counted(&[], Some(3))
    };
    add(&mut copy, second, file).unwrap();
    assert_eq!(copy.counts, [(FuncId(1), [(0, 2), (5, 7)].into())].into());
    assert_eq!(copy.entries, [(FuncId(1), 7)].into());
    let processes = Processes {
        runs: 2,
        children: 1,
        cut_short: 1,
    };
    assert_eq!(copy.processes, processes);
    // Those of runs, without the program's name.
    assert_eq!(
        copy.arguments,
        [(vec![], 1), (vec![b"-v".to_vec()], 1)].into()
    );
    assert!(copy.all_told);
    let silent = |runs: u64| Raw {
        runs,
        children: 1 - runs,
        started: vec![started(&[], runs)],
        ..raw()
    };
    add(&mut copy, silent(0), file).unwrap();
    assert!(copy.all_told, "a child's arguments are not asked for");
    add(&mut copy, silent(1), file).unwrap();
    assert!(!copy.all_told);
    let over = add(&mut copy, counted(&[(5, u64::MAX)], None), file);
    assert!(
        over.unwrap_err()
            .to_string()
            .contains("function 1 overflows")
    );
}

/// Copies and the arguments of their runs; what is said of them.
fn unlike(copies: &[(u32, &[&[&str]])]) -> Vec<String> {
    let mut gathered = Gathered::default();
    for (copy, runs) in copies {
        let copy = gathered.by_copy.entry(CopyId(*copy)).or_default();
        for run in *runs {
            let words = run.iter().map(|w| w.as_bytes().to_vec());
            *copy.arguments.entry(words.collect()).or_default() += 1;
        }
        copy.all_told = !runs.is_empty();
    }
    gathered.unlike()
}

#[test]
fn copies_with_other_arguments_are_named() {
    let none: [&str; 0] = [];
    assert_eq!(unlike(&[]), none);
    assert_eq!(
        unlike(&[(0, &[&["a"], &["b"]]), (1, &[&["b"], &["a"]])]),
        none
    );
    let often = |a: u64, b: u64| [(vec![b"a".to_vec()], a), (vec![b"b".to_vec()], b)].into();
    let difference = |x: (u64, u64), y: (u64, u64)| {
        let (x, y) = (often(x.0, x.1), often(y.0, y.1));
        first_difference(&x, &y).is_some()
    };
    assert!(!difference((u64::MAX, 7), (u64::MAX, 7)));
    assert!(difference((5, 3), (4, 4)) && difference((4, 4), (5, 3)));
    // Copy 0's are not known; 3 and 4 differ from 1 alike, 5 has fewer runs.
    let found = unlike(&[
        (0, &[]),
        (1, &[&["-n", "3"], &["z"]]),
        (2, &[&["-n", "3"], &["z"]]),
        (3, &[&[], &["z"]]),
        (4, &[&[], &["z"]]),
        (5, &[&["-n", "3"]]),
    ]);
    assert_eq!(
        found,
        ["copies 3, 4 ran with other arguments than copy 1: none instead of -n 3"]
    );
}

#[test]
fn arguments_are_told_as_a_shell_takes_them() {
    let told = |words: &[&str]| {
        let words = words.iter().map(|w| w.as_bytes().to_vec());
        told(&words.collect())
    };
    assert_eq!(told(&[]), "none");
    assert_eq!(
        told(&["-o", "a/b.c,d=1:2%@+_", "7"]),
        "-o a/b.c,d=1:2%@+_ 7"
    );
    assert_eq!(
        told(&["", "a b", "\x1b", "x;y"]),
        r#""" "a b" "\u{1b}" "x;y""#
    );
    assert_eq!(told(&[&"x".repeat(200)]), "x".repeat(200));
    assert_eq!(told(&[&"x".repeat(201)]), "x".repeat(200) + "…");
}

#[test]
fn folders_are_searched_for_raw_profiles() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(path("b/c")).unwrap();
    for name in ["b/c/2.p3raw", "b/1.p3raw", "b/notes", "other"] {
        std::fs::write(path(name), "").unwrap();
    }
    let found = raw_files(&[path("other"), path("b"), path("gone")]).unwrap();
    let expected = ["other", "b/1.p3raw", "b/c/2.p3raw", "gone"].map(path);
    assert_eq!(found, expected);
}

/// One copy counts a function's entries; what several copies of a function say is compared by `combine`.
#[test]
fn copies_are_put_together() {
    let mut p = diamonds();
    let owner = |p: &Profile, f: usize| p.manifest.functions[f].share.copies()[0];
    let (first, second) = (owner(&p, 0), owner(&p, 1));
    assert_ne!(first, second);
    let copy = |f: u32, entries: &[u64]| Copy {
        counts: [(FuncId(f), [(1, 3)].into())].into(),
        entries: entries.iter().map(|n| (FuncId(f), *n)).collect(),
        processes: Processes {
            runs: f + 1,
            ..Processes::default()
        },
        ..Copy::default()
    };
    let by_copy = [(first, copy(0, &[])), (second, copy(1, &[5]))].into();
    p.processes = vec![Processes::default(); 2];
    let violations = counted(&mut p, by_copy).unwrap();
    assert!(violations.is_empty());
    let counts = vec![vec![(1, 3)]; 2];
    assert_eq!(p.measured, Measurement::Paths(counts));
    assert_eq!(p.entries, [None, Some(5)]);
    assert_eq!(
        (
            p.processes[first.index()].runs,
            p.processes[second.index()].runs
        ),
        (1, 2)
    );
    assert_eq!(
        p.verdict.gaps.len(),
        1,
        "one copy ran once, the other twice"
    );
}
