//! Arguments and commands of `p3-prof`.

mod browse;
mod bursts;
mod coverage;
mod export;
mod html;
mod merge;
mod outcome;
mod paths;
mod samples;
mod several;
mod top;
mod union;
mod verify;

pub use outcome::Outcome;

use super::Color;
use super::help::{Group, HelpArgs, LAST, grouped_template};
use super::manual::{ManualArgs, write_one};
use crate::analysis::compare::Finding;
use crate::analysis::{accuracy, compare, hits, simulate};
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::names::printable;
use crate::profile::Profile;
use crate::profile::filter::{Order, Selection};
use crate::profile::measurement::Measurement;
use crate::profile::subpaths::SampledProfile;
use crate::profile::verdict::Trust;
use crate::report::diff;
use crate::report::{Report, csv, edges, json, text};
use crate::source::{Search, Sources};
use crate::strategy::Scheme;
use crate::table::Layout;
use clap::{Args, Parser, Subcommand, ValueEnum};
use regex::Regex;
use std::path::PathBuf;

/// Merges, checks and shows what the copies of p3-rewrite counted.
///
/// Exit status: 0 fine, 1 a difference or violation was found, 2 the command could not do its work.
#[derive(Debug, Parser)]
#[command(
    name = "p3-prof",
    version,
    max_term_width = 100,
    disable_help_flag = true,
    help_template = template()
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,

    /// When to colour output
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        global = true, display_order = LAST,
        hide_short_help = true
    )]
    pub color: Color,

    /// Width of text in columns [default: that of the terminal; 100 if there is none]
    #[arg(long, value_name = "N", global = true, display_order = LAST, value_parser = width())]
    width: Option<usize>,

    /// Stop with exit status 1 if a profile's verdict is not ok
    #[arg(long, global = true, display_order = LAST)]
    strict: bool,

    #[command(flatten)]
    help: HelpArgs,
}

/// The commands, by who needs them.
pub(super) const GROUPS: &[Group] = &[
    (
        "Everyday commands",
        &[
            "show", "coverage", "html", "browse", "top", "diff", "verify", "merge",
        ],
    ),
    (
        "Other tools and other builds",
        &["export", "union", "paths"],
    ),
    ("For research", &["compare", "simulate", "accuracy", "hits"]),
    ("About this installation", &["doctor", "manual", "help"]),
];

/// The help, with the commands in their groups.
fn template() -> String {
    let commands = Command::augment_subcommands(clap::Command::new("p3-prof"));
    grouped_template(&commands, GROUPS)
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Merge raw profiles of all copies and runs into one profile
    Merge(merge::MergeArgs),
    /// Add up profiles of programs that share functions
    Union(union::UnionArgs),
    /// Print the hottest functions and paths, or edge counts
    Show(ShowArgs),
    /// Compare the counts of two profiles; exit status 1 if they differ
    Compare(CompareArgs),
    /// Check that the counts fit together; name causes and remedies
    Verify(verify::VerifyArgs),
    /// Print how well edge counts alone would predict the paths
    Accuracy(AccuracyArgs),
    /// Print which lines, branches and paths ran, and what is missing
    Coverage(coverage::CoverageArgs),
    /// List the paths that p3-rewrite --paths SPEC selects
    Paths(paths::PathsArgs),
    /// Print paths that are new, gone or changed their share
    Diff(DiffArgs),
    /// Write the profile in the format of another tool (lcov, pprof, …)
    Export(export::ExportArgs),
    /// Browse functions, paths and sources on the terminal
    Browse(browse::BrowseArgs),
    /// Watch the hottest paths of a program while it runs
    Top(top::TopArgs),
    /// Write a web page: paths in their sources, flame graph, coverage
    Html(html::HtmlArgs),
    /// Print the probes that each copy of a --count-hits build executed
    Hits(HitsArgs),
    /// Compute what each scheme would have cost, without running anything
    Simulate(SimulateArgs),
    /// Check for compilers, make, LLVM's library; print what to install
    Doctor,
    /// Write man pages and completions of shells for p3-prof
    Manual(ManualArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
    /// For tables
    Csv,
}

/// Where the sources are that conditions are quoted from.
#[derive(Debug, Args)]
struct SourceArgs {
    /// Look for source files in this folder; may be repeated
    #[arg(long, value_name = "DIR")]
    source_dir: Vec<PathBuf>,
    /// Replace the beginning A of source names by B, also in exports and coverage; may be repeated
    #[arg(long, value_name = "A=B", value_parser = renaming)]
    path_map: Vec<(String, String)>,
}

impl SourceArgs {
    fn of(&self, profile: &Profile) -> Sources {
        profile.sources(self.search())
    }

    /// The same for coverage, of which markers leave lines out.
    fn marked(&self, profile: &Profile, markers: &MarkerArgs) -> Sources {
        profile.sources(Search {
            markers: markers.exclude_marker.clone(),
            ..self.search()
        })
    }

    /// Names files where they are now, for what others are to find them by.
    fn rename(&self, profile: &mut Profile) {
        self.search().rename(&mut profile.manifest.files);
    }

    fn search(&self) -> Search {
        Search {
            folders: self.source_dir.clone(),
            renamed: self.path_map.clone(),
            ..Search::default()
        }
    }
}

/// Which lines coverage leaves out.
#[derive(Debug, Args)]
struct MarkerArgs {
    /// Leave out lines with this word in a comment, like LCOV_EXCL_LINE; may be repeated
    ///
    /// WORDNEXTLINE leaves out the next line, WORDBEGIN … WORDEND all lines from one to the other.
    #[arg(long, value_name = "WORD", value_parser = marker)]
    exclude_marker: Vec<String>,
}

/// A word.
fn marker(text: &str) -> Result<String, String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    if text.is_empty() || !text.chars().all(word) {
        return Err("give a word of letters, digits and _, as NOLINT".into());
    }
    Ok(text.into())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ByArg {
    /// Functions by the instructions executed in them
    Function,
    /// Source files by the instructions of their functions
    File,
    /// Loops by the instructions of their iterations
    Loop,
    /// Paths alone
    Path,
}

impl From<Option<ByArg>> for text::By {
    fn from(by: Option<ByArg>) -> text::By {
        match by {
            None => text::By::Both,
            Some(ByArg::Function) => text::By::Function,
            Some(ByArg::File) => text::By::File,
            Some(ByArg::Loop) => text::By::Loop,
            Some(ByArg::Path) => text::By::Path,
        }
    }
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// A merged profile, or an output folder with one
    #[arg(value_name = "FILE|OUTDIR")]
    file: PathBuf,
    /// How many paths to show [default: 20 as text, otherwise all]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Only functions whose symbol or readable name matches
    #[arg(long, value_name = "RE")]
    function: Option<Regex>,
    /// What to list as text [default: functions, then paths]
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["edges", "longest", "bursts"])]
    by: Option<ByArg>,
    /// Print every step of a path, and names in full
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    sources: SourceArgs,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Print edge, block and call counts derived from the paths
    #[arg(long, conflicts_with = "top")]
    edges: bool,
    /// Print time beside instructions, from a perf.data, the output of perf script or a CPU profile of
    /// pprof; - for standard input
    #[arg(long, value_name = "SAMPLES", conflicts_with_all = ["edges", "longest", "bursts"])]
    perf: Option<PathBuf>,
    /// Join sampled subpaths that overlap into longer ones
    #[arg(long, conflicts_with = "edges")]
    longest: bool,
    /// Print why the bursts of shadows ended, and which system calls they met
    #[arg(long, conflicts_with_all = ["top", "edges"])]
    bursts: bool,
}

#[derive(Debug, Args)]
struct CompareArgs {
    /// A merged profile
    a: PathBuf,
    /// The other merged profile
    b: PathBuf,
    /// How many differences to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    max: usize,
}

#[derive(Debug, Args)]
struct AccuracyArgs {
    /// A merged profile of paths
    file: PathBuf,
    /// Print how near the estimates of FILE (--scheme shadow) are to this exact profile of the same run
    #[arg(long, value_name = "EXACT", conflicts_with_all = ["top", "function"])]
    against: Option<PathBuf>,
    /// Show at most this many functions, those with most executed paths
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Only functions whose symbol or readable name matches
    #[arg(long, value_name = "RE")]
    function: Option<Regex>,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Args)]
struct DiffArgs {
    /// The earlier merged profile
    a: PathBuf,
    /// The later merged profile
    b: PathBuf,
    /// Ignore changes of a path's share below this many percent of all paths
    #[arg(long, value_name = "PERCENT", default_value_t = 0.1)]
    least: f64,
    /// Show at most this many paths and functions of each kind, as text
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Only functions whose symbol or readable name matches
    #[arg(long, value_name = "RE")]
    function: Option<Regex>,
    #[command(flatten)]
    sources: SourceArgs,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Args)]
struct HitsArgs {
    /// The manifest.json of the copies
    #[arg(short, long, value_name = "FILE")]
    manifest: PathBuf,
    /// Raw profiles, or folders that are searched for *.p3raw
    #[arg(required = true, value_name = "RAW")]
    files: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Args)]
struct SimulateArgs {
    /// The manifest of the same input [default: the profile's own]
    #[arg(short, long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// A merged profile, or an output folder with one
    #[arg(value_name = "FILE|OUTDIR")]
    file: PathBuf,
    /// Use weights of this earlier profile, like p3-rewrite --profile [default: static weights]
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Numbers of copies to compute
    #[arg(short = 'k', long, value_name = "K,…", value_delimiter = ',', default_value = "2,4,8",
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    copies: Vec<u32>,
    /// Schemes to compute
    #[arg(
        long,
        value_name = "NAME,…",
        value_enum,
        value_delimiter = ',',
        default_value = "sbl,pbl,p3,p3-hot"
    )]
    scheme: Vec<Scheme>,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

fn width() -> impl clap::builder::TypedValueParser<Value = usize> {
    use clap::builder::TypedValueParser;
    clap::value_parser!(u16).range(40..).map(usize::from)
}

/// `A=B`.
fn renaming(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((from, to)) if !from.is_empty() => Ok((from.into(), to.into())),
        _ => Err("give the old beginning of names and the new one, OLD=NEW".into()),
    }
}

/// Runs the command.
pub fn run(cli: &Cli) -> Result<Outcome> {
    let trust = Trust::strict(cli.strict);
    let layout = super::layout(cli.width);
    match &cli.command {
        Command::Merge(args) => merge::run(args, trust),
        Command::Union(args) => union::run(args, trust),
        Command::Show(args) => show(args, trust, layout),
        Command::Compare(args) => run_compare(args, trust),
        Command::Verify(args) => verify::run(args, trust),
        Command::Accuracy(args) => run_accuracy(args, trust, layout),
        Command::Coverage(args) => coverage::run(args, trust, layout),
        Command::Paths(args) => paths::run(args, trust, layout),
        Command::Diff(args) => run_diff(args, trust, layout),
        Command::Export(args) => export::run(args, trust),
        Command::Browse(args) => browse::run(args, trust),
        Command::Top(args) => top::run(args, layout),
        Command::Html(args) => html::run(args, trust),
        Command::Hits(args) => run_hits(args),
        Command::Simulate(args) => run_simulate(args, trust),
        Command::Doctor => {
            let (text, found) = super::doctor::report();
            Ok(Outcome {
                text,
                found,
                ..Outcome::default()
            })
        }
        Command::Manual(args) => {
            let line = write_one(&<Cli as clap::CommandFactory>::command(), args)?;
            Ok(Outcome::print(line + "\n"))
        }
    }
}

fn show(args: &ShowArgs, trust: Trust, layout: Layout) -> Result<Outcome> {
    let profile = trust.read(&args.file)?;
    let mut selection = Selection::new(args.function.as_ref(), args.top, &[&profile])?;
    if args.perf.is_some() && profile.paths().is_err() {
        let remedy = "leave --perf out, or profile with a scheme that counts paths";
        let problem = "it has no counts of paths for --perf to show time beside";
        return Err(Error::profile(&args.file, problem, remedy));
    }
    let layout = Layout {
        full: args.full,
        ..layout
    };
    if args.bursts || matches!(profile.measured, Measurement::Bursts(_)) {
        return bursts::show(args, &profile, selection, layout);
    }
    if args.edges {
        let counts = edges::collect(&profile, &selection)?;
        return Ok(Outcome::print(match args.format {
            Format::Text => edges::text(&counts),
            Format::Json => edges::json(&profile, &counts),
            Format::Csv => edges::csv(&counts),
        })
        .about(&[&profile]));
    }
    if args.format == Format::Text {
        selection.top = selection.top.or(Some(20));
        selection.order = Order::Instructions;
    }
    if args.longest || matches!(profile.measured, Measurement::Sampled(_)) {
        return show_sampled(args, profile.sampled()?, &selection);
    }
    let report = Report::new(profile.paths()?, &selection)?;
    let (time, warnings) = samples::time(args.perf.as_deref(), &profile)?;
    let mut report = report.told_by(args.sources.of(&profile)).timed_by(time);
    if args.by == Some(ByArg::Loop) {
        report = report.with_loops(profile.paths()?)?;
    }
    let mut outcome = match args.format {
        // Its summary says the verdict.
        Format::Text => Outcome::print(text::render(&report, args.by.into(), layout)),
        Format::Json => Outcome::print(json::render(&report)).about(&[&profile]),
        Format::Csv => Outcome::print(csv::render(&report)).about(&[&profile]),
    };
    outcome.warnings.extend(warnings);
    Ok(outcome.told_by(&report.sources))
}

fn show_sampled(
    args: &ShowArgs,
    profile: SampledProfile,
    selection: &Selection,
) -> Result<Outcome> {
    use crate::report::subpaths::{Report, csv, json, text};
    let report = if args.longest {
        Report::longest(profile, selection)
    } else {
        Report::new(profile, selection)
    };
    let report = report.told_by(args.sources.of(profile.profile));
    Ok(match args.format {
        // Its summary says the verdict.
        Format::Text => Outcome::print(text(&report)),
        Format::Json => Outcome::print(json(&report)).about(&[profile.profile]),
        Format::Csv => Outcome::print(csv(&report)).about(&[profile.profile]),
    }
    .told_by(&report.sources))
}

fn run_compare(args: &CompareArgs, trust: Trust) -> Result<Outcome> {
    let (a, b) = (trust.read(&args.a)?, trust.read(&args.b)?);
    let (mut differences, mut explained) = (Vec::new(), Vec::new());
    for finding in compare::compare(&a, &b)? {
        match finding {
            Finding::Differs(line) => differences.push(line),
            Finding::Explained(line) => explained.push(line),
        }
    }
    let found = !differences.is_empty();
    let mut text = listed(&differences, args.max, "more differences");
    text += &listed(&explained, args.max, "more functions like these");
    Ok(Outcome {
        text,
        found,
        ..Outcome::default()
    }
    .about(&[&a, &b]))
}

/// At most `max` lines, and how many more there are.
fn listed(lines: &[String], max: usize, more: &str) -> String {
    let shown = lines
        .iter()
        .take(max)
        .map(|line| format!("{}\n", printable(line)));
    let mut text: String = shown.collect();
    if lines.len() > max {
        text += &format!("… and {} {more}\n", lines.len() - max);
    }
    text
}

fn run_accuracy(args: &AccuracyArgs, trust: Trust, layout: Layout) -> Result<Outcome> {
    let profile = trust.read(&args.file)?;
    if let Some(exact) = &args.against {
        return bursts::accuracy(args, &profile, &trust.read(exact)?);
    }
    profile.all_are_counted()?;
    let top = (args.format == Format::Text).then_some(args.top);
    let selection = Selection::new(args.function.as_ref(), top, &[&profile])?;
    let (rows, sum) = accuracy::accuracy(profile.paths()?, &selection)?;
    Ok(Outcome::print(match args.format {
        Format::Text => accuracy::text(&rows, &sum, layout),
        Format::Json => accuracy::json(&rows, &sum),
        Format::Csv => accuracy::csv(&rows),
    })
    .about(&[&profile]))
}

fn run_diff(args: &DiffArgs, trust: Trust, layout: Layout) -> Result<Outcome> {
    if !(0.0..=100.0).contains(&args.least) {
        let message = format!("--least {}: give a share from 0 to 100", args.least);
        return Err(Error::Usage(message));
    }
    let (a, b) = (trust.read(&args.a)?, trust.read(&args.b)?);
    let selection = Selection::new(args.function.as_ref(), None, &[&a, &b])?;
    let diff = diff::diff(a.paths()?, b.paths()?, &selection, args.least / 100.0)?;
    let (of_a, of_b) = (args.sources.of(&a), args.sources.of(&b));
    let text = match args.format {
        Format::Text => diff::text(&diff, args.top, [&of_b, &of_a], layout),
        Format::Json => diff::json(&diff),
        Format::Csv => diff::csv(&diff),
    };
    Ok(Outcome {
        text,
        found: diff.found(),
        ..Outcome::default()
    }
    .about(&[&a, &b])
    .told_by(&of_b))
}

fn run_hits(args: &HitsArgs) -> Result<Outcome> {
    let row = hits::hits(&args.manifest, &args.files)?;
    Ok(Outcome::print(match args.format {
        Format::Text => hits::text(&row),
        Format::Json => hits::json(&row),
        Format::Csv => hits::csv(&row),
    }))
}

fn run_simulate(args: &SimulateArgs, trust: Trust) -> Result<Outcome> {
    if let Some(s) = args
        .scheme
        .iter()
        .find(|s| !s.strategy().measure.is_exact())
    {
        let message = format!("--scheme {s}: what it costs does not follow from paths; measure it");
        return Err(Error::Usage(message));
    }
    let profile = trust.read(&args.file)?;
    let own = || Ok::<_, Error>(profile.manifest.clone());
    let manifest = args.manifest.as_deref().map_or_else(own, Manifest::read)?;
    let weights = args.profile.as_deref();
    let weights = weights.map(|file| trust.read(file)).transpose()?;
    let (schemes, copies) = (&args.scheme, &args.copies);
    let rows = simulate::simulate(&manifest, &profile, weights.as_ref(), schemes, copies)?;
    Ok(Outcome::print(match args.format {
        Format::Text => simulate::text(&rows),
        Format::Json => simulate::json(&rows),
        Format::Csv => simulate::csv(&rows),
    })
    .about(&Vec::from_iter([&profile].into_iter().chain(&weights))))
}
