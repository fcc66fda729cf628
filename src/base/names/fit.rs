//! Names in little room. Room is in columns of a terminal: most characters take one, those of Chinese, Japanese and
//! Korean two, marks that combine with the character before them none.

use super::brackets::{Character, characters, outside_brackets};
use std::cell::{Ref, RefCell};
use std::collections::HashMap;
use textwrap::core::display_width;
use unicode_width::UnicodeWidthChar;

/// As many of the first characters of `text` as `width` columns have room for. O(length of these).
pub(crate) fn first_columns(text: &str, width: usize) -> &str {
    let end = find_last_fitting(
        text.char_indices().map(|(i, c)| (i + c.len_utf8(), c)),
        width,
    );
    &text[..end.unwrap_or(0)]
}

/// As many of the last characters of `text` as `width` columns have room for. O(length of these).
pub(crate) fn last_columns(text: &str, width: usize) -> &str {
    let start = find_last_fitting(text.char_indices().rev(), width);
    &text[start.unwrap_or(text.len())..]
}

/// The byte at which the last of `characters` that `width` columns have room for ends; `None` if there is no room for
/// any.
fn find_last_fitting(
    characters: impl Iterator<Item = (usize, char)>,
    width: usize,
) -> Option<usize> {
    let mut left = width;
    let fitting = characters.map_while(|(i, c)| {
        left = left.checked_sub(c.width().unwrap_or(0))?;
        Some(i)
    });
    fitting.last()
}

/// A readable name in at most `width` columns, as far as its parts allow: what stands between angle brackets becomes
/// `<…>`, then parameters `(…)`, the longest first; then scopes go, the outermost first, since the last part tells
/// most; then the middle of what is left.
pub(crate) fn fit_readable_name(name: &str, width: usize) -> String {
    let mut name = name.to_string();
    for brackets in [('<', '>'), ('(', ')')] {
        while display_width(&name) > width
            && let Some(range) = longest_between(&name, brackets)
        {
            name.replace_range(range, "…");
        }
    }
    if display_width(&name) <= width {
        return name;
    }
    let mut inner = scopes(&name).map(|end| format!("…{end}"));
    if let Some(short) = inner.find(|s| display_width(s) <= width) {
        return short;
    }
    let back = last_columns(&name, width.saturating_sub(1) / 2);
    let front = first_columns(&name, width.saturating_sub(1 + display_width(back)));
    format!("{front}…{back}")
}

/// A name from the end of each of its scopes on, the longest first: `::b::f` and `::f` of `a::b::f`.
fn scopes(name: &str) -> impl Iterator<Item = &str> {
    let outside = outside_brackets(name).map(|(at, _)| &name[at..]);
    outside.filter(|end| end.starts_with("::"))
}

/// A file's name in at most `width` columns: of the folders before its last part those nearest to it stay, as far as
/// there is room. Without room for the last part, the middle of everything goes.
pub(crate) fn fitted_path(path: &str, width: usize) -> String {
    if display_width(path) <= width {
        return path.to_string();
    }
    let ends = path.match_indices('/').map(|(i, _)| &path[i..]);
    let short = ends
        .map(|end| format!("…{end}"))
        .find(|short| display_width(short) <= width);
    short.unwrap_or_else(|| fit_readable_name(path, width))
}

/// A readable name in at most `width` columns, among others that are shown beside it: where [`fit_readable_name`] would
/// make it and one of these read alike, it shows what tells it from them. O(others, and length of those alike).
pub(crate) fn fitted_among<'a>(
    name: &str,
    others: impl Iterator<Item = &'a str>,
    width: usize,
) -> String {
    let fit = fit_readable_name(name, width);
    if fit == name {
        return fit;
    }
    // What is cut keeps its front, or loses its scopes.
    let lost_scopes = fit.starts_with('…');
    let begins = |other: &str| lost_scopes || other.chars().take(3).eq(name.chars().take(3));
    let alike = others.filter(|o| *o != name && begins(o));
    let mut alike: Vec<&str> = alike
        .filter(|o| fit_readable_name(o, width) == fit)
        .collect();
    if alike.is_empty() {
        return fit;
    }
    alike.sort_unstable();
    alike.dedup();
    if let Some(short) = keep_own_scope(name, &alike, width) {
        return short;
    }
    let common = |other: &&str| {
        let both = name.char_indices().zip(other.chars());
        let differs = both.into_iter().find(|((_, a), b)| a != b);
        differs.map_or(name.len().min(other.len()), |((i, _), _)| i)
    };
    // The end of what the name shares with any of them.
    let parts = alike.iter().map(common).max().unwrap_or(0);
    let (shared, own) = name.split_at(parts);
    let told = first_columns(own, width.saturating_sub(2) / 2);
    let told = match own.chars().next() {
        Some(first) if told.is_empty() => &own[..first.len_utf8()],
        _ => told,
    };
    let ends = told.len() == own.len();
    let taken = display_width(told) + if ends { 1 } else { 2 };
    let head = first_columns(shared, width.saturating_sub(taken));
    let gap = if head.len() < shared.len() { "…" } else { "" };
    format!("{head}{gap}{told}{}", if ends { "" } else { "…" })
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
    (display_width(&short) <= width).then_some(short)
}

/// Names that are shown beside each other. Of many thousand, only those that would read alike are compared.
pub(crate) struct Beside {
    names: Vec<String>,
    alike: RefCell<Alike>,
    alike_paths: RefCell<Alike>,
}

/// By width: the names that read so.
type Alike = HashMap<usize, HashMap<String, Vec<usize>>>;

impl Beside {
    pub(crate) fn new(names: Vec<String>) -> Beside {
        Beside {
            names,
            alike: RefCell::default(),
            alike_paths: RefCell::default(),
        }
    }

    /// [`fitted_path`], or [`Beside::fit_name`] if another of the names would read alike. O(names that read alike), and
    /// for a width that is new O(names).
    pub(crate) fn fit_path(&self, path: &str, width: usize) -> String {
        let fit = fitted_path(path, width);
        if fit == path {
            return fit;
        }
        let alike = self.find_alike(&self.alike_paths, fitted_path, &fit, width);
        if alike.iter().all(|&i| self.names[i] == path) {
            fit
        } else {
            self.fit_name(path, width)
        }
    }

    /// [`fitted_among`] these names, of which it may be one. O(names that read alike), and for a width that is new
    /// O(names).
    pub(crate) fn fit_name(&self, name: &str, width: usize) -> String {
        let fit = fit_readable_name(name, width);
        if fit == name {
            return fit;
        }
        let alike = self.find_alike(&self.alike, fit_readable_name, &fit, width);
        fitted_among(name, alike.iter().map(|&i| self.names[i].as_str()), width)
    }

    /// The numbers of the names that `fitted` shows as `shown` in so many columns, `known` for widths that were asked
    /// for before.
    fn find_alike<'a>(
        &self,
        known: &'a RefCell<Alike>,
        fitted: impl Fn(&str, usize) -> String,
        shown: &str,
        width: usize,
    ) -> Ref<'a, [usize]> {
        known.borrow_mut().entry(width).or_insert_with(|| {
            let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
            for (i, name) in self.names.iter().enumerate() {
                alike.entry(fitted(name, width)).or_default().push(i);
            }
            alike
        });
        Ref::map(known.borrow(), |known| {
            known[&width].get(shown).map_or(&[][..], Vec::as_slice)
        })
    }
}

/// The longest text between outermost brackets that is longer than what replaces it.
fn longest_between(name: &str, (open, close): (char, char)) -> Option<std::ops::Range<usize>> {
    let (mut depth, mut start) = (0usize, 0);
    let mut longest: Option<std::ops::Range<usize>> = None;
    for Character { at, c, .. } in characters(name).filter(|c| c.side.is_some()) {
        if c == open {
            depth += 1;
            start = if depth == 1 { at + 1 } else { start };
        } else if c == close && depth > 0 {
            depth -= 1;
            let longer = longest.as_ref().is_none_or(|l| at - start > l.len());
            if depth == 0 && at - start > '…'.len_utf8() && longer {
                longest = Some(start..at);
            }
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let fitted = fit_readable_name(name, width);
            assert_eq!(fitted, expected);
            assert!(display_width(&fitted) <= width);
        }
        assert_eq!(
            fit_readable_name("operator<<(abc&, abcd)", 16),
            "operator<<(…)"
        );
        assert_eq!(
            fit_readable_name("outer::inner::insert_if_absent", 30),
            "outer::inner::insert_if_absent"
        );
        assert_eq!(
            fit_readable_name("outer::inner::insert_if_absent", 29),
            "…::inner::insert_if_absent"
        );
        assert_eq!(
            fit_readable_name("outer::inner::insert_if_absent", 22),
            "…::insert_if_absent"
        );
        // The signs of an operator are no brackets: its scope goes like any other.
        assert_eq!(
            fit_readable_name("a::operator<<(abc&)::b::c", 12),
            "…::b::c"
        );
        assert_eq!(fit_readable_name("", 3), "");
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
                shown.iter().all(|s| display_width(s) <= width),
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
                assert_eq!(beside.fit_name(name, width), expected);
            }
        }
    }
    /// A character may take two columns, or none.
    #[test]
    fn room_is_columns_and_not_characters() {
        let path = "コード/数学/素数の一覧.c";
        let names = [
            "名前空間::関数<整数>",
            "名前空間::関数<実数>",
            "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}",
        ];
        for width in 1..30 {
            let fit = fitted_path(path, width);
            assert!(display_width(&fit) <= width, "{width}: {fit}");
            for name in names {
                let fit = fit_readable_name(name, width);
                assert!(display_width(&fit) <= width, "{width}: {fit}");
            }
        }
        for width in 7..20 {
            let shown = names.map(|name| fitted_among(name, names.into_iter(), width));
            assert_ne!(shown[0], shown[1], "{width}");
            assert!(
                shown.iter().all(|s| display_width(s) <= width),
                "{width}: {shown:?}"
            );
        }
        assert_eq!(fitted_path(path, 18), "…/素数の一覧.c");
        assert_eq!(fit_readable_name(names[2], 5), names[2]);
        assert_eq!(
            (first_columns("日本語", 5), last_columns("日本語", 5)),
            ("日本", "本語")
        );
        assert_eq!((first_columns("日本語", 1), last_columns("", 1)), ("", ""));
    }
}
