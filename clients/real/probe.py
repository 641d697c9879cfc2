#!/usr/bin/env python3
"""An MCP server on stdio that returns answers of chosen sizes, and records how the client starts and uses it.

    probe.py LOG          each client appends to LOG: one JSON line per start, message and end

Its tool `answer` takes `size` (characters of the text) and `fill`: `ascii`, `lines` (a newline every 100 characters), `quotes`
(each character escaped in JSON) or `wide` (two bytes each). Every 100 characters the text has its own offset, `[0001200]`, and it
ends with `[THE END]`, so that what the model got says where a client cut it. `wait` delays the answer by some seconds.
"""
import json
import os
import sys
import time

MARK, END = 100, "[THE END]"
FILL = {"ascii": "x", "lines": "x", "quotes": '"', "wide": "é"}
INSTRUCTIONS_MARK = "PROBE INSTRUCTIONS "


def marked(size: int, fill: str) -> str:
    """A text of exactly `size` characters with its offsets in it."""
    pieces = []
    for offset in range(0, size, MARK):
        mark = f"[{offset:07d}]"
        last = "\n" if fill == "lines" else FILL[fill]
        pieces.append(mark + FILL[fill] * (MARK - len(mark) - 1) + last)
    text = "".join(pieces)[:size]
    return text[: max(0, size - len(END))] + END


def instructions(size: int) -> str:
    """The instructions: the mark, then offsets as in an answer, or nothing."""
    return INSTRUCTIONS_MARK + marked(size - len(INSTRUCTIONS_MARK), "ascii") if size else ""


TOOL = {
    "name": "answer",
    "description": "Returns a text of a chosen size. " + marked(int(os.environ.get("PROBE_DESCRIPTION", "0")), "ascii"),
    "inputSchema": {
        "type": "object",
        "properties": {
            "size": {"type": "integer", "description": "Characters of the text."},
            "fill": {"type": "string", "enum": sorted(FILL)},
            "wait": {"type": "number"},
        },
        "required": ["size"],
    },
    "annotations": {"readOnlyHint": True},
}


def reply(method: str, params: dict) -> dict | None:
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "probe", "version": "1"},
            "instructions": instructions(int(os.environ.get("PROBE_INSTRUCTIONS", "0"))),
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        arguments = params.get("arguments") or {}
        time.sleep(float(arguments.get("wait", 0)))
        return {"content": [{"type": "text", "text": marked(int(arguments["size"]), arguments.get("fill", "lines"))}], "isError": False}
    if method == "ping":
        return {}
    return None


def main() -> None:
    log = open(sys.argv[1], "a", buffering=1)

    def write(**entry):
        log.write(json.dumps({"pid": os.getpid(), "at": round(time.time(), 3)} | entry) + "\n")

    write(start=sys.argv[2:], cwd=os.getcwd(), env=dict(os.environ))
    sent_roots = False
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        write(received=message)
        method = message.get("method")
        if method == "notifications/initialized" and not sent_roots:
            sent_roots = True
            print(json.dumps({"jsonrpc": "2.0", "id": "roots", "method": "roots/list"}), flush=True)
        if method is None or "id" not in message:
            continue
        result = reply(method, message.get("params") or {})
        body = {"result": result} if result is not None else {"error": {"code": -32601, "message": f"no method {method}"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"]} | body), flush=True)
    write(end="stdin closed")


if __name__ == "__main__":
    main()
