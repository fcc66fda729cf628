//! Files that processes share, one after the other (`%m`).

use crate::support::driver::{SANITIZERS, counts, driver};
use p3_rewrite::base::index::FuncId;
use p3_rewrite::profile::raw::{self, Raw};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// As the driver's module says.
const PROGRAM: &str = "01020300000000000000000000000000";

struct Pool {
    dir: tempfile::TempDir,
    exe: PathBuf,
}

impl Pool {
    fn new(flags: &[&str]) -> Pool {
        let dir = crate::support::folder();
        let exe = driver(dir.path(), flags);
        Pool { dir, exe }
    }

    fn raw(&self) -> PathBuf {
        self.dir.path().join("raw")
    }

    fn command(&self, what: &str) -> Command {
        let mut command = Command::new(&self.exe);
        command
            .args(what.split(' '))
            .current_dir(self.dir.path())
            .env("P3_PROFILE_FILE", "raw/%k-%m.p3raw");
        command
    }

    /// Runs the driver, which must say nothing.
    fn run(&self, what: &str) {
        let output = self.command(what).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{what}");
    }

    /// The raw profiles, by name, with their sizes.
    fn files(&self) -> BTreeMap<String, (Raw, u64)> {
        let files = walkdir::WalkDir::new(self.raw()).into_iter();
        // A process that was killed may have left one that had no name yet.
        let is_raw = |e: &walkdir::DirEntry| e.path().extension().is_some_and(|e| e == "p3raw");
        let files = files
            .map(|e| e.unwrap())
            .filter(|e| is_raw(e) && e.path().is_file());
        let named = |e: walkdir::DirEntry| {
            let raw = raw::read(&std::fs::File::open(e.path()).unwrap()).unwrap();
            let size = e.metadata().unwrap().len();
            (e.file_name().to_str().unwrap().to_string(), (raw, size))
        };
        files.map(named).collect()
    }

    /// The one file.
    fn only(&self) -> (Raw, u64) {
        let files = self.files();
        assert_eq!(
            files.keys().collect::<Vec<_>>(),
            [&format!("1-{PROGRAM}.p3raw")]
        );
        files.into_values().next().unwrap()
    }

    /// Starts a driver that lingers.
    fn linger(&self) -> Child {
        let mut command = self.command("linger");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        child
    }
}

/// What `count_hash` of the driver counts, `times` times.
fn hashed(times: u64) -> BTreeMap<u64, u64> {
    let id = |i: u64| i * 219_999_999 % (1 << 40);
    (0..5000)
        .filter(|i| i % 7 > 0)
        .map(|i| (id(i), i % 7 * times))
        .collect()
}

fn array(times: u64) -> BTreeMap<u64, u64> {
    BTreeMap::from([(0, 4 * times), (1, 3 * times), (2, 3 * times)])
}

/// Of all files together.
fn summed(files: &BTreeMap<String, (Raw, u64)>, function: u32) -> BTreeMap<u64, u64> {
    let mut sum = BTreeMap::new();
    for (raw, _) in files.values() {
        for (id, n) in counts(raw, function) {
            *sum.entry(id).or_default() += n;
        }
    }
    sum
}

#[test]
fn processes_add_to_one_file_one_after_the_other() {
    for flags in [&[], SANITIZERS[0], SANITIZERS[1]] {
        let pool = Pool::new(flags);
        let mut size = 0;
        for times in 1..=12 {
            pool.run("hash");
            let (raw, now) = pool.only();
            assert_eq!(
                (counts(&raw, 7), counts(&raw, 9)),
                (array(times), hashed(times))
            );
            assert_eq!((raw.runs, raw.children, raw.ended), (times, 0, times));
            assert!(raw.pooled && !raw.lost);
            assert!(size == 0 || now == size, "{now} bytes, then {size}");
            size = now;
        }
    }
}

/// However a process ends, the next goes on where it stopped, and the file says how many did not end.
#[test]
fn killed_processes_lose_nothing() {
    let pool = Pool::new(&[]);
    for how in ["abort", "_exit", "quick_exit", "kill", "exec", "kill"] {
        pool.run(&format!("stop {how}"));
    }
    pool.run("hash");
    let (raw, _) = pool.only();
    assert_eq!((counts(&raw, 7), counts(&raw, 9)), (array(7), hashed(7)));
    assert_eq!(raw.functions[&FuncId(7)].entries, Some(6));
    assert_eq!((raw.runs, raw.children, raw.ended), (7, 0, 1));
    let told = |how: &[&[u8]]| {
        let mut records = raw.started.iter().filter(|s| s.arguments[1..] == *how);
        let record = records.next().unwrap();
        assert!(records.next().is_none());
        assert_eq!(
            record.folder,
            pool.dir.path().as_os_str().as_encoded_bytes()
        );
        (record.runs, record.children, record.ended)
    };
    assert_eq!(told(&[b"stop", b"kill"]), (2, 0, 0));
    assert_eq!(told(&[b"stop", b"exec"]), (1, 0, 0));
    assert_eq!(told(&[b"hash"]), (1, 0, 1));
}

/// Kills a driver at one of its system calls, if strace is there; whether it came that far.
fn killed_at(pool: &Pool, call: &str, number: u32) -> Option<bool> {
    let mut command = Command::new("strace");
    let inject = format!("inject={call}:signal=KILL:when={number}");
    command
        .args(["-qq", "-o", "/dev/null", "-e", &inject])
        .arg(&pool.exe)
        .arg("hash");
    command
        .current_dir(pool.dir.path())
        .env("P3_PROFILE_FILE", "raw/%k-%m.p3raw");
    Some(command.output().ok()?.status.code() != Some(3))
}

/// Whatever a process was about to do when it was killed, to a new file or to one that it takes over: the next one
/// finds whole counts, and takes no more room.
#[test]
fn killed_at_any_system_call() {
    const CALLS: [&str; 15] = [
        "openat",
        "pread64",
        "pwrite64",
        "pwritev",
        "flock",
        "fallocate",
        "mmap",
        "munmap",
        "fcntl",
        "close",
        "linkat",
        "unlinkat",
        "newfstatat",
        "read",
        "kill",
    ];
    let pool = Pool::new(&[]);
    let whole = |raw: &Raw| {
        let counts = counts(raw, 7);
        let of = |id| counts.get(&id).copied().unwrap_or(0);
        assert!(
            of(0) % 4 == 0 && of(1) * 4 == of(0) * 3 && of(2) == of(1),
            "{counts:?}"
        );
    };
    for (call, number) in CALLS.iter().flat_map(|c| (1..=9).map(move |n| (c, n))) {
        let _ = std::fs::remove_dir_all(pool.raw());
        if killed_at(&pool, call, number).is_none() {
            return;
        }
        let _ = pool.command("hash").output().unwrap();
        let (raw, size) = pool.only();
        whole(&raw);
        for _ in 0..2 {
            killed_at(&pool, call, number);
        }
        pool.run("hash");
        let (again, now) = pool.only();
        whole(&again);
        assert!(counts(&again, 9)[&219_999_999] > counts(&raw, 9)[&219_999_999]);
        assert_eq!(now, size, "{call} {number}");
    }
}

/// A child cannot count where its parent does; later ones take over what it left.
#[test]
fn forked_children_take_files_of_their_own() {
    let pool = Pool::new(&[]);
    for _ in 0..5 {
        pool.run("fork");
    }
    let files = pool.files();
    assert_eq!(files.len(), 2, "{:?}", files.keys());
    let mut array = array(5);
    array.insert(3, 5);
    let mut hashed = hashed(5);
    *hashed.entry(5).or_default() += 5;
    assert_eq!((summed(&files, 7), summed(&files, 9)), (array, hashed));
    let number = |of: fn(&Raw) -> u64| files.values().map(|(raw, _)| of(raw)).sum::<u64>();
    assert_eq!((number(|r| r.runs), number(|r| r.children)), (5, 5));
    assert_eq!(number(|r| r.ended), 10);
}

/// As many files as there are processes at once, each of whose counts is there.
#[test]
fn processes_at_once() {
    const THREADS: usize = 6;
    const EACH: u64 = 30;
    let pool = Pool::new(&[]);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let pool = &pool;
            scope.spawn(move || {
                for i in 0..EACH {
                    let what =
                        ["hash", "stop kill", "stop _exit"][(thread as u64 + i) as usize % 3];
                    pool.run(what);
                }
            });
        }
    });
    let files = pool.files();
    // A process that was killed may hold its file a little longer than its parent waits.
    assert!(files.len() <= THREADS + 3, "{:?}", files.keys());
    let times = THREADS as u64 * EACH;
    assert_eq!(
        (summed(&files, 7), summed(&files, 9)),
        (array(times), hashed(times))
    );
    let runs: u64 = files.values().map(|(raw, _)| raw.runs).sum();
    let started = files.values().flat_map(|(raw, _)| &raw.started);
    assert_eq!((runs, started.map(|s| s.runs).sum::<u64>()), (times, times));
}

/// A daemon closes all descriptors, and its file is its own nevertheless.
#[test]
fn files_of_the_living_are_not_taken() {
    let pool = Pool::new(&[]);
    let mut lingering = [pool.linger(), pool.linger()];
    for _ in 0..3 {
        pool.run("hash");
    }
    for child in &mut lingering {
        drop(child.stdin.take());
        assert_eq!(child.wait().unwrap().code(), Some(3));
    }
    let files = pool.files();
    assert_eq!(files.len(), 3, "{:?}", files.keys());
    assert_eq!(
        (summed(&files, 7), summed(&files, 9)),
        (array(5), hashed(5))
    );
    pool.run("hash");
    assert_eq!(pool.files().len(), 3);
}

/// Where the lock goes with the descriptors (overlayfs), the process itself is looked for: by number, which in the
/// `/proc` of another name space is another process's, here this one's.
#[test]
fn files_of_the_living_are_not_taken_where_locks_end() {
    let pool = Pool::new(&[]);
    let overlay = format!(
        "mkdir lo up wk mnt && mount -t overlay -o lowerdir=lo,upperdir=up,workdir=wk none mnt || exit 77
        cp driver mnt; cd mnt; mkfifo ready end; exec 3<> end; echo {} > /proc/sys/kernel/ns_last_pid
        ./driver linger < end > ready & head -n 1 ready
        ./driver hash; exec 3>&-; wait; ./driver hash; cp -r raw ..",
        std::process::id() - 1
    );
    let output = script(&pool, &overlay);
    if output.status.code() == Some(77) {
        return; // no overlayfs in here
    }
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ready\n");
    let files = pool.files();
    assert_eq!((files.len(), summed(&files, 9)), (2, hashed(3)));
}

/// What constructors count before ours is added to what is there, and takes no room each time.
#[test]
fn early_counts_are_added() {
    let pool = Pool::new(SANITIZERS[0]);
    let mut size = 0;
    for times in 1..=4 {
        let output = pool.command("").env("P3_TEST_EARLY", "1").output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        let (raw, now) = pool.only();
        let mut array = array(times);
        *array.entry(0).or_default() += 100 * times;
        assert_eq!(counts(&raw, 7), array);
        assert_eq!(counts(&raw, 9), (0..1000).map(|id| (id, times)).collect());
        assert!(size == 0 || now == size, "{now} bytes, then {size}");
        size = now;
    }
}

/// A program that sets its counts to zero has files of its own; other processes' counts stay.
#[test]
fn programs_that_reset_do_not_share() {
    let pool = Pool::new(&[]);
    for _ in 0..3 {
        pool.run("reset");
    }
    let files = pool.files();
    assert_eq!(files.len(), 3, "{:?}", files.keys());
    for (raw, _) in files.values() {
        // Its counts begin in the middle of the program.
        let processes = (raw.runs, raw.children);
        assert_eq!(
            (counts(raw, 7), processes),
            (BTreeMap::from([(2, 1)]), (0, 1))
        );
    }
    std::fs::remove_dir_all(pool.raw()).unwrap();
    pool.run("hash");
    let output = pool.command("reset").output().unwrap();
    let name = format!("raw/1-{PROGRAM}.p3raw");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.starts_with("p3: ")
            && said.contains(&name)
            && said.contains("use %p in P3_PROFILE_FILE"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1);
    let (raw, _) = pool.only();
    assert_eq!(counts(&raw, 9), hashed(2));
}

#[test]
fn names_of_pools() {
    let pool = Pool::new(&[]);
    for (pattern, name) in [
        ("x-%m.p3raw", format!("x-{PROGRAM}.p3raw")),
        ("%4m-%k.p3raw", format!("{PROGRAM}-1.p3raw")),
        ("%9m.p3raw", format!("{PROGRAM}.p3raw")),
    ] {
        for times in 1..=2 {
            pool.command("")
                .env("P3_PROFILE_FILE", format!("raw/{pattern}"))
                .output()
                .unwrap();
            assert_eq!(pool.files()[&name].0.runs, times, "{pattern}");
        }
        assert_eq!(pool.files().len(), 1);
        std::fs::remove_dir_all(pool.raw()).unwrap();
    }
    // These are none: each process has its own file.
    for (pattern, name) in [
        ("%%m.p3raw", "%m"),
        ("%0m.p3raw", "%0m"),
        ("%10m.p3raw", "%10m"),
        ("m.p3raw", "m"),
    ] {
        for _ in 0..2 {
            pool.command("")
                .env("P3_PROFILE_FILE", format!("raw/{pattern}"))
                .output()
                .unwrap();
        }
        let names: Vec<String> = pool.files().into_keys().collect();
        assert_eq!(names, [format!("{name}-1.p3raw"), format!("{name}.p3raw")]);
        std::fs::remove_dir_all(pool.raw()).unwrap();
    }
}

fn script(pool: &Pool, script: &str) -> Output {
    let mut unshare = Command::new("unshare");
    unshare.args([
        "--user",
        "--map-root-user",
        "--mount",
        "--pid",
        "--fork",
        "sh",
        "-c",
        script,
    ]);
    unshare
        .current_dir(pool.dir.path())
        .env("P3_PROFILE_FILE", "raw/%m.p3raw")
        .output()
        .unwrap()
}

/// Where it cannot be known which processes live, each has a file of its own; in another name space of process
/// ids the lock tells.
#[test]
fn places_without_pools() {
    let pool = Pool::new(&[]);
    let output = script(
        &pool,
        "mount -t tmpfs none /proc && ./driver hash; ./driver hash; ./driver hash",
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(pool.files().len(), 3);
    std::fs::remove_dir_all(pool.raw()).unwrap();
    pool.command("hash")
        .env("P3_PROFILE_FILE", "raw/%m.p3raw")
        .output()
        .unwrap();
    let output = script(
        &pool,
        "mount -t proc none /proc && ./driver hash; ./driver hash",
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let files = pool.files();
    assert_eq!((files.len(), summed(&files, 9)), (1, hashed(3)));
}

/// A disk that is full costs what it costs without a pool, and what is in the pool stays.
#[test]
fn full_disks() {
    let pool = Pool::new(&[]);
    let full = "mkdir raw && mount -t tmpfs -o size=400k none raw && ./driver hash && exit 9
        head -c 1M /dev/zero > raw/filler 2>/dev/null; ./driver hash; echo $?
        P3_PROFILE_FILE=raw/other-%m.p3raw ./driver hash; echo $?; rm raw/filler; mkdir kept; cp raw/* kept";
    let output = script(&pool, full);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "3\n3\n", "{said}");
    assert!(
        said.lines()
            .all(|l| l.starts_with("p3: ") && l.contains("/other-")),
        "{said}"
    );
    let kept = pool.dir.path().join(format!("kept/{PROGRAM}.p3raw"));
    let raw = raw::read(&std::fs::File::open(kept).unwrap()).unwrap();
    assert_eq!((counts(&raw, 9), raw.runs), (hashed(2), 2));
}

/// A file of a pool that was damaged costs no process its life: what cannot be used is left.
#[test]
fn damaged_files_are_left() {
    let pool = Pool::new(&[]);
    pool.run("hash");
    let file = pool.raw().join(format!("1-{PROGRAM}.p3raw"));
    let mut good = Vec::new();
    std::fs::File::open(&file)
        .unwrap()
        .read_to_end(&mut good)
        .unwrap();
    let described: Vec<usize> = (0..good.len()).filter(|&at| described(&good, at)).collect();
    for round in 0..150usize {
        let mut bytes = good.clone();
        let at = described[round * 7919 % described.len()];
        bytes[at] ^= 1 << (round % 8);
        if round % 10 == 9 {
            bytes.truncate(round * 1009 % good.len());
        }
        std::fs::write(&file, &bytes).unwrap();
        let output = pool.command("hash").output().unwrap();
        assert_eq!(output.status.code(), Some(3), "byte {at}");
        // Whatever became of that file, this process's counts are somewhere.
        for other in pool.raw().read_dir().unwrap().map(|e| e.unwrap().path()) {
            if other != file {
                let raw = raw::read(&std::fs::File::open(&other).unwrap()).unwrap();
                assert_eq!(counts(&raw, 9), hashed(1), "byte {at}");
                std::fs::remove_file(other).unwrap();
            }
        }
    }
}

/// Whether a byte describes something: headers, of the file, of blocks, and of chunks.
fn described(bytes: &[u8], at: usize) -> bool {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let start = at - at % 64;
    at < raw::HEADER_SIZE || [raw::BLOCK_MAGIC, raw::CHUNK_MAGIC].contains(&word(start))
}

/// Links that someone planted are not followed, and files of others stay as they are.
#[test]
fn other_files_stay() {
    let pool = Pool::new(&[]);
    std::fs::create_dir(pool.raw()).unwrap();
    let name = |n: &str| pool.raw().join(format!("1-{PROGRAM}{n}.p3raw"));
    std::fs::write(pool.dir.path().join("victim"), "keep").unwrap();
    std::os::unix::fs::symlink("../victim", name("")).unwrap();
    std::fs::write(name("-1"), "not a profile").unwrap();
    pool.run("hash");
    pool.run("hash");
    assert_eq!(
        std::fs::read(pool.dir.path().join("victim")).unwrap(),
        b"keep"
    );
    assert_eq!(std::fs::read(name("-1")).unwrap(), b"not a profile");
    let raw = raw::read(&std::fs::File::open(name("-2")).unwrap()).unwrap();
    assert_eq!((raw.runs, counts(&raw, 9)), (2, hashed(2)));
    assert!(!Path::new(&name("-3")).exists());
}

/// However many arguments there are, a file says a bounded number of them.
#[test]
fn arguments_are_bounded() {
    let pool = Pool::new(&[]);
    for i in 0..400 {
        pool.run(&format!("x {} {}", "y".repeat(3900), i % 350));
    }
    let (raw, size) = pool.only();
    assert_eq!(raw.runs, 400);
    let told: u64 = raw.started.iter().map(|s| s.runs).sum();
    // Four to a block, 64 blocks; those that came first are counted for ever.
    assert_eq!((raw.started.len(), told), (256, 256 + 50));
    assert!(size < 2 << 20, "{size}");
    std::fs::remove_dir_all(pool.raw()).unwrap();
    for length in [4000, 5000] {
        pool.run(&format!("x {}", "y".repeat(length)));
    }
    let (raw, _) = pool.only();
    let kept = |s: &raw::Started| (s.arguments.len(), s.cut);
    assert_eq!(kept(&raw.started[0]), (3, false));
    assert_eq!(kept(&raw.started[1]), (2, true));
}
