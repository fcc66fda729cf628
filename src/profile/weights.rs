//! `--profile`: measured weights from an earlier merged profile.

use super::Profile;
use super::flow::flow;
use super::matching::{Index, Known, Match};
use super::measurement::Measurement;
use crate::error::Result;
use crate::paths::FunctionPaths;
use crate::weights::{Weights, measured_weights};

/// The share of the static weights that stays, so that edges which never ran still differ: together
/// they weigh less than one execution.
const FLOOR: f64 = 1e-6;

/// Replaces the static weights of every function that `profile` knows, with the same control flow and cut
/// edges. `functions` are those of `paths`.
pub fn apply<'a>(
    profile: &Profile,
    functions: impl Iterator<Item = Known<'a>>,
    paths: &mut [Option<FunctionPaths>],
) -> Result<()> {
    let index = Index::new(profile);
    for (known, paths) in functions.zip(paths) {
        let Some(paths) = paths else { continue };
        let Match::Same(old) = index.find(&known) else {
            continue;
        };
        if profile.entry(old).cuts == paths.cuts {
            let measured = match &profile.measured {
                Measurement::Edges(_) => {
                    let structure = profile.structure(old)?;
                    let flow = flow(profile, old, &structure)?;
                    flow.dag.into_iter().map(|n| n as f64).collect()
                }
                Measurement::Paths(counts) => {
                    paths.ran = counts[old.index()].clone();
                    let counts = paths.ran.iter().copied();
                    measured_weights(&paths.dag, &paths.numbering, counts)
                }
            };
            paths.weights = mix(measured, &paths.weights);
            paths.measured = true;
        }
    }
    Ok(())
}

fn mix(measured: Weights, fixed: &Weights) -> Weights {
    let largest = fixed.iter().fold(f64::MIN_POSITIVE, |a, &b| a.max(b));
    let sum = |(m, s): (f64, &f64)| m + s / largest * FLOOR;
    measured.into_iter().zip(fixed).map(sum).collect()
}
