//! Files by which build systems find our compilers.

use super::tools::our_program;
use crate::base::error::{Error, Result};
use crate::write::output::{Mark, PROFILE_H, check_folder, write_files};
use std::path::Path;

/// A file, as it is but for names between `@`, and how values stand in it.
struct Template {
    name: &'static str,
    text: &'static str,
    /// What a value must be preceded by a backslash for.
    special: &'static str,
}

/// In quotes of CMake's.
const CMAKE: &str = "\\\"$";

/// The comment that these files begin with.
const MADE_BY: &str = "# Written by p3-rewrite integrate";
/// What only our header says.
const HEADER: Mark = Mark::Head("#ifndef P3_PROFILE_H");

const TEMPLATES: [Template; 4] = [
    Template {
        name: "p3-toolchain.cmake",
        text: include_str!("../../share/p3-toolchain.cmake"),
        special: CMAKE,
    },
    Template {
        name: "P3Config.cmake",
        text: include_str!("../../share/P3Config.cmake"),
        special: CMAKE,
    },
    Template {
        name: "p3-meson.ini",
        text: include_str!("../../share/p3-meson.ini"),
        special: "\\'",
    },
    Template {
        name: "p3.pc",
        text: include_str!("../../share/p3.pc"),
        special: "\\\"' $#",
    },
];

/// Writes the files into `folder`: a toolchain file and a package for CMake, a native file for Meson, one for
/// pkg-config, and the header that it names. Their names. `force`: other files that are there may be replaced.
///
/// # Errors
/// They cannot be written, or would replace others; our compilers are not there.
pub fn integrate(folder: &Path, force: bool) -> Result<Vec<&'static str>> {
    check_folder(folder)?;
    let folder = std::path::absolute(folder).map_err(|e| Error::write(folder, e))?;
    let values = values(&folder)?;
    let file = |template: &Template| {
        let text = format!("{MADE_BY}\n{}", template.fill_in(&values));
        let mark = Mark::Start(MADE_BY.as_bytes());
        (template.name.to_string(), text.into_bytes(), mark)
    };
    let mut files: Vec<_> = TEMPLATES.iter().map(file).collect();
    files.push(("include/p3_profile.h".into(), PROFILE_H.into(), HEADER));
    write_files(&folder, &files, force)?;
    Ok(TEMPLATES.iter().map(|t| t.name).collect())
}

/// What stands between `@`, and its value.
fn values(folder: &Path) -> Result<Vec<(&'static str, String)>> {
    let mut values = vec![("@P3_VERSION@", env!("CARGO_PKG_VERSION").to_string())];
    let programs = [
        ("@P3_CC@", our_program("p3-cc")?),
        ("@P3_CXX@", our_program("p3-cxx")?),
        ("@P3_REWRITE@", our_program("p3-rewrite")?),
        ("@P3_PROF@", our_program("p3-prof")?),
        ("@P3_DIR@", folder.to_path_buf()),
    ];
    for (name, path) in programs {
        let text = path.to_str().filter(|t| !t.contains('\n'));
        let Some(text) = text else {
            let problem = "no file of a build system can name this path";
            return Err(Error::load(path, problem, "choose another folder"));
        };
        values.push((name, text.to_string()));
    }
    Ok(values)
}

impl Template {
    fn fill_in(&self, values: &[(&str, String)]) -> String {
        let mut text = self.text.to_string();
        for (name, value) in values {
            text = text.replace(name, &self.escape_value(value));
        }
        text
    }

    fn escape_value(&self, value: &str) -> String {
        let mut text = String::new();
        for c in value.chars() {
            if self.special.contains(c) {
                text.push('\\');
            }
            text.push(c);
        }
        text
    }
}
