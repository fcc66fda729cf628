//! What commands print.

use super::format::Format;
use crate::profile::Profile;
use crate::read::source::Sources;
use crate::write::output::Destination;

/// What a command prints, and whether it found something (exit status 1).
#[derive(Debug, Default)]
pub struct Outcome {
    /// For standard output, styled.
    pub text: String,
    /// For standard output, as it is.
    pub data: Vec<u8>,
    /// For standard error: what was done, where standard output is the result.
    pub notes: String,
    /// Warnings for standard error, one line each.
    pub warnings: Vec<String>,
    /// A difference or violation was found.
    pub found: bool,
    /// What was found that an option forbids: one line each on standard error, as errors.
    pub findings: Vec<String>,
    /// What could not be done, when the rest was: one line each on standard error, and exit status
    /// 2.
    pub failures: Vec<String>,
}

impl Outcome {
    /// This outcome, with the verdict on each profile that is not ok.
    pub(super) fn with_verdicts(mut self, profiles: &[&Profile]) -> Outcome {
        self.add_verdicts(profiles);
        self
    }

    /// This outcome, with the verdict on `profile` unless its text has that in a summary.
    pub(super) fn with_verdict_unless_summarised(
        self,
        format: Format,
        profile: &Profile,
    ) -> Outcome {
        match format {
            Format::Text => self,
            Format::Json | Format::Csv => self.with_verdicts(&[profile]),
        }
    }

    /// This outcome, with the verdict on `profile`, and no line on its selection: the text has that, or is about new
    /// paths alone.
    pub(super) fn with_verdict_alone(mut self, profile: &Profile) -> Outcome {
        let of = |line: String| format!("{}: {line}", profile.path.display());
        self.warnings.extend(profile.problem_line().map(of));
        self
    }

    /// Adds the verdict on each profile that is not ok, and which profiles count some paths only.
    pub(super) fn add_verdicts(&mut self, profiles: &[&Profile]) {
        for profile in profiles {
            let of = |line: String| format!("{}: {line}", profile.path.display());
            self.warnings.extend(profile.problem_line().map(of));
            self.warnings.extend(profile.said_selection().map(of));
        }
    }

    /// Adds which source files have changed or are missing, and what is odd of their markers.
    pub(super) fn with_source_remarks(mut self, sources: &Sources) -> Outcome {
        self.warnings.extend(sources.remarks_on_markers());
        self.warnings.extend(sources.list_changed());
        self.warnings.extend(sources.missing_line());
        self.warnings.extend(sources.missing_folders());
        self
    }

    /// Adds what an option forbids: exit status 1, unless there are failures.
    pub(super) fn find(&mut self, finding: String) {
        self.found = true;
        self.findings.push(finding);
    }

    pub(super) fn print(text: String) -> Outcome {
        Outcome {
            text,
            ..Outcome::default()
        }
    }

    /// Adds what was done with a result at this place.
    pub(super) fn add_written(&mut self, at: &Destination, text: &str) {
        if at.is_stdout() {
            self.notes += text;
        } else {
            self.text += text;
        }
    }
}
