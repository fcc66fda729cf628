//! Names from outside, of functions and of files, as people and other tools are to see them.
//!
//! A symbol may hold any byte but NUL, and so may the name of a file. What is stored and what JSON says is the
//! name as it is; what is printed goes through [`escape_unprintable`], what a format cannot hold through
//! [`escape_also`].

mod brackets;
mod brief;
mod filter;
mod fit;
mod printed;

pub(crate) use brief::{Briefs, brief_name, is_closure, variants};
pub(crate) use filter::{
    Filter, REGEX_PROBLEM, describe_regex_problem, may_print, nearest_names, parse_function_pattern,
};
pub(crate) use fit::{Beside, first_columns, fit_readable_name, fitted_among, last_columns};
pub(crate) use printed::{Naming, PrintedNames, TypedNames};

use std::borrow::Cow;
use std::fmt;

/// The longest readable name: a few hundred bytes of a symbol can refer back to themselves until they stand for
/// gigabytes.
const LONGEST: usize = 1 << 16;

/// A symbol as its source names it, if it is a mangled one of C++ (`_Z`, `__Z`) or Rust (`_R`, or `_ZN` with a
/// hash); else as it is. `\01`, by which LLVM marks a symbol as final, is left out. What an optimiser appended to
/// a mangled name stays, in the demangler's words: `f() [clone .cold]`, `f() (.isra.0)`.
///
/// Demanglers take types as well: without its prefix a C function `f` would be `float`. O(length).
pub(crate) fn readable_name(symbol: &str) -> Cow<'_, str> {
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

/// The readable name of a symbol of Rust, in which the hashes are left out by which builds of one crate differ. `None`
/// for other symbols. O(length).
pub(crate) fn without_build_hash(symbol: &str) -> Option<String> {
    let is_of_rust = rustc_demangle::try_demangle(symbol).is_ok();
    is_of_rust.then(|| readable_name(symbol).into_owned())
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
pub(crate) fn escape_unprintable(text: &str) -> Cow<'_, str> {
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

/// The name of a file without `.`, `//` and folders that `..` leaves at once: `build/../lib/x.c` is `lib/x.c`.
/// O(length).
///
/// By the name alone. Where a program was compiled need not be here, and reports are to be the same everywhere;
/// otherwise one file has as many names as folders that it was compiled from. Behind a symbolic link to a folder, `..`
/// leads elsewhere: such a file is found by `--source-dir` or `--path-map`.
pub(crate) fn normalise_path(file: &str) -> Cow<'_, str> {
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
pub(crate) fn printed_name(symbol: &str) -> String {
    escape_unprintable(&readable_name(symbol)).into_owned()
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

/// [`escape_unprintable`], with each of `characters` as `\u{…}`: for formats to which they mean something and that
/// have no way of quoting. O(length).
pub(crate) fn escape_also(text: &str, characters: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape_unprintable(text).chars() {
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
    escape_unprintable(text)
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
            assert_eq!(normalise_path(name), normal, "{name}");
            assert_eq!(normalise_path(&normalise_path(name)), normal, "{name}");
        }
    }

    #[test]
    fn plain_names_stay() {
        for name in [
            "f", "i", "St", "Sa", "main", "Z3fv", "ZN1a1bE", "R", "v", "_Znoise", "_R", "_Z", "",
        ] {
            assert_eq!(readable_name(name), name);
        }
        for name in [
            "sort.llvm.123",
            "sort.cold",
            "sort.isra.0",
            "_GLOBAL__sub_I_a.cpp",
            "?f@@YAXXZ",
        ] {
            assert_eq!(readable_name(name), name);
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
            assert_eq!(readable_name(symbol), name);
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
            let name = readable_name(symbol).into_owned();
            for suffix in [".cold", ".isra.0", ".part.1", ".llvm.123"] {
                let versioned = format!("{symbol}{suffix}");
                let readable = readable_name(&versioned);
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
        assert!(readable_name(&symbol).len() <= LONGEST);
    }

    #[test]
    fn nothing_but_text_is_printed() {
        let hostile = "a\nb\r\t\u{1b}[31m\u{7f}\u{9b}\u{202e}\0é\"'\\ ünï";
        let shown = escape_unprintable(hostile);
        assert_eq!(
            shown,
            "a\\nb\\r\\t\\u{1b}[31m\\u{7f}\\u{9b}\\u{202e}\\0é\"'\\ ünï"
        );
        assert_eq!(escape_unprintable(&shown), shown);
        assert_eq!(escape_unprintable("a \"b\" \\ c"), "a \"b\" \\ c");
        assert_eq!(escape_also("a,b;c\n", &[',', ';']), "a\\u{2c}b\\u{3b}c\\n");
        assert_eq!(dot_escaped("a\"&\\\n"), r#"a\"&amp;\\\\n"#);
    }
}
