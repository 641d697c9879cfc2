//! Tests of case files: parsing, errors, and golden files.

use std::path::Path;

use codecompass_testkit::{Case, Edit, check_file};

fn parse(text: &str) -> Result<Case, String> {
    Case::parse(Path::new("x.case"), text).map_err(|error| error.to_string())
}

#[test]
fn parses_a_case() {
    let case = parse(
        "The title,\nin two lines.\n\n=== a.rs\nfn a() {}\n\n\\=== not a file\n\\\\? one backslash\n\n=== \"b c.rs\"\n=== feat: a.rs renamed d.rs\nfn d() {}\n\
         ? locate 'a b' --ref=feat --json\nexit 2\nstderr: one\nstderr:\nstderr: three\nout\n\n\\exit 1\n\\? x\n\n",
    );
    let case = case.expect("because the case is well formed");
    assert_eq!(case.title, "The title, in two lines.");
    let text = "fn a() {}\n\n=== not a file\n\\? one backslash\n";
    assert_eq!(case.files[0].edit, Edit::Write(text.to_owned()));
    assert_eq!((case.files[1].path.as_str(), &case.files[1].edit), ("b c.rs", &Edit::Write(String::new())));
    assert_eq!(case.branches[0].changes[0].edit, Edit::Rename("d.rs".to_owned(), Some("fn d() {}\n".to_owned())));
    let question = &case.queries[0];
    assert_eq!(question.words, ["locate", "a b", "--ref=feat", "--json"]);
    assert_eq!(question.ref_name(), Some("feat"));
    assert_eq!(question.without_ref(), ["locate", "a b", "--json"]);
    assert_eq!(question.expected.code, Some(2));
    assert_eq!(question.expected.stderr.as_deref(), Some("one\n\nthree"));
    assert_eq!(question.expected.stdout, "out\n\nexit 1\n? x");
    assert_eq!(question.expected.text(), "exit 2\nstderr: one\nstderr:\nstderr: three\nout\n\n\\exit 1\n\\? x");
    assert_eq!(case.indexed_branches(), ["feat"]);
}

#[test]
fn errors_carry_line_numbers() {
    let table = [
        ("", "x.case:1: a case starts with the sentence"),
        ("T.\n\n=== a\n", "x.case:4: the case has no query"),
        ("T.\n? locate 'x\n", "x.case:2: the quote ' is not closed"),
        ("T.\n=== a\n=== a\n? q\n", "x.case:3: a is written twice on main"),
        ("T.\n=== a\n\n=== f: b deleted\n? q\n", "x.case:4: there is no b on f to delete or rename"),
        ("T.\n=== a\n=== b\n=== f: a renamed b\n? q\n", "x.case:4: b already exists on f"),
        ("T.\n=== a\n=== f: a deleted\ntext\n? q\n", "x.case:3: a deleted file has no text"),
        ("T.\n=== ../a\n? q\n", "x.case:2: \"../a\" is outside"),
        ("T.\n=== main: a\n? q\n", "x.case:2: files of main are written without the branch name"),
        ("T.\n=== f: a\n=== b\n? q\n", "x.case:3: files of main come before"),
        ("T.\n=== f: from g\n? q\n", "x.case:2: there is no branch \"g\" yet"),
        ("T.\n=== a moved b\n? q\n", "x.case:2: expected `=== [BRANCH: ]PATH`"),
        ("T.\nroads: all but killed\n? q\n", "x.case:2: excluding a road requires a reason"),
        ("T.\nroads: all but flying because no\n? q\n", "x.case:2: there is no road \"flying\""),
        ("T.\nfolder: plain\n=== f: a\n? q\n", "x.case:3: a plain folder has no branches"),
        ("T.\nnot indexed: f\n? q\n", "not indexed: there is no branch \"f\""),
        ("T.\n? q\nexit soon\n", "x.case:2: expected `exit NUMBER`"),
        ("T.\n? q\nout\nexit 1\n", "x.case:2: `exit NUMBER` must directly follow the query"),
    ];
    for (text, message) in table {
        let told = parse(text).expect_err(text);
        assert!(told.contains(message), "{text:?}\n{told}");
    }
}

#[test]
fn golden_file_is_rewritten_only_on_request() {
    let folder = tempfile::TempDir::new().expect("because a temporary folder can be created");
    let path = folder.path().join("deep/answer.txt");
    let told = check_file(&path, "a\n", false).expect_err("because the file is missing");
    assert!(told.contains("UPDATE=1") && told.contains("+ a") && !path.exists(), "{told}");
    check_file(&path, "a\n", true).expect("because the file can be written");
    check_file(&path, "a\n", false).expect("because the text is equal");
    let told = check_file(&path, "b\n", false).expect_err("because the text differs");
    assert!(told.contains("- a\n+ b"), "{told}");
}
