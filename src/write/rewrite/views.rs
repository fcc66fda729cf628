//! `--dump`: a file for each view and function; plans by copy.

use super::analysis::Analysis;
use super::{Options, estimates};
use crate::base::error::Result;
use crate::base::index::FuncId;
use crate::copies::plan::CopyPlan;
use crate::input::ir::ProgFunction;
use crate::write::dump::{self, View};
use crate::write::options::ViewOptions;
use crate::write::output::{Folder, Mark, is_inside, write_files};

/// Writes what `--dump` asks for.
pub(super) fn write_views(
    options: &Options,
    analysis: &Analysis,
    plans: &[CopyPlan],
    folder: &Folder,
) -> Result<()> {
    // By default below the output folder, whose list then names them.
    let below = options
        .views
        .folder
        .strip_prefix(&options.output.folder)
        .ok();
    let below = below.and_then(|p| p.to_str()).filter(|p| is_inside(p));
    let views = options.views.dump.iter();
    let files = views.flat_map(|view| files(options, analysis, plans, *view));
    let Some(below) = below else {
        // Names of ours, and the first line says of what function or copy: whatever else is there stays.
        let files = files.map(|(name, text)| (name, text.into_bytes(), Mark::FirstLine));
        return write_files(&options.views.folder, &files.collect::<Vec<_>>(), false);
    };
    for (name, text) in files {
        folder.write(&format!("{below}/{name}"), text.as_bytes())?;
    }
    Ok(())
}

/// The files of a view, by name.
fn files(
    options: &Options,
    analysis: &Analysis,
    plans: &[CopyPlan],
    view: View,
) -> Vec<(String, String)> {
    if let (View::Plan, Some(settings)) = (view, &options.sampling) {
        let text = estimates::dump_sampled(&options.views, analysis.as_measured(), settings);
        let copies = (0..analysis.copies)
            .map(|c| (format!("copy-{c}.plan.txt"), format!("copy {c}\n{text}")));
        return copies.collect();
    }
    if view == View::Plan {
        let name = |p: &CopyPlan| format!("copy-{}.plan.txt", p.copy);
        let files = plans
            .iter()
            .map(|p| (name(p), plan_text(&options.views, analysis, p)));
        return files.collect();
    }
    let functions = analysis.program.functions.iter_enumerated();
    let selected = functions.filter(|(_, f)| options.views.selects_function(&f.name));
    let files = selected.filter_map(|(id, f)| file(analysis, id, f, view));
    files.collect()
}

/// The file of a view for function `id`, unless that is skipped.
fn file(analysis: &Analysis, id: FuncId, f: &ProgFunction, view: View) -> Option<(String, String)> {
    let paths = analysis.paths[id].as_ref()?;
    let (extension, text) = match view {
        View::Cfg => {
            let cfg = &analysis.program.body_at(f).cfg;
            ("cfg.dot", dump::cfg_dot(&f.name, cfg))
        }
        View::Dag => ("dag.dot", dump::dag_dot(&f.name, paths)),
        View::Numbering | View::Plan => ("numbering.txt", dump::numbering_text(&f.name, paths)),
    };
    Some((format!("{id}.{}.{extension}", file_name(&f.name)), text))
}

fn plan_text(views: &ViewOptions, analysis: &Analysis, plan: &CopyPlan) -> String {
    let name = |f: FuncId| analysis.program.functions[f].name.as_str();
    let mut selected = plan.clone();
    selected
        .functions
        .retain(|f| views.selects_function(name(f.func)));
    selected.text(name)
}

/// A function's name as part of a file name.
fn file_name(name: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_.$-".contains(c);
    let safe = |c| if safe(c) { c } else { '_' };
    name.chars().map(safe).take(100).collect()
}
