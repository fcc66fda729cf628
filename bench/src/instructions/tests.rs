//! A program whose functions execute known numbers of instructions, under each counter that is here.

use super::*;
use crate::build::project;

/// A program, and what counts it.
struct Counted {
    folder: tempfile::TempDir,
    methods: Vec<Method>,
}

impl Counted {
    fn new() -> Counted {
        let folder = tempfile::tempdir().unwrap();
        let mut clang = Command::new(llvm("clang"));
        clang.arg("-O2");
        clang.arg(project().join("testdata/bench/counted.c"));
        run(clang.arg("-o").arg(folder.path().join("exe"))).unwrap();
        let mut methods = Vec::new();
        // A comma ends a value of QEMU's options.
        match Method::qemu(&folder.path().join("plug,in")) {
            Ok(method) => methods.push(method),
            Err(why) => {
                let why = format!("{why:#}");
                let is_missing = output(QEMU, &["--version"]).is_err();
                assert!(is_missing || why.contains("minimum version"), "{why}");
                eprintln!("QEMU is not usable: not tested: {why}");
            }
        }
        match output("valgrind", &["--version"]) {
            Ok(_) => methods.push(Method::Callgrind),
            Err(why) => eprintln!("no callgrind: not tested: {why:#}"),
        }
        Counted { folder, methods }
    }

    fn leaves(&self, way: &str, method: &Method) -> Result<ByFunction> {
        let [script, exe, here] = ["script", "exe", "here"].map(|n| self.folder.path().join(n));
        fs::write(&script, format!("#!/bin/sh\nexec \"$1\" {way}\n"))?;
        fs::set_permissions(&script, Permissions::from_mode(0o755))?;
        method.count(&script, &exe, &here)
    }

    /// The instructions of `work` over those of its rounds in each program.
    fn work(&self, way: &str, method: &Method) -> f64 {
        let [all, always] = [way, ""].map(|w| self.leaves(w, method).unwrap()["work"] as f64);
        all / always
    }

    fn qemu(&self) -> Option<&Method> {
        self.methods
            .iter()
            .find(|m| matches!(m, Method::Qemu { .. }))
    }
}

fn is_near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 0.01
}

#[test]
fn counters_agree() {
    let counted = Counted::new();
    for way in ["", "exit", "jump"] {
        let all = counted.methods.iter();
        let all: Vec<ByFunction> = all.map(|m| counted.leaves(way, m).unwrap()).collect();
        for sums in &all {
            let total = |sums: &ByFunction| sums.values().sum::<u64>() as f64;
            assert!(is_near(total(sums), total(&all[0])), "{way}: {all:?}");
            assert_eq!(sums["work"], all[0]["work"], "{way}");
            // Callgrind takes a jump to a shared library for a part of its caller.
            assert!(sums["main"].abs_diff(all[0]["main"]) < 20, "{way}: {all:?}");
            assert_eq!(sums.contains_key("late"), way == "exit", "{way}: {all:?}");
        }
    }
}

#[test]
fn children_are_counted() {
    let counted = Counted::new();
    for method in &counted.methods {
        let expected = match method {
            Method::Qemu { .. } => 1.5,
            Method::Callgrind => 2.5,
        };
        let work = counted.work("fork", method);
        assert!(is_near(work, expected), "{method:?}: {work}");
    }
}

/// An exec that fails ends nothing.
#[test]
fn counted_up_to_an_exec() {
    let counted = Counted::new();
    let work = counted.qemu().map(|qemu| counted.work("exec", qemu));
    assert!(work.is_none_or(|work| is_near(work, 1.5)), "{work:?}");
}

#[test]
fn missing_counts_are_an_error() {
    let counted = Counted::new();
    if let Some(qemu) = counted.qemu() {
        let error = format!("{:#}", counted.leaves("killed", qemu).unwrap_err());
        assert!(error.contains("was killed"), "{error}");
    }
}
