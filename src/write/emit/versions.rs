//! Blocks in versions: copies a function's blocks, redirects edges, and restores SSA form.
//!
//! After copying, a value may be defined in several versions of its block. Every use outside the block then asks
//! which definition reaches it; where two meet, a φ is made (on demand, as by Braun et al., *Simple and Efficient
//! Construction of SSA Form*, CC 2013, but walking up the dominator tree past blocks where none can meet), and φs that
//! turn out to have one value are taken out again. Values whose block has one version still dominate all versions of
//! what they dominated, and stay as they are.
//!
//! No φ is made of what machine code folds into its uses, addresses above all ([`needs_no_phi`]): it is computed again
//! where definitions meet. Addresses of a structure's fields are many, and as φs each would be a value to keep:
//! sqlite's interpreter, in two versions, took 1,700 M instructions more for that than for its paths, and clang took
//! six minutes.

mod jumps;
#[cfg(test)]
mod tests;

use super::llvm::inst::{self, Inst};
use super::llvm::value::Value;
use super::llvm::{self, Blocks};
use super::place;
use crate::base::index::{BlockId, TiVec};
use crate::input::ir::Cfg;
use crate::paths::dag::Dominators;
use crate::paths::versions::Versions;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::FunctionValue;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A walk up the dominator tree notes what it found after each so many steps: the next one stops
/// there. A value that is used far from its definition would take quadratic time otherwise, and
/// memory for each block on the way if every step were noted.
const NOTED: u32 = 32;

/// What a walk up the dominator tree finds at a block.
enum Step {
    /// What the value is there.
    Known(Value),
    /// The block above, at whose start it is the same.
    Above(BlockId),
}

/// Makes the blocks of `function`, whose control flow is `cfg`, those of `versions`; returns them in order. New ones
/// stand at the end. O(blocks + uses of values + blocks that these values reach).
pub(crate) fn copy_blocks<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    cfg: &Cfg,
    versions: &Versions,
) -> Blocks<'ctx> {
    copy_blocks_of(context, function, llvm::blocks(function), cfg, versions)
}

/// Makes the blocks of `function` those of `versions`, like [`copy_blocks`]. `blocks` are those of `cfg` by number;
/// their order in the function does not matter.
pub(crate) fn copy_blocks_of<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    mut blocks: Blocks<'ctx>,
    cfg: &Cfg,
    versions: &Versions,
) -> Blocks<'ctx> {
    for _ in blocks.len()..versions.cfg.len() {
        blocks.push(context.append_basic_block(function, ""));
    }
    let mut copier = Copier {
        builder: context.create_builder(),
        scopes: ["noalias", "alias.scope"].map(|kind| context.get_kind_id(kind)),
        own: cfg,
        versions,
        ins: versions.cfg.predecessors(),
        dominators: Dominators::new(&versions.cfg),
        homes: versions_by_block(cfg, versions),
        blocks,
        phis: Vec::new(),
        home: FxHashMap::default(),
        copies: Vec::new(),
        at_start: FxHashMap::default(),
        folded: FxHashMap::default(),
        starts: FxHashMap::default(),
        made: Vec::new(),
        filled: 0,
    };
    copier.renew_phis();
    copier.copy_blocks();
    copier.connect_edges();
    copier.mend_operands();
    copier.fill_phis();
    copier.fill_made();
    copier.simplify_phis();
    jumps::lead_jumps(&copier.builder, function, &copier.blocks, versions);
    copier.blocks
}

/// By block of the function: its versions.
fn versions_by_block(cfg: &Cfg, versions: &Versions) -> TiVec<BlockId, Vec<BlockId>> {
    let mut homes = cfg.by_block(Vec::new());
    for b in versions.cfg.ids() {
        homes[versions.origin[b]].push(b);
    }
    homes
}

/// What a φ of the function has for each of its predecessors, ascending; the versions of the φ share it.
type Entries = Rc<[(BlockId, Value)]>;

/// The instruction that defines a value.
#[derive(Clone, Copy)]
struct Home {
    block: BlockId,
    /// Its position in the block.
    at: u32,
}

struct Copier<'a, 'ctx> {
    builder: Builder<'ctx>,
    /// The kinds of metadata that name scopes of `noalias`.
    scopes: [u32; 2],
    own: &'a Cfg,
    versions: &'a Versions,
    ins: TiVec<BlockId, Vec<BlockId>>,
    dominators: Dominators,
    /// By block of the function: its versions.
    homes: TiVec<BlockId, Vec<BlockId>>,
    /// The blocks of `versions.cfg`.
    blocks: Blocks<'ctx>,
    /// The φs whose entries are to be made: block, φ, and what the function's φ has for each of its predecessors.
    phis: Vec<(BlockId, Inst, Entries)>,
    /// What defines a value, where that has several versions.
    home: FxHashMap<Value, Home>,
    /// By block beyond those of the function: what its instructions define, in the order of the originals. A table by
    /// value and block would take five times the memory.
    copies: Vec<Vec<Value>>,
    /// What reaches the start of a block of a value that is defined elsewhere.
    at_start: FxHashMap<(Value, BlockId), Value>,
    /// Values that have several versions and are folded into their uses: the operand that they are computed from, and
    /// its number.
    folded: FxHashMap<Value, (usize, Value)>,
    /// The instruction before which values are computed again, by block.
    starts: FxHashMap<BlockId, Inst>,
    /// φs made where definitions meet: block, φ, value.
    made: Vec<(BlockId, Inst, Value)>,
    /// How many of them have their entries.
    filled: usize,
}

impl<'ctx> Copier<'_, 'ctx> {
    /// Whether block `b` of the function has further versions.
    fn has_copies(&self, b: BlockId) -> bool {
        self.homes[b].len() > 1
    }

    /// Replaces the φs of blocks that have further versions or other predecessors than before.
    fn renew_phis(&mut self) {
        let before = self.own.predecessors();
        let numbers: FxHashMap<BasicBlock, BlockId> =
            self.blocks.iter().copied().zip(self.own.ids()).collect();
        let mut old = Vec::new();
        for b in self.own.ids() {
            if !self.has_copies(b) && before[b] == self.ins[b] {
                continue;
            }
            let block = self.blocks[b];
            for phi in inst::phis(block) {
                old.push((b, phi, inst::renew_phi(&self.builder, phi)));
            }
        }
        // Only now, when no φ refers to one that goes.
        for &(b, phi, new) in &old {
            let entries = phi.incoming().into_iter();
            let mut entries: Vec<_> = entries.map(|(v, from)| (numbers[&from], v)).collect();
            // Repeats of an edge bring one value.
            entries.sort_by_key(|(from, _)| *from);
            entries.dedup_by_key(|(from, _)| *from);
            self.phis.push((b, new, entries.into()));
        }
        for (_, phi, _) in old {
            phi.erase();
        }
    }

    /// Fills the new blocks. φs get no entries yet, and operands are those of the original.
    fn copy_blocks(&mut self) {
        let renewed: FxHashMap<Inst, usize> =
            (0..self.phis.len()).map(|i| (self.phis[i].1, i)).collect();
        // Renewed φs have no entries yet, so values do not know these users.
        let entries = self.phis.iter().flat_map(|p| p.2.iter());
        let merged: FxHashSet<Value> = entries.map(|(_, value)| *value).collect();
        for b in self.own.ids() {
            if !self.has_copies(b) {
                continue;
            }
            for (at, i) in (0..).zip(inst::instructions(self.blocks[b])) {
                if i.is_void() {
                    continue;
                }
                self.home.insert(i.value(), Home { block: b, at });
                if let Some(from) = folded_from(i).filter(|_| !merged.contains(&i.value())) {
                    self.folded.insert(i.value(), from);
                }
            }
        }
        for at in self.own.len()..self.blocks.len() {
            let to = BlockId::new(at);
            let from = self.versions.origin[to];
            let originals = inst::instructions(self.blocks[from]);
            let mut copies = Vec::with_capacity(originals.len());
            for i in originals {
                let copy = match renewed.get(&i) {
                    // It defines nothing.
                    _ if is_scope(i) => i,
                    Some(&n) => {
                        let entries = Rc::clone(&self.phis[n].2);
                        let phi = self.append_phi(to, i);
                        self.phis.push((to, phi, entries));
                        phi
                    }
                    None => self.append_copy(to, i),
                };
                copies.push(copy.value());
            }
            self.copies.push(copies);
        }
    }

    /// φs come first in a block, so appending keeps their order.
    fn append_phi(&self, to: BlockId, like: Inst) -> Inst {
        let block = self.blocks[to];
        let phi = inst::phi_at_end(&self.builder, block, like.value());
        phi.look_like(like);
        phi
    }

    /// Copies lose what says that their memory accesses do not alias those of other instructions: such scopes hold
    /// within one execution of a region, and a loop's versions are executed one after another.
    fn append_copy(&self, to: BlockId, from: Inst) -> Inst {
        self.builder.position_at_end(self.blocks[to]);
        let copy = from.copy_here(&self.builder);
        for scope in self.scopes {
            copy.drop_metadata(scope);
        }
        copy
    }

    /// Makes the edges those of the versions.
    fn connect_edges(&self) {
        for b in self.versions.cfg.ids() {
            let end = llvm::terminator(self.blocks[b]);
            let own = &self.own.block(self.versions.origin[b]).succs;
            for ((succ, to), own) in (0..).zip(&self.versions.cfg.block(b).succs).zip(own) {
                if to != own || b.index() >= self.own.len() {
                    llvm::set_successor(end, succ, self.blocks[*to]);
                }
            }
        }
    }

    /// Operands of all instructions but φs, and entries of the φs that were not replaced.
    fn mend_operands(&mut self) {
        let renewed: FxHashSet<Inst> = self.phis.iter().map(|p| p.1).collect();
        let numbers: FxHashMap<BasicBlock, BlockId> = self
            .blocks
            .iter()
            .copied()
            .zip(self.versions.cfg.ids())
            .collect();
        for b in self.versions.cfg.ids() {
            for i in inst::instructions(self.blocks[b]) {
                if renewed.contains(&i) {
                    continue;
                }
                let entries = if i.is_phi() { i.incoming() } else { Vec::new() };
                for (n, operand) in i.operands().into_iter().enumerate() {
                    let Some(&Home { block: home, .. }) = self.home.get(&operand) else {
                        continue;
                    };
                    let value = if let Some((_, from)) = entries.get(n) {
                        // Its predecessors are those it had: blocks of version 0.
                        self.at_end(operand, numbers[from])
                    } else if self.versions.origin[b] == home {
                        self.version_in(operand, b)
                    } else {
                        self.at_start(operand, b)
                    };
                    if value != operand {
                        i.set_operand(n, value);
                    }
                }
            }
        }
    }

    fn fill_phis(&mut self) {
        for (b, phi, entries) in std::mem::take(&mut self.phis) {
            for from in self.ins[b].clone() {
                let origin = self.versions.origin[from];
                let entry = entries.binary_search_by_key(&origin, |(from, _)| *from);
                let (_, value) = entries[entry.expect("a predecessor of the function's block")];
                let value = self.at_end(value, from);
                phi.add_incoming(value, self.blocks[from]);
            }
        }
    }

    /// `value`, which has several versions, as the version of its block that is `b` defines it.
    fn version_in(&self, value: Value, b: BlockId) -> Value {
        match b.index().checked_sub(self.own.len()) {
            None => value,
            Some(further) => self.copies[further][self.home[&value].at as usize],
        }
    }

    /// What `value` is at the end of block `b`.
    fn at_end(&mut self, value: Value, b: BlockId) -> Value {
        match self.home.get(&value) {
            None => value,
            Some(home) if self.versions.origin[b] == home.block => self.version_in(value, b),
            Some(_) => self.at_start(value, b),
        }
    }

    /// What `value`, which is not defined in any version of `b`, is at the start of block `b`: what it is at the end
    /// of the block above in the dominator tree, unless a definition lies on a way from there; then it is computed
    /// again, or a φ, whose entries are made later.
    fn at_start(&mut self, value: Value, b: BlockId) -> Value {
        let (mut at, mut steps) = (b, 0);
        let mut passed = Vec::new();
        let reaches = loop {
            match self.step_up(value, at) {
                Step::Known(reaches) => break reaches,
                Step::Above(above) => at = above,
            }
            steps += 1;
            if steps % NOTED == 0 {
                passed.push(at);
            }
        };
        let passed = passed.into_iter().map(|at| ((value, at), reaches));
        self.at_start.extend(passed);
        reaches
    }

    /// What `value` is at the start of block `at`, or the block above, at whose start it is the same.
    fn step_up(&mut self, value: Value, at: BlockId) -> Step {
        let home = self.home[&value].block;
        if let Some(&known) = self.at_start.get(&(value, at)) {
            return Step::Known(known);
        }
        let Some(above) = self.find_dominator(at) else {
            return Step::Known(inst::poison_like(value)); // unreachable
        };
        if self.meet_in(home, above, at) {
            let again = self.recompute_in(value, at);
            let reaches = again.unwrap_or_else(|| {
                let phi = inst::phi_before_all(&self.builder, self.blocks[at], value);
                self.made.push((at, phi, value));
                phi.value()
            });
            self.at_start.insert((value, at), reaches);
            return Step::Known(reaches);
        }
        if self.versions.origin[above] == home {
            return Step::Known(self.version_in(value, above));
        }
        Step::Above(above)
    }

    /// `value` computed at the start of block `b`, if it is folded into its uses. What it is computed from is what it
    /// was at `value`'s last definition: its block dominates that of `value`, so whatever comes by it on the way to `b`
    /// comes by that one, too.
    fn recompute_in(&mut self, value: Value, b: BlockId) -> Option<Value> {
        let &(operand, from) = self.folded.get(&value)?;
        let from = match self.home.get(&from) {
            Some(_) => self.at_start(from, b),
            None => from,
        };
        let block = self.blocks[b];
        let start = self.starts.entry(b);
        let start = *start.or_insert_with(|| Inst::from_inkwell(place::start_of_block(block)));
        inst::stand_before(&self.builder, start);
        let copy = value.instruction()?.copy_here(&self.builder);
        copy.set_operand(operand, from);
        Some(copy.value())
    }

    /// The block above `b` in the dominator tree.
    fn find_dominator(&self, b: BlockId) -> Option<BlockId> {
        let reachable = self.dominators.is_reachable(b);
        reachable
            .then(|| self.dominators.find_dominator(b))
            .flatten()
    }

    /// Whether versions of block `home` may lie on ways from `above` to `b`, which `above` dominates.
    fn meet_in(&self, home: BlockId, above: BlockId, b: BlockId) -> bool {
        let [only] = self.ins[b][..] else {
            let below = |v: &BlockId| *v != above && self.dominators.dominates(above, *v);
            return self.homes[home].iter().any(below);
        };
        debug_assert_eq!(only, above);
        false
    }

    fn fill_made(&mut self) {
        while let Some(&(b, phi, value)) = self.made.get(self.filled) {
            self.filled += 1;
            for from in self.ins[b].clone() {
                let value = self.at_end(value, from);
                phi.add_incoming(value, self.blocks[from]);
            }
        }
    }

    /// Takes out the made φs that have one value beside themselves.
    fn simplify_phis(&mut self) {
        let mut alive: FxHashSet<Inst> = self.made.iter().map(|m| m.1).collect();
        let mut work: Vec<Inst> = self.made.iter().rev().map(|m| m.1).collect();
        while let Some(phi) = work.pop() {
            if !alive.contains(&phi) {
                continue;
            }
            let mut others = phi.operands();
            others.retain(|v| *v != phi.value());
            let Some((&only, rest)) = others.split_first() else {
                continue;
            };
            if rest.iter().all(|v| *v == only) {
                let users = phi.users();
                alive.remove(&phi);
                phi.replace_uses(only);
                phi.erase();
                work.extend(users.into_iter().filter(|u| alive.contains(u)));
            }
        }
    }
}

/// Whether machine code computes it where it is used, at about no cost: addresses, and comparisons that branches alone
/// ask for. Not what a φ takes, such as the address of the next element: that has a register of its own anyway. (What
/// need not be handed to another function is more, `outlined::emit`: there it is that or memory; here casts gained in
/// one program and lost in another.)
fn needs_no_phi(i: Inst) -> bool {
    let mut users = i.value().uses().map(Value::opcode);
    match i.opcode() {
        LLVMOpcode::LLVMGetElementPtr => users.all(|o| o != LLVMOpcode::LLVMPHI),
        LLVMOpcode::LLVMICmp => users.all(|o| o == LLVMOpcode::LLVMBr),
        _ => false,
    }
}

/// The operand from which a folded instruction computes its result, if that is one and none that is folded itself:
/// chains could be long.
fn folded_from(i: Inst) -> Option<(usize, Value)> {
    let from = |i: Inst| needs_no_phi(i).then(|| only_variable(i)).flatten();
    let (operand, value) = from(i)?;
    let ends = value.instruction().and_then(from).is_none();
    ends.then_some((operand, value))
}

/// The only operand that is no constant, and its number.
fn only_variable(i: Inst) -> Option<(usize, Value)> {
    let operands = i.operands().into_iter().enumerate();
    let mut variable = operands.filter(|(_, v)| !v.is_constant());
    let only = variable.next()?;
    variable.next().is_none().then_some(only)
}

/// Whether an instruction opens a scope of `noalias`, which must not be opened twice.
fn is_scope(i: Inst) -> bool {
    i.callee()
        .is_some_and(|name| name == b"llvm.experimental.noalias.scope.decl")
}
