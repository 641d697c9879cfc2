"""Installs the pinned clients of pins.json, each in a folder of its own, and reuses what is there.

A client's folder is complete when its file `installed` holds the pin. npm packages run under the pinned Node, because some
clients refuse the system's. Install scripts may fail without a network: the packages used here carry their programs.
"""
import json
import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
PINS = json.loads((HERE / "pins.json").read_text())
TIMEOUT = 600


class InstallError(Exception):
    """The client could not be installed; the message has the end of the log."""


def cache_folder() -> Path:
    """Where the clients are: `CLIENTS_CACHE`, else `clients-real` in cargo's target folder."""
    target = os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target")
    return Path(os.environ.get("CLIENTS_CACHE") or Path(target) / "clients-real").resolve()


def folder(cache: Path, name: str) -> Path:
    return cache / name


def bin_folder(cache: Path, name: str) -> Path:
    pin = PINS[name]
    return folder(cache, name) / ("venv/bin" if "pip" in pin else "node_modules/.bin")


def program(cache: Path, name: str) -> Path:
    return bin_folder(cache, name) / PINS[name].get("program", name)


def npm_path(cache: Path) -> str:
    return f"{bin_folder(cache, 'node')}{os.pathsep}{os.environ['PATH']}"


def ensure(cache: Path, name: str) -> Path:
    """Installs the client unless its pin is already there. Returns the path of its program."""
    target = folder(cache, name)
    stamp = target / "installed"
    pin = json.dumps(PINS[name], sort_keys=True)
    if not (stamp.exists() and stamp.read_text() == pin):
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        (_pip if "pip" in PINS[name] else _npm)(cache, name)
        stamp.write_text(pin)
    found = program(cache, name)
    if not found.exists():
        raise InstallError(f"{name}: the package has no program {found.name}")
    return found


def _run(command: list[str], cwd: Path, env: dict[str, str]) -> None:
    log = cwd / "install.log"
    with log.open("ab") as out:
        try:
            code = subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=TIMEOUT).returncode
        except subprocess.TimeoutExpired:
            code = "timeout"
    if code != 0:
        raise InstallError(f"{' '.join(command)}: {code}\n{log.read_text(errors='replace')[-600:]}")


def _npm(cache: Path, name: str) -> None:
    target = folder(cache, name)
    (target / "package.json").write_text('{"private": true}\n')
    package = f"{PINS[name]['npm']}@{PINS[name]['version']}"
    base = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    env = os.environ | {"PATH": npm_path(cache)}
    try:
        _run([*base, package], target, env)
    except InstallError:
        _run([*base, "--ignore-scripts", package], target, env)


def _python(minimum: str) -> str:
    """A Python that is new enough. A shim on PATH may be there and refuse to run."""
    wanted = tuple(map(int, minimum.split(".")))
    for name in (f"python{minimum}", "python3", "python3.13", "python3.14"):
        try:
            if subprocess.run([name, "-c", f"import sys; sys.exit(sys.version_info < {wanted})"], timeout=30, capture_output=True).returncode == 0:
                return name
        except OSError:
            pass
    raise InstallError(f"no Python {minimum} or later on PATH")


def _pip(cache: Path, name: str) -> None:
    target, pin = folder(cache, name), PINS[name]
    _run([_python(pin["python"]), "-m", "venv", "venv"], target, dict(os.environ))
    _run(["venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", f"{pin['pip']}=={pin['version']}"], target, dict(os.environ))
