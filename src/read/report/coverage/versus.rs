//! Coverage against an earlier profile, of the same build or another: which paths ran only now, and which only then.
//!
//! What is compared, and how, is [`diff`](crate::read::report::diff)'s. Paths of both are described by the profile of
//! now.

mod render;

pub use render::{csv, github, json, markdown, text};

use super::Scope;
use crate::base::error::Result;
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::profile::measurement::PathProfile;
use crate::read::report::diff::{Diff, compare, match_functions};

/// Compares the functions that `selection` and `scope` admit. O(executed paths + blocks), and the length of the paths
/// that ran in one only.
///
/// # Errors
/// A damaged profile.
pub fn compare_coverage<'a>(
    now: PathProfile<'a>,
    then: PathProfile<'a>,
    selection: &Selection,
    scope: &Scope,
) -> Result<Diff<'a>> {
    let wanted = |profile: &Profile| {
        let mut functions = selection.profiled_functions(profile);
        scope.retain_admitted(profile, &mut functions);
        functions
    };
    let matched = match_functions(&then, &wanted(&then), &now, &wanted(&now));
    // Changes of shares are no matter here, however large.
    compare([then, now], matched, f64::INFINITY, 1)
}
