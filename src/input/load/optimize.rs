//! Whether modules are optimised before they are rewritten, and by which of LLVM's pipelines.

use serde::{Deserialize, Serialize};

/// One of LLVM's pipelines, `opt -passes='default<O2>'`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Level {
    /// Little, and quickly.
    O1,
    /// What `clang -O2` does.
    O2,
    /// More, for larger code.
    O3,
    /// `O2`, for smaller code.
    Os,
    /// The smallest code.
    Oz,
}

impl Level {
    /// The level of modules that were compiled for link-time optimisation, whose own level no module tells.
    pub const OF_LTO: Level = Level::O2;

    /// The pipeline, in the words of `opt -passes`.
    pub fn pipeline(self) -> String {
        format!("default<{}>", self.word())
    }

    /// The name in LLVM's pipelines, messages and manifests.
    pub fn word(self) -> &'static str {
        match self {
            Level::O1 => "O1",
            Level::O2 => "O2",
            Level::O3 => "O3",
            Level::Os => "Os",
            Level::Oz => "Oz",
        }
    }
}

/// When a module is optimised before it is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimize {
    /// If it was compiled for link-time optimisation, at [`Level::OF_LTO`].
    Auto,
    /// Not at all.
    Never,
    /// In any case.
    At(Level),
}

impl Optimize {
    /// The level for a module; `for_lto`: it was compiled for link-time optimisation.
    pub fn level(self, for_lto: bool) -> Option<Level> {
        match self {
            Optimize::Auto => for_lto.then_some(Level::OF_LTO),
            Optimize::Never => None,
            Optimize::At(level) => Some(level),
        }
    }
}
