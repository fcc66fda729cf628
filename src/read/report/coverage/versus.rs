//! Coverage against an earlier profile, of the same build or another: which paths ran only now, and which only then.
//!
//! A path is the same in both if its function has the same name and control flow. What has other control flow now is
//! named, and not compared.

mod render;

pub use render::{csv, github, json, markdown, text};

use super::Scope;
use crate::base::error::Result;
use crate::base::index::{FuncId, PathId};
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::profile::known::KnownPaths as Known;
use crate::profile::measurement::PathProfile;
use crate::read::report::diff::matched;
use crate::read::report::{Line, lines};
use std::collections::BTreeMap;

/// What ran now and then.
pub struct Versus<'a> {
    /// The profile of now, which describes all paths.
    now: &'a Profile,
    /// Paths that ran only now, the most executed first.
    pub gained: Vec<Line>,
    /// Paths that ran only then, likewise, with the counts of then.
    pub lost: Vec<Line>,
    /// How many ran in both.
    pub both: usize,
    /// How many ran in one and were not counted in the other, so that it is not known whether they ran there.
    pub unselected: usize,
    /// Functions of both with other control flow now.
    pub changed: Vec<String>,
    /// Functions that are profiled only now.
    pub only_now: Vec<String>,
    /// Functions that were profiled only then.
    pub only_then: Vec<String>,
}

/// Compares the functions that `selection` and `scope` admit. O(executed paths + blocks), and the length of the paths
/// that ran in one only.
///
/// # Errors
/// A damaged profile.
pub fn versus<'a>(
    now: PathProfile<'a>,
    then: PathProfile,
    selection: &Selection,
    scope: &Scope,
) -> Result<Versus<'a>> {
    let wanted = |profile: &Profile| {
        let mut functions = selection.profiled_functions(profile);
        scope.retain_admitted(profile, &mut functions);
        functions
    };
    let matched = matched(&then, &wanted(&then), &now, &wanted(&now));
    let (mut gained, mut lost, mut both) = (Vec::new(), Vec::new(), 0);
    let mut unselected = 0;
    for (f, g) in matched.pairs {
        // Whether a path ran that was not counted is not known.
        let is_known = [
            Known::new(then.profile(), f)?,
            Known::new(now.profile(), g)?,
        ];
        let mut before: BTreeMap<PathId, u64> = then.counts(f).iter().copied().collect();
        for &(id, n) in now.counts(g) {
            match before.remove(&id) {
                Some(_) => both += 1,
                None if is_known[0].contains(id) => gained.push((g, id, n)),
                None => unselected += 1,
            }
        }
        for (id, n) in before {
            if is_known[1].contains(id) {
                lost.push((g, id, n));
            } else {
                unselected += 1;
            }
        }
    }
    for paths in [&mut gained, &mut lost] {
        paths.sort_by_key(|&(f, id, n)| (std::cmp::Reverse(n), f, id));
    }
    let names = |p: &Profile, of: Vec<FuncId>| of.into_iter().map(|f| p.name(f)).collect();
    Ok(Versus {
        gained: lines(&now, &gained)?,
        lost: lines(&now, &lost)?,
        both,
        unselected,
        changed: names(&now, matched.changed),
        only_now: names(&now, matched.only_after),
        only_then: names(&then, matched.only_before),
        now: now.profile(),
    })
}
