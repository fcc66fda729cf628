//! A path as a stack: the function, where the path starts, then its blocks with the ways taken. A sampled subpath as one: its length, then its blocks.

use crate::dag::PathStart;
use crate::ir::Loc;
use crate::names::shown;
use crate::report::text::short;
use crate::report::{Line, Report};
use crate::sampling::report::{Piece, ProgramBlock, Report as SampledReport, Row, fold};

/// One frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    /// What to show.
    pub name: String,
    /// Where it is, with debug information.
    pub loc: Option<Loc>,
}

/// The frames of a path, outermost first. A block is named by its function, the one that its code was inlined from, and by its line: what is one place in
/// several paths is one frame, and tells tools that add up frames whose it is.
pub(super) fn frames(report: &Report, line: &Line) -> Vec<Frame> {
    let (profile, entry) = (report.profile, report.profile.entry(line.func));
    let name = profile.name(line.func);
    let loc = entry.loc;
    let mut frames = vec![Frame { name, loc }];
    if line.path.start == PathStart::Loop {
        let name = format!("loop b{}", line.path.blocks[0]);
        frames.push(Frame { name, loc: None });
    }
    for step in line.steps(profile) {
        let span = entry.spans(step.block).next_back();
        let inlined = span.and_then(|s| s.inlined);
        let calls = &profile.manifest.inlined;
        let function = inlined.map_or_else(
            || profile.name(line.func),
            |call| shown(&calls[call as usize].function),
        );
        let mut name = match step.loc {
            Some(loc) => format!("{function}:{}", loc.line),
            None => format!("{function} b{}", step.block),
        };
        if let Some(taken) = step.taken {
            name += &format!(" {taken}");
        }
        let loc = step.loc;
        frames.push(Frame { name, loc });
    }
    frames
}

/// Repetitions in subpaths of more blocks are one frame.
const PLAIN: usize = 256;

/// The frames of a sampled subpath, its first block outermost. All of one length have a frame in common: of these stacks the
/// ones that begin alike stand for the executions of what they have in common.
pub(super) fn sampled_frames(report: &SampledReport, row: &Row) -> Vec<Frame> {
    let name = format!("{} blocks", row.places.len());
    let mut frames = vec![Frame { name, loc: None }];
    if row.places.len() <= PLAIN {
        frames.extend(row.places.iter().map(|p| sampled_frame(report, p)));
        return frames;
    }
    for piece in fold(&row.places) {
        match piece {
            Piece::Once(places) => frames.extend(places.iter().map(|p| sampled_frame(report, p))),
            Piece::Times(places, times) => {
                let each: Vec<Frame> = places.iter().map(|p| sampled_frame(report, p)).collect();
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
fn sampled_frame(report: &SampledReport, place: &ProgramBlock) -> Frame {
    let profile = report.profile.profile;
    let loc = profile
        .entry(place.func)
        .spans(place.block)
        .next()
        .map(|s| s.loc);
    let mut name = format!("{} b{}", profile.name(place.func), place.block);
    if let Some(loc) = loc {
        let file = short(&profile.manifest.files[loc.file as usize]);
        name += &format!(" {file}:{}", loc.line);
    }
    Frame { name, loc }
}
