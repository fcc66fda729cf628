//! Selections by place in the source: lines, functions, the lines that a diff touches.

use super::resolved::{Resolved, no_function, refusal};
use super::spec::Spec;
use super::target::Target;
use crate::base::error::Result;
use crate::base::index::FuncId;
use crate::base::names::{escape_unprintable, printed_name};
use crate::base::table::number_of;
use crate::copies::selection::Selection;
use crate::input::ir::{Loc, Span};
use crate::paths::dag::edges_through;
use crate::profile::COMPILE_WITH_LINES;
use crate::read::report::coverage::Touched;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// At most so many lines or files are suggested.
const NEAREST: usize = 3;
/// What a diff is resolved against, in messages.
const THE_PROGRAM: &str = "the program";

/// Adds the paths through blocks with a position that is wanted; whether there is any. The set of their edges may
/// admit paths that mix the way to one block with the rest behind another. O(positions + edges).
fn add_blocks(resolved: &mut Resolved, target: &Target, is_wanted: impl Fn(&Span) -> bool) -> bool {
    let mut is_any = false;
    for (f, function) in target.functions.iter_enumerated() {
        let Some(paths) = function.paths.as_deref() else {
            continue;
        };
        let dag = &paths.dag;
        let mut into = dag.edge_set();
        let blocks = function.reachable_blocks();
        let wanted = blocks.filter(|(_, spans)| spans.iter().any(&is_wanted));
        for v in wanted.filter_map(|(b, _)| dag.vertex(b)) {
            into.extend(dag.ins(v).iter().copied());
        }
        if !into.is_empty() {
            is_any = true;
            resolved.add(target, f, Selection::Edges(edges_through(dag, &into)));
        }
    }
    is_any
}

/// `through=FILE:LINE[-LINE]`.
pub(super) fn add_lines(
    resolved: &mut Resolved,
    target: &Target,
    spec: &Spec,
    file: &str,
    lines: RangeInclusive<u32>,
) -> Result<()> {
    if !target.has_lines() {
        let problem = format!("the program has no line numbers; {COMPILE_WITH_LINES}");
        return Err(refusal(spec, &problem));
    }
    let files = target.find_files(file);
    let names: BTreeSet<&str> = files.iter().map(|f| &*target.files[*f as usize]).collect();
    match names.len() {
        0 => return Err(refusal(spec, &no_file(target, file))),
        1 => {}
        _ => {
            let problem = format!(
                "{file} is the end of several files' names: {}; give more of one",
                first_of(names.into_iter().map(String::from))
            );
            return Err(refusal(spec, &problem));
        }
    }
    let is_meant = |loc: Loc| files.contains(&loc.file) && lines.contains(&loc.line);
    if add_blocks(resolved, target, |s| is_meant(s.loc)) {
        return Ok(());
    }
    Err(refusal(spec, &no_code(target, &files, &lines)))
}

/// Why no file of this name is the program's.
fn no_file(target: &Target, file: &str) -> String {
    let base = |name: &str| name.rsplit('/').next().unwrap_or(name).to_string();
    let wanted = base(file);
    let mut scored: Vec<(f64, &str)> = target
        .files
        .iter()
        .map(|name| (strsim::jaro_winkler(&wanted, &base(name)), name.as_str()))
        .filter(|(score, _)| *score > 0.8)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    let file = escape_unprintable(file);
    if scored.is_empty() {
        return format!("no source file of the program is called {file}; give the end of its name");
    }
    let nearest = first_of(scored.into_iter().map(|(_, name)| name.to_string()));
    format!("no source file of the program is called {file}; nearest: {nearest}")
}

/// Why no path leads through these lines: only skipped functions have code there, or none does.
fn no_code(target: &Target, files: &BTreeSet<u32>, lines: &RangeInclusive<u32>) -> String {
    let is_meant = |loc: &Loc| files.contains(&loc.file) && lines.contains(&loc.line);
    for function in &target.functions {
        if let Some(reason) = function
            .skip
            .filter(|_| function.locs().any(|l| is_meant(&l)))
        {
            let name = printed_name(function.name);
            return format!(
                "the code there is in {name}, which is skipped: {reason}; name another"
            );
        }
    }
    let mut with_code: BTreeMap<u32, FuncId> = BTreeMap::new();
    for (f, function) in target.functions.iter_enumerated() {
        let spans = function.reachable_blocks().flat_map(|(_, spans)| spans);
        for loc in spans.map(|s| s.loc).filter(|l| files.contains(&l.file)) {
            with_code.entry(loc.line).or_insert(f);
        }
    }
    let before = with_code.range(..*lines.start()).next_back();
    let after = with_code
        .range(*lines.end()..)
        .find(|(l, _)| **l > *lines.end());
    let near = before.into_iter().chain(after);
    let told = near.map(|(l, f)| format!("{l} ({})", printed_name(target.functions[*f].name)));
    let told: Vec<String> = told.collect();
    let what = if lines.start() == lines.end() {
        "this line has no code"
    } else {
        "these lines have no code"
    };
    if told.is_empty() {
        return format!("{what}, and no other of the file does; name another file");
    }
    format!("{what}; nearest lines with code: {}", told.join(", "))
}

/// `through=FUNCTION`.
pub(super) fn add_function(
    resolved: &mut Resolved,
    target: &Target,
    spec: &Spec,
    name: &str,
) -> Result<()> {
    let names = target.typed_names();
    let is_meant = |symbol: &str| names.find_naming(name, symbol).is_some();
    let mut is_found = false;
    for (f, function) in target.functions.iter_enumerated() {
        if function.paths.is_some() && is_meant(function.name) {
            resolved.add(target, f, Selection::All);
            is_found = true;
        }
    }
    let inlined = target.inlined_from(is_meant);
    if !inlined.is_empty() {
        let is_inside = |s: &Span| s.inlined.is_some_and(|i| inlined.contains(i as usize));
        is_found |= add_blocks(resolved, target, is_inside);
    }
    if is_found {
        Ok(())
    } else {
        let problem = no_lines(target, name).unwrap_or_else(|| no_function(target, names, name));
        Err(refusal(spec, &problem))
    }
}

/// What to do where a source file is named, without lines or with something else behind the colon.
fn no_lines(target: &Target, name: &str) -> Option<String> {
    let files = [Some(name), name.rsplit_once(':').map(|(file, _)| file)];
    let mut files = files.into_iter().flatten();
    let file = files.find(|file| !target.find_files(file).is_empty())?;
    let file = escape_unprintable(file);
    Some(format!(
        "{file} is a source file, and no lines of it are named; give {file}:LINE or {file}:FIRST-LAST"
    ))
}

/// `--patch DIFF`: paths through the lines that it adds or changes. A diff that touches no code is no error: there
/// is nothing to measure, which is reported.
pub(crate) fn add_patch(resolved: &mut Resolved, target: &Target, patch: &str, touched: &Touched) {
    if !touched.elsewhere.is_empty() {
        let note = not_part_of(patch, &touched.elsewhere, THE_PROGRAM);
        resolved.notes.push(note);
    }
    if !add_blocks(resolved, target, |s| touched.contains_line(s.loc)) {
        let why = if target.has_lines() {
            "it touches no code of the program".into()
        } else {
            format!("the program has no line numbers ({COMPILE_WITH_LINES})")
        };
        resolved.empty.push(format!("--patch {patch}: {why}"));
    }
}

/// The line about `files` of a diff, from which nothing of `whole` was compiled.
pub(super) fn not_part_of(patch: &str, files: &[String], whole: &str) -> String {
    let verb = if files.len() == 1 { "is" } else { "are" };
    format!(
        "--patch {patch}: {} of the diff {verb} not part of {whole}: {}",
        number_of(files.len() as u64, "file"),
        first_of(files.iter().cloned())
    )
}

/// Whether a line is that about files of a diff that are not part of the one program.
pub(crate) fn is_about_files_elsewhere(line: &str) -> bool {
    line.starts_with("--patch ") && line.contains(&format!(" not part of {THE_PROGRAM}: "))
}

/// The first few of a list, and that there are more.
fn first_of(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = if names.len() > NEAREST { ", …" } else { "" };
    let first: Vec<String> = names.take(NEAREST).collect();
    escape_unprintable(&first.join(", ")).into_owned() + more
}
