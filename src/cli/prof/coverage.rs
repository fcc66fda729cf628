//! `p3-prof coverage`.

mod new;

use super::Outcome;
use super::sources::{MarkerArgs, SourceArgs};
use super::threads::ThreadArgs;
use crate::base::error::{Error, Result};
use crate::base::names::{escape_unprintable, first_names, parse_function_pattern};
use crate::base::table::{Layout, group_digits, percent};
use crate::possible::solver::{Program, VARIABLE};
use crate::profile::filter::Selection;
use crate::profile::several::{self, Part};
use crate::profile::verdict::Trust;
use crate::profile::{COMPILE_WITH_LINES, Profile};
use crate::read::decisions::Rule;
use crate::read::possible::{Asker, Judge};
use crate::read::report::coverage::{
    self, Annotate, Coverage, Details, Mcdc, Paths, Scope, Sort, Touched, versus,
};
use crate::read::source::Sources;
use crate::read::source::patch::Patch;
use clap::{Args, ValueEnum};
use regex::Regex;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How many functions and paths a text shows.
const SHOWN: usize = 20;
/// A message names so many files of a patch.
const FILES: usize = 3;
/// How many uncovered paths of a function are explained.
const EXPLAINED: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CoverageFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// For tables
    Csv,
    /// Annotations of a GitHub job
    Github,
    /// A summary for a job's page or a merge request
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Measured {
    /// Paths that control flow allows
    Paths,
    /// Pairs of edges in turn
    Pairs,
    /// Lines with code
    Lines,
    /// Ways out of branches
    Branches,
    /// Paths at most one decision away from one that ran
    Near,
    /// Conditions of decisions that are shown to decide; takes --mcdc
    Mcdc,
}

#[derive(Debug, Args)]
pub(super) struct CoverageArgs {
    /// Merged profiles, or folders of programs; they are added up, and programs that never ran are
    /// uncovered
    #[arg(required = true, value_name = "PROFILE")]
    profiles: Vec<PathBuf>,
    /// Print at most this many functions [default: 20 as text, otherwise all]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Only functions whose symbol or readable name matches, or a name as printed
    #[arg(long, value_name = "RE", value_parser = parse_function_pattern)]
    function: Option<Regex>,
    /// Explain at most this many uncovered paths of each function [default: 3 with --function, else 0]
    #[arg(long, value_name = "N")]
    nearest: Option<usize>,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    markers: MarkerArgs,
    /// Only functions that begin in files whose name matches, as printed or as compiled
    #[arg(long, value_name = "RE")]
    file: Option<Regex>,
    /// Leave out functions that begin in files whose name matches, as printed or as compiled
    #[arg(long, value_name = "RE")]
    exclude: Option<Regex>,
    /// Include functions in headers of the system and of toolchains
    #[arg(long)]
    all: bool,
    /// Only functions of which nothing ran, not even inlined
    #[arg(long, conflicts_with_all = ["patch", "diff", "new", "annotate", "nearest"])]
    never_ran: bool,
    /// Print the sources with counts, and the outcomes of conditions that never came up; with
    /// --patch, near its lines
    #[arg(
        long,
        value_enum,
        value_name = "LINES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        conflicts_with_all = ["diff", "nearest", "fail_under", "measure", "top", "format"]
    )]
    annotate: Option<Annotate>,
    /// The order of functions and files
    #[arg(long, value_enum, default_value = "missing")]
    sort: Sort,
    /// Print which paths ran now and not in this earlier profile, and the reverse
    #[arg(long, value_name = "BASE", conflicts_with_all = ["patch", "nearest", "sort", "fail_under"])]
    diff: Option<PathBuf>,
    /// Only paths through lines that this unified diff adds or changes (-: standard input), as git diff prints it
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,
    /// Print paths that none of these earlier profiles (or folders of profiles) has
    ///
    /// Without a value: paths that are in none of the profiles that `--paths new:` named when the
    /// program was built.
    #[arg(long, value_name = "EARLIER,…", num_args = 0..=1, require_equals = true, value_delimiter = ',',
          conflicts_with_all = ["patch", "nearest", "sort", "fail_under", "diff", "measure"])]
    new: Option<Vec<PathBuf>>,
    /// With --new: exit with status 1 if a path ran for the first time
    #[arg(long, requires = "new")]
    fail_on_new: bool,
    /// With --new: exit with status 1 if no path ran for the first time
    #[arg(long, requires = "new", conflicts_with = "fail_on_new")]
    require_new: bool,
    /// Exit with status 1 if less than this share of the measure ran
    ///
    /// The measure is paths, unless --measure is given. Functions with loops have more paths than
    /// tests can run: for these, choose --measure branches or near.
    ///
    /// With --patch, exit with status 2 if the profile has no source file of the patch.
    #[arg(long, value_name = "PERCENT")]
    fail_under: Option<f64>,
    /// The measure of --fail-under [default: paths]; without --fail-under, print this number alone
    #[arg(long, value_enum)]
    measure: Option<Measured>,
    /// Print how many conditions of decisions are shown to decide (MC/DC), of code compiled with -O0;
    /// with --function or --patch, list decisions with their vectors
    #[arg(
        long,
        value_enum,
        value_name = "RULE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "unique-cause",
        conflicts_with_all = ["annotate", "diff", "new", "never_ran"]
    )]
    mcdc: Option<Rule>,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: CoverageFormat,
    /// Print every step of a path, and names in full
    #[arg(long)]
    full: bool,
}

/// Shows what ran of what control flow allows, or what ran of it now and then.
pub(super) fn run(args: &CoverageArgs, trust: Trust, layout: Layout) -> Result<Outcome> {
    let (request, notes) = Request::resolve(args, trust, layout)?;
    let mut outcome = request.answer()?;
    outcome.warnings.extend(notes);
    Ok(outcome)
}

/// What is asked, and of what.
struct Request<'a> {
    args: &'a CoverageArgs,
    profile: Profile,
    /// The profiles by themselves, where there are several.
    parts: Vec<Part>,
    sources: Sources,
    scope: Scope,
    trust: Trust,
    layout: Layout,
}

impl Request<'_> {
    /// Reads what the arguments name. Also returns what there is to say of programs that are in no number.
    fn resolve(
        args: &CoverageArgs,
        trust: Trust,
        layout: Layout,
    ) -> Result<(Request<'_>, Vec<String>)> {
        if let Some(least) = args.fail_under.filter(|n| !(0.0..=100.0).contains(n)) {
            let message = format!("--fail-under {least}: give a share from 0 to 100");
            return Err(Error::Usage(message));
        }
        if args.measure == Some(Measured::Mcdc) && args.mcdc.is_none() {
            let message = "--measure mcdc: add --mcdc or --mcdc=masking, which says by which rule";
            return Err(Error::Usage(message.into()));
        }
        let several = several::read(&args.profiles, trust)?;
        let mut profile = args.threads.select(several.profile)?;
        let mut notes = several.notes;
        notes.extend(several::libraries_left_out(&profile, "the report"));
        let sources = args.sources.mark_and_rename(&mut profile, &args.markers);
        let mut scope = Scope {
            file: args.file.clone(),
            exclude: args.exclude.clone(),
            all: args.all,
            root: coverage::common_folder(&profile, args.all),
            touched: None,
            markers: sources.markers(),
            never_ran: args.never_ran,
            keeps_left_out: false,
        };
        if let Some(patch) = &args.patch {
            let parsed = Patch::parse(&read_bytes(patch)?, patch)?;
            let files = &profile.manifest.files;
            scope.touched = Some(Touched::find(&parsed, patch, files, &sources)?);
        }
        let full = args.full;
        let request = Request {
            args,
            profile,
            parts: several.parts,
            sources,
            scope,
            trust,
            layout: Layout { full, ..layout },
        };
        Ok((request, notes))
    }

    fn answer(&self) -> Result<Outcome> {
        match (self.args.annotate, &self.args.new, &self.args.diff) {
            (Some(wanted), ..) => self.print_sources(wanted),
            (_, Some(earlier), _) => self.list_new(earlier),
            (.., Some(base)) => self.compare_with(base),
            _ => self.print_numbers(),
        }
    }

    /// The functions that are asked for, in all of `profiles`.
    fn select(&self, top: Option<usize>, profiles: &[&Profile]) -> Result<Selection> {
        Selection::new(self.args.function.as_ref(), top, profiles)
    }

    /// What ran of what control flow allows.
    fn print_numbers(&self) -> Result<Outcome> {
        let Request {
            args,
            profile,
            sources,
            scope,
            layout,
            ..
        } = self;
        let text = args.format == CoverageFormat::Text;
        let explains = args.function.is_some()
            || args.patch.is_some()
            || args.format == CoverageFormat::Github;
        let nearest = args.nearest.unwrap_or(if explains { EXPLAINED } else { 0 });
        let top = args.top.or((text && !args.never_ran).then_some(SHOWN));
        let selection = self.select(top, &[profile])?;
        let solver = match nearest {
            0 => None,
            _ => Program::find().map_err(Error::Usage)?,
        };
        let has_solver = (nearest > 0).then_some(solver.is_some());
        let asker = (nearest > 0).then(|| Asker::new(profile, &args.profiles, solver));
        let mut covered = coverage::judged_coverage(
            profile.paths()?,
            &selection,
            scope,
            args.sort,
            nearest,
            asker.as_ref().map(|asker| asker as &dyn Judge),
        )?;
        if let Some(rule) = args.mcdc {
            let lists = args.function.is_some() || args.patch.is_some();
            let paths = profile.paths()?;
            let functions = selection.functions(profile);
            let found = Mcdc::find(paths, sources, functions, scope, rule, lists)?;
            covered.mcdc = Some(found);
        }
        let not_judged = asker.and_then(Asker::finish);
        if covered.in_scope == 0 && args.patch.is_none() {
            return Err(nothing_in_scope(profile, "function"));
        }
        let alone = args.measure.filter(|_| args.fail_under.is_none());
        let mut outcome = Outcome::print(match args.format {
            CoverageFormat::Text => match alone {
                Some(measured) => {
                    let (numbers, what) = measured.numbers_of(&covered);
                    coverage::headline_of(what, &numbers) + "\n"
                }
                None => args.threads.heading() + &coverage::text(&covered, sources, *layout),
            },
            CoverageFormat::Json => {
                let details = Details::find(profile, sources, &selection, scope)?;
                coverage::json(&covered, &details, sources)
            }
            CoverageFormat::Csv => coverage::csv(&covered),
            CoverageFormat::Github => coverage::github(&covered, sources),
            CoverageFormat::Markdown => coverage::markdown(&covered, sources),
        });
        judge_threshold(args, &covered, &mut outcome);
        if let Some(why) = not_judged {
            outcome.notes += &describe_unjudged(&why);
        }
        let has_missing = covered.rows.iter().any(|row| !row.uncovered.is_empty());
        if has_solver == Some(false) && has_missing && std::env::var_os(VARIABLE).is_none() {
            outcome.notes += "examples of values need a solver: apt-get install z3\n";
        }
        let unknown = "lines and branches are not known";
        let missing = profile.describe_missing_lines(unknown);
        outcome.warnings.extend(missing);
        let has_notes = match args.format {
            CoverageFormat::Text => alone.is_none(),
            CoverageFormat::Markdown => true,
            _ => false,
        };
        let outcome = if has_notes {
            outcome.with_verdict_alone(profile)
        } else {
            outcome.with_verdicts(&[profile])
        };
        Ok(outcome.with_source_remarks(sources))
    }

    /// The sources in scope with executions.
    fn print_sources(&self, wanted: Annotate) -> Result<Outcome> {
        let (profile, sources) = (&self.profile, &self.sources);
        let selection = self.select(None, &[profile])?;
        let (scope, layout) = (&self.scope, self.layout);
        let text = coverage::annotate_sources(profile, sources, &selection, scope, wanted, layout)?;
        if text.is_empty() {
            return Err(nothing_in_scope(profile, "line"));
        }
        Ok(Outcome::print(text)
            .with_verdicts(&[profile])
            .with_source_remarks(sources))
    }

    /// What ran only now, and what only in the earlier profile `base`.
    fn compare_with(&self, base: &Path) -> Result<Outcome> {
        let (profile, sources) = (&self.profile, &self.sources);
        let mut base = self.trust.read(base)?;
        self.args.sources.rename(&mut base);
        let selection = self.select(None, &[profile, &base])?;
        let found =
            versus::compare_coverage(profile.paths()?, base.paths()?, &selection, &self.scope)?;
        let top = self.args.top.unwrap_or(SHOWN);
        let outcome = Outcome::print(match self.args.format {
            CoverageFormat::Text => versus::text(&found, sources, top, self.layout),
            CoverageFormat::Json => versus::json(&found, sources),
            CoverageFormat::Csv => versus::csv(&found),
            CoverageFormat::Github => versus::github(&found, sources),
            CoverageFormat::Markdown => versus::markdown(&found),
        });
        Ok(outcome
            .with_verdicts(&[profile, &base])
            .with_source_remarks(sources))
    }
}

/// Why some missing paths were not judged.
fn describe_unjudged(why: &str) -> String {
    format!("not all missing paths were checked for whether they can run: {why}\n")
}

/// The error where no `what` is in scope.
fn nothing_in_scope(profile: &Profile, what: &str) -> Error {
    if !profile.has_lines() {
        let problem = "the program has no line numbers";
        return Error::profile(&profile.path, problem, COMPILE_WITH_LINES);
    }
    let remedy = "--all takes headers of the system; see --file and --exclude";
    Error::profile(&profile.path, format!("no {what} is in scope"), remedy)
}

/// The bytes of a file, or of standard input.
fn read_bytes(file: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(file).map(|b| bytes = b)
    };
    read.map_err(|e| Error::read(file, e))?;
    Ok(bytes)
}

impl Measured {
    /// What ran of it, and what it is called.
    fn numbers_of(self, covered: &Coverage) -> (Paths, &'static str) {
        match self {
            Measured::Paths => (covered.total, "paths"),
            Measured::Pairs => (covered.total_pairs, "pairs of edges"),
            Measured::Lines => (covered.lines.lines(), "lines"),
            Measured::Branches => (covered.lines.branches(), "branches"),
            Measured::Near => (covered.near, "paths near those that ran"),
            Measured::Mcdc => {
                let conditions = covered.mcdc.as_ref().map(Mcdc::conditions);
                (conditions.unwrap_or_default(), "conditions (MC/DC)")
            }
        }
    }
}

/// Whether less ran than `--fail-under` asks for.
fn judge_threshold(args: &CoverageArgs, covered: &Coverage, outcome: &mut Outcome) {
    let (total, what) = args.measure.unwrap_or(Measured::Paths).numbers_of(covered);
    let what = match args.measure {
        // "paths near those that ran ran"
        Some(Measured::Near) => "near paths",
        _ => what,
    };
    let share = total.share();
    // What may have run passes no check.
    let unknown = match args.measure {
        Some(Measured::Lines) => covered.lines.count_unknown(),
        Some(Measured::Branches) => covered.lines.count_unknown_ways(),
        _ => 0,
    };
    let is_empty = total.feasible == 0 && unknown == 0;
    if let Some(least) = args.fail_under.filter(|_| is_empty) {
        // All of nothing is 100 %. Whether a patch has code of the program, and under which names, only its files show.
        let missed = covered.missed_sources();
        if missed.is_empty() {
            let said =
                format!("--fail-under {least}: there are no {what} to measure, so it passes");
            outcome.warnings.push(said);
        } else {
            let files = first_names(
                FILES,
                missed.iter().map(|f| escape_unprintable(f).into_owned()),
            );
            outcome.failures.push(format!(
                "--fail-under {least}: the profile has no file of the patch ({files}); name the folders by --path-map"
            ));
        }
    }
    let at_worst = Paths {
        feasible: total.feasible + u128::from(unknown),
        ..total
    };
    let fails = |least: &f64| at_worst.share() * 100.0 < *least;
    if let Some(least) = args.fail_under.filter(fails) {
        if share * 100.0 >= least {
            let (sure, more) = (percent(at_worst.share()), group_digits(unknown));
            outcome.find(format!(
                "{sure} of {what} ran for certain, less than --fail-under {least}; {more} more may have run"
            ));
            return;
        }
        let share = percent(share);
        let verb = match args.measure {
            Some(Measured::Mcdc) => "are shown",
            _ => "ran",
        };
        let said = format!("{share} of {what} {verb}, less than --fail-under {least}");
        outcome.find(said);
    }
}
