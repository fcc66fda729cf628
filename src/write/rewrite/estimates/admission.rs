//! Which functions estimates can be of.

use crate::estimates::subpath::plan;
use crate::input::ir::Cfg;
use crate::paths::dag::Order;

/// Whether control flow can be sampled. O(V + E).
pub(in crate::write::rewrite) fn can_be_sampled(cfg: &Cfg) -> bool {
    plan::can_be_sampled(cfg, &Order::new(cfg))
}
