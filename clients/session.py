"""Runs session.json, or the script in SCRIPT, through the official Python client against one server.

    python session.py ERA stdio COMMAND ARG...
    python session.py ERA http URL

ERA is `modern` (stateless, server/discover) or `legacy` (initialize). The virtual environment determines the version of the package
`mcp`: 1.x supports only the legacy era. The client's own checks count as well: it validates results against output schemas and reports
everything on stdout that is not a message.
"""

import asyncio
import contextlib
import importlib.metadata
import json
import os
import pathlib
import re
import sys
import time

SCRIPT = json.loads((pathlib.Path(__file__).parent / os.environ.get("SCRIPT", "session.json")).read_text())
IS_TEXT = SCRIPT.get("form") == "text"
NEW_LINE = importlib.metadata.version("mcp").startswith("2.")
CALL_SECONDS = 20
POLL_SECONDS = 0.05


async def main(era, transport, *target):
    problems = []
    async with connected(era, transport, target, problems) as client:
        await check_greeting(client, era, problems)
        check_tools(await client.tools(), problems)
        answers = {}
        played = [step for step in SCRIPT["steps"] if step.get("only", scope(era, transport)) == scope(era, transport)]
        for step in played:
            try:
                await play(client, step, answers)
            except Exception as problem:  # a step that fails must not hide the steps after it
                problems.append(f"{step['call']} {json.dumps(step.get('with', {}))}: {type(problem).__name__}: {problem}")
        closing = time.monotonic()
    if transport == "stdio" and time.monotonic() - closing > 1:
        problems.append(f"the server took {time.monotonic() - closing:.1f} s to exit after stdin was closed")
    for problem in problems:
        print(problem)
    print(f"{len(played)} steps")
    sys.exit(bool(problems))


def scope(era, transport):
    """Returns the scope of `switch_ref`: one request in the stateless era, otherwise the connection."""
    return "request" if (era, transport) == ("modern", "http") else "connection"


async def check_greeting(client, era, problems):
    version, name, instructions = client.greeting()
    if version != {"modern": "2026-07-28", "legacy": "2025-11-25"}[era]:
        problems.append(f"negotiated {version}")
    if name != "codecompass":
        problems.append(f"the server calls itself {name}")
    if not instructions:
        problems.append("no instructions")


def check_tools(tools, problems):
    by_name = {tool["name"]: tool for tool in tools}
    for name in SCRIPT["tools"]:
        if name not in by_name:
            problems.append(f"{name} is not listed")
    if IS_TEXT and len(by_name) > len(SCRIPT["tools"]):
        problems.append(f"more is listed than these: {sorted(by_name)}")
    for name, tool in by_name.items():
        wanted = {
            "title": IS_TEXT or tool.get("title"),
            "description": tool.get("description"),
            "input type": tool["inputSchema"].get("type") == "object",
            # Text answers have no structured content.
            "closed input": IS_TEXT or tool["inputSchema"].get("additionalProperties") is False,
            "output": not tool.get("outputSchema") if IS_TEXT else (tool.get("outputSchema") or {}).get("type") == "object",
            "annotations": isinstance((tool.get("annotations") or {}).get("readOnlyHint"), bool),
        }
        problems += [f"{name} lacks: {what}" for what, there in wanted.items() if not there]
    for name in SCRIPT["always_load"]:
        if (by_name.get(name, {}).get("_meta") or {}).get("anthropic/alwaysLoad") is not True:
            problems.append(f"{name} is not marked anthropic/alwaysLoad")


async def play(client, step, answers):
    arguments = filled(step.get("with", {}), answers)
    if "protocol_error" in step:
        code = await client.protocol_error(step["call"], arguments)
        assert code == step["protocol_error"], f"JSON-RPC error {code}, not {step['protocol_error']}"
        return
    deadline = time.monotonic() + CALL_SECONDS
    while True:
        notes = []
        result = await client.call(step["call"], arguments, notes if step.get("progress") else None)
        answer = read_answer(result, failed="error" in step)
        differing = differences(filled(step.get("until"), answers), answer)
        if "until" not in step or not differing or time.monotonic() > deadline:
            break
        await asyncio.sleep(POLL_SECONDS)
    if "until" not in step:
        differing = differences(filled(step.get("expect", "/./" if IS_TEXT else {}), answers), answer)
    if "error" in step:
        envelope = {"error": {"code": step["error"], "message": "/./"}}
        differing += differences(f"/^{step['error']}: ./" if IS_TEXT else envelope, answer)
    if "says" in step:
        differing += differences(step["says"], answer)
    if step.get("progress") and (not notes or sorted(set(notes)) != notes):
        differing.append(f"progress before the answer has to grow: {notes}")
    if "keep" in step:
        answers[step["keep"]] = answer
    if differing:
        raise AssertionError("; ".join(differing))


def read_answer(result, failed):
    """Returns the JSON of a result, which a success has twice and a failure at least as text; or its single text."""
    if IS_TEXT:
        assert len(result["content"]) == 1 and result.get("structuredContent") is None, brief(result)
        assert bool(result.get("isError")) == failed, f"isError is {result.get('isError')}: {brief(result)}"
        return result["content"][0]["text"]
    answer = json.loads(result["content"][0]["text"])
    assert bool(result.get("isError")) == failed, f"isError is {result.get('isError')}: {brief(answer)}"
    structured = result.get("structuredContent")
    assert structured == answer or (failed and structured is None), f"structuredContent differs from the text: {brief(structured)}"
    missing = differences({"metadata": SCRIPT["metadata"]}, answer)
    assert not missing, "; ".join(missing)
    return answer


def differences(expected, actual, where="answer"):
    """Returns how `actual` differs from `expected`: objects may have more keys, lists more items; `/…/` is a pattern."""
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return [f"{where} is {brief(actual)}"]
        absent = [f"{where}.{key} is absent" for key in expected if key not in actual]
        return absent + [d for key, e in expected.items() if key in actual for d in differences(e, actual[key], f"{where}.{key}")]
    if isinstance(expected, list):
        if not isinstance(actual, list) or (actual and not expected):
            return [f"{where} is {brief(actual)}"]
        unmatched = [item for item in expected if all(differences(item, candidate) for candidate in actual)]
        return [f"{where} has no {brief(item)} in {brief(actual)}" for item in unmatched]
    if isinstance(expected, str) and len(expected) > 2 and expected[0] == expected[-1] == "/":
        text = actual if isinstance(actual, str) else json.dumps(actual)
        # The script is shared with the JavaScript client, where `[^]` means any character.
        return [] if re.search(expected[1:-1].replace("[^]", r"[\s\S]"), text) else [f"{where} does not match {expected}: {brief(actual)}"]
    same = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)
    return [] if same else [f"{where} is {brief(actual)}, not {brief(expected)}"]


def filled(value, answers):
    """Replaces `$found.results.0.path` by that part of the answer kept as `found`."""
    if isinstance(value, dict):
        return {key: filled(item, answers) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, answers) for item in value]
    if isinstance(value, str) and value.startswith("$"):
        name, *keys = value[1:].split(".")
        part = answers[name]
        for key in keys:
            part = part[int(key)] if isinstance(part, list) else part[key]
        return part
    return value


def brief(value, most=400):
    text = json.dumps(value)
    return text if len(text) <= most else text[:most] + "…"


@contextlib.asynccontextmanager
async def connected(era, transport, target, problems):
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    async def on_message(message):
        if isinstance(message, Exception):
            problems.append(f"not a message: {message}")

    if transport == "stdio":
        opened = stdio_client(StdioServerParameters(command=target[0], args=list(target[1:]), env=dict(os.environ)))
    else:
        opened = streamable_http_client(target[0])
    line = NewLine if NEW_LINE else OldLine
    async with line.connect(opened, era, on_message) as client:
        yield client


class OldLine:
    """`mcp` 1.x: a transport and a session, connected here."""

    @staticmethod
    @contextlib.asynccontextmanager
    async def connect(opened, era, on_message):
        from mcp import ClientSession

        assert era == "legacy", "mcp 1.x speaks only the initialize revisions"
        async with opened as (reader, writer, *_), ClientSession(reader, writer, message_handler=on_message) as session:
            yield OldLine(session, await session.initialize())

    def __init__(self, session, hello):
        self.session, self.hello = session, hello

    def greeting(self):
        return self.hello.protocolVersion, self.hello.serverInfo.name, self.hello.instructions

    async def tools(self):
        return [tool.model_dump(by_alias=True, mode="json") for tool in (await self.session.list_tools()).tools]

    async def call(self, name, arguments, notes=None):
        async def on_progress(progress, total, message):
            notes.append(progress)

        calling = self.session.call_tool(name, arguments, progress_callback=on_progress if notes is not None else None)
        return (await asyncio.wait_for(calling, CALL_SECONDS)).model_dump(by_alias=True, mode="json")

    async def protocol_error(self, name, arguments):
        import mcp.shared.exceptions as exceptions

        kind = exceptions.MCPError if NEW_LINE else exceptions.McpError
        try:
            result = await self.call(name, arguments)
        except kind as refused:
            return refused.error.code
        raise AssertionError(f"no JSON-RPC error, but {brief(result)}")


class NewLine(OldLine):
    """`mcp` 2.x: one `Client` for both eras, with the same calls as 1.x."""

    @staticmethod
    @contextlib.asynccontextmanager
    async def connect(opened, era, on_message):
        from mcp import Client

        async with Client(opened, mode={"modern": "auto", "legacy": "legacy"}[era], message_handler=on_message) as client:
            yield NewLine(client, None)

    def greeting(self):
        return self.session.protocol_version, getattr(self.session.server_info, "name", None), self.session.instructions


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
