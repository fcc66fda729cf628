//! Executed instructions, by callgrind: the figure that does not vary from run to run, and that neither caches nor the
//! alignment of code move.
//!
//! Counted is what `main` and all that it calls execute. What comes before and after (loading, registering counters,
//! writing a profile at the end) is in no variant's figure, ours or LLVM's.

use crate::build::run;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Instructions by symbol, without those of what it calls.
pub(crate) type ByFunction = BTreeMap<String, u64>;

/// Of all processes of `exe` that a workload's script starts, which works in `here`. Some fifty times slower than the
/// program.
pub(crate) fn count(script: &Path, exe: &Path, here: &Path) -> Result<u64> {
    let mut sum = 0;
    for text in run_callgrind(script, exe, here)? {
        let totals = text.lines().filter_map(|l| l.strip_prefix("totals: "));
        for total in totals {
            sum += total.trim().parse::<u64>()?;
        }
    }
    ensure!(sum > 0, "{}: valgrind counted nothing", exe.display());
    Ok(sum)
}

/// The same by function.
pub(crate) fn count_by_function(script: &Path, exe: &Path, here: &Path) -> Result<ByFunction> {
    let mut sums = ByFunction::new();
    for text in run_callgrind(script, exe, here)? {
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
    }
    ensure!(
        !sums.is_empty(),
        "{}: valgrind counted nothing",
        exe.display()
    );
    Ok(sums)
}

/// Callgrind's files of all processes, without abbreviations.
fn run_callgrind(script: &Path, exe: &Path, here: &Path) -> Result<Vec<String>> {
    let _ = fs::remove_dir_all(here);
    fs::create_dir_all(here.join("counts"))?;
    let (bare, wrapper) = (here.join("bare"), here.join("program"));
    // Valgrind does not read all debug information that clang writes; it needs the symbol of main only.
    run(Command::new("strip").arg("-g").arg("-o").args([&bare, exe]))?;
    let text = format!(
        "#!/bin/sh\nexec valgrind -q --tool=callgrind --toggle-collect=main --demangle=no \
         --compress-strings=no --compress-pos=no --callgrind-out-file='{here}/counts/%p' '{bare}' \"$@\"\n",
        here = here.display(),
        bare = bare.display()
    );
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
    let files = fs::read_dir(here.join("counts"))?;
    let texts = files.map(|file| Ok(fs::read_to_string(file?.path())?));
    let texts = texts.collect::<Result<Vec<String>>>()?;
    fs::remove_dir_all(here)?;
    Ok(texts)
}
