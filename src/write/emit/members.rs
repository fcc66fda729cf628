//! Which members of archives a program needs, as linkers find out.

use super::llvm::Symbol;
use crate::input::load::Admitted;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The names that a module defines for others, and those that it wants from others.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    defined: Vec<String>,
    wanted: Vec<String>,
}

impl Names {
    pub(super) fn new(symbols: &[Symbol]) -> Names {
        let mut names = Names::default();
        for symbol in symbols.iter().filter(|s| !s.local) {
            if symbol.defined {
                names.defined.push(symbol.name.clone());
            } else if !symbol.weak && !symbol.name.starts_with("llvm.") {
                names.wanted.push(symbol.name.clone());
            }
        }
        names
    }
}

/// Leaves out the members of archives that nothing needs of what is linked: the modules that are no members, and the
/// members that these need. Archives alone are taken whole. `names` are those of the inputs. One line for each archive.
/// Linear.
pub(super) fn keep_needed(inputs: &mut Vec<Admitted>, names: &[Names]) -> Vec<String> {
    let is_root = |i: &Admitted| i.archive.is_none();
    if inputs.iter().all(is_root) || !inputs.iter().any(is_root) {
        return Vec::new();
    }
    let mut needed: Vec<bool> = inputs.iter().map(is_root).collect();
    let roots = (0..inputs.len()).filter(|i| needed[*i]);
    let mut todo: Vec<usize> = roots.collect();
    let mut known: HashSet<&str> = todo
        .iter()
        .flat_map(|i| &names[*i].defined)
        .map(String::as_str)
        .collect();
    let members = first_definitions(inputs, names);
    while let Some(i) = todo.pop() {
        for name in &names[i].wanted {
            let Some(member) = members.get(name.as_str()).filter(|_| known.insert(name)) else {
                continue;
            };
            if !std::mem::replace(&mut needed[*member], true) {
                known.extend(names[*member].defined.iter().map(String::as_str));
                todo.push(*member);
            }
        }
    }
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (input, needed) in inputs.iter().zip(&needed).filter(|(i, _)| !is_root(i)) {
        let (of, all) = counts.entry(input.path.display().to_string()).or_default();
        *of += usize::from(*needed);
        *all += 1;
    }
    let mut needed = needed.into_iter();
    inputs.retain(|_| needed.next().expect("one for each"));
    let line = |(path, (of, all)): (&String, &(usize, usize))| {
        format!("{path}: {of} of {all} members are needed")
    };
    counts.iter().map(line).collect()
}

/// The first member, in the order of archives and members, that defines each name.
fn first_definitions<'a>(inputs: &[Admitted], names: &'a [Names]) -> HashMap<&'a str, usize> {
    let mut members: Vec<usize> = (0..inputs.len())
        .filter(|i| inputs[*i].archive.is_some())
        .collect();
    members.sort_by_key(|i| inputs[*i].archive);
    let mut first = HashMap::new();
    for member in members {
        for name in &names[member].defined {
            first.entry(name.as_str()).or_insert(member);
        }
    }
    first
}
