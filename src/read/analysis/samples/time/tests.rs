use super::*;
use crate::profile::tests::views;

/// A symbol, an image, a line and the samples there.
type Row<'a> = (&'a str, &'a str, Option<(&'a str, u32)>, u64);

fn samples(places: &[Row]) -> Samples {
    let place = |&(symbol, image, line, samples): &Row| {
        let place = Sampled {
            symbol: symbol.into(),
            image: image.into(),
            line: line.map(|(file, line): (&str, u32)| (file.to_string(), line)),
        };
        let weight = u128::from(samples) * 10;
        (place, Amount { samples, weight })
    };
    Samples {
        event: "cycles".into(),
        places: places.iter().map(place).collect(),
        ..Samples::default()
    }
}

fn find_function(profile: &Profile, name: &str) -> FuncId {
    let mut functions = profile.functions();
    let f = functions.find(|f| profile.entry(*f).name == name);
    f.unwrap()
}

#[test]
fn every_sample_belongs_to_a_function_or_is_outside() {
    let p = views::profile();
    let time = Time::new(
        &p,
        &samples(&[
            ("main", "/bin/demo", Some(("/else/main.c", 3)), 4),
            ("main.cold", "/bin/demo", Some(("main.c", 3)), 1),
            ("work", "/bin/demo", Some(("unknown.c", 3)), 2),
            ("_start", "/bin/demo", None, 1),
            ("main", "/usr/lib/libx.so.6", None, 3),
            ("memcpy", "/usr/lib/libx.so.6", None, 1),
            ("strlen", "/usr/lib/libx.so.6", None, 1),
            ("work", "/lib/libours.so", None, 5),
            ("main", "[kernel.kallsyms]", None, 6),
            ("", "", None, 1),
        ]),
    );
    let (main, work) = (find_function(&p, "main"), find_function(&p, "_Z4workv"));
    assert_eq!(
        (time.amount_in(main).samples, time.amount_in(work).samples),
        (5, 7)
    );
    assert_eq!(
        time.lines[&main].values().map(|a| a.samples).sum::<u64>(),
        5
    );
    assert!(!time.lines.contains_key(&work));
    let outside = time.outside.iter().map(|(name, a)| (&name[..], a.samples));
    let expected = [
        ("[kernel.kallsyms]", 6),
        ("libx.so.6", 5),
        ("[unknown]", 1),
        ("demo", 1),
    ];
    assert_eq!(outside.collect::<Vec<_>>(), expected);
    let shares = time
        .functions
        .values()
        .chain(time.outside.iter().map(|o| &o.1));
    let all: f64 = shares.map(|a| time.share(*a)).sum();
    assert!((all - 1.0).abs() < 1e-9);
}

/// By mangled and readable names, and as perf demangles; overloads only by what tells them apart.
#[test]
fn names_match_in_every_form() {
    let mut p = views::profile();
    let (a, b) = (find_function(&p, "main"), find_function(&p, "_Z4workv"));
    p.manifest.functions[a].name = "_ZNK2ns1AIlE1fEl".into();
    let found = |p: &Profile, symbol: &str| {
        let time = Time::new(p, &samples(&[(symbol, "/bin/demo", None, 1)]));
        (
            time.amount_in(a).samples,
            time.amount_in(b).samples,
            time.outside,
        )
    };
    for symbol in [
        "_ZNK2ns1AIlE1fEl",
        "ns::A<long>::f",
        "ns::A<long>::f(long) const",
        "_ZNK2ns1AIlE1fEl.cold",
        "_ZNK2ns1AIlE1fEl.llvm.123",
    ] {
        assert_eq!(found(&p, symbol), (1, 0, vec![]), "{symbol}");
    }
    p.manifest.functions[b].name = "_ZNK2ns1AIlE1fEi".into();
    assert_eq!(found(&p, "_ZNK2ns1AIlE1fEi"), (0, 1, vec![]));
    let outside = found(&p, "ns::A<long>::f").2;
    assert_eq!((&outside[0].0[..], outside[0].1.samples), (AMBIGUOUS, 1));
}

#[test]
fn names_lose_types() {
    for (name, expected) in [
        ("long ns::A<long>::f(long) const", "ns::A<long>::f"),
        ("void f<int>(int)", "f<int>"),
        ("main", "main"),
        ("(anonymous namespace)::f(int)", "(anonymousnamespace)::f"),
        (
            "main::{lambda(int)#1}::operator()(int) const",
            "main::{lambda(int)#1}::operator()",
        ),
        ("A::operator->()", "A::operator->"),
        ("operator<<(std::ostream&, int)", "operator<<"),
        (
            "std::map<int, std::vector<int> >::at(int const&)",
            "std::map<int,std::vector<int>>::at",
        ),
        ("é<ü>(", "é<ü>"),
    ] {
        assert_eq!(without_decoration(name), expected, "{name}");
    }
}
