//! Exact path profiling of compiled programs.
//!
//! The modules, in the order in which data flows:
//!
//! ```text
//! base/error                  what a user can cause, and what to do about it
//! base/index                  typed indices
//! base/llvm                   versions of LLVM: which have engines, what their tools and packages are called
//! runtime                     what rewritten modules, the C runtime and raw profiles share
//! base/style                  styles of printed text
//! base/names                  symbols and file names as people and formats take them
//! base/table                  columns for people, CSV for programs
//! base/rows                   tables as data: columns that know their text, CSV, Markdown and JSON
//! estimates/data              estimates as profiles hold them: the kinds, and what each says
//! input/load                  files, folders, magic numbers -> bytes, kind, content hash
//! input/engine                programs for each LLVM, and which of them reads the inputs
//! input/ir                    control-flow view of all modules, lowered from what llvm-ir or LLVM shows
//! paths/dag                   Ball–Larus DAG of each function: back edges, cuts, reduced graph
//! paths/numbering             Ball–Larus and PSPP labels, ids by ends, decoding
//! paths/weights               how often each edge is expected to run
//! paths/spantree              maximum spanning tree, event counting
//! paths/versions              control flow with blocks several times: iterations of loops apart
//! paths/edges                 Knuth's edge counters and propagation
//! paths/function              what is known of each function, computed once
//! possible                    which paths cannot run: executed with terms for values
//! copies/partition            tasks, costs, LPT distribution, shares, owners
//! copies/plan                 what to insert on which edge of which copy
//! estimates/outlined/plan     a function that is entered at its loops
//! estimates/subpath/plan      what sampled functions tell the runtime
//! copies/hot                  p3-hot: ranges of paths over copies, by what the copies would run
//! copies/strategy             the table of schemes: what is measured, how it is spread, which versions
//! copies/copy_count           how many copies: a number, or as many as pay
//! copies/selection            only the paths asked for: what is selected, what is counted, who counts it
//! write/emit                  the only place that writes LLVM
//! write/judge                 answers of an engine about paths
//! estimates/outlined/emit     functions beside others, in which activations go on
//! estimates/subpath/emit      functions that are sampled
//! estimates/shadow/emit       functions that count, beside functions that do not
//! read/source                 source files: found, checked, and the text of a condition in them
//! profile/manifest            what decode, merge, verify and simulate need
//! write/output                the folder that people run: copies, runtime, Makefile, manifest
//! write/stats                 the table of --stats
//! estimates/subpath/stats     the same of functions that are sampled
//! profile                     raw files -> merged profile
//! estimates/subpath/profile   what a sample says of subpaths
//! estimates/subpath/join      subpaths that overlap, as longer ones
//! estimates/shadow/profile    bursts of a profile
//! estimates/shadow/against    bursts beside exact counts
//! read/analysis               what is computed of merged profiles
//! read/decisions              conditions of decisions, and how often each combination of their values ran
//! read/possible               asks an engine which paths cannot run
//! read/report                 what people and programs read: paths, coverage, exports, the page
//! estimates/subpath/report    what people and programs read of samples
//! estimates/subpath/export    samples for other tools
//! estimates/shadow/calls      system calls that bursts meet
//! estimates/shadow/report     what people and programs read of bursts
//! read/request                what --paths asks for: parsed, and resolved against a program or a profile
//! read/watch                  what programs count while they run: found, read again and again, the hottest first
//! write/dump                  views of every stage for people
//! write/pgo                   profiles for LLVM: annotated modules, proftext
//! write/options               what a rewriting is asked to do
//! write/rewrite               all of p3-rewrite: inputs -> output folder
//! project                     compilers in place of yours: objects with bitcode, links in copies, suites
//! cli                         command lines and help of both programs
//! ```
//!
//! A module imports only from those above it, which a test holds (`tests/it/rooms.rs`). `subpath`, `shadow` and
//! `outlined` are left out of builds without the feature `estimates`: no other module opens them but where that test
//! names a door.
//! `docs/ARCHITECTURE.md` is the map.

pub mod base;
pub mod cli;
pub mod copies;
pub mod estimates;
pub mod input;
pub mod paths;
pub mod possible;
pub mod profile;
pub mod project;
pub mod read;
pub mod runtime;
pub mod write;

pub use base::error::{Error, Result};
pub use write::options::{
    FunctionOptions, InputOptions, Options, OutputOptions, Select, Setting, Training, ViewOptions,
    WeightOptions, WeightsFrom,
};
#[cfg(feature = "llvm")]
pub use write::rewrite::{Summary, rewrite};
