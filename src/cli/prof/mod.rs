//! Arguments and commands of `p3-prof`.

mod accuracy;
mod browse;
mod compare;
mod coverage;
mod diff;
mod estimate_request;
#[cfg_attr(not(feature = "estimates"), path = "no_estimates.rs")]
mod estimates;
mod export;
mod format;
mod hits;
mod html;
mod merge;
mod outcome;
mod paths;
mod samples;
mod show;
mod simulate;
mod sources;
mod threads;
mod top;
mod union;
mod verify;

pub use outcome::Outcome;

use super::Color;
use super::help::{Group, HelpArgs, LAST, grouped_template};
use super::manual::{ManualArgs, write_one};
use crate::base::error::Result;
use crate::profile::verdict::Trust;
use clap::{Parser, Subcommand};

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
const GROUPS: &[Group] = &[
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
    Show(show::ShowArgs),
    /// Compare the counts of two profiles; exit status 1 if they differ
    Compare(compare::CompareArgs),
    /// Check that the counts fit together; name causes and remedies
    Verify(verify::VerifyArgs),
    /// Print how well edge counts alone would predict the paths
    Accuracy(accuracy::AccuracyArgs),
    /// Print which lines, branches and paths ran, and what is missing
    Coverage(coverage::CoverageArgs),
    /// List the paths that p3-rewrite --paths SPEC selects
    Paths(paths::PathsArgs),
    /// Print paths that ran in one profile only, or whose share changed
    Diff(diff::DiffArgs),
    /// Write the profile in the format of another tool (lcov, pprof, …)
    Export(export::ExportArgs),
    /// Browse functions, paths and sources on the terminal
    Browse(browse::BrowseArgs),
    /// Watch the hottest paths of a program while it runs
    Top(top::TopArgs),
    /// Write a web page: paths in their sources, flame graph, coverage
    Html(html::HtmlArgs),
    /// Print the probes that each copy of a --count-hits build executed
    Hits(hits::HitsArgs),
    /// Compute what each scheme would have cost, without running anything
    Simulate(simulate::SimulateArgs),
    /// Check for compilers, make, LLVM's library; print what to install
    Doctor,
    /// Write man pages and completions of shells for p3-prof
    Manual(ManualArgs),
}

fn width() -> impl clap::builder::TypedValueParser<Value = usize> {
    use clap::builder::TypedValueParser;
    clap::value_parser!(u16).range(40..).map(usize::from)
}

/// Runs the command.
pub fn run(cli: &Cli) -> Result<Outcome> {
    let trust = Trust::strict(cli.strict);
    let layout = super::layout(cli.width);
    match &cli.command {
        Command::Merge(args) => merge::run(args, trust),
        Command::Union(args) => union::run(args, trust),
        Command::Show(args) => show::run(args, trust, layout),
        Command::Compare(args) => compare::run(args, trust),
        Command::Verify(args) => verify::run(args, trust),
        Command::Accuracy(args) => accuracy::run(args, trust, layout),
        Command::Coverage(args) => coverage::run(args, trust, layout),
        Command::Paths(args) => paths::run(args, trust, layout),
        Command::Diff(args) => diff::run(args, trust, layout),
        Command::Export(args) => export::run(args, trust),
        Command::Browse(args) => browse::run(args, trust),
        Command::Top(args) => top::run(args, layout),
        Command::Html(args) => html::run(args, trust),
        Command::Hits(args) => hits::run(args),
        Command::Simulate(args) => simulate::run(args, trust, layout),
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_in_one_group_and_has_one_line() {
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|c| !c.is_hide_set());
        let mut commands: Vec<&str> = shown.map(clap::Command::get_name).collect();
        commands.push("help");
        let groups = GROUPS.iter();
        let mut grouped: Vec<&str> = groups
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        commands.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, commands);
        for c in command.get_subcommands() {
            let about = c.get_about().map(ToString::to_string).unwrap_or_default();
            let line = format!("  {:8}  {about}", c.get_name());
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
