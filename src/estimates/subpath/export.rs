//! Samples of subpaths in the formats of other tools, with the errors of their estimates: as stacks of blocks, or as
//! they are shown.

use super::report::{Piece, ProgramBlock, Report, SubpathRow, csv, fold, json};
use crate::base::error::{Error, Result};
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::read::report::export::pprof::{self, Stack};
use crate::read::report::export::speedscope;
use crate::read::report::export::stacks::Frame;
use crate::read::report::export::{EXPORTERS, Exporter, Written};
use crate::read::report::positions::base_name;
use crate::read::source::Sources;

type ReportWriter = fn(&Report) -> Vec<u8>;

/// Who writes a sample, by the name of the format: those of [`EXPORTERS`] that take one.
const WRITERS: [(&str, ReportWriter); 4] = [
    ("pprof", render_pprof),
    ("speedscope", render_speedscope),
    ("csv", |report| csv(report).into()),
    ("json", |report| json(report).into()),
];

/// The profile, which is one of sampled subpaths, in a format.
///
/// # Errors
/// Formats of what does not follow from samples.
pub(crate) fn write(
    exporter: &Exporter,
    profile: &Profile,
    selection: &Selection,
    sources: Sources,
) -> Result<Written> {
    if let Some(reason) = exporter.unfit {
        let problem = format!("no {} of sampled subpaths: {reason}", exporter.name);
        let fit = EXPORTERS.iter().filter(|e| e.unfit.is_none());
        let fit: Vec<&str> = fit.map(|e| e.name).collect();
        let remedy = format!(
            "export it as {}, or profile by another scheme",
            fit.join(", ")
        );
        return Err(Error::profile(&profile.path, problem, remedy));
    }
    let report = Report::new(profile.as_sampled()?, selection);
    let report = report.with_sources(sources);
    let mut writers = WRITERS.iter();
    let (_, write) = writers
        .find(|(name, _)| *name == exporter.name)
        .expect("every format that takes samples has one");
    Ok(write(&report).into())
}

fn render_pprof(report: &Report) -> Vec<u8> {
    let stack = |row: &SubpathRow| Stack {
        frames: frames(report, row),
        values: [
            row.estimate.count.round() as i64,
            row.estimate.half_width.ceil() as i64,
        ],
        label: ("blocks", row.places.len().to_string()),
    };
    let stacks = report.rows.iter().map(stack);
    pprof::render_stacks(report.profile.profile, ["subpaths", "half_width"], stacks)
}

/// Twice: by how often a subpath ran, which is estimated, and by the error of that.
fn render_speedscope(report: &Report) -> Vec<u8> {
    let rows = report.rows.iter();
    let counts = rows.clone().map(|r| r.estimate.count).collect();
    let errors = rows.clone().map(|r| r.estimate.half_width).collect();
    let weights = [
        ("subpaths executed, estimated", counts),
        ("± half of the 95 % interval", errors),
    ];
    let stacks = rows.map(|row| frames(report, row));
    speedscope::render_stacks(report.profile.profile, stacks, weights).into()
}

/// Repetitions in subpaths of more blocks are one frame.
const PLAIN: usize = 256;

/// The frames of a sampled subpath, its first block outermost. All of one length have a frame in common: of these
/// stacks the ones that begin alike stand for the executions of what they have in common.
fn frames(report: &Report, row: &SubpathRow) -> Vec<Frame> {
    let name = format!("{} blocks", row.places.len());
    let mut frames = vec![Frame { name, loc: None }];
    if row.places.len() <= PLAIN {
        frames.extend(row.places.iter().map(|p| frame(report, p)));
        return frames;
    }
    for piece in fold(&row.places) {
        match piece {
            Piece::Once(places) => frames.extend(places.iter().map(|p| frame(report, p))),
            Piece::Times(places, times) => {
                let each: Vec<Frame> = places.iter().map(|p| frame(report, p)).collect();
                let names: Vec<&str> = each.iter().map(|f| f.name.as_str()).collect();
                let name = format!("({})×{times}", names.join(" "));
                let loc = each[0].loc;
                frames.push(Frame { name, loc });
            }
        }
    }
    frames
}

/// The function, the block and its first line.
fn frame(report: &Report, place: &ProgramBlock) -> Frame {
    let profile = report.profile.profile;
    let loc = profile
        .entry(place.func)
        .spans(place.block)
        .next()
        .map(|s| s.loc);
    let mut name = format!("{} b{}", profile.name(place.func), place.block);
    if let Some(loc) = loc {
        let file = base_name(&profile.manifest.files[loc.file as usize]);
        name += &format!(" {file}:{}", loc.line);
    }
    Frame { name, loc }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_take_samples_have_writers() {
        let fit = EXPORTERS.iter().filter(|e| e.unfit.is_none());
        let mut fit: Vec<&str> = fit.map(|e| e.name).collect();
        let mut writers = WRITERS.map(|(name, _)| name);
        fit.sort_unstable();
        writers.sort_unstable();
        assert_eq!(fit, writers);
    }
}
