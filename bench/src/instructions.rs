//! Executed instructions, by callgrind: the figure that does not vary from run to run, and that neither caches nor the
//! alignment of code move.
//!
//! Counted is what `main` and all that it calls execute. What comes before and after (loading, registering counters,
//! writing a profile at the end) is in no variant's figure, ours or LLVM's.

use crate::build::run;
use anyhow::{Context, Result, ensure};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Of all processes of `exe` that a workload's script starts, which works in `here`. Some fifty times slower than the
/// program.
pub(crate) fn count(script: &Path, exe: &Path, here: &Path) -> Result<u64> {
    let _ = fs::remove_dir_all(here);
    fs::create_dir_all(here.join("counts"))?;
    let (bare, wrapper) = (here.join("bare"), here.join("program"));
    // Valgrind does not read all debug information that clang writes; it needs the symbol of main only.
    run(Command::new("strip").arg("-g").arg("-o").args([&bare, exe]))?;
    let text = format!(
        "#!/bin/sh\nexec valgrind -q --tool=callgrind --toggle-collect=main \
         --callgrind-out-file='{here}/counts/%p' '{bare}' \"$@\"\n",
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
    let sum = totals(&here.join("counts"))?;
    ensure!(sum > 0, "{}: valgrind counted nothing", exe.display());
    fs::remove_dir_all(here)?;
    Ok(sum)
}

/// The sum over the files of all processes.
fn totals(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for file in fs::read_dir(folder)? {
        let text = fs::read_to_string(file?.path())?;
        let totals = text.lines().filter_map(|l| l.strip_prefix("totals: "));
        for total in totals {
            sum += total.trim().parse::<u64>()?;
        }
    }
    Ok(sum)
}
