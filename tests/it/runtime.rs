//! The C runtime: formats, warnings, sanitizers, and what it writes when.

use crate::support::driver::{counts, drive, driver, sources};
use crate::support::{llvm, project, run};
use p3_rewrite::index::FuncId;
use p3_rewrite::profile::raw;
use std::collections::BTreeMap;
use std::process::Command;

fn hostname() -> String {
    let printed = run(&mut Command::new("hostname")).stdout;
    String::from_utf8(printed).unwrap().trim().into()
}

/// What `count_hash` counts, `times` times.
fn expected_hash(times: u64) -> BTreeMap<u64, u64> {
    let id = |i: u64| i * 219_999_999 % (1 << 40);
    (0..5000)
        .filter(|i| i % 7 > 0)
        .map(|i| (id(i), (i % 7).min(6) * times))
        .collect()
}

/// What main counts in the array at its start.
fn first_counts() -> BTreeMap<u64, u64> {
    BTreeMap::from([(0, 4), (1, 3), (2, 3)])
}

#[test]
fn layouts_agree_with_the_readers() {
    let dir = tempfile::tempdir().unwrap();
    let exe = dir.path().join("layout");
    let mut clang = Command::new(llvm("clang"));
    clang
        .arg("-I")
        .arg(project("runtime-c"))
        .arg(project("tests/it/support/layout.c"));
    run(clang.arg("-o").arg(&exe));
    let printed = String::from_utf8(run(&mut Command::new(exe)).stdout).unwrap();
    let of = |name: &str| {
        let line = printed
            .lines()
            .find_map(|l| l.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("{name}")).to_string()
    };
    let number = |name: &str| of(name).parse::<usize>().unwrap();
    assert_eq!(of("magic"), format!("{:x}", raw::MAGIC));
    assert_eq!(of("block"), format!("{:x}", raw::BLOCK_MAGIC));
    assert_eq!(of("chunk"), format!("{:x}", raw::CHUNK_MAGIC));
    let offsets = [
        ("version", raw::VERSION as usize),
        ("sizeof p3_raw_header", raw::HEADER_SIZE),
        ("sizeof p3_raw_block", raw::BLOCK_SIZE),
        ("sizeof p3_raw_chunk", raw::BLOCK_SIZE),
        ("sizeof p3_raw_function", raw::FUNCTION_SIZE),
        ("p3_raw_header.header_crc", raw::HEADER_CRC_AT),
        ("sizeof p3_slot", 16),
        // As `raw::parse` reads them.
        ("p3_raw_header.program", 16),
        ("p3_raw_header.unique", 32),
        ("p3_raw_header.copy", 48),
        ("p3_raw_header.copies", 52),
        ("p3_raw_header.pid", 56),
        ("p3_raw_header.parent", 64),
        ("p3_raw_header.page", 72),
        ("p3_raw_header.arguments", 84),
        ("p3_raw_header.text_size", 88),
        ("p3_raw_header.process", 92),
        ("p3_raw_header.flags", 104),
        ("p3_raw_header.file_size", 112),
        ("p3_raw_block.size", 8),
        ("p3_raw_block.kind", 16),
        ("p3_raw_block.n_functions", 24),
        ("p3_raw_block.counters_offset", 32),
        ("p3_raw_block.n_counters", 40),
        ("p3_raw_block.reserved", 48),
        ("p3_raw_block.crc", 60),
        ("p3_raw_function.kind", 4),
        ("p3_raw_function.size", 8),
        ("p3_raw_function.first", 16),
        ("p3_raw_chunk.func", 8),
        ("p3_raw_chunk.slots", 16),
        ("p3_raw_chunk.size", 24),
        // As `emit::data` writes them: tables {i64, i32, i32, i64, [12 x ptr], ptr}, records
        // {i32, i32, i64, ptr}, and {i32 × 4, [16 x i8], i32, i32, ptr, ptr, i64, i64, ptr, i64,
        // [2 x i64]}.
        ("levels", 12),
        ("sizeof p3_table", 128),
        ("p3_table.func", 8),
        ("p3_table.size", 16),
        ("p3_table.level", 24),
        ("p3_table.cache", 120),
        ("cache bits", 10),
        ("sizeof p3_function", 24),
        ("p3_function.size", 8),
        ("p3_function.counts", 16),
        ("sizeof p3_module", 104),
        ("p3_module.program", 16),
        ("p3_module.module", 32),
        ("p3_module.functions", 40),
        ("p3_module.counters_size", 56),
        ("p3_module.page", 64),
        ("p3_module.next", 72),
    ];
    for (name, offset) in offsets {
        assert_eq!(number(name), offset, "{name}");
    }
}

#[test]
fn no_compiler_warns() {
    let dir = tempfile::tempdir().unwrap();
    for compiler in ["gcc".into(), llvm("clang")] {
        // What gcc knows of sizes depends on the level.
        let levels = ["-O1", "-O2"].into_iter();
        for (level, file) in levels.flat_map(|l| sources().into_iter().map(move |f| (l, f))) {
            let mut command = Command::new(&compiler);
            command.args([
                "-std=c11",
                level,
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
                "-c",
            ]);
            run(command.arg(file).arg("-o").arg(dir.path().join("x.o")));
        }
    }
}

#[test]
fn tables_grow_and_files_are_written() {
    for flags in [
        &[][..],
        &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    ] {
        let dir = tempfile::tempdir().unwrap();
        let exe = driver(dir.path(), flags);
        let (output, profiles) = drive(&exe, "hash", None, dir.path());
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(3));
        let (name, raw) = profiles.first_key_value().unwrap();
        assert!(
            name.starts_with("p3-1-") && name.ends_with(".p3raw"),
            "{name}"
        );
        assert_eq!((raw.copy.0, raw.copies, raw.program[1]), (1, 3, 2));
        assert_eq!(counts(raw, 7), BTreeMap::from([(0, 4), (1, 3), (2, 3)]));
        assert_eq!(counts(raw, 9), expected_hash(1));
    }
}

#[test]
fn threads_count_exactly() {
    for flags in [&[][..], &["-fsanitize=thread"]] {
        let dir = tempfile::tempdir().unwrap();
        let exe = driver(dir.path(), flags);
        let (output, profiles) = drive(&exe, "threads", None, dir.path());
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        let raw = profiles.values().next().unwrap();
        let each = 8 * 200_000 / 4;
        assert_eq!(
            counts(raw, 7),
            BTreeMap::from([(0, each + 4), (1, each + 3), (2, each + 3), (3, each)])
        );
        assert_eq!(counts(raw, 9), expected_hash(8));
    }
}

#[test]
fn a_forked_child_counts_for_itself() {
    let dir = tempfile::tempdir().unwrap();
    let exe = driver(dir.path(), &[]);
    for pattern in ["x-%p.p3raw", "same.p3raw"] {
        let (_, profiles) = drive(&exe, "fork", Some(pattern), dir.path());
        assert_eq!(profiles.len(), 2, "{:?}", profiles.keys());
        let both: Vec<_> = profiles
            .values()
            .map(|r| (counts(r, 7), counts(r, 9)))
            .collect();
        let parent = (BTreeMap::from([(0, 4), (1, 3), (2, 3)]), expected_hash(1));
        let child = (BTreeMap::from([(3, 1)]), BTreeMap::from([(5, 1)]));
        assert!(both.contains(&parent) && both.contains(&child));
    }
}

/// A raw profile says how its process was started, and no two have the same id.
#[test]
fn profiles_say_who_counted() {
    let dir = tempfile::tempdir().unwrap();
    let exe = driver(dir.path(), &[]);
    let folder = dir.path().canonicalize().unwrap();
    let (_, profiles) = drive(&exe, "fork a  \u{e9}\n", Some("%p.p3raw"), dir.path());
    let (mut files, host) = (profiles.into_values(), hostname());
    let (mut parent, mut child) = (files.next().unwrap(), files.next().unwrap());
    if parent.child {
        std::mem::swap(&mut parent, &mut child);
    }
    for raw in [&parent, &child] {
        let name = exe.to_str().unwrap();
        let arguments = [name, "fork", "a", "", "\u{e9}\n"].map(str::as_bytes);
        assert_eq!(raw.arguments, arguments);
        assert_eq!(
            (&raw.folder[..], &raw.host[..]),
            (folder.to_str().unwrap().as_bytes(), host.as_bytes())
        );
        assert!(!raw.arguments_cut);
    }
    assert_eq!(
        (parent.parent, child.parent),
        (std::process::id().into(), parent.pid)
    );
    assert_ne!(parent.unique, child.unique);
    let (_, again) = drive(&exe, "", None, dir.path());
    let again = again.into_values().next().unwrap();
    assert!(![parent.unique, child.unique, [0; 16]].contains(&again.unique));
    // Long arguments are cut, and this is said.
    for (length, cut) in [(30_000, false), (40_000, true)] {
        let long = format!("x {}", "y".repeat(length));
        let (_, profiles) = drive(&exe, &long, None, dir.path());
        let raw = profiles.into_values().next().unwrap();
        let kept: usize = raw.arguments.iter().map(|a| a.len() + 1).sum();
        assert_eq!((raw.arguments.len(), raw.arguments_cut), (3, cut));
        assert!(kept <= 32769 && raw.arguments[2].len() >= 30_000);
        assert_eq!(counts(&raw, 7), first_counts());
    }
}

#[test]
fn the_program_can_dump_and_reset() {
    let dir = tempfile::tempdir().unwrap();
    let exe = driver(dir.path(), &[]);
    let (_, profiles) = drive(&exe, "reset", None, dir.path());
    let raw = profiles.values().next().unwrap();
    assert_eq!(
        (counts(raw, 7), counts(raw, 9).len()),
        (BTreeMap::from([(2, 1)]), 0)
    );
    // After the dump the process counts once more and ends by _exit.
    let (output, profiles) = drive(&exe, "dump", None, dir.path());
    assert_eq!(output.status.code(), Some(5));
    let expected = BTreeMap::from([(0, 4), (1, 3), (2, 3), (3, 1)]);
    assert_eq!(counts(profiles.values().next().unwrap(), 7), expected);
}

/// However the process ends, what it counted is there.
#[test]
fn nothing_is_lost_with_the_process() {
    let dir = tempfile::tempdir().unwrap();
    let exe = driver(dir.path(), &[]);
    for how in ["abort", "_exit", "quick_exit", "kill", "exec"] {
        let (_, profiles) = drive(&exe, &format!("stop {how}"), None, dir.path());
        let raw = profiles.values().next().unwrap();
        assert_eq!(
            (counts(raw, 7), counts(raw, 9)),
            (first_counts(), expected_hash(1)),
            "{how}"
        );
        assert_eq!(
            (raw.functions[&FuncId(7)].entries, raw.ended),
            (Some(1), false)
        );
    }
}

#[test]
fn constructors_before_ours_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let exe = driver(dir.path(), &["-fsanitize=undefined"]);
    let mut command = Command::new(&exe);
    command
        .env("P3_TEST_EARLY", "1")
        .env("P3_PROFILE_FILE", dir.path().join("x.p3raw"));
    assert_eq!(command.output().unwrap().status.code(), Some(3));
    let raw = raw::parse(&std::fs::read(dir.path().join("x.p3raw")).unwrap()).unwrap();
    assert_eq!(counts(&raw, 7), BTreeMap::from([(0, 104), (1, 3), (2, 3)]));
    assert_eq!(counts(&raw, 9), (0..1000).map(|id| (id, 1)).collect());
}

/// Signal handlers count new ids while the tables that they interrupt grow.
#[test]
fn signals_count_while_tables_grow() {
    let dir = tempfile::tempdir().unwrap();
    let exe = driver(dir.path(), &[]);
    let (output, profiles) = drive(&exe, "signals", None, dir.path());
    let handled: u64 = String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .unwrap();
    assert!(handled >= 400);
    let counts = counts(profiles.values().next().unwrap(), 9);
    for id in 1_000_000..1_000_000 + handled * 50 {
        assert_eq!(counts.get(&id), Some(&1));
    }
}

/// Daemons close all descriptors and change folder.
#[test]
fn closed_descriptors_do_not_matter() {
    let dir = tempfile::tempdir().unwrap();
    let exe = driver(dir.path(), &[]);
    let (output, profiles) = drive(&exe, "close", None, dir.path());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let raw = profiles.values().next().unwrap();
    assert_eq!(counts(raw, 9), (0..100_000).map(|id| (id, 1)).collect());
}

/// A name that is taken, as when a process id repeats, is not written over.
#[test]
fn file_names_stay_unique() {
    let dir = tempfile::tempdir().unwrap();
    let exe = driver(dir.path(), &[]);
    for name in ["a.b/x.p3raw", "a.b/x-1.p3raw", "a.b/x-2.p3raw"] {
        let mut command = Command::new(&exe);
        command
            .current_dir(dir.path())
            .env("P3_PROFILE_FILE", "a.b/x.p3raw")
            .output()
            .unwrap();
        assert!(dir.path().join(name).exists(), "{name}");
    }
}

/// On a disk that is full, counts stay in memory; if it stays full they are lost, and said to be.
#[test]
fn full_disks() {
    let dir = tempfile::tempdir().unwrap();
    driver(dir.path(), &[]);
    let script = r#"
        mkdir full && mount -t tmpfs -o size=16k none full || exit 77
        head -c 12k /dev/zero > full/filler
        P3_PROFILE_FILE=full/x.p3raw ./driver hash; echo "exit $?"
        rm full/*.p3raw; head -c 4k /dev/zero >> full/filler
        P3_PROFILE_FILE=full/x.p3raw ./driver hash; echo "exit $?"
        ls full"#;
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    let output = unshare.current_dir(dir.path()).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).replace(dir.path().to_str().unwrap(), "DIR");
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let kept = "p3: DIR/full/x.p3raw: counts are kept in memory until exit: No space left on device
";
    let lost = "p3: DIR/full/x.p3raw: counts are lost: No space left on device
";
    assert_eq!(stderr, [kept, lost, kept, lost].concat());
    assert_eq!(
        stdout,
        "exit 3
exit 3
filler
"
    );
}

#[test]
fn file_names_follow_the_pattern() {
    let dir = tempfile::tempdir().unwrap();
    let exe = driver(dir.path(), &[]);
    let host = hostname();
    let (_, profiles) = drive(&exe, "", Some("new/%h/deep/%k%%-%x.p3raw"), dir.path());
    let expected = format!("new/{host}/deep/1%-%x.p3raw");
    assert_eq!(profiles.into_keys().collect::<Vec<_>>(), [expected]);
    let absolute = dir.path().join("absolute/%k.p3raw");
    let (_, profiles) = drive(&exe, "", absolute.to_str(), dir.path());
    assert_eq!(
        profiles.into_keys().collect::<Vec<_>>(),
        ["absolute/1.p3raw"]
    );
}

/// A profile that cannot be written costs a line at the start and one at the end, and not the program's exit status.
#[test]
fn failures_are_said() {
    let dir = tempfile::tempdir().unwrap();
    let exe = driver(dir.path(), &[]);
    std::fs::write(dir.path().join("file"), "").unwrap();
    let long = "x".repeat(5000);
    for pattern in [
        "file/below.p3raw",
        "/dev/full/x.p3raw",
        "/proc/nowhere.p3raw",
        &long,
    ] {
        let (output, profiles) = drive(&exe, "hash", Some(pattern), dir.path());
        let stderr = String::from_utf8_lossy(&output.stderr);
        // At the start and, since counts were kept in memory, at the end.
        assert!(
            stderr.lines().all(|l| l.starts_with("p3: ")),
            "{pattern}: {stderr}"
        );
        assert_eq!(stderr.lines().count(), 2, "{pattern}: {stderr}");
        assert_eq!((output.status.code(), profiles.len()), (Some(3), 0));
    }
    // A limit on the size of files, whose signal would end the program.
    let mut shell = Command::new("sh");
    let script = "ulimit -f 4; exec ./driver hash";
    shell.args(["-c", script]).current_dir(dir.path());
    let output = shell
        .env("P3_PROFILE_FILE", "limit.p3raw")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("counts are lost: File too large"),
        "{stderr}"
    );
    assert_eq!(output.status.code(), Some(3));
}
