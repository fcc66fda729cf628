//! Names that stand for numbers: enumerators, and macros of one number.

use super::condition::{Range, Scanned};
use super::headers::Header;
use super::literals::literal;
use super::macros::Macros;
use super::text::Text;
use super::tokens::TokenKind;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// What a file and the headers that it includes define.
#[derive(Default)]
pub(super) struct Definitions {
    /// Their macros.
    pub macros: Macros,
    headers: Vec<Arc<Header>>,
    enumerators: OnceLock<Enumerators>,
}

/// The values of enumerators, by their names and with those of their enumerations before them; of a name with several
/// values there is none.
#[derive(Default)]
struct Enumerators(HashMap<String, Option<i128>>);

/// The enumerations that a text defines: their names, and the tokens between their braces. O(tokens).
pub(super) fn find_enums(scanned: &Scanned) -> Vec<(Option<String>, Range)> {
    let is_enum =
        |&at: &usize| scanned.word(at) == "enum" && scanned.tokens[at].kind == TokenKind::Word;
    let ends = |&i: &usize| {
        matches!(
            scanned.word(i),
            "{" | "}" | ";" | ")" | "(" | "," | "=" | ""
        )
    };
    let find = |at: usize| {
        let open = (at + 1..).find(ends).filter(|&i| scanned.word(i) == "{")?;
        let is_name = |i: &usize| !matches!(scanned.word(*i), "class" | "struct");
        let name = (at + 1..open)
            .find(is_name)
            .map(|i| scanned.word(i).to_string());
        Some((name, open + 1..scanned.closing_of(open)?))
    };
    (0..scanned.tokens.len())
        .filter(is_enum)
        .filter_map(find)
        .collect()
}

impl Definitions {
    /// Those of a text that includes `headers`. O(macros).
    pub(super) fn new(text: &Text, headers: Vec<Arc<Header>>) -> Definitions {
        let own = Arc::new(Header::new(
            String::new(),
            Text::new(text.full_text().to_string()),
        ));
        let mut macros = Macros::default();
        let headers: Vec<Arc<Header>> = headers.into_iter().chain([own]).collect();
        headers
            .iter()
            .for_each(|header| macros.extend(&header.macros));
        Definitions {
            macros,
            headers,
            enumerators: OnceLock::new(),
        }
    }

    fn find_enumerators(&self) -> Enumerators {
        let mut found = Enumerators::default();
        for header in &self.headers {
            for (name, list) in &header.enums {
                let expansions = self.macros.expand(&header.text.as_scanned(), list.clone());
                if let [only] = &expansions[..] {
                    found.add(&only.as_scanned(), name.as_deref());
                }
            }
        }
        found
    }

    /// The value of tokens of a text: a number, a character or a name of one.
    pub(super) fn value(&self, scanned: &Scanned, range: Range) -> Option<i128> {
        match &self.macros.expand(scanned, range)[..] {
            [only] => {
                let (scanned, range) = (only.as_scanned(), 0..only.pieces.len());
                let enumerators = || self.enumerators.get_or_init(|| self.find_enumerators());
                literal(&scanned, range.clone()).or_else(|| enumerators().find(&scanned, range))
            }
            _ => None,
        }
    }
}

impl Enumerators {
    /// Adds the enumerators of a list.
    fn add(&mut self, list: &Scanned, of: Option<&str>) {
        let mut next = Some(0);
        let mut at = 0;
        while at < list.tokens.len() {
            let outer = list.tokens_outside_brackets(at..list.tokens.len());
            let end = outer.into_iter().find(|&i| list.word(i) == ",");
            let end = end.unwrap_or(list.tokens.len());
            let name = list.word(at);
            if let Some(equals) = (at..end).find(|&i| list.word(i) == "=") {
                let value = equals + 1..end;
                next = literal(list, value.clone()).or_else(|| self.find(list, value));
            }
            let qualified = of.map(|of| format!("{of}::{name}"));
            for name in qualified.into_iter().chain([name.to_string()]) {
                let known = self.0.entry(name).or_insert(next);
                if *known != next {
                    *known = None;
                }
            }
            next = next.and_then(|n| n.checked_add(1));
            at = end + 1;
        }
    }

    /// The value of a name, in scopes or not.
    fn find(&self, scanned: &Scanned, range: Range) -> Option<i128> {
        let is_scoped = range.clone().all(|i| {
            let is_word = scanned.tokens[i].kind == TokenKind::Word;
            is_word || scanned.word(i) == "::"
        });
        let last = range.end.checked_sub(1).filter(|_| is_scoped)?;
        let scope = last.checked_sub(2).filter(|i| *i >= range.start);
        let scoped = scope.map(|i| format!("{}::{}", scanned.word(i), scanned.word(last)));
        let known = scoped.and_then(|name| self.0.get(&name));
        *known.or_else(|| self.0.get(scanned.word(last)))?
    }
}
