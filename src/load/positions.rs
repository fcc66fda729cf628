//! Where code is in the source, as debug information has it: plain data, which `emit::positions` finds for whichever
//! loader reads the module.

use serde::{Deserialize, Serialize};

/// The positions of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Positions {
    /// Source files that positions refer to.
    pub files: Vec<SourceFile>,
    /// Calls that were inlined.
    pub inlined: Vec<Inlined>,
    /// Each position once.
    pub places: Vec<Place>,
    /// The definitions in module order.
    pub bodies: Vec<BodyPositions>,
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceFile {
    /// Its name, below the folder that the compiler worked in unless it is absolute.
    pub name: String,
    /// The hash of its content when it was compiled, in lower-case hexadecimal: MD5, SHA-1 or SHA-256 by its length. Empty if
    /// there is none.
    pub checksum: String,
}

/// A call whose callee's code stands in place of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Inlined {
    /// The symbol of the function called.
    pub function: String,
    /// The file of the call.
    pub file: u32,
    /// The line of the call.
    pub line: u32,
    /// The column of the call; 0 if it is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub column: u32,
    /// The inlined call that this one is in; an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<u32>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Number of the file.
    pub file: u32,
    /// The line, counted from 1.
    pub line: u32,
    /// The column in bytes, counted from 1; 0 if it is not known.
    pub column: u32,
    /// Tells blocks of one line apart, where the compiler was asked for that; else 0.
    pub discriminator: u32,
    /// The inlined call that it is in.
    pub inlined: Option<u32>,
}

/// The positions of a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyPositions {
    /// File and line at which it begins.
    pub begins: Option<(u32, u32)>,
    /// Its blocks, in order.
    pub blocks: Vec<BlockPositions>,
    /// The places of what chooses without a branch: `select`, `and` and `or` of conditions.
    pub branchless: Vec<u32>,
}

/// The positions of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockPositions {
    /// Of each instruction but the φs: its number among [`Positions::places`] plus 1, or 0 where it has none.
    pub instructions: Vec<u32>,
    /// What is chosen at its end, if there is a choice.
    pub choice: Option<Choice>,
}

/// What a terminator chooses by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Of a `switch`: the value of each successor but the first, in decimal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// Whether these values are of a type of one byte.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bytes: bool,
    /// Of a branch that asks whether an exception is of a type: that type's symbol, and the successor if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catches: Option<(String, u32)>,
}
