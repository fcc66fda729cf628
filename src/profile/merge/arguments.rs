//! The arguments of runs, compared between copies.
//!
//! Test suites put names that are new every time into arguments: temporary files, process ids, folders of copies. A
//! name of that kind is no sign that copies ran differently, so arguments are compared in a form in which
//! [`comparable_form`] replaced it.

use super::super::raw;
use std::collections::BTreeMap;
use std::ops::Range;

/// What follows the name of the program.
pub(super) type Arguments = Vec<Vec<u8>>;

/// Runs whose arguments are equal but for names that are new every time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Alike {
    /// Those of the first run.
    example: Arguments,
    runs: u64,
}

/// How many runs had which arguments: of so many as [`ArgumentCounts::MOST`] each by itself, of all a digest.
#[derive(Clone, Debug, Default)]
pub(super) struct ArgumentCounts {
    /// By arguments in comparable form.
    runs: BTreeMap<Arguments, Alike>,
    /// The sum of the hashes of all runs: the order in which they are read is no matter.
    digest: u64,
    /// Whether there are more than [`ArgumentCounts::MOST`].
    more: bool,
}

impl PartialEq for ArgumentCounts {
    fn eq(&self, other: &ArgumentCounts) -> bool {
        self.digest == other.digest
    }
}

impl ArgumentCounts {
    pub(super) const MOST: usize = 4096;

    pub(super) fn add(&mut self, arguments: &[Vec<u8>], runs: u64) {
        let form = comparable_form(arguments);
        let text: Vec<u8> = form.join(&0);
        let hash = raw::hash_start(&text, &[(form.len() as u32).to_le_bytes()]);
        self.digest = self.digest.wrapping_add(hash.wrapping_mul(runs));
        if let Some(known) = self.runs.get_mut(&form) {
            known.runs = known.runs.saturating_add(runs);
        } else if self.runs.len() < ArgumentCounts::MOST {
            let example = arguments.to_vec();
            self.runs.insert(form, Alike { example, runs });
        } else {
            self.more = true;
        }
    }

    pub(super) fn has_more(&self) -> bool {
        self.more
    }

    /// What `self` has instead of what `other` has, for people; that one has more runs is no difference.
    pub(super) fn difference(&self, other: &ArgumentCounts) -> Option<String> {
        if self.more || other.more {
            let most = ArgumentCounts::MOST;
            let line = || format!("there are more than {most}, so it is not known which differ");
            return (self.digest != other.digest).then(line);
        }
        let (here, there) = (self.first_beyond(other)?, other.first_beyond(self)?);
        Some(format!(
            "{} instead of {}",
            shell_words(here),
            shell_words(there)
        ))
    }

    /// The first arguments that more runs have here than in `other`.
    fn first_beyond(&self, other: &ArgumentCounts) -> Option<&Arguments> {
        let runs_there = |form| other.runs.get(form).map_or(0, |a: &Alike| a.runs);
        let mut all = self.runs.iter();
        all.find_map(|(form, a)| (a.runs > runs_there(form)).then_some(&a.example))
    }
}

/// The arguments without names that are new every time.
///
/// `*` takes the place of a run of at least six letters and digits in the first name below a folder of temporary files,
/// and in a relative name that begins with `tmp`; of a number of three and more digits that is a part of a file's name;
/// and of the number of a folder `copy-N`. Options (`-n300`) and words that are numbers stay as they are.
pub(super) fn comparable_form(arguments: &[Vec<u8>]) -> Arguments {
    let pieces = |word: &Vec<u8>| -> Vec<u8> {
        let mut form = Vec::new();
        for piece in word.split_inclusive(|b| b"=,:;|<>()\"'` \t\n".contains(b)) {
            add_comparable(piece, &mut form);
        }
        form
    };
    arguments.iter().map(pieces).collect()
}

fn add_comparable(piece: &[u8], form: &mut Vec<u8>) {
    if piece.first() == Some(&b'-') || !piece.iter().any(u8::is_ascii_alphabetic) {
        form.extend(piece);
        return;
    }
    let below = temporary_folder(piece);
    form.extend(&piece[..below]);
    let is_temporary = below > 0 || piece.starts_with(b"tmp");
    for (i, name) in piece[below..].split_inclusive(|b| *b == b'/').enumerate() {
        if name.starts_with(b"copy-") && name[5..].iter().any(u8::is_ascii_digit) {
            add_replaced(name, &find_numbers(name, 1), form);
        } else if is_temporary && i == 0 {
            add_replaced(name, &new_names(name), form);
        } else {
            add_replaced(name, &find_numbers(name, 3), form);
        }
    }
}

/// The length of the folder of temporary files at the beginning of a path, with its `/`; 0 if the path begins with
/// none.
fn temporary_folder(path: &[u8]) -> usize {
    let named = std::env::temp_dir();
    let named = named.as_os_str().as_encoded_bytes();
    let folders = [named, b"/tmp", b"/var/tmp", b"/dev/shm"];
    let lengths = folders.iter().filter_map(|folder| {
        let rest = path.strip_prefix(*folder)?.strip_prefix(b"/")?;
        Some(path.len() - rest.len())
    });
    lengths.max().unwrap_or(0)
}

/// Where `mktemp` and its like put letters and digits in place of `XXXXXX`, and where numbers are.
fn new_names(name: &[u8]) -> Vec<Range<usize>> {
    const SHORTEST: usize = 6;
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let words = runs_of(name, is_word).into_iter().flat_map(|word| {
        if word.len() >= SHORTEST {
            return vec![word];
        }
        let inside = find_numbers(&name[word.clone()], 3).into_iter();
        inside
            .map(|n| word.start + n.start..word.start + n.end)
            .collect()
    });
    words.collect()
}

/// Where numbers of at least so many digits are.
fn find_numbers(name: &[u8], digits: usize) -> Vec<Range<usize>> {
    let mut all = runs_of(name, u8::is_ascii_digit);
    all.retain(|run| run.len() >= digits);
    all
}

fn runs_of(name: &[u8], is_in: impl Fn(&u8) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (i, _) in name.iter().enumerate().filter(|(_, b)| is_in(b)) {
        match runs.last_mut() {
            Some(run) if run.end == i => run.end = i + 1,
            _ => runs.push(i..i + 1),
        }
    }
    runs
}

fn add_replaced(name: &[u8], parts: &[Range<usize>], form: &mut Vec<u8>) {
    let mut at = 0;
    for part in parts {
        form.extend(&name[at..part.start]);
        form.push(b'*');
        at = part.end;
    }
    form.extend(&name[at..]);
}

/// The arguments for people, quoted where a shell would not take them as they are.
pub(super) fn shell_words(arguments: &Arguments) -> String {
    const LONGEST: usize = 200;
    let words: Vec<String> = arguments.iter().map(|a| show_argument(a)).collect();
    let mut text = words.join(" ");
    if let Some((at, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(at);
        text.push('…');
    }
    if text.is_empty() { "none".into() } else { text }
}

fn show_argument(argument: &[u8]) -> String {
    let text = String::from_utf8_lossy(argument);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("{text:?}")
    }
}

#[cfg(test)]
mod tests;
