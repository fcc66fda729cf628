//! The whole of `p3-rewrite`: inputs → output folder.

use crate::cli::rewrite::Config;
use crate::dump::{self, View};
use crate::emit::{self, Affected, Callers, ModuleJob, Rewritten};
use crate::index::{CopyId, FuncId, ModuleId};
use crate::ir::Program;
use crate::ir::lower::{LoadOptions, load_program};
use crate::load::{Input, find_inputs};
use crate::manifest::{Manifest, Parts, Status};
use crate::output::{Folder, Linking};
use crate::partition::{Assignment, FunctionInput, FunctionPaths, all_paths, assign};
use crate::plan::CopyPlan;
use crate::plan::build::copy_plan;
use crate::{Error, Result, profile, stats};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;
use std::time::Instant;

/// What a rewriting did, for the user.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Functions by status: exact, cut, skipped.
    pub functions: [usize; 3],
    /// Functions that several copies share.
    pub split: usize,
    /// The table of `--stats`, if wanted.
    pub stats: Option<String>,
}

impl Summary {
    /// The closing line: what was made, and what to type next.
    pub fn line(&self, config: &Config) -> String {
        let [exact, cut, skipped] = self.functions;
        let out = config.out().display();
        format!(
            "{out}: {} copies ({}); functions: {exact} exact, {cut} cut, {skipped} skipped, {} split; \
             next: make -C {out} run",
            config.copies, config.scheme, self.split,
        )
    }
}

/// Rewrites the inputs of `config` into its output folder. Linear in the inputs; copies and
/// modules in parallel.
///
/// # Errors
/// See [`Error`]; the folder then has no manifest.
pub fn rewrite(config: &Config) -> Result<Summary> {
    let jobs = config.jobs.unwrap_or(0) as usize;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|e| Error::Usage(format!("--jobs {jobs}: {e}")))?;
    emit::install_fatal_handler();
    pool.install(|| run(config))
}

fn run(config: &Config) -> Result<Summary> {
    let mut clock = Clock::new(config.verbosity > 0);
    let inputs = find_inputs(&config.inputs, config.out())?;
    clock.lap("read the inputs");
    let options = LoadOptions {
        include: config.include.clone(),
        exclude: config.exclude.clone(),
    };
    let program = load_program(&inputs, &options)?;
    clock.lap("parsed and lowered");
    let functions = function_inputs(&program);
    let mut paths = all_paths(&functions);
    if let Some(file) = &config.profile {
        profile::weights::apply(file, &program, &mut paths)?;
    }
    let assignment = assign(&functions, &paths, config.scheme, config.copies);
    let manifest = Manifest::new(&Parts {
        program: &program,
        paths: &paths,
        assignment: &assignment,
        scheme: config.scheme,
        copies: config.copies,
        options: &config.identity(),
    });
    clock.lap("analysed");
    let work = Work {
        config,
        inputs: &inputs,
        program: &program,
        functions: &functions,
        paths: &paths,
        assignment: &assignment,
        identity: manifest.program_bytes(),
        bodies: bodies(&program),
    };
    let folder = Folder::begin(config.out())?;
    let plans = work.write_copies(&folder)?;
    clock.lap("wrote the copies");
    work.dump(&plans)?;
    inputs
        .iter()
        .try_for_each(|i| folder.write(&format!("native/{}", i.name), &i.bytes))?;
    folder.finish(&manifest, &linking(config, &inputs, &program))?;
    clock.lap("wrote the manifest");
    let select = |name: &str| config.selects(name);
    Ok(Summary {
        stats: (config.stats)
            .then(|| stats::table(&program, &manifest, &paths, &assignment, &plans, select)),
        ..summary(&manifest, &assignment)
    })
}

fn function_inputs(program: &Program) -> Vec<FunctionInput<'_>> {
    let input = |f| {
        let body = program.body_at(f);
        FunctionInput {
            cfg: &body.cfg,
            unit: f.unit,
            call_sites: f.call_sites,
            skip: body.skip,
        }
    };
    program.functions.iter().map(input).collect()
}

/// By module: ordinal and function of its bodies, ascending.
fn bodies(program: &Program) -> Vec<Vec<(u32, FuncId)>> {
    let mut bodies = vec![Vec::new(); program.modules.len()];
    for (i, f) in program.functions.iter().enumerate() {
        for b in &f.bodies {
            bodies[b.module.index()].push((b.ordinal, FuncId::new(i)));
        }
    }
    bodies.iter_mut().for_each(|b| b.sort_unstable());
    bodies
}

struct Work<'a> {
    config: &'a Config,
    inputs: &'a [Input],
    program: &'a Program,
    functions: &'a [FunctionInput<'a>],
    paths: &'a [Option<FunctionPaths>],
    assignment: &'a Assignment,
    identity: [u8; 16],
    /// By module: ordinal and function of its bodies, ascending.
    bodies: Vec<Vec<(u32, FuncId)>>,
}

impl Work<'_> {
    /// Writes every module of every copy. The plans, when something later wants to see them.
    fn write_copies(&self, folder: &Folder) -> Result<Vec<CopyPlan>> {
        let callers = Callers::new(self.program);
        let keep = self.config.stats || self.config.dump.contains(&View::Plan);
        let bar = self.progress();
        let copies = (0..self.config.copies).into_par_iter();
        let plans = copies.map(|c| {
            let plan = self.plan(CopyId(c));
            let counting = self.counting(&plan);
            let affected = Affected::new(self.program, &callers, counting);
            (0..self.inputs.len())
                .into_par_iter()
                .try_for_each(|m| self.write_module(folder, &plan, &affected, m, &bar))?;
            Ok(keep.then_some(plan))
        });
        let plans: Vec<Option<CopyPlan>> = plans.collect::<Result<_>>()?;
        bar.finish_and_clear();
        Ok(plans.into_iter().flatten().collect())
    }

    fn plan(&self, copy: CopyId) -> CopyPlan {
        copy_plan(self.functions, self.paths, &self.assignment.shares, copy)
    }

    /// The functions that get code in a copy.
    fn counting(&self, plan: &CopyPlan) -> Vec<FuncId> {
        if self.config.trace {
            let all = (0..self.functions.len()).filter(|&i| self.functions[i].skip.is_none());
            return all.map(FuncId::new).collect();
        }
        plan.functions.iter().map(|f| f.func).collect()
    }

    fn write_module(
        &self,
        folder: &Folder,
        plan: &CopyPlan,
        affected: &Affected,
        m: usize,
        bar: &ProgressBar,
    ) -> Result<()> {
        let input = &self.inputs[m];
        let bodies = &self.bodies[m];
        let plans = bodies.iter().filter_map(|&(ordinal, func)| {
            let i = plan.functions.binary_search_by_key(&func, |f| f.func);
            Some((ordinal, &plan.functions[i.ok()?]))
        });
        let plans = plans.collect();
        let instrumented = |&(_, f): &(u32, FuncId)| self.functions[f.index()].skip.is_none();
        let traced = || bodies.iter().copied().filter(instrumented).collect();
        let Rewritten { bitcode, text } = emit::rewrite(&ModuleJob {
            bytes: &input.bytes,
            module: &self.program.modules[m],
            id: ModuleId::new(m),
            plans,
            copy: plan.copy,
            copies: self.config.copies,
            program: self.identity,
            counters: self.config.counters,
            update: self.config.update,
            affected,
            trace: self.config.trace.then(traced),
            bitcode: self.config.bitcode,
            text: self.config.text,
        })?;
        let name = |extension| format!("copy-{}/{}", plan.copy, input.output_name(extension));
        if let Some(bytes) = bitcode {
            folder.write(&name("bc"), &bytes)?;
        }
        if let Some(text) = text {
            folder.write(&name("ll"), text.as_bytes())?;
        }
        bar.inc(1);
        Ok(())
    }

    fn progress(&self) -> ProgressBar {
        let bar = ProgressBar::new(u64::from(self.config.copies) * self.inputs.len() as u64);
        if self.config.verbosity < 0 {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template("rewriting {bar:30} {pos}/{len} modules {eta}");
        bar.with_style(style.expect("a valid template"))
    }

    /// Writes what `--dump` asks for: a file for each view and function; plans by copy.
    fn dump(&self, plans: &[CopyPlan]) -> Result<()> {
        let config = self.config;
        let write = |name: String, text: String| {
            crate::output::write_whole(&config.dump_dir.join(name), text.as_bytes())
        };
        for view in &config.dump {
            for (i, f) in self.program.functions.iter().enumerate() {
                let (true, Some(paths)) = (config.selects(&f.name), &self.paths[i]) else {
                    continue;
                };
                let file = format!("{i}.{}", file_name(&f.name));
                match view {
                    View::Cfg => {
                        let text = dump::cfg_dot(&f.name, self.functions[i].cfg);
                        write(format!("{file}.cfg.dot"), text)?;
                    }
                    View::Dag => write(format!("{file}.dag.dot"), dump::dag_dot(&f.name, paths))?,
                    View::Numbering => {
                        let text = dump::numbering_text(&f.name, paths);
                        write(format!("{file}.numbering.txt"), text)?;
                    }
                    View::Plan => {}
                }
            }
            if *view == View::Plan {
                for plan in plans {
                    write(format!("copy-{}.plan.txt", plan.copy), self.plan_text(plan))?;
                }
            }
        }
        Ok(())
    }

    fn plan_text(&self, plan: &CopyPlan) -> String {
        let name = |f: FuncId| self.program.functions[f.index()].name.as_str();
        let mut selected = plan.clone();
        selected
            .functions
            .retain(|f| self.config.selects(name(f.func)));
        selected.text(name)
    }
}

/// A function's name as part of a file name.
fn file_name(name: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_.$-".contains(c);
    let name: String = name
        .chars()
        .map(|c| if safe(c) { c } else { '_' })
        .collect();
    name.chars().take(100).collect()
}

fn linking(config: &Config, inputs: &[Input], program: &Program) -> Linking {
    let extension = if config.bitcode { "bc" } else { "ll" };
    Linking {
        modules: inputs.iter().map(|i| i.output_name(extension)).collect(),
        cxx: program.cxx,
    }
}

fn summary(manifest: &Manifest, assignment: &Assignment) -> Summary {
    let mut functions = [0; 3];
    for f in &manifest.functions {
        functions[match f.status {
            Status::Exact => 0,
            Status::Cut => 1,
            Status::Skipped(_) => 2,
        }] += 1;
    }
    let shared = |s: &&crate::partition::Share| matches!(s, crate::partition::Share::Split(_));
    Summary {
        functions,
        split: assignment.shares.iter().filter(shared).count(),
        stats: None,
    }
}

/// Says on stderr how long each phase took, when asked to.
struct Clock {
    verbose: bool,
    last: Instant,
}

impl Clock {
    fn new(verbose: bool) -> Self {
        let last = Instant::now();
        Clock { verbose, last }
    }

    fn lap(&mut self, what: &str) {
        if self.verbose {
            let ms = self.last.elapsed().as_secs_f64() * 1e3;
            anstream::eprintln!("{ms:8.1} ms  {what}");
        }
        self.last = Instant::now();
    }
}
