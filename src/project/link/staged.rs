//! A source compiled in two steps: to optimised bitcode, and from there to the object that carries it.
//!
//! The source is read once and optimised once: what is rewritten at a link is the bitcode that the object's code was
//! made of. Where lines are wanted for copies alone, they are in that bitcode, and linkers drop the sections of the
//! object that have them.

use super::compile::{EMBED, LINES, StandardInput};
use crate::project::cc::Given;
use crate::project::cc::arguments::CommandLine;
use crate::project::cc::clang::Compiler;
use crate::project::cc::word::Word;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::{Child, Stdio};

/// The option of `-cc1` by which code is made of bitcode that was optimised before.
pub(crate) const OPTIMISED: &str = "-disable-llvm-passes";

/// How the first step and the second ended.
pub(super) enum Ended {
    /// The source was not compiled: clang's status.
    Refused(u8),
    /// The object is there, with bitcode.
    Made,
    /// Making code failed or was commented on. The object is to be made in one step, in which clang knows the source
    /// that it writes about.
    Unfinished,
}

/// Beginnings of options for which one step is needed: clang writes a file named by the object, or makes no bitcode of
/// its own, or the caller says what clang's inner command is, or code goes through an assembler.
const WHOLE: [&str; 24] = [
    "--coverage",
    "--offload",
    "--save-temps",
    "--serialize-diagnostics",
    "-MJ",
    "-R",
    "-Xclang",
    "-arch",
    "-coverage",
    "-emit",
    "-fmodule",
    "-fno-integrated-as",
    "-foptimization-record",
    "-fopenmp-targets",
    "-fprebuilt-module",
    "-fprofile-arcs",
    "-fsave-optimization-record",
    "-fstack-usage",
    "-ftest-coverage",
    "-ftime-",
    "-gsplit-dwarf",
    "-index-store-path",
    "-no-integrated-as",
    "-save-temps",
];

/// Endings and languages that are compiled to bitcode in one step of clang's.
const ENDINGS: [&str; 9] = ["C", "c", "cc", "cp", "cpp", "cxx", "c++", "i", "ii"];
const LANGUAGES: [&str; 4] = ["c", "c++", "cpp-output", "c++-cpp-output"];

/// The only source of what was given, if two steps make of it what one makes.
pub(super) fn find_source<'a>(given: &'a Given, compiler: &Compiler) -> Option<&'a Word> {
    let line = &given.line;
    let is_source = |w: &&Word| matches!(w, Word::Source { .. });
    let mut sources = line.words.iter().filter(is_source);
    let source = sources.next().filter(|_| sources.next().is_none())?;
    let Word::Source { file, language } = source else {
        return None;
    };
    let is_known = match language {
        Some(language) => LANGUAGES.contains(&language.as_str()),
        None => {
            let ending = Path::new(file).extension().and_then(|e| e.to_str());
            ending.is_some_and(|e| ENDINGS.contains(&e))
        }
    };
    // clang takes `--output=FILE`, and writes elsewhere.
    let is_long = |word: &String| word.starts_with("--output");
    let is_whole =
        given.words.iter().any(is_long) || WHOLE.iter().any(|o| line.has_option_with_prefix(o));
    // ccache knows what it has seen by the command, and bitcode as input it does not take.
    (is_known && !is_whole && !compiler.has_launcher()).then_some(source)
}

/// Compiles the only source of `given` to `object`, for whose copies it adds lines if `lines`. `work` is a folder of
/// this compilation's.
pub(super) fn compile(
    compiler: &Compiler,
    given: &Given,
    lines: bool,
    input: &StandardInput,
    object: &Path,
    work: &Path,
) -> crate::base::error::Result<Ended> {
    let line = &given.line;
    let bitcode = work.join("optimised.bc");
    let mut first = compiler.command();
    // What it prints is not to be seen twice if one step is needed after all, so it is not clang's to look for colours.
    first.args(
        std::io::stderr()
            .is_terminal()
            .then_some("-fcolor-diagnostics"),
    );
    first.args(lines.then_some(LINES));
    // In another order of uses, code generation places instructions in another one.
    first.args(["-Xclang", "-emit-llvm-bc", "-Xclang", "-emit-llvm-uselists"]);
    first.arg("-o").arg(&bitcode);
    first.args(dependency_options(line, object));
    let is_kept = |w: &&Word| !matches!(w, Word::Output(_));
    first.args(line.words.iter().filter(is_kept).flat_map(Word::arguments));
    first.stdin(input.open()?).stderr(Stdio::piped());
    let run = first.spawn().and_then(Child::wait_with_output);
    let run = run.map_err(|e| compiler.run_error(&e))?;
    let status = compiler.status_of_run(Ok(run.status))?;
    // Whoever reads it may be gone.
    let print = || drop(std::io::stderr().write_all(&run.stderr));
    if status != 0 {
        print();
        return Ok(Ended::Refused(status));
    }
    let mut second = compiler.command();
    second.args(line.code_options());
    // The first step has said so.
    second.arg("-Wno-unknown-warning-option");
    second.args(EMBED).args(["-Xclang", OPTIMISED]);
    second.args(["-c", "-x", "ir"]).arg(&bitcode);
    let made = second.arg("-o").arg(object).stdin(Stdio::null()).output();
    let is_made = made.is_ok_and(|run| run.status.success() && run.stderr.is_empty());
    if !is_made {
        return Ok(Ended::Unfinished);
    }
    print();
    Ok(Ended::Made)
}

/// The options by which the rules that clang writes for make name `object`, and lie beside it, as without `-o`
/// elsewhere. None if no rules are asked for.
fn dependency_options(line: &CommandLine, object: &Path) -> Vec<String> {
    let has = |prefixes: &[&str]| prefixes.iter().any(|p| line.has_option_with_prefix(p));
    let by_preprocessor = has(&["-Wp,-MD", "-Wp,-MMD"]);
    if !by_preprocessor && !has(&["-MD", "-MMD"]) {
        return Vec::new();
    }
    let mut options = Vec::new();
    if !has(&["-MT", "-MQ", "-Wp,-MT", "-Wp,-MQ"]) {
        options.extend(["-MQ".into(), object.to_string_lossy().into_owned()]);
    }
    if !by_preprocessor && !has(&["-MF"]) {
        let rules = object.with_extension("d");
        options.extend(["-MF".into(), rules.to_string_lossy().into_owned()]);
    }
    options
}
