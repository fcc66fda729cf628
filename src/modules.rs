//! The order of modules, held: what `src/lib.rs` lists is what the sources import.
//!
//! Read token by token, so that comments and strings do not count and the inside of macros does. Code of tests is
//! free: it holds stages against later ones.

use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, tokenize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Names that only some modules may mention: these, and those inside them.
const OWNERS: [(&str, &[&str]); 8] = [
    ("clap", &["cli"]),
    ("ratatui", &["cli"]),
    ("signal_hook", &["cli"]),
    ("llvm_ir", &["ir/lower"]),
    ("llvm_ir_analysis", &["ir/lower"]),
    ("inkwell", LLVM),
    ("llvm_sys", LLVM),
    ("unsafe", &["emit"]),
];

/// What writes LLVM.
const LLVM: &[&str] = &["emit", "outlined/emit", "sampling/emit", "shadow/emit"];

/// Rooms of estimates: modules, and those inside them. Who reads or changes exact profiling needs to open none of them.
const ESTIMATES: [&str; 6] = [
    "estimate/bursts",
    "estimate/number",
    "estimate/subpaths",
    "outlined",
    "sampling",
    "shadow",
];

/// The modules besides them that may import them, whatever the order: where one of several things is chosen, and an
/// estimate is one of these. In a build without the feature `estimates` others stand in their places.
const DOORS: [(&str, &str); 4] = [
    ("rewrite/estimates", "what a copy does"),
    ("live/estimates", "what is looked at"),
    ("cli/prof/estimates", "commands that show estimates"),
    ("cli/prof/browse/estimates", "estimates on a screen"),
];

/// A word or a character of punctuation, and its line.
#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

/// A file without comments, literals and what `#[cfg(test)]` stands before.
#[derive(Default)]
struct Code<'a> {
    tokens: Vec<Token<'a>>,
    /// The modules `#[cfg(test)] mod NAME;`, whose files are code of tests.
    tests: Vec<&'a str>,
}

impl<'a> Code<'a> {
    fn new(text: &'a str) -> Self {
        let all = words(text);
        let mut code = Code::default();
        let mut rest = &all[..];
        while let Some((token, after)) = rest.split_first() {
            let Some(item) = after_words(rest, &["#", "[", "cfg", "(", "test", ")", "]"]) else {
                code.tokens.push(*token);
                rest = after;
                continue;
            };
            let (item, after) = item.split_at(length(item));
            if let [.., word, name, end] = item
                && (word.text, end.text) == ("mod", ";")
            {
                code.tests.push(name.text);
            }
            rest = after;
        }
        code
    }
}

fn words(text: &str) -> Vec<Token<'_>> {
    use TokenKind::{BlockComment, LineComment, Literal, Whitespace};
    let (mut at, mut line) = (0, 1);
    let mut words = Vec::new();
    for token in tokenize(text, FrontmatterAllowed::No) {
        let piece = &text[at..at + token.len as usize];
        let left_out = [
            matches!(token.kind, LineComment { .. } | BlockComment { .. }),
            matches!(token.kind, Literal { .. } | Whitespace),
        ];
        if left_out == [false; 2] {
            words.push(Token { text: piece, line });
        }
        at += piece.len();
        line += piece.matches('\n').count();
    }
    words
}

/// What follows `words`, if `tokens` begin with them.
fn after_words<'t, 'a>(tokens: &'t [Token<'a>], words: &[&str]) -> Option<&'t [Token<'a>]> {
    let (front, rest) = tokens.split_at_checked(words.len())?;
    let equal = front.iter().zip(words).all(|(t, w)| t.text == *w);
    equal.then_some(rest)
}

/// The number of tokens of the item at the front: up to its semicolon, or the end of its body.
fn length(tokens: &[Token]) -> usize {
    let mut open = 0;
    for (i, token) in tokens.iter().enumerate() {
        match token.text {
            "{" | "(" | "[" => open += 1,
            "}" | ")" | "]" => open -= 1,
            _ => {}
        }
        if open == 0 && ["}", ";"].contains(&token.text) {
            return i + 1;
        }
    }
    tokens.len()
}

/// A source file of the library.
struct Source<'a> {
    /// Below `src`.
    path: &'a Path,
    /// The module, like a path: `emit/read`.
    module: String,
    order: &'a [String],
    /// The door, if it imports a room of estimates through one.
    opened: Option<&'static str>,
    findings: Vec<String>,
}

impl Source<'_> {
    fn report(&mut self, at: Token, problem: &str) {
        let path = self.path.display();
        self.findings
            .push(format!("src/{path}:{}: {problem}", at.line));
    }

    /// A path that leads through the root of the crate to the name at the front of `path`.
    fn import(&mut self, path: &[Token]) {
        let name = path[0];
        let inner = match path {
            [_, a, b, inner, ..] if (a.text, b.text) == (":", ":") => inner.text,
            _ => "",
        };
        let own = self.module.split('/').next().expect("a name");
        let imported = format!("{}/{inner}", name.text);
        if is_of_estimates(&imported) && !is_of_estimates(&self.module) {
            let Some(door) = door(&self.module) else {
                let module = &self.module;
                let problem = format!("{module} imports {}, a room of estimates", name.text);
                return self.report(name, &problem);
            };
            self.opened = Some(door);
            return;
        }
        let problem = match (self.place(&self.module), self.place(&imported)) {
            (_, None) => format!("crate::{} is no module of the list", name.text),
            (None, _) => format!("{own} is not in the list of modules"),
            (Some(here), Some(there)) if there > here => {
                format!("{own} imports {}, which comes after it", name.text)
            }
            _ => return,
        };
        self.report(name, &problem);
    }

    /// Where the room of a module is in the list: that of its outermost module, or of one inside that.
    fn place(&self, module: &str) -> Option<usize> {
        self.order.iter().position(|room| is_inside(module, room))
    }

    /// What follows `crate::`: one name, or the first of each path in braces.
    fn imports(&mut self, tokens: &[Token]) {
        if after_words(tokens, &["{"]).is_none() {
            return self.import(tokens);
        }
        let mut open = 0;
        for (i, pair) in tokens[..length(tokens)].windows(2).enumerate() {
            open += match pair[0].text {
                "{" => 1,
                "}" => -1,
                _ => 0,
            };
            let begins = ["{", ","].contains(&pair[0].text) && pair[1].text != "}";
            if open == 1 && begins {
                self.import(&tokens[i + 1..]);
            }
        }
    }

    fn owned(&mut self, name: Token) {
        let Some((_, owners)) = OWNERS.iter().find(|(owned, _)| *owned == name.text) else {
            return;
        };
        if !owners.iter().any(|owner| is_inside(&self.module, owner)) {
            let owners = owners.join(", ");
            self.report(name, &format!("{} is seen by {owners} alone", name.text));
        }
    }

    fn read(&mut self, tokens: &[Token]) {
        // Of the file's modules and of every brace that is open: whether it is a module's.
        let mut scopes = vec![true; self.module.split('/').count()];
        for (i, token) in tokens.iter().enumerate() {
            match token.text {
                "{" => scopes.push(i > 1 && tokens[i - 2].text == "mod"),
                "}" => drop(scopes.pop()),
                _ => self.owned(*token),
            }
            let depth = scopes.iter().filter(|s| **s).count();
            let within = i > 0 && tokens[i - 1].text == ":";
            if let Some(names) = beyond_root(&tokens[i..], depth).filter(|_| !within) {
                self.imports(names);
            }
        }
    }
}

/// Whether `module` is `room`, or in it.
fn is_inside(module: &str, room: &str) -> bool {
    let rest = module.strip_prefix(room);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_of_estimates(module: &str) -> bool {
    ESTIMATES.iter().any(|room| is_inside(module, room))
}

/// The door that `module` is, or is in.
fn door(module: &str) -> Option<&'static str> {
    let mut doors = DOORS.iter().map(|(door, _)| *door);
    doors.find(|door| is_inside(module, door))
}

/// What follows `crate::`, or `super::` as often as leads out of `depth` modules.
fn beyond_root<'t, 'a>(tokens: &'t [Token<'a>], depth: usize) -> Option<&'t [Token<'a>]> {
    let root = after_words(tokens, &["crate", ":", ":"]);
    root.or_else(|| (0..depth).try_fold(tokens, |t, _| after_words(t, &["super", ":", ":"])))
}

/// The modules in the order in which data flows, from the list in the documentation of the crate.
fn order() -> Vec<String> {
    let docs = include_str!("lib.rs")
        .lines()
        .map_while(|l| l.strip_prefix("//!"));
    let list = docs.skip_while(|l| !l.contains("```")).skip(1);
    let list = list.take_while(|l| !l.contains("```"));
    list.filter_map(|l| l.split_whitespace().next().map(str::to_string))
        .collect()
}

/// What is wrong in one file, which is not code of tests.
fn findings(path: &Path, text: &str, order: &[String]) -> Vec<String> {
    read(path, text, order).findings
}

fn read<'a>(path: &'a Path, text: &str, order: &'a [String]) -> Source<'a> {
    let module = path.with_extension("").display().to_string();
    let mut source = Source {
        path,
        module: module.trim_end_matches("/mod").to_string(),
        order,
        opened: None,
        findings: Vec::new(),
    };
    source.read(&Code::new(text).tokens);
    source
}

/// The files of the library with their paths below `src`, by path.
fn files() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let all = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter();
    let all = all.map(|f| f.expect("readable").into_path());
    let rust = all.filter(|f| f.extension().is_some_and(|e| e == "rs"));
    let read = rust.map(|f| {
        let below = f.strip_prefix(&root).expect("below it").to_path_buf();
        (below, std::fs::read_to_string(&f).expect("readable"))
    });
    read.filter(|(f, _)| !f.starts_with("bin")).collect()
}

/// Where the modules that the file at `path` declares have theirs: files without `.rs`, or folders.
fn folder(path: &Path) -> PathBuf {
    match path.file_name().and_then(|n| n.to_str()) {
        Some("mod.rs" | "lib.rs") => path.with_file_name(""),
        _ => path.with_extension(""),
    }
}

#[test]
fn modules_import_only_from_those_above_them() {
    let (order, files) = (order(), files());
    let mut tests = Vec::new();
    for (path, text) in &files {
        let declared = Code::new(text).tests;
        tests.extend(declared.iter().map(|name| folder(path).join(name)));
    }
    assert!(tests.contains(&"modules".into()), "this one");
    let is_test = |f: &Path| tests.iter().any(|t| f.with_extension("").starts_with(t));
    let mut all = Vec::new();
    let mut closed: BTreeSet<&str> = DOORS.iter().map(|(door, _)| *door).collect();
    for (path, text) in files.iter().filter(|(f, _)| !is_test(f)) {
        if path != Path::new("lib.rs") {
            let source = read(path, text, &order);
            source.opened.map(|door| closed.remove(door));
            all.extend(source.findings);
        }
    }
    let closed = closed
        .iter()
        .map(|door| format!("{door} is no door any more"));
    all.extend(closed);
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// The declarations beneath the list are sorted, as rustfmt wants them.
#[test]
fn every_module_is_listed_once() {
    let lib = Code::new(include_str!("lib.rs")).tokens;
    let pairs = lib.windows(2).filter(|pair| pair[0].text == "mod");
    let declared: Vec<&str> = pairs.map(|pair| pair[1].text).collect();
    let listed = order();
    let listed = listed
        .iter()
        .map(|room| room.split('/').next().expect("a name"));
    let listed: BTreeSet<&str> = listed.collect();
    assert_eq!(Vec::from_iter(listed), declared);
    let mut rooms = order();
    rooms.sort();
    rooms.dedup();
    assert_eq!(rooms.len(), order().len());
}

#[test]
fn what_breaks_the_order_is_found() {
    let order = ["low", "ir", "emit", "high", "cli"].map(str::to_string);
    let of = |path: &str, text: &str| findings(Path::new(path), text, &order);
    let line = "low imports high, which comes after it";
    for text in [
        "use crate::high::X;",
        "use crate::{low::Y, high::X};",
        "fn f() { g(crate::high::X) }",
        "fn f() { println!(\"{}\", crate::high::X) }",
        "use super::high;",
        "mod inner { use super::super::high; }",
    ] {
        assert_eq!(
            of("low.rs", text),
            [format!("src/low.rs:1: {line}")],
            "{text}"
        );
        assert!(of("high/mod.rs", text).is_empty(), "{text}");
    }
    assert_eq!(
        of("low/a.rs", "\nuse super::super::high;"),
        [format!("src/low/a.rs:2: {line}")]
    );
    assert_eq!(
        of("low.rs", "use crate::Error;"),
        ["src/low.rs:1: crate::Error is no module of the list"]
    );
    for text in [
        "// crate::high\nconst S: &str = \"crate::high\";",
        "#[cfg(test)]\nmod tests { use crate::high::X; }",
        "#[cfg(test)]\npub mod tests { use crate::high::X; }",
        "#[cfg(test)]\nuse crate::high::X;",
        "/// [`crate::high`]\nmod inner { use super::high; }",
        "use crate::low::{high, X};",
    ] {
        assert!(of("low.rs", text).is_empty(), "{text}");
    }
    let after = "#[cfg(test)] mod tests; use crate::high::X;";
    assert_eq!(of("low.rs", after).len(), 1);
}

#[test]
fn import_of_an_estimate_is_found() {
    let order = [
        "low",
        "estimate",
        "emit",
        "sampling/emit",
        "sampling/report",
        "rewrite",
    ]
    .map(str::to_string);
    let of = |path: &str, text: &str| findings(Path::new(path), text, &order);
    let text = "use crate::sampling::emit::X;";
    assert_eq!(
        of("low/a.rs", text),
        ["src/low/a.rs:1: low/a imports sampling, a room of estimates"]
    );
    assert!(of("rewrite/estimates.rs", text).is_empty(), "a door");
    assert!(
        of("low/a.rs", "use crate::estimate::Estimated;").len() == 1,
        "it comes after"
    );
    assert!(of("rewrite/a.rs", "use crate::estimate::Estimated;").is_empty());
    assert_eq!(
        of("rewrite/a.rs", "use crate::estimate::bursts::Bursts;"),
        ["src/rewrite/a.rs:1: rewrite/a imports estimate, a room of estimates"]
    );
    assert!(of("sampling/report.rs", text).is_empty());
    assert_eq!(
        of("sampling/emit.rs", "use crate::sampling::report::X;"),
        ["src/sampling/emit.rs:1: sampling imports sampling, which comes after it"]
    );
}

#[test]
fn what_is_owned_elsewhere_is_found() {
    let order = ["low", "ir", "emit", "high", "cli"].map(str::to_string);
    let of = |path: &str, text: &str| findings(Path::new(path), text, &order);
    for (text, name, owner, inside) in [
        ("use clap::Parser;", "clap", "cli", "cli/prof/mod.rs"),
        (
            "#[derive(clap::ValueEnum)] enum E {}",
            "clap",
            "cli",
            "cli/mod.rs",
        ),
        (
            "fn f(m: &llvm_ir::Module) {}",
            "llvm_ir",
            "ir/lower",
            "ir/lower/mod.rs",
        ),
        (
            "use inkwell::context;",
            "inkwell",
            "emit, outlined/emit, sampling/emit, shadow/emit",
            "emit/sys/mod.rs",
        ),
        ("fn f() { unsafe { g() } }", "unsafe", "emit", "emit.rs"),
    ] {
        let found = format!("src/ir/cfg.rs:1: {name} is seen by {owner} alone");
        assert_eq!(of("ir/cfg.rs", text), [found], "{text}");
        assert!(of(inside, text).is_empty(), "{text}");
    }
}
