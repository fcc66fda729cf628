//! The manifest against its published schema.

use crate::support::{compile, project, rewrite};
use serde_json::Value;

#[test]
fn manifests_follow_the_schema() {
    let schema = std::fs::read_to_string(project("docs/manifest.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut seen = Vec::new();
    for (program, options) in [
        ("many_paths", &["-k", "3", "--scheme", "p3"][..]),
        ("exceptions", &["--scheme", "pbl"]),
        ("modules", &["--scheme", "sbl"]),
        ("computed_goto", &["--exclude", "main"]),
        ("callbacks", &["-k", "1024"]),
        ("loops", &["--scheme", "ranges-test"]),
    ] {
        let dir = crate::support::folder();
        let modules = compile(program, &["-O0", "-g"], &dir.path().join("input"));
        rewrite(&modules, options, &dir.path().join("out"));
        let text = std::fs::read_to_string(dir.path().join("out/manifest.json")).unwrap();
        let manifest: Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&manifest)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{program}: {errors:?}");
        seen.push(text);
    }
    // What the schema describes does occur, and what it does not is refused.
    for part in [
        "\"split\"",
        "\"ranges\"",
        "\"hot\"",
        "\"whole\"",
        "\"nothing\"",
        "\"cuts\"",
        "\"skipped\"",
        "\"indirect-br\"",
    ] {
        assert!(seen.iter().any(|m| m.contains(part)), "{part}");
    }
    let broken: Value =
        serde_json::from_str(&seen[0].replace("\"copies\":3", "\"copies\":0")).unwrap();
    assert!(!validator.is_valid(&broken));
}
