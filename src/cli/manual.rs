//! `manual`: man pages and completions, made from the arguments themselves.

use super::ForceArgs;
use crate::base::error::Result;
use crate::write::output::{Mark, write_files};
use clap::{Args, Command};
use clap_complete::{Generator, Shell};
use clap_mangen::Man;
use std::path::{Path, PathBuf};

/// The arguments of `manual`.
#[derive(Debug, Args)]
pub struct ManualArgs {
    /// The folder: /usr/local/share, ~/.local/share
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,

    #[command(flatten)]
    force: ForceArgs,
}

/// Where shells look for completions below a share folder.
const SHELLS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions"),
    (Shell::Zsh, "zsh/site-functions"),
    (Shell::Fish, "fish/vendor_completions.d"),
];

/// Where pages are.
const MAN: &str = "man/man1";

/// What a comment in each file says, so that it is known as ours.
const MADE_BY: &str = "Written by p3-rewrite: manual";

/// Pages of programs that have no options of their own, as they are.
const PAGES: [(&str, &str); 3] = [
    ("p3-cc.1", include_str!("../../share/man/p3-cc.1")),
    ("p3-cxx.1", ".so man1/p3-cc.1\n"),
    ("p3-c++.1", ".so man1/p3-cc.1\n"),
];

/// Files below a share folder.
type Files = Vec<(String, Vec<u8>, Mark)>;

/// Writes the pages of all our programs below `out`: of `programs`, of `cargo p3` (a command of `cargo`), and of the
/// compilers. A line on what that is.
///
/// # Errors
/// Files that cannot be written, or would replace others.
pub fn write_all(args: &ManualArgs, programs: &[Command], cargo: &Command) -> Result<String> {
    let mut files: Files = programs.iter().flat_map(list_files).collect();
    let ours = cargo.find_subcommand("p3").expect("it is").clone();
    // As `cargo help p3` asks for it.
    pages(ours.name("cargo-p3").bin_name("cargo p3"), &mut files);
    let plain = PAGES.iter().map(|(name, text)| file(MAN, name, text));
    files.extend(plain);
    write(args, &files)
}

/// Writes the page of one program, those of its commands, and its completions below `out`. A line on what that is.
///
/// # Errors
/// Files that cannot be written, or would replace others.
pub fn write_one(program: &Command, args: &ManualArgs) -> Result<String> {
    write(args, &list_files(program))
}

fn write(args: &ManualArgs, files: &Files) -> Result<String> {
    write_files(&args.out, files, args.force.force)?;
    Ok(line(&args.out))
}

fn line(out: &Path) -> String {
    let out = crate::base::names::escape_unprintable(&out.display().to_string()).into_owned();
    format!("{out}: man pages, and completions of bash, zsh and fish")
}

/// A page of the program and one of each of its commands, and completions.
fn list_files(program: &Command) -> Files {
    let mut files = Files::new();
    pages(program.clone(), &mut files);
    let name = program.get_name();
    for (shell, below) in SHELLS {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut program.clone(), name, &mut text);
        // Bash looks for the program's name alone.
        let called = match shell {
            Shell::Bash => name.to_string(),
            _ => shell.file_name(name),
        };
        files.push(file(below, &called, &as_text(text)));
    }
    files
}

/// A page of the command and of each below it, as `clap_mangen::generate_to` has them.
fn pages(command: Command, files: &mut Files) {
    let mut all = command.disable_help_subcommand(true);
    all.build();
    let mut left = vec![all];
    while let Some(command) = left.pop() {
        let below = command.get_subcommands();
        left.extend(below.filter(|c| !c.is_hide_set()).cloned());
        // A page leaves out the texts of what `--help` leaves out.
        let page = Man::new(command.mut_args(|a| a.hide_short_help(false)));
        let mut text = Vec::new();
        page.render(&mut text).expect("memory takes everything");
        files.push(file(MAN, &page.get_filename(), &as_text(text)));
    }
}

fn as_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("help is text")
}

/// A file with its mark in a comment: in the first line, but where that is for a program to read.
fn file(folder: &str, name: &str, text: &str) -> (String, Vec<u8>, Mark) {
    let comment = if folder == MAN { ".\\\"" } else { "#" };
    let mark = format!("{comment} {MADE_BY}\n");
    let first = [".so ", "#compdef "].iter().any(|b| text.starts_with(b));
    let at = if first {
        text.find('\n').map_or(text.len(), |end| end + 1)
    } else {
        0
    };
    let (before, after) = text.split_at(at);
    let text = format!("{before}{mark}{after}");
    (
        format!("{folder}/{name}"),
        text.into_bytes(),
        Mark::Head(MADE_BY),
    )
}
