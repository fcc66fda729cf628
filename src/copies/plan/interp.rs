//! Runs a plan along the control flow of an activation: what a plan means, by definition. An oracle for tests.

use super::{FunctionPlan, Op, Site, Table};
use crate::base::index::{BlockId, CfgEdge};
use crate::paths::random_cfg::Walk;
use std::collections::BTreeMap;

/// Counts and cost of running a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Count by the id that the copy uses.
    pub(crate) counts: BTreeMap<u64, u64>,
    /// How many statements ran.
    pub(crate) hits: u64,
}

/// One activation of a function under a plan.
pub(crate) struct Activation<'a> {
    plan: &'a FunctionPlan,
    outcome: &'a mut Outcome,
    /// `None` where the plan has not set it since the last count.
    register: Option<i64>,
    /// The version of the block that control is in, where the plan has versions.
    at: BlockId,
}

impl<'a> Activation<'a> {
    /// The function is entered.
    ///
    /// # Errors
    /// Here and below: the plan reads the register before it set it, or counts an id that its table has no place for.
    pub(crate) fn enter_function(
        plan: &'a FunctionPlan,
        outcome: &'a mut Outcome,
    ) -> Result<Self, String> {
        let mut activation = Activation {
            plan,
            outcome,
            register: None,
            at: BlockId(0),
        };
        activation.run(Site::Entry)?;
        Ok(activation)
    }

    /// Control takes an edge of the function.
    ///
    /// # Panics
    /// When it is not in `block`.
    pub(crate) fn take_edge(&mut self, block: BlockId, succ: u32) -> Result<(), String> {
        let block = self.version(block);
        self.run(Site::Edge(CfgEdge { block, succ }))?;
        if let Some(versions) = &self.plan.versions {
            self.at = versions.cfg.block(block).succs[succ as usize];
        }
        Ok(())
    }

    /// Control reaches the end of a block without successors.
    pub(crate) fn leave_function(mut self, block: BlockId) -> Result<(), String> {
        let block = self.version(block);
        self.run(Site::Exit(block))
    }

    /// The version of `block` that control is in.
    fn version(&self, block: BlockId) -> BlockId {
        let Some(versions) = &self.plan.versions else {
            return block;
        };
        assert_eq!(versions.origin[self.at], block, "control is there");
        self.at
    }

    fn run(&mut self, site: Site) -> Result<(), String> {
        for &op in self.plan.ops(site) {
            self.outcome.hits += 1;
            match op {
                Op::Set(c) => self.register = Some(c),
                Op::Add(c) => self.register = Some(self.read(site)?.wrapping_add(c)),
                Op::Count(c) | Op::CountInWindow(c) => {
                    let id = self.read(site)?.wrapping_add(c) as u64;
                    self.count(op, id)?;
                }
                Op::CountConst(id) => self.count(op, id)?,
            }
        }
        Ok(())
    }

    fn read(&self, site: Site) -> Result<i64, String> {
        let unset = || format!("{site} reads a register that is not set");
        self.register.ok_or_else(unset)
    }

    fn count(&mut self, op: Op, id: u64) -> Result<(), String> {
        let fits = match (self.plan.table, op) {
            (Table::Window { slots, .. }, Op::CountInWindow(_)) => id < slots,
            (Table::Window { ids, .. }, Op::Count(_)) => id < ids,
            (Table::Hash { .. }, Op::CountInWindow(_)) => false,
            (table, _) => id < table.ids(),
        };
        if !fits {
            return Err(format!("{op} of {id} in a table with {}", self.plan.table));
        }
        *self.outcome.counts.entry(id).or_default() += 1;
        self.register = None;
        Ok(())
    }
}

/// Runs `plan` along a walk.
pub(crate) fn run(plan: &FunctionPlan, walk: &Walk, outcome: &mut Outcome) -> Result<(), String> {
    let mut activation = Activation::enter_function(plan, outcome)?;
    for e in &walk.edges {
        activation.take_edge(e.block, e.succ)?;
    }
    match walk.exit {
        Some(block) => activation.leave_function(block),
        None => Ok(()),
    }
}
