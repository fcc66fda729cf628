use super::*;
use proptest::prelude::*;

/// What is computed of the values before it, which are chosen by numbers.
#[derive(Clone, Debug)]
enum Step {
    Constant(u32, u64),
    Binary(Binary, usize, usize),
    Resize(bool, usize, u32),
    Compare(u8, usize, usize),
    Choose(usize, usize, usize),
    Not(usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    use Binary::*;
    let operators = [
        Add, Sub, Mul, Udiv, Sdiv, Urem, Srem, Shl, Lshr, Ashr, And, Or, Xor,
    ];
    let bits = prop_oneof![Just(1u32), Just(4), Just(8), Just(16), Just(64)];
    let at = || any::<usize>();
    let value = prop_oneof![
        Just(0u64),
        Just(1),
        Just(127),
        Just(255),
        Just(u64::MAX),
        any::<u64>()
    ];
    prop_oneof![
        (bits.clone(), value).prop_map(|(bits, value)| Step::Constant(bits, value)),
        (proptest::sample::select(operators.to_vec()), at(), at())
            .prop_map(|(op, a, b)| Step::Binary(op, a, b)),
        (any::<bool>(), at(), bits).prop_map(|(sign, a, bits)| Step::Resize(sign, a, bits)),
        (0u8..3, at(), at()).prop_map(|(by, a, b)| Step::Compare(by, a, b)),
        (at(), at(), at()).prop_map(|(c, a, b)| Step::Choose(c, a, b)),
        at().prop_map(Step::Not),
    ]
}

/// Each value as a term, and its values for all of the leaf.
struct Both {
    terms: Terms,
    made: Vec<(Term, Vec<u64>)>,
}

impl Both {
    /// The last value of so many bits at or before number `at`.
    fn pick(&self, at: usize, bits: Option<u32>) -> Option<(Term, Vec<u64>)> {
        let fits = |(t, _): &&(Term, Vec<u64>)| bits.is_none_or(|b| self.terms.bits(*t) == b);
        let fitting: Vec<_> = self.made.iter().filter(fits).collect();
        (!fitting.is_empty()).then(|| fitting[at % fitting.len()].clone())
    }

    fn step(&mut self, step: &Step) -> Option<(Term, Vec<u64>)> {
        let zip = |a: &[u64], b: &[u64], f: &dyn Fn(u64, u64) -> u64| -> Vec<u64> {
            a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
        };
        match *step {
            Step::Constant(bits, value) => {
                let t = self.terms.constant(bits, value);
                Some((t, vec![value & largest(bits); 256]))
            }
            Step::Binary(operator, a, b) => {
                let (a, x) = self.pick(a, None)?;
                let bits = self.terms.bits(a);
                let (b, y) = self.pick(b, Some(bits))?;
                use Binary::*;
                let is_defined = match operator {
                    Udiv | Urem => y.iter().all(|y| *y != 0),
                    Sdiv | Srem => y.iter().all(|y| *y != 0 && *y != largest(bits)),
                    Shl | Lshr | Ashr => y.iter().all(|y| *y < u64::from(bits)),
                    _ => true,
                };
                let apply = |x, y| apply(operator, bits, x, y);
                is_defined.then(|| (self.terms.binary(operator, a, b), zip(&x, &y, &apply)))
            }
            Step::Resize(sign, a, to) => {
                let (a, x) = self.pick(a, None)?;
                let from = self.terms.bits(a);
                let resize = |x: u64| match (from < to, sign) {
                    (true, true) => signed(from, x).cast_unsigned() & largest(to),
                    _ => x & largest(to),
                };
                let t = match (from < to, sign) {
                    (false, _) => self.terms.truncate(a, to),
                    (true, true) => self.terms.sign_extend(a, to),
                    (true, false) => self.terms.zero_extend(a, to),
                };
                Some((t, x.into_iter().map(resize).collect()))
            }
            Step::Compare(by, a, b) => {
                let (a, x) = self.pick(a, None)?;
                let bits = self.terms.bits(a);
                let (b, y) = self.pick(b, Some(bits))?;
                let with_sign = |v| signed(bits, v);
                Some(match by {
                    0 => (
                        self.terms.equal(a, b),
                        zip(&x, &y, &|x, y| u64::from(x == y)),
                    ),
                    1 => (
                        self.terms.below(a, b),
                        zip(&x, &y, &|x, y| u64::from(x < y)),
                    ),
                    _ => {
                        let less = |x, y| u64::from(with_sign(x) < with_sign(y));
                        (self.terms.less(a, b), zip(&x, &y, &less))
                    }
                })
            }
            Step::Choose(c, a, b) => {
                let (c, condition) = self.pick(c, Some(1))?;
                let (a, x) = self.pick(a, None)?;
                let (b, y) = self.pick(b, Some(self.terms.bits(a)))?;
                let values = condition
                    .iter()
                    .zip(zip(&x, &y, &|x, _| x).into_iter().zip(y));
                let values = values
                    .map(|(c, (x, y))| if *c == 1 { x } else { y })
                    .collect();
                Some((self.terms.choice(c, a, b), values))
            }
            Step::Not(a) => {
                let (a, x) = self.pick(a, Some(1))?;
                Some((self.terms.not(a), x.into_iter().map(|x| 1 - x).collect()))
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    /// Whatever form a term is brought into, it has the values of what was computed.
    #[test]
    fn terms_have_the_values_of_what_they_stand_for(
        steps in proptest::collection::vec(any_step(), 1..40),
    ) {
        let mut both = Both { terms: Terms::default(), made: Vec::new() };
        let leaf = both.terms.free(8, 7);
        let values: Vec<u64> = (0..256).collect();
        both.made.push((leaf, values.clone()));
        for step in &steps {
            let Some((t, expected)) = both.step(step) else { continue };
            let found = match both.terms.leaves(t) {
                Leaves::None => vec![both.terms.value(t).expect("a constant"); 256],
                _ => both.terms.values_for(t, &[(leaf, &values)]),
            };
            prop_assert_eq!(&found, &expected, "{:?}: {:?}", step, both.terms.node(t));
            both.made.push((t, expected));
        }
    }
}

#[test]
fn equal_sums_are_one_term() {
    let mut terms = Terms::default();
    let (p, i) = (terms.free(64, 1), terms.free(64, 2));
    let [one, four] = [1, 4].map(|n| terms.constant(64, n));
    let next = terms.binary(Binary::Add, i, one);
    let two = terms.constant(64, 2);
    let scaled = terms.binary(Binary::Shl, next, two);
    let a = terms.binary(Binary::Add, p, scaled);
    let scaled = terms.binary(Binary::Mul, i, four);
    let before = terms.binary(Binary::Add, scaled, p);
    let b = terms.binary(Binary::Add, before, four);
    assert_eq!(a, b);
    assert_eq!(terms.equal(a, before), terms.truth(false));
}
