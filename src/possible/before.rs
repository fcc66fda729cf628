//! What is known at a loop's header of what ran before: local variables that are stored once, and decisions that
//! control must have made on the way there.

use super::code::{Action, Function, Local, Operand};
use super::taint::Analysis;
use petgraph::algo::dominators::simple_fast;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::FxHashMap;

/// Functions with more blocks are not looked at.
const MOST_BLOCKS: usize = 5000;

/// A block, and the successor that control took when it was there last.
pub(super) type Decision = (usize, usize);

/// What one store of the entry block leaves in local variables that nothing else writes: a parameter or a constant.
/// O(instructions).
pub(super) fn stored_once(function: &Function, analysis: &Analysis) -> FxHashMap<Local, Operand> {
    let mut stores: FxHashMap<Local, Vec<(usize, &Operand, &Operand)>> = FxHashMap::default();
    for (b, block) in function.blocks.iter().enumerate() {
        for instruction in &block.instructions {
            if let Action::Store { address, value, .. } = &instruction.action
                && let Operand::Local(local) = address
                && let Some(root) = analysis.roots[*local as usize]
            {
                stores.entry(root).or_default().push((b, address, value));
            }
        }
    }
    let is_private = |root: &Local| analysis.is_private.get(root) == Some(&true);
    let once = stores.into_iter().filter_map(|(root, stores)| {
        let [(0, address, value)] = stores[..] else {
            return None;
        };
        let is_whole = *address == Operand::Local(root);
        let is_kept = match value {
            Operand::Local(local) => *local < function.parameters,
            Operand::Integer(..) | Operand::Symbol(..) => true,
            Operand::Unknown => false,
        };
        (is_private(&root) && is_whole && is_kept).then(|| (root, value.clone()))
    });
    once.collect()
}

/// The decisions without which control does not get to a block: what they depended on has not been computed anew since.
/// O(edges).
pub(super) fn decisions_before(function: &Function, header: usize) -> Vec<Decision> {
    if function.blocks.len() > MOST_BLOCKS {
        return Vec::new();
    }
    let mut graph: DiGraphMap<usize, ()> = DiGraphMap::new();
    let mut predecessors: FxHashMap<usize, Vec<Decision>> = FxHashMap::default();
    graph.add_node(0);
    for (b, block) in function.blocks.iter().enumerate() {
        for (succ, &to) in block.succs.iter().enumerate() {
            graph.add_edge(b, to as usize, ());
            predecessors.entry(to as usize).or_default().push((b, succ));
        }
    }
    let dominators = simple_fast(&graph, 0);
    let mut found = Vec::new();
    let mut at = header;
    while let Some(before) = dominators.immediate_dominator(at) {
        // Any way to `at` is by this edge, and so was the last one.
        if let [(b, succ)] = predecessors[&at][..]
            && b == before
        {
            found.push((b, succ));
        }
        at = before;
    }
    found
}
