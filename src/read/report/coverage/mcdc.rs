//! MC/DC: which conditions of decisions executed vectors show to decide, by file and by function.

use super::{Paths, Scope};
use crate::base::error::Result;
use crate::base::index::FuncId;
use crate::profile::Profile;
use crate::profile::measurement::PathProfile;
use crate::read::decisions::{Decision, Rule, Shown, ShownSums, Vector, count_function};
use crate::read::report::truth::judge_branches;
use crate::read::source::Sources;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The decisions in scope, and how many of their conditions are shown.
pub struct Mcdc {
    /// The rule that is asked for.
    pub(super) rule: Rule,
    /// Those of all functions; instances of one template together. Those with most to show first.
    pub(super) decisions: Vec<Decision>,
    by_file: BTreeMap<String, ShownSums>,
    by_function: BTreeMap<FuncId, ShownSums>,
    /// Of all decisions.
    pub(super) total: ShownSums,
    /// Whether text lists decisions.
    pub(super) lists_decisions: bool,
}

/// By line the decisions, and of each condition the text and whether it is shown.
pub(crate) type LineRecords = BTreeMap<u32, Vec<Vec<(String, bool)>>>;

/// File, line, column and number of an expression, and its text.
type Key = (u32, u32, u32, usize, String);

impl Mcdc {
    /// Of these functions, in the files and lines that `scope` admits. O(executed paths · their length).
    ///
    /// # Errors
    /// A damaged profile.
    pub fn find(
        paths: PathProfile,
        sources: &Sources,
        mut functions: Vec<FuncId>,
        scope: &Scope,
        rule: Rule,
        lists_decisions: bool,
    ) -> Result<Mcdc> {
        let profile = paths.profile();
        scope.retain_admitted(profile, &mut functions);
        let unselected: BTreeSet<FuncId> = profile.unselected_functions().collect();
        functions.retain(|f| !unselected.contains(f));
        let count = |f: FuncId| {
            let entry = profile.entry(f);
            let inlined = &profile.manifest.inlined;
            let judged = sources.branches(f, || judge_branches(entry, inlined, sources));
            count_function(paths, f, sources, &judged)
        };
        let counted = functions.into_par_iter().map(count);
        let counted: Vec<Vec<Decision>> = counted.collect::<Result<_>>()?;
        let mut lines: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let mut is_admitted = |d: &Decision| {
            let name = &profile.manifest.files[d.file as usize];
            let is_touched = scope.touched.as_ref().is_none_or(|touched| {
                let lines = lines.entry(d.file);
                let lines = lines.or_insert_with(|| touched.lines_of_file(profile, name));
                lines.range(d.line..=d.last_line).next().is_some()
            });
            let markers = &scope.markers;
            let is_excluded = markers.line(d.file, d.line) || markers.branches(d.file, d.line);
            scope.admits_file(name) && is_touched && !is_excluded
        };
        let mut by_function: BTreeMap<FuncId, ShownSums> = BTreeMap::new();
        let mut by_place: BTreeMap<Key, Vec<Decision>> = BTreeMap::new();
        for decision in counted.into_iter().flatten().filter(|d| is_admitted(d)) {
            by_function
                .entry(decision.f)
                .or_default()
                .add(decision.sum(rule));
            let (joined, place) = (
                &decision.joined,
                (decision.file, decision.line, decision.column),
            );
            let key = (
                place.0,
                place.1,
                place.2,
                joined.number,
                joined.text.clone(),
            );
            by_place.entry(key).or_default().push(decision);
        }
        let mut decisions: Vec<Decision> = by_place.into_values().map(join_instances).collect();
        let (mut by_file, mut total) = (BTreeMap::new(), ShownSums::default());
        for decision in &decisions {
            let sums = decision.sum(rule);
            let name = profile.manifest.files[decision.file as usize].clone();
            let of_file: &mut ShownSums = by_file.entry(name).or_default();
            of_file.add(sums);
            total.add(sums);
        }
        decisions.sort_by_cached_key(|d| {
            let sums = d.sum(rule);
            (
                std::cmp::Reverse(sums.all - sums.shown - sums.unmeasured),
                sums.unmeasured > 0,
            )
        });
        Ok(Mcdc {
            rule,
            decisions,
            by_file,
            by_function,
            total,
            lists_decisions,
        })
    }

    /// Those of a source file.
    pub(super) fn sums_of_file(&self, file: &str) -> ShownSums {
        self.by_file.get(file).copied().unwrap_or_default()
    }

    /// Those of a function.
    pub(super) fn sums_of_function(&self, f: FuncId) -> ShownSums {
        self.by_function.get(&f).copied().unwrap_or_default()
    }

    /// Conditions that are shown, and all.
    pub fn conditions(&self) -> Paths {
        self.total.into()
    }

    /// Why decisions are not measured: each reason, and of how many conditions.
    pub(super) fn count_reasons(&self) -> BTreeMap<&str, u64> {
        let mut reasons = BTreeMap::new();
        for decision in &self.decisions {
            let n = decision.sum(self.rule).unmeasured;
            let reason = match &decision.unmeasured {
                Some(reason) => reason,
                None => "the value of the last condition is used, which has no branch",
            };
            if n > 0 {
                *reasons.entry(reason).or_default() += n;
            }
        }
        reasons
    }

    /// The measured decisions by file and line: of each condition the text, and whether it is shown.
    pub(crate) fn list_by_line(&self, profile: &Profile) -> BTreeMap<String, LineRecords> {
        let mut files: BTreeMap<String, LineRecords> = BTreeMap::new();
        for decision in &self.decisions {
            let judged = decision.judge(self.rule);
            if judged.contains(&Shown::NotMeasured) {
                continue;
            }
            let texts = decision.conditions.iter().map(|c| c.text.clone());
            let shown = judged.into_iter().map(|shown| shown == Shown::Yes);
            let file = files
                .entry(Mcdc::file(profile, decision).to_string())
                .or_default();
            file.entry(decision.line)
                .or_default()
                .push(texts.zip(shown).collect());
        }
        files
    }

    /// The name of the file that a decision is in.
    pub(super) fn file<'a>(profile: &'a Profile, decision: &Decision) -> &'a str {
        &profile.manifest.files[decision.file as usize]
    }
}

impl From<ShownSums> for Paths {
    fn from(sums: ShownSums) -> Paths {
        Paths {
            executed: sums.shown.into(),
            feasible: sums.all.into(),
        }
    }
}

/// Decisions of instances of one piece of source as one: with the vectors of all that are measured.
fn join_instances(mut instances: Vec<Decision>) -> Decision {
    if instances.iter().any(|d| d.unmeasured.is_none()) {
        instances.retain(|d| d.unmeasured.is_none());
    }
    let mut counts: BTreeMap<_, u64> = BTreeMap::new();
    for vector in instances.iter().flat_map(|d| &d.vectors) {
        let sum = counts
            .entry((vector.values.clone(), vector.outcome))
            .or_default();
        *sum = sum.saturating_add(vector.count);
    }
    let mut joined = instances.swap_remove(0);
    let vectors = counts.into_iter();
    let vectors = vectors.map(|((values, outcome), count)| Vector {
        values,
        outcome,
        count,
    });
    joined.vectors = vectors.collect();
    joined
}
