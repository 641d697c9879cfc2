"""Tests startup, shutdown and invalid input of a server on stdio: `python lifecycle.py BINARY WORKSPACE`.

In every case each line on stdout is one JSON-RPC message, and the process ends within a second of the end of stdin, SIGTERM or its
parent's death.
"""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time

from wire import MODERN, initialize, modern

BINARY, WORKSPACE = sys.argv[1:3]
COMMAND = [BINARY, "serve-mcp", "--workspace", WORKSPACE, "--debug"]


class Server:
    def __init__(self, command=COMMAND):
        self.started = time.monotonic()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.unread, self.notes = b"", []

    def send(self, message):
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self, id):
        """Returns the answer to request `id`; only other messages may come before it."""
        deadline = time.monotonic() + 10
        while True:
            while b"\n" not in self.unread:
                ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
                assert ready, f"no answer to request {id}"
                chunk = os.read(self.process.stdout.fileno(), 65536)
                assert chunk, f"stdout ended before request {id} was answered"
                self.unread += chunk
            line, self.unread = self.unread.split(b"\n", 1)
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0", line
            if "method" not in message and message.get("id") == id:
                return message
            self.notes.append(message)

    def ask(self, message):
        self.send(message)
        return self.receive(message["id"])

    def ends(self, seconds=1.0):
        """Waits for the exit and checks that the rest of stdout consists of messages."""
        began = time.monotonic()
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"still running after {seconds} s") from None
        for line in (self.unread + self.process.stdout.read()).splitlines():
            assert json.loads(line)["jsonrpc"] == "2.0", line
        assert code == 0, f"exit code {code} after {time.monotonic() - began:.2f} s"

    def close(self):
        self.process.stdin.close()
        self.ends()


def ends_when_nobody_ever_asked():
    Server().close()


def ends_after_a_lone_discover():
    server = Server()
    hello = server.ask(modern("server/discover"))["result"]
    server.close()
    assert MODERN in hello["supportedVersions"], hello


def ends_after_initialize():
    server = Server()
    server.ask(initialize())
    server.close()


def ends_on_sigterm():
    server = Server()
    server.ask(initialize())
    server.process.send_signal(signal.SIGTERM)
    server.ends()


def ends_with_its_parent():
    """Kills the parent while stdin stays open: the server has to notice the death itself."""
    parent = """
import subprocess, sys
server = subprocess.Popen(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    file.write(str(server.pid))
server.wait()
"""
    with tempfile.NamedTemporaryFile("r") as file:
        server = Server([sys.executable, "-c", parent, file.name, *COMMAND])
        server.ask(modern("server/discover"))
        while not (pid := file.read()):
            time.sleep(0.01)
    pid = int(pid)
    server.process.kill()
    server.process.wait()
    died = time.monotonic()
    try:
        while alive(pid) and time.monotonic() - died < 2:
            select.select([], [], [], 0.02)
        assert not alive(pid), "still running 2 s after its parent died"
    finally:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def speaks_each_initialize_revision():
    for version in ("2025-11-25", "2025-06-18"):
        server = Server()
        agreed = server.ask(initialize(version))["result"]["protocolVersion"]
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools = server.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})["result"]["tools"]
        server.close()
        assert agreed == version and tools, f"asked for {version}, got {agreed}"


def offers_a_known_revision_for_an_unknown_one():
    server = Server()
    agreed = server.ask(initialize("1999-01-01"))["result"]["protocolVersion"]
    server.close()
    assert agreed in ("2025-11-25", "2025-06-18"), agreed


def refuses_an_unknown_stateless_revision():
    server = Server()
    refusal = server.ask(modern("tools/list", version="2999-01-01"))["error"]
    server.close()
    assert refusal["code"] == -32022 and MODERN in refusal["data"]["supported"], refusal


def answers_nonsense_with_errors_and_lives():
    server = Server()
    server.ask(initialize())
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    server.send(b"{ this is no JSON")
    unparsed = server.receive(None)["error"]["code"]
    unknown = server.ask({"jsonrpc": "2.0", "id": 3, "method": "no/such/method"})["error"]["code"]
    nameless = server.ask({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {}})["error"]["code"]
    tools = server.ask({"jsonrpc": "2.0", "id": 5, "method": "tools/list"})["result"]["tools"]
    server.close()
    assert (unparsed, unknown, nameless) == (-32700, -32601, -32602) and tools, (unparsed, unknown, nameless)


def progress_grows_and_ends_before_the_answer():
    server = Server()
    server.ask(modern("server/discover"))
    call = modern("tools/call", {"name": "index_repo", "arguments": {"force": True}}, id=2)
    call["params"]["_meta"]["progressToken"] = "index"
    result = server.ask(call)["result"]
    steps = [note["params"]["progress"] for note in server.notes if note["params"]["progressToken"] == "index"]
    server.ask(modern("tools/list", id=3))
    server.close()
    assert not result["isError"] and steps and sorted(set(steps)) == steps, (result, steps)
    assert len(steps) == len(server.notes), f"after the answer: {server.notes[len(steps):]}"


CHECKS = [
    ends_when_nobody_ever_asked, ends_after_a_lone_discover, ends_after_initialize, ends_on_sigterm, ends_with_its_parent,
    speaks_each_initialize_revision, offers_a_known_revision_for_an_unknown_one, refuses_an_unknown_stateless_revision,
    answers_nonsense_with_errors_and_lives, progress_grows_and_ends_before_the_answer,
]

failed = 0
for check in CHECKS:
    try:
        check()
    except Exception as problem:
        failed += 1
        print(f"{check.__name__}: {type(problem).__name__}: {problem}")
print(f"{len(CHECKS)} checks")
sys.exit(failed > 0)
