//! Where paths and loops begin, as who reads the project's own code sees it.

use super::super::Line;
use super::super::positions::base_name;
use super::super::words::site;
use super::{COMPUTED_GOTO, Steps};
use crate::base::index::{BlockId, FuncId, TiSlice};
use crate::input::ir::{Loc, Site, Span, Terminator};
use crate::paths::dag::{Order, PathStart};
use crate::profile::manifest::FunctionEntry;
use crate::read::source::{is_of_the_system, library_of};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// What a loop is called, which no other loop of its function is.
#[derive(Clone)]
pub(super) struct LoopName {
    /// The call that brought it there, if it was inlined: an index into
    /// [`crate::profile::manifest::Manifest::inlined`].
    within: Option<u32>,
    /// File and line, and what tells it from other loops there.
    place: String,
    /// Number of the file, and line.
    loc: Option<Loc>,
}

/// The loops of a function by their headers.
pub(super) type LoopNames = HashMap<BlockId, LoopName>;

/// Calls around a loop are compared so many levels deep.
const DEEPEST: usize = 8;

/// Where code is for who reads the project's own code.
struct Seen {
    file: u32,
    line: u32,
    column: u32,
    /// The inlined call that it is in, unless it is the function's own.
    within: Option<u32>,
}

impl Steps<'_> {
    /// Where a path begins, if that is not the function's entry: ` · loop at demo.c:61`, ` · loop in sort at demo.c:61`
    /// if `sort` was inlined.
    pub fn start(&self, line: &Line) -> String {
        match line.path.start {
            PathStart::Entry => String::new(),
            PathStart::Loop => format!(" · {}", self.loop_at(line.func, line.path.blocks[0])),
        }
    }

    /// Where a path begins, if that is not the function's entry, without the inlined function.
    pub fn start_in_short(&self, line: &Line) -> String {
        match line.path.start {
            PathStart::Entry => String::new(),
            PathStart::Loop => format!(
                " · loop at {}",
                self.place_of(line.func, line.path.blocks[0])
            ),
        }
    }

    /// A loop by its header: `loop at demo.c:61`.
    pub fn loop_at(&self, f: FuncId, header: BlockId) -> String {
        let LoopName { within, place, .. } = self.loop_name(f, header);
        match within {
            Some(n) => {
                let call = &self.words.profile().manifest.inlined[n as usize];
                format!("loop in {} at {place}", self.name_of(&call.function))
            }
            None => format!("loop at {place}"),
        }
    }

    /// File and line of a loop by its header, and what tells it from the other loops of its function: `demo.c:61`,
    /// `demo.c:61 (2 of 3)`. Without debug information it is the header's number.
    pub fn place_of(&self, f: FuncId, header: BlockId) -> String {
        self.loop_name(f, header).place
    }

    fn loop_name(&self, f: FuncId, header: BlockId) -> LoopName {
        let known = || self.loops.lock().unwrap_or_else(|e| e.into_inner());
        let names = known().get(&f).cloned();
        let names = names.unwrap_or_else(|| {
            let names = Arc::new(self.name_loops(f));
            known().insert(f, names.clone());
            names
        });
        let name = names.get(&header).cloned();
        name.unwrap_or_else(|| LoopName {
            within: None,
            place: format!("b{header}"),
            loc: None,
        })
    }

    /// Where a loop begins in the source: number of the file, and line.
    pub fn loop_loc(&self, f: FuncId, header: BlockId) -> Option<Loc> {
        self.loop_name(f, header).loc
    }

    /// The names of a function's loops, and of other blocks at which paths begin. Where the source says that the loop
    /// begins is the first choice: an optimiser rotates loops, so that their headers have code of any line of the body.
    /// O(code).
    fn name_loops(&self, f: FuncId) -> LoopNames {
        let entry = self.words.profile().entry(f);
        let cfg = entry.cfg();
        let own = self.home_file(f);
        let mut headers: BTreeMap<BlockId, Vec<Option<Site>>> = BTreeMap::new();
        let mut latches: BTreeMap<BlockId, Vec<BlockId>> = BTreeMap::new();
        for (edge, header) in Order::new(&cfg).back_edges(&cfg) {
            let starts = headers.entry(header).or_default();
            starts.push(entry.loop_start(edge.block));
            latches.entry(header).or_default().push(edge.block);
        }
        let predecessors = cfg.predecessors();
        for cut in &entry.cuts {
            let to = entry.succs[cut.block][cut.succ as usize];
            headers.entry(to).or_default();
        }
        let mut names = LoopNames::new();
        let mut found: Vec<(BlockId, Seen)> = Vec::new();
        for (header, starts) in headers {
            let mut known: Vec<Site> = starts.into_iter().flatten().collect();
            known.sort();
            known.dedup();
            // Two loops may have one header, and then it is called after its code.
            let seen = match known[..] {
                [start] => {
                    Some(self.place_for_reader(&own, start.loc, start.column, start.inlined))
                }
                // What clang makes of all computed `goto` of a function is at none of their lines.
                _ if entry.terminators[header] == Terminator::IndirectBr => {
                    self.seen_block(f, header)
                }
                _ => {
                    let around = latches.get(&header).and_then(|latches| {
                        let body = find_body(&predecessors, header, latches)?;
                        self.find_first_code(entry, latches, &body)
                    });
                    around
                        .map(|s| self.place_for_reader(&own, s.loc, s.column, s.inlined))
                        .or_else(|| self.seen_block(f, header))
                }
            };
            match seen {
                Some(seen) => found.push((header, seen)),
                None => {
                    let jumps = entry.terminators[header] == Terminator::IndirectBr;
                    let block = format!("b{header}");
                    let place = if jumps {
                        format!("{COMPUTED_GOTO} ({block})")
                    } else {
                        block
                    };
                    let name = LoopName {
                        within: None,
                        place,
                        loc: None,
                    };
                    names.insert(header, name);
                }
            }
        }
        for ((header, seen), place) in found.iter().zip(self.tell_apart(&found)) {
            let loc = Loc {
                file: seen.file,
                line: seen.line,
            };
            let name = LoopName {
                within: seen.within,
                place,
                loc: Some(loc),
            };
            names.insert(*header, name);
        }
        names
    }

    /// File and line of each loop; where several have the same: with what differs, the column, the lines that they were
    /// inlined at, or else their number among those that nothing tells apart.
    fn tell_apart(&self, found: &[(BlockId, Seen)]) -> Vec<String> {
        let manifest = &self.words.profile().manifest;
        let place = |seen: &Seen| {
            let file = base_name(&manifest.files[seen.file as usize]);
            format!("{file}:{}", seen.line)
        };
        let mut places: Vec<String> = found.iter().map(|(_, seen)| place(seen)).collect();
        let mut groups: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
        for (i, place) in places.iter().enumerate() {
            groups.entry(place).or_default().push(i);
        }
        let groups: Vec<Vec<usize>> = groups.into_values().filter(|g| g.len() > 1).collect();
        let called = |seen: &Seen, level: usize| {
            let calls = manifest.calls_around(seen.within);
            let mut lines = calls.map(|n| manifest.inlined[n as usize].line);
            lines.nth(level).unwrap_or(0)
        };
        for group in groups {
            let mut marks: HashMap<usize, Vec<String>> = HashMap::new();
            let columns = split(
                vec![group],
                |i| found[i].1.column,
                |i, column| {
                    places[i] += &format!(":{column}");
                },
            );
            let mut parts = columns;
            for level in 0..DEEPEST {
                parts = split(
                    parts,
                    |i| called(&found[i].1, level),
                    |i, line| {
                        let mark = format!("called at {line}");
                        marks.entry(i).or_default().push(mark);
                    },
                );
            }
            for part in parts.iter().filter(|p| p.len() > 1) {
                for (n, i) in part.iter().enumerate() {
                    let mark = format!("{} of {}", n + 1, part.len());
                    marks.entry(*i).or_default().push(mark);
                }
            }
            for (i, marks) in marks {
                places[i] += &format!(" ({})", marks.join(", "));
            }
        }
        places
    }

    /// Where a block is; `None` without debug information.
    fn seen_block(&self, f: FuncId, block: BlockId) -> Option<Seen> {
        let entry = self.words.profile().entry(f);
        let first = entry.spans(block).next();
        let span = entry.spans(block).find(|s| s.loc.line > 0).or(first)?;
        Some(self.place_for_reader(&self.home_file(f), span.loc, span.column, span.inlined))
    }

    /// The first code of a loop in the source: in the innermost of the functions that were inlined into each other that
    /// has the branches back to its header and all others of the loop, which optimisers move less than other code.
    /// Calls stand there for what was inlined further inside. `None` without debug information. O(code of the loop).
    fn find_first_code(
        &self,
        entry: &FunctionEntry,
        latches: &[BlockId],
        body: &[BlockId],
    ) -> Option<Site> {
        let manifest = &self.words.profile().manifest;
        let outside_in = |inlined: Option<u32>| {
            let mut calls: Vec<u32> = manifest.calls_around(inlined).collect();
            calls.reverse();
            calls
        };
        let several = body.iter().filter(|b| entry.succs[**b].len() > 1);
        let ends = latches.iter().chain(several).copied();
        let ends = ends.filter_map(|b| {
            let choice = entry.choice(b);
            site(entry, b, choice.as_ref())
        });
        let ends: Vec<Site> = ends.filter(|s| s.loc.line > 0).collect();
        let mut frame = outside_in(ends.first()?.inlined);
        for end in &ends {
            let calls = outside_in(end.inlined);
            let common = frame.iter().zip(&calls).take_while(|(a, b)| a == b);
            frame.truncate(common.count());
        }
        let inlined = frame.last().copied();
        let in_frame = |span: Span| {
            let calls = outside_in(span.inlined);
            if !calls.starts_with(&frame) {
                return None;
            }
            let call = calls
                .get(frame.len())
                .map(|n| &manifest.inlined[*n as usize]);
            let (file, line, column) = match call {
                Some(call) => (call.file, call.line, call.column),
                None => (span.loc.file, span.loc.line, span.column),
            };
            (line > 0).then_some(Site {
                loc: Loc { file, line },
                column,
                inlined,
                discriminator: 0,
            })
        };
        let code = body.iter().flat_map(|b| entry.spans(*b));
        let code: Vec<Site> = code.filter_map(in_frame).collect();
        let file = code.iter().map(|s| s.loc.file).next_back()?;
        let here = code.into_iter().filter(|s| s.loc.file == file);
        here.min_by_key(|s| (s.loc.line, s.column))
    }

    /// Where code is for who reads the file `own`: of code of another library that was inlined it is where that is
    /// called.
    fn place_for_reader(&self, own: &str, loc: Loc, column: u32, inlined: Option<u32>) -> Seen {
        let manifest = &self.words.profile().manifest;
        let calls: Vec<u32> = manifest.calls_around(inlined).collect();
        let name = |file: u32| manifest.files[file as usize].as_str();
        // From the inside out: a place, and the call that brought the code there.
        let inner = Seen {
            file: loc.file,
            line: loc.line,
            column,
            within: calls.first().copied(),
        };
        let callers = calls.iter().enumerate().map(|(i, &n)| {
            let call = &manifest.inlined[n as usize];
            Seen {
                file: call.file,
                line: call.line,
                column: call.column,
                within: calls.get(i + 1).copied(),
            }
        });
        let mut sites: Vec<Seen> = std::iter::once(inner).chain(callers).collect();
        // A call without a line of its own is where its callee's code is.
        let library = library_of(own);
        let is_outside = |s: &Seen| {
            let name = name(s.file);
            let is_own = library.is_some_and(|library| name.starts_with(library));
            s.line > 0 && (is_own || !is_of_the_system(name))
        };
        let outside = sites.iter().position(is_outside);
        let known = outside.or_else(|| sites.iter().rposition(|s| s.line > 0));
        let mut seen = sites.swap_remove(known.unwrap_or(0));
        seen.within = seen.within.filter(|_| outside.is_some());
        seen
    }
}

/// The blocks of the loop of a header: those from which control comes to it through `latches` and not otherwise. The
/// header is the first. `None` where control also comes into the loop elsewhere. O(edges of the loop).
fn find_body(
    predecessors: &TiSlice<BlockId, Vec<BlockId>>,
    header: BlockId,
    latches: &[BlockId],
) -> Option<Vec<BlockId>> {
    let mut body = vec![header];
    let mut known = HashSet::from([header]);
    let mut open = latches.to_vec();
    while let Some(block) = open.pop() {
        if known.insert(block) {
            body.push(block);
            open.extend(&predecessors[block]);
        }
    }
    let is_entered_elsewhere = body[1..].contains(&BlockId(0));
    (!is_entered_elsewhere).then_some(body)
}

/// Divides groups by what `of` says of their members, which are each told what it is; groups of which it says the same
/// of all stay as they are.
fn split(
    groups: Vec<Vec<usize>>,
    of: impl Fn(usize) -> u32,
    mut mark: impl FnMut(usize, u32),
) -> Vec<Vec<usize>> {
    let mut parts = Vec::new();
    for group in groups {
        let mut by: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for i in group {
            by.entry(of(i)).or_default().push(i);
        }
        if by.len() > 1 {
            for (value, part) in &by {
                part.iter()
                    .filter(|_| *value > 0)
                    .for_each(|i| mark(*i, *value));
            }
        }
        parts.extend(by.into_values());
    }
    parts
}
