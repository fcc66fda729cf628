//! How far conditions and statements reach.

use super::condition::{JOINS, Range, STOPS, Scanned, is_negation};
use super::tokens::TokenKind;

/// The whole condition that a range is an operand of.
pub(super) fn whole_condition(scanned: &Scanned, mut range: Range) -> Range {
    loop {
        let before = range.start.checked_sub(1).map_or("", |i| scanned.word(i));
        let joined = JOINS
            .iter()
            .rev()
            .find(|words| words.contains(&before) || words.contains(&scanned.word(range.end)));
        if let Some(words) = joined {
            range = extend(scanned, &range, words);
            continue;
        }
        if is_negation(before) {
            range.start -= 1;
            continue;
        }
        let outside = range.start.checked_sub(2).map_or("", |i| scanned.word(i));
        let grouped = before == "("
            && scanned.word(range.end) == ")"
            && (range.start > 1 && scanned.is_negation_at(range.start - 2)
                || matches!(outside, "(" | "&&" | "||" | "and" | "or"));
        if !grouped {
            return range;
        }
        range = range.start - 1..range.end + 1;
    }
}

/// All operands that `words` join with the one at `range`.
pub(super) fn extend(scanned: &Scanned, range: &Range, words: &[&str]) -> Range {
    let joins_less = |word: &str| JOINS[0].contains(&word) && !words.contains(&word);
    let stops = |word: &str| STOPS.contains(&word) || joins_less(word);
    let mut start = range.start;
    while start > 0 {
        let word = scanned.word(start - 1);
        let opened = matches!(word, ")" | "]" | "}").then(|| scanned.opening_of(start - 1));
        match opened {
            Some(Some(open)) if word != "}" => start = open,
            Some(_) => break,
            None if matches!(word, "(" | "[" | "{" | "if" | "while" | "for") => break,
            None if stops(word) || scanned.tokens[start - 1].kind == TokenKind::Directive => break,
            None => start -= 1,
        }
    }
    let mut end = range.end;
    while end < scanned.tokens.len() {
        let word = scanned.word(end);
        let closed = matches!(word, "(" | "[").then(|| scanned.closing_of(end));
        match closed {
            Some(Some(close)) => end = close + 1,
            Some(None) => break,
            None if matches!(word, ")" | "]") || stops(word) => break,
            None if scanned.tokens[end].kind == TokenKind::Directive => break,
            None => end += 1,
        }
    }
    start..end
}

/// All loops: where each is, and where in it its body is. O(tokens · depth).
pub(super) fn find_loops(scanned: &Scanned) -> Vec<(Range, Range)> {
    let closes_do = |at: usize| {
        let close = at.checked_sub(1).filter(|i| scanned.word(*i) == "}");
        let open = close.and_then(|close| scanned.opening_of(close));
        open.is_some_and(|open| open > 0 && scanned.word(open - 1) == "do")
    };
    let body = |at: usize| match scanned.word(at) {
        "do" | "loop" => Some(at + 1..statement_end(scanned, at + 1)),
        "while" if closes_do(at) => None,
        "for" | "while" if scanned.is_rust => {
            let open = (at..scanned.tokens.len()).find(|i| scanned.word(*i) == "{")?;
            Some(open..statement_end(scanned, open))
        }
        "for" | "while" => {
            let close = scanned
                .closing_of(at + 1)
                .filter(|_| scanned.word(at + 1) == "(")?;
            Some(close + 1..statement_end(scanned, close + 1))
        }
        _ => None,
    };
    let found = |at: usize| {
        let body = body(at).filter(|body| !body.is_empty())?;
        let is_do = scanned.word(at) == "do";
        let end = if is_do {
            statement_end(scanned, at)
        } else {
            body.end
        };
        Some((at..end, body))
    };
    (0..scanned.tokens.len()).filter_map(found).collect()
}

/// The token behind the statement that begins at `at`.
pub(super) fn statement_end(scanned: &Scanned, at: usize) -> usize {
    nested_end(scanned, at, 0)
}

/// Statements are nested so deep without braces at most; a text may be anything.
const DEEPEST: usize = 64;

fn nested_end(scanned: &Scanned, at: usize, depth: usize) -> usize {
    let mut at = at;
    if depth > DEEPEST {
        return plain_end(scanned, at);
    }
    // `if (a) if (b) …`: each keyword's statement is the end of the one around it.
    loop {
        match scanned.word(at) {
            "{" => {
                return scanned
                    .closing_of(at)
                    .map_or(scanned.tokens.len(), |c| c + 1);
            }
            "if" | "for" | "while" | "switch" => {
                let is_if = scanned.word(at) == "if";
                let open = if scanned.word(at + 1) == "constexpr" {
                    at + 2
                } else {
                    at + 1
                };
                let Some(close) = scanned
                    .closing_of(open)
                    .filter(|_| scanned.word(open) == "(")
                else {
                    return plain_end(scanned, at);
                };
                let end = nested_end(scanned, close + 1, depth + 1);
                if is_if && scanned.word(end) == "else" {
                    at = end + 1;
                    continue;
                }
                return end;
            }
            "do" => {
                let end = nested_end(scanned, at + 1, depth + 1);
                return plain_end(scanned, end);
            }
            _ => return plain_end(scanned, at),
        }
    }
}

/// The token behind the next semicolon outside of brackets, or at the bracket that ends the block before one.
fn plain_end(scanned: &Scanned, mut at: usize) -> usize {
    while at < scanned.tokens.len() {
        match scanned.word(at) {
            ";" => return at + 1,
            "}" | ")" => return at,
            "(" | "[" | "{" => match scanned.closing_of(at) {
                Some(close) => at = close + 1,
                None => return scanned.tokens.len(),
            },
            _ => at += 1,
        }
    }
    at
}
