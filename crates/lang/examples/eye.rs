//! x
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let e = codecompass_lang::extract(&a[1], std::fs::read(&a[2]).unwrap());
    let f = &e.facts;
    let every: usize = a[3].parse().unwrap();
    for s in f.symbols.iter().step_by(every) {
        println!(
            "{} {} | {:?} {:?} | {} | {}-{} name {} trait {:?} ord {}",
            s.kind,
            s.qualified_name,
            s.visibility,
            s.visibility_text,
            s.signature,
            s.lines.start,
            s.lines.end,
            s.name_line,
            s.impl_trait,
            s.ordinal
        );
    }
    for r in f.references.iter().step_by(every * 7) {
        println!(
            "  {}:{} {} {} of {:?} in {:?}",
            r.line,
            r.column,
            r.shape.as_str(),
            f.names[r.name as usize],
            r.qualifier.map(|q| &f.names[q as usize]),
            r.symbol.map(|s| &f.symbols[s as usize].qualified_name)
        );
    }
    for i in f.imports.iter().step_by(every) {
        println!("  {i:?}");
    }
    for c in f.chunks.iter() {
        println!(
            "  chunk {}-{} {}b {:?}",
            c.lines.start,
            c.lines.end,
            c.span.end - c.span.start,
            c.symbol.map(|s| (f.symbols[s as usize].kind.as_str(), &f.symbols[s as usize].qualified_name))
        );
    }
}
