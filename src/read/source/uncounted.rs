//! Positions in a text whose code does not say that the line ran.
//!
//! | position | what the compiler puts there |
//! |---|---|
//! | a `}` before `else` or `catch` | what ends the block before; the rest of the line is reached otherwise |
//! | a name in `auto [a, b]` of C++ | each use of that name, wherever it is |
//! | a `}` of Rust, in code that was inlined | destructors that may not run; what returned there is gone |

use super::text::Text;

/// Keywords that go on behind the `}` of a block on another way than by its end.
const OTHERWISE: [&str; 2] = ["else", "catch"];

impl Text {
    /// Line and column of each such position. Linear. Comments and strings, in which nothing is compiled, are searched
    /// as well.
    pub(super) fn find_uncounted(&self) -> Vec<(u32, u32)> {
        if !self.has_columns {
            return Vec::new();
        }
        let text = self.full_text();
        let ends = text.match_indices('}').map(|(at, _)| at);
        let ends = ends.filter(|at| {
            let behind = text[at + 1..].trim_start_matches([' ', '\t']);
            OTHERWISE.iter().any(|word| starts_with_word(behind, word))
        });
        let mut found: Vec<usize> = ends.collect();
        if !self.is_rust {
            let autos = text.match_indices("auto").map(|(at, word)| at + word.len());
            autos.for_each(|at| find_bindings(text, at, &mut found));
        }
        found.into_iter().map(|at| self.position(at)).collect()
    }

    /// Line and column of each `}` of a text of Rust, and of what stands directly behind it, where rustc puts the
    /// return of a function and the end of a statement. Linear.
    pub(super) fn find_ends_in_rust(&self) -> Vec<(u32, u32)> {
        if !self.is_rust || !self.has_columns {
            return Vec::new();
        }
        let ends = self.full_text().match_indices('}');
        let places = ends.flat_map(|(at, _)| {
            let (line, column) = self.position(at);
            [(line, column), (line, column + 1)]
        });
        places.collect()
    }
}

/// Adds where the names of a structured binding begin whose `auto` ends at a byte.
fn find_bindings(text: &str, auto: usize, found: &mut Vec<usize>) {
    let is_blank = |c: char| c.is_whitespace() || c == '&';
    let Some(names) = text[auto..].trim_start_matches(is_blank).strip_prefix('[') else {
        return;
    };
    let start = text.len() - names.len();
    let names = &names[..names.find(']').unwrap_or(0)];
    let mut was_word = false;
    for (at, c) in names.char_indices() {
        let is_word = c.is_alphanumeric() || c == '_';
        if is_word && !was_word {
            found.push(start + at);
        }
        was_word = is_word;
    }
}

fn starts_with_word(text: &str, word: &str) -> bool {
    let behind = text.strip_prefix(word);
    behind.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_uncounted(text: &str) -> Vec<(u32, u32)> {
        Text::new(text.into()).find_uncounted()
    }

    #[test]
    fn braces_before_other_ways_are_found() {
        let text = "if (a) {\n  f();\n} else if (b) {\n} elsewhere();\n}\nelse {\n}\ttry { }  catch (...) {\n} while \
                    (c);";
        assert_eq!(find_uncounted(text), [(3, 1), (7, 9)]);
    }

    #[test]
    fn ends_of_blocks_are_found_in_rust_alone() {
        let mut text = Text::new("fn f() {\n  if a { b }\n}\n".into());
        assert!(text.find_ends_in_rust().is_empty());
        text.is_rust = true;
        let expected = [(2, 12), (2, 13), (3, 1), (3, 2)];
        assert_eq!(text.find_ends_in_rust(), expected);
    }

    #[test]
    fn names_of_structured_bindings_are_found() {
        let text = "auto [a, b2] = p;\nfor (const auto &[k,\n  v] : m) f(auto(x), autos[i]);\nauto&& [é] = q; auto [";
        assert_eq!(
            find_uncounted(text),
            [(1, 7), (1, 10), (2, 19), (3, 3), (4, 9)]
        );
        let mut rust = Text::new("auto [a]".into());
        rust.is_rust = true;
        assert!(rust.find_uncounted().is_empty());
    }
}
