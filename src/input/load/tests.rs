use super::*;

#[test]
fn files_that_are_no_ir_say_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let said = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = find_inputs(&[path], Path::new(""), None).unwrap_err();
        let text = error.to_string();
        text.rsplit('/').next().unwrap().to_string()
    };
    assert_eq!(
        said("a", b""),
        format!("a: an empty file, not LLVM IR; {REMEDY}")
    );
    assert_eq!(
        said("b.o", b"\x7fELF"),
        format!("b.o: machine code (ELF), not LLVM IR; {SOURCES}")
    );
    assert_eq!(
        said("c.txt", b"text"),
        format!("c.txt: not LLVM IR; {REMEDY}")
    );
    let without = "an archive without members that contain bitcode";
    assert_eq!(
        said("d.a", b"!<arch>\n"),
        format!("d.a: {without}; {REMEDY}")
    );
    assert_eq!(
        said("e.a", b"!<arch>\nshort"),
        "e.a: a damaged archive: Invalid archive member header; make it again"
    );
}
