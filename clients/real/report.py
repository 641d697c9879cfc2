"""The results as text: a line per client while they run, and the Markdown page."""
import re
import subprocess
from pathlib import Path


def product_version(binary: Path) -> str:
    said = subprocess.run([str(binary), "--version"], stdout=subprocess.PIPE, text=True, timeout=30, check=False).stdout
    return said.split("\n", 1)[0]


def line(key: str, result: dict) -> str:
    if "error" in result:
        return f"{key:9} ERROR {result['error'][:300]}"
    if "tools" not in result:
        return f"{key:9} {result['version']:10} setup: {result['configured by']}, own verdict: {result['own verdict']}"
    direct, offered = result["tools"]["direct"], result["tools"]["offered"]
    start = f"{key:9} {result['version']:10} setup: {result['configured by']}, {direct} of {offered} tools, calls {result['calls'][:80]}"
    return f"{start}, {sizes(result)}"


def yes(value: object) -> str:
    return "yes" if value else "no"


def sizes(result: dict) -> str:
    """How the answers arrived. The server itself may have kept an answer below the client's limit."""
    parts = []
    for size, answer in result.get("answers", {}).items():
        wanted = int(size.split()[0]) * 1000
        if answer["form"] != "whole":
            parts.append(f"{size}: {answer['form']}, {answer['got']:,} of {answer['sent']:,} characters")
        elif answer["sent"] < 0.95 * wanted:
            parts.append(f"{size}: whole, ended by the server at {answer['sent']:,}")
        else:
            parts.append(f"{size}: whole")
    return "; ".join(parts) or "–"


def verdict(text: str | None) -> str:
    """A client's own line about our server, without the command it runs."""
    short = re.sub(r"\s*(│ )?\S*codecompass serve-mcp( --[\w-]+( text)?)*", "", text or "–")
    return re.sub(r"\s*CODECOMPASS_HOME=\S+", "", short).replace("|", "\\|").strip()


def tools(result: dict) -> str:
    found = result["tools"]
    name = f", `{found['as']}`" if found["as"] else ""
    text = f"{found['direct']} direct{name}" if found["direct"] or not found["deferred"] else f"0 direct; deferred: {found['deferred']}"
    if "needs" in result:
        plain = result["without it"]
        text += f"; with `{result['needs']}`, without it {plain['tools']['direct']} tools, calls {plain['calls']}"
    return text


def instructions(result: dict) -> str:
    seen, sent = result["instructions"]["seen"], result["instructions"]["sent"]
    changed = result["tools"]["changed descriptions"]
    text = "none" if not seen else "whole" if seen >= sent else f"{seen} of {sent} characters"
    if result["tools"]["direct"]:
        text += "; descriptions " + ("changed: " + ", ".join(changed) if changed else "whole")
    return text


def workspace(result: dict) -> str:
    below = result.get("in a subfolder")
    return result["workspace"] + (f"; from a subfolder {below['workspace']}" if below else "")


def essence(text: str) -> str:
    """The part of an error that says what is wrong."""
    if match := re.search(r"not connected|transport closed|no native execution backend|server '\w+' not found|connection failed", text, re.I):
        return f'"{match.group(0)}"'
    return text[:120]


def killed(result: dict) -> str:
    state = result.get("killed server")
    if not state:
        return "–"
    calls = [essence(text) for text in state["next calls"]]
    text = calls[0] if len(set(calls)) == 1 else ", then ".join(calls)
    return ("restarted: " if calls[0] == "ok" else "") + text.replace("|", "\\|")


def unsetup(result: dict) -> str:
    after = result["unsetup after runs"]
    if result["configured by"] != "setup":
        return "–"
    text = "identical" if result["unsetup at once"] == "identical" else "**differs**"
    if after["identical"]:
        return text
    parts = []
    for name, file in after["differs"].items():
        keys = ", ".join(file["keys"][:4]) + (f" and {len(file['keys']) - 4} more" if len(file["keys"]) > 4 else "") or "an empty file"
        parts.append(f"`{name}` keeps {'**our entry**' if file['mentions us'] else keys}")
    return f"{text}; after runs {'; '.join(parts)}"


def row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("\n", " ") for cell in cells) + " |"


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [row(head), "|" + "---|" * len(head), *(row(cells) for cells in rows)]


def main_table(clients: list[dict]) -> list[str]:
    rows = []
    for result in clients:
        name = f"{result['title']} {result['version']}"
        configured = [yes(result["found by setup"]), result["configured by"], verdict(result["own verdict"])]
        seen = [tools(result), instructions(result), sizes(result), workspace(result)]
        rows.append([name, *configured, *seen, killed(result), unsetup(result)])
    head = ["client", "setup finds it", "configured by", "its own verdict", "tools the model sees", "instructions, descriptions",
            "answers as the model gets them", "workspace", "calls after a killed server", "after `unsetup`"]
    return table(head, rows)


def state_table(clients: list[dict]) -> list[str]:
    rows = []
    for result in clients:
        for name, state in result.get("states", {}).items():
            if "error" in state:
                rows.append([result["title"], name, state["error"], "", ""])
                continue
            verdicts = {True: "ok: ", False: "problem: ", None: ""}
            says = verdicts[state["doctor"]["ok"]] + state["doctor"]["says"]
            usable = yes(state["usable"]) if "tools" in result else "not run"
            rows.append([result["title"], name, usable, says.replace("|", "\\|"), verdict(state.get("own verdict"))])
    return table(["client", "state", "the model can call us", "`doctor --client`", "its own verdict"], rows)


def wire_table(clients: list[dict]) -> list[str]:
    rows = []
    for result in clients:
        info = result["client info"]
        rows.append([result["title"], f"`{info.get('name')}` {info.get('version')}", str(info.get("protocol")), yes(info.get("roots")),
                     str(result["tools/list requests"])])
    return table(["client", "clientInfo", "protocol", "roots", "`tools/list` requests"], rows)


def markdown(results: dict) -> str:
    clients = [result for result in results["clients"].values() if "error" not in result]
    ran = [result for result in clients if "tools" in result]
    failed = [result for result in results["clients"].values() if "error" in result]
    lines = [f"Measured on {results['date']} with {results['product']} by `clients/real/run`.", "", *main_table(ran), ""]
    lines += ["## `doctor --client` and the client's own verdict", "", *state_table(clients), ""]
    lines += ["## How they introduce themselves", "", *wire_table(ran), ""]
    for result in (r for r in clients if "tools" not in r):
        facts = [f"found by setup: {yes(result['found by setup'])}", f"configured by {result['configured by']}",
                 f"its own verdict: {verdict(result['own verdict'])}", f"after `unsetup`: {unsetup(result)}"]
        lines.append(f"- {result['title']} {result['version']} (needs an account to run): {'; '.join(facts)}")
    lines += [f"- {result['title']}: {' '.join(result['error'].split())[:200]}" for result in failed]
    return "\n".join(lines) + "\n"
