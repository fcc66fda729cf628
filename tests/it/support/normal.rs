//! A module's text with names that say where a value is, not how many came before it.
//!
//! LLVM numbers what has no name, and what has the name of something else, by function; attributes and metadata by
//! module. A snapshot of such text changes in every line below an inserted one. Here a value is named by its block, a
//! block by the block of the input that control comes from, and attributes and branch weights by what they are.

use regex::{Captures, Regex};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"%([\w.$-]+)").unwrap());
static LABEL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^([\w.$-]+):").unwrap());
static TARGET: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"label %([\w.$-]+)").unwrap());
static DEFINITION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^  %([\w.$-]+) = ").unwrap());
static ATTRIBUTES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^attributes #(\d+) = \{ (.*) \}$").unwrap());
static GROUP: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" #(\d+)").unwrap());
static NODE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^!(\d+) = (.*)$").unwrap());
static NODE_NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"!(\d+)").unwrap());
static PROF: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"!prof !(\d+)").unwrap());

/// The names of values and blocks in a module's text, numbers left out.
pub(crate) fn names(text: &str) -> BTreeSet<String> {
    let all = text.lines().flat_map(|line| {
        let label = LABEL.captures(line);
        NAME.captures_iter(line).chain(label).map(|c| c[1].into())
    });
    all.filter(|n: &String| !is_number(n)).collect()
}

/// The text of a module as LLVM prints it, with names that do not change with code elsewhere. Names in `kept` stay.
pub(crate) fn normalised(text: &str, kept: &BTreeSet<String>) -> String {
    let text = with_inlined_metadata(&with_inlined_attributes(text));
    let (mut out, mut function) = (String::new(), Vec::new());
    for line in text.lines() {
        if line.starts_with("define ") || !function.is_empty() {
            function.push(line);
        } else {
            out += &format!("{line}\n");
        }
        if line == "}" {
            out += &Function::new(&function, kept).print(&function);
            function.clear();
        }
    }
    out
}

fn is_number(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_digit())
}

/// ` #3` becomes what group 3 holds: `#(nounwind)`. Lines that are of no use then are left out.
fn with_inlined_attributes(text: &str) -> String {
    let groups = text.lines().filter_map(|l| ATTRIBUTES.captures(l));
    let groups: HashMap<String, String> = groups.map(|c| (c[1].into(), c[2].into())).collect();
    let is_of_use = |l: &&str| !ATTRIBUTES.is_match(l) && !l.starts_with("; Function Attrs: ");
    let inline = |c: &Captures| match groups.get(&c[1]) {
        Some(attributes) => format!(" #({attributes})"),
        None => c[0].into(),
    };
    let lines = text.lines().filter(is_of_use);
    let lines = lines.map(|l| format!("{}\n", GROUP.replace_all(l, inline)));
    // The groups stand in a paragraph of their own.
    let text = lines.collect::<String>().replace("\n\n\n", "\n\n");
    format!("{}\n", text.trim_end())
}

/// `!prof !3` becomes what node 3 holds; other nodes are numbered as if there were no such node.
fn with_inlined_metadata(text: &str) -> String {
    let weights: BTreeSet<&str> = PROF
        .captures_iter(text)
        .map(|c| c.get(1).unwrap().as_str())
        .collect();
    let nodes = text.lines().filter_map(|l| NODE.captures(l));
    let nodes: Vec<(&str, &str)> = nodes.map(|c| c.extract().1).map(|[n, v]| (n, v)).collect();
    let value: HashMap<&str, &str> = nodes.iter().copied().collect();
    let others = nodes.iter().filter(|(n, _)| !weights.contains(n));
    let number: HashMap<&str, usize> = others.zip(0..).map(|((n, _), i)| (*n, i)).collect();
    let is_kept = |l: &&str| NODE.captures(l).is_none_or(|c| !weights.contains(&c[1]));
    let inline = |c: &Captures| format!("!prof {}", value[&c[1]]);
    let renumber = |c: &Captures| match number.get(&c[1]) {
        Some(n) => format!("!{n}"),
        None => c[0].into(),
    };
    let line = |l| {
        format!(
            "{}\n",
            NODE_NAME.replace_all(&PROF.replace_all(l, inline), renumber)
        )
    };
    text.lines().filter(is_kept).map(line).collect()
}

/// What values and blocks of one function are called.
struct Function {
    blocks: HashMap<String, String>,
    values: HashMap<String, String>,
}

/// A block as it is printed: its label and the lines below.
struct Block<'a> {
    label: String,
    lines: Vec<&'a str>,
}

impl Function {
    fn new(lines: &[&str], kept: &BTreeSet<String>) -> Self {
        let blocks = split_at_labels(lines);
        let names = name_blocks(&blocks, kept);
        let mut values = HashMap::new();
        for argument in NAME.captures_iter(lines[0]) {
            if is_number(&argument[1]) {
                values.insert(
                    argument[1].to_string(),
                    format!("argument.{}", &argument[1]),
                );
            }
        }
        for (i, block) in blocks.iter().enumerate() {
            let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
            let defined = block.lines.iter().filter_map(|l| DEFINITION.captures(l));
            let defined = defined.map(|c| c.extract().1).map(|[name]| name);
            for name in defined.filter(|n| !kept.contains(*n)) {
                let stem = stem(name, kept);
                let nth = seen.entry(stem).or_default();
                *nth += 1;
                let mut new = numbered(if stem.is_empty() { "_" } else { stem }, *nth);
                // The copy of a value of the input is not that value, even where nothing else uses it.
                if kept.contains(stem) || is_used_outside(name, i, &blocks) {
                    new = format!("{new}@{}", names[&block.label]);
                }
                assert!(!kept.contains(&new), "{new} is a name of the input");
                values.insert(name.into(), new);
            }
        }
        let blocks = names;
        Function { blocks, values }
    }

    fn print(&self, lines: &[&str]) -> String {
        lines
            .iter()
            .map(|l| format!("{}\n", self.line(l)))
            .collect()
    }

    fn line(&self, line: &str) -> String {
        let rename = |c: &Captures| {
            let name = &c[1];
            let new = self.blocks.get(name).or_else(|| self.values.get(name));
            format!("%{}", new.map_or(name, String::as_str))
        };
        let Some(label) = LABEL.captures(line) else {
            return NAME.replace_all(line, rename).into();
        };
        let name = &self.blocks[&label[1]];
        // Their order is that in which LLVM made the uses.
        let mut from: Vec<String> = NAME.captures_iter(line).map(|c| rename(&c)).collect();
        from.sort();
        if from.is_empty() {
            return format!("{name}:");
        }
        format!("{name}:  ; preds = {}", from.join(", "))
    }
}

fn split_at_labels<'a>(lines: &[&'a str]) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in &lines[1..lines.len() - 1] {
        let label = LABEL.captures(line).map(|c| c[1].to_string());
        if label.is_some() || blocks.is_empty() {
            let label = label.unwrap_or_else(|| "entry".into());
            let lines = Vec::new();
            blocks.push(Block { label, lines });
        }
        blocks.last_mut().unwrap().lines.push(line);
    }
    blocks
}

/// New blocks are called by what they are and by the block of the input that control came from last.
fn name_blocks(blocks: &[Block], kept: &BTreeSet<String>) -> HashMap<String, String> {
    let is_input = |label: &str| kept.contains(label) || label == "entry";
    let goes_to = |from: &Block, to: &str| {
        let targets = from.lines.iter().flat_map(|l| TARGET.captures_iter(l));
        targets.into_iter().any(|c| &c[1] == to)
    };
    let mut names: HashMap<String, String> = HashMap::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for block in blocks {
        if is_input(&block.label) {
            names.insert(block.label.clone(), block.label.clone());
            continue;
        }
        // Up along the first edges, each block once: in a circle of new blocks none is of the input.
        let (mut origin, mut passed) = (block, BTreeSet::new());
        while !is_input(&origin.label) && passed.insert(origin.label.as_str()) {
            let mut from = blocks.iter().filter(|b| goes_to(b, &origin.label));
            let Some(before) = from.find(|b| !passed.contains(b.label.as_str())) else {
                break;
            };
            origin = before;
        }
        let stem = match stem(&block.label, kept) {
            "" => "block",
            stem => stem,
        };
        let name = format!("{stem}@{}", origin.label);
        let nth = seen.entry(name.clone()).or_default();
        *nth += 1;
        names.insert(block.label.clone(), numbered(&name, *nth));
    }
    names
}

/// A name without the number by which LLVM made it unique: a name of the input, if one is left, or one without digits
/// at its end.
fn stem<'a>(name: &'a str, kept: &BTreeSet<String>) -> &'a str {
    let all = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let mut lengths = (all.len()..name.len()).rev();
    let longest = lengths.find(|&n| kept.contains(&name[..n]));
    longest.map_or(all, |n| &name[..n])
}

fn numbered(name: &str, nth: usize) -> String {
    match nth {
        1 => name.into(),
        n => format!("{name}.{n}"),
    }
}

fn is_used_outside(value: &str, block: usize, blocks: &[Block]) -> bool {
    let others = blocks.iter().enumerate().filter(|(i, _)| *i != block);
    let mut lines = others.flat_map(|(_, b)| &b.lines);
    lines.any(|l| NAME.captures_iter(l).any(|c| &c[1] == value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "define i32 @f(i32 %n) #0 {
entry:
  %p3.n = add i32 %n, 1
  br label %1

1:                                                ; preds = %5, %entry
  %2 = phi i32 [ 0, %entry ], [ %3, %5 ]
  %3 = add i32 %2, 1
  %4 = icmp eq i32 %3, 9
  br i1 %4, label %done, label %5

5:                                                ; preds = %1
  br label %1, !prof !0

done:                                             ; preds = %1
  ret i32 %3, !dbg !1
}

attributes #0 = { nounwind }

!0 = !{!\"branch_weights\", i32 1, i32 2}
!1 = !{}
";

    /// `OLD` with two more values in its entry, another group of attributes before and one more weight.
    const NEW: &str = "define i32 @f(i32 %n) #1 {
entry:
  %p3.n = add i32 %n, 1
  %0 = mul i32 %n, 3
  %p3.n1 = add i32 %0, 1
  br label %1, !prof !0

1:                                                ; preds = %entry, %5
  %2 = phi i32 [ 0, %entry ], [ %3, %5 ]
  %3 = add i32 %2, 1
  %4 = icmp eq i32 %3, 9
  br i1 %4, label %done, label %5

5:                                                ; preds = %1
  br label %1, !prof !1

done:                                             ; preds = %1
  ret i32 %3, !dbg !2
}

attributes #0 = { cold }
attributes #1 = { nounwind }

!0 = !{!\"branch_weights\", i32 7, i32 7}
!1 = !{!\"branch_weights\", i32 1, i32 2}
!2 = !{}
";

    #[test]
    fn added_statements_change_their_own_lines_alone() {
        let kept = ["n", "entry", "done"].map(String::from).into();
        let (old, new) = (normalised(OLD, &kept), normalised(NEW, &kept));
        let old_lines: BTreeSet<&str> = old.lines().collect();
        let added: Vec<&str> = new.lines().filter(|l| !old_lines.contains(l)).collect();
        let expected = [
            "  %_ = mul i32 %n, 3",
            "  %p3.n.2 = add i32 %_, 1",
            "  br label %block@entry, !prof !{!\"branch_weights\", i32 7, i32 7}",
        ];
        assert_eq!(added, expected, "{new}");
        assert!(new.contains("\nblock@entry:  ; preds = %block@entry.2, %entry\n"));
        assert!(
            new.contains("\n  %_.2@block@entry = add i32 %_, 1\n"),
            "{new}"
        );
        assert!(new.contains("#(nounwind) {\n") && new.ends_with("!dbg !0\n}\n\n!0 = !{}\n"));
    }

    /// `%i12` is the second copy of `%i`, or the copy of `%i1`: two values never get one name.
    #[test]
    fn copies_of_values_stay_apart() {
        let text = "define void @f() {
entry:
  %i = add i32 1, 1
  %i1 = add i32 %i, 1
  %i12 = add i32 %i1, 1
  %i3 = add i32 %i12, 1
  ret void
}
";
        let kept = ["i", "i1"].map(String::from).into();
        let lines = "  %i = add i32 1, 1\n  %i1 = add i32 %i, 1\n  %i1@entry = add i32 %i1, 1\n  \
                     %i@entry = add i32 %i1@entry, 1\n";
        assert!(normalised(text, &kept).contains(lines));
    }
}
