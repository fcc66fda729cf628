//! Which manifests are found, and what their programs are called.

use super::super::tests::diamonds;
use super::*;

#[test]
fn manifests_are_found_by_folder_and_named_by_it() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, id: u8| {
        let mut manifest = diamonds().manifest;
        manifest.program = format!("{id:02x}").repeat(16);
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, serde_json::to_vec(&manifest).unwrap()).unwrap();
        path
    };
    write("a/out/manifest.json", 1);
    write("b/out/manifest.json", 2);
    write("c/gzip/manifest.json", 3);
    // The same program once more, and what is no manifest by its name.
    write("d/gzip/manifest.json", 3);
    write("e/weights.json", 4);
    let found = |arguments: &[PathBuf]| {
        let programs = Programs::find(arguments).unwrap();
        programs
            .iter()
            .map(|p| (p.id[0], p.name.clone()))
            .collect::<Vec<_>>()
    };
    let named = |id: u8| format!("out-{}", format!("{id:02x}").repeat(16));
    let gzip = (3, "gzip".to_string());
    let all = [(1, named(1)), (2, named(2)), gzip.clone()];
    assert_eq!(found(&[dir.path().to_path_buf()]), all);
    assert_eq!(
        found(&[dir.path().join("c"), dir.path().join("d")]),
        std::slice::from_ref(&gzip)
    );
    let files = [
        dir.path().join("e/weights.json"),
        dir.path().join("c/gzip/manifest.json"),
    ];
    assert_eq!(found(&files), [(4, "e".to_string()), gzip]);
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    let error = Programs::find(&[dir.path().join("empty")])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("there is no manifest.json in it; name"),
        "{error}"
    );
}
