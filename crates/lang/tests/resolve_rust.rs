//! Whom references mean in Rust: a small workspace, and a table of what each reference must be.

use std::rc::Rc;

use codecompass_lang::{extract, resolver};
use codecompass_model::{Confidence, Meaning, World};
use codecompass_testkit::MemoryWorld;

const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[workspace]\nmembers = [\"app\", \"base-kit\"]\n"),
    (
        "app/Cargo.toml",
        "[package]\nname = \"app\"\nedition = \"2021\"\nautotests = false\n[dependencies]\nbase-kit = { path = \"../base-kit\" }\n\
         short = { path = \"../long\", package = \"long-name\" }\nserde = \"1\"\n[[test]]\nname = \"all\"\npath = \"tests/all.rs\"\n",
    ),
    ("long/Cargo.toml", "[package]\nname = \"long-name\"\nedition = \"2021\"\n"),
    ("long/src/lib.rs", "pub fn renamed() {}\n"),
    ("base-kit/Cargo.toml", "[package]\nname = \"base-kit\"\nedition = \"2021\"\n"),
    (
        "base-kit/src/lib.rs",
        "//! The library.
mod shapes;
#[path = \"odd_place.rs\"]
pub mod odd;
pub mod store;
pub use crate::shapes::{Circle as Round, Named, Shape};
pub use store::*;
#[macro_export]
macro_rules! shout { () => {} }
#[cfg(windows)]
pub fn here() {}
#[cfg(unix)]
pub fn here() {}
",
    ),
    ("base-kit/src/odd_place.rs", "pub fn odd_one() {}\n"),
    (
        "base-kit/src/shapes.rs",
        "pub trait Named {
    fn name(&self) -> String;
}
pub trait Shape: Named {
    const SIDES: u32;
    type Unit: Named;
    fn area(&self) -> f64;
    fn twice(&self) -> f64 { self.area() }
    fn unit(&self) -> Self::Unit;
}
pub struct Circle { pub radius: f64, pub inner: Option<Box<Circle>> }
impl Circle {
    pub fn new() -> Self { Self { radius: 1.0, inner: None } }
    pub fn grow(&mut self) -> &mut Self { self }
    pub fn build(&self) -> Result<Circle, String> { todo!() }
}
impl Named for Circle { fn name(&self) -> String { String::new() } }
impl Shape for Circle {
    const SIDES: u32 = 0;
    type Unit = Circle;
    fn area(&self) -> f64 { 3.0 }
    fn unit(&self) -> Circle { Circle::new() }
}
",
    ),
    (
        "base-kit/src/store.rs",
        "use std::ops::Deref;
pub struct Store<T> { items: Vec<T> }
impl<T> Store<T> {
    pub fn with(items: Vec<T>) -> Store<T> { Store { items } }
    pub fn first(&self) -> Option<&T> { self.items.first() }
}
impl<T> IntoIterator for Store<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter { self.items.into_iter() }
}
pub struct Handle(Store<u8>);
impl Deref for Handle { type Target = Store<u8>; fn deref(&self) -> &Store<u8> { &self.0 } }
pub enum Event { Open(Handle), Move { to: Handle }, Close }
pub trait Extra { fn extra(&self) {} }
impl From<Event> for Handle { fn from(_: Event) -> Self { todo!() } }
impl From<String> for Handle { fn from(_: String) -> Self { todo!() } }
impl<T: Clone> Extra for T {}
",
    ),
    (
        "app/src/main.rs",
        "mod parts; mod ext;
use base_kit::{Event, Handle, Named, Round, Shape, Store};
use base_kit::Extra as _;
use std::collections::HashMap;
macro_rules! local_macro { () => {} }
type Rounds = Vec<Round>;
const LIMIT: u32 = 3;
fn free(one: Round) -> Round { one }
fn paths() {
    free(Round::new());
    base_kit::odd::odd_one();
    short::renamed();
    crate::parts::deep::down();
    self::parts::up();
    base_kit::here();
    serde::to_string();
    println!();
    local_macro!();
    base_kit::shout!();
    Some(LIMIT);
    Round::SIDES;
}
fn receivers(round: &Round, all: Rounds, map: HashMap<String, Round>, shape: &dyn Shape, maybe: Option<Round>) {
    round.area();
    round.twice();
    round.name();
    Round::new().grow().grow().build().unwrap().area();
    for one in all.iter() { one.area(); }
    for (_, one) in all.iter().enumerate() { one.grow(); }
    map.get(\"x\").unwrap().area();
    shape.area();
    shape.name();
    if let Some(one) = maybe { one.area(); }
    all.iter().map(|r| r.unit()).for_each(|u| u.area());
    round.inner.as_ref().unwrap().area();
    all[0].area();
    round.missing();
    \"text\".len();
    let made = match maybe { Some(m) => m, None => return };
    made.area();
    let again = { let n = free(made); n };
    again.area();
    round.unit().area();
    all.extra();
}
fn generic<S: Shape>(shape: S, f: impl Fn(u8) -> Round) {
    shape.area();
    shape.unit().name();
    f(1).area();
    S::SIDES;
}
fn stores(store: Store<Round>, handle: Handle, event: Event) {
    store.first().unwrap().area();
    handle.first();
    for one in store { one.area(); }
    match event {
        Event::Open(h) => h.first(),
        Event::Move { to } => to.first(),
        Event::Close => None,
    };
    let store = Store::with(vec![Round::new()]);
    store.first().unwrap().area();
    let f = |r: Round| r.build();
    f(Round::new())?.area();
    unknown_thing().area();
    Handle::from(String::new()); let e = Event::Close;
    Handle::from(e).first();
}
async fn waits() -> Result<(), String> {
    later().await?.area();
    Ok(())
}
async fn later() -> Result<Round, String> { Err(String::new()) }
fn main() { parts::up(); }
#[cfg(test)]
mod tests {
    use super::*;
    fn check() { assert!(free(Round::new()).area() > 1.0); }
}
",
    ),
    (
        "app/src/parts/mod.rs",
        "pub mod deep;\npub fn up() { deep::down(); super::free(x); inner::leaf() }\nmod inner { pub fn leaf() { super::up() } }\n",
    ),
    ("app/src/parts/deep.rs", "pub fn down() { crate::free(y) }\n"),
    (
        "app/src/ext.rs",
        "use std::{ptr::NonNull, rc::Weak}; use base_kit::shout;
mod traits {
    pub trait Spread { fn spread(&self) -> u8; fn wide(&self) -> u8 { 0 } }
    impl<T> Spread for Vec<T> { fn spread(&self) -> u8 { 1 } }
    pub trait Other { fn spread(&self) -> u16; }
    impl<T> Other for Vec<T> { fn spread(&self) -> u16 { 2 } }
    pub trait Flow { fn step(&self); }
    pub trait FlowExt: Flow { fn flowing(&self) {} }
    impl<Fl: ?Sized> FlowExt for Fl where Fl: Flow {}
}
pub struct Pipe;
impl Pipe { fn spread(&self) {} }
impl traits::Spread for Pipe { fn spread(&self) -> u8 { self.wide() } }
impl traits::Flow for Pipe { fn step(&self) {} }
mod with {
    use super::traits::{FlowExt as _, Spread};
    fn f(v: Vec<u8>, p: super::Pipe, open: impl super::traits::Flow) {
        v.spread();
        v.wide();
        p.spread();
        p.flowing();
        open.flowing();
        v.flowing();
    }
}
mod without {
    fn f(v: Vec<u8>, p: super::Pipe) {
        v.spread();
        p.wide();
        p.spread();
        std::mem::flowing(p);
    }
}
pub struct Node;
impl Node { fn link(&self) {} }
fn pointers(p: NonNull<Node>, q: Option<NonNull<Node>>, r: Weak<Node>) {
    p.as_ref().link();
    q.unwrap().as_mut().link();
    r.as_ref().link();
    shout!();
}
pub trait Reason { fn text(&self) -> u8 { 0 } }
macro_rules! reasons { ($($name:ident),*) => { $(pub struct $name; impl Reason for $name {})* }; }
reasons! { Late, Closed }
fn made(late: Late) {
    late.text();
    Closed::text(&Closed);
    flags::Flags::LOW;
}
mod flags { bitflags! { pub struct Flags: u8 { const LOW = 1; } } }
",
    ),
    ("app/tests/all.rs", "mod util;\nfn it() { util::help() }\n"),
    ("app/tests/util.rs", "pub fn help() { crate::util::help() }\n"),
];

/// `path line name`, and what it means: `path:line` of the only target, `~path:line` when that is a guess, or a word.
const EXPECTED: &[(&str, &str)] = &[
    ("app/src/main.rs 10 free", "app/src/main.rs:8"),
    ("app/src/main.rs 10 new", "base-kit/src/shapes.rs:13"),
    ("app/src/main.rs 10 Round", "base-kit/src/shapes.rs:11"),
    ("app/src/main.rs 11 odd_one", "base-kit/src/odd_place.rs:1"),
    ("app/src/main.rs 12 renamed", "long/src/lib.rs:1"),
    ("app/src/main.rs 13 down", "app/src/parts/deep.rs:1"),
    ("app/src/main.rs 13 parts", "module app/src/parts/mod.rs"),
    ("app/src/main.rs 14 up", "app/src/parts/mod.rs:2"),
    ("app/src/main.rs 15 here", "base-kit/src/lib.rs:13"),
    ("app/src/main.rs 16 to_string", "external"),
    ("app/src/main.rs 17 println", "external"),
    ("app/src/main.rs 18 local_macro", "app/src/main.rs:5"),
    ("app/src/main.rs 19 shout", "base-kit/src/lib.rs:9"),
    ("app/src/main.rs 20 Some", "external"),
    ("app/src/main.rs 20 LIMIT", "app/src/main.rs:7"),
    ("app/src/main.rs 21 SIDES", "base-kit/src/shapes.rs:19"),
    ("app/src/main.rs 24 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 24 round", "local"),
    ("app/src/main.rs 25 twice", "base-kit/src/shapes.rs:8"),
    ("app/src/main.rs 26 name", "base-kit/src/shapes.rs:17"),
    ("app/src/main.rs 27 build", "base-kit/src/shapes.rs:15"),
    ("app/src/main.rs 27 unwrap", "external"),
    ("app/src/main.rs 27 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 28 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 28 iter", "external"),
    ("app/src/main.rs 29 grow", "base-kit/src/shapes.rs:14"),
    ("app/src/main.rs 30 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 31 area", "base-kit/src/shapes.rs:7"),
    ("app/src/main.rs 32 name", "base-kit/src/shapes.rs:2"),
    ("app/src/main.rs 33 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 34 unit", "base-kit/src/shapes.rs:22"),
    ("app/src/main.rs 34 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 35 inner", "base-kit/src/shapes.rs:11"),
    ("app/src/main.rs 35 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 36 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 37 missing", "external"),
    ("app/src/main.rs 38 len", "external"),
    ("app/src/main.rs 40 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 42 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 43 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 44 extra", "base-kit/src/store.rs:15"),
    ("app/src/main.rs 47 area", "base-kit/src/shapes.rs:7"),
    ("app/src/main.rs 48 unit", "base-kit/src/shapes.rs:9"),
    ("app/src/main.rs 48 name", "base-kit/src/shapes.rs:2"),
    ("app/src/main.rs 49 f", "local"),
    ("app/src/main.rs 49 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 50 SIDES", "base-kit/src/shapes.rs:5"),
    ("app/src/main.rs 50 S", "local"),
    ("app/src/main.rs 53 first", "base-kit/src/store.rs:5"),
    ("app/src/main.rs 53 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 54 first", "base-kit/src/store.rs:5"),
    ("app/src/main.rs 55 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 57 Open", "base-kit/src/store.rs:14"),
    ("app/src/main.rs 57 first", "base-kit/src/store.rs:5"),
    ("app/src/main.rs 58 to", "local"),
    ("app/src/main.rs 58 first", "base-kit/src/store.rs:5"),
    ("app/src/main.rs 61 with", "base-kit/src/store.rs:4"),
    ("app/src/main.rs 62 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 64 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 65 unknown_thing", "unknown"),
    ("app/src/main.rs 65 area", "unknown"),
    ("app/src/main.rs 66 from", "base-kit/src/store.rs:17"),
    ("app/src/main.rs 67 from", "base-kit/src/store.rs:16"),
    ("app/src/main.rs 67 first", "base-kit/src/store.rs:5"),
    ("app/src/main.rs 70 area", "base-kit/src/shapes.rs:21"),
    ("app/src/main.rs 78 free", "app/src/main.rs:8"),
    ("app/src/main.rs 78 area", "base-kit/src/shapes.rs:21"),
    ("app/src/ext.rs 13 wide", "app/src/ext.rs:3"),
    ("app/src/ext.rs 18 spread", "app/src/ext.rs:4"),
    ("app/src/ext.rs 19 wide", "app/src/ext.rs:3"),
    ("app/src/ext.rs 20 spread", "app/src/ext.rs:12"),
    ("app/src/ext.rs 21 flowing", "app/src/ext.rs:8"),
    ("app/src/ext.rs 22 flowing", "app/src/ext.rs:8"),
    ("app/src/ext.rs 23 flowing", "external"),
    ("app/src/ext.rs 28 spread", "external"),
    ("app/src/ext.rs 29 wide", "unknown"),
    ("app/src/ext.rs 30 spread", "app/src/ext.rs:12"),
    ("app/src/ext.rs 31 flowing", "external"),
    ("app/src/ext.rs 37 link", "app/src/ext.rs:35"),
    ("app/src/ext.rs 38 link", "app/src/ext.rs:35"),
    ("app/src/ext.rs 39 link", "unknown"),
    ("app/src/ext.rs 40 shout", "base-kit/src/lib.rs:9"),
    ("app/src/ext.rs 45 Late", "app/src/ext.rs:44"),
    ("app/src/ext.rs 46 text", "unknown"),
    ("app/src/ext.rs 47 Closed", "app/src/ext.rs:44"),
    ("app/src/ext.rs 47 text", "unknown"),
    ("app/src/ext.rs 48 LOW", "app/src/ext.rs:50"),
    ("app/src/parts/mod.rs 2 down", "app/src/parts/deep.rs:1"),
    ("app/src/parts/mod.rs 2 free", "app/src/main.rs:8"),
    ("app/src/parts/mod.rs 2 leaf", "app/src/parts/mod.rs:3"),
    ("app/src/parts/mod.rs 3 up", "app/src/parts/mod.rs:2"),
    ("app/src/parts/deep.rs 1 free", "app/src/main.rs:8"),
    ("app/tests/util.rs 1 help", "app/tests/util.rs:1"),
    ("base-kit/src/shapes.rs 8 area", "base-kit/src/shapes.rs:7"),
    ("base-kit/src/store.rs 10 into_iter", "external"),
];

/// The same for imports.
const IMPORTS: &[(&str, &str)] = &[
    ("app/src/main.rs 2 Round", "base-kit/src/shapes.rs:11"),
    ("app/src/main.rs 2 Handle", "base-kit/src/store.rs:12"),
    ("app/src/main.rs 4 HashMap", "external"),
    ("base-kit/src/lib.rs 6 Shape", "base-kit/src/shapes.rs:4"),
    ("base-kit/src/lib.rs 7 *", "module base-kit/src/store.rs"),
];

fn world() -> MemoryWorld {
    let mut world = MemoryWorld::new();
    for (path, text) in FILES {
        let extracted = extract(path, text.as_bytes().to_vec());
        world.add(path, extracted.language, &extracted.text, extracted.facts);
    }
    world
}

fn show(world: &MemoryWorld, meaning: &Meaning) -> String {
    match meaning {
        Meaning::Symbols { targets, confidence, .. } => {
            let places: Vec<String> = targets.iter().map(|&at| world.place(at)).collect();
            let guess = if *confidence == Confidence::Heuristic { "~" } else { "" };
            format!("{guess}{}", places.join(" "))
        }
        Meaning::Module(files) => {
            let paths: Vec<String> = files.iter().filter_map(|&id| Some(world.file(id)?.path.clone())).collect();
            format!("module {}", paths.join(" "))
        }
        Meaning::External => "external".into(),
        Meaning::Local => "local".into(),
        Meaning::Unknown(_) => "unknown".into(),
    }
}

#[test]
fn references_mean_what_the_compiler_says() {
    let world = world();
    let rules = resolver("rust", Rc::new(&world)).expect("Rust has rules");
    let mut wrong = Vec::new();
    for (asked, expected) in EXPECTED {
        let [path, line, name] = asked.split(' ').collect::<Vec<_>>().try_into().expect("path, line, name");
        let id = world.file_at(path).expect("a file of the table");
        let file = world.file(id).expect("it is there");
        let is_meant = |at: &usize| {
            let reference = &file.facts.references[*at];
            reference.line.to_string() == line && file.facts.names[reference.name as usize] == name
        };
        // Of several on a line the last is meant: the one at the end of a chain.
        let found = (0..file.facts.references.len()).rfind(is_meant);
        let answer = found.map_or("no such reference".into(), |at| show(&world, &rules.reference(id, at as u32)));
        if answer != *expected {
            wrong.push(format!("{asked}: {answer}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn imports_mean_what_they_bring_in() {
    let world = world();
    let rules = resolver("rust", Rc::new(&world)).expect("Rust has rules");
    for (asked, expected) in IMPORTS {
        let [path, line, name] = asked.split(' ').collect::<Vec<_>>().try_into().expect("path, line, name");
        let id = world.file_at(path).expect("a file of the table");
        let file = world.file(id).expect("it is there");
        let found = file.facts.imports.iter().position(|import| {
            let own = import.alias.as_deref().or(import.name.as_deref()).unwrap_or("*");
            import.line.to_string() == line && own == name
        });
        let answer = show(&world, &rules.import(id, found.expect("an import of the table") as u32));
        assert_eq!(answer, *expected, "{asked}");
    }
}

#[test]
fn a_declared_method_knows_its_implementations() {
    let world = world();
    let rules = resolver("rust", Rc::new(&world)).expect("Rust has rules");
    let area = world.symbols_named("area")[0];
    let places: Vec<String> = rules.implementations(area).into_iter().map(|at| world.place(at)).collect();
    assert_eq!(places, ["base-kit/src/shapes.rs:21"]);
}

#[test]
fn nothing_is_asked_in_vain_or_forever() {
    let hostile = [
        (
            "src/lib.rs",
            "use a::*; pub mod a { pub use super::*; use super::b::*; } mod b { pub use super::a::*; }\nfn f() { g(); a::h(); self::b::i() }",
        ),
        (
            "src/loops.rs",
            "type A = B; type B = A; fn f(x: A) { x.g(); let y = y.z(); y.g(); } impl A { fn g(&self) -> A {} }",
        ),
        (
            "src/deref.rs",
            "struct D; impl Deref for D { type Target = D; } fn f(d: D) { d.x.y(); d.z() } trait T: T { fn m(&self) { self.n() } }",
        ),
        (
            "src/blanket.rs",
            "trait A { fn a(&self); } trait B { fn b(&self); } impl<T: B> A for T { fn a(&self) {} }\nimpl<T: A> B for T { fn b(&self) {} } struct S; fn f(s: S) { s.a(); s.b() }",
        ),
        ("src/é.rs", "fn ü() { let ö = match 'é' { 'ß' => \"ä\\\"\", _ => { x.é(|ñ| ñ.ü()) } }; ö.len(); ((((( }"),
    ];
    for (path, text) in hostile {
        let mut world = MemoryWorld::new();
        let extracted = extract(path, text.as_bytes().to_vec());
        let count = extracted.facts.references.len();
        let id = world.add(path, extracted.language, &extracted.text, extracted.facts);
        let rules = resolver("rust", Rc::new(&world)).expect("Rust has rules");
        for at in 0..=count as u32 {
            let _ = rules.reference(id, at);
            let _ = rules.import(id, at);
        }
    }
}
