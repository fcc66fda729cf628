//! Profiles for other people's tools: one type in one file for each format, and one table of them.

mod callgrind;
mod cobertura;
mod dot;
mod folded;
mod lcov;
pub(crate) mod pprof;
mod proftext;
pub(crate) mod speedscope;
pub(crate) mod stacks;
mod tables;

use crate::base::error::{Error, Result};
use crate::base::index::FuncId;
use crate::base::names::{NAMED_FUNCTIONS, first_names};
use crate::base::table::number_of;
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::read::analysis::counted::CountedFunction;
use crate::read::analysis::lines::{SourceFile, by_line};
use crate::read::decisions::Rule;
use crate::read::report::Report;
use crate::read::source::Sources;
use crate::read::source::is_of_the_system;
use std::collections::{BTreeMap, BTreeSet};

/// The formats, in the order of the help text.
pub static EXPORTERS: [Exporter; 11] = [
    proftext::EXPORTER,
    exporter::<lcov::Lcov>(),
    exporter::<lcov::Lcov1>(),
    exporter::<cobertura::Cobertura>(),
    exporter::<callgrind::Callgrind>(),
    exporter::<folded::Folded>(),
    exporter::<pprof::Pprof>(),
    exporter::<speedscope::Speedscope>(),
    exporter::<dot::Graphviz>(),
    exporter::<tables::Csv>(),
    exporter::<tables::JsonTables>(),
];

/// A format of [`EXPORTERS`].
#[derive(Debug)]
pub struct Exporter {
    /// What people type.
    pub name: &'static str,
    /// What reads it, and what that shows.
    pub about: &'static str,
    /// Whether one may choose what a path weighs.
    pub weighed: bool,
    /// Whether it leaves out sources of the system unless these are asked for.
    pub own: bool,
    /// Whether decisions in it are told by the texts of sources.
    pub told: bool,
    /// Whether it is about lines, some of which markers in the sources leave out.
    pub by_line: bool,
    /// Why it takes no sampled subpaths, where it does not: for people, in one clause. Where it does, it has the errors
    /// of their estimates.
    pub unfit: Option<&'static str>,
    /// Who writes it.
    pub writer: Writer,
}

/// Who writes a format.
#[derive(Debug)]
pub enum Writer {
    /// This function, given what to select, what was asked for and the sources. Its errors are profiles that lack
    /// what the format is about, as one of edges lacks paths.
    Profile(fn(&Profile, &Selection, Asked, Sources) -> Result<Written>),
    /// `p3-rewrite`, from the modules that were profiled: it takes LLVM (`crate::write::pgo`).
    Rewriter,
}

/// A profile in a format.
#[derive(Debug)]
pub struct Written {
    /// The file.
    pub data: Vec<u8>,
    /// What is to be told of it, in a line each.
    pub notes: Vec<String>,
}

impl From<Vec<u8>> for Written {
    fn from(data: Vec<u8>) -> Written {
        Written {
            data,
            notes: Vec::new(),
        }
    }
}

/// A format that is made from a profile alone: a type in a file of its own.
trait Export {
    /// What people type: [`Exporter::name`].
    const NAME: &'static str;
    /// What reads the format, and what that shows: [`Exporter::about`].
    const ABOUT: &'static str;
    /// Whether one may choose what a path weighs: [`Exporter::weighed`].
    const WEIGHED: bool = false;
    /// Whether sources of the system are left out unless they are asked for: [`Exporter::own`].
    const OWN: bool = false;
    /// Whether it is about lines: [`Exporter::by_line`].
    const BY_LINE: bool = false;
    /// What it is made from: the paths that ran ([`Report`]), or the counts of edges and blocks ([`Counts`]).
    type View<'a>: View<'a>;

    /// Why it takes no sampled subpaths; `None` if it takes them: [`Exporter::unfit`].
    const UNFIT: Option<&'static str> = Some(EXACT);

    /// The file. Only formats that say so ([`Export::WEIGHED`], [`Export::OWN`]) are asked otherwise than by default.
    ///
    /// # Errors
    /// A profile that lacks what the format is about.
    fn write(source: &Self::View<'_>, asked: Asked) -> Result<Vec<u8>>;
}

/// What speaks against most formats: counts of lines and edges do not follow from subpaths that overlap.
const EXACT: &str =
    "it tells exact counts of lines, edges or instructions, and these are estimates of subpaths";

/// What formats are made from: one view of one profile.
trait View<'a>: Sized {
    /// Whether decisions in it are quoted from sources: [`Exporter::told`].
    const TOLD: bool;

    /// The view of the selected functions, with their sources. Near-linear in the total length of
    /// the paths.
    ///
    /// # Errors
    /// A profile that cannot be viewed so, as one of edges by its paths.
    fn view_of(profile: &'a Profile, selection: &Selection, sources: Sources) -> Result<Self>;

    /// What is to be told where lines are shown.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

impl<'a> View<'a> for Report<'a> {
    const TOLD: bool = true;

    fn view_of(profile: &'a Profile, selection: &Selection, sources: Sources) -> Result<Self> {
        let report = Report::new(profile.paths()?, selection)?;
        Ok(report.with_sources(sources))
    }
}

const fn exporter<F: Export>() -> Exporter {
    Exporter {
        name: F::NAME,
        about: F::ABOUT,
        weighed: F::WEIGHED,
        own: F::OWN,
        told: <F::View<'static> as View>::TOLD,
        by_line: F::BY_LINE,
        unfit: F::UNFIT,
        writer: Writer::Profile(write::<F>),
    }
}

fn write<F: Export>(
    profile: &Profile,
    selection: &Selection,
    asked: Asked,
    sources: Sources,
) -> Result<Written> {
    let view: F::View<'_> = View::view_of(profile, selection, sources)?;
    Ok(Written {
        data: F::write(&view, asked)?,
        notes: if F::BY_LINE { view.notes() } else { Vec::new() },
    })
}

/// What only some formats know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What a path weighs, in formats where that can be chosen ([`Exporter::weighed`]).
    pub weigh: Weigh,
    /// Whether sources of the system and of toolchains are in it, too ([`Exporter::own`]).
    pub all: bool,
    /// By which rule conditions are shown, if lcov is to have them.
    pub mcdc: Option<Rule>,
}

/// What a path weighs in a format that knows one number for each stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weigh {
    /// How often it ran
    Paths,
    /// The LLVM instructions that were executed on it
    Instructions,
}

/// The selected functions that are not profiled and so not in what is exported: one with the reason, or several in a
/// line.
pub fn describe_left_out(profile: &Profile, selection: &Selection) -> Option<String> {
    let mut skipped = selection.functions(profile);
    skipped.retain(|f| profile.entry(*f).status.is_skipped());
    if skipped.is_empty() {
        return None;
    }
    let names = profile.printed_names(false);
    let name = |f: &FuncId| names.name(&profile.entry(*f).name);
    match &skipped[..] {
        [f] => Some(format!("{}: {}", name(f), profile.entry(*f).status)),
        functions => {
            let n = number_of(functions.len() as u64, "function");
            let named = first_names(NAMED_FUNCTIONS, functions.iter().map(name));
            Some(format!(
                "{n} not profiled, and so left out: {named} (show --full says why)"
            ))
        }
    }
}

/// What branches of optimised code are: formats have no place to tell them from those of the source.
const OPTIMISED_BRANCHES: &str = "optimised code: branches are those that the optimiser left, and 0 is no proof that \
     a condition never had that outcome (p3-prof coverage says which; -O0 shows all)";

/// The counts of the selected functions that are profiled, those that never ran too.
struct Counts<'a> {
    profile: &'a Profile,
    functions: Vec<CountedFunction<'a>>,
    sources: Sources,
}

impl<'a> Counts<'a> {
    /// By source file.
    ///
    /// # Errors
    /// A profile without debug information: there are no lines to tell of.
    fn by_line(&self) -> Result<BTreeMap<&'a str, SourceFile>> {
        let sources = by_line(self.profile, &self.functions, &self.sources.markers());
        if sources.is_empty() {
            let problem = "it knows no source lines";
            let remedy = "profile a program that was compiled with -g";
            return Err(Error::profile(&self.profile.path, problem, remedy));
        }
        Ok(sources)
    }

    /// Counts by source file and line, without sources of the system and of toolchains unless these are asked for.
    fn own_by_line(&self, asked: Asked) -> Result<BTreeMap<&'a str, SourceFile>> {
        let mut sources = self.by_line()?;
        sources.retain(|file, _| asked.all || !is_of_the_system(file));
        if sources.is_empty() {
            let problem = "all sources with code in it are headers of the system";
            return Err(Error::profile(&self.profile.path, problem, "give --all"));
        }
        Ok(sources)
    }
}

impl<'a> View<'a> for Counts<'a> {
    const TOLD: bool = false;

    fn view_of(profile: &'a Profile, selection: &Selection, sources: Sources) -> Result<Self> {
        Ok(Counts {
            profile,
            functions: CountedFunction::find_selected(profile, selection)?,
            sources,
        })
    }

    fn notes(&self) -> Vec<String> {
        let markers = self.sources.markers();
        let mut notes = self.sources.remarks_on_markers();
        notes.extend(self.sources.list_changed());
        notes.extend(self.sources.missing_markers());
        let spans = self.functions.iter();
        let spans = spans.flat_map(|f| f.structure.cfg.blocks.iter().flat_map(|b| &b.lines));
        let marked = spans.filter(|s| markers.line(s.loc.file, s.loc.line));
        let lines: BTreeSet<_> = marked.map(|s| (s.loc.file, s.loc.line)).collect();
        if !lines.is_empty() {
            notes.push(format!(
                "lines with code that markers exclude: {}",
                lines.len()
            ));
        }
        let has_branches =
            |f: &CountedFunction| f.structure.cfg.blocks.iter().any(|b| b.succs.len() > 1);
        let is_optimised = |f: &CountedFunction| f.entry.optimised.is_optimised();
        if self
            .functions
            .iter()
            .any(|f| is_optimised(f) && has_branches(f))
        {
            notes.push(OPTIMISED_BRANCHES.into());
        }
        notes
    }
}
