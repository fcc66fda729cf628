//! Bodies of functions that say nothing of their lines.

use crate::analysis::counted::CountedFunction;
use crate::index::FuncId;
use crate::profile::Profile;
use std::collections::HashSet;

/// What rustc's wrapper of a test calls, in either kind of symbol.
const TEST_RESULT: &str = "4test18assert_test_result";

/// Whether rustc made a function around a test: its code has the lines of that test.
pub(super) fn is_test_wrapper(profile: &Profile, f: &CountedFunction) -> bool {
    let mut calls = profile.manifest.outside_calls(f.entry);
    calls.any(|(_, name)| name.contains(TEST_RESULT))
}

/// The functions that nothing entered and whose code ran elsewhere: where it was inlined, or as another module has it
/// of one header. That such a body did not run says nothing about its lines. Wrappers of tests are among them. O(positions).
pub fn find_unused_bodies(profile: &Profile, functions: &[CountedFunction]) -> HashSet<FuncId> {
    let manifest = &profile.manifest;
    let file = |number: u32| manifest.files[number as usize].as_str();
    let definition = |f: &CountedFunction| Some((f.f, file(f.entry.begins()?.file)));
    let symbol = |f: FuncId| profile.entry(f).name.as_str();
    // By symbol and the file that the code is of.
    let mut ran: HashSet<(&str, &str)> = HashSet::new();
    for f in functions {
        if f.flow.entry > 0 {
            ran.extend(definition(f).map(|(f, file)| (symbol(f), file)));
        }
        let mut seen = HashSet::new();
        for (b, block) in f.structure.cfg.blocks.iter_enumerated() {
            let range = f.executed.blocks[b];
            if range.count == 0 || range.may_have_run() {
                continue;
            }
            for span in &block.lines {
                let (mut at, mut of) = (span.inlined, span.loc.file);
                while let Some(call) = at.filter(|call| seen.insert((*call, of))) {
                    let call = &manifest.inlined[call as usize];
                    ran.insert((call.function.as_str(), file(of)));
                    (at, of) = (call.within, call.file);
                }
            }
        }
    }
    let never_entered = functions.iter().filter(|f| f.is_never_entered());
    let definitions = never_entered.filter_map(definition);
    let ran_elsewhere = definitions.filter(|(f, file)| ran.contains(&(symbol(*f), *file)));
    let wrappers = functions.iter().filter(|f| is_test_wrapper(profile, f));
    let unused = ran_elsewhere.map(|(f, _)| f);
    unused.chain(wrappers.map(|f| f.f)).collect()
}
