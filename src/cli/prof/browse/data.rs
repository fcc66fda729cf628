//! What is browsed, without a terminal: functions, their paths, and source text with a path lit. Paths are decoded when they are in
//! sight.

use crate::error::Result;
use crate::index::{FuncId, PathId};
use crate::names::{Filter, printable};
use crate::profile::Structure;
use crate::profile::measurement::PathProfile;
use crate::profile::report::text::{phrases_of, short, trail, way};
use crate::profile::report::words::Words;
use crate::profile::report::{Line, Report, Selection, line};
use crate::source::Sources;
use regex::Regex;
use std::collections::{BTreeSet, HashMap};

/// What comes first in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// Executed instructions.
    #[default]
    Instructions,
    /// Executed paths.
    Count,
    /// How many paths ran; of a path, its length.
    Size,
    /// Names; ids.
    Name,
}

impl Sort {
    /// The next one, around.
    pub(super) fn next(self) -> Sort {
        match self {
            Sort::Instructions => Sort::Count,
            Sort::Count => Sort::Size,
            Sort::Size => Sort::Name,
            Sort::Name => Sort::Instructions,
        }
    }

    /// In a word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Sort::Instructions => "instructions",
            Sort::Count => "count",
            Sort::Size => "size",
            Sort::Name => "name",
        }
    }
}

/// A function that ran.
pub(super) struct Function {
    pub(super) f: FuncId,
    pub(super) name: String,
    /// Executed paths and instructions.
    pub(super) paths: u128,
    pub(super) instructions: u128,
    /// How many paths ran.
    pub(super) distinct: usize,
}

/// A profile, as it is browsed.
pub(super) struct Tour<'a> {
    paths: PathProfile<'a>,
    sources: &'a Sources,
    functions: Vec<Function>,
    /// Those in the list, in order.
    shown: Vec<usize>,
    sort: Sort,
    filter: Option<Filter>,
    /// Of the program.
    pub(super) total_paths: u128,
    pub(super) total_instructions: u128,
    pub(super) distinct: usize,
}

impl<'a> Tour<'a> {
    /// The functions that ran. O(total path length), of which nothing is kept.
    pub(super) fn new(paths: PathProfile<'a>, sources: &'a Sources) -> Result<Tour<'a>> {
        let none = Selection {
            top: Some(0),
            ..Selection::default()
        };
        let report = Report::new(paths, &none)?;
        let functions = report
            .by_function
            .iter()
            .map(|(&f, &(n, instructions))| Function {
                f,
                name: paths.name(f),
                paths: n,
                instructions,
                distinct: paths.counts(f).len(),
            });
        let mut functions: Vec<Function> = functions.collect();
        functions.sort_by_key(|f| f.f);
        let mut tour = Tour {
            total_paths: report.total_paths,
            total_instructions: report.total_instructions,
            distinct: report.total_distinct,
            functions,
            paths,
            sources,
            shown: Vec::new(),
            sort: Sort::default(),
            filter: None,
        };
        tour.arrange();
        Ok(tour)
    }

    /// The functions in the list.
    pub(super) fn len(&self) -> usize {
        self.shown.len()
    }

    /// How many ran.
    pub(super) fn all(&self) -> usize {
        self.functions.len()
    }

    /// A function of the list.
    pub(super) fn function(&self, i: usize) -> Option<&Function> {
        self.shown.get(i).map(|&i| &self.functions[i])
    }

    pub(super) fn sort(&self) -> Sort {
        self.sort
    }

    pub(super) fn sort_by(&mut self, sort: Sort) {
        self.sort = sort;
        self.arrange();
    }

    /// Shows functions whose symbol or readable name matches alone; whether this is an expression.
    pub(super) fn filter(&mut self, expression: &str) -> bool {
        let filter = match Regex::new(expression) {
            Ok(_) if expression.is_empty() => None,
            Ok(regex) => Filter::new("/", vec![regex]),
            Err(_) => return false,
        };
        self.filter = filter;
        self.arrange();
        true
    }

    fn arrange(&mut self) {
        let (functions, paths) = (&self.functions, self.paths);
        let admitted = |i: &usize| {
            let symbol = &paths.entry(functions[*i].f).name;
            self.filter.as_ref().is_none_or(|f| f.admits(symbol))
        };
        let mut shown: Vec<usize> = (0..functions.len()).filter(admitted).collect();
        let of = |i: &usize| &functions[*i];
        match self.sort {
            Sort::Instructions => shown.sort_by_key(|i| std::cmp::Reverse(of(i).instructions)),
            Sort::Count => shown.sort_by_key(|i| std::cmp::Reverse(of(i).paths)),
            Sort::Size => shown.sort_by_key(|i| std::cmp::Reverse(of(i).distinct)),
            Sort::Name => shown.sort_by(|a, b| of(a).name.cmp(&of(b).name)),
        }
        self.shown = shown;
    }

    /// The paths of a function.
    ///
    /// # Errors
    /// A profile that is damaged.
    pub(super) fn paths(&self, f: FuncId) -> Result<Paths<'a>> {
        Paths::new(self.paths, self.sources, f)
    }
}

/// The paths of one function that ran.
pub(super) struct Paths<'a> {
    profile: PathProfile<'a>,
    sources: &'a Sources,
    f: FuncId,
    structure: Structure,
    ids: Vec<(PathId, u64)>,
    sort: Sort,
    /// Of those that were in sight.
    lines: HashMap<PathId, Line>,
    /// Of all, once they are asked for.
    sizes: Option<HashMap<PathId, u64>>,
}

impl<'a> Paths<'a> {
    fn new(profile: PathProfile<'a>, sources: &'a Sources, f: FuncId) -> Result<Paths<'a>> {
        let mut paths = Paths {
            structure: profile.structure(f)?,
            ids: profile.counts(f).to_vec(),
            profile,
            sources,
            f,
            sort: Sort::Count,
            lines: HashMap::new(),
            sizes: None,
        };
        paths.sort_by(Sort::Count)?;
        Ok(paths)
    }

    /// The function's name.
    pub(super) fn name(&self) -> String {
        self.profile.name(self.f)
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn sort(&self) -> Sort {
        self.sort
    }

    /// Sorts them; by what their lengths say in O(total path length) once.
    pub(super) fn sort_by(&mut self, sort: Sort) -> Result<()> {
        use std::cmp::Reverse;
        self.sort = sort;
        if matches!(sort, Sort::Instructions | Sort::Size) && self.sizes.is_none() {
            let size = |&(id, n): &(PathId, u64)| Ok((id, self.line_of(id, n)?.instructions));
            self.sizes = Some(self.ids.iter().map(size).collect::<Result<_>>()?);
        }
        let sizes = self.sizes.as_ref();
        let size = |id: PathId| sizes.map_or(0, |s| s[&id]);
        match sort {
            Sort::Instructions => self
                .ids
                .sort_by_key(|&(id, n)| (Reverse(u128::from(n) * u128::from(size(id))), id)),
            Sort::Count => self.ids.sort_by_key(|&(id, n)| (Reverse(n), id)),
            Sort::Size => self.ids.sort_by_key(|&(id, _)| (Reverse(size(id)), id)),
            Sort::Name => self.ids.sort_by_key(|p| p.0),
        }
        Ok(())
    }

    fn line_of(&self, id: PathId, count: u64) -> Result<Line> {
        line(self.profile.profile(), &self.structure, (self.f, id, count))
    }

    /// A path of the list.
    pub(super) fn line(&mut self, i: usize) -> Result<&Line> {
        let (id, count) = self.ids[i];
        if !self.lines.contains_key(&id) {
            let line = self.line_of(id, count)?;
            self.lines.insert(id, line);
        }
        Ok(&self.lines[&id])
    }

    /// What is shown of a path: its id and way, and the lines that it runs through.
    pub(super) fn told(&mut self, i: usize) -> Result<(String, String)> {
        let words = Words::new(self.profile.profile(), self.sources);
        let line = self.line(i)?;
        Ok((format!("#{} {}", line.id, way(line)), trail(words, line)))
    }

    /// The source text that a path runs through.
    pub(super) fn lit(&mut self, i: usize) -> Result<Lit> {
        let (profile, sources) = (self.profile.profile(), self.sources);
        let line = self.line(i)?;
        let said = Words::new(profile, sources).of(line);
        let mut files: Vec<u32> = Vec::new();
        for loc in &line.locs {
            if !files.contains(&loc.file) {
                files.push(loc.file);
            }
        }
        let of = |&file: &u32| {
            let locs = line.locs.iter().filter(|l| l.file == file);
            let name = &profile.manifest.files[file as usize];
            let decided = said.iter().filter(|s| s.file.as_ref() == Some(name));
            let text = sources.text(file);
            LitFile {
                name: short(name).into_owned(),
                text: text.map(|t| t.whole().lines().map(shown).collect()),
                lines: locs.map(|l| l.line).collect(),
                decided: decided.filter_map(|s| s.line).collect(),
            }
        };
        Ok(Lit {
            files: files.iter().map(of).collect(),
            decisions: phrases_of(profile, line, &said),
            blocks: line.path.blocks.iter().map(|b| format!("b{b}")).collect(),
        })
    }
}

/// A path in its sources.
pub(super) struct Lit {
    /// The files that it goes through, in the order in which it comes to them.
    pub(super) files: Vec<LitFile>,
    /// Its decisions in words.
    pub(super) decisions: Vec<String>,
    /// Its blocks.
    pub(super) blocks: Vec<String>,
}

/// A file of it.
pub(super) struct LitFile {
    pub(super) name: String,
    /// Its text, where it is there as it was compiled.
    pub(super) text: Option<Vec<String>>,
    /// The lines of the path.
    pub(super) lines: BTreeSet<u32>,
    /// Those in which it decides.
    pub(super) decided: BTreeSet<u32>,
}

/// A line of source text without control characters, tabs as blanks.
fn shown(line: &str) -> String {
    const STOP: usize = 8;
    let mut out = String::new();
    for (i, part) in line.trim_end_matches('\r').split('\t').enumerate() {
        if i > 0 {
            let to = (out.chars().count() / STOP + 1) * STOP;
            out.extend(std::iter::repeat_n(' ', to - out.chars().count()));
        }
        out += &printable(part);
    }
    out
}
