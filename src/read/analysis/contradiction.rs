//! Paths that no input can take, because their conditions contradict each other.
//!
//! The manifest says what branches compare ([`Compared`]), which values are the same on a path, and where a value
//! becomes a constant ([`BecomesConstant`]). Each outcome on a path leaves its value a set of numbers, and two values
//! an order. A path on which a set or an order is empty cannot run. Nothing is claimed of other paths: this is no proof
//! that they can.

use crate::base::index::{BlockId, EdgeId, PathId, TiSlice, VertexId};
use crate::input::load::positions::{
    BecomesConstant, Choice, Compared, Operand, Predicate, Variable,
};
use crate::paths::dag::{EdgeKind, Path, PathEnd};
use crate::paths::function::Measuring;
use crate::profile::manifest::FunctionEntry;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;

/// Functions with more paths are not looked through.
const MOST_PATHS: u64 = 1 << 12;
/// Wider integers are not looked at.
const WIDEST: u32 = 64;

/// What the branches of one function compare.
pub struct Contradictions<'a> {
    entry: &'a FunctionEntry,
    choices: FxHashMap<BlockId, &'a Choice>,
    /// By block: the values that become a constant there.
    constants: FxHashMap<BlockId, Vec<Fixed<'a>>>,
    /// Whether outcomes follow from where control came from ([`FunctionEntry::implied_successor`]).
    implies: bool,
}

/// Paths of a function that cannot run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Impossible {
    /// All that are known.
    pub all: u64,
    /// Those on which conditions of the source contradict each other. On others, a choice that the compiler added goes
    /// another way than what comes before it says.
    pub by_source: u64,
}

/// A value that is a constant from a block on.
struct Fixed<'a> {
    variable: &'a Variable,
    bits: u32,
    at: &'a BecomesConstant,
    constant: u64,
}

impl<'a> Contradictions<'a> {
    /// Those of a function. Where a call returns twice, a path is not run from its beginning to its end, and nothing is
    /// found.
    pub fn new(entry: &'a FunctionEntry) -> Contradictions<'a> {
        let choices = entry
            .choices
            .iter()
            .filter(|_| entry.returns_twice.is_empty());
        let implies = choices
            .clone()
            .any(|c| c.by.test.as_ref().is_some_and(|t| !t.known.is_empty()));
        let choices = choices.filter(|c| c.by.compared.is_some());
        let mut constants: FxHashMap<BlockId, Vec<Fixed>> = FxHashMap::default();
        for compared in choices.clone().filter_map(|c| c.by.compared.as_ref()) {
            for fixed in fixed_values(compared) {
                let block = BlockId(fixed.at.block);
                constants.entry(block).or_default().push(fixed);
            }
        }
        Contradictions {
            entry,
            implies,
            constants,
            choices: choices.map(|c| (c.block, &c.by)).collect(),
        }
    }

    /// Whether no path of the function can be found out.
    pub fn is_empty(&self) -> bool {
        self.choices.len() < 2 && self.constants.is_empty() && !self.implies
    }

    /// Whether the conditions of a path contradict each other: the block whose outcome contradicts earlier ones.
    /// O(length · comparisons on it).
    pub fn find(&self, path: &Path) -> Option<BlockId> {
        if self.is_empty() {
            return None;
        }
        let last = match path.end {
            PathEnd::Back(edge, _) => Some(edge.succ),
            PathEnd::Exit => None,
        };
        let succs = path.succs.iter().copied().chain(last);
        let mut known = KnownValues::default();
        let mut succs = succs.map(Some).chain(std::iter::repeat(None));
        for (n, &block) in path.blocks.iter().enumerate() {
            let (earlier, succ) = (&path.blocks[..n], succs.next().flatten());
            self.enter_block(&mut known, block, earlier.last().copied());
            if !self.leave_block(&mut known, block, earlier, succ) {
                return Some(block);
            }
        }
        None
    }

    /// Takes into account what a block stores, and what becomes a constant there behind the block `before`.
    fn enter_block(&self, known: &mut KnownValues<'a>, block: BlockId, before: Option<BlockId>) {
        known.forget_stores(block);
        let fixed = self.constants.get(&block).into_iter().flatten();
        for f in fixed.filter(|f| f.at.from.is_none_or(|b| before == Some(BlockId(b)))) {
            known.fix(f);
        }
    }

    /// Takes into account the way out of a block, behind the blocks `earlier` on the path, the last one of which is
    /// last; whether it agrees with what is known.
    fn leave_block(
        &self,
        known: &mut KnownValues<'a>,
        block: BlockId,
        earlier: &[BlockId],
        succ: Option<u32>,
    ) -> bool {
        let Some(succ) = succ else { return true };
        let earlier = earlier.iter().rev().copied();
        if self.implies
            && let Some(implied) = self.entry.implied_successor(block, earlier)
            && implied != succ
        {
            return false;
        }
        let choice = self.choices.get(&block).copied();
        choice.is_none_or(|choice| known.learn_outcome(choice, succ))
    }

    /// Whether nothing contradicts that a path runs.
    pub fn allow_path(&self, paths: &Measuring, id: PathId) -> bool {
        self.find_in(paths, id).is_none()
    }

    /// The block at which a path cannot go on as it does, if there is one.
    pub fn find_in(&self, paths: &Measuring, id: PathId) -> Option<BlockId> {
        if self.is_empty() {
            return None;
        }
        self.find(&paths.dag.path(&paths.decode(id)?))
    }

    /// How many paths of the function cannot run, among those that are wanted; none if the function has too many to
    /// look at each. `count_wanted` counts the wanted ones among paths with consecutive ids. Paths that begin alike are
    /// followed once up to where they part, and not behind the first contradiction, nor behind the last block that
    /// decides something. O(blocks of all paths).
    pub fn count(&self, paths: &Measuring, count_wanted: impl Fn(Range<u64>) -> u64) -> Impossible {
        let mut impossible = Impossible::default();
        if self.is_empty() || paths.numbering.total() > MOST_PATHS {
            return impossible;
        }
        let dag = &paths.dag;
        // Behind the last block that can contradict, all paths are possible: most of the DAG is not walked.
        let decides = dag.fold_from_exit(false, |v, behind: &TiSlice<VertexId, bool>| {
            let decides_itself = dag.block(v).is_some_and(|b| self.may_contradict(b));
            decides_itself || dag.out_edges(v).any(|e| behind[dag.edge(e).dst])
        });
        let starts = dag.out_edges(dag.entry()).map(|edge| Beginning {
            edge,
            earlier: Vec::new(),
            id: paths.numbering.labels[edge],
            known: Rc::default(),
        });
        // Depth first, so that the stack holds one beginning for each way that is open, and not one for each path.
        let mut stack: Vec<Beginning> = starts.collect();
        while let Some(beginning) = stack.pop() {
            let Beginning {
                edge,
                mut earlier,
                id,
                mut known,
            } = beginning;
            let vertex = dag.edge(edge).dst;
            let Some(block) = dag.block(vertex).filter(|_| decides[vertex]) else {
                continue;
            };
            if self.constants.contains_key(&block) || known.has_stores_of(block) {
                self.enter_block(Rc::make_mut(&mut known), block, earlier.last().copied());
            }
            let first = stack.len();
            for edge in dag.out_edges(vertex) {
                let id = id + paths.numbering.labels[edge];
                match self.follow(paths, edge, &known, block, &earlier) {
                    Some(known) => stack.push(Beginning {
                        edge,
                        earlier: Vec::new(),
                        id,
                        known,
                    }),
                    None => {
                        // Paths that begin alike have consecutive ids.
                        let behind = paths.numbering.paths[dag.edge(edge).dst];
                        let wanted = count_wanted(id..id + behind);
                        let by_source = !self.entry.is_generated(block);
                        impossible.all += wanted;
                        impossible.by_source += if by_source { wanted } else { 0 };
                    }
                }
            }
            // Nothing follows from blocks in front of the last one that has several ways out (`Test::implied`).
            if !self.implies || self.entry.succs[block].len() > 1 {
                earlier.clear();
            }
            earlier.push(block);
            for beginning in &mut stack[first..] {
                beginning.earlier.clone_from(&earlier);
            }
        }
        impossible
    }

    /// Whether the way out of a block may contradict what came before it.
    fn may_contradict(&self, block: BlockId) -> bool {
        let has_ways = || self.entry.succs[block].len() > 1;
        self.choices.contains_key(&block) || self.implies && has_ways()
    }

    /// What is known behind `edge`, a way out of `block`; `None` if outcomes contradict each other.
    fn follow(
        &self,
        paths: &Measuring,
        edge: EdgeId,
        known: &Rc<KnownValues<'a>>,
        block: BlockId,
        earlier: &[BlockId],
    ) -> Option<Rc<KnownValues<'a>>> {
        let mut known = Rc::clone(known);
        if !self.may_contradict(block) {
            return Some(known);
        }
        let succ = match paths.dag.edge(edge).kind {
            EdgeKind::Real(way) | EdgeKind::BackEdge(way) => Some(way.succ),
            _ => None,
        };
        let agrees = self.leave_block(Rc::make_mut(&mut known), block, earlier, succ);
        agrees.then_some(known)
    }
}

/// Counts, among paths with consecutive ids, all but those with the ids in `ran`. O(log) each time, once these are
/// sorted.
pub fn count_all_but(ran: impl Iterator<Item = PathId>) -> impl Fn(Range<u64>) -> u64 {
    let mut ran: Vec<u64> = ran.map(|id| id.0).collect();
    ran.sort_unstable();
    ran.dedup();
    move |ids: Range<u64>| {
        let before = |end: u64| ran.partition_point(|id| *id < end) as u64;
        ids.end - ids.start - (before(ids.end) - before(ids.start))
    }
}

/// The beginning of a path.
struct Beginning<'a> {
    /// Its last edge.
    edge: EdgeId,
    /// Blocks before this edge, the one that it leaves last; without those that are in front of a block with several
    /// ways out, but for that block.
    earlier: Vec<BlockId>,
    /// The sum of the labels up to this edge: the lowest id of a path that begins so.
    id: u64,
    /// What its outcomes say.
    known: Rc<KnownValues<'a>>,
}

/// The values of a comparison that become constants somewhere.
fn fixed_values(compared: &Compared) -> impl Iterator<Item = Fixed<'_>> {
    let bits = compared.bits;
    let variables = compared.variables();
    let all = variables.flat_map(|v| v.constants.iter().map(move |at| (v, at)));
    let followed = all.filter(move |_| (1..=WIDEST).contains(&bits));
    followed.filter_map(move |(variable, at)| {
        Some(Fixed {
            variable,
            bits,
            at,
            constant: constant(&at.constant, bits)?,
        })
    })
}

/// What outcomes on a path have told so far.
#[derive(Clone, Default)]
struct KnownValues<'a> {
    /// By number: the value's possible numbers, and the blocks that store another one.
    values: FxHashMap<u32, (Set, &'a Variable)>,
    /// Orders of two values, the lower number first, without and with signs.
    orders: FxHashMap<(u32, u32), [PossibleOrders; 2]>,
}

/// Which of less, equal and greater are possible.
type PossibleOrders = u8;

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;

impl<'a> KnownValues<'a> {
    /// The values of which a block stores another one.
    fn stored_in(&self, block: BlockId) -> impl Iterator<Item = u32> {
        let values = self.values.iter();
        let stored = values.filter(move |(_, (_, v))| v.stores.binary_search(&block.0).is_ok());
        stored.map(|(n, _)| *n)
    }

    fn has_stores_of(&self, block: BlockId) -> bool {
        self.stored_in(block).next().is_some()
    }

    /// Forgets what a block stores.
    fn forget_stores(&mut self, block: BlockId) {
        let gone: Vec<u32> = self.stored_in(block).collect();
        for n in gone {
            self.values.remove(&n);
            self.orders.retain(|(a, b), _| *a != n && *b != n);
        }
    }

    /// Adds that a value is a constant. What was known of it is of an earlier value.
    fn fix(&mut self, fixed: &Fixed<'a>) {
        let (n, c) = (fixed.variable.number, fixed.constant);
        let set = Set::numbers_in_relation(Predicate::Eq, c, fixed.bits);
        self.values.insert(n, (set, fixed.variable));
        self.orders.retain(|(a, b), _| *a != n && *b != n);
    }

    /// Adds the outcome of a choice; whether it agrees with what is known.
    fn learn_outcome(&mut self, choice: &'a Choice, succ: u32) -> bool {
        let Some(compared) = choice
            .compared
            .as_ref()
            .filter(|c| (1..=WIDEST).contains(&c.bits))
        else {
            return true;
        };
        let bits = compared.bits;
        match (compared.predicate, &compared.right) {
            (None, None) => {
                let values = choice.values.iter().map(|v| constant(v, bits));
                let Some(values) = values.collect::<Option<Vec<u64>>>() else {
                    return true;
                };
                let allowed = match (succ as usize).checked_sub(1) {
                    None => values.iter().fold(Set::all_values(bits), |set, v| {
                        set.intersect(&Set::numbers_in_relation(Predicate::Ne, *v, bits))
                    }),
                    Some(n) => match values.get(n) {
                        Some(v) => Set::numbers_in_relation(Predicate::Eq, *v, bits),
                        None => return true,
                    },
                };
                self.limit_values(&compared.left, bits, &allowed)
            }
            (Some(predicate), Some(right)) => {
                let predicate = if succ == 0 {
                    predicate
                } else {
                    predicate.inverse()
                };
                self.relate_operands(compared, predicate, right)
            }
            _ => true,
        }
    }

    fn relate_operands(
        &mut self,
        compared: &'a Compared,
        predicate: Predicate,
        right: &'a Operand,
    ) -> bool {
        let (left, bits) = (&compared.left, compared.bits);
        match right {
            Operand::Constant(text) => match constant(text, bits) {
                Some(c) => {
                    self.limit_values(left, bits, &Set::numbers_in_relation(predicate, c, bits))
                }
                None => true,
            },
            Operand::Variable(right) => {
                let (a, b) = (self.value(left, bits), self.value(right, bits));
                if !self.order(left.number, right.number, predicate) {
                    return false;
                }
                if predicate == Predicate::Eq {
                    let both = a.intersect(&b);
                    return self.limit_values(left, bits, &both)
                        && self.limit_values(right, bits, &both);
                }
                // A single number on one side is a constant.
                let a_is = a.only_number().is_none_or(|c| {
                    self.limit_values(
                        right,
                        bits,
                        &Set::numbers_in_relation(swap(predicate), c, bits),
                    )
                });
                a_is && b.only_number().is_none_or(|c| {
                    self.limit_values(left, bits, &Set::numbers_in_relation(predicate, c, bits))
                })
            }
        }
    }

    fn value(&mut self, variable: &'a Variable, bits: u32) -> Set {
        let known = self.values.entry(variable.number);
        known
            .or_insert_with(|| (Set::all_values(bits), variable))
            .0
            .clone()
    }

    fn limit_values(&mut self, variable: &'a Variable, bits: u32, to: &Set) -> bool {
        let set = self.value(variable, bits).intersect(to);
        let possible = !set.0.is_empty();
        self.values.insert(variable.number, (set, variable));
        possible
    }

    /// Adds how two values are ordered; whether an order is left.
    fn order(&mut self, left: u32, right: u32, predicate: Predicate) -> bool {
        if left == right {
            return order_of(predicate).0 & EQUAL != 0;
        }
        let predicate = if left < right {
            predicate
        } else {
            swap(predicate)
        };
        let pair = (left.min(right), left.max(right));
        let orders = self
            .orders
            .entry(pair)
            .or_insert([LESS | EQUAL | GREATER; 2]);
        let (order, signs) = order_of(predicate);
        for (i, known) in orders.iter_mut().enumerate() {
            if signs.is_none_or(|signed| usize::from(signed) == i) {
                *known &= order;
            } else if order & EQUAL == 0 {
                *known &= !EQUAL;
            }
        }
        // Equal is equal, with signs and without.
        if orders.iter().any(|o| *o & EQUAL == 0) {
            orders.iter_mut().for_each(|o| *o &= !EQUAL);
        }
        orders.iter().all(|o| *o != 0)
    }
}

/// The orders that a predicate allows, and whether it looks at signs, where that matters.
fn order_of(predicate: Predicate) -> (PossibleOrders, Option<bool>) {
    match predicate {
        Predicate::Eq => (EQUAL, None),
        Predicate::Ne => (LESS | GREATER, None),
        Predicate::Slt => (LESS, Some(true)),
        Predicate::Sle => (LESS | EQUAL, Some(true)),
        Predicate::Sgt => (GREATER, Some(true)),
        Predicate::Sge => (GREATER | EQUAL, Some(true)),
        Predicate::Ult => (LESS, Some(false)),
        Predicate::Ule => (LESS | EQUAL, Some(false)),
        Predicate::Ugt => (GREATER, Some(false)),
        Predicate::Uge => (GREATER | EQUAL, Some(false)),
    }
}

/// What `a PREDICATE b` is of `b` and `a`.
fn swap(predicate: Predicate) -> Predicate {
    match predicate {
        Predicate::Slt => Predicate::Sgt,
        Predicate::Sle => Predicate::Sge,
        Predicate::Sgt => Predicate::Slt,
        Predicate::Sge => Predicate::Sle,
        Predicate::Ult => Predicate::Ugt,
        Predicate::Ule => Predicate::Uge,
        Predicate::Ugt => Predicate::Ult,
        Predicate::Uge => Predicate::Ule,
        same => same,
    }
}

/// A constant as its bits, without a sign.
fn constant(text: &str, bits: u32) -> Option<u64> {
    let value: i128 = text.parse().ok()?;
    Some((value & i128::from(mask(bits))) as u64)
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Numbers without signs: ranges in ascending order, apart from each other, both ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Set(Rc<[(u64, u64)]>);

impl Set {
    fn all_values(bits: u32) -> Set {
        Set(Rc::new([(0, mask(bits))]))
    }

    /// The numbers of so many bits that are in this relation to `c`.
    fn numbers_in_relation(predicate: Predicate, c: u64, bits: u32) -> Set {
        let most = mask(bits);
        // With signs, the order is that of numbers whose first bit is flipped.
        let signed = order_of(predicate).1 == Some(true);
        let flip = if signed { 1 << (bits - 1) } else { 0 };
        let c = c ^ flip;
        let (order, _) = order_of(predicate);
        let mut ranges = Vec::new();
        if order & LESS != 0 && c > 0 {
            ranges.push((0, c - 1));
        }
        if order & EQUAL != 0 {
            ranges.push((c, c));
        }
        if order & GREATER != 0 && c < most {
            ranges.push((c + 1, most));
        }
        let half = 1u64 << (bits - 1);
        let back = |(from, to): (u64, u64)| {
            if signed && from < half && to >= half {
                vec![(from ^ flip, (half - 1) ^ flip), (half ^ flip, to ^ flip)]
            } else {
                vec![(from ^ flip, to ^ flip)]
            }
        };
        let mut ranges: Vec<(u64, u64)> = ranges.into_iter().flat_map(back).collect();
        ranges.sort_unstable();
        Set(ranges.into())
    }

    fn intersect(&self, other: &Set) -> Set {
        let mut both = Vec::new();
        for a in self.0.iter() {
            for b in other.0.iter() {
                let (from, to) = (a.0.max(b.0), a.1.min(b.1));
                if from <= to {
                    both.push((from, to));
                }
            }
        }
        both.sort_unstable();
        Set(both.into())
    }

    /// Its number, if it has only one.
    fn only_number(&self) -> Option<u64> {
        match self.0[..] {
            [(from, to)] if from == to => Some(from),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
