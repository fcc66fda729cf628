//! `docs/RESULTS.md` and its plots, from the JSON.

use crate::build::{SHARING, project, variant_name};
use crate::counted;
use crate::markdown::Table;
use crate::plot::{Series, bars};
use crate::results::{Edges, Program, Results, Run};
use anyhow::{Result, ensure};
use std::fmt::{Display, Write};
use std::path::Path;

const KS: [u32; 3] = [2, 4, 8];

/// Writes the report of the results in `out`, and puts the JSON beside it.
pub(crate) fn write(out: &Path) -> Result<()> {
    let results = Results::load(out)?;
    ensure!(
        !results.programs.is_empty(),
        "nothing was measured: make bench"
    );
    let docs = project().join("docs");
    std::fs::create_dir_all(docs.join("plots"))?;
    std::fs::write(
        docs.join("results.json"),
        serde_json::to_string(&results)? + "\n",
    )?;
    let mut text = head(&results);
    text += &counted::table_of(&results);
    text += &overhead(&results);
    text += &hits(&results, "Label hits", |h| &h.labels);
    text += &hits(&results, "Probe hits", |h| &h.probes);
    text += REASONS;
    text += &edges(&results);
    text += &sizes(&results);
    text += &rewriting(&results);
    text += &crate::shadows::section(&results);
    text += &crate::subpaths::section(&results);
    std::fs::write(docs.join("RESULTS.md"), text)?;
    for k in KS {
        let series = hit_series(&results, k);
        if series.is_empty() {
            continue;
        }
        let title = format!("Label hits of the slowest copy relative to sbl, k = {k}");
        bars(
            &docs.join(format!("plots/hits-{k}.svg")),
            &title,
            &names(&results),
            &series,
        )?;
    }
    let columns = [
        ("edge", "LLVM edge counts"),
        ("sbl", "sbl"),
        ("pbl 4", "pbl, k = 4"),
        ("p3 4", "p3, k = 4"),
        ("p3-hot 4", "p3-hot, k = 4"),
        ("p3-hot 4 trained", "p3-hot, k = 4, trained"),
    ];
    let series = columns.map(|(variant, name)| {
        let values = results
            .programs
            .values()
            .map(|p| slowest(p, variant) * 100.0);
        Series {
            name: name.into(),
            values: with_average(values.collect()),
        }
    });
    let title = "Run time over native, slowest copy";
    bars(
        &docs.join("plots/overhead.svg"),
        title,
        &names(&results),
        &series,
    )?;
    crate::shadows::plots(&results, &docs)?;
    crate::subpaths::plots(&results, &docs)?;
    edge_plot(&results, &docs)
}

fn edge_plot(results: &Results, docs: &Path) -> Result<()> {
    let names = results.edges.keys().cloned();
    let names: Vec<String> = names.chain(["average".to_string()]).collect();
    let columns = [
        ("llvm", "LLVM edge counts"),
        ("edge", "edge"),
        ("sbl", "paths, sbl"),
    ];
    let series = columns.map(|(variant, name)| {
        let values = results.edges.values();
        let values = values.map(|e| over(e, variant, "native") * 100.0);
        Series {
            name: name.into(),
            values: with_average(values.collect()),
        }
    });
    let title = "Run time over native: edges and paths";
    bars(&docs.join("plots/edges.svg"), title, &names, &series)
}

/// The run time of one variant over that of another; 0.1 is 10 %.
fn over(edges: &Edges, variant: &str, base: &str) -> f64 {
    let wall = |name: &str| edges.runs.get(name).map_or(f64::NAN, |r| r.wall);
    wall(variant) / wall(base) - 1.0
}

fn head(results: &Results) -> String {
    let rounds = results
        .programs
        .values()
        .map(|p| p.rounds)
        .min()
        .unwrap_or(0);
    format!(
        "# Results\n\nMade by `make bench` on {}: {}; medians of {rounds} rounds of all variants in turn, one process at a time. \
         All figures are in [`results.json`](results.json).\n\nA whole-program module after `clang -O2 -g` is instrumented, and then only translated to machine code: no \
         optimisation runs after the instrumentation, ours or LLVM's.\n\n",
        results.date, results.machine
    )
}

fn names(results: &Results) -> Vec<String> {
    let names = results.programs.keys().cloned();
    names.chain(["average".to_string()]).collect()
}

pub(crate) fn with_average(mut values: Vec<f64>) -> Vec<f64> {
    values.push(average(&values));
    values
}

pub(crate) fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The overhead of the slowest copy, by wall time; 0.1 is 10 %.
fn slowest(program: &Program, variant: &str) -> f64 {
    largest(program, variant, |run| run.wall)
}

pub(crate) fn largest(program: &Program, variant: &str, of: fn(&Run) -> f64) -> f64 {
    let native = of(&program.variants["native"][0]);
    let runs = program.variants.get(variant).map_or(&[][..], |v| v);
    runs.iter()
        .map(|r| of(r) / native - 1.0)
        .fold(f64::NAN, f64::max)
}

fn percent(value: f64) -> String {
    if value.is_nan() {
        return String::new();
    }
    format!("{:+.0} %", value * 100.0).replace("-0 %", "+0 %")
}

/// What stands before, and a cell for each of these.
fn named<T: Display>(first: &[&str], cells: impl IntoIterator<Item = T>) -> Vec<String> {
    let first = first.iter().map(|c| c.to_string());
    let cells = cells.into_iter().map(|c| c.to_string());
    first.chain(cells).collect()
}

/// The columns of tables by variant: whatever was measured.
pub(crate) fn columns(results: &Results) -> Vec<String> {
    let mut all = vec!["edge".to_string(), "sbl".to_string()];
    for scheme in SHARING {
        for trained in [false, true] {
            all.extend(KS.map(|k| variant_name(scheme, k, trained)));
        }
    }
    let measured = |v: &String| {
        results
            .programs
            .values()
            .any(|p| p.variants.contains_key(v))
    };
    all.retain(measured);
    all
}

/// An overhead, and between which half of the runs lay if there were enough.
fn spread(program: &Program, variant: &str, value: f64) -> String {
    let native = program.variants["native"][0].wall;
    let slowest = program.variants.get(variant).into_iter().flatten();
    let slowest = slowest.max_by(|a, b| a.wall.total_cmp(&b.wall));
    match slowest {
        Some(run) if program.rounds >= 4 && run.wall_quartiles[1] > 0.0 => {
            let [low, high] = run.wall_quartiles.map(|q| (q / native - 1.0) * 100.0);
            format!("{} ({low:.0}…{high:.0})", percent(value))
        }
        _ => percent(value),
    }
}

fn overhead(results: &Results) -> String {
    let variants = columns(results);
    let mut text = String::from(
        "## Run time\n\nWall time over native, of the slowest copy; in brackets between which half of its runs lay. `edge`: LLVM's own edge counts (`opt -passes=pgo-instr-gen,instrprof`). `trained`: weights by \
         the profile of another, smaller input (`--profile`).\n\n![Run time over native](plots/overhead.svg)\n\n",
    );
    let mut table = Table::new(named(&["program", "native s"], &variants));
    for (name, p) in &results.programs {
        let native = format!("{:.2}", p.variants["native"][0].wall);
        let spread = variants.iter().map(|v| spread(p, v, slowest(p, v)));
        table.row([name.clone(), native].into_iter().chain(spread));
    }
    for (what, of) in [
        ("average", (|r| r.wall) as fn(&Run) -> f64),
        ("average, CPU time", |r| r.cpu),
    ] {
        let mean = |v: &String| {
            let values = results.programs.values().map(|p| largest(p, v, of));
            percent(average(&values.collect::<Vec<_>>()))
        };
        let means = variants.iter().map(mean);
        table.row([what.to_string(), String::new()].into_iter().chain(means));
    }
    writeln!(text, "{table}").expect("a string");
    for (name, p) in &results.programs {
        let copies: usize = p.variants.values().map(Vec::len).sum();
        let what = match p.differing.len() {
            0 => continue,
            n if n + 1 == copies => "varies from run to run".to_string(),
            _ => format!("differs from the original's in {}", p.differing.join(", ")),
        };
        writeln!(text, "{name}: its output {what}.\n").expect("a string");
    }
    text
}

/// The hits of the slowest copy relative to sbl; -0.3 is 30 % less.
fn relative(program: &Program, name: &str, of: fn(&crate::results::Hits) -> &Vec<u64>) -> f64 {
    let max = |name: &str| {
        let hits = program.hits.get(name)?;
        of(hits).iter().copied().max()
    };
    match (max(name), max("sbl")) {
        (Some(hits), Some(sbl)) if sbl > 0 => hits as f64 / sbl as f64 - 1.0,
        _ => f64::NAN,
    }
}

fn hits(results: &Results, title: &str, of: fn(&crate::results::Hits) -> &Vec<u64>) -> String {
    let mut text = format!("## {title}\n\n");
    if title.starts_with("Label") {
        text += "Executed edges with a non-zero label, the P3 paper's measure, of the slowest copy relative to sbl. The paper has for p3 -23 %, -43 %, -56 % at k = 2, 4, 8 on 13 \
                 programs of SPEC CPU2006.\n\n";
        for k in KS
            .into_iter()
            .filter(|&k| !hit_series(results, k).is_empty())
        {
            writeln!(text, "![k = {k}](plots/hits-{k}.svg)").expect("a string");
        }
        text.push('\n');
    } else {
        text += "Executed statements that were inserted (`r = c`, `r += c`, `count[r + c]++`), of the slowest copy relative to sbl.\n\n";
    }
    let columns = with_hits(results);
    let mut table = Table::new(named(&["program"], &columns));
    for (name, p) in &results.programs {
        let hits = columns.iter().map(|v| percent(relative(p, v, of)));
        table.row([name.clone()].into_iter().chain(hits));
    }
    let mean = |v: &String| {
        let all = results.programs.values().map(|p| relative(p, v, of));
        percent(average(&all.collect::<Vec<_>>()))
    };
    table.row(named(&["average"], columns.iter().map(mean)));
    writeln!(text, "{table}").expect("a string");
    text
}

/// What the figures do not say by themselves.
const REASONS: &str = "### Why p3 gains less here than in the paper\n\n\
- Its rules split only functions with one call site, and all paths that begin at one loop header are one task: where one loop nest does the work (hmmer, libquantum, \
specrand), no number of copies helps. Even perfect knowledge of hits would leave whole functions at -34 %, -41 %, -42 % of label hits (training inputs, \
longest first over `simulate --scheme pbl -k 1024`).\n\
- These programs are optimised first, and inlining makes few and large functions of many. On the front end's output (SROA, early CSE and CFG clean-up only, \
training inputs) the same rules give -23 %, -34 %, -42 %, and pbl -24 %, -38 %, -44 %.\n\
- A label hit is not a count: every copy of a split function still counts at the ends of paths, those that are not its own too, so probe hits and run time fall less \
than label hits. `p3-weighted` splits only where that pays, and needs a profile to know where.\n\n";

/// Edge profiling, what it tells of paths, and what programs gain from profiles.
fn edges(results: &Results) -> String {
    if results.edges.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "## Edges\n\nWall time over native of one copy, in one series of runs: LLVM's edge counts, ours (`--scheme edge`: the fewest counters, Knuth & Stevenson) and paths \
         (`sbl`; Ball & Larus 1996 had +16 % for edges and +31 % for paths); and how much of the paths edge counts tell (`p3-prof accuracy`): the share of flow for which the likeliest path is right (Ball & Larus 1996 found 37.9 % on SPEC95), \
         which greedily chosen paths get right, and which is definite (Ball, Mataga & Sagiv 1998).\n\n![Edges and paths](plots/edges.svg)\n\n",
    );
    let mut table = Table::new([
        "program",
        "native s",
        "LLVM edges",
        "edge",
        "sbl",
        "right",
        "overlap",
        "definite",
    ]);
    let cells = |values: [f64; 6]| {
        let exactly = |v: f64| format!("{:.1} %", v * 100.0);
        let [llvm, edge, sbl, right, overlap, definite] = values;
        let overheads = [llvm, edge, sbl].map(percent).into_iter();
        overheads.chain([right, overlap, definite].map(exactly))
    };
    let mut all = Vec::new();
    for (name, e) in &results.edges {
        let mut values = [f64::NAN; 6];
        for (to, variant) in values.iter_mut().zip(["llvm", "edge", "sbl"]) {
            *to = over(e, variant, "native");
        }
        for (to, share) in values[3..].iter_mut().zip(&e.accuracy) {
            *to = *share;
        }
        all.push(values);
        let native = format!("{:.2}", e.runs["native"].wall);
        table.row([name.clone(), native].into_iter().chain(cells(values)));
    }
    let means = std::array::from_fn(|i| average(&all.iter().map(|v| v[i]).collect::<Vec<_>>()));
    table.row(named(&["average", ""], cells(means)));
    text += &table.to_string();
    text += "\n### Programs rebuilt with their profiles\n\nRun time against the same program optimised without one (`opt -passes='default<O2>'` of the front end's output): less is faster. \
             All profiles are of the training input, the runs of the other one. `annotated`: `p3-rewrite annotate` of the front end's output; `proftext`: exported for the module as LLVM \
             would have instrumented it; `LLVM`: its own instrumentation, values included.\n\n";
    let mut table = Table::new(["program", "plain s", "annotated", "proftext", "LLVM"]);
    let rebuilt = results.edges.iter();
    let rebuilt: Vec<_> = rebuilt
        .filter(|(_, e)| e.runs.contains_key("plain"))
        .collect();
    const WITH: [&str; 3] = ["annotated", "proftext", "pgo"];
    for (name, e) in &rebuilt {
        let plain = format!("{:.2}", e.runs["plain"].wall);
        let with = WITH.map(|v| format!("{:+.1} %", over(e, v, "plain") * 100.0));
        table.row([name.to_string(), plain].into_iter().chain(with));
    }
    let mean = |v| {
        let all = rebuilt.iter().map(|(_, e)| over(e, v, "plain"));
        format!("{:+.1} %", average(&all.collect::<Vec<_>>()) * 100.0)
    };
    table.row(named(&["average", ""], WITH.map(mean)));
    writeln!(text, "{table}").expect("a string");
    for (name, e) in results
        .edges
        .iter()
        .filter(|(_, e)| !e.differing.is_empty())
    {
        writeln!(
            text,
            "{name}: its output differs in {}.\n",
            e.differing.join(", ")
        )
        .expect("a string");
    }
    text
}

/// The variants whose hits are known, `sbl` left out: all are told relative to it.
fn with_hits(results: &Results) -> Vec<String> {
    let known =
        |v: &String| v != "sbl" && results.programs.values().any(|p| p.hits.contains_key(v));
    columns(results).into_iter().filter(known).collect()
}

/// Those of `k` copies.
fn hit_series(results: &Results, k: u32) -> Vec<Series> {
    let series = |variant: String| {
        let relative = |p| (1.0 + relative(p, &variant, |h| &h.labels)) * 100.0;
        Series {
            values: with_average(results.programs.values().map(relative).collect()),
            name: variant,
        }
    };
    let of_k = |v: &String| v.split(' ').nth(1) == Some(&k.to_string());
    with_hits(results)
        .into_iter()
        .filter(of_k)
        .map(series)
        .collect()
}

fn sizes(results: &Results) -> String {
    let mut text = String::from(
        "## Memory and code\n\nPeak resident memory and code (text, constants included) of the largest copy, and the profiled functions and paths.\n\n",
    );
    let mut table = Table::new([
        "program",
        "functions",
        "paths",
        "memory MB: native",
        "edge",
        "sbl",
        "p3 4",
        "code kB: native",
        "edge",
        "sbl",
        "p3 4",
    ]);
    const SHOWN: [&str; 4] = ["native", "edge", "sbl", "p3 4"];
    for (name, p) in &results.programs {
        let max = |variant: &str, of: fn(&Run) -> u64| {
            p.variants[variant].iter().map(of).max().unwrap_or(0)
        };
        let memory = SHOWN.map(|v| max(v, |r| r.memory) >> 20);
        let code = SHOWN.map(|v| max(v, |r| r.text) >> 10);
        let numbers = memory.into_iter().chain(code).map(|n| n.to_string());
        let about = [name.clone(), p.functions.clone(), p.paths.clone()];
        table.row(about.into_iter().chain(numbers));
    }
    writeln!(text, "{table}").expect("a string");
    text
}

fn rewriting(results: &Results) -> String {
    if results.rewriting.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "## Rewriting\n\nSeconds of `p3-rewrite` by number of copies, beside one `opt -passes=pgo-instr-gen,instrprof` on the same module; memory is the peak (of small modules: that of the measuring program).\n\n",
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
        "opt MB",
        "k = 4 MB",
        "k = 16 MB",
        "k = 4 / opt",
    ]);
    let mut ratios: Vec<(f64, f64)> = Vec::new();
    for (name, r) in &results.rewriting {
        let (time, memory) = (
            r.p3[&4].wall / r.opt.wall,
            r.p3[&4].memory as f64 / r.opt.memory as f64,
        );
        ratios.push((time, memory));
        let about = [
            name.clone(),
            format!("{:.1}", r.bytes as f64 / 1e6),
            r.blocks.to_string(),
            format!("{:.2}", r.opt.wall),
        ];
        let walls = r.p3.values().map(|cost| format!("{:.2}", cost.wall));
        let mb = [&r.opt, &r.p3[&4], &r.p3[&16]].map(|c| (c.memory >> 20).to_string());
        let end = [
            vec![format!("{time:.2}")],
            mb.into(),
            vec![format!("{memory:.1}")],
        ]
        .concat();
        table.row(about.into_iter().chain(walls).chain(end));
    }
    text += &table.to_string();
    let n = ratios.len() as f64;
    let (time, memory) = ratios
        .iter()
        .fold((0.0, 0.0), |(t, m), r| (t + r.0.ln(), m + r.1.ln()));
    writeln!(
        text,
        "\nGeometric means at k = 4: {:.2} × the time and {:.2} × the memory of `opt`.",
        (time / n).exp(),
        (memory / n).exp()
    )
    .expect("a string");
    text
}
