//! Profiles: what the copies wrote → one merged profile. What is computed of it is in [`crate::read::analysis`], what
//! people and programs read in [`crate::read::report`].
//!
//! Nothing here loads LLVM or a bitcode file: manifest and raw profiles are enough.

pub mod by_thread;
pub mod combine;
pub mod decode;
pub mod file;
pub mod filter;
pub mod flow;
pub mod forks;
pub mod known;
pub mod left;
pub mod locate;
pub mod manifest;
pub mod matching;
pub mod measurement;
pub mod merge;
pub mod raw;
pub mod several;
pub mod under_way;
pub mod union;
pub mod verdict;
pub mod verify;
pub mod weights;

#[cfg(test)]
pub(crate) mod tests;

#[cfg(test)]
mod deep;
#[cfg(test)]
pub(crate) mod made;

use crate::base::error::{Error, Result};
use crate::base::index::{BlockId, CopyId, EdgeId, FuncId, IdSet, PathId, TiVec};
use crate::base::names::{PrintedNames, printed_name};
use crate::base::table::{group_all_digits, number_of};
use crate::copies::selection::CountedPaths;
use crate::input::ir::{Cfg, inlined_functions};
use crate::paths::function::{Layout, Measuring, Paths};
use crate::profile::manifest::{FunctionEntry, Manifest, ShareEntry};
use crate::read::source::{Search, Sources};
use by_thread::Thread;
use forks::{AllForked, ForkCounts};
use measurement::Measurement;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use verdict::{Processes, Verdict};

/// What to do about a program without line numbers.
pub const COMPILE_WITH_LINES: &str = "compile it with -g or -gline-tables-only";

/// What was counted, over all copies; self-contained.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Where it was read from, for messages.
    pub path: PathBuf,
    /// What was profiled.
    pub manifest: Manifest,
    /// By copy: the processes whose raw profiles went into it.
    pub processes: TiVec<CopyId, Processes>,
    /// What is unique to each of those raw profiles, ascending.
    pub sources: Vec<[u8; 16]>,
    /// What the merge found.
    pub verdict: Verdict,
    /// What ran, as the manifest's scheme measures it.
    pub measured: Measurement,
    /// By function: how often it was entered, where activations may end without completing their
    /// path (elsewhere: as often as paths begin at the entry).
    pub entries: TiVec<FuncId, Option<u64>>,
    /// The functions that may have been under way when a process forked.
    pub forked: AllForked,
    /// What children did in functions that call `fork`.
    pub forks: ForkCounts,
    /// What threads counted but the first one of each process, where that is known: in order, none twice.
    pub threads: Vec<Thread>,
    /// The functions that a process may have been in when it was killed, without having counted that it entered them.
    pub under_way: BTreeSet<FuncId>,
}

/// The structure of a function of a profile, as the rewriter saw it.
pub struct Structure {
    /// Its control flow.
    pub cfg: Cfg,
    /// Its paths.
    pub paths: Measuring,
}

/// A path that ran.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its canonical id.
    pub id: PathId,
    /// How often it ran.
    pub count: u64,
    /// Its edges.
    pub edges: Vec<EdgeId>,
}

/// The cut edges of a manifest's function leave it more paths than ids.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged manifest: {0} has too many paths")]
pub struct TooManyPaths(String);

impl Structure {
    /// Rebuilds what the manifest's `entry` describes; an error when it cannot be. Linear.
    pub fn new(entry: &FunctionEntry) -> Result<Structure, TooManyPaths> {
        let cfg = entry.cfg();
        let paths = Paths::with_cuts(&cfg, entry.cuts.clone())
            .ok_or_else(|| TooManyPaths(entry.name.clone()))?;
        let layout = Layout {
            apart: entry.apart.clone(),
            wide: entry.wide,
        };
        let paths = Measuring::without_measurement(Arc::new(paths), layout);
        Ok(Structure { cfg, paths })
    }
}

impl Profile {
    /// The source files of the program, where `search` finds them.
    pub fn sources(&self, search: Search) -> Sources {
        Sources::new(&self.manifest.files, &self.manifest.checksums, search)
    }

    /// All functions.
    pub fn functions(&self) -> impl Iterator<Item = FuncId> + use<> {
        self.manifest.functions.keys()
    }

    /// The functions in which something ran.
    pub fn executed_functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        let ran = |f: &FuncId| self.measured.count_known_to_run(*f) > 0;
        self.functions().filter(ran)
    }

    /// The functions of which no path is selected, so that nothing is known of them; none if all paths are counted.
    pub fn unselected_functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        let has_no_path = |f: &FuncId| {
            let entry = self.entry(*f);
            entry.share == ShareEntry::Nothing && !entry.status.is_skipped()
        };
        let all = self.is_selective().then(|| self.functions());
        all.into_iter().flatten().filter(has_no_path)
    }

    /// The processes of all copies that profile function `f`. Children that count in their parents' files are one that
    /// began and ended in the middle, since their number is not known.
    pub fn processes_of(&self, f: FuncId) -> Processes {
        let copies = self.entry(f).share.copies();
        let processes = copies.iter().map(|c| self.processes[*c]);
        let mut all = processes.fold(Processes::default(), Processes::plus);
        if !self.forked.is_empty() && self.count_children() == 0 {
            all.children += 1;
            all.cut_short += 1;
        }
        all
    }

    /// The manifest's entry of function `f`.
    pub fn entry(&self, f: FuncId) -> &FunctionEntry {
        &self.manifest.functions[f]
    }

    /// The readable name of function `f`, as it is printed.
    pub fn name(&self, f: FuncId) -> String {
        printed_name(&self.entry(f).name)
    }

    /// The names by which reports call functions, those too that were inlined. O(code).
    pub(crate) fn printed_names(&self, is_full: bool) -> PrintedNames {
        let functions = &self.manifest.functions;
        let named = functions.iter();
        let named = named.map(|f| (f.name.as_str(), f.loc.map(|l| l.line)));
        let code = functions.iter().flat_map(|f| {
            let blocks = (0..f.succs.len()).map(BlockId::new);
            blocks.flat_map(|b| f.spans(b))
        });
        let inlined = inlined_functions(&self.manifest.inlined, code);
        PrintedNames::new(&named.collect::<Vec<_>>(), &inlined, is_full)
    }

    /// The module that names function `f` in reports.
    pub fn module(&self, f: FuncId) -> &str {
        let body = self.entry(f).bodies[0];
        &self.manifest.modules[body.module].name
    }

    /// The structure of function `f`.
    pub fn structure(&self, f: FuncId) -> Result<Structure> {
        Structure::new(self.entry(f)).map_err(|problem| self.damage_error(problem))
    }

    /// The paths of function `f` that copies count: of all others nothing is known.
    pub fn counted_paths(&self, f: FuncId, structure: &Structure) -> Result<CountedPaths> {
        let entry = self.entry(f);
        let counted = entry.counted_paths(&structure.cfg, &structure.paths);
        counted.map_err(|problem| self.damage_error(problem))
    }

    /// Whether only some paths were asked for, so that some may not be counted.
    pub fn is_selective(&self) -> bool {
        !self.manifest.paths.is_empty()
    }

    /// Whether a path that ran was not counted by every run that was joined, so that it ran at least as often as
    /// counted.
    pub fn runs_at_least(&self, f: FuncId, id: PathId) -> bool {
        self.entry(f).at_least.binary_search(&id).is_ok()
    }

    /// How many paths of function `f` are counted, where not all functions have all of theirs counted. Linear.
    pub fn number_of_counted(&self, f: FuncId) -> Option<u64> {
        if !self.is_selective() || self.entry(f).status.is_skipped() {
            return None;
        }
        let structure = self.structure(f).ok()?;
        let counted = self.counted_paths(f, &structure).ok()?;
        Some(counted.number(&structure.paths))
    }

    /// How many are not. Linear.
    fn number_of_uncounted(&self, f: FuncId) -> Option<u64> {
        let counted = self.number_of_counted(f)?;
        Some(self.structure(f).ok()?.paths.numbering.total() - counted)
    }

    /// Whether a function has a line of the source. O(functions) if none has.
    pub fn has_lines(&self) -> bool {
        let functions = &self.manifest.functions;
        functions.iter().any(|f| f.find_start().is_some())
    }

    /// That the program has no line numbers, if it has none, and that `unknown` is therefore not known.
    pub fn describe_missing_lines(&self, unknown: &str) -> Option<String> {
        let is_without = !self.manifest.functions.is_empty() && !self.has_lines();
        is_without.then(|| {
            let program = self.path.display();
            format!(
                "{program}: the program has no line numbers, so {unknown}; {COMPILE_WITH_LINES}"
            )
        })
    }

    /// What was selected, in a line, where some paths may have run oftener than was counted.
    pub fn said_selection(&self) -> Option<String> {
        if !self.is_partial() {
            return None;
        }
        let specs = self.manifest.paths.join(", ");
        let uncounted = self.functions().filter_map(|f| self.number_of_uncounted(f));
        let uncounted: u128 = uncounted.map(u128::from).sum();
        let is_bound = |f: FuncId| !self.entry(f).at_least.is_empty();
        if self.functions().any(is_bound) {
            let others = match uncounted {
                0 => "",
                _ => ", and of paths that are not selected nothing is known",
            };
            return Some(format!(
                "not every run counted all paths ({specs}): some counts are least numbers{others}"
            ));
        }
        let is_residual = self.manifest.paths.iter().all(|s| s.starts_with("new:"));
        let again = self.all_known_again().filter(|_| is_residual);
        Some(match again {
            Some(again) if u128::from(again.not_selected) == uncounted => format!(
                "{} known ({specs}): {} ran again, {} did not run, and whether the {} that {} not \
                 selected ran is not known",
                number_of(again.total(), "path"),
                group_all_digits(again.ran),
                group_all_digits(again.did_not_run),
                group_all_digits(again.not_selected),
                if again.not_selected == 1 { "is" } else { "are" },
            ),
            _ => format!(
                "only selected paths are counted ({specs}); whether others ran is not known"
            ),
        })
    }

    /// For what takes the counts of all paths.
    ///
    /// # Errors
    /// A profile of some paths only.
    pub fn all_are_counted(&self) -> Result<()> {
        if !self.is_partial() {
            return Ok(());
        }
        let problem = format!(
            "it counts only some paths ({})",
            self.manifest.paths.join(", ")
        );
        let remedy = "name a profile of all paths: p3-rewrite without --paths and --patch";
        Err(Error::profile(&self.path, problem, remedy))
    }

    /// The edges of path `id` of `f`.
    pub fn decode(&self, f: FuncId, structure: &Structure, id: PathId) -> Result<Vec<EdgeId>> {
        let edges = structure.paths.decode(id);
        edges.ok_or_else(|| self.damage_error(format!("{} has no path {id}", self.entry(f).name)))
    }

    /// The edges of function `f` that have counters, in a profile of edges.
    ///
    /// # Errors
    /// A function that has none.
    pub fn counted_edges(&self, f: FuncId, structure: &Structure) -> Result<IdSet<EdgeId>> {
        let counted = self
            .entry(f)
            .counted_edges(structure.paths.dag.edges().len());
        counted.map_err(|problem| self.damage_error(problem))
    }

    /// The error for a profile that cannot be what a merge wrote.
    pub fn damage_error(&self, problem: impl Display) -> Error {
        Error::profile(&self.path, problem, "merge the raw profiles again")
    }
}
