"""Reads a recorded run: what the server sent, and what of it reached the model."""
import json
import re
from dataclasses import asdict, dataclass

from dialects import Json
from model import Request, ScriptedModel, direct

SAVED = re.compile(r"saved to|written to|stored in the file|full output see|persisted-output", re.I)


@dataclass
class Received:
    """An answer as the model got it. `form` is whole, file, middle cut, end cut, error or nothing."""

    sent: int
    got: int
    form: str
    end_intact: bool
    last_line: str

    def json(self) -> Json:
        return asdict(self)


def messages(wire: list[Json], way: str) -> list[Json]:
    return [entry[way] for entry in wire if isinstance(entry.get(way), dict)]


def replies(wire: list[Json], method: str) -> list[Json]:
    """The results of all requests of a method, in order, per server process."""
    asked: dict[tuple, str] = {}
    found = []
    for entry in wire:
        message = entry.get("received")
        if isinstance(message, dict) and "id" in message and "method" in message:
            asked[(entry["tap"], json.dumps(message["id"]))] = message["method"]
        message = entry.get("sent")
        if isinstance(message, dict) and "result" in message and asked.get((entry["tap"], json.dumps(message.get("id")))) == method:
            found.append(message["result"])
    return found


def client_info(wire: list[Json]) -> Json:
    """How the client introduced itself."""
    for message in messages(wire, "received"):
        params = message.get("params") or {}
        if message.get("method") == "initialize":
            return {"name": params.get("clientInfo", {}).get("name"), "version": params.get("clientInfo", {}).get("version"),
                    "protocol": params.get("protocolVersion"), "roots": "roots" in params.get("capabilities", {})}
        meta = params.get("_meta") or {}
        if info := meta.get("io.modelcontextprotocol/clientInfo"):
            return {"name": info.get("name"), "version": info.get("version"), "protocol": meta.get("io.modelcontextprotocol/protocolVersion"),
                    "roots": "roots" in (meta.get("io.modelcontextprotocol/clientCapabilities") or {})}
    return {}


def server_tools(wire: list[Json]) -> list[Json]:
    lists = replies(wire, "tools/list")
    return lists[0].get("tools", []) if lists else []


def server_instructions(wire: list[Json]) -> str:
    greetings = replies(wire, "initialize") + replies(wire, "server/discover")
    return next((g["instructions"] for g in greetings if g.get("instructions")), "")


def answers(wire: list[Json]) -> list[str]:
    """The texts of the server's answers to calls, in order."""
    return ["\n".join(block.get("text", "") for block in result.get("content", [])) for result in replies(wire, "tools/call")]


def visible(request: Request | None, server: str, tools: list[Json]) -> tuple[list[str], list[str]]:
    """The names of the server's tools that the model can call directly, and those whose description arrived changed."""
    offered = request.tools() if request else []
    found, changed = [], []
    for tool in tools:
        if match := direct(offered, server, tool["name"]):
            found.append(tool["name"])
            if squeeze(tool["description"]) not in squeeze(match.description):
                changed.append(tool["name"])
    return found, changed


def squeeze(text: str) -> str:
    return " ".join(text.split())


def instructions_seen(request: Request | None, instructions: str) -> int:
    """How many characters of the instructions, from their start and with white space squeezed, are in the request."""
    wanted = squeeze(instructions)
    if not (request and request.dialect and wanted):
        return 0
    best = 0
    for text in map(squeeze, request.dialect.prose(request.body)):
        start = text.find(wanted[:40])
        while start >= 0:
            length = 0
            while length < len(wanted) and start + length < len(text) and wanted[length] == text[start + length]:
                length += 1
            best = max(best, length)
            start = text.find(wanted[:40], start + 1)
    return best


def received(sent: str, got: str | None) -> Received:
    """Compares an answer of the server with the result that the model was given."""
    last_line = sent.rstrip().rsplit("\n", 1)[-1][:200]
    if got is None:
        return Received(len(sent), 0, "nothing", False, last_line)
    forms = {sent.rstrip(), json.dumps(sent, ensure_ascii=False)[1:-1], json.dumps(sent)[1:-1]}
    tails = {form[-400:] for form in forms}  # long enough to hold a number of the fixture
    end = any(tail in got for tail in tails)
    if any(form in got for form in forms):
        return Received(len(sent), len(got), "whole", True, last_line)
    if SAVED.search(got) and len(got) < len(sent) / 2:
        return Received(len(sent), len(got), "file", end, last_line)
    head = any(form[:200] in got for form in forms)
    form = "middle cut" if head and end else "end cut" if head else "error"
    return Received(len(sent), len(got), form, end, last_line)


def first_turn(model: ScriptedModel) -> Request | None:
    return next(iter(model.conversation()), None)


def starts(wire: list[Json]) -> list[Json]:
    return [entry for entry in wire if "start" in entry]
