//! Links without a compiler's driver: it and the search through the system's folders take more time than the link of a
//! test program does.

use super::{run, tool};
use p3_rewrite::project::Language;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What programs begin with, and end with.
struct System {
    first: Vec<PathBuf>,
    /// What reading its symbols takes is half of what a link of C takes.
    cxx: PathBuf,
    last: Vec<PathBuf>,
}

/// Where x86-64 has it on every system, as its ABI says.
const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// Links objects to a program of C, or of C++. gold takes three quarters of the time that ld does, and comes with
/// binutils.
#[track_caller]
pub(super) fn link(objects: &[PathBuf], language: Language, exe: &Path) {
    static SYSTEM: OnceLock<Option<System>> = OnceLock::new();
    let (Some(system), true) = (SYSTEM.get_or_init(System::find), tool("ld.gold").exists()) else {
        let mut driver = Command::new("c++");
        driver.args(objects).args(["-lm", "-pthread", "-o"]);
        run(driver.arg(exe));
        return;
    };
    let mut gold = Command::new(tool("ld.gold"));
    gold.args([
        "-nostdlib",
        "-pie",
        "--eh-frame-hdr",
        "--hash-style=gnu",
        "--build-id",
    ]);
    gold.args(["-dynamic-linker", LOADER]).args(&system.first);
    gold.args(objects).arg("--as-needed");
    if language == Language::Cxx {
        gold.arg(&system.cxx);
    }
    gold.args(&system.last);
    run(gold.arg("-o").arg(exe));
}

impl System {
    /// None where a compiler does not know one of them.
    fn find() -> Option<System> {
        let last = [
            "libm.so.6",
            "libgcc_s.so.1",
            "libgcc.a",
            "libc.so.6",
            "libc_nonshared.a",
            "crtendS.o",
            "crtn.o",
        ];
        Some(System {
            first: files(&["Scrt1.o", "crti.o", "crtbeginS.o"])?,
            cxx: files(&["libstdc++.so.6"])?.remove(0),
            last: [files(&last)?, vec![LOADER.into()]].concat(),
        })
    }
}

/// Where the compiler has files; it prints the names alone of those that it does not find.
fn files(names: &[&str]) -> Option<Vec<PathBuf>> {
    let file = |name: &&str| {
        let printed = run(Command::new("c++").arg(format!("-print-file-name={name}"))).stdout;
        let path = PathBuf::from(String::from_utf8(printed).unwrap().trim());
        path.is_absolute().then_some(path)
    };
    names.iter().map(file).collect()
}
