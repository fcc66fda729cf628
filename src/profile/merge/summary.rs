//! What a merge says of its profile, always in the same form: what went into it, what ran, and the verdict.

use crate::base::names::escape_unprintable;
use crate::base::table::group_all_digits;
use crate::profile::Profile;
use crate::profile::measurement::Measurement;
use crate::profile::verdict::{copies_named, idle_copies};
use std::cell::LazyCell;

/// Findings of a verdict that are listed; `p3-prof verify` tells all.
const LISTED: usize = 10;

/// What was merged into `profile`, which is called `name`: a line with the verdict, and one for each fact, `copies`,
/// `runs`, `functions`; then one for each finding that the profile keeps. O(functions).
pub fn summary(profile: &Profile, name: &str) -> String {
    let mut lines = vec![
        (
            "raw profiles",
            group_all_digits(profile.sources.len() as u64),
        ),
        ("copies", describe_copies(profile)),
        ("runs", describe_runs(profile)),
        describe_what_ran(profile),
    ];
    // Most profiles have no findings, and to name functions means to read all of their code.
    let names = LazyCell::new(|| profile.printed_names(false));
    let function = |f| names.name(&profile.entry(f).name);
    let findings = profile.verdict.findings(profile, function);
    let more = findings.len().saturating_sub(LISTED);
    lines.extend(findings.into_iter().take(LISTED));
    let mut text = format!(
        "{}: {}\n",
        escape_unprintable(name),
        profile.verdict.status()
    );
    for (classify, told) in lines {
        text += &format!("  {classify:<12}  {}\n", escape_unprintable(&told));
    }
    if more > 0 {
        text += &format!(
            "  … and {} more: p3-prof verify\n",
            group_all_digits(more as u64)
        );
    }
    text
}

fn describe_copies(profile: &Profile) -> String {
    let present = profile.processes.iter().filter(|c| c.total() > 0);
    let present = format!("{} of {}", present.count(), profile.manifest.copies);
    let idle = idle_copies(&profile.manifest);
    let have = match idle.len() {
        0 => return present,
        1 => "has",
        _ => "have",
    };
    let busy = profile.manifest.copies as usize - idle.len();
    let remedy = match busy {
        0 => String::new(),
        n => format!(" (use -k {n})"),
    };
    let idle = copies_named(&idle);
    format!("{present}; {idle} {have} nothing to profile{remedy}")
}

/// How often copies were started, of those that were.
fn describe_runs(profile: &Profile) -> String {
    let of_each = if profile.manifest.copies == 1 {
        ""
    } else {
        " of each copy"
    };
    let present = profile.processes.iter().filter(|c| c.total() > 0);
    let runs = || present.clone().map(|c| c.runs);
    let (least, most) = (runs().min().unwrap_or(0), runs().max().unwrap_or(0));
    if least == most {
        format!("{}{of_each}", group_all_digits(most))
    } else {
        format!(
            "{} to {}{of_each}",
            group_all_digits(least),
            group_all_digits(most)
        )
    }
}

/// What was found, as the scheme measures it.
fn describe_what_ran(profile: &Profile) -> (&'static str, String) {
    match &profile.measured {
        Measurement::Estimated(estimated) => estimated.describe_amount(),
        Measurement::Exact(_) => ("functions", functions_that_ran(profile)),
    }
}

fn functions_that_ran(profile: &Profile) -> String {
    let all = &profile.manifest.functions;
    let (ran, of) = (
        profile.executed_functions().count() as u64,
        all.len() as u64,
    );
    let (ran, of) = (group_all_digits(ran), group_all_digits(of));
    let mut text = format!("{ran} of {of} ran");
    let skipped = all.iter().filter(|f| f.status.is_skipped()).count();
    let without_paths = profile.unselected_functions().count();
    for (n, why) in [
        (skipped, "skipped"),
        (without_paths, "without selected paths"),
    ] {
        if n > 0 {
            text += &format!(", {} {why}", group_all_digits(n as u64));
        }
    }
    text
}
