//! Functions chosen by name: `--function`, `--include`, `--exclude`.

use super::brackets::find_opening;
use super::{brief_name, escape_unprintable, readable_name};
use crate::base::error::{Error, Result};
use regex::Regex;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Range;

/// Names at least this similar to a pattern (1 is equal) are suggested: one letter of four is wrong, or two have
/// changed places.
const LIKE: f64 = 0.84;
/// At most this many of them are suggested.
const NEAREST: usize = 3;

/// Regular expressions, one of which has to match a function's symbol, its readable name or the name that a report
/// prints. Types of parameters are no part of a name.
#[derive(Clone, Debug)]
pub struct Filter {
    option: &'static str,
    patterns: Vec<Pattern>,
}

/// A regular expression, and what it chooses besides.
#[derive(Clone, Debug)]
struct Pattern {
    re: Regex,
    /// Symbols of the functions whose printed names it is.
    named: HashSet<String>,
    /// Symbols of the functions whose printed names it matches.
    matched: HashSet<String>,
    /// Whether it is a printed name, and no expression.
    is_name: bool,
}

impl Pattern {
    fn admits(&self, symbol: &str) -> bool {
        let is_matched = || self.matched.contains(symbol) || is_named_by(&self.re, symbol);
        self.named.contains(symbol) || !self.is_name && is_matched()
    }
}

/// A pattern that chooses nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// Which one it is.
    pub problem: String,
    /// Why that may be, and what to do.
    pub remedy: String,
}

impl Filter {
    /// A command line's `option` with these values; `None` when there are none.
    pub fn new(option: &'static str, patterns: Vec<Regex>) -> Option<Filter> {
        let pattern = |re| Pattern {
            re,
            named: HashSet::new(),
            matched: HashSet::new(),
            is_name: false,
        };
        (!patterns.is_empty()).then(|| Filter {
            option,
            patterns: patterns.into_iter().map(pattern).collect(),
        })
    }

    /// A filter that also admits functions by the names that a report prints, which may be elided: each of `functions`
    /// is a symbol and its name. A pattern that is such a name and has more than words in it is no expression:
    /// `S::operator||` would match everything. O(length of all) for each pattern.
    pub(crate) fn or_printed<'a>(
        mut self,
        functions: impl Iterator<Item = (&'a str, String)>,
    ) -> Filter {
        // Names of C++ have no `\`: the parser of patterns put it there.
        let texts = self.patterns.iter().map(|p| p.re.as_str());
        let texts: Vec<[String; 2]> = texts
            .map(|text| [text.to_string(), text.replace('\\', "")])
            .collect();
        for (symbol, name) in functions {
            for (text, pattern) in texts.iter().zip(&mut self.patterns) {
                if text.iter().any(|text| may_print(text, &name)) {
                    pattern.named.insert(symbol.to_string());
                    pattern.is_name |= !name.bytes().all(is_of_word);
                } else if matches_name(&pattern.re, &name) {
                    pattern.matched.insert(symbol.to_string());
                }
            }
        }
        self
    }

    /// A command line's `option` with values that are regular expressions as text; `None` when there are none.
    ///
    /// # Errors
    /// What is no regular expression.
    pub fn parse(option: &'static str, patterns: &[String]) -> Result<Option<Filter>> {
        let parse = |text: &String| Regex::new(text).map_err(|e| bad_regex(option, text, &e));
        let patterns = patterns.iter().map(parse).collect::<Result<_>>()?;
        Ok(Filter::new(option, patterns))
    }

    /// Whether it chooses the function with this symbol. O(length) for each pattern.
    pub fn admits(&self, symbol: &str) -> bool {
        self.patterns.iter().any(|p| p.admits(symbol))
    }

    /// Every pattern has to match one of `symbols`: otherwise a typo would silently choose nothing, or spare
    /// nothing. `elsewhere` says what became of a function that is not among them, where it knows one
    /// whose name `matches`. O(symbols) for each pattern.
    ///
    /// # Errors
    /// The first pattern that matches none.
    pub fn must_match(
        &self,
        symbols: &[&str],
        elsewhere: impl Fn(&dyn Fn(&str) -> bool) -> Option<String>,
    ) -> Result<(), Unmatched> {
        let nothing = |p: &&Pattern| !symbols.iter().any(|s| p.admits(s));
        let Some(Pattern { re, .. }) = self.patterns.iter().find(nothing) else {
            return Ok(());
        };
        let (option, pattern) = (self.option, escape_unprintable(re.as_str()));
        let known = elsewhere(&|name| is_named_by(re, name));
        Err(Unmatched {
            problem: format!("{option} '{pattern}' matches no function"),
            remedy: known.unwrap_or_else(|| hint(&nearest_names(re.as_str(), symbols))),
        })
    }
}

impl From<Unmatched> for Error {
    fn from(u: Unmatched) -> Error {
        Error::Usage(format!("{}; {}", u.problem, u.remedy))
    }
}

/// A pattern for functions from what a command line has: a regular expression, or a C++ name that is none
/// (`Box::operator[]`, `main::{lambda#1}`), which is meant literally.
///
/// # Errors
/// What is neither.
pub(crate) fn parse_function_pattern(text: &str) -> std::result::Result<Regex, regex::Error> {
    let is_name = ["::", "operator", "{lambda", "(*", "…", "{virtual"]
        .iter()
        .any(|part| text.contains(part));
    match Regex::new(text) {
        Err(_) if is_name => Regex::new(&regex::escape(text)),
        parsed => parsed,
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_:".contains(&byte)
}

/// Whether a report may print `name` as `text`, in which `…` is what there was no room for. O(length of both).
pub(crate) fn may_print(text: &str, name: &str) -> bool {
    let mut parts = text.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(last) = parts.next_back() else {
        return text == name;
    };
    let Some(rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(mut rest) = rest.strip_suffix(last) else {
        return false;
    };
    parts.all(|part| match rest.find(part) {
        Some(i) => {
            rest = &rest[i + part.len()..];
            true
        }
        None => false,
    })
}

/// Whether an expression matches a function's symbol or its readable name, or is that name: `set(long)` is an
/// expression that does not match `set(long)`.
fn is_named_by(re: &Regex, symbol: &str) -> bool {
    let readable = readable_name(symbol);
    matches_symbol(re, symbol, &readable) || matches_name(re, &readable) || re.as_str() == readable
}

/// Whether an expression matches a symbol. A mangled one of C++ has types of parameters in it, so that only a match
/// from its beginning is one of the name.
fn matches_symbol(re: &Regex, symbol: &str, readable: &str) -> bool {
    let has_types = parameters(readable).is_some() && symbol != readable;
    match re.find(symbol) {
        Some(found) => !has_types || found.start() == 0,
        None => false,
    }
}

/// Whether an expression matches a name anywhere but inside the types of its parameters. `\(int\)` does, which begins
/// at the bracket.
fn matches_name(re: &Regex, name: &str) -> bool {
    let parameters = parameters(name);
    re.find_iter(name).any(|found| {
        let is_inside = |p: &Range<usize>| found.start() > p.start && found.end() <= p.end;
        !parameters.as_ref().is_some_and(is_inside)
    })
}

/// The brackets around the parameters of a readable name, if it has them: before what qualifies the function and what
/// an optimiser appended. O(length).
fn parameters(name: &str) -> Option<Range<usize>> {
    let mut end = name.len();
    loop {
        let rest = &name[..end];
        let cut = [" const", " volatile", " &", " &&", " noexcept"];
        if let Some(rest) = cut.iter().find_map(|q| rest.strip_suffix(q)) {
            end = rest.len();
            continue;
        }
        let open = match rest.as_bytes().last()? {
            b']' => rest.rfind(" [")?,
            b')' => find_opening(rest)?,
            _ => return None,
        };
        let is_appended = rest[open..].starts_with("(.") || rest[open..].starts_with(" [");
        if !is_appended {
            return Some(open..end);
        }
        end = rest[..open].trim_end().len();
    }
}

fn bad_regex(option: &str, text: &str, error: &regex::Error) -> Error {
    let problem = describe_regex_problem(&error.to_string());
    Error::Usage(format!("{option} {text:?}: {problem}"))
}

/// What the first line of an error of a regular expression is.
pub(crate) const REGEX_PROBLEM: &str = "regex parse error:";

/// What is wrong with a regular expression, and at which of its characters, in one line: `regex` prints it with a mark
/// below and the problem behind.
pub(crate) fn describe_regex_problem(error: &str) -> String {
    const REMEDY: &str = "write \\ before a character that is meant literally";
    let lines: Vec<&str> = error.lines().map(str::trim_end).collect();
    let problem = lines.last().map_or("", |l| {
        l.trim_start_matches("error: ").trim_end_matches('.')
    });
    let is_mark =
        |line: &&str| line.ends_with('^') && line.trim_matches(' ').bytes().all(|b| b == b'^');
    // Of several lines `regex` numbers each.
    match lines[..] {
        [REGEX_PROBLEM, _, mark, _] if is_mark(&mark) => {
            let at = mark
                .chars()
                .take_while(|c| *c == ' ')
                .count()
                .saturating_sub(INDENT)
                + 1;
            format!("{problem} (character {at}); {REMEDY}")
        }
        _ => format!("{problem}; {REMEDY}"),
    }
}

/// So far `regex` indents the expression.
const INDENT: usize = 4;

/// The readable names most similar to a pattern, the most similar first.
pub(crate) fn nearest_names<'a>(pattern: &str, symbols: &[&'a str]) -> Vec<String> {
    let word = |c: &char| c.is_alphanumeric() || "_:~ <>,&".contains(*c);
    let wanted: String = pattern.chars().filter(word).collect();
    let wanted = wanted.to_lowercase();
    let score = |symbol: &'a str| {
        let name = readable_name(symbol);
        let short = brief_name(symbol).to_lowercase();
        let base = short.rsplit("::").next().unwrap_or(&short);
        let like = measure_likeness(&wanted, &name.to_lowercase());
        let of_short = [&short, base].map(|n| strsim::jaro_winkler(&wanted, n));
        (of_short.into_iter().fold(like, f64::max), name)
    };
    let scored = symbols.iter().copied().map(score);
    let mut like: Vec<_> = scored.filter(|(score, _)| *score >= LIKE).collect();
    let order = |a: f64, b: f64| b.partial_cmp(&a).unwrap_or(Ordering::Equal);
    like.sort_by(|(a, x), (b, y)| order(*a, *b).then_with(|| x.cmp(y)));
    like.dedup_by(|(_, x), (_, y)| x == y);
    let told = like.iter().take(NEAREST);
    told.map(|(_, name)| escape_unprintable(name).into_owned())
        .collect()
}

/// How similar to `wanted` a name is, whole or without scopes and parameters: from 0 to 1.
fn measure_likeness(wanted: &str, name: &str) -> f64 {
    let scoped = name.split(['(', '<']).next().unwrap_or(name);
    let base = scoped.rsplit("::").next().unwrap_or(scoped);
    if wanted.len() > 1 && name.contains(wanted) {
        return 1.0;
    }
    [name, scoped, base]
        .map(|n| strsim::jaro_winkler(wanted, n))
        .into_iter()
        .fold(0.0, f64::max)
}

fn hint(nearest: &[String]) -> String {
    // Nothing but debug information remembers it.
    let inlined = "functions that were inlined everywhere are gone (-fno-inline keeps them)";
    if nearest.is_empty() {
        return inlined.into();
    }
    format!("nearest: {}; {inlined}", nearest.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_as_printed_chooses_its_function() {
        let name = "pugih::impl::xml_parser::parse";
        for text in [name, "pugih::…::parse", "…::parse", "pug…xml…rse"] {
            assert!(may_print(text, name), "{text}");
        }
        for text in [
            "parse",
            "pugi::…::parse",
            "…::pars",
            "pug…tree…parse",
            "parse…parse",
        ] {
            assert!(!may_print(text, name), "{text}");
        }
        let pattern = Regex::new("A::~A [D2]").unwrap();
        let filter = Filter::new("--function", vec![pattern]).unwrap();
        let functions = [("_ZN1AD2Ev", "A::~A [D2]"), ("_ZN1AD0Ev", "A::~A [D0]")];
        let filter = filter.or_printed(functions.iter().map(|(s, n)| (*s, n.to_string())));
        assert!(filter.admits("_ZN1AD2Ev") && !filter.admits("_ZN1AD0Ev"));
    }

    /// Names of C++ that are no regular expressions, or none that matches them; elided ones, too.
    #[test]
    fn name_that_is_no_regular_expression_is_meant_literally() {
        for (text, symbol) in [
            ("A::operator[](int)", "_ZN1AixEi"),
            ("A::operator[]", "_ZN1AixEi"),
            ("A::oper…tor[]", "_ZN1AixEi"),
            ("A::set(long)", "_ZN1A3setEl"),
        ] {
            let filter = Filter::new("--function", vec![parse_function_pattern(text).unwrap()]);
            let printed = [("_ZN1AixEi", "A::operator[]"), ("_ZN1A3setEl", "A::set")];
            let printed = printed.iter().map(|(s, n)| (*s, n.to_string()));
            let filter = filter.unwrap().or_printed(printed);
            let admitted = ["_ZN1AixEi", "_ZN1A3setEl"].map(|s| filter.admits(s));
            assert_eq!(
                admitted,
                ["_ZN1AixEi", "_ZN1A3setEl"].map(|s| s == symbol),
                "{text}"
            );
        }
        assert!(parse_function_pattern("mai[n").is_err());
        assert!(parse_function_pattern("{virtual override thunk(…)} [D1]").is_ok());
    }

    /// `S::operator||` and `operator-` are expressions that match more.
    #[test]
    fn name_with_an_operator_chooses_no_other_function() {
        let printed = [
            ("_ZN1SooEi", "S::operator||"),
            ("_ZN1SltEi", "S::operator<"),
            ("_ZN1SlsEi", "S::operator<<"),
            ("_ZmiRK1S", "operator-"),
            ("_ZN1SmiEv", "S::operator-"),
            ("_ZN1S3tagEv", "S::tag"),
            ("_ZN1S4tag2Ev", "S::tag2"),
        ];
        let chosen = |text: &str| {
            let filter = Filter::new("--function", vec![parse_function_pattern(text).unwrap()]);
            let names = printed.iter().map(|(s, n)| (*s, n.to_string()));
            let filter = filter.unwrap().or_printed(names);
            let symbols = printed.map(|(s, _)| s);
            filter.must_match(&symbols, |_| None).unwrap();
            symbols.iter().filter(|s| filter.admits(s)).count()
        };
        for (_, name) in &printed[..5] {
            assert_eq!(chosen(name), 1, "{name}");
        }
        // Words alone are an expression.
        assert_eq!(chosen("S::tag"), 2);
    }

    /// Types of parameters are no names; what a report prints is one, also between `^` and `$`.
    #[test]
    fn expression_matches_names_and_no_types_of_parameters() {
        let printed = [
            ("_ZN3re26Regexp5ParseENS0_10ParseFlagsE", "Regexp::Parse"),
            ("_ZN3re29FlagsNameENS_6Regexp10ParseFlagsE", "FlagsName"),
            ("_ZN3re210ParseFlagsEi", "ParseFlags"),
            ("_ZNK3re26Regexp3popEv", "Regexp::pop"),
            ("parse_flags", "parse_flags"),
        ];
        let chosen = |text: &str| {
            let filter = Filter::new("--function", vec![parse_function_pattern(text).unwrap()]);
            let names = printed.iter().map(|(s, n)| (*s, n.to_string()));
            let filter = filter.unwrap().or_printed(names);
            let all = printed.iter().filter(|(s, _)| filter.admits(s));
            all.map(|(_, name)| *name).collect::<Vec<_>>()
        };
        for (text, expected) in [
            ("ParseFlags", &["ParseFlags"][..]),
            ("Flags", &["FlagsName", "ParseFlags"]),
            ("^Regexp::Parse$", &["Regexp::Parse"]),
            ("^Regexp::", &["Regexp::Parse", "Regexp::pop"]),
            ("^re2::Regexp::", &["Regexp::Parse", "Regexp::pop"]),
            ("^parse_flags$", &["parse_flags"]),
            (r"\(int\)$", &["ParseFlags"]),
            (r"Parse.*\(.*ParseFlags", &["Regexp::Parse"]),
            ("^_ZN3re26Regexp", &["Regexp::Parse"]),
        ] {
            assert_eq!(chosen(text), expected, "{text}");
        }
        // Each pattern has to match by itself.
        let patterns = ["^Regexp::pop$", "nothing"].map(|p| Regex::new(p).unwrap());
        let filter = Filter::new("--function", patterns.to_vec()).unwrap();
        let filter = filter.or_printed(printed.iter().map(|(s, n)| (*s, n.to_string())));
        assert!(
            filter
                .must_match(&printed.map(|(s, _)| s), |_| None)
                .is_err()
        );
    }

    #[test]
    fn parameters_of_names_are_found() {
        for (name, expected) in [
            ("f(int)", Some("(int)")),
            ("A::g(int (*)(char)) const", Some("(int (*)(char))")),
            ("A::operator()(int) const &", Some("(int)")),
            ("f(int) [clone .cold]", Some("(int)")),
            ("f(int) (.isra.0)", Some("(int)")),
            ("main::{lambda()#1}::operator()() const", Some("()")),
            ("core::ptr::drop_in_place<a::B>", None),
            ("main", None),
            ("", None),
        ] {
            assert_eq!(parameters(name).map(|p| &name[p]), expected, "{name}");
        }
    }

    const SYMBOLS: [&str; 6] = [
        "main",
        "qsort",
        "sort_all",
        "_ZN4Tree6insertEi",
        "_ZN4Tree5eraseEi",
        "i",
    ];

    const INLINED: &str =
        "functions that were inlined everywhere are gone (-fno-inline keeps them)";

    fn filter(patterns: &[&str]) -> Filter {
        let patterns: Vec<String> = patterns.iter().map(|p| p.to_string()).collect();
        Filter::parse("--function", &patterns).unwrap().unwrap()
    }

    fn explain_unmatched(patterns: &[&str]) -> String {
        let result = filter(patterns).must_match(&SYMBOLS, |_| None);
        Error::from(result.unwrap_err()).to_string()
    }

    #[test]
    fn wrong_expressions_are_described_in_one_line_with_the_position() {
        let said = |pattern: &str| {
            let error = Filter::parse("--include", &[pattern.to_string()]).unwrap_err();
            error.to_string()
        };
        let remedy = "write \\ before a character that is meant literally";
        for (pattern, problem) in [
            ("(", "unclosed group (character 1)"),
            ("foo)", "unopened group (character 4)"),
            ("ö*[a", "unclosed character class (character 3)"),
            (
                "a\\",
                "incomplete escape sequence, reached end of pattern prematurely (character 2)",
            ),
            ("(\n", "unclosed group"),
            (
                "x{1000}{1000}{1000}",
                "Compiled regex exceeds size limit of 10485760 bytes",
            ),
        ] {
            assert_eq!(
                said(pattern),
                format!("--include {pattern:?}: {problem}; {remedy}")
            );
        }
    }

    #[test]
    fn symbols_and_readable_names_match() {
        for pattern in [
            "^main$",
            "^_ZN4Tree6insertEi$",
            "^Tree::insert",
            r"insert\(int\)$",
        ] {
            assert!(filter(&[pattern]).must_match(&SYMBOLS, |_| None).is_ok());
            assert_eq!(
                SYMBOLS
                    .iter()
                    .filter(|s| filter(&[pattern]).admits(s))
                    .count(),
                1
            );
        }
        assert!(filter(&["^int$", "^main$"]).admits("main") && !filter(&["^int$"]).admits("i"));
    }

    #[test]
    fn nothing_matched_tells_the_nearest() {
        let start = |p: &str| format!("--function '{p}' matches no function; ");
        for (pattern, nearest) in [
            ("^mian$", "main"),
            ("^sort$", "qsort, sort_all"),
            ("^tree::insert", "Tree::insert(int), Tree::erase(int)"),
            ("^insret$", "Tree::insert(int)"),
            ("ERASE", "Tree::erase(int)"),
        ] {
            let said = explain_unmatched(&[pattern]);
            assert_eq!(
                said,
                format!("{}nearest: {nearest}; {INLINED}", start(pattern))
            );
        }
        assert!(explain_unmatched(&["xylophone"]).ends_with(INLINED));
        // A method of a template, without the arguments of it.
        let methods = ["_ZN1VIiE4pushEi", "_ZN1VIiE3popEv"];
        assert_eq!(nearest_names("puhs", &methods), ["V<int>::push(int)"]);
        // One match of several is enough.
        assert!(explain_unmatched(&["main", "x\n"]).contains(r"'x\n'"));
        let elsewhere =
            |matches: &dyn Fn(&str) -> bool| matches("gone").then(|| "it went".to_string());
        let said = filter(&["gone"])
            .must_match(&SYMBOLS, elsewhere)
            .unwrap_err();
        assert_eq!(said.remedy, "it went");
    }
}
