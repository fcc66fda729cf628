//! Types and names of the source, as debug information says: how values are printed, and what memory is called.

use super::set::signed;

/// A type, in [`Types`].
pub type TypeId = usize;

/// All types; the first one is unknown.
#[derive(Clone, Debug)]
pub struct Types(Vec<Type>);

impl Default for Types {
    fn default() -> Types {
        Types(vec![Type::Unknown])
    }
}

/// What the source calls a value or variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The variable.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// The value is the part of the variable that begins so many bytes behind its start.
    pub offset: u64,
    /// Whether the value is not the variable's, but its address.
    pub is_address: bool,
}

/// A type of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// One of which nothing is known.
    Unknown,
    /// An integer.
    Integer {
        /// Its size.
        bytes: u64,
        /// Whether it may be negative.
        is_signed: bool,
    },
    /// A character of one byte.
    Character {
        /// Whether it may be negative.
        is_signed: bool,
    },
    /// A truth value of one byte.
    Truth,
    /// An enumeration.
    Enumeration {
        /// Its size.
        bytes: u64,
        /// Its enumerators.
        names: Vec<(String, i64)>,
    },
    /// A pointer or reference.
    Pointer(TypeId),
    /// A struct, class or union.
    Record {
        /// Its size.
        bytes: u64,
        /// Its fields.
        fields: Vec<Field>,
    },
    /// An array.
    Array {
        /// Its size.
        bytes: u64,
        /// Of what.
        element: TypeId,
    },
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name; empty for a base class, or an unnamed struct.
    pub name: String,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Its type.
    pub ty: TypeId,
}

impl Types {
    /// Adds a type.
    pub fn add(&mut self, ty: Type) -> TypeId {
        self.0.push(ty);
        self.0.len() - 1
    }

    /// Says what a type is that was added before it was known.
    pub fn set(&mut self, id: TypeId, ty: Type) {
        self.0[id] = ty;
    }

    /// A type.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.0[id]
    }

    /// The size of a value in bytes; 0: unknown.
    pub(super) fn bytes(&self, id: TypeId) -> u64 {
        match self.get(id) {
            Type::Unknown => 0,
            Type::Character { .. } | Type::Truth => 1,
            Type::Pointer(_) => 8,
            Type::Integer { bytes, .. }
            | Type::Enumeration { bytes, .. }
            | Type::Record { bytes, .. }
            | Type::Array { bytes, .. } => *bytes,
        }
    }

    /// The part of a value at an offset that has so many bytes and no parts itself: how the source selects it (`.x`,
    /// `[2].y`), and its type. O(depth · fields).
    pub(super) fn select(&self, id: TypeId, offset: u64, bytes: u64) -> Option<(String, TypeId)> {
        match self.get(id) {
            Type::Unknown => None,
            Type::Record { fields, .. } => fields.iter().find_map(|field| {
                let inside = offset.checked_sub(field.offset)?;
                let (rest, ty) = self.select(field.ty, inside, bytes)?;
                let dot = if field.name.is_empty() { "" } else { "." };
                Some((format!("{dot}{}{rest}", field.name), ty))
            }),
            Type::Array {
                bytes: all,
                element,
            } => {
                let size = self.bytes(*element);
                if size == 0 || offset >= *all {
                    return None;
                }
                let (rest, ty) = self.select(*element, offset % size, bytes)?;
                Some((format!("[{}]{rest}", offset / size), ty))
            }
            _ => (offset == 0 && bytes == self.bytes(id)).then(|| (String::new(), id)),
        }
    }

    /// All parts of a value that have no parts themselves and lie in a range of it: how the source selects them, where
    /// they begin, and their types. O(parts).
    pub(super) fn parts(&self, id: TypeId, from: u64, to: u64) -> Vec<(String, u64, TypeId)> {
        let mut found = Vec::new();
        self.add_parts(id, (from, to), 0, "", &mut found);
        found
    }

    fn add_parts(
        &self,
        id: TypeId,
        range: (u64, u64),
        offset: u64,
        before: &str,
        found: &mut Vec<(String, u64, TypeId)>,
    ) {
        match self.get(id) {
            Type::Unknown => {}
            Type::Record { fields, .. } => {
                for field in fields {
                    let dot = if field.name.is_empty() { "" } else { "." };
                    let name = format!("{before}{dot}{}", field.name);
                    self.add_parts(field.ty, range, offset + field.offset, &name, found);
                }
            }
            Type::Array { bytes, element } => {
                let size = self.bytes(*element);
                for i in 0..bytes.checked_div(size).unwrap_or(0).min(64) {
                    let name = format!("{before}[{i}]");
                    self.add_parts(*element, range, offset + i * size, &name, found);
                }
            }
            _ if range.0 <= offset && offset + self.bytes(id) <= range.1 => {
                found.push((before.to_string(), offset, id));
            }
            _ => {}
        }
    }

    /// A value of so many bits as the source writes it.
    pub(super) fn print(&self, id: TypeId, bits: u32, value: u64) -> String {
        match self.get(id) {
            Type::Character { is_signed } => print_character(value, *is_signed),
            Type::Truth if value <= 1 => ["false", "true"][value as usize].into(),
            Type::Enumeration { names, .. } => {
                let number = signed(bits, value);
                let is_named = |(_, n): &&(String, i64)| signed(bits, n.cast_unsigned()) == number;
                let named = names.iter().find(is_named);
                named.map_or_else(|| number.to_string(), |(name, _)| name.clone())
            }
            Type::Integer {
                is_signed: false, ..
            }
            | Type::Truth => value.to_string(),
            Type::Pointer(_) if value == 0 => "NULL".into(),
            _ => signed(bits, value).to_string(),
        }
    }
}

fn print_character(value: u64, is_signed: bool) -> String {
    match value {
        0 => "'\\0'".into(),
        10 => "'\\n'".into(),
        9 => "'\\t'".into(),
        13 => "'\\r'".into(),
        39 => "'\\''".into(),
        92 => "'\\\\'".into(),
        32..=126 => format!("'{}'", value as u8 as char),
        _ if is_signed => signed(8, value).to_string(),
        _ => value.to_string(),
    }
}

/// Bytes as a string of C, without those 0 at its end.
pub(super) fn print_string(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .rposition(|b| *b != 0)
        .map_or(0, |last| last + 1);
    let mut text = String::from("\"");
    for byte in &bytes[..end] {
        match byte {
            b'"' => text += "\\\"",
            b'\\' => text += "\\\\",
            b'\n' => text += "\\n",
            b'\t' => text += "\\t",
            b'\r' => text += "\\r",
            32..=126 => text.push(*byte as char),
            // Three digits: what follows may be a digit.
            _ => text += &format!("\\{byte:03o}"),
        }
    }
    text + "\""
}
