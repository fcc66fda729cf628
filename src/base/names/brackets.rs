//! Brackets in names of C++ and Rust: what is inside of which.

/// A character of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Character {
    /// Its first byte.
    pub at: usize,
    pub c: char,
    /// How many brackets are around it; of a bracket, how many are around the pair.
    pub depth: usize,
    pub side: Option<Side>,
}

/// What a bracket does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Opens,
    Closes,
}

/// The characters of a name with the brackets around them. Brackets of all kinds count alike; one that closes nothing
/// is around nothing. The `>` of `->` is no bracket, and neither are the signs of `operator<` and its like. Linear.
pub(super) fn characters(name: &str) -> impl Iterator<Item = Character> {
    let mut depth = 0usize;
    let mut signs_end = 0;
    name.char_indices().map(move |(at, c)| {
        let is_sign = at < signs_end || c == '>' && name[..at].ends_with('-');
        let side = match c {
            _ if is_sign => None,
            '<' | '(' | '[' | '{' => Some(Side::Opens),
            '>' | ')' | ']' | '}' => Some(Side::Closes),
            'r' if ends_with_operator(&name[..=at]) => {
                signs_end = at + 1 + leading_signs(&name[at + 1..]).len();
                None
            }
            _ => None,
        };
        if side == Some(Side::Closes) {
            depth = depth.saturating_sub(1);
        }
        let around = depth;
        if side == Some(Side::Opens) {
            depth += 1;
        }
        let depth = around;
        Character { at, c, depth, side }
    })
}

/// Whether a text ends with the word `operator`, and not with a longer one: `binary_operator<int>` has arguments.
pub(super) fn ends_with_operator(text: &str) -> bool {
    let before = text.strip_suffix("operator");
    before.is_some_and(|b| !b.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// What operators' names that are read as brackets begin with, the longest first.
const SIGNS: [&str; 15] = [
    "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "->", "-=", "--", "<", ">", "=", "-",
];

/// What an operator's name that is read as brackets begins with: `<<` of `<< <char>`, `->` of `->*`, `>>` of
/// `>><char>`.
pub(super) fn leading_signs(text: &str) -> &str {
    let signs = SIGNS.into_iter().find(|signs| text.starts_with(signs));
    &text[..signs.map_or(0, str::len)]
}

/// The byte of the bracket that closes the one at the beginning, or the end. Linear.
pub(super) fn find_closing(text: &str) -> usize {
    let is_it = |c: &Character| c.depth == 0 && c.side == Some(Side::Closes);
    characters(text).find(is_it).map_or(text.len(), |c| c.at)
}

/// The byte of the bracket that the last character closes; `None` if that is no bracket or closes nothing. Linear.
pub(super) fn find_opening(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    let mut found = None;
    for character in characters(text) {
        found = match character.side {
            Some(Side::Opens) => {
                open.push(character.at);
                None
            }
            Some(Side::Closes) => open.pop(),
            None => None,
        };
    }
    found
}

/// The characters of a name that no bracket is around, brackets left out. Linear.
pub(super) fn outside_brackets(name: &str) -> impl Iterator<Item = (usize, char)> {
    let outside = characters(name).filter(|c| c.depth == 0 && c.side.is_none());
    outside.map(|c| (c.at, c.c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_outside_of_brackets_are_those_of_the_name() {
        for (name, outside) in [
            ("a::f<int>(b<c>[1]) const", "a::f const"),
            ("f<fn(a) -> b, c>::g", "f::g"),
            ("std::operator<< <char>(int)", "std::operator<< "),
            ("A::operator->*()::{lambda()#1}::x", "A::operator->*::::x"),
            ("operator<=>(int)", "operator<=>"),
            ("std::operator>><char, a<b> >(int)", "std::operator>>"),
            ("operator==<a::b>::c", "operator==::c"),
            ("A::operator()(int) const", "A::operator const"),
            ("a::binary_operator<int>::f", "a::binary_operator::f"),
            ("a)>]::b", "a::b"),
            ("a<b::c", "a"),
            ("ä<ö>::ü", "ä::ü"),
        ] {
            let found: String = outside_brackets(name).map(|(_, c)| c).collect();
            assert_eq!(found, outside, "{name}");
        }
    }

    #[test]
    fn bracket_at_the_beginning_is_closed_by_its_own() {
        for (text, rest) in [
            ("<a<b>, c->d>::e", ">::e"),
            ("(operator<(x))y", ")y"),
            ("<a(b]>", ">"),
            ("<a", ""),
            ("a>b", ">b"),
            ("", ""),
        ] {
            assert_eq!(&text[find_closing(text)..], rest, "{text}");
        }
        for (text, open) in [
            ("A::operator<(A const&)", Some(12)),
            ("f(a<b(c)>)", Some(1)),
            ("f(a) b", None),
            (")", None),
        ] {
            assert_eq!(find_opening(text), open, "{text}");
        }
    }
}
