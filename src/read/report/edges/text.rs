//! `show --edges` for people.

use super::FunctionEdges;
use crate::base::index::{BlockId, TiVec};
use crate::base::names::{Beside, printed_name};
use crate::base::table::{Layout, NARROWEST, display_width, group_digits};
use crate::input::ir::Loc;
use crate::profile::Profile;
use crate::profile::left::Range;
use crate::read::report::positions::join_positions;
use std::cmp::Reverse;
use std::fmt::Write;

/// The functions that ran, most instructions first, and the blocks of each, those that ran most often first.
/// Names are as long as lines have room for, and differ where they are different functions'.
pub fn text(profile: &Profile, functions: &[FunctionEdges], layout: Layout) -> String {
    let ran = |f: &&FunctionEdges| f.blocks.iter().any(|&n| n > 0);
    let mut functions: Vec<&FunctionEdges> = functions.iter().filter(ran).collect();
    functions.sort_by_key(|f| Reverse(f.instructions));
    let beside = Beside::new(functions.iter().map(|f| printed_name(&f.name)).collect());
    let fit = |name: &str, used: usize| {
        let name = printed_name(name);
        if layout.full {
            return name;
        }
        let room = layout.width.saturating_sub(used).max(NARROWEST);
        beside.fit_name(&name, room)
    };
    let texts = functions.into_iter().map(|f| function(profile, f, &fit));
    texts.collect()
}

/// `fit` shortens a name, beside which so many columns are used.
fn function(profile: &Profile, f: &FunctionEdges, fit: &impl Fn(&str, usize) -> String) -> String {
    let place = |loc: &Option<Loc>, gap: &str| {
        let place = loc.map(|loc| join_positions(&profile.manifest.files, &[loc]));
        place.map_or(String::new(), |place| format!("{gap}{place}"))
    };
    let mut out = place(&f.begins, "  ");
    let _ = write!(out, ": entered {}", describe_range(f.entered));
    if f.left > 0 {
        let _ = write!(out, ", left before its end: {}", group_digits(f.left));
    }
    if f.again {
        out += "; setjmp may return to it again: counts are not certain";
    }
    out = fit(&f.name, display_width(&out)) + &out + "\n";
    let mut below = lines_below_blocks(f, |block| place(&f.places[block], " "), fit);
    let mut blocks: Vec<BlockId> = f.ranges.keys().collect();
    blocks.sort_by_key(|&b| Reverse(f.ranges[b].count));
    for b in blocks {
        let _ = writeln!(
            out,
            "  b{b}{}: {}",
            place(&f.places[b], " "),
            describe_range(f.ranges[b])
        );
        out += &std::mem::take(&mut below[b]);
    }
    out
}

/// By block the lines of its calls, then of its edges; `place` says where a block is.
fn lines_below_blocks(
    f: &FunctionEdges,
    place: impl Fn(BlockId) -> String,
    fit: &impl Fn(&str, usize) -> String,
) -> TiVec<BlockId, String> {
    let mut below: TiVec<BlockId, String> = f.ranges.keys().map(|_| String::new()).collect();
    for c in &f.calls {
        let (before, after) = ("    calls ", format!(": {}", group_digits(c.count)));
        let callee = fit(&c.callee, before.len() + after.len());
        let _ = writeln!(below[c.block], "{before}{callee}{after}");
    }
    for (e, name) in f.edges.iter().zip(&f.names) {
        let name = match name.as_str() {
            "" => String::new(),
            name => format!(" ({name})"),
        };
        let (place, count) = (place(e.dst), describe_range(e.range));
        let _ = writeln!(below[e.src], "    → b{}{place}{name}: {count}", e.dst);
    }
    below
}

/// A count, or between which numbers it is.
fn describe_range(range: Range) -> String {
    if range.is_exact() {
        group_digits(range.count)
    } else if range.most == u64::MAX {
        format!("{}?", group_digits(range.count))
    } else {
        format!(
            "{} to {}",
            group_digits(range.least),
            group_digits(range.most)
        )
    }
}
