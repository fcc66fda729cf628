//! Specifications against made-up programs: a function with two decisions in turn,
//!
//! ```text
//!      0 (line 10)
//!     / \
//!    1   2   (11, 12)
//!     \ /
//!      3 (13)
//!     / \
//!    4   5   (14, 15)
//!     \ /
//!      6 (16)
//! ```

use super::places::add_patch;
use super::resolve::resolve;
use super::resolved::Resolved;
use super::*;
use crate::base::index::{FuncId, PathId};
use crate::copies::selection::Selection;
use crate::copies::strategy::Scheme;
use crate::input::ir::{Cfg, FunctionBody, Linkage, Loc, Program, SkipReason, Span};
use crate::input::load::positions::{Inlined, SourceFile};
use crate::paths::function::{Paths, all_paths, function_inputs};
use crate::paths::random_cfg::cfg;
use crate::profile::manifest::ShareEntry;
use crate::profile::{Profile, made};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

const DIAMONDS: [&[u32]; 7] = [&[1, 2], &[3], &[3], &[4, 5], &[6], &[6], &[]];

fn place_block(cfg: &mut Cfg, block: usize, line: u32, inlined: Option<u32>) {
    cfg.blocks.raw[block].lines.push(Span {
        loc: Loc { file: 0, line },
        column: 1,
        inlined,
        instructions: 1,
    });
    cfg.blocks.raw[block].instructions += 1;
}

/// Two diamonds in turn, at lines from `line` on.
fn diamonds(line: u32) -> FunctionBody {
    let mut cfg = cfg(&DIAMONDS);
    (0..7).for_each(|b| place_block(&mut cfg, b, line + b as u32, None));
    made::body(cfg)
}

/// `f0` at lines 10 to 16, `f1` at lines 30 to 36; block 5 of `f1` was inlined from `helper`; `f2`, at line 50, is
/// skipped.
fn program() -> Program {
    let mut second = diamonds(30);
    second.cfg.blocks.raw[5].lines.clear();
    second.cfg.blocks.raw[5].instructions -= 1;
    place_block(&mut second.cfg, 5, 3, Some(0));
    let mut skipped = cfg(&[&[]]);
    place_block(&mut skipped, 0, 50, None);
    let skipped = FunctionBody {
        skip: Some(SkipReason::Naked),
        ..made::body(skipped)
    };
    let file = |name: &str| SourceFile {
        name: name.into(),
        checksum: String::new(),
    };
    let call = |function: &str| Inlined {
        function: function.into(),
        file: 0,
        line: 35,
        column: 1,
        within: None,
    };
    Program {
        files: vec![file("lib/parse.c"), file("a/x.c"), file("b/x.c")],
        inlined: vec![call("helper"), call("everywhere")],
        ..made::program([diamonds(10), second, skipped])
    }
}

struct Case {
    program: Program,
    paths: Vec<Option<Arc<Paths>>>,
}

impl Case {
    fn new(program: Program) -> Case {
        let paths = all_paths(&function_inputs(&program));
        Case { program, paths }
    }

    fn resolve(&self, specs: &[&str], earlier: &Earlier) -> crate::Result<Resolved> {
        let specs: Vec<Spec> = specs.iter().map(|s| Spec::parse(s).unwrap()).collect();
        resolve(
            &specs,
            &Target::of_program(&self.program, &self.paths),
            earlier,
        )
    }

    /// The ids that a selection admits, by function.
    fn ids(&self, resolved: &Resolved) -> Vec<Vec<u64>> {
        let admitted = |(selection, paths): (&Selection, &Option<Arc<Paths>>)| {
            let Some(paths) = paths else {
                return Vec::new();
            };
            let is_selected =
                |id: &PathId| selection.selects_path(*id, &paths.decode(*id).unwrap());
            let ids = paths.ids().filter(is_selected);
            ids.map(|id| id.0).collect()
        };
        resolved
            .selections
            .iter()
            .zip(&self.paths)
            .map(admitted)
            .collect()
    }

    fn is_empty(&self, resolved: &Resolved) -> bool {
        resolved.is_empty(&Target::of_program(&self.program, &self.paths))
    }

    fn select_ids(&self, specs: &[&str], earlier: &Earlier) -> Vec<Vec<u64>> {
        self.ids(&self.resolve(specs, earlier).unwrap())
    }

    fn refuse_spec(&self, spec: &str) -> String {
        let error = self.resolve(&[spec], &Earlier::default()).unwrap_err();
        assert_eq!(error.status(), 2);
        let said = error.to_string();
        let start = format!("--paths {spec}: ");
        said.strip_prefix(&start)
            .unwrap_or_else(|| panic!("{said}"))
            .to_string()
    }

    /// The ids of `f0` through some blocks.
    fn through(&self, blocks: &[usize]) -> Vec<u64> {
        let paths = self.paths[0].as_ref().unwrap();
        let touches = |id: &PathId| {
            let path = paths.dag.path(&paths.decode(*id).unwrap());
            blocks
                .iter()
                .all(|b| path.blocks.iter().any(|x| x.index() == *b))
        };
        paths.ids().filter(touches).map(|id| id.0).collect()
    }

    /// A profile with counts of `f0` and `f1`.
    fn profile(&self, counts: [&[(u64, u64)]; 2]) -> Profile {
        let mut profile = made::profile(&self.program, Scheme::Sbl, 1);
        let of = made::path_counts(&mut profile);
        for (f, counts) in counts.into_iter().enumerate() {
            of[FuncId::new(f)] = made::counts(counts);
        }
        profile
    }
}

fn earlier_profile(profile: Profile) -> Earlier {
    Earlier::default().with_profiles(Path::new("p"), vec![profile])
}

const ALL: [u64; 4] = [0, 1, 2, 3];

#[test]
fn line_selects_the_paths_through_its_block() {
    let case = Case::new(program());
    let none = Earlier::default();
    let of_one = case.select_ids(&["through=lib/parse.c:14"], &none);
    assert_eq!(of_one, [case.through(&[4]), vec![], vec![]]);
    assert_eq!(of_one[0].len(), 2);
    // The end of the file's name will do; a line that all paths take selects all.
    let of_all = case.select_ids(&["through=parse.c:33-34"], &none);
    assert_eq!(of_all, [vec![], ALL.to_vec(), vec![]]);
    let union = case.select_ids(&["through=parse.c:14", "through=parse.c:15"], &none);
    assert_eq!(union[0], ALL);
}

#[test]
fn function_selects_its_paths_and_those_through_its_inlined_code() {
    let case = Case::new(program());
    let none = Earlier::default();
    assert_eq!(
        case.select_ids(&["through=f0"], &none),
        [ALL.to_vec(), vec![], vec![]]
    );
    let inlined = case.select_ids(&["through=helper"], &none);
    assert_eq!(inlined, [vec![], case.through(&[5]), vec![]]);
}

#[test]
fn what_the_program_does_not_have_is_refused_with_the_nearest() {
    let case = Case::new(program());
    for (spec, said) in [
        (
            "through=parse.c:20",
            "this line has no code; nearest lines with code: 16 (f0), 30 (f1)",
        ),
        (
            "through=parse.c:90-99",
            "these lines have no code; nearest lines with code: 36 (f1)",
        ),
        (
            "through=parse.c:50",
            "the code there is in f2, which is skipped: naked function; name another",
        ),
        (
            "through=x.c:1",
            "x.c is the end of several files' names: a/x.c, b/x.c; give more of one",
        ),
        (
            "through=a/x.c:1",
            "this line has no code, and no other of the file does; name another file",
        ),
        (
            "through=prase.c:7",
            "no source file of the program is called prase.c; nearest: lib/parse.c",
        ),
        (
            "through=zzz:7",
            "no source file of the program is called zzz; give the end of its name",
        ),
        (
            "through=f00",
            "the program has no function f00; nearest: f0",
        ),
        (
            "through=xylophone",
            "the program has no function xylophone; p3-prof show lists functions",
        ),
        (
            "through=f2",
            "f2 is skipped: naked function; no path of it can be selected",
        ),
        (
            "through=everywhere",
            "everywhere was inlined everywhere; -fno-inline keeps it, or give its lines",
        ),
        (
            "through=parse.c",
            "parse.c is a source file, and no lines of it are named; give parse.c:LINE or parse.c:FIRST-LAST",
        ),
        (
            "through=parse.c:abc",
            "parse.c is a source file, and no lines of it are named; give parse.c:LINE or parse.c:FIRST-LAST",
        ),
        ("ids=f0#3,f0#4", "f0 has no path #4; its last is #3"),
        (
            "ids=f2#0",
            "f2 is skipped: naked function; no path of it can be selected",
        ),
        (
            "ids=g#0",
            "the program has no function g; p3-prof show lists functions",
        ),
        (
            "ids=f1(int)#0",
            "the program has no function f1(int); nearest: f1",
        ),
    ] {
        assert_eq!(case.refuse_spec(spec), said, "{spec}");
    }
    let case = Case::new(made::program([made::body(cfg(&DIAMONDS))]));
    assert_eq!(
        case.refuse_spec("through=parse.c:7"),
        "the program has no line numbers; compile it with -g or -gline-tables-only"
    );
}

#[test]
fn ids_select_these_paths_alone() {
    let case = Case::new(program());
    let selected = case.select_ids(&["ids=f0#1,f1#2", "ids=f0#3"], &Earlier::default());
    assert_eq!(selected, [vec![1, 3], vec![2], vec![]]);
}

/// `f0` and `f1` are two instances of a template, and a function of the standard library was inlined.
fn templates() -> Program {
    let mut program = program();
    for (f, symbol) in ["_Z2tmIiEiT_", "_Z2tmIcEiT_"].into_iter().enumerate() {
        rename(&mut program, f, symbol);
    }
    program.inlined[0].function = "_ZNSt6vectorIiSaIiEE9push_backERKi".into();
    program
}

fn rename(program: &mut Program, f: usize, symbol: &str) {
    program.modules.raw[0].bodies[f].name = symbol.into();
    program.functions[FuncId::new(f)].name = symbol.into();
}

#[test]
fn short_names_of_reports_select_all_functions_that_have_them() {
    let case = Case::new(templates());
    let none = Earlier::default();
    for (spec, selected) in [
        ("through=tm", [ALL.to_vec(), ALL.to_vec(), vec![]]),
        ("through=tm<int>", [ALL.to_vec(), vec![], vec![]]),
        ("through=int tm<char>(char)", [vec![], ALL.to_vec(), vec![]]),
        (
            "through=vector::push_back",
            [vec![], case.through(&[5]), vec![]],
        ),
        ("ids=tm<char>#2", [vec![], vec![2], vec![]]),
    ] {
        assert_eq!(case.select_ids(&[spec], &none), selected, "{spec}");
    }
}

#[test]
fn name_of_several_functions_is_refused_before_an_id() {
    let case = Case::new(templates());
    assert_eq!(
        case.refuse_spec("ids=tm#0"),
        "tm is the name of 2 functions; give one of: int tm<char>(char), int tm<int>(int)"
    );
    assert_eq!(
        case.refuse_spec("through=vector::push_bakc"),
        "the program has no function vector::push_bakc; p3-prof show lists functions"
    );
    // A symbol is the most precise name. Modules may have functions of one symbol, which no name tells apart.
    let mut program = templates();
    rename(&mut program, 0, "tm");
    let case = Case::new(program);
    assert_eq!(
        case.select_ids(&["ids=tm#3"], &Earlier::default()),
        [vec![3], vec![], vec![]]
    );
    let mut program = templates();
    rename(&mut program, 0, "_Z2tmIcEiT_");
    let case = Case::new(program);
    let resolved = case.resolve(&["ids=tm#3"], &Earlier::default()).unwrap();
    assert_eq!(case.ids(&resolved), [vec![3], vec![3], vec![]]);
    assert_eq!(
        resolved.notes,
        ["ids=tm#3: several modules have a function tm; path #3 of each is selected: m.bc"]
    );
}

#[test]
fn hottest_paths_are_those_with_most_instructions() {
    let case = Case::new(program());
    let mut profile = case.profile([&[(0, 10), (1, 40)], &[(2, 30), (3, 20)]]);
    // One path runs five instructions each time, so these are 50, 200, 150 and 100 of 500.
    let all = earlier_profile(profile.clone());
    assert_eq!(
        case.select_ids(&["top=2:p"], &all),
        [vec![1], vec![2], vec![]]
    );
    assert_eq!(
        case.select_ids(&["share=70%:p"], &all),
        [vec![1], vec![2], vec![]]
    );
    assert_eq!(
        case.select_ids(&["share=70.1%:p"], &all),
        [vec![1], vec![2, 3], vec![]]
    );
    assert_eq!(
        case.select_ids(&["share=100%:p"], &all),
        [vec![0, 1], vec![2, 3], vec![]]
    );
    // A function that changed cannot be selected from: it is reported.
    profile.manifest.functions[FuncId(0)].name = "old".into();
    let resolved = case
        .resolve(&["top=2:p"], &earlier_profile(profile))
        .unwrap();
    assert_eq!(case.ids(&resolved), [vec![], vec![2], vec![]]);
    assert_eq!(
        resolved.notes,
        ["top=2:p: 1 function changed or gone since; their hottest paths are not selected: old"]
    );
    let nothing = earlier_profile(case.profile([&[], &[]]));
    let resolved = case.resolve(&["top=2:p"], &nothing).unwrap();
    assert!(case.is_empty(&resolved));
    assert_eq!(resolved.empty, ["top=2:p: no path ran in m"]);
}

#[test]
fn new_paths_are_those_that_no_profile_has_seen() {
    let case = Case::new(program());
    let both = Earlier::default()
        .with_profiles(Path::new("p"), vec![case.profile([&[(0, 1)], &[(2, 5)]])])
        .with_profiles(Path::new("q"), vec![case.profile([&[(3, 1)], &[]])]);
    let selected = case.select_ids(&["new:p,q"], &both);
    assert_eq!(selected, [vec![1, 2], vec![0, 1, 3], vec![]]);
    // The union of two wishes: new to either profile.
    let selected = case.select_ids(&["new:p", "new:q"], &both);
    assert_eq!(selected, [ALL.to_vec(), ALL.to_vec(), vec![]]);

    let everything = [(0, 1), (1, 1), (2, 1), (3, 1)];
    let all_seen = earlier_profile(case.profile([&everything, &everything]));
    let resolved = case.resolve(&["new:p"], &all_seen).unwrap();
    assert!(case.is_empty(&resolved));
    assert_eq!(
        resolved.empty,
        ["new:p: every path that control flow allows has run"]
    );
}

#[test]
fn all_paths_of_changed_functions_are_new() {
    let case = Case::new(program());
    let mut profile = case.profile([&[(0, 1)], &[(2, 5)]]);
    profile.manifest.functions[FuncId(0)]
        .succs
        .swap(1.into(), 3.into());
    let resolved = case
        .resolve(&["new:p"], &earlier_profile(profile.clone()))
        .unwrap();
    assert_eq!(case.ids(&resolved), [ALL.to_vec(), vec![0, 1, 3], vec![]]);
    assert_eq!(
        resolved.notes,
        ["new:p: 1 function changed; all their paths count as new: f0"]
    );
    profile.manifest.functions[FuncId(0)].name = "g".into();
    profile.manifest.functions[FuncId(1)].name = "h".into();
    let resolved = case.resolve(&["new:p"], &earlier_profile(profile)).unwrap();
    assert_eq!(
        resolved.notes,
        [
            "new:p: the profile has none of the program's functions as they are now; all their paths count as new"
        ]
    );
}

/// Paths through block 2 or 5 of `f0` when only the path along 1 and 4 ran.
#[test]
fn cold_paths_take_an_edge_that_never_ran() {
    let case = Case::new(program());
    let hot = case.through(&[1, 4])[0];
    let everything = [(0, 1), (1, 1), (2, 1), (3, 1)];
    let profile = case.profile([&[(hot, 9)], &everything]);
    let selected: BTreeSet<u64> = case.select_ids(&["cold:p"], &earlier_profile(profile))[0]
        .iter()
        .copied()
        .collect();
    for blocks in [&[2][..], &[5]] {
        assert!(case.through(blocks).iter().all(|id| selected.contains(id)));
    }
    let resolved = case
        .resolve(
            &["cold:p"],
            &earlier_profile(case.profile([&everything, &everything])),
        )
        .unwrap();
    assert_eq!(resolved.empty, ["cold:p: every edge ran"]);
}

/// Makes a profile count no path of `f1`.
fn count_f0_only(profile: &mut Profile, spec: &str) {
    profile.manifest.paths = vec![spec.into()];
    profile.manifest.functions[FuncId(1)].share = ShareEntry::Nothing;
}

#[test]
fn cold_paths_are_not_sought_where_paths_were_not_counted() {
    let case = Case::new(program());
    let everything = [(0, 1), (1, 1), (2, 1), (3, 1)];
    let mut selective = case.profile([&[(0, 9)], &[]]);
    count_f0_only(&mut selective, "through=f0");
    let error = case
        .resolve(&["cold:p"], &earlier_profile(selective))
        .unwrap_err();
    assert_eq!(error.status(), 2);
    assert_eq!(
        error.to_string(),
        "m: it counts only some paths (through=f0), so what is cold in f1 is not known; name a profile of all paths"
    );
    // What was not counted has been seen by the run before it: all is known.
    let whole = case.profile([&[(0, 9)], &everything]);
    let mut residual = case.profile([&[(1, 1)], &[]]);
    count_f0_only(&mut residual, "new:p");
    let both = Earlier::default().with_profiles(Path::new("p"), vec![whole, residual]);
    let selected = case.select_ids(&["cold:p"], &both);
    assert_eq!(
        selected,
        case.select_ids(
            &["cold:p"],
            &earlier_profile(case.profile([&[(0, 9), (1, 1)], &everything]))
        )
    );
    assert!(!selected[0].is_empty() && selected[1].is_empty());
    // A selection of all paths leaves nothing out.
    let mut all = case.profile([&[(0, 9)], &everything]);
    all.manifest.paths = vec!["new:empty".into()];
    assert!(case.resolve(&["cold:p"], &earlier_profile(all)).is_ok());
}

#[test]
fn hottest_of_selected_paths_are_called_so() {
    let case = Case::new(program());
    let mut profile = case.profile([&[(0, 10), (1, 40)], &[]]);
    count_f0_only(&mut profile, "through=f0");
    for spec in ["top=1:p", "share=70%:p"] {
        let resolved = case
            .resolve(&[spec], &earlier_profile(profile.clone()))
            .unwrap();
        assert_eq!(case.ids(&resolved), [vec![1], vec![], vec![]]);
        let said = "the profile holds selected paths only; others may be hotter";
        assert_eq!(resolved.notes, [format!("{spec}: {said}")]);
    }
}

#[test]
fn functions_of_other_sources_do_not_match() {
    let mut local = program();
    local.modules.raw[0].bodies[0].linkage = Linkage::Local;
    local.modules.raw[0].bodies[0].loc = Some(Loc { file: 0, line: 10 });
    let case = Case::new(local);
    let mut profile = case.profile([&[(0, 1)], &[]]);
    let other = profile.manifest.modules.raw[0].clone();
    profile.manifest.modules.push(other);
    profile.manifest.modules.raw[0].name = "elsewhere.bc".into();
    let same_source = case.select_ids(&["new:p"], &earlier_profile(profile.clone()));
    assert!(
        same_source[0].len() < ALL.len(),
        "whatever its module is called"
    );
    profile.manifest.functions.raw[0].loc = Some(Loc { file: 1, line: 10 });
    let selected = case.select_ids(&["new:p"], &earlier_profile(profile));
    assert_eq!(selected[0], ALL);
}

#[test]
fn patch_that_touches_no_code_is_reported() {
    use crate::read::report::coverage::Touched;
    use crate::read::source::Sources;
    use crate::read::source::patch::Patch;
    let case = Case::new(program());
    let target = Target::of_program(&case.program, &case.paths);
    let touched = |line: u32, file: &str| {
        let text = format!("--- a/{file}\n+++ b/{file}\n@@ -{line} +{line} @@\n-a\n+b\n");
        let patch = Patch::parse(text.as_bytes(), Path::new("d")).unwrap();
        Touched::find(
            &patch,
            Path::new("d"),
            &target.files,
            &Sources::without_files(),
        )
        .unwrap()
    };
    let mut resolved = Resolved::empty(3);
    add_patch(&mut resolved, &target, "d", &touched(14, "lib/parse.c"));
    assert_eq!(case.ids(&resolved), [case.through(&[4]), vec![], vec![]]);
    assert!(resolved.empty.is_empty() && resolved.notes.is_empty());

    let mut resolved = Resolved::empty(3);
    add_patch(&mut resolved, &target, "d", &touched(20, "lib/parse.c"));
    assert!(case.is_empty(&resolved));
    assert_eq!(
        resolved.empty,
        ["--patch d: it touches no code of the program"]
    );

    let mut resolved = Resolved::empty(3);
    add_patch(&mut resolved, &target, "d", &touched(1, "README"));
    assert_eq!(
        resolved.notes,
        ["--patch d: 1 file of the diff is not part of the program: README"]
    );
}
