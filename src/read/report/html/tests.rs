//! What is sent to the page.

use super::*;
use crate::base::index::{CopyId, FuncId};
use crate::profile::filter::Selection;
use crate::profile::made;
use crate::profile::manifest::{ShareEntry, encode_set};
use crate::profile::tests::views;
use crate::read::report::Report;
use crate::read::report::steps::{StepRow, Steps};
use serde_json::Value;

fn page(profile: &Profile) -> Page {
    let sources = Sources::without_files();
    let all = Selection::default();
    Page::new(
        profile.paths().unwrap(),
        &all,
        &sources,
        Some(profile),
        None,
    )
    .unwrap()
}

fn data(page: &Page) -> Value {
    let packed = BASE64.decode(&page.data).unwrap();
    serde_json::from_reader(flate2::read::ZlibDecoder::new(&packed[..])).unwrap()
}

/// Every path that ran has the rows that `show` would print if it printed all of them.
#[test]
fn rows_of_paths_are_those_of_reports() {
    let profile = views::profile();
    let data = data(&page(&profile));
    let sources = Sources::without_files();
    let steps = Steps::new(&profile, &sources, false);
    let report = Report::new(profile.paths().unwrap(), &Selection::default()).unwrap();
    assert!(report.lines.len() > 15);
    for line in &report.lines {
        let symbol = profile.entry(line.func).name.as_str();
        let functions = data["functions"].as_array().unwrap();
        let f = functions.iter().find(|f| f["symbol"] == symbol).unwrap();
        let id = line.id.to_string();
        let paths = f["paths"].as_array().unwrap();
        let path = paths.iter().find(|p| p["id"] == id).unwrap();
        assert_eq!(path["count"], line.count);
        assert_eq!(path["size"], line.instructions);
        let expected = steps.all_rows(line, &steps.words().decisions(line));
        let numbers = path["rows"].as_array().unwrap();
        assert_eq!(numbers.len(), expected.len());
        for (n, row) in numbers.iter().zip(&expected) {
            let sent = &f["rows"][n.as_u64().unwrap() as usize];
            match row {
                StepRow::Step(step) => {
                    assert_eq!(sent["place"], step.place);
                    assert_eq!(sent["text"], step.text);
                    assert_eq!(sent["outcome"], step.outcome);
                    assert_eq!(sent["note"].as_str().unwrap_or(""), step.note);
                }
                StepRow::Library(fold) => assert_eq!(sent["library"], fold.steps),
                StepRow::More(_) | StepRow::Differs(_) => unreachable!(),
            }
        }
    }
}

/// A function's rows are sent once, however many paths have them.
#[test]
fn rows_are_sent_once() {
    let data = data(&page(&views::profile()));
    for f in data["functions"].as_array().unwrap() {
        let mut rows: Vec<String> = f["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(Value::to_string)
            .collect();
        let n = rows.len();
        rows.sort();
        rows.dedup();
        assert_eq!(rows.len(), n);
    }
}

/// Beside itself, a profile has every path as often as the baseline, and the same totals.
#[test]
fn baseline_that_is_the_profile_has_equal_shares() {
    let data = data(&page(&views::profile()));
    let mut total = 0;
    for f in data["functions"].as_array().unwrap() {
        let paths = f["paths"].as_array().unwrap();
        let mut work = 0;
        for p in paths {
            let n = p["count"].as_u64().unwrap() * p["size"].as_u64().unwrap();
            assert_eq!(p["before"]["count"], p["count"]);
            assert_eq!(p["before"]["instructions"], n);
            work += n;
        }
        if !paths.is_empty() {
            assert_eq!(f["before"]["same"]["instructions"], work);
        }
        total += work;
    }
    assert_eq!(data["baseline"]["instructions"], total);
}

#[test]
fn page_of_one_profile_is_always_the_same() {
    let profile = views::profile();
    assert_eq!(page(&profile).single_file(), page(&profile).single_file());
}

#[test]
fn title_is_the_name_of_the_program() {
    let mut profile = views::profile();
    let main = profile
        .functions()
        .find(|f| profile.entry(*f).name == "main");
    let number = profile.entry(main.unwrap()).bodies[0].module;
    for (name, expected) in [
        ("read.cpp.bc", "read"),
        ("src/tool.c.bc", "tool"),
        ("hello-0123456789abcdef.bc", "hello"),
        ("hello-world.bc", "hello-world"),
        ("hello.hello.0123-cgu.0.rcgu.o", "hello"),
    ] {
        profile.manifest.modules[number].name = name.into();
        assert_eq!(program(&profile), expected);
    }
    // What a build calls the program goes before the module, and `main` says nothing.
    for (module, path, expected) in [
        ("main.c.bc", "p3/src/postgres.p3/profile.p3prof", "postgres"),
        ("cases.c.bc", "p3/test.p3/profile.p3prof", "test"),
        ("src/main.rs.bc", "server/profile.p3prof", "server"),
        ("main.bc", "runs/monday.p3prof", "monday"),
        ("main.bc", "profile.p3prof", "main"),
    ] {
        profile.manifest.modules[number].name = module.into();
        profile.path = path.into();
        assert_eq!(program(&profile), expected);
    }
    for f in &mut profile.manifest.functions {
        f.name = format!("not_{}", f.name);
    }
    profile.path = "out/nightly.p3prof".into();
    assert_eq!(program(&profile), "nightly");
}

/// Of a function without a selected path, and of blocks that unselected paths alone may have run, nothing is claimed.
#[test]
fn unselected_code_is_marked_and_never_said_not_to_have_run() {
    let mut profile = views::profile();
    profile.manifest.paths = vec!["ids=main#0".into()];
    let all: Vec<FuncId> = profile.functions().collect();
    let of_paths = |f: &FuncId| !profile.entry(*f).status.is_skipped();
    let main = all.iter().find(|f| profile.entry(**f).name == "main");
    let (main, profiled): (FuncId, Vec<FuncId>) = (
        *main.unwrap(),
        all.iter().filter(|f| of_paths(f)).copied().collect(),
    );
    let structure = profile.structure(main).unwrap();
    let first = profile.paths().unwrap().counts(main)[0];
    let mut set = structure.paths.dag.edge_set();
    set.extend(structure.paths.decode(first.0).unwrap());
    for f in &profiled {
        profile.manifest.functions[*f].share = ShareEntry::Nothing;
        made::path_counts(&mut profile)[*f] = Vec::new();
        profile.entries[*f] = None;
    }
    let copies = vec![(CopyId(0), encode_set(&set))];
    profile.manifest.functions[main].share = ShareEntry::Split(copies);
    made::path_counts(&mut profile)[main] = vec![first];

    let sources = Sources::without_files();
    let all = Selection::default();
    let page = Page::new(profile.paths().unwrap(), &all, &sources, None, None).unwrap();
    let data = data(&page);
    assert!(data["selection"].as_str().unwrap().contains("ids=main#0"));
    let functions = data["functions"].as_array().unwrap();
    assert_eq!(functions.len(), profile.manifest.functions.len());
    let is_unselected = |f: &&Value| f["unselected"] == true;
    assert_eq!(
        functions.iter().filter(is_unselected).count(),
        profiled.len() - 1
    );
    for f in functions.iter().filter(is_unselected) {
        assert_eq!(f["feasible"], "0");
        let blocks = f["blocks"].as_array().unwrap();
        assert!(blocks.iter().all(|b| b["open"] == true), "{f}");
        assert!(f["uncovered"].as_array().unwrap().is_empty());
    }
    let main = functions.iter().find(|f| f["symbol"] == "main").unwrap();
    let blocks = main["blocks"].as_array().unwrap();
    let silent = blocks.iter().filter(|b| b["count"] == 0);
    assert!(silent.clone().count() > 0);
    assert!(silent.clone().all(|b| b["open"] == true), "{main}");
}
