use super::*;
use proptest::prelude::*;

const BITS: u32 = 4;

/// A condition of two leaves, by how it is made.
#[derive(Clone, Debug)]
struct Condition {
    compare: u8,
    /// Of each side: `x`, `y`, `x + y`, `x - y`, a constant, and so on; and a constant that is added.
    sides: [(u8, u64); 2],
    wanted: bool,
}

fn any_condition() -> impl Strategy<Value = Condition> {
    let side = || (0u8..8, prop_oneof![Just(0u64), 0u64..16]);
    (0u8..3, [side(), side()], any::<bool>()).prop_map(|(compare, sides, wanted)| Condition {
        compare,
        sides,
        wanted,
    })
}

fn side(terms: &mut Terms, x: Term, y: Term, (form, constant): (u8, u64)) -> Term {
    let added = terms.constant(BITS, constant);
    let base = match form {
        0 | 1 => x,
        2 | 3 => y,
        4 => terms.binary(Binary::Sub, x, y),
        5 => terms.binary(Binary::And, x, y),
        6 => {
            let zero = terms.constant(BITS, 0);
            terms.binary(Binary::Sub, zero, x)
        }
        _ => terms.constant(BITS, 0),
    };
    terms.binary(Binary::Add, base, added)
}

fn condition(terms: &mut Terms, x: Term, y: Term, made: &Condition) -> Term {
    let [a, b] = made.sides.map(|s| side(terms, x, y, s));
    match made.compare {
        0 => terms.equal(a, b),
        1 => terms.below(a, b),
        _ => terms.less(a, b),
    }
}

/// All pairs of values of two leaves.
fn pairs() -> (Vec<u64>, Vec<u64>) {
    let all = 0..=largest(BITS);
    all.clone()
        .flat_map(|x| all.clone().map(move |y| (x, y)))
        .unzip()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// Where conditions are said to contradict each other, no values of the leaves meet all; and what is known of a
    /// leaf is true of all values that do.
    #[test]
    fn contradictions_are_real(
        made in proptest::collection::vec(any_condition(), 1..8),
        wide in any::<bool>(),
    ) {
        let mut terms = Terms::default();
        let (x, y) = (terms.free(BITS, 1), terms.free(BITS, 2));
        let (xs, ys) = pairs();
        let mut meets = vec![true; xs.len()];
        let mut facts = Facts::default();
        let mut found = Ok(());
        for (at, made) in made.iter().enumerate() {
            let mut t = condition(&mut terms, x, y, made);
            if wide {
                let [a, b] = made.sides.map(|s| side(&mut terms, x, y, s));
                let [a, b] = [terms.sign_extend(a, 32), terms.zero_extend(b, 32)];
                t = if made.compare == 1 { terms.below(a, b) } else { terms.less(a, b) };
            }
            let values = terms.values_for(t, &[(x, &xs), (y, &ys)]);
            for (meets, value) in meets.iter_mut().zip(values) {
                *meets &= (value == 1) == made.wanted;
            }
            found = found.and_then(|()| facts.require(&mut terms, t, made.wanted, at as Place));
        }
        let found = found.and_then(|()| facts.check_orders(&terms));
        if found.is_err() {
            prop_assert!(meets.iter().all(|m| !m));
            return Ok(());
        }
        for (i, _) in meets.iter().enumerate().filter(|(_, m)| **m) {
            prop_assert!(facts.values(&terms, x).contains(xs[i]));
            prop_assert!(facts.values(&terms, y).contains(ys[i]));
            prop_assert!(facts.only_value(x).is_none_or(|v| v == xs[i]));
        }
    }
}

/// What a condition and another one of the same leaf say is put together, however many bits it has.
#[test]
fn conditions_on_one_value_exclude_each_other() {
    for bits in [8, 16, 32, 64] {
        let mut terms = Terms::default();
        let x = terms.free(bits, 1);
        let [six, ten] = [6, 10].map(|n| terms.constant(bits, n));
        let (is_six, is_ten) = (terms.equal(x, six), terms.equal(x, ten));
        let mut facts = Facts::default();
        facts.require(&mut terms, is_ten, true, 1).unwrap();
        let clash = facts.require(&mut terms, is_six, true, 4);
        assert_eq!(
            clash,
            Err(Clash {
                earlier: 1,
                later: 4
            }),
            "{bits}"
        );
        // Below 10 and not below 6 leaves four numbers.
        let mut facts = Facts::default();
        let (below_ten, below_six) = (terms.below(x, ten), terms.less(x, six));
        facts.require(&mut terms, below_ten, true, 0).unwrap();
        facts.require(&mut terms, below_six, false, 0).unwrap();
        assert_eq!(facts.values(&terms, x), Set::range(bits, 6..=9), "{bits}");
    }
}
