//! Long lists of which only what is in sight is made.

use crate::base::names::{escape_unprintable, first_columns, fit_readable_name};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row, Table as Widget};
use std::ops::Range;
use textwrap::core::display_width;

/// Between columns.
const GAP: u16 = 2;
/// In less room than this, a table shows its main column alone beside names.
const NARROW: u16 = 60;

/// Where a user is in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct List {
    /// The item that is chosen.
    pub(in crate::cli) at: usize,
    /// The first in sight.
    first: usize,
    /// How many were in sight.
    page: usize,
}

/// Where a key moves from `at`, by `page` or to `end`, which may be too far; `None`: it is none that moves.
pub(in crate::cli) fn move_selection(
    key: KeyEvent,
    at: usize,
    page: usize,
    end: usize,
) -> Option<usize> {
    Some(match key.code {
        KeyCode::Up | KeyCode::Char('k') => at.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => at + 1,
        KeyCode::PageUp => at.saturating_sub(page),
        KeyCode::PageDown | KeyCode::Char(' ') => at + page,
        KeyCode::Home | KeyCode::Char('g') => 0,
        KeyCode::End | KeyCode::Char('G') => end,
        _ => return None,
    })
}

impl List {
    /// Moves as a key says; whether it is one that moves.
    pub(in crate::cli) fn key(&mut self, key: KeyEvent, items: usize) -> bool {
        let to = move_selection(key, self.at, self.page.max(1), items);
        if let Some(to) = to {
            self.at = to.min(items.saturating_sub(1));
        }
        to.is_some()
    }

    /// The items in sight, where so many fit.
    pub(in crate::cli) fn scroll_into_sight(&mut self, items: usize, fit: usize) -> Range<usize> {
        self.at = self.at.min(items.saturating_sub(1));
        self.page = fit;
        let least = (self.at + 1).saturating_sub(fit);
        self.first = self.first.clamp(least, self.at.max(least));
        self.first = self.first.min(items.saturating_sub(fit));
        self.first..items.min(self.first + fit)
    }
}

/// Rows of numbers with a name behind them.
pub(in crate::cli) struct Table<'a> {
    /// The names of the columns.
    pub(in crate::cli) heading: Vec<&'a str>,
    /// Which column stays where room is scarce.
    pub(in crate::cli) main: usize,
    /// How many rows there are.
    pub(in crate::cli) items: usize,
    /// Where less than this is left for what stands behind the numbers, columns of these go, the last first.
    pub(in crate::cli) least: u16,
}

impl Table<'_> {
    /// Draws it; `row` makes one: its numbers, and what `fit` makes the last cell of, in so many columns.
    pub(in crate::cli) fn draw<T>(
        &self,
        frame: &mut Frame,
        area: Rect,
        list: &mut List,
        mut row: impl FnMut(usize) -> (Vec<String>, T),
        fit: impl Fn(T, u16) -> Line<'static>,
    ) {
        let sight = list.scroll_into_sight(self.items, usize::from(area.height.saturating_sub(1)));
        let first = sight.start;
        let rows: Vec<_> = sight.map(&mut row).collect();
        let numbers = self.heading.len() - 1;
        let mut shown: Vec<usize> = (0..numbers).collect();
        if area.width < NARROW {
            shown.retain(|c| *c == self.main);
        }
        let wide = |c: &usize| {
            let cells = rows.iter().map(|r| display_width(&r.0[*c]));
            cells
                .max()
                .unwrap_or(0)
                .max(display_width(self.heading[*c])) as u16
        };
        let left = |shown: &[usize]| {
            let taken = shown.iter().map(|c| wide(c).saturating_add(GAP));
            area.width
                .saturating_sub(taken.fold(0, u16::saturating_add))
        };
        while left(&shown) < self.least
            && let Some(last) = shown.iter().rposition(|c| *c != self.main)
        {
            shown.remove(last);
        }
        let mut widths: Vec<u16> = shown.iter().map(wide).collect();
        let room = left(&shown);
        widths.push(room);
        let right = |text: String| Cell::new(Line::from(text).alignment(Alignment::Right));
        let heading = shown.iter().map(|c| right(self.heading[*c].into()));
        let heading = heading.chain([Cell::new(self.heading[numbers])]);
        let rows = rows.into_iter().enumerate().map(|(i, (cells, last))| {
            let numbers = shown.iter().map(|c| right(cells[*c].clone()));
            let row = Row::new(numbers.chain([Cell::new(fit(last, room))]));
            if first + i == list.at {
                row.style(Style::new().reversed())
            } else {
                row
            }
        });
        let widths = widths.into_iter().map(Constraint::Length);
        let table = Widget::new(rows, widths).column_spacing(GAP);
        frame.render_widget(table.header(Row::new(heading).bold()), area);
    }
}

/// A name that is shortened for what follows it.
pub(in crate::cli) fn name_line((name, rest): (String, String), room: u16) -> Line<'static> {
    let left = usize::from(room).saturating_sub(display_width(&rest));
    let name = fit_readable_name(&name, left.max(12));
    let name = Span::styled(name, Style::new().fg(Color::Cyan));
    Line::from(vec![name, Span::raw(rest)])
}

/// The text, without control characters, as far as it fits into so many columns.
pub(in crate::cli) fn clip(text: &str, width: u16) -> String {
    let text = escape_unprintable(text);
    let width = usize::from(width);
    if display_width(&text) <= width {
        return text.into_owned();
    }
    format!("{}…", first_columns(&text, width.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode) -> KeyEvent {
        code.into()
    }

    #[test]
    fn moving() {
        let mut list = List::default();
        assert_eq!(list.scroll_into_sight(100, 10), 0..10);
        assert!(list.key(key(KeyCode::PageDown), 100));
        assert_eq!((list.at, list.scroll_into_sight(100, 10)), (10, 1..11));
        list.key(key(KeyCode::Up), 100);
        assert_eq!((list.at, list.scroll_into_sight(100, 10)), (9, 1..11));
        list.key(key(KeyCode::End), 100);
        assert_eq!((list.at, list.scroll_into_sight(100, 10)), (99, 90..100));
        // Fewer items, and more room.
        assert_eq!((list.scroll_into_sight(5, 10), list.at), (0..5, 4));
        assert_eq!((list.scroll_into_sight(0, 10), list.at), (0..0, 0));
        assert!(list.scroll_into_sight(3, 0).is_empty());
        assert!(!list.key(key(KeyCode::Char('x')), 3));
        list.key(key(KeyCode::Home), 0);
        assert_eq!(list.at, 0);
    }

    #[test]
    fn clipped() {
        assert_eq!(clip("abc", 3), "abc");
        assert_eq!(clip("abcd", 3), "ab…");
        assert_eq!(clip("日本語", 5), "日本…");
        assert_eq!(clip("a\u{1b}[2J", 20), "a\\u{1b}[2J");
        assert_eq!(clip("abcd", 0), "…");
    }
}
