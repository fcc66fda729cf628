//! Tasks: functions, and prefixes of the paths of those that are too heavy.

use super::costs::{Facts, ProgramCosts};
use super::flow::{Ordered, Prefix};
use super::room::Room;
use crate::base::index::{CopyId, PathId};
use crate::copies::partition::{WHOLE, distribute, worth_of_a_label};
use std::collections::BinaryHeap;

/// A task that costs more than this part of an even load is split: longest first is then off by no
/// more.
const GRAIN: f64 = 1.0 / 16.0;

/// Paths that one copy will profile.
pub(super) struct HotTask {
    /// The function, or the first of several that must stay together.
    pub function: usize,
    /// The first id of its paths.
    pub id: PathId,
    /// By the weights.
    pub cost: f64,
    /// What other inputs may cost: [`worth_of_a_label`].
    elsewhere: f64,
}

impl HotTask {
    /// What it is expected to cost.
    fn expected_cost(&self) -> f64 {
        self.cost + self.elsewhere
    }
}

/// All tasks of a program.
pub(super) struct Tasks {
    pub all: Vec<HotTask>,
    /// Above this a task is too heavy.
    heavy: f64,
    /// The prefixes that tasks in `all` stand for, where they can be split.
    heap: BinaryHeap<(Ordered, usize)>,
    prefixes: Vec<Prefix>,
    /// By unit: its task before any is split.
    of_unit: Vec<Option<usize>>,
}

impl Tasks {
    /// One for each unit.
    pub(super) fn new(program: &ProgramCosts, copies: u32) -> Tasks {
        let mut tasks = Tasks {
            all: Vec::new(),
            heavy: WHOLE / f64::from(copies) * GRAIN,
            heap: BinaryHeap::new(),
            prefixes: Vec::new(),
            of_unit: vec![None; program.functions.len()],
        };
        let label = worth_of_a_label(program.paths);
        for (i, (facts, paths)) in program.facts.iter().zip(program.paths).enumerate() {
            let (Some(facts), Some(paths)) = (facts, paths) else {
                continue;
            };
            let elsewhere = label * paths.numbering.label_count() as f64;
            let unit = program.functions[i].unit.index();
            match tasks.of_unit[unit] {
                None => {
                    tasks.of_unit[unit] = Some(tasks.all.len());
                    tasks.push(i, facts, facts.flow.all_paths(), [facts.cost, elsewhere]);
                }
                Some(t) => {
                    let task: &mut HotTask = &mut tasks.all[t];
                    task.cost += facts.cost;
                    task.elsewhere += elsewhere;
                }
            }
        }
        tasks
    }

    /// Adds a task with its cost, by the weights and elsewhere.
    fn push(&mut self, function: usize, facts: &Facts, prefix: Prefix, costs: [f64; 2]) {
        let [cost, elsewhere] = costs;
        if facts.splits && cost > self.heavy {
            self.heap.push((Ordered(cost), self.all.len()));
        }
        self.all.push(HotTask {
            function,
            id: prefix.id,
            cost,
            elsewhere,
        });
        self.prefixes.push(prefix);
    }

    /// The function that stands for the unit of `program`'s function `i`.
    pub(super) fn representative(&self, program: &ProgramCosts, i: usize) -> Option<usize> {
        let task = self.of_unit[program.functions[i].unit.index()]?;
        Some(self.all[task].function)
    }

    /// Splits the heaviest tasks as long as there is room; whether any took some.
    pub(super) fn split(&mut self, program: &ProgramCosts, room: &mut Room) -> bool {
        let mut split = vec![false; program.functions.len()];
        while let Some((_, t)) = self.heap.pop() {
            let (i, prefix) = (self.all[t].function, self.prefixes[t]);
            let facts = program.facts[i].as_ref().expect("it is profiled");
            let Some((passed, parts)) = facts.flow.parts(&prefix) else {
                continue;
            };
            if !split[i] && !room.take_function(facts) {
                continue;
            }
            split[i] = true;
            let cfg = program.functions[i].cfg;
            if !room.take_prefixes(i, facts, cfg, prefix.id, &passed) {
                continue;
            }
            let (cost, elsewhere) = (self.all[t].cost, self.all[t].elsewhere);
            let part_costs = |p: &Prefix| {
                let share = p.flow / prefix.flow.max(f64::MIN_POSITIVE);
                // By flow, all that never ran would go to one copy.
                [cost * share, elsewhere / parts.len() as f64]
            };
            let (first, rest) = parts.split_first().expect("paths part");
            self.replace(t, facts, *first, part_costs(first));
            for part in rest {
                self.push(i, facts, *part, part_costs(part));
            }
        }
        split.contains(&true)
    }

    fn replace(&mut self, t: usize, facts: &Facts, prefix: Prefix, costs: [f64; 2]) {
        let [cost, elsewhere] = costs;
        self.all[t].cost = cost;
        self.all[t].elsewhere = elsewhere;
        self.prefixes[t] = prefix;
        if facts.splits && cost > self.heavy {
            self.heap.push((Ordered(cost), t));
        }
    }

    /// The copy of each task, longest first.
    pub(super) fn distribute(&self, copies: u32) -> Vec<CopyId> {
        let expected = self.all.iter().map(|task| Ordered(task.expected_cost()));
        distribute(&Vec::from_iter(expected), copies).copy
    }
}
