//! Variants of a program, and the commands that build them.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The program under test.
pub(crate) static REWRITE: LazyLock<String> = LazyLock::new(|| beside("p3-rewrite"));
/// Its companion.
pub(crate) static PROF: LazyLock<String> = LazyLock::new(|| beside("p3-prof"));

/// The version of LLVM whose tools are called: the first of the table in `src/base/llvm.rs`.
static LLVM: LazyLock<String> = LazyLock::new(|| {
    let script = project().join("tools/llvm.sh").display().to_string();
    let main = output("sh", &[&script, "main"]).expect("the script is in the project");
    String::from_utf8_lossy(&main).trim().to_string()
});

/// A tool of that version, as Debian names it.
pub(crate) fn llvm(tool: &str) -> String {
    format!("{tool}-{}", *LLVM)
}

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

/// The C runtime, compiled.
pub(crate) fn runtime(out: &Path) -> Result<Vec<PathBuf>> {
    let mut objects = Vec::new();
    let folders = ["core", "sampling", "shadow"].map(|f| project().join("runtime-c").join(f));
    let files = folders.iter().flat_map(walkdir::WalkDir::new);
    for entry in files {
        let file = entry?.into_path();
        if file.extension().is_some_and(|e| e == "c") {
            let object = out
                .join(file.file_stem().context("a name")?)
                .with_extension("o");
            let mut clang = Command::new(llvm("clang"));
            run(clang
                .args(["-std=c11", "-O2", "-fPIC", "-c"])
                .args(folders.iter().map(|f| format!("-I{}", f.display())))
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
