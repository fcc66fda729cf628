//! Which paths can run: a path is executed with terms for values, and cannot run if its conditions contradict each
//! other.
//!
//! In: what the code of a module computes ([`code`], which `write::emit` makes of what LLVM has read), and a path. Out:
//! whether it surely cannot run. Nothing is claimed of other paths. Only a proof counts: what is not modelled may be
//! anything, and so may what compilers may take for anything, like a sum that overflows.
//!
//! `calls` has what is known of functions by their names, `term` the values, `set` and `facts` what conditions say of
//! them, `memory` what loads read, `taint` what may be undefined, `run` the execution.

pub mod asked;
mod before;
mod calls;
pub mod code;
pub mod example;
mod facts;
mod memory;
mod run;
mod set;
mod show;
pub mod solver;
mod taint;
mod term;
pub mod types;

pub use calls::{aborts, is_known, leaves_alone, returns_twice};

use code::{Code, End};
use example::Example;
use facts::Facts;
pub use run::merge::is_small;
use run::trace::Mode;
use run::{Run, Stop};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use show::Shown;
use solver::{Found, Solver};
use std::rc::Rc;
use taint::Analysis;
use term::Terms;

/// What judgements depend on besides code and path: another number where one may be another.
pub const VERSION: u32 = 2;

/// A path is executed so often: each time with what is known from the times before.
const ROUNDS: usize = 3;

/// A path, which is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The function, in [`Code::functions`].
    pub function: usize,
    /// Whether it begins behind an edge that goes back, and not at the function's entry.
    pub starts_in_loop: bool,
    /// Its blocks.
    pub blocks: Vec<u32>,
    /// The successors taken: one a block, but for the last block of a path that ends the function.
    pub succs: Vec<u32>,
    /// Whether no other thread, process or handler of a signal writes the program's memory.
    pub is_alone: bool,
    /// Functions of the program that have names of the C library.
    pub own_names: Vec<String>,
}

/// Whether a path can run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// No run takes it: the outcomes at these two places, which are positions in its blocks, contradict each other.
    Impossible(u32, u32),
    /// No run takes it: a solver finds that the outcomes on it contradict each other together.
    Excluded,
    /// It ends the program, since something is wrong: `abort`, a failed assertion. Whether it can run is not asked.
    Aborts,
    /// Nothing contradicts it. It may still be impossible.
    NotRefuted,
    /// With these values it runs, as far as its function is concerned.
    Possible(Example),
}

impl Judgement {
    /// Whether no run takes the path.
    pub fn is_impossible(&self) -> bool {
        matches!(self, Judgement::Impossible(..) | Judgement::Excluded)
    }
}

/// What is known of functions whatever path runs, for several judgements about the same code.
#[derive(Default)]
pub struct Analyses(FxHashMap<usize, Rc<Analysis>>);

/// Judges a path, by a solver too if there is one. O(instructions · terms) a round, of bounded memory; once for each
/// function O(its instructions) more.
pub fn judge(
    code: &Code,
    analyses: &mut Analyses,
    question: &Question,
    solver: Option<&mut Solver>,
) -> Judgement {
    if code.functions[question.function].is_opaque {
        return Judgement::NotRefuted;
    }
    let last = question.blocks.last().map(|last| *last as usize);
    let blocks = &code.functions[question.function].blocks;
    if last.is_some_and(|last| matches!(blocks[last].end, End::Abort)) {
        return Judgement::Aborts;
    }
    let (mut terms, mut facts) = (Terms::default(), Facts::default());
    for _ in 0..ROUNDS {
        match Run::execute(code, question, &mut terms, &facts, &mut analyses.0) {
            // More would not be found by knowing as much.
            Ok(found) if found == facts => break,
            Ok(found) => facts = found,
            Err(Stop::Clash(clash)) => return Judgement::Impossible(clash.earlier, clash.later),
            Err(Stop::TooMuch) => return Judgement::NotRefuted,
        }
    }
    let solver = solver.filter(|solver| !solver.is_spent());
    solver.map_or(Judgement::NotRefuted, |solver| {
        judge_by_solver(code, analyses, question, (&mut terms, &facts), solver)
    })
}

/// Judges a path that cannot be refuted without a solver. `known` is what was found without one, of these terms.
fn judge_by_solver(
    code: &Code,
    analyses: &mut Analyses,
    question: &Question,
    (known_terms, known): (&mut Terms, &Facts),
    solver: &mut Solver,
) -> Judgement {
    let mut terms = Terms::default();
    let nothing = Facts::default();
    let analyses = &mut analyses.0;
    let recorded = Run::record(Mode::Show, code, question, &mut terms, &nothing, analyses);
    if let Ok(trace) = recorded {
        match show::find(code, question, &mut terms, &trace, solver) {
            Shown::Possible(Some(example)) => return Judgement::Possible(example),
            Shown::Possible(None) | Shown::Unknown => return Judgement::NotRefuted,
            Shown::Impossible => {}
        }
    }
    match Run::record(Mode::Prove, code, question, known_terms, known, analyses) {
        Ok(trace) => {
            let mut all = trace.conditions;
            all.extend(trace.assumptions);
            match solver.solve(known_terms, &all) {
                Found::Contradiction => Judgement::Excluded,
                Found::Values(_) | Found::Nothing => Judgement::NotRefuted,
            }
        }
        Err(Stop::Clash(clash)) => Judgement::Impossible(clash.earlier, clash.later),
        Err(Stop::TooMuch) => Judgement::NotRefuted,
    }
}
