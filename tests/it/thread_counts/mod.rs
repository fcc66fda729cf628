//! Programs with threads against their own truth: `testdata/threads/truth.h` has each thread count in a slot of its own
//! what the profile counts as well, and every path's count is compared.
//!
//! [`UPDATE`] says how all of them are rewritten; `P3_UPDATE=single cargo test --test it thread_counts::` tries another
//! way without a change. With `P3_THREADS_LONG=1` there are more threads and more rounds (`make test-threads-long`).
//! With `P3_TARGET=aarch64` or `riscv64` programs are compiled for that processor and run under qemu (`make cross`).

mod early;
mod kills;
mod languages;
mod libraries;
mod links;
mod names;
mod process;
mod schemes;
mod truth;
mod ways;

use crate::build::{command, rewrite};
use crate::support::{Made, PROF, clang, folder, objects_folder, parsed, project, run};
use p3_rewrite::profile::measurement::{Exact, Measurement};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use truth::Truth;

/// How increments are made, unless `P3_UPDATE` says otherwise.
const UPDATE: &str = "auto";

/// Ways that may lose counts of threads: then a profile with a wrong count must not be `ok`.
const LOSING: [&str; 1] = ["single"];

/// The processor that programs run on, if it is not this one.
fn target() -> Option<String> {
    std::env::var("P3_TARGET").ok()
}

/// What children of `fork` do: qemu-user cannot start threads in them.
fn children() -> &'static str {
    target().map_or("", |_| "alone")
}

/// What a compiler has to know of the target. (Debian 12's linker for RISC-V does not read DWARF 5.)
fn target_options() -> Vec<String> {
    let options = |t: String| [format!("--target={t}-linux-gnu"), "-gdwarf-4".into()];
    target().map_or(vec![], |t| options(t).into())
}

/// What runs programs of the target.
fn runner() -> Vec<String> {
    let words = |t| {
        [
            format!("qemu-{t}"),
            "-L".into(),
            format!("/usr/{t}-linux-gnu"),
        ]
    };
    target().map_or(vec![], |t| words(t).into())
}

fn update() -> String {
    std::env::var("P3_UPDATE").unwrap_or(UPDATE.into())
}

fn is_exact() -> bool {
    !LOSING.contains(&update().as_str())
}

/// A number of threads or rounds; the second where there is time for more.
fn size(short: u64, long: u64) -> u64 {
    let is_long = std::env::var("P3_THREADS_LONG").is_ok_and(|l| l != "0" && !l.is_empty());
    if is_long { long } else { short }
}

/// By path: `step entry true,false exit`. The paths of `many` have no names: `many #7` is the eighth of their counts by
/// size, `many` is the sum.
type Counts = BTreeMap<String, u64>;

/// Programs that were built by one command, with the sources of `testdata/threads` at hand.
#[derive(Clone)]
struct Built {
    dir: PathBuf,
}

impl Built {
    /// By `p3-rewrite build`, in which `line` compiles and links.
    fn new(options: &[&str], line: &str) -> Built {
        let words = target_options().join(" ");
        let line = &format!("CC=\"$CC {words}\" CXX=\"$CXX {words}\"\n{line}");
        Built::once(options, line, |dir, options| {
            let all = [
                &["build", "-q", "-o", "p3"],
                options,
                &["--", "sh", "-ec", line],
            ];
            rewrite(dir, &all.concat());
        })
    }

    /// The program of the most modes by `p3-rewrite`, which has options that a build has not, and `make`.
    fn by_make(options: &[&str]) -> Built {
        Built::once(options, "make", |dir, options| {
            let compile = ["-O1", "-g", "-emit-llvm", "-c", "ways.c", "-o", "ways.bc"];
            let targets = target_options();
            run(command(clang(), dir).args(compile).args(&targets));
            let out = ["ways.bc", "-q", "-o", "p3/ways.p3"];
            rewrite(dir, &[&out, options].concat());
            let compiler = format!("CC={} {}", clang(), targets.join(" "));
            let make = ["-s", "-C", "p3/ways.p3", "all", compiler.trim()];
            run(command("make", dir).args(make).env("P3_PROF", PROF));
            std::os::unix::fs::symlink("p3/ways.p3/bin/copy-0", dir.join("ways")).unwrap();
        })
    }

    /// Once for all tests of a process; `build` is given a folder with all sources, and the options.
    fn once(options: &[&str], line: &str, build: impl FnOnce(&Path, &[&str])) -> Built {
        static BUILT: Made<Built> = Made::new();
        let update = update();
        let options = [&["--update", &update], options].concat();
        BUILT.get(&format!("{options:?} {line}"), || {
            let dir = tempfile::tempdir_in(objects_folder()).unwrap().keep();
            for source in project("testdata/threads").read_dir().unwrap() {
                let source = source.unwrap();
                std::fs::copy(source.path(), dir.join(source.file_name())).unwrap();
            }
            build(&dir, &options);
            Built { dir }
        })
    }

    /// The program of the most modes, in one copy that counts all paths.
    fn ways() -> Built {
        Built::new(&["-k", "1", "--scheme", "sbl"], "$CC -O1 -g ways.c -o ways")
    }

    fn out(&self, program: &str) -> PathBuf {
        self.dir.join(format!("p3/{program}.p3"))
    }
}

/// Where one program runs, once or more often: its raw profiles and its truth.
struct Session<'a> {
    built: &'a Built,
    program: &'static str,
    dir: TempDir,
}

impl<'a> Session<'a> {
    fn new(built: &'a Built, program: &'static str) -> Session<'a> {
        let dir = folder();
        Session {
            built,
            program,
            dir,
        }
    }

    /// A session in which the program runs once, and everything is exact.
    #[track_caller]
    fn run_and_check(built: &'a Built, program: &'static str, arguments: &str) -> Session<'a> {
        let session = Session::new(built, program);
        session.run(arguments);
        session.check(&format!("{program} {arguments}"));
        session
    }

    fn raw(&self) -> PathBuf {
        self.dir.path().join("raw")
    }

    fn truth(&self) -> Truth {
        Truth::read(&self.dir.path().join("truth"))
    }

    /// The program, or what is to start it.
    fn command(&self, before: &[&str], arguments: &str) -> Command {
        self.command_of(&self.built.dir.join(self.program), before, arguments)
    }

    fn command_of(&self, exe: &Path, before: &[&str], arguments: &str) -> Command {
        let (before, runner) = (before.iter().map(PathBuf::from), runner());
        let before = before.chain(runner.iter().map(PathBuf::from));
        let mut words = before.chain([exe.to_path_buf()]);
        let mut command = command(words.next().unwrap(), self.dir.path());
        command.args(words).args(arguments.split_whitespace());
        command.env("P3_PROFILE_FILE", self.raw().join("%k-%p.p3raw"));
        command.env("TRUTH", self.dir.path().join("truth"));
        command.stdin(Stdio::null());
        command
    }

    /// Runs it to a normal end; nothing is said on stderr.
    #[track_caller]
    fn run(&self, arguments: &str) {
        assert_quiet(&self.command(&[], arguments).output().unwrap(), arguments);
    }

    /// What raw profiles say, by program: of all files, or of these.
    #[track_caller]
    fn merge(&self, files: &[PathBuf]) -> BTreeMap<String, Profile> {
        let merged = self.dir.path().join("merged");
        let _ = std::fs::remove_dir_all(&merged);
        std::fs::create_dir(&merged).unwrap();
        let one = merged.join("one.p3prof");
        let manifests = self.built.dir.join("p3");
        let is_one = programs(&manifests).len() == 1;
        let mut merge = Command::new(PROF);
        merge.args(["merge", "-m"]).arg(&manifests);
        merge.arg("-o").arg(if is_one { &one } else { &merged });
        // Contradictions are for the verdict to say.
        merge.args(["--failure-mode", "warn"]);
        if files.is_empty() {
            merge.arg(self.raw());
        }
        run(merge.args(files));
        let profile = |file: PathBuf| {
            let name = file.file_stem().unwrap().to_str().unwrap();
            let name = if is_one { self.program } else { name };
            (name.to_string(), Profile::read(&file))
        };
        let files = merged.read_dir().unwrap().map(|e| e.unwrap().path());
        files.map(profile).collect()
    }

    /// Merges all raw profiles to this file.
    #[track_caller]
    fn merge_to(&self, file: &str) {
        let mut merge = command(PROF, self.dir.path());
        merge
            .arg("merge")
            .arg("-m")
            .arg(self.built.out(self.program));
        run(merge.args(["-o", file]).arg(self.raw()));
    }

    #[track_caller]
    fn profile(&self) -> Profile {
        self.merge(&[]).remove(self.program).unwrap()
    }

    /// The profile is equal to the truth of the slots that are not a library's.
    #[track_caller]
    fn check(&self, what: &str) {
        assert_exact(&self.profile(), &self.truth().counts(), what);
    }
}

/// What is known of one program.
struct Profile {
    counts: Counts,
    verdict: String,
    why: Vec<String>,
}

impl Profile {
    fn read(file: &Path) -> Profile {
        let mut show = Command::new(PROF);
        show.args(["show", "--format", "json", "--function", "^(step|walk)\\b"]);
        let shown = parsed(&run(show.arg(file)).stdout);
        let mut counts = Counts::new();
        for f in shown["functions"].as_array().unwrap() {
            for p in f["paths"].as_array().unwrap() {
                let key = path_key(&f["readable"], p);
                *counts.entry(key).or_default() += p["count"].as_u64().unwrap();
            }
        }
        counts.extend(counts_of_many(file));
        let program = &shown["program"];
        let texts = |key: &str| {
            let all = program[key].as_array().into_iter().flatten();
            all.map(|v| v.to_string()).collect::<Vec<_>>()
        };
        Profile {
            counts,
            verdict: program["verdict"].as_str().unwrap().into(),
            why: [
                texts("incomplete"),
                texts("violations"),
                texts("differing_copies"),
            ]
            .concat(),
        }
    }

    fn lost_by_threads(&self) -> bool {
        self.why.iter().any(|w| w.contains("counts may be lost"))
    }
}

fn path_key(function: &Value, path: &Value) -> String {
    let decisions = path["decisions"].as_array().unwrap().iter();
    let outcomes = decisions.map(|d| d["outcome"].as_str().unwrap_or("?"));
    // A sanitizer's own checks are no conditions of the source.
    let outcomes: Vec<&str> = outcomes.filter(|o| *o != "unknown").collect();
    let word = |v: &Value| v.as_str().unwrap().to_string();
    let name = word(function);
    let name = name.split('(').next().unwrap();
    let (starts, ends) = (word(&path["starts"]), word(&path["ends"]));
    format!("{name} {starts} {} {ends}", outcomes.join(","))
}

/// Without the decisions of 8,192 paths, which are long to print.
fn counts_of_many(file: &Path) -> Counts {
    let profile = p3_rewrite::profile::Profile::read(file).unwrap();
    let Measurement::Exact(Exact::Paths(counts)) = &profile.measured else {
        return Counts::new();
    };
    let functions = profile.functions().filter(|f| profile.name(*f) == "many");
    let counts = functions.flat_map(|f| counts[f].iter().map(|(_, n)| *n));
    truth::rows_of_many(counts)
}

/// Every count is as the program says, and the verdict is `ok`.
#[track_caller]
fn assert_exact(profile: &Profile, truth: &Counts, what: &str) {
    assert_equal(profile, truth, what);
    if is_exact() {
        assert_eq!((&*profile.verdict, &profile.why), ("ok", &vec![]), "{what}");
    }
}

/// Every count is as the program says, whatever else is not known of its processes; of increments that lose, what is
/// wrong is not `ok`.
#[track_caller]
fn assert_equal(profile: &Profile, truth: &Counts, what: &str) {
    assert!(!truth.is_empty(), "{what}: nothing ran");
    if is_exact() {
        assert_eq!(&profile.counts, truth, "{what}: profile, truth");
        assert!(!profile.lost_by_threads(), "{what}: {:?}", profile.why);
        return;
    }
    let is_equal = &profile.counts == truth;
    let sum = |counts: &Counts| counts.values().sum::<u64>() as f64;
    let lost = 100.0 * (1.0 - sum(&profile.counts) / sum(truth));
    eprintln!(
        "{what}: {lost:.4} % lost, equal: {is_equal}, {}",
        profile.verdict
    );
    assert!(
        is_equal || profile.verdict != "ok",
        "{what}: {lost} % lost, and ok"
    );
}

/// Where threads are ended wherever they are: at most what each of them had begun is counted besides.
#[track_caller]
fn assert_between(profile: &Profile, least: &Counts, most: &Counts, threads: u64, what: &str) {
    if !is_exact() {
        let lost = least
            .iter()
            .any(|(k, n)| profile.counts.get(k).is_none_or(|c| c < n));
        eprintln!("{what}: lost: {lost}, {}", profile.verdict);
        assert!(!lost || profile.verdict != "ok", "{what}: lost, and ok");
        return;
    }
    assert!(!profile.lost_by_threads(), "{what}: {:?}", profile.why);
    let keys = profile.counts.keys().chain(least.keys());
    let keys = keys.filter(|k| !k.contains('#'));
    for key in keys {
        let of = |counts: &Counts| counts.get(key).copied().unwrap_or(0);
        // A call of `walk` is written down when it is over: five iterations, of two kinds.
        let begun = if key.starts_with("walk") && key.ends_with("back") {
            3
        } else {
            1
        };
        let (n, allowed) = (of(&profile.counts), of(least)..=of(most) + begun * threads);
        assert!(
            allowed.contains(&n),
            "{what}: {key}: {n}, not in {allowed:?}"
        );
    }
}

#[track_caller]
fn assert_quiet(output: &Output, what: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.is_empty(),
        "{what}: {}: {stderr}",
        output.status
    );
}

/// The programs of a build, by their folders.
fn programs(out: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(out).max_depth(2).into_iter();
    let all = all.map(|e| e.unwrap().into_path());
    all.filter(|p| p.join("manifest.json").is_file()).collect()
}
