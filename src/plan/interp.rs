//! Runs a plan along the control flow of an activation: the oracle's view of a plan.

use super::{FunctionPlan, Op, Site, Table};
use crate::index::{BlockId, CfgEdge};
use std::collections::BTreeMap;

/// Counts and cost of running a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Count by the id that the copy uses.
    pub counts: BTreeMap<u64, u64>,
    /// How many statements ran.
    pub hits: u64,
}

/// One activation of a function under a plan.
pub struct Activation<'a> {
    plan: &'a FunctionPlan,
    outcome: &'a mut Outcome,
    /// `None` where the plan has not set it since the last count.
    register: Option<i64>,
    /// The version of the block that control is in, where the plan has versions.
    at: BlockId,
}

impl<'a> Activation<'a> {
    /// The function is entered.
    pub fn enter(plan: &'a FunctionPlan, outcome: &'a mut Outcome) -> Self {
        let mut activation = Activation {
            plan,
            outcome,
            register: None,
            at: BlockId(0),
        };
        activation.run(Site::Entry);
        activation
    }

    /// Control takes an edge of the function.
    ///
    /// # Panics
    /// When it is not in `block`.
    pub fn take(&mut self, block: BlockId, succ: u32) {
        let block = self.version(block);
        self.run(Site::Edge(CfgEdge { block, succ }));
        if let Some(versions) = &self.plan.versions {
            self.at = versions.cfg.block(block).succs[succ as usize];
        }
    }

    /// Control reaches the end of a block without successors.
    pub fn leave(mut self, block: BlockId) {
        let block = self.version(block);
        self.run(Site::Exit(block));
    }

    /// The version of `block` that control is in.
    fn version(&self, block: BlockId) -> BlockId {
        let Some(versions) = &self.plan.versions else {
            return block;
        };
        assert_eq!(versions.origin[self.at.index()], block, "control is there");
        self.at
    }

    /// # Panics
    /// When the plan reads the register before it set it, or counts an id outside its table.
    fn run(&mut self, site: Site) {
        for &op in self.plan.ops(site) {
            self.outcome.hits += 1;
            match op {
                Op::Set(c) => self.register = Some(c),
                Op::Add(c) => self.register = Some(self.read(site).wrapping_add(c)),
                Op::Count(c) | Op::CountInWindow(c) => {
                    let id = self.read(site).wrapping_add(c) as u64;
                    if let Table::Window { slots, .. } = self.plan.table {
                        assert_eq!(op == Op::CountInWindow(c), id < slots, "{op} of {id}");
                    }
                    self.count(id);
                }
                Op::CountConst(id) => self.count(id),
            }
        }
    }

    fn read(&self, site: Site) -> i64 {
        self.register
            .unwrap_or_else(|| panic!("{site:?} reads a register that is not set"))
    }

    fn count(&mut self, id: u64) {
        assert!(
            id < self.plan.table.ids(),
            "id {id} outside {:?}",
            self.plan.table
        );
        *self.outcome.counts.entry(id).or_default() += 1;
        self.register = None;
    }
}
