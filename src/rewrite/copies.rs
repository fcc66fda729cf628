//! Writing the copies, in parallel and partly ahead of the analysis.

use super::Options;
use super::analysis::Analysis;
use crate::dump::View;
use crate::emit::{self, Affected, ModuleJob, Names, Parsed, Rewritten, Sampled, Source};
use crate::error::Result;
use crate::index::{CopyId, FuncId, ModuleId};
use crate::load::Input;
use crate::output::{Folder, module_name};
use crate::plan::CopyPlan;
use crate::plan::subpaths::{Settings, SubpathPlan};
use crate::strategy::VersionsOf;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};

/// What is needed to write any module of any copy.
pub(super) struct Copies<'a> {
    options: &'a Options,
    /// The inputs.
    pub inputs: &'a [Input],
    /// What is known of them.
    pub analysis: Analysis,
    /// Where everything goes.
    pub folder: Folder,
    bar: ProgressBar,
    /// The plans, if a later step needs them.
    kept: Mutex<BTreeMap<CopyId, CopyPlan>>,
}

/// What one copy inserts and which attributes that affects.
struct Insertion {
    plan: CopyPlan,
    /// Where subpaths are sampled: how, by ascending function.
    sampled: Option<Vec<SubpathPlan>>,
    affected: Affected,
}

impl<'a> Copies<'a> {
    /// Gets ready to write.
    pub(super) fn new(
        options: &'a Options,
        inputs: &'a [Input],
        analysis: Analysis,
        folder: Folder,
    ) -> Self {
        let bar = ProgressBar::new(u64::from(options.copies) * inputs.len() as u64);
        if options.verbosity < 0 {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template("rewriting {bar:30} {pos}/{len} modules {eta}");
        Copies {
            options,
            inputs,
            analysis,
            folder,
            bar: bar.with_style(style.expect("a valid template")),
            kept: Mutex::default(),
        }
    }

    /// Writes every module of every copy: the first ones by the threads that are ahead.
    pub(super) fn write<'scope>(
        &'scope self,
        pool: &ThreadPool,
        ahead: Ahead<'scope, 'a>,
    ) -> Result<()> {
        let first = ahead.copies();
        let ahead = ahead.go_on(self);
        let rest = pool.install(|| {
            (first..self.options.copies)
                .into_par_iter()
                .try_for_each(|c| {
                    let insertion = self.insertion(CopyId(c));
                    (0..self.inputs.len())
                        .into_par_iter()
                        .try_for_each(|m| self.write_module(CopyId(c), m, || Some(&insertion)))
                })
        });
        for thread in ahead {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        self.bar.finish_and_clear();
        rest
    }

    /// The plans by copy, if `--stats` or `--dump plan` asks for them.
    pub(super) fn plans(&self) -> Vec<CopyPlan> {
        let kept = self.kept.lock().expect("nothing panics while it is held");
        kept.values().cloned().collect()
    }

    fn insertion(&self, copy: CopyId) -> Insertion {
        match &self.options.sampling {
            Some(settings) if !self.options.trace => self.sampling(copy, settings),
            _ => self.counting(copy),
        }
    }

    fn sampling(&self, copy: CopyId, settings: &Settings) -> Insertion {
        let plans = self.analysis.sampled(settings);
        let functions: Vec<FuncId> = plans.iter().map(|p| p.func).collect();
        Insertion {
            plan: CopyPlan {
                copy,
                functions: Vec::new(),
            },
            sampled: Some(plans),
            affected: self.affected(functions),
        }
    }

    fn affected(&self, functions: Vec<FuncId>) -> Affected {
        Affected::new(&self.analysis.program, &self.analysis.callers, functions)
    }

    fn counting(&self, copy: CopyId) -> Insertion {
        let plan = self.analysis.plan(copy);
        if self.options.check {
            self.analysis.prove(&plan);
        }
        let plan = match self.options.scheme.strategy().versions {
            VersionsOf::Everything => self.analysis.doubled(plan),
            VersionsOf::Nothing | VersionsOf::Loops => plan,
        };
        if self.options.stats || self.options.dump.contains(&View::Plan) {
            let mut kept = self.kept.lock().expect("nothing panics while it is held");
            kept.insert(copy, plan.clone());
        }
        let counting: Vec<FuncId> = if self.options.trace {
            self.analysis.profiled().collect()
        } else {
            plan.functions.iter().map(|f| f.func).collect()
        };
        Insertion {
            plan,
            sampled: None,
            affected: self.affected(counting),
        }
    }

    fn write_module<'i>(
        &'i self,
        copy: CopyId,
        m: usize,
        insertion: impl FnOnce() -> Option<&'i Insertion>,
    ) -> Result<()> {
        let source = Source::new(&self.inputs[m], copy);
        let job = || Some(self.job(m, insertion()?));
        match emit::rewrite(&source, self.options.names(), None, job)? {
            Some(rewritten) => self.store(copy, m, &rewritten),
            None => Ok(()),
        }
    }

    fn job<'i>(&'i self, m: usize, insertion: &'i Insertion) -> ModuleJob<'i> {
        let id = ModuleId::new(m);
        let bodies = &self.analysis.bodies[id];
        let plan = &insertion.plan;
        let planned = |&(ordinal, func): &(u32, FuncId)| {
            let i = plan.functions.binary_search_by_key(&func, |f| f.func);
            Some((ordinal, &plan.functions[i.ok()?]))
        };
        let profiled = |b: &&(u32, FuncId)| self.analysis.paths[b.1].is_some();
        ModuleJob {
            module: &self.analysis.program.modules[id],
            id,
            plans: bodies.iter().filter_map(planned).collect(),
            copy: plan.copy,
            copies: self.options.copies,
            program: self.analysis.manifest.program_bytes(),
            counters: self.options.counters,
            update: self.options.update,
            count_hits: self.options.count_hits,
            affected: &insertion.affected,
            trace: self
                .options
                .trace
                .then(|| bodies.iter().filter(profiled).copied().collect()),
            sampled: self.sampled(id, insertion),
            shadow: self.options.scheme.is_shadow(),
            bitcode: self.options.bitcode,
            text: self.options.text,
        }
    }

    /// What is sampled of a module, if subpaths are.
    fn sampled<'i>(&'i self, module: ModuleId, insertion: &'i Insertion) -> Option<Sampled<'i>> {
        let plans = insertion.sampled.as_ref()?;
        let planned = |&(ordinal, func): &(u32, FuncId)| {
            let i = plans.binary_search_by_key(&func, |p| p.func);
            Some((ordinal, &plans[i.ok()?]))
        };
        let bodies = self.analysis.bodies[module].iter();
        Some(Sampled {
            plans: bodies.filter_map(planned).collect(),
            settings: self.options.sampling.clone()?,
        })
    }

    fn store(&self, copy: CopyId, m: usize, rewritten: &Rewritten) -> Result<()> {
        let name = |extension| format!("copy-{copy}/{}", module_name(m, extension));
        if let Some(bytes) = &rewritten.bitcode {
            self.folder.write(&name("bc"), bytes)?;
        }
        if let Some(text) = &rewritten.text {
            self.folder.write(&name("ll"), text.as_bytes())?;
        }
        self.bar.inc(1);
        Ok(())
    }
}

/// Threads that parse the only input module for the first copies while it is still being
/// analysed. (With several modules, loading them keeps all cores busy.)
pub(super) struct Ahead<'scope, 'a> {
    threads: Vec<Thread<'scope, 'a>>,
}

type Thread<'scope, 'a> = (
    Sender<&'scope Copies<'a>>,
    ScopedJoinHandle<'scope, Result<()>>,
);

impl<'scope, 'a: 'scope> Ahead<'scope, 'a> {
    /// Starts them: as many as copies and cores allow, none for a single job. The first has nothing to parse where that was `parsed`.
    pub(super) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        pool: &'scope ThreadPool,
        options: &Options,
        inputs: &'a [Input],
        mut parsed: Option<Parsed>,
    ) -> Self {
        let ([input], 2..) = (inputs, pool.current_num_threads()) else {
            return Ahead {
                threads: Vec::new(),
            };
        };
        let threads = options.copies.min(pool.current_num_threads() as u32);
        let names = options.names();
        let start = |c| {
            let (send, receive) = channel();
            let parsed = parsed.take();
            let work = move || rewrite_ahead(pool, input, parsed, CopyId(c), names, &receive);
            (send, scope.spawn(work))
        };
        Ahead {
            threads: (0..threads).map(start).collect(),
        }
    }

    fn copies(&self) -> u32 {
        self.threads.len() as u32
    }

    /// Hands them the analysis that they have been waiting for.
    fn go_on(self, copies: &'scope Copies<'a>) -> Vec<ScopedJoinHandle<'scope, Result<()>>> {
        let hand_over = |(send, thread): Thread<'scope, 'a>| {
            // A thread that has failed meanwhile reports it when it is joined.
            let _ = send.send(copies);
            thread
        };
        self.threads.into_iter().map(hand_over).collect()
    }
}

/// Parses, waits for the analysis, rewrites. Nothing to do when the analysis fails.
fn rewrite_ahead<'scope, 'a: 'scope>(
    pool: &ThreadPool,
    input: &Input,
    parsed: Option<Parsed>,
    copy: CopyId,
    names: Names,
    receive: &Receiver<&'scope Copies<'a>>,
) -> Result<()> {
    let (copies, insertion) = (OnceCell::new(), OnceCell::new());
    let rewritten = emit::rewrite(&Source::new(input, copy), names, parsed, || {
        let copies: &Copies = copies.get_or_init(|| receive.recv().ok()).as_ref()?;
        let insertion = insertion.get_or_init(|| pool.install(|| copies.insertion(copy)));
        Some(copies.job(0, insertion))
    })?;
    match (copies.get(), rewritten) {
        (Some(Some(copies)), Some(rewritten)) => copies.store(copy, 0, &rewritten),
        _ => Ok(()),
    }
}
