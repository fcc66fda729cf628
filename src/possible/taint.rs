//! What may be undefined in a function, whatever path runs; and which local variables only the function itself uses.
//!
//! A result of which LLVM was promised that it does not overflow may be anything at each use once it did. Such a value
//! may come from an earlier iteration of a loop, in a φ or in memory.

use super::before::{Decision, stored_once};
use super::code::{Action, BinaryOperator as Binary, Callee, End, Flags, Function, Local, Operand};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// How far a value can be relied on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taint {
    /// It may be undefined from the start: it may be anything at each use.
    pub(super) undefined: bool,
    /// It may have overflowed: as an address it can be relied on, since using it would be an error.
    pub(super) overflowed: bool,
}

impl Taint {
    fn add(&mut self, more: Taint) -> bool {
        let before = *self;
        self.undefined |= more.undefined;
        self.overflowed |= more.overflowed;
        *self != before
    }
}

/// What is known of a function, whatever path runs.
pub(super) struct Analysis {
    /// By value.
    pub(super) taints: Vec<Taint>,
    /// Values that are addresses inside a local variable, and which.
    pub(super) roots: Vec<Option<Local>>,
    /// Local variables whose address only loads, stores and comparisons see.
    pub(super) is_private: FxHashMap<Local, bool>,
    /// What stores may have left in local variables, and in other memory by the bits of the value.
    rooms: FxHashMap<Local, Taint>,
    memory: FxHashMap<u32, Taint>,
    /// Where each value is computed: block and instruction.
    pub(super) places: Vec<Option<(usize, usize)>>,
    /// What local variables hold that are stored once, in the entry block.
    pub(super) stored_once: FxHashMap<Local, Operand>,
    /// By loop header: the decisions without which control does not get there.
    pub(super) decisions: RefCell<FxHashMap<usize, Rc<[Decision]>>>,
    is_plain: bool,
    /// Whether local variables, which may hold nothing yet, are copied to other memory.
    copies_rooms: bool,
}

impl Analysis {
    /// That of a function. O(instructions · rounds), of which there are few.
    pub(super) fn new(function: &Function) -> Analysis {
        let values = function.kinds.len();
        let mut analysis = Analysis {
            taints: vec![Taint::default(); values],
            roots: vec![None; values],
            is_private: FxHashMap::default(),
            rooms: FxHashMap::default(),
            memory: FxHashMap::default(),
            places: vec![None; values],
            stored_once: FxHashMap::default(),
            decisions: RefCell::default(),
            is_plain: function.is_plain,
            copies_rooms: false,
        };
        for (b, block) in function.blocks.iter().enumerate() {
            for (i, instruction) in block.instructions.iter().enumerate() {
                if let Some(result) = instruction.result {
                    analysis.places[result as usize] = Some((b, i));
                    if matches!(instruction.action, Action::Allocate) {
                        analysis.roots[result as usize] = Some(result);
                        analysis.is_private.insert(result, true);
                    }
                }
            }
        }
        analysis.find_roots(function);
        analysis.find_escapes(function);
        while analysis.spread(function) {}
        analysis.stored_once = stored_once(function, &analysis);
        analysis
    }

    /// What stores of the function may have left where a load of so many bits reads, in the local variable `root` or
    /// else elsewhere.
    pub(super) fn taint_of_memory(&self, root: Option<Local>, bits: u32) -> Taint {
        let left = match root {
            Some(root) => self.rooms.get(&root),
            None => self.memory.get(&bits),
        };
        let mut left = left.copied().unwrap_or_default();
        left.undefined |= root.is_none() && self.copies_rooms;
        left
    }

    fn root(&self, operand: &Operand) -> Option<Local> {
        match operand {
            Operand::Local(l) => self.roots[*l as usize],
            _ => None,
        }
    }

    fn find_roots(&mut self, function: &Function) {
        loop {
            let mut changed = false;
            for block in &function.blocks {
                for instruction in &block.instructions {
                    let (Some(result), Action::Element(base, ..)) =
                        (instruction.result, &instruction.action)
                    else {
                        continue;
                    };
                    let root = self.root(base);
                    if root.is_some() && self.roots[result as usize].is_none() {
                        self.roots[result as usize] = root;
                        changed = true;
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn find_escapes(&mut self, function: &Function) {
        let escape = |analysis: &mut Analysis, operand: &Operand| {
            if let Some(root) = analysis.root(operand) {
                analysis.is_private.insert(root, false);
            }
        };
        for block in &function.blocks {
            for instruction in &block.instructions {
                match &instruction.action {
                    Action::Load { .. } | Action::Compare(..) => {}
                    Action::Store { value, .. } => escape(self, value),
                    Action::Element(_, _, indices, _) => {
                        indices.iter().for_each(|(i, _)| escape(self, i));
                    }
                    Action::Call {
                        callee: Callee::Declared(name),
                        ..
                    } if is_harmless(name) => {}
                    Action::Call {
                        callee: Callee::Declared(name),
                        arguments,
                        ..
                    } if name.starts_with("llvm.mem") => {
                        let from = arguments.get(1).and_then(|from| self.root(from));
                        self.copies_rooms |= from.is_some() && !self.is_plain;
                        arguments.iter().for_each(|o| escape(self, o));
                    }
                    action => action.operands().into_iter().for_each(|o| escape(self, o)),
                }
            }
            match &block.end {
                End::Branch(o) | End::Switch(o, _) | End::Return(Some(o)) => escape(self, o),
                End::Unknown | End::Return(None) | End::Abort => {}
            }
        }
    }

    fn taint(&self, operand: &Operand) -> Taint {
        match operand {
            Operand::Local(l) => self.taints[*l as usize],
            Operand::Integer(..) | Operand::Symbol(..) => Taint::default(),
            Operand::Unknown => Taint {
                undefined: true,
                overflowed: false,
            },
        }
    }

    /// One round; whether something changed.
    fn spread(&mut self, function: &Function) -> bool {
        let mut changed = false;
        for block in &function.blocks {
            for instruction in &block.instructions {
                let action = &instruction.action;
                if let Action::Store { address, value, .. } = action {
                    let taint = self.taint(value);
                    let bits = self.bits(function, value);
                    let left = match self.root(address) {
                        Some(root) => self.rooms.entry(root).or_default(),
                        None => self.memory.entry(bits).or_default(),
                    };
                    changed |= left.add(taint);
                }
                let Some(result) = instruction.result else {
                    continue;
                };
                let bits = function.kinds[result as usize].bits;
                let found = self.result_taint(action, bits);
                changed |= self.taints[result as usize].add(found);
            }
        }
        changed
    }

    fn bits(&self, function: &Function, operand: &Operand) -> u32 {
        match operand {
            Operand::Local(l) => function.kinds[*l as usize].bits,
            Operand::Integer(bits, _) => *bits,
            Operand::Symbol(..) => 64,
            Operand::Unknown => 0,
        }
    }

    fn result_taint(&self, action: &Action, bits: u32) -> Taint {
        let mut found = Taint::default();
        match action {
            Action::Load { address, .. } => {
                let root = self.root(address);
                found.add(self.taint_of_memory(root, bits));
                // What a local variable holds before something is stored.
                found.undefined |= root.is_some() && !self.is_plain;
                return found;
            }
            Action::Call {
                callee: Callee::Declared(name),
                ..
            } => {
                found.undefined = name.starts_with("llvm.");
                return found;
            }
            Action::Unknown | Action::Opaque(_) => found.undefined = true,
            Action::Allocate | Action::Call { .. } | Action::Freeze(_) => {
                return found;
            }
            Action::Binary(operator, _, by, flags) => {
                let shifts = matches!(operator, Binary::Shl | Binary::Lshr | Binary::Ashr);
                let by_any = shifts && !matches!(by, Operand::Integer(..));
                found.overflowed = (*flags != Flags::default() || by_any) && !self.is_plain;
            }
            Action::Cast(_, _, flags) => {
                found.overflowed = *flags != Flags::default() && !self.is_plain;
            }
            Action::Element(.., promised) | Action::Compare(.., promised) => {
                found.overflowed = *promised && !self.is_plain;
            }
            _ => {}
        }
        for operand in action.operands() {
            found.add(self.taint(operand));
        }
        found
    }
}

/// Whether an intrinsic does nothing with addresses that it gets.
pub(super) fn is_harmless(name: &str) -> bool {
    const BEGINNINGS: [&str; 8] = [
        "llvm.assume",
        "llvm.dbg.",
        "llvm.donothing",
        "llvm.experimental.noalias.scope.decl",
        "llvm.invariant.",
        "llvm.lifetime.",
        "llvm.pseudoprobe",
        "llvm.sideeffect",
    ];
    BEGINNINGS.iter().any(|b| name.starts_with(b))
}
