//! What may be replaced, by what stands there.

use super::*;
use std::os::unix::fs::symlink;

const OURS: &[u8] = b"# ours\n1\n";

fn text(mark: Mark) -> Content {
    Content::text(mark)
}

/// What writing `new` says, and what is there afterwards.
fn write_over(before: &[u8], mark: Mark, force: bool, new: &[u8]) -> (Option<String>, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out");
    std::fs::write(&path, before).unwrap();
    let said = Destination::new(&path, text(mark), force).write(new);
    (
        said.err().map(|e| e.to_string()),
        std::fs::read(&path).unwrap(),
    )
}

#[test]
fn earlier_results_are_replaced_by_mark() {
    let new = b"# ours\n2\n";
    let marks = [
        Mark::Start(b"# ours"),
        Mark::Head("ours"),
        Mark::Within("ours"),
        Mark::FirstLine,
    ];
    for mark in marks {
        assert_eq!(write_over(OURS, mark, false, new), (None, new.to_vec()));
        let other = b"# notes\n1\n".to_vec();
        let (said, after) = write_over(&other, mark, false, new);
        let said = said.unwrap();
        assert!(
            said.ends_with("out: exists, and is not an earlier result of this command; name another file with -o, or \
                replace it by --force"),
            "{mark:?}: {said}"
        );
        assert_eq!(after, other);
        assert_eq!(write_over(&other, mark, true, new), (None, new.to_vec()));
    }
}

/// Without a mark, only what loses nothing is replaced: nothing, and the same.
#[test]
fn formats_without_mark_replace_empty_and_equal_files() {
    for before in [&b""[..], OURS] {
        assert_eq!(
            write_over(before, Mark::None, false, OURS),
            (None, OURS.to_vec())
        );
    }
    assert!(
        write_over(b"# ours\n0\n", Mark::None, false, OURS)
            .0
            .is_some()
    );
}

#[test]
fn marks_are_looked_for_where_they_stand() {
    let mut far = vec![b' '; HEAD as usize];
    far.extend(b"ours");
    assert!(write_over(&far, Mark::Head("ours"), false, b"").0.is_some());
    assert_eq!(write_over(&far, Mark::Within("ours"), false, b"").0, None);
    assert!(
        write_over(b" # ours", Mark::Start(b"# ours"), false, b"")
            .0
            .is_some()
    );
    // A result of one line has no heading.
    assert!(write_over(b"1", Mark::FirstLine, false, b"12").0.is_some());
}

#[test]
fn inputs_are_never_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let (a, b) = (raw.join("a.p3raw"), dir.path().join("b"));
    std::fs::create_dir(&raw).unwrap();
    std::fs::write(&a, OURS).unwrap();
    std::fs::hard_link(&a, &b).unwrap();
    for force in [false, true] {
        for (path, input) in [(&a, &a), (&b, &a), (&a, &raw)] {
            let destination = Destination::new(path, text(Mark::Start(b"#")), force);
            let said = destination
                .check_before_work([input.as_path()])
                .unwrap_err();
            assert!(
                said.to_string().contains("is read by this command"),
                "{said}"
            );
        }
    }
    let beside = Destination::new(&raw.join("c.p3raw"), text(Mark::None), false);
    beside.check_before_work([raw.as_path()]).unwrap();
}

#[test]
fn links_and_folders_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    std::fs::write(&file, OURS).unwrap();
    for to in ["file", "nothing"] {
        let _ = std::fs::remove_file(&link);
        symlink(to, &link).unwrap();
        let said = Destination::new(&link, text(Mark::Start(b"#")), false).write(b"#");
        assert!(said.unwrap_err().to_string().contains("is a symbolic link"));
        // The link is replaced, not what it leads to.
        Destination::new(&link, text(Mark::None), true)
            .write(b"new")
            .unwrap();
        assert!(!link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), OURS);
    }
    let folder = Destination::new(dir.path(), text(Mark::None), true).write(b"");
    assert!(folder.unwrap_err().to_string().contains("is a folder"));
    Destination::new(Path::new("/dev/null"), text(Mark::None), false)
        .write(b"x")
        .unwrap();
}

/// One file that is not ours, or a link on the way, and nothing is written.
#[test]
fn files_of_a_folder_are_written_all_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| (name.to_string(), OURS.to_vec(), Mark::Start(b"# ours"));
    let files = [file("a/1"), file("b/2")];
    write_files(dir.path(), &files, false).unwrap();
    write_files(dir.path(), &files, false).unwrap();
    std::fs::remove_file(dir.path().join("a/1")).unwrap();
    std::fs::write(dir.path().join("b/2"), "notes").unwrap();
    assert!(write_files(dir.path(), &files, false).is_err());
    assert!(!dir.path().join("a/1").exists());
    write_files(dir.path(), &files, true).unwrap();
    std::fs::rename(dir.path().join("b"), dir.path().join("c")).unwrap();
    symlink("c", dir.path().join("b")).unwrap();
    let said = write_files(dir.path(), &files, true)
        .unwrap_err()
        .to_string();
    assert!(said.contains("b: is a symbolic link"), "{said}");
    assert!(check_folder_name(Path::new("-")).is_err());
}

/// A folder's place that cannot be one is named, whatever stands behind it.
#[test]
fn places_that_can_be_no_folder_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    symlink("nowhere", dir.path().join("dangling")).unwrap();
    symlink(".", dir.path().join("link")).unwrap();
    for (name, at, problem) in [
        ("file", "file", "this is a file"),
        ("file/", "file", "this is a file"),
        ("file/in/it", "file", "this is a file"),
        (
            "dangling",
            "dangling",
            "this is a symbolic link that leads to nothing",
        ),
        (
            "dangling/",
            "dangling",
            "this is a symbolic link that leads to nothing",
        ),
        (
            "link/dangling/in",
            "link/dangling",
            "this is a symbolic link that leads to nothing",
        ),
    ] {
        let said = check_folder(&dir.path().join(name));
        let said = said.unwrap_err().to_string();
        let line = format!("-o {}: {problem}", dir.path().join(at).display());
        assert!(said.starts_with(&line), "{name}: {said}");
        let file = ("a".to_string(), OURS.to_vec(), Mark::None);
        let written = write_files(&dir.path().join(name), &[file], true);
        assert_eq!(written.unwrap_err().to_string(), said);
    }
    for name in ["", "link", "link/", "new", "new/er"] {
        check_folder(&dir.path().join(name)).unwrap();
    }
}

/// One that cannot be put in its place: no file of the others stays, nor a folder that was made for them.
#[test]
fn files_that_cannot_be_written_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("page/inner");
    // The same name is a file and a folder.
    let file = |name: &str| (name.to_string(), OURS.to_vec(), Mark::None);
    let files = [file("a"), file("b/c"), file("a/d")];
    assert!(write_files(&out, &files, false).is_err());
    assert!(!dir.path().join("page").exists());
}
