//! The figures, as they are kept in `results.json`.

use crate::shadows::data::Shadows;
use crate::subpaths::data::Subpaths;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;
use wait4::Wait4;

/// Everything that was measured. An older `p3-bench` would drop what it does not know, so it refuses.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Results {
    pub programs: Measurements<Program>,
    pub rewriting: Measurements<Rewriting>,
    #[serde(default)]
    pub schemes: Measurements<Schemes>,
    pub edges: Measurements<Edges>,
    pub shadows: Option<Shadows>,
    pub subpaths: Option<Subpaths>,
}

/// What was measured of several things, at one time.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Measurements<T> {
    pub machine: String,
    pub date: String,
    pub of: BTreeMap<String, T>,
}

impl<T> Default for Measurements<T> {
    fn default() -> Self {
        Measurements {
            machine: String::new(),
            date: String::new(),
            of: BTreeMap::new(),
        }
    }
}

impl<T> Measurements<T> {
    /// Keeps it, with the machine and the day.
    pub(crate) fn keep(&mut self, name: String, measured: T) -> Result<()> {
        self.machine = this_machine();
        self.date = this_day()?;
        self.of.insert(name, measured);
        Ok(())
    }

    /// The line that says where and when, of what `p3-bench` command.
    pub(crate) fn made_by(&self, command: &str) -> String {
        let Measurements { machine, date, .. } = self;
        format!("`p3-bench {command}`, {date}, {machine}")
    }
}

/// One program.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Program {
    /// `p3-prof simulate`: by scheme and k, hits of each copy.
    pub hits: BTreeMap<String, Hits>,
    /// Instructions of `main` and all that it calls, by variant (`native`, `native translated`, `edge`, `sbl`,
    /// `p3-hot 4`, …) and copy.
    pub instructions: BTreeMap<String, Vec<u64>>,
    /// What was timed.
    pub times: Times,
    /// Functions: exact, cut, skipped.
    pub functions: String,
    /// Paths executed and distinct ones.
    pub paths: String,
}

/// Times of a program.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Times {
    pub rounds: usize,
    /// By variant: the slowest copy, with its code at several positions.
    pub runs: BTreeMap<String, Vec<Run>>,
    /// Variants whose output was not the original's.
    pub differing: Vec<String>,
}

/// One executable, medians over its runs.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Seconds.
    pub wall: f64,
    /// Seconds of user and system time.
    pub cpu: f64,
    /// Largest resident set in bytes.
    pub memory: u64,
    /// Bytes of code and constants, of data, of zeros.
    pub text: u64,
    pub data: u64,
    pub bss: u64,
    /// Between which half of the wall and CPU times lay; equal to them where they ran once.
    pub wall_quartiles: [f64; 2],
    pub cpu_quartiles: [f64; 2],
}

/// Edge profiling of one program, and the program rebuilt with profiles of its training input.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Edges {
    pub rounds: usize,
    /// `native` and, with profiling added, `llvm` (edges), `edge` and `sbl` (paths); `plain` from the front end's
    /// output and, with a profile, `annotated`, `proftext` and `pgo` (LLVM's own).
    pub runs: BTreeMap<String, Run>,
    /// How much of the paths edge counts tell: right, overlap, definite.
    pub accuracy: Vec<f64>,
    /// Variants whose output was not the original's.
    pub differing: Vec<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Hits {
    pub labels: Vec<u64>,
    pub probes: Vec<u64>,
    /// Of the probes, about.
    pub instructions: Vec<u64>,
}

/// Rewriting one module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rewriting {
    pub bytes: u64,
    pub blocks: u64,
    /// `opt -passes=pgo-instr-gen,instrprof`.
    pub opt: Cost,
    /// `p3-rewrite -k`, by k.
    pub p3: BTreeMap<u32, Cost>,
}

/// Rewriting one module under several schemes, once each.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Schemes {
    /// `opt -passes='default<O2>'`.
    pub opt: Cost,
    /// By scheme.
    pub p3: BTreeMap<String, Cost>,
}

/// Medians.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// Seconds.
    pub wall: f64,
    /// Seconds of user and system time.
    pub cpu: f64,
    /// Largest resident set in bytes.
    pub memory: u64,
}

impl Cost {
    /// Runs a command to its end; how it ended is the caller's business.
    pub(crate) fn of(command: &mut Command) -> Result<(Cost, ExitStatus)> {
        let start = Instant::now();
        let child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn();
        let used = child.with_context(|| format!("{command:?}"))?.wait4()?;
        let cost = Cost {
            wall: start.elapsed().as_secs_f64(),
            cpu: (used.rusage.utime + used.rusage.stime).as_secs_f64(),
            memory: used.rusage.maxrss,
        };
        Ok((cost, used.status))
    }

    /// The median of each figure.
    pub(crate) fn median(costs: &[Cost]) -> Cost {
        let times = |f: fn(&Cost) -> f64| costs.iter().map(f).collect::<Vec<_>>();
        let memories: Vec<u64> = costs.iter().map(|c| c.memory).collect();
        Cost {
            wall: median(&times(|c| c.wall), f64::total_cmp),
            cpu: median(&times(|c| c.cpu), f64::total_cmp),
            memory: median(&memories, u64::cmp),
        }
    }
}

impl Results {
    /// What was measured before, if anything.
    pub(crate) fn load(out: &Path) -> Result<Results> {
        let file = out.join("results.json");
        if !file.exists() {
            return Ok(Results::default());
        }
        let text = std::fs::read_to_string(&file)?;
        serde_json::from_str(&text).with_context(|| format!("{}", file.display()))
    }

    /// Keeps it.
    pub(crate) fn write(&self, out: &Path) -> Result<()> {
        let text = serde_json::to_string(self)? + "\n";
        std::fs::write(out.join("results.json.new"), text)?;
        std::fs::rename(out.join("results.json.new"), out.join("results.json"))?;
        Ok(())
    }
}

/// The day in UTC, as in 2026-01-31.
pub(crate) fn this_day() -> Result<String> {
    let day = String::from_utf8(crate::build::output("date", &["-u", "+%Y-%m-%d"])?)?;
    Ok(day.trim().into())
}

/// The processor and the number of its cores.
pub(crate) fn this_machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = cpu.lines().find(|l| l.starts_with(name))?;
        Some(line.split(':').nth(1)?.trim().to_string())
    };
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let family = field("cpu family").unwrap_or_default();
    let model = field("model name").unwrap_or("unknown".into());
    format!("{model} (family {family}), {cores} cores")
}

/// The values at a quarter and at three quarters of the sorted ones.
pub(crate) fn quartiles(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len() - 1;
    [sorted[last / 4], sorted[last - last / 4]]
}

/// The middle value; of an even number the lower one.
fn median<T: Copy>(values: &[T], order: impl Fn(&T, &T) -> std::cmp::Ordering) -> T {
    let mut sorted = values.to_vec();
    sorted.sort_by(order);
    sorted[(sorted.len() - 1) / 2]
}
