//! Finds values with which a path runs: those of a solver, made small and printable, and told by their names.

mod describe;
mod prefer;

use super::Question;
use super::code::{BinaryOperator as Binary, Code};
use super::example::{Example, Setting, When};
use super::memory::Memory;
use super::run::trace::{LARGEST_OBJECT, Origin, Trace};
use super::solver::{Found, Solver};
use super::term::{Term, Terms};
use describe::{Described, Describer};
use rustc_hash::FxHashMap;

/// Where objects are, so many bytes apart.
const FIRST_OBJECT: u64 = 1 << 24;
const APART: u64 = 1 << 20;
/// Two addresses may point into one object, so far from its start.
const FARTHEST: u64 = 256;
/// Values of more variables are no example to look at.
const MOST_SETTINGS: usize = 12;

/// What is found of a path that is to be shown.
pub(super) enum Shown {
    /// It runs, with these values if they can be told.
    Possible(Option<Example>),
    /// There are no such values.
    Impossible,
    /// That is more than the solver finds out.
    Unknown,
}

/// Looks for values with which the recorded path runs.
pub(super) fn find(
    code: &Code,
    question: &Question,
    terms: &mut Terms,
    trace: &Trace,
    solver: &mut Solver,
) -> Shown {
    let mut all = trace.conditions.clone();
    all.extend(&trace.assumptions);
    let leaves = terms.leaves_of(&all);
    let is_address = |t: &Term| trace.addresses.contains(t) || Memory::is_object(terms, *t);
    let addresses: Vec<Term> = leaves.iter().copied().filter(is_address).collect();
    let groups = group(terms, trace, &addresses);
    for is_loose in [false, true] {
        let mut wanted = all.clone();
        place(terms, trace, (&addresses, &groups), is_loose, &mut wanted);
        let mut values = match solver.solve(terms, &wanted) {
            Found::Values(values) => values,
            Found::Contradiction if addresses.is_empty() => break,
            Found::Contradiction => continue,
            Found::Nothing => return Shown::Unknown,
        };
        if trace.has_unknown_decision {
            return Shown::Possible(None);
        }
        let mut describer = Describer::new(code, question, terms, trace, &values);
        let kinds = describer.types_of_leaves(&leaves);
        let mut places = Vec::new();
        for (n, t) in addresses.iter().enumerate() {
            if groups.iter().filter(|g| **g == groups[n]).count() > 1 {
                places.push((*t, FIRST_OBJECT + groups[n] as u64 * APART));
            }
        }
        let wish = prefer::Wish {
            conditions: &wanted,
            leaves: &kinds,
            places: &places,
            types: &code.types,
        };
        wish.improve(terms, &mut values);
        if let Some(bounds) = wish.bound_large(terms, &values) {
            let bounded = [&wanted[..], &bounds].concat();
            if let Found::Values(smaller) = solver.solve(terms, &bounded) {
                values = smaller;
                wish.improve(terms, &mut values);
            }
        }
        let mut describer = Describer::new(code, question, terms, trace, &values);
        return Shown::Possible(example(&mut describer, trace, &addresses));
    }
    Shown::Impossible
}

/// For each address the first one that it is compared with: both point into one object.
fn group(terms: &Terms, trace: &Trace, addresses: &[Term]) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..addresses.len()).collect();
    for condition in &trace.conditions {
        let leaves = terms.leaves_of(&[*condition]);
        let together: Vec<usize> = (0..addresses.len())
            .filter(|n| leaves.contains(&addresses[*n]))
            .map(|n| groups[n])
            .collect();
        // A variable is where it is.
        let first = together.iter().copied().min_by_key(|n| {
            let is_pointer = trace.addresses.contains(&addresses[*n]);
            (is_pointer, *n)
        });
        let Some(first) = first else { continue };
        for group in &mut groups {
            if together.contains(group) {
                *group = first;
            }
        }
    }
    groups
}

/// Adds that each address is null or that of an object of its group; if `is_loose`, near that of any.
fn place(
    terms: &mut Terms,
    trace: &Trace,
    (addresses, groups): (&[Term], &[usize]),
    is_loose: bool,
    wanted: &mut Vec<Term>,
) {
    let object = |n: usize| FIRST_OBJECT + n as u64 * APART;
    for (n, &t) in addresses.iter().enumerate() {
        let is_object = !trace.addresses.contains(&t);
        let own = terms.constant(64, object(if is_object { n } else { groups[n] }));
        let is_alone = groups.iter().filter(|g| **g == groups[n]).count() == 1;
        let mut any = if is_alone || is_object {
            terms.equal(t, own)
        } else {
            let inside = terms.binary(Binary::Sub, t, own);
            let size = terms.constant(64, FARTHEST);
            terms.below(inside, size)
        };
        if trace.addresses.contains(&t) {
            let null = terms.constant(64, 0);
            let is_null = terms.equal(t, null);
            any = terms.binary(Binary::Or, any, is_null);
            if is_loose {
                for other in 0..addresses.len() {
                    let start = terms.constant(64, object(other));
                    let inside = terms.binary(Binary::Sub, t, start);
                    let size = terms.constant(64, FARTHEST.min(LARGEST_OBJECT));
                    let is_inside = terms.below(inside, size);
                    any = terms.binary(Binary::Or, any, is_inside);
                }
            }
        }
        wanted.push(any);
    }
}

/// The values that decide where control goes, if all of them can be told.
fn example(describer: &mut Describer, trace: &Trace, addresses: &[Term]) -> Option<Example> {
    let deciding = describer.terms.leaves_of(&trace.conditions);
    let mut cone = deciding.clone();
    let mut next = 0;
    while let Some(&leaf) = cone.get(next) {
        next += 1;
        if let Some(Origin::Memory { address, .. }) = trace.origins.get(&leaf) {
            let more = describer.terms.leaves_of(&[*address]);
            more.into_iter().for_each(|t| {
                if !cone.contains(&t) {
                    cone.push(t);
                }
            });
        }
    }
    let bases: Vec<Term> = cone.iter().filter_map(|t| describer.base_of(*t)).collect();
    let (mut settings, mut aliases) = (Vec::new(), Vec::new());
    let mut strings = FxHashMap::default();
    for &leaf in &cone {
        if Memory::is_object(describer.terms, leaf) {
            continue;
        }
        if addresses.contains(&leaf) {
            let is_told = bases.contains(&leaf) && describer.value(leaf) != 0;
            match describer.alias(leaf, addresses) {
                Some(value) => aliases.push(describer.setting(leaf, Some(value))?),
                None if is_told || !deciding.contains(&leaf) => {}
                None if describer.value(leaf) == 0 => {
                    settings.push(describer.setting(leaf, Some("NULL".into()))?);
                }
                None => settings.push(describer.setting(leaf, None)?),
            }
            continue;
        }
        match describer.describe(leaf)? {
            Described::Settings(found) => settings.extend(found),
            Described::Byte(name, index, byte) => {
                let bytes: &mut Vec<(u64, u8)> = strings.entry(name.clone()).or_default();
                if bytes.is_empty() {
                    let when = When::Start;
                    settings.push(Setting {
                        when,
                        name,
                        value: None,
                    });
                }
                bytes.push((index, byte));
            }
        }
    }
    for setting in settings.iter_mut().filter(|s| s.value.is_none()) {
        setting.value = strings
            .get(&setting.name)
            .map(|bytes| describe::string(bytes));
    }
    settings.extend(aliases);
    let rank = |s: &Setting| match s.when {
        When::Start => 0,
        When::Returned(_) | When::After(_) => 1,
    };
    settings.sort_by_key(rank);
    let is_some = !settings.is_empty() && settings.len() <= MOST_SETTINGS;
    is_some.then_some(Example { settings })
}
