use proc_macro::{Literal, TokenStream, TokenTree};

/// `shout!("x")` is "X!".
#[proc_macro]
pub fn shout(input: TokenStream) -> TokenStream {
    let text = input.to_string();
    let loud = format!("{}!", text.trim_matches('"').to_uppercase());
    TokenStream::from(TokenTree::Literal(Literal::string(&loud)))
}
