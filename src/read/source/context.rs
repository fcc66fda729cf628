//! What the text around a condition says: where control goes if it is true and if it is false, and what it compares.
//!
//! Statements, joins (`&&`, `||`), `?:` and negations are climbed from the inside out. The first of them that says
//! where an outcome leads is where it leads: the next operand, the controlled statement, an alternative. Where none
//! does, nothing is known.

use super::condition::{JOINS, Range, STOPS, Scanned, is_negation};
use super::extent::{extend, statement_end};
use super::literals::literal;
use super::tokens::{Token, TokenKind};
use std::collections::HashSet;

/// Bytes of a text.
pub(crate) type Bytes = std::ops::Range<usize>;

/// A condition of a source, and what its text and its surroundings say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Its text in one line, with negations in front of it.
    pub text: String,
    /// Where it is.
    pub bytes: Bytes,
    /// What runs next if it is true, as far as the text tells.
    pub then: Option<Bytes>,
    /// What runs next if it is false, as far as the text tells.
    pub otherwise: Option<Bytes>,
    /// Whether an odd number of negations stands in front of what is compared.
    pub negated: bool,
    /// What is compared in it, if that is one comparison.
    pub comparison: Option<Comparison>,
    /// Whether it is a value by itself: no comparison, no assignment, no choice.
    pub is_value: bool,
    /// The function that is called, if the whole condition is a call.
    pub call: Option<String>,
    /// Whether a macro may be behind it: a name in capitals, or one that the file defines, that is all of it.
    pub may_be_macro: bool,
    /// Whether it is an assertion: a statement that is a macro with such a name.
    pub is_assertion: bool,
    /// Whether it is one operand of several.
    pub is_operand: bool,
    /// Whether an operand behind it is asked for, with one of its outcomes.
    pub asks_on: bool,
    /// Whether it is what a `switch` or `match` is over.
    pub is_switch: bool,
    /// Of a `match`: the pattern of each arm, and where the arm is.
    pub arms: Vec<(String, Bytes)>,
    /// Of a loop's condition: the outcome with which the loop goes on, while the other one ends it.
    pub continues: Option<bool>,
}

/// A comparison in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// `==`, `!=`, `<`, `<=`, `>` or `>=`.
    pub operator: String,
    /// The left operand.
    pub left: Operand,
    /// The right operand.
    pub right: Operand,
}

/// An operand of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Where it is.
    pub bytes: Bytes,
    /// Its value, if it is a number, a character, or a word for 0 or 1.
    pub literal: Option<i128>,
    /// Whether its sign may be another than that of the variables in it.
    pub may_negate: bool,
}

const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];
/// What makes a condition more than a value.
const CHOICES: [&str; 3] = ["?", "let", ":"];
/// Operators by which a value may be 0 where a variable in it, or one bit of that, is not: optimisers compare the
/// variable.
const OPPOSITES: [&str; 12] = [
    "!", "not", "~", "compl", "^", "xor", "-", "^=", "-=", "<<", ">>", ">>=",
];

/// What is known of the condition at tokens `range` of a text that defines `macros`.
pub(super) fn describe(scanned: &Scanned, range: Range, macros: &HashSet<String>) -> Condition {
    let (inner, negated) = without_negations(scanned, range.clone());
    let comparison = comparison(scanned, inner.clone());
    let words: Vec<&str> = scanned
        .tokens_outside_brackets(inner.clone())
        .map(|i| scanned.word(i))
        .collect();
    let joined = scanned
        .tokens_outside_brackets(inner.clone())
        .any(|i| scanned.is_join(i));
    let compares = words.iter().any(|w| COMPARISONS.contains(w));
    let call = call(scanned, inner.clone());
    // Also in brackets: `(a == 0) & (b == 0)`. What a call is given is compared elsewhere.
    let reverses = call.is_none() && may_reverse(scanned, inner.clone(), macros);
    let arrow = scanned.arrow(&range);
    let before = range.start.checked_sub(1).map_or("", |i| scanned.word(i));
    let is_guard = before == "if" || JOINS.as_flattened().contains(&before);
    let is_pattern = arrow.is_some() && !is_guard;
    let over = before == "for" && words.contains(&"in");
    // In Rust, `let` makes the left side a pattern; in C, `=` is a value.
    let binds = before == "let";
    let chooses = over || is_pattern || binds || words.iter().any(|w| CHOICES.contains(w));
    let mut context = Context::default();
    context.climb(scanned, range.clone());
    Condition {
        text: scanned.text_of(range.clone()) + if is_pattern { " =>" } else { "" },
        bytes: bytes(scanned, &range),
        then: context.then,
        otherwise: context.otherwise,
        negated,
        comparison,
        is_value: !compares && !reverses && !chooses && !joined,
        call,
        may_be_macro: may_be_macro(scanned, inner, macros),
        is_assertion: is_assertion(scanned, &range),
        is_operand: context.is_operand,
        asks_on: context.asks_on[0] || context.asks_on[1],
        arms: if context.is_switch {
            let arms = scanned.arms(&range).into_iter();
            arms.map(|(pattern, of)| (pattern, bytes(scanned, &of)))
                .collect()
        } else {
            Vec::new()
        },
        is_switch: context.is_switch,
        continues: context.continues,
    }
}

pub(super) fn bytes(scanned: &Scanned, range: &Range) -> Bytes {
    scanned.tokens[range.start].start..scanned.tokens[range.end - 1].end
}

/// A range without negations and brackets around all of it, and whether the negations change its truth.
fn without_negations(scanned: &Scanned, mut range: Range) -> (Range, bool) {
    let mut negated = false;
    loop {
        if range.len() > 1 && is_negation(scanned.word(range.start)) {
            // `!a == b` negates `a` alone.
            let rest = range.start + 1..range.end;
            let binary = |i| COMPARISONS.contains(&scanned.word(i)) || scanned.is_join(i);
            if scanned.tokens_outside_brackets(rest.clone()).any(binary)
                && scanned.word(range.start) == "!"
            {
                return (range, negated);
            }
            negated = !negated;
            range = rest;
            continue;
        }
        let Some(inside) = scanned.find_inside(&range) else {
            return (range, negated);
        };
        range = inside;
    }
}

/// The only comparison of a range, if nothing binds less.
fn comparison(scanned: &Scanned, range: Range) -> Option<Comparison> {
    let outer: Vec<usize> = scanned.tokens_outside_brackets(range.clone()).collect();
    let is_comparison = |i: &&usize| COMPARISONS.contains(&scanned.word(**i));
    let mut found = outer.iter().filter(is_comparison);
    let (&at, more) = (found.next()?, found.next());
    let other = |&i: &usize| CHOICES.contains(&scanned.word(i)) || scanned.is_join(i);
    let bits = |&i: &usize| matches!(scanned.word(i), "&" | "|" | "^");
    let equality = matches!(scanned.word(at), "==" | "!=");
    // In C, `a & b == c` is `a & (b == c)`; in Rust it is not.
    let ambiguous = outer.iter().any(other) || equality && outer.iter().any(bits);
    let inside = at > range.start && at + 1 < range.end;
    (more.is_none() && !ambiguous && inside).then(|| Comparison {
        operator: scanned.word(at).to_string(),
        left: operand(scanned, range.start..at),
        right: operand(scanned, at + 1..range.end),
    })
}

fn operand(scanned: &Scanned, range: Range) -> Operand {
    let signs = |i: usize| matches!(scanned.word(i), "-" | "~" | "%" | "/" | ">>");
    Operand {
        bytes: bytes(scanned, &range),
        literal: literal(scanned, range.clone()),
        may_negate: range.clone().any(signs),
    }
}

/// The name before the brackets, if a range is one call: `f` of `f(x)`, `p->f(x)`, `a::f(x)`.
fn call(scanned: &Scanned, range: Range) -> Option<String> {
    if range.len() < 3 || scanned.word(range.end - 1) != ")" {
        return None;
    }
    let open = scanned
        .opening_of(range.end - 1)
        .filter(|&o| o > range.start)?;
    let name = open - 1;
    let reached = scanned.tokens_outside_brackets(range.start..name).all(|i| {
        scanned.tokens[i].kind == TokenKind::Word
            || matches!(scanned.word(i), "." | "->" | "::" | "*" | "&")
    });
    (reached && scanned.tokens[name].kind == TokenKind::Word)
        .then(|| scanned.word(name).to_string())
}

/// Whether a range is one name, or a call of one, that is written as macros are, or that the file defines.
fn may_be_macro(scanned: &Scanned, range: Range, macros: &HashSet<String>) -> bool {
    let single = range.len() == 1 || scanned.word(range.start + 1) == "(";
    let name = scanned.word(range.start);
    single && (is_capital(name) || macros.contains(name))
}

/// Whether a name is written as those of macros are.
fn is_capital(name: &str) -> bool {
    name.chars().any(|c| c.is_ascii_uppercase()) && !name.chars().any(|c| c.is_ascii_lowercase())
}

/// Whether a value may be 0 exactly where something in it is not.
fn may_reverse(scanned: &Scanned, mut range: Range, macros: &HashSet<String>) -> bool {
    range.any(|i| {
        let word = scanned.word(i);
        let is_function = scanned.word(i + 1) == "(" && (is_capital(word) || macros.contains(word));
        is_function
            || COMPARISONS.contains(&word)
            || OPPOSITES.contains(&word)
            || scanned.is_join(i)
    })
}

/// Whether a range is a statement by itself that asserts something: `assert(x > 0)`, `serverAssert(x)`,
/// `debug_assert!(x)`.
fn is_assertion(scanned: &Scanned, range: &Range) -> bool {
    let before = range.start.checked_sub(1).map_or("", |i| scanned.word(i));
    let name = scanned.word(range.start).to_ascii_lowercase();
    let opens = match scanned.word(range.start + 1) {
        "!" => scanned.word(range.start + 2),
        word => word,
    };
    let is_statement = matches!(before, "" | ";" | "{" | "}" | ")" | "else" | "do" | ":");
    is_statement && opens == "(" && name.contains("assert")
}

/// The names of the macros that directives of the text define.
pub(super) fn defined_macros(scanned: &Scanned) -> HashSet<String> {
    let directives = scanned
        .tokens
        .iter()
        .filter(|t| t.kind == TokenKind::Directive);
    let name = |t: &Token| {
        let rest = scanned.text[t.start + 1..t.end].trim_start();
        let defined = rest.strip_prefix("define")?.trim_start();
        let end = defined.find(|c: char| !c.is_alphanumeric() && c != '_');
        Some(defined[..end.unwrap_or(defined.len())].to_string())
    };
    directives.filter_map(name).collect()
}

/// What was learnt on the way out of a condition.
#[derive(Default)]
struct Context {
    then: Option<Bytes>,
    otherwise: Option<Bytes>,
    is_operand: bool,
    is_switch: bool,
    continues: Option<bool>,
    /// Whether an operand behind this one is asked for if it is true, or false.
    asks_on: [bool; 2],
}

impl Context {
    /// Notes that the loop goes on if the whole condition is true: it ends where the other outcome decides alone.
    fn control(&mut self, same: bool) {
        let decides = !self.asks_on[usize::from(!same)];
        self.continues = decides.then_some(same);
    }

    /// Notes where an outcome leads, unless something nearer said so.
    fn note_target(&mut self, outcome: bool, scanned: &Scanned, to: Range) {
        let known = if outcome {
            &mut self.then
        } else {
            &mut self.otherwise
        };
        if known.is_none() && !to.is_empty() {
            let mut to = bytes(scanned, &to);
            // At the `}` of a block, Rust also drops what the statement around it holds, however that went.
            if scanned.is_rust && scanned.text[to.clone()].ends_with('}') {
                to.end -= 1;
            }
            *known = Some(to);
        }
    }

    /// Climbs from a condition to the statement that it controls. `same` is whether the range at hand is true exactly
    /// where the condition is.
    fn climb(&mut self, scanned: &Scanned, mut range: Range) {
        let mut same = true;
        loop {
            let before = range.start.checked_sub(1).map_or("", |i| scanned.word(i));
            let after = scanned.word(range.end);
            if is_negation(before) {
                same = !same;
                range.start -= 1;
            } else if let Some(wider) = self.join(scanned, &range, same) {
                range = wider;
            } else if after == "?" {
                self.read_alternatives(scanned, &range, same);
                return;
            } else if before == "(" && after == ")" {
                let open = range.start - 1;
                if self.statement(scanned, open, range.end, same) {
                    return;
                }
                let name = open.checked_sub(1).map_or("", |i| scanned.word(i));
                let groups = open == 0
                    || scanned.is_negation_at(open - 1)
                    || STOPS.contains(&name)
                    || matches!(name, "(" | "[" | "&&" | "||" | "and" | "or");
                if !groups {
                    return;
                }
                range = open..range.end + 1;
            } else {
                self.bare_statement(scanned, &range, same);
                return;
            }
        }
    }

    /// If a range is an operand of a join: notes where that leads, and gives the whole join.
    fn join(&mut self, scanned: &Scanned, range: &Range, same: bool) -> Option<Range> {
        for (words, stops_at) in [(JOINS[1], true), (JOINS[0], false)] {
            let is = |i: usize| words.contains(&scanned.word(i));
            let first = range.start > 0 && is(range.start - 1);
            if !first && !is(range.end) {
                continue;
            }
            self.is_operand = true;
            let whole = extend(scanned, range, &words);
            if is(range.end) {
                // `a && b` asks for `b` if `a` is true, `a || b` if it is false.
                self.asks_on[usize::from(stops_at == same)] = true;
                self.note_target(stops_at == same, scanned, range.end + 1..whole.end);
            }
            return Some(whole);
        }
        None
    }

    /// `range ? x : y`.
    fn read_alternatives(&mut self, scanned: &Scanned, range: &Range, same: bool) {
        let question = range.end;
        let mut depth = 0;
        let end = |from: usize| {
            let stops = |&i: &usize| matches!(scanned.word(i), ";" | "," | ")" | "]" | "}");
            let mut at = from;
            while at < scanned.tokens.len() && !stops(&at) {
                if matches!(scanned.word(at), "(" | "[" | "{") {
                    at = scanned.closing_of(at).unwrap_or(scanned.tokens.len());
                }
                at += 1;
            }
            at.min(scanned.tokens.len())
        };
        let stop = end(question + 1);
        let mut outer = scanned.tokens_outside_brackets(question + 1..stop);
        let colon = outer.find(|&i| {
            match scanned.word(i) {
                "?" => depth += 1,
                ":" if depth == 0 => return true,
                ":" => depth -= 1,
                _ => {}
            }
            false
        });
        if let Some(colon) = colon {
            self.note_target(same, scanned, question + 1..colon);
            self.note_target(!same, scanned, colon + 1..stop);
        }
    }

    /// If brackets are those of a statement: notes where its condition leads.
    fn statement(&mut self, scanned: &Scanned, open: usize, close: usize, same: bool) -> bool {
        let mut keyword = open;
        while keyword > 0
            && matches!(
                scanned.word(keyword - 1),
                "constexpr" | "if" | "while" | "switch" | "for"
            )
        {
            keyword -= 1;
            if scanned.word(keyword) != "constexpr" {
                break;
            }
        }
        match scanned.word(keyword) {
            "if" => self.branches(scanned, close + 1, same),
            "while" => {
                self.control(same);
                let done = keyword > 0 && scanned.word(keyword - 1) == "}";
                let body = done.then(|| scanned.opening_of(keyword - 1)).flatten();
                let body = body.filter(|&b| b > 0 && scanned.word(b - 1) == "do");
                match body {
                    Some(body) => self.note_target(same, scanned, body..keyword),
                    None => self.note_target(
                        same,
                        scanned,
                        close + 1..statement_end(scanned, close + 1),
                    ),
                }
            }
            // Over a range: all of it is in the brackets.
            "for" => {
                self.control(same);
                self.note_target(same, scanned, close + 1..statement_end(scanned, close + 1));
            }
            "switch" => self.is_switch = true,
            _ => return false,
        }
        true
    }

    /// What follows a condition of `if`.
    fn branches(&mut self, scanned: &Scanned, at: usize, same: bool) {
        let end = statement_end(scanned, at);
        self.note_target(same, scanned, at..end);
        if scanned.word(end) == "else" {
            self.note_target(!same, scanned, end + 1..statement_end(scanned, end + 1));
        }
    }

    /// The condition of a `for`, or one without brackets around it (Rust).
    fn bare_statement(&mut self, scanned: &Scanned, range: &Range, same: bool) {
        let mut before = range.start.checked_sub(1).map_or("", |i| scanned.word(i));
        let after = scanned.word(range.end);
        if before == "let" {
            before = range.start.checked_sub(2).map_or("", |i| scanned.word(i));
            if after == "else" {
                self.note_target(
                    !same,
                    scanned,
                    range.end + 1..statement_end(scanned, range.end + 1),
                );
                return;
            }
        }
        if let Some((arrow, is_all)) = scanned.arrow(range) {
            let body = scanned.arm_body(arrow);
            let from = if is_all { body.start } else { range.end };
            self.note_target(same, scanned, from..body.end);
        } else if before == ";" && after == ";" {
            let open = scanned.bracket_around(range.start);
            let open = open.filter(|&o| o > 0 && scanned.word(o - 1) == "for");
            if let Some(close) = open.and_then(|o| scanned.closing_of(o)) {
                let end = statement_end(scanned, close + 1);
                self.control(same);
                self.note_target(same, scanned, range.end + 1..end);
            }
        } else if before == ";" && after == ")" {
            // `if (int n = f(); n > 0)`.
            if let Some(open) = scanned.bracket_around(range.start) {
                self.statement(scanned, open, range.end, same);
            }
        } else if after == "{" {
            match before {
                "if" => self.branches(scanned, range.end, same),
                "match" | "switch" => self.is_switch = true,
                "while" | "for" => {
                    self.control(same);
                    self.note_target(same, scanned, range.end..statement_end(scanned, range.end));
                }
                _ => {}
            }
        }
    }
}
