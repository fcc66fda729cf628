//! The block that holds sampled subpaths (`docs/RAW_FORMAT.md`).

use super::{HotList, Length, Points, Sampling, Subpath, Subpaths};
use crate::estimates::data::interface::Place;
use crate::runtime::abi::{COUNTING, WITHIN};
use crate::runtime::format::{self, Entry, Sample};
use crate::runtime::problem::{Problem, damaged};
use crate::runtime::window::Window;
use zerocopy::FromBytes;
use zerocopy::byteorder::ByteOrder;

/// While it is read, a list that a process is writing to may be replaced so often.
const ATTEMPTS: u32 = 100;
/// The runtime doubles the period less often.
const MOST_DOUBLINGS: u64 = 32;

/// Reads the sample whose block is at `place`.
pub(crate) fn read<O: ByteOrder>(window: &Window<O>, place: Place) -> Result<Subpaths, Problem> {
    let Place { found, inside, end } = place;
    for _ in 0..ATTEMPTS {
        let before = header(window, inside, end)?;
        let sampling = sampling(&before)?;
        let state = before.state.get();
        let (active, doublings) = ((state & 1) as usize, state >> 1 & 0x7fff_ffff);
        let (area, used) = (before.area.get(), before.used[active].get());
        let first = found + u64::from(format::SAMPLE_AREAS) + area.saturating_mul(active as u64);
        let fits = used <= area && first.checked_add(area).is_some_and(|e| e <= end);
        if !fits || doublings > MOST_DOUBLINGS {
            return Err(damaged("the sample lies outside its block"));
        }
        let mut bytes = vec![0; used as usize];
        let read = window.source.read_at(&mut bytes, first);
        read?;
        if header(window, inside, end)?.state.get() == state {
            return Ok(Subpaths {
                points: entries::<O>(&bytes, &sampling, doublings as u32)?,
                sampling: Some(sampling),
                doublings: doublings as u32,
                blocks: before.blocks.get(),
                crowded: before.crowded.get(),
                too_long: before.long_ones.get(),
            });
        }
    }
    Err(Problem::SampleChanges)
}

/// As it is now.
fn header<O: ByteOrder>(window: &Window<O>, at: u64, end: u64) -> Result<Sample<O>, Problem> {
    let mut bytes = vec![0; size_of::<Sample<O>>()];
    if end - at < bytes.len() as u64 {
        return Err(damaged("the sample lies outside its block"));
    }
    let read = window.source.read_at(&mut bytes, at);
    read?;
    let header = Sample::<O>::read_from_bytes(&bytes).expect("of its size");
    let crc = crc32fast::hash(&bytes[format::SAMPLE_CHECKED]);
    let right = crc == header.crc.get();
    right
        .then_some(header)
        .ok_or_else(|| damaged("the checksum of the sample is wrong"))
}

fn sampling<O: ByteOrder>(header: &Sample<O>) -> Result<Sampling, Problem> {
    let lengths = header.lengths.iter().zip(&header.chances);
    let length =
        |(blocks, chance): (&zerocopy::byteorder::U64<O>, &zerocopy::byteorder::U64<O>)| {
            Some(Length {
                blocks: u32::try_from(blocks.get()).ok()?,
                chance: chance.get(),
            })
        };
    let lengths = lengths.take(header.n_lengths.get() as usize).map(length);
    let sampling = Sampling {
        period: header.period.get(),
        lengths: lengths
            .collect::<Option<_>>()
            .ok_or_else(|| damaged("lengths"))?,
        within_functions: header.flags.get() & WITHIN != 0,
        list: if header.flags.get() & COUNTING == 0 {
            HotList::Concise
        } else {
            HotList::Counting
        },
    };
    let sound = sampling.is_sound() && header.flags.get() & !(WITHIN | COUNTING) == 0;
    sound
        .then_some(sampling)
        .ok_or_else(|| damaged("how it was sampled"))
}

fn entries<O: ByteOrder>(
    mut bytes: &[u8],
    sampling: &Sampling,
    doublings: u32,
) -> Result<std::collections::BTreeMap<Subpath, Points>, Problem> {
    let mut points = std::collections::BTreeMap::new();
    while !bytes.is_empty() {
        let (entry, size) = entry::<O>(bytes).ok_or_else(|| damaged("an entry of the sample"))?;
        let (length, text) = (
            (entry.1 >> 16) as usize,
            &bytes[8..8 + (entry.1 & 0xffff) as usize],
        );
        let length = sampling
            .lengths
            .get(length)
            .ok_or_else(|| damaged("an entry of the sample"))?;
        let subpath =
            decode(text, length.blocks).ok_or_else(|| damaged("a subpath of the sample"))?;
        let counted = Points::from_list(sampling.list, u64::from(entry.0), doublings);
        if points.insert(subpath, counted).is_some() {
            return Err(damaged("a subpath is there twice"));
        }
        bytes = &bytes[size..];
    }
    points.retain(|_, n| n.counted > 0);
    Ok(points)
}

/// Count and size word of the entry at the front, and how many bytes it takes.
fn entry<O: ByteOrder>(bytes: &[u8]) -> Option<((u32, u32), usize)> {
    let (entry, rest) = Entry::<O>::read_from_prefix(bytes).ok()?;
    let text = ((entry.size.get() & 0xffff) as usize).next_multiple_of(4);
    let size = size_of::<Entry<O>>() + text;
    (text <= rest.len()).then_some(((entry.count.get(), entry.size.get()), size))
}

/// The blocks of a subpath of so many; `None` where the bytes are no such subpath.
pub(crate) fn decode(bytes: &[u8], blocks: u32) -> Option<Subpath> {
    let mut numbers = PackedNumbers(bytes);
    let mut subpath = vec![u32::try_from(numbers.next()??).ok()?];
    while let Some(number) = numbers.next() {
        let number = number?;
        if number & 1 == 1 {
            let (distance, times) = (number / 2 + 1, numbers.next()??);
            if times > u64::from(blocks) {
                return None;
            }
            for _ in 0..times {
                let from = subpath.len().checked_sub(usize::try_from(distance).ok()?)?;
                subpath.push(subpath[from]);
            }
        } else {
            let distance = number / 2;
            let before = i64::from(*subpath.last()?);
            let half = i64::try_from(distance.div_ceil(2)).ok()?;
            let next = if distance % 2 == 0 {
                before + half
            } else {
                before - half
            };
            subpath.push(u32::try_from(next).ok()?);
        }
        if subpath.len() > blocks as usize {
            return None;
        }
    }
    (subpath.len() == blocks as usize).then_some(subpath)
}

/// Numbers of seven bits a byte; `Some(None)` where one is cut off or too large.
struct PackedNumbers<'a>(&'a [u8]);

impl Iterator for PackedNumbers<'_> {
    type Item = Option<u64>;

    fn next(&mut self) -> Option<Option<u64>> {
        if self.0.is_empty() {
            return None;
        }
        let end = self.0.iter().position(|b| b & 128 == 0);
        let Some(end) = end.filter(|&e| e < 9) else {
            self.0 = &[];
            return Some(None);
        };
        let (number, rest) = self.0.split_at(end + 1);
        self.0 = rest;
        let digits = number.iter().rev();
        Some(Some(digits.fold(0, |n, b| n << 7 | u64::from(b & 127))))
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn blocks() {
        // 5, then 7 (2 up), 6 (1 down), 6.
        assert_eq!(decode(&[5, 8, 2, 0], 4), Some(vec![5, 7, 6, 6]));
        // 300, then 364 (64 up: 256 takes two bytes).
        assert_eq!(decode(&[0xac, 2, 0x80, 2], 2), Some(vec![300, 364]));
        // 1 2, repeated from two back, five blocks.
        assert_eq!(decode(&[1, 4, 3, 5], 7), Some(vec![1, 2, 1, 2, 1, 2, 1]));
    }

    #[test]
    fn damaged_files_are_refused() {
        let whole = [1, 4, 3, 5];
        for (bytes, blocks) in [
            (&whole[..3], 7),
            (&whole, 6),
            (&whole, 8),
            (&[], 1),
            (&[0x80], 1),
            (&[1, 5, 1], 2),
            (&[0, 2], 2),
            (&[0xff; 12], 1),
        ] {
            assert_eq!(decode(bytes, blocks), None, "{bytes:?}");
        }
    }
}
