//! What is taken from raw profiles, and what is refused.

use super::super::tests::diamonds;
use super::*;
use crate::base::index::{FuncId, ti_vec};
use crate::profile::made;
use crate::profile::manifest::Manifest;
use crate::profile::measurement::{Exact, Measurement};
use crate::profile::merge::fill_profile;
use crate::profile::raw::{RawFunction, Started};

/// A raw profile of one run of copy 0.
fn raw_profile() -> Raw {
    let manifest = diamonds().manifest;
    Raw {
        program: manifest.program_bytes(),
        copies: 2,
        runs: 1,
        ended: 1,
        started: vec![start_record(&["./x"], 1)],
        ..Raw::default()
    }
}

/// What is said of a raw profile, where this manifest alone was named.
fn check_against(raw: &Raw, manifest: &Manifest) -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("manifest.json");
    std::fs::write(&file, serde_json::to_vec(manifest).unwrap()).unwrap();
    let programs = Programs::find(&[file]).unwrap();
    check_raw(
        raw,
        programs.find_program(raw.program, Path::new("x"))?,
        Path::new("x"),
    )
}

#[test]
fn foreign_and_lossy_raw_profiles_are_refused() {
    let manifest = diamonds().manifest;
    let problem = |change: fn(&mut Raw)| {
        let mut raw = raw_profile();
        change(&mut raw);
        let checked = check_against(&raw, &manifest);
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
    let mut last = raw_profile();
    last.functions.insert(FuncId(1), RawFunction::default());
    assert!(check_against(&last, &manifest).is_ok());
}

/// How so many processes were started.
fn start_record(arguments: &[&str], runs: u64) -> Started {
    Started {
        arguments: arguments.iter().map(|a| a.as_bytes().to_vec()).collect(),
        runs,
        ..Started::default()
    }
}

/// How many runs had which arguments.
fn arguments(runs: &[(&[&str], u64)]) -> ArgumentCounts {
    let mut counts = ArgumentCounts::default();
    for (words, n) in runs {
        let words: Vec<Vec<u8>> = words.iter().map(|w| w.as_bytes().to_vec()).collect();
        counts.add(&words, *n);
    }
    counts
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
        started: listed.iter().map(|(a, n)| start_record(a, *n)).collect(),
        ..raw_profile()
    };
    let mut copy = Copy::default();
    add_raw(
        &mut copy,
        pool(&[(&["./x", "a"], 999), (&["./x"], 1)]),
        file,
    )
    .unwrap();
    let processes = Processes {
        runs: 1000,
        children: 20,
        cut_short: 17,
        children_cut_short: 17,
        ..Processes::default()
    };
    assert_eq!(copy.processes, processes);
    assert_eq!(copy.arguments, arguments(&[(&["a"], 999), (&[], 1)]));
    assert!(copy.all_told);
    // One run has no record.
    add_raw(&mut copy, pool(&[(&["./x", "a"], 999)]), file).unwrap();
    assert!(!copy.all_told);
}

#[test]
fn processes_of_a_copy_add_up() {
    let mut copy = Copy::default();
    let counted = |counts: &[(u64, u64)], entries| {
        let f = RawFunction {
            counts: counts.iter().copied().collect(),
            entries,
            ..RawFunction::default()
        };
        let functions = [(FuncId(1), f)].into();
        Raw {
            functions,
            ..raw_profile()
        }
    };
    let file = Path::new("x");
    add_raw(&mut copy, counted(&[(0, 2), (5, 1)], Some(4)), file).unwrap();
    let child = Raw {
        runs: 0,
        children: 1,
        ended: 0,
        started: vec![start_record(&["./x", "of the parent"], 0)],
        ..counted(&[(5, 6)], None)
    };
    add_raw(&mut copy, child, file).unwrap();
    let second = Raw {
        absent: 2,
        started: vec![start_record(&["./x", "-v"], 1)],
        ..counted(&[], Some(3))
    };
    add_raw(&mut copy, second, file).unwrap();
    assert_eq!(copy.counts, [(FuncId(1), [(0, 2), (5, 7)].into())].into());
    assert_eq!(copy.entries, [(FuncId(1), 7)].into());
    let processes = Processes {
        runs: 2,
        children: 1,
        cut_short: 1,
        children_cut_short: 1,
        absent: 2,
        ..Processes::default()
    };
    assert_eq!(copy.processes, processes);
    // Those of runs, without the program's name.
    assert_eq!(copy.arguments, arguments(&[(&[], 1), (&["-v"], 1)]));
    assert!(copy.all_told);
    let silent = |runs: u64| Raw {
        runs,
        children: 1 - runs,
        started: vec![start_record(&[], runs)],
        ..raw_profile()
    };
    add_raw(&mut copy, silent(0), file).unwrap();
    assert!(copy.all_told, "a child's arguments are not asked for");
    add_raw(&mut copy, silent(1), file).unwrap();
    assert!(!copy.all_told);
    let over = add_raw(&mut copy, counted(&[(5, u64::MAX)], None), file);
    assert!(
        over.unwrap_err()
            .to_string()
            .contains("function 1 overflows")
    );
}

/// Copies and the arguments of their runs; what is said of them.
fn differing_arguments(copies: &[(u32, &[&[&str]])]) -> Vec<String> {
    let mut gathered = Gathered::default();
    for (copy, runs) in copies {
        let copy = gathered.by_copy.entry(CopyId(*copy)).or_default();
        for run in *runs {
            let words = run.iter().map(|w| w.as_bytes().to_vec());
            copy.arguments.add(&words.collect::<Vec<_>>(), 1);
            copy.processes.runs += 1;
        }
        copy.all_told = !runs.is_empty();
    }
    gathered.describe_unlike()
}

#[test]
fn copies_with_other_arguments_are_named() {
    let none: [&str; 0] = [];
    assert_eq!(differing_arguments(&[]), none);
    assert_eq!(
        differing_arguments(&[(0, &[&["a"], &["b"]]), (1, &[&["b"], &["a"]])]),
        none
    );
    // Copy 0's are not known; 3 and 4 differ from 1 alike, 5 has fewer runs.
    let found = differing_arguments(&[
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
fn folders_are_searched_for_raw_profiles() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(path("b/c")).unwrap();
    for name in ["b/c/2.p3raw", "b/1.p3raw", "b/notes", "other"] {
        std::fs::write(path(name), "").unwrap();
    }
    let mut found = Vec::new();
    let arguments = [path("other"), path("b"), path("gone")];
    each_file(&arguments, |file| {
        found.push(file.to_path_buf());
        Ok(())
    })
    .unwrap();
    let expected = ["other", "b/1.p3raw", "b/c/2.p3raw", "gone"].map(path);
    assert_eq!(found, expected);
}

/// One copy counts a function's entries; what several copies of a function say is compared by `combine`.
#[test]
fn copies_are_put_together() {
    let mut p = diamonds();
    let owner = |p: &Profile, f: usize| p.manifest.functions[FuncId::new(f)].share.copies()[0];
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
    p.processes = ti_vec![Processes::default(); 2];
    let violations = fill_profile(&mut p, by_copy).unwrap();
    assert!(violations.is_empty());
    let counts = vec![made::counts(&[(1, 3)]); 2];
    assert_eq!(p.measured, Measurement::Exact(Exact::Paths(counts.into())));
    assert_eq!(p.entries.raw, [None, Some(5)]);
    assert_eq!((p.processes[first].runs, p.processes[second].runs), (1, 2));
    assert_eq!(
        p.verdict.gaps.len(),
        1,
        "one copy ran once, the other twice"
    );
}

/// Which raw profile was read first is found out again, whatever it is in.
#[test]
fn the_first_of_two_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let bytes = crate::profile::tests::raw_profile(&[1], &[]);
    let unique = raw::parse(&bytes).unwrap().unique;
    std::fs::write(path("b.p3raw"), &bytes).unwrap();
    std::fs::write(path("a.p3raw"), "something else").unwrap();
    let mut merged = diamonds();
    merged.sources = vec![unique];
    merged.write(&path("m.p3prof")).unwrap();
    let folder = dir.path().to_path_buf();
    for (files, first) in [
        ([folder.clone(), path("m.p3prof")], "b.p3raw"),
        ([path("m.p3prof"), folder], "m.p3prof"),
    ] {
        let mut seen = SeenSources::default();
        seen.refuse_repeated(&[unique], &path(first), &files)
            .unwrap();
        let error = seen.refuse_repeated(&[unique], Path::new("again"), &files);
        let error = error.unwrap_err().to_string();
        let said = format!(
            "again: its counts were read before, from {}",
            path(first).display()
        );
        assert!(error.starts_with(&said), "{error}");
    }
}

/// A process that left a mark instead of a raw profile is told; once, and not where it wrote one after all.
#[test]
fn processes_that_left_a_mark_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = dir.path().join("manifest.json");
    let program = diamonds().manifest;
    std::fs::write(&manifest, serde_json::to_vec(&program).unwrap()).unwrap();
    let programs = Programs::find(std::slice::from_ref(&manifest)).unwrap();
    let hex = |bytes: [u8; 16]| format!("{:032x}", u128::from_be_bytes(bytes));
    let raw = crate::profile::tests::raw_profile(&[1], &[]);
    let written = raw::parse(&raw).unwrap().unique;
    let everybodys = dir.path().join(".p3absent");
    std::fs::create_dir(&everybodys).unwrap();
    let mark = |folder: &Path, copy: u32, unique| {
        let (id, unique) = (hex(program.program_bytes()), hex(unique));
        let file = folder.join(format!("{copy}-{id}-{unique}.p3absent"));
        std::fs::write(&file, "").unwrap();
        file
    };
    mark(dir.path(), 1, [5; 16]);
    mark(&everybodys, 1, [5; 16]);
    mark(&everybodys, 1, [6; 16]);
    let wrote = mark(dir.path(), 0, written);
    // Nobody knows who wrote this.
    std::fs::write(everybodys.join("x.p3raw"), &raw).unwrap();
    let folder = [dir.path().to_path_buf()];
    let mut all = gather_files(&programs, &folder, FailureMode::Any).unwrap();
    let of = |all: &All, copy| all.programs[0].by_copy[&CopyId(copy)].processes.absent;
    assert_eq!((of(&all, 0), of(&all, 1)), (1, 2));
    // As if it had been read.
    all.programs[0].seen.0.insert(written);
    let mut noted = HashSet::new();
    all.note_absent(&wrote, &programs, &mut noted).unwrap();
    assert_eq!((of(&all, 0), noted.len()), (1, 0));
    mark(dir.path(), 2, [7; 16]);
    let error = gather_files(&programs, &folder, FailureMode::Any)
        .err()
        .unwrap();
    assert!(error.to_string().contains("it is of copy 2"), "{error}");
    let all = gather_files(&programs, &folder, FailureMode::All).unwrap();
    assert_eq!((all.warnings.len(), of(&all, 1)), (1, 2));
}
