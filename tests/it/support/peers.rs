//! What must hold of any module that LLVM accepts: every scheme takes it, LLVM accepts what comes out, and every
//! definition is accounted for.

use super::{REWRITE, codegen, llvm, rewrite_here, schemes};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::FileType;
use p3_rewrite::copies::strategy::Scheme;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How many copies each scheme makes.
pub(crate) const COPIES: u32 = 2;

/// What was found out about one module.
#[derive(Default)]
pub(crate) struct Checked {
    /// Definitions by status: `exact`, `cut` or the reason for skipping. Under the first scheme.
    pub functions: BTreeMap<String, usize>,
    /// Whether `llc` compiles the module with a constructor, which copies have.
    pub compiles: bool,
    /// By scheme: what p3-rewrite said where it gave up.
    pub refused: Vec<String>,
    /// What is wrong with what it wrote.
    pub invalid: Vec<String>,
}

/// Whether LLVM's verifier accepts a module.
pub(crate) fn accepted(module: &Path) -> bool {
    let mut opt = Command::new(llvm("opt"));
    opt.args(["-passes=verify", "-disable-output"]).arg(module);
    said(&mut opt).is_ok()
}

/// Checks one accepted module; what is written goes below `dir`. Processes rewrite it: LLVM may end them.
pub(crate) fn check(module: &Path, dir: &Path) -> Checked {
    let rewrite = |words: &[&OsStr]| said(Command::new(REWRITE).args(words));
    check_by(rewrite, compile, module, dir)
}

/// The same within this process, for modules of this machine that do not make LLVM end it: sixty milliseconds less for
/// each copy.
pub(crate) fn check_here(module: &Path, dir: &Path) -> Checked {
    check_by(rewrite_here, compile_here, module, dir)
}

/// Checks one accepted module. `rewrite` does what `p3-rewrite` does with its arguments; `translate` makes machine
/// code.
fn check_by(
    rewrite: impl Fn(&[&OsStr]) -> Result<(), String>,
    translate: impl Fn(&Path) -> Result<(), String>,
    module: &Path,
    dir: &Path,
) -> Checked {
    let mut checked = Checked {
        compiles: compile(module).is_ok() && constructs(module, dir),
        ..Checked::default()
    };
    let definitions = definitions(&std::fs::read(module).unwrap());
    for (scheme, copies) in schemes(COPIES) {
        let out = dir.join(scheme.name());
        let copies_text = copies.to_string();
        let options = ["--scheme", scheme.name(), "-k", &copies_text];
        let last = ["--check", "-q", "-j", "1", "-o"];
        let words = options.iter().chain(&last).map(AsRef::as_ref);
        let words = words.chain([out.as_os_str(), module.as_os_str()]);
        if let Err(message) = rewrite(&words.collect::<Vec<&OsStr>>()) {
            checked.refused.push(format!("{scheme}: {message}"));
            continue;
        }
        match accounted(&definitions, &out) {
            Ok(functions) if scheme == Scheme::ALL[0] => checked.functions = functions,
            Ok(_) => {}
            Err(problem) => checked.invalid.push(format!("{scheme}: {problem}")),
        }
        for copy in 0..copies {
            let written = rewritten(&out, copy);
            let compiled = |()| {
                if checked.compiles {
                    translate(&written)
                } else {
                    Ok(())
                }
            };
            let sound = sound(&written).and_then(compiled);
            if let Err(problem) = sound {
                let problem = format!("{scheme}, copy {copy}: {problem}");
                checked.invalid.push(problem);
            }
        }
    }
    checked
}

/// The one module of a copy.
fn rewritten(out: &Path, copy: u32) -> PathBuf {
    let mut files = out.join(format!("copy-{copy}")).read_dir().unwrap();
    files.next().unwrap().unwrap().path()
}

/// The names of the definitions, in order.
fn definitions(bytes: &[u8]) -> Vec<String> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, "");
    let module = context.create_module_from_ir(buffer).unwrap();
    let functions = module.get_functions();
    functions
        .filter(|f| f.count_basic_blocks() > 0)
        .map(|f| f.get_name().to_string_lossy().into_owned())
        .collect()
}

/// Whether the manifest holds every definition once, each with a status; how many have which.
fn accounted(definitions: &[String], out: &Path) -> Result<BTreeMap<String, usize>, String> {
    let text = std::fs::read(out.join("manifest.json")).map_err(|e| e.to_string())?;
    let manifest: Value = serde_json::from_slice(&text).map_err(|e| e.to_string())?;
    let mut found = vec![false; definitions.len()];
    let mut by_status = BTreeMap::new();
    for f in manifest["functions"].as_array().unwrap() {
        let status = match &f["status"] {
            Value::String(status) => status.clone(),
            skipped => format!("skipped: {}", skipped["skipped"].as_str().unwrap()),
        };
        for body in f["bodies"].as_array().unwrap() {
            let ordinal = body["ordinal"].as_u64().unwrap() as usize;
            let name = definitions.get(ordinal).ok_or("a body too many")?;
            let named = name.is_empty() || f["name"] == **name;
            if std::mem::replace(&mut found[ordinal], true) || !named {
                return Err(format!("{} is not definition {ordinal}", f["name"]));
            }
            *by_status.entry(status.clone()).or_default() += 1;
        }
    }
    match found.iter().position(|f| !f) {
        Some(missing) => Err(format!("{:?} is not in the manifest", definitions[missing])),
        None => Ok(by_status),
    }
}

/// Whether `llc` compiles the module with a constructor: it crashes on any for z/OS. Modules that have some, or to
/// which none can be added as text, are taken as they are.
fn constructs(module: &Path, dir: &Path) -> bool {
    const CONSTRUCTOR: &str = "
define internal void @test.constructor() { ret void }
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr @test.constructor, ptr \
null }]
";
    let text = std::fs::read(module).unwrap();
    let with = dir.join("constructor.ll");
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(&with, [&text[..], CONSTRUCTOR.as_bytes()].concat()).unwrap();
    !accepted(&with) || compile(&with).is_ok()
}

/// Whether LLVM accepts a module.
fn sound(module: &Path) -> Result<(), String> {
    let context = Context::create();
    let module = parsed(&context, module)?;
    module.verify().map_err(|e| first_line(&e.to_string()))
}

fn parsed<'a>(context: &'a Context, module: &Path) -> Result<Module<'a>, String> {
    let buffer = MemoryBuffer::create_from_file(module).map_err(|e| e.to_string())?;
    let parsed = context.create_module_from_ir(buffer);
    parsed.map_err(|e| first_line(&e.to_string()))
}

/// As `llc -O0` does.
fn compile_here(module: &Path) -> Result<(), String> {
    let context = Context::create();
    let module = parsed(&context, module)?;
    let machine = codegen::machine(&module, "-O0");
    let object = machine.write_to_memory_buffer(&module, FileType::Object);
    object.map(drop).map_err(|e| first_line(&e.to_string()))
}

/// Compiles a module, in up to three tries: llc reads memory that nothing has set, and crashes now and then on
/// what it takes otherwise (`experimental.deoptimize`).
fn compile(module: &Path) -> Result<(), String> {
    let attempt = || {
        let mut llc = Command::new(llvm("llc"));
        llc.args(["-O0", "-filetype=null", "-o", "/dev/null"]);
        said(llc.arg(module)).map_err(|e| format!("llc: {e}"))
    };
    attempt().or_else(|_| attempt()).or_else(|_| attempt())
}

/// Runs a command for at most five minutes, which are many only where others keep the machine busy; the first line that
/// it says where it fails.
fn said(command: &mut Command) -> Result<(), String> {
    let mut timed = Command::new("timeout");
    timed
        .arg("300")
        .arg(command.get_program())
        .args(command.get_args())
        // What crashed, the first line says.
        .env("LLVM_DISABLE_SYMBOLIZATION", "1");
    let output = timed.stdin(Stdio::null()).output().unwrap();
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}", output.status, first_line(&text)))
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|l| !l.trim().is_empty());
    line.unwrap_or_default().chars().take(300).collect()
}
