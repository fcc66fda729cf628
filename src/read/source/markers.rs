//! Markers in the comments of a source that leave lines out of coverage, as lcov and gcovr have them.
//!
//! | marker | leaves out |
//! |---|---|
//! | `LCOV_EXCL_LINE`, `LCOV_UNREACHABLE_LINE` | its line |
//! | `LCOV_EXCL_START` … `LCOV_EXCL_STOP`, `LCOV_UNREACHABLE_START` … | the lines from `START` to before `STOP` |
//! | `LCOV_EXCL_BR_LINE`, `LCOV_EXCL_BR_START` … `LCOV_EXCL_BR_STOP` | the branches on these lines, and not the lines |
//! | `GCOVR_EXCL_FUNCTION` | all lines up to the brace that closes the function on whose line it is |
//!
//! `GCOVR_` and `GCOV_` do for `LCOV_`, and the other way round. A word of the user's choosing, such as `NOLINT`,
//! leaves out its line; with `NEXTLINE` behind it the next one, with `BEGIN` or `START` all lines up to and with that
//! of the same word with `END` or `STOP`. A marker is a word of its own, wherever it stands, like for lcov; one in a
//! string is reported.

use super::tokens::{Token, TokenKind, tokens};
use crate::input::ir::{Loc, Span};
use std::collections::BTreeSet;

/// What markers leave out of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Excluded {
    /// Lines.
    pub lines: BTreeSet<u32>,
    /// Lines whose branches are left out; those of `lines` too.
    pub branches: BTreeSet<u32>,
    /// Positions, line and column, whose code does not say that the line ran.
    pub uncounted: BTreeSet<(u32, u32)>,
    /// Where blocks of Rust end: where the function was inlined, only destructors are left there, which may not run.
    pub ends_in_rust: BTreeSet<(u32, u32)>,
    /// Markers that are in a string or without their counterpart, each with its line and what follows from that.
    pub remarks: Vec<(u32, String)>,
    /// How many lines there are, if the text is there. A `#line` may tell of others, which tools that show the text
    /// refuse.
    pub length: Option<u32>,
}

/// What markers leave out of the files of a program, by number, and where code says nothing of its line.
#[derive(Clone, Debug, Default)]
pub struct Markers(Vec<Excluded>);

impl Markers {
    /// By file.
    pub(super) fn new(excluded: Vec<Excluded>) -> Markers {
        Markers(excluded)
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|e| e.branches.is_empty())
    }

    /// Whether a line is left out.
    pub fn line(&self, file: u32, line: u32) -> bool {
        let file = self.0.get(file as usize);
        file.is_some_and(|e| e.lines.contains(&line))
    }

    /// The lines of a file that are left out.
    pub fn lines(&self, file: u32) -> BTreeSet<u32> {
        let file = self.0.get(file as usize);
        file.map(|e| e.lines.clone()).unwrap_or_default()
    }

    /// Whether a line is to be shown: markers do not leave it out, and the text, if it is there, has it.
    pub fn is_shown(&self, file: u32, line: u32) -> bool {
        let length = self.0.get(file as usize).and_then(|e| e.length);
        length.is_none_or(|n| line <= n) && !self.line(file, line)
    }

    /// Whether code counts for its line: the line is to be shown, and [`Markers::says_it_ran`].
    pub fn counts(&self, span: &Span) -> bool {
        self.is_shown(span.loc.file, span.loc.line) && self.says_it_ran(span)
    }

    /// Whether code says that its line ran: the source has something to run at its position.
    pub fn says_it_ran(&self, span: &Span) -> bool {
        let Loc { file, line } = span.loc;
        let at = (line, span.column);
        let is_empty = |e: &Excluded| {
            e.uncounted.contains(&at) || span.inlined.is_some() && e.ends_in_rust.contains(&at)
        };
        !self.0.get(file as usize).is_some_and(is_empty)
    }

    /// Markers in strings and those without their counterpart, by the number of the file.
    pub(super) fn remarks(&self) -> impl Iterator<Item = (usize, &(u32, String))> {
        let files = self.0.iter().enumerate();
        files.flat_map(|(i, e)| e.remarks.iter().map(move |u| (i, u)))
    }

    /// Whether the branches on a line are left out.
    pub fn branches(&self, file: u32, line: u32) -> bool {
        let file = self.0.get(file as usize);
        file.is_some_and(|e| e.branches.contains(&line))
    }
}

/// What a marker says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    Line,
    NextLine,
    Start,
    /// With whether its own line is still left out.
    Stop(bool),
    Function,
}

/// What begins the names of the markers that are known without being named.
const TOOLS: [&str; 6] = [
    "LCOV_EXCL_",
    "GCOVR_EXCL_",
    "GCOV_EXCL_",
    "LCOV_UNREACHABLE_",
    "GCOVR_UNREACHABLE_",
    "GCOV_UNREACHABLE_",
];

impl Excluded {
    /// What the markers of `text` leave out, those of `words` too. A range that nothing ends goes on to the end.
    /// Linear.
    pub(crate) fn find(text: &str, words: &[String]) -> Excluded {
        let mut excluded = Excluded::default();
        if !TOOLS.iter().any(|t| text.contains(t)) && !words.iter().any(|w| text.contains(w)) {
            return excluded;
        }
        let strings = find_strings(text);
        // Of lines, and of branches: the line and the word that opened a range, and whether the next line is meant.
        let mut open: [Option<(u32, &str)>; 2] = [None; 2];
        let mut next = [false; 2];
        let mut functions = Vec::new();
        let mut start = 0;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let mut here = [0, 1].map(|of| open[of].is_some() || next[of]);
            next = [false; 2];
            for found in markers(line, words) {
                // lcov and gcovr take it for one, too: what it leaves out must not be left out in silence.
                if is_inside(&strings, start + found.at) {
                    let remark = format!("{} in a string is a marker, like for lcov", found.word);
                    excluded.remarks.push((number, remark));
                }
                let of = usize::from(found.branches);
                match found.marker {
                    Marker::NextLine => next[of] = true,
                    Marker::Line => here[of] = true,
                    Marker::Start => {
                        here[of] = true;
                        open[of].get_or_insert((number, found.word));
                    }
                    Marker::Stop(with_line) => {
                        here[of] = with_line;
                        if open[of].take().is_none() {
                            let problem = format!("{} ends nothing that began", found.word);
                            excluded.remarks.push((number, problem));
                        }
                    }
                    Marker::Function => functions.push(number),
                }
            }
            start += line.len();
            if here[0] {
                excluded.lines.insert(number);
            }
            if here[0] || here[1] {
                excluded.branches.insert(number);
            }
        }
        for ((line, word), what) in open
            .iter()
            .zip(["lines", "branches"])
            .filter_map(|(o, w)| Some(((*o)?, w)))
        {
            let problem = format!("nothing ends {word}, so all {what} behind it are left out");
            excluded.remarks.push((line, problem));
        }
        for (first, last) in find_functions(text, &functions) {
            excluded.lines.extend(first..=last);
            excluded.branches.extend(first..=last);
        }
        excluded
    }
}

/// Of each of these lines, which ascend, with the line that closes the function which begins there: the brace after the
/// next one that opens. A line without a function after it ends where it begins. O(text).
fn find_functions(text: &str, lines: &[u32]) -> Vec<(u32, u32)> {
    if lines.is_empty() {
        return Vec::new();
    }
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    let line_of = |at: usize| starts.partition_point(|s| *s <= at) as u32;
    let tokens = tokens(text);
    let functions = lines.iter().map(|&first| {
        let begin = tokens.partition_point(|t| line_of(t.start) < first);
        let mut depth = 0u32;
        for token in tokens[begin..]
            .iter()
            .filter(|t| t.kind == TokenKind::Punctuation)
        {
            match (&text[token.start..token.end], depth) {
                ("{", _) => depth += 1,
                ("}", 1) => return (first, line_of(token.start)),
                // A declaration, or the end of what the marker is in.
                (";" | "}", 0) => break,
                ("}", _) => depth -= 1,
                _ => {}
            }
        }
        (first, first)
    });
    functions.collect()
}

/// Where strings begin and end in `text`, ascending. One that goes on over lines is none, unless it is raw: in another
/// language the quote may be a comment's. Linear.
fn find_strings(text: &str) -> Vec<(usize, usize)> {
    let is_string = |t: &Token| {
        let content = &text[t.start..t.end];
        let is_raw = content.starts_with(['R', 'r']) || content.starts_with("br");
        t.kind == TokenKind::Literal && content.contains('"') && (is_raw || !content.contains('\n'))
    };
    let strings = tokens(text).into_iter().filter(is_string);
    strings.map(|t| (t.start, t.end)).collect()
}

fn is_inside(strings: &[(usize, usize)], at: usize) -> bool {
    let behind = strings.partition_point(|s| s.0 <= at);
    behind > 0 && at < strings[behind - 1].1
}

/// A marker on a line.
struct FoundMarker<'a> {
    /// The word that it is.
    word: &'a str,
    /// The byte of the line at which that begins.
    at: usize,
    marker: Marker,
    /// Whether it is about branches alone.
    branches: bool,
}

/// The markers on a line.
fn markers<'a>(line: &'a str, words: &'a [String]) -> impl Iterator<Item = FoundMarker<'a>> + 'a {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let all = line.split(move |c| !is_word(c)).filter(|w| !w.is_empty());
    all.filter_map(move |word| {
        let found = |marker, branches| FoundMarker {
            word,
            at: word.as_ptr() as usize - line.as_ptr() as usize,
            marker,
            branches,
        };
        let tool = TOOLS.iter().find_map(|t| word.strip_prefix(t));
        if let Some(rest) = tool {
            let (rest, branches) = match rest.strip_prefix("BR_") {
                Some(rest) => (rest, true),
                None => (rest, false),
            };
            return marker_of_tools(rest).map(|m| found(m, branches));
        }
        let rest = words.iter().find_map(|w| word.strip_prefix(w.as_str()))?;
        marker(rest.trim_start_matches('_')).map(|m| found(m, false))
    })
}

fn marker_of_tools(rest: &str) -> Option<Marker> {
    Some(match rest {
        "LINE" => Marker::Line,
        "START" => Marker::Start,
        "STOP" => Marker::Stop(false),
        "FUNCTION" => Marker::Function,
        _ => return None,
    })
}

fn marker(rest: &str) -> Option<Marker> {
    Some(match rest {
        "" | "LINE" => Marker::Line,
        "NEXTLINE" | "NEXT_LINE" => Marker::NextLine,
        "START" | "BEGIN" => Marker::Start,
        "STOP" | "END" => Marker::Stop(true),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded_lines(text: &str) -> (Vec<u32>, Vec<u32>) {
        let found = Excluded::find(text, &["NOLINT".into()]);
        let only = found.branches.difference(&found.lines).copied();
        (found.lines.iter().copied().collect(), only.collect())
    }

    #[test]
    fn markers_leave_out_lines_and_branches() {
        for (text, lines, branches) in [
            ("a\nb // LCOV_EXCL_LINE\nc", &[2][..], &[][..]),
            (
                "a /* GCOVR_EXCL_START */\nb\nc // GCOVR_EXCL_STOP\nd",
                &[1, 2],
                &[],
            ),
            ("a\n// LCOV_EXCL_START\nb", &[2, 3], &[]),
            (
                "a\n// LCOV_UNREACHABLE_START\nb\n// LCOV_UNREACHABLE_STOP",
                &[2, 3],
                &[],
            ),
            ("a // LCOV_UNREACHABLE_LINE\nb", &[1], &[]),
            ("if (a) b(); // LCOV_EXCL_BR_LINE\nc", &[], &[1]),
            (
                "// LCOV_EXCL_BR_START\na\n// LCOV_EXCL_BR_STOP\nb",
                &[],
                &[1, 2],
            ),
            ("a // NOLINT\n// NOLINTNEXTLINE\nb\nc", &[1, 2 + 1], &[]),
            ("// NOLINTBEGIN\na\n// NOLINTEND\nb", &[1, 2, 3], &[]),
            ("a // NOLINT(x, y)", &[1], &[]),
            (
                "NOLINTS XLCOV_EXCL_LINE LCOV_EXCL_LINES LCOV_EXCL_ LCOV_EXCL_BR_",
                &[],
                &[],
            ),
            (
                "// LCOV_EXCL_STOP\na // LCOV_EXCL_EXCEPTION_BR_LINE",
                &[],
                &[],
            ),
        ] {
            assert_eq!(
                excluded_lines(text),
                (lines.to_vec(), branches.to_vec()),
                "{text}"
            );
        }
    }

    #[test]
    fn markers_of_functions_leave_out_all_of_their_lines() {
        for (text, lines) in [
            // Braces in strings and comments close nothing.
            (
                "int f(void) // GCOVR_EXCL_FUNCTION\n{\n  if (g(\"}\")) { h(); } // }\n}\nint k;",
                &[1, 2, 3, 4][..],
            ),
            (
                "a;\nint f(int n) { return n; } // LCOV_EXCL_FUNCTION\nb {\n}",
                &[2],
            ),
            (
                "void f(void); // GCOVR_EXCL_FUNCTION\nvoid g(void) {\n}",
                &[1],
            ),
            (
                "void f(void) {\n} // GCOVR_EXCL_FUNCTION\nvoid g(void) {\n}",
                &[2],
            ),
            ("void f(void) { // GCOVR_EXCL_FUNCTION\n a;", &[1]),
        ] {
            assert_eq!(excluded_lines(text), (lines.to_vec(), Vec::new()), "{text}");
        }
    }

    #[test]
    fn marker_in_a_string_is_reported() {
        for (text, lines, reported) in [
            (
                "const char *s = \"LCOV_EXCL_LINE\";\nint a;",
                &[1][..],
                &[1][..],
            ),
            (
                "s = \"\\\"LCOV_EXCL_LINE\"; t = R\"(\nLCOV_EXCL_LINE\n)\";\nint a;",
                &[1, 2],
                &[1, 2],
            ),
            ("let s = r#\"\n// LCOV_EXCL_LINE\n\"#;\n", &[2], &[2]),
            // A comment behind a string, and a quote that is none.
            (
                "s = \"a\"; // LCOV_EXCL_LINE\n! say \"so\nx ! LCOV_EXCL_LINE\n",
                &[1, 3],
                &[],
            ),
            ("'\"'; // LCOV_EXCL_LINE \"", &[1], &[]),
        ] {
            assert_eq!(excluded_lines(text).0, lines, "{text}");
            let remarks = Excluded::find(text, &[]).remarks.into_iter();
            assert_eq!(remarks.map(|r| r.0).collect::<Vec<_>>(), reported, "{text}");
        }
    }

    #[test]
    fn marker_without_its_counterpart_is_reported() {
        let remarks = |text| Excluded::find(text, &["NOLINT".into()]).remarks;
        let open = "nothing ends LCOV_EXCL_START, so all lines behind it are left out";
        assert_eq!(remarks("a\n// LCOV_EXCL_START\nb"), [(2, open.into())]);
        let branches = "nothing ends GCOV_EXCL_BR_START, so all branches behind it are left out";
        assert_eq!(remarks("// GCOV_EXCL_BR_START"), [(1, branches.into())]);
        let stop = "NOLINTEND ends nothing that began";
        assert_eq!(remarks("a\n// NOLINTEND"), [(2, stop.into())]);
        assert_eq!(remarks("// LCOV_EXCL_START\n// LCOV_EXCL_STOP"), []);
    }

    #[test]
    fn text_without_markers_excludes_nothing() {
        assert_eq!(Excluded::find("a\nb\n", &[]), Excluded::default());
    }
}
