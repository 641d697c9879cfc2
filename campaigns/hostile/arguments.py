"""Arguments: every parameter of every tool, over a pipe and over HTTP, and every address of the explorer.

A step is one request and has a generator of its own, so that it can be made again by its number.
"""

import json
import random
import sys
import time
import urllib.parse

from hostile import values
from hostile.server import Broken, Http, Pipe

BLOCK = 500
# Memory that may stay after the second and third time of the same block, in MB.
GROWTH_MB = 32
SCREENS = ["", "folder", "file", "search", "why", "symbol", "calls", "graph", "references", "hierarchy", "branch", "compare",
    "status", "live", "assets", "health", "mcp", "favicon.ico", "no-such"]
FIELDS = ["q", "path", "kind", "tests", "cursor", "hops", "line", "base", "head", "direction", "language", "ref", "tree", "as",
    "token"]
CORE = [*values.CORE, "wrong type", "number", "wide list"]
# What a parameter is most of the time when it is not the one under attack.
USUAL = {
    "query": "which kind runs", "name": "run", "symbol_name": "run", "path": "src/part0/file0.rs", "pattern": "name_[0-9]+",
    "what": ["run"], "ref": "main", "ref_name": "main",
    "base_ref": "main", "head_ref": "feature", "base": "main", "head": "feature", "also": ["run"], "symbols": ["run"],
    "previous_results": {}, "previous_query": {"tool": "search_code"},
    "result_path": "src/part0/file0.rs", "result_line": 1, "result_line_start": 1,
}


class Arguments:
    """The tools that a server lists, and the requests that are made from them."""

    def __init__(self, seed, tools, secret, root):
        self.seed, self.tools, self.root = seed, tools, root
        self.strings = values.strings(secret, root)
        self.combinations = [
            (tool, name, shape)
            for tool in tools for name in [*tool["inputSchema"].get("properties", {}), "undeclared"] for shape in [*self.strings,
                "wrong type", "number", "wide list"]
        ]
        for tool in tools:
            for name in tool["inputSchema"].get("properties", {}):
                texts = {"pattern": values.EXPRESSIONS, "query": values.EXPRESSIONS, "path_filter": values.PATTERNS,
                    "paths": values.PATTERNS}.get(name, [])
                self.combinations += [(tool, name, f"text {text}") for text in texts]
        random.Random(seed).shuffle(self.combinations)
        is_core = lambda one: one[2] in CORE or one[2].startswith("text ")
        self.combinations.sort(key=lambda one: not is_core(one))
        self.core = sum(map(is_core, self.combinations))

    def make(self, step):
        """The tool, parameter, shape and JSON text of a step. All combinations come once before any comes again."""
        rng = random.Random(f"{self.seed}/{step}")
        tool, name, shape = self.combinations[step % len(self.combinations)]
        schema = tool["inputSchema"].get("properties", {}).get(name, {})
        size = values.length(rng, least=5_000 if step < self.core else 1)
        value = self.value(rng, schema, shape, size)
        arguments = {other: USUAL.get(other, "main") for other in tool["inputSchema"].get("required", []) if other != name}
        for other, its in tool["inputSchema"].get("properties", {}).items():
            if other != name and rng.random() < 0.08 and other not in arguments and other != "workspace":
                arguments[other] = self.usual(rng, other, its)
        if name == "undeclared":
            count = rng.choice([1, 1, 10, 10_000])
            arguments.update({f"{rng.choice(['x', 'a' * rng.choice([1, 5000]), '__proto__'])}{at}": 1 if at else value for at in range(count)})
        else:
            arguments[name] = value
        return tool["name"], name, shape, values.to_json(arguments)

    def value(self, rng, schema, shape, size):
        if shape == "wrong type":
            return values.wrong(rng, size)
        if shape == "number":
            return rng.choice(values.NUMBERS)
        if shape == "wide list":
            return values.list_of(self.strings[rng.choice(list(self.strings))])(rng, size)
        make = (lambda *_: shape.removeprefix("text ")) if shape.startswith("text ") else self.strings[shape]
        kind = schema.get("type", "string")
        if kind == "array" or (isinstance(kind, list) and "array" in kind):
            return [make(rng, size)] if rng.random() < 0.7 else values.list_of(make)(rng, size)
        return make(rng, size)

    def usual(self, rng, name, schema):
        kind = schema.get("type", "string")
        if "enum" in schema:
            return rng.choice(schema["enum"])
        if name in USUAL:
            return USUAL[name]
        return {"boolean": rng.random() < 0.5, "integer": rng.choice([1, 5, 200]), "number": 0.5, "array": ["run"],
            "object": {}}.get(kind, "main")


def tools_of(ground, root, data):
    pipe = Pipe(ground, root, data, "--tools", "all")
    tools = pipe.request("tools/list", {})["result"]["tools"]
    pipe.close()
    return tools


# Indexing a whole repository anew is the other half's matter; here it would take all the time.
RARE = {"index_repo", "sync_repo"}


def over_a_pipe(ground, root, data, report, seed, until, first=0, only=None):
    """Sends requests to one long-lived server per form of answers, one after the other."""
    tools = tools_of(ground, root, data)
    arguments, step = Arguments(seed, tools, str(ground.secret), str(root)), first
    while time.monotonic() < until:
        form = "json" if (step // 1000) % 2 == 0 else "text"
        pipe = None
        try:
            pipe = Pipe(ground, root, data, "--tools", "all", "--answers", form)
            while time.monotonic() < until:
                step += 1
                if only is not None:
                    step = only
                play(pipe.call, arguments, step, report, "pipe")
                if only is not None or step % 1000 == 0:
                    break
            pipe.call("health_check", {})
        except Broken as broken:
            record(report, broken, arguments, step, "pipe")
        finally:
            end(pipe, report, "pipe", step)
        if only is not None:
            return


def play(call, arguments, step, report, half):
    tool, name, shape, text = arguments.make(step)
    # What was found often enough is passed over: each costs a server, or ten seconds.
    if any(report.is_known(signature) for signature in signatures(tool, name, shape)) or (tool in RARE and step % 20):
        return
    began = time.monotonic()
    try:
        call(tool, text)
    except Broken as broken:
        # The server is as well as before, so it goes on.
        if broken.kind not in ("echo", "protocol", "internal"):
            raise
        record(report, broken, arguments, step, half)
    report.count(f"calls ({half})")
    report.took(time.monotonic() - began, f"{tool}.{name}, {shape}, step {step}")


def signatures(tool, name, shape):
    return [("call", tool, name, shape), ("call", name, shape)]


def record(report, broken, arguments, step, half):
    tool, name, shape, text = arguments.make(step)
    if broken.kind in ("echo", "protocol", "internal"):
        signature = ("found", broken.kind, tool, name) if broken.kind == "internal" else ("found", broken.kind, name)
    else:
        signature = ("found", broken.kind, name, shape)
        for passed in signatures(tool, name, shape):
            report.shown[passed] = report.shown.get(passed, 0) + (1 if len(passed) == 3 else 2)
    if signature not in report.shown:
        report.keep(f"{half}-{step}.json", json.dumps({"tool": tool}).encode() + b"\n" + text.encode("utf-8", "surrogatepass"))
    report.find(broken, half, step, f"{tool} {{{name}: {shape}}}, {len(text)} B", signature)


def end(server, report, half, step):
    """Closes a server; what it shows only then is a finding, too."""
    if server is None:
        return
    try:
        server.close()
    except Broken as broken:
        report.find(broken, half, step, "noticed when the server was closed", ("found", broken.kind, broken.details[:60]))
    report.peak(half, server.peak)


def over_http(ground, root, data, report, seed, until, first=0, only=None):
    """The same without a session, in sessions, and in sessions that do not exist."""
    tools = tools_of(ground, root, data)
    arguments, step, server = Arguments(seed + 1, tools, str(ground.secret), str(root)), first, None
    while time.monotonic() < until:
        try:
            server = Http(ground, root, data)
            connection = server.connect()
            session = server.open_session(connection)
            while time.monotonic() < until:
                step = only if only is not None else step + 1
                chosen = None if step % 2 else session
                play(lambda tool, text: server.call(connection, tool, text, chosen), arguments, step, report, "http")
                if only is not None or step % 1000 == 0:
                    break
            server.health()
        except Broken as broken:
            record(report, broken, arguments, step, "http")
        finally:
            end(server, report, "http", step)
        if only is not None:
            return


def address(rng, strings, step):
    """An address of the explorer."""
    screen, field = SCREENS[step % len(SCREENS)], rng.choice(FIELDS) if rng.random() < 0.6 else "path of the address"
    shape = rng.choice(values.CORE if rng.random() < 0.5 else list(strings))
    # Three bytes may stand for one, and an address of more than 64 KiB is refused.
    value = strings[shape](rng, values.length(rng, rng.choice([20_000, 60_000, 80_000])))
    value = json.loads(value) if isinstance(value, values.Raw) else value
    data = value.encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:
        data += b"\xff\xfe\xc0\xaf"
    text = urllib.parse.quote(data, safe="/" if rng.random() < 0.7 else "")
    if rng.random() < 0.1:
        text = "".join(one if one not in "\r\n \0" and 32 < ord(one) < 127 else "%" for one in value)
    usual = {"q": "run", "path": "src/part0/file0.rs", "head": "feature", "base": "main"}
    fields = {name: usual[name] for name in usual if rng.random() < 0.5}
    if field == "path of the address":
        target = f"/{screen}/{text}"
    else:
        target = f"/{screen}" + rng.choice(["", "/run", "/src/part0/file0.rs", "/src"])
        fields[field] = text
    if rng.random() < 0.3:
        fields["as"] = rng.choice(["json", "text"])
    return f"/{screen}", field, shape, target.split("#")[0] + "?" + "&".join(f"{name}={one}" for name, one in fields.items())


def of_the_explorer(ground, root, data, report, seed, until, first=0, only=None):
    """Asks for pages. A status below 500 is an answer; text of an address is never markup."""
    strings, step, server = values.strings(str(ground.secret), str(root)), first, None
    while time.monotonic() < until:
        try:
            server = Http(ground, root, data)
            connection = server.connect()
            while time.monotonic() < until:
                step = only if only is not None else step + 1
                screen, field, shape, target = address(random.Random(f"{seed}/page/{step}"), strings, step)
                if report.is_known(("page", screen, field, shape)) or report.is_known(("page", screen, field)):
                    continue
                began = time.monotonic()
                response, said = server.page(connection, target)
                if response.status >= 500 and response.status != 503:
                    raise Broken("status", f"{response.status}: {said[:200]!r}")
                if ground.token.encode() in said:
                    raise Broken("secret", "a text from outside of the work tree")
                if b"<script>hostile" in said and "html" in response.headers.get("Content-Type", ""):
                    raise Broken("markup", "the address is in the page as markup")
                report.count("pages")
                report.took(time.monotonic() - began, f"page {screen} {field}, {shape}, step {step}")
                if only is not None or step % 1000 == 0:
                    break
            server.health()
        except Broken as broken:
            for signature in (("page", screen, field, shape), ("page", screen, field)):
                report.shown[signature] = report.shown.get(signature, 0) + 1
            report.keep(f"page-{step}.txt", target.encode())
            report.find(broken, "explorer", step, f"GET {target[:100]}… ({len(target)} B; {field}: {shape})",
                ("found", broken.kind, screen, shape if field != "path of the address" else field))
        finally:
            end(server, report, "explorer", step)
        if only is not None:
            return


def growth(ground, root, data, report, seed, only=None):
    """Plays blocks of requests with values that never come again; memory of each further block must be given back."""
    tools = tools_of(ground, root, data)
    for at, (name, block) in enumerate(BLOCKS.items()):
        if only is not None and at != only:
            continue
        server = None
        try:
            server = Http(ground, root, data)
            sizes = []
            for turn in range(3):
                rng = random.Random(f"{seed}/growth/{name}/{turn}")
                block(server, rng, Arguments(seed, tools, str(ground.secret), str(root)))
                sizes.append(server.grown())
                server.state()
            server.health()
            report.count("requests (growth)", 3 * BLOCK)
            report.peak(f"growth, {name}", server.peak)
            if sizes[2] - sizes[1] > GROWTH_MB:
                raise Broken("growth", f"{sizes} MB after each block of {BLOCK}")
        except Broken as broken:
            report.find(broken, "growth", at, name, ("found", broken.kind, name))
        finally:
            end(server, report, "growth", at)


def block_of_calls(server, rng, arguments):
    """The same calls in each block."""
    connection = server.connect()
    for step in range(1, BLOCK + 1):
        tool, name, shape, text = arguments.make(step)
        if tool in RARE or len(text) > 100_000:
            continue
        call_quietly(server, connection, tool, text, f"{tool} {name} {shape}: ")


def call_quietly(server, connection, tool, arguments, about=""):
    """Calls a tool; a long error is the other parts' matter."""
    try:
        server.call(connection, tool, arguments)
    except Broken as broken:
        if broken.kind != "echo":
            raise Broken(broken.kind, about + broken.details) from None


def block_of_unknown_sessions(server, rng, _arguments):
    connection = server.connect()
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    for _ in range(BLOCK):
        session = f"{rng.getrandbits(64):x}" + "s" * rng.choice([10, 100_000, 200_000])
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session}
        server.ask(connection, "POST", rng.choice(["/mcp", "/mcp/", "/mcp/x"]), body, headers)


def block_of_sessions(server, rng, _arguments):
    """Sessions that are opened and left; the server keeps a bounded number."""
    connection = server.connect()
    for _ in range(BLOCK):
        server.open_session(connection, rng.choice(["/mcp", "/mcp/", "/mcp/x", "/mcp/a/b"]))


def block_of_spellings(server, rng, arguments):
    """Other spellings of the same workspace, and of some that are none."""
    connection = server.connect()
    for _ in range(BLOCK):
        spelling = arguments.root + "".join(rng.choice(["/.", "/src/..", "//", "/"]) for _ in range(rng.choice([20, 400])))
        if rng.random() < 0.3:
            spelling = f"/{rng.getrandbits(64):x}" * rng.choice([1, 10, 20_000])
        call_quietly(server, connection, "locate_symbol", {"name": "run", "workspace": spelling})


def block_of_names(server, rng, _arguments):
    """Refs, names, cursors and patterns that were never asked for before."""
    connection = server.connect()
    for _ in range(BLOCK):
        word = f"{rng.getrandbits(64):x}" * rng.choice([1, 100, 5000])
        tool, arguments = rng.choice([
            ("search_code", {"query": word[:2000]}), ("search_code", {"query": "run", "ref": word}),
            ("locate_symbol", {"name": word}), ("grep_code", {"pattern": word[:5000]}),
            ("find_references", {"symbol_name": "run", "cursor": word}), ("get_file_outline", {"path": word[:3000]}),
            ("search_code", {"query": "run", "path_filter": word[:2000]}),
        ])
        call_quietly(server, connection, tool, arguments)


BLOCKS = {
    "calls": block_of_calls, "unknown sessions": block_of_unknown_sessions, "sessions": block_of_sessions,
    "spellings of a workspace": block_of_spellings, "new names": block_of_names,
}
sys.setrecursionlimit(10_000)
