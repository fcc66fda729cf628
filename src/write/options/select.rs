//! Where the selection of a rewriting comes from.

use crate::base::error::{Error, Result};
use crate::base::index::{EdgeId, FuncId, PathId, TiSlice};
use crate::copies::selection::{Asked, KnownPath, Selection};
use crate::input::ir::Program;
use crate::paths::function::Paths;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What resolves a selection, given the program and the paths of its functions (`None` where one is skipped).
type Resolve =
    dyn Fn(&Program, &TiSlice<FuncId, Option<Arc<Paths>>>) -> Result<Asked> + Send + Sync;

/// Which paths somebody asks for, before it is known what the program has.
pub struct Select(Box<Resolve>);

impl Select {
    /// By a function that resolves it. Its errors are the user's: lines without code, unknown functions, nothing
    /// selected.
    pub fn new(
        resolve: impl Fn(&Program, &TiSlice<FuncId, Option<Arc<Paths>>>) -> Result<Asked>
        + Send
        + Sync
        + 'static,
    ) -> Select {
        Select(Box::new(resolve))
    }

    /// From a file that lists edges and ids by function: what tests compare with.
    pub fn from_file(file: PathBuf) -> Select {
        Select::new(move |program, paths| read_list(&file, program, paths))
    }

    /// What is asked for of `program`.
    ///
    /// # Errors
    /// Those of the user: see [`Select::new`].
    pub fn resolve(
        &self,
        program: &Program,
        paths: &TiSlice<FuncId, Option<Arc<Paths>>>,
    ) -> Result<Asked> {
        (self.0)(program, paths)
    }
}

impl fmt::Debug for Select {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Select")
    }
}

/// The file's content: by symbol. Functions that it does not name are not selected.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Listed {
    All,
    Edges(Vec<EdgeId>),
    Paths(Vec<PathId>),
    Known(Vec<KnownPath>),
}

fn read_list(
    file: &Path,
    program: &Program,
    paths: &TiSlice<FuncId, Option<Arc<Paths>>>,
) -> Result<Asked> {
    let bytes = std::fs::read(file).map_err(|e| Error::read(file, e))?;
    let bad = |problem: String| Error::profile(file, problem, "list functions of this program");
    let listed: BTreeMap<String, Listed> =
        serde_json::from_slice(&bytes).map_err(|e| bad(format!("no selection: {e}")))?;
    let select = |(f, paths): (FuncId, &Option<Arc<Paths>>)| {
        let name = &program.functions[f].name;
        match (paths, listed.get(name)) {
            (Some(paths), Some(listed)) => {
                let problem = || bad(format!("{name} has no such path"));
                selection(listed, paths).ok_or_else(problem)
            }
            _ => Ok(Selection::Nothing),
        }
    };
    let selections = paths.iter_enumerated().map(select);
    Ok(Asked {
        specs: vec!["selection".into()],
        selections: selections.collect::<Result<_>>()?,
    })
}

/// What is listed, if `paths` has it.
fn selection(listed: &Listed, paths: &Paths) -> Option<Selection> {
    let has = |id: &PathId| id.0 < paths.numbering.total();
    match listed {
        Listed::All => Some(Selection::All),
        Listed::Edges(edges) => {
            let mut set = paths.dag.edge_set();
            let fits = edges.iter().all(|e| e.index() < set.capacity());
            fits.then(|| set.extend(edges.iter().copied()))?;
            Some(Selection::Edges(set))
        }
        Listed::Paths(ids) => {
            let mut ids = ids.clone();
            ids.sort_unstable();
            ids.dedup();
            ids.iter().all(has).then_some(Selection::Paths(ids))
        }
        Listed::Known(known) => {
            let mut known = known.clone();
            known.sort_unstable();
            known.dedup_by_key(|k| k.0);
            let all = known.iter().all(|k| has(&k.0));
            all.then_some(Selection::Known(known))
        }
    }
}
