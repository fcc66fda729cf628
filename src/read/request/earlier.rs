//! The merged profiles that specifications name: a file, the profile of an output folder, or every profile in a folder.

use super::Spec;
use crate::base::error::{Error, Result};
use crate::profile::Profile;
use crate::profile::locate::{MERGED, profiles_below};
use crate::profile::verdict::Trust;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// Profiles, by the name that was given for them.
#[derive(Default)]
pub(crate) struct Earlier {
    by_name: BTreeMap<PathBuf, Vec<Profile>>,
}

/// A profile of earlier runs.
#[derive(Clone, Copy)]
pub(crate) struct EarlierProfile<'a> {
    profile: &'a Profile,
    /// Whether it was named by itself, as one of the program. In a folder there may be profiles of other programs.
    pub is_named: bool,
}

impl Deref for EarlierProfile<'_> {
    type Target = Profile;

    fn deref(&self) -> &Profile {
        self.profile
    }
}

impl Earlier {
    /// Reads what `specs` name, each once.
    ///
    /// # Errors
    /// A file that is no merged profile, a folder without one, a verdict that `trust` does not accept.
    pub(crate) fn read(specs: &[Spec], trust: Trust) -> Result<Earlier> {
        let mut earlier = Earlier::default();
        for spec in specs {
            // What grows from nothing begins as nothing: all paths are new to an empty folder.
            let may_be_none = matches!(spec, Spec::New(_));
            for name in spec.profiles() {
                if may_be_none && is_missing_folder(name) {
                    earlier.by_name.insert(name.clone(), Vec::new());
                    continue;
                }
                if may_be_none && !name.exists() {
                    let remedy = "check its name; a folder that is still to be made ends with /";
                    return Err(Error::profile(
                        name,
                        "there is no such file or folder",
                        remedy,
                    ));
                }
                let profiles = read_all(name, trust)?;
                if profiles.is_empty() && !may_be_none {
                    let problem = "there is no merged profile in this folder";
                    let remedy = "name a file that p3-prof merge wrote, or a folder with some";
                    return Err(Error::profile(name, problem, remedy));
                }
                earlier.by_name.insert(name.clone(), profiles);
            }
        }
        Ok(earlier)
    }

    /// These profiles under one name, for whoever has read them.
    #[must_use]
    #[cfg(test)]
    pub(crate) fn with_profiles(mut self, name: &Path, profiles: Vec<Profile>) -> Earlier {
        self.by_name.insert(name.to_path_buf(), profiles);
        self
    }

    /// The profiles that were read for a name.
    pub(super) fn profiles_of(&self, name: &Path) -> Vec<EarlierProfile<'_>> {
        let is_named = is_one(name);
        let profiles = self.by_name.get(name).into_iter().flatten();
        let named = profiles.map(|profile| EarlierProfile { profile, is_named });
        named.collect()
    }

    /// All of them, by name.
    pub(crate) fn all_profiles(&self) -> impl Iterator<Item = EarlierProfile<'_>> {
        self.by_name.keys().flat_map(|name| self.profiles_of(name))
    }

    /// All of them, to be changed.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Profile> {
        self.by_name.values_mut().flatten()
    }
}

/// Whether a name is that of a folder, as its last slash says, which nobody has made yet.
fn is_missing_folder(name: &Path) -> bool {
    name.as_os_str().as_encoded_bytes().ends_with(b"/") && !name.exists()
}

/// Whether a name stands for one profile: a program's own folder has one; it says what to run first if it has none.
fn is_one(name: &Path) -> bool {
    let is_program = name.join("manifest.json").is_file() || name.join(MERGED).is_file();
    !name.is_dir() || is_program
}

/// The profiles that a name stands for, in the order of their names.
fn read_all(name: &Path, trust: Trust) -> Result<Vec<Profile>> {
    if is_one(name) {
        return Ok(vec![trust.read(name)?]);
    }
    profiles_below(name)?
        .iter()
        .map(|file| trust.read(file))
        .collect()
}
