//! What an engine does: it reads and writes modules, as `p3-rewrite` was asked to.

use super::rewrite::{AnnotateArgs, Args, Command, ProftextArgs, print_llvm_version};
use super::{fail, one_line, parse, say_error};
use crate::base::error::Error;
use crate::base::table::number_of;
use crate::profile::verdict::Trust;
use crate::write::options::Options;
use crate::write::output::Destination;
use crate::write::pgo::{self, Done};
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;

/// The whole of an engine, with the arguments of `p3-rewrite`. Where LLVM cannot read an input, this process may become
/// a newer engine instead of returning.
pub fn main() -> ExitCode {
    print_llvm_version(&crate::write::emit::llvm_version());
    let mut args: Args = match parse() {
        Ok(args) => args,
        Err(code) => return code,
    };
    let result = match args.command.take() {
        None => rewrite(args),
        Some(Command::Annotate(args)) => annotate(&args),
        Some(Command::Proftext(args)) => proftext(&args),
        Some(Command::Judge) => judge(),
        Some(_) => {
            say_error("an engine reads and writes modules; p3-rewrite has the other commands");
            return ExitCode::from(2);
        }
    };
    let Err(e) = result else {
        return ExitCode::SUCCESS;
    };
    if matches!(e.downcast_ref(), Some(Error::Unreadable { .. })) {
        crate::input::engine::try_next();
    }
    fail(&e)
}

fn rewrite(args: Args) -> Result<()> {
    args.color.apply();
    let options: Options = args.resolve()?;
    let summary = crate::write::rewrite::rewrite(&options)?;
    if let Some(table) = &summary.stats {
        let table = table.render_names_first(super::layout(None));
        super::print(anstream::stdout(), table.as_bytes())?;
    }
    if options.verbosity >= 0 {
        warn(&summary.warnings);
        anstream::eprintln!("{}", one_line(&summary.line(&options)));
    }
    Ok(())
}

/// Answers until standard input ends.
fn judge() -> Result<()> {
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    Ok(crate::write::judge::answer_requests(input, output)?)
}

fn annotate(args: &AnnotateArgs) -> Result<()> {
    let profile = Trust::strict(args.profiled.strict).read(&args.profiled.profile)?;
    let done = pgo::write_annotated(&args.profiled.inputs, &profile, &args.out, args.force.force)?;
    let out = args.out.display();
    let all = number_of(done.functions as u64, "function");
    print_done(
        &done,
        args.by.quiet,
        &format!("{out}: {} of {all} annotated", done.annotated),
    );
    Ok(())
}

fn proftext(args: &ProftextArgs) -> Result<()> {
    let profile = Trust::strict(args.profiled.strict).read(&args.profiled.profile)?;
    let at = Destination::new(&args.out, pgo::PROFTEXT, args.force.force);
    let inputs = args.profiled.inputs.iter().map(PathBuf::as_path);
    at.check_before_work(inputs.chain([profile.path.as_path()]))?;
    let (text, done) = pgo::proftext(&args.profiled.inputs, &profile)?;
    at.write(text.as_bytes())?;
    let next = format!("{}: next: llvm-profdata merge", args.out.display());
    let line = if at.is_stdout() { "" } else { next.as_str() };
    print_done(&done, args.by.quiet, line);
    Ok(())
}

/// Warnings, and what was done, on standard error.
fn print_done(done: &Done, quiet: bool, line: &str) {
    if !quiet {
        warn(&done.warnings);
        if !line.is_empty() {
            anstream::eprintln!("{}", one_line(line));
        }
    }
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        super::warn(warning);
    }
}
