//! Functions beside others: whole copies, and those in which an activation goes on that began in another one.

pub(super) mod copy;
mod jumps;
mod live;
pub(super) mod resume;
