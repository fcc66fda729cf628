//! Rows as text.

use super::{Fold, Row, Step, joined};
use crate::table::{Layout, cut, display_width, in_columns, number_of, wrapped};

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
pub fn text(rows: &[Row], layout: Layout, indent: usize) -> Vec<String> {
    let steps = || rows.iter().filter_map(|row| row.step());
    let widest = |of: fn(&Step) -> String, most: usize| {
        let widths = steps().map(|s| display_width(&of(s)));
        widths.max().unwrap_or(0).min(most)
    };
    let place = widest(|s| s.place.clone(), WIDEST_PLACE);
    let outcome = widest(|s| s.outcome.clone(), WIDEST_OUTCOME);
    let room = layout.width.saturating_sub(indent + place + 2);
    let note = widest(|s| s.note.clone(), usize::MAX);
    // What follows is not cut: where there is no room beside what is asked, it is on a line of its own.
    let beside = if outcome > 0 { outcome + 2 } else { 0 };
    let named = steps().filter(|s| s.within.is_some());
    let named = named.map(|s| display_width(&s.asked(s.within.as_ref())));
    let least = named
        .max()
        .unwrap_or(0)
        .clamp(NARROWEST_TEXT, NARROWEST_NAMED);
    let below = note > 0 && least + beside + note + 2 > room;
    let note = if below { 0 } else { note };
    let behind = [outcome, note].into_iter().filter(|w| *w > 0);
    let room = room
        .saturating_sub(behind.map(|w| w + 2).sum())
        .max(NARROWEST_TEXT);
    let mut within: Option<&String> = None;
    let mut texts = Vec::new();
    for row in rows {
        texts.push(match row {
            Row::Step(step) => {
                let name = step
                    .within
                    .as_ref()
                    .filter(|_| step.within.as_ref() != within);
                within = step.within.as_ref();
                step.asked_within(name, room)
            }
            Row::Library(..) | Row::More(_) | Row::Differs(_) => String::new(),
        });
    }
    let text = texts
        .iter()
        .map(|t| display_width(t))
        .max()
        .unwrap_or(0)
        .min(room);
    let behind = |note: &str| {
        let line = format!("{}{note}", " ".repeat(indent + place + 2));
        cut(&line, layout.width)
    };
    let line = |(row, asked): (&Row, &String)| match row {
        Row::Step(step) => {
            let cells = [
                cut(&step.place, place),
                cut(asked, text),
                cut(&step.outcome, outcome),
                step.note.clone(),
            ];
            let line = in_columns(&cells, [place, text, outcome, note], layout.width, indent);
            match &step.note {
                note if below && !note.is_empty() => vec![line, behind(note)],
                _ => vec![line],
            }
        }
        Row::Library(fold) => {
            let indent = indent + place + 2;
            let needed = indent + NARROWEST_TEXT + 2 + display_width(&fold.note);
            if fold.note.is_empty() || needed <= layout.width {
                vec![fold.line(indent, layout.width)]
            } else {
                let without = Fold {
                    note: String::new(),
                    ..fold.clone()
                };
                vec![without.line(indent, layout.width), behind(&fold.note)]
            }
        }
        // Its end may be what differs.
        Row::Differs(_) => {
            let told = wrapped(&row.folded(), layout.width, indent + place + 2);
            told.lines().map(|line| cut(line, layout.width)).collect()
        }
        Row::More(_) => {
            let folded = format!("{}{}", " ".repeat(indent + place + 2), row.folded());
            vec![cut(&folded, layout.width)]
        }
    };
    rows.iter().zip(&texts).flat_map(line).collect()
}

impl Fold {
    /// One decision of what has this name.
    pub(super) fn one(names: String) -> Fold {
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

impl Row {
    /// What decisions of this name are folded in.
    pub(super) fn fold_of(&mut self, names: &str) -> Option<&mut Fold> {
        match self {
            Row::Library(fold) if fold.names == names => Some(fold),
            _ => None,
        }
    }

    fn step(&self) -> Option<&Step> {
        match self {
            Row::Step(step) => Some(step),
            _ => None,
        }
    }

    /// What stands for decisions that are not told one by one.
    fn folded(&self) -> String {
        match self {
            Row::Step(_) => String::new(),
            Row::Library(fold) => fold.line(0, usize::MAX),
            Row::More(n) => format!("⋯ {n} more (--full)"),
            Row::Differs(told) => format!("⋯ with {told}"),
        }
    }
}

/// Rows in one line: `61 j >= gap true · 58 i < n false, leaves the loop`.
pub fn in_a_line(rows: &[Row]) -> String {
    let mut within: Option<&String> = None;
    let mut parts = Vec::new();
    for row in rows {
        parts.push(match row {
            Row::Step(step) => {
                let name = step.within.as_ref().filter(|name| within != Some(*name));
                within = step.within.as_ref();
                let cells = [&step.place, &step.asked(name), &step.outcome];
                let cells = cells.into_iter().filter(|cell| !cell.is_empty());
                let told = cells.map(String::as_str).collect::<Vec<_>>().join(" ");
                joined(&told, &step.note)
            }
            Row::Library(..) | Row::More(_) | Row::Differs(_) => row.folded(),
        });
    }
    parts.join(" · ")
}

/// Rows in one line of at most `width` columns, with all their outcomes if there is room for these: conditions and
/// functions lose their middle, at last whole rows go.
pub fn fit_in_a_line(rows: &[Row], width: usize) -> String {
    let whole = in_a_line(rows);
    if display_width(&whole) <= width {
        return whole;
    }
    let shortened = |rows: &[Row], most: usize| {
        let short = rows.iter().map(|row| match row {
            Row::Step(step) => Row::Step(Step {
                text: cut(&step.text, most),
                within: step.within.as_ref().map(|name| cut(name, most)),
                note: match step.note.as_str() {
                    "" => String::new(),
                    note => cut(note, most.max(NARROWEST_TEXT)),
                },
                ..step.clone()
            }),
            row => row.clone(),
        });
        in_a_line(&short.collect::<Vec<_>>())
    };
    let widths = [60, 40, 30, 24, 20, 16, 12, SHORTEST_TEXT].into_iter();
    let mut lines = widths.map(|most| shortened(rows, most));
    if let Some(line) = lines.find(|line| display_width(line) <= width) {
        return line;
    }
    let more = |kept: usize| format!(" · … {} more", rows.len() - kept);
    let fits = |kept: &usize| {
        let line = shortened(&rows[..*kept], SHORTEST_TEXT);
        display_width(&line) + display_width(&more(*kept)) <= width
    };
    match (1..rows.len()).rev().find(fits) {
        Some(kept) => shortened(&rows[..kept], SHORTEST_TEXT) + &more(kept),
        None => cut(&shortened(&rows[..1], SHORTEST_TEXT), width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(within: Option<&str>, text: &str, outcome: &str) -> Row {
        Row::Step(Step {
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
        let whole = in_a_line(&rows);
        assert_eq!(fit_in_a_line(&rows, 200), whole);
        let short = fit_in_a_line(&rows, 60);
        assert!(display_width(&short) <= 60, "{short}");
        for end in [" true · 61 ", " false · 61 ", "i < n true"] {
            assert!(short.contains(end), "{short}");
        }
        let shorter = fit_in_a_line(&rows, 40);
        assert_eq!(shorter, "61 strc…> 0 true · … 2 more");
    }
}
