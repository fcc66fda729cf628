use super::*;

fn read(text: &str) -> CommandLine {
    CommandLine::new(text.split_whitespace().map(String::from))
}

fn inputs(line: &CommandLine) -> Vec<&str> {
    let inputs = line.words.iter().filter_map(|w| match w {
        Word::Input(file) => Some(file.as_str()),
        _ => None,
    });
    inputs.collect()
}

#[test]
fn tasks_are_recognised() {
    for (text, task) in [
        ("-c a.c", Task::Compile),
        ("-O2 -c a.c b.cpp -o x.o", Task::Compile),
        ("a.o b.o -o prog", Task::Link),
        ("a.c", Task::Link),
        ("-shared -fPIC a.o -o liba.so", Task::Link),
        ("-E a.c", Task::Other),
        ("-S a.c", Task::Other),
        ("-M a.c", Task::Other),
        ("-r a.o b.o -o c.o", Task::Other),
        ("-Wl,-r a.o -o c.o", Task::Other),
        ("--version", Task::Other),
        ("-print-search-dirs a.c", Task::Other),
        ("-O2", Task::Other),
        ("-c all.h", Task::Other),
        ("-x c++-header all -o all.pch", Task::Other),
        ("-c a.c -emit-llvm", Task::Other),
        ("--precompile a.cppm -o a.pcm", Task::Other),
        ("-fdriver-only a.c", Task::Other),
        ("-c a.pcm -o a.o", Task::Compile),
        ("a.cppm b.CXX -o prog", Task::Link),
    ] {
        assert_eq!(read(text).task, task, "{text}");
    }
}

/// A module in two phases is compiled from what the first one made.
#[test]
fn files_of_modules_are_sources() {
    let line = read("-c a.pcm b.cppm c.ccm d.c++m");
    assert_eq!(line.sources().count(), 4);
    assert!(line.words[1..].iter().all(Word::has_bitcode));
    let quiet = read("-fmodule-output=a.pcm -fmodule-output -O2 -c a.cppm").quiet_options();
    assert_eq!(quiet, ["-O2", "-c", "-Qunused-arguments", "-w"]);
}

#[test]
fn control_flow_integrity_needs_optimising_links() {
    for (text, needs) in [
        ("-flto -fsanitize=cfi -c a.c", true),
        ("-fsanitize=address,cfi-icall a.o", true),
        ("-fsanitize=cfi -fno-sanitize=cfi-nvcall a.o", true),
        ("-fsanitize=cfi -fno-sanitize=undefined,cfi a.o", false),
        ("-fsanitize=cfi -fno-sanitize=all a.o", false),
        ("-fsanitize=kcfi a.o", false),
        ("-flto -fvirtual-function-elimination a.o", false),
    ] {
        assert_eq!(read(text).needs_lto().is_some(), needs, "{text}");
    }
}

#[test]
fn values_of_options_are_no_files() {
    let line =
        read("-I inc.c -D a.c -MF b.c -Xlinker c.o -L dir -l m -T script.o -u d.o -rpath e.o x.o");
    assert_eq!(line.sources().count(), 0);
    assert_eq!(inputs(&line), ["x.o"]);
}

#[test]
fn a_language_holds_until_the_next() {
    let line = read("-x c main.txt -x none util.c lib.a -xc++ - -o out");
    let languages: Vec<_> = line
        .words
        .iter()
        .filter_map(|w| match w {
            Word::Source { file, language } => Some((file.as_str(), language.as_deref())),
            _ => None,
        })
        .collect();
    let expected = [
        ("main.txt", Some("c")),
        ("util.c", None),
        ("-", Some("c++")),
    ];
    assert_eq!(languages, expected);
    assert_eq!(inputs(&line), ["lib.a"]);
}

#[test]
fn outputs_as_compilers_take_them() {
    for text in ["-o x a.o", "-ox a.o", "--output=x a.o", "-o y a.o -o x"] {
        assert_eq!(read(text).output().as_deref(), Some("x"), "{text}");
    }
    assert_eq!(read("-object a.o").output(), None);
    let objects = read("-c sub/a.c b.cpp").objects();
    assert_eq!(objects, [Path::new("a.o"), Path::new("b.o")]);
}

#[test]
fn response_files_are_read_as_the_shell_would() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.rsp");
    std::fs::write(&file, "-o \"a program\" one.o\n'two.o' -DX=\\\"y\\\"").unwrap();
    let line = CommandLine::new([format!("@{}", file.display())].into_iter());
    assert_eq!(line.output().as_deref(), Some("a program"));
    assert_eq!(
        line.arguments(),
        ["-o", "a program", "one.o", "two.o", "-DX=\"y\""]
    );
    // One that is not there is the compiler's to complain of.
    assert_eq!(read("@none a.o").arguments(), ["@none", "a.o"]);
}
