//! What compilers of ours do with options of link-time optimisation, with modules of C++20, and with objects whose
//! symbols were changed: the program is as clang makes it, and has copies or a reason why not.

use crate::build::{command, folder, stderr};
use crate::support::{REWRITE, clang, run};
use std::path::Path;

const FILES: [(&str, &str); 5] = [
    (
        "calls.c",
        "typedef int (*f)(int);\n\
         static int a(int n) { return n > 2 ? 1 : 2; }\n\
         static int b(int n) { return n * 3; }\n\
         f table[2] = {a, b};\n\
         int main(int c, char **v) { int s = 0; for (int i = 0; i < 9; i++) s += table[(i + c) % 2](i); return s - \
         65; }\n",
    ),
    (
        "virtual.cpp",
        "struct A { virtual int f(int x) { return x; } virtual int unused(int x) { return -x; } };\n\
         struct B : A { int f(int x) override { return x > 1 ? x : 1; } };\n\
         int main(int c, char **) { A a; B b; A *p = c > 1 ? &a : &b; return p->f(0) - 1; }\n",
    ),
    (
        "geo.cppm",
        "export module geo;\n\
         export int scaled(int n, int by) { int r = 0; for (int i = 0; i < by; i++) r += n; return r; }\n",
    ),
    (
        "uses.cpp",
        "import geo;\nint main() { return scaled(3, 4) - 12; }\n",
    ),
    (
        "named.c",
        "int used(int);\nint before(int x) { return x > 2 ? 1 : 0; }\nint main(void) { return used(1); }\n",
    ),
];

/// Builds by a shell command, and holds that `./p` runs and that copies are `made`; what was said.
#[track_caller]
fn build(dir: &Path, script: &str, made: bool) -> String {
    let _ = std::fs::remove_dir_all(dir.join("p3"));
    let script = format!("{script} && ./p");
    let words = ["build", "-k", "1", "-o", "p3", "--", "sh", "-ec", &script];
    let ended = command(REWRITE, dir).args(words).output().unwrap();
    let said = stderr(&ended);
    let status = if made { 0 } else { 2 };
    assert_eq!(ended.status.code(), Some(status), "{script}: {said}");
    assert_eq!(said.contains("not profiled"), !made, "{script}: {said}");
    said
}

/// Copies are linked without optimisation: what is only allowed with it is left out with it, but for what changes what
/// programs do.
#[test]
fn options_of_optimising_links_do_as_clang_does() {
    let dir = folder(&FILES);
    let dir = dir.path();
    for options in [
        "-flto -fwhole-program-vtables -fvirtual-function-elimination",
        "-flto=thin -fwhole-program-vtables -fsplit-lto-unit",
        "-flto -Wl,-plugin-opt=O1",
        "-flto -funified-lto",
    ] {
        let line = format!("-O1 -Werror -fvisibility=hidden {options} virtual.cpp -o p");
        build(dir, &format!("$CXX {line}"), true);
    }
    let cfi = "-O1 -flto -fsanitize=cfi -fvisibility=hidden";
    let said = build(dir, &format!("$CC {cfi} calls.c -o p"), false);
    let reason =
        "warning: p: not profiled: -fsanitize=cfi checks what only link-time optimisation knows";
    assert!(said.contains(reason), "{said}");
    build(
        dir,
        &format!("$CC {cfi} -c calls.c && $CC {cfi} calls.o -o p"),
        false,
    );
}

/// Of such a file LLVM reads no module.
#[test]
fn file_of_several_modules_is_refused_with_the_option_to_change() {
    let dir = folder(&FILES);
    let dir = dir.path();
    let mut compile = command(clang().replace("clang", "clang++"), dir);
    let options = [
        "-O1",
        "-flto=thin",
        "-fwhole-program-vtables",
        "-fvisibility=hidden",
    ];
    run(compile.args(options).args(["-c", "virtual.cpp"]));
    let rewrite = command(REWRITE, dir)
        .args(["virtual.o", "-o", "out"])
        .output();
    let said = stderr(&rewrite.unwrap());
    let reason =
        "error: virtual.o: it holds several modules, as clang makes them by -flto=thin with";
    assert!(
        said.starts_with(reason) && said.lines().count() == 1,
        "{said}"
    );
}

#[test]
fn module_that_is_compiled_in_two_phases_is_profiled() {
    let dir = folder(&FILES);
    let dir = dir.path();
    let cxx = "$CXX -std=c++20 -Werror -fprebuilt-module-path=.";
    let compiled = "-c geo.pcm -o geo.o";
    let rest = format!("{cxx} uses.cpp geo.o -o p");
    for script in [
        format!("{cxx} --precompile geo.cppm -o geo.pcm && {cxx} {compiled} && {rest}"),
        format!("{cxx} -fmodule-output=geo.pcm -c geo.cppm -o geo.o && {rest}"),
    ] {
        build(dir, &script, true);
        let manifest = std::fs::read_to_string(dir.join("p3/p/manifest.json"));
        let manifest =
            manifest.or_else(|_| std::fs::read_to_string(dir.join("p3/p.p3/manifest.json")));
        let manifest = manifest.unwrap();
        assert!(manifest.contains("scaled"), "{script}: {manifest}");
        assert!(manifest.contains("geo.cppm"), "{script}: no lines");
    }
}

/// objcopy changes an object's own code and not its bitcode.
#[test]
fn symbol_that_objcopy_renamed_is_named() {
    let dir = folder(&FILES);
    let script = "$CC -c named.c && objcopy --redefine-sym before=used named.o && $CC named.o -o p";
    let said = build(dir.path(), script, false);
    let reason =
        "undefined reference to `used'; if objcopy renamed it, compile its object with P3_OFF=1";
    assert!(said.contains(reason), "{said}");
}
