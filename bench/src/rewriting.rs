//! Time and memory of p3-rewrite beside `opt` with LLVM's own instrumentation on the same file.

use crate::build::{REWRITE, llvm, output};
use crate::markdown::Table;
use crate::measure::programs;
use crate::results::{Cost, Results, Rewriting};
use crate::section::Section;
use crate::synthetic;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const COPIES: [u32; 5] = [1, 2, 4, 8, 16];

/// Blocks of synthetic modules, and of each of their functions.
const SYNTHETIC: [(&str, usize, usize); 4] = [
    ("10,000 blocks", 10_000, 100),
    ("100,000 blocks", 100_000, 100),
    ("1,000,000 blocks", 1_000_000, 100),
    ("one function of 100,000 blocks", 100_000, 100_000),
];

/// Measures all programs in `folder/prog`, without debug information too, and synthetic modules.
pub(crate) fn all(folder: &Path, out: &Path, rounds: usize, only: &[String]) -> Result<()> {
    let here = out.join("rewriting");
    std::fs::create_dir_all(&here)?;
    let mut modules: Vec<(String, PathBuf)> = Vec::new();
    for (name, program) in programs(folder, only)? {
        let stripped = here.join(format!("{name}.bc"));
        strip(&program.join("prog.bc"), &stripped)?;
        modules.push((format!("{name} -g"), program.join("prog.bc")));
        modules.push((name, stripped));
    }
    if only.is_empty() {
        for (name, blocks, each) in SYNTHETIC {
            let file = here.join(format!("{blocks}-{each}.bc"));
            synthetic::write(&file, blocks, each)?;
            modules.push((name.into(), file));
        }
    }
    for (name, file) in modules {
        let mut results = Results::load(out)?;
        if results.rewriting.of.contains_key(&name) {
            continue;
        }
        eprintln!("{name}: rewriting");
        let measured = measure(&file, &here, rounds)?;
        results.rewriting.keep(name, measured)?;
        results.write(out)?;
    }
    let _ = std::fs::remove_dir_all(here);
    Ok(())
}

/// Drops debug information.
fn strip(from: &Path, to: &Path) -> Result<()> {
    crate::build::run(
        Command::new(llvm("opt"))
            .arg("-passes=verify")
            .arg("-strip-debug")
            .arg(from)
            .arg("-o")
            .arg(to),
    )
}

fn measure(file: &Path, here: &Path, rounds: usize) -> Result<Rewriting> {
    let opt = || {
        let mut command = Command::new(llvm("opt"));
        command.arg("-passes=pgo-instr-gen,instrprof").arg(file);
        command.arg("-o").arg(here.join("edge.bc"));
        command
    };
    let p3 = |k: u32| {
        let mut command = Command::new(&*REWRITE);
        command.args(["-q", "-k", &k.to_string(), "-o"]);
        command.arg(here.join("copies")).arg(file);
        command
    };
    let (mut of_opt, mut of_p3) = (Vec::new(), vec![Vec::new(); COPIES.len()]);
    for _ in 0..rounds {
        of_opt.push(timed(&mut opt())?);
        for (k, costs) in COPIES.iter().zip(&mut of_p3) {
            costs.push(timed(&mut p3(*k))?);
        }
    }
    let with_memory = |costs: &[Cost], mut command: Command| -> Result<Cost> {
        let memory = peak(&mut command)?;
        Ok(Cost {
            memory,
            ..Cost::median(costs)
        })
    };
    let of_p3 = COPIES.into_iter().zip(&of_p3);
    let dis = output(&llvm("llvm-dis"), &[&file.to_string_lossy(), "-o", "-"])?;
    Ok(Rewriting {
        bytes: file.metadata()?.len(),
        blocks: blocks(&dis),
        opt: with_memory(&of_opt, opt())?,
        p3: of_p3
            .map(|(k, costs)| Ok((k, with_memory(costs, p3(k))?)))
            .collect::<Result<_>>()?,
    })
}

/// The most memory in bytes that a command and its children have had at once, pages that they share counted once. Asked
/// for so often that it is run for this alone.
fn peak(command: &mut Command) -> Result<u64> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut process = command.stderr(Stdio::null()).spawn()?;
    let id = process.id();
    let mut most = 0;
    let status = loop {
        if let Some(status) = process.try_wait()? {
            break status;
        }
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let children = children.unwrap_or_default();
        let all = children.split_whitespace().filter_map(|c| c.parse().ok());
        most = most.max(all.chain([id]).map(share).sum());
        std::thread::sleep(Duration::from_millis(2));
    };
    ensure!(status.success(), "{command:?} failed");
    Ok(most)
}

/// The memory of a process in bytes, its part of shared pages; 0 once it has ended.
fn share(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/smaps_rollup")).unwrap_or_default();
    let kb = text.lines().find_map(|l| l.strip_prefix("Pss:"));
    let kb = kb.and_then(|l| l.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kb.unwrap_or(0) << 10
}

/// Blocks in LLVM's text: one for each terminator, which is what follows two spaces.
fn blocks(text: &[u8]) -> u64 {
    let terminators = [
        "br ",
        "ret ",
        "switch ",
        "unreachable",
        "resume ",
        "indirectbr ",
    ];
    let text = String::from_utf8_lossy(text);
    let ends = |l: &&str| {
        let l = l.strip_prefix("  ").unwrap_or("").trim_end_matches(',');
        terminators.iter().any(|t| l.starts_with(t))
            || l.contains(" invoke ")
            || l.starts_with("invoke ")
    };
    text.lines().filter(ends).count() as u64
}

pub(crate) fn timed(command: &mut Command) -> Result<Cost> {
    let (cost, status) = Cost::of(command.stdout(Stdio::null()))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(cost)
}

/// The section of what rewriting costs.
pub(crate) const REWRITING: Section = Section {
    marker: "rewriting",
    text: section,
    draw_plots: |_, _| Ok(()),
};

/// The table.
fn section(results: &Results) -> String {
    if results.rewriting.of.is_empty() {
        return String::new();
    }
    let text = format!(
        "### Rewriting\n\n{}. Seconds of `p3-rewrite` by number of copies, beside one \
         `opt -passes=pgo-instr-gen,instrprof` on the same module. Memory is the peak of all processes together; \
         shared memory counts once.\n\n",
        results.rewriting.made_by("rewriting")
    );
    let mut table = Table::new([
        "module",
        "MB",
        "blocks",
        "opt s",
        "k = 1",
        "2",
        "4",
        "8",
        "16",
        "k = 4 / opt",
        "CPU",
        "opt MB",
        "k = 4 MB",
        "k = 16 MB",
        "k = 4 / opt",
    ]);
    for (name, r) in &results.rewriting.of {
        let about = [
            name.clone(),
            format!("{:.1}", r.bytes as f64 / 1e6),
            r.blocks.to_string(),
            format!("{:.2}", r.opt.wall),
        ];
        let walls = r.p3.values().map(|cost| format!("{:.2}", cost.wall));
        let mb = [&r.opt, &r.p3[&4], &r.p3[&16]].map(|c| (c.memory >> 20).to_string());
        let [wall, cpu, memory] = OVER_OPT.map(|of| format!("{:.2}", of(r)));
        let end = [wall, cpu].into_iter().chain(mb).chain([memory]);
        table.row(about.into_iter().chain(walls).chain(end));
    }
    let [wall, cpu, memory] = OVER_OPT.map(|of| {
        let logs = results.rewriting.of.values().map(|r| of(r).ln());
        (logs.sum::<f64>() / results.rewriting.of.len() as f64).exp()
    });
    format!(
        "{text}{table}\nGeometric means at k = 4: {wall:.2} × the time, {cpu:.2} × the processor time and {memory:.2} × the memory of `opt`.\n"
    )
}

/// What four copies take over `opt`: wall time, processor time, memory.
const OVER_OPT: [fn(&Rewriting) -> f64; 3] = [
    |r| r.p3[&4].wall / r.opt.wall,
    |r| r.p3[&4].cpu / r.opt.cpu,
    |r| r.p3[&4].memory as f64 / r.opt.memory as f64,
];
