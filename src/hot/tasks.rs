//! Tasks: functions, and prefixes of the paths of those that are too heavy.

use super::flow::{Ordered, Prefix};
use super::room::Room;
use super::{Facts, Program, WHOLE};
use crate::index::{CopyId, PathId};
use std::collections::BinaryHeap;

/// A task that costs more than this part of an even load is split: longest first is then off by no more.
const GRAIN: f64 = 1.0 / 16.0;

/// Paths that one copy will profile.
pub(super) struct Task {
    /// The function, or the first of several that must stay together.
    pub function: usize,
    /// The first id of its paths.
    pub id: PathId,
    pub cost: f64,
}

/// All tasks of a program.
pub(super) struct Tasks {
    pub all: Vec<Task>,
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
    pub(super) fn new(program: &Program, copies: u32) -> Tasks {
        let mut tasks = Tasks {
            all: Vec::new(),
            heavy: WHOLE / f64::from(copies) * GRAIN,
            heap: BinaryHeap::new(),
            prefixes: Vec::new(),
            of_unit: vec![None; program.functions.len()],
        };
        for (i, facts) in program.facts.iter().enumerate() {
            let Some(facts) = facts else { continue };
            let unit = program.functions[i].unit.index();
            match tasks.of_unit[unit] {
                None => {
                    tasks.of_unit[unit] = Some(tasks.all.len());
                    tasks.push(i, facts, facts.flow.all(), facts.cost);
                }
                Some(t) => {
                    let task: &mut Task = &mut tasks.all[t];
                    task.cost += facts.cost;
                }
            }
        }
        tasks
    }

    fn push(&mut self, function: usize, facts: &Facts, prefix: Prefix, cost: f64) {
        if facts.splits && cost > self.heavy {
            self.heap.push((Ordered(cost), self.all.len()));
        }
        self.all.push(Task {
            function,
            id: prefix.id,
            cost,
        });
        self.prefixes.push(prefix);
    }

    /// The function that stands for the unit of `program`'s function `i`.
    pub(super) fn representative(&self, program: &Program, i: usize) -> Option<usize> {
        let task = self.of_unit[program.functions[i].unit.index()]?;
        Some(self.all[task].function)
    }

    /// Splits the heaviest tasks as long as there is room; whether any took some.
    pub(super) fn split(&mut self, program: &Program, room: &mut Room) -> bool {
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
            let cost = self.all[t].cost;
            let part_cost = |p: &Prefix| cost * p.flow / prefix.flow.max(f64::MIN_POSITIVE);
            let (first, rest) = parts.split_first().expect("paths part");
            self.replace(t, facts, *first, part_cost(first));
            for part in rest {
                self.push(i, facts, *part, part_cost(part));
            }
        }
        split.contains(&true)
    }

    fn replace(&mut self, t: usize, facts: &Facts, prefix: Prefix, cost: f64) {
        self.all[t].cost = cost;
        self.prefixes[t] = prefix;
        if facts.splits && cost > self.heavy {
            self.heap.push((Ordered(cost), t));
        }
    }

    /// The copy of each task, longest first.
    pub(super) fn distribute(&self, copies: u32) -> Vec<CopyId> {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_by(|&a, &b| {
            self.all[b]
                .cost
                .total_cmp(&self.all[a].cost)
                .then(a.cmp(&b))
        });
        let mut load = vec![0.0; copies as usize];
        let mut copy = vec![CopyId(0); self.all.len()];
        for t in order {
            let least = |a: &usize, b: &usize| f64::total_cmp(&load[*a], &load[*b]);
            let c = (0..copies as usize)
                .min_by(least)
                .expect("at least one copy");
            // What is not expected to run at all is spread as well.
            load[c] += self.all[t].cost + 1.0;
            copy[t] = CopyId::new(c);
        }
        copy
    }
}
