//! Searches for pasted stack traces, panics and assertions: the innermost frame in the repository comes first, then the
//! next ones.

use crate::support;

use codecompass_lang::REGISTRY;
use codecompass_query::{Intent, SearchRequest, search};

/// A small tree, and traces with the names that lead the list.
struct Format<'t> {
    language: &'t str,
    files: &'t [(&'t str, &'t str)],
    traces: &'t [(&'t str, &'t [&'t str])],
}

const RUST: Format<'_> = Format {
    language: "Rust",
    files: &[
        ("Cargo.toml", "[package]\nname = \"app\"\n"),
        (
            "app-core/src/transaction.rs",
            "pub struct Change;\n\nimpl Change {\n    pub fn apply(&self, at: usize) -> usize {\n        let sizes = [1, 2];\n        \
             sizes[at]\n    }\n}\n\npub fn unrelated() {\n    panic!(\"the len is wrong\");\n}\n",
        ),
        (
            "app-term/src/main.rs",
            "use app_core::transaction::Change;\n\nfn main() {\n    run(3);\n}\n\nfn run(at: usize) {\n    Change.apply(at);\n}\n",
        ),
        ("app-term/src/thread.rs", "pub fn main_thread() {\n    // thread main panicked at once\n}\n"),
    ],
    traces: &[
        (
            "thread 'main' panicked at app-core/src/transaction.rs:6:9:\nindex out of bounds: the len is 2 but the index is 3\nnote: \
             run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
            &["apply"],
        ),
        ("panicked at app-core/src/transaction.rs:6:9", &["apply"]),
        ("thread 'main' panicked at 'index out of bounds', app-core/src/transaction.rs:6:9", &["apply"]),
        (
            "thread 'main' panicked at app-core/src/transaction.rs:6:9:\nindex out of bounds\nstack backtrace:\n   0: rust_begin_unwind\n             \
             at /rustc/90b35a/library/std/src/panicking.rs:645:5\n   1: core::panicking::panic_bounds_check\n             \
             at /rustc/90b35a/library/core/src/panicking.rs:208:5\n   2: app_core::transaction::Change::apply\n             \
             at ./app-core/src/transaction.rs:6:9\n   3: app_term::run\n             at ./app-term/src/main.rs:8:5\n   4: app_term::main\n             \
             at ./app-term/src/main.rs:4:5\n   5: core::ops::function::FnOnce::call_once\n             \
             at /rustc/90b35a/library/core/src/ops/function.rs:250:5\n",
            &["apply", "run", "main"],
        ),
        // Without debug information a backtrace has names only.
        (
            "thread 'main' panicked:\nstack backtrace:\n   2: app_core::transaction::Change::apply\n   3: app_term::run::h0123456789abcdef\n",
            &["apply", "run"],
        ),
        ("why does it crash at transaction.rs:6 when a change is undone?", &["apply"]),
        ("undo ends the editor (app-core/src/transaction.rs:6:9), but only in main.rs:8:5.", &["apply", "run"]),
    ],
};

const GO: Format<'_> = Format {
    language: "Go",
    files: &[
        ("go.mod", "module example.org/app\n"),
        (
            "server/server.go",
            "package server\n\ntype Server struct{}\n\nfunc (s *Server) handle(n int) int {\n\tsizes := []int{1}\n\treturn sizes[n]\n}\n\n\
             func (s *Server) Serve() {\n\tgo func() {\n\t\ts.handle(3)\n\t}()\n}\n",
        ),
        (
            "main.go",
            "package main\n\nimport \"example.org/app/server\"\n\nfunc main() {\n\ts := &server.Server{}\n\ts.Serve()\n}\n",
        ),
        ("panic.go", "package main\n\nfunc running() {\n\t// goroutine running runtime error index out of range\n}\n"),
    ],
    traces: &[
        (
            "panic: runtime error: index out of range [3] with length 1\n\ngoroutine 1 [running]:\n\
             example.org/app/server.(*Server).handle(...)\n\t/home/me/app/server/server.go:7\n\
             example.org/app/server.(*Server).Serve(0xc000012345)\n\t/home/me/app/server/server.go:12 +0x1d\nmain.main()\n\
             \t/home/me/app/main.go:7 +0x20\nexit status 2\n",
            &["handle", "Serve", "main"],
        ),
        (
            "panic: boom [recovered]\n\ngoroutine 18 [running]:\ntesting.tRunner.func1.2({0x50e1a0, 0x5560b8})\n\
             \t/usr/local/go/src/testing/testing.go:1545 +0x238\npanic({0x50e1a0?, 0x5560b8?})\n\t/usr/local/go/src/runtime/panic.go:914 +0x21f\n\
             example.org/app/server.(*Server).Serve.func1()\n\t/home/me/app/server/server.go:12 +0x1d\n\
             created by example.org/app/server.(*Server).Serve in goroutine 1\n\t/home/me/app/server/server.go:11 +0x2a\n",
            &["Serve"],
        ),
    ],
};

const PYTHON: Format<'_> = Format {
    language: "Python",
    files: &[
        (
            "src/shop/cart.py",
            "class Cart:\n    def total(self, items):\n        return sum(self.price(i) for i in items)\n\n    def price(self, item):\n        \
             raise ValueError(f\"unknown item {item}\")\n",
        ),
        ("src/shop/cli.py", "from shop.cart import Cart\n\n\ndef main():\n    Cart().total([1])\n\n\nmain()\n"),
        (
            "tests/test_cart.py",
            "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total([1]) == 1\n",
        ),
    ],
    traces: &[
        (
            "Traceback (most recent call last):\n  File \"/home/me/shop/src/shop/cli.py\", line 8, in <module>\n    main()\n    ~~~~^^\n  \
             File \"/home/me/shop/src/shop/cli.py\", line 5, in main\n    Cart().total([1])\n  \
             File \"/usr/lib/python3.12/json/decoder.py\", line 355, in raw_decode\n    x()\n  \
             File \"/home/me/shop/src/shop/cart.py\", line 6, in price\n    raise ValueError(f\"unknown item {item}\")\nValueError: unknown item 1\n",
            &["price", "main"],
        ),
        (
            "tests/test_cart.py:5: in test_total\n    assert Cart().total([1]) == 1\nsrc/shop/cart.py:3: in total\n    return \
             sum(self.price(i) for i in items)\nE   ValueError: unknown item 1\n",
            &["total", "test_total"],
        ),
        (
            "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n  \
             File \"/srv/shop/cart.py\", line 6 in price\n  File \"/srv/shop/cart.py\", line 3 in total\n",
            &["price", "total"],
        ),
    ],
};

const JAVA: Format<'_> = Format {
    language: "Java",
    files: &[
        (
            "core/src/main/java/org/shop/Cart.java",
            "package org.shop;\n\npublic class Cart {\n    public Cart() {\n        load();\n    }\n\n    void load() {\n        \
             throw new IllegalStateException(\"no items\");\n    }\n}\n",
        ),
        (
            "web/src/main/java/org/web/Cart.java",
            "package org.web;\n\npublic class Cart {\n    void show() {\n        Runnable r = () -> {\n            new org.shop.Cart();\n        };\n        \
             r.run();\n    }\n}\n",
        ),
        (
            "util/src/main/java/org/util/ArrayList.java",
            "package org.util;\n\npublic class ArrayList {\n    Object get(int at) {\n        return null;\n    }\n}\n",
        ),
    ],
    traces: &[
        (
            "Exception in thread \"main\" java.lang.IllegalStateException: no items\n\tat org.shop.Cart.load(Cart.java:9)\n\tat \
             org.shop.Cart.<init>(Cart.java:5)\n\tat org.web.Cart.lambda$show$0(Cart.java:6)\n\tat org.web.Cart.show(Cart.java:8)\n\tat \
             java.base/java.lang.Thread.run(Thread.java:829)\n",
            &["load", "Cart", "show"],
        ),
        (
            "java.lang.RuntimeException: page\n\tat org.web.Cart.show(Cart.java:8)\n\tat java.util.ArrayList.get(ArrayList.java:427)\nCaused by: \
             java.lang.IllegalStateException: no items\n\tat org.shop.Cart.load(Cart.java:9)\n\t... 1 more\n",
            &["load", "show"],
        ),
    ],
};

const JAVASCRIPT: Format<'_> = Format {
    language: "JavaScript",
    files: &[
        (
            "src/router.js",
            "class Router {\n  match(path) {\n    return this.routes[path].handler;\n  }\n}\n\nfunction start() {\n  new Router().match('/');\n}\n\n\
             module.exports = { Router, start };\n",
        ),
        (
            "src/index.js",
            "const { start } = require('./router');\n\nasync function main() {\n  start();\n}\n\nmain();\n",
        ),
    ],
    traces: &[
        (
            "/app/src/router.js:3\n    return this.routes[path].handler;\n                       ^\n\nTypeError: Cannot read properties of undefined \
             (reading 'handler')\n    at Router.match (/app/src/router.js:3:24)\n    at start (/app/src/router.js:8:16)\n    at async main \
             (file:///app/src/index.js:4:3)\n    at Module._compile (node:internal/modules/cjs/loader:1105:14)\n    at \
             Layer.handle (/app/node_modules/express/lib/router/index.js:95:5)\n",
            &["match", "start", "main"],
        ),
        (
            "match@http://localhost:8080/src/router.js:3:24\nstart@http://localhost:8080/src/router.js?v=1:8:16\n",
            &["match", "start"],
        ),
        ("Uncaught TypeError: x is not a function\n    at eval (webpack-internal:///./src/index.js:4:3)\n", &["main"]),
    ],
};

const C: Format<'_> = Format {
    language: "C",
    files: &[
        (
            "src/networking.c",
            "#include <assert.h>\n\nvoid freeClient(int *c) {\n    assert(c != 0);\n    *c = 0;\n}\n\nvoid readQuery(int *c) {\n    freeClient(c);\n    \
             *c = 1;\n}\n",
        ),
        ("src/server.c", "void readQuery(int *c);\n\nint serverCron(int *c) {\n    readQuery(c);\n    return 0;\n}\n"),
        ("deps/linenoise/main.c", "int main(void) {\n    return 0;\n}\n"),
    ],
    traces: &[
        (
            "==4242==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x4a2b3c\nWRITE of size 4 at \
             0x602000000010 thread T0\n    #0 0x4a2b3c in freeClient /build/app/src/networking.c:5:8\n    #1 0x4a2c00 in readQuery \
             /build/app/src/networking.c:9:5\n    #2 0x4a2d00 in serverCron /build/app/src/server.c:4:5\n    #3 0x7f in __libc_start_main \
             (/lib/x86_64-linux-gnu/libc.so.6+0x2409a)\n\nSUMMARY: AddressSanitizer: heap-use-after-free /build/app/src/networking.c:5:8 in freeClient\n",
            &["freeClient", "readQuery", "serverCron"],
        ),
        ("src/networking.c:10:5: runtime error: store to null pointer of type 'int'", &["readQuery"]),
        (
            "server: src/networking.c:4: void freeClient(int *): Assertion `c != 0' failed.\nAborted (core dumped)",
            &["freeClient"],
        ),
        ("Assertion failed: (c != 0), function freeClient, file networking.c, line 4.", &["freeClient"]),
        ("=== ASSERTION FAILED ===\n==> networking.c:10 'c != 0' is not true\n", &["readQuery"]),
        (
            "#0  0x000055555555 in freeClient (c=0x0) at networking.c:4\n#1  readQuery (c=0x0) at networking.c:9\n#2  0x00 in serverCron (c=0x0) at \
             server.c:4\n",
            &["freeClient", "readQuery", "serverCron"],
        ),
        (
            "==99== Invalid write of size 4\n==99==    at 0x4005: freeClient (networking.c:5)\n==99==    by 0x4010: readQuery (networking.c:9)\n",
            &["freeClient", "readQuery"],
        ),
        (
            "------ STACK TRACE ------\n./server(readQuery+0x1d)[0x45]\n./server(serverCron+0x20)[0x46]\n",
            &["readQuery", "serverCron"],
        ),
        ("crash in networking.c:10 after a client disconnects", &["readQuery"]),
    ],
};

const RUBY: Format<'_> = Format {
    language: "Ruby",
    files: &[
        (
            "lib/shop/cart.rb",
            "module Shop\n  class Cart\n    def total(items)\n      items.map { |i| price(i) }\n    end\n\n    def price(item)\n      \
             raise ArgumentError, \"no price\"\n    end\n  end\nend\n",
        ),
        ("bin/run.rb", "require 'shop/cart'\n\ndef start\n  Shop::Cart.new.total([1])\nend\n\nstart\n"),
    ],
    traces: &[
        (
            "/srv/shop/lib/shop/cart.rb:8:in `price': no price (ArgumentError)\n\tfrom /srv/shop/lib/shop/cart.rb:4:in `block in total'\n\tfrom \
             /usr/lib/ruby/3.2.0/set.rb:501:in `each'\n\tfrom bin/run.rb:4:in `start'\n\tfrom bin/run.rb:7:in `<main>'\n",
            &["price", "total", "start"],
        ),
        (
            "lib/shop/cart.rb:8:in 'Shop::Cart#price': no price (ArgumentError)\n\tfrom lib/shop/cart.rb:4:in 'block in Shop::Cart#total'\n",
            &["price", "total"],
        ),
    ],
};

const CSHARP: Format<'_> = Format {
    language: "C#",
    files: &[
        (
            "src/Shop/Cart.cs",
            "namespace Shop;\n\npublic class Cart\n{\n    public void Load(string name)\n    {\n        throw new System.Exception(\"no items\");\n    \
             }\n\n    public async System.Threading.Tasks.Task ShowAsync()\n    {\n        Load(\"a\");\n    }\n}\n",
        ),
        (
            "src/Shop/Program.cs",
            "public class Program\n{\n    public static void Main()\n    {\n        new Shop.Cart().ShowAsync();\n    }\n}\n",
        ),
    ],
    traces: &[
        (
            "Unhandled exception. System.Exception: no items\n   at Shop.Cart.Load(String name) in C:\\build\\src\\Shop\\Cart.cs:line 7\n   at \
             Shop.Cart.<ShowAsync>d__5.MoveNext() in C:\\build\\src\\Shop\\Cart.cs:line 12\n--- End of stack trace from previous location ---\n   at \
             System.Runtime.CompilerServices.TaskAwaiter.ThrowForNonSuccess(Task task)\n   at Program.Main() in \
             C:\\build\\src\\Shop\\Program.cs:line 5\n",
            &["Load", "ShowAsync", "Main"],
        ),
        ("src/Shop/Cart.cs(12,9): error CS0103: The name 'Load' does not exist in the current context", &["ShowAsync"]),
    ],
};

fn leading(format: &Format<'_>) {
    let folders = [
        tempfile::tempdir().expect("because it can be created"),
        tempfile::tempdir().expect("because it can be created"),
    ];
    for (path, text) in format.files {
        let path = folders[0].path().join(path);
        std::fs::create_dir_all(path.parent().expect("because it has a parent")).expect("because it can be created");
        std::fs::write(path, text).expect("because it can be written");
    }
    let snapshot = support::indexed(&folders);
    for (trace, expected) in format.traces {
        let found = search(&snapshot, &SearchRequest::new(trace, REGISTRY, 10)).expect("because the index is whole");
        let names: Vec<String> =
            found.hits.iter().filter_map(|hit| hit.symbol()).map(|symbol| symbol.name.clone()).collect();
        let leading = &names[..names.len().min(expected.len())];
        assert_eq!(leading, *expected, "{}: {trace}\nall: {names:?}", format.language);
        if trace.contains('\n') {
            assert_eq!(found.intent, Intent::Error, "{trace}");
        }
        let totals: Vec<i64> = found.hits.iter().map(|hit| hit.scores.total_units()).collect();
        assert!(totals.is_sorted_by(|a, b| a >= b), "{totals:?}");
    }
}

#[test]
fn rust() {
    leading(&RUST);
}

#[test]
fn go() {
    leading(&GO);
}

#[test]
fn python() {
    leading(&PYTHON);
}

#[test]
fn java() {
    leading(&JAVA);
}

#[test]
fn javascript() {
    leading(&JAVASCRIPT);
}

#[test]
fn c() {
    leading(&C);
}

#[test]
fn ruby() {
    leading(&RUBY);
}

#[test]
fn csharp() {
    leading(&CSHARP);
}
