//! Objects as clang makes them, with the bitcode that they were made of.

use super::staged::{self, Ended};
use super::unlinked;
use crate::base::error::{Error, Result};
use crate::input::load::container;
use crate::project::cc::Given;
use crate::project::cc::clang::Compiler;
use crate::project::cc::settings::{LINES_ADDED, Settings};
use crate::project::cc::word::Word;
use crate::project::interrupt::Scratch;
use crate::project::tools::require_success;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The option by which clang leaves bitcode, before it is optimised, in objects, and its own options beside it.
pub(super) const EMBED: [&str; 2] = ["-Xclang", "-fembed-bitcode=all"];

/// Lines in the bitcode where the command line asks for no debug information: reports name lines, not blocks.
pub(super) const LINES: &str = "-gline-tables-only";

/// Compiles; the exit status of the compiler.
pub(crate) fn compile(compiler: &Compiler, given: &Given, settings: &Settings) -> Result<u8> {
    let line = &given.line;
    if !line.words.iter().any(Word::has_bitcode) {
        // With an assembler's input alone, the option would be one that is not used (-Werror).
        return Err(compiler.become_it(&given.words));
    }
    let scratch = Scratch::new().map_err(|e| Error::write(std::env::temp_dir(), e))?;
    let input = StandardInput::capture(line.reads_stdin(), scratch.path())?;
    if let Some(source) = staged::find_source(given, compiler) {
        let (lines, object) = (adds_lines(given, source), &line.objects()[0]);
        match staged::compile(compiler, given, lines, &input, object, scratch.path())? {
            Ended::Refused(status) => return Ok(status),
            Ended::Made => {
                if lines {
                    settings.note_work(LINES_ADDED);
                }
                let added = if lines {
                    Lines::InObject
                } else {
                    Lines::Compilers
                };
                claim_object(object, added)?;
                unlinked::note_compilation(settings, source, object);
                return Ok(0);
            }
            Ended::Unfinished => {}
        }
    }
    let mut clang = compiler.command();
    let keeps_temporaries =
        line.has_option_with_prefix("-save-temps") || line.has_option_with_prefix("--save-temps");
    if !keeps_temporaries {
        clang.args(EMBED);
    }
    let status = clang.args(&given.words).stdin(input.open()?).status();
    let status = compiler.status_of_run(status)?;
    if status != 0 {
        return Ok(status);
    }
    if keeps_temporaries {
        // What it left is without our sections, as it would have been; the object is made once more.
        let mut again = compiler.command();
        let saves = |o: &str| o.starts_with("-save-temps") || o.starts_with("--save-temps");
        let is_kept = |w: &&Word| !matches!(w, Word::Option(o) if saves(&o[0]));
        let words = line.words.iter().filter(is_kept).flat_map(Word::arguments);
        again
            .args(["-w", "-Qunused-arguments"])
            .args(EMBED)
            .args(words);
        let again = again.stdin(input.open()?).output();
        if !again.is_ok_and(|run| run.status.success()) {
            return Ok(0);
        }
    }
    let sources = line
        .words
        .iter()
        .filter(|w| matches!(w, Word::Source { .. }));
    for (object, source) in line.objects().iter().zip(sources) {
        let lines = adds_lines(given, source).then(|| {
            let bitcode = scratch.path().join("lines.bc");
            bitcode_with_lines(compiler, given, source, &input, &bitcode)
        });
        let lines = lines.flatten();
        if lines.is_some() {
            settings.note_work(LINES_ADDED);
        }
        let added = lines.as_deref().map_or(Lines::Compilers, Lines::Apart);
        claim_object(object, added)?;
        unlinked::note_compilation(settings, source, object);
    }
    Ok(0)
}

/// Whether the bitcode of a source has lines only if we ask for them.
pub(crate) fn adds_lines(given: &Given, source: &Word) -> bool {
    source.has_bitcode() && !given.line.has_debug_option()
}

/// Compiles one source for copies alone: quietly, to an object with bitcode that has lines.
///
/// # Errors
/// What clang said, though it compiled the source before.
pub(crate) fn compile_for_copies(
    compiler: &Compiler,
    given: &Given,
    source: &Word,
    input: &StandardInput,
    object: &Path,
) -> Result<()> {
    let mut clang = compiler.command();
    clang.args(given.line.quiet_options());
    if source.has_bitcode() {
        clang.args(EMBED);
    }
    if adds_lines(given, source) {
        clang.arg(LINES);
    }
    clang
        .arg("-c")
        .args(word_with_language(source))
        .arg("-o")
        .arg(object);
    let run = clang.stdin(input.open()?).output();
    let run = run.map_err(|e| compiler.run_error(&e))?;
    require_success(&run, "compiling a source a second time failed")?;
    claim_object(object, Lines::Compilers)
}

/// The bitcode of a source with lines, before it is optimised; `None` if clang does not make any.
fn bitcode_with_lines(
    compiler: &Compiler,
    given: &Given,
    source: &Word,
    input: &StandardInput,
    bitcode: &Path,
) -> Option<Vec<u8>> {
    let mut clang = compiler.command();
    clang
        .args(given.line.quiet_options())
        .args([LINES, "-emit-llvm"]);
    clang.args(["-Xclang", "-disable-llvm-passes", "-c"]);
    clang
        .args(word_with_language(source))
        .arg("-o")
        .arg(bitcode);
    let run = clang.stdin(input.open().ok()?).output().ok()?;
    run.status.success().then(|| std::fs::read(bitcode).ok())?
}

/// A source as a word that is no option, with its language.
fn word_with_language(source: &Word) -> Vec<String> {
    let Word::Source { file, language } = source else {
        return Vec::new();
    };
    let language = language.iter().flat_map(|l| ["-x".to_string(), l.clone()]);
    let is_option = file.starts_with('-') && file != "-";
    let file = if is_option {
        format!("./{file}")
    } else {
        file.clone()
    };
    language.chain([file]).collect()
}

/// Standard input, kept where it is a source: it is compiled more than once.
pub(crate) struct StandardInput(Option<PathBuf>);

impl StandardInput {
    pub(crate) fn capture(is_source: bool, folder: &Path) -> Result<StandardInput> {
        if !is_source {
            return Ok(StandardInput(None));
        }
        let path = folder.join("stdin");
        let file =
            File::create(&path).and_then(|mut f| std::io::copy(&mut std::io::stdin(), &mut f));
        file.map_err(|e| Error::write(&path, e))?;
        Ok(StandardInput(Some(path)))
    }

    pub(crate) fn open(&self) -> Result<Stdio> {
        let Some(path) = &self.0 else {
            return Ok(Stdio::inherit());
        };
        let file = File::open(path).map_err(|e| Error::read(path, e))?;
        Ok(file.into())
    }
}

/// Where lines are that only copies have.
enum Lines<'a> {
    /// There are none: the object has the lines that were asked for.
    Compilers,
    /// In the object's sections of debug information, and in its bitcode.
    InObject,
    /// In this bitcode, which is to take the place of the object's.
    Apart(&'a [u8]),
}

/// Makes the bitcode in an object ours, and has linkers drop lines that only copies have.
fn claim_object(object: &Path, lines: Lines) -> Result<()> {
    // The compiler may have been told to write elsewhere, or nothing.
    let Ok(bytes) = std::fs::read(object) else {
        return Ok(());
    };
    let mut appended = None;
    let patches = match lines {
        Lines::Compilers => container::section_patches(&bytes),
        Lines::InObject => {
            let mut patches = container::section_patches(&bytes);
            patches.extend(container::debug_patches(&bytes));
            patches
        }
        Lines::Apart(code) => match container::claims_with(&bytes, code) {
            Some((end, patches)) => {
                appended = Some((end, code));
                patches
            }
            None => container::section_patches(&bytes),
        },
    };
    if patches.is_empty() {
        return Ok(());
    }
    let file = File::options().write(true).open(object);
    let write = |file: File| {
        if let Some((end, code)) = appended {
            file.write_all_at(code, end)?;
        }
        patches
            .iter()
            .try_for_each(|(at, new)| file.write_all_at(new, *at))
    };
    file.and_then(write).map_err(|e| Error::write(object, e))
}
