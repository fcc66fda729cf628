//! Rounds of a suite at the same time: each sees the working folder as it was, with its copy of every program in place.
//! What it writes there goes to an overlay of its own and is gone afterwards; the folders of programs are the real
//! ones, so that what copies count is kept.
//!
//! A namespace of mounts is all that this takes, and a namespace of users where the caller is not root.

use super::namespaces::find_namespace;
use crate::base::error::{Error, Result};
use crate::base::names::escape_unprintable;
use crate::project::record::{self, Record};
use crate::project::tools::our_program;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The folder of one round.
pub(crate) struct Sandbox {
    /// Overlay, mounts, and what was printed.
    scratch: TempDir,
}

/// How rounds get folders of their own.
pub(crate) struct Sandboxes {
    /// The words before a shell that may mount.
    unshare: Vec<&'static str>,
    here: PathBuf,
    /// The folders of programs.
    folders: Vec<PathBuf>,
    rewrite: PathBuf,
}

impl Sandboxes {
    /// Rounds of `programs`, which are below the working folder.
    ///
    /// # Errors
    /// One is not; there are no namespaces of mounts.
    pub(crate) fn new(programs: &[Record]) -> Result<Sandboxes> {
        let here = std::env::current_dir().map_err(|e| Error::read(".", e))?;
        if let Some(outside) = programs.iter().find(|p| !p.program.starts_with(&here)) {
            let problem = "-j: this program is not below the working folder, and each round has its own copy of that \
                           folder only";
            return Err(Error::load(
                &outside.program,
                problem,
                "run the suite in a folder above it, or without -j",
            ));
        }
        let problem = "-j: mount namespaces are not available (unshare --mount fails)";
        Ok(Sandboxes {
            unshare: find_namespace(&["--keep-caps"], &["--mount"], problem)?,
            here,
            folders: programs.iter().map(|p| p.folder.clone()).collect(),
            rewrite: our_program("p3-rewrite")?,
        })
    }

    /// A command that runs `words` with `copy` of the programs of `out` in place, and a folder to hold what it leaves.
    ///
    /// # Errors
    /// A path cannot be given to a shell; there is no temporary folder.
    pub(crate) fn prepare_round(
        &self,
        words: &[String],
        out: &[PathBuf],
        copy: u32,
    ) -> Result<(Command, Sandbox)> {
        let scratch = tempfile::tempdir().map_err(|e| Error::write(std::env::temp_dir(), e))?;
        let sandbox = Sandbox { scratch };
        let mut command = Command::new(self.unshare[0]);
        command.args(&self.unshare[1..]);
        command.args([
            "sh",
            "-c",
            &self.script(sandbox.scratch.path(), out, copy)?,
            "sh",
        ]);
        command.args(words);
        let output = |name: &str| {
            let path = sandbox.scratch.path().join(name);
            File::create(&path).map_err(|e| Error::write(path, e))
        };
        command.stdout(output("stdout")?).stderr(output("stderr")?);
        Ok((command, sandbox))
    }

    /// What a shell does before it becomes the command. What goes wrong is in the file `failed`.
    fn script(&self, scratch: &Path, out: &[PathBuf], copy: u32) -> Result<String> {
        let at = quote_path(scratch)?;
        let mut lines = vec![
            format!("at={at}"),
            "mkdir \"$at/upper\" \"$at/work\"".into(),
        ];
        for (i, folder) in self.folders.iter().enumerate() {
            let folder = quote_path(folder)?;
            lines.push(format!(
                "mkdir \"$at/{i}\" && mount --bind {folder} \"$at/{i}\""
            ));
        }
        let here = quote_path(&self.here)?;
        lines.push(format!(
            "mount -t overlay p3 -o \"lowerdir=.,upperdir=$at/upper,workdir=$at/work\" {here}"
        ));
        lines.push(format!("cd {here}"));
        for (i, folder) in self.folders.iter().enumerate() {
            let folder = quote_path(folder)?;
            // Those beside their programs were hidden by the overlay; others were not, and are mounted where they are.
            lines.push(format!("mount --bind \"$at/{i}\" {folder}"));
        }
        let mut place = format!("{} use {copy}", quote_path(&self.rewrite)?);
        for folder in out {
            place += &format!(" -o {}", quote_path(folder)?);
        }
        lines.push(format!("{place} 2>&1"));
        let begin = lines.join(" && ");
        Ok(format!(
            "{{ {begin}; }} >{at}/said 2>&1 || {{ mv {at}/said {at}/failed; exit 1; }}; exec \"$@\""
        ))
    }
}

impl Sandbox {
    /// Prints what the round printed.
    ///
    /// # Errors
    /// The overlay could not be mounted.
    pub(crate) fn print_output(&self) -> Result<()> {
        let at = self.scratch.path();
        let failed = std::fs::read_to_string(at.join("failed")).unwrap_or_default();
        if let Some(line) = failed.lines().last() {
            return Err(Error::Usage(format!(
                "-j: cannot make a folder for a round ({}); set TMPDIR to a tmpfs, or leave -j out",
                escape_unprintable(line)
            )));
        }
        copy_to(&at.join("stdout"), &mut anstream::stdout());
        copy_to(&at.join("stderr"), &mut anstream::stderr());
        Ok(())
    }

    /// How many programs the round itself linked: they are gone.
    pub(crate) fn count_linked(&self) -> usize {
        record::find(&[self.scratch.path().join("upper")]).map_or(0, |r| r.len())
    }
}

/// A reader that stops early is no error.
fn copy_to(from: &Path, to: &mut impl io::Write) {
    let _ = File::open(from).and_then(|mut f| io::copy(&mut f, to));
}

/// A path as one word of a shell.
///
/// # Errors
/// It is no UTF-8: it would be another file's name in a script.
fn quote_path(path: &Path) -> Result<String> {
    let text = path.to_str().and_then(|t| shlex::try_quote(t).ok());
    let Some(text) = text else {
        let e = io::Error::from(ErrorKind::InvalidInput);
        return Err(Error::read(path, e));
    };
    Ok(text.into_owned())
}
