//! `docs/manifest.schema.json` is what the types say. `UPDATE_SCHEMA=1 cargo test --lib manifest::` writes it.

use super::Manifest;
use serde_json::Value;
use std::path::Path;

/// Links of our documentation, ``[`crate::input::ir::Body`]``, as a reader of the schema takes them: `Body`.
fn without_links(text: &str) -> String {
    let link = regex::Regex::new(r"\[`(?:[A-Za-z_]+::)*([A-Za-z_]+)`\]").expect("a pattern");
    link.replace_all(text, "`$1`").replace('\n', " ")
}

fn plain_descriptions(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if name == "description" => *text = without_links(text),
                    _ => plain_descriptions(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(plain_descriptions),
        _ => {}
    }
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let mut schema = schemars::schema_for!(Manifest).to_value();
    plain_descriptions(&mut schema);
    let text = serde_json::to_string_pretty(&schema).expect("a schema serialises") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/manifest.schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &text).expect("the project can be written");
    }
    let published = std::fs::read_to_string(&path).expect("the schema is there");
    assert!(
        published == text,
        "run UPDATE_SCHEMA=1 cargo test --lib manifest::"
    );
}
