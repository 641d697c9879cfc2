"""Runs random git commands under a server: `python checkouts.py BINARY [--operations 2000] [--seed N] [--no-watch]`.

A server answers for a small repository and its linked worktrees while branches are checked out, created, committed to, rebased, merged,
reset, stashed and deleted, and while files change without git. Each change gives functions new names, so the content of each state is
known to the line. Queries follow a command immediately, a few milliseconds later, or when the server is idle. Invariants of each answer:

- `metadata.ref` is what HEAD names, or the requested ref;
- it never has another branch's content: each file in it is as it was in some state of that name, and its commit is one of that name;
- `fresh` means the current tree; with a watch, the tree at some moment since 250 ms before the query;
- `strict` is fresh or `index_stale`; the other policies refuse only a name without published data, `balanced` not before two seconds
  have passed; a refusal names both commits;
- an explicit ref shows what git has for it;
- no other error, except for a symbol, a file or a ref that does not exist. A work tree without published data says so, and is published
  after a query for it.

The expected states come from git and the work tree (`states.py`). The states of a name, in the queried work tree, are: the tree after
each command while HEAD named it, including untracked and edited files; and each commit that its tip ever was. Files from different
states of the same name in one answer are allowed. So are, until the server says fresh and for at most ten seconds, intermediate states:
a file that a command was just writing, the commits of a rebase, a folder that was being filled or moved. Another name's file is a fault,
even while branches are being changed. A name that begins on the commit where another was left inherits that one's edits. A file with
conflict markers may be parsed in any way.

Prints the operations, queries and findings, each finding with the seed that repeats its operations (timing depends on the machine), and
exits with 1 on a violation. `--repository PATH` runs in a clone of a large repository with distant branches and checks files of its own;
it measures the wait of the first answer after a checkout. Everything happens in a temporary folder.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from states import GRACE, LANGUAGES, NAME, Judge, Repository, Tree, Versions, is_commit

KINDS = ["wrong branch", "wrong commit", "wrong ref", "falsely fresh", "refused", "error", "never indexed", "never fresh"]
REMEMBERED = 8  # Fewer operations than create twenty views of single commits, the number that is kept.
WAITED = 1.8  # Two seconds, minus clock differences.
SLOW = 2.5  # Two seconds plus the time of the answer.
REST, LARGE_REST = 30, 120  # Seconds until a server must be fresh under repeated queries.
ANSWER_TIMEOUT = 60  # Seconds for any answer.


class Silent(Exception):
    """Raised when a server does not answer."""


class Server:
    """A server on a pipe. The caller may do other things between a request and its answer."""

    def __init__(self, binary, root, home, flags):
        env = {**os.environ, "CODECOMPASS_HOME": str(home)}
        self.process = subprocess.Popen(
            [binary, "serve-mcp", *flags], cwd=root, env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        self.number, self.lines = 0, queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "checkouts", "version": "1"}}
        self.receive(self.send("initialize", version))
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read(self):
        for line in self.process.stdout:
            self.lines.put((time.monotonic(), line))
        self.lines.put((time.monotonic(), None))

    def write(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def send(self, method, params):
        self.number += 1
        self.write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def receive(self, number):
        """Returns the time of an answer, and the answer."""
        while True:
            try:
                moment, line = self.lines.get(timeout=ANSWER_TIMEOUT)
            except queue.Empty:
                raise Silent(f"for {ANSWER_TIMEOUT} s") from None
            if line is None:
                raise Silent(f"the server ended with {self.process.wait()}")
            message = json.loads(line)
            if message.get("id") == number:
                return moment, message

    def answer(self, number):
        """Returns the time, whether the call failed, and the JSON of the answer."""
        moment, message = self.receive(number)
        if "error" in message:
            return moment, True, {"error": message["error"]}
        result = message["result"]
        return moment, bool(result.get("isError")), json.loads(result["content"][0]["text"])

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "killed"


class Campaign:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.random = random.Random(args.seed)
        self.repository = Repository(folder, args.repository)
        self.home, self.watched = folder / "data", not args.no_watch
        self.rest_timeout = LARGE_REST if args.repository else REST
        self.at, self.kind, self.done = 0, "begin", ""
        self.operations, self.refused = collections.Counter(), collections.Counter()
        self.questions, self.outcomes = collections.Counter(), collections.Counter()
        self.found, self.held, self.passed, self.violations = collections.Counter(), 0, 0, []
        self.waits, self.longest, self.slow = [], 0.0, 0
        self.empty_folders, self.names, self.gone = [], [], []
        self.published = {}  # Names with a published view, and the operation at which it was last seen.
        self.abort, self.aside = None, []  # The command that ends a conflict; the work trees that an operation created or moved.

    def is_published(self, name):
        """Whether a view of the name must exist. Of single commits only the most recently used are kept."""
        seen = self.published.get(name)
        return seen is not None and (not is_commit(name) or self.at - seen <= REMEMBERED)

    # The repository

    def new(self):
        self.repository.counter += 1
        name = f"item_{self.repository.counter:06}"
        self.names.append(name)
        return name

    def body(self, path, callee=None):
        kind = path.rsplit(".", 1)[-1]
        value = self.repository.counter
        return LANGUAGES[kind][1].format(name=self.new(), body=f"{callee}(value) + {value}" if callee else f"value + {value}")

    def module(self, path):
        """Returns a file of a few functions, each of which calls the one before it."""
        parts, callee = ["package part\n"] if path.endswith(".go") else [], None
        for _ in range(self.random.randint(3, 6)):
            parts.append(self.body(path, callee))
            callee = self.names[-1]
        return "\n\n".join(parts)

    def changed(self, path, text):
        """Returns the text with one change: a name, a function more or less, or all lines moved."""
        names = sorted(set(NAME.findall(text)))
        turn = self.random.random()
        if not names or turn < 0.2:
            return text.rstrip("\n") + "\n\n\n" + self.body(path, self.random.choice(names) if names else None)
        if turn < 0.75:
            return text.replace(self.random.choice(names), self.new())
        if turn < 0.85:
            return f"{LANGUAGES[path.rsplit('.', 1)[-1]][0]} note {self.repository.counter}\n{text}"
        blocks = text.split("\n\n\n")
        if len(blocks) > 2:
            blocks.pop(self.random.randrange(1, len(blocks)))
        return "\n\n\n".join(blocks)

    def new_path(self):
        """Returns a path in one of a few folders, or in a new folder that exists only on its branch."""
        self.repository.counter += 1
        folder = self.random.choice(["src", "py", "web", "src/deep", "", f"area_{self.repository.counter}"])
        extension = self.random.choice(sorted(LANGUAGES))
        return os.path.join(self.repository.inside, folder, f"part_{self.repository.counter:06}.{extension}")

    def write(self, tree, path, text):
        """Writes in place, or as editors do: a new file that is renamed."""
        file = tree.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if self.random.random() < 0.5:
            file.write_text(text)
        else:
            beside = self.folder / "beside"
            beside.write_text(text)
            os.replace(beside, file)

    def begin(self):
        repository = self.repository
        repository.begin()
        tree = repository.trees[repository.root]
        self.found_modules(tree, 24)
        if self.args.repository:
            for distance in (50, 200):
                done, commit = repository.git(tree.root, "rev-parse", "-q", "--verify", f"main~{distance}")
                if done:
                    repository.sure(tree.root, "checkout", "-q", "-b", f"back-{distance}", commit.strip())
                    self.found_modules(tree, 8)
            repository.sure(tree.root, "checkout", "-q", "main")
        repository.note(tree, time.monotonic())
        repository.log(tree)
        repository.catch_up()
        env = {**os.environ, "CODECOMPASS_HOME": str(self.home)}
        subprocess.run([self.args.binary, "index"], cwd=repository.root, env=env, check=True, capture_output=True)
        self.published["main"] = self.at
        flags = [] if self.watched else ["--no-watch"]
        self.server = Server(self.args.binary, repository.root, self.home, flags)
        self.rest(tree)

    def found_modules(self, tree, count):
        for _ in range(count):
            path = self.new_path()
            self.write(tree, path, self.module(path))
        self.commit_all(tree, f"{count} modules")

    def commit_all(self, tree, message):
        self.repository.git(tree.root, "add", "-A")
        return self.repository.git(tree.root, "commit", "-q", "-m", message)[0]

    def is_dirty(self, tree):
        return bool(self.repository.git(tree.root, "status", "--porcelain")[1])

    # Operations. Each returns whether it was possible; `self.done` describes it.

    def play(self, tree, *args):
        self.done = " ".join(("git", *args))
        done, said = self.repository.git(tree.root, *args)
        if not done:
            self.refused[self.kind] += 1
        return done

    def branches(self):
        """Returns the branches that are not checked out in any work tree."""
        taken = {tree.name for tree in self.repository.trees.values()}
        return sorted(name for name in self.repository.tips if name not in taken and not name.startswith("tag-"))

    def free_names(self):
        return [name for name in (f"work-{number}" for number in range(8)) if name not in self.repository.tips]

    def linked(self):
        return sorted(root for root in self.repository.trees if root != self.repository.root)

    def free_root(self):
        return next(root for root in (self.folder / f"linked-{number}" for number in range(9)) if not root.exists())

    def some_branch(self, tree):
        others = [name for name in sorted(self.repository.tips) if name != tree.name]
        return self.random.choice(others) if others else None

    def checkout(self, tree):
        branches = self.branches()
        if not branches:
            return False
        force = ["-f"] if self.random.random() < (0.6 if self.args.repository else 0.15) else []
        return self.play(tree, "checkout", "-q", *force, self.random.choice(branches)) or True

    def checkout_new(self, tree):
        free = self.free_names()
        if not free:
            return False
        name = self.random.choice(free)
        start = [self.some_branch(tree)] if self.random.random() < 0.4 else []
        return self.play(tree, "checkout", "-q", "-b", name, *filter(None, start)) or True

    def detach(self, tree):
        turn = self.random.random()
        tags = sorted(name for name in self.repository.tips if name.startswith("tag-"))
        if turn < 0.3:
            return self.play(tree, "checkout", "-q", "--detach")
        if turn < 0.6 and tags:
            return self.play(tree, "checkout", "-q", self.random.choice(tags)) or True
        commits = sorted(self.repository.tips.values())
        at = self.random.choice(commits) + self.random.choice(["", "", "~1"])
        return self.play(tree, "checkout", "-q", "--detach", at) or True

    def tag(self, tree):
        self.repository.counter += 1
        kind = ["-a", "-m", "t"] if self.random.random() < 0.5 else []
        return self.play(tree, "tag", *kind, f"tag-{self.repository.counter}")

    def commit(self, tree):
        if not self.is_dirty(tree):
            self.prepare(tree)
        if self.random.random() < 0.7:
            self.repository.git(tree.root, "add", "-A")
            return self.play(tree, "commit", "-q", "-m", f"commit {self.repository.counter}") or True
        return self.play(tree, "commit", "-q", "-a", "-m", f"commit {self.repository.counter}") or True

    def amend(self, tree):
        if self.random.random() < 0.6:
            self.prepare(tree)
        self.repository.git(tree.root, "add", "-A")
        return self.play(tree, "commit", "-q", "--amend", "-m", f"amended {self.repository.counter}") or True

    def prepare(self, tree):
        """Makes an edit for the next command to use; the server may have seen it in between."""
        began = time.monotonic()
        self.edit(tree)
        self.repository.note(tree, began)

    def tidy(self, tree):
        """Commits pending changes, because git would refuse otherwise."""
        if self.is_dirty(tree):
            began = time.monotonic()
            self.commit_all(tree, f"before {self.repository.counter}")
            self.repository.note(tree, began)

    def rebase(self, tree):
        other = self.some_branch(tree)
        if other is None:
            return False
        self.tidy(tree)
        if not self.play(tree, "rebase", "-q", other):
            self.abort = (tree, "rebase", "--abort")
        return True

    def merge(self, tree):
        other = self.some_branch(tree)
        if other is None:
            return False
        self.tidy(tree)
        if not self.play(tree, "merge", "-q", "--no-edit", other):
            self.abort = (tree, "merge", "--abort")
        return True

    def cherry_pick(self, tree):
        other = self.some_branch(tree)
        if other is None:
            return False
        self.tidy(tree)
        what = other if self.random.random() < 0.6 else f"{other}~2..{other}"
        if not self.play(tree, "cherry-pick", "--allow-empty", "--keep-redundant-commits", what):
            self.abort = (tree, "cherry-pick", "--abort")
        return True

    def stash_push(self, tree):
        if not self.is_dirty(tree):
            self.prepare(tree)
        flags = ["-u"] if self.random.random() < 0.5 else []
        return self.play(tree, "stash", "push", "-q", *flags) or True

    def stash_pop(self, tree):
        if not self.repository.git(tree.root, "stash", "list")[1]:
            return False
        if not self.play(tree, "stash", "pop", "-q") and self.repository.git(tree.root, "ls-files", "-u")[1]:
            self.abort = (tree, "reset", "-q", "--hard")
            self.repository.git(tree.root, "stash", "drop", "-q")
        return True

    def reset(self, tree):
        mode = self.random.choice(["--hard", "--hard", "--mixed", "--soft"])
        earlier = sorted(self.repository.commits_of(tree.name))
        turn = self.random.random()
        if self.args.repository or turn < 0.4:
            to = self.random.choice(earlier)
        else:
            to = "HEAD~1" if turn < 0.7 else "HEAD" if turn < 0.85 else self.some_branch(tree) or "HEAD"
        return self.play(tree, "reset", "-q", mode, to) or True

    def branch_delete(self, tree):
        branches = [name for name in self.branches() if name != "main"]
        if not branches:
            return False
        name = self.random.choice(branches)
        self.gone.append(name)
        self.published.pop(name, None)
        return self.play(tree, "branch", "-q", "-D", name)

    def keep(self, tree):
        """Runs a git command without visible effect."""
        command = self.random.choice(["gc -q", "gc -q --prune=now", "repack -adq", "pack-refs --all"]).split()
        self.kind = command[0]
        return self.play(tree, *command)

    def add_worktree(self, tree):
        if len(self.linked()) >= 3:
            return False
        root, branches, free = self.free_root(), self.branches(), self.free_names()
        turn = self.random.random()
        if turn < 0.4 and branches:
            what = [str(root), self.random.choice(branches)]
        elif turn < 0.8 and free:
            what = ["-b", self.random.choice(free), str(root)]
        else:
            what = ["--detach", str(root)]
        is_announced = self.random.random() < 0.5
        if not self.play(tree, "worktree", "add", "-q", *what):
            return False
        added = self.repository.trees[root] = Tree(root)
        self.repository.emptied(root, self.repository.head(added)[0])
        if is_announced:
            self.call("index_repo", {"workspace": str(root)})
        self.aside = [added]
        return True

    def remove_worktree(self, tree):
        if not self.linked():
            return False
        root = self.random.choice(self.linked())
        removed = self.repository.trees[root]
        self.repository.emptied(root, removed.name)
        if self.play(tree, "worktree", "remove", "--force", str(root)):
            del self.repository.trees[root]
            arguments = {"name": self.names[-1], "workspace": str(root)}
            failed, answer = self.call("locate_symbol", arguments)
            if not failed or answer["error"]["code"] not in ("workspace_not_registered", "project_not_found"):
                self.blame("error", "a work tree that is gone", removed, "locate_symbol", arguments, answer, 0)
        return True

    def move_worktrees(self, tree):
        """Swaps two linked worktrees, or moves one."""
        linked, between = self.linked(), self.folder / "between"
        if not linked:
            return False
        self.random.shuffle(linked)
        if len(linked) > 1:
            moves = [(linked[0], between), (linked[1], linked[0]), (between, linked[1])]
            new = {linked[0]: linked[1], linked[1]: linked[0]}
        else:
            moves = [(linked[0], self.free_root())]
            new = dict(moves)
        for old, to in moves:
            self.repository.sure(self.repository.root, "worktree", "move", str(old), str(to))
        self.done = "; ".join(f"git worktree move {old.name} {to.name}" for old, to in moves)
        before = {root: self.repository.trees.pop(root) for root in new}
        for root, to in new.items():
            name = before[root].name
            moved = self.repository.trees[to] = Tree(to)
            moved.log_at = before[root].log_at
            moved.was_fresh = to in before and before[to].was_fresh
            self.repository.emptied(root, name)
            self.repository.emptied(to, name)
            self.aside.append(moved)
        return True

    # Files without git

    def files(self, tree):
        return sorted(tree.state if tree.state else self.repository.look(tree))

    def edit(self, tree):
        files = sorted(file[0] for file in tree.state.items() if not self.repository.text(*file).rough)
        if not files:
            return self.create(tree)
        for path in self.random.sample(files, min(len(files), self.random.choice([1, 1, 1, 2, 3]))):
            self.write(tree, path, self.changed(path, (tree.root / path).read_text()))
            self.done = f"edited {path}"
        return True

    def create(self, tree):
        folders = [folder for root, folder in self.empty_folders if root == tree.root and (root / folder).is_dir()]
        path = self.new_path()
        if folders and self.random.random() < 0.5:
            path = os.path.join(self.random.choice(folders), os.path.basename(path))
        self.done = f"created {path}"
        self.write(tree, path, self.module(path))
        return True

    def make_folder(self, tree):
        """Creates a folder, and a file in it a while later."""
        self.repository.counter += 1
        folder = os.path.join(self.repository.inside, f"later_{self.repository.counter}")
        (tree.root / folder).mkdir(parents=True)
        self.empty_folders.append((tree.root, folder))
        self.done = f"made {folder}"
        return True

    def delete(self, tree):
        files = self.files(tree)
        if len(files) < 16:
            return self.create(tree)
        path = self.random.choice(files)
        (tree.root / path).unlink()
        self.done = f"deleted {path}"
        return True

    def rename(self, tree):
        files = self.files(tree)
        if not files:
            return False
        old = self.random.choice(files)
        new = os.path.splitext(self.new_path())[0] + os.path.splitext(old)[1]
        (tree.root / new).parent.mkdir(parents=True, exist_ok=True)
        os.rename(tree.root / old, tree.root / new)
        self.done = f"renamed {old} to {new}"
        return True

    def index_ref(self, tree):
        name = self.some_branch(tree)
        self.done = f"index_repo {name}"
        if name:
            self.call("index_repo", {"ref": name})
        return bool(name)

    SMALL = {
        "checkout": 22, "checkout_new": 6, "detach": 5, "tag": 1, "commit": 10, "amend": 4, "rebase": 4, "merge": 4,
        "cherry_pick": 3, "stash_push": 4, "stash_pop": 4, "reset": 6, "branch_delete": 3, "keep": 3, "add_worktree": 3,
        "remove_worktree": 2, "move_worktrees": 2, "edit": 12, "create": 4, "make_folder": 2, "delete": 3, "rename": 3,
        "index_ref": 2,
    }
    LARGE = {
        "checkout": 50, "detach": 6, "commit": 10, "amend": 4, "stash_push": 4, "stash_pop": 4, "reset": 4, "edit": 12,
        "create": 4, "make_folder": 2, "delete": 2, "rename": 2,
    }

    def operate(self):
        """Runs one operation, and returns its work tree."""
        weights = self.LARGE if self.args.repository else self.SMALL
        self.aside, before = [], time.monotonic()
        if self.abort:
            tree, *args = self.abort
            self.abort, self.kind = None, f"{args[0]} {args[-1]}"
            self.play(tree, *args)
            return tree, before
        while True:
            roots = sorted(self.repository.trees)
            root = self.repository.root if len(roots) == 1 or self.random.random() < 0.65 else self.random.choice(roots)
            tree, before = self.repository.trees[root], time.monotonic()
            self.kind = self.random.choices(list(weights), list(weights.values()))[0]
            if len(tree.state) > 44 and self.kind in ("create", "edit"):
                self.kind = "delete"
            if getattr(self, self.kind)(tree):
                return self.repository.trees.get(root), before

    # Questions

    def call(self, tool, arguments):
        number = self.server.send("tools/call", {"name": tool, "arguments": arguments})
        return self.server.answer(number)[1:]

    def names_in(self, state):
        return {name for path, blob in state.items() for name in self.repository.text(path, blob).definitions}

    def choose(self, tree, before):
        """Returns a query, usually about what the last operation changed."""
        repository, draw = self.repository, self.random
        old, new = self.names_in(before), self.names_in(tree.state)
        turn = draw.random()
        pool = old ^ new if turn < 0.6 else new if turn < 0.75 else set(self.names[-40:])
        if turn > 0.9 and repository.tips:
            tip = repository.tips[draw.choice(sorted(repository.tips))]
            pool = self.names_in(repository.committed(tip)) - new
        name = draw.choice(sorted(pool or new or set(self.names)))
        paths = sorted(path for path in before.keys() | tree.state.keys() if before.get(path) != tree.state.get(path))
        path = draw.choice(paths or sorted(tree.state) or ["none.py"])
        policy = draw.choices(["balanced", "strict", "best_effort"], [70, 12, 18])[0]
        tool = draw.choices(["locate", "search", "literal", "outline", "references", "diff"], [40, 12, 12, 16, 14, 6])[0]
        arguments = {
            "locate": {"name": name}, "search": {"query": name}, "literal": {"query": name, "mode": "literal"},
            "outline": {"path": path}, "references": {"symbol_name": name},
            "diff": {"head_ref": "@worktree", "base_ref": tree.name if draw.random() < 0.5 else "main", "limit": 200},
        }[tool]
        tool = {
            "locate": "locate_symbol", "search": "search_code", "literal": "search_code", "outline": "get_file_outline",
            "references": "find_references", "diff": "diff_context",
        }[tool]
        if tool in ("locate_symbol", "search_code"):
            arguments["freshness_policy"] = policy
        else:
            policy = "balanced"
        if tool != "diff_context" and draw.random() < 0.12:
            known = sorted(repository.tips) + self.gone[-2:] + [repository.tips["main"]]
            arguments["ref"] = draw.choice(known)
        if tree.root != repository.root:
            arguments["workspace"] = str(tree.root)
        return tool, policy, arguments

    def ask(self, tree, tool, policy, arguments):
        """Sends a query, records states while the server works, and checks the answer. Returns seconds and the answer."""
        sent = time.monotonic()
        number = self.server.send("tools/call", {"name": tool, "arguments": arguments})
        if tree.asked is None and policy == "balanced":
            tree.asked = sent
        self.repository.catch_up()
        moment, failed, answer = self.server.answer(number)
        took = moment - sent
        self.longest, self.slow = max(self.longest, took), self.slow + (took > SLOW)
        outcome = answer["error"]["code"] if failed else answer["metadata"]["freshness_status"]
        if not failed and answer["metadata"]["indexing_status"] != "ready":
            outcome = answer["metadata"]["indexing_status"]
        label = "explicit ref" if "ref" in arguments else policy
        self.questions[tool, label, outcome] += 1
        self.outcomes[self.kind, outcome] += 1
        verdict = self.judge(tree, tool, policy, arguments, sent, took, failed, answer)
        if verdict is None:
            self.held += 1
        else:
            self.blame(*verdict, tree, tool, arguments, answer, took)
        return took, failed, answer

    def blame(self, kind, why, tree, tool, arguments, answer, took):
        self.found[kind] += 1
        since = time.monotonic() - took - tree.moments[-1][1]
        self.violations.append(
            f"{kind}: {why}\n  operation {self.at} of seed {self.args.seed}: {self.done} ({self.kind}, in {tree.root.name}, "
            f"HEAD {tree.name} {tree.commit[:10]}), {since * 1000:.0f} ms before\n"
            f"  {tool} {json.dumps(arguments)}, answered in {took * 1000:.0f} ms\n  {shortened(answer)}"
        )

    def judge(self, tree, tool, policy, arguments, sent, took, failed, answer):
        """Returns None, or the kind of fault and the reason."""
        repository = self.repository
        metadata = answer.get("metadata") or {}
        explicit = arguments.get("ref") not in (None, tree.name)
        name = arguments["ref"] if explicit else tree.name
        code = answer["error"]["code"] if failed else None
        if failed and code not in ("symbol_not_found", "file_not_found"):
            return self.refusal(tree, policy, arguments, explicit, name, sent, took, answer["error"])
        if metadata.get("indexing_status") in ("not_indexed", "indexing"):
            return self.unindexed(tree, sent, answer)
        if metadata.get("ref") != name:
            return "wrong ref", f"{metadata.get('ref')} in place of {name}"
        fresh = metadata.get("freshness_status") == "fresh"
        if policy == "strict" and not fresh and not failed:
            return "error", f"strict, and {metadata.get('freshness_status')}"
        said = {} if failed else answer
        states, passed = repository.allowed(tree, name, explicit)
        wrong = Judge(repository, states).wrong(tool, arguments, said)
        if wrong and passed and not Judge(repository, states + passed).wrong(tool, arguments, said):
            self.passed += 1
            wrong = None
        if wrong:
            whose = "" if metadata.get("indexed_commit") in repository.commits_of(name) else ", nor that commit"
            return "wrong branch", f"under {name}, {metadata.get('freshness_status')}, which never had this{whose}: {wrong}"
        git = repository.tips.get(name, name)
        if explicit and not is_commit(git):
            return ("falsely fresh", f"{name} is gone") if fresh else None
        now = [Versions(repository.committed(git))] if explicit else repository.now(tree, sent, self.watched)
        wrong = Judge(repository, now).wrong(tool, arguments, said)
        indexed = metadata.get("indexed_commit")
        if indexed and indexed not in repository.commits_of(name):
            kind, what = ("wrong branch", wrong) if wrong else ("wrong commit", "no difference here")
            return kind, f"under {name}, {metadata.get('freshness_status')}, which never was at {indexed}: {what}"
        if not fresh:
            tree.behind = tree.behind if explicit else tree.name
            return None
        if wrong:
            age = (sent - tree.moments[-1][1]) * 1000
            return "falsely fresh", f"{age:.0f} ms after the last change: {wrong}"
        if indexed and indexed != (git if explicit else tree.commit):
            return "falsely fresh", f"{indexed} is indexed"
        wrong = tool == "diff_context" and not failed and self.review(tree, arguments, answer, now)
        if wrong:
            return "falsely fresh", wrong
        # Fresh after it was not, or by that name alone: this name was synced.
        if explicit or tree.behind == tree.name:
            self.published[name] = self.at
        if not explicit and tool != "diff_context" and (not self.watched or sent - tree.moments[-1][1] > GRACE):
            repository.rest(tree, sent)
        tree.was_fresh = tree.was_fresh or not explicit
        return None

    def review(self, tree, arguments, answer, now):
        """Returns what is missing in a list of changes that is marked fresh."""
        base = self.repository.merge_base(arguments["base_ref"], tree.commit)
        if answer["merge_base_commit"] != base:
            return f"the merge base is {base}"
        texts = [self.repository.text(*file) for file in tree.state.items()]
        if len(now) > 1 or answer["total_changes"] > len(answer["changes"]) or any(text.rough for text in texts):
            return None
        old, new = self.names_in(self.repository.committed(base)), self.names_in(tree.state)
        for side, names in (("before", old - new), ("after", new - old)):
            missing = names - {change["symbol"] for change in answer["changes"] if change[side]}
            if missing:
                return f"{min(missing)} is not in the list"
        return None

    def refusal(self, tree, policy, arguments, explicit, name, sent, took, error):
        code, data = error.get("code"), error.get("data") or {}
        unborn = not tree.was_fresh and tree.root != self.repository.root
        if code == "index_stale" and not explicit:
            if data.get("current_head") != tree.commit:
                return "wrong ref", f"index_stale with {data.get('current_head')} as HEAD, in place of {tree.commit}"
            if not data.get("last_indexed_commit") and not unborn:
                return "error", "index_stale without the commit that is indexed"
            tree.behind = tree.name
            if policy == "strict":
                is_rested = tree.rested > tree.moments[-1][1] + GRACE
                return ("error", "strict refuses what was fresh before, without a change") if is_rested else None
            if self.is_published(name):
                return "refused", f"{policy}, though {name} is published"
            if policy == "balanced" and took < WAITED:
                return "refused", "balanced, without waiting for the sync"
            return None
        if code == "index_stale" and policy == "strict":
            return None
        if code == "ref_not_indexed" and (explicit or "base_ref" in arguments):
            asked = arguments.get("ref") or arguments["base_ref"]
            if is_commit(asked) and not self.args.repository:
                return "refused", "a commit is brought in when it is asked for"
            return ("refused", f"{asked} is published") if self.is_published(asked) else None
        if code == "merge_base_failed":
            bases = [self.repository.merge_base(arguments["base_ref"], commit) for commit in self.repository.commits_of(name)]
            return None if "" in bases else ("error", "there is a merge base")
        if code in ("index_not_ready", "no_edges_available") and unborn:
            return self.unindexed(tree, sent, {})
        return "error", f"{code}: {error.get('message')}"

    def unindexed(self, tree, sent, answer):
        """Accepts an empty answer for a work tree without published data, for a while."""
        if tree.was_fresh or tree.root == self.repository.root:
            return "error", "not indexed, though it was"
        if answer.get("results") or (answer.get("metadata") or {}).get("freshness_status") == "fresh":
            return "falsely fresh", "nothing is indexed"
        if tree.asked and sent - tree.asked > self.rest_timeout and not tree.blamed:
            tree.blamed = True
            return "never indexed", f"asked for {sent - tree.asked:.0f} s"
        return None

    def rest(self, tree):
        """Repeats queries until the server is fresh; returns whether it became so."""
        names = sorted(self.names_in(tree.state))
        arguments = {"name": names[0] if names else "item_000000"}
        if tree.root != self.repository.root:
            arguments["workspace"] = str(tree.root)
        began, pause = time.monotonic(), 0.02
        while time.monotonic() - began < self.rest_timeout:
            _, failed, answer = self.ask(tree, "locate_symbol", "balanced", arguments)
            metadata = answer.get("metadata") or {}
            if failed and answer["error"]["code"] != "index_stale":
                return False
            if metadata.get("freshness_status") == "fresh":
                return True
            if tree.blamed and metadata.get("indexing_status") == "not_indexed":
                self.call("index_repo", {"workspace": str(tree.root)})
            time.sleep(pause)
            pause = min(pause * 1.5, 0.25)
        if not tree.blamed:
            tree.blamed = metadata.get("indexing_status") == "not_indexed"
            kind = "never indexed" if tree.blamed else "never fresh"
            self.blame(kind, f"asked for {self.rest_timeout} s", tree, "locate_symbol", arguments, answer, 0)
        return False

    def step(self):
        draw, repository = self.random, self.repository
        plan = [draw.random() for _ in range(8)]
        if plan[0] < 0.25 and not self.abort:
            self.rest(repository.trees[repository.root])
        states = {root: (tree.name, tree.state) for root, tree in repository.trees.items()}
        repository.clock += 60
        tree, began = self.operate()
        self.operations[self.kind] += 1
        for other in repository.trees.values():
            if other is not tree and other.name is None:
                repository.note(other, began)
        if tree is None:
            tree = repository.trees[repository.root]
        repository.note(tree, began)
        name, before = states.get(tree.root, (None, {}))
        asked = self.aside or [tree]
        for tree in asked:
            self.question(tree, before if not self.aside else {}, name, plan)
        repository.catch_up()

    def question(self, tree, before, name, plan):
        draw = self.random
        chosen = self.choose(tree, before)
        moved = tree.name != name and tree.state != before and not self.aside
        measured = moved and plan[1] < 0.6 and not self.abort
        if measured:
            names = sorted(self.names_in(before) ^ self.names_in(tree.state) or self.names_in(tree.state))
            arguments = {"name": draw.choice(names), "freshness_policy": "balanced"}
            if tree.root != self.repository.root:
                arguments["workspace"] = str(tree.root)
            chosen = ("locate_symbol", "balanced", arguments)
        if plan[2] < 0.15:
            # Long enough after the change that a watch must have seen it, without queries meanwhile.
            self.repository.catch_up()
            time.sleep(0.26 + plan[3] * 0.1 if self.watched else plan[3] * 0.05)
        took, _, _ = self.ask(tree, *chosen)
        if measured and self.rest(tree):
            again, _, _ = self.ask(tree, *chosen)
            self.waits.append(took - again)
        for more in plan[4:6]:
            if more < 0.4:
                time.sleep(more * 0.1)
                self.ask(tree, *self.choose(tree, before))
        if plan[6] < 0.15 and not self.abort:
            self.rest(tree)
            self.ask(tree, *self.choose(tree, before))

    def run(self):
        self.begin()
        began = time.monotonic()
        try:
            for self.at in range(1, self.args.operations + 1):
                self.step()
                if self.args.verbose:
                    print(self.at, self.kind, self.done, file=sys.stderr)
        except (Silent, BrokenPipeError) as error:
            self.found["error"] += 1
            self.violations.append(f"error: no answer after operation {self.at}, {self.done}: {error!r}")
        finally:
            self.seconds = time.monotonic() - began
            code = self.server.close()
        if code != 0:
            self.found["error"] += 1
            self.violations.append(f"error: the server ended with {code}")

    # The report

    def report(self):
        watch = "with a watch" if self.watched else "without a watch"
        print(f"seed {self.args.seed}: {self.at} operations in {self.seconds:.0f} s, {watch}")
        for name, count in sorted(self.operations.items()):
            outcomes = {outcome: n for (kind, outcome), n in sorted(self.outcomes.items()) if kind == name}
            refused = f", {self.refused[name]} refused by git" if self.refused[name] else ""
            print(f"  {name.replace('_', ' '):<22}{count:>5}{refused}; asked after it: {listed(outcomes)}")
        print("questions")
        for tool, label in sorted({key[:2] for key in self.questions}):
            outcomes = {key[2]: n for key, n in sorted(self.questions.items()) if key[:2] == (tool, label)}
            print(f"  {tool:<18}{label:<14}{sum(outcomes.values()):>6}: {listed(outcomes)}")
        print(f"right only as intermediate states: {self.passed}")
        if self.waits:
            waits = sorted(self.waits)
            half, most = (waits[min(len(waits) - 1, int(len(waits) * part))] * 1000 for part in (0.5, 0.95))
            print(f"extra wait of the first answer after another branch: p50 {half:.1f} ms, p95 {most:.1f} ms, of {len(waits)}")
        print(f"longest answer: {self.longest * 1000:.0f} ms; {self.slow} over {SLOW} s")
        for violation in self.violations[: self.args.show]:
            print(violation)
        if len(self.violations) > self.args.show:
            print(f"and {len(self.violations) - self.args.show} more")
        print(", ".join(f"{kind} {self.found[kind]}" for kind in KINDS))
        print(f"{self.held} passed, {sum(self.found.values())} failed")


def listed(counts):
    return ", ".join(f"{count} {what}" for what, count in counts.items())


def shortened(answer):
    """Returns an answer without the fields that do not matter for a fault."""
    answer = {**answer}
    for key in ("results", "references", "changes", "symbols"):
        if isinstance(answer.get(key), list):
            kept = ("path", "name", "symbol", "line_start")
            answer[key] = [{part: item[part] for part in kept if part in item} for item in answer[key][:4]]
    for key in ("suggested_next_actions", "file_changes"):
        answer.pop(key, None)
    return json.dumps(answer)[:900]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--operations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--no-watch", action="store_true")
    parser.add_argument("--repository", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--show", type=int, default=20, help="the maximum number of findings to list")
    parser.add_argument("--keep", action="store_true", help="leave the folder where it is")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="checkouts-")).resolve()
    try:
        campaign = Campaign(args, folder)
        campaign.run()
        campaign.report()
    finally:
        if args.keep:
            print(folder, file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    raise SystemExit(bool(campaign.violations))


main()
