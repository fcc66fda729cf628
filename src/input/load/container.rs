//! Bitcode inside other files: sections of ELF objects, members of archives.
//!
//! Compilers leave it in `.llvmbc` (`-fembed-bitcode`, rustc), in `.llvm.lto` (`-ffat-lto-objects`), and `p3-cc` in
//! [`CODE`], with the options of the code generator in [`FLAGS`].

use object::elf::{FileHeader32, FileHeader64};
use object::read::archive::ArchiveFile;
use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, FileKind};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The section of an object in which `p3-cc` leaves bitcode. As long as the compiler's name for it, so that renaming is
/// patching; not that name itself, by which linkers' plugins of other LLVM versions would claim the object.
pub const CODE: &str = ".p3code";
/// The section with the compiler's options, each ended by a zero byte.
pub const FLAGS: &str = ".p3flags";
/// What the compiler calls the two.
const EMBEDDED: [(&str, &str); 2] = [(".llvmbc", CODE), (".llvmcmd", FLAGS)];
/// Where bitcode may be.
const HOLDERS: [&str; 3] = [CODE, ".llvm.lto", ".llvmbc"];
/// Linkers drop such sections.
const SHF_EXCLUDE: u32 = 0x8000_0000;

/// A module inside an ELF file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// Its bitcode.
    pub bitcode: Vec<u8>,
    /// The options of the compiler's `-cc1` that made the object, where they were kept.
    pub flags: Vec<String>,
}

/// Bytes of a file, and where they are to be written.
pub type Patch = (u64, Vec<u8>);

/// A member of an archive.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its file name: not unique.
    pub name: String,
    /// Where it is, if it is a file of its own: the archive is thin.
    pub path: Option<PathBuf>,
    /// What it holds, or why that cannot be read.
    pub bytes: Result<Vec<u8>, String>,
}

/// Why an ELF file gives no module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without {
    /// It holds machine code alone.
    Bitcode,
    /// Several modules were linked into it (`ld -r`), and their machine code cannot be told apart.
    OneModule,
}

/// A section as its header has it: where its name and its header are in the file, and its bytes.
struct Section<'a> {
    name: &'a [u8],
    name_at: usize,
    flags_at: usize,
    flags_size: usize,
    bytes: &'a [u8],
}

/// Whether a file is an archive, by its first bytes.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<arch>\n") || is_thin(bytes)
}

/// Whether an ELF file has a section whose name begins so.
pub fn has_section(bytes: &[u8], prefix: &str) -> bool {
    let sections = sections(bytes).unwrap_or_default();
    sections
        .iter()
        .any(|s| s.name.starts_with(prefix.as_bytes()))
}

/// The modules in a section into which a linker put one after the other. A file of bitcode is a sequence of blocks,
/// each with its length, after four bytes of magic; what cannot be read so stays whole, for LLVM to complain of.
/// O(blocks).
pub fn modules(section: &[u8]) -> Vec<Vec<u8>> {
    let mut modules = Vec::new();
    let mut rest = section;
    loop {
        let padding = rest.iter().take_while(|b| **b == 0).count();
        rest = &rest[padding..];
        if rest.is_empty() {
            return modules;
        }
        let (module, after) = rest.split_at(length(rest).unwrap_or(rest.len()));
        modules.push(module.to_vec());
        rest = after;
    }
}

/// The length of the module at the beginning.
fn length(bytes: &[u8]) -> Option<usize> {
    const MAGIC: &[u8] = b"BC\xC0\xDE";
    const WRAPPER: &[u8] = b"\xDE\xC0\x17\x0B";
    let word = |at: usize| {
        let word = bytes.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(word)).ok()
    };
    if bytes.starts_with(WRAPPER) {
        // Magic, version, offset, size.
        return word(8)?
            .checked_add(word(12)?)
            .filter(|n| *n <= bytes.len());
    }
    let mut at = bytes.starts_with(MAGIC).then_some(MAGIC.len())?;
    // At this level all abbreviations are of two bits: 1 enters a block, whose header takes two words.
    while word(at).is_some_and(|header| header & 3 == 1) {
        at = word(at + 4)?.checked_mul(4)?.checked_add(at + 8)?;
    }
    Some(at).filter(|at| *at <= bytes.len())
}

/// Whether a file is a thin archive: its members are files of their own.
pub fn is_thin(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<thin>\n")
}

/// The module in an ELF file. O(sections), and a copy of the bitcode.
///
/// # Errors
/// There is none, or more than one.
pub fn extract_embedded(bytes: &[u8]) -> Result<Embedded, Without> {
    let sections = sections(bytes).unwrap_or_default();
    let of = |name: &str| sections.iter().find(|s| s.name == name.as_bytes());
    let code = HOLDERS.iter().find_map(|name| of(name));
    let code = code
        .filter(|s| !s.bytes.is_empty())
        .ok_or(Without::Bitcode)?;
    let flags = of(FLAGS).map_or(&[][..], |s| s.bytes);
    let flags: Vec<String> = flags
        .split(|b| *b == 0)
        .filter(|f| !f.is_empty())
        .map(|f| String::from_utf8_lossy(f).into_owned())
        .collect();
    if flags.iter().filter(|f| *f == "-cc1").count() > 1 {
        return Err(Without::OneModule);
    }
    Ok(Embedded {
        bitcode: code.bytes.to_vec(),
        flags,
    })
}

/// The bitcode of all modules in an ELF file: several in one that was linked of others (`ld -r`). O(sections + blocks).
pub fn all_embedded(bytes: &[u8]) -> Vec<Vec<u8>> {
    let sections = sections(bytes).unwrap_or_default();
    let of = |name: &&str| sections.iter().find(|s| s.name == name.as_bytes());
    let code = HOLDERS.iter().find_map(of);
    code.map_or(Vec::new(), |s| modules(s.bytes))
}

/// What to write where in an object, so that the sections in which clang embedded bitcode have the names that `p3-cc`
/// uses and linkers drop them. Nothing for what is not ELF, or has none.
pub fn section_patches(bytes: &[u8]) -> Vec<Patch> {
    let mut patches = Vec::new();
    for section in sections(bytes).unwrap_or_default() {
        let Some((_, ours)) = EMBEDDED.iter().find(|(n, _)| n.as_bytes() == section.name) else {
            continue;
        };
        patches.push((section.name_at as u64, ours.as_bytes().to_vec()));
        let word = &bytes[section.flags_at..section.flags_at + section.flags_size];
        patches.push((section.flags_at as u64, with_exclude(word, is_big(bytes))));
    }
    patches
}

/// What to write where in an object, so that linkers drop its debug information. O(sections).
pub fn debug_patches(bytes: &[u8]) -> Vec<Patch> {
    let is_debug = |s: &&Section| {
        let name = s.name.strip_prefix(b".rela").unwrap_or(s.name);
        let name = name.strip_prefix(b".rel").unwrap_or(name);
        name.starts_with(b".debug_")
    };
    let sections = sections(bytes).unwrap_or_default();
    let patch = |s: &Section| {
        let word = &bytes[s.flags_at..s.flags_at + s.flags_size];
        (s.flags_at as u64, with_exclude(word, is_big(bytes)))
    };
    sections.iter().filter(is_debug).map(patch).collect()
}

/// What makes embedded bitcode ours ([`section_patches`]), with `code` in the place of the bitcode: where it is to be
/// appended to the object, and what to write where. `None` where clang left no bitcode.
pub fn claims_with(bytes: &[u8], code: &[u8]) -> Option<(u64, Vec<Patch>)> {
    let [(compilers, _), _] = EMBEDDED;
    let sections = sections(bytes)?;
    let section = sections.iter().find(|s| s.name == compilers.as_bytes())?;
    let end = (bytes.len() as u64).next_multiple_of(16);
    let word = section.flags_size;
    let number = |n: u64| {
        let (big, little) = (n.to_be_bytes(), n.to_le_bytes());
        if is_big(bytes) {
            big[8 - word..].to_vec()
        } else {
            little[..word].to_vec()
        }
    };
    let mut patches = section_patches(bytes);
    // In either size, a header's words are its flags, address, offset and size.
    patches.push(((section.flags_at + 2 * word) as u64, number(end)));
    patches.push((
        (section.flags_at + 3 * word) as u64,
        number(code.len() as u64),
    ));
    Some((end, patches))
}

fn is_big(bytes: &[u8]) -> bool {
    const EI_DATA: usize = 5;
    bytes[EI_DATA] == 2
}

fn with_exclude(word: &[u8], big: bool) -> Vec<u8> {
    let mut word = word.to_vec();
    // The bit is in the lower half, in either size.
    let at = if big { word.len() - 4 } else { 0 };
    let bit = if big {
        SHF_EXCLUDE.to_be_bytes()
    } else {
        SHF_EXCLUDE.to_le_bytes()
    };
    for (byte, bit) in word[at..].iter_mut().zip(bit) {
        *byte |= bit;
    }
    word
}

fn sections(bytes: &[u8]) -> Option<Vec<Section<'_>>> {
    match FileKind::parse(bytes).ok()? {
        FileKind::Elf64 => sections_of::<FileHeader64<Endianness>>(bytes),
        FileKind::Elf32 => sections_of::<FileHeader32<Endianness>>(bytes),
        _ => None,
    }
}

fn sections_of<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<Vec<Section<'_>>> {
    let header = Elf::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let table = header.sections(endian, bytes).ok()?;
    let names = header.section_strings_index(endian, bytes).ok()?;
    let names: u64 = table.section(names).ok()?.sh_offset(endian).into();
    let first: u64 = header.e_shoff(endian).into();
    let size_of_word = size_of::<Elf::Word>();
    let mut found = Vec::new();
    for (i, section) in table.iter().enumerate() {
        let name = table.section_name(endian, section).ok()?;
        let at = usize::try_from(first).ok()? + i * size_of::<Elf::SectionHeader>();
        found.push(Section {
            name,
            name_at: usize::try_from(names + u64::from(section.sh_name(endian))).ok()?,
            // sh_name and sh_type come before it, of four bytes each.
            flags_at: at + 8,
            flags_size: size_of_word,
            bytes: section.data(endian, bytes).ok()?,
        });
    }
    Some(found)
}

/// The members of an archive; those of a thin one are read where it says, from `path`'s folder.
///
/// # Errors
/// It is damaged; in the terms of whoever reads it.
pub fn members(path: &Path, bytes: &[u8]) -> Result<Vec<Member>, String> {
    let archive = ArchiveFile::parse(bytes).map_err(|e| e.to_string())?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member.map_err(|e| e.to_string())?;
        let name = Path::new(OsStr::from_bytes(member.name()));
        let path = member.is_thin().then(|| folder.join(name));
        let bytes = match &path {
            Some(path) => std::fs::read(path).map_err(|e| e.to_string()),
            None => member
                .data(bytes)
                .map(<[u8]>::to_vec)
                .map_err(|e| e.to_string()),
        };
        let name = name.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        members.push(Member { name, path, bytes });
    }
    Ok(members)
}

#[cfg(test)]
mod tests;
