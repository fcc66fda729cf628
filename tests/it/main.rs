//! Tests of the two programs as their users run them, in one crate: it links LLVM once.
//! `cargo test --test it edge::` runs one group.

/// What the groups share.
mod subpath;
mod support;

/// What users type, read and get wrong.
mod annotated;
mod areas;
mod attributes;
mod book;
mod build;
mod cli;
mod compilers;
mod conditions;
mod contradictions;
mod coverage;
mod decisions;
mod distinct;
mod engines;
mod export;
mod generated;
mod inputs;
mod json;
mod launch;
mod live;
mod lto;
mod manifest;
mod mcdc;
mod never;
mod outputs;
mod pages;
mod reading;
mod runner;
mod rust_builds;
mod rust_code;
mod same_functions;
mod samples;
mod screens;
mod suite;
mod train;
mod truth;
mod union;
mod verdict;
mod viewers;

/// What the profiles say, against independent oracles.
mod edge;
mod evidence;
mod forked;
mod hits;
mod inlined;
mod left;
mod lines;
mod oracle_pgo;
mod oracle_trace;
mod residual;
mod selected;
mod selected_builds;
mod selected_ends;
mod selected_rust;

/// Modules read and written: snapshots, both loaders, other people's modules, random ones.
mod emit;
mod fuzz;
#[cfg(feature = "llvm-ir")]
mod loaders;
#[cfg(target_arch = "x86_64")]
mod loops;
mod paths;
mod peers;
mod possible;
mod types;

/// The runtime in the program under test.
mod absent;
mod confined;
mod pool;
mod runtime;
mod shadow;
mod signals;
mod survival;
mod thread_counts;
mod threads;
mod unlinked;
mod unnoticed;

/// The sources themselves.
mod rooms;
