//! `p3-prof coverage --new`.

use super::{CoverageArgs, CoverageFormat, Outcome, Request, SHOWN};
use crate::base::error::{Error, Result};
use crate::base::index::{FuncId, PathId, TiVec};
use crate::base::table::number_of;
use crate::profile::Profile;
use crate::profile::merge::origins::find_origins;
use crate::profile::several::Part;
use crate::profile::union::is_residual;
use crate::profile::verdict::Trust;
use crate::read::report::coverage::fresh::{self, Fresh};
use crate::read::request::{Earlier, Seen, Spec, Target};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// The known paths of each function, and a line where some cannot be compared.
type KnownAndNotes = (TiVec<FuncId, BTreeMap<PathId, u64>>, Vec<String>);

impl Request<'_> {
    /// What ran for the first time, and is in none of the `earlier` profiles or what a build named.
    pub(super) fn list_new(&self, earlier: &[PathBuf]) -> Result<Outcome> {
        let (profile, sources, parts) = (&self.profile, &self.sources, &self.parts);
        let (known, notes) = if earlier.is_empty() {
            (known_by_selection(profile, parts)?, Vec::new())
        } else {
            known_by_profiles(self.args, profile, earlier, self.trust)?
        };
        let selection = self.select(None, &[profile])?;
        let mut found = fresh::find_new(profile.paths()?, &known, &selection, &self.scope)?;
        find_who_reached(&mut found, profile, parts)?;
        let top = self.args.top.unwrap_or(SHOWN);
        let mut outcome = Outcome::print(match self.args.format {
            CoverageFormat::Text => fresh::text(&found, sources, top, self.layout),
            CoverageFormat::Json => fresh::json(&found, sources),
            CoverageFormat::Csv => fresh::csv(&found),
            CoverageFormat::Github => fresh::github(&found, sources),
            CoverageFormat::Markdown => fresh::markdown(&found),
        });
        judge_new_paths(self.args, &found, &mut outcome);
        outcome.warnings.extend(notes);
        Ok(outcome
            .with_verdict_alone(profile)
            .with_source_remarks(sources))
    }
}

/// What the selections of the builds left out as known. A union of programs may be one of all paths, so its parts say
/// whether they were built so; those that never ran have nothing that could be new.
fn known_by_selection(
    profile: &Profile,
    parts: &[Part],
) -> Result<TiVec<FuncId, BTreeMap<PathId, u64>>> {
    let mut silent = None;
    let mut is_any = false;
    let all = parts.iter().map(|part| &part.profile);
    for part in all.chain(parts.is_empty().then_some(profile)) {
        let counted = part.paths()?;
        if is_residual(&part.manifest) {
            is_any = true;
        } else if part.functions().any(|f| !counted.counts(f).is_empty()) {
            silent = silent.or(Some(part));
        }
    }
    if let Some(part) = silent.or((!is_any).then_some(profile)) {
        let problem = "the program was not built with --paths new:…, so nothing says what is known";
        let remedy = "name earlier profiles by --new=PROFILE";
        return Err(Error::profile(&part.path, problem, remedy));
    }
    let known = |f| profile.entry(f).known.iter().map(|id| (*id, 0)).collect();
    Ok(profile.functions().map(known).collect())
}

fn known_by_profiles(
    args: &CoverageArgs,
    profile: &Profile,
    earlier: &[PathBuf],
    trust: Trust,
) -> Result<KnownAndNotes> {
    let spec = [Spec::New(earlier.to_vec())];
    let mut read = Earlier::read(&spec, trust)?;
    read.all_mut().for_each(|p| args.sources.rename(p));
    let target = Target::of_profile(profile)?;
    let seen = Seen::new(&target, read.all_profiles())?;
    let mut notes = Vec::new();
    if !seen.changed.is_empty() {
        let functions = number_of(seen.changed.len() as u64, "function");
        notes.push(format!("{functions} changed; all their paths count as new"));
    }
    Ok((seen.known, notes))
}

/// Finds out what took the new paths: which of `parts`, where there are several, and which runs of these, where their
/// raw profiles are beside the merged one.
fn find_who_reached(found: &mut Fresh, profile: &Profile, parts: &[Part]) -> Result<()> {
    if parts.is_empty() {
        let wanted = found.paths.iter().enumerate();
        let wanted = wanted.map(|(i, new)| (i, (new.path.func, new.path.id)));
        add_runs(found, profile, &wanted.collect::<Vec<_>>())?;
    }
    for Part {
        profile: part,
        places,
    } in parts
    {
        let mut here: HashMap<FuncId, Vec<FuncId>> = HashMap::new();
        for (f, joined) in places.iter_enumerated() {
            here.entry(*joined).or_default().push(f);
        }
        let counts = part.paths()?;
        let mut own = Vec::new();
        for (i, new) in found.paths.iter_mut().enumerate() {
            let (joined, id) = (new.path.func, new.path.id);
            let has_run = |f: &FuncId| counts.counts(*f).iter().any(|c| c.0 == id);
            let functions = here.get(&joined).into_iter().flatten().copied();
            let functions: Vec<FuncId> = functions.filter(has_run).collect();
            if parts.len() > 1 && !functions.is_empty() {
                let name = part.path.display().to_string();
                new.reached_by.programs.push(name);
            }
            own.extend(functions.into_iter().map(|f| (i, (f, id))));
        }
        add_runs(found, part, &own)?;
    }
    for new in &mut found.paths {
        new.reached_by.runs.sort();
        new.reached_by.runs.dedup();
    }
    Ok(())
}

/// Adds the runs of `part` that took new paths: their places in `found`, and what they are in `part`.
fn add_runs(found: &mut Fresh, part: &Profile, paths: &[(usize, (FuncId, PathId))]) -> Result<()> {
    let wanted = paths.iter().map(|p| p.1).collect();
    let origins = find_origins(part, &raw_files_of(part), &wanted)?;
    for (i, path) in paths {
        let runs = origins.get(path).into_iter().flatten().cloned();
        found.paths[*i].reached_by.runs.extend(runs);
    }
    Ok(())
}

/// Where the raw profiles of a program's folder are: those of a suite, or of `make run`.
fn raw_files_of(profile: &Profile) -> Vec<PathBuf> {
    let folder = match profile.path.parent() {
        _ if profile.path.is_dir() => profile.path.as_path(),
        Some(folder) => folder,
        None => return Vec::new(),
    };
    let folders = ["raw", "run"].map(|name| folder.join(name));
    folders.into_iter().filter(|f| f.is_dir()).collect()
}

/// Whether new paths are what was hoped for.
fn judge_new_paths(args: &CoverageArgs, found: &Fresh, outcome: &mut Outcome) {
    let number = found.paths.len() as u64;
    if args.fail_on_new && number > 0 {
        let paths = number_of(number, "path");
        outcome.find(format!("{paths} ran for the first time (--fail-on-new)"));
    }
    if args.require_new && number == 0 {
        outcome.find("no path ran for the first time (--require-new)".into());
    }
}
