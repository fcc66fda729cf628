//! Source files of a profiled program: where they are, whether they are what was compiled, and what they say at a
//! position.

mod arms;
mod brackets;
mod condition;
mod constants;
mod context;
mod expanded;
mod extent;
mod headers;
mod labels;
mod literals;
mod macros;
pub(crate) mod markers;
mod operands;
pub(crate) mod patch;
pub(crate) mod root;
mod text;
mod tokens;
mod uncounted;

use crate::base::index::{BlockId, FuncId};
use crate::base::names::{escape_unprintable, normalise_path};
use crate::base::table::number_of;
use crate::input::ir::Loc;
use constants::Definitions;
pub(crate) use context::{Bytes, Comparison, Condition};
pub(crate) use expanded::Decision;
use headers::Headers;
use markers::{Excluded, Markers};
use md5::Digest;
pub(crate) use operands::{Joined, Operand, Tree};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
pub(crate) use text::Text;

/// A source file that is larger is not read.
const LARGEST: u64 = 32 << 20;
/// Of missing files, so many are named.
const NAMED: usize = 3;

/// Folders of sources that belong to a system or a toolchain, and not to a project.
const SYSTEM: [&str; 6] = [
    "/usr/include/",
    "/usr/lib/",
    "/usr/local/include/",
    "/rustc/",
    "/rustlib/",
    // Debian's.
    "/usr/src/rustc-",
];

/// Folders of crates from elsewhere, below `CARGO_HOME`, whatever that is.
const REGISTRIES: [&str; 2] = ["/registry/src/", "/git/checkouts/"];

/// What rustc calls the folder of the crates that its standard library is made of; elsewhere it is an ordinary name.
const RUST_DEPENDENCIES: &str = "/rust/deps/";

/// Whether a source file is one of the system, of a toolchain or of a crate from elsewhere.
pub(crate) fn is_of_the_system(file: &str) -> bool {
    is_of_the_standard_library(file) || REGISTRIES.iter().any(|folder| file.contains(folder))
}

/// Whether a source file is one of the system or of a toolchain.
pub(crate) fn is_of_the_standard_library(file: &str) -> bool {
    file.starts_with(RUST_DEPENDENCIES) || SYSTEM.iter().any(|folder| file.contains(folder))
}

/// The folder of the library that a file of the system belongs to: of the crate, or of C++'s headers.
pub(crate) fn library_of(file: &str) -> Option<&str> {
    let (at, folder) = SYSTEM
        .iter()
        .chain(&REGISTRIES)
        .find_map(|folder| Some((file.find(folder)?, folder)))?;
    let levels = match *folder {
        // The registry and the crate, the repository and its commit.
        "/registry/src/" | "/git/checkouts/" => 2,
        // The commit, `library`, and the crate.
        "/rustc/" => 3,
        _ => 1,
    };
    let start = at + folder.len();
    let ends = file[start..].match_indices('/').map(|(i, _)| start + i + 1);
    ends.take(levels).last().map(|end| &file[..end])
}

/// Where to look for source files.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Folders that hold them, under the ends of the names that they were compiled by.
    pub folders: Vec<PathBuf>,
    /// What the beginnings of such names are to be replaced by.
    pub renamed: Vec<(String, String)>,
    /// Words that leave lines out of coverage, besides those of lcov and gcovr ([`markers`]).
    pub markers: Vec<String>,
}

impl Search {
    /// One line for each folder that is none.
    pub fn missing_folders(&self) -> impl Iterator<Item = String> + '_ {
        let missing = self.folders.iter().filter(|f| !f.is_dir());
        missing.map(|folder| {
            let folder = folder.display().to_string();
            format!(
                "--source-dir {}: no such folder; check its name",
                escape_unprintable(&folder)
            )
        })
    }

    /// What a file is called instead that was compiled as `name`, by each beginning that fits.
    fn other_names<'a>(&'a self, name: &'a str) -> impl Iterator<Item = String> + 'a {
        self.renamed.iter().filter_map(move |(from, to)| {
            let rest = name.strip_prefix(from.as_str())?;
            let whole = rest.is_empty() || rest.starts_with('/') || from.ends_with('/');
            whole.then(|| format!("{to}{rest}"))
        })
    }

    /// Gives files their new names, those of the first beginning that fits, for reports that others are to find files
    /// by.
    pub fn rename(&self, files: &mut [String]) {
        for file in files {
            let renamed = self.other_names(file).next();
            if let Some(name) = renamed {
                *file = normalise_path(&name).into_owned();
            }
        }
    }

    /// Where `name` may be, the likeliest first.
    fn candidates(&self, name: &str) -> Vec<PathBuf> {
        let mut names: Vec<PathBuf> = self.other_names(name).map(PathBuf::from).collect();
        names.push(name.into());
        let mut candidates = names.clone();
        let is_name = |c: &Component| matches!(c, Component::Normal(_));
        for folder in &self.folders {
            for name in &names {
                let parts: Vec<Component> = name.components().collect();
                let ends = (0..parts.len()).filter(|&i| parts[i..].iter().all(is_name));
                candidates
                    .extend(ends.map(|i| folder.join(parts[i..].iter().collect::<PathBuf>())));
            }
        }
        candidates
    }
}

/// The folder of the repository that the working folder is in: what services of CI know files below of.
pub(crate) fn repository() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let mut above = here.ancestors();
    above
        .find(|a| a.join(".git").exists())
        .map(Path::to_path_buf)
}

/// The source files that a program was compiled from.
pub struct Sources {
    search: Search,
    /// Whether the compiler hashed what it read: a file without a hash is then one that a `#line` names, so that its
    /// columns are those of the file that was made from it.
    hashed: bool,
    files: Vec<SourceFile>,
    /// What markers leave out, once that was asked for.
    markers: OnceLock<Markers>,
    headers: Headers,
    /// What was found out about the branches of functions.
    known: Mutex<HashMap<FuncId, Arc<Branches>>>,
}

/// The branches of a function that the source has a condition for.
pub(crate) type Branches = HashMap<BlockId, Judged>;

/// A branch, and the condition of the source that it decides.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The condition.
    pub condition: Arc<Condition>,
    /// Whether the first successor is taken if it is true, the second one if it is false, as far as that is certain.
    pub first_is_true: Option<bool>,
    /// Of a `match`: by successor the pattern of the arm that is behind it, as far as that is certain.
    pub arms: Vec<Option<String>>,
}

struct SourceFile {
    name: String,
    checksum: String,
    found: OnceLock<FoundFile>,
    definitions: OnceLock<Definitions>,
}

/// What became of looking for a file.
enum FoundFile {
    Text(Box<Text>),
    /// One is there, but with other content.
    Changed(PathBuf),
    Missing,
}

impl Sources {
    /// Files of a program by number, with the hashes that they had when they were compiled, where these are known.
    /// Nothing is read before it is asked for.
    pub fn new(files: &[String], checksums: &[String], search: Search) -> Sources {
        let file = |(i, name): (usize, &String)| SourceFile {
            name: name.clone(),
            checksum: checksums.get(i).cloned().unwrap_or_default(),
            found: OnceLock::new(),
            definitions: OnceLock::new(),
        };
        Sources {
            search,
            hashed: checksums.iter().any(|c| !c.is_empty()),
            headers: Headers::for_files(files.iter().map(String::as_str)),
            files: files.iter().enumerate().map(file).collect(),
            markers: OnceLock::new(),
            known: Mutex::default(),
        }
    }

    /// Of no files.
    pub fn without_files() -> Sources {
        Sources::new(&[], &[], Search::default())
    }

    /// The text of a file, if it is there and as it was compiled.
    pub fn text(&self, file: u32) -> Option<&Text> {
        let file = self.files.get(file as usize)?;
        match file.found.get_or_init(|| self.find(file)) {
            FoundFile::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What calls of macros decide in the statement at a byte of a file: once for each way in which macros may be
    /// defined. Nothing where no macro is called.
    pub(crate) fn macro_decisions(
        &self,
        file: u32,
        offset: usize,
    ) -> Option<Arc<Vec<Vec<Decision>>>> {
        let text = self.text(file).filter(|text| !text.is_rust)?;
        text.macro_decisions(&self.definitions(file, text).macros, offset)
    }

    /// The expression of conditions that a branch at a byte of a file decides a part of, with macros expanded; `None`
    /// where that is no condition, or not certain.
    pub(crate) fn find_expression_at(&self, file: u32, offset: usize) -> Option<Arc<Joined>> {
        let text = self.text(file)?;
        if text.is_rust {
            return text.find_expression_at(None, offset);
        }
        text.find_expression_at(Some(&self.definitions(file, text).macros), offset)
    }

    /// The label of a value among those of the cases at a line of a file, or directly before it.
    pub fn case_of_value(&self, loc: Loc, value: i128) -> Option<String> {
        let text = self.text(loc.file)?;
        text.case_of_value(self.definitions(loc.file, text), loc.line, value)
    }

    /// The label of a value among the cases of the only `switch` on a line of a file.
    pub fn case_in_switch(&self, loc: Loc, value: i128) -> Option<String> {
        let text = self.text(loc.file)?;
        text.case_in_switch(self.definitions(loc.file, text), loc.line, value)
    }

    /// What a file defines, and the headers that it includes by names in quotes.
    fn definitions(&self, file: u32, text: &Text) -> &Definitions {
        let file = &self.files[file as usize];
        let find = || {
            let headers = self
                .headers
                .find_included(&file.name, text, |name| self.header(name));
            Definitions::new(text, headers)
        };
        file.definitions.get_or_init(find)
    }

    /// The text of a header, as it was compiled if debug information says how it was.
    fn header(&self, name: &str) -> Option<String> {
        if let Some(file) = self.files.iter().position(|f| f.name == name) {
            return Some(self.text(file as u32)?.full_text().to_string());
        }
        let candidates = self.search.candidates(name);
        let content = candidates.iter().find_map(|path| read(path))?;
        Some(String::from_utf8_lossy(&content).into_owned())
    }

    fn find(&self, file: &SourceFile) -> FoundFile {
        let mut changed = None;
        for path in self.search.candidates(&file.name) {
            let Some(bytes) = read(&path) else { continue };
            if !is_of(&bytes, &file.checksum) {
                changed.get_or_insert(path);
                continue;
            }
            let mut text = Text::new(String::from_utf8_lossy(&bytes).into_owned());
            text.has_columns = !self.hashed || !file.checksum.is_empty();
            text.is_rust = file.name.ends_with(".rs");
            return FoundFile::Text(Box::new(text));
        }
        changed.map_or(FoundFile::Missing, FoundFile::Changed)
    }

    /// What markers leave out of the files that are there and as they were compiled, and which positions there say
    /// nothing of their line. Reads all of them, the first time.
    pub fn markers(&self) -> Markers {
        let excluded = |i| {
            let Some(text) = self.text(i as u32) else {
                return Excluded::default();
            };
            Excluded {
                length: Some(text.full_text().lines().count() as u32),
                uncounted: text.find_uncounted().into_iter().collect(),
                ends_in_rust: text.find_ends_in_rust().into_iter().collect(),
                ..Excluded::find(text.full_text(), &self.search.markers)
            }
        };
        let find = || Markers::new((0..self.files.len()).map(excluded).collect());
        self.markers.get_or_init(find).clone()
    }

    /// One line for each marker in a string or without its counterpart, in files that markers were asked of.
    pub fn remarks_on_markers(&self) -> Vec<String> {
        let markers = self.markers.get();
        let files = markers.into_iter().flat_map(|m| m.remarks());
        let own = files.filter(|(i, _)| !is_of_the_system(&self.files[*i].name));
        let lines = own.map(|(i, (line, problem))| {
            let name = escape_unprintable(&self.files[i].name);
            format!("{name}:{line}: {problem}")
        });
        let lines: BTreeSet<String> = lines.collect();
        lines.into_iter().collect()
    }

    /// What `judge` says of the branches of function `f`, which is asked once. Sources are of one program.
    pub fn branches(&self, f: FuncId, judge: impl FnOnce() -> Branches) -> Arc<Branches> {
        let known = || self.known.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(branches) = known().get(&f) {
            return branches.clone();
        }
        let branches = Arc::new(judge());
        known().insert(f, branches.clone());
        branches
    }

    /// Where a file of the program is that has changed since it was compiled, if no other place has it as it was.
    pub fn changed_file(&self, file: u32) -> Option<&Path> {
        let file = self.files.get(file as usize)?;
        match file.found.get_or_init(|| self.find(file)) {
            FoundFile::Changed(path) => Some(path),
            _ => None,
        }
    }

    /// A line about files that were looked for and are not there, if there are such. Files of the system, of which
    /// machines rarely have all, and what is no file (`<stdin>`) are left out.
    pub fn missing_line(&self) -> Option<String> {
        self.describe_missing("text is not shown")
    }

    /// One line about sources that are not found, where only their markers are read; `None` if all are found.
    pub fn missing_markers(&self) -> Option<String> {
        self.describe_missing("markers (LCOV_EXCL_…) are not known and leave nothing out")
    }

    fn describe_missing(&self, unknown: &str) -> Option<String> {
        let is_missing = |f: &&SourceFile| matches!(f.found.get(), Some(FoundFile::Missing));
        let missing = self.files.iter().filter(is_missing);
        let names = missing.map(|f| f.name.as_str());
        let mut names: Vec<&str> = names
            .filter(|n| !n.is_empty() && !n.starts_with('<') && !is_of_the_system(n))
            .collect();
        names.sort_unstable();
        names.dedup();
        let more = match names.len().saturating_sub(NAMED) {
            0 => String::new(),
            n => format!(" and {}", number_of(n as u64, "more file")),
        };
        let (source, its, it_is) = match names.len() {
            0 => return None,
            1 => ("source", "its", "it is"),
            _ => ("sources", "their", "they are"),
        };
        names.truncate(NAMED);
        let names = names.join(", ");
        Some(format!(
            "{}{more}: {source} not found, so {its} {unknown}; name {its} folder by --source-dir, \
             or where {it_is} now by --path-map OLD=NEW",
            escape_unprintable(&names)
        ))
    }

    /// All places where files are looked for, whether there is one or not: no result may replace what is there.
    pub fn places(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let files = self.files.iter();
        files.flat_map(|f| self.search.candidates(&f.name))
    }

    /// One line for each folder that is to be searched, and is none.
    pub fn missing_folders(&self) -> impl Iterator<Item = String> + '_ {
        self.search.missing_folders()
    }

    /// One line for each file that was looked for and has changed since it was compiled.
    pub fn list_changed(&self) -> Vec<String> {
        let changed = self.files.iter().filter_map(|f| match f.found.get()? {
            FoundFile::Changed(path) => Some(format!(
                "{}: it is not what was compiled, so its text is not shown; --source-dir names a folder with the old \
                 one",
                path.display()
            )),
            _ => None,
        });
        let mut lines: Vec<String> = changed.collect();
        lines.sort();
        lines.dedup();
        lines
    }
}

/// The content of a file of moderate size: a profile may name anything.
fn read(path: &Path) -> Option<Vec<u8>> {
    let meta = fs::metadata(path).ok()?;
    let sound = meta.is_file() && meta.len() <= LARGEST;
    sound.then(|| fs::read(path).ok())?
}

/// Whether content has a hash; anything has none.
fn is_of(bytes: &[u8], checksum: &str) -> bool {
    let hash = match checksum.len() {
        32 => hexadecimal(&md5::Md5::digest(bytes)),
        40 => hexadecimal(&sha1::Sha1::digest(bytes)),
        64 => hexadecimal(&sha2::Sha256::digest(bytes)),
        _ => return true,
    };
    hash == checksum
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(dir: &Path, name: &str, checksum: &str, search: Search) -> Sources {
        let name = if name.starts_with('/') {
            name.to_string()
        } else {
            dir.join(name).display().to_string()
        };
        Sources::new(&[name], &[checksum.to_string()], search)
    }

    #[test]
    fn files_are_found_and_checked() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("moved/src");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.c"), "if (x)\n").unwrap();
        let md5 = hexadecimal(&md5::Md5::digest(b"if (x)\n"));
        let search = |folders: &[&str], renamed: &[(&str, &str)]| Search {
            folders: folders.iter().map(|f| dir.path().join(f)).collect(),
            renamed: renamed
                .iter()
                .map(|(a, b)| (a.to_string(), dir.path().join(b).display().to_string()))
                .collect(),
            ..Search::default()
        };
        let found = |name: &str, checksum: &str, s: Search| {
            sources(dir.path(), name, checksum, s).text(0).is_some()
        };
        assert!(found("moved/src/a.c", "", search(&[], &[])));
        assert!(!found("/old/src/a.c", &md5, search(&[], &[])));
        assert!(found("/old/src/a.c", &md5, search(&["moved"], &[])));
        assert!(found("/old/src/a.c", &md5, search(&["moved/src"], &[])));
        assert!(found("/old/b/../src/a.c", &md5, search(&["moved"], &[])));
        assert!(found(
            "/old/src/a.c",
            &md5,
            search(&[], &[("/old", "moved")])
        ));
        assert!(!found(
            "/older/src/a.c",
            &md5,
            search(&[], &[("/old", "moved")])
        ));
        let other = "0".repeat(40);
        let changed = sources(dir.path(), "moved/src/a.c", &other, search(&[], &[]));
        assert!(changed.text(0).is_none() && changed.list_changed().len() == 1);
        // What is no file is not read.
        assert!(!found("/dev/zero", "", search(&[], &[])));
        assert!(Sources::without_files().text(3).is_none());
    }

    #[test]
    fn library_of_a_file_is_its_crate_or_its_folder() {
        for (file, expected) in [
            (
                "/c/registry/src/index-1f/csv-core-0.1.12/src/reader.rs",
                "/c/registry/src/index-1f/csv-core-0.1.12/",
            ),
            (
                "/rustc/59807616e/library/core/src/slice/mod.rs",
                "/rustc/59807616e/library/core/",
            ),
            ("/usr/include/c++/12/vector", "/usr/include/c++/"),
        ] {
            assert_eq!(library_of(file), Some(expected));
        }
        assert_eq!(library_of("/home/me/src/a.c"), None);
    }

    #[test]
    fn lines_and_cases() {
        let text = Text::new(
            "switch (x) {\n  case RED: f();\n  case GREEN:\n\n    g();\n  case 'a':\n  case BLUE:\n    \
             h();\r\n}".into(),
        );
        assert_eq!(text.line(8), Some("    h();"));
        assert_eq!((text.line(0), text.line(10)), (None, None));
        assert_eq!(text.case(2).as_deref(), Some("RED"));
        assert_eq!(text.case(5).as_deref(), Some("GREEN"));
        assert_eq!(text.case(8), None);
        let scoped = Text::new("case Tok::num: f();\ncase A: B::g();\ncase C: case D: h();".into());
        assert_eq!(scoped.case(1).as_deref(), Some("Tok::num"));
        assert_eq!(scoped.case(2).as_deref(), Some("A"));
        assert_eq!(scoped.case(3), None);
        let remarked = Text::new(
            "case A:\n  // in case of\n  a();\ncase B: /* x */\n  /* one\n   * case C:\n   */\n  b();\n  c();\n".into(),
        );
        assert_eq!(remarked.case(3).as_deref(), Some("A"));
        assert_eq!(remarked.case(8).as_deref(), Some("B"));
        assert_eq!(remarked.case(9), None);
        // Other labels, operators and blocks in between.
        let near = Text::new(
            "switch (x) {\ndefault:\ncase A:\n  a();\ncase B: y = x ?\n  2 :\n  3;\nl: case C:\n  c();\ncase D: {\n  \
             d();\n}\ncase X |\n  Y: e();\n}".into(),
        );
        let labels: Vec<_> = (1..=14).filter_map(|l| Some((l, near.case(l)?))).collect();
        let expected = [(5, "B"), (9, "C"), (10, "D"), (11, "D"), (13, "X | Y")];
        let expected = expected.map(|(line, label)| (line, label.to_string()));
        assert_eq!(labels, expected[..]);
        assert_eq!(text.condition(1, 1).unwrap().text, "x");
        assert_eq!(text.condition(1, 0), None);
        assert_eq!(text.condition(1, 99), None);
        assert_eq!(text.condition(99, 1), None);
    }

    #[test]
    fn crates_of_the_standard_library_are_of_the_system() {
        for (file, is_system) in [
            ("/rust/deps/hashbrown-0.16.1/src/raw.rs", true),
            ("/rustc/0123/library/core/src/option.rs", true),
            ("/home/me/rust/deps/mine/src/lib.rs", false),
            ("/p/src/lib.rs", false),
        ] {
            assert_eq!(is_of_the_system(file), is_system, "{file}");
        }
    }

    #[test]
    fn loops_around_a_place() {
        let around =
            |text: &Text, word: &str| text.loops_around(text.full_text().find(word).unwrap());
        let c = Text::new(
            "for (i = 0; i < n; i++)\n  if (a) f();\n  else g();\ndo { h(); } while (b);\n\
             while (c) { for (;;) k(); }\nl();"
                .into(),
        );
        for (word, loops) in [
            ("i < n", (1, 0)),
            ("a) f", (1, 1)),
            ("g()", (1, 1)),
            ("h()", (1, 1)),
            ("b);", (1, 0)),
            ("c) {", (1, 0)),
            ("k()", (2, 2)),
            ("l()", (0, 0)),
        ] {
            assert_eq!(around(&c, word), loops, "{word}");
        }
        let mut rust =
            Text::new("for x in y { a(); }\nwhile b { c(); }\nloop { d(); }\ne();".into());
        rust.is_rust = true;
        for (word, loops) in [
            ("a()", (1, 1)),
            ("b {", (1, 0)),
            ("c()", (1, 1)),
            ("d()", (1, 1)),
            ("e()", (0, 0)),
        ] {
            assert_eq!(around(&rust, word), loops, "{word}");
        }
    }

    #[test]
    fn text_that_is_run_from_its_beginning_to_its_end() {
        let text = Text::new("{ x++;\n  log(x); if (a) log(y);\n  return z(); }".into());
        let runs = |word: &str| text.runs_straight(0..text.full_text().find(word).unwrap());
        assert!(runs("log(x)") && !runs("log(y)") && !runs("z()"));
    }

    /// Columns that no token begins at, or that the line does not have, are those of another text.
    #[test]
    fn conditions_of_another_text_are_not_quoted() {
        let text = Text::new("rule A { n++; }\nif (a > 1 && b)\n".into());
        for (line, column) in [(1, 51), (1, 2), (1, 16), (2, 3), (2, 6)] {
            let (condition, whole) = (text.condition(line, column), text.line_of(line, column));
            assert_eq!((condition, whole), (None, None), "{line}:{column}");
        }
        assert_eq!(text.condition(2, 5).unwrap().text, "b");
        assert_eq!(text.condition(2, 11).unwrap().text, "a > 1");
        let dir = tempfile::tempdir().unwrap();
        let names = ["a.y", "a.c"].map(|n| dir.path().join(n).display().to_string());
        for name in &names {
            fs::write(name, "if (a > 1)\n").unwrap();
        }
        let quoted = |checksums: &[String], file: u32| {
            let sources = Sources::new(&names, checksums, Search::default());
            let condition = sources.text(file).unwrap().condition(1, 5);
            condition.map(|c| c.text.clone())
        };
        let md5 = hexadecimal(&md5::Md5::digest(b"if (a > 1)\n"));
        let hashes = [String::new(), md5];
        let known = Some("a > 1".to_string());
        assert_eq!(
            [quoted(&hashes, 0), quoted(&hashes, 1), quoted(&[], 0)],
            [None, known.clone(), known]
        );
    }
}
