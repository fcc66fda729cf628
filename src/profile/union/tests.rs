//! What makes functions one, and what is then added up.

use super::*;
use crate::base::index::{CopyId, FuncId, ModuleId, ti_vec};
use crate::input::ir::{Body, Cfg, Linkage, Loc, SkipReason};
use crate::paths::random_cfg::cfg;
use crate::profile::made;
use crate::profile::manifest::{Status, encode_set};

const DIAMOND: &[&[u32]] = &[&[1, 2], &[3], &[3], &[]];
const LINE: &[&[u32]] = &[&[1], &[]];

/// A function's name, control flow, and counts.
type Made<'a> = (&'a str, &'a [&'a [u32]], &'a [(u64, u64)]);

/// A program called `name` with these functions: `main` is of a source of its own, all others are of one header, in the
/// lines that their first letters have in the alphabet.
fn program(name: u8, of: &[Made]) -> Profile {
    let mut p = program_without_lines(name, of);
    p.manifest.files = vec![format!("/p/{name}.c"), "/p/all.h".into()];
    for f in &mut p.manifest.functions {
        f.loc = Some(match f.name.as_str() {
            "main" => Loc { file: 0, line: 1 },
            other => Loc {
                file: 1,
                line: u32::from(other.as_bytes()[0] - b'a'),
            },
        });
    }
    p
}

fn program_without_lines(name: u8, of: &[Made]) -> Profile {
    let bodies = of.iter().map(|(_, graph, _)| made::body(cfg(graph)));
    let mut p = made::profile(&made::program(bodies), Scheme::Pbl, 2);
    p.path = format!("program-{name}").into();
    p.manifest.program = format!("{name:032x}");
    p.manifest.modules[ModuleId(0)].name = format!("module-{name}");
    p.sources = vec![[name; 16]];
    for (i, (name, _, counts)) in of.iter().enumerate() {
        p.manifest.functions[FuncId::new(i)].name = name.to_string();
        made::path_counts(&mut p)[FuncId::new(i)] = made::counts(counts);
    }
    p
}

/// Name and counts of all functions, in order.
fn counts_by_function(union: &Union) -> Vec<(&str, Vec<(u64, u64)>)> {
    let profile = &union.profile;
    profile.manifest.check().unwrap();
    let counts = |f: FuncId| {
        let counts = profile.paths().unwrap().counts(f).iter();
        counts.map(|(id, n)| (id.0, *n)).collect()
    };
    let all = profile.functions();
    all.map(|f| (profile.entry(f).name.as_str(), counts(f)))
        .collect()
}

fn join_profiles(profiles: &[Profile]) -> Union {
    union(profiles).unwrap()
}

#[test]
fn counts_of_shared_functions_add_up() {
    let a = program(
        1,
        &[("main", LINE, &[(0, 1)]), ("f", DIAMOND, &[(0, 5), (1, 2)])],
    );
    let b = program(
        2,
        &[
            ("f", DIAMOND, &[(1, 3)]),
            ("g", LINE, &[(0, 4)]),
            ("main", DIAMOND, &[]),
        ],
    );
    let both = join_profiles(&[a.clone(), b.clone()]);
    let expected = [
        ("main", vec![(0, 1)]),
        ("f", vec![(0, 5), (1, 5)]),
        ("g", vec![(0, 4)]),
        ("main", vec![]),
    ];
    assert_eq!(counts_by_function(&both), expected);
    assert_eq!((both.shared, both.partly), (1, 0));
    assert_eq!(both.profile.sources, [[1; 16], [2; 16]]);
    assert_eq!(both.profile.processes.len(), 1);
    assert_eq!(
        both.profile.processes[CopyId(0)].runs,
        2,
        "one run of each program"
    );
    let bodies = &both.profile.manifest.functions[FuncId(1)].bodies;
    let modules: Vec<usize> = bodies.iter().map(|b| b.module.index()).collect();
    assert_eq!(modules, [0, 1]);
    // A file of it is read again.
    let again = Profile::parse(&both.profile.to_bytes(), Path::new("")).unwrap();
    assert_eq!(again, both.profile);
    // It says what it is of, and so does a union of unions.
    assert_eq!(both.profile.manifest.united, [Scheme::Pbl]);
    let mut c = a.clone();
    (c.manifest.scheme, c.sources) = (Scheme::Sbl, vec![[9; 16]]);
    let of_unions = [both.profile.clone(), c];
    let mut schemes = join_profiles(&of_unions).profile.manifest.united;
    schemes.sort_by_key(Scheme::to_string);
    assert_eq!(schemes, [Scheme::Pbl, Scheme::Sbl]);
    // In another order, the same counts.
    let other = join_profiles(&[b, a]);
    assert_eq!(
        other.profile.manifest.program,
        both.profile.manifest.program
    );
    let sorted = |u: &Union| {
        let mut all: Vec<_> = counts_by_function(u)
            .into_iter()
            .map(|(n, c)| (n.to_string(), c))
            .collect();
        all.sort();
        all
    };
    assert_eq!(sorted(&other), sorted(&both));
}

#[test]
fn local_functions_are_of_their_modules() {
    let local = |name: u8, module: &str, n: u64| {
        let mut p = program_without_lines(name, &[("f", DIAMOND, &[(0, n)])]);
        p.manifest.functions[FuncId(0)].linkage = Linkage::Local;
        p.manifest.modules[ModuleId(0)].name = module.into();
        p
    };
    let apart = join_profiles(&[local(1, "a.o", 1), local(2, "b.o", 2)]);
    assert_eq!(
        counts_by_function(&apart),
        [("f", vec![(0, 1)]), ("f", vec![(0, 2)])]
    );
    let one = join_profiles(&[local(1, "a.o", 1), local(2, "a.o", 2)]);
    assert_eq!(counts_by_function(&one), [("f", vec![(0, 3)])]);
}

/// Without debug information nobody knows that two modules are of one source.
#[test]
fn functions_without_lines_are_of_their_modules() {
    let of = |name: u8, module: &str, hash: &str| {
        let mut p = program_without_lines(name, &[("main", LINE, &[(0, 1)])]);
        let m = &mut p.manifest.modules[ModuleId(0)];
        (m.name, m.hash) = (module.into(), hash.repeat(64));
        p
    };
    let apart = [("main", vec![(0, 1)]), ("main", vec![(0, 1)])];
    let both = join_profiles(&[of(1, "t1.o", "1"), of(2, "t2.o", "2")]);
    assert_eq!(counts_by_function(&both), apart);
    // Two folders' main.o, and two modules from standard input.
    for name in ["main.o", "-"] {
        let both = join_profiles(&[of(1, name, "1"), of(2, name, "2")]);
        assert_eq!(counts_by_function(&both), apart);
    }
    let one = join_profiles(&[of(1, "lib.a/f.o", "1"), of(2, "lib.a/f.o", "1")]);
    assert_eq!(counts_by_function(&one), [("main", vec![(0, 2)])]);
}

/// `main` of two sources, a method of a class that two sources define, and a function of one name in two lines of a
/// source that is compiled twice: none of them is the other, whatever their control flow.
#[test]
fn functions_of_other_sources_stay_apart() {
    for (name, linkage) in [
        ("main", Linkage::External),
        ("_ZN1S1fEv", Linkage::Mergeable),
        ("f", Linkage::Local),
    ] {
        let at = |n: u8, file: &str, line: u32, checksum: &str| {
            let mut p = program_without_lines(n, &[(name, DIAMOND, &[(0, u64::from(n))])]);
            p.manifest.files = vec![file.into()];
            p.manifest.checksums = vec![checksum.into()];
            let f = &mut p.manifest.functions[FuncId(0)];
            (f.loc, f.linkage) = (Some(Loc { file: 0, line }), linkage);
            p
        };
        let number = |a, b| join_profiles(&[a, b]).profile.manifest.functions.len();
        let first = || at(1, "/p/a.cpp", 3, "1");
        assert_eq!(number(first(), at(2, "/p/b.cpp", 3, "1")), 2);
        assert_eq!(number(first(), at(2, "/p/a.cpp", 4, "1")), 2);
        assert_eq!(
            number(first(), at(2, "/p/a.cpp", 3, "2")),
            2,
            "another text"
        );
        let same = join_profiles(&[first(), at(2, "/p/a.cpp", 3, "")]);
        assert_eq!(counts_by_function(&same), [(name, vec![(0, 3)])]);
        assert_eq!(same.profile.manifest.checksums, ["1"]);
    }
}

/// Two checkouts, in which files of equal content have other names, unless both are of one build.
#[test]
fn functions_of_a_moved_folder_are_those_of_the_first() {
    let at = |n: u8, folder: &str, checksum: &str| {
        let mut p = program(n, &[("main", LINE, &[(0, 1)]), ("f", DIAMOND, &[(0, 1)])]);
        p.manifest.files = vec![format!("{folder}/main.c"), format!("{folder}/all.h")];
        p.manifest.checksums = vec![checksum.into(), "2".into()];
        p
    };
    let number = |second: &Profile, builds| {
        let profiles = [at(1, "/a/p", "1"), second.clone()];
        let both = union_with_baseline(&profiles, &[], builds).unwrap();
        both.profile.manifest.functions.len()
    };
    let moved = at(2, "/b/q", "1");
    assert_eq!(number(&moved, Builds::Several), 2);
    assert_eq!(number(&moved, Builds::One), 4);
    // Of an edited file, who knows which line is which?
    assert_eq!(number(&at(2, "/b/q", "3"), Builds::Several), 3);
}

/// A static function of a header is one in each module; those of modules that both programs have find each other first.
#[test]
fn static_functions_of_a_header_find_those_of_their_modules() {
    let program = |name: u8, modules: &[(&str, u64)]| {
        let of: Vec<Made> = modules.iter().map(|_| ("f", DIAMOND, &[][..])).collect();
        let mut p = program(name, &of);
        let module = p.manifest.modules[ModuleId(0)].clone();
        p.manifest.modules.clear();
        for (i, (module_name, n)) in modules.iter().enumerate() {
            p.manifest.modules.push(ModuleEntry {
                name: module_name.to_string(),
                ..module.clone()
            });
            let f = &mut p.manifest.functions[FuncId::new(i)];
            f.linkage = Linkage::Local;
            f.bodies[0].module = ModuleId::new(i);
            made::path_counts(&mut p)[FuncId::new(i)] = made::counts(&[(0, *n)]);
        }
        p
    };
    let both = join_profiles(&[
        program(1, &[("lib.o", 1)]),
        program(2, &[("own.o", 10), ("lib.o", 100)]),
    ]);
    assert_eq!(
        counts_by_function(&both),
        [("f", vec![(0, 101)]), ("f", vec![(0, 10)])]
    );
    let places: Vec<Vec<FuncId>> = both.places.iter().map(|p| p.raw.clone()).collect();
    assert_eq!(places, [vec![FuncId(0)], vec![FuncId(1), FuncId(0)]]);
    // Modules that only one has are of one source all the same.
    let both = join_profiles(&[program(1, &[("a.o", 1)]), program(2, &[("b.o", 10)])]);
    assert_eq!(counts_by_function(&both), [("f", vec![(0, 11)])]);
}

#[test]
fn local_functions_of_one_source_are_one_in_two_programs() {
    let local = |name: u8, module: &str, line: u32| {
        let mut p = program(name, &[("f", DIAMOND, &[(0, 1)])]);
        p.manifest.files = vec!["a.c".into()];
        p.manifest.checksums = vec!["1".into()];
        let f = &mut p.manifest.functions[FuncId(0)];
        (f.linkage, f.loc) = (Linkage::Local, Some(Loc { file: 0, line }));
        p.manifest.modules[ModuleId(0)].name = module.into();
        p
    };
    let one = join_profiles(&[local(1, "a.o", 7), local(2, ".libs/a.o", 7)]);
    assert_eq!(counts_by_function(&one), [("f", vec![(0, 2)])]);
    let apart = join_profiles(&[local(1, "a.o", 7), local(2, ".libs/a.o", 9)]);
    assert_eq!(
        counts_by_function(&apart),
        [("f", vec![(0, 1)]), ("f", vec![(0, 1)])]
    );
}

#[test]
fn functions_of_one_program_stay_apart() {
    let twice = [("f", DIAMOND, &[(0, 1)][..]), ("f", DIAMOND, &[(0, 2)])];
    let both = join_profiles(&[program(1, &twice), program(2, &twice)]);
    assert_eq!(
        counts_by_function(&both),
        [("f", vec![(0, 2)]), ("f", vec![(0, 4)])]
    );
}

#[test]
fn what_one_program_skips_is_told() {
    let f = [("f", DIAMOND, &[(0, 2)][..])];
    let mut skipped = program(1, &[("f", DIAMOND, &[])]);
    skipped.manifest.functions[FuncId(0)].status = Status::Skipped(SkipReason::Excluded);
    skipped.manifest.functions[FuncId(0)].share = ShareEntry::Nothing;
    for profiles in [[skipped.clone(), program(2, &f)], [program(2, &f), skipped]] {
        let both = join_profiles(&profiles);
        assert_eq!(counts_by_function(&both), [("f", vec![(0, 2)])]);
        assert_eq!(both.partly, 1);
        assert!(
            !both.profile.manifest.functions[FuncId(0)]
                .status
                .is_skipped()
        );
    }
}

#[test]
fn entries_of_one_program_and_paths_of_another() {
    let f = |name: u8| program(name, &[("f", DIAMOND, &[(0, 2)])]);
    let mut left = f(1);
    left.manifest.functions[FuncId(0)].may_leave = vec![BlockId(1)];
    left.entries = ti_vec![Some(7)];
    let both = join_profiles(&[left, f(2)]);
    assert_eq!(both.profile.entries.raw, [Some(9)]);
    assert_eq!(
        both.profile.manifest.functions[FuncId(0)].may_leave,
        [BlockId(1)]
    );
    let neither = join_profiles(&[f(1), f(2)]);
    assert_eq!(neither.profile.entries.raw, [None]);
}

#[test]
fn callees_of_both_programs() {
    let call = |name: u8, callee: &str| {
        let mut p = program(name, &[("f", LINE, &[]), (callee, LINE, &[])]);
        p.manifest.functions[FuncId(0)].calls = vec![(BlockId(0), vec![(FuncId(1), 0)])];
        p
    };
    let taken = |u: &Union| -> Vec<bool> {
        let all = u.profile.manifest.functions.iter();
        all.map(|f| f.address_taken).collect()
    };
    assert_eq!(
        taken(&join_profiles(&[call(1, "g"), call(2, "g")])),
        [false, false]
    );
    assert_eq!(
        taken(&join_profiles(&[call(1, "g"), call(2, "h")])),
        [false, true, true]
    );
}

#[test]
fn verdicts_are_kept_with_their_programs() {
    let f = [("f", DIAMOND, &[][..])];
    let (a, mut b) = (program(1, &[("e", LINE, &[])]), program(2, &f));
    b.verdict.gaps = vec!["nothing of copy 1 was merged".into()];
    b.verdict.violations = vec![Violation {
        function: FuncId(0),
        off: 3,
        what: "path 0: 1 against 4".into(),
    }];
    let both = join_profiles(&[a, b]).profile.verdict;
    assert_eq!(both.gaps, ["program-2: nothing of copy 1 was merged"]);
    assert_eq!(both.violations[0].function, FuncId(1));
}

#[test]
fn what_cannot_be_joined() {
    let f = [("f", DIAMOND, &[(0, u64::MAX)][..])];
    let refused = |profiles: &[Profile]| union(profiles).err().expect("refused").to_string();
    let (a, b) = (program(1, &f), program(2, &f));
    assert!(refused(&[a.clone(), a.clone()]).contains("a run that is also in program-1"));
    assert!(refused(&[a.clone(), b]).contains("a count of f overflows"));
    let edges: Cfg = cfg(DIAMOND);
    let edges = made::profile(&made::program([made::body(edges)]), Scheme::Edge, 1);
    assert!(refused(&[a, edges]).contains("it counts edges, not paths"));
}

/// Bodies of several modules are sorted, so that equal unions are equal.
#[test]
fn bodies_are_sorted() {
    let f = [("f", DIAMOND, &[][..])];
    let (mut a, b) = (program(1, &f), program(2, &f));
    let second = a.manifest.modules[ModuleId(0)].clone();
    a.manifest.modules.push(ModuleEntry {
        name: "last".into(),
        ..second
    });
    a.manifest.functions[FuncId(0)].bodies.insert(
        0,
        Body {
            module: ModuleId(1),
            ordinal: 4,
        },
    );
    let bodies = join_profiles(&[a, b]).profile.manifest.functions[FuncId(0)]
        .bodies
        .clone();
    assert!(
        bodies.is_sorted_by_key(|b| (b.module, b.ordinal)),
        "{bodies:?}"
    );
}

/// A baseline adds what no program has: not what a program compiled from the same lines, whatever became of it, nor one
/// symbol twice.
#[test]
fn baseline_leaves_out_functions_that_programs_have() {
    let at = |mut p: Profile, lines: &[Option<u32>]| {
        p.manifest.files = vec!["a.h".into()];
        p.manifest.checksums.clear();
        p.manifest.modules[ModuleId(0)].name = "a.o".into();
        for (f, line) in p.manifest.functions.iter_mut().zip(lines) {
            f.loc = line.map(|line| Loc { file: 0, line });
        }
        p
    };
    let of_program = [("f", DIAMOND, &[(0, 1)][..]), ("h", LINE, &[])];
    let a = at(program(1, &of_program), &[Some(3), None]);
    let of_source = [("f", LINE, &[][..]), ("g", LINE, &[]), ("h", DIAMOND, &[])];
    let source = |name: u8| {
        let mut p = at(program(name, &of_source), &[Some(3), Some(7), None]);
        p.sources.clear();
        p
    };
    let both = union_with_baseline(&[a], &[source(2), source(3)], Builds::One).unwrap();
    let expected = [("f", vec![(0, 1)]), ("h", vec![]), ("g", vec![])];
    assert_eq!(counts_by_function(&both), expected);
    assert_eq!((both.shared, both.partly), (0, 0));
    // Another function of that name, of other lines, is one more.
    let a = at(program(1, &of_program), &[Some(4), Some(9)]);
    let both = union_with_baseline(&[a], &[source(2)], Builds::One).unwrap();
    let names: Vec<&str> = counts_by_function(&both).iter().map(|(n, _)| *n).collect();
    assert_eq!(names, ["f", "h", "f", "g"]);
    // Compiled twice without debug info, and a source of another name.
    let named = |name: u8, module: &str| {
        let mut p = at(program(name, &[("h", LINE, &[])]), &[None]);
        p.manifest.modules[ModuleId(0)].name = module.into();
        p
    };
    for (module, number) in [("src/h.c", 1), ("src/g.c", 2)] {
        let linked = named(1, ".libs/libp_la-h.o");
        let both = union_with_baseline(&[linked], &[named(2, module)], Builds::One).unwrap();
        assert_eq!(counts_by_function(&both).len(), number);
    }
    // A folder may hold nothing else.
    let alone = union_with_baseline(&[], &[source(2)], Builds::One).unwrap();
    assert_eq!(counts_by_function(&alone).len(), 3);
}

/// A path that one program counted and another did not ran at least so often; what both counted is exact.
#[test]
fn path_that_not_every_program_counted_ran_at_least_as_often() {
    let f = FuncId(0);
    let whole = program(1, &[("f", DIAMOND, &[(0, 5)])]);
    let mut some = program(2, &[("f", DIAMOND, &[(1, 3)])]);
    let structure = some.structure(f).unwrap();
    let mut set = structure.paths.dag.edge_set();
    set.extend(structure.paths.decode(PathId(1)).unwrap());
    some.manifest.functions[f].share = ShareEntry::Split(vec![(CopyId(0), encode_set(&set))]);
    some.manifest.paths = vec!["ids=f#1".into()];
    let both = join_profiles(&[whole.clone(), some]);
    assert_eq!(counts_by_function(&both), [("f", vec![(0, 5), (1, 3)])]);
    assert!(both.profile.runs_at_least(f, PathId(0)));
    assert!(!both.profile.runs_at_least(f, PathId(1)));
    assert_eq!(both.profile.manifest.paths, ["ids=f#1"]);
    let paths = both.profile.counted_paths(f, &structure).unwrap();
    assert!(paths.contain_id(&structure.paths, PathId(1)));
    assert!(!paths.contain_id(&structure.paths, PathId(0)));
}

/// A residual run counts nothing of a function whose paths have all been seen; beside the run that has seen them, all
/// is known.
#[test]
fn residual_run_beside_the_earlier_one_leaves_nothing_unknown() {
    let f = FuncId(0);
    let whole = program(1, &[("f", DIAMOND, &[(0, 5), (1, 2)])]);
    let mut residual = program(2, &[("f", DIAMOND, &[])]);
    residual.manifest.functions[f].share = ShareEntry::Nothing;
    residual.manifest.functions[f].known = vec![PathId(0), PathId(1)];
    residual.manifest.paths = vec!["new:p".into()];
    let both = join_profiles(&[whole, residual.clone()]);
    let structure = both.profile.structure(f).unwrap();
    let paths = both.profile.counted_paths(f, &structure).unwrap();
    assert!(paths.are_all());
    assert!(both.profile.runs_at_least(f, PathId(0)));
    // Beside a run that has not seen one of them, nothing is claimed.
    let other = program(3, &[("f", DIAMOND, &[(0, 5)])]);
    let both = join_profiles(&[other, residual]);
    let paths = both.profile.counted_paths(f, &structure).unwrap();
    assert!(paths.are_none());
}

/// What is new to one of two residual runs stays so in their union, although the second knew it, and although the
/// union is of all paths.
#[test]
fn union_of_residual_runs_knows_what_was_known_before_the_first() {
    let f = FuncId(0);
    let residual = |name, known: &[u64], counts: &[(u64, u64)]| {
        let mut p = program(name, &[("f", DIAMOND, counts)]);
        p.manifest.paths = vec!["new:runs".into()];
        p.manifest.functions[f].known = known.iter().map(|id| PathId(*id)).collect();
        p
    };
    let first = residual(1, &[], &[(0, 5)]);
    let second = residual(2, &[0], &[(0, 2)]);
    let known = |profiles: &[Profile]| join_profiles(profiles).profile.entry(f).known.clone();
    assert_eq!(known(&[first.clone(), second.clone()]), []);
    let third = residual(3, &[0], &[(0, 2), (1, 1)]);
    assert_eq!(known(&[second.clone(), third]), [PathId(0)]);
    // All paths are counted, and a stored union still says that its runs were against others.
    let both = join_profiles(&[first.clone(), second]);
    assert!(!both.profile.is_partial() && is_residual(&both.profile.manifest));
    // Runs of all paths do not say what was known.
    let whole = program(4, &[("f", DIAMOND, &[(1, 5)])]);
    let both = join_profiles(&[first, whole]);
    assert_eq!(both.profile.entry(f).known, []);
    assert!(!both.profile.is_selective());
}
