//! Threads as other languages and libraries start them.

use super::{Built, Session, size};
use crate::build::CARGO_P3;
use crate::support::run;
use std::path::Path;

const SBL: [&str; 4] = ["-k", "1", "--scheme", "sbl"];

#[test]
fn threads_of_c11_lose_nothing() {
    let built = Built::new(&SBL, "$CC -O1 -g c11.c -o c11");
    Session::run_and_check(&built, "c11", &size(50_000, 1_000_000).to_string());
}

/// `std::thread`, `std::async` with exceptions, and destructors of `thread_local` objects.
#[test]
fn threads_of_cxx_lose_nothing() {
    let built = Built::new(&SBL, "$CXX -std=c++17 -O1 -g cxx.cpp -o cxx");
    Session::run_and_check(&built, "cxx", &size(50_000, 1_000_000).to_string());
}

/// Regions, loops and tasks. (Packages of OpenMP's library exclude each other: setup installs that of the main
/// version.)
#[test]
#[cfg(feature = "llvm19")]
fn threads_of_openmp_lose_nothing() {
    if super::target().is_some() {
        return; // its library is for this machine
    }
    let built = Built::new(&SBL, "$CC -O1 -g -fopenmp openmp.c -o openmp");
    Session::run_and_check(&built, "openmp", &size(400, 5000).to_string());
}

/// Spawned, scoped, and fed by a channel.
#[test]
#[ignore = "needs an engine for rustc's LLVM: make test-engines"]
fn threads_of_rust_lose_nothing() {
    let built = Built::once(&[], "cargo", |_, _| ());
    let package = built.dir.join("rust");
    std::fs::create_dir_all(package.join("src")).unwrap();
    let manifest =
        "[package]\nname = \"threads\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    std::fs::write(package.join("Cargo.toml"), manifest).unwrap();
    std::fs::copy(built.dir.join("threads.rs"), package.join("src/main.rs")).unwrap();
    let session = Session::new(&built, "threads");
    let mut cargo = session.command_of(Path::new(CARGO_P3), &[], "p3 --scheme sbl -k 1");
    cargo.args([
        "--update",
        &super::update(),
        "run",
        "--release",
        "-q",
        "--",
        "20000",
    ]);
    cargo
        .env_remove("P3_PROFILE_FILE")
        .env_remove("CARGO_TARGET_DIR");
    run(cargo.current_dir(&package));
    let mut profiles = walkdir::WalkDir::new(package.join("target/p3/copies")).into_iter();
    let profile = profiles.find_map(|e| {
        let file = e.unwrap().into_path();
        file.ends_with("profile.p3prof").then_some(file)
    });
    let profile = super::Profile::read(&profile.unwrap());
    super::assert_exact(&profile, &session.truth().counts(), "Rust");
}
