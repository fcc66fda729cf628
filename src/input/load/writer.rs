//! Which LLVM wrote a module: what the identification block of bitcode says. No LLVM is asked.

/// Who wrote a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Producer {
    /// It does not say: text, a vendor's own numbers, or bitcode without an identification block. Whether a version
    /// of LLVM can read it is found out by reading it.
    Unknown,
    /// This major version of LLVM.
    Llvm(u32),
}

/// Blocks and records of bitcode (`llvm/Bitcode/LLVMBitCodes.h`, `llvm/Bitstream/BitCodeEnums.h`).
const IDENTIFICATION_BLOCK: u64 = 13;
const IDENTIFICATION_STRING: u64 = 1;
const END_BLOCK: u64 = 0;
const ENTER_SUBBLOCK: u64 = 1;
const DEFINE_ABBREV: u64 = 2;
const UNABBREV_RECORD: u64 = 3;
/// No producer has a longer name; what is damaged may say so.
const LONGEST: u64 = 4096;

/// Who wrote bitcode, by its first bytes: a few hundred are enough. `None` if these are not bitcode's.
pub fn writer(bytes: &[u8]) -> Option<Producer> {
    const MAGIC: &[u8] = b"BC\xC0\xDE";
    const WRAPPER: &[u8] = b"\xDE\xC0\x17\x0B";
    if bytes.starts_with(WRAPPER) {
        // Magic, version, offset, size.
        let offset: [u8; 4] = bytes.get(8..12)?.try_into().ok()?;
        let inner = bytes.get(usize::try_from(u32::from_le_bytes(offset)).ok()?..);
        // What is wrong with it is LLVM's to say.
        return Some(inner.and_then(writer).unwrap_or(Producer::Unknown));
    }
    let stream = bytes.strip_prefix(MAGIC)?;
    let major = producer(stream).and_then(|p| major(&p));
    Some(major.map_or(Producer::Unknown, Producer::Llvm))
}

/// The version in a producer's name, such as `LLVM19.1.7` or `LLVM22.1.2-rust-1.95.0-stable`. Vendors that number
/// otherwise (`APPLE_1_…`) say nothing of LLVM.
fn major(producer: &str) -> Option<u32> {
    let rest = producer.strip_prefix("LLVM")?;
    let end = rest.find(|c: char| !c.is_ascii_digit());
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

/// Whether an operand of an abbreviation is read from the stream, and how.
#[derive(Clone, Copy)]
enum AbbreviationOperand {
    Literal(u64),
    Fixed(u64),
    Vbr(u64),
    Array,
    Char6,
    Blob,
}

/// The string of the identification block, which comes first.
fn producer(stream: &[u8]) -> Option<String> {
    let mut bits = Bits {
        bytes: stream,
        at: 0,
    };
    if (bits.read_fixed(2)?, bits.vbr(8)?) != (ENTER_SUBBLOCK, IDENTIFICATION_BLOCK) {
        return None;
    }
    let width = bits.vbr(4)?;
    bits.align();
    bits.read_fixed(32)?;
    let mut abbreviations: Vec<Vec<AbbreviationOperand>> = Vec::new();
    loop {
        let record = match bits.read_fixed(width)? {
            END_BLOCK | ENTER_SUBBLOCK => return None,
            DEFINE_ABBREV => {
                abbreviations.push(bits.abbreviation()?);
                continue;
            }
            UNABBREV_RECORD => bits.plain_record()?,
            id => {
                let which = usize::try_from(id - UNABBREV_RECORD - 1).ok()?;
                bits.read_record(abbreviations.get(which)?)?
            }
        };
        if let [IDENTIFICATION_STRING, text @ ..] = &record[..] {
            let text = text.iter().map(|c| u8::try_from(*c).ok());
            return String::from_utf8(text.collect::<Option<_>>()?).ok();
        }
    }
}

/// A stream of bits, the lowest of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// A number of `width` bits, 64 at most.
    fn read_fixed(&mut self, width: u64) -> Option<u64> {
        let mut value = 0;
        if width > 64 {
            return None;
        }
        for i in 0..width {
            let byte = *self.bytes.get(self.at / 8)?;
            value |= u64::from(byte >> (self.at % 8) & 1) << i;
            self.at += 1;
        }
        Some(value)
    }

    /// A number in chunks of `width` bits, of which the highest says whether another follows.
    fn vbr(&mut self, width: u64) -> Option<u64> {
        let (mut value, mut shift) = (0, 0);
        if !(2..=32).contains(&width) {
            return None;
        }
        loop {
            let chunk = self.read_fixed(width)?;
            let more = 1 << (width - 1);
            value |= (chunk & (more - 1)).checked_shl(shift)?;
            if chunk & more == 0 {
                return Some(value);
            }
            shift += u32::try_from(width).ok()? - 1;
        }
    }

    /// To the next word: streams are sequences of words behind the magic number, which is one itself.
    fn align(&mut self) {
        self.at = self.at.next_multiple_of(32);
    }

    fn abbreviation(&mut self) -> Option<Vec<AbbreviationOperand>> {
        let count = self.vbr(5)?;
        let mut operands = Vec::new();
        while (operands.len() as u64) < count {
            operands.push(match self.read_fixed(1)? {
                1 => AbbreviationOperand::Literal(self.vbr(8)?),
                _ => match self.read_fixed(3)? {
                    1 => AbbreviationOperand::Fixed(self.vbr(5)?),
                    2 => AbbreviationOperand::Vbr(self.vbr(5)?),
                    3 => AbbreviationOperand::Array,
                    4 => AbbreviationOperand::Char6,
                    5 => AbbreviationOperand::Blob,
                    _ => return None,
                },
            });
        }
        Some(operands)
    }

    fn plain_record(&mut self) -> Option<Vec<u64>> {
        let code = self.vbr(6)?;
        let length = self.vbr(6).filter(|n| *n <= LONGEST)?;
        let mut record = vec![code];
        for _ in 0..length {
            record.push(self.vbr(6)?);
        }
        Some(record)
    }

    fn read_record(&mut self, operands: &[AbbreviationOperand]) -> Option<Vec<u64>> {
        let mut record = Vec::new();
        for (i, operand) in operands.iter().enumerate() {
            match operand {
                AbbreviationOperand::Array => {
                    let element = *operands.get(i + 1)?;
                    let length = self.vbr(6).filter(|n| *n <= LONGEST)?;
                    for _ in 0..length {
                        record.push(self.scalar(element)?);
                    }
                    return Some(record);
                }
                scalar => record.push(self.scalar(*scalar)?),
            }
        }
        Some(record)
    }

    fn scalar(&mut self, operand: AbbreviationOperand) -> Option<u64> {
        const CHAR6: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
        match operand {
            AbbreviationOperand::Literal(value) => Some(value),
            AbbreviationOperand::Fixed(width) => self.read_fixed(width),
            AbbreviationOperand::Vbr(width) => self.vbr(width),
            AbbreviationOperand::Char6 => {
                Some(CHAR6[usize::try_from(self.read_fixed(6)?).ok()?].into())
            }
            // No identification block has arrays of arrays, or blobs.
            AbbreviationOperand::Array | AbbreviationOperand::Blob => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first bytes of a module of clang 19: an abbreviated string.
    const CLANG_19: &[u8] = include_bytes!("../../../testdata/writers/clang-19.bc");
    /// The first bytes of a module of rustc 1.95, whose name has characters for which there is no abbreviation.
    const RUSTC_1_95: &[u8] = include_bytes!("../../../testdata/writers/rustc-1.95.bc");

    #[test]
    fn writers_are_named_by_the_identification_block() {
        assert_eq!(writer(CLANG_19), Some(Producer::Llvm(19)));
        assert_eq!(writer(RUSTC_1_95), Some(Producer::Llvm(22)));
        // Magic, version, offset, size and processor; the module behind it.
        let mut wrapped = b"\xDE\xC0\x17\x0B".to_vec();
        for word in [0, 20, CLANG_19.len() as u32, 7] {
            wrapped.extend(word.to_le_bytes());
        }
        wrapped.extend(CLANG_19);
        assert_eq!(writer(&wrapped), Some(Producer::Llvm(19)));
        assert_eq!(writer(b"; ModuleID = 'a'\n"), None);
        assert_eq!(writer(b"\x7fELF"), None);
        assert_eq!(writer(b""), None);
    }

    #[test]
    fn producers_without_a_version_of_llvm_are_unknown() {
        assert_eq!(major("LLVM19.1.7"), Some(19));
        assert_eq!(major("LLVM22.1.2-rust-1.95.0-stable"), Some(22));
        assert_eq!(major("LLVM23.0.0git"), Some(23));
        for other in ["APPLE_1_1500.3.9.4_0", "LLVM", "", "19.1.7"] {
            assert_eq!(major(other), None, "{other}");
        }
    }

    #[test]
    fn writer_of_damaged_bitcode_is_unknown_or_any() {
        for end in 4..CLANG_19.len() {
            assert!(writer(&CLANG_19[..end]).is_some());
        }
        for bit in 32..8 * CLANG_19.len() {
            let mut bytes = CLANG_19.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(writer(&bytes).is_some());
        }
    }
}
