//! What is computed of merged profiles, without a word of what people read: whether two profiles agree, what a
//! function executed, how much of its paths its edges tell, which paths no input can take.

pub mod accuracy;
pub mod against;
pub mod cause;
pub mod compare;
pub mod contradiction;
pub mod counted;
pub mod hits;
pub mod lines;
pub mod samples;
pub mod simulate;
