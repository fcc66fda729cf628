//! What the environment says of a build.

use crate::base::error::{Error, Result};
use crate::copies::copy_count::CopyCount;
use crate::project::rust;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What the environment says of a build: compilers have no other options of ours, since whoever calls them knows none.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Compile and link, and nothing else (`P3_OFF`).
    pub(crate) off: bool,
    /// `P3_COPIES`.
    pub(crate) copies: CopyCount,
    /// The copy that is put in the program's place (`P3_COPY`).
    pub(crate) copy: u32,
    /// Whether that one alone is compiled and linked (`P3_ONLY`).
    pub(crate) only: bool,
    /// Where programs' folders go (`P3_OUT`); beside the programs if not given.
    pub(crate) out: Option<PathBuf>,
    /// The folder of the build (`P3_ROOT`): programs below it have the same place below `P3_OUT`.
    pub(crate) root: PathBuf,
    /// Whether data begins at the same addresses in all copies (`P3_ALIGN`), which takes address space.
    pub(crate) aligned: bool,
    /// More options of `p3-rewrite`, as the shell reads them (`P3_FLAGS`).
    pub(crate) flags: Vec<String>,
    /// The file in which `p3-rewrite build` sees that we were called (`P3_CALLS`).
    pub(crate) calls: Option<PathBuf>,
    /// The target of Rust's code ([`rust::TARGET`]), where that is what is built.
    pub(crate) rust: Option<String>,
}

/// The variable that names [`Settings::calls`].
pub(crate) const CALLS: &str = "P3_CALLS";
/// In [`Settings::calls`]: one of our compilers was called.
pub(crate) const CALLED: u8 = b'.';
/// In [`Settings::calls`]: lines were added for copies.
pub(crate) const LINES_ADDED: u8 = b'l';

impl Settings {
    /// Adds a byte to the file in which `p3-rewrite build` sees what its compilers did; it can do without.
    pub(crate) fn note_work(&self, what: u8) {
        let Some(calls) = &self.calls else {
            return;
        };
        let file = File::options().create(true).append(true).open(calls);
        let _ = file.and_then(|mut f| f.write_all(&[what]));
    }

    pub(crate) fn from_environment() -> Result<Settings> {
        let text = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        let number = |name: &str, default: u32| match text(name) {
            None => Ok(default),
            Some(v) => v.parse().map_err(|_| {
                Error::Usage(format!(
                    "{name}={v}: not a number; give a number, or unset {name}"
                ))
            }),
        };
        let flags = text("P3_FLAGS").unwrap_or_default();
        let Some(flags) = shlex::split(&flags) else {
            return Err(Error::Usage(format!(
                "P3_FLAGS={flags}: a quote is not closed; close it"
            )));
        };
        let is_set = |name: &str| text(name).is_some_and(|v| v != "0");
        Ok(Settings {
            off: is_set("P3_OFF"),
            only: is_set("P3_ONLY"),
            copies: match text("P3_COPIES") {
                None => CopyCount::Exactly(1),
                Some(v) => v
                    .parse()
                    .map_err(|e| Error::Usage(format!("P3_COPIES={v}: {e}, or unset P3_COPIES")))?,
            },
            copy: number("P3_COPY", 0)?,
            out: text("P3_OUT").map(PathBuf::from),
            root: text("P3_ROOT").map_or_else(PathBuf::new, PathBuf::from),
            aligned: text("P3_ALIGN").is_none_or(|v| v != "0" && v != "no"),
            flags,
            calls: text(CALLS).map(PathBuf::from),
            rust: text(rust::TARGET),
        })
    }

    /// The folder of a program: beside it, or at the same place below `P3_OUT`.
    pub(crate) fn folder(&self, program: &Path) -> PathBuf {
        let mut name = program.as_os_str().to_os_string();
        name.push(".p3");
        let Some(out) = &self.out else {
            return name.into();
        };
        let name = Path::new(&name);
        // Without a root, too, folders are below `P3_OUT`.
        let below = name
            .strip_prefix(&self.root)
            .ok()
            .filter(|n| n.is_relative());
        out.join(below.or(name.strip_prefix("/").ok()).unwrap_or(name))
    }
}

/// Whether an option of `p3-rewrite` selects paths, which a program of a build need not have.
pub(crate) fn selects_paths(flag: &str) -> bool {
    let name = flag.split('=').next();
    ["--paths", "--patch"].iter().any(|o| name == Some(o))
}
