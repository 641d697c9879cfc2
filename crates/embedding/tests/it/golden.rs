//! The shipped model computes exactly the numbers that training computed.

use codecompass_embedding::{Embedding, MAX_SIMILARITY, MODEL, Passage};

/// Written by `training/weights.py`. A line has the query, name, qualified name, doc, code, a checksum of each
/// embedding (components weighted by position), and the similarity.
const GOLDEN: &str = include_str!("golden.txt");

fn checksum(vector: Option<&Embedding>) -> i64 {
    let numbers = vector.iter().flat_map(|vector| vector.components()).zip(1i64..);
    numbers.map(|(number, place)| i64::from(*number) * place).sum()
}

#[test]
fn matches_training_output() {
    let mut lines = 0;
    for line in GOLDEN.lines() {
        let [question, name, qualified, doc, code, asked_sum, told_sum, near] =
            line.split('\t').collect::<Vec<_>>().try_into().expect("because a line has eight fields");
        let asked = MODEL.embed_query(question);
        let told = MODEL.embed_passage(&Passage { name, qualified, doc, code: [code, ""] });
        assert_eq!(checksum(asked.as_ref()).to_string(), asked_sum, "{question}");
        assert_eq!(checksum(told.as_ref()).to_string(), told_sum, "{name}");
        let similarity = asked.zip(told).map_or(0, |(asked, told)| asked.similarity(&told));
        assert_eq!(similarity.to_string(), near, "{question}: {name}");
        lines += 1;
    }
    assert!(lines > 3);
}

#[test]
fn query_is_closer_to_relevant_passage() {
    let asked = MODEL.embed_query("remove a file from disk").expect("because the text has words");
    let near = |name, code| {
        let passage = Passage { name, qualified: name, doc: "", code: [code, ""] };
        MODEL.embed_passage(&passage).expect("because the text has words").similarity(&asked)
    };
    let meant = near("unlink", "fn unlink(path: &Path) -> io::Result<()> { fs::remove_file(path) }");
    let other = near("parse_header", "fn parse_header(line: &str) -> Option<Header> { line.split_once(':') }");
    assert!(meant > other, "{meant} {other}");
    assert!((asked.similarity(&asked) - MAX_SIMILARITY).abs() < MAX_SIMILARITY / 64);
}
