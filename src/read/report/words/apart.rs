//! What tells ways out of one block apart that have the same words.

use super::{Said, Words, shares_label};
use crate::base::index::BlockId;
use crate::input::ir::{Decided, Terminator};
use crate::profile::manifest::FunctionEntry;

/// What tells a way out of a block from others out of it with the same words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disambiguation {
    /// The column that control goes to.
    ToColumn(u32),
    /// The column of the call that threw: several on the line may.
    OfColumn(u32),
    /// The value that a `switch` of the compiler compares with.
    Value(String),
    /// The block that control goes to, or of several edges to one block the successor's ordinal, too.
    Block(String),
}

/// Unplaced blocks are followed so far.
const FARTHEST: usize = 64;

/// Where a way leads, as reports say it: file, line and column.
type WayTarget = Option<(String, u32, u32)>;

impl Words<'_> {
    /// What tells the way of `said` apart, if another way out of the block has its words. O(successors); of a call that
    /// throws O(choices).
    pub(super) fn disambiguate(
        self,
        entry: &FunctionEntry,
        said: &Said,
        decided: Option<&Decided>,
        arms: &[Option<String>],
    ) -> Option<Disambiguation> {
        let succs = &entry.succs[said.block];
        let succ = said.succ as usize;
        let is_unknown = said.outcome == "unknown" || !said.is_asked();
        match entry.terminators[said.block] {
            Terminator::Invoke if succ > 0 => self.throwing_apart(entry, said, decided),
            Terminator::Switch if !is_unknown => {
                let arm = arms.get(succ).and_then(Option::as_ref);
                let same_arm = arm.is_some_and(|arm| {
                    let others = arms.iter().enumerate().filter(|(i, _)| *i != succ);
                    others.flat_map(|(_, other)| other).any(|o| o == arm)
                });
                let same_label =
                    arm.is_none() && said.way.is_some() && shares_label(self, entry, said, decided);
                (same_arm || same_label).then(|| self.value(entry, said, decided))
            }
            _ if !is_unknown => None,
            terminator => {
                let target = self.target(entry, said.block, succs[succ]);
                let alike = succs.iter().enumerate().filter(|(i, _)| *i != succ);
                let alike: Vec<WayTarget> = alike
                    .map(|(_, to)| (*to, self.target(entry, said.block, *to)))
                    .filter(|(to, other)| match (&target, other) {
                        (Some(a), Some(b)) => (&a.0, a.1) == (&b.0, b.1),
                        // Without debug information blocks are shown by their numbers.
                        _ if entry.lines.is_empty() => *to == succs[succ],
                        // What is shown of a way to blocks without a line depends on what follows there.
                        _ => true,
                    })
                    .map(|(_, other)| other)
                    .collect();
                if alike.is_empty() {
                    return None;
                }
                if terminator == Terminator::Switch {
                    return Some(self.value(entry, said, decided));
                }
                let column = target.map_or(0, |t| t.2);
                let differs = |t: &WayTarget| t.as_ref().is_some_and(|t| t.2 > 0 && t.2 != column);
                if column > 0 && alike.iter().all(differs) {
                    return Some(Disambiguation::ToColumn(column));
                }
                let to = succs[succ];
                let parallel = succs.iter().filter(|s| **s == to).count() > 1;
                Some(Disambiguation::Block(if parallel {
                    format!("b{to}, way {}", succ + 1)
                } else {
                    format!("b{to}")
                }))
            }
        }
    }

    /// Of a call that throws: its column, if other calls on its line may throw, too.
    fn throwing_apart(
        self,
        entry: &FunctionEntry,
        said: &Said,
        decided: Option<&Decided>,
    ) -> Option<Disambiguation> {
        let site = decided?.site?;
        let others = entry
            .choices
            .iter()
            .filter(|c| c.block != said.block && entry.terminators[c.block] == Terminator::Invoke);
        let others = others.filter_map(|c| entry.choice(c.block)?.site);
        let here = |s: &crate::input::ir::Site| (s.loc, s.inlined) == (site.loc, site.inlined);
        let columns: Vec<u32> = others.filter(here).map(|s| s.column).collect();
        if columns.is_empty() {
            return None;
        }
        let is_own = site.column > 0 && !columns.contains(&site.column);
        Some(if is_own {
            Disambiguation::OfColumn(site.column)
        } else {
            Disambiguation::Block(format!("b{}", said.block))
        })
    }

    /// Where control gets from `block` by its successor `to` before anything else is decided, if a line says so.
    fn target(self, entry: &FunctionEntry, block: BlockId, to: BlockId) -> WayTarget {
        let mut at = to;
        for _ in 0..FARTHEST {
            if let Some(span) = entry.spans(at).next() {
                return Some(self.seen_outside_libraries(span));
            }
            match entry.succs[at][..] {
                [next] if at != block => at = next,
                _ => return None,
            }
        }
        None
    }

    /// The value by which a `switch` takes a way; of a character of the source, what that says.
    fn value(
        self,
        entry: &FunctionEntry,
        said: &Said,
        decided: Option<&Decided>,
    ) -> Disambiguation {
        let values = decided.map_or(&[][..], |d| &d.by.values);
        let value = (said.succ as usize).checked_sub(1);
        let value = value.and_then(|n| values.get(n));
        let character = self.label_of_value(entry, said.block, said.succ, decided);
        let character = character.filter(|label| !label.contains("..."));
        Disambiguation::Value(match (said.succ, character.as_ref().or(value)) {
            (0, _) => "default".into(),
            (_, Some(value)) => value.clone(),
            _ => format!("way {}", said.succ + 1),
        })
    }
}
