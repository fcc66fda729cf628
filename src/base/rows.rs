//! Tables as data: each column is declared once, with its headings and what a row has in it, for text, Markdown, CSV
//! and JSON.

use super::style::BOLD;
use super::table::{self, Align, Columns, exactly, percent, roughly};
use serde::{Serialize, Serializer};
use std::borrow::Borrow;

/// What a row has in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing: JSON has no such key.
    Empty,
    /// Words, which text aligns to the left.
    Text(String),
    /// A number in the words for people.
    Figure(String),
    /// A count, with all digits.
    Count(u128),
    /// A number of possible paths: only roughly of interest to people, and a string in JSON, since it exceeds what JSON
    /// numbers hold exactly in many readers.
    Possible(u128),
    /// A share of one: percent for people, six digits for programs.
    Share(f64),
    /// How many there are and how many there are of all, for JSON.
    Both([u64; 2]),
}

impl Cell {
    /// The cell for people.
    fn shown(&self) -> String {
        match self {
            Cell::Count(n) => exactly(*n),
            Cell::Possible(n) => roughly(*n),
            Cell::Share(share) => percent(*share),
            _ => self.field(),
        }
    }

    /// The field of CSV.
    fn field(&self) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Text(text) | Cell::Figure(text) => text.clone(),
            Cell::Count(n) | Cell::Possible(n) => n.to_string(),
            Cell::Share(share) => format!("{share:.6}"),
            Cell::Both([some, all]) => format!("{some} {all}"),
        }
    }

    fn align(&self) -> Align {
        match self {
            Cell::Text(_) => Align::Left,
            _ => Align::Right,
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Count(n) => s.serialize_u128(*n),
            Cell::Share(share) => s.serialize_f64((share * 1e6).round() / 1e6),
            Cell::Both(both) => both.serialize(s),
            _ => s.serialize_str(&self.field()),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_string())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

macro_rules! counts {
    ($($number:ty)*) => { $(
        impl From<$number> for Cell {
            fn from(n: $number) -> Cell {
                Cell::Count(n as u128)
            }
        }
    )* };
}
counts!(u32 u64 usize u128);

impl<C: Into<Cell>> From<Option<C>> for Cell {
    fn from(cell: Option<C>) -> Cell {
        cell.map_or(Cell::Empty, Into::into)
    }
}

/// A column: its headings, empty where a format does not have it, and its cell in a row.
struct Column<'a, R> {
    text: &'static str,
    csv: &'static str,
    json: &'static str,
    cell: Box<dyn Fn(&R) -> Cell + 'a>,
}

/// The columns of rows `R`, in the order of each format.
pub struct Table<'a, R> {
    columns: Vec<Column<'a, R>>,
}

impl<'a, R: 'a> Table<'a, R> {
    /// A table without columns.
    pub fn new() -> Table<'a, R> {
        Table {
            columns: Vec::new(),
        }
    }

    /// Adds a column of text and Markdown.
    pub fn text<C: Into<Cell>>(self, heading: &'static str, cell: impl Fn(&R) -> C + 'a) -> Self {
        self.add([heading, "", ""], move |r| cell(r).into())
    }

    /// Adds a column of CSV.
    pub fn csv<C: Into<Cell>>(self, key: &'static str, cell: impl Fn(&R) -> C + 'a) -> Self {
        self.add(["", key, ""], move |r| cell(r).into())
    }

    /// Adds a key of JSON.
    pub fn json<C: Into<Cell>>(self, key: &'static str, cell: impl Fn(&R) -> C + 'a) -> Self {
        self.add(["", "", key], move |r| cell(r).into())
    }

    /// Adds a column of CSV that is a key of JSON.
    pub fn data<C: Into<Cell>>(self, key: &'static str, cell: impl Fn(&R) -> C + 'a) -> Self {
        self.add(["", key, key], move |r| cell(r).into())
    }

    /// Adds a column of CSV, which has another heading as text.
    pub fn both<C: Into<Cell>>(
        self,
        key: &'static str,
        heading: &'static str,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.add([heading, key, ""], move |r| cell(r).into())
    }

    fn add(mut self, headings: [&'static str; 3], cell: impl Fn(&R) -> Cell + 'a) -> Self {
        let [text, csv, json] = headings;
        let cell = Box::new(cell);
        self.columns.push(Column {
            text,
            csv,
            json,
            cell,
        });
        self
    }

    /// Adds the columns of `other`, whose rows are `part` of the rows here.
    pub fn with<P: 'a>(mut self, other: Table<'a, P>, part: impl Fn(&R) -> P + Copy + 'a) -> Self {
        for column in other.columns {
            let headings = [column.text, column.csv, column.json];
            self = self.add(headings, move |r| (column.cell)(&part(r)));
        }
        self
    }

    /// Leaves out all but the first `kept` columns of text.
    pub fn keep_text(mut self, kept: usize) -> Self {
        let mut number = 0;
        self.columns.retain(|c| {
            number += usize::from(!c.text.is_empty());
            c.text.is_empty() || number <= kept
        });
        self
    }

    fn columns_of_text(&self) -> impl Iterator<Item = &Column<'a, R>> {
        self.columns.iter().filter(|c| !c.text.is_empty())
    }

    /// The cells of a row as text.
    pub fn cells(&self, row: &R) -> Vec<String> {
        let cells = self.columns_of_text().map(|c| (c.cell)(row).shown());
        cells.collect()
    }

    /// The heading of text in front of rows of cells, which are aligned like those of `first`, and a name, which is the
    /// column `last`.
    fn begin_like(&self, first: Option<&R>, last: Option<&str>) -> Columns {
        let align = |c: &Column<R>| first.map_or(Align::Right, |row| (c.cell)(row).align());
        let aligns = self.columns_of_text().map(align);
        let aligns: Vec<Align> = aligns.chain(last.map(|_| Align::Left)).collect();
        let headings = self.columns_of_text().map(|c| c.text).chain(last);
        let mut columns = Columns::new(aligns);
        columns.heading(BOLD, &headings.collect::<Vec<_>>());
        columns
    }

    /// The heading of text in front of rows of numbers and a name, which is the column `last`.
    pub fn begin(&self, last: &str) -> Columns {
        self.begin_like(None, Some(last))
    }

    /// The heading and the rows as text.
    pub fn columns<Q: Borrow<R>>(&self, rows: &[Q]) -> Columns {
        let mut columns = self.begin_like(rows.first().map(Borrow::borrow), None);
        for row in rows {
            columns.row(self.cells(row.borrow()));
        }
        columns
    }

    /// The heading and the rows as text, each with its name in the column `last`.
    pub fn columns_and_names<Q: Borrow<R>>(
        &self,
        rows: &[Q],
        last: &str,
        name: impl Fn(&R) -> String,
    ) -> Columns {
        let mut columns = self.begin_like(rows.first().map(Borrow::borrow), Some(last));
        for row in rows.iter().map(Borrow::borrow) {
            columns.named(self.cells(row), name(row), String::new());
        }
        columns
    }

    /// A table of Markdown.
    pub fn markdown<Q: Borrow<R>>(&self, rows: &[Q]) -> String {
        let rule = |c: &Column<R>| {
            let first = rows.first().map(|row| (c.cell)(row.borrow()).align());
            match first {
                Some(Align::Right) => "---:",
                _ => "---",
            }
        };
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let escaped = |cells: Vec<String>| cells.iter().map(|c| c.replace('|', "\\|")).collect();
        let headings = self.columns_of_text().map(|c| c.text.to_string());
        let rules: Vec<&str> = self.columns_of_text().map(rule).collect();
        let mut out = line(headings.collect()) + &format!("|{}|\n", rules.join("|"));
        out.extend(
            rows.iter()
                .map(|row| line(escaped(self.cells(row.borrow())))),
        );
        out
    }

    /// One record for each row, after a heading.
    pub fn to_csv<Q: Borrow<R>>(&self, rows: impl IntoIterator<Item = Q>) -> String {
        let columns = || self.columns.iter().filter(|c| !c.csv.is_empty());
        let record = |row: Q| columns().map(move |c| (c.cell)(row.borrow()).field());
        let records = rows.into_iter().map(|row| record(row).collect::<Vec<_>>());
        table::csv(&columns().map(|c| c.csv).collect::<Vec<_>>(), records)
    }

    /// The keys of a row that is an object of JSON, or a part of one (`#[serde(flatten)]`).
    pub fn record(&self, row: &R) -> Record {
        let columns = self.columns.iter().filter(|c| !c.json.is_empty());
        let cells = columns.map(|c| (c.json, (c.cell)(row)));
        Record(cells.filter(|(_, cell)| *cell != Cell::Empty).collect())
    }
}

/// The keys of a row and its cells.
pub struct Record(Vec<(&'static str, Cell)>);

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(self.0.iter().map(|(key, cell)| (key, cell)))
    }
}
