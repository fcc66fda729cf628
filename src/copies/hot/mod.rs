//! `p3-hot`: any ranges of paths over copies, foreign paths free, hot ones for one increment each.
//!
//! Foreign paths run no statement, so splitting a function costs code, in every copy a version of
//! it for the copy's own paths, one for foreign ones, and prefixes that tell them apart
//! ([`crate::copies::partition::Ranges`]), and what paths take in such versions. What is split and what is
//! hot follows from expected costs, as far as there is `room` for code: first the heaviest tasks
//! are split until none is too heavy for an even load, then hot paths get versions of their own,
//! the most worthwhile first, and whole functions with too many paths for an array get a version
//! for their `warm` edges.
//!
//! Without measured hits nothing is split, and likely paths are hot.
//!
//! Costs are instructions of the code that the copies would run. By them the outcome is no worse
//! than pbl's, and no worse than with fewer copies: those are tried as well.

mod costs;
mod distribution;
mod flow;
mod room;
mod selection;
mod tasks;
mod warm;

#[cfg(test)]
mod tests;

use crate::copies::partition::{Assignment, Costs, Units, WHOLE, assign_by_halves, to_the_first};
pub(crate) use costs::instructions_in_versions;
use costs::{ProgramCosts, Splitting};
use room::Room;
use selection::make_hot;

/// Ranges of paths over the copies, by measured hits. Where all weights are guesses, whole
/// functions: splitting at guesses costs more than it evens. Their likeliest paths are hot, the
/// same ones with any number of copies: a function takes as much in all of them.
pub(crate) fn ranges(units: &Units) -> Assignment {
    let program = ProgramCosts::new(units, Splitting::WhereItPays);
    if units.costs.are_measured() {
        return program.with_warm_edges_found().assign(units.copies);
    }
    let labels = Units::new(units.functions, units.paths, Costs::labels, units.copies);
    let mut assignment = assign_by_halves(&labels);
    // As if one copy had all functions.
    let mut room = Room::new(program.size(), 1);
    let hot = program.hot_paths(&to_the_first(&labels).shares, &mut room);
    make_hot(&mut assignment.shares, hot);
    assignment
}

/// Of what a program runs, in instructions, the slowest of several copies must save this part beside one copy to pay:
/// each copy is another link and another run, and two runs of one program differ in time by as much.
const PAYS: f64 = 0.05;

/// Whether `units.copies` pay: hits are measured, and the slowest copy is expected to run so much less than one copy.
pub(crate) fn copies_pay(units: &Units) -> bool {
    if !units.costs.are_measured() {
        return false;
    }
    let program = ProgramCosts::new(units, Splitting::WhereItPays).with_warm_edges_found();
    let slowest = |copies| program.assign(copies).load.into_iter().max().unwrap_or(0) as f64;
    let saved = (slowest(1) - slowest(units.copies)) / WHOLE * program.counting();
    saved >= PAYS * program.executed()
}

/// The assignment as if versions cost nothing: whatever can be split is, for tests of what splitting makes.
pub(crate) fn ranges_everywhere(units: &Units) -> Assignment {
    let program = ProgramCosts::new(units, Splitting::Everywhere);
    program.with_warm_edges_found().assign(units.copies)
}
