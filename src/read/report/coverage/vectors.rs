//! Decisions for people and programs: their executed vectors, and what is missing.

use super::Coverage;
use super::mcdc::Mcdc;
use crate::base::names::escape_unprintable;
use crate::base::table::{
    Layout, group_all_digits, group_digits, number_of, percent, times, wrap_words,
};
use crate::profile::Profile;
use crate::read::decisions::missing::Missing;
use crate::read::decisions::wiring::Values;
use crate::read::decisions::{Decision, Rule, Shown};
use crate::read::report::positions::base_name;
use serde::Serialize;
use std::fmt::Write;

/// So many decisions are listed, unless all are wanted.
const LISTED: usize = 20;
/// So many vectors of a decision are listed, unless all are wanted.
const VECTORS: usize = 16;

/// How many conditions are shown, by which rule, and why others are not measured; a line each.
pub(super) fn summarise(mcdc: &Mcdc) -> String {
    let total = mcdc.total;
    if total.all == 0 {
        return "MC/DC: no decision with a branch is in scope\n".into();
    }
    let rule = match mcdc.rule {
        Rule::UniqueCause => "unique cause",
        Rule::Masking => "masking",
    };
    let mut out = format!(
        "MC/DC ({rule}): {} of {} shown ({})",
        group_digits(total.shown),
        number_of(total.all, "condition"),
        percent(mcdc.conditions().share()),
    );
    if total.unmeasured > 0 {
        let _ = write!(out, ", {} not measured", group_digits(total.unmeasured));
    }
    out.push('\n');
    let mut reasons: Vec<_> = mcdc.count_reasons().into_iter().collect();
    reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    for (reason, n) in reasons {
        let n = number_of(n, "condition");
        let _ = writeln!(out, "not measured: {n}: {}", escape_unprintable(reason));
    }
    out
}

/// The decisions, those with most to show first: vectors, and what is missing.
pub(super) fn list_decisions(coverage: &Coverage, mcdc: &Mcdc, layout: Layout) -> String {
    let most = if layout.full { usize::MAX } else { LISTED };
    let mut out = String::new();
    for decision in mcdc.decisions.iter().take(most) {
        out.push('\n');
        for (indent, line) in describe(coverage.profile, decision, mcdc.rule, layout.full) {
            out += &" ".repeat(indent);
            out += &wrap_words(&line, layout.width.saturating_sub(indent), indent + 2);
            out.push('\n');
        }
    }
    let more = mcdc.decisions.len().saturating_sub(most);
    if more > 0 {
        let _ = writeln!(
            out,
            "\n… and {} (--full)",
            number_of(more as u64, "more decision")
        );
    }
    out
}

/// The lines of a decision, each with its indentation.
fn describe(profile: &Profile, d: &Decision, rule: Rule, full: bool) -> Vec<(usize, String)> {
    let sums = d.sum(rule);
    let name = base_name(Mcdc::file(profile, d));
    let text = escape_unprintable(&d.joined.text);
    let head = format!("{}:{} {text}", escape_unprintable(&name), d.line);
    if let Some(reason) = &d.unmeasured {
        let reason = escape_unprintable(reason);
        return vec![(0, head), (2, format!("not measured: {reason}"))];
    }
    let all = number_of(sums.all, "condition");
    let mut lines = vec![(
        0,
        format!("{head}: {} of {all} shown", group_all_digits(sums.shown)),
    )];
    if !d.joined.constants.is_empty() {
        let constants = d.joined.constants.join(", ");
        lines.push((2, format!("constant: {}", escape_unprintable(&constants))));
    }
    lines.extend(table_of_vectors(d, full).into_iter().map(|line| (2, line)));
    for (i, shown) in d.judge(rule).into_iter().enumerate() {
        let text = escape_unprintable(&d.conditions[i].text);
        let what = match shown {
            Shown::Yes => "shown".into(),
            Shown::NotMeasured => "not measured".into(),
            Shown::No => format!("not shown{}", describe_missing(d, rule, i)),
        };
        lines.push((2, format!("{} {text}: {what}", i + 1)));
    }
    lines
}

/// The executed vectors below a heading, with conditions by number.
fn table_of_vectors(d: &Decision, full: bool) -> Vec<String> {
    if d.vectors.is_empty() {
        return vec!["never evaluated".into()];
    }
    let most = if full { usize::MAX } else { VECTORS };
    let mut order: Vec<_> = d.vectors.iter().collect();
    order.sort_by_key(|v| std::cmp::Reverse(v.count));
    let counts: Vec<String> = order.iter().map(|v| group_digits(v.count)).collect();
    let width = counts
        .iter()
        .map(String::len)
        .max()
        .unwrap_or(0)
        .max("count".len());
    let numbers: Vec<String> = (1..=d.conditions.len()).map(|n| n.to_string()).collect();
    let mut lines = vec![format!(
        "{:>width$}  {}  outcome",
        "count",
        numbers.join(" ")
    )];
    for (vector, count) in order.iter().zip(&counts).take(most) {
        let cells = vector.values.iter().zip(&numbers).enumerate();
        let cells = cells.map(|(i, (value, number))| {
            let is_unknown = vector.outcome.is_none() && i + 1 == numbers.len();
            let sign = if is_unknown { "?" } else { sign_of(*value) };
            format!("{sign:>n$}", n = number.len())
        });
        let cells: Vec<String> = cells.collect();
        let outcome = vector
            .outcome
            .map_or("?".into(), |outcome| outcome.to_string());
        lines.push(format!("{count:>width$}  {}  {outcome}", cells.join(" ")));
    }
    let more = order.len().saturating_sub(most);
    if more > 0 {
        lines.push(format!(
            "… and {} (--full)",
            number_of(more as u64, "more vector")
        ));
    }
    lines
}

fn sign_of(value: Option<bool>) -> &'static str {
    match value {
        Some(true) => "T",
        Some(false) => "F",
        None => "–",
    }
}

/// What has to run so that condition `i` is shown, in words of the source.
pub(super) fn describe_missing(d: &Decision, rule: Rule, i: usize) -> String {
    match d.find_missing(rule, i) {
        Missing::Run { vectors, near } => {
            let vectors: Vec<String> = vectors.iter().map(|v| describe_values(d, v)).collect();
            let near = near.map(|n| {
                let near = &d.vectors[n];
                let values = describe_values(d, &near.values);
                format!("; nearest: {values} ran {}", times(near.count))
            });
            format!(
                "; run {}{}",
                vectors.join("; and "),
                near.unwrap_or_default()
            )
        }
        Missing::Impossible => {
            "; it cannot be, since conditions with the same text have the same value".into()
        }
        Missing::Unknown => String::new(),
    }
}

fn describe_values(d: &Decision, values: &Values) -> String {
    let known = d.conditions.iter().zip(values);
    let known = known.filter_map(|(c, value)| {
        let text = escape_unprintable(&c.text);
        value.map(|value| format!("`{text}` {value}"))
    });
    known.collect::<Vec<_>>().join(", ")
}

/// Annotations of conditions that are not shown: the place, a title and a text.
pub(super) fn annotate_missing<'a>(
    profile: &'a Profile,
    mcdc: &'a Mcdc,
) -> impl Iterator<Item = (&'a Decision, (String, u32), String)> + 'a {
    mcdc.decisions.iter().flat_map(move |d| {
        let file = Mcdc::file(profile, d);
        let judged = d.judge(mcdc.rule).into_iter().enumerate();
        let missing = judged.filter(|(_, shown)| *shown == Shown::No);
        missing.map(move |(i, _)| {
            let condition = &d.conditions[i];
            let missing = describe_missing(d, mcdc.rule, i);
            let text = format!(
                "{} is not shown to decide {}{missing}",
                condition.text, d.joined.text
            );
            (d, (file.to_string(), condition.line), text)
        })
    })
}

/// MC/DC in JSON.
#[derive(Serialize)]
pub(super) struct McdcJson<'a> {
    rule: &'static str,
    /// Conditions that are shown.
    shown: u64,
    /// All conditions.
    conditions: u64,
    /// Conditions that are not measured.
    not_measured: u64,
    decisions: Vec<DecisionJson<'a>>,
}

#[derive(Serialize)]
struct DecisionJson<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    text: &'a str,
    conditions: Vec<ConditionJson<'a>>,
    vectors: Vec<VectorJson>,
    /// Why it is not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_measured: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    constants: &'a [String],
}

#[derive(Serialize)]
struct ConditionJson<'a> {
    text: &'a str,
    line: u32,
    column: u32,
    /// `shown`, `not-shown` or `not-measured`.
    mcdc: &'static str,
    /// The vectors that have to run, of a condition that is not shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    /// No vector can show it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    impossible: bool,
}

#[derive(Serialize)]
struct VectorJson {
    /// For each condition `T`, `F`, `-` (not evaluated) or `?` (not known).
    values: String,
    /// `null` where it is not known.
    outcome: Option<bool>,
    count: u64,
}

impl<'a> McdcJson<'a> {
    pub(super) fn new(profile: &'a Profile, mcdc: &'a Mcdc) -> McdcJson<'a> {
        let rule = mcdc.rule;
        let decisions = mcdc.decisions.iter().map(|d| DecisionJson {
            file: Mcdc::file(profile, d),
            line: d.line,
            column: d.column,
            text: &d.joined.text,
            conditions: json_conditions(d, rule),
            vectors: d
                .vectors
                .iter()
                .map(|v| json_vector(&v.values, v.outcome, v.count))
                .collect(),
            not_measured: d.unmeasured.as_deref(),
            constants: &d.joined.constants,
        });
        McdcJson {
            rule: match rule {
                Rule::UniqueCause => "unique-cause",
                Rule::Masking => "masking",
            },
            shown: mcdc.total.shown,
            conditions: mcdc.total.all,
            not_measured: mcdc.total.unmeasured,
            decisions: decisions.collect(),
        }
    }
}

fn json_conditions(d: &Decision, rule: Rule) -> Vec<ConditionJson<'_>> {
    let judged = d.judge(rule).into_iter().enumerate();
    let conditions = judged.map(|(i, shown)| {
        let missing = (shown == Shown::No).then(|| d.find_missing(rule, i));
        ConditionJson {
            text: &d.conditions[i].text,
            line: d.conditions[i].line,
            column: d.conditions[i].column,
            mcdc: match shown {
                Shown::Yes => "shown",
                Shown::No => "not-shown",
                Shown::NotMeasured => "not-measured",
            },
            impossible: missing == Some(Missing::Impossible),
            missing: match missing {
                Some(Missing::Run { vectors, .. }) => {
                    vectors.iter().map(|v| write_values(v, false)).collect()
                }
                _ => Vec::new(),
            },
        }
    });
    conditions.collect()
}

fn json_vector(values: &Values, outcome: Option<bool>, count: u64) -> VectorJson {
    VectorJson {
        values: write_values(values, outcome.is_none()),
        outcome,
        count,
    }
}

/// One character for each condition; the last one is not known if `is_open`.
fn write_values(values: &Values, is_open: bool) -> String {
    let sign = |(i, value): (usize, &Option<bool>)| match value {
        _ if is_open && i + 1 == values.len() => '?',
        Some(true) => 'T',
        Some(false) => 'F',
        None => '-',
    };
    values.iter().enumerate().map(sign).collect()
}
