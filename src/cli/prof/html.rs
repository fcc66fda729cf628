//! `p3-prof html`.

use super::Outcome;
use super::sources::{MarkerArgs, SourceArgs};
use super::threads::ThreadArgs;
use crate::base::error::{Error, Result};
use crate::base::names::{escape_unprintable, parse_function_pattern};
use crate::cli::ForceArgs;
use crate::possible::solver::Program;
use crate::profile::filter::Selection;
use crate::profile::several::libraries_left_out;
use crate::profile::verdict::Trust;
use crate::read::possible::{Asker, Judge};
use crate::read::report::html::{self, PARTS, Page};
use crate::write::output::{Destination, check_folder, write_files};
use clap::Args;
use regex::Regex;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct HtmlArgs {
    /// A merged profile, or an output folder with one
    #[arg(value_name = "FILE|OUTDIR")]
    file: PathBuf,
    /// The folder to write; with --single the file (-: standard output)
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
    /// Write one file that holds everything
    #[arg(long)]
    single: bool,
    /// Also show the shares of this earlier merged profile
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Only functions whose symbol or readable name matches, or a name as printed
    #[arg(long, value_name = "RE", value_parser = parse_function_pattern)]
    function: Option<Regex>,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    markers: MarkerArgs,
}

/// Writes the page.
pub(super) fn run(args: &HtmlArgs, trust: Trust) -> Result<Outcome> {
    let profile = args.threads.select(trust.read(&args.file)?)?;
    let baseline = args.baseline.as_deref();
    let baseline = baseline.map(|file| trust.read(file)).transpose()?;
    // Shares of other sets of paths cannot be compared.
    if let Some(base) = &baseline
        && let Some(some) = [&profile, base].into_iter().find(|p| p.is_partial())
    {
        let specs = some.manifest.paths.join(", ");
        let problem = format!("it counts only some paths ({specs}), so shares cannot be compared");
        let remedy = "leave out --baseline; p3-prof diff compares the paths that both counted";
        return Err(Error::profile(&some.path, problem, remedy));
    }
    let selection = Selection::new(args.function.as_ref(), None, &[&profile])?;
    let at = Destination::new(&args.output, html::CONTENT, args.force.force);
    let sources = args.sources.open_marked(&profile, &args.markers);
    if args.single {
        let read = [Some(&profile), baseline.as_ref()].into_iter().flatten();
        let read = read.map(|p| p.path.clone()).chain(sources.places());
        at.check_before_work(read.collect::<Vec<_>>().iter().map(PathBuf::as_path))?;
    } else {
        check_folder(&args.output)?;
        refuse_other_files(&args.output)?;
    }
    let solver = Program::find().map_err(Error::Usage)?;
    let asker = Asker::new(&profile, std::slice::from_ref(&args.file), solver);
    let judge: &dyn Judge = &asker;
    let page = Page::new(
        profile.paths()?,
        &selection,
        &sources,
        baseline.as_ref(),
        Some(judge),
    )?;
    // A page of a profile alone has all missing paths, like one whose modules are gone.
    let _ = asker.finish();
    let shown = if args.single {
        at.write(page.single_file().as_bytes())?;
        args.output.clone()
    } else {
        write_files(&args.output, &page.files(), args.force.force)?;
        args.output.join("index.html")
    };
    let text = format!(
        "open {}\n",
        escape_unprintable(&shown.display().to_string())
    );
    let text = if args.single && at.is_stdout() {
        String::new()
    } else {
        text
    };
    let profiles: Vec<_> = std::iter::once(&profile).chain(&baseline).collect();
    let mut outcome = Outcome::print(text)
        .with_verdicts(&profiles)
        .with_source_remarks(&sources);
    outcome
        .warnings
        .extend(libraries_left_out(&profile, "the page"));
    let unknown = "the page shows blocks (b0, b1, …) and no sources";
    outcome
        .warnings
        .extend(profile.describe_missing_lines(unknown));
    Ok(outcome)
}

/// A folder with files of someone else's is not written to.
fn refuse_other_files(folder: &Path) -> Result<()> {
    let Ok(entries) = folder.read_dir() else {
        return Ok(());
    };
    let names: Vec<String> = entries
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    if names.iter().all(|n| PARTS.contains(&n.as_str())) {
        return Ok(());
    }
    let path = folder.display();
    let message = format!("-o {path}: the folder holds other files; name an empty or a new one");
    Err(Error::Usage(message))
}
