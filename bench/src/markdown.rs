//! Tables in Markdown.

use std::fmt::{self, Display};

/// A table: its first column on the left, the others, which are numbers, on the right.
pub(crate) struct Table {
    columns: usize,
    text: String,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new<T: Display>(head: impl IntoIterator<Item = T>) -> Table {
        let mut table = Table {
            columns: 0,
            text: String::new(),
        };
        table.columns = table.line(head);
        table.text += "|---|";
        table.text += &"---:|".repeat(table.columns - 1);
        table.text.push('\n');
        table
    }

    /// Adds a row, of a cell for each column.
    pub(crate) fn row<T: Display>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells = self.line(cells);
        assert_eq!(cells, self.columns, "a cell for each column");
    }

    fn line<T: Display>(&mut self, cells: impl IntoIterator<Item = T>) -> usize {
        self.text.push('|');
        let mut number = 0;
        for cell in cells {
            self.text += &format!(" {cell} |");
            number += 1;
        }
        self.text.push('\n');
        number
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
