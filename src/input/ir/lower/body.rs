//! One function definition: view → control flow, calls, lines.

use super::super::processes::forks_by_number;
use super::super::{
    Block, Call, Callee, Cfg, Decided, FunctionBody, Loc, Site, SkipReason, Span, Terminator,
};
use super::view::{BlockView, CallView, CalleeView, FunctionView, InstructionView};
use crate::base::index::BlockId;
use crate::input::load::positions::{BlockPositions, BodyPositions, SourcePosition};
use std::borrow::Cow;
use std::collections::HashSet;

/// Intrinsics that generate no instruction.
const NO_CODE: &[&str] = &[
    "llvm.dbg.",
    "llvm.lifetime.",
    "llvm.invariant.",
    "llvm.launder.",
    "llvm.strip.",
    "llvm.assume",
    "llvm.experimental.noalias.scope.decl",
    "llvm.donothing",
    "llvm.sideeffect",
    "llvm.pseudoprobe",
    "llvm.annotation",
    "llvm.ptr.annotation",
    "llvm.var.annotation",
    "llvm.codeview.annotation",
];

/// Intrinsics after which control may not go on in the block.
const LEAVING: &[&str] = &[
    "llvm.trap",
    "llvm.ubsantrap",
    "llvm.debugtrap",
    "llvm.eh.sjlj.longjmp",
    "llvm.eh.resume",
    "llvm.experimental.deoptimize",
    "llvm.experimental.guard",
    "llvm.coro.suspend",
];

/// Functions that return twice, should the call site not say so.
const RETURN_TWICE: &[&str] = &["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork"];

/// Whether a module that declares these functions needs the C++ runtime.
pub(super) fn is_cxx(declared: &[Cow<str>]) -> bool {
    let runtime = |n: &str| n.starts_with("__cxa_") || n.starts_with("__gxx_personality");
    let library = |n: &str| n.starts_with("_ZS") || n.starts_with("_ZNS") || n.starts_with("_ZNKS");
    let operators = |n: &str| n.starts_with("_Zn") || n.starts_with("_Zd");
    declared
        .iter()
        .any(|n| (runtime(n) && n != "__cxa_finalize") || library(n) || operators(n))
}

/// Calls in which control may leave a function.
pub(super) struct LeftByCalls {
    /// The block that control may leave in its middle, if at all, only in these calls; `None` for a call in tail
    /// position, before which the path ends.
    pub block: Option<BlockId>,
    /// Direct callees, by name, not empty; `None` where they are not known, which only a call in tail position says.
    pub callees: Option<Vec<String>>,
}

/// Lowers one definition. O(instructions). Direct callees are named, not resolved. `returning`:
/// [`super::view::ModuleView::returning`]. The last result: whether it forks by the number of a system call.
pub(super) fn lower(
    function: FunctionView,
    returning: &HashSet<Cow<str>>,
    places: &[SourcePosition],
    positions: &BodyPositions,
) -> (FunctionBody, Vec<LeftByCalls>, bool) {
    let lowering = Lowering { returning, places };
    let nowhere = BlockPositions::default();
    let mut left_by_calls = Vec::new();
    let mut forks_by_number = false;
    let mut cfg = Cfg::default();
    for (i, view) in function.blocks.into_iter().enumerate() {
        let mut leaving = Leaving::default();
        let positions = positions.blocks.get(i).unwrap_or(&nowhere);
        let mut block = lowering.block(view, positions, &mut leaving);
        forks_by_number |= leaving.forks_by_number;
        block.may_leave = leaving.otherwise || !leaving.callees.is_empty();
        block.leaves_at_end = leaving.in_tail.is_some();
        if block.may_leave && !leaving.otherwise {
            left_by_calls.push(LeftByCalls {
                block: Some(BlockId::new(i)),
                callees: Some(leaving.callees),
            });
        }
        left_by_calls.extend(leaving.in_tail.map(|callee| LeftByCalls {
            block: None,
            callees: callee.map(|name| vec![name]),
        }));
        cfg.blocks.push(block);
    }
    let body = FunctionBody {
        name: function.name.into_owned(),
        linkage: function.linkage,
        loc: positions.begins.map(|(file, line)| Loc { file, line }),
        skip: skip(function.skip, &cfg),
        address_taken: false,
        branchless: find_branchless_sites(places, &positions.branchless),
        loops: loops(places, &positions.blocks),
        split_loops: find_split_loops(&positions.blocks),
        optimised: positions.optimised,
        cfg,
    };
    (body, left_by_calls, forks_by_number)
}

/// Why a function is not profiled: it is naked, its control flow is beyond us, or `attributes` say so.
fn skip(attributes: Option<SkipReason>, cfg: &Cfg) -> Option<SkipReason> {
    let has = |t: Terminator| cfg.blocks.iter().any(|b| b.terminator == t);
    let mut calls = cfg.blocks.iter().flat_map(|b| &b.calls);
    if attributes == Some(SkipReason::Naked) {
        attributes
    } else if has(Terminator::Funclet) {
        Some(SkipReason::Funclets)
    } else if cfg.blocks.iter().any(repeats_target) {
        Some(SkipReason::CallBr)
    } else if calls.any(starts_coroutine) {
        Some(SkipReason::Coroutine)
    } else {
        attributes
    }
}

/// Whether a block ends in a `callbr` whose targets cannot be told apart.
fn repeats_target(block: &Block) -> bool {
    let distinct = || block.succs.iter().collect::<HashSet<_>>().len();
    block.terminator == Terminator::CallBr && distinct() < block.succs.len()
}

/// An unsplit coroutine calls `llvm.coro.begin`, a split one does not.
fn starts_coroutine(call: &Call) -> bool {
    matches!(&call.callee, Callee::External(name) if name.starts_with("llvm.coro.begin"))
}

/// In what control may leave a block in its middle.
#[derive(Default)]
struct Leaving {
    /// In calls of these, by name.
    callees: Vec<String>,
    /// In something else.
    otherwise: bool,
    /// Behind its path, in a call in tail position: of this function, if it is known.
    in_tail: Option<Option<String>>,
    /// Whether a call forks by the number of a system call, which is no way out of the block.
    forks_by_number: bool,
}

impl Leaving {
    /// Notes a call that may not return, of this function if it is known.
    fn note_call(&mut self, callee: Option<String>, in_tail_position: bool) {
        match callee {
            callee if in_tail_position => self.in_tail = Some(callee),
            Some(name) => self.callees.push(name),
            None => self.otherwise = true,
        }
    }
}

struct Lowering<'a> {
    returning: &'a HashSet<Cow<'a, str>>,
    places: &'a [SourcePosition],
}

impl Lowering<'_> {
    /// All of a block but [`Block::may_leave`], which follows from `leaving`.
    fn block(&self, view: BlockView, positions: &BlockPositions, leaving: &mut Leaving) -> Block {
        let mut block = Block::with_terminator(view.terminator, view.succs);
        let mut instructions = view.instructions;
        let terminator = instructions.pop().expect("a block has a terminator");
        let last = instructions.len();
        for (i, instruction) in instructions.into_iter().enumerate() {
            self.instruction(instruction, self.site(positions, i), &mut block, leaving);
        }
        let noted = block.calls.len();
        if let Some(call) = terminator.call {
            self.call(call, &mut block, leaving);
        }
        // A terminator is code, whatever it calls.
        block.instructions += 1;
        let site = self.site(positions, last);
        line(site, &mut block, noted);
        let choice = positions.choice.as_deref().cloned();
        let apart = positions
            .choice_at
            .map(|n| self::site(&self.places[n as usize]));
        let site = apart.or(site);
        block.choice = choice.map(|by| Box::new(Decided { site, by }));
        let placed: u32 = block.lines.iter().map(|s| s.instructions).sum();
        if let Some(first) = block.lines.first_mut() {
            first.instructions += block.instructions - placed;
        }
        block
    }

    /// Where instruction number `i` of a block is, φs not counted.
    fn site(&self, positions: &BlockPositions, i: usize) -> Option<Site> {
        let number = positions.instructions.get(i)?.checked_sub(1)?;
        Some(site(self.places.get(number as usize)?))
    }

    fn instruction(
        &self,
        instruction: InstructionView,
        site: Option<Site>,
        block: &mut Block,
        leaving: &mut Leaving,
    ) {
        let noted = block.calls.len();
        let code = match instruction.call {
            Some(call) => self.call(call, block, leaving),
            None => true,
        };
        if code {
            block.instructions += 1;
            line(site, block, noted);
        }
    }

    /// Notes a call; whether it generates code.
    fn call(&self, call: CallView, block: &mut Block, leaving: &mut Leaving) -> bool {
        block.returns_twice |= call.returns_twice;
        let callee = match call.callee {
            CalleeView::Symbol(name) if name.starts_with("llvm.") => {
                return intrinsic(&name, block, leaving);
            }
            CalleeView::Symbol(name) => {
                block.returns_twice |= RETURN_TWICE.contains(&&*name);
                leaving.forks_by_number |= forks_by_number(&name, call.first_argument);
                Callee::External(name.into_owned())
            }
            CalleeView::Pointer => Callee::Indirect,
            CalleeView::Asm => Callee::Asm,
        };
        let name = match &callee {
            Callee::External(name) => Some(name),
            _ => None,
        };
        let returns = call.returns || name.is_some_and(|n| self.returning.contains(n.as_str()));
        if !returns {
            leaving.note_call(name.cloned(), call.in_tail_position);
        }
        note_call(callee, !returns && !call.in_tail_position, block);
        true
    }
}

/// The blocks that go back in loops, and where these begin.
fn loops(places: &[SourcePosition], blocks: &[BlockPositions]) -> Vec<(BlockId, Site)> {
    let starts = blocks.iter().enumerate();
    let starts = starts.filter_map(|(b, of)| Some((b, of.loop_start?)));
    starts
        .map(|(b, place)| (BlockId::new(b), site(&places[place as usize])))
        .collect()
}

/// The blocks that go back in loops that the optimiser may have split.
fn find_split_loops(blocks: &[BlockPositions]) -> Vec<BlockId> {
    let split = blocks.iter().enumerate().filter(|(_, of)| of.splits_loop);
    split.map(|(b, _)| BlockId::new(b)).collect()
}

/// Places by their numbers, each once, ascending.
fn find_branchless_sites(places: &[SourcePosition], numbers: &[u32]) -> Vec<Site> {
    let mut sites: Vec<Site> = numbers.iter().map(|&p| site(&places[p as usize])).collect();
    sites.sort();
    sites.dedup();
    sites
}

fn site(place: &SourcePosition) -> Site {
    Site {
        loc: Loc {
            file: place.file,
            line: place.line,
        },
        column: place.column,
        inlined: place.inlined,
        discriminator: place.discriminator,
    }
}

/// Notes where an instruction is, and the calls that it makes: those from number `noted` on.
fn line(site: Option<Site>, block: &mut Block, noted: usize) {
    match (block.lines.last_mut(), site) {
        (Some(last), site) if site.is_none_or(|s| is_of(&s, last)) => last.instructions += 1,
        (_, Some(site)) => block.lines.push(Span {
            loc: site.loc,
            column: site.column,
            inlined: site.inlined,
            instructions: 1,
        }),
        (_, None) => {}
    }
    for call in &mut block.calls[noted..] {
        call.span = (block.lines.len() as u32).saturating_sub(1);
    }
}

/// Whether a place is on the line of a span, and in the same inlined call.
fn is_of(site: &Site, span: &Span) -> bool {
    (site.loc, site.inlined) == (span.loc, span.inlined)
}

/// Notes the call of an intrinsic; whether it generates code.
fn intrinsic(name: &str, block: &mut Block, leaving: &mut Leaving) -> bool {
    let starts = |list: &[&str]| list.iter().any(|p| name.starts_with(p));
    if starts(LEAVING) {
        leaving.otherwise = true;
        note_call(Callee::External(name.into()), true, block);
    }
    if name.starts_with("llvm.coro.begin") {
        note_call(Callee::External(name.into()), false, block);
    }
    !starts(NO_CODE)
}

fn note_call(callee: Callee, may_leave: bool, block: &mut Block) {
    let span = 0;
    block.calls.push(Call {
        callee,
        span,
        may_leave,
    });
}
