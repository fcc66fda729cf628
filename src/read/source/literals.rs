//! Numbers and characters, as they are written.

use super::condition::{Range, Scanned};

/// The value of a literal with a sign, or of a word that means 0 or 1 in some language, in brackets or not.
pub(super) fn literal(scanned: &Scanned, mut range: Range) -> Option<i128> {
    while let Some(inside) = scanned.find_inside(&range) {
        range = inside;
    }
    let minus = range.len() == 2 && scanned.word(range.start) == "-";
    if range.len() != 1 && !minus {
        return None;
    }
    let value = value(scanned.word(range.end - 1))?;
    Some(if minus { -value } else { value })
}

fn value(word: &str) -> Option<i128> {
    match word {
        "NULL" | "nullptr" | "false" | "FALSE" => Some(0),
        "true" | "TRUE" => Some(1),
        _ if word.ends_with('\'') => character(word),
        _ => integer(word),
    }
}

fn integer(word: &str) -> Option<i128> {
    let digits: String = word.chars().filter(|c| !matches!(c, '\'' | '_')).collect();
    let lower = digits.to_ascii_lowercase();
    let (digits, radix) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 16),
        Some("0b") => (&lower[2..], 2),
        Some("0o") => (&lower[2..], 8),
        _ if lower.len() > 1 && lower.starts_with('0') => (&lower[1..], 8),
        _ => (&lower[..], 10),
    };
    let end = digits
        .find(|c: char| !c.is_digit(radix))
        .unwrap_or(digits.len());
    let suffix = &digits[end..];
    let integer = suffix.chars().all(|c| "ulziu0123456789".contains(c)) && !suffix.contains('.');
    integer.then(|| i128::from_str_radix(&digits[..end], radix).ok())?
}

/// The value of a character of C or Rust, with its prefix and quotes; `None` of several characters.
fn character(literal: &str) -> Option<i128> {
    let text = literal.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    // A plain `char` of C is a byte, and signed where these programs run; wider characters and those of Rust are not.
    let is_byte = text.len() == literal.len();
    let text = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let Some(escape) = text.strip_prefix('\\') else {
        let mut chars = text.chars();
        let only = chars.next().filter(|_| chars.as_str().is_empty());
        let has_value = |c: &char| c.is_ascii() || !is_byte;
        return only.filter(has_value).map(|c| i128::from(u32::from(c)));
    };
    let simple = match escape {
        "n" => Some(10),
        "t" => Some(9),
        "r" => Some(13),
        "a" => Some(7),
        "b" => Some(8),
        "f" => Some(12),
        "v" => Some(11),
        "\\" | "'" | "\"" | "?" => Some(i128::from(escape.as_bytes()[0])),
        _ => None,
    };
    let number = || {
        let hexadecimal = escape.strip_prefix('x');
        let (digits, radix) = hexadecimal.map_or((escape, 8), |digits| (digits, 16));
        let value = u8::from_str_radix(digits, radix).ok()?;
        Some(if is_byte {
            i128::from(value as i8)
        } else {
            i128::from(value)
        })
    };
    simple.or_else(number)
}

#[cfg(test)]
mod tests {
    use super::super::brackets::Tokens;
    use super::*;

    #[test]
    fn literals_have_the_values_that_compilers_give_them() {
        for (text, expected) in [
            ("'a'", Some(97)),
            (r"'\n'", Some(10)),
            (r"'\0'", Some(0)),
            (r"'\''", Some(39)),
            (r"'\101'", Some(65)),
            (r"'\xff'", Some(-1)),
            (r"L'\xff'", Some(255)),
            (r"b'\xff'", Some(255)),
            ("L'é'", Some(233)),
            // Two bytes of UTF-8 in C, one character in Rust.
            ("'é'", None),
            ("'ab'", None),
            (r"'\u{e9}'", None),
            ("3", Some(3)),
            ("-0x10", Some(-16)),
            ("1'000u", Some(1000)),
            ("((-'a'))", Some(-97)),
            ("017", Some(15)),
            ("true", Some(1)),
            ("nullptr", Some(0)),
            ("1.5", None),
            ("n", None),
            ("3 + 4", None),
        ] {
            let tokens = Tokens::read(text);
            let scanned = Scanned {
                text,
                tokens: &tokens,
                is_rust: false,
            };
            assert_eq!(literal(&scanned, 0..tokens.len()), expected, "{text}");
        }
    }
}
