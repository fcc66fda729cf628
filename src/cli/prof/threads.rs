//! The option that chooses threads.

use crate::base::error::Result;
use crate::base::names::escape_unprintable;
use crate::profile::Profile;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct ThreadArgs {
    /// Only what threads of this name ran, as show --by thread prints it; main: the first thread
    #[arg(long = "thread", value_name = "NAME")]
    names: Vec<String>,
}

impl ThreadArgs {
    /// The line above a text that is of the chosen threads; empty without a choice.
    pub(super) fn heading(&self) -> String {
        if self.names.is_empty() {
            return String::new();
        }
        format!(
            "only what {} ran\n\n",
            escape_unprintable(&self.names.join(", "))
        )
    }

    /// The profile, with the counts of the chosen threads alone.
    ///
    /// # Errors
    /// A profile that does not tell threads apart, or has no such thread.
    pub(super) fn select(&self, profile: Profile) -> Result<Profile> {
        if self.names.is_empty() {
            return Ok(profile);
        }
        let mut rows = Vec::new();
        for name in &self.names {
            rows.extend(profile.find_threads(name)?);
        }
        Ok(profile.keep_threads(&rows))
    }
}
