pub fn greeting() -> String {
    "hello".to_string()
}
