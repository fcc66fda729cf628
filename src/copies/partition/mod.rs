//! Who profiles what (P3 paper, Algorithm 2): tasks → copies → shares, and owners of paths.
//!
//! A function's paths are one task, or several where that is profitable; tasks go to copies longest first. What a
//! copy profiles of a function is its *share*. How tasks are made and given out ([`Distribute`]) and what they are
//! taken to cost ([`Cost`]) is for the strategy to choose ([`crate::copies::strategy`]).

mod cost;
mod distribute;
mod even;
mod find;
mod iterations;
mod local;
mod owners;
mod ranges;
mod selected;
mod share;
mod sides;
mod units;

#[cfg(test)]
mod tests;

pub use cost::{Cost, Costs};
pub(crate) use cost::{WHOLE, worth_of_a_label};
pub use distribute::{Distribution, Spread, distribute, distribute_by_halves};
pub use even::split_evenly;
pub use find::find_partition;
pub use iterations::Iterations;
pub use local::Local;
pub use owners::Owners;
pub use ranges::{Held, NOBODY, Ranges};
pub use share::{Assignment, Part, Share, Task};
pub use sides::Side;
pub use units::{
    Distribute, Units, assign_by_halves, assign_longest_first, split_where_called_once,
    to_the_first,
};
