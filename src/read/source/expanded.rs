//! Conditions that calls of macros stand for, in the order in which a compiler makes branches of them.

use super::condition::{JOINS, Range, Scanned, is_negation};
use super::context::{self, Condition};
use super::extent::{extend, statement_end};
use super::macros::{Expansion, Macros};
use super::tokens::TokenKind;
use std::collections::HashSet;
use std::sync::Arc;

/// A decision that a call of a macro stands for.
#[derive(Debug)]
pub(crate) struct Decision {
    /// What is asked.
    pub condition: Arc<Condition>,
    /// The bytes at which its branch may be: by clang up to 21, and by clang 22.
    sites: [Vec<usize>; 2],
    /// Whether compilers may make no branch of it.
    may_have_none: bool,
    /// Of an operand of `&&` or `||`: the outcome with which the next operand is asked for, and which of the decisions
    /// are in that one.
    pub next: Option<(bool, std::ops::Range<usize>)>,
}

impl Decision {
    /// Whether a branch of it may be at a byte, by the rules of a compiler.
    pub(crate) fn may_be_at(&self, site: usize, rules: usize) -> bool {
        self.sites[rules].contains(&site)
    }

    /// Whether there is a branch of it, and at no other byte.
    pub(crate) fn must_be_at(&self, site: usize, rules: usize) -> bool {
        !self.may_have_none && self.sites[rules].iter().all(|s| *s == site)
    }
}

/// A decision, and where it is in the expansion.
struct PlacedDecision {
    decision: Decision,
    /// The token behind all that is asked for it.
    key: usize,
    /// What its condition is the last part of.
    whole: Range,
    /// The condition without negations.
    decided: Range,
    /// The operand behind the operator.
    next: Range,
}

/// Whether token `at` is in a call of a macro.
pub(super) fn is_in_call(scanned: &Scanned, macros: &Macros, at: usize) -> bool {
    let mut at = at;
    while !macros.has_call(scanned, at) {
        match find_opening(scanned, at) {
            Some(open) if open > 0 => at = open - 1,
            _ => return false,
        }
    }
    true
}

/// The round or square bracket around token `at`, unless a statement begins between. O(the statement).
fn find_opening(scanned: &Scanned, at: usize) -> Option<usize> {
    let mut at = at;
    while at > 0 {
        at -= 1;
        match scanned.word(at) {
            ")" | "]" => at = scanned.opening_of(at)?,
            "(" | "[" => return Some(at),
            ";" | "{" | "}" => return None,
            _ => {}
        }
    }
    None
}

/// The statement around token `at`, of one that controls others with the first of these: O(its length).
pub(super) fn statement_around(scanned: &Scanned, at: usize) -> Range {
    let is_directive = |i: usize| scanned.tokens[i].kind == TokenKind::Directive;
    let mut start = at;
    while let Some(open) = scanned
        .bracket_around(start)
        .filter(|&i| scanned.word(i) != "{")
    {
        start = open;
    }
    let mut end = start;
    while start > 0 && !is_directive(start - 1) {
        match scanned.word(start - 1) {
            ";" | "{" | "}" => break,
            ")" | "]" => match scanned.opening_of(start - 1) {
                Some(open) => start = open,
                None => break,
            },
            _ => start -= 1,
        }
    }
    while end < scanned.tokens.len() && !is_directive(end) {
        match scanned.word(end) {
            "{" | "}" => break,
            ";" => {
                end += 1;
                break;
            }
            "(" | "[" => match scanned.closing_of(end) {
                Some(close) => end = close + 1,
                None => break,
            },
            _ => end += 1,
        }
    }
    start..end
}

/// The decisions of calls of macros in an expansion, in the order in which they are asked.
pub(super) fn decisions(expansion: &Expansion) -> Vec<Decision> {
    let scanned = expansion.as_scanned();
    let tokens = 0..scanned.tokens.len();
    let mut found: Vec<PlacedDecision> = tokens
        .filter_map(|i| find_at(expansion, &scanned, i))
        .collect();
    found.sort_by_key(|f| f.key);
    let keys: Vec<usize> = found.iter().map(|f| f.key).collect();
    let before = |token: usize| keys.partition_point(|k| *k < token);
    for f in &mut found {
        let others = |tokens: &Range| before(tokens.end) - before(tokens.start);
        let is_only = |call: &Range| others(call) <= usize::from(call.contains(&f.key));
        let quoted = Quoted::find(expansion, &scanned, f, is_only);
        if let Some((outcome, next)) = &mut f.decision.next {
            *outcome = *outcome != quoted.is_turned;
            *next = before(f.next.start)..before(f.next.end);
        }
        f.decision.condition = Arc::new(quoted.describe(expansion, &scanned));
    }
    found.into_iter().map(|f| f.decision).collect()
}

/// What is decided by a token that a call of a macro stands for: an operator, or the keyword of a statement that
/// controls others.
fn find_at(expansion: &Expansion, scanned: &Scanned, at: usize) -> Option<PlacedDecision> {
    let word = scanned.word(at);
    let joins = JOINS.iter().find(|words| words.contains(&word));
    let is_statement = matches!(word, "if" | "while" | "for" | "switch");
    let (whole, key) = if joins.is_some() && scanned.is_binary_join(at) || word == "?" {
        (scanned.operand_before(at), at)
    } else if is_statement && scanned.word(at + 1) == "(" {
        (scanned.find_controlled(at)?, scanned.closing_of(at + 1)?)
    } else {
        return None;
    };
    if whole.is_empty() {
        return None;
    }
    let decided = scanned.last_part(whole.clone());
    let sites = find_sites(expansion, scanned, at, &whole, &decided)?;
    let (is_constant, may_be_constant) = find_constancy(scanned, decided.clone());
    if is_constant {
        return None;
    }
    let next = joins.map(|words| at + 1..extend(scanned, &(at..at), words).end);
    Some(PlacedDecision {
        decision: Decision {
            condition: Arc::default(),
            sites,
            may_have_none: may_be_constant || word == "?" && has_constant_arms(scanned, at),
            next: next
                .is_some()
                .then_some((matches!(word, "&&" | "and"), 0..0)),
        },
        key,
        whole,
        decided,
        next: next.unwrap_or_default(),
    })
}

/// The bytes at which the branch of token `at` may be, which decides on the part `decided` of the condition `whole`, by
/// clang up to 21 and by clang 22; `None` where no call of a macro stands for it.
fn find_sites(
    expansion: &Expansion,
    scanned: &Scanned,
    at: usize,
    whole: &Range,
    decided: &Range,
) -> Option<[Vec<usize>; 2]> {
    let mut places = Vec::new();
    let mut of_operators = Vec::new();
    match scanned.word(at) {
        "?" | "if" => {
            places.push(whole.start);
            let plain = |i: &usize| !is_negation(scanned.word(*i));
            places.extend(whole.clone().find(plain));
        }
        "while" => {
            places.push(at);
            places.extend(find_end_of_do_before(scanned, at));
        }
        _ => places.push(at),
    }
    if scanned.word(at) == "if" {
        match scanned.find_last_join(whole.clone()) {
            // Negated as a whole, the condition is where its negation is.
            _ if is_negated(scanned, whole) => of_operators.push(whole.start),
            Some(join) => of_operators.push(join),
            None => of_operators.extend(find_operators(scanned, decided.clone())),
        }
    }
    let pieces = &expansion.pieces;
    let mut all = places.iter().chain(&of_operators);
    all.any(|&i| !pieces[i].within.is_empty()).then(|| {
        let old = places.iter().map(|&i| pieces[i].origin).collect();
        let new = if of_operators.is_empty() {
            &places
        } else {
            &of_operators
        };
        [old, new.iter().map(|&i| pieces[i].spelled).collect()]
    })
}

/// The end of the body of the `do` whose `while` token `at` is, of a body in braces.
fn find_end_of_do_before(scanned: &Scanned, at: usize) -> Option<usize> {
    let last = at.checked_sub(1).filter(|&i| scanned.word(i) == "}")?;
    let open = scanned.opening_of(last)?;
    (open > 0 && scanned.word(open - 1) == "do").then_some(last)
}

/// Whether negations stand in front of brackets around all of a condition.
fn is_negated(scanned: &Scanned, whole: &Range) -> bool {
    let plain = |i: &usize| !is_negation(scanned.word(*i));
    let open = whole.clone().find(plain);
    open.is_some_and(|open| {
        open > whole.start
            && scanned.word(open) == "("
            && scanned.closing_of(open) == Some(whole.end - 1)
    })
}

/// The operators of a condition in no brackets, and the names of members: clang 22 has a branch at one of them.
fn find_operators<'s>(scanned: &'s Scanned, range: Range) -> impl Iterator<Item = usize> + 's {
    let start = range.start;
    let outer = scanned.tokens_outside_brackets(range);
    outer.filter(move |&i| {
        let is_member = i > start && matches!(scanned.word(i - 1), "." | "->" | "::");
        is_member || scanned.tokens[i].kind == TokenKind::Punctuation
    })
}

/// Whether an expression is a constant, and whether it may be one.
fn find_constancy(scanned: &Scanned, range: Range) -> (bool, bool) {
    let words = range.filter(|i| scanned.tokens[*i].kind == TokenKind::Word);
    let words: Vec<&str> = words.map(|i| scanned.word(i)).collect();
    let is_literal = |word: &&str| matches!(*word, "true" | "false" | "nullptr");
    let is_capital = |word: &&str| !word.chars().any(|c| c.is_ascii_lowercase());
    let may_be = words.iter().all(|w| is_literal(w) || is_capital(w));
    (
        words.iter().all(is_literal),
        may_be || words.contains(&"sizeof"),
    )
}

/// Whether both values of the `?` at a token may be constants: compilers choose between these without a branch.
fn has_constant_arms(scanned: &Scanned, question: usize) -> bool {
    let end = statement_end(scanned, question + 1);
    let outer: Vec<usize> = scanned.tokens_outside_brackets(question + 1..end).collect();
    let Some(n) = outer.iter().position(|&i| scanned.word(i) == ":") else {
        return true;
    };
    let stops = |i: &&usize| matches!(scanned.word(**i), ";" | "," | ":");
    let last = outer[n + 1..].iter().find(stops).map_or(end, |i| *i);
    let may_be = |range: Range| find_constancy(scanned, range).1;
    may_be(question + 1..outer[n]) && may_be(outer[n] + 1..last)
}

/// What is quoted of a decision.
struct Quoted {
    range: Range,
    /// Whether negations that are not quoted turn its truth into the opposite of what the condition is the last part
    /// of.
    is_turned: bool,
}

impl Quoted {
    /// All of a call that decides nothing else, with what negates it in the text, or the condition with the negations
    /// that the text, but no macro, has in front of it. `is_only`: whether among some tokens nothing else is decided.
    fn find(
        expansion: &Expansion,
        scanned: &Scanned,
        found: &PlacedDecision,
        is_only: impl Fn(&Range) -> bool,
    ) -> Quoted {
        let pieces = &expansion.pieces;
        let mut negations = 0;
        let mut quoted = (found.decided.clone(), 0);
        let mut range = found.decided.clone();
        let mut is_alone = true;
        loop {
            let calls = pieces[range.start].within.iter();
            let mut whole = calls.map(|call| expansion.tokens_of(call, range.start).0);
            if is_alone && whole.any(|tokens| tokens == range && is_only(&tokens)) {
                quoted = (range.clone(), negations);
            }
            if range.start == found.whole.start {
                break;
            }
            let before = range.start - 1;
            let word = scanned.word(before);
            if is_negation(word) {
                range.start = before;
                negations += 1;
                if is_alone && pieces[before].is_of_text {
                    quoted = (range.clone(), negations);
                }
            } else if word == "(" && scanned.word(range.end) == ")" {
                range = before..range.end + 1;
            } else if scanned.is_join(before) {
                is_alone = false;
                let open = scanned
                    .bracket_around(range.start)
                    .map_or(0, |open| open + 1);
                range.start = open.max(found.whole.start);
            } else {
                break;
            }
        }
        Quoted {
            range: quoted.0,
            is_turned: (negations - quoted.1) % 2 == 1,
        }
    }

    fn describe(&self, expansion: &Expansion, scanned: &Scanned) -> Condition {
        let pieces = &expansion.pieces[self.range.clone()];
        let around = &pieces[0].within;
        let is_around = |call: &&_| {
            pieces
                .iter()
                .all(|p| p.within.iter().any(|c| Arc::ptr_eq(c, *call)))
        };
        let call = around.first().filter(is_around);
        let is_all = call.is_some_and(|c| expansion.tokens_of(c, self.range.start).0 == self.range);
        let text = match call {
            Some(call) if !is_all => {
                format!("{}: {}", call.text, expansion.quote(self.range.clone(), 1))
            }
            _ => expansion.quote(self.range.clone(), 0),
        };
        let start = pieces.iter().map(|p| p.bytes.start).min();
        let end = pieces.iter().map(|p| p.bytes.end).max();
        Condition {
            text,
            bytes: start.unwrap_or(0)..end.unwrap_or(0),
            // Where it leads is a place in the expansion.
            then: None,
            otherwise: None,
            may_be_macro: false,
            call: None,
            is_assertion: false,
            ..context::describe(scanned, self.range.clone(), &HashSet::new())
        }
    }
}
