//! Plans broken at random.

use super::*;

/// What is broken, and how: numbers that choose among what there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mutation {
    kind: u8,
    which: usize,
    other: usize,
    by: i64,
}

pub(super) fn any_mutation() -> impl Strategy<Value = Mutation> {
    let choice = (0..12u8, any::<usize>(), any::<usize>(), -3..4i64);
    choice.prop_map(|(kind, which, other, by)| Mutation {
        kind,
        which,
        other,
        by,
    })
}

/// All places for code in `cfg`, and in no other function.
fn sites(cfg: &Cfg) -> Vec<Site> {
    let mut sites = vec![Site::Entry];
    for block in cfg.ids() {
        let succs = 0..cfg.block(block).succs.len() as u32;
        sites.extend(
            succs
                .clone()
                .map(|succ| Site::Edge(CfgEdge { block, succ })),
        );
        sites.extend(succs.is_empty().then_some(Site::Exit(block)));
    }
    sites
}

impl Mutation {
    pub(super) fn apply(self, cfg: &Cfg, plan: &FunctionPlan) -> FunctionPlan {
        let mut plan = plan.clone();
        let cfg = plan.versions.as_ref().map_or(cfg, |v| &v.cfg);
        let sites = sites(cfg);
        let other = sites[self.other % sites.len()];
        let mut code: BTreeMap<Site, Vec<Op>> =
            plan.probes.drain(..).map(|c| (c.site, c.ops)).collect();
        let Some(&site) = code.keys().nth(self.which % code.len().max(1)) else {
            return plan;
        };
        let ops = code.get_mut(&site).expect("it is there");
        let i = self.other % ops.len();
        match self.kind {
            0 => drop(ops.remove(i)),
            1 => ops[i] = with_constant(kind(ops[i]), constant(ops[i]).wrapping_add(self.by)),
            2 => ops[i] = with_constant(self.which % 5, constant(ops[i])),
            3 => ops.insert(i, with_constant(self.other % 5, self.by)),
            4 => ops.reverse(),
            5 => drop(code.remove(&site)),
            6 => {
                let (a, b) = (code.remove(&site), code.remove(&other));
                code.extend(a.map(|ops| (other, ops)));
                code.extend(b.map(|ops| (site, ops)));
            }
            7 => {
                let again = ops.clone();
                code.entry(other).or_default().extend(again);
            }
            8 => code
                .entry(other)
                .or_default()
                .push(with_constant(self.which % 5, self.by)),
            9 => plan.table = table(plan.table, self.which, self.by),
            10 => {
                let op = ops.remove(i);
                code.entry(other).or_default().insert(0, op);
            }
            _ => ops.push(ops[i]),
        }
        code.retain(|_, ops| !ops.is_empty());
        let code = code.into_iter().map(|(site, ops)| SiteCode { site, ops });
        plan.probes = code.collect();
        plan
    }
}

fn kind(op: Op) -> usize {
    match op {
        Op::Set(_) => 0,
        Op::Add(_) => 1,
        Op::Count(_) => 2,
        Op::CountInWindow(_) => 3,
        Op::CountConst(_) => 4,
    }
}

fn constant(op: Op) -> i64 {
    match op {
        Op::Set(c) | Op::Add(c) | Op::Count(c) | Op::CountInWindow(c) => c,
        Op::CountConst(id) => id as i64,
    }
}

fn with_constant(kind: usize, c: i64) -> Op {
    match kind {
        0 => Op::Set(c),
        1 => Op::Add(c),
        2 => Op::Count(c),
        3 => Op::CountInWindow(c),
        _ => Op::CountConst(c as u64),
    }
}

fn table(table: Table, which: usize, by: i64) -> Table {
    let ids = table.ids().saturating_add_signed(by);
    match which % 3 {
        0 => Table::Array { slots: ids },
        1 => Table::Hash { ids },
        _ => Table::Window {
            slots: (which as u64 >> 2) % (ids + 1),
            ids,
        },
    }
}
