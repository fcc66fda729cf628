//! Files by which build systems find our compilers.

use super::our_program;
use crate::error::{Error, Result};
use crate::output::{PROFILE_H, write_whole};
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

/// Writes the files into `folder`: a toolchain file and a package for CMake, a native file for Meson, one for pkg-config, and the header that
/// it names. Their names.
///
/// # Errors
/// They cannot be written; our compilers are not there.
pub fn integrate(folder: &Path) -> Result<Vec<&'static str>> {
    let folder = std::path::absolute(folder).map_err(|e| Error::write(folder, e))?;
    let include = folder.join("include");
    std::fs::create_dir_all(&include).map_err(|e| Error::write(&include, e))?;
    let values = values(&folder)?;
    for template in &TEMPLATES {
        write_whole(
            &folder.join(template.name),
            template.with(&values).as_bytes(),
        )?;
    }
    write_whole(&include.join("p3_profile.h"), PROFILE_H.as_bytes())?;
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
    fn with(&self, values: &[(&str, String)]) -> String {
        let mut text = self.text.to_string();
        for (name, value) in values {
            text = text.replace(name, &self.escaped(value));
        }
        text
    }

    fn escaped(&self, value: &str) -> String {
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
