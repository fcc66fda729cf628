//! Short names: what tells functions apart on a screen, without types that everybody knows.

use super::brackets::{ends_with_operator, find_closing, leading_signs, outside_brackets};
use super::{Bounded, LONGEST, escape_unprintable, readable_name};
use cpp_demangle::{DemangleOptions, Symbol};
use std::collections::HashMap;

/// So many parts of a qualified name are kept, the last ones.
const PARTS: usize = 2;

/// A symbol's name without return type, parameters, template arguments and the namespaces around its class, as it may
/// be printed: `RegEx::MatchUnchecked` for `YAML::RegEx::MatchUnchecked(…) const`, `Iterator::next` for
/// `<T as core::iter::Iterator>::next`, `main::{lambda#1}` for the call of a lambda. Several symbols may have one.
/// O(length).
pub(crate) fn brief_name(symbol: &str) -> String {
    let name = name_without_signature(symbol);
    let name = without_arguments(&name);
    let mut parts = scope_names(&name);
    // A Rust path begins with its crate.
    if parts.len() == 2
        && !parts[1].starts_with('{')
        && is_of_rust(symbol)
        && !begins_with_type(symbol)
    {
        parts.remove(0);
    }
    let first = parts.len().saturating_sub(PARTS);
    escape_unprintable(&parts[first..].join("::")).into_owned()
}

fn is_of_rust(symbol: &str) -> bool {
    rustc_demangle::try_demangle(symbol).is_ok()
}

/// Whether a Rust path begins with a type in angle brackets, and not with a crate.
fn begins_with_type(symbol: &str) -> bool {
    name_without_signature(symbol).starts_with('<')
}

/// Whether a symbol is that of a lambda of C++ or of a closure of Rust.
pub(crate) fn is_closure(symbol: &str) -> bool {
    ["Ul", "$_", "closure"]
        .iter()
        .any(|mark| symbol.contains(mark))
        && is_unnamed(&brief_name(symbol))
}

fn is_unnamed(name: &str) -> bool {
    name.ends_with('}') && (name.contains("{lambda#") || name.contains("{closure"))
}

/// A symbol's short name with template arguments, each in short, without those that are nearly always the same.
pub(super) fn name_with_arguments(symbol: &str) -> String {
    let name = name_without_signature(symbol);
    if name.starts_with('<') {
        return of_a_type(&name).unwrap_or_else(|| brief_name(symbol));
    }
    let parts = split_scopes(&name);
    let first = parts.len().saturating_sub(PARTS);
    let kept: Vec<String> = parts[first..]
        .iter()
        .map(|part| shortened_arguments(part))
        .collect();
    escape_unprintable(&kept.join("::")).into_owned()
}

/// `<String as Display>::fmt` for `<alloc::string::String as core::fmt::Display>::fmt`.
fn of_a_type(name: &str) -> Option<String> {
    let end = find_closing(name);
    let (ty, of) = name.get(1..end)?.split_once(AS)?;
    let last = |path: &str| scope_names(&without_arguments(path)).pop();
    let behind = name.get(end + 1..)?.strip_prefix("::")?;
    let behind = scope_names(&without_arguments(behind)).join("::");
    let name = format!("<{} as {}>::{behind}", last(ty)?, last(of)?);
    Some(escape_unprintable(&name).into_owned())
}

/// Template arguments that tell no two types apart which people tell apart.
const USUAL: [&str; 6] = [
    "allocator",
    "char_traits",
    "less",
    "default_delete",
    "hash",
    "equal_to",
];

/// `vector<RegEx>` for `vector<YAML::RegEx, std::allocator<YAML::RegEx> >`.
fn shortened_arguments(part: &str) -> String {
    let Some(open) = part
        .find('<')
        .filter(|&i| i > 0 && !ends_with_operator(&part[..i]))
    else {
        return shortened_part(part);
    };
    let close = open + find_closing(&part[open..]);
    let mut arguments = Vec::new();
    let mut rest = part.get(open + 1..close).unwrap_or("");
    while !rest.is_empty() {
        let end = find_comma(rest);
        let name = without_arguments(rest[..end].trim());
        let last = split_scopes(&name).pop().unwrap_or_default().to_string();
        if !USUAL.contains(&last.as_str()) {
            arguments.push(last);
        }
        rest = rest.get(end + 1..).unwrap_or("");
    }
    let behind = part.get(close + 1..).unwrap_or("");
    format!("{}<{}>{behind}", &part[..open], arguments.join(", "))
}

/// The byte of the first comma outside of brackets, or the end.
fn find_comma(text: &str) -> usize {
    let comma = outside_brackets(text).find(|(_, c)| *c == ',');
    comma.map_or(text.len(), |(at, _)| at)
}

/// The readable name without what a call takes and gives.
pub(super) fn name_without_signature(symbol: &str) -> String {
    let plain = symbol.strip_prefix('\u{1}').unwrap_or(symbol);
    let mangled = plain.starts_with("_Z") || plain.starts_with("__Z");
    if !mangled || rustc_demangle::try_demangle(plain).is_ok() {
        return readable_name(symbol).into_owned();
    }
    let mut name = Bounded(String::new());
    let options = DemangleOptions::new().no_params().no_return_type();
    let demangled =
        Symbol::new(plain).is_ok_and(|s| s.structured_demangle(&mut name, &options).is_ok());
    if demangled && name.0.len() < LONGEST {
        // Qualifiers of the object that a member function is called for.
        // A reference is set apart from the name, that of `operator&` is not.
        let plain = name.0.trim_end_matches(" &&").trim_end_matches(" &");
        let plain = plain
            .trim_end_matches(" volatile")
            .trim_end_matches(" const");
        plain.to_string()
    } else {
        readable_name(symbol).into_owned()
    }
}

/// A name without what stands between angle brackets; of Rust's `<T as Trait>` the trait stays, of `<T>` the type.
fn without_arguments(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let signs = leading_signs(rest);
        if !signs.is_empty() && ends_with_operator(&out) {
            out += signs;
            rest = &rest[signs.len()..];
            // The demangler sets arguments apart from the operator.
            rest = rest.strip_prefix(' ').unwrap_or(rest);
        } else if c == '<' {
            let end = find_closing(rest);
            let begins = out.is_empty() || out.ends_with("::");
            if begins && rest[end..].starts_with(">::") {
                out += &of_implementation(&rest[1..end]);
            } else if out.ends_with("::") {
                // Rust's `f::<T>`.
                out.truncate(out.len() - 2);
            }
            rest = rest.get(end + 1..).unwrap_or("");
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// What is between a type and its trait.
const AS: &str = " as ";

/// `Trait` of `T as a::Trait<U>`, `T` of `a::T<U>`.
fn of_implementation(text: &str) -> String {
    let outside = outside_brackets(text).filter(|(at, _)| text[*at..].starts_with(AS));
    let behind = outside.last().map_or(0, |(at, _)| at + AS.len());
    // An implementation that is not in the type's own crate: `impl Trait for T`, `impl T`.
    let own = text[behind..].trim_start_matches("impl ");
    let own = own.split(" for ").next().unwrap_or(own);
    let name = without_arguments(own);
    let last = scope_names(&name).pop().unwrap_or_default().to_string();
    last.trim_start_matches("dyn ").to_string()
}

/// The parts of a qualified name, in short.
fn scope_names(name: &str) -> Vec<String> {
    split_scopes(name).into_iter().map(shortened_part).collect()
}

/// The parts of a qualified name, without those that say nothing.
fn split_scopes(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, c) in outside_brackets(name) {
        // Of `:::` the first two part.
        if c == ':' && at >= start && name[at..].starts_with("::") {
            parts.push(&name[start..at]);
            start = at + 2;
        }
    }
    parts.push(name.get(start..).unwrap_or(""));
    let lambda = |p: &&str| p.starts_with("{lambda") || is_numbered_lambda(p);
    let called = parts.iter().rev().nth(1).is_some_and(lambda);
    if called && parts.last().is_some_and(|p| p.starts_with("operator()")) {
        parts.pop();
    }
    let empty =
        |p: &&str| p.is_empty() || *p == "(anonymous namespace)" || p.starts_with("__cxx11");
    parts.retain(|p| !empty(p));
    parts
}

/// Whether a part is what clang calls a lambda that no other module can name: `$_0`.
fn is_numbered_lambda(part: &str) -> bool {
    let number = part.strip_prefix("$_");
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// `{lambda#1}` for `{lambda(int)#1}` and for `$_0`, and a name without parameters and without its tag of an
/// interface's version.
fn shortened_part(part: &str) -> String {
    if is_numbered_lambda(part) {
        let number = part[2..].parse().map_or(0, |n: u64| n.saturating_add(1));
        return format!("{{lambda#{number}}}");
    }
    if part == "{{closure}}" {
        return "{closure}".into();
    }
    let lambda = part.strip_prefix("{lambda");
    if let Some((_, number)) = lambda.and_then(|rest| rest.rsplit_once('#')) {
        return format!("{{lambda#{number}");
    }
    let part = part.split("[abi:").next().unwrap_or(part);
    // The function that a lambda is in has its parameters, too.
    let named = part
        .strip_prefix("operator()")
        .map_or(0, |_| "operator()".len());
    let parameters = part[named..].find('(').map(|i| named + i);
    let parameters = parameters.filter(|&i| i > 0 && !part.starts_with('{'));
    part[..parameters.unwrap_or(part.len())].to_string()
}

/// Short names of the functions of a program; longer ones, with what differs, where several would have the same.
#[derive(Debug, Default)]
pub(crate) struct Briefs {
    names: HashMap<String, String>,
}

impl Briefs {
    /// Names for `symbols`, and where a symbol begins, if that is known: a lambda is named after its line. O(length of
    /// all).
    pub(crate) fn new<'a>(symbols: impl Iterator<Item = (&'a str, Option<u32>)>) -> Briefs {
        let mut by_name: HashMap<String, Vec<&str>> = HashMap::new();
        let mut names = HashMap::new();
        for (symbol, line) in symbols {
            if names.contains_key(symbol) {
                continue;
            }
            let name = with_line(brief_name(symbol), line);
            by_name.entry(name.clone()).or_default().push(symbol);
            names.insert(symbol.to_string(), name);
        }
        for symbols in by_name.into_values().filter(|s| s.len() > 1) {
            names.extend(distinguish(symbols));
        }
        Briefs { names }
    }

    /// The name of a symbol.
    pub(crate) fn name(&self, symbol: &str) -> String {
        let known = self.names.get(symbol);
        known.cloned().unwrap_or_else(|| brief_name(symbol))
    }
}

/// For functions with one short name: the shortest names that differ, by symbol. Symbols with one readable name, like
/// those of a constructor, keep their name: [`variants`] marks them.
fn distinguish(symbols: Vec<&str>) -> Vec<(String, String)> {
    let mut distinct = Vec::new();
    let mut alike = vec![symbols];
    for form in FORMS {
        let mut still_alike = Vec::new();
        for symbols in alike {
            let mut by_name: HashMap<String, Vec<&str>> = HashMap::new();
            for symbol in symbols {
                by_name.entry(form(symbol)).or_default().push(symbol);
            }
            for (name, symbols) in by_name {
                let first = readable_name(symbols[0]);
                if symbols.iter().all(|s| readable_name(s) == first) {
                    distinct.extend(symbols.iter().map(|s| (s.to_string(), name.clone())));
                } else {
                    still_alike.push(symbols);
                }
            }
        }
        alike = still_alike;
    }
    let rest = alike.into_iter().flatten();
    distinct.extend(rest.map(|symbol| (symbol.to_string(), name_with_arguments(symbol))));
    distinct
}

/// Names of a symbol, each with something more than the short one: template arguments, scopes, types of parameters.
const FORMS: [fn(&str) -> String; 6] = [
    name_with_arguments,
    |symbol| with_scopes(symbol, PARTS + 1),
    |symbol| with_scopes(symbol, usize::MAX),
    |symbol| brief_name(symbol) + &parameters(symbol, without_arguments),
    |symbol| name_with_arguments(symbol) + &parameters(symbol, shortened_arguments),
    |symbol| with_scopes(symbol, usize::MAX) + &parameters(symbol, str::to_string),
];

/// The last `number` parts of a qualified name, without template arguments.
fn with_scopes(symbol: &str, number: usize) -> String {
    let name = without_arguments(&name_without_signature(symbol));
    let parts = scope_names(&name);
    let first = parts.len().saturating_sub(number);
    escape_unprintable(&parts[first..].join("::")).into_owned()
}

/// `(char*, Node const&) const`: the types of a C++ function's parameters, each without its scopes and made shorter by
/// `shorten`. Nothing for a name without parameters.
fn parameters(symbol: &str, shorten: fn(&str) -> String) -> String {
    let (readable, name) = (readable_name(symbol), name_without_signature(symbol));
    let behind = readable.find(&name).map(|i| &readable[i + name.len()..]);
    let Some(text) = behind.filter(|text| text.starts_with('(')) else {
        return String::new();
    };
    let end = find_closing(text);
    let mut types = Vec::new();
    let mut rest = text.get(1..end).unwrap_or("");
    while !rest.is_empty() {
        let comma = find_comma(rest);
        let name = shorten(rest[..comma].trim());
        types.push(split_scopes(&name).pop().unwrap_or_default().to_string());
        rest = rest.get(comma + 1..).unwrap_or("");
    }
    let qualifiers = text.get(end + 1..).unwrap_or("");
    escape_unprintable(&format!("({}){qualifiers}", types.join(", "))).into_owned()
}

/// What tells symbols apart that have one readable name: which constructor or destructor it is (`[D0]` deletes, too),
/// or else their number: `[11 of 14]`. Nothing if there is one symbol.
pub(crate) fn variants(symbols: &[&str]) -> Vec<String> {
    if symbols.len() < 2 {
        return vec![String::new(); symbols.len()];
    }
    let kind = |symbol: &&str| {
        let bytes = symbol.as_bytes();
        let is_kind = |w: &[u8]| b"CD".contains(&w[0]) && w[1].is_ascii_digit() && w[2] == b'E';
        let at = bytes.windows(3).rposition(is_kind)?;
        Some(symbol[at..at + 2].to_string())
    };
    let kinds: Vec<Option<String>> = symbols.iter().map(kind).collect();
    let numbered = |(n, kind): (usize, &Option<String>)| {
        let is_own = kinds.iter().filter(|k| *k == kind).count() == 1;
        match kind {
            Some(kind) if is_own => format!(" [{kind}]"),
            _ => format!(" [{} of {}]", n + 1, kinds.len()),
        }
    };
    kinds.iter().enumerate().map(numbered).collect()
}

/// `{lambda:12}` for `{lambda#1}` and `{closure:12}` for `{closure#0}`, if its line is known.
fn with_line(name: String, line: Option<u32>) -> String {
    let Some(line) = line.filter(|_| is_unnamed(&name)) else {
        return name;
    };
    let at = name.rfind('{').unwrap_or_default();
    let kind = if name[at..].starts_with("{lambda") {
        "lambda"
    } else {
        "closure"
    };
    format!("{}{{{kind}:{line}}}", &name[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_symbols_are_short() {
        for (symbol, expected) in [
            ("sort", "sort"),
            (
                "_ZNK4YAML5RegEx14MatchUncheckedERKNS_16StringCharSourceE",
                "RegEx::MatchUnchecked",
            ),
            ("_ZNSt6vectorIiSaIiEE9push_backERKi", "vector::push_back"),
            (
                "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc",
                "basic_string::append",
            ),
            ("_ZN12_GLOBAL__N_11fEi", "f"),
            ("_ZZ4mainENKUlvE_clEv", "main::{lambda#1}"),
            ("_ZZ4mainENK3$_1clEv", "main::{lambda#2}"),
            ("_ZZN1AaSERKS_ENKUlT_E_clIiEEDaS1_", "operator=::{lambda#1}"),
            ("_ZlsRSoi", "operator<<"),
            (
                "_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE",
                "std::operator>>",
            ),
            (
                "_ZSteqIcSt11char_traitsIcESaIcEEbRKNSt7__cxx1112basic_stringIT_T0_T1_EEPKS5_",
                "std::operator==",
            ),
            ("_ZN1AptEv", "A::operator->"),
            ("_Z15binary_operatorIiEvv", "binary_operator"),
            ("_ZZN1AlsEiENKUlvE_clEv", "operator<<::{lambda#1}"),
            ("_ZN1AadEv", "A::operator&"),
            ("_ZNKR1AaaERKS_", "A::operator&&"),
            ("_ZNKR1AadEv", "A::operator&"),
            ("_ZNVKO1A1fEv", "A::f"),
            ("_ZNO1A1fEv", "A::f"),
            (
                "_ZN3std6string6String3new17h0123456789abcdefE",
                "String::new",
            ),
            (
                "_ZN79_$LT$core..iter..adapters..Map$LT$I$C$F$GT$$u20$as$u20$core..iter..Iterator\
                $GT$4next17h0123456789abcdefE",
                "Iterator::next",
            ),
            ("_ZN6orders5apply17h90776cf36914dd15E", "apply"),
            (
                "_ZN6orders5apply28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
                "apply::{closure}",
            ),
            (
                "_ZN4core3str21_$LT$impl$u20$str$GT$5parse17h0123456789abcdefE",
                "str::parse",
            ),
            (
                "_ZN4core3ptr25drop_in_place$LT$a..B$GT$17h0123456789abcdefE",
                "ptr::drop_in_place",
            ),
        ] {
            assert_eq!(brief_name(symbol), expected, "{symbol}");
        }
    }

    /// What differs is shown: namespaces, or else parameters; constructors of one class keep one name.
    #[test]
    fn equal_names_show_what_differs() {
        let symbols = [
            "_ZN5pugih4impl10xml_parser5parseEPc",
            "_ZN4pugi4impl12_GLOBAL__N_110xml_parser5parseEPc",
            "_ZN1A3setEi",
            "_ZN1A3setERKN1b1CE",
            "_ZNK1A3setEi",
            "_ZN1AC1Ev",
            "_ZN1AC2Ev",
            "f",
            "_Z1fv",
        ];
        let briefs = Briefs::new(symbols.into_iter().map(|s| (s, None)));
        assert_eq!(
            symbols.map(|s| briefs.name(s)),
            [
                "pugih::impl::xml_parser::parse",
                "pugi::impl::xml_parser::parse",
                "A::set(int)",
                "A::set(C const&)",
                "A::set(int) const",
                "A::A",
                "A::A",
                "f",
                "f()",
            ]
        );
    }

    /// Two instances of one template, and lambdas by their lines.
    #[test]
    fn equal_names_are_longer() {
        let symbols = ["_Z1fIiEvT_", "_Z1fIcEvT_", "_ZZ4mainENKUlvE_clEv", "_Z1gi"];
        let briefs = Briefs::new(symbols.into_iter().map(|s| (s, Some(12))));
        let names: Vec<String> = symbols.iter().map(|s| briefs.name(s)).collect();
        assert_eq!(names, ["f<int>", "f<char>", "main::{lambda:12}", "g"]);
        let part = "vector<a::B<c>, std::allocator<a::B<c> > >";
        assert_eq!(shortened_arguments(part), "vector<B>");
    }
}
