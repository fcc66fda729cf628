use super::*;

fn member(archive: &str, member: &str, nth: usize) -> Linked {
    Linked::Member {
        archive: archive.into(),
        member: member.into(),
        nth,
    }
}

#[test]
fn members_are_named_as_any_linker_does() {
    let expected = vec![
        member("./lib.a", "a.o", 0),
        member("./lib.a", "b.o", 0),
        member("./lib.a", "a.o", 1),
    ];
    let lld = "./lib.a(a.o)\n./lib.a(b.o)\n./lib.a(a.o)\n";
    let bfd = "(./lib.a)a.o\n(./lib.a)b.o\n(./lib.a)a.o\n";
    let thin = "./lib.a(sub/a.o)\n./lib.a(b.o)\n./lib.a(other/a.o)\n";
    for output in [lld, bfd, thin] {
        assert_eq!(parse(output), (expected.clone(), Vec::new()));
    }
}

#[test]
fn files_are_named_once_and_the_rest_is_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libc.so").to_string_lossy().into_owned();
    std::fs::write(&file, "").unwrap();
    let output = format!("{file}\nmemory use: 3 MB\n{file}\n/no/such/file.o\n");
    let (linked, other) = parse(&output);
    assert_eq!(linked, [Linked::File(file)]);
    assert_eq!(other, ["memory use: 3 MB", "/no/such/file.o"]);
}
