//! `p3-prof`: see `docs/` and `--help`.
fn main() {}
