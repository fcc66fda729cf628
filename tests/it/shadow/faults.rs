//! What goes wrong around shadows is no matter to the program: it does what it does without them.

use super::{Program, are_gone, behaviour, files};
use crate::support::processes_of;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn kill(pid: u32) {
    // It may be gone.
    let _ = Command::new("kill").args(["-9", &pid.to_string()]).output();
}

/// Every shadow is killed as soon as it is seen.
#[test]
fn shadows_are_killed() {
    let dir = crate::support::folder();
    let program = Program::new("calls.c", &["-O1"], dir.path());
    let arguments = ["write", "40000"];
    let (expected, native) = program.run(&program.native, "native", &arguments, "");
    let (folder, mut command) = program.command(
        &program.shadowed,
        "killed",
        &arguments,
        "load=2,burst=100M,cost=100%",
    );
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (parent, mut killed) = (child.id(), 0);
    let waiting = std::thread::spawn(move || child.wait_with_output().unwrap());
    while !waiting.is_finished() {
        for pid in processes_of(&program.shadowed) {
            if pid != parent {
                kill(pid);
                killed += 1;
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let output = waiting.join().unwrap();
    assert_eq!(behaviour(&output), behaviour(&native));
    assert_eq!(files(&folder), files(&expected));
    assert!(killed > 0);
    assert!(are_gone(&program.shadowed));
    // What they left half-written is no part of the profile.
    program.shown("killed");
}

/// Wherever the program is killed, its profile can be read, and no shadow stays.
#[test]
fn programs_are_killed() {
    let dir = crate::support::folder();
    let program = Program::new("calls.c", &["-O1"], dir.path());
    for i in 0..8 {
        let (name, arguments) = (format!("killed-{i}"), ["threads", "100000000"]);
        let (_, mut command) = program.command(
            &program.shadowed,
            &name,
            &arguments,
            "load=4,burst=500k,cost=100%",
        );
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(100 + 37 * i));
        child.kill().unwrap();
        child.wait().unwrap();
        let begin = Instant::now();
        while !processes_of(&program.shadowed).is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(55), "they live on");
            std::thread::sleep(Duration::from_millis(10));
        }
        program.shown(&name);
    }
}

/// No more processes than there are: every fork fails, which is said once, by the program and by its profile.
#[test]
fn no_more_processes() {
    let dir = crate::support::folder();
    let program = Program::new("calls.c", &["-O1"], dir.path());
    // The superuser has no limit.
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(dir.path(), open).unwrap();
    let script = format!(
        "#!/bin/sh\nchmod 777 . \"${{P3_PROFILE_FILE%/*}}\"\n\
         [ $(id -u) != 0 ] || as='setpriv --reuid=61234 --regid=61234 --clear-groups'\n\
         exec $as prlimit --nproc=1 {} \"$@\"\n",
        program.shadowed.display()
    );
    let limited = program.script("limited.sh", &script);
    let arguments = ["write", "20000"];
    let (expected, native) = program.run(&program.native, "native", &arguments, "");
    let (folder, output) = program.run(
        &limited,
        "limited",
        &arguments,
        "load=1,burst=100k,cost=100%",
    );
    assert_eq!(
        (&output.stdout, output.status),
        (&native.stdout, native.status)
    );
    let said = "p3: shadows: no fork succeeded: the program ran without shadows: Resource temporarily unavailable\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), said);
    assert_eq!(files(&folder), files(&expected));
    let text = program.summary("limited");
    assert!(text.contains("no shadow could be forked ("), "{text}");
    let shown = program.shown("limited");
    assert!(shown["not_forked"].as_u64().unwrap() > 0, "{shown}");
    assert_eq!(shown["shadows"], 0, "{shown}");
}

/// As little memory as the program needs, and more.
#[test]
fn little_memory() {
    let dir = crate::support::folder();
    let program = Program::new("calls.c", &["-O1"], dir.path());
    let arguments = ["memory", "3000"];
    let (_, native) = program.run(&program.native, "native", &arguments, "");
    for megabytes in [24, 32, 48, 96, 200] {
        let script = format!(
            "#!/bin/sh\nexec prlimit --as={megabytes}000000 {} \"$@\"\n",
            program.shadowed.display()
        );
        let name = format!("limited-{megabytes}");
        let limited = program.script(&format!("{name}.sh"), &script);
        let (_, output) = program.run(&limited, &name, &arguments, "load=2,burst=100k,cost=100%");
        assert_eq!(output.stdout, native.stdout, "{output:?}");
        assert_eq!(output.status, native.status);
    }
}

/// A control group with this much memory, if there can be one: version 2, or 1.
struct Group(PathBuf);

impl Group {
    fn new(name: &str, bytes: u64) -> Option<Group> {
        let files = [
            ("/sys/fs/cgroup", "memory.max"),
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        ];
        files.into_iter().find_map(|(root, limit)| {
            // A folder of groups has what says so.
            let groups = Path::new(root).join("cgroup.procs").exists();
            let group = Group(Path::new(root).join(name));
            groups
                .then(|| std::fs::create_dir(&group.0).ok())
                .flatten()?;
            // Without swap, where that can be told.
            let _ = std::fs::write(group.0.join("memory.swap.max"), "0");
            let limit = group.0.join(limit);
            let known = limit.exists() && std::fs::write(limit, bytes.to_string()).is_ok();
            known.then_some(group)
        })
    }

    /// How many of its processes were killed for memory.
    fn killed(&self) -> u64 {
        let said = ["memory.events", "memory.oom_control"]
            .map(|name| std::fs::read_to_string(self.0.join(name)).unwrap_or_default());
        let numbers = said.iter().flat_map(|text| text.lines());
        let mut killed = numbers.filter_map(|line| line.strip_prefix("oom_kill "));
        killed.next().map_or(0, |n| n.trim().parse().unwrap())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// A group of processes whose memory holds the program, but not what it and its shadows copy: there are none while it
/// has its memory, and if one that was forked before takes too much, that one is killed.
#[test]
#[ignore = "takes a control group of its own: make test-limits, as root"]
fn group_without_memory() {
    let dir = crate::support::folder();
    let name = dir.path().file_name().unwrap().to_str().unwrap();
    let group = Group::new(&format!("p3{name}"), 80 << 20).expect("a control group can be made");
    let program = Program::new("large.c", &["-O1"], dir.path());
    let (_, native) = program.run(&program.native, "native", &["60"], "");
    let script = format!(
        "#!/bin/sh\necho $$ >{}/cgroup.procs || exit 9\nexec {} \"$@\"\n",
        group.0.display(),
        program.shadowed.display()
    );
    let limited = program.script("limited.sh", &script);
    let (_, output) = program.run(&limited, "limited", &["60"], "load=4,burst=20M,cost=100%");
    assert_eq!(behaviour(&output), behaviour(&native));
    assert!(are_gone(&program.shadowed));
    let shown = program.shown("limited");
    let number = |name: &str| shown[name].as_u64().unwrap();
    assert!(number("short_of_memory") > 0, "{shown}");
    // Each with its twin.
    assert!(group.killed() <= 2 * number("shadows"), "{shown}");
}

/// A disk without room for records, of a system of its own. A file of records begins with 16 KiB and gets 100 more
/// here, or a tenth of that where the machine has much else to do.
#[test]
#[ignore = "mounts a file system: make test-launchers"]
fn full_disk() {
    let dir = crate::support::folder();
    let program = Program::new("calls.c", &["-O1"], dir.path());
    let arguments = ["write", "20000"];
    let (expected, native) = program.run(&program.native, "native", &arguments, "");
    let script = format!(
        "#!/bin/sh\nexec unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=28k none \
        \"${{P3_PROFILE_FILE%/*}}\" || exit 77\n\
         {} \"$@\"; status=$?\n\
         head -c 8192 /dev/zero >\"${{P3_PROFILE_FILE%/*}}/more\" 2>/dev/null && exit 9; exit $status' sh \"$@\"\n",
        program.shadowed.display()
    );
    let limited = program.script("limited.sh", &script);
    let (folder, output) = program.run(&limited, "full", &arguments, "load=1,burst=100k,cost=100%");
    assert_ne!(
        output.status.code(),
        Some(77),
        "a file system can be mounted"
    );
    assert_eq!(output.stdout, native.stdout, "{output:?}");
    assert_eq!(output.status, native.status, "{output:?}");
    assert_eq!(files(&folder), files(&expected));
}

/// Shadows without time to count anything.
#[test]
fn no_time() {
    let dir = crate::support::folder();
    let program = Program::new("calls.c", &["-O1"], dir.path());
    let arguments = ["children", "2000"];
    let (_, native) = program.run(&program.native, "native", &arguments, "");
    let knobs = "load=8,burst=100M,limit=1ms,cost=100%";
    let (_, output) = program.run(&program.shadowed, "short", &arguments, knobs);
    assert_eq!(behaviour(&output), behaviour(&native));
    assert!(are_gone(&program.shadowed));
    program.shown("short");
}
