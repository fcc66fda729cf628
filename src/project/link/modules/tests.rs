use super::*;

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(String::from).collect()
}

#[test]
fn options_that_read_or_write_other_files_go() {
    let flags = words(
        "-cc1 -triple x86_64-pc-linux-gnu -emit-obj -main-file-name a.c -dependency-file a.d -MT a.o -MP \
         -sys-header-deps -D X=1 -I inc -include all.h -O2 -ffunction-sections -fembed-bitcode=all -target-cpu x86-64",
    );
    let kept = "-cc1 -triple x86_64-pc-linux-gnu -main-file-name a.c -O2 -ffunction-sections -target-cpu x86-64";
    assert_eq!(code_flags(&flags), words(kept));
    assert_eq!(value(&flags, "-triple"), Some("x86_64-pc-linux-gnu"));
    assert_eq!(value(&flags, "-none"), None);
}

#[test]
fn names_are_relative_and_unique() {
    let file = |path: &str| relative_name(&Linked::File(path.into()));
    assert_eq!(file("./src/../a.o"), "src/a.o");
    assert_eq!(file("../../lib/b\n.o"), "lib/b_.o");
    let here = std::env::current_dir().unwrap().join("sub/c.o");
    assert_eq!(file(here.to_str().unwrap()), "sub/c.o");
    let mut taken = HashSet::new();
    let mut next = || make_unique("a.o".into(), &mut taken);
    assert_eq!([next(), next(), next()], ["a.o", "a.o-2", "a.o-3"]);
}

#[test]
fn files_take_the_places_of_others_inside_options_too() {
    let words = [
        Word::Output("prog".into()),
        Word::Input("a.o".into()),
        Word::Option(vec!["-Wl,--whole-archive,lib.a,-z,now".into()]),
        Word::Option(vec!["-Xlinker".into(), "b.o".into()]),
        Word::Input("c.o".into()),
    ];
    let by = ["a.o", "lib.a", "b.o"].map(|f| (f.to_string(), PathBuf::from(format!("/new/{f}"))));
    let replaced = replace_files(&words, &by.into());
    assert_eq!(
        replaced.join(" "),
        "/new/a.o -Wl,--whole-archive,/new/lib.a,-z,now -Xlinker /new/b.o c.o"
    );
}
