//! Readers against hostile bytes, and simulation against interpreted plans.

use crate::base::index::*;
use crate::copies::plan::build::copy_plan;
use crate::copies::plan::interp::{self, Outcome};
use crate::copies::plan::keys::Keys;
use crate::copies::strategy::Scheme;
use crate::input::ir::lower::LoadOptions;
use crate::input::load::{Admitted, find_inputs};
use crate::paths::function::made::all_measured as all_paths;
use crate::paths::random_cfg::{Walk, input};
use crate::profile::filter::Selection;
use crate::profile::manifest::{Manifest, Spans};
use crate::profile::measurement::{Exact, Measurement};
use crate::profile::{Profile, made, raw};
use crate::read::analysis::simulate::simulate;
use crate::read::report::figures::By;
use crate::read::report::{coverage, diff, export};
use proptest::prelude::*;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

mod damage;
pub(crate) mod views;

pub(super) const PAGE: usize = 4096;
const TEXT: &[u8] = b"./program\0-x y\0/a folder\0host\0";

/// The key of id `next` − 1; none for 0.
fn key_before(next: u64) -> u64 {
    let id = next.checked_sub(1);
    id.map_or(0, |id| Keys::for_ids(1 << 40).key(id))
}

/// A raw profile: a module with an array and entries, and a table of ids plus one and counts, with right checksums.
pub(super) fn raw_profile(counts: &[u64], pairs: &[(u64, u64)]) -> Vec<u8> {
    let word = |n: u32| n.to_le_bytes();
    let mut header = raw::MAGIC.to_le_bytes().to_vec();
    header.extend([word(raw::VERSION), word(raw::HEADER_SIZE as u32)].concat());
    header.extend([[7; 16], [8; 16]].concat());
    header.extend([word(1), word(3)].concat());
    header.extend([42, 41, PAGE as u64].map(u64::to_le_bytes).concat());
    header.extend([0, 2, TEXT.len() as u32, 0].map(word).concat());
    header.extend([0; 16]);
    header.extend([0; 4].map(word).concat());
    header.extend([4 * PAGE as u64, 1, 0, 1].map(u64::to_le_bytes).concat());
    header.extend([0; 56]);
    header.extend(TEXT);
    header.resize(PAGE, 0);

    let n = counts.len() as u64;
    let mut module = raw::BLOCK_MAGIC.to_le_bytes().to_vec();
    module.extend((2 * PAGE as u64).to_le_bytes());
    module.extend([word(1), word(0)].concat());
    module.extend(
        [3, PAGE as u64, PAGE as u64 / 8, 0]
            .map(u64::to_le_bytes)
            .concat(),
    );
    module.extend([0; 8]);
    for (func, kind, size, first) in [(0, 0, n, 0), (0, 2, 1, n), (1, 1, 1 << 40, 0)] {
        module.extend([word(func), word(kind)].concat());
        module.extend([size, first].map(u64::to_le_bytes).concat());
    }
    module.resize(PAGE, 0);
    module.extend(counts.iter().flat_map(|c| c.to_le_bytes()));
    module.extend(77u64.to_le_bytes());
    module.resize(2 * PAGE, 0);

    let mut arena = raw::BLOCK_MAGIC.to_le_bytes().to_vec();
    arena.extend((PAGE as u64).to_le_bytes());
    arena.extend(word(2));
    arena.resize(2 * raw::BLOCK_SIZE, 0); // the first piece was never used
    arena.extend(raw::CHUNK_MAGIC.to_le_bytes());
    arena.extend([word(1), word(0)].concat());
    arena.extend([pairs.len() as u64, 1 << 40].map(u64::to_le_bytes).concat());
    arena.resize(3 * raw::BLOCK_SIZE, 0);
    arena.extend(
        pairs
            .iter()
            .flat_map(|&(next, c)| [key_before(next), c].map(u64::to_le_bytes).concat()),
    );
    arena.resize(PAGE, 0);
    let mut bytes = [header, module, arena].concat();
    seal_checksums(&mut bytes);
    bytes
}

/// Makes the checksums right, so that damage gets past them.
pub(super) fn seal_checksums(bytes: &mut [u8]) {
    let (module, arena) = (PAGE, 3 * PAGE);
    let chunk = arena + 2 * raw::BLOCK_SIZE;
    let records = module + raw::BLOCK_SIZE..module + raw::BLOCK_SIZE + 3 * raw::FUNCTION_SIZE;
    let strings = raw::HEADER_SIZE..raw::HEADER_SIZE + TEXT.len();
    put_checksum(bytes, 0..raw::HEADER_CRC_AT, strings, raw::HEADER_CRC_AT);
    if bytes.len() >= 2 * PAGE {
        put_checksum(bytes, module + 8..module + 48, records, module + 60);
    }
    if bytes.len() >= 4 * PAGE {
        put_checksum(bytes, arena + 8..arena + 48, 0..0, arena + 60);
        put_checksum(bytes, chunk + 8..chunk + 32, 0..0, chunk + 60);
    }
}

/// Puts the checksum of two parts at `at`, unless the file is shorter than they are.
pub(super) fn put_checksum(bytes: &mut [u8], first: Range<usize>, second: Range<usize>, at: usize) {
    let mut crc = crc32fast::Hasher::new();
    if bytes.len() >= first.end.max(second.end) {
        crc.update(&bytes[first]);
        crc.update(&bytes[second]);
        bytes[at..at + 4].copy_from_slice(&crc.finalize().to_le_bytes());
    }
}

#[test]
fn a_good_raw_profile_is_read() {
    let raw = raw::parse(&raw_profile(&[0, 5, 0], &[(0, 9), (8, 2), (9, 0)])).unwrap();
    let counts = |f| {
        raw.functions[&FuncId(f)]
            .counts
            .iter()
            .map(|(&i, &n)| (i, n))
            .collect::<Vec<_>>()
    };
    assert_eq!((counts(0), counts(1)), (vec![(1, 5)], vec![(7, 2)]));
    assert_eq!(raw.functions[&FuncId(0)].entries, Some(77));
    assert_eq!(
        (raw.copy, raw.copies, raw.pooled, raw.lost),
        (CopyId(1), 3, false, false)
    );
    assert_eq!((raw.runs, raw.children, raw.ended), (1, 0, 1));
    assert_eq!((raw.unique, raw.pid, raw.parent), ([8; 16], 42, 41));
    let started = raw::Started {
        arguments: vec![b"./program".into(), b"-x y".into()],
        cut: false,
        folder: b"/a folder".into(),
        runs: 1,
        children: 0,
        ended: 1,
    };
    assert_eq!((raw.started, raw.host), (vec![started], b"host".into()));
}

/// A file of a terabyte, nearly all of it holes, is read by what it holds.
#[test]
fn holes_are_skipped() {
    const HUGE: u64 = 1 << 40;
    let mut bytes = raw_profile(&[0, 5, 0], &[(0, 9), (8, 2), (9, 0)]);
    let good = raw::parse(&bytes).unwrap();
    let (length, block) = (128, 3 * PAGE);
    bytes[length..length + 8].copy_from_slice(&HUGE.to_le_bytes());
    // The arena, and its one table, go on to the end.
    bytes[block + 8..block + 16].copy_from_slice(&(HUGE - block as u64).to_le_bytes());
    let slots = block + 2 * raw::BLOCK_SIZE + 16;
    bytes[slots..slots + 8].copy_from_slice(&((HUGE - 4 * PAGE as u64) / 16).to_le_bytes());
    seal_checksums(&mut bytes);
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(&bytes, 0).unwrap();
    let error = raw::read(&file).unwrap_err();
    assert!(matches!(error, raw::Problem::Cut { .. }), "{error}");
    file.set_len(HUGE).unwrap();
    assert_eq!(raw::read(&file).unwrap(), good);
    let slot = [key_before(8), 3].map(u64::to_le_bytes).concat();
    file.write_all_at(&slot, 1 << 39).unwrap();
    let found = raw::read(&file).unwrap();
    assert_eq!(found.functions[&FuncId(1)].counts[&7], 2 + 3);
}

/// Records that share counters would be read in quadratic time, and count twice.
#[test]
fn overlapping_counts_are_refused() {
    let mut bytes = raw_profile(&[1, 2, 3], &[(4, 5)]);
    // The entries, counter 3, become a part of the array.
    let first = PAGE + raw::BLOCK_SIZE + raw::FUNCTION_SIZE + 16;
    assert_eq!(bytes[first], 3);
    bytes[first] = 2;
    seal_checksums(&mut bytes);
    let error = raw::parse(&bytes).unwrap_err().to_string();
    assert!(error.contains("of function 0 overlap"), "{error}");
}

/// `make fuzz` and longer runs set the number of cases.
fn proptest_config(normal: u32) -> ProptestConfig {
    let wanted = std::env::var("P3_FUZZ_CASES")
        .ok()
        .and_then(|n| n.parse().ok());
    ProptestConfig::with_cases(wanted.unwrap_or(normal))
}

proptest! {
    #![proptest_config(proptest_config(1000))]

    /// Damage is refused, or changes counts, which carry no checksum; nothing panics.
    #[test]
    fn damaged_raw_profiles(
        page in 0..4usize, at in 0..400usize, value: u8, cut in prop::option::of(0..5 * PAGE), sealed: bool,
    ) {
        let good = raw_profile(&[1, 2, 3], &[(4, 5), (6, 7)]);
        let mut bytes = good.clone();
        bytes[page * PAGE + at] = value;
        bytes.truncate(cut.unwrap_or(usize::MAX));
        if sealed {
            seal_checksums(&mut bytes);
        }
        let strings = raw::HEADER_SIZE..raw::HEADER_SIZE + TEXT.len();
        let described = |at: usize| at < raw::HEADER_CRC_AT + 4 || strings.contains(&at);
        let raw = raw::parse(&bytes);
        if cut.is_some_and(|c| c < good.len()) && !(page == 0 && at >= raw::HEADER_CRC_AT) {
            prop_assert!(raw.is_err());
        } else if !sealed && page == 0 && bytes != good && cut.is_none() && described(at) {
            prop_assert!(raw.is_err());
        }
    }

    #[test]
    fn random_bytes_are_no_profile(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(raw::parse(&bytes).is_err());
        prop_assert!(Profile::parse(&bytes, Path::new("x")).is_err());
        prop_assert!(Manifest::parse(&bytes).is_err());
    }
}

const PROGRAM: &str = "
    define i32 @main(i32 %n) {
    a: br label %b
    b: %i = phi i32 [ 0, %a ], [ %j, %e ]
       switch i32 %i, label %c [ i32 1, label %d
                                 i32 2, label %d
                                 i32 3, label %e ]
    c: br i1 true, label %d, label %e
    d: br label %e
    e: %j = add i32 %i, 1
       %m = icmp slt i32 %j, %n
       br i1 %m, label %b, label %f
    f: ret i32 %j
    }";

/// A profile of `PROGRAM` with these counts.
pub(crate) fn profile(counts: Vec<(u64, u64)>) -> Profile {
    static EMPTY: std::sync::OnceLock<Profile> = std::sync::OnceLock::new();
    Profile {
        measured: Measurement::Exact(Exact::Paths(ti_vec![made::counts(&counts)])),
        ..EMPTY.get_or_init(empty_profile).clone()
    }
}

fn empty_profile() -> Profile {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("m.ll"), PROGRAM).unwrap();
    let inputs = find_inputs(&[dir.path().to_path_buf()], Path::new(""), None).unwrap();
    let inputs: Vec<_> = inputs.into_iter().map(Admitted::admit_unverified).collect();
    let program = crate::write::emit::load_program(&inputs, None, &LoadOptions::default()).unwrap();
    Profile {
        sources: vec![[3; 16], [9; 16]],
        entries: ti_vec![Some(12)],
        ..made::profile(&program, Scheme::P3, 2)
    }
}

#[test]
fn a_profile_survives_its_file() {
    let p = profile(vec![(0, 1), (3, u64::MAX)]);
    let bytes = p.to_bytes();
    assert_eq!(Profile::parse(&bytes, &p.path).unwrap(), p);
    for i in 0..bytes.len() {
        assert!(Profile::parse(&bytes[..i], &p.path).is_err(), "cut to {i}");
        let mut flipped = bytes.clone();
        flipped[i] ^= 1 << (i % 8);
        assert!(Profile::parse(&flipped, &p.path).is_err(), "flipped at {i}");
    }
}

/// Simulated hits are what the plans' interpreter counts on walks with those paths.
#[test]
fn simulation_equals_interpretation() {
    let empty = profile(vec![]);
    let structure = empty.structure(FuncId(0)).unwrap();
    let input = input(&structure.cfg);
    // Every activation: once round the loop by each way, then out.
    let walks: [&[u32]; 3] = [
        &[0, 0, 1],
        &[0, 1, 0, 1, 0, 2, 0, 3, 1],
        &[3, 0, 3, 0, 0, 0, 0, 0, 0, 1],
    ];
    let walks = walks.map(|choices| follow_choices(&structure.cfg, choices));
    assert!(walks.iter().all(|w| w.exit == Some(BlockId(5))));
    for (scheme, k) in [
        (Scheme::Sbl, 1),
        (Scheme::Pbl, 2),
        (Scheme::P3, 2),
        (Scheme::P3, 5),
        (Scheme::P3Weighted, 3),
        (Scheme::P3Hot, 1),
        (Scheme::P3Hot, 4),
    ] {
        let paths = all_paths(&[input]);
        let assignment = scheme.strategy().assign(&[input], &paths, k);
        let mut measured = vec![0; k as usize];
        let mut counts = std::collections::BTreeMap::<u64, u64>::new();
        for walk in &walks {
            for (copy, hits) in measured.iter_mut().enumerate() {
                let plan = copy_plan(&[input], &paths, &assignment.shares, CopyId::new(copy));
                let Some(plan) = plan.functions.first() else {
                    continue;
                };
                let mut outcome = Outcome::default();
                interp::run(plan, walk, &mut outcome).unwrap();
                *hits += outcome.hits;
            }
            // The same walk under the sequential plan gives the canonical counts.
            let sequential = Scheme::Sbl.strategy().assign(&[input], &paths, 1);
            let plan = &copy_plan(&[input], &paths, &sequential.shares, CopyId(0)).functions[0];
            let mut outcome = Outcome::default();
            interp::run(plan, walk, &mut outcome).unwrap();
            for (id, n) in outcome.counts {
                *counts.entry(id).or_default() += n;
            }
        }
        let p = profile(counts.into_iter().collect());
        let rows = simulate(&p.manifest, &p, None, &[scheme], &[k]).unwrap();
        assert_eq!(rows[0].probe_hits.raw, measured, "{scheme} {k}");
        assert!(rows[0].label_hits.iter().sum::<u64>() > 0);
    }
}

/// The walk that takes `choices` (successor ordinals) where there is one, to the exit.
fn follow_choices(cfg: &crate::input::ir::Cfg, choices: &[u32]) -> Walk {
    let (mut block, mut choices) = (BlockId(0), choices.iter());
    let mut edges = Vec::new();
    while !cfg.block(block).succs.is_empty() {
        let succ = match cfg.block(block).succs.len() {
            1 => 0,
            _ => *choices.next().expect("the walk ends"),
        };
        edges.push(CfgEdge { block, succ });
        block = cfg.block(block).succs[succ as usize];
    }
    let exit = Some(block);
    Walk { edges, exit }
}

/// Replaces one number, string or list of a JSON value, chosen by `choices`.
fn mutate_value(value: &mut serde_json::Value, choices: &mut dyn Iterator<Item = u32>) {
    use serde_json::Value;
    let mut next = || choices.next().unwrap_or(0);
    match value {
        Value::Array(items) if !items.is_empty() && next() % 8 != 0 => {
            let i = next() as usize % items.len();
            mutate_value(&mut items[i], choices);
        }
        Value::Object(fields) if !fields.is_empty() => {
            let i = next() as usize % fields.len();
            let field = fields.values_mut().nth(i).expect("in range");
            mutate_value(field, choices);
        }
        Value::Array(items) => match next() % 3 {
            0 => items.clear(),
            1 => drop(items.pop()),
            _ => items.extend(items.clone()),
        },
        Value::Number(_) => {
            let odd = [
                0,
                1,
                2,
                3,
                7,
                255,
                1023,
                1 << 31,
                u64::from(u32::MAX),
                u64::MAX,
            ];
            *value = odd[next() as usize % odd.len()].into();
        }
        Value::String(text) => match next() % 4 {
            0 => text.clear(),
            1 => *text = "branch".into(),
            2 => *text = "switch".into(),
            _ => text.push('x'),
        },
        _ => *value = 1.into(),
    }
}

/// Everything that commands do with a profile.
pub(crate) fn use_profile(p: &Profile) {
    use crate::read::report::{Report, csv, edges, json, text};
    let paths = p.paths().ok();
    if let Some(Ok(report)) = paths.map(|p| Report::new(p, &Selection::default())) {
        let _ = (
            text::render(&report, By::Both, crate::base::table::Layout::default()),
            json::render(&report),
            csv::render(&report),
        );
    }
    if let Ok(counts) = edges::collect(p, &Selection::default()) {
        let _ = (
            edges::text(p, &counts, crate::base::table::Layout::default()),
            edges::csv(&counts),
            edges::json(p, &counts),
        );
    }
    let all = Selection::default();
    for exporter in &export::EXPORTERS {
        if let export::Writer::Profile(write) = exporter.writer {
            let sources = p.sources(crate::read::source::Search::default());
            let asked = export::Asked {
                weigh: export::Weigh::Instructions,
                all: true,
                mcdc: None,
            };
            let _ = write(p, &all, asked, sources);
        }
    }
    if let Some(Ok(coverage)) = paths.map(|p| {
        coverage::coverage(
            p,
            &all,
            &crate::read::report::coverage::Scope::default(),
            crate::read::report::coverage::Sort::Missing,
            2,
        )
    }) {
        let sources = crate::read::source::Sources::without_files();
        let scope = crate::read::report::coverage::Scope::default();
        let counts = coverage::Details::find(p, &sources, &all, &scope);
        let _ = (
            coverage::text(
                &coverage,
                &crate::read::source::Sources::without_files(),
                crate::base::table::Layout::default(),
            ),
            counts.map(|counts| coverage::json(&coverage, &counts, &sources)),
            coverage::csv(&coverage),
        );
    }
    if let Some(Ok(diff)) = paths.map(|p| diff::diff(p, p, &all, 0.0)) {
        let _ = (
            diff::text(
                &diff,
                3,
                [&crate::read::source::Sources::without_files(); 2],
                crate::base::table::Layout::default(),
            ),
            diff::json(&diff),
            diff::csv(&diff),
        );
    }
    let _ = super::verify::verify(p);
    let _ = simulate(&p.manifest, p, None, &[Scheme::Sbl, Scheme::P3], &[2, 5]);
    let _ = crate::read::analysis::compare::compare(p, p).map(Iterator::count);
}

proptest! {
    #![proptest_config(proptest_config(3000))]

    /// A profile with right checksums and any content is refused or can be used.
    #[test]
    fn hostile_profiles_do_no_harm(
        edits in 1..4usize,
        choices in proptest::collection::vec(any::<u32>(), 40),
    ) {
        let mut p = profile(vec![(0, 1), (3, 5), (4, u64::MAX)]);
        // Something to damage in every field.
        let f = &mut p.manifest.functions[FuncId(0)];
        let span = Spans::try_from(vec![0, 5, 3, 1, 1]).unwrap();
        f.lines = ti_vec![span; 6];
        f.choices = serde_json::from_str(
            r#"[{"block": 1, "site": [0, 5, 3, 1, 0], "by": {"values": ["34"], "catches": ["x", 1]}}]"#,
        )
        .unwrap();
        f.branchless = vec![[0, 5, 3, 1, 0].into()];
        f.calls = vec![(BlockId(1), vec![(FuncId(0), 0)])];
        f.cuts = vec![CfgEdge { block: BlockId(2), succ: 1 }];
        f.returns_twice = vec![BlockId(2)];
        p.manifest.files = vec!["f.c".into()];
        p.manifest.checksums = vec!["00".into()];
        p.manifest.inlined = serde_json::from_str(
            r#"[{"function": "g", "file": 0, "line": 9}]"#,
        )
        .unwrap();
        let mut payload = super::file::payload(&p);
        let mut choices = choices.into_iter();
        for _ in 0..edits {
            mutate_value(&mut payload, &mut choices);
        }
        let manifest = serde_json::to_vec(&payload["manifest"]).unwrap();
        if let Ok(manifest) = Manifest::parse(&manifest) {
            let _ = simulate(&manifest, &p, None, &[Scheme::P3], &[3]);
        }
        let bytes = super::file::pack_payload(&serde_json::to_vec(&payload).unwrap());
        if let Ok(p) = Profile::parse(&bytes, Path::new("x")) {
            use_profile(&p);
        }
    }
}
