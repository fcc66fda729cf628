//! `manual`: man pages and completions, made from the arguments themselves.

use crate::error::{Error, Result};
use clap::{Args, Command};
use clap_complete::Shell;
use std::path::{Path, PathBuf};

/// The arguments of `manual`.
#[derive(Debug, Args)]
pub struct ManualArgs {
    /// The folder: /usr/local/share, ~/.local/share
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Where shells look for completions below a share folder.
const SHELLS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions"),
    (Shell::Zsh, "zsh/site-functions"),
    (Shell::Fish, "fish/vendor_completions.d"),
];

/// Pages of programs that have no options of their own, as they are.
#[cfg(feature = "llvm")]
const PAGES: [(&str, &str); 3] = [
    ("p3-cc.1", include_str!("../../share/man/p3-cc.1")),
    ("p3-cxx.1", ".so man1/p3-cc.1\n"),
    ("p3-c++.1", ".so man1/p3-cc.1\n"),
];

/// Writes what there is of all our programs below `out`. A line on what that is.
///
/// # Errors
/// Files that cannot be written.
#[cfg(feature = "llvm")]
pub fn write_all(args: &ManualArgs) -> Result<String> {
    use clap::CommandFactory;
    write(&super::rewrite::Args::command(), &args.out)?;
    write(&super::prof::Cli::command(), &args.out)?;
    let man = man(&args.out)?;
    let cargo = super::cargo::CargoArgs::command();
    let ours = cargo.find_subcommand("p3").expect("it is").clone();
    // As `cargo help p3` asks for it.
    pages(ours.name("cargo-p3").bin_name("cargo p3"), &man)?;
    for (name, text) in PAGES {
        let file = man.join(name);
        std::fs::write(&file, text).map_err(|e| Error::write(&file, e))?;
    }
    Ok(line(&args.out))
}

/// The same of one program.
///
/// # Errors
/// Files that cannot be written.
pub fn write_one(program: &Command, args: &ManualArgs) -> Result<String> {
    write(program, &args.out)?;
    Ok(line(&args.out))
}

fn line(out: &Path) -> String {
    let out = crate::names::printable(&out.display().to_string()).into_owned();
    format!("{out}: man pages, and completions of bash, zsh and fish")
}

/// A page of the program and one of each of its commands, and completions.
fn write(program: &Command, out: &Path) -> Result<()> {
    pages(program.clone(), &man(out)?)?;
    let name = program.get_name().to_string();
    for (shell, below) in SHELLS {
        let dir = made(out.join(below))?;
        let written = clap_complete::generate_to(shell, &mut program.clone(), &name, &dir);
        let written = written.map_err(|e| Error::write(&dir, e))?;
        if shell == Shell::Bash {
            // It looks for the program's name alone.
            let plain = dir.join(&name);
            std::fs::rename(&written, &plain).map_err(|e| Error::write(&plain, e))?;
        }
    }
    Ok(())
}

fn pages(program: Command, man: &Path) -> Result<()> {
    clap_mangen::generate_to(program, man).map_err(|e| Error::write(man, e))
}

fn man(out: &Path) -> Result<PathBuf> {
    made(out.join("man/man1"))
}

fn made(dir: PathBuf) -> Result<PathBuf> {
    std::fs::create_dir_all(&dir).map_err(|e| Error::write(&dir, e))?;
    Ok(dir)
}
