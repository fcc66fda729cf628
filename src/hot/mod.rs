//! `p3-hot`: any ranges of paths over copies, foreign paths free, hot ones for one increment each (spec §9).
//!
//! Foreign paths run no statement, so splitting a function costs code, in every copy a version of it for the
//! copy's own paths, one for foreign ones, and prefixes that tell them apart ([`crate::partition::Ranges`]), and what
//! paths take in such versions. What is split and what is hot follows from expected costs, as far as there is `room` for code: first the heaviest tasks
//! are split until none is too heavy for an even load, then hot paths get versions of their own, the most worthwhile first, and whole
//! functions with too many paths for an array get a version for their `warm` edges.
//!
//! Without measured hits nothing is split, and likely paths are hot.
//!
//! Costs are instructions of the code that the copies would run. By them the outcome is no worse than pbl's, and no worse than
//! with fewer copies: those are tried as well.

mod flow;
mod room;
mod tasks;
mod warm;

#[cfg(test)]
mod tests;

use crate::index::{CopyId, PathId, TiVec, ti_vec};
use crate::partition::{
    Assignment, Costs, Part, Ranges, Share, Units, WHOLE, halves, to_the_first, whole,
};
use crate::paths::{FunctionInput, FunctionPaths};
use crate::plan::build::{FunctionCode, function_code};
use crate::versions::{can_be_copied, size};
use flow::Flow;
use rayon::prelude::*;
use room::Room;
use std::collections::BTreeMap;
use tasks::Tasks;

/// Ranges of paths over the copies, by measured hits. Where all weights are guesses, whole functions: splitting at guesses costs
/// more than it evens. Their likeliest paths are hot, the same ones with any number of copies: a function takes as much in all of them.
pub fn ranges(units: &Units) -> Assignment {
    let program = Program::new(units, IN_VERSIONS);
    if units.costs.are_measured() {
        return program.with_warm_edges_found().assign(units.copies);
    }
    let labels = Units::new(units.functions, units.paths, Costs::labels, units.copies);
    let mut assignment = halves(&labels);
    // As if one copy had all functions.
    let mut room = Room::new(program.size(), 1);
    let hot = program.hot_paths(&to_the_first(&labels).shares, &mut room);
    make_hot(&mut assignment.shares, hot);
    assignment
}

/// The same as if versions cost nothing: whatever can be split is, for tests of what splitting makes.
pub fn ranges_everywhere(units: &Units) -> Assignment {
    let program = Program::new(units, 0.0).with_warm_edges_found();
    program.assign(units.copies)
}

/// What a saving must come to, of what a copy executes, to be worth more code.
const WORTHWHILE: f64 = 1e-3;

/// What a path takes in a function that is split, whether a copy counts it or not: values move between
/// registers where versions join, jumps lead from one to the other, and loops that had one induction variable have
/// several. Measured: 3 to 5 instructions.
const IN_VERSIONS: f64 = 4.0;

/// Of that, what a path takes in versions for warm edges: values move only where a path leaves them. Measured in bzip2, sqlite and xz,
/// where half of it chooses what is best in each function, and a seventh does not.
const IN_WARM: f64 = 0.5;

/// The same of a path in iterations that are apart: these loops are as they were, but are entered from two versions. Measured: nothing to
/// one instruction.
const BESIDE_WARM: f64 = 0.125;

/// The part of what counting takes in a function that hot paths must save where one copy profiles it all. Those that keep to hot paths
/// take less than expected, since no register holds an id there; those that leave them move values, up to 36 instructions
/// a path in one function of xz, of which a tenth would have been saved. Measured in bzip2, sqlite and xz: of 43 functions in
/// which a fifth or more is saved two get slower, by less than three instructions a path.
const IN_HOT_PATHS: f64 = 0.2;

/// Of the paths that start alike, at most this many are hot: the six hottest carry nearly all of the flow.
const HOT_PATHS: usize = 6;

/// Expected executions in the program.
struct Program<'a> {
    functions: &'a [FunctionInput<'a>],
    paths: &'a [Option<FunctionPaths>],
    /// What a path takes in a function that is split, in instructions.
    in_versions: f64,
    /// By function; `None` where it is skipped.
    facts: Vec<Option<Facts<'a>>>,
}

/// What is expected of one function.
struct Facts<'a> {
    flow: Flow<'a>,
    /// Instructions, with the function's own weights, where one copy profiles it all.
    instructions: f64,
    /// The same in the unit of [`WHOLE`].
    cost: f64,
    /// What its paths take where it is split, in instructions.
    in_versions: f64,
    /// Whether its paths may have versions of their own: it can be copied, is not too large, and stands for itself.
    may_be_hot: bool,
    /// Whether several copies may profile it: besides, that can pay.
    splits: bool,
    /// Whether it can have versions at all.
    can_be_copied: bool,
    /// Its instructions.
    size: u64,
    /// Its warm edges, where they may be worth it.
    warm: Option<Warm>,
}

/// A function with warm edges.
struct Warm {
    /// The edges; one copy profiles all paths.
    ranges: Ranges,
    /// The instructions of the blocks they lead to, which exist twice.
    size: u64,
    /// Instructions where one copy profiles it all, with what paths take in versions.
    instructions: f64,
}

/// A distribution and what it costs each copy.
struct Candidate {
    shares: Vec<Share>,
    tasks: Vec<u32>,
    load: TiVec<CopyId, f64>,
}

impl Candidate {
    fn slowest(&self) -> f64 {
        self.load.iter().copied().fold(0.0, f64::max)
    }
}

impl<'a> Program<'a> {
    /// Where a path takes `in_versions` instructions in a function that is split.
    fn new(units: &Units<'a>, in_versions: f64) -> Self {
        let (functions, paths, costs) = (units.functions, units.paths, &units.costs);
        let facts = (0..functions.len()).into_par_iter().map(|i| {
            let (f, paths) = (&functions[i], paths[i].as_ref()?);
            let instructions = function_code(f.cfg, paths, Part::All).cost();
            let flow = Flow::new(paths);
            let in_versions = in_versions * flow.total();
            let order = &paths.shape.order;
            let size = size(f.cfg, order);
            let can_be_copied = can_be_copied(f.cfg, order);
            let may_be_hot = units.is_alone(f) && size <= room::LARGE_FUNCTION && can_be_copied;
            Some(Facts {
                flow,
                instructions,
                in_versions,
                cost: costs.worth(i, instructions),
                may_be_hot,
                splits: may_be_hot && in_versions < instructions / 2.0,
                can_be_copied,
                size,
                warm: None,
            })
        });
        let mut facts: Vec<Option<Facts>> = facts.collect();
        let total: f64 = facts.iter().flatten().map(|f| f.cost).sum();
        for f in facts.iter_mut().flatten() {
            f.cost *= WHOLE / total.max(f64::MIN_POSITIVE);
        }
        Program {
            functions,
            paths,
            in_versions,
            facts,
        }
    }

    /// Finds which edges of its functions are warm.
    fn with_warm_edges_found(mut self) -> Self {
        let all = (0..self.functions.len()).into_par_iter();
        let warm: Vec<Option<Warm>> = all.map(|i| self.find_warm(i)).collect();
        for (facts, warm) in self.facts.iter_mut().zip(warm) {
            if let Some(facts) = facts {
                facts.warm = warm;
            }
        }
        self
    }

    /// Its instructions.
    fn size(&self) -> u64 {
        self.facts.iter().flatten().map(|f| f.size).sum()
    }

    /// Whether versions are made as if they cost nothing.
    fn everywhere(&self) -> bool {
        self.in_versions == 0.0
    }

    /// The best distribution for `copies`, or fewer.
    fn assign(&self, copies: u32) -> Assignment {
        let mut best = self.best_for(copies);
        for fewer in (1..copies).rev() {
            if self.least() / f64::from(fewer) < best.slowest() {
                let other = self.best_for(fewer);
                if other.slowest() < best.slowest() {
                    best = other;
                }
            }
        }
        let mut load: TiVec<CopyId, u64> = best.load.iter().map(|&l| l as u64).collect();
        load.resize(copies as usize, 0);
        Assignment {
            shares: best.shares,
            tasks: best.tasks,
            load,
        }
    }

    /// Every path that is executed is counted by some copy: at least this.
    fn least(&self) -> f64 {
        let facts = self.facts.iter().flatten();
        facts.map(|f| f.cost_of(f.flow.total())).sum()
    }

    /// The best of what splits, of whole functions by expected instructions, and of pbl's.
    fn best_for(&self, copies: u32) -> Candidate {
        let mut room = Room::new(self.size(), copies);
        let mut tasks = Tasks::new(self, copies);
        let whole_functions = self.distributed(&tasks, &mut room.clone(), copies);
        let split = tasks.split(self, &mut room);
        let split = split.then(|| self.distributed(&tasks, &mut room, copies));
        let pbl = Units::new(self.functions, self.paths, Costs::labels, copies);
        let pbl = whole(&pbl);
        let pbl = self.candidate(pbl.shares, pbl.tasks, copies);
        let candidates = split.into_iter().chain([whole_functions, pbl]);
        let best = candidates.min_by(|a, b| a.slowest().total_cmp(&b.slowest()));
        best.expect("there are two at least")
    }

    fn candidate(&self, shares: Vec<Share>, tasks: Vec<u32>, copies: u32) -> Candidate {
        let costs = shares.par_iter().enumerate().flat_map_iter(|(i, share)| {
            let cost = move |(c, part)| (c, self.part_cost(i, part));
            share.parts().into_iter().map(cost)
        });
        let mut load = ti_vec![0.0; copies as usize];
        for (copy, cost) in costs.collect::<Vec<(CopyId, f64)>>() {
            load[copy] += cost;
        }
        Candidate {
            shares,
            tasks,
            load,
        }
    }

    fn part_cost(&self, i: usize, part: Part) -> f64 {
        let facts = self.facts[i].as_ref().expect("it is not skipped");
        match part {
            Part::All => facts.cost,
            Part::Ranges(ranges, _) if !ranges.warm.is_empty() => {
                let warm = facts.warm.as_ref().expect("it was found");
                facts.cost_of(warm.instructions)
            }
            Part::Ranges(ranges, _) if ranges.owners.len() > 1 => {
                facts.in_versions() + facts.cost_of(self.code(i, part).cost())
            }
            _ => facts.cost_of(self.code(i, part).cost()),
        }
    }

    fn code(&self, i: usize, part: Part) -> FunctionCode<'a> {
        let paths = self.paths[i].as_ref().expect("it is not skipped");
        function_code(self.functions[i].cfg, paths, part)
    }

    /// Distributes tasks, and makes paths hot.
    fn distributed(&self, tasks: &Tasks, room: &mut Room, copies: u32) -> Candidate {
        let copy_of = tasks.distribute(copies);
        let mut owners: BTreeMap<usize, Vec<(PathId, CopyId)>> = BTreeMap::new();
        let mut numbers = vec![0; self.functions.len()];
        for (task, copy) in tasks.all.iter().zip(&copy_of) {
            owners
                .entry(task.function)
                .or_default()
                .push((task.id, *copy));
            numbers[task.function] += 1;
        }
        let shares = (0..self.functions.len()).map(|i| {
            let of_unit = tasks.representative(self, i).and_then(|r| owners.get(&r));
            match of_unit {
                Some(owners) if self.facts[i].is_some() => {
                    share(Ranges::new(owners.clone(), Vec::new()))
                }
                _ => Share::Nothing,
            }
        });
        let mut shares: Vec<Share> = shares.collect();
        let hot = self.hot_paths(&shares, room);
        make_hot(&mut shares, hot);
        let shares = self.with_warm_edges(shares, room);
        self.candidate(shares, numbers, copies)
    }

    /// Makes edges warm where a copy profiles a whole function, too large for an array, and that saves something; where it saves
    /// most first, as long as there is room.
    fn with_warm_edges(&self, mut shares: Vec<Share>, room: &mut Room) -> Vec<Share> {
        let functions = shares.par_iter().enumerate();
        let savings = functions.filter_map(|(i, share)| self.warm(i, share));
        let mut savings: Vec<WarmSaving> = savings.collect();
        savings.sort_by(|a, b| b.saved.total_cmp(&a.saved));
        for s in savings {
            if room.take_blocks(s.copy, s.size) {
                shares[s.function] = Share::Ranges(s.ranges);
            }
        }
        shares
    }

    /// What warm edges would save in function `i`, if anything.
    fn warm(&self, i: usize, share: &Share) -> Option<WarmSaving> {
        let facts = self.facts[i].as_ref()?;
        let warm = facts.warm.as_ref()?;
        let [(copy, part)] = share.parts()[..] else {
            return None;
        };
        let saved = self.part_cost(i, part) - facts.cost_of(warm.instructions);
        (saved > 0.0 || self.everywhere() && saved == 0.0).then(|| WarmSaving {
            function: i,
            copy,
            ranges: Ranges {
                owners: vec![(PathId(0), copy)],
                ..warm.ranges.clone()
            },
            size: warm.size,
            saved,
        })
    }

    /// Warm edges of function `i`, where they may be worth it.
    fn find_warm(&self, i: usize) -> Option<Warm> {
        let (facts, paths) = (self.facts[i].as_ref()?, self.paths[i].as_ref()?);
        let pays =
            facts.cost >= WHOLE * WORTHWHILE && paths.numbering.total() > paths.array_slots();
        if !facts.can_be_copied || !pays && !self.everywhere() {
            return None;
        }
        let cfg = self.functions[i].cfg;
        let (edges, size) = warm::warm_edges(cfg, paths, facts.size)?;
        let ranges = Ranges::new(vec![(PathId(0), CopyId(0))], Vec::new()).with_warm(edges);
        let apart = warm::apart(cfg, paths);
        let joined = facts.flow.total() - apart;
        let in_versions = self.in_versions * (IN_WARM * joined + BESIDE_WARM * apart);
        let code = self.code(i, Part::Ranges(&ranges, CopyId(0)));
        Some(Warm {
            instructions: code.cost() + in_versions,
            ranges,
            size,
        })
    }

    /// Paths to be hot, by function: those that save most, as long as there is room.
    fn hot_paths(&self, shares: &[Share], room: &mut Room) -> BTreeMap<usize, Vec<PathId>> {
        let functions = shares.par_iter().enumerate();
        let savings = functions.flat_map_iter(|(i, share)| self.savings(i, share));
        let mut savings: Vec<Saving> = savings.collect();
        savings.sort_by(|a, b| b.saved.total_cmp(&a.saved));
        let mut hot: BTreeMap<usize, Vec<PathId>> = BTreeMap::new();
        for s in savings {
            let facts = self.facts[s.function].as_ref().expect("it is profiled");
            let cfg = self.functions[s.function].cfg;
            if room.take_path(s.function, s.copy, facts, cfg, s.path) {
                hot.entry(s.function).or_default().push(s.path);
            }
        }
        hot
    }

    /// What hot paths would save in function `i`.
    fn savings(&self, i: usize, share: &Share) -> Vec<Saving> {
        let Some(facts) = self.facts[i].as_ref().filter(|f| f.may_be_hot) else {
            return Vec::new();
        };
        let paths = self.paths[i].as_ref().expect("it is not skipped");
        let worthwhile = WHOLE * WORTHWHILE;
        if facts.cost < worthwhile / 64.0 {
            return Vec::new();
        }
        let codes: Vec<(CopyId, FunctionCode)> = share
            .parts()
            .into_iter()
            .map(|(copy, part)| (copy, self.code(i, part)))
            .collect();
        let mut savings = Vec::new();
        for (path, flow) in facts.flow.hottest(HOT_PATHS) {
            let edges = paths.decode(path).expect("a path");
            for (copy, code) in &codes {
                let more = code.instructions(&edges).saturating_sub(1);
                let saved = facts.cost_of(flow * more as f64);
                if saved > 0.0 {
                    savings.push(Saving {
                        function: i,
                        copy: *copy,
                        path,
                        saved,
                    });
                }
            }
        }
        let total: f64 = savings.iter().map(|s| s.saved).sum();
        // Warm edges may save more, and take the same room.
        let warm = facts.warm.as_ref();
        let by_warm = warm.map_or(0.0, |w| facts.cost - facts.cost_of(w.instructions));
        let pays = total > by_warm.max(facts.cost * IN_HOT_PATHS) || self.everywhere();
        if matches!(share, Share::Whole(_)) && !pays {
            savings.clear(); // it would get versions for them alone
        }
        savings
    }
}

/// Makes these paths of each function hot.
fn make_hot(shares: &mut [Share], hot: BTreeMap<usize, Vec<PathId>>) {
    for (i, hot) in hot {
        let owners = match &shares[i] {
            Share::Whole(copy) => vec![(PathId(0), *copy)],
            Share::Ranges(ranges) => ranges.owners.clone(),
            _ => unreachable!("what this scheme makes"),
        };
        shares[i] = Share::Ranges(Ranges::new(owners, hot));
    }
}

/// What a hot path would save.
struct Saving {
    function: usize,
    copy: CopyId,
    path: PathId,
    saved: f64,
}

/// What warm edges would save.
struct WarmSaving {
    function: usize,
    copy: CopyId,
    ranges: Ranges,
    size: u64,
    saved: f64,
}

impl Facts<'_> {
    /// The cost of so many expected instructions.
    fn cost_of(&self, instructions: f64) -> f64 {
        self.cost * (instructions / self.instructions.max(f64::MIN_POSITIVE))
    }

    /// What it costs a copy that the function is split.
    fn in_versions(&self) -> f64 {
        self.cost_of(self.in_versions)
    }
}

fn share(ranges: Ranges) -> Share {
    match ranges.owners[..] {
        [(_, copy)] => Share::Whole(copy),
        _ => Share::Ranges(ranges),
    }
}
