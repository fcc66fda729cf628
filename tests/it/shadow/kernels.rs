//! Small programs of the usual kinds (`testdata/kernels`): as many shadows as there can be change nothing that they do.

use super::behaviour;
use crate::support::{copy_modules, folder, link, module, project, rewrite, runtime};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Each program, with arguments for some hundredths of a second.
const KERNELS: [(&str, &[&str]); 15] = [
    ("compress.c", &["50000", "10"]),
    ("computed_goto.c", &["2000"]),
    ("connect_four.c", &["7", "20"]),
    ("edit_distance.c", &["500", "20"]),
    ("events.c", &["400000"]),
    ("game_tree.c", &["5", "100"]),
    ("hash_table.c", &["200000", "2"]),
    ("huffman.c", &["50000", "10"]),
    ("life.c", &["128", "100"]),
    ("matcher.c", &["6000", "10"]),
    ("parser.cpp", &["200", "10"]),
    ("permutations.c", &["8", "10"]),
    ("queens.c", &["8", "200"]),
    ("threads.c", &["2000", "60"]),
    ("tree_sort.c", &["50000", "4"]),
];

#[test]
fn kernels_run_as_they_do_natively() {
    KERNELS.par_iter().for_each(|(name, arguments)| {
        let dir = folder();
        let [native, shadowed] = built(name, dir.path());
        let expected = behaviour(&ran(&native, arguments, dir.path()));
        assert_eq!(expected.status, "exit status: 0", "{name}");
        let found = behaviour(&ran(&shadowed, arguments, dir.path()));
        assert_eq!(found, expected, "{name}");
    });
}

/// The program as it is, and with shadows.
pub(super) fn built(name: &str, dir: &Path) -> [PathBuf; 2] {
    let source = project("testdata/kernels").join(name);
    let text = std::fs::read_to_string(source).unwrap();
    let modules = [module(name, &text, &["-O2"], dir)];
    let out = dir.join("out");
    rewrite(&modules, &["--scheme", "shadow"], &out);
    let exes = ["native", "shadowed"].map(|exe| dir.join(exe));
    link(&modules, &[], &["-O2"], &exes[0]);
    let copies = copy_modules(&modules, &out, 0);
    link(&copies, runtime(), &["-O2"], &exes[1]);
    exes
}

fn ran(exe: &Path, arguments: &[&str], dir: &Path) -> Output {
    let mut command = Command::new(exe);
    command.args(arguments).current_dir(dir);
    command.env("P3_PROFILE_FILE", dir.join("%p.p3raw"));
    command.env("P3_SHADOW", "load=2,burst=1M,cost=100%");
    command.output().unwrap()
}
