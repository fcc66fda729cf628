//! The output folder: self-contained, and never half-made in a way that looks finished.
//!
//! An old manifest is removed before anything else is touched, every file appears by rename, and
//! the new manifest comes last.

use crate::error::{Error, Result};
use crate::manifest::Manifest;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The C runtime and the runner, as they are copied into the folder.
const RUNTIME: &[(&str, &str)] = &[
    ("p3-run.sh", include_str!("../runtime-c/p3-run.sh")),
    ("p3_abi.h", include_str!("../runtime-c/p3_abi.h")),
    ("p3_arena.c", include_str!("../runtime-c/p3_arena.c")),
    ("p3_file.c", include_str!("../runtime-c/p3_file.c")),
    ("p3_format.h", include_str!("../runtime-c/p3_format.h")),
    ("p3_internal.h", include_str!("../runtime-c/p3_internal.h")),
    ("p3_layout.c", include_str!("../runtime-c/p3_layout.c")),
    ("p3_name.c", include_str!("../runtime-c/p3_name.c")),
    ("p3_process.c", include_str!("../runtime-c/p3_process.c")),
    ("p3_profile.h", include_str!("../runtime-c/p3_profile.h")),
    ("p3_quiet.c", include_str!("../runtime-c/p3_quiet.c")),
    ("p3_register.c", include_str!("../runtime-c/p3_register.c")),
    ("p3_table.c", include_str!("../runtime-c/p3_table.c")),
];

/// The runner's rules; a header of variables comes before them.
const RUNNER: &str = include_str!("../runtime-c/runner.mk");

/// What the runner must know beside the manifest.
pub struct Linking {
    /// The files of each copy that are linked, relative to its folder.
    pub modules: Vec<String>,
    /// Whether the program needs the C++ driver.
    pub cxx: bool,
}

/// An output folder in the making.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder, or takes over an old one: its manifest, copies and results go.
    pub fn begin(path: &Path) -> Result<Folder> {
        std::fs::create_dir_all(path).map_err(|e| Error::write(path, e))?;
        let folder = Folder {
            path: path.to_path_buf(),
        };
        if Manifest::is_one(&path.join("manifest.json")) {
            folder.clear()?;
        }
        folder.remove("manifest.json")?;
        Ok(folder)
    }

    /// Removes what an earlier rewriting left.
    fn clear(&self) -> Result<()> {
        self.remove("manifest.json")?;
        self.remove("profile.p3prof")?;
        let entries = std::fs::read_dir(&self.path).map_err(|e| Error::read(&self.path, e))?;
        for entry in entries {
            let name = entry.map_err(|e| Error::read(&self.path, e))?.file_name();
            let name = name.to_string_lossy();
            let copy = name
                .strip_prefix("copy-")
                .is_some_and(|n| n.parse::<u32>().is_ok());
            if copy || ["native", "run", "obj", "bin", "runtime"].contains(&name.as_ref()) {
                let path = self.path.join(name.as_ref());
                std::fs::remove_dir_all(&path).map_err(|e| Error::write(path, e))?;
            }
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.path.join(name);
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::write(path, e)),
            _ => Ok(()),
        }
    }

    /// Writes one file, given relative to the folder, whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        write_whole(&self.path.join(name), bytes)
    }

    /// Writes the runtime, the runner and, last of all, the manifest.
    pub fn finish(&self, manifest: &Manifest, linking: &Linking) -> Result<()> {
        for (name, text) in RUNTIME {
            self.write(&format!("runtime/{name}"), text.as_bytes())?;
        }
        self.write("Makefile", runner(manifest, linking).as_bytes())?;
        let mut json = serde_json::to_vec(manifest).expect("a manifest serialises");
        json.push(b'\n');
        self.write("manifest.json", &json)
    }
}

/// Writes a file by rename, making its folder; nothing is left behind on failure. A device or pipe
/// is written to as it is.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return std::fs::write(path, bytes).map_err(|e| Error::write(path, e));
    }
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
    let attempt = || {
        let mut file = tempfile::Builder::new()
            .prefix(".p3-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
            .tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.persist(path).map_err(|e| e.error)
    };
    attempt()
        .map(drop)
        .map_err(|e| Error::write(path, without_path(e)))
}

/// Takes the temporary file's name out of an error.
fn without_path(e: std::io::Error) -> std::io::Error {
    let text = e.to_string();
    match text.split_once(" at path ") {
        Some((bare, _)) => std::io::Error::new(e.kind(), bare.to_string()),
        None => e,
    }
}

/// The Makefile: variables, then the rules.
fn runner(manifest: &Manifest, linking: &Linking) -> String {
    let copies: Vec<String> = (0..manifest.copies).map(|c| c.to_string()).collect();
    let inputs: Vec<&str> = manifest.modules.iter().map(|m| m.name.as_str()).collect();
    format!(
        "# Written by p3-rewrite; `make help` lists the targets.\n\
         P3_COPIES := {}\nP3_MODULES := {}\nP3_INPUTS := {}\nP3_CXX := {}\n\n{RUNNER}",
        copies.join(" "),
        linking.modules.join(" "),
        inputs.join(" "),
        u8::from(linking.cxx),
    )
}
