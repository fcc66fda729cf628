//! What profiling costs: probes that are there, or probes that are expected to run.

use crate::base::index::{EdgeId, IdSet};
use crate::paths::function::{Counted, FunctionInput, Measuring};
use crate::paths::numbering::Numbering;
use crate::paths::weights::{Caller, call_frequencies};

/// What profiling is taken to cost, given all functions and their paths.
pub type Cost = fn(&[FunctionInput], &[Option<Measuring>]) -> Costs;

/// What profiling some paths of a function costs.
#[derive(Clone, Debug)]
pub enum Costs {
    /// The number of edges with a non-zero label: *overhead(P)* of the P3 paper, §2.1.
    Labels,
    /// Expected executions of these edges and of the counts at the ends of paths.
    Hits {
        /// By function: what its weights are multiplied by.
        scales: Vec<f64>,
        /// Costs are this power of expected hits: [`GUESS`], or 1 for measured weights.
        power: f64,
        /// What a label is worth, whether it is expected to run or not.
        label: f64,
    },
}

/// Static frequencies are right about which function is hotter more often than about how much: they
/// grow tenfold with every loop and call. Costs are this power of expected hits. (Chosen on the
/// programs of `docs/RESULTS.md`; from 0.1 to 0.4 there is little between.)
const GUESS: f64 = 0.3;

/// Of what a run executes this part is expected where the program has probes, and the rest where it was measured. What
/// the run that was measured did not execute, or hardly, costs nothing by its weights: longest first would give it all
/// to one copy, and another input may run nothing else.
pub(super) const ELSEWHERE: f64 = 1.0 / 8.0;

/// The expected costs of a whole program come to this, in the unit that they are compared in.
pub(crate) const WHOLE: f64 = (1u64 << 50) as f64;

/// What each label is worth, whether it is expected to run or not, where weights are measured: [`ELSEWHERE`], spread
/// over all.
pub(crate) fn worth_of_a_label(paths: &[Option<Measuring>]) -> f64 {
    let labels = paths.iter().flatten().map(|p| p.numbering.label_count());
    WHOLE * ELSEWHERE / labels.sum::<usize>().max(1) as f64
}

impl Costs {
    /// Probes, whether they run or not.
    pub fn labels(_: &[FunctionInput], _: &[Option<Measuring>]) -> Costs {
        Costs::Labels
    }

    /// Expected hits, in shares of all the program's. O(V + E) of the call graph and of all control flow.
    pub fn hits(functions: &[FunctionInput], paths: &[Option<Measuring>]) -> Costs {
        let measured = paths.iter().flatten().filter(|p| p.measured);
        let known: Vec<f64> = measured.map(|p| hits(p, &p.numbering, None)).collect();
        let (scales, power) = match known.len() {
            0 => (static_scales(functions, paths), GUESS),
            n => (
                measured_scales(paths, known.iter().sum::<f64>() / n as f64),
                1.0,
            ),
        };
        let whole = |(s, p): (&f64, &Option<Measuring>)| {
            p.as_ref().map_or(0.0, |p| s * hits(p, &p.numbering, None))
        };
        let total: f64 = scales.iter().zip(paths).map(whole).sum();
        let unit = WHOLE / total.max(f64::MIN_POSITIVE);
        let scales = scales.into_iter().map(|s| s * unit).collect();
        let label = match known.len() {
            0 => 1.0,
            _ => worth_of_a_label(paths),
        };
        Costs::Hits {
            scales,
            power,
            label,
        }
    }

    /// Whether functions compare as they were measured.
    pub fn are_measured(&self) -> bool {
        matches!(self, Costs::Hits { power: 1.0, .. })
    }

    /// What so many hits, by the weights of function `f`, are worth.
    pub fn worth_of_hits(&self, f: usize, hits: f64) -> f64 {
        match self {
            Costs::Labels => hits,
            Costs::Hits { scales, power, .. } => (scales[f] * hits).powf(*power),
        }
    }

    /// The cost of the paths inside `edges` (`None`: all) of function `f` under `numbering`.
    pub(super) fn price_paths(
        &self,
        f: usize,
        paths: &Measuring,
        numbering: &Numbering,
        edges: Option<&IdSet<EdgeId>>,
    ) -> u64 {
        if let Counted::Edges(counted) = &paths.counted {
            return counted.len() as u64;
        }
        let labels = numbering.label_count();
        match self {
            Costs::Labels => labels as u64,
            Costs::Hits { label, .. } => {
                (label * labels as f64 + self.worth_of_hits(f, hits(paths, numbering, edges)))
                    as u64
            }
        }
    }
}

/// How often each function is expected to be entered.
fn static_scales(functions: &[FunctionInput], paths: &[Option<Measuring>]) -> Vec<f64> {
    let callers = functions.iter().zip(paths).map(|(f, p)| Caller {
        cfg: f.cfg,
        paths: p.as_ref().map(|p| (&p.dag, &p.weights)),
        call_sites: f.call_sites,
    });
    call_frequencies(&callers.collect::<Vec<_>>())
}

/// Measured weights count executions. A function that was not measured is taken for an average one.
fn measured_scales(paths: &[Option<Measuring>], mean: f64) -> Vec<f64> {
    let scale = |p: &Option<Measuring>| match p {
        Some(p) if !p.measured => mean / hits(p, &p.numbering, None).max(f64::MIN_POSITIVE),
        _ => 1.0,
    };
    paths.iter().map(scale).collect()
}

/// Executions, by the function's own weights, of labelled edges and of counts.
fn hits(paths: &Measuring, numbering: &Numbering, edges: Option<&IdSet<EdgeId>>) -> f64 {
    let dag = &paths.dag;
    let weight = |e: EdgeId| paths.weights[e];
    let labelled = dag.edge_ids().filter(|e| numbering.labels[*e] != 0);
    let wanted = |e: &EdgeId| edges.is_none_or(|set| set.contains(*e));
    let counted = dag.ins(dag.exit()).iter().copied().filter(wanted);
    labelled.chain(counted).map(weight).sum()
}
