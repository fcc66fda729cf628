//! Samples that `--perf` names.

use crate::base::error::{Error, Result};
use crate::base::names::escape_unprintable;
use crate::base::table::number_of;
use crate::profile::Profile;
use crate::read::analysis::samples::Samples;
use crate::read::analysis::samples::time::Time;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// How perf.data begins.
const PERF_DATA: &[u8] = b"PERFILE2";
/// How gzip's data begins.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// A file of pprof is not longer, compressed.
const LONGEST_PPROF: u64 = 64 << 20;
/// Of what perf complains about, so much is kept.
const MOST_SAID: u64 = 1 << 16;

/// Where time went in `profile`, as the samples in `file` show it, and warnings about them.
pub(super) fn time(file: Option<&Path>, profile: &Profile) -> Result<(Option<Time>, Vec<String>)> {
    let Some(file) = file else {
        return Ok((None, Vec::new()));
    };
    let (samples, mut warnings) = read(file)?;
    let time = Time::new(profile, &samples);
    if time.functions.is_empty() {
        let file = file.display();
        warnings.push(format!(
            "{file}: no sample is in a function of the profile; sample the program that was profiled"
        ));
    }
    Ok((Some(time), warnings))
}

/// The samples in `file`, and warnings about them: the text of `perf script`, perf.data, or a profile of pprof; `-` is
/// standard input.
fn read(file: &Path) -> Result<(Samples, Vec<String>)> {
    let is_stdin = file == Path::new("-");
    let reader: Box<dyn Read> = if is_stdin {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(file).map_err(|e| Error::read(file, e))?)
    };
    let mut reader = BufReader::with_capacity(1 << 16, reader);
    let begins = reader.fill_buf().map_err(|e| Error::read(file, e))?;
    let samples = if begins.starts_with(PERF_DATA) {
        if is_stdin {
            let remedy = "name the file, or pipe the output of perf script";
            return Err(Error::profile(file, "perf.data on standard input", remedy));
        }
        from_perf_data(file)?
    } else if begins.starts_with(GZIP) {
        let mut bytes = Vec::new();
        let read = reader.take(LONGEST_PPROF).read_to_end(&mut bytes);
        read.map_err(|e| Error::read(file, e))?;
        let remedy = "give a CPU profile of pprof, or the output of perf script";
        Samples::from_pprof(&bytes).map_err(|problem| Error::profile(file, problem, remedy))?
    } else {
        Samples::from_perf(reader).map_err(|e| Error::read(file, e))?
    };
    if samples.places.is_empty() {
        return Err(Error::profile(
            file,
            "no samples in it",
            "give perf.data, what perf script prints of it, or a CPU profile of pprof",
        ));
    }
    let warnings = warnings(file, &samples);
    Ok((samples, warnings))
}

fn warnings(file: &Path, samples: &Samples) -> Vec<String> {
    let file = file.display().to_string();
    let mut warnings = Vec::new();
    if samples.skipped > 0 {
        let n = number_of(samples.skipped, "line or sample");
        warnings.push(format!("{file}: {n} without a place skipped"));
    }
    if !samples.other_events.is_empty() {
        let others = samples.other_events.join(", ");
        let event = &samples.event;
        let text = format!("{file}: time is that of {event}; left out: {others}");
        warnings.push(escape_unprintable(&text).into_owned());
    }
    warnings
}

/// What `perf script` prints of perf.data. Mangled names tell overloads apart.
fn from_perf_data(file: &Path) -> Result<Samples> {
    let mut command = Command::new("perf");
    command.args(["script", "--no-demangle", "-i"]).arg(file);
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut perf = command.spawn().map_err(|e| {
        let problem = format!("perf.data, which perf reads: {e}");
        let remedy = "install perf (Debian: linux-perf), or give what perf script prints of it";
        Error::profile(file, problem, remedy)
    })?;
    let stdout = perf.stdout.take().expect("it is piped");
    let mut stderr = perf.stderr.take().expect("it is piped");
    // Read beside it: perf would wait for room in a full pipe.
    let said = std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = stderr.by_ref().take(MOST_SAID).read_to_end(&mut said);
        let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        String::from_utf8_lossy(&said).into_owned()
    });
    let samples = Samples::from_perf(BufReader::new(stdout));
    let status = perf.wait().map_err(|e| Error::read(file, e))?;
    let said = said.join().unwrap_or_default();
    if !status.success() {
        let why = said.lines().find(|l| !l.trim().is_empty());
        let problem = format!(
            "perf script failed: {}",
            escape_unprintable(why.unwrap_or("?").trim())
        );
        let remedy = "record it again, or give what perf script prints of it";
        return Err(Error::profile(file, problem, remedy));
    }
    samples.map_err(|e| Error::read(file, e))
}
