//! pprof: a gzipped protocol buffer (`profile.proto`). Samples are the lines of paths: instructions by line,
//! executions of a path at its first line, and a label that names the path.
#![cfg_attr(
    not(feature = "estimates"),
    allow(dead_code, reason = "only estimates use all of it")
)]

use super::stacks::Frame;
use super::{Asked, Export};
use crate::base::error::Result;
use crate::base::index::FuncId;
use crate::base::names::{escape_unprintable, printed_name};
use crate::input::ir::Loc;
use crate::profile::Profile;
use crate::read::analysis::samples::messages::{
    File, Function, Label, Location, Sample, SourceLine, ValueType,
};
use crate::read::report::{Line, Report};
use flate2::{Compression, GzBuilder};
use prost::Message;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;

/// Paths and instructions by line, for pprof.
pub(super) struct Pprof;

impl Export for Pprof {
    const NAME: &'static str = "pprof";
    const ABOUT: &'static str = "pprof: paths and instructions by line, the path as a label";
    type View<'a> = Report<'a>;

    fn write(report: &Report, _: Asked) -> Result<Vec<u8>> {
        Ok(render(report))
    }

    const UNFIT: Option<&'static str> = None;
}

/// A source position, and the inlined call that it is in.
type InlinedLoc = (Loc, Option<u32>);

/// The file in the making; ids are positions counted from 1.
#[derive(Default)]
struct Tables {
    file: File,
    strings: HashMap<String, i64>,
    functions: HashMap<(String, Option<u32>), u64>,
    locations: HashMap<(FuncId, Option<InlinedLoc>), u64>,
    frames: HashMap<Frame, u64>,
}

/// Every path.
fn render(report: &Report) -> Vec<u8> {
    let mut tables = Tables::new(["paths", "instructions"], "instructions");
    for line in &report.lines {
        tables.path(report, line);
    }
    compress_file(&tables.file)
}

/// A sample that is a stack of blocks, innermost last.
pub(crate) struct Stack {
    pub frames: Vec<Frame>,
    pub values: [i64; 2],
    /// Its name, and what it says.
    pub label: (&'static str, String),
}

/// The file of stacks with these values, of which the first is shown first.
pub(crate) fn render_stacks(
    profile: &Profile,
    values: [&str; 2],
    stacks: impl IntoIterator<Item = Stack>,
) -> Vec<u8> {
    let mut tables = Tables::new(values, values[0]);
    for stack in stacks {
        tables.stack(profile, stack);
    }
    compress_file(&tables.file)
}

fn compress_file(file: &File) -> Vec<u8> {
    let bytes = file.encode_to_vec();
    let mut gzip = GzBuilder::new()
        .comment("p3-prof")
        .write(Vec::new(), Compression::default());
    gzip.write_all(&bytes).expect("memory takes everything");
    gzip.finish().expect("memory takes everything")
}

impl Tables {
    /// Of samples with these values, the `default` one of which is shown first.
    fn new(values: [&str; 2], default: &str) -> Tables {
        let mut tables = Tables::default();
        assert_eq!(tables.string(""), 0);
        let types = values.map(|value| tables.value_type(value, "count"));
        tables.file.sample_type = types.into();
        tables.file.default_sample_type = tables.string(default);
        tables
    }

    fn string(&mut self, text: &str) -> i64 {
        if let Some(&id) = self.strings.get(text) {
            return id;
        }
        let id = self.file.string_table.len() as i64;
        self.file.string_table.push(text.to_string());
        self.strings.insert(text.to_string(), id);
        id
    }

    fn value_type(&mut self, kind: &str, unit: &str) -> ValueType {
        ValueType {
            kind: self.string(kind),
            unit: self.string(unit),
        }
    }

    fn path(&mut self, report: &Report, line: &Line) {
        let entry = report.profile.entry(line.func);
        let spans = line.path.blocks.iter().flat_map(|b| entry.spans(*b));
        // Positions in order of their first instruction, with the instructions at each.
        let mut order: BTreeMap<usize, (Option<InlinedLoc>, u64)> = BTreeMap::new();
        let mut first: HashMap<InlinedLoc, usize> = HashMap::new();
        for span in spans {
            let at = (span.loc, span.inlined);
            let place = *first.entry(at).or_insert(order.len());
            order.entry(place).or_insert((Some(at), 0)).1 += u64::from(span.instructions);
        }
        let placed: u64 = order.values().map(|p| p.1).sum();
        if placed < line.instructions {
            let rest = line.instructions - placed;
            order.insert(order.len(), (entry.loc.map(|l| (l, None)), rest));
        }
        let key = self.string("path");
        let text = self.string(&format!("{} #{}", escape_unprintable(&entry.name), line.id));
        for (i, (place, instructions)) in order.into_values().enumerate() {
            let location = self.location(report.profile, line.func, place);
            let executed = u128::from(line.count) * u128::from(instructions);
            let paths = if i == 0 { line.count } else { 0 };
            self.file.sample.push(Sample {
                location_id: vec![location],
                value: vec![
                    i64::try_from(paths).unwrap_or(i64::MAX),
                    i64::try_from(executed).unwrap_or(i64::MAX),
                ],
                label: vec![Label { key, text }],
            });
        }
    }

    fn stack(&mut self, profile: &Profile, stack: Stack) {
        let frames = stack.frames.into_iter().rev();
        let location_id = frames.map(|f| self.frame(profile, f)).collect();
        let (key, text) = stack.label;
        let key = self.string(key);
        let text = self.string(&text);
        self.file.sample.push(Sample {
            location_id,
            value: stack.values.into(),
            label: vec![Label { key, text }],
        });
    }

    /// The location of a frame: a function of its own, since blocks of one line are several.
    fn frame(&mut self, profile: &Profile, frame: Frame) -> u64 {
        if let Some(&id) = self.frames.get(&frame) {
            return id;
        }
        let (id, loc) = (self.file.location.len() as u64 + 1, frame.loc);
        let filename = loc.map_or("", |l| &profile.manifest.files[l.file as usize]);
        let name = self.string(&frame.name);
        let function = Function {
            id,
            name,
            system_name: name,
            filename: self.string(&escape_unprintable(filename)),
            start_line: 0,
        };
        self.file.function.push(function);
        let id = self.add_location(id, loc);
        self.frames.insert(frame, id);
        id
    }

    /// The location of a place in function `f`: a line of each function that it was inlined from, the innermost first.
    fn location(&mut self, profile: &Profile, f: FuncId, place: Option<InlinedLoc>) -> u64 {
        if let Some(&id) = self.locations.get(&(f, place)) {
            return id;
        }
        let mut lines = Vec::new();
        let (mut at, mut inlined) = place.map_or((None, None), |(loc, call)| (Some(loc), call));
        while let Some(call) = inlined.map(|n| &profile.manifest.inlined[n as usize]) {
            lines.push(self.line(profile, &call.function, at, None));
            let (file, line) = (call.file, call.line);
            at = Some(Loc { file, line });
            inlined = call.within;
        }
        let entry = profile.entry(f);
        lines.push(self.line(profile, &entry.name, at, entry.loc));
        let id = self.file.location.len() as u64 + 1;
        self.file.location.push(Location {
            id,
            line: lines,
            mapping_id: 0,
        });
        self.locations.insert((f, place), id);
        id
    }

    /// A line of the function with a symbol, which begins at `begins` if that is known.
    fn line(
        &mut self,
        profile: &Profile,
        symbol: &str,
        at: Option<Loc>,
        begins: Option<Loc>,
    ) -> SourceLine {
        SourceLine {
            function_id: self.function(profile, symbol, at.map(|l| l.file), begins),
            line: at.map_or(0, |l| i64::from(l.line)),
        }
    }

    fn add_location(&mut self, function_id: u64, loc: Option<Loc>) -> u64 {
        let id = self.file.location.len() as u64 + 1;
        let line = loc.map_or(0, |l| i64::from(l.line));
        self.file.location.push(Location {
            id,
            line: vec![SourceLine { function_id, line }],
            mapping_id: 0,
        });
        id
    }

    /// A function once for each file that its lines are in.
    fn function(
        &mut self,
        profile: &Profile,
        symbol: &str,
        file: Option<u32>,
        begins: Option<Loc>,
    ) -> u64 {
        let key = (symbol.to_string(), file);
        if let Some(&id) = self.functions.get(&key) {
            return id;
        }
        let begins = begins.filter(|l| Some(l.file) == file);
        let id = self.file.function.len() as u64 + 1;
        let filename = file.map_or("", |f| &profile.manifest.files[f as usize]);
        let function = Function {
            id,
            name: self.string(&printed_name(symbol)),
            system_name: self.string(&escape_unprintable(symbol)),
            filename: self.string(&escape_unprintable(filename)),
            start_line: begins.map_or(0, |l| i64::from(l.line)),
        };
        self.file.function.push(function);
        self.functions.insert(key, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::filter::Selection;
    use crate::profile::tests::views;
    use crate::read::report::export::Weigh;
    use std::io::Read;

    /// The samples as `function (file:line of its beginning) line: paths, instructions, label`.
    fn describe_samples(file: &File) -> String {
        let text = |id: i64| &file.string_table[id as usize];
        let sample = |s: &Sample| {
            let [location] = s.location_id[..] else {
                panic!("a path is no stack")
            };
            let location = &file.location[location as usize - 1];
            let line = &location.line[0];
            let function = &file.function[line.function_id as usize - 1];
            let label = &s.label[0];
            format!(
                "{} {} ({}:{}) {}: {:?}, {} {}\n",
                text(function.name),
                text(function.system_name),
                text(function.filename),
                function.start_line,
                line.line,
                s.value,
                text(label.key),
                text(label.text),
            )
        };
        file.sample.iter().map(sample).collect()
    }

    #[test]
    fn samples() {
        let p = views::profile();
        let selection = Selection {
            top: Some(7),
            ..Selection::default()
        };
        let bytes = Pprof::write(
            &Report::new(p.paths().unwrap(), &selection).unwrap(),
            Asked {
                weigh: Weigh::Paths,
                all: false,
                mcdc: None,
            },
        );
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&bytes.unwrap()[..])
            .read_to_end(&mut plain)
            .unwrap();
        let file = File::decode(&plain[..]).unwrap();
        let text = |id: i64| file.string_table[id as usize].as_str();
        assert_eq!(text(0), "");
        let types = file
            .sample_type
            .iter()
            .map(|t| (text(t.kind), text(t.unit)));
        assert_eq!(
            types.collect::<Vec<_>>(),
            [("paths", "count"), ("instructions", "count")]
        );
        assert_eq!(text(file.default_sample_type), "instructions");
        // Each once, by ids in order.
        let ids = |n: usize| (1..=n as u64).collect::<Vec<_>>();
        let functions: Vec<u64> = file.function.iter().map(|f| f.id).collect();
        let locations: Vec<u64> = file.location.iter().map(|l| l.id).collect();
        assert_eq!(functions, ids(4));
        assert_eq!(locations, ids(11));
        views::snapshot("made-pprof", &[("samples", describe_samples(&file))]);
    }
}
