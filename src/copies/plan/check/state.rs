//! What the prefixes of paths that lead to a vertex have in common.

/// What is known of `r` behind all prefixes of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    /// Some of them have not set it.
    Unset,
    /// It is the sum of labels plus this.
    Potential(i64),
    /// All have set it, to values in no such relation.
    Unrelated,
}

/// What all prefixes of a kind have in common that lead to a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PrefixState {
    pub(super) counted: bool,
    pub(super) register: Register,
    /// The least and the greatest sum of labels.
    pub(super) least: u64,
    pub(super) most: u64,
}

impl PrefixState {
    /// A path begins.
    pub(super) const START: PrefixState = PrefixState {
        counted: false,
        register: Register::Unset,
        least: 0,
        most: 0,
    };

    /// Over an edge with this label.
    pub(super) fn after_edge(self, label: u64) -> PrefixState {
        let register = match self.register {
            Register::Potential(p) => Register::Potential(p.wrapping_sub(label as i64)),
            other => other,
        };
        PrefixState {
            register,
            least: self.least + label,
            most: self.most + label,
            ..self
        }
    }

    pub(super) fn set(&mut self, value: i64) {
        self.register = if self.least == self.most {
            Register::Potential(value.wrapping_sub(self.least as i64))
        } else {
            Register::Unrelated
        };
    }

    /// Prefixes that meet. Whether both are counted is for the caller to see.
    fn meet(self, other: PrefixState) -> PrefixState {
        let register = match (self.register, other.register) {
            (a, b) if a == b => a,
            (Register::Unset, _) | (_, Register::Unset) => Register::Unset,
            _ => Register::Unrelated,
        };
        PrefixState {
            counted: self.counted,
            register,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }
}

/// The prefixes that lead to a vertex; `None` where there are none of the kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prefixes {
    pub(super) wanted: Option<PrefixState>,
    pub(super) foreign: Option<PrefixState>,
}

impl Prefixes {
    /// Takes in others; that wanted ones agree on whether they are counted is rule 1.
    pub(super) fn add(&mut self, other: Prefixes) -> Option<()> {
        if let (Some(a), Some(b)) = (self.wanted, other.wanted)
            && a.counted != b.counted
        {
            return None;
        }
        self.wanted = meet(self.wanted, other.wanted);
        self.foreign = meet(self.foreign, other.foreign);
        Some(())
    }
}

pub(super) fn meet(a: Option<PrefixState>, b: Option<PrefixState>) -> Option<PrefixState> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.meet(b)),
        (one, other) => one.or(other),
    }
}
