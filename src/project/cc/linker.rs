//! Words that a compiler passes on to the linker: `-Wl,A,B` and `-Xlinker A`.

use super::word::Word;

/// Options of linkers that name a file to write, but for the program: their value is the next word or behind `=`.
const WRITES: [&str; 6] = [
    "--Map",
    "--dependency-file",
    "--out-implib",
    "--reproduce",
    "-Map",
    "-reproduce",
];

/// The words for the linker of one word of the compiler's.
fn linker_words(word: &Word) -> Option<Vec<&str>> {
    let Word::Option(words) = word else {
        return None;
    };
    match &words[..] {
        [list] => Some(list.strip_prefix("-Wl,")?.split(',').collect()),
        [option, value] if option == "-Xlinker" => Some(vec![value]),
        _ => None,
    }
}

/// Whether options for the linker name a function that runs before constructors or after destructors.
pub(crate) fn names_start_or_end(words: &[Word]) -> bool {
    let option = |w: &str| {
        let name = w.trim_start_matches('-').split('=').next();
        w.starts_with('-') && matches!(name, Some("init" | "fini"))
    };
    words.iter().filter_map(linker_words).flatten().any(option)
}

/// The program that options for the linker alone name.
pub(crate) fn output(words: &[Word]) -> Option<String> {
    let all: Vec<&str> = words.iter().filter_map(linker_words).flatten().collect();
    let mut output = None;
    let mut rest = all.iter();
    while let Some(word) = rest.next() {
        let named = match *word {
            "-o" | "--output" => rest.next().copied(),
            w => w.strip_prefix("--output=").or_else(|| attached_output(w)),
        };
        output = named.map(String::from).or(output);
    }
    output
}

/// The file in `-oFILE`. Other options of linkers begin with `-o`, too.
fn attached_output(word: &str) -> Option<&str> {
    let file = word.strip_prefix("-o")?;
    let is_other = file.is_empty() || file.starts_with("magic") || file.starts_with("utput");
    (!is_other).then_some(file)
}

/// The words of a link without those by which the linker would write the program elsewhere, or files beside it.
pub(crate) fn without_outputs(words: &[Word]) -> Vec<Word> {
    let names = [&["-o", "--output"], &WRITES[..]].concat();
    leave_out_options(words, &names, |word| attached_output(word).is_some())
}

/// The words of a link without options for the plug-in that optimises: linkers refuse them where there is no plug-in.
pub(crate) fn without_plugin_options(words: &[Word]) -> Vec<Word> {
    leave_out_options(words, &["-plugin-opt", "--plugin-opt"], |_| false)
}

/// The words of a link without these options for the linker, whose value is the next word or behind `=`, and without
/// those that `is_left_out` accepts.
fn leave_out_options(
    words: &[Word],
    options: &[&str],
    is_left_out: impl Fn(&str) -> bool,
) -> Vec<Word> {
    let mut is_value = false;
    let mut keeps = |word: &str| {
        if std::mem::take(&mut is_value) {
            return false;
        }
        is_value = options.contains(&word);
        let has_value = word
            .split_once('=')
            .is_some_and(|(option, _)| options.contains(&option));
        !is_value && !has_value && !is_left_out(word)
    };
    let kept = |word: &Word| {
        let Some(all) = linker_words(word) else {
            return Some(word.clone());
        };
        let is_list = matches!(word, Word::Option(words) if words.len() == 1);
        let left: Vec<&str> = all.into_iter().filter(|w| keeps(w)).collect();
        match &left[..] {
            [] => None,
            _ if is_list => Some(Word::Option(vec![format!("-Wl,{}", left.join(","))])),
            _ => Some(word.clone()),
        }
    };
    words.iter().filter_map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::super::arguments::CommandLine;
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        CommandLine::new(line.split(' ').map(String::from)).words
    }

    #[test]
    fn output_of_the_linker_is_found_in_every_form() {
        for line in [
            "-Wl,-o,p a.o",
            "-Xlinker -o -Xlinker p a.o",
            "-Wl,-o -Wl,p a.o",
            "-Wl,--output=p a.o",
            "-Wl,-o,q -Wl,-op a.o",
        ] {
            assert_eq!(output(&words(line)).as_deref(), Some("p"), "{line}");
        }
        for line in ["a.o -o p", "-Wl,-omagic a.o", "-Wl,--as-needed a.o"] {
            assert_eq!(output(&words(line)), None, "{line}");
        }
    }

    #[test]
    fn functions_outside_of_constructors_are_found_in_every_form() {
        for line in [
            "-Wl,-init,f a.o",
            "-Wl,-fini=f",
            "-Xlinker -init -Xlinker f",
            "-Wl,--init=f",
        ] {
            assert!(names_start_or_end(&words(line)), "{line}");
        }
        for line in ["-Wl,-initial a.o", "-init a.o", "-Wl,-soname,init"] {
            assert!(!names_start_or_end(&words(line)), "{line}");
        }
    }

    #[test]
    fn files_that_the_linker_writes_are_left_out() {
        for (line, expected) in [
            ("-Wl,-o,p,--as-needed a.o", "-Wl,--as-needed a.o"),
            ("-Wl,-Map=m -Wl,-Map,m a.o", "a.o"),
            (
                "-Xlinker -Map -Xlinker m -Xlinker -s a.o",
                "-Xlinker -s a.o",
            ),
            ("-Wl,-rpath,lib a.o -lm", "-Wl,-rpath,lib a.o -lm"),
        ] {
            assert_eq!(without_outputs(&words(line)), words(expected), "{line}");
        }
    }

    #[test]
    fn options_of_the_plugin_are_left_out() {
        for (line, expected) in [
            ("-Wl,-plugin-opt=O2,-s a.o", "-Wl,-s a.o"),
            ("-Wl,-plugin-opt,jobs=2 a.o", "a.o"),
            (
                "-Xlinker --plugin-opt -Xlinker O2 -Wl,-plugin,x a.o",
                "-Wl,-plugin,x a.o",
            ),
        ] {
            let left = without_plugin_options(&words(line));
            assert_eq!(left, words(expected), "{line}");
        }
    }
}
