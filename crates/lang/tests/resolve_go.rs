//! Whom references in Go code mean, rule by rule.
//!
//! A world is a few files; a comment `//= name target` at the end of a line says whom the reference to `name` on that line
//! means: `path:line`, `module`, `external`, `local`, `unknown`, or `guess path:line`.

use std::rc::Rc;

use codecompass_lang::{extract, resolver};
use codecompass_model::{Confidence, Meaning, Resolver, SourceFile, World};
use codecompass_testkit::MemoryWorld;

fn world(files: &[(&str, &str)]) -> MemoryWorld {
    let mut world = MemoryWorld::new();
    for (path, text) in files {
        let extracted = extract(path, text.as_bytes().to_vec());
        world.add(path, extracted.language, &extracted.text, extracted.facts);
    }
    world
}

fn show(world: &MemoryWorld, meaning: &Meaning) -> String {
    match meaning {
        Meaning::Symbols { targets, confidence, .. } => {
            let places: Vec<String> = targets.iter().map(|&target| world.place(target)).collect();
            let guess = if *confidence == Confidence::Heuristic { "guess " } else { "" };
            format!("{guess}{}", places.join(" "))
        }
        Meaning::Module(_) => "module".into(),
        Meaning::External => "external".into(),
        Meaning::Local => "local".into(),
        Meaning::Unknown(_) => "unknown".into(),
    }
}

/// What all references to a name on a line mean, each once.
fn meanings(world: &MemoryWorld, resolver: &dyn Resolver, file: &SourceFile, line: u32, name: &str) -> String {
    let references = file.facts.references.iter().enumerate();
    let named = references.filter(|(_, of)| of.line == line && file.facts.names[of.name as usize] == name);
    let mut all: Vec<String> = named.map(|(at, _)| show(world, &resolver.reference(file.id, at as u32))).collect();
    all.dedup();
    all.join(" | ")
}

/// Checks every comment `//= name target, name target` of every file.
fn check(files: &[(&str, &str)]) {
    let world = world(files);
    let resolver = resolver("go", Rc::new(&world)).expect("there are rules for Go");
    let mut wrong = Vec::new();
    let mut checked = 0;
    for file in world.files().filter(|file| file.language == "go") {
        let text = world.text(file.id).expect("it was added");
        for (n, line) in text.lines().enumerate() {
            for promise in line.split_once("//= ").into_iter().flat_map(|(_, rest)| rest.split(", ")) {
                let (name, expected) = promise.split_once(' ').expect("a name and a target");
                let found = meanings(&world, resolver.as_ref(), file, n as u32 + 1, name);
                checked += 1;
                if found != expected {
                    wrong.push(format!("{}:{} {name}: {found}, not {expected}", file.path, n + 1));
                }
            }
        }
    }
    assert!(checked > 0, "nothing was promised");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

const MODULE: (&str, &str) = ("go.mod", "module example.com/app\n\ngo 1.22\n");

#[test]
fn packages_are_folders_and_imports_go_by_module_path() {
    check(&[
        MODULE,
        ("tools/go.mod", "module example.com/tools\n"),
        ("tools/run/run.go", "package run\nfunc Run() {}\n"),
        ("util/text.go", "package text\n\nfunc Trim() {}\nconst Max = 1\ntype Kind int\n"),
        (
            "util/text_test.go",
            "package text_test\nfunc Trim() {}\nfunc use() {\n\tTrim() //= Trim util/text_test.go:2\n}\n",
        ),
        ("util/gen.go", "// Package documentation\npackage main\nfunc main() {}\n"),
        ("dot/dot.go", "package dot\nfunc Dotted() {}\n"),
        ("a.go", "package app\n\nfunc helper() {}\n"),
        (
            "b.go",
            r#"package app
import (
	"fmt"
	other "example.com/app/util"
	"example.com/app/util"
	"example.com/tools/run"
	. "example.com/app/dot"
	_ "embed"
	"github.com/mattn/go-isatty"
	"example.com/app/gone"
)
func use(k other.Kind) { //= other module, Kind util/text.go:5
	helper()              //= helper a.go:3
	fmt.Println(len("x")) //= fmt external, Println external, len external
	text.Trim()           //= text module, Trim util/text.go:3
	other.Trim()          //= Trim util/text.go:3
	run.Run()             //= Run tools/run/run.go:2
	Dotted()              //= Dotted dot/dot.go:2
	isatty.IsTerminal(1)  //= isatty external, IsTerminal external
	gone.Gone()           //= Gone unknown
	missing()             //= missing unknown
	_ = text.Max          //= Max util/text.go:4
	text.Lost()           //= Lost unknown
}
"#,
        ),
    ]);
}

#[test]
fn a_name_stands_for_all_its_declarations_under_build_constraints() {
    check(&[
        MODULE,
        ("open_linux.go", "package app\nfunc open() {}\n"),
        ("open_windows.go", "package app\nfunc open() {}\nfunc all() {\n\topen() //= open open_windows.go:2\n}\n"),
        ("use.go", "package app\nfunc use() {\n\topen() //= open open_linux.go:2 open_windows.go:2\n}\n"),
    ]);
}

#[test]
fn local_names_hide_all_others() {
    check(&[
        MODULE,
        (
            "a.go",
            r#"package app
func run() {}
type T struct{ f func() }
func (t T) m() {}
func use(t T, f func() T) {
	f()                //= f local
	f().m()            //= m a.go:4
	t.f()              //= f a.go:3
	run := func() T { return t }
	run()              //= run local
	run().m()          //= m a.go:4
	type T struct{ g int }
	x := T{g: 1}       //= T a.go:12, g a.go:12
	_ = x.g            //= g a.go:12
}
"#,
        ),
    ]);
}

#[test]
fn members_are_found_by_the_type_of_the_receiver() {
    check(&[
        MODULE,
        (
            "types.go",
            r#"package app
type Engine struct {
	pool  *Pool
	names map[string]*Route
	list  []Route
	done  chan Route
}
type Pool struct{ first Route }
type Route struct{ Path string }
func (r *Route) Match() bool { return true }
func (p *Pool) Get() *Route { return nil }
func New() *Engine { return nil }
func (e *Engine) Find(name string) (*Route, error) { return nil, nil }
func (e Engine) All() []Route { return nil }
var global = New()
var one, two = New().Find("")
const size Route2 = 1
type Route2 int
func (Route2) Double() {}
"#,
        ),
        (
            "use.go",
            r#"package app
import ("sync"; "net/http")
func use(e *Engine, many ...*Route) {
	e.pool.Get().Match()          //= pool types.go:3, Get types.go:11, Match types.go:10
	e.names["x"].Match()          //= Match types.go:10
	e.list[0].Match()             //= Match types.go:10
	(<-e.done).Match()            //= Match types.go:10
	many[0].Match()               //= Match types.go:10
	for _, r := range e.list {
		r.Match()                 //= Match types.go:10
	}
	for k, r := range e.names {
		k.Match()                 //= Match unknown
		r.Match()                 //= Match types.go:10
	}
	for r := range e.done {
		r.Match()                 //= Match types.go:10
	}
	r, err := e.Find("a")
	r.Match()                     //= Match types.go:10
	err.Error()                   //= Error external
	a := &Route{Path: "x"}        //= Route types.go:9, Path types.go:9
	a.Match()                     //= Match types.go:10
	b := new(Route)
	b.Match()                     //= Match types.go:10
	c := make([]*Route, 1)
	c[0].Match()                  //= Match types.go:10
	append(c, a)[0].Match()       //= Match types.go:10
	var d Route
	d.Match()                     //= Match types.go:10
	(*Route)(nil).Match()         //= Match types.go:10
	Route2(3).Double()            //= Route2 types.go:18, Double types.go:19
	size.Double()                 //= Double types.go:19
	global.pool.first.Match()     //= Match types.go:10
	one.Match()                   //= Match types.go:10
	two.Error()                   //= Error external
	_ = (*Route).Match            //= Match types.go:10
	f := a.Match                  //= Match types.go:10
	f()                           //= f local
	var any interface{} = a
	any.(*Route).Match()          //= Match types.go:10
	if x, ok := any.(*Pool); ok {
		x.Get()                   //= Get types.go:11
	}
	switch v := any.(type) {
	case *Route:
		v.Match()                 //= Match types.go:10
	case *Pool:
		v.Get()                   //= Get types.go:11
	}
	if v, ok := e.names["y"]; ok {
		v.Match()                 //= Match types.go:10
	}
	var mu sync.Mutex
	mu.Lock()                     //= Lock external
	http.DefaultClient.Get("x")   //= Get external
	func() *Route { return a }().Match() //= Match types.go:10
	e.All()[1:][0].Match()        //= Match types.go:10
	a.Lost()                      //= Lost unknown
}
"#,
        ),
    ]);
}

#[test]
fn embedded_types_lend_their_members() {
    check(&[
        MODULE,
        (
            "a.go",
            r#"package app
import ("net/http"; "io")
type Base struct{ id int }
func (b *Base) Save() {}
type Middle struct{ *Base; http.Handler `json:"-"` }
type Top struct {
	Middle
	Name string
}
type Reader interface {
	io.Reader
	Closer
	Peek() Base
}
type Closer interface{ Shut() }
type Alias = Top
type Copy Top
func (Copy) Own() {}
func use(t *Top, r Reader, a Alias, c Copy) {
	t.Save()             //= Save a.go:4
	t.Base.Save()        //= Base a.go:5, Save a.go:4
	_ = t.id             //= id a.go:3
	t.ServeHTTP(nil, nil) //= ServeHTTP external
	t.Middle.Save()      //= Middle a.go:7
	r.Peek().Save()      //= Peek a.go:13, Save a.go:4
	r.Shut()             //= Shut a.go:15
	r.Read(nil)          //= Read external
	a.Save()             //= Save a.go:4
	_ = c.Name           //= Name a.go:8
	c.Own()              //= Own a.go:18
}
"#,
        ),
    ]);
}

#[test]
fn types_without_a_name_have_their_members_where_they_stand() {
    check(&[
        MODULE,
        (
            "a.go",
            r#"package app
type T struct{ limits struct{ depth *T } }
func (t *T) M() {}
var state struct{ T; last *T }
var _ = func() { for _, tt := range []struct{ use *T }{{use: nil}} { tt.use.M() } } //= use a.go:5, M a.go:3
func use(t *T) {
	t.limits.depth.M()   //= depth a.go:2, M a.go:3
	state.last.M()       //= last a.go:4, M a.go:3
	state.M()            //= M a.go:3
	tests := []struct {
		in *T
	}{
		{in: t},          //= in a.go:11
	}
	for _, tt := range tests {
		tt.in.M()        //= in a.go:11, M a.go:3
	}
	more := []struct {
		T
		n int
	}{}
	more[0].M()          //= M a.go:3
	_ = map[string]T{"a": {limits: t.limits}} //= limits a.go:2
}
"#,
        ),
    ]);
}

#[test]
fn generics_are_filled_in_where_that_is_simple() {
    check(&[
        MODULE,
        (
            "a.go",
            r#"package app
import ("slices"; "sync"; "sync/atomic")
type Item struct{}
func (i *Item) Do2() {}
type Doer interface{ Do2() }
type List[T any] struct{ items []T; next *List[T] }
func (l *List[E]) First() E { return l.items[0] }
func NewList[T any](items ...T) *List[T] { return nil }
func Map[A, B any](in []A, f func(A) B) []B { return nil }
func Each[D Doer](d D) { d.Do2() } //= Do2 a.go:5
type Key[T any] func(T) string
func ByKey[T any](k Key[T]) *List[T] { return nil }
func key(i *Item) string { return "" }
type Source[T any] interface{ Next() T }
type Queue[T any] interface{ Source[T]; Len() int }
func drain(q Queue[*Item]) { q.Next().Do2() } //= Next a.go:14, Do2 a.go:4
var once = sync.OnceValue(func() *Item { return nil })
func use(l List[*Item], p atomic.Pointer[Item], xs []*Item) {
	l.First().Do2()                //= First a.go:7, Do2 a.go:4
	l.next.items[0].Do2()          //= Do2 a.go:4
	NewList(&Item{}).First().Do2() //= Do2 a.go:4
	NewList[*Item]().First().Do2() //= Do2 a.go:4
	Map(xs, func(i *Item) *Item { return i })[0].Do2() //= Map a.go:9, Do2 a.go:4
	ByKey(key).First().Do2()       //= Do2 a.go:4
	slices.Clone(xs)[0].Do2()      //= Clone external, Do2 a.go:4
	p.Load().Do2()                 //= Load external, Do2 a.go:4
	once().Do2()                   //= Do2 a.go:4
}
"#,
        ),
    ]);
}

#[test]
fn long_receivers_and_values_are_followed() {
    let long = "\"a long text, which is longer than what is kept of a receiver or of a value by far\"";
    let chain = format!(
        "package app\ntype B struct{{}}\nfunc (b *B) With(s string) *B {{ return b }}\nfunc (b *B) End() *E {{ return nil }}\n\
         type E struct{{}}\nfunc (e *E) Fin() {{}}\nfunc use(b *B) {{\n\tx := b.\n{}\t\tEnd()\n\tx.Fin() //= Fin app.go:6\n\tb.\n{}\t\tEnd().Fin() //= End app.go:4, Fin app.go:6\n}}\n",
        format!("\t\tWith({long}). // it's one\n").repeat(12),
        format!("\t\tWith({long}).\n").repeat(12),
    );
    check(&[MODULE, ("app.go", &chain)]);
}

#[test]
fn an_unknown_receiver_is_only_guessed_by_a_rare_name() {
    check(&[
        MODULE,
        (
            "a.go",
            r#"package app
type T struct{}
func (T) Peculiar() {}
func (T) Close() {}
func use() {
	mystery().Peculiar() //= Peculiar guess a.go:3
	mystery().Close()    //= Close unknown
	_ = mystery().Field  //= Field unknown
}
"#,
        ),
    ]);
}

#[test]
fn cycles_end() {
    check(&[
        MODULE,
        (
            "a.go",
            r#"package app
type A B
type B A
type S struct{ S }
type I interface{ I }
var x = y
var y = x
type G[T any] struct{ next *G[[]T] }
func use(a A, s S, i I, g G[int]) {
	a.Lost()        //= Lost unknown
	s.Lost()        //= Lost unknown
	i.Lost()        //= Lost unknown
	x.Lost()        //= Lost unknown
	_ = g.next.next.next.lost //= next a.go:8, lost unknown
}
"#,
        ),
    ]);
}

#[test]
fn methods_implement_those_of_an_interface() {
    let text = "package app\ntype I interface { Do(x int) error; Other() }\ntype A struct{}\nfunc (A) Do(x int) error { return nil }\nfunc (A) Other() {}\n\
                type B struct{}\nfunc (B) Do(x int) error { return nil }\ntype C struct{ A }\nfunc (*C) Do(y int) error { return nil }\n";
    let world = world(&[MODULE, ("a.go", text)]);
    let resolver = resolver("go", Rc::new(&world)).expect("there are rules for Go");
    let declared = world.symbols_named("Do")[0];
    let found: Vec<String> = resolver.implementations(declared).iter().map(|&at| world.place(at)).collect();
    assert_eq!(found, ["a.go:4", "a.go:9"]);
}

#[test]
fn imports_mean_packages() {
    let text = "package app\nimport (\n\t\"fmt\"\n\t\"example.com/app/sub\"\n\t\"example.com/app/none\"\n)\n";
    let world = world(&[MODULE, ("sub/s.go", "package sub\nfunc F() {}\n"), ("a.go", text)]);
    let resolver = resolver("go", Rc::new(&world)).expect("there are rules for Go");
    let file = world.file_at("a.go").expect("it was added");
    let found: Vec<String> = (0..4).map(|at| show(&world, &resolver.import(file, at))).collect();
    assert_eq!(found, ["external", "module", "unknown", "unknown"]);
}

#[test]
fn broken_code_is_no_reason_to_fail() {
    let whole = include_str!("../fixtures/go/server.go");
    for end in (0..whole.len()).step_by(211) {
        let cut = whole.get(..end).unwrap_or("");
        let world =
            world(&[MODULE, ("a.go", cut), ("b.go", include_str!("../fixtures/go/broken.go")), ("c.go", whole)]);
        let resolver = resolver("go", Rc::new(&world)).expect("there are rules for Go");
        for file in world.files() {
            // One reference more than there are.
            for at in 0..=file.facts.references.len() {
                resolver.reference(file.id, at as u32);
            }
        }
    }
}
