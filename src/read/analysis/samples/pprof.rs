//! Samples in profiles of pprof.

use super::messages::{File, Location};
use super::{Amount, Sampled, Samples, Tally};
use flate2::read::GzDecoder;
use prost::Message;
use std::collections::HashMap;
use std::io::{self, Read};

/// No profile is longer, unpacked: what is would be no profile, or not fit into memory in pieces.
const LONGEST: u64 = 64 << 20;

/// Why a file cannot be read as a profile of pprof.
#[derive(Debug, thiserror::Error)]
pub enum PprofProblem {
    /// It cannot be unpacked.
    #[error("damaged gzip data ({0})")]
    NotGzip(io::Error),
    /// It unpacks to more than is read.
    #[error("more than 64 MiB unpacked")]
    TooLong,
    /// What was unpacked does not follow pprof's schema.
    #[error("no profile of pprof")]
    NotPprof(#[source] prost::DecodeError),
}

pub(super) fn samples(bytes: &[u8]) -> Result<Samples, PprofProblem> {
    let file = decode(bytes)?;
    let value = value(&file);
    let locations: HashMap<u64, &Location> = file.location.iter().map(|l| (l.id, l)).collect();
    let functions: HashMap<u64, (i64, i64)> = {
        let functions = file.function.iter();
        let name = |f: i64, otherwise: i64| if f == 0 { otherwise } else { f };
        functions
            .map(|f| (f.id, (name(f.system_name, f.name), f.filename)))
            .collect()
    };
    let images: HashMap<u64, i64> = file.mapping.iter().map(|m| (m.id, m.filename)).collect();
    let text = |id: i64| text(&file, id).to_string();
    let counts = counts(&file);
    let mut tally = Tally::default();
    let mut skipped = 0;
    for sample in &file.sample {
        let leaf = sample.location_id.first().and_then(|l| locations.get(l));
        let weight = sample.value.get(value).copied().unwrap_or(0);
        let (Some(leaf), Ok(weight @ 1..)) = (leaf, u64::try_from(weight)) else {
            skipped += 1;
            continue;
        };
        // The last line is that of the function into which the others are inlined.
        let function = leaf.line.last().and_then(|l| functions.get(&l.function_id));
        let inner = leaf.line.first();
        let inner = inner.and_then(|l| Some((functions.get(&l.function_id)?.1, l.line)));
        let line = inner.and_then(|(file, line)| {
            let line = u32::try_from(line).ok().filter(|&l| l > 0)?;
            Some((text(file), line))
        });
        let place = Sampled {
            symbol: text(function.map_or(0, |f| f.0)),
            image: text(images.get(&leaf.mapping_id).copied().unwrap_or(0)),
            line,
        };
        let number = counts.and_then(|at| sample.value.get(at)).copied();
        let samples = number.and_then(|n| u64::try_from(n).ok()).unwrap_or(1);
        let weight = weight.into();
        tally.add("", place, Amount { samples, weight });
    }
    let event = file.sample_type.get(value).map(|t| text(t.kind));
    Ok(Samples {
        event: event.unwrap_or_default(),
        ..tally.finish(skipped)
    })
}

fn decode(bytes: &[u8]) -> Result<File, PprofProblem> {
    let mut plain = Vec::new();
    let read = GzDecoder::new(bytes)
        .take(LONGEST + 1)
        .read_to_end(&mut plain);
    read.map_err(PprofProblem::NotGzip)?;
    if plain.len() as u64 > LONGEST {
        return Err(PprofProblem::TooLong);
    }
    File::decode(&plain[..]).map_err(PprofProblem::NotPprof)
}

fn text(file: &File, id: i64) -> &str {
    let at = usize::try_from(id).ok();
    at.and_then(|at| file.string_table.get(at))
        .map_or("", |t| t)
}

/// The value that is time: in nanoseconds, or else the default one, or else the last.
fn value(file: &File) -> usize {
    let types = &file.sample_type;
    let kind = |name: &str| types.iter().position(|t| text(file, t.kind) == name);
    let default = types
        .iter()
        .position(|t| file.default_sample_type != 0 && t.kind == file.default_sample_type);
    kind("cpu")
        .or(kind("cycles"))
        .or(default)
        .unwrap_or(types.len().saturating_sub(1))
}

/// The value that says how many samples there were.
fn counts(file: &File) -> Option<usize> {
    let mut types = file.sample_type.iter();
    types.position(|t| text(file, t.kind) == "samples")
}
