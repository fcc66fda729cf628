//! speedscope's own file format: the paths as sampled stacks, weighed by counts and by instructions.

use super::stacks::{Frame, frames};
use super::{Asked, Export};
use crate::base::error::Result;
use crate::profile::Profile;
use crate::read::report::Report;
use serde::Serialize;
use std::collections::HashMap;

/// Paths as stacks, for speedscope.
pub(super) struct Speedscope;

impl Export for Speedscope {
    const NAME: &'static str = "speedscope";
    const ABOUT: &'static str = "speedscope: a path as a stack of its blocks";
    type View<'a> = Report<'a>;

    fn write(report: &Report, _: Asked) -> Result<Vec<u8>> {
        Ok(render(report).into())
    }

    const UNFIT: Option<&'static str> = None;
}

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: String,
    #[serde(rename = "activeProfileIndex")]
    active: usize,
    shared: Shared<'a>,
    profiles: [Sampled<'a>; 2],
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<SharedFrame<'a>>,
}

#[derive(Serialize)]
struct SharedFrame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
struct Sampled<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    unit: &'static str,
    #[serde(rename = "startValue")]
    start: u64,
    #[serde(rename = "endValue")]
    end: f64,
    samples: &'a [Vec<usize>],
    weights: Vec<f64>,
}

/// Frames by number, each once.
#[derive(Default)]
struct Frames {
    numbers: HashMap<Frame, usize>,
    known: Vec<Frame>,
}

impl Frames {
    fn number(&mut self, frame: Frame) -> usize {
        *self.numbers.entry(frame.clone()).or_insert_with(|| {
            self.known.push(frame);
            self.known.len() - 1
        })
    }

    fn stack(&mut self, frames: Vec<Frame>) -> Vec<usize> {
        frames.into_iter().map(|f| self.number(f)).collect()
    }
}

/// Every path, twice: by how often it ran, and by the instructions executed on it.
fn render(report: &Report) -> String {
    let mut known = Frames::default();
    let stack = |line| known.stack(frames(report, line));
    let samples: Vec<Vec<usize>> = report.lines.iter().map(stack).collect();
    // Numbers are doubles to whoever reads this.
    let counts: Vec<f64> = report.lines.iter().map(|l| l.count as f64).collect();
    let lines = report.lines.iter();
    let instructions = lines.map(|l| l.count as f64 * l.instructions as f64);
    let weights = [
        ("paths executed", counts),
        ("LLVM instructions", instructions.collect()),
    ];
    file(report.profile, &known, &samples, weights)
}

/// Stacks, which weigh something in two ways, each with its name.
#[cfg_attr(
    not(feature = "estimates"),
    allow(dead_code, reason = "only estimates use it")
)]
pub(crate) fn render_stacks(
    profile: &Profile,
    stacks: impl IntoIterator<Item = Vec<Frame>>,
    weights: [(&'static str, Vec<f64>); 2],
) -> String {
    let mut known = Frames::default();
    let samples: Vec<Vec<usize>> = stacks.into_iter().map(|s| known.stack(s)).collect();
    file(profile, &known, &samples, weights)
}

fn file(
    profile: &Profile,
    frames: &Frames,
    samples: &[Vec<usize>],
    weights: [(&'static str, Vec<f64>); 2],
) -> String {
    let files = &profile.manifest.files;
    let shared = frames.known.iter().map(|f| SharedFrame {
        name: &f.name,
        file: f.loc.map(|l| files[l.file as usize].as_str()),
        line: f.loc.map(|l| l.line),
    });
    let sampled = |(name, weights): (&'static str, Vec<f64>)| Sampled {
        kind: "sampled",
        name,
        unit: "none",
        start: 0,
        end: weights.iter().sum(),
        samples,
        weights,
    };
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: concat!("p3-prof ", env!("CARGO_PKG_VERSION")),
        name: profile.path.display().to_string(),
        active: 0,
        shared: Shared {
            frames: shared.collect(),
        },
        profiles: weights.map(sampled),
    };
    serde_json::to_string(&file).expect("a report serialises") + "\n"
}
