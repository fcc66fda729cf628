//! Merged profiles against paths counted by brute force from a log of executed blocks: for every
//! test program, unoptimised and optimised, all schemes agree with the log, edge with the transitions in
//! it, and every copy behaves as the original.

use crate::support::{
    edges, execute, link, original, paths, profile, project, rewrite, schemes, trace, tracer,
};
use p3_rewrite::copies::strategy::{Measure, Scheme};
use std::collections::BTreeSet;

fn check(name: &str, optimised: bool) {
    let (flags, linking) = if optimised {
        (&["-O2", "-g"][..], ["-O2"])
    } else {
        (&["-O0", "-Xclang", "-disable-O0-optnone"][..], ["-O0"])
    };
    let linking = &linking;
    let dir = crate::support::folder();
    let dir = dir.path();
    let (modules, expected) = original(name, flags, linking, dir);

    let traced = dir.join("trace");
    rewrite(&modules, &["--scheme", "trace"], &traced);
    let exe = dir.join("trace.exe");
    link(
        &crate::support::copy_modules(&modules, &traced, 0),
        tracer(),
        linking,
        &exe,
    );
    assert_eq!(execute(&exe, &traced), expected, "the traced program");
    let (manifest, log) = (traced.join("manifest.json"), traced.join("trace"));
    let oracle = trace::count(&manifest, &log);
    assert!(!oracle.is_empty());

    let called = (
        Scheme::P3,
        4,
        &["--counters", "call", "--update", "atomic"][..],
    );
    let many = if optimised {
        (Scheme::RangesTest, 5, &["--update", "atomic"][..])
    } else {
        (Scheme::P3, 7, &[][..])
    };
    let runs = schemes(3).map(|(scheme, copies)| (scheme, copies, &[][..]));
    for (i, (scheme, copies, options)) in runs.chain([called, many]).enumerate() {
        let out = dir.join(i.to_string());
        let options = [&["--scheme", scheme.name()], options].concat();
        let merged = profile(&modules, &options, copies, linking, &expected, &out);
        if scheme.strategy().measure == Measure::Edges {
            edges::compare(&merged, &trace::transitions(&manifest, &log)).unwrap();
            continue;
        }
        let counted = paths(&merged);
        for (key, n) in &oracle {
            assert_eq!(counted.get(key).unwrap_or(&0), n, "{options:?}: {key:?}");
        }
        assert_eq!(
            counted.len(),
            oracle.len(),
            "{options:?}: paths that never ran"
        );
    }
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(mod $name {
            #[test]
            fn unoptimised() {
                super::check(stringify!($name), false);
            }

            #[test]
            fn optimised() {
                super::check(stringify!($name), true);
            }
        })*

        #[test]
        fn all_programs_are_listed() {
            let listed: BTreeSet<String> = [$(stringify!($name).to_string()),*].into();
            let folder = project("testdata/programs").read_dir().unwrap();
            let there = folder.map(|e| e.unwrap().path().file_stem().unwrap().to_str().unwrap().to_string());
            assert_eq!(listed, there.collect());
        }
    };
}

programs! {
    asm_goto
    assertions
    callbacks
    cleanups
    computed_goto
    conditions
    constants
    contradictions
    coroutines
    demo
    ends_by_abort
    ends_by_quick_exit
    ends_by_signal
    ends_by_thread_exit
    ends_by_trap
    ends_by_underscore_exit
    exceptions
    exits
    irreducible
    interpreters
    iterations
    joined_loops
    labels
    labels_of_two
    lambdas
    longjmp
    loops
    many_paths
    modules
    odd_functions
    operands
    outcomes
    pure
    recursion
    returning
    scan
    shapes
    short_loops
    switches
    tail_calls
    tails
    threads
    typed_pointers
    values
    vectors
    vfork
    warm
    words
}
