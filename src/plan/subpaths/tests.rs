use super::*;
use crate::random_cfg::{any_cfg, cfg};
use proptest::prelude::*;

fn plan(own: &Cfg, of: Sequence) -> SubpathPlan {
    SubpathPlan::new(FuncId(0), 0, own, &Order::new(own), of)
}

#[test]
fn longest_ways() {
    // 0 → 1 → {2, 3}, 2 → 3, 3 → {1, 4}
    let graph = cfg(&[&[1], &[2, 3], &[3], &[1, 4], &[]]);
    let longest = longest(&graph, &Order::new(&graph));
    assert_eq!(longest.raw, [5, 4, 3, 2, 1]);
}

/// The entry and the back edge pay; what is behind them exists twice, what pays at the entry once.
#[test]
fn a_loop() {
    let graph = cfg(&[&[1], &[1, 2], &[]]);
    let plan = plan(&graph, Sequence::Activation);
    let on = CfgEdge {
        block: BlockId(1),
        succ: 0,
    };
    assert_eq!(plan.made, [Made::Body, Made::New, Made::On(on), Made::New]);
    let pays: Vec<End> = plan.nodes.iter().map(|n| n.end).collect();
    let [e, b] = [End::Pays(3), End::Pays(2)];
    let (d, f) = (End::Decides(3), End::Decides(2));
    assert_eq!(pays, [e, End::Own, End::Own, End::Own, d, b, f]);
    let modes: Vec<_> = plan.modes.iter().flatten().collect();
    let sampling = modes.iter().filter(|m| ***m == Mode::Sampling).count();
    // Blocks 1 and 2, the body of 0, and what pays and decides on the back edge.
    assert_eq!((modes.len() - sampling, sampling), (7, 5));
}

proptest! {
    /// Along any walk through the versions, the blocks that begin are those of a walk through the function; each segment begins as
    /// many as it paid for at most; and a version is left at boundaries only.
    #[test]
    fn walks(
        graph in any_cfg(20),
        choices in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let plan = plan(&graph, Sequence::Activation);
        let cfg = &plan.versions.cfg;
        let (mut at, mut slots, mut last) = (BlockId(0), 0, None);
        let mut next = choices.iter();
        loop {
            let origin = plan.versions.origin[at];
            let node = plan.nodes[origin];
            if node.begins {
                if let Some(last) = last {
                    prop_assert!(graph.block(last).succs.contains(&node.origin));
                } else {
                    prop_assert_eq!(node.origin, BlockId(0));
                }
                last = Some(node.origin);
                slots -= 1;
                prop_assert!(slots >= 0);
            }
            if let End::Pays(n) = node.end {
                slots = i64::from(n);
            }
            let succs = &cfg.block(at).succs;
            let (Some(choice), false) = (next.next(), succs.is_empty()) else { break };
            let to = succs[usize::from(*choice) % succs.len()];
            let decides = matches!(node.end, End::Decides(_));
            prop_assert!(decides || plan.modes[at] == plan.modes[to]);
            at = to;
        }
    }
}

#[test]
fn soundness() {
    let with = |blocks, chance| Sampling {
        period: 10,
        lengths: vec![Length { blocks, chance }],
        within_functions: false,
    };
    let good = with(2, 1 << 32);
    assert!(good.is_sound());
    assert!(!with(2, 1 << 31).is_sound() && !with(0, 1 << 32).is_sound());
    assert!(!Sampling { period: 0, ..good }.is_sound());
}

/// P(2^n) in proportion to 2^-n is the slides' choice.
#[test]
fn chances() {
    let chances = |lengths: &[u32], bias| {
        let lengths = Sampling::biased(lengths, bias)?;
        Some(lengths.iter().map(|l| l.probability()).collect::<Vec<_>>())
    };
    let third = 1.0 / 3.0;
    let close = |a: Vec<f64>, b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(close(chances(&[2, 4], 1.0).unwrap(), &[2.0 * third, third]));
    assert!(close(chances(&[3, 5, 9], 0.0).unwrap(), &[third; 3]));
    assert!(close(
        chances(&[2, 4], -1.0).unwrap(),
        &[third, 2.0 * third]
    ));
    assert_eq!(chances(&[2, 65536], 3.0), None);
    let lengths = Sampling::biased(&[2, 4, 8, 16, 32, 64, 128], 0.7).unwrap();
    assert_eq!(lengths.iter().map(|l| l.chance).sum::<u64>(), 1 << 32);
}
