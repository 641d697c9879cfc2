//! Every occurrence of a name is classified: the classes add up to the matches of a text search for the word.
//!
//! The code is assembled at random from lines of five languages without strings and comments, with a small set of names
//! in every position that a name can have. Much of it is meaningless, and some is malformed; each word is a name all
//! the same.

use crate::support;

use std::collections::BTreeSet;

use codecompass_testkit::{Repository, Rng};
use support::Project;

const NAMES: &[&str] = &["alpha", "beta", "gamma", "delta", "Sigma", "Theta", "Omega"];

/// Lines with `$` as a placeholder for a name.
const PYTHON: &[&str] = &[
    "import $.$ as $",
    "from $.$ import $, $ as $",
    "def $($, $=1, *$):\n    $ = $($=$)\n    return $.$.$($)",
    "class $($, $.$):\n    $: $ = 1\n    def $(self, $):\n        self.$ = $\n        return self.$($)",
    "@$.$($=1)\ndef $(): global $; yield $",
    "for $ in $.$(): $ = [$ for $ in $ if $]",
    "$ = lambda $: $.$",
    "match $:\n    case $($=$): pass",
    "def $(:",
];
const RUST: &[&str] = &[
    "use crate::$::{$, $ as $};",
    "pub fn $<$: $>($: &$) -> $ { let $ = $.$($); $::$($) }",
    "struct $ { $: $, $: Vec<$> }",
    "impl $ for $ { fn $(&self) -> $ { $ { $, $: $ } } }",
    "trait $: $ { type $; fn $(&self); }",
    "#[$($ = $)]\nconst $: $ = $!($, $.$(), [$]);",
    "macro_rules! $ { () => { $.$() } }",
    "enum $ { $($), $ { $: $ } }",
    "fn $( { match $ { $::$ { $, .. } => $ } }",
];
const GO: &[&str] = &[
    "type $ struct { $ $; $ *$.$; $ }",
    "type $ interface { $($ $) $; $ }",
    "func ($ *$) $($ $, $ ...$) ($ $) { $ := $.$($); return &$.$[$]{$: $} }",
    "func $[$ any]($ $) { $: for $, $ := range $ { goto $; $.$ = $ } }",
    "var $, $ = $, func($ $) { $() }",
    "const ( $ = $ )",
    "func $( {",
];
const SCRIPT: &[&str] = &[
    "import $, { $, $ as $ } from 'x'",
    "export { $ as $ } from 'y'",
    "export function $<$ extends $>($: $, { $, $: $ } = {}): $ { const $ = $.$($)\n  return { $, $: $, $() { $ } } }",
    "class $ extends $ implements $ { $: $; constructor(private $: $) { super($); this.$ = $ } get $() { return $ } }",
    "interface $ extends $ { $: $; $($: $): $ }",
    "type $ = { [$ in keyof $]: $ } & $.$<typeof $>",
    "enum $ { $ = 1, $ }",
    "$: for (const $ of $) { break $ }",
    "const { $, $: [$, ...$] } = new $.$($ => $?.$)",
    "function $( { $.",
];

fn lines(dice: &mut Rng, stock: &[&str], count: usize) -> String {
    let mut text = String::new();
    for _ in 0..count {
        for part in dice.choose(stock).split_inclusive('$') {
            match part.strip_suffix('$') {
                Some(before) => text += &format!("{before}{}", dice.choose(NAMES)),
                None => text += part,
            }
        }
        text.push('\n');
    }
    text
}

/// Returns how often a word occurs in a text.
fn count(text: &str, word: &str) -> u64 {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words = text.split(|c: char| !is_part(c));
    words.filter(|found| *found == word).count() as u64
}

#[test]
fn classes_add_up_to_all_occurrences() {
    let families: [(&[&str], &[&str], &str); 4] =
        [(&["py"], PYTHON, ""), (&["rs"], RUST, ""), (&["go"], GO, "package main\n"), (&["ts", "tsx"], SCRIPT, "")];
    let mut asked = 0;
    for seed in 0..4 {
        let mut dice = Rng::new(seed);
        for (endings, stock, head) in families {
            let repository = Repository::new();
            let mut all = String::new();
            for (number, ending) in endings.iter().cycle().take(6).enumerate() {
                let text = format!("{head}{}", lines(&mut dice, stock, 9));
                repository.write(&format!("part/file_{number}.{ending}"), &text);
                all += &text;
            }
            repository.commit("files");
            let project = Project::new(repository);
            project.run_ok("index");
            let symbols = project.run_ok("export symbols");
            let named: BTreeSet<&str> =
                NAMES.iter().copied().filter(|name| symbols.contains(&format!("\"name\":\"{name}\""))).collect();
            for name in named {
                let reply = project.run(&format!("references {name} --json --all"));
                let answer: serde_json::Value = serde_json::from_str(&reply.stdout).expect("it is JSON");
                let of = |class: &str| answer["counts"][class].as_u64().unwrap_or_default();
                let classes = ["definitions", "proved", "elsewhere", "outside", "undecided"].map(of);
                let accounted: u64 = classes.iter().sum::<u64>() - of("beyond");
                let words = count(&all, name);
                assert_eq!(accounted, words, "seed {seed}, {endings:?}, {name}: {}\n{all}", answer["counts"]);
                let listed = answer["references"].as_array().map_or(0, Vec::len) as u64;
                let wanted = of("proved") + of("undecided");
                assert_eq!((listed, &answer["total_references"]), (wanted, &wanted.into()), "{name}: {answer}");
                asked += 1;
            }
        }
    }
    assert!(asked > 60, "only {asked} names were queried");
}
