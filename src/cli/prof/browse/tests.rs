//! The screens, without a terminal.

use super::data::Sort;
use super::*;
use crate::profile::Profile;
use crate::profile::tests::views;
use crate::source::{Search, Sources};
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

fn drawn(browser: &mut Browser, width: u16, height: u16) -> String {
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
        assert_eq!(browser.key((*key).into()).unwrap(), Flow::On);
    }
}

fn typed(text: &str) -> Vec<KeyCode> {
    text.chars().map(KeyCode::Char).collect()
}

/// The three screens and a filter, at two widths.
#[test]
fn screens() {
    let dir = tempfile::tempdir().unwrap();
    let profile = views::profile();
    let sources = sources(&profile, dir.path());
    let tour = || Tour::new(profile.paths().unwrap(), &sources).unwrap();
    for width in [80, 200] {
        let mut browser = Browser::new(tour());
        let mut views = vec![("functions", drawn(&mut browser, width, 12))];
        keys(&mut browser, &typed("/main|work"));
        views.push(("a filter", drawn(&mut browser, width, 6)));
        keys(
            &mut browser,
            &[KeyCode::Enter, KeyCode::Down, KeyCode::Enter],
        );
        views.push(("paths", drawn(&mut browser, width, 8)));
        keys(&mut browser, &[KeyCode::Enter]);
        views.push(("a path", drawn(&mut browser, width, 16)));
        keys(&mut browser, &[KeyCode::Right, KeyCode::Tab, KeyCode::Down]);
        views.push(("the next, its other file", drawn(&mut browser, width, 16)));
        views::snapshot(&format!("browse_{width}"), &views);
    }
}

#[test]
fn screens_of_any_size() {
    let dir = tempfile::tempdir().unwrap();
    let profile = views::profile();
    for sources in [sources(&profile, dir.path()), Sources::none()] {
        for (width, height) in [(1, 1), (3, 2), (20, 5), (119, 20), (120, 3), (500, 80)] {
            let mut browser = Browser::new(Tour::new(profile.paths().unwrap(), &sources).unwrap());
            drawn(&mut browser, width, height);
            // All functions, and all of their paths.
            for _ in 0..10 {
                keys(&mut browser, &[KeyCode::Enter]);
                drawn(&mut browser, width, height);
                keys(&mut browser, &[KeyCode::Enter]);
                for key in [
                    KeyCode::End,
                    KeyCode::Tab,
                    KeyCode::Right,
                    KeyCode::PageDown,
                    KeyCode::Left,
                ] {
                    drawn(&mut browser, width, height);
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
    let mut tour = Tour::new(profile.paths().unwrap(), &sources).unwrap();
    let names = |tour: &Tour| {
        (0..tour.len())
            .map(|i| tour.function(i).unwrap().name.clone())
            .collect::<Vec<_>>()
    };
    tour.sort_by(Sort::Count);
    assert_eq!(names(&tour)[..2], ["plain", "work()"]);
    tour.sort_by(Sort::Size);
    assert_eq!(names(&tour)[0], "cut_often");
    tour.sort_by(Sort::Name);
    assert!(names(&tour).is_sorted());
    // By symbol and by readable name, and what is no expression changes nothing.
    for expression in ["_Z4work", r"work\(\)"] {
        assert!(tour.filter(expression));
        assert_eq!(names(&tour), ["work()"]);
    }
    assert!(!tour.filter("("));
    assert_eq!(tour.len(), 1);
    assert!(tour.filter("no such function") && tour.len() == 0);
    assert!(tour.filter("") && tour.len() == tour.all());
    let main = profile.functions().next().unwrap();
    let mut paths = tour.paths(main).unwrap();
    let ids = |paths: &mut super::data::Paths| {
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

/// The lines that are lit are those of the path.
#[test]
fn lit_lines() {
    let dir = tempfile::tempdir().unwrap();
    let profile = views::profile();
    let sources = sources(&profile, dir.path());
    let tour = Tour::new(profile.paths().unwrap(), &sources).unwrap();
    for f in profile.executed() {
        let mut paths = tour.paths(f).unwrap();
        for i in 0..paths.len() {
            let lit = paths.lit(i).unwrap();
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
