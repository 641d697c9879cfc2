"""Checks that every occurrence of a name is counted; not part of CI: `python accounting.py BINARY REPOSITORY`.

Draws names of symbols at random, runs `references` for each, and compares the sum of its `counts` with the leaves that the grammars find
under that name. Needs `tree-sitter` and the grammars of `requirements-grammars.txt`. With `--bare` it looks for the most misleading
answers: names with exactly one symbol that occur in calls and have no references. Prints the counts, and exits with 1 if a sum differs.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import tree_sitter
import tree_sitter_c
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_lua
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript

ECMASCRIPT = {
    "identifier",
    "private_property_identifier",
    "property_identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
    "statement_identifier",
    "type_identifier",
}
# By file extension: language family, grammar, node kinds of names, node kinds to skip, words that are not names.
GRAMMARS = {
    ("py", "pyi", "pyw"): ("python", tree_sitter_python.language, {"identifier"}, set(), {"_", "cls", "self"}),
    ("go",): (
        "go",
        tree_sitter_go.language,
        {"identifier", "field_identifier", "type_identifier", "package_identifier", "label_name"},
        set(),
        {"_"},
    ),
    ("rs",): (
        "rust",
        tree_sitter_rust.language,
        {"identifier", "field_identifier", "shorthand_field_identifier", "type_identifier"},
        {"label", "lifetime", "token_tree_pattern", "visibility_modifier"},
        {"Self", "_"},
    ),
    ("java",): ("java", tree_sitter_java.language, {"identifier", "type_identifier"}, set(), {"var"}),
    ("c", "h"): ("c", tree_sitter_c.language, {"identifier", "field_identifier", "type_identifier"}, {"preproc_arg"}, set()),
    ("lua",): ("lua", tree_sitter_lua.language, {"identifier"}, set(), set()),
    ("ts", "mts", "cts"): ("script", tree_sitter_typescript.language_typescript, ECMASCRIPT, {"meta_property"}, set()),
    ("tsx",): ("script", tree_sitter_typescript.language_tsx, ECMASCRIPT, {"meta_property"}, set()),
    ("js", "mjs", "cjs", "jsx"): ("script", tree_sitter_javascript.language, ECMASCRIPT, {"meta_property"}, set()),
}
CALLS = {"call", "call_expression", "function_call", "method_invocation", "new_expression", "macro_invocation"}


def grammar_of(path):
    ending = path.rsplit(".", 1)[-1].lower() if "." in path else ""
    return next((grammar for endings, grammar in GRAMMARS.items() if ending in endings), None)


class Leaves:
    """Counts how often each name occurs in the code of each family, and how often it is called."""

    def __init__(self):
        self.parsers = {}
        self.names = collections.defaultdict(collections.Counter)
        self.called = collections.defaultdict(collections.Counter)

    def read(self, path, text):
        family, language, kinds, passed_over, words = grammar_of(path)
        if language not in self.parsers:
            self.parsers[language] = tree_sitter.Parser(tree_sitter.Language(language()))
        open_nodes = [self.parsers[language].parse(text).root_node]
        while open_nodes:
            node = open_nodes.pop()
            if node.type in passed_over:
                continue
            if node.child_count:
                open_nodes.extend(node.children)
                continue
            if node.type not in kinds or node.start_byte == node.end_byte:
                continue
            name = text[node.start_byte : node.end_byte].decode("utf-8", "replace")
            if name not in words:
                self.names[family][name] += 1
                self.called[family][name] += is_called(node)


def is_called(node):
    """Whether a name is the callee of a call."""
    child, around = node, node.parent
    while around is not None and around.type not in CALLS:
        last = around.children[-1] if around.children else None
        if around.type not in {"attribute", "member_expression", "selector_expression", "field_expression", "scoped_identifier"}:
            return False
        if last != child:
            return False
        child, around = around, around.parent
    if around is None:
        return False
    called = around.child_by_field_name("function") or around.child_by_field_name("constructor")
    called = called or around.child_by_field_name("macro")
    return called == child


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("binary")
    arguments.add_argument("repository")
    arguments.add_argument("--names", type=int, default=500)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--bare", action="store_true", help="list the names that are called and have no references")
    arguments.add_argument("--home", help="a data folder that has the index already")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "CODECOMPASS_HOME": options.home or folder}

        def run(*words):
            command = [options.binary, *words, "--workspace", options.repository]
            return subprocess.run(command, env=env, capture_output=True, text=True).stdout

        if not options.home:
            subprocess.run([options.binary, "index", "--path", options.repository], env=env, check=True, capture_output=True)
        sys.exit(check(options, run))


def check(options, run):
    listed = run("grep", "-l", ".", "--no-sync").splitlines()
    leaves = Leaves()
    for path in filter(grammar_of, listed):
        leaves.read(path, (pathlib.Path(options.repository) / path).read_bytes())
    symbols = collections.defaultdict(set)
    for line in run("export", "symbols", "--no-sync").splitlines():
        symbol = json.loads(line)
        if symbol["kind"] not in ("use", "impl", "test") and symbol["name"].isidentifier() and grammar_of(symbol["path"]):
            symbols[symbol["name"]].add((symbol["path"], symbol["line_start"], symbol["symbol_id"]))
    return bare(options, run, symbols, leaves) if options.bare else sums(options, run, symbols, leaves)


def sums(options, run, symbols, leaves):
    names = sorted(symbols)
    random.Random(options.seed).shuffle(names)
    wrong = partial = 0
    for name in names[: options.names]:
        answer = json.loads(run("references", name, "--json", "--limit", "1", "--no-sync") or "{}")
        if "counts" not in answer:
            wrong += 1
            print("no answer:", name, answer.get("error"))
            continue
        counts = answer["counts"]
        family = grammar_of(answer["symbol"]["path"])[0]
        found = sum(counts.values()) - 2 * counts.get("beyond", 0)
        if answer["metadata"]["result_completeness"] == "partial":
            partial += 1
        elif found != leaves.names[family][name]:
            wrong += 1
            print(f"{name}: {found} accounted for, {leaves.names[family][name]} leaves, {counts}", answer["symbol"]["path"])
    print(f"{min(options.names, len(names))} names, {wrong} sums off, {partial} out of time")
    return int(wrong > 0)


def bare(options, run, symbols, leaves):
    """Returns the names with exactly one symbol that are called and have no references."""
    asked = zeros = 0
    for name, bearers in sorted(symbols.items()):
        path, line, _ = min(bearers)
        family = grammar_of(path)[0]
        if len(bearers) > 1 or not leaves.called[family][name]:
            continue
        asked += 1
        answer = json.loads(run("references", name, "--json", "--limit", "1", "--no-sync") or "{}")
        if answer.get("total_references") == 0 and answer["metadata"]["result_completeness"] == "complete":
            zeros += 1
            print(f"{path}:{line} {name}: {leaves.called[family][name]} calls, {answer.get('counts')}")
    print(f"{asked} unique names that are called, {zeros} with no reference")
    return 0


main()
