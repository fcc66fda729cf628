//! Samples attributed to the functions of a profile.

use super::{Amount, Sampled, Samples};
use crate::base::index::FuncId;
use crate::base::names::{is_shared_library, readable_name};
use crate::input::ir::Loc;
use crate::profile::Profile;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What code outside is called whose image is unknown.
const UNKNOWN: &str = "[unknown]";
/// What code outside is called that may be of any of several functions.
const AMBIGUOUS: &str = "[one name, several functions: use perf script --no-demangle -F +srcline]";
/// What optimisers and linkers append to the symbols of parts and clones of functions.
const SUFFIXES: [&str; 6] = ["cold", "part", "isra", "constprop", "llvm", "lto_priv"];

/// What stands before brackets that are part of an operator's name.
const OPERATORS: [&str; 5] = [
    "operator",
    "operator<",
    "operator>",
    "operator-",
    "operator<=",
];
/// Longer names are not taken apart.
const LONGEST_NAME: usize = 1 << 12;

/// Where time went, as samples show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// The event that was sampled.
    pub event: String,
    /// All samples.
    pub total: Amount,
    /// Of the functions of the profile.
    pub functions: HashMap<FuncId, Amount>,
    /// Of their lines, where the samples have lines.
    pub lines: HashMap<FuncId, BTreeMap<Loc, Amount>>,
    /// Of images, for code that is not in the profile: those with most time first.
    pub outside: Vec<(String, Amount)>,
}

impl Time {
    /// Attributes `samples` to the functions of `profile`. O(functions + samples).
    pub fn new(profile: &Profile, samples: &Samples) -> Time {
        let index = Index::new(profile);
        let ours = index.images(samples);
        let mut time = Time {
            event: samples.event.clone(),
            ..Time::default()
        };
        let mut outside: BTreeMap<String, Amount> = BTreeMap::new();
        for (place, &amount) in &samples.places {
            time.total.add(amount);
            let found = ours.contains(place.image.as_str());
            let name = match found.then(|| index.find(place)) {
                Some(SymbolMatch::One(f)) => {
                    time.functions.entry(f).or_default().add(amount);
                    if let Some(loc) = index.line(place) {
                        let lines = time.lines.entry(f).or_default();
                        lines.entry(loc).or_default().add(amount);
                    }
                    continue;
                }
                Some(SymbolMatch::Several) => AMBIGUOUS,
                Some(SymbolMatch::None) | None => image_name(&place.image),
            };
            outside.entry(name.to_string()).or_default().add(amount);
        }
        time.outside = outside.into_iter().collect();
        time.outside.sort_by_key(|(_, a)| Reverse(a.weight));
        time
    }

    /// The share of `amount` in all samples.
    pub fn share(&self, amount: Amount) -> f64 {
        amount.weight as f64 / self.total.weight.max(1) as f64
    }

    /// What was sampled in function `f`.
    pub fn amount_in(&self, f: FuncId) -> Amount {
        self.functions.get(&f).copied().unwrap_or_default()
    }
}

/// An image's name without its folders.
fn image_name(image: &str) -> &str {
    match image.rsplit('/').next() {
        None | Some("") => UNKNOWN,
        // `[JIT] tid 12` and `[kernel.kallsyms]` have none.
        _ if image.starts_with('[') => image,
        Some(name) => name,
    }
}

enum SymbolMatch {
    None,
    One(FuncId),
    Several,
}

/// The functions of a profile by every name that a profiler may give them.
struct Index<'a> {
    profile: &'a Profile,
    by_name: HashMap<String, Vec<FuncId>>,
    files: HashMap<&'a str, Vec<u32>>,
}

impl<'a> Index<'a> {
    fn new(profile: &'a Profile) -> Index<'a> {
        let mut by_name: HashMap<String, Vec<FuncId>> = HashMap::new();
        for f in profile.functions() {
            let symbol = profile.entry(f).name.as_str();
            let full = readable_name(symbol);
            let names = [
                without_final_mark(symbol),
                without_spaces(&full),
                without_decoration(&full),
            ];
            let names: HashSet<String> = names.into();
            for name in names {
                by_name.entry(name).or_default().push(f);
            }
        }
        let mut files: HashMap<&str, Vec<u32>> = HashMap::new();
        for (i, file) in (0..).zip(&profile.manifest.files) {
            files.entry(file_base(file)).or_default().push(i);
        }
        Index {
            profile,
            by_name,
            files,
        }
    }

    /// The images that hold functions of the profile: programs, and of libraries those of which at least half of the
    /// sampled symbols are in the profile. A program's `sort` is not libc's.
    fn images<'s>(&self, samples: &'s Samples) -> HashSet<&'s str> {
        let mut by_image: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
        for place in samples.places.keys() {
            let symbols = by_image.entry(&place.image).or_default();
            symbols.insert(&place.symbol);
        }
        let is_ours = |(image, symbols): &(&str, HashSet<&str>)| {
            let name = image_name(image);
            if image.starts_with('[') || name.ends_with(".ko") {
                return false;
            }
            let is_library = is_shared_library(name);
            let known = symbols
                .iter()
                .filter(|s| !self.functions_named(s).is_empty());
            !is_library || 2 * known.count() >= symbols.len()
        };
        let ours = by_image.into_iter().filter(is_ours);
        ours.map(|(image, _)| image).collect()
    }

    fn functions_named(&self, symbol: &str) -> &[FuncId] {
        let symbol = without_suffix(symbol);
        let found = self.by_name.get(&without_final_mark(symbol));
        let found = found.or_else(|| self.by_name.get(&without_spaces(symbol)));
        let found = found.or_else(|| self.by_name.get(&without_decoration(symbol)));
        found.map_or(&[], |f| f)
    }

    /// The function with a place's symbol; of several, the one that begins in its source file.
    fn find(&self, place: &Sampled) -> SymbolMatch {
        let candidates = self.functions_named(&place.symbol);
        let files = place
            .line
            .as_ref()
            .and_then(|l| self.files.get(file_base(&l.0)));
        let begins = |f: &&FuncId| {
            let loc = self.profile.entry(**f).loc;
            loc.is_some_and(|l| files.is_some_and(|files| files.contains(&l.file)))
        };
        let here: Vec<&FuncId> = candidates.iter().filter(begins).collect();
        match (candidates, &here[..]) {
            ([], _) => SymbolMatch::None,
            ([f], _) => SymbolMatch::One(*f),
            (_, [f]) => SymbolMatch::One(**f),
            _ => SymbolMatch::Several,
        }
    }

    /// The place's line, if the profile has exactly one file of that name.
    fn line(&self, place: &Sampled) -> Option<Loc> {
        let (file, line) = place.line.as_ref()?;
        match self.files.get(file_base(file))?[..] {
            [file] => Some(Loc { file, line: *line }),
            _ => None,
        }
    }
}

fn file_base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// A symbol without the mark of LLVM that it is final.
fn without_final_mark(symbol: &str) -> String {
    symbol.strip_prefix('\u{1}').unwrap_or(symbol).to_string()
}

/// Demanglers differ in spaces: `> >` is `>>`.
fn without_spaces(name: &str) -> String {
    name.split_whitespace().collect()
}

/// `f` for `f.cold`, `f.part.0`, `f.llvm.123` and `f [clone .cold]`.
fn without_suffix(symbol: &str) -> &str {
    let symbol = symbol.split(" [clone").next().unwrap_or(symbol);
    let is_suffix = |at: &usize| {
        let word = symbol[at + 1..].split('.').next().unwrap_or("");
        *at > 0 && SUFFIXES.contains(&word)
    };
    let dots = symbol.match_indices('.').map(|(at, _)| at);
    let first = dots.into_iter().find(is_suffix);
    first.map_or(symbol, |at| &symbol[..at])
}

/// A readable name without return type and parameters, which perf leaves out: `ns::A<long>::f` for
/// `long ns::A<long>::f(long) const`. Very long names stay as they are.
fn without_decoration(name: &str) -> String {
    if name.len() > LONGEST_NAME {
        return without_spaces(name);
    }
    let operator = name.find("operator").unwrap_or(name.len());
    let (mut depth, mut begins, mut ends) = (0usize, 0, name.len());
    for (at, c) in name.char_indices() {
        let of_operator = || OPERATORS.iter().any(|o| name[..at].ends_with(o));
        match c {
            '<' | '>' | '(' if of_operator() => {}
            '(' if depth == 0 && is_parameters(&name[at..]) => {
                ends = at;
                break;
            }
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && at < operator => begins = at + 1,
            _ => {}
        }
    }
    without_spaces(name.get(begins..ends).unwrap_or(name))
}

/// Whether a parenthesis opens parameters, and not `(anonymous namespace)` or the scope of something local.
fn is_parameters(rest: &str) -> bool {
    let mut depth = 0usize;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return !rest[at + 1..].contains("::");
        }
    }
    true
}

#[cfg(test)]
mod tests;
