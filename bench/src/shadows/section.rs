//! The section of the report, and its plots.

use super::data::{BURSTS, Found, LOADS, RUNS, Shadows, THEIRS, USUAL, knobs, knobs_without_limit};
use crate::markdown::Table;
use crate::plot::{Series, bars};
use crate::results::Results;
use crate::section::Section;
use crate::statistics::{median, with_average};
use anyhow::Result;
use std::path::Path;

/// The section of shadows.
pub(crate) const SHADOW_PROFILES: Section = Section {
    marker: "shadows",
    text: section,
    draw_plots: plots,
};

/// The section of the report.
fn section(results: &Results) -> String {
    let Some(shadows) = &results.shadows else {
        return String::new();
    };
    let mut text = format!(
        "### Shadows\n\n`p3-bench shadows`, {}, {}, shared with other work. Training inputs, code generation alone.\n\n\
         Instructions over native while no shadow is forked, and page faults (`load=0.5,burst=10M,cost=100%`):\n\n",
        shadows.date, shadows.machine
    );
    let mut table = Table::new([
        "program",
        "instructions",
        "page faults native",
        "with shadows",
    ]);
    let mut over = Vec::new();
    for (name, p) in &shadows.programs {
        let more = p.instructions[1] as f64 / p.instructions[0] as f64 * 100.0 - 100.0;
        over.push(more);
        let faults = p.faults.map(|n| n.to_string());
        table.row(
            [name.clone(), format!("{more:+.2} %")]
                .into_iter()
                .chain(faults),
        );
    }
    if !over.is_empty() {
        table.row(["median", &format!("{:+.2} %", median(over)), "", ""]);
    }
    text += &table.to_string();
    text += "\n";
    text += &times(shadows);
    text += &accuracy(shadows);
    text += "Time that a fork takes from the program, the least of 50, by resident memory:\n\n";
    let mut table = Table::new(["resident MB", "µs"]);
    for (megabytes, time) in &shadows.forks {
        table.row([megabytes.to_string(), format!("{time:.0}")]);
    }
    text + &table.to_string()
}

/// Draws what shadows find by load and by burst.
fn plots(results: &Results, folder: &Path) -> Result<()> {
    let Some(shadows) = &results.shadows else {
        return Ok(());
    };
    let names = shadows.programs.keys().cloned();
    let names: Vec<String> = names.chain(["average".to_string()]).collect();
    let by_load = LOADS.map(|load| (format!("load {load}"), (load, THEIRS.1)));
    let by_burst = BURSTS.map(|burst| (format!("{burst} M instructions"), (THEIRS.0, burst)));
    for (file, title, columns) in [
        (
            "shadows-load",
            "Overlap with the exact profile by load, bursts of 10 M",
            &by_load[..],
        ),
        (
            "shadows-burst",
            "Overlap with the exact profile by burst, load 0.5",
            &by_burst[..],
        ),
    ] {
        let series: Vec<Series> = columns
            .iter()
            .map(|(name, knobs)| Series {
                name: name.clone(),
                values: with_average(
                    shadows
                        .programs
                        .values()
                        .map(|p| p.overlap(knobs_without_limit(*knobs)))
                        .collect(),
                ),
            })
            .collect();
        bars(
            &folder.join(format!("plots/{file}.svg")),
            title,
            &names,
            &series,
        )?;
    }
    Ok(())
}

fn accuracy(shadows: &Shadows) -> String {
    let usual = USUAL.text();
    let mut text = format!(
        "Hot paths found in {RUNS} runs of less than a second together, by default (`{usual}`, bursts of 10 M instructions or more) and by load and burst without a limit of cost. \
         The cells are as above.\n\n\
         ![Overlap by load](plots/shadows-load.svg)\n\n![Overlap by burst](plots/shadows-burst.svg)\n\n"
    );
    let about = ["program", "cost", "load", "burst"];
    let mut table = Table::new(about.into_iter().chain(FOUND));
    for (name, p) in &shadows.programs {
        for f in &p.found {
            let about = [name.clone()].into_iter().chain(f.knobs.cells());
            table.row(about.chain(f.cells()));
        }
    }
    for knobs in knobs() {
        let all = shadows.programs.values();
        let found = all.flat_map(|p| p.found.iter().filter(|f| f.knobs == knobs));
        let about = ["all".to_string()].into_iter().chain(knobs.cells());
        table.row(about.chain(cells_of_all(found)));
    }
    text += &table.to_string();
    text + "\n"
}

/// What [`Found::cells`] and [`cells_of_all`] are.
const FOUND: [&str; 5] = ["bursts", "overlap", "above 2 %", "above 1 %", "above 0.5 %"];

impl Found {
    fn cells(&self) -> [String; 5] {
        let of = |[all, seen, found, held]: [u64; 4]| format!("{found} ({seen}, {held}) of {all}");
        let [two, one, half] = self.hot.map(of);
        let overlap = format!("{:.1} %", self.overlap * 100.0);
        [self.bursts.to_string(), overlap, two, one, half]
    }
}

/// Times with shadows over those without, and what they found, if that was measured.
fn times(shadows: &Shadows) -> String {
    let mut table = Table::new([
        "program",
        "rounds",
        "s",
        "beside another",
        "without shadows",
        "with shadows",
        "these over those",
    ]);
    let timed = shadows.programs.iter().filter(|(_, p)| !p.wall.is_empty());
    let mut middles = [vec![], vec![], vec![], vec![]];
    for (name, p) in timed {
        let ratio = |over: fn(&[f64; 4]) -> f64| middle(p.wall.iter().map(over).collect());
        let seconds = median(p.wall.iter().map(|w| w[0]).collect());
        let ratios = [
            ratio(|w| w[1] / w[0]),
            ratio(|w| w[2] / w[0]),
            ratio(|w| w[3] / w[0]),
            ratio(|w| w[3] / w[2]),
        ];
        for (middles, ratio) in middles.iter_mut().zip(ratios) {
            middles.push(ratio[0]);
        }
        let begin = [
            name.clone(),
            p.wall.len().to_string(),
            format!("{seconds:.1}"),
        ];
        table.row(begin.into_iter().chain(ratios.map(interval)));
    }
    if middles[0].is_empty() {
        return String::new();
    }
    let begin = ["median", "", ""].map(str::to_string).into_iter();
    let medians = middles.map(|m| format!("{:+.2} %", median(m) * 100.0 - 100.0));
    table.row(begin.chain(medians));
    let usual = USUAL.text();
    format!(
        "Wall time of the long input over native, median of rounds in turn with an interval of 95 % (sign test): native beside a process that \
         keeps the other core and its memory busy, without shadows (`P3_SHADOW=off`), and with shadows by default \
         (`{usual}`):\n\n{table}\n{}",
        found_in_long_runs(shadows)
    )
}

fn found_in_long_runs(shadows: &Shadows) -> String {
    let mut table = Table::new(["program", "s in all"].into_iter().chain(FOUND));
    let long = || {
        let programs = shadows.programs.iter();
        programs.filter_map(|(name, p)| Some((name, p, p.long.as_ref()?)))
    };
    for (name, p, found) in long() {
        let about = [name.clone(), format!("{:.0}", p.seconds())];
        table.row(about.into_iter().chain(found.cells()));
    }
    let about = ["all", ""].map(str::to_string).into_iter();
    table.row(about.chain(cells_of_all(long().map(|(_, _, found)| found))));
    format!(
        "Hot paths found by default in so many seconds of runs together, of the paths above a threshold in the exact profile. A cell \
         says for how many the estimate is above the threshold too; in brackets, how many some burst saw, and for how \
         many the interval of 95 % holds the exact share:\n\n{table}\n"
    )
}

/// Paths found, and in brackets seen and with intervals that hold, of those above each threshold.
fn cells_of_all<'a>(all: impl Iterator<Item = &'a Found>) -> [String; 5] {
    let mut sum = [[0; 4]; 3];
    for found in all {
        for (sum, of) in sum.iter_mut().flatten().zip(found.hot.iter().flatten()) {
            *sum += of;
        }
    }
    let [two, one, half] = sum.map(|[all, seen, found, held]| {
        let of = |n: u64| n as f64 / all as f64 * 100.0;
        format!("{:.1} % ({:.1} %, {:.1} %)", of(found), of(seen), of(held))
    });
    [String::new(), String::new(), two, one, half]
}

/// A ratio's median and interval, in percent over one.
fn interval(of: [f64; 3]) -> String {
    let [middle, from, to] = of.map(|ratio| format!("{:+.1}", ratio * 100.0 - 100.0));
    format!("{middle} % ({from} … {to})")
}

/// The median, and the interval of 95 % that the sign test leaves for it.
fn middle(mut of: Vec<f64>) -> [f64; 3] {
    of.sort_by(f64::total_cmp);
    let n = of.len();
    let below = ((n as f64 - 1.96 * (n as f64).sqrt()) / 2.0)
        .floor()
        .max(0.0);
    let first = (below as usize).min((n - 1) / 2);
    let [from, to] = [of[first], of[n - 1 - first]];
    [median(of), from, to]
}

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn medians_and_their_intervals() {
        let of = (1..=100).rev().map(f64::from).collect();
        assert_eq!(middle(of), [50.5, 41.0, 60.0]);
        assert_eq!(middle(vec![3.0]), [3.0; 3]);
    }
}
