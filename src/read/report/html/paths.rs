//! The paths of one function in the words of [`Steps`].

use super::files::Files;
use crate::base::index::BlockId;
use crate::paths::dag::{PathEnd, PathStart};
use crate::read::report::coverage::{Near, Uncovered};
use crate::read::report::steps::{StepRow, Steps};
use crate::read::report::words::Said;
use crate::read::report::{Decision, Line, To};
use serde::Serialize;
use std::collections::HashMap;

#[derive(Serialize)]
pub(super) struct PathData {
    /// The id; it may exceed what numbers of JavaScript hold.
    id: String,
    /// Executions.
    count: u64,
    /// Whether not every run counted it, so that there may have been more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) open: bool,
    /// Whether an earlier run has seen it, in a run against earlier ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) known: bool,
    /// Instructions of its blocks.
    size: u64,
    /// Where it begins, if that is not the function's entry: `loop at demo.c:61`.
    #[serde(skip_serializing_if = "String::is_empty")]
    start: String,
    /// How it ends: `↺ next iteration`, `→ return`.
    end: String,
    /// The header of a loop that it goes back to.
    #[serde(skip_serializing_if = "Option::is_none")]
    back: Option<BlockId>,
    blocks: Vec<BlockId>,
    /// The successor taken out of each of these but the last, which has one if the path goes back.
    succs: Vec<u32>,
    /// Its rows: indices into the function's.
    rows: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<BeforeData>,
    /// Places of the threads that ran it, and how often, where threads are told apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) threads: Vec<(usize, u64)>,
}

/// How often a path ran in the baseline, and the instructions that were executed on it there.
#[derive(Serialize)]
pub(super) struct BeforeData {
    pub(super) count: u64,
    pub(super) instructions: u128,
}

/// A row below a path's headline.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum RowData {
    Step(StepData),
    /// So many decisions in code of a library, and the functions called there.
    Library {
        library: usize,
        names: String,
        /// What follows, where the path ends there.
        #[serde(skip_serializing_if = "String::is_empty")]
        note: String,
    },
}

/// A decision.
#[derive(Serialize)]
pub(super) struct StepData {
    place: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<String>,
    text: String,
    outcome: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
    times: usize,
}

#[derive(Serialize)]
pub(super) struct UncoveredData {
    path: PathData,
    near: Option<NearData>,
    /// How many of its edges never ran.
    new_edges: u32,
    /// Values with which it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
}

/// The nearest path that ran.
#[derive(Serialize)]
struct NearData {
    id: String,
    count: u64,
    /// What is decided where the two part: on the path that did not run, and on the one that ran.
    never: Option<String>,
    instead: Option<String>,
}

/// A decision, by all that its words depend on.
type DecisionKey = (Vec<BlockId>, BlockId, u32, bool, BlockId);

/// Words the paths of one function; every distinct row is kept once.
pub(super) struct Teller<'a> {
    steps: &'a Steps<'a>,
    files: &'a Files,
    numbers: HashMap<StepRow, u32>,
    rows: Vec<RowData>,
    said: HashMap<DecisionKey, Said>,
}

impl<'a> Teller<'a> {
    pub(super) fn new(steps: &'a Steps<'a>, files: &'a Files) -> Teller<'a> {
        Teller {
            steps,
            files,
            numbers: HashMap::new(),
            rows: Vec::new(),
            said: HashMap::new(),
        }
    }

    /// The rows that paths refer to.
    pub(super) fn rows(self) -> Vec<RowData> {
        self.rows
    }

    pub(super) fn path(&mut self, line: &Line) -> PathData {
        let mut succs = line.path.succs.clone();
        let back = match line.path.end {
            PathEnd::Back(edge, to) => {
                succs.push(edge.succ);
                Some(to)
            }
            PathEnd::Exit => None,
        };
        let start = match line.path.start {
            PathStart::Entry => String::new(),
            PathStart::Loop => self.steps.loop_at(line.func, line.path.blocks[0]),
        };
        PathData {
            id: line.id.to_string(),
            count: line.count,
            open: false,
            known: false,
            size: line.instructions,
            start,
            end: self.steps.end(line),
            back,
            blocks: line.path.blocks.clone(),
            succs,
            rows: self.numbers(line),
            before: None,
            threads: Vec::new(),
        }
    }

    /// The numbers of a path's rows.
    fn numbers(&mut self, line: &Line) -> Vec<u32> {
        let said: Vec<Said> = line
            .decisions
            .iter()
            .map(|d| self.describe_decision(line, d))
            .collect();
        let rows = self.steps.all_rows(line, &said);
        rows.into_iter().map(|row| self.number(row)).collect()
    }

    /// Words are the costly part, and paths of one function share most of their decisions.
    fn describe_decision(&mut self, line: &Line, d: &Decision) -> Said {
        let (back, to) = match d.to {
            To::Block(b) => (false, b),
            To::Back(b) => (true, b),
        };
        let key = (d.before.clone(), d.block, d.succ, back, to);
        let words = self.steps.words();
        let said = self.said.entry(key);
        said.or_insert_with(|| words.describe_decision(line.func, d))
            .clone()
    }

    fn number(&mut self, row: StepRow) -> u32 {
        if let Some(number) = self.numbers.get(&row) {
            return *number;
        }
        let number = self.rows.len() as u32;
        self.rows.push(match row.clone() {
            StepRow::Step(step) => {
                let file = step.line.as_ref().and_then(|l| self.files.number(&l.0));
                RowData::Step(StepData {
                    file,
                    line: step.line.map(|l| l.1),
                    place: step.place,
                    within: step.within,
                    text: step.text,
                    outcome: step.outcome,
                    note: step.note,
                    times: step.times,
                })
            }
            StepRow::Library(fold) => RowData::Library {
                library: fold.steps,
                names: fold.names,
                note: fold.note,
            },
            StepRow::More(_) | StepRow::Differs(_) => unreachable!("no row was left out"),
        });
        self.numbers.insert(row, number);
        number
    }

    pub(super) fn describe_uncovered(&mut self, uncovered: &Uncovered) -> UncoveredData {
        let line = &uncovered.path;
        UncoveredData {
            path: self.path(line),
            near: uncovered
                .near
                .as_ref()
                .map(|near| self.describe_near(line, near)),
            new_edges: uncovered.new_edges,
            example: uncovered
                .example
                .as_ref()
                .map(|example| example.text(line.path.start == PathStart::Loop)),
        }
    }

    fn describe_near(&mut self, line: &Line, near: &Near) -> NearData {
        let last = near.common.checked_sub(1).map(|i| line.path.blocks[i]);
        let never = line.decisions.iter().find(|d| Some(d.block) == last);
        let mut phrase = |d: &Decision| {
            let said = self.describe_decision(line, d);
            self.steps.phrase(line.func, &said)
        };
        NearData {
            id: near.id.to_string(),
            count: near.count,
            never: never.map(&mut phrase),
            instead: near.parts.as_ref().map(&mut phrase),
        }
    }
}
