//! Profiles for compilers: what LLVM optimises by, from counts of ours.
//!
//! `annotate` writes them into modules, `proftext` as the text that `llvm-profdata merge` takes. Both need the
//! modules that were profiled, since it takes LLVM to say where it would have counted (`emit::pgo`).

mod counts;
mod proftext;
mod summary;

use crate::base::error::Result;
use crate::base::index::{ModuleId, TiSlice};
use crate::input::load::{Admitted, Input, Kind, Optimize, find_inputs};
use crate::profile::Profile;
use crate::profile::manifest::ModuleEntry;
use crate::write::emit::annotate::{Annotation, Heat, MADE_BY, annotate_module};
use crate::write::emit::{self, Admission, Names, pgo::Instrumented};
use crate::write::output::{Content, Destination, Mark, check_folder, write_files};
use counts::{BodyCounts, Joined, join_counts};
pub(crate) use proftext::CONTENT as PROFTEXT;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use summary::Thresholds;

/// What a command did.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// Functions of the modules.
    pub functions: usize,
    /// Those with counts.
    pub annotated: usize,
    /// What the user should know, a line each.
    pub warnings: Vec<String>,
}

/// Modules, their counts, and where LLVM would have counted.
struct Loaded {
    inputs: Vec<Admitted>,
    joined: Joined,
    instrumented: Vec<Vec<Instrumented>>,
    warnings: Vec<String>,
}

impl Loaded {
    fn load(inputs: &[PathBuf], profile: &Profile, out: &Path) -> Result<Loaded> {
        emit::set_up();
        let found = find_inputs(inputs, out, None)?;
        let modules = &profile.manifest.modules;
        let wanted = |input: &Input| optimized_as_profiled(input, modules);
        let Admission {
            inputs,
            lines: warnings,
            ..
        } = emit::admit(found, Names::Kept, wanted)?;
        let joined = join_counts(&inputs, profile)?;
        let instrumented = inputs
            .par_iter()
            .map(|input| emit::pgo::find_instrumented(input));
        Ok(Loaded {
            instrumented: instrumented.collect::<Result<_>>()?,
            inputs,
            warnings,
            joined,
        })
    }

    /// The functions of all modules that have counts and that LLVM would instrument, and the values of LLVM's
    /// counters. A symbol of several modules, whose counts are one, is there once.
    fn records(&self) -> Vec<(&Instrumented, Vec<u64>)> {
        let mut records: Vec<(&Instrumented, Vec<u64>)> = Vec::new();
        for (counts, instrumented) in self.joined.counts.iter().zip(&self.instrumented) {
            for f in instrumented {
                if let Some(counts) = &counts[f.ordinal as usize] {
                    records.push((f, counts.counters(f)));
                }
            }
        }
        records.sort_by(|(a, _), (b, _)| (&a.name, a.hash).cmp(&(&b.name, b.hash)));
        records.dedup_by(|(a, _), (b, _)| (&a.name, a.hash) == (&b.name, b.hash));
        records
    }

    fn summarise(&self) -> Done {
        let counts = || self.joined.counts.iter().flatten();
        Done {
            functions: counts().count(),
            annotated: counts().flatten().count(),
            warnings: [self.warnings.clone(), self.joined.warnings()].concat(),
        }
    }
}

/// Writes `inputs` with the counts of the merged profile `profile` as branch weights, entry counts and a
/// `ProfileSummary`: what `pgo-instr-use` writes from a run of LLVM's own instrumentation, but for `select`s,
/// whose outcome no path tells, and values. One module goes to the file `out`; a folder or several go to the
/// folder `out`, under the names that they have. The name's ending says text (`.ll`) or bitcode. `force`: other files
/// that are there may be replaced.
///
/// # Errors
/// Files that cannot be read or written, modules that have a profile already, a profile of other modules.
pub(crate) fn write_annotated(
    inputs: &[PathBuf],
    profile: &Profile,
    out: &Path,
    force: bool,
) -> Result<Done> {
    profile.all_are_counted()?;
    let single = matches!(inputs, [one] if !one.is_dir());
    let at = Destination::new(out, content(kind_of(out)), force);
    if single {
        let read = [inputs[0].as_path(), &profile.path];
        at.check_before_work(read)?;
    } else {
        check_folder(out)?;
    }
    let loaded = Loaded::load(inputs, profile, out)?;
    let records = loaded.records();
    let summary = summary::summary(records.iter().map(|(_, c)| c.as_slice()));
    let thresholds = Thresholds::new(&summary);
    let modules = loaded.inputs.par_iter().enumerate();
    let annotated = modules.map(|(i, input)| {
        let kind = kind_of(if single { out } else { Path::new(&input.name) });
        let functions = annotations(&loaded, i, &thresholds);
        let bytes = annotate_module(input, &functions, &summary, kind)?;
        Ok((input.name.clone(), bytes, content(kind).mark))
    });
    let annotated = annotated.collect::<Result<Vec<_>>>()?;
    match &annotated[..] {
        [(_, bytes, _)] if single => at.write(bytes)?,
        modules => {
            let read = || loaded.inputs.iter().map(|i| i.path.as_path());
            for (name, ..) in modules {
                let to = out.join(name);
                Destination::new(&to, content(kind_of(&to)), force).check_before_work(read())?;
            }
            write_files(out, modules, force)?;
        }
    }
    Ok(loaded.summarise())
}

/// A module that was optimised before it was profiled has to be again, unless it comes from the output folder.
fn optimized_as_profiled(input: &Input, modules: &TiSlice<ModuleId, ModuleEntry>) -> Optimize {
    if modules.iter().any(|m| m.hash == input.hash) {
        return Optimize::Never;
    }
    let entry = modules.iter().find(|m| m.name == input.name);
    let level = entry.and_then(|m| m.optimized);
    level.map_or(Optimize::Never, Optimize::At)
}

/// An annotated module where results are written.
fn content(kind: Kind) -> Content {
    let mark = Mark::Within(MADE_BY.1);
    match kind {
        Kind::Text => Content::text(mark),
        Kind::Bitcode => Content::binary(mark),
    }
}

/// What a module of this name is written as.
fn kind_of(name: &Path) -> Kind {
    match name.extension() {
        Some(e) if e == "ll" => Kind::Text,
        _ => Kind::Bitcode,
    }
}

/// What to write into module `i`.
fn annotations(loaded: &Loaded, i: usize, thresholds: &Thresholds) -> Vec<Annotation> {
    let counts = (0..).zip(&loaded.joined.counts[i]);
    let known = counts.filter_map(|(ordinal, c)| Some((ordinal, c.as_ref()?)));
    known
        .map(|(ordinal, counts)| Annotation {
            ordinal,
            entry: counts.entry_count(),
            branches: counts.branch_counts(),
            headers: counts.header_counts(),
            heat: heat(counts, thresholds),
        })
        .collect()
}

/// As `PGOUseFunc` decides it.
fn heat(counts: &BodyCounts, thresholds: &Thresholds) -> Heat {
    if thresholds.is_hot(counts.entry_count()) {
        Heat::Hot
    } else if thresholds.is_cold(counts.largest_count()) {
        Heat::Cold
    } else {
        Heat::Warm
    }
}

/// The profile `profile` of `inputs` as text for `llvm-profdata merge`, and what was done.
///
/// # Errors
/// As [`write_annotated`].
pub(crate) fn proftext(inputs: &[PathBuf], profile: &Profile) -> Result<(String, Done)> {
    profile.all_are_counted()?;
    let loaded = Loaded::load(inputs, profile, Path::new(""))?;
    let (records, others): (Vec<_>, Vec<_>) = loaded
        .records()
        .into_iter()
        .partition(|(f, _)| proftext::can_hold_name(&f.name));
    let mut done = loaded.summarise();
    let left_out = "left out: proftext cannot hold its name; annotate the module instead";
    let left_out = others
        .iter()
        .map(|(f, _)| format!("{}: {left_out}", f.name));
    done.warnings.extend(left_out);
    Ok((proftext::render_records(&records), done))
}
