//! The text of a condition, cut out of a source by the position that debug information gives its branch.
//!
//! Clang puts a branch at an operator (`&&`, `||`: the branch is on what stands before it), at the keyword of a
//! statement (`while`, `for`, `switch`), or where the whole condition begins (`if`, `?:`), though the branch may be on
//! its last part only. Clang 22 puts that last branch of an `if` at the operator that binds least instead: at the
//! comparison, at the name of a called member, or at `&&` and `||`, where the branch on what stands before them is, too
//! ([`Scanned::find_meanings`]). Rust's compiler puts each branch where its own operand begins. Brackets and operators
//! tell the parts apart; nothing is known of names, so that the text is wanted to be balanced, and there is none where
//! it would not be.

use super::brackets::Tokens;
use super::tokens::TokenKind;

/// A text and its tokens.
pub(super) struct Scanned<'a> {
    pub text: &'a str,
    pub tokens: &'a Tokens,
    /// Whether each branch is where its operand begins.
    pub is_rust: bool,
}

/// What a branch may decide, by its position alone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Meanings {
    /// What clang up to 21 and rustc have there.
    pub first: Range,
    /// What clang 22 has there as well, and where older ones have a branch on that: a byte.
    pub last: Option<(Range, usize)>,
}

/// Operators after which another condition begins, those that bind least first.
pub(super) const JOINS: [[&str; 2]; 2] = [["||", "or"], ["&&", "and"]];
/// What an operand does not reach over.
pub(super) const STOPS: [&str; 26] = [
    ";",
    ",",
    "?",
    ":",
    "{",
    "}",
    "=",
    "+=",
    "-=",
    "*=",
    "/=",
    "%=",
    "&=",
    "|=",
    "^=",
    "<<=",
    ">>=",
    "&&=",
    "||=",
    "=>",
    "return",
    "co_return",
    "throw",
    "else",
    "do",
    "case",
];

/// Tokens `first..end`.
pub(super) type Range = std::ops::Range<usize>;

/// Whether a token negates what follows it.
pub(super) fn is_negation(word: &str) -> bool {
    matches!(word, "!" | "not")
}

impl<'a> Scanned<'a> {
    /// The tokens of the condition that is decided by a branch at byte `offset`, with the negations in front of it;
    /// `None` where brackets do not tell.
    pub(super) fn condition(&self, offset: usize) -> Option<Range> {
        self.find_meanings(offset).map(|meanings| meanings.first)
    }

    /// All that a branch at byte `offset` may decide; `None` where brackets do not tell. O(the statement).
    pub(super) fn find_meanings(&self, offset: usize) -> Option<Meanings> {
        let at = self.token(offset)?;
        let negated = |range: Range| (!range.is_empty()).then(|| self.include_negations(range));
        let whole = self.find_if_around(at);
        if let Some(whole) = &whole
            && self.is_operator_of(at, whole)
        {
            let first = negated(self.last_part(whole.clone()))?;
            return Some(Meanings { first, last: None });
        }
        let first = negated(self.find_decided(at)?)?;
        let last = whole.filter(|whole| self.find_last_join(whole.clone()) == Some(at));
        let last = last.and_then(|whole| {
            let start = self.tokens[whole.start].start;
            Some((negated(self.last_part(whole))?, start))
        });
        Some(Meanings { first, last })
    }

    /// The condition in brackets behind an `if` that token `at` is in, but in no brackets inside it and not its first.
    fn find_if_around(&self, at: usize) -> Option<Range> {
        if self.is_rust {
            return None;
        }
        let open = self
            .bracket_around(at)
            .filter(|&open| self.word(open) == "(")?;
        let keyword = open.checked_sub(1)?;
        let keyword = match self.word(keyword) {
            "constexpr" => keyword.checked_sub(1)?,
            _ => keyword,
        };
        let is_if = self.word(keyword) == "if";
        let whole = is_if.then(|| self.find_controlled(keyword))??;
        (whole.start < at && at < whole.end).then_some(whole)
    }

    /// Whether token `at` is where clang 22 puts a branch on all of a condition without joins: at the operator, or at
    /// the name of the member that is called.
    fn is_operator_of(&self, at: usize, whole: &Range) -> bool {
        let is_member = matches!(self.word(at - 1), "." | "->" | "::");
        let is_operator = self.tokens[at].kind == TokenKind::Punctuation && self.word(at) != "?";
        (is_member || is_operator) && self.find_last_join(whole.clone()).is_none()
    }

    /// All operands that the join at byte `offset` joins, and how many they are; `None` if there is no join.
    pub(super) fn find_joined_at(&self, offset: usize) -> Option<(Range, usize)> {
        let at = self.token(offset).filter(|&at| self.is_join(at))?;
        let words = JOINS.iter().find(|words| words.contains(&self.word(at)))?;
        let whole = super::extent::extend(self, &(at..at), words);
        let joins = |i: &usize| words.contains(&self.word(*i));
        let operands = self
            .tokens_outside_brackets(whole.clone())
            .filter(joins)
            .count()
            + 1;
        Some((whole, operands))
    }

    /// The whole condition that tokens `range` are an operand of, through brackets that only group, and how many
    /// operands it has.
    pub(super) fn find_whole_condition(&self, range: Range) -> (Range, usize) {
        let whole = super::extent::whole_condition(self, range);
        let inside = whole.clone().filter(|&i| self.is_join(i)).count();
        (whole, inside + 1)
    }

    /// What stands inside of brackets that are around all of a range.
    pub(super) fn find_inside(&self, range: &Range) -> Option<Range> {
        let is_bracketed = range.len() > 2
            && self.word(range.start) == "("
            && self.closing_of(range.start) == Some(range.end - 1);
        is_bracketed.then(|| range.start + 1..range.end - 1)
    }

    /// The token that begins at byte `offset`.
    pub(super) fn token(&self, offset: usize) -> Option<usize> {
        self.tokens.binary_search_by_key(&offset, |t| t.start).ok()
    }

    /// Whether token `at` negates what follows it; the `!` of `assert!(x)` names a macro of Rust.
    pub(super) fn is_negation_at(&self, at: usize) -> bool {
        let is_of_name = || {
            let name = at.checked_sub(1).map(|before| &self.tokens[before]);
            name.is_some_and(|name| {
                name.kind == TokenKind::Word && name.end == self.tokens[at].start
            })
        };
        is_negation(self.word(at)) && !(self.word(at) == "!" && is_of_name())
    }

    /// Adds the negations in front of a range, and of the brackets around it where there are negations in front of
    /// these.
    fn include_negations(&self, mut range: Range) -> Range {
        loop {
            let before = range.start.checked_sub(1).map_or("", |i| self.word(i));
            if is_negation(before) {
                range.start -= 1;
                continue;
            }
            let bracket = before == "(" && self.word(range.end) == ")";
            let negated = range.start > 1 && self.is_negation_at(range.start - 2);
            if !(bracket && negated) {
                return range;
            }
            range = range.start - 2..range.end + 1;
        }
    }

    /// What a branch at token `at` is on.
    fn find_decided(&self, at: usize) -> Option<Range> {
        match self.word(at) {
            "if" | "while" | "for" | "switch" | "match" | "else" => {
                let whole = self.find_controlled(at)?;
                Some(self.last_part(whole))
            }
            "}" if self.word(at + 1) == "while" => self.find_decided(at + 1),
            "do" => None,
            // A loop over a range has its branch at the colon.
            ":" => {
                let open = self.bracket_around(at)?;
                let is_loop = open > 0 && self.word(open - 1) == "for";
                is_loop.then(|| open + 1..self.closing_of(open).unwrap_or(at))
            }
            "?" => Some(self.last_part(self.operand_before(at))),
            word if JOINS.as_flattened().contains(&word) => {
                Some(self.last_part(self.operand_before(at)))
            }
            "}" | ")" | "]" | ";" | "{" | "" => None,
            "++" | "--" if self.is_after_operand(at) => self.find_loop_condition(at),
            word if word.ends_with('=') && STOPS.contains(&word) => self.find_loop_condition(at),
            // In what a macro is given, clang 22 has a branch at its comparison.
            "==" | "!=" | "<" | "<=" | ">" | ">=" if self.is_after_operand(at) => {
                let before = self.operand_before(at);
                let behind = self.condition_from(at)?;
                Some(before.start..behind.end)
            }
            _ => {
                let found = self.condition_from(at)?;
                let start = self.find_declaration(at).unwrap_or(found.start);
                Some(start..found.end)
            }
        }
    }

    /// Where the declaration begins that is the condition of a `while`, whose name token `at` is.
    fn find_declaration(&self, at: usize) -> Option<usize> {
        let open = self.bracket_around(at).filter(|_| !self.is_rust)?;
        let is_while = open > 0 && self.word(open - 1) == "while";
        let is_type = |i: usize| {
            let word = self.word(i);
            self.tokens[i].kind == TokenKind::Word && !is_negation(word)
                || matches!(word, "*" | "&" | "::")
        };
        let is_declared = is_while && self.word(at + 1) == "=" && at > open + 1;
        (is_declared && (open + 1..at).all(is_type)).then_some(open + 1)
    }

    /// Whether token `at` joins what stands before it with something: Rust's `&&x` and `|| x` do not.
    pub(super) fn is_binary_join(&self, at: usize) -> bool {
        self.is_join(at) && self.is_after_operand(at)
    }

    /// The `for` of a loop over the range that begins at token `at`: `for (a, b) in at`.
    fn find_for_before(&self, at: usize) -> Option<usize> {
        at.checked_sub(1).filter(|&i| self.word(i) == "in")?;
        let is_pattern = |i: &usize| !matches!(self.word(*i), ";" | "{" | "}");
        let mut before = (0..at - 1).rev().take_while(is_pattern);
        before.find(|&i| self.word(i) == "for")
    }

    /// Whether what stands before token `at` is an operand of it.
    fn is_after_operand(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|i| &self.tokens[i]);
        before.is_some_and(|t| {
            t.kind != TokenKind::Punctuation
                || matches!(&self.text[t.start..t.end], ")" | "]" | "?")
        })
    }

    /// The condition of the `for` whose third clause token `at` is in: an optimiser's branch that ends an iteration.
    fn find_loop_condition(&self, at: usize) -> Option<Range> {
        let open = self.bracket_around(at)?;
        let keyword = open.checked_sub(1).filter(|&i| self.word(i) == "for")?;
        let condition = self.find_controlled(keyword)?;
        (!condition.is_empty() && condition.end < at).then(|| self.last_part(condition))
    }

    /// The word or operator at a token; nothing behind the last.
    pub(super) fn word(&self, at: usize) -> &'a str {
        self.tokens
            .get(at)
            .map_or("", |t| &self.text[t.start..t.end])
    }

    /// What a statement's keyword is followed by, in brackets or (Rust, Go, Swift) before its block.
    pub(super) fn find_controlled(&self, keyword: usize) -> Option<Range> {
        let mut at = keyword + 1;
        while matches!(self.word(at), "if" | "constexpr" | "!") {
            at += 1;
        }
        let bracketed = self.word(at) == "(" && {
            let close = self.closing_of(at)?;
            // Rust: `if (a) && b {`.
            !self.is_join(close + 1) && !matches!(self.word(close + 1), "==" | "!=" | "<" | ">")
        };
        if !bracketed {
            let end =
                (at..self.tokens.len()).find(|&i| self.word(i) == "{" || self.word(i) == ";")?;
            return Some(at..end);
        }
        let inside = at + 1..self.closing_of(at)?;
        let semicolons: Vec<usize> = self
            .tokens_outside_brackets(inside.clone())
            .filter(|&i| self.word(i) == ";")
            .collect();
        Some(match (self.word(keyword), &semicolons[..]) {
            ("for", [first, second, ..]) => first + 1..*second,
            // `if (int n = f(); n > 0)`.
            (_, [.., last]) => last + 1..inside.end,
            _ => inside,
        })
    }

    /// The operand that ends before the operator `at`.
    pub(super) fn operand_before(&self, at: usize) -> Range {
        let mut first = at;
        while first > 0 {
            let word = self.word(first - 1);
            let directive = self.tokens[first - 1].kind == TokenKind::Directive;
            if matches!(word, ")" | "]") {
                match self.opening_of(first - 1) {
                    Some(open) => first = open,
                    None => break,
                }
            } else if matches!(word, "(" | "[")
                || STOPS.contains(&word)
                || directive
                || self.is_join(first - 1)
            {
                break;
            } else {
                first -= 1;
            }
        }
        first..at
    }

    /// The condition that begins at token `at`.
    fn condition_from(&self, at: usize) -> Option<Range> {
        // `if (int n = f(); n > 0)`: compilers point at the declaration.
        let keyword = at.checked_sub(2).filter(|&i| self.word(i) == "if");
        let inside = keyword.and_then(|k| self.find_controlled(k));
        if let Some(inside) = inside.filter(|range| range.start > at) {
            return Some(self.last_part(inside));
        }
        let mut end = at;
        let mut question = None;
        // A join behind `if` is one of a guard, which is no part of the pattern before it.
        let mut is_guarded = false;
        while end < self.tokens.len() {
            match self.word(end) {
                _ if self.is_rust && !is_guarded && end > at && self.is_binary_join(end) => break,
                "if" => is_guarded = true,
                "(" | "[" => end = self.closing_of(end)?,
                ")" | "]" | "}" | ";" | "," | "{" | "=>" | "else" => break,
                "?" => {
                    question.get_or_insert(end);
                }
                _ if self.tokens[end].kind == TokenKind::Directive => return None,
                _ => {}
            }
            end += 1;
        }
        let before = at.checked_sub(1).map_or("", |i| self.word(i));
        if self.word(end) == "=>" && before != "if" && !JOINS.as_flattened().contains(&before) {
            return Some(at..self.pattern_end(at..end));
        }
        if let Some(keyword) = self.find_for_before(at) {
            return Some(keyword + 1..end);
        }
        // A statement by itself: a macro, whose branch is somewhere inside.
        if matches!(before, ";" | "{" | "}" | ")" | "else" | "do" | ":" | "") {
            return Some(at..self.macro_end(at).unwrap_or(end));
        }
        match question {
            Some(question) if before != "(" || self.is_argument(at) => {
                Some(self.last_part(at..question))
            }
            Some(_) => Some(at..end),
            None => Some(self.last_part(at..end)),
        }
    }

    /// Whether the first argument of a call begins at token `at`, rather than the condition of a statement.
    fn is_argument(&self, at: usize) -> bool {
        let name = at.checked_sub(2).map(|i| &self.tokens[i]);
        name.is_some_and(|t| {
            let word = &self.text[t.start..t.end];
            let is_statement = matches!(word, "if" | "while" | "for" | "switch" | "constexpr");
            t.kind == TokenKind::Word
                && !is_statement
                && !STOPS.contains(&word)
                && !is_negation(word)
        })
    }

    /// The end of a macro's arguments at `at`, if no semicolon but another statement follows them.
    fn macro_end(&self, at: usize) -> Option<usize> {
        let close = (self.word(at + 1) == "(").then(|| self.closing_of(at + 1))??;
        let next = self.tokens.get(close + 1)?;
        (next.kind == TokenKind::Word || self.word(close + 1) == "}").then_some(close + 1)
    }

    /// The part of a condition that is looked at last.
    pub(super) fn last_part(&self, mut range: Range) -> Range {
        loop {
            let inner = self.without_brackets(range.clone());
            match self.find_last_join(inner.clone()) {
                Some(at) if at + 1 < inner.end => range = at + 1..inner.end,
                _ if inner == range => return range,
                _ => range = inner,
            }
        }
    }

    /// The last of the joins that bind least, outside of brackets.
    pub(super) fn find_last_join(&self, range: Range) -> Option<usize> {
        JOINS.iter().find_map(|words| {
            let outer = self.tokens_outside_brackets(range.clone()).filter(|&i| {
                words.contains(&self.word(i)) && (!self.is_rust || self.is_binary_join(i))
            });
            outer.last()
        })
    }

    /// What brackets around all of it enclose; `!` before them goes too, since it is told where control goes.
    fn without_brackets(&self, range: Range) -> Range {
        let mut first = range.start;
        while first < range.end && matches!(self.word(first), "!" | "not") {
            first += 1;
        }
        let whole =
            self.word(first) == "(" && self.closing_of(first) == Some(range.end.wrapping_sub(1));
        if whole && first + 2 < range.end {
            first + 1..range.end - 1
        } else {
            range
        }
    }

    pub(super) fn is_join(&self, at: usize) -> bool {
        JOINS.as_flattened().contains(&self.word(at))
    }

    /// The text of tokens in one line, blanks and comments between them as one blank each.
    pub(super) fn text_of(&self, range: Range) -> String {
        let mut out = String::new();
        for i in range.clone() {
            let token = self.tokens[i];
            if i > range.start && self.tokens[i - 1].end < token.start {
                out.push(' ');
            }
            out.push_str(&self.text[token.start..token.end]);
        }
        out
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What `find` finds in a text at the byte of `^`, which is not part of it.
    pub(in super::super) fn find_at_mark<T>(
        marked: &str,
        is_rust: bool,
        find: impl FnOnce(&Scanned, usize) -> T,
    ) -> T {
        let offset = marked.find('^').expect("a mark");
        let text = marked.replacen('^', "", 1);
        let scanned = Scanned {
            text: &text,
            tokens: &Tokens::read(&text),
            is_rust,
        };
        find(&scanned, offset)
    }

    /// The conditions that a branch at `^` may be on.
    fn all_at(marked: &str, is_rust: bool) -> Option<(String, Option<String>)> {
        find_at_mark(marked, is_rust, |scanned, offset| {
            let meanings = scanned.find_meanings(offset)?;
            let last = meanings.last.map(|(range, _)| scanned.text_of(range));
            Some((scanned.text_of(meanings.first), last))
        })
    }

    /// The first of them.
    fn find_first(marked: &str) -> Option<String> {
        all_at(marked, false).map(|(first, _)| first)
    }

    /// Where clang 19 puts the branch, and what is decided there.
    #[test]
    fn conditions_of_c_are_found() {
        for (marked, condition) in [
            ("if (n > 3 ^&& s[0] != ')' || p->f) r++;", "n > 3"),
            ("if (n > 3 && s[0] != ')' ^|| p->f) r++;", "s[0] != ')'"),
            ("if (^n > 3 && s[0] != ')' || p->f) r++;", "p->f"),
            ("^for (int i = 0; i < n; i++) f(i);", "i < n"),
            ("^while (--n) r ^= n;", "--n"),
            ("do { r++; } while (r < 100 ^&& g(r));", "r < 100"),
            ("do { r++; ^} while (r < 100 && g(r));", "g(r)"),
            ("^switch (s[1] + (2)) { case 'a':", "s[1] + (2)"),
            (
                "if (!^strcmp(s,\n   \"x) {\")) g(9);",
                "!strcmp(s, \"x) {\")",
            ),
            ("if ((n = g(5)) < 0 ^|| !p->next) x();", "(n = g(5)) < 0"),
            ("if (^(n = g(5)) < 0 || !p->next) x();", "!p->next"),
            ("return ^g(8) ? 4 : 5;", "g(8)"),
            ("return r > 0 ^&& n;", "r > 0"),
            ("r = ^MAX(g(3), r);", "MAX(g(3), r)"),
            ("x; ^CHECK(r > 7 && 1);", "CHECK(r > 7 && 1)"),
            ("x; ^STEPS(r) return 1;", "STEPS(r)"),
            ("if (^(a || b) /* ( */ && (c || // )\n d)) x();", "d"),
            ("if ((a || b) ^&& (c || d)) x();", "b"),
            ("if ((a || b) && (c ^|| d)) x();", "c"),
            ("if (!(a ^&& b)) x();", "a"),
            ("if (^!(a && b)) x();", "b"),
            ("f(a ^&& b, c);", "a"),
            ("f(^a > 3 ? b : c, d);", "a > 3"),
            ("if (^a ? b : c) x();", "a ? b : c"),
            ("x = (^a ? b : c);", "a ? b : c"),
            ("x = y ? a ^&& b : c;", "a"),
            ("#if X\nif (^a\n)", "a"),
            ("for (int i = 0; i < n; i^++) f(i);", "i < n"),
            ("for (int i = 0; i < n; i ^+= 2) f(i);", "i < n"),
        ] {
            assert_eq!(find_first(marked).as_deref(), Some(condition), "{marked}");
        }
    }

    #[test]
    fn conditions_of_cpp_and_rust_are_found() {
        for (marked, condition) in [
            ("for (auto &x ^: v) {", "auto &x : v"),
            ("if (^int z = w(4); z != 3) r();", "z != 3"),
            ("if (^auto f = [&](int q) { return q; }; f(2)) r();", "f(2)"),
            ("^while (int k = w(3)) {", "int k = w(3)"),
            ("while (const int ^k = w(3)) {", "const int k = w(3)"),
            ("if (s > 10 ^and !b) break;", "s > 10"),
            ("if (^s > 10 and not (b)) break;", "not (b)"),
            ("if ^a > b { x } else { y }", "a > b"),
            ("^while i < n && ok(i) { x }", "ok(i)"),
            ("^match x.kind() { A => 1 }", "x.kind()"),
            ("let f = |q| q == 1 ^&& z;", "|q| q == 1"),
            ("if let ^Some(x) = f(y) { x }", "Some(x) = f(y)"),
            ("let ^Some(x) = f(y) else { return };", "Some(x) = f(y)"),
            ("for (i, x) in ^v.iter() { x }", "(i, x) in v.iter()"),
            ("match s { ^\"a\" => 1, _ => 2 }", "\"a\""),
            ("match s { ^\"a\" | \"b\" => 1, _ => 2 }", "\"a\""),
            ("match s { ^Some(x) if x > 3 => 1, _ => 2 }", "Some(x)"),
            ("match s { Some(x) if ^x > 3 => 1, _ => 2 }", "x > 3"),
        ] {
            assert_eq!(find_first(marked).as_deref(), Some(condition), "{marked}");
        }
    }

    /// Where clang 22 puts the branches of an `if`, and what is decided there: at an operator that binds least, what
    /// stands before it or the last operand.
    #[test]
    fn conditions_of_clang_22_are_found() {
        for (marked, first, last) in [
            ("if (n ^== 3) x();", "n == 3", None),
            ("if ((a = g(b)) ^> 3) x();", "(a = g(b)) > 3", None),
            ("if ((int)a ^!= 3) x();", "(int)a != 3", None),
            ("if (a ^& 4) x();", "a & 4", None),
            ("if (a + b ^> c - 2) x();", "a + b > c - 2", None),
            ("if (n ^= g(b)) x();", "n = g(b)", None),
            ("if (n^++) x();", "n++", None),
            ("if (n^, b > 2) x();", "n, b > 2", None),
            ("if (p->^has(3)) x();", "p->has(3)", None),
            ("if (p->has() ^== c) x();", "p->has() == c", None),
            ("if constexpr (n ^< 3) x();", "n < 3", None),
            ("else if (int n = f(); n ^> 3) x();", "n > 3", None),
            ("if (a > 3 ^|| b > 3) x();", "a > 3", Some("b > 3")),
            ("if (a\n  ^&& !b) x();", "a", Some("!b")),
            ("if (a && b ^|| c) x();", "b", Some("c")),
            ("if (a ^|| b && c) x();", "a", Some("c")),
            ("if (a || b ^&& c) x();", "b", None),
            ("if (a ^&& b || c) x();", "a", None),
            ("if (a ^|| b || c) x();", "a", None),
            ("if (a || b ^|| c) x();", "b", Some("c")),
            ("if ((a || b) ^&& c) x();", "b", Some("c")),
            ("if ((a ^|| b) && c) x();", "a", None),
            ("if (c ^&& (a || b)) x();", "c", Some("b")),
            ("if (c && (a ^|| b)) x();", "a", None),
            ("if ((a ^|| b)) x();", "a", None),
            ("if (!(a ^|| b)) x();", "a", None),
            ("if (g(a ^|| b)) x();", "a", None),
            ("while (a ^|| b) x();", "a", None),
            ("do x(); while (a ^|| b);", "a", None),
            ("for (; a ^|| b;) x();", "a", None),
            ("r = a ^|| b ? c : d;", "a", None),
            ("if (c ^and not q.f) x();", "c", Some("not q.f")),
            ("assert(n ^>= 0);", "n >= 0", None),
            ("assert(p->n[2] ^!= q(1, 2));", "p->n[2] != q(1, 2)", None),
        ] {
            let expected = Some((first.to_string(), last.map(str::to_string)));
            assert_eq!(all_at(marked, false), expected, "{marked}");
        }
    }

    /// Where rustc 1.95 puts the branches, and what is decided there.
    #[test]
    fn operands_of_rust_are_found() {
        for (marked, condition) in [
            ("if ^a > 3 && b > 3 { x }", "a > 3"),
            ("if a > 3 && ^b > 3 { x }", "b > 3"),
            ("if a && ^b && c { x }", "b"),
            ("if !(^a > 3 && b > 3) || c { x }", "a > 3"),
            ("if !(a > 3 && ^b > 3) || c { x }", "b > 3"),
            ("if !(a > 3 && b > 3) || ^c { x }", "c"),
            ("if a > 3 && (^b > 3 || c) && s.b { x }", "b > 3"),
            ("if (^a > 3 || b > 3) && c { x }", "a > 3"),
            ("if g(a) && !^g(b) { x }", "!g(b)"),
            ("if !^c && !s.b { x }", "!c"),
            ("while ^a > 3 && b > 3 { x }", "a > 3"),
            ("while a > 3\n    && ^b > 3 { x }", "b > 3"),
            ("let z = ^a > 3 && b > 3;", "a > 3"),
            ("fn f() -> bool { ^a > 3 || b > 3 }", "a > 3"),
            ("if let ^Some(x) = d && x > 3 && c { x }", "Some(x) = d"),
            ("if let Some(x) = d && ^x > 3 && c { x }", "x > 3"),
            ("if a > 3 && let ^Some(x) = d { x }", "Some(x) = d"),
            ("match a { 1 if ^b > 3 && c => 2, _ => 3 }", "b > 3"),
            ("match a { 1 if b > 3 && ^c => 2, _ => 3 }", "c"),
            ("match a { ^Some(1) if b > 3 && c => 2, _ => 3 }", "Some(1)"),
            (
                "if ^v.iter().any(|x| *x > 3 && b) || c { x }",
                "v.iter().any(|x| *x > 3 && b)",
            ),
            ("if v.any(|x| ^x > 3 && b) || c { x }", "x > 3"),
            ("if ^a == \"b\" || c { x }", "a == \"b\""),
            ("if ^a == &&b || c { x }", "a == &&b"),
            ("if (^a > 3) { x }", "a > 3"),
            ("assert!(^a > 3);", "a > 3"),
            ("debug_assert!(!^a);", "!a"),
            ("if !(^a > 3) { x }", "!(a > 3)"),
            ("if check!(^a > 3) { x }", "a > 3"),
        ] {
            let expected = Some((condition.to_string(), None));
            assert_eq!(all_at(marked, true), expected, "{marked}");
        }
    }

    #[test]
    fn text_without_condition_has_none() {
        for marked in [
            "if (^",
            "a^b",
            "^do { x(); } while (y);",
            "} ^; x",
            "^)",
            "if (^a + (b; c",
        ] {
            assert_eq!(find_first(marked), None, "{marked}");
        }
    }
}
