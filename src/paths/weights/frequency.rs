//! How often each function is expected to be entered: static weights over the call graph.

use crate::input::ir::{Callee, Cfg};
use crate::paths::dag::Dag;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{DfsPostOrder, EdgeRef};

use super::Weights;

/// A function on a cycle of the call graph is expected to be entered this many times as often.
const RECURSION_MULTIPLIER: f64 = 10.0;

/// Keeps frequencies finite.
const MAX_FREQUENCY: f64 = 1e60;

/// What the frequencies need to know of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    /// Its control flow, with the calls.
    pub cfg: &'a Cfg,
    /// Its DAG and weights; `None` where it is skipped: its calls count once.
    pub paths: Option<(&'a Dag, &'a Weights)>,
    /// Its call sites: [`crate::input::ir::ProgFunction::call_sites`]. Those beyond the direct calls in the
    /// program stand for callers that are not seen, each of which calls once.
    pub call_sites: u32,
}

/// The expected number of entries of each function, by the same rules that Ball & Larus 1994 have
/// for blocks: in an order of the call graph that ignores retreating calls, a function is entered as
/// often as its call sites are executed, and ten times that if a retreating call leads to it.
///
/// Only ratios mean something. O(V + E) of the call graph and of all control flow.
pub(crate) fn call_frequencies(functions: &[Caller]) -> Vec<f64> {
    let graph = call_graph(functions);
    let order = reverse_postorder(&graph);
    let mut position = vec![0; functions.len()];
    for (at, &f) in order.iter().enumerate() {
        position[f] = at;
    }
    let mut frequency: Vec<f64> = unseen_callers(functions, &graph);
    for &f in &order {
        // Each edge once: to look for the calls of one caller would take as long as all that it calls.
        let calls = graph.edges_directed(NodeIndex::new(f), petgraph::Incoming);
        let mut calls: Vec<(usize, f64)> =
            calls.map(|e| (e.source().index(), *e.weight())).collect();
        // Edges come the newest first, and callers added them in ascending order.
        calls.reverse();
        debug_assert!(calls.is_sorted_by_key(|(caller, _)| *caller));
        let mut is_recursive = false;
        for calls in calls.chunk_by(|a, b| a.0 == b.0) {
            let caller = calls[0].0;
            // The caller is done. A call from a later one is retreating: its executions depend on this function, and
            // the multiplier stands for them.
            if position[caller] < position[f] {
                let sites: f64 = calls.iter().map(|(_, executions)| executions).sum();
                frequency[f] += frequency[caller] * sites;
            } else {
                is_recursive = true;
            }
        }
        if is_recursive {
            frequency[f] *= RECURSION_MULTIPLIER;
        }
        frequency[f] = frequency[f].min(MAX_FREQUENCY);
    }
    frequency
}

/// One edge for each call site, weighted by its executions per entry of the caller.
fn call_graph(functions: &[Caller]) -> DiGraph<(), f64> {
    let mut graph = DiGraph::new();
    for _ in functions {
        graph.add_node(());
    }
    for (f, caller) in functions.iter().enumerate() {
        for b in caller.cfg.ids() {
            let per_entry = executions(caller, b);
            for call in &caller.cfg.block(b).calls {
                if let Callee::Function(to) = call.callee {
                    graph.add_edge(NodeIndex::new(f), NodeIndex::new(to.index()), per_entry);
                }
            }
        }
    }
    graph
}

/// The expected executions of block `b` in one activation.
fn executions(caller: &Caller, b: crate::base::index::BlockId) -> f64 {
    let Some((dag, weights)) = caller.paths else {
        return 1.0;
    };
    let Some(v) = dag.vertex(b) else {
        return 0.0; // unreachable
    };
    // Weights of a profile that never entered it are all 0: no executions then, rather than no number.
    let entered = weights[dag.entry_edge()].max(f64::MIN_POSITIVE);
    let into: f64 = dag.ins(v).iter().map(|e| weights[*e]).sum();
    into / entered
}

fn unseen_callers(functions: &[Caller], graph: &DiGraph<(), f64>) -> Vec<f64> {
    let seen = |f| graph.edges_directed(f, petgraph::Incoming).count();
    let callers = graph.node_indices().zip(functions);
    callers
        .map(|(f, caller)| (caller.call_sites as usize).saturating_sub(seen(f)) as f64)
        .collect()
}

/// Callers before callees, but for retreating calls; from functions in ascending order.
fn reverse_postorder(graph: &DiGraph<(), f64>) -> Vec<usize> {
    let mut search = DfsPostOrder::empty(graph);
    let mut order = Vec::with_capacity(graph.node_count());
    // Functions that nobody calls come first: they are where control enters.
    let roots = graph.externals(petgraph::Incoming);
    for root in roots.chain(graph.node_indices()) {
        search.move_to(root);
        while let Some(f) = search.next(graph) {
            order.push(f.index());
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::{BlockId, FuncId};
    use crate::input::ir::Call;
    use crate::paths::dag::Shape;
    use crate::paths::random_cfg::cfg;

    /// A function of one block that calls these.
    fn calling(callees: &[u32]) -> Cfg {
        let mut graph = cfg(&[&[]]);
        let call = |&f: &u32| Call {
            callee: Callee::Function(FuncId(f)),
            span: 0,
            may_leave: false,
        };
        graph.blocks[BlockId(0)].calls = callees.iter().map(call).collect();
        graph
    }

    /// main calls a twice and b once; a and b call each other; nobody is seen calling c.
    #[test]
    fn calls_add_up_and_cycles_multiply() {
        let cfgs = [
            calling(&[1, 1, 2]),
            calling(&[2]),
            calling(&[1]),
            calling(&[]),
        ];
        let sites = [1, 3, 2, 1];
        let functions: Vec<Caller> = cfgs
            .iter()
            .zip(sites)
            .map(|(cfg, call_sites)| Caller {
                cfg,
                paths: None,
                call_sites,
            })
            .collect();
        let frequency = call_frequencies(&functions);
        assert_eq!(frequency[0], 1.0);
        // One of a and b comes first and is entered by a retreating call of the other.
        assert!(
            frequency[1] == 20.0 && frequency[2] == 21.0
                || frequency[2] == 10.0 && frequency[1] == 12.0
        );
        assert_eq!(frequency[3], 1.0);
    }

    /// `main` calls every other function twice, or is called by all. To scan a caller's whole list for each of its
    /// callees takes 8 * 10^10 steps: minutes.
    #[test]
    fn each_of_many_calls_is_looked_at_once() {
        let n = 200_000;
        let leaf = calling(&[]);
        let all: Vec<u32> = (1..=n).chain(1..=n).collect();
        let main = calling(&all);
        let caller = |cfg| Caller {
            cfg,
            paths: None,
            call_sites: 2,
        };
        let callees = std::iter::repeat_n(caller(&leaf), n as usize);
        let functions: Vec<Caller> = [caller(&main)].into_iter().chain(callees).collect();
        let frequency = call_frequencies(&functions);
        assert_eq!(frequency[0], 2.0);
        assert!(frequency[1..].iter().all(|f| *f == 4.0));
        // The callees call main.
        let back = calling(&[0]);
        let callers = std::iter::repeat_n(caller(&back), n as usize);
        let functions: Vec<Caller> = [caller(&leaf)].into_iter().chain(callers).collect();
        assert_eq!(call_frequencies(&functions)[0], 2.0 * f64::from(n));
    }

    /// A function that calls itself, and is called once from outside the program.
    #[test]
    fn recursion_multiplies() {
        let cfg = calling(&[0]);
        let function = Caller {
            cfg: &cfg,
            paths: None,
            call_sites: 2,
        };
        assert_eq!(call_frequencies(&[function]), [10.0]);
    }

    /// Once per entry before the loop, ten times in it, never where it cannot be reached; whatever the
    /// unit of the weights.
    #[test]
    fn calls_count_as_often_as_their_blocks_run() {
        let mut graph = cfg(&[&[1], &[1, 2], &[], &[2]]);
        for (block, callee) in [(0, 1), (1, 2), (3, 3)] {
            graph.blocks[BlockId(block)].calls =
                calling(&[callee]).blocks[BlockId(0)].calls.clone();
        }
        let dag = Dag::from_cfg(&graph, &[]);
        for unit in [1.0, 4.0] {
            let mut weights =
                crate::paths::weights::static_weights(&dag, &Shape::new(&graph).loops);
            weights.iter_mut().for_each(|w| *w *= unit);
            let leaf = calling(&[]);
            let called = Caller {
                cfg: &leaf,
                paths: None,
                call_sites: 1,
            };
            let caller = Caller {
                cfg: &graph,
                paths: Some((&dag, &weights)),
                call_sites: 1,
            };
            let frequency = call_frequencies(&[caller, called, called, called]);
            assert_eq!(frequency, [1.0, 1.0, 10.0, 0.0]);
        }
    }
}
