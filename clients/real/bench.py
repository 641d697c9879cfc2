"""One client's scratch folder: a home, a repository, a data folder, a copy of the product under a tap, and runs in it."""
import json
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import fixture
import install
import tap
from catalog import Client, Place
from model import ScriptedModel, Step

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


@dataclass
class Outcome:
    """A finished command. `code` is None after a timeout."""

    code: int | None
    output: str
    seconds: float


@dataclass
class Run:
    """A run of the client: its output, and what both sides of the server saw."""

    outcome: Outcome
    wire: list[dict] = field(default_factory=list)


def processes_with(variable: str) -> list[int]:
    """Processes whose environment has exactly this `NAME=value`: those that a client of this folder left behind."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            pass
    return [pid for pid in found if pid != os.getpid()]


class Bench:
    def __init__(self, client: Client, cache: Path, binary: Path, work: Path, server: str = "codecompass"):
        self.client, self.cache = client, cache
        self.root = work / client.key
        shutil.rmtree(self.root, ignore_errors=True)
        self.home, self.data = self.root / "home", self.root / "data"
        self.home.mkdir(parents=True)
        self.repository = fixture.make(self.root / "repository")
        self.log = self.root / "wire.jsonl"
        self.product = self.root / "bin/codecompass"
        self.product.parent.mkdir()
        shutil.copy2(binary, self.product)
        self.model = ScriptedModel([], server)
        self.tools: list[dict] = []  # as the server last listed them: some clients cache the list and do not ask again
        self.instructions = ""

    def __enter__(self) -> "Bench":
        self.model.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.model.__exit__()
        self.end_processes()

    def place(self, folder: Path | None = None) -> Place:
        return Place(self.home, folder or self.repository, self.model.base)

    def env(self) -> dict[str, str]:
        """A user's environment with this client as the only one on PATH, beside the product and the system."""
        folders = [install.bin_folder(self.cache, "node"), install.bin_folder(self.cache, self.client.key), self.product.parent]
        path = os.pathsep.join([*map(str, folders), "/usr/local/bin", "/usr/bin", "/bin"])
        return {"HOME": str(self.home), "CODECOMPASS_HOME": str(self.data), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb", "USER": "user",
                "SHELL": "/bin/sh", "NO_COLOR": "1", "npm_config_update_notifier": "false"}

    def command(self, argv: list[str], folder: Path | None = None, timeout: int = 60, env: dict[str, str] | None = None) -> Outcome:
        """Runs a command to its end or to the timeout, with all processes of its session ended afterwards."""
        began = time.monotonic()
        process = subprocess.Popen(argv, cwd=folder or self.repository, env=self.env() | (env or {}), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            raw, _ = process.communicate(timeout=timeout)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            self._end_group(process.pid)
            try:
                raw, _ = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                raw = b""
            code = None
        self._end_group(process.pid)
        return Outcome(code, ESCAPES.sub("", raw.decode("utf-8", "replace")), round(time.monotonic() - began, 1))

    @staticmethod
    def _end_group(leader: int) -> None:
        try:
            os.killpg(leader, signal.SIGKILL)
        except OSError:
            pass

    def end_processes(self) -> None:
        """Ends daemons that the client left behind."""
        for pid in processes_with(f"HOME={self.home}"):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def codecompass(self, *arguments: str, folder: Path | None = None) -> Outcome:
        return self.command([str(self.product), *arguments], folder)

    def prepare(self) -> None:
        """What the user did before: a login and a model, and trust in the folder."""
        place = self.place()
        self.client.prepare(place)
        if self.client.login:
            self.command(self.client.login(place), env=self.client.env(place))

    def verdict(self) -> Outcome | None:
        """The client's own list of servers."""
        if not self.client.verdict:
            return None
        return self.command(self.client.verdict, env=self.client.env(self.place()))

    def run(self, plan: list[Step], folder: Path | None = None, more: list[str] | None = None) -> Run:
        """Runs the client on the plan. The record of the model stays in `self.model` until the next run."""
        self.log.unlink(missing_ok=True)
        self.model.play(plan)
        place = self.place(folder)
        with tap.installed(self.product, self.log):
            outcome = self.command([*self.client.argv(place), *(more or [])], place.folder, self.client.timeout, self.client.env(place))
            self.end_processes()
        return Run(outcome, tap.read(self.log))

    def kill_server(self) -> None:
        """Kills the running servers, and waits until the taps are gone, too."""
        entries = tap.read(self.log)
        ended = {entry["tap"] for entry in entries if "exit" in entry}
        running = [entry for entry in entries if "server" in entry and entry["tap"] not in ended]
        for entry in running:
            try:
                os.kill(entry["server"], signal.SIGKILL)
            except OSError:
                pass
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and any(Path(f"/proc/{entry['tap']}/stat").exists() and not zombie(entry["tap"]) for entry in running):
            time.sleep(0.05)
        time.sleep(1)  # a client needs a moment to notice the closed pipe

    def files(self, more: bool = False) -> dict[str, bytes]:
        """The client's configuration as it is: the files that hold servers, or more of it."""
        names = self.client.files + (self.client.more_files if more else [])
        return {name: (self.home / name).read_bytes() for name in names if (self.home / name).is_file()}

    def restore(self, files: dict[str, bytes]) -> None:
        """Puts the client's configuration back as `files(more=True)` returned it."""
        for name in self.client.files + self.client.more_files:
            path = self.home / name
            if name in files:
                path.write_bytes(files[name])
            else:
                path.unlink(missing_ok=True)

    def save(self, name: str, run: Run) -> None:
        """Keeps the raw record of a run."""
        outcome = {"code": run.outcome.code, "seconds": run.outcome.seconds, "output": run.outcome.output[-4000:]}
        record = outcome | {"wire": run.wire, "model": self.model.dump()}
        (self.root / f"{name}.json").write_text(json.dumps(record, indent=1, ensure_ascii=False))


def zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True
