//! Rows as text.

use super::{Fold, Step, StepRow, join_words};
use crate::base::names::first_columns;
use crate::base::table::{Layout, cut, display_width, in_columns, number_of, wrap_words};

/// The columns that a place takes at most.
const WIDEST_PLACE: usize = 22;
/// The columns that an outcome takes at most.
const WIDEST_OUTCOME: usize = 24;
/// A condition of a line with several is not made narrower.
const SHORTEST_TEXT: usize = 8;
/// What is asked is not made narrower.
const NARROWEST_TEXT: usize = 12;
/// Nor is an inlined function with what is asked in it, if a note could stand below instead.
const NARROWEST_NAMED: usize = 32;

/// Rows as text, indented by so many columns; none is wider than the layout.
pub fn text(rows: &[StepRow], layout: Layout, indent: usize) -> Vec<String> {
    let mut columns = StepColumns::measure(rows, layout.width, indent);
    let asked = columns.place(rows);
    let rows = rows.iter().zip(&asked);
    rows.flat_map(|(row, asked)| columns.print(row, asked))
        .collect()
}

/// The columns that steps stand in.
struct StepColumns {
    indent: usize,
    /// Of the place, of what is asked, of the outcome, and of the note.
    widths: [usize; 4],
    /// Whether notes stand on lines of their own.
    are_notes_below: bool,
    /// Of a line.
    width: usize,
}

impl StepColumns {
    /// The columns of `rows` in lines of so many columns, with all the room that others leave for what is asked.
    fn measure(rows: &[StepRow], width: usize, indent: usize) -> StepColumns {
        let steps = || rows.iter().filter_map(|row| row.step());
        let widest = |of: fn(&Step) -> usize| steps().map(of).max().unwrap_or(0);
        let place = widest(|s| display_width(&s.place)).min(WIDEST_PLACE);
        let room = width.saturating_sub(indent + place + 2);
        let most = room.saturating_sub(NARROWEST_TEXT + 2).min(WIDEST_OUTCOME);
        let outcomes = steps().map(|s| display_width(&s.outcome));
        let outcome = outcomes.filter(|w| *w <= most).max().unwrap_or(0);
        let note = widest(|s| display_width(&s.note));
        let named = widest(|s| match &s.within {
            Some(name) => display_width(&s.question(Some(name))),
            None => 0,
        });
        // What follows is not cut: where there is no room beside what is asked, it is on a line of its own.
        let least = named.clamp(NARROWEST_TEXT, NARROWEST_NAMED);
        let beside = if outcome > 0 { outcome + 2 } else { 0 };
        let are_notes_below = note > 0 && least + beside + note + 2 > room;
        let note = if are_notes_below { 0 } else { note };
        let behind = if note > 0 { beside + note + 2 } else { beside };
        let room = room.saturating_sub(behind).max(NARROWEST_TEXT);
        StepColumns {
            indent,
            widths: [place, room, outcome, note],
            are_notes_below,
            width,
        }
    }

    /// What each row asks, in a column that is then no wider than the widest of these. Where several steps in turn are
    /// in one inlined function, the first names it.
    fn place(&mut self, rows: &[StepRow]) -> Vec<String> {
        let room = self.widths[1];
        let mut within: Option<&String> = None;
        let asked = rows.iter().map(|row| {
            let StepRow::Step(step) = row else {
                return String::new();
            };
            let before = std::mem::replace(&mut within, step.within.as_ref());
            step.asked_within(within.filter(|_| within != before), room)
        });
        let asked: Vec<String> = asked.collect();
        let widest = asked.iter().map(|text| display_width(text)).max();
        self.widths[1] = widest.unwrap_or(0).min(room);
        asked
    }

    /// Where what is asked begins.
    fn start_of_asked(&self) -> usize {
        self.indent + self.widths[0] + 2
    }

    /// `text` in that column, cut at the end of the line.
    fn cut_line(&self, text: &str) -> String {
        let line = format!("{}{text}", " ".repeat(self.start_of_asked()));
        cut(&line, self.width)
    }

    /// The lines of a row, where `asked` is what it asks.
    fn print(&self, row: &StepRow, asked: &str) -> Vec<String> {
        let start = self.start_of_asked();
        match row {
            StepRow::Step(step) => self.lines(step, asked),
            StepRow::Library(fold) => {
                let needed = start + NARROWEST_TEXT + 2 + display_width(&fold.note);
                if fold.note.is_empty() || needed <= self.width {
                    return vec![fold.line(start, self.width)];
                }
                let StepRow::Library(without) = row.without_note() else {
                    unreachable!("a fold stays one");
                };
                vec![without.line(start, self.width), self.cut_line(&fold.note)]
            }
            // Its end may be what differs.
            StepRow::Differs(_) => {
                let folded = wrap_words(&row.fold_mark(), self.width, start);
                folded.lines().map(|line| cut(line, self.width)).collect()
            }
            StepRow::More(_) => vec![self.cut_line(&row.fold_mark())],
        }
    }

    /// The lines of a step, where `asked` is what is asked. The outcome is whole: where it leaves no room beside what
    /// is asked, it stands below.
    fn lines(&self, step: &Step, asked: &str) -> Vec<String> {
        let [place, text, outcome, note] = self.widths;
        let below = self.start_of_asked();
        let length = display_width(&step.outcome);
        let end = below + text + 2 + length;
        let has_note = !step.note.is_empty();
        let is_note_below = has_note && (self.are_notes_below || length > outcome);
        let row = |outcome_text: &str, note_text: &str| {
            let cells = [
                cut(&step.place, place),
                cut(asked, text),
                outcome_text.to_string(),
                note_text.to_string(),
            ];
            let widths = [place, text, outcome.max(length), note];
            in_columns(&cells, widths, self.width, self.indent)
        };
        if length > outcome && end > self.width {
            let told = [step.outcome.as_str(), &step.note];
            let told: Vec<&str> = told.into_iter().filter(|t| !t.is_empty()).collect();
            let mut lines = vec![row("", "")];
            lines.extend(break_words(&told.join("  "), self.width, below + 2));
            return lines;
        }
        if is_note_below {
            return vec![row(&step.outcome, ""), self.cut_line(&step.note)];
        }
        vec![row(&step.outcome, &step.note)]
    }
}

/// `text` in lines of at most `width` columns behind an indentation; words without room on a line go on in the next.
fn break_words(text: &str, width: usize, indent: usize) -> Vec<String> {
    let indent = " ".repeat(indent.min(width / 2));
    let mut lines = Vec::new();
    for line in wrap_words(text, width, indent.len()).lines() {
        let mut rest = line.to_string();
        loop {
            let first = first_columns(&rest, width);
            let behind = rest[first.len()..].to_string();
            lines.push(first.to_string());
            if behind.is_empty() || width <= indent.len() + 1 {
                break;
            }
            rest = format!("{indent}{behind}");
        }
    }
    lines
}

impl Fold {
    /// One decision of what has this name.
    pub(super) fn one_decision(names: String) -> Fold {
        Fold {
            steps: 1,
            names,
            note: String::new(),
        }
    }

    pub(super) fn add(&mut self, name: &str) {
        self.steps += 1;
        if !self.names.split(", ").any(|known| known == name) {
            self.names = format!("{}, {name}", self.names);
        }
    }

    fn line(&self, indent: usize, width: usize) -> String {
        let behind = if self.note.is_empty() {
            String::new()
        } else {
            format!("  {}", self.note)
        };
        let room = width.saturating_sub(indent + display_width(&behind));
        let folded = cut(
            &format!(
                "⋯ {} in {}",
                number_of(self.steps as u64, "step"),
                self.names
            ),
            room,
        );
        cut(&format!("{}{folded}{behind}", " ".repeat(indent)), width)
    }
}

impl StepRow {
    /// What decisions of this name are folded in.
    pub(super) fn fold_of(&mut self, names: &str) -> Option<&mut Fold> {
        match self {
            StepRow::Library(fold) if fold.names == names => Some(fold),
            _ => None,
        }
    }

    fn step(&self) -> Option<&Step> {
        match self {
            StepRow::Step(step) => Some(step),
            _ => None,
        }
    }

    /// What stands for decisions that are not told one by one.
    fn fold_mark(&self) -> String {
        match self {
            StepRow::Step(_) => String::new(),
            StepRow::Library(fold) => fold.line(0, usize::MAX),
            StepRow::More(n) => format!("⋯ {n} more (--full)"),
            StepRow::Differs(told) => format!("⋯ with {told}"),
        }
    }
}

/// Rows in one line: `61 j >= gap true · 58 i < n false, leaves the loop`.
pub fn join_steps(rows: &[StepRow]) -> String {
    let mut within: Option<&String> = None;
    let mut parts = Vec::new();
    for row in rows {
        parts.push(match row {
            StepRow::Step(step) => {
                let name = step.within.as_ref().filter(|name| within != Some(*name));
                within = step.within.as_ref();
                let cells = [&step.place, &step.question(name), &step.outcome];
                let cells = cells.into_iter().filter(|cell| !cell.is_empty());
                let told = cells.map(String::as_str).collect::<Vec<_>>().join(" ");
                join_words(&told, &step.note)
            }
            StepRow::Library(..) | StepRow::More(_) | StepRow::Differs(_) => row.fold_mark(),
        });
    }
    parts.join(" · ")
}

/// Rows in one line of at most `width` columns, with all their outcomes if there is room for these: conditions and
/// functions lose their middle, then what follows goes, at last whole rows. Of the first row, the outcome stays as long
/// as there is room for it alone.
pub fn fit_in_a_line(rows: &[StepRow], width: usize) -> String {
    let whole = join_steps(rows);
    if display_width(&whole) <= width {
        return whole;
    }
    let fits = |line: &String| display_width(line) <= width;
    let widths = [60, 40, 30, 24, 20, 16, 12, SHORTEST_TEXT].into_iter();
    let mut lines = widths.map(|most| join_steps(&shorten_rows(rows, most)));
    if let Some(line) = lines.find(fits) {
        return line;
    }
    let short: Vec<StepRow> = shorten_rows(rows, SHORTEST_TEXT);
    let short: Vec<StepRow> = short.iter().map(StepRow::without_note).collect();
    let mut kept = (1..=rows.len()).rev().map(|kept| {
        let more = match rows.len() - kept {
            0 => String::new(),
            n => format!(" · … {n} more"),
        };
        join_steps(&short[..kept]) + &more
    });
    kept.find(fits)
        .unwrap_or_else(|| shorten_outcome(&short[0], width))
}

/// Rows whose conditions and functions take at most `most` columns each.
fn shorten_rows(rows: &[StepRow], most: usize) -> Vec<StepRow> {
    let short = rows.iter().map(|row| match row {
        StepRow::Step(step) => StepRow::Step(Step {
            text: cut(&step.text, most),
            within: step.within.as_ref().map(|name| cut(name, most)),
            note: whole_or_gone(&step.note, most),
            ..step.clone()
        }),
        StepRow::Library(fold) => StepRow::Library(Fold {
            names: cut(&fold.names, most),
            ..fold.clone()
        }),
        row => row.clone(),
    });
    short.collect()
}

/// A note, unless it takes more than `most` columns and more than the shorter notes.
fn whole_or_gone(note: &str, most: usize) -> String {
    const SHORTER: usize = 16;
    let fits = display_width(note) <= most.max(SHORTER);
    if fits { note.into() } else { String::new() }
}

/// The outcome of a row, with as much of what it is the outcome of as `width` columns have room for.
fn shorten_outcome(row: &StepRow, width: usize) -> String {
    let StepRow::Step(step) = row else {
        return cut(&row.fold_mark(), width);
    };
    let told = [
        format!("{} {} {}", step.place, step.text, step.outcome),
        format!("{} {}", step.place, step.outcome),
        step.outcome.clone(),
    ];
    let told = told.map(|text| text.trim().to_string());
    let fitting = told.iter().find(|text| display_width(text) <= width);
    fitting.cloned().unwrap_or_else(|| cut(&told[2], width))
}

impl StepRow {
    /// The row without what follows from it.
    fn without_note(&self) -> StepRow {
        match self {
            StepRow::Step(step) => StepRow::Step(Step {
                note: String::new(),
                ..step.clone()
            }),
            StepRow::Library(fold) => StepRow::Library(Fold {
                note: String::new(),
                ..fold.clone()
            }),
            row => row.clone(),
        }
    }

    /// The fewest columns in which a row shows its outcome, with a condition that is shortened.
    fn least_width(&self) -> usize {
        let short = shorten_rows(std::slice::from_ref(self), SHORTEST_TEXT);
        display_width(&join_steps(&[short[0].without_note()]))
    }
}

/// The columns that the first of `rows` needs in a line.
pub fn least_width(rows: &[StepRow]) -> usize {
    let more = if rows.len() > 1 {
        display_width(" · … 99 more")
    } else {
        0
    };
    rows.first().map_or(0, |row| row.least_width() + more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(within: Option<&str>, text: &str, outcome: &str) -> StepRow {
        StepRow::Step(Step {
            place: "61".into(),
            line: None,
            within: within.map(String::from),
            text: text.into(),
            outcome: outcome.into(),
            note: String::new(),
            times: 1,
        })
    }

    /// An inlined function and its condition are two things in little room, too.
    #[test]
    fn function_and_condition_stay_apart() {
        let rows = [step(
            Some("XMLDocument::CreateUnlinkedNode"),
            "returnNode->_memPool == pool",
            "true",
        )];
        for width in [30, 40, 50, 60] {
            let lines = text(&rows, Layout { width, full: false }, 0);
            assert_eq!(lines.len(), 1);
            let line = &lines[0];
            assert!(display_width(line) <= width, "{line}");
            let (function, condition) = line.split_once("⤷ ").unwrap().1.split_once("  ").unwrap();
            assert!(
                "XMLDocument::CreateUnlinkedNode".ends_with(function.trim_start_matches('…'))
                    || function.contains('…'),
                "{line}"
            );
            assert!(
                condition.starts_with("ret") && line.ends_with("  true"),
                "{line}"
            );
        }
    }

    /// In a line, all outcomes stay as long as there is room for short conditions, then whole rows go.
    #[test]
    fn line_of_little_room_keeps_outcomes() {
        let rows = [
            step(None, "strcmp(words[j - gap], word) > 0", "true"),
            step(None, "ele->ClosingType() == XMLElement::CLOSED", "false"),
            step(None, "i < n", "true"),
        ];
        let whole = join_steps(&rows);
        assert_eq!(fit_in_a_line(&rows, 200), whole);
        let short = fit_in_a_line(&rows, 60);
        assert!(display_width(&short) <= 60, "{short}");
        for end in [" true · 61 ", " false · 61 ", "i < n true"] {
            assert!(short.contains(end), "{short}");
        }
        let shorter = fit_in_a_line(&rows, 40);
        assert_eq!(shorter, "61 strc…> 0 true · … 2 more");
    }

    /// However long it is, an outcome is shown whole, in rows and as long as a line has room for it in that, too.
    #[test]
    fn outcomes_are_never_cut() {
        let outcomes = [
            "true",
            "case Some(Token::Identifier(name, span))",
            "catch std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
            "case Identifier_with_a_name_that_is_longer_than_what_is_left_of_a_line_of_eighty_columns",
        ];
        let conditions = ["x", "self.tokens.peek().map(|token| token.kind()) == other"];
        let notes = [
            "",
            "leaves the loop",
            "leaves the loop, ↺ loop at reader.rs:601",
        ];
        let places = ["61", "PUGI__SCANFOR.hpp:9356"];
        for width in [60, 80, 100] {
            let layout = Layout { width, full: false };
            for (n, outcome) in outcomes.into_iter().enumerate() {
                let rows: Vec<StepRow> = (0..12)
                    .map(|i| match step(None, conditions[i % 2], outcome) {
                        StepRow::Step(step) => StepRow::Step(Step {
                            note: notes[i % 3].into(),
                            place: places[i % 4 / 2].into(),
                            ..step
                        }),
                        row => row,
                    })
                    .collect();
                for row in &rows {
                    let lines = text(std::slice::from_ref(row), layout, 8);
                    let all: String = lines.concat().split_whitespace().collect();
                    let whole: String = outcome.split_whitespace().collect();
                    assert!(all.contains(&whole), "{lines:#?}");
                    let fits = |line: &String| display_width(line) <= width;
                    assert!(lines.iter().all(fits), "{lines:#?}");
                }
                let line = fit_in_a_line(&rows, width.min(50));
                assert!(display_width(&line) <= 50, "{line}");
                assert_eq!(line.contains(outcome), n < 2, "{line}");
            }
        }
        let whole = fit_in_a_line(
            &[step(None, "a condition that is long", "case Some(Token)")],
            16,
        );
        assert_eq!(whole, "case Some(Token)");
    }
}
