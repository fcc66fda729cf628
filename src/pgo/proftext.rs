//! The text form of LLVM's instrumentation profiles, IR level.

use crate::emit::pgo::Instrumented;
use std::fmt::Write;

/// The kinds of profiled values, by number.
const VALUE_KINDS: [&str; 3] = [
    "IPVK_IndirectCallTarget",
    "IPVK_MemOPSize",
    "IPVK_VTableTarget",
];

/// Whether the format can hold a name: a line of its own, which must not look like a comment or a flag. It has no
/// way of quoting.
pub(super) fn holds(name: &str) -> bool {
    let begins = |c: char| !c.is_whitespace() && !"#:".contains(c);
    name.starts_with(begins) && !name.contains(char::is_control)
}

/// The records, in their order. Places where LLVM profiles values are listed without any.
pub(super) fn text(records: &[(&Instrumented, Vec<u64>)]) -> String {
    let mut out = String::from("# IR level Instrumentation Flag\n:ir\n");
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
        values(&mut out, &f.value_sites);
        out.push('\n');
    }
    out
}

fn values(out: &mut String, sites: &[u32]) {
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
