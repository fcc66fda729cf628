//! `p3-prof merge`, and profiles that no command reads.

use super::{one_line_error, profiled, snapshot, transcript};
use crate::support::{PROF, execute, rewrite, shell_with_mounts};
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn bad_profiles() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let (merged, out) = profiled(dir);
    let raw = |k: u32| {
        let mut files = out
            .join("raw")
            .read_dir()
            .unwrap()
            .map(|e| e.unwrap().path());
        let is = |f: &PathBuf| {
            f.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with(&format!("{k}-"))
        };
        files.find(is).unwrap()
    };
    // Raw files by copy, damaged in every way.
    let mut good = Vec::new();
    for k in 0..3 {
        good.push(std::fs::read(raw(k)).unwrap());
        std::fs::write(dir.join(format!("{k}.p3raw")), &good[k as usize]).unwrap();
    }
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.join(name), bytes).unwrap();
    write("half.p3raw", &good[1][..good[1].len() / 2]);
    let mut flipped = good[1].clone();
    flipped[4096 + 70] ^= 4;
    write("flipped.p3raw", &flipped);
    flipped = good[1].clone();
    flipped[8] = p3_rewrite::profile::raw::VERSION as u8 + 1;
    write("version.p3raw", &flipped);
    flipped[8] = 5;
    write("old.p3raw", &flipped);
    write("text.p3raw", b"hello");
    let shown = std::fs::read(&merged).unwrap();
    write("half.p3prof", &shown[..shown.len() / 2]);
    let mut flipped = shown.clone();
    flipped[100] ^= 1;
    write("flipped.p3prof", &flipped);
    flipped[7] = 1;
    write("old.p3prof", &flipped);
    // Another rewriting, and another program.
    let input = dir.join("input/loops.bc");
    rewrite(&[input], &["-k", "2"], &dir.join("other"));
    std::fs::copy(out.join("manifest.json"), dir.join("manifest.json")).unwrap();
    let manifest = std::fs::read_to_string(dir.join("manifest.json")).unwrap();
    let current = format!("\"version\":{},", p3_rewrite::profile::manifest::VERSION);
    write("half.json", &manifest.as_bytes()[..manifest.len() / 2]);
    write(
        "old.json",
        manifest.replace(&current, "\"version\":0,").as_bytes(),
    );
    assert!(manifest.contains(&current));
    write(
        "wrong.json",
        manifest.replace("\"unit\":1", "\"unit\":99").as_bytes(),
    );

    let merge = |arguments: &[&str]| {
        let mut command = Command::new(PROF);
        command.args(["merge", "-o", "x.p3prof"]).args(arguments);
        transcript(&mut command, dir)
    };
    let mut all = String::new();
    for case in [
        &["-m", "manifest.json", "0.p3raw", "1.p3raw"][..],
        &["-m", "manifest.json", "0.p3raw", "half.p3raw", "2.p3raw"],
        &["-m", "manifest.json", "0.p3raw", "flipped.p3raw", "2.p3raw"],
        &["-m", "manifest.json", "0.p3raw", "version.p3raw", "2.p3raw"],
        &["-m", "manifest.json", "0.p3raw", "old.p3raw", "2.p3raw"],
        &["-m", "manifest.json", "0.p3raw", "text.p3raw", "2.p3raw"],
        &["-m", "manifest.json", "0.p3raw", "missing.p3raw", "2.p3raw"],
        &["-m", "manifest.json", "other"],
        &["-m", "other/manifest.json", "0.p3raw", "1.p3raw", "2.p3raw"],
        &["-m", "half.json", "0.p3raw"],
        &["-m", "old.json", "0.p3raw"],
        &["-m", "wrong.json", "0.p3raw"],
        &["-m", "0.p3raw", "0.p3raw"],
    ] {
        let text = merge(case);
        one_line_error(&text);
        all += &format!("$ p3-prof merge {}\n{text}", case.join(" "));
        assert!(!dir.join("x.p3prof").exists());
    }
    for case in [
        &[
            "-m",
            "manifest.json",
            "--failure-mode",
            "warn",
            "0.p3raw",
            "half.p3raw",
        ][..],
        &["-m", "manifest.json", "--failure-mode", "all", "text.p3raw"],
    ] {
        all += &format!("$ p3-prof merge {}\n{}", case.join(" "), merge(case));
    }
    let incomplete = transcript(
        Command::new(PROF).args(["show", "x.p3prof", "--top", "1"]),
        dir,
    );
    assert!(
        incomplete.contains("incomplete: nothing of copies 1, 2 was merged"),
        "{incomplete}"
    );
    for file in [
        "half.p3prof",
        "flipped.p3prof",
        "old.p3prof",
        "manifest.json",
        "missing.p3prof",
    ] {
        for command in ["show", "verify", "simulate"] {
            let text = transcript(Command::new(PROF).args([command, file]), dir);
            one_line_error(&text);
            all += &format!("$ p3-prof {command} {file}\n{text}");
        }
    }
    snapshot("bad_profiles", &all);

    // The same runs again: no difference. Once more beside them: twice the counts, and a difference.
    let good = ["-m", "manifest.json", "0.p3raw", "1.p3raw", "2.p3raw"];
    let text = merge(&good);
    assert!(text.ends_with(" ran\nexit 0\n"), "{text}");
    let compare = |a: &Path, b: &str| {
        transcript(
            Command::new(PROF)
                .arg("compare")
                .arg(a)
                .arg(b)
                .args(["--max", "2"]),
            dir,
        )
    };
    assert_eq!(compare(&merged, "x.p3prof"), "exit 0\n");
    for k in 0..3 {
        let exe = out.join(format!("copy-{k}.exe"));
        execute(&exe, &dir.join("again"));
    }
    let text = merge(&[&good[..], &["again/raw"]].concat());
    assert!(text.contains("  runs          2 of each copy\n"), "{text}");
    let text = compare(&merged, "x.p3prof");
    assert!(text.ends_with("more differences\nexit 1\n"), "{text}");
}

/// A full disk: the old profile stays, nothing half-written appears.
#[test]
fn merge_on_a_full_disk() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let (_, out) = profiled(dir);
    let script = r#"
        mkdir full && mount -t tmpfs -o size=16k none full || exit 77
        printf 'p3prof\377old\n' > full/profile; cat /dev/zero > full/filler 2>/dev/null
        "$1" merge -m "$2/manifest.json" -o full/profile "$2/raw"; echo "exit $?"
        cat full/profile; ls -A full"#;
    let mut shell = shell_with_mounts(script);
    shell.args(["sh", PROF]).arg(&out);
    let output = shell.current_dir(dir).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(
        stdout, "exit 2\np3prof\u{fffd}old\nfiller\nprofile\n",
        "{stderr}"
    );
    assert_eq!(
        stderr,
        "error: full/profile: cannot write: No space left on device (os error 28); make room, or name another place\n"
    );
}
