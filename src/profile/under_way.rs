//! Functions that a process may have been in when it ended, without having counted that it entered them.
//!
//! Entries are counted where control may leave a function in the middle: elsewhere as many activations end as begin. A
//! process that is killed leaves any function. Of one whose entries are not counted, the innermost on a stack, the path
//! that was under way is in no count, so nobody knows whether it ran. Such a function was called by one that counts its
//! entries and was left, by another function of its kind, through a pointer, or from outside.

use super::Profile;
use super::flow::flow;
use super::left::Executed;
use super::measurement::{Exact, Measurement};
use crate::base::error::Result;
use crate::base::index::{BlockId, FuncId, TiVec, ti_vec};
use crate::input::ir::Linkage;
use crate::profile::manifest::Manifest;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Functions of the C library that load code which may call functions of the program by their names.
const LOADING: [&str; 2] = ["dlopen", "dlmopen"];

/// What processes that did not end normally were in.
#[derive(Debug, Default)]
pub struct UnderWay {
    /// The functions that may have been entered without a count.
    pub silent: BTreeSet<FuncId>,
    /// The functions that were left and whose lines have bounds, ascending.
    pub left: Vec<FuncId>,
}

/// Finds these functions; none if all processes ended normally, or if not all paths are counted. O(size of the
/// program) if one did not.
///
/// # Errors
/// A damaged profile.
pub fn find_under_way(profile: &Profile) -> Result<UnderWay> {
    let were_cut_short = profile.processes.iter().any(|p| p.cut_short > 0);
    let counts_paths = matches!(&profile.measured, Measurement::Exact(Exact::Paths(_)));
    if !were_cut_short || !counts_paths || profile.is_selective() {
        return Ok(UnderWay::default());
    }
    let manifest = &profile.manifest;
    let mut members: TiVec<FuncId, Vec<FuncId>> = ti_vec![Vec::new(); manifest.functions.len()];
    for (f, entry) in manifest.functions.iter_enumerated() {
        members[entry.unit].push(f);
    }
    let is_silent =
        |f: &FuncId| profile.entries[*f].is_none() && !profile.entry(*f).status.is_skipped();
    let entered: Vec<FuncId> = profile
        .functions()
        .filter(|f| profile.entries[*f].is_some_and(|n| n > 0))
        .collect();
    let left = entered.into_par_iter().map(|f| find_callees(profile, f));
    let left: Vec<Left> = left.collect::<Result<_>>()?;
    let called = left.iter().flat_map(|left| &left.callees);
    let called = called.flat_map(|f| &members[*f]).copied();
    let by_name = is_called_by_name(manifest);
    let unseen = profile.functions().filter(|f| {
        let entry = profile.entry(*f);
        entry.address_taken || by_name && entry.linkage != Linkage::Local
    });
    let mut open: Vec<FuncId> = called.chain(unseen).filter(is_silent).collect();
    let mut silent = BTreeSet::new();
    while let Some(f) = open.pop() {
        if silent.insert(f) {
            let callees = profile.entry(f).calls.iter();
            let callees = callees.flat_map(|(_, callees)| callees);
            let callees = callees.flat_map(|(g, _)| &members[*g]).copied();
            open.extend(callees.filter(is_silent));
        }
    }
    let left = left.iter().filter(|left| left.has_bounds);
    Ok(UnderWay {
        silent,
        left: left.map(|left| left.function).collect(),
    })
}

/// Whether code outside may call functions of the program by their names: it is a library, or loads libraries.
fn is_called_by_name(manifest: &Manifest) -> bool {
    let mut outside = manifest.outside.iter().flatten();
    !manifest.is_executable() || outside.any(|symbol| LOADING.contains(&symbol.as_str()))
}

/// A function whose entries are counted.
struct Left {
    function: FuncId,
    /// Whether some counts of its blocks are bounds.
    has_bounds: bool,
    /// The functions that it may have called on paths that it was left on.
    callees: Vec<FuncId>,
}

/// What is to be known of `function`. O(its size).
fn find_callees(profile: &Profile, function: FuncId) -> Result<Left> {
    let structure = profile.structure(function)?;
    let flow = flow(profile, function, &structure)?;
    let executed = Executed::new(profile, function, &structure, &flow);
    let may_be_left =
        |block: BlockId| executed.again || executed.blocks[block].most > flow.blocks[block];
    let calls = profile.entry(function).calls.iter();
    let calls = calls.filter(|(block, _)| may_be_left(*block));
    let callees = calls.flat_map(|(_, callees)| callees.iter().map(|(f, _)| *f));
    Ok(Left {
        function,
        has_bounds: executed.blocks.iter().any(|range| !range.is_exact()),
        callees: callees.collect(),
    })
}
