//! LLVM's errors become ours.

use crate::base::error::Error;
use crate::base::llvm::{LINKED as LLVM, OLDEST_CLANG};
use crate::input::load::{Input, Kind};

/// The error for an input that LLVM cannot read ([`Error::Unreadable`]): what it said, in one line.
pub fn unreadable_error(input: &Input, message: &str) -> Error {
    let message = message.trim_start_matches("Failed to parse IR: ");
    let text = message.lines().next().unwrap_or_default();
    let path = input.path.display().to_string();
    let text = text.strip_prefix(&format!("{path}:")).unwrap_or(text);
    if text.contains("Expected a single module") {
        return Error::load(
            &input.path,
            "it holds several modules, as clang makes them by -flto=thin with -fwhole-program-vtables",
            "compile it with -flto=full, or with -fno-split-lto-unit",
        );
    }
    let newer = producer(text).filter(|p| major(p).is_some_and(|v| v > LLVM));
    match newer {
        Some(p) => Error::unreadable_input(
            &input.path,
            format!("bitcode of {p}, newer than LLVM {LLVM}"),
            format!("compile it with clang {LLVM} or older"),
        ),
        None => Error::unreadable_input(
            &input.path,
            format!("LLVM {LLVM} cannot read it: {}", text.trim()),
            remedy_for_old_text(input).unwrap_or_else(|| {
                format!("compile it again with clang {LLVM} or older (-emit-llvm)")
            }),
        ),
    }
}

/// What to do about text that was written before pointers lost their types, if the input is such text. LLVM upgrades
/// all of old bitcode, but not all of old text (callbr, some constant expressions).
pub fn remedy_for_old_text(input: &Input) -> Option<String> {
    let text = std::str::from_utf8(&input.bytes).ok()?;
    if input.kind != Kind::Text || !text.lines().any(has_typed_pointer) {
        return None;
    }
    let newest = OLDEST_CLANG - 1;
    Some(format!(
        "LLVM {newest} or older wrote it, since its pointers have types: assemble it by the llvm-as of that version, \
         whose bitcode is read"
    ))
}

/// Whether a line has the type of a typed pointer, outside of strings and comments.
fn has_typed_pointer(line: &str) -> bool {
    for part in line.split('"').step_by(2) {
        let code = part.split(';').next().unwrap_or_default();
        if ["* ", "*,", "*)"].iter().any(|end| code.contains(end)) {
            return true;
        }
        if code.len() < part.len() {
            return false;
        }
    }
    false
}

/// The producer that LLVM's bitcode errors name: `(Producer: 'LLVM20.1.0' Reader: …)`.
fn producer(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("Producer: '")?;
    Some(rest.split_once('\'')?.0)
}

fn major(producer: &str) -> Option<u32> {
    let digits = producer.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.split('.').next()?.parse().ok()
}
