"""The expected states, from git and the work trees: all states that each name ever had, and whether an answer matches one.

The program under test is not involved. A state is a table of paths and blob ids. For each name (a branch or a tag; a commit id if HEAD is
detached) all states are kept: those of its commits and those of the work trees in which HEAD named it, edits included.
"""

import collections
import contextlib
import hashlib
import os
import pathlib
import re
import subprocess
import time

GRACE = 0.25  # Seconds after which a watch must have seen a change.
PASSING = 10  # Seconds for which an intermediate state may still be seen.

OWN = "checkouts"  # The folder that is checked in a large repository.

# The comment marker, the form of a function, and the pattern of its definition.
LANGUAGES = {
    "py": ("#", "def {name}(value):\n    return {body}\n", re.compile(r"^def (\w+)\(")),
    "rs": ("//", "pub fn {name}(value: u64) -> u64 {{\n    {body}\n}}\n", re.compile(r"^pub fn (\w+)\(")),
    "ts": ("//", "export function {name}(value) {{\n    return {body};\n}}\n", re.compile(r"^export function (\w+)\(")),
    "go": ("//", "func {name}(value int) int {{\n    return {body}\n}}\n", re.compile(r"^func (\w+)\(")),
}
NAME = re.compile(r"\bitem_\d{6}\b")


def is_commit(name):
    return re.fullmatch("[0-9a-f]{40}", name) is not None


class Text:
    """The definitions and calls of functions in a file."""

    def __init__(self, path, data):
        self.text = data.decode()
        self.rough = any(line.startswith(("<<<<<<<", ">>>>>>>", "=======")) for line in self.text.splitlines())
        self.definitions, self.calls = collections.defaultdict(list), collections.defaultdict(list)
        pattern = LANGUAGES.get(path.rsplit(".", 1)[-1], LANGUAGES["py"])[2]
        for number, line in enumerate(self.text.splitlines(), 1):
            defined = pattern.match(line)
            for name in NAME.findall(line):
                (self.definitions if defined else self.calls)[name].append(number)
        self.names = set(self.definitions) | set(self.calls)
        self.outline = sorted((line, name) for name, lines in self.definitions.items() for line in lines)


NOTHING = Text("", b"")
EMPTY = hashlib.sha1(b"blob 0\0").hexdigest()


class Texts:
    """All contents ever seen, by path and blob id, and the paths at which a name was ever seen."""

    def __init__(self):
        self.known, self.paths = {}, collections.defaultdict(set)

    def add(self, path, blob, data):
        if (path, blob) not in self.known:
            text = self.known[path, blob] = Text(path, data)
            for name in text.names:
                self.paths[name].add(path)


class Versions:
    """The states of a name, file by file: which contents each file had, and whether it was ever missing."""

    def __init__(self, *states):
        self.total, self.blobs, self.counts = 0, collections.defaultdict(set), collections.Counter()
        for state in states:
            self.add(state)

    def add(self, state):
        self.total += 1
        for path, blob in state.items():
            self.blobs[path].add(blob)
            self.counts[path] += 1

    def of(self, path):
        """Returns the blobs a file had, with None if it was ever missing."""
        blobs = set(self.blobs.get(path, ()))
        return blobs | {None} if self.counts[path] < self.total else blobs


class Passing:
    """Intermediate contents of files while a command ran."""

    def __init__(self, until):
        self.until, self.blobs, self.anything_missing = until, collections.defaultdict(set), False

    def of(self, path):
        return set(self.blobs.get(path, ())) | ({None} if self.anything_missing else set())


class Tree:
    """A work tree: its HEAD, its files, and its earlier states."""

    def __init__(self, root):
        self.root = root
        self.name = self.commit = None
        self.state, self.log_at = {}, 0
        self.moments = []  # (start of a command, its end, the state then, intermediate states)
        self.rested = 0.0  # The time when it was last known to be fresh.
        self.behind = None  # The name under which it was last seen to be stale.
        self.was_fresh, self.asked, self.blamed = False, None, False

    def folder(self):
        """Returns git's folder for this work tree."""
        dot = self.root / ".git"
        return dot if dot.is_dir() else pathlib.Path(dot.read_text().removeprefix("gitdir:").strip())


class Repository:
    """git, the work trees, and the history of each name."""

    def __init__(self, folder, source):
        self.folder, self.root, self.inside = folder, folder / "main", OWN if source else ""
        self.clock, self.counter = 1_700_000_000, 0
        self.texts, self.trees, self.commits = Texts(), {}, {}
        self.tips = {}  # For each branch and tag: its commit,
        self.was_at = collections.defaultdict(set)  # every commit it ever had,
        self.own = collections.defaultdict(Versions)  # and their files.
        self.worked = collections.defaultdict(Versions)  # For each root and name: every state as a work tree,
        self.history = collections.defaultdict(list)  # with its commit,
        self.passed = collections.defaultdict(list)  # and recent intermediate states.
        self.pending, self.source = [], source

    # git

    def git(self, root, *args):
        """Runs git; returns whether it succeeded, and its output. Times come from a fixed clock, so commit ids are reproducible."""
        date = f"{self.clock} +0000"
        env = {
            **os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_EDITOR": "true",
            "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.invalid", "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.invalid", "GIT_COMMITTER_DATE": date,
        }
        done = subprocess.run(["git", *args], cwd=root, env=env, capture_output=True)
        return done.returncode == 0, done.stdout.decode(errors="replace")

    def sure(self, root, *args):
        done, said = self.git(root, *args)
        if not done:
            raise RuntimeError(f"git {' '.join(args)} failed: {said}")
        return said

    def begin(self):
        if self.source:
            self.sure(self.folder, "clone", "-q", "--no-tags", str(self.source), str(self.root))
            self.sure(self.root, "checkout", "-q", "-B", "main")
        else:
            self.root.mkdir()
            self.sure(self.root, "init", "-q", "-b", "main")
        for key, value in {"gc.auto": "0", "maintenance.auto": "false", "core.fsync": "none"}.items():
            self.sure(self.root, "config", key, value)
        self.trees[self.root] = Tree(self.root)

    # The current state

    def head(self, tree):
        """Returns the name in HEAD, and the commit: HEAD and its ref are files, unless the ref is packed."""
        text = (tree.folder() / "HEAD").read_text().strip()
        if not text.startswith("ref: "):
            return text, text
        name = text.removeprefix("ref: refs/heads/")
        loose = self.root / ".git/refs/heads" / name
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            return name, loose.read_text().strip()
        return name, self.git(tree.root, "rev-parse", "HEAD")[1].strip()

    def look(self, tree):
        """Returns all files of a work tree."""
        state, top = {}, str(tree.root)
        for folder, folders, files in os.walk(tree.root / self.inside):
            folders[:] = sorted(name for name in folders if name != ".git")
            for file in files:
                path = os.path.relpath(os.path.join(folder, file), top)
                if path == ".git":
                    continue
                with open(os.path.join(folder, file), "rb") as opened:
                    data = opened.read()
                blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
                self.texts.add(path, blob, data)
                state[path] = blob
        return state

    def committed(self, commit):
        """Returns all files of a commit."""
        if commit not in self.commits:
            state = {}
            for line in self.sure(self.root, "ls-tree", "-r", "-z", commit, *filter(None, [self.inside])).split("\0"):
                if line:
                    about, path = line.split("\t", 1)
                    blob = state[path] = about.split()[2]
                    if (path, blob) not in self.texts.known:
                        self.texts.add(path, blob, self.sure(self.root, "cat-file", "blob", blob).encode())
            self.commits[commit] = state
        return self.commits[commit]

    def text(self, path, blob):
        return NOTHING if blob is None else self.texts.known[path, blob]

    # Earlier states

    def note(self, tree, began):
        """Reads a work tree after a command, before any query."""
        before = (tree.name, tree.commit, tree.state)
        tree.name, tree.commit = self.head(tree)
        tree.state = self.look(tree)
        tree.moments.append((began, time.monotonic(), tree.state, Passing(0)))
        self.pending.append((tree, before, tree.name, tree.commit, tree.moments[-1]))

    def catch_up(self):
        """Records the effects of the last commands. Runs while a query is being answered."""
        pending, self.pending = self.pending, []
        for tree, before, *after in pending:
            self.remember(tree, *before, *after)
        if pending:
            self.remember_tips()

    def remember_tips(self):
        form = "--format=%(refname:lstrip=2) %(*objectname) %(objectname)"
        self.tips = {}
        for line in self.sure(self.root, "for-each-ref", form, "refs/heads", "refs/tags").splitlines():
            name, commit, *_ = line.split()
            self.tips[name] = commit
            self.remember_tip(name, commit)

    def remember_tip(self, name, commit):
        if commit not in self.was_at[name]:
            self.was_at[name].add(commit)
            self.own[name].add(self.committed(commit))

    def remember(self, tree, old_name, old_commit, old_state, name, commit, moment):
        _, ended, state, passing = moment
        until = passing.until = ended + PASSING
        # A file that was just being written may have been missing or empty. HEAD is written last, so it still had the old name.
        torn = Passing(until)
        for path in old_state.keys() | state.keys():
            if old_state.get(path) != state.get(path):
                self.texts.add(path, EMPTY, b"")
                torn.blobs[path] |= {None, EMPTY}
                passing.blobs[path] |= {None, EMPTY, old_state.get(path), state.get(path)}
        if old_name is not None:
            self.passed[tree.root, old_name].append(torn)
        # A rebase visits commits that are not states of its branch. Everything else that moves HEAD moves the branch.
        for new, message in self.log(tree):
            if message.startswith("rebase"):
                for at in {old_name, name} - {None, new}:
                    through = Passing(until)
                    for files in (self.committed(new), old_state, state):
                        for path in files.keys() | self.own[at].blobs.keys():
                            through.blobs[path].add(files.get(path))
                            passing.blobs[path].add(files.get(path))
                    self.passed[tree.root, at].append(through)
            elif not message.startswith("checkout") and name == old_name and name in self.tips:
                self.remember_tip(name, new)
        # A name that begins where another was left inherits its edits.
        if old_name not in (None, name) and commit == old_commit:
            for at, old in list(self.history[tree.root, old_name]):
                if at == commit:
                    self.worked[tree.root, name].add(old)
                    self.history[tree.root, name].append((at, old))
        self.worked[tree.root, name].add(state)
        self.history[tree.root, name].append((commit, state))

    def emptied(self, root, name):
        """Records that a work tree is being filled, emptied or moved: any file may have been missing."""
        passing = Passing(time.monotonic() + PASSING)
        passing.anything_missing = True
        self.passed[root, name].append(passing)

    def log(self, tree):
        """Returns the new lines of HEAD's log: commit and message."""
        path = tree.folder() / "logs/HEAD"
        if not path.exists():
            return []
        lines = path.read_text(errors="replace").splitlines()
        at, tree.log_at = min(tree.log_at, len(lines)), len(lines)
        return [(line.split()[1], line.split("\t", 1)[-1]) for line in lines[at:]]

    # Allowed answers

    def commits_of(self, name):
        return {name} if is_commit(name) else self.was_at[name]

    def allowed(self, tree, name, explicit):
        """Returns all versions that an answer under a name may show, and the intermediate ones among them."""
        git = Versions(self.committed(name)) if is_commit(name) else self.own[name]
        if explicit:
            return [git], []
        now = time.monotonic()
        passed = self.passed[tree.root, name] = [p for p in self.passed[tree.root, name] if p.until > now]
        return [git, self.worked[tree.root, name]], passed

    def now(self, tree, sent, watched):
        """Returns the states that are fresh for a query sent at a given time."""
        if watched and tree.moments[0][1] > sent - GRACE:
            # It did not exist before, or was another one: any state of the name is accepted.
            states, passed = self.allowed(tree, tree.name, False)
            return states + passed
        at = len(tree.moments) - 1
        while watched and at > 0 and tree.moments[at][1] > sent - GRACE:
            at -= 1
        states = Versions(*(state for _, _, state, _ in tree.moments[at:]))
        return [states, *(passing for *_, passing in tree.moments[at + 1:])]

    def merge_base(self, one, other):
        """Returns the merge base, or an empty text if there is none."""
        return self.git(self.root, "merge-base", one, other)[1].strip()

    def rest(self, tree, sent):
        """Records that the server has shown the current tree: earlier intermediate states no longer count."""
        tree.rested, tree.was_fresh = sent, True
        for (root, name), passed in self.passed.items():
            if root == tree.root:
                passed.clear()


class Judge:
    """Checks whether an answer matches some versions of the files."""

    def __init__(self, repository, versions):
        self.repository, self.versions = repository, versions

    def is_some(self, path, holds):
        """Whether a predicate holds for one of the versions of a file."""
        blobs = set().union(*(versions.of(path) for versions in self.versions))
        texts = [self.repository.text(path, blob) for blob in blobs]
        return any(text.rough or holds(text) for text in texts)

    def places(self, name, found, what):
        """Whether the lines found for a name are, file by file, those of some version."""
        for path in sorted(self.repository.texts.paths[name] | found.keys()):
            lines = sorted(found.get(path, []))
            if not self.is_some(path, lambda text: sorted(getattr(text, what).get(name, [])) == lines):
                return f"{what} of {name} in {path}: lines {lines}"
        return None

    def wrong(self, tool, arguments, answer):
        """Returns the fault, or None."""
        return getattr(self, tool)(arguments, answer)

    def locate_symbol(self, arguments, answer):
        return self.places(arguments["name"], grouped(answer.get("results", [])), "definitions")

    def search_code(self, arguments, answer):
        name, results = NAME.search(arguments["query"])[0], answer.get("results", [])
        if arguments.get("mode") == "literal":
            found = {result["path"] for result in results}
            for path in sorted(self.repository.texts.paths[name] | found):
                if not self.is_some(path, lambda text: (name in text.names) == (path in found)):
                    return f"the text {name} in {path}: {'found' if path in found else 'not found'}"
            return None
        for result in results:
            if is_ours(result) and not self.defines(result["path"], result["line_start"], result["name"]):
                return f"{result['name']} in {result['path']}:{result['line_start']}"
        return self.places(name, grouped(result for result in results if result.get("name") == name), "definitions")

    def get_file_outline(self, arguments, answer):
        symbols = sorted((symbol["line_start"], symbol["name"]) for symbol in answer.get("symbols", []) if is_ours(symbol))
        path, is_there = arguments["path"], "symbols" in answer
        if self.is_some(path, lambda text: (text is not NOTHING) == is_there and text.outline == symbols):
            return None
        return f"the outline of {path}: {symbols if is_there else 'no such file'}"

    def find_references(self, arguments, answer):
        name, symbol = arguments["symbol_name"], answer.get("symbol")
        if symbol and self.has_homonyms(name):
            # Of several symbols with a name one is chosen; it has to be one of them.
            good = self.defines(symbol["path"], symbol["line_start"], name)
            return None if good else f"{name} in {symbol['path']}:{symbol['line_start']}"
        wrong = self.places(name, grouped([symbol] if symbol else []), "definitions")
        return wrong or (symbol and self.places(name, grouped(answer["references"]), "calls")) or None

    def diff_context(self, arguments, answer):
        if "changes" not in answer:
            return None
        base = Judge(self.repository, [Versions(self.repository.committed(answer["merge_base_commit"]))])
        for change in answer["changes"]:
            for judge, side in ((base, "before"), (self, "after")):
                at, name = change[side], change["symbol"]
                if at and NAME.fullmatch(name) and not judge.defines(at["path"], at["line_start"], name):
                    return f"{name} in {at['path']}:{at['line_start']}, {side}"
        return None

    def has_homonyms(self, name):
        """Whether a name is in several files, or twice in one: a merge of two branches can leave it so."""
        paths = self.repository.texts.paths[name]
        blobs = ((path, blob) for path in paths for versions in self.versions for blob in versions.of(path))
        return len(paths) > 1 or any(len(self.repository.text(*file).definitions.get(name, [])) > 1 for file in blobs)

    def defines(self, path, line, name):
        return self.is_some(path, lambda text: line in text.definitions.get(name, []))


def is_ours(result):
    return NAME.fullmatch(result.get("name") or "") is not None


def grouped(results):
    found = collections.defaultdict(list)
    for result in results:
        found[result["path"]].append(result["line_start"])
    return found
