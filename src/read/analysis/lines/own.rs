//! Lines and branches by function: those of its own code, in its body and wherever the body was inlined.
//!
//! Code that was inlined into a function belongs to the function that it was written in. So a line of a function counts
//! as executed if any copy of the line ran, and the lines of all functions of a file are lines of the file.

use super::{LineEvidence, SourceFile, UnusedBodies};
use crate::base::index::FuncId;
use crate::input::ir::Loc;
use crate::profile::Profile;
use crate::read::analysis::counted::{CountedFunction, KnownReturns};
use crate::read::source::markers::Markers;
use std::collections::{BTreeMap, HashMap};

/// Lines and branches of each function, in the file that it begins in; a function without debug information has none.
/// Bodies that are `unused` say nothing ([`UnusedBodies`]). Near-linear in blocks and positions.
pub fn by_function(
    profile: &Profile,
    functions: &[CountedFunction],
    unused: &UnusedBodies,
    markers: &Markers,
) -> BTreeMap<FuncId, SourceFile> {
    let owners = Owners::new(profile, functions);
    let returns = KnownReturns::find(profile, functions);
    let mut found: BTreeMap<FuncId, SourceFile> = BTreeMap::new();
    let evidence = LineEvidence {
        profile,
        returns: &returns,
        unused,
        markers,
    };
    let used = || functions.iter().filter(|f| !unused.contains_function(f.f));
    for f in used() {
        let (lines, _) = evidence.find_lines(f, |loc, inlined| owners.find(f, loc, inlined));
        for ((owner, line, _), range) in lines {
            found.entry(owner).or_default().add_line(line, range);
        }
        evidence.find_branches(f, &mut |site, ways, number| {
            for owner in owners.find(f, site.loc, site.inlined) {
                let source = found.entry(owner).or_default();
                source.add_branch(site.loc.line, ways.clone(), number);
            }
        });
    }
    add_first_lines(used(), unused, markers, &mut found);
    found
}

/// A file has the line that a function begins at, with code or without: so has the function.
fn add_first_lines<'a>(
    functions: impl Iterator<Item = &'a CountedFunction<'a>>,
    unused: &UnusedBodies,
    markers: &Markers,
    found: &mut BTreeMap<FuncId, SourceFile>,
) {
    for f in functions {
        let begins = f.entry.find_own_beginning();
        let is_shown = |l: &Loc| markers.is_shown(l.file, l.line) && unused.tells_at(f.f, *l, None);
        let Some(begins) = begins.filter(is_shown) else {
            continue;
        };
        let lines = &mut found.entry(f.f).or_default().lines;
        let first = lines.entry(begins.line).or_default();
        let entered = f.executed.entry_range(&f.structure, &f.flow);
        if first.count < entered.count || first.may_have_run() || entered.may_have_run() {
            *first = entered;
        }
    }
}

/// Which functions code belongs to.
struct Owners<'a> {
    profile: &'a Profile,
    /// By symbol and the name of the file that it begins in: one for each module with a function of that name.
    bodies: HashMap<(&'a str, &'a str), Vec<FuncId>>,
}

impl<'a> Owners<'a> {
    fn new(profile: &'a Profile, functions: &[CountedFunction<'a>]) -> Owners<'a> {
        let mut owners = Owners {
            profile,
            bodies: HashMap::new(),
        };
        for f in functions {
            if let Some(begins) = f.entry.find_start() {
                let key = (f.entry.name.as_str(), owners.file(begins.file));
                owners.bodies.entry(key).or_default().push(f.f);
            }
        }
        owners
    }

    fn file(&self, file: u32) -> &'a str {
        &self.profile.manifest.files[file as usize]
    }

    /// The functions that a position of `f` is code of: none if no function of that name has a body or begins in that
    /// file. Of static functions that several modules have of one header, the one of this module.
    fn find(&self, f: &CountedFunction, loc: Loc, inlined: Option<u32>) -> Vec<FuncId> {
        let file = self.file(loc.file);
        let Some(call) = inlined else {
            let begins = f.entry.find_start();
            let own = begins.is_some_and(|l| self.file(l.file) == file);
            return own.then_some(f.f).into_iter().collect();
        };
        let symbol = self.profile.manifest.inlined[call as usize]
            .function
            .as_str();
        let all = self.bodies.get(&(symbol, file));
        let all = all.map_or(&[][..], Vec::as_slice);
        let here = |g: &&FuncId| self.profile.module(**g) == self.profile.module(f.f);
        match all.iter().find(here) {
            Some(one) => vec![*one],
            None => all.to_vec(),
        }
    }
}
