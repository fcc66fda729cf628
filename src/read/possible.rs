//! Asks an engine which paths of a profile cannot run: it has LLVM, and so can read what the code of a path computes.
//!
//! The modules are where the program was rewritten, found by the hashes in the manifest. What was answered is kept
//! beside the profile.

mod kept;
mod modules;

use crate::base::error::Result;
use crate::base::index::{FuncId, ModuleId};
use crate::input::engine;
use crate::paths::dag::Path;
use crate::possible::asked::{Answer, AskedPath, Request};
use crate::possible::example::Example;
use crate::possible::solver::Program;
use crate::possible::{Judgement, is_known, leaves_alone};
use crate::profile::Profile;
use crate::profile::manifest::Manifest;
use kept::Kept;
use modules::Modules;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path as File, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

/// A function with more bodies is not judged: all of them would have to be asked.
const MOST_BODIES: usize = 8;
/// So many paths are judged for one report.
const MOST_JUDGED: usize = 1 << 14;

/// What is known of a path that did not run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it surely cannot run.
    pub is_refuted: bool,
    /// Whether it ends the program, since something is wrong.
    pub aborts: bool,
    /// Values with which it runs.
    pub example: Option<Example>,
}

/// Says which paths cannot run, and how others can.
pub trait Judge: Sync {
    /// What is known of each of these paths of a function.
    fn judge(&self, f: FuncId, paths: &[Path]) -> Vec<Verdict>;

    /// The solver that is asked, if one is.
    fn solver(&self) -> Option<&Program>;
}

/// Asks engines, which are started when they are needed.
pub struct Asker<'a> {
    profile: &'a Profile,
    is_alone: bool,
    own_names: Vec<String>,
    solver: Option<Program>,
    state: Mutex<State>,
}

struct State {
    modules: Modules,
    /// Those that are installed, once one is needed.
    installed: Option<Vec<engine::Engine>>,
    /// By module: the engine that reads it.
    chosen: HashMap<PathBuf, PathBuf>,
    engines: HashMap<PathBuf, Engine>,
    kept: Kept,
    /// Why some paths were not judged: the first reason.
    problem: Option<String>,
    left: usize,
}

impl State {
    /// The program that reads a module.
    fn choose_engine(&mut self, module: &PathBuf) -> Result<PathBuf, String> {
        if let Some(program) = self.chosen.get(module) {
            return Ok(program.clone());
        }
        let installed = self.installed.get_or_insert_with(engine::find_installed);
        let wanted = engine::Request {
            inputs: std::slice::from_ref(module),
            out: None,
            llvm: None,
        };
        let choice = engine::choose(installed, &wanted).map_err(|e| e.to_string())?;
        let program = choice.program().to_path_buf();
        self.chosen.insert(module.clone(), program.clone());
        Ok(program)
    }
}

impl<'a> Asker<'a> {
    /// Asks about the paths of a profile, whose modules are below `folders`, or in the folder of the profile; also a
    /// solver, if there is one.
    pub fn new(profile: &'a Profile, folders: &[PathBuf], solver: Option<Program>) -> Asker<'a> {
        let manifest = &profile.manifest;
        let own = manifest.functions.iter().map(|f| &f.name);
        Asker {
            profile,
            is_alone: runs_alone(manifest),
            solver,
            own_names: own.filter(|name| is_known(name)).cloned().collect(),
            state: Mutex::new(State {
                modules: Modules::new(profile, folders),
                installed: None,
                chosen: HashMap::new(),
                engines: HashMap::new(),
                kept: Kept::read(&profile.path),
                problem: None,
                left: MOST_JUDGED,
            }),
        }
    }

    /// Keeps what was answered for the next report, and says why some paths were not judged, if so.
    pub fn finish(self) -> Option<String> {
        let state = self.state.into_inner().unwrap_or_else(|e| e.into_inner());
        state.kept.write();
        state.problem
    }

    /// Asks about paths of one body, of which nothing is kept.
    fn ask(
        &self,
        state: &mut State,
        request: &Request,
        module: ModuleId,
    ) -> Result<Vec<Judgement>, String> {
        let name = || self.profile.manifest.modules[module].name.clone();
        let said = |problem: String| format!("{}: {problem}", name());
        let program = state.choose_engine(&request.module)?;
        if !state.engines.contains_key(&program) {
            let started = Engine::start(&program).map_err(|e| said(e.to_string()))?;
            state.engines.insert(program.clone(), started);
        }
        let engine = state.engines.get_mut(&program).expect("started above");
        match engine.ask(request) {
            Ok(Answer::Judgements(judged)) if judged.len() == request.paths.len() => Ok(judged),
            Ok(Answer::Judgements(_)) => Err(said("the engine left something out".into())),
            Ok(Answer::Problem(problem)) => Err(said(problem)),
            Err(e) => {
                // It may have crashed: whoever is next gets another one.
                state.engines.remove(&program);
                Err(said(format!("the engine does not answer: {e}")))
            }
        }
    }

    /// What is known of each path, as far as the body in one module says.
    fn ask_body(
        &self,
        state: &mut State,
        (module, ordinal): (ModuleId, u32),
        paths: &[AskedPath],
    ) -> Result<Vec<Judgement>, String> {
        let hash = &self.profile.manifest.modules[module].hash;
        let key =
            |path: &AskedPath| kept::key(hash, ordinal, self.is_alone, self.solver.as_ref(), path);
        let keys: Vec<String> = paths.iter().map(key).collect();
        let is_open = |i: &usize| state.kept.get(&keys[*i]).is_none();
        let open: Vec<usize> = (0..keys.len()).filter(is_open).collect();
        if !open.is_empty() {
            if open.len() > state.left {
                return Err(format!(
                    "only {MOST_JUDGED} paths are judged for one report"
                ));
            }
            state.left -= open.len();
            let file = state.modules.find(module, hash)?;
            let request = Request {
                module: file,
                hash: hash.clone(),
                ordinal,
                paths: open.iter().map(|i| paths[*i].clone()).collect(),
                is_alone: self.is_alone,
                own_names: self.own_names.clone(),
                solver: self.solver.clone(),
            };
            let judged = self.ask(state, &request, module)?;
            for (i, judgement) in open.into_iter().zip(judged) {
                state.kept.add(keys[i].clone(), judgement);
            }
        }
        let known = |key: &String| state.kept.get(key).cloned();
        let known = keys
            .iter()
            .map(|key| known(key).unwrap_or(Judgement::NotRefuted));
        Ok(known.collect())
    }
}

impl Judge for Asker<'_> {
    fn solver(&self) -> Option<&Program> {
        self.solver.as_ref()
    }

    fn judge(&self, f: FuncId, paths: &[Path]) -> Vec<Verdict> {
        let none = vec![Verdict::default(); paths.len()];
        let bodies = &self.profile.entry(f).bodies;
        if paths.is_empty() || bodies.len() > MOST_BODIES {
            return none;
        }
        let asked: Vec<AskedPath> = paths.iter().map(AskedPath::new).collect();
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let refuted = Verdict {
            is_refuted: true,
            ..Verdict::default()
        };
        let mut all = vec![refuted; paths.len()];
        // Any of them may be the one that was linked.
        for body in bodies {
            match self.ask_body(&mut state, (body.module, body.ordinal), &asked) {
                Ok(found) => {
                    for (all, found) in all.iter_mut().zip(found) {
                        all.is_refuted &= found.is_impossible();
                        all.aborts |= found == Judgement::Aborts;
                        if let (Judgement::Possible(example), 1) = (found, bodies.len()) {
                            all.example = Some(example);
                        }
                    }
                }
                Err(problem) => {
                    state.problem.get_or_insert(problem);
                    return none;
                }
            }
        }
        all
    }
}

/// Whether a program surely runs in one thread, without handlers of signals and without memory that others write.
pub fn runs_alone(manifest: &Manifest) -> bool {
    let starters = manifest.starters.as_ref().is_some_and(Vec::is_empty);
    let outside = manifest.outside.as_ref();
    manifest.is_executable()
        && starters
        && outside.is_some_and(|all| all.iter().all(|name| leaves_alone(name)))
}

/// An engine that was started.
struct Engine {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Engine {
    fn start(program: &File) -> std::io::Result<Engine> {
        let mut process = Command::new(program)
            .arg("judge")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let to = process.stdin.take();
        let from = process.stdout.take().expect("a pipe");
        Ok(Engine {
            process,
            to,
            from: BufReader::new(from),
        })
    }

    fn ask(&mut self, request: &Request) -> std::io::Result<Answer> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let to = self.to.as_mut().expect("open until it is dropped");
        to.write_all(&line)?;
        to.flush()?;
        let mut answer = String::new();
        if self.from.read_line(&mut answer)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(serde_json::from_str(&answer)?)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It ends when there is nothing more to read.
        drop(self.to.take());
        let _ = self.process.wait();
    }
}
