use codecompass_query::{Feature, Search, search};
use codecompass_store::{ProjectDir, Store};
use std::io::Write;
// tune PROJECT_DIR QUESTIONS.tsv LIMIT   (id \t query \t path#name|path#name ; name empty = file)
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let store = Store::open(&ProjectDir::new(&args[1])).unwrap();
    let views = store.views().unwrap();
    let snapshot = store.snapshot(&views[0].key).unwrap();
    let limit: usize = args[3].parse().unwrap();
    let out = std::io::stdout();
    let mut out = std::io::BufWriter::new(out.lock());
    if args.get(4).is_some() {
        let names: Vec<String> = Feature::ALL.iter().map(|f| format!("{}={}", f.key(), f.weight())).collect();
        println!("{}", names.join("\t"));
        return;
    }
    for line in std::fs::read_to_string(&args[2]).unwrap().lines() {
        let mut parts = line.splitn(3, '\t');
        let (id, query) = (parts.next().unwrap(), parts.next().unwrap());
        let start = std::time::Instant::now();
        let found = search(&snapshot, &Search::new(query, limit)).unwrap();
        let spent = start.elapsed().as_micros();
        writeln!(out, "Q\t{id}\t{spent}").unwrap();
        for place in &found.places {
            let name = place.symbol().map_or("", |s| &s.name);
            let values: Vec<String> = Feature::ALL
                .iter()
                .map(|f| {
                    let v = place.scores.value(*f);
                    if v == 0.0 { String::new() } else { format!("{v:.5}") }
                })
                .collect();
            writeln!(
                out,
                "{}\t{}\t{}\t{}\t{}",
                place.version.path,
                name,
                place.symbol().map_or("", |s| s.kind.as_str()),
                place.scores.total_units(),
                values.join("\t")
            )
            .unwrap();
        }
    }
}
