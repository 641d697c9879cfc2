//! What calls reach through the function that made what they call, as claims at the end of the lines that make them.
//!
//! `#> name = target via maker; …` speaks of the reference of that name on its line; `-` stands for nothing. Names are
//! qualified, several targets are joined by `|`.

use std::rc::Rc;

use codecompass_lang::{extract, resolver};
use codecompass_model::{SymbolAt, World};
use codecompass_testkit::MemoryWorld;

const TYPESCRIPT: &str = "import { logger, nothing } from './makers'
export const jwt = (options: any) => {
  return async function handler(c: any) {}
}
const arrow = () => function named() {}
const h = jwt({ key: ')' })
class Box {
  maker() {
    const inner = () => {}
    return inner
  }
}
function use(box: Box, given: any) {
  h(1) //> h = a.jwt.handler via a.jwt
  const k = logger()
  k(1) //> k = makers.logger.inner via makers.logger
  logger()(2) //> logger = makers.logger.inner via makers.logger
  logger() //> logger = -
  arrow()() //> arrow = a.arrow.named via a.arrow
  box.maker()() //> maker = a.Box.maker.inner via a.Box.maker
  nothing()() //> nothing = -
  given()() //> given = -
}
";

const MAKERS: &str = "export function logger() {
  function inner() {}
  function other() {}
  other()
  return inner
}
export function nothing() {
  function inner() {}
  return wrap(inner)
}
";

const PYTHON: &str = "import functools
from makers import make
def deco(f):
    @functools.wraps(f)
    def wrapper(*a):
        return f(*a)
    return wrapper
def retry(n):
    def decorator(f):
        def again(*a):
            return f(*a)
        return again
    return decorator
def two(n):
    def a(): pass
    def b(): pass
    return a if n else b
adder = make(1)
@deco
def g(): pass
@retry(3)
def r(): pass
def use():
    adder(2) #> adder = makers.make.add via makers.make
    k = make(3)
    k(4) #> k = makers.make.add via makers.make
    make(5)(6) #> make = makers.make.add via makers.make
    make(7) #> make = -
    g() #> g = b.deco.wrapper via b.deco
    r() #> r = b.retry.decorator.again via b.retry.decorator
    two(1)() #> two = b.two.a via b.two
";

fn check(language: &str, files: &[(&str, &str)]) {
    let mut world = MemoryWorld::new();
    for (path, text) in files {
        let extracted = extract(path, text.as_bytes().to_vec());
        world.add(path, extracted.language, &extracted.text, extracted.facts);
    }
    let rules = resolver(language, Rc::new(&world)).expect("the language has rules");
    let name = |at: &SymbolAt| {
        let file = world.file(at.file).expect("a target is in the view");
        file.facts.symbols[at.place as usize].qualified_name.clone()
    };
    let mut wrong = Vec::new();
    for (path, text) in files {
        let file = world.file(world.file_at(path).expect("it was added")).expect("it is there");
        for (line, claims) in (1..).zip(text.lines()).filter_map(|(at, line)| Some((at, line.split_once("> ")?.1))) {
            for (of, expected) in claims.split("; ").filter_map(|claim| claim.split_once(" = ")) {
                let is_meant = |at: &usize| {
                    let reference = &file.facts.references[*at];
                    reference.line == line && file.facts.names[reference.name as usize] == of
                };
                let at = (0..file.facts.references.len()).find(is_meant).expect("a reference of the line");
                let said = rules.reached(file.id, at as u32).map_or("-".to_owned(), |reached| {
                    let targets: Vec<String> = reached.targets.iter().map(name).collect();
                    format!("{} via {}", targets.join(" | "), name(&reached.via))
                });
                if said != expected {
                    wrong.push(format!("{path}:{line} {of}: {said}, not {expected}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn calls_reach_what_a_function_gave_back() {
    check("typescript", &[("a.ts", TYPESCRIPT), ("makers.ts", MAKERS)]);
    let makers = "def make(n):\n    def add(x): return x + n\n    return add\n";
    check("python", &[("b.py", PYTHON), ("makers.py", makers)]);
}
