//! A profile's counts by the bodies of modules that are at hand.

use crate::base::error::{Error, Result};
use crate::base::index::{BlockId, CfgEdge, ModuleId, TiSlice, TiVec};
use crate::base::table::number_of;
use crate::input::ir::lower::LoadOptions;
use crate::input::ir::{FunctionBody, Module, Terminator};
use crate::input::load::Admitted;
use crate::profile::Profile;
use crate::profile::flow::flow;
use crate::profile::manifest::ModuleEntry;
use crate::profile::matching::{Build, Index, Known, Match};
use crate::write::emit;
use crate::write::emit::pgo::{Counter, Instrumented};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// The executions of everything in one body.
#[derive(Clone, Debug)]
pub(super) struct BodyCounts {
    /// By block.
    blocks: TiVec<BlockId, u64>,
    /// By block, then successor.
    edges: TiVec<BlockId, Vec<u64>>,
    /// The targets of `indirectbr`s: the entries of loops that have several.
    entries: Vec<BlockId>,
}

impl BodyCounts {
    /// How often the function was entered.
    pub(super) fn entry_count(&self) -> u64 {
        self.blocks[BlockId(0)]
    }

    /// How often its hottest block ran.
    pub(super) fn largest_count(&self) -> u64 {
        self.blocks.iter().copied().max().unwrap_or(0)
    }

    /// The blocks with a choice that ran, and how often each successor was taken.
    pub(super) fn branch_counts(&self) -> Vec<(BlockId, Vec<u64>)> {
        let ran = |counts: &&Vec<u64>| counts.len() > 1 && counts.iter().any(|&n| n > 0);
        let blocks = self.edges.iter_enumerated().filter(|(_, c)| ran(c));
        blocks.map(|(b, c)| (b, c.clone())).collect()
    }

    /// The entries of loops that have several, as far as `indirectbr` leads there, and how often they ran; nothing
    /// in a function that did not run.
    pub(super) fn header_counts(&self) -> Vec<(BlockId, u64)> {
        let ran = self.blocks.iter().any(|&n| n > 0);
        let counted = self.entries.iter().map(|b| (*b, self.blocks[*b]));
        counted.filter(|_| ran).collect()
    }

    /// The values of LLVM's counters. Of a `select` no path tells anything: half of its block's count says
    /// neither.
    pub(super) fn counters(&self, f: &Instrumented) -> Vec<u64> {
        let block = |b: &BlockId| self.blocks[*b];
        let edge = |e: &CfgEdge| self.edges[e.block][e.succ as usize];
        let value = |counter: &Counter| match counter {
            Counter::Block(b) => block(b),
            Counter::Edges(edges) => edges.iter().map(edge).fold(0, u64::saturating_add),
            Counter::Select(b) => block(b) / 2,
        };
        f.counters.iter().map(value).collect()
    }
}

/// The counts of modules.
pub(super) struct Joined {
    /// By module, then ordinal of the definition; `None` where the profile has nothing to say.
    pub counts: Vec<Vec<Option<BodyCounts>>>,
    /// The verdict on the profile, unless it is ok.
    verdict: Option<String>,
    /// The functions that had other control flow when they were profiled.
    changed: Vec<String>,
    /// The functions whose counts of edges may be off (see [`crate::profile::flow::Flow::uncertain`]).
    uncertain: Vec<String>,
}

/// What one body gets.
enum OfBody {
    Known { counts: BodyCounts, uncertain: bool },
    Changed,
    Nothing,
}

/// Finds the counts of every body of `inputs` in `profile`, by module, name and control flow. Linear.
///
/// # Errors
/// Modules that cannot be read, and a profile that knows nothing of any.
pub(super) fn join_counts(inputs: &[Admitted], profile: &Profile) -> Result<Joined> {
    let mut program = emit::load_program(inputs, None, &LoadOptions::default())?;
    take_names(&mut program.modules, &profile.manifest.modules);
    let index = Index::of_same_program(profile, &Build::of_program(&program));
    let mut joined = Joined {
        counts: Vec::new(),
        verdict: profile
            .problem_line()
            .map(|said| format!("{}: {said}", profile.path.display())),
        changed: Vec::new(),
        uncertain: Vec::new(),
    };
    for module in &program.modules {
        let bodies = module.bodies.par_iter();
        let found: Vec<OfBody> = bodies
            .map(|body| {
                let known = Known::in_module(&program, module, body);
                find_counts(profile, &index, body, &known)
            })
            .collect::<Result<_>>()?;
        let mut of_module = Vec::with_capacity(found.len());
        for (found, body) in found.into_iter().zip(&module.bodies) {
            let name = || body.name.clone();
            of_module.push(match found {
                OfBody::Known { counts, uncertain } => {
                    joined.uncertain.extend(uncertain.then(name));
                    Some(counts)
                }
                OfBody::Changed => {
                    joined.changed.push(name());
                    None
                }
                OfBody::Nothing => None,
            });
        }
        joined.counts.push(of_module);
    }
    if joined.counts.iter().flatten().all(Option::is_none) {
        let problem = format!("{} knows none of its functions", profile.path.display());
        let remedy = "give the module that was profiled";
        return Err(Error::load(&inputs[0].path, problem, remedy));
    }
    Ok(joined)
}

/// Gives modules whose bytes were profiled under another name that name: the output folder has names of its own.
/// One that was profiled several times gets one name after the other. O(modules).
fn take_names(modules: &mut TiSlice<ModuleId, Module>, profiled: &TiSlice<ModuleId, ModuleEntry>) {
    let mut names: HashMap<&str, VecDeque<&str>> = HashMap::new();
    for entry in profiled {
        names
            .entry(entry.hash.as_str())
            .or_default()
            .push_back(&entry.name);
    }
    for module in modules {
        let names = names.get_mut(module.hash.as_str());
        let names = names.filter(|names| !names.contains(&module.name.as_str()));
        if let Some(name) = names.and_then(VecDeque::pop_front) {
            module.name = name.to_string();
        }
    }
}

fn find_counts(
    profile: &Profile,
    index: &Index,
    body: &FunctionBody,
    known: &Known,
) -> Result<OfBody> {
    let f = match index.find(known) {
        Match::Same(f) => f,
        Match::Changed => return Ok(OfBody::Changed),
        Match::Unknown => return Ok(OfBody::Nothing),
    };
    let structure = profile.structure(f)?;
    let flow = flow(profile, f, &structure)?;
    let mut edges = structure.cfg.by_block(Vec::new());
    for e in flow.edges(&structure) {
        edges[e.edge.block].push(e.count);
    }
    let jumps = body.cfg.blocks.iter();
    let jumps = jumps.filter(|b| b.terminator == Terminator::IndirectBr);
    let entries: BTreeSet<BlockId> = jumps.flat_map(|b| b.succs.iter().copied()).collect();
    let mut blocks = flow.blocks;
    // Activations that were left before they completed a path are entries too.
    blocks[BlockId(0)] = flow.entry;
    Ok(OfBody::Known {
        counts: BodyCounts {
            blocks,
            edges,
            entries: entries.into_iter().collect(),
        },
        uncertain: flow.uncertain > 0,
    })
}

impl Joined {
    /// What to tell the user.
    pub(super) fn warnings(&self) -> Vec<String> {
        let changed = "other control flow than when they were profiled, so they get no counts";
        let uncertain = "control left them without an exit, so counts of edges may be wrong; profile paths instead";
        let lists = [(&self.changed, changed), (&self.uncertain, uncertain)];
        let said = lists.into_iter().filter(|(names, _)| !names.is_empty());
        let said = said.map(|(names, what)| format!("{}: {what}", list_names(names)));
        self.verdict.iter().cloned().chain(said).collect()
    }
}

/// The first few names, and how many there are.
fn list_names(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let first = names[..names.len().min(SHOWN)].join(", ");
    match names.len() {
        0..=SHOWN => first,
        n => format!(
            "{first} and {}",
            number_of((n - SHOWN) as u64, "more function")
        ),
    }
}
