//! Tables: in columns for people, as CSV for other programs.

use crate::names::printable;
use anstyle::Style;
use std::fmt;

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Numbers.
    Right,
}

/// Rows of cells in columns as wide as their widest cell, two spaces apart.
///
/// A cell behind which nothing stands takes the rest of its line: the last of a row, unless it is one of the last
/// column and stands right. It is not measured, and so may hold styles.
pub struct Columns {
    aligns: Vec<Align>,
    rows: Vec<(Style, Vec<String>)>,
}

impl Columns {
    /// A table without rows.
    pub fn new(aligns: impl Into<Vec<Align>>) -> Columns {
        Columns {
            aligns: aligns.into(),
            rows: Vec::new(),
        }
    }

    /// Adds a row of at most as many cells as there are columns.
    pub fn row(&mut self, cells: impl Into<Vec<String>>) {
        self.styled(Style::new(), cells);
    }

    /// Adds a heading.
    pub fn heading(&mut self, style: Style, cells: &[&str]) {
        self.styled(
            style,
            cells.iter().copied().map(String::from).collect::<Vec<_>>(),
        );
    }

    /// Adds a row that is styled as a whole.
    pub fn styled(&mut self, style: Style, cells: impl Into<Vec<String>>) {
        let cells = cells.into();
        assert!(cells.len() <= self.aligns.len(), "a cell without a column");
        self.rows.push((style, cells));
    }

    /// Whether cell `i` of a row of `n` is padded to its column's width.
    fn is_padded(&self, i: usize, n: usize) -> bool {
        i + 1 < n || (n == self.aligns.len() && self.aligns[i] == Align::Right)
    }

    fn width(&self, i: usize) -> usize {
        let rows = self.rows.iter().map(|(_, cells)| cells);
        let cells = rows.filter(|cells| i < cells.len() && self.is_padded(i, cells.len()));
        cells
            .map(|cells| cells[i].chars().count())
            .max()
            .unwrap_or(0)
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (i, cell) in cells.iter().enumerate() {
            let separator = if i > 0 { "  " } else { "" };
            let width = if self.is_padded(i, cells.len()) {
                widths[i]
            } else {
                0
            };
            line += &match self.aligns[i] {
                Align::Left => format!("{separator}{cell:<width$}"),
                Align::Right => format!("{separator}{cell:>width$}"),
            };
        }
        line
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.aligns.len()).map(|i| self.width(i)).collect();
        for (style, cells) in &self.rows {
            let line = self.line(cells, &widths);
            writeln!(f, "{style}{}{style:#}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A heading and records under it, as CSV. Fields are of one line and of nothing but text: not every reader takes
/// line ends, quoted or not, and tables are looked at in terminals.
pub fn csv<R: IntoIterator<Item = String>>(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns() {
        use Align::{Left, Right};
        let mut table = Columns::new([Left, Right, Left]);
        table.heading(Style::new().bold(), &["what", "n", "rest"]);
        table.row(["äpfel".into(), "1000".into(), "a long rest".into()]);
        table.row(["b".into(), "as long as it likes, this is the end".into()]);
        table.row([String::new()]);
        let text = anstream::adapter::strip_str(&table.to_string()).to_string();
        assert_eq!(
            text,
            "what      n  rest\näpfel  1000  a long rest\nb      as long as it likes, this is the end\n\n"
        );
        let mut numbers = Columns::new([Right, Right]);
        numbers.row(["1".into(), "22".into()]);
        numbers.row(["333".into(), String::new()]);
        assert_eq!(numbers.to_string(), "  1  22\n333\n");
    }
}
