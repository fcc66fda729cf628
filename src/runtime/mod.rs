//! What rewritten modules, the C runtime and the reader of raw profiles agree on: every constant and every
//! structure once.
//!
//! `runtime-c/core/p3_abi.h`, `runtime-c/core/p3_format.h` and the tables of `docs/RAW_FORMAT.md` are written from
//! these lists, which a test holds (`INSTA_UPDATE=always` writes them again).

pub mod abi;
pub mod format;
pub(crate) mod problem;
pub(crate) mod source;
pub(crate) mod window;

#[cfg(test)]
mod generate;

/// What a field of a structure is, in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `uint8_t`
    U8,
    /// `uint32_t`
    U32,
    /// `uint64_t`
    U64,
    /// A pointer to this type.
    Pointer(&'static str),
}

/// A field of a structure.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in C.
    pub name: &'static str,
    /// Its type, or that of its elements.
    pub ty: Type,
    /// How many elements it has, if it is an array.
    pub elements: Option<u32>,
    /// What it holds.
    pub about: &'static str,
}

impl Field {
    const fn new(name: &'static str, ty: Type, about: &'static str) -> Self {
        let elements = None;
        Field {
            name,
            ty,
            elements,
            about,
        }
    }

    const fn array(name: &'static str, ty: Type, elements: u32, about: &'static str) -> Self {
        let elements = Some(elements);
        Field {
            name,
            ty,
            elements,
            about,
        }
    }
}

/// A structure that C lays out by itself: every field is aligned to its size, and nothing is between two.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    /// Its name in C.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its fields in order.
    pub fields: &'static [Field],
}

impl Struct {
    /// Where a field begins, in bytes. `None` if there is none of this name, or if it comes behind a pointer, whose size
    /// is the target's.
    pub fn offset(&self, name: &str) -> Option<usize> {
        let mut offset = 0;
        for field in self.fields {
            if field.name == name {
                return Some(offset);
            }
            let size = match field.ty {
                Type::U8 => 1,
                Type::U32 => 4,
                Type::U64 => 8,
                Type::Pointer(_) => return None,
            };
            offset += size * field.elements.unwrap_or(1) as usize;
        }
        None
    }
}

/// A constant, of type `uint32_t` if it fits.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Its name in C.
    pub name: &'static str,
    /// What it is.
    pub value: u64,
    /// What it means.
    pub about: &'static str,
}

/// Constants of Rust, and their list for C.
macro_rules! constants {
    ($($(#[doc = $about:literal])+ $name:ident $c:literal: $ty:ty = $value:expr;)+) => {
        $($(#[doc = $about])+ pub const $name: $ty = $value;)+

        /// All constants of this list.
        pub const CONSTANTS: &[$crate::runtime::Constant] = &[$($crate::runtime::Constant {
            name: $c,
            value: $name as u64,
            about: concat!($($about),+),
        }),+];
    };
}
use constants;
