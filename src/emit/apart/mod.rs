//! Functions beside others: whole copies, and those in which an activation goes on that began in another one.

pub(super) mod copy;
mod jumps;
pub(super) mod live;
pub(super) mod resume;
pub(super) mod shift;
