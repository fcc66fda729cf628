//! `docs/images/tour.svg`: the commands of the tutorial and what it shows under them, as a film. Nothing is
//! run for it, since the tutorial's own test runs them all.

use super::commands;
use crate::support::project;
use std::fmt::Write;

/// The width of the terminal in columns.
const COLUMNS: usize = 100;
/// Of a column and of a row, in pixels.
const WIDTH: f64 = 7.25;
const HEIGHT: usize = 19;
/// How long a frame stays, in seconds: for the command, and for each line to read.
const AT_LEAST: f64 = 2.5;
const BY_LINE: f64 = 0.7;

/// A command with the heading of its section, and the rows that are shown.
struct Frame {
    heading: String,
    rows: Vec<(&'static str, String)>,
}

impl Frame {
    fn seconds(&self) -> f64 {
        AT_LEAST + BY_LINE * self.rows.len() as f64
    }
}

/// Rows of a command, wrapped at spaces where it has some.
fn wrapped(command: &str) -> Vec<String> {
    let mut rows = vec!["$".to_string()];
    for word in command.split(' ') {
        let row = rows.last_mut().unwrap();
        if row.chars().count() + 1 + word.chars().count() > COLUMNS {
            rows.push(format!("    {word}"));
        } else {
            let _ = write!(row, " {word}");
        }
    }
    rows
}

fn frames(page: &str) -> Vec<Frame> {
    let sections = page.split("\n## ").skip(1);
    let frames = sections.flat_map(|section| {
        let (heading, body) = section.split_once('\n').unwrap();
        commands(body).into_iter().map(|(command, shown)| {
            let command = wrapped(&command).into_iter().map(|row| ("c", row));
            Frame {
                heading: heading.to_string(),
                rows: command
                    .chain(shown.into_iter().map(|row| ("o", row)))
                    .collect(),
            }
        })
    });
    frames.collect()
}

/// Text of a row: outcomes have colours.
fn spans(row: &str) -> String {
    let plain = row
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let colour = |text: String, word: &str| {
        let coloured = format!("  <tspan class=\"{word}\">{word}</tspan>");
        text.replace(&format!("  {word}"), &coloured)
    };
    colour(colour(plain, "true"), "false")
}

fn film(frames: &[Frame]) -> String {
    let total: f64 = frames.iter().map(Frame::seconds).sum();
    let rows = frames.iter().map(|f| f.rows.len()).max().unwrap();
    let (width, height) = (COLUMNS as f64 * WIDTH + 32.0, (rows + 3) * HEIGHT);
    let mut style = String::new();
    let mut body = String::new();
    let mut at = 0.0;
    // What is shown where nothing moves: the first profile.
    let still = frames.iter().position(|f| f.heading == "Look").unwrap();
    for (i, frame) in frames.iter().enumerate() {
        let (from, to) = (100.0 * at / total, 100.0 * (at + frame.seconds()) / total);
        at += frame.seconds();
        let _ = writeln!(
            style,
            "@keyframes f{i}{{0%,{from:.3}%{{opacity:{}}}{:.3}%,{to:.3}%{{opacity:1}}\
             {:.3}%,100%{{opacity:0}}}}#f{i}{{animation:f{i} {total:.1}s infinite}}",
            u8::from(i == 0),
            from + 0.001,
            (to + 0.001).min(100.0),
        );
        let shown = u8::from(i == still);
        let _ = writeln!(body, "<g id=\"f{i}\" opacity=\"{shown}\">");
        let title = spans(&frame.heading);
        let _ = writeln!(
            body,
            "<text x=\"16\" y=\"{HEIGHT}\" class=\"h\">{title}</text>"
        );
        for (n, (class, row)) in frame.rows.iter().enumerate() {
            let (y, row) = ((n + 3) * HEIGHT, spans(row));
            let _ = writeln!(
                body,
                "<text x=\"16\" y=\"{y}\" class=\"{class}\">{row}</text>"
            );
        }
        body += "</g>\n";
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"The tutorial: each command, and what it prints\">\n<style>\n\
         text{{font:12px ui-monospace,'DejaVu Sans Mono',monospace;white-space:pre}}\n\
         .h{{fill:#8b949e}}.c{{fill:#fff;font-weight:bold}}.o{{fill:#c9d1d9}}\
         .true{{fill:#7ee787}}.false{{fill:#ff9b8e}}\n\
         {style}@media(prefers-reduced-motion){{g{{animation:none!important}}}}\n</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n{body}</svg>\n"
    )
}

/// `make tour` writes it again.
#[test]
fn film_shows_the_tutorial() {
    let page = std::fs::read_to_string(project("docs/TUTORIAL.md")).unwrap();
    let frames = frames(&page);
    assert!(frames.len() > 5);
    let rows = frames.iter().flat_map(|f| &f.rows);
    for (_, row) in rows {
        assert!(row.chars().count() <= COLUMNS + 40, "{row}");
    }
    let made = film(&frames);
    let path = project("docs/images/tour.svg");
    if std::env::var("INSTA_UPDATE").is_ok_and(|v| v == "always") {
        std::fs::write(&path, &made).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == made,
        "docs/images/tour.svg: `make tour` writes it again"
    );
}
