//! Promises of declarations that counting breaks, by every name under which a function is called.

use crate::paths::json;
use crate::support::{execute, folder, link, module, profile};

const DEFINED: &str =
    "__attribute__((noinline)) int target(int x) { if (x > 3) return 7; return 1; }
int by_alias(int x) __attribute__((alias(\"target\")));
static int (*resolve(void))(int) { return target; }
int by_ifunc(int x) __attribute__((ifunc(\"resolve\")));
";

const CALLER: &str = "#include <stdio.h>
int by_alias(int) __attribute__((const));
int by_ifunc(int) __attribute__((const));
__attribute__((const, noinline)) static int both(int n) { return by_ifunc(n) + by_ifunc(n); }
int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += by_alias(argc) + by_alias(argc) + both(argc) + both(argc);
    printf(\"%d\\n\", sum);
}
";

/// `const` lets an optimiser merge calls. Calls by an alias or an ifunc run what counts as well.
#[test]
fn counted_calls_by_alias_and_ifunc_are_not_merged() {
    let dir = folder();
    let dir = dir.path();
    let flags = ["-O1", "-g", "-Xclang", "-disable-llvm-passes"];
    let modules = [("defined.c", DEFINED), ("caller.c", CALLER)];
    let modules = modules.map(|(name, source)| module(name, source, &flags, dir));
    let native = dir.join("native");
    link(&modules, &[], &[], &native);
    let expected = execute(&native, &dir.join("once"));
    for scheme in ["sbl", "p3-hot"] {
        let out = dir.join(scheme);
        let file = profile(&modules, &["--scheme", scheme], 1, &[], &expected, &out);
        let shown = json(&["show"], &[&file]);
        let functions = shown["functions"].as_array().unwrap();
        let target = functions.iter().find(|f| f["name"] == "target").unwrap();
        assert_eq!(target["executed_paths"], 60, "{scheme}");
    }
}
