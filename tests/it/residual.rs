//! Ten runs in turn, each built against those before it (`--paths new:`), beside whole profiles of the same runs: run n
//! finds exactly the paths of whole run n without those of the whole runs before it, with their counts. Five programs.

use crate::support::{PROF, copy_modules, link, merge, module, project, rewrite, run, runtime};
use p3_rewrite::base::index::{FuncId, PathId};
use p3_rewrite::profile::Profile;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Schemes and numbers of copies, one after the other.
const SCHEMES: [(&str, u32); 5] = [
    ("p3-hot", 1),
    ("sbl", 1),
    ("p3-hot", 4),
    ("p3", 2),
    ("p3-weighted", 3),
];

/// Copies of a program in a folder.
struct Copies {
    out: PathBuf,
    exes: Vec<PathBuf>,
}

impl Copies {
    fn new(modules: &[PathBuf], options: &[&str], copies: u32, out: PathBuf) -> Copies {
        let k = copies.to_string();
        rewrite(modules, &[options, &["-k", &k]].concat(), &out);
        let exe = |c: u32| {
            let exe = out.join(format!("copy-{c}.exe"));
            link(&copy_modules(modules, &out, c), runtime(), &["-O1"], &exe);
            exe
        };
        let exes = (0..copies).map(exe).collect();
        Copies { out, exes }
    }

    /// The merged profile of a run with these arguments.
    fn run(&self, arguments: &[&str]) -> PathBuf {
        let raw = self.out.join("raw");
        let _ = std::fs::remove_dir_all(&raw);
        for exe in &self.exes {
            let mut command = Command::new(exe);
            command.args(arguments).stdout(Stdio::null());
            run(command.env("P3_PROFILE_FILE", raw.join("%k-%p.p3raw")));
        }
        let merged = merge(&self.out);
        run(Command::new(PROF).arg("verify").arg(&merged));
        merged
    }
}

/// Function, id and count.
type Ran = BTreeSet<(FuncId, PathId, u64)>;

fn ran(profile: &Profile) -> Ran {
    let counts = profile.paths().unwrap();
    let of = |f| counts.counts(f).iter().map(move |(id, n)| (f, *id, *n));
    profile.functions().flat_map(of).collect()
}

/// The known paths that ran again are those of the whole run, too; how many there were, and what is new.
fn new_of(residual: &Path, whole: &Ran) -> (usize, Ran) {
    let residual = Profile::read(residual).unwrap();
    let all = ran(&residual);
    assert!(all.is_subset(whole));
    let (again, new): (Ran, Ran) = all
        .into_iter()
        .partition(|(f, id, _)| residual.is_known(*f, *id));
    (again.len(), new)
}

/// Runs a program of `testdata/kernels` on ten inputs.
fn check(file: &str, inputs: [&str; 10]) {
    let dir = crate::support::folder();
    let dir = dir.path();
    let source = std::fs::read_to_string(project("testdata/kernels").join(file)).unwrap();
    let modules = [module(file, &source, &["-O1", "-g"], &dir.join("input"))];
    let whole = Copies::new(&modules, &["--scheme", "sbl"], 1, dir.join("whole"));
    let runs = dir.join("runs/");
    let spec = format!("new:{}/", runs.display());
    let mut known: BTreeSet<(FuncId, PathId)> = BTreeSet::new();
    let mut newest = Vec::new();
    for (i, input) in inputs.iter().enumerate() {
        let words: Vec<&str> = input.split(' ').collect();
        let everything = ran(&Profile::read(&whole.run(&words)).unwrap());
        let (scheme, copies) = SCHEMES[i % SCHEMES.len()];
        let options = ["--scheme", scheme, "--paths", &spec];
        let residual = Copies::new(&modules, &options, copies, dir.join(i.to_string()));
        let merged = residual.run(&words);
        let (_, new) = new_of(&merged, &everything);
        let expected = everything.iter();
        let expected: Ran = expected
            .filter(|(f, id, _)| !known.contains(&(*f, *id)))
            .copied()
            .collect();
        assert_eq!(new, expected, "{file}, run {i}: {input}");
        newest.push(new.len());
        known.extend(everything.iter().map(|(f, id, _)| (*f, *id)));
        std::fs::create_dir_all(&runs).unwrap();
        std::fs::copy(&merged, runs.join(format!("{i:04}.p3prof"))).unwrap();
        std::fs::remove_dir_all(&residual.out).unwrap();
    }
    let later: usize = newest[1..].iter().sum();
    assert!(newest[0] > 0 && later > 0, "{file}: {newest:?}");
    assert_eq!(newest[9], 0, "the last input is the first");
}

macro_rules! programs {
    ($($name:ident $file:literal $inputs:expr;)*) => {
        $(#[test]
        fn $name() {
            check($file, $inputs);
        })*
    };
}

programs! {
    runs_of_compress_find_what_earlier_ones_did_not "compress.c"
        ["5 1", "60 1", "300 1", "2000 1", "4000 2", "9000 1", "1 3", "40 2", "20000 1", "5 1"];
    runs_of_matcher_find_what_earlier_ones_did_not "matcher.c"
        ["1 1", "5 1", "30 1", "90 1", "200 2", "400 1", "900 1", "60 3", "1500 1", "1 1"];
    runs_of_huffman_find_what_earlier_ones_did_not "huffman.c"
        ["1 1", "2 1", "9 1", "40 1", "300 2", "1000 1", "3000 1", "7 3", "9000 1", "1 1"];
    runs_of_parser_find_what_earlier_ones_did_not "parser.cpp"
        ["1 1", "2 1", "3 1", "5 1", "9 2", "15 1", "30 1", "4 3", "70 1", "1 1"];
    runs_of_connect_four_find_what_earlier_ones_did_not "connect_four.c"
        ["1 1", "2 1", "3 1", "4 1", "5 1", "2 2", "3 2", "4 2", "6 1", "1 1"];
}
