//! `p3-prof export`.

use super::sources::{MarkerArgs, SourceArgs};
use super::{Outcome, estimates};
use crate::base::error::{Error, Result};
use crate::base::names::parse_function_pattern;
use crate::cli::ForceArgs;
use crate::cli::values::exporter;
use crate::profile::filter::Selection;
use crate::profile::locate::find_merged_profile;
use crate::profile::measurement::Measurement;
use crate::profile::several::{self, Several};
use crate::profile::verdict::Trust;
use crate::read::decisions::Rule;
use crate::read::report::export::{Asked, Exporter, Weigh, Writer, Written, describe_left_out};
use crate::write::output::{Content, Destination, Mark};
use clap::Args;
use regex::Regex;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// A merged profile, or an output folder with one; for lcov and cobertura also a folder of programs
    #[arg(value_name = "FILE|OUTDIR")]
    file: PathBuf,
    /// The format
    #[arg(long, value_parser = exporter())]
    format: &'static Exporter,
    /// The file to write (-: standard output) [default: standard output]
    #[arg(
        short,
        long,
        value_name = "OUT",
        default_value = "-",
        hide_default_value = true
    )]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
    /// Only functions whose symbol or readable name matches, or a name as printed
    #[arg(long, value_name = "RE", value_parser = parse_function_pattern)]
    function: Option<Regex>,
    /// The weight of a path in folded [default: paths]
    #[arg(long, value_enum)]
    weigh: Option<Weigh>,
    /// Include headers of the system and of toolchains, in lcov and cobertura
    #[arg(long)]
    all: bool,
    /// Add conditions of decisions that are shown to decide (MC/DC), in lcov, for genhtml --mcdc-coverage
    #[arg(
        long,
        value_enum,
        value_name = "RULE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "unique-cause"
    )]
    mcdc: Option<Rule>,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    markers: MarkerArgs,
    /// The modules that were profiled, for proftext [default: the folder native beside FILE]
    #[arg(long, value_name = "PATH")]
    modules: Vec<PathBuf>,
}

impl ExportArgs {
    /// Whether a format by lines is asked for of a folder that holds programs, and is none.
    fn is_of_several(&self) -> bool {
        let is_program = || {
            let names = ["profile.p3prof", "manifest.json"];
            names.iter().any(|n| self.file.join(n).exists())
        };
        self.format.by_line && self.file.is_dir() && !is_program()
    }
}

/// Writes the profile in the format that is asked for.
pub(super) fn run(args: &ExportArgs, trust: Trust) -> Result<Outcome> {
    let by_rewriter = matches!(args.format.writer, Writer::Rewriter);
    let options = [
        ("--weigh", args.weigh.is_some(), args.format.weighed),
        ("--all", args.all, args.format.own),
        ("--mcdc", args.mcdc.is_some(), args.format.name == "lcov"),
        ("--modules", !args.modules.is_empty(), by_rewriter),
        (
            "--source-dir",
            !args.sources.source_dir.is_empty(),
            args.format.told || args.format.by_line,
        ),
        (
            "--path-map",
            !args.sources.path_map.is_empty(),
            !by_rewriter,
        ),
        (
            "--exclude-marker",
            !args.markers.exclude_marker.is_empty(),
            args.format.by_line,
        ),
        ("--function", args.function.is_some(), !by_rewriter),
    ];
    if let Some((name, ..)) = options.iter().find(|(_, given, fits)| *given && !fits) {
        let message = format!("{name} does not go with this format; leave it out");
        return Err(Error::Usage(message));
    }
    let Writer::Profile(write) = args.format.writer else {
        return proftext(args, trust);
    };
    let several = if args.is_of_several() {
        several::read(std::slice::from_ref(&args.file), trust)?
    } else {
        Several::from_one(trust.read(&args.file)?)
    };
    let read = several.files();
    let Several {
        mut profile, notes, ..
    } = several;
    let sources = args.sources.mark_and_rename(&mut profile, &args.markers);
    let at = Destination::new(&args.output, content(args.format), args.force.force);
    let read = read.into_iter().chain(sources.places());
    at.check_before_work(read.collect::<Vec<_>>().iter().map(PathBuf::as_path))?;
    let selection = Selection::new(args.function.as_ref(), None, &[&profile])?;
    let asked = Asked {
        weigh: args.weigh.unwrap_or(Weigh::Paths),
        all: args.all,
        mcdc: args.mcdc,
    };
    let Written { data, notes: left } = match &profile.measured {
        Measurement::Estimated(estimated) if estimates::has_own_exports(estimated) => {
            estimates::export(args.format, &profile, &selection, sources)?
        }
        _ => write(&profile, &selection, asked, sources)?,
    };
    at.write(&data)?;
    Ok(Outcome {
        warnings: describe_left_out(&profile, &selection)
            .into_iter()
            .chain(left)
            .chain(notes)
            .chain(args.sources.search().missing_folders())
            .collect(),
        ..Outcome::default()
    }
    .with_verdicts(&[&profile]))
}

/// How an earlier export is recognised. Formats with comments or a field for their author name us; tables have a
/// heading that nobody else writes; folded stacks have room for neither.
fn content(format: &Exporter) -> Content {
    match format.name {
        "lcov" | "lcov-1" => Content::text(Mark::Start(b"# p3-prof")),
        "cobertura" => Content::text(Mark::Head("version=\"p3-prof ")),
        "callgrind" => Content::text(Mark::Head("creator: p3-prof ")),
        "pprof" => Content::binary(Mark::Head("p3-prof")),
        "speedscope" => Content::text(Mark::Head("\"exporter\":\"p3-prof ")),
        "dot" => Content::text(Mark::Start(b"// p3-prof")),
        "csv" => Content::text(Mark::FirstLine),
        "json" => Content::text(Mark::Start(b"{\"program\":{")),
        _ => Content::text(Mark::None),
    }
}

/// By `p3-rewrite`, which knows LLVM: this program runs where there is none.
fn proftext(args: &ExportArgs, trust: Trust) -> Result<Outcome> {
    let file = &find_merged_profile(&args.file)?;
    if trust == Trust::Sound {
        trust.read(file)?;
    }
    let mut modules = args.modules.clone();
    if modules.is_empty() {
        let native = file.with_file_name("native");
        if !native.is_dir() {
            let problem = "proftext needs the modules that were profiled";
            return Err(Error::profile(file, problem, "name them with --modules"));
        }
        modules.push(native);
    }
    let beside = std::env::current_exe().ok();
    let beside = beside.map(|p| p.with_file_name("p3-rewrite"));
    let program = beside.filter(|p| p.is_file());
    let program = program.unwrap_or_else(|| "p3-rewrite".into());
    let mut command = std::process::Command::new(&program);
    command.arg("proftext").args(&modules);
    command.arg("--profile").arg(file);
    command.arg("-o").arg(&args.output);
    if args.force.force {
        command.arg("--force");
    }
    let output = command.output().map_err(|e| {
        let program = program.display();
        Error::Usage(format!("{program}: {e}; install p3-rewrite beside p3-prof"))
    })?;
    if let Some(why) = crate::project::not_loaded(&output) {
        return Err(Error::Usage(why));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let why = crate::project::complaint(&output);
        let whose = if said.is_empty() {
            "p3-rewrite proftext: "
        } else {
            ""
        };
        return Err(Error::Usage(format!("{whose}{why}")));
    }
    let warnings = said.lines().filter_map(|l| l.strip_prefix("warning: "));
    Ok(Outcome {
        data: output.stdout,
        warnings: warnings.map(str::to_string).collect(),
        ..Outcome::default()
    })
}
