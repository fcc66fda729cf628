//! The runtime's objects for a link.

use crate::base::error::{Error, Result};
use crate::copies::strategy::Scheme;
use crate::project::cc::clang::Compiler;
use crate::project::tools::require_success;
use crate::write::output;
use rayon::prelude::*;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What the runtime is compiled for.
pub(crate) struct RuntimeTarget<'a> {
    pub(crate) compiler: &'a Compiler,
    /// The folder of the program, an output folder of p3-rewrite's.
    pub(crate) folder: &'a Path,
    /// The scheme, which says what of it is needed.
    pub(crate) scheme: Scheme,
    /// A library is linked, not a program.
    pub(crate) shared: bool,
    /// What the C library is.
    pub(crate) libc: CLibrary,
    /// It is linked with a sanitizer.
    pub(crate) sanitized: bool,
    /// The target of the program's code, if it is known.
    pub(crate) triple: Option<&'a str>,
    /// What parts of the program are aligned to.
    pub(crate) align: Option<u64>,
    /// A folder for objects that are the same for many programs of a build.
    pub(crate) common: Option<PathBuf>,
}

/// How a program has its C library, which says how starts of threads are seen (`runtime-c/core/p3_create.c`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CLibrary {
    /// As a shared library: the program's functions come before its own.
    Shared,
    /// In itself: the linker leads calls to ours.
    Static,
    /// It is not known; or a library is linked, and not a program.
    Unknown,
}

impl CLibrary {
    /// What the runtime is compiled with.
    fn definition(self) -> Option<&'static str> {
        match self {
            CLibrary::Shared => Some("-DP3_DYNAMIC"),
            CLibrary::Static => Some("-DP3_WRAPPED"),
            CLibrary::Unknown => None,
        }
    }

    /// What a copy is linked with.
    pub(crate) fn link_options(self) -> impl Iterator<Item = String> {
        let is_static = self == CLibrary::Static;
        let wrapped = output::WRAPPED.into_iter().filter(move |_| is_static);
        wrapped.map(|function| format!("-Wl,--wrap={function}"))
    }
}

/// Objects in the order of a link.
pub(crate) struct Runtime {
    /// Before the program's.
    pub(crate) first: Vec<PathBuf>,
    /// After them.
    pub(crate) last: Vec<PathBuf>,
}

impl RuntimeTarget<'_> {
    /// Compiles it; `work` is a folder of this link's.
    pub(crate) fn compile(&self, work: &Path) -> Result<Runtime> {
        let objects = self.folder.join("obj/runtime");
        std::fs::create_dir_all(&objects).map_err(|e| Error::write(&objects, e))?;
        let sources = self.folder.join("runtime");
        let common: Vec<&str> = output::runtime_objects(self.scheme).collect();
        common.par_iter().try_for_each(|name| {
            let source = sources.join(format!("{name}.c"));
            self.shared_object(&source, &objects.join(format!("{name}.o")))
        })?;
        let pattern = (work.join("pattern.c"), work.join("pattern.o"));
        std::fs::write(&pattern.0, self.pattern()).map_err(|e| Error::write(&pattern.0, e))?;
        self.object(&pattern.0, &pattern.1)?;
        // A library cannot move the break: it comes too late.
        let mut first = Vec::new();
        let align = self.folder.join("obj/align.o");
        if let Some(bytes) = self.align.filter(|_| !self.shared) {
            let define = format!("-DP3_ALIGN={bytes}");
            self.object_with(&[&define], &sources.join("first/align.c"), &align)?;
            first.push(align);
        }
        let last = common.iter().map(|name| objects.join(format!("{name}.o")));
        let last = last.chain([pattern.1]).collect();
        Ok(Runtime { first, last })
    }

    /// An object that other links of the build may have made.
    fn shared_object(&self, source: &Path, object: &Path) -> Result<()> {
        let Some(common) = &self.common else {
            return self.object(source, object);
        };
        let text = std::fs::read(source).map_err(|e| Error::read(source, e))?;
        let mut key = blake3::Hasher::new();
        key.update(&text);
        key.update(
            format!(
                "{:?} {:?} {} {:?} {}",
                self.compiler.path, self.triple, self.shared, self.libc, self.sanitized
            )
            .as_bytes(),
        );
        key.update(env!("CARGO_PKG_VERSION").as_bytes());
        let made = common.join(format!("{}.o", &key.finalize().to_hex()[..32]));
        if !made.is_file() {
            std::fs::create_dir_all(common).map_err(|e| Error::write(common, e))?;
            self.object(source, object)?;
            let bytes = std::fs::read(object).map_err(|e| Error::read(object, e))?;
            return output::write_whole(&made, &bytes);
        }
        std::fs::copy(&made, object)
            .map(drop)
            .map_err(|e| Error::write(object, e))
    }

    fn object(&self, source: &Path, object: &Path) -> Result<()> {
        self.object_with(&[], source, object)
    }

    /// Compiled in its folder, by its name alone: what comes before compilers, as ccache does, finds it compiled for
    /// another program.
    fn object_with(&self, flags: &[&str], source: &Path, object: &Path) -> Result<()> {
        let of_folder = |e| Error::read(source, e);
        let object = std::path::absolute(object).map_err(of_folder)?;
        let mut clang = self.compiler.command();
        clang.current_dir(source.parent().unwrap_or(source));
        clang.args(["-x", "c", "-std=c11", "-O2", "-c"]).args(flags);
        clang.arg(if self.shared { "-fPIC" } else { "-fPIE" });
        clang.args(self.libc.definition());
        clang.args(self.sanitized.then_some("-DP3_SANITIZED"));
        if let Some(triple) = self.triple {
            clang.args(["-target", triple]);
        }
        clang.arg(source.file_name().unwrap_or_default());
        let run = clang.arg("-o").arg(object).output();
        let run = run.map_err(|e| self.compiler.run_error(&e))?;
        require_success(&run, "the runtime cannot be compiled")
    }

    /// C that says where processes write, unless the environment does.
    fn pattern(&self) -> String {
        let raw = self.folder.join("raw");
        let mut text = String::new();
        for byte in raw.as_os_str().as_bytes() {
            match byte {
                b'%' => text += "%%",
                b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                    text.push(*byte as char);
                }
                other => text += &format!("\\{other:03o}"),
            }
        }
        format!("const char p3_profile_file[] = \"{text}/%k-%m.p3raw\";\n")
    }
}
