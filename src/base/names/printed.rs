//! The names by which reports call functions, and what a user means who types one.

use super::brief::{name_with_arguments, name_without_signature};
use super::{Briefs, brief_name, printed_name, readable_name, variants};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What the functions of a program are called in reports, no two of them the same.
#[derive(Debug, Default)]
pub(crate) struct PrintedNames {
    briefs: Briefs,
    is_full: bool,
    /// What tells functions apart whose names are alike, such as two destructors of a class, by symbol.
    marks: HashMap<String, String>,
}

impl PrintedNames {
    /// The names of `functions`, and of those that were `inlined`; each with its first line, if that is known.
    /// `is_full`: with scopes, types and parameters. O(length of all).
    pub(crate) fn new<'a>(
        functions: &[(&'a str, Option<u32>)],
        inlined: &[(&'a str, Option<u32>)],
        is_full: bool,
    ) -> PrintedNames {
        let mut names = PrintedNames {
            briefs: Briefs::new(functions.iter().chain(inlined).copied()),
            is_full,
            marks: HashMap::new(),
        };
        names.marks = names.mark_alike(functions.iter().map(|(symbol, _)| *symbol));
        names
    }

    /// What tells functions apart whose names are alike, by symbol.
    fn mark_alike<'a>(&self, functions: impl Iterator<Item = &'a str>) -> HashMap<String, String> {
        let mut symbols: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for symbol in functions {
            symbols.entry(self.name(symbol)).or_default().insert(symbol);
        }
        let mut marks = HashMap::new();
        for symbols in symbols.into_values().filter(|s| s.len() > 1) {
            let symbols: Vec<&str> = symbols.into_iter().collect();
            let named = symbols.iter().map(|s| s.to_string());
            marks.extend(named.zip(variants(&symbols)));
        }
        marks
    }

    /// The name of a symbol.
    pub(crate) fn name(&self, symbol: &str) -> String {
        let name = if self.is_full {
            printed_name(symbol)
        } else {
            self.briefs.name(symbol)
        };
        match self.marks.get(symbol) {
            Some(mark) => name + mark,
            None => name,
        }
    }
}

/// How precisely a text names a function; the most precise first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Naming {
    /// By its symbol.
    Symbol,
    /// As a report prints it, which names no other function.
    Printed,
    /// By its readable name, which two constructors of one class share.
    Readable,
    /// By less: without parameters, template arguments or scopes.
    Short,
}

/// The names of a program's functions, long and short, for what a user types.
#[derive(Debug)]
pub(crate) struct TypedNames<'a> {
    by_text: HashMap<String, HashMap<&'a str, Naming>>,
    full: PrintedNames,
}

impl<'a> TypedNames<'a> {
    /// As for [`PrintedNames::new`]. O(length of all).
    pub(crate) fn new(
        functions: &[(&'a str, Option<u32>)],
        inlined: &[(&'a str, Option<u32>)],
    ) -> TypedNames<'a> {
        let printed = |is_full| PrintedNames::new(functions, inlined, is_full);
        let (short, full) = (printed(false), printed(true));
        let symbols = functions.iter().chain(inlined).map(|(symbol, _)| *symbol);
        let mut by_text: HashMap<String, HashMap<&str, Naming>> = HashMap::new();
        for symbol in symbols.collect::<BTreeSet<_>>() {
            let readable = readable_name(symbol);
            let plain = readable.split('(').next().unwrap_or(&readable);
            let texts = [
                (Naming::Symbol, symbol.to_string()),
                (Naming::Printed, short.name(symbol)),
                (Naming::Printed, full.name(symbol)),
                (Naming::Short, plain.to_string()),
                (Naming::Short, brief_name(symbol)),
                (Naming::Short, name_with_arguments(symbol)),
                (Naming::Short, name_without_signature(symbol)),
                (Naming::Readable, readable.to_string()),
            ];
            for (naming, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
                let symbols = by_text.entry(text).or_default();
                let most = symbols.entry(symbol).or_insert(naming);
                *most = naming.min(*most);
            }
        }
        TypedNames { by_text, full }
    }

    /// Whether `text` names the function `symbol`, and how.
    pub(crate) fn find_naming(&self, text: &str, symbol: &str) -> Option<Naming> {
        self.by_text.get(text)?.get(symbol).copied()
    }

    /// A name of `symbol` that names no other function.
    pub(crate) fn unambiguous_name(&self, symbol: &str) -> String {
        self.full.name(symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two instances of a template, a C function and one of C++ with its name, the constructors of a class, a function
    /// in a namespace without a name, a lambda.
    const SYMBOLS: [&str; 9] = [
        "_Z2tmIiEiT_",
        "_Z2tmIcEiT_",
        "f",
        "_Z1fi",
        "_ZN1AC1Ev",
        "_ZN1AC2Ev",
        "_ZN12_GLOBAL__N_12inEi",
        "_ZNSt6vectorIiSaIiEE9push_backERKi",
        "_ZZ4mainENKUlvE_clEv",
    ];

    fn find_lines() -> Vec<(&'static str, Option<u32>)> {
        let lined = |s: &&'static str| (*s, s.contains("Ul").then_some(12));
        SYMBOLS.iter().map(lined).collect()
    }

    /// The symbols that a text names, in order, with how.
    fn find_names(text: &str) -> Vec<(&'static str, Naming)> {
        let names = TypedNames::new(&find_lines(), &[]);
        let named = SYMBOLS.iter();
        let named = named.filter_map(|s| Some((*s, names.find_naming(text, s)?)));
        named.collect()
    }

    #[test]
    fn every_name_that_a_report_prints_names_its_function_alone() {
        for is_full in [false, true] {
            let names = PrintedNames::new(&find_lines(), &[], is_full);
            for symbol in SYMBOLS {
                let printed = names.name(symbol);
                let mut found = find_names(&printed);
                found.sort_by_key(|(_, naming)| *naming);
                let most = found[0].1;
                found.retain(|(_, naming)| *naming == most);
                assert_eq!(found, [(symbol, most)], "{printed}");
            }
        }
    }

    #[test]
    fn shorter_names_name_all_that_have_them() {
        use Naming::*;
        let [int, char, c, cpp, first, second, hidden, pushed, lambda] = SYMBOLS;
        for (text, expected) in [
            ("tm", vec![(int, Short), (char, Short)]),
            ("tm<int>", vec![(int, Printed)]),
            ("int tm<char>(char)", vec![(char, Printed)]),
            ("f", vec![(c, Symbol), (cpp, Short)]),
            ("f(int)", vec![(cpp, Printed)]),
            ("A::A", vec![(first, Short), (second, Short)]),
            ("A::A()", vec![(first, Readable), (second, Readable)]),
            ("A::A [C2]", vec![(second, Printed)]),
            ("in", vec![(hidden, Printed)]),
            ("vector::push_back", vec![(pushed, Printed)]),
            ("vector<int>::push_back", vec![(pushed, Short)]),
            (
                "std::vector<int, std::allocator<int> >::push_back",
                vec![(pushed, Short)],
            ),
            ("main::{lambda:12}", vec![(lambda, Printed)]),
            ("main::{lambda#1}", vec![(lambda, Short)]),
            ("push_back", vec![]),
            ("vector", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(find_names(text), expected, "{text}");
        }
    }

    /// What nothing in the readable name tells apart is numbered, and says of how many.
    #[test]
    fn instances_with_one_readable_name_are_numbered() {
        let symbols = ["a", "b", "c"].map(|n| format!("_ZN4core3ptr4drop17h00000000000000{n}{n}E"));
        let functions: Vec<(&str, Option<u32>)> =
            symbols.iter().map(|s| (s.as_str(), None)).collect();
        let names = PrintedNames::new(&functions, &[], false);
        let printed: Vec<String> = symbols.iter().map(|s| names.name(s)).collect();
        let expected = [
            "ptr::drop [1 of 3]",
            "ptr::drop [2 of 3]",
            "ptr::drop [3 of 3]",
        ];
        assert_eq!(printed, expected);
    }
}
