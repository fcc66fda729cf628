//! `--help` and `--help-all`, and lists of commands by what they are for.

use clap::{ArgAction, Command};
use std::fmt::Write;

/// Where options are listed that all commands have: below those of the command.
pub const LAST: usize = 990;

/// The help flags of every program and command, in place of clap's.
#[derive(Debug, clap::Args)]
pub struct HelpArgs {
    /// Print the everyday options
    #[arg(short, long, global = true, display_order = LAST, action = ArgAction::HelpShort)]
    help: Option<bool>,

    /// Print all options, and what their values mean
    #[arg(long, global = true, display_order = LAST, action = ArgAction::HelpLong)]
    help_all: Option<bool>,
}

/// A heading and the names of the commands below it.
pub type Group = (&'static str, &'static [&'static str]);

/// A help template for `commands` that lists them by `groups`, each in one line.
pub fn grouped_template(commands: &Command, groups: &[Group]) -> String {
    let header = commands.get_styles().get_header();
    let literal = commands.get_styles().get_literal();
    let names = groups.iter().flat_map(|(_, names)| names.iter());
    let width = names.map(|name| name.len()).max().unwrap_or(0);
    let mut out = "{about-with-newline}\n{usage-heading} {usage}\n".to_string();
    for (heading, names) in groups {
        let _ = writeln!(out, "\n{header}{heading}:{header:#}");
        for name in *names {
            let found = commands.find_subcommand(name);
            let about = found.and_then(Command::get_about).map(ToString::to_string);
            let about = about.unwrap_or_else(|| "Print the help of a command".into());
            let _ = writeln!(out, "  {literal}{name:width$}{literal:#}  {about}");
        }
    }
    let _ = write!(
        out,
        "\n{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    out
}
