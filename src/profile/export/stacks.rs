//! A path as a stack: the function, where the path starts, then its blocks with the ways taken.

use crate::dag::PathStart;
use crate::ir::Loc;
use crate::profile::report::{Line, Report};

/// One frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// What to show.
    pub name: String,
    /// Where it is, with debug information.
    pub loc: Option<Loc>,
}

/// The frames of a path, outermost first.
pub fn frames(report: &Report, line: &Line) -> Vec<Frame> {
    let (profile, entry) = (report.profile, report.profile.entry(line.func));
    let name = profile.name(line.func);
    let loc = entry.loc;
    let mut frames = vec![Frame { name, loc }];
    if line.path.start == PathStart::Loop {
        let name = format!("loop b{}", line.path.blocks[0]);
        frames.push(Frame { name, loc: None });
    }
    let mut decisions = line.decisions.iter().peekable();
    for &b in &line.path.blocks {
        let position = entry.lines.get(b.index()).and_then(|l| l.chunks(3).last());
        let loc = position.map(|p| Loc {
            file: p[0],
            line: p[1],
        });
        let mut name = match loc {
            Some(loc) => {
                let file = &profile.manifest.files[loc.file as usize];
                let short = file.rsplit('/').next().unwrap_or(file);
                format!("{short}:{}", loc.line)
            }
            None => format!("b{b}"),
        };
        if let Some(d) = decisions.next_if(|d| d.block == b) {
            name += &format!(" {}", d.taken);
        }
        frames.push(Frame { name, loc });
    }
    frames
}
