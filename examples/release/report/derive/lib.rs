//! `#[derive(FromJson)]` for structs with named fields, without a parser library: every field is read by its own name.

use proc_macro::{Delimiter, TokenStream, TokenTree};

fn fields(body: TokenStream) -> Vec<String> {
    let mut names = Vec::new();
    let mut last = None;
    let mut depth = 0; // of generic arguments
    let mut in_type = false;
    for token in body {
        match token {
            TokenTree::Ident(ident) if !in_type => last = Some(ident.to_string()),
            TokenTree::Punct(punct) => match punct.as_char() {
                ':' if !in_type => {
                    names.extend(last.take());
                    in_type = true;
                }
                '<' => depth += 1,
                '>' => depth -= 1,
                ',' if depth == 0 => in_type = false,
                _ => {}
            },
            _ => {}
        }
    }
    names
}

#[proc_macro_derive(FromJson)]
pub fn from_json(input: TokenStream) -> TokenStream {
    let mut name = None;
    let mut body = None;
    let mut after_struct = false;
    for token in input {
        match token {
            TokenTree::Ident(ident) if ident.to_string() == "struct" => after_struct = true,
            TokenTree::Ident(ident) if after_struct && name.is_none() => name = Some(ident.to_string()),
            TokenTree::Group(group) if name.is_some() && group.delimiter() == Delimiter::Brace => {
                body = Some(group.stream());
            }
            _ => {}
        }
    }
    let (name, body) = match (name, body) {
        (Some(name), Some(body)) => (name, body),
        _ => return "compile_error!(\"FromJson is for structs with named fields\");".parse().unwrap(),
    };
    let reads: String = fields(body)
        .iter()
        .map(|field| format!("{field}: ::json::FromJson::from_json(value.get(\"{field}\"))?,"))
        .collect();
    format!(
        "impl ::json::FromJson for {name} {{
            fn from_json(value: Option<&::json::Value>) -> Option<Self> {{
                let value = value?;
                Some({name} {{ {reads} }})
            }}
        }}"
    )
    .parse()
    .unwrap()
}
