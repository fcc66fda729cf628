//! `p3-prof simulate`: the hits that each scheme would have cost, from one profile (`docs/ALGORITHMS.md` §3).

use crate::base::error::{Error, Result};
use crate::base::index::{CopyId, EdgeId, FuncId, TiSlice, TiVec, ti_vec};
use crate::copies::partition::{Local, Part};
use crate::copies::plan::Op;
use crate::copies::plan::build::{FunctionCode, function_code};
use crate::copies::plan::ids::Ids;
use crate::copies::strategy::{Scheme, Strategy};
use crate::input::ir::Cfg;
use crate::paths::function::{Counted, Expected, FunctionInput, Measuring, guess_all};
use crate::paths::numbering::pspp;
use crate::profile::flow::flow;
use crate::profile::manifest::{FunctionEntry, Manifest};
use crate::profile::matching::{Build, Known};
use crate::profile::measurement::{Exact, Measurement};
use crate::profile::{Profile, Ran, Structure};
use rayon::prelude::*;
use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;

mod functions;

pub use functions::{FunctionHits, functions};

/// The hits of one scheme and number of copies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchemeHits {
    /// The scheme.
    pub scheme: Scheme,
    /// The number of copies.
    pub k: u32,
    /// By copy: executed probes.
    pub probe_hits: TiVec<CopyId, u64>,
    /// By copy: executed edges with a non-zero label, the P3 paper's measure.
    pub label_hits: TiVec<CopyId, u64>,
    /// By copy: instructions of the executed probes, about: a count in a hash table takes 14, others one.
    pub instructions: TiVec<CopyId, u64>,
}

/// The counts of a profile on the structure of a manifest.
struct Ground {
    cfgs: Vec<Cfg>,
    paths: Vec<Option<Measuring>>,
    /// What is expected of each function: guessed, or from an earlier profile.
    expected: Vec<Option<Expected>>,
    /// Executions of each DAG edge; empty where nothing ran.
    flows: Vec<TiVec<EdgeId, u64>>,
    /// The paths that ran, where versions may need them.
    ran: Vec<Vec<Ran>>,
    /// Executions of each edge of [`Local::dag`] where iterations are apart and something ran.
    local_flows: Vec<TiVec<EdgeId, u64>>,
}

/// Simulates every scheme at every number of copies, with static weights or with those of an earlier
/// profile. Near-linear for each.
pub fn simulate(
    manifest: &Manifest,
    profile: &Profile,
    weights: Option<&Profile>,
    schemes: &[Scheme],
    copies: &[u32],
) -> Result<Vec<SchemeHits>> {
    let ground = Ground::new(manifest, profile, weights, schemes)?;
    let inputs = ground.inputs(manifest);
    let mut rows = Vec::new();
    for &scheme in schemes {
        let strategy = scheme.strategy();
        let paths = ground.measure_functions(&inputs, strategy);
        let mut copies: Vec<u32> = copies.iter().map(|&k| strategy.copies(k)).collect();
        copies.dedup();
        rows.extend(
            copies
                .iter()
                .map(|&k| simulate_scheme(&ground, &paths, &inputs, scheme, k)),
        );
    }
    Ok(rows)
}

impl Ground {
    /// Of a profile from which `schemes` can be simulated, with the weights of another one if there is one.
    fn new(
        manifest: &Manifest,
        profile: &Profile,
        weights: Option<&Profile>,
        schemes: &[Scheme],
    ) -> Result<Ground> {
        if schemes.iter().any(|s| s.strategy().makes_ranges) {
            profile.paths()?; // what each version of a block would have run takes paths
        }
        profile.all_are_counted()?;
        let mut ground = ground_truth(manifest, profile)?;
        let paths = ground.paths.iter();
        let paths: Vec<_> = paths
            .map(|m| m.as_ref().map(|m| Arc::clone(m.paths())))
            .collect();
        ground.expected = guess_all(&paths);
        if let Some(weights) = weights {
            let cfgs = ground.cfgs.iter().enumerate();
            let functions = cfgs.map(|(i, cfg)| Known::new(manifest, FuncId::new(i), cfg));
            let (build, expected) = (Build::of_manifest(manifest), &mut ground.expected);
            crate::profile::weights::apply_known(weights, &build, functions, &paths, expected)?;
        }
        Ok(ground)
    }

    /// How `strategy` measures each function, given what is expected of it.
    fn measure_functions(
        &self,
        inputs: &[FunctionInput],
        strategy: Strategy,
    ) -> Vec<Option<Measuring>> {
        let each = inputs.iter().zip(&self.paths).zip(&self.expected);
        let measured = each.map(|((f, of_profile), expected)| {
            let (of_profile, expected) = of_profile.as_ref().zip(expected.clone())?;
            Some(strategy.measure(f, of_profile.paths(), expected, of_profile.layout()))
        });
        measured.collect()
    }

    fn inputs(&self, manifest: &Manifest) -> Vec<FunctionInput<'_>> {
        let functions = manifest.functions.iter().zip(&self.cfgs);
        functions.map(|(f, cfg)| f.input(cfg)).collect()
    }
}

fn ground_truth(manifest: &Manifest, profile: &Profile) -> Result<Ground> {
    let same = |(a, b): (&FunctionEntry, &FunctionEntry)| {
        a.name == b.name && a.succs == b.succs && a.cuts == b.cuts
    };
    let (a, b) = (&manifest.functions, &profile.manifest.functions);
    if a.len() != b.len() || !a.iter().zip(b).all(same) {
        let problem = "it is of another program than the manifest";
        return Err(Error::profile(
            &profile.path,
            problem,
            "name a manifest of the same input",
        ));
    }
    let functions: Vec<FuncId> = profile.functions().collect();
    let ran = functions.into_par_iter().map(|f| read_function(profile, f));
    let mut ground = Ground {
        cfgs: Vec::new(),
        paths: Vec::new(),
        expected: Vec::new(),
        flows: Vec::new(),
        ran: Vec::new(),
        local_flows: Vec::new(),
    };
    for f in ran.collect::<Result<Vec<_>>>()? {
        ground.cfgs.push(f.cfg);
        ground.paths.push(f.paths);
        ground.flows.push(f.flow);
        ground.local_flows.push(f.local_flow);
        ground.ran.push(f.ran);
    }
    Ok(ground)
}

/// What [`Ground`] has of one function.
struct OneFunction {
    cfg: Cfg,
    paths: Option<Measuring>,
    flow: TiVec<EdgeId, u64>,
    ran: Vec<Ran>,
    local_flow: TiVec<EdgeId, u64>,
}

fn read_function(profile: &Profile, f: FuncId) -> Result<OneFunction> {
    let entry = profile.entry(f);
    if entry.status.is_skipped() {
        return Ok(OneFunction {
            cfg: entry.cfg(),
            paths: None,
            flow: TiVec::new(),
            ran: Vec::new(),
            local_flow: TiVec::new(),
        });
    }
    let mut structure = profile.structure(f)?;
    let ran = match profile.measured {
        Measurement::Exact(Exact::Paths(_)) => profile.paths()?.executed_paths(f, &structure)?,
        Measurement::Exact(Exact::Edges(_)) => {
            // What each version of a block would have run does not follow from counts of edges.
            structure.paths = structure.paths.with_apart(Vec::new());
            Vec::new()
        }
        Measurement::Estimated(_) => return Err(profile.only_estimates()),
    };
    let executed = profile.measured.count_known_to_run(f) > 0;
    let flow = executed.then(|| flow(profile, f, &structure));
    Ok(OneFunction {
        flow: flow.transpose()?.map_or(TiVec::new(), |flow| flow.dag),
        local_flow: local_flow(&structure, &ran),
        cfg: structure.cfg,
        paths: Some(structure.paths),
        ran,
    })
}

fn local_flow(structure: &Structure, ran: &[Ran]) -> TiVec<EdgeId, u64> {
    let local = Local::new(&structure.cfg, &structure.paths, Part::All);
    local.map_or(TiVec::new(), |l| versions_flow(&l, ran))
}

fn versions_flow(local: &Local, ran: &[Ran]) -> TiVec<EdgeId, u64> {
    local.flow(ran.iter().map(|p| (&p.edges[..], p.count)))
}

fn simulate_scheme(
    ground: &Ground,
    paths: &[Option<Measuring>],
    inputs: &[FunctionInput],
    scheme: Scheme,
    k: u32,
) -> SchemeHits {
    let assignment = scheme.strategy().assign(inputs, paths, k);
    let hits = assignment
        .shares
        .par_iter()
        .enumerate()
        .flat_map_iter(|(i, share)| {
            let mut parts = share.parts();
            parts.retain(|_| !ground.flows[i].is_empty());
            let paths = paths[i].as_ref();
            parts.into_iter().map(move |(copy, part)| {
                let paths = paths.expect("what ran is not skipped");
                if let Counted::Edges(counted) = &paths.counted {
                    let hits: u64 = counted.iter().map(|e| ground.flows[i][e]).sum();
                    return (copy, [hits; 3]);
                }
                let code = function_code(inputs[i].cfg, paths, part);
                (copy, hits(&code, paths, part, ground, i))
            })
        });
    let hits: Vec<(CopyId, [u64; 3])> = hits.collect();
    let mut row = SchemeHits {
        scheme,
        k,
        probe_hits: ti_vec![0; k as usize],
        label_hits: ti_vec![0; k as usize],
        instructions: ti_vec![0; k as usize],
    };
    for (copy, [probes, labels, instructions]) in hits {
        row.probe_hits[copy] += probes;
        row.label_hits[copy] += labels;
        row.instructions[copy] += instructions;
    }
    row
}

/// Probe hits, label hits and instructions of function `i`. Labels are the paper's, whatever the ids; ranges have their
/// own.
fn hits(code: &FunctionCode, paths: &Measuring, part: Part, ground: &Ground, i: usize) -> [u64; 3] {
    let local = local_flow_of(code, part, ground, i);
    let ran = |takes: &dyn Fn(Op) -> u64| {
        let placed = code.placement.code.iter().zip(local.iter());
        let ran = placed.filter_map(|(op, n)| Some(n * takes((*op)?)));
        ran.sum()
    };
    let labelled = |labels: &TiSlice<EdgeId, u64>, flow: &TiSlice<EdgeId, u64>| {
        let ran = labels.iter().zip(flow).filter(|(l, _)| **l != 0);
        ran.map(|(_, n)| n).sum()
    };
    let labels = match part {
        Part::All => labelled(&paths.numbering.labels, &ground.flows[i]),
        Part::Edges(set) => labelled(&pspp(&paths.dag, set).labels, &ground.flows[i]),
        Part::Ranges(..) | Part::Side(_) => labelled(&code.ids.numbering().labels, &local),
    };
    [ran(&|_| 1), labels, ran(&|op| code.instructions_of(op))]
}

/// Executions of each edge that the statements of `code`, of function `i`, are placed on.
fn local_flow_of<'a>(
    code: &FunctionCode,
    part: Part,
    ground: &'a Ground,
    i: usize,
) -> Cow<'a, TiVec<EdgeId, u64>> {
    match (&code.ids, part) {
        (Ids::Local(local), Part::Ranges(..)) => Cow::Owned(versions_flow(local, &ground.ran[i])),
        (Ids::Local(_), _) => Cow::Borrowed(&ground.local_flows[i]),
        _ => Cow::Borrowed(&ground.flows[i]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::BlockId;
    use crate::profile::manifest::FunctionEntry;
    use crate::profile::tests::profile;

    /// Label hits are those of the paths' edges that are not labelled 0.
    #[test]
    fn labels_are_hit_by_paths() {
        let p = profile(vec![(0, 3), (7, 5), (19, 2)]);
        let rows = simulate(&p.manifest, &p, None, &[Scheme::Sbl], &[1]).unwrap();
        let structure = p.structure(FuncId(0)).unwrap();
        let labels = &structure.paths.numbering.labels;
        let ran = p
            .paths()
            .unwrap()
            .executed_paths(FuncId(0), &structure)
            .unwrap();
        let labelled = |r: &Ran| r.edges.iter().filter(|e| labels[**e] != 0).count() as u64;
        let hits: u64 = ran.iter().map(|r| r.count * labelled(r)).sum();
        assert_eq!(rows[0].label_hits.raw, [hits]);
        // All is counted in an array.
        assert_eq!(rows[0].instructions, rows[0].probe_hits);
    }

    #[test]
    fn manifests_of_other_programs() {
        let p = profile(vec![(0, 3)]);
        let fits = |change: fn(&mut TiVec<FuncId, FunctionEntry>)| {
            let mut manifest = p.manifest.clone();
            change(&mut manifest.functions);
            simulate(&manifest, &p, None, &[Scheme::Sbl], &[1]).is_ok()
        };
        assert!(fits(|_| {}));
        assert!(!fits(|f| f[FuncId(0)].name = "other".into()));
        assert!(!fits(|f| f[FuncId(0)].succs[BlockId(3)] = vec![BlockId(5)]));
        assert!(!fits(|f| f[FuncId(0)].cuts =
            vec![crate::base::index::CfgEdge {
                block: BlockId(2),
                succ: 1,
            }]));
        assert!(!fits(|functions| functions.clear()));
        assert!(!fits(|f| f.push(f[FuncId(0)].clone())));
    }

    /// Statements of all functions are the probes of their copy; where nothing is in versions that take
    /// something, its instructions are theirs.
    #[test]
    fn functions_add_up_to_their_copies() {
        let p = profile(vec![(0, 3), (7, 5), (19, 2)]);
        for (scheme, k) in [(Scheme::Sbl, 1), (Scheme::P3, 3), (Scheme::Edge, 2)] {
            let rows = simulate(&p.manifest, &p, None, &[scheme], &[k]).unwrap();
            let functions = functions(&p.manifest, &p, None, scheme, k).unwrap();
            assert!(functions.iter().any(|f| f.statements > 0), "{scheme}");
            for copy in rows[0].probe_hits.keys() {
                let own = || functions.iter().filter(|f| f.copy == copy);
                let probes: u64 = own().map(|f| f.statements + f.hashed).sum();
                assert_eq!(probes, rows[0].probe_hits[copy], "{scheme}, {copy}");
                let instructions: f64 = own().map(|f| f.instructions).sum();
                assert_eq!(
                    instructions, rows[0].instructions[copy] as f64,
                    "{scheme}, {copy}"
                );
            }
        }
    }
}
