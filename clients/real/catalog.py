"""The table of clients: how each is started against the scripted model, and how a server is configured by hand.

All of it is measured knowledge about programs that are not ours; the rest of the harness has no client's name in it.
"""
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

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
    argv: Callable[[Place], list[str]]
    env: Callable[[Place], dict[str, str]] = lambda place: {}
    prepare: Callable[[Place], None] = lambda place: None  # the model, trust: never our server
    entry: Callable[[Path, Server], None] | None = None  # configures a server by hand
    verdict: list[str] | None = None  # the client's own list of servers
    files: list[str] = field(default_factory=list)  # its configuration, relative to the home
    needs_login: bool = False  # no run without an account: only setup and the client's own verdict
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
    text = ['active_model = "scripted"', "enable_telemetry = false", "enable_update_checks = false", "", "[[providers]]", 'name = "scripted"', address,
            'api_key_env_var = "SCRIPTED_KEY"', 'api_style = "openai"', 'backend = "generic"', "", "[[models]]", 'name = "scripted"', 'provider = "scripted"',
            'alias = "scripted"', ""]
    write(path, "\n".join(text) + kept)


def vibe_entry(home: Path, server: Server) -> None:
    env = ", ".join(f"{key} = {json.dumps(value)}" for key, value in server.env.items())
    lines = ["\n[[mcp_servers]]", f'name = "{server.name}"', 'transport = "stdio"', f"command = {json.dumps(server.command)}"]
    lines += [f"args = {json.dumps(server.args)}", f"env = {{ {env} }}"]
    append(home / ".vibe/config.toml", "\n".join(lines) + "\n")


def gemini_choices(folder: str, auth: str) -> Callable[[Place], None]:
    """Trusts the folder of the run and selects the kind of login, as a user does in the program. The login goes to the
    system's settings, so that the user's file stays as the client and `setup` leave it."""

    def prepare(place: Place) -> None:
        merge(place.home / folder / "trustedFolders.json", {str(place.folder): "TRUST_FOLDER"})
        write(place.home / "system-settings.json", json.dumps({"security": {"auth": {"selectedType": auth}, "folderTrust": {"enabled": True}}}))

    return prepare


CLIENTS = [
    Client(
        "claude", "Claude Code", "claude-code",
        argv=lambda p: ["claude", "-p", PROMPT, "--allowedTools", "mcp__codecompass,mcp__probe"],
        env=lambda p: {"ANTHROPIC_BASE_URL": p.model, "ANTHROPIC_API_KEY": "sk-scripted", "DISABLE_AUTOUPDATER": "1",
                       "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        entry=standard(".claude.json", type="stdio", alwaysLoad=True),
        verdict=["claude", "mcp", "list"],
        files=[".claude.json", ".claude/settings.json"],
    ),
    Client(
        "codex", "Codex", "codex",
        argv=lambda p: ["codex", "exec", "-c", f'openai_base_url="{p.model}/v1"', "--skip-git-repo-check", PROMPT],
        env=lambda p: {"OPENAI_API_KEY": "sk-scripted", "CODEX_API_KEY": "sk-scripted"},
        entry=toml_entry(".codex/config.toml", "mcp_servers"),
        verdict=["codex", "mcp", "list"],
        files=[".codex/config.toml"],
    ),
    Client(
        "gemini", "Gemini CLI", "gemini",
        argv=lambda p: ["gemini", "-p", PROMPT],
        env=lambda p: {"GOOGLE_GEMINI_BASE_URL": p.model, "GEMINI_API_KEY": "scripted",
                       "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(p.home / "system-settings.json")},
        prepare=gemini_choices(".gemini", "gemini-api-key"),
        entry=standard(".gemini/settings.json", trust=True),
        verdict=["gemini", "mcp", "list"],
        files=[".gemini/settings.json"],
    ),
    Client(
        "opencode", "OpenCode", "opencode",
        argv=lambda p: ["opencode", "run", PROMPT, "-m", "scripted/scripted"],
        env=opencode_env("OPENCODE_CONFIG_CONTENT"),
        entry=opencode_entry(".config/opencode/opencode.json"),
        verdict=["opencode", "mcp", "list"],
        files=[".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"],
    ),
    Client(
        "copilot", "Copilot CLI", "copilot",
        argv=lambda p: ["copilot", "-p", PROMPT, "--allow-all-tools"],
        env=lambda p: {"COPILOT_PROVIDER_BASE_URL": f"{p.model}/v1", "COPILOT_PROVIDER_API_KEY": "x", "COPILOT_MODEL": "gpt-5.4",
                       "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"},
        entry=standard(".copilot/mcp-config.json", type="local", tools=["*"]),
        verdict=["copilot", "mcp", "list"],
        files=[".copilot/mcp-config.json", ".copilot/config.json"],
    ),
    Client(
        "cline", "Cline CLI", "cline",
        argv=lambda p: ["cline", "--auto-approve", "true", PROMPT],
        entry=standard(".cline/data/settings/cline_mcp_settings.json"),
        files=[".cline/data/settings/cline_mcp_settings.json"],
    ),
    Client(
        "goose", "Goose", "goose",
        argv=lambda p: ["goose", "run", "--no-session", "-t", PROMPT],
        env=lambda p: {"GOOSE_DISABLE_KEYRING": "1", "GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "gpt-4o", "OPENAI_API_KEY": "x", "OPENAI_HOST": p.model},
        entry=goose_entry,
        files=[".config/goose/config.yaml"],
    ),
    Client(
        "qwen", "Qwen Code", "qwen",
        argv=lambda p: ["qwen", "-p", PROMPT],
        env=lambda p: {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{p.model}/v1", "OPENAI_MODEL": "scripted",
                       "QWEN_CODE_SYSTEM_SETTINGS_PATH": str(p.home / "system-settings.json")},
        prepare=gemini_choices(".qwen", "openai"),
        entry=standard(".qwen/settings.json", trust=True),
        verdict=["qwen", "mcp", "list"],
        files=[".qwen/settings.json"],
    ),
    Client(
        "kilo", "Kilo", "kilo",
        argv=lambda p: ["kilo", "run", PROMPT, "-m", "scripted/scripted"],
        env=opencode_env("KILO_CONFIG_CONTENT"),
        entry=opencode_entry(".config/kilo/kilo.jsonc"),
        verdict=["kilo", "mcp", "list"],
        files=[".config/kilo/kilo.jsonc", ".config/kilo/kilo.json"],
    ),
    Client(
        "grok", "Grok", "grok",
        argv=lambda p: ["grok", "-p", PROMPT, "-m", "scripted", "--always-approve"],
        env=lambda p: {"XAI_API_KEY": "x"},
        prepare=grok_model,
        entry=toml_entry(".grok/config.toml", "mcp_servers"),
        verdict=["grok", "mcp", "list"],
        files=[".grok/config.toml"],
    ),
    Client(
        "continue", "Continue", "continue",
        argv=lambda p: ["cn", "-p", PROMPT, "--auto", "--config", str(p.home / ".continue/config.yaml")],
        env=lambda p: {"CONTINUE_TELEMETRY_ENABLED": "0"},
        prepare=continue_model,
        entry=continue_entry,
        files=[".continue/config.yaml"],
    ),
    Client(
        "vibe", "Mistral Vibe", "vibe",
        argv=lambda p: ["vibe", "-p", PROMPT, "--agent", "auto-approve"],
        env=lambda p: {"SCRIPTED_KEY": "x", "MISTRAL_API_KEY": "x"},
        prepare=vibe_model,
        entry=vibe_entry,
        files=[".vibe/config.toml"],
    ),
]
BY_KEY = {client.key: client for client in CLIENTS}
