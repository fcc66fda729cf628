//! The C runtime: formats, warnings, sanitizers, and what it writes when.

use crate::support::driver::{self, SANITIZERS, built, counts, drive, driver};
use crate::support::{
    WARNINGS, llvm, project, run, runtime_files, runtime_headers, runtime_sources,
    shell_with_mounts,
};
use p3_rewrite::base::index::FuncId;
use p3_rewrite::profile::raw;
use p3_rewrite::runtime::Type;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
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

/// What C makes of the headers that are written from the lists, is what the lists say: `profile::raw` and `emit` go
/// by these.
#[test]
fn layouts_agree_with_the_lists() {
    use p3_rewrite::runtime::{abi, format};
    let structs = [
        format::HEADER,
        format::BLOCK,
        format::FUNCTION,
        format::CHUNK,
        format::STARTED_RECORD,
        format::SAMPLE_HEADER,
        format::ENTRY,
        format::SLOT,
        abi::TABLE,
        abi::SAMPLING,
        abi::MODULE,
    ];
    let mut source =
        String::from("#include \"p3_format.h\"\n#include \"p3_abi.h\"\n#include <stddef.h>\n");
    let mut assert = |left: String, right: u64| {
        source += &format!("_Static_assert({left} == {right}u, \"{left}\");\n");
    };
    for s in structs {
        let mut at = 0;
        for f in s.fields {
            assert(format!("offsetof(struct {}, {})", s.name, f.name), at);
            let one = match f.ty {
                Type::U8 => 1,
                Type::U32 => 4,
                Type::U64 | Type::Pointer(_) => 8,
            };
            at += one * u64::from(f.elements.unwrap_or(1));
        }
        assert(format!("sizeof(struct {})", s.name), at);
    }
    for c in abi::CONSTANTS.iter().chain(format::CONSTANTS) {
        source += &format!(
            "_Static_assert({} == {}u, \"{}\");\n",
            c.name, c.value, c.name
        );
    }
    let dir = crate::support::folder();
    let file = dir.path().join("layout.c");
    std::fs::write(&file, source).unwrap();
    let mut clang = Command::new(llvm("clang"));
    clang.arg("-fsyntax-only").args(runtime_headers());
    run(clang.arg(file));
}

/// The runtime is in layers: each file calls those alone that its header names, which are above it in p3_internal.h.
#[test]
fn layers() {
    let internal = std::fs::read_to_string(project("runtime-c/core/p3_internal.h")).unwrap();
    let section = regex::Regex::new(r"(?m)^/\* (p3_\w+\.c):").unwrap();
    let mut order: Vec<&str> = section
        .captures_iter(&internal)
        .map(|c| c.get(1).unwrap().as_str())
        .collect();
    // What rewritten modules call.
    order.extend(["p3_table.c", "p3_subpath.c", "p3_register.c"]);
    // On top of all that, shadows.
    let shadow = std::fs::read_to_string(project("runtime-c/shadow/p3_shadow.h")).unwrap();
    order.extend(
        section
            .captures_iter(&shadow)
            .map(|c| c.get(1).unwrap().as_str()),
    );
    order.push("p3_shadow.c");
    let files: Vec<String> = runtime_sources()
        .iter()
        .map(|f| f.file_name().unwrap().to_str().unwrap().to_string())
        .collect();
    let sorted: BTreeSet<&str> = order.iter().copied().collect();
    assert_eq!(sorted, files.iter().map(String::as_str).collect());
    let dir = crate::support::folder();
    let symbols: Vec<_> = order.iter().map(|f| symbols(f, dir.path())).collect();
    for (i, (file, (_, wanted))) in order.iter().zip(&symbols).enumerate() {
        let below = order[..i].iter().zip(&symbols);
        let called: Vec<&str> = below
            .filter(|(_, (defined, _))| !defined.is_disjoint(wanted))
            .map(|(f, _)| *f)
            .collect();
        let known: BTreeSet<_> = symbols[..i].iter().flat_map(|(d, _)| d).collect();
        let above: Vec<_> = wanted.iter().filter(|s| !known.contains(s)).collect();
        assert!(above.is_empty(), "{file} calls {above:?}");
        let text = std::fs::read_to_string(source(file)).unwrap();
        let (header, _) = text.split_once("*/").unwrap();
        let mut called: Vec<String> = called.iter().map(|f| f.to_string()).collect();
        called.sort();
        let calls = if called.is_empty() {
            "nothing".into()
        } else {
            called.join(", ")
        };
        assert!(
            header.contains(&format!("\n * Calls: {calls}.\n")),
            "{file}: Calls: {calls}."
        );
        assert!(header.contains("\n * In signal handlers: "), "{file}");
    }
}

/// Where the file of the runtime with this name is.
fn source(name: &str) -> PathBuf {
    let sources = runtime_sources();
    let named = sources.into_iter().find(|f| f.ends_with(name));
    named.unwrap_or_else(|| panic!("{name} is no file of the runtime"))
}

/// What a file of the runtime defines, and what it wants of others: names that begin as ours.
fn symbols(file: &str, dir: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let object = dir.join(file).with_extension("o");
    let mut clang = Command::new(llvm("clang"));
    clang
        .args(["-std=c11", "-O0", "-DP3_DYNAMIC", "-c"])
        .args(runtime_headers())
        .arg(source(file));
    run(clang.arg("-o").arg(&object));
    let printed = run(Command::new(llvm("llvm-nm"))
        .args(["-P", "-g"])
        .arg(&object))
    .stdout;
    let printed = String::from_utf8(printed).unwrap();
    let ours = printed.lines().map(|l| l.split_once(' ').unwrap());
    let ours = ours.filter(|(name, _)| name.trim_start_matches('_').starts_with("p3_"));
    let (wanted, defined): (Vec<_>, Vec<_>) = ours.partition(|(_, kind)| kind.starts_with('U'));
    let names = |symbols: Vec<(&str, &str)>| symbols.iter().map(|(n, _)| n.to_string()).collect();
    (names(defined), names(wanted))
}

/// What the other tests link, clang makes without a warning.
#[test]
fn no_compiler_warns() {
    let files = runtime_sources();
    assert_eq!(runtime_files().len(), files.len());
    assert_eq!(driver::runtime(SANITIZERS[0]).len(), files.len());
    // What gcc knows of sizes depends on the level.
    let levels = ["-O1", "-O2"].into_iter();
    let all: Vec<_> = levels
        .flat_map(|l| files.iter().map(move |f| (l, f)))
        .collect();
    all.par_iter().for_each(|(level, file)| {
        let mut gcc = Command::new("gcc");
        gcc.args([
            "-std=c11",
            level,
            "-fPIE",
            "-DP3_DYNAMIC",
            "-c",
            "-o",
            "/dev/null",
        ]);
        run(gcc.args(runtime_headers()).args(WARNINGS).arg(file));
    });
}

/// Where the kernel's headers are not, shadows are compiled to the same code by numbers of their own.
#[test]
fn shadows_without_headers_of_the_kernel_are_the_same() {
    let dir = crate::support::folder();
    for name in ["p3_shadow_calls.c", "p3_shadow_twin.c", "p3_shadow_watch.c"] {
        let compiled = |flag: &str| {
            let object = dir.path().join("x.o");
            let mut clang = Command::new(llvm("clang"));
            clang
                .args(["-std=c11", "-O2", "-c", flag])
                .args(runtime_headers());
            run(clang
                .args(WARNINGS)
                .arg(source(name))
                .arg("-o")
                .arg(&object));
            std::fs::read(&object).unwrap()
        };
        assert!(
            compiled("-DP3_OWN_KERNEL") == compiled("-DP3_KERNEL"),
            "{name}"
        );
    }
}

/// Pages that were counted in are found whatever is known of pages; where it is known that they were never touched, no
/// others are brought in.
#[test]
fn pages_that_were_counted_in_are_found() {
    let dir = crate::support::folder();
    let exe = dir.path().join("touched");
    let mut clang = Command::new(llvm("clang"));
    clang.args(["-std=gnu11", "-g", "-O1", "-fsanitize=undefined"]);
    clang.args(runtime_headers());
    clang.arg(project("tests/it/support/touched_test.c"));
    run(clang.arg("-o").arg(&exe));
    for map in ["real", "missing", "short", "another", "swap", "no-memory"] {
        let printed = run(Command::new(&exe).arg(map).current_dir(dir.path())).stdout;
        let printed = String::from_utf8(printed).unwrap();
        let mut numbers: Vec<u64> = printed.lines().map(|l| l.parse().unwrap()).collect();
        let faults = numbers.pop().unwrap();
        assert_eq!(numbers, [0, 1, 511, 512, 1700, 2999], "{map}");
        let known = std::fs::File::open("/proc/self/pagemap").is_ok();
        match map {
            "real" | "no-memory" => assert!(!known || faults < 1000, "{faults}"),
            "swap" => assert!(faults < 1000, "{faults}"),
            _ => {}
        }
    }
}

/// A twin copies what its shadow copied before its clock starts, and nothing else. Linux has the call for that from
/// 5.14 on.
#[test]
fn twins_copy_what_shadows_copied() {
    let exe = built("copies_test", &["-fsanitize=undefined"]);
    let printed = String::from_utf8(run(&mut Command::new(&exe)).stdout).unwrap();
    let (pages, twin) = printed.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(pages, "0\n1\n511\n512\n1700\n2999");
    match twin {
        "1 1 0 1" => {}
        _ => assert!(twin.starts_with("0 0 "), "{twin}"),
    }
}

#[test]
fn tables_grow_and_files_are_written() {
    for flags in [&[], SANITIZERS[0]] {
        let dir = crate::support::folder();
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
    for flags in [&[], SANITIZERS[1]] {
        let dir = crate::support::folder();
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
    let dir = crate::support::folder();
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
    let dir = crate::support::folder();
    let exe = driver(dir.path(), &[]);
    let folder = dir.path().canonicalize().unwrap();
    let (_, profiles) = drive(&exe, "fork a  \u{e9}\n", Some("%p.p3raw"), dir.path());
    let (mut files, host) = (profiles.into_values(), hostname());
    let (mut parent, mut child) = (files.next().unwrap(), files.next().unwrap());
    if parent.children > 0 {
        std::mem::swap(&mut parent, &mut child);
    }
    for raw in [&parent, &child] {
        let name = exe.to_str().unwrap();
        let arguments = [name, "fork", "a", "", "\u{e9}\n"].map(str::as_bytes);
        let [started] = &raw.started[..] else {
            panic!("one process has one record");
        };
        assert_eq!(started.arguments, arguments);
        assert_eq!(
            (&started.folder[..], &raw.host[..]),
            (folder.to_str().unwrap().as_bytes(), host.as_bytes())
        );
        assert!(!started.cut);
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
        let started = &raw.started[0];
        let kept: usize = started.arguments.iter().map(|a| a.len() + 1).sum();
        assert_eq!((started.arguments.len(), started.cut), (3, cut));
        assert!(kept <= 32769 && started.arguments[2].len() >= 30_000);
        assert_eq!(counts(&raw, 7), first_counts());
    }
}

#[test]
fn the_program_can_dump_and_reset() {
    let dir = crate::support::folder();
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
    let dir = crate::support::folder();
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
            (raw.functions[&FuncId(7)].entries, raw.runs, raw.ended),
            (Some(1), 1, 0)
        );
    }
}

#[test]
fn constructors_before_ours_are_counted() {
    let dir = crate::support::folder();
    let exe = driver(dir.path(), SANITIZERS[0]);
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
    let dir = crate::support::folder();
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
    let dir = crate::support::folder();
    let exe = driver(dir.path(), &[]);
    let (output, profiles) = drive(&exe, "close", None, dir.path());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let raw = profiles.values().next().unwrap();
    assert_eq!(counts(raw, 9), (0..100_000).map(|id| (id, 1)).collect());
}

/// A name that is taken, as when a process id repeats, is not written over.
#[test]
fn file_names_stay_unique() {
    let dir = crate::support::folder();
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

/// On a disk that is full, counts stay in memory; if it stays full they are lost, and said to be: in words, and by a
/// mark, which takes no room.
#[test]
fn full_disks() {
    let dir = crate::support::folder();
    driver(dir.path(), &[]);
    let script = r#"
        mkdir full && mount -t tmpfs -o size=16k none full || exit 77
        head -c 12k /dev/zero > full/filler
        P3_PROFILE_FILE=full/x.p3raw ./driver hash; echo "exit $?"
        rm full/*.p3raw; head -c 4k /dev/zero >> full/filler
        P3_PROFILE_FILE=full/x.p3raw ./driver hash; echo "exit $?"
        echo full/*.p3absent | wc -w; rm full/*.p3absent; ls full"#;
    let mut shell = shell_with_mounts(script);
    let output = shell.current_dir(dir.path()).output().unwrap();
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
1
filler
"
    );
}

#[test]
fn file_names_follow_the_pattern() {
    let dir = crate::support::folder();
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
    let dir = crate::support::folder();
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
