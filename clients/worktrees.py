"""Edits three worktrees under two servers; not part of CI: `python worktrees.py BINARY [--seconds 120]`.

Two servers and the command line answer for one repository with three worktrees, while each worktree is edited, committed to and synced.
In each, a function with a new name repeatedly replaces the previous one. Invariants:

- the new name is found in its own worktree within a few seconds, by both servers and by the command line;
- it is never found in another worktree or under another ref;
- an answer marked fresh no longer has the old name;
- no client gets an error caused by another: no lock error, no internal error.

Prints the counts, and exits with 1 on a violation. Everything happens in a temporary folder.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

FIND_TIMEOUT = 20


class Server:
    """A server on a pipe; one query at a time."""

    def __init__(self, binary, root, home):
        env = {**os.environ, "CODECOMPASS_HOME": str(home)}
        self.process = subprocess.Popen(
            [binary, "serve-mcp"], cwd=root, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.lock, self.number = threading.Lock(), 0
        version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "worktrees", "version": "1"}}
        self.ask("initialize", version)
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        with self.lock:
            self.number += 1
            self.write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
            while True:
                message = json.loads(self.process.stdout.readline())
                if message.get("id") == self.number:
                    return message["result"]

    def call(self, tool, arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return bool(result.get("isError")), result["structuredContent"]


class Soak:
    def __init__(self, binary, seconds, folder):
        self.binary, self.until = binary, time.monotonic() + seconds
        self.home, self.main = folder / "data", folder / "main"
        self.counts, self.wrong = collections.Counter(), []
        self.trees = {"main": self.main, "one": folder / "one", "two": folder / "two"}
        self.names = {name: None for name in self.trees}

    def git(self, root, *args):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *args], cwd=root, check=True, capture_output=True)

    def command(self, root, *args):
        env = {**os.environ, "CODECOMPASS_HOME": str(self.home)}
        done = subprocess.run([self.binary, *args, "--json"], cwd=root, env=env, capture_output=True, text=True)
        self.counts[f"command {args[0]}"] += 1
        answer = json.loads(done.stdout) if done.stdout.startswith("{") else {"error": {"code": done.stderr}}
        return "error" in answer, answer

    def complain(self, what, answer):
        self.wrong.append(f"{what}: {json.dumps(answer)[:400]}")

    def begin(self):
        self.main.mkdir(parents=True)
        self.git(self.main, "init", "-q", "-b", "main")
        for number in range(60):
            text = "".join(f"def filler_{number}_{at}(value):\n    return value + {at}\n\n\n" for at in range(20))
            (self.main / f"module_{number}.py").write_text(text)
        (self.main / "marker.py").write_text("def marker_before():\n    pass\n")
        self.git(self.main, "add", "-A")
        self.git(self.main, "commit", "-q", "-m", "files")
        for name in ("one", "two"):
            self.git(self.main, "worktree", "add", "-q", "-b", name, str(self.trees[name]))
        for root in self.trees.values():
            failed, answer = self.command(root, "index")
            assert not failed, answer
        self.servers = [Server(self.binary, self.main, self.home) for _ in range(2)]

    def ways(self, root):
        """All ways to query a worktree."""
        def served(server):
            return lambda tool, arguments: server.call(tool, {**arguments, "workspace": str(root)})

        def commanded(tool, arguments):
            assert tool == "locate_symbol"
            failed, answer = self.command(root, "locate", arguments["name"])
            return failed, answer

        return [served(self.servers[0]), served(self.servers[1]), commanded]

    def edit(self, name):
        root, turn = self.trees[name], 0
        ways = self.ways(root)
        while time.monotonic() < self.until:
            turn += 1
            old, new = self.names[name], f"marker_{name}_{turn}"
            (root / "marker.py").write_text(f"def {new}():\n    return filler_{turn % 60}_0({turn})\n")
            self.names[name] = new
            for way in ways:
                self.expect(way, name, old, new)
            if turn % 4 == 0:
                self.git(root, "add", "-A")
                self.git(root, "commit", "-q", "-m", f"turn {turn}")
            if turn % 5 == 0:
                self.review(name, new)
            self.counts["edits"] += 1

    def expect(self, way, name, old, new):
        began = time.monotonic()
        while True:
            failed, answer = way("locate_symbol", {"name": new})
            self.counts["answers"] += 1
            if failed:
                return self.complain(f"{name}: an error", answer)
            if answer["total_candidates"] == 1:
                break
            if answer["metadata"]["freshness_status"] == "fresh" and time.monotonic() - began > 2:
                return self.complain(f"{name}: fresh, without {new}", answer)
            if time.monotonic() - began > FIND_TIMEOUT:
                return self.complain(f"{name}: {new} was not found in time", answer)
            time.sleep(0.02)
        if old:
            failed, answer = way("locate_symbol", {"name": old})
            if failed or answer["total_candidates"] != 0:
                self.complain(f"{name}: {old} is still there after {new} was", answer)
        for other, theirs in self.names.items():
            if other != name and theirs:
                failed, answer = way("locate_symbol", {"name": theirs})
                if failed or answer["total_candidates"] != 0:
                    self.complain(f"{name} sees {theirs} of {other}", answer)

    def review(self, name, new):
        """Checks that a diff has the marker of this worktree."""
        for server in self.servers:
            arguments = {"head_ref": "@worktree", "workspace": str(self.trees[name])}
            failed, answer = server.call("diff_context", arguments)
            self.counts["reviews"] += 1
            if failed:
                return self.complain(f"{name}: a review failed", answer)
            symbols = {change["symbol"] for change in answer["changes"]}
            fresh = answer["metadata"]["freshness_status"] == "fresh"
            if name != "main" and fresh and new not in symbols:
                self.complain(f"{name}: {new} is not in its own review", sorted(symbols))

    def disturb(self):
        """Background load: syncs, other refs and references by separate processes."""
        turn = 0
        while time.monotonic() < self.until:
            turn += 1
            root = list(self.trees.values())[turn % 3]
            for args in (("sync",), ("references", "filler_1_0"), ("index", "--ref", ("one", "two")[turn % 2])):
                failed, answer = self.command(root, *args)
                # A job that is requested while another one runs is refused.
                if failed and answer["error"]["code"] in ("index_in_progress", "sync_in_progress"):
                    self.counts["jobs that found another"] += 1
                elif failed:
                    self.complain(" ".join(args), answer)

    def run(self):
        self.begin()
        work = [lambda name=name: self.edit(name) for name in self.trees] + [self.disturb]
        threads = [threading.Thread(target=self.guarded, args=(task,)) for task in work]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        for server in self.servers:
            server.process.stdin.close()
            server.process.wait(30)

    def guarded(self, task):
        try:
            task()
        except Exception as error:  # noqa: BLE001: every exception is a finding
            self.wrong.append(f"broke down: {error!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--seconds", type=int, default=120)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(args.binary, args.seconds, pathlib.Path(folder))
        soak.run()
    print(", ".join(f"{count} {what}" for what, count in sorted(soak.counts.items())))
    print("\n".join(soak.wrong[:20]) or "nothing wrong")
    raise SystemExit(bool(soak.wrong))


main()
