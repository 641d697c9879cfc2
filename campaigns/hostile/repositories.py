"""Hostile repositories: made by a generator, indexed and asked about by a server of their own, and named to two others.

A step is one repository with one to three features. What is found is made again with each feature, and each source file, alone,
so that the report names the one that does it.
"""

import json
import os
import random
import re
import subprocess
import time

from hostile import objects, sources
from hostile.features import FEATURES
from hostile.server import Broken, Http, Pipe, allowed

# A small repository has to be indexed, or given up, in this time.
INDEX_SECONDS = 60
KEPT_BYTES = 20 << 20


class Repository:
    """A small repository without oddities, to which features are added."""

    def __init__(self, ground, root, extensions, seed=0, batch=0):
        self.ground, self.root, self.extensions, self.seed, self.batch = ground, root, extensions, seed, batch
        self.refs, self.paths, self.notes, self.ends, self.sources = ["main"], ["src/a.py"], [], [], []
        self.hidden, self.canary = None, ground.programs / "canary"
        (root / "src").mkdir(parents=True)
        content = b"def plain():\n    return other()\n\n\ndef other():\n    return 1\n"
        (root / "src/a.py").write_bytes(content)
        self.store = objects.Store(root / ".git")
        self.blob = self.store.write("blob", content)
        self.tree = self.store.tree([("40000", "src", self.store.tree([("100644", "a.py", self.blob)]))])
        self.first = self.store.commit(self.tree)
        self.store.branch("main", self.first)

    def ref(self, name, target):
        self.store.branch(name, target)
        self.refs.append(name)

    def pipe(self):
        """A pipe outside of the tree to which nobody writes."""
        path = self.root.parent / f"{self.root.name}-pipe"
        if not path.exists():
            os.mkfifo(path)
        return path

    def other(self):
        """Another repository, of which nothing may be told."""
        path = self.root.parent / f"{self.root.name}-other"
        if not path.exists():
            store = objects.Store(path / ".git")
            blob = store.write("blob", f"def secret_{self.ground.token}():\n    return '{self.ground.token}'\n".encode())
            self.hidden = store.commit(store.tree([("100644", "secret.py", blob)]))
            store.branch("hidden", self.hidden)
            store.branch("main", self.hidden)
        return path


def listing(root):
    """The files of a tree with sizes and times, without following links; the first some thousand."""
    found, folders = {}, [str(root)]
    while folders and len(found) < 5000:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    about = entry.stat(follow_symlinks=False)
                    found[entry.path] = (about.st_mode, about.st_size, about.st_mtime_ns)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:
            continue
    return found


def questions(repository, rng):
    """Calls that read everything a repository can have a say in."""
    yield from [("health_check", {}), ("search_code", {"query": "plain"}), ("grep_code", {"pattern": "secret|plain"}),
        ("list_refs", {}), ("locate_symbol", {"name": "plain"})]
    for ref in rng.sample(repository.refs, min(5, len(repository.refs))):
        # Readers of text have a ref brought in by asking; readers of JSON ask for that.
        if repository.form == "json":
            yield ("index_repo", {"ref": ref})
        yield from [("search_code", {"query": "plain secret", "ref": ref}), ("grep_code", {"pattern": "secret", "ref": ref})]
        if rng.random() < 0.5:
            yield ("diff_context", {"base_ref": "main", "head_ref": ref})
    for path in rng.sample(repository.paths, min(4, len(repository.paths))):
        yield from [("read_code", {"what": [path]}), ("get_file_outline", {"path": path})]
    yield from [("find_references", {"symbol_name": "other"}), ("get_call_graph", {"symbol_name": "plain", "depth": 3}),
        ("sync_repo", {}), ("search_code", {"query": "deep hostile"}), ("index_status", {})]


def ask(pipe, repository, rng, report, step):
    """Waits for the index, then asks."""
    began = time.monotonic()
    settle(pipe)
    pipe.state()
    report.took(time.monotonic() - began, f"indexing, {', '.join(repository.made)}, step {step}")
    for tool, arguments in questions(repository, rng):
        began = time.monotonic()
        pipe.last = f"{tool} {arguments}"
        pipe.call(tool, arguments)
        report.count("calls (repositories)")
        report.took(time.monotonic() - began, f"{tool} {str(arguments)[:60]}, {', '.join(repository.made)}, step {step}")
    pipe.last = "jobs after the last answer"
    settle(pipe)
    pipe.state()


def settle(pipe):
    """Waits until no job runs."""
    until = time.monotonic() + allowed(INDEX_SECONDS)
    while True:
        text, _ = pipe.call("index_status", {})
        if not re.search(r"\b(running|queued)\b", text):
            return
        if time.monotonic() > until:
            raise Broken("index", f"a job still runs after {allowed(INDEX_SECONDS):.0f} s")
        time.sleep(0.05)


def command(ground, root, data):
    """A plain command has the time of a request."""
    try:
        done = subprocess.run([ground.binary, "status"], cwd=root, env=ground.environment(data), stdin=subprocess.DEVNULL,
            capture_output=True, timeout=allowed())
    except subprocess.TimeoutExpired:
        raise Broken("silent", f"`codecompass status` did not end in {allowed():.0f} s") from None
    if done.returncode < 0 or b"panicked at" in done.stderr:
        raise Broken("exit", f"`codecompass status` ended with {done.returncode}: {done.stderr[-300:]!r}")


class Neighbours:
    """Servers of another workspace that are asked about hostile ones: one may register them, the other may not."""

    def __init__(self, ground, plain, data):
        self.ground, self.plain, self.data, self.servers = ground, plain, data, {}

    def ask(self, root):
        for name, flags in {"stranger": (), "host": ("--auto-workspace", "--allowed-root",
            str(self.ground.folder / "repositories"))}.items():
            if name not in self.servers:
                self.servers[name] = Http(self.ground, self.plain, self.data / name, *flags)
            server = self.servers[name]
            server.last = f"{name}: locate_symbol in this workspace"
            try:
                connection = server.connect()
                server.call(connection, "locate_symbol", {"name": "plain", "workspace": str(root)})
                connection.close()
                server.last = f"{name}: /health"
                server.health()
            except Broken:
                self.close(name)
                raise

    def close(self, name=None):
        for one in [name] if name else list(self.servers):
            self.servers.pop(one).close()


def play(ground, neighbours, report, seed, step, extensions, made, only=None, is_brief=False):
    """Makes a repository of features and asks about it. Raises what did not hold; `broken.about` says where. With `only` there are no
    other source files; a brief one is indexed and not asked about."""
    root, data = ground.folder / "repositories" / f"r{step}", ground.folder / "data" / f"r{step}"
    remove(root, data)
    repository, pipe = Repository(ground, root, extensions, seed, max(0, step - len(FEATURES)) // 3), None
    repository.form = "text" if step % 3 else "json"
    repository.made, rng = made, random.Random(f"{seed}/{step}/questions")
    try:
        # What replaces a git folder or its files comes after what is written there.
        for name in sorted(made, key=lambda name: name.startswith(("elsewhere", "pipe_at", "special_git", "damaged_git"))):
            try:
                FEATURES[name](repository, random.Random(f"{seed}/{step}/{name}"))
            except OSError as error:
                repository.notes.append(f"{name} is not whole: {error.strerror}")
        for name in set(repository.sources) - set(repository.sources if only is None else only):
            (root / name).unlink()
            repository.paths.remove(name)
        before = None if "swapped" in made else listing(root)
        last = "the start"
        try:
            last = "codecompass status"
            if not is_brief:
                command(ground, root, data)
            last = "the start"
            pipe = Pipe(ground, root, data, "--auto-index", "--own-workspace-only", "--tools", "all", "--answers", repository.form)
            pipe.last = "indexing"
            settle(pipe) if is_brief else ask(pipe, repository, rng, report, step)
            last = "a server of another workspace"
            if neighbours:
                neighbours.ask(root)
            last = "closing"
            closing, pipe = pipe, None
            report.peak("repositories", closing.peak)
            closing.close()
            if before is not None and listing(root) != before:
                changed = sorted(set(listing(root).items()) ^ set(before.items()))
                raise Broken("write", f"the work tree was changed: {changed[:4]}")
        except Broken as broken:
            broken.about, broken.repository = getattr(pipe, "last", last) if pipe and last == "the start" else last, repository
            if pipe:
                report.peak("repositories", pipe.peak)
            raise
    finally:
        for one in repository.ends:
            one()
        if pipe:
            try:
                pipe.close()
            except Broken:
                pass


def remove(*paths):
    for path in paths:
        for one in (path, f"{path}-other", f"{path}-pipe"):
            if os.path.lexists(one):
                subprocess.run(["/bin/rm", "-rf", str(one)], check=False)


assert sources.each_source in FEATURES.values()


def choose(seed, step):
    """The features of a step: each once by itself at first; then sources every third time, or one to three of all."""
    names = sorted(FEATURES)
    random.Random(seed).shuffle(names)
    if step <= len(names):
        return [names[step - 1]]
    rng = random.Random(f"{seed}/{step}")
    if step % 3 == 0:
        return ["each_source"]
    return ["sources"] if rng.random() < 0.3 else sorted(set(rng.sample(names, rng.choice([1, 1, 2, 3]))))


def repositories(ground, plain, report, seed, until, extensions, first=0, only=None, limited=None):
    """Plays repositories until the time is over."""
    neighbours, step = Neighbours(ground, plain, ground.folder / "data" / "neighbours"), first
    while time.monotonic() < until:
        step = only if only is not None else step + 1
        made = limited or choose(seed, step)
        # What was found often enough is passed over.
        if any(report.is_known(("feature", name)) for name in made) and only is None:
            continue
        try:
            play(ground, neighbours, report, seed, step, extensions, made)
            report.count("repositories")
        except Broken as broken:
            try:
                minimise(ground, plain, report, seed, step, extensions, made, broken)
            except Broken as later:
                report.find(later, "repositories", step, ", ".join(made), ("found", later.kind, *made))
        remove(ground.folder / "repositories" / f"r{step}", ground.folder / "data" / f"r{step}")
        if only is not None:
            break
    try:
        neighbours.close()
    except Broken as broken:
        report.find(broken, "repositories", step, "noticed when the other servers were closed",
            ("found", broken.kind, "neighbours"))


def minimise(ground, plain, report, seed, step, extensions, made, broken):
    """Plays each feature alone, then halves of the source files, and reports the least that shows the finding."""
    is_brief = broken.about == "indexing"

    def again(some, only=None):
        neighbours = Neighbours(ground, plain, ground.folder / "data" / "neighbours")
        try:
            play(ground, None if is_brief else neighbours, report, seed, step, extensions, some, only, is_brief)
        except Broken as found:
            return found if found.kind == broken.kind else None
        finally:
            try:
                neighbours.close()
            except Broken:
                pass
        return None

    for name in made if len(made) > 1 else []:
        found = again([name])
        if found:
            made, broken = [name], found
            break
    left = list(broken.repository.sources)
    is_source = bool(left) and (len(made) > 1 or "source" in made[0]) and broken.kind in ("memory", "exit", "index", "silent",
        "panic")
    if not is_source:
        record(ground, report, step, made, broken)
        return
    # Several files of one repository may show it: each is taken out when it is found.
    for _ in range(6):
        some, found = left, broken
        while len(some) > 1:
            half = some[:len(some) // 2]
            found_here = again(made, half)
            some, found = (half, found_here) if found_here else (some[len(half):], found)
        found = again(made, some) or found
        record(ground, report, step, made, found, some[0])
        left.remove(some[0])
        broken = again(made, left) if left else None
        if broken is None:
            return


def record(ground, report, step, made, broken, source=None):
    """Reports a finding and keeps its material."""
    for name in made:
        signature = ("feature", name)
        report.shown[signature] = report.shown.get(signature, 0) + (0 if "source" in name else 1)
    notes = "; ".join(broken.repository.notes)
    root, what = ground.folder / "repositories" / f"r{step}", ", ".join(made)
    signature = ("found", broken.kind, what, notes, broken.about[:20])
    if source and (root / source).exists():
        data = (root / source).read_bytes()
        what += f": {len(data)} B of {data[:60].decode('utf-8', 'replace')!r}… as .{source.rsplit('.', 1)[1]}"
        signature = ("found", broken.kind, source.rsplit(".", 1)[1], data[:12])
        report.keep(f"repository-{step}-{source}", data)
    else:
        keep(report, root, step)
    report.find(broken, "repositories", f"{step} --features {','.join(made)}", f"{what} [{notes}] at {broken.about[:120]}",
        signature)


def keep(report, root, step):
    """Keeps a repository that is not too large."""
    size = sum(about[1] for about in listing(root).values() if about[1] < 1 << 40)
    if size <= KEPT_BYTES and root.exists():
        report.kept.mkdir(parents=True, exist_ok=True)
        subprocess.run(["/bin/cp", "-a", str(root), str(report.kept / f"repository-{step}")], check=False, capture_output=True)


def extensions_of(ground, data):
    """One extension of each language that has symbols."""
    done = subprocess.run([ground.binary, "languages", "--json"], env=ground.environment(data), capture_output=True, check=True,
        stdin=subprocess.DEVNULL)
    languages = json.loads(done.stdout)["languages"]
    return sorted({one["extensions"][0] for one in languages if one["symbols"] and one["extensions"]})
