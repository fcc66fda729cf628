//! Which arguments are alike.

use super::*;

fn arguments(words: &[&str]) -> Arguments {
    words.iter().map(|w| w.as_bytes().to_vec()).collect()
}

fn counts(runs: &[&[&str]]) -> ArgumentCounts {
    let mut counts = ArgumentCounts::default();
    for run in runs {
        counts.add(&arguments(run), 1);
    }
    counts
}

fn form_of_word(word: &str) -> String {
    let form = comparable_form(&arguments(&[word]));
    String::from_utf8(form.concat()).unwrap()
}

#[test]
fn names_that_are_new_every_time_are_replaced() {
    for (word, expected) in [
        ("/tmp/tmp.Xa9bQ1zz01", "/tmp/tmp.*"),
        ("/tmp/jq.AbCdEf/in.json", "/tmp/jq.*/in.json"),
        ("/tmp/tmpk3j_x0qa", "/tmp/*"),
        ("--file=/var/tmp/ccq1W2e3.o", "--file=/var/tmp/*.o"),
        ("tmp.q0W1e2/x", "tmp.*/x"),
        ("in-31415", "in-*"),
        ("out/in31415.txt", "out/in*.txt"),
        ("/a/run/copy-12/work/in", "/a/run/copy-*/work/in"),
    ] {
        assert_eq!(form_of_word(word), expected, "{word}");
    }
}

#[test]
fn numbers_and_options_stay_as_they_are() {
    for word in [
        "300",
        "-n300",
        "3.14159",
        "seed=12345",
        "--level=300",
        "in-31",
        "/usr/share/file.txt",
        "/tmp/in.txt",
        "s/abcdefgh/ijklmnop/",
        "",
    ] {
        assert_eq!(form_of_word(word), word);
    }
}

#[test]
fn arguments_in_excess_on_one_side_are_no_difference() {
    let (three, two) = (
        counts(&[&["a"], &["b"], &["-9"]]),
        counts(&[&["b"], &["a"]]),
    );
    assert_eq!(three.difference(&two), None);
    assert_eq!(two.difference(&three), None);
    assert_ne!(three, two);
    let other = counts(&[&["a"], &["c"]]);
    assert_eq!(other.difference(&two).unwrap(), "c instead of b");
    let (often, seldom) = (
        counts(&[&["a"], &["a"], &["b"]]),
        counts(&[&["a"], &["b"], &["b"]]),
    );
    assert_eq!(often.difference(&seldom).unwrap(), "a instead of b");
}

#[test]
fn temporary_names_are_no_difference_and_are_reported_as_they_were() {
    let (a, b) = (
        counts(&[&["/tmp/jq.AbCdEf", "x"]]),
        counts(&[&["/tmp/jq.012345", "x"]]),
    );
    assert_eq!(a.difference(&b), None);
    assert_eq!(a, b);
    let other = counts(&[&["/tmp/jq.012345", "y"]]);
    let difference = a.difference(&other).unwrap();
    assert_eq!(difference, "/tmp/jq.AbCdEf x instead of /tmp/jq.012345 y");
}

/// However many arguments runs have, memory is bounded, and copies that differ are found.
#[test]
fn many_arguments() {
    let runs = |of: &mut dyn Iterator<Item = u32>| {
        let mut counts = ArgumentCounts::default();
        of.for_each(|n| counts.add(&[b"-n".to_vec(), n.to_string().into()], 1));
        counts
    };
    let most = ArgumentCounts::MOST as u32;
    let (up, down) = (runs(&mut (0..=most)), runs(&mut (0..=most).rev()));
    assert!(up.more && up.runs.len() == ArgumentCounts::MOST);
    assert_eq!(up.difference(&down), None);
    let other = runs(&mut (1..=most + 1));
    let difference = up.difference(&other).unwrap();
    assert_eq!(
        difference,
        "there are more than 4096, so it is not known which differ"
    );
    assert!(!runs(&mut (0..most)).more);
    // Words are told from their neighbours.
    assert_ne!(counts(&[&["a", "b"]]).digest, counts(&[&["a\0b"]]).digest);
}

#[test]
fn arguments_are_quoted_as_a_shell_takes_them() {
    let quoted = |words: &[&str]| shell_words(&arguments(words));
    assert_eq!(quoted(&[]), "none");
    assert_eq!(
        quoted(&["-o", "a/b.c,d=1:2%@+_", "7"]),
        "-o a/b.c,d=1:2%@+_ 7"
    );
    assert_eq!(
        quoted(&["", "a b", "\x1b", "x;y"]),
        r#""" "a b" "\u{1b}" "x;y""#
    );
    assert_eq!(quoted(&[&"x".repeat(200)]), "x".repeat(200));
    assert_eq!(quoted(&[&"x".repeat(201)]), "x".repeat(200) + "…");
}
