//! The grammar of `--paths`: one text, one wish. What it means in a program is decided by [`super::resolve`].

use crate::base::error::{Error, Result};
use crate::base::index::PathId;
use std::fmt;
use std::path::{Path, PathBuf};

/// One `--paths` option, parsed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Spec {
    /// `through=FILE:LINE[-LINE]`: paths through code of these lines.
    Lines {
        /// The end of the name that the file was compiled by.
        file: String,
        /// The first line.
        first: u32,
        /// The last line; not below `first`.
        last: u32,
    },
    /// `through=FUNCTION`: all paths of a function, and paths through its code where it was inlined.
    Function(String),
    /// `top=N:PROFILE`: the paths that ran most instructions.
    Top {
        /// At least 1.
        number: usize,
        /// A merged profile, or a folder.
        profile: PathBuf,
    },
    /// `share=90%:PROFILE`: as many of these as ran so large a share of all instructions.
    Share {
        /// Above 0, at most 100.
        percent: f64,
        /// A merged profile, or a folder.
        profile: PathBuf,
    },
    /// `cold:PROFILE`: paths through an edge that never ran.
    Cold(PathBuf),
    /// `new:PROFILE[,PROFILE…]`: paths that none of these has seen.
    New(Vec<PathBuf>),
    /// `ids=FUNCTION#ID,…`: these paths.
    Ids(Vec<(String, PathId)>),
}

/// What `--paths` accepts, for messages.
const FORMS: &str = "through=FILE:LINE[-LINE], through=FUNCTION, top=N:PROFILE, share=90%:PROFILE, \
                     cold:PROFILE, new:PROFILE[,PROFILE…], ids=FUNCTION#ID,… or patch=DIFF";

impl Spec {
    /// Parses the value of one `--paths`.
    ///
    /// # Errors
    /// The text has none of the forms.
    pub(crate) fn parse(text: &str) -> Result<Spec> {
        let bad = |problem: &str, remedy: &str| {
            Err(Error::Usage(format!("--paths {text}: {problem}; {remedy}")))
        };
        // The first word decides: a file's name behind it may contain `=` and `:` itself.
        if let Some(place) = text.strip_prefix("through=") {
            return match parse_place(place) {
                Some(spec) => Ok(spec),
                None if place.is_empty() => bad("nothing is named", "give FILE:LINE or a function"),
                None => bad(
                    "these are no lines",
                    "give FILE:LINE or FILE:FIRST-LAST, from 1",
                ),
            };
        }
        if let Some(rest) = text.strip_prefix("top=") {
            let parsed = rest.split_once(':').and_then(|(n, profile)| {
                let number: usize = n.parse().ok().filter(|n| *n > 0)?;
                Some((number, profile_path(profile)?))
            });
            return match parsed {
                Some((number, profile)) => Ok(Spec::Top { number, profile }),
                None => bad("not a number of paths and a profile", "give top=20:PROFILE"),
            };
        }
        if let Some(rest) = text.strip_prefix("share=") {
            let parsed = rest.split_once(':').and_then(|(share, profile)| {
                let percent: f64 = share.strip_suffix('%')?.parse().ok()?;
                let percent = Some(percent).filter(|p| *p > 0.0 && *p <= 100.0)?;
                Some((percent, profile_path(profile)?))
            });
            return match parsed {
                Some((percent, profile)) => Ok(Spec::Share { percent, profile }),
                None => bad(
                    "not a share of up to 100% and a profile",
                    "give share=90%:PROFILE",
                ),
            };
        }
        if let Some(profile) = text.strip_prefix("cold:") {
            return match profile_path(profile) {
                Some(profile) => Ok(Spec::Cold(profile)),
                None => bad("no profile is named", "give cold:PROFILE"),
            };
        }
        if let Some(profiles) = text.strip_prefix("new:") {
            let names = split_at_commas(profiles);
            let named: Option<Vec<PathBuf>> = names.iter().map(|n| profile_path(n)).collect();
            return match named {
                Some(profiles) => Ok(Spec::New(profiles)),
                None => bad(
                    "a profile has no name",
                    "give new:PROFILE or new:PROFILE,PROFILE",
                ),
            };
        }
        if let Some(list) = text.strip_prefix("ids=") {
            return match parse_ids(list) {
                Some(ids) => Ok(Spec::Ids(ids)),
                None => bad(
                    "not a list of functions and path ids",
                    "give ids=FUNCTION#ID,…, as p3-prof show prints them",
                ),
            };
        }
        bad("this is no selection", &format!("give {FORMS}"))
    }

    /// The profiles and folders that it names.
    pub(crate) fn profiles(&self) -> &[PathBuf] {
        match self {
            Spec::Top { profile, .. } | Spec::Share { profile, .. } | Spec::Cold(profile) => {
                std::slice::from_ref(profile)
            }
            Spec::New(profiles) => profiles,
            Spec::Lines { .. } | Spec::Function(_) | Spec::Ids(_) => &[],
        }
    }

    /// The request with names of files that hold in every folder.
    #[must_use]
    pub(crate) fn with_absolute_names(&self) -> Spec {
        let absolute = |p: &PathBuf| std::path::absolute(p).unwrap_or_else(|_| p.clone());
        match self {
            Spec::Top { number, profile } => Spec::Top {
                number: *number,
                profile: absolute(profile),
            },
            Spec::Share { percent, profile } => Spec::Share {
                percent: *percent,
                profile: absolute(profile),
            },
            Spec::Cold(profile) => Spec::Cold(absolute(profile)),
            Spec::New(profiles) => Spec::New(profiles.iter().map(absolute).collect()),
            Spec::Lines { .. } | Spec::Function(_) | Spec::Ids(_) => self.clone(),
        }
    }
}

/// What [`Spec::parse`] reads.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spec::Lines { file, first, last } if first == last => {
                write!(f, "through={file}:{first}")
            }
            Spec::Lines { file, first, last } => write!(f, "through={file}:{first}-{last}"),
            Spec::Function(name) => write!(f, "through={name}"),
            Spec::Top { number, profile } => write!(f, "top={number}:{}", profile.display()),
            Spec::Share { percent, profile } => {
                write!(f, "share={percent}%:{}", profile.display())
            }
            Spec::Cold(profile) => write!(f, "cold:{}", profile.display()),
            Spec::New(profiles) => {
                let names = profiles.iter().map(|p| p.display().to_string());
                let names = names.map(|n| n.replace('\\', "\\\\").replace(',', "\\,"));
                let names: Vec<String> = names.collect();
                write!(f, "new:{}", names.join(","))
            }
            Spec::Ids(ids) => {
                let ids: Vec<String> = ids
                    .iter()
                    .map(|(name, id)| format!("{name}#{id}"))
                    .collect();
                write!(f, "ids={}", ids.join(","))
            }
        }
    }
}

fn profile_path(profile: &str) -> Option<PathBuf> {
    (!profile.is_empty()).then(|| Path::new(profile).to_path_buf())
}

/// The parts of a list between commas. A comma of a name is written `\,`, and a backslash before
/// either `\\`.
fn split_at_commas(list: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = list.chars().peekable();
    while let Some(c) = rest.next() {
        let part = parts.last_mut().expect("there is a first part");
        match c {
            ',' => parts.push(String::new()),
            '\\' => part.push(rest.next_if(|c| matches!(c, ',' | '\\')).unwrap_or('\\')),
            c => part.push(c),
        }
    }
    parts
}

/// `FILE:LINE[-LINE]`, or a function. A name that ends with a colon and something like numbers is a file's: no
/// function's does.
fn parse_place(place: &str) -> Option<Spec> {
    let is_numeric = |c: char| c.is_ascii_digit() || c == '-';
    let lines = place
        .rsplit_once(':')
        .filter(|(_, lines)| lines.starts_with(is_numeric) && lines.chars().all(is_numeric));
    let Some((file, lines)) = lines else {
        return (!place.is_empty()).then(|| Spec::Function(place.into()));
    };
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    let is_range = first > 0 && first <= last && !file.is_empty();
    is_range.then(|| Spec::Lines {
        file: file.into(),
        first,
        last,
    })
}

/// `FUNCTION#ID,…`. A readable name may hold commas, and `#` as well (`{closure#0}`); what ends a
/// function's name is the first `#` with a number behind which the list ends or goes on.
fn parse_ids(list: &str) -> Option<Vec<(String, PathId)>> {
    let mut ids = Vec::new();
    let mut rest = list;
    while !rest.is_empty() {
        let (name, id, after) = rest.match_indices('#').find_map(|(at, _)| {
            let behind = &rest[at + 1..];
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            let (id, after) = behind.split_at(digits);
            let is_id = digits > 0 && (after.is_empty() || after.starts_with(','));
            is_id.then_some((&rest[..at], id, after))
        })?;
        if name.is_empty() || after == "," {
            return None;
        }
        ids.push((name.to_string(), PathId(id.parse().ok()?)));
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    (!ids.is_empty()).then_some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_parsed_and_printed_as_it_was_given() {
        let lines = |file: &str, first, last| Spec::Lines {
            file: file.into(),
            first,
            last,
        };
        let cases = [
            ("through=src/a.c:7", lines("src/a.c", 7, 7)),
            ("through=a.c:7-12", lines("a.c", 7, 12)),
            ("through=main", Spec::Function("main".into())),
            (
                "through=Tree::insert(int, int)",
                Spec::Function("Tree::insert(int, int)".into()),
            ),
            (
                "top=20:a:b.p3prof",
                Spec::Top {
                    number: 20,
                    profile: "a:b.p3prof".into(),
                },
            ),
            (
                "share=99.5%:p",
                Spec::Share {
                    percent: 99.5,
                    profile: "p".into(),
                },
            ),
            ("cold:p", Spec::Cold("p".into())),
            ("new:p,q", Spec::New(vec!["p".into(), "q".into()])),
            (
                "new:p\\,1,q\\\\,\\,",
                Spec::New(vec!["p,1".into(), "q\\".into(), ",".into()]),
            ),
            (
                "ids=a::{closure#0}#7,b::{closure#12}::{closure#3}#0",
                Spec::Ids(vec![
                    ("a::{closure#0}".into(), PathId(7)),
                    ("b::{closure#12}::{closure#3}".into(), PathId(0)),
                ]),
            ),
            (
                "ids=f#0,g(int, char)#17",
                Spec::Ids(vec![
                    ("f".into(), PathId(0)),
                    ("g(int, char)".into(), PathId(17)),
                ]),
            ),
        ];
        for (text, spec) in cases {
            assert_eq!(Spec::parse(text).unwrap(), spec, "{text}");
            assert_eq!(spec.to_string(), text);
        }
    }

    #[test]
    fn other_text_is_refused_with_the_form_it_should_have() {
        for (text, said) in [
            ("through=", "nothing is named; give FILE:LINE or a function"),
            (
                "through=a.c:0",
                "these are no lines; give FILE:LINE or FILE:FIRST-LAST, from 1",
            ),
            (
                "through=a.c:9-7",
                "these are no lines; give FILE:LINE or FILE:FIRST-LAST, from 1",
            ),
            (
                "through=:9",
                "these are no lines; give FILE:LINE or FILE:FIRST-LAST, from 1",
            ),
            (
                "top=0:p",
                "not a number of paths and a profile; give top=20:PROFILE",
            ),
            (
                "top=3",
                "not a number of paths and a profile; give top=20:PROFILE",
            ),
            (
                "share=90:p",
                "not a share of up to 100% and a profile; give share=90%:PROFILE",
            ),
            (
                "share=101%:p",
                "not a share of up to 100% and a profile; give share=90%:PROFILE",
            ),
            ("cold:", "no profile is named; give cold:PROFILE"),
            (
                "new:p,",
                "a profile has no name; give new:PROFILE or new:PROFILE,PROFILE",
            ),
        ] {
            let error = Spec::parse(text).unwrap_err();
            assert_eq!(error.to_string(), format!("--paths {text}: {said}"));
            assert_eq!(error.status(), 2);
        }
        for text in [
            "ids=",
            "ids=f",
            "ids=f#x",
            "ids=#3",
            "ids=f#1,",
            "ids=f#1,g",
            "ids=f#1,#2",
            "ids=f#+1",
            "ids=f#18446744073709551616",
            "ids=f#18446744073709551616,g#1",
        ] {
            let error = Spec::parse(text).unwrap_err().to_string();
            assert!(
                error.contains("not a list of functions and path ids"),
                "{error}"
            );
        }
        let error = Spec::parse("hot").unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("this is no selection; give {FORMS}")),
            "{error}"
        );
    }

    #[test]
    fn backslash_that_escapes_nothing_is_part_of_the_name() {
        let spec = Spec::parse("new:a\\b").unwrap();
        assert_eq!(spec, Spec::New(vec!["a\\b".into()]));
        assert_eq!(Spec::parse(&spec.to_string()).unwrap(), spec);
    }

    #[test]
    fn names_of_profiles_become_absolute() {
        let here = std::env::current_dir().unwrap();
        let absolute = Spec::parse("new:a,/b").unwrap().with_absolute_names();
        assert_eq!(absolute, Spec::New(vec![here.join("a"), "/b".into()]));
    }
}
