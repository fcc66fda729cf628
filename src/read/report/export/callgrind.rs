//! callgrind's output format: executed LLVM instructions by line, and calls with what they cost.
//!
//! Own costs are exact. What a call costs including all that it calls is not known to a path profile: as gprof does,
//! the cost of a function is shared out to its callers by how often they called it, and a group of functions that call
//! each other is one. Calls through pointers have no callers to show. Where some paths are not selected, how often a
//! function was called is not known: costs of lines are least numbers then, and there are no calls.

use super::{Asked, Counts, Export};
use crate::base::error::Result;
use crate::base::index::FuncId;
use crate::base::names::{escape_unprintable, printed_name};
use crate::input::ir::Loc;
use crate::input::ir::callgraph::groups;
use crate::profile::Profile;
use crate::read::analysis::counted::CountedFunction;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// Instructions by line and calls, for callgrind_annotate and KCachegrind.
pub(super) struct Callgrind;

impl Export for Callgrind {
    const NAME: &'static str = "callgrind";
    const ABOUT: &'static str = "callgrind_annotate, KCachegrind: LLVM instructions by line, calls";
    type View<'a> = Counts<'a>;

    fn write(counts: &Counts, _: Asked) -> Result<Vec<u8>> {
        Ok(render(counts.profile, &counts.functions).into())
    }
}

/// The costs of one function.
struct Costs {
    own: BTreeMap<Loc, u128>,
    /// By line and number of the callee: how often it is called.
    calls: BTreeMap<(Loc, usize), u64>,
}

/// The profile.
fn render(profile: &Profile, functions: &[CountedFunction]) -> String {
    let numbers: BTreeMap<FuncId, usize> = functions
        .iter()
        .enumerate()
        .map(|(i, f)| (f.f, i))
        .collect();
    let mut costs: Vec<Costs> = functions.iter().map(|f| costs(f, &numbers)).collect();
    if functions.iter().any(|f| f.executed.is_partial) {
        costs.iter_mut().for_each(|c| c.calls.clear());
    }
    let each = cost_of_a_call(functions, &costs);
    let total: u128 = costs.iter().flat_map(|c| c.own.values()).sum();
    let mut out = format!(
        "# callgrind format\nversion: 1\ncreator: p3-prof {}\ncmd: {}\npart: 1\n\n\
         positions: line\nevent: Inst : LLVM instructions executed\nevents: Inst\nsummary: {total}\n",
        env!("CARGO_PKG_VERSION"),
        escape_unprintable(&profile.path.to_string_lossy()),
    );
    let mut writer = CallgrindWriter {
        profile,
        functions,
        each: &each,
        out: &mut out,
        files: NameNumbers::default(),
        symbols: NameNumbers::default(),
    };
    for (i, costs) in costs.iter().enumerate() {
        if !costs.own.is_empty() {
            writer.function(i, costs);
        }
    }
    let _ = writeln!(out, "\ntotals: {total}");
    out
}

fn costs(f: &CountedFunction, numbers: &BTreeMap<FuncId, usize>) -> Costs {
    let mut costs = Costs {
        own: BTreeMap::new(),
        calls: BTreeMap::new(),
    };
    let nowhere = f.entry.find_start().unwrap_or(Loc {
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
        let count = f.flow.blocks[*block];
        for (callee, span) in callees.iter().filter(|_| count > 0) {
            let spans = &f.structure.cfg.block(*block).lines;
            let loc = spans.get(*span as usize).map_or(nowhere, |s| s.loc);
            if let Some(&callee) = numbers.get(callee) {
                let calls = costs.calls.entry((loc, callee)).or_default();
                *calls = calls.saturating_add(count);
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

fn cost_of_a_call(functions: &[CountedFunction], costs: &[Costs]) -> Each {
    let callees = |i: usize| costs[i].calls.keys().map(|&(_, callee)| callee);
    let calls: Vec<(FuncId, FuncId)> = (0..functions.len())
        .flat_map(|i| callees(i).map(move |callee| (FuncId::new(i), FuncId::new(callee))))
        .collect();
    let mut each = Each {
        cost: vec![0.0; functions.len()],
        group: vec![usize::MAX; functions.len()],
    };
    for (number, group) in groups(functions.len(), &calls).into_iter().enumerate() {
        let members = || group.iter().map(|f| f.index());
        members().for_each(|f| each.group[f] = number);
        let entered: f64 = members().map(|f| functions[f].flow.entry as f64).sum();
        let (mut total, mut inside) = (0.0, 0.0);
        for f in members() {
            total += costs[f].own.values().map(|&n| n as f64).sum::<f64>();
            for (&(_, callee), &count) in &costs[f].calls {
                if each.group[callee] == number {
                    inside += count as f64;
                } else {
                    total += count as f64 * each.cost[callee];
                }
            }
        }
        let outside = (entered - inside).max(1.0);
        members().for_each(|f| each.cost[f] = total / outside);
    }
    each
}

/// The numbers that stand for names: `(1) name` where it is first used, `(1)` from then on. What looks like a
/// number in a name is thus never taken for one.
#[derive(Default)]
struct NameNumbers(HashMap<String, usize>);

impl NameNumbers {
    fn compress_name(&mut self, name: &str) -> String {
        if let Some(number) = self.0.get(name) {
            return format!("({number})");
        }
        let number = self.0.len() + 1;
        self.0.insert(name.to_string(), number);
        format!("({number}) {}", escape_unprintable(name))
    }
}

struct CallgrindWriter<'a> {
    profile: &'a Profile,
    functions: &'a [CountedFunction<'a>],
    each: &'a Each,
    out: &'a mut String,
    files: NameNumbers,
    symbols: NameNumbers,
}

impl<'a> CallgrindWriter<'a> {
    fn file(&self, loc: Option<Loc>) -> &'a str {
        let files = &self.profile.manifest.files;
        let name = loc.and_then(|l| files.get(l.file as usize));
        name.map_or("???", |n| n.as_str())
    }

    fn name_file(&mut self, key: &str, file: &str) {
        let file = self.files.compress_name(file);
        let _ = writeln!(self.out, "{key}={file}");
    }

    fn function(&mut self, number: usize, costs: &Costs) {
        let f = &self.functions[number];
        let mut current = self.file(f.entry.find_start());
        self.out.push('\n');
        self.name_file("fl", current);
        let name = self.symbols.compress_name(&printed_name(&f.entry.name));
        let _ = writeln!(self.out, "fn={name}");
        let called = costs.calls.keys().map(|(loc, _)| loc);
        let places: BTreeSet<Loc> = costs.own.keys().chain(called).copied().collect();
        for loc in places {
            if self.file(Some(loc)) != current {
                current = self.file(Some(loc));
                self.name_file("fi", current);
            }
            if let Some(cost) = costs.own.get(&loc) {
                let _ = writeln!(self.out, "{} {cost}", loc.line);
            }
            for (&(_, callee), &count) in costs.calls.range((loc, 0)..=(loc, usize::MAX)) {
                let group = |f: usize| self.each.group[f];
                let cost = if group(callee) == group(number) {
                    0.0
                } else {
                    count as f64 * self.each.cost[callee]
                };
                self.call(loc, callee, count, cost);
            }
        }
    }

    fn call(&mut self, loc: Loc, callee: usize, count: u64, cost: f64) {
        let callee = &self.functions[callee];
        let begins = callee.entry.find_start();
        self.name_file("cfi", self.file(begins));
        let name = self
            .symbols
            .compress_name(&printed_name(&callee.entry.name));
        let first = begins.map_or(0, |l| l.line);
        let _ = writeln!(self.out, "cfn={name}\ncalls={count} {first}");
        let _ = writeln!(self.out, "{} {cost:.0}", loc.line);
    }
}
