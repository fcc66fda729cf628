//! `p3-rewrite --train`: weights from a run before rewriting.

use crate::support::{PROF, REWRITE, disassemble, module, run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Estimates say that a loop goes on and that an error is rare: here it is the other way round.
const UNUSUAL: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    int main(int argc, char **argv) {
        int n = argc > 1 ? atoi(argv[1]) : 0, sum = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i; j < i + 1; j++) sum += j & 1 ? 3 : j;
            if (i % 1000 != 999) sum ^= i; else { sum *= 5; putchar('.'); }
        }
        printf("%d\n", sum);
        return 0;
    }"#;

fn compiled(source: &str, dir: &Path) -> PathBuf {
    module("program.c", source, &["-O1", "-g"], dir)
}

/// Rewrites in `dir`, where the names of `arguments` are.
fn rewrite(arguments: &[&str], dir: &Path) -> Output {
    let mut command = Command::new(REWRITE);
    command.arg("program.bc").args(arguments).current_dir(dir);
    command.output().unwrap()
}

#[track_caller]
fn said(output: &Output, status: i32) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

/// All files below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let all = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap);
    let files = all.filter(|f| f.file_type().is_file());
    let read = files.map(|f| {
        let below = f.path().strip_prefix(folder).unwrap().to_path_buf();
        (below, std::fs::read(f.path()).unwrap())
    });
    read.collect()
}

/// The files of the copies.
fn copies(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = files(folder);
    all.retain(|f, _| f.starts_with("copy-0") || f.starts_with("copy-1"));
    assert!(!all.is_empty());
    all
}

/// The weights of all branches, by what the copy's module says of them.
fn branch_weights(folder: &Path) -> Vec<Vec<f64>> {
    let text = disassemble(&folder.join("copy-0/m0.bc"));
    let nodes = text
        .lines()
        .filter_map(|l| l.split_once(r#"!{!"branch_weights", "#));
    let weights = nodes.map(|(_, weights)| {
        let numbers = weights.trim_end_matches('}').split(", ");
        numbers
            .map(|n| n.trim_start_matches("i32 ").parse().unwrap())
            .collect()
    });
    weights.collect()
}

/// LLVM is told what a branch did when it was measured, and nothing where nothing was.
#[test]
fn branches_of_trained_copies_have_weights() {
    let dir = crate::support::folder();
    let dir = dir.path();
    compiled(UNUSUAL, dir);
    for scheme in ["sbl", "edge", "p3-hot"] {
        let options = ["-q", "-k1", "--scheme", scheme];
        said(
            &rewrite(&[&options[..], &["-o", "guessed"]].concat(), dir),
            0,
        );
        assert_eq!(branch_weights(&dir.join("guessed")), Vec::<Vec<f64>>::new());
        let train = ["--train", "5000", "-o", "trained"];
        said(&rewrite(&[&options[..], &train].concat(), dir), 0);
        let weights = branch_weights(&dir.join("trained"));
        let shares = weights
            .iter()
            .map(|w| w.iter().copied().fold(0.0, f64::max) / w.iter().sum::<f64>());
        // An error every thousandth time.
        assert!(
            shares.into_iter().any(|s| (s - 0.999).abs() < 1e-4),
            "{scheme}: {weights:?}"
        );
    }
}

/// The counts are those of a run by hand, the copies those that its profile gives, and all of it the same each time.
#[test]
fn a_program_that_ends() {
    let dir = crate::support::folder();
    let dir = dir.path();
    compiled(UNUSUAL, dir);
    let train = ["-k2", "--train", "5000", "-o"];
    let text = said(&rewrite(&[&train[..], &["out"]].concat(), dir), 0);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "train: linking a copy that counts edges");
    assert!(lines[2].starts_with("train: it ended after "), "{text}");
    assert!(lines[2].ends_with("; 1 of 1 function ran"), "{text}");
    assert_eq!(lines.len(), 4, "{text}");
    said(&rewrite(&[&train[..], &["again"]].concat(), dir), 0);
    assert_eq!(files(&dir.join("out")), files(&dir.join("again")));

    let edges = ["-q", "-k1", "--scheme", "edge", "-o", "by-hand"];
    said(&rewrite(&edges, dir), 0);
    run(Command::new("make")
        .args(["-s", "-C", "by-hand", "run", "ARGS=5000"])
        .arg(format!("P3_PROF={PROF}"))
        .current_dir(dir));
    let by_hand = [
        "-q",
        "-k2",
        "--profile",
        "by-hand/profile.p3prof",
        "-o",
        "told",
    ];
    said(&rewrite(&by_hand, dir), 0);
    assert_eq!(copies(&dir.join("out")), copies(&dir.join("told")));
    run(Command::new(PROF)
        .args(["compare", "out/weights.p3prof", "by-hand/profile.p3prof"])
        .current_dir(dir));
    said(&rewrite(&["-q", "-k2", "-o", "estimates"], dir), 0);
    assert_ne!(copies(&dir.join("out")), copies(&dir.join("estimates")));
}

/// What is left in the folder repeats it, into the same folder and as often as one likes.
#[test]
fn the_profile_is_kept() {
    let dir = crate::support::folder();
    let dir = dir.path();
    compiled(UNUSUAL, dir);
    said(
        &rewrite(&["-q", "-k2", "--train", "5000", "-o", "out"], dir),
        0,
    );
    let trained = files(&dir.join("out"));
    for _ in 0..2 {
        let profile = ["--profile", "out/weights.p3prof"];
        said(
            &rewrite(&[&profile[..], &["-q", "-k2", "-o", "out"]].concat(), dir),
            0,
        );
        assert_eq!(files(&dir.join("out")), trained);
    }
}

#[test]
fn a_program_that_its_time_ends() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let source = r#"
        #include <stdio.h>
        #include <unistd.h>
        volatile unsigned n;
        int main() {
            fork();
            FILE *pids = fopen(PIDS, "a");
            fprintf(pids, "%d\n", getpid());
            fclose(pids);
            while (1) n += n & 4 ? 3 : 1;
        }"#;
    let pids = dir.join("pids");
    let source = source.replace("PIDS", &format!("{pids:?}"));
    compiled(&source, dir);
    let train = ["--train", "", "--train-for", "1500ms", "-o", "out"];
    let begin = Instant::now();
    let text = said(&rewrite(&train, dir), 0);
    assert!(begin.elapsed() >= Duration::from_millis(1500));
    assert!(
        text.contains("train: running it for 1.5s at most\ntrain: ended it after "),
        "{text}"
    );
    let warning = "warning: the training run was ended early, so the next one may give other copies; \
                   --profile out/weights.p3prof gives these copies again";
    assert!(text.contains(warning), "{text}");
    let shown = run(Command::new(PROF)
        .args(["show", "--edges", "out/weights.p3prof"])
        .current_dir(dir));
    assert!(String::from_utf8_lossy(&shown.stdout).contains("main"));
    gone(&pids);

    let strict = said(&rewrite(&[&train[..], &["--strict"]].concat(), dir), 1);
    let line = strict.lines().last().unwrap();
    assert!(line.starts_with("error: --train: incomplete: "), "{strict}");
    let brief = ["--train", "", "--train-for", "1ms", "-o", "brief"];
    let text = said(&rewrite(&brief, dir), 2);
    let line = "error: --train-for: nothing was counted in that time; give the program more time";
    assert_eq!(text.lines().last(), Some(line));
    assert!(!dir.join("brief").exists());
}

/// The processes that the file names end before long.
#[track_caller]
fn gone(pids: &Path) {
    let text = std::fs::read_to_string(pids).unwrap();
    let pids: Vec<&str> = text.lines().collect();
    assert!(!pids.is_empty());
    let deadline = Instant::now() + Duration::from_secs(20);
    // One that is dead and not waited for has no command line any more.
    let lives =
        |pid: &&str| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|c| !c.is_empty());
    while pids.iter().any(lives) {
        assert!(Instant::now() < deadline, "still there: {text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whoever ends p3-rewrite, by whatever signal, ends the program too.
#[test]
fn nothing_outlives_p3_rewrite() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let pids = dir.join("pids");
    let source = r#"
        #include <stdio.h>
        #include <unistd.h>
        int main() {
            FILE *pids = fopen(PIDS ".new", "w");
            fprintf(pids, "%d\n", getpid());
            fclose(pids);
            rename(PIDS ".new", PIDS);
            while (1) sleep(1);
        }"#;
    compiled(&source.replace("PIDS", &format!("{pids:?}")), dir);
    let mut command = Command::new(REWRITE);
    command.args(["-q", "program.bc", "--train", "", "-o", "out"]);
    let mut child = command.current_dir(dir).env("TMPDIR", dir).spawn().unwrap();
    while !pids.exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    gone(&pids);
    assert!(!dir.join("out").exists());
}

/// An older output folder stays as it was.
#[test]
fn a_program_that_fails() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let source = r#"
        #include <stdio.h>
        int main(int argc, char **argv) {
            fprintf(stderr, "reading\ncannot open %s\n", argv[1]);
            return 7;
        }"#;
    compiled(source, dir);
    said(&rewrite(&["-q", "-o", "out"], dir), 0);
    let before = files(&dir.join("out"));
    let train = ["-k2", "--train", "input.txt", "-o", "out"];
    let text = said(&rewrite(&train, dir), 2);
    let line = "error: --train: the program ended with status 7: cannot open input.txt; it runs in a folder of its \
                own, so name files that it reads by --train-with FILES='…', its input by --train-with STDIN=file; if \
                that is how it ends, accept it by --train-with ALLOW_STATUS=7";
    assert_eq!(text.lines().last(), Some(line));
    assert_eq!(files(&dir.join("out")), before);
    let allowed = [&train[..], &["--train-with", "ALLOW_STATUS=7"]].concat();
    said(&rewrite(&allowed, dir), 0);
}

/// Arguments as the shell reads them, files, input and symbols from outside: by options, or by the environment, as make
/// takes them.
#[test]
fn files_input_and_arguments() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let source = r#"
        #include <stdio.h>
        #include <string.h>
        extern char given;
        int main(int argc, char **argv) {
            char word[20] = "", line[20] = "";
            FILE *f = fopen("some data.txt", "r");
            if (f == NULL || fscanf(f, "%19s", word) != 1 || strcmp(word, "word") != 0) return 2;
            if (scanf("%19s", line) != 1 || strcmp(line, "line") != 0) return 3;
            if (&given != (char *)42) return 4;
            if (argc != 5 || strcmp(argv[1], "two words")) return 5;
            return strcmp(argv[2], "it's") || strcmp(argv[3], "$HOME") || strcmp(argv[4], "");
        }"#;
    compiled(source, dir);
    std::fs::write(dir.join("some data.txt"), "word").unwrap();
    std::fs::write(dir.join("input"), "line").unwrap();
    let train = ["--train", r#"'two words' it\'s '$HOME' """#, "-o", "out"];
    let settings = [
        ("STDIN", "input"),
        ("FILES", "'some data.txt'"),
        ("LDFLAGS", "-no-pie -Wl,--defsym=given=42"),
    ];
    let mut options = Vec::from(train.map(str::to_string));
    for (name, value) in settings {
        options.extend(["--train-with".to_string(), format!("{name}={value}")]);
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let text = said(&rewrite(&options, dir), 0);
    assert!(text.contains("1 of 1 function ran"), "{text}");

    let mut command = Command::new(REWRITE);
    command.args(["program.bc"]).args(train).current_dir(dir);
    // Called by a make that only says what it would do.
    command
        .envs(settings)
        .env("MAKEFLAGS", "n")
        .env("MAKELEVEL", "1");
    said(&command.output().unwrap(), 0);

    let text = said(&rewrite(&train, dir), 2);
    let line = text.lines().last().unwrap();
    assert!(
        line.starts_with("error: --train: the program cannot be linked: "),
        "{text}"
    );
    assert!(line.contains("undefined reference to `given'"), "{text}");
    let text = said(
        &rewrite(
            &[&options[..], &["--train-with", "STDIN=none"]].concat(),
            dir,
        ),
        2,
    );
    let line = "error: --train: the program cannot be run: cannot read STDIN=none; fix it with --train-with \
                STDIN=file, FILES='…', …";
    assert_eq!(text.lines().last(), Some(line));
}

/// Four functions that count once in every few instructions.
fn busy(calls: &str) -> String {
    let mut text =
        String::from("#include <pthread.h>\n#include <stdlib.h>\nstatic unsigned t[8];\n");
    for f in ["a", "b", "c", "d"] {
        text += &format!(
            "__attribute__((noinline)) static void {f}(unsigned n) {{
                 while (n) {{
                     if (n & 1)
                         t[n & 7] ^= n;
                     n >>= 1;
                 }}
             }}\n"
        );
    }
    text + "int main(int argc, char **argv) {
        for (int i = 0; i < atoi(argv[1]); i++) { a(i); b(i); c(i); d(i); }
        "
        + calls
        + "
        return 0;
    }"
}

/// `-k auto`: one copy, unless a run says that four pay, and no thread can make them differ.
#[test]
fn auto_makes_several_copies_where_a_run_says_that_they_pay() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let copies = |options: &[&str]| {
        let auto = ["-q", "-k", "auto", "-o", "auto"];
        said(&rewrite(&[&auto[..], options].concat(), dir), 0);
        crate::support::json(&dir.join("auto/manifest.json"))["copies"].clone()
    };
    let train = ["--train", "2000"];
    compiled(&busy(""), dir);
    assert_eq!(copies(&[]), 1, "nothing was measured");
    assert_eq!(copies(&train), 4);
    assert_eq!(copies(&[&train[..], &["--scheme", "pbl"]].concat()), 1);
    assert_eq!(copies(&[&train[..], &["--paths", "through=a"]].concat()), 1);
    // Hardly anything is counted.
    assert_eq!(copies(&[&train[..], &["--include", "main"]].concat()), 1);
    compiled(&busy("if (argc > 9) pthread_create(0, 0, 0, 0);"), dir);
    assert_eq!(copies(&train), 1, "threads");
}
