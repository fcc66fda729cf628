//! Where counters are among those of a module, and how large pages can be.

use crate::copies::plan::FunctionPlan;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;

/// What one function counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Storage {
    /// The slot of id 0 among the module's counters, if some ids are counted in an array.
    pub array: Option<u64>,
    /// The number of its hash table in the module, if some ids are counted in one.
    pub table: Option<u64>,
}

/// Where everything is: counters in use, and hash tables.
#[derive(Default)]
pub(crate) struct Layout {
    /// By plan: its array and its table.
    pub storage: Vec<Storage>,
    /// By plan: the slot that counts entries.
    pub entries: Vec<Option<u64>>,
    /// By plan: the slot that counts executed probes.
    pub hits: Vec<Option<u64>>,
    /// By plan: the first of the slots that say what forked children did.
    pub forks: Vec<Option<u64>>,
    /// The number of slots.
    pub slots: u64,
}

impl Layout {
    /// For these plans, in their order.
    pub(crate) fn new<'a>(
        plans: impl Iterator<Item = &'a FunctionPlan>,
        count_hits: bool,
    ) -> Layout {
        let (mut layout, mut tables) = (Layout::default(), 0);
        for plan in plans {
            let slots = plan.table.slots();
            let table = plan.table.hashes().then_some(tables);
            tables += u64::from(plan.table.hashes());
            let array = (slots > 0).then(|| layout.take_slots(slots));
            layout.storage.push(Storage { array, table });
            let entries = plan.entries.then(|| layout.take_slots(1));
            layout.entries.push(entries);
            let hits = count_hits.then(|| layout.take_slots(1));
            layout.hits.push(hits);
            let forks = (plan.forks > 0).then(|| layout.take_slots(plan.forks));
            layout.forks.push(forks);
        }
        layout
    }

    fn take_slots(&mut self, slots: u64) -> u64 {
        self.slots += slots;
        self.slots - slots
    }
}

/// The largest page that Linux can be built for, as a power of two, by how target triples begin. Elsewhere it is 4096
/// bytes.
const PAGES: [(&str, u32); 10] = [
    ("aarch64", 16),
    ("arm64", 16),
    ("arc", 14),
    ("hexagon", 18),
    ("loongarch", 16),
    ("m68k", 13),
    ("mips", 16),
    ("powerpc", 16),
    ("ppc", 16),
    ("sparc", 13),
];

/// The module's target; compilers take a module without one for the machine that they are on.
fn triple(module: &Module) -> String {
    let own = module.get_triple();
    let host = TargetMachine::get_default_triple();
    let triple = if own.as_str().is_empty() { host } else { own };
    triple.as_str().to_string_lossy().into_owned()
}

/// The largest page that a kernel for the module's target has.
pub(crate) fn page_size(module: &Module) -> u64 {
    page_of(&triple(module))
}

/// Whether the module is for Linux: sections have the names of ELF.
pub(crate) fn is_linux(module: &Module) -> bool {
    triple(module).contains("linux")
}

/// Whether the module is for Linux on x86-64, with pointers of 64 bits.
pub(crate) fn is_x86_64_linux(module: &Module) -> bool {
    let triple = triple(module);
    triple.starts_with("x86_64") && triple.contains("linux") && !triple.contains("x32")
}

/// Whether the module is for Linux on a processor whose programs have thread-local variables at fixed offsets from the
/// thread pointer: aarch64 or RISC-V, with pointers of 64 bits. Android emulates these variables.
pub(crate) fn has_thread_pointer(module: &Module) -> bool {
    thread_pointer_is_known(&triple(module))
}

fn thread_pointer_is_known(triple: &str) -> bool {
    let processor = triple.split('-').next().unwrap_or_default();
    let others = ["android", "ohos", "ilp32"];
    ["aarch64", "arm64", "riscv64"].contains(&processor)
        && triple.contains("linux")
        && !others.iter().any(|o| triple.contains(o))
}

fn page_of(triple: &str) -> u64 {
    let target = PAGES.iter().find(|(begin, _)| triple.starts_with(begin));
    1 << target.map_or(12, |(_, bits)| *bits)
}

#[cfg(test)]
mod tests {
    use super::{page_of, page_size, thread_pointer_is_known};
    use inkwell::context::Context;
    use inkwell::targets::{TargetMachine, TargetTriple};

    #[test]
    fn pages() {
        let pages = [
            "x86_64-pc-linux-gnu",
            "riscv64",
            "arm-linux-gnueabi",
            "sparcv9",
            "ppc64le",
            "hexagon",
        ];
        let sizes = pages.map(|triple| page_of(triple) >> 10);
        assert_eq!(sizes, [4, 4, 4, 8, 64, 256]);
    }

    #[test]
    fn targets_with_thread_pointer() {
        for (triple, expected) in [
            ("aarch64-unknown-linux-gnu", true),
            ("arm64-linux-musl", true),
            ("riscv64-unknown-linux-musl", true),
            ("aarch64-linux-android35", false),
            ("aarch64-linux-gnu_ilp32", false),
            ("aarch64_be-linux-gnu", false),
            ("arm64-apple-macosx", false),
            ("riscv32-linux-gnu", false),
            ("x86_64-linux-gnu", false),
        ] {
            assert_eq!(thread_pointer_is_known(triple), expected, "{triple}");
        }
    }

    /// Without a triple, a module is compiled for the machine that compiles it.
    #[test]
    fn no_triple() {
        let context = Context::create();
        let module = context.create_module("m");
        let host = TargetMachine::get_default_triple();
        assert_eq!(page_size(&module), page_of(host.as_str().to_str().unwrap()));
        module.set_triple(&TargetTriple::create("hexagon-unknown-linux-musl"));
        assert_eq!(page_size(&module), 1 << 18);
    }
}
