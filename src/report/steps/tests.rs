use super::*;
use crate::report::line;
use crate::source::Search;
use std::collections::HashSet;
use std::path::Path;

/// Functions with more paths are not looked through.
const MOST: u64 = 20_000;

/// Two paths of one function never read alike, with `--full`, whether they ran or not.
#[test]
fn full_rows_of_different_paths_differ() {
    let mut looked_at = 0;
    for name in ["demo", "orders", "variants"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/reading");
        let profile = Profile::read(&folder.join(format!("{name}.p3prof"))).unwrap();
        let search = Search {
            folders: vec![folder.clone(), folder.join("../programs")],
            ..Search::default()
        };
        let manifest = &profile.manifest;
        let sources = Sources::new(&manifest.files, &manifest.checksums, search);
        let steps = Steps::new(&profile, &sources, true);
        for f in profile.functions() {
            if profile.entry(f).status.is_skipped() {
                continue;
            }
            let structure = profile.structure(f).unwrap();
            if structure.paths.numbering.total() > MOST {
                continue;
            }
            let mut seen = HashSet::new();
            for id in structure.paths.ids() {
                let line = line(&profile, &structure, (f, id, 0)).unwrap();
                let told = (steps.start(&line), steps.rows(&line));
                assert!(
                    seen.insert(told.clone()),
                    "{name} {} #{id}: {told:#?}",
                    steps.name(f)
                );
                looked_at += 1;
            }
        }
    }
    assert!(looked_at > 1000, "{looked_at}");
}
