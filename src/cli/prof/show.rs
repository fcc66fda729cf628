//! `p3-prof show`.

use super::estimate_request::EstimateRequest;
use super::format::Format;
use super::sources::SourceArgs;
use super::threads::ThreadArgs;
use super::{Outcome, estimates, samples};
use crate::base::error::{Error, Result};
use crate::base::names::parse_function_pattern;
use crate::base::table::Layout;
use crate::estimates::data::Estimated;
use crate::profile::Profile;
use crate::profile::filter::{Order, Selection};
use crate::profile::measurement::Measurement;
use crate::profile::several::{self, Part, Several};
use crate::profile::verdict::Trust;
use crate::read::report::figures::By;
use crate::read::report::{Report, csv, edges, json, programs, text, threads};
use clap::{Args, ValueEnum};
use regex::Regex;
use std::path::PathBuf;

/// Paths that are listed as text by default.
const SHOWN: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ByArg {
    /// Functions by the instructions executed in them
    Function,
    /// Source files by the instructions of their functions
    File,
    /// Loops by the instructions of their iterations
    Loop,
    /// Threads by the instructions that they executed, and paths with the threads that ran them
    Thread,
    /// Paths alone
    Path,
}

impl From<Option<ByArg>> for By {
    fn from(by: Option<ByArg>) -> By {
        match by {
            None => By::Both,
            Some(ByArg::Function) => By::Function,
            Some(ByArg::File) => By::File,
            Some(ByArg::Loop) => By::Loop,
            Some(ByArg::Thread) => By::Thread,
            Some(ByArg::Path) => By::Path,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// A merged profile, an output folder with one, or a folder of programs, which are added up
    #[arg(value_name = "FILE|OUTDIR")]
    file: PathBuf,
    /// How many paths to show [default: 20 as text, otherwise all]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Only functions whose symbol or readable name matches, or a name as printed
    #[arg(long, value_name = "RE", value_parser = parse_function_pattern)]
    function: Option<Regex>,
    /// What to list as text [default: functions, then paths]
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["edges", "longest", "bursts"])]
    by: Option<ByArg>,
    #[command(flatten)]
    threads: ThreadArgs,
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
    /// Print time beside instructions, from a perf.data, the output of perf script or a CPU profile
    /// of pprof; - for standard input
    #[arg(long, value_name = "SAMPLES", conflicts_with_all = ["edges", "longest", "bursts"])]
    perf: Option<PathBuf>,
    /// Join sampled subpaths that overlap into longer ones
    #[arg(long, conflicts_with = "edges")]
    longest: bool,
    /// Print why the bursts of shadows ended, and which system calls they met
    #[arg(long, conflicts_with_all = ["top", "edges"])]
    bursts: bool,
}

pub(super) fn run(args: &ShowArgs, trust: Trust, layout: Layout) -> Result<Outcome> {
    Request::resolve(args, trust, layout)?.answer()
}

/// What is asked, and of what.
struct Request<'a> {
    args: &'a ShowArgs,
    profile: Profile,
    /// What there is to say of programs that are in no number.
    notes: Vec<String>,
    /// The profiles by themselves, where there are several.
    parts: Vec<Part>,
    selection: Selection,
    layout: Layout,
}

impl<'a> Request<'a> {
    /// Reads what the arguments name.
    ///
    /// # Errors
    /// What cannot be read, and options that the profile has no counts for.
    fn resolve(args: &'a ShowArgs, trust: Trust, layout: Layout) -> Result<Request<'a>> {
        let Several {
            profile,
            notes,
            parts,
        } = several::read_one(&args.file, trust)?;
        let profile = args.threads.select(profile)?;
        let selection = Selection::new(args.function.as_ref(), args.top, &[&profile])?;
        if args.perf.is_some() && profile.paths().is_err() {
            let remedy = "leave --perf out, or profile with a scheme that counts paths";
            let problem = "it has no counts of paths for --perf to show time beside";
            return Err(Error::profile(&args.file, problem, remedy));
        }
        Ok(Request {
            args,
            profile,
            notes,
            parts,
            selection,
            layout: Layout {
                full: args.full,
                ..layout
            },
        })
    }

    fn answer(self) -> Result<Outcome> {
        if let Measurement::Estimated(estimated) = &self.profile.measured {
            return self.show_estimates(estimated);
        }
        if self.args.bursts {
            return Err(self.profile.no_bursts());
        }
        if self.args.edges {
            return self.show_edges();
        }
        if self.args.longest {
            return Err(self.profile.no_sample());
        }
        self.show_paths()
    }

    fn show_estimates(&self, estimated: &Estimated) -> Result<Outcome> {
        let args = self.args;
        // The list of estimates is one of paths alone, or of subpaths.
        if let Some(by) = args.by.filter(|by| *by != ByArg::Path) {
            let name = by.to_possible_value().expect("no value is skipped");
            return Err(self.profile.adds_no_estimates(name.get_name()));
        }
        let request = EstimateRequest {
            format: args.format,
            edges: args.edges,
            bursts: args.bursts,
            longest: args.longest,
            sources: &args.sources,
            layout: self.layout,
        };
        estimates::show(&request, (&self.profile, estimated), self.selection.clone())
    }

    /// Counts of edges, blocks and calls.
    fn show_edges(self) -> Result<Outcome> {
        let profile = &self.profile;
        let counts = edges::collect(profile, &self.selection)?;
        let printed = match self.args.format {
            Format::Text => edges::text(profile, &counts, self.layout),
            Format::Json => edges::json(profile, &counts),
            Format::Csv => edges::csv(&counts),
        };
        let mut outcome = Outcome::print(printed).with_verdicts(&[profile]);
        outcome.warnings.extend(self.notes);
        Ok(outcome)
    }

    /// Paths, and what they add up to.
    fn show_paths(mut self) -> Result<Outcome> {
        let args = self.args;
        if args.format == Format::Text {
            self.selection.top = self.selection.top.or(Some(SHOWN));
            self.selection.order = Order::Instructions;
        }
        let profile = &self.profile;
        let report = Report::new(profile.paths()?, &self.selection)?;
        let (time, remarks) = samples::time(args.perf.as_deref(), profile)?;
        let mut report = report
            .with_sources(args.sources.find(profile))
            .with_time(time);
        if args.by == Some(ByArg::Loop) {
            report = report.with_loops(profile.paths()?)?;
        }
        let is_by_thread = args.by == Some(ByArg::Thread);
        if is_by_thread && profile.threads.is_empty() {
            return Err(profile.no_threads());
        }
        if is_by_thread || args.format == Format::Json {
            report = report.with_threads(profile.paths()?)?;
        }
        let printed = match args.format {
            Format::Text => {
                args.threads.heading() + &text::render(&report, args.by.into(), self.layout)
            }
            Format::Json => json::render(&report),
            Format::Csv if is_by_thread => threads::csv(&report),
            Format::Csv => csv::render(&report),
        };
        let printed = Outcome::print(printed);
        let mut outcome = printed.with_verdict_unless_summarised(args.format, profile);
        if args.format == Format::Text && !self.parts.is_empty() {
            outcome.text += "\n";
            outcome.text += &programs::text(&self.parts, self.layout)?;
        }
        outcome.warnings.extend(remarks);
        outcome.warnings.extend(self.notes);
        Ok(outcome.with_source_remarks(&report.sources))
    }
}
