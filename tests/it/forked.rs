//! Functions that are under way when the process forks: what is counted of them, and what is not claimed. Programs
//! count their lines themselves, in memory that all their processes share.

use crate::support::text::{assert_line, assert_lines};
use crate::support::{PROF, copy_modules, link, merge, module, rewrite, run, runtime_with};
use p3_rewrite::profile::Profile;
use p3_rewrite::profile::filter::Selection;
use p3_rewrite::profile::left::Range;
use p3_rewrite::read::analysis::counted::CountedFunction;
use p3_rewrite::read::analysis::lines::by_line;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Flags that keep a block for each line.
const FLAGS: &[&str] = &["-O0", "-Xclang", "-disable-O0-optnone", "-g"];

/// `H` counts its line in memory that processes share; `dump` prints these counts.
const HEAD: &str = r#"#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long *shared;
static unsigned seed;
static __attribute__((always_inline, nodebug)) inline void hit(int line) { shared[line]++; }
#define H hit(__LINE__)
__attribute__((nodebug, noinline, no_profile_instrument_function)) static int r(int n) {
    seed = seed * 1103515245u + 12345u;
    return (int)(seed >> 16) % n;
}
__attribute__((nodebug, noinline)) static int may_fork(void) { return shared[0] < 10 && ++shared[0]; }
extern pid_t lib_fork(void);
extern void lib_both(void (*f)(void));
static pid_t (*volatile by_pointer)(void) = fork;
__attribute__((nodebug)) static void start(void) {
    shared = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}
__attribute__((nodebug)) static void dump(void) {
    FILE *f = fopen("lines", "w");
    for (int i = 1; i < 8192; i++)
        if (shared[i])
            fprintf(f, "%d %ld\n", i, shared[i]);
    fclose(f);
}
"#;

/// A library that is not rewritten.
const LIBRARY: &str = r#"#include <sys/wait.h>
#include <unistd.h>
pid_t lib_fork(void) { return fork(); }
void lib_both(void (*f)(void)) {
    pid_t p = fork();
    if (p > 0)
        waitpid(p, 0, 0);
    f();
}
"#;

/// How programs fork: as they are seen to; through a pointer; in a library; in one that calls back in both processes.
const FORKS: [&str; 4] = ["fork()", "by_pointer()", "lib_fork()", "lib_both"];

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Statements at random: each line that begins with `H` counts itself. `f` calls functions with lower numbers, and
/// forks by `fork`.
fn statements(random: &mut Random, f: u64, fork: &str, depth: u32, out: &mut String) {
    for _ in 0..=random.below(3) {
        match random.below(if depth < 3 { 6 } else { 2 }) {
            0 => out.push_str("H; r(2);\n"),
            1 if f > 0 => {
                let _ = writeln!(out, "H; f{}();", random.below(f));
            }
            1 => out.push_str("H; r(3);\n"),
            2 => {
                let _ = writeln!(out, "if (r({}) == 0) {{", 2 + random.below(2));
                out.push_str("H;\n");
                statements(random, f, fork, depth + 1, out);
                out.push_str("} else {\nH;\n");
                statements(random, f, fork, depth + 1, out);
                out.push_str("}\n");
            }
            3 => {
                let _ = writeln!(
                    out,
                    "for (int i = r({}); i >= 0; i--) {{",
                    1 + random.below(3)
                );
                out.push_str("H;\n");
                statements(random, f, fork, depth + 1, out);
                out.push_str("}\n");
            }
            _ if fork == "lib_both" => {
                if f > 0 {
                    let _ = writeln!(
                        out,
                        "if (may_fork()) {{\nH; lib_both(f{});\nH;\n}}",
                        random.below(f)
                    );
                }
            }
            _ => {
                let _ = write!(
                    out,
                    "if (may_fork()) {{\nH;\nint p = {fork};\nif (p == 0) {{\nH; seed += 7;\n"
                );
                statements(random, f, fork, depth + 2, out);
                out.push_str(match random.below(7) {
                    0 => "H; _exit(0);\n",
                    1 => "H; kill(getpid(), SIGKILL);\n",
                    2 => "H; exit(0);\n",
                    3 => "H; execl(\"/bin/true\", \"true\", (char *)0);\n",
                    4 => "if (r(2)) {\nH; _exit(1);\n}\n",
                    _ => "H;\n",
                });
                out.push_str("} else {\nH; waitpid(p, 0, 0);\n}\n}\n");
            }
        }
    }
}

/// A program of functions that call each other and fork, by `fork`. Its first process prints the counts of its lines.
fn program(seed: u64, fork: &str) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut out = HEAD.to_string();
    let functions = 2 + random.below(3);
    for f in 0..functions {
        let _ = writeln!(
            out,
            "__attribute__((noinline)) static void f{f}(void) {{\nH;"
        );
        statements(&mut random, f, fork, 0, &mut out);
        out.push_str("}\n");
    }
    let _ = write!(
        out,
        "int main(void) {{\nstart();\nint first = getpid();\nseed = {seed};\n\
         for (int i = 0; i < 3; i++) {{\nH;\nf{}();\n}}\nif (getpid() == first)\ndump();\nreturn 0;\n}}\n",
        functions - 1
    );
    out
}

/// Runs every copy of a program in `dir`, linked with `library`; how often its lines ran, as it says itself.
fn run_copies(
    dir: &Path,
    modules: &[PathBuf],
    library: &Path,
    copies: u32,
    pattern: &str,
) -> BTreeMap<u32, u64> {
    let mut truth = BTreeMap::new();
    for copy in 0..copies {
        let exe = dir.join(format!("copy-{copy}.exe"));
        let mut all = copy_modules(modules, dir, copy);
        all.push(library.to_path_buf());
        link(&all, watching_runtime(), &["-O0"], &exe);
        let mut command = Command::new(&exe);
        command.current_dir(dir).stdout(Stdio::null());
        run(command.env("P3_PROFILE_FILE", dir.join(pattern)));
        let text = std::fs::read_to_string(dir.join("lines")).unwrap();
        let line = |l: &str| {
            let (line, n) = l.split_once(' ').unwrap();
            (line.parse::<u32>().unwrap(), n.parse::<u64>().unwrap())
        };
        truth = text.lines().map(line).collect();
    }
    truth
}

/// What the profile says of the lines of its only file: those of which it says anything, and a range for each.
fn line_ranges(profile: &Path) -> BTreeMap<u32, Range> {
    let profile = Profile::read(profile).unwrap();
    let all = Selection::new(None, None, &[]).unwrap();
    let functions = CountedFunction::find_selected(&profile, &all).unwrap();
    let sources = by_line(&profile, &functions, &Default::default());
    let lines = sources.values().flat_map(|source| source.line_ranges());
    lines.collect()
}

/// Compares what a profile says of each line that counts itself with how often it ran; how many counts are exact, and
/// of how many.
fn compare(
    source: &str,
    truth: &BTreeMap<u32, u64>,
    said: &BTreeMap<u32, Range>,
    what: &str,
) -> (usize, usize) {
    let (mut exact, mut all) = (0, 0);
    let lines = (1..)
        .zip(source.lines())
        .filter(|(_, l)| l.starts_with("H;"));
    for (line, _) in lines {
        all += 1;
        // Of lines that are not listed it is not known whether they ran.
        let Some(range) = said.get(&line) else {
            continue;
        };
        let ran = truth.get(&line).copied().unwrap_or(0);
        assert!(
            (range.least..=range.most).contains(&ran),
            "{what}: line {line} ran {ran} times: {range:?}\n{source}"
        );
        exact += usize::from(range.is_exact());
    }
    (exact, all)
}

/// The schemes, with copies and where counts go.
const WAYS: [(&[&str], u32, &str); 5] = [
    (&["--scheme", "sbl"], 1, "raw/%k-%p.p3raw"),
    (&["--scheme", "p3-hot"], 1, "raw/%k-%m.p3raw"),
    (&["--scheme", "edge"], 1, "raw/%k-%p.p3raw"),
    (&["--scheme", "p3-hot"], 3, "raw/%k-%m.p3raw"),
    (&["--scheme", "p3"], 2, "raw/%k-%p.p3raw"),
];

/// Compares random programs that fork as [`FORKS`] says with what is said of their lines; how many counts are exact,
/// and of how many.
fn compare_random_programs(
    seeds: RangeInclusive<u64>,
    fork: &str,
    flags: &[&str],
) -> (usize, usize) {
    let all = crate::support::folder();
    let library = module("lib.c", LIBRARY, &["-O1"], all.path());
    let (mut exact, mut lines) = (0, 0);
    for seed in seeds {
        let source = program(seed, fork);
        let dir = all.path().join(seed.to_string());
        let modules = [module("f.c", &source, flags, &dir.join("input"))];
        let ways = [WAYS[seed as usize % 2], WAYS[seed as usize % WAYS.len()]];
        for (i, (options, copies, pattern)) in ways.into_iter().enumerate() {
            let out = dir.join(format!("out{i}"));
            rewrite(
                &modules,
                &[options, &["-k", &copies.to_string()]].concat(),
                &out,
            );
            let truth = run_copies(&out, &modules, &library, copies, pattern);
            let said = line_ranges(&merge(&out));
            let what = format!("seed {seed}, {fork}, {options:?} {copies} {pattern}");
            let (e, n) = compare(&source, &truth, &said, &what);
            (exact, lines) = (exact + e, lines + n);
        }
    }
    println!("{fork}: {exact} of {lines} counts are exact");
    (exact, lines)
}

#[test]
fn lines_of_random_programs_that_fork_are_within_what_is_said() {
    let (exact, lines) = compare_random_programs(1..=24, FORKS[0], FLAGS);
    assert!(exact * 4 > lines, "{exact} of {lines} counts are exact");
}

/// Paths are counted before they end, and end in front of calls in tail position.
#[test]
fn lines_of_optimised_random_programs_that_fork_are_within_what_is_said() {
    let (exact, lines) = compare_random_programs(1..=12, FORKS[0], &["-O1", "-fno-inline", "-g"]);
    assert!(exact * 5 > lines, "{exact} of {lines} counts are exact");
}

#[test]
fn lines_of_random_programs_whose_forks_are_not_seen_are_within_what_is_said() {
    for (seed, fork) in (1..).step_by(10).zip(&FORKS[1..]) {
        compare_random_programs(seed..=seed + 7, fork, FLAGS);
    }
}

fn prof(arguments: &[&str], file: &Path) -> String {
    let mut command = Command::new(PROF);
    let output = command.args(arguments).arg(file).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).unwrap()
}

/// The annotated sources of a profile, which are in `folder`.
fn annotated(profile: &Path, folder: &Path) -> String {
    let folder = folder.to_str().unwrap();
    prof(&["coverage", "--annotate", "--source-dir", folder], profile)
}

/// The runtime as output folders compile it for a shared C library: it sees that children start no threads.
fn watching_runtime() -> &'static [PathBuf] {
    static OBJECTS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    OBJECTS.get_or_init(|| runtime_with(&["-O2", "-fPIE", "-DP3_DYNAMIC"]))
}

/// The merged profile of a run of a program in one copy.
fn profiled(source: &str, options: &[&str], out: &Path) -> PathBuf {
    let modules = [module(
        "spawn.c",
        source,
        FLAGS,
        &out.with_extension("input"),
    )];
    rewrite(&modules, &[options, &["-k", "1"]].concat(), out);
    let exe = out.join("copy-0.exe");
    link(
        &copy_modules(&modules, out, 0),
        watching_runtime(),
        &["-O0"],
        &exe,
    );
    let mut command = Command::new(&exe);
    command.current_dir(out).stdout(Stdio::null());
    run(command.env("P3_PROFILE_FILE", out.join("raw/%k-%p.p3raw")));
    merge(out)
}

/// The commonest idiom there is. The numbers in comments are the lines.
const SPAWN: &str = r#"#include <unistd.h>
#include <sys/wait.h>
int g;
static int spawn(int quiet) {
  int st;
  pid_t p = fork();
  if (p == 0) {
    g++;                                    // 8
    if (quiet)
      close(1);                             // 10
    execl("/bin/true", "true", (char *)0);  // 11
    g = 7;
    _exit(127);
  }
  waitpid(p, &st, 0);                       // 15
  return st;
}
int main(void) {
  int r = 0;
  for (int i = 0; i < 6; i++)
    r += spawn(i % 2);                      // 21
  return r;
}
"#;

/// The counts of lines in a tracefile.
fn lcov_lines(profile: &Path) -> BTreeMap<u32, u64> {
    let text = prof(&["export", "--format", "lcov"], profile);
    let line = |l: &str| {
        let (line, n) = l.strip_prefix("DA:")?.split_once(',')?;
        Some((line.parse().ok()?, n.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn children_that_exec_leave_exact_counts_and_the_verdict_ok() {
    let dir = crate::support::folder();
    for scheme in ["sbl", "p3-hot"] {
        let out = dir.path().join(scheme);
        let profile = profiled(SPAWN, &["--scheme", scheme], &out);
        let lines = lcov_lines(&profile);
        let of = [6, 7, 8, 9, 10, 11, 15, 21].map(|line| lines[&line]);
        assert_eq!(of, [6, 12, 6, 6, 3, 6, 6, 6], "{scheme}");
        let text = prof(&["verify"], &profile);
        let note =
            "note: forked children: 6, of which 6 did not end normally (exec, _exit, or killed)\n";
        assert!(text.contains(note), "{text}");
        let text = prof(&["show", "--strict"], &profile);
        assert!(text.contains("all exact"), "{text}");
    }
}

/// Every other child is killed, the others end by `_exit`. The numbers in comments are the lines.
const SERVE: &str = r#"#include <signal.h>
#include <unistd.h>
#include <sys/wait.h>
int g;
static void serve(int n) {
  for (int i = 0; i < n; i++) {
    pid_t p = fork();             // 7
    if (p == 0) {
      g++;                        // 9
      if (i % 2)
        kill(getpid(), SIGKILL);  // 11
      _exit(0);                   // 12
    }
    waitpid(p, 0, 0);             // 14
  }
}
int main(void) {
  serve(10);                      // 18
  return 0;                       // 19
}
"#;

#[test]
fn children_that_are_killed_leave_exact_counts() {
    let dir = crate::support::folder();
    let profile = profiled(SERVE, &["--scheme", "sbl"], &dir.path().join("out"));
    let lines = lcov_lines(&profile);
    let of = [7, 8, 9, 11, 12, 14, 18, 19].map(|line| lines[&line]);
    assert_eq!(of, [10, 20, 10, 5, 5, 10, 1, 1]);
    // Where a child was killed is not known: it may have come to line 12 from the condition or from `kill`.
    let lcov = prof(&["export", "--format", "lcov"], &profile);
    assert!(!lcov.contains("BRDA:10,"), "{lcov}");
    let comment = "# serve: a process forked in it: some branches are not certain\n";
    assert!(lcov.contains(comment), "{lcov}");
    let json = prof(&["coverage", "--format", "json"], &profile);
    let outcomes = "\"outcomes\":{\"true\":5},\"at_least\":[\"false\"]";
    assert!(json.contains(outcomes), "{json}");
}

/// The child goes on as a daemon, in the caller too, and the parent exits.
const DAEMON: &str = r#"#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
static int detach(void) {
  pid_t p = fork();
  if (p > 0) {
    wait(0);
    exit(0);                      // 8
  }
  return setsid() < 0;            // 10
}
int main(int argc, char **argv) {
  if (argc > 5)
    return 7;                     // 14
  int r = detach();               // 15
  if (r)
    return 8;                     // 17
  return 0;                       // 18
}
"#;

#[test]
fn daemons_leave_exact_counts() {
    let dir = crate::support::folder();
    let profile = profiled(DAEMON, &["--scheme", "sbl"], &dir.path().join("out"));
    let lines = lcov_lines(&profile);
    let of = [5, 6, 8, 10, 14, 15, 17, 18].map(|line| lines[&line]);
    assert_eq!(of, [1, 2, 1, 1, 0, 1, 0, 1]);
    let text = prof(&["verify"], &profile);
    assert_line(&text, "note: forked children: 1");
    // A library forks.
    let source = DAEMON.replace("int r = detach();", "int r = daemon(1, 1);");
    let profile = profiled(&source, &["--scheme", "sbl"], &dir.path().join("library"));
    let text = prof(&["verify"], &profile);
    assert!(
        text.contains(
            "incomplete: processes that began in the middle, as forked children: 1 of copy 0"
        ),
        "{text}"
    );
}

/// Children that run nothing of the program have no profile.
#[test]
fn spawned_programs_leave_counts_as_they_are() {
    let dir = crate::support::folder();
    let source = r#"#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static int run(void) {
  char *argv[] = {"true", 0};
  pid_t p;
  posix_spawn(&p, "/bin/true", 0, 0, argv, environ);
  waitpid(p, 0, 0);
  FILE *f = popen("true", "r");
  pclose(f);
  return system("true");
}
int main(int argc, char **argv) {
  if (argc > 5)
    return 7;                     // 18
  return run();                   // 19
}
"#;
    let profile = profiled(source, &["--scheme", "sbl"], &dir.path().join("out"));
    let lines = lcov_lines(&profile);
    assert_eq!([11, 13, 18, 19].map(|line| lines[&line]), [1, 1, 0, 1]);
    let text = prof(&["show", "--strict"], &profile);
    let head = "2 paths executed, 2 distinct, in 2 of 2 functions, all exact (sbl, 1 copy)";
    assert_eq!(text.lines().next(), Some(head), "{text}");
}

#[test]
fn code_of_children_that_exec_is_not_said_to_have_never_run() {
    let dir = crate::support::folder();
    for scheme in ["sbl", "p3-hot", "edge"] {
        let out = dir.path().join(scheme);
        let profile = profiled(SPAWN, &["--scheme", scheme], &out);
        let lcov = prof(&["export", "--format", "lcov"], &profile);
        for line in [8, 10, 11] {
            assert!(
                !lcov.contains(&format!("DA:{line},0\n")),
                "{scheme}: {lcov}"
            );
        }
        let input = out.with_extension("input");
        let text = annotated(&profile, &input);
        let conditions = ["p == 0", "quiet"].map(|c| format!("true: {c}"));
        let never = text.lines().filter(|l| l.contains('↳'));
        let never: Vec<&str> = never
            .filter(|l| conditions.iter().any(|c| l.ends_with(c)))
            .collect();
        assert_eq!(never, [""; 0], "{scheme}: {text}");
    }
}

/// The parent ends in the middle of the path on which it forked, and the child goes on behind a call to the end.
#[test]
fn code_behind_a_call_of_a_child_whose_parent_left_is_counted() {
    let source = "#include <stdlib.h>\n#include <unistd.h>\nint main(void) {\n  if (fork())\n    exit(0);\n  \
                  setsid();\n  return 0;\n}\n";
    let dir = crate::support::folder();
    for scheme in ["sbl", "p3-hot"] {
        let out = dir.path().join(scheme);
        let profile = profiled(source, &["--scheme", scheme], &out);
        let lines = lcov_lines(&profile);
        let of = [5, 6, 7].map(|line| lines.get(&line).copied());
        assert_eq!(of, [Some(1), Some(1), Some(1)], "{scheme}");
    }
}

/// [`SPAWN`] with another `call` in place of `fork`, for which it needs what is in `above`.
fn spawn_by(call: &str, above: &str) -> String {
    let source = SPAWN.replace("pid_t p = fork();", &format!("pid_t p = {call};"));
    format!("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <unistd.h>\n{above}\n{source}")
}

/// The number of the first line that contains `what`.
fn line_of(source: &str, what: &str) -> u32 {
    let line = source.lines().position(|l| l.contains(what));
    line.unwrap() as u32 + 1
}

/// Forks that are not seen: through a pointer, by a name at run time, and by what the C library notifies nobody of, so
/// that children count in their parents' files.
const UNSEEN: [(&str, &str); 4] = [
    (
        "by_pointer()",
        "static pid_t (*volatile by_pointer)(void) = fork;",
    ),
    (
        "((named *)dlsym(0, \"fork\"))()",
        "typedef int named(void);",
    ),
    ("syscall(SYS_fork)", "#include <sys/syscall.h>"),
    ("_Fork()", "extern int _Fork(void);"),
];

#[test]
fn no_tracefile_says_never_of_code_behind_a_fork_that_is_not_seen() {
    let dir = crate::support::folder();
    for (i, (call, above)) in UNSEEN.into_iter().enumerate() {
        let source = spawn_by(call, above);
        for scheme in ["sbl", "edge"] {
            let out = dir.path().join(format!("{scheme}{i}"));
            let profile = profiled(&source, &["--scheme", scheme], &out);
            let lcov = prof(&["export", "--format", "lcov"], &profile);
            for comment in ["spawn", "main"]
                .map(|f| format!("# {f}: a process may have forked in it: counts are not certain"))
            {
                assert!(lcov.contains(&comment), "{call}, {scheme}: {lcov}");
            }
            for what in ["g++;", "close(1);", "execl("] {
                let record = format!("DA:{},0\n", line_of(&source, what));
                assert!(!lcov.contains(&record), "{call}, {scheme}: {lcov}");
            }
            let text = prof(&["verify"], &profile);
            assert!(text.contains("incomplete"), "{call}, {scheme}: {text}");
        }
    }
}

/// The same forks, and a function that forks so and did not run.
#[test]
fn forks_that_the_c_library_does_not_notice_are_named_if_they_may_have_run() {
    let dir = crate::support::folder();
    let named = "processes that may count in their parents' files, started by ";
    for (i, name) in [(2, "syscall(SYS_fork)"), (3, "_Fork")] {
        let (call, above) = UNSEEN[i];
        let source = spawn_by(call, above);
        let profile = profiled(&source, &["--scheme", "sbl"], &dir.path().join(name));
        let text = prof(&["verify"], &profile);
        assert!(text.contains(&format!("{named}{name}: use fork")), "{text}");
        let idle = source.replace("i < 6", "i < r");
        let out = dir.path().join(format!("idle{i}"));
        let text = prof(&["verify"], &profiled(&idle, &["--scheme", "sbl"], &out));
        assert!(!text.contains(named), "{text}");
        let other = source.replace(call, "syscall(39)");
        let out = dir.path().join(format!("other{i}"));
        let text = prof(
            &["show", "--strict"],
            &profiled(&other, &["--scheme", "sbl"], &out),
        );
        let head = "13 paths executed, 4 distinct, in 2 of 2 functions, all exact (sbl, 1 copy)";
        assert_eq!(text.lines().next(), Some(head), "{text}");
    }
}

#[test]
fn reports_say_of_which_lines_it_is_not_known_whether_children_ran_them() {
    let dir = crate::support::folder();
    let (call, above) = UNSEEN[0];
    let source = spawn_by(call, above);
    let profile = profiled(&source, &["--scheme", "sbl"], &dir.path().join("out"));
    let (first, last) = (line_of(&source, "g++;"), line_of(&source, "_exit(127)"));
    let text = prof(&["coverage"], &profile);
    let row = "100.00%         –  25.00%      1   3  spawn  spawn.c: may have run";
    assert_line(&text, &format!("{row} {first}-{last}"));
    let more = [
        "6 more lines and 4 more outcomes of branches may have run, in activations that were forked or left:",
        "no number here counts them",
    ];
    assert_lines(&text, &more);
    let json = prof(&["coverage", "--format", "json"], &profile);
    let lines: Vec<String> = (first..=last).map(|n| n.to_string()).collect();
    let lines = format!("\"unknown_lines\":[{}]", lines.join(","));
    assert!(json.contains(&lines), "{json}");
    let gate = |least: &str| {
        let measure = ["coverage", "--measure", "lines", "--fail-under", least];
        prof(&measure, &profile)
    };
    let fails = "of lines ran for certain, less than --fail-under 95; 6 more may have run";
    assert!(gate("95").contains(fails), "{}", gate("95"));
    assert!(!gate("50").contains("less than"), "{}", gate("50"));
    let diff = dir.path().join("p.diff");
    let line = source.lines().nth(first as usize - 1).unwrap();
    let hunk = format!(
        "--- a/spawn.c\n+++ b/spawn.c\n@@ -{},0 +{first},1 @@\n+{line}\n",
        first - 1
    );
    std::fs::write(&diff, hunk).unwrap();
    let text = prof(&["coverage", "--patch", diff.to_str().unwrap()], &profile);
    let patch = [
        "the patch adds or changes 1 line: 1 with code, of which 0 ran and 1 may have run; other paths are",
        "left out here",
    ];
    assert_lines(&text, &patch);
    let row =
        "    –         –  0.00%      0   2  spawn  spawn.c (none was completed): may have run";
    assert_line(&text, &format!("{row} {first}"));
    let input = dir.path().join("input");
    let text = annotated(&profile, &input);
    let marked = text.lines().filter(|l| l.trim_start().starts_with("? "));
    assert_eq!(marked.count(), 6, "{text}");
    assert_eq!(text.matches('↳').count(), 0, "{text}");
    let text = prof(&["export", "--format", "dot"], &profile);
    let blocks = text
        .lines()
        .filter(|l| l.contains(r#"\nnot known" style=dotted color=gray"#));
    let blocks: Vec<&str> = blocks.filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(blocks, ["1", "2", "3"], "{text}");
}

/// Counters of edges do not tell what children ran: their profile stays incomplete.
#[test]
fn children_of_programs_whose_edges_are_counted_are_no_note() {
    let dir = crate::support::folder();
    let profile = profiled(SPAWN, &["--scheme", "edge"], &dir.path().join("edge"));
    let text = prof(&["verify"], &profile);
    assert!(
        text.contains("incomplete") && !text.contains("note: forked"),
        "{text}"
    );
}

/// A program that ends in the middle of functions, each way by its argument. `get` dies in its only block, and has
/// counted no entry. The numbers in comments are the lines.
const ENDS: &str = r#"#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int work(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += i % 3;                   // 8
  return s;
}
static int get(int *p) { return *p + 1; }
static int unused(int n) {
  return n + 2;                   // 13
}
static int other(int n) {
  return n + 3;                   // 16
}
int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int s = argc > 9 ? unused(1) : 0; // 20
  s += work(5);
  if (!strcmp(how, "exec"))
    execl("/bin/true", "true", (char *)0);
  if (!strcmp(how, "_exit"))
    _exit(0);
  if (!strcmp(how, "kill"))
    raise(SIGKILL);
  if (!strcmp(how, "crash"))
    s += get((int *)8);           // 29
  if (!strcmp(how, "other"))
    raise(other(0));
  return s & 1;
}
"#;

/// The merged profile of a run of `ENDS` in so many copies, with this argument.
fn ended(how: &str, copies: u32, out: &Path) -> PathBuf {
    let modules = [module("ends.c", ENDS, FLAGS, &out.with_extension("input"))];
    let k = copies.to_string();
    rewrite(&modules, &["--scheme", "p3", "-k", &k], out);
    for copy in 0..copies {
        let exe = out.join(format!("copy-{copy}.exe"));
        link(
            &copy_modules(&modules, out, copy),
            watching_runtime(),
            &["-O0"],
            &exe,
        );
        let mut command = Command::new(&exe);
        command.current_dir(out).arg(how).stdout(Stdio::null());
        command.env("P3_PROFILE_FILE", out.join("raw/%k-%p.p3raw"));
        command.status().unwrap();
    }
    merge(out)
}

/// What it completed is counted, and which counts are bounds is said; where several copies count, they may have ended
/// at different moments.
#[test]
fn process_that_execs_exits_or_is_killed_is_ok_in_one_copy_and_incomplete_in_two() {
    let dir = crate::support::folder();
    for how in ["exec", "_exit", "kill", "crash"] {
        let profile = ended(how, 1, &dir.path().join(how));
        let text = prof(&["verify", "--strict"], &profile);
        let note = "note: processes that did not end normally (killed, _exit, exec, threads left behind, or still \
                    running): 1; the paths that they were on are not counted";
        assert!(text.contains(note), "{how}: {text}");
        let lines = lcov_lines(&profile);
        assert_eq!(lines[&8], 5, "{how}");
        assert_ne!(lines.get(&21), Some(&0), "{how}");
    }
    let profile = ended("kill", 2, &dir.path().join("two"));
    let said = prof(&["verify", "--strict"], &profile);
    assert!(
        said.contains("incomplete: processes that did not end normally"),
        "{said}"
    );
}

/// A function that counts no entries may have been under way: what called it was left.
#[test]
fn function_that_a_killed_process_may_have_been_in_is_not_said_to_have_never_run() {
    let dir = crate::support::folder();
    let out = dir.path().join("out");
    let profile = ended("crash", 1, &out);
    let text = annotated(&profile, &out.with_extension("input"));
    for line in [11, 13, 20, 29] {
        let source = ENDS.lines().nth(line - 1).unwrap();
        let row = text.lines().find(|l| l.ends_with(source)).unwrap();
        assert!(!row.contains("never"), "{row}");
    }
    // It ended normally: nothing was under way.
    let out = dir.path().join("ended");
    let profile = ended("", 1, &out);
    let text = annotated(&profile, &out.with_extension("input"));
    let row = text.lines().find(|l| l.contains("// 13")).unwrap();
    assert!(row.trim_start().starts_with("never"), "{row}");
    assert!(prof(&["verify"], &profile).contains(", 0 violations\n"));
}
