//! Plans for tests.

use super::FunctionPlan;
use super::build::copy_plan;
use crate::base::index::{BlockId, CopyId};
use crate::copies::partition::Share;
use crate::input::ir::Cfg;
use crate::paths::function::Measuring;
use crate::paths::function::made::all_measured as all_paths;
use crate::paths::random_cfg::input;

/// One copy counts all paths of the function with control flow `graph`, where iterations of loops are apart.
pub(crate) fn whole_plan(graph: &Cfg) -> FunctionPlan {
    plan(graph, |apart| apart)
}

/// One copy counts all paths of the function with control flow `graph`, each block once.
pub(crate) fn plan_of_one_version(graph: &Cfg) -> FunctionPlan {
    plan(graph, |_| Vec::new())
}

fn plan(graph: &Cfg, apart: impl Fn(Vec<BlockId>) -> Vec<BlockId>) -> FunctionPlan {
    let functions = [input(graph)];
    let paths = all_paths(&functions).into_iter().map(|p| {
        let p: Measuring = p?;
        let chosen = apart(p.apart.clone());
        Some(p.with_apart(chosen))
    });
    let shares = [Share::Whole(CopyId(0))];
    let plan = copy_plan(&functions, &paths.collect::<Vec<_>>(), &shares, CopyId(0));
    let [plan] = <[FunctionPlan; 1]>::try_from(plan.functions).expect("one function");
    plan
}
