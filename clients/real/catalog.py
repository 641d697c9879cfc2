"""The table of clients: how each is started against the scripted model, and how a server is configured by hand.

All of it is measured knowledge about programs that are not ours; the rest of the harness has no client's name in it.
"""
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from bench import Bench

PROMPT = "Which function checks a token?"


@dataclass(frozen=True)
class Server:
    """An entry of a stdio server, as a client's file holds it."""

    name: str
    command: str
    args: list[str]
    env: dict[str, str]


@dataclass(frozen=True)
class Place:
    """Where one run happens: the home of the user, the folder the client starts in, and the address of the model."""

    home: Path
    folder: Path
    model: str


@dataclass(frozen=True)
class Client:
    key: str
    title: str
    setup: str  # the name that `codecompass setup` takes
    argv: Callable[[Place], list[str]]  # one prompt, without a terminal
    permit: list[str] = field(default_factory=list)  # arguments that let the prompt use our tools, where `argv` alone does not
    env: Callable[[Place], dict[str, str]] = lambda place: {}
    prepare: Callable[[Place], None] = lambda place: None  # the model, trust in the folder: never our server
    login: Callable[[Place], list[str]] | None = None  # a command that selects the model
    entry: Callable[[Path, Server], None] | None = None  # configures a server by hand
    verdict: list[str] | None = None  # the client's own list of servers
    files: list[str] = field(default_factory=list)  # its configuration that holds servers, relative to the home
    more_files: list[str] = field(default_factory=list)  # its other configuration that a state changes
    states: dict[str, Callable[["Bench"], None]] = field(default_factory=dict)  # ways to make our server unusable
    runs: bool = True  # false: needs an account, so only setup and the client's own verdict are measured
    timeout: int = 120


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def merge(path: Path, addition: dict) -> None:
    """Adds to a JSON file, one level deep in each object."""
    value = json.loads(path.read_text()) if path.exists() else {}
    for key, part in addition.items():
        value[key] = value.get(key, {}) | part if isinstance(part, dict) else part
    write(path, json.dumps(value, indent=2) + "\n")


def edit(path: str, change: Callable[[Any], None]) -> Callable[["Bench"], None]:
    """A state made by a change to a JSON file of the home."""

    def state(bench: "Bench") -> None:
        file = bench.home / path
        value = json.loads(file.read_text()) if file.exists() else {}
        change(value)
        write(file, json.dumps(value, indent=2))

    return state


def replace(path: str, old: str, new: str) -> Callable[["Bench"], None]:
    """A state made by a change to a text file of the home."""

    def state(bench: "Bench") -> None:
        file = bench.home / path
        write(file, file.read_text().replace(old, new, 1))

    return state


def own_command(*argv: str) -> Callable[["Bench"], None]:
    """A state made by a command of the client itself."""
    return lambda bench: bench.command(list(argv), env=bench.client.env(bench.place())) and None


def project_file(bench: "Bench") -> None:
    """Our entry only in the repository's file, which the user has not approved."""
    bench.codecompass("unsetup", bench.client.setup)
    bench.codecompass("setup", "--project", bench.client.setup)


def untrusted(folder: str) -> Callable[["Bench"], None]:
    return lambda bench: write(bench.home / folder / "trustedFolders.json", json.dumps({str(bench.repository): "DO_NOT_TRUST"}))


def append(path: Path, text: str) -> None:
    write(path, (path.read_text() if path.exists() else "") + text)


def standard(file: str, key: str = "mcpServers", **more) -> Callable[[Path, Server], None]:
    """The entry that most clients share."""

    def entry(home: Path, server: Server) -> None:
        merge(home / file, {key: {server.name: {"command": server.command, "args": server.args, "env": server.env} | more}})

    return entry


def toml_entry(file: str, table: str) -> Callable[[Path, Server], None]:
    def entry(home: Path, server: Server) -> None:
        lines = [f"\n[{table}.{server.name}]", f"command = {json.dumps(server.command)}", f"args = {json.dumps(server.args)}"]
        lines += [f"\n[{table}.{server.name}.env]", *(f"{key} = {json.dumps(value)}" for key, value in server.env.items())]
        append(home / file, "\n".join(lines) + "\n")

    return entry


def opencode_entry(file: str) -> Callable[[Path, Server], None]:
    def entry(home: Path, server: Server) -> None:
        local = {"type": "local", "command": [server.command, *server.args], "environment": server.env, "enabled": True}
        merge(home / file, {"mcp": {server.name: local}})

    return entry


def opencode_env(variable: str) -> Callable[[Place], dict[str, str]]:
    """OpenCode and its fork take a provider by a variable."""

    def env(place: Place) -> dict[str, str]:
        model = {"name": "scripted", "tool_call": True, "limit": {"context": 200000, "output": 8000}}
        options = {"baseURL": f"{place.model}/v1", "apiKey": "x"}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options, "models": {"scripted": model}}
        config = {"provider": {"scripted": provider}, "model": "scripted/scripted", "small_model": "scripted/scripted", "autoupdate": False}
        return {variable: json.dumps(config), "OPENCODE_DISABLE_MODELS_FETCH": "1"}

    return env


def goose_entry(home: Path, server: Server) -> None:
    lines = ["extensions:", f"  {server.name}:", f"    name: {server.name}", "    type: stdio", "    enabled: true", "    timeout: 300"]
    lines += [f"    cmd: {json.dumps(server.command)}", f"    args: {json.dumps(server.args)}", f"    envs: {json.dumps(server.env)}"]
    append(home / ".config/goose/config.yaml", "\n".join(lines) + "\n")


def continue_model(place: Place) -> None:
    model = ["name: local", "version: 1.0.0", "schema: v1", "models:", "  - name: scripted", "    provider: openai", "    model: gpt-4o",
             "    apiKey: x", f"    apiBase: {place.model}/v1", "    roles: [chat]", "    capabilities: [tool_use]"]
    path = place.home / ".continue/config.yaml"
    kept = path.read_text() if path.exists() else ""
    if "models:" not in kept:
        write(path, "\n".join(model) + "\n" + kept)
    else:
        write(path, "\n".join(f"    apiBase: {place.model}/v1" if "apiBase:" in line else line for line in kept.splitlines()) + "\n")


def continue_entry(home: Path, server: Server) -> None:
    lines = ["mcpServers:", f"  - name: {server.name}", f"    command: {json.dumps(server.command)}"]
    lines += [f"    args: {json.dumps(server.args)}", f"    env: {json.dumps(server.env)}"]
    append(home / ".continue/config.yaml", "\n".join(lines) + "\n")


def grok_model(place: Place) -> None:
    path = place.home / ".grok/config.toml"
    kept = path.read_text() if path.exists() else ""
    address = f'base_url = "{place.model}/v1"'
    if "[model.scripted]" in kept:
        write(path, "\n".join(address if line.startswith("base_url") else line for line in kept.splitlines()) + "\n")
    else:
        append(path, f'\n[model.scripted]\nmodel = "scripted"\nname = "scripted"\n{address}\nenv_key = "XAI_API_KEY"\n')


def vibe_model(place: Place) -> None:
    path = place.home / ".vibe/config.toml"
    kept = path.read_text() if path.exists() else ""
    address = f'api_base = "{place.model}/v1"'
    if "[[providers]]" in kept:
        write(path, "\n".join(address if line.startswith("api_base") else line for line in kept.splitlines()) + "\n")
        return
    choices = ['active_model = "scripted"', "enable_telemetry = false", "enable_update_checks = false", ""]
    provider = ["[[providers]]", 'name = "scripted"', address, 'api_key_env_var = "SCRIPTED_KEY"', 'api_style = "openai"', 'backend = "generic"', ""]
    model = ["[[models]]", 'name = "scripted"', 'provider = "scripted"', 'alias = "scripted"', ""]
    write(path, "\n".join(choices + provider + model) + kept)


def vibe_entry(home: Path, server: Server) -> None:
    env = ", ".join(f"{key} = {json.dumps(value)}" for key, value in server.env.items())
    lines = ["\n[[mcp_servers]]", f'name = "{server.name}"', 'transport = "stdio"', f"command = {json.dumps(server.command)}"]
    lines += [f"args = {json.dumps(server.args)}", f"env = {{ {env} }}"]
    append(home / ".vibe/config.toml", "\n".join(lines) + "\n")


def kimi_model(place: Place) -> None:
    lines = ['default_model = "scripted"', "", "[providers.scripted]", 'type = "openai"', f'base_url = "{place.model}/v1"', 'api_key = "x"', ""]
    lines += ["[models.scripted]", 'provider = "scripted"', 'model = "scripted"', "max_context_size = 200000", ""]
    write(place.home / ".kimi-code/config.toml", "\n".join(lines))


def gemini_choices(folder: str, auth: str) -> Callable[[Place], None]:
    """The kind of login and the trust in the folder, as a user chooses them in the program."""

    def prepare(place: Place) -> None:
        settings = place.home / folder / "settings.json"
        if not settings.exists():
            write(settings, json.dumps({"security": {"auth": {"selectedType": auth}, "folderTrust": {"enabled": True}}}, indent=2))
        merge(place.home / folder / "trustedFolders.json", {str(place.folder): "TRUST_FOLDER"})

    return prepare


def claude_off(bench: "Bench") -> None:
    change = lambda value: value.setdefault("projects", {}).setdefault(str(bench.repository), {}).update(disabledMcpServers=["codecompass"])
    edit(".claude.json", change)(bench)


CLIENTS = [
    Client(
        "claude", "Claude Code", "claude-code",
        argv=lambda p: ["claude", "-p", PROMPT],
        permit=["--allowedTools", "mcp__codecompass"],
        env=lambda p: {"ANTHROPIC_BASE_URL": p.model, "ANTHROPIC_API_KEY": "sk-scripted", "DISABLE_AUTOUPDATER": "1",
                       "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        entry=standard(".claude.json", type="stdio", alwaysLoad=True),
        verdict=["claude", "mcp", "list"],
        files=[".claude.json"],
        states={"disabled": claude_off, "project file, not approved": project_file},
    ),
    Client(
        "codex", "Codex", "codex",
        argv=lambda p: ["codex", "exec", "-c", f'openai_base_url="{p.model}/v1"', "--skip-git-repo-check", PROMPT],
        env=lambda p: {"OPENAI_API_KEY": "sk-scripted", "CODEX_API_KEY": "sk-scripted"},
        entry=toml_entry(".codex/config.toml", "mcp_servers"),
        verdict=["codex", "mcp", "list"],
        files=[".codex/config.toml"],
        states={"disabled": replace(".codex/config.toml", "[mcp_servers.codecompass]\n", "[mcp_servers.codecompass]\nenabled = false\n"),
                "project file, not trusted": project_file},
    ),
    Client(
        "gemini", "Gemini CLI", "gemini",
        argv=lambda p: ["gemini", "-p", PROMPT],
        permit=["--allowed-mcp-server-names", "codecompass"],
        env=lambda p: {"GOOGLE_GEMINI_BASE_URL": p.model, "GEMINI_API_KEY": "scripted"},
        prepare=gemini_choices(".gemini", "gemini-api-key"),
        entry=standard(".gemini/settings.json"),
        verdict=["gemini", "mcp", "list"],
        files=[".gemini/settings.json"],
        more_files=[".gemini/trustedFolders.json", ".gemini/mcp-server-enablement.json"],
        states={"disabled": edit(".gemini/mcp-server-enablement.json", lambda v: v.update(codecompass={"enabled": False})),
                "untrusted folder": untrusted(".gemini")},
    ),
    Client(
        "opencode", "OpenCode", "opencode",
        argv=lambda p: ["opencode", "run", PROMPT, "-m", "scripted/scripted"],
        env=opencode_env("OPENCODE_CONFIG_CONTENT"),
        entry=opencode_entry(".config/opencode/opencode.json"),
        verdict=["opencode", "mcp", "list"],
        files=[".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"],
        states={"disabled": edit(".config/opencode/opencode.json", lambda v: v["mcp"]["codecompass"].update(enabled=False))},
    ),
    Client(
        "copilot", "Copilot CLI", "copilot",
        argv=lambda p: ["copilot", "-p", PROMPT],
        permit=["--allow-tool", "codecompass"],
        env=lambda p: {"COPILOT_PROVIDER_BASE_URL": f"{p.model}/v1", "COPILOT_PROVIDER_API_KEY": "x", "COPILOT_MODEL": "gpt-5.4",
                       "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"},
        entry=standard(".copilot/mcp-config.json", type="local", tools=["*"]),
        verdict=["copilot", "mcp", "list"],
        files=[".copilot/mcp-config.json"],
        more_files=[".copilot/config.json", ".copilot/settings.json"],
        states={"disabled": own_command("copilot", "mcp", "disable", "codecompass")},
    ),
    Client(
        "cline", "Cline CLI", "cline",
        argv=lambda p: ["cline", PROMPT],
        login=lambda p: ["cline", "auth", "-p", "openai", "-k", "x", "-m", "gpt-4o", "-b", f"{p.model}/v1"],
        entry=standard(".cline/data/settings/cline_mcp_settings.json"),
        files=[".cline/data/settings/cline_mcp_settings.json", ".cline/mcp.json"],
        states={"disabled": edit(".cline/data/settings/cline_mcp_settings.json", lambda v: v["mcpServers"]["codecompass"].update(disabled=True))},
    ),
    Client(
        "goose", "Goose", "goose",
        argv=lambda p: ["goose", "run", "--no-session", "-t", PROMPT],
        env=lambda p: {"GOOSE_DISABLE_KEYRING": "1", "GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "gpt-4o", "OPENAI_API_KEY": "x",
                       "OPENAI_HOST": p.model},
        entry=goose_entry,
        files=[".config/goose/config.yaml"],
        states={"disabled": replace(".config/goose/config.yaml", "enabled: true", "enabled: false")},
    ),
    Client(
        "qwen", "Qwen Code", "qwen",
        argv=lambda p: ["qwen", "-p", PROMPT],
        permit=["-y"],
        env=lambda p: {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{p.model}/v1", "OPENAI_MODEL": "scripted"},
        prepare=gemini_choices(".qwen", "openai"),
        entry=standard(".qwen/settings.json", alwaysLoadTools=True),
        verdict=["qwen", "mcp", "list"],
        files=[".qwen/settings.json"],
        more_files=[".qwen/trustedFolders.json"],
        states={"disabled": edit(".qwen/settings.json", lambda v: v.setdefault("mcp", {}).update(excluded=["codecompass"])),
                "untrusted folder": untrusted(".qwen")},
    ),
    Client(
        "kilo", "Kilo", "kilo",
        argv=lambda p: ["kilo", "run", PROMPT, "-m", "scripted/scripted"],
        env=opencode_env("KILO_CONFIG_CONTENT"),
        entry=opencode_entry(".config/kilo/kilo.jsonc"),
        verdict=["kilo", "mcp", "list"],
        files=[".config/kilo/kilo.jsonc", ".config/kilo/kilo.json", ".config/kilo/opencode.json"],
        states={"disabled": replace(".config/kilo/kilo.jsonc", '"enabled": true', '"enabled": false')},
    ),
    Client(
        "grok", "Grok", "grok",
        argv=lambda p: ["grok", "-p", PROMPT, "-m", "scripted"],
        permit=["--always-approve"],
        env=lambda p: {"XAI_API_KEY": "x"},
        prepare=grok_model,
        entry=toml_entry(".grok/config.toml", "mcp_servers"),
        verdict=["grok", "mcp", "list"],
        files=[".grok/config.toml"],
        states={"disabled": own_command("grok", "mcp", "disable", "codecompass")},
    ),
    Client(
        "continue", "Continue", "continue",
        argv=lambda p: ["cn", "-p", PROMPT],
        permit=["--auto"],
        env=lambda p: {"CONTINUE_TELEMETRY_ENABLED": "0"},
        prepare=continue_model,
        entry=continue_entry,
        files=[".continue/config.yaml"],
    ),
    Client(
        "vibe", "Mistral Vibe", "vibe",
        argv=lambda p: ["vibe", "-p", PROMPT],
        permit=["--agent", "auto-approve"],
        env=lambda p: {"SCRIPTED_KEY": "x", "MISTRAL_API_KEY": "x"},
        prepare=vibe_model,
        entry=vibe_entry,
        files=[".vibe/config.toml"],
    ),
    Client(
        "kimi", "Kimi Code", "kimi",
        argv=lambda p: ["kimi", "-p", PROMPT],
        prepare=kimi_model,
        entry=standard(".kimi-code/mcp.json"),
        files=[".kimi-code/mcp.json"],
        states={"disabled": edit(".kimi-code/mcp.json", lambda v: v["mcpServers"]["codecompass"].update(enabled=False))},
    ),
    Client(
        "droid", "Droid", "droid", runs=False,
        argv=lambda p: ["droid", "exec", PROMPT],
        entry=standard(".factory/mcp.json", type="stdio"),
        verdict=["droid", "mcp", "list"],
        files=[".factory/mcp.json"],
    ),
    Client(
        "qoder", "Qoder", "qoder", runs=False,
        argv=lambda p: ["qodercli", "-p", PROMPT],
        entry=standard(".qoder/settings.json"),
        verdict=["qodercli", "mcp", "list"],
        files=[".qoder/settings.json", ".qoder.json"],
    ),
    Client(
        "auggie", "Auggie", "auggie", runs=False,
        argv=lambda p: ["auggie", "--print", PROMPT],
        entry=standard(".augment/settings.json"),
        verdict=["auggie", "mcp", "list"],
        files=[".augment/settings.json"],
    ),
]
BY_KEY = {client.key: client for client in CLIENTS}
