//! Arguments of `p3-rewrite build` and `use`, and what they print.

use super::interrupt::{OnSignal, end_if_interrupted, watch};
use super::selection::{
    SelectionArgs, find_outdated, refuse_unknown, report_files_of_no_program, report_outdated,
    report_selection, report_threads, report_warnings,
};
use super::{ForceArgs, exit_code_of, print_message, warn};
use crate::base::error::{Error, Result};
use crate::base::table::number_of;
use crate::copies::copy_count::CopyCount;
use crate::copies::strategy::Scheme;
use crate::profile::measurement::Measurement;
use crate::profile::verdict::Trust;
use crate::project::integrate::integrate;
use crate::project::path_from_here;
use crate::project::record::{self, Failure, Record};
use crate::project::suite::{self, Build, Built};
use crate::project::systems::{quote_path, remedy_for_compiler_of, test_command};
use crate::project::unlinked::Unlinked;
use crate::write::output::check_folder;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How programs are put into copies.
#[derive(Debug, clap::Args)]
pub struct CopiesArgs {
    /// Copies of each program, up to 1024: less overhead in each, but all must run alike
    ///
    /// auto: four, if --profile says that they pay and no threads start; else one.
    #[arg(short = 'k', long, value_name = "K", default_value = "1")]
    copies: CopyCount,

    /// What is counted, and by which copy: p3-rewrite --help lists the schemes
    #[arg(long, value_name = "NAME", value_enum, default_value = "p3-hot")]
    scheme: Scheme,

    /// How counters are updated: p3-rewrite --help-all says what each does [default: auto]
    #[arg(long, value_name = "HOW", value_parser = ["auto", "thread", "atomic", "single"])]
    pub(super) update: Option<String>,

    /// Use this earlier profile to place counters in programs whose functions it knows
    #[arg(long, value_name = "FILE|OUTDIR")]
    profile: Option<PathBuf>,

    /// Count only in functions whose name matches (may be repeated)
    ///
    /// By symbol or readable name.
    #[arg(long, value_name = "RE")]
    include: Vec<String>,

    /// Do not count in functions whose name matches (may be repeated)
    ///
    /// By symbol or readable name.
    #[arg(long, value_name = "RE")]
    exclude: Vec<String>,

    #[command(flatten)]
    selection: SelectionArgs,
}

impl CopiesArgs {
    /// How many copies: as many as are of use to the scheme. A warning says if more are asked for.
    pub(super) fn number(&self) -> CopyCount {
        number_of_copies(self.scheme, self.copies)
    }

    /// Whether some paths only are asked for.
    pub(super) fn is_selective(&self) -> bool {
        self.selection.is_given()
    }

    /// What is asked for as options of `p3-rewrite`, but for the number of copies.
    ///
    /// # Errors
    /// A selection or profile that cannot be read, a profile of estimates, or a scheme that takes no selection.
    pub(super) fn flags(self) -> Result<Vec<String>> {
        if let Some(profile) = &self.profile {
            // Every link reads it; what is wrong with it is reported before anything runs.
            let profile = Trust::default().read(profile)?;
            if matches!(profile.measured, Measurement::Estimated(_)) {
                return Err(profile.only_estimates());
            }
        }
        // Links run in folders of their own.
        let profile = self.profile.map(|p| std::path::absolute(&p).unwrap_or(p));
        let profile = profile.map(|p| p.to_string_lossy().into_owned());
        let selection = self.selection.flags()?;
        if !selection.is_empty() && !self.scheme.takes_selections() {
            return Err(cannot_select(self.scheme));
        }
        let options = [
            ("--profile", profile.into_iter().collect()),
            ("--scheme", vec![self.scheme.name().to_string()]),
            ("--update", self.update.into_iter().collect()),
            ("--include", self.include),
            ("--exclude", self.exclude),
        ];
        let words = options
            .into_iter()
            .flat_map(|(name, values)| values.into_iter().flat_map(move |v| [name.to_string(), v]));
        Ok(words.chain(selection).collect())
    }
}

/// How many copies `scheme` makes where the user asks for `wanted`. A warning says if these are fewer.
pub(super) fn number_of_copies(scheme: Scheme, wanted: CopyCount) -> CopyCount {
    let made = scheme.strategy().copies(wanted.most());
    if made == wanted.most() {
        return wanted;
    }
    if let CopyCount::Exactly(_) = wanted {
        let made = number_of(made, "copy");
        warn(&format!("-k {wanted}: --scheme {scheme} makes only {made}"));
    }
    CopyCount::Exactly(made)
}

/// The error for a selection of paths where none are counted.
pub(super) fn cannot_select(scheme: Scheme) -> Error {
    let schemes = Scheme::ALL.iter().filter(|s| s.takes_selections());
    let names: Vec<&str> = schemes.map(|s| s.name()).collect();
    let names = names.join(", ");
    Error::Usage(format!(
        "--scheme {scheme} cannot count selected paths; choose one of {names}"
    ))
}

/// The arguments of `build`.
#[derive(Debug, clap::Args)]
pub struct BuildArgs {
    #[command(flatten)]
    copies: CopiesArgs,

    /// Build only this copy: for a machine per copy (docs/RUNNER.md)
    #[arg(long, value_name = "COPY")]
    only: Option<u32>,

    /// Where to write the copies: a folder for each program [default: PROGRAM.p3 beside the program]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print only what the command prints
    #[arg(short, long)]
    quiet: bool,

    /// The command that builds the programs, after --
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The arguments of `use`.
#[derive(Debug, clap::Args)]
pub struct UseArgs {
    /// Number of the copy, from 0
    #[arg(value_name = "COPY", value_parser = super::values::copy_number)]
    copy: u32,

    /// Where to look for the programs: the folder of `build -o`, or of the build
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: Vec<PathBuf>,
}

/// The arguments of `integrate`.
#[derive(Debug, clap::Args)]
pub struct IntegrateArgs {
    /// The folder to write
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,

    #[command(flatten)]
    force: ForceArgs,
}

/// Builds; the exit status is the command's, or 2 where it made programs and none of them has copies.
///
/// # Errors
/// What keeps a build from running ([`Build::run`]).
pub fn build(args: BuildArgs) -> Result<ExitCode> {
    let is_selective = args.copies.is_selective();
    let diffs = args.copies.selection.diffs()?;
    let build = Build {
        copies: args.copies.number(),
        out: args.out,
        only: args.only,
        flags: args.copies.flags()?,
        environment: Vec::new(),
    };
    if let Some(copy) = build.only.filter(|c| *c >= build.copies.most()) {
        let message = match build.copies.most() - 1 {
            0 => format!(
                "--only {copy}: there is one copy; give its number, 0, or more copies (-k 4)"
            ),
            last => format!("--only {copy}: copies are 0 to {last}; name one of them"),
        };
        return Err(Error::Usage(message));
    }
    if let Some(out) = &build.out {
        check_folder(out)?;
    }
    watch(OnSignal::PutInOrder);
    let built = build.run(&args.command);
    end_if_interrupted();
    let built = built?;
    report_failures(&built.failures);
    if is_selective && built.status == 0 {
        refuse_unknown(&built.programs)?;
    }
    if is_selective && !args.quiet {
        report_selection(&built.programs);
    }
    report_outdated(&find_outdated(&built.earlier, &build.flags));
    if built.status == 0 {
        let folders = Vec::from_iter(build.out.clone());
        if let Err(e) = suite::check_places(&folders, &built.earlier) {
            warn(&e.to_string());
        }
    }
    if !args.quiet {
        built
            .programs
            .iter()
            .for_each(|p| print_message(&describe_program(p)));
        report_warnings(&built.programs);
        report_threads(&built.programs);
        if let Some(diffs) = &diffs {
            let programs = built.programs.iter().chain(&built.earlier);
            report_files_of_no_program(diffs, programs)?;
        }
        if built.lines_added && !built.programs.is_empty() {
            print_message(
                "compiled without -g: copies were given line numbers (-gline-tables-only); native programs are as they \
                 were",
            );
        }
        report_unlinked(&built.unlinked);
        if built.status == 0 {
            say_what_is_next(&built, build.out.as_deref(), build.only);
        } else {
            print_message(&format!("the build ended with status {}", built.status));
        }
    }
    finish(&built)
}

/// Tells of sources that no link took.
fn report_unlinked(unlinked: &Unlinked) {
    if let [problem, more @ ..] = &unlinked.problems[..] {
        let more = match more.len() {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        warn(&format!(
            "coverage leaves out a source that was never linked: {problem}{more}"
        ));
    }
    let number = unlinked.sources.len() as u64;
    if number > 0 {
        let verb = if number == 1 { "was" } else { "were" };
        let number = number_of(number, "source");
        print_message(&format!(
            "{number} {verb} compiled but never linked: p3-prof coverage reports uncovered code there"
        ));
    }
}

/// What a build that succeeded left, and what to do next: of one copy, if it built that `only`.
fn say_what_is_next(built: &Built, out: Option<&Path>, only: Option<u32>) {
    let programs = match (&built.programs[..], &built.earlier[..]) {
        ([], []) => return,
        ([], earlier) => {
            let n = number_of(earlier.len() as u64, "program");
            print_message(&format!(
                "no program was linked: {n} of an earlier build can be used"
            ));
            earlier
        }
        (new, _) => new,
    };
    let tests = test_command(programs);
    if let Some(copy) = only {
        print_message(&format!("next: {tests} runs copy {copy}"));
        return;
    }
    let out = out.map_or(String::new(), |o| format!("-o {} ", quote_path(o)));
    print_message(&format!("next: p3-rewrite suite {out}-- {tests}"));
}

/// What is wrong with a build whose programs were all linked without copies.
pub(super) const NONE_HAS_COPIES: &str =
    "no program that was linked has copies; the warnings say why";

/// The exit status of a build: the command's; an error where that succeeded, and nothing is in copies.
fn finish(built: &Built) -> Result<ExitCode> {
    let has_programs = !(built.programs.is_empty() && built.earlier.is_empty());
    if built.status != 0 || has_programs {
        return Ok(exit_code_of(built.status));
    }
    let message = match (&built.foreign, &built.failures[..]) {
        (Some(file), _) => format!(
            "{}: made by another compiler than p3-cc and p3-cxx; {}",
            path_from_here(file),
            remedy_for_compiler_of(file)
        ),
        (None, [_, ..]) => NONE_HAS_COPIES.into(),
        (None, []) if built.was_called => {
            let remedy = "the command after -- has to link one, too (sh -c './configure && make')";
            format!("no program was linked, so there are no copies; {remedy}")
        }
        (None, []) => {
            "nothing was built, and no program has copies; clean what is up to date first (make clean)".into()
        }
    };
    Err(Error::Usage(message))
}

/// Prints why programs have no copies.
pub(super) fn report_failures(failures: &[Failure]) {
    for failure in failures {
        warn(&format!(
            "{}: not profiled: {}",
            path_from_here(&failure.program),
            failure.reason
        ));
    }
}

/// Puts copies in their places.
///
/// # Errors
/// There are no programs; one cannot be written.
pub fn use_copy(args: &UseArgs) -> Result<ExitCode> {
    let programs = record::find(&args.out)?;
    let Some(most) = programs.iter().map(|p| p.copies).max() else {
        let remedy = "name the folder that p3-rewrite build wrote by -o";
        return Err(Error::load(
            &args.out[0],
            "no program below this folder has copies",
            remedy,
        ));
    };
    if args.copy >= most {
        let message = format!(
            "use {}: the {} here have {} at most; give a number from 0 to {}",
            args.copy,
            number_of(programs.len() as u64, "program"),
            number_of(most, "copy"),
            most.saturating_sub(1)
        );
        return Err(Error::Usage(message));
    }
    suite::place_all(&programs, args.copy)?;
    for program in &programs {
        let what = match args.copy {
            copy if copy < program.copies => format!("copy {copy}"),
            _ => "native, it has fewer copies".into(),
        };
        print_message(&format!("{}: {what}", path_from_here(&program.program)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the files of build systems.
///
/// # Errors
/// Files that cannot be written ([`integrate`]).
pub fn write_files(args: &IntegrateArgs) -> Result<ExitCode> {
    let names = integrate(&args.out, args.force.force)?;
    print_message(&format!(
        "{}: {}",
        path_from_here(&args.out),
        names.join(", ")
    ));
    Ok(ExitCode::SUCCESS)
}

/// What was built of a program, in a line.
pub(super) fn describe_program(program: &Record) -> String {
    let why = || format!("{}/record.json says why", path_from_here(&program.folder));
    let left = match program.left.len() {
        0 => String::new(),
        1 => format!("; 1 object is not profiled: {}", why()),
        n => format!("; {n} objects are not profiled: {}", why()),
    };
    let copies = number_of(program.copies, "copy");
    format!("{}: {copies}{left}", path_from_here(&program.program))
}
