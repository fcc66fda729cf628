//! Sets of DAG edges as text.

use super::ShareProblem;
use crate::base::index::{EdgeId, IdSet};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;

/// A set in base64: bit i of byte i / 8 is edge i.
pub(crate) fn encode_set(set: &IdSet<EdgeId>) -> String {
    let mut bytes = vec![0u8; set.capacity().div_ceil(8)];
    for i in set.iter().map(EdgeId::index) {
        bytes[i / 8] |= 1 << (i % 8);
    }
    BASE64.encode(bytes)
}

/// The set that [`encode_set`] wrote, over a DAG of `edges` edges.
///
/// # Errors
/// The text is no base64, or an edge is not below `edges`.
pub(super) fn decode_set(text: &str, edges: usize) -> Result<IdSet<EdgeId>, ShareProblem> {
    let bytes = BASE64.decode(text).map_err(ShareProblem::NotBase64)?;
    let mut set = IdSet::with_capacity(edges);
    let ones = (0..bytes.len() * 8).filter(|i| bytes[i / 8] >> (i % 8) & 1 == 1);
    for i in ones {
        if i >= edges {
            return Err(ShareProblem::NoSuchEdge { edge: i, edges });
        }
        set.insert(EdgeId::new(i));
    }
    Ok(set)
}
