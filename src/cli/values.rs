//! What options take that the core knows: the names that people type, and help.

use crate::copies::copy_count::MAX_COPIES;
use crate::copies::strategy::Scheme;
use crate::profile::merge::FailureMode;
use crate::read::decisions::Rule;
use crate::read::report::coverage::{Annotate, Sort};
use crate::read::report::export::{EXPORTERS, Exporter, Weigh};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, RangedI64ValueParser, TypedValueParser};

/// What takes a number of copies.
pub(super) fn copies() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=MAX_COPIES.into())
}

/// The number of a copy that some program may have.
///
/// # Errors
/// Another text.
pub(super) fn copy_number(text: &str) -> Result<u32, String> {
    let known = text.parse().ok().filter(|n| *n < MAX_COPIES);
    known.ok_or_else(|| "give the number of a copy, from 0 to one less than the copies".into())
}

/// Every variant with its name and help, in the order of the help text.
macro_rules! values {
    ($type:ty: $($variant:ident $name:literal $help:literal)*) => {
        impl ValueEnum for $type {
            fn value_variants<'a>() -> &'a [Self] {
                &[$(Self::$variant),*]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(match self {
                    $(Self::$variant => PossibleValue::new($name).help($help),)*
                })
            }
        }
    };
}

pub(super) use values;

impl ValueEnum for Scheme {
    fn value_variants<'a>() -> &'a [Self] {
        Scheme::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.name()).help(self.description());
        Some(value.hide(self.strategy().is_hidden))
    }
}

values! { Annotate:
    All "all" "All lines of a file"
    Missing "missing" "Lines that did not run, outcomes that never came up (but exceptions), and two lines around each"
}

values! { FailureMode:
    Any "any" "Any of these is an error"
    All "all" "An error only when no file can be used"
    Warn "warn" "Never an error"
}

values! { Rule:
    UniqueCause "unique-cause" "Two evaluations that differ in the outcome and in no other condition that both evaluated, like llvm-cov"
    Masking "masking" "One evaluation true and one false, and no other condition that hides it, like gcov"
}

values! { Sort:
    Missing "missing" "Functions with most paths that did not run"
    Share "share" "Functions of which the smallest share ran"
    Name "name" "By name"
    File "file" "By file and line"
}

values! { Weigh:
    Paths "paths" "How often it ran"
    Instructions "instructions" "The LLVM instructions that were executed on it"
}

/// The name of an exporter.
pub(super) fn exporter() -> impl TypedValueParser<Value = &'static Exporter> {
    let names = EXPORTERS
        .iter()
        .map(|e| PossibleValue::new(e.name).help(e.about));
    PossibleValuesParser::new(names).map(|name| {
        let named = EXPORTERS.iter().find(|e| e.name == name);
        named.expect("only these are possible")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is printed is what `--scheme` takes, and what manifests hold.
    #[test]
    fn schemes_have_one_name() {
        for scheme in Scheme::value_variants() {
            let name = scheme.to_string();
            assert_eq!(scheme.to_possible_value().unwrap().get_name(), name);
            assert_eq!(serde_json::to_value(scheme).unwrap(), name);
        }
    }
}
