//! The text form of LLVM's own profiles.

use super::{EXACT, Exporter, Writer};

/// Which edges LLVM counts only LLVM knows: the exporter that is no [`super::Export`].
pub(super) const EXPORTER: Exporter = Exporter {
    name: "proftext",
    about: "llvm-profdata merge, clang -fprofile-use: edge counts by LLVM's own instrumentation",
    weighed: false,
    own: false,
    told: false,
    by_line: false,
    unfit: Some(EXACT),
    writer: Writer::Rewriter,
};
