"""The measurements of one client, as one JSON object."""
import json
import re
from typing import Any

import fixture
import install
import observe
from bench import Bench, Outcome, Run
from catalog import Server
from dialects import Say
from model import INDIRECT, NO_TOOL, Request, Step, direct

SERVER = "codecompass"
SIZES = {"9 kB": (8_400, 4_000), "37 kB": (34_300, 16_000)}  # characters of code, the budget in tokens
REFUSED = re.compile(r"permission|approv|denied|not allowed|requires|declined|rejected", re.I)

Json = dict[str, Any]


def search() -> Step:
    return Step("search_code", {"query": fixture.QUERY})


def main_plan() -> list[Step]:
    reads = [Step("read_code", {"what": [fixture.lines_for(size)], "max_tokens": tokens}) for size, tokens in SIZES.values()]
    return [search(), *reads]


def measure(bench: Bench, short: bool) -> Json:
    """Runs all measurements; the order matters, because a client that ran once has files of its own."""
    found: Json = {"title": bench.client.title, "pinned": install.PINS[bench.client.key]["version"]}
    found["found by setup"] = found_by_setup(bench)
    found["unsetup at once"] = setup_and_back(bench)
    found["version"] = version(bench)
    bench.prepare()
    bench.codecompass("index")  # the first call's wait for an index is measured elsewhere
    before = bench.files()
    found["configured by"] = configure(bench)
    found["own verdict"] = own_verdict(bench)
    if bench.client.runs:
        found |= usual_run(bench)
        if not short:
            found["in a subfolder"] = subfolder(bench, found)
            found["killed server"] = killed(bench, found)
    found["unsetup after runs"] = unsetup(bench, before)
    if not short:
        configure(bench)
        found["states"] = states(bench, found)
    return found


def version(bench: Bench) -> str:
    outcome = bench.command([install.PINS[bench.client.key]["program"], "--version"])
    match = re.search(r"\d+\.\d+(\.\d+)?[\w.-]*", outcome.output)
    return match.group(0).rstrip(".") if match else outcome.output[-100:]


def setup_json(outcome: Outcome) -> list[Json]:
    start = outcome.output.find("{")
    try:
        return json.loads(outcome.output[start:])["clients"] if start >= 0 else []
    except (ValueError, KeyError):
        return []


def found_by_setup(bench: Bench) -> bool:
    """Whether `setup` without arguments names the client in a home where it never ran."""
    entries = setup_json(bench.codecompass("setup", "--dry-run", "--json"))
    return any(entry.get("client") == bench.client.setup for entry in entries)


def setup_and_back(bench: Bench) -> str:
    before = bench.files()
    bench.codecompass("setup", bench.client.setup)
    bench.codecompass("unsetup", bench.client.setup)
    return "identical" if bench.files() == before else "differs"


def configure(bench: Bench) -> str:
    """`setup`, or the harness itself where `setup` does not know the client or only prints."""
    before = bench.files()
    outcome = bench.codecompass("setup", bench.client.setup)
    if bench.files() != before or "unchanged" in outcome.output:
        return "setup"
    if bench.client.entry is None:
        return "nothing"
    known = "prints" if outcome.code == 0 else "does not know it"
    if any(SERVER.encode() in text for text in before.values()):
        return f"hand (setup {known})"
    entry = Server(SERVER, str(bench.product), ["serve-mcp", "--auto-index", "--answers", "text"], {"CODECOMPASS_HOME": str(bench.data)})
    bench.client.entry(bench.home, entry)
    return f"hand (setup {known})"


def own_verdict(bench: Bench) -> str | None:
    """The line about our server in the client's own list."""
    outcome = bench.verdict()
    if outcome is None:
        return None
    lines = outcome.output.splitlines()
    for number, line in enumerate(lines):
        if SERVER in line:
            return " ".join(" ".join(lines[number : number + 2]).replace(str(bench.root), "…").split())[:160]
    return f"not listed: {' '.join(outcome.output.split())[-160:]}"


def usual_run(bench: Bench) -> Json:
    """The plan in the repository's root, without and, if that does not suffice, with the arguments that permit our tools."""
    run = bench.run(main_plan())
    bench.save("plain", run)
    plain = summary(bench, run)
    result = plain
    if plain["calls"] != "ok" and bench.client.permit:
        run = bench.run(main_plan(), more=bench.client.permit)
        bench.save("permitted", run)
        result = summary(bench, run)
        result["needs"] = " ".join(bench.client.permit)
        result["without it"] = {key: plain[key] for key in ("connected", "tools", "calls")}
    return result


def summary(bench: Bench, run: Run) -> Json:
    turn = observe.first_turn(bench.model)
    bench.tools = observe.server_tools(run.wire) or bench.tools
    bench.instructions = observe.server_instructions(run.wire) or bench.instructions
    tools, instructions = bench.tools, bench.instructions
    names, changed = observe.visible(turn, SERVER, tools)
    seen = observe.instructions_seen(turn, instructions)
    got = bench.model.results()
    sent = observe.answers(run.wire)
    sizes = {}
    for index, size in enumerate(SIZES, 1):
        if len(sent) > index:
            sizes[size] = observe.received(sent[index], got[index] if len(got) > index else None).json()
    return {
        "client info": observe.client_info(run.wire),
        "connected": bool(tools),
        "tools": {"offered": len(tools), "direct": len(names), "deferred": deferred(bench) if len(names) < len(tools) else None,
                  "changed descriptions": changed, "as": tool_name(turn)},
        "instructions": {"sent": len(observe.squeeze(instructions)), "seen": seen},
        "answers": sizes,
        "calls": calls(got, sent),
        "workspace": workspace(got),
        "tools/list requests": sum(1 for m in observe.messages(run.wire, "received") if m.get("method") == "tools/list"),
        "seconds": run.outcome.seconds,
        "exit": run.outcome.code,
    }


def tool_name(turn: Request | None) -> str | None:
    """The name of our search tool as the model sees it."""
    tool = direct(turn.tools(), SERVER, "search_code") if turn else None
    return tool and (f"{tool.namespace}.{tool.name}" if tool.namespace else tool.name)


def deferred(bench: Bench) -> str | None:
    """How the model has to find our tools when they are not offered directly."""
    if not bench.model.discovers:
        return None
    turn = observe.first_turn(bench.model)
    return ", ".join(t.name for t in turn.tools() if t.name in INDIRECT)


def calls(got: list[str], sent: list[str]) -> str:
    """`ok` when the search reached the server and its answer the model."""
    if not got:
        return "not called"
    if sent and fixture.WANTED in got[0]:
        return "ok"
    return "refused" if REFUSED.search(got[0]) else f"failed: {got[0][:200]}"


def workspace(got: list[str]) -> str:
    if not got:
        return "unknown"
    return "right" if fixture.WANTED in got[0] or fixture.WANTED.rsplit("/", 1)[1] in got[0] else f"wrong: {got[0][:200]}"


def permitted(bench: Bench, found: Json) -> list[str]:
    return bench.client.permit if "needs" in found else []


def subfolder(bench: Bench, found: Json) -> Json:
    """The client started below the root: the answers have to be about the same repository."""
    folder = bench.repository / fixture.SUBFOLDER
    bench.client.prepare(bench.place(folder))
    run = bench.run([search()], folder, permitted(bench, found))
    bench.save("subfolder", run)
    got = bench.model.results()
    first = next(iter(observe.starts(run.wire)), {})
    started = first.get("cwd", "").replace(str(bench.repository), "REPOSITORY")
    return {"server started in": started, "workspace": workspace(got)}


def killed(bench: Bench, found: Json) -> Json:
    """The server killed between two calls."""
    plan = [search(), Step("search_code", {"query": fixture.QUERY}, before=bench.kill_server), search()]
    run = bench.run(plan, more=permitted(bench, found))
    bench.save("killed", run)
    got = bench.model.results()
    outcomes = ["ok" if fixture.WANTED in text else " ".join(text.split())[:600] for text in got[1:]]
    vanished = any(isinstance(r.answer, Say) and r.answer.text.startswith(NO_TOOL) for r in bench.model.requests)
    if vanished:
        outcomes.append("tools vanish")
    return {"next calls": outcomes or ["no further call"], "servers started": len(observe.starts(run.wire))}


def doctor(bench: Bench) -> Json:
    """What `codecompass doctor --client` says."""
    outcome = bench.codecompass("doctor", "--client", bench.client.setup, "--json")
    start = outcome.output.find("{")
    try:
        value = json.loads(outcome.output[start:])
    except ValueError:
        value = {}
    if "checks" not in value:
        return {"ok": None, "says": "does not know the client" if outcome.code == 2 else " ".join(outcome.output.split())[:200]}
    problems = [check["message"] for check in value["checks"] if not check.get("ok")]
    said = problems or [check["message"] for check in value["checks"]][:1]
    return {"ok": value.get("ok"), "says": "; ".join(said).replace(str(bench.root), "…")[:300]}


def states(bench: Bench, found: Json) -> Json:
    """In each state: the doctor, the client's own list, and whether the model could in fact call our tools."""
    result = {"normal": {"usable": found.get("calls") == "ok", "doctor": doctor(bench), "own verdict": found["own verdict"]}}
    if not bench.client.runs:
        return result
    normal = bench.files(more=True)
    for name, enter in bench.client.states.items():
        try:
            enter(bench)
        except (OSError, KeyError, ValueError) as error:
            result[name] = {"error": repr(error)}
            continue
        run = bench.run([search()], more=permitted(bench, found))
        bench.save(f"state {name}", run)
        got = bench.model.results()
        result[name] = {"usable": bool(got) and fixture.WANTED in got[0], "doctor": doctor(bench), "own verdict": own_verdict(bench)}
        fixture.git(bench.repository, "clean", "--quiet", "--force", "-d")
        bench.restore(normal)
    for state in result.values():
        if "usable" in state and state["doctor"]["ok"] is not None:
            state["agrees"] = state["usable"] == state["doctor"]["ok"]
    return result


def unsetup(bench: Bench, before: dict[str, bytes]) -> Json:
    """The files after `unsetup` against those before `setup`; a client that ran meanwhile may have added keys of its own."""
    outcome = bench.codecompass("unsetup", bench.client.setup)
    after = bench.files()
    left = {}
    for name in sorted(set(before) | set(after)):
        if before.get(name) != after.get(name):
            text = after.get(name, b"").decode("utf-8", "replace")
            left[name] = {"mentions us": SERVER in text, "keys": top_keys(text), "before": "absent" if name not in before else "present"}
    return {"exit": outcome.code, "identical": not left, "differs": left}


def top_keys(text: str) -> list[str]:
    """The top-level keys of a file, with a note where they hold nothing."""
    try:
        return [key if value not in ({}, []) else f"{key} (empty)" for key, value in sorted(json.loads(text).items())]
    except (ValueError, AttributeError):
        return sorted({match.group(1) for match in re.finditer(r"^\[*([\w.\"-]+)\]*\s*[:=]?", text, re.M)})
