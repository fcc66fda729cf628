//! The versions of raw profiles that are read.

use super::Source;
use super::{HEADER_SIZE, MAGIC, VERSION};
use crate::runtime::format::Header;
use std::fs::File;
use std::mem::offset_of;
use zerocopy::byteorder::{ByteOrder, LE, U32};

/// The oldest version that is read: its header ends before `absent`, and all else is as it is now.
pub(super) const OLDEST: u32 = 8;

/// The oldest version whose flags say something of threads.
pub(super) const OLDEST_WITH_THREADS: u32 = 10;

/// The size of a header of this version; `None`: it is not read.
pub(super) fn header_size(version: u32) -> Option<usize> {
    match version {
        OLDEST => Some(offset_of!(Header<LE>, absent)),
        9 => Some(offset_of!(Header<LE>, children_ended)),
        10 => Some(offset_of!(Header<LE>, ended_with_threads)),
        11 | VERSION => Some(HEADER_SIZE),
        _ => None,
    }
}

/// Makes `header`, of [`HEADER_SIZE`] bytes, one of the present version, as far as what is in it goes.
pub(super) fn complete_header<O: ByteOrder>(header: &mut [u8]) {
    let at = offset_of!(Header<O>, version);
    let version = U32::<O>::from_bytes(header[at..at + 4].try_into().expect("4 bytes"));
    if let Some(size) = header_size(version.get()) {
        header[size..].fill(0);
    }
}

/// What to do about a file that is refused.
pub fn remedy(file: &File) -> &'static str {
    let mut start = [0; 12];
    let read = Source::read_at(file, &mut start, 0).ok();
    let is = read.and_then(|()| read_version(&start));
    // What is read is not refused for its age.
    let is = is.filter(|v| header_size(*v).is_none()).unwrap_or(VERSION);
    let older = "its copy was made by an older p3-rewrite: run p3-rewrite on the input again, then the copies";
    crate::base::error::remedy(is, VERSION, "run this copy again", older)
}

/// The version of a raw profile that begins so.
fn read_version(start: &[u8; 12]) -> Option<u32> {
    let (magic, version) = start.split_at(8);
    let (magic, version) = (magic.try_into().ok()?, version.try_into().ok()?);
    let is_magic = |word: u64| word >> 8 == MAGIC >> 8;
    if is_magic(u64::from_le_bytes(magic)) {
        Some(u32::from_le_bytes(version))
    } else {
        is_magic(u64::from_be_bytes(magic)).then(|| u32::from_be_bytes(version))
    }
}
