//! Schemes that estimate: what their copies do, and what is said of that.

pub(super) mod admission;

use super::analysis::{Analysis, Measured};
use crate::base::table::Columns;
use crate::copies::plan::CopyPlan;
use crate::estimates::data::Settings;
use crate::estimates::shadow::emit::Shadow;
use crate::estimates::subpath::emit::Sample;
use crate::estimates::subpath::plan::{SampledFunction, Sequence};
use crate::estimates::subpath::stats;
use crate::write::emit::work::CopyWork;
use crate::write::options::ViewOptions;
use std::borrow::Cow;

/// What a copy does whose shadows count.
pub(super) fn shadow_work(plan: CopyPlan) -> Box<dyn CopyWork> {
    Box::new(Shadow(plan))
}

/// What a copy does that samples.
pub(super) fn sample_work<'a>(
    measured: Measured<'a>,
    settings: Option<&Settings>,
) -> Box<dyn CopyWork + 'a> {
    let settings = settings.expect("a scheme that samples has settings");
    Box::new(Sample {
        functions: sampled_functions(measured, settings),
        settings: settings.clone(),
    })
}

/// Sampled functions, of which `analysis` keeps no control flow and no paths.
pub(super) fn take_sample(
    analysis: &mut Analysis,
    settings: Option<&Settings>,
) -> Box<dyn CopyWork> {
    let settings = settings.expect("a scheme that samples has settings");
    let sequence = sequence(settings);
    let firsts: Vec<u32> = analysis.manifest.first_blocks().collect();
    let functions = analysis.paths.keys().zip(firsts);
    let taken = functions.filter_map(|(func, first)| {
        let (cfg, paths) = analysis.take_function(func)?;
        Some(SampledFunction {
            func,
            first,
            cfg: Cow::Owned(cfg),
            paths: Cow::Owned(paths),
            sequence,
        })
    });
    Box::new(Sample {
        functions: taken.collect(),
        settings: settings.clone(),
    })
}

fn sequence(settings: &Settings) -> Sequence {
    if settings.sampling.within_functions {
        Sequence::Activation
    } else {
        Sequence::Thread
    }
}

/// How each function is sampled, by ascending id.
fn sampled_functions<'a>(measured: Measured<'a>, settings: &Settings) -> Vec<SampledFunction<'a>> {
    let sequence = sequence(settings);
    let Measured {
        program,
        manifest,
        paths,
    } = measured;
    let functions = paths.iter_enumerated().zip(manifest.first_blocks());
    let sampled = functions.filter_map(|((func, paths), first)| {
        Some(SampledFunction {
            func,
            first,
            cfg: Cow::Borrowed(&program.body(func).cfg),
            paths: Cow::Borrowed(paths.as_ref()?),
            sequence,
        })
    });
    sampled.collect()
}

/// How the selected functions are sampled, in all copies: for `--dump plan`.
pub(super) fn dump_sampled(views: &ViewOptions, measured: Measured, settings: &Settings) -> String {
    let name = |f: &SampledFunction| measured.program.functions[f.func].name.as_str();
    let functions = sampled_functions(measured, settings).into_iter();
    let selected = functions.filter(|f| views.selects_function(name(f)));
    selected.map(|f| f.plan().text(name(&f))).collect()
}

/// The table of `--stats`, of the functions that `selects` admits.
pub(super) fn sampled_table(
    measured: Measured,
    settings: &Settings,
    selects: impl Fn(&str) -> bool,
) -> Columns {
    let sampled = sampled_functions(measured, settings);
    stats::table(measured.program, measured.manifest, &sampled, selects)
}
