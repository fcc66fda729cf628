//! Cobertura's XML (`coverage-04.dtd`), which GitLab, Jenkins and Azure read: lines and branches as
//! [`crate::read::analysis::lines`] has them.
//!
//! A package is a folder and a class a source file, as gcovr has it. `line-rate` is the share of the lines with code
//! that ran, `branch-rate` that of the ways out of branches that were taken, those never reached included; where there
//! are none it is 1. `complexity` and `timestamp` are required, and 0: nothing here measures the one, and the same
//! profile gives the same file.

use super::{Asked, Counts, Export};
use crate::base::error::Result;
use crate::base::names::{escape_unprintable, readable_name};
use crate::read::analysis::lines::SourceFile;
use crate::read::source::repository;
use crate::read::source::root::Root;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::collections::BTreeMap;
use std::io;

/// Lines and branches that ran, as Cobertura has them.
pub(super) struct Cobertura;

impl Export for Cobertura {
    const NAME: &'static str = "cobertura";
    const ABOUT: &'static str = "GitLab, Jenkins: executions of lines and branches, as XML";
    const OWN: bool = true;
    const BY_LINE: bool = true;
    const UNFIT: Option<&'static str> = Some("what is in no sample may have run all the same");
    type View<'a> = Counts<'a>;

    fn write(counts: &Counts, asked: Asked) -> Result<Vec<u8>> {
        let sources = counts.own_by_line(asked)?;
        let mut xml = Writer::new_with_indent(Vec::new(), b' ', 1);
        document(&mut xml, &sources).expect("memory takes everything");
        Ok([&xml.into_inner()[..], b"\n"].concat())
    }
}

type Xml = Writer<Vec<u8>>;

/// How many there are, and how many ran.
#[derive(Clone, Copy, Default)]
struct Rate {
    ran: usize,
    all: usize,
}

impl Rate {
    fn count_ran(ran: impl Iterator<Item = bool>) -> Rate {
        ran.fold(Rate::default(), |sum, ran| Rate {
            ran: sum.ran + usize::from(ran),
            all: sum.all + 1,
        })
    }

    fn sum(rates: impl Iterator<Item = Rate>) -> Rate {
        rates.fold(Rate::default(), |sum, more| Rate {
            ran: sum.ran + more.ran,
            all: sum.all + more.all,
        })
    }

    /// As a decimal fraction.
    fn share(self) -> String {
        match self.all {
            0 => "1".into(),
            all => format!("{:.4}", self.ran as f64 / all as f64),
        }
    }
}

/// The ways of the branches on a line.
fn ways(branches: &[Vec<Option<u64>>]) -> Rate {
    let ways = branches.iter().flatten();
    Rate::count_ran(ways.map(|n| n.is_some_and(|n| n > 0)))
}

impl SourceFile {
    fn line_rate(&self) -> Rate {
        Rate::count_ran(self.lines().map(|(_, n)| n > 0))
    }

    /// Of branches on lines that are in the file.
    fn branch_rate(&self) -> Rate {
        let on = |(line, _)| self.branches.get(&line).map(|b| ways(b));
        Rate::sum(self.lines().filter_map(on))
    }
}

/// The rates of some files as attributes.
fn rates(lines: Rate, branches: Rate) -> [(&'static str, String); 3] {
    [
        ("line-rate", lines.share()),
        ("branch-rate", branches.share()),
        ("complexity", "0".into()),
    ]
}

/// The attributes of an element: names, and values that may hold anything.
fn attributes(of: &[(&'static str, String)]) -> Vec<(&'static str, String)> {
    let shown = of
        .iter()
        .map(|(name, value)| (*name, escape_unprintable(value).into_owned()));
    shown.collect()
}

/// An element with attributes and nothing in it.
fn write_empty_element(
    xml: &mut Xml,
    name: &'static str,
    of: &[(&'static str, String)],
) -> io::Result<()> {
    let of = attributes(of);
    let of = of.iter().map(|(name, value)| (*name, value.as_str()));
    let element = xml.create_element(name).with_attributes(of);
    element.write_empty().map(|_| ())
}

/// An element with attributes and what is in it.
fn element(
    xml: &mut Xml,
    name: &'static str,
    of: &[(&'static str, String)],
    inside: impl FnOnce(&mut Xml) -> io::Result<()>,
) -> io::Result<()> {
    let of = attributes(of);
    let of = of.iter().map(|(name, value)| (*name, value.as_str()));
    let element = xml.create_element(name).with_attributes(of);
    element.write_inner_content(inside).map(|_| ())
}

fn document(xml: &mut Xml, sources: &BTreeMap<&str, SourceFile>) -> io::Result<()> {
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let doctype = r#"coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd""#;
    xml.write_event(Event::DocType(BytesText::from_escaped(doctype)))?;
    let lines = Rate::sum(sources.values().map(SourceFile::line_rate));
    let branches = Rate::sum(sources.values().map(SourceFile::branch_rate));
    let [line_rate, branch_rate, complexity] = rates(lines, branches);
    let of = [
        line_rate,
        branch_rate,
        ("lines-covered", lines.ran.to_string()),
        ("lines-valid", lines.all.to_string()),
        ("branches-covered", branches.ran.to_string()),
        ("branches-valid", branches.all.to_string()),
        complexity,
        (
            "version",
            concat!("p3-prof ", env!("CARGO_PKG_VERSION")).into(),
        ),
        ("timestamp", "0".into()),
    ];
    let repository = repository().map(|r| r.display().to_string());
    let root = Root::find(sources.keys().copied()).or_above(repository.as_deref());
    element(xml, "coverage", &of, |xml| {
        element(xml, "sources", &[], |xml| {
            let source = xml.create_element("source");
            let text = escape_unprintable(root.0);
            source.write_text_content(BytesText::new(&text)).map(|_| ())
        })?;
        element(xml, "packages", &[], |xml| packages(xml, &root, sources))
    })
}

fn packages(xml: &mut Xml, root: &Root, sources: &BTreeMap<&str, SourceFile>) -> io::Result<()> {
    let mut folders: BTreeMap<&str, Vec<(&str, &SourceFile)>> = BTreeMap::new();
    for (name, source) in sources {
        let name = root.name(name);
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        folders.entry(folder).or_default().push((name, source));
    }
    for (folder, files) in folders {
        let lines = Rate::sum(files.iter().map(|(_, s)| s.line_rate()));
        let branches = Rate::sum(files.iter().map(|(_, s)| s.branch_rate()));
        let mut of = vec![("name", folder.replace('/', "."))];
        of.extend(rates(lines, branches));
        element(xml, "package", &of, |xml| {
            element(xml, "classes", &[], |xml| {
                let mut files = files.iter();
                files.try_for_each(|(name, source)| class(xml, name, source))
            })
        })?;
    }
    Ok(())
}

fn class(xml: &mut Xml, name: &str, source: &SourceFile) -> io::Result<()> {
    let short = name.rsplit('/').next().unwrap_or(name);
    let mut of = vec![("name", short.to_string()), ("filename", name.to_string())];
    of.extend(rates(source.line_rate(), source.branch_rate()));
    element(xml, "class", &of, |xml| {
        element(xml, "methods", &[], |xml| methods(xml, source))?;
        element(xml, "lines", &[], |xml| {
            let mut lines = source.lines();
            lines.try_for_each(|(number, hits)| {
                line(xml, number, hits, source.branches.get(&number))
            })
        })
    })
}

/// Functions, each with the line that it begins at and how often it was entered.
fn methods(xml: &mut Xml, source: &SourceFile) -> io::Result<()> {
    for (symbol, function) in source.functions_in_order() {
        let (number, entered) = (function.line, function.entered);
        let entries = Rate::count_ran(std::iter::once(entered > 0));
        let mut of = vec![
            ("name", readable_name(symbol).into_owned()),
            ("signature", symbol.to_string()),
        ];
        of.extend(rates(entries, Rate::default()));
        element(xml, "method", &of, |xml| {
            element(xml, "lines", &[], |xml| line(xml, number, entered, None))
        })?;
    }
    Ok(())
}

fn line(
    xml: &mut Xml,
    number: u32,
    hits: u64,
    branches: Option<&Vec<Vec<Option<u64>>>>,
) -> io::Result<()> {
    let mut of = vec![("number", number.to_string()), ("hits", hits.to_string())];
    let Some(branches) = branches else {
        of.push(("branch", "false".into()));
        return write_empty_element(xml, "line", &of);
    };
    let percent = |rate: Rate| format!("{}%", rate.ran * 100 / rate.all.max(1));
    let all = ways(branches);
    of.push(("branch", "true".into()));
    let covered = format!("{} ({}/{})", percent(all), all.ran, all.all);
    of.push(("condition-coverage", covered));
    element(xml, "line", &of, |xml| {
        element(xml, "conditions", &[], |xml| {
            for (i, branch) in branches.iter().enumerate() {
                let kind = if branch.len() > 2 { "switch" } else { "jump" };
                let of = [
                    ("number", i.to_string()),
                    ("type", kind.to_string()),
                    ("coverage", percent(ways(std::slice::from_ref(branch)))),
                ];
                write_empty_element(xml, "condition", &of)?;
            }
            Ok(())
        })
    })
}
