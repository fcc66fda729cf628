//! The whole of `p3-rewrite`: inputs → output folder.

mod analysis;
mod copies;
#[cfg_attr(not(feature = "estimates"), path = "no_estimates.rs")]
mod estimates;
mod train;
mod update;
mod views;

use crate::base::error::{Error, Result};
use crate::base::names::{NAMED_FUNCTIONS, first_names, printed_name, quote_for_shell};
use crate::base::table::{Columns, group_all_digits, number_of};
use crate::copies::copy_count::SEVERAL;
use crate::copies::partition::Share;
use crate::copies::plan::Update;
use crate::input::load::positions::Positions;
use crate::input::load::{Admitted, find_inputs};
use crate::profile::Profile;
use crate::profile::manifest::{Manifest, Status};
use crate::profile::verdict::idle_copies;
use crate::profile::weights::UNRELATED;
use crate::write::emit::{self, Admission, Parsed};
use crate::write::options::{Options, OutputOptions, THREADS_WARNING, UNLIKE_WARNING, WeightsFrom};
use crate::write::output::{Folder, Linking, StagedManifest, WEIGHTS, module_name};
use crate::write::stats;
use analysis::Analysis;
use copies::Copies;
use rayon::ThreadPool;
use rustix::thread::{disable_transparent_huge_pages, transparent_huge_pages_are_disabled};
use std::time::Instant;

/// What a rewriting did, for the user.
#[derive(Clone, Debug)]
pub struct Summary {
    /// How many copies there are.
    pub copies: u32,
    /// Functions by status: exact, cut, skipped.
    pub functions: [usize; 3],
    /// Where only some paths are asked for: functions with such a path.
    pub selected: Option<usize>,
    /// Functions that several copies share.
    pub split: usize,
    /// The table of `--stats`, if wanted.
    pub stats: Option<Columns>,
    /// What the user should know, a line each.
    pub warnings: Vec<String>,
}

impl Summary {
    /// The closing line: what was made, and what to type next.
    pub fn line(&self, options: &Options) -> String {
        let [exact, cut, skipped] = self.functions;
        let out = options.output.folder.display();
        let numbers = if options.scheme.strategy().measure.is_exact() {
            let of_paths = match self.selected {
                None => [(exact, "exact"), (cut, "cut")],
                Some(n) => [(n, "with selected paths"), (exact + cut - n, "without")],
            };
            [
                &of_paths[..],
                &[(skipped, "skipped"), (self.split, "split")],
            ]
            .concat()
        } else {
            vec![(exact + cut, "sampled"), (skipped, "skipped")]
        };
        let numbers = numbers.into_iter();
        let numbers = numbers.map(|(n, what)| format!("{} {what}", group_all_digits(n as u64)));
        let functions = numbers.collect::<Vec<_>>().join(", ");
        format!(
            "{out}: {} ({}); functions: {functions}; next: make -C {} run",
            number_of(self.copies, "copy"),
            options.scheme,
            quote_for_shell(out.to_string()),
        )
    }
}

/// Rewrites the inputs of `options` into its output folder. Linear in the inputs; copies and
/// modules in parallel.
///
/// # Errors
/// Any [`Error`]; the folder then has no manifest.
pub fn rewrite(options: &Options) -> Result<Summary> {
    options.scheme.must_be_built()?;
    let pool = make_pool(options.jobs)?;
    emit::set_up();
    let mut clock = Clock::new(options.verbosity > 0);
    Folder::check_path(&options.output.folder)?;
    let found = find_inputs(
        &options.inputs.files,
        &options.output.folder,
        options.inputs.mlir.as_deref(),
    )?;
    clock.report_lap("read the inputs");
    let names = options.names();
    let Admission {
        mut inputs,
        lines,
        about_lto,
        mut parsed,
    } = in_small_pages(|| pool.install(|| emit::admit(found, names, |_| options.inputs.optimize)))?;
    clock.report_lap("verified them");
    let measured = read_measured(options, &inputs, pool.current_num_threads(), &mut clock)?;
    let profile = measured.as_ref().map(|m| &m.profile);
    let mut summary = in_small_pages(|| {
        let analysis =
            pool.install(|| Analysis::new(options, &inputs, parsed.as_mut(), profile, &mut clock))?;
        forget_positions(&mut inputs);
        write_folder(
            options, &inputs, analysis, parsed, profile, pool, &mut clock,
        )
    })?;
    summary.warnings.extend(measured.and_then(|m| m.warning));
    summary.warnings.extend(lines.into_iter().chain(about_lto));
    Ok(summary)
}

/// As many threads as `jobs`, or as there are cores.
fn make_pool(jobs: Option<u32>) -> Result<ThreadPool> {
    let jobs = jobs.unwrap_or(0) as usize;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    pool.map_err(|e| Error::Usage(format!("--jobs {jobs}: {e}")))
}

/// Does something without huge pages, which the allocator asks for: they are cleared whole, and in a virtual machine
/// each has to be found by the host first. Programs that this process starts inherit that, so it does not hold while
/// weights are measured.
fn in_small_pages<T>(work: impl FnOnce() -> T) -> T {
    let before = transparent_huge_pages_are_disabled();
    // Where the kernel cannot do it, it only takes longer.
    let _ = disable_transparent_huge_pages(true);
    let done = work();
    let _ = disable_transparent_huge_pages(before.unwrap_or(false));
    done
}

/// Weights that were measured.
struct Measured {
    profile: Profile,
    /// What the user should know of them.
    warning: Option<String>,
}

fn read_measured(
    options: &Options,
    inputs: &[Admitted],
    jobs: usize,
    clock: &mut Clock,
) -> Result<Option<Measured>> {
    match &options.weights.from {
        WeightsFrom::Estimates => Ok(None),
        WeightsFrom::Profile(file) => {
            let profile = options.weights.trust.read(file)?;
            let warning = profile
                .problem_line()
                .map(|v| format!("{}: {v}", file.display()));
            Ok(Some(Measured { profile, warning }))
        }
        WeightsFrom::Training(training) => {
            let measured = train::measure_by_run(training, options, inputs, jobs, clock)?;
            clock.report_lap("trained");
            Ok(Some(measured))
        }
    }
}

/// Frees what only the analysis asks inputs for.
fn forget_positions(inputs: &mut [Admitted]) {
    for input in inputs {
        input.positions = Positions::default();
        input.hidden = Vec::new();
    }
}

/// Makes the output folder of `options` from inputs that are admitted and analysed, the only one of which may be
/// `parsed` already.
fn write_folder(
    options: &Options,
    inputs: &[Admitted],
    analysis: Analysis,
    parsed: Option<Parsed>,
    measured: Option<&Profile>,
    pool: ThreadPool,
    clock: &mut Clock,
) -> Result<Summary> {
    let linking = linking(&options.output, inputs, analysis.program.cxx);
    let folder = Folder::begin(&options.output.folder, analysis.copies, &linking)?;
    if let Some(profile) = measured {
        folder.write(WEIGHTS, &profile.to_bytes())?;
    }
    let manifest = folder.prepare(&analysis.manifest, &linking)?;
    let summary = summary(options, &analysis);
    clock.report_lap("wrote the manifest");
    let mut copies = Copies::new(options, inputs, analysis, folder);
    copies.write_all(pool, parsed)?;
    clock.report_lap("wrote the copies");
    let stats = finish_output(options, &copies, &linking, manifest)?;
    // Many small pieces, and the process is about to end.
    std::mem::forget(copies.analysis);
    Ok(Summary { stats, ..summary })
}

/// Writes everything besides the copies, the manifest last. Returns the table of `--stats`, if it is wanted.
fn finish_output(
    options: &Options,
    copies: &Copies,
    linking: &Linking,
    staged: StagedManifest,
) -> Result<Option<Columns>> {
    let Copies {
        inputs,
        analysis,
        folder,
        ..
    } = copies;
    let plans = copies.plan_all();
    views::write_views(options, analysis, &plans, folder)?;
    for (name, input) in linking.inputs.iter().zip(*inputs) {
        folder.write(&format!("native/{name}"), &input.bytes)?;
    }
    folder.finish(staged)?;
    let Analysis {
        program,
        manifest,
        paths,
        assignment,
        ..
    } = analysis;
    let select = |name: &str| options.views.selects_function(name);
    let table = || match &options.sampling {
        Some(settings) => estimates::sampled_table(analysis.as_measured(), settings, select),
        None => stats::stats_table(program, manifest, paths, assignment, &plans, select),
    };
    Ok(options.views.stats.then(table))
}

fn linking(output: &OutputOptions, inputs: &[Admitted], cxx: bool) -> Linking {
    let extension = if output.bitcode { "bc" } else { "ll" };
    let inputs = inputs.iter().enumerate();
    Linking {
        modules: inputs
            .clone()
            .map(|(m, _)| module_name(m, extension))
            .collect(),
        inputs: inputs
            .map(|(m, i)| module_name(m, i.kind.extension()))
            .collect(),
        cxx,
    }
}

/// What is known before copies are written.
fn summary(options: &Options, analysis: &Analysis) -> Summary {
    let Analysis {
        manifest,
        assignment,
        ..
    } = analysis;
    let estimated = match &options.weights.from {
        WeightsFrom::Profile(file) if !analysis.is_related => Some(format!(
            "{}: {UNRELATED}: weights are estimated",
            file.display()
        )),
        _ => None,
    };
    let nothing = manifest.nothing_profiled();
    let idle = nothing.is_none().then(|| warn_of_idle_copies(manifest));
    let threads = warn_of_threads(options, analysis);
    let warnings = nothing.into_iter().chain(idle.flatten());
    let about_update = analysis.about_update.clone();
    let warnings = warnings.chain(threads).chain(about_update).chain(estimated);
    let mut functions = [0; 3];
    for f in &manifest.functions {
        functions[match f.status {
            Status::Exact => 0,
            Status::Cut => 1,
            Status::Skipped(_) => 2,
        }] += 1;
    }
    let shared = |s: &&Share| s.parts().len() > 1;
    let counted = assignment.shares.iter().filter(|s| !s.parts().is_empty());
    Summary {
        copies: analysis.copies,
        functions,
        selected: (!manifest.paths.is_empty()).then(|| counted.count()),
        split: assignment.shares.iter().filter(shared).count(),
        stats: None,
        warnings: warnings.collect(),
    }
}

/// Of a program that can start threads: that it counts by plain increments, and that it is in several copies.
/// (Estimates lose nothing, and copies of them are not compared.)
fn warn_of_threads(options: &Options, analysis: &Analysis) -> Vec<String> {
    let manifest = &analysis.manifest;
    let is_exact = options.scheme.strategy().measure.is_exact();
    let starters: Vec<String> = manifest
        .thread_starters()
        .map(|(s, _)| printed_name(s))
        .collect();
    if !is_exact || starters.is_empty() || manifest.counts_nothing() {
        return Vec::new();
    }
    let starters = first_names(NAMED_FUNCTIONS, starters.into_iter());
    let loses = (analysis.update == Update::Single).then(|| {
        format!("{THREADS_WARNING} ({starters}): without --update single they count exactly")
    });
    let differ = (analysis.copies > 1)
        .then(|| format!("{UNLIKE_WARNING} ({starters}): with -k 1 they count exactly"));
    loses.into_iter().chain(differ).collect()
}

/// Of many copies, that some count nothing.
fn warn_of_idle_copies(manifest: &Manifest) -> Option<String> {
    let idle = idle_copies(manifest).len();
    let busy = manifest.copies as usize - idle;
    (idle > 0 && busy > 0 && manifest.copies > SEVERAL).then(|| {
        let verb = if idle == 1 { "has" } else { "have" };
        let copies = number_of(manifest.copies, "copy");
        format!("{idle} of {copies} {verb} nothing to profile: use -k {busy}")
    })
}

/// Says on stderr how long each phase took, when asked to.
pub(crate) struct Clock {
    verbose: bool,
    last: Instant,
}

impl Clock {
    fn new(verbose: bool) -> Self {
        let last = Instant::now();
        Clock { verbose, last }
    }

    fn report_lap(&mut self, what: &str) {
        if self.verbose {
            let ms = self.last.elapsed().as_secs_f64() * 1e3;
            anstream::eprintln!("{ms:8.1} ms  {what}");
        }
        self.last = Instant::now();
    }
}
