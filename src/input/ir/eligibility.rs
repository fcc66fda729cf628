//! Which functions can be instrumented, and why others are skipped.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a function is not instrumented. Nothing is skipped without one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// `naked`: no code may be added.
    Naked,
    /// The `noprofile` attribute.
    NoProfile,
    /// The `skipprofile` attribute.
    SkipProfile,
    /// Left out by `--include` or `--exclude`.
    Excluded,
    /// Windows funclet exception handling.
    Funclets,
    /// `callbr` (asm goto) that names one target twice.
    CallBr,
    /// A coroutine before splitting.
    Coroutine,
    /// There must be no copy of its code, which the scheme needs.
    Single,
    /// Code for a device where the runtime cannot be.
    Device,
    /// The scheme makes versions of it, which its blocks or edges do not allow.
    Versions,
}

/// The attributes that forbid profiling, and the reason that each gives.
#[cfg_attr(
    not(feature = "llvm"),
    allow(dead_code, reason = "only engines use it")
)]
pub(crate) const FORBIDDING_ATTRIBUTES: [(&str, SkipReason); 4] = [
    ("naked", SkipReason::Naked),
    ("noprofile", SkipReason::NoProfile),
    ("skipprofile", SkipReason::SkipProfile),
    ("presplitcoroutine", SkipReason::Coroutine),
];

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SkipReason::Naked => "naked function",
            SkipReason::NoProfile => "attribute noprofile",
            SkipReason::SkipProfile => "attribute skipprofile",
            SkipReason::Excluded => "left out by --include/--exclude",
            SkipReason::Funclets => "Windows exception funclets",
            SkipReason::CallBr => "callbr (asm goto) with a repeated target",
            SkipReason::Single => {
                "code that cannot be copied (asm goto, calls that must stay single)"
            }
            SkipReason::Device => "code for a device without files and processes",
            SkipReason::Versions => "its blocks cannot be copied or its loops not be split",
            SkipReason::Coroutine => "coroutine that is not split yet",
        })
    }
}
