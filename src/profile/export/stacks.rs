//! A path as a stack: the function, where the path starts, then its blocks with the ways taken.

use crate::dag::PathStart;
use crate::ir::Loc;
use crate::profile::report::text::short;
use crate::profile::report::{Line, Report};

/// One frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    /// What to show.
    pub name: String,
    /// Where it is, with debug information.
    pub loc: Option<Loc>,
}

/// The frames of a path, outermost first.
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
        let mut name = match step.loc {
            Some(loc) => {
                let file = short(&profile.manifest.files[loc.file as usize]);
                format!("{file}:{}", loc.line)
            }
            None => format!("b{}", step.block),
        };
        if let Some(taken) = step.taken {
            name += &format!(" {taken}");
        }
        let loc = step.loc;
        frames.push(Frame { name, loc });
    }
    frames
}
