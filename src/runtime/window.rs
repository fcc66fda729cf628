//! Bytes of a file in which a process may still count, read at any offset, most often the next.

use super::problem::{Problem, damaged};
use super::source::Source;
use std::io;
use std::marker::PhantomData;
use std::ops::Range;
use zerocopy::byteorder::{ByteOrder, U64};
use zerocopy::{FromBytes, KnownLayout};

pub(crate) type Crc = crc32fast::Hasher;

/// What is read at once.
pub(crate) const WINDOW: u64 = 1 << 16;

/// Reads at offsets below `length`.
pub(crate) struct Window<'a, O> {
    pub(crate) source: &'a dyn Source,
    pub(crate) length: u64,
    /// Those from `start` on.
    bytes: Vec<u8>,
    start: u64,
    order: PhantomData<O>,
}

impl<'a, O: ByteOrder> Window<'a, O> {
    /// Nothing is read yet.
    pub(crate) fn new(source: &'a dyn Source, length: u64) -> Self {
        Window {
            source,
            length,
            bytes: Vec::new(),
            start: 0,
            order: PhantomData,
        }
    }

    /// Another one of the same file.
    pub(crate) fn again(&self) -> Self {
        Window::new(self.source, self.length)
    }

    /// `n` bytes at `at`.
    pub(crate) fn bytes(&mut self, at: u64, n: usize) -> Result<&[u8], Problem> {
        if !self.has(at, n as u64) {
            self.fill(at)?;
        }
        let from = (at - self.start) as usize;
        let bytes = self.bytes.get(from..from + n);
        bytes.ok_or_else(|| damaged("it ends too early"))
    }

    /// What is at `at`, and the checksum of a part of it.
    pub(crate) fn checked<T: FromBytes + KnownLayout>(
        &mut self,
        at: u64,
        part: Range<usize>,
    ) -> Result<(T, Crc), Problem> {
        let bytes = self.bytes(at, size_of::<T>())?;
        let mut crc = Crc::new();
        crc.update(&bytes[part]);
        let value = T::read_from_bytes(bytes);
        Ok((value.expect("of its size"), crc))
    }

    fn has(&self, at: u64, n: u64) -> bool {
        at >= self.start && at + n <= self.start + self.bytes.len() as u64
    }

    fn fill(&mut self, at: u64) -> Result<(), Problem> {
        self.start = at;
        self.bytes
            .resize(self.length.saturating_sub(at).min(WINDOW) as usize, 0);
        let read = self.source.read_at(&mut self.bytes, at);
        read.map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => Problem::Shrank,
            _ => e.into(),
        })
    }

    pub(crate) fn word(&mut self, at: u64) -> Result<u64, Problem> {
        let word = U64::<O>::read_from_bytes(self.bytes(at, 8)?);
        Ok(word.expect("8 bytes").get())
    }

    /// The first of `at`, `at + step`, … below `end` where 8 bytes are not zero, and these. Everything in a file
    /// becomes valid by such a word, written last.
    pub(crate) fn find(
        &mut self,
        mut at: u64,
        end: u64,
        step: u64,
    ) -> Result<Option<(u64, u64)>, Problem> {
        while end.checked_sub(at).is_some_and(|left| left >= 8) {
            if !self.has(at, 8) {
                let data = self.source.data_from(at);
                let Some(data) = data? else {
                    return Ok(None);
                };
                at += data.saturating_sub(at) / step * step;
                if at + 8 > end {
                    return Ok(None);
                }
            }
            let word = self.word(at)?;
            if word != 0 {
                return Ok(Some((at, word)));
            }
            at += step;
        }
        Ok(None)
    }
}
