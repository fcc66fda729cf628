//! A path that ran, for programs.

use crate::base::index::BlockId;
use crate::base::names::readable_name;
use crate::read::report::Line;
use crate::read::report::words::{Said, Words};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct JsonPath<'a> {
    module: &'a str,
    name: &'a str,
    readable: String,
    id: String,
    count: u64,
    blocks: &'a [BlockId],
    decisions: Vec<Said>,
}

impl<'a> JsonPath<'a> {
    pub(super) fn new(words: Words<'a>, line: &'a Line) -> JsonPath<'a> {
        let profile = words.profile();
        let name = &profile.entry(line.func).name;
        JsonPath {
            module: profile.module(line.func),
            name,
            readable: readable_name(name).into_owned(),
            id: line.id.to_string(),
            count: line.count,
            blocks: &line.path.blocks,
            decisions: words.decisions(line),
        }
    }
}
