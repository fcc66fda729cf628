//! The call graph, as llvm-ir-analysis sees it: who may call whom, indirect calls included.

use crate::index::FuncId;
use llvm_ir_analysis::ModuleAnalysis;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// In modules with more functions the graph is not built: an indirect call may reach every
/// function of its type, which makes it quadratic.
const MAX_FUNCTIONS: usize = 20_000;

/// Calls within `module` by name, an indirect one to every function of its type. Empty when the
/// module is too large, or has functions without names (llvm-ir-analysis panics on their calls).
pub fn calls(module: &llvm_ir::Module) -> Vec<(String, String)> {
    let unnamed = module.functions.iter().any(|f| f.name.is_empty());
    if unnamed || module.functions.len() > MAX_FUNCTIONS {
        return Vec::new();
    }
    let build = || {
        let analysis = ModuleAnalysis::new(module);
        let graph = analysis.call_graph();
        let mut pairs = Vec::new();
        for f in &module.functions {
            pairs.extend(
                graph
                    .callees(&f.name)
                    .map(|c| (f.name.clone(), c.to_string())),
            );
        }
        pairs.sort();
        pairs
    };
    catch_unwind(AssertUnwindSafe(build)).unwrap_or_default()
}

/// The functions on cycles of the call graph with these edges. O(V + E).
pub fn recursive(functions: usize, calls: &[(FuncId, FuncId)]) -> BTreeSet<FuncId> {
    let mut graph = DiGraph::<(), ()>::with_capacity(functions, calls.len());
    for _ in 0..functions {
        graph.add_node(());
    }
    for (from, to) in calls {
        graph.add_edge(NodeIndex::new(from.index()), NodeIndex::new(to.index()), ());
    }
    let cycles = petgraph::algo::tarjan_scc(&graph);
    let looped = |c: &Vec<NodeIndex>| c.len() > 1 || graph.contains_edge(c[0], c[0]);
    let id = |n: NodeIndex| FuncId::new(n.index());
    cycles
        .into_iter()
        .filter(looped)
        .flatten()
        .map(id)
        .collect()
}
