//! Raw arguments → resolved configuration, apart from the work itself.

pub mod build;
pub mod cargo;
pub mod compiler;
pub mod doctor;
#[cfg(feature = "llvm")]
pub mod engine;
pub mod help;
pub mod interrupt;
pub mod manual;
pub mod prof;
pub mod rewrite;
mod screen;
mod selection;
pub mod suite;
mod values;

use crate::base::names::{REGEX_PROBLEM, describe_regex_problem, escape_unprintable};
use crate::base::table::Layout;
use clap::ValueEnum;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::io::Write;
use std::process::ExitCode;

/// When to colour output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Applies the choice to everything that is printed from now on.
    pub fn apply(self) {
        let choice = match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// Whether a result may take the place of a file that is no earlier result.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ForceArgs {
    /// Replace an existing file even if it is not an earlier result of this command
    #[arg(long)]
    pub force: bool,
}

/// How much room there is for text on standard output: `width` columns, or as many as the terminal has.
pub fn layout(width: Option<usize>) -> Layout {
    let terminal = || {
        let (columns, _) = terminal_size::terminal_size_of(std::io::stdout())?;
        Some(usize::from(columns.0))
    };
    let known = width.or_else(terminal);
    known.map_or(Layout::default(), |width| Layout { width, full: false })
}

/// Writes bytes to standard output, `out`; a reader that stops early is no error.
pub fn print(mut out: impl Write, bytes: &[u8]) -> std::io::Result<()> {
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// A message in one line, without control characters that names in it may hold.
pub fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().collect();
    escape_unprintable(&lines.join(" ")).into_owned()
}

/// Prints `warning: …` in one line on stderr.
pub fn warn(message: &str) {
    anstream::eprintln!("warning: {}", one_line(message));
}

/// The exit status of a command as ours; 1 where it does not fit.
fn exit_code_of(status: i32) -> ExitCode {
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}

/// Prints `p3: …` in one line on stderr.
fn print_message(line: &str) {
    anstream::eprintln!("p3: {}", one_line(line));
}

/// Prints `error: …` in one line on stderr.
pub fn say_error(message: &str) {
    anstream::eprintln!("error: {}", one_line(message));
}

/// Prints what ended the command as `error: …`. The exit status: 2, or 1 if a check found something.
pub fn fail(error: &anyhow::Error) -> std::process::ExitCode {
    say_error(&error.to_string());
    let known = error.downcast_ref::<crate::base::error::Error>();
    std::process::ExitCode::from(known.map_or(2, crate::base::error::Error::status))
}

/// The arguments; if they are wrong, one line on stderr says so, and this is the exit status.
pub fn parse<T: clap::Parser>() -> Result<T, std::process::ExitCode> {
    T::try_parse().map_err(|e| {
        if !e.use_stderr() {
            return print_help(&e);
        }
        let said = in_one_line(&e.render().to_string());
        let given = std::env::args_os().skip(1);
        let given: Vec<String> = given.map(|a| a.to_string_lossy().into_owned()).collect();
        let remedy = match name_separator(&T::command(), &given, &e) {
            Some(corrected) => format!("put -- before the command, as in {corrected}"),
            None => "see --help".into(),
        };
        anstream::eprintln!("{}", escape_unprintable(&format!("{said}; {remedy}")));
        std::process::ExitCode::from(2)
    })
}

/// The command line with the `--` that is missing in it, if that is what is wrong: a subcommand takes a command behind
/// `--`, and the first word of this was taken for an argument of the subcommand.
fn name_separator(of: &clap::Command, given: &[String], error: &clap::Error) -> Option<String> {
    let subcommand = of.find_subcommand(given.first()?)?;
    let takes_command = subcommand.get_positionals().any(clap::Arg::is_last_set);
    if !takes_command || given.iter().any(|word| word == "--") {
        return None;
    }
    let name = format!("{} {}", of.get_name(), subcommand.get_name());
    match error.kind() {
        ErrorKind::MissingRequiredArgument => {
            let before = shlex::try_join(given[1..].iter().map(String::as_str)).ok()?;
            let space = if before.is_empty() { "" } else { " " };
            Some(format!("{name} {before}{space}-- COMMAND"))
        }
        ErrorKind::UnknownArgument => {
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
                return None;
            };
            if word.starts_with('-') {
                return None;
            }
            let mut words: Vec<&str> = given[1..].iter().map(String::as_str).collect();
            let at: Vec<usize> = (0..words.len()).filter(|i| words[*i] == word).collect();
            match at[..] {
                [at] => words.insert(at, "--"),
                // One of them may be the value of an option.
                _ => words = vec!["--", "COMMAND"],
            }
            Some(format!("{name} {}", shlex::try_join(words).ok()?))
        }
        _ => None,
    }
}

/// Prints help or a version.
fn print_help(text: &clap::Error) -> std::process::ExitCode {
    let printed = text.print().and_then(|()| std::io::stdout().flush());
    match printed {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            fail(&crate::base::error::Error::write("standard output", e).into())
        }
        _ => std::process::ExitCode::SUCCESS,
    }
}

/// What Rust's parsers of numbers say, and what is meant.
const NUMBERS: [(&str, &str); 6] = [
    ("invalid digit found in string", "give a whole number"),
    (
        "cannot parse integer from empty string",
        "give a whole number",
    ),
    (
        "number too large to fit in target type",
        "give a smaller number",
    ),
    (
        "number too small to fit in target type",
        "give a larger number",
    ),
    ("invalid float literal", "give a number"),
    ("cannot parse float from empty string", "give a number"),
];

/// What is wrong with arguments, and what comes near to them, of what clap says in several paragraphs.
fn in_one_line(text: &str) -> String {
    if let Some((argument, problem)) = text.split_once(REGEX_PROBLEM) {
        let problem = problem.split("\n\n").next().unwrap_or(problem);
        let problem = describe_regex_problem(&format!("{REGEX_PROBLEM}{problem}"));
        return format!("{argument}{problem}");
    }
    let joined = |paragraph: &str| {
        let lines: Vec<&str> = paragraph.lines().map(str::trim).collect();
        lines.join(" ")
    };
    let mut paragraphs = text.split("\n\n");
    let first = paragraphs.next().map(joined).unwrap_or_default();
    let tips = paragraphs.flat_map(str::lines).map(str::trim);
    let tip = tips
        .clone()
        .find(|l| l.starts_with("tip: ") && l.contains("similar"));
    let mut said = tip.map_or(first.clone(), |tip| format!("{first}; {tip}"));
    // What Rust says of numbers, in plain words.
    for (problem, plain) in NUMBERS {
        if let Some(argument) = said.strip_suffix(problem) {
            said = format!("{argument}{plain}");
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_numbers_are_described_in_plain_words() {
        let of_clap = |problem: &str| {
            in_one_line(&format!(
                "error: invalid value 'x' for '--top <N>': {problem}\n\nFor more information, try '--help'.\n"
            ))
        };
        for value in ["x", "-1", "1.5", "", "99999999999999999999"] {
            let said = of_clap(&value.parse::<u64>().unwrap_err().to_string());
            assert!(
                said.ends_with(" number") && said.contains(": give a "),
                "{said}"
            );
        }
        for value in ["x", ""] {
            let said = of_clap(&value.parse::<f64>().unwrap_err().to_string());
            assert!(said.ends_with(": give a number"), "{said}");
        }
        assert_eq!(
            of_clap("0 is not in 1..=9"),
            "error: invalid value 'x' for '--top <N>': 0 is not in 1..=9"
        );
    }
}
