//! The screens, without a terminal.

use super::items::{Items, Sort};
use super::view::cut_short;
use super::*;
use crate::base::index::{FuncId, PathId};
use crate::estimates::data::Estimated;
use crate::estimates::data::bursts::{Bursts, InBursts};
use crate::estimates::data::subpaths::{HotList, Length, Points, Sampling, Subpaths};
use crate::profile::Profile;
use crate::profile::manifest::ShareEntry;
use crate::profile::measurement::{Exact, Measurement};
use crate::profile::tests::views;
use crate::read::report::steps::join_steps;
use crate::read::source::{Search, Sources};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;

/// The source files of that profile.
fn sources(profile: &Profile, dir: &std::path::Path) -> Sources {
    for (file, lines) in [("src/main.c", 50), ("inc/list.h", 25)] {
        let path = dir.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = (1..=lines).map(|n| format!("\tline {n} of {file};\n"));
        std::fs::write(path, text.collect::<String>()).unwrap();
    }
    profile.sources(Search {
        folders: vec![dir.to_path_buf()],
        ..Search::default()
    })
}

fn draw_text(browser: &mut Browser, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| browser.draw(frame).unwrap()).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| {
        let cells = (0..width).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_string() + "\n"
    };
    (0..height).map(line).collect()
}

fn keys(browser: &mut Browser, keys: &[KeyCode]) {
    for key in keys {
        assert_eq!(browser.key((*key).into()).unwrap(), KeyOutcome::On);
    }
}

fn typed(text: &str) -> Vec<KeyCode> {
    text.chars().map(KeyCode::Char).collect()
}

/// The title says that other paths may have run.
#[test]
fn title_of_selected_paths_says_that_others_are_not_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut profile = views::profile();
    let sources = sources(&profile, dir.path());
    let said = "; not all paths are counted";
    let title = |profile: &Profile| plan_tour(profile, &sources).unwrap().title();
    assert!(!title(&profile).contains(said));
    profile.manifest.paths = vec!["through=main".into()];
    let mut functions = profile.functions();
    let ran = |f: &FuncId| !profile.paths().unwrap().counts(*f).is_empty();
    let idle = functions.find(|f| !ran(f)).unwrap();
    profile.manifest.functions[idle].share = ShareEntry::Nothing;
    assert!(title(&profile).ends_with(said));
}

/// The three screens and a filter, at two widths.
#[test]
fn screens() {
    let dir = tempfile::tempdir().unwrap();
    let profile = views::profile();
    let sources = sources(&profile, dir.path());
    let tour = || plan_tour(&profile, &sources).unwrap();
    for width in [80, 200] {
        let mut browser = Browser::new(tour());
        let mut views = vec![("functions", draw_text(&mut browser, width, 12))];
        keys(&mut browser, &typed("/main|work"));
        views.push(("a filter", draw_text(&mut browser, width, 6)));
        keys(
            &mut browser,
            &[KeyCode::Enter, KeyCode::Down, KeyCode::Enter],
        );
        views.push(("paths", draw_text(&mut browser, width, 8)));
        keys(&mut browser, &[KeyCode::Enter]);
        views.push(("a path", draw_text(&mut browser, width, 16)));
        keys(&mut browser, &[KeyCode::Right, KeyCode::Tab, KeyCode::Down]);
        views.push((
            "the next, its other file",
            draw_text(&mut browser, width, 16),
        ));
        views::snapshot(&format!("browse_{width}"), &views);
    }
}

#[test]
fn screens_of_any_size() {
    let dir = tempfile::tempdir().unwrap();
    let profile = views::profile();
    for sources in [sources(&profile, dir.path()), Sources::without_files()] {
        for (width, height) in [(1, 1), (3, 2), (20, 5), (119, 20), (120, 3), (500, 80)] {
            let mut browser = Browser::new(plan_tour(&profile, &sources).unwrap());
            draw_text(&mut browser, width, height);
            // All functions, and all of their paths.
            for _ in 0..10 {
                keys(&mut browser, &[KeyCode::Enter]);
                draw_text(&mut browser, width, height);
                keys(&mut browser, &[KeyCode::Enter]);
                for key in [
                    KeyCode::End,
                    KeyCode::Tab,
                    KeyCode::Right,
                    KeyCode::PageDown,
                    KeyCode::Left,
                ] {
                    draw_text(&mut browser, width, height);
                    keys(&mut browser, &[key]);
                }
                keys(&mut browser, &[KeyCode::Esc, KeyCode::Esc, KeyCode::Down]);
            }
        }
    }
}

#[test]
fn lists() {
    let dir = tempfile::tempdir().unwrap();
    let profile = views::profile();
    let sources = sources(&profile, dir.path());
    let mut tour = plan_tour(&profile, &sources).unwrap();
    let names = |tour: &Tour| {
        (0..tour.len())
            .map(|i| tour.function(i).unwrap().name.clone())
            .collect::<Vec<_>>()
    };
    tour.sort_by(Sort::Count);
    assert_eq!(names(&tour)[..2], ["plain", "work"]);
    tour.sort_by(Sort::Size);
    assert_eq!(names(&tour)[0], "cut_often");
    tour.sort_by(Sort::Name);
    assert!(names(&tour).is_sorted());
    // By symbol and by readable name, and what is no expression changes nothing.
    for expression in ["_Z4work", r"work\(\)"] {
        assert!(tour.filter(expression));
        assert_eq!(names(&tour), ["work"]);
    }
    assert!(!tour.filter("("));
    assert_eq!(tour.len(), 1);
    assert!(tour.filter("no such function") && tour.len() == 0);
    assert!(tour.filter("") && tour.len() == 6);
    let main = profile.functions().next().unwrap();
    let mut paths = tour.paths(main).unwrap();
    let ids = |paths: &mut super::paths::Paths| {
        (0..paths.len())
            .map(|i| paths.line(i).unwrap().id.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&mut paths), [0, 5, 1, 4]);
    paths.sort_by(Sort::Name).unwrap();
    assert_eq!(ids(&mut paths), [0, 1, 4, 5]);
    paths.sort_by(Sort::Size).unwrap();
    let sizes: Vec<u64> = (0..4)
        .map(|i| paths.line(i).unwrap().instructions)
        .collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
}

/// No two rows of one function read alike behind their ids, and each says what its path decides where it parts from its
/// neighbour: the steps that follow "⋯" are the last ones of the whole path.
#[test]
fn rows_of_paths_show_where_they_differ() {
    let dir = tempfile::tempdir().unwrap();
    let profile = views::profile();
    let sources = sources(&profile, dir.path());
    let tour = plan_tour(&profile, &sources).unwrap();
    let mut shortened = 0;
    for f in profile.executed_functions() {
        let mut paths = tour.paths(f).unwrap();
        paths.sort_by(Sort::Name).unwrap();
        let number = paths.len();
        let row = |i| paths.row(i).unwrap().1.shorten_to(usize::MAX);
        let rows: Vec<String> = (0..number).map(row).collect();
        for (i, row) in rows.iter().enumerate() {
            let steps = join_steps(&paths.find_source_text(i).unwrap().steps);
            let (id, told) = row.split_once("  ").unwrap();
            assert_eq!(id, format!("#{}", paths.line(i).unwrap().id));
            let rest = told.split("⋯  ").last().unwrap();
            let rest = rest.rsplit("  ").next().unwrap();
            assert!(steps.ends_with(rest), "{row}: {steps}");
            shortened += usize::from(told.contains("⋯  "));
            if let (Some((_, rest)), Some(above)) = (told.split_once("⋯  "), i.checked_sub(1)) {
                let above = join_steps(&paths.find_source_text(above).unwrap().steps);
                assert!(!above.ends_with(rest), "{row}: {above}");
            }
        }
        let mut told: Vec<&str> = rows.iter().map(|r| r.split_once("  ").unwrap().1).collect();
        told.sort_unstable();
        assert!(told.windows(2).all(|w| w[0] != w[1]), "{told:#?}");
    }
    assert!(shortened > 1, "{shortened}");
}

/// The lines that are lit are those of the path.
#[test]
fn lit_lines() {
    let dir = tempfile::tempdir().unwrap();
    let profile = views::profile();
    let sources = sources(&profile, dir.path());
    let tour = plan_tour(&profile, &sources).unwrap();
    for f in profile.executed_functions() {
        let mut paths = tour.paths(f).unwrap();
        for i in 0..paths.len() {
            let lit = paths.find_source_text(i).unwrap();
            let line = paths.line(i).unwrap();
            let mut expected: Vec<(u32, u32)> =
                line.locs.iter().map(|l| (l.file, l.line)).collect();
            expected.sort_unstable();
            expected.dedup();
            let number = |name: &str| u32::from(name == "list.h");
            let lit = lit
                .files
                .iter()
                .flat_map(|f| f.lines.iter().map(|l| (number(&f.name), *l)));
            let mut lit: Vec<(u32, u32)> = lit.collect();
            lit.sort_unstable();
            assert_eq!(lit, expected);
        }
    }
}

/// The program of these tests, by a sample: `main` in a loop, through `work()` by both of its ways, `plain`.
fn sampled_profile(list: HotList) -> Profile {
    let mut p = views::profile();
    let length = |blocks| Length {
        blocks,
        chance: 1 << 31,
    };
    // Blocks by number: `main` has 0 to 4, `work()` 5 to 7, `plain` 8 to 12.
    let points = [
        (vec![0, 1, 5], 3),
        (vec![1, 5, 6, 7], 40),
        (vec![5, 6, 7], 60),
        (vec![3, 1, 5, 7], 17),
        (vec![8, 9, 12], 900),
        (vec![8, 10, 12], 1),
    ];
    p.measured = Measurement::Estimated(Estimated::Sampled(Subpaths {
        sampling: Some(Sampling {
            period: 100,
            lengths: vec![length(3), length(4)],
            within_functions: false,
            list,
        }),
        doublings: 1,
        blocks: 204_200,
        crowded: 0,
        too_long: 0,
        points: points
            .map(|(s, n)| (s, Points::from_list(list, n, 1)))
            .into(),
    }));
    p
}

/// And by three bursts, each with a third of what ran.
fn bursts() -> Profile {
    let mut p = views::profile();
    let mut bursts = Bursts::empty(p.manifest.functions.len());
    let counts = [(0, 0, 6), (0, 5, 3), (1, 1, 9), (2, 0, 300), (2, 2, 1)];
    for (f, id, count) in counts {
        let each = count as f64 / 3.0;
        bursts.counts[FuncId(f)].push((
            PathId(id),
            InBursts {
                count,
                bursts: 3,
                executions: count as f64,
                squares: 3.0 * each * each + 2.0,
                products: each * 319.0,
            },
        ));
    }
    (bursts.shadows.started, bursts.counting, bursts.paths) = (3, 3, 319);
    bursts.executions = 319.0;
    bursts.squares = 3.0 * (319.0f64 / 3.0).powi(2);
    bursts.ended = vec![(0, 0, 3)];
    p.measured = Measurement::Estimated(Estimated::Bursts(bursts));
    p
}

/// The screens of estimates, by the same keys.
#[test]
fn screens_of_estimates() {
    let dir = tempfile::tempdir().unwrap();
    for (name, profile) in [
        ("subpaths", sampled_profile(HotList::Concise)),
        ("bursts", bursts()),
    ] {
        let sources = sources(&profile, dir.path());
        let mut shown = Vec::new();
        for width in [80, 200] {
            let mut browser = Browser::new(plan_tour(&profile, &sources).unwrap());
            shown.push(("functions", draw_text(&mut browser, width, 6)));
            keys(&mut browser, &typed("/main"));
            keys(&mut browser, &[KeyCode::Enter, KeyCode::Enter]);
            shown.push(("of one", draw_text(&mut browser, width, 6)));
            keys(&mut browser, &[KeyCode::Enter]);
            shown.push(("the first", draw_text(&mut browser, width, 14)));
            keys(&mut browser, &[KeyCode::Right]);
            shown.push(("the next", draw_text(&mut browser, width, 14)));
        }
        views::snapshot(&format!("browse_{name}"), &shown);
    }
}

#[test]
fn estimates_of_any_size() {
    for profile in [sampled_profile(HotList::Concise), bursts()] {
        let sources = Sources::without_files();
        for (width, height) in [(1, 1), (3, 2), (119, 20), (500, 80)] {
            let mut browser = Browser::new(plan_tour(&profile, &sources).unwrap());
            for key in [KeyCode::Enter, KeyCode::Down, KeyCode::Enter, KeyCode::Tab] {
                draw_text(&mut browser, width, height);
                keys(&mut browser, &[key]);
            }
            keys(&mut browser, &[KeyCode::Right, KeyCode::Esc]);
            for _ in 0..5 {
                draw_text(&mut browser, width, height);
                keys(&mut browser, &[KeyCode::Char('s')]);
            }
        }
    }
}

/// A subpath is listed with each function that it goes through, and lights the lines of all of them.
#[test]
fn subpaths_of_several_functions() {
    let dir = tempfile::tempdir().unwrap();
    let profile = sampled_profile(HotList::Concise);
    let sources = sources(&profile, dir.path());
    let mut tour = plan_tour(&profile, &sources).unwrap();
    assert_eq!(tour.sort(), Sort::Share);
    let cells: Vec<_> = (0..tour.len()).map(|i| tour.cells(i)).collect();
    let begin: Vec<&str> = cells.iter().map(|c| c.0[0].as_str()).collect();
    assert_eq!(begin, ["901", "60", "60"]);
    assert!(tour.filter("work"));
    let work = tour.function(0).unwrap().f;
    let mut items = tour.items(work).unwrap();
    // Two of which others begin with.
    assert_eq!(items.len(), 6);
    let lines = |items: &mut Box<dyn Items + '_>, i: usize| {
        let lit = items.find_source_text(i).unwrap();
        let of = lit
            .files
            .into_iter()
            .map(|f| (f.name, f.lines.into_iter().collect()));
        of.collect::<Vec<(String, Vec<u32>)>>()
    };
    items.sort_by(Sort::Name).unwrap();
    // `main` b0 b1 and the first block of `work()`.
    let expected = [
        ("main.c".to_string(), vec![2, 3, 12]),
        ("list.h".to_string(), vec![7]),
    ];
    assert_eq!(lines(&mut items, 0), expected);
    items.sort_by(Sort::Size).unwrap();
    let row = items.row(0).unwrap().0;
    assert_eq!(row[3], "4");
    items.sort_by(Sort::Count).unwrap();
    // 40 points, one in 200 blocks, half of them of this length; 60 of one that all are as long as.
    let row = items.row(0).unwrap().0;
    assert_eq!((row[0].as_str(), row[3].as_str()), ("16,000", "4"));
    let row = items.row(1).unwrap().0;
    assert_eq!((row[0].as_str(), row[3].as_str()), ("12,000", "3"));
}

/// What a counting sample cannot have counted is in shares and in their errors.
#[test]
fn samples_that_count_what_is_listed() {
    let sources = Sources::without_files();
    let [concise, counting] = [HotList::Concise, HotList::Counting].map(|list| {
        let profile = sampled_profile(list);
        let tour = plan_tour(&profile, &sources).unwrap();
        (0..tour.len()).map(|i| tour.cells(i)).collect::<Vec<_>>()
    });
    // `plain` has 901 points of 1,021, and 2 of the 6 that are expected beside them.
    assert_eq!(concise[0].0[..3], ["901", "88.25%", "2.12%"]);
    assert_eq!(counting[0].0[..3], ["901", "87.93%", "2.19%"]);
}

/// Edges have no paths, and the error says what to do.
#[test]
fn edges_are_refused() {
    let mut profile = views::profile();
    profile.measured = Measurement::Exact(Exact::Edges(Vec::new().into()));
    let sources = Sources::without_files();
    assert!(plan_tour(&profile, &sources).is_err());
}

/// Steps that there is no room for are not left out in silence.
#[test]
fn missing_steps_are_counted() {
    let lines = ["1", "2", "3", "4", "5"].map(String::from).to_vec();
    assert_eq!(cut_short(lines.clone(), 5), lines);
    assert_eq!(cut_short(lines.clone(), 3), ["1", "2", "⋯ 3 more"]);
    assert_eq!(cut_short(lines.clone(), 1), ["⋯ 5 more"]);
    assert_eq!(cut_short(lines.clone(), 0), lines);
}
