//! Two versions of every block, between which control switches at edges picked by a hash: how `emit` copies blocks is
//! tested with this by itself. Both versions have the code of the block's plan, so nothing else changes.

use super::{FunctionPlan, Site, SiteCode};
use crate::base::index::{CfgEdge, FuncId};
use crate::input::ir::Cfg;
use crate::paths::versions::{Versions, can_be_copied};
use std::sync::Arc;

/// `plan`, of a function with control flow `cfg` and no versions yet, with two versions of every block that can be
/// reached in both; as it is where blocks cannot be copied. Linear.
///
/// The order of the versions is that of their origins, so where the register needed no value over a back edge, it needs
/// none now.
pub(crate) fn double_blocks(cfg: &Cfg, plan: FunctionPlan) -> FunctionPlan {
    assert!(plan.versions.is_none(), "one reason for versions at a time");
    if !can_be_copied(cfg, &plan.own_order) {
        return plan;
    }
    let next = |second: bool, e| second ^ switches_version(plan.func, e, second);
    let versions = Versions::product(cfg, &plan.own_order, false, next).versions;
    FunctionPlan {
        probes: in_all_versions(&plan, &versions),
        mostly_in_window: plan.mostly_in_window.inverse_image(&versions.origin),
        versions: Some(Arc::new(versions)),
        branches: Vec::new(),
        ..plan
    }
}

/// Whether control goes over to the other version on `e`: on two of five edges, so that both go on for a while.
fn switches_version(func: FuncId, e: CfgEdge, second: bool) -> bool {
    let edge = u64::from(e.block.0) << 32 | u64::from(e.succ) << 1 | u64::from(second);
    // The finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): every bit of the input moves all of the output.
    let mut z = edge ^ u64::from(func.0).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ z >> 31) % 5 < 2
}

/// The code of every site at all of its versions.
fn in_all_versions(plan: &FunctionPlan, versions: &Versions) -> Vec<SiteCode> {
    let mut probes = Vec::new();
    let mut put = |site, own| {
        let ops = plan.ops(own).to_vec();
        if !ops.is_empty() {
            probes.push(SiteCode { site, ops });
        }
    };
    put(Site::Entry, Site::Entry);
    for &block in &versions.order.rpo {
        let succs = versions.cfg.block(block).succs.len() as u32;
        for e in (0..succs).map(|succ| CfgEdge { block, succ }) {
            put(Site::Edge(e), Site::Edge(versions.origin_of(e)));
        }
        put(Site::Exit(block), Site::Exit(versions.origin[block]));
    }
    probes.sort_by_key(|code| code.site);
    probes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::BlockId;
    use crate::copies::plan::interp::{self, Outcome};
    use crate::copies::plan::made::plan_of_one_version;
    use crate::copies::plan::register::Registers;
    use crate::paths::random_cfg::{any_cfg, cfg, walk};
    use proptest::prelude::*;

    #[test]
    fn blocks_that_cannot_be_copied_stay() {
        let mut graph = cfg(&[&[1], &[1, 2], &[]]);
        assert!(
            double_blocks(&graph, plan_of_one_version(&graph))
                .versions
                .is_some()
        );
        graph.blocks[BlockId(1)].single = true;
        assert_eq!(
            double_blocks(&graph, plan_of_one_version(&graph)),
            plan_of_one_version(&graph)
        );
    }

    proptest! {
        /// Counts stay, and so does the number of statements; the register has its SSA form, and most blocks a second
        /// version.
        #[test]
        fn both_versions_count_alike(
            graph in any_cfg(20),
            choices in proptest::collection::vec(any::<u8>(), 0..120),
        ) {
            let Some(walk) = walk(&graph, &choices) else { return Ok(()) };
            let (one, two) = (plan_of_one_version(&graph), double_blocks(&graph, plan_of_one_version(&graph)));
            let outcome = |plan| {
                let mut outcome = Outcome::default();
                interp::run(plan, &walk, &mut outcome).map(|()| outcome)
            };
            prop_assert_eq!(outcome(&one), outcome(&two));
            let versions = two.versions.as_ref().unwrap();
            Registers::new(&versions.cfg, &versions.order, &two);
        }
    }

    #[test]
    fn most_blocks_get_a_second_version() {
        let n = 200;
        let succs: Vec<Vec<u32>> = (0..n)
            .map(|b| vec![b + 1, (b + 7).min(n)])
            .chain([vec![]])
            .collect();
        let graph = cfg(&succs.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let versions = double_blocks(&graph, plan_of_one_version(&graph))
            .versions
            .unwrap();
        assert!(versions.cfg.len() > 350, "{}", versions.cfg.len());
    }
}
