//! Random programs in C that ask a lot, deterministic by seed: loops of few iterations, returns from the middle, joined
//! conditions, calls with constants of functions that an optimiser may inline. They end, since loops are short and
//! calls are counted.

use super::generate::Random;
use std::fmt::Write;

const HEAD: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int sink, fuel;
int table[] = {3, 0, 7, 1, 9, 4, 2, 8};
static const char *const names[] = {"if", "x", "else", "while", "", "alpha"};
__attribute__((noinline)) static int ask(int x) {
  sink += x;
  return x * 7 % 11;
}
"#;
const KINDS: &[&str] = &[
    "static ",
    "static ",
    "__attribute__((noinline)) static ",
    "static inline ",
    "static inline __attribute__((always_inline)) ",
    "",
    "__attribute__((noinline)) ",
];
/// Loops are nested so deep in one function.
const LOOPS: usize = 2;

/// The names that code at one place may use, and where it is.
#[derive(Clone)]
struct Scope {
    variables: Vec<String>,
    /// What loops count by, which nothing else changes.
    counters: Vec<String>,
    depth: usize,
}

struct Generator {
    random: Random,
    text: String,
    names: usize,
    functions: Vec<String>,
}

/// A program of so many functions, each of which `main` calls with constants and in a loop.
pub(crate) fn program(functions: usize, seed: u64) -> String {
    let mut g = Generator {
        random: Random::new(seed),
        text: HEAD.into(),
        names: 0,
        functions: Vec::new(),
    };
    for n in 0..functions {
        g.function(n);
    }
    g.text += "int main(int argc, char **argv) {\n  int t = argc + (argv[0] == 0);\n";
    for n in 0..functions {
        for _ in 0..g.below(3) {
            let (a, b, name) = (g.below(10), g.below(6), g.below(6));
            let _ = writeln!(g.text, "  t += f{n}({a}, {b}, names[{name}]);");
        }
        let bound = g.below(6) + 1;
        let bound = g.one(&[bound.to_string(), format!("argc + {bound}")]);
        let (a, b) = (
            g.one(&["i", "i - 1", "i * 3", "7"]),
            g.one(&["i", "2", "5 - i"]),
        );
        let name = g.one(&["i % 6", "i * 5 % 6"]);
        let _ = writeln!(
            g.text,
            "  fuel = 1000;\n  for (int i = 0; i < {bound}; i++)"
        );
        let _ = writeln!(g.text, "    t += f{n}({a}, {b}, names[{name}]);");
    }
    g.text + "  printf(\"%d %d\\n\", t, sink);\n}\n"
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn one<T: ToString>(&mut self, of: &[T]) -> String {
        of[self.below(of.len())].to_string()
    }

    fn fresh(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    fn function(&mut self, n: usize) {
        let kind = self.one(KINDS);
        let _ = writeln!(
            self.text,
            "{kind}int f{n}(int a, int b, const char *s) {{\n  if (fuel-- < 0)\n    return 0;\n  int flag = 0;"
        );
        let scope = Scope {
            variables: ["a", "b", "flag"].map(String::from).into(),
            counters: Vec::new(),
            depth: 1,
        };
        let statements = self.below(5) + 2;
        self.statements(scope.clone(), statements);
        let result = self.value(&scope);
        let _ = writeln!(self.text, "  return {result};\n}}");
        self.functions.push(format!("f{n}"));
        if self.functions.len() > 4 {
            self.functions.remove(0);
        }
    }

    fn line(&mut self, scope: &Scope, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(scope.depth));
    }

    fn value(&mut self, scope: &Scope) -> String {
        let (a, b) = (self.one(&scope.variables), self.one(&scope.variables));
        let n = self.below(6) + 2;
        match self.below(8) {
            0 | 1 => a,
            2 => format!("{a} + {n}"),
            3 => format!("{a} * {n}"),
            4 => format!("{a} % {n}"),
            5 => format!("{a} - {b}"),
            6 => format!("table[{a} & 7]"),
            _ => n.to_string(),
        }
    }

    /// One operand.
    fn question(&mut self, scope: &Scope) -> String {
        let (a, b) = (self.one(&scope.variables), self.one(&scope.variables));
        let n = self.below(12);
        let word = self.one(&["if", "x", "else", "zz"]);
        let callee = (!self.functions.is_empty()).then(|| self.one(&self.functions.clone()));
        let argument = self.one(&[b.clone(), (n % 5).to_string()]);
        match (self.below(17), callee) {
            (0 | 1, Some(f)) => format!("{f}({a}, {argument}, s)"),
            (2, Some(f)) => format!("{f}({argument}, {a}, s) > {n}"),
            (3 | 4, _) => format!("{a} > {n}"),
            (5, _) => format!("{a} < {n}"),
            (6, _) => format!("{a} == {}", n % 6),
            (7, _) => format!("{a} % {} == {}", n % 4 + 2, n % 2),
            (8, _) => format!("{a} & {}", 1 << (n % 3)),
            (9, _) => format!("{a} > {b}"),
            (10, _) => format!("!{a}"),
            (11, _) => format!("ask({a}) > {n}"),
            (12, _) => format!("table[{a} & 7] > {n}"),
            (13, _) => format!("strcmp(s, \"{word}\") == 0"),
            (14, _) => format!("!strcmp(s, \"{word}\")"),
            (15, _) => format!("getenv(\"P3_NO_{n}\")"),
            _ => format!("strlen(s) > {}", n % 6),
        }
    }

    fn condition(&mut self, scope: &Scope) -> String {
        let first = self.question(scope);
        match self.below(10) {
            0 | 1 => format!("{first} && {}", self.question(scope)),
            2 => format!("{first} || {}", self.question(scope)),
            3 => format!(
                "{first} && ({} || {})",
                self.question(scope),
                self.question(scope)
            ),
            _ => first,
        }
    }

    fn statements(&mut self, mut scope: Scope, number: usize) {
        for _ in 0..number {
            self.statement(&mut scope);
        }
    }

    fn block(&mut self, scope: &Scope, counter: Option<&String>) {
        let mut inner = scope.clone();
        inner.depth += 1;
        inner.counters.extend(counter.cloned());
        inner.variables.extend(counter.cloned());
        let statements = self.below(3) + 1;
        self.statements(inner, statements);
    }

    fn statement(&mut self, scope: &mut Scope) {
        let may_nest = scope.depth < 4;
        let may_loop = may_nest && scope.counters.len() < LOOPS;
        match self.below(100) {
            0..10 => {
                let (name, value) = (self.fresh('v'), self.value(scope));
                self.line(scope, &format!("int {name} = {value};"));
                scope.variables.push(name);
            }
            10..20 => {
                let is_free = |v: &&String| !scope.counters.contains(v);
                let free: Vec<&String> = scope.variables.iter().filter(is_free).collect();
                let (name, value) = (self.one(&free), self.value(scope));
                self.line(scope, &format!("{name} = {value};"));
            }
            20..28 => {
                let a = self.one(&scope.variables);
                let calls = ["fputs(\"\", stdout);", "sink++;", "sink += atoi(s);"];
                let calls = calls.map(String::from).into_iter();
                let all: Vec<String> = calls.chain([format!("sink += ask({a});")]).collect();
                let call = self.one(&all);
                self.line(scope, &call);
            }
            28..36 => {
                let (condition, value) = (self.condition(scope), self.value(scope));
                self.line(scope, &format!("if ({condition})"));
                self.line(scope, &format!("  return {value};"));
            }
            36..40 if !scope.counters.is_empty() => {
                let condition = self.condition(scope);
                let leaves = self.one(&["break;", "continue;"]);
                self.line(scope, &format!("if ({condition})"));
                self.line(scope, &format!("  {leaves}"));
            }
            40..68 if may_nest => self.choice(scope),
            68..88 if may_loop => self.repetition(scope),
            88..92 if may_nest => self.switch(scope),
            _ => {
                let (asked, a, b) = (self.question(scope), self.value(scope), self.value(scope));
                self.line(scope, &format!("sink += {asked} ? {a} : {b};"));
            }
        }
    }

    fn choice(&mut self, scope: &Scope) {
        let condition = self.condition(scope);
        self.line(scope, &format!("if ({condition}) {{"));
        self.block(scope, None);
        if self.chance(40) {
            self.line(scope, "} else {");
            self.block(scope, None);
        }
        self.line(scope, "}");
    }

    fn repetition(&mut self, scope: &Scope) {
        let (name, a, n) = (
            self.fresh('i'),
            self.one(&scope.variables),
            self.below(4) + 1,
        );
        match self.below(4) {
            0 => {
                self.line(scope, &format!("int {name} = {a} & 7;"));
                self.line(scope, &format!("while ({name}-- > {n}) {{"));
                self.block(scope, Some(&name));
                self.line(scope, "}");
            }
            1 => {
                self.line(scope, &format!("int {name} = 0;"));
                self.line(scope, "do {");
                self.line(scope, &format!("  {name}++;"));
                self.block(scope, Some(&name));
                self.line(scope, &format!("}} while ({name} < {n});"));
            }
            _ => {
                let bounds = [n.to_string(), format!("{a} % 4"), format!("({a} & 3) + 1")];
                let bound = self.one(&bounds);
                self.line(
                    scope,
                    &format!("for (int {name} = 0; {name} < {bound}; {name}++) {{"),
                );
                self.block(scope, Some(&name));
                self.line(scope, "}");
            }
        }
    }

    fn switch(&mut self, scope: &Scope) {
        let a = self.one(&scope.variables);
        self.line(scope, &format!("switch ({a} & 7) {{"));
        let first = self.below(3);
        for case in first..first + 3 {
            self.line(scope, &format!("case {case}:"));
            self.block(scope, None);
            self.line(scope, "  break;");
        }
        self.line(scope, "}");
    }
}
