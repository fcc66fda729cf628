//! Small programs of the usual kinds (`testdata/kernels`): as many shadows as there can be change nothing that they do.

use super::behaviour;
use crate::support::{copy_modules, folder, link, module, project, rewrite, runtime};
use rayon::prelude::*;
use std::path::Path;
use std::process::{Command, Output};

/// Each program, with arguments for some hundredths of a second.
const KERNELS: [(&str, &[&str]); 8] = [
    ("computed_goto", &["2000"]),
    ("events", &["400000"]),
    ("game_tree", &["5", "100"]),
    ("hash_table", &["200000", "2"]),
    ("huffman", &["50000", "10"]),
    ("permutations", &["8", "10"]),
    ("queens", &["8", "200"]),
    ("tree_sort", &["50000", "4"]),
];

#[test]
fn kernels_run_as_they_do_natively() {
    KERNELS.par_iter().for_each(|(name, arguments)| {
        let dir = folder();
        let source = project("testdata/kernels").join(format!("{name}.c"));
        let text = std::fs::read_to_string(source).unwrap();
        let modules = [module(&format!("{name}.c"), &text, &["-O2"], dir.path())];
        let out = dir.path().join("out");
        rewrite(&modules, &["--scheme", "shadow"], &out);
        let [native, shadowed] = ["native", "shadowed"].map(|exe| dir.path().join(exe));
        link(&modules, &[], &["-O2"], &native);
        link(
            &copy_modules(&modules, &out, 0),
            runtime(),
            &["-O2"],
            &shadowed,
        );
        let expected = behaviour(&ran(&native, arguments, dir.path()));
        assert_eq!(expected.status, "exit status: 0", "{name}");
        let found = behaviour(&ran(&shadowed, arguments, dir.path()));
        assert_eq!(found, expected, "{name}");
    });
}

fn ran(exe: &Path, arguments: &[&str], dir: &Path) -> Output {
    let mut command = Command::new(exe);
    command.args(arguments).current_dir(dir);
    command.env("P3_PROFILE_FILE", dir.join("%p.p3raw"));
    command.env("P3_SHADOW", "load=2,burst=1M,cost=100%");
    command.output().unwrap()
}
