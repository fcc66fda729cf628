//! A compiler's command line: what it is asked to do, and which of its words are files.
//!
//! Options are passed on as they stand. Only those that take the next word as their value must be known, lest the value
//! be taken for a file.

use super::linker;
use super::word::Word;
use std::path::{Path, PathBuf};

/// What a command line asks for, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Objects from sources.
    Compile,
    /// A program or a shared library, from objects or sources.
    Link,
    /// Anything else: the compiler does it.
    Other,
}

/// A command line without the compiler's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// Its words, response files expanded.
    pub(crate) words: Vec<Word>,
    /// What it asks for.
    pub(crate) task: Task,
}

/// Options whose value is the next word.
const WITH_VALUE: [&str; 66] = [
    "--config",
    "--param",
    "--serialize-diagnostics",
    "--sysroot",
    "--target",
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "-U",
    "-Xanalyzer",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xopenmp-target",
    "-Xpreprocessor",
    "-arch",
    "-aux-info",
    "-b",
    "-c-isystem",
    "-cxx-isystem",
    "-dumpbase",
    "-dumpdir",
    "-e",
    "-fdebug-compilation-dir",
    "-ftrapv-handler",
    "-gcc-toolchain",
    "-h",
    "-idirafter",
    "-iframework",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-index-store-path",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-l",
    "-mllvm",
    "-mthread-model",
    "-objc-isystem",
    "-rpath",
    "-serialize-diagnostics",
    "-stdlib++-isystem",
    "-target",
    "-u",
    "-wrapper",
    "-working-directory",
    "-z",
];

/// Options by which nothing is linked, and no object is made either.
const OTHER: [&str; 31] = [
    "-###",
    "--analyze",
    "--precompile",
    "--help",
    "--help-hidden",
    "--version",
    "-E",
    "-M",
    "-MM",
    "-S",
    "--assemble",
    "--preprocess",
    "-cc1",
    "-cc1as",
    "-ccc-print-bindings",
    "-ccc-print-phases",
    "-dM",
    "-dumpmachine",
    "-dumpversion",
    "-emit-ast",
    "-emit-interface-stubs",
    "-emit-llvm",
    "-emit-pch",
    "-extract-api",
    "-fdriver-only",
    "-fmodule-header",
    "-fsyntax-only",
    "-help",
    "-module-file-info",
    "-rewrite-objc",
    "-verify-pch",
];

/// Endings of what is compiled. (`.s` is assembled, which leaves no bitcode but is no different else.)
const SOURCES: [&str; 31] = [
    "C", "C++", "CC", "CPP", "CXX", "M", "S", "asm", "bc", "c", "c++", "c++m", "cc", "ccm", "cp",
    "cpp", "cppm", "cxx", "cxxm", "i", "ii", "iim", "ixx", "ll", "m", "mi", "mii", "mm", "pcm",
    "s", "sx",
];
const HEADERS: [&str; 6] = ["h", "H", "hh", "hpp", "hxx", "inc"];

impl CommandLine {
    /// Reads the words after the compiler's name. A response file that cannot be read stays a word: the compiler
    /// complains.
    pub(crate) fn new(arguments: impl Iterator<Item = String>) -> CommandLine {
        let expanded: Vec<String> = arguments.flat_map(expand).collect();
        let words = words(&expanded);
        let task = task(&words);
        CommandLine { words, task }
    }

    /// The file after `-o`; that of an `-o` for the linker alone (`-Wl,-o,FILE`), which comes behind the compiler's.
    pub(crate) fn output(&self) -> Option<String> {
        let of_compiler = || {
            let outputs = self.words.iter().rev();
            outputs.into_iter().find_map(|w| match w {
                Word::Output(file) => Some(file.clone()),
                _ => None,
            })
        };
        linker::output(&self.words).or_else(of_compiler)
    }

    /// Whether a file that is to be linked is not there.
    pub(crate) fn misses_input(&self) -> bool {
        let mut inputs = self.words.iter();
        inputs.any(|w| matches!(w, Word::Input(file) if !Path::new(file).exists()))
    }

    /// Whether one of the sources is standard input, which can be read once.
    pub(crate) fn reads_stdin(&self) -> bool {
        self.sources().any(|s| s == "-")
    }

    /// Whether the caller chose what debug information there is.
    pub(crate) fn has_debug_option(&self) -> bool {
        self.words.iter().any(
            |w| matches!(w, Word::Option(o) if o[0].starts_with("-g") && !o[0].starts_with("-gcc")),
        )
    }

    /// The options of a compilation that changes no file but its object and prints no warning: what clang wrote beside
    /// the object when it compiled as it was told stays as it is.
    pub(crate) fn quiet_options(&self) -> Vec<String> {
        let mut options = self.code_options();
        options.push("-w".into());
        options
    }

    /// The options of a compilation that changes no file but its object. Those that mean nothing to it are no reason to
    /// warn.
    pub(crate) fn code_options(&self) -> Vec<String> {
        let options = self.words.iter().filter_map(|w| match w {
            Word::Option(words) if words[0] != "--" && !writes_beside(&words[0]) => Some(words),
            _ => None,
        });
        let options = options.flatten().cloned();
        options.chain(["-Qunused-arguments".into()]).collect()
    }

    /// Whether an option is there as it is given.
    pub(crate) fn has_option(&self, option: &str) -> bool {
        self.words
            .iter()
            .any(|w| matches!(w, Word::Option(words) if words[0] == option))
    }

    /// Whether an option begins so.
    pub(crate) fn has_option_with_prefix(&self, prefix: &str) -> bool {
        self.words
            .iter()
            .any(|w| matches!(w, Word::Option(words) if words[0].starts_with(prefix)))
    }

    /// The sources, in order.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(|w| match w {
            Word::Source { file, .. } => Some(file.as_str()),
            _ => None,
        })
    }

    /// The objects that compiling makes, as the compiler names them.
    pub(crate) fn objects(&self) -> Vec<PathBuf> {
        if let Some(file) = self.output() {
            return vec![file.into()];
        }
        let stem = |file: &str| {
            Path::new(file)
                .with_extension("o")
                .file_name()
                .map(PathBuf::from)
        };
        self.sources().filter_map(stem).collect()
    }

    /// Why copies cannot be made of what it compiles or links, if they cannot: control-flow integrity is put into code
    /// when a link optimises it, and objects of copies are machine code.
    pub(crate) fn needs_lto(&self) -> Option<&'static str> {
        const CFI: &str = "-fsanitize=cfi checks what only link-time optimisation knows, and copies are linked \
                           without; compile without it";
        let mut is_on = false;
        for word in &self.words {
            let Word::Option(words) = word else {
                continue;
            };
            let lists = |option| words[0].strip_prefix(option).map(|list| list.split(','));
            if let Some(mut names) = lists("-fsanitize=") {
                is_on |= names.any(|name| name == "cfi" || name.starts_with("cfi-"));
            } else if let Some(mut names) = lists("-fno-sanitize=") {
                is_on &= !names.any(|name| name == "cfi" || name == "all");
            }
        }
        is_on.then_some(CFI)
    }

    /// The words again.
    pub(crate) fn arguments(&self) -> Vec<String> {
        self.words.iter().flat_map(Word::arguments).collect()
    }
}

/// Whether an option makes the compiler write a file beside the object, or counters into it for one (`--coverage`).
fn writes_beside(option: &str) -> bool {
    const BEGINS: [&str; 25] = [
        "--coverage",
        "--save-temps",
        "--serialize-diagnostics",
        "-MD",
        "-MF",
        "-MG",
        "-MJ",
        "-MMD",
        "-MP",
        "-MQ",
        "-MT",
        "-MV",
        "-Wp,-M",
        "-coverage",
        "-fmodule-output",
        "-foptimization-record-file",
        "-fprofile-arcs",
        "-fsave-optimization-record",
        "-fstack-usage",
        "-ftest-coverage",
        "-ftime-trace",
        "-gsplit-dwarf",
        "-index-store-path",
        "-save-temps",
        "-serialize-diagnostics",
    ];
    BEGINS.iter().any(|b| option.starts_with(b)) && option != "-MM"
}

impl Word {
    /// Whether it is an option by which a file beside the program is written, and that means nothing to the linker.
    pub(crate) fn writes_beside_link(&self) -> bool {
        let counts = |o: &str| ["--coverage", "-coverage", "-fprofile-arcs"].contains(&o);
        matches!(self, Word::Option(words) if writes_beside(&words[0]) && !counts(&words[0]))
    }

    /// Whether it is compiled to bitcode: assembler code is not.
    pub(crate) fn has_bitcode(&self) -> bool {
        match self {
            Word::Source {
                language: Some(language),
                ..
            } => !language.starts_with("assembler"),
            Word::Source { file, .. } => !is_named(file, &["s", "S", "sx", "asm"]),
            _ => false,
        }
    }

    /// The word as the compiler takes it.
    pub(crate) fn arguments(&self) -> Vec<String> {
        match self {
            Word::Source { file, .. } | Word::Input(file) => vec![file.clone()],
            Word::Output(file) => vec!["-o".into(), file.clone()],
            Word::Language(language) => vec!["-x".into(), language.clone()],
            Word::Option(words) => words.clone(),
        }
    }
}

/// The words in a response file, or the argument itself.
fn expand(argument: String) -> Vec<String> {
    let listed = argument.strip_prefix('@').and_then(|file| {
        let text = std::fs::read_to_string(file).ok()?;
        shlex::split(&text)
    });
    match listed {
        Some(words) => words.into_iter().flat_map(expand).collect(),
        None => vec![argument],
    }
}

fn words(arguments: &[String]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut language: Option<String> = None;
    let mut rest = arguments.iter();
    let mut only_files = false;
    while let Some(argument) = rest.next() {
        let word = match argument.as_str() {
            a if only_files => file(a, &language),
            "--" => {
                only_files = true;
                Word::Option(vec![argument.clone()])
            }
            "-o" | "--output" => match rest.next() {
                Some(file) => Word::Output(file.clone()),
                None => Word::Option(vec![argument.clone()]),
            },
            "-x" => match rest.next() {
                Some(name) => set_language(&mut language, name),
                None => Word::Option(vec![argument.clone()]),
            },
            // Standard input.
            "-" => source(argument, &language),
            a if a.starts_with("-x") => set_language(&mut language, &a[2..]),
            a if a.starts_with("--output=") => Word::Output(a["--output=".len()..].to_string()),
            a if a.starts_with("-o") && !is_option_with_o(a) => Word::Output(a[2..].to_string()),
            a if WITH_VALUE.contains(&a) => {
                let value = rest.next().cloned();
                Word::Option([argument.clone()].into_iter().chain(value).collect())
            }
            a if a.starts_with('-') => Word::Option(vec![argument.clone()]),
            a => file(a, &language),
        };
        words.push(word);
    }
    words
}

/// Options of clang that begin with `-o` and are no output's name.
fn is_option_with_o(argument: &str) -> bool {
    argument.starts_with("-objc") || argument.starts_with("-object")
}

fn set_language(language: &mut Option<String>, name: &str) -> Word {
    *language = Some(name.to_string()).filter(|n| n != "none");
    Word::Language(name.to_string())
}

/// A word that is no option.
fn file(name: &str, language: &Option<String>) -> Word {
    if language.is_some() || is_named(name, &SOURCES) || is_named(name, &HEADERS) {
        source(name, language)
    } else {
        Word::Input(name.to_string())
    }
}

fn source(file: &str, language: &Option<String>) -> Word {
    Word::Source {
        file: file.to_string(),
        language: language.clone(),
    }
}

fn is_named(file: &str, endings: &[&str]) -> bool {
    let ending = Path::new(file).extension().and_then(|e| e.to_str());
    ending.is_some_and(|e| endings.contains(&e))
}

fn task(words: &[Word]) -> Task {
    let option = |names: &[&str]| {
        words
            .iter()
            .any(|w| matches!(w, Word::Option(o) if names.contains(&o[0].as_str())))
    };
    let sources = || {
        words.iter().filter_map(|w| match w {
            Word::Source { file, language } => Some((file, language)),
            _ => None,
        })
    };
    let header = |(file, language): (&String, &Option<String>)| match language {
        Some(name) => name.ends_with("-header"),
        None => is_named(file, &HEADERS),
    };
    let prints = words
        .iter()
        .any(|w| matches!(w, Word::Option(o) if o[0].starts_with("-print-") || o[0].starts_with("--print-")));
    if option(&OTHER) || prints || sources().any(header) {
        return Task::Other;
    }
    if option(&["-c", "--compile"]) {
        return Task::Compile;
    }
    let files = words
        .iter()
        .any(|w| matches!(w, Word::Source { .. } | Word::Input(_)));
    // Objects that are linked into another object are linked once more.
    let partly = option(&["-r", "--relocatable"])
        || words.iter().any(
            |w| matches!(w, Word::Option(o) if o[0] == "-Wl,-r" || o[0] == "-Wl,--relocatable"),
        );
    if files && !partly {
        Task::Link
    } else {
        Task::Other
    }
}

#[cfg(test)]
mod tests;
