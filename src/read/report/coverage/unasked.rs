//! Conditions that were never evaluated, on lines that ran: `d` of `if (c && d)` where `c` was always false.
//!
//! An optimiser may evaluate a condition elsewhere, without a branch, or decide it itself in one copy of a branch. So
//! nothing is said of optimised functions, of functions whose code was inlined somewhere, of lines on which something
//! is chosen without a branch, and of branches whose condition is not certain.

use super::Scope;
use crate::base::index::{BlockId, FuncId};
use crate::input::ir::Terminator;
use crate::input::load::positions::Optimised;
use crate::profile::Profile;
use crate::read::analysis::counted::CountedFunction;
use crate::read::analysis::lines::SourceFile;
use crate::read::report::words::{Said, Words};
use crate::read::report::{Decision, To};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A condition of the source, by file, line and column, and its words.
type ConditionKey = (String, u32, u32, String);

/// A condition that has several lines has its branches at most so many lines behind an operand.
const FARTHEST: u32 = 4;

/// Decisions on lines near some that ran, where one was never asked for.
#[derive(Default)]
pub struct Candidates {
    /// Each with the block behind its first way, and whether it was asked for.
    decisions: Vec<(FuncId, BlockId, BlockId, bool)>,
    /// By file, the lines that ran.
    ran: BTreeMap<String, BTreeSet<u32>>,
}

/// A condition that was never evaluated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unasked {
    /// Its line.
    pub line: u32,
    /// The column, in bytes, at which it begins.
    pub column: u32,
    /// Its words.
    pub condition: String,
    /// The function that asks for it.
    #[serde(skip)]
    pub f: FuncId,
}

impl Candidates {
    /// Of these functions, on lines of `files` that ran. O(blocks), near-linear in decisions.
    pub(super) fn find(
        profile: &Profile,
        counted: &[CountedFunction],
        files: &BTreeMap<&str, SourceFile>,
        scope: &Scope,
    ) -> Candidates {
        let name = |file: u32| profile.manifest.files[file as usize].as_str();
        let inlined = profile.manifest.inlined.iter();
        let inlined: HashSet<&str> = inlined.map(|call| call.function.as_str()).collect();
        let branchless = counted.iter().flat_map(|f| f.entry.branchless_sites());
        let branchless: HashSet<(&str, u32)> = branchless
            .map(|site| (name(site.loc.file), site.loc.line))
            .collect();
        let ran = files.iter().map(|(name, file)| {
            let ran = file.lines().filter(|(_, n)| *n > 0);
            (name.to_string(), ran.map(|(line, _)| line).collect())
        });
        let ran: BTreeMap<String, BTreeSet<u32>> = ran.collect();
        let mut by_line: BTreeMap<(&str, u32), Vec<_>> = BTreeMap::new();
        for f in counted {
            for (block, ways) in f.decisions() {
                let Some(site) = f.entry.decision_site(block) else {
                    continue;
                };
                let at = (name(site.loc.file), site.loc.line);
                let near = at.1.saturating_sub(FARTHEST)..=at.1;
                let mut ran = ran.get(at.0).into_iter();
                let is_near = ran.any(|lines| lines.range(near.clone()).next().is_some());
                let is_hidden = scope.markers.branches(site.loc.file, site.loc.line);
                let is_elsewhere = f.entry.optimised != Optimised::No
                    || site.inlined.is_some()
                    || inlined.contains(&*f.entry.name);
                if !is_near || is_hidden || branchless.contains(&at) || !scope.admits_file(at.0) {
                    continue;
                }
                // What may have been asked for was.
                let was_asked =
                    is_elsewhere || ways.iter().any(|(e, r)| e.count > 0 || r.may_have_run());
                let decision = (f.f, block, ways[0].0.dst, was_asked);
                by_line.entry(at).or_default().push(decision);
            }
        }
        let of_lines = by_line.into_values();
        let of_lines = of_lines.filter(|decisions| decisions.iter().any(|(.., asked)| !asked));
        Candidates {
            decisions: of_lines.flatten().collect(),
            ran,
        }
    }

    /// By file, those that were asked for nowhere, ascending.
    pub(super) fn resolve(&self, words: Words) -> BTreeMap<String, Vec<Unasked>> {
        let mut asked: HashSet<ConditionKey> = HashSet::new();
        let mut unasked: BTreeMap<ConditionKey, FuncId> = BTreeMap::new();
        for &(f, block, to, was_asked) in &self.decisions {
            let Some((key, is_certain)) = find_condition(words, f, block, to) else {
                continue;
            };
            let ran = self.ran.get(&key.0);
            if was_asked || !is_certain {
                asked.insert(key);
            } else if ran.is_some_and(|lines| lines.contains(&key.1)) {
                unasked.entry(key).or_insert(f);
            }
        }
        let mut found: BTreeMap<String, Vec<Unasked>> = BTreeMap::new();
        for (key, f) in unasked.into_iter().filter(|(key, _)| !asked.contains(key)) {
            let (file, line, column, condition) = key;
            found.entry(file).or_default().push(Unasked {
                line,
                column,
                condition,
                f,
            });
        }
        found
    }
}

/// The condition that is decided at the end of a block, and whether that is certain.
fn find_condition(
    words: Words,
    f: FuncId,
    block: BlockId,
    to: BlockId,
) -> Option<(ConditionKey, bool)> {
    let terminator = words.profile().entry(f).terminators[block];
    let said: Said = words.describe_decision(
        f,
        &Decision {
            before: Vec::new(),
            block,
            succ: 0,
            to: To::Block(to),
            taken: terminator.edge_name(0),
        },
    );
    let is_certain = match terminator {
        Terminator::Branch => matches!(said.outcome.as_str(), "true" | "false"),
        Terminator::Switch => said.is_switch,
        _ => false,
    };
    let (line, column) = said.condition_at?;
    Some(((said.file?, line, column, said.condition?), is_certain))
}
