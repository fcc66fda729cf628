//! The loader on llvm-ir and the one on LLVM: they see the same program, and what llvm-ir cannot represent is
//! refused by none.

use crate::support::{compile, llvm, peers, project, run};
use p3_rewrite::input::ir::lower::LoadOptions;
use p3_rewrite::input::ir::{Program, SkipReason};
use p3_rewrite::input::load::{Admitted, Optimize, find_inputs};
use p3_rewrite::write::emit::{self, Loader, Names, admit, llvm_ir_suffices, load_by};
use std::path::{Path, PathBuf};
use std::process::Command;

fn inputs(path: &Path) -> Vec<Admitted> {
    let inputs = find_inputs(&[path.to_path_buf()], Path::new(""), None).unwrap();
    let admission = admit(inputs, Names::Kept, |_| Optimize::Never);
    admission.unwrap().inputs
}

fn load(loader: Loader, path: &Path) -> Program {
    load_by(loader, &inputs(path), &LoadOptions::default()).unwrap()
}

/// Files and folders of a folder of test data, sorted.
fn entries(folder: &str) -> Vec<PathBuf> {
    let entries = project(folder).read_dir().unwrap();
    let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

#[track_caller]
fn assert_equal(path: &Path) {
    let (one, other) = (load(Loader::LlvmIr, path), load(Loader::Llvm, path));
    // The difference of whole programs is too long to read.
    for (a, b) in one.modules.iter().zip(&other.modules) {
        for (a, b) in a.bodies.iter().zip(&b.bodies) {
            assert_eq!(a, b, "{}", path.display());
        }
    }
    for (a, b) in one.functions.iter().zip(&other.functions) {
        assert_eq!(a, b, "{}", path.display());
    }
    assert!(one == other, "{}", path.display());
}

#[test]
fn both_see_the_same_small_functions() {
    for path in [entries("testdata/cfg"), entries("testdata/valid")].concat() {
        assert_equal(&path);
    }
}

#[test]
fn both_see_the_same_programs() {
    for level in ["-O0", "-O2"] {
        for path in entries("testdata/programs") {
            let dir = crate::support::folder();
            compile(stem(&path), &[level, "-g"], dir.path());
            assert_equal(dir.path());
        }
    }
}

/// Indirect calls reach functions of their type alone, without names too.
#[test]
fn both_see_the_same_recursion() {
    let dir = crate::support::folder();
    let path = dir.path().join("m.ll");
    let text = "define void @0() { call void @1()  ret void }\n\
                define void @1() { call void @0()  ret void }\n\
                define void @2(ptr %f) { call void %f(ptr @2)  ret void }\n\
                define i32 @a(ptr %f) { %r = call i32 %f(i32 1)  ret i32 %r }\n\
                define i32 @b(i32 %n) { %r = call i32 @a(ptr @b)  ret i32 %r }\n\
                define i32 @c(ptr %f) { %r = call i32 %f(i32 1)  ret i32 %r }\n";
    std::fs::write(&path, text).unwrap();
    assert_equal(&path);
    let program = load(Loader::Llvm, &path);
    let recursive: Vec<bool> = program.functions.iter().map(|f| f.recursive).collect();
    assert_eq!(recursive, [true, true, true, true, true, false]);
}

/// A large module is seen as LLVM has read it, without the names of its values.
#[test]
fn large_module_is_the_same_program() {
    let dir = crate::support::folder();
    let source = dir.path().join("large.c");
    let demo = project("testdata/programs/demo.c");
    let data = "x".repeat(2 << 20);
    let text = format!(
        "#include \"{}\"\nconst char data[] = \"{data}\";\n",
        demo.display()
    );
    std::fs::write(&source, text).unwrap();
    let path = dir.path().join("large.bc");
    let mut clang = Command::new(llvm("clang"));
    clang.args(["-O1", "-g", "-w", "-c", "-emit-llvm"]);
    run(clang.arg(&source).arg("-o").arg(&path));
    assert!(path.metadata().unwrap().len() > 1 << 20);

    assert_equal(&path);
    let expected = load(Loader::Llvm, &path);
    let found = find_inputs(std::slice::from_ref(&path), Path::new(""), None).unwrap();
    let admission = admit(found, Names::Dropped, |_| Optimize::Never).unwrap();
    let mut parsed = admission.parsed.expect("an input alone is kept");
    let options = LoadOptions::default();
    let program = emit::load_program(&admission.inputs, Some(&mut parsed), &options).unwrap();
    assert!(program == expected);
}

/// Most modules here are what llvm-ir gives up on; the others are seen by both.
#[test]
fn llvm_ir_cannot_represent_these() {
    for path in entries("testdata/loaders") {
        let suffices = llvm_ir_suffices(&inputs(&path)[0]).unwrap();
        let expected = ["operands", "ptrauth"].contains(&stem(&path));
        assert_eq!(suffices, expected, "{}", path.display());
        assert_equal(&path);
    }
}

#[test]
fn module_that_llvm_ir_cannot_represent_is_rewritten() {
    let folders = ["testdata/loaders", "testdata/cfg", "testdata/valid"];
    for path in folders.map(entries).concat() {
        let dir = crate::support::folder();
        assert!(peers::accepted(&path), "{}", path.display());
        let checked = peers::check_here(&path, dir.path());
        assert_eq!(checked.refused, [""; 0], "{}", path.display());
        assert_eq!(checked.invalid, [""; 0], "{}", path.display());
    }
}

fn skipped(file: &str) -> Vec<(String, SkipReason)> {
    let program = load(Loader::LlvmIr, &project("testdata/loaders").join(file));
    let bodies = program.modules.iter().flat_map(|m| &m.bodies);
    bodies
        .filter_map(|b| Some((b.name.clone(), b.skip?)))
        .collect()
}

#[test]
fn functions_are_skipped_by_themselves() {
    let windows = ("windows".to_string(), SkipReason::Funclets);
    assert_eq!(skipped("cleanupret_unwind.ll"), [windows]);
    let asm = ("asm".to_string(), SkipReason::CallBr);
    assert_eq!(skipped("callbr_repeated.ll"), [asm]);
    for file in ["callbr_no_targets.ll", "ptrauth.ll", "scalable_shuffle.ll"] {
        assert_eq!(skipped(file), [], "{file}");
    }
}

/// The functions of a file whose address is taken.
fn taken(file: &str) -> Vec<String> {
    let program = load(Loader::LlvmIr, &project("testdata/loaders").join(file));
    let bodies = program.modules.iter().flat_map(|m| &m.bodies);
    let taken = bodies.filter(|b| b.address_taken);
    taken.map(|b| b.name.clone()).collect()
}

#[test]
fn addresses_are_taken_by_unusual_constants() {
    assert_eq!(taken("no_cfi.ll"), ["taken"]);
    assert_eq!(taken("ptrauth.ll"), ["taken"]);
    assert_eq!(taken("dso_local_equivalent.ll"), ["callee"]);
    let operands = [
        "in_condition",
        "in_float",
        "in_gep_index",
        "in_size",
        "in_switch",
    ];
    assert_eq!(taken("operands.ll"), operands);
}
