use super::super::condition::tests::find_at_mark;
use super::*;

/// The expression that a branch at `^` decides a part of, as its tree has it, and its conditions.
fn find(marked: &str, is_rust: bool) -> Option<(String, Vec<String>)> {
    find_at_mark(marked, is_rust, |scanned, offset| {
        let joined = describe_in_text(scanned, &find_at(scanned, offset)?);
        let texts = joined.operands.into_iter().map(|o| o.text).collect();
        Some((joined.tree.map_or("–".into(), |t| write_tree(&t)), texts))
    })
}

/// Conditions by number, `!`, and brackets around what is joined.
fn write_tree(tree: &Tree) -> String {
    let join = |parts: &[Tree], operator: &str| {
        let parts: Vec<String> = parts.iter().map(write_tree).collect();
        format!("({})", parts.join(operator))
    };
    match tree {
        Tree::Condition(i) => i.to_string(),
        Tree::Not(inner) => format!("!{}", write_tree(inner)),
        Tree::All(parts) => join(parts, "&"),
        Tree::Any(parts) => join(parts, "|"),
    }
}

#[test]
fn expressions_of_c_are_found_from_each_branch() {
    for (marked, tree, conditions) in [
        ("if (^a) x();", "0", &["a"][..]),
        ("if (a ^&& b) x();", "(0&1)", &["a", "b"]),
        ("if (^a && b) x();", "(0&1)", &["a", "b"]),
        ("if (a ^|| b && c) x();", "(0|(1&2))", &["a", "b", "c"]),
        ("if ((a ^|| b) && c) x();", "((0|1)&2)", &["a", "b", "c"]),
        ("if ((a || b) ^&& c) x();", "((0|1)&2)", &["a", "b", "c"]),
        ("if (!(a ^&& !b)) x();", "!(0&!1)", &["a", "b"]),
        ("if (f(a ^&& b) || c) x();", "(0&1)", &["a", "b"]),
        ("if (f(a && b) ^|| c) x();", "(0|1)", &["f(a && b)", "c"]),
        ("return ((a ^&& b));", "(0&1)", &["a", "b"]),
        ("x = (a ^&& b) == c;", "(0&1)", &["a", "b"]),
        ("x = y ? a ^&& b : c;", "(0&1)", &["a", "b"]),
        (
            "^while (p->n > 3 and not q.f()) x();",
            "(0&!1)",
            &["p->n > 3", "q.f()"],
        ),
        (
            "for (; i < n ^&& s[i] != ')'; i++) x();",
            "(0&1)",
            &["i < n", "s[i] != ')'"],
        ),
        ("do { x(); ^} while (a && b);", "(0&1)", &["a", "b"]),
        ("if (!a == b ^&& c) x();", "(0&1)", &["!a == b", "c"]),
        (
            "if ((x = f()) > 0 ^&& c) x();",
            "(0&1)",
            &["(x = f()) > 0", "c"],
        ),
        ("if (1 ^&& a) x();", "0", &["a"]),
        ("if (a ^&& \"text\") x();", "0", &["a"]),
        ("if (a ^&& 0) x();", "–", &["a"]),
        ("if (!0 ^|| a) x();", "–", &["a"]),
        ("^assert(a && b);", "(0&1)", &["a", "b"]),
    ] {
        let (found, texts) = find(marked, false).unwrap_or_default();
        assert_eq!(
            (&*found, &texts[..]),
            (tree, &conditions.map_texts()[..]),
            "{marked}"
        );
    }
    for marked in ["^switch (a && b) {", "for (auto &x ^: v) {"] {
        assert_eq!(find(marked, false), None, "{marked}");
    }
}

#[test]
fn expressions_of_rust_are_found_from_each_branch() {
    for (marked, tree, conditions) in [
        ("if ^a > 3 && b { x }", "(0&1)", &["a > 3", "b"][..]),
        (
            "if (a || ^b) && !(c > 2) { x }",
            "((0|1)&!2)",
            &["a", "b", "c > 2"],
        ),
        (
            "if let ^Some(x) = o && x > 2 { x }",
            "(0&1)",
            &["let Some(x) = o", "x > 2"],
        ),
        (
            "if let Some(x) = o && ^x > 2 { x }",
            "(0&1)",
            &["let Some(x) = o", "x > 2"],
        ),
        (
            "if a && let ^Some(x) = o { x }",
            "(0&1)",
            &["a", "let Some(x) = o"],
        ),
        ("let z = ^a && b;", "(0&1)", &["a", "b"]),
        ("v.any(|x| ^*x > 3 && b)", "(0&1)", &["*x > 3", "b"]),
        (
            "match a { 1 if ^b > 3 && c => 2, _ => 3 }",
            "(0&1)",
            &["b > 3", "c"],
        ),
        ("if ^a == &&b || c { x }", "(0|1)", &["a == &&b", "c"]),
    ] {
        let (found, texts) = find(marked, true).unwrap_or_default();
        assert_eq!(
            (&*found, &texts[..]),
            (tree, &conditions.map_texts()[..]),
            "{marked}"
        );
    }
    for marked in [
        "^match a { 1 => 2 }",
        "match a { ^Some(x) if x > 3 => 1, _ => 2 }",
    ] {
        assert_eq!(find(marked, true), None, "{marked}");
    }
}

trait Texts {
    fn map_texts(&self) -> Vec<String>;
}

impl Texts for &[&str] {
    fn map_texts(&self) -> Vec<String> {
        self.iter().map(|text| text.to_string()).collect()
    }
}
