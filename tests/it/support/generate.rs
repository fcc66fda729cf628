//! Random programs in LLVM IR, deterministic by seed, that always end: every block that can be on
//! a cycle calls `fz_mix`, which throws when the program has run long enough.

use super::{llvm, project, run};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small generator of random numbers (xorshift64*).
pub(crate) struct Random {
    state: u64,
    /// Blocks of a function.
    limit: usize,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Random {
            state,
            limit: usize::MAX,
        }
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// What every module of programs begins with.
const HEAD: &str = "\
declare void @fz_mix(i32)
declare i32 @fz_next(i32)
declare i32 @fz_run(ptr, i32)
declare i32 @fz_report()
declare i32 @__gxx_personality_v0(...)
declare ptr @__cxa_begin_catch(ptr)
declare void @__cxa_end_catch()

";

/// The same seed with functions of at most `blocks` blocks (and landing pads): how a program that
/// fails is made smaller.
pub(crate) fn smaller(seed: u64, blocks: u64) -> u64 {
    seed & ((1 << 56) - 1) | (blocks << 56)
}

/// One program: its functions are `pN_f0` (where it begins), `pN_f1`, ….
pub(crate) fn program(number: usize, seed: u64) -> String {
    let mut random = Random::new(seed);
    random.limit = if seed >> 56 == 0 {
        usize::MAX
    } else {
        (seed >> 56) as usize
    };
    let functions = 1 + random.below(4);
    let text = |f| Function::new(&mut random, number, f, functions).text();
    (0..functions).map(text).collect()
}

/// A `main` that runs these programs.
fn main(numbers: &[usize]) -> String {
    let mut text = String::from("define i32 @main() {\n");
    for n in numbers {
        writeln!(text, "  %r{n} = call i32 @fz_run(ptr @p{n}_f0, i32 {n})").unwrap();
    }
    text + "  %s = call i32 @fz_report()\n  ret i32 %s\n}\n"
}

/// The programs with these seeds as a module.
pub(crate) fn module(seeds: &[u64], dir: &Path) -> PathBuf {
    let numbers: Vec<usize> = (0..seeds.len()).collect();
    let programs = numbers.iter().map(|&n| program(n, seeds[n]));
    let text: String = [HEAD.to_string()]
        .into_iter()
        .chain(programs)
        .chain([main(&numbers)])
        .collect();
    std::fs::create_dir_all(dir).unwrap();
    let (file, module) = (dir.join("m.ll"), dir.join("m.bc"));
    std::fs::write(&file, text).unwrap();
    run(Command::new(llvm("llvm-as"))
        .arg(file)
        .arg("-o")
        .arg(&module));
    module
}

/// What the programs call, compiled.
pub(crate) fn support_object(dir: &Path) -> PathBuf {
    let object = dir.join("fuzz.o");
    let mut clang = Command::new(llvm("clang++"));
    run(clang
        .arg("-c")
        .arg(project("tests/it/support/fuzz.cpp"))
        .arg("-o")
        .arg(&object));
    object
}

enum End {
    Return,
    Jump(usize),
    Branch([usize; 2]),
    Switch(Vec<usize>),
    Indirect(Vec<usize>),
    /// Callee, normal, unwind.
    Invoke(usize, usize, usize),
    Resume,
}

struct Block {
    pad: bool,
    end: End,
    /// Calls `fz_mix` and so may leave; blocks that do not only lead forward.
    mixes: bool,
    call: Option<usize>,
}

struct Function {
    number: usize,
    name: usize,
    blocks: Vec<Block>,
}

impl Function {
    fn new(random: &mut Random, number: usize, name: usize, functions: usize) -> Self {
        let normal = (3 + random.below(16)).min(random.limit);
        let pads = random.below(3);
        let all = normal + pads;
        let blocks = (0..all).map(|b| {
            let mixes = random.chance(60) || b >= normal;
            let low = if mixes { 0 } else { b + 1 };
            // `br` may lead to blocks below `normal` only: pads are for unwind edges.
            let to = |random: &mut Random| low + random.below(normal - low);
            let many = |random: &mut Random, n: usize| {
                let targets = 1 + random.below(n);
                (0..targets)
                    .map(|_| low + random.below(normal - low))
                    .collect()
            };
            let end = match random.below(100) {
                _ if low >= normal => End::Return,
                0..8 => End::Return,
                8..28 => End::Jump(to(random)),
                28..60 => End::Branch([to(random), to(random)]),
                60..76 => End::Switch(many(random, 6)),
                76..87 => End::Indirect(many(random, 5)),
                _ if pads > 0 && mixes => End::Invoke(
                    random.below(functions),
                    to(random),
                    normal + random.below(pads),
                ),
                _ if b >= normal => End::Resume,
                _ => End::Branch([to(random), to(random)]),
            };
            let call = random.chance(15).then(|| random.below(functions));
            Block {
                pad: b >= normal,
                end,
                mixes,
                call: call.filter(|_| mixes),
            }
        });
        let blocks = blocks.collect();
        Function {
            number,
            name,
            blocks,
        }
    }

    fn successors(&self, b: usize) -> Vec<usize> {
        match &self.blocks[b].end {
            End::Return | End::Resume => vec![],
            End::Jump(t) => vec![*t],
            End::Branch(t) => t.to_vec(),
            End::Switch(t) | End::Indirect(t) => t.clone(),
            End::Invoke(_, normal, unwind) => vec![*normal, *unwind],
        }
    }

    fn text(&self) -> String {
        let (n, f) = (self.number, self.name);
        let mut text = String::new();
        for (b, block) in self.blocks.iter().enumerate() {
            if let End::Indirect(targets) = &block.end {
                let address = |t: &usize| format!("ptr blockaddress(@p{n}_f{f}, %b{t})");
                let list: Vec<String> = targets.iter().map(address).collect();
                let (len, list) = (targets.len(), list.join(", "));
                writeln!(
                    text,
                    "@p{n}_f{f}_t{b} = internal constant [{len} x ptr] [{list}]"
                )
                .unwrap();
            }
        }
        let personality = "personality ptr @__gxx_personality_v0";
        writeln!(
            text,
            "define internal i32 @p{n}_f{f}(i32 %depth) {personality} {{"
        )
        .unwrap();
        text += "entry:\n  %deeper = add i32 %depth, 1\n  %deep = icmp sgt i32 %depth, 9\n";
        text += "  br i1 %deep, label %stop, label %b0\nstop:\n  ret i32 1\n";
        for b in 0..self.blocks.len() {
            self.block(b, &mut text);
        }
        text + "}\n\n"
    }

    fn block(&self, b: usize, text: &mut String) {
        let n = self.number;
        let block = &self.blocks[b];
        writeln!(text, "b{b}:").unwrap();
        // One value for each edge in; edges of one block bring the same.
        let mut ins: Vec<String> = Vec::new();
        if b == 0 {
            ins.push("[ %depth, %entry ]".into());
        }
        for from in 0..self.blocks.len() {
            for _ in self.successors(from).iter().filter(|&&t| t == b) {
                ins.push(format!("[ {}, %b{from} ]", from * 31 + b * 7));
            }
        }
        let has_phi = !ins.is_empty();
        if has_phi {
            writeln!(text, "  %v{b} = phi i32 {}", ins.join(", ")).unwrap();
        }
        if block.pad {
            let clause = if matches!(block.end, End::Resume) {
                "cleanup"
            } else {
                "catch ptr null"
            };
            writeln!(text, "  %l{b} = landingpad {{ ptr, i32 }} {clause}").unwrap();
            if !matches!(block.end, End::Resume) {
                writeln!(text, "  %x{b} = extractvalue {{ ptr, i32 }} %l{b}, 0").unwrap();
                writeln!(text, "  %y{b} = call ptr @__cxa_begin_catch(ptr %x{b})").unwrap();
                writeln!(text, "  call void @__cxa_end_catch()").unwrap();
            }
        }
        if block.mixes && !matches!(block.end, End::Resume) {
            let value = if has_phi {
                format!("%v{b}")
            } else {
                b.to_string()
            };
            writeln!(text, "  call void @fz_mix(i32 {value})").unwrap();
        }
        if let Some(callee) = block.call.filter(|_| !matches!(block.end, End::Resume)) {
            writeln!(text, "  %c{b} = call i32 @p{n}_f{callee}(i32 %deeper)").unwrap();
        }
        self.end(b, text);
    }

    fn end(&self, b: usize, text: &mut String) {
        let (n, f) = (self.number, self.name);
        let mut choose = |count: usize| {
            // Of all values some lead to the default.
            writeln!(text, "  %n{b} = call i32 @fz_next(i32 {count})").unwrap();
        };
        match &self.blocks[b].end {
            End::Return => writeln!(text, "  ret i32 {b}").unwrap(),
            End::Jump(t) => writeln!(text, "  br label %b{t}").unwrap(),
            End::Branch([yes, no]) => {
                choose(2);
                writeln!(text, "  %i{b} = icmp eq i32 %n{b}, 0").unwrap();
                writeln!(text, "  br i1 %i{b}, label %b{yes}, label %b{no}").unwrap();
            }
            End::Switch(targets) => {
                choose(targets.len() + 1);
                let case = |(i, t): (usize, &usize)| format!("i32 {i}, label %b{t}");
                let cases: Vec<String> = targets.iter().enumerate().skip(1).map(case).collect();
                let (default, cases) = (targets[0], cases.join(" "));
                writeln!(text, "  switch i32 %n{b}, label %b{default} [ {cases} ]").unwrap();
            }
            End::Indirect(targets) => {
                choose(targets.len());
                let len = targets.len();
                let label = |t: &usize| format!("label %b{t}");
                let labels: Vec<String> = targets.iter().map(label).collect();
                let slot = format!("[{len} x ptr], ptr @p{n}_f{f}_t{b}, i32 0, i32 %n{b}");
                writeln!(text, "  %s{b} = getelementptr {slot}").unwrap();
                writeln!(text, "  %a{b} = load ptr, ptr %s{b}").unwrap();
                writeln!(text, "  indirectbr ptr %a{b}, [ {} ]", labels.join(", ")).unwrap();
            }
            End::Invoke(callee, normal, unwind) => {
                let call = format!("%k{b} = invoke i32 @p{n}_f{callee}(i32 %deeper)");
                writeln!(text, "  {call} to label %b{normal} unwind label %b{unwind}").unwrap();
            }
            End::Resume => writeln!(text, "  resume {{ ptr, i32 }} %l{b}").unwrap(),
        }
    }
}
