"""The scripted model: a loopback server that plays a fixed plan of tool calls and records each request.

A plan is a list of `Step`s. The number of tool results in a request says which step is next, so retries and side requests
(titles, routers) do not disturb it. A step names a tool of the server under test; `route` finds how the client offers it.
"""
import gzip
import json
import re
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable
from urllib.parse import urlparse

import dialects
from dialects import Answer, Call, Dialect, Json, Say, Tool

DONE = "SCRIPT DONE"
NO_TOOL = "SCRIPT: NO TOOL"
INDIRECT = ("exec", "tool_search", "ToolSearch", "tool_call", "search_tool", "use_tool", "search_tool_functions", "run_typescript")


@dataclass
class Step:
    """A call of a tool of the server, or of any tool of the client with `own`. `before` runs first."""

    tool: str
    arguments: Json | str = field(default_factory=dict)
    own: bool = False
    before: Callable[[], None] | None = None


@dataclass
class Request:
    """A recorded request, and the answer it got."""

    seconds: float
    path: str
    headers: dict[str, str]
    body: Any
    dialect: Dialect | None
    answer: Answer | None = None

    def tools(self) -> list[Tool]:
        return self.dialect.tools(self.body) if self.dialect else []

    def results(self) -> list[str]:
        return self.dialect.results(self.body) if self.dialect else []


def direct(tools: list[Tool], server: str, tool: str) -> Tool | None:
    """The tool of the server as the model can call it without a detour."""
    for offered in tools:
        owner = f"{offered.namespace or ''} {offered.name}"
        if re.search(rf"(^|[^a-z]){tool}$", offered.name) and server in owner:
            return offered
    return next((offered for offered in tools if offered.name == tool and offered.namespace is None), None)


def route(tools: list[Tool], server: str, tool: str, arguments: Json) -> Call | None:
    """A call of the server's tool: directly, or by the indirection that the client offers."""
    if found := direct(tools, server, tool):
        return Call(found, arguments)
    by_name = {offered.name: offered for offered in tools}
    if "exec" in by_name and by_name["exec"].kind == "custom":
        body = f"const r = await tools.mcp__{server}__{tool}({json.dumps(arguments)}); text(r.content.map(c => c.text).join('\\n'));"
        return Call(by_name["exec"], f'// @exec: {{"max_output_tokens": 40000}}\n{body}')
    if "use_tool" in by_name:
        return Call(by_name["use_tool"], {"tool_name": f"{server}__{tool}", "tool_input": arguments})
    if "run_typescript" in by_name:
        call = f"await tools.mcp_{server}.{tool}({json.dumps(arguments)})"
        return Call(by_name["run_typescript"], {"code": f"async function main() {{ return {call}; }}"})
    if "tool_call" in by_name:
        return Call(by_name["tool_call"], {"name": f"mcp__{server}__{tool}", "arguments": arguments})
    return None


def discover(tools: list[Tool], server: str, tool: str) -> Call | None:
    """A search for deferred tools, for clients that have one."""
    by_name = {offered.name: offered for offered in tools}
    by_kind = {offered.kind: offered for offered in tools}
    if "tool_search" in by_kind:
        return Call(by_kind["tool_search"], {"query": f"{server} {tool}", "limit": 8})
    if "exec" in by_name and by_name["exec"].kind == "custom":
        return Call(by_name["exec"], f"text(ALL_TOOLS.filter(t => t.name.includes('{server}')));")
    if "search_tool_functions" in by_name:
        return Call(by_name["search_tool_functions"], {"query": f"{server} {tool}"})
    if "search_tool" in by_name:
        return Call(by_name["search_tool"], {"query": f"{server} {tool}", "limit": 8})
    for name in ("tool_search", "ToolSearch"):
        if name in by_name:
            names = ",".join(f"mcp__{server}__{each}" for each in (tool, "read_code"))
            return Call(by_name[name], {"query": f"select:{names}"})
    return None


class QuietServer(ThreadingHTTPServer):
    """A server that says nothing when a client drops its connection."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class ScriptedModel:
    """Use as a context manager; `base` is its address and `requests` the record."""

    def __init__(self, plan: list[Step], server: str = "codecompass"):
        self.server = server
        self._lock = threading.Lock()
        self.play(plan)

    def play(self, plan: list[Step]) -> None:
        """Starts over with another plan, at the same address."""
        self.plan = plan
        self.requests: list[Request] = []
        self.discovers: bool | None = None
        self._began = time.monotonic()
        self._done_before: set[int] = set()

    def __enter__(self) -> "ScriptedModel":
        self._http = QuietServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def conversation(self) -> list[Request]:
        """The requests that offer tools, in order: the turns of the agent itself."""
        return [r for r in self.requests if r.dialect and r.tools()]

    def finished(self) -> bool:
        return any(isinstance(r.answer, Say) and r.answer.text == DONE for r in self.requests)

    def results(self) -> list[str]:
        """All tool results that the model got, the one of the discovery left out."""
        longest = max((r.results() for r in self.conversation()), key=len, default=[])
        return longest[1:] if self.discovers else longest

    def decide(self, request: Request) -> Answer:
        tools = request.tools()
        if not tools:
            return Say("A title")
        with self._lock:
            if self.discovers is None:
                wanted = next((step.tool for step in self.plan if not step.own), None)
                self.discovers = bool(wanted and not direct(tools, self.server, wanted) and discover(tools, self.server, wanted))
        position = len(request.results())
        if self.discovers:
            if position == 0:
                wanted = next(step.tool for step in self.plan if not step.own)
                return discover(tools, self.server, wanted) or Say(NO_TOOL)
            position -= 1
        if position >= len(self.plan):
            return Say(DONE)
        step = self.plan[position]
        self._run_before(position, step)
        if step.own:
            tool = next((t for t in tools if t.name == step.tool), None)
            return Call(tool, step.arguments) if tool else Say(f"{NO_TOOL} {step.tool}")
        return route(tools, self.server, step.tool, step.arguments) or Say(f"{NO_TOOL} {step.tool}")

    def _run_before(self, position: int, step: Step) -> None:
        with self._lock:
            first = position not in self._done_before
            self._done_before.add(position)
        if first and step.before:
            step.before()

    def record(self, handler: BaseHTTPRequestHandler, body: Any, dialect: Dialect | None) -> Request:
        request = Request(round(time.monotonic() - self._began, 3), handler.path, dict(handler.headers), body, dialect)
        with self._lock:
            self.requests.append(request)
        return request

    def dump(self) -> list[Json]:
        """The record as JSON."""
        return [{"seconds": r.seconds, "path": r.path, "headers": r.headers, "body": r.body, "answer": repr(r.answer)} for r in self.requests]

    def _handler(model) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self._send(b"", "text/plain")

            def do_GET(self):
                if self.headers.get("upgrade"):
                    self._json({"error": {"message": "no websockets"}}, 426)
                    return
                model.record(self, None, None)
                entry = {"id": "scripted", "object": "model", "type": "model", "created": 1, "owned_by": "scripted", "display_name": "Scripted"}
                models = {"object": "list", "data": [entry], "models": [], "has_more": False}
                self._json(models if urlparse(self.path).path.rstrip("/").endswith("/models") else {})

            def do_POST(self):
                raw = read_body(self)
                try:
                    body = json.loads(raw) if raw else {}
                except ValueError:
                    body = {}
                path = urlparse(self.path).path
                dialect = dialects.of_path(path) if isinstance(body, dict) else None
                request = model.record(self, body, dialect)
                if dialect is None:
                    self._json({"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4})
                    return
                request.answer = model.decide(request)
                if dialect.streams(path, body):
                    self._events(dialect, dialect.events(body, request.answer))
                else:
                    self._json(dialect.whole(body, request.answer))

            do_PUT = do_POST

            def _events(self, dialect, events):
                lines = []
                for event in events:
                    if dialect.streamed_with_names and isinstance(event, dict):
                        lines.append(f"event: {event['type']}\n")
                    lines.append(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
                self._send("".join(lines).encode(), "text/event-stream")

            def _json(self, value, status=200):
                self._send(json.dumps(value).encode(), "application/json", status)

            def _send(self, raw, kind, status=200):
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                try:
                    self.wfile.write(raw)
                except OSError:
                    pass

        return Handler


def read_body(handler: BaseHTTPRequestHandler) -> bytes:
    length = int(handler.headers.get("content-length") or 0)
    if length:
        raw = handler.rfile.read(length)
    elif "chunked" in (handler.headers.get("transfer-encoding") or ""):
        raw = b""
        while size := int(handler.rfile.readline().strip() or b"0", 16):
            raw += handler.rfile.read(size)
            handler.rfile.readline()
        handler.rfile.readline()
    else:
        raw = b""
    encoding = handler.headers.get("content-encoding")
    if encoding == "gzip":
        return gzip.decompress(raw)
    if encoding == "zstd" and shutil.which("zstd"):
        return subprocess.run(["zstd", "-dc"], input=raw, stdout=subprocess.PIPE, check=False).stdout
    return raw
