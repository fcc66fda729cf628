//! What a rewriting is asked to do.

mod select;

use crate::base::names::Filter;
use crate::copies::copy_count::CopyCount;
use crate::copies::plan::{Counters, Names, Update};
use crate::copies::strategy::{Method, Scheme};
use crate::estimates::data::Settings;
use crate::input::load::Optimize;
use crate::profile::verdict::Trust;
use crate::write::dump::View;
use std::path::PathBuf;
use std::time::Duration;

pub use select::Select;

/// How the warning of a rewriting begins that threads may lose counts; behind it, functions that start them.
pub(crate) const THREADS_WARNING: &str = "threads may lose counts";

/// How the warning of a rewriting into several copies begins that they may run unlike each other; behind it, functions
/// that start threads.
pub(crate) const UNLIKE_WARNING: &str = "threads rarely run alike in several copies";

/// Where weights come from.
#[derive(Clone, Debug)]
pub enum WeightsFrom {
    /// Control flow alone.
    Estimates,
    /// An earlier merged profile.
    Profile(PathBuf),
    /// A run of the program before it is rewritten.
    Training(Training),
}

/// A run of the program to take weights from.
#[derive(Clone, Debug)]
pub struct Training {
    /// The program's arguments, as the shell reads them.
    pub arguments: String,
    /// How long it may run; `None`: to its end.
    pub limit: Option<Duration>,
    /// Settings of the runner, besides those in the environment.
    pub settings: Vec<Setting>,
}

/// A setting of the runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// One of [`Setting::NAMES`].
    pub name: &'static str,
    /// Its value.
    pub value: String,
}

impl Setting {
    /// The settings that a training run takes: those of `make run` that say how to link and run.
    pub const NAMES: [&str; 9] = [
        "STDIN",
        "FILES",
        "ALLOW_STATUS",
        "FIXED_TIME",
        "LDLIBS",
        "LDFLAGS",
        "CFLAGS",
        "CC",
        "CXX",
    ];
}

/// What to rewrite, and how. Fields that are needed together are groups, and functions take the group that they need.
#[derive(Debug)]
pub struct Options {
    /// What to load.
    pub inputs: InputOptions,
    /// What to write, and where.
    pub output: OutputOptions,
    /// Where weights come from.
    pub weights: WeightOptions,
    /// Which functions are instrumented.
    pub functions: FunctionOptions,
    /// What to show of the analysis.
    pub views: ViewOptions,
    /// The number of copies to make.
    pub copies: CopyCount,
    /// The scheme.
    pub scheme: Scheme,
    /// The paths to count, if not all; only where a scheme counts paths.
    pub paths: Option<Select>,
    /// How counts are incremented.
    pub counters: Counters,
    /// Whether counts are exact under threads; `None`: they are, in the way that costs least.
    pub update: Option<Update>,
    /// How subpaths are sampled: there if and only if the scheme's method is [`Method::Sample`].
    pub sampling: Option<Settings>,
    /// Count executed probes.
    pub count_hits: bool,
    /// Prove every plan before it is carried out.
    pub check: bool,
    /// Threads; `None` for all cores.
    pub jobs: Option<u32>,
    /// -1 quiet, 0, 1 verbose.
    pub verbosity: i8,
}

/// What to load.
#[derive(Debug)]
pub struct InputOptions {
    /// Files and folders.
    pub files: Vec<PathBuf>,
    /// Which inputs are optimised before they are rewritten.
    pub optimize: Optimize,
    /// What lowers MLIR, in the words of `mlir-opt --pass-pipeline`.
    pub mlir: Option<String>,
}

/// What to write, and where.
#[derive(Debug)]
pub struct OutputOptions {
    /// The output folder.
    pub folder: PathBuf,
    /// Write bitcode.
    pub bitcode: bool,
    /// Write text.
    pub text: bool,
    /// Write the numbers of each module, and a digest of all else: for links that share machine code.
    pub numbers: bool,
}

/// Where weights come from.
#[derive(Debug)]
pub struct WeightOptions {
    /// The source.
    pub from: WeightsFrom,
    /// Whether a profile of another program is no error: weights are estimated then. A build gives one profile to all
    /// programs.
    pub accept_unrelated: bool,
    /// Which profiles are good enough.
    pub trust: Trust,
}

/// Which functions are instrumented.
#[derive(Clone, Debug)]
pub struct FunctionOptions {
    /// These alone, if any are named.
    pub include: Option<Filter>,
    /// None of these.
    pub exclude: Option<Filter>,
}

/// What to show of the analysis.
#[derive(Debug, Default)]
pub struct ViewOptions {
    /// Views to write.
    pub dump: Vec<View>,
    /// The folder for the views.
    pub folder: PathBuf,
    /// The functions to dump and list; `None`: all.
    pub function: Option<Filter>,
    /// Print the table.
    pub stats: bool,
}

impl ViewOptions {
    /// Whether function `name` is to be dumped and listed.
    pub fn selects_function(&self, name: &str) -> bool {
        self.function.as_ref().is_none_or(|f| f.admits(name))
    }
}

impl Options {
    /// The options that change what copies do, as text that depends on no name in this code, where counts are updated
    /// by `update`: part of the program's id, by which profiles of equal programs merge.
    pub fn identity(&self, update: Update) -> String {
        let trace = self.scheme.strategy().method == Method::Trace;
        let (counters, update) = (self.counters.word(), update.word());
        let sampling = self.sampling.as_ref().map(|s| format!(" {}", s.identity()));
        format!(
            "counters={counters} update={update} trace={trace} hits={}{}",
            self.count_hits,
            sampling.unwrap_or_default()
        )
    }

    /// What becomes of the names of values in the copies: they are for readers of text.
    pub fn names(&self) -> Names {
        if self.output.text {
            Names::Kept
        } else {
            Names::Dropped
        }
    }
}
