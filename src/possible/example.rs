//! Values with which a path runs, as the source writes them.

use serde::{Deserialize, Serialize};

/// What a variable has, or a call returns, so that a path runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// When it does.
    pub when: When,
    /// What has it, as the source writes it: `p->next`, `read_digits()`.
    pub name: String,
    /// A value, as the source writes it: `"+0"`, `'a'`, `-3`, `NULL`. `None`: any address but `NULL`.
    pub value: Option<String>,
}

/// When something has a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// When the path starts.
    Start,
    /// When a call returns it: this one of the calls of its name on the path, from 1.
    Returned(usize),
    /// After the last call of this function.
    After(String),
}

/// Values with which a path runs. What is not named may have any value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The values: those at the start first.
    pub settings: Vec<Setting>,
}

impl Setting {
    fn text(&self) -> String {
        let Setting { when, name, value } = self;
        match (when, value) {
            (When::Start, Some(value)) => format!("{name} = {value}"),
            (When::Start, None) => format!("{name} not NULL"),
            (When::Returned(number), value) => {
                let value = value.as_deref().unwrap_or("an address");
                match number {
                    1 => format!("{name} returns {value}"),
                    _ => format!("call {number} of {name} returns {value}"),
                }
            }
            (When::After(call), Some(value)) => format!("{name} = {value} after {call}"),
            (When::After(call), None) => format!("{name} not NULL after {call}"),
        }
    }
}

impl Example {
    /// For people: `s = "+0", n = 3`; of a path that begins in a loop, with that it does.
    pub fn text(&self, starts_in_loop: bool) -> String {
        let all: Vec<String> = self.settings.iter().map(Setting::text).collect();
        let all = all.join(", ");
        let is_of_start = self.settings.iter().any(|s| s.when == When::Start);
        if starts_in_loop && is_of_start {
            format!("in an iteration that starts with {all}")
        } else {
            all
        }
    }
}
