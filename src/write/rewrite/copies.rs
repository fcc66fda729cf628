//! Writing the copies: of a single module by processes that share what LLVM has read, of several by threads that read
//! them again.

use super::analysis::Analysis;
use super::{Options, estimates};
use crate::base::error::Result;
use crate::base::index::{CopyId, ModuleId};
use crate::copies::plan::CopyPlan;
use crate::copies::strategy::{Method, VersionsOf};
use crate::input::load::Admitted;
use crate::write::dump::View;
use crate::write::emit::work::{CopyWork, Trace};
use crate::write::emit::{self, Affected, Changes, Child, ModuleJob, Parsed, Rewritten, Source};
use crate::write::output::{Folder, NUMBERS, module_name};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

/// What is needed to write any module of any copy.
pub(super) struct Copies<'a> {
    options: &'a Options,
    /// The inputs.
    pub inputs: &'a [Admitted],
    /// What is known of them.
    pub analysis: Analysis,
    /// Where everything goes.
    pub folder: Folder,
    bar: ProgressBar,
    /// The plans, if a later step needs them.
    kept: Mutex<BTreeMap<CopyId, CopyPlan>>,
}

/// What one copy inserts and which attributes that affects.
struct Insertion<'a> {
    copy: CopyId,
    work: Box<dyn CopyWork + 'a>,
    affected: Affected,
}

/// A copy, and the child that makes it, if it could be begun.
type Begun<'i> = (&'i Insertion<'i>, Option<Child>);

impl<'a> Copies<'a> {
    /// Gets ready to write.
    pub(super) fn new(
        options: &'a Options,
        inputs: &'a [Admitted],
        analysis: Analysis,
        folder: Folder,
    ) -> Self {
        let bar = ProgressBar::new(u64::from(analysis.copies) * inputs.len() as u64);
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

    /// Writes every module of every copy, the only one from what was `parsed`, if it was.
    pub(super) fn write_all(&mut self, pool: ThreadPool, parsed: Option<Parsed>) -> Result<()> {
        match self.inputs {
            [_] if self.analysis.copies == 1 => self.write_only(pool, parsed)?,
            [_] => self.write_alone(pool, parsed)?,
            _ => pool.install(|| {
                self.copy_ids().try_for_each(|copy| {
                    let insertion = self.insertion(copy);
                    let modules = (0..self.inputs.len()).into_par_iter();
                    modules.try_for_each(|m| self.write_module(m, &insertion))
                })
            })?,
        }
        self.bar.finish_and_clear();
        Ok(())
    }

    fn copy_ids(&self) -> impl IndexedParallelIterator<Item = CopyId> {
        (0..self.analysis.copies).into_par_iter().map(CopyId)
    }

    /// Writes the only copy of a single module. The module grows while code is put in, so what is known of a function
    /// goes as soon as it has its own, unless that is still to be shown.
    fn write_only(&mut self, pool: ThreadPool, parsed: Option<Parsed>) -> Result<()> {
        let copy = CopyId(0);
        let source = Source::new(&self.inputs[0], copy);
        let parsed = match parsed {
            Some(parsed) => parsed,
            None => emit::parse_module(&source, self.options.names())?,
        };
        let rewritten = if self.shows_program() {
            let insertion = pool.install(|| self.insertion(copy));
            let job = self.job(0, copy, &insertion.affected);
            emit::rewrite_parsed(&parsed, &source, &job, self.changes(0, &insertion))?
        } else {
            let Insertion { work, affected, .. } = self.take_insertion(&pool, copy);
            drop(pool);
            let bodies = self.analysis.take_bodies();
            let changes = Changes {
                bodies: Cow::Owned(bodies),
                work: work.into_module_work(&self.analysis.bodies[ModuleId(0)]),
            };
            let job = self.job(0, copy, &affected);
            emit::rewrite_parsed(&parsed, &source, &job, changes)?
        };
        // To take it apart takes a quarter of the time that it took to read it, and the process is about to end.
        std::mem::forget(parsed);
        self.store_module(copy, 0, &rewritten)
    }

    /// Writes several copies of a single module: the last by this process, the others by children.
    fn write_alone(&mut self, pool: ThreadPool, parsed: Option<Parsed>) -> Result<()> {
        // Most functions are planned in one of them: all plans take hardly more memory than one copy's.
        let insertions = match self.take_insertions(&pool) {
            Some(all) => all,
            None => pool.install(|| self.copy_ids().map(|c| self.insertion(c)).collect()),
        };
        let jobs = pool.current_num_threads();
        drop(pool);
        if !emit::can_begin(jobs) {
            drop(parsed);
            let by_threads = || {
                insertions
                    .par_iter()
                    .try_for_each(|i| self.write_module(0, i))
            };
            return super::make_pool(self.options.jobs)?.install(by_threads);
        }
        let source = |i: &Insertion| Source::new(&self.inputs[0], i.copy);
        let (last, others) = insertions.split_last().expect("a copy at least");
        let parsed = match parsed {
            Some(parsed) => parsed,
            None => emit::parse_module(&source(last), self.options.names())?,
        };
        let mut begun = VecDeque::new();
        let make_room = |begun: &mut VecDeque<Begun>| {
            let first = (begun.len() == jobs).then(|| begun.pop_front());
            first.flatten().map_or(Ok(()), |b| self.finish_child(b))
        };
        for insertion in others {
            make_room(&mut begun)?;
            let job = self.job(0, insertion.copy, &insertion.affected);
            let changes = self.changes(0, insertion);
            let child = Child::begin(&parsed, &source(insertion), &job, changes);
            begun.push_back((insertion, child.ok()));
        }
        make_room(&mut begun)?;
        let job = self.job(0, last.copy, &last.affected);
        let changes = self.changes(0, last);
        let rewritten = emit::rewrite_parsed(&parsed, &source(last), &job, changes)?;
        // To take it apart takes a quarter of the time that it took to read it, and the process is about to end.
        std::mem::forget(parsed);
        self.store_module(last.copy, 0, &rewritten)?;
        begun.into_iter().try_for_each(|b| self.finish_child(b))?;
        // As what was parsed: many small pieces.
        std::mem::forget(insertions);
        Ok(())
    }

    /// Takes a copy from the child that made it. Where there is none, or it failed, this process makes it: if that
    /// fails too, it can say why.
    fn finish_child(&self, (insertion, child): Begun) -> Result<()> {
        match child.and_then(Child::wait) {
            Some(rewritten) => self.store_module(insertion.copy, 0, &rewritten),
            None => self.write_module(0, insertion),
        }
    }

    /// The plans by copy, if `--stats` or `--dump plan` asks for them.
    pub(super) fn plan_all(&self) -> Vec<CopyPlan> {
        let kept = self.kept.lock().expect("nothing panics while it is held");
        kept.values().cloned().collect()
    }

    fn insertion(&self, copy: CopyId) -> Insertion<'_> {
        let settings = self.options.sampling.as_ref();
        let work = self.work_of_plan(copy);
        self.insertion_of_work(
            copy,
            work.unwrap_or_else(|| estimates::sample_work(self.analysis.as_measured(), settings)),
        )
    }

    /// The only one, for which the paths are freed, and all else that is known of functions where it is a part of the
    /// insertion.
    fn take_insertion(&mut self, pool: &ThreadPool, copy: CopyId) -> Insertion<'static> {
        let work = pool.install(|| self.work_of_plan(copy));
        let settings = self.options.sampling.as_ref();
        let work = work.unwrap_or_else(|| estimates::take_sample(&mut self.analysis, settings));
        self.analysis.forget_functions();
        self.insertion_of_work(copy, work)
    }

    /// Those of all copies, if plans are all that is needed of paths, which are freed then.
    fn take_insertions(&mut self, pool: &ThreadPool) -> Option<Vec<Insertion<'static>>> {
        if self.shows_program() {
            return None;
        }
        let planned = |copy| Some(self.insertion_of_work(copy, self.work_of_plan(copy)?));
        let planned: Option<Vec<_>> = pool.install(|| self.copy_ids().map(planned).collect());
        if planned.is_some() {
            self.analysis.forget_functions();
        }
        planned
    }

    /// What a copy does that is made of its plan alone. Of those that sample, plans are made when they are carried out.
    fn work_of_plan(&self, copy: CopyId) -> Option<Box<dyn CopyWork>> {
        Some(match self.options.scheme.strategy().method {
            Method::Count => Box::new(self.make_plan(copy)),
            Method::Trace => Box::new(Trace(self.analysis.profiled_functions().collect())),
            Method::Shadow => estimates::shadow_work(self.make_plan(copy)),
            Method::Sample => return None,
        })
    }

    fn insertion_of_work<'w>(&self, copy: CopyId, work: Box<dyn CopyWork + 'w>) -> Insertion<'w> {
        let Analysis {
            program, callers, ..
        } = &self.analysis;
        let affected = Affected::new(program, callers, work.changed_functions());
        Insertion {
            copy,
            work,
            affected,
        }
    }

    /// Whether program and paths are looked at when the copies are written.
    fn shows_program(&self) -> bool {
        self.options.views.stats || !self.options.views.dump.is_empty()
    }

    /// The plan of a copy that counts, proved where `--check` asks for it.
    fn make_plan(&self, copy: CopyId) -> CopyPlan {
        let plan = self.analysis.plan_copy(copy);
        if self.options.check {
            self.analysis.prove_plan(&plan);
        }
        let plan = match self.options.scheme.strategy().versions {
            VersionsOf::Everything => self.analysis.double_plan(plan),
            VersionsOf::Nothing | VersionsOf::Loops => plan,
        };
        if self.options.views.stats || self.options.views.dump.contains(&View::Plan) {
            let mut kept = self.kept.lock().expect("nothing panics while it is held");
            kept.insert(copy, plan.clone());
        }
        plan
    }

    fn write_module(&self, m: usize, insertion: &Insertion) -> Result<()> {
        let copy = insertion.copy;
        let source = Source::new(&self.inputs[m], copy);
        let job = self.job(m, copy, &insertion.affected);
        let changes = self.changes(m, insertion);
        let rewritten = emit::rewrite(&source, self.options.names(), &job, changes)?;
        self.store_module(copy, m, &rewritten)
    }

    fn changes<'i>(&'i self, m: usize, insertion: &'i Insertion) -> Changes<'i> {
        let id = ModuleId::new(m);
        Changes {
            bodies: Cow::Borrowed(&self.analysis.program.modules[id].bodies),
            work: insertion.work.restrict_to_module(&self.analysis.bodies[id]),
        }
    }

    fn job<'i>(&'i self, m: usize, copy: CopyId, affected: &'i Affected) -> ModuleJob<'i> {
        ModuleJob {
            name: &self.inputs[m].name,
            id: ModuleId::new(m),
            copy,
            copies: self.analysis.copies,
            program: self.analysis.manifest.program_bytes(),
            counters: self.options.counters,
            update: self.analysis.update,
            handles_signals: self.analysis.handles_signals,
            count_hits: self.options.count_hits,
            affected,
            selective: self.options.paths.is_some(),
            bitcode: self.options.output.bitcode,
            text: self.options.output.text,
            numbers: self.options.output.numbers,
        }
    }

    fn store_module(&self, copy: CopyId, m: usize, rewritten: &Rewritten) -> Result<()> {
        let name = |extension| format!("copy-{copy}/{}", module_name(m, extension));
        if let Some(bitcode) = &rewritten.bitcode {
            self.folder.write_copy(&name("bc"), bitcode)?;
        }
        if let Some(text) = &rewritten.text {
            self.folder.write_copy(&name("ll"), text)?;
        }
        if let Some(numbers) = &rewritten.numbers {
            self.folder.write_copy(&name(NUMBERS), numbers)?;
        }
        self.bar.inc(1);
        Ok(())
    }
}
