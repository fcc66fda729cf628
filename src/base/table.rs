//! Tables: in columns for people, as CSV for other programs; and numbers as both are to have them.

use crate::base::names::{Beside, escape_unprintable, first_columns, last_columns};
use crate::base::style::NAME;
use anstyle::Style;
use comfy_table::{CellAlignment, Table, presets};
use std::borrow::Cow;
use std::fmt;
pub use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, core::Word};

/// What separates columns.
const GAP: usize = 2;
/// A name is not made narrower than this.
pub(crate) const NARROWEST: usize = 12;

/// How much room a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Lines of running text are broken before so many columns.
    pub width: usize,
    /// Whether names, and what has many parts, stay whole, whatever the width.
    pub full: bool,
}

impl Default for Layout {
    /// For what is no terminal.
    fn default() -> Layout {
        Layout {
            width: 100,
            full: false,
        }
    }
}

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Numbers.
    Right,
}

/// Rows of cells in columns as wide as their widest cell, two spaces apart, with notes between them. A last column of
/// names takes the rest of the line.
#[derive(Clone, Debug)]
pub struct Columns {
    aligns: Vec<Align>,
    rows: Vec<TableRow>,
}

#[derive(Clone, Debug)]
enum TableRow {
    Cells(Style, Vec<String>),
    /// Cells of all columns but the last, then a name and what follows it.
    Named(Vec<String>, Name, Rest),
    /// A text that stands below so many columns' right.
    Note(usize, Style, String),
}

/// What a row is called.
#[derive(Clone, Debug)]
enum Name {
    /// After a function, for example.
    Any(String),
    /// After a file: where room is scarce, folders are left out.
    File(String),
}

impl Name {
    fn full_name(&self) -> &str {
        match self {
            Name::Any(name) | Name::File(name) => name,
        }
    }

    /// The columns that it is not made narrower than.
    fn least_width(&self) -> usize {
        let least = match self {
            Name::Any(_) => NARROWEST,
            Name::File(path) => {
                let last = path.rfind('/').map_or(&path[..], |i| &path[i..]);
                (display_width("…") + display_width(last)).max(NARROWEST)
            }
        };
        display_width(self.full_name()).min(least)
    }

    /// As much as `width` columns have room for, and tells it from the names `beside` it.
    fn shorten_beside(&self, beside: &Beside, width: usize) -> String {
        match self {
            Name::Any(name) => beside.fit_name(name, width),
            Name::File(path) => beside.fit_path(path, width),
        }
    }
}

/// What follows a name.
#[derive(Clone, Debug)]
enum Rest {
    /// Stays whole; the name is shortened for it.
    Whole(String),
    /// Loses its end for a name that takes no more than half of the room.
    List(String),
    /// Stands on the next line, indented by so many columns, where the line has no room for both.
    Below(usize, String),
}

impl Rest {
    /// As much as a name leaves of `room` columns.
    fn shorten_to(&self, name: &Name, room: usize) -> Cow<'_, str> {
        match self {
            Rest::Whole(text) => text.into(),
            Rest::Below(_, text) => {
                let used = display_width(name.full_name()) + display_width(text);
                if used <= room { text.into() } else { "".into() }
            }
            Rest::List(text) => {
                // What has no items that can be left out stays whole, as far as the name allows.
                let is_list = text.contains([',', ';']);
                let half = if is_list { room / 2 } else { 0 };
                let most = half.max(name.least_width());
                let name = display_width(name.full_name()).min(most);
                first_items(text, room.saturating_sub(name))
            }
        }
    }

    /// What stands below a name that leaves too little of the line, of which `shown` is beside the name.
    fn text_below(&self, shown: &str, width: usize) -> Option<String> {
        match self {
            Rest::Below(indent, text) if shown.is_empty() && !text.is_empty() => {
                let text = first_items(text.trim_start(), width.saturating_sub(*indent));
                Some(format!("{}{text}", " ".repeat(*indent)))
            }
            _ => None,
        }
    }

    fn full_text(&self) -> &str {
        match self {
            Rest::Whole(text) | Rest::List(text) | Rest::Below(_, text) => text,
        }
    }
}

/// The first items of a list with commas in it, as many as fit into so many columns.
fn first_items(list: &str, width: usize) -> Cow<'_, str> {
    if display_width(list) <= width {
        return list.into();
    }
    let fits = |end: &usize| display_width(&list[..*end]) < width;
    let ends = list.match_indices([',', ';']).map(|(i, c)| i + c.len());
    // From the front: a list may have 10^5 items, of which few fit.
    let Some(end) = ends.take_while(fits).last() else {
        // Words, of which a part tells something.
        let is_list = list.starts_with(':');
        return if is_list {
            "…".into()
        } else {
            cut(list, width).into()
        };
    };
    format!("{}…", &list[..end]).into()
}

impl Columns {
    /// A table without rows.
    pub fn new(aligns: impl Into<Vec<Align>>) -> Columns {
        Columns {
            aligns: aligns.into(),
            rows: Vec::new(),
        }
    }

    /// Adds a row of a cell for each column.
    pub fn row(&mut self, cells: impl Into<Vec<String>>) {
        self.add_styled_row(Style::new(), cells.into());
    }

    /// Adds a heading.
    pub fn heading(&mut self, style: Style, cells: &[&str]) {
        self.add_styled_row(style, cells.iter().copied().map(String::from).collect());
    }

    fn add_styled_row(&mut self, style: Style, cells: Vec<String>) {
        assert_eq!(cells.len(), self.aligns.len(), "a cell for each column");
        self.rows.push(TableRow::Cells(style, cells));
    }

    /// Adds a row of which the last cell is a name, which is shortened where room is scarce, and what follows it.
    pub fn add_named_row(&mut self, cells: impl Into<Vec<String>>, name: String, rest: String) {
        self.add(cells.into(), Name::Any(name), Rest::Whole(rest));
    }

    /// Adds a row that ends with a name and a list. The list stands below the name, indented by so many columns, where
    /// there is no room for both beside each other.
    pub fn named_over_list(
        &mut self,
        cells: impl Into<Vec<String>>,
        name: String,
        indent: usize,
        list: String,
    ) {
        let rest = Rest::Below(indent, list);
        self.add(cells.into(), Name::Any(name), rest);
    }

    /// Adds a row that ends with a file and a list behind its name, of which only what there is room for is shown.
    pub fn file_list(&mut self, cells: impl Into<Vec<String>>, name: String, list: String) {
        self.add(cells.into(), Name::File(name), Rest::List(list));
    }

    fn add(&mut self, cells: Vec<String>, name: Name, rest: Rest) {
        assert_eq!(cells.len() + 1, self.aligns.len(), "a cell for each column");
        self.rows.push(TableRow::Named(cells, name, rest));
    }

    /// Adds running text, indented by so many columns.
    pub fn add_text(&mut self, columns: usize, style: Style, text: impl Into<String>) {
        self.rows.push(TableRow::Note(columns, style, text.into()));
    }

    /// Whether the last column is not padded.
    fn is_open(&self) -> bool {
        self.aligns.last() == Some(&Align::Left)
    }

    /// The cells that are padded of each row that has some, in columns.
    fn padded_cells(&self) -> Table {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        let fixed = self.aligns.len() - usize::from(self.is_open());
        for row in &self.rows {
            let cells = match row {
                TableRow::Cells(_, cells) | TableRow::Named(cells, ..) => &cells[..fixed],
                TableRow::Note(..) => continue,
            };
            table.add_row(cells);
        }
        for (column, align) in table.column_iter_mut().zip(&self.aligns) {
            column.set_padding((0, 0));
            column.set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_padding((GAP as u16, 0));
        }
        table
    }

    /// The text of a table whose first column has names: they are shortened where rows would be wider than the layout.
    pub fn render_names_first(&self, layout: Layout) -> String {
        let widths = self.padded_cells().column_max_content_widths();
        let rest: usize = widths.iter().skip(1).map(|w| usize::from(*w) + GAP).sum();
        let room = layout.width.saturating_sub(rest).max(NARROWEST);
        let mut names: Vec<&mut String> = Vec::new();
        let mut table = self.clone();
        for row in &mut table.rows {
            if let TableRow::Cells(_, cells) = row {
                names.extend(cells.first_mut());
            }
        }
        let beside = Beside::new(names.iter().map(|name| name.to_string()).collect());
        for name in names {
            *name = beside.fit_name(name, room);
        }
        table.render(layout)
    }

    /// The lines of the table.
    pub fn render(&self, layout: Layout) -> String {
        let table = self.padded_cells();
        let widths = table.column_max_content_widths();
        let mut lines = table.lines();
        let mut next = || lines.next().unwrap_or_default();
        let mut out = String::new();
        let names = self.rows.iter().filter_map(|row| match row {
            TableRow::Named(_, name, _) => Some(name.full_name().to_string()),
            _ => None,
        });
        let names = Beside::new(names.collect());
        for row in &self.rows {
            let (style, line) = match row {
                TableRow::Cells(style, cells) => {
                    let last = cells.last().filter(|_| self.is_open());
                    (
                        *style,
                        break_last_cell(next(), last.map_or("", |c| c), layout),
                    )
                }
                TableRow::Named(_, name, rest) => {
                    let front = next();
                    let mut below = None;
                    let (name, rest) = if layout.full {
                        (name.full_name().to_string(), rest.full_text().to_string())
                    } else {
                        let room = layout.width.saturating_sub(display_width(&front) + GAP);
                        let beside = rest.shorten_to(name, room);
                        below = rest.text_below(&beside, layout.width);
                        fit_name(name, &names, &beside, room)
                    };
                    let name = format!("{NAME}{name}{NAME:#}{rest}");
                    let below = below.map(|text| format!("\n{text}")).unwrap_or_default();
                    (Style::new(), join_last_cell(front, &name) + &below)
                }
                TableRow::Note(columns, style, text) => {
                    let indent = widths.iter().take(*columns);
                    let indent: usize = indent.map(|w| usize::from(*w) + GAP).sum();
                    (*style, wrap_words(text, layout.width, indent))
                }
            };
            for line in line.lines().chain(line.is_empty().then_some("")) {
                out += &format!("{style}{}{style:#}\n", line.trim_end());
            }
        }
        out
    }
}

/// A name and what follows it in `room` columns; of both, what follows keeps its end, and the name so much that it can
/// be told.
fn fit_name(name: &Name, others: &Beside, rest: &str, room: usize) -> (String, String) {
    let rest = cut(rest, room.saturating_sub(name.least_width()).max(GAP + 1));
    let name = name.shorten_beside(others, room.saturating_sub(display_width(&rest)));
    (name, rest)
}

/// The cells of a row and the last one, which is broken where there is room for words beside the cells, or else stands
/// below them.
fn break_last_cell(front: String, last: &str, layout: Layout) -> String {
    let column = display_width(&front) + GAP;
    if layout.full || column + display_width(last) <= layout.width {
        return join_last_cell(front, last);
    }
    if column + NARROWEST > layout.width {
        return format!("{front}\n{}", wrap_words(last, layout.width, GAP));
    }
    join_last_cell(front, wrap_words(last, layout.width, column).trim_start())
}

fn join_last_cell(front: String, last: &str) -> String {
    let gap = " ".repeat(if front.is_empty() { 0 } else { GAP });
    format!("{front}{gap}{last}")
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Layout::default()))
    }
}

/// `text` in at most `width` columns: what is longer loses its middle. O(length).
pub fn cut(text: &str, width: usize) -> String {
    let length = display_width(text);
    if length <= width {
        return text.to_string();
    }
    // Blanks at the gap go, and leave their room to other characters.
    const BLANKS: usize = 8;
    let most = length.min(width + BLANKS);
    let cut_to = |kept: usize| {
        let first = kept * 2 / 3;
        let front = first_columns(text, first).trim_end();
        let back = last_columns(text, kept - first).trim_start();
        format!("{front}…{back}")
    };
    let mut texts = (0..=most).rev().map(cut_to);
    let fits = |text: &String| display_width(text) <= width;
    texts.find(fits).unwrap_or_else(|| "…".into())
}

/// Cells in columns of these widths, two spaces apart, the first at its right, in a line of at most `width` columns
/// behind an indentation. A column without width is left out.
pub fn in_columns<const N: usize>(
    cells: &[String; N],
    widths: [usize; N],
    width: usize,
    indent: usize,
) -> String {
    let mut line = " ".repeat(indent);
    for (i, (cell, &column)) in cells.iter().zip(&widths).enumerate() {
        if column == 0 {
            continue;
        }
        let padding = " ".repeat(column.saturating_sub(display_width(cell)));
        if i > 0 {
            line += &" ".repeat(GAP);
        }
        line += &if i == 0 {
            padding + cell
        } else {
            cell.clone() + &padding
        };
    }
    cut(line.trim_end(), width)
}

/// `text` in lines of at most `width` columns where words allow it, each indented by so many blanks. What an arrow
/// leads to may stand on the next line.
pub fn wrap_words(text: &str, width: usize, indent: usize) -> String {
    let indent = " ".repeat(indent);
    let options = Options::new(width.max(indent.len() + 20))
        .initial_indent(&indent)
        .subsequent_indent(&indent)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation)
        .word_separator(WordSeparator::Custom(words));
    textwrap::fill(text, options)
}

/// Words end after blanks, and after arrows that have none around them.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let pieces = line.split_inclusive(' ').flat_map(|piece| {
        let lone = piece.trim_end() == "→";
        let mut rest = Some(piece);
        std::iter::from_fn(move || {
            let piece = rest?;
            let end = piece.find('→').map(|n| n + '→'.len_utf8());
            let (word, behind) = piece.split_at(end.filter(|_| !lone).unwrap_or(piece.len()));
            rest = Some(behind).filter(|b| !b.is_empty());
            Some(word)
        })
    });
    Box::new(pieces.map(Word::from))
}

/// A number with its digits in groups of three; from a million millions on with two digits, `4.8e16`.
pub fn group_digits(n: impl Into<u128>) -> String {
    let n = n.into();
    if n >= 1_000_000_000_000 {
        return format!("{:.1e}", n as f64);
    }
    group_all_digits(n)
}

/// A number with its digits in groups of three; from a million on with two digits, `4.8e6`: for columns of what is only
/// roughly of interest.
pub fn roughly(n: impl Into<u128>) -> String {
    let n = n.into();
    if n >= 1_000_000 {
        return format!("{:.1e}", n as f64);
    }
    group_all_digits(n)
}

/// `1 burst`, `2,000 bursts`, `3 copies`, `4 branches`: what the last word of `noun` names is counted.
pub fn number_of(n: impl Into<u128>, noun: &str) -> String {
    let n = n.into();
    format!("{} {}", group_digits(n), plural(n, noun))
}

/// [`number_of`], with all digits of the number, however large it is.
pub fn exact_number_of(n: impl Into<u128>, noun: &str) -> String {
    let n = n.into();
    format!("{} {}", group_all_digits(n), plural(n, noun))
}

/// `noun` as it stands behind the number `n`, of which its last word has the plural if there is not one.
pub fn plural(n: impl Into<u128>, noun: &str) -> String {
    let stem = noun
        .strip_suffix('y')
        .filter(|s| !s.ends_with(['a', 'e', 'o']));
    let hisses = || ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    match (n.into(), stem) {
        (1, _) => noun.to_string(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) if hisses() => format!("{noun}es"),
        (_, None) => format!("{noun}s"),
    }
}

/// `once`, `2,000 times`.
pub fn times(n: u64) -> String {
    match n {
        1 => "once".into(),
        n => format!("{} times", group_all_digits(n)),
    }
}

/// A number with its digits in groups of three, all of them.
pub fn group_all_digits(n: impl Into<u128>) -> String {
    let digits = n.into().to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A share, in hundredths.
pub fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
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
        let fields = fields.iter().map(|f| escape_unprintable(f).into_owned());
        out.write_record(fields.collect::<Vec<_>>())
            .expect("memory takes everything");
    }
    let bytes = out.into_inner().expect("memory takes everything");
    String::from_utf8(bytes).expect("all fields are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remove_styles(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    /// To measure each beginning of the list from the back, or each name for each other, takes 10^10 steps: minutes.
    #[test]
    fn many_rows_and_long_lists_are_shortened_once() {
        let n = 20_000;
        let mut table = Columns::new([Align::Right, Align::Left]);
        let list: String = (0..5 * n).map(|i| format!("{i},")).collect();
        table.file_list(["1".into()], "a.c".into(), list);
        for i in 0..n {
            let name = format!("/a/folder/with/a/long/name/and/another/one/{i}/file.c");
            table.file_list(["1".into()], name, String::new());
        }
        let layout = Layout {
            width: 40,
            full: false,
        };
        let text = anstream::adapter::strip_str(&table.render(layout)).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), n + 1);
        assert!(lines.iter().all(|l| display_width(l) <= 40), "{}", lines[0]);
        assert!(
            lines[0].starts_with("1  a.c") && lines[0].ends_with(",…"),
            "{}",
            lines[0]
        );
        assert!(lines[1].ends_with("/one/0/file.c"), "{}", lines[1]);
    }

    #[test]
    fn names_in_the_first_column_are_shortened_to_the_width() {
        let mut table = Columns::new([Align::Left, Align::Right]);
        for name in [
            "function",
            "ns::f(std::vector<int>, int)",
            "ns::f(std::vector<bool>, int)",
        ] {
            table.row([name.to_string(), "12345678".to_string()]);
        }
        let layout = Layout {
            width: 30,
            full: false,
        };
        let text = anstream::adapter::strip_str(&table.render_names_first(layout)).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_ne!(lines[1], lines[2]);
        assert!(
            lines
                .iter()
                .all(|l| display_width(l) <= 30 && l.ends_with("  12345678")),
            "{text}"
        );
        let whole = table.render_names_first(Layout::default());
        assert!(
            whole.contains("ns::f(std::vector<bool>, int)  12345678"),
            "{whole}"
        );
    }

    #[test]
    fn columns() {
        use Align::{Left, Right};
        let mut table = Columns::new([Left, Right, Left]);
        table.heading(Style::new().bold(), &["what", "n", "rest"]);
        table.row(["äpfel".into(), "1000".into(), "a long rest".into()]);
        table.add_text(0, Style::new(), "as long as it likes, this is the end");
        table.add_text(1, Style::new(), "x");
        table.add_text(0, Style::new(), "");
        assert_eq!(
            remove_styles(&table.to_string()),
            "what      n  rest\näpfel  1000  a long rest\nas long as it likes, this is the end\n       x\n\n"
        );
        let mut numbers = Columns::new([Right, Right]);
        numbers.row(["1".into(), "22".into()]);
        numbers.row(["333".into(), String::new()]);
        assert_eq!(numbers.to_string(), "  1  22\n333\n");
    }

    #[test]
    fn names_and_notes_in_little_room() {
        let mut table = Columns::new([Align::Right, Align::Left]);
        let name = "std::vector<int, std::allocator<int> >::at(unsigned long)";
        table.add_named_row(["7".into()], name.into(), " #12".into());
        table.add_text(1, Style::new(), "f.c:1→2→3→4→5→6→7→8→9→10→11, 12:3 a → 4");
        let narrow = Layout {
            width: 30,
            full: false,
        };
        let text = remove_styles(&table.render(narrow));
        assert_eq!(
            text,
            "7  std::vector<…>::at(…) #12\n   f.c:1→2→3→4→5→6→7→8→9→10→\n   11, 12:3 a → 4\n"
        );
        assert!(remove_styles(&table.to_string()).starts_with(&format!("7  {name} #12\n")));
    }

    /// What there is no room for beside a name stands below it.
    #[test]
    fn list_beside_a_long_name_stands_below_it() {
        let render = |width: usize| {
            let mut table = Columns::new([Align::Right, Align::Left]);
            let list = "  a.c: 12-14,20; branches 31";
            let name = "Document::ParseAttributes";
            table.named_over_list(["7".into()], name.into(), 4, list.into());
            table.named_over_list(["7".into()], "f".into(), 4, "  a.c".into());
            remove_styles(&table.render(Layout { width, full: false }))
        };
        let whole = "7  Document::ParseAttributes  a.c: 12-14,20; branches 31\n7  f  a.c\n";
        assert_eq!(render(80), whole);
        let below = "7  Document::ParseAttributes\n    a.c: 12-14,20; branches 31\n7  f  a.c\n";
        assert_eq!(render(40), below);
        let cut = "7  …::ParseAttributes\n    a.c: 12-14,20;…\n7  f  a.c\n";
        assert_eq!(render(24), cut);
    }

    /// Of a file, folders go first, then the list behind it, then the middle of the name; what would read alike does
    /// not.
    #[test]
    fn last_part_of_a_file_stays_whole() {
        let render = |width: usize| {
            let mut table = Columns::new([Align::Right, Align::Left]);
            let list = ": 12-14,20; branches 31";
            table.file_list(
                ["7".into()],
                "test/suites/api/test_loadb.c".into(),
                list.into(),
            );
            table.file_list(
                ["7".into()],
                "test/suites/api/test_dump.c".into(),
                String::new(),
            );
            table.file_list(
                ["7".into()],
                "test/suites/old/test_dump.c".into(),
                String::new(),
            );
            let layout = Layout { width, full: false };
            let text = remove_styles(&table.render(layout));
            assert!(text.lines().all(|l| display_width(l) <= width), "{text}");
            text
        };
        assert!(render(60).starts_with("7  test/suites/api/test_loadb.c: 12-14,20; branches 31\n"));
        assert!(render(50).starts_with("7  …/api/test_loadb.c: 12-14,20; branches 31\n"));
        assert!(render(24).starts_with("7  …/api/test_loadb.c…\n7  …/api/test_dump.c\n"));
        assert!(
            render(18).starts_with("7  …/test_loadb.c…\n"),
            "{}",
            render(18)
        );
        let alike = render(18);
        let lines: Vec<&str> = alike.lines().collect();
        assert_ne!(lines[1], lines[2]);
    }

    #[test]
    fn numbers() {
        assert_eq!(group_digits(999_999_999_999u64), "999,999,999,999");
        let rough = [999_999u64, 1_233_958].map(roughly);
        assert_eq!(rough, ["999,999", "1.2e6"]);
        assert_eq!(group_digits(48_123_456_789_012_345u64), "4.8e16");
        assert_eq!(group_all_digits(u64::MAX), "18,446,744,073,709,551,615");
        let counted = [0u64, 1, 2].map(|n| exact_number_of(n, "more copy"));
        assert_eq!(counted, ["0 more copies", "1 more copy", "2 more copies"]);
        let many = exact_number_of(1_000_000_000_000u64, "path");
        assert_eq!(many, "1,000,000,000,000 paths");
        assert_eq!(
            (plural(1u64, "branch"), plural(2u64, "branch")),
            ("branch".into(), "branches".into())
        );
        assert_eq!(
            (group_digits(0u64), group_digits(1000u32)),
            ("0".into(), "1,000".into())
        );
    }
}
