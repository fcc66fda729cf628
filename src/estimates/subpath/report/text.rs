//! `show` for people.

use super::folded::{Piece, fold};
use super::groups::{Folded, fold_rotations, longest_short};
use super::{ProgramBlock, Report, SubpathRow, decisions, locs, phrase_decisions};
use crate::base::names::escape_unprintable;
use crate::base::style::{BOLD, DIM, NAME, WARN};
use crate::base::table::{
    Align, Columns, Layout, group_all_digits, group_digits, number_of, percent, wrap_words,
};
use crate::estimates::data::subpaths::{HotList, Subpaths};
use crate::input::ir::Loc;
use crate::profile::Profile;
use crate::read::report::positions::join_positions;
use crate::read::report::steps::{self, Steps};
use crate::read::report::words::Said;
use crate::read::source::Sources;
use std::fmt::Write;

/// A subpath shows at most this many source lines, decisions, and pieces of its list of blocks.
const MAX_ITEMS: usize = 24;

/// The report; styled, for a stream that drops styles where they are not wanted.
pub fn render(report: &Report, layout: Layout) -> String {
    let lines = summary(report);
    let lines = lines.lines().map(|l| wrap_words(l, layout.width, 0) + "\n");
    let mut out: String = lines.collect();
    let steps = Steps::new(report.profile.profile, &report.sources, false);
    let groups = groups(report);
    let mut hidden = 0;
    for (heading, rows) in &groups {
        if rows.is_empty() {
            continue;
        }
        let shown = rows.len().min(report.top);
        hidden += rows.len() - shown;
        out.push('\n');
        if !heading.is_empty() {
            let _ = writeln!(out, "{BOLD}{heading}{BOLD:#}");
        }
        out += &table(report, &steps, &rows[..shown]).render(layout);
    }
    if hidden > 0 {
        let all = groups.iter().map(|(_, rows)| rows.len()).max();
        let _ = writeln!(
            out,
            "{DIM}… and {} more (--top {}){DIM:#}",
            group_all_digits(hidden as u64),
            all.unwrap_or_default()
        );
    }
    out
}

/// Short subpaths and long ones, each with a heading, if both are sampled; else all in one group.
fn groups<'a>(report: &'a Report) -> Vec<(String, Vec<Folded<'a>>)> {
    let all = || report.rows.iter().chain(&report.rest);
    let sampling = report.profile.sample.sampling.as_ref();
    let short = sampling.map_or(0, longest_short);
    let is_short = |row: &&SubpathRow| row.places.len() <= short;
    let joined = all().any(|row| row.joined > 1);
    if joined || all().all(|r| is_short(&r)) || !all().any(|r| is_short(&r)) {
        return vec![(String::new(), fold_rotations(all()))];
    }
    vec![
        (
            format!("up to {short} blocks"),
            fold_rotations(all().filter(is_short)),
        ),
        (
            "longer ones, of which there are fewer samples".into(),
            fold_rotations(all().filter(|r| !is_short(r))),
        ),
    ]
}

fn summary(report: &Report) -> String {
    let (sampled, profile) = (report.profile, report.profile.profile);
    let skipped = |f: &&crate::profile::manifest::FunctionEntry| f.status.is_skipped();
    let functions = &profile.manifest.functions;
    let executed = sampled.estimate_executed();
    let mut out = format!(
        "{BOLD}about {} ± {} blocks executed, {} subpaths sampled{BOLD:#}, {} distinct, one in {} blocks{}; {} of {} \
         skipped ({}, {})\n{DIM}counts and shares are estimates: ± half of the 95 % interval; sorted by the lower \
         end of the share's interval{DIM:#}\n",
        group_digits(executed.count.round() as u64),
        group_digits(executed.half_width.ceil() as u64),
        group_digits(report.points),
        group_digits(report.distinct as u64),
        group_digits(sampled.sample.period()),
        describe_list(sampled.sample),
        functions.iter().filter(skipped).count(),
        number_of(functions.len() as u64, "function"),
        profile.manifest.scheme,
        number_of(profile.manifest.copies, "copy"),
    );
    if let long @ 1.. = sampled.sample.too_long {
        let _ = writeln!(
            out,
            "{WARN}{} took more memory than the list has for one, and no count has them: give it more (--memory), or \
             leave out the largest lengths{WARN:#}",
            number_of(long, "sample")
        );
    }
    if let Some(said) = profile.problem_line() {
        let _ = writeln!(out, "{WARN}{}{WARN:#}", escape_unprintable(&said));
    }
    out
}

/// What is said of the list where it is a counting sample that was full.
fn describe_list(sample: &Subpaths) -> String {
    let list = sample.sampling.as_ref().map(|s| s.list);
    match (list, sample.doublings) {
        (Some(HotList::Counting), 1..) => {
            format!(
                ", all counted that are listed, as one in {} points was",
                group_digits(1u64 << sample.doublings)
            )
        }
        _ => String::new(),
    }
}

fn table(report: &Report, steps: &Steps, rows: &[Folded]) -> Columns {
    use Align::{Left, Right};
    let mut table = Columns::new([Right, Right, Right, Right, Right, Right, Left]);
    table.heading(
        BOLD,
        &["count", "±", "share", "±", "points", "blocks", "subpath"],
    );
    for Folded { row, rotations } in rows {
        let profile = report.profile.profile;
        table.row([
            group_digits(row.estimate.count.round() as u64),
            group_digits(row.estimate.half_width.ceil() as u64),
            percent(row.share),
            percent(row.share_half_width.min(1.0)),
            group_digits(row.points.counted),
            row.places.len().to_string(),
            format!(
                "{}{}{}",
                blocks(profile, &row.places),
                describe_joined(row),
                describe_rotation(*rotations)
            ),
        ]);
        let texts = Texts::new(steps, &report.sources, &row.places);
        for detail in texts.details() {
            table.add_text(1, DIM, detail.clone());
        }
    }
    table
}

fn describe_rotation(rotations: usize) -> String {
    match rotations {
        0 => String::new(),
        n => format!(
            " {DIM}(and {} of it){DIM:#}",
            number_of(n as u64, "rotation")
        ),
    }
}

fn describe_joined(row: &SubpathRow) -> String {
    match row.joined {
        1 => String::new(),
        n => format!(" {DIM}(joined of {n}){DIM:#}"),
    }
}

/// The blocks by function: `main b1 (b2 b3)×4, f b0`.
fn blocks(profile: &Profile, places: &[ProgramBlock]) -> String {
    let (mut out, mut last) = (String::new(), None);
    for (shown, piece) in fold(places).into_iter().enumerate() {
        if shown == MAX_ITEMS {
            return out + " …";
        }
        match piece {
            Piece::Once(items) => list(profile, items, &mut last, &mut out),
            Piece::Times(items, times) => {
                // Each repetition is read by itself.
                let mut inner = String::new();
                list(profile, items, &mut last, &mut inner);
                let space = if out.is_empty() { "" } else { " " };
                let _ = write!(out, "{space}({inner})×{times}");
            }
        }
    }
    out
}

fn list(
    profile: &Profile,
    items: &[ProgramBlock],
    last: &mut Option<crate::base::index::FuncId>,
    out: &mut String,
) {
    for (i, p) in items.iter().enumerate() {
        if i == MAX_ITEMS {
            out.push_str(" …");
            *last = None;
            return;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        if last.replace(p.func) != Some(p.func) {
            let _ = write!(out, "{NAME}{}{NAME:#} ", profile.name(p.func));
        }
        let _ = write!(out, "b{}", p.block);
    }
}

/// What a subpath is, in texts of one line.
pub struct Texts {
    /// Its blocks by function, without styles.
    pub blocks: String,
    /// Its source lines; empty without debug information.
    pub lines: String,
    /// Its decisions as steps; empty if there are none.
    pub decisions: String,
}

impl Texts {
    /// Those of a subpath, with conditions quoted from `sources`.
    pub fn new(steps: &Steps, sources: &Sources, places: &[ProgramBlock]) -> Texts {
        let profile = steps.words().profile();
        let files = &profile.manifest.files;
        let locs = locs(profile, places);
        let taken = phrase_decisions(steps, places, &decisions(profile, sources, places));
        Texts {
            blocks: anstream::adapter::strip_str(&blocks(profile, places)).to_string(),
            lines: pieces(&locs, "→", |run: &[Loc]| join_positions(files, run)),
            decisions: pieces(&taken, " · ", |run: &[String]| run.join(" · ")),
        }
    }

    /// Lines and decisions, as far as there are some.
    pub fn details(&self) -> impl Iterator<Item = &String> {
        [&self.lines, &self.decisions]
            .into_iter()
            .filter(|t| !t.is_empty())
    }
}

/// What a subpath decides, and a row for each decision; of rows that repeat, the last one says how often. Where there
/// are several functions, each row names its own.
pub fn find_decisions(
    steps: &Steps,
    sources: &Sources,
    places: &[ProgramBlock],
) -> (Vec<Said>, Vec<steps::StepRow>) {
    let taken = decisions(steps.words().profile(), sources, places);
    let several = places.iter().any(|p| p.func != places[0].func);
    let mut rows = Vec::new();
    for run in taken.chunk_by(|a, b| a.0 == b.0) {
        let said: Vec<Said> = run.iter().map(|(_, said)| said.clone()).collect();
        let mut own = steps.decision_rows(run[0].0, &said);
        for row in &mut own {
            if let (true, steps::StepRow::Step(step)) = (several, row) {
                step.within.get_or_insert_with(|| steps.name(run[0].0));
            }
        }
        rows.extend(own);
    }
    let piece = |piece: Piece<steps::StepRow>| match piece {
        Piece::Once(run) => run.to_vec(),
        Piece::Times(run, times) => {
            let mut run = run.to_vec();
            if let Some(steps::StepRow::Step(step)) = run.last_mut() {
                step.note = format!("all ×{times}");
            }
            run
        }
    };
    let rows = fold(&rows).into_iter().flat_map(piece).collect();
    (taken.into_iter().map(|(_, said)| said).collect(), rows)
}

/// A list with its repetitions folded, and cut where it is long.
fn pieces<T: PartialEq>(items: &[T], between: &str, show: impl Fn(&[T]) -> String) -> String {
    let pieces = fold(items);
    let piece = |piece: &Piece<T>| match *piece {
        Piece::Once(run) => show_some(run, &show),
        Piece::Times(run, times) => format!("({})×{times}", show_some(run, &show)),
    };
    let mut shown: Vec<String> = pieces.iter().take(MAX_ITEMS).map(piece).collect();
    if pieces.len() > MAX_ITEMS {
        shown.push("…".into());
    }
    shown.join(between)
}

fn show_some<T>(run: &[T], show: impl Fn(&[T]) -> String) -> String {
    if run.len() > MAX_ITEMS {
        format!("{}, …", show(&run[..MAX_ITEMS]))
    } else {
        show(run)
    }
}
