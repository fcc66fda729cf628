//! What every room uses, and what knows nothing of paths.
//!
//! Inside: errors that users can cause ([`error`]), typed indices ([`index`]), names of symbols and files as people and
//! formats take them ([`names`]), tables as text and CSV ([`table`]), styles of text ([`style`]), and the versions of
//! LLVM that have an engine ([`llvm`]).
//!
//! In: nothing of this crate. Out: types and functions without state.

pub mod error;
pub mod index;
pub mod llvm;
pub(crate) mod names;
pub(crate) mod rows;
pub(crate) mod style;
pub mod table;
