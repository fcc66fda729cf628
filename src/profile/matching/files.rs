//! Which source files are one, by the names and hashes that debug information has.

use super::Build;
use crate::read::source::is_of_the_system;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// So many ways to rename the folders of a build are tried.
const TRIED: usize = 16;

/// The part of a name behind the last `/`.
pub(super) fn base_name(name: &str) -> &str {
    name.rfind('/').map_or(name, |slash| &name[slash + 1..])
}

/// Whether a name is that of a file: compilers call standard input `<stdin>` or `-`, and Rust's macros `<… macros>`.
fn is_file(name: &str) -> bool {
    !matches!(base_name(name), "" | "-") && !base_name(name).starts_with('<')
}

/// The source files of one set of builds, numbered.
///
/// A name with two hashes is two files. A name without a hash is that file which has the name. A relative name, which
/// depends on the folder of the compiler (`h.h` and `../h.h`), also is the file of equal content whose name ends
/// alike. Absolute names that differ are two files whatever their content: a header and its installed copy.
#[derive(Default)]
pub(in crate::profile) struct Files {
    names: Vec<String>,
    checksums: Vec<String>,
    by_name: HashMap<String, Vec<u32>>,
    /// By hash and last part of the name.
    by_content: HashMap<(String, String), Vec<u32>>,
}

impl Files {
    /// The number of a file, a new one if it is none of those that are there.
    pub(in crate::profile) fn add(&mut self, name: &str, checksum: &str) -> u32 {
        if let Some(known) = self.find(name, checksum) {
            let own = &mut self.checksums[known as usize];
            if own.is_empty() && !checksum.is_empty() {
                *own = checksum.into();
                let content = (checksum.into(), base_name(name).into());
                self.by_content.entry(content).or_default().push(known);
            }
            return known;
        }
        let next = self.names.len() as u32;
        self.names.push(name.into());
        self.checksums.push(checksum.into());
        self.by_name.entry(name.into()).or_default().push(next);
        if !checksum.is_empty() {
            let content = (checksum.into(), base_name(name).into());
            self.by_content.entry(content).or_default().push(next);
        }
        next
    }

    /// What the files of `other` are called here, if its folder has moved since other programs were built: as of
    /// [`translate_names`], with evidence. O(files).
    pub(in crate::profile) fn rename_moved<'a>(&self, other: &Build<'a>) -> Vec<Cow<'a, str>> {
        let names = self.names.iter().zip(&self.checksums);
        let here = Build {
            files: names.map(|(n, c)| (n.as_str(), c.as_str())).collect(),
            modules: Vec::new(),
        };
        translate_names(other, &here, true)
    }

    /// Names and hashes by number.
    pub(in crate::profile) fn into_lists(self) -> (Vec<String>, Vec<String>) {
        (self.names, self.checksums)
    }

    fn find(&self, name: &str, checksum: &str) -> Option<u32> {
        let own = |i: u32| self.checksums[i as usize].as_str();
        let named = self.by_name.get(name);
        let mut named = named.into_iter().flatten().copied();
        if !is_file(name) {
            return named.find(|i| !checksum.is_empty() && own(*i) == checksum);
        }
        let is_alike = |i: &u32| checksum.is_empty() || [checksum, ""].contains(&own(*i));
        named.find(is_alike).or_else(|| {
            let content = (checksum.to_string(), base_name(name).to_string());
            let mut equal = self.by_content.get(&content)?.iter().copied();
            equal.find(|i| is_same_relative(&self.names[*i as usize], name))
        })
    }
}

/// Whether one of two names is relative, and may be the other from another folder.
fn is_same_relative(a: &str, b: &str) -> bool {
    let below = |name: &str| name.trim_start_matches("../").to_string();
    let ends = |long: &str, short: &str| {
        let folder = long.strip_suffix(short);
        folder.is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
    };
    let is_relative = [a, b].map(|name| !name.starts_with('/'));
    let (a, b) = (below(a), below(b));
    is_relative[0] && ends(&b, &a) || is_relative[1] && ends(&a, &b)
}

/// What the files of `old` are called in `new`, by number.
///
/// If both builds have a file of one name, outside the system's folders, then names can be compared as they are. If
/// not, the folder may have moved: the beginning of names is replaced so that most files of `old` have a name in `new`.
/// Where nobody says that both are builds of one program (`needs_evidence`), one of these files must have the same
/// content. Where somebody does, a program of one file has that file, whatever it is called.
pub(super) fn translate_names<'a>(
    old: &Build<'a>,
    new: &Build,
    needs_evidence: bool,
) -> Vec<Cow<'a, str>> {
    let names = || old.files.iter().map(|(name, _)| *name);
    let unchanged = || names().map(Cow::Borrowed).collect();
    let is_own = |name: &&str| is_file(name) && !is_of_the_system(name);
    let there: HashSet<&str> = new.files.iter().map(|f| f.0).filter(is_own).collect();
    if names().any(|name| there.contains(name)) {
        return unchanged();
    }
    let own: Vec<&str> = names().filter(is_own).collect();
    if let ([_], [renamed], false) = (&own[..], &Vec::from_iter(&there)[..], needs_evidence) {
        // The one source of a program, under another name: `faster.c`, made of `demo.c`.
        let renamed = |name: &'a str| {
            if is_own(&name) {
                Cow::Owned(renamed.to_string())
            } else {
                Cow::Borrowed(name)
            }
        };
        return names().map(renamed).collect();
    }
    let mut by_base: HashMap<&str, Vec<(&str, &str)>> = HashMap::new();
    for &file in new.files.iter().filter(|f| is_own(&f.0)) {
        by_base.entry(base_name(file.0)).or_default().push(file);
    }
    let mut renamings = BTreeSet::new();
    for (name, checksum) in old.files.iter().filter(|f| is_own(&f.0)) {
        for (other, content) in by_base.get(base_name(name)).into_iter().flatten() {
            let is_equal = !checksum.is_empty() && checksum == content;
            if is_equal || !needs_evidence {
                renamings.insert(find_beginnings(name, other));
            }
        }
        if renamings.len() >= TRIED {
            break;
        }
    }
    let hits = |r: &(&str, &str)| {
        let hit =
            names().filter(|n| replace_prefix(n, r).is_some_and(|n| there.contains(n.as_str())));
        hit.count()
    };
    let Some(best) = renamings.iter().max_by_key(|r| hits(r)) else {
        return unchanged();
    };
    let renamed =
        |name: &'a str| replace_prefix(name, best).map_or(Cow::Borrowed(name), Cow::Owned);
    names().map(renamed).collect()
}

/// What two names begin with before the folders at their ends that are equal.
fn find_beginnings<'n, 'm>(a: &'n str, b: &'m str) -> (&'n str, &'m str) {
    let parts = |name: &str| -> Vec<usize> { name.split('/').rev().map(str::len).collect() };
    let (of_a, of_b) = (parts(a), parts(b));
    let equal = a.split('/').rev().zip(b.split('/').rev());
    let equal = equal.take_while(|(x, y)| x == y).count();
    let begin = |name: &str, parts: &[usize]| {
        let end: usize = parts[..equal].iter().map(|length| length + 1).sum();
        name.len().saturating_sub(end)
    };
    (&a[..begin(a, &of_a)], &b[..begin(b, &of_b)])
}

/// A name with another beginning.
fn replace_prefix(name: &str, (from, to): &(&str, &str)) -> Option<String> {
    let rest = match *from {
        "" => name,
        from => name.strip_prefix(from)?.strip_prefix('/')?,
    };
    Some(match *to {
        "" => rest.to_string(),
        to => format!("{to}/{rest}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file as a name and a hash; the numbers that they get.
    fn numbers(files: &[(&str, &str)]) -> Vec<u32> {
        let mut all = Files::default();
        files.iter().map(|(n, c)| all.add(n, c)).collect()
    }

    #[test]
    fn file_has_one_number_under_all_its_names() {
        assert_eq!(numbers(&[("/p/a.c", "1"), ("/p/a.c", "1")]), [0, 0]);
        assert_eq!(numbers(&[("/p/a.c", "1"), ("/p/a.c", "2")]), [0, 1]);
        assert_eq!(numbers(&[("/p/a.c", ""), ("/p/a.c", "2")]), [0, 0]);
        assert_eq!(numbers(&[("/p/a.c", "1"), ("/p/a.c", "")]), [0, 0]);
        // Relative to two folders.
        let relative = [("src/h.h", "1"), ("../src/h.h", "1"), ("/p/src/h.h", "1")];
        assert_eq!(numbers(&relative), [0, 0, 0]);
        assert_eq!(numbers(&[("src/h.h", "1"), ("../src/h.h", "2")]), [0, 1]);
        assert_eq!(numbers(&[("src/h.h", ""), ("../src/h.h", "")]), [0, 1]);
        assert_eq!(numbers(&[("t1/main.c", "1"), ("t2/main.c", "1")]), [0, 1]);
        // A header and its installed copy.
        assert_eq!(numbers(&[("/p/h.h", "1"), ("/q/h.h", "1")]), [0, 1]);
        // Standard input is no file.
        assert_eq!(numbers(&[("/p/<stdin>", ""), ("/p/<stdin>", "")]), [0, 1]);
        assert_eq!(numbers(&[("/p/-", "1"), ("/p/-", "1")]), [0, 0]);
        // The hash that one program knows counts for all.
        let files = [("/p/a.c", ""), ("/p/a.c", "1"), ("/p/a.c", "2")];
        assert_eq!(numbers(&files), [0, 0, 1]);
    }

    fn translated_names(old: &[(&str, &str)], new: &[(&str, &str)], evidence: bool) -> Vec<String> {
        let of = |files| Build {
            files,
            modules: Vec::new(),
        };
        let names = translate_names(&of(old.to_vec()), &of(new.to_vec()), evidence);
        names.into_iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn files_of_a_moved_folder_have_their_new_names() {
        let old = [
            ("/a/p/x.c", "1"),
            ("/a/p/lib/y.c", "2"),
            ("/usr/include/h.h", "3"),
        ];
        let new = [
            ("/b/q/x.c", "4"),
            ("/b/q/lib/y.c", "2"),
            ("/usr/include/h.h", "3"),
        ];
        let moved = ["/b/q/x.c", "/b/q/lib/y.c", "/usr/include/h.h"];
        for evidence in [false, true] {
            assert_eq!(translated_names(&old, &new, evidence), moved);
        }
        let edited = [("/b/q/x.c", "4"), ("/b/q/lib/y.c", "5")];
        assert_eq!(translated_names(&old, &edited, false)[..2], moved[..2]);
        assert_eq!(translated_names(&old, &edited, true)[0], "/a/p/x.c");
        // A file of one name: nothing has moved.
        let beside = [("/a/q/x.c", "1"), ("/a/p/lib/y.c", "2")];
        assert_eq!(translated_names(&old, &beside, true)[0], "/a/p/x.c");
        // To names without a folder, and back.
        let bare = [("x.c", "1"), ("lib/y.c", "2")];
        assert_eq!(translated_names(&old, &bare, true)[..2], ["x.c", "lib/y.c"]);
        assert_eq!(
            translated_names(&bare, &new, true),
            ["/b/q/x.c", "/b/q/lib/y.c"]
        );
        // The one file of a program.
        let one = |name| [(name, ""), ("/usr/include/h.h", "")];
        let (old, new) = (one("/p/demo.c"), one("/p/faster.c"));
        assert_eq!(
            translated_names(&old, &new, false),
            ["/p/faster.c", "/usr/include/h.h"]
        );
        assert_eq!(translated_names(&old, &new, true)[0], "/p/demo.c");
    }
}
