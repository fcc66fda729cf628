//! Programs that confine themselves, or are confined: filters of system calls, limits, umask.

use crate::support::driver::{counts, driver, driver_without_shadows};
use crate::support::{module, rewrite, run};
use p3_rewrite::profile::raw::{self, Raw};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into()
}

/// Runs a shell script in `dir`, in which `./driver` is.
fn shell(dir: &Path, script: &str) -> Output {
    let mut sh = Command::new("sh");
    sh.args(["-c", script]).current_dir(dir).output().unwrap()
}

/// The raw profiles in `raw`, by name.
fn profiles(dir: &Path) -> Vec<Raw> {
    let names = dir.join("raw").read_dir().unwrap();
    let mut files: Vec<_> = names.map(|e| e.unwrap().path()).collect();
    files.sort();
    let read = |f| raw::read(&std::fs::File::open(f).unwrap()).unwrap();
    files.into_iter().map(read).collect()
}

/// Once everything that is counted is in the file, the end of the program asks nothing of the system.
#[test]
fn program_under_a_filter_that_kills_ends_normally() {
    for flags in [&[][..], &["-static"]] {
        let dir = crate::support::folder();
        driver_without_shadows(dir.path(), flags);
        for name in ["%p", "%m"] {
            let _ = std::fs::remove_dir_all(dir.path().join("raw"));
            let script = format!("P3_PROFILE_FILE=raw/{name}.p3raw exec ./driver jail");
            let output = shell(dir.path(), &script);
            assert_eq!(
                (output.status.code(), stderr(&output)),
                (Some(3), String::new()),
                "{name} {flags:?}"
            );
            let found = profiles(dir.path());
            assert_eq!((found.len(), found[0].ended), (1, 1), "{name} {flags:?}");
            let ids = (0..100).map(|id| (id, 1)).collect();
            assert_eq!(counts(&found[0], 9), ids);
        }
    }
}

/// What the runtime says where nobody can read it raises no signal, and takes none that is pending.
#[test]
fn message_that_cannot_be_written_raises_no_signal() {
    let dir = crate::support::folder();
    driver(dir.path(), &[]);
    let output = shell(
        dir.path(),
        "P3_PROFILE_FILE=raw/x.p3raw exec ./driver speak",
    );
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let _ = std::fs::remove_dir_all(dir.path().join("raw"));
    let limited = "ulimit -f 0; P3_PROFILE_FILE=raw/x.p3raw exec ./driver hash 2>said";
    let output = shell(dir.path(), limited);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(std::fs::read(dir.path().join("said")).unwrap(), b"");
    // The process has left word that its counts are lost.
    assert_eq!(dir.path().join("raw").read_dir().unwrap().count(), 1);
}

/// A umask of 0777 keeps files and folders from nobody who made them: a pool stays one file, whoever comes.
#[test]
fn umask_keeps_no_file_from_its_own_user() {
    let dir = crate::support::folder();
    let exe = driver(dir.path(), &[]);
    let root = std::fs::metadata(exe).unwrap().uid() == 0;
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    // Root may read everything.
    let who = if root {
        "setpriv --reuid=65534 --regid=65534 --clear-groups"
    } else {
        ""
    };
    let script = format!(
        "umask 0777; for n in 1 2 3 4; do P3_PROFILE_FILE=raw/deep/%m.p3raw {who} ./driver umask || echo $?; done"
    );
    let output = shell(dir.path(), &script);
    assert_eq!(stderr(&output), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "3\n".repeat(4));
    let deep = dir.path().join("raw/deep");
    assert_eq!(std::fs::metadata(&deep).unwrap().mode() & 0o777, 0o700);
    let files: Vec<_> = deep.read_dir().unwrap().map(|e| e.unwrap()).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].metadata().unwrap().mode() & 0o777, 0o600);
    let raw = raw::read(&std::fs::File::open(files[0].path()).unwrap()).unwrap();
    // Each ran the program twice, by exec.
    assert_eq!((raw.runs, raw.ended), (8, 4));
}

/// What aligns data in copies takes little address space in a small program: where the program starts, a copy does with
/// a megabyte more, and counts.
#[test]
fn copy_starts_where_address_space_is_short() {
    let source = "__attribute__((noinline)) static int f(int i) { return i % 3 == 0 ? i : 1; }
        int main(int argc, char **argv) { volatile int sum = f(argc); return 0; }";
    let dir = crate::support::folder();
    let modules = [module("s.c", source, &["-O1"], &dir.path().join("input"))];
    let out = dir.path().join("out");
    rewrite(&modules, &["--scheme", "sbl"], &out);
    let mut make = Command::new("make");
    run(make.arg("-C").arg(&out).args(["-s", "all", "native"]));
    let limited = |kilobytes: u32, program: &str| {
        let script =
            format!("ulimit -v {kilobytes}; P3_PROFILE_FILE=raw/x.p3raw exec bin/{program}");
        let output = shell(&out, &script);
        (output.status.success(), stderr(&output))
    };
    let mut limits = (1000..20_000).step_by(250);
    let least = limits.find(|n| limited(*n, "native").0).unwrap();
    assert_eq!(limited(least + 1000, "copy-0"), (true, String::new()));
    assert_eq!(profiles(&out).len(), 1);
}
