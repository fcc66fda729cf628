//! The sections of `bench/FIGURES.md` that come from the JSON, and their plots.

use crate::build::project;
use crate::counted::INSTRUCTIONS;
use crate::edges::EDGE_PROFILES;
use crate::hits::LABEL_AND_PROBE_HITS;
use crate::results::Results;
use crate::rewriting::REWRITING;
use crate::schemes::BY_SCHEME;
use crate::section::Section;
use crate::shadows::SHADOW_PROFILES;
use crate::subpaths::SAMPLED_SUBPATHS;
use crate::times::{RUN_TIMES, SIZES};
use anyhow::{Context, Result, ensure};
use std::path::Path;

/// The page of all figures, below the folder of pages.
const PAGE: &str = "FIGURES.md";

/// The sections that are written from the JSON.
const SECTIONS: [Section; 9] = [
    INSTRUCTIONS,
    RUN_TIMES,
    LABEL_AND_PROBE_HITS,
    EDGE_PROFILES,
    SIZES,
    REWRITING,
    BY_SCHEME,
    SHADOW_PROFILES,
    SAMPLED_SUBPATHS,
];

/// Writes the sections of the results in `out` into the page, and the JSON beside it.
pub(crate) fn write(out: &Path) -> Result<()> {
    let results = Results::load(out)?;
    ensure!(
        !results.programs.of.is_empty(),
        "nothing was measured: make bench"
    );
    let folder = project().join("bench");
    std::fs::create_dir_all(folder.join("plots"))?;
    std::fs::write(
        folder.join("results.json"),
        serde_json::to_string(&results)? + "\n",
    )?;
    let path = folder.join(PAGE);
    let page = std::fs::read_to_string(&path)?;
    std::fs::write(&path, place_sections(&page, &results)?)?;
    SECTIONS
        .iter()
        .try_for_each(|section| (section.draw_plots)(&results, &folder))
}

/// The page with each section between `<!-- p3-bench NAME -->` and the next `<!-- end -->`. Text
/// outside of markers is written by hand and stays.
fn place_sections(page: &str, results: &Results) -> Result<String> {
    let mut page = page.to_string();
    for section in SECTIONS {
        let begin = format!("<!-- p3-bench {} -->\n", section.marker);
        let placed = page.split_once(&begin).and_then(|(before, rest)| {
            let (_, after) = rest.split_once("<!-- end -->\n")?;
            let text = wrap((section.text)(results).trim());
            Some(format!("{before}{begin}\n{text}\n\n<!-- end -->\n{after}"))
        });
        page = placed.with_context(|| format!("bench/{PAGE} has no {begin}"))?;
    }
    Ok(page)
}

/// Wraps prose; lines of tables and pictures stay whole.
fn wrap(text: &str) -> String {
    let options = textwrap::Options::new(100)
        .break_words(false)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let lines = text.lines().map(|line| {
        if line.starts_with(['|', '!', '#']) {
            line.to_string()
        } else {
            textwrap::fill(line, &options)
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_agrees_with_stored_results() {
        let folder = project().join("bench");
        let page = std::fs::read_to_string(folder.join(PAGE)).unwrap();
        let placed = place_sections(&page, &Results::load(&folder).unwrap()).unwrap();
        assert!(
            placed == page,
            "bench/{PAGE}: `p3-bench report` writes it again"
        );
    }
}
