//! Macros of C: what a text and the headers beside it define, and what their calls stand for.
//!
//! A compiler gives everything that a macro stands for the place of its call, so that a position alone does not say
//! which condition of the macro a branch decides. What is expanded here keeps, for each token, the places at which
//! compilers have it.

use super::brackets::Tokens;
use super::condition::{Range, Scanned};
use super::tokens::{Token, TokenKind, tokens_of_line};
use std::collections::HashMap;
use std::sync::Arc;

/// So many tokens at most stand for those of one function.
const MOST_TOKENS: usize = 1 << 16;
/// Calls in arguments of calls are expanded so deep.
const DEEPEST: usize = 24;
/// Of macros with several definitions, so many combinations are tried.
const MOST_COMBINATIONS: usize = 16;
/// A call is quoted whole up to so many bytes, and else without its arguments.
const LONGEST_CALL: usize = 40;

/// The definitions of macros by name. One with several (`#ifdef`) may be any of them.
#[derive(Default)]
pub(super) struct Macros(HashMap<Arc<str>, Vec<Arc<Definition>>>);

/// What a macro stands for.
#[derive(PartialEq, Eq)]
struct Definition {
    /// The names of its parameters, if it has brackets.
    parameters: Option<Vec<String>>,
    /// Whether the last parameter takes all arguments that are left.
    is_variadic: bool,
    body: Vec<Piece>,
}

/// A token of a definition.
#[derive(PartialEq, Eq)]
struct Piece {
    text: Arc<str>,
    kind: TokenKind,
    /// Whether a blank is before it.
    is_spaced: bool,
}

/// A call of a macro.
pub(super) struct Call {
    /// The call, as it is quoted.
    pub text: String,
}

/// A token after all macros are expanded.
#[derive(Clone)]
pub(super) struct Expanded {
    text: Arc<str>,
    kind: TokenKind,
    is_spaced: bool,
    /// Where compilers up to clang 21 have it: the byte at which the outermost call begins.
    pub origin: usize,
    /// Where clang 22 has it: of a call's argument its own place.
    pub spelled: usize,
    /// The bytes of the text that it comes from: itself, or the outermost call.
    pub bytes: Range,
    /// Whether it stands in the text itself, if in an argument of a call.
    pub is_of_text: bool,
    /// The calls that it comes from, the outermost first.
    pub within: Vec<Arc<Call>>,
    /// Macros that it is not expanded by again.
    hidden: Vec<Arc<str>>,
}

/// A part of a text with its macros expanded.
pub(super) struct Expansion {
    text: String,
    tokens: Tokens,
    /// What the tokens are.
    pub pieces: Vec<Expanded>,
}

impl Expansion {
    fn new(pieces: Vec<Expanded>) -> Expansion {
        let (mut text, mut tokens) = (String::new(), Vec::new());
        let is_wordy = |kind: TokenKind| matches!(kind, TokenKind::Word | TokenKind::Literal);
        let mut before: Option<&Expanded> = None;
        for piece in &pieces {
            let would_join = before.is_some_and(|b| is_wordy(b.kind) && is_wordy(piece.kind));
            if before.is_some() && (piece.is_spaced || would_join) {
                text.push(' ');
            }
            let start = text.len();
            text.push_str(&piece.text);
            tokens.push(Token {
                kind: piece.kind,
                start,
                end: text.len(),
            });
            before = Some(piece);
        }
        Expansion {
            tokens: Tokens::new(&text, tokens),
            text,
            pieces,
        }
    }

    /// Its text and tokens.
    pub(super) fn as_scanned(&self) -> Scanned<'_> {
        Scanned {
            text: &self.text,
            tokens: &self.tokens,
            is_rust: false,
        }
    }

    /// Tokens in one line. Calls that `range` has all tokens of are written as calls, except the first `outer` ones
    /// around each token.
    pub(super) fn quote(&self, range: Range, outer: usize) -> String {
        let mut out = String::new();
        let mut at = range.start;
        while at < range.end {
            if at > range.start && self.tokens[at - 1].end < self.tokens[at].start {
                out.push(' ');
            }
            let calls = self.pieces[at].within.iter().skip(outer);
            let whole = calls.map(|call| self.tokens_of(call, at));
            let mut whole =
                whole.filter(|(tokens, _)| tokens.start == at && tokens.end <= range.end);
            match whole.next() {
                Some((tokens, call)) => {
                    out.push_str(&call.text);
                    at = tokens.end;
                }
                None => {
                    out.push_str(&self.pieces[at].text);
                    at += 1;
                }
            }
        }
        out
    }

    /// The tokens in turn around token `at` that a call stands for.
    pub(super) fn tokens_of<'c>(&self, call: &'c Arc<Call>, at: usize) -> (Range, &'c Arc<Call>) {
        let is_of = |i: usize| self.pieces[i].within.iter().any(|c| Arc::ptr_eq(c, call));
        let start = (0..at).rev().take_while(|i| is_of(*i)).last().unwrap_or(at);
        let end = (at..self.pieces.len()).find(|i| !is_of(*i));
        (start..end.unwrap_or(self.pieces.len()), call)
    }
}

impl Macros {
    /// Adds what directives of a text define.
    pub(super) fn add(&mut self, scanned: &Scanned) {
        for directive in scanned
            .tokens
            .iter()
            .filter(|t| t.kind == TokenKind::Directive)
        {
            let text = &scanned.text[directive.start + 1..directive.end];
            let defined = text.trim_start().strip_prefix("define").and_then(define);
            let Some((name, definition)) = defined else {
                continue;
            };
            self.define(name.into(), Arc::new(definition));
        }
    }

    /// Adds other macros. O(their number).
    pub(super) fn extend(&mut self, others: &Macros) {
        for (name, definitions) in &others.0 {
            for definition in definitions {
                self.define(name.clone(), definition.clone());
            }
        }
    }

    fn define(&mut self, name: Arc<str>, definition: Arc<Definition>) {
        let known = self.0.entry(name).or_default();
        if !known.contains(&definition) {
            known.push(definition);
        }
    }

    /// Whether a call of a macro begins at token `at`.
    pub(super) fn has_call(&self, scanned: &Scanned, at: usize) -> bool {
        let definitions = self.0.get(scanned.word(at));
        let is_call = scanned.word(at + 1) == "(";
        definitions.is_some_and(|all| all.iter().any(|d| d.parameters.is_none() || is_call))
    }

    /// Tokens of a text with all macros expanded, once for each combination of definitions; nothing if these are too
    /// many, or too large.
    pub(super) fn expand(&self, scanned: &Scanned, range: Range) -> Vec<Expansion> {
        let pieces: Vec<Expanded> = range.map(|i| Expanded::of_text(scanned, i)).collect();
        let mut chosen = Vec::new();
        let mut found = Vec::new();
        for _ in 0..MOST_COMBINATIONS {
            let mut expander = Expander {
                macros: self,
                chosen,
                left: MOST_TOKENS,
            };
            let Some(expanded) = expander.expand(pieces.clone(), 0) else {
                return Vec::new();
            };
            found.push(Expansion::new(expanded));
            chosen = expander.chosen;
            if !choose_next(&mut chosen) {
                return found;
            }
        }
        Vec::new()
    }
}

/// A macro with several definitions, and which of how many is taken.
type Choice = (Arc<str>, usize, usize);

/// Goes on to the next combination; false if there is none.
fn choose_next(chosen: &mut Vec<Choice>) -> bool {
    while let Some((_, taken, all)) = chosen.last_mut() {
        *taken += 1;
        if *taken < *all {
            return true;
        }
        chosen.pop();
    }
    false
}

impl Expanded {
    fn of_text(scanned: &Scanned, at: usize) -> Expanded {
        let token = scanned.tokens[at];
        let before = at.checked_sub(1).map(|i| scanned.tokens[i]);
        Expanded {
            text: scanned.word(at).into(),
            kind: token.kind,
            is_spaced: before.is_some_and(|b| b.end < token.start),
            origin: token.start,
            spelled: token.start,
            bytes: token.start..token.end,
            is_of_text: true,
            within: Vec::new(),
            hidden: Vec::new(),
        }
    }

    fn has_text(&self, word: &str) -> bool {
        &*self.text == word
    }
}

/// What is behind `#define`: the name of the macro, and what it stands for.
fn define(text: &str) -> Option<(String, Definition)> {
    let tokens = tokens_of_line(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.start..t.end]);
    let name = word(0).to_string();
    let has_brackets = word(1) == "(" && tokens[1].start == tokens[0].end;
    let mut parameters = Vec::new();
    let mut at = 1;
    let mut is_variadic = false;
    if has_brackets {
        at = 2;
        while word(at) != ")" {
            match word(at) {
                "" => return None,
                "," => {}
                "..." => {
                    let is_named = at > 2 && word(at - 1) != ",";
                    is_variadic = true;
                    if !is_named {
                        parameters.push("__VA_ARGS__".into());
                    }
                }
                parameter => parameters.push(parameter.to_string()),
            }
            at += 1;
        }
        at += 1;
    }
    let piece = |i: usize| Piece {
        text: word(i).into(),
        kind: tokens[i].kind,
        is_spaced: tokens[i - 1].end < tokens[i].start,
    };
    let definition = Definition {
        parameters: has_brackets.then_some(parameters),
        is_variadic,
        body: (at..tokens.len()).map(piece).collect(),
    };
    Some((name, definition))
}

struct Expander<'m> {
    macros: &'m Macros,
    chosen: Vec<Choice>,
    /// So many more tokens may come up.
    left: usize,
}

impl Expander<'_> {
    /// Expands all macros among `input`; `None` if that is too much.
    fn expand(&mut self, mut input: Vec<Expanded>, depth: usize) -> Option<Vec<Expanded>> {
        input.reverse();
        let mut out = Vec::new();
        while let Some(token) = input.pop() {
            self.left = self.left.checked_sub(1)?;
            let definition = self.definition(&token);
            let Some(definition) = definition.filter(|_| depth < DEEPEST) else {
                out.push(token);
                continue;
            };
            let Some(parameters) = &definition.parameters else {
                let text = token.text.to_string();
                let all = self.substitute(&token, text, &definition, &[], &[])?;
                input.extend(all.into_iter().rev());
                continue;
            };
            let Some((arguments, close)) = arguments(&mut input, parameters.len(), &definition)
            else {
                out.push(token);
                continue;
            };
            let call = quote_call(&token, &arguments);
            let mut expanded = Vec::new();
            for argument in &arguments {
                expanded.push(self.expand(argument.clone(), depth + 1)?);
            }
            let mut name = token;
            name.bytes.end = name.bytes.end.max(close.bytes.end);
            let all = self.substitute(&name, call, &definition, &arguments, &expanded)?;
            input.extend(all.into_iter().rev());
        }
        Some(out)
    }

    /// What a token stands for, if it is the name of a macro.
    fn definition(&mut self, token: &Expanded) -> Option<Arc<Definition>> {
        let is_hidden = token.hidden.contains(&token.text);
        if token.kind != TokenKind::Word || is_hidden {
            return None;
        }
        let all = self.macros.0.get(&*token.text)?;
        if let [only] = &all[..] {
            return Some(only.clone());
        }
        let known = self.chosen.iter().find(|(name, ..)| *name == token.text);
        let taken = known.map(|(_, taken, _)| *taken);
        let taken = taken.unwrap_or_else(|| {
            self.chosen.push((token.text.clone(), 0, all.len()));
            0
        });
        Some(all[taken].clone())
    }

    /// The body of a macro for a call by its `name`: `arguments` as they are and with their own macros expanded.
    fn substitute(
        &mut self,
        name: &Expanded,
        text: String,
        definition: &Definition,
        arguments: &[Vec<Expanded>],
        expanded: &[Vec<Expanded>],
    ) -> Option<Vec<Expanded>> {
        let call = Arc::new(Call { text });
        // Hide sets (Prosser): what a macro expands to is not expanded by it again, so that `#define f f + 1` ends.
        let mut hidden = name.hidden.clone();
        hidden.push(name.text.clone());
        let parameters = definition.parameters.as_deref().unwrap_or_default();
        let parameter = |piece: &Piece| parameters.iter().position(|p| **p == *piece.text);
        let within = |inner: &[Arc<Call>]| {
            let outer = name.within.iter().cloned().chain([call.clone()]);
            outer.chain(inner.iter().cloned()).collect()
        };
        let of_body = |text: Arc<str>, piece: &Piece| Expanded {
            text,
            kind: piece.kind,
            is_spaced: piece.is_spaced,
            origin: name.origin,
            spelled: name.spelled,
            bytes: name.bytes.clone(),
            is_of_text: false,
            within: within(&[]),
            hidden: hidden.clone(),
        };
        let body = &definition.body;
        let is_paste = |at: usize| {
            let pair = body.get(at..at + 2);
            pair.is_some_and(|p| p.iter().all(|p| &*p.text == "#") && !p[1].is_spaced)
        };
        let mut out: Vec<Expanded> = Vec::new();
        let mut is_pasted = false;
        let mut at = 0;
        while at < body.len() {
            let piece = &body[at];
            if is_paste(at) {
                is_pasted = true;
                at += 2;
                continue;
            }
            let first = out.len();
            let next = body.get(at + 1).and_then(parameter);
            match (&*piece.text, next, parameter(piece)) {
                ("#", Some(argument), _) => {
                    // `#x` quotes what was written, before macros in it are expanded.
                    let argument = arguments.get(argument).map_or(&[][..], |a| a);
                    let literal = Piece {
                        kind: TokenKind::Literal,
                        text: piece.text.clone(),
                        is_spaced: piece.is_spaced,
                    };
                    out.push(of_body(
                        format!("{:?}", join_text(argument)).into(),
                        &literal,
                    ));
                    at += 1;
                }
                (_, _, Some(argument)) => {
                    // Beside `##` an argument stays as it was written (C11, 6.10.3.1).
                    let alone = is_pasted || is_paste(at + 1);
                    let of = if alone { arguments } else { expanded };
                    let mut tokens = of.get(argument).cloned().unwrap_or_default();
                    for token in &mut tokens {
                        let inner = token.within.get(name.within.len()..).unwrap_or_default();
                        token.within = within(inner);
                        token.origin = name.origin;
                        token.bytes = name.bytes.clone();
                        token.hidden.extend(hidden.iter().cloned());
                    }
                    tokens
                        .iter_mut()
                        .take(1)
                        .for_each(|t| t.is_spaced = piece.is_spaced);
                    out.extend(tokens);
                }
                _ => out.push(of_body(piece.text.clone(), piece)),
            }
            self.left = self.left.checked_sub(out.len() - first)?;
            // `a ## b`: the last token so far and the first new one become one. An empty side leaves the other.
            if std::mem::take(&mut is_pasted) && first > 0 && first < out.len() {
                let right = out.remove(first);
                let left = &mut out[first - 1];
                left.text = format!("{}{}", left.text, right.text).into();
            }
            at += 1;
        }
        Some(out)
    }
}

/// The arguments of a call whose opening bracket is next in `input`, which is in reverse, and the bracket that closes
/// it; without brackets there is no call, and nothing is taken.
fn arguments(
    input: &mut Vec<Expanded>,
    parameters: usize,
    definition: &Definition,
) -> Option<(Vec<Vec<Expanded>>, Expanded)> {
    input.last().filter(|t| t.has_text("("))?;
    let mut depth = 0usize;
    let mut end = None;
    for (i, token) in input.iter().enumerate().rev() {
        depth += usize::from(token.has_text("("));
        depth -= usize::from(token.has_text(")"));
        if depth == 0 {
            end = Some(i);
            break;
        }
    }
    let end = end?;
    let mut all = input.split_off(end);
    let close = all.remove(0);
    all.pop();
    let mut arguments = vec![Vec::new()];
    let mut depth = 0usize;
    for token in all.into_iter().rev() {
        let takes_rest = definition.is_variadic && arguments.len() >= parameters;
        match &*token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," if depth == 0 && !takes_rest => {
                arguments.push(Vec::new());
                continue;
            }
            _ => {}
        }
        let last = arguments.last_mut().expect("there is a first one");
        last.push(token);
    }
    Some((arguments, close))
}

fn join_text(tokens: &[Expanded]) -> String {
    let mut out = String::new();
    for token in tokens {
        if token.is_spaced && !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&token.text);
    }
    out
}

fn quote_call(name: &Expanded, arguments: &[Vec<Expanded>]) -> String {
    let arguments: Vec<String> = arguments.iter().map(|a| join_text(a)).collect();
    let call = format!("{}({})", name.text, arguments.join(", "));
    if call.len() > LONGEST_CALL {
        format!("{}(…)", name.text)
    } else {
        call
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that a text behind definitions may expand to.
    fn expand_text(definitions: &str, text: &str) -> Vec<String> {
        let mut macros = Macros::default();
        let [defined, tokens] = [definitions, text].map(Tokens::read);
        let scan = |text, tokens| Scanned {
            text,
            tokens,
            is_rust: false,
        };
        macros.add(&scan(definitions, &defined));
        let scanned = scan(text, &tokens);
        let all = macros.expand(&scanned, 0..tokens.len()).into_iter();
        all.map(|e| e.quote(0..e.pieces.len(), usize::MAX))
            .collect()
    }

    /// As the preprocessor does.
    #[test]
    fn calls_stand_for_what_is_defined() {
        let definitions = "#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define LIMIT 5 // not 6
#define NAME(x) #x
#  define CAT(a, b) a##_##b
#define ALL(f, ...) f(__VA_ARGS__)
#define REST(args...) g(args)
#define EACH(X) X(1) X(2)
#define SELF SELF + 1
#define F MAX
#define TWO_LINES(x) \\
  h(x)
#define EMPTY()
";
        for (text, expected) in [
            ("MAX(x, LIMIT)", "((x) > (5) ? (x) : (5))"),
            ("MAX (f(1, 2), y)", "((f(1, 2)) > (y) ? (f(1, 2)) : (y))"),
            ("MAX", "MAX"),
            ("NAME(a + LIMIT)", "\"a + LIMIT\""),
            ("CAT(x, LIMIT)", "x_LIMIT"),
            ("ALL(CAT, a, b)", "a_b"),
            ("REST(1, 2)", "g(1, 2)"),
            ("EACH(TWO_LINES)", "h(1) h(2)"),
            ("SELF", "SELF + 1"),
            ("F(LIMIT, 2)", "((5) > (2) ? (5) : (2))"),
            ("a EMPTY() b", "a b"),
            ("MAX(1", "MAX(1"),
        ] {
            assert_eq!(expand_text(definitions, text), [expected], "{text}");
        }
        let two = "#if A\n#define C(x) if (x)\n#else\n#define C(x) while (x)\n#endif\n";
        assert_eq!(expand_text(two, "C(a)"), ["if (a)", "while (a)"]);
        // What grows without end is given up.
        let doubles = (0..40).map(|n| format!("#define D{n} D{} D{}\n", n + 1, n + 1));
        assert!(expand_text(&doubles.collect::<String>(), "D0").is_empty());
    }
}
