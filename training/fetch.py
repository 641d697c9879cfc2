#!/usr/bin/env python3
"""Fetches packages by name with each registry's client, keeps the permissive ones that are not excluded, and lists them.

    fetch.py WORK

Leaves WORK/src/ECOSYSTEM/NAME with source and prose only, WORK/excluded/... for the packages of packages/excluded.txt, and
WORK/src.jsonl with the result for each. Existing packages are not fetched again. A clone of an excluded repository that no registry has can
be put at WORK/excluded/clones/NAME.
"""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

from licences import debian_files, debian_licence_of, is_permissive

HERE = os.path.dirname(os.path.abspath(__file__))
CODE = set(".py .pyi .rs .go .js .mjs .cjs .jsx .ts .mts .cts .tsx .java .c .h .cc .cpp .cxx .hpp .hh .hxx .cs .php .hs .lua .sh .bash .ex .exs .zig .rb .kt .kts .swift .scala".split())
PROSE = set(".md .rst .txt .adoc .markdown".split())
MOST_BYTES = 400_000
MOST_FILES = 1500
MOST_EXCLUDED_FILES = 20_000
THREADS = 2


def names(file):
    lines = (line.split("#")[0].strip() for line in open(os.path.join(HERE, "packages", file)))
    return [line for line in lines if line]


def excluded_repositories():
    lines = (line.strip().lower() for line in open(os.path.join(HERE, "exclude.txt")))
    return {line for line in lines if line and not line.startswith("#")}


REPOSITORIES = excluded_repositories()
# Packages of excluded repositories under another name, and packages known to contain copies.
OWN = set("serde_core serde_derive globset ignore home crates-io smol_str lsp-server line-index la-arena rowan bats commander got "
          "botocore quart pip pipenv conda djangorestframework expect pretty-format diff-sequences rustfmt-nightly guava-libraries "
          "libspring-java postgresql apache golang-google-grpc".split())
OWN_PREFIXES = ("ra_ap_", "@vue/", "@trpc/", "@vitest/", "axum-", "tokio-", "grep-", "clap_", "cargo-", "alacritty", "bevy_", "diesel_",
                "gpui", "nu-", "@jest/", "jest-", "babel-jest", "babel-plugin-jest", "@nestjs/", "@pnpm/")


def is_excluded(name, repository):
    """Whether a package is excluded, by its name without a version or by its repository."""
    name = re.sub(r"-?v?\d[\d.]*$", "", name.lower())
    said = re.sub(r"\.git\b", "", (repository or "").lower()) + "/"
    names = {entry.split("/")[1] for entry in REPOSITORIES}
    is_said = any(re.search(r"[/:]%s(?![\w.-])" % re.escape(entry), said) for entry in REPOSITORIES)
    return name in names or name in OWN or name.startswith(OWN_PREFIXES) or is_said


def run(*command, cwd=None, env=None, timeout=300):
    try:
        return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "too late")


def keep_sources(folder, most, stanzas=()):
    """Removes files that are neither source nor prose, large, or under another licence; returns the number of files left, `most` at most."""
    kept = 0
    for at, folders, files in os.walk(folder, topdown=False):
        for file in files:
            path = os.path.join(at, file)
            ending = os.path.splitext(file)[1].lower()
            inner = os.path.relpath(path, folder)
            wanted = ending in CODE or ending in PROSE or file.lower().startswith("readme")
            if wanted and ending in (".js", ".mjs", ".cjs", ".css") and re.search(r"(\.min\.|[./]umd[./]|bundle|/dist/.*\.(prod|iife)\.)", "/" + inner):
                wanted = False
            if wanted and stanzas and not is_permissive(debian_licence_of(stanzas, inner.replace(os.sep, "/"))):
                wanted = False
            if os.path.islink(path) or not wanted or os.path.getsize(path) > MOST_BYTES or kept >= most:
                os.remove(path)
            else:
                kept += 1
        for one in folders:
            path = os.path.join(at, one)
            if os.path.islink(path):
                os.remove(path)
            elif not os.listdir(path):
                os.rmdir(path)
    return kept


class Kept:
    """The folder for packages, and their list."""

    def __init__(self, work, folder, checks):
        self.work, self.root, self.checks = work, os.path.join(work, folder), checks
        self.rows = {}
        self.file = os.path.join(work, folder + ".jsonl")
        if os.path.exists(self.file):
            for line in open(self.file):
                row = json.loads(line)
                self.rows[row["ecosystem"], row["name"]] = row

    def knows(self, ecosystem, name):
        return (ecosystem, name) in self.rows

    def place(self, ecosystem, name):
        return os.path.join(self.root, ecosystem, name.replace("/", "__"))

    def add(self, ecosystem, name, version, licence, repository, folder, stanzas=()):
        why = ""
        if self.checks and is_excluded(name, repository):
            why = "excluded"
        elif self.checks and not stanzas and not is_permissive(licence):
            why = "licence"
        elif not folder:
            why = "not found"
        if not why:
            target = self.place(ecosystem, name)
            shutil.rmtree(target, ignore_errors=True)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.move(folder, target)
            if not (keep_sources(target, MOST_FILES, stanzas) if self.checks else keep_sources(target, MOST_EXCLUDED_FILES)):
                why = "no source"
        self.note(ecosystem, name, version, licence, repository, why)

    def note(self, ecosystem, name, version="", licence="", repository="", why="not found"):
        row = dict(ecosystem=ecosystem, name=name, version=version, licence=" ".join((licence or "").split())[:120], repository=repository or "", why=why)
        self.rows[ecosystem, name] = row
        with open(self.file, "a") as out:
            out.write(json.dumps(row) + "\n")


def crates(kept, wanted, only=None):
    """Runs `cargo vendor` in batches; a batch that does not resolve is halved."""
    scratch = os.path.join(kept.work, "cargo")
    missing = [name for name in wanted if not kept.knows("crates", name)]

    def vendor(batch):
        shutil.rmtree(scratch, ignore_errors=True)
        os.makedirs(os.path.join(scratch, "src"))
        open(os.path.join(scratch, "src", "lib.rs"), "w").close()
        lines = ["[package]", 'name = "training-packages"', 'version = "0.0.0"', 'edition = "2021"', "[workspace]", "[dependencies]"]
        lines += ['%s = "*"' % name for name in batch]
        open(os.path.join(scratch, "Cargo.toml"), "w").write("\n".join(lines) + "\n")
        done = run("cargo", "vendor", "--versioned-dirs", "vendor", cwd=scratch, timeout=900)
        if done.returncode:
            if len(batch) == 1:
                kept.note("crates", batch[0])
                return
            half = len(batch) // 2
            vendor(batch[:half])
            vendor(batch[half:])
            return
        for folder in sorted(glob.glob(os.path.join(scratch, "vendor", "*")), reverse=True):
            text = open(os.path.join(folder, "Cargo.toml"), errors="replace").read()
            field = lambda key: (re.search(r'^%s = "([^"]*)"' % key, text, re.M) or [None, ""])[1]
            name = field("name")
            if kept.knows("crates", name) or only and name not in only or name.startswith(("windows", "winapi")):
                continue
            kept.add("crates", name, field("version"), field("license"), field("repository"), folder)
        for name in batch:
            if not kept.knows("crates", name):
                kept.note("crates", name)

    for at in range(0, len(missing), 30):
        vendor(missing[at:at + 30])
    shutil.rmtree(scratch, ignore_errors=True)


def pypi(kept, name):
    scratch = os.path.join(kept.work, "pip", name)
    shutil.rmtree(scratch, ignore_errors=True)
    run(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "-d", scratch, name)
    wheels = glob.glob(os.path.join(scratch, "*.whl"))
    if not wheels:
        return kept.note("pypi", name)
    folder = os.path.join(scratch, "x")
    with zipfile.ZipFile(wheels[0]) as wheel:
        for info in wheel.infolist():
            ending = os.path.splitext(info.filename)[1].lower()
            if (ending in CODE or ending in PROSE or info.filename.endswith("/METADATA")) and info.file_size < MOST_BYTES:
                wheel.extract(info, folder)
    metadata = "\n".join(open(path, errors="replace").read() for path in glob.glob(os.path.join(folder, "*.dist-info", "METADATA")))
    head, _, prose = metadata.partition("\n\n")
    field = lambda key: (re.search(r"^%s: (.*)" % key, head, re.M) or [None, ""])[1]
    licence = field("License-Expression") or next(iter(re.findall(r"^Classifier: License :: (?:OSI Approved :: )?(.*)", head, re.M)), "") or field("License")
    urls = " ".join(re.findall(r"^(?:Home-page|Project-URL): (?:[^,\n]*, )?(.*)", head, re.M))
    os.makedirs(folder, exist_ok=True)
    open(os.path.join(folder, "README.md"), "w").write(prose)
    kept.add("pypi", name, field("Version"), licence, urls, folder)
    shutil.rmtree(scratch, ignore_errors=True)


def npm(kept, batch):
    """Runs `npm pack` in batches; if one package is missing, each separately."""
    scratch = os.path.join(kept.work, "npm", batch[0].replace("/", "__"))
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    run("npm", "pack", "--silent", "--ignore-scripts", *batch, cwd=scratch)
    for packed in glob.glob(os.path.join(scratch, "*.tgz")):
        folder = packed + ".x"
        os.makedirs(folder)
        run("tar", "xzf", packed, "-C", folder, "--strip-components=1", "--no-same-owner")
        try:
            manifest = json.load(open(os.path.join(folder, "package.json"), errors="replace"))
        except (OSError, ValueError):
            continue
        licence, repository = manifest.get("license", ""), manifest.get("repository", "")
        licence = licence.get("type", "") if isinstance(licence, dict) else licence
        repository = repository.get("url", "") if isinstance(repository, dict) else repository
        if manifest.get("name") in batch:
            kept.add("npm", manifest["name"], manifest.get("version", ""), str(licence), str(repository), folder)
    missing = [name for name in batch if not kept.knows("npm", name)]
    if len(batch) == 1 and missing:
        kept.note("npm", batch[0])
    elif len(missing) == len(batch):
        half = len(batch) // 2
        npm(kept, batch[:half])
        npm(kept, batch[half:])
    else:
        for name in missing:
            npm(kept, [name])
    shutil.rmtree(scratch, ignore_errors=True)


def apt_options(work):
    """Copies apt's list of registries, with sources enabled, into the work folder."""
    own = os.path.join(work, "apt")
    parts = os.path.join(own, "parts")
    os.makedirs(parts, exist_ok=True)
    os.makedirs(os.path.join(own, "lists", "partial"), exist_ok=True)
    for file in glob.glob("/etc/apt/sources.list.d/*.sources"):
        text = re.sub(r"^Types: deb$", "Types: deb deb-src", open(file).read(), flags=re.M)
        open(os.path.join(parts, os.path.basename(file)), "w").write(text)
    for file in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*.list")]:
        if os.path.exists(file):
            lines = [line for line in open(file).read().split("\n") if line.startswith("deb ")]
            both = lines + ["deb-src" + line[3:] for line in lines]
            open(os.path.join(parts, os.path.basename(file).replace("sources.list", "sources") + ".list"), "w").write("\n".join(both) + "\n")
    options = ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", "Dir::Etc::sourceparts=" + parts, "-o", "Dir::State::lists=" + os.path.join(own, "lists"), "-o", "APT::Sandbox::User=root"]
    run("apt-get", *options, "update")
    return options


def codename():
    try:
        return (re.search(r"^VERSION_CODENAME=(\w+)", open("/etc/os-release").read(), re.M) or ["", ""])[1]
    except OSError:
        return ""


def debian(kept, batch, options, release=""):
    """Runs `apt-get source` in batches; if one package is missing, each separately, at last without security updates."""
    scratch = os.path.join(kept.work, "deb", batch[0])
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    run("apt-get", *options, "-qq", "source", "--download-only", *(name + release for name in batch), cwd=scratch, timeout=600)
    for described in glob.glob(os.path.join(scratch, "*.dsc")):
        name = os.path.basename(described).split("_")[0]
        if name in batch and not kept.knows("debian", name):
            unpack_debian(kept, name, scratch, described)
    shutil.rmtree(scratch, ignore_errors=True)
    missing = [name for name in batch if not kept.knows("debian", name)]
    for name in missing:
        if len(batch) > 1:
            debian(kept, [name], options)
        elif not release and codename():
            debian(kept, batch, options, "/" + codename())
        else:
            kept.note("debian", name)


def unpack_debian(kept, name, scratch, described):
    head = open(described, errors="replace").read()
    field = lambda key: (re.search(r"^%s: (.*)" % key, head, re.M) or [None, ""])[1]
    folder = os.path.join(scratch, name + ".x")
    os.makedirs(folder)
    for packed in sorted(glob.glob(os.path.join(scratch, name + "_*.tar.*"))):
        if packed.endswith(".asc") or ".orig-" in packed and not re.search(r"\.orig\.tar", packed):
            continue
        is_debian = ".debian.tar" in packed
        run("tar", "xf", packed, "-C", folder, "--no-same-owner", *([] if is_debian else ["--strip-components=1"]))
    if set(os.listdir(folder)) <= {"debian"}:
        # The description was fetched, but not the archive it describes.
        return shutil.rmtree(folder)
    try:
        text = open(os.path.join(folder, "debian", "copyright"), errors="replace").read()
    except OSError:
        text = ""
    stanzas = debian_files(text)
    shutil.rmtree(os.path.join(folder, "debian"), ignore_errors=True)
    licence = debian_licence_of(stanzas, "*") or next((name for globs, name in stanzas if "*" in globs), "")
    if kept.checks and not is_permissive(licence):
        kept.note("debian", name, field("Version"), licence, field("Homepage"), "licence")
    else:
        kept.add("debian", name, field("Version"), licence, field("Homepage"), folder, stanzas)
    shutil.rmtree(folder, ignore_errors=True)


def batches(kept, ecosystem, wanted, size=25):
    missing = [name for name in wanted if not kept.knows(ecosystem, name)]
    return [missing[at:at + size] for at in range(0, len(missing), size)]


def fetch(kept, of, only=None):
    """`of` returns the names of an ecosystem."""
    options = apt_options(kept.work)
    jobs = [(pypi, name) for name in of("pypi") if not kept.knows("pypi", name)]
    jobs += [(lambda kept, some: debian(kept, some, options), some) for some in batches(kept, "debian", of("debian"))]
    jobs += [(npm, some) for some in batches(kept, "npm", of("npm"))]
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        all_crates = pool.submit(crates, kept, of("crates"), only)
        for done in [pool.submit(work, kept, name) for work, name in jobs]:
            try:
                done.result()
            except Exception as error:
                print("skipped:", error, file=sys.stderr)
        all_crates.result()


def main():
    work = os.path.abspath(sys.argv[1])
    os.makedirs(work, exist_ok=True)
    left_out = [line.split() for line in names("excluded.txt")]
    fetch(Kept(work, "excluded", False), lambda ecosystem: [name for of, name in left_out if of == ecosystem], {name for of, name in left_out if of == "crates"})
    kept = Kept(work, "src", True)
    fetch(kept, lambda ecosystem: names(ecosystem + ".txt"))
    reasons = {}
    for row in kept.rows.values():
        reasons[row["ecosystem"], row["why"] or "kept"] = reasons.get((row["ecosystem"], row["why"] or "kept"), 0) + 1
    for key in sorted(reasons):
        print("%s: %s %d" % (*key, reasons[key]))


if __name__ == "__main__":
    main()
