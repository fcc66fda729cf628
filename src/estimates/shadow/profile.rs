//! Profiles of bursts ([`crate::estimates::data::bursts`]).

use crate::base::error::Result;
use crate::estimates::data::Estimated;
use crate::estimates::data::bursts::Bursts;
use crate::profile::Profile;
use crate::profile::measurement::Measurement;

/// A profile of bursts. Made by [`Profile::bursts`].
#[derive(Clone, Copy)]
pub struct BurstProfile<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The bursts.
    pub bursts: &'a Bursts,
}

impl Profile {
    /// The profile as one of bursts.
    ///
    /// # Errors
    /// Another one.
    pub fn bursts(&self) -> Result<BurstProfile<'_>> {
        match &self.measured {
            Measurement::Estimated(Estimated::Bursts(bursts)) => Ok(BurstProfile {
                profile: self,
                bursts,
            }),
            Measurement::Exact(_) | Measurement::Estimated(Estimated::Sampled(_)) => {
                Err(self.no_bursts())
            }
        }
    }
}
