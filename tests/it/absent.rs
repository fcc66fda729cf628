//! Processes that cannot write what they count: no other counts for them, and no profile keeps silent about them.

use crate::support::driver::{counts, driver};
use crate::support::{
    PROF, copy_modules, link, module, parsed, rewrite, run, runtime, shell_with_mounts,
};
use p3_rewrite::profile::raw::absent::Absent;
use p3_rewrite::profile::raw::{self, Raw};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into()
}

/// Runs a command of the driver in `dir`, by a shell that does `before` first; its raw profiles go to `raw/NAME`.
fn drive(dir: &Path, before: &str, what: &str, name: &str) -> Output {
    let _ = std::fs::remove_dir_all(dir.join("raw"));
    std::fs::create_dir(dir.join("raw")).unwrap();
    let script = format!("{before} P3_PROFILE_FILE=raw/{name} exec ./driver {what}");
    let mut sh = Command::new("sh");
    sh.args(["-c", &script]).current_dir(dir).output().unwrap()
}

/// The files of this extension in `raw` or below.
fn ending(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(dir.join("raw")).into_iter();
    let files = entries.map(|e| e.unwrap().into_path());
    files
        .filter(|f| f.extension().is_some_and(|e| e == extension))
        .collect()
}

fn profiles(dir: &Path) -> Vec<Raw> {
    let read = |f: PathBuf| raw::read(&std::fs::File::open(f).unwrap()).unwrap();
    ending(dir, "p3raw").into_iter().map(read).collect()
}

/// The parent's, and those of children.
fn family(dir: &Path) -> (Raw, Vec<Raw>) {
    let (mut parents, children): (Vec<Raw>, Vec<Raw>) =
        profiles(dir).into_iter().partition(|r| r.children == 0);
    assert_eq!(parents.len(), 1);
    (parents.remove(0), children)
}

/// Past every limit on memory a child counts in its own, and writes that at its end; what its tables cannot count is
/// lost, and told.
#[test]
fn child_without_memory_counts_for_itself() {
    let dir = crate::support::folder();
    driver(dir.path(), &[]);
    for (how, lost) in [("memory", false), ("memory-table", true)] {
        let output = drive(dir.path(), "", &format!("starve {how}"), "%p.p3raw");
        assert_eq!(output.status.code(), Some(3), "{how}: {}", stderr(&output));
        let (parent, children) = family(dir.path());
        assert_eq!(counts(&parent, 7)[&3], 7, "{how}");
        assert_eq!((parent.absent, parent.lost, parent.ended), (0, false, 1));
        let [child] = &children[..] else {
            panic!("{how}: {}", children.len())
        };
        assert_eq!(counts(child, 7)[&3], 1000, "{how}");
        assert_eq!((child.lost, child.ended), (lost, 1), "{how}");
    }
    drive(dir.path(), "", "starve memory_exit", "%p.p3raw");
    let (parent, children) = family(dir.path());
    assert_eq!((parent.absent, children.len()), (1, 0));
    assert_eq!(counts(&parent, 7)[&3], 7);
}

/// However a child ends that could make no file, its parent's says that it is missing; unless it makes one in the end.
#[test]
fn child_without_a_file_is_noted_in_its_parents() {
    let dir = crate::support::folder();
    driver(dir.path(), &[]);
    for (how, absent, written) in [
        ("descriptors", 1, 0),
        ("descriptors_exit", 1, 0),
        ("descriptors_kill", 1, 0),
        ("descriptors_twice", 2, 0),
        ("descriptors_later", 0, 1),
        ("descriptors_later_twice", 0, 2),
        ("descriptors_later_exit", 1, 0),
    ] {
        for name in ["%p.p3raw", "%m.p3raw"] {
            let output = drive(dir.path(), "", &format!("starve {how}"), name);
            assert_eq!(output.status.code(), Some(3), "{how}: {}", stderr(&output));
            let (parent, children) = family(dir.path());
            let expected = (absent, 7, written);
            let found = (parent.absent, counts(&parent, 7)[&3], children.len());
            assert_eq!(found, expected, "{how} {name}");
            assert!(children.iter().all(|c| counts(c, 7)[&3] == 1000));
            assert!(ending(dir.path(), "p3absent").is_empty(), "{how}");
        }
    }
}

/// Where nothing can be mapped any more, parent and child count in one place, and neither's counts are believed.
#[test]
fn child_that_cannot_leave_its_parents_counters_costs_both() {
    let dir = crate::support::folder();
    driver(dir.path(), &[]);
    let output = drive(dir.path(), "", "stick", "%p.p3raw");
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert!(
        said.contains("its counts and its parent's are lost"),
        "{said}"
    );
    let (parent, children) = family(dir.path());
    assert!(parent.lost);
    assert!(children.iter().all(|c| c.functions.is_empty()));
}

/// A process that nobody started who could note it leaves a mark, until its counts are in a file.
#[test]
fn process_without_a_file_leaves_a_mark() {
    let dir = crate::support::folder();
    driver(dir.path(), &["-static"]); // the loader needs a descriptor
    let few = "ulimit -S -n 3;";
    let output = drive(dir.path(), few, "recover never", "%k/%p.p3raw");
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(stderr(&output).lines().count(), 2, "{}", stderr(&output));
    // The folder of the file was not there, and is made for the mark.
    let marks = ending(dir.path(), "p3absent");
    assert_eq!((marks.len(), profiles(dir.path()).len()), (1, 0));
    let absent = Absent::from_mark(&marks[0]).unwrap();
    assert_eq!(
        (absent.copy.0, &absent.program[..4]),
        (1, &[1, 2, 3, 0][..])
    );
    let output = drive(dir.path(), few, "recover later", "%p.p3raw");
    assert_eq!(output.status.code(), Some(3));
    let marks = ending(dir.path(), "p3absent");
    assert_eq!((marks.len(), profiles(dir.path()).len()), (0, 1));
}

/// What was dumped is not of a process that ended; and a child does not take the file of its parent for its own.
#[test]
fn dump_of_counts_in_memory_stays_when_a_child_ends() {
    let dir = crate::support::folder();
    driver(dir.path(), &["-static"]); // the loader needs a descriptor
    let output = drive(dir.path(), "ulimit -S -n 3;", "recover dump", "x.p3raw");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let (parent, children) = family(dir.path());
    assert_eq!((parent.runs, parent.ended), (1, 0));
    assert_eq!(counts(&parent, 7)[&0], 4);
    assert_eq!((children.len(), children[0].ended), (1, 1));
}

/// Where a table has no room on disk, a process that is killed has lost what it held: its file says so. One that ends
/// has lost nothing as long as nothing was counted there.
#[test]
fn table_in_memory_of_killed_process_is_lost() {
    let dir = crate::support::folder();
    driver(dir.path(), &[]);
    let script = "mkdir small raw && mount -t tmpfs -o size=32k none small || exit 77
        P3_PROFILE_FILE=small/killed.p3raw ./driver stop kill
        mv small/killed.p3raw raw; P3_PROFILE_FILE=small/ended.p3raw ./driver; mv small/ended.p3raw raw";
    let mut shell = shell_with_mounts(script);
    let output = shell.current_dir(dir.path()).output().unwrap();
    let read = |name: &str| {
        let file = std::fs::File::open(dir.path().join("raw").join(name));
        raw::read(&file.unwrap_or_else(|_| panic!("{}", stderr(&output)))).unwrap()
    };
    let (killed, ended) = (read("killed.p3raw"), read("ended.p3raw"));
    assert_eq!((killed.lost, killed.ended), (true, 0));
    assert_eq!(counts(&killed, 7)[&0], 4);
    assert_eq!((ended.lost, ended.ended), (false, 1));
}

/// Where a folder is not another user's to write to, the folder for that says so.
#[test]
fn process_of_another_user_leaves_a_mark_where_it_may() {
    let dir = crate::support::folder();
    let exe = driver(dir.path(), &[]);
    if std::fs::metadata(exe).unwrap().uid() != 0 {
        println!("only root can become another user");
        return;
    }
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let absent = dir.path().join("raw/.p3absent");
    let script = "mkdir -m 1777 raw/.p3absent; P3_PROFILE_FILE=raw/%p.p3raw \
                  exec setpriv --reuid=65534 --regid=65534 --clear-groups ./driver hash";
    std::fs::create_dir(dir.path().join("raw")).unwrap();
    let mut sh = Command::new("sh");
    let output = sh.args(["-c", script]).current_dir(dir.path());
    assert_eq!(output.output().unwrap().status.code(), Some(3));
    let marks = ending(dir.path(), "p3absent");
    assert_eq!((marks.len(), marks[0].parent()), (1, Some(&*absent)));
}

/// A profile says of whom it holds nothing, in words and to `--strict`; copies are not blamed for it.
#[test]
fn profile_without_a_process_is_incomplete() {
    let source = r#"
        #include <stdlib.h>
        #include <sys/resource.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) int work(int n) {
            int s = 0;
            for (int i = 0; i < n; i++) s += i & 1 ? i : -i * 3;
            return s;
        }
        int main(int argc, char **argv) {
            struct rlimit none = {3, 3};
            volatile int n = work(7);
            if (argc > 1) setrlimit(RLIMIT_NOFILE, &none);
            if (fork() == 0) { n = work(9); exit(0); }
            wait(NULL);
            return n == 0;
        }"#;
    let dir = crate::support::folder();
    let dir = dir.path();
    let flags = ["-O1", "-fno-inline"];
    let modules = [module("v.c", source, &flags, &dir.join("input"))];
    let out = dir.join("out");
    rewrite(&modules, &["-k", "2", "--scheme", "p3"], &out);
    let merge = |limits: [&str; 2]| {
        let _ = std::fs::remove_dir_all(dir.join("raw"));
        for (copy, limit) in limits.iter().enumerate() {
            let exe = dir.join("v");
            let copies = copy_modules(&modules, &out, copy as u32);
            link(&copies, runtime(), &["-O1", "-static"], &exe);
            let script = format!("{limit}P3_PROFILE_FILE=raw/%k-%p.p3raw exec ./v $1");
            let argument = if limit.is_empty() { "x" } else { "" };
            let mut sh = Command::new("sh");
            sh.args(["-c", &script, "sh", argument]).current_dir(dir);
            sh.stderr(std::process::Stdio::null());
            run(&mut sh);
        }
        let mut merge = Command::new(PROF);
        merge.args(["merge", "--failure-mode", "warn", "-m", "out/manifest.json"]);
        let merge = merge.args(["-o", "x.p3prof", "raw"]).current_dir(dir);
        let said = run(merge).stdout;
        let mut show = Command::new(PROF);
        let show = show.args(["show", "--format", "json", "x.p3prof"]);
        let shown = parsed(&run(show.current_dir(dir)).stdout);
        assert_eq!(shown["program"]["verdict"], "incomplete");
        let mut strict = Command::new(PROF);
        let strict = strict.args(["show", "--strict", "x.p3prof"]);
        assert_eq!(
            strict.current_dir(dir).output().unwrap().status.code(),
            Some(1)
        );
        String::from_utf8(said).unwrap()
    };
    let absent = |of: &str| {
        format!(
            "incomplete    processes that could not write what they counted (rights, limits, or the disk: stderr said \
             why): {of}\n"
        )
    };
    // A child of each; then all of one copy.
    let said = merge(["", ""]);
    assert!(said.contains(&absent("1 of copies 0, 1 each")), "{said}");
    let said = merge(["ulimit -n 3; ", ""]);
    assert!(
        said.contains(&absent("2 of copy 0 and 1 of copy 1")),
        "{said}"
    );
}
