//! `p3-prof verify`: the stored verdict, the checks once more, and what to do about what they found.

use super::Outcome;
use crate::base::error::Result;
use crate::base::index::FuncId;
use crate::base::names::{NAMED_FUNCTIONS, escape_unprintable, first_names};
use crate::base::table::{number_of, times};
use crate::profile::Profile;
use crate::profile::merge::runs::{Runs, compare_runs};
use crate::profile::verdict::{Trust, Verdict, number_of_functions};
use crate::profile::verify::{Findings, verify};
use crate::read::analysis::cause::Causes;
use clap::Args;
use std::cell::LazyCell;
use std::cmp::Reverse;
use std::fmt::Write;
use std::path::PathBuf;

/// Likely causes of contradicting counts and of unlike runs, and what finds or removes each.
const CAUSES: &str = "Copies that run alike leave no violations. Likely causes, and what helps:
  other arguments, input, files or environment   run the copies by `make run`
  time, and random numbers                       `make run FIXED_TIME=1`, `p3-rewrite suite --fixed-time`
  files that an earlier round of tests left      remove them first: `suite -- sh -c 'rm -rf /tmp/x; make check'`
  process ids                                    `p3-rewrite suite --same-pids`
  addresses: pointers hashed or sorted           `make run` under setarch -R; then as below
  uninitialised memory                           valgrind --track-origins=yes bin/native ARGS finds it
";

/// Likely causes of violations where one copy counts everything.
const CAUSES_IN_ONE: &str = "Counts of one process agree with each other. Likely causes, and what helps:
  children that share its memory and go on       vfork and clone: end the child by _exit or exec, or use fork
";

/// The cause that profiles of earlier versions, and programs that start threads by system calls of their own, do not
/// show.
const THREADS: &str =
    "  threads                                        p3-rewrite --update atomic\n";

/// How many functions the remedy names.
const NAMED: usize = 5;

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// A merged profile, or an output folder with one
    #[arg(value_name = "FILE|OUTDIR")]
    file: PathBuf,
    /// Also compare each run by itself, from these raw profiles or folders of them
    #[arg(long, value_name = "RAW", num_args = 1..)]
    runs: Vec<PathBuf>,
    /// Name all functions that were left before their end, and functions with scopes, types and parameters
    #[arg(long)]
    full: bool,
}

/// Checks the profile; with `--strict` anything but `ok` is a finding.
pub(super) fn run(args: &VerifyArgs, trust: Trust) -> Result<Outcome> {
    let profile = Profile::read(&args.file)?;
    let findings = verify(&profile)?;
    let mut verdict = profile.verdict.clone();
    verdict.add_violations(findings.violations.clone());
    let mut found = verdict.has_contradictions() || trust == Trust::Sound && !verdict.is_ok();
    let mut text = text(&profile, &findings, &verdict, args.full)?;
    if !args.runs.is_empty() {
        let runs = compare_runs(&profile, &args.runs)?;
        found |= !runs.differing.is_empty();
        text += &by_run(&runs);
    }
    Ok(Outcome {
        text,
        found,
        ..Outcome::default()
    })
}

/// The runs of which copies differ, and how many there are of all.
fn by_run(runs: &Runs) -> String {
    let mut text = String::new();
    for run in &runs.differing {
        for line in &run.differences {
            let line = format!("run {}: {line}", run.arguments);
            let _ = writeln!(text, "{}", escape_unprintable(&line));
        }
    }
    let (differing, all) = (runs.differing.len(), runs.all);
    let _ = writeln!(
        text,
        "{differing} of {} differ between copies (by arguments)",
        number_of(all as u64, "run")
    );
    if runs.shared > 0 {
        let n = runs.shared;
        let why = "they share files (%m), so their numbers were compared, and not their counts";
        let _ = writeln!(text, "of {n} of them: {why}");
    }
    text
}

fn text(
    profile: &Profile,
    findings: &Findings,
    verdict: &Verdict,
    is_full: bool,
) -> Result<String> {
    // Most profiles have no findings, and to name functions means to read all of their code.
    let names = LazyCell::new(|| profile.printed_names(is_full));
    let name = |f: FuncId| names.name(&profile.entry(f).name);
    let mut text = list_abandoned(findings, name, is_full);
    if findings.uncertain > 0 {
        let n = findings.uncertain;
        text += &format!(
            "in {n} of these, counts of edges may be off by as many: profile paths, which are exact\n"
        );
    }
    for (what, line) in verdict.findings(profile, name) {
        let _ = writeln!(text, "{what}: {}", escape_unprintable(&line));
    }
    if findings.unchecked > 0 {
        let n = number_of_functions(findings.unchecked);
        let why = "several copies profile each, and some are missing, cut short or ran more often";
        let _ = writeln!(text, "{n} not checked: {why}");
    }
    if findings.in_part > 0 {
        let n = number_of_functions(findings.in_part);
        let _ = writeln!(text, "{n} not checked: not all of their paths are counted");
    }
    if !findings.calls_compared {
        let why = "not all copies ran from beginning to end, equally often";
        let _ = writeln!(text, "calls not compared with entries everywhere: {why}");
    }
    let several = !profile.has_one_counter();
    if several && !verdict.violations.is_empty() {
        text += &list_causes(profile, findings, verdict, name)?;
    }
    let violations = verdict.violations.len() + verdict.unlike.len();
    let checked = number_of(findings.functions as u64, "function");
    let found = number_of(violations as u64, "violation");
    let _ = writeln!(text, "{checked} checked, {found}");
    text += &describe_checks(profile, findings, verdict);
    if violations > 0 {
        text += &likely_causes(profile, verdict);
    }
    if !verdict.violations.is_empty() {
        text += &remedy(profile, verdict);
    }
    Ok(text)
}

/// What the checks of a profile without violations prove where one copy counted everything: there is no second one to
/// compare it with.
fn describe_checks(profile: &Profile, findings: &Findings, verdict: &Verdict) -> String {
    if !profile.has_one_counter() || findings.functions == 0 || verdict.has_contradictions() {
        return String::new();
    }
    let calls = if findings.calls_compared {
        ", and functions were entered as often as they were called"
    } else {
        ""
    };
    format!("one copy counted all: each path that began was completed or left{calls}\n")
}

/// The functions that were left before their end, those most often first: a line for each of all, or one line with the
/// first.
fn list_abandoned(findings: &Findings, name: impl Fn(FuncId) -> String, is_full: bool) -> String {
    const HOW: &str = "by exit, longjmp, an exception or the end";
    let mut abandoned = findings.abandoned.clone();
    abandoned.sort_by_key(|(f, n)| (Reverse(*n), *f));
    if is_full || abandoned.len() == 1 {
        let line = |(f, n): &(FuncId, u64)| {
            format!("{}: left before its end {}, {HOW}\n", name(*f), times(*n))
        };
        return abandoned.iter().map(line).collect();
    }
    if abandoned.is_empty() {
        return String::new();
    }
    let all = number_of_functions(abandoned.len());
    let named = abandoned
        .iter()
        .map(|(f, n)| format!("{} {}", name(*f), times(*n)));
    let named = first_names(NAMED_FUNCTIONS, named);
    format!("{all} left before their end, {HOW}: {named} (--full lists all)\n")
}

/// What the functions that are off by most call that may differ between runs, and how many functions nothing is wrong
/// with.
fn list_causes(
    profile: &Profile,
    findings: &Findings,
    verdict: &Verdict,
    name: impl Fn(FuncId) -> String,
) -> Result<String> {
    let mut text = String::new();
    let causes = Causes::find(profile)?;
    for v in verdict.violations.iter().take(NAMED) {
        let function = name(v.function);
        let calls: Vec<String> = causes
            .next_to(v.function)
            .into_iter()
            .map(|cause| {
                let by = name(cause.caller);
                format!("{} ({} in {by})", cause.asked, cause.symbol)
            })
            .collect();
        let line = if calls.is_empty() {
            format!(
                "{function} may differ by what no call tells: its input, addresses, memory that nobody wrote to"
            )
        } else {
            format!("{function} may differ by {}", calls.join(", "))
        };
        let _ = writeln!(text, "{}", escape_unprintable(&line));
    }
    let all = number_of(findings.functions as u64, "function");
    let agreeing = findings.agreeing;
    let _ = writeln!(
        text,
        "ok: {agreeing} of {all}, which several copies counted, and agree on"
    );
    Ok(text)
}

/// What may have made counts contradict each other, and what helps. Threads come first where there were any.
fn likely_causes(profile: &Profile, verdict: &Verdict) -> String {
    let (causes, threads_first) = if profile.has_one_counter() {
        (CAUSES_IN_ONE, true)
    } else {
        (CAUSES, !verdict.threads.is_empty())
    };
    let (heading, others) = causes.split_once('\n').expect("a line and a list");
    let (first, last) = if threads_first {
        (THREADS, "")
    } else {
        ("", THREADS)
    };
    format!("{heading}\n{first}{others}{last}")
}

/// How to do without the functions that differ, or without several copies.
fn remedy(profile: &Profile, verdict: &Verdict) -> String {
    let symbols = verdict.violations.iter();
    let symbols = symbols.map(|v| profile.entry(v.function).name.as_str());
    // What a shell would not take between quotes is named by hand.
    let plain = |s: &&str| s.bytes().all(|b| b.is_ascii_graphic() && b != b'\'');
    let symbols: Vec<String> = symbols
        .filter(plain)
        .take(NAMED)
        .map(regex::escape)
        .collect();
    let exclude = match &symbols[..] {
        [] => "RE".to_string(),
        names => format!("'^({})$'", names.join("|")),
    };
    if profile.has_one_counter() {
        return format!("Or count all but these (--exclude {exclude})\n");
    }
    let atomic = if verdict.threads.is_empty() {
        ""
    } else {
        " --update atomic"
    };
    format!(
        "Or count everything in one copy (-k 1{atomic}), or all but these (--exclude {exclude})\n"
    )
}
