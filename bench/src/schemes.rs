//! Memory of rewriting under each scheme, beside one `opt -O2` of the same module.

use crate::build::{REWRITE, llvm};
use crate::markdown::Table;
use crate::results::{Results, Schemes};
use crate::rewriting::timed;
use crate::section::Section;
use crate::synthetic;
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Schemes and copies.
const SCHEMES: [(&str, u32); 5] = [
    ("sbl", 1),
    ("edge", 1),
    ("p3-hot", 4),
    ("subpath", 1),
    ("shadow", 1),
];

/// Makes a module in a file.
type Make = fn(&Path) -> Result<()>;

const MODULES: [(&str, Make); 3] = [
    ("100,000 functions", |file| {
        synthetic::write_small(file, 100_000)
    }),
    ("one function of 10,000 blocks", |file| {
        synthetic::write(file, 10_000, 10_000)
    }),
    ("one function of 100,000 blocks", |file| {
        synthetic::write(file, 100_000, 100_000)
    }),
];

/// Rewrites each module once under each scheme.
pub(crate) fn all(out: &Path) -> Result<()> {
    let here = out.join("schemes");
    std::fs::create_dir_all(&here)?;
    for (name, make) in MODULES {
        let mut results = Results::load(out)?;
        if results.schemes.of.contains_key(name) {
            continue;
        }
        eprintln!("{name}: rewriting");
        let file = here.join("module.bc");
        make(&file)?;
        results.schemes.keep(name.into(), measure(&file, &here)?)?;
        results.write(out)?;
    }
    std::fs::remove_dir_all(here)?;
    Ok(())
}

fn measure(file: &Path, here: &Path) -> Result<Schemes> {
    let opt = timed(
        Command::new(llvm("opt"))
            .arg("-passes=default<O2>")
            .arg(file)
            .args(["-o", "/dev/null"]),
    )?;
    let mut measured = Schemes {
        opt,
        ..Schemes::default()
    };
    for (scheme, copies) in SCHEMES {
        let mut command = Command::new(&*REWRITE);
        command.args(["-q", "--scheme", scheme, "-k", &copies.to_string(), "-o"]);
        let cost = timed(command.arg(here.join("copies")).arg(file))?;
        measured.p3.insert(scheme.into(), cost);
    }
    Ok(measured)
}

/// The section of what each scheme takes.
pub(crate) const BY_SCHEME: Section = Section {
    marker: "schemes",
    text: section,
    draw_plots: |_, _| Ok(()),
};

fn section(results: &Results) -> String {
    if results.schemes.of.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        "module",
        "scheme",
        "copies",
        "CPU s",
        "opt -O2 s",
        "MB",
        "opt -O2 MB",
        "MB / opt -O2",
    ]);
    for (name, of) in &results.schemes.of {
        for (scheme, copies) in SCHEMES {
            let Some(cost) = of.p3.get(scheme) else {
                continue;
            };
            let seconds = [cost, &of.opt].map(|c| format!("{:.1}", c.cpu));
            let memory = [cost, &of.opt].map(|c| (c.memory >> 20).to_string());
            let ratio = format!("{:.2}", cost.memory as f64 / of.opt.memory as f64);
            let about = [name.clone(), format!("`{scheme}`"), copies.to_string()];
            table.row(
                about
                    .into_iter()
                    .chain(seconds)
                    .chain(memory)
                    .chain([ratio]),
            );
        }
    }
    format!(
        "#### Rewriting by scheme\n\n{}. Processor time, and the largest resident set of one process, of `p3-rewrite` \
         and of `opt -passes='default<O2>'` on the same module. The first has 100,000 functions of three diamonds, \
         every other one of which calls the next: a million blocks. In the others two of three blocks call an unknown \
         function, and there are loops of ten diamonds.\n\n{table}\n",
        results.schemes.made_by("schemes")
    )
}
