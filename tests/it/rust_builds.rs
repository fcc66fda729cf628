//! `cargo p3` as BUILD.md describes it: the commands of the page, settings of the user's,
//! examples and benchmarks. rustc's LLVM needs an engine, so `make test-engines` runs these.

use crate::build::{CARGO_P3, command, stderr};
use crate::support::{clang, copy_project, json, project, run};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use walkdir::WalkDir;

/// `cargo p3` with these words in a folder.
fn cargo_p3(dir: &Path, words: &[&str]) -> Command {
    let mut cargo = command(CARGO_P3, dir);
    cargo.arg("p3").args(words).env_remove("CARGO_TARGET_DIR");
    cargo.env("RUST_TEST_THREADS", "1");
    cargo
}

/// The folders of programs that ran in copies.
fn find_programs(dir: &Path) -> Vec<PathBuf> {
    let all = WalkDir::new(dir.join("target/p3/copies")).sort_by_file_name();
    let all = all.into_iter().map(|e| e.unwrap().into_path());
    all.filter(|p| p.join("profile.p3prof").is_file()).collect()
}

/// The names of programs that ran in copies, without cargo's hashes.
fn find_names(dir: &Path) -> Vec<String> {
    let name = |folder: &PathBuf| {
        let name = folder.file_stem().unwrap().to_string_lossy().into_owned();
        name.split('-').next().unwrap().to_string()
    };
    let mut names: Vec<String> = find_programs(dir).iter().map(name).collect();
    names.dedup();
    names
}

/// Commands behind `$` in the block of the section on Rust; that of nextest where it is installed.
#[test]
#[ignore = "needs an engine for rustc's LLVM: make test-engines"]
fn commands_of_page_profile_an_example_project() {
    let page = std::fs::read_to_string(project("docs/BUILD.md")).unwrap();
    let (_, section) = page.split_once("\n## Rust\n").unwrap();
    let block = section.split("```").nth(1).unwrap();
    let commands: Vec<&str> = block.lines().filter_map(|l| l.strip_prefix("$ ")).collect();
    assert!(commands.len() >= 4, "{commands:?}");
    let dir = copy_project("testdata/rust/project");
    let beside = Path::new(CARGO_P3).parent().unwrap();
    let path = format!("{}:{}", beside.display(), std::env::var("PATH").unwrap());
    let nextest = Command::new("cargo")
        .args(["nextest", "--version"])
        .output();
    let has_nextest = nextest.is_ok_and(|o| o.status.success());
    for line in commands {
        if line.contains("nextest") && !has_nextest {
            continue;
        }
        let mut shell = command("sh", dir.path());
        shell.args(["-c", line]).env("PATH", &path);
        let done = run(shell.env_remove("CARGO_TARGET_DIR"));
        if line.starts_with("cargo") {
            let said = stderr(&done);
            assert!(said.contains("profile.p3prof: ok"), "{line}: {said}");
        }
    }
    assert_eq!(find_names(dir.path()), ["count", "runs"]);
}

/// What the user sets in cargo's configuration and in `RUSTFLAGS` reaches rustc, and `p3-cc` links by
/// the clang that is configured as linker.
#[test]
#[ignore = "needs an engine for rustc's LLVM: make test-engines"]
fn settings_of_user_stay_in_force() {
    let dir = copy_project("testdata/rust/project");
    let dir = dir.path();
    let script = |name: &str, text: &str| {
        let file = dir.join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    script("clang", &format!("exec {} \"$@\"", clang()));
    script("wrapper.sh", "echo called >>wrapper.log; exec \"$@\"");
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    std::fs::create_dir(dir.join(".cargo")).unwrap();
    let text = format!(
        "[build]\ntarget = \"{target}\"\nrustc-wrapper = \"{dir}/wrapper.sh\"\n\
         [target.{target}]\nlinker = \"{dir}/clang\"\nrustflags = [\"--cfg\", \"from_file\"]\n",
        dir = dir.display()
    );
    std::fs::write(dir.join(".cargo/config.toml"), text).unwrap();
    let main = "fn main() { println!(\"{} {}\", cfg!(from_file), cfg!(from_variable)); }\n";
    std::fs::write(dir.join("src/main.rs"), main).unwrap();
    for (flags, expected) in [
        (None, "true false\n"),
        (Some("--cfg from_variable"), "false true\n"),
    ] {
        let mut cargo = cargo_p3(dir, &["-k", "1", "run", "-q"]);
        cargo.env_remove("RUSTFLAGS").env_remove("RUSTC_WRAPPER");
        cargo.envs(flags.map(|f| ("RUSTFLAGS", f)));
        let printed = run(&mut cargo).stdout;
        assert_eq!(String::from_utf8(printed).unwrap(), expected);
        let [program] = &find_programs(dir)[..] else {
            panic!("one program")
        };
        let linker = json(&program.join("record.json"))["command"][0].clone();
        assert_eq!(linker, dir.join("clang").to_str().unwrap());
        assert!(
            dir.join(format!("target/p3/{target}/debug/count"))
                .is_file()
        );
        std::fs::remove_file(dir.join("wrapper.log")).unwrap();
    }
}

#[test]
#[ignore = "needs an engine for rustc's LLVM: make test-engines"]
fn examples_and_benchmarks_are_profiled() {
    let dir = copy_project("testdata/rust/project");
    let dir = dir.path();
    for folder in ["examples", "benches"] {
        std::fs::create_dir(dir.join(folder)).unwrap();
    }
    let main = |words: &str| {
        format!(
            "fn main() {{ println!(\"{{}}\", words::lengths({words:?}.split(' '), 2).short); }}\n"
        )
    };
    std::fs::write(dir.join("examples/example.rs"), main("a bc def")).unwrap();
    std::fs::write(dir.join("benches/bench.rs"), main("a b c d")).unwrap();
    let manifest = dir.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let bench = "[[bench]]\nname = \"bench\"\nharness = false\n\n[dependencies]";
    std::fs::write(&manifest, text.replace("[dependencies]", bench)).unwrap();
    let run_copies = |words: &[&str]| {
        let printed = run(&mut cargo_p3(dir, words)).stdout;
        (String::from_utf8(printed).unwrap(), find_names(dir))
    };
    let example = run_copies(&["-k", "2", "run", "-q", "--example", "example"]);
    assert_eq!(example, ("2\n2\n".into(), vec!["example".into()]));
    let bench = run_copies(&["-k", "2", "bench", "-q", "--bench", "bench"]);
    assert_eq!(bench, ("4\n4\n".into(), vec!["bench".into()]));
}
