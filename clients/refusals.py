"""Sends requests that a server on HTTP has to refuse and survive: `python refusals.py BINARY WORKSPACE`. Loopback only.

Foreign origins and hosts, missing and wrong tokens, a body of 100 MB, and ten thousand bad requests of every kind that a broken or hostile
client sends. Standard library only, because client libraries do not send these.
"""

import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import socket
import stat
import sys
import time

from wire import LEGACY, HttpServer, answer, headers, initialize, memory, modern, post, read

BINARY, WORKSPACE = sys.argv[1:3]
HUGE = 100 * 1024 * 1024
BAD_REQUESTS = 10_000
BAD_SECONDS = 60
CONNECTIONS = 8
ABANDONED = 1_000
HALF_OPEN = 900
HALF_SECONDS = 40  # A body has 30 to come.
GROWTH_MB = 48

LIST = modern("tools/list")
HEALTH = modern("tools/call", {"name": "health_check", "arguments": {}})


def lives(server):
    status, _, message = post(server.connect(), HEALTH)
    assert status == 200 and answer(message)["sqlite_ok"] is True, (status, message)


# Access

def answers_when_all_is_well(server):
    assert post(server.connect(), LIST)[0] == 200
    connection = server.connect()
    connection.request("GET", "/health")
    status, _, health = read(connection)
    assert status == 200 and health["sqlite_ok"] is True and health["metadata"], (status, health)


def refuses_foreign_origins(server):
    for origin in ("http://evil.example", f"http://127.0.0.1.evil.example:{server.port}", "null", "file://"):
        status, _, _ = post(server.connect(), LIST, Origin=origin)
        assert status == 403, f"Origin {origin}: {status}"


def refuses_foreign_hosts(server):
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example"):
        for authority in (host, f"{host}:{server.port}"):
            for verb, path, body, named in (("POST", "/mcp", json.dumps(LIST), headers(LIST)), ("GET", "/health", None, {})):
                connection = server.connect()
                connection.request(verb, path, body, {**named, "Host": authority})
                status, _, _ = read(connection)
                assert status == 403, f"{verb} {path} for Host {authority}: {status}"


def requires_the_given_token(server):
    token = "a-token-of-the-checks"
    for wrong in (None, "Bearer", "Bearer ", "Bearer wrong", f"Bearer {token[:-1]}", f"Bearer {token}x", f"Basic {token}", token):
        for message in (LIST, initialize()):
            status, said, _ = post(server.connect(), message, Authorization=wrong)
            assert status == 401, f"Authorization {wrong}: {status}"
            assert said.get("WWW-Authenticate", "").startswith("Bearer"), f"WWW-Authenticate is {said.get('WWW-Authenticate')}"
    assert post(server.connect(), LIST, Authorization=f"Bearer {token}")[0] == 200
    assert token not in "".join(server.lines), "the token is in the log"


def requires_the_generated_token(server, home):
    file = pathlib.Path(home) / "http-token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600, oct(file.stat().st_mode)
    token = file.read_text().strip()
    assert len(token) >= 32, "a short token"
    assert server.says(str(file)), "the log does not say where the token is"
    assert token not in "".join(server.lines), "the token is in the log"
    assert post(server.connect(), LIST)[0] == 401
    assert post(server.connect(), LIST, Authorization=f"Bearer {token}")[0] == 200


# Size limits

def refuses_a_huge_body(server):
    _, before, _ = memory(server.process.pid)
    for chunked in (False, True):
        status = send_huge(server, chunked)
        assert status in (413, None), f"{'chunked' if chunked else 'announced'}: {status}"
        lives(server)
    _, after, _ = memory(server.process.pid)
    assert after - before < GROWTH_MB, f"memory went from {before} to {after} MB"


def send_huge(server, chunked):
    """Returns the status for a body of 100 MB; None if the connection is closed. A refusal may come before the end."""
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {HUGE}"
    named = "".join(f"{name}: {value}\r\n" for name, value in headers(LIST).items())
    with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
        connection.sendall(f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{named}{length}\r\n\r\n".encode())
        piece = b" " * 65536
        try:
            for _ in range(HUGE // len(piece)):
                connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            if chunked:
                connection.sendall(b"0\r\n\r\n")
        except OSError:
            pass
        try:
            response = http.client.HTTPResponse(connection)
            response.begin()
            return response.status
        except (OSError, http.client.HTTPException):
            return None


def survives_unfinished_requests(server):
    """Checks that many half-sent requests do not block other clients and are closed after a while."""
    head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    halves = itertools.cycle([b"", head, head + b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"])
    half = [socket.create_connection(("127.0.0.1", server.port), timeout=HALF_SECONDS) for _ in range(HALF_OPEN)]
    for connection, sent in zip(half, halves):
        # The first ones may already be closed.
        with contextlib.suppress(OSError):
            connection.sendall(sent)
    lives(server)
    began = time.monotonic()
    for connection in half:
        with contextlib.suppress(ConnectionError):
            while connection.recv(4096):
                pass
        connection.close()
    took = time.monotonic() - began
    assert took < HALF_SECONDS, f"half-open connections lived for {took:.0f} s"
    lives(server)


def refuses_two_hosts_or_origins(server):
    here = f"127.0.0.1:{server.port}"
    for named in (f"Host: {here}\r\nHost: {here}", f"Host: {here}\r\nHost: evil.example", "",
                  f"Host: {here}\r\nOrigin: http://{here}\r\nOrigin: http://evil.example"):
        assert raw_status(server, f"GET /health HTTP/1.1\r\n{named}\r\n") == 400, named
    assert raw_status(server, f"GET http://evil.example/health HTTP/1.1\r\nHost: {here}\r\n") == 400
    assert raw_status(server, f"GET http://{here}/health HTTP/1.1\r\nHost: {here}\r\n") == 200


def raw_status(server, head):
    with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
        connection.sendall(f"{head.strip()}\r\nConnection: close\r\n\r\n".encode())
        response = http.client.HTTPResponse(connection)
        response.begin()
        return response.status


def ends_a_session(server):
    connection = server.connect()
    status, said, _ = post(connection, initialize(), MCP_Protocol_Version=None, Mcp_Method=None, Accept="*/*")
    assert status == 200, status
    session = said.get("Mcp-Session-Id")
    connection.request("DELETE", "/mcp", None, {"Mcp-Session-Id": session, "MCP-Protocol-Version": LEGACY})
    status, _, _ = read(connection)
    assert status in (200, 204), status


def bounds_abandoned_sessions(server):
    """Checks clients that disconnect without closing. The first ones fill the allocator's pools, which may have been empty."""
    connection = server.connect()

    def abandon(count):
        for _ in range(count):
            status, _, _ = post(connection, initialize(), MCP_Protocol_Version=None, Mcp_Method=None)
            assert status in (200, 429, 503), status
        lives(server)
        return memory(server.process.pid)[0]

    grown = -abandon(ABANDONED // 4) + abandon(ABANDONED)
    assert grown < GROWTH_MB, f"{ABANDONED} sessions made memory grow by {grown:.0f} MB"


# Ten thousand bad requests

def bad_requests():
    """Returns the kinds of bad requests: what to send, and a check of the answer."""
    list_, text = headers(LIST), json.dumps(LIST)
    call = modern("tools/call", {"name": "search_code", "arguments": {"colour": "red"}})
    shapeless = modern("tools/call", {"name": "search_code", "arguments": "red"})
    no_tool = modern("tools/call", {"name": "no_such_tool", "arguments": {}})
    unknown = modern("no/such/method")
    future = modern("tools/list", version="2999-01-01")
    old = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    gone = headers(old, MCP_Protocol_Version=LEGACY, Mcp_Session_Id="unknown")
    refused = range(400, 500)

    def status(*allowed):
        return lambda code, message: code in allowed

    def rpc_error(number):
        return lambda code, message: (code == 200 or code in refused) and (message or {}).get("error", {}).get("code") == number

    def each_refused(code, messages):
        return code == 400 and isinstance(messages, list) and all(rpc_error(-32600)(code, message) for message in messages)

    def tool_error(code, message):
        return code == 200 and message.get("result", {}).get("isError") and answer(message)["error"]["code"] == "invalid_input"

    return {
        "malformed JSON": ("POST", "/mcp", "{ no JSON", list_, rpc_error(-32700)),
        "no body": ("POST", "/mcp", "", list_, rpc_error(-32700)),
        "bytes that are not UTF-8": ("POST", "/mcp", b'{"jsonrpc": "\xff\xfe"}', list_, rpc_error(-32700)),
        "JSON a thousand levels deep": ("POST", "/mcp", "[" * 1000 + "]" * 1000, list_, rpc_error(-32700)),
        "JSON that is no message": ("POST", "/mcp", '{"hello": "world"}', list_, rpc_error(-32600)),
        "a request whose id is null": ("POST", "/mcp", json.dumps({**LIST, "id": None}), list_, rpc_error(-32600)),
        "a batch": ("POST", "/mcp", f"[{text}, {text}]", list_, each_refused),
        "a wrong content type": ("POST", "/mcp", text, {**list_, "Content-Type": "text/plain"}, status(415)),
        "an Accept nothing fits": ("POST", "/mcp", text, {**list_, "Accept": "text/html"}, status(406)),
        "an unknown method": ("POST", "/mcp", json.dumps(unknown), headers(unknown), rpc_error(-32601)),
        "an unknown tool": ("POST", "/mcp", json.dumps(no_tool), headers(no_tool), rpc_error(-32602)),
        "arguments that are no object": ("POST", "/mcp", json.dumps(shapeless), headers(shapeless), rpc_error(-32602)),
        "bad arguments": ("POST", "/mcp", json.dumps(call), headers(call), tool_error),
        "an unknown revision": ("POST", "/mcp", json.dumps(future), headers(future, MCP_Protocol_Version="2999-01-01"), rpc_error(-32022)),
        "a header at odds with the body": ("POST", "/mcp", text, {**list_, "Mcp-Method": "tools/call"}, status(400)),
        "an unknown session": ("POST", "/mcp", json.dumps(old), gone, status(404)),
        "a foreign origin": ("POST", "/mcp", text, {**list_, "Origin": "http://evil.example"}, status(403)),
        "a wrong path": ("GET", "/../../etc/passwd", None, {}, status(404)),
        "a wrong verb": ("PUT", "/mcp", text, list_, status(405)),
        "a wrong verb for health": ("DELETE", "/health", None, {}, status(405)),
    }


def survives_ten_thousand_bad_requests(server):
    kinds = bad_requests()
    resident, _, _ = memory(server.process.pid)
    handles = len(os.listdir(f"/proc/{server.process.pid}/fd"))
    deadline = time.monotonic() + BAD_SECONDS
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        shares = [pool.submit(send_bad, server, kinds, first, deadline) for first in range(CONNECTIONS)]
        wrong = {}
        for share in shares:
            wrong.update(share.result())
    lives(server)
    grown = memory(server.process.pid)[0] - resident
    opened = len(os.listdir(f"/proc/{server.process.pid}/fd")) - handles
    assert not wrong, "\n  ".join(f"{kind}: {got}" for kind, got in wrong.items())
    assert grown < GROWTH_MB, f"memory grew by {grown:.0f} MB"
    assert opened < 2 * CONNECTIONS, f"{opened} more open files"


def send_bad(server, kinds, first, deadline):
    """Sends one connection's share of the bad requests; returns the kinds with a wrong answer."""
    wrong = {}
    connection, answered = server.connect(), 0
    some = list(itertools.islice(itertools.cycle(kinds.items()), first, first + BAD_REQUESTS // CONNECTIONS))
    while some:
        assert time.monotonic() < deadline, f"more than {BAD_SECONDS} s"
        kind, (verb, path, body, named, is_right) = some[-1]
        try:
            connection.request(verb, path, body, named)
            code, _, message = read(connection)
            if not is_right(code, message):
                wrong[kind] = f"{code} {json.dumps(message)[:300]}"
        except (OSError, http.client.HTTPException) as problem:
            # A server may close a bad client's connection after an answer, but each request gets its answer on a new connection.
            connection.close()
            connection, answered, old = server.connect(), 0, answered
            if old:
                continue
            wrong[kind] = f"{type(problem).__name__}: {problem}"
        some.pop()
        answered += 1
    connection.close()
    return wrong


def ends_on_sigterm(server):
    """Checks shutdown while a client holds a connection open."""
    idle = server.connect()
    idle.connect()
    began = time.monotonic()
    code = server.stop()
    seconds = time.monotonic() - began
    assert code == 0 and seconds < 1.5, f"exit code {code} after {seconds:.1f} s"


def checks():
    plain = HttpServer(BINARY, WORKSPACE)
    for check in (
        answers_when_all_is_well, refuses_foreign_origins, refuses_foreign_hosts, refuses_two_hosts_or_origins,
        refuses_a_huge_body, ends_a_session,
        survives_unfinished_requests, survives_ten_thousand_bad_requests, bounds_abandoned_sessions, ends_on_sigterm,
    ):
        yield check, (plain,)
    given = HttpServer(BINARY, WORKSPACE, "--require-token", env={"CODECOMPASS_TOKEN": "a-token-of-the-checks"})
    yield requires_the_given_token, (given,)
    yield ends_on_sigterm, (given,)
    generated = HttpServer(BINARY, WORKSPACE, "--require-token")
    yield requires_the_generated_token, (generated, os.environ["CODECOMPASS_HOME"])
    yield ends_on_sigterm, (generated,)


def main():
    count = failed = 0
    for check, given in checks():
        count += 1
        try:
            check(*given)
        except Exception as problem:
            failed += 1
            print(f"{check.__name__}: {type(problem).__name__}: {problem}")
    print(f"{count} checks")
    sys.exit(failed > 0)


main()
