//! How counts are updated where the user leaves that open: exactly with threads, in the way that costs least.

use crate::base::error::{Error, Result};
use crate::copies::plan::Update;
use crate::input::load::{Admitted, OwnCounters};
use crate::write::options::Options;

/// How the copies of a program count.
pub(super) struct Chosen {
    pub(super) update: Update,
    /// Whether handlers of signals may count, where an increment is several instructions.
    pub(super) handles_signals: bool,
    /// What the user should know of it.
    pub(super) warning: Option<String>,
}

/// How `inputs`, which can start threads if `has_starters`, are to count. Estimates keep what they count by thread
/// anyway. O(inputs).
///
/// # Errors
/// Counters of threads are asked for where they cannot be.
pub(super) fn choose_update(
    options: &Options,
    inputs: &[Admitted],
    has_starters: bool,
) -> Result<Chosen> {
    let handles_signals = inputs.iter().any(|i| {
        let handles_signals = true;
        i.own_counters == OwnCounters::ByDistance { handles_signals }
    });
    let chosen = |update| Chosen {
        update,
        handles_signals,
        warning: None,
    };
    let atomic = |warning| Chosen {
        warning: Some(warning),
        ..chosen(Update::Atomic)
    };
    if !options.scheme.strategy().measure.is_exact() {
        let asked = options.update.filter(|u| *u != Update::Thread);
        return Ok(chosen(asked.unwrap_or(Update::Single)));
    }
    let obstacle = inputs
        .iter()
        .find(|i| !i.own_counters.is_possible() && !i.device);
    let Some(obstacle) = obstacle else {
        return Ok(chosen(options.update.unwrap_or(Update::Thread)));
    };
    let path = obstacle.path.display();
    match (options.update, &obstacle.own_counters) {
        (Some(Update::Thread), OwnCounters::SegmentInUse(by)) => Err(Error::Usage(format!(
            "{path}: --update thread needs segment gs, which is used by {by}: use --update atomic"
        ))),
        (Some(Update::Thread), OwnCounters::RunsEarly(by)) => Err(Error::Usage(format!(
            "{path}: --update thread is not for libraries with ifuncs: {by} runs before threads have counters: \
             use --update atomic"
        ))),
        (Some(Update::Thread), OwnCounters::Migration(by)) => Err(Error::Usage(format!(
            "{path}: --update thread needs functions that stay in their thread, but {by} may move them: \
             use --update atomic"
        ))),
        (Some(Update::Thread), _) => Err(Error::Usage(format!(
            "{path}: --update thread is for Linux on x86-64, aarch64 and RISC-V (64 bits): use --update atomic"
        ))),
        (Some(asked), _) => Ok(chosen(asked)),
        (None, OwnCounters::SegmentInUse(by)) => Ok(atomic(format!(
            "{path}: segment gs is used by {by}, so counts are updated atomically, which takes longer"
        ))),
        (None, OwnCounters::RunsEarly(by)) => Ok(atomic(format!(
            "{path}: {by} runs when the library is loaded, before threads have counters in it, so counts are \
             updated atomically, which takes longer"
        ))),
        (None, OwnCounters::Migration(by)) => Ok(atomic(format!(
            "{path}: {by} may move functions to other threads, so counts are updated atomically, which takes longer"
        ))),
        (None, _) if has_starters => Ok(chosen(Update::Atomic)),
        (None, _) => Ok(chosen(Update::Single)),
    }
}
