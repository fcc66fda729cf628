//! The text of a source file, and what it says of lines, columns and conditions.

use super::brackets::Tokens;
use super::condition::{Range, Scanned};
use super::context::{self, Bytes, Condition, bytes};
use super::expanded::{self, Decision};
use super::extent::find_loops;
use super::macros::Macros;
use super::operands::{self, Joined, Placed};
use super::tokens::{self, Token};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

/// A source file's text.
pub struct Text {
    text: String,
    /// Whether columns are those that the compiler saw.
    pub(super) has_columns: bool,
    /// Whether rustc compiled it.
    pub(crate) is_rust: bool,
    /// Where each line begins.
    lines: Vec<usize>,
    tokens: OnceLock<Tokens>,
    /// The macros that it defines.
    macros: OnceLock<HashSet<String>>,
    /// Conditions that were asked for, by line, column and extent.
    conditions: Mutex<Conditions>,
    /// Where loops are, and their bodies.
    loops: OnceLock<Vec<(Bytes, Bytes)>>,
    /// What calls of macros in a statement decide, by the byte at which the statement begins.
    expanded: Mutex<HashMap<usize, MacroDecisions>>,
    /// The expressions of a statement with calls of macros, by the byte at which the statement begins; none where
    /// macros may be defined in several ways.
    placed: Mutex<HashMap<usize, Arc<Vec<Placed>>>>,
}

/// Decisions, for each way in which macros may be defined.
type MacroDecisions = Arc<Vec<Vec<Decision>>>;

/// Conditions by line, column and extent; none where the text does not tell.
type Conditions = HashMap<(u32, u32, Extent), Option<Arc<Condition>>>;

/// How much of a condition is meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Extent {
    Operand,
    LastOperand,
    Join,
    Whole,
}

/// Words behind which control may go more than one way, or elsewhere.
const TURNS: [&str; 22] = [
    "if", "else", "for", "while", "do", "loop", "switch", "match", "case", "default", "goto",
    "return", "break", "continue", "throw", "try", "catch", "?", "&&", "||", "and", "or",
];

impl Text {
    pub(super) fn new(text: String) -> Text {
        let ends = text.match_indices('\n').map(|(i, _)| i + 1);
        Text {
            lines: std::iter::once(0).chain(ends).collect(),
            text,
            has_columns: true,
            is_rust: false,
            tokens: OnceLock::new(),
            macros: OnceLock::new(),
            conditions: Mutex::default(),
            loops: OnceLock::new(),
            expanded: Mutex::default(),
            placed: Mutex::default(),
        }
    }

    /// All of it.
    pub fn full_text(&self) -> &str {
        &self.text
    }

    /// A line, counted from 1, without its end.
    pub fn line(&self, line: u32) -> Option<&str> {
        let number = (line as usize).checked_sub(1)?;
        let start = *self.lines.get(number)?;
        let end = self
            .lines
            .get(number + 1)
            .map_or(self.text.len(), |n| n - 1);
        Some(self.text[start..end].trim_end_matches('\r'))
    }

    /// The condition that is decided by a branch at a line and column; `None` where the text does not tell.
    pub fn condition(&self, line: u32, column: u32) -> Option<Arc<Condition>> {
        self.find_once((line, column, Extent::Operand), || {
            self.as_scanned().condition(self.offset(line, column)?)
        })
    }

    /// Whether a line and column are in the text of a condition.
    pub(crate) fn is_inside(&self, condition: &Condition, [line, column]: [u32; 2]) -> bool {
        let offset = self.offset(line, column);
        offset.is_some_and(|o| condition.bytes.contains(&o))
    }

    /// The other condition that clang 22 decides by a branch at a line and column, and the line and column of the
    /// branch by which earlier versions decide it.
    pub fn last_operand(&self, line: u32, column: u32) -> Option<(Arc<Condition>, (u32, u32))> {
        let meanings = self
            .as_scanned()
            .find_meanings(self.offset(line, column)?)?;
        let (range, start) = meanings.last?;
        let condition = self.find_once((line, column, Extent::LastOperand), || Some(range));
        Some((condition?, self.position(start)))
    }

    /// All that the `&&` or `||` at a line and column joins, and how many operands that has.
    pub fn joined_condition(&self, line: u32, column: u32) -> Option<(Arc<Condition>, usize)> {
        let (range, operands) = self
            .as_scanned()
            .find_joined_at(self.offset(line, column)?)?;
        let condition = self.find_once((line, column, Extent::Join), || Some(range));
        Some((condition?, operands))
    }

    /// The whole condition that a branch at a line and column decides a part of, and how many operands it has.
    pub fn whole_condition(&self, line: u32, column: u32) -> Option<(Arc<Condition>, usize)> {
        let part = self.as_scanned().condition(self.offset(line, column)?)?;
        let (range, operands) = self.as_scanned().find_whole_condition(part);
        let condition = self.find_once((line, column, Extent::Whole), || Some(range));
        Some((condition?, operands))
    }

    fn find_once(
        &self,
        key: (u32, u32, Extent),
        find: impl FnOnce() -> Option<Range>,
    ) -> Option<Arc<Condition>> {
        let known = || self.conditions.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(condition) = known().get(&key) {
            return condition.clone();
        }
        let scanned = self.as_scanned();
        let macros = self
            .macros
            .get_or_init(|| context::defined_macros(&scanned));
        let describe = |range| Arc::new(context::describe(&scanned, range, macros));
        let condition = find().map(describe);
        known().insert(key, condition.clone());
        condition
    }

    /// What calls of `macros` in the statement at a byte decide, if there is a call at the byte.
    pub(super) fn macro_decisions(&self, macros: &Macros, offset: usize) -> Option<MacroDecisions> {
        let scanned = self.as_scanned();
        let at = scanned.token(offset)?;
        if !expanded::is_in_call(&scanned, macros, at) {
            return None;
        }
        let range = expanded::statement_around(&scanned, at);
        let start = scanned.tokens.get(range.start)?.start;
        let known = || self.expanded.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(decisions) = known().get(&start) {
            return Some(decisions.clone());
        }
        let expansions = macros.expand(&scanned, range);
        let found = Arc::new(expansions.iter().map(expanded::decisions).collect());
        known().insert(start, Arc::clone(&found));
        Some(found)
    }

    /// The expression of conditions that a branch at a byte decides a part of, with `macros` expanded; `None` where that
    /// is no condition, or not certain.
    pub(super) fn find_expression_at(
        &self,
        macros: Option<&Macros>,
        offset: usize,
    ) -> Option<Arc<Joined>> {
        let scanned = self.as_scanned();
        let at = scanned.token(offset)?;
        let range = expanded::statement_around(&scanned, at);
        let is_call = |m: &Macros| range.clone().any(|i| m.has_call(&scanned, i));
        let Some(macros) = macros.filter(|m| is_call(m)) else {
            let parsed = operands::find_at(&scanned, offset)?;
            return Some(Arc::new(operands::describe_in_text(&scanned, &parsed)));
        };
        let start = scanned.tokens.get(range.start)?.start;
        let known = || self.placed.lock().unwrap_or_else(|e| e.into_inner());
        let kept = known().get(&start).cloned();
        let placed = kept.unwrap_or_else(|| {
            let expansions = macros.expand(&scanned, range);
            let found = match &expansions[..] {
                [one] => operands::find_expanded(one),
                _ => Vec::new(),
            };
            let found = Arc::new(found);
            known().insert(start, Arc::clone(&found));
            found
        });
        let mut here = placed.iter().filter(|p| p.may_be_at(offset));
        match (here.next(), here.next()) {
            (Some(one), None) => Some(Arc::clone(&one.joined)),
            (Some(_), Some(_)) => None,
            (None, _) => {
                let parsed = operands::find_at(&scanned, offset)?;
                Some(Arc::new(operands::describe_in_text(&scanned, &parsed)))
            }
        }
    }

    /// The names of headers that it includes by quotes.
    pub(super) fn included_names(&self) -> impl Iterator<Item = String> + '_ {
        let tokens = self.as_scanned().tokens.iter();
        let directives = tokens.filter(|t| t.kind == tokens::TokenKind::Directive);
        let name = |t: &Token| {
            let rest = self.text[t.start + 1..t.end].trim_start();
            let rest = rest
                .strip_prefix("include")?
                .trim_start()
                .strip_prefix('"')?;
            Some(rest.split_once('"')?.0.to_string())
        };
        directives.filter_map(name)
    }

    /// The byte at a line and column, both counted from 1, if the line has that column.
    pub fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let before = (column as usize).checked_sub(1)?;
        let length = self.line(line)?.len();
        let seen = self.has_columns && before < length;
        seen.then(|| self.lines[line as usize - 1] + before)
    }

    /// A line in one piece, for a place in it whose condition the text does not tell; without a column (0), any line.
    /// `None` where the text cannot be what the compiler saw: the line has no such column, no token begins there, or a
    /// `#line` gave the file's name to text that was made from it.
    pub fn line_of(&self, line: u32, column: u32) -> Option<String> {
        let text = self.line(line)?.trim();
        let whole = Some(text.to_string()).filter(|t| !t.is_empty());
        if column == 0 {
            return whole;
        }
        let offset = self.offset(line, column)?;
        let scanned = self.as_scanned();
        let found = scanned.tokens.partition_point(|t| t.end <= offset);
        let token = scanned.tokens.get(found)?;
        // Inside a directive there is none: a macro's text is at its place.
        let begins = token.start == offset || token.kind == tokens::TokenKind::Directive;
        whole.filter(|_| begins)
    }

    /// Line and column of a byte, both counted from 1.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.lines.partition_point(|&start| start <= offset);
        (line as u32, (offset - self.lines[line - 1]) as u32 + 1)
    }

    /// In how many loops of the text a byte is, and in how many of their bodies. O(loops), and once O(text · depth).
    pub(crate) fn loops_around(&self, offset: usize) -> (usize, usize) {
        let loops = self.loops.get_or_init(|| {
            let scanned = self.as_scanned();
            let found = find_loops(&scanned).into_iter();
            let found = found.map(|(all, body)| (bytes(&scanned, &all), bytes(&scanned, &body)));
            found.collect()
        });
        let around = loops.iter().filter(|(all, _)| all.contains(&offset));
        let bodies = loops.iter().filter(|(_, body)| body.contains(&offset));
        (around.count(), bodies.count())
    }

    /// Whether the text between two bytes is run from its beginning to its end: no word in it may lead elsewhere.
    pub(crate) fn runs_straight(&self, range: Bytes) -> bool {
        let scanned = self.as_scanned();
        let tokens = scanned.tokens;
        let first = tokens.partition_point(|t| t.start < range.start);
        let leads_on = |t: &Token| {
            let word = &self.text[t.start..t.end];
            t.kind != tokens::TokenKind::Directive && !TURNS.contains(&word)
        };
        let mut inside = tokens[first..].iter().take_while(|t| t.start < range.end);
        inside.all(leads_on)
    }

    /// The byte at which a line begins.
    pub(super) fn offset_of_line(&self, line: u32) -> Option<usize> {
        let number = (line as usize).checked_sub(1)?;
        self.lines.get(number).copied()
    }

    pub(super) fn as_scanned(&self) -> Scanned<'_> {
        Scanned {
            text: &self.text,
            tokens: self.tokens.get_or_init(|| Tokens::read(&self.text)),
            is_rust: self.is_rust,
        }
    }

    /// What the only `switch` or `match` on a line is over.
    pub fn switch(&self, line: u32) -> Option<String> {
        let text = self.line(line)?;
        let start = self.lines[line as usize - 1];
        let scanned = self.as_scanned();
        let range = start..start + text.len();
        let is_switch = |t: &&Token| {
            range.contains(&t.start) && ["switch", "match"].contains(&&self.text[t.start..t.end])
        };
        let mut keywords = scanned.tokens.iter().filter(is_switch);
        let (keyword, more) = (keywords.next()?, keywords.next());
        let condition = scanned.condition(keyword.start);
        condition
            .filter(|_| more.is_none())
            .map(|range| scanned.text_of(range))
    }
}
