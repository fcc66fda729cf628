//! `cargo p3 run|test|bench`: a crate's programs, and its tests, in copies.

use p3_rewrite::cli::{cargo, fail};
use p3_rewrite::project::rust;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    // cargo names a wrapper's rustc first, and its own command, `p3`, when it calls what it does not know.
    if std::env::var_os(rust::WRAPPER).is_some() {
        let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        let e = rust::become_rustc(&arguments);
        return fail(&anyhow::anyhow!("rustc cannot be run: {e}"));
    }
    match p3_rewrite::cli::parse().map(cargo::run) {
        Ok(Ok(status)) => status,
        Ok(Err(e)) => fail(&e.into()),
        Err(status) => status,
    }
}
