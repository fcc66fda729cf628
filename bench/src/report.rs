//! `docs/RESULTS.md` and its plots, from the JSON.

use crate::build::project;
use crate::counted::Counted;
use crate::edges::EdgeProfiles;
use crate::hits::LabelAndProbeHits;
use crate::results::Results;
use crate::rewriting::RewritingTimes;
use crate::section::Section;
use crate::shadows::ShadowProfiles;
use crate::subpaths::SampledSubpaths;
use crate::times::{RunTimes, Sizes};
use anyhow::{Result, ensure};
use std::path::Path;

/// The sections, in the order of the page.
const SECTIONS: [&dyn Section; 8] = [
    &Counted,
    &RunTimes,
    &LabelAndProbeHits,
    &EdgeProfiles,
    &Sizes,
    &RewritingTimes,
    &ShadowProfiles,
    &SampledSubpaths,
];

/// Writes the report of the results in `out`, and puts the JSON beside it.
pub(crate) fn write(out: &Path) -> Result<()> {
    let results = Results::load(out)?;
    ensure!(
        !results.programs.of.is_empty(),
        "nothing was measured: make bench"
    );
    let docs = project().join("docs");
    std::fs::create_dir_all(docs.join("plots"))?;
    std::fs::write(
        docs.join("results.json"),
        serde_json::to_string(&results)? + "\n",
    )?;
    let sections = SECTIONS.iter().map(|section| section.text(&results));
    let text = HEAD.to_string() + &sections.collect::<String>();
    std::fs::write(docs.join("RESULTS.md"), text)?;
    SECTIONS
        .iter()
        .try_for_each(|section| section.draw_plots(&results, &docs))
}

/// What stands before all.
const HEAD: &str = "# Results\n\nMade by `make bench`; each section says when and where, and all figures are in [`results.json`](results.json). \
     What is instrumented is a whole-program module after `clang -O2 -g`.\n\n";
