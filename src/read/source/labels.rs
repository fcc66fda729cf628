//! Labels directly before code: characters of cases, and what a computed `goto` can reach.

use super::condition::{Range, Scanned};
use super::constants::Definitions;
use super::text::Text;
use super::tokens::TokenKind;

/// Labels of cases have at most so many tokens.
const LONGEST_LABEL: usize = 16;
/// Words that make no label; after those of them that jump, code is not reached from a label before.
const KEYWORDS: [&str; 10] = [
    "if", "while", "for", "switch", "else", "do", "return", "goto", "break", "continue",
];

impl Text {
    /// The label of value `value` among those of the cases at `line`, or directly before it, as the text writes it.
    pub(super) fn case_of_value(
        &self,
        definitions: &Definitions,
        line: u32,
        value: i128,
    ) -> Option<String> {
        let scanned = self.as_scanned();
        let line = self.tokens_of_line(line)?;
        let on_line = line.clone().filter(|&i| scanned.word(i) == "case");
        let mut cases = on_line.chain(scanned.cases_before(line.start));
        cases.find_map(|case| scanned.label_of_value(definitions, case, value))
    }

    /// The label of value `value` among the cases of the only `switch` on `line`, as the text writes it.
    pub(super) fn case_in_switch(
        &self,
        definitions: &Definitions,
        line: u32,
        value: i128,
    ) -> Option<String> {
        let scanned = self.as_scanned();
        let tokens = self.tokens_of_line(line)?;
        let mut switches = tokens.filter(|&i| scanned.word(i) == "switch");
        let (switch, more) = (switches.next()?, switches.next());
        let body = scanned.switch_body(switch).filter(|_| more.is_none())?;
        let mut at = body.start;
        while at < body.end {
            match scanned.word(at) {
                "switch" => at = scanned.switch_body(at)?.end,
                "case" => match scanned.label_of_value(definitions, at, value) {
                    None => at += 1,
                    label => return label,
                },
                _ => at += 1,
            }
        }
        None
    }

    /// The label of the case that begins at `line`, if there is one alone: `RED` of `case RED:`, on that line or before
    /// it, with nothing but `{` between. Characters have none: they are known by their values.
    pub fn case(&self, line: u32) -> Option<String> {
        let scanned = self.as_scanned();
        let line = self.tokens_of_line(line)?;
        let is_case = |i: usize| scanned.word(i) == "case";
        let case = if is_case(line.start) {
            line.start
        } else if line.clone().any(is_case) {
            return None;
        } else {
            scanned.case_before(line.start)?
        };
        let label = scanned.label_behind(case)?;
        let is_alone = !is_case(label.end + 1) && !scanned.is_behind_case(case);
        let text = scanned.text_of(label);
        (is_alone && !text.contains('\'')).then_some(text)
    }

    /// The label that a `goto` reaches the code of `line` by: `op_add`, or with macros `vmcase(OP_ADD)`. It is on that
    /// line or before it, with nothing between but statements that do not jump.
    pub fn label(&self, line: u32) -> Option<String> {
        let scanned = self.as_scanned();
        let first = self.tokens_of_line(line)?.start;
        let found = scanned.label_from(first);
        let found = found.or_else(|| scanned.label_before(first));
        found.map(|label| scanned.text_of(label))
    }

    /// The tokens that begin on a line, if there are any.
    fn tokens_of_line(&self, line: u32) -> Option<Range> {
        let length = self.line(line)?.len();
        let start = self.offset_of_line(line)?;
        let tokens = self.as_scanned().tokens;
        let first = tokens.partition_point(|t| t.start < start);
        let end = tokens.partition_point(|t| t.start < start + length);
        (first < end).then_some(first..end)
    }
}

impl Scanned<'_> {
    /// The label behind the `case` at a token, if it has a value.
    fn label_of_value(
        &self,
        definitions: &Definitions,
        case: usize,
        value: i128,
    ) -> Option<String> {
        let label = self.label_behind(case)?;
        let (first, end) = (label.start, label.end);
        let is_it = match (first..end).find(|&i| self.word(i) == "...") {
            // Of up to 64 values, clang makes a case of each.
            Some(dots) => {
                let least = definitions.value(self, first..dots)?;
                let greatest = definitions.value(self, dots + 1..end)?;
                (least..=greatest).contains(&value)
            }
            None => definitions.value(self, first..end) == Some(value),
        };
        is_it.then(|| self.text_of(label))
    }

    /// The label behind the `case` at a token, up to its colon.
    fn label_behind(&self, case: usize) -> Option<Range> {
        let first = case + 1;
        let end = (first..=first + LONGEST_LABEL).find(|&i| self.word(i) == ":")?;
        Some(first..end)
    }

    /// The `case` whose label the colon at a token ends.
    fn case_of_colon(&self, colon: usize) -> Option<usize> {
        let mut label = (colon.saturating_sub(1 + LONGEST_LABEL)..colon).rev();
        let begins = |i: &usize| matches!(self.word(*i), "case" | ":" | ";" | "{" | "}");
        label.find(begins).filter(|&i| self.word(i) == "case")
    }

    /// The `case` whose label ends before token `at`, with nothing but `{` between.
    fn case_before(&self, at: usize) -> Option<usize> {
        let mut last = at.checked_sub(1)?;
        while self.word(last) == "{" {
            last = last.checked_sub(1)?;
        }
        let colon = Some(last).filter(|&last| self.word(last) == ":")?;
        self.case_of_colon(colon)
    }

    /// Whether the label of another case, or `default`, leads to the `case` at a token.
    fn is_behind_case(&self, case: usize) -> bool {
        let colon = case.checked_sub(1).filter(|&i| self.word(i) == ":");
        colon.is_some_and(|colon| {
            let is_default = colon > 0 && self.word(colon - 1) == "default";
            is_default || self.case_of_colon(colon).is_some()
        })
    }

    /// The `case` of each label in turn that ends before token `at`, through `{` and `default:`, the last one first.
    fn cases_before(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let mut at = at;
        std::iter::from_fn(move || {
            loop {
                let last = at.checked_sub(1)?;
                match self.word(last) {
                    "{" => at = last,
                    ":" if last > 0 && self.word(last - 1) == "default" => at = last - 1,
                    ":" => {
                        at = self.case_of_colon(last)?;
                        return Some(at);
                    }
                    _ => return None,
                }
            }
        })
    }

    /// What the braces of the `switch` at a token enclose.
    fn switch_body(&self, switch: usize) -> Option<Range> {
        let open = self.closing_of(switch + 1)? + 1;
        (self.word(open) == "{").then_some(())?;
        Some(open + 1..self.closing_of(open)?)
    }

    /// The last label before token `first` from which its statement is reached without a jump.
    fn label_before(&self, first: usize) -> Option<Range> {
        let mut at = first;
        loop {
            at = at.checked_sub(1)?;
            // What looks like a label and is none that is understood may be one: those before it are of other code.
            if let Some(label) = self.label_up_to(at) {
                return self.is_label(label.start).then_some(label);
            }
            match self.word(at) {
                "}" => return None,
                word if KEYWORDS.contains(&word) => return None,
                ")" | "]" => at = self.opening_of(at)?,
                _ => {}
            }
        }
    }

    /// The label that begins at token `first`.
    fn label_from(&self, first: usize) -> Option<Range> {
        let end = match self.word(first + 1) {
            "(" => self.closing_of(first + 1)? + 1,
            _ => first + 1,
        };
        let ends = match self.word(end) {
            ":" => true,
            "{" => end > first + 1,
            _ => false,
        };
        (ends && self.is_label(first)).then_some(first..end)
    }

    /// What may be the label whose colon is token `last`, or, of a macro with arguments that a statement follows, whose
    /// closing bracket it is.
    fn label_up_to(&self, last: usize) -> Option<Range> {
        let next = self.tokens.get(last + 1)?;
        let is_followed = next.kind == TokenKind::Word || self.word(last + 1) == "{";
        let end = match self.word(last) {
            ":" => last,
            ")" if is_followed => last + 1,
            _ => return None,
        };
        let first = match end.checked_sub(1)? {
            close if self.word(close) == ")" => self.opening_of(close)?.checked_sub(1)?,
            word => word,
        };
        (self.tokens[first].kind == TokenKind::Word).then_some(first..end)
    }

    /// Whether a statement begins with the word at token `first`, which is none of the language's that a colon or
    /// brackets follow.
    fn is_label(&self, first: usize) -> bool {
        let begins = first.checked_sub(1).is_none_or(|before| {
            let is_directive = self.tokens[before].kind == TokenKind::Directive;
            is_directive || matches!(self.word(before), ";" | "{" | "}" | ":")
        });
        let word = self.word(first);
        let is_word = self
            .tokens
            .get(first)
            .is_some_and(|t| t.kind == TokenKind::Word);
        begins && is_word && word != "default" && !KEYWORDS.contains(&word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_of_a_case_is_quoted_by_its_value() {
        let text = "switch (c) {\n case 'a': case '\\n':\n case ':': {\n  f(); }\n case A + 1:\n case 'b': default:\n  \
                    g();\n}";
        let text = Text::new(text.into());
        let definitions = Definitions::default();
        let case = |line, value: u8| text.case_of_value(&definitions, line, i128::from(value));
        assert_eq!(case(2, b'a').as_deref(), Some("'a'"));
        for value in [(b'a', "'a'"), (b'\n', r"'\n'"), (b':', "':'")] {
            assert_eq!(case(4, value.0).as_deref(), Some(value.1));
        }
        assert_eq!(case(7, b'b').as_deref(), Some("'b'"));
        assert_eq!(
            (case(7, b'a'), case(4, b'z'), case(99, b'a')),
            (None, None, None)
        );
        let text =
            "switch (c) { case 'a': switch (d) { case 'b': f(); } case 'c': g(); }\nswitch (e) {}";
        let text = Text::new(text.replace("switch (d)", "\nswitch (d)"));
        let within = |line, value: u8| text.case_in_switch(&definitions, line, i128::from(value));
        assert_eq!(within(1, b'c').as_deref(), Some("'c'"));
        assert_eq!(within(2, b'b').as_deref(), Some("'b'"));
        assert_eq!(
            (within(1, b'b'), within(3, b'b'), within(4, b'a')),
            (None, None, None)
        );
    }

    #[test]
    fn labels_that_a_goto_reaches_are_found() {
        let text = "
            add: acc += 3;
              acc *= f(1);
            goto *table[*++code];
            sub:
            /* back */
              { acc--; }
            vmcase(OP_MOVE) {
              int a = RA(i);
              f(a);
            TARGET(LOAD):
              g();
            if (a) {
              h();
            x = a ? b : c;
            #line 3
            end: return;
            default:
              k();
        ";
        let text = Text::new(text.into());
        let labels: Vec<_> = (1..=19).map(|line| text.label(line)).collect();
        let named = labels
            .iter()
            .zip(1..)
            .filter_map(|(l, n)| Some((n, l.as_deref()?)));
        let expected = [
            (2, "add"),
            (3, "add"),
            (4, "add"),
            (5, "sub"),
            (7, "sub"),
            (8, "vmcase(OP_MOVE)"),
            (9, "vmcase(OP_MOVE)"),
            (10, "vmcase(OP_MOVE)"),
            (11, "TARGET(LOAD)"),
            (12, "TARGET(LOAD)"),
            (13, "TARGET(LOAD)"),
            (17, "end"),
        ];
        assert_eq!(named.collect::<Vec<_>>(), expected);
    }

    /// The second label stands behind a macro without a semicolon, as no label of C does.
    #[test]
    fn code_behind_what_may_be_a_label_has_none_of_before() {
        let text = "OP(DEC, n--)\nL_JNZ:\n  if (n > 0) f();\n  g();";
        let text = Text::new(text.into());
        let labels: Vec<_> = (1..=4).map(|line| text.label(line)).collect();
        assert_eq!(labels[2..], [None, None]);
    }
}
