//! Versions of LLVM: for which of them there are engines, and what tools and packages of each are called.
//!
//! This table is the one place where versions stand, beside the lines that cargo wants literally: features and
//! programs in `Cargo.toml`, prefixes in `.cargo/config.toml`. What differs between versions is a function of
//! `emit` each, or the feature `llvm-ir`. Scripts read the table by `tools/llvm.sh`; `tests/it/engines.rs` counts
//! the places. CONTRIBUTING.md says how a version is added.

#[cfg(all(feature = "llvm19", feature = "llvm22"))]
compile_error!(
    "one LLVM can be linked: build with --no-default-features --features estimates,llvm22 (or with llvm19)"
);

/// A version for which an engine can be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its major number.
    pub major: u32,
    /// The variable in which `llvm-sys` finds LLVM's folder.
    pub prefix: &'static str,
}

/// All of them, oldest first.
pub const VERSIONS: [Version; 2] = [
    version(19, "LLVM_SYS_191_PREFIX"),
    version(22, "LLVM_SYS_221_PREFIX"),
];

const fn version(major: u32, prefix: &'static str) -> Version {
    Version { major, prefix }
}

/// The version with which this crate is compiled: what an engine reads and writes. Programs without LLVM must not
/// ask; they have 0.
pub const LINKED: u32 = if cfg!(feature = "llvm22") {
    22
} else if cfg!(feature = "llvm19") {
    19
} else {
    0
};

/// The oldest clang that `p3-cc` looks for: pointers of older ones have types, and their bitcode is only read.
pub const OLDEST_CLANG: u32 = 15;

/// The engine's file.
pub fn engine_name(major: u32) -> String {
    format!("p3-rewrite-{major}")
}

/// The package with the engine.
pub fn engine_package(major: u32) -> String {
    format!("p3-rewrite-llvm{major}")
}

/// A tool of LLVM as Debian names it: `clang-19`, `clang++-19`, `ld.lld-19`, `mlir-opt-19`.
pub fn tool(name: &str, major: u32) -> String {
    format!("{name}-{major}")
}

/// A tool of LLVM in the folder that Debian gives this version.
pub fn tool_in_prefix(name: &str, major: u32) -> String {
    format!("/usr/lib/llvm-{major}/bin/{name}")
}

/// Debian's package of LLVM's library.
pub fn library_package(major: u32) -> String {
    format!("libllvm{major}")
}

/// Debian's package of MLIR's tools.
pub fn mlir_package(major: u32) -> String {
    format!("mlir-{major}-tools")
}

/// The lowest version with an engine, built or not, that reads what `major` wrote.
pub fn version_that_reads(major: u32) -> Option<Version> {
    VERSIONS.into_iter().find(|v| v.major >= major)
}

/// Versions of clang that `p3-cc` takes the place of and looks for, newest first. One more than there are engines
/// for: of that one it can be said that no engine reads it.
pub fn clangs() -> impl Iterator<Item = u32> {
    let newest = VERSIONS[VERSIONS.len() - 1].major;
    (OLDEST_CLANG..=newest + 1).rev()
}
