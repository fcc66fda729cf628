//! Paths counted by brute force from a log of executed blocks: the oracle's side. Uses nothing of
//! the library; only the shape of the functions is read from the manifest.

use super::{PathKey, json};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

/// One function of the manifest.
struct Function {
    module: String,
    name: String,
    succs: Vec<Vec<usize>>,
    /// By block: where edges lead that end a path, since they are retreating or cut.
    ends: Vec<Vec<usize>>,
}

/// What is known of one activation (it may go on after an exit, where vfork returns once more): its function, and the
/// path it is on.
struct Frame {
    function: usize,
    from_entry: bool,
    blocks: Vec<usize>,
    /// By block with a call that may return twice: the path when it returned first.
    returned: HashMap<usize, (bool, Vec<usize>)>,
}

/// A complete path: function, whether it begins at the entry, blocks, and where the edge goes back to that ends it.
/// Logs are long, so names are put in at the end.
type Walked = (usize, bool, Vec<usize>, Option<usize>);

/// Counts the complete paths of the log `trace`.
pub(crate) fn count(manifest: &Path, trace: &Path) -> BTreeMap<PathKey, u64> {
    let manifest = json(manifest);
    let functions = functions(&manifest);
    let mut frames: HashMap<u64, Frame> = HashMap::new();
    let mut counts: HashMap<Walked, u64> = HashMap::new();
    for record in records(trace).chunks_exact(16) {
        let frame = u64::from_le_bytes(record[..8].try_into().unwrap());
        let kind = u32::from_le_bytes(record[8..12].try_into().unwrap());
        let value = u32::from_le_bytes(record[12..].try_into().unwrap()) as usize;
        if kind == 0 {
            let new = Frame {
                function: value,
                from_entry: true,
                blocks: Vec::new(),
                returned: HashMap::new(),
            };
            frames.insert(frame, new);
            continue;
        }
        let state = frames
            .get_mut(&frame)
            .expect("a frame is entered before it runs");
        let function = &functions[state.function];
        let last = state.blocks.last().copied();
        if kind == 2 {
            let path = (state.function, state.from_entry, state.blocks.clone(), None);
            *counts.entry(path).or_default() += 1;
            continue;
        }
        if kind == 3 {
            match state.returned.get(&value) {
                None => drop(
                    state
                        .returned
                        .insert(value, (state.from_entry, state.blocks.clone())),
                ),
                Some((from_entry, blocks)) => {
                    (state.from_entry, state.blocks) = (*from_entry, blocks.clone());
                }
            }
            continue;
        }
        // Another execution of the block's call.
        state.returned.remove(&value);
        if let Some(last) = last {
            assert!(
                function.succs[last].contains(&value),
                "{}: {last} → {value}",
                function.name
            );
            if function.ends[last].contains(&value) {
                let blocks = std::mem::take(&mut state.blocks);
                let path = (state.function, state.from_entry, blocks, Some(value));
                *counts.entry(path).or_default() += 1;
                state.from_entry = false;
            }
        }
        state.blocks.push(value);
    }
    let named = |(path, n)| (key(&functions, path), n);
    counts.into_iter().map(named).collect()
}

/// By module and function: entries, and how often each block followed each other one.
pub(crate) type Transitions = BTreeMap<(String, String), (u64, BTreeMap<(usize, usize), u64>)>;

/// Counts entries and transitions of the log `trace`, those of activations that never end included.
pub(crate) fn transitions(manifest: &Path, trace: &Path) -> Transitions {
    let manifest = json(manifest);
    let functions = functions(&manifest);
    let mut frames: HashMap<u64, (usize, Option<usize>)> = HashMap::new();
    let mut counts = vec![(0, HashMap::<_, u64>::new()); functions.len()];
    for record in records(trace).chunks_exact(16) {
        let frame = u64::from_le_bytes(record[..8].try_into().unwrap());
        let kind = u32::from_le_bytes(record[8..12].try_into().unwrap());
        let value = u32::from_le_bytes(record[12..].try_into().unwrap()) as usize;
        if kind == 0 {
            frames.insert(frame, (value, None));
        }
        let (function, at) = frames.get_mut(&frame).expect("entered before it runs");
        let (entries, taken) = &mut counts[*function];
        match kind {
            0 => *entries += 1,
            1 => {
                if let Some(from) = at.replace(value) {
                    *taken.entry((from, value)).or_default() += 1;
                }
            }
            3 => *at = Some(value), // perhaps for the second time
            _ => {}
        }
    }
    let named = functions.into_iter().zip(counts);
    let ran = named.filter(|(_, (entries, _))| *entries > 0);
    ran.map(|(f, (entries, taken))| ((f.module, f.name), (entries, taken.into_iter().collect())))
        .collect()
}

/// The log without its first record, which holds their number.
fn records(trace: &Path) -> Vec<u8> {
    let mut file = std::fs::File::open(trace).unwrap();
    let mut first = [0; 16];
    file.read_exact(&mut first).unwrap();
    let n = u64::from_le_bytes(first[..8].try_into().unwrap());
    let mut records = Vec::new();
    file.take(n * 16).read_to_end(&mut records).unwrap();
    records
}

fn key(functions: &[Function], (function, from_entry, blocks, back_to): Walked) -> PathKey {
    let f = &functions[function];
    (
        f.module.clone(),
        f.name.clone(),
        if from_entry { "entry" } else { "loop" }.into(),
        blocks.into_iter().map(|b| b as u32).collect(),
        if back_to.is_some() { "back" } else { "exit" }.into(),
        back_to.map(|b| b as u32),
    )
}

fn functions(manifest: &Value) -> Vec<Function> {
    let number = |v: &Value| v.as_u64().unwrap() as usize;
    let function = |f: &Value| {
        let list = |v: &Value| v.as_array().unwrap().iter().map(number).collect();
        let succs: Vec<Vec<usize>> = f["succs"].as_array().unwrap().iter().map(list).collect();
        let mut ends = retreating(&succs);
        for cut in f["cuts"].as_array().into_iter().flatten() {
            let (block, succ) = (number(&cut["block"]), number(&cut["succ"]));
            ends[block].push(succs[block][succ]);
        }
        let module = number(&f["bodies"][0]["module"]);
        Function {
            module: manifest["modules"][module]["name"].as_str().unwrap().into(),
            name: f["name"].as_str().unwrap().into(),
            succs,
            ends,
        }
    };
    manifest["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(function)
        .collect()
}

/// The edges to a block that is on the stack of a depth-first search which visits successors in
/// order: the definition, by recursion.
fn retreating(succs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    fn visit(b: usize, succs: &[Vec<usize>], state: &mut [u8], found: &mut [Vec<usize>]) {
        state[b] = 1;
        for &s in &succs[b] {
            match state[s] {
                0 => visit(s, succs, state, found),
                1 => found[b].push(s),
                _ => {}
            }
        }
        state[b] = 2;
    }
    let mut found = vec![Vec::new(); succs.len()];
    visit(0, succs, &mut vec![0; succs.len()], &mut found);
    found
}
