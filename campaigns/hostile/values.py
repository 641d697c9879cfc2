"""Values by length, depth, repetition and width. A shape is a name and a function of a generator and a length; it gives a
value, or a `Raw` JSON text where `json` can not write it."""

import json
import math

LONGEST = 1_000_000


class Raw(str):
    """A JSON text that is put into a message as it is."""


def length(rng, most=LONGEST, least=1):
    """A length between `least` and `most`, evenly spread over the magnitudes, sometimes just beside a round number."""
    found = int(math.exp(rng.uniform(math.log(least), math.log(most))))
    if rng.random() < 0.1:
        found = rng.choice([255, 256, 4095, 4096, 4097, 65_535, 65_536, 100_000, 262_144, most])
    return max(1, min(found, most))


def repeated(fragment):
    return lambda rng, size: (fragment * (size // len(fragment) + 1))[:max(size, 1)]


def nested(opening, closing, inner="a"):
    def make(_rng, size):
        depth = max(1, size // (len(opening) + len(closing)))
        return opening * depth + inner + closing * depth
    return make


def around(prefix, shape, suffix=""):
    return lambda rng, size: prefix + shape(rng, max(1, size - len(prefix) - len(suffix))) + suffix


FRAGMENTS = [
    "a", " ", "\n", "\0", "\\", "/", ".", ":", "-", "%", "*", "?", "(", ")", "[", "]", "{", "}", "|", "^", "~", "@", "!", ",", '"',
    "'", "$",
    "é", "\u0301", "\u202e", "\u200b", "\ufeff", "\ufffd", "😀", "名", "İ", "ﬃ", "a\u0301\u0327",
    "../", "./", "a/", "//", "..\\", "%2e%2e/", "%00", "a b ", "A", "aB", "a_", "a::", "a.", "a:1,", "a:1-2 ", "HEAD~", "HEAD^",
    "^{}", "@{1}",
    "refs/heads/", "main..", "**/", "*a", "a*", "?*", "[a-z]", "[!a]", "{a,b}", "{,", "\\*", "!a,", "(a|", "a|", "a?", "(?:",
    "(?i)", ".*", ".*?", "\\b", "\\w",
    "\\p{L}", "[a-z]{1,999}", "a{0,50}", "(a{1,30})", "(.{1,900})", "\\x{10ffff}", "[^a]{999}", "fn ", "class ", "the ", "not ",
    "-x ", "path:a ", "\r\n", "\x1b[31m",
]
EXPRESSIONS = [
    "(.{1,900}){3}[x-z]", "(a+)+$", "(a|a)*b", "(.*)(.*)(.*)(.*)z", "(\\w+\\s?)*$", "[^z]{900}z", "(?s).{0,999}.{0,999}q",
    "((((a{9}){9}){9}){9}){9}", "(a?){500}a{500}",
    "\\pL{500}\\pN", "(?i)ſ{300}", "(?x) a b", "^(?:a?){99}$", "(?-u)\\xff", "[[:alpha:]&&[^a-z]]{200}", "\\b{start}",
    "(?<n>a)(?<m>b)", "(|){1000}", "a{1000000}", "(?R)", "\\1",
]
PATTERNS = ["**/**/**/**/**/*a", "{{{{{{a,b},c},d},e},f},g}", "*a*a*a*a*a*a*a*a*a*a*b", "[a-", "{a", "!", "\\", "/**", "[]a]",
    "**a**", "{**/,a/}**/{**/,b}", "?" * 300, "[[:alpha:]]"]


def places(secret, root):
    """Paths that lead out of the work tree, or to what is no file."""
    return [
        f"{secret}/secret.py", f"{secret}/secret", "../secret/secret.py", "src/../../secret/secret", "/etc/passwd",
        "/proc/self/environ", "/proc/self/mem", "/dev/zero", "/dev/stdin",
        "/", "..", ".", "~", "~/.ssh/id_rsa", "\\\\host\\share", "C:\\", "file:///etc/passwd", f"file://{root}", ".git/config",
        ".git/HEAD", ".git", f"{root}/.git/config",
        "src/part0/file0.rs:1", "src/part0/file0.rs:99999999999999999999", "src/part0/file0.rs:5-1", "src/part0/file0.rs:-1",
        "src/part0/file0.rs:1-18446744073709551616", "-", "--help",
        "CON", "aux.rs", "src/part0/file0.rs/", "src/part0/file0.rs/a", "src//part0", "long.txt:1", "long.txt",
    ]


def strings(secret, root):
    """The shapes of strings, by name."""
    found = {f"repeat {fragment!r}": repeated(fragment) for fragment in FRAGMENTS}
    for opening, closing in ("()", "[]", "{}", ("(?:", ")"), ("{a,", "}"), ("(?i:", ")*"), ("[a&&[", "]]"), ("<", ">"),
        ("(a|", ")+"), ("!(", ")"), ('"', '"')):
        found[f"nest {opening}" + (closing if len(opening) == 1 else "")] = nested(opening, closing)
    found["path below a file"] = around("src/part0/file0.rs/", repeated("a/"), "b")
    found["path below the root"] = around(root + "/", repeated("a/"), "b")
    found["spelling of the root"] = around(root, repeated("/."))
    found["spelling with .."] = around(root, repeated("/src/.."))
    found["path and range"] = lambda rng, size: "src/part0/file0.rs:" + "9" * size
    found["quoted"] = around('"', repeated("aa "), '"')
    found["symbol id"] = around("sym_", repeated("f"))
    found["digits"] = repeated("7")
    found["words"] = lambda rng, size: " ".join(f"w{rng.randrange(10**6)}" for _ in range(max(1, size // 8)))
    found["characters"] = lambda rng, size: "".join(chr(rng.choice([rng.randrange(1, 0xD7FF), rng.randrange(32, 127),
        rng.randrange(0xE000, 0x10FFFF)])) for _ in range(min(size, 20_000)))
    found["alternatives"] = lambda rng, size: "|".join(f"a{at}" for at in range(max(1, size // 7)))
    found["expression"] = lambda rng, size: rng.choice(EXPRESSIONS)
    found["expressions"] = lambda rng, size: "|".join(rng.choice(EXPRESSIONS) for _ in range(max(1, min(size, 4000) // 20)))
    found["pattern"] = lambda rng, size: rng.choice(PATTERNS)
    found["patterns"] = lambda rng, size: ",".join(rng.choice(PATTERNS) for _ in range(max(1, size // 12)))
    found["place"] = lambda rng, size: rng.choice(places(secret, root))
    found["surrogate"] = lambda rng, size: Raw('"' + rng.choice(["\\ud800", "\\udfff", "\\ud800a", "\\udc00\\ud800"]) * max(1,
        size // 6) + '"')
    found["escapes"] = lambda rng, size: Raw('"' + "\\u0000" * max(1, size // 6) + '"')
    found["markup"] = around("\"><script>hostile</script>", repeated("<b>"))
    return found


# The shapes that found most: they come first, and long.
CORE = [
    "repeat 'a'", "repeat 'a/'", "repeat '**/'", "repeat '../'", "repeat 'a.'", "repeat 'a::'", "repeat '*a'", "repeat '('",
    "repeat '{a,b}'", "repeat '[a-z]{1,999}'", "repeat '\\x00'", "nest ()", "nest {a,",
    "path below a file", "spelling with ..", "words", "patterns", "expression", "place", "surrogate",
]
NUMBERS = [
    0, -1, 1, 200, 201, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), -(2**63) - 1, 0.1, -0.0, 1.5, 1e18,
    1e308,
    Raw("1e400"), Raw("-1e400"), Raw("1e-400"), Raw("9" * 400), Raw("0." + "3" * 4000), Raw("1E+2"), Raw("-0"),
]


def list_of(shape):
    """A list whose items share the length."""
    def make(rng, size):
        count = max(1, min(100_000, int(math.exp(rng.uniform(0, math.log(size + 1))))))
        item = max(1, size // count - 3)
        return [shape(rng, item) for _ in range(count)]
    return make


def wrong(rng, size):
    """A value of some type, deep or wide."""
    return rng.choice([
        lambda: None, lambda: True, lambda: "", lambda: [], lambda: {}, lambda: rng.choice(NUMBERS), lambda: "a" * size,
        lambda: Raw("[" * size + "]" * size), lambda: Raw('{"a":' * (size // 5 + 1) + "1" + "}" * (size // 5 + 1)),
        lambda: Raw("[" * min(size, 120) + "]" * min(size, 120)),
        lambda: ["a"] * min(size // 2 + 1, 100_000), lambda: {f"k{at}": at for at in range(min(size // 8 + 1, 100_000))},
        lambda: [[None] * (size // 6 + 1)],
        lambda: Raw("[" + ",".join(["{}"] * (size // 3 + 1)) + "]"), lambda: {"a" * size: 1}, lambda: Raw('{"a":1,' * 1 + '"a":2}'),
    ])()


def to_json(arguments):
    """The JSON text of an object of arguments, in which values may hold `Raw` texts."""
    return "{" + ",".join(f"{json.dumps(name)}:{written(value)}" for name, value in arguments.items()) + "}"


def written(value):
    if isinstance(value, Raw):
        return value
    if isinstance(value, list) and any(isinstance(item, Raw) for item in value):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value)
