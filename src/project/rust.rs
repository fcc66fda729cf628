//! Rust programs: what `cargo p3` runs in the place of rustc, and the bitcode that rustc leaves for a link.
//!
//! cargo calls a wrapper with rustc's command line. For what is made for the target, not for build scripts and
//! procedural macros, the wrapper asks rustc for bitcode beside its objects, in one unit a crate: `CRATE-HASH.bc` is
//! the code of the object `CRATE-HASH.MODULE-cgu.0.rcgu.o`, optimised, wherever that object is: by itself, for a link,
//! or in `libCRATE-HASH.rlib`. rustc calls `p3-cc` as its linker, which finds the bitcode by these names.

use super::cc::clang::is_clang;
use super::link::trace::Linked;
use super::tools::{major, our_program};
use crate::base::error::{Error, Result};
use crate::input::load::container::Embedded;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that says for which target Rust is compiled.
pub const TARGET: &str = "P3_RUST";
/// The variable with the wrapper of rustc that stood where ours does.
pub const WRAPPER: &str = "P3_RUSTC_WRAPPER";

/// What is known of the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rustc {
    /// The target of the machine.
    pub host: String,
    /// The major version of its LLVM.
    pub llvm: u32,
}

impl Rustc {
    /// Asks rustc for its target and its LLVM; `errors` is where its own messages go.
    ///
    /// # Errors
    /// There is no rustc, or it does not say.
    pub fn query(errors: Stdio) -> Result<Rustc> {
        let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
        let said = output(Command::new(&rustc).arg("-vV").stderr(errors), &rustc)?;
        let field = |name: &str| {
            let line = said.lines().find_map(|l| l.strip_prefix(name));
            line.map(|l| l.trim().to_string())
        };
        let llvm = field("LLVM version:").and_then(|v| major(&v));
        match (field("host:"), llvm) {
            (Some(host), Some(llvm)) => Ok(Rustc { host, llvm }),
            _ => Err(Error::Usage(
                "rustc -vV names no host or no LLVM; choose another toolchain".into(),
            )),
        }
    }
}

/// The standard output of a tool of Rust's.
///
/// # Errors
/// It cannot be run, or fails.
pub fn output(command: &mut Command, name: &OsStr) -> Result<String> {
    let name = Path::new(name).display();
    let run = command.stdout(Stdio::piped()).spawn();
    let run = run.and_then(std::process::Child::wait_with_output);
    let run = run.map_err(|e| Error::Usage(format!("{name}: {e}; install Rust's toolchain")))?;
    if run.status.success() {
        Ok(String::from_utf8_lossy(&run.stdout).into_owned())
    } else {
        Err(Error::Usage(format!("{name} failed ({})", run.status)))
    }
}

/// The program of ours that links.
const LINKER: &str = "p3-cc";

/// What rustc calls the one object of a crate that was compiled as one unit. Its allocator's object is named otherwise.
const OBJECT: &str = "-cgu.0.rcgu.o";
/// Where the toolchain's own libraries are.
const LIBRARIES: &str = "/rustlib/";

/// Why an object of the standard library stays as it is.
pub(super) const STD: &str = "the toolchain's standard library, machine code";

/// Whether something that was linked is of the toolchain.
pub(super) fn is_std(from: &Linked) -> bool {
    let (Linked::File(file) | Linked::Member { archive: file, .. }) = from;
    file.contains(LIBRARIES)
}

/// The bitcode of an object of rustc's, and the options of clang that make code of it for `target`; `None` if there is
/// no such file.
///
/// # Errors
/// The file is there, and cannot be read.
pub(super) fn extract_embedded(from: &Linked, target: &str) -> std::io::Result<Option<Embedded>> {
    let Some(file) = bitcode(from).filter(|f| f.is_file()) else {
        return Ok(None);
    };
    // It is optimised: code generation is what is left.
    let flags = [
        "-cc1",
        "-triple",
        target,
        "-O2",
        "-disable-llvm-passes",
        "-mrelocation-model",
        "pic",
        "-pic-level",
        "2",
        "-ffunction-sections",
        "-fdata-sections",
    ];
    Ok(Some(Embedded {
        bitcode: std::fs::read(file)?,
        flags: flags.map(String::from).to_vec(),
    }))
}

/// A module's name in the manifest: the crate's, with its hash.
pub(super) fn name(from: &Linked) -> Option<String> {
    let file = bitcode(from)?;
    Some(file.file_stem()?.to_string_lossy().into_owned())
}

/// Where the bitcode of an object is, if the object is rustc's.
fn bitcode(from: &Linked) -> Option<PathBuf> {
    let (file, object) = match from {
        Linked::File(file) => (file, Path::new(file).file_name()?.to_str()?),
        Linked::Member {
            archive, member, ..
        } => (archive, member.as_str()),
    };
    let stem = object.strip_suffix(OBJECT)?.split('.').next()?;
    Some(Path::new(file).with_file_name(format!("{stem}.bc")))
}

/// Becomes rustc, which `arguments` name first. Returns only on failure.
pub fn become_rustc(arguments: &[OsString]) -> std::io::Error {
    let Some((rustc, arguments)) = arguments.split_first() else {
        return std::io::ErrorKind::InvalidInput.into();
    };
    let other = std::env::var_os(WRAPPER).filter(|w| !w.is_empty());
    let mut command = Command::new(other.as_ref().unwrap_or(rustc));
    if other.is_some() {
        command.arg(rustc);
    }
    let arguments = with_bitcode(arguments);
    if let Some(linker) = linker_to_follow(&arguments) {
        command.env("P3_CC", linker);
    }
    command.args(arguments).exec()
}

/// The clang that cargo's configuration or the user's flags name as linker, which `p3-cc` then takes the place of;
/// `None` where the environment names one, or it is no clang.
fn linker_to_follow(arguments: &[OsString]) -> Option<OsString> {
    if std::env::var_os("P3_CC").is_some_and(|c| !c.is_empty()) {
        return None;
    }
    let named = options(arguments).into_iter().rev();
    let mut named = named.filter_map(|o| o.strip_prefix("linker=").map(str::to_string));
    // The last is ours, where it is asked for.
    let linker = named.find(|l| Path::new(l).file_name() != Some(OsStr::new(LINKER)))?;
    is_clang(Path::new(&linker)).then(|| linker.into())
}

/// The values of `-C`, as they are given in one word or two.
fn options(arguments: &[OsString]) -> Vec<String> {
    let mut options = Vec::new();
    let mut words = arguments.iter().map(|a| a.to_string_lossy());
    while let Some(word) = words.next() {
        match word.strip_prefix("-C") {
            Some("") => options.extend(words.next().map(|w| w.into_owned())),
            Some(value) => options.push(value.to_string()),
            None => {}
        }
    }
    options
}

/// rustc's arguments, and those by which it leaves bitcode with lines in it and links by `p3-cc`; as they are where
/// nothing is made for the target.
fn with_bitcode(arguments: &[OsString]) -> Vec<OsString> {
    let mut arguments = arguments.to_vec();
    let text: Vec<String> = arguments
        .iter()
        .map(|a| a.to_string_lossy().into_owned())
        .collect();
    let for_target = text.iter().any(|a| a.starts_with("--target"));
    let makes_code = text.iter().any(|a| {
        a.strip_prefix("--emit=")
            .is_some_and(|e| e.split(',').any(|e| e == "link"))
    });
    if !(for_target && makes_code) {
        return arguments;
    }
    arguments.extend(["--emit=llvm-bc", "-Ccodegen-units=1"].map(OsString::from));
    // Behind the linker of cargo's configuration and that of the user's flags.
    if let Ok(linker) = our_program(LINKER) {
        arguments.push([OsStr::new("-Clinker="), linker.as_os_str()].join(OsStr::new("")));
    }
    if !text
        .iter()
        .any(|a| a.trim_start_matches("-C").starts_with("debuginfo="))
    {
        // cargo strips what it did not ask for.
        arguments.extend(["-Cdebuginfo=line-tables-only", "-Cstrip=none"].map(OsString::from));
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(archive: &str, member: &str) -> Linked {
        Linked::Member {
            archive: archive.into(),
            member: member.into(),
            nth: 0,
        }
    }

    #[test]
    fn bitcode_is_beside_the_object_or_its_archive() {
        let object = Linked::File("t/deps/rg-1e29.rg.3c13-cgu.0.rcgu.o".into());
        assert_eq!(bitcode(&object), Some("t/deps/rg-1e29.bc".into()));
        assert_eq!(name(&object), Some("rg-1e29".into()));
        let member = member("t/libbstr-e1.rlib", "bstr-e1.bstr.5bd1-cgu.0.rcgu.o");
        assert_eq!(bitcode(&member), Some("t/bstr-e1.bc".into()));
        for other in ["t/rg-1e29.4a7b.rcgu.o", "/tmp/rustcX/symbols.o", "main.o"] {
            assert_eq!(bitcode(&Linked::File(other.into())), None, "{other}");
        }
    }

    #[test]
    fn clang_that_is_named_as_linker_is_followed() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let followed = |line: &str| linker_to_follow(&words(line));
        for (line, expected) in [
            ("a.rs -C linker=clang-22", Some("clang-22")),
            (
                "a.rs -C linker=gcc -Clinker=/opt/bin/clang",
                Some("/opt/bin/clang"),
            ),
            (
                "a.rs -Clinker=clang-19 -Clinker=/usr/bin/p3-cc",
                Some("clang-19"),
            ),
            ("a.rs -C linker=clang -C linker=gcc", None),
            ("a.rs -C opt-level=3", None),
        ] {
            assert_eq!(followed(line), expected.map(OsString::from), "{line}");
        }
    }

    #[test]
    fn only_what_is_made_for_the_target_leaves_bitcode() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let asked = |line: &str| {
            let before = words(line);
            let after = with_bitcode(&before);
            assert_eq!(after[..before.len()], before);
            let added = after[before.len()..].iter();
            let added = added.map(|a| a.to_str().unwrap());
            // Programs of ours are not beside this one.
            let added = added.filter(|a| !a.starts_with("-Clinker="));
            added.collect::<Vec<_>>().join(" ")
        };
        let crate_ =
            "--crate-name a a.rs --emit=dep-info,metadata,link --target x86_64-unknown-linux-gnu";
        let release = format!("{crate_} -C opt-level=3 -C strip=debuginfo");
        let lines = "--emit=llvm-bc -Ccodegen-units=1 -Cdebuginfo=line-tables-only -Cstrip=none";
        assert_eq!(asked(&release), lines);
        for debug in ["-C debuginfo=2", "-Cdebuginfo=1"] {
            let asked = asked(&format!("{crate_} {debug}"));
            assert_eq!(asked, "--emit=llvm-bc -Ccodegen-units=1");
        }
        for other in [
            "-vV",
            "--crate-name build_script_build build.rs --emit=dep-info,link",
            "--crate-name a a.rs --emit=dep-info,metadata --target x86_64-unknown-linux-gnu",
        ] {
            assert_eq!(asked(other), "", "{other}");
        }
    }
}
