//! How often each vector of a function's decisions ran, by the paths that did.

use super::find::{ConditionBranch, Located, find_expressions};
use super::wiring::{Target, Values, Wiring};
use super::{Condition, Decision, Vector};
use crate::base::error::Result;
use crate::base::index::{BlockId, CfgEdge, FuncId};
use crate::paths::dag::{Path, PathEnd, PathStart};
use crate::profile::Structure;
use crate::profile::measurement::PathProfile;
use crate::read::source::{Branches, Sources};
use std::collections::{BTreeMap, HashMap};

/// A decision whose branches are known, and what was counted of it.
struct Counter {
    /// Its number among the function's.
    decision: usize,
    wiring: Wiring,
    branches: Vec<Option<ConditionBranch>>,
    counts: BTreeMap<(Values, Option<bool>), u64>,
    /// Whether evaluations were met of which the beginning is on another path, and not known.
    is_divided: bool,
}

/// An evaluation that a path is in.
#[derive(Clone)]
enum State {
    /// None began.
    Before,
    /// The condition that is asked for next, and the values so far.
    Inside(usize, Values),
    After,
}

/// The decisions of function `f`, of which `judged` are the branches. O(executed paths · their length), besides
/// finding them.
///
/// # Errors
/// A damaged profile.
pub(crate) fn count_function(
    profile: PathProfile,
    f: FuncId,
    sources: &Sources,
    judged: &Branches,
) -> Result<Vec<Decision>> {
    let entry = profile.entry(f);
    let located = find_expressions(entry, sources, judged);
    let mut decisions: Vec<Decision> = located.iter().map(|l| describe(f, l, sources)).collect();
    if decisions.is_empty() {
        return Ok(decisions);
    }
    if entry.status.is_skipped() {
        for decision in &mut decisions {
            decision
                .unmeasured
                .get_or_insert_with(|| entry.status.to_string());
        }
        return Ok(decisions);
    }
    let structure = profile.structure(f)?;
    let mut counters = Vec::new();
    for (n, located) in located.into_iter().enumerate() {
        if let (None, Some(tree)) = (&located.problem, &located.joined.tree) {
            counters.push(Counter {
                decision: n,
                wiring: Wiring::new(tree),
                branches: located.branches,
                counts: BTreeMap::new(),
                is_divided: false,
            });
        }
    }
    count_paths(profile, f, &structure, &mut counters)?;
    let uncounted = find_uncounted(profile, f, &structure, &counters)?;
    for (counter, is_uncounted) in counters.into_iter().zip(uncounted) {
        let decision = &mut decisions[counter.decision];
        if counter.is_divided {
            decision.unmeasured = Some("a loop inside it divides its evaluations".into());
        } else if is_uncounted {
            decision.unmeasured = Some("not all paths through it are counted".into());
        }
        let vectors = counter.counts.into_iter();
        let vectors = vectors.map(|((values, outcome), count)| Vector {
            values,
            outcome,
            count,
        });
        decision.vectors = vectors.collect();
    }
    Ok(decisions)
}

fn describe(f: FuncId, located: &Located, sources: &Sources) -> Decision {
    let text = sources.text(located.file);
    let position = |byte: usize| text.map_or((0, 0), |text| text.position(byte));
    let joined = &located.joined;
    let (line, column) = position(joined.bytes.start);
    let conditions = joined.operands.iter().map(|operand| {
        let (line, column) = position(operand.bytes.start);
        Condition {
            text: operand.text.clone(),
            line,
            column,
        }
    });
    Decision {
        f,
        file: located.file,
        line,
        column,
        last_line: position(joined.bytes.end.saturating_sub(1)).0,
        conditions: conditions.collect(),
        joined: joined.clone(),
        vectors: Vec::new(),
        unmeasured: located.problem.clone(),
    }
}

/// Counts the vectors on all executed paths.
fn count_paths(
    profile: PathProfile,
    f: FuncId,
    structure: &Structure,
    counters: &mut [Counter],
) -> Result<()> {
    let mut conditions: HashMap<BlockId, (usize, usize)> = HashMap::new();
    for (n, counter) in counters.iter().enumerate() {
        for (i, branch) in counter.branches.iter().enumerate() {
            if let Some(branch) = branch {
                conditions.insert(branch.block, (n, i));
            }
        }
    }
    let dag = &structure.paths.dag;
    for ran in profile.executed_paths(f, structure)? {
        let path = dag.path(&ran.edges);
        let mut states = HashMap::new();
        for (block, succ) in list_choices(&path) {
            let Some(&(n, i)) = conditions.get(&block) else {
                continue;
            };
            let state = states.entry(n).or_insert(State::Before);
            counters[n].step(state, i, succ, path.start, ran.count);
        }
    }
    Ok(())
}

/// The blocks of a path in which control chose, each with the successor, and that by which the path ends.
fn list_choices(path: &Path) -> impl Iterator<Item = (BlockId, u32)> + '_ {
    let last = match path.end {
        PathEnd::Back(edge, _) => Some((edge.block, edge.succ)),
        PathEnd::Exit => None,
    };
    let inner = path.blocks.iter().copied().zip(path.succs.iter().copied());
    inner.chain(last)
}

impl Counter {
    /// Goes on with condition `i`, behind which control takes a successor.
    fn step(&mut self, state: &mut State, i: usize, succ: u32, start: PathStart, count: u64) {
        let values = match std::mem::replace(state, State::After) {
            State::Inside(next, values) if next == i => values,
            State::Before if i == 0 => vec![None; self.wiring.len()],
            State::Before if start == PathStart::Loop => match self.wiring.find_only_way(i) {
                Some(values) => values,
                None => {
                    self.is_divided = true;
                    return;
                }
            },
            // A branch on the value of all of it, which an earlier condition decided.
            _ => return,
        };
        let mut values = values;
        let Some(branch) = self.branches[i] else {
            return;
        };
        let value = (succ == 0) == branch.first_is_true;
        values[i] = Some(value);
        match self.wiring.find_next(i, value) {
            Target::Outcome(outcome) => self.add(values, Some(outcome), count),
            Target::Condition(next) if self.branches[next].is_none() => {
                self.add(values, None, count);
            }
            Target::Condition(next) => *state = State::Inside(next, values),
        }
    }

    fn add(&mut self, values: Values, outcome: Option<bool>, count: u64) {
        let sum = self.counts.entry((values, outcome)).or_default();
        *sum = sum.saturating_add(count);
    }
}

/// Whether paths through the branches of each decision are not counted, in a profile of selected paths.
fn find_uncounted(
    profile: PathProfile,
    f: FuncId,
    structure: &Structure,
    counters: &[Counter],
) -> Result<Vec<bool>> {
    let counted = profile.counted_paths(f, structure)?;
    if counted.are_all() {
        return Ok(vec![false; counters.len()]);
    }
    let certain = counted.certain_edges(&structure.paths);
    let dag = &structure.paths.dag;
    let is_certain = |block: BlockId| {
        let succs = 0..profile.entry(f).succs[block].len() as u32;
        let edges = succs.map(|succ| dag.edge_of(CfgEdge { block, succ }));
        edges.flatten().all(|edge| certain.contains(edge))
    };
    let is_uncounted = |counter: &Counter| {
        let blocks = counter.branches.iter().flatten().map(|b| b.block);
        !blocks.into_iter().all(is_certain)
    };
    Ok(counters.iter().map(is_uncounted).collect())
}
