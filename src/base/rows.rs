//! Tables as data: each column is declared once, with its headings and what a row has in it, for text, Markdown, CSV
//! and JSON.

use super::style::BOLD;
use super::table::{self, Align, Columns, group_digits, percent, roughly};
use serde::{Serialize, Serializer};
use std::borrow::Borrow;

/// What a row has in a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Nothing: JSON has no such key.
    Empty,
    /// Words, which text aligns to the left.
    Text(String),
    /// A number in the words for people.
    Figure(String),
    /// A count.
    Count(u128),
    /// A number of possible paths: only roughly of interest to people, and a string in JSON, since it exceeds what JSON
    /// numbers hold exactly in many readers.
    Possible(u128),
    /// A share of one: percent for people, six digits for programs.
    Share(f64),
    /// Two numbers, like those that ran and all, for JSON.
    Both([u64; 2]),
    /// An object, for JSON.
    Object(Record),
}

impl Cell {
    /// The cell for people.
    fn words(&self) -> String {
        match self {
            Cell::Count(n) => group_digits(*n),
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
            Cell::Object(_) => unreachable!("only JSON has objects"),
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
            Cell::Object(record) => record.serialize(s),
            _ => s.serialize_str(&self.field()),
        }
    }
}

macro_rules! cells {
    ($($value:ty => $cell:expr,)*) => { $(
        impl From<$value> for Cell {
            fn from(value: $value) -> Cell {
                $cell(value)
            }
        }
    )* };
}
cells! {
    &str => |text: &str| Cell::Text(text.into()),
    String => Cell::Text,
    u32 => |n| Cell::Count(u128::from(n)),
    u64 => |n| Cell::Count(u128::from(n)),
    usize => |n| Cell::Count(n as u128),
    u128 => Cell::Count,
}

impl<C: Into<Cell>> From<Option<C>> for Cell {
    fn from(cell: Option<C>) -> Cell {
        cell.map_or(Cell::Empty, Into::into)
    }
}

/// A column: its headings in text, CSV and JSON, empty where a format does not have it, and its cell in a row.
struct Column<'a, R> {
    headings: [&'static str; 3],
    cell: Box<dyn Fn(&R) -> Cell + 'a>,
}

/// The place of a format in [`Column::headings`].
const TEXT: usize = 0;
const CSV: usize = 1;
const JSON: usize = 2;

macro_rules! add {
    ($($(#[$doc:meta])* $name:ident($($heading:ident),*): $headings:expr,)*) => { $(
        $(#[$doc])*
        pub(crate) fn $name<C: Into<Cell>>(
            self,
            $($heading: &'static str,)*
            cell: impl Fn(&R) -> C + 'a,
        ) -> Self {
            self.add($headings, move |row| cell(row).into())
        }
    )* };
}

/// The columns of rows `R`, in the order of each format.
pub(crate) struct Table<'a, R> {
    columns: Vec<Column<'a, R>>,
}

impl<'a, R: 'a> Table<'a, R> {
    /// A table without columns.
    pub(crate) fn new() -> Table<'a, R> {
        Table {
            columns: Vec::new(),
        }
    }

    add! {
        /// Adds a column of text and Markdown.
        text(heading): [heading, "", ""],
        /// Adds a column of CSV.
        csv(key): ["", key, ""],
        /// Adds a key of JSON.
        json(key): ["", "", key],
        /// Adds a column of CSV that is a key of JSON.
        csv_and_json(key): ["", key, key],
        /// Adds a column of CSV, which has another heading as text.
        text_and_csv(key, heading): [heading, key, ""],
        /// Adds a key of JSON, which has another heading as text.
        text_and_json(key, heading): [heading, "", key],
    }

    fn add(mut self, headings: [&'static str; 3], cell: impl Fn(&R) -> Cell + 'a) -> Self {
        let cell = Box::new(cell);
        self.columns.push(Column { headings, cell });
        self
    }

    /// Adds the columns of `other`, whose rows are `part` of the rows here.
    pub(crate) fn add_columns<P: 'a>(
        mut self,
        other: Table<'a, P>,
        part: impl Fn(&R) -> P + Copy + 'a,
    ) -> Self {
        for column in other.columns {
            self = self.add(column.headings, move |row| (column.cell)(&part(row)));
        }
        self
    }

    /// Leaves out all but the first `kept` columns of text.
    pub(crate) fn keep_text(mut self, kept: usize) -> Self {
        let text = |c: &&mut Column<R>| !c.headings[TEXT].is_empty();
        let others = self.columns.iter_mut().filter(text).skip(kept);
        others.for_each(|c| c.headings[TEXT] = "");
        self
    }

    /// The columns that a format has, each with its heading there.
    fn columns_of(&self, format: usize) -> impl Iterator<Item = (&'static str, &Column<'a, R>)> {
        let columns = self.columns.iter().map(move |c| (c.headings[format], c));
        columns.filter(|(heading, _)| !heading.is_empty())
    }

    fn headings(&self, format: usize) -> Vec<&'static str> {
        self.columns_of(format).map(|c| c.0).collect()
    }

    /// The cells of a row as text.
    pub(crate) fn cells(&self, row: &R) -> Vec<String> {
        let cells = self.columns_of(TEXT).map(|(_, c)| (c.cell)(row).words());
        cells.collect()
    }

    /// On which side cells of text stand, like those of the first row.
    fn cell_alignments<Q: Borrow<R>>(&self, rows: &[Q]) -> Vec<Align> {
        let first = rows.first().map(Borrow::borrow);
        let align = |c: &Column<R>| first.map_or(Align::Right, |row| (c.cell)(row).align());
        self.columns_of(TEXT).map(|(_, c)| align(c)).collect()
    }

    /// The heading of text over `rows`, whose column `last`, if there is one, has names.
    fn begin_like<Q: Borrow<R>>(&self, rows: &[Q], last: Option<&str>) -> Columns {
        let (mut aligns, mut headings) = (self.cell_alignments(rows), self.headings(TEXT));
        aligns.extend(last.map(|_| Align::Left));
        let mut columns = Columns::new(aligns);
        columns.heading(BOLD, &headings.drain(..).chain(last).collect::<Vec<_>>());
        columns
    }

    /// The heading of text over rows of numbers and a name, which is the column `last`.
    pub(crate) fn begin_columns(&self, last: &str) -> Columns {
        self.begin_like::<R>(&[], Some(last))
    }

    /// The heading and the rows as text.
    pub(crate) fn columns<Q: Borrow<R>>(&self, rows: &[Q]) -> Columns {
        let mut columns = self.begin_like(rows, None);
        rows.iter()
            .for_each(|row| columns.row(self.cells(row.borrow())));
        columns
    }

    /// The heading and the rows as text, each with its name in the column `last`.
    pub(crate) fn columns_and_names<Q: Borrow<R>>(
        &self,
        rows: &[Q],
        (last, name): (&str, impl Fn(&R) -> String),
    ) -> Columns {
        let mut columns = self.begin_like(rows, Some(last));
        for row in rows.iter().map(Borrow::borrow) {
            columns.add_named_row(self.cells(row), name(row), String::new());
        }
        columns
    }

    /// A table of Markdown.
    pub(crate) fn markdown<Q: Borrow<R>>(&self, rows: &[Q]) -> String {
        let rule = |align| if align == Align::Left { "---" } else { "---:" };
        let rules: Vec<&str> = self.cell_alignments(rows).into_iter().map(rule).collect();
        let headings = self.headings(TEXT).join(" | ");
        let mut out = format!("| {headings} |\n|{}|\n", rules.join("|"));
        for row in rows {
            let cells = self.cells(row.borrow()).into_iter();
            let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
            out += &format!("| {} |\n", cells.join(" | "));
        }
        out
    }

    /// One record for each row, after a heading.
    pub(crate) fn to_csv<Q: Borrow<R>>(&self, rows: impl IntoIterator<Item = Q>) -> String {
        let record = |row: &R| {
            let fields = self.columns_of(CSV).map(|(_, c)| (c.cell)(row).field());
            fields.collect::<Vec<_>>()
        };
        let records = rows.into_iter().map(|row| record(row.borrow()));
        table::csv(&self.headings(CSV), records)
    }

    /// The keys of a row that is an object of JSON, or a part of one (`#[serde(flatten)]`).
    pub(crate) fn record(&self, row: &R) -> Record {
        let cells = self.columns_of(JSON).map(|(key, c)| (key, (c.cell)(row)));
        Record(cells.filter(|(_, cell)| *cell != Cell::Empty).collect())
    }
}

/// The keys of a row and its cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record(pub(crate) Vec<(&'static str, Cell)>);

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(self.0.iter().map(|(key, cell)| (key, cell)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column is in the formats that it has a heading for; what is empty is no key of JSON.
    #[test]
    fn column_has_one_form_for_each_format() {
        let third = |r: &(&str, u64)| (r.1 > 0).then_some(Cell::Share(1.0 / 3.0));
        let table = Table::new()
            .text_and_csv("symbol", "function", |r: &(&str, u64)| r.0)
            .csv_and_json("share", third)
            .text_and_json("possible", "of", |r| Cell::Possible(r.1.into()))
            .csv("possible", |r| r.1);
        let rows = [("a|b", 2_500_000), ("c", 0)];
        let csv = "symbol,share,possible\na|b,0.333333,2500000\nc,,0\n";
        assert_eq!(table.to_csv(rows), csv);
        let json = rows.map(|row| serde_json::to_string(&table.record(&row)).unwrap());
        let expected = [
            r#"{"share":0.333333,"possible":"2500000"}"#,
            r#"{"possible":"0"}"#,
        ];
        assert_eq!(json, expected);
        let markdown = "| function | of |\n|---|---:|\n| a\\|b | 2.5e6 |\n| c | 0 |\n";
        assert_eq!(table.markdown(&rows), markdown);
        let text = anstream::adapter::strip_str(&table.columns(&rows).to_string()).to_string();
        assert_eq!(text, "function     of\na|b       2.5e6\nc             0\n");
        assert_eq!(table.keep_text(1).cells(&rows[1]), ["c"]);
    }
}
