//! Which engine is chosen for which inputs.

use super::*;

/// The first bytes of modules of LLVM 19 and 22.
const OF_19: &[u8] = include_bytes!("../../../testdata/writers/clang-19.bc");
const OF_22: &[u8] = include_bytes!("../../../testdata/writers/rustc-1.95.bc");

fn engines(versions: &[u32]) -> Vec<Engine> {
    let engine = |&llvm: &u32| Engine {
        llvm,
        path: format!("/e/p3-rewrite-{llvm}").into(),
    };
    versions.iter().map(engine).collect()
}

/// A folder with a module of each of two versions, text, and what is none.
fn modules() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("old.bc", OF_19);
    write("new.bc", OF_22);
    write("text.ll", b"; text");
    std::fs::create_dir(dir.path().join("all")).unwrap();
    write("all/new.o", OF_22);
    write("all/text.ll", b"; text");
    write("all/README", b"no module");
    dir
}

/// The version that is chosen and those after it, or what is said.
fn chosen(there: &[u32], names: &[&str], llvm: Option<u32>) -> Result<Vec<u32>, String> {
    let dir = modules();
    let inputs: Vec<PathBuf> = names.iter().map(|n| dir.path().join(n)).collect();
    let request = Request {
        inputs: &inputs,
        out: None,
        llvm,
    };
    let choice = choose(&engines(there), &request);
    let choice = choice.map_err(|e| {
        let folder = format!("{}/", dir.path().display());
        e.to_string().replace(&folder, "")
    })?;
    let all = [choice.engine].into_iter().chain(choice.later);
    Ok(all.map(|e| e.llvm).collect())
}

#[test]
fn lowest_engine_that_reads_all_inputs_is_chosen() {
    for (names, expected) in [
        (&["old.bc"][..], vec![19]),
        (&["new.bc"], vec![22]),
        (&["old.bc", "new.bc"], vec![22]),
        (&["text.ll"], vec![19, 22]),
        (&["text.ll", "new.bc"], vec![22]),
        (&["all"], vec![22]),
        (&["old.bc", "missing.bc"], vec![19]),
    ] {
        assert_eq!(
            chosen(&[19, 22], names, None).unwrap(),
            expected,
            "{names:?}"
        );
    }
    // A newer engine reads what older versions wrote.
    assert_eq!(chosen(&[22], &["old.bc"], None).unwrap(), [22]);
    assert_eq!(chosen(&[19, 22], &["old.bc"], Some(22)).unwrap(), [22]);
}

#[test]
fn output_folder_is_not_looked_into() {
    let dir = modules();
    let inputs = [dir.path().to_path_buf()];
    let out = dir.path().join("all");
    std::fs::remove_file(dir.path().join("new.bc")).unwrap();
    let request = Request {
        inputs: &inputs,
        out: Some(&out),
        llvm: None,
    };
    let choice = choose(&engines(&[19, 22]), &request).unwrap();
    assert_eq!(choice.engine.llvm, 19);
}

#[test]
fn missing_engine_is_reported_with_its_package() {
    let said = chosen(&[19], &["old.bc", "new.bc"], None).unwrap_err();
    assert_eq!(
        said,
        "new.bc: written by LLVM 22, which no engine here reads (LLVM 19 in /e); install \
         p3-rewrite-llvm22 (from the sources: make build LLVM=22), or compile it by clang-19"
    );
    let said = chosen(&[19], &["old.bc"], Some(22)).unwrap_err();
    assert_eq!(
        said,
        "LLVM 22: no such engine here, but LLVM 19 in /e; install p3-rewrite-llvm22 (from the \
         sources: make build LLVM=22)"
    );
    let said = chosen(&[19, 22], &["old.bc"], Some(30)).unwrap_err();
    assert_eq!(
        said,
        "LLVM 30: no such engine here, but LLVM 19, 22 in /e; name one of these"
    );
}

#[test]
fn message_names_the_engine_that_the_input_needs() {
    for (names, llvm, begins, major) in [
        (
            &["old.bc"][..],
            None,
            "old.bc: written by LLVM 19, and no engine is installed (looked for p3-rewrite-19 in ",
            19,
        ),
        (
            &["old.bc", "new.bc"],
            None,
            "new.bc: written by LLVM 22, and no engine is installed (looked for p3-rewrite-22 in ",
            22,
        ),
        (
            &["new.bc"],
            Some(19),
            "no engine is installed (looked for p3-rewrite-19 in ",
            19,
        ),
        (
            &["text.ll"],
            None,
            "no engine is installed (looked for p3-rewrite-22 in ",
            22,
        ),
    ] {
        let said = chosen(&[], names, llvm).unwrap_err();
        assert!(said.starts_with(begins), "{said}");
        let remedy =
            format!("; install p3-rewrite-llvm{major} (from the sources: make build LLVM={major})");
        assert!(said.ends_with(&remedy), "{said}");
    }
}

#[test]
fn writer_newer_than_every_engine_is_reported_with_the_way_out() {
    let said = too_new(Path::new("a.bc"), 99, &engines(&[19, 22])).to_string();
    assert_eq!(
        said,
        "a.bc: written by LLVM 99, which no engine here reads (LLVM 19, 22 in /e); compile it by \
         clang-22 or older (p3-cc: P3_CC=clang-22)"
    );
}
