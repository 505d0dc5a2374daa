fn main() {
    println!("{} {}", util::greeting(), shout::shout!("world"));
}
