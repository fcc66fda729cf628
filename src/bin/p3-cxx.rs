//! `p3-cxx`: a compiler in place of clang++, whose programs are copies.

use p3_rewrite::cli::interrupt::{OnSignal, end_if_interrupted, watch};
use p3_rewrite::project::{Language, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    watch(OnSignal::EndNow);
    let arguments = std::env::args().skip(1).collect();
    let result = run(Language::Cxx, arguments);
    end_if_interrupted();
    match result {
        Ok(status) => ExitCode::from(status),
        Err(e) => p3_rewrite::cli::fail(&e.into()),
    }
}
