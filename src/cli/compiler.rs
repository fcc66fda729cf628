//! `p3-cc` and `p3-cxx`: one program, which compiles C or C++ by the name of its file. Links to it may have any name.

use super::fail;
use super::interrupt::{OnSignal, end_if_interrupted, watch};
use crate::project::{Language, run};
use std::path::Path;
use std::process::ExitCode;

/// Compiles or links what the command line names.
pub fn main() -> ExitCode {
    watch(OnSignal::EndNow);
    let file = std::env::current_exe().unwrap_or_default();
    let result = run(find_language(&file), std::env::args().skip(1).collect());
    end_if_interrupted();
    match result {
        Ok(status) => ExitCode::from(status),
        Err(e) => fail(&e.into()),
    }
}

/// The language of the compiler in `file`.
fn find_language(file: &Path) -> Language {
    match file.file_name() {
        Some(name) if name == "p3-cxx" => Language::Cxx,
        _ => Language::C,
    }
}
