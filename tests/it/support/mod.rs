//! What the integration tests share: compiling, rewriting, linking, running, merging.
#![allow(dead_code)]

mod codegen;
pub(crate) mod driver;
pub(crate) mod edges;
pub(crate) mod generate;
mod linker;
pub(crate) mod normal;
pub(crate) mod peers;
pub(crate) mod questions;
pub(crate) mod text;
pub(crate) mod trace;

use clap::Parser;
pub(crate) use codegen::accepted_text;
use p3_rewrite::base::llvm::{self, LINKED, VERSIONS};
use p3_rewrite::cli::rewrite::Args;
use p3_rewrite::copies::strategy::{Method, Scheme};
use p3_rewrite::profile::Profile;
use p3_rewrite::project::Language;
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use walkdir::WalkDir;

pub(crate) const REWRITE: &str = env!("CARGO_BIN_EXE_p3-rewrite");
pub(crate) const PROF: &str = env!("CARGO_BIN_EXE_p3-prof");

/// The schemes whose profiles hold counts, and no estimates.
pub(crate) fn exact_schemes() -> impl Iterator<Item = &'static Scheme> {
    let all = Scheme::ALL.iter();
    all.filter(|s| {
        let strategy = s.strategy();
        strategy.measure.is_exact() && strategy.method != Method::Trace
    })
}

/// Every scheme of the table whose profiles are exact, with `copies` copies or as many as are of use to it.
pub(crate) fn schemes(copies: u32) -> impl Iterator<Item = (Scheme, u32)> {
    let schemes = exact_schemes();
    schemes.map(move |s| (*s, s.strategy().copies(copies)))
}

/// A file of the project.
pub(crate) fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A tool of the LLVM that these tests are compiled with.
pub(crate) fn llvm(tool: &str) -> PathBuf {
    let mut versions = VERSIONS.into_iter();
    let version = versions.find(|v| v.major == LINKED).expect("it has a row");
    match std::env::var(version.prefix) {
        Ok(prefix) => Path::new(&prefix).join("bin").join(tool),
        Err(_) => llvm::tool_in_prefix(tool, LINKED).into(),
    }
}

/// A module as text.
pub(crate) fn disassemble(module: &Path) -> String {
    let text = run(Command::new(llvm("llvm-dis")).arg(module).args(["-o", "-"]));
    String::from_utf8(text.stdout).unwrap()
}

/// The clang of that LLVM, by its name in `PATH`.
pub(crate) fn clang() -> String {
    llvm::tool("clang", LINKED)
}

/// Where a program of the path is: each start of one by its name tries all folders before it.
pub(crate) fn tool(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    places.find(|p| p.exists()).unwrap_or(name.into())
}

/// An empty folder, deleted when it goes out of scope: in memory where there is enough, since a rewritten program is a
/// hundred files.
pub(crate) fn folder() -> TempDir {
    static IN_MEMORY: OnceLock<Option<&Path>> = OnceLock::new();
    let base = IN_MEMORY.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let room = rustix::fs::statvfs(memory).ok()?;
        let enough = room.f_bavail * room.f_frsize >= 4 << 30;
        (enough && tempfile::tempdir_in(memory).is_ok()).then_some(memory)
    });
    let made = match base {
        Some(memory) => tempfile::tempdir_in(memory),
        None => tempfile::tempdir(),
    };
    made.unwrap()
}

/// A copy of a project of the repository, in a folder of its own.
pub(crate) fn copy_project(name: &str) -> TempDir {
    let (dir, from) = (folder(), project(name));
    for entry in WalkDir::new(&from).min_depth(1) {
        let entry = entry.unwrap();
        let to = dir.path().join(entry.path().strip_prefix(&from).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir(to).unwrap();
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
    dir
}

/// A shell that may mount what no other process sees. Arguments that are added are `$0` and so on.
pub(crate) fn shell_with_mounts(script: &str) -> Command {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    unshare
}

/// Runs a command that must succeed.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{stderr}",
        output.status
    );
    output
}

/// JSON as what it holds. Large profiles are: this is the one way to have it parsed by code of serde_json's own, which
/// is optimised, and not by what a crate without optimisation makes of its generic functions.
#[track_caller]
/// Waits for `condition`, two minutes at most: far longer than a loaded machine takes. Whether it came true.
pub(crate) fn wait_until(mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        if condition() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The ids of all processes whose program is `path`, or is below it.
pub(crate) fn processes_of(path: &Path) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().map(|e| e.unwrap());
    let is_meant = |exe: PathBuf| exe.starts_with(path);
    all.filter(|p| std::fs::read_link(p.path().join("exe")).is_ok_and(is_meant))
        .filter_map(|p| p.file_name().to_str()?.parse().ok())
        .collect()
}

pub(crate) fn parsed(json: &[u8]) -> Value {
    std::str::from_utf8(json).unwrap().parse().unwrap()
}

pub(crate) fn json(file: &Path) -> Value {
    parsed(&std::fs::read(file).unwrap())
}

/// The names of the modules in an output folder's manifest.
pub(crate) fn modules(out: &Path) -> Vec<String> {
    let manifest = json(&out.join("manifest.json"));
    let modules = manifest["modules"].as_array().unwrap();
    modules
        .iter()
        .map(|m| m["name"].as_str().unwrap().to_string())
        .collect()
}

/// A test program: sources in `testdata/programs`, all modules of `NAME` or `NAME/*`.
pub(crate) fn sources(name: &str) -> Vec<PathBuf> {
    let folder = project("testdata/programs");
    let many = folder.join(name);
    if many.is_dir() {
        let mut files: Vec<_> = many
            .read_dir()
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        files.sort();
        return files;
    }
    let file = |extension: &&&str| folder.join(format!("{name}.{extension}")).exists();
    let extension = ["c", "cpp", "ll"]
        .iter()
        .find(file)
        .expect("the program is there");
    vec![folder.join(format!("{name}.{extension}"))]
}

/// Compiles a program's sources to bitcode below `dir`; the modules.
#[track_caller]
pub(crate) fn compile(name: &str, flags: &[&str], dir: &Path) -> Vec<PathBuf> {
    static COMPILED: Made<Vec<u8>> = Made::new();
    std::fs::create_dir_all(dir).unwrap();
    let compile = |source: &PathBuf| {
        let stem = source.file_stem().unwrap().to_str().unwrap();
        let out = dir.join(format!("{stem}.bc"));
        let what = format!("{} {flags:?}", source.display());
        let bitcode = COMPILED.get(&what, || {
            compile_one(source, flags, &out);
            std::fs::read(&out).unwrap()
        });
        std::fs::write(&out, bitcode).unwrap();
        out
    };
    sources(name).iter().map(compile).collect()
}

#[track_caller]
fn compile_one(source: &Path, flags: &[&str], out: &Path) {
    if source.extension().is_some_and(|e| e == "ll") {
        run(Command::new(llvm("llvm-as")).arg(source).arg("-o").arg(out));
        return;
    }
    let mut clang = Command::new(llvm("clang"));
    clang.arg("-I").arg(project("testdata/include"));
    if source.extension().is_some_and(|e| e == "cpp") {
        clang.arg("-std=c++20");
    }
    clang.args(flags).args(["-w", "-c", "-emit-llvm"]);
    run(clang.arg(source).arg("-o").arg(out));
}

/// Compiles a program, links and runs it as it is below `dir`: its modules, and what every copy must do.
#[track_caller]
pub(crate) fn original(
    name: &str,
    flags: &[&str],
    linking: &[&str],
    dir: &Path,
) -> (Vec<PathBuf>, Behaviour) {
    let modules = compile(name, flags, &dir.join("input"));
    let exe = dir.join("native.exe");
    link(&modules, &[], linking, &exe);
    let behaviour = execute(&exe, &dir.join("native"));
    (modules, behaviour)
}

/// What tests of this process have made once for all of them, by name: who asks first makes it, others wait.
pub(crate) struct Made<T>(Mutex<BTreeMap<String, Arc<OnceLock<T>>>>);

impl<T: Clone> Made<T> {
    pub(crate) const fn new() -> Self {
        Made(Mutex::new(BTreeMap::new()))
    }

    pub(crate) fn get(&self, name: &str, make: impl FnOnce() -> T) -> T {
        let mut all = self.0.lock().unwrap();
        let cell = all.entry(name.into()).or_default().clone();
        drop(all);
        cell.get_or_init(make).clone()
    }
}

/// The sources of the C runtime.
pub(crate) fn runtime_sources() -> Vec<PathBuf> {
    let folders = RUNTIME_FOLDERS
        .iter()
        .flat_map(|f| project(f).read_dir().unwrap());
    let mut files: Vec<PathBuf> = folders.map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "c"));
    files.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    files
}

/// Where they are; output folders have them in one.
const RUNTIME_FOLDERS: [&str; 3] = ["runtime-c/core", "runtime-c/sampling", "runtime-c/shadow"];

/// Options by which compilers find the headers of the C runtime.
pub(crate) fn runtime_headers() -> Vec<String> {
    let folders = RUNTIME_FOLDERS.iter().chain(&["runtime-c"]);
    folders
        .map(|f| format!("-I{}", project(f).display()))
        .collect()
}

/// The compiled C runtime as one object, which takes less time to link than its files do.
pub(crate) fn runtime() -> &'static [PathBuf] {
    static OBJECT: OnceLock<Vec<PathBuf>> = OnceLock::new();
    OBJECT.get_or_init(|| {
        let whole = objects_folder().join("runtime.o");
        let mut cc = Command::new("cc");
        run(cc
            .args(["-r", "-nostdlib", "-o"])
            .arg(&whole)
            .args(runtime_files()));
        vec![whole]
    })
}

/// The compiled C runtime, by file, as people link it.
pub(crate) fn runtime_files() -> &'static [PathBuf] {
    static OBJECTS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    OBJECTS.get_or_init(|| runtime_with(&["-O2", "-fPIC"]))
}

/// The C runtime, by file, compiled with these flags: none of it may draw a warning.
pub(crate) fn runtime_with(flags: &[&str]) -> Vec<PathBuf> {
    static SETS: Made<Vec<PathBuf>> = Made::new();
    let name = flags.concat();
    SETS.get(&name, || {
        let folder = objects_folder().join(&name);
        std::fs::create_dir_all(&folder).unwrap();
        let headers = runtime_headers();
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let flags = [&headers, &WARNINGS[..], flags].concat();
        let files = runtime_sources();
        let compiled = files.par_iter().map(|f| object(f, &flags, &folder));
        compiled.collect()
    })
}

/// What compilers are asked to say of the C runtime.
pub(crate) const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The compiled tracer of the trace oracle.
pub(crate) fn tracer() -> &'static [PathBuf] {
    static OBJECTS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    OBJECTS.get_or_init(|| {
        let source = project("tests/it/support/tracer.c");
        vec![object(&source, &["-O2", "-fPIC"], objects_folder())]
    })
}

/// Where what all tests of this process link is made. What processes left that are gone is deleted.
pub(crate) fn objects_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let all = Path::new(env!("CARGO_TARGET_TMPDIR"));
        for other in all.read_dir().unwrap().map(|e| e.unwrap()) {
            let name = other.file_name().into_string().unwrap();
            let pid: Option<u32> = name.parse().ok();
            if pid.is_some() && !Path::new("/proc").join(name).exists() {
                // Another process may delete it at the same time.
                let _ = std::fs::remove_dir_all(other.path());
            }
        }
        let own = all.join(std::process::id().to_string());
        std::fs::create_dir_all(&own).unwrap();
        own
    })
}

fn object(file: &Path, flags: &[&str], folder: &Path) -> PathBuf {
    let object = folder.join(file.file_stem().unwrap()).with_extension("o");
    let mut clang = Command::new(llvm("clang"));
    clang.args(["-std=c11", "-c"]).args(flags);
    run(clang.arg(file).arg("-o").arg(&object));
    object
}

/// Links modules and objects to an executable. With one flag that says how to optimise, modules are compiled within
/// this process.
#[track_caller]
pub(crate) fn link(modules: &[PathBuf], objects: &[PathBuf], flags: &[&str], exe: &Path) {
    if let [level @ ("-O0" | "-O1" | "-O2")] = flags {
        let object = |i: usize| exe.with_extension(format!("{i}.o"));
        let compiled: Vec<PathBuf> = (0..modules.len()).map(object).collect();
        let each = modules.iter().zip(&compiled);
        let languages: Vec<Language> = each.map(|(m, o)| codegen::compile(m, level, o)).collect();
        let cxx = languages.into_iter().find(|l| *l == Language::Cxx);
        let language = cxx.unwrap_or(Language::C);
        linker::link(&[&compiled, objects].concat(), language, exe);
        return;
    }
    let mut clang = Command::new(llvm("clang++"));
    clang.args(flags).args(["-Wno-override-module", "-w"]);
    // With -x the languages of all files must be said.
    if !modules.is_empty() {
        clang.args(["-x", "ir"]).args(modules).args(["-x", "none"]);
    }
    clang.args(objects);
    run(clang.args(["-lm", "-pthread", "-o"]).arg(exe));
}

/// What a program did: what it printed and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Behaviour {
    pub stdout: String,
    pub status: String,
}

/// Runs `exe` in `dir`, with raw profiles going to `dir/raw`.
pub(crate) fn execute(exe: &Path, dir: &Path) -> Behaviour {
    std::fs::create_dir_all(dir).unwrap();
    let output = Command::new(exe)
        .current_dir(dir)
        .env("P3_PROFILE_FILE", dir.join("raw/%k-%p.p3raw"))
        .env("P3_TRACE_FILE", dir.join("trace"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "",
        "{} wrote to stderr",
        exe.display()
    );
    Behaviour {
        stdout: String::from_utf8_lossy(&output.stdout).into(),
        status: output.status.to_string(),
    }
}

/// Rewrites as `p3-rewrite MODULES OPTIONS --check -q -o OUT` does, which must succeed, within this process: LLVM is
/// loaded.
#[track_caller]
pub(crate) fn rewrite(modules: &[PathBuf], options: &[&str], out: &Path) {
    let words = modules.iter().map(|m| m.as_os_str());
    let words = words.chain(options.iter().map(|o| o.as_ref()));
    let last = ["--check", "-q", "-o"].map(AsRef::<OsStr>::as_ref);
    let words: Vec<&OsStr> = words.chain(last).chain([out.as_os_str()]).collect();
    rewrite_here(&words).unwrap_or_else(|e| panic!("{words:?}: {e}"));
}

/// `p3-rewrite` with these arguments, within this process.
pub(crate) fn rewrite_here(words: &[&OsStr]) -> Result<(), String> {
    let program: [&OsStr; 1] = ["p3-rewrite".as_ref()];
    let asked = Args::try_parse_from(program.iter().chain(words)).map(Args::resolve);
    let options = asked.map_err(|e| e.to_string())?;
    let done = options.and_then(|options| p3_rewrite::rewrite(&options));
    done.map(drop).map_err(|e| e.to_string())
}

/// The modules of one copy, by the manifest's order of names.
pub(crate) fn copy_modules(modules: &[PathBuf], out: &Path, copy: u32) -> Vec<PathBuf> {
    let manifest = json(&out.join("manifest.json"));
    let names = manifest["modules"].as_array().unwrap();
    let file = |m: &PathBuf| {
        let name = m.file_name().unwrap().to_str().unwrap();
        let at = names.iter().position(|n| n["name"] == name).unwrap();
        out.join(format!("copy-{copy}/m{at}.bc"))
    };
    modules.iter().map(file).collect()
}

/// What one copy counts that counts all paths.
#[track_caller]
pub(crate) fn whole_profile(modules: &[PathBuf], expected: &Behaviour, dir: &Path) -> Profile {
    let whole = profile(modules, &["--scheme", "sbl"], 1, &["-O1"], expected, dir);
    Profile::read(&whole).unwrap()
}

/// The merged profile, in `dir/out`, of a program that behaves in its `copies` as it does natively.
#[track_caller]
pub(crate) fn run_and_profile(
    modules: &[PathBuf],
    options: &[&str],
    copies: u32,
    flags: &[&str],
    dir: &Path,
) -> PathBuf {
    let exe = dir.join("native");
    link(modules, &[], flags, &exe);
    let expected = execute(&exe, &dir.join("once"));
    let out = dir.join("out");
    profile(modules, options, copies, flags, &expected, &out)
}

/// Rewrites into `copies`, links and runs each, checks that all behave as `expected`, merges
/// their profiles, verifies; the merged profile.
#[track_caller]
pub(crate) fn profile(
    modules: &[PathBuf],
    options: &[&str],
    copies: u32,
    flags: &[&str],
    expected: &Behaviour,
    dir: &Path,
) -> PathBuf {
    profile_with(modules, &[], options, copies, flags, expected, dir).unwrap()
}

/// The same with more objects to link; what is wrong, if something is.
pub(crate) fn profile_with(
    modules: &[PathBuf],
    objects: &[PathBuf],
    options: &[&str],
    copies: u32,
    flags: &[&str],
    expected: &Behaviour,
    dir: &Path,
) -> Result<PathBuf, String> {
    let k = copies.to_string();
    let options: Vec<&str> = options.iter().copied().chain(["-k", &k]).collect();
    rewrite(modules, &options, dir);
    let objects = [runtime(), objects].concat();
    for c in 0..copies {
        let exe = dir.join(format!("copy-{c}.exe"));
        link(&copy_modules(modules, dir, c), &objects, flags, &exe);
        let behaviour = execute(&exe, dir);
        if behaviour != *expected {
            return Err(format!(
                "copy {c} of {options:?}: {behaviour:?}, not {expected:?}"
            ));
        }
    }
    let merged = merge(dir);
    let verify = Command::new(PROF)
        .arg("verify")
        .arg(&merged)
        .output()
        .unwrap();
    match verify.status.code() {
        Some(0) => Ok(merged),
        _ => Err(format!(
            "{options:?}: {}",
            String::from_utf8_lossy(&verify.stdout)
        )),
    }
}

/// Merges what the copies in `dir` left in `dir/raw`, without a PATH; the merged profile.
#[track_caller]
pub(crate) fn merge(dir: &Path) -> PathBuf {
    let merged = dir.join("merged.p3prof");
    let mut merge = Command::new(PROF);
    merge.arg("merge").arg("-m").arg(dir.join("manifest.json"));
    run(merge
        .arg("-o")
        .arg(&merged)
        .arg(dir.join("raw"))
        .env("PATH", ""));
    merged
}

/// Compiles C (or C++) source to a module.
pub(crate) fn module(name: &str, source: &str, flags: &[&str], dir: &Path) -> PathBuf {
    std::fs::create_dir_all(dir).unwrap();
    let file = dir.join(name);
    std::fs::write(&file, source).unwrap();
    let out = file.with_extension("bc");
    let mut clang = Command::new(llvm("clang"));
    clang.arg("-I").arg(project("testdata/include"));
    run(clang
        .args(flags)
        .args(["-w", "-emit-llvm", "-c"])
        .arg(file)
        .arg("-o")
        .arg(&out));
    out
}

/// Counts by function name of paths that end at an exit.
pub(crate) fn exits(profile: &Path) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (key, n) in paths(profile) {
        if key.4 == "exit" {
            *sums.entry(key.1).or_default() += n;
        }
    }
    sums
}

/// How many paths of one function ended at an exit.
pub(crate) fn exits_of(function: &str, profile: &Path) -> u64 {
    let mut show = Command::new(PROF);
    show.args([
        "show",
        "--format",
        "json",
        "--function",
        &format!("^{function}$"),
    ]);
    let json = parsed(&run(show.arg(profile)).stdout);
    let functions = json["functions"].as_array().unwrap().iter();
    let paths = functions.flat_map(|f| f["paths"].as_array().unwrap());
    let ended = paths.filter(|p| p["ends"] == "exit");
    ended.map(|p| p["count"].as_u64().unwrap()).sum()
}

/// A path as other programs see it: module, function, start, blocks, end, target of the back edge.
pub(crate) type PathKey = (String, String, String, Vec<u32>, String, Option<u32>);

/// All counts of a merged profile by `show --format json`. Paths along parallel edges are one.
pub(crate) fn paths(profile: &Path) -> BTreeMap<PathKey, u64> {
    let shown = run(Command::new(PROF)
        .args(["show", "--format", "json"])
        .arg(profile));
    let json = parsed(&shown.stdout);
    let mut counts = BTreeMap::new();
    for f in json["functions"].as_array().unwrap() {
        for p in f["paths"].as_array().unwrap() {
            let text = |v: &serde_json::Value| v.as_str().unwrap().to_string();
            let block = |v: &serde_json::Value| v.as_u64().unwrap() as u32;
            let key = (
                text(&f["module"]),
                text(&f["name"]),
                text(&p["starts"]),
                p["blocks"].as_array().unwrap().iter().map(block).collect(),
                text(&p["ends"]),
                p["back_to"].as_u64().map(|b| b as u32),
            );
            *counts.entry(key).or_default() += p["count"].as_u64().unwrap();
        }
    }
    counts
}
