//! What lists on the screen show: items with numbers, in an order.
#![cfg_attr(
    not(feature = "estimates"),
    allow(dead_code, reason = "only estimates use all of it")
)]

use super::lit::Lit;
use crate::base::error::Result;
use crate::base::table::{display_width, percent};
use crate::read::report::steps::{StepRow, fit_in_a_line, least_width};

/// What comes first in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// Executed instructions.
    #[default]
    Instructions,
    /// The share of executed paths or blocks, as far as it is sure.
    Share,
    /// Executed paths; of a subpath, how often it ran.
    Count,
    /// How many ran; of a path, its length.
    Size,
    /// Names; ids; the order of blocks.
    Name,
}

impl Sort {
    /// The next one, around.
    pub(super) fn next(self, among: &[Sort]) -> Sort {
        let at = among.iter().position(|s| *s == self).unwrap_or(0);
        among[(at + 1) % among.len()]
    }

    /// In a word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Sort::Instructions => "instructions",
            Sort::Share => "share",
            Sort::Count => "count",
            Sort::Size => "size",
            Sort::Name => "name",
        }
    }
}

/// A row of a function: its numbers, and its name.
pub(super) type Cells = (Vec<String>, String);

/// What stands behind the numbers of an item.
pub(super) enum Described {
    Text(String),
    /// A path: what it may be called, the longest first, and steps of it.
    Path {
        names: Vec<String>,
        steps: Vec<StepRow>,
    },
}

impl Described {
    /// As much as so many columns have room for: of steps, conditions are shortened, and outcomes are not; before
    /// these, a part of the path's name goes.
    pub(super) fn shorten_to(&self, room: usize) -> String {
        match self {
            Described::Text(text) => text.clone(),
            Described::Path { names, steps } => {
                let needed = least_width(steps);
                let fits = |name: &&String| display_width(name) + 2 + needed <= room;
                let name = names.iter().find(fits).or(names.last());
                let name = name.map_or("", String::as_str);
                let room = room.saturating_sub(display_width(name) + 2);
                let line = format!("{name}  {}", fit_in_a_line(steps, room));
                line.trim().to_string()
            }
        }
    }
}

/// The paths of a function, or subpaths.
pub(super) trait Items {
    /// What they are, and of what.
    fn title(&self) -> String;
    /// The names of the columns, and which of them stays where room is scarce.
    fn heading(&self) -> (Vec<&'static str>, usize);
    fn len(&self) -> usize;
    fn sort(&self) -> Sort;
    /// What they can be sorted by.
    fn sort_orders(&self) -> &'static [Sort];
    fn sort_by(&mut self, sort: Sort) -> Result<()>;
    /// What the list shows of one.
    fn row(&mut self, i: usize) -> Result<(Vec<String>, Described)>;
    /// One, in a line.
    fn name(&mut self, i: usize) -> Result<String>;
    /// The source text that it runs through.
    fn find_source_text(&mut self, i: usize) -> Result<Lit>;
}

/// A part of all, in per cent.
pub(super) fn share(part: u128, all: u128) -> String {
    percent(part as f64 / all.max(1) as f64)
}
