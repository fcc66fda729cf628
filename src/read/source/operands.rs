//! What `&&`, `||` and `!` join, as a tree of conditions.
//!
//! Brackets that only group are no part of the tree. A condition holds no operator outside of its own brackets: what a
//! call is given is an expression of its own.

use super::condition::{JOINS, Range, STOPS, Scanned, is_negation};
use super::context::{Bytes, bytes};
use super::literals::literal;
use super::macros::Expansion;
use super::tokens::TokenKind;
use std::sync::Arc;

/// Brackets and negations are followed so deep.
const DEEPEST: usize = 200;
/// Operators that take a left and a right operand, besides those that join conditions.
const BINARY: [&str; 20] = [
    "==", "!=", "<", ">", "<=", ">=", "<=>", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>",
    "?", "=", "as",
];
/// What an expression does not reach over in front of it, besides [`STOPS`].
const KEYWORDS: [&str; 9] = [
    "if",
    "while",
    "for",
    "switch",
    "match",
    "in",
    "let",
    "constexpr",
    "->",
];

/// How conditions are joined. Operands are in the order in which they are evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// The condition with this number.
    Condition(usize),
    /// The opposite.
    Not(Box<Tree>),
    /// `&&`: two or more.
    All(Vec<Tree>),
    /// `||`: two or more.
    Any(Vec<Tree>),
}

/// A condition of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    /// Its text in one line, without negations in front of it.
    pub text: String,
    /// Where it is in the source; of a macro, where the call is.
    pub bytes: Bytes,
    /// Whether `?:` stands in it outside of brackets of calls, so that it has branches of its own.
    pub has_choice: bool,
    /// Whether its text begins with a negation that may be a part of an operand alone.
    pub may_negate: bool,
}

/// An expression, as large as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    /// How its conditions are joined; `None` where one of them makes the others pointless (`a && 0`).
    pub tree: Option<Tree>,
    /// Its conditions, without constants.
    pub operands: Vec<Operand>,
    /// The texts of constants that are left out.
    pub constants: Vec<String>,
    /// Its text in one line.
    pub text: String,
    /// Where it is.
    pub bytes: Bytes,
    /// Of an expression that calls of macros stand for: its number among those of the statement, from 1 on; else 0.
    pub number: usize,
}

/// An expression in tokens.
pub(super) struct Parsed {
    tree: Tree,
    /// Each condition.
    pub leaves: Vec<Range>,
    /// All of it.
    pub whole: Range,
    /// All of it, with brackets around it.
    outer: Range,
}

/// The largest expression around tokens `range`, which are a condition or an operator of it; `None` where brackets do
/// not tell. O(its length · depth of brackets).
pub(super) fn parse_around(scanned: &Scanned, range: Range) -> Option<Parsed> {
    let outer = find_whole(scanned, range);
    let whole = strip_groups(scanned, outer.clone());
    let mut leaves = Vec::new();
    let tree = parse(scanned, whole.clone(), &mut leaves, 0)?;
    Some(Parsed {
        tree,
        leaves,
        whole,
        outer,
    })
}

impl Parsed {
    /// The expression, whose texts are `quote`d and whose places `locate` finds.
    pub(super) fn describe(
        &self,
        scanned: &Scanned,
        quote: impl Fn(Range) -> String,
        locate: impl Fn(&Range) -> Bytes,
    ) -> Joined {
        let values: Vec<Option<bool>> = self
            .leaves
            .iter()
            .map(|leaf| find_constant(scanned, leaf.clone()))
            .collect();
        let mut numbers = Vec::new();
        let mut operands = Vec::new();
        for (leaf, value) in self.leaves.iter().zip(&values) {
            numbers.push(operands.len());
            if value.is_none() {
                operands.push(Operand {
                    text: quote(leaf.clone()),
                    bytes: locate(leaf),
                    has_choice: has_choice(scanned, leaf.clone()),
                    may_negate: scanned.is_negation_at(leaf.start),
                });
            }
        }
        let is_constant = |i: &usize| values[*i].is_some();
        let constants = (0..values.len()).filter(is_constant);
        Joined {
            tree: match fold(&self.tree, &values, &numbers) {
                Folded::Tree(tree) => Some(tree),
                Folded::Constant(_) | Folded::Pointless => None,
            },
            operands,
            constants: constants.map(|i| quote(self.leaves[i].clone())).collect(),
            text: quote(self.whole.clone()),
            bytes: locate(&self.whole),
            number: 0,
        }
    }
}

/// The expression at tokens of a text.
pub(super) fn describe_in_text(scanned: &Scanned, parsed: &Parsed) -> Joined {
    let quote = |range: Range| scanned.text_of(with_let(scanned, range));
    parsed.describe(scanned, quote, |range| bytes(scanned, range))
}

fn with_let(scanned: &Scanned, range: Range) -> Range {
    let binds = scanned.is_rust && range.start > 0 && scanned.word(range.start - 1) == "let";
    range.start - usize::from(binds)..range.end
}

/// The largest expression around a range: operators on both sides, through brackets that only group.
fn find_whole(scanned: &Scanned, mut range: Range) -> Range {
    loop {
        range = extend(scanned, range);
        let Some(open) = range.start.checked_sub(1) else {
            return range;
        };
        let is_bracketed = scanned.word(open) == "(" && scanned.closing_of(open) == Some(range.end);
        if !is_bracketed || !only_groups(scanned, open, range.end) {
            return range;
        }
        range = open..range.end + 1;
    }
}

/// An expression without brackets around all of it.
fn strip_groups(scanned: &Scanned, mut range: Range) -> Range {
    let groups = |inside: &Range| scanned.word(inside.start) != "{";
    while let Some(inside) = scanned.find_inside(&range).filter(groups) {
        range = inside;
    }
    range
}

/// Whether brackets around an expression only group, so that what stands outside joins it.
fn only_groups(scanned: &Scanned, open: usize, close: usize) -> bool {
    let before = open.checked_sub(1).map_or("", |i| scanned.word(i));
    let behind = scanned.word(close + 1);
    let joins = |word: &str| JOINS.as_flattened().contains(&word);
    let begins = joins(before)
        || is_negation(before)
        || STOPS.contains(&before)
        || matches!(before, "" | "(" | "[")
        || scanned.is_rust && KEYWORDS.contains(&before);
    let is_macro = scanned.word(open.wrapping_sub(1)) == "!" && !scanned.is_negation_at(open - 1);
    let ends = joins(behind) || STOPS.contains(&behind) || matches!(behind, "" | ")" | "]");
    begins && ends && !is_macro
}

/// Extends a range to both sides, in the brackets that it is in.
fn extend(scanned: &Scanned, range: Range) -> Range {
    let mut start = range.start;
    while let Some(before) = start.checked_sub(1) {
        let word = scanned.word(before);
        match word {
            ")" | "]" => match scanned.opening_of(before) {
                Some(open) => start = open,
                None => break,
            },
            "let" if scanned.is_rust && is_let_of_chain(scanned, before) => start = before,
            "=" if scanned.is_rust => match find_let_before(scanned, before) {
                Some(at) => start = at,
                None => break,
            },
            "(" | "[" => break,
            "->" if !scanned.is_rust => start = before,
            _ if STOPS.contains(&word) || KEYWORDS.contains(&word) => break,
            _ if scanned.tokens[before].kind == TokenKind::Directive => break,
            _ => start = before,
        }
    }
    let start = skip_closure(scanned, start, range.start);
    let mut end = range.end.max(start);
    let mut binds = scanned.is_rust && (start..end).any(|i| scanned.word(i) == "let");
    binds |= scanned.is_rust && start > 0 && scanned.word(start - 1) == "let";
    while end < scanned.tokens.len() {
        let word = scanned.word(end);
        match word {
            "(" | "[" => match scanned.closing_of(end) {
                Some(close) => end = close + 1,
                None => break,
            },
            "let" if scanned.is_rust => {
                binds = true;
                end += 1;
            }
            "=" if binds => {
                binds = false;
                end += 1;
            }
            ")" | "]" => break,
            _ if STOPS.contains(&word) || matches!(word, "if" | "in") => break,
            _ if scanned.tokens[end].kind == TokenKind::Directive => break,
            _ => end += 1,
        }
    }
    start..end
}

/// Whether the `let` at a token is a condition: that of an `if` or `while`, or an operand.
fn is_let_of_chain(scanned: &Scanned, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |i| scanned.word(i));
    matches!(before, "if" | "while" | "&&" | "(")
}

/// The `let` that is a condition and whose `=` is at a token.
fn find_let_before(scanned: &Scanned, at: usize) -> Option<usize> {
    let is_pattern = |i: &usize| !matches!(scanned.word(*i), ";" | "{" | "}" | "=");
    let mut before = (0..at).rev().take_while(is_pattern);
    let found = before.find(|&i| scanned.word(i) == "let")?;
    is_let_of_chain(scanned, found).then_some(found)
}

/// Where an expression begins whose tokens from `start` on may begin with the parameters of a closure of Rust.
fn skip_closure(scanned: &Scanned, start: usize, inside: usize) -> usize {
    if !scanned.is_rust {
        return start;
    }
    let first = start + usize::from(scanned.word(start) == "move");
    let after = match scanned.word(first) {
        "||" if !scanned.is_binary_join(first) => first + 1,
        "|" => {
            let close = (first + 1..inside).find(|&i| scanned.word(i) == "|");
            close.map_or(start, |close| close + 1)
        }
        _ => start,
    };
    if after <= inside { after } else { start }
}

fn is_join_at(scanned: &Scanned, at: usize) -> bool {
    scanned.is_join(at) && (!scanned.is_rust || scanned.is_binary_join(at))
}

/// The tree of a range; its conditions are added to `leaves`. `None` where an operand is missing.
fn parse(scanned: &Scanned, range: Range, leaves: &mut Vec<Range>, depth: usize) -> Option<Tree> {
    if depth > DEEPEST || range.is_empty() {
        return None;
    }
    for words in JOINS {
        let is_here = |i: &usize| words.contains(&scanned.word(*i)) && is_join_at(scanned, *i);
        let joins = scanned
            .tokens_outside_brackets(range.clone())
            .filter(is_here);
        let joins: Vec<usize> = joins.collect();
        if joins.is_empty() {
            continue;
        }
        let starts = std::iter::once(range.start).chain(joins.iter().map(|i| i + 1));
        let ends = joins.iter().copied().chain(std::iter::once(range.end));
        let parts = starts.zip(ends).map(|(start, end)| start..end);
        let parts: Vec<Tree> = parts
            .map(|part| parse(scanned, part, leaves, depth + 1))
            .collect::<Option<_>>()?;
        let is_any = words == JOINS[0];
        return Some(if is_any {
            Tree::Any(parts)
        } else {
            Tree::All(parts)
        });
    }
    if scanned.is_negation_at(range.start) && is_unary(scanned, range.start + 1..range.end) {
        let inner = parse(scanned, range.start + 1..range.end, leaves, depth + 1)?;
        return Some(Tree::Not(Box::new(inner)));
    }
    if let Some(inner) = scanned.find_inside(&range) {
        let stops = |i: usize| STOPS.contains(&scanned.word(i));
        let is_block = scanned.word(inner.start) == "{";
        if !is_block && !scanned.tokens_outside_brackets(inner.clone()).any(stops) {
            return parse(scanned, inner, leaves, depth + 1);
        }
    }
    leaves.push(range);
    Some(Tree::Condition(leaves.len() - 1))
}

/// Whether a negation in front of a range is one of all of it: no operator in it binds less.
fn is_unary(scanned: &Scanned, range: Range) -> bool {
    let is_operand = |i: usize| {
        let token = &scanned.tokens[i];
        token.kind != TokenKind::Punctuation || matches!(scanned.word(i), ")" | "]")
    };
    let outer = scanned.tokens_outside_brackets(range.clone());
    let binary =
        |i: &usize| *i > range.start && BINARY.contains(&scanned.word(*i)) && is_operand(*i - 1);
    !range.is_empty() && !outer.into_iter().any(|i| binary(&i))
}

/// Whether a choice between values stands in a condition, in brackets that only group at most.
fn has_choice(scanned: &Scanned, range: Range) -> bool {
    let mut outer = scanned.tokens_outside_brackets(range.clone());
    let is_try = |i: usize| scanned.is_rust && scanned.word(i) == "?";
    outer.any(|i| scanned.word(i) == "?" && !is_try(i))
        || scanned
            .find_inside(&range)
            .is_some_and(|inside| has_choice(scanned, inside))
}

/// The value of a condition that is a literal, or a word for one.
fn find_constant(scanned: &Scanned, range: Range) -> Option<bool> {
    let is_text = range.len() == 1 && scanned.word(range.start).starts_with('"');
    let value = literal(scanned, range).map(|value| value != 0);
    value.or(is_text.then_some(true))
}

/// What is left of a tree without constants.
enum Folded {
    Tree(Tree),
    Constant(bool),
    /// A constant decides whatever the conditions before it say.
    Pointless,
}

/// A tree without its constants, of which `values` has those of leaves; `numbers` are those of the other leaves.
fn fold(tree: &Tree, values: &[Option<bool>], numbers: &[usize]) -> Folded {
    let (parts, neutral) = match tree {
        Tree::Condition(i) => {
            return match values[*i] {
                Some(value) => Folded::Constant(value),
                None => Folded::Tree(Tree::Condition(numbers[*i])),
            };
        }
        Tree::Not(inner) => {
            return match fold(inner, values, numbers) {
                Folded::Tree(tree) => Folded::Tree(Tree::Not(Box::new(tree))),
                Folded::Constant(value) => Folded::Constant(!value),
                Folded::Pointless => Folded::Pointless,
            };
        }
        Tree::All(parts) => (parts, true),
        Tree::Any(parts) => (parts, false),
    };
    let mut left = Vec::new();
    for part in parts {
        match fold(part, values, numbers) {
            Folded::Tree(tree) => left.push(tree),
            Folded::Constant(value) if value == neutral => {}
            _ => return Folded::Pointless,
        }
    }
    match left.len() {
        0 => Folded::Constant(neutral),
        1 => Folded::Tree(left.remove(0)),
        _ if neutral => Folded::Tree(Tree::All(left)),
        _ => Folded::Tree(Tree::Any(left)),
    }
}

/// The expression that a branch at a token decides a part of; `None` where that is no condition: the range of a loop,
/// what a `switch` is over, a pattern of a `match`.
pub(super) fn find_at(scanned: &Scanned, offset: usize) -> Option<Parsed> {
    let at = scanned.token(offset)?;
    if is_join_at(scanned, at) {
        return parse_around(scanned, at..at + 1);
    }
    if matches!(scanned.word(at), "switch" | "match" | ":") {
        return None;
    }
    let range = scanned.condition(offset)?;
    let is_other = |i: usize| matches!(scanned.word(i), ":" | "in");
    if scanned.tokens_outside_brackets(range.clone()).any(is_other) || is_pattern(scanned, &range) {
        return None;
    }
    let argument = find_argument(scanned, &range);
    parse_around(scanned, argument.unwrap_or(range))
}

/// Whether a range is the pattern of an arm of a `match`, before its guard.
fn is_pattern(scanned: &Scanned, range: &Range) -> bool {
    let before = range.start.checked_sub(1).map_or("", |i| scanned.word(i));
    let behind = scanned.word(range.end);
    let is_guard = before == "if" || JOINS.as_flattened().contains(&before);
    scanned.is_rust && !is_guard && (behind == "=>" || behind == "if" && before != "let")
}

/// What an assertion asserts, of a statement that is one: its first argument.
fn find_argument(scanned: &Scanned, range: &Range) -> Option<Range> {
    let open = range.start + 1;
    let is_call = scanned.word(open) == "(" && scanned.closing_of(open) == Some(range.end - 1);
    let name = scanned.word(range.start).to_ascii_lowercase();
    if scanned.is_rust || !is_call || !name.contains("assert") {
        return None;
    }
    let inside = open + 1..range.end - 1;
    let mut outer = scanned.tokens_outside_brackets(inside.clone());
    let end = outer
        .find(|&i| scanned.word(i) == ",")
        .unwrap_or(inside.end);
    (inside.start < end).then_some(inside.start..end)
}

/// An expression of a statement whose macros are expanded, and the bytes at which its branches may be.
pub(super) struct Placed {
    /// The expression.
    pub joined: Arc<Joined>,
    sites: Vec<usize>,
}

impl Placed {
    /// Whether a branch at a byte may be one of the expression.
    pub(super) fn may_be_at(&self, offset: usize) -> bool {
        self.sites.contains(&offset)
    }
}

/// The expressions with `&&` or `||` of a statement whose macros are expanded. O(tokens · their expressions' length).
pub(super) fn find_expanded(expansion: &Expansion) -> Vec<Placed> {
    let scanned = expansion.as_scanned();
    let mut found: Vec<Parsed> = Vec::new();
    for at in (0..scanned.tokens.len()).filter(|&i| scanned.is_join(i)) {
        if found.iter().any(|f| f.joins(&scanned, at)) {
            continue;
        }
        found.extend(parse_around(&scanned, at..at + 1));
    }
    let place = |(i, parsed): (usize, &Parsed)| {
        let pieces = &expansion.pieces;
        let locate = |range: &Range| {
            let bytes = pieces[range.clone()].iter().map(|p| &p.bytes);
            let start = bytes.clone().map(|b| b.start).min().unwrap_or(0);
            start..bytes.map(|b| b.end).max().unwrap_or(0)
        };
        let quote = |range: Range| expansion.quote(range, 0);
        let mut joined = parsed.describe(&scanned, quote, locate);
        // Brackets of a macro's definition belong to its call.
        joined.text = expansion.quote(parsed.outer.clone(), 0);
        joined.number = i + 1;
        let sites = parsed.find_sites(&scanned).into_iter();
        Placed {
            joined: Arc::new(joined),
            sites: sites
                .flat_map(|i| [pieces[i].origin, pieces[i].spelled])
                .collect(),
        }
    };
    found.iter().enumerate().map(place).collect()
}

impl Parsed {
    /// Whether the operator at a token joins conditions of it.
    fn joins(&self, scanned: &Scanned, at: usize) -> bool {
        let is_inside = |leaf: &Range| leaf.contains(&at);
        self.whole.contains(&at) && scanned.is_join(at) && !self.leaves.iter().any(is_inside)
    }

    /// The tokens at which its branches may be.
    fn find_sites(&self, scanned: &Scanned) -> Vec<usize> {
        let mut sites: Vec<usize> = self
            .whole
            .clone()
            .filter(|&i| self.joins(scanned, i))
            .collect();
        sites.push(self.whole.start);
        sites.extend(self.leaves.iter().map(|leaf| leaf.start));
        let last = self.leaves.last().cloned().unwrap_or_default();
        let outer = scanned.tokens_outside_brackets(last);
        sites.extend(outer.filter(|&i| BINARY.contains(&scanned.word(i))));
        let Some(open) = scanned.bracket_around(self.whole.start) else {
            return sites;
        };
        let keyword = open.checked_sub(1).filter(|_| scanned.word(open) == "(");
        if let Some(keyword) =
            keyword.filter(|&i| matches!(scanned.word(i), "if" | "while" | "for"))
        {
            sites.push(keyword);
            let body = keyword.checked_sub(1).filter(|&i| scanned.word(i) == "}");
            sites.extend(body);
        }
        sites
    }
}

#[cfg(test)]
mod tests;
