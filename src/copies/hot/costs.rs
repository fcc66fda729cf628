//! What versions of blocks take, as measured, and what is expected of each function.

use super::flow::PrefixFlow;
use super::warm::flow_apart;
use crate::base::index::EdgeId;
use crate::copies::partition::{Part, Ranges, Units, WHOLE};
use crate::copies::plan::build::{FunctionCode, function_code};
use crate::input::ir::{Block, Cfg};
use crate::paths::function::{FunctionInput, Measuring};
use crate::paths::versions::{can_be_copied, may_meet, size, weight};
use rayon::prelude::*;

/// A function with more instructions gets no versions for prefixes: where versions join, every live
/// value takes a phi, so what they take grows with its square (sqlite's interpreter, of 12,000
/// instructions, would get 73,000 phis, and clang would take minutes).
const LARGE_FUNCTION: u64 = 1 << 12;

/// What versions take and must save.
#[derive(Clone, Copy, Debug)]
pub(super) struct VersionCosts {
    /// Instructions that a path takes in a function that is split, whether a copy counts it or not, at
    /// least.
    pub split_path: f64,
    /// Instructions that each instruction of such a path takes besides.
    pub split_instruction: f64,
    /// Of that, what a path takes in versions for warm edges.
    pub warm_path: f64,
    /// Of that, what a path takes in versions for iterations that are apart.
    pub warm_path_apart: f64,
    /// What a saving must come to, in the unit of [`WHOLE`], to be worth more code.
    pub least_saving: f64,
    /// The part of what counting takes in a function that hot paths must save where one copy
    /// profiles it all.
    pub least_hot_saving: f64,
    /// Instructions that versions for hot paths take for each instruction that the function executes and each value
    /// that is live there and finds no register ([`crate::input::ir::Block::pressure`]).
    pub spilled_value: f64,
    /// Of the paths that start alike, at most this many are hot.
    pub hot_paths: usize,
}

/// What was measured.
pub(super) const MEASURED: VersionCosts = VersionCosts {
    // 3 to 5 instructions: values move between registers where versions join, jumps lead from one
    // to the other, and loops that had one induction variable have several.
    split_path: 4.0,
    // With more live values than registers, versions spill: what they take grows with the
    // instructions that are executed. Five functions of bzip2 and zopfli with more than 256
    // instructions, all split between two copies (`--scheme ranges-test`), take 0.09 more for each of
    // theirs: BZ2_decompress, with 53 live values on average, 0.33; two with less than 16, nothing.
    split_instruction: 0.1,
    // Values move only where a path leaves these versions. In bzip2, sqlite and xz, half chooses
    // what is best in each function, and a seventh does not.
    warm_path: 0.5,
    // Nothing to one instruction: these loops are as they were, but are entered from two versions.
    warm_path_apart: 0.125,
    least_saving: WHOLE * 1e-3,
    // Those that keep to hot paths take less than expected, since no register holds an id there;
    // those that leave them move values, up to 36 instructions a path in one function of xz, of
    // which a tenth would have been saved. In bzip2, sqlite and xz, of 43 functions in which a
    // fifth or more is saved two get slower, by less than three instructions a path.
    least_hot_saving: 0.2,
    // Of functions in bzip2, minisat and nineteen small programs, those that save less than 0.002 lost 9.4 hundredths
    // of their programs' instructions, and gained 0.7. Of those that save more all gain, but one.
    spilled_value: 0.003,
    // The six hottest carry nearly all of the flow.
    hot_paths: 6,
};

/// A function that costs less than the least saving by this factor has no hot paths.
pub(super) const MAY_SAVE: f64 = 64.0;

/// Which functions are split, and get versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Splitting {
    /// Those in which that saves more than it takes.
    WhereItPays,
    /// Whatever can be: versions are taken to cost nothing.
    Everywhere,
}

impl Splitting {
    /// Instructions that a short path is taken to need in a function that is split.
    pub(super) fn path_cost(self) -> f64 {
        match self {
            Splitting::WhereItPays => MEASURED.split_path,
            Splitting::Everywhere => 0.0,
        }
    }

    /// Instructions that `all` paths, which execute so many together, are taken to need besides in a
    /// function that is split.
    fn split_cost(self, all: f64, executed: f64) -> f64 {
        match self {
            Splitting::WhereItPays => {
                (MEASURED.split_path * all).max(MEASURED.split_instruction * executed)
            }
            Splitting::Everywhere => 0.0,
        }
    }

    /// What `all` paths are taken to need in versions for warm edges, of which `apart` begin in
    /// iterations that are apart.
    pub(super) fn warm_cost(self, all: f64, apart: f64) -> f64 {
        let joined = all - apart;
        self.path_cost() * (MEASURED.warm_path * joined + MEASURED.warm_path_apart * apart)
    }
}

/// Expected executions in the program.
pub(super) struct ProgramCosts<'a> {
    pub functions: &'a [FunctionInput<'a>],
    pub paths: &'a [Option<Measuring>],
    pub splitting: Splitting,
    /// By function; `None` where it is skipped.
    pub facts: Vec<Option<Facts<'a>>>,
}

/// What is expected of one function.
pub(super) struct Facts<'a> {
    pub flow: PrefixFlow<'a>,
    /// The code of a copy that profiles it all, if its paths may be hot and are worth it.
    pub code: Option<FunctionCode<'a>>,
    /// Instructions, with the function's own weights, where one copy profiles it all.
    pub instructions: f64,
    /// `instructions` in the unit of [`WHOLE`].
    pub cost: f64,
    /// What its paths take where it is split, in instructions.
    pub in_versions: f64,
    /// Whether its paths may have versions of their own: it can be copied, is not too large, and
    /// stands for itself.
    pub may_be_hot: bool,
    /// Whether several copies may profile it: besides, that can pay.
    pub splits: bool,
    /// Whether it may have versions for ranges of paths, or for warm edges, at all.
    pub may_have_versions: bool,
    /// Its instructions.
    pub size: u64,
    /// Its warm edges, where they may be worth it.
    pub warm: Option<Warm>,
}

/// A function with warm edges.
pub(super) struct Warm {
    /// The edges; one copy profiles all paths.
    pub ranges: Ranges,
    /// The instructions of the blocks they lead to, which exist twice.
    pub size: u64,
    /// Instructions where one copy profiles it all, with what paths take in versions.
    pub instructions: f64,
}

impl<'a> ProgramCosts<'a> {
    pub(super) fn new(units: &Units<'a>, splitting: Splitting) -> Self {
        let (functions, paths, costs) = (units.functions, units.paths, &units.costs);
        let facts = (0..functions.len()).into_par_iter().map(|i| {
            let (f, paths) = (&functions[i], paths[i].as_ref()?);
            let code = function_code(f.cfg, paths, Part::All);
            let instructions = code.cost();
            let flow = PrefixFlow::new(paths);
            let executed = executed_instructions(f.cfg, paths, |e| paths.weights[e]);
            let in_versions = splitting.split_cost(flow.total(), executed);
            let order = &paths.shape.order;
            let size = size(f.cfg, order);
            let may_have_versions = match splitting {
                Splitting::WhereItPays => may_meet(f.cfg, order),
                Splitting::Everywhere => can_be_copied(f.cfg, order),
            };
            let may_be_hot = units.is_alone(f) && size <= LARGE_FUNCTION && may_have_versions;
            Some(Facts {
                flow,
                code: may_be_hot.then_some(code),
                instructions,
                in_versions,
                cost: costs.worth_of_hits(i, instructions),
                may_be_hot,
                // Of two copies each takes half of the instructions, and all of what versions take: less than before
                // only then.
                splits: may_be_hot && in_versions < instructions / 2.0,
                may_have_versions,
                size,
                warm: None,
            })
        });
        let mut facts: Vec<Option<Facts>> = facts.collect();
        let total: f64 = facts.iter().flatten().map(|f| f.cost).sum();
        for f in facts.iter_mut().flatten() {
            f.cost *= WHOLE / total.max(f64::MIN_POSITIVE);
            // Only this code is needed again: of hot paths' savings, for each distribution that is
            // tried.
            if f.cost < MEASURED.least_saving / MAY_SAVE {
                f.code = None;
            }
        }
        ProgramCosts {
            functions,
            paths,
            splitting,
            facts,
        }
    }

    /// Its instructions.
    pub(super) fn size(&self) -> u64 {
        self.facts.iter().flatten().map(|f| f.size).sum()
    }

    /// The expected instructions of one copy's statements, without versions for hot paths.
    pub(super) fn counting(&self) -> f64 {
        self.facts.iter().flatten().map(|f| f.instructions).sum()
    }

    /// The instructions that its functions are expected to run, without statements. O(E).
    pub(super) fn executed(&self) -> f64 {
        let each = self.functions.iter().zip(self.paths);
        let executed = each.filter_map(|(f, p)| {
            p.as_ref()
                .map(|p| executed_instructions(f.cfg, p, |e| p.weights[e]))
        });
        executed.sum()
    }

    pub(super) fn part_cost(&self, i: usize, part: Part) -> f64 {
        let facts = self.facts[i].as_ref().expect("it is not skipped");
        match part {
            Part::All => facts.cost,
            Part::Ranges(ranges, _) if !ranges.warm.is_empty() => {
                let warm = facts.warm.as_ref().expect("it was found");
                facts.cost_of(warm.instructions)
            }
            Part::Ranges(ranges, _) if ranges.owners.len() > 1 => {
                facts.cost_in_versions() + facts.cost_of(self.code(i, part).cost())
            }
            _ => facts.cost_of(self.code(i, part).cost()),
        }
    }

    pub(super) fn code(&self, i: usize, part: Part) -> FunctionCode<'a> {
        let paths = self.paths[i].as_ref().expect("it is not skipped");
        function_code(self.functions[i].cfg, paths, part)
    }
}

/// What paths of a function are taken to need in the versions of `part`, beside its statements, given how often each
/// edge of its DAG ran.
pub(crate) fn instructions_in_versions(
    cfg: &Cfg,
    paths: &Measuring,
    part: Part,
    ran: impl Fn(EdgeId) -> u64,
) -> f64 {
    let Part::Ranges(ranges, _) = part else {
        return 0.0;
    };
    let starts = paths.dag.out_edges(paths.dag.entry());
    let all = starts.map(&ran).sum::<u64>() as f64;
    let splitting = Splitting::WhereItPays;
    if !ranges.warm.is_empty() {
        let apart = flow_apart(cfg, paths, |e| ran(e) as f64);
        return splitting.warm_cost(all, apart);
    }
    if ranges.owners.len() > 1 {
        splitting.split_cost(all, executed_instructions(cfg, paths, |e| ran(e) as f64))
    } else {
        0.0
    }
}

/// Instructions that a function is taken to need for spills if it has hot paths. Where weights are measured LLVM knows
/// them too, and spills where little runs. O(E).
pub(super) fn spill_cost(cfg: &Cfg, paths: &Measuring) -> f64 {
    if paths.measured {
        return 0.0;
    }
    let pressure = |b: &Block| f64::from(weight(b)) * f64::from(b.pressure);
    MEASURED.spilled_value * sum_of_blocks(cfg, paths, |e| paths.weights[e], pressure)
}

/// The instructions of a function that are executed, given how often each edge of its DAG is. O(E).
fn executed_instructions(cfg: &Cfg, paths: &Measuring, ran: impl Fn(EdgeId) -> f64) -> f64 {
    sum_of_blocks(cfg, paths, ran, |b| f64::from(weight(b)))
}

/// The sum of `of` over the blocks that are executed, given how often each edge of the DAG is. O(E).
fn sum_of_blocks(
    cfg: &Cfg,
    paths: &Measuring,
    ran: impl Fn(EdgeId) -> f64,
    of: impl Fn(&Block) -> f64,
) -> f64 {
    let dag = &paths.dag;
    let behind = |e: EdgeId| {
        let block = dag.block(dag.edge(e).dst)?;
        Some(ran(e) * of(cfg.block(block)))
    };
    dag.edge_ids().filter_map(behind).sum()
}

impl Facts<'_> {
    /// The cost of so many expected instructions.
    pub(super) fn cost_of(&self, instructions: f64) -> f64 {
        self.cost * (instructions / self.instructions.max(f64::MIN_POSITIVE))
    }

    /// What it costs a copy that the function is split.
    pub(super) fn cost_in_versions(&self) -> f64 {
        self.cost_of(self.in_versions)
    }
}
