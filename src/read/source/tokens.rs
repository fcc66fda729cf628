//! Source text → tokens, as far as languages of C's family agree: enough to find where an expression ends.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A word: an identifier or a keyword.
    Word,
    /// A number, a string or a character.
    Literal,
    /// An operator or a bracket.
    Punctuation,
    /// A directive of the preprocessor, to its end.
    Directive,
}

/// A token: bytes `start..end` of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
}

/// Operators of several characters, longer ones first.
const OPERATORS: [&str; 29] = [
    "<<=", ">>=", "<=>", "...", "..=", "->*", "&&=", "||=", "&&", "||", "==", "!=", "<=", ">=",
    "->", "::", "=>", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", "..",
];

/// The tokens of `text`, without blanks and comments. Linear; whatever the text is, each token has a byte at least.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    read_tokens(text, true)
}

/// The tokens of `text`, which stands behind others on a line: a `#` that it begins with is no directive. Linear.
pub(super) fn tokens_of_line(text: &str) -> Vec<Token> {
    read_tokens(text, false)
}

fn read_tokens(text: &str, line_begins: bool) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        at: 0,
        line_begins,
    };
    std::iter::from_fn(|| lexer.next()).collect()
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// Whether nothing but blanks came before on this line.
    line_begins: bool,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Option<Token> {
        self.skip_blanks();
        let start = self.at;
        let first = self.remaining_text().chars().next()?;
        let kind = match first {
            '#' if self.line_begins && !self.is_attribute() => self.directive(),
            '"' => self.read_quoted('"'),
            '\'' if self.is_lifetime() => self.punctuation(first),
            '\'' => self.read_quoted('\''),
            c if c.is_ascii_digit() => self.number(),
            c if is_word(c) => self.word(),
            c => self.punctuation(c),
        };
        self.line_begins = false;
        Some(Token {
            kind,
            start,
            end: self.at,
        })
    }

    fn remaining_text(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.remaining_text();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").map_or(rest.len(), |n| n + 2);
            } else if rest.starts_with("\\\n") {
                self.at += 2;
            } else if let Some(c) = rest.chars().next().filter(|c| c.is_whitespace()) {
                self.line_begins |= c == '\n';
                self.at += c.len_utf8();
            } else {
                return;
            }
        }
    }

    /// Whether an attribute of Rust begins here, which code may follow: `#[inline] fn f() {`.
    fn is_attribute(&self) -> bool {
        self.remaining_text().starts_with("#[") || self.remaining_text().starts_with("#![")
    }

    /// To the end of the line, and of those that continue it.
    fn directive(&mut self) -> TokenKind {
        while let Some(n) = self.remaining_text().find('\n') {
            let line = self.remaining_text()[..n].trim_end_matches('\r');
            let continues = line.ends_with('\\');
            self.at += n + 1;
            if !continues {
                self.line_begins = true;
                self.at -= 1;
                return TokenKind::Directive;
            }
        }
        self.at = self.text.len();
        TokenKind::Directive
    }

    /// Up to a quote that no backslash precedes; at most to the end of the line, unless Rust's strings go on.
    fn read_quoted(&mut self, quote: char) -> TokenKind {
        let mut escaped = false;
        let mut end = self.text.len();
        for (i, c) in self.remaining_text().char_indices().skip(1) {
            if escaped {
                escaped = false;
            } else if c == quote {
                end = self.at + i + 1;
                break;
            } else if c == '\n' && quote == '\'' {
                end = self.at + i;
                break;
            } else {
                escaped = c == '\\';
            }
        }
        self.at = end;
        TokenKind::Literal
    }

    /// Rust's `'a`, which no quote ends.
    fn is_lifetime(&self) -> bool {
        let mut chars = self.remaining_text().chars().skip(1);
        let first = chars.next();
        first.is_some_and(|c| is_word(c) && !c.is_ascii_digit()) && {
            let behind = chars.find(|c| !is_word(*c));
            behind != Some('\'')
        }
    }

    fn number(&mut self) -> TokenKind {
        let mut before = ' ';
        let mut length = 0;
        for c in self.remaining_text().chars() {
            let sign = (c == '+' || c == '-') && "eEpP".contains(before) && !self.is_hexadecimal();
            let separator = c == '\'' && before.is_ascii_alphanumeric();
            let fraction = c == '.' && !self.remaining_text()[length..].starts_with("..");
            if !is_word(c) && !sign && !separator && !fraction {
                break;
            }
            length += c.len_utf8();
            before = c;
        }
        self.at += length;
        TokenKind::Literal
    }

    /// Whether `e` is a digit of the number here, and no exponent.
    fn is_hexadecimal(&self) -> bool {
        let rest = self.remaining_text();
        (rest.starts_with("0x") || rest.starts_with("0X")) && !rest.contains(['p', 'P'])
    }

    /// A word, or a literal that begins with one: `L"…"`, `R"(…)"`, `b'…'`.
    fn word(&mut self) -> TokenKind {
        let rest = self.remaining_text();
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        let raw = word.ends_with('R') || ["r", "br", "cr"].contains(&word);
        if raw && word.len() < 4 && behind.starts_with(['"', '#']) && self.raw(length) {
            return TokenKind::Literal;
        }
        let prefix = ["L", "u", "U", "u8", "b", "c"].contains(&word);
        self.at += length;
        match behind.chars().next() {
            Some(quote @ ('"' | '\'')) if prefix => self.read_quoted(quote),
            _ => TokenKind::Word,
        }
    }

    /// Goes to the end of a raw string whose prefix has so many bytes, if it is one.
    fn raw(&mut self, prefix: usize) -> bool {
        let behind = &self.remaining_text()[prefix..];
        let Some(quote) = behind
            .find('"')
            .filter(|&n| behind[..n].bytes().all(|b| b == b'#'))
        else {
            return false;
        };
        let body = &behind[quote + 1..];
        let end = if quote == 0 && self.remaining_text().as_bytes()[prefix - 1] == b'R' {
            let Some(open) = body.find('(').filter(|&n| n <= 16) else {
                return false;
            };
            format!("){}\"", &body[..open])
        } else {
            format!("\"{}", &behind[..quote])
        };
        let length = body.find(&end).map_or(body.len(), |n| n + end.len());
        self.at += prefix + quote + 1 + length;
        true
    }

    fn punctuation(&mut self, first: char) -> TokenKind {
        let rest = self.remaining_text();
        let long = OPERATORS.iter().find(|o| rest.starts_with(**o));
        self.at += long.map_or(first.len_utf8(), |o| o.len());
        TokenKind::Punctuation
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|t| &text[t.start..t.end]).collect()
    }

    #[test]
    fn tokens_of_c_and_its_relatives() {
        for (text, expected) in [
            ("a&&b||!c", "a && b || ! c"),
            (
                "s[0]!='\"'/* ) */&&x // )\n==y",
                "s [ 0 ] != '\"' && x == y",
            ),
            ("p->a.b<=1e-5f", "p -> a . b <= 1e-5f"),
            ("0x1e+2 1'000 1..n", "0x1e + 2 1'000 1 .. n"),
            (
                "L\"a\\\"b\" u8'c' R\"x()\")x\" f",
                "L\"a\\\"b\" u8'c' R\"x()\")x\" f",
            ),
            ("r#\"a\"b\"# 'a 'b' '\\'' x", "r#\"a\"b\"# ' a 'b' '\\'' x"),
            ("a\\\n b", "a b"),
        ] {
            assert_eq!(texts(text).join(" "), expected, "{text}");
        }
        let directives = tokens("#if (\\\n x\nif # y\n  #endif");
        let kinds: Vec<TokenKind> = directives.iter().map(|t| t.kind).collect();
        use TokenKind::*;
        assert_eq!(kinds, [Directive, Word, Punctuation, Word, Directive]);
    }

    proptest! {
        /// Any text has tokens, in order, that overlap nowhere and are whole characters.
        #[test]
        fn any_text(text in "[a-zR'\"#()\\\\/*\n 0-9é&|=<>.]{0,60}") {
            let mut end = 0;
            for t in tokens(&text) {
                prop_assert!(t.start >= end && t.end > t.start);
                prop_assert!(text.get(t.start..t.end).is_some());
                end = t.end;
            }
        }
    }
}
