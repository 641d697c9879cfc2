"""Compares the answers of two builds: `python same_answers.py BINARY_A BINARY_B [--only WORD] [--doctor] [--show N]`.

Both index the same repositories, each into a data folder of its own: branches, uncommitted edits, several languages, homonyms, a file and
a name too large for one answer, a folder without git, a project that was never indexed, and one with a corrupt index. Then both get the
same requests: every tool with many combinations of arguments and with every kind of error, as JSON and as text, over a pipe; `tools/list`;
every command with `--json`; and the pages of the explorer. Answers must be equal byte for byte, except for what differs from run to run: times,
durations, job ids, sizes on disk, and the names of the two data folders.

Prints the differences and the number of requests, and exits with 1 on a difference. `--doctor` changes one byte of one answer of
BINARY_B, to show that a difference is found.
"""

import argparse
import html
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import ground

FAR = "2024-05-0{}T12:00:00Z"


# The repositories

FILES = {
    "src/lib.rs": "//! A shop.\npub mod auth;\npub mod store;\n\npub use store::Store;\n",
    "src/auth.rs": '''//! Tokens and who may use them.

use crate::store::{Load, Store};

/// A token of a user.
#[derive(Debug, Clone)]
pub struct Token {
    pub user: String,
    secret: u64,
}

impl Token {
    /// Makes a token.
    pub fn new(user: &str) -> Self {
        Token { user: user.to_owned(), secret: hash(user) }
    }

    /// Validates the token against the store.
    pub fn validate(&self, store: &dyn Load) -> Result<(), String> {
        match store.load(&self.user) {
            Some(secret) if secret == self.secret => Ok(()),
            _ => Err(format!("token rejected for {}", self.user)),
        }
    }
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(7, |sum, byte| sum * 31 + u64::from(byte))
}

/// Logs a user in.
pub fn login(store: &Store, user: &str) -> Result<Token, String> {
    let token = Token::new(user);
    token.validate(store)?;
    unknown_call(&token);
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_works() {
        let store = Store::default();
        assert!(login(&store, "ann").is_err());
    }
}
''',
    "src/store.rs": '''use std::collections::HashMap;

/// Loads secrets.
pub trait Load {
    fn load(&self, key: &str) -> Option<u64>;
}

#[derive(Default)]
pub struct Store {
    map: HashMap<String, u64>,
}

impl Load for Store {
    fn load(&self, key: &str) -> Option<u64> {
        self.map.get(key).copied()
    }
}

pub struct Empty;

impl Load for Empty {
    fn load(&self, _: &str) -> Option<u64> {
        None
    }
}

pub const LIMIT: usize = 10;

pub fn open(path: &str) -> Store {
    log(path);
    log(path);
    Store::default()
}

fn log(text: &str) {
    println!("connection refused: {text}");
}
''',
    "py/shop/__init__.py": "from .cart import Cart\n",
    "py/shop/cart.py": '''"""The cart of a user."""

import json


class Base:
    def total(self):
        raise NotImplementedError


class Cart(Base):
    """Keeps items."""

    limit = 10

    def __init__(self, items=None):
        self.items = items or []

    def add(self, item):
        self.items.append(item)
        return self

    def total(self):
        return sum(item.price for item in self.items)

    def load(self, text):
        return json.loads(text)


def checkout(cart: Cart):
    cart.add(None)
    return cart.total()
''',
    "py/tests/test_cart.py": "from shop.cart import Cart, checkout\n\n\ndef test_total():\n    cart = Cart()\n    assert checkout(cart) == 0\n    assert cart.total() == 0\n",
    "go/main.go": '''package main

import "fmt"

// Loader loads.
type Loader interface {
	Load(key string) int
}

type disk struct{ path string }

func (d disk) Load(key string) int { return len(key) }

func run(l Loader) {
	fmt.Println(l.Load("a"))
}

func main() {
	run(disk{"x"})
}
''',
    "web/src/api.ts": '''import { format } from "./format";

export interface Item { id: number; name: string }

export class Api {
  #cache = new Map<number, Item>();
  constructor(private base: string) {}
  async load(id: number): Promise<Item> {
    const hit = this.#cache.get(id);
    if (hit) return hit;
    return fetch(format(this.base, id)).then((r) => r.json());
  }
}

export const open = (base: string) => new Api(base);
''',
    "web/src/format.ts": "export function format(base: string, id: number): string {\n  return `${base}/${id}`;\n}\n",
    "java/src/main/java/shop/Order.java": "package shop;\n\npublic class Order {\n    private int total;\n    public Order(int total) { this.total = total; }\n    protected int total() { return total; }\n    public static Order open() { return new Order(3); }\n}\n",
    "native/list.c": "#include <stdio.h>\n#define LIMIT 10\n\nstruct list { int size; };\n\nint open(struct list *list) {\n    return list->size + LIMIT;\n}\n",
    "docs/guide.md": "# Guide\n\n## Login\n\nCall `login` with a Store.\n\n## Errors\n\nconnection refused means that the store is closed.\n",
    "Makefile": "all: build\n\nbuild:\n\tcargo build\n",
    "config.toml": "[server]\nport = 80\n\n[server.tls]\nkey = \"x\"\n",
    "script.sh": "#!/bin/sh\nload() {\n  echo load\n}\nload\n",
    "data.csv": "a,b\n1,2\n",
}


def large_files():
    """A name with many uses, and a file with many symbols."""
    rng = random.Random(5)
    wide = ["pub struct Wide;\n\nimpl Wide {"]
    for at in range(420):
        words = " ".join(rng.choice(["reads", "the", "next", "page", "of", "rows"]) for _ in range(6))
        wide.append(f"    /// Method {at} {words}.\n    pub fn method_number_{at}(&self, first: &str, second: &[u8]) -> u32 {{\n        self.popular({at}) + popular_free({at})\n    }}\n")
    wide.append("    pub fn popular(&self, at: u32) -> u32 {\n        at\n    }\n}\n\npub fn popular_free(at: u32) -> u32 {\n    at + 1\n}\n")
    return {"src/wide.rs": "\n".join(wide)}


class Ground:
    def __init__(self, folder):
        self.folder = folder
        self.repo = self.place("repo")
        write(self.repo, {**FILES, **large_files()})
        self.commit(self.repo, 1, "first")
        self.git(self.repo, "tag", "v1")
        write(self.repo, {"src/extra.rs": "use crate::auth::login;\n\npub fn extra() {\n    let _ = login;\n}\n"})
        self.commit(self.repo, 2, "second")
        self.git(self.repo, "checkout", "-q", "-b", "feature")
        auth = FILES["src/auth.rs"].replace("user: &str) -> Result<Token", "user: &str, strict: bool) -> Result<Token").replace("sum * 31", "sum * 33")
        write(self.repo, {
            "src/auth.rs": auth.replace("/// Makes a token.", "/// Makes a new token."),
            "src/added.rs": "pub fn added() -> u32 {\n    crate::store::open(\"x\");\n    1\n}\n",
            "web/src/text.ts": FILES["web/src/format.ts"],
        })
        os.remove(os.path.join(self.repo, "web/src/format.ts"))
        os.remove(os.path.join(self.repo, "native/list.c"))
        self.commit(self.repo, 3, "feature")
        self.git(self.repo, "checkout", "-q", "main")
        self.git(self.repo, "branch", "unseen")
        self.git(self.repo, "checkout", "-q", "--orphan", "island")
        self.commit(self.repo, 4, "island")
        self.git(self.repo, "checkout", "-q", "main")
        # Uncommitted edits.
        write(self.repo, {
            "src/store.rs": FILES["src/store.rs"].replace("pub const LIMIT: usize = 10;", "pub const LIMIT: usize = 20;\n\npub fn edited() -> usize {\n    LIMIT\n}"),
            "notes.md": "# Notes\n\nNot committed.\n",
        })
        self.plain = self.place("plain", git=False)
        write(self.plain, {"a.py": "def alone():\n    return beside()\n\n\ndef beside():\n    return 1\n"})
        self.new = self.place("new")
        write(self.new, {"a.rs": "pub fn fresh() {}\n"})
        self.commit(self.new, 1, "first")
        self.corrupt = self.place("corrupt")
        write(self.corrupt, {"a.rs": "pub fn broken() {}\n"})
        self.commit(self.corrupt, 1, "first")
        self.unknown = self.place("unknown")
        write(self.unknown, {"a.rs": "pub fn nobody() {}\n"})
        self.commit(self.unknown, 1, "first")

    def place(self, name, git=True):
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        if git:
            self.git(path, "init", "-q", "-b", "main")
        return path

    def git(self, root, *args, **more):
        who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@a", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@a"}
        env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", **who, **more}
        subprocess.run(["git", *args], cwd=root, env=env, check=True, capture_output=True)

    def commit(self, root, day, message):
        when = FAR.format(day)
        self.git(root, "add", "-A")
        self.git(root, "commit", "-q", "-m", message, GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)


def write(root, files):
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as file:
            file.write(text)


# The requests

def combinations(**values):
    """All combinations of these arguments; None leaves one out."""
    for chosen in itertools.product(*values.values()):
        yield {name: value for name, value in zip(values, chosen) if value is not None}


def calls(ground):
    """The calls of the main repository."""
    yield from search_calls()
    yield from symbol_calls()
    yield from view_calls()
    yield from change_calls()
    yield from error_calls(ground)


def search_calls():
    queries = ["login", "where are tokens validated", '"connection refused"', "src/auth.rs", "auth.rs:20", "thread 'main' panicked at src/store.rs:12"]
    for query in queries:
        for more in combinations(detail_level=["location", "signature", "context"], compact=[None, True]):
            yield "search_code", {"query": query, **more}
    for more in combinations(ranking_explain_level=["off", "basic", "full"], limit=[None, 3]):
        yield "search_code", {"query": "load", **more}
    for more in combinations(kind=[None, "fn", "class"], language=[None, "python"], tests=[None, "only"]):
        yield "search_code", {"query": "total cart", **more}
    for mode in ("literal", "regex", "auto"):
        yield "search_code", {"query": "connection refused", "mode": mode}
        yield "search_code", {"query": "zzz nothing", "mode": mode}
    for path_filter in ("src", "*.py", "!src,*.rs", "web/**", "nowhere"):
        yield "search_code", {"query": "load", "path_filter": path_filter}
    for query in ("valdate", "lgin", "Lodaer", "how does the quuxinator frobnicate", "method_number", "popular"):
        yield "search_code", {"query": query, "limit": 200}
    yield "search_code", {"query": "method number page", "limit": 200, "detail_level": "context", "ranking_explain_level": "full"}
    for name in ("login", "Token::validate", "load", "open", "nosuch", "valdate", "src/auth.rs:20", "popular", "Cart.total"):
        for more in combinations(detail_level=["location", None, "context"], compact=[None, True]):
            yield "locate_symbol", {"name": name, **more}
    for more in combinations(kind=["fn", "method", "struct"], language=[None, "rust", "go"]):
        yield "locate_symbol", {"name": "load", **more}
    for level in ("basic", "full"):
        yield "locate_symbol", {"name": "load", "ranking_explain_level": level, "limit": 2}
    yield "locate_symbol", {"name": "load", "also": ["login", "nosuch", "open", ""]}
    for pattern in ("LIMIT", "fn \\w+", "load\\(", "nothing-here", "popular"):
        for more in combinations(context=[None, 2], limit=[None, 3, 200]):
            yield "grep_code", {"pattern": pattern, **more}
    for more in combinations(literal=[None, True], ignore_case=[None, True], word=[None, True]):
        yield "grep_code", {"pattern": "Load", **more}
    for more in ({"path_filter": "*.rs"}, {"tests": "only"}, {"tests": "exclude"}, {"language": "go"}, {"ref": "feature"}, {"path_filter": "none"}):
        yield "grep_code", {"pattern": "load", **more}
    for what in (["login"], ["src/auth.rs"], ["src/auth.rs:10-20"], ["src/auth.rs:20"], ["src/wide.rs"], ["nosuch"], ["nosuch.rs"], ["login", "nosuch", "Cart", "docs/guide.md"],
                 ["load"], ["src"], ["data.csv"], ["src/wide.rs:1-3000"], ["src/auth.rs:900"], []):
        for more in combinations(max_tokens=[None, 200, 20000], ref=[None, "feature"]):
            yield "read_code", {"what": what, **more}


def symbol_calls():
    names = ("login", "load", "Token", "Store::load", "Load::load", "popular", "popular_free", "checkout", "Cart", "total", "nosuch", "LIMIT", "Loader", "src/auth.rs:20", "hash", "server")
    for name in names:
        yield "find_references", {"symbol_name": name}
        yield "find_references", {"symbol_name": name, "include_text": True, "limit": 200}
        yield "get_call_graph", {"symbol_name": name}
        yield "get_call_graph", {"symbol_name": name, "depth": 3, "list_unresolved": True, "limit": 200}
        yield "get_symbol_hierarchy", {"symbol_name": name}
        yield "get_symbol_hierarchy", {"symbol_name": name, "direction": "descendants"}
        for scope in ("file", "module", "package"):
            yield "find_related_symbols", {"symbol_name": name, "scope": scope}
    for kind in ("imports", "calls", "implements", "extends", "references"):
        yield "find_references", {"symbol_name": "Load", "kind": kind}
    for more in ({"tests": "only"}, {"tests": "exclude"}, {"path": "py/shop/cart.py"}, {"ref": "feature"}, {"limit": 1}, {"also": ["login", "nosuch", "Cart"]}):
        yield "find_references", {"symbol_name": "total", **more}
        yield "get_call_graph", {"symbol_name": "total", **more}
    for direction in ("callers", "callees", "both"):
        yield "get_call_graph", {"symbol_name": "login", "direction": direction, "depth": 9, "path_to": "hash"}
        yield "get_call_graph", {"symbol_name": "login", "direction": direction, "limit": 1, "path_to": "checkout"}
    for path in ("src/wide.rs", "py/shop/cart.py"):
        yield "get_symbol_hierarchy", {"symbol_name": "Wide", "path": path, "direction": "descendants"}
        yield "find_related_symbols", {"symbol_name": "load", "path": path, "limit": 2}
    for path in ("src/auth.rs", "src/wide.rs", "py/shop/cart.py", "go/main.go", "web/src/api.ts", "docs/guide.md", "config.toml", "data.csv", "nosuch.rs", "src/auht.rs", "cart.py", "src", "/etc/passwd"):
        for more in combinations(depth=[None, "top"], name=[None, "load"]):
            yield "get_file_outline", {"path": path, **more}
    yield "get_file_outline", {"path": "src/auth.rs", "ref": "feature", "language": "rust"}


def view_calls():
    for query in ("where are tokens validated", "login", "zzz", "popular method"):
        for more in combinations(strategy=[None, "breadth", "depth"], max_tokens=[None, 100, 900, 30000]):
            yield "get_code_context", {"query": query, **more}
    yield "get_code_context", {"query": "", "symbols": ["login", "nosuch", "Cart"]}
    yield "get_code_context", {"query": "", "max_tokens": 500}
    yield "get_code_context", {"query": "load", "path_filter": "go", "language": "go"}
    for max_tokens in (0, -1, 10**9):
        yield "get_code_context", {"query": "x", "max_tokens": max_tokens}
    for query, path, line in (("login", "src/auth.rs", 33), ("login", "src/auth.rs", 1), ("login", "nosuch.rs", 1), ("zzz", "src/auth.rs", 33), ("load", "py/shop/cart.py", 26),
                              ("load total", "src/store.rs", 5), ("login", "src/auth.rs", 9999), ("total", "data.csv", 1)):
        yield "explain_ranking", {"query": query, "result_path": path, "result_line_start": line}
        yield "explain_ranking", {"query": query, "result_path": path, "result_line_start": line, "limit": 1, "language": "rust"}
    before = [("search_code", {"query": "tokens validated"}), ("locate_symbol", {"name": "lgin"}), ("get_call_graph", {"symbol_name": "hash"}), ("search_code", {"query": "login", "language": "go"}), ("nosuch", {})]
    after = [{"results": [], "query_intent": "symbol", "top_score": 0.1}, {"results": [{"score": 0.9}]}, {}, {"results": [{"score": 0.3, "name": "login"}], "total_candidates": 1}]
    for (tool, params), results, threshold in itertools.product(before, after, (None, 0.95)):
        more = {} if threshold is None else {"confidence_threshold": threshold}
        yield "suggest_followup_queries", {"previous_query": {"tool": tool, "params": params}, "previous_results": results, **more}


def change_calls():
    refs = [{"base_ref": "main", "head_ref": "feature"}, {"base_ref": "v1", "head_ref": "main"}, {"head_ref": "@worktree"}, {"base_ref": "main", "head_ref": "@worktree"}, {},
            {"base_ref": "main", "head_ref": "nosuch"}, {"base_ref": "main", "head_ref": "island"}, {"base_ref": "main", "head_ref": "main"}, {"base_ref": "main~1", "head_ref": "feature"}]
    for pair in refs:
        for more in combinations(include_callers=[None, True], include_edges=[None, True], include_docs=[None, True]):
            yield "diff_context", {**pair, **more}
    for more in ({"limit": 1}, {"path_filter": "src"}, {"path_filter": "web"}, {"tests": "only"}, {"tests": "exclude"}):
        yield "diff_context", {"base_ref": "main", "head_ref": "feature", **more}
    for name in ("login", "Token", "hash", "added", "format", "open", "nosuch", "Token::new", "popular"):
        for pair in ({"base_ref": "main", "head_ref": "feature"}, {"base_ref": "v1", "head_ref": "@worktree"}):
            for more in combinations(include_diff=[None, True], path=[None, "src/auth.rs"]):
                yield "compare_symbol_between_commits", {"symbol_name": name, **pair, **more}
    yield "compare_symbol_between_commits", {"symbol_name": "login", "base_ref": "main", "head_ref": "nosuch"}
    for ref in ("feature", "v1", "main~1", "HEAD", "unseen", "nosuch"):
        yield "search_code", {"query": "login", "ref": ref}
        yield "locate_symbol", {"name": "login", "ref": ref}
        yield "find_references", {"symbol_name": "login", "ref": ref}
        yield "get_file_outline", {"path": "src/auth.rs", "ref": ref}
        yield "get_symbol_hierarchy", {"symbol_name": "validate", "ref": ref}
        yield "get_code_context", {"query": "login", "ref": ref}
    for policy in ("strict", "balanced", "best_effort"):
        yield "search_code", {"query": "login", "freshness_policy": policy}
        yield "locate_symbol", {"name": "login", "freshness_policy": policy}
    yield "list_refs", {}
    yield "index_status", {}
    yield "health_check", {}


def error_calls(ground):
    tools = ("search_code", "locate_symbol", "get_code_context", "find_references", "get_call_graph", "get_file_outline", "grep_code", "read_code", "get_symbol_hierarchy", "find_related_symbols",
             "explain_ranking", "suggest_followup_queries", "diff_context", "compare_symbol_between_commits", "list_refs", "switch_ref", "index_repo", "sync_repo", "index_status", "health_check")
    right = {"search_code": {"query": "x"}, "locate_symbol": {"name": "x"}, "get_code_context": {"query": "x"}, "find_references": {"symbol_name": "x"}, "get_call_graph": {"symbol_name": "x"},
             "get_file_outline": {"path": "x"}, "grep_code": {"pattern": "x"}, "read_code": {"what": ["x"]}, "get_symbol_hierarchy": {"symbol_name": "x"}, "find_related_symbols": {"symbol_name": "x"},
             "explain_ranking": {"query": "x", "result_path": "a", "result_line_start": 1}, "suggest_followup_queries": {"previous_query": {"tool": "x"}, "previous_results": {}},
             "compare_symbol_between_commits": {"symbol_name": "x", "base_ref": "main", "head_ref": "feature"}, "switch_ref": {"ref": "main"}}
    for tool in tools:
        arguments = right.get(tool, {})
        yield tool, {**arguments, "colour": 1}
        yield tool, {**arguments, "workspace": os.path.join(ground.folder, "absent")}
        yield tool, {**arguments, "workspace": ground.unknown}
        yield tool, {**arguments, "workspace": ground.new} if tool not in ("index_repo", "sync_repo") else {"workspace": ""}
        yield tool, {**arguments, "workspace": 7}
        for name in arguments:
            yield tool, {key: value for key, value in arguments.items() if key != name}
            yield tool, {**arguments, name: "x" * 70000}
            yield tool, {**arguments, name: True}
            yield tool, {**arguments, name: ""}
    for tool in ("search_code", "locate_symbol", "grep_code", "find_references", "get_call_graph", "find_related_symbols", "diff_context"):
        for limit in (0, -5, 5000, "ten", 1.5, 1e30):
            yield tool, {**right.get(tool, {}), "limit": limit}
    for tool, name in (("search_code", "detail_level"), ("search_code", "mode"), ("search_code", "freshness_policy"), ("search_code", "ranking_explain_level"), ("search_code", "kind"), ("search_code", "language"),
                       ("search_code", "tests"), ("find_references", "kind"), ("get_call_graph", "direction"), ("get_symbol_hierarchy", "direction"), ("find_related_symbols", "scope"),
                       ("get_code_context", "strategy"), ("get_file_outline", "depth"), ("search_code", "cursor"), ("find_references", "cursor"), ("get_call_graph", "cursor"), ("grep_code", "cursor"), ("get_file_outline", "cursor")):
        yield tool, {**right[tool], "path": "src/auth.rs", name: "wrong"} if tool == "get_file_outline" else {**right[tool], name: "wrong"}
    yield "search_code", {"query": "load", "path_filter": "["}
    yield "search_code", {"query": "(", "mode": "regex"}
    yield "grep_code", {"pattern": "("}
    yield "locate_symbol", {"name": "x", "also": ["a"] * 300}
    yield "locate_symbol", {"name": "sym_00000000000000000000000000"}
    yield "find_references", {"symbol_name": "b3:00000000000000000000000000000000"}
    yield "suggest_followup_queries", {"previous_query": {"tool": "x", "params": json.loads("[" * 40 + "]" * 40)}, "previous_results": {}}
    yield "nosuch_tool", {}


COMMANDS = [
    "search login", "search where are tokens validated --explain", "search zzz", "search load --detail context --all", "locate login", "locate nosuch", "locate load --kind fn", "grep LIMIT", "grep -C 2 load --limit 3",
    "grep LIMIT -c", "grep LIMIT -l", "read login src/auth.rs:1-9", "read nosuch", "outline src/auth.rs", "outline src/nosuch.rs", "references login", "references total --in py/shop/cart.py", "references nosuch",
    "callers login --depth 2", "callees login", "callees nosuch", "context where are tokens validated --max-tokens 500", "related login --scope module", "related load", "hierarchy Token --direction descendants", "hierarchy load",
    "diff main..feature", "diff", "diff HEAD @worktree", "diff main..nosuch", "compare login main..feature", "compare nosuch main..feature", "explain login src/auth.rs:33", "explain login src/nosuch.rs:33",
    "status", "refs", "doctor", "doctor src/auth.rs", "doctor nosuch.rs", "doctor data.csv", "config show", "config path", "facts src/auth.rs", "facts go/main.go", "facts nosuch.rs", "languages", "tools", "projects",
    "prune-overlays --dry-run", "export edges", "export symbols", "sync", "index", "index --ref feature", "index --ref nosuch", "sync --changed src/auth.rs", "init", "forget /nosuch", "state export OUT/a.tar.zst", "state export OUT/a.tar.zst",
    "state import OUT/a.tar.zst", "state import OUT/none.tar.zst", "search", "search --limit ten x", "nosuch", "search x --ref unseen", "--workspace /nosuch search x", "--config /nosuch search x",
]

PAGES = 250

# Pages that every run visits; links lead to more.
ADDRESSES = [
    "/search?q=login", "/search?q=zzz", "/search?q=load&kind=fn&tests=exclude", "/search", "/why?q=login&path=src/auth.rs&line=33", "/why?q=login&path=nosuch.rs&line=1",
    "/symbol/login", "/symbol/load", "/symbol/Token", "/symbol/LIMIT", "/symbol/nosuch", "/symbol/server", "/calls/login", "/calls/login?direction=callees", "/calls/popular", "/graph/login", "/graph/login?hops=2",
    "/graph/hash?hops=2&tests=include", "/references/login", "/references/load", "/references/popular", "/references/Load?kind=implements", "/hierarchy/Token", "/hierarchy/Store", "/hierarchy/Base", "/hierarchy/load",
    "/file/src/auth.rs", "/file/src/auth.rs?line=20", "/file/src/wide.rs?line=1800", "/file/src", "/file/nosuch.rs", "/file/data.csv", "/folder/src", "/folder/nosuch", "/branch", "/branch?base=main&head=feature",
    "/branch?base=main&head=nosuch", "/branch?base=main&head=feature&path=src", "/compare/login?base=main&head=feature", "/compare/added?base=main&head=feature", "/compare/nosuch?base=main&head=feature", "/status", "/live",
    "/nosuch", "/symbol/login?ref=feature", "/symbol/login?ref=nosuch", "/?ref=v1", "/?tree=/nosuch",
]


# The comparison

class Side:
    """One of the two builds."""

    def __init__(self, folder, letter, binary):
        own = os.path.join(folder, f"build-{letter}")
        os.makedirs(own)
        # Both have the same name, which help and messages repeat.
        name = os.path.join(own, "codecompass")
        shutil.copy2(binary, name)
        self.letter, self.out = letter, os.path.join(own, "out")
        os.makedirs(self.out)
        self.program = ground.Program(name, os.path.join(own, "data"))
        self.own = own

    def plain(self, text):
        text = text.replace(self.own, "OWN")
        for pattern, word in VARYING:
            text = pattern.sub(word, text)
        return text


VARYING = [(re.compile(pattern), word) for pattern, word in [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r'(\\?"[a-z_]*(_ms|_seconds|bytes|bytes_before|bytes_after|bytes_freed)\\?": ?)[0-9.]+', r"\1N"),
    (r'(\\?"job_id\\?": ?\\?")[^"\\]+', r"\1JOB"),
    (r"\bjob [0-9a-f]{12}\b", "JOB"),
    (r"[0-9.,]+ (ms|s|KiB|MiB|GiB|B|bytes|kB|MB|GB|seconds|minutes)\b", "N UNIT"),
    # A sync that found nothing to do.
    (r'<tr><td>TIME</td><td>\w+</td><td>incremental · published</td><td class="number">0</td><td class="number">N UNIT</td></tr>', ""),
    (r"  JOB \w+ incremental published in N UNIT, 0 files changed(\\n|\n)", ""),
    (r'\{\s*"job_id": "JOB",\s*"ref": "\w+",\s*"mode": "incremental",\s*"status": "published",\s*"changed_files": 0,[^}]*\},?\s*', ""),
    (r"127\.0\.0\.1:\d+", "HOST"),
    (r"token=[0-9A-Za-z_-]+", "token=T"),
    (r"nonce-[0-9A-Za-z+/=_-]+", "nonce"),
    (r'nonce="[^"]+"', "nonce"),
]]


class Comparison:
    def __init__(self, sides, show, doctor):
        self.sides, self.show, self.doctor = sides, show, doctor
        self.count, self.errors, self.differing = 0, 0, []

    def check(self, what, texts):
        self.count += 1
        one, other = (side.plain(text) for side, text in zip(self.sides, texts))
        if self.doctor and self.count == 20:
            other = other[:-9] + "#" + other[-8:]
        self.errors += '\\"error\\":{' in one or '"error": {' in one
        if one != other:
            self.differing.append(what)
            if len(self.differing) <= self.show:
                at = next((at for at, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
                print(f"differs: {what}\n  A …{one[max(0, at - 120):at + 160]!r}\n  B …{other[max(0, at - 120):at + 160]!r}", flush=True)


    def check_schemas(self, what, lists):
        """Compares two lists of tools. The schemas of answers of B may say more than those of A, and in another order."""
        schemas = [[tool.pop("outputSchema", {}) for tool in tools] for tools in lists]
        self.check(what, [json.dumps(tools) for tools in lists])
        for tool, one, other in zip(lists[0], *schemas):
            self.check(f"{what}: {tool['name']}", ["implied", "implied" if implies(other, one) else json.dumps(other)])


def implies(strict, loose):
    """Whether a schema demands everything that another demands."""
    if isinstance(loose, dict):
        return isinstance(strict, dict) and all(name in strict and implies(strict[name], value) for name, value in loose.items())
    if isinstance(loose, list) and all(isinstance(one, str) for one in loose):
        return sorted(strict) == sorted(loose)
    if isinstance(loose, list):
        return isinstance(strict, list) and len(strict) == len(loose) and all(map(implies, strict, loose))
    return strict == loose


class RawPipe(ground.Pipe):
    """Keeps the text of each answer."""

    def receive(self, number):
        until = time.monotonic() + ground.ANSWER_TIMEOUT
        while number not in self.kept:
            line = self.lines.get(timeout=max(0.01, until - time.monotonic()))
            if line is None:
                raise ground.Silent("it has gone")
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self.kept[message["id"]] = line.decode()
        return self.kept.pop(number)

    def post(self, tool, arguments):
        return self.send("tools/call", {"name": tool, "arguments": arguments})


HURRIED = ("(time limit)", "freshness_status\\\":\\\"stale", "freshness_status\\\":\\\"syncing", "\\nstale: ", "\\nsyncing: ")


def ask(pipes, tool, each):
    """The texts of the answers of both. One that ran out of time, or was given while the index is checked, is repeated."""
    if tool in ("index_repo", "sync_repo"):
        return [ask_for_job(pipe, tool, arguments) for pipe, arguments in zip(pipes, each)]
    posted = [pipe.post(tool, arguments) for pipe, arguments in zip(pipes, each)]
    lines = [pipe.receive(number) for pipe, number in zip(pipes, posted)]
    for _ in range(20):
        if lines[0] == lines[1] or not any(word in line for line in lines for word in HURRIED):
            break
        time.sleep(0.05)
        lines = [pipe.receive(pipe.post(tool, arguments)) for pipe, arguments in zip(pipes, each)]
    return lines


def ask_for_job(pipe, tool, arguments):
    """The same for a job, which is refused while the one before cleans up."""
    for _ in range(200):
        line = pipe.receive(pipe.post(tool, arguments))
        if "_in_progress" not in line:
            break
        time.sleep(0.05)
    return line


def wait_idle(side, root):
    for _ in range(200):
        _, said = side.program.run(root, "status", "--json")
        if '"active_job": null' in said or '"active_job"' not in said:
            return
        time.sleep(0.05)


def cursor_of(line):
    try:
        return json.loads(json.loads(line)["result"]["content"][0]["text"])["metadata"].get("next_cursor")
    except (KeyError, ValueError):
        return None


def compare_server(comparison, root, requests, flags, pages=2, **environment):
    """Sends the requests to both servers, and the following pages of each list."""
    pipes = [RawPipe(side.program, root, "--no-prewarm", *flags, **environment) for side in comparison.sides]
    label = " ".join(flags)
    lists = [json.loads(pipe.receive(pipe.send("tools/list", {})))["result"]["tools"] for pipe in pipes]
    comparison.check_schemas(f"[{label}] tools/list", lists)
    for tool, arguments in requests:
        each = [arguments, arguments]
        for page in range(pages):
            lines = ask(pipes, tool, each)
            comparison.check(f"[{label}] {tool} {json.dumps(each[0])[:300]}", lines)
            cursors = [cursor_of(line) for line in lines]
            if None in cursors:
                break
            each = [{**arguments, "cursor": cursor} for cursor in cursors]
        if tool in ("index_repo", "sync_repo"):
            for side in comparison.sides:
                wait_idle(side, root)
    for pipe in pipes:
        pipe.close()


def compare_commands(comparison, root, lines):
    for line in lines:
        texts = []
        for side in comparison.sides:
            code, said = side.program.run(root, *[word.replace("OUT", side.out) for word in line.split()], "--json")
            texts.append(f"{code}\n{said}")
        if line == "tools":
            comparison.check_schemas("codecompass tools --json", [json.loads(text.partition("\n")[2])["tools"] for text in texts])
        else:
            comparison.check(f"codecompass {line} --json", texts)


def compare_pages(comparison, root):
    """Follows the links of the explorer's pages."""
    servers, bases = [], []
    for side in comparison.sides:
        server = subprocess.Popen([side.program.binary, "explore", "--port", "0"], cwd=root, env=side.program.environment(),
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        servers.append(server)
        for line in server.stdout:
            found = re.search(r"http://[0-9.:]+/\S*", line)
            if found:
                bases.append(found.group())
                break
    openers = [urllib.request.build_opener(urllib.request.HTTPCookieProcessor()) for _ in bases]
    origins = ["/".join(base.split("/")[:3]) for base in bases]
    varied = [address + ("&" if "?" in address else "?") + f"as={kind}" for address in ADDRESSES for kind in ("json", "text")]
    seen, queue = set(), ["/" + "/".join(base.split("/")[3:]) for base in bases[:1]] + ADDRESSES + varied
    firsts = {queue[0]: ["/" + "/".join(base.split("/")[3:]) for base in bases]}
    while queue and len(seen) < PAGES:
        path = queue.pop(0)
        if path in seen:
            continue
        seen.add(path)
        # The first page of a workspace may come before its edits were counted.
        for _ in range(10):
            texts = [page(opener, origin + own) for opener, origin, own in zip(openers, origins, firsts.get(path, [path, path]))]
            if comparison.sides[0].plain(texts[0]) == comparison.sides[1].plain(texts[1]):
                break
            time.sleep(0.1)
        comparison.check(f"page {path}", texts)
        links = [html.unescape(link) for link in re.findall(r'href="(/[^"#]*)', texts[0])]
        queue += [link for link in links if link not in seen and "/assets/" not in link]
    for server in servers:
        server.terminate()
        server.wait(20)


def page(opener, address):
    try:
        with opener.open(address, timeout=ground.ANSWER_TIMEOUT) as answer:
            return f"{answer.status}\n{answer.read().decode()}"
    except urllib.error.HTTPError as error:
        return f"{error.code}\n{error.read().decode()}"


def corrupt_index(side, root):
    """Damages the database of a project in the same way in both data folders."""
    said = json.loads(side.program.must(root, "projects", "--json"))
    mine = [one for one in said["projects"] if os.path.realpath(root) in json.dumps(one)]
    for folder, _, names in os.walk(os.path.join(side.own, "data")):
        if "store.db" in names and any(one.get("project_id", "-") in folder for one in mine):
            with open(os.path.join(folder, "store.db"), "r+b") as file:
                file.truncate(100)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary_a")
    parser.add_argument("binary_b")
    parser.add_argument("--doctor", action="store_true", help="change one answer, to show that a difference is found")
    parser.add_argument("--only", help="only the calls of the tools whose names contain this word, on one server")
    parser.add_argument("--show", type=int, default=10, help="how many differences to print")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="same-answers-") as folder:
        folder = os.path.realpath(folder)
        place = Ground(folder)
        sides = [Side(folder, letter, binary) for letter, binary in (("a", args.binary_a), ("b", args.binary_b))]
        for side in sides:
            for root in (place.repo, place.plain, place.corrupt):
                side.program.must(root, "index")
            side.program.must(place.repo, "index", "--ref", "feature")
            side.program.must(place.new, "init")
        comparison = Comparison(sides, args.show, args.doctor)
        everything = list(calls(place))
        if args.only:
            everything = [one for one in everything if args.only in one[0]]
            compare_server(comparison, place.repo, everything, ("--answers", "json", "--tools", "all"))
        else:
            compare_everything(comparison, place, everything)
    print(f"{comparison.count} requests, {comparison.errors} of them refused, {len(comparison.differing)} differences")
    sys.exit(1 if comparison.differing else 0)


def compare_everything(comparison, place, everything):
    sides = comparison.sides
    small = [one for at, one in enumerate(everything) if at % 3 == 0]
    compare_server(comparison, place.repo, everything, ("--answers", "json", "--tools", "all"))
    compare_server(comparison, place.repo, everything, ("--answers", "text", "--tools", "all"))
    compare_server(comparison, place.repo, small, ("--answers", "json", "--debug", "--tools", "search_code,get_call_graph,find_references,get_code_context"), CODECOMPASS_QUERY_MAX_RESPONSE_BYTES="8192",
                   CODECOMPASS_QUERY_RANKING_EXPLAIN_LEVEL="basic")
    compare_server(comparison, place.plain, PLAIN, ("--answers", "json"))
    compare_server(comparison, place.new, small[:60] + PLAIN, ("--answers", "json"))
    compare_server(comparison, place.unknown, PLAIN, ("--answers", "json"))
    jobs = [("switch_ref", {"ref": "feature"}), ("locate_symbol", {"name": "added"}), ("switch_ref", {"ref": "nosuch"}), ("switch_ref", {"ref": "unseen"}), ("sync_repo", {}), ("index_repo", {"ref": "unseen"}),
            ("index_repo", {"ref": "nosuch"}), ("index_status", {}), ("list_refs", {}), ("switch_ref", {"ref": "unseen"}), ("index_repo", {"force": True}), ("index_status", {}), ("list_refs", {}), ("health_check", {})]
    compare_server(comparison, place.repo, jobs, ("--answers", "json"))
    compare_commands(comparison, place.repo, COMMANDS)
    compare_commands(comparison, place.plain, ["search alone", "diff", "refs", "status"])
    compare_commands(comparison, place.unknown, ["search x --no-index", "status", "refs"])
    compare_pages(comparison, place.repo)
    for side in sides:
        corrupt_index(side, place.corrupt)
    compare_server(comparison, place.corrupt, PLAIN, ("--answers", "json"))
    compare_commands(comparison, place.corrupt, ["search x", "status", "doctor"])


# Requests that any project can answer, or refuse.
PLAIN = [
    ("search_code", {"query": "alone"}), ("locate_symbol", {"name": "alone"}), ("get_code_context", {"query": "alone"}), ("find_references", {"symbol_name": "beside"}), ("get_call_graph", {"symbol_name": "alone"}),
    ("get_file_outline", {"path": "a.py"}), ("grep_code", {"pattern": "alone"}), ("read_code", {"what": ["alone"]}), ("get_symbol_hierarchy", {"symbol_name": "alone"}), ("find_related_symbols", {"symbol_name": "alone"}),
    ("explain_ranking", {"query": "alone", "result_path": "a.py", "result_line_start": 1}), ("suggest_followup_queries", {"previous_query": {"tool": "search_code", "params": {"query": "alone"}}, "previous_results": {}}),
    ("diff_context", {}), ("compare_symbol_between_commits", {"symbol_name": "alone", "base_ref": "a", "head_ref": "b"}), ("list_refs", {}), ("switch_ref", {"ref": "main"}), ("index_status", {}), ("health_check", {}),
    ("search_code", {"query": "alone", "ref": "main"}),
]


if __name__ == "__main__":
    main()
