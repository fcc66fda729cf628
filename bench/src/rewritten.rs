//! What p3-rewrite makes of a program, linked as its users link it: by the makefile in the output folder.

use crate::build::{REWRITE, llvm, merge, run};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a program is linked, as its `link.sh` says: `DRV=clang LIBS="-lm"`.
pub(crate) struct Recipe {
    driver: String,
    libraries: String,
}

impl Recipe {
    /// Of the program in `program`.
    pub(crate) fn of(program: &Path) -> Result<Recipe> {
        let file = program.join("link.sh");
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let driver = text.split("DRV=").nth(1);
        let driver = driver.and_then(|rest| rest.split_whitespace().next());
        let libraries = text
            .split("LIBS=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        Ok(Recipe {
            driver: driver.map_or_else(|| llvm("clang"), String::from),
            libraries: libraries.unwrap_or_default().into(),
        })
    }

    /// Translates a module to machine code, without any pass.
    pub(crate) fn compile(&self, bitcode: &Path, object: &Path) -> Result<()> {
        let mut clang = Command::new(&self.driver);
        clang.args(["-O2", "-Xclang", "-disable-llvm-passes"]);
        clang.args(["-Wno-override-module", "-c"]).arg(bitcode);
        run(clang.arg("-o").arg(object))
    }

    /// Links objects, with further options.
    pub(crate) fn link(&self, objects: &[&Path], options: &[&str], exe: &Path) -> Result<()> {
        let mut clang = Command::new(&self.driver);
        clang.arg("-O2").args(objects).args(options);
        clang.args(self.libraries.split_whitespace());
        run(clang.arg("-o").arg(exe))
    }
}

/// An output folder.
pub(crate) struct Rewritten<'a> {
    pub folder: PathBuf,
    recipe: &'a Recipe,
}

impl<'a> Rewritten<'a> {
    /// Rewrites `bitcode` into `folder`.
    pub(crate) fn new(
        bitcode: &Path,
        options: &[String],
        folder: PathBuf,
        recipe: &'a Recipe,
    ) -> Result<Self> {
        let mut rewrite = Command::new(&*REWRITE);
        rewrite.arg("-q").args(options).arg(bitcode);
        run(rewrite.arg("-o").arg(&folder))?;
        Ok(Rewritten { folder, recipe })
    }

    /// Links `bin/what`, `native` or `copy-N`, behind the object `first` if there is one.
    pub(crate) fn linked(&self, what: &str, first: Option<&Path>) -> Result<PathBuf> {
        let exe = self.folder.join("bin").join(what);
        // Objects stay as they are.
        let _ = std::fs::remove_file(&exe);
        let target = format!("bin/{what}");
        let libraries = format!("LDLIBS={} -lm -pthread -ldl", self.recipe.libraries);
        let first_object = first.map(|object| format!("LDFLAGS={}", object.display()));
        let mut arguments = vec![target.as_str(), &libraries];
        arguments.extend(first_object.as_deref());
        make(&self.folder, &arguments)?;
        // No later one with the same name takes its place.
        let suffix = first.and_then(Path::file_stem);
        let kept = exe.with_extension(suffix.unwrap_or("unmoved".as_ref()));
        std::fs::rename(&exe, &kept)?;
        Ok(kept)
    }

    /// The profile of one run of `exe`, its only copy, under a workload's script.
    pub(crate) fn profile(&self, script: &Path, exe: &Path, merged: &Path) -> Result<()> {
        let raw = merged.with_extension("raw");
        let _ = std::fs::remove_dir_all(&raw);
        let mut workload = Command::new("setarch");
        workload.arg("-R").arg(script).arg(exe);
        workload.env("P3_PROFILE_FILE", raw.join("%p.p3raw"));
        workload.stdin(Stdio::null()).stdout(Stdio::null());
        // A workload's own status is part of it.
        workload.stderr(Stdio::null()).status()?;
        merge(&self.folder.join("manifest.json"), &raw, merged)
    }
}

/// Runs the makefile of an output folder. Valgrind finds no symbols in programs with the holes that aligned addresses
/// make: there are none.
pub(crate) fn make(folder: &Path, arguments: &[&str]) -> Result<()> {
    let mut make = Command::new("make");
    run(make.arg("-C").arg(folder).args(arguments).arg("P3_ALIGN=0"))
}
