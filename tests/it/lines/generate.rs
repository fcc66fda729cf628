//! Random C++ programs that count their own lines: `hits[7]++` on line 7. They end, whatever they do: loops burn fuel.

use crate::support::generate::Random;

/// What every program begins with.
const HEAD: &str = r#"#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>
static unsigned long hits[4096];
static unsigned fuel;
struct A { int v; A(int v = 1) : v(v) {} A(const A &o) : v(o.v) {} ~A() { v = 0; } };
struct P { int a, b; };
#define TWICE(s) do { s; s; } while (0)
#define EITHER(a, b) ((a) || (b))
"#;
/// What every program ends with: it prints how often each of its lines ran.
const TAIL: &str = r#"  for (unsigned long n : hits)
    std::printf("%lu\n", n);
}
"#;
/// What each loop asks for besides its own condition.
const BURNS: &str = "fuel > 0 && fuel-- > 0";

/// A program, one statement after the other.
pub(super) struct Program {
    random: Random,
    text: String,
    lines: usize,
    names: usize,
    indent: usize,
}

/// A program for a seed.
pub(super) fn program(seed: u64) -> String {
    let mut program = Program {
        random: Random::new(seed),
        text: String::new(),
        lines: 0,
        names: 0,
        indent: 0,
    };
    program.add(HEAD.trim_end());
    for f in 0..3 {
        let template = ["", "template <int N> ", ""][f];
        program.open(&format!("{template}static int f{f}(int x, int y) {{"));
        for _ in 0..5 {
            program.statement(3, false);
        }
        program.add("return @, x;");
        program.close("}");
    }
    program.open("int main() {");
    program.add("int s = 0; @;");
    program.open("for (int i = 0; @, i < 12; i++) {");
    for f in ["f0", "f1<3>", "f2"] {
        program.add(&format!("fuel = 300; @; s += {f}(s + i * 7, i - 3);"));
    }
    program.close("}");
    program.text + TAIL
}

impl Program {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    /// Adds lines; `@` counts its line.
    fn add(&mut self, text: &str) {
        for line in text.lines() {
            self.lines += 1;
            let counted = line.replace('@', &format!("hits[{}]++", self.lines));
            self.text += &"  ".repeat(self.indent);
            self.text += &counted;
            self.text.push('\n');
        }
    }

    fn open(&mut self, text: &str) {
        self.add(text);
        self.indent += 1;
    }

    fn close(&mut self, text: &str) {
        self.indent -= 1;
        self.add(text);
    }

    fn value(&mut self) -> String {
        let n = self.below(9);
        let values = ["x + #", "y - x", "x * #", "x ^ y", "(x >> 1)", "#"];
        values[self.below(values.len())].replace('#', &n.to_string())
    }

    fn condition(&mut self) -> String {
        let n = 2 + self.below(4);
        let conditions = [
            "x % # == 1",
            "x > y",
            "(x & #) != 0",
            "x < # * 5",
            "x % # == 0 && y > #",
            "EITHER(x > # * 9, y % # == 1)",
            "!(y < # * 4) || (x & 1) == 0",
        ];
        conditions[self.below(conditions.len())].replace('#', &n.to_string())
    }

    fn block(&mut self, depth: usize, in_loop: bool, most: usize) {
        for _ in 0..=self.below(most) {
            self.statement(depth, in_loop);
        }
    }

    /// A statement with others inside, at most `depth` deep.
    fn statement(&mut self, depth: usize, in_loop: bool) {
        let kinds = if depth == 0 { 9 } else { 20 };
        let (value, condition) = (self.value(), self.condition());
        match self.below(kinds) {
            0 => self.add(&format!("@; x = {value};")),
            1 => {
                let leaves = ["x++;", ";", "return x;", "break;", "continue;"];
                let kinds = if in_loop { leaves.len() } else { 3 };
                let then = leaves[self.below(kinds)];
                self.add(&format!("if (@, {condition}) {then}"));
            }
            2 => self.add(&format!(
                "@; if ({condition}) {{ x += 3; }} else {{ y -= 2; }} y++;"
            )),
            3 => self.add(&format!("@; TWICE(x = {value});")),
            4 => self.binding(),
            5 => {
                let (name, n) = (self.name(), 1 + self.below(4));
                self.add(&format!("@; A {name}[{n}];"));
            }
            6 => {
                let (name, words) = (self.name(), "\"w\", ".repeat(1 + self.below(5)));
                self.add(&format!(
                    "@; std::vector<std::string> {name}{{{words}}}; x += {name}.size();"
                ));
            }
            7 => self.add(&format!(";\nif (@, {condition}) {{\n}}")),
            8 => {
                let other = self.value();
                self.add(&format!("@; x = {condition} ? {value} : {other};"));
            }
            9 | 10 => self.branches(depth),
            11..=13 => self.loop_of(depth),
            14 | 15 => self.switch(depth, in_loop),
            16 | 17 => self.attempt(depth),
            18 => {
                let (label, n) = (self.name(), self.name());
                self.open(&format!("{{ int {n} = 0;"));
                self.add(&format!("{label}:\n@; x = {value};"));
                self.add(&format!("if (@, {n}++ < 2 && {condition}) goto {label};"));
                self.close("}");
            }
            _ => {
                let name = self.name();
                self.open(&format!("{{\nA {name}(x);"));
                self.block(depth - 1, in_loop, 1);
                self.close("}");
            }
        }
    }

    /// A structured binding, and uses of it.
    fn binding(&mut self) {
        let (a, b, n) = (self.name(), self.name(), 1 + self.below(4));
        let made = match self.below(4) {
            0 => format!("std::pair<int, int>(x, {n})"),
            1 => format!("std::make_tuple(x, {n})"),
            2 => format!("P{{x, {n}}}"),
            _ => {
                let whole = self.name();
                self.add(&format!("P {whole} = {{y, {n}}}; @;"));
                whole
            }
        };
        self.add(&format!("auto [{a}, {b}] = {made}; @;"));
        match self.below(3) {
            0 => self.add(&format!("for (int i = 0; @, i < {b}; i++) x += {a} % 7;")),
            1 => {
                let i = self.name();
                self.add(&format!(
                    "@; int {i} = 0;\nwhile (@, {i} < {b} && {BURNS}) {i}++;"
                ));
            }
            _ => {
                let condition = self.condition();
                self.add(&format!("@; x = {condition} ? {a} : {b};"));
            }
        }
    }

    /// `if … else if … else`.
    fn branches(&mut self, depth: usize) {
        let condition = self.condition();
        self.open(&format!("if (@, {condition}) {{"));
        self.block(depth - 1, false, 2);
        for _ in 0..self.below(3) {
            let condition = self.condition();
            self.close(&format!("}} else if (@, {condition}) {{"));
            self.indent += 1;
            if self.chance(80) {
                self.block(depth - 1, false, 2);
            }
        }
        if self.chance(50) {
            self.close("} else {");
            self.indent += 1;
            self.block(depth - 1, false, 2);
        }
        self.close("}");
    }

    fn loop_of(&mut self, depth: usize) {
        let (i, n) = (self.name(), self.below(5));
        match self.below(4) {
            0 => self.open(&format!(
                "for (int {i} = 0; @, {i} < {n} && {BURNS}; {i}++) {{"
            )),
            1 => self.open(&format!(
                "int {i} = x & 3;\nwhile (@, {i}-- > 0 && {BURNS}) {{"
            )),
            2 => {
                self.open(&format!("int {i} = y & 3;\ndo {{"));
                self.block(depth - 1, true, 2);
                self.close(&format!("}} while (@, {i}-- > 0 && {BURNS});"));
                return;
            }
            _ => {
                let (key, value) = (self.name(), self.name());
                self.add(&format!(
                    "@; std::map<int, int> {i}{{{{1, x}}, {{2, {n}}}}};"
                ));
                self.open(&format!("for (const auto &[{key}, {value}] : {i}) {{"));
                self.add(&format!(
                    "for (int i = 0; @, i < {key} * 2; i++) x += {value} % 3;"
                ));
            }
        }
        self.block(depth - 1, true, 2);
        self.close("}");
    }

    /// A `switch` with cases of one value, of some and of many, in any order.
    fn switch(&mut self, depth: usize, in_loop: bool) {
        let mut labels = Vec::new();
        let mut least = -100 + self.below(60) as i32;
        for _ in 0..=self.below(4) {
            let more = [0, 0, 3, 12, 70, 100][self.below(6)];
            labels.push(match more {
                0 => format!("case {least}:"),
                _ => format!("case {least} ... {}:", least + more),
            });
            least += more + 1 + self.below(8) as i32;
        }
        if self.chance(50) {
            labels.push("default:".into());
        }
        for i in (1..labels.len()).rev() {
            labels.swap(i, self.random.below(i + 1));
        }
        self.open("switch (@, x % 200) {");
        let last = labels.len() - 1;
        for (i, label) in labels.iter().enumerate() {
            self.add(label);
            match self.below(4) {
                0 if i < last => {}
                1 if i < last => self.add(";"),
                _ => {
                    self.open("{");
                    self.statement(depth - 1, in_loop);
                    self.close("}");
                    if self.chance(70) {
                        self.add("@; break;");
                    }
                }
            }
        }
        self.close("}");
    }

    /// A `try` with clauses, each of which counts the line that it begins on.
    fn attempt(&mut self, depth: usize) {
        self.open("try {");
        self.statement(depth - 1, false);
        for _ in 0..=self.below(2) {
            let what = [
                "x",
                "std::runtime_error(\"r\")",
                "A(2)",
                "std::string(\"s\")",
            ];
            let (what, condition) = (what[self.below(4)], self.condition());
            self.add(&format!("if (@, {condition}) throw {what};"));
        }
        self.statement(depth - 1, false);
        let caught = ["int e", "const std::exception &e", "A e", "std::string e"];
        let (first, number) = (self.below(4), self.below(3));
        let types = (first..first + number).map(|i| caught[i % 4]);
        for ty in types.chain(["..."]) {
            if self.chance(70) {
                self.close(&format!("}} catch ({ty}) {{ @;"));
            } else {
                self.close(&format!("}}\ncatch ({ty})\n{{"));
            }
            self.indent += 1;
            match self.below(4) {
                0 => {}
                1 => {
                    let condition = self.condition();
                    self.add(&format!("if (@, {condition}) return x;"));
                }
                _ => self.statement(depth - 1, false),
            }
        }
        self.close("}");
    }
}
