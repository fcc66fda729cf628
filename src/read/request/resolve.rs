//! Specifications against a program: which paths of which function they ask for. Pure: neither LLVM nor files.

use super::earlier::EarlierProfile;
use super::resolved::{Resolved, no_function, refusal};
use super::spec::Spec;
use super::target::{Target, TargetFunction};
use super::{Earlier, places, ranking};
use crate::base::error::{Error, Result};
use crate::base::index::{FuncId, IdSet, PathId, TiVec, ti_vec};
use crate::base::names::{Naming, TypedNames, escape_unprintable, printed_name};
use crate::base::table::number_of;
use crate::copies::selection::{KnownPath, Selection};
use crate::paths::dag::edges_through;
use crate::paths::function::Paths;
use crate::profile::Profile;
use crate::profile::matching::{Index, Match};
use crate::profile::union::is_residual;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The union of what `specs` ask for. Linear in the program, the executed paths of the profiles, and the length of
/// listed paths.
///
/// # Errors
/// Lines without code, functions and path ids that the program does not have, profiles that do not count paths.
#[cfg(test)]
pub(crate) fn resolve(specs: &[Spec], target: &Target, earlier: &Earlier) -> Result<Resolved> {
    let mut resolved = Resolved::empty(target.functions.len());
    for spec in specs {
        add_spec(&mut resolved, spec, target, earlier)?;
    }
    Ok(resolved)
}

/// Adds what one of them asks for.
pub(super) fn add_spec(
    resolved: &mut Resolved,
    spec: &Spec,
    target: &Target,
    earlier: &Earlier,
) -> Result<()> {
    match spec {
        Spec::Lines { file, first, last } => {
            places::add_lines(resolved, target, spec, file, *first..=*last)
        }
        Spec::Function(name) => places::add_function(resolved, target, spec, name),
        Spec::Top { number, profile } => {
            let most = ranking::Most::Paths(*number);
            add_hottest(resolved, target, spec, &earlier.profiles_of(profile), most)
        }
        Spec::Share { percent, profile } => {
            let most = ranking::Most::Share(*percent / 100.0);
            add_hottest(resolved, target, spec, &earlier.profiles_of(profile), most)
        }
        Spec::Cold(profile) => add_cold(resolved, target, spec, &earlier.profiles_of(profile)),
        Spec::New(profiles) => {
            let all = profiles.iter().flat_map(|p| earlier.profiles_of(p));
            add_new(resolved, target, spec, &Vec::from_iter(all))
        }
        Spec::Ids(ids) => add_ids(resolved, target, spec, ids),
    }
}

/// Where each function of `target` is in `profile`.
pub(super) fn match_functions(target: &Target, profile: EarlierProfile) -> TiVec<FuncId, Match> {
    let index = if profile.is_named {
        Index::of_same_program(&profile, &target.build)
    } else {
        Index::of_any_program(&profile, &target.build)
    };
    let find = |f: &TargetFunction| {
        let Some(paths) = f.paths.as_deref() else {
            return Match::Unknown;
        };
        match index.find(&f.marks()) {
            // Ids mean the same paths only under the same cuts.
            Match::Same(old) if profile.entry(old).cuts != paths.cuts => Match::Changed,
            found => found,
        }
    };
    target.functions.iter().map(find).collect()
}

/// The hottest paths of profiles. Those of functions that changed cannot be selected, which is reported.
fn add_hottest(
    resolved: &mut Resolved,
    target: &Target,
    spec: &Spec,
    profiles: &[EarlierProfile],
    most: ranking::Most,
) -> Result<()> {
    note_selective(resolved, spec, profiles)?;
    for &profile in profiles {
        let mut here: HashMap<FuncId, FuncId> = HashMap::new();
        for (f, found) in match_functions(target, profile).iter_enumerated() {
            if let Match::Same(old) = found {
                here.entry(*old).or_insert(f);
            }
        }
        let hottest = ranking::find_hottest(profile.paths()?, most)?;
        if hottest.is_empty() {
            let path = escape_unprintable(&profile.path.display().to_string()).into_owned();
            resolved
                .empty
                .push(format!("{spec}: no path ran in {path}"));
        }
        let mut gone = BTreeSet::new();
        for (old, ids) in hottest {
            match here.get(&old) {
                Some(f) => resolved.add(target, *f, Selection::Paths(ids.into_iter().collect())),
                None => {
                    gone.insert(profile.name(old));
                }
            }
        }
        if !gone.is_empty() {
            resolved.notes.push(format!(
                "{spec}: {} changed or gone since; their hottest paths are not selected: {}",
                number_of(gone.len() as u64, "function"),
                list_names(&gone)
            ));
        }
    }
    Ok(())
}

/// Reports that profiles have no counts of paths that may be hotter than those they have.
fn note_selective(resolved: &mut Resolved, spec: &Spec, profiles: &[EarlierProfile]) -> Result<()> {
    let mut number = 0;
    for profile in profiles {
        number += usize::from(counts_some_only(profile)?);
    }
    let what = match profiles {
        _ if number == 0 => return Ok(()),
        [_] => "the profile holds".to_string(),
        _ => format!("{number} of {} profiles hold", profiles.len()),
    };
    let note = format!("{spec}: {what} selected paths only; others may be hotter");
    resolved.notes.push(note);
    Ok(())
}

/// Whether some path of a profile's functions was not counted. Linear where paths were selected.
fn counts_some_only(profile: &Profile) -> Result<bool> {
    if !profile.is_selective() {
        return Ok(false);
    }
    let profiled = |f: &FuncId| !profile.entry(*f).status.is_skipped();
    for f in profile.functions().filter(profiled) {
        let structure = profile.structure(f)?;
        if !profile.counted_paths(f, &structure)?.are_all() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Paths through an edge that never ran. In functions that changed, all.
fn add_cold(
    resolved: &mut Resolved,
    target: &Target,
    spec: &Spec,
    profiles: &[EarlierProfile],
) -> Result<()> {
    let seen = Seen::new(target, profiles.iter().copied())?;
    for &profile in profiles {
        seen.require_all_of(profile, target)?;
    }
    let mut is_any = false;
    for (f, function) in target.functions.iter_enumerated() {
        let Some(paths) = function.paths.as_deref() else {
            continue;
        };
        let mut cold = IdSet::with_all(paths.dag.edges().len());
        for edges in seen.known[f].keys().filter_map(|id| paths.decode(*id)) {
            edges.into_iter().for_each(|e| cold.remove(e));
        }
        if !cold.is_empty() {
            is_any = true;
            let edges = edges_through(&paths.dag, &cold);
            resolved.add(target, f, Selection::Edges(edges));
        }
    }
    if !is_any {
        resolved.empty.push(format!("{spec}: every edge ran"));
    }
    seen.report(resolved, spec, "all their paths count as cold");
    Ok(())
}

/// Paths that none of the profiles has seen. In functions that changed, all.
fn add_new(
    resolved: &mut Resolved,
    target: &Target,
    spec: &Spec,
    profiles: &[EarlierProfile],
) -> Result<()> {
    let seen = Seen::new(target, profiles.iter().copied())?;
    let mut is_any = false;
    for (f, known) in seen.known.iter_enumerated() {
        let Some(paths) = target.functions[f].paths.as_deref() else {
            continue;
        };
        is_any |= (known.len() as u64) < paths.numbering.total();
        let known: Vec<KnownPath> = known.iter().map(|(id, n)| KnownPath(*id, *n)).collect();
        let selection = if known.is_empty() {
            Selection::All
        } else {
            Selection::Known(known)
        };
        resolved.add(target, f, selection);
    }
    if !is_any {
        let all = format!("{spec}: every path that control flow allows has run");
        resolved.empty.push(all);
    }
    if profiles.is_empty() {
        resolved.notes.push(format!(
            "{spec}: no profile is there yet; all paths count as new"
        ));
    } else {
        seen.report(resolved, spec, "all their paths count as new");
    }
    Ok(())
}

/// The paths that profiles have seen.
pub(crate) struct Seen {
    /// By function: how often they ran, in all profiles together.
    pub known: TiVec<FuncId, BTreeMap<PathId, u64>>,
    /// Functions that some profile has with other control flow, and none with the same.
    pub changed: BTreeSet<String>,
    /// Whether a profile knows a function as it is.
    pub any: bool,
}

impl Seen {
    /// O(functions + executed paths).
    ///
    /// # Errors
    /// A profile that does not count paths.
    pub(crate) fn new<'p>(
        target: &Target,
        profiles: impl IntoIterator<Item = EarlierProfile<'p>>,
    ) -> Result<Seen> {
        let mut known = ti_vec![BTreeMap::<PathId, u64>::new(); target.functions.len()];
        let mut found = ti_vec![Match::Unknown; target.functions.len()];
        for profile in profiles {
            let counted = profile.paths()?;
            for (f, now) in match_functions(target, profile).into_iter_enumerated() {
                match now {
                    Match::Same(old) => {
                        for (id, n) in counted.counts(old) {
                            let sum = known[f].entry(*id).or_default();
                            *sum = sum.saturating_add(*n);
                        }
                        found[f] = now;
                    }
                    Match::Changed if found[f] == Match::Unknown => found[f] = now,
                    Match::Changed | Match::Unknown => {}
                }
            }
        }
        let of = |f: FuncId| printed_name(target.functions[f].name);
        let is_changed = |(_, m): &(FuncId, &Match)| **m == Match::Changed;
        let changed = found.iter_enumerated().filter(is_changed);
        Ok(Seen {
            changed: changed.map(|(f, _)| of(f)).collect(),
            any: found.iter().any(|m| matches!(m, Match::Same(_))),
            known,
        })
    }

    /// Refuses a profile that did not count a path which none has seen: whether that ran is not known.
    fn require_all_of(&self, profile: EarlierProfile, target: &Target) -> Result<()> {
        if !profile.is_selective() {
            return Ok(());
        }
        let mut partly = BTreeSet::new();
        for (f, found) in match_functions(target, profile).iter_enumerated() {
            let Match::Same(old) = *found else { continue };
            if profile.entry(old).status.is_skipped() {
                continue;
            }
            let structure = profile.structure(old)?;
            let counted = profile.counted_paths(old, &structure)?;
            let paths = &structure.paths;
            let uncounted = paths.numbering.total() - counted.number(paths);
            // A residual run leaves out what was known, and is complete beside the runs that it was known by.
            let is_uncounted = |id: &&PathId| !counted.contain_id(paths, **id);
            let seen = self.known[f].keys().filter(is_uncounted).count();
            if (seen as u64) < uncounted {
                partly.insert(printed_name(target.functions[f].name));
            }
        }
        if partly.is_empty() {
            return Ok(());
        }
        let problem = format!(
            "it counts only some paths ({}), so what is cold in {} is not known",
            profile.manifest.paths.join(", "),
            list_names(&partly)
        );
        let remedy = if is_residual(&profile.manifest) {
            "name a profile of all paths, or its union with the runs before it (p3-prof union)"
        } else {
            "name a profile of all paths"
        };
        Err(Error::profile(&profile.path, problem, remedy))
    }

    /// Reports functions that are not what the profiles know.
    fn report(&self, resolved: &mut Resolved, spec: &Spec, consequence: &str) {
        if !self.changed.is_empty() {
            resolved.notes.push(format!(
                "{spec}: {} changed; {consequence}: {}",
                number_of(self.changed.len() as u64, "function"),
                list_names(&self.changed)
            ));
        }
        if !self.any {
            resolved.notes.push(format!(
                "{spec}: the profile has none of the program's functions as they are now; {consequence}"
            ));
        }
    }
}

/// Listed paths.
fn add_ids(
    resolved: &mut Resolved,
    target: &Target,
    spec: &Spec,
    ids: &[(String, PathId)],
) -> Result<()> {
    let names = target.typed_names();
    for (name, id) in ids {
        let functions = find_function(target, names, name).map_err(|p| refusal(spec, &p))?;
        let total = |(_, paths): &(FuncId, &Paths)| paths.numbering.total();
        let largest = functions.iter().map(total).max().unwrap_or(0);
        if id.0 >= largest {
            let last = largest - 1;
            let problem = format!("{name} has no path #{id}; its last is #{last}");
            return Err(refusal(spec, &problem));
        }
        let with_path = functions.into_iter().filter(|f| id.0 < total(f));
        let with_path: Vec<FuncId> = with_path.map(|(f, _)| f).collect();
        if let [_, _, ..] = with_path[..] {
            let modules = with_path.iter().map(|f| target.functions[*f].module);
            resolved.notes.push(format!(
                "{spec}: several modules have a function {}; path #{id} of each is selected: {}",
                escape_unprintable(name),
                list_names(
                    &modules
                        .map(|m| escape_unprintable(m).into_owned())
                        .collect()
                )
            ));
        }
        for f in with_path {
            resolved.add(target, f, Selection::Paths(vec![*id]));
        }
    }
    Ok(())
}

/// The function that a text names most precisely, with its paths: several only where they have one symbol. Why there is
/// none, or more than one.
fn find_function<'a>(
    target: &'a Target,
    names: &TypedNames,
    name: &str,
) -> std::result::Result<Vec<(FuncId, &'a Paths)>, String> {
    let functions = target.functions.iter_enumerated();
    let profiled = functions.filter_map(|(f, function)| Some((f, function.paths.as_deref()?)));
    let named_so = profiled.filter_map(|(f, paths)| {
        let naming = names.find_naming(name, target.functions[f].name)?;
        Some((naming, (f, paths)))
    });
    let named_so: Vec<(Naming, _)> = named_so.collect();
    let Some(most) = named_so.iter().map(|(naming, _)| *naming).min() else {
        return Err(no_function(target, names, name));
    };
    let found = named_so.into_iter().filter(|(naming, _)| *naming == most);
    let found: Vec<_> = found.map(|(_, function)| function).collect();
    let symbols: BTreeSet<&str> = found
        .iter()
        .map(|(f, _)| target.functions[*f].name)
        .collect();
    if symbols.len() > 1 {
        return Err(format!(
            "{} is the name of {}; give one of: {}",
            escape_unprintable(name),
            number_of(symbols.len() as u64, "function"),
            list_names(&symbols.iter().map(|s| names.unambiguous_name(s)).collect())
        ));
    }
    Ok(found)
}

/// At most so many functions are named.
const NAMED: usize = 3;

fn list_names(functions: &BTreeSet<String>) -> String {
    let first: Vec<&str> = functions.iter().take(NAMED).map(String::as_str).collect();
    let more = if functions.len() > NAMED { ", …" } else { "" };
    first.join(", ") + more
}
