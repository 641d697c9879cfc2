fn main() {
    let mut t = String::new();
    std::io::Read::read_to_string(&mut std::io::stdin(), &mut t).unwrap();
    let ext = std::env::args().nth(1).unwrap();
    let mut p = tree_sitter::Parser::new();
    let l: tree_sitter::Language =
        if ext == "py" { tree_sitter_python::LANGUAGE.into() } else { tree_sitter_rust::LANGUAGE.into() };
    p.set_language(&l).unwrap();
    println!("{}", tree_sitter::format_sexp(&p.parse(&t, None).unwrap().root_node().to_sexp(), 0));
}
