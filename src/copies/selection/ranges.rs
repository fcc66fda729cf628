//! Known paths as ranges of ids, which no copy counts.
//!
//! A known sub-DAG ([`super::known`]) leaves out known paths that would close over unknown ones, and control that
//! leaves it needs a register. Ranges leave out any paths, and no register is needed before a path is known to be new:
//! each prefix that known and unknown paths have in common gets blocks of its own. Code grows with the number of these
//! prefixes, so ranges suit functions with few known paths.
//!
//! ```text
//!          ┌─ a ─┐   ┌─ c ─▶            known: a c, a d, b c     unknown: b d
//!   ──▶ s ─┤     m ──┤                  edge set: a, b and c, or a, c and d; the other paths are counted
//!          └─ b ─┘   └─ d ─▶            ranges: m exists twice, and behind b its edge d counts
//! ```
#![cfg_attr(
    not(feature = "llvm"),
    allow(dead_code, reason = "only engines use all of it")
)]

use super::KnownPath;
use crate::base::index::{CopyId, PathId, VertexId};
use crate::copies::partition::Ranges;
use crate::input::ir::Cfg;
use crate::paths::function::Measuring;
use crate::paths::versions::{size, weight};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Prefixes of a function may take as much code as the function, or so many instructions.
const SMALL_FUNCTION: u64 = 256;

/// A function with more instructions gets no prefixes: every live value takes a phi where versions join.
const LARGE_FUNCTION: u64 = 1 << 12;

/// Leaves out known paths from the hottest down, as long as the prefixes of all that are left out fit the room for
/// code. `None` if not even one does, or all paths are known. O(paths · length).
pub(super) fn ranges_without_known(
    cfg: &Cfg,
    paths: &Measuring,
    known: &[KnownPath],
    copy: CopyId,
) -> Option<Ranges> {
    let size = size(cfg, &paths.shape.order);
    if size > LARGE_FUNCTION {
        return None;
    }
    let mut room = size.max(SMALL_FUNCTION);
    let mut known = known.to_vec();
    known.sort_by_key(|k| (Reverse(k.1), k.0));
    let mut prefixes = HashSet::new();
    let mut left_out = Vec::new();
    for KnownPath(id, _) in known {
        let Some(edges) = paths.decode(id) else {
            continue; // a profile of another build
        };
        let mut sum = PathId(0);
        let on_path = edges.iter().map(|e| {
            sum = sum.plus(paths.numbering.labels[*e]);
            (paths.dag.edge(*e).dst, sum)
        });
        // Behind the first edge all paths from a start have their blocks in common.
        let longer = on_path.skip(1);
        let new: Vec<(VertexId, PathId)> = longer.filter(|p| !prefixes.contains(p)).collect();
        let blocks = new.iter().filter_map(|(v, _)| paths.dag.block(*v));
        let taken: u64 = blocks.map(|b| u64::from(weight(cfg.block(b)))).sum();
        let Some(left) = room.checked_sub(taken) else {
            break;
        };
        room = left;
        prefixes.extend(new);
        left_out.push(id);
    }
    left_out.sort_unstable();
    let total = paths.numbering.total();
    let some = !left_out.is_empty() && (left_out.len() as u64) < total;
    some.then(|| Ranges::all_but(&left_out, total, copy))
}
