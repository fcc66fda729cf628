//! Who owns a path.

use super::Share;
use crate::index::{CopyId, EdgeId};
use fixedbitset::FixedBitSet;

/// Which copy owns a path.
///
/// The union of two tasks on one copy can close over a path of a third, so copies may count a
/// path twice. The owner is the lowest copy that counts it; merging takes the owner's count and
/// checks the others against it.
pub struct Owners<'a>(pub &'a Share);

impl Owners<'_> {
    /// The copies that count the path along `edges`, ascending: the first is its owner.
    pub fn of(&self, edges: &[EdgeId]) -> impl Iterator<Item = CopyId> {
        let (whole, split) = match self.0 {
            Share::Nothing => (None, &[][..]),
            Share::Whole(c) => (Some(*c), &[][..]),
            Share::Split(sets) => (None, &sets[..]),
        };
        let holds = |set: &FixedBitSet| edges.iter().all(|e| set.contains(e.index()));
        whole
            .into_iter()
            .chain(split.iter().filter(move |(_, s)| holds(s)).map(|&(c, _)| c))
    }
}
