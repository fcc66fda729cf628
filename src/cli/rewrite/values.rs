//! What options of `p3-rewrite` take that the core knows.

use crate::cli::values::values;
use crate::copies::plan::{Counters, Update};
use crate::input::load::{Level, Optimize};
use crate::write::dump::View;
use crate::write::options::Setting;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use std::time::Duration;

values! { Counters:
    Auto "auto" "In the code, but for ids that a hash table has not cached"
    Call "call" "Everything by a call"
}

/// What `--update` takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum UpdateChoice {
    Auto,
    Thread,
    Atomic,
    Single,
}

values! { UpdateChoice:
    Auto "auto" "thread on x86-64, aarch64 and RISC-V; elsewhere atomic if the program can start threads, else single"
    Thread "thread" "Counters of each thread's own: exact in any number, as fast as in one"
    Atomic "atomic" "Atomic increments: exact in any number, and slower"
    Single "single" "Plain increments: exact in one thread"
}

impl UpdateChoice {
    /// What is asked for; `None`: it is left open.
    pub(super) fn update(self) -> Option<Update> {
        match self {
            UpdateChoice::Auto => None,
            UpdateChoice::Thread => Some(Update::Thread),
            UpdateChoice::Atomic => Some(Update::Atomic),
            UpdateChoice::Single => Some(Update::Single),
        }
    }
}

impl ValueEnum for Optimize {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Optimize::Auto,
            Optimize::Never,
            Optimize::At(Level::O1),
            Optimize::At(Level::O2),
            Optimize::At(Level::O3),
            Optimize::At(Level::Os),
            Optimize::At(Level::Oz),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Optimize::Auto => ("auto", "At level 2, modules that were compiled with -flto"),
            Optimize::Never => ("none", "Leave modules as they are"),
            Optimize::At(Level::O1) => ("1", "All modules, like clang -O1"),
            Optimize::At(Level::O2) => ("2", "As clang -O2"),
            Optimize::At(Level::O3) => ("3", "As clang -O3"),
            Optimize::At(Level::Os) => ("s", "As clang -Os"),
            Optimize::At(Level::Oz) => ("z", "As clang -Oz"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

values! { View:
    Cfg "cfg" "The control-flow graph (dot)"
    Dag "dag" "The Ball–Larus DAG with its labels (dot)"
    Numbering "numbering" "Numbers of paths, labels and weights (text)"
    Plan "plan" "What each copy inserts (text)"
}

/// A time as people type it: `500ms`, `2s`, `1.5m`, or seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("give a time with its unit: 500ms, 2s, 1m or 1h".into()),
    };
    let time = digits.parse().map(|n: f64| n * unit);
    let time = time.ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    let time = time.filter(|t| !t.is_zero());
    time.ok_or("give a time with its unit: 500ms, 2s, 1m or 1h".into())
}

/// `NAME=VALUE`, a setting of the runner.
pub(super) fn setting(text: &str) -> Result<Setting, String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let known = Setting::NAMES.into_iter().find(|n| *n == name);
    let names = Setting::NAMES.join(", ");
    let name = known.ok_or(format!("the settings are {names}"))?;
    if !text.contains('=') {
        return Err(format!("say {name}=VALUE"));
    }
    if (name, value) == ("STDIN", "-") {
        return Err("name a file".into());
    }
    let value = value.to_string();
    Ok(Setting { name, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_people_type_them() {
        let seconds = |text| duration(text).map(|d| d.as_secs_f64());
        for (text, expected) in [("2s", 2.0), ("500ms", 0.5), ("1.5m", 90.0), ("3", 3.0)] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "-1s", "0", "0s", "2 weeks", "1e400s", "nan", "inf"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
