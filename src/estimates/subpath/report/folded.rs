//! Lists for people, with repetitions folded: `a (b c)×3 d`.

/// What a list consists of.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a, T> {
    /// Items in order, once.
    Once(&'a [T]),
    /// The items, so often one after the other.
    Times(&'a [T], usize),
}

/// At most this many items are looked at as one repetition.
const LONGEST: usize = 64;

/// Folds immediate repetitions, from the left, at each place that which covers most. O(n · `LONGEST`).
pub fn fold<T: PartialEq>(items: &[T]) -> Vec<Piece<'_, T>> {
    let mut pieces = Vec::new();
    let (mut at, mut plain) = (0, 0);
    while at < items.len() {
        let best = (1..=LONGEST.min((items.len() - at) / 2))
            .map(|n| (n, times(&items[at..], n)))
            .filter(|&(_, times)| times > 1)
            .max_by_key(|&(n, times)| (n * times, std::cmp::Reverse(n)));
        let Some((n, times)) = best else {
            at += 1;
            continue;
        };
        if plain < at {
            pieces.push(Piece::Once(&items[plain..at]));
        }
        pieces.push(Piece::Times(&items[at..at + n], times));
        at += n * times;
        plain = at;
    }
    if plain < items.len() {
        pieces.push(Piece::Once(&items[plain..]));
    }
    pieces
}

/// How often the first `n` items stand one after the other.
fn times<T: PartialEq>(items: &[T], n: usize) -> usize {
    let mut chunks = items.chunks_exact(n);
    let first = chunks.next().expect("there are more");
    1 + chunks.take_while(|c| *c == first).count()
}

#[cfg(test)]
mod tests {
    use super::Piece::{Once, Times};
    use super::*;

    #[test]
    fn repetitions() {
        assert_eq!(fold(b"abc"), [Once(b"abc")]);
        assert_eq!(
            fold(b"xababaybb"),
            [Once(b"x"), Times(b"ab", 2), Once(b"ay"), Times(b"b", 2)]
        );
        assert_eq!(fold(b"aaaa"), [Times(b"a", 4)]);
        assert_eq!(fold::<u8>(b""), []);
    }
}
