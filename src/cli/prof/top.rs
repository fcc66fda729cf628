//! `p3-prof top`: what runs most in a program, while it runs.

use super::Outcome;
use crate::base::error::{Error, Result};
use crate::base::table::{Layout, wrap_words};
use crate::cli::screen::{Input, KeyOutcome, List, Screen, Table, clip, name_line};
use crate::read::watch::{RowKind, RowOrder, View, Watch, cells, heading, text};
use clap::Args;
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::{Constraint, Layout as Split};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Text};
use std::path::PathBuf;
use std::sync::mpsc::{self, TryRecvError};
use std::time::{Duration, Instant};

/// The screen holds at most so many rows.
const MOST: usize = 1000;
/// The words on the chosen row take so many lines, where there are enough.
const DETAILS: u16 = 5;
/// In fewer lines than this, there are none.
const LOW: u16 = 14;
const EVERY: f64 = 1.0;

#[derive(Debug, Args)]
pub(super) struct TopArgs {
    /// A raw profile, the id of a running process, or an output folder; counts of several are added up
    #[arg(required = true, value_name = "FILE|PID|OUTDIR")]
    targets: Vec<PathBuf>,
    /// The manifest.json of the program, or a folder to search for it [default: in a folder above the
    /// profile or the program]
    #[arg(short, long, value_name = "FILE", num_args = 1)]
    manifest: Vec<PathBuf>,
    /// Print once and exit; with --interval, with rates
    #[arg(long)]
    once: bool,
    /// Seconds between two readings [default: 1]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    interval: Option<f64>,
    /// Number of rows to print with --once
    #[arg(long, value_name = "N", default_value_t = 20, requires = "once")]
    top: usize,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|s| (0.05..=86_400.0).contains(s));
    seconds.ok_or_else(|| "give seconds, from 0.05 to 86400".into())
}

pub(super) fn run(args: &TopArgs, layout: Layout) -> Result<Outcome> {
    let mut watch = Watch::new(&args.targets, &args.manifest)?;
    if args.once {
        let mut view = watch.look_again(RowOrder::Share, args.top)?;
        if let Some(seconds) = args.interval {
            std::thread::sleep(Duration::from_secs_f64(seconds));
            view = watch.look_again(RowOrder::Share, args.top)?;
        }
        return Ok(Outcome::print(text(&view, layout)));
    }
    // What is wrong from the beginning is said without a screen.
    let view = watch.look_again(RowOrder::Share, MOST)?;
    let every = Duration::from_secs_f64(args.interval.unwrap_or(EVERY));
    let mut top = Top::new(view);
    let mut screen = Screen::open("--once prints a table")?;
    show(&mut top, watch, every, &mut screen)?;
    Ok(Outcome::default())
}

/// What a reader is asked for: rows in this order; whether rates begin anew.
type Question = (RowOrder, bool);

/// Shows looks until the user ends it. They are taken beside: however long reading takes, keys are heard.
fn show(top: &mut Top, mut watch: Watch, every: Duration, screen: &mut Screen) -> Result<()> {
    let (ask, asked) = mpsc::channel::<Question>();
    let (tell, told) = mpsc::channel::<Result<View>>();
    std::thread::spawn(move || {
        for (order, restart) in asked {
            if restart {
                watch.restart();
            }
            if tell.send(watch.look_again(order, MOST)).is_err() {
                break;
            }
        }
    });
    let (mut due, mut waiting, mut changed) = (Instant::now() + every, false, true);
    loop {
        if changed {
            screen.draw(|frame| top.draw(frame))?;
        }
        let input = screen.input(every)?;
        changed = !matches!(input, Input::None);
        match input {
            Input::Key(key) if top.key(key) == KeyOutcome::End => return Ok(()),
            _ => {}
        }
        match told.try_recv() {
            Ok(seen) => {
                (waiting, changed) = (false, true);
                top.take_view(seen);
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => {
                return Err(Error::Usage(
                    "the reader of profiles ended; report this".into(),
                ));
            }
        }
        let wanted = top.asks.take();
        if let Some(question) = wanted {
            let _ = ask.send(question);
            waiting = true;
        } else if !top.paused && !waiting && Instant::now() >= due {
            let _ = ask.send((top.order, false));
            (waiting, due) = (true, Instant::now() + every);
        }
    }
}

/// What is on the screen.
struct Top {
    view: View,
    /// Why the last look failed.
    problem: Option<String>,
    list: List,
    order: RowOrder,
    paused: bool,
    /// A look that is wanted at once.
    asks: Option<Question>,
}

impl Top {
    fn new(view: View) -> Top {
        Top {
            view,
            problem: None,
            list: List::default(),
            order: RowOrder::default(),
            paused: false,
            asks: None,
        }
    }

    fn take_view(&mut self, seen: Result<View>) {
        match seen {
            Ok(view) => (self.view, self.problem) = (view, None),
            Err(e) => self.problem = Some(e.to_string()),
        }
    }

    fn key(&mut self, key: KeyEvent) -> KeyOutcome {
        if self.list.key(key, self.view.rows.len()) {
            return KeyOutcome::On;
        }
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return KeyOutcome::End,
            KeyCode::Char('p') => self.paused = !self.paused,
            KeyCode::Char('s') => {
                self.order = self.order.next();
                self.asks = Some((self.order, false));
            }
            KeyCode::Char('r') => self.asks = Some((self.order, true)),
            _ => {}
        }
        KeyOutcome::On
    }

    fn draw(&mut self, frame: &mut Frame) {
        let area = frame.area();
        let head = self.head(area.width);
        let details = if area.height < LOW { 0 } else { DETAILS };
        let [top, middle, bottom, foot] = Split::vertical([
            Constraint::Length(head.height() as u16),
            Constraint::Min(1),
            Constraint::Length(details),
            Constraint::Length(1),
        ])
        .areas(area);
        frame.render_widget(head, top);
        let kind = self.view.kind;
        let table = Table {
            heading: heading(kind),
            main: if kind == RowKind::Subpaths { 3 } else { 2 },
            items: self.view.rows.len(),
            least: 0,
        };
        let rows = &self.view.rows;
        let row = |i: usize| {
            let row = &rows[i];
            (cells(kind, row), (row.name.clone(), row.rest.clone()))
        };
        table.draw(frame, middle, &mut self.list, row, name_line);
        if let Some(row) = rows.get(self.list.at) {
            let text = row.details.join("\n");
            let lines: Vec<String> = text
                .lines()
                .map(|l| wrap_words(l, usize::from(area.width), 0))
                .collect();
            frame.render_widget(Text::from(lines.join("\n")).dim(), bottom);
        }
        frame.render_widget(Line::from(self.foot(area.width)).reversed(), foot);
    }

    fn head(&self, width: u16) -> Text<'_> {
        let mut lines = vec![
            Line::from(clip(&self.view.title, width)).bold(),
            Line::from(clip(&self.view.totals, width)),
        ];
        let warn = Style::new().fg(Color::Yellow);
        // One of many files that cannot be read must not take the screen.
        let notes = self.problem.iter().chain(&self.view.notes).take(3);
        lines.extend(notes.map(|n| Line::styled(clip(n, width), warn)));
        Text::from(lines)
    }

    fn foot(&self, width: u16) -> String {
        let over = self.view.over.map_or(String::new(), |o| {
            format!("rates over {} s, ", o.as_secs_f64().round())
        });
        let paused = if self.paused { "p goes on" } else { "p pauses" };
        let keys = format!(
            "by {} (s sorts), {over}r restarts them, {paused}, q ends",
            self.order.word()
        );
        clip(&keys, width)
    }
}

#[cfg(test)]
mod tests;
