#!/usr/bin/env python3
"""Makes the parts of a release that dist does not, from its archives and Cargo.toml.

    packaging/pack.py npm ARCHIVES OUT [--some]   npm packages: one per platform with the program inside, and one that
                                                  selects; with --some, only for archives that exist
    packaging/pack.py server-json                 server.json for registries of MCP servers, to standard output

Version and repository come from Cargo.toml only. Each folder in OUT is for `npm pack` or `npm publish`; publish the package named
`codecompass` last, because it depends on the others.
"""

import json
import re
import shutil
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
PACKAGE = tomllib.loads((ROOT / "crates/app/Cargo.toml").read_text())["package"]

# Rust targets and npm's names for them: system, processor, C library.
TARGETS = {
    "x86_64-unknown-linux-gnu": ("linux", "x64", "glibc"),
    "aarch64-unknown-linux-gnu": ("linux", "arm64", "glibc"),
    "x86_64-unknown-linux-musl": ("linux", "x64", "musl"),
    "aarch64-unknown-linux-musl": ("linux", "arm64", "musl"),
    "x86_64-apple-darwin": ("darwin", "x64", None),
    "aarch64-apple-darwin": ("darwin", "arm64", None),
    "x86_64-pc-windows-msvc": ("win32", "x64", None),
    "aarch64-pc-windows-msvc": ("win32", "arm64", None),
}


def manifest(name, **more):
    return {
        "name": name,
        "version": WORKSPACE["version"],
        "description": PACKAGE["description"],
        "license": WORKSPACE["license"],
        "repository": {"type": "git", "url": f"git+{WORKSPACE['repository']}.git"},
        **more,
    }


def program(archive):
    """Returns the bytes of the program in an archive made by dist."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as opened:
            return opened.read("codecompass.exe")
    with tarfile.open(archive) as opened:
        return opened.extractfile(f"{archive.name.removesuffix('.tar.xz')}/codecompass").read()


def write(folder, manifest, files):
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")
    for name in ["LICENSE-APACHE", "LICENSE-MIT"]:
        shutil.copy(ROOT / name, folder)
    for name, content in files.items():
        (folder / "bin" / name).write_bytes(content)
        (folder / "bin" / name).chmod(0o755)


def npm(archives, out, is_some):
    made = []
    for target, (system, processor, library) in TARGETS.items():
        is_windows = system == "win32"
        archive = archives / f"codecompass-{target}{'.zip' if is_windows else '.tar.xz'}"
        if is_some and not archive.exists():
            continue
        kind = {None: "", "glibc": "-gnu", "musl": "-musl"}[library]
        name = f"codecompass-{system}-{processor}{kind}"
        fits = {"os": [system], "cpu": [processor], **({"libc": [library]} if library else {})}
        binary = "codecompass.exe" if is_windows else "codecompass"
        write(out / name, manifest(name, **fits, preferUnplugged=True), {binary: program(archive)})
        made.append(name)
    if not made:
        sys.exit("no archive was found")
    shim = "bin/codecompass.js"
    umbrella = manifest(
        "codecompass",
        bin={"codecompass": shim, "cruxe": shim},
        engines={"node": ">=18"},
        mcpName=server_name(),
        optionalDependencies={name: WORKSPACE["version"] for name in made},
    )
    write(out / "codecompass", umbrella, {"codecompass.js": (ROOT / "packaging/npm/codecompass.js").read_bytes()})
    shutil.copy(ROOT / "README.md", out / "codecompass")
    print("\n".join([*made, "codecompass"]))


def server_name():
    """Returns the server name, by which a registry of MCP servers decides who may publish."""
    (owner,) = re.fullmatch(r"https://github\.com/([^/]+)/[^/]+", WORKSPACE["repository"]).groups()
    return f"io.github.{owner}/codecompass"


def server_json():
    run = [{"type": "positional", "value": word} for word in ["serve-mcp", "--auto-index", "--answers", "text"]]
    registry_entry = json.loads((ROOT / "packaging/server.json").read_text())
    registry_entry |= {"name": server_name(), "description": PACKAGE["description"], "version": WORKSPACE["version"]}
    registry_entry["repository"] = {"url": WORKSPACE["repository"], "source": "github"}
    for package in registry_entry["packages"]:
        package |= {"version": WORKSPACE["version"], "packageArguments": run}
    print(json.dumps(registry_entry, indent=2))


match sys.argv[1:]:
    case ["npm", archives, out, *some] if some in ([], ["--some"]):
        npm(Path(archives), Path(out), bool(some))
    case ["server-json"]:
        server_json()
    case _:
        sys.exit(__doc__)
