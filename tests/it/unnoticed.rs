//! What the program under test, and the machine, must not notice of being profiled.

use crate::support::driver::{counts, drive, driver};
use crate::support::{
    PROF, copy_modules, exits, link, llvm, module, rewrite, run, shell_with_mounts,
};
use p3_rewrite::profile::raw::{self, Raw};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into()
}

/// Runs a shell script in `dir`, in which `./driver` is.
fn shell(dir: &Path, script: &str) -> Output {
    let mut sh = Command::new("sh");
    sh.args(["-c", script])
        .current_dir(dir)
        .env_remove("P3_PROFILE_FILE")
        .output()
        .unwrap()
}

fn read(file: &Path) -> Raw {
    raw::read(&std::fs::File::open(file).unwrap()).unwrap()
}

/// Every raw profile below `dir`.
fn profiles(dir: &Path) -> Vec<Raw> {
    let files = walkdir::WalkDir::new(dir)
        .into_iter()
        .map(|e| e.unwrap().into_path());
    files
        .filter(|f| f.extension().is_some_and(|e| e == "p3raw") && f.is_file())
        .map(|f| read(&f))
        .collect()
}

/// errno, cancellation and what can be said: nothing of it is the program's.
#[test]
fn errno_and_cancellation() {
    let dir = crate::support::folder();
    let exe = driver(dir.path(), &[]);
    let (output, profiles) = drive(&exe, "notice", None, dir.path());
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let raw = profiles.values().next().unwrap();
    assert_eq!(
        counts(raw, 9).values().sum::<u64>(),
        (0..5000).map(|i| i % 7).sum::<u64>()
    );
}

/// Memory that cannot be had costs no room in the file, and is asked for again.
#[test]
fn memory_that_was_refused_is_asked_for_again() {
    let dir = crate::support::folder();
    let exe = driver(dir.path(), &[]);
    let file = dir.path().join("x.p3raw");
    let mut command = Command::new(&exe);
    let output = command
        .arg("lose")
        .env("P3_PROFILE_FILE", &file)
        .output()
        .unwrap();
    assert_eq!(
        stderr(&output),
        "p3: profile: out of memory, counts are lost\n"
    );
    assert_eq!(output.status.code(), Some(3));
    let size = std::fs::metadata(&file).unwrap();
    assert!(size.len() < 64 << 20, "{} bytes", size.len());
    assert!(size.blocks() * 512 < 64 << 20, "{} blocks", size.blocks());
    let raw = read(&file);
    assert!(raw.lost);
    let counted = counts(&raw, 9);
    assert!(
        (0..64)
            .chain(210_000..400_000)
            .all(|id| counted.get(&id) == Some(&1))
    );
}

/// Two levels of each table, and what P3_PROFILE_RESERVE says, need no system call.
#[test]
fn counting_under_strict_seccomp() {
    let dir = crate::support::folder();
    let exe = driver(dir.path(), &[]);
    for (ids, reserve) in [("100", "0"), ("100000", "32")] {
        let file = dir.path().join(format!("{ids}.p3raw"));
        let mut command = Command::new(&exe);
        command.args(["sandbox", ids]).env("P3_PROFILE_FILE", &file);
        let output = command.env("P3_PROFILE_RESERVE", reserve).output().unwrap();
        assert_eq!(
            (output.status.code(), stderr(&output)),
            (Some(0), String::new()),
            "{ids}"
        );
        let raw = read(&file);
        assert_eq!(
            counts(&raw, 9),
            (0..ids.parse().unwrap()).map(|id| (id, 1)).collect()
        );
        assert_eq!(counts(&raw, 7)[&3], 1);
    }
}

/// Where profiles go was settled when the process began.
#[test]
fn children_after_changes() {
    let dir = crate::support::folder();
    let exe = driver(dir.path(), &[]);
    std::fs::create_dir(dir.path().join("jail")).unwrap();
    for how in ["clearenv", "chdir", "chroot"] {
        // A root of its own is needed to leave it.
        let script = format!("P3_PROFILE_FILE=raw/{how}-%p.p3raw exec ./driver stray {how}");
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "sh", "-c", &script]);
        let output = unshare.current_dir(dir.path()).output().unwrap();
        assert_eq!(
            (output.status.code(), stderr(&output)),
            (Some(3), String::new()),
            "{how}"
        );
        let raw = dir.path().join("raw");
        let names = raw.read_dir().unwrap().map(|e| e.unwrap().file_name());
        assert!(
            names
                .into_iter()
                .all(|n| n.to_str().unwrap().starts_with(how))
        );
        let found = profiles(&raw);
        let child: Vec<_> = found.iter().filter(|r| r.children == 1).collect();
        assert_eq!((found.len(), child.len()), (2, 1), "{how}");
        assert_eq!(counts(child[0], 9), (0..10_000).map(|id| (id, 1)).collect());
        std::fs::remove_dir_all(raw).unwrap();
    }
    assert!(profiles(dir.path()).is_empty());
    drop(exe);
}

/// While other threads allocate, change the environment and count, children lock nothing: none hangs.
#[test]
fn children_of_threads() {
    let dir = crate::support::folder();
    driver(dir.path(), &[]);
    let output = shell(
        dir.path(),
        "P3_PROFILE_FILE=raw/%p.p3raw timeout 100 ./driver fork_often",
    );
    assert_eq!(
        (output.status.code(), stderr(&output)),
        (Some(3), String::new())
    );
    let children: Vec<_> = profiles(dir.path())
        .into_iter()
        .filter(|r| r.children == 1)
        .collect();
    assert_eq!(children.len(), 200);
    let expected: BTreeMap<u64, u64> = (0..3000).map(|id| (id, 1)).collect();
    assert!(children.iter().all(|c| counts(c, 9) == expected));
}

/// Links that someone planted are not followed.
#[test]
fn planted_links() {
    let dir = crate::support::folder();
    driver(dir.path(), &[]);
    std::fs::write(dir.path().join("victim"), "keep").unwrap();
    symlink("nowhere", dir.path().join("x.p3raw")).unwrap();
    let script = "ln -s victim x-1.p3raw.new$$; ln -s victim x.p3raw.new$$; \
                  P3_PROFILE_FILE=x.p3raw exec ./driver hash";
    let output = shell(dir.path(), script);
    assert_eq!(
        (output.status.code(), stderr(&output)),
        (Some(3), String::new())
    );
    assert_eq!(std::fs::read(dir.path().join("victim")).unwrap(), b"keep");
    assert!(!dir.path().join("nowhere").exists());
    let names = dir
        .path()
        .read_dir()
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = names
        .filter(|n| n.contains("p3raw") && !n.contains("new"))
        .collect();
    assert_eq!(
        files,
        BTreeSet::from(["x.p3raw".to_string(), "x-1.p3raw".to_string()])
    );
}

/// `/dev/null` turns profiles off; beside devices and folders none is made.
#[test]
fn names_that_are_no_files() {
    let dir = crate::support::folder();
    let exe = driver(dir.path(), &[]);
    symlink("/dev/null", dir.path().join("null")).unwrap();
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    let beside = |name: &str| Path::new(&format!("{name}-1")).exists();
    for (name, lines) in [
        ("/dev/null", 0),
        ("null", 0),
        ("folder", 2),
        ("folder/", 2),
        ("/dev/full", 2),
    ] {
        for what in ["fork", "dump"] {
            let mut command = Command::new(&exe);
            command
                .arg(what)
                .current_dir(dir.path())
                .env("P3_PROFILE_FILE", name);
            let output = command.output().unwrap();
            let (said, status) = (stderr(&output), output.status.code());
            assert!(
                said.lines().all(|l| l.ends_with("this is not a file")),
                "{said}"
            );
            // A child says it as well.
            let expected = if what == "fork" { 2 * lines } else { lines };
            assert_eq!(said.lines().count(), expected, "{name} {what}: {said}");
            let dumped = if lines == 0 { 5 } else { 6 };
            assert_eq!(
                status,
                Some(if what == "fork" { 3 } else { dumped }),
                "{name}"
            );
        }
        assert!(!beside(name), "{name}");
    }
    let left = dir.path().read_dir().unwrap().count();
    assert_eq!((left, profiles(dir.path()).len()), (3, 0));
    assert_eq!(dir.path().join("folder").read_dir().unwrap().count(), 0);
}

/// Root is told of folders that are made for it elsewhere.
#[test]
fn folders_made_as_root() {
    let dir = crate::support::folder();
    driver(dir.path(), &[]);
    let work = dir.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let run_in_work = |pattern: &str| {
        let mut unshare = Command::new("unshare");
        unshare
            .args(["--user", "--map-root-user", "../driver"])
            .current_dir(&work);
        let output = unshare.env("P3_PROFILE_FILE", pattern).output().unwrap();
        stderr(&output).replace(dir.path().canonicalize().unwrap().to_str().unwrap(), "DIR")
    };
    let elsewhere = dir
        .path()
        .canonicalize()
        .unwrap()
        .join("else/where/x.p3raw");
    let made = "made this folder, as root and outside of the working folder\n";
    assert_eq!(run_in_work("a/b/x.p3raw"), "");
    assert_eq!(
        run_in_work(elsewhere.to_str().unwrap()),
        format!("p3: DIR/else: {made}p3: DIR/else/where: {made}")
    );
    assert_eq!(
        run_in_work("../up/x.p3raw"),
        format!("p3: DIR/work/../up: {made}")
    );
    assert_eq!(profiles(dir.path()).len(), 3);
}

/// A program with more rights than its caller does not listen to it.
#[test]
fn programs_with_other_rights() {
    let dir = crate::support::folder();
    let exe = driver(dir.path(), &[]);
    if std::fs::metadata(&exe).unwrap().uid() != 0 {
        println!("only root can make such a program");
        return;
    }
    std::fs::set_permissions(&exe, std::fs::Permissions::from_mode(0o4755)).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&exe)
        .current_dir(dir.path());
    let output = command
        .env("P3_PROFILE_FILE", dir.path().join("told.p3raw"))
        .output()
        .unwrap();
    assert_eq!(
        (output.status.code(), stderr(&output)),
        (Some(3), String::new())
    );
    assert!(!dir.path().join("told.p3raw").exists());
    assert_eq!(profiles(dir.path()).len(), 1);
}

/// Descriptors are few, the folder cannot be written to, there is no way to reserve room: the program runs all the
/// same.
#[test]
fn poor_surroundings() {
    let dir = crate::support::folder();
    driver(dir.path(), &["-static"]);
    // With the last free number the profile is made; it is not kept from the program.
    for (limit, files) in [("3", 0), ("4", 1), ("20", 1)] {
        let script =
            format!("ulimit -n {limit}; P3_PROFILE_FILE=n{limit}.p3raw exec ./driver hash");
        let output = shell(dir.path(), &script);
        assert_eq!(output.status.code(), Some(3), "{limit}");
        let lines = stderr(&output).lines().count();
        assert_eq!(
            (lines, profiles(dir.path()).len()),
            (2 * (1 - files), files),
            "{limit}: {}",
            stderr(&output)
        );
        let _ = std::fs::remove_file(dir.path().join(format!("n{limit}.p3raw")));
    }
    let script = "mkdir fs && mount -t ramfs none fs && P3_PROFILE_FILE=fs/x.p3raw ./driver hash; \
                  echo $?; cp fs/x.p3raw .; mount -o remount,ro fs; P3_PROFILE_FILE=fs/y.p3raw ./driver hash; echo $?";
    let mut shell = shell_with_mounts(script);
    let output = shell.current_dir(dir.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "3\n3\n");
    assert_eq!(
        stderr(&output).matches("Read-only file system").count(),
        2,
        "{}",
        stderr(&output)
    );
    assert_eq!(counts(&profiles(dir.path())[0], 9).len(), 4285);
}

/// A library that is loaded and unloaded over and over leaves no descriptor and no mapping behind, and all its counts.
#[test]
fn reloaded_libraries() {
    let library = r#"
        #define S(k) if (i >> k & 1) sum = sum * 3 + k; else sum ^= k;
        __attribute__((noinline)) int many(unsigned i) {
            int sum = 0;
            S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10) S(11) S(12) S(13) S(14) S(15)
            return sum;
        }
        int work(unsigned i) { int sum = 0; for (unsigned k = 0; k < 3; k++) sum += many(i + k); return sum; }"#;
    let host = r#"
        #include <dlfcn.h>
        #include <pthread.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static int lines(const char *path) {
            FILE *file = fopen(path, "r");
            int n = 0;
            for (int c; (c = getc(file)) != EOF;) n += c == '\n';
            fclose(file);
            return n;
        }
        static int descriptors(void) {
            int n = 0;
            for (int fd = 0; fd < 1024; fd++) n += lseek(fd, 0, SEEK_CUR) >= 0 || dup2(fd, fd) == fd;
            return n;
        }
        static void *wait_for_it(void *unused) { for (;;) pause(); return unused; }
        int main(int argc, char **argv) {
            int times = atoi(argv[1]), mapped = 0, open = 0;
            pthread_t thread;
            if (argc > 2) pthread_create(&thread, 0, wait_for_it, 0);
            for (int i = 0; i < times; i++) {
                void *library = dlopen("./liblib.so", RTLD_NOW);
                if (!library) { puts(dlerror()); return 1; }
                ((int (*)(unsigned))dlsym(library, "work"))(i * 2654435761u);
                dlclose(library);
                if (i == 3) mapped = lines("/proc/self/maps"), open = descriptors();
            }
            printf("%d %d\n", lines("/proc/self/maps") - mapped, descriptors() - open);
            return 0;
        }"#;
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = [module(
        "lib.c",
        library,
        &["-O1", "-fPIC", "-fno-inline"],
        &dir.join("input"),
    )];
    rewrite(&modules, &["--scheme", "sbl"], &dir.join("out"));
    let flags = ["-O1", "-fPIC", "-shared"];
    link(
        &copy_modules(&modules, &dir.join("out"), 0),
        crate::support::runtime(),
        &flags,
        &dir.join("liblib.so"),
    );
    std::fs::write(dir.join("host.c"), host).unwrap();
    run(Command::new(llvm("clang"))
        .arg("-w")
        .arg(dir.join("host.c"))
        .args(["-ldl", "-pthread", "-o"])
        .arg(dir.join("host")));
    // With a thread beside it, at exit nothing may be unmapped, and at dlclose everything must.
    for (arguments, name) in [("1100", "x"), ("300 threaded", "x"), ("300 threaded", "%m")] {
        let out = dir.join("out");
        let _ = std::fs::remove_dir_all(out.join("raw"));
        let script =
            format!("ulimit -n 1024; P3_PROFILE_FILE=out/raw/{name}.p3raw exec ./host {arguments}");
        let output = shell(dir, &script);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "0 0\n",
            "{arguments}: {}",
            stderr(&output)
        );
        assert_eq!(stderr(&output), "");
        let times: u64 = arguments.split(' ').next().unwrap().parse().unwrap();
        let loaded = profiles(&out.join("raw"));
        let ids: BTreeSet<_> = loaded.iter().map(|r| r.unique).collect();
        let files = if name == "%m" { 1 } else { times };
        assert_eq!((ids.len() as u64, loaded.len() as u64), (files, files));
        assert_eq!(loaded.iter().map(|r| r.runs).sum::<u64>(), times);
        let counted = exits(&crate::support::merge(&out));
        assert_eq!(
            (counted["many"], counted["work"]),
            (3 * times, times),
            "{arguments}"
        );
    }
}

/// A program whose path depends on where the heap and large blocks are does the same in every copy.
#[test]
fn heaps_are_alike() {
    let source = r#"
        #include <cstdint>
        #include <cstdio>
        #include <cstdlib>
        #include <string>
        static volatile unsigned sink;
        #define S(k) if (i >> k & 1) sink = sink * 3 + k; else sink = k;
        __attribute__((noinline)) static int many(unsigned i) {
            S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10)
            return sink;
        }
        __attribute__((noinline)) static int walk(const void *p) {
            unsigned h = 1;
            for (uintptr_t n = (uintptr_t)p; n != 0; n >>= 3)
                h = n & 1 ? h * 5 + 1 : n & 2 ? h ^ 21 : n & 4 ? h + 7 : h * 3;
            return h;
        }
        int main() {
            unsigned sum = 0;
            for (unsigned i = 0; i < 2000; i++) {
                void *p = malloc(i % 50 ? i % 7 * 40 + 1 : 200000 + i);
                std::string text(i % 60, 'x');
                sum += walk(p) + walk(text.data()) + many(i * 2654435761u);
                if (i % 3 == 0) free(p);
            }
            printf("%u\n", sum);
        }"#;
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = [module(
        "h.cpp",
        source,
        &["-O1", "-fno-inline"],
        &dir.join("input"),
    )];
    let out = dir.join("out");
    // Whole functions: one copy has an array of four pages more than the others.
    rewrite(&modules, &["-k", "3", "--scheme", "pbl"], &out);
    let mut make = Command::new("make");
    make.arg("-C").arg(&out).args(["-s", "run"]);
    run(make.arg(format!("P3_PROF={PROF}")));
    let printed = |k: u32| std::fs::read(out.join(format!("run/copy-{k}/stdout"))).unwrap();
    assert!(printed(0) == printed(1) && printed(0) == printed(2));
    run(Command::new(PROF)
        .arg("verify")
        .arg(out.join("profile.p3prof")));
}

/// Two modules whose path depends on where constants, variables of all kinds and blocks of memory are.
const ADDRESSES: [(&str, &str); 2] = [
    (
        "a.c",
        r#"
        #include <stdint.h>
        #include <stdio.h>
        #include <stdlib.h>
        extern char other_zeros[], other_values[];
        extern const char other_constants[];
        extern const char *const other_names[];
        unsigned other(unsigned);
        static volatile unsigned sink;
        #define S(k) if (i >> k & 1) sink = sink * 3 + k; else sink = k;
        __attribute__((noinline)) static int many(unsigned i) {
            S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10)
            return sink;
        }
        __attribute__((noinline)) static unsigned walk(const volatile void *p) {
            unsigned h = 1;
            for (uintptr_t n = (uintptr_t)p; n != 0; n >>= 3)
                h = n & 1 ? h * 5 + 1 : n & 2 ? h ^ 21 : n & 4 ? h + 7 : h * 3;
            return h;
        }
        static volatile char zeros[100], values[3] = "v";
        static const volatile char constants[50] = "constant";
        static const char *const names[] = {"one", "two"};
        static _Thread_local volatile char mine[20] = "t", mine_zeros[20];
        int main(void) {
            unsigned sum = 0;
            for (unsigned i = 0; i < 3000; i++)
                sum += many(i * 2654435761u) + other(i * 2654435761u);
            const volatile void *all[] = {zeros, values, constants, names, mine, mine_zeros, other_zeros, other_values,
                                          other_constants, other_names, "a string", stdout, malloc(100)};
            for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
                printf("%u %x\n", i, walk(all[i]));
            printf("%u\n", sum);
        }"#,
    ),
    (
        "b.c",
        r#"
        char other_zeros[1000], other_values[70] = "w";
        const char other_constants[] = "others";
        const char *const other_names[] = {"three", "four"};
        static volatile unsigned sink;
        #define S(k) if (i >> k & 1) sink = sink * 3 + k; else sink = k;
        unsigned other(unsigned i) {
            S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10) S(11) S(12)
            return sink;
        }"#,
    ),
];

/// Data has the same addresses in every copy, by whatever linker; without what aligns it, it has not.
#[test]
fn globals_are_alike() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let input = dir.join("input");
    let modules = ADDRESSES.map(|(name, text)| module(name, text, &["-O1", "-fno-inline"], &input));
    for (scheme, linker) in [("pbl", "bfd"), ("p3", "lld")] {
        let out = dir.join(format!("{scheme}-{linker}"));
        rewrite(&modules, &["-k", "3", "--scheme", scheme], &out);
        let ld = format!("LDFLAGS=-fuse-ld={linker} -Wl,--gc-sections");
        let make = |options: &[&str]| {
            let mut make = Command::new("make");
            make.arg("-C").arg(&out).args(["-s", "run", &ld]);
            make.arg(format!("P3_PROF={PROF}")).args(options);
            make.output().unwrap()
        };
        let made = make(&[]);
        assert!(
            made.status.success(),
            "{scheme}, {linker}: {}",
            stderr(&made)
        );
        run(Command::new(PROF)
            .arg("verify")
            .arg(out.join("profile.p3prof")));
        let packed = make(&["-B", "P3_ALIGN=0"]);
        assert!(
            stderr(&packed).contains("differ in their stdout"),
            "{scheme}, {linker}"
        );
    }
}
