//! What a manifest that was read has to satisfy, so that nothing that uses it can panic.

use super::schema::SPAN;
use super::{FunctionEntry, Manifest, OutOfRange, ShareEntry, Status};
use crate::base::index::{BlockId, CfgEdge, CopyId, FuncId};
use crate::copies::strategy::Measure;
use crate::input::ir::Terminator;
use crate::input::load::positions::{Compared, Inlined};
use crate::paths::dag::Order;
use crate::paths::versions::can_be_copied;

impl Manifest {
    pub(crate) fn check(&self) -> Result<(), OutOfRange> {
        self.check_program().map_err(OutOfRange::Program)?;
        self.functions.iter().try_for_each(|f| {
            let checked = self.check_function(f);
            checked.map_err(|what| OutOfRange::Function {
                function: f.name.clone(),
                what,
            })
        })
    }

    fn check_program(&self) -> Result<(), &'static str> {
        let hex = self.program.len() == 32 && self.program.bytes().all(|b| b.is_ascii_hexdigit());
        ensure(hex, "program id")?;
        ensure((1..=1024).contains(&self.copies), "number of copies")?;
        ensure(
            [0, self.files.len()].contains(&self.checksums.len()),
            "checksums",
        )?;
        let sound = |(i, call): (usize, &Inlined)| {
            (call.file as usize) < self.files.len() && call.within.is_none_or(|n| (n as usize) < i)
        };
        ensure(self.inlined.iter().enumerate().all(sound), "inlined call")
    }

    fn check_function(&self, f: &FunctionEntry) -> Result<(), &'static str> {
        let blocks = f.succs.len();
        ensure(blocks > 0 && !f.bodies.is_empty(), "no body")?;
        ensure(
            f.bodies
                .iter()
                .all(|b| b.module.index() < self.modules.len()),
            "module",
        )?;
        ensure(f.unit.index() < self.functions.len(), "unit")?;
        let columns = f.terminators.len() == blocks && f.instructions.len() == blocks;
        ensure(
            columns && matches!(f.lines.len(), n if n == 0 || n == blocks),
            "columns",
        )?;
        let inside = |b: &BlockId| b.index() < blocks;
        ensure(f.succs.iter().flatten().all(inside), "successor")?;
        ensure(
            f.may_leave.iter().all(inside) && f.may_leave.is_sorted(),
            "may_leave",
        )?;
        ensure(
            f.single.iter().all(inside) && f.single.is_sorted(),
            "single",
        )?;
        let spans = |b: &BlockId| f.lines.get(*b).map_or(0, |l| l.len() / SPAN);
        let outside = f.left_outside.as_deref().unwrap_or_default();
        let left = |&(b, [first, last]): &(BlockId, [u32; 2])| {
            inside(&b) && first <= last && (last as usize) < spans(&b)
        };
        ensure(
            f.left_at_end.iter().all(inside) && f.left_at_end.is_sorted(),
            "call in tail position",
        )?;
        ensure(
            outside.iter().all(left) && outside.is_sorted_by(|a, b| a.0 < b.0),
            "position of a call that may not return",
        )?;
        let jumps = |b: &BlockId| inside(b) && f.terminators[*b] == Terminator::IndirectBr;
        ensure(
            f.known_labels.iter().all(jumps) && f.known_labels.is_sorted(),
            "known labels",
        )?;
        let pressed = |(b, _): &(BlockId, u32)| inside(b);
        ensure(
            f.pressure.iter().all(pressed) && f.pressure.is_sorted_by(|a, b| a.0 < b.0),
            "register pressure",
        )?;
        ensure(
            f.calls.iter().all(|(b, _)| inside(b)) && f.calls.is_sorted_by(|a, b| a.0 < b.0),
            "call site",
        )?;
        let symbols = self.outside.as_ref().map_or(0, Vec::len);
        let symbol = |(b, calls): &(BlockId, Vec<u32>)| {
            inside(b) && calls.iter().all(|c| *c as usize <= symbols)
        };
        ensure(
            f.outside.iter().all(symbol) && f.outside.is_sorted_by(|a, b| a.0 < b.0),
            "call of a function outside",
        )?;
        let known = |c: &FuncId| c.index() < self.functions.len();
        let sites = || {
            f.calls
                .iter()
                .flat_map(|(b, c)| c.iter().map(move |c| (b, c)))
        };
        ensure(sites().all(|(_, (c, _))| known(c)), "callee")?;
        let placed =
            |(b, (_, span)): (&BlockId, &(FuncId, u32))| *span == 0 || (*span as usize) < spans(b);
        ensure(sites().all(placed), "place of a call")?;
        let cut = |c: &CfgEdge| {
            f.succs
                .get(c.block)
                .is_some_and(|s| c.succ < s.len() as u32)
        };
        ensure(f.cuts.iter().all(cut) && f.cuts.is_sorted(), "cut edge")?;
        ensure(f.apart.iter().all(inside) && f.apart.is_sorted(), "header")?;
        ensure(f.lines.iter().all(|l| l.len() % SPAN == 0), "lines")?;
        let spans = f.lines.iter().flat_map(|l| l.chunks_exact(SPAN));
        let choices = f.choices.iter().filter_map(|c| c.site.as_ref());
        let loops = f.loops.iter().map(|(_, site)| site);
        let sites = choices.chain(&f.branchless).chain(loops);
        let sites = sites.map(|s| &s[..]);
        let mut places = spans.chain(sites);
        let file = |i: u32| (i as usize) < self.files.len();
        ensure(f.loc.iter().all(|l| file(l.file)), "file")?;
        let known = |s: &[u32]| file(s[0]) && s[3] as usize <= self.inlined.len();
        ensure(places.all(known), "position")?;
        ensure(f.loops.iter().all(|(b, _)| inside(b)), "loop")?;
        ensure(f.loops.is_sorted_by(|a, b| a.0 < b.0), "loop")?;
        ensure(f.split_loops.iter().all(inside), "split loop")?;
        ensure(f.split_loops.is_sorted(), "split loop")?;
        let choices = || f.choices.iter().map(|c| c.block);
        ensure(choices().all(|b| inside(&b)), "choice")?;
        ensure(choices().is_sorted_by(|a, b| a < b), "choice")?;
        let compared = f.choices.iter().filter_map(|c| c.by.compared.as_ref());
        let is_block = |b: &u32| (*b as usize) < blocks;
        for variable in compared.flat_map(Compared::variables) {
            let stores = &variable.stores;
            ensure(stores.is_sorted_by(|a, b| a < b), "store")?;
            let constants = variable.constants.iter();
            let at = constants.flat_map(|c| c.from.iter().chain([&c.block]));
            ensure(stores.iter().chain(at).all(is_block), "store")?;
        }
        self.check_share(f)
    }

    fn check_share(&self, f: &FunctionEntry) -> Result<(), &'static str> {
        let skipped = matches!(f.status, Status::Skipped(_));
        let counts_edges = self.scheme.strategy().measure == Measure::Edges;
        ensure(
            f.counted.is_some() == (counts_edges && !skipped),
            "counted edges",
        )?;
        let copy = |c: &CopyId| c.0 < self.copies;
        let copies = |sets: &[(CopyId, String)]| {
            sets.iter().all(|(c, _)| copy(c)) && sets.windows(2).all(|s| s[0].0 < s[1].0)
        };
        let may_have_versions = || {
            let cfg = f.cfg();
            !counts_edges && can_be_copied(&cfg, &Order::new(&cfg))
        };
        ensure(f.known.is_sorted_by(|a, b| a < b), "known path")?;
        ensure(
            f.at_least.is_sorted_by(|a, b| a < b),
            "path counted in part",
        )?;
        ensure(
            match &f.share {
                ShareEntry::Nothing => skipped || !self.paths.is_empty(),
                ShareEntry::Whole(c) => !skipped && copy(c),
                ShareEntry::Split(s) => !skipped && copies(s),
                ShareEntry::Inside(s) => !skipped && copies(s) && may_have_versions(),
                ShareEntry::Outside(c, _) => !skipped && copy(c) && may_have_versions(),
                ShareEntry::Ranges(ranges) => {
                    !skipped && may_have_versions() && ranges.are_sound(self.copies)
                }
            },
            "share",
        )
    }
}

fn ensure(ok: bool, what: &'static str) -> Result<(), &'static str> {
    if ok { Ok(()) } else { Err(what) }
}
