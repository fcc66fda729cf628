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

use crate::copies::partition::{Assignment, Costs, Units, assign_by_halves, to_the_first};
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

/// The assignment as if versions cost nothing: whatever can be split is, for tests of what splitting makes.
pub(crate) fn ranges_everywhere(units: &Units) -> Assignment {
    let program = ProgramCosts::new(units, Splitting::Everywhere);
    program.with_warm_edges_found().assign(units.copies)
}
