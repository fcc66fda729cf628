//! Code that says nothing of its lines.

use super::harness::Harness;
use crate::base::index::FuncId;
use crate::input::ir::Loc;
use crate::profile::Profile;
use crate::read::analysis::counted::CountedFunction;
use std::collections::{HashMap, HashSet};

/// A symbol, and the file that its code is of.
type Source<'a> = (&'a str, &'a str);
/// A line, with its file.
type Line<'a> = (&'a str, u32);

/// The bodies that nothing entered and whose code ran elsewhere: where it was inlined, or as another module or program
/// has it. That such a body did not run says nothing about its lines.
///
/// One source may be compiled to several bodies by other macros, for two test programs for example. Where the code of
/// such a body was inlined nowhere, the lines that no body has which ran are lines that did not run.
///
/// The code that rustc adds around tests ([`Harness`]) says nothing, in its own body and inlined.
pub struct UnusedBodies<'a> {
    profile: &'a Profile,
    /// By body: the lines that it says nothing about; `None`: all.
    silent: HashMap<FuncId, Option<HashSet<Line<'a>>>>,
    pub(super) harness: Harness<'a>,
}

impl<'a> UnusedBodies<'a> {
    /// Finds them among `functions`. O(positions).
    pub fn find(profile: &'a Profile, functions: &[CountedFunction<'a>]) -> UnusedBodies<'a> {
        let file = |number: u32| profile.manifest.files[number as usize].as_str();
        let source = |f: &CountedFunction| -> Option<Source<'a>> {
            let begins = profile.entry(f.f).find_start()?;
            Some((profile.entry(f.f).name.as_str(), file(begins.file)))
        };
        let inlined = find_inlined_sources(profile, functions);
        let never_entered = functions.iter().filter(|f| f.is_never_entered());
        let never_entered: Vec<(FuncId, Source)> = never_entered
            .filter_map(|f| Some((f.f, source(f)?)))
            .collect();
        let wanted: HashSet<Source> = never_entered.iter().map(|f| f.1).collect();
        let mut entered: HashMap<Source, HashSet<Line>> = HashMap::new();
        for f in functions.iter().filter(|f| f.flow.entry > 0) {
            let source = source(f).filter(|s| wanted.contains(s));
            if let Some(source) = source {
                let lines = entered.entry(source).or_default();
                lines.extend(find_lines(profile, f.f));
            }
        }
        let mut silent = HashMap::new();
        for (f, source) in never_entered {
            if inlined.contains(&source) {
                silent.insert(f, None);
            } else if let Some(lines) = entered.get(&source) {
                let own: HashSet<Line> = find_lines(profile, f).collect();
                let is_known = own.is_subset(lines);
                let known = own.intersection(lines).copied();
                silent.insert(f, (!is_known).then(|| known.collect()));
            }
        }
        UnusedBodies {
            profile,
            silent,
            harness: Harness::find(profile),
        }
    }

    /// Whether function `f` is one that says nothing about any line.
    pub fn contains_function(&self, f: FuncId) -> bool {
        matches!(self.silent.get(&f), Some(None))
    }

    /// Whether code of function `f` at `loc`, in the inlined call `inlined` or in the function itself, tells how often
    /// its line ran.
    pub(super) fn tells_at(&self, f: FuncId, loc: Loc, inlined: Option<u32>) -> bool {
        if self.harness.has_code_at(f, inlined) {
            return false;
        }
        let file = || self.profile.manifest.files[loc.file as usize].as_str();
        match self.silent.get(&f) {
            None => true,
            Some(None) => false,
            Some(Some(lines)) => !lines.contains(&(file(), loc.line)),
        }
    }
}

/// The lines of a function's own code, that at which it begins included.
fn find_lines(profile: &Profile, f: FuncId) -> impl Iterator<Item = Line<'_>> {
    let entry = profile.entry(f);
    let spans = entry.succs.keys().flat_map(|b| entry.spans(b));
    let own = spans.filter(|s| s.inlined.is_none()).map(|s| s.loc);
    let all = own.chain(entry.find_start());
    all.map(|loc| (profile.manifest.files[loc.file as usize].as_str(), loc.line))
}

/// The functions whose code ran where it was inlined.
fn find_inlined_sources<'a>(
    profile: &'a Profile,
    functions: &[CountedFunction],
) -> HashSet<Source<'a>> {
    let manifest = &profile.manifest;
    let file = |number: u32| manifest.files[number as usize].as_str();
    let mut ran = HashSet::new();
    for f in functions {
        let mut seen = HashSet::new();
        for (b, block) in f.structure.cfg.blocks.iter_enumerated() {
            let range = f.executed.blocks[b];
            if range.count == 0 || range.may_have_run() {
                continue;
            }
            for span in &block.lines {
                let (mut at, mut of) = (span.inlined, span.loc.file);
                while let Some(call) = at.filter(|call| seen.insert((*call, of))) {
                    let call = &manifest.inlined[call as usize];
                    ran.insert((call.function.as_str(), file(of)));
                    (at, of) = (call.within, call.file);
                }
            }
        }
    }
    ran
}
