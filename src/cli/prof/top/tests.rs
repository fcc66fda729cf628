//! The screen, without a terminal.

use super::*;
use crate::read::watch::WatchRow;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn row(i: usize, kind: RowKind) -> WatchRow {
    WatchRow {
        count: 1e7 / (i + 1) as f64,
        error: (kind != RowKind::Paths).then_some(1000.0),
        rate: Some(12_345.6),
        share: 0.5 / (i + 1) as f64,
        blocks: i + 1,
        name: format!("a_function_with_a_long_name<{i}>(int, char const*)"),
        rest: format!(" #{i} entry → exit"),
        details: vec!["demo.c:12→13→14".into(), "12:4 x > 0 → 13".into()],
    }
}

fn view(kind: RowKind, rows: usize) -> View {
    View {
        title: "demo, process 17 (sbl, 1 copy, running)".into(),
        totals: "10,000,000 paths executed, 1,234 paths a second, 60 distinct".into(),
        notes: vec!["left out: x\u{1b}[31m.p3raw: damaged".into()],
        kind,
        rows: (0..rows).map(|i| row(i, kind)).collect(),
        distinct: rows,
        over: Some(Duration::from_secs(12)),
    }
}

fn draw_text(top: &mut Top, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| top.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| {
        let cells = (0..width).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_string()
    };
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}

fn keys(top: &mut Top, keys: &[KeyCode]) {
    for key in keys {
        assert_eq!(top.key((*key).into()), KeyOutcome::On);
    }
}

#[test]
fn a_screen_of_80_columns() {
    let mut top = Top::new(view(RowKind::Paths, 60));
    keys(&mut top, &[KeyCode::Down]);
    let text = draw_text(&mut top, 80, 16);
    let expected = "\
demo, process 17 (sbl, 1 copy, running)
10,000,000 paths executed, 1,234 paths a second, 60 distinct
left out: x\\u{1b}[31m.p3raw: damaged
     count  a second   share  blocks  function, start and id
10,000,000    12,346  50.00%       1  a_function_wi…g_name<0>(…) #0 entry → exit
 5,000,000    12,346  25.00%       2  a_function_wi…g_name<1>(…) #1 entry → exit
 3,333,333    12,346  16.67%       3  a_function_wi…g_name<2>(…) #2 entry → exit
 2,500,000    12,346  12.50%       4  a_function_wi…g_name<3>(…) #3 entry → exit
 2,000,000    12,346  10.00%       5  a_function_wi…g_name<4>(…) #4 entry → exit
 1,666,667    12,346   8.33%       6  a_function_wi…g_name<5>(…) #5 entry → exit
demo.c:12→13→14
12:4 x > 0 → 13



by share (s sorts), rates over 12 s, r restarts them, p pauses, q ends";
    assert_eq!(text, expected);
}

/// No size is too small, and whatever is chosen is in sight.
#[test]
fn screens_of_any_size() {
    for kind in [RowKind::Paths, RowKind::Subpaths, RowKind::Bursts] {
        for rows in [0, 1, 60] {
            for (width, height) in [(1, 1), (3, 2), (20, 5), (59, 14), (200, 60), (500, 3)] {
                let mut top = Top::new(view(kind, rows));
                keys(&mut top, &[KeyCode::End]);
                let text = draw_text(&mut top, width, height);
                if rows == 60 && width >= 59 && height > 5 {
                    assert!(text.contains("#59"), "{width} x {height}:\n{text}");
                }
            }
        }
    }
}

#[test]
fn narrow_screens_keep_shares() {
    let text = draw_text(&mut Top::new(view(RowKind::Subpaths, 3)), 40, 8);
    let lines: Vec<&str> = text.lines().skip(3).take(2).collect();
    assert_eq!(
        lines,
        [
            " share  subpath",
            "50.00%  a_functi…e<0>(…) #0 entry → exit"
        ]
    );
}

#[test]
fn what_keys_do() {
    let mut top = Top::new(view(RowKind::Paths, 60));
    assert_eq!(top.key(KeyCode::Char('q').into()), KeyOutcome::End);
    assert_eq!(top.key(KeyCode::Esc.into()), KeyOutcome::End);
    keys(&mut top, &[KeyCode::Char('s')]);
    assert_eq!(top.asks.take(), Some((RowOrder::Rate, false)));
    keys(&mut top, &[KeyCode::Char('r')]);
    assert_eq!(top.asks.take(), Some((RowOrder::Rate, true)));
    keys(&mut top, &[KeyCode::Char('p')]);
    assert!(top.paused && draw_text(&mut top, 100, 20).contains("p goes on"));
    for word in ["count", "length", "share"] {
        keys(&mut top, &[KeyCode::Char('s')]);
        assert_eq!(top.order.word(), word);
    }
}

/// A look that fails leaves the last one on the screen.
#[test]
fn problems_are_said() {
    let mut top = Top::new(view(RowKind::Paths, 3));
    top.take_view(Err(Error::Usage("a.p3raw: it became shorter".into())));
    let text = draw_text(&mut top, 80, 16);
    assert!(
        text.contains("a.p3raw: it became shorter") && text.contains("#2"),
        "{text}"
    );
    top.take_view(Ok(view(RowKind::Paths, 1)));
    assert!(!draw_text(&mut top, 80, 16).contains("shorter"));
}
