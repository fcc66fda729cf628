//! The output folder of `p3-rewrite`.

use super::{one_line_error, transcript, tree};
use crate::build::CARGO_P3;
use crate::support::{PROF, REWRITE, compile, rewrite};
use std::process::Command;

/// Only what p3-rewrite and the runner wrote goes, and neither way out of the folder is taken.
#[test]
fn folders_keep_what_is_not_ours() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let module = [dir.join("x.ll")];
    std::fs::write(&module[0], "define void @main() {\n  ret void\n}\n").unwrap();
    let write = |name: &str| {
        std::fs::create_dir_all(dir.join(name).parent().unwrap()).unwrap();
        std::fs::write(dir.join(name), "mine").unwrap();
    };
    let refused = |what: &str| {
        let mut command = Command::new(REWRITE);
        let text = transcript(command.args(["x.ll", "-o", "out"]), dir);
        one_line_error(&text);
        assert!(text.contains(what), "{text}");
    };
    // A folder of the user's, the names in it as in ours.
    for name in [
        "out/Makefile",
        "out/run/data",
        "out/bin/tool",
        "out/manifest.json",
    ] {
        write(name);
    }
    let before = tree(&dir.join("out"));
    refused("is not empty, and p3-rewrite did not make it");
    assert_eq!(tree(&dir.join("out")), before);
    assert!(before.iter().all(|f| std::fs::read(f).unwrap() == b"mine"));
    std::fs::remove_dir_all(dir.join("out")).unwrap();

    // One of ours, with files of the user's in every folder, and a list that someone has added to.
    rewrite(&module, &["-k", "3", "--dump", "plan"], &dir.join("out"));
    let mine = [
        "out/notes",
        "out/copy-2/notes",
        "out/native/notes",
        "out/run/copy-0/notes",
        "out/obj/x/notes",
        "out/bin/notes",
        "out/runtime/notes",
        "out/dump/notes",
        "outside/notes",
    ];
    mine.iter().for_each(|name| write(name));
    let list = dir.join("out/.p3-files");
    let text = std::fs::read_to_string(&list).unwrap();
    assert!(text.contains("\ncopy-2/m0.bc\n") && text.contains("\ndump/copy-2.plan.txt\n"));
    let outside = dir.join("outside/notes");
    let added = format!(
        "{text}../outside/notes\n{}\n../outside/\n",
        outside.display()
    );
    std::fs::write(&list, added).unwrap();
    rewrite(&module, &["-k", "1"], &dir.join("out"));
    assert!(!dir.join("out/copy-1").exists() && !dir.join("out/copy-2/m0.bc").exists());
    assert!(!dir.join("out/dump/copy-0.plan.txt").exists());
    assert!(
        mine.iter()
            .all(|f| std::fs::read(dir.join(f)).unwrap() == b"mine")
    );

    // Links in the place of our folders.
    write("outside/m0.bc");
    std::fs::remove_dir_all(dir.join("out/copy-0")).unwrap();
    std::os::unix::fs::symlink(dir.join("outside"), dir.join("out/copy-0")).unwrap();
    refused("out/copy-0: is a symbolic link");
    assert_eq!(std::fs::read(dir.join("outside/m0.bc")).unwrap(), b"mine");
    // What was half made is ours all the same.
    std::fs::remove_file(dir.join("out/copy-0")).unwrap();
    assert!(!dir.join("out/manifest.json").exists());
    assert!(!dir.join("out/manifest.json.part").exists());
    let text = std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, text + "native/m0.ll\n").unwrap();
    std::fs::write(dir.join("out/native/m0.ll.part"), "half").unwrap();
    rewrite(&module, &["-k", "1"], &dir.join("out"));
    assert!(!dir.join("out/native/m0.ll.part").exists());
}

/// No name of a file reaches make or a shell as anything but a word.
#[test]
fn names_are_only_names() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let odd = [
        "`touch hit`.bc",
        "$(touch hit).bc",
        "a b;touch hit;.bc",
        "it's \"&|<>()=#:%*?[.bc",
    ];
    let program = compile("modules", &["-O1", "-g"], &dir.join("built"));
    std::fs::create_dir(dir.join("in")).unwrap();
    for (module, name) in program.iter().zip(odd) {
        std::fs::copy(module, dir.join("in").join(name)).unwrap();
    }
    for out in [
        "plain",
        "it's $(touch hit) \"`touch hit`\" #1: 100%p",
        "-C ~x",
    ] {
        let mut command = Command::new(REWRITE);
        command.arg("in").args(["-k", "2", &format!("-o{out}")]);
        let text = transcript(&mut command, dir);
        // What it says to type next works as it stands.
        let (_, next) = text.split_once("; next: ").expect(&text);
        let next = next.lines().next().unwrap();
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(format!("{next} P3_PROF=\"$0\" FIXED_TIME=1"))
            .arg(PROF);
        let output = shell.current_dir(dir).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let out = dir.join(out);
        let merged = out.join("profile.p3prof");
        crate::support::run(Command::new(PROF).arg("verify").arg(&merged));
        let shown = crate::support::paths(&merged);
        assert!(
            shown
                .keys()
                .all(|(module, ..)| odd.contains(&module.as_str()))
        );
        let mut export = Command::new(PROF);
        export.args(["export", "--format", "proftext"]).arg(&merged);
        assert!(crate::support::run(&mut export).stdout.len() > 100);
    }
    let hit = walkdir::WalkDir::new(dir)
        .into_iter()
        .any(|e| e.unwrap().file_name() == "hit");
    assert!(!hit);
}

/// A place where no folder can be is refused for what it is.
#[test]
fn places_of_no_folder_are_refused() {
    let dir = crate::support::folder();
    let dir = dir.path();
    std::fs::write(dir.join("x.ll"), "define void @main() {\n  ret void\n}\n").unwrap();
    std::os::unix::fs::symlink("nowhere", dir.join("dangling")).unwrap();
    for (program, arguments) in [
        (REWRITE, &["x.ll"][..]),
        (REWRITE, &["build", "--", "true"]),
        (CARGO_P3, &["p3", "build"]),
    ] {
        for (out, problem) in [
            ("dangling", "this is a symbolic link that leads to nothing"),
            ("x.ll", "this is a file"),
        ] {
            let mut command = Command::new(program);
            let (first, rest) = arguments.split_at(1);
            command.args(first).args(["-o", out]).args(rest);
            let text = transcript(&mut command, dir);
            one_line_error(&text);
            assert!(text.contains(&format!("-o {out}: {problem}")), "{text}");
        }
    }
    assert!(!dir.join("nowhere").exists());
}
