//! What a selection is resolved against: the functions of a program, as a rewriting or a profile knows them.

use crate::base::error::Result;
use crate::base::index::{BlockId, FuncId, IdSet, TiVec};
use crate::base::names::TypedNames;
use crate::input::ir::{Cfg, Linkage, Loc, Program, SkipReason, Span, inlined_functions};
use crate::input::load::positions::Inlined;
use crate::paths::dag::Dag;
use crate::paths::function::Paths;
use crate::profile::Profile;
use crate::profile::manifest::Status;
use crate::profile::matching::{Build, Known};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The functions of a program.
pub(crate) struct Target<'a> {
    /// Source files, by the numbers in positions.
    pub files: Vec<String>,
    /// What profiles are compared with it by.
    pub build: Build<'a>,
    /// Inlined calls, by the numbers in positions.
    pub inlined: &'a [Inlined],
    /// All functions, those that are skipped too.
    pub functions: TiVec<FuncId, TargetFunction<'a>>,
    /// [`Target::typed_names`], once that was asked for.
    names: OnceCell<TypedNames<'a>>,
}

/// A function of a [`Target`].
pub(crate) struct TargetFunction<'a> {
    /// The module of its first body.
    pub module: &'a str,
    /// The hash of that module.
    pub hash: &'a str,
    /// Its symbol.
    pub name: &'a str,
    /// Whether only its module sees it.
    pub is_local: bool,
    /// The file and the line at which it begins, if that is known.
    pub begins: Option<(&'a str, u32)>,
    /// Its control flow, with the positions of its blocks.
    pub cfg: Cow<'a, Cfg>,
    /// Its paths; `None` where it is skipped.
    pub paths: Option<Arc<Paths>>,
    /// Why it is skipped, if so.
    pub skip: Option<SkipReason>,
}

impl<'a> Target<'a> {
    /// The functions of a program that is being rewritten; `paths` are those of its functions.
    pub(crate) fn of_program(program: &'a Program, paths: &'a [Option<Arc<Paths>>]) -> Target<'a> {
        let function = |(f, paths): (_, &'a Option<Arc<Paths>>)| {
            let f: &crate::input::ir::ProgFunction = f;
            let body = program.body_at(f);
            let module = &program.modules[f.bodies[0].module];
            let known = Known::in_module(program, module, body);
            TargetFunction {
                module: known.module,
                hash: known.hash,
                name: known.name,
                is_local: known.local,
                begins: known.begins,
                cfg: Cow::Borrowed(&body.cfg),
                paths: paths.clone(),
                skip: body.skip,
            }
        };
        Target {
            files: program.files.iter().map(|f| f.name.clone()).collect(),
            build: Build::of_program(program),
            inlined: &program.inlined,
            functions: program.functions.iter().zip(paths).map(function).collect(),
            names: OnceCell::new(),
        }
    }

    /// The functions that a profile is of. Linear.
    ///
    /// # Errors
    /// A damaged profile.
    pub(crate) fn of_profile(profile: &'a Profile) -> Result<Target<'a>> {
        let function = |f: FuncId| {
            let entry = profile.entry(f);
            let skip = match entry.status {
                Status::Skipped(reason) => Some(reason),
                Status::Exact | Status::Cut => None,
            };
            let paths = match skip {
                Some(_) => None,
                None => Some(Arc::clone(profile.structure(f)?.paths.paths())),
            };
            let manifest = &profile.manifest;
            let file = |file: u32| manifest.files[file as usize].as_str();
            Ok(TargetFunction {
                module: profile.module(f),
                hash: &manifest.modules[entry.bodies[0].module].hash,
                name: &entry.name,
                is_local: entry.linkage == Linkage::Local,
                begins: entry.loc.map(|l| (file(l.file), l.line)),
                cfg: Cow::Owned(entry.cfg()),
                paths,
                skip,
            })
        };
        Ok(Target {
            files: profile.manifest.files.clone(),
            build: Build::of_manifest(&profile.manifest),
            inlined: &profile.manifest.inlined,
            functions: profile.functions().map(function).collect::<Result<_>>()?,
            names: OnceCell::new(),
        })
    }

    /// The numbers of the files that `name` may mean: a file of exactly that name, or else all whose names end with
    /// it below a folder. A file has several numbers if modules disagree about its hash.
    pub(crate) fn find_files(&self, name: &str) -> BTreeSet<u32> {
        let numbered = || (0u32..).zip(&self.files);
        let exact: BTreeSet<u32> = numbered()
            .filter(|(_, f)| f.as_str() == name)
            .map(|(i, _)| i)
            .collect();
        if !exact.is_empty() {
            return exact;
        }
        let ends = |f: &str| {
            f.strip_suffix(name)
                .is_some_and(|folder| folder.ends_with('/'))
        };
        numbered()
            .filter(|(_, f)| ends(f))
            .map(|(i, _)| i)
            .collect()
    }

    /// Whether any position is known.
    pub(crate) fn has_lines(&self) -> bool {
        self.functions.iter().any(|f| f.spans().next().is_some())
    }

    /// The names of the functions, those that were inlined everywhere too. O(code) the first time.
    pub(crate) fn typed_names(&self) -> &TypedNames<'a> {
        self.names.get_or_init(|| {
            let line = |f: &TargetFunction| f.begins.map(|b| b.1);
            let own = self.functions.iter().map(|f| (f.name, line(f)));
            let own: Vec<_> = own.collect();
            let code = self
                .functions
                .iter()
                .flat_map(TargetFunction::spans)
                .copied();
            TypedNames::new(&own, &inlined_functions(self.inlined, code))
        })
    }

    /// The inlined calls whose code is that of a function `is_meant` says, or was inlined into that.
    pub(crate) fn inlined_from(&self, is_meant: impl Fn(&str) -> bool) -> IdSet<usize> {
        let mut calls = IdSet::with_capacity(self.inlined.len());
        for (i, call) in self.inlined.iter().enumerate() {
            // An outer call comes before those in it.
            let is_within = call.within.is_some_and(|w| calls.contains(w as usize));
            if is_within || is_meant(&call.function) {
                calls.insert(i);
            }
        }
        calls
    }
}

impl TargetFunction<'_> {
    /// What profiles find it by.
    pub(crate) fn marks(&self) -> Known<'_> {
        Known {
            module: self.module,
            hash: self.hash,
            name: self.name,
            local: self.is_local,
            begins: self.begins,
            cfg: &self.cfg,
        }
    }

    /// Its blocks that can be reached, with their positions. Nothing where it is skipped.
    pub(crate) fn reachable_blocks(&self) -> impl Iterator<Item = (BlockId, &[Span])> {
        let dag: Option<&Dag> = self.paths.as_deref().map(|p| &p.dag);
        let blocks = dag
            .into_iter()
            .flat_map(|d| d.order().filter_map(|v| d.block(v)));
        blocks.map(|b| (b, &self.cfg.block(b).lines[..]))
    }

    /// All its positions, whether they can be reached or not.
    pub(crate) fn spans(&self) -> impl Iterator<Item = &Span> {
        self.cfg.blocks.iter().flat_map(|b| &b.lines)
    }

    /// The lines that its code is of.
    pub(crate) fn locs(&self) -> impl Iterator<Item = Loc> {
        self.spans().map(|s| s.loc)
    }
}
