//! What a count costs a loop in machine code: instructions of an iteration, as the runner compiles copies.

use crate::support::{llvm, project, rewrite, run};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "
struct list { struct list *next; int item, weight; };
int sum_list(const struct list *l) {
  int sum = 0;
  for (; l; l = l->next) sum += l->weight * l->item;
  return sum;
}
int sum_matching(const struct list *l, int item) {
  int sum = 0;
  for (; l; l = l->next) if (l->item == item) sum += l->weight;
  return sum;
}
int find(const struct list *l, int item) {
  do { if (l->item == item) return l->weight; l = l->next; } while (l);
  return -1;
}
double weigh(double **values, const double *weights, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum -= weights[i] * *values[i];
  return sum;
}
unsigned hash(const char *s) {
  unsigned hash = 0;
  while (*s) hash = hash * 31 + (unsigned char)*s++;
  return hash;
}
unsigned total(const unsigned *x, const unsigned *end, const unsigned *restrict by) {
  unsigned sum = 0;
  do {
    if (*x & 1) sum /= 3; else sum = sum * 5 ^ *x;
    sum += *by * *by;
  } while (++x != end);
  return sum;
}
int is_greater(const unsigned char *a, const unsigned char *b) {
  if (a[0] != b[0]) return a[0] > b[0];
  if (a[1] != b[1]) return a[1] > b[1];
  return 2;
}
void f(void), g(void), h(void), i(void);
void pick(int a, int b) {
  if (a > 0) f(); else g();
  if (b > 0) h(); else i();
}
";

/// Optimised before it is rewritten; loops stay loops of one iteration.
const OPTIMISED: &[&str] = &["-O2", "-fno-unroll-loops", "-fno-vectorize"];

/// What clang hands to the passes of `-O2`.
const UNOPTIMISED: &[&str] = &["-O2", "-Xclang", "-disable-llvm-passes"];

/// By function, for each jump back, the instructions from its target to itself.
fn iterations(object: &Path) -> BTreeMap<String, Vec<usize>> {
    let mut objdump = Command::new(llvm("llvm-objdump"));
    let printed = run(objdump.args(["-d", "--no-show-raw-insn"]).arg(object));
    let text = String::from_utf8(printed.stdout).unwrap();
    let mut loops = BTreeMap::new();
    let mut addresses = Vec::new();
    let mut function = String::new();
    for line in text.lines() {
        if let Some((_, name)) = line.strip_suffix(">:").and_then(|l| l.split_once(" <")) {
            function = name.to_string();
            addresses.clear();
            continue;
        }
        let Some((address, code)) = line.split_once(':') else {
            continue;
        };
        let Ok(address) = u64::from_str_radix(address.trim(), 16) else {
            continue;
        };
        let code = code.trim();
        // The prefix has a line of its own.
        if code.starts_with("nop") || code == "lock" {
            continue;
        }
        addresses.push(address);
        let target = code
            .split_once("0x")
            .filter(|_| code.starts_with('j'))
            .and_then(|(_, rest)| u64::from_str_radix(rest.split(' ').next()?, 16).ok());
        if let Some(target) = target.filter(|&t| t <= address) {
            let length = addresses.iter().filter(|&&a| a >= target).count();
            loops
                .entry(function.clone())
                .or_insert_with(Vec::new)
                .push(length);
        }
    }
    loops
}

/// The iterations of the only copy, compiled by the runner's makefile.
fn of_copy(options: &[&str], flags: &[&str]) -> BTreeMap<String, Vec<usize>> {
    in_copy(options, flags, iterations)
}

/// What `look` finds in the object of the only copy, compiled by the runner's makefile.
fn in_copy<T>(options: &[&str], flags: &[&str], look: impl Fn(&Path) -> T) -> T {
    let dir = crate::support::folder();
    let source = dir.path().join("loops.c");
    std::fs::write(&source, SOURCE).unwrap();
    let module = dir.path().join("loops.bc");
    let mut clang = Command::new(llvm("clang"));
    clang.args(flags).args(["-emit-llvm", "-c"]).arg(source);
    run(clang.arg("-o").arg(&module));
    let out = dir.path().join("out");
    rewrite(&[module], &[&["-k", "1"], options].concat(), &out);
    let object = "obj/copy-0/m0.bc.o";
    let mut make = Command::new("make");
    run(make.arg("-s").arg("-C").arg(&out).arg(object));
    look(&out.join(object))
}

/// The increments of memory in `function`.
fn increments(object: &Path, function: &str) -> Vec<String> {
    operands(object, function, "incq")
}

/// The operands of all instructions `mnemonic` in `function`.
fn operands(object: &Path, function: &str, mnemonic: &str) -> Vec<String> {
    let mut objdump = Command::new(llvm("llvm-objdump"));
    objdump.args(["-d", "--no-show-raw-insn"]);
    objdump.arg(format!("--disassemble-symbols={function}"));
    let printed = run(objdump.arg(object));
    let text = String::from_utf8(printed.stdout).unwrap();
    let code = text.lines().filter_map(|l| l.split_once(mnemonic));
    code.map(|(_, operand)| operand.trim().to_string())
        .collect()
}

/// The path register is the address of a counter: a number would need the array's address beside it.
#[test]
fn count_by_register_needs_no_address_of_array() {
    for options in [&["--scheme", "sbl"][..], &["--scheme", "p3-weighted"]] {
        let counts = in_copy(options, OPTIMISED, |object| increments(object, "pick"));
        assert!(!counts.is_empty(), "{options:?}");
        for operand in counts {
            assert!(!operand.contains(','), "{options:?}: {operand}");
        }
    }
}

/// A count stands behind a comparison of what its branch compares, so that both are one comparison with memory.
#[test]
fn count_behind_branch_leaves_its_comparison_alone() {
    for scheme in ["sbl", "edge", "p3-hot"] {
        let comparisons = in_copy(&["--scheme", scheme], OPTIMISED, |object| {
            operands(object, "is_greater", "cmpb")
        });
        assert_eq!(comparisons.len(), 2, "{scheme}: {comparisons:?}");
        assert!(
            comparisons.iter().all(|c| c.contains('(')),
            "{comparisons:?}"
        );
    }
}

#[test]
fn count_in_loop_takes_one_instruction() {
    // Without counts: 6, 5 and 7 (two jumps back), 5, 7 and 9.
    for options in [
        &["--scheme", "edge"][..],
        &["--scheme", "p3-hot"],
        &["--scheme", "p3-hot", "--update", "atomic"],
    ] {
        let loops = of_copy(options, OPTIMISED);
        assert_eq!(loops["sum_list"], [7], "{options:?}");
        // One of the two ways back may have the other's jump.
        let ways = &loops["sum_matching"];
        assert_eq!(
            (ways.len(), ways.iter().sum()),
            (2, 14),
            "{options:?}: {ways:?}"
        );
        assert_eq!(loops["find"], [6], "{options:?}");
        assert_eq!(loops["weigh"], [8], "{options:?}");
        assert_eq!(loops["hash"], [10], "{options:?}");
    }
    for scheme in ["sbl", "pbl", "p3", "p3-weighted"] {
        let loops = of_copy(&["--scheme", scheme], OPTIMISED);
        assert_eq!(single_paths(&loops), [[7], [6], [8], [10]], "{scheme}");
    }
}

/// The loops in which all iterations take one path.
fn single_paths(loops: &BTreeMap<String, Vec<usize>>) -> [Vec<usize>; 4] {
    ["sum_list", "find", "weigh", "hash"].map(|f| loops[f].clone())
}

/// A module that was compiled for a link is optimised first; its counts cost what they cost in one that clang
/// optimised.
#[test]
fn count_in_loop_of_module_for_lto_takes_one_instruction() {
    for scheme in ["edge", "sbl", "p3-hot"] {
        let loops = of_copy(&["--scheme", scheme], &[OPTIMISED, &["-flto"]].concat());
        assert_eq!(single_paths(&loops), [[7], [6], [8], [10]], "{scheme}");
    }
}

/// By p3-cc, which does not optimise again what has counts: in `sum_list` code generation keeps a move of a register.
#[test]
fn count_in_loop_that_compiler_links_takes_two_instructions_at_most() {
    for scheme in ["edge", "sbl", "p3-hot"] {
        let dir = crate::support::folder();
        let dir = dir.path();
        std::fs::write(dir.join("loops.c"), SOURCE).unwrap();
        let main = "void f(void) {}\nvoid g(void) {}\nvoid h(void) {}\nvoid i(void) {}\n\
                    int main(void) { return 0; }\n";
        std::fs::write(dir.join("main.c"), main).unwrap();
        let mut link = Command::new(crate::build::CC);
        link.current_dir(dir)
            .env("P3_COPIES", "1")
            .env("P3_FLAGS", format!("--scheme {scheme}"));
        run(link
            .args(OPTIMISED)
            .args(["loops.c", "main.c", "-o", "program"]));
        assert!(dir.join("program.p3/manifest.json").exists());
        let loops = iterations(&dir.join("program"));
        assert_eq!(single_paths(&loops), [[8], [6], [8], [10]], "{scheme}");
    }
}

/// A count must not keep in the loop what is the same in each iteration: with a volatile store as well, `*by * *by`
/// stays (12 and 14).
#[test]
fn invariant_load_leaves_counted_loop() {
    let loops = of_copy(&["--scheme", "edge"], UNOPTIMISED);
    assert_eq!(loops["total"], [10, 12]);
}

/// What is live where activations can go over to a shadow's functions takes no register that the loop has other uses
/// for: handing over all live values as they are took queens 7.4 % more instructions.
#[test]
fn loop_that_can_be_left_keeps_its_registers() {
    let dir = crate::support::folder();
    let queens = project("testdata/kernels/queens.c");
    let [module, native] = ["queens.bc", "native.o"].map(|name| dir.path().join(name));
    for (form, to) in [("-emit-llvm", &module), ("-O2", &native)] {
        let mut clang = Command::new(llvm("clang"));
        run(clang
            .args(["-O2", form, "-c"])
            .arg(&queens)
            .arg("-o")
            .arg(to));
    }
    let out = dir.path().join("out");
    rewrite(&[module], &["--scheme", "shadow"], &out);
    let shadowed = dir.path().join("shadowed.o");
    let mut clang = Command::new(llvm("clang"));
    let copy = out.join("copy-0/m0.bc");
    run(clang.args(["-O2", "-c"]).arg(copy).arg("-o").arg(&shadowed));
    let [native, shadowed] = [native, shadowed].map(|object| iterations(&object)["place"].clone());
    // Three jumps back of squares that are taken, and one behind the call.
    assert_eq!(native, [6, 9, 12, 28]);
    assert_eq!(shadowed, [6, 9, 12, 30]);
}

/// A `while` that an optimiser made a `do`: how often the copy of its test before the loop failed, in text and JSON.
#[test]
fn entries_that_fail_first_test_are_reported() {
    use crate::support::{PROF, parsed};
    let dir = crate::support::folder();
    let source = "#include <stdio.h>\n__attribute__((noinline)) int f(int n) {\n  int m = 0;\n  \
        while (n > 0) {\n    m += n % 3;\n    n = printf(\"%s\", n % 2 ? \"\" : \"a\") ? n / 2 : n - \
        3;\n  }\n  return m;\n}\n\
        #define EACH(i, n) if ((n) > 3) for (int i = 0; i < (n); i++)\n\
        __attribute__((noinline)) int each(int n) {\n  int m = 0;\n  EACH(i, n) {\n    m += printf(\"%s\", i % 3 ? \
        \"\" : \"b\");\n  }\n  return m;\n}\n\
        int main(void) {\n  int s = 0;\n  for (int i = -20; i < 5; i++) s += f(i) + each(i);\n  return s < 0;\n}\n";
    let modules = [crate::support::module(
        "f.c",
        source,
        &["-O1", "-g"],
        dir.path(),
    )];
    let profile = crate::support::run_and_profile(&modules, &[], 2, &[], dir.path());
    let show = |options: &[&str]| {
        let mut show = Command::new(PROF);
        show.arg("show").arg(&profile).args(["--by", "loop"]);
        run(show.args(options)).stdout
    };
    // From -20 to 0.
    let text = String::from_utf8(show(&[])).unwrap();
    let expected = "not entered 21 times: its test failed before the first iteration";
    assert_eq!(text.matches(expected).count(), 1, "{text}");
    let json = parsed(&show(&["--format", "json"]));
    let loops = json["loops"].as_array().unwrap();
    let of = |name: &str| loops.iter().find(|l| l["function"] == name).unwrap();
    assert_eq!(of("f")["not_entered"], 21, "{json:#}");
    assert_eq!(of("f")["entries"], 4, "{json:#}");
    assert!(of("main").get("not_entered").is_none(), "{json:#}");
    // What a macro stands for is at one place, so its `if` may be taken for the test.
    assert!(of("each").get("not_entered").is_none(), "{json:#}");
}
