//! speedscope's own file format: the paths as sampled stacks, weighed by counts and by instructions.

use super::stacks::{Frame, frames};
use super::{Asked, Export};
use crate::error::Result;
use crate::profile::report::Report;
use serde::Serialize;
use std::collections::HashMap;

/// See [`Export::ABOUT`].
pub(super) struct Speedscope;

impl Export for Speedscope {
    const NAME: &'static str = "speedscope";
    const ABOUT: &'static str = "speedscope: a path as a stack of its blocks";
    type View<'a> = Report<'a>;

    fn write(report: &Report, _: Asked) -> Result<Vec<u8>> {
        Ok(render(report).into())
    }
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

/// Every path, twice: by how often it ran, and by the instructions executed on it.
fn render(report: &Report) -> String {
    let mut numbers: HashMap<Frame, usize> = HashMap::new();
    let mut known: Vec<Frame> = Vec::new();
    let mut number = |frame: Frame| {
        *numbers.entry(frame.clone()).or_insert_with(|| {
            known.push(frame);
            known.len() - 1
        })
    };
    let stack = |line| frames(report, line).into_iter().map(&mut number).collect();
    let samples: Vec<Vec<usize>> = report.lines.iter().map(stack).collect();
    let files = &report.profile.manifest.files;
    let shared = known.iter().map(|f| SharedFrame {
        name: &f.name,
        file: f.loc.map(|l| files[l.file as usize].as_str()),
        line: f.loc.map(|l| l.line),
    });
    // Numbers are doubles to whoever reads this.
    let counts: Vec<f64> = report.lines.iter().map(|l| l.count as f64).collect();
    let lines = report.lines.iter();
    let instructions = lines.map(|l| l.count as f64 * l.instructions as f64);
    let sampled = |name, weights: Vec<f64>| Sampled {
        kind: "sampled",
        name,
        unit: "none",
        start: 0,
        end: weights.iter().sum(),
        samples: &samples,
        weights,
    };
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: concat!("p3-prof ", env!("CARGO_PKG_VERSION")),
        name: report.profile.path.display().to_string(),
        active: 0,
        shared: Shared {
            frames: shared.collect(),
        },
        profiles: [
            sampled("paths executed", counts),
            sampled("LLVM instructions", instructions.collect()),
        ],
    };
    serde_json::to_string(&file).expect("a report serialises") + "\n"
}
