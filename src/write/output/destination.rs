//! Where a command writes its result: a file or standard output. What we did not write is not replaced.
//!
//! An existing file is replaced if it is empty, if it has the [`Mark`] of what is written and so is an earlier result
//! of the same kind, if it already holds the same bytes, or if the user asks for it (`--force`). A file that the
//! command reads is never replaced. A symbolic link is not followed, unless it leads to a device or pipe; those are
//! written to as they are.

use super::{list, name_unlisted_temporary, stage_file, write_whole};
use crate::base::error::{Error, Result};
use std::fs::{File, Metadata};
use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How an earlier result is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The file begins with these bytes.
    Start(&'static [u8]),
    /// These words are among its first 4096 bytes.
    Head(&'static str),
    /// These words are somewhere in it: for formats whose order is not ours.
    Within(&'static str),
    /// Its first line is that of the new result: a heading that nobody else writes.
    FirstLine,
    /// The format has no room for a mark.
    None,
}

/// How much of a file [`Mark::Head`] looks at.
const HEAD: u64 = 4096;
/// No heading of [`Mark::FirstLine`] is longer.
const LONGEST_LINE: usize = 1024;

/// The extensions of what commands read in folders: raw profiles and modules.
const INPUTS: [&str; 6] = ["p3raw", "bc", "ll", "mlir", "o", "a"];

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// How an earlier result of the same kind is recognised.
    pub mark: Mark,
    /// Whether it is text, which a terminal can show.
    pub text: bool,
}

impl Content {
    /// Text with this mark.
    pub const fn text(mark: Mark) -> Content {
        Content { mark, text: true }
    }

    /// Bytes with this mark.
    pub const fn binary(mark: Mark) -> Content {
        Content { mark, text: false }
    }
}

/// The names under which standard output is a file: to replace a link of this kind would take it from everybody.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// A place for a result.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    content: Content,
    force: bool,
}

impl Destination {
    /// The file `path`, or standard output if that is `-`. `force`: another file there may be replaced.
    pub(crate) fn new(path: &Path, content: Content, force: bool) -> Destination {
        Destination {
            path: path.to_path_buf(),
            content,
            force,
        }
    }

    /// Whether this is standard output, so that messages belong on standard error.
    pub(crate) fn is_stdout(&self) -> bool {
        is_stdout(&self.path)
    }

    /// Refuses what is known to fail before there is a result: a terminal for bytes, a folder, a link, one of `inputs`,
    /// which the command reads (raw profiles and modules in the folders among them too).
    ///
    /// # Errors
    /// One of these.
    pub(crate) fn check_before_work<'a>(
        &self,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<()> {
        if self.is_stdout() {
            if !self.content.text && std::io::stdout().is_terminal() {
                let message = "standard output is a terminal, and this is not text; name a file with -o, or pipe it";
                return Err(Error::Usage(message.into()));
            }
            return Ok(());
        }
        let Some(there) = self.existing_metadata()? else {
            return Ok(());
        };
        if there.is_dir() {
            return Err(self.refusal("is a folder", "name a file with -o"));
        }
        if inputs.into_iter().any(|i| is_read(i, &self.path, &there)) {
            let problem = "is read by this command, which would replace it";
            return Err(self.refusal(problem, "name another file with -o"));
        }
        Ok(())
    }

    /// Writes the result, by rename: whole or not at all.
    ///
    /// # Errors
    /// It cannot be written, or would replace something else.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        self.check_before_work([])?;
        if self.is_stdout() {
            return print_bytes(bytes).map_err(|e| Error::write("standard output", e));
        }
        if self.may_replace(bytes)? {
            write_whole(&self.path, bytes)
        } else {
            let problem = "exists, and is not an earlier result of this command";
            Err(self.refusal(problem, self.remedy()))
        }
    }

    /// Refuses, before anything is written, what [`Destination::write`] would.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn check_for(&self, bytes: &[u8]) -> Result<()> {
        self.check_before_work([])?;
        if self.is_stdout() || self.may_replace(bytes)? {
            return Ok(());
        }
        let problem = "exists, and is not an earlier result of this command";
        Err(self.refusal(problem, self.remedy()))
    }

    /// What is at the place, devices and pipes excepted.
    fn existing_metadata(&self) -> Result<Option<Metadata>> {
        let itself = match std::fs::symlink_metadata(&self.path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            found => found.map_err(|e| Error::write(&self.path, e))?,
        };
        if !itself.is_symlink() {
            return Ok((itself.is_file() || itself.is_dir()).then_some(itself));
        }
        let to = std::fs::metadata(&self.path).ok();
        if to.as_ref().is_some_and(|m| !m.is_file() && !m.is_dir()) {
            return Ok(None);
        }
        let link = "is a symbolic link, which is not followed";
        match to {
            Some(to) if self.force => Ok(to.is_file().then_some(to)),
            None if self.force => Ok(None),
            _ => Err(self.refusal(link, self.remedy())),
        }
    }

    fn may_replace(&self, bytes: &[u8]) -> Result<bool> {
        let Some(there) = self.existing_metadata()?.filter(|_| !self.force) else {
            return Ok(true);
        };
        let matches = || {
            let file = File::open(&self.path)?;
            Ok(has_mark(&file, self.content.mark, bytes)?
                || self.contains_already(&there, bytes)?)
        };
        let matches: std::io::Result<bool> = matches();
        // One that we may not read is none of ours.
        Ok(there.len() == 0 || matches.unwrap_or(false))
    }

    fn contains_already(&self, there: &Metadata, bytes: &[u8]) -> std::io::Result<bool> {
        Ok(there.len() == bytes.len() as u64 && std::fs::read(&self.path)? == bytes)
    }

    fn remedy(&self) -> &'static str {
        "name another file with -o, or replace it by --force"
    }

    fn refusal(&self, problem: &str, remedy: &str) -> Error {
        Error::Usage(format!("{}: {problem}; {remedy}", self.path.display()))
    }
}

/// Whether `path` is a name of standard output.
fn is_stdout(path: &Path) -> bool {
    STDOUT.iter().any(|name| path == Path::new(name))
}

/// Refuses `-` where a folder is to be written.
///
/// # Errors
/// `folder` is a name of standard output.
fn check_folder_name(folder: &Path) -> Result<()> {
    if is_stdout(folder) {
        let name = folder.display();
        let message = format!(
            "-o {name}: this writes a folder, which standard output cannot take; name a folder (./- for one called -)"
        );
        return Err(Error::Usage(message));
    }
    Ok(())
}

/// Refuses a place where no folder can be: a name of standard output, a file or something below one, a symbolic link
/// that leads nowhere.
///
/// # Errors
/// `folder` is one of these.
pub(crate) fn check_folder(folder: &Path) -> Result<()> {
    check_folder_name(folder)?;
    // The parts alone: with a slash behind the name of a file, the kernel only says that there is no folder.
    let folder: PathBuf = folder.components().collect();
    let there = |at: &&Path| std::fs::symlink_metadata(at).is_ok();
    let Some(at) = folder.ancestors().find(there) else {
        return Ok(());
    };
    let problem = match std::fs::metadata(at) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => "this is a file; name a folder",
        Err(_) => "this is a symbolic link that leads to nothing; name another folder",
    };
    Err(Error::Usage(format!("-o {}: {problem}", at.display())))
}

/// Writes files with their marks below `folder`, all or none of which may be written: those that stand there are
/// earlier results, and no folder on the way to them is a link.
///
/// # Errors
/// Something else is there, or they cannot be written.
pub(crate) fn write_files(
    folder: &Path,
    files: &[(String, Vec<u8>, Mark)],
    force: bool,
) -> Result<()> {
    check_folder(folder)?;
    let mut destinations = Vec::with_capacity(files.len());
    for (name, bytes, mark) in files {
        if let Some(link) = list::link_on_the_way(folder, name) {
            let problem = "is a symbolic link, which is not followed";
            let message = format!(
                "{}: {problem}; name another folder with -o",
                folder.join(link).display()
            );
            return Err(Error::Usage(message));
        }
        let destination = Destination::new(&folder.join(name), Content::text(*mark), force);
        destination.check_for(bytes)?;
        destinations.push((destination, bytes));
    }
    write_all_or_none(folder, &destinations)
}

/// Writes each file beside its place before any is in it, so that nothing is half-written where there is no room for
/// all. Folders that were made for them are removed then.
fn write_all_or_none(folder: &Path, files: &[(Destination, &Vec<u8>)]) -> Result<()> {
    let mut made = MadeFolders::default();
    let mut staged = Vec::with_capacity(files.len());
    for (destination, bytes) in files {
        let path = &destination.path;
        let parent = path.parent().unwrap_or(folder);
        made.make_folder(parent)
            .map_err(|e| Error::write(parent, e))?;
        let fill = |file: &mut File| file.write_all(bytes);
        staged.push((
            stage_file(path, fill, &mut name_unlisted_temporary())?,
            path,
        ));
    }
    for (file, path) in staged {
        file.persist(path)
            .map_err(|e| Error::write(path, e.error))?;
    }
    made.keep_folders();
    Ok(())
}

/// Folders that did not exist before, the outermost first; those that are empty are removed when it is dropped, unless
/// they are kept.
#[derive(Default)]
struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    fn make_folder(&mut self, folder: &Path) -> std::io::Result<()> {
        let missing = |f: &&Path| !f.as_os_str().is_empty() && !f.exists();
        let missing: Vec<&Path> = folder.ancestors().take_while(missing).collect();
        for folder in missing.into_iter().rev() {
            std::fs::create_dir(folder)?;
            self.0.push(folder.to_path_buf());
        }
        Ok(())
    }

    fn keep_folders(mut self) {
        self.0.clear();
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Whether the file `there`, called `path`, is read where a command reads `input`.
fn is_read(input: &Path, path: &Path, there: &Metadata) -> bool {
    let Ok(read) = std::fs::metadata(input) else {
        return false;
    };
    if !read.is_dir() {
        return (read.dev(), read.ino()) == (there.dev(), there.ino());
    }
    let is_input = path
        .extension()
        .is_some_and(|e| INPUTS.iter().any(|i| e == *i));
    let whole = |p: &Path| p.canonicalize().ok();
    let below = || Some(whole(path)?.starts_with(whole(input)?));
    is_input && below().unwrap_or(false)
}

fn has_mark(file: &File, mark: Mark, new: &[u8]) -> std::io::Result<bool> {
    let read = |most: u64| {
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).map(|_| bytes)
    };
    Ok(match mark {
        Mark::Start(start) => read(start.len() as u64)? == start,
        Mark::Head(words) => contains_words(&read(HEAD)?, words),
        Mark::Within(words) => contains_words(&read(u64::MAX)?, words),
        Mark::FirstLine => {
            let line = new.iter().position(|b| *b == b'\n').map(|end| &new[..=end]);
            match line.filter(|l| l.len() <= LONGEST_LINE) {
                Some(line) => read(line.len() as u64)? == line,
                None => false,
            }
        }
        Mark::None => false,
    })
}

fn contains_words(bytes: &[u8], words: &str) -> bool {
    memchr::memmem::find(bytes, words.as_bytes()).is_some()
}

/// A reader that stops early is no error.
fn print_bytes(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests;
