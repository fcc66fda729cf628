//! What a unified diff touches: the lines that it adds or changes, by file.

use crate::base::error::{Error, Result};
use crate::base::names::escape_unprintable;
use diffy::Line;
use diffy::patch_set::{FileOperation, FilePatch, ParseOptions, PatchKind, PatchSet};
use std::collections::BTreeMap;
use std::path::Path;

/// A unified diff, as far as it says what is new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The files that it leaves with other lines than before.
    pub files: Vec<PatchedFile>,
    /// How many of its hunks only remove lines: they touch no line that is left.
    pub removals: usize,
}

/// A file that a diff adds lines to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchedFile {
    /// What it may be called, the likeliest first: as the diff has it, and without its first folder, which may be `b/`.
    pub names: Vec<String>,
    /// The text of each line that is new or changed, by its number afterwards.
    pub added: BTreeMap<u32, String>,
}

impl Patch {
    /// Reads what `git diff`, `git format-patch` or `diff -u` wrote; `path` is for messages. Linear.
    ///
    /// # Errors
    /// It is none of these.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Patch> {
        let mut patch = Patch::default();
        if bytes.trim_ascii().is_empty() {
            return Ok(patch); // nothing changed
        }
        let is_git = bytes.starts_with(b"diff --git ")
            || memchr::memmem::find(bytes, b"\ndiff --git ").is_some();
        let options = if is_git {
            ParseOptions::gitdiff()
        } else {
            ParseOptions::unidiff()
        };
        let refused = |why: String| {
            if let Some((what, option)) = find_other_form(bytes) {
                let problem = format!("this diff {what}, so its lines are not told apart surely");
                let remedy = format!("give the output of git diff without {option}");
                return Error::profile(path, problem, remedy);
            }
            let remedy = "give the output of git diff or diff -u";
            Error::profile(path, format!("not a unified diff: {why}"), remedy)
        };
        for file in PatchSet::parse_bytes(bytes, options) {
            let file = file.map_err(|e| refused(e.to_string()))?;
            if let Some(name) = name_without_hunks(&file) {
                return Err(refused(format!("no hunk follows the name of {name}")));
            }
            if has_unchanged_hunk(&file) {
                return Err(refused("a hunk changes nothing".into()));
            }
            patch.add(&file);
        }
        Ok(patch)
    }

    fn add(&mut self, file: &FilePatch<[u8]>) {
        let PatchKind::Text(text) = file.patch() else {
            return; // a binary file has no lines
        };
        let mut added = BTreeMap::new();
        for hunk in text.hunks() {
            let before = added.len();
            let mut number = u32::try_from(hunk.new_range().start()).unwrap_or(u32::MAX);
            for line in hunk.lines() {
                match line {
                    Line::Context(_) => {}
                    Line::Delete(_) => continue,
                    Line::Insert(text) => {
                        let text = String::from_utf8_lossy(text);
                        added.insert(number, text.trim_end_matches(['\n', '\r']).to_string());
                    }
                }
                number = number.saturating_add(1);
            }
            self.removals += usize::from(added.len() == before);
        }
        if let Some(names) = names(file.operation()).filter(|_| !added.is_empty()) {
            self.files.push(PatchedFile { names, added });
        }
    }
}

/// What else than lines `git diff` was asked for by which option, as far as its output shows it.
fn find_other_form(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let has = |part: &[u8]| memchr::memmem::find(bytes, part).is_some();
    if has(b"\x1b[") {
        return Some(("has colours", "--color and --color-words"));
    }
    let is_by_word = has(b"\n~\n") || has(b"[-") && has(b"-]") || has(b"{+") && has(b"+}");
    is_by_word.then_some(("is one of words", "--word-diff"))
}

/// Whether a hunk neither adds nor removes lines: in a diff of words changes stand within lines, which look like
/// context if they are indented.
fn has_unchanged_hunk(file: &FilePatch<[u8]>) -> bool {
    let PatchKind::Text(text) = file.patch() else {
        return false;
    };
    let is_context = |line: &Line<[u8]>| matches!(line, Line::Context(_));
    let mut hunks = text.hunks().iter();
    hunks.any(|hunk| hunk.lines().iter().all(is_context))
}

/// The name of a file in a diff that is cut off behind `---` and `+++`, or in a context diff, which
/// has such lines as well. What git says of files whose text stays as it is, such as a new mode,
/// has no such lines.
fn name_without_hunks(file: &FilePatch<[u8]>) -> Option<String> {
    let PatchKind::Text(text) = file.patch() else {
        return None;
    };
    let name = text.modified().or(text.original())?;
    let name = text.hunks().is_empty().then_some(name)?;
    Some(escape_unprintable(&String::from_utf8_lossy(name)).into_owned())
}

/// What the file may be called afterwards, unless it is gone.
fn names(operation: &FileOperation<[u8]>) -> Option<Vec<String>> {
    let (name, prefixed) = match operation {
        FileOperation::Delete(_) => return None,
        FileOperation::Create(name) | FileOperation::Modify { modified: name, .. } => (name, true),
        FileOperation::Rename { to, .. } | FileOperation::Copy { to, .. } => (to, false),
    };
    let name = String::from_utf8_lossy(name).into_owned();
    let name = name.trim_start_matches("./").to_string();
    let mut names = vec![name.clone()];
    if let Some((first, rest)) = name.split_once('/').filter(|_| prefixed) {
        // git's own prefix; else the name may be whole.
        names.insert(usize::from(first != "b"), rest.to_string());
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Patch, String> {
        Patch::parse(text.as_bytes(), Path::new("p")).map_err(|e| e.to_string())
    }

    fn file(names: &[&str], added: &[(u32, &str)]) -> PatchedFile {
        PatchedFile {
            names: names.iter().map(|n| n.to_string()).collect(),
            added: added.iter().map(|(n, t)| (*n, t.to_string())).collect(),
        }
    }

    /// A diff of words, plain and as porcelain, whose lines may pass for context; a coloured one.
    #[test]
    fn diff_of_words_is_refused_with_the_remedy() {
        let head = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n";
        for (hunk, option) in [
            ("@@ -3 +3 @@\n  g = [-0;-]{+1;+}\n", "--word-diff"),
            (
                "@@ -1,2 +1,2 @@\nint g;\n  g = [-0;-]{+1;+}\n",
                "--word-diff",
            ),
            ("@@ -3 +3 @@\n   g = \n-0;\n+1;\n~\n", "--word-diff"),
            (
                "@@ -3 +3 @@\n  g = \u{1b}[31m0;\u{1b}[m\u{1b}[32m1;\u{1b}[m\n",
                "--color",
            ),
        ] {
            let said = parse(&format!("{head}{hunk}")).unwrap_err();
            let remedy = format!("give the output of git diff without {option}");
            assert!(said.contains(&remedy) && !said.contains('\n'), "{said}");
        }
        let plain = format!("{head}@@ -1 +1 @@\n-a[-b-]\n+a{{+b+}}\n");
        assert_eq!(parse(&plain).unwrap().files.len(), 1);
    }

    /// Changed, new, removed, renamed, binary, names in quotes, no end of line: as git writes them.
    #[test]
    fn patch_of_git_is_parsed() {
        let text = "diff --git a/src/a.c b/src/a.c
index 1..2 100644
--- a/src/a.c
+++ b/src/a.c
@@ -1,3 +1,4 @@ int f
 one
-two
+zwei
+drei
 three
@@ -10,2 +11 @@
 ten
-eleven
diff --git a/gone.c b/gone.c
deleted file mode 100644
index 1..0
--- a/gone.c
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/new.c b/new.c
new file mode 100644
index 0..1
--- /dev/null
+++ b/new.c
@@ -0,0 +1 @@
+x
\\ No newline at end of file
diff --git a/old/b.c b/lib/b.c
similarity index 90%
rename from old/b.c
rename to lib/b.c
index 1..2 100644
--- a/old/b.c
+++ b/lib/b.c
@@ -5 +5 @@
-a
+b
diff --git a/p.png b/p.png
index 1..2 100644
Binary files a/p.png and b/p.png differ
diff --git \"a/\\303\\244.c\" \"b/\\303\\244.c\"
index 1..2 100644
--- \"a/\\303\\244.c\"
+++ \"b/\\303\\244.c\"
@@ -7 +7 @@
-a
+b
";
        let expected = Patch {
            files: vec![
                file(&["src/a.c", "b/src/a.c"], &[(2, "zwei"), (3, "drei")]),
                file(&["new.c", "b/new.c"], &[(1, "x")]),
                file(&["lib/b.c"], &[(5, "b")]),
                file(&["ä.c", "b/ä.c"], &[(7, "b")]),
            ],
            removals: 2,
        };
        assert_eq!(parse(text), Ok(expected));
    }

    #[test]
    fn patch_of_diff_is_parsed() {
        let text = "--- old/a.c\t2026-01-01 00:00:00.000000000 +0000
+++ new/a.c\t2026-01-02 00:00:00.000000000 +0000
@@ -1 +1,2 @@
-a\r
+b\r
+++ c
";
        let added = [(1, "b"), (2, "++ c")];
        assert_eq!(
            parse(text).unwrap().files,
            [file(&["new/a.c", "a.c"], &added)]
        );
        assert_eq!(parse(" \n"), Ok(Patch::default()));
        let mode = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n";
        assert_eq!(parse(mode), Ok(Patch::default()));
        for bad in [
            "x\n",
            "--- a\n+++ b\n@@ -1 +1 @@\n-a\n",
            "diff --git a b\n@@ x",
            // Cut off, and what diff -c prints.
            "--- a\n+++ b\n",
            "--- a\n",
            "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n",
            "*** a\n--- b\n***************\n*** 1 ****\n! x\n--- 1 ----\n! y\n",
        ] {
            let said = parse(bad).unwrap_err();
            assert!(said.starts_with("p: not a unified diff: "), "{said}");
            assert!(
                said.ends_with("; give the output of git diff or diff -u"),
                "{said}"
            );
        }
    }

    proptest::proptest! {
        /// Whatever it reads, it ends without a panic.
        #[test]
        fn any_text_is_read_without_a_panic(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)
        ) {
            let _ = Patch::parse(&bytes, Path::new("p"));
            let like = [&b"--- a\n+++ b\n@@ -1,4294967295 +4294967295,9 @@\n+"[..], &bytes].concat();
            let _ = Patch::parse(&like, Path::new("p"));
        }
    }
}
