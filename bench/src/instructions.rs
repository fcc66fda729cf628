//! Executed instructions: the figure that does not vary from run to run, and that neither caches nor the alignment of
//! code move.
//!
//! Counted is what `main` and all that it calls execute. What comes before and after (loading, registering counters,
//! writing a profile at the end) is in no variant's figure, ours or LLVM's.
//!
//! Counters agree within a thousandth, but for programs that fork: by callgrind, a child's figure holds what its parent
//! executed before the fork once more, and nothing is known of a process that ends by an exec.

use crate::build::{llvm, output, run};
use anyhow::{Context, Result, anyhow, ensure};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, OnceLock};

#[cfg(test)]
mod tests;

/// What counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Counter {
    /// QEMU's user emulation with a plugin: x86-64, QEMU 7.2
    Qemu,
    /// Valgrind's tool: some fifty times slower than the program
    Callgrind,
}

/// Instructions by symbol, without those of what it calls. QEMU knows the executable's symbols alone: all others are
/// one without a name. So are the stubs that call shared libraries, which callgrind takes for parts of their callers.
pub(crate) type ByFunction = BTreeMap<String, u64>;

/// A counter that is ready.
#[derive(Debug)]
enum Method {
    Qemu { plugin: PathBuf },
    Callgrind,
}

const QEMU: &str = "qemu-x86_64";

/// The counter that the user wants, and a folder to build the plugin in.
static CHOICE: OnceLock<(Option<Counter>, PathBuf)> = OnceLock::new();
/// Made by the first count.
static METHOD: LazyLock<Result<Method>> = LazyLock::new(|| {
    let (wanted, folder) = CHOICE.get().context("no counter was chosen")?;
    if *wanted == Some(Counter::Callgrind) {
        return Ok(Method::Callgrind);
    }
    match Method::qemu(folder) {
        Err(why) if wanted.is_none() => {
            let why = format!("{why:#}").trim().replace('\n', " ");
            eprintln!("instructions are counted by callgrind, which is slow: {why}");
            Ok(Method::Callgrind)
        }
        tried => tried,
    }
});

/// Says once, before anything is counted, what counts: without a wish QEMU, or callgrind where QEMU is not usable.
pub(crate) fn choose(wanted: Option<Counter>, out: &Path) {
    CHOICE.get_or_init(|| (wanted, out.join("counter")));
}

/// Of all processes of `exe` that a workload's script starts, which works in `here`.
pub(crate) fn count(script: &Path, exe: &Path, here: &Path) -> Result<u64> {
    Ok(count_by_function(script, exe, here)?.values().sum())
}

/// The same by function.
pub(crate) fn count_by_function(script: &Path, exe: &Path, here: &Path) -> Result<ByFunction> {
    let method = METHOD.as_ref().map_err(|why| anyhow!("{why:#}"))?;
    method.count(script, exe, here)
}

impl Method {
    /// Builds the plugin in a folder, and tries it on a program.
    fn qemu(folder: &Path) -> Result<Method> {
        let arch = std::env::consts::ARCH;
        ensure!(arch == "x86_64", "the plugin of QEMU knows no {arch}");
        output(QEMU, &["--version"])?;
        let counts = folder.join("counts");
        let _ = fs::remove_dir_all(&counts);
        fs::create_dir_all(&counts)?;
        let compiled = |name: &str, source: &str, options: &[&str], to: &str| -> Result<PathBuf> {
            let (file, to) = (folder.join(name), folder.join(to));
            fs::write(&file, source)?;
            let mut clang = Command::new(llvm("clang"));
            clang.args(["-std=c11", "-O2"]).args(options).arg(&file);
            run(clang.arg("-o").arg(&to))?;
            Ok(to)
        };
        let shared = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Wpedantic"];
        let plugin = compiled(
            "counter.c",
            include_str!("../counter.c"),
            &shared,
            "counter.so",
        )?;
        let tried = compiled("tried.c", "int main(void) { return 0; }\n", &[], "tried")?;
        let method = Method::Qemu { plugin };
        let [program, options @ ..] = &method.command(&counts)[..] else {
            unreachable!("a command has a name")
        };
        run(Command::new(program).args(options).arg(&tried))?;
        let sums = method.read(&counts)?;
        ensure!(sums.contains_key("main"), "{QEMU} finds no symbols");
        Ok(method)
    }

    fn count(&self, script: &Path, exe: &Path, here: &Path) -> Result<ByFunction> {
        let _ = fs::remove_dir_all(here);
        let counts = here.join("counts");
        fs::create_dir_all(&counts)?;
        let (bare, wrapper) = (here.join("bare"), here.join("program"));
        // Valgrind does not read all debug information that clang writes; symbols are enough.
        run(Command::new("strip").arg("-g").arg("-o").args([&bare, exe]))?;
        let bare = bare.display().to_string();
        let words = self.command(&counts).into_iter().chain([bare]);
        let quoted: Vec<String> = words.map(|word| format!("'{word}'")).collect();
        let text = format!("#!/bin/sh\nexec {} \"$@\"\n", quoted.join(" "));
        fs::write(&wrapper, text)?;
        fs::set_permissions(&wrapper, Permissions::from_mode(0o755))?;
        let mut workload = Command::new(script);
        workload
            .arg(&wrapper)
            .env("P3_PROFILE_FILE", here.join("raw/%p.p3raw"))
            .env("LLVM_PROFILE_FILE", here.join("raw/%p.profraw"))
            .env("P3_SHADOW", "off")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // A workload's own status is part of it.
        workload.status().with_context(|| format!("{workload:?}"))?;
        let sums = self.read(&counts);
        let sums = sums.with_context(|| exe.display().to_string())?;
        fs::remove_dir_all(here)?;
        Ok(sums)
    }

    /// What is to stand before a program and its arguments, so that each process leaves a file in `counts`.
    fn command(&self, counts: &Path) -> Vec<String> {
        let counts = counts.display().to_string();
        match self {
            Method::Qemu { plugin } => {
                let plugin = plugin.display().to_string();
                // A comma in a value is written twice.
                let [plugin, counts] = [plugin, counts].map(|path| path.replace(',', ",,"));
                let plugin = format!("{plugin},out={counts}");
                // The C library chooses its functions by the processor: this one has what valgrind's has.
                [QEMU, "-cpu", "max", "-plugin", &plugin]
                    .map(String::from)
                    .into()
            }
            Method::Callgrind => {
                let out = format!("--callgrind-out-file={counts}/%p");
                [
                    "valgrind",
                    "-q",
                    "--tool=callgrind",
                    "--toggle-collect=main",
                    "--demangle=no",
                    "--compress-strings=no",
                    "--compress-pos=no",
                    &out,
                ]
                .map(String::from)
                .into()
            }
        }
    }

    /// The sums of all processes.
    fn read(&self, counts: &Path) -> Result<ByFunction> {
        let mut sums = ByFunction::new();
        for file in fs::read_dir(counts)? {
            let file = file?.path();
            let text = fs::read_to_string(&file)?;
            match self {
                Method::Qemu { .. } => add_table(&text, &mut sums),
                Method::Callgrind => add_callgrind(&text, &mut sums),
            }
            .with_context(|| file.display().to_string())?;
        }
        ensure!(sums.values().any(|&n| n > 0), "nothing was counted");
        Ok(sums)
    }
}

/// Adds what the plugin wrote.
fn add_table(text: &str, sums: &mut ByFunction) -> Result<()> {
    let lines = text.strip_suffix("end\n").context(
        "a process was killed before it left its counts (callgrind may have them: --counter callgrind)",
    )?;
    for line in lines.lines() {
        let (name, count) = line.split_once('\t').context("a name and a count")?;
        *sums.entry(name.into()).or_default() += count.parse::<u64>()?;
    }
    Ok(())
}

/// Adds what callgrind wrote without abbreviations.
fn add_callgrind(text: &str, sums: &mut ByFunction) -> Result<()> {
    let (mut function, mut is_call) = (String::new(), false);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            function = name.to_string();
        } else if line.starts_with("calls=") {
            // The next line has what the call took, all in all.
            is_call = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let own = line.split_once(' ').filter(|_| !is_call);
            is_call = false;
            if let Some((_, own)) = own {
                *sums.entry(function.clone()).or_default() += own.trim().parse::<u64>()?;
            }
        }
    }
    Ok(())
}
