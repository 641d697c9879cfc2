//! x
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let root = std::path::PathBuf::from(&args[1]);
    let mut files = vec![];
    let mut stack = vec![root.clone()];
    while let Some(d) = stack.pop() {
        for e in std::fs::read_dir(&d).unwrap().flatten() {
            let p = e.path();
            if p.file_name().unwrap() == ".git" {
                continue;
            }
            if e.file_type().unwrap().is_dir() {
                stack.push(p)
            } else if matches!(p.extension().and_then(|x| x.to_str()), Some("rs" | "py")) {
                files.push((p.strip_prefix(&root).unwrap().to_string_lossy().into_owned(), std::fs::read(&p).unwrap()));
            }
        }
    }
    files.sort();
    let bytes: usize = files.iter().map(|f| f.1.len()).sum();

    let (mut parse, mut ext, mut n) = (0.0, 0.0, 0);
    let (mut s, mut r, mut c, mut im, mut lines, mut names) = (0, 0, 0, 0, 0, 0);
    for (p, b) in &files {
        let (mut bp, mut be) = (f64::MAX, f64::MAX);
        for round in 0..5 {
            let t = std::time::Instant::now();
            let k = codecompass_lang::parse_only(p, b);
            bp = bp.min(t.elapsed().as_secs_f64());
            let t = std::time::Instant::now();
            let e = codecompass_lang::extract(p, b.clone());
            be = be.min(t.elapsed().as_secs_f64());
            if round == 0 {
                n += k;
                s += e.facts.symbols.len();
                r += e.facts.references.len();
                c += e.facts.chunks.len();
                im += e.facts.imports.len();
                lines += e.facts.lines;
                names += e.facts.names.len();
                for pr in &e.facts.problems {
                    if args.len() > 2 {
                        println!("{p} {pr:?}");
                    }
                }
            }
        }
        parse += bp;
        ext += be;
    }
    println!(
        "{} files {bytes} bytes {lines} lines {n} nodes; parse {parse:.3} extract {ext:.3} ratio {:.3}; symbols {s} refs {r} names {names} imports {im} chunks {c}",
        files.len(),
        ext / parse
    );
}
