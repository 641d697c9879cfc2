"""The protocol without a client library, for messages that no library would send. Standard library only."""

import atexit
import contextlib
import http.client
import json
import os
import subprocess
import threading
import time

MODERN = "2026-07-28"
LEGACY = "2025-11-25"


def modern(method, params=None, id=1, version=MODERN):
    """Returns a stateless request, which names its revision and client."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), "_meta": meta}}


def initialize(version=LEGACY, id=1):
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "wire", "version": "1"}}
    return {"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params}


def headers(message, **more):
    """Returns the headers of a Streamable HTTP request; a header given as None is omitted."""
    named = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": message.get("method"),
        "Mcp-Name": message.get("params", {}).get("name"),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    return {name: value for name, value in named.items() if value is not None}


def post(connection, message, path="/mcp", **more):
    """Sends one message; returns status, headers and JSON of the answer."""
    connection.request("POST", path, json.dumps(message), headers(message, **more))
    return read(connection)


def read(connection):
    response = connection.getresponse()
    body = response.read()
    return response.status, response.headers, decoded(body, response.headers.get("Content-Type", ""))


def decoded(body, content_type):
    """Returns the last JSON message in an answer, plain or an event stream; None if there is none."""
    if content_type.startswith("text/event-stream"):
        datas = [line[5:].strip() for line in body.decode().splitlines() if line.startswith("data:")]
        body = next((data for data in reversed(datas) if data), "")
    with contextlib.suppress(ValueError):
        return json.loads(body)
    return None


def answer(message):
    """Returns the JSON of a tool's answer."""
    return json.loads(message["result"]["content"][0]["text"])


class HttpServer:
    """A server on a free port of the loopback interface, ended by its pid."""

    def __init__(self, binary, workspace, *flags, env=None):
        self.process = subprocess.Popen(
            [binary, "serve-mcp", "--transport", "http", "--port", "0", "--workspace", workspace, *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})},
        )
        atexit.register(self.process.kill)
        self.lines, self.listening = [], threading.Event()
        threading.Thread(target=self._drain, daemon=True).start()
        if not self.listening.wait(10) or self.port is None:
            self.process.kill()
            raise RuntimeError("the server did not say where it listens: " + "".join(self.lines))

    port = None

    def _drain(self):
        for line in self.process.stderr:
            self.lines.append(line)
            if "listening on http://" in line:
                self.port = int(line.split("listening on http://")[1].split("/")[0].rsplit(":", 1)[1])
                self.listening.set()
        self.listening.set()

    def says(self, text, seconds=2):
        """Waits until the log contains this text; returns whether it does."""
        deadline = time.monotonic() + seconds
        while text not in "".join(self.lines) and time.monotonic() < deadline:
            time.sleep(0.01)
        return text in "".join(self.lines)

    def connect(self, timeout=15):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def stop(self):
        """Stops the server and returns its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def memory(pid):
    """Returns megabytes: resident now, peak resident, private now."""
    fields = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status"))
    rollup = dict(line.split(":", 1) for line in list(open(f"/proc/{pid}/smaps_rollup"))[1:])
    private = sum(int(rollup[name].split()[0]) for name in ("Private_Clean", "Private_Dirty"))
    return tuple(round(kb / 1024, 1) for kb in (int(fields["VmRSS"].split()[0]), int(fields["VmHWM"].split()[0]), private))
