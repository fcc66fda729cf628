//! The C runtime: formats, warnings, sanitizers, and what it writes when.

mod support;

use p3_rewrite::profile::raw::{self, Raw};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::{llvm, project, run};

fn sources() -> Vec<PathBuf> {
    let folder = project("runtime-c").read_dir().unwrap();
    let mut files: Vec<PathBuf> = folder.map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "c"));
    files.sort();
    files
}

/// Builds the driver with the runtime.
fn driver(dir: &Path, flags: &[&str]) -> PathBuf {
    let exe = dir.join("driver");
    let mut clang = Command::new(llvm("clang"));
    clang
        .args(["-std=gnu11", "-g", "-O1", "-pthread", "-I"])
        .arg(project("runtime-c"))
        .args(flags);
    run(clang
        .args(sources())
        .arg(project("tests/support/runtime_test.c"))
        .arg("-o")
        .arg(&exe));
    exe
}

/// Runs the driver in `dir`; the raw profiles it left, by name.
fn drive(
    exe: &Path,
    what: &str,
    pattern: Option<&str>,
    dir: &Path,
) -> (Output, BTreeMap<String, Raw>) {
    let mut command = Command::new(exe);
    command
        .arg(what)
        .current_dir(dir)
        .env_remove("P3_PROFILE_FILE");
    if let Some(pattern) = pattern {
        command.env("P3_PROFILE_FILE", pattern);
    }
    let output = command.output().unwrap();
    let mut profiles = BTreeMap::new();
    for entry in walkdir::WalkDir::new(dir) {
        let path = entry.unwrap().into_path();
        if path.to_str().unwrap().contains("p3raw") && path.is_file() {
            let name = path
                .strip_prefix(dir)
                .unwrap()
                .to_str()
                .unwrap()
                .to_string();
            profiles.insert(name, raw::parse(&std::fs::read(&path).unwrap()).unwrap());
            std::fs::remove_file(path).unwrap();
        }
    }
    (output, profiles)
}

/// What `count_hash` counts, `times` times.
fn expected_hash(times: u64) -> BTreeMap<u64, u64> {
    let id = |i: u64| i * 219_999_999 % (1 << 40);
    (0..5000)
        .filter(|i| i % 7 > 0)
        .map(|i| (id(i), (i % 7).min(6) * times))
        .collect()
}

fn counts(raw: &Raw, function: usize) -> BTreeMap<u64, u64> {
    raw.functions[function].counts.iter().copied().collect()
}

#[test]
fn layouts_agree_with_the_readers() {
    let dir = tempfile::tempdir().unwrap();
    let exe = dir.path().join("layout");
    let mut clang = Command::new(llvm("clang"));
    clang
        .arg("-I")
        .arg(project("runtime-c"))
        .arg(project("tests/support/layout.c"));
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
    assert_eq!(number("version"), raw::VERSION as usize);
    assert_eq!(number("sizeof p3_raw_header"), raw::HEADER_SIZE);
    assert_eq!(number("sizeof p3_raw_module"), raw::MODULE_SIZE);
    assert_eq!(number("sizeof p3_raw_function"), raw::FUNCTION_SIZE);
    assert_eq!(number("sizeof p3_raw_entry"), 16);
    assert_eq!(number("p3_raw_header.header_crc"), raw::HEADER_CRC_AT);
    // As `raw::parse` reads them.
    let offsets = [
        ("p3_raw_header.file_size", 16),
        ("p3_raw_header.program", 24),
        ("p3_raw_header.copy", 40),
        ("p3_raw_header.copies", 44),
        ("p3_raw_header.n_modules", 48),
        ("p3_raw_header.n_functions", 52),
        ("p3_raw_header.body_crc", 72),
        ("p3_raw_function.kind", 4),
        ("p3_raw_function.size", 8),
        ("p3_raw_function.offset", 16),
        ("p3_raw_function.entries", 24),
        // As `emit::data` writes them: tables of 8 words, records {i32, i32, i64, ptr}, and
        // {i32 × 4, [16 x i8], i32, i32, ptr, ptr, i64, ptr, [4 x i64]}.
        ("sizeof p3_table", 64),
        ("sizeof p3_function", 24),
        ("p3_function.size", 8),
        ("p3_function.counts", 16),
        ("sizeof p3_module", 104),
        ("p3_module.program", 16),
        ("p3_module.module", 32),
        ("p3_module.functions", 40),
        ("p3_module.n_counters", 56),
        ("p3_module.next", 64),
    ];
    for (name, offset) in offsets {
        assert_eq!(number(name), offset, "{name}");
    }
}

#[test]
fn no_compiler_warns() {
    let dir = tempfile::tempdir().unwrap();
    for compiler in ["gcc".into(), llvm("clang")] {
        for file in sources() {
            let mut command = Command::new(&compiler);
            command.args([
                "-std=c11",
                "-O2",
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
        assert_eq!(counts(raw, 0), BTreeMap::from([(0, 4), (1, 3), (2, 3)]));
        assert_eq!(counts(raw, 1), expected_hash(1));
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
            counts(raw, 0),
            BTreeMap::from([(0, each + 4), (1, each + 3), (2, each + 3), (3, each)])
        );
        assert_eq!(counts(raw, 1), expected_hash(8));
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
            .map(|r| (counts(r, 0), counts(r, 1)))
            .collect();
        let parent = (BTreeMap::from([(0, 4), (1, 3), (2, 3)]), expected_hash(1));
        let child = (BTreeMap::from([(3, 1)]), BTreeMap::from([(5, 1)]));
        assert!(both.contains(&parent) && both.contains(&child));
    }
}

#[test]
fn the_program_can_dump_and_reset() {
    let dir = tempfile::tempdir().unwrap();
    let exe = driver(dir.path(), &[]);
    let (_, profiles) = drive(&exe, "reset", None, dir.path());
    let raw = profiles.values().next().unwrap();
    assert_eq!(
        (counts(raw, 0), counts(raw, 1).len()),
        (BTreeMap::from([(2, 1)]), 0)
    );
    // After the dump the process ends by _exit: only what was dumped is there.
    let (output, profiles) = drive(&exe, "dump", None, dir.path());
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(
        counts(profiles.values().next().unwrap(), 0),
        BTreeMap::from([(0, 4), (1, 3), (2, 3)])
    );
}

#[test]
fn file_names_follow_the_pattern() {
    let dir = tempfile::tempdir().unwrap();
    let exe = driver(dir.path(), &[]);
    let host = String::from_utf8(run(&mut Command::new("hostname")).stdout).unwrap();
    let (_, profiles) = drive(&exe, "", Some("new/%h/deep/%k%%-%x.p3raw"), dir.path());
    let expected = format!("new/{}/deep/1%-%x.p3raw", host.trim());
    assert_eq!(profiles.into_keys().collect::<Vec<_>>(), [expected]);
    let absolute = dir.path().join("absolute/%k.p3raw");
    let (_, profiles) = drive(&exe, "", absolute.to_str(), dir.path());
    assert_eq!(
        profiles.into_keys().collect::<Vec<_>>(),
        ["absolute/1.p3raw"]
    );
}

/// A profile that cannot be written costs one line, and not the program's exit status.
#[test]
fn failures_are_one_line() {
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
        assert!(
            stderr.starts_with("p3: ") && stderr.lines().count() == 1,
            "{pattern}: {stderr}"
        );
        assert_eq!((output.status.code(), profiles.len()), (Some(3), 0));
    }
    // A limit on the size of files: nothing half-written stays.
    let mut shell = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 8; exec ./driver hash";
    let output = shell
        .args(["-c", script])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("File too large") && stderr.lines().count() == 1,
        "{stderr}"
    );
    assert_eq!(output.status.code(), Some(3));
    let left = dir
        .path()
        .read_dir()
        .unwrap()
        .map(|e| e.unwrap().file_name());
    assert!(
        left.into_iter()
            .all(|f| !f.to_str().unwrap().contains("p3raw"))
    );
}
