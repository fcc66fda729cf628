//! Names from outside, of functions and of files, as people and other tools are to see them.
//!
//! A symbol may hold any byte but NUL, and so may the name of a file. What is stored and what JSON says is the
//! name as it is; what is printed goes through [`printable`], what a format cannot hold through [`escaped`].

mod brief;
mod filter;
mod printed;

pub(crate) use brief::{Briefs, brief, is_closure, variants};
pub(crate) use filter::{
    Filter, REGEX_PROBLEM, describe_regex_problem, may_print, nearest_names, parse_function_pattern,
};
pub(crate) use printed::{Naming, PrintedNames, TypedNames};

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

/// The longest readable name: a few hundred bytes of a symbol can refer back to themselves until they stand for
/// gigabytes.
const LONGEST: usize = 1 << 16;

/// A symbol as its source names it, if it is a mangled one of C++ (`_Z`, `__Z`) or Rust (`_R`, or `_ZN` with a
/// hash); else as it is. `\01`, by which LLVM marks a symbol as final, is left out. What an optimiser appended to
/// a mangled name stays, in the demangler's words: `f() [clone .cold]`, `f() (.isra.0)`.
///
/// Demanglers take types as well: without its prefix a C function `f` would be `float`. O(length).
pub(crate) fn readable(symbol: &str) -> Cow<'_, str> {
    let symbol = symbol.strip_prefix('\u{1}').unwrap_or(symbol);
    if !["_Z", "__Z", "_R"].iter().any(|p| symbol.starts_with(p)) {
        return symbol.into();
    }
    let mut name = Bounded(String::new());
    let demangled = match rustc_demangle::try_demangle(symbol) {
        Ok(rust) => fmt::write(&mut name, format_args!("{rust:#}")).is_ok(),
        Err(_) => cpp_demangle::Symbol::new(symbol).is_ok_and(|s| {
            s.structured_demangle(&mut name, &Default::default())
                .is_ok()
        }),
    };
    if demangled {
        name.0.into()
    } else {
        symbol.into()
    }
}

/// The readable name of a symbol of Rust, in which the hashes are left out by which builds of one crate differ. `None` for
/// other symbols. O(length).
pub(crate) fn without_build_hash(symbol: &str) -> Option<String> {
    let is_of_rust = rustc_demangle::try_demangle(symbol).is_ok();
    is_of_rust.then(|| readable(symbol).into_owned())
}

/// A text that takes no more than [`LONGEST`] bytes.
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// `text` in one line that a terminal takes for nothing but text: what is not printable (control characters, line
/// ends, what turns the direction of writing) stands as Rust writes it, `\n` or `\u{1b}`. O(length).
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return text.into();
    }
    // Quotes and backslashes, which `escape_debug` also knows to escape, are printable.
    let mut out = String::with_capacity(text.len() + 16);
    for part in text.split_inclusive(['"', '\'', '\\']) {
        let plain = part.trim_end_matches(['"', '\'', '\\']);
        out.extend(plain.escape_debug());
        out.push_str(&part[plain.len()..]);
    }
    out.into()
}

/// The name of a file without `.`, `//` and folders that `..` leaves at once: `build/../lib/x.c` is `lib/x.c`. O(length).
///
/// By the name alone. Where a program was compiled need not be here, and reports are to be the same everywhere; otherwise one file has as
/// many names as folders that it was compiled from. Behind a symbolic link to a folder, `..` leads elsewhere: such a file is found by
/// `--source-dir` or `--path-map`.
pub(crate) fn normalised(file: &str) -> Cow<'_, str> {
    let root = if file.starts_with('/') { "/" } else { "" };
    let mut parts: Vec<&str> = Vec::new();
    for part in file.split('/') {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            ("..", None) if !root.is_empty() => {}
            _ => parts.push(part),
        }
    }
    let name = format!("{root}{}", parts.join("/"));
    match name.as_str() {
        "" if !file.is_empty() => ".".into(),
        same if same == file => file.into(),
        _ => name.into(),
    }
}

/// The readable name of a symbol, as it is printed.
pub(crate) fn shown(symbol: &str) -> String {
    printable(&readable(symbol)).into_owned()
}

/// One word of a command as a shell takes it. What it cannot quote stays as it is.
pub(crate) fn quote_for_shell(word: String) -> String {
    let quoted = shlex::try_quote(&word).map(|q| q.into_owned());
    quoted.unwrap_or(word)
}

/// Whether a file of this name is a shared library: `libz.so`, `libz.so.1.3`.
pub(crate) fn is_shared_library(file: &str) -> bool {
    file.ends_with(".so") || file.contains(".so.")
}

/// A line names so many functions, of which other commands list all.
pub(crate) const NAMED_FUNCTIONS: usize = 3;
/// A line names so many programs.
pub(crate) const NAMED_PROGRAMS: usize = 5;

/// The first of `names` where there are more than `most`: `a, b, c and 7 more`.
pub(crate) fn first_names(most: usize, names: impl ExactSizeIterator<Item = String>) -> String {
    let more = match names.len().saturating_sub(most) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let first: Vec<String> = names.take(most).collect();
    first.join(", ") + &more
}

/// A readable name in at most `width` columns, as far as its parts allow: what stands between angle brackets becomes
/// `<…>`, then parameters `(…)`, the longest first; then scopes go, the outermost first, since the last part tells
/// most; then the middle of what is left.
pub(crate) fn fitted(name: &str, width: usize) -> String {
    let mut name = name.to_string();
    for brackets in [('<', '>'), ('(', ')')] {
        while name.chars().count() > width
            && let Some(range) = longest_between(&name, brackets)
        {
            name.replace_range(range, "…");
        }
    }
    let length = name.chars().count();
    if length <= width {
        return name;
    }
    let mut inner = scopes(&name).map(|end| format!("…{end}"));
    if let Some(short) = inner.find(|s| s.chars().count() <= width) {
        return short;
    }
    let last = width.saturating_sub(1) / 2;
    let first = width.saturating_sub(1) - last;
    let front: String = name.chars().take(first).collect();
    let back: String = name.chars().skip(length - last).collect();
    format!("{front}…{back}")
}

/// A name from the end of each of its scopes on, the longest first: `::b::f` and `::f` of `a::b::f`.
fn scopes(name: &str) -> impl Iterator<Item = &str> {
    let is_whole = |scope: &str| {
        let count = |c: char| scope.matches(c).count();
        [('<', '>'), ('(', ')'), ('{', '}')]
            .iter()
            .all(|(open, close)| count(*open) == count(*close))
    };
    let ends = name.match_indices("::").map(|(i, _)| i);
    ends.filter(move |i| is_whole(&name[..*i]))
        .map(|i| &name[i..])
}

/// A file's name in at most `width` columns: of the folders before its last part those nearest to it stay, as far as
/// there is room. Without room for the last part, the middle of everything goes.
pub(crate) fn fitted_path(path: &str, width: usize) -> String {
    if path.chars().count() <= width {
        return path.to_string();
    }
    let ends = path.match_indices('/').map(|(i, _)| &path[i..]);
    let short = ends
        .map(|end| format!("…{end}"))
        .find(|short| short.chars().count() <= width);
    short.unwrap_or_else(|| fitted(path, width))
}

/// The same for a name among others that are shown beside it: where one of these would read alike, the name shows what tells it from
/// them instead. O(others, and length of those alike).
pub(crate) fn fitted_among<'a>(
    name: &str,
    others: impl Iterator<Item = &'a str>,
    width: usize,
) -> String {
    let fit = fitted(name, width);
    if fit == name {
        return fit;
    }
    // What is cut keeps its front, or loses its scopes.
    let lost_scopes = fit.starts_with('…');
    let begins = |other: &str| lost_scopes || other.chars().take(3).eq(name.chars().take(3));
    let alike = others.filter(|o| *o != name && begins(o));
    let mut alike: Vec<&str> = alike.filter(|o| fitted(o, width) == fit).collect();
    if alike.is_empty() {
        return fit;
    }
    alike.sort_unstable();
    alike.dedup();
    if let Some(short) = keep_own_scope(name, &alike, width) {
        return short;
    }
    let letters: Vec<char> = name.chars().collect();
    let common = |other: &&str| {
        let both = letters.iter().zip(other.chars());
        both.take_while(|(a, b)| **a == *b).count()
    };
    // The end of what the name shares with any of them.
    let parts = alike.iter().map(common).max().unwrap_or(0);
    let told = letters
        .len()
        .saturating_sub(parts)
        .min(width.saturating_sub(2) / 2)
        .max(1);
    let tail: String = letters.iter().skip(parts).take(told).collect();
    let ends = parts + told >= letters.len();
    let front = width
        .saturating_sub(told + if ends { 1 } else { 2 })
        .min(parts);
    let head: String = letters.iter().take(front).collect();
    let gap = if front < parts { "…" } else { "" };
    format!("{head}{gap}{tail}{}", if ends { "" } else { "…" })
}

/// `a::…::f`: the last part of `name`, and the outermost scope that none of `others` has there, if `width` has room for
/// both. O(length of all).
fn keep_own_scope(name: &str, others: &[&str], width: usize) -> Option<String> {
    let split = |name: &str| -> Vec<String> {
        let ends: Vec<&str> = scopes(name).collect();
        let lengths = ends.iter().map(|end| name.len() - end.len());
        let starts = ends.iter().map(|end| name.len() - end.len() + "::".len());
        let starts = std::iter::once(0).chain(starts);
        let parts = starts.zip(lengths.chain([name.len()]));
        parts.map(|(i, end)| name[i..end].to_string()).collect()
    };
    let parts = split(name);
    let others: Vec<Vec<String>> = others.iter().map(|other| split(other)).collect();
    let is_own = |i: &usize| others.iter().all(|other| other.get(*i) != parts.get(*i));
    let last = parts.len() - 1;
    let own = (0..last).find(is_own)?;
    let front = if own > 0 { "…::" } else { "" };
    let gap = if own + 1 < last { "::…" } else { "" };
    let short = format!("{front}{}{gap}::{}", parts[own], parts[last]);
    (short.chars().count() <= width).then_some(short)
}

/// Names that are shown beside each other. Of many thousand, only those that would read alike are compared.
pub(crate) struct Beside {
    names: Vec<String>,
    /// By width: the names that read so.
    alike: RefCell<HashMap<usize, HashMap<String, Vec<usize>>>>,
}

impl Beside {
    pub(crate) fn new(names: Vec<String>) -> Beside {
        Beside {
            names,
            alike: RefCell::default(),
        }
    }

    /// [`fitted_among`] these names, of which it may be one. O(names that read alike), and for a width that is new
    /// O(names).
    pub(crate) fn fit(&self, name: &str, width: usize) -> String {
        let fit = fitted(name, width);
        if fit == name {
            return fit;
        }
        let mut alike = self.alike.borrow_mut();
        let alike = alike.entry(width).or_insert_with(|| {
            let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
            for (i, name) in self.names.iter().enumerate() {
                alike.entry(fitted(name, width)).or_default().push(i);
            }
            alike
        });
        let others = alike.get(&fit).into_iter().flatten();
        fitted_among(name, others.map(|&i| self.names[i].as_str()), width)
    }
}

/// The longest text between outermost brackets that is longer than what replaces it.
fn longest_between(name: &str, (open, close): (char, char)) -> Option<std::ops::Range<usize>> {
    let (mut depth, mut start) = (0usize, 0);
    let mut longest: Option<std::ops::Range<usize>> = None;
    for (i, c) in name.char_indices() {
        // `operator<`, `operator->`.
        let operator = name[..i].ends_with(['<', '-', '>']) && c == '>' && depth == 0
            || "<>".contains(c) && name[..i].trim_end_matches(['<', '>']).ends_with("operator");
        if operator {
            continue;
        }
        if c == open {
            depth += 1;
            start = if depth == 1 { i + 1 } else { start };
        } else if c == close && depth > 0 {
            depth -= 1;
            let longer = longest.as_ref().is_none_or(|l| i - start > l.len());
            if depth == 0 && i - start > '…'.len_utf8() && longer {
                longest = Some(start..i);
            }
        }
    }
    longest
}

/// [`printable`], with each of `characters` as `\u{…}`: for formats to which they mean something and that
/// have no way of quoting. O(length).
pub(crate) fn escaped(text: &str, characters: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        if characters.contains(&c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// `text` for between quotes in Graphviz's language, as an identifier or as part of a label. O(length).
pub(crate) fn dot_escaped(text: &str) -> String {
    // Backslashes begin escapes in labels, ampersands entities.
    printable(text)
        .replace('\\', "\\\\")
        .replace('&', "&amp;")
        .replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_one_name() {
        for (name, normal) in [
            ("build/../lib/x.c", "lib/x.c"),
            ("/p/./build/a/../../lib//x.c", "/p/lib/x.c"),
            ("../../x.c", "../../x.c"),
            ("a/../../x.c", "../x.c"),
            ("/../x.c", "/x.c"),
            ("./x.c", "x.c"),
            ("x.c", "x.c"),
            ("a/..", "."),
            ("", ""),
            ("<stdin>", "<stdin>"),
            ("a..b/...", "a..b/..."),
        ] {
            assert_eq!(normalised(name), normal, "{name}");
            assert_eq!(normalised(&normalised(name)), normal, "{name}");
        }
    }

    #[test]
    fn plain_names_stay() {
        for name in [
            "f", "i", "St", "Sa", "main", "Z3fv", "ZN1a1bE", "R", "v", "_Znoise", "_R", "_Z", "",
        ] {
            assert_eq!(readable(name), name);
        }
        for name in [
            "sort.llvm.123",
            "sort.cold",
            "sort.isra.0",
            "_GLOBAL__sub_I_a.cpp",
            "?f@@YAXXZ",
        ] {
            assert_eq!(readable(name), name);
        }
    }

    #[test]
    fn mangled_names_are_demangled() {
        let cases = [
            ("_Z3foov", "foo()"),
            ("__Z3foov", "foo()"),
            ("\u{1}_Z3foov", "foo()"),
            ("\u{1}plain", "plain"),
            ("_Z1fi", "f(int)"),
            (
                "_ZN3std6string6String3new17h0123456789abcdefE",
                "std::string::String::new",
            ),
            ("_RNvC6_123foo3bar", "123foo::bar"),
        ];
        for (symbol, name) in cases {
            assert_eq!(readable(symbol), name);
        }
    }

    /// Versions of one function stay apart, and are told by its readable name.
    #[test]
    fn suffixes_of_optimisers() {
        for symbol in [
            "_Z3foov",
            "_RNvC6_123foo3bar",
            "_ZN3foo3bar17h0123456789abcdefE",
        ] {
            let name = readable(symbol).into_owned();
            for suffix in [".cold", ".isra.0", ".part.1", ".llvm.123"] {
                let versioned = format!("{symbol}{suffix}");
                let readable = readable(&versioned);
                assert!(readable.starts_with(&name), "{versioned}: {readable}");
            }
        }
    }

    /// Back references double the name with every few bytes.
    #[test]
    fn names_stay_short() {
        let mut symbol = "_Z1f1AIiiE".to_string();
        for i in 0..60u32 {
            let last = char::from_digit(i.min(35), 36)
                .unwrap()
                .to_ascii_uppercase();
            symbol += &format!("1AIS{last}_S{last}_E");
        }
        assert!(readable(&symbol).len() <= LONGEST);
    }

    /// A namespace or class that differs is shown with the function's name.
    #[test]
    fn scopes_that_differ_are_shown() {
        let names = [
            "pugih::impl::xml_parser::parse_tree",
            "pugi::impl::xml_parser::parse_tree",
        ];
        let fit = |name| fitted_among(name, names.into_iter(), 26);
        assert_eq!(
            names.map(fit),
            ["pugih::…::parse_tree", "pugi::…::parse_tree"]
        );
        let names = ["outer::First::insert_all", "outer::Second::insert_all"];
        let fit = |name| fitted_among(name, names.into_iter(), 23);
        assert_eq!(
            names.map(fit),
            ["…::First::insert_all", "…::Second::insert_all"]
        );
    }

    #[test]
    fn names_that_fit() {
        let name = "std::map<int, std::pair<A, B>>::at<long>(int const&, long) const";
        for (width, expected) in [
            (80, name),
            (60, "std::map<…>::at<long>(int const&, long) const"),
            (40, "std::map<…>::at<…>(…) const"),
            (20, "…::at<…>(…) const"),
            (14, "std::ma… const"),
        ] {
            let fitted = fitted(name, width);
            assert_eq!(fitted, expected);
            assert!(fitted.chars().count() <= width);
        }
        assert_eq!(fitted("operator<<(abc&, abcd)", 16), "operator<<(…)");
        assert_eq!(
            fitted("outer::inner::insert_if_absent", 30),
            "outer::inner::insert_if_absent"
        );
        assert_eq!(
            fitted("outer::inner::insert_if_absent", 29),
            "…::inner::insert_if_absent"
        );
        assert_eq!(
            fitted("outer::inner::insert_if_absent", 22),
            "…::insert_if_absent"
        );
        // Brackets of operators are none: the middle goes.
        assert_eq!(fitted("a::operator<<(abc&)::b::c", 12), "a::ope…:b::c");
        assert_eq!(fitted("", 3), "");
    }

    /// Instances of a template that fit alike show what tells them apart.
    #[test]
    fn names_of_different_functions_are_cut_apart() {
        let names = [
            "sum<int, 4>",
            "sum<double, 3>",
            "sum<int, 5>",
            "other<int, 4>",
        ];
        for width in 7..16 {
            let shown = names.map(|name| fitted_among(name, names.into_iter(), width));
            let different: std::collections::BTreeSet<&String> = shown.iter().collect();
            assert_eq!(different.len(), names.len(), "{shown:?}");
            assert!(
                shown.iter().all(|s| s.chars().count() <= width),
                "{width}: {shown:?}"
            );
        }
        assert_eq!(
            fitted_among("sum<int, 4>", names.into_iter().skip(3), 7),
            "sum<…>"
        );
        // Grouped by how they read, names and one that is not among them are cut in the same way.
        let beside = Beside::new(names.map(String::from).to_vec());
        for width in (7..16).rev().chain(7..16) {
            for name in names.into_iter().chain(["sum<int, 6>"]) {
                let expected = fitted_among(name, names.into_iter(), width);
                assert_eq!(beside.fit(name, width), expected);
            }
        }
    }

    #[test]
    fn nothing_but_text_is_printed() {
        let hostile = "a\nb\r\t\u{1b}[31m\u{7f}\u{9b}\u{202e}\0é\"'\\ ünï";
        let shown = printable(hostile);
        assert_eq!(
            shown,
            "a\\nb\\r\\t\\u{1b}[31m\\u{7f}\\u{9b}\\u{202e}\\0é\"'\\ ünï"
        );
        assert_eq!(printable(&shown), shown);
        assert_eq!(printable("a \"b\" \\ c"), "a \"b\" \\ c");
        assert_eq!(escaped("a,b;c\n", &[',', ';']), "a\\u{2c}b\\u{3b}c\\n");
        assert_eq!(dot_escaped("a\"&\\\n"), r#"a\"&amp;\\\\n"#);
    }
}
