//! Analyses of merged profiles: whether two profiles agree, what a function executed, how accurately
//! its edges predict its paths, which paths no input can take. An analysis whose result is one table
//! prints it as well; what quotes the source is in [`crate::read::report`].

pub mod accuracy;
pub mod cause;
pub mod compare;
pub mod contradiction;
pub mod counted;
pub mod hits;
pub mod lines;
pub mod samples;
pub mod simulate;
