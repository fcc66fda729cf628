//! Which brackets of a text belong together, found once for all that asks.

use super::condition::{Range, Scanned};
use super::tokens::{Token, tokens};
use std::ops::Deref;

/// The tokens of a text and its table of brackets.
pub(super) struct Tokens {
    all: Vec<Token>,
    /// Of each token the bracket that belongs to it, if it is a bracket that has one.
    partners: Vec<Option<u32>>,
    /// The innermost bracket that is open before each token, and behind the last.
    around: Vec<Option<u32>>,
}

/// What a token is among brackets. Kinds are not told apart: a text that mixes them is none that a compiler took.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Opens,
    Closes,
}

fn bracket_side(word: &str) -> Option<Side> {
    match word {
        "(" | "[" | "{" => Some(Side::Opens),
        ")" | "]" | "}" => Some(Side::Closes),
        _ => None,
    }
}

impl Tokens {
    /// The tokens of a text. Linear.
    pub(super) fn read(text: &str) -> Tokens {
        Tokens::new(text, tokens(text))
    }

    /// These tokens of a text. Linear.
    pub(super) fn new(text: &str, all: Vec<Token>) -> Tokens {
        let mut partners = vec![None; all.len()];
        let mut around = Vec::with_capacity(all.len() + 1);
        let mut open: Vec<u32> = Vec::new();
        for (at, token) in (0u32..).zip(&all) {
            around.push(open.last().copied());
            match bracket_side(&text[token.start..token.end]) {
                Some(Side::Opens) => open.push(at),
                // What closes nothing is around nothing.
                Some(Side::Closes) => {
                    if let Some(opening) = open.pop() {
                        partners[opening as usize] = Some(at);
                        partners[at as usize] = Some(opening);
                    }
                }
                None => {}
            }
        }
        around.push(open.last().copied());
        Tokens {
            all,
            partners,
            around,
        }
    }

    fn find_partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at)?.map(|other| other as usize)
    }
}

impl Deref for Tokens {
    type Target = [Token];

    fn deref(&self) -> &[Token] {
        &self.all
    }
}

impl Scanned<'_> {
    /// The tokens of a range that are in no brackets inside it. O(1) for each, and for each pair of brackets between.
    pub(super) fn tokens_outside_brackets(&self, range: Range) -> impl Iterator<Item = usize> + '_ {
        let mut at = range.start;
        std::iter::from_fn(move || {
            while at < range.end {
                let here = at;
                match bracket_side(self.word(here)) {
                    None => {
                        at += 1;
                        return Some(here);
                    }
                    Some(Side::Closes) => at += 1,
                    Some(Side::Opens) => {
                        at = self.tokens.find_partner(here).map_or(range.end, |c| c + 1);
                    }
                }
            }
            None
        })
    }

    /// The bracket that closes the one at `open`; what is no bracket closes itself. O(1).
    pub(super) fn closing_of(&self, open: usize) -> Option<usize> {
        match bracket_side(self.word(open)) {
            None => (open < self.tokens.len()).then_some(open),
            Some(Side::Opens) => self.tokens.find_partner(open),
            Some(Side::Closes) => None,
        }
    }

    /// The bracket that the one at `close` closes; what is no bracket opens itself. O(1).
    pub(super) fn opening_of(&self, close: usize) -> Option<usize> {
        match bracket_side(self.word(close)) {
            None => Some(close),
            Some(Side::Opens) => None,
            Some(Side::Closes) => self.tokens.find_partner(close),
        }
    }

    /// The innermost bracket around token `at`. O(1).
    pub(super) fn bracket_around(&self, at: usize) -> Option<usize> {
        let around = &self.tokens.around;
        let known = around.get(at).or(around.last())?;
        known.map(|open| open as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Counts brackets from `at` on, in one direction; where the first of them is closed.
    fn count(words: &[&str], at: usize, ahead: bool) -> Option<usize> {
        let (up, down) = if ahead {
            (Side::Opens, Side::Closes)
        } else {
            (Side::Closes, Side::Opens)
        };
        let mut depth = 0usize;
        let all: Vec<usize> = if ahead {
            (at..words.len()).collect()
        } else {
            (0..=at).rev().collect()
        };
        for i in all {
            depth += usize::from(bracket_side(words[i]) == Some(up));
            if bracket_side(words[i]) == Some(down) {
                depth = depth.checked_sub(1)?;
            }
            if depth == 0 {
                return Some(i);
            }
        }
        None
    }

    /// The first bracket to the left that is not closed before `at`.
    fn find_around(words: &[&str], at: usize) -> Option<usize> {
        let mut depth = 0usize;
        for i in (0..at).rev() {
            match bracket_side(words[i]) {
                Some(Side::Closes) => depth += 1,
                Some(Side::Opens) if depth == 0 => return Some(i),
                Some(Side::Opens) => depth -= 1,
                None => {}
            }
        }
        None
    }

    fn find_outside(words: &[&str], range: Range) -> Vec<usize> {
        let mut depth = 0usize;
        let mut found = Vec::new();
        for i in range {
            match bracket_side(words[i]) {
                Some(Side::Opens) => depth += 1,
                Some(Side::Closes) => depth = depth.saturating_sub(1),
                None if depth == 0 => found.push(i),
                None => {}
            }
        }
        found
    }

    proptest! {
        /// The table says what counting says, of texts whose brackets do not match, too.
        #[test]
        fn table_agrees_with_counting(text in r"[()\[\]{}a;]{0,24}", start in 0usize..24, length in 0usize..24) {
            let tokens = Tokens::read(&text);
            let scanned = Scanned { text: &text, tokens: &tokens, is_rust: false };
            let words: Vec<&str> = tokens.iter().map(|t| &text[t.start..t.end]).collect();
            for at in 0..words.len() {
                prop_assert_eq!(scanned.closing_of(at), count(&words, at, true));
                prop_assert_eq!(scanned.opening_of(at), count(&words, at, false));
                prop_assert_eq!(scanned.bracket_around(at), find_around(&words, at));
            }
            prop_assert_eq!(scanned.bracket_around(words.len()), find_around(&words, words.len()));
            let range = start.min(words.len())..(start + length).min(words.len());
            let outside: Vec<usize> = scanned.tokens_outside_brackets(range.clone()).collect();
            prop_assert_eq!(outside, find_outside(&words, range));
        }
    }
}
