//! Positions in the source, for whichever loader reads a module: llvm-ir shows neither inlined calls nor hashes of
//! files.

use super::comparisons;
use super::conditions::{self, Blocks};
use super::llvm::view::{self, Block, Node, Value};
use super::misplaced::{self, Belongs, Misplaced, TYPE_ID};
use crate::input::load::positions::{
    BlockPositions, BodyPositions, Choice, Inlined, Optimised, Positions, SourceFile,
    SourcePosition, Test,
};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::path::{Component, Path, PathBuf};

/// Users of a flag are looked at so far.
const MOST_USES: usize = 1 << 12;
/// What symbols of Rust's destructors have in them.
const DROP: &str = "drop_in_place";
/// What clang says of each loop of C and C++: that it ends at some time.
const ENDS: &str = "llvm.loop.mustprogress";
/// What clang says of each loop where it unrolls none, and LLVM of those that it has unrolled.
const UNROLLS_NOT: &str = "llvm.loop.unroll.disable";

/// The positions of `module`. O(instructions), and what each different location takes once.
pub(super) fn find_positions(module: &Module) -> Positions {
    let mut finder = Finder {
        module,
        found: Positions::default(),
        files: FxHashMap::default(),
        files_of: FxHashMap::default(),
        inlined: FxHashMap::default(),
        scopes: FxHashMap::default(),
        places: FxHashMap::default(),
        known: FxHashMap::default(),
        no_inline: view::attribute("noinline"),
        harmless_hints: vec![ENDS],
    };
    if finder.inlines_hints_alone() {
        finder.harmless_hints.push(UNROLLS_NOT);
    }
    let definitions = view::functions(module).filter(|f| f.is_definition());
    let optnone = view::attribute("optnone");
    let bodies = definitions.map(|f| finder.body(f, optnone)).collect();
    finder.found.bodies = bodies;
    finder.found
}

struct Finder<'m, 'c> {
    module: &'m Module<'c>,
    found: Positions,
    files: FxHashMap<SourceFile, u32>,
    /// By what debug information has of a file: its number. Most scopes are in one of few files.
    files_of: FxHashMap<Node<'m>, u32>,
    inlined: FxHashMap<Node<'m>, Option<u32>>,
    /// By scope: its file and discriminator.
    scopes: FxHashMap<Node<'m>, Option<(u32, u32)>>,
    places: FxHashMap<SourcePosition, u32>,
    /// By location: its number among the places plus 1, or 0.
    known: FxHashMap<Node<'m>, u32>,
    /// The attribute of functions that may not be inlined.
    no_inline: u32,
    /// Hints to loops that do not say that an optimiser has split the loop.
    harmless_hints: Vec<&'static str>,
}

impl<'m> Finder<'m, '_> {
    /// Whether the module was compiled by `-O1 -finline-hint-functions`, which unrolls nothing: every function is
    /// inlined by a hint, or never. O(functions).
    fn inlines_hints_alone(&self) -> bool {
        let hints = ["noinline", "inlinehint", "alwaysinline"].map(view::attribute);
        let described = view::functions(self.module).filter(|f| f.debug_function().is_some());
        let mut described = described.filter(|f| f.is_definition());
        described.all(|f| hints.iter().any(|hint| f.has_attribute(*hint)))
    }

    fn body(&mut self, f: Value<'m>, optnone: u32) -> BodyPositions {
        let mut body = BodyPositions::default();
        let misplaced = misplaced::find_misplaced(f, optnone);
        let blocks = Blocks::new(f);
        let described = f.debug_function();
        for block in f.blocks() {
            let mut of_block = self.block(block, &blocks, &misplaced, &mut body.branchless);
            if let (Some(choice), Some(end)) = (&mut of_block.choice, block.instructions().last()) {
                let is_generated = matches!(misplaced.places.get(&end), Some(Belongs::Compiler))
                    || self.is_generated(end, choice);
                choice.generated = described.is_some() && is_generated;
            }
            body.blocks.push(of_block);
        }
        comparisons::note_comparisons(f, &mut body.blocks);
        body.optimised = match described {
            None => Optimised::Unknown,
            Some(s) if !s.is_optimised(self.module) => Optimised::No,
            Some(_) if f.has_attribute(self.no_inline) => Optimised::NeverInlined,
            Some(_) => Optimised::MayBeInlined,
        };
        let is_rust = described.is_some_and(Node::is_of_rust);
        if is_rust && body.optimised == Optimised::No {
            // rustc finds out by `select` which variant of an `enum` a value is; its branches come from the source.
            body.branchless.clear();
        }
        body.begins = described.and_then(|s| {
            let line = s.first_line();
            let (file, _) = self.scope(s)?;
            (line > 0).then_some((file, line))
        });
        body
    }

    fn block(
        &mut self,
        block: Block<'m>,
        blocks: &Blocks<'m>,
        misplaced: &Misplaced<'m>,
        branchless: &mut Vec<u32>,
    ) -> BlockPositions {
        let mut positions = BlockPositions::default();
        let mut last = None;
        for i in block.instructions() {
            if i.opcode() == LLVMOpcode::LLVMPHI {
                continue;
            }
            let place = self.place_in(i, misplaced);
            positions.instructions.push(place);
            if place > 0 && chooses_without_branch(i) {
                branchless.push(place - 1);
            }
            last = Some(i);
        }
        if positions.instructions.iter().all(|&place| place == 0) {
            positions.instructions = Vec::new();
        }
        positions.choice = last.and_then(choice).map(Box::new);
        let of_loop = last.map_or(Vec::new(), |end| end.loop_nodes(self.module));
        let start = of_loop.iter().find(|n| n.is_location());
        positions.loop_start = start.and_then(|l| self.number_place(*l).checked_sub(1));
        let mut hints = of_loop.iter().filter_map(|n| n.hint_name(self.module));
        positions.splits_loop = hints.any(|hint| !self.harmless_hints.contains(&hint.as_str()));
        if let (Some(choice), Some(end)) = (&mut positions.choice, last) {
            choice.range = misplaced.ranges.get(&end).cloned();
            let is_condition = choice.catches.is_none() && choice.range.is_none();
            choice.test = self.test(end, blocks).filter(|_| is_condition);
            let is_hidden = matches!(misplaced.places.get(&end), Some(Belongs::Nowhere));
            if is_hidden || end.debug_location().is_none() {
                positions.choice_at =
                    decided_at(end).and_then(|l| self.number_place(l).checked_sub(1));
            }
        }
        positions
    }

    /// The number of the place that an instruction belongs to plus 1, or 0.
    fn place_in(&mut self, i: Value<'m>, misplaced: &Misplaced<'m>) -> u32 {
        match misplaced.places.get(&i) {
            None => i.debug_location().map_or(0, |l| self.number_place(l)),
            Some(Belongs::Nowhere | Belongs::Compiler) => 0,
            Some(Belongs::With(location)) => self.number_place(*location),
            Some(Belongs::AtStartOf(location)) => self.block_start(*location).unwrap_or(0),
        }
    }

    /// Where the block of the source begins that a location is in.
    fn block_start(&mut self, location: Node<'m>) -> Option<u32> {
        let number = self.number_place(location).checked_sub(1)?;
        let (line, column) = location.block_start(self.module)?;
        let place = SourcePosition {
            line,
            column,
            discriminator: 0,
            ..self.found.places[number as usize]
        };
        Some(number_item(&mut self.places, &mut self.found.places, place) + 1)
    }

    /// Whether the compiler added the choice at `end`, in a function that has debug information: it has no position, or
    /// it asks for a flag that says whether there is something to clean up. Clang keeps variables of the source in
    /// whole bytes, and such flags in single bits. Rust cleans up at the place of the question.
    fn is_generated(&mut self, end: Value<'m>, choice: &Choice) -> bool {
        let chooses = matches!(end.opcode(), LLVMOpcode::LLVMBr | LLVMOpcode::LLVMSwitch);
        if !chooses || choice.catches.is_some() {
            return false;
        }
        let has_place = decided_at(end).is_some_and(|l| self.number_place(l) > 0);
        !has_place || end.operands().next().is_some_and(is_flag) || decides_drop(end)
    }

    /// What a branch that has a position tests.
    fn test(&mut self, branch: Value<'m>, blocks: &Blocks<'m>) -> Option<Test> {
        if branch.opcode() != LLVMOpcode::LLVMBr {
            return None;
        }
        let number = self.number_place(decided_at(branch)?).checked_sub(1)?;
        let at = self.found.places[number as usize];
        let condition = branch.operands().next()?;
        let mut place = |i: Value<'m>| {
            let number = self.number_place(i.debug_location()?).checked_sub(1)?;
            let inlined = &self.found.inlined;
            let seen = self.found.places[number as usize];
            conditions::visible_position(seen, at, |call| call_place(&inlined[call as usize]))
        };
        Some(conditions::find_test(
            condition,
            branch.block(),
            blocks,
            &mut place,
        ))
    }

    fn number_place(&mut self, location: Node<'m>) -> u32 {
        if let Some(&number) = self.known.get(&location) {
            return number;
        }
        let number = self.new_place(location).unwrap_or(0);
        self.known.insert(location, number);
        number
    }

    fn new_place(&mut self, location: Node<'m>) -> Option<u32> {
        let (line, column) = location.line_and_column();
        let (file, discriminator) = self.scope(location.scope()).filter(|_| line > 0)?;
        let place = SourcePosition {
            file,
            line,
            column,
            discriminator,
            inlined: location
                .inlined_at()
                .and_then(|_| self.number_inlined_call(location)),
        };
        let number = number_item(&mut self.places, &mut self.found.places, place);
        Some(number + 1)
    }

    /// The file of a scope, and its discriminator.
    fn scope(&mut self, scope: Node<'m>) -> Option<(u32, u32)> {
        if let Some(&known) = self.scopes.get(&scope) {
            return known;
        }
        let file = scope
            .file()
            .map(|file| (self.file(file), scope.discriminator(self.module)));
        self.scopes.insert(scope, file);
        file
    }

    /// The number of a file.
    fn file(&mut self, file: Node<'m>) -> u32 {
        if let Some(&number) = self.files_of.get(&file) {
            return number;
        }
        let source = SourceFile {
            name: full_name(&file.directory(), &file.file_name()),
            checksum: file.checksum(self.module).unwrap_or_default(),
        };
        let number = number_item(&mut self.files, &mut self.found.files, source);
        self.files_of.insert(file, number);
        number
    }

    /// The inlined call that `location`, which is in one, is in. Calls around it come first, as chains can be long.
    fn number_inlined_call(&mut self, location: Node<'m>) -> Option<u32> {
        let mut chain = vec![location];
        while let Some(outer) = chain.last().and_then(|l| l.inlined_at()) {
            chain.push(outer);
        }
        // By call and by the function called: calls of one location that call different functions have one node
        // each.
        let mut within = None;
        for pair in chain.windows(2).rev() {
            let (inner, call) = (pair[0], pair[1]);
            within = match self.inlined.get(&call) {
                Some(known) => *known,
                None => {
                    let number = self.inlined_call(inner, call, within).or(within);
                    self.inlined.insert(call, number);
                    number
                }
            };
        }
        within
    }

    fn inlined_call(
        &mut self,
        inner: Node<'m>,
        call: Node<'m>,
        within: Option<u32>,
    ) -> Option<u32> {
        let function = inner.subprogram(self.module)?.symbol(self.module)?;
        let (line, column) = call.line_and_column();
        let (file, _) = self.scope(call.scope())?;
        let inlined = Inlined {
            function,
            file,
            line,
            column,
            within,
        };
        self.found.inlined.push(inlined);
        Some(self.found.inlined.len() as u32 - 1)
    }
}

/// Where an inlined call is.
fn call_place(call: &Inlined) -> SourcePosition {
    SourcePosition {
        file: call.file,
        line: call.line,
        column: call.column,
        discriminator: 0,
        inlined: call.within,
    }
}

/// The number of `item` in `items`, into which it goes if it is not there.
fn number_item<T: Clone + Eq + Hash>(
    numbers: &mut FxHashMap<T, u32>,
    items: &mut Vec<T>,
    item: T,
) -> u32 {
    *numbers.entry(item).or_insert_with_key(|item| {
        items.push(item.clone());
        items.len() as u32 - 1
    })
}

/// The file's name from the root on, if that is known. Without `.`, so that one file has one name; `..` stays, for it
/// may lead out of a symbolic link.
fn full_name(directory: &str, file: &str) -> String {
    let name = Path::new(directory).join(file);
    let parts = name.components().filter(|c| *c != Component::CurDir);
    parts.collect::<PathBuf>().to_string_lossy().into_owned()
}

/// Whether an instruction chooses without a branch: what an optimiser makes of `?:`, `&&`, `||` and small `if`s.
fn chooses_without_branch(i: Value) -> bool {
    match i.opcode() {
        LLVMOpcode::LLVMSelect => true,
        LLVMOpcode::LLVMAnd | LLVMOpcode::LLVMOr => {
            i.is_condition() && !i.operands().any(|o| o.is_constant())
        }
        _ => false,
    }
}

/// What terminator `end` chooses by.
fn choice(end: Value) -> Option<Choice> {
    let returns = matches!(
        end.opcode(),
        LLVMOpcode::LLVMRet | LLVMOpcode::LLVMUnreachable
    );
    if returns || end.successors().count() < 2 {
        return None;
    }
    let mut choice = Choice::default();
    match end.opcode() {
        LLVMOpcode::LLVMSwitch => {
            let chosen = end.operands().next().expect("a switch has a condition");
            choice.values = end
                .cases()
                .map(Value::decimal_constant)
                .collect::<Option<_>>()?;
            choice.bytes = is_byte(chosen);
        }
        LLVMOpcode::LLVMBr => choice.catches = end.operands().next().and_then(caught_type),
        _ => {}
    }
    Some(choice)
}

/// Whether a value is read from a local variable of one bit to which constants alone are stored.
fn is_flag(value: Value) -> bool {
    let is = |value: Value, opcode| value.is_instruction() && value.opcode() == opcode;
    if !value.is_condition() || !is(value, LLVMOpcode::LLVMLoad) {
        return false;
    }
    let slot = value.operands().next();
    let Some(slot) = slot.filter(|slot| is(*slot, LLVMOpcode::LLVMAlloca)) else {
        return false;
    };
    slot.users()
        .take(MOST_USES)
        .all(|user| match user.opcode() {
            LLVMOpcode::LLVMLoad => true,
            LLVMOpcode::LLVMStore => user.operands().next().is_some_and(|v| v.is_constant()),
            _ => false,
        })
}

/// Where the source has the choice at `end`: an optimiser that moves code into a branch's block may leave the place of
/// the comparison alone.
fn decided_at<'m>(end: Value<'m>) -> Option<Node<'m>> {
    let compared = || {
        let condition = (end.opcode() == LLVMOpcode::LLVMBr).then(|| end.operands().next())??;
        let compares = condition.is_instruction()
            && matches!(
                condition.opcode(),
                LLVMOpcode::LLVMICmp | LLVMOpcode::LLVMFCmp
            );
        compares.then(|| condition.debug_location())?
    };
    end.debug_location().or_else(compared)
}

/// Whether a branch decides whether a value of Rust is dropped, and nothing else: code that the source has calls no
/// destructor at its own place.
fn decides_drop(branch: Value) -> bool {
    let drops = |block: Block| {
        let first = block.instructions().next()?;
        let calls = matches!(
            first.opcode(),
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke
        );
        let callee = calls.then(|| first.callee()).filter(|c| c.is_function())?;
        let is_here = first.debug_location()? == branch.debug_location()?;
        Some(is_here && callee.name().contains(DROP))
    };
    branch.opcode() == LLVMOpcode::LLVMBr && branch.successors().any(|to| drops(to) == Some(true))
}

/// Whether a value is a byte, or was one before it was extended.
fn is_byte(value: Value) -> bool {
    let extended = value.is_instruction()
        && matches!(value.opcode(), LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMSExt);
    value.has_width(8) || extended && value.operands().any(|o| o.has_width(8))
}

/// The type that `condition` asks an exception for, and the successor of a branch if it is of it.
fn caught_type(condition: Value) -> Option<(String, u32)> {
    if !condition.is_instruction() || condition.opcode() != LLVMOpcode::LLVMICmp {
        return None;
    }
    let successor = u32::from(!condition.compares_equal());
    let of_type = |o: Value| {
        let asks = o.is_instruction() && o.opcode() == LLVMOpcode::LLVMCall;
        let symbol = (asks && o.callee().name().starts_with(TYPE_ID))
            .then(|| o.operands().next())
            .flatten()?;
        Some(symbol.name().into_owned())
    };
    Some((condition.operands().find_map(of_type)?, successor))
}

#[cfg(test)]
mod tests {
    use super::full_name;

    #[test]
    fn a_file_has_one_name() {
        for (directory, file, name) in [
            ("/a/b", "c.c", "/a/b/c.c"),
            ("/a/b/", "./c.c", "/a/b/c.c"),
            ("/a/./b", ".//d/c.c", "/a/b/d/c.c"),
            ("/a/b", "../c.c", "/a/b/../c.c"),
            ("/a/b", "/d/./c.c", "/d/c.c"),
            ("", "./c.c", "c.c"),
            (".", "c.c", "c.c"),
            ("", "", ""),
        ] {
            assert_eq!(full_name(directory, file), name);
        }
    }
}
