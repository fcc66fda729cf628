//! The functions that a report is about, and how many of their paths.

use super::Profile;
use crate::base::error::{Error, Result};
use crate::base::index::FuncId;
use crate::base::names::{Filter, printed_name};
use regex::Regex;

/// Which paths to show.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only functions that it admits.
    pub function: Option<Filter>,
    /// At most this many paths, the hottest.
    pub top: Option<usize>,
    /// What makes a path hot.
    pub order: Order,
}

/// What makes one path hotter than another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// How often it ran.
    #[default]
    Count,
    /// The instructions that were executed on it.
    Instructions,
}

impl Selection {
    /// The functions of `profiles` that `--function` matches, by symbol, readable name or the short name that
    /// reports print, and the `top` paths.
    ///
    /// # Errors
    /// An expression that matches no function of theirs that is profiled.
    pub fn new(
        function: Option<&Regex>,
        top: Option<usize>,
        profiles: &[&Profile],
    ) -> Result<Selection> {
        let function = Filter::new("--function", function.cloned().into_iter().collect());
        let function = function.map(|filter| {
            let profiles = profiles.iter();
            profiles.fold(filter, |filter, profile| {
                let names = profile.printed_names(false);
                let functions = profile.manifest.functions.iter();
                filter.or_printed(functions.map(|f| (f.name.as_str(), names.name(&f.name))))
            })
        });
        let all = || profiles.iter().flat_map(|p| &p.manifest.functions);
        let profiled = all().filter(|f| !f.status.is_skipped());
        let symbols: Vec<&str> = profiled.map(|f| f.name.as_str()).collect();
        let skipped = |matches: &dyn Fn(&str) -> bool| {
            let f = all().find(|f| matches(&f.name))?;
            Some(format!("{} is {}", printed_name(&f.name), f.status))
        };
        if let Some(Err(u)) = function.as_ref().map(|f| f.must_match(&symbols, skipped)) {
            return Err(Error::profile(&profiles[0].path, u.problem, u.remedy));
        }
        Ok(Selection {
            function,
            top,
            order: Order::default(),
        })
    }

    /// Whether function `f` is one of those to show.
    pub fn admits(&self, profile: &Profile, f: FuncId) -> bool {
        let name = &profile.entry(f).name;
        self.function.as_ref().is_none_or(|f| f.admits(name))
    }

    /// The functions to show, in the manifest's order.
    pub fn functions(&self, profile: &Profile) -> Vec<FuncId> {
        let admits = |f: &FuncId| self.admits(profile, *f);
        profile.functions().filter(admits).collect()
    }

    /// Those of them that are profiled.
    pub fn profiled_functions(&self, profile: &Profile) -> Vec<FuncId> {
        let mut functions = self.functions(profile);
        functions.retain(|f| !profile.entry(*f).status.is_skipped());
        functions
    }
}
