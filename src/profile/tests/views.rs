//! Every view of one profile that has what reports tell apart.

use crate::base::index::{BlockId, CfgEdge, FuncId, PathId, ti_vec};
use crate::base::table::Layout;
use crate::copies::strategy::Scheme;
use crate::input::ir::{Call, Callee, Cfg, FunctionBody, Loc, SkipReason, Span};
use crate::input::load::positions::SourceFile;
use crate::paths::random_cfg::cfg;
use crate::profile::filter::Selection;
use crate::profile::manifest::Status;
use crate::profile::{Profile, made};
use crate::read::analysis::accuracy::accuracy;
use crate::read::analysis::hits::Hits;
use crate::read::report::export::{Asked, EXPORTERS, Weigh, Writer};
use crate::read::report::figures::By;
use crate::read::report::{Report, csv, edges, json, text};
use crate::read::report::{accuracy, coverage, diff, hits};
use crate::read::source::{Search, Sources};
use regex::Regex;

const LAYOUT: Layout = Layout {
    width: 100,
    full: false,
};

/// A function with these lines in the order of its blocks: file, line, instructions. It begins on the line before them.
fn with_lines(mut cfg: Cfg, lines: &[&[(u32, u32, u32)]]) -> FunctionBody {
    for (block, lines) in cfg.blocks.iter_mut().zip(lines) {
        let span = |&(file, line, instructions): &(u32, u32, u32)| Span {
            loc: Loc { file, line },
            column: 0,
            inlined: None,
            instructions,
        };
        block.lines = lines.iter().map(span).collect();
        block.instructions = lines.iter().map(|l| l.2).sum();
    }
    let first = lines.first().and_then(|spans| spans.first());
    let begins = first.map(|&(file, line, _)| Loc {
        file,
        line: line - 1,
    });
    FunctionBody {
        loc: begins,
        ..made::body(cfg)
    }
}

fn call(f: u32, span: u32) -> Call {
    let callee = Callee::Function(FuncId(f));
    Call {
        callee,
        span,
        may_leave: false,
    }
}

const NAMES: [&str; 8] = [
    "main",
    "_Z4workv",
    "plain",
    "cold",
    "left_out",
    "again",
    "cut",
    "cut_often",
];

/// A function that was left, one that calls itself, could have been left and has a block without lines, one without
/// any lines, one that never ran, one that is skipped, one to which `setjmp` returns, and two with cut edges.
pub(crate) fn profile() -> Profile {
    let mut main = with_lines(
        cfg(&[&[1, 2], &[3], &[3], &[1, 4], &[]]),
        &[
            &[(0, 2, 3)],
            &[(0, 3, 1), (1, 7, 2)],
            &[(1, 9, 1)],
            &[(1, 8, 1), (0, 6, 1)],
            &[(0, 8, 1), (0, 9, 1)],
        ],
    );
    main.cfg.blocks[BlockId(1)].calls = vec![call(1, 1)];
    main.cfg.blocks[BlockId(2)].calls = vec![call(3, 0)];
    for block in [1, 2] {
        main.cfg.blocks[BlockId(block)].may_leave = true;
    }
    let mut work = with_lines(
        cfg(&[&[1, 2], &[2], &[]]),
        &[&[(0, 12, 2)], &[(0, 13, 2), (0, 12, 1)], &[]],
    );
    work.cfg.blocks[BlockId(2)].instructions = 4;
    work.cfg.blocks[BlockId(1)].calls = vec![call(1, 0)];
    work.cfg.blocks[BlockId(1)].may_leave = true;
    let plain = made::body(cfg(&[&[1, 2, 3], &[4], &[4], &[4], &[]]));
    let cold = with_lines(
        cfg(&[&[1, 2], &[2], &[]]),
        &[&[(1, 3, 1)], &[(1, 4, 1)], &[(1, 5, 1)]],
    );
    let left_out = FunctionBody {
        skip: Some(SkipReason::Excluded),
        ..with_lines(cfg(&[&[]]), &[&[(1, 21, 1)]])
    };
    let mut again = made::body(cfg(&[&[1, 2], &[3], &[3], &[]]));
    again.cfg.blocks[BlockId(1)].returns_twice = true;
    let mut cut = with_lines(
        cfg(&[&[1], &[2], &[]]),
        &[&[(0, 31, 1)], &[(0, 32, 1)], &[(0, 33, 1)]],
    );
    cut.cfg.blocks[BlockId(2)].calls = vec![call(0, 0)];
    let chain: &[&[u32]] = &[&[1], &[2], &[3], &[4], &[5], &[6], &[7], &[]];
    let lines: Vec<[(u32, u32, u32); 1]> = (41..49).map(|line| [(0, line, 1)]).collect();
    let lines: Vec<&[(u32, u32, u32)]> = lines.iter().map(|l| &l[..]).collect();
    let cut_often = with_lines(cfg(chain), &lines);

    let bodies = [main, work, plain, cold, left_out, again, cut, cut_often];
    let mut program = made::program(bodies);
    program.files = ["src/main.c", "inc/list.h"]
        .map(|name| SourceFile {
            name: name.into(),
            checksum: String::new(),
        })
        .into();
    let mut p = made::profile(&program, Scheme::Sbl, 1);
    for (f, name) in p.manifest.functions.iter_mut().zip(NAMES) {
        f.name = name.into();
    }
    let edge = |block| CfgEdge {
        block: BlockId(block),
        succ: 0,
    };
    for (f, cuts) in [(6, 0..1), (7, 0..7)] {
        p.manifest.functions[FuncId(f)].status = Status::Cut;
        p.manifest.functions[FuncId(f)].cuts = cuts.map(edge).collect();
    }
    let counts = made::path_counts(&mut p);
    counts[FuncId(0)] = made::counts(&[(0, 2), (1, 1), (4, 1), (5, 2)]);
    counts[FuncId(1)] = made::counts(&[(0, 6), (1, 6)]);
    counts[FuncId(2)] = made::counts(&[(0, 1200), (2, 1)]);
    counts[FuncId(5)] = made::counts(&[(0, 1)]);
    counts[FuncId(6)] = made::counts(&[(0, 1), (1, 1)]);
    counts[FuncId(7)] = (0..8).map(|id| (PathId(id), 1)).collect();
    p.entries[FuncId(0)] = Some(5);
    p.entries[FuncId(1)] = Some(12);
    p
}

/// [`profile`] as it was later: counts, a name and the control flow of two functions have changed.
fn later_profile() -> Profile {
    let mut p = profile();
    let counts = made::path_counts(&mut p);
    counts[FuncId(0)] = made::counts(&[(1, 3), (2, 2), (3, 1), (4, 1), (5, 2)]);
    counts[FuncId(1)] = made::counts(&[(0, 1), (1, 9)]);
    counts[FuncId(2)] = made::counts(&[(0, 700), (1, 500), (2, 1)]);
    let functions = &mut p.manifest.functions;
    functions[FuncId(3)].name = "new".into();
    for f in &mut functions[FuncId(5)..FuncId(7)] {
        f.succs[BlockId(1)] = vec![BlockId(1)];
    }
    p
}

fn select_function(p: &Profile, function: &str, top: Option<usize>) -> Selection {
    let function = Regex::new(function).unwrap();
    Selection::new(Some(&function), top, &[p]).unwrap()
}

/// Compares `views`, each under its heading, with the snapshot of this name.
pub(crate) fn snapshot(name: &str, views: &[(&str, String)]) {
    let mut settings = insta::Settings::clone_current();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/report");
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"p3-prof \d+\.\d+\.\d+", "p3-prof X");
    let view = |(what, text): &(&str, String)| {
        let text = anstream::adapter::strip_str(text).to_string();
        format!("=== {what}\n{text}")
    };
    let all: String = views.iter().map(view).collect();
    settings.bind(|| insta::assert_snapshot!(name, all));
}

#[test]
fn paths_and_edges() {
    let p = profile();
    let report = |top| {
        let selection = Selection {
            top,
            ..Selection::default()
        };
        Report::new(p.paths().unwrap(), &selection).unwrap()
    };
    assert_eq!(
        export_text(&p, "csv", Weigh::Paths),
        csv::render(&report(None))
    );
    assert_eq!(
        export_text(&p, "json", Weigh::Paths),
        json::render(&report(None))
    );
    let counts = edges::collect(&p, &Selection::default()).unwrap();
    let views = [
        ("paths", text::render(&report(None), By::Both, LAYOUT)),
        (
            "the hottest three",
            text::render(&report(Some(3)), By::Both, LAYOUT),
        ),
        ("CSV", csv::render(&report(None))),
        ("JSON", json::render(&report(None))),
        ("edges", edges::text(&p, &counts, Layout::default())),
        ("edges, CSV", edges::csv(&counts)),
        ("edges, JSON", edges::json(&p, &counts)),
    ];
    snapshot("made-paths", &views);
}

#[test]
fn analyses() {
    let (p, later) = (profile(), later_profile());
    let paths = p.paths().unwrap();
    let top = |top| Selection {
        top,
        ..Selection::default()
    };
    let covered = |selection: &Selection| {
        coverage::coverage(
            paths,
            selection,
            &crate::read::report::coverage::Scope::default(),
            crate::read::report::coverage::Sort::Missing,
            2,
        )
        .unwrap()
    };
    let all = covered(&Selection::default());
    let counts = coverage::Details::find(
        &p,
        &Sources::without_files(),
        &Selection::default(),
        &crate::read::report::coverage::Scope::default(),
    );
    let counts = counts.unwrap();
    let (rows, sum) = accuracy(paths, &Selection::default()).unwrap();
    let changes = diff::diff(paths, later.paths().unwrap(), &top(None), 0.01).unwrap();
    let hits = Hits {
        scheme: Scheme::P3,
        k: 2,
        probe_hits: ti_vec![1200, 7],
    };
    let views = [
        (
            "coverage",
            coverage::text(&all, &Sources::without_files(), LAYOUT),
        ),
        ("coverage, CSV", coverage::csv(&all)),
        (
            "coverage, JSON",
            coverage::json(&all, &counts, &Sources::without_files()),
        ),
        (
            "coverage of one function of two",
            coverage::text(
                &covered(&select_function(&p, "^(main|_Z4workv)$", Some(1))),
                &Sources::without_files(),
                LAYOUT,
            ),
        ),
        ("accuracy", accuracy::text(&rows, &sum, LAYOUT)),
        ("accuracy, CSV", accuracy::csv(&rows)),
        ("accuracy, JSON", accuracy::json(&rows, &sum)),
        (
            "diff",
            diff::text(&changes, 1, [&Sources::without_files(); 2], LAYOUT),
        ),
        (
            "diff, all",
            diff::text(&changes, 2, [&Sources::without_files(); 2], LAYOUT),
        ),
        ("diff, CSV", diff::csv(&changes)),
        ("diff, JSON", diff::json(&changes)),
        ("hits", hits::text(&hits)),
        ("hits, CSV", hits::csv(&hits)),
        ("hits, JSON", hits::json(&hits)),
    ];
    snapshot("made-analyses", &views);
}

/// `p` in the format with this name.
fn export_text(p: &Profile, name: &str, weigh: Weigh) -> String {
    let exporter = EXPORTERS.iter().find(|e| e.name == name).unwrap();
    let Writer::Profile(write) = exporter.writer else {
        panic!("{name} is not made from profiles alone");
    };
    let asked = Asked {
        weigh,
        all: false,
        mcdc: None,
    };
    let written = write(
        p,
        &Selection::default(),
        asked,
        p.sources(Search::default()),
    )
    .unwrap();
    String::from_utf8(written.data).unwrap()
}

/// The formats that are texts of their own.
#[test]
fn exports() {
    let p = profile();
    let text = |name, weigh| (name, export_text(&p, name, weigh));
    let views = [
        text("lcov", Weigh::Paths),
        text("lcov-1", Weigh::Paths),
        text("cobertura", Weigh::Paths),
        text("callgrind", Weigh::Paths),
        text("folded", Weigh::Paths),
        text("folded", Weigh::Instructions),
        text("speedscope", Weigh::Paths),
        text("dot", Weigh::Paths),
    ];
    snapshot("made-exports", &views);
}
