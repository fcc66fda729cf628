//! Who owns a path.

use super::{Part, Share, Side};
use crate::base::index::{CopyId, EdgeId, PathId};

/// Which copy owns a path.
///
/// The union of two tasks on one copy can close over a path of a third, so copies may count a
/// path twice. The owner is the lowest copy that counts it; merging takes the owner's count and
/// checks the others against it.
pub struct Owners<'a>(pub &'a Share);

impl Owners<'_> {
    /// The copies that count path `id` along `edges`, ascending: the first is its owner.
    pub fn copies_counting(&self, id: PathId, edges: &[EdgeId]) -> impl Iterator<Item = CopyId> {
        let counts = move |part: &Part| match part {
            Part::All => true,
            Part::Edges(set) | Part::Side(Side::Inside(set)) => {
                edges.iter().all(|e| set.contains(*e))
            }
            // No other copy profiles such a function.
            Part::Side(Side::Outside(_)) => true,
            Part::Ranges(ranges, copy) => ranges.owner(id) == *copy,
        };
        let parts = self.0.parts().into_iter();
        parts.filter(move |(_, p)| counts(p)).map(|(c, _)| c)
    }
}
