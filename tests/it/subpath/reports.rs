//! What can be done with a sample, and what is refused.

use super::*;
use crate::support::text::{assert_line, in_dir};
use crate::support::{PROF, REWRITE, merge, original, parsed};
use serde_json::Value;

/// A profile of `demo`, and the folder of the rewritten program.
fn profiled(options: &[&str], dir: &Path) -> PathBuf {
    let (modules, expected) = original("demo", &OPTIMISED, &OPTIMISED[..1], &dir.join("input"));
    let out = dir.join("out");
    let options = [&["--seed", "1"], options].concat();
    let exe = sampling(&modules, &options, &OPTIMISED[..1], &out);
    assert_eq!(execute(&exe, &out), expected);
    merge(&out)
}

fn output(arguments: &[&str]) -> std::process::Output {
    Command::new(PROF).args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What a command says that refuses its input: one line, and nothing on standard output.
fn refusal(output: std::process::Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.stdout.is_empty() && error.lines().count() == 1,
        "{error}"
    );
    error
}

/// Every format carries estimates with their errors, or says in a line why it takes none.
#[test]
fn exports() {
    let dir = crate::support::folder();
    let options = ["--lengths", "2,4,300", "--bias", "0", "--period", "500"];
    let profile = profiled(&options, dir.path());
    let export = |format: &str| output(&["export", text(&profile), "--format", format]);
    for (format, reason) in [
        ("lcov", "what is in no sample may have run all the same"),
        (
            "cobertura",
            "what is in no sample may have run all the same",
        ),
        (
            "callgrind",
            "it tells exact counts of lines, edges or instructions, and these are estimates of subpaths",
        ),
        (
            "dot",
            "it tells exact counts of lines, edges or instructions, and these are estimates of subpaths",
        ),
        (
            "folded",
            "a stack has one number, and there is no place for errors",
        ),
    ] {
        let said = refusal(export(format));
        let line = format!(
            "error: DIR/out/merged.p3prof: no {format} of sampled subpaths: {reason}; export it as pprof, speedscope, \
            csv, json, or profile by another scheme"
        );
        assert_line(&in_dir(&said, dir.path()), &line);
    }
    let modules = text(&dir.path().join("out/native")).to_owned();
    let proftext = [
        "export",
        text(&profile),
        "--format",
        "proftext",
        "--modules",
        &modules,
    ];
    assert!(refusal(output(&proftext)).contains("it holds estimates of a sample"));

    let json = parsed(&export("json").stdout);
    let subpaths = json["subpaths"].as_array().unwrap();
    let number = |s: &Value, name: &str| s[name].as_f64().unwrap();
    let expected: Vec<(f64, f64)> = subpaths
        .iter()
        .map(|s| (number(s, "count"), number(s, "half_width")))
        .collect();
    assert!(expected.len() > 10 && expected.iter().all(|(n, e)| *n > 0.0 && *e > 0.0));
    assert!(subpaths.iter().any(|s| s["length"] == 300));

    let csv = export("csv").stdout;
    let mut reader = csv::Reader::from_reader(&csv[..]);
    let records = reader.records().map(|r| {
        let field = |i: usize| r.as_ref().unwrap()[i].parse::<f64>().unwrap();
        (field(0), field(1))
    });
    same(records, &expected, 0.051);

    let scope = parsed(&export("speedscope").stdout);
    let weights = |i: usize| scope["profiles"][i]["weights"].as_array().unwrap().iter();
    let pairs = weights(0).zip(weights(1));
    let pairs = pairs.map(|(n, e)| (n.as_f64().unwrap(), e.as_f64().unwrap()));
    same(pairs, &expected, 0.0);
    let frames = scope["shared"]["frames"].as_array().unwrap();
    let stacks = scope["profiles"][0]["samples"].as_array().unwrap();
    for (stack, subpath) in stacks.iter().zip(subpaths) {
        let stack = stack.as_array().unwrap();
        let name = |at: usize| &frames[stack[at].as_u64().unwrap() as usize]["name"];
        let blocks = subpath["blocks"].as_array().unwrap();
        assert_eq!(*name(0), format!("{} blocks", blocks.len()));
        assert!(stack.len() == blocks.len() + 1 || (blocks.len() == 300 && stack.len() <= 301));
    }
    assert!(
        frames
            .iter()
            .any(|f| f["name"].as_str().unwrap().contains("demo.c:"))
    );

    let pprof = export("pprof");
    assert!(pprof.status.success() && pprof.stdout.starts_with(&[0x1f, 0x8b]));
}

/// A long subpath with a point among few stands for more blocks than were executed, by as much as is known of them.
#[test]
fn no_share_is_more_than_all() {
    let dir = crate::support::folder();
    let profile = profiled(&["--lengths", "64,128", "--period", "20000"], dir.path());
    let shown = output(&["show", text(&profile), "--format", "json"]);
    let shown = parsed(&shown.stdout);
    let executed = shown["program"]["blocks"].as_f64().unwrap();
    let subpaths = shown["subpaths"].as_array().unwrap();
    let shares = subpaths.iter().map(|s| s["share"].as_f64().unwrap());
    assert!(shares.clone().all(|share| share <= 1.0));
    assert!(shares.clone().any(|share| share == 1.0));
    let errors = subpaths.iter().map(|s| s["share_half_width"].as_f64());
    assert!(errors.into_iter().all(|e| e.is_some_and(|e| e > 0.0)));
    let counts = subpaths.iter().map(|s| s["count"].as_f64().unwrap());
    assert!(
        counts
            .zip(shares)
            .any(|(n, share)| share == 1.0 && n * 64.0 > executed)
    );
}

/// Each count, each share and the number of blocks has its error, and what tells of it; the rotations of a loop are one
/// row, and short subpaths come before long ones.
#[test]
fn text_says_what_is_certain() {
    let dir = crate::support::folder();
    let profile = profiled(&["--period", "200"], dir.path());
    let shown = output(&["show", text(&profile), "--top", "5"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let mut lines = shown.lines();
    let first = lines.next().unwrap();
    assert!(
        first.starts_with("about ") && first.contains(" ± "),
        "{first}"
    );
    let json = parsed(&output(&["show", text(&profile), "--format", "json"]).stdout);
    assert!(json["program"]["blocks_half_width"].as_f64().unwrap() > 0.0);
    let headings = [
        "up to 16 blocks",
        "longer ones, of which there are fewer samples",
    ];
    let at = headings.map(|h| shown.find(h).unwrap_or_else(|| panic!("{shown}")));
    assert!(at[0] < at[1], "{shown}");
    let columns = ["count", "±", "share", "±", "points", "blocks", "subpath"];
    let heads = shown.lines().filter(|l| l.split_whitespace().eq(columns));
    assert_eq!(heads.count(), 2, "{shown}");
    // What is shown of each group are five at the most, none a rotation of another one.
    let is_row = |l: &&str| l.matches("%  ").count() == 2;
    let rows: Vec<&str> = shown.lines().filter(is_row).collect();
    assert_eq!(rows.len(), 10, "{shown}");
    let all = output(&["show", text(&profile), "--top", "1000"]);
    let all = String::from_utf8(all.stdout).unwrap();
    assert!(!all.contains("(--top"), "{all}");
    assert!(all.contains(" of it)"), "{all}");
    for row in rows {
        let numbers: Vec<&str> = row.split_whitespace().take(6).collect();
        let is_long = numbers[5].parse::<u32>().unwrap() > 16;
        assert_eq!(is_long, shown.find(row).unwrap() > at[1], "{row}");
    }
}

/// Estimates are listed one by one: they are not added up by function, file or loop.
#[test]
fn show_by_adds_no_estimates() {
    let dir = crate::support::folder();
    let input = dir.path().join("input");
    let (modules, expected) = original("demo", &OPTIMISED, &OPTIMISED[..1], &input);
    for scheme in ["subpath", "shadow"] {
        let out = dir.path().join(scheme);
        rewrite(&modules, &["--scheme", scheme], &out);
        let exe = out.with_extension("exe");
        let copies = copy_modules(&modules, &out, 0);
        link(&copies, runtime(), &OPTIMISED[..1], &exe);
        assert_eq!(execute(&exe, &out), expected);
        let profile = merge(&out);
        let show = |options: &[&str]| output(&[&["show", text(&profile)], options].concat());
        let listed = show(&[]);
        assert!(listed.status.success(), "{listed:?}");
        assert_eq!(show(&["--by", "path"]).stdout, listed.stdout);
        for by in ["function", "file", "loop"] {
            let said = refusal(show(&["--by", by]));
            let line =
                format!("it holds estimates, which are not added up by {by}; leave --by out");
            assert!(said.contains(&line), "{said}");
        }
        let longest = show(&["--longest"]);
        if scheme == "shadow" {
            let said = refusal(longest);
            assert_line(
                &in_dir(&said, dir.path()),
                "error: DIR/shadow/merged.p3prof: it holds no sampled subpaths; \
                show it without --longest",
            );
        } else {
            assert!(longest.status.success(), "{longest:?}");
        }
    }
}

/// Of a function that is only sampled nothing is exact.
#[test]
fn sampled_functions_are_not_exact() {
    let dir = crate::support::folder();
    let (modules, _) = original(
        "demo",
        &OPTIMISED,
        &OPTIMISED[..1],
        &dir.path().join("input"),
    );
    for scheme in ["subpath", "shadow"] {
        let mut rewrite = Command::new(REWRITE);
        rewrite.args(&modules).args(["--scheme", scheme, "-o"]);
        let made = rewrite.arg(dir.path().join(scheme)).output().unwrap();
        let said = String::from_utf8([made.stdout, made.stderr].concat()).unwrap();
        assert!(said.contains(" sampled, 0 skipped; next: "), "{said}");
    }
}

/// The same estimates, as precisely as they are written.
fn same(found: impl Iterator<Item = (f64, f64)>, expected: &[(f64, f64)], off: f64) {
    let found: Vec<(f64, f64)> = found.collect();
    assert_eq!(found.len(), expected.len());
    for ((n, error), (m, other)) in found.iter().zip(expected) {
        assert!(
            (n - m).abs() <= off && (error - other).abs() <= off,
            "{n} ± {error}"
        );
    }
}

/// A counting sample stays one in files, and says what it missed.
#[test]
fn counting_samples_are_kept() {
    let dir = crate::support::folder();
    let counting = [
        "--hot-list",
        "counting",
        "--memory",
        "1024",
        "--period",
        "50",
        "--lengths",
        "4,64",
    ];
    let profile = profiled(&counting, dir.path());
    let shown = output(&["show", text(&profile), "--format", "json"]).stdout;
    let shown = parsed(&shown);
    assert_eq!(shown["program"]["sampling"]["list"], "counting");
    let missed = (1u64 << shown["program"]["doublings"].as_u64().unwrap()) - 1;
    assert!(missed > 0);
    for subpath in shown["subpaths"].as_array().unwrap() {
        assert_eq!(subpath["missed"].as_u64(), Some(missed));
    }
    let told =
        String::from_utf8(output(&["show", text(&profile), "--width", "400"]).stdout).unwrap();
    assert!(
        told.contains("one in 50 blocks, all counted that are listed"),
        "{told}"
    );
    assert!(
        told.contains("samples took more memory than the list has for one"),
        "{told}"
    );
    // Merged with itself it is refused, and merged alone it is the same.
    let again = dir.path().join("again.p3prof");
    let manifest = dir.path().join("out/manifest.json");
    let merged = [
        "merge",
        "-m",
        text(&manifest),
        text(&profile),
        "-o",
        text(&again),
    ];
    assert!(output(&merged).status.success());
    let both = [&profile, &again].map(|p| output(&["show", text(p), "--format", "csv"]).stdout);
    assert_eq!(both[0], both[1]);
}

/// Options that make no sense are refused in a line, before anything is written; odd ones that do are taken.
#[test]
fn options() {
    let dir = crate::support::folder();
    let module = &compile("switches", &OPTIMISED, &dir.path().join("input"))[0];
    let out = dir.path().join("out");
    let rewritten = |options: &[&str]| {
        let mut rewrite = Command::new(REWRITE);
        rewrite.arg(module).args(options).arg("-o").arg(&out);
        rewrite.output().unwrap()
    };
    let seventeen = (2..19).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    for (options, says) in [
        (
            &["--lengths", "8,4"][..],
            "--lengths: 8 comes before 4; give the lengths in ascending order",
        ),
        (
            &["--lengths", "4,4"],
            "--lengths: 4 comes before 4; give the lengths in ascending order",
        ),
        (
            &["--lengths", &seventeen],
            "--lengths: 17 lengths; give 16 at most",
        ),
        (
            &["--lengths", "65537"],
            "invalid value '65537' for '--lengths",
        ),
        (&["--lengths", "0,2"], "invalid value '0' for '--lengths"),
        (
            &["--lengths", "2,60000", "--bias", "3"],
            "--bias 3: some length would never be chosen",
        ),
        (
            &["--bias", "NaN"],
            "--bias NaN: some length would never be chosen",
        ),
        (
            &["--bias", "inf"],
            "--bias inf: some length would never be chosen",
        ),
        (&["--memory", "1023"], "invalid value '1023' for '--memory"),
        (&["--period", "1"], "invalid value '1' for '--period"),
        (
            &["--hot-list", "precise"],
            "invalid value 'precise' for '--hot-list",
        ),
    ] {
        let said = refusal(rewritten(&[&["--scheme", "subpath"], options].concat()));
        assert!(said.contains(says), "{said}");
        assert!(!out.exists(), "{options:?}");
    }
    let said = refusal(rewritten(&["--scheme", "sbl", "--hot-list", "counting"]));
    assert_line(
        &said,
        "error: --hot-list: only --scheme subpath has this option; choose that scheme, or leave \
        --hot-list out",
    );
    let odd = [
        "--scheme",
        "subpath",
        "--lengths",
        "3,7,100",
        "--bias",
        "-0.5",
        "--memory",
        "1024",
    ];
    assert!(rewritten(&odd).status.success());
}

/// Samples of other seeds are merged, those of other programs or taken otherwise are not.
#[test]
fn samples_of_others() {
    let dir = crate::support::folder();
    let sampler = |name: &str, options: &[&str], at: &str| {
        let dir = dir.path().join(at);
        let modules = compile(name, &OPTIMISED, &dir.join("input"));
        let options = [&["--period", "100"], options].concat();
        let exe = sampling(&modules, &options, &OPTIMISED[..1], &dir.join("out"));
        (exe, dir.join("out/manifest.json"))
    };
    let raw = |exe: &Path, seed: &str, name: &str| {
        let file = dir.path().join(name);
        let mut program = Command::new(exe);
        program.env("P3_SEED", seed).env("P3_PROFILE_FILE", &file);
        program.output().unwrap();
        file
    };
    let (one, manifest) = sampler("loops", &[], "one");
    let merged = dir.path().join("merged.p3prof");
    let merge = |files: &[&Path]| {
        let files = files.iter().map(|f| text(f));
        let arguments = ["merge", "-m", text(&manifest), "-o", text(&merged)];
        output(&arguments.into_iter().chain(files).collect::<Vec<_>>())
    };
    let (a, b) = (raw(&one, "1", "a.p3raw"), raw(&one, "2", "b.p3raw"));
    let both = merge(&[&a, &b]);
    assert!(both.status.success(), "{both:?}");
    std::fs::remove_file(&merged).unwrap();
    for (name, options) in [
        ("switches", &[][..]),
        ("loops", &["--lengths", "2,8"]),
        ("loops", &["--hot-list", "counting"]),
    ] {
        let (other, _) = sampler(name, options, &format!("other {name} {}", options.concat()));
        let other = raw(&other, "1", &format!("{}.p3raw", options.concat() + name));
        let said = refusal(merge(&[&a, &other]));
        assert!(said.contains(text(&other)) && !merged.exists(), "{said}");
    }
}

/// `--stats` and `--dump plan` say how each function is sampled, and what each version has.
#[test]
fn plans() {
    let dir = crate::support::folder();
    let source = "int printf(const char *, ...);\nint __attribute__((noinline)) sum(int n) { int s = 0; for (int i = \
        0; i < n; i++) s += i % 3 ? i : 1; return s; }\n\
                  int twice(int n) { int s = sum(n); return s > 9 ? printf(\"%d\", s) : sum(s); }\n\
                  #include <setjmp.h>\njmp_buf b;\nint jumps(void) { return setjmp(b); }\nint main(void) { return \
                  twice(3) + jumps() == 0; }\n";
    let module = crate::support::module("m.c", source, &["-O1"], dir.path());
    let printed = |options: &[&str], out: &str| {
        let out = dir.path().join(out);
        let mut rewrite = Command::new(REWRITE);
        rewrite
            .arg(&module)
            .args(["--scheme", "subpath", "--stats", "--dump", "plan"]);
        let output = run(rewrite.args(options).arg("-o").arg(&out));
        let plan = std::fs::read_to_string(out.join("dump/copy-0.plan.txt")).unwrap();
        (String::from_utf8(output.stdout).unwrap(), plan)
    };
    let (across, plan) = printed(&[], "across");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(project("snapshots/subpath"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        insta::assert_snapshot!("stats", across);
        insta::assert_snapshot!("plan", plan);
    });
    let (within, plan) = printed(
        &["--within", "functions", "--function", "sum|twice"],
        "within",
    );
    assert!(
        !within.contains("main") && !plan.contains("main:"),
        "{plan}"
    );
    assert!(!plan.contains("tests behind calls"));
    assert_eq!(plan.matches("a function of its own").count(), 2, "{plan}");
}
