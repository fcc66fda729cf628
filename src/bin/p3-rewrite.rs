//! `p3-rewrite`: see `docs/` and `--help`.
fn main() {}
