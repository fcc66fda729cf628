//! What programs count while they run. Counters are in mapped files from the beginning, so looking costs the program
//! nothing: files are read as they are, again and again, and rates follow from two looks.

mod counts;
#[cfg_attr(not(feature = "estimates"), path = "no_estimates.rs")]
mod estimates;
mod find;
mod rows;
mod text;

pub(crate) use find::{WatchTarget, programs};
pub(crate) use rows::{RowKind, RowOrder, WatchRow};
pub(crate) use text::{cells, heading, text};

use crate::base::error::{Error, Result};
use crate::base::index::CopyId;
use crate::base::names::escape_unprintable;
use crate::profile::Profile;
use crate::profile::measurement::{Exact, Measurement};
use crate::profile::merge::snapshot::Snapshot;
use crate::profile::raw::{self, Raw};
use crate::profile::verdict::copies_named;
use counts::Counts;
use rows::Rows;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A block may be described before it is valid: a file that looks damaged is read so often.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(10);

/// Programs that are looked at.
pub(crate) struct Watch {
    targets: Vec<WatchTarget>,
    manifests: Vec<PathBuf>,
    /// Of the program, once a profile of it was read.
    snapshot: Option<Snapshot>,
    /// Where the profiles of a process were that is gone.
    last: Vec<PathBuf>,
    rows: Rows,
    base: Option<Base>,
}

/// What rates begin with.
struct Base {
    at: Instant,
    sources: Vec<[u8; 16]>,
    counts: Counts,
}

/// What one look saw.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// What is looked at: program, scheme, copies, and whether it runs.
    pub title: String,
    /// What was counted, in one line.
    pub totals: String,
    /// What is not there or cannot be read, one line each.
    pub notes: Vec<String>,
    /// What the rows are.
    pub kind: RowKind,
    /// The first rows, in the order asked for.
    pub rows: Vec<WatchRow>,
    /// How many there are in all.
    pub distinct: usize,
    /// The time that rates are over, from the second look on.
    pub over: Option<Duration>,
}

/// Whether the process of a profile still runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProcessState {
    Running,
    Ended,
    Unknown,
}

impl Watch {
    /// Looks at these files, processes and folders. `manifests`: as [`programs`] takes them.
    ///
    /// # Errors
    /// Names of nothing.
    pub(crate) fn new(names: &[PathBuf], manifests: &[PathBuf]) -> Result<Watch> {
        let targets = names.iter().map(|n| WatchTarget::parse(n));
        Ok(Watch {
            targets: targets.collect::<Result<_>>()?,
            manifests: manifests.to_vec(),
            snapshot: None,
            last: Vec::new(),
            rows: Rows::default(),
            base: None,
        })
    }

    /// Rates begin with the next look.
    pub(crate) fn restart(&mut self) {
        self.base = None;
    }

    /// What the programs have counted up to now: the `top` first rows in this order. O(total path length).
    ///
    /// # Errors
    /// Profiles that are of several programs or of none that is known, damaged, or of counts that are no paths; and
    /// that there is no profile.
    pub(crate) fn look_again(&mut self, order: RowOrder, top: usize) -> Result<View> {
        let at = Instant::now();
        let mut notes = Vec::new();
        let raws = self.read(&mut notes)?;
        let state = state(&raws);
        let files = raws.len();
        let mut name = name(&raws[0].1);
        if files == 1 && !raws[0].1.pooled {
            name += &format!(", process {}", raws[0].1.pid);
        }
        let snapshot = self.snapshot.as_mut().expect("made with the first profile");
        snapshot.replace_counts(raws)?;
        let profile = &snapshot.profile;
        let kind = RowKind::kind_of(profile)?;
        let mut counts = self.rows.counts(profile)?;
        let base = self.base.take().filter(|b| {
            let there = |s: &[u8; 16]| profile.sources.binary_search(s).is_ok();
            b.sources.iter().all(there) && b.counts.are_before(&counts)
        });
        let over = base.as_ref().map(|b| at - b.at);
        counts.set_rates(base.as_ref().map(|b| &b.counts), over);
        let rows = self.rows.first_rows(profile, &counts, order, top)?;
        notes.extend(profile.verdict.threads.iter().cloned());
        notes.extend(describe_missing(profile));
        let view = View {
            title: title(profile, &name, files, state),
            totals: rows::totals(profile, &counts),
            notes,
            kind,
            rows,
            distinct: counts.count_distinct(),
            over,
        };
        self.base = base.or_else(|| {
            let sources = profile.sources.clone();
            Some(Base {
                at,
                sources,
                counts,
            })
        });
        Ok(view)
    }

    /// The raw profiles of the program, at least one. What cannot be used is said, unless it was named itself.
    fn read(&mut self, notes: &mut Vec<String>) -> Result<Vec<(PathBuf, Raw)>> {
        let mut raws: Vec<(PathBuf, Raw)> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut failed = None;
        for (target, file) in self.files()? {
            let raw = read(&file).and_then(|raw| self.of_program(&file, raw));
            match raw {
                Ok(raw) if seen.insert(raw.unique) => raws.push((file, raw)),
                Ok(_) => {}
                Err(e) if matches!(target, WatchTarget::File(_)) => return Err(e),
                Err(e) => {
                    notes.push(format!("left out: {e}"));
                    failed.get_or_insert(e);
                }
            }
        }
        if raws.is_empty() {
            return Err(failed.unwrap_or_else(|| nothing_found(&self.targets)));
        }
        Ok(raws)
    }

    /// The files that are there now, each with what named it.
    fn files(&mut self) -> Result<Vec<(WatchTarget, PathBuf)>> {
        let mut files = Vec::new();
        for target in &self.targets {
            let mut found = target.files()?;
            if matches!(target, WatchTarget::Process(_)) {
                // What it counted is there when it is gone.
                if found.is_empty() {
                    found.clone_from(&self.last);
                } else {
                    self.last.clone_from(&found);
                }
            }
            files.extend(found.into_iter().map(|f| (target.clone(), f)));
        }
        Ok(files)
    }

    /// The first profile whose manifest is there says which program it is.
    fn of_program(&mut self, file: &Path, raw: Raw) -> Result<Raw> {
        if let Some(snapshot) = &self.snapshot {
            let own = snapshot.profile.manifest.program_bytes() == raw.program;
            let problem = "it is of another program, or of another rewriting of it";
            let other = || Error::profile(file, problem, "name this file alone");
            return own.then_some(raw).ok_or_else(other);
        }
        let programs = programs(&self.manifests, &self.targets, raw.program, file)?;
        self.snapshot = Some(Snapshot::identify(&programs, &raw, file)?);
        Ok(raw)
    }
}

fn read(file: &Path) -> Result<Raw> {
    let mut attempt = 1;
    loop {
        let opened = File::open(file).map_err(|e| Error::read(file, e))?;
        match raw::read(&opened) {
            Ok(raw) => return Ok(raw),
            Err(problem) if attempt == ATTEMPTS || problem.is_of_another_kind() => {
                let remedy = "name a *.p3raw file, a running program or an output folder";
                return Err(Error::profile(file, problem, remedy));
            }
            Err(_) => attempt += 1,
        }
        std::thread::sleep(PAUSE);
    }
}

fn nothing_found(targets: &[WatchTarget]) -> Error {
    match &targets[0] {
        WatchTarget::Process(id) => Error::Usage(format!(
            "process {id}: it maps no raw profile; name a program that p3-rewrite made (a program that printed that it \
             counts in memory has none)"
        )),
        WatchTarget::Folder(path) | WatchTarget::File(path) => Error::profile(
            path,
            "there is no *.p3raw file in it",
            "run the program first, or name its process",
        ),
    }
}

/// What the program was started as.
fn name(raw: &Raw) -> String {
    let arguments = raw.started.first().map(|s| &s.arguments);
    let first = arguments.and_then(|a| a.first());
    let first = first.map_or(&b"program"[..], Vec::as_slice);
    let file = first.rsplit(|b| *b == b'/').next().unwrap_or(first);
    escape_unprintable(&String::from_utf8_lossy(file)).into_owned()
}

/// By profile.
fn state(raws: &[(PathBuf, Raw)]) -> Vec<ProcessState> {
    let host = std::fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
    let of = |(file, raw): &(PathBuf, Raw)| {
        if host.trim_ascii_end() != raw.host {
            return ProcessState::Unknown;
        }
        let process = if raw.pooled { raw.owner } else { raw.pid };
        match find::has_mapped(process, file) {
            Some(true) => ProcessState::Running,
            Some(false) => ProcessState::Ended,
            None => ProcessState::Unknown,
        }
    };
    raws.iter().map(of).collect()
}

fn title(profile: &Profile, name: &str, files: usize, state: Vec<ProcessState>) -> String {
    let manifest = &profile.manifest;
    let running = state
        .iter()
        .filter(|s| **s == ProcessState::Running)
        .count();
    let ran = if state.contains(&ProcessState::Unknown) {
        String::new()
    } else if running == 0 {
        ", ended".into()
    } else if files == 1 {
        ", running".into()
    } else {
        format!(", {running} running")
    };
    let profiles = match files {
        1 => String::new(),
        n => format!(", {n} raw profiles"),
    };
    let (scheme, copies) = (manifest.scheme, copies(profile));
    format!("{name} ({scheme}, {copies}{profiles}{ran})")
}

/// Which copies are there, of how many.
fn copies(profile: &Profile) -> String {
    let all = profile.manifest.copies;
    let processes = profile.processes.iter_enumerated();
    let there = processes.filter_map(|(c, p)| (p.total() > 0).then_some(c));
    let there: Vec<CopyId> = there.collect();
    match there[..] {
        _ if all == 1 => "1 copy".into(),
        [one] => format!("copy {one} of {all}"),
        _ if there.len() == all as usize => format!("all {all} copies"),
        _ => format!("{} of {all} copies", there.len()),
    }
}

/// That paths are not there which other copies count.
fn describe_missing(profile: &Profile) -> Option<String> {
    if !matches!(profile.measured, Measurement::Exact(Exact::Paths(_))) {
        return None;
    }
    let mut missing: Vec<_> = crate::profile::verdict::copies_needed(&profile.manifest)
        .into_iter()
        .collect();
    missing.retain(|c| profile.processes[*c].total() == 0);
    let named = copies_named(&missing);
    let line = || {
        format!(
            "a copy counts only its share of the paths: those of {named} are not here; name all raw profiles, or the \
            output folder"
        )
    };
    (!missing.is_empty()).then(line)
}
