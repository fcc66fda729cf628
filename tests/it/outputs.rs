//! Results: what they replace, what they do not, and standard output.

use crate::support::text::{assert_line, in_dir};
use crate::support::{PROF, REWRITE, compile, copy_modules, link, merge, rewrite, run, runtime};
use p3_rewrite::read::report::export::EXPORTERS;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Words of a command line.
type Words<'a> = Vec<&'a dyn AsRef<OsStr>>;

/// Every exporter, and whether its files are known again.
const FORMATS: [(&str, bool); 11] = [
    ("lcov", true),
    ("lcov-1", true),
    ("cobertura", true),
    ("callgrind", true),
    ("folded", false),
    ("pprof", true),
    ("speedscope", true),
    ("dot", true),
    ("csv", true),
    ("json", true),
    ("proftext", true),
];

/// An output folder whose copies ran once, and the module.
struct Ran {
    dir: tempfile::TempDir,
    module: PathBuf,
    out: PathBuf,
    profile: PathBuf,
}

impl Ran {
    fn new(options: &[&str]) -> Ran {
        let dir = crate::support::folder();
        let modules = compile(
            "demo",
            &["-O1", "-g", "-fno-inline"],
            &dir.path().join("input"),
        );
        let out = dir.path().join("out");
        rewrite(&modules, options, &out);
        let exe = out.join("copy-0.exe");
        link(&copy_modules(&modules, &out, 0), runtime(), &["-O1"], &exe);
        let raw = out.join("raw/%k-%p.p3raw");
        run(Command::new(&exe).arg("100").env("P3_PROFILE_FILE", raw));
        let profile = merge(&out);
        Ran {
            module: modules[0].clone(),
            dir,
            out,
            profile,
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn raw(&self) -> PathBuf {
        let mut files = self.out.join("raw").read_dir().unwrap();
        files.next().unwrap().unwrap().path()
    }
}

fn started(program: &str, arguments: &[&dyn AsRef<OsStr>]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments.iter().map(|a| a.as_ref()));
    command.stdin(Stdio::null()).output().unwrap()
}

/// Refused in one line that holds these words; the file is as it was.
#[track_caller]
fn refused(output: &Output, words: &str, file: &Path, content: &[u8]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let errors = said.lines().filter(|l| l.starts_with("error: "));
    assert!(errors.count() == 1 && said.contains(words), "{said}");
    assert_eq!(std::fs::read(file).unwrap(), content);
}

#[track_caller]
fn fine(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

const FOREIGN: &str = "exists, and is not an earlier result of this command";
const INPUT: &str = "is read by this command";

/// Over its own earlier result, one of other functions, an export goes again; over anything else it takes `--force`.
#[test]
fn export_replaces_only_exports_of_its_format() {
    let ran = Ran::new(&["--scheme", "sbl"]);
    let mut tested = FORMATS.map(|f| f.0);
    let mut all: Vec<&str> = EXPORTERS.iter().map(|e| e.name).collect();
    tested.sort_unstable();
    all.sort_unstable();
    assert_eq!(all, tested);
    for (format, known) in FORMATS {
        let file = ran.at(format);
        let export = |more: &[&str]| {
            let mut command = Command::new(PROF);
            command
                .args(["export", "--format", format, "-o"])
                .arg(&file);
            command.arg(&ran.profile).args(more);
            if format == "proftext" {
                command.arg("--modules").arg(&ran.module);
            }
            command.output().unwrap()
        };
        std::fs::write(&file, "notes\n").unwrap();
        refused(&export(&[]), FOREIGN, &file, b"notes\n");
        fine(&export(&["--force"]));
        let first = std::fs::read(&file).unwrap();
        assert_ne!(first, b"notes\n");
        // Again the same.
        fine(&export(&[]));
        if format == "proftext" {
            continue;
        }
        let other = export(&["--function", "^sort$"]);
        if known {
            fine(&other);
            assert_ne!(std::fs::read(&file).unwrap(), first, "{format}");
        } else {
            refused(&other, FOREIGN, &file, &first);
        }
    }
}

/// Not even by `--force`: the manifest, a raw profile, the profile, a module, a source.
#[test]
fn inputs_are_never_replaced() {
    let ran = Ran::new(&["--scheme", "sbl"]);
    let source = ran.at("demo.c");
    std::fs::copy(crate::support::project("testdata/programs/demo.c"), &source).unwrap();
    let source_dir = ["--source-dir", ran.dir.path().to_str().unwrap()];
    let (manifest, raw) = (ran.out.join("manifest.json"), ran.raw());
    let folder = ran.out.join("raw");
    for force in [&[][..], &["--force"]] {
        for target in [&manifest, &raw] {
            let before = std::fs::read(target).unwrap();
            let mut merge = Command::new(PROF);
            merge.args(["merge", "-m"]).arg(&manifest).arg(&folder);
            let output = merge.arg("-o").arg(target).args(force).output().unwrap();
            refused(&output, INPUT, target, &before);
        }
        let commands: [&[&str]; 3] = [
            &["export", "--format", "json"],
            &["html", "--single"],
            &["union"],
        ];
        let before = std::fs::read(&ran.profile).unwrap();
        for command in commands {
            let mut prof = Command::new(PROF);
            prof.args(command).arg(&ran.profile);
            if command == ["union"] {
                prof.arg(&ran.profile);
            }
            prof.args(force);
            let output = prof.arg("-o").arg(&ran.profile).output().unwrap();
            refused(&output, INPUT, &ran.profile, &before);
        }
        let with_sources: [&[&str]; 3] = [
            &["export", "--format", "lcov"],
            &["export", "--format", "speedscope"],
            &["html", "--single"],
        ];
        let text = std::fs::read(&source).unwrap();
        for command in with_sources {
            let mut prof = Command::new(PROF);
            prof.args(command).args(source_dir).args(force);
            prof.arg(&ran.profile).arg("-o").arg(&source);
            refused(&prof.output().unwrap(), INPUT, &source, &text);
        }
        // An output folder stands for the profile in it.
        let own = ran.out.join("profile.p3prof");
        std::fs::copy(&ran.profile, &own).unwrap();
        let mut union = Command::new(PROF);
        union.arg("union").args([&ran.out, &ran.out]).args(force);
        refused(
            &union.arg("-o").arg(&own).output().unwrap(),
            INPUT,
            &own,
            &before,
        );
        std::fs::remove_file(&own).unwrap();
        // Modules are read in folders, too.
        let folder = ran.module.parent().unwrap();
        let module = std::fs::read(&ran.module).unwrap();
        for (command, out) in [("annotate", folder), ("proftext", &*ran.module)] {
            let mut tool = Command::new(REWRITE);
            tool.arg(command).arg(folder).args(force);
            tool.arg("--profile").arg(&ran.profile).arg("-o").arg(out);
            refused(&tool.output().unwrap(), "", &ran.module, &module);
        }
        for command in ["annotate", "proftext"] {
            for target in [&ran.module, &ran.profile] {
                let before = std::fs::read(target).unwrap();
                let mut tool = Command::new(REWRITE);
                tool.arg(command).arg(&ran.module).args(force);
                tool.arg("--profile").arg(&ran.profile);
                let output = tool.arg("-o").arg(target).output().unwrap();
                refused(&output, INPUT, target, &before);
            }
        }
    }
}

/// Profiles, pages and modules over their like, over notes, and over a link.
#[test]
fn results_replace_only_their_like() {
    let ran = Ran::new(&["--scheme", "sbl"]);
    let manifest = ran.out.join("manifest.json");
    let raw = ran.out.join("raw");
    let (module, profile) = (&ran.module, &ran.profile);
    let commands: [(&str, Words); 4] = [
        (PROF, vec![&"merge", &"-m", &manifest, &raw]),
        (PROF, vec![&"html", &"--single", profile]),
        (REWRITE, vec![&"annotate", module, &"--profile", profile]),
        (REWRITE, vec![&"proftext", module, &"--profile", profile]),
    ];
    for (program, command) in commands {
        let target = ran.at("made");
        let write = |more: &'static [&'static str]| {
            let mut words = command.clone();
            words.extend([&"-o" as &dyn AsRef<OsStr>, &target]);
            words.extend(more.iter().map(|w| w as &dyn AsRef<OsStr>));
            started(program, &words)
        };
        fine(&write(&[]));
        // Another result of the same kind: a little longer.
        let mut longer = std::fs::read(&target).unwrap();
        longer.extend(b"  ");
        std::fs::write(&target, &longer).unwrap();
        fine(&write(&[]));
        assert_ne!(std::fs::read(&target).unwrap(), longer);
        std::fs::write(&target, "notes").unwrap();
        refused(&write(&[]), FOREIGN, &target, b"notes");
        fine(&write(&["--force"]));
        std::fs::remove_file(&target).unwrap();
        let other = ran.at("other");
        std::fs::write(&other, "").unwrap();
        std::os::unix::fs::symlink(&other, &target).unwrap();
        refused(&write(&[]), "is a symbolic link", &other, b"");
        std::fs::remove_file(&target).unwrap();
    }
}

/// Files of ours in folders that others use: one that is not ours, or a link, and nothing is written.
#[test]
fn folders_keep_what_is_not_ours() {
    let ran = Ran::new(&["--scheme", "sbl"]);
    let profile = ran.profile.clone();
    let commands: [(&str, Words, &str, &str); 4] = [
        (PROF, vec![&"html", &profile], "page.js", "index.html"),
        (
            REWRITE,
            vec![&"manual"],
            "man/man1/p3-cc.1",
            "zsh/site-functions/_p3-prof",
        ),
        (
            PROF,
            vec![&"manual"],
            "bash-completion/completions/p3-prof",
            "man/man1/p3-prof.1",
        ),
        (REWRITE, vec![&"integrate"], "p3.pc", "include/p3_profile.h"),
    ];
    for (i, (program, command, one, other)) in commands.into_iter().enumerate() {
        let folder = ran.at(&format!("folder-{i}"));
        let write = |more: &'static [&'static str]| {
            let mut words = command.clone();
            words.extend([&"-o" as &dyn AsRef<OsStr>, &folder]);
            words.extend(more.iter().map(|w| w as &dyn AsRef<OsStr>));
            started(program, &words)
        };
        fine(&write(&[]));
        fine(&write(&[]));
        let (one, other) = (folder.join(one), folder.join(other));
        std::fs::write(&one, "mine").unwrap();
        std::fs::remove_file(&other).unwrap();
        refused(&write(&[]), FOREIGN, &one, b"mine");
        assert!(!other.exists(), "nothing was written");
        let target = ran.at("target");
        std::fs::write(&target, "mine").unwrap();
        std::fs::remove_file(&one).unwrap();
        std::os::unix::fs::symlink(&target, &one).unwrap();
        refused(&write(&[]), "is a symbolic link", &target, b"mine");
        fine(&write(&["--force"]));
        assert_eq!(std::fs::read(&target).unwrap(), b"mine");
        assert!(other.exists() && !one.is_symlink());
    }
}

/// `p3-rewrite -o` and `--dump-dir` over files of the user's.
#[test]
fn rewriting_keeps_what_is_not_ours() {
    let ran = Ran::new(&["--scheme", "sbl"]);
    let again = |more: &[&str]| {
        let mut command = Command::new(REWRITE);
        command.arg(&ran.module).args(["-q", "-k", "2", "-o"]);
        command.arg(&ran.out).args(more).output().unwrap()
    };
    // The copy that was not there before.
    let own = ran.out.join("copy-1/m0.bc");
    std::fs::create_dir(ran.out.join("copy-1")).unwrap();
    std::fs::write(&own, "mine").unwrap();
    refused(&again(&[]), "is not p3-rewrite's", &own, b"mine");
    assert!(
        ran.out.join("manifest.json").exists(),
        "the old folder stays whole"
    );
    std::fs::remove_file(&own).unwrap();
    fine(&again(&[]));
    // Below a folder of ours, by a name that nobody could know before.
    let own = ran.out.join("dump/copy-0.plan.txt");
    std::fs::create_dir(ran.out.join("dump")).unwrap();
    std::fs::write(&own, "mine").unwrap();
    refused(
        &again(&["--dump", "plan"]),
        "is not p3-rewrite's",
        &own,
        b"mine",
    );
    let dump = ran.at("views");
    let elsewhere = ["--dump", "plan", "--dump-dir", dump.to_str().unwrap()];
    fine(&again(&elsewhere));
    fine(&again(&elsewhere));
    let own = dump.join("copy-0.plan.txt");
    std::fs::write(&own, "mine").unwrap();
    refused(&again(&elsewhere), FOREIGN, &own, b"mine");
}

/// `-o -`: the result alone; what is said goes to standard error.
#[test]
fn dash_is_standard_output() {
    let ran = Ran::new(&["--scheme", "sbl"]);
    let manifest = ran.out.join("manifest.json");
    let (raw, module, profile) = (ran.out.join("raw"), &ran.module, &ran.profile);
    let file = ran.at("file");
    let commands: [(&str, Words); 6] = [
        (PROF, vec![&"merge", &"-m", &manifest, &raw]),
        (PROF, vec![&"html", &"--single", profile]),
        (PROF, vec![&"export", &"--format", &"pprof", profile]),
        (
            PROF,
            vec![
                &"export",
                &"--format",
                &"proftext",
                profile,
                &"--modules",
                module,
            ],
        ),
        (REWRITE, vec![&"annotate", module, &"--profile", profile]),
        (REWRITE, vec![&"proftext", module, &"--profile", profile]),
    ];
    for (program, command) in commands {
        for name in ["-", "/dev/stdout"] {
            let to = |place: &Path| {
                let words: Words = [&command[..], &[&"-o", &place]].concat();
                let output = started(program, &words);
                fine(&output);
                output
            };
            to(&file);
            let expected = std::fs::read(&file).unwrap();
            assert!(to(Path::new(name)).stdout == expected, "{program} {name}");
            std::fs::remove_file(&file).unwrap();
        }
    }
    let joined = started(PROF, &[&"union", profile, profile, &"-o", &"-"]);
    assert_eq!(joined.status.code(), Some(2), "a run twice");
    assert!(joined.stdout.is_empty());
    for (program, command) in [
        (PROF, &["html"][..]),
        (PROF, &["manual"]),
        (REWRITE, &["integrate"]),
        (REWRITE, &[]),
    ] {
        let mut folder = Command::new(program);
        folder.args(command).current_dir(ran.dir.path());
        if command == ["html"] {
            folder.arg(profile);
        } else if command.is_empty() {
            folder.arg(module);
        }
        let output = folder.args(["-o", "-"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
        assert_line(
            &said,
            "error: -o -: this writes a folder, which standard output cannot take; name a folder (./- \
            for one called -)",
        );
    }
    assert!(!ran.at("-").exists());
}

/// Bytes would change a terminal's settings: they are not for it.
#[test]
fn binary_results_are_not_for_terminals() {
    let ran = Ran::new(&["--scheme", "sbl"]);
    let (module, profile) = (ran.module.display(), ran.profile.display());
    for command in [
        format!("{PROF} export --format pprof {profile}"),
        format!(
            "{PROF} merge -m {0}/manifest.json {0}/raw -o -",
            ran.out.display()
        ),
        format!("{REWRITE} annotate {module} --profile {profile} -o -"),
    ] {
        let line = format!("{command}; echo status $?");
        let mut script = Command::new("script");
        let output = script.args(["-qec", &line, "/dev/null"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let expected = "error: standard output is a terminal, and this is not text; name a file with -o, or pipe \
                        it\r\nstatus 2";
        assert!(said.contains(expected), "{command}: {said}");
    }
}

/// Every command that reads a profile reads that of an output folder; before a run, it says what to run.
#[test]
fn output_folder_stands_for_its_profile() {
    let ran = Ran::new(&["--scheme", "sbl"]);
    let merged = ran.out.join("profile.p3prof");
    let commands: [&[&str]; 8] = [
        &["show"],
        &["show", "--edges"],
        &["verify"],
        &["accuracy"],
        &["coverage"],
        &["export", "--format", "json"],
        &["simulate"],
        &["html", "--single", "-o", "-"],
    ];
    let of = |command: &[&str], name: &Path| {
        let mut prof = Command::new(PROF);
        let output = prof.args(command).arg(name).output().unwrap();
        (output.status.code(), output.stdout, output.stderr)
    };
    let _ = std::fs::remove_file(ran.at("kept"));
    std::fs::rename(&ran.profile, ran.at("kept")).unwrap();
    let make = format!("run `make -C {} merge` first", ran.out.display());
    for command in commands {
        for name in [&ran.out, &merged] {
            let (status, out, said) = of(command, name);
            let said = String::from_utf8(said).unwrap();
            assert_eq!(status, Some(2), "{command:?}");
            assert!(
                out.is_empty() && said.lines().count() == 1 && said.contains(&make),
                "{said}"
            );
        }
    }
    std::fs::rename(ran.at("kept"), &merged).unwrap();
    for command in commands {
        assert_eq!(of(command, &merged), of(command, &ran.out), "{command:?}");
        assert_eq!(of(command, &ran.out).0, Some(0), "{command:?}");
    }
    let mut weighed = Command::new(REWRITE);
    weighed
        .arg(&ran.module)
        .arg("-q")
        .arg("-o")
        .arg(ran.at("weighed"));
    run(weighed.arg("--profile").arg(&ran.out));
}

/// `--profile` of another program is no help, and more likely a mistake.
#[test]
fn weights_of_another_program_are_refused() {
    let ran = Ran::new(&["--scheme", "sbl"]);
    let modules = compile("loops", &["-O1"], &ran.at("loops"));
    let mut command = Command::new(REWRITE);
    command.arg(&modules[0]).arg("-o").arg(ran.at("out-2"));
    let output = command.arg("--profile").arg(&ran.profile).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_line(
        &in_dir(&said, ran.dir.path()),
        "error: DIR/out/merged.p3prof: it knows none of the functions, as \
        they are now; give a profile of this program, or leave --profile out",
    );
    assert!(!ran.at("out-2").exists());
}

/// Copies in which nothing is profiled run, merge into an empty profile, and the reasons are said.
#[test]
fn program_in_which_nothing_is_profiled_ends_well() {
    let dir = crate::support::folder();
    let modules = compile("demo", &["-O1", "-fno-inline"], &dir.path().join("input"));
    for scheme in ["p3", "edge", "subpath", "shadow"] {
        let out = dir.path().join(scheme);
        let mut command = Command::new(REWRITE);
        command
            .arg(&modules[0])
            .args(["--scheme", scheme, "--exclude", "."]);
        let output = command.arg("-o").arg(&out).output().unwrap();
        fine(&output);
        let reasons =
            "nothing is profiled: every function is skipped: 6 (left out by --include/--exclude)";
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(&format!("warning: {reasons}\n")), "{said}");
        let raw = out.join("raw");
        std::fs::create_dir(&raw).unwrap();
        let merged = out.join("profile.p3prof");
        let manifest = out.join("manifest.json");
        let output = started(PROF, &[&"merge", &"-m", &manifest, &raw, &"-o", &merged]);
        fine(&output);
        assert!(String::from_utf8(output.stderr).unwrap().contains(reasons));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(": ok\n"), "{text}");
        assert_line(
            &text,
            "  copies        0 of 1; copy 0 has nothing to profile",
        );
        let edges: &[&str] = if scheme == "edge" { &["--edges"] } else { &[] };
        fine(
            &Command::new(PROF)
                .arg("show")
                .args(edges)
                .arg(&out)
                .output()
                .unwrap(),
        );
        if ["p3", "edge"].contains(&scheme) {
            fine(&started(PROF, &[&"--strict", &"verify", &out]));
        }
    }
}

/// A row of diamonds: 2^n paths. The limit is 2^62 itself.
#[test]
fn functions_are_cut_above_the_limit_that_is_said() {
    let dir = crate::support::folder();
    for (n, status) in [
        (55, "1 exact, 0 cut"),
        (62, "1 exact, 0 cut"),
        (63, "0 exact, 1 cut"),
    ] {
        let mut text = String::from("define i32 @main() {\nentry:\n  br label %a0\n");
        for i in 0..n {
            let next = i + 1;
            text += &format!(
                "a{i}:\n  %x{i} = call i32 @rd()\n  %c{i} = icmp eq i32 %x{i}, 1\n  br i1 %c{i}, label %b{i}, label \
                %d{i}\n\
                 b{i}:\n  br label %a{next}\nd{i}:\n  br label %a{next}\n"
            );
        }
        text += &format!("a{n}:\n  ret i32 0\n}}\ndeclare i32 @rd()\n");
        let module = dir.path().join("diamonds.ll");
        std::fs::write(&module, text).unwrap();
        for scheme in ["sbl", "p3", "p3-hot"] {
            let mut command = Command::new(REWRITE);
            command.args(["--check", "-k", "2", "--scheme", scheme]);
            let output = command.arg(&module).arg("-o").arg(dir.path().join("out"));
            let said = String::from_utf8(run(output).stderr).unwrap();
            assert!(said.contains(status), "{n}: {said}");
        }
    }
}
