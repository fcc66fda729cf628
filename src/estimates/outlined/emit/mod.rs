//! Functions beside others: whole copies, and those in which an activation goes on that began in another one.

mod copied;
pub(crate) mod copy;
pub(crate) mod handed;
mod jumps;
pub(crate) mod live;
mod moved;
pub(crate) mod resume;
pub(crate) mod shift;
