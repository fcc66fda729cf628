//! What `p3-cc` and `p3-cxx` do with a command line.

use super::cc::arguments::{CommandLine, Task};
use super::cc::clang::Compiler;
use super::cc::settings::{CALLED, Settings};
use super::cc::word::Word;
use super::cc::{Given, Language, linker};
use super::link;
use crate::base::error::Result;
use std::path::Path;

/// Runs the compiler with `arguments`; its exit status.
///
/// # Errors
/// There is no clang; what is in the environment makes no sense. What goes wrong with copies is a warning: the program
/// is there, as the compiler made it.
pub fn run(language: Language, arguments: Vec<String>) -> Result<u8> {
    let settings = Settings::from_environment()?;
    let compiler = Compiler::find(language)?;
    let line = CommandLine::new(arguments.iter().cloned());
    settings.note_work(CALLED);
    if settings.off || line.task == Task::Other || asks_only(&line) {
        if line.task == Task::Link {
            link::forget_copies(&line, &settings);
        }
        return Err(compiler.become_it(&arguments));
    }
    if let Some(reason) = line.needs_lto() {
        return match line.task {
            Task::Link => {
                link::link_without_copies(&compiler, &arguments, &line, &settings, reason)
            }
            _ => Err(compiler.become_it(&arguments)),
        };
    }
    let without = without_lto(line.clone());
    let words = if without == line {
        arguments
    } else {
        without.arguments()
    };
    let given = Given {
        words,
        line: without,
    };
    if given.line.task == Task::Compile {
        link::compile::compile(&compiler, &given, &settings)
    } else {
        link::link(&compiler, &given, &settings)
    }
}

/// Whether the build system asks what the compiler can do, and the program is none of the project's: autoconf's
/// `conftest`, and what CMake and Meson make in folders of their own.
fn asks_only(line: &CommandLine) -> bool {
    let here = std::env::current_dir().unwrap_or_default();
    let output = line.output().unwrap_or("a.out".into());
    let stem = Path::new(&output).file_stem().unwrap_or_default();
    let sources = line
        .sources()
        .map(|s| Path::new(s).file_stem().unwrap_or_default());
    if sources
        .chain([stem])
        .any(|s| s.to_string_lossy().starts_with("conftest"))
    {
        return true;
    }
    // An object of a project's own lies in CMakeFiles, too, but is not made there.
    let folders = match line.task {
        Task::Link => here.join(&output),
        _ => here,
    };
    let names = ["CMakeFiles", "meson-private"];
    folders
        .components()
        .any(|c| names.iter().any(|n| c.as_os_str() == *n))
}

/// Objects must be machine code: optimising at the link is left out, as `docs/BUILD.md` says.
fn without_lto(mut line: CommandLine) -> CommandLine {
    let begins = [
        "-flto",
        "-ffat-lto-objects",
        "-fsplit-lto-unit",
        "-fthinlto-index",
        "-funified-lto",
        "-fvirtual-function-elimination",
        "-fwhole-program-vtables",
        "-fembed-bitcode",
    ];
    line.words.retain(|w| match w {
        Word::Option(words) => !begins.iter().any(|b| words[0].starts_with(b)),
        _ => true,
    });
    line.words = linker::without_plugin_options(&line.words);
    line
}
