"""Sends generated requests: `python protocol.py BINARY [--requests N] [--seed N]`.

Calls of every tool are generated from the schemas of `tools/list`, with arguments that are right, of another type, missing, unknown,
huge, deep or empty. Mixed with them are unknown tools and methods, notifications, cancellations, responses without a request, batches,
ids that are duplicate, huge, negative, broken or null, all revisions, bytes that are not UTF-8, and truncated lines. All of it is sent
over a pipe and over HTTP, several at a time. Invariants:

- each request with a valid id is answered exactly once, with that id, by a result or an error; a duplicate id as often as it was sent;
  a cancelled one at most once;
- nothing else is answered, except lines that are not messages, which are refused with the id null;
- the answer to a call follows the protocol: a result with content, or an error with a code and a message;
- the server is alive at the end, answers a plain query, and its memory has not grown beyond a limit.

Prints the seed and the violations, and exits with 1. 3,000 requests; 100,000 with CAMPAIGN=long. Everything happens in a temporary
folder.
"""

import argparse
import collections
import concurrent.futures
import http.client
import json
import os
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time

import ground
from ground import Program, Repository

GROWTH_MB = 200
AT_ONCE = 24
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "protocol", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Grammar:
    """Generates messages, each with the ids of its expected answers, as JSON texts, and the way to send it."""

    def __init__(self, rng, tools, root):
        self.rng, self.tools, self.root, self.number = rng, tools, root, 0

    def fresh_id(self):
        self.number += 1
        kind = self.rng.random()
        if kind < 0.7:
            return self.number
        if kind < 0.85:
            return f"id-{self.number}-" + self.rng.choice(["", "ü", "\u2028", "x" * 200, "\\", '"', "\u0000"])
        return self.rng.choice([-self.number, 2**53 + self.number, 2**62 + self.number])

    def value(self, schema, depth=0):
        """Returns a value for a parameter, usually a valid one."""
        rng = self.rng
        if rng.random() < 0.15 or depth > 4:
            return rng.choice([None, True, 0, -1, 2**31, 1e308, "", "x", [], {}, [[]], {"a": None}, "\u0000", "x" * rng.choice([10, 5000])])
        if "enum" in schema:
            return rng.choice(schema["enum"])
        kind = schema.get("type", "string")
        kind = rng.choice(kind) if isinstance(kind, list) else kind
        if kind == "string":
            return rng.choice([
                "name_1", "run", "Kind2", "src/part0/file0.rs", "src", "main", "feature", "HEAD~1", "@worktree", "src/part1/file1.py:1",
                "which kind runs", "name_[0-9]+", "(", "*", "", self.root, "/", "..", "\u202e", "ünï 名前", "sym_0000", "b3:00", "2026-07-28",
            ])
        if kind in ("integer", "number"):
            return rng.choice([0, 1, 2, 5, 50, 200, 10**6, -1, 2**63, 1.5])
        if kind == "boolean":
            return rng.random() < 0.5
        if kind == "array":
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(rng.choice([0, 1, 2, 5, 40]))]
        if kind == "object":
            inner = schema.get("properties", {})
            return {name: self.value(one, depth + 1) for name, one in inner.items() if rng.random() < 0.7}
        return "x"

    def arguments(self, tool):
        rng, schema = self.rng, tool["inputSchema"]
        required = schema.get("required", [])
        chosen = {
            name: self.value(one) for name, one in schema.get("properties", {}).items()
            if rng.random() < (0.95 if name in required else 0.25) and (name != "workspace" or rng.random() < 0.2)
        }
        if rng.random() < 0.05:
            chosen[rng.choice(["colour", "", "__proto__", "x" * 300, "\u0000"])] = 1
        if rng.random() < 0.02:
            nested = 1
            for _ in range(rng.choice([20, 100, 200, 3000])):
                nested = [nested]
            chosen[rng.choice(["query", "deep"])] = "DEEP"
            return chosen, nested
        return chosen, None

    def call(self):
        # Jobs are rare: there is only one writer, and this campaign tests the protocol.
        tool = self.rng.choice(self.tools)
        if tool["name"] in ("index_repo", "sync_repo", "switch_ref") and self.rng.random() < 0.9:
            tool = self.rng.choice(self.tools)
        arguments, nested = self.arguments(tool)
        name = tool["name"] if self.rng.random() < 0.97 else self.rng.choice(["", "no_such_tool", "\u0000", "x" * 1000])
        params = {"name": name, "arguments": arguments}
        if self.rng.random() < 0.1:
            params["_meta"] = {"progressToken": self.rng.choice([1, "t", 2**40])}
        message = {"jsonrpc": "2.0", "id": self.fresh_id(), "method": "tools/call", "params": params}
        text = json.dumps(message)
        if nested is not None:
            text = text.replace('"DEEP"', deep(nested))
        # A message that is nested too deeply cannot be parsed, so its id is unknown.
        is_read = nested is None or depth(nested) < 120
        return text, [message["id"]] if is_read else [], not is_read

    def other(self):
        """Returns a request that is not a tool call."""
        rng, id = self.rng, self.fresh_id()
        method = rng.choice(["ping", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "completion/complete",
                             "logging/setLevel", "no/such", "", "tools/call", "server/discover", "notifications/initialized"])
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        if rng.random() < 0.6:
            message["params"] = rng.choice([{}, [], None, 7, "x", {"_meta": {}}, {"_meta": 7}, {"cursor": "x"}, {"name": 7}, {"name": "locate_symbol"},
                                            {"name": "ping", "arguments": []}])
        return json.dumps(message), [id], False

    def notification(self):
        method = self.rng.choice(["notifications/initialized", "notifications/progress", "notifications/cancelled", "no/such", "ping", "tools/call"])
        message = {"jsonrpc": "2.0", "method": method}
        if self.rng.random() < 0.7:
            message["params"] = self.rng.choice([{}, [], {"requestId": 10**9}, {"requestId": None}, {"progressToken": 1, "progress": 1}, 7])
        return json.dumps(message), [], False

    def response(self):
        message = {"jsonrpc": "2.0", "id": self.rng.choice([1, "x", 10**9]), **self.rng.choice([{"result": {}}, {"error": {"code": 1, "message": "x"}}])}
        return json.dumps(message), [], False

    def batch(self):
        ids = [self.fresh_id() for _ in range(self.rng.randrange(1, 5))]
        return json.dumps([{"jsonrpc": "2.0", "id": id, "method": "ping"} for id in ids]), ids, False

    def broken(self):
        """Returns a line that is not a message. It is refused without an id, because its id is unknown."""
        whole = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        cut = whole[: self.rng.randrange(1, len(whole) - 1)]
        text = self.rng.choice([cut, "{", "[]", "nul", '"x"', "7", "{}", '{"id": null}', "\ufeff{}", "[" * 500, '{"jsonrpc": "1.0"}', "\x01"])
        return text, [], True

    def bytes(self):
        return b'{"jsonrpc": "2.0", "id": 1, "method": "\xff\xfe"}', [], True

    def next(self):
        way = self.rng.random()
        for share, make in ((0.66, self.call), (0.12, self.other), (0.07, self.notification), (0.02, self.response), (0.04, self.batch), (0.07, self.broken)):
            way -= share
            if way < 0:
                return make()
        return self.bytes()


def depth(nested):
    levels = 0
    while isinstance(nested, list):
        levels, nested = levels + 1, nested[0]
    return levels


def deep(nested):
    return "[" * depth(nested) + "1" + "]" * depth(nested)


def key(id):
    return json.dumps(id)


def is_answer(message):
    """Whether a response follows the protocol."""
    if "error" in message:
        error = message["error"]
        return isinstance(error, dict) and isinstance(error.get("code"), int) and isinstance(error.get("message"), str)
    return isinstance(message.get("result"), dict)


def memory(pid):
    fields = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status"))
    return int(fields["VmRSS"].split()[0]) / 1024


class Account:
    """Records requests, answers and violations."""

    def __init__(self):
        self.owed, self.nulls_owed, self.faults, self.asked = collections.Counter(), 0, [], 0
        self.cancelled, self.doubled, self.lock = set(), 0, threading.Lock()

    def ask(self, ids, is_broken):
        with self.lock:
            self.asked += 1
            for id in ids:
                self.owed[key(id)] += 1
            self.nulls_owed += is_broken

    def take(self, message):
        for one in message if isinstance(message, list) else [message]:
            with self.lock:
                if "method" in one:
                    continue  # Progress, or a request to the client.
                if not is_answer(one):
                    self.faults.append(f"no answer: {str(one)[:300]}")
                if one.get("id") is None:
                    self.nulls_owed -= 1
                elif self.owed.get(key(one["id"]), 0) > 0:
                    self.owed[key(one["id"])] -= 1
                else:
                    self.faults.append(f"answer without a request: {str(one)[:300]}")

    def open(self):
        with self.lock:
            return sum(self.owed.values())

    def settle(self, name):
        missing = [id for id, count in self.owed.items() if count > 0 and id not in self.cancelled]
        if missing:
            self.faults.append(f"{name}: {len(missing)} requests without an answer: {missing[:5]}")
        if self.nulls_owed:
            self.faults.append(f"{name}: {self.nulls_owed} refusals without an id too few (or, below zero, too many)")
        return self.faults


def over_a_pipe(program, root, tools, rng, count):
    account, grammar = Account(), Grammar(rng, tools, root)
    process = subprocess.Popen(
        [program.binary, "serve-mcp", "--tools", "all", "--no-prewarm"], cwd=root, env=program.environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )
    line = lambda message: json.dumps(message).encode() + b"\n"
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "protocol", "version": "1"}}
    process.stdin.write(line({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello}))
    process.stdin.flush()
    process.stdout.readline()
    process.stdin.write(line({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    room = threading.Semaphore(0)

    def read():
        for text in process.stdout:
            account.take(json.loads(text))
            room.release()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    grown, last = [], None
    while account.asked < count:
        text, ids, is_broken = grammar.next()
        # A duplicate id while the first request is open means two requests.
        account.ask(ids, is_broken)
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        try:
            process.stdin.write(data.replace(b"\n", b" ") + b"\n")
            if ids and rng.random() < 0.03:
                account.cancelled.add(key(ids[0]))
                process.stdin.write(line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ids[0]}}))
            process.stdin.flush()
        except OSError:
            account.faults.append(f"the server went away after {account.asked} requests; the last was {data[:300]}")
            return account, 0
        while account.open() > AT_ONCE + len(account.cancelled):
            if not room.acquire(timeout=ground.ANSWER_TIMEOUT):
                account.faults.append(f"no answer for {ground.ANSWER_TIMEOUT} s; open: {[id for id, n in account.owed.items() if n][:5]}")
                process.kill()
                return account, 0
        if account.asked in (count // 10, count):
            grown.append(memory(process.pid))
    until = time.monotonic() + ground.ANSWER_TIMEOUT
    while account.open() > len(account.cancelled) and time.monotonic() < until:
        room.acquire(timeout=1)
    process.stdin.write(line({"jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": {"name": "locate_symbol", "arguments": {"name": "run"}}}))
    account.ask(["last"], False)
    process.stdin.close()
    reader.join(ground.ANSWER_TIMEOUT)
    if process.wait(ground.ANSWER_TIMEOUT) != 0:
        account.faults.append(f"the server ended with {process.returncode}")
    if account.owed[key("last")]:
        account.faults.append("the last question was not answered")
    return account, grown[-1] - grown[0]


def over_http(program, root, tools, rng, count):
    account = Account()
    process = subprocess.Popen(
        [program.binary, "serve-mcp", "--tools", "all", "--no-prewarm", "--transport", "http", "--port", "0"], cwd=root,
        env=program.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )
    port = None
    while port is None:
        said = process.stderr.readline()
        if "listening on http://" in said:
            port = int(said.split("listening on http://")[1].split("/")[0].rsplit(":", 1)[1])
    threading.Thread(target=process.stderr.read, daemon=True).start()
    grown = []
    seeds = [rng.randrange(2**32) for _ in range(8)]

    def client(seed):
        own = random.Random(seed)
        grammar = Grammar(own, tools, root)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ground.ANSWER_TIMEOUT)
        session = None
        for _ in range(count // len(seeds)):
            if session is None or own.random() < 0.01:
                session = open_session(connection) if own.random() < 0.8 else ""
            text, ids, is_broken = grammar.next()
            data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
            headers = {"Content-Type": "application/json", "Accept": own.choice(["*/*", "application/json, text/event-stream"])}
            if session:
                headers.update({"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"})
            else:
                data, headers = alone(data, headers)
            with account.lock:
                account.asked += 1
            try:
                connection.request("POST", "/mcp", data, headers)
                response = connection.getresponse()
                body = response.read()
            except (OSError, http.client.HTTPException) as error:
                account.faults.append(f"{type(error).__name__}: {error} after {data[:200]}")
                connection.close()
                continue
            look(account, response, body, data, ids, is_broken)
        connection.close()

    def open_session(connection):
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "protocol", "version": "1"}}
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
        headers = {"Content-Type": "application/json", "Accept": "*/*"}
        connection.request("POST", "/mcp", json.dumps(message), headers)
        response = connection.getresponse()
        response.read()
        session = response.headers["Mcp-Session-Id"]
        ready = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
        connection.request("POST", "/mcp", ready, {**headers, "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"})
        connection.getresponse().read()
        return session

    def half(share):
        with concurrent.futures.ThreadPoolExecutor(len(seeds)) as pool:
            list(pool.map(client, seeds[:share]))
        grown.append(memory(process.pid))

    half(1)
    half(len(seeds))
    health = http.client.HTTPConnection("127.0.0.1", port, timeout=ground.ANSWER_TIMEOUT)
    health.request("GET", "/health")
    if health.getresponse().status != 200:
        account.faults.append("the server is not well at the end")
    process.terminate()
    if process.wait(ground.ANSWER_TIMEOUT) != 0:
        account.faults.append(f"the server ended with {process.returncode}")
    return account, grown[-1] - grown[0]


def alone(data, headers):
    """Returns the same request in the stateless revision, if possible."""
    try:
        message = json.loads(data)
        assert isinstance(message, dict) and isinstance(message.get("params", {}), dict) and isinstance(message["method"], str)
        message["params"] = {**message.get("params", {}), "_meta": META}
        headers = {**headers, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": message["method"]}
        if isinstance(message["params"].get("name"), str):
            headers["Mcp-Name"] = message["params"]["name"]
        "".join(headers.values()).encode("ascii")
        assert not any(character in value for value in headers.values() for character in "\r\n\0")
        return json.dumps(message).encode(), headers
    except (ValueError, AssertionError, KeyError, TypeError, RecursionError):
        return data, headers


def look(account, response, body, data, ids, is_broken):
    """Over HTTP each request has its own answer, so each can be checked separately."""
    kind = response.headers.get("Content-Type", "")
    try:
        if kind.startswith("text/event-stream"):
            texts = [line[5:].strip() for line in body.decode().split("\n") if line.startswith("data:")]
            messages = [json.loads(text) for text in texts if text]
        else:
            messages = [json.loads(body)] if body and kind.startswith("application/json") else []
    except ValueError:
        messages = []
        account.faults.append(f"no JSON: {body[:200]} to {data[:200]}")
    said = [one for message in messages for one in (message if isinstance(message, list) else [message]) if "method" not in one]
    found = sorted(key(one.get("id")) for one in said)
    wanted = sorted(key(id) for id in ids)
    is_refused = 400 <= response.status < 500 and (not found or found == ["null"])
    wrong = [one for one in said if not is_answer(one)]
    if wrong or response.status >= 500 or (ids and found != wanted and not is_refused) or (not ids and [id for id in found if id != "null"]):
        with account.lock:
            account.faults.append(f"{response.status} {found} instead of {wanted}: {data[:300]} → {body[:300]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--requests", type=int, default=100_000 if ground.is_long() else 3_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng, is_wrong = random.Random(asked.seed), False
    with tempfile.TemporaryDirectory(prefix="protocol-") as folder:
        program = Program(asked.binary, os.path.join(folder, "home"))
        repository = Repository(os.path.join(folder, "work"), rng)
        program.must(repository.root, "index")
        program.must(repository.root, "index", "--ref", "feature")
        pipe = ground.Pipe(program, repository.root, "--tools", "all")
        tools = pipe.receive(pipe.send("tools/list", {}))["result"]["tools"]
        pipe.close()
        for name, way in (("pipe", over_a_pipe), ("HTTP", over_http)):
            began = time.monotonic()
            account, grown = way(program, repository.root, tools, rng, asked.requests // 2)
            faults = account.settle(name)
            if grown > GROWTH_MB:
                faults.append(f"memory grew by {grown:.0f} MB")
            is_wrong |= bool(faults)
            took = time.monotonic() - began
            print(f"seed {asked.seed}, {name}: {account.asked} requests in {took:.0f} s, memory grew by {grown:.0f} MB, {len(faults)} faults", flush=True)
            for fault in faults[:10]:
                print("  " + fault)
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
