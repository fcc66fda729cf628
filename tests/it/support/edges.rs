//! Counts of edges, as other programs see them, against transitions in a log of executed blocks.

use super::trace::Transitions;
use super::{PROF, parsed, run};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

fn json(arguments: &[&str], file: &Path) -> serde_json::Value {
    let output = run(Command::new(PROF).args(arguments).arg(file));
    parsed(&output.stdout)
}

/// What a profile tells of one function.
pub(crate) struct Counts {
    /// How many activations were left, so that counts of edges may be off.
    pub uncertain: u64,
    pub entry: u64,
    /// Blocks from and to; parallel edges together, those never taken left out.
    pub taken: BTreeMap<(usize, usize), u64>,
    /// The least and the most that they can have been.
    pub bounds: BTreeMap<(usize, usize), (u64, u64)>,
}

/// By module and function.
pub(crate) fn edges(file: &Path) -> BTreeMap<(String, String), Counts> {
    let shown = json(&["show", "--edges", "--format", "json"], file);
    let number = |v: &serde_json::Value| v.as_u64().unwrap_or(0);
    let text = |v: &serde_json::Value| v.as_str().unwrap().to_string();
    let mut functions = BTreeMap::new();
    for f in shown["functions"].as_array().unwrap() {
        let (mut taken, mut bounds) = (BTreeMap::new(), BTreeMap::new());
        for e in f["edges"].as_array().unwrap() {
            let ends = (number(&e["src"]) as usize, number(&e["dst"]) as usize);
            *taken.entry(ends).or_default() += number(&e["count"]);
            let (least, most): &mut (u64, u64) = bounds.entry(ends).or_default();
            let unknown = f["returns_twice"].as_bool() == Some(true);
            *least += e["least"].as_u64().unwrap_or(number(&e["count"]));
            let known = e["most"].as_u64().unwrap_or(number(&e["count"]));
            *most = most.saturating_add(if unknown { u64::MAX } else { known });
        }
        taken.retain(|_, n| *n > 0);
        let counts = Counts {
            uncertain: number(&f["uncertain"]),
            entry: number(&f["entry"]),
            taken,
            bounds,
        };
        functions.insert((text(&f["module"]), text(&f["name"])), counts);
    }
    functions
}

/// Compares entries of all functions, and edges where they are said to be certain; in how many they are not,
/// or what is wrong.
pub(crate) fn compare(profile: &Path, oracle: &Transitions) -> Result<usize, String> {
    let mut uncertain = 0;
    for (function, counts) in edges(profile) {
        let (entries, taken) = oracle.get(&function).cloned().unwrap_or_default();
        if counts.entry != entries {
            let entry = counts.entry;
            return Err(format!("{function:?}: {entry} entries, not {entries}"));
        }
        if counts.uncertain > 0 {
            uncertain += 1;
        } else if counts.taken != taken {
            let counted = counts.taken;
            return Err(format!("{function:?}: {counted:?}, not {taken:?}"));
        }
    }
    Ok(uncertain)
}

/// Whether every edge was taken as often as the profile of paths or edges allows; where not.
pub(crate) fn within_bounds(profile: &Path, oracle: &Transitions) -> Result<(), String> {
    for (function, counts) in edges(profile) {
        let (_, taken) = oracle.get(&function).cloned().unwrap_or_default();
        for (ends, (least, most)) in &counts.bounds {
            let n = taken.get(ends).copied().unwrap_or(0);
            if !(*least..=*most).contains(&n) {
                return Err(format!("{function:?} {ends:?}: {n}, not {least} to {most}"));
            }
        }
    }
    Ok(())
}
