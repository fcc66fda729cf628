//! How functions are sampled, as text: what `--dump plan` prints, and the figures of `--stats`.

use super::{End, Made, Mode, SubpathPlan};
use crate::base::index::{BlockId, CfgEdge};
use crate::base::names::escape_unprintable;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a plan comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Boundaries: the entry, back edges, and other edges where something is paid.
    pub boundaries: usize,
    /// The most slots that one of them pays.
    pub slots: u32,
    /// Tests behind calls and landing pads.
    pub tests: usize,
    /// Blocks in which nothing is recorded, as long as nothing was; of short loops several times.
    pub skipping: usize,
    /// Blocks of loops that are resumed.
    pub resumed: usize,
    /// Blocks that are told.
    pub sampling: usize,
    /// Whether what samples is a function of its own, where emission finds that it can be.
    pub apart: bool,
}

impl SubpathPlan {
    /// The plans that are carried out: of one function, or of the two that it becomes.
    fn parts(&self) -> Vec<&SubpathPlan> {
        match &self.apart {
            Some(apart) => vec![&apart.skipping, &apart.sampling],
            None => vec![self],
        }
    }

    /// The one that has the boundaries of both.
    fn first_part(&self) -> &SubpathPlan {
        self.apart.as_ref().map_or(self, |apart| &apart.skipping)
    }

    /// The block of the function that is block `b` of the plan, before anything is added.
    fn own_block(&self, b: BlockId) -> BlockId {
        self.flow.versions.origin[BlockId(b.0 - self.offset)]
    }

    /// The edge on which block `b` was made, if it was.
    fn made_on_an_edge(&self, b: BlockId) -> Option<CfgEdge> {
        let before = self.cfg.len() - self.made.len();
        match self.made.get(b.0.checked_sub(before as u32)? as usize)? {
            Made::On(edge) => Some(*edge),
            Made::Body | Made::Landed(_) | Made::Tail(_) | Made::New => None,
        }
    }

    /// What the plan comes to. Linear.
    pub fn figures(&self) -> Figures {
        let mut figures = Figures {
            apart: self.apart.is_some(),
            ..Figures::default()
        };
        for node in &self.first_part().nodes {
            if let End::Pays(slots) = node.end {
                figures.boundaries += 1;
                figures.slots = figures.slots.max(slots);
            }
            figures.tests += usize::from(node.end == End::Looks);
        }
        for part in self.parts() {
            for (mode, blocks) in part.by_mode() {
                match mode {
                    Mode::Skipping => figures.skipping += blocks.len(),
                    Mode::Resumed(_) => figures.resumed += blocks.len(),
                    Mode::Sampling | Mode::Over => figures.sampling += blocks.len(),
                }
            }
        }
        figures
    }

    /// The function's blocks by the versions in which they are.
    fn by_mode(&self) -> BTreeMap<Mode, Vec<BlockId>> {
        let mut by_mode: BTreeMap<Mode, Vec<BlockId>> = BTreeMap::new();
        for (b, mode) in self.modes.iter_enumerated() {
            let node = &self.nodes[self.versions.origin[b]];
            if let (Some(mode), true) = (mode, node.begins) {
                by_mode
                    .entry(*mode)
                    .or_default()
                    .push(self.own_block(node.origin));
            }
        }
        by_mode.values_mut().for_each(|blocks| blocks.sort());
        by_mode
    }

    /// The plan as text: a line for each boundary, test and version.
    pub fn text(&self, name: &str) -> String {
        let mut out = format!(
            "{}: blocks from number {} on",
            escape_unprintable(name),
            self.first
        );
        out += match self.apart {
            Some(_) => ", what samples is a function of its own\n",
            None => ", all versions are in one function\n",
        };
        let first = self.first_part();
        for (b, node) in first.nodes.iter_enumerated() {
            let from = first.own_block(node.origin);
            let place = || {
                let to = first.own_block(first.nodes[first.cfg.block(b).succs[1]].origin);
                match first.made_on_an_edge(b) {
                    Some(_) => format!("b{from} → b{to}:"),
                    None => format!("b{from}:"),
                }
            };
            let _ = match node.end {
                End::Pays(slots) if b == BlockId(0) => {
                    writeln!(out, "  {:<12} pays {slots}", "entry:")
                }
                End::Pays(slots) => writeln!(out, "  {:<12} pays {slots}", place()),
                End::Looks => writeln!(out, "  {:<12} tests behind calls", place()),
                _ => Ok(()),
            };
        }
        for part in self.parts() {
            for (mode, blocks) in part.by_mode() {
                let version = match mode {
                    Mode::Skipping => "skipping".to_string(),
                    Mode::Resumed(header) => {
                        format!("resumed b{}", part.own_block(part.nodes[header].origin))
                    }
                    Mode::Sampling | Mode::Over => "sampling".to_string(),
                };
                let blocks = blocks.chunk_by(|a, b| a == b).map(|same| match same.len() {
                    1 => format!("b{}", same[0]),
                    n => format!("b{}×{n}", same[0]),
                });
                let blocks: Vec<String> = blocks.collect();
                let _ = writeln!(out, "  {:<12} {}", version + ":", blocks.join(" "));
            }
        }
        out
    }
}
