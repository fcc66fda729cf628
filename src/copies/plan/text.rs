//! Plans as text: what `--dump plan` prints.

use super::{CopyPlan, FunctionPlan, Op, Site, Table};
use crate::base::index::{BlockId, FuncId};
use crate::base::names::escape_unprintable;
use std::fmt;

impl CopyPlan {
    /// The plan as text; `name` gives functions their names.
    pub(crate) fn text<'a>(&self, name: impl Fn(FuncId) -> &'a str) -> String {
        let functions = self.functions.iter().map(|f| f.text(name(f.func)));
        std::iter::once(format!("copy {}\n", self.copy))
            .chain(functions)
            .collect()
    }
}

impl FunctionPlan {
    /// The plan of one function as text, one line for each site.
    pub(crate) fn text(&self, name: &str) -> String {
        let entries = if self.entries { ", entries" } else { "" };
        let mut out = format!(
            "{}: {}{entries}, {} sites\n",
            escape_unprintable(name),
            self.table,
            self.probes.len()
        );
        for (b, origin) in self.copies() {
            out += &format!("  b{b} is b{origin} again\n");
        }
        for code in &self.probes {
            let ops: Vec<String> = code.ops.iter().map(Op::to_string).collect();
            out += &format!("  {:<12} {}\n", format!("{}:", code.site), ops.join("; "));
        }
        out
    }
}

impl FunctionPlan {
    /// The blocks that are versions of others.
    fn copies(&self) -> impl Iterator<Item = (BlockId, BlockId)> + '_ {
        let origins = self.versions.iter().flat_map(|v| v.origin.iter().copied());
        let all = origins.enumerate().map(|(b, o)| (BlockId::new(b), o));
        all.filter(|(b, o)| b != o)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Table::Array { slots } => write!(f, "array of {slots}"),
            Table::Hash { ids } => write!(f, "hash table for {ids} ids"),
            Table::Window { slots, ids } => {
                write!(f, "array of {slots}, hash table for {ids} ids")
            }
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Site::Entry => f.write_str("entry"),
            Site::Edge(e) => e.fmt(f),
            Site::Exit(b) => write!(f, "b{b}.exit"),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Set(c) => write!(f, "r = {c}"),
            Op::Add(c) if *c < 0 => write!(f, "r -= {}", c.unsigned_abs()),
            Op::Add(c) => write!(f, "r += {c}"),
            Op::Count(0) => write!(f, "count[r]++"),
            Op::Count(c) if *c < 0 => write!(f, "count[r - {}]++", c.unsigned_abs()),
            Op::Count(c) => write!(f, "count[r + {c}]++"),
            Op::CountInWindow(c) => write!(f, "{} in window", Op::Count(*c)),
            Op::CountConst(id) => write!(f, "count[{id}]++"),
        }
    }
}
