//! Whom references mean in TypeScript and JavaScript: small worlds, and a table of answers for each.
//!
//! A world is a text in which `//- path` begins a file. A row asks for `path name@line`; the answer is the places of the
//! targets, or `external`, `local`, `module path`, `unknown`. Where a name stands twice on a line, `#2` asks for the second.

use std::rc::Rc;

use codecompass_lang::{extract, resolver};
use codecompass_model::{Meaning, Resolver, VersionId, World};
use codecompass_testkit::MemoryWorld;

fn world(text: &str) -> MemoryWorld {
    let mut world = MemoryWorld::new();
    for file in text.split("//- ").skip(1) {
        let (path, code) = file.split_once('\n').expect("a path has a line of its own");
        let extracted = extract(path.trim(), code.as_bytes().to_vec());
        world.add(path.trim(), extracted.language, &extracted.text, extracted.facts);
    }
    world
}

fn check(text: &str, table: &[(&str, &str)]) {
    let world = world(text);
    assert_eq!(all_answers(&world, false), all_answers(&world, true), "answers depend on the order of questions");
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(question, expected)| {
            let found = answer(&world, question);
            (found != *expected).then(|| format!("{question}: {found}, not {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

fn answer(world: &MemoryWorld, question: &str) -> String {
    let (path, rest) = question.split_once(' ').expect("a path and a name");
    let (name, line) = rest.rsplit_once('@').expect("a name and a line");
    let (line, nth) = line.split_once('#').unwrap_or((line, "1"));
    let (line, nth): (u32, usize) = (line.parse().expect("a line"), nth.parse().expect("a number"));
    let file = world.file_at(path).and_then(|id| world.file(id)).expect("the file is there");
    let rules = resolver(&file.language, Rc::new(world)).expect("the language has rules");
    let references = file.facts.references.iter().enumerate();
    let mut fitting = references.filter(|(_, one)| one.line == line && file.facts.names[one.name as usize] == name);
    match fitting.nth(nth - 1) {
        Some((at, _)) => shown(world, &rules.reference(file.id, at as u32)),
        None => "no reference".into(),
    }
}

fn shown(world: &MemoryWorld, meaning: &Meaning) -> String {
    let path = |id: &VersionId| world.file(*id).expect("the file is there").path.clone();
    match meaning {
        Meaning::Symbols { targets, .. } => {
            targets.iter().map(|target| world.place(*target)).collect::<Vec<_>>().join(" ")
        }
        Meaning::Module(files) => format!("module {}", files.iter().map(path).collect::<Vec<_>>().join(" ")),
        Meaning::External => "external".into(),
        Meaning::Local => "local".into(),
        Meaning::Unknown(_) => "unknown".into(),
    }
}

/// What the rules say about every reference when they are asked from the first to the last, or the other way round.
fn all_answers(world: &MemoryWorld, backwards: bool) -> Vec<String> {
    let rules = resolver("typescript", Rc::new(world)).expect("the language has rules");
    let count = |id: VersionId| world.file(id).map_or(0, |file| file.facts.references.len());
    let mut questions: Vec<(VersionId, u32)> =
        world.files().flat_map(|file| (0..count(file.id)).map(|at| (file.id, at as u32))).collect();
    if backwards {
        questions.reverse();
    }
    let mut answers: Vec<String> = questions
        .into_iter()
        .map(|(file, at)| format!("{file} {at:>4} {}", shown(world, &rules.reference(file, at))))
        .collect();
    answers.sort();
    answers
}

#[test]
fn methods_are_implemented_below_their_declaration() {
    let world = world(
        "//- a.ts\nexport interface Shape { area(): number }\nexport class Base implements Shape { area() { return 1 } }\n\
         //- b.ts\nimport { Base } from './a'\nexport class Small extends Base { area() { return 2 } }\nclass Other { area() {} }\n",
    );
    let rules = resolver("typescript", Rc::new(&world)).expect("the language has rules");
    let places = |name: &str, nth: usize| -> Vec<String> {
        let declared = world.symbols_named(name)[nth];
        rules.implementations(declared).into_iter().map(|at| world.place(at)).collect()
    };
    assert_eq!(places("area", 0), ["a.ts:2", "b.ts:2"]);
    assert_eq!(places("area", 1), ["b.ts:2"]);
    assert_eq!(places("area", 3), [""; 0]);
}

#[test]
fn specifiers_find_files_packages_and_mapped_paths() {
    check(
        r#"
//- tsconfig.json
{ "compilerOptions": { /* mapped */ "baseUrl": ".", "paths": { "@app/*": ["src/*"], }, } }
//- packages/kit/package.json
{ "name": "@org/kit", "exports": { ".": { "import": "./dist/index.js" }, "./deep": "./dist/deep/thing.js" } }
//- packages/kit/src/index.ts
export function kit() {}
//- packages/kit/src/deep/thing.ts
export function deep() {}
//- src/a.ts
export function a() {}
//- src/folder/index.ts
export function folder() {}
//- src/view.tsx
export function View() { return <div /> }
//- src/use.tsx
import { a } from './a'
import { a as viaJs } from './a.js'
import { folder } from './folder'
import { View } from './view'
import { a as mapped } from '@app/a'
import { kit } from '@org/kit'
import { deep } from '@org/kit/deep'
import { gone } from 'elsewhere'
import { none } from './a'
a(); viaJs(); folder(); mapped(); kit(); deep(); gone(); none()
const el = <View />
"#,
        &[
            ("src/use.tsx a@10", "src/a.ts:1"),
            ("src/use.tsx viaJs@10", "src/a.ts:1"),
            ("src/use.tsx folder@10", "src/folder/index.ts:1"),
            ("src/use.tsx mapped@10", "src/a.ts:1"),
            ("src/use.tsx kit@10", "packages/kit/src/index.ts:1"),
            ("src/use.tsx deep@10", "packages/kit/src/deep/thing.ts:1"),
            ("src/use.tsx gone@10", "external"),
            ("src/use.tsx none@10", "unknown"),
            ("src/use.tsx View@11", "src/view.tsx:1"),
        ],
    );
}

#[test]
fn exports_are_followed_through_barrels_and_other_names() {
    check(
        r#"
//- a.ts
export function one() {}
function two() {}
export { two as deux }
export default class Whole { run() {} }
export type Shape = { area(): number }
//- b.ts
export * from './a'
export { one as uno } from './a'
export * as inner from './a'
export { default as Again } from './a'
export * from './c'
//- c.ts
export * from './b'
export const late = () => 1
//- use.ts
import { one, uno, deux, late, inner, Again, Shape } from './b'
import Whole from './a'
import * as all from './b'
one(); uno(); deux(); late(); inner.one(); all.uno(); all.inner.deux()
new Whole().run(); new Again().run()
let s: Shape
s.area()
const lazy = await import('./a')
lazy.one()
"#,
        &[
            ("use.ts one@4", "a.ts:1"),
            ("use.ts uno@4", "a.ts:1"),
            ("use.ts deux@4", "a.ts:2"),
            ("use.ts late@4", "c.ts:2"),
            ("use.ts one@4#2", "a.ts:1"),
            ("use.ts uno@4#2", "a.ts:1"),
            ("use.ts deux@4#2", "a.ts:2"),
            ("use.ts run@5", "a.ts:4"),
            ("use.ts run@5#2", "a.ts:4"),
            ("use.ts Again@5", "a.ts:4"),
            ("use.ts Shape@6", "a.ts:5"),
            ("use.ts area@7", "a.ts:5"),
            ("use.ts one@9", "a.ts:1"),
            ("use.ts all@4", "module b.ts"),
        ],
    );
}

#[test]
fn common_js_exports_wholes_and_members() {
    check(
        r#"
//- whole.js
module.exports = make
function make() { return new Thing() }
function Thing() { this.size = 1 }
Thing.prototype.grow = function grow() { this.shrink() }
Thing.prototype.shrink = function () {}
make.helper = function () {}
//- parts.js
exports.part = function () {}
module.exports.other = () => 1
//- object.js
const hidden = () => 1
module.exports = { shown() {}, hidden }
//- index.js
module.exports = require('./whole')
//- use.js
const make = require('./index')
const { part } = require('./parts')
const parts = require('./parts')
const other = require('./parts').other
const object = require('./object')
make(); make.helper(); part(); parts.part(); other()
object.shown(); object.hidden()
make().grow()
require('fs').readFile()
"#,
        &[
            ("use.js make@6", "whole.js:2"),
            ("use.js helper@6", "whole.js:6"),
            ("use.js part@6", "parts.js:1"),
            ("use.js part@6#2", "parts.js:1"),
            ("use.js other@6", "parts.js:2"),
            ("use.js shown@7", "object.js:2"),
            ("use.js hidden@7", "object.js:1"),
            ("use.js grow@8", "whole.js:4"),
            ("use.js readFile@9", "external"),
            ("whole.js shrink@4", "whole.js:5"),
        ],
    );
}

#[test]
fn names_mean_the_nearest_declaration() {
    check(
        r#"
//- a.ts
function f() {}
function outer(g: () => void) {
    function f() {}
    f()
    g()
    const h = () => f()
    h()
    Math.max(1)
}
f()
describe('a', () => {
    const make = () => 1
    make()
})
describe('b', () => {
    const make = () => 2
    make()
    fetch('x')
})
describe('c', () => {
    const fetch = () => 3
    fetch()
})
function over(a: string): void
function over(a: number): void
function over(a: any) {}
over(1)
enum Color { Red }
namespace Deep { export function dive() {} }
Color.Red
Deep.dive()
import alias = Deep.dive
alias()
"#,
        &[
            ("a.ts f@4", "a.ts:3"),
            ("a.ts g@5", "local"),
            ("a.ts f@6", "a.ts:3"),
            ("a.ts h@7", "a.ts:6"),
            ("a.ts max@8", "external"),
            ("a.ts f@10", "a.ts:1"),
            ("a.ts make@13", "a.ts:12"),
            ("a.ts make@17", "a.ts:16"),
            ("a.ts fetch@18", "external"),
            ("a.ts fetch@22", "a.ts:21"),
            ("a.ts over@27", "a.ts:24 a.ts:25 a.ts:26"),
            ("a.ts Red@30", "a.ts:28"),
            ("a.ts dive@31", "a.ts:29"),
            ("a.ts alias@33", "a.ts:29"),
        ],
    );
}

#[test]
fn members_are_those_of_the_receivers_type() {
    check(
        r#"
//- shapes.ts
export interface Shape { area(): number; next: Shape }
export class Base { move() {} static make() { return new Circle() } get self(): Base { return this } }
export class Circle extends Base implements Shape {
    area() { return this.#secret() }
    #secret() { return 1 }
    next: Circle
    constructor(private peer: Base, readonly list: Shape[]) { super() }
    both() { this.peer.move(); this.list[0].area(); super.move(); this.move() }
    chain(): this { return this }
    later = () => this.area()
}
export class Small extends Circle { own() {} }
//- use.ts
import { Base, Circle, Shape, Small } from './shapes'
function f(s: Shape, c?: Circle, u: Circle | string, g: Promise<Circle>) {
    s.area()
    c?.area()
    u.area()
    c!.next.move()
    new Small(c, []).chain().own()
    Base.make().area();
    (s as Circle).move()
    c.later()
    c.self.move()
    s.gone()
}
async function h<T extends Circle>(t: T, g: Promise<Circle>, m: Map<string, Base>, r: Record<string, Base>) {
    t.move();
    (await g).area()
    const one = await g
    one.area()
    m.get('a')?.move()
    r.x.move()
    for (const base of m.values()) base.move()
    const { next, list: [first] } = one
    next.area()
    const [a, b]: [Base, Circle] = x
    b.both()
    a.move()
}
new Circle(null, [])
"#,
        &[
            ("use.ts area@3", "shapes.ts:1"),
            ("use.ts area@4", "shapes.ts:4"),
            ("use.ts area@5", "shapes.ts:4"),
            ("use.ts move@6", "shapes.ts:2"),
            ("use.ts own@7", "shapes.ts:12"),
            ("use.ts area@8", "shapes.ts:4"),
            ("use.ts make@8", "shapes.ts:2"),
            ("use.ts move@9", "shapes.ts:2"),
            ("use.ts later@10", "shapes.ts:10"),
            ("use.ts move@11", "shapes.ts:2"),
            ("use.ts gone@12", "unknown"),
            ("use.ts move@15", "shapes.ts:2"),
            ("use.ts area@16", "shapes.ts:4"),
            ("use.ts area@18", "shapes.ts:4"),
            ("use.ts get@19", "external"),
            ("use.ts move@19", "shapes.ts:2"),
            ("use.ts move@21", "shapes.ts:2"),
            ("use.ts area@23", "shapes.ts:4"),
            ("use.ts both@25", "shapes.ts:8"),
            ("use.ts move@26", "shapes.ts:2"),
            ("use.ts Circle@28", "shapes.ts:3 shapes.ts:7"),
            ("shapes.ts #secret@4", "shapes.ts:5"),
            ("shapes.ts move@8", "shapes.ts:2"),
            ("shapes.ts area@8", "shapes.ts:1"),
            ("shapes.ts move@8#2", "shapes.ts:2"),
            ("shapes.ts area@10", "shapes.ts:4"),
            ("shapes.ts super@7", "shapes.ts:2"),
            ("shapes.ts Shape@3", "shapes.ts:1"),
        ],
    );
}

#[test]
fn types_come_from_calls_aliases_and_literals() {
    check(
        r#"
//- a.ts
class Box<T> { value: T; all(): T[] { return [] } map(f: (item: T) => void) {} }
class Item { use() {} }
const makeItem = () => new Item()
function boxed(): Box<Item> { return null }
async function later() { return new Item() }
function same<T>(value: T): T { return value }
type Maker = () => Item
type Alias = Box<Item>
type Options = { item: Item; make: Maker; nested: { item: Item } }
const table = { run() { this.stop() }, stop: () => 1, inner: { go() {} }, item: new Item() }
function f(alias: Alias, options: Options, make: Maker) {
    makeItem().use()
    boxed().value.use()
    boxed().all()[0].use()
    same(new Item()).use()
    alias.value.use()
    options.item.use()
    options.make().use()
    options.nested.item.use()
    make().use()
    table.run()
    table.inner.go()
    table.item.use()
    const local = { hop() {} }
    local.hop()
    const item = alias.value ?? makeItem()
    item.use()
    const pick = options ? new Item() : null
    pick.use()
    later().then((item) => item.use())
}
async function g() {
    (await later()).use()
}
"#,
        &[
            ("a.ts use@12", "a.ts:2"),
            ("a.ts use@13", "a.ts:2"),
            ("a.ts use@14", "a.ts:2"),
            ("a.ts use@15", "a.ts:2"),
            ("a.ts use@16", "a.ts:2"),
            ("a.ts use@17", "a.ts:2"),
            ("a.ts make@18", "a.ts:9"),
            ("a.ts use@18", "a.ts:2"),
            ("a.ts use@19", "a.ts:2"),
            ("a.ts make@20", "local"),
            ("a.ts use@20", "a.ts:2"),
            ("a.ts run@21", "a.ts:10"),
            ("a.ts go@22", "a.ts:10"),
            ("a.ts use@23", "a.ts:2"),
            ("a.ts hop@25", "a.ts:24"),
            ("a.ts use@27", "a.ts:2"),
            ("a.ts use@29", "a.ts:2"),
            ("a.ts use@30", "a.ts:2"),
            ("a.ts use@33", "a.ts:2"),
            ("a.ts stop@10", "a.ts:10"),
        ],
    );
}

#[test]
fn parameters_of_callbacks_get_the_type_of_their_place() {
    check(
        r#"
//- app.ts
export class Context { text() {} }
export type Handler = (c: Context) => void
export interface Route { (handler: Handler): App; (path: string, ...handlers: Handler[]): App }
export class App {
    get: Route
    use(handler: Handler) { return this }
    on = (options: { handle: Handler }) => 1
}
export const middleware = (): Handler => {
    return function inner(c) { c.text() }
}
export const typed: Handler = (c) => c.text()
//- use.ts
import { App, Context, Handler } from './app'
const app = new App()
app.get((c) => c.text())
app.get('/', (c) => c.text(), (d) => d.text())
app.use(async (c) => { c.text() }).use((c) => c.text())
app.on({ handle: (c) => c.text() })
const list: Context[] = []
list.forEach((c) => c.text())
list.filter((c) => c).map((c) => c.text())
unknown((c) => c.text())
"#,
        &[
            ("app.ts text@10", "app.ts:1"),
            ("app.ts text@12", "app.ts:1"),
            ("use.ts text@3", "app.ts:1"),
            ("use.ts text@4", "app.ts:1"),
            ("use.ts text@4#2", "app.ts:1"),
            ("use.ts text@5", "app.ts:1"),
            ("use.ts text@5#2", "app.ts:1"),
            ("use.ts text@6", "app.ts:1"),
            ("use.ts text@8", "app.ts:1"),
            ("use.ts text@9", "app.ts:1"),
            ("use.ts text@10", "unknown"),
        ],
    );
}

#[test]
fn code_that_leads_in_circles_has_an_answer() {
    check(
        r#"
//- a.ts
import { b } from './b'
export const a = b
export type A = B
type B = A
class C extends D { m() { this.n() } }
class D extends C {}
function f(x: A, y: typeof y, z: T) { x.m(); y.m(); let q = q.r(); q.m() }
const p = () => p()
p().m()
a.m()
//- b.ts
import { a } from './a'
export const b = a
export * from './a'
"#,
        &[
            ("a.ts n@5", "unknown"),
            ("a.ts m@7", "unknown"),
            ("a.ts m@7#2", "unknown"),
            ("a.ts m@7#3", "unknown"),
            ("a.ts m@9", "unknown"),
            ("a.ts m@10", "unknown"),
        ],
    );
}

#[test]
fn broken_code_never_stops_the_rules() {
    let code = "import {a} from './b'\nclass é<T extends { [k: string]: 'x' }> { f: (x: T) => T[\"ü\"] = (y) => y.é?.(`${y}`) }\n\
                const { q, r: [s] } = (await a<T>(…)) as Foo[0]['x']; q.é[s]!.m(); type X = A extends B ? (c: C) => D : E;";
    for end in (0..code.len()).filter(|&end| code.is_char_boundary(end)) {
        for text in [&code[..end], &code[end..]] {
            let world = world(&format!(
                "//- a.ts\n{text}\n//- b.js\n{text}\n//- package.json\n{text}\n//- tsconfig.json\n{{{text}"
            ));
            for language in ["typescript", "javascript"] {
                let rules = resolver(language, Rc::new(&world)).expect("the language has rules");
                ask_everything(&world, rules.as_ref());
            }
        }
    }
}

fn ask_everything(world: &MemoryWorld, rules: &dyn Resolver) {
    for file in world.files() {
        for at in 0..=file.facts.references.len() {
            rules.reference(file.id, at as u32);
        }
        for at in 0..=file.facts.imports.len() {
            rules.import(file.id, at as u32);
        }
    }
    rules.reference(VersionId::MAX, 0);
}

#[test]
fn patterns_take_members_out_of_what_they_are_given() {
    check(
        r#"
//- a.ts
export interface Options { strict?: boolean; path: string; inner: Options }
function f(options: Options, strict: number) {
    const { strict: other, path = 'x', inner: { path: deep }, ...rest } = options
    const { length } = 'text'
    let path2
    ({ path: path2 } = options)
    return { strict: other, path }
}
function g({ strict }: Options) { return strict }
"#,
        &[
            ("a.ts strict@3", "a.ts:1"),
            ("a.ts path@3", "a.ts:1"),
            ("a.ts inner@3", "a.ts:1"),
            ("a.ts path@3#2", "unknown"),
            ("a.ts length@4", "external"),
            ("a.ts path@6", "unknown"),
            ("a.ts strict@7", "unknown"),
            ("a.ts path@7", "local"),
            ("a.ts strict@9", "unknown"),
            ("a.ts strict@9#2", "local"),
        ],
    );
}
