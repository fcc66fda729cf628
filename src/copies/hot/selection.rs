//! Which paths get versions of their own: hot ones, and those along warm edges.

use super::costs::{MAY_SAVE, MEASURED, ProgramCosts, Splitting, Warm, spill_cost};
use super::room::Room;
use super::warm::{flow_apart, warm_edges};
use crate::base::index::{CopyId, PathId};
use crate::copies::partition::{Part, Ranges, Share};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

impl ProgramCosts<'_> {
    /// Finds which edges of its functions are warm.
    pub(super) fn with_warm_edges_found(mut self) -> Self {
        let all = (0..self.functions.len()).into_par_iter();
        let warm: Vec<Option<Warm>> = all.map(|i| self.find_warm(i)).collect();
        for (facts, warm) in self.facts.iter_mut().zip(warm) {
            if let Some(facts) = facts {
                facts.warm = warm;
            }
        }
        self
    }

    /// Makes edges warm where a copy profiles a whole function, too large for an array, and that
    /// saves something; where it saves most first, as long as there is room.
    pub(super) fn with_warm_edges(&self, mut shares: Vec<Share>, room: &mut Room) -> Vec<Share> {
        let functions = shares.par_iter().enumerate();
        let savings = functions.filter_map(|(i, share)| self.warm_saving(i, share));
        let mut savings: Vec<WarmSaving> = savings.collect();
        savings.sort_by(|a, b| b.saved.total_cmp(&a.saved));
        for s in savings {
            if room.take_blocks(s.copy, s.size) {
                shares[s.function] = Share::Ranges(s.ranges);
            }
        }
        shares
    }

    /// What warm edges would save in function `i`, if anything.
    fn warm_saving(&self, i: usize, share: &Share) -> Option<WarmSaving> {
        let facts = self.facts[i].as_ref()?;
        let warm = facts.warm.as_ref()?;
        let [(copy, part)] = share.parts()[..] else {
            return None;
        };
        let everywhere = self.splitting == Splitting::Everywhere;
        let saved = self.part_cost(i, part) - facts.cost_of(warm.instructions);
        (saved > 0.0 || everywhere && saved == 0.0).then(|| WarmSaving {
            function: i,
            copy,
            ranges: Ranges {
                owners: vec![(PathId(0), copy)],
                ..warm.ranges.clone()
            },
            size: warm.size,
            saved,
        })
    }

    /// Warm edges of function `i`, where they may be worth it.
    fn find_warm(&self, i: usize) -> Option<Warm> {
        let (facts, paths) = (self.facts[i].as_ref()?, self.paths[i].as_ref()?);
        let everywhere = self.splitting == Splitting::Everywhere;
        let pays =
            facts.cost >= MEASURED.least_saving && paths.numbering.total() > paths.array_slots();
        if !facts.may_have_versions || !pays && !everywhere {
            return None;
        }
        let cfg = self.functions[i].cfg;
        let (edges, size) = warm_edges(cfg, paths, facts.size)?;
        let ranges = Ranges::new(vec![(PathId(0), CopyId(0))], Vec::new()).with_warm(edges);
        let apart = flow_apart(cfg, paths, |e| paths.weights[e]);
        let in_versions = self.splitting.warm_cost(facts.flow.total(), apart);
        let code = self.code(i, Part::Ranges(&ranges, CopyId(0)));
        Some(Warm {
            instructions: code.cost() + in_versions,
            ranges,
            size,
        })
    }

    /// Paths to be hot, by function: those that save most, as long as there is room.
    pub(super) fn hot_paths(
        &self,
        shares: &[Share],
        room: &mut Room,
    ) -> BTreeMap<usize, Vec<PathId>> {
        let functions = shares.par_iter().enumerate();
        let savings = functions.flat_map_iter(|(i, share)| self.savings(i, share));
        let mut savings: Vec<Saving> = savings.collect();
        savings.sort_by(|a, b| b.saved.total_cmp(&a.saved));
        let mut hot: BTreeMap<usize, Vec<PathId>> = BTreeMap::new();
        for s in savings {
            let facts = self.facts[s.function].as_ref().expect("it is profiled");
            let cfg = self.functions[s.function].cfg;
            if room.take_path(s.function, s.copy, facts, cfg, s.path) {
                hot.entry(s.function).or_default().push(s.path);
            }
        }
        hot
    }

    /// What hot paths would save in function `i`.
    fn savings(&self, i: usize, share: &Share) -> Vec<Saving> {
        let Some(facts) = self.facts[i].as_ref().filter(|f| f.may_be_hot) else {
            return Vec::new();
        };
        let paths = self.paths[i].as_ref().expect("it is not skipped");
        if facts.cost < MEASURED.least_saving / MAY_SAVE {
            return Vec::new();
        }
        let code = |part| match (part, &facts.code) {
            (Part::All, Some(code)) => Cow::Borrowed(code),
            _ => Cow::Owned(self.code(i, part)),
        };
        let parts = share.parts().into_iter();
        let codes = Vec::from_iter(parts.map(|(copy, part)| (copy, code(part))));
        let mut savings = Vec::new();
        for (path, flow) in facts.flow.find_hottest(MEASURED.hot_paths) {
            let edges = paths.decode(path).expect("a path");
            for (copy, code) in &codes {
                let more = code.instructions(&edges).saturating_sub(1);
                let saved = facts.cost_of(flow * more as f64);
                if saved > 0.0 {
                    savings.push(Saving {
                        function: i,
                        copy: *copy,
                        path,
                        saved,
                    });
                }
            }
        }
        let total: f64 = savings.iter().map(|s| s.saved).sum();
        // Warm edges may save more, and take the same room.
        let warm = facts.warm.as_ref();
        let by_warm = warm.map_or(0.0, |w| facts.cost - facts.cost_of(w.instructions));
        let least = facts.cost * MEASURED.least_hot_saving;
        let by_spills = facts.cost_of(spill_cost(self.functions[i].cfg, paths));
        let pays =
            total > by_warm.max(least).max(by_spills) || self.splitting == Splitting::Everywhere;
        if matches!(share, Share::Whole(_)) && !pays {
            savings.clear(); // it would get versions for them alone
        }
        savings
    }
}

/// Makes these paths of each function hot.
pub(super) fn make_hot(shares: &mut [Share], hot: BTreeMap<usize, Vec<PathId>>) {
    for (i, hot) in hot {
        let owners = match &shares[i] {
            Share::Whole(copy) => vec![(PathId(0), *copy)],
            Share::Ranges(ranges) => ranges.owners.clone(),
            _ => unreachable!("what this scheme makes"),
        };
        shares[i] = Share::Ranges(Ranges::new(owners, hot));
    }
}

/// What a hot path would save.
struct Saving {
    function: usize,
    copy: CopyId,
    path: PathId,
    saved: f64,
}

/// What warm edges would save.
struct WarmSaving {
    function: usize,
    copy: CopyId,
    ranges: Ranges,
    size: u64,
    saved: f64,
}
