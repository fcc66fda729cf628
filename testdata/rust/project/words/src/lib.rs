//! Words by their length.

/// How many words are of which length.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// At most the limit.
    pub short: usize,
    /// Longer.
    pub long: usize,
}

/// Tells words apart; panics at an empty one.
pub fn lengths<'a>(words: impl Iterator<Item = &'a str>, limit: usize) -> Lengths {
    let mut found = Lengths::default();
    for word in words {
        match word.len() {
            0 => panic!("an empty word"),
            n if n <= limit => found.short += 1,
            _ => found.long += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_limit() {
        let found = lengths("a bcd bcde".split(' '), 3);
        assert_eq!(found, Lengths { short: 2, long: 1 });
    }
}
