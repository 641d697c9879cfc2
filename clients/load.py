"""Runs many clients at once; not part of CI: `python load.py URL WORKSPACE [--clients 200] [--queries 50] [--pid PID]`.

Each client has one connection and sends mixed queries, each with an explicit ref, to a running server with WORKSPACE (created by
`fixture`) indexed at both refs; one more client keeps a sync running. Reports errors, answers for a wrong ref, latencies, and the
server's memory if its pid is given. Loopback only.
"""

import argparse
import asyncio
import itertools
import json
import pathlib
import random
import statistics
import sys
import time
import urllib.parse

from wire import answer, decoded, headers, memory, modern

REFS = ("main", "feat/refresh")
QUERIES = (
    ("search_code", {"query": "where is the rate limit checked"}),
    ("search_code", {"query": "token expires", "detail_level": "context"}),
    ("search_code", {"query": "check_token", "limit": 3, "ranking_explain_level": "full"}),
    ("locate_symbol", {"name": "check_token"}),
    ("locate_symbol", {"name": "TokenChecker"}),
    ("get_file_outline", {"path": "src/auth/token.rs"}),
    ("get_symbol_hierarchy", {"symbol_name": "check_token"}),
)


class Client:
    """One keep-alive connection with just enough HTTP for sequential requests."""

    def __init__(self, url):
        self.url, self.ids = urllib.parse.urlsplit(url), itertools.count(1)

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(self.url.hostname, self.url.port)
        return self

    async def call(self, tool, arguments):
        message = modern("tools/call", {"name": tool, "arguments": arguments}, id=next(self.ids))
        body = json.dumps(message).encode()
        named = {**headers(message), "Host": self.url.netloc, "Content-Length": len(body)}
        head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        self.writer.write(f"POST {self.url.path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        status, said, body = await asyncio.wait_for(self.read(), 30)
        if status != 200:
            raise RuntimeError(f"status {status}: {body[:200]!r}")
        message = decoded(body, said.get("content-type", ""))
        if "error" in message:
            raise RuntimeError(f"{message['error']}")
        return bool(message["result"].get("isError")), answer(message)

    async def read(self):
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        said = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
        if "content-length" in said:
            body = await self.reader.readexactly(int(said["content-length"]))
        else:
            body = b""
            while size := int((await self.reader.readline()).split(b";")[0], 16):
                body += await self.reader.readexactly(size)
                await self.reader.readline()
            await self.reader.readline()
        return int(lines[0].split()[1]), said, body


async def ask(client, number, queries, seen):
    """Returns one client's queries, the same in every run."""
    choice = random.Random(number)
    for _ in range(queries):
        (tool, arguments), ref = choice.choice(QUERIES), choice.choice(REFS)
        began = time.monotonic()
        try:
            failed, said = await client.call(tool, {**arguments, "ref": ref})
        except Exception as problem:
            seen["errors"].append(f"{tool}: {type(problem).__name__}: {problem}")
            await client.open()
            continue
        seen["seconds"].append(time.monotonic() - began)
        if failed:
            seen["errors"].append(f"{tool}: {said['error']}")
        elif said["metadata"]["ref"] != ref:
            seen["wrong refs"].append(f"{tool}: asked for {ref}, got {said['metadata']['ref']}")


async def keep_syncing(client, workspace, stop, seen):
    """Edits a file and syncs until the other clients are done."""
    edited = pathlib.Path(workspace) / "src" / "load.rs"
    try:
        while not stop.is_set():
            edited.write_text(f"pub fn made_by_load() -> u32 {{ {seen['syncs']} }}\n")
            failed, said = await client.call("sync_repo", {"ref": "main"})
            if failed and said["error"]["code"] != "sync_in_progress":
                seen["errors"].append(f"sync_repo: {said['error']}")
            while not stop.is_set() and (await client.call("index_status", {"ref": "main"}))[1]["active_job"]:
                await asyncio.sleep(0.02)
            seen["syncs"] += 1
    finally:
        edited.unlink(missing_ok=True)


async def watch_memory(pid, stop, seen):
    while pid and not stop.is_set():
        seen["memory"].append(memory(pid))
        await asyncio.sleep(0.25)


async def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("url")
    options.add_argument("workspace")
    options.add_argument("--clients", type=int, default=200)
    options.add_argument("--queries", type=int, default=50)
    options.add_argument("--pid", type=int)
    given = options.parse_args()
    assert urllib.parse.urlsplit(given.url).hostname in ("127.0.0.1", "localhost"), "loopback only"
    assert given.clients * given.queries <= 100_000, "at most 100,000 queries"

    seen = {"errors": [], "wrong refs": [], "seconds": [], "syncs": 0, "memory": []}
    stop = asyncio.Event()
    syncing, *clients = [await Client(given.url).open() for _ in range(given.clients + 1)]
    began = time.monotonic()
    around = [
        asyncio.create_task(keep_syncing(syncing, given.workspace, stop, seen)),
        asyncio.create_task(watch_memory(given.pid, stop, seen)),
    ]
    asking = [asyncio.create_task(ask(client, number, given.queries, seen)) for number, client in enumerate(clients)]
    await asyncio.gather(*asking)
    took = time.monotonic() - began
    stop.set()
    await asyncio.gather(*around)

    report(seen, took, given.clients * given.queries)
    sys.exit(bool(seen["errors"] or seen["wrong refs"]))


def report(seen, took, asked):
    cuts = statistics.quantiles(seen["seconds"], n=100)
    print(f"{asked} queries in {took:.1f} s ({asked / took:.0f}/s) while {seen['syncs']} syncs ran")
    marks = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "worst": max(seen["seconds"])}
    print(", ".join(f"{name} {seconds * 1000:.1f} ms" for name, seconds in marks.items()))
    for what in ("errors", "wrong refs"):
        print(f"{len(seen[what])} {what}", *sorted(set(seen[what]))[:10], sep="\n  ")
    if seen["memory"]:
        resident, _, private = (max(column) for column in zip(*seen["memory"]))
        print(f"memory at most: {resident} MB resident, {private} MB private")


asyncio.run(main())
