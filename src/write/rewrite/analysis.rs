//! Everything that is known before the first copy is written.

#[cfg(feature = "estimates")]
use super::estimates::admission::can_be_sampled;
use super::update::{Chosen, choose_update};
use super::{Clock, Options};
use crate::base::error::Result;
use crate::base::index::{CopyId, FuncId, ModuleId, TiVec, ti_vec};
use crate::base::names::printed_name;
use crate::copies::partition::Assignment;
use crate::copies::plan::Update;
use crate::copies::plan::build::copy_plan;
use crate::copies::plan::double::double_blocks;
use crate::copies::plan::{CopyPlan, FunctionPlan, check};
use crate::copies::selection::{self, Asked};
use crate::copies::strategy::{Method, Scheme};
use crate::input::ir::lower::LoadOptions;
use crate::input::ir::{Body, Callee, Cfg, FunctionBody, Program, SkipReason};
use crate::input::load::Admitted;
use crate::paths::function::{
    Expected, FunctionInput, Measuring, Paths, all_paths, function_inputs, guess_all, layouts,
};
use crate::paths::versions::has_no_copy;
use crate::profile::manifest::{Manifest, Parts};
use crate::profile::matching::{Build, Known};
use crate::profile::{self, Profile};
use crate::write::emit::{self, Callers, Parsed};
use rayon::prelude::*;
use std::sync::Arc;

/// At most this many of the functions that one was inlined into are named.
const TOLD: usize = 3;

/// The program, its paths, and who profiles what.
pub(super) struct Analysis {
    /// The program.
    pub program: Program,
    /// By function; `None` where it is skipped.
    pub paths: TiVec<FuncId, Option<Measuring>>,
    /// Who profiles what.
    pub assignment: Assignment,
    /// What the copies' profiles will be decoded with.
    pub manifest: Manifest,
    /// How many copies there are.
    pub copies: u32,
    /// Whether the measured weights are of this program, if there are any.
    pub is_related: bool,
    /// How the copies count.
    pub update: Update,
    /// Whether handlers of signals may count, where an increment is several instructions.
    pub handles_signals: bool,
    /// What the user should know of that.
    pub about_update: Option<String>,
    /// Who may call whom.
    pub callers: Callers,
    /// By module: ordinal and function of its bodies, ascending.
    pub bodies: TiVec<ModuleId, Vec<(u32, FuncId)>>,
}

/// A program whose functions are measured.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "estimates"),
    allow(dead_code, reason = "only estimates use it")
)]
pub(super) struct Measured<'a> {
    pub(super) program: &'a Program,
    pub(super) manifest: &'a Manifest,
    /// `None` where a function is skipped.
    pub(super) paths: &'a TiVec<FuncId, Option<Measuring>>,
}

impl Analysis {
    /// Loads and analyses the inputs, the only one as it was `parsed` if it was, with the weights of `measured` where
    /// it knows a function.
    pub(super) fn new(
        options: &Options,
        inputs: &[Admitted],
        parsed: Option<&mut Parsed>,
        measured: Option<&Profile>,
        clock: &mut Clock,
    ) -> Result<Analysis> {
        let chosen = LoadOptions {
            include: options.functions.include.clone(),
            exclude: options.functions.exclude.clone(),
        };
        let mut program = emit::load_program(inputs, parsed, &chosen)?;
        // Before paths are numbered: a skipped function must have none.
        if options.scheme.strategy().method == Method::Shadow {
            skip_functions(&mut program, SkipReason::Single, |cfg| {
                cfg.blocks.iter().any(has_no_copy)
            });
        }
        check_filters(options, inputs, &program)?;
        #[cfg(feature = "estimates")]
        if options.sampling.is_some() {
            skip_functions(&mut program, SkipReason::Versions, |cfg| {
                !can_be_sampled(cfg)
            });
        }
        clock.report_lap("parsed and lowered");
        let functions = function_inputs(&program);
        let paths = TiVec::from(all_paths(&functions));
        let mut expected = guess_all(&paths.raw);
        let mut is_related = true;
        if let Some(profile) = measured {
            let functions = program.functions.iter().map(|f| {
                let module = &program.modules[f.bodies[0].module];
                Known::in_module(&program, module, program.body_at(f))
            });
            let (build, paths) = (Build::of_program(&program), &paths.raw);
            let expected = &mut expected;
            if options.weights.accept_unrelated {
                is_related =
                    profile::weights::apply_measured(profile, &build, functions, paths, expected)?;
            } else {
                profile::weights::apply_known(profile, &build, functions, paths, expected)?;
            }
        }
        let asked = options.paths.as_ref().map(|s| s.resolve(&program, &paths));
        let asked = asked.transpose()?;
        // Before tasks are made of them: copies share what is selected, and not what the function executes in all.
        if let Some(Asked { selections, .. }) = &asked {
            selection::weigh(&paths.raw, &mut expected, selections);
        }
        let measuring = measure_functions(options.scheme, &functions, &paths.raw, expected);
        let has_starters = !program.starters.is_empty();
        let copies = options.copies.resolve(
            options.scheme,
            &functions,
            &measuring,
            asked.is_some(),
            has_starters,
        );
        let scheme = options.scheme;
        let (assignment, paths) =
            assign_shares(scheme, copies, &functions, measuring, asked.as_ref());
        let Chosen {
            update,
            handles_signals,
            warning,
        } = choose_update(options, inputs, has_starters)?;
        // The program's id hashes all that decides what a local id means, so the manifest comes after the shares.
        let manifest = Manifest::new(&Parts {
            program: &program,
            paths: &paths,
            assignment: &assignment,
            scheme: options.scheme,
            copies,
            asked: asked.as_ref(),
            options: &options.identity(update),
        });
        clock.report_lap("analysed");
        Ok(Analysis {
            callers: Callers::new(&program),
            bodies: bodies(&program),
            program,
            paths,
            assignment,
            manifest,
            copies,
            is_related,
            update,
            handles_signals,
            about_update: warning,
        })
    }

    /// The plan of one copy.
    pub(super) fn plan_copy(&self, copy: CopyId) -> CopyPlan {
        copy_plan(
            &function_inputs(&self.program),
            &self.paths.raw,
            &self.assignment.shares,
            copy,
        )
    }

    /// Proves that the counts of `plan` will be those of the paths that ran; panics where they would not.
    pub(super) fn prove_plan(&self, plan: &CopyPlan) {
        let functions = function_inputs(&self.program);
        check::copy(&functions, &self.paths.raw, &self.assignment.shares, plan);
    }

    /// What those who estimate need to know of it.
    pub(super) fn as_measured(&self) -> Measured<'_> {
        Measured {
            program: &self.program,
            manifest: &self.manifest,
            paths: &self.paths,
        }
    }

    /// `plan` with two versions of every block ([`double_blocks`]).
    pub(super) fn double_plan(&self, plan: CopyPlan) -> CopyPlan {
        let cfg = |f: &FunctionPlan| &self.program.body(f.func).cfg;
        let functions = plan.functions.into_iter();
        CopyPlan {
            functions: functions.map(|f| double_blocks(cfg(&f), f)).collect(),
            ..plan
        }
    }

    /// Frees paths and what the manifest says of functions, when all plans are made, the manifest is written and no
    /// view is wanted.
    pub(super) fn forget_functions(&mut self) {
        self.paths = TiVec::new();
        self.manifest.functions = TiVec::new();
    }

    /// The bodies of the only module: whoever takes them is the last to need the program.
    pub(super) fn take_bodies(&mut self) -> Vec<FunctionBody> {
        let program = std::mem::take(&mut self.program);
        let only = program.modules.into_iter().next();
        only.expect("a module").bodies
    }

    /// Control flow and paths of a function that is not skipped. Nothing is known of them here any more.
    #[cfg_attr(
        not(feature = "estimates"),
        allow(dead_code, reason = "only estimates use it")
    )]
    pub(super) fn take_function(&mut self, func: FuncId) -> Option<(Cfg, Measuring)> {
        let measuring = self.paths[func].take()?;
        let Body { module, ordinal } = self.program.functions[func].bodies[0];
        let body = &mut self.program.modules[module].bodies[ordinal as usize];
        Some((std::mem::take(&mut body.cfg), measuring))
    }

    /// The functions that are not skipped.
    pub(super) fn profiled_functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        let profiled = self.paths.iter_enumerated().filter(|(_, p)| p.is_some());
        profiled.map(|(f, _)| f)
    }
}

/// How every function that is not skipped is measured.
fn measure_functions(
    scheme: Scheme,
    functions: &[FunctionInput],
    paths: &[Option<Arc<Paths>>],
    expected: Vec<Option<Expected>>,
) -> Vec<Option<Measuring>> {
    let strategy = scheme.strategy();
    let each = functions.par_iter().zip(paths);
    let each = each.zip(expected).zip(layouts(functions, paths));
    let measured = each.map(|(((f, paths), expected), layout)| {
        Some(strategy.measure(f, paths.as_ref()?, expected?, layout))
    });
    measured.collect()
}

/// Who counts what, and how every function is measured then.
fn assign_shares(
    scheme: Scheme,
    copies: u32,
    functions: &[FunctionInput],
    measuring: Vec<Option<Measuring>>,
    asked: Option<&Asked>,
) -> (Assignment, TiVec<FuncId, Option<Measuring>>) {
    let (assignment, measuring) = match asked {
        None => {
            let assignment = scheme.strategy().assign(functions, &measuring, copies);
            (assignment, measuring)
        }
        Some(Asked { selections, .. }) => {
            selection::assign(scheme, functions, measuring, selections, copies)
        }
    };
    (assignment, measuring.into())
}

/// Skips the functions whose control flow the scheme cannot take.
fn skip_functions(program: &mut Program, reason: SkipReason, cannot: impl Fn(&Cfg) -> bool) {
    let bodies = program.modules.iter_mut().flat_map(|m| &mut m.bodies);
    for body in bodies.filter(|b| b.skip.is_none()) {
        if cannot(&body.cfg) {
            body.skip = Some(reason);
        }
    }
}

/// Every expression of the command line that says what to profile or to show has to choose something. (An
/// `--exclude` that has nothing to exclude is as good as none.)
fn check_filters(options: &Options, inputs: &[Admitted], program: &Program) -> Result<()> {
    let bodies = || program.functions.iter().map(|f| program.body_at(f));
    let chosen = |b: &&FunctionBody| matches!(b.skip, None | Some(SkipReason::Excluded));
    let names: Vec<&str> = bodies().map(|b| b.name.as_str()).collect();
    let profiled = bodies().filter(chosen);
    let profiled: Vec<&str> = profiled.map(|b| b.name.as_str()).collect();
    let elsewhere = |matches: &dyn Fn(&str) -> bool| {
        explain_skipped(program, matches)
            .or_else(|| explain_inlined(inputs, matches))
            .or_else(|| explain_outside(program, matches))
    };
    for (filter, symbols) in [
        (&options.functions.include, &profiled),
        (&options.views.function, &names),
    ] {
        if let Some(filter) = filter {
            filter.must_match(symbols, elsewhere)?;
        }
    }
    Ok(())
}

fn explain_skipped(program: &Program, matches: &dyn Fn(&str) -> bool) -> Option<String> {
    let mut bodies = program.functions.iter().map(|f| program.body_at(f));
    let body = bodies.find(|b| matches(&b.name))?;
    Some(format!(
        "{} is skipped: {}",
        printed_name(&body.name),
        body.skip?
    ))
}

/// Only asked where an expression chose nothing: it reads the modules once more.
fn explain_inlined(inputs: &[Admitted], matches: &dyn Fn(&str) -> bool) -> Option<String> {
    let inlined = emit::find_inlined(inputs);
    let (name, into) = inlined.iter().find(|(name, _)| matches(name))?;
    let mut told: Vec<_> = into.iter().take(TOLD).map(|f| printed_name(f)).collect();
    if into.len() > TOLD {
        told.push(format!("{} more", into.len() - TOLD));
    }
    let (name, told) = (printed_name(name), told.join(", "));
    Some(format!(
        "{name} was inlined into {told} (-fno-inline keeps it)"
    ))
}

fn explain_outside(program: &Program, matches: &dyn Fn(&str) -> bool) -> Option<String> {
    let bodies = program.functions.iter().map(|f| program.body_at(f));
    let calls = bodies.flat_map(|b| &b.cfg.blocks).flat_map(|b| &b.calls);
    let mut outside = calls.filter_map(|c| match &c.callee {
        Callee::External(name) if matches(name) => Some(printed_name(name)),
        _ => None,
    });
    let name = outside.next()?;
    Some(format!("{name} is called, but no input defines it"))
}

fn bodies(program: &Program) -> TiVec<ModuleId, Vec<(u32, FuncId)>> {
    let mut bodies = ti_vec![Vec::new(); program.modules.len()];
    for (id, f) in program.functions.iter_enumerated() {
        for b in &f.bodies {
            bodies[b.module].push((b.ordinal, id));
        }
    }
    bodies.iter_mut().for_each(|b| b.sort_unstable());
    bodies
}
