//! callgrind's output format: executed LLVM instructions by line, and calls with what they cost.
//!
//! Own costs are exact. What a call costs including all that it calls is not known to a path profile: as gprof
//! does, the cost of a function is shared out to its callers by how often they called it, and a group of
//! functions that call each other is one. Calls through pointers have no callers to show.

use super::Counted;
use crate::index::FuncId;
use crate::ir::Loc;
use crate::profile::Profile;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Calls from one line to one function.
struct Call {
    callee: usize,
    count: u64,
}

/// The costs of one function.
struct Costs {
    own: BTreeMap<Loc, u128>,
    calls: BTreeMap<Loc, Vec<Call>>,
}

/// The profile.
pub fn render(profile: &Profile, functions: &[Counted]) -> String {
    let numbers: BTreeMap<FuncId, usize> = functions
        .iter()
        .enumerate()
        .map(|(i, f)| (f.f, i))
        .collect();
    let costs: Vec<Costs> = functions.iter().map(|f| costs(f, &numbers)).collect();
    let each = cost_of_a_call(functions, &costs);
    let total: u128 = costs.iter().flat_map(|c| c.own.values()).sum();
    let mut out = format!(
        "# callgrind format\nversion: 1\ncreator: p3-prof {}\ncmd: {}\npart: 1\n\n\
         positions: line\nevent: Inst : LLVM instructions executed\nevents: Inst\nsummary: {total}\n",
        env!("CARGO_PKG_VERSION"),
        profile.path.display(),
    );
    let writer = Writer {
        profile,
        functions,
        each: &each,
    };
    for (i, costs) in costs.iter().enumerate() {
        if !costs.own.is_empty() {
            writer.function(&mut out, i, costs);
        }
    }
    let _ = writeln!(out, "\ntotals: {total}");
    out
}

fn costs(f: &Counted, numbers: &BTreeMap<FuncId, usize>) -> Costs {
    let mut costs = Costs {
        own: BTreeMap::new(),
        calls: BTreeMap::new(),
    };
    let nowhere = f.begins().unwrap_or(Loc {
        file: u32::MAX,
        line: 0,
    });
    for (block, &n) in f.structure.cfg.blocks.iter().zip(&f.flow.blocks) {
        if n == 0 {
            continue;
        }
        if block.lines.is_empty() {
            *costs.own.entry(nowhere).or_default() +=
                u128::from(n) * u128::from(block.instructions);
        }
        for span in &block.lines {
            *costs.own.entry(span.loc).or_default() +=
                u128::from(n) * u128::from(span.instructions);
        }
    }
    for (block, callees) in &f.entry.calls {
        let count = f.flow.blocks[block.index()];
        for (callee, span) in callees.iter().filter(|_| count > 0) {
            let spans = &f.structure.cfg.block(*block).lines;
            let loc = spans.get(*span as usize).map_or(nowhere, |s| s.loc);
            if let Some(&callee) = numbers.get(callee) {
                let here = costs.calls.entry(loc).or_default();
                match here.iter_mut().find(|c| c.callee == callee) {
                    Some(call) => call.count = call.count.saturating_add(count),
                    None => here.push(Call { callee, count }),
                }
            }
        }
    }
    costs
}

/// By function: what one call of it costs, all that it calls included; nothing within its group.
struct Each {
    cost: Vec<f64>,
    group: Vec<usize>,
}

fn cost_of_a_call(functions: &[Counted], costs: &[Costs]) -> Each {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    functions.iter().for_each(|_| {
        graph.add_node(());
    });
    let edges = costs.iter().enumerate().flat_map(|(i, c)| {
        let callees = c.calls.values().flatten().map(|call| call.callee);
        callees.map(move |callee| (i, callee))
    });
    for (a, b) in edges {
        graph.update_edge(NodeIndex::new(a), NodeIndex::new(b), ());
    }
    let mut each = Each {
        cost: vec![0.0; functions.len()],
        group: vec![usize::MAX; functions.len()],
    };
    // Callees come before their callers.
    for (number, group) in tarjan_scc(&graph).into_iter().enumerate() {
        let members = || group.iter().map(|n| n.index());
        members().for_each(|f| each.group[f] = number);
        let entered: f64 = members().map(|f| functions[f].flow.entry as f64).sum();
        let (mut total, mut inside) = (0.0, 0.0);
        for f in members() {
            total += costs[f].own.values().map(|&n| n as f64).sum::<f64>();
            for call in costs[f].calls.values().flatten() {
                match each.group[call.callee] == number {
                    true => inside += call.count as f64,
                    false => total += call.count as f64 * each.cost[call.callee],
                }
            }
        }
        let outside = (entered - inside).max(1.0);
        members().for_each(|f| each.cost[f] = total / outside);
    }
    each
}

struct Writer<'a> {
    profile: &'a Profile,
    functions: &'a [Counted<'a>],
    each: &'a Each,
}

impl Writer<'_> {
    fn file(&self, loc: Option<Loc>) -> &str {
        let name = loc.and_then(|l| self.profile.manifest.files.get(l.file as usize));
        name.map_or("???", |n| n.as_str())
    }

    fn function(&self, out: &mut String, number: usize, costs: &Costs) {
        let f = &self.functions[number];
        let mut current = self.file(f.begins());
        let _ = write!(out, "\nfl={current}\nfn={}\n", f.name);
        let places: BTreeSet<Loc> = costs
            .own
            .keys()
            .chain(costs.calls.keys())
            .copied()
            .collect();
        for loc in places {
            if self.file(Some(loc)) != current {
                current = self.file(Some(loc));
                let _ = writeln!(out, "fi={current}");
            }
            if let Some(cost) = costs.own.get(&loc) {
                let _ = writeln!(out, "{} {cost}", loc.line);
            }
            for call in costs.calls.get(&loc).into_iter().flatten() {
                let group = |f: usize| self.each.group[f];
                let cost = match group(call.callee) == group(number) {
                    true => 0.0,
                    false => call.count as f64 * self.each.cost[call.callee],
                };
                self.call(out, loc, call, cost);
            }
        }
    }

    fn call(&self, out: &mut String, loc: Loc, call: &Call, cost: f64) {
        let callee = &self.functions[call.callee];
        let begins = callee.begins();
        let _ = write!(
            out,
            "cfi={}\ncfn={}\ncalls={} {}\n{} {cost:.0}\n",
            self.file(begins),
            callee.name,
            call.count,
            begins.map_or(0, |l| l.line),
            loc.line,
        );
    }
}
