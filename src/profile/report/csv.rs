//! `show --format csv`: a table of paths.

use super::text::{decisions, lines, place};
use super::{Line, Report};
use crate::dag::{PathEnd, PathStart};
use crate::names::printable;

/// One record for each selected path, hottest first, after a heading.
pub fn render(report: &Report) -> String {
    let heading = [
        "module",
        "function",
        "id",
        "count",
        "path_share",
        "instruction_share",
        "instructions",
        "blocks",
        "starts",
        "ends",
        "back_to",
        "block_list",
        "lines",
        "decisions",
    ];
    table(&heading, report.lines.iter().map(|l| record(report, l)))
}

/// A heading and records under it, as CSV. Fields are of one line and of nothing but text: not every reader takes
/// line ends, quoted or not, and tables are looked at in terminals.
pub fn table<R: IntoIterator<Item = String>>(
    heading: &[&str],
    records: impl IntoIterator<Item = R>,
) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(heading).expect("memory takes everything");
    for record in records {
        let fields: Vec<String> = record.into_iter().collect();
        let fields = fields.iter().map(|f| printable(f).into_owned());
        out.write_record(fields.collect::<Vec<_>>())
            .expect("memory takes everything");
    }
    let bytes = out.into_inner().expect("memory takes everything");
    String::from_utf8(bytes).expect("all fields are text")
}

fn record(report: &Report, line: &Line) -> Vec<String> {
    let (profile, path) = (report.profile, &line.path);
    let (ends, back_to) = match path.end {
        PathEnd::Exit => ("exit", String::new()),
        PathEnd::Back(_, to) => ("back", to.to_string()),
    };
    let starts = if path.start == PathStart::Entry {
        "entry"
    } else {
        "loop"
    };
    let blocks: Vec<String> = path.blocks.iter().map(|b| b.to_string()).collect();
    vec![
        profile.module(line.func).to_string(),
        profile.entry(line.func).name.clone(),
        line.id.to_string(),
        line.count.to_string(),
        format!("{:.6}", report.path_share(line)),
        format!("{:.6}", report.instruction_share(line)),
        line.instructions.to_string(),
        path.blocks.len().to_string(),
        starts.to_string(),
        ends.to_string(),
        back_to,
        blocks.join(" "),
        lines(&profile.manifest.files, &line.locs),
        decisions(line, place),
    ]
}
