//! Arguments of `p3-rewrite` and what they resolve to.

mod sampling;
mod values;

use sampling::SamplingArgs;

use super::build::{BuildArgs, IntegrateArgs, SuiteArgs, UseArgs, cannot_select};
use super::manual::ManualArgs;
use super::selection::SelectionArgs;
use super::{Color, ForceArgs};
use crate::dump::View;
use crate::engine::{self, Request as EngineRequest};
use crate::error::Result;
use crate::load::Optimize;
use crate::names::Filter;
use crate::options::{Options, Select, Setting, Training, WeightsFrom};
use crate::output::check_folder_name;
use crate::plan::{Counters, Update};
use crate::profile::verdict::Trust;
use crate::request::{Empty, Request, Target};
use crate::source::{Search, Sources};
use crate::strategy::Scheme;
use clap::builder::PossibleValue;
use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

/// Rewrites LLVM IR into K copies that together take an exact path profile.
///
/// Every copy runs on the same input and profiles its share of the paths; `make -C DIR run`
/// links, runs and merges, `make -C DIR report` shows the hottest paths.
#[derive(Debug, Parser)]
#[command(
    name = "p3-rewrite",
    version = version(),
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Args {
    /// What to do instead of rewriting
    #[command(subcommand)]
    pub command: Option<Command>,

    /// `.ll`, `.bc`, `.mlir` or any file that holds bitcode by content (objects, archives of them), or a folder
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Lower `.mlir` by mlir-opt first: passes as in its --pass-pipeline
    #[arg(long, value_name = "PASSES")]
    mlir_pipeline: Option<String>,

    /// Optimise inputs before they are rewritten, native too, by LLVM's pipeline of this level
    #[arg(long, value_name = "LEVEL", value_enum, default_value = "auto")]
    optimize: Optimize,

    /// The engine to use, by the major version of its LLVM [default: P3_LLVM, else the lowest that reads the inputs]
    #[arg(long, value_name = "VERSION")]
    llvm: Option<u32>,

    /// Number of copies, 1 to 1024 [default: 4, of subpath 1]
    #[arg(short = 'k', long, value_name = "K",
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    copies: Option<u32>,

    /// Output folder, made if missing
    #[arg(short, long, required = true, value_name = "DIR")]
    out: Option<PathBuf>,

    /// How the work is spread over the copies (sbl always makes one copy)
    #[arg(long, value_name = "NAME", value_enum, default_value = "p3-hot")]
    scheme: SchemeArg,

    /// What to write for each copy
    #[arg(
        long,
        value_name = "FORMATS",
        value_enum,
        value_delimiter = ',',
        default_value = "bc"
    )]
    emit: Vec<ModuleFormat>,

    /// An earlier merged profile of this program, or an output folder with one: weights for placement and partition
    #[arg(long, value_name = "FILE|OUTDIR", group = "weights")]
    profile: Option<PathBuf>,

    /// Estimate weights where the profile knows none of the functions: one profile for all programs of a build
    #[arg(long, hide = true)]
    accept_unrelated_profile: bool,

    /// Take weights from a run with these arguments, before anything is written: one copy that counts
    /// edges is linked and run as `make run` would
    #[arg(
        long,
        value_name = "ARGS",
        group = "weights",
        allow_hyphen_values = true
    )]
    train: Option<String>,

    /// End that run after this long, as 500ms or 2s [default: when the program ends]
    #[arg(long, value_name = "TIME", requires = "train", value_parser = values::duration)]
    train_for: Option<Duration>,

    /// A setting of `make run` for that run: STDIN, FILES, LDLIBS, … (may be repeated) [default: the
    /// environment's]
    #[arg(long, value_name = "NAME=VALUE", requires = "train", value_parser = values::setting)]
    train_with: Vec<Setting>,

    /// Refuse a profile, or a training run, whose verdict is not ok (exit status 1)
    #[arg(long, requires = "weights")]
    strict: bool,

    #[command(flatten)]
    paths: SelectionArgs,

    /// The program is one of a build's: it may have nothing of what is selected
    #[arg(long, hide = true)]
    of_a_build: bool,

    /// A file that lists edges, ids or known ids by function, to count these paths alone: for tests
    #[arg(long, value_name = "FILE", hide = true, conflicts_with_all = ["paths", "patch"])]
    selection: Option<PathBuf>,

    /// Instrument only functions whose symbol or readable name matches (may be repeated)
    #[arg(long, value_name = "RE")]
    include: Vec<String>,

    /// Do not instrument functions whose symbol or readable name matches (may be repeated)
    #[arg(long, value_name = "RE")]
    exclude: Vec<String>,

    /// Where counters are incremented: in the code, or by calls into the runtime
    #[arg(long, value_enum, default_value = "auto")]
    counters: Counters,

    /// How counters are updated: `atomic` stays exact with threads, as clang's
    /// -fprofile-update
    #[arg(long, value_enum, default_value = "single")]
    update: Update,

    /// Count executed probes as well, for p3-prof hits
    #[arg(long)]
    count_hits: bool,

    /// Prove independently that the inserted code counts every path once, under its id
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    sampling: SamplingArgs,

    /// Write views of the analyses
    #[arg(long, value_name = "VIEWS", value_enum, value_delimiter = ',')]
    dump: Vec<View>,

    /// Folder for --dump [default: DIR/dump]
    #[arg(long, value_name = "DIR", requires = "dump")]
    dump_dir: Option<PathBuf>,

    /// Only functions whose symbol or readable name matches, for --dump and --stats
    #[arg(long, value_name = "RE")]
    function: Option<String>,

    /// Print a table of paths, probes, expected load and status by function and copy
    #[arg(long)]
    stats: bool,

    /// Threads and processes at once [default: all cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: Option<u32>,

    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,

    /// Print how long each phase takes
    #[arg(short, long)]
    verbose: bool,

    /// When to colour messages
    #[arg(long, value_enum, default_value = "auto")]
    pub color: Color,
}

static VERSION: OnceLock<String> = OnceLock::new();

/// This version; that of an engine's LLVM, or which engines are here.
fn version() -> &'static str {
    VERSION.get_or_init(|| {
        let engines = engine::installed();
        let versions: Vec<String> = engines.iter().map(|e| e.llvm.to_string()).collect();
        let engines = match &versions[..] {
            [] => "no engine".to_string(),
            _ => format!("engines for LLVM {}", versions.join(", ")),
        };
        format!("{} ({engines})", env!("CARGO_PKG_VERSION"))
    })
}

/// Has `--version` print that of LLVM: an engine has one. Before arguments are parsed.
#[cfg(feature = "llvm")]
pub(super) fn print_llvm_version(llvm: &str) {
    let version = format!("{} (LLVM {llvm})", env!("CARGO_PKG_VERSION"));
    VERSION.set(version).expect("nothing was parsed before");
}

/// The command that the first word was meant for, where it names no file and is much like one.
pub fn meant(word: &str) -> Option<String> {
    let likeness = |name: &str| strsim::jaro_winkler(word, name);
    let command = <Args as clap::CommandFactory>::command();
    let names = command.get_subcommands().map(|c| c.get_name().to_string());
    let near = names.map(|n| (likeness(&n), n)).filter(|(l, _)| *l > 0.85);
    let (_, name) = near.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (name != word && !std::path::Path::new(word).exists()).then_some(name)
}

/// Builds and test suites, and profiles for compilers.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write the counts of a profile into modules, for LLVM to optimise by
    ///
    /// Branch weights, entry counts and a profile summary, as clang -fprofile-use finds them; then
    /// clang -O2 OUT.
    Annotate(AnnotateArgs),
    /// Write a profile as the text that llvm-profdata merge takes
    ///
    /// For clang -fprofile-use on the sources of a module that was taken where LLVM would have
    /// instrumented it.
    Proftext(ProftextArgs),
    /// Build programs in copies: run a build's command with p3-cc and p3-cxx as its compilers
    ///
    /// For `./configure` as well as for `make`. A program that was linked so is copy 0; the others are beside it.
    /// (A folder of modules that has this name is ./build.)
    Build(BuildArgs),
    /// Run a command, such as make check, once for every copy of what was built; merge what each program counted
    Suite(SuiteArgs),
    /// Put a copy in the place of every program that was built
    Use(UseArgs),
    /// Write files by which build systems find p3-cc: a toolchain file and find_package(P3) for CMake, a native file for Meson,
    /// p3.pc for pkg-config
    Integrate(IntegrateArgs),
    /// Look for all that is called: compilers, make, kernel features; say what to do where something is missing (exit status 1)
    Doctor,
    /// Write man pages and completions of shells for all our programs into a share folder
    Manual(ManualArgs),
}

/// The arguments of `annotate`.
#[derive(Debug, clap::Args)]
pub struct AnnotateArgs {
    /// The modules that were profiled, or a folder of them
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,

    /// A merged profile, or an output folder with one
    #[arg(long, value_name = "FILE|OUTDIR")]
    pub profile: PathBuf,

    /// Refuse a profile whose verdict is not ok (exit status 1)
    #[arg(long)]
    pub strict: bool,

    /// The annotated module, as text if it ends in .ll (-: standard output, bitcode); a folder for several
    #[arg(short, long, value_name = "OUT")]
    pub out: PathBuf,

    /// Whether other files may be replaced
    #[command(flatten)]
    pub force: ForceArgs,

    /// The engine to use, by the major version of its LLVM [default: P3_LLVM, else the lowest that reads the inputs]
    #[arg(long, value_name = "VERSION")]
    pub llvm: Option<u32>,

    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// The arguments of `proftext`.
#[derive(Debug, clap::Args)]
pub struct ProftextArgs {
    /// The modules that were profiled, or a folder of them
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,

    /// A merged profile, or an output folder with one
    #[arg(long, value_name = "FILE|OUTDIR")]
    pub profile: PathBuf,

    /// Refuse a profile whose verdict is not ok (exit status 1)
    #[arg(long)]
    pub strict: bool,

    /// Where to write it (-: standard output) [default: standard output]
    #[arg(
        short,
        long,
        value_name = "OUT",
        default_value = "-",
        hide_default_value = true
    )]
    pub out: PathBuf,

    /// Whether other files may be replaced
    #[command(flatten)]
    pub force: ForceArgs,

    /// The engine to use, by the major version of its LLVM [default: P3_LLVM, else the lowest that reads the inputs]
    #[arg(long, value_name = "VERSION")]
    pub llvm: Option<u32>,

    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

impl AnnotateArgs {
    /// What an engine is chosen by.
    pub fn engine(&self) -> EngineRequest<'_> {
        EngineRequest {
            inputs: &self.inputs,
            out: None,
            llvm: self.llvm,
        }
    }
}

impl ProftextArgs {
    /// What an engine is chosen by.
    pub fn engine(&self) -> EngineRequest<'_> {
        EngineRequest {
            inputs: &self.inputs,
            out: None,
            llvm: self.llvm,
        }
    }
}

/// The values of `--scheme`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemeArg {
    /// A scheme.
    Of(Scheme),
    /// One copy that reports every executed block to a tracer: the test oracle.
    Trace,
}

/// The values of `--emit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModuleFormat {
    /// Bitcode
    Bc,
    /// Text
    Ll,
}

fn weights_from(
    profile: Option<PathBuf>,
    train: Option<String>,
    limit: Option<Duration>,
    settings: Vec<Setting>,
) -> WeightsFrom {
    let training = train.map(|arguments| {
        WeightsFrom::Training(Training {
            arguments,
            limit,
            settings,
        })
    });
    let profile = profile.map(WeightsFrom::Profile);
    training.or(profile).unwrap_or(WeightsFrom::Estimates)
}

impl ValueEnum for SchemeArg {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<SchemeArg>> = LazyLock::new(|| {
            let named = Scheme::ALL.iter().map(|&scheme| SchemeArg::Of(scheme));
            named.chain([SchemeArg::Trace]).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            SchemeArg::Of(scheme) => scheme.to_possible_value(),
            SchemeArg::Trace => Some(PossibleValue::new("trace").hide(true)),
        }
    }
}

/// Resolves a request against the program that is rewritten, and prints what the user should know of it.
fn select(request: Request, quiet: bool) -> Select {
    Select::new(move |program, paths| {
        let target = Target::of_program(program, &paths.raw);
        let checksums = program.files.iter().map(|f| f.checksum.clone());
        let checksums: Vec<String> = checksums.collect();
        let sources = Sources::new(&target.files, &checksums, Search::default());
        let (asked, lines) = request.resolve(&target, &sources)?;
        if !quiet {
            lines.iter().for_each(|line| super::warn(line));
        }
        Ok(asked)
    })
}

impl Args {
    /// What an engine is chosen by.
    pub fn engine(&self) -> EngineRequest<'_> {
        EngineRequest {
            inputs: &self.inputs,
            out: self.out.as_deref(),
            llvm: self.llvm,
        }
    }

    /// What they ask for. Checks what clap cannot.
    ///
    /// # Errors
    /// Filters that are no regular expressions.
    pub fn resolve(self) -> Result<Options> {
        let (scheme, trace) = match self.scheme {
            SchemeArg::Of(scheme) => (scheme, false),
            SchemeArg::Trace => (Scheme::Sbl, true),
        };
        let out = self.out.expect("clap requires it");
        check_folder_name(&out)?;
        let strategy = scheme.strategy();
        let is_selective = self.selection.is_some() || self.paths.is_given();
        let takes_selections = scheme.takes_selections() && !trace;
        if is_selective && !takes_selections {
            let name = if trace { "trace" } else { scheme.name() };
            return Err(cannot_select(name));
        }
        let empty = if self.of_a_build {
            Empty::Allowed
        } else {
            Empty::Refused
        };
        let request = self.paths.read(Trust::strict(self.strict), empty)?;
        let paths = match (self.selection, request) {
            (Some(file), _) => Some(Select::from_file(file)),
            (None, request) => request.map(|r| select(r, self.quiet)),
        };
        let dump_dir = self.dump_dir.unwrap_or_else(|| out.join("dump"));
        Ok(Options {
            copies: strategy.copies(self.copies.unwrap_or(strategy.usual_copies)),
            sampling: self.sampling.resolve(scheme)?,
            scheme,
            trace,
            bitcode: self.emit.contains(&ModuleFormat::Bc),
            text: self.emit.contains(&ModuleFormat::Ll),
            paths,
            include: Filter::parse("--include", &self.include)?,
            exclude: Filter::parse("--exclude", &self.exclude)?,
            function: Filter::parse("--function", self.function.as_slice())?,
            inputs: self.inputs,
            mlir: self.mlir_pipeline,
            optimize: self.optimize,
            out,
            weights: weights_from(self.profile, self.train, self.train_for, self.train_with),
            accept_unrelated: self.accept_unrelated_profile,
            trust: Trust::strict(self.strict),
            counters: self.counters,
            update: self.update,
            count_hits: self.count_hits,
            check: self.check,
            dump: self.dump,
            dump_dir,
            stats: self.stats,
            jobs: self.jobs,
            verbosity: i8::from(self.verbose) - i8::from(self.quiet),
        })
    }
}
