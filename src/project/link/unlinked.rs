//! Sources that were compiled and that no link took: what coverage counts as uncovered beside the programs of a build.
//!
//! Under `build -o DIR` every compilation and every link leaves a note in [`FOLDER`], each in a file of its own, so
//! that they need no locks. When the build has ended, each source without a link is analysed like a program of one
//! module, and its manifest is kept. A source counts as linked if any object that was made of it was linked: libtool
//! compiles a source twice, and links one of the objects.

use super::modules::{self, LinkedModules, Module};
use super::trace::Linked;
use crate::base::error::{Error, Result};
use crate::base::names::escape_unprintable;
use crate::input::load::container::{self, Embedded};
use crate::profile::manifest::Manifest;
pub use crate::profile::several::UNLINKED as FOLDER;
use crate::project::cc::Language;
use crate::project::cc::arguments::CommandLine;
use crate::project::cc::clang::Compiler;
use crate::project::cc::settings::{Settings, selects_paths};
use crate::project::cc::word::Word;
use crate::project::interrupt::{Scratch, is_ending};
use crate::project::tools::{not_loaded, our_program, require_success};
use crate::write::output::write_whole;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// In it: a note for each object.
const OBJECTS: &str = "objects";
/// In it: a note for each program.
const LINKS: &str = "links";
/// In it: a folder with a manifest for each source that no link took.
const SOURCES: &str = "sources";
const MANIFEST: &str = "manifest.json";

/// What an object was compiled from.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CompilationNote {
    source: PathBuf,
    object: PathBuf,
    /// The digest of the object's bitcode: archives and build systems move objects.
    bitcode: String,
}

/// What a link took.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkNote {
    program: PathBuf,
    /// The folder of the program's copies.
    folder: PathBuf,
    /// The digests of the bitcode of objects.
    bitcode: BTreeSet<String>,
    /// The files, archives included; not their members.
    files: BTreeSet<PathBuf>,
    /// The sources that the link itself compiled.
    sources: BTreeSet<PathBuf>,
}

/// What a build knows of sources that no link took.
#[derive(Debug, Default)]
pub struct Unlinked {
    /// The sources whose manifests are kept.
    pub sources: Vec<PathBuf>,
    /// Why others have none, one line each.
    pub problems: Vec<String>,
}

impl Unlinked {
    /// Nothing is known, and why.
    pub(crate) fn from_problem(problem: &Error) -> Unlinked {
        Unlinked {
            sources: Vec::new(),
            problems: vec![problem.to_string()],
        }
    }
}

/// Makes the folder in which compilations and links leave notes.
///
/// # Errors
/// The folder cannot be made.
pub(crate) fn prepare(out: &Path) -> Result<()> {
    let folder = out.join(FOLDER);
    std::fs::create_dir_all(&folder).map_err(|e| Error::write(folder, e))
}

/// The folder of notes, if a build made one.
fn notes(settings: &Settings) -> Option<PathBuf> {
    let folder = settings.out.as_ref()?.join(FOLDER);
    folder.is_dir().then_some(folder)
}

/// Notes that `object` was compiled from `source`. A problem is a warning: the object is there.
pub(crate) fn note_compilation(settings: &Settings, source: &Word, object: &Path) {
    let (Some(folder), Word::Source { file, .. }) = (notes(settings), source) else {
        return;
    };
    // The compiler may have been told to write something else, or nothing.
    let Some(embedded) = read_embedded(object) else {
        return;
    };
    let (Ok(source), Ok(object)) = (std::fs::canonicalize(file), std::fs::canonicalize(object))
    else {
        // Standard input has no name.
        return;
    };
    let name = note_name(&object);
    let note = CompilationNote {
        source,
        object,
        bitcode: digest(&embedded.bitcode),
    };
    write_note(&folder.join(OBJECTS).join(name), &note);
}

/// Notes what the link of `program` took: what the linker reported, and the files that the command line names.
pub(crate) fn note_link(
    settings: &Settings,
    program: &Path,
    line: &CommandLine,
    linked: &[Linked],
) {
    let Some(folder) = notes(settings) else {
        return;
    };
    // What cannot be read is reported where copies are made; files are noted by name all the same.
    let found = LinkedModules::new(linked, &Default::default(), None).unwrap_or_default();
    let reported = linked.iter().filter_map(|l| match l {
        Linked::File(file) => Some(file),
        Linked::Member { .. } => None,
    });
    let named = line.words.iter().filter_map(|w| match w {
        Word::Input(file) => Some(file),
        _ => None,
    });
    let known = found.modules.iter().map(|m| digest(&m.embedded.bitcode));
    let note = LinkNote {
        program: program.to_path_buf(),
        folder: settings.folder(program),
        bitcode: known.chain(left_digests(&found)).collect(),
        files: reported
            .chain(named)
            .flat_map(std::fs::canonicalize)
            .collect(),
        sources: line.sources().flat_map(std::fs::canonicalize).collect(),
    };
    write_note(&folder.join(LINKS).join(note_name(program)), &note);
}

/// The digests of bitcode that may be in what a link left as it is: these objects are no modules of the program, and
/// yet run.
fn left_digests(found: &LinkedModules) -> Vec<String> {
    let left = found.left.iter();
    let holders = left.filter(|(_, why)| [modules::AMBIGUOUS, modules::SEVERAL].contains(why));
    let objects = holders.flat_map(|(from, _)| match from {
        Linked::File(file) => std::fs::read(file).into_iter().collect::<Vec<_>>(),
        Linked::Member {
            archive, member, ..
        } => {
            let bytes = std::fs::read(archive).unwrap_or_default();
            let members = container::members(Path::new(archive), &bytes).unwrap_or_default();
            let named = members.into_iter().filter(|m| m.name == *member);
            named.filter_map(|m| m.bytes.ok()).collect()
        }
    });
    let modules = objects.flat_map(|bytes| container::all_embedded(&bytes));
    modules.map(|bitcode| digest(&bitcode)).collect()
}

fn write_note(path: &Path, note: &impl Serialize) {
    let json = serde_json::to_vec(note).expect("a note serialises");
    if let Err(e) = write_whole(path, &json) {
        let why = e.to_string();
        anstream::eprintln!(
            "p3-cc: warning: coverage may be wrong about sources that were never linked: {}",
            escape_unprintable(&why)
        );
    }
}

/// The notes in a folder, with their files. What is no note of this version is left out.
fn read_notes<T: DeserializeOwned>(folder: &Path) -> Vec<(PathBuf, T)> {
    let files = folder.read_dir().into_iter().flatten().flatten();
    let read = |path: PathBuf| {
        let note = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
        Some((path, note))
    };
    files.filter_map(|f| read(f.path())).collect()
}

/// Analyses the sources that no link took, and forgets the manifests of those that are linked or gone by now. `flags`
/// are the options of the build's rewriting. What was analysed before is not analysed again.
///
/// # Errors
/// There is no compiler; the folder cannot be changed.
pub(crate) fn update(out: &Path, flags: &[String]) -> Result<Unlinked> {
    let folder = out.join(FOLDER);
    let flags = baseline_flags(flags);
    let mut wanted = BTreeMap::new();
    for (source, embedded) in find_unlinked(&folder) {
        wanted.insert(
            manifest_name(&source, &embedded, &flags),
            (source, embedded),
        );
    }
    let kept = folder.join(SOURCES);
    for old in kept.read_dir().into_iter().flatten().flatten() {
        if !wanted.contains_key(&*old.file_name().to_string_lossy()) {
            let path = old.path();
            std::fs::remove_dir_all(&path).map_err(|e| Error::write(path, e))?;
        }
    }
    if wanted.is_empty() {
        return Ok(Unlinked::default());
    }
    let compiler = Compiler::find(Language::C)?;
    let keep = |(name, (source, embedded)): (String, (PathBuf, Embedded))| {
        let path = kept.join(name).join(MANIFEST);
        let kept = keep_manifest(&compiler, &source, embedded, &flags, &path);
        let has_code = kept.map_err(|e| format!("{}: {e}", source.display()))?;
        Ok((source, has_code))
    };
    let results: Vec<std::result::Result<(PathBuf, bool), String>> =
        wanted.into_par_iter().map(keep).collect();
    let mut unlinked = Unlinked::default();
    for result in results {
        match result {
            Ok((source, true)) => unlinked.sources.push(source),
            Ok((_, false)) => {}
            Err(problem) => unlinked.problems.push(problem),
        }
    }
    unlinked.sources.sort();
    Ok(unlinked)
}

/// The sources that no link took, each with the bitcode of one of its objects. Notes of what is gone are removed.
fn find_unlinked(folder: &Path) -> BTreeMap<PathBuf, Embedded> {
    let mut links: Vec<LinkNote> = Vec::new();
    for (path, link) in read_notes::<LinkNote>(&folder.join(LINKS)) {
        // Coverage reads the manifest of a program that was moved.
        if link.program.is_file() || link.folder.join(MANIFEST).is_file() {
            links.push(link);
        } else {
            let _ = std::fs::remove_file(path);
        }
    }
    let mut objects = read_notes::<CompilationNote>(&folder.join(OBJECTS));
    objects.sort_by(|a, b| a.1.object.cmp(&b.1.object));
    let is_taken = |o: &CompilationNote| {
        let takes = |l: &LinkNote| l.bitcode.contains(&o.bitcode) || l.files.contains(&o.object);
        links.iter().any(takes)
    };
    let (taken, free): (Vec<_>, Vec<_>) = objects.into_iter().partition(|(_, o)| is_taken(o));
    let mut linked: BTreeSet<PathBuf> = taken.into_iter().map(|(_, o)| o.source).collect();
    linked.extend(links.into_iter().flat_map(|l| l.sources));
    let mut unlinked = BTreeMap::new();
    for (path, object) in free {
        match read_embedded(&object.object).filter(|e| digest(&e.bitcode) == object.bitcode) {
            None => drop(std::fs::remove_file(path)),
            Some(_) if linked.contains(&object.source) || !object.source.is_file() => {}
            Some(embedded) => {
                unlinked.entry(object.source).or_insert(embedded);
            }
        }
    }
    unlinked
}

/// Makes a source's manifest, unless it is there; whether the source has functions.
fn keep_manifest(
    compiler: &Compiler,
    source: &Path,
    embedded: Embedded,
    flags: &[String],
    path: &Path,
) -> Result<bool> {
    if !path.is_file() {
        if is_ending() {
            return Ok(false);
        }
        analyse(compiler, source, embedded, flags, path)?;
    }
    Ok(!Manifest::read(path)?.functions.is_empty())
}

/// Writes the manifest of one source, analysed as a program of its own: two sources that nobody links may define one
/// symbol.
fn analyse(
    compiler: &Compiler,
    source: &Path,
    embedded: Embedded,
    flags: &[String],
    manifest: &Path,
) -> Result<()> {
    let work = Scratch::new().map_err(|e| Error::write(std::env::temp_dir(), e))?;
    let at = |name: &str| work.path().join(name);
    for folder in ["inputs", "embedded"] {
        std::fs::create_dir(at(folder)).map_err(|e| Error::write(at(folder), e))?;
    }
    let name = source.to_string_lossy().into_owned();
    let module = Module {
        name: modules::without_parents(&name),
        from: Linked::File(name),
        embedded,
    };
    modules::optimise(&[module], compiler, &at("inputs"), &at("embedded"))?;
    let mut rewrite = Command::new(our_program("p3-rewrite")?);
    rewrite.arg(at("inputs")).arg("-o").arg(at("out"));
    rewrite.args(["-q", "-k", "1", "-j", "1"]).args(flags);
    let run = rewrite.stdin(Stdio::null()).output();
    let run = run.map_err(|e| Error::Usage(format!("p3-rewrite: {e}")))?;
    not_loaded(&run).map_or(Ok(()), |why| Err(Error::Usage(why)))?;
    require_success(&run, "p3-rewrite failed")?;
    let written = at("out").join(MANIFEST);
    let bytes = std::fs::read(&written).map_err(|e| Error::read(&written, e))?;
    write_whole(manifest, &bytes)
}

/// The options of the build's rewriting, with a scheme that counts paths in one copy: no copy of a baseline runs.
/// Nothing of it ran, selected or not, and so an earlier profile, which need not know the source, is of no use.
fn baseline_flags(flags: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        if ["--scheme", "--profile"].contains(&flag.as_str()) || selects_paths(flag) {
            // Its value, unless that is in the same word.
            if !flag.contains('=') {
                rest.next();
            }
        } else {
            all.push(flag.clone());
        }
    }
    all.extend(["--scheme", "sbl"].map(String::from));
    all
}

/// The name of the folder for a source's manifest: another if anything that the manifest depends on is.
fn manifest_name(source: &Path, embedded: &Embedded, flags: &[String]) -> String {
    let mut hash = blake3::Hasher::new();
    let version = env!("CARGO_PKG_VERSION");
    let words = embedded.flags.iter().chain(flags).map(String::as_bytes);
    let parts = [version.as_bytes(), source.as_os_str().as_bytes()];
    for part in parts
        .into_iter()
        .chain(words)
        .chain([&embedded.bitcode[..]])
    {
        hash.update(&part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().to_hex()[..32].to_string()
}

fn digest(bitcode: &[u8]) -> String {
    blake3::hash(bitcode).to_hex()[..32].to_string()
}

fn note_name(path: &Path) -> String {
    let hash = blake3::hash(path.as_os_str().as_bytes()).to_hex();
    format!("{}.json", &hash[..32])
}

/// The bitcode of an object of our compilers.
fn read_embedded(object: &Path) -> Option<Embedded> {
    let bytes = std::fs::read(object).ok()?;
    let embedded = container::extract_embedded(&bytes).ok();
    embedded.filter(|e| !e.flags.is_empty())
}
