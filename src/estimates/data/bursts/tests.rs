use super::*;
use crate::base::index::FuncId;

/// Bursts with counts of two paths each, of a millisecond.
fn bursts(counts: &[(u64, u64)]) -> (Bursts, InBursts) {
    timed_bursts(counts.iter().map(|&(a, b)| (a, b, 1_000_000)))
}

/// Bursts with counts of two paths each, and the nanoseconds that the program takes for each.
fn timed_bursts(counts: impl IntoIterator<Item = (u64, u64, u64)>) -> (Bursts, InBursts) {
    let (mut all, mut first) = (Bursts::empty(1), InBursts::default());
    for (a, b, native) in counts {
        all.native += native;
        count(&mut all, &mut first, [a, a + b], 1e9 / native as f64);
    }
    (all, first)
}

/// A burst in which the path ran `n[0]` times and all together `n[1]` times, and which stands for `times` as much.
fn count(all: &mut Bursts, path: &mut InBursts, n: [u64; 2], times: f64) {
    let executions = n[1] as f64 * times;
    all.counting += 1;
    all.paths += n[1];
    all.executions += executions;
    all.squares += executions.powi(2);
    *path = path
        .plus(InBursts::from_one_burst(n[0], n[1], times))
        .unwrap();
}

/// The half width against the definition: residuals of each burst from the common ratio.
#[test]
fn clusters() {
    let counts = [(30, 70), (10, 90), (55, 45), (0, 40), (100, 160)];
    let (all, path) = bursts(&counts);
    let share = all.share(path);
    let (sum, paths) = (195.0, 600.0);
    assert!((share.count - sum / paths).abs() < 1e-12);
    let residual = |&(a, b): &(u64, u64)| (a as f64 - share.count * (a + b) as f64).powi(2);
    let squares = counts.iter().map(|&(a, b)| ((a + b) as f64).powi(2));
    let n = paths * paths / squares.sum::<f64>();
    // One more, of as many paths as so many equal ones would have, without that one.
    let unseen = (share.count * paths / n).powi(2);
    let residuals = counts.iter().map(residual).sum::<f64>() + unseen;
    let variance = residuals * n / (n - 1.0) / (paths * paths);
    let expected = student95(n - 1.0) * variance.sqrt();
    assert!(
        (share.half_width / expected - 1.0).abs() < 1e-9,
        "{share:?}"
    );
}

#[test]
fn one_burst_says_nothing_of_its_error() {
    let (all, path) = bursts(&[(3, 1)]);
    let share = all.share(path);
    assert_eq!((share.count, share.half_width), (0.75, 1.0));
    assert_eq!(Bursts::empty(0).share(InBursts::default()).half_width, 1.0);
}

/// What is left of equal ones is what none of them may have seen.
#[test]
fn equal_bursts_leave_little_doubt() {
    let of = |n: usize| {
        let (all, path) = bursts(&vec![(1, 3); n]);
        all.share(path).half_width
    };
    let expected = 2.262 * 0.25 / 10.0 * (10.0f64 / 9.0).sqrt();
    assert!((of(10) / expected - 1.0).abs() < 0.002, "{}", of(10));
    assert!(of(1000) < 0.0005, "{}", of(1000));
}

/// Tables of Student's distribution.
#[test]
fn quantiles() {
    let known = [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (5, 2.571),
        (10, 2.228),
        (30, 2.042),
        (120, 1.980),
    ];
    for (freedom, quantile) in known {
        let off = student95(f64::from(freedom)) / quantile - 1.0;
        assert!(off.abs() < 0.01, "{freedom}: {off}");
    }
}

/// Numbers from 0 to 1, the same ones each time.
fn numbers() -> impl FnMut() -> f64 {
    let mut state = 1u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as f64 / 2f64.powi(31)
    }
}

/// Of samples of bursts that are drawn from a program with phases, as many intervals hold the truth as they promise.
#[test]
fn intervals_hold_their_level() {
    let mut random = numbers();
    // A phase in which the path is a tenth, and one in which it is a half, of bursts of two sizes.
    let mut burst = || {
        let (share, n) = if random() < 0.3 {
            (0.5, 2000.0)
        } else {
            (0.1, 1000.0)
        };
        let a = (n * share * (0.8 + 0.4 * random())) as u64;
        (a, n as u64 - a)
    };
    let truth = (0.3 * 0.5 * 2000.0 + 0.7 * 0.1 * 1000.0) / (0.3 * 2000.0 + 0.7 * 1000.0);
    let mut held = 0;
    for _ in 0..1000 {
        let counts: Vec<_> = (0..40).map(|_| burst()).collect();
        let (all, path) = bursts(&counts);
        held += usize::from(all.share(path).contains(truth));
    }
    assert!((910..=985).contains(&held), "{held}");
}

/// A phase that one burst in a hundred falls into, in which the path does not run: most samples of thirty do not know
/// of it.
#[test]
fn what_no_burst_saw_is_allowed_for() {
    let mut random = numbers();
    let mut held = 0;
    for _ in 0..1000 {
        let mut burst = || {
            if random() < 0.01 {
                (0, 1000)
            } else {
                (500, 500)
            }
        };
        let counts: Vec<_> = (0..30).map(|_| burst()).collect();
        let (all, path) = bursts(&counts);
        held += usize::from(all.share(path).contains(0.495));
    }
    assert!(held > 930, "{held}");
}

/// What is added up in two steps is what is added up in one.
#[test]
fn profiles_add_up() {
    let with = |counts: &[(u64, u64)]| {
        let (mut all, path) = bursts(counts);
        all.counts[FuncId(0)] = vec![(PathId(7), path)];
        all.ended = vec![(0, 0, counts.len() as u64)];
        all
    };
    let (a, b) = ([(1, 2), (3, 4)], [(5, 6)]);
    let mut sum = with(&a);
    assert!(sum.add(&with(&b)));
    assert_eq!(sum, with(&[a[0], a[1], b[0]]));
}

/// A program with a fast and a slow phase, each half of its paths: bursts begin where time is spent, so most are of the
/// slow one. Shares are those of executed paths all the same, and intervals hold them at their level.
#[test]
fn slow_code_has_more_bursts_and_no_more_share() {
    let mut random = numbers();
    // A nanosecond for each path in the fast one, nine in the slow one, which has a tenth of the bursts and nine.
    let mut burst = || {
        let n = (1000.0 * (0.8 + 0.4 * random())) as u64;
        if random() < 0.1 {
            (n, 0, n)
        } else {
            (0, n, 9 * n)
        }
    };
    let (mut held, mut mean, mut plain) = (0, 0.0, 0.0);
    for _ in 0..1000 {
        let (all, path) = timed_bursts((0..200).map(|_| burst()).collect::<Vec<_>>());
        let share = all.share(path);
        held += usize::from(share.contains(0.5));
        mean += share.count / 1000.0;
        plain += path.count as f64 / all.paths as f64 / 1000.0;
    }
    assert!((mean - 0.5f64).abs() < 0.01, "{mean}");
    assert!((plain - 0.1f64).abs() < 0.01, "{plain}");
    assert!((910..=985).contains(&held), "{held}");
}

/// A program whose second half has ten times as many bursts, as where another run has, or shadows cost less then: each
/// stands for a tenth of the time.
#[test]
fn rare_bursts_stand_for_more() {
    let mut random = numbers();
    let (mut held, mut mean, mut plain) = (0, 0.0, 0.0);
    for _ in 0..1000 {
        let (mut all, mut path) = (Bursts::empty(1), InBursts::default());
        for i in 0..220 {
            let n = (1000.0 * (0.8 + 0.4 * random())) as u64;
            let (a, times) = if i < 20 { (n / 2, 10.0) } else { (n / 10, 1.0) };
            count(&mut all, &mut path, [a, n], times);
        }
        let share = all.share(path);
        held += usize::from(share.contains(0.3));
        mean += share.count / 1000.0;
        plain += path.count as f64 / all.paths as f64 / 1000.0;
    }
    assert!((mean - 0.3f64).abs() < 0.01, "{mean}");
    assert!((plain - 0.136f64).abs() < 0.01, "{plain}");
    assert!(held > 930, "{held}");
}

/// As many executions as were counted, given out by the shares.
#[test]
fn expected_counts_are_those_of_shares() {
    let (mut all, path) = timed_bursts([(30, 0, 1000), (0, 10, 3000)]);
    let second = InBursts::from_one_burst(10, 10, 1e9 / 3000.0);
    all.counts[FuncId(0)] = vec![(PathId(3), path), (PathId(4), second)];
    let expected = vec![(PathId(3), 36), (PathId(4), 4)];
    assert_eq!(all.expected_counts()[FuncId(0)], expected);
}
