"""Connections: what a peer of the HTTP server can do beside asking. After each scenario others have to be answered in time."""

import json
import random
import socket
import threading
import time

from hostile.server import META, Broken, Http, allowed

HEAVY = {"pattern": "(.{1,300}){2}[x-z]$", "path_filter": "long.txt"}


def raw(server, data, seconds=1.0):
    """Sends bytes; what comes back at first."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=seconds) as one:
        try:
            one.sendall(data)
            return one.recv(65_536)
        except OSError:
            return b""


def head(server, path="/mcp", method="POST", more="", length=10):
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{more}Content-Length: {length}\r\n\r\n".encode("latin-1")


def slow_bodies(server, rng):
    """Many connections that never send their body, on every path."""
    open_ones = []
    try:
        path = rng.choice(["/mcp", "/mcp/x", "/mcp/", "/", "/health", "/mcp/../mcp"])
        for _ in range(480):
            one = socket.create_connection(("127.0.0.1", server.port), timeout=2)
            open_ones.append(one)
            one.sendall(head(server, path, length=1000) + b"{")
        time.sleep(0.5)
        try:
            server.health()
        except Broken as broken:
            raise Broken(broken.kind, f"480 slow bodies at {path}: {broken.details}") from None
    except OSError:
        server.health()
    finally:
        for one in open_ones:
            one.close()


def half_heads(server, rng):
    open_ones = []
    try:
        for _ in range(480):
            one = socket.create_connection(("127.0.0.1", server.port), timeout=2)
            open_ones.append(one)
            one.sendall(rng.choice([b"", b"G", b"POST /mcp HTTP/1.1\r\nHost: ", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]))
    except OSError:
        pass
    server.health()
    for one in open_ones:
        one.close()


def odd_requests(server, rng):
    """Methods, paths, versions and heads of every kind."""
    for _ in range(150):
        method = rng.choice(["GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "HEAD", "PATCH",
            "X" * rng.choice([1, 100, 100_000]), "\x00", "get"])
        path = rng.choice(["/", "/mcp", "/mcp/", "/mcp/x", "/health", "*", "http://other/", "//", "/../../etc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd", "/assets/../../x", "/" + "a/" * rng.choice([10, 30_000]), "/\xff", "/?" + "a=b&" * 10_000,
            ""])
        more = rng.choice([
            "", "X: " + "x" * rng.choice([10, 10_000, 500_000]) + "\r\n", "X: y\r\n" * rng.choice([10, 90, 5000]),
            "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked, identity\r\n", "Content-Length: 5\r\n",
            "Expect: 100-continue\r\n",
            "Upgrade: websocket\r\nConnection: upgrade\r\n", "Cookie: " + "a=b; " * 5000 + "\r\n", "Mcp-Session-Id: \xff\xfe\r\n",
            "Mcp-Session-Id: " + "x" * 100_000 + "\r\n", "Origin: null\r\n", "Last-Event-ID: 99999999999999\r\n",
            "Authorization: Bearer " + "x" * 50_000 + "\r\n", "Content-Encoding: gzip\r\n",
        ])
        body = rng.choice([b"", b"{}", b"\xff\xfe", b"[" * 5000, b"5\r\nhello\r\n0\r\n\r\n", b"FFFFFFFFFFFFFFFF\r\n"])
        said = raw(server, head(server, path, method, more, rng.choice([len(body), 0, 2**63, "-1", "x"])) + body, 0.25)
        if said.startswith((b"HTTP/1.1 500", b"HTTP/1.1 502")):
            raise Broken("status", f"{said[:60]!r} to {method[:20]} {path[:60]} {more[:60]!r}")
        server.state()
    server.health()


def call_bytes(server, tool, arguments, session):
    if session:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        more = f"Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n"
    else:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"_meta": META, "name": tool, "arguments": arguments}})
        more = f"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
    return head(server, more=more, length=len(body)) + body.encode()


def hang_ups(server, rng):
    """Long questions whose askers leave at once. The next one has to be answered in time, and the work has to end."""
    connection = server.connect()
    session = server.open_session(connection) if rng.random() < 0.6 else None
    for _ in range(60):
        one = socket.create_connection(("127.0.0.1", server.port), timeout=2)
        one.sendall(call_bytes(server, "grep_code", HEAVY, session))
        if rng.random() < 0.2:
            time.sleep(0.01)
        one.close()
    began = time.monotonic()
    try:
        server.call(server.connect(), "locate_symbol", {"name": "run"})
        server.health()
    except Broken as broken:
        raise Broken(broken.kind, f"60 greps whose askers left{' in a session' if session else ''}: {broken.details}") from None
    took = time.monotonic() - began
    if took > allowed():
        raise Broken("silent", f"another client waited {took:.0f} s for 60 greps whose askers left{' in a session' if session else ''}")


def at_once(server, rng):
    """Many clients that ask at the same time, some heavy questions among them."""
    faults = []

    def client(seed):
        own, connection = random.Random(seed), server.connect(60)
        try:
            for _ in range(10):
                tool, arguments = own.choice([("locate_symbol", {"name": "run"}), ("search_code", {"query": "which kind runs"}),
                    ("grep_code", {"pattern": "name_[0-9]+"}), ("list_refs", {}),
                    ("search_code", {"query": "run", "ref": "feature"})])
                server.call(connection, tool, arguments, seconds=60)
        except Broken as broken:
            if broken.kind != "status":
                faults.append(broken)

    threads = [threading.Thread(target=client, args=(rng.random(),)) for _ in range(24)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if faults:
        raise faults[0]
    server.health()


def unread_answers(server, rng):
    """Clients that ask and never read."""
    open_ones = []
    for _ in range(60):
        one = socket.create_connection(("127.0.0.1", server.port), timeout=2)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        for _ in range(20):
            try:
                one.sendall(call_bytes(server, "grep_code", {"pattern": "."}, None))
            except OSError:
                break
        open_ones.append(one)
    time.sleep(1)
    server.health()
    server.state()
    for one in open_ones:
        one.close()


def streams(server, rng):
    """Event streams that are opened and left open, of sessions and of none."""
    connection, open_ones = server.connect(), []
    for at in range(100):
        session = server.open_session(connection) if at % 10 == 0 else session
        one = socket.create_connection(("127.0.0.1", server.port), timeout=2)
        one.sendall(head(server, method="GET", more=f"Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n", length=0))
        open_ones.append(one)
    server.health()
    server.call(server.connect(), "locate_symbol", {"name": "run"})
    for one in open_ones:
        one.close()


SCENARIOS = [slow_bodies, half_heads, odd_requests, hang_ups, at_once, unread_answers, streams]


def connections(ground, root, data, report, seed, until, only=None):
    step = 0
    while time.monotonic() < until:
        step = only if only is not None else step + 1
        scenario = SCENARIOS[(step - 1) % len(SCENARIOS)]
        if report.is_known(("found", scenario.__name__)) and only is None:
            if all(report.is_known(("found", one.__name__)) for one in SCENARIOS):
                return
            continue
        server = None
        try:
            server = Http(ground, root, data)
            scenario(server, random.Random(f"{seed}/connections/{step}"))
            report.count("connection scenarios")
        except Broken as broken:
            report.find(broken, "connections", step, scenario.__name__, ("found", scenario.__name__))
        except OSError as error:
            report.find(Broken("silent", f"{type(error).__name__}: {error}"), "connections", step, scenario.__name__,
                ("found", scenario.__name__))
        if server:
            report.peak("connections", server.peak)
            try:
                server.close()
            except Broken as broken:
                report.find(broken, "connections", step, f"{scenario.__name__}, when the server was closed",
                    ("found", scenario.__name__))
        if only is not None:
            return
