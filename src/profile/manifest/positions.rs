//! The source positions of a block as the manifest stores them: numbers without keys, since most of a manifest is
//! positions.

use crate::input::ir::{Loc, Span};
use serde::{Deserialize, Serialize, Serializer};

/// How many numbers a span has: file, line, column, inlined call plus 1, instructions.
const NUMBERS: usize = 5;

/// The source positions of a block, in the order of its instructions. Stored as five numbers a span, in one list.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "Vec<u32>")]
pub struct Spans(pub Vec<Span>);

impl TryFrom<Vec<u32>> for Spans {
    type Error = &'static str;

    fn try_from(numbers: Vec<u32>) -> Result<Spans, Self::Error> {
        let (spans, []) = numbers.as_chunks::<NUMBERS>() else {
            return Err("the positions of a block are not five numbers each");
        };
        let span = |&[file, line, column, inlined, instructions]: &[u32; NUMBERS]| Span {
            loc: Loc { file, line },
            column,
            inlined: inlined.checked_sub(1),
            instructions,
        };
        Ok(Spans(spans.iter().map(span).collect()))
    }
}

impl Serialize for Spans {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers = |span: &Span| {
            let inlined = span.inlined.map_or(0, |call| call + 1);
            let Loc { file, line } = span.loc;
            [file, line, span.column, inlined, span.instructions]
        };
        serializer.collect_seq(self.0.iter().flat_map(numbers))
    }
}
