//! Judges paths of modules: what an engine answers to `p3-prof`, a line for each line.

use super::emit::{self, CodeReader, Parsed, Source};
use crate::base::index::CopyId;
use crate::copies::plan::Names;
use crate::input::load::{Input, Kind, hash_module};
use crate::possible::asked::{Answer, AskedPath, Request};
use crate::possible::solver::{Program, Solver};
use crate::possible::{Analyses, Judgement, Question, judge};
use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

/// A module that was asked for.
struct Read {
    path: PathBuf,
    hash: String,
    parsed: Parsed,
}

/// Answers the requests of `input`, one a line, to `output`, until there is no more. One module is in memory at a time.
///
/// # Errors
/// What reading and writing fail by.
pub fn answer_requests(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    emit::set_up();
    let mut last: Option<Read> = None;
    let mut solvers: HashMap<Program, Option<Solver>> = HashMap::new();
    for line in input.lines() {
        let answer = match serde_json::from_str(&line?) {
            Ok(request) => answer_one(&mut last, &mut solvers, &request),
            Err(e) => Err(e.to_string()),
        };
        let answer = answer.map_or_else(Answer::Problem, Answer::Judgements);
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

fn answer_one(
    last: &mut Option<Read>,
    solvers: &mut HashMap<Program, Option<Solver>>,
    request: &Request,
) -> Result<Vec<Judgement>, String> {
    let is_same = |r: &&Read| (&r.path, &r.hash) == (&request.module, &request.hash);
    if last.as_ref().filter(is_same).is_none() {
        *last = None;
        *last = Some(read_module(request)?);
    }
    let read = last.as_ref().expect("read above");
    let solver = request.solver.as_ref();
    // One that does not start is asked nothing.
    let solver = solver.and_then(|program| {
        let started = solvers.entry(program.clone());
        let started = started.or_insert_with(|| Solver::start(program).ok());
        started.as_mut()
    });
    judge_all(&read.parsed, request, solver)
}

fn read_module(request: &Request) -> Result<Read, String> {
    let path = &request.module;
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let hash = hash_module(&bytes);
    if hash != request.hash {
        return Err("it is not the module that was profiled".into());
    }
    let is_text = path.extension().is_some_and(|e| e == "ll");
    let input = Input {
        path: path.clone(),
        name: path.display().to_string(),
        kind: if is_text { Kind::Text } else { Kind::Bitcode },
        archive: None,
        bytes,
        hash: hash.clone(),
    };
    let parsed = emit::parse_module(&Source::new(&input, CopyId(0)), Names::Kept);
    let parsed = parsed.map_err(|e| e.to_string())?;
    Ok(Read {
        path: path.clone(),
        hash,
        parsed,
    })
}

/// Judges paths of one definition of a module. O(instructions · paths).
///
/// # Errors
/// What is not modelled, or does not fit the module.
fn judge_all(
    parsed: &Parsed,
    request: &Request,
    mut solver: Option<&mut Solver>,
) -> Result<Vec<Judgement>, String> {
    let module = emit::code_reader(parsed).ok_or("its target is not modelled")?;
    let mut reader = module.reader();
    let function = reader.function(request.ordinal as usize);
    let function = function.ok_or("it has no such function")?;
    let mut analyses = Analyses::default();
    let judged = request.paths.iter().map(|path| {
        if !has_path(&reader, function, path) {
            return Err("it has no such path".to_string());
        }
        Ok(judge(
            reader.code(),
            &mut analyses,
            &Question {
                function,
                starts_in_loop: path.starts_in_loop,
                blocks: path.blocks.clone(),
                succs: path.succs.clone(),
                is_alone: request.is_alone,
                own_names: request.own_names.clone(),
            },
            solver.as_deref_mut(),
        ))
    });
    judged.collect()
}

/// Whether a function has a path.
fn has_path(reader: &CodeReader, function: usize, path: &AskedPath) -> bool {
    let blocks = &reader.code().functions[function].blocks;
    let step = |i: usize| {
        let block = blocks.get(path.blocks[i] as usize)?;
        let Some(succ) = path.succs.get(i) else {
            return (i + 1 == path.blocks.len()).then_some(());
        };
        let to = block.succs.get(*succ as usize)?;
        path.blocks
            .get(i + 1)
            .is_none_or(|next| next == to)
            .then_some(())
    };
    !path.blocks.is_empty() && (0..path.blocks.len()).all(|i| step(i).is_some())
}
