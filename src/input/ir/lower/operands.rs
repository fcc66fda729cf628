//! Which functions have their address taken: a walk over every operand of a module.

use llvm_ir::{Constant, ConstantRef, Instruction, Module, Name, Operand, Terminator};
use std::collections::{BTreeSet, HashSet};

/// The symbol behind a global's name.
pub(super) fn symbol_of(name: &Name) -> String {
    match name {
        Name::Name(n) => n.to_string(),
        Name::Number(n) => n.to_string(),
    }
}

/// The functions (defined or declared) of `module` that are used other than as the callee of a
/// direct call: in operands, initialisers and ifuncs. The targets of aliases count as well: who
/// uses the alias is not followed. O(operands); shared constants are visited once.
pub(super) fn address_taken(module: &Module) -> BTreeSet<String> {
    let mut walk = OperandWalk::default();
    for g in module
        .global_vars
        .iter()
        .filter_map(|g| g.initializer.as_ref())
    {
        walk.constant(g);
    }
    for ifunc in &module.global_ifuncs {
        walk.constant(&ifunc.resolver_fn);
    }
    for alias in &module.global_aliases {
        walk.constant(&alias.aliasee);
    }
    for block in module.functions.iter().flat_map(|f| &f.basic_blocks) {
        block.instrs.iter().for_each(|i| walk.instruction(i));
        walk.terminator(&block.term);
    }
    let functions = module.functions.iter().map(|f| &f.name);
    let declared = module.func_declarations.iter().map(|f| &f.name);
    functions
        .chain(declared)
        .filter(|n| walk.taken.contains(*n))
        .cloned()
        .collect()
}

#[derive(Default)]
struct OperandWalk {
    taken: HashSet<String>,
    seen: HashSet<*const Constant>,
}

impl OperandWalk {
    fn operand(&mut self, operand: &Operand) {
        if let Operand::ConstantOperand(c) = operand {
            self.constant(c);
        }
    }

    fn operands<'a>(&mut self, operands: impl IntoIterator<Item = &'a Operand>) {
        operands.into_iter().for_each(|o| self.operand(o));
    }

    /// Explicit stack: initialisers nest deeply.
    fn constant(&mut self, constant: &ConstantRef) {
        let mut stack = vec![constant];
        while let Some(c) = stack.pop() {
            if let Constant::GlobalReference { name, .. } = c.as_ref() {
                self.taken.insert(symbol_of(name));
            } else if may_refer(c) && self.seen.insert(std::ptr::from_ref(c.as_ref())) {
                push_parts(c, &mut stack);
            }
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        use Instruction::*;
        macro_rules! both {
            ($i:expr) => {
                self.operands([&$i.operand0, &$i.operand1])
            };
        }
        // Every variant by name: one that a new LLVM adds does not compile here, and no address is missed.
        match instruction {
            Add(i) => both!(i),
            Sub(i) => both!(i),
            Mul(i) => both!(i),
            UDiv(i) => both!(i),
            SDiv(i) => both!(i),
            URem(i) => both!(i),
            SRem(i) => both!(i),
            And(i) => both!(i),
            Or(i) => both!(i),
            Xor(i) => both!(i),
            Shl(i) => both!(i),
            LShr(i) => both!(i),
            AShr(i) => both!(i),
            ICmp(i) => both!(i),
            ShuffleVector(i) => both!(i),
            // A constant of any type can hold a casted address.
            FAdd(i) => both!(i),
            FSub(i) => both!(i),
            FMul(i) => both!(i),
            FDiv(i) => both!(i),
            FRem(i) => both!(i),
            FCmp(i) => both!(i),
            FNeg(i) => self.operand(&i.operand),
            FPTrunc(i) => self.operand(&i.operand),
            FPExt(i) => self.operand(&i.operand),
            FPToUI(i) => self.operand(&i.operand),
            FPToSI(i) => self.operand(&i.operand),
            UIToFP(i) => self.operand(&i.operand),
            SIToFP(i) => self.operand(&i.operand),
            Alloca(i) => self.operand(&i.num_elements),
            CatchPad(i) => self.operands(&i.args),
            CleanupPad(i) => self.operands(&i.args),
            Fence(_) | LandingPad(_) => {}
            ExtractElement(i) => self.operands([&i.vector, &i.index]),
            InsertElement(i) => self.operands([&i.vector, &i.element, &i.index]),
            ExtractValue(i) => self.operand(&i.aggregate),
            InsertValue(i) => self.operands([&i.aggregate, &i.element]),
            Load(i) => self.operand(&i.address),
            Store(i) => self.operands([&i.address, &i.value]),
            CmpXchg(i) => self.operands([&i.address, &i.expected, &i.replacement]),
            AtomicRMW(i) => self.operands([&i.address, &i.value]),
            GetElementPtr(i) => self.operands(std::iter::once(&i.address).chain(&i.indices)),
            Trunc(i) => self.operand(&i.operand),
            ZExt(i) => self.operand(&i.operand),
            SExt(i) => self.operand(&i.operand),
            PtrToInt(i) => self.operand(&i.operand),
            IntToPtr(i) => self.operand(&i.operand),
            BitCast(i) => self.operand(&i.operand),
            AddrSpaceCast(i) => self.operand(&i.operand),
            Phi(i) => self.operands(i.incoming_values.iter().map(|(v, _)| v)),
            Select(i) => self.operands([&i.condition, &i.true_value, &i.false_value]),
            Freeze(i) => self.operand(&i.operand),
            VAArg(i) => self.operand(&i.arg_list),
            Call(i) => self.call(
                i.function.as_ref().right(),
                i.arguments.iter().map(|(a, _)| a),
            ),
        }
    }

    fn terminator(&mut self, terminator: &Terminator) {
        match terminator {
            Terminator::Ret(t) => self.operands(&t.return_operand),
            Terminator::Invoke(t) => {
                self.call(
                    t.function.as_ref().right(),
                    t.arguments.iter().map(|(a, _)| a),
                );
            }
            Terminator::CallBr(t) => self.operands(t.arguments.iter().map(|(a, _)| a)),
            Terminator::CondBr(t) => self.operand(&t.condition),
            Terminator::Switch(t) => self.operand(&t.operand),
            Terminator::IndirectBr(t) => self.operand(&t.operand),
            Terminator::Resume(t) => self.operand(&t.operand),
            Terminator::Br(_) | Terminator::Unreachable(_) => {}
            // These name pads.
            Terminator::CleanupRet(_) | Terminator::CatchRet(_) | Terminator::CatchSwitch(_) => {}
        }
    }

    fn call<'a>(&mut self, callee: Option<&Operand>, arguments: impl Iterator<Item = &'a Operand>) {
        let direct = callee
            .and_then(Operand::as_constant)
            .is_some_and(|c| matches!(c, Constant::GlobalReference { .. }));
        if let Some(callee) = callee.filter(|_| !direct) {
            self.operand(callee);
        }
        self.operands(arguments);
    }
}

/// Whether a constant can hold a reference at all: most are numbers.
fn may_refer(c: &Constant) -> bool {
    use Constant::*;
    !matches!(
        c,
        Int { .. } | Float(_) | Null(_) | AggregateZero(_) | Undef(_) | Poison(_)
    )
}

fn push_parts<'a>(c: &'a Constant, stack: &mut Vec<&'a ConstantRef>) {
    use Constant::*;
    match c {
        Struct { values, .. } => stack.extend(values),
        Array { elements, .. } => stack.extend(elements),
        Vector(elements) => stack.extend(elements),
        PtrAuth {
            ptr,
            disc,
            addr_disc,
            ..
        } => stack.extend([ptr, disc, addr_disc]),
        GetElementPtr(e) => stack.extend(std::iter::once(&e.address).chain(&e.indices)),
        ExtractElement(e) => stack.extend([&e.vector, &e.index]),
        InsertElement(e) => stack.extend([&e.vector, &e.element, &e.index]),
        Add(e) => stack.extend([&e.operand0, &e.operand1]),
        Sub(e) => stack.extend([&e.operand0, &e.operand1]),
        Mul(e) => stack.extend([&e.operand0, &e.operand1]),
        Xor(e) => stack.extend([&e.operand0, &e.operand1]),
        Trunc(e) => stack.push(&e.operand),
        PtrToInt(e) => stack.push(&e.operand),
        IntToPtr(e) => stack.push(&e.operand),
        BitCast(e) => stack.push(&e.operand),
        AddrSpaceCast(e) => stack.push(&e.operand),
        _ => {}
    }
}
