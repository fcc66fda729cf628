//! Which thread ran what, by name.

use super::{Built, Session};
use crate::build::command;
use crate::support::{PROF, run};
use serde_json::Value;

/// The program of `names.c`, in one copy by the scheme.
fn names(options: &[&str]) -> Built {
    Built::new(
        &[&["-k", "1"], options].concat(),
        "$CC -O1 -g names.c -o names",
    )
}

fn show(session: &Session, options: &[&str]) -> String {
    let mut show = command(PROF, session.dir.path());
    let shown = run(show.arg("show").arg("profile").args(options));
    String::from_utf8(shown.stdout).unwrap()
}

/// A row: name, threads, function, counts.
type Row = (String, u64, Option<String>, [u64; 2]);

/// By row: its name, its threads, the function in which they began, and how often they ran each path of `task`.
fn rows(shown: &Value) -> Vec<Row> {
    let functions = shown["functions"].as_array().unwrap();
    let task = functions.iter().find(|f| f["name"] == "task").unwrap();
    let paths = task["paths"].as_array().unwrap();
    assert_eq!(paths.len(), 2);
    let row = |(i, row): (usize, &Value)| {
        let count = |path: &Value| {
            let threads = path["threads"].as_array().unwrap().iter();
            let of_row = threads
                .filter(|t| t[0] == i)
                .map(|t| t[1].as_u64().unwrap());
            of_row.sum::<u64>()
        };
        let mut counts = [count(&paths[0]), count(&paths[1])];
        counts.sort_unstable();
        (
            row["thread"].as_str().unwrap().to_string(),
            row["threads"].as_u64().unwrap(),
            row["began_in"].as_str().map(str::to_string),
            counts,
        )
    };
    let threads = shown["threads"].as_array().unwrap();
    let mut rows: Vec<_> = threads.iter().enumerate().map(row).collect();
    rows.sort();
    rows
}

fn row(name: &str, threads: u64, began_in: &str, counts: [u64; 2]) -> Row {
    (name.into(), threads, Some(began_in.into()), counts)
}

/// Of each thread its name, where it began, and what it ran, in both formats of counters.
#[test]
fn threads_have_names_and_counts() {
    for options in [&["--scheme", "sbl"][..], &[]] {
        let built = names(options);
        let session = Session::new(&built, "names");
        session.run("");
        session.merge_to("profile");
        let shown = serde_json::from_str(&show(&session, &["--format", "json"])).unwrap();
        let (mut named, mut unnamed) = (rows(&shown), Vec::new());
        // Threads that run one after the other have one shift, if the kernel was done with the one before.
        named.retain(|row| {
            let is_unnamed = row.0.starts_with("thread ");
            if is_unnamed {
                unnamed.push(row.clone());
            }
            !is_unnamed
        });
        let main = ("main".into(), 2, None, [6, 8]);
        let expected = [
            row("forker", 1, "run_and_fork", [30, 30]),
            row("logger", 1, "write_log", [200, 200]),
            main,
            row("worker #1", 1, "work", [50, 50]),
            row("worker #2", 1, "work", [1000, 1000]),
            row("worker #3", 1, "work", [15000, 15000]),
        ];
        assert_eq!(named, expected, "{options:?}");
        assert_eq!(unnamed.iter().map(|r| r.1).sum::<u64>(), 5, "{unnamed:?}");
        for (_, threads, began_in, counts) in unnamed {
            assert_eq!(began_in.as_deref(), Some("run_plainly"));
            assert_eq!(counts, [3 * threads, 4 * threads]);
        }
        assert_eq!(shown["program"]["verdict"], "ok");
    }
}

/// What is chosen is all that is shown, and adds up.
#[test]
fn threads_are_chosen_by_name() {
    let built = names(&[]);
    let session = Session::new(&built, "names");
    session.run("");
    session.merge_to("profile");
    let count = |options: &[&str]| {
        let options = [&["--format", "json", "--function", "^tasks?$"], options].concat();
        let shown: Value = serde_json::from_str(&show(&session, &options)).unwrap();
        let functions = shown["functions"].as_array().unwrap().iter();
        functions
            .map(|f| f["executed_paths"].as_u64().unwrap())
            .sum::<u64>()
    };
    let each = [
        "main",
        "worker #1",
        "worker #2",
        "worker #3",
        "logger",
        "forker",
    ];
    let each = each.map(|name| count(&["--thread", name]));
    // A call of `tasks` has a path for each task.
    assert_eq!(each, [28, 200, 4000, 60_000, 800, 120]);
    assert_eq!(count(&["--thread", "worker"]), 64_200);
    let some = ["--thread", "worker", "--thread", "main"];
    assert_eq!(count(&some), 64_228);
    assert_eq!(count(&[]), each.iter().sum::<u64>() + 5 * 14);
    let mut wrong = command(PROF, session.dir.path());
    let wrong = wrong
        .args(["show", "profile", "--thread", "wrker"])
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&wrong.stderr),
        "error: profile: no thread of it is called wrker; p3-prof show --by thread lists them\n"
    );
}

/// A profile with one thread has no rows, and says what tells threads apart.
#[test]
fn one_thread_has_no_rows() {
    let line = "echo 'int main(void) { return 0; }' >one.c && $CC -g one.c -o one";
    let built = Built::new(&["-k", "1"], line);
    let session = Session::new(&built, "one");
    session.run("");
    session.merge_to("profile");
    let mut by_thread = command(PROF, session.dir.path());
    let by_thread = by_thread
        .args(["show", "profile", "--by", "thread"])
        .output()
        .unwrap();
    assert_eq!(by_thread.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&by_thread.stderr),
        "error: profile: it has counts of one thread, or of threads that count in one place; threads have counters \
         of their own by --update thread (docs/THREADS.md)\n"
    );
}

/// Raw profiles of two runs, and merged ones of each, add up to the same.
#[test]
fn merged_profiles_add_up_by_thread() {
    let built = names(&[]);
    let session = Session::new(&built, "names");
    let rows_of_profile = || {
        let shown = serde_json::from_str(&show(&session, &["--format", "json"])).unwrap();
        rows(&shown)
            .into_iter()
            .filter(|row| !row.0.starts_with("thread "))
            .collect::<Vec<_>>()
    };
    let dir = session.dir.path();
    for run in ["one", "two"] {
        session.run("");
        session.merge_to(&format!("{run}.p3prof"));
        std::fs::rename(session.raw(), dir.join(run)).unwrap();
    }
    let mut merge = command(PROF, dir);
    merge.arg("merge").arg("-m").arg(built.out("names"));
    run(merge.args(["-o", "profile", "one", "two"]));
    let added = rows_of_profile();
    assert!(
        added.contains(&row("worker #2", 2, "work", [2000, 2000])),
        "{added:?}"
    );
    let mut merge = command(PROF, dir);
    merge.arg("merge").arg("-m").arg(built.out("names"));
    run(merge.args(["-o", "profile", "one.p3prof", "two.p3prof"]));
    assert_eq!(rows_of_profile(), added);
    // The same in the file of a pool, in which one run goes on where the other stopped.
    for _ in 0..2 {
        let mut pooled = session.command(&[], "");
        pooled.env("P3_PROFILE_FILE", session.raw().join("%k-%m.p3raw"));
        super::assert_quiet(&pooled.output().unwrap(), "in a pool");
    }
    session.merge_to("profile");
    let of_workers = |rows: Vec<Row>| {
        let is_worker = |row: &Row| row.0.starts_with("worker") || row.0 == "logger";
        rows.into_iter().filter(is_worker).collect::<Vec<_>>()
    };
    // Which shift later threads take depends on when the kernel was done with the ones before.
    assert_eq!(of_workers(rows_of_profile()), of_workers(added));
}
