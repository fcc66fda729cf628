//! How much code versions may take.
//!
//! Bounds hold before anything is made: a copy's version of a function holds at most its own
//! blocks, those of the foreign version, and the blocks of prefixes.

use super::costs::Facts;
use crate::base::index::{CopyId, PathId, VertexId};
use crate::input::ir::Cfg;
use crate::paths::versions::weight;
use rustc_hash::{FxHashMap, FxHashSet};

/// A copy may hold this many instructions more for each of the program's.
const GROWTH: f64 = 0.5;

/// A program that is smaller is taken to be this large: its code fits an instruction cache in any
/// case.
const SMALL_PROGRAM: u64 = 4096;

/// Prefixes of a function may take as much code as it has, or this: what is small and hot may have
/// more versions.
const SMALL_FUNCTION: u64 = 256;

/// The room that is left.
#[derive(Clone)]
pub(super) struct Room {
    /// By copy.
    left: Vec<f64>,
    /// By function and copy: the prefixes that have blocks, and their instructions.
    prefixes: FxHashMap<(usize, CopyId), Prefixes>,
}

#[derive(Clone, Default)]
struct Prefixes {
    held: FxHashSet<(VertexId, PathId)>,
    size: u64,
}

impl Room {
    /// For a program of so many instructions.
    pub(super) fn new(program: u64, copies: u32) -> Room {
        let all = program.max(SMALL_PROGRAM) as f64 * GROWTH;
        Room {
            left: vec![all; copies as usize],
            prefixes: FxHashMap::default(),
        }
    }

    /// Takes room for a foreign version of a function in every copy, if there is any.
    pub(super) fn take_function(&mut self, facts: &Facts) -> bool {
        self.reserve(0..self.left.len(), facts.size)
    }

    /// Takes room for the blocks of prefixes that part at the last of `passed`, in every copy.
    pub(super) fn take_prefixes(
        &mut self,
        function: usize,
        facts: &Facts,
        cfg: &Cfg,
        id: PathId,
        passed: &[VertexId],
    ) -> bool {
        let new: Vec<(VertexId, PathId)> = passed.iter().map(|&v| (v, id)).collect();
        let size = size_of(facts, cfg, &new);
        let copies = 0..self.left.len();
        let entry = |c: usize| (function, CopyId::new(c));
        let fits = |c: usize, room: &Room| {
            let held = room.prefixes.get(&entry(c)).map_or(0, |p| p.size);
            held + size <= growth_limit(facts)
        };
        if !copies.clone().all(|c| fits(c, self)) || !self.reserve(copies.clone(), size) {
            return false;
        }
        for c in copies {
            let prefixes = self.prefixes.entry(entry(c)).or_default();
            prefixes.held.extend(&new);
            prefixes.size += size;
        }
        true
    }

    /// Takes room for the blocks of hot path `id`, in its copy.
    pub(super) fn take_path(
        &mut self,
        function: usize,
        copy: CopyId,
        facts: &Facts,
        cfg: &Cfg,
        id: PathId,
    ) -> bool {
        let mut new = facts.flow.prefixes_of(id);
        let held = self.prefixes.entry((function, copy)).or_default();
        new.retain(|p| !held.held.contains(p));
        let size = size_of(facts, cfg, &new);
        if held.size + size > growth_limit(facts) {
            return false;
        }
        if !self.take_blocks(copy, size) {
            return false;
        }
        let held = self.prefixes.entry((function, copy)).or_default();
        held.held.extend(new);
        held.size += size;
        true
    }

    /// Takes room for so many instructions in a copy.
    pub(super) fn take_blocks(&mut self, copy: CopyId, size: u64) -> bool {
        self.reserve(copy.index()..copy.index() + 1, size)
    }

    fn reserve(&mut self, copies: std::ops::Range<usize>, size: u64) -> bool {
        let left = &mut self.left[copies];
        let fits = left.iter().all(|&l| l >= size as f64);
        if fits {
            left.iter_mut().for_each(|l| *l -= size as f64);
        }
        fits
    }
}

fn growth_limit(facts: &Facts) -> u64 {
    facts.size.max(SMALL_FUNCTION)
}

fn size_of(facts: &Facts, cfg: &Cfg, prefixes: &[(VertexId, PathId)]) -> u64 {
    let blocks = prefixes.iter().filter_map(|&(v, _)| facts.flow.block(v));
    blocks.map(|b| u64::from(weight(cfg.block(b)))).sum()
}
