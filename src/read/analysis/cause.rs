//! Why the counts of a function may differ between copies: what it calls that need not give the same in each run.
//!
//! This is evidence, not proof: the manifest lists calls of functions that no input module defines, and the next ones
//! to a function whose counts contradict each other are the likeliest to have told it something else in another copy.
//! Files, addresses and memory that nobody wrote to are seen by no call.

use crate::base::error::Result;
use crate::base::index::{BlockId, FuncId, TiVec, ti_vec};
use crate::profile::Profile;
use crate::profile::flow::flow;
use std::collections::{BTreeSet, VecDeque};

/// What functions of libraries ask for that differs between runs.
const ASKED: [(&str, &[&str]); 6] = [
    (
        "time",
        &[
            "clock",
            "clock_gettime",
            "ftime",
            "getrusage",
            "gettimeofday",
            "time",
            "times",
            "timespec_get",
        ],
    ),
    (
        "random numbers",
        &[
            "arc4random",
            "arc4random_buf",
            "arc4random_uniform",
            "getentropy",
            "getrandom",
        ],
    ),
    (
        "process ids",
        &["getpgrp", "getpid", "getppid", "getsid", "gettid"],
    ),
    (
        "other processes",
        &[
            "fork", "kill", "popen", "system", "wait", "wait3", "wait4", "waitid", "waitpid",
        ],
    ),
    ("threads", &["pthread_create", "thrd_create"]),
    (
        "files and what is ready",
        &[
            "epoll_wait",
            "fstat",
            "lstat",
            "mkdtemp",
            "mkstemp",
            "poll",
            "readdir",
            "recv",
            "select",
            "stat",
            "tmpfile",
            "tmpnam",
        ],
    ),
];

/// A call of what may differ between runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// What is asked for: `time`.
    pub asked: &'static str,
    /// The function that is called: `clock_gettime`.
    pub symbol: String,
    /// Who calls it.
    pub caller: FuncId,
}

/// Calls that ran, and whom they may tell something.
#[derive(Debug)]
pub struct Causes {
    own: TiVec<FuncId, BTreeSet<Cause>>,
    callees: TiVec<FuncId, BTreeSet<FuncId>>,
    callers: TiVec<FuncId, BTreeSet<FuncId>>,
}

impl Causes {
    /// Of all functions of a profile. O(blocks + calls).
    ///
    /// # Errors
    /// Where control flow cannot be had.
    pub fn find(profile: &Profile) -> Result<Causes> {
        let n = profile.manifest.functions.len();
        let mut all = Causes {
            own: ti_vec![BTreeSet::new(); n],
            callees: ti_vec![BTreeSet::new(); n],
            callers: ti_vec![BTreeSet::new(); n],
        };
        for f in profile.functions() {
            if profile.entry(f).status.is_skipped() {
                continue;
            }
            let flow = flow(profile, f, &profile.structure(f)?)?;
            all.add(profile, f, |b| flow.blocks[b] > 0);
        }
        Ok(all)
    }

    fn add(&mut self, profile: &Profile, f: FuncId, ran: impl Fn(BlockId) -> bool) {
        let entry = profile.entry(f);
        let symbols = profile.manifest.outside.as_deref().unwrap_or_default();
        for (_, calls) in entry.outside.iter().filter(|(b, _)| ran(*b)) {
            let known = calls
                .iter()
                .filter_map(|n| symbols.get((*n as usize).checked_sub(1)?));
            for symbol in known {
                let asked = ASKED
                    .iter()
                    .filter(|(_, names)| names.contains(&symbol.as_str()));
                self.own[f].extend(asked.map(|(asked, _)| Cause {
                    asked,
                    symbol: symbol.clone(),
                    caller: f,
                }));
            }
        }
        for (_, callees) in entry.calls.iter().filter(|(b, _)| ran(*b)) {
            for (callee, _) in callees {
                self.callees[f].insert(*callee);
                self.callers[*callee].insert(f);
            }
        }
    }

    /// The next calls to `f`: its own, or those of what it calls, over as few calls as there can be; where there are
    /// none, those of its callers, likewise. O(functions + calls).
    pub fn next_to(&self, f: FuncId) -> Vec<Cause> {
        let below = self.next_causes(f, &self.callees);
        if below.is_empty() {
            self.next_causes(f, &self.callers)
        } else {
            below
        }
    }

    fn next_causes(&self, f: FuncId, to: &TiVec<FuncId, BTreeSet<FuncId>>) -> Vec<Cause> {
        let mut far: TiVec<FuncId, Option<u32>> = ti_vec![None; to.len()];
        far[f] = Some(0);
        let mut queue = VecDeque::from([f]);
        let mut found = BTreeSet::new();
        let mut nearest = u32::MAX;
        while let Some(at) = queue.pop_front() {
            let distance = far[at].expect("it was reached");
            if distance > nearest {
                break;
            }
            if !self.own[at].is_empty() {
                nearest = distance;
                found.extend(self.own[at].iter().cloned());
            }
            for next in &to[at] {
                if far[*next].is_none() {
                    far[*next] = Some(distance + 1);
                    queue.push_back(*next);
                }
            }
        }
        found.into_iter().collect()
    }
}
