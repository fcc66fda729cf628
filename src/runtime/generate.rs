//! The lists as text: headers of C and tables of the documentation.

use super::{Constant, Field, Struct, Type, abi, format};
use std::fmt::Write;
use std::path::Path;

/// The columns of a line of C.
const WIDTH: usize = 110;

fn c_type(ty: Type) -> String {
    match ty {
        Type::U8 => "uint8_t ".into(),
        Type::U32 => "uint32_t ".into(),
        Type::U64 => "uint64_t ".into(),
        Type::Pointer(to) => format!("{to} *"),
    }
}

/// A comment before what it is about, in lines of WIDTH.
fn comment(indent: &str, text: &str) -> String {
    let mut out = format!("{indent}/*");
    let mut column = out.len();
    for word in text.split_whitespace() {
        if column + 1 + word.chars().count() + 3 > WIDTH {
            let _ = write!(out, "\n{indent} *");
            column = indent.len() + 2;
        }
        let _ = write!(out, " {word}");
        column += 1 + word.chars().count();
    }
    out + " */\n"
}

/// `code`, and behind it what it is about where that fits.
fn explained(indent: &str, code: &str, about: &str) -> String {
    let line = format!("{indent}{code} /* {} */\n", about.trim());
    if line.chars().count() <= WIDTH {
        line
    } else {
        format!("{}{indent}{code}\n", comment(indent, about))
    }
}

fn constant(c: &Constant) -> String {
    let value = match u32::try_from(c.value) {
        Ok(value) => format!("{value}u"),
        Err(_) => format!("UINT64_C({:#x})", c.value),
    };
    explained("", &format!("#define {} {value}", c.name), c.about)
}

fn field(f: &Field) -> String {
    let elements = f.elements.map_or(String::new(), |n| format!("[{n}]"));
    let code = format!("{}{}{elements};", c_type(f.ty), f.name);
    explained("    ", &code, f.about)
}

fn structure(s: &Struct) -> String {
    let fields: String = s.fields.iter().map(field).collect();
    format!(
        "\n{}struct {} {{\n{fields}}};\n",
        comment("", s.about),
        s.name
    )
}

fn prototype(f: &abi::Function) -> String {
    let parameter = |(ty, name): &(Type, &str)| format!("{}{name}", c_type(*ty));
    let mut parameters: Vec<String> = f.parameters.iter().map(parameter).collect();
    if parameters.is_empty() {
        parameters.push("void".into());
    }
    let result = f.result.map_or("void ".into(), c_type);
    let code = format!("P3_HIDDEN {result}{}({});\n", f.name, parameters.join(", "));
    comment("", f.about) + &code
}

fn header(guard: &str, about: &str, constants: &[Constant], structs: &[Struct]) -> String {
    let about = format!("{about} Written by src/runtime/generate.rs.");
    let start = format!(
        "// SPDX-License-Identifier: MIT OR Apache-2.0\n{}#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n",
        comment("", &about)
    );
    let constants: String = constants.iter().map(constant).collect();
    let structs: String = structs.iter().map(structure).collect();
    start + &constants + &structs
}

fn abi_header() -> String {
    let about = "What rewritten modules and the runtime share in memory.";
    let structs = [
        format::SLOT,
        abi::TABLE,
        abi::SAMPLING,
        abi::PASSED,
        abi::ENTRY,
        abi::JUMPS,
        abi::MODULE,
    ];
    let header = header("P3_ABI_H", about, abi::CONSTANTS, &structs);
    let functions: String = abi::FUNCTIONS.iter().map(prototype).collect();
    let hidden = "\n#define P3_HIDDEN __attribute__((visibility(\"hidden\")))\n\n";
    header + hidden + &functions + "\n#endif\n"
}

const RAW: [Struct; 12] = [
    format::HEADER,
    format::BLOCK,
    format::FUNCTION,
    format::CHUNK,
    format::NAME_RECORD,
    format::STARTED_RECORD,
    format::SAMPLE_HEADER,
    format::ENTRY,
    format::BURST_RECORD,
    format::PATH_RECORD,
    format::CALL_RECORD,
    format::SHADOWS_RECORD,
];

fn format_header() -> String {
    let about = "The raw profile (docs/RAW_FORMAT.md). All numbers are in the byte order of the machine that wrote \
        them. The file is valid at any moment: counters and hash tables are mapped, the process may be killed.";
    header("P3_FORMAT_H", about, format::CONSTANTS, &RAW) + "\n#endif\n"
}

/// In bytes; pointers are not in files.
fn size(f: &Field) -> u32 {
    let one = match f.ty {
        Type::U8 => 1,
        Type::U32 => 4,
        Type::U64 => 8,
        Type::Pointer(_) => unreachable!("in a file"),
    };
    one * f.elements.unwrap_or(1)
}

fn table(s: &Struct) -> String {
    let mut out = "| offset | size | field | |\n|---:|---:|---|---|\n".to_string();
    let mut at = 0;
    for f in s.fields {
        let _ = writeln!(
            out,
            "| {at} | {} | `{}` | {} |",
            size(f),
            f.name,
            f.about.trim()
        );
        at += size(f);
    }
    out
}

/// The text with each table in its place: between `<!-- NAME -->` and the next empty line.
fn documented(text: &str) -> String {
    let structs = RAW.iter().chain([&format::SLOT]);
    structs.fold(text.to_string(), |text, s| {
        let (mark, table) = (format!("<!-- {} -->\n", s.name), table(s));
        let (before, rest) = text.split_once(&mark).expect("the place of a table");
        let (_, after) = rest.split_once("\n\n").expect("more text");
        format!("{before}{mark}{table}\n{after}")
    })
}

/// Holds a file, or writes it.
fn holds(file: &str, make: impl FnOnce(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let found = std::fs::read_to_string(&path).unwrap();
    let made = make(&found);
    if std::env::var("INSTA_UPDATE").is_ok_and(|v| v == "always") {
        std::fs::write(&path, made).unwrap();
    } else {
        assert!(
            found == made,
            "{file} is not as src/runtime says: INSTA_UPDATE=always writes it again"
        );
    }
}

#[test]
fn headers_and_documentation() {
    holds("runtime-c/core/p3_abi.h", |_| abi_header());
    holds("runtime-c/core/p3_format.h", |_| format_header());
    holds("docs/RAW_FORMAT.md", documented);
}

/// A structure of Rust and its list are as long, and C aligns no field of one: the table's offsets are right.
#[test]
fn no_gaps() {
    use zerocopy::byteorder::LE;
    let sizes = [
        size_of::<format::Header<LE>>(),
        size_of::<format::Block<LE>>(),
        size_of::<format::Function<LE>>(),
        size_of::<format::Chunk<LE>>(),
        size_of::<format::Name<LE>>(),
        size_of::<format::Started<LE>>(),
        size_of::<format::Sample<LE>>(),
        size_of::<format::Entry<LE>>(),
        size_of::<format::Burst<LE>>(),
        size_of::<format::BurstPath<LE>>(),
        size_of::<format::BurstCall<LE>>(),
        size_of::<format::Shadows<LE>>(),
        size_of::<format::Slot<LE>>(),
    ];
    let structs = RAW.into_iter().chain([format::SLOT]);
    for (s, rust) in structs.zip(sizes) {
        let mut at = 0;
        for f in s.fields {
            assert_eq!(
                at % (size(f) / f.elements.unwrap_or(1)),
                0,
                "{}.{}",
                s.name,
                f.name
            );
            at += size(f);
        }
        assert_eq!((at as usize, at % 8), (rust, 0), "{}", s.name);
    }
}
