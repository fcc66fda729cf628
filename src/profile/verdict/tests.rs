//! What is said of processes and violations, word by word.

use super::*;
use crate::base::index::{CopyId, TiVec, ti_vec};
use crate::copies::strategy::Scheme;
use crate::paths::random_cfg::cfg;
use crate::profile::made;

/// As many functions of two paths as copies, one for each.
fn diamonds(copies: u32) -> Profile {
    let bodies = (0..copies).map(|_| made::body(cfg(&[&[1, 2], &[3], &[3], &[]])));
    made::profile(&made::program(bodies), Scheme::Pbl, copies)
}

/// Runs, children and processes that were cut short, by copy.
fn verdict(processes: &[(u32, u32, u32)]) -> Verdict {
    let of = |&(runs, children, cut_short): &(u32, u32, u32)| Processes {
        runs,
        children,
        cut_short,
        ..Processes::default()
    };
    let processes: TiVec<CopyId, Processes> = processes.iter().map(of).collect();
    Verdict::of_processes(&diamonds(processes.len() as u32).manifest, &processes)
}

const NONE: [&str; 0] = [];

#[test]
fn copies_that_ran_equally_often() {
    let v = verdict(&[(2, 0, 0); 3]);
    assert!(v.is_ok() && !v.has_contradictions());
    assert_eq!(v.status(), "ok");
}

#[test]
fn gaps() {
    let v = verdict(&[(1, 0, 0), (0, 0, 0), (1, 0, 0)]);
    assert_eq!(
        (&v.gaps[..], &v.interrupted[..]),
        (&["nothing of copy 1 was merged".to_string()][..], &[][..])
    );
    assert_eq!(
        (v.status(), v.is_ok(), v.has_contradictions()),
        ("incomplete", false, false)
    );
    let v = verdict(&[(1, 0, 0), (2, 0, 0), (1, 0, 0)]);
    assert_eq!(
        v.gaps,
        ["unequal numbers of runs: 2 of copy 1 and 1 of copies 0, 2 each"]
    );
    assert_eq!(v.interrupted, NONE);
}

#[test]
fn interruptions() {
    let v = verdict(&[(1, 2, 0), (1, 2, 1)]);
    assert_eq!(v.gaps, NONE);
    let killed = "processes that did not end normally (killed, _exit, exec, or threads left behind): 1 of copy 1";
    let forked = "processes that began in the middle, as forked children: 2 of copies 0, 1 each";
    assert_eq!(v.interrupted, [killed, forked]);
    let v = verdict(&[(1, 1, 0), (1, 0, 0)]);
    assert_eq!(
        v.gaps,
        ["unequal numbers of forked children: 1 of copy 0 and 0 of copy 1"]
    );
    assert_eq!(
        v.interrupted,
        ["processes that began in the middle, as forked children: 1 of copy 0"]
    );
}

/// A copy that profiles nothing is not missed.
#[test]
fn copies_without_a_share() {
    let one = [made::body(cfg(&[&[1, 2], &[3], &[3], &[]]))];
    let manifest = made::profile(&made::program(one), Scheme::Pbl, 2).manifest;
    assert_eq!(copies_needed(&manifest), [CopyId(0)].into());
    let ran = Processes {
        runs: 1,
        ..Processes::default()
    };
    assert!(Verdict::of_processes(&manifest, &ti_vec![ran, Processes::default()]).is_ok());
}

#[test]
fn processes_of_two_profiles() {
    let (a, b) = (
        Processes {
            runs: 1,
            children: 2,
            cut_short: 3,
            with_threads: 1,
            children_cut_short: 1,
            absent: 4,
            threads: Threads::Started,
        },
        Processes {
            runs: 10,
            children: 20,
            cut_short: u32::MAX,
            with_threads: 2,
            children_cut_short: 20,
            absent: 40,
            threads: Threads::Inside,
        },
    );
    let sum = Processes {
        runs: 11,
        children: 22,
        cut_short: u32::MAX,
        with_threads: 3,
        children_cut_short: 21,
        absent: 44,
        threads: Threads::Started,
    };
    assert_eq!((a.plus(b), a.total()), (sum, 3));
    let flight = |children, cut_short| {
        Processes {
            runs: 1,
            children,
            cut_short,
            ..Processes::default()
        }
        .in_flight()
    };
    assert_eq!(
        [flight(0, 0), flight(1, 0), flight(0, 1)],
        [false, true, true]
    );
}

/// What a file says of threads, which functions the program has that start some, and why counts may be lost.
#[test]
fn threads_without_atomic_increments_are_no_ok() {
    let verdict = |threads, starters: &str, scheme| {
        let mut p = diamonds(2);
        let symbols = starters.split_whitespace().map(String::from);
        p.manifest.starters = Some(symbols.collect());
        p.manifest.scheme = scheme;
        p.processes[CopyId(1)].threads = threads;
        Verdict::of_processes(&p.manifest, &p.processes)
    };
    let why = |threads, starters| {
        let v = verdict(threads, starters, Scheme::Pbl);
        let expected = if v.threads.is_empty() {
            "ok"
        } else {
            "incomplete"
        };
        assert_eq!(v.status(), expected);
        let whole = v.threads.first().cloned().unwrap_or_default();
        let part = whole.strip_prefix("counts may be lost: ").unwrap_or("");
        let ends = [", without", ", and"].map(|end| part.split_once(end));
        let end = ends.into_iter().flatten().next();
        end.map_or("", |(why, _)| why).to_string()
    };
    assert_eq!(why(Threads::Started, ""), "threads ran in copy 1");
    for (threads, starters, by) in [
        (Threads::Unseen, "malloc", ""),
        (Threads::Unseen, "pthread_create", "pthread_create"),
        (Threads::Unseen, "timer_create", "timer_create"),
        (Threads::Inside, "pthread_create", ""),
        (
            Threads::Inside,
            "pthread_create timer_create",
            "timer_create",
        ),
        (Threads::None, "pthread_create timer_create", ""),
    ] {
        let expected = match by {
            "" => String::new(),
            by => format!("threads may have run in copy 1, by {by}"),
        };
        assert_eq!(why(threads, starters), expected, "{threads:?} {starters}");
    }
    assert_eq!(
        verdict(Threads::Started, "", Scheme::Pbl).threads,
        [
            "counts may be lost: threads ran in copy 1, and increments are plain: rewrite without --update single, \
             and run again"
        ]
    );
    assert_eq!(
        verdict(Threads::Shared, "", Scheme::Pbl).threads,
        [
            "counts may be lost: threads without counters of their own ran in copy 1: docs/THREADS.md says why, and \
             --update atomic needs none"
        ]
    );
    // Of manifests of earlier versions, what is called decides.
    let mut p = diamonds(1);
    p.manifest.starters = None;
    p.manifest.outside = Some(vec!["puts".into(), "thrd_create".into()]);
    p.processes[CopyId(0)].threads = Threads::Unseen;
    let v = Verdict::of_processes(&p.manifest, &p.processes);
    assert!(v.threads[0].contains("by thrd_create"), "{v:?}");
}

/// Each thread records samples for itself.
#[cfg(feature = "estimates")]
#[test]
fn threads_of_estimates_are_ok() {
    let mut p = diamonds(1);
    p.manifest.scheme = Scheme::Subpath;
    p.processes[CopyId(0)].threads = Threads::Started;
    assert!(Verdict::of_processes(&p.manifest, &p.processes).is_ok());
}

fn violation(function: u32, off: u64) -> Violation {
    let what = format!("off by {off}");
    Violation {
        function: FuncId(function),
        off,
        what,
    }
}

#[test]
fn the_worst_violation_of_each_function_is_kept() {
    let mut v = Verdict::default();
    v.add_violations([
        violation(3, 1),
        violation(1, 5),
        violation(2, 5),
        violation(3, 9),
        violation(1, 2),
    ]);
    let expected = [violation(3, 9), violation(1, 5), violation(2, 5)];
    assert_eq!(v.violations, expected);
    v.add_violations([violation(0, 7)]);
    assert_eq!(v.violations[1], violation(0, 7));
    assert_eq!(
        (v.status(), v.has_contradictions(), v.is_ok()),
        ("violations", true, false)
    );
}

#[test]
fn a_profile_says_what_is_wrong() {
    let mut p = diamonds(7);
    let mut counts = vec![Vec::new(); 7];
    counts[0] = made::counts(&[(0, 900), (1, 100)]);
    p.measured = Measurement::Exact(Exact::Paths(counts.into()));
    assert_eq!(p.problem_line(), None);
    let path = Path::new("x");
    assert!(Trust::strict(true).check(&p, path).is_ok());
    p.verdict.gaps = vec!["nothing of copy 1 was merged".into()];
    p.verdict.interrupted = vec!["one was killed".into()];
    assert_eq!(
        p.problem_line().unwrap(),
        "incomplete: nothing of copy 1 was merged; one was killed"
    );
    p.verdict.unlike = vec!["copy 2 ran otherwise".into()];
    assert_eq!(p.verdict.status(), "violations");
    p.verdict.add_violations([violation(4, 1)]);
    let differ = |what: &str| {
        format!(
            "copies did not run alike: counts contradict each other in {what} of paths; more counts may be missing; \
             p3-prof verify says how, and what helps"
        )
    };
    let line = |what: &str| {
        let differ = differ(what);
        format!(
            "violations: copy 2 ran otherwise; {differ}; nothing of copy 1 was merged; one was killed"
        )
    };
    assert_eq!(p.problem_line().unwrap(), line("1 function (f4), by 0.10%"));
    p.verdict.add_violations((0..4).map(|f| violation(f, 9)));
    assert_eq!(
        p.problem_line().unwrap(),
        line("5 functions (f0, f1, f2 and 2 more), by 3.70%")
    );
    p.verdict.add_violations((5..7).map(|f| violation(f, 9)));
    assert_eq!(
        p.problem_line().unwrap(),
        line("7 functions (f0, f1, f2 and 4 more), by 5.50%")
    );
    let error = Trust::strict(true).check(&p, path).unwrap_err();
    assert_eq!(
        (error.status(), error.to_string()),
        (1, format!("x: {}", p.problem_line().unwrap()))
    );
    assert!(Trust::strict(false).check(&p, path).is_ok());
}

/// Where one copy counts everything, nothing is blamed on others.
#[test]
fn violations_of_one_copy_blame_no_copies() {
    let one = [made::body(cfg(&[&[1, 2], &[3], &[3], &[]]))];
    let mut p = made::profile(&made::program(one), Scheme::Sbl, 1);
    p.verdict.add_violations([violation(0, 1)]);
    assert_eq!(
        p.problem_line().unwrap(),
        "violations: counts contradict each other in 1 function (f0); p3-prof verify says how, and what helps"
    );
}

/// Processes without counts are told by copy, those too of a copy that left nothing else; what other copies counted
/// cannot be compared.
#[test]
fn processes_without_counts() {
    let mut p = diamonds(3);
    p.processes[CopyId(1)].absent = 2;
    p.processes[CopyId(2)] = Processes {
        absent: 1,
        ..Processes::default()
    };
    let v = Verdict::of_processes(&p.manifest, &p.processes);
    assert_eq!(v.gaps, ["nothing of copy 2 was merged"]);
    let absent = "processes that could not write what they counted (rights, limits, or the disk: stderr said why): 2 \
                  of copy 1 and 1 of copy 2";
    assert_eq!(v.interrupted, [absent]);
    assert_eq!(v.status(), "incomplete");
    assert!(p.are_comparable(&[CopyId(0)]) && !p.are_comparable(&[CopyId(0), CopyId(1)]));
}

#[test]
fn what_can_be_compared() {
    let mut p = diamonds(3);
    let (a, b) = (CopyId(0), CopyId(2));
    assert!(p.are_comparable(&[a, b]));
    p.processes[CopyId(2)].cut_short = 1;
    assert!(p.are_comparable(&[a]) && !p.are_comparable(&[a, b]));
    p.verdict.gaps = vec!["nothing of copy 1 was merged".into()];
    assert!(!p.are_comparable(&[a]));
}
