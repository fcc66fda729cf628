//! Writes a constant: build scripts are compiled and run as they are.

fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    std::fs::write(format!("{out}/limit.rs"), "pub const LIMIT: usize = 3;\n").unwrap();
    println!("cargo:rerun-if-changed=build.rs");
}
