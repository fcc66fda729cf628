//! `--profile`: measured weights from an earlier merged profile.

use super::{Profile, Structure};
use crate::error::Result;
use crate::index::FuncId;
use crate::ir::Program;
use crate::partition::FunctionPaths;
use crate::weights::measured_weights;
use std::collections::HashMap;
use std::path::Path;

/// Replaces the static weights of every function that the profile in `file` knows (same module,
/// name and control flow) and saw running. A small share of the static weights stays, so that
/// edges which never ran still differ.
pub fn apply(file: &Path, program: &Program, paths: &mut [Option<FunctionPaths>]) -> Result<()> {
    let profile = Profile::read(file)?;
    let known: HashMap<(&str, &str), FuncId> = profile
        .executed()
        .map(|f| ((profile.module(f), profile.entry(f).name.as_str()), f))
        .collect();
    for (f, paths) in program.functions.iter().zip(paths) {
        let module = &program.modules[f.bodies[0].module.index()].name;
        let Some(&old) = known.get(&(module.as_str(), f.name.as_str())) else {
            continue;
        };
        let Some(paths) = paths else { continue };
        let structure = profile.structure(old)?;
        if same_shape(&structure, &program.body_at(f).cfg, paths) {
            let counts = profile.counts[old.index()].iter().copied();
            let measured = measured_weights(&paths.dag, &paths.numbering, counts);
            let floor = 1e-6
                / paths
                    .weights
                    .iter()
                    .fold(f64::MIN_POSITIVE, |a, &b| a.max(b));
            let mix = |(m, s): (f64, &f64)| m + s * floor;
            paths.weights = measured.into_iter().zip(&paths.weights).map(mix).collect();
        }
    }
    Ok(())
}

fn same_shape(old: &Structure, cfg: &crate::ir::Cfg, paths: &FunctionPaths) -> bool {
    let shape = |b: &crate::ir::Block| (b.terminator, b.succs.clone());
    old.paths.cuts == paths.cuts
        && old
            .cfg
            .blocks
            .iter()
            .map(shape)
            .eq(cfg.blocks.iter().map(shape))
}
