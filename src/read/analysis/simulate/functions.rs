//! What each function is expected to take in each copy: what a cost model can be held against.

use super::{Ground, local_flow_of};
use crate::base::error::Result;
use crate::base::index::{CopyId, FuncId};
use crate::copies::hot::instructions_in_versions;
use crate::copies::partition::Part;
use crate::copies::plan::build::function_code;
use crate::copies::strategy::Scheme;
use crate::paths::function::Counted;
use crate::profile::Profile;
use crate::profile::manifest::Manifest;
use rayon::prelude::*;
use serde::Serialize;

/// Which versions of its blocks a copy of a function has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Versions {
    /// None.
    None,
    /// Those of loops, whose iterations are apart.
    Loops,
    /// Those of hot paths.
    Hot,
    /// Those of the copy's own paths and of foreign ones.
    Split,
    /// Those of the edges that nearly all executions take.
    Warm,
}

/// What one copy would have executed to count one function.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionHits {
    /// Its symbol.
    pub function: String,
    /// The copy.
    pub copy: CopyId,
    /// The versions of its blocks.
    pub versions: Versions,
    /// How often its paths ran, whichever copy counts them.
    pub paths: u64,
    /// The copy's counts in a hash table.
    pub hashed: u64,
    /// Its other statements.
    pub statements: u64,
    /// What the cost model takes all of that for, and the versions.
    pub instructions: f64,
}

/// By function that ran, and copy that counts in it. `weights` as for [`super::simulate`].
///
/// # Errors
/// Those of [`super::simulate`].
pub fn functions(
    manifest: &Manifest,
    profile: &Profile,
    weights: Option<&Profile>,
    scheme: Scheme,
    copies: u32,
) -> Result<Vec<FunctionHits>> {
    let ground = Ground::new(manifest, profile, weights, &[scheme])?;
    let inputs = ground.inputs(manifest);
    let strategy = scheme.strategy();
    let paths = ground.measure_functions(&inputs, strategy);
    let assignment = strategy.assign(&inputs, &paths, strategy.copies(copies));
    let functions = assignment.shares.par_iter().enumerate();
    let rows = functions.flat_map_iter(|(i, share)| {
        let mut parts = share.parts();
        parts.retain(|_| !ground.flows[i].is_empty());
        let name = &manifest.functions[FuncId::new(i)].name;
        let (ground, inputs, paths) = (&ground, &inputs, paths[i].as_ref());
        parts.into_iter().map(move |(copy, part)| {
            let paths = paths.expect("what ran is not skipped");
            let dag = &paths.dag;
            let starts = dag.out_edges(dag.entry()).map(|e| ground.flows[i][e]);
            let mut row = FunctionHits {
                function: name.clone(),
                copy,
                versions: Versions::None,
                paths: starts.sum(),
                hashed: 0,
                statements: 0,
                instructions: 0.0,
            };
            if let Counted::Edges(counted) = &paths.counted {
                row.statements = counted.iter().map(|e| ground.flows[i][e]).sum();
                row.instructions = row.statements as f64;
                return row;
            }
            let code = function_code(inputs[i].cfg, paths, part);
            let local = local_flow_of(&code, part, ground, i);
            for (op, n) in code.placement.code.iter().zip(local.iter()) {
                let Some(op) = *op else { continue };
                let counter = if code.table.hashes_op(op) {
                    &mut row.hashed
                } else {
                    &mut row.statements
                };
                *counter += n;
                row.instructions += (n * code.instructions_of(op)) as f64;
            }
            row.versions = versions(part, code.has_versions());
            let flow = &ground.flows[i];
            row.instructions += instructions_in_versions(inputs[i].cfg, paths, part, |e| flow[e]);
            row
        })
    });
    Ok(rows.collect())
}

fn versions(part: Part, has_any: bool) -> Versions {
    match part {
        Part::Ranges(ranges, _) if !ranges.warm.is_empty() => Versions::Warm,
        Part::Ranges(ranges, _) if ranges.owners.len() > 1 => Versions::Split,
        Part::Ranges(..) => Versions::Hot,
        _ if has_any => Versions::Loops,
        _ => Versions::None,
    }
}

impl Versions {
    /// As people and JSON have it.
    pub fn name(self) -> &'static str {
        match self {
            Versions::None => "none",
            Versions::Loops => "loops",
            Versions::Hot => "hot",
            Versions::Split => "split",
            Versions::Warm => "warm",
        }
    }
}
