//! The three screens: functions, paths of one or subpaths through it, one of these in its sources.

use super::data::Tour;
use super::items::{Described, Items};
use super::lit::{Lit, LitFile};
use crate::base::error::Result;
use crate::base::table::{Layout, wrap_words};
use crate::cli::screen::{KeyOutcome, List, Table, clip, move_selection, name_line};
use crate::read::report::steps;
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::{Constraint, Layout as Split, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span, Text};

/// From so many columns on, decisions stand beside the source text.
const WIDE: u16 = 120;

/// The columns that a path needs beside its numbers, so that its outcomes are in sight.
const LEAST: u16 = 44;

/// What is browsed, and where.
pub(super) struct Browser<'a> {
    tour: Tour<'a>,
    list: List,
    /// What is typed after `/`, as long as it is.
    typed: Option<String>,
    /// What functions are filtered by.
    filter: String,
    items: Option<(Box<dyn Items + 'a>, List)>,
    lit: Option<Page>,
    /// Where threads are told apart: what is told of them in the title.
    threads: Option<String>,
}

/// A path or subpath in its sources.
struct Page {
    lit: Lit,
    /// The file in sight, and the first line of it.
    file: usize,
    first: usize,
    /// How many lines were in sight.
    page: usize,
}

impl Page {
    fn new(lit: Lit) -> Page {
        let mut page = Page {
            lit,
            file: 0,
            first: 0,
            page: 1,
        };
        page.scroll_to_path();
        page
    }

    /// The first line of the path in this file comes into sight, with some above it.
    fn scroll_to_path(&mut self) {
        const ABOVE: usize = 3;
        let first = self.file().and_then(|f| f.lines.first());
        self.first = first.map_or(0, |l| (*l as usize).saturating_sub(ABOVE + 1));
    }

    fn file(&self) -> Option<&LitFile> {
        self.lit.files.get(self.file)
    }

    fn lines(&self) -> usize {
        let text = self.file().and_then(|f| f.text.as_ref());
        text.map_or(0, Vec::len)
    }

    /// Scrolls as a key says.
    fn key(&mut self, key: KeyEvent) {
        let (page, lines) = (self.page.max(1), self.lines());
        if let Some(to) = move_selection(key, self.first, page, lines) {
            self.first = to.min(lines.saturating_sub(page));
        } else if key.code == KeyCode::Tab && !self.lit.files.is_empty() {
            self.file = (self.file + 1) % self.lit.files.len();
            self.scroll_to_path();
        }
    }
}

impl<'a> Browser<'a> {
    pub(super) fn new(tour: Tour<'a>) -> Browser<'a> {
        Browser {
            tour,
            list: List::default(),
            typed: None,
            filter: String::new(),
            items: None,
            lit: None,
            threads: None,
        }
    }

    /// Says in the title that it is of this thread alone, or of all.
    pub(super) fn tell_threads(&mut self, name: Option<String>) {
        self.threads = Some(name.map_or(String::new(), |name| format!("{name} alone: ")));
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Result<KeyOutcome> {
        if self.typed.is_some() {
            self.type_key(key);
            return Ok(KeyOutcome::On);
        }
        if key.code == KeyCode::Char('q') {
            return Ok(KeyOutcome::End);
        }
        if key.code == KeyCode::Char('t') && self.threads.is_some() {
            return Ok(KeyOutcome::Next);
        }
        if self.lit.is_some() {
            self.source_key(key)?;
        } else if self.items.is_some() {
            self.item_key(key)?;
        } else {
            self.function_key(key)?;
        }
        Ok(KeyOutcome::On)
    }

    /// The filter follows what is typed, as far as it is an expression.
    fn type_key(&mut self, key: KeyEvent) {
        let mut typed = self.typed.take().unwrap_or_default();
        match key.code {
            KeyCode::Enter => {
                if self.tour.filter(&typed) {
                    self.filter = typed;
                } else {
                    self.typed = Some(typed);
                }
                return;
            }
            KeyCode::Esc => {
                self.tour.filter(&self.filter);
                return;
            }
            KeyCode::Backspace => drop(typed.pop()),
            KeyCode::Char(c) => typed.push(c),
            _ => {}
        }
        self.tour.filter(&typed);
        self.typed = Some(typed);
    }

    fn function_key(&mut self, key: KeyEvent) -> Result<()> {
        if self.list.key(key, self.tour.len()) {
            return Ok(());
        }
        match key.code {
            KeyCode::Char('/') => self.typed = Some(String::new()),
            KeyCode::Char('s') => {
                let next = self.tour.sort().next(self.tour.sort_orders());
                self.tour.sort_by(next);
            }
            KeyCode::Esc if !self.filter.is_empty() => {
                self.filter.clear();
                self.tour.filter("");
            }
            KeyCode::Enter | KeyCode::Right => {
                if let Some(f) = self.tour.function(self.list.at).map(|f| f.f) {
                    self.items = Some((self.tour.items(f)?, List::default()));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn item_key(&mut self, key: KeyEvent) -> Result<()> {
        let Some((items, list)) = &mut self.items else {
            return Ok(());
        };
        if list.key(key, items.len()) {
            return Ok(());
        }
        match key.code {
            KeyCode::Char('s') => items.sort_by(items.sort().next(items.sort_orders()))?,
            KeyCode::Esc | KeyCode::Left | KeyCode::Backspace => self.items = None,
            KeyCode::Enter | KeyCode::Right if items.len() > 0 => {
                self.lit = Some(Page::new(items.find_source_text(list.at)?));
            }
            _ => {}
        }
        Ok(())
    }

    fn source_key(&mut self, key: KeyEvent) -> Result<()> {
        let (Some(page), Some((items, list))) = (&mut self.lit, &mut self.items) else {
            return Ok(());
        };
        let to = match key.code {
            KeyCode::Esc | KeyCode::Backspace => {
                self.lit = None;
                return Ok(());
            }
            KeyCode::Left | KeyCode::Char('p') => list.at.saturating_sub(1),
            KeyCode::Right | KeyCode::Char('n') => (list.at + 1).min(items.len() - 1),
            _ => {
                page.key(key);
                return Ok(());
            }
        };
        list.at = to;
        *page = Page::new(items.find_source_text(to)?);
        Ok(())
    }

    pub(super) fn draw(&mut self, frame: &mut Frame) -> Result<()> {
        let [head, middle, foot] = Split::vertical([
            Constraint::Length(1),
            Constraint::Min(1),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        let (title, keys) =
            if let (Some(page), Some((items, list))) = (&mut self.lit, &mut self.items) {
                draw_page(page, frame, middle);
                let file = page.file().map_or("no lines are known", |f| &f.name);
                let title = format!("{} · {file}", items.name(list.at)?);
                let keys = format!(
                    "← → other {}, ↑ ↓ scroll, Tab other file, Esc back, q ends",
                    self.tour.item_noun()
                );
                (title, keys)
            } else if let Some((items, list)) = &mut self.items {
                draw_items(items.as_mut(), list, frame, middle)?;
                let keys = format!(
                    "by {} (s sorts), Enter shows one in its source, Esc back, q ends",
                    items.sort().word()
                );
                (items.title(), keys)
            } else {
                draw_functions(&self.tour, &mut self.list, frame, middle);
                (self.tour.title(), self.functions_keys())
            };
        let title = self.threads.clone().unwrap_or_default() + &title;
        let width = head.width;
        frame.render_widget(Line::from(clip(&title, width)).bold(), head);
        frame.render_widget(Line::from(clip(&keys, width)).reversed(), foot);
        Ok(())
    }

    fn functions_keys(&self) -> String {
        if let Some(typed) = &self.typed {
            let wrong = if regex::Regex::new(typed).is_ok() {
                ""
            } else {
                "  (no expression yet)"
            };
            return format!("/{typed}{wrong}");
        }
        let filtered = if self.filter.is_empty() {
            "/ filters".to_string()
        } else {
            format!("/{} (Esc shows all)", self.filter)
        };
        let threads = self.threads.as_ref().map_or("", |_| ", t other thread");
        format!(
            "by {} (s sorts), {filtered}, Enter shows {}{threads}, q ends",
            self.tour.sort().word(),
            self.tour.item_noun()
        )
    }
}

fn draw_functions(tour: &Tour, list: &mut List, frame: &mut Frame, area: Rect) {
    let (heading, main) = tour.heading();
    let table = Table {
        heading,
        main,
        items: tour.len(),
        least: 0,
    };
    let row = |i| {
        let (cells, name) = tour.cells(i);
        (cells, (name, String::new()))
    };
    table.draw(frame, area, list, row, name_line);
}

fn draw_items(items: &mut dyn Items, list: &mut List, frame: &mut Frame, area: Rect) -> Result<()> {
    let (heading, main) = items.heading();
    let numbers = heading.len() - 1;
    let table = Table {
        heading,
        main,
        items: items.len(),
        least: LEAST,
    };
    let mut failed = Ok(());
    let row = |i| match items.row(i) {
        Ok(row) => row,
        Err(e) => {
            failed = Err(e);
            (vec![String::new(); numbers], Described::Text(String::new()))
        }
    };
    let fit = |told: Described, room| Line::from(told.shorten_to(usize::from(room)));
    table.draw(frame, area, list, row, fit);
    failed
}

fn draw_page(page: &mut Page, frame: &mut Frame, area: Rect) {
    let split = if area.width >= WIDE {
        Split::horizontal([
            Constraint::Fill(3),
            Constraint::Length(2),
            Constraint::Fill(2),
        ])
    } else {
        let most = area.height / 3;
        let lines = step_lines(&page.lit, area.width).len() as u16;
        let gap = u16::from(area.height > 4);
        Split::vertical([
            Constraint::Min(1),
            Constraint::Length(gap),
            Constraint::Length(lines.min(most)),
        ])
    };
    let [text, _, beside] = split.areas(area);
    page.page = usize::from(text.height);
    draw_text(page, frame, text);
    let lines = cut_short(
        step_lines(&page.lit, beside.width),
        usize::from(beside.height),
    );
    frame.render_widget(Text::from(lines.join("\n")), beside);
}

/// As many lines as there is room for; the last one says how many are missing.
pub(super) fn cut_short(mut lines: Vec<String>, room: usize) -> Vec<String> {
    if lines.len() > room && room > 0 {
        let missing = lines.len() - (room - 1);
        lines.truncate(room - 1);
        lines.push(format!("⋯ {missing} more"));
    }
    lines
}

/// The steps of a path or subpath, a line each.
fn step_lines(lit: &Lit, width: u16) -> Vec<String> {
    if lit.steps.is_empty() {
        return vec!["nothing is decided".into()];
    }
    let layout = Layout {
        width: usize::from(width),
        full: false,
    };
    steps::text(&lit.steps, layout, 0)
}

fn draw_text(page: &Page, frame: &mut Frame, area: Rect) {
    let Some(file) = page.file() else {
        let blocks = wrap_words(&page.lit.blocks.join("→"), usize::from(area.width), 0);
        frame.render_widget(Text::from(blocks), area);
        return;
    };
    let Some(text) = &file.text else {
        let lines: Vec<String> = file.lines.iter().map(u32::to_string).collect();
        let missing = format!(
            "{} is not here as it was compiled; --source-dir names a folder with it. Lines {}",
            file.name,
            lines.join(", ")
        );
        frame.render_widget(
            Text::from(wrap_words(&missing, usize::from(area.width), 0)),
            area,
        );
        return;
    };
    let digits = text.len().to_string().len();
    let numbered = (1u32..).zip(text).skip(page.first);
    let line = |(n, text): (u32, &String)| {
        let mark = match (file.decided.contains(&n), file.lines.contains(&n)) {
            (true, _) => "▶ ",
            (false, true) => "▌ ",
            (false, false) => "  ",
        };
        let lit = file.lines.contains(&n) || file.decided.contains(&n);
        let style = if lit {
            Style::new().bold().fg(Color::Yellow)
        } else {
            Style::new().dim()
        };
        let number = Span::raw(format!("{n:digits$} ")).dim();
        Line::from(vec![
            number,
            Span::styled(mark, style),
            Span::styled(text.clone(), style),
        ])
    };
    let lines: Vec<Line> = numbered.take(usize::from(area.height)).map(line).collect();
    frame.render_widget(Text::from(lines), area);
}
