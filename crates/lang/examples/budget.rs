//! x
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut p = tree_sitter::Parser::new();
    let mut run = |ext: &str, b: &[u8]| -> (usize, f64) {
        let l: tree_sitter::Language =
            if ext == "py" { tree_sitter_python::LANGUAGE.into() } else { tree_sitter_rust::LANGUAGE.into() };
        p.set_language(&l).unwrap();
        let mut n = 0usize;
        let t = std::time::Instant::now();
        let mut w = |_: &tree_sitter::ParseState| {
            n += 1;
            if t.elapsed().as_secs() > 30 {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        };
        let o = tree_sitter::ParseOptions::new().progress_callback(&mut w);
        let tr = p.parse_with_options(&mut |at, _| b.get(at..).unwrap_or(&[]), None, Some(o));
        if tr.is_none() {
            p.reset();
            println!("gave up");
        }
        (n, t.elapsed().as_secs_f64())
    };
    if a[1] == "hostile" {
        let n: usize = a[2].parse().unwrap();
        for (e, s) in [
            ("rs", "("),
            ("rs", "{"),
            ("rs", "fn f(){"),
            ("rs", "impl X for Y {"),
            ("rs", "<"),
            ("rs", "a<"),
            ("rs", "|x|"),
            ("rs", "#["),
            ("rs", "if a {} else "),
            ("rs", "} "),
            ("rs", "fn fn "),
            ("rs", "\u{fffd}"),
            ("rs", "\"\\"),
            ("rs", "/*"),
            ("py", "("),
            ("py", "[{("),
            ("py", "def f(:\n"),
            ("py", "class \n  "),
            ("py", "lambda "),
            ("py", "f\"{"),
            ("py", "\u{fffd} "),
            ("py", "print "),
            ("py", "if x:\n"),
            ("py", "x = "),
            ("py", "not "),
            ("py", "a if "),
        ] {
            let t = s.repeat(n / s.len());
            let (k, secs) = run(e, t.as_bytes());
            println!("{e} {s:?} {} bytes: {k} reports ({:.3}/byte) {secs:.2}s", t.len(), k as f64 / t.len() as f64);
        }
        return;
    }
    let mut worst = vec![];
    let mut stack = vec![std::path::PathBuf::from(&a[1])];
    while let Some(d) = stack.pop() {
        for e in std::fs::read_dir(&d).unwrap().flatten() {
            let q = e.path();
            if e.file_type().unwrap().is_dir() {
                stack.push(q);
                continue;
            }
            let Some(x) = q.extension().and_then(|x| x.to_str()).map(str::to_owned) else { continue };
            if x != "rs" && x != "py" {
                continue;
            }
            let b = std::fs::read(&q).unwrap();
            if b.len() < 2000 {
                continue;
            }
            let (k, s) = run(&x, &b);
            worst.push((k as f64 / b.len() as f64, k, b.len(), s, q));
        }
    }
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    for w in worst.iter().take(4) {
        println!("{w:?}");
    }
}
