//! Machine code that links of a build share: a library that twelve programs link is compiled once.
//!
//! Rewritten for two programs, a module differs in its numbers alone, unless the program is what decides how it counts.
//! So the object of one program is that of another with these numbers in their places.

use crate::base::error::{Error, Result};
use crate::copies::strategy::Scheme;
use crate::project::cc::clang::Compiler;
use crate::runtime::abi;
use crate::write::output::{DIGEST, NUMBERS, module_name, write_whole};
use object::{Object, ObjectSection, ObjectSymbol};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Below the folder of a build: objects by what they are made of, each a second name of an object of some program.
const FOLDER: &str = ".p3-objects";

/// The objects of a build.
pub(super) struct SharedObjects {
    folder: PathBuf,
    /// What all objects of a link have in common.
    common: blake3::Hash,
    /// The id of the rewriting that objects are made for.
    program: [u8; 16],
}

/// What an object of a link is made of.
pub(super) struct Wanted {
    /// Where the object of another link is, if there is one.
    shared: PathBuf,
    /// The constant that has its numbers.
    block: Vec<u8>,
}

impl SharedObjects {
    /// The objects of the build below `out`.
    pub(super) fn new(
        out: &Path,
        compiler: &Compiler,
        version: Option<u32>,
        scheme: Scheme,
        program: [u8; 16],
    ) -> SharedObjects {
        let mut common = blake3::Hasher::new();
        let ours = env!("CARGO_PKG_VERSION").as_bytes();
        let compiler = compiler.path.as_os_str().as_bytes();
        let options = scheme.code_options().map(str::as_bytes);
        let version = format!("{version:?}");
        hash_all(&mut common, [ours, compiler, version.as_bytes()]);
        hash_all(&mut common, options);
        SharedObjects {
            folder: out.join(FOLDER),
            common: common.finalize(),
            program,
        }
    }

    /// What module `m` of the copy in `folder` is made of, compiled with `flags`. `None` if nothing in it has changed.
    pub(super) fn find(&self, folder: &Path, m: usize, flags: &[String]) -> Option<Wanted> {
        let path = folder.join(module_name(m, NUMBERS));
        let numbers = std::fs::read(&path).ok()?;
        // Nobody reads it a second time.
        let _ = std::fs::remove_file(path);
        let (digest, block) = numbers.split_at_checked(DIGEST)?;
        let mut key = blake3::Hasher::new();
        hash_all(&mut key, [&self.common.as_bytes()[..], digest]);
        hash_all(&mut key, flags.iter().map(String::as_bytes));
        Some(Wanted {
            shared: self.folder.join(format!("{}.o", key.finalize().to_hex())),
            block: block.to_vec(),
        })
    }

    /// Makes `object` of that of another link; whether there is one.
    ///
    /// # Errors
    /// `object` cannot be written.
    pub(super) fn reuse(&self, wanted: &Wanted, object: &Path) -> Result<bool> {
        let Ok(mut bytes) = std::fs::read(&wanted.shared) else {
            return Ok(false);
        };
        if renumber(&mut bytes, &wanted.block, &self.program).is_none() {
            return Ok(false);
        }
        write_whole(object, &bytes)?;
        Ok(true)
    }

    /// Has other links find `object`. It takes no space, and where the file system has no second names, none finds it.
    pub(super) fn share(&self, wanted: &Wanted, object: &Path) {
        let link = || -> std::io::Result<()> {
            std::fs::create_dir_all(&self.folder)?;
            let part = tempfile::Builder::new()
                .prefix(".p3-")
                .make_in(&self.folder, |path| std::fs::hard_link(object, path))?;
            part.into_temp_path().persist(&wanted.shared)?;
            Ok(())
        };
        let _ = link();
    }
}

/// Removes shared objects that no program of the build below `out` has any more. O(objects).
///
/// # Errors
/// One cannot be removed.
pub(crate) fn remove_unused_objects(out: &Path) -> Result<()> {
    let files = out.join(FOLDER).read_dir().into_iter().flatten().flatten();
    for file in files {
        let path = file.path();
        if std::fs::symlink_metadata(&path).is_ok_and(|m| m.nlink() < 2) {
            std::fs::remove_file(&path).map_err(|e| Error::write(&path, e))?;
        }
    }
    Ok(())
}

/// Adds parts, each with its length, and their number.
fn hash_all<'a>(hash: &mut blake3::Hasher, parts: impl IntoIterator<Item = &'a [u8]>) {
    let mut number = 0_u64;
    for part in parts {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
        number += 1;
    }
    hash.update(&number.to_le_bytes());
}

/// Puts other numbers into an object: its block, and the id of the rewriting. `None` if it has no place for them; it
/// may be damaged then.
fn renumber(bytes: &mut [u8], block: &[u8], program: &[u8; 16]) -> Option<()> {
    if block.is_empty() {
        return Some(());
    }
    let at = find_symbol(bytes, abi::BLOCK_SYMBOL, block.len())?;
    let id = abi::MODULE.offset("program")?;
    let description = find_symbol(bytes, abi::MODULE_SYMBOL, id + program.len())?;
    bytes.get_mut(at..at + block.len())?.copy_from_slice(block);
    let id = description + id;
    bytes
        .get_mut(id..id + program.len())?
        .copy_from_slice(program);
    Some(())
}

/// Where a symbol's bytes are in an object, if they are at least so many.
fn find_symbol(bytes: &[u8], name: &str, least: usize) -> Option<usize> {
    let object = object::File::parse(bytes).ok()?;
    let symbol = object.symbols().find(|s| s.name() == Ok(name))?;
    let section = object.section_by_index(symbol.section_index()?).ok()?;
    let (begin, _) = section.file_range()?;
    let is_whole = symbol.size() >= least as u64;
    let at = begin.checked_add(symbol.address())?;
    usize::try_from(at).ok().filter(|_| is_whole)
}
