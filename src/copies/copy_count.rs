//! How many copies a program gets: a number, or as many as pay.

use crate::copies::hot;
use crate::copies::partition::Units;
use crate::copies::strategy::Scheme;
use crate::paths::function::{FunctionInput, Measuring};
use std::fmt;
use std::str::FromStr;

/// The most copies that a program may have.
pub const MAX_COPIES: u32 = 1024;

/// What [`CopyCount::Auto`] makes where several copies pay.
pub(crate) const SEVERAL: u32 = 4;

/// What `-k` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyCount {
    /// So many, from 1 to [`MAX_COPIES`].
    Exactly(u32),
    /// One; [`SEVERAL`] where a profile says that they pay, and no thread can make them run unlike each other.
    Auto,
}

impl CopyCount {
    /// The copies of a program under `scheme`, of which some paths are `selected` or all, and which can start threads
    /// if `has_starters`. `paths` are those of `functions` with their expected executions. O(1), but for `Auto` as long
    /// as two assignments take.
    pub fn resolve(
        self,
        scheme: Scheme,
        functions: &[FunctionInput],
        paths: &[Option<Measuring>],
        selected: bool,
        has_starters: bool,
    ) -> u32 {
        match self {
            CopyCount::Exactly(number) => number,
            // Costs are known in instructions for one scheme only, and what is selected costs little in one copy.
            CopyCount::Auto if scheme != Scheme::P3Hot || selected || has_starters => 1,
            CopyCount::Auto => {
                let cost = scheme.strategy().cost;
                let units = Units::new(functions, paths, cost, SEVERAL);
                if hot::copies_pay(&units) { SEVERAL } else { 1 }
            }
        }
    }

    /// The most copies that this may become.
    pub fn most(self) -> u32 {
        match self {
            CopyCount::Exactly(number) => number,
            CopyCount::Auto => SEVERAL,
        }
    }
}

impl FromStr for CopyCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(CopyCount::Auto);
        }
        let number = text.parse().ok();
        let number = number.filter(|n| (1..=MAX_COPIES).contains(n));
        let number =
            number.ok_or_else(|| format!("give a number from 1 to {MAX_COPIES}, or auto"))?;
        Ok(CopyCount::Exactly(number))
    }
}

impl fmt::Display for CopyCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CopyCount::Exactly(number) => number.fmt(f),
            CopyCount::Auto => f.write_str("auto"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_numbers_of_copies_are_refused() {
        for (text, count) in [
            ("1", CopyCount::Exactly(1)),
            ("1024", CopyCount::Exactly(MAX_COPIES)),
            ("auto", CopyCount::Auto),
        ] {
            assert_eq!(text.parse(), Ok(count));
            assert_eq!(count.to_string(), text);
        }
        for text in ["0", "1025", "-1", "many", ""] {
            assert!(text.parse::<CopyCount>().is_err(), "{text}");
        }
    }
}
