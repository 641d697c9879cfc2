//! A symbol's content hash changes when its own text does, and only then.

use codecompass_lang::extract;

/// The content hash of the symbol with this qualified name.
fn hash(path: &str, text: &str, name: &str) -> u64 {
    let facts = extract(path, text.as_bytes().to_vec()).facts;
    let found = facts.symbols.iter().find(|symbol| symbol.qualified_name == name);
    found.unwrap_or_else(|| panic!("no {name} in {text}")).content_hash
}

fn is_same(path: &str, name: &str, before: &str, after: &str) -> bool {
    hash(path, before, name) == hash(path, after, name)
}

#[test]
fn irrelevant_edits_keep_the_hash() {
    let rust = "#[inline]\nfn a() {\n    b(); // why\n}\n";
    let cases = [
        ("a", "\n\n/// Docs.\n#[inline]\nfn a() {\n    b(); // why\n}\n", "moved, and docs added"),
        ("a", "#[inline]\r\nfn a() {\r\n    b(); // why  \r\n}\r\n", "line ends"),
        ("a", "#[inline]\nfn a() {\n\n    b(); // why\n}\nfn c() {}\n", "blank lines and neighbours"),
        ("a", "#[inline]\nfn a() {\n    fn n() {}\n    b(); // why\n}\n", "a child"),
    ];
    for (name, after, what) in cases {
        assert!(is_same("src/lib.rs", name, rust, after), "{what}");
    }
    let class = "class A:\n    x = 1\n\n    def f(self):\n        return 1\n";
    let other = "class A:\n    x = 1\n\n    @cache\n    def f(self):\n        return 2\n";
    assert!(is_same("a.py", "a.A", class, other), "a method changed");
    assert!(
        is_same("src/lib.rs", "E", "enum E {\n    A,\n}", "enum E {\n    /// B.\n    A(u8),\n    B,\n}"),
        "variants"
    );
}

#[test]
fn relevant_edits_change_the_hash() {
    let rust = "#[inline]\nfn a() {\n    b(); // why\n}\n";
    for after in [
        "fn a() {\n    b(); // why\n}\n",
        "#[inline]\nfn a() {\n    b(); // how\n}\n",
        "#[inline]\nfn a(x: u8) {\n    b(); // why\n}\n",
    ] {
        assert!(!is_same("src/lib.rs", "a", rust, after), "{after}");
    }
    let class = "class A:\n    def f(self):\n        return 1\n";
    assert!(!is_same("a.py", "a.A.f", class, "class A:\n    @cache\n    def f(self):\n        return 1\n"));
    assert!(!is_same("a.py", "a.A", class, "class A(B):\n    def f(self):\n        return 1\n"));
}

#[test]
fn ordinals_and_traits_distinguish_equals() {
    let text = "impl From<u8> for K { fn from() {} }\nimpl From<u16> for K { fn from() {} }\nfn x() {}\nfn x() {}\n";
    let facts = extract("src/lib.rs", text.as_bytes().to_vec()).facts;
    let seen: Vec<_> =
        facts.symbols.iter().map(|s| (s.qualified_name.as_str(), s.impl_trait.as_deref(), s.ordinal)).collect();
    let expected = [
        ("K", Some("From<u8>"), 0),
        ("K::from", Some("From<u8>"), 0),
        ("K", Some("From<u16>"), 0),
        ("K::from", Some("From<u16>"), 0),
        ("x", None, 0),
        ("x", None, 1),
    ];
    assert_eq!(seen, expected);
}
