//! Arguments of `p3-rewrite` and what they resolve to.

mod sampling;
mod values;

use sampling::SamplingArgs;

use super::build::{BuildArgs, IntegrateArgs, UseArgs, cannot_select, number_of_copies};
use super::help::HelpArgs;
use super::manual::ManualArgs;
use super::selection::SelectionArgs;
use super::suite::SuiteArgs;
use super::{Color, ForceArgs};
use crate::base::error::Result;
use crate::base::names::Filter;
use crate::copies::copy_count::CopyCount;
use crate::copies::plan::Counters;
use crate::copies::strategy::Scheme;
use crate::input::engine::{self, Request as EngineRequest};
use crate::input::load::Optimize;
use crate::profile::verdict::Trust;
use crate::read::request::{Empty, Request, Target};
use crate::read::source::{Search, Sources};
use crate::write::dump::View;
use crate::write::options::{
    FunctionOptions, InputOptions, Options, OutputOptions, Select, Setting, Training, ViewOptions,
    WeightOptions, WeightsFrom,
};
use crate::write::output::check_folder;
use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

/// Rewrites LLVM IR into K copies that together take an exact path profile.
///
/// All copies run on the same input, and each counts its share of the paths. `make -C DIR run
/// ARGS='…'` links the copies, runs them and merges what they counted; `p3-prof show DIR` prints the
/// hottest paths.
#[derive(Debug, Parser)]
#[command(
    name = "p3-rewrite",
    version = version(),
    max_term_width = 100,
    disable_help_flag = true,
    after_help = everyday_end(),
    after_long_help = schemes(),
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Args {
    /// A command, in place of rewriting modules
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Modules (.bc, .ll, .mlir), objects or archives that hold bitcode, or folders of these
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Run these passes of mlir-opt on `.mlir` inputs first (its --pass-pipeline)
    #[arg(long, value_name = "PASSES", hide_short_help = true)]
    mlir_pipeline: Option<String>,

    /// Optimise inputs by LLVM's pipeline of this level before they are rewritten; also the
    /// native program
    #[arg(
        long,
        value_name = "LEVEL",
        value_enum,
        default_value = "auto",
        hide_short_help = true
    )]
    optimize: Optimize,

    /// The engine to use, by the major version of its LLVM [default: P3_LLVM, else the lowest
    /// that reads the inputs]
    #[arg(long, value_name = "VERSION", hide_short_help = true)]
    llvm: Option<u32>,

    /// Copies that share the counting: less overhead in each, but all must run alike
    ///
    /// Up to 1024, or auto: four, if --profile or --train says that they pay and no threads start; else
    /// one.
    #[arg(short = 'k', long, value_name = "K", default_value = "1")]
    copies: CopyCount,

    /// Output folder; it is created if it does not exist
    #[arg(short, long, required = true, value_name = "DIR")]
    out: Option<PathBuf>,

    /// How to count; the list below has all schemes
    #[arg(
        long,
        value_name = "NAME",
        value_enum,
        default_value = "p3-hot",
        hide_possible_values = true
    )]
    scheme: Scheme,

    /// What to write for each copy
    #[arg(
        long,
        hide_short_help = true,
        value_name = "FORMATS",
        value_enum,
        value_delimiter = ',',
        default_value = "bc"
    )]
    emit: Vec<ModuleFormat>,

    /// Place counters by this earlier profile of the program
    ///
    /// A merged profile, or an output folder with one.
    #[arg(long, value_name = "FILE", group = "weights")]
    profile: Option<PathBuf>,

    /// Estimate weights where the profile knows none of the functions: one profile for all programs of a build
    #[arg(long, hide = true)]
    accept_unrelated_profile: bool,

    /// Place counters by a run with these arguments
    ///
    /// The run comes first.
    #[arg(
        long,
        value_name = "ARGS",
        group = "weights",
        allow_hyphen_values = true
    )]
    train: Option<String>,

    /// End the run of --train after this time (500ms, 2s) [default: when the program ends]
    #[arg(long, hide_short_help = true, value_name = "TIME", requires = "train", value_parser = values::duration)]
    train_for: Option<Duration>,

    /// A setting of `make run` for the run of --train: STDIN, FILES, LDLIBS, … (may be repeated)
    /// [default: the environment's]
    #[arg(long, hide_short_help = true, value_name = "NAME=VALUE", requires = "train", value_parser = values::setting)]
    train_with: Vec<Setting>,

    /// Stop with exit status 1 if the verdict of the profile or of the run of --train is not ok
    #[arg(long, requires = "weights", hide_short_help = true)]
    strict: bool,

    #[command(flatten)]
    paths: SelectionArgs,

    /// The program is one of a build's: it may have nothing of what is selected
    #[arg(long, hide = true)]
    of_a_build: bool,

    /// Write the numbers of each module in the program, and a digest of all else, beside it: for p3-cc
    #[arg(long, hide = true)]
    numbers: bool,

    /// A file that lists edges, ids or known ids by function, to count these paths alone: for tests
    #[arg(long, value_name = "FILE", hide = true, conflicts_with_all = ["paths", "patch"])]
    selection: Option<PathBuf>,

    /// Count only in functions that match; may be repeated
    ///
    /// By symbol or readable name.
    #[arg(long, value_name = "RE")]
    include: Vec<String>,

    /// Do not count in functions that match; may be repeated
    ///
    /// By symbol or readable name.
    #[arg(long, value_name = "RE")]
    exclude: Vec<String>,

    /// Where counters are incremented: in the code, or by calls into the runtime
    #[arg(long, value_enum, default_value = "auto", hide_short_help = true)]
    counters: Counters,

    /// How counters are updated: auto, thread, atomic, single
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        default_value = "auto",
        hide_possible_values = true,
        hide_short_help = true
    )]
    update: values::UpdateChoice,

    /// Also count the executed probes, for p3-prof hits
    #[arg(long, hide_short_help = true)]
    count_hits: bool,

    /// Prove independently that the inserted code counts every path once, under its id
    #[arg(long, hide_short_help = true)]
    check: bool,

    /// Write what the analyses found, as graphs and text
    #[arg(
        long,
        value_name = "VIEWS",
        value_enum,
        value_delimiter = ',',
        hide_short_help = true
    )]
    dump: Vec<View>,

    /// Folder for --dump [default: DIR/dump]
    #[arg(long, value_name = "DIR", requires = "dump", hide_short_help = true)]
    dump_dir: Option<PathBuf>,

    /// Limit --dump and --stats to functions whose symbol or readable name matches
    #[arg(long, value_name = "RE", hide_short_help = true)]
    function: Option<String>,

    /// Print a table of paths, probes, expected load and status by function and copy
    #[arg(long, hide_short_help = true)]
    stats: bool,

    /// Parallel threads and processes [default: all cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: Option<u32>,

    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,

    /// Print how long each phase takes
    #[arg(short, long, hide_short_help = true)]
    verbose: bool,

    /// When to colour messages
    #[arg(long, value_enum, default_value = "auto", hide_short_help = true)]
    pub color: Color,

    #[command(flatten)]
    help: HelpArgs,

    // The last, since its heading would be that of all options below it.
    #[command(flatten)]
    sampling: SamplingArgs,
}

/// Where there is more.
const NEXT: &str = "Documentation: docs/INDEX.md in the sources or in /usr/share/doc/p3-rewrite.\n\
                    Settings of `make run`: make -C DIR help.";

/// The schemes in the order in which they are worth a thought, each in one line.
fn schemes() -> String {
    let order = [
        Scheme::P3Hot,
        Scheme::Sbl,
        Scheme::Edge,
        Scheme::Shadow,
        Scheme::Subpath,
        Scheme::P3,
        Scheme::P3Weighted,
        Scheme::Pbl,
    ];
    let line = |s: &Scheme| format!("  {:11}  {}\n", s.name(), s.description());
    let lines: String = order.iter().map(line).collect();
    format!("Schemes:\n{lines}\n{NEXT}")
}

/// What `--help` ends with, and where all options are.
fn everyday_end() -> String {
    format!("{} All options: --help-all.", schemes())
}

static VERSION: OnceLock<String> = OnceLock::new();

/// This version; that of an engine's LLVM, or which engines are here.
fn version() -> &'static str {
    VERSION.get_or_init(|| {
        let engines = match &engine::find_installed()[..] {
            [] => "no engine".to_string(),
            engines => format!("engines for LLVM {}", engine::list_versions(engines)),
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
pub fn suggest_command(word: &str) -> Option<String> {
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
    /// Build a project in copies: run its build command with our compilers
    ///
    /// The command is `make`, `sh -c './configure && make'` or another one that builds the project; its
    /// compilers are p3-cc and p3-cxx. Each program that it links is copy 0, and the other copies are
    /// in the program's folder. (For a folder of modules that is called build, type ./build.)
    Build(BuildArgs),
    /// Run a project's tests once for every copy, and merge the profiles
    ///
    /// The command is `make check`, for example. Programs that were built by p3-rewrite build are
    /// profiled; each gets a merged profile of its own.
    Suite(SuiteArgs),
    /// Check compilers, make and the kernel; print what to install
    ///
    /// The exit status is 1 if something is missing.
    Doctor,
    /// Put copy N in the place of every program that was built
    Use(UseArgs),
    /// Write files by which CMake, Meson and pkg-config find p3-cc
    ///
    /// A toolchain file and find_package(P3) for CMake, a native file for Meson, p3.pc for pkg-config.
    Integrate(IntegrateArgs),
    /// Write the counts of a profile into modules, for clang -O2
    ///
    /// Branch weights, entry counts and a profile summary, as clang -fprofile-use writes them. Then
    /// compile the result: clang -O2 OUT.
    Annotate(AnnotateArgs),
    /// Write a profile as the text that llvm-profdata merge reads
    ///
    /// For clang -fprofile-use on the sources, if the module was taken where LLVM would have
    /// instrumented it (docs/EXPORT.md).
    Proftext(ProftextArgs),
    /// Write man pages and completions of shells into a share folder
    Manual(ManualArgs),
    /// Answer whether paths can run, a line of JSON for each on standard input: p3-prof asks engines
    #[command(hide = true)]
    Judge,
}

/// What `annotate` and `proftext` read.
#[derive(Debug, clap::Args)]
pub struct ProfiledArgs {
    /// The modules that were profiled, or a folder of them
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,

    /// A merged profile, or an output folder with one
    #[arg(long, value_name = "FILE|OUTDIR")]
    pub profile: PathBuf,

    /// Refuse a profile whose verdict is not ok (exit status 1)
    #[arg(long)]
    pub strict: bool,
}

/// Which engine `annotate` and `proftext` use, and how much they print.
#[derive(Debug, clap::Args)]
pub struct EngineArgs {
    /// The engine to use, by the major version of its LLVM [default: P3_LLVM, else the lowest that reads the inputs]
    #[arg(long, value_name = "VERSION")]
    pub llvm: Option<u32>,

    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// The arguments of `annotate`.
#[derive(Debug, clap::Args)]
pub struct AnnotateArgs {
    /// The modules, and what they counted
    #[command(flatten)]
    pub profiled: ProfiledArgs,

    /// The annotated module, as text if it ends in .ll (-: standard output, bitcode); a folder for several
    #[arg(short, long, value_name = "OUT")]
    pub out: PathBuf,

    /// Whether other files may be replaced
    #[command(flatten)]
    pub force: ForceArgs,

    /// The engine, and what it prints
    #[command(flatten)]
    pub by: EngineArgs,
}

/// The arguments of `proftext`.
#[derive(Debug, clap::Args)]
pub struct ProftextArgs {
    /// The modules, and what they counted
    #[command(flatten)]
    pub profiled: ProfiledArgs,

    /// The file to write (-: standard output) [default: standard output]
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

    /// The engine, and what it prints
    #[command(flatten)]
    pub by: EngineArgs,
}

impl EngineArgs {
    /// What an engine is chosen by that reads the modules of `profiled`.
    pub fn engine<'a>(&self, profiled: &'a ProfiledArgs) -> EngineRequest<'a> {
        EngineRequest {
            inputs: &profiled.inputs,
            out: None,
            llvm: self.llvm,
        }
    }
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
        let out = self.out.expect("clap requires it");
        check_folder(&out)?;
        let scheme = self.scheme;
        scheme.must_be_built()?;
        let is_selective = self.selection.is_some() || self.paths.is_given();
        if is_selective && !scheme.takes_selections() {
            return Err(cannot_select(scheme));
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
        let views = self.dump_dir.unwrap_or_else(|| out.join("dump"));
        Ok(Options {
            inputs: InputOptions {
                files: self.inputs,
                optimize: self.optimize,
                mlir: self.mlir_pipeline,
            },
            output: OutputOptions {
                folder: out,
                bitcode: self.emit.contains(&ModuleFormat::Bc),
                text: self.emit.contains(&ModuleFormat::Ll),
                numbers: self.numbers,
            },
            weights: WeightOptions {
                from: weights_from(self.profile, self.train, self.train_for, self.train_with),
                accept_unrelated: self.accept_unrelated_profile,
                trust: Trust::strict(self.strict),
            },
            copies: number_of_copies(scheme, self.copies),
            sampling: self.sampling.resolve(scheme)?,
            scheme,
            paths,
            functions: FunctionOptions {
                include: Filter::parse("--include", &self.include)?,
                exclude: Filter::parse("--exclude", &self.exclude)?,
            },
            views: ViewOptions {
                function: Filter::parse("--function", self.function.as_slice())?,
                dump: self.dump,
                folder: views,
                stats: self.stats,
            },
            counters: self.counters,
            update: self.update.update(),
            count_hits: self.count_hits,
            check: self.check,
            jobs: self.jobs,
            verbosity: i8::from(self.verbose) - i8::from(self.quiet),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copies::plan::Update;

    /// Texts that program ids are made of. If one changes, so does every id, and copies made before and after it are
    /// different programs.
    #[test]
    fn identity_of_options_is_pinned() {
        let identity = |options: &[&str]| {
            let words = ["p3-rewrite", "a.bc", "-o", "/nonexistent/out"];
            let words = words.iter().chain(options);
            let options = Args::parse_from(words).resolve().unwrap();
            let is_exact = options.scheme.strategy().measure.is_exact();
            let auto = if is_exact {
                Update::Thread
            } else {
                Update::Single
            };
            options.identity(options.update.unwrap_or(auto))
        };
        for (options, text) in [
            (
                &[][..],
                "counters=auto update=thread trace=false hits=false",
            ),
            (
                &["--counters", "call", "--update", "atomic", "--count-hits"],
                "counters=call update=atomic trace=false hits=true",
            ),
            (
                &["--scheme", "trace"],
                "counters=auto update=thread trace=true hits=false",
            ),
            #[cfg(feature = "estimates")]
            (
                &["--scheme", "subpath", "--lengths", "2,4"],
                "counters=auto update=single trace=false hits=false period=20000 \
                 lengths=2:2863311531,4:1431655765 within=false list=concise memory=65536 seed=drawn",
            ),
            #[cfg(feature = "estimates")]
            (
                &[
                    "--scheme",
                    "subpath",
                    "--lengths",
                    "3",
                    "--within",
                    "functions",
                    "--seed",
                    "7",
                    "--hot-list",
                    "counting",
                    "--memory",
                    "2048",
                    "--period",
                    "100",
                ],
                "counters=auto update=single trace=false hits=false period=100 lengths=3:4294967296 \
                 within=true list=counting memory=2048 seed=7",
            ),
        ] {
            assert_eq!(identity(options), text);
        }
    }
}
