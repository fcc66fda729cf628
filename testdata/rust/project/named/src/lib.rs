//! A derived name: procedural macros run while cargo builds, and are compiled as they are.

use proc_macro::{TokenStream, TokenTree};

/// `fn name()` of a type.
#[proc_macro_derive(Named)]
pub fn named(item: TokenStream) -> TokenStream {
    let mut words = item.into_iter().filter_map(|t| match t {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    });
    words.find(|w| w == "struct").expect("a struct");
    let name = words.next().expect("a name");
    let code = format!("impl {name} {{ fn name() -> &'static str {{ \"{name}\" }} }}");
    code.parse().expect("an implementation")
}
