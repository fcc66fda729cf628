//! Sets of dense indices: a bit each.

use super::TiSlice;
use fixedbitset::FixedBitSet;
use std::marker::PhantomData;

/// A set of indices of one kind, of those below a capacity given when it is made: a bit each.
///
/// Memory is a bit for each index below the capacity; membership and change take constant time; iteration is in
/// ascending order, in time of the capacity over the word size and the members.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdSet<I> {
    bits: FixedBitSet,
    of: PhantomData<I>,
}

impl<I> IdSet<I> {
    /// The empty set of indices below `capacity`.
    pub fn with_capacity(capacity: usize) -> Self {
        IdSet {
            bits: FixedBitSet::with_capacity(capacity),
            of: PhantomData,
        }
    }

    /// All indices below `capacity`.
    pub fn with_all(capacity: usize) -> Self {
        let mut set = Self::with_capacity(capacity);
        set.bits.insert_range(..);
        set
    }

    /// What its indices are below.
    pub fn capacity(&self) -> usize {
        self.bits.len()
    }

    /// Whether every index below the capacity is a member.
    pub fn is_full(&self) -> bool {
        self.bits.is_full()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.bits.count_ones(..)
    }

    /// Whether it has no member.
    pub fn is_empty(&self) -> bool {
        self.bits.is_clear()
    }

    /// The members of `other` too.
    pub fn union_with(&mut self, other: &Self) {
        self.bits.union_with(&other.bits);
    }

    /// Without the members of `other`.
    pub fn difference_with(&mut self, other: &Self) {
        self.bits.difference_with(&other.bits);
    }
}

impl<I: From<usize> + Into<usize>> IdSet<I> {
    /// The indices of `images` whose image is a member.
    pub fn inverse_image<J: From<usize> + Into<usize>>(&self, images: &TiSlice<J, I>) -> IdSet<J>
    where
        I: Copy,
    {
        let mut set = IdSet::with_capacity(images.len());
        let inside = images.iter_enumerated().filter(|(_, i)| self.contains(**i));
        set.extend(inside.map(|(j, _)| j));
        set
    }

    /// Whether `i` is a member; no index beyond the capacity is.
    pub fn contains(&self, i: I) -> bool {
        self.bits.contains(i.into())
    }

    /// With `i`.
    ///
    /// # Panics
    /// When `i` is not below the capacity, as all that change a member.
    pub fn insert(&mut self, i: I) {
        self.bits.insert(i.into());
    }

    /// With `i`; whether it was a member before.
    pub fn put(&mut self, i: I) -> bool {
        self.bits.put(i.into())
    }

    /// With `i`, or without.
    pub fn set(&mut self, i: I, member: bool) {
        self.bits.set(i.into(), member);
    }

    /// Without `i`.
    pub fn remove(&mut self, i: I) {
        self.bits.remove(i.into());
    }

    /// Its members, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = I> + '_ {
        self.bits.ones().map(I::from)
    }
}

impl<I: Into<usize>> Extend<I> for IdSet<I> {
    fn extend<T: IntoIterator<Item = I>>(&mut self, members: T) {
        self.bits.extend(members.into_iter().map(Into::into));
    }
}

impl<I: Into<usize>> FromIterator<I> for IdSet<I> {
    fn from_iter<T: IntoIterator<Item = I>>(members: T) -> Self {
        IdSet {
            bits: members.into_iter().map(Into::into).collect(),
            of: PhantomData,
        }
    }
}
