//! Selections → shares: which copy counts which of the selected paths, and how.
//!
//! What is counted of a function, by what is selected of it:
//!
//! - Nothing: the function gets no code.
//! - All paths: all, as without a selection.
//! - Edges or paths: the paths inside the edges, by the labels of PSPP (Algorithm 1 of the P3 paper), or in versions of
//!   the function in which all other paths run no statement.
//! - All but known paths: the paths that leave a known sub-DAG ([`super::known`]), or whose ids are in ranges
//!   ([`super::ranges`]), in versions in which known paths run no statement.
//!
//! `p3` and its relatives keep to PSPP, `p3-hot` to versions where blocks may be copied, and `sbl` takes what is
//! expected to cost less. Tasks go to copies by what they cost, longest first; a function whose selected paths cost
//! more than an even share, or that the scheme splits anyway, is divided as Algorithm 2 divides the DAG of its selected
//! paths.
#![cfg_attr(
    not(feature = "llvm"),
    allow(dead_code, reason = "only engines use all of it")
)]

use super::known::known_edges;
use super::ranges::ranges_without_known;
use super::{KnownPath, Selection};
use crate::base::index::{CopyId, EdgeId, FuncId, IdSet, TiSlice, TiVec};
use crate::copies::partition::{
    Assignment, Costs, Distribution, Iterations, Part, Ranges, Share, Side, distribute,
    find_partition,
};
use crate::copies::plan::build::function_code;
use crate::copies::plan::ids::choose_ids;
use crate::copies::strategy::Scheme;
use crate::paths::dag::reduced::Reduced;
use crate::paths::function::{Expected, FunctionInput, Measuring, Paths};
use crate::paths::numbering::ball_larus;
use crate::paths::versions::may_meet;
use crate::paths::weights::measured_weights;
use rayon::prelude::*;
use std::sync::Arc;

/// What a path takes where a function is in versions, in instructions, about: values move where control passes from one
/// to another.
const IN_VERSIONS: f64 = 0.5;

/// Known paths must save this part of what counting takes in a function.
const WORTHWHILE: f64 = 0.1;

/// And so many instructions, or the code is better not doubled.
const WORTH_CODE: f64 = 1e3;

/// The least weight of an edge, of the heaviest: what never ran still differs.
const FLOOR: f64 = 1e-6;

/// How the selected paths of one function are told from others.
#[derive(Clone, Debug)]
enum Distinction {
    /// All are selected.
    Whole,
    /// By labels.
    Labels(IdSet<EdgeId>),
    /// By versions.
    Inside(IdSet<EdgeId>),
    /// By versions, and they are those that leave a set.
    Outside(IdSet<EdgeId>),
    /// By versions, and they are those that copy 0 has in these ranges.
    Ranges(Ranges),
}

/// Something that one copy will count.
struct SelectionTask {
    function: usize,
    how: Distinction,
    cost: u64,
}

/// What is needed to decide.
struct Assigner<'a> {
    scheme: Scheme,
    functions: &'a [FunctionInput<'a>],
    paths: &'a [Option<Measuring>],
    costs: Costs,
    copies: u32,
}

/// Takes the counts of known paths for weights, where no profile gave others. O(paths · length).
pub(crate) fn weigh(
    paths: &[Option<Arc<Paths>>],
    expected: &mut [Option<Expected>],
    selections: &TiSlice<FuncId, Selection>,
) {
    let known = |s: &Selection| matches!(s, Selection::Known(_));
    if !selections.iter().any(known) {
        return;
    }
    for ((paths, expected), selection) in paths.iter().zip(expected).zip(selections) {
        let (Some(paths), Some(expected)) = (paths, expected) else {
            continue;
        };
        if expected.measured {
            continue;
        }
        let known: &[KnownPath] = match selection {
            Selection::Known(known) => known,
            Selection::All => &[], // no known profile has seen it run
            _ => continue,
        };
        let counts: Vec<_> = known.iter().map(|k| (k.0, k.1)).collect();
        let measured = measured_weights(&paths.dag, &paths.numbering, &counts);
        let guessed = &expected.weights;
        let largest = guessed.iter().fold(f64::MIN_POSITIVE, |a, &b| a.max(b));
        let floor = guessed.iter().map(|w| w / largest * FLOOR);
        let weights = measured.into_iter().zip(floor).map(|(n, w)| n + w);
        *expected = Expected {
            weights: weights.collect(),
            measured: true,
            ran: paths.that_ran(counts),
        };
    }
}

/// Who counts which of the selected paths, on `copies` copies. `paths` are as the scheme measures them; those that are
/// returned have iterations together where that is better.
pub(crate) fn assign(
    scheme: Scheme,
    functions: &[FunctionInput],
    paths: Vec<Option<Measuring>>,
    selections: &TiSlice<FuncId, Selection>,
    copies: u32,
) -> (Assignment, Vec<Option<Measuring>>) {
    let strategy = scheme.strategy();
    let (how, paths) = decide(scheme, functions, paths, selections);
    let assigner = Assigner {
        scheme,
        functions,
        costs: (strategy.cost)(functions, &paths),
        paths: &paths,
        copies: strategy.copies(copies),
    };
    let mut assignment = assigner.assign(how);
    assignment.load.resize(copies as usize, 0);
    (assignment, paths)
}

/// By function: how its paths are told from others; `None` where nothing is counted. And how they are measured.
fn decide(
    scheme: Scheme,
    functions: &[FunctionInput],
    paths: Vec<Option<Measuring>>,
    selections: &TiSlice<FuncId, Selection>,
) -> (Vec<Option<Distinction>>, Vec<Option<Measuring>>) {
    let decided = functions.par_iter().zip(paths).zip(&selections.raw);
    let decided = decided.map(|((f, paths), selection)| {
        let Some(paths) = paths else {
            return (None, None);
        };
        let set = match selection.clone().simplify(&paths) {
            Selection::Nothing => return (None, Some(paths)),
            Selection::All => return (Some(Distinction::Whole), Some(paths)),
            Selection::Known(known) => {
                let (how, paths) = without_known(f, paths, &known);
                return (how, Some(paths));
            }
            Selection::Edges(set) => set,
            Selection::Paths(ids) => {
                let mut set = paths.dag.edge_set();
                set.extend(
                    ids.iter()
                        .flat_map(|id| paths.decode(*id).unwrap_or_default()),
                );
                set
            }
        };
        let how = if set.is_full() {
            Distinction::Whole
        } else {
            choose_inside(scheme, f, &paths, set)
        };
        (Some(how), Some(paths))
    });
    decided.unzip()
}

/// How the paths inside `set` are told from others.
fn choose_inside(
    scheme: Scheme,
    f: &FunctionInput,
    paths: &Measuring,
    set: IdSet<EdgeId>,
) -> Distinction {
    let may_have_versions = may_meet(f.cfg, &paths.shape.order);
    let versions_pay = || {
        let by_labels = function_code(f.cfg, paths, Part::Edges(&set)).cost();
        let in_versions = function_code(f.cfg, paths, Part::Side(Side::Inside(&set))).cost();
        in_versions + IN_VERSIONS * flow(paths) < by_labels
    };
    let versions = match scheme {
        _ if scheme.strategy().makes_ranges => may_have_versions,
        Scheme::Sbl => may_have_versions && versions_pay(),
        _ => false,
    };
    if versions {
        Distinction::Inside(set)
    } else {
        Distinction::Labels(set)
    }
}

/// Executions of all paths, by the function's own weights.
fn flow(paths: &Measuring) -> f64 {
    let dag = &paths.dag;
    dag.out_edges(dag.entry()).map(|e| paths.weights[e]).sum()
}

/// How the paths that are not known are told from others, and whether iterations are apart then.
fn without_known(
    f: &FunctionInput,
    paths: Measuring,
    known: &[KnownPath],
) -> (Option<Distinction>, Measuring) {
    let whole = function_code(f.cfg, &paths, Part::All).cost();
    if !may_meet(f.cfg, &paths.shape.order) {
        return (Some(Distinction::Whole), paths);
    }
    let together = paths.clone().with_apart(Vec::new());
    let apart = (!paths.apart.is_empty()).then(|| paths.clone());
    let worthwhile = (whole * WORTHWHILE).max(WORTH_CODE);
    let mut best = (whole - worthwhile, None);
    for candidate in std::iter::once(together).chain(apart) {
        let iterations = Iterations::new(f.cfg, &candidate);
        let set = known_edges(&iterations, &candidate, known);
        if set.is_full() {
            return (None, paths); // every path is known
        }
        let outside = (!set.is_empty()).then_some(Distinction::Outside(set));
        let ranges = ranges_without_known(f.cfg, &candidate, known, CopyId(0));
        let in_versions = IN_VERSIONS * flow(&candidate);
        let ways = [
            outside.map(|how| (how, 0.0)),
            ranges.map(|ranges| (Distinction::Ranges(ranges), in_versions)),
        ];
        for (how, besides) in ways.into_iter().flatten() {
            let cost = function_code(f.cfg, &candidate, how.selected_part()).cost() + besides;
            if cost < best.0 {
                best = (cost, Some((candidate.clone(), how)));
            }
        }
    }
    match best.1 {
        Some((chosen, how)) => (Some(how), chosen),
        None => (Some(Distinction::Whole), paths),
    }
}

impl Distinction {
    fn selected_part(&self) -> Part<'_> {
        match self {
            Distinction::Whole => Part::All,
            Distinction::Labels(set) => Part::of_edges(set),
            Distinction::Inside(set) => Part::Side(Side::Inside(set)),
            Distinction::Outside(set) => Part::Side(Side::Outside(set)),
            Distinction::Ranges(ranges) => Part::Ranges(ranges, CopyId(0)),
        }
    }

    /// The paths inside another set, told apart as these are.
    fn with_set(&self, set: IdSet<EdgeId>) -> Distinction {
        match self {
            Distinction::Inside(_) => Distinction::Inside(set),
            _ => Distinction::Labels(set),
        }
    }
}

impl Assigner<'_> {
    fn assign(&self, how: Vec<Option<Distinction>>) -> Assignment {
        let mut members = vec![0u32; self.functions.len()];
        for (f, _) in self.functions.iter().zip(&how).filter(|(_, h)| h.is_some()) {
            members[f.unit.index()] += 1;
        }
        let all = how.par_iter().enumerate();
        let costs: Vec<u64> = all
            .map(|(i, how)| how.as_ref().map_or(0, |how| self.cost(i, how)))
            .collect();
        // A task above an even share would be the slowest copy whoever gets it: only those are divided.
        let even = costs.iter().sum::<u64>() / u64::from(self.copies.max(1));
        let tasks = how.into_par_iter().enumerate().flat_map_iter(|(i, how)| {
            // Functions of one symbol are counted by one copy, since the linker chooses which body runs.
            let alone = members[self.functions[i].unit.index()] == 1;
            how.map_or(Vec::new(), |how| self.tasks(i, how, costs[i], alone, even))
        });
        let tasks: Vec<SelectionTask> = tasks.collect();
        self.shares(tasks, &members)
    }

    /// What the paths of function `i` cost, in the scheme's unit.
    fn cost(&self, i: usize, how: &Distinction) -> u64 {
        let paths = self.paths[i].as_ref().expect("it is not skipped");
        let cfg = self.functions[i].cfg;
        match &self.costs {
            Costs::Labels => {
                let ids = choose_ids(cfg, paths, how.selected_part());
                ids.numbering().label_count().max(1) as u64
            }
            costs => {
                costs.worth_of_hits(i, function_code(cfg, paths, how.selected_part()).cost()) as u64
                    + 1
            }
        }
    }

    /// Divides the selected paths of function `i`, if that is asked for and possible.
    fn tasks(
        &self,
        i: usize,
        how: Distinction,
        cost: u64,
        alone: bool,
        even: u64,
    ) -> Vec<SelectionTask> {
        let (function, paths) = (i, self.paths[i].as_ref().expect("it is not skipped"));
        let called_once = self.scheme == Scheme::P3 && self.functions[i].call_sites <= 1;
        let set = match &how {
            Distinction::Labels(set) | Distinction::Inside(set) if alone && self.copies > 1 => {
                Some(set)
            }
            _ => None,
        };
        let set = set.filter(|_| called_once || cost > even && self.scheme != Scheme::Pbl);
        let parts = set.map_or(Vec::new(), |set| divide(paths, set, self.copies));
        if parts.len() < 2 {
            return vec![SelectionTask {
                function,
                how,
                cost,
            }];
        }
        let task = |part| {
            let how = how.with_set(part);
            let cost = self.cost(i, &how);
            SelectionTask {
                function,
                how,
                cost,
            }
        };
        parts.into_iter().map(task).collect()
    }

    /// Gives tasks to copies; functions of one unit stay together.
    fn shares(&self, tasks: Vec<SelectionTask>, members: &[u32]) -> Assignment {
        let unit = |t: &SelectionTask| self.functions[t.function].unit.index();
        let mut bundles: Vec<(usize, u64, Vec<usize>)> = Vec::new();
        for (t, task) in tasks.iter().enumerate() {
            let together = members[unit(task)] > 1;
            match bundles.iter_mut().find(|b| together && b.0 == unit(task)) {
                Some((_, cost, of_unit)) => {
                    *cost += task.cost;
                    of_unit.push(t);
                }
                None => bundles.push((unit(task), task.cost, vec![t])),
            }
        }
        let costs: Vec<u64> = bundles.iter().map(|b| b.1).collect();
        let Distribution { copy, load } = distribute(&costs, self.copies);
        let mut copy_of = vec![CopyId(0); tasks.len()];
        for ((.., of_unit), copy) in bundles.iter().zip(copy) {
            of_unit.iter().for_each(|t| copy_of[*t] = copy);
        }
        let mut of_function = vec![Vec::new(); self.functions.len()];
        for (task, copy) in tasks.into_iter().zip(copy_of) {
            of_function[task.function].push((copy, task.how));
        }
        Assignment {
            tasks: of_function.iter().map(|t| t.len() as u32).collect(),
            shares: of_function.into_iter().map(share).collect(),
            load,
        }
    }
}

/// What copies count of a function, given its tasks.
fn share(tasks: Vec<(CopyId, Distinction)>) -> Share {
    let mut labels: TiVec<CopyId, Option<IdSet<EdgeId>>> = TiVec::new();
    let mut versions = false;
    for (copy, how) in tasks {
        let set = match how {
            Distinction::Whole => return Share::Whole(copy),
            Distinction::Outside(set) => return Share::Outside(copy, set),
            Distinction::Ranges(ranges) => return Share::Ranges(ranges.on_one_copy(copy)),
            Distinction::Inside(set) => {
                versions = true;
                set
            }
            Distinction::Labels(set) => set,
        };
        if labels.len() <= copy.index() {
            labels.resize(copy.index() + 1, None);
        }
        match &mut labels[copy] {
            Some(all) => all.union_with(&set),
            none => *none = Some(set),
        }
    }
    let sets = labels.into_iter_enumerated();
    let sets: Vec<_> = sets.filter_map(|(c, set)| Some((c, set?))).collect();
    match (sets.is_empty(), versions) {
        (true, _) => Share::Nothing,
        (_, true) => Share::Inside(sets),
        _ => Share::Split(sets),
    }
}

/// The tasks of Algorithm 2 for the DAG of the paths inside `set`: sets of edges of the function's DAG, which have each
/// of these paths once.
fn divide(paths: &Measuring, set: &IdSet<EdgeId>, copies: u32) -> Vec<IdSet<EdgeId>> {
    /// As without a selection: a task is labelled by itself.
    const MOST_WORK: usize = 1 << 26;
    let edges: Vec<EdgeId> = set.iter().collect();
    let dag = paths.dag.restrict_to(&edges);
    let threshold = dag.out_degree(dag.entry()).max(copies as usize);
    if threshold.saturating_mul(edges.len()) > MOST_WORK || ball_larus(&dag).is_none() {
        return Vec::new();
    }
    let parts = find_partition(&dag, &Reduced::new(&dag), threshold);
    let own = |part: IdSet<EdgeId>| {
        let mut own = paths.dag.edge_set();
        own.extend(part.iter().map(|e| edges[e.index()]));
        own
    };
    parts.into_iter().map(own).collect()
}
