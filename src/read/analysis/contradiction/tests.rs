use super::*;
use proptest::prelude::*;

const PREDICATES: [Predicate; 10] = [
    Predicate::Eq,
    Predicate::Ne,
    Predicate::Slt,
    Predicate::Sle,
    Predicate::Sgt,
    Predicate::Sge,
    Predicate::Ult,
    Predicate::Ule,
    Predicate::Ugt,
    Predicate::Uge,
];
const BITS: u32 = 3;

/// What `icmp` says, by the definition of LLVM's reference.
fn holds_by_definition(predicate: Predicate, a: u64, b: u64) -> bool {
    let signed = |v: u64| if v >= 4 { v as i64 - 8 } else { v as i64 };
    let (s, t) = (signed(a), signed(b));
    match predicate {
        Predicate::Eq => a == b,
        Predicate::Ne => a != b,
        Predicate::Slt => s < t,
        Predicate::Sle => s <= t,
        Predicate::Sgt => s > t,
        Predicate::Sge => s >= t,
        Predicate::Ult => a < b,
        Predicate::Ule => a <= b,
        Predicate::Ugt => a > b,
        Predicate::Uge => a >= b,
    }
}

#[test]
fn sets_are_those_of_the_predicates() {
    for predicate in PREDICATES {
        for c in 0..8 {
            let set = Set::numbers_in_relation(predicate, c, BITS);
            for v in 0..8 {
                let inside = set.0.iter().any(|(from, to)| (*from..=*to).contains(&v));
                assert_eq!(
                    inside,
                    holds_by_definition(predicate, v, c),
                    "{v} {predicate:?} {c}"
                );
                assert_eq!(
                    holds_by_definition(predicate.inverse(), v, c),
                    !holds_by_definition(predicate, v, c)
                );
                assert_eq!(
                    holds_by_definition(swap(predicate), c, v),
                    holds_by_definition(predicate, v, c)
                );
            }
        }
    }
}

/// A comparison of value `left` of three with another one or a constant, and its outcome.
type Asked = (u32, usize, Option<u32>, u64, bool);

fn choice((left, predicate, right, constant, _): Asked) -> Choice {
    let variable = |number| Variable {
        number,
        stores: Vec::new(),
        constants: Vec::new(),
    };
    // As LLVM prints it: with a sign.
    let signed = if constant >= 4 {
        constant as i64 - 8
    } else {
        constant as i64
    };
    Choice {
        compared: Some(Compared {
            left: variable(left),
            predicate: Some(PREDICATES[predicate]),
            right: Some(match right {
                Some(number) => Operand::Variable(variable(number)),
                None => Operand::Constant(signed.to_string()),
            }),
            bits: BITS,
        }),
        ..Choice::default()
    }
}

proptest! {
    /// Whatever some values of three bits answer is never called a contradiction; and of one value and constants,
    /// whatever none answers always is.
    #[test]
    fn outcomes_that_some_input_has_agree(
        asked in proptest::collection::vec(
            (0u32..3, 0usize..10, proptest::option::of(0u32..3), 0u64..8, any::<bool>()), 1..7
        ),
    ) {
        let choices: Vec<Choice> = asked.iter().map(|a| choice(*a)).collect();
        let mut known = KnownValues::default();
        let agrees = asked.iter().zip(&choices).all(|(a, c)| known.learn_outcome(c, u32::from(!a.4)));
        let answers = |values: [u64; 3]| {
            asked.iter().all(|&(left, predicate, right, constant, outcome)| {
                let right = right.map_or(constant, |r| values[r as usize]);
                holds_by_definition(PREDICATES[predicate], values[left as usize], right) == outcome
            })
        };
        let all = (0..512u64).map(|n| [n & 7, n >> 3 & 7, n >> 6]);
        let possible = all.into_iter().any(answers);
        prop_assert!(agrees || !possible);
        if asked.iter().all(|a| a.2.is_none()) {
            prop_assert_eq!(agrees, possible);
        }
    }
}

/// A store between two questions makes them two.
#[test]
fn stores_are_forgotten() {
    let mut first = choice((0, 0, None, 1, true));
    let stores = first.compared.as_mut().map(|c| &mut c.left.stores);
    stores.unwrap().push(7);
    let second = choice((0, 0, None, 2, true));
    let mut known = KnownValues::default();
    assert!(known.learn_outcome(&first, 0));
    known.forget_stores(BlockId(6));
    assert!(!known.learn_outcome(&second, 0));
    let mut known = KnownValues::default();
    assert!(known.learn_outcome(&first, 0));
    known.forget_stores(BlockId(7));
    assert!(known.learn_outcome(&second, 0));
}

/// Following what paths have in common once counts what looking at each path by itself finds.
#[test]
fn count_is_that_of_paths_looked_at_one_by_one() {
    let profile = crate::profile::tests::views::profile();
    for f in profile.functions() {
        let structure = profile.structure(f).unwrap();
        let paths = &structure.paths;
        if profile.entry(f).status.is_skipped() || paths.numbering.total() > MOST_PATHS {
            continue;
        }
        let contradictions = Contradictions::new(profile.entry(f));
        let wanted = |id: PathId| !id.0.is_multiple_of(3);
        let mut expected = Impossible::default();
        for id in paths.ids().filter(|id| wanted(*id)) {
            if let Some(block) = contradictions.find_in(paths, id) {
                expected.all += 1;
                expected.by_source += u64::from(!profile.entry(f).is_generated(block));
            }
        }
        let count_wanted = |ids: Range<u64>| ids.filter(|id| wanted(PathId(*id))).count() as u64;
        assert_eq!(contradictions.count(paths, count_wanted), expected);
    }
}
