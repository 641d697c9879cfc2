"""Servers under observation, and the report of what did not hold.

Memory is the resident set (`VmRSS`, and the peak `VmHWM`) as /proc has it, sampled every 20 ms. An address space limit
(`RLIMIT_AS`) would count mapped index files and reserved arenas, so it is not used; `RLIMIT_DATA` at 8 GB only protects the
machine. A server above the limit is killed at once and reported. Time limits are those of an idle machine; where the load is above
one per core they are longer in proportion, up to four times.
"""

import http.client
import json
import os
import queue
import re
import resource
import subprocess
import threading
import time

MEMORY_MB = 1024
SECONDS = 10
# An error may repeat a part of an argument, not all of it.
ERROR_BYTES = 64 << 10
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "hostile", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "hostile", "version": "1"}}


# The longest head of a request that the server reads; a longer one is refused, possibly by closing the connection.
MAX_HEAD = 32 << 10

class Broken(Exception):
    """Something that must hold did not: the kind of finding, and the details."""

    def __init__(self, kind, details):
        super().__init__(f"{kind}: {details}")
        self.kind, self.details = kind, details


def allowed(seconds=SECONDS):
    """The time that a request may take: more on a machine whose cores others use as well."""
    return seconds * min(4, max(1, os.getloadavg()[0] / os.cpu_count()))


def memory_of(pid):
    """The figures of a process in MB: `VmRSS`, `VmHWM`, `RssAnon`."""
    try:
        with open(f"/proc/{pid}/status") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
    except OSError:
        return {}
    return {name: int(fields[name].split()[0]) // 1024 for name in ("VmRSS", "VmHWM", "RssAnon") if name in fields}


def children_of(pid):
    """The processes that a process has started."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += file.read().split()
    except OSError:
        pass
    return found


def processor_seconds(pid):
    """The processor time of a process."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Ground:
    """The folders around a server: its data folder, and those in which nothing may be written or read.

    `home` and `temporary` are what the environment names. `secret` is outside of every work tree and holds a token that may be in no
    answer. Every program on `PATH` leaves a mark in `marks`, and so does each command that a hostile repository configures.
    """

    def __init__(self, folder, binary, token):
        self.folder, self.binary, self.token = folder, os.path.abspath(binary), token
        self.home, self.temporary, self.marks = folder / "home", folder / "tmp", folder / "marks"
        self.programs, self.secret = folder / "bin", folder / "secret"
        for path in (self.home, self.temporary, self.marks, self.programs, self.secret):
            path.mkdir(parents=True)
        (self.secret / "secret.py").write_text(f"def secret_{token}():\n    return '{token}'\n")
        (self.secret / "secret").write_text(f"{token}\n")
        for name in ("git", "sh", "bash", "ssh", "ssh-askpass", "gpg", "less", "vi", "man", "xdg-open", "python3", "watchman"):
            self.canary(self.programs / name)
        self.before = self.listing()

    def canary(self, path):
        """A program that leaves a mark when it is started."""
        path.write_text(f"#!/bin/sh\n/bin/echo started > {self.marks}/{path.name}\n")
        path.chmod(0o755)
        return path

    def listing(self):
        roots = (self.home, self.temporary, self.secret, self.programs)
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for root in roots for path in root.rglob("*")}

    def check(self):
        """Raises when a program ran, or a file outside of the data folder was written."""
        marks = sorted(path.name for path in self.marks.iterdir())
        if marks:
            for name in marks:
                (self.marks / name).unlink()
            raise Broken("process", f"a configured program was started: {marks}")
        now = self.listing()
        if now != self.before:
            changed = sorted(set(now.items()) ^ set(self.before.items()))
            self.before = now
            raise Broken("write", f"written outside of the data folder: {changed[:5]}")

    def environment(self, data):
        return {
            "CODECOMPASS_HOME": str(data), "HOME": str(self.home), "TMPDIR": str(self.temporary), "PATH": str(self.programs),
            "LANG": "C.UTF-8", "RUST_BACKTRACE": "1",
        }


class Server:
    """A process of ours whose memory, children and errors are watched."""

    def __init__(self, ground, root, data, *arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL):
        self.ground, self.arguments = ground, arguments
        self.errors = ground.folder / f"errors-{time.monotonic_ns()}"
        self.peak, self.over, self.children, self.closed = 0, None, set(), False
        limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30))
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                [ground.binary, *arguments], cwd=root, env=ground.environment(data), stdin=stdin, stdout=stdout, stderr=errors,
                preexec_fn=limit,
            )
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        while self.process.poll() is None:
            memory = memory_of(self.process.pid)
            self.peak = max(self.peak, memory.get("VmHWM", 0))
            self.children.update(children_of(self.process.pid))
            if memory.get("VmRSS", 0) > MEMORY_MB:
                self.over = memory["VmRSS"]
                self.process.kill()
            time.sleep(0.02)

    def state(self):
        """Raises when the server is gone, too large, has started a process or has panicked."""
        if self.over:
            raise Broken("memory", f"{self.over} MB resident")
        if self.process.poll() is not None:
            raise Broken("exit", f"the server ended with {self.process.returncode}: {self.said()[-300:]!r}")
        if self.children:
            raise Broken("process", f"it has started {self.children}")

    def said(self):
        try:
            with open(self.errors, "rb") as file:
                return file.read(1 << 20).decode("utf-8", "replace")
        except OSError:
            return ""

    def wait_for(self, pattern, seconds=30):
        """The first match of a pattern on standard error."""
        until = time.monotonic() + allowed(seconds)
        while time.monotonic() < until:
            found = re.search(pattern, self.said())
            if found:
                return found
            self.state()
            time.sleep(0.02)
        raise Broken("silent", f"no {pattern} in {seconds} s")

    def grown(self):
        """The memory of its own, in MB, once it has been idle."""
        time.sleep(2)
        return memory_of(self.process.pid).get("RssAnon", 0)

    def close(self):
        """Ends it. Raises what was noticed late."""
        if self.closed:
            return
        self.closed = True
        memory = memory_of(self.process.pid)
        self.peak = max(self.peak, memory.get("VmHWM", 0))
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        said = self.said()
        self.errors.unlink(missing_ok=True)
        if "panicked at" in said:
            at = said.index("panicked at")
            raise Broken("panic", said[max(0, at - 100):at + 400])
        self.ground.check()


class Pipe(Server):
    """A server on standard input and output, asked one request at a time."""

    def __init__(self, ground, root, data, *flags):
        super().__init__(ground, root, data, "serve-mcp", *flags, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines, self.number = queue.Queue(), 0
        threading.Thread(target=self.read, daemon=True).start()
        self.request("initialize", HELLO)
        self.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def write(self, data):
        """Sends a line from a thread: a server that does not read must not stop us."""
        failed = []

        def send():
            try:
                self.process.stdin.write(data + b"\n")
                self.process.stdin.flush()
            except (OSError, ValueError) as error:
                failed.append(error)

        if len(data) < 60_000:
            send()
        else:
            thread = threading.Thread(target=send, daemon=True)
            thread.start()
            thread.join(allowed())
        if failed:
            self.gone()

    def gone(self):
        time.sleep(0.05)
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            pass
        self.state()
        raise Broken("silent", "the pipe is closed")

    def raw(self, data, number, seconds=SECONDS):
        """Sends a request as bytes; the answer's line under this id, or an error without one."""
        self.write(data)
        seconds = allowed(seconds)
        until = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                self.state()
                busy = processor_seconds(self.process.pid)
                time.sleep(0.5)
                busy = processor_seconds(self.process.pid) - busy
                raise Broken("silent", f"no answer in {seconds:.0f} s; {'it computes' if busy > 0.02 else 'it waits'}") from None
            if line is None:
                self.gone()
            message = json.loads(line)
            if "method" not in message and message.get("id") in (number, None):
                return message, len(line)

    def request(self, method, params, seconds=SECONDS):
        self.number += 1
        text = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.raw(text.encode(), self.number, seconds)[0]

    def call(self, tool, arguments, seconds=SECONDS):
        """A tool's answer as text, and the code of its error or None. `arguments` is a value, or its JSON text."""
        self.number += 1
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        head = f'{{"jsonrpc":"2.0","id":{self.number},"method":"tools/call","params":{{"name":{json.dumps(tool)},"arguments":'
        message, size = self.raw((head + text + "}}").encode("utf-8", "surrogatepass"), self.number, seconds)
        return judge(message, size, self.ground.token)


class Http(Server):
    """A server on HTTP with the explorer, and connections to it."""

    def __init__(self, ground, root, data, *flags):
        super().__init__(ground, root, data, "serve-mcp", "--transport", "http", "--port", "0", "--explorer", "--tools", "all",
            *flags)
        self.port = int(self.wait_for(r"listening on http://127\.0\.0\.1:(\d+)/mcp").group(1))
        self.key = self.wait_for(r"\?token=([0-9A-Za-z_-]+)").group(1)
        self.cookie = None

    def connect(self, seconds=SECONDS):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=allowed(seconds))

    def ask(self, connection, method, target, body=None, headers=None, seconds=SECONDS):
        """A response and its body. Raises when none comes."""
        until = time.monotonic() + seconds
        for attempt in (1, 2):
            try:
                connection.request(method, target, body, headers or {})
                response = connection.getresponse()
                return response, response.read()
            except TimeoutError:
                connection.close()
                self.state()
                raise Broken("silent", f"no answer in {connection.timeout:.0f} s to {method} {target[:80]}") from None
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self.state()
                # A kept connection may have been closed meanwhile, and a head or body that is refused is not read to its end.
                if attempt == 2 or time.monotonic() > until:
                    head = sum(len(str(value)) for value in (headers or {}).values()) + len(target)
                    if head > MAX_HEAD or body is not None and len(body) > (1 << 20) - 4096:
                        return None, b""
                    raise Broken("silent", f"{type(error).__name__}: {error} to {method} {target[:80]}") from None

    def call(self, connection, tool, arguments, session=None, path="/mcp", seconds=SECONDS):
        """As `Pipe.call`, over HTTP; the error of a refused message is its status."""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        meta = ""
        if session:
            headers.update({"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"})
        else:
            headers.update({"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool})
            meta = f'"_meta":{json.dumps(META)},'
        body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{meta}"name":{json.dumps(tool)},"arguments":{text}}}}}'
        response, said = self.ask(connection, "POST", path, body.encode("utf-8", "surrogatepass"), headers, seconds)
        if response is None or 400 <= response.status < 500:
            return "", f"status {response.status if response else 'closed'}"
        if response.status >= 500:
            raise Broken("status", f"{response.status}: {said[:200]!r}")
        message = message_in(response, said)
        return judge(message, len(said), self.ground.token)

    def open_session(self, connection, path="/mcp"):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO})
        response, _ = self.ask(connection, "POST", path, body, headers)
        session = response.headers.get("Mcp-Session-Id")
        if session:
            ready = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
            self.ask(connection, "POST", path, ready, {**headers, "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"})
        return session

    def page(self, connection, target, accept="text/html"):
        """A page of the explorer, as a browser with the cookie gets it."""
        if self.cookie is None:
            response, _ = self.ask(connection, "GET", f"/?token={self.key}")
            self.cookie = response.headers["Set-Cookie"].split(";")[0]
        return self.ask(connection, "GET", target, None, {"Cookie": self.cookie, "Accept": accept})

    def health(self, seconds=SECONDS):
        connection = self.connect(seconds)
        response, _ = self.ask(connection, "GET", "/health", seconds=seconds)
        connection.close()
        if response.status != 200:
            raise Broken("health", f"/health answers {response.status}")


def message_in(response, said):
    """The answer in a response, be it JSON or a stream of events."""
    try:
        if response.headers.get("Content-Type", "").startswith("text/event-stream"):
            texts = [line[5:].strip() for line in said.decode().split("\n") if line.startswith("data:")]
            found = [message for message in map(json.loads, filter(None, texts)) if "method" not in message]
            return found[-1]
        return json.loads(said)
    except (ValueError, IndexError):
        raise Broken("protocol", f"no message in {said[:300]!r}") from None


def judge(message, size, token):
    """The text and the error's code of a message that must be an answer to a call."""
    if token in json.dumps(message):
        raise Broken("secret", f"a text from outside of the work tree: {str(message)[:300]}")
    error = message.get("error")
    if isinstance(error, dict):
        if not isinstance(error.get("code"), int) or not error.get("message"):
            raise Broken("protocol", f"an error without code or message: {str(message)[:300]}")
        if size > ERROR_BYTES:
            raise Broken("echo", f"an error of {size} bytes: {str(message)[:100]}")
        return error["message"], error["code"]
    result = message.get("result")
    if not isinstance(result, dict) or not result.get("content"):
        raise Broken("protocol", f"neither result nor error: {str(message)[:300]}")
    text = result["content"][0].get("text", "")
    if not result.get("isError"):
        return text, None
    if size > ERROR_BYTES:
        raise Broken("echo", f"an error of {size} bytes: {text[:100]}")
    try:
        code = json.loads(text)["error"]["code"]
    except (ValueError, KeyError, TypeError):
        found = re.search(r"\b[a-z]+(_[a-z]+)+\b", text)
        if not found:
            raise Broken("protocol", f"an error without a code: {text[:300]}") from None
        code = found.group()
    if code == "internal_error":
        raise Broken("internal", text[:300])
    return text, code


class Report:
    """Findings by signature, the slowest requests and the peaks of memory."""

    def __init__(self, kept, command):
        self.kept, self.command = kept, command
        self.counts, self.shown, self.slow, self.peaks, self.numbers = {}, {}, [], {}, {}

    def count(self, what, number=1):
        self.numbers[what] = self.numbers.get(what, 0) + number

    def took(self, seconds, what):
        self.slow.append((seconds, what))
        if len(self.slow) > 400:
            self.slow = sorted(self.slow, reverse=True)[:20]

    def peak(self, what, megabytes):
        self.peaks[what] = max(self.peaks.get(what, 0), megabytes)

    def is_known(self, signature, most=3):
        """Whether enough was seen of a finding, so that its input is passed over."""
        return self.shown.get(signature, 0) >= most

    def find(self, broken, half, step, what, signature):
        """Prints a finding with its reproduction; the first of a signature only."""
        self.counts[(broken.kind, half)] = self.counts.get((broken.kind, half), 0) + 1
        self.shown[signature] = self.shown.get(signature, 0) + 1
        if self.shown[signature] == 1:
            print(f"FOUND {broken.kind}: {what}: {broken.details[:400]!r}", flush=True)
            print(f"      {self.command} --half {half} --step {step}", flush=True)

    def keep(self, name, data):
        """Keeps a material; its path."""
        self.kept.mkdir(parents=True, exist_ok=True)
        path = self.kept / name
        path.write_bytes(data)
        return path

    def finish(self):
        print("\nplayed:", ", ".join(f"{number} {what}" for what, number in sorted(self.numbers.items())))
        print("slowest:", "; ".join(f"{seconds:.1f} s {what}" for seconds, what in sorted(self.slow, reverse=True)[:8]))
        print("peak memory:", ", ".join(f"{what} {megabytes} MB" for what, megabytes in sorted(self.peaks.items())))
        if not self.counts:
            print("findings: none")
            return 0
        print("findings:", ", ".join(f"{number} × {kind} ({half})" for (kind, half), number in sorted(self.counts.items())))
        if self.kept.exists():
            print(f"kept in {self.kept}")
        return 1
