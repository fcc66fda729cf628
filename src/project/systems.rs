//! What is known of build systems: which one made a folder, what runs its tests, and what changes its compiler.

use super::record::Record;
use super::tools::path_from_here;
use crate::base::names::{is_shared_library, quote_for_shell};
use std::path::Path;

/// A build system whose configured folders are known by a file.
struct BuildSystem {
    /// The file.
    mark: &'static str,
    /// What runs the tests of a folder that is named behind it.
    tests: &'static str,
    /// What to do about a folder that was configured with another compiler.
    remedy: &'static str,
}

const BUILD_SYSTEMS: [BuildSystem; 2] = [
    BuildSystem {
        mark: "CMakeCache.txt",
        tests: "ctest --test-dir",
        remedy: "CMake keeps the compiler that a folder was configured with: configure a new one (cmake -B build-p3)",
    },
    BuildSystem {
        mark: "meson-info",
        tests: "meson test -C",
        remedy: "Meson keeps the compiler that a folder was configured with: configure a new one (meson setup \
                 build-p3)",
    },
];

impl BuildSystem {
    /// The one that configured `folder`.
    fn find(folder: &Path) -> Option<&'static BuildSystem> {
        BUILD_SYSTEMS.iter().find(|s| folder.join(s.mark).exists())
    }
}

/// How the build of an object gets to use p3-cc and p3-cxx.
pub(crate) fn remedy_for_compiler_of(object: &Path) -> &'static str {
    let object = std::path::absolute(object).unwrap_or_else(|_| object.to_path_buf());
    let found = object.ancestors().skip(1).find_map(BuildSystem::find);
    let remedy = found.map(|system| system.remedy);
    remedy.unwrap_or("let the build take those that CC and CXX name (make CC=p3-cc CXX=p3-cxx)")
}

/// What runs the tests of these programs, by the build system that made the folder that they are in.
pub(crate) fn test_command(programs: &[Record]) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let folders = programs.iter().flat_map(|p| p.program.ancestors().skip(1));
    let mut below = folders.filter(|f| f.starts_with(&here));
    let of_folder = |folder: &Path| {
        let command = BuildSystem::find(folder)?.tests;
        let folder = folder.strip_prefix(&here).unwrap_or(folder);
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        Some(format!("{command} {}", quote_path(folder)))
    };
    let of_build_system = below.find_map(of_folder);
    let of_makefile = || {
        // Where both are there, `check` may be a linter (git's is).
        let targets = ["test", "check"];
        let found = targets.into_iter().find(|t| makefile_has(&here, t))?;
        Some(format!("make {found}"))
    };
    let is_library = |p: &Record| {
        let name = p.program.file_name().unwrap_or_default();
        is_shared_library(&name.to_string_lossy())
    };
    let itself = || {
        let program = &programs.iter().find(|p| !is_library(p))?.program;
        Some(match program.strip_prefix(&here) {
            Ok(below) => quote_path(&Path::new(".").join(below)),
            Err(_) => quote_path(program),
        })
    };
    let found = of_build_system.or_else(of_makefile).or_else(itself);
    found.unwrap_or("COMMAND".into())
}

/// Whether the makefile in `folder` has a rule for `target`, as far as can be seen without running make.
fn makefile_has(folder: &Path, target: &str) -> bool {
    // One may include another.
    let names = ["GNUmakefile", "makefile", "Makefile"];
    let texts = names.map(|name| std::fs::read_to_string(folder.join(name)));
    let texts: String = texts.into_iter().flatten().collect();
    let lines = texts.lines().filter(|line| !line.starts_with(['#', '\t']));
    let split = lines.filter_map(|line| line.split_once(':'));
    // Of others an `=` makes a variable: `x = a:b`, `x := y`, `target: x = y`.
    let rules = split.filter(|(targets, rest)| !targets.contains('=') && !rest.contains('='));
    let mut targets = rules.flat_map(|(targets, _)| targets.split_whitespace());
    targets.any(|t| t == target)
}

/// A path as a shell takes it.
pub(crate) fn quote_path(path: &Path) -> String {
    quote_for_shell(path_from_here(path))
}
