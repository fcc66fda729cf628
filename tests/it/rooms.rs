//! The order of modules, held: what `src/lib.rs` lists is what the sources import.
//!
//! Sources are read token by token, so that comments and strings do not count and the inside of macros does. Code of
//! tests is free: it compares stages with later ones.

use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, tokenize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Names that only some modules may mention: these, and those inside them.
const OWNERS: [(&str, &[&str]); 8] = [
    ("clap", &["cli"]),
    ("ratatui", &["cli"]),
    ("signal_hook", &["cli"]),
    ("llvm_ir", &["input/ir/lower"]),
    ("llvm_ir_analysis", &["input/ir/lower"]),
    ("inkwell", LLVM),
    ("llvm_sys", LLVM),
    ("unsafe", &["write/emit/llvm"]),
];

/// What writes LLVM.
const LLVM: &[&str] = &[
    "write/emit",
    "estimates/outlined/emit",
    "estimates/subpath/emit",
    "estimates/shadow/emit",
];

/// Rooms of estimates: modules, and those inside them. Who reads or changes exact profiling needs to open none of them.
const ESTIMATES: [&str; 6] = [
    "estimates/data/bursts",
    "estimates/data/number",
    "estimates/data/subpaths",
    "estimates/outlined",
    "estimates/subpath",
    "estimates/shadow",
];

/// The modules besides them that may import them, whatever the order: where one of several things is chosen, and an
/// estimate is one of these. In a build without the feature `estimates` others stand in their places.
const DOORS: [(&str, &str); 4] = [
    ("write/rewrite/estimates", "what a copy does"),
    ("read/watch/estimates", "what is looked at"),
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

    /// Checks a path that leads to the names at the front of `path`, in `base`: the root of the crate, or a room.
    fn import(&mut self, base: &str, path: &[Token]) {
        let name = path[0];
        let imported = format!("{base}{}", names(path).join("/"));
        let places = (self.place(&self.module), self.place(&imported));
        if places.0.is_some() && places.0 == places.1 {
            return;
        }
        if is_of_estimates(&imported) && !is_of_estimates(&self.module) {
            let Some(door) = door(&self.module) else {
                let module = &self.module;
                let imported = self.listed(&imported).unwrap_or(&imported);
                let problem = format!("{module} imports {imported}, a room of estimates");
                return self.report(name, &problem);
            };
            self.opened = Some(door);
            return;
        }
        let problem = match places {
            (_, None) => format!("{base}{} is no module of the list", name.text),
            (None, _) => format!("{} is not in the list of modules", self.module),
            (Some(here), Some(there)) if there > here => {
                let (own, imported) = (&self.order[here], &self.order[there]);
                format!("{own} imports {imported}, which comes after it")
            }
            _ => return,
        };
        self.report(name, &problem);
    }

    /// Where a module is in the list, or what it is in.
    fn place(&self, module: &str) -> Option<usize> {
        self.order.iter().position(|room| is_inside(module, room))
    }

    fn listed(&self, module: &str) -> Option<&str> {
        self.place(module).map(|place| self.order[place].as_str())
    }

    /// Checks what follows `crate::`, or what leads to a room: one path, or each path in braces.
    fn imports(&mut self, base: &str, tokens: &[Token]) {
        if after_words(tokens, &["{"]).is_none() {
            return self.import(base, tokens);
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
                self.import(base, &tokens[i + 1..]);
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
            if within {
                continue;
            }
            if let Some(names) = after_words(&tokens[i..], &["crate", ":", ":"]) {
                self.imports("", names);
            } else if let Some((base, names)) = climb(&tokens[i..], &self.module, depth) {
                self.imports(&base, names);
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

/// Where `super::`, as often as it stands at the front, leads from the file of `module`: the path of that module with a
/// slash behind it, and what follows. `None` without `super::`, or within the file: `depth` modules are open there.
fn climb<'t, 'a>(
    tokens: &'t [Token<'a>],
    module: &str,
    depth: usize,
) -> Option<(String, &'t [Token<'a>])> {
    let (mut rest, mut levels) = (tokens, 0);
    while let Some(after) = after_words(rest, &["super", ":", ":"]) {
        (rest, levels) = (after, levels + 1);
    }
    let parts: Vec<&str> = module.split('/').collect();
    let left = depth
        .checked_sub(levels)
        .filter(|left| levels > 0 && *left < parts.len())?;
    Some((
        parts[..left]
            .iter()
            .map(|part| format!("{part}/"))
            .collect(),
        rest,
    ))
}

/// The names of the path at the front: `a::b::C`.
fn names<'a>(path: &[Token<'a>]) -> Vec<&'a str> {
    let mut names = vec![path[0].text];
    let mut rest = &path[1..];
    while let Some([next, after @ ..]) = after_words(rest, &[":", ":"]) {
        if next.text == "{" {
            break;
        }
        names.push(next.text);
        rest = after;
    }
    names
}

/// The modules in the order in which data flows, from the list in the documentation of the crate.
fn order() -> Vec<String> {
    let docs = include_str!("../../src/lib.rs")
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
    assert!(tests.contains(&"copies/papers".into()), "one of them");
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

/// The modules that a file declares, without those of tests.
fn declared(text: &str) -> BTreeSet<&str> {
    let tokens = Code::new(text).tokens;
    let triples = tokens.windows(3);
    let modules = triples.filter(|t| t[0].text == "mod" && t[2].text == ";");
    modules.map(|t| t[1].text).collect()
}

/// Rooms are the folders of `src`; where the list names what is in a room, it names all of it.
#[test]
fn every_module_is_listed_once() {
    let order = order();
    let parts = |i: usize| order.iter().filter_map(move |m| m.split('/').nth(i));
    let rooms: BTreeSet<&str> = parts(0).collect();
    assert_eq!(rooms, declared(include_str!("../../src/lib.rs")));
    for room in rooms
        .iter()
        .filter(|room| !order.contains(&(**room).to_string()))
    {
        let inner = order
            .iter()
            .filter_map(|m| m.strip_prefix(room)?.strip_prefix('/'));
        let inner: BTreeSet<&str> = inner.filter_map(|m| m.split('/').next()).collect();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(room);
        let text = std::fs::read_to_string(path.join("mod.rs")).expect("readable");
        assert_eq!(inner, declared(&text), "{room}");
    }
    let distinct: BTreeSet<&String> = order.iter().collect();
    assert_eq!(distinct.len(), order.len());
}

#[test]
fn what_breaks_the_order_is_found() {
    let order = ["low", "input", "write/emit", "high", "cli"].map(str::to_string);
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
        ["src/low.rs:1: Error is no module of the list"]
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
        "estimates/data",
        "write/emit",
        "estimates/subpath/emit",
        "estimates/subpath/report",
        "write/rewrite",
    ]
    .map(str::to_string);
    let of = |path: &str, text: &str| findings(Path::new(path), text, &order);
    let text = "use crate::estimates::subpath::emit::X;";
    assert_eq!(
        of("low/a.rs", text),
        ["src/low/a.rs:1: low/a imports estimates/subpath/emit, a room of estimates"]
    );
    assert!(of("write/rewrite/estimates.rs", text).is_empty(), "a door");
    assert!(
        of("low/a.rs", "use crate::estimates::data::Estimated;").len() == 1,
        "it comes after"
    );
    assert!(
        of(
            "write/rewrite/a.rs",
            "use crate::estimates::data::Estimated;"
        )
        .is_empty()
    );
    assert_eq!(
        of(
            "write/rewrite/a.rs",
            "use crate::estimates::data::bursts::Bursts;"
        ),
        ["src/write/rewrite/a.rs:1: write/rewrite/a imports estimates/data, a room of estimates"]
    );
    assert!(of("estimates/subpath/report.rs", text).is_empty());
    assert_eq!(
        of(
            "estimates/subpath/emit.rs",
            "use crate::estimates::subpath::report::X;"
        ),
        [
            "src/estimates/subpath/emit.rs:1: estimates/subpath/emit imports estimates/subpath/report, which comes \
             after it"
        ]
    );
    assert_eq!(
        of("estimates/subpath/emit.rs", "use super::report::X;"),
        [
            "src/estimates/subpath/emit.rs:1: estimates/subpath/emit imports estimates/subpath/report, which comes \
             after it"
        ]
    );
    assert!(of("estimates/subpath/report.rs", "use super::emit::X;").is_empty());
}

#[test]
fn what_is_owned_elsewhere_is_found() {
    let order = ["low", "input", "write/emit", "high", "cli"].map(str::to_string);
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
            "input/ir/lower",
            "input/ir/lower/mod.rs",
        ),
        (
            "use inkwell::context;",
            "inkwell",
            "write/emit, estimates/outlined/emit, estimates/subpath/emit, estimates/shadow/emit",
            "write/emit/sys/mod.rs",
        ),
        (
            "fn f() { unsafe { g() } }",
            "unsafe",
            "write/emit/llvm",
            "write/emit/llvm/mod.rs",
        ),
    ] {
        let found = format!("src/ir/cfg.rs:1: {name} is seen by {owner} alone");
        assert_eq!(of("ir/cfg.rs", text), [found], "{text}");
        assert!(of(inside, text).is_empty(), "{text}");
    }
}
