//! One command for every LLVM: which engine and which compiler is called, without asking an LLVM that is not here.

use crate::support::{PROF, REWRITE, llvm, project, run};
use p3_rewrite::base::llvm::{LINKED, VERSIONS, engine_name};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CC: &str = env!("CARGO_BIN_EXE_p3-cc");
/// The first bytes of modules of two versions, and these.
const MODULES: [(&str, u32); 2] = [("clang-19.bc", 19), ("rustc-1.95.bc", 22)];

/// Writes a program that prints `text` by a shell.
fn script(file: &Path, text: &str) {
    std::fs::write(file, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A folder with an engine of every version, which says which it is and what it was asked.
fn engines(dir: &Path) -> PathBuf {
    let folder = dir.join("engines");
    std::fs::create_dir(&folder).unwrap();
    for version in VERSIONS {
        let name = engine_name(version.major);
        script(&folder.join(&name), &format!("echo {name} \"$@\""));
    }
    folder
}

fn module(name: &str) -> PathBuf {
    project("testdata/writers").join(name)
}

/// What a command prints, on both of its outputs, and its status.
#[track_caller]
fn said(command: &mut Command) -> (String, Option<i32>) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8(text).unwrap(), output.status.code())
}

#[test]
fn front_becomes_the_engine_that_reads_the_inputs() {
    let dir = crate::support::folder();
    let folder = engines(dir.path());
    let front = |arguments: &[&str]| {
        let mut front = Command::new(REWRITE);
        front.args(arguments).env("P3_ENGINES", &folder);
        front.env_remove("P3_LLVM");
        front
    };
    for (name, version) in MODULES {
        let file = module(name).display().to_string();
        let engine = engine_name(version);
        for arguments in [
            &[&file, "-k", "2", "-o", "out dir"][..],
            &["annotate", &file, "--profile", "p", "-o", "out"],
            &["proftext", &file, "--profile", "p"],
        ] {
            let expected = format!("{engine} {}\n", arguments.join(" "));
            assert_eq!(said(&mut front(arguments)), (expected, Some(0)));
        }
    }
    let old = module(MODULES[0].0).display().to_string();
    let newest = VERSIONS[VERSIONS.len() - 1].major;
    let chosen = said(front(&[&old, "-o", "out"]).env("P3_LLVM", newest.to_string())).0;
    assert!(chosen.starts_with(&engine_name(newest)), "{chosen}");
    let (text, status) = said(front(&[&old, "-o", "out"]).env("P3_LLVM", "new"));
    let expected = "error: P3_LLVM=new: not a version of LLVM; unset it, or give one\n";
    assert_eq!((text.as_str(), status), (expected, Some(2)));
}

/// A build with other features leaves its engine where cargo puts all programs: `cargo test` must not become it.
#[test]
fn engine_of_another_build_is_not_found_beside_unoptimised_programs() {
    let dir = crate::support::folder();
    let front = dir.path().join("p3-rewrite");
    std::fs::copy(REWRITE, &front).unwrap();
    for version in VERSIONS {
        let name = engine_name(version.major);
        script(&dir.path().join(&name), &format!("echo {name} \"$@\""));
    }
    for (name, version) in MODULES {
        let file = module(name).display().to_string();
        let call = |folders: &str| {
            let mut front = Command::new(&front);
            front.args([&file, "-o", "out"]).env("P3_ENGINES", folders);
            said(front.env_remove("P3_LLVM"))
        };
        let engine = engine_name(version);
        let expected = (format!("{engine} {file} -o out\n"), Some(0));
        assert_eq!(call(&dir.path().display().to_string()), expected);
        if version <= LINKED || !cfg!(debug_assertions) {
            let lowest = if cfg!(debug_assertions) {
                LINKED
            } else {
                version
            };
            let expected = format!("{} {file} -o out\n", engine_name(lowest));
            assert_eq!(call(""), (expected, Some(0)));
        } else {
            let (text, status) = call("");
            assert_eq!((status, text.lines().count()), (Some(2), 1), "{text}");
            assert!(text.contains(&format!("(LLVM {LINKED} in ")), "{text}");
        }
    }
}

/// What is in a pipe can be read once: the engine reads all of it.
#[test]
fn pipe_is_looked_at_and_left_as_it_is() {
    let dir = crate::support::folder();
    let folder = engines(dir.path());
    let (name, version) = MODULES[1];
    let engine = engine_name(version);
    script(
        &folder.join(&engine),
        &format!("echo {engine} $(wc -c <$1)"),
    );
    let bytes = std::fs::read(module(name)).unwrap();
    let expected = format!("{engine} {}\n", bytes.len());
    let front = |input: &Path, stdin: Stdio| {
        let mut front = Command::new(REWRITE);
        front
            .arg(input)
            .args(["-o", "out"])
            .env("P3_ENGINES", &folder);
        front.stdin(stdin).stdout(Stdio::piped()).spawn().unwrap()
    };
    let mut piped = front(Path::new("/dev/stdin"), Stdio::piped());
    piped.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = piped.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);

    // A pipe with a name could not be opened again, and is the newest engine's.
    let fifo = dir.path().join("fifo");
    run(Command::new("mkfifo").arg(&fifo));
    let named = front(&fifo, Stdio::null());
    std::fs::write(&fifo, &bytes).unwrap();
    let output = named.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

/// Text does not say who wrote it: an engine that cannot read it becomes the next.
#[test]
fn text_is_given_to_the_lowest_engine_that_parses_it() {
    let dir = crate::support::folder();
    let folder = engines(dir.path());
    let ours = Path::new(REWRITE).with_file_name(engine_name(LINKED));
    std::fs::remove_file(folder.join(engine_name(LINKED))).unwrap();
    symlink(&ours, folder.join(engine_name(LINKED))).unwrap();
    std::fs::write(
        dir.path().join("new.ll"),
        "define void @f() future {\n  ret void\n}\n",
    )
    .unwrap();
    std::fs::write(
        dir.path().join("old.ll"),
        "define void @f() {\n  ret void\n}\n",
    )
    .unwrap();
    let front = |input: &str| {
        let mut front = Command::new(REWRITE);
        front.args([input, "-o", input.trim_end_matches(".ll"), "-k", "1"]);
        front.current_dir(dir.path()).env("P3_ENGINES", &folder);
        said(front.env_remove("P3_LLVM"))
    };
    assert!(front("old.ll").0.starts_with("old: 1 copy"));
    let newer = VERSIONS.into_iter().find(|v| v.major > LINKED);
    let (text, status) = front("new.ll");
    match newer {
        Some(newer) => {
            let engine = engine_name(newer.major);
            assert_eq!(text, format!("{engine} new.ll -o new -k 1\n"));
        }
        None => assert_eq!((status, text.lines().count()), (Some(2), 1), "{text}"),
    }
}

/// LLVM upgrades old bitcode, and text as far as its parser knows the old forms: `oracle_trace::typed_pointers`.
#[test]
fn old_text_that_is_not_read_is_reported_with_the_way_out() {
    let dir = crate::support::folder();
    let parsed = "define i8* @f() {\n  ret i8* select (i1 true, i8* null, i8* null)\n}\n";
    let verified = "define void @f() {\n  callbr void asm \"\", \"r,i\"(i32 0, i8* blockaddress(@f, %b)) \
                    to label %a [label %b]\na:\n  ret void\nb:\n  ret void\n}\n";
    for (text, is_old) in [
        (parsed, true),
        (verified, true),
        ("define ptr @f() {\n  ret i32 0\n}\n; i8* %a\n", false),
    ] {
        std::fs::write(dir.path().join("a.ll"), text).unwrap();
        let mut front = Command::new(REWRITE);
        front.args(["a.ll", "-o", "out"]).current_dir(dir.path());
        let (text, status) = said(front.env("P3_LLVM", LINKED.to_string()));
        assert_eq!((status, text.lines().count()), (Some(2), 1), "{text}");
        let way_out = "; LLVM 14 or older wrote it, since its pointers have types: assemble it by the llvm-as of that \
                       version";
        assert_eq!(text.contains(way_out), is_old, "{text}");
        assert!(text.starts_with("error: a.ll: LLVM"), "{text}");
    }
}

/// `execvp` has the shell read what the system cannot execute: an empty engine would succeed and do nothing.
#[test]
fn file_that_is_no_program_is_refused_as_engine() {
    let dir = crate::support::folder();
    let engine = dir.path().join(engine_name(VERSIONS[0].major));
    let ours = std::fs::read(REWRITE).unwrap();
    let mut foreign = ours[..64].to_vec();
    // The machine that the program is for.
    foreign[18] ^= 1;
    for content in [&b""[..], b"echo done\n", &ours[..10], &foreign] {
        std::fs::write(&engine, content).unwrap();
        std::fs::set_permissions(&engine, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut front = Command::new(REWRITE);
        front
            .arg(module(MODULES[0].0))
            .args(["-o", "out"])
            .current_dir(dir.path());
        front.env("P3_ENGINES", dir.path()).env_remove("P3_LLVM");
        let (text, status) = said(&mut front);
        assert_eq!((status, text.lines().count()), (Some(2), 1), "{text}");
        assert!(
            text.contains(": it is no program for this machine; install p3-rewrite-llvm"),
            "{text}"
        );
        let (text, _) = said(
            Command::new(REWRITE)
                .arg("doctor")
                .env("P3_ENGINES", dir.path()),
        );
        assert!(text.starts_with("MISSING"), "{text}");
        let first = text.lines().take(2).collect::<String>();
        assert!(first.contains("p3-rewrite-llvm"), "{text}");
    }
}

#[test]
fn front_without_engines_helps_and_says_what_to_install() {
    let dir = crate::support::folder();
    let front = |arguments: &[&str]| {
        let mut front = Command::new(REWRITE);
        said(front.args(arguments).env("P3_ENGINES", dir.path()))
    };
    assert_eq!(front(&["--help"]).1, Some(0));
    assert!(front(&["--version"]).0.ends_with("(no engine)\n"));
    let (text, status) = front(&[&module(MODULES[0].0).display().to_string(), "-o", "out"]);
    assert_eq!((status, text.lines().count()), (Some(2), 1), "{text}");
    assert!(
        text.contains(": written by LLVM ")
            && text.contains(", and no engine is installed (looked for "),
        "{text}"
    );
    for program in [REWRITE, PROF] {
        let mut doctor = Command::new(program);
        let (text, status) = said(doctor.arg("doctor").env("P3_ENGINES", dir.path()));
        assert_eq!(status, Some(1), "{text}");
        assert!(text.starts_with("MISSING"), "{text}");
        // Of what is missing, it names that alone: clang is there.
        assert!(!text.contains("in PATH"), "{text}");
        let missing = text.lines().filter(|l| l.starts_with("MISSING")).count();
        assert_eq!(missing, 1, "{text}");
    }
}

/// What LLVM's library is needed for is in the engines alone.
#[test]
fn only_engines_are_linked_with_llvm() {
    let needs = |program: &Path| {
        let mut headers = Command::new(llvm("llvm-readobj"));
        let said = run(headers.arg("--needed-libs").arg(program)).stdout;
        String::from_utf8(said).unwrap().contains("libLLVM")
    };
    for program in [REWRITE, PROF, CC, env!("CARGO_BIN_EXE_cargo-p3")] {
        assert!(!needs(Path::new(program)), "{program}");
    }
}

/// By variables, by the name under which it was called, and by what is in `PATH`.
#[test]
fn p3_cc_follows_its_compiler() {
    let dir = crate::support::folder();
    let folder = engines(dir.path());
    let path = dir.path().join("bin");
    std::fs::create_dir(&path).unwrap();
    let [oldest, .., newest] = VERSIONS.map(|v| v.major);
    let names = ["clang", "gcc", "other"].map(String::from).into_iter();
    let versions = [15, oldest, newest - 1, newest, newest + 1];
    let clangs = versions
        .iter()
        .flat_map(|v| [format!("clang-{v}"), format!("clang++-{v}")]);
    for name in names.chain(clangs) {
        script(&path.join(&name), &format!("echo {name} \"$@\""));
    }
    let shim = dir.path().join("shims");
    std::fs::create_dir(&shim).unwrap();
    let called = |name: &str, environment: &[(&str, String)]| {
        let program = match name {
            "p3-cc" => PathBuf::from(CC),
            "p3-cxx" => PathBuf::from(env!("CARGO_BIN_EXE_p3-cxx")),
            name => {
                let link = shim.join(name);
                let _ = symlink(CC, &link);
                link
            }
        };
        let mut command = Command::new(program);
        command.arg("--version").env("P3_ENGINES", &folder);
        for name in ["CC", "CXX", "P3_CC", "P3_CXX", "P3_LLVM"] {
            command.env_remove(name);
        }
        let all = [shim.clone(), path.clone(), "/usr/bin".into(), "/bin".into()];
        command.env("PATH", std::env::join_paths(all).unwrap());
        command.envs(environment.iter().map(|(n, v)| (n, v)));
        let (text, _) = said(&mut command);
        text.trim_end().trim_end_matches(" --version").to_string()
    };
    let clang = |v: u32| format!("clang-{v}");
    // The newest for which there is an engine, not the newest.
    assert_eq!(called("p3-cc", &[]), clang(newest));
    assert_eq!(called("p3-cxx", &[]), format!("clang++-{newest}"));
    assert_eq!(
        called("p3-cc", &[("P3_LLVM", oldest.to_string())]),
        clang(oldest)
    );
    assert_eq!(called("p3-cc", &[("CC", clang(15))]), clang(15));
    assert_eq!(called("p3-cxx", &[("CC", clang(15))]), "clang++-15");
    assert_eq!(called("p3-cc", &[("CC", "gcc".into())]), clang(newest));
    let both = [("CC", clang(15)), ("P3_CC", "other".into())];
    assert_eq!(called("p3-cc", &both), "other");
    // As the shims of builds are called.
    assert_eq!(called("cc", &[]), clang(newest));
    assert_eq!(called(&clang(oldest), &[]), clang(oldest));
    assert_eq!(called(&clang(oldest), &[("CC", clang(15))]), clang(oldest));
    assert_eq!(called(&clang(newest + 1), &[]), clang(newest + 1));
    // None of that name is here.
    assert_eq!(called("clang-17", &[]), clang(newest));
}

/// By the usual names, and by those with a target or a version that are in `PATH`.
#[test]
fn compilers_of_every_name_are_ours_in_build_and_suite() {
    let dir = crate::build::folder(&[("main.c", "int main(int n, char **v) { return n > 9; }")]);
    let dir = dir.path();
    std::fs::create_dir(dir.join("bin")).unwrap();
    let target = |name: &str| format!("{}-linux-gnu-{name}", std::env::consts::ARCH);
    let c = ["cc", "gcc", "c99", "clang"].map(String::from).to_vec();
    let cxx = ["c++", "g++", "clang++"].map(String::from).to_vec();
    let versions = 15..=VERSIONS[VERSIONS.len() - 1].major;
    let c = [&c[..], &[target("gcc"), target("cc")]].concat();
    let cxx = [&cxx[..], &[target("g++")]].concat();
    let c: Vec<String> = c
        .into_iter()
        .chain(versions.clone().map(|v| format!("clang-{v}")))
        .collect();
    let cxx: Vec<String> = cxx
        .into_iter()
        .chain(versions.map(|v| format!("clang++-{v}")))
        .collect();
    // Whatever is installed: each of these compiles by the clang of these tests.
    for (names, clang) in [(&c, "clang"), (&cxx, "clang++")] {
        for name in names {
            let text = format!("exec {} \"$@\"", llvm(clang).display());
            script(&dir.join("bin").join(name), &text);
        }
    }
    let path = format!("{}:/usr/bin:/bin", dir.join("bin").display());
    let list = format!(
        "for name in {} {}; do echo $name $(readlink -f $(command -v $name)); done",
        c.join(" "),
        cxx.join(" ")
    );
    let find = |program: &str| {
        Path::new(CC)
            .with_file_name(program)
            .canonicalize()
            .unwrap()
    };
    let line = |name: &String, program: &str| format!("{name} {}\n", find(program).display());
    let expected = c
        .iter()
        .map(|n| line(n, "p3-cc"))
        .chain(cxx.iter().map(|n| line(n, "p3-cxx")));
    let expected: String = expected.collect();

    let compile = format!(
        "{} -O1 main.c -o a && clang++-15 -O1 -x c++ main.c -o b",
        target("gcc")
    );
    let run_shell = |words: &[&str], text: &str| {
        let mut rewrite = crate::build::command(REWRITE, dir);
        rewrite
            .args(words)
            .args(["-o", "out", "--", "sh", "-c", text]);
        run(rewrite
            .env("PATH", &path)
            .env_remove("CC")
            .env_remove("CXX"));
        std::fs::read_to_string(dir.join("listed")).unwrap()
    };
    let listed = run_shell(
        &["build", "-k", "2"],
        &format!("{{ {list}; }} >listed && {compile}"),
    );
    assert_eq!(listed, expected);
    let listed = run_shell(&["suite"], &format!("{{ {list}; }} >listed && ./a && ./b"));
    assert_eq!(listed, expected);
    for program in ["a", "b"] {
        let profile = dir.join(format!("out/{program}.p3/profile.p3prof"));
        run(Command::new(PROF).args(["verify", "--strict"]).arg(profile));
    }
}

/// Versions of LLVM and names with them stand in the table, and in the files of cargo that are read before it.
#[test]
fn versions_stand_in_one_table() {
    const FREE: [&str; 4] = [
        "src/base/llvm.rs",
        "Cargo.toml",
        ".cargo/config.toml",
        "src/bin/engine",
    ];
    let version = r"(1[5-9]|2[0-9])";
    let tools = "clang|clang\\+\\+|llvm|libllvm|libpolly|lld|ld\\.lld|opt|mlir-opt|mlir-translate|llvm-[a-z]+";
    let names = format!(
        r"\b({tools})-{version}\b|LLVM_SYS_[0-9]|\bllvm{version}\b|\bp3-rewrite-(llvm)?{version}\b"
    );
    let names = regex::Regex::new(&names).unwrap();
    let mut found = Vec::new();
    for below in [
        "src",
        "bench/src",
        "tools",
        "runtime-c",
        "Makefile",
        "Dockerfile",
        ".ci",
    ] {
        for file in walkdir::WalkDir::new(project(below)).sort_by_file_name() {
            let file = file.unwrap().into_path();
            let name = file
                .strip_prefix(project(""))
                .unwrap()
                .display()
                .to_string();
            let is_free = FREE.iter().any(|f| name.starts_with(f)) || name.ends_with("tests.rs");
            let Ok(text) = std::fs::read_to_string(&file) else {
                continue;
            };
            // Tests say what is expected.
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let lines = text
                .lines()
                .enumerate()
                .filter(|(_, l)| names.is_match(l) && !is_free);
            found.extend(lines.map(|(n, l)| format!("{name}:{}: {}", n + 1, l.trim())));
        }
    }
    // What differs between versions of LLVM's C interface.
    let (differs, elsewhere): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|l| l.starts_with("src/write/emit/"));
    assert_eq!(
        elsewhere,
        Vec::<String>::new(),
        "name it in src/base/llvm.rs"
    );
    assert_eq!(differs.len(), 13, "{differs:#?}");
}
