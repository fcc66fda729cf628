//! The variants of a program, and how each is built.

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The program under test.
pub(crate) static REWRITE: LazyLock<String> = LazyLock::new(|| beside("p3-rewrite"));
/// Its companion.
pub(crate) static PROF: LazyLock<String> = LazyLock::new(|| beside("p3-prof"));

/// A program that was built into the folder of this one.
fn beside(name: &str) -> String {
    let own = std::env::current_exe().expect("Linux knows");
    own.with_file_name(name).display().to_string()
}

/// The project's folder.
pub(crate) fn project() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("it is in the project's")
}

/// One variant: a name and the executables of its copies.
pub(crate) struct Variant {
    pub name: String,
    pub copies: Vec<PathBuf>,
    /// What decodes its profile.
    pub manifest: Option<PathBuf>,
}

/// The schemes that several copies share the work by.
pub(crate) const SHARING: [&str; 4] = ["pbl", "p3", "p3-weighted", "p3-hot"];

/// Scheme, number of copies, and whether the training profile is given; sbl first.
fn schemes(copies: &[u32]) -> Vec<(&'static str, u32, bool)> {
    let mut all = vec![("sbl", 1, false)];
    for scheme in SHARING {
        for trained in [false, true] {
            all.extend(copies.iter().map(|&k| (scheme, k, trained)));
        }
    }
    all
}

/// The name of a variant in tables and in the JSON.
pub(crate) fn variant_name(scheme: &str, k: u32, trained: bool) -> String {
    match (scheme, trained) {
        ("sbl", _) => scheme.into(),
        (_, false) => format!("{scheme} {k}"),
        (_, true) => format!("{scheme} {k} trained"),
    }
}

/// A variant of one executable that leaves no profile of ours.
pub(crate) fn single(name: &str, exe: PathBuf) -> Variant {
    Variant {
        name: name.into(),
        copies: vec![exe],
        manifest: None,
    }
}

/// A variant of one executable, and what decodes its profile.
pub(crate) fn variant(name: &str, exe: PathBuf, manifest: PathBuf) -> Variant {
    Variant {
        manifest: Some(manifest),
        ..single(name, exe)
    }
}

/// Builds all variants of the program in `program` below `out`, for these numbers of copies; executables side by side.
pub(crate) fn variants(
    program: &Path,
    runtime: &[PathBuf],
    copies: &[u32],
    out: &Path,
) -> Result<Vec<Variant>> {
    std::fs::create_dir_all(out)?;
    let bitcode = program.join("prog.bc");
    let (native, edge) = (out.join("native.exe"), out.join("edge.exe"));
    let instrumented = out.join("edge.bc");
    run(Command::new("opt-19")
        .arg("-passes=pgo-instr-gen,instrprof")
        .arg(&bitcode)
        .arg("-o")
        .arg(&instrumented))?;
    let mut links = vec![
        (bitcode.clone(), native.clone(), Vec::new()),
        (
            instrumented,
            edge.clone(),
            vec![PathBuf::from("-fprofile-generate")],
        ),
    ];
    let mut variants = vec![single("native", native), single("edge", edge)];
    for (scheme, k, trained) in schemes(copies) {
        let name = variant_name(scheme, k, trained);
        let folder = out.join(name.replace(' ', "-"));
        let mut rewrite = Command::new(&*REWRITE);
        rewrite.args(["-q", "--scheme", scheme, "-k", &k.to_string()]);
        if trained {
            let profile = train(program, &variants[2], out)?;
            rewrite.arg("--profile").arg(profile);
        }
        run(rewrite.arg("-o").arg(&folder).arg(&bitcode))?;
        let copy = |c| {
            (
                folder.join(format!("copy-{c}/m0.bc")),
                folder.join(format!("{c}.exe")),
            )
        };
        links.extend(
            (0..k)
                .map(copy)
                .map(|(bc, exe)| (bc, exe, runtime.to_vec())),
        );
        if scheme == "sbl" {
            // The training run needs it.
            link_all(program, std::mem::take(&mut links))?;
        }
        variants.push(Variant {
            name,
            copies: (0..k).map(|c| copy(c).1).collect(),
            manifest: Some(folder.join("manifest.json")),
        });
    }
    link_all(program, links)?;
    Ok(variants)
}

/// The profile of a training run under sbl.
fn train(program: &Path, sbl: &Variant, out: &Path) -> Result<PathBuf> {
    let (raw, merged) = (out.join("train"), out.join("train.p3prof"));
    if merged.exists() {
        return Ok(merged);
    }
    let _ = std::fs::remove_dir_all(&raw);
    let pattern = raw.join("%p.p3raw");
    let mut script = Command::new(program.join("run-train.sh"));
    script.arg(&sbl.copies[0]).env("P3_PROFILE_FILE", pattern);
    let _ = script
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    sbl.merge(&raw, &merged)?;
    Ok(merged)
}

impl Variant {
    /// Merges the raw profiles in `raw`, which its copies left.
    pub(crate) fn merge(&self, raw: &Path, merged: &Path) -> Result<()> {
        merge(
            self.manifest.as_ref().context("it has a manifest")?,
            raw,
            merged,
        )
    }
}

/// Merges the raw profiles in `raw`.
pub(crate) fn merge(manifest: &Path, raw: &Path, merged: &Path) -> Result<()> {
    let mut merge = Command::new(&*PROF);
    merge
        .args(["merge", "--failure-mode", "warn", "-m"])
        .arg(manifest);
    run(merge.arg("-o").arg(merged).arg(raw))
}

type Link = (PathBuf, PathBuf, Vec<PathBuf>);

fn link_all(program: &Path, links: Vec<Link>) -> Result<()> {
    links.into_par_iter().try_for_each(|(bitcode, exe, more)| {
        let script = program.join("link.sh");
        run(Command::new(script).arg(bitcode).arg(exe).args(more))
    })
}

/// The C runtime, compiled.
pub(crate) fn runtime(out: &Path) -> Result<Vec<PathBuf>> {
    let mut objects = Vec::new();
    let folder = project().join("runtime-c");
    // What lies in folders there is for the runner.
    let files = walkdir::WalkDir::new(folder).max_depth(1);
    for entry in files.sort_by_file_name() {
        let file = entry?.into_path();
        if file.extension().is_some_and(|e| e == "c") {
            let object = out
                .join(file.file_stem().context("a name")?)
                .with_extension("o");
            let mut clang = Command::new("clang-19");
            run(clang
                .args(["-std=c11", "-O2", "-fPIC", "-c"])
                .arg(&file)
                .arg("-o")
                .arg(&object))?;
            objects.push(object);
        }
    }
    Ok(objects)
}

/// Runs a command that must succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("{command:?}"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {stderr}");
    Ok(())
}

/// What a command prints.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new(program).args(arguments).output();
    let output = output.with_context(|| program.to_string())?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} {arguments:?}: {stderr}");
    Ok(output.stdout)
}
