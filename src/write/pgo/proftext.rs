//! The text form of LLVM's instrumentation profiles, IR level.

use crate::write::emit::pgo::Instrumented;
use crate::write::output::{Content, Mark};
use std::fmt::Write;

/// The kinds of profiled values, by number.
const VALUE_KINDS: [&str; 3] = [
    "IPVK_IndirectCallTarget",
    "IPVK_MemOPSize",
    "IPVK_VTableTarget",
];

/// Whether the format can hold a name: a line of its own, which must not look like a comment or a flag. It has no
/// way of quoting.
pub(super) fn can_hold_name(name: &str) -> bool {
    let begins = |c: char| !c.is_whitespace() && !"#:".contains(c);
    name.starts_with(begins) && !name.contains(char::is_control)
}

/// A profile as text where results are written.
pub(crate) const CONTENT: Content = Content::text(Mark::Start(MADE_BY.as_bytes()));
/// The comment by which a text is known as ours.
const MADE_BY: &str = "# Written by p3-rewrite proftext";

/// The records, in their order. Places where LLVM profiles values are listed without any.
pub(super) fn render_records(records: &[(&Instrumented, Vec<u64>)]) -> String {
    let mut out = format!("{MADE_BY}\n# IR level Instrumentation Flag\n:ir\n");
    for (f, counters) in records {
        let _ = write!(
            out,
            "{}\n# Func Hash:\n{}\n# Num Counters:\n{}\n# Counter Values:\n",
            f.name,
            f.hash,
            counters.len()
        );
        for n in counters {
            let _ = writeln!(out, "{n}");
        }
        write_value_sites(&mut out, &f.value_sites);
        out.push('\n');
    }
    out
}

fn write_value_sites(out: &mut String, sites: &[u32]) {
    let kinds = sites.iter().enumerate().filter(|(_, n)| **n > 0);
    if kinds.clone().count() == 0 {
        return;
    }
    let _ = write!(out, "# Num Value Kinds:\n{}\n", kinds.clone().count());
    for (kind, &n) in kinds {
        let name = VALUE_KINDS.get(kind).copied().unwrap_or("another");
        let _ = write!(
            out,
            "# ValueKind = {name}:\n{kind}\n# NumValueSites:\n{n}\n"
        );
        for _ in 0..n {
            out.push_str("0\n");
        }
    }
}
