//! What the linker takes for a copy: the objects of the copy in the places of the program's, also in archives.

use super::copies::Link;
use super::modules;
use super::trace::{self, Linked};
use crate::base::error::{Error, Result};
use crate::input::load::container::Member;
use crate::project::cc::word::Word;
use ar_archive_writer::{
    ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream,
};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

impl Link<'_> {
    /// Whether the command names what was linked: not the compiler's own, such as the C library's start.
    pub(super) fn is_named(&self, from: &Linked) -> bool {
        let (Linked::File(file) | Linked::Member { archive: file, .. }) = from;
        let library = Path::new(file)
            .file_stem()
            .and_then(|f| f.to_str()?.strip_prefix("lib"));
        let is_option = |o: &str| o.strip_prefix("-l").is_some_and(|l| Some(l) == library);
        self.words.iter().any(|w| match w {
            Word::Option(words) if words.len() == 1 && is_option(&words[0]) => true,
            _ => is_word_for(w, file),
        })
    }

    /// Writes the archives with objects of a copy in the places of their members; these, by the names under which the
    /// linker found the program's.
    pub(super) fn write_archives(
        &self,
        objects: &HashMap<&Linked, PathBuf>,
        folder: &Path,
    ) -> Result<Vec<(String, PathBuf)>> {
        let mut written = Vec::new();
        for (i, (archive, members)) in self.found.archives.iter().enumerate() {
            let name = Path::new(archive).file_name().unwrap_or_default();
            let path = if self.words.iter().any(|w| is_word_for(w, archive)) {
                folder.join(format!("{i}")).join(name)
            } else {
                folder.join(name)
            };
            write_archive(archive, members, objects, &path)?;
            written.push((archive.clone(), path));
        }
        Ok(written)
    }

    /// Holds that the linker took what it was given for the program's objects: a linker script may name archives, too.
    pub(super) fn check_all_taken(
        &self,
        told: &str,
        by: &HashMap<String, PathBuf>,
        objects: &HashMap<&Linked, PathBuf>,
    ) -> Result<()> {
        let (linked, _) = trace::parse(told);
        let linked: HashSet<Linked> = linked.into_iter().collect();
        for from in objects.keys() {
            let there = match from {
                Linked::File(path) => Linked::File(by[path].to_string_lossy().into_owned()),
                Linked::Member {
                    archive,
                    member,
                    nth,
                } => Linked::Member {
                    archive: by[archive].to_string_lossy().into_owned(),
                    member: member.clone(),
                    nth: *nth,
                },
            };
            if !linked.contains(&there) {
                let (Linked::File(name) | Linked::Member { archive: name, .. }) = from;
                let problem = "the linker found this file in another way than by its command line, so no copy can \
                               replace it";
                return Err(Error::Usage(format!(
                    "{name}: {problem}; name the file on the command line"
                )));
            }
        }
        Ok(())
    }
}

/// Whether a word of a link names `file`.
fn is_word_for(word: &Word, file: &str) -> bool {
    word.arguments().iter().any(|a| {
        a == file
            || a.strip_prefix("-Wl,")
                .is_some_and(|l| l.split(',').any(|p| p == file))
    })
}

fn write_archive(
    archive: &str,
    members: &[Member],
    objects: &HashMap<&Linked, PathBuf>,
    path: &Path,
) -> Result<()> {
    let mut new = Vec::new();
    for (from, Member { name, bytes, .. }) in modules::number_members(archive, members) {
        let bytes = match (objects.get(&from), bytes) {
            (Some(object), _) => std::fs::read(object).map_err(|e| Error::read(object, e))?,
            (None, Ok(bytes)) => bytes.clone(),
            (None, Err(_)) => continue,
        };
        new.push(NewArchiveMember::new(
            bytes,
            &DEFAULT_OBJECT_READER,
            name.clone(),
        ));
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
    let mut file = std::fs::File::create(path).map_err(|e| Error::write(path, e))?;
    write_archive_to_stream(&mut file, &new, ArchiveKind::Gnu, false, None)
        .map_err(|e| Error::write(path, e))
}
