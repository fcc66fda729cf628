//! Names of values: variables, what pointers point to, what calls return.

use super::{APART, FIRST_OBJECT};
use crate::base::names::readable_name;
use crate::possible::Question;
use crate::possible::code::{Code, Local};
use crate::possible::example::{Setting, When};
use crate::possible::memory::Memory;
use crate::possible::run::trace::{Call, Origin, Trace};
use crate::possible::set::largest;
use crate::possible::term::{Node, Term, Terms};
use crate::possible::types::{Named, Type, TypeId, print_string};
use rustc_hash::FxHashMap;

/// A string has so many characters at most: of others, single characters are told.
const LONGEST_STRING: u64 = 48;
/// Places are told through so many pointers.
const DEEPEST: u32 = 4;

/// How the value of a leaf is told.
pub(super) enum Described {
    /// As these.
    Settings(Vec<Setting>),
    /// As a character of a string: the string's name, which one, and what it is.
    Byte(String, u64, u8),
}

/// A place in memory.
struct Place {
    name: String,
    ty: TypeId,
    /// Of a character of a string: the string, and which one it is.
    of_string: Option<(String, u64)>,
}

/// Tells values by their names.
pub(super) struct Describer<'a> {
    code: &'a Code,
    question: &'a Question,
    pub(super) terms: &'a Terms,
    trace: &'a Trace,
    values: &'a FxHashMap<Term, u64>,
}

impl<'a> Describer<'a> {
    pub(super) fn new(
        code: &'a Code,
        question: &'a Question,
        terms: &'a Terms,
        trace: &'a Trace,
        values: &'a FxHashMap<Term, u64>,
    ) -> Describer<'a> {
        Describer {
            code,
            question,
            terms,
            trace,
            values,
        }
    }

    /// The value of a term.
    pub(super) fn value(&self, t: Term) -> u64 {
        let parts = self.terms.parts_of(&[t]);
        self.terms.values_under(&parts, self.values)[&t]
    }

    /// The types of leaves that are no addresses; 0: unknown.
    pub(super) fn types_of_leaves(&mut self, leaves: &[Term]) -> Vec<(Term, TypeId)> {
        let plain = leaves
            .iter()
            .filter(|t| !self.trace.addresses.contains(t) && !Memory::is_object(self.terms, **t));
        plain.map(|t| (*t, self.type_of(*t))).collect()
    }

    fn type_of(&self, leaf: Term) -> TypeId {
        match self.trace.origins.get(&leaf) {
            Some(Origin::Value(local)) => {
                let named = self.find_name(*local).filter(|n| !n.is_address);
                named.map_or(0, |n| n.ty)
            }
            Some(Origin::Memory { address, size, .. }) => {
                self.place(*address, *size, DEEPEST).map_or(0, |p| p.ty)
            }
            _ => 0,
        }
    }

    fn find_name(&self, local: Local) -> Option<&'a Named> {
        let function = &self.code.functions[self.question.function];
        function.names.get(&local)
    }

    /// The address through which a leaf was read, if it is a value itself.
    pub(super) fn base_of(&self, leaf: Term) -> Option<Term> {
        match self.trace.origins.get(&leaf)? {
            Origin::Memory { address, .. } => self.base(*address),
            _ => None,
        }
    }

    /// The address that another is computed from.
    fn base(&self, address: Term) -> Option<Term> {
        let (items, _) = self.terms.summands(address);
        let is_base =
            |t: Term| self.trace.addresses.contains(&t) || Memory::is_object(self.terms, t);
        let mut bases = items.into_iter().filter(|(t, f)| *f == 1 && is_base(*t));
        let base = bases.next()?.0;
        bases.next().is_none().then_some(base)
    }

    /// How a value is told.
    pub(super) fn describe(&self, leaf: Term) -> Option<Described> {
        let (bits, value) = (self.terms.bits(leaf), self.value(leaf));
        match self.trace.origins.get(&leaf)? {
            Origin::Value(local) => self.parameter(*local, bits, value).map(Described::Settings),
            Origin::Memory {
                address,
                size,
                after,
            } => {
                let place = self.place(*address, *size, DEEPEST)?;
                if let (None, Some((name, index))) = (after, &place.of_string)
                    && *index < LONGEST_STRING
                {
                    return Some(Described::Byte(name.clone(), *index, value as u8));
                }
                let value = self.code.types.print(place.ty, bits, value);
                let setting = self.setting_of(after.as_ref(), place.name, Some(value))?;
                Some(Described::Settings(vec![setting]))
            }
            Origin::Returned(_) => {
                let value = self.code.types.print(0, bits, value);
                let setting = self.setting(leaf, Some(value))?;
                Some(Described::Settings(vec![setting]))
            }
        }
    }

    /// A leaf with a value that is already text.
    pub(super) fn setting(&self, leaf: Term, value: Option<String>) -> Option<Setting> {
        match self.trace.origins.get(&leaf)? {
            Origin::Value(local) => {
                let named = self
                    .find_name(*local)
                    .filter(|n| !n.is_address && n.offset == 0)?;
                self.setting_of(None, named.name.clone(), value)
            }
            Origin::Memory {
                address,
                size,
                after,
            } => {
                let place = self.place(*address, *size, DEEPEST)?;
                self.setting_of(after.as_ref(), place.name, value)
            }
            Origin::Returned(call) => Some(Setting {
                when: When::Returned(call.number),
                name: call_name(call)?,
                value,
            }),
        }
    }

    fn setting_of(
        &self,
        after: Option<&Call>,
        name: String,
        value: Option<String>,
    ) -> Option<Setting> {
        let when = match after {
            None => When::Start,
            Some(call) => When::After(call_name(call)?),
        };
        Some(Setting { when, name, value })
    }

    /// A parameter, or a value from before a loop: a struct that is passed in a register has several.
    fn parameter(&self, local: Local, bits: u32, value: u64) -> Option<Vec<Setting>> {
        let named = self.find_name(local).filter(|n| !n.is_address)?;
        let types = &self.code.types;
        let setting = |path: &str, value: String| Setting {
            when: When::Start,
            name: format!("{}{path}", named.name),
            value: Some(value),
        };
        let is_whole = !matches!(
            types.get(named.ty),
            Type::Record { .. } | Type::Array { .. }
        );
        if is_whole {
            let told = types.print(named.ty, bits, value);
            return (named.offset == 0).then(|| vec![setting("", told)]);
        }
        let end = named.offset + u64::from(bits / 8).max(1);
        let parts = types.parts(named.ty, named.offset, end);
        let told = parts.iter().map(|(path, offset, ty)| {
            let bits = types.bytes(*ty) as u32 * 8;
            let own = value >> (8 * (offset - named.offset)) & largest(bits);
            setting(path, types.print(*ty, bits, own))
        });
        let told: Vec<Setting> = told.collect();
        (!told.is_empty()).then_some(told)
    }

    /// What the source calls a place in memory.
    fn place(&self, address: Term, size: u64, deep: u32) -> Option<Place> {
        let base = self.base(address).filter(|_| deep > 0)?;
        let offset = self.value(address).wrapping_sub(self.value(base));
        let types = &self.code.types;
        let object = |named: &Named| {
            let (path, ty) = if named.ty == 0 && offset == 0 {
                (String::new(), 0)
            } else {
                types.select(named.ty, offset, size)?
            };
            Some(Place {
                name: format!("{}{path}", named.name),
                ty,
                of_string: None,
            })
        };
        let (pointer, ty) = match (self.terms.node(base), self.trace.origins.get(&base)) {
            (Node::Symbol(symbol), _) => {
                return object(self.code.symbols[*symbol as usize].name.as_ref()?);
            }
            // Of the path's own function.
            (Node::Room(number), _) if number >> 24 == 1 => {
                let named = self.find_name((number & 0xff_ffff) as Local)?;
                return object(named).filter(|_| named.is_address);
            }
            (_, Some(Origin::Value(local))) => {
                let named = self.find_name(*local)?;
                if named.is_address {
                    return object(named);
                }
                if named.offset != 0 {
                    return None;
                }
                (named.name.clone(), named.ty)
            }
            (_, Some(Origin::Memory { address, size, .. })) => {
                let place = self.place(*address, *size, deep - 1)?;
                (place.name, place.ty)
            }
            _ => return None,
        };
        let Type::Pointer(to) = *types.get(ty) else {
            return None;
        };
        self.pointee(&pointer, to, offset, size)
    }

    /// What the source calls bytes that a pointer points to.
    fn pointee(&self, pointer: &str, to: TypeId, offset: u64, size: u64) -> Option<Place> {
        let types = &self.code.types;
        let bytes = types.bytes(to);
        if bytes == 0 || offset >= 1 << 16 {
            return None;
        }
        let (path, ty) = types.select(to, offset % bytes, size)?;
        let index = offset / bytes;
        let is_character = matches!(types.get(to), Type::Character { .. });
        let name = match (index, path.strip_prefix('.')) {
            (0, Some(field)) => format!("{pointer}->{field}"),
            (0, None) if path.is_empty() && !is_character => format!("*{pointer}"),
            _ => format!("{pointer}[{index}]{path}"),
        };
        Some(Place {
            name,
            ty,
            of_string: is_character.then(|| (pointer.to_string(), index)),
        })
    }

    /// Of an address that points to what another does, that one, as `name + elements`.
    pub(super) fn alias(&self, leaf: Term, addresses: &[Term]) -> Option<String> {
        let value = self.value(leaf);
        let number = value.checked_sub(FIRST_OBJECT)? / APART;
        let other = *addresses
            .get(number as usize)
            .filter(|other| **other != leaf)?;
        let setting = self.setting(other, None)?;
        let bytes = value
            .checked_sub(self.value(other))
            .filter(|bytes| *bytes < APART)?;
        let size = match *self.code.types.get(self.type_of_address(other)) {
            Type::Pointer(to) => self.code.types.bytes(to).max(1),
            _ => 1,
        };
        Some(match bytes / size {
            0 => setting.name,
            elements => format!("{} + {elements}", setting.name),
        })
    }

    fn type_of_address(&self, leaf: Term) -> TypeId {
        self.type_of(leaf)
    }
}

fn call_name(call: &Call) -> Option<String> {
    let name = readable_name(call.name.as_ref()?).into_owned();
    let has_parameters = name.contains('(');
    Some(if has_parameters {
        name
    } else {
        format!("{name}()")
    })
}

/// Some characters of a string; others are any.
pub(super) fn string(known: &[(u64, u8)]) -> String {
    let length = known.iter().map(|(index, _)| index + 1).max().unwrap_or(0);
    let mut bytes = vec![b'a'; length as usize];
    for (index, byte) in known {
        bytes[*index as usize] = *byte;
    }
    print_string(&bytes)
}
