//! Counts → metadata by which LLVM optimises: `!prof` of terminators and functions, `ProfileSummary`.

use super::llvm::{self, Meta};
use super::{Names, Source, parse_module};
use crate::base::error::{Error, Result};
use crate::base::index::{BlockId, CopyId};
use crate::input::load::{Input, Kind};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::FunctionValue;

/// The module flag that holds the summary.
const SUMMARY: &str = "ProfileSummary";
/// The metadata by which an annotated module is known as ours: its name, and a string in it that text and bitcode hold
/// as it is.
pub const MADE_BY: (&str, &str) = ("p3.annotated", "by p3-rewrite annotate");

/// How hot a function is within the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heat {
    /// It is entered as often as the hottest code runs: `inlinehint`.
    Hot,
    /// Neither.
    Warm,
    /// All of it hardly runs: `cold`, unless the source says `hot`.
    Cold,
}

/// What is known of a function.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The ordinal of its definition in the module.
    pub ordinal: u32,
    /// How often it was entered.
    pub entry: u64,
    /// By block that has a choice and ran: how often each successor was taken, one of them at least once.
    pub branches: Vec<(BlockId, Vec<u64>)>,
    /// Blocks that LLVM takes for headers of loops with several entries, and how often each ran.
    pub headers: Vec<(BlockId, u64)>,
    /// How hot it is.
    pub heat: Heat,
}

/// What LLVM wants to know of a whole profile: `llvm::ProfileSummary` of the kind `InstrProf`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The sum of all counters.
    pub total: u64,
    /// The largest.
    pub max: u64,
    /// The largest that is not the first of its function.
    pub max_internal: u64,
    /// The largest first counter of a function.
    pub max_function: u64,
    /// The number of counters.
    pub counters: u32,
    /// The number of functions.
    pub functions: u32,
    /// By share of the total, in millionths: the least counter that is needed to reach it, and how many are as
    /// large or larger.
    pub detailed: Vec<(u32, u64, u32)>,
}

/// `input` with its functions annotated, as bitcode or text. Functions not named are left as they are.
///
/// # Errors
/// A module that has a profile already.
pub fn annotate_module(
    input: &Input,
    functions: &[Annotation],
    summary: &Summary,
    kind: Kind,
) -> Result<Vec<u8>> {
    let parsed = parse_module(&Source::new(input, CopyId(0)), Names::Kept)?;
    let (context, module) = parsed.context_and_module();
    if llvm::has_module_flag(&module, SUMMARY) {
        let problem = "it has a profile already";
        let remedy = "annotate the module that it was made from";
        return Err(Error::load(&input.path, problem, remedy));
    }
    let definitions: Vec<_> = llvm::definitions(&module).collect();
    for f in functions {
        annotate_function(context, definitions[f.ordinal as usize], f);
    }
    llvm::add_module_flag(context, &module, SUMMARY, summary_node(summary));
    let (name, text) = MADE_BY;
    let node = context.metadata_node(&[context.metadata_string(text).into()]);
    let added = module.add_global_metadata(name, &node);
    added.expect("a node is metadata, and the name has no null");
    Ok(module_bytes(&module, kind))
}

fn module_bytes(module: &Module, kind: Kind) -> Vec<u8> {
    match kind {
        Kind::Text => module.print_to_string().to_bytes().to_vec(),
        Kind::Bitcode => module.write_bitcode_to_memory().as_slice().to_vec(),
    }
}

fn annotate_function(context: &Context, f: FunctionValue, annotation: &Annotation) {
    let blocks = llvm::blocks(f);
    for (b, counts) in &annotation.branches {
        let end = llvm::terminator(blocks[*b]);
        llvm::set_branch_weights(context, end, &weights(counts));
    }
    for &(b, n) in &annotation.headers {
        let weight = vec![Meta::Text("loop_header_weight"), Meta::I64(n)];
        let end = llvm::terminator(blocks[b]);
        llvm::set_header_weight(context, end, Meta::Node(weight));
    }
    let entries = [
        Meta::Text("function_entry_count"),
        Meta::I64(annotation.entry),
    ];
    llvm::set_function_profile(context, f, Meta::Node(entries.into()));
    match annotation.heat {
        Heat::Hot => set_attribute(context, f, "inlinehint"),
        Heat::Cold if !has_attribute(f, "hot") => set_attribute(context, f, "cold"),
        Heat::Cold | Heat::Warm => {}
    }
}

fn has_attribute(f: FunctionValue, attribute: &str) -> bool {
    let kind = Attribute::get_named_enum_kind_id(attribute);
    f.get_enum_attribute(AttributeLoc::Function, kind).is_some()
}

fn set_attribute(context: &Context, f: FunctionValue, attribute: &str) {
    let kind = Attribute::get_named_enum_kind_id(attribute);
    let attribute = context.create_enum_attribute(kind, 0);
    f.add_attribute(AttributeLoc::Function, attribute);
}

/// Counts as 32-bit weights: where one does not fit all are divided by what makes it fit, as LLVM does.
fn weights(counts: &[u64]) -> Vec<u32> {
    let largest = counts.iter().copied().max().unwrap_or(0);
    let limit = u64::from(u32::MAX);
    let scale = if largest < limit {
        1
    } else {
        largest / limit + 1
    };
    counts.iter().map(|n| (n / scale) as u32).collect()
}

/// How much of the total counters of at least `least` make up, and how many these are.
fn detail(&(share, least, counters): &(u32, u64, u32)) -> Meta<'static> {
    Meta::Node(vec![
        Meta::I32(share),
        Meta::I64(least),
        Meta::I32(counters),
    ])
}

/// As `ProfileSummary::getMD` writes it.
fn summary_node(s: &Summary) -> Meta<'static> {
    let pair = |key, value| Meta::Node(vec![Meta::Text(key), value]);
    Meta::Node(vec![
        pair("ProfileFormat", Meta::Text("InstrProf")),
        pair("TotalCount", Meta::I64(s.total)),
        pair("MaxCount", Meta::I64(s.max)),
        pair("MaxInternalCount", Meta::I64(s.max_internal)),
        pair("MaxFunctionCount", Meta::I64(s.max_function)),
        pair("NumCounts", Meta::I64(u64::from(s.counters))),
        pair("NumFunctions", Meta::I64(u64::from(s.functions))),
        pair("IsPartialProfile", Meta::I64(0)),
        pair("PartialProfileRatio", Meta::Double(0.0)),
        pair(
            "DetailedSummary",
            Meta::Node(s.detailed.iter().map(detail).collect()),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::weights;

    #[test]
    fn large_counts_are_scaled() {
        assert_eq!(weights(&[1, 2, 0]), [1, 2, 0]);
        let largest = u64::from(u32::MAX);
        assert_eq!(weights(&[largest - 1, 7]), [u32::MAX - 1, 7]);
        assert_eq!(weights(&[largest, 7]), [u32::MAX / 2, 3]);
        assert_eq!(weights(&[u64::MAX, 1]), [u32::MAX - 1, 0]);
    }
}
