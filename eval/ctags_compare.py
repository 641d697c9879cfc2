#!/usr/bin/env python3
"""Compare the definitions that `codecompass facts` gives with those of universal-ctags.

    ctags_compare.py BINARY LANGUAGE REPOSITORY... [--missing N] [--extra N] [...]

Both programs list the definitions of every file of LANGUAGE in each REPOSITORY (tracked files, or all files of a plain folder). The
script compares them in both directions.

Forwards: which definitions of ctags does codecompass have? One is *present* if codecompass has a symbol of the same name within one
line of it, *moved* if the file has a symbol of that name farther away, otherwise *missing*. Matching is by name and line only, not by
kind, and not one to one: in C's `typedef struct a {} a;` one symbol matches both tags of ctags.

Backwards: which symbols does ctags lack? Imports are not definitions and are omitted. A symbol is *known* if ctags has a tag of that
name within one line, *known, left out* if it has one only among the kinds of the table OMITTED below, otherwise *extra*.

Neither program is the truth: ctags' parsers for Lua, Kotlin, Elixir, Haskell, PHP, shell and others are
approximate. Read the samples (`--missing N`, `--extra N`, narrowed with `--kind`, `--under`, `--not-under`)
before trusting a percentage.

Names are compared by their last part (`M.foo`, `M:foo` and `A::foo` are `foo`), without blanks and
backticks. Never counted: a tag whose name ctags invented (`__anon…`, `<lambda>`), and the blank name `_`.

The binary runs with CODECOMPASS_HOME in a temporary folder, so no index is touched. Definitions in files
that the binary skips (too large, not text: `left_out` in its facts) are counted separately. Only the
standard library is used; `ctags` (Debian: universal-ctags, tried with 5.9.0) must be on the PATH.
"""

import argparse
import collections
import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

# Language: its name in ctags, the extensions of its files, the words in a `#!` line (for files without extension).
LANGUAGES = {
    "bash": ("Sh", ["sh", "bash"], ["sh", "bash"]),
    "c": ("C", ["c", "h"], []),
    "cpp": ("C++", ["cc", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx", "h++", "inl", "ipp"], []),
    "csharp": ("C#", ["cs", "csx"], []),
    "elixir": ("Elixir", ["ex", "exs"], []),
    "go": ("Go", ["go"], []),
    "haskell": ("Haskell", ["hs", "lhs"], []),
    "java": ("Java", ["java"], []),
    "javascript": ("JavaScript", ["js", "jsx", "mjs", "cjs"], []),
    "kotlin": ("Kotlin", ["kt", "kts"], []),
    "lua": ("Lua", ["lua"], ["lua"]),
    "php": ("PHP", ["php"], []),
    "python": ("Python", ["py", "pyi"], []),
    "ruby": ("Ruby", ["rb", "rake", "gemspec", "ru"], []),
    "rust": ("Rust", ["rs"], []),
    "typescript": ("TypeScript", ["ts", "tsx", "mts", "cts"], []),
}

# Languages that this ctags (5.9.0) has no parser for.
WITHOUT_CTAGS = ["scala", "swift", "zig"]

# Kinds of ctags that do not count as definitions, per language. All others count, also those that
# ctags disables by default (all kinds are enabled, then these are removed).
# `--also KIND` includes a kind again.
OMITTED = {
    "bash": [
        "heredoc",  # the label of a here-document
        "script",  # the file of a `source` line: an import
    ],
    "c": [
        "header",  # an #include: an import
        "local",  # local variables
        "parameter",  # of functions
        "macroparam",  # of macros
        "label",  # targets of goto
        "prototype",  # declares what is defined elsewhere; off by default in ctags
        "externvar",  # likewise, `extern int x;`; off by default in ctags
    ],
    "cpp": [
        "header",  # an #include: an import
        "local",  # local variables
        "parameter",  # of functions
        "macroparam",  # of macros
        "tparam",  # parameters of templates
        "label",  # targets of goto
        "prototype",  # declares what is defined elsewhere, methods in class bodies too; off by default in ctags
        "externvar",  # likewise, `extern int x;`; off by default in ctags
        "using",  # `using namespace a;`: an import
        "name",  # `using a::b;`: an import
        "alias",  # `namespace a = b;`: an import under another name
    ],
    "csharp": [
        "local",  # local variables
        "macro",  # `#define DEBUG` names a condition, nothing can be found there
    ],
    "elixir": [],
    "go": [
        "package",  # the `package` line: every file has one, it says where it belongs
        "packageName",  # the name an import is given
        "receiver",  # a kind of parameter
        "unknown",  # unknown to ctags: names in import paths
    ],
    "haskell": [],
    "java": [
        "package",  # the `package` line: every file has one, it says where it belongs
        "local",  # local variables
    ],
    "javascript": [
        "constant in a function",  # local variables
        "variable in a function",  # local variables
    ],
    "kotlin": [
        "package",  # the `package` line: every file has one, it says where it belongs
        "constant in a function",  # local variables: `val`
        "variable in a function",  # local variables: `var`
    ],
    "lua": [  # (ctags has functions only)
        "function, doubtful",  # a line that only holds `=` and `function`, see lua_form
    ],
    "php": [
        "alias",  # `use a as b;`: an import
        "local",  # local variables
    ],
    "python": [
        "local",  # local variables
        "parameter",  # of functions
        "module",  # modules that are imported
        "namespace",  # `import a as b`: an import
        "unknown",  # `from a import b`: an import
    ],
    "ruby": [
        "library",  # `require`: an import
    ],
    "rust": [  # (ctags 5.9 has no constants, and takes `&'static str` for a variable `str`)
        "implementation",  # an impl block has the name of its type, which is defined elsewhere
    ],
    "typescript": [
        "local",  # local variables
        "parameter",  # of functions
    ],
}

# Kinds of scopes whose members are local: these definitions have a separate row, because a
# program may omit them on purpose.
FUNCTION_SCOPES = {"function", "method", "func", "singletonMethod", "generator", "getter", "setter"}

# Names that define nothing: the blank identifier of Go, Rust, Python, Lua and others.
BLANK = {"_"}

# Words that ctags takes for names, by language.
NO_NAMES = {
    "java": BLANK | {"try", "catch", "if", "for", "while", "switch", "synchronized", "new", "false"},
}

# Prefixes of names that ctags invents: unnamed structs and enums, and `<lambda>` in Kotlin.
MADE_UP = ("__anon", "<")

# Kinds of symbols that are not definitions.
OUR_IMPORTS = {"use"}

# The maximum distance in lines of one definition between the two programs.
NEAR = 1

# Files per call of the binary: its answer is large, because it contains references.
BATCH = 100

Definition = collections.namedtuple("Definition", "path line kind name")


def simple(name):
    """The last part of a name, so that `M.foo`, `M:foo`, `A::foo` and `foo` are the same."""
    name = re.sub(r"[\s`]", "", name)
    parts = re.split(r"::|[.:\\]", name)
    return parts[-1] if re.match(r"\w", parts[-1]) else name


def files_of(repository, language, under, not_under):
    """The paths, from the repository's root, of all regular files of a language."""
    _, extensions, interpreters = LANGUAGES[language]
    listed = subprocess.run(["git", "-C", repository, "ls-files", "-z"], capture_output=True)
    if listed.returncode == 0:
        paths = os.fsdecode(listed.stdout).split("\0")
    else:
        found = (os.path.join(folder, name) for folder, _, names in os.walk(repository) for name in names)
        paths = [os.path.relpath(path, repository) for path in found]
    chosen = []
    for path in sorted(set(paths)):
        full = os.path.join(repository, path)
        if not path.startswith(under) or path.startswith(not_under) or "\n" in path:
            continue
        if os.path.islink(full) or not os.path.isfile(full):
            continue
        extension = os.path.splitext(path)[1][1:].lower()
        if extension in extensions or (not extension and interpreters and shebang(full) in interpreters):
            chosen.append(path)
    return chosen


def shebang(path):
    """The program in a file's `#!` line, or None."""
    with open(path, "rb") as file:
        first = file.readline(200).decode("utf-8", "replace")
    found = re.match(r"#!\s*\S*?([^/\s]+)(?:\s+(\S+))?", first)
    if not found:
        return None
    program, argument = found.groups()
    return argument if program == "env" else program


def ctags_definitions(repository, language, paths):
    """All tags of these files, of every kind, as definitions; without names that ctags made up."""
    name_in_ctags = LANGUAGES[language][0]
    command = ["ctags", "--options=NONE", "--quiet=yes", "--sort=no", "--output-format=json", "--fields=NFKnlsp"]
    command += ["--extras=-{anonymous}", f"--language-force={name_in_ctags}", f"--kinds-{name_in_ctags}=*"]
    command += ["-L", "-", "-f", "-"]
    asked = os.fsencode("\n".join(paths) + "\n")
    answer = subprocess.run(command, cwd=repository, input=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if answer.returncode != 0:
        sys.exit(f"ctags failed in {repository} (exit code {answer.returncode})")
    found = set()
    for line in answer.stdout.decode("utf-8", "replace").splitlines():
        tag = json.loads(line)
        if tag["_type"] != "tag" or tag["language"] != name_in_ctags:
            continue
        if tag["name"] in NO_NAMES.get(language, BLANK) or tag["name"].startswith(MADE_UP):
            continue
        # ctags 5.9 gives the name of the file in place of a name in backticks (Kotlin)
        if tag["name"] == os.path.basename(tag["path"]):
            continue
        kind = tag["kind"]
        if tag.get("scopeKind") in FUNCTION_SCOPES and kind not in OMITTED[language]:
            kind += " in a function"
        if kind == "macro" and language in ("c", "cpp") and is_include_guard(repository, tag):
            kind = "macro, include guard"
        if language == "lua":
            kind += lua_form(repository, tag)
        found.add(Definition(tag["path"], tag["line"], kind, tag["name"]))
    return sorted(found)


def is_include_guard(repository, tag):
    """Whether a macro without a value is defined right after `#ifndef` of its name (it has a row of its own)."""
    text = "\n".join(lines_of(os.path.join(repository, tag["path"]))[max(0, tag["line"] - 3) : tag["line"]])
    name = re.escape(tag["name"])
    guard = rf"#\s*(ifndef\s+|if\s+!\s*defined\s*\(?\s*){name}\b[^\n]*\s+#\s*define\s+{name}\s*(/[/*].*)?$"
    return re.search(guard, text) is not None


def lua_form(repository, tag):
    """How a line defines a Lua function, as an addition to its kind.

    The parser of ctags takes any line with a `=` and the letters `function` for a definition, and `a[1]` for a
    name: such are doubtful. `name = function` without `local` and dot is mostly a key in a table, often in the
    arguments of a call; it has a row apart, because a program may leave those out on purpose.
    """
    text = lines_of(os.path.join(repository, tag["path"]))[tag["line"] - 1]
    name = re.escape(tag["name"])
    if re.search(rf"\bfunction\s+{name}\s*(\(|$)", text):
        return ""
    if "[" in tag["name"] or not re.search(rf"(^|\W){name}\s*=\s*function\b", text):
        return ", doubtful"
    return "" if re.search(rf"\blocal\s+{name}\b|[.:]", text.split("=")[0]) else ", key or variable"


@functools.lru_cache(maxsize=16)
def lines_of(path):
    """The lines of a file, as ctags counts them."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().split("\n")


def our_facts(binary, repository, paths):
    """Returns the facts of these files, file by file."""
    with tempfile.TemporaryDirectory(prefix="ctags_compare.") as home:
        environment = dict(os.environ, CODECOMPASS_HOME=home)
        for start in range(0, len(paths), BATCH):
            yield from ask_facts(binary, repository, paths[start : start + BATCH], environment)


def ask_facts(binary, repository, paths, environment):
    """Returns the facts of some files; if the binary refuses them together, of each file separately."""
    command = [os.path.abspath(binary), "facts", "--json", "--", *paths]
    answer = subprocess.run(command, cwd=repository, env=environment, capture_output=True)
    try:
        return json.loads(answer.stdout)["files"]
    except (ValueError, KeyError):
        pass
    if len(paths) > 1:
        return [facts for path in paths for facts in ask_facts(binary, repository, [path], environment)]
    said = (answer.stderr or answer.stdout).decode("utf-8", "replace").strip()
    print(f"  no facts of {paths[0]} (exit code {answer.returncode}): {said[:300]}", file=sys.stderr)
    return []


class Places:
    """Where names are defined: by file and name, the lines."""

    def __init__(self, definitions):
        self.lines = collections.defaultdict(list)
        for one in definitions:
            self.lines[one.path, simple(one.name)].append(one.line)

    def near(self, one):
        """Whether the same name is defined within NEAR lines of a definition."""
        return any(abs(line - one.line) <= NEAR for line in self.lines.get((one.path, simple(one.name)), ()))

    def anywhere(self, one):
        """Whether the same name is defined somewhere in the same file."""
        return (one.path, simple(one.name)) in self.lines


class Comparison:
    """The definitions of both programs for one repository."""

    def __init__(self, binary, language, repository, omitted, under, not_under):
        self.repository = repository
        paths = files_of(repository, language, under, not_under)
        self.files = len(paths)
        ours, read = [], set()
        self.languages, self.left_out, self.with_problems = collections.Counter(), collections.Counter(), 0
        for facts in our_facts(binary, repository, paths):
            if facts["left_out"]:
                self.left_out[str(facts["left_out"])] += 1
                continue
            read.add(facts["path"])
            self.languages[facts["language"]] += 1
            self.with_problems += bool(facts["problems"])
            for symbol in facts["symbols"]:
                if symbol["kind"] not in OUR_IMPORTS and symbol["name"] not in BLANK:
                    ours.append(Definition(facts["path"], symbol["name_line"], symbol["kind"], symbol["name"]))
        tags = ctags_definitions(repository, language, paths) if paths else []
        self.unread = sum(1 for one in tags if one.path not in read and one.kind not in omitted)
        tags = [one for one in tags if one.path in read]
        self.theirs = [one for one in tags if one.kind not in omitted]
        beside = Places(one for one in tags if one.kind in omitted)
        self.ours = ours

        # forwards: each tag of ctags
        we_have = Places(ours)
        self.forwards = [
            (one, "present" if we_have.near(one) else "moved" if we_have.anywhere(one) else "missing")
            for one in self.theirs
        ]
        # backwards: each symbol of codecompass
        they_have = Places(self.theirs)
        self.backwards = [
            (one, "known" if they_have.near(one) else "left out" if beside.near(one) else "extra") for one in ours
        ]


def share(part, whole):
    return f"{100 * part / whole:6.2f}%" if whole else "      –"


def table(title, columns, judged):
    """Print one row per kind: the total, the count of each column, and the share of the first."""
    rows = collections.defaultdict(collections.Counter)
    for one, verdict in judged:
        rows[one.kind][verdict] += 1
        rows["all"][verdict] += 1
    print(f"  {title:32}{'number':>9}" + "".join(f"{column:>10}" for column in columns) + f"   {columns[0]}")
    for kind, row in sorted(rows.items(), key=lambda item: (item[0] == "all", -sum(item[1].values()))):
        number = sum(row.values())
        counts = "".join(f"{row[column]:>10}" for column in columns)
        print(f"  {kind:32}{number:>9}{counts}  {share(row[columns[0]], number)}")


def sample(title, repository, judged, verdicts, kinds, number, seed):
    """Print some definitions with a given result, with their source lines."""
    wanted = [(one, verdict) for one, verdict in judged if verdict in verdicts and (not kinds or one.kind in kinds)]
    picked = sorted(random.Random(seed).sample(wanted, min(number, len(wanted))))
    print(f"  {title}: {len(picked)} of {len(wanted)}")
    for one, verdict in picked:
        print(f"    {one.path}:{one.line} {one.kind} {one.name} ({verdict})\n        {source_line(repository, one)}")


def source_line(repository, one):
    lines = lines_of(os.path.join(repository, one.path))
    return lines[one.line - 1].strip()[:160] if one.line <= len(lines) else "(no such line)"


def report(comparison, options):
    """Print the results for one repository."""
    print(f"== {comparison.repository}: {comparison.files} files of {options.language}")
    languages_text = ", ".join(f"{count} {name}" for name, count in comparison.languages.most_common())
    print(f"  codecompass read them as: {languages_text or 'nothing'}; {comparison.with_problems} with problems in their syntax")
    if comparison.left_out or comparison.unread:
        why = ", ".join(f"{count} ({reason})" for reason, count in comparison.left_out.most_common())
        print(f"  files it leaves out: {why or 'none'}; ctags has {comparison.unread} definitions in what was not read")
    table("of ctags", ["present", "moved", "missing"], comparison.forwards)
    table("of ours", ["known", "left out", "extra"], comparison.backwards)
    kinds = set(options.kind)
    if options.missing:
        title = "not present with us"
        verdicts = {"moved", "missing"}
        sample(title, comparison.repository, comparison.forwards, verdicts, kinds, options.missing, options.seed)
    if options.extra:
        title = "ours that ctags has not"
        sample(title, comparison.repository, comparison.backwards, {"extra"}, kinds, options.extra, options.seed)
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description="Compare our definitions with those of universal-ctags.")
    parser.add_argument("binary", help="the codecompass program")
    parser.add_argument("language", choices=sorted([*LANGUAGES, *WITHOUT_CTAGS]))
    parser.add_argument("repositories", nargs="+", metavar="repository")
    parser.add_argument("--missing", type=int, default=0, metavar="N", help="show N definitions of ctags that codecompass lacks")
    parser.add_argument("--extra", type=int, default=0, metavar="N", help="show N symbols that ctags lacks")
    parser.add_argument("--kind", action="append", default=[], help="only this kind in the samples (may be repeated)")
    parser.add_argument("--also", action="append", default=[], metavar="KIND", help="count this omitted kind, too")
    parser.add_argument("--under", default="", metavar="FOLDER", help="only files whose paths begin so")
    parser.add_argument("--not-under", action="append", default=[], metavar="FOLDER", help="no files that begin so")
    parser.add_argument("--seed", type=int, default=1, help="of the samples [default: 1]")
    options = parser.parse_args()
    if options.language in WITHOUT_CTAGS:
        sys.exit(f"ctags 5.9 has no parser for {options.language}")
    omitted = set(OMITTED[options.language]) - set(options.also)

    forwards, backwards = [], []
    for repository in options.repositories:
        repository = repository.rstrip("/")
        within = options.under, tuple(options.not_under)
        comparison = Comparison(options.binary, options.language, repository, omitted, *within)
        report(comparison, options)
        forwards += comparison.forwards
        backwards += comparison.backwards
    if len(options.repositories) > 1:
        print(f"== all {len(options.repositories)} repositories")
        table("of ctags", ["present", "moved", "missing"], forwards)
        table("of ours", ["known", "left out", "extra"], backwards)


if __name__ == "__main__":
    main()
