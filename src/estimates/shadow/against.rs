//! Estimates against exact counts of the same run: how many of the hot paths bursts found, and how alike the profiles
//! are.

use crate::base::error::{Error, Result};
use crate::base::index::{FuncId, PathId};
use crate::base::table::{self, Align, Columns, number_of, percent};
use crate::estimates::data::bursts::Bursts;
use crate::estimates::shadow::profile::BurstProfile;
use crate::profile::measurement::PathProfile;
use serde::Serialize;

/// The shares from which a path is hot, in percent of executed paths: that of Moseley et al., and two lower ones.
pub(crate) const THRESHOLDS: [f64; 3] = [2.0, 1.0, 0.5];

/// How good the estimates are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Against {
    /// By threshold.
    pub hot: Vec<Hot>,
    /// What both profiles give to the same paths, of 1: the sum of the smaller shares.
    pub overlap: f64,
    /// Paths that ran at all, and of them those that were found.
    pub distinct: [usize; 2],
    /// The number of bursts.
    pub bursts: u64,
}

/// The paths above one threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Hot {
    /// In percent of all executed paths.
    pub threshold: f64,
    /// How many have at least that share.
    pub paths: usize,
    /// How many of them some burst saw.
    pub seen: usize,
    /// How many of them bursts give at least that share: what the paper counts.
    pub found: usize,
    /// For how many the interval holds the true share.
    #[serde(rename = "in_interval")]
    pub held: usize,
}

/// Compares with `exact`.
///
/// # Errors
/// Profiles of different programs.
pub(crate) fn compare_with_exact(estimated: BurstProfile, exact: PathProfile) -> Result<Against> {
    let (a, b) = (&estimated.profile.manifest, &exact.manifest);
    let alike = a.functions.len() == b.functions.len()
        && a.functions
            .iter()
            .zip(&b.functions)
            .all(|(f, g)| f.name == g.name && f.succs == g.succs);
    if !alike {
        return Err(Error::profile(
            &exact.path,
            "it is of another program",
            "profile the same input with p3-rewrite -k 1",
        ));
    }
    let total: f64 = exact.all_counts().map(|(_, n)| n as f64).sum();
    let paths: Vec<(FuncId, PathId, f64)> = exact
        .functions()
        .flat_map(|f| exact.counts(f).iter().map(move |&(id, n)| (f, id, n)))
        .map(|(f, id, n)| (f, id, n as f64 / total))
        .collect();
    let bursts = estimated.bursts;
    let seen = |p: &&(FuncId, PathId, f64)| bursts.find_path(p.0, p.1).count > 0;
    let least = |p: &(FuncId, PathId, f64)| p.2.min(bursts.share(bursts.find_path(p.0, p.1)).count);
    Ok(Against {
        hot: THRESHOLDS
            .iter()
            .map(|&t| find_hot(bursts, &paths, t))
            .collect(),
        overlap: paths.iter().map(least).sum(),
        distinct: [paths.len(), paths.iter().filter(seen).count()],
        bursts: bursts.number(),
    })
}

fn find_hot(bursts: &Bursts, paths: &[(FuncId, PathId, f64)], threshold: f64) -> Hot {
    let least = threshold / 100.0;
    let mut hot = Hot {
        threshold,
        paths: 0,
        seen: 0,
        found: 0,
        held: 0,
    };
    for &(f, id, share) in paths.iter().filter(|p| p.2 >= least) {
        let path = bursts.find_path(f, id);
        let estimate = bursts.share(path);
        hot.paths += 1;
        hot.seen += usize::from(path.count > 0);
        hot.found += usize::from(estimate.count >= least);
        hot.held += usize::from(estimate.contains(share));
    }
    hot
}

/// For people.
pub(crate) fn text(of: &Against) -> String {
    use Align::{Left, Right};
    let mut table = Columns::new([Right, Right, Right, Right, Right, Left]);
    let heads = ["share from", "paths", "seen", "found", "in interval", ""];
    table.heading(anstyle::Style::new().bold(), &heads);
    for hot in &of.hot {
        table.row([
            format!("{} %", hot.threshold),
            hot.paths.to_string(),
            hot.seen.to_string(),
            hot.found.to_string(),
            hot.held.to_string(),
            String::new(),
        ]);
    }
    let [all, seen] = of.distinct;
    format!(
        "{}: overlap {}; {seen} of {} seen\n\n{table}",
        number_of(of.bursts, "burst"),
        percent(of.overlap),
        number_of(all as u64, "path")
    )
}

/// For programs.
pub(crate) fn json(of: &Against) -> String {
    serde_json::to_string(of).expect("figures serialise") + "\n"
}

/// For tables.
pub(crate) fn csv(of: &Against) -> String {
    let rows = of.hot.iter().map(|h| {
        [
            h.threshold.to_string(),
            h.paths.to_string(),
            h.seen.to_string(),
            h.found.to_string(),
            h.held.to_string(),
            of.overlap.to_string(),
        ]
    });
    let heads = [
        "threshold",
        "paths",
        "seen",
        "found",
        "in_interval",
        "overlap",
    ];
    table::csv(&heads, rows)
}
