//! The schemes: names that people type and manifests hold, each a preset of what is measured and how it is spread.
//!
//! To add one, add a row to the table. What it needs beyond what is there (another way to distribute, other costs) is a
//! function in a file of its own in [`crate::copies::partition`].

use crate::base::error::{Error, Result};
use crate::copies::hot;
use crate::copies::partition::{
    Assignment, Cost, Costs, Distribute, Units, assign_longest_first, split_evenly,
    split_where_called_once, to_the_first,
};
use crate::estimates::data::Kind;
use crate::paths::function::{Counted, Expected, FunctionInput, Layout, Measuring, Paths};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What a profile holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Counts of paths.
    Paths,
    /// Counts of edges, with the fewest counters.
    Edges,
    /// What a sample says of counts.
    Estimated(Kind),
}

impl Measure {
    /// Whether its numbers are counts, and no estimates.
    pub fn is_exact(self) -> bool {
        match self {
            Measure::Paths | Measure::Edges => true,
            Measure::Estimated(_) => false,
        }
    }
}

/// What a copy does to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It counts where control flow is, with the increments of a plan.
    Count,
    /// It runs as it is; forked shadows of it count in bursts.
    Shadow,
    /// It calls a sampler for every block.
    Sample,
    /// It logs every executed block. Tests count paths in that log by brute force.
    Trace,
}

/// Which blocks exist several times ([`crate::paths::versions`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionsOf {
    /// None.
    Nothing,
    /// Those of innermost loops: their iterations are apart ([`crate::paths::versions::apart`]).
    Loops,
    /// Those of all blocks, between which control switches at arbitrary edges ([`crate::copies::plan::double`]).
    Everything,
}

/// How a program is profiled.
#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// What is counted.
    pub measure: Measure,
    /// How.
    pub method: Method,
    /// Whether copies may own ranges of paths, in versions of their own.
    pub makes_ranges: bool,
    /// Whether it is for tests only, and help does not list it.
    pub is_hidden: bool,
    /// More copies than this are of no use.
    pub most_copies: u32,
    /// How tasks are made and given to copies.
    pub distribute: Distribute,
    /// What profiling is taken to cost.
    pub cost: Cost,
    /// Which blocks exist several times.
    pub versions: VersionsOf,
}

impl Scheme {
    /// What LLVM's code generator is told when it translates modules of copies under this scheme. It keeps counts
    /// short; `docs/decisions/increments.md`, "LLVM's passes after ours", has reasons and figures.
    ///
    /// - Where a loop counts before it goes back, LLVM leaves a jump there unless it weighs all layouts, of the loop
    ///   and of the function (ext-tsp). That takes an unconditional jump for no worse than a conditional one, but it
    ///   alone is an instruction more: 2.
    /// - A version of a loop can be an innermost loop where the loop itself was none: what loop strength reduction
    ///   makes of it counts only if that is cheaper. A loop that counts down to a burst once for several of its
    ///   iterations gets induction variables of its own for each of them, and LLVM takes that for cheaper: it makes
    ///   none there.
    /// - Where only edges are counted, many get a block for that, and then the moves for all values that meet behind
    ///   the others go before a branch, unless those edges are split too.
    pub(crate) fn code_options(self) -> impl Iterator<Item = &'static str> {
        let of_all = [
            "-force-precise-rotation-cost",
            "-enable-ext-tsp-block-placement",
            "-ext-tsp-fallthrough-weight-uncond=2",
        ];
        let of_one: &[&str] = match self {
            Scheme::Edge => &["-lsr-drop-solution", "-phi-elim-split-all-critical-edges"],
            Scheme::Subpath => &["-disable-lsr"],
            _ => &["-lsr-drop-solution"],
        };
        of_all.into_iter().chain(of_one.iter().copied())
    }
}

impl Strategy {
    /// How function `f` with these paths is measured: what is counted, where `expected` is what it runs, and in which
    /// versions of its blocks, of those that `layout` admits.
    pub fn measure(
        &self,
        f: &FunctionInput,
        paths: &Arc<Paths>,
        expected: Expected,
        mut layout: Layout,
    ) -> Measuring {
        let counted = match self.measure {
            Measure::Paths | Measure::Estimated(_) => Counted::Paths,
            Measure::Edges => Counted::edges(f.cfg, paths, &expected.weights),
        };
        if self.versions != VersionsOf::Loops {
            layout.apart.clear();
        }
        Measuring::new(Arc::clone(paths), expected, layout, counted)
    }

    /// For tests: functions of which nothing was measured.
    #[cfg(test)]
    pub fn measure_all(
        &self,
        functions: &[FunctionInput],
        all: &[Option<Measuring>],
    ) -> Vec<Option<Measuring>> {
        let measured = functions.iter().zip(all).map(|(f, m)| {
            let m = m.as_ref()?;
            Some(self.measure(f, m.paths(), Expected::guess(m), m.layout()))
        });
        measured.collect()
    }

    /// The number of copies to make where `wanted` are asked for.
    pub fn copies(&self, wanted: u32) -> u32 {
        wanted.min(self.most_copies)
    }

    /// Who profiles what, on `copies` copies (those beyond what is of use get nothing). `paths` are
    /// those of `functions`, as [`Strategy::measure`] has them.
    pub fn assign(
        &self,
        functions: &[FunctionInput],
        paths: &[Option<Measuring>],
        copies: u32,
    ) -> Assignment {
        let units = Units::new(functions, paths, self.cost, self.copies(copies));
        let mut assignment = (self.distribute)(&units);
        assignment.load.resize(copies as usize, 0);
        assignment
    }
}

/// Every scheme with its documentation, its name and its strategy.
macro_rules! schemes {
    ($(#[doc = $about:literal] $variant:ident $name:literal $strategy:expr)*) => {
        /// The name of a strategy: what people type, and what manifests hold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub enum Scheme {
            $(#[doc = $about] #[serde(rename = $name)] $variant,)*
        }

        impl Scheme {
            /// All of them, in the order in which they are shown.
            pub const ALL: &[Scheme] = &[$(Scheme::$variant),*];

            /// The name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Scheme::$variant => $name,)*
                }
            }

            /// What it does, in a line.
            pub fn description(self) -> &'static str {
                let about = match self {
                    $(Scheme::$variant => $about,)*
                };
                about.trim()
            }

            /// The strategy behind the name.
            pub fn strategy(self) -> Strategy {
                match self {
                    $(Scheme::$variant => $strategy,)*
                }
            }
        }
    };
}

schemes! {
    /// Splits functions by the rules of the P3 paper: to compare
    P3 "p3" Strategy { distribute: split_where_called_once, ..PATHS }

    /// Like p3, balanced by expected executions: to compare
    P3Weighted "p3-weighted" Strategy { distribute: split_evenly, cost: Costs::hits, ..PATHS }

    /// The default, usually the fastest; best with --profile or --train
    P3Hot "p3-hot" Strategy { distribute: hot::ranges, cost: Costs::hits, makes_ranges: true, ..PATHS }

    /// Gives whole functions to copies: to compare
    Pbl "pbl" PATHS

    /// One copy that counts whole functions: to compare
    Sbl "sbl" Strategy { most_copies: 1, ..PATHS }

    /// Estimates by forked shadows, at full speed: for servers
    Shadow "shadow" Strategy {
        measure: Measure::Estimated(Kind::Bursts),
        method: Method::Shadow,
        most_copies: 1,
        ..PATHS
    }

    /// Counts edges, with the fewest counters: if paths are not needed
    Edge "edge" Strategy { measure: Measure::Edges, versions: VersionsOf::Nothing, ..PATHS }

    /// Estimates of sequences across loops and calls, in bounded memory
    Subpath "subpath" Strategy {
        measure: Measure::Estimated(Kind::Subpaths),
        method: Method::Sample,
        distribute: to_the_first,
        versions: VersionsOf::Nothing,
        ..PATHS
    }

    /// As sbl, with two versions of every block: how blocks are copied, tested by itself
    VersionsTest "versions-test" Strategy { most_copies: 1, versions: VersionsOf::Everything, is_hidden: true, ..PATHS }

    /// As p3-hot, with functions split whether that pays or not: what splitting makes, tested by itself
    RangesTest "ranges-test" Strategy {
        distribute: hot::ranges_everywhere,
        cost: Costs::hits,
        makes_ranges: true,
        is_hidden: true,
        ..PATHS
    }

    /// One copy that logs every executed block: the oracle of tests
    Trace "trace" Strategy { method: Method::Trace, most_copies: 1, is_hidden: true, ..PATHS }
}

impl Scheme {
    /// Whether this build has it: those that estimate need the feature `estimates`.
    pub fn is_built(self) -> bool {
        cfg!(feature = "estimates") || self.strategy().measure.is_exact()
    }

    /// # Errors
    /// A scheme that this build does not have.
    pub(crate) fn must_be_built(self) -> Result<()> {
        if self.is_built() {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "--scheme {self}: this build has no schemes that estimate; choose another scheme, or build with the \
             cargo feature estimates"
        )))
    }

    /// Whether it can count some paths only ([`crate::copies::selection`]).
    pub fn takes_selections(self) -> bool {
        let strategy = self.strategy();
        strategy.measure == Measure::Paths && !strategy.is_hidden
    }
}

/// What most have in common.
const PATHS: Strategy = Strategy {
    measure: Measure::Paths,
    method: Method::Count,
    makes_ranges: false,
    is_hidden: false,
    most_copies: u32::MAX,
    distribute: assign_longest_first,
    cost: Costs::labels,
    versions: VersionsOf::Loops,
};

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
