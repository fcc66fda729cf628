//! A path as a stack: the function, where the path starts, then its blocks with the ways taken.

use crate::base::names::printed_name;
use crate::input::ir::Loc;
use crate::paths::dag::PathStart;
use crate::read::report::{Line, Report};

/// One frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    /// What to show.
    pub name: String,
    /// Where it is, with debug information.
    pub loc: Option<Loc>,
}

/// The frames of a path, outermost first. A block is named by its function, the one that its code was inlined from, and
/// by its line: what is one place in several paths is one frame, and tells tools that add up frames whose it is.
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
            |call| printed_name(&calls[call as usize].function),
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
