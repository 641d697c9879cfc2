"""Source files that are made to break parsers: two more features of hostile repositories."""

import random

from hostile.features import feature, put

PIECES = [
    "/*\n", "/*", "*/", "//", "#", "(*", "{-", '"""', "'''", "<!--", "#|", "--[[", "=begin\n", "<<EOF\n", "<<~A\n", "${", "`${",
    "#{", '"#{', "{", "}", "(", ")", "[", "]", "<", ">", '"', "'", "`", "\\", "\\\n", "r#\"", "R\"(", "$$", "%w(",
    "@", "#if 1\n", "#else\n", "#define a a a\n", "#include <a>\n", "template<", "a<", "a<b>(", "if (", "if a:\n ", "else ",
    "elif ", "case ", "switch {", "match x {", "=> ", "-> ", "::", "a.", "a.b(", "a?.", "?:", "a ? ", "!", "-", "- ", "*", "&", "+",
    "~", "**", "..", "...", ";", ",", ":",
    "\n", "\r", "\t", " ", "\n\t", "\n  ", "fn a(", "fn a() {", "def a(", "def a():\n", "class A", "class A:\n ", "class A {",
    "struct A {", "enum A {", "impl A for ", "interface A {", "func(", "function(", "=>{", "lambda:", "lambda a: ", "async ",
    "await ", "yield ", "not ", "return ", "new ", "typeof ",
    "for (", "for a in ", "while (", "try {", "with a:", "do ", "end\n", "begin\n", "begin ", "then ", "let a = ", "var a = ",
    "a = ", "a: ", "a,", "import ", "import a.", "from . import (", "use a::{", "package a\n", "namespace a {", "mod a {", "pub ",
    "public static ", "extern \"C\" {", "operator", "$a", "$(", "<?php ", "<a>", "<a ", "</", "{{", "}}", "{%", "- a\n", "# ",
    "```\n", "| a ",
    "> ", "1.", "1e", "0x", "'a", "&'a ", "a!(", "macro_rules! a {", "#[a(", "@a(", "@interface ", "^", "^(", "é", "\ufeff", "\0",
    "\u2028", "名", "x" * 50, "[[", "[a.", "a = [", "{\"a\":", "[1,", "\\u", "\\x", "%s", "goto a;", "int a", "int (*", "void *",
    "a a ", "unsigned ", "const ", "where A: ", "dyn ", "<A as ", "val a by ", "when (", "object : ", "suspend ",
]


def source(rng, size):
    """A text of a few pieces that come again and again."""
    kind = rng.random()
    if kind < 0.45:
        unit = rng.choice(PIECES)
    elif kind < 0.75:
        unit = "".join(rng.choice(PIECES) for _ in range(rng.choice([2, 3, 4, 7])))
    elif kind < 0.85:
        one, two = rng.choice(PIECES), rng.choice(PIECES)
        half = size // (2 * max(len(one), len(two)))
        return one * half + two * half
    elif kind < 0.92:
        some = [rng.choice(PIECES) for _ in range(5)]
        return "".join(rng.choice(some) for _ in range(size // 4))[:size]
    else:
        lines, indent = [], 0
        word = rng.choice(["if a:\n", "def a():\n", "class A:\n", "- a:\n", "a:\n", "for a in b:\n", "<a>\n", "else\n"])
        while sum(map(len, lines[-1:])) + indent < 400 and len(lines) < size // 100:
            lines.append(" " * indent + word)
            indent += 1
        return "".join(lines)
    return (unit * (size // len(unit) + 1))[:size]


# The pieces that nest or leave something open in most languages: they come first.
CORE_PIECES = ["/*\n", "/*", "(", "{", "[", "<", '"', "'", "`", "\"\"\"", "${", "#{", "<!--", "(*", "<<EOF\n", "if (", "{\n", "a.",
    "a(", "-", "!", "\\", "#if 1\n", "fn a() {", "class A {", "lambda: ", "@", "&", "*", "a<", "=> ", "?", "else "]
BATCH = 60


def put_source(repository, at, extension, data):
    name = f"hostile{at}.{extension}"
    put(repository.root / name, data)
    repository.sources.append(name)
    repository.paths.append(name)


@feature
def sources(repository, rng):
    """Files that are made to break parsers: pieces in any order and of any length."""
    for at in range(rng.choice([3, 6, 10])):
        data = source(rng, rng.choice([4096, 8192, 8192, 16_384, 65_536, 65_536, 262_144, 1_000_000])).encode("utf-8",
            "surrogatepass")
        if rng.random() < 0.05:
            data = data.replace(b"a", b"\xff\xfe")
        put_source(repository, at, rng.choice(repository.extensions), data)


@feature
def each_source(repository, rng):
    """Each piece in each language, repeated: a part of all pairs, the core pieces first."""
    others = [(piece, extension) for piece in PIECES if piece not in CORE_PIECES for extension in repository.extensions]
    random.Random(repository.seed).shuffle(others)
    pairs = [(piece, extension) for piece in CORE_PIECES for extension in repository.extensions] + others
    for at in range(BATCH):
        piece, extension = pairs[(repository.batch * BATCH + at) % len(pairs)]
        size = 16_384 if repository.batch * BATCH < len(pairs) else rng.choice([4096, 65_536, 262_144])
        put_source(repository, at, extension, (piece * (size // len(piece) + 1)).encode("utf-8", "surrogatepass"))
