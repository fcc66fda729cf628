//! Arms of a `match`: patterns, conditions on them, and what they do.

use super::condition::{Range, Scanned};

impl Scanned<'_> {
    /// The end of a pattern of a `match`, which alternatives or a condition may follow.
    pub(super) fn pattern_end(&self, range: Range) -> usize {
        let end = range.end;
        let mut outer = self.tokens_outside_brackets(range);
        outer
            .find(|&i| matches!(self.word(i), "|" | "if"))
            .unwrap_or(end)
    }

    /// Behind the pattern or condition at `range` of an arm of a `match`: the `=>`, and whether nothing else is
    /// between.
    pub(super) fn arrow(&self, range: &Range) -> Option<(usize, bool)> {
        if self.word(range.end) == "=>" {
            return Some((range.end, true));
        }
        if !matches!(self.word(range.end), "|" | "if") {
            return None;
        }
        let mut at = range.end;
        while at < self.tokens.len() {
            match self.word(at) {
                "=>" => {
                    return Some((
                        at,
                        self.tokens_outside_brackets(range.end..at)
                            .all(|i| self.word(i) != "if"),
                    ));
                }
                "(" | "[" => at = self.closing_of(at)?,
                ")" | "]" | "}" | ";" | "," | "{" => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// What an arm does whose `=>` is at a token: a block, or an expression up to a comma.
    pub(super) fn arm_body(&self, arrow: usize) -> Range {
        let first = arrow + 1;
        if self.word(first) == "{" {
            return first..self.closing_of(first).map_or(first, |close| close + 1);
        }
        let mut at = first;
        while at < self.tokens.len() && !matches!(self.word(at), "," | "}" | ")" | "]" | ";") {
            if matches!(self.word(at), "(" | "[" | "{") {
                at = self.closing_of(at).unwrap_or(self.tokens.len());
            }
            at += 1;
        }
        first..at.min(self.tokens.len())
    }

    /// The arms of the `match` whose scrutinee `range` is: the pattern of each, and where all of the arm is.
    pub(super) fn arms(&self, range: &Range) -> Vec<(String, Range)> {
        let keyword = range
            .start
            .checked_sub(1)
            .is_some_and(|i| self.word(i) == "match");
        let open = Some(range.end).filter(|&i| keyword && self.word(i) == "{");
        let close = open.and_then(|open| self.closing_of(open));
        let Some((open, close)) = open.zip(close) else {
            return Vec::new();
        };
        let mut arms = Vec::new();
        let mut at = open + 1;
        while at < close {
            let arrow = self
                .tokens_outside_brackets(at..close)
                .find(|&i| self.word(i) == "=>");
            let Some(arrow) = arrow else { break };
            let guard = self
                .tokens_outside_brackets(at..arrow)
                .find(|&i| self.word(i) == "if");
            let body = self.arm_body(arrow);
            if body.is_empty() || body.end > close {
                break;
            }
            let pattern = at..guard.unwrap_or(arrow);
            arms.push((self.text_of(pattern), at..body.end));
            at = body.end;
            at += usize::from(self.word(at) == ",");
        }
        arms
    }
}

#[cfg(test)]
mod tests {
    use super::super::brackets::Tokens;
    use super::*;

    /// The arms of a `match`: patterns, and all of each.
    #[test]
    fn arms_of_a_match() {
        let text =
            "match f(x) { A | B => g(1, 2), C(n) if n > 3 => { h() } D { m } => m, _ => return }";
        let scanned = Scanned {
            text,
            tokens: &Tokens::read(text),
            is_rust: true,
        };
        let range = scanned.condition(0).expect("a scrutinee");
        let arms = scanned.arms(&range).into_iter();
        let arms: Vec<(String, String)> = arms.map(|(p, of)| (p, scanned.text_of(of))).collect();
        let expected = [
            ("A | B", "A | B => g(1, 2)"),
            ("C(n)", "C(n) if n > 3 => { h() }"),
            ("D { m }", "D { m } => m"),
            ("_", "_ => return"),
        ];
        assert_eq!(
            arms,
            expected.map(|(p, of)| (p.to_string(), of.to_string()))
        );
        assert!(scanned.arms(&(0..1)).is_empty());
    }
}
