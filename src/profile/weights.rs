//! `--profile`: measured weights from an earlier merged profile.

use super::edges::flow;
use super::{Profile, Structure};
use crate::error::Result;
use crate::index::FuncId;
use crate::ir::Cfg;
use crate::manifest::Status;
use crate::partition::FunctionPaths;
use crate::weights::{Weights, measured_weights};
use std::collections::HashMap;

/// The share of the static weights that stays, so that edges which never ran still differ: together
/// they weigh less than one execution.
const FLOOR: f64 = 1e-6;

/// Replaces the static weights of every function that `profile` knows (same module, name and control
/// flow). `functions` gives, for each of `paths`, module, name and control flow.
pub fn apply<'a>(
    profile: &Profile,
    functions: impl Iterator<Item = (&'a str, &'a str, &'a Cfg)>,
    paths: &mut [Option<FunctionPaths>],
) -> Result<()> {
    let skipped = |f: &FuncId| matches!(profile.entry(*f).status, Status::Skipped(_));
    let known: HashMap<(&str, &str), FuncId> = (0..profile.manifest.functions.len())
        .map(FuncId::new)
        .filter(|f| !skipped(f))
        .map(|f| ((profile.module(f), profile.entry(f).name.as_str()), f))
        .collect();
    for ((module, name, cfg), paths) in functions.zip(paths) {
        let (Some(&old), Some(paths)) = (known.get(&(module, name)), paths) else {
            continue;
        };
        let structure = profile.structure(old)?;
        if same_shape(&structure, cfg, paths) {
            let measured = if profile.counts_edges() {
                let flow = flow(profile, old, &structure)?;
                flow.dag.into_iter().map(|n| n as f64).collect()
            } else {
                let counts = profile.counts[old.index()].iter().copied();
                measured_weights(&paths.dag, &paths.numbering, counts)
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

fn same_shape(old: &Structure, cfg: &Cfg, paths: &FunctionPaths) -> bool {
    let shape = |b: &crate::ir::Block| (b.terminator, b.succs.clone());
    old.paths.cuts == paths.cuts
        && old
            .cfg
            .blocks
            .iter()
            .map(shape)
            .eq(cfg.blocks.iter().map(shape))
}
