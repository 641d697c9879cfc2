"""Kills processes at random times and points: `python kills.py BINARY [--kills N] [--seed N]`. The binary is a debug build.

A small repository with branches and a linked worktree is edited, committed to and checked out, while commands and servers index, sync,
prune, export and import it. Each of them is killed: by SIGKILL at a random time, or by itself right before a random durable write
(`CODECOMPASS_KILL_AT_WRITE`, in debug builds only). Meanwhile another server, which is not killed, watches the same project and is
queried all the time, and another process indexes the linked worktree. Invariants:

- a reader gets an answer, or an error that says that another process is writing or that something is not (or no longer) indexed; never
  a corrupt index;
- after each round and one more sync, `doctor` reports no problem, and every tool answers for the work tree and for every branch as a
  fresh index does.

Prints the seed of each round with a violation, and exits with 1. 60 kills; 2,000 with CAMPAIGN=long. Everything happens in a temporary
folder.
"""

import argparse
import collections
import contextlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import ground
from ground import Pipe, Program, Repository, Silent, code_of

KILLS_PER_ROUND = 40
# Error codes that are allowed while other processes write, are killed and prune.
ALLOWED = {
    None, "index_in_progress", "sync_in_progress", "index_stale", "index_not_ready", "ref_not_indexed", "overlay_not_ready",
    "symbol_not_found", "file_not_found", "project_not_found",
}
WRITES = [4, 8, 16, 40]  # The number of durable writes of the commands, from the shortest to the longest.


class Reader(threading.Thread):
    """A server that is not killed and is queried all the time."""

    def __init__(self, program, root, refs):
        super().__init__(daemon=True)
        self.program, self.root, self.refs = program, root, refs
        self.faults, self.asked, self.is_over = [], 0, threading.Event()

    def run(self):
        try:
            pipe = Pipe(self.program, self.root, "--no-prewarm", "--tools", "all")
            while not self.is_over.is_set():
                for tool, arguments in (
                    ("locate_symbol", {"name": "run"}), ("grep_code", {"pattern": "name_", "limit": 5}),
                    ("search_code", {"query": "run", "ref": self.refs[self.asked % len(self.refs)]}), ("list_refs", {}),
                ):
                    self.asked += 1
                    answer = pipe.call(tool, **arguments)
                    if code_of(answer) not in ALLOWED:
                        self.faults.append(f"{tool} {arguments}: {answer['error']}")
                self.is_over.wait(0.05)
            pipe.close()
        except Silent as silent:
            self.faults.append(f"the reader's server: {silent}")


class Round:
    """One round of kills, and the check afterwards."""

    def __init__(self, binary, folder, seed):
        self.seed, self.rng = seed, random.Random(seed)
        self.folder = pathlib.Path(folder)
        self.program = Program(binary, self.folder / "home")
        self.repository = Repository(self.folder / "work", self.rng)
        self.root = self.repository.root
        self.linked = str(self.folder / "linked")
        self.repository.git("worktree", "add", "-q", "--detach", self.linked, "feature")
        self.archive = str(self.folder / "state.tar.zst")
        self.done = collections.Counter()
        self.program.must(self.root, "index")
        self.program.must(self.root, "index", "--ref", "feature")
        self.program.must(self.root, "state", "export", self.archive)

    def play(self, kills):
        reader = Reader(self.program, self.root, ["main", "feature", "release"])
        reader.start()
        while self.kills() < kills:
            self.change()
            self.rng.choice([self.kill_command, self.kill_command, self.kill_command, self.kill_server])()
        reader.is_over.set()
        reader.join(ground.ANSWER_TIMEOUT)
        self.done["questions meanwhile"] += reader.asked
        return reader.faults[:5] + self.look()

    def kills(self):
        return self.done["killed at a write"] + self.done["killed at a time"]

    def some_write(self):
        return str(self.rng.randrange(1, self.rng.choice(WRITES)))

    def change(self):
        way = self.rng.random()
        if way < 0.5:
            self.repository.edit(self.rng.randrange(1, 4))
        elif way < 0.8:
            self.repository.edit(2)
            self.repository.commit()
        else:
            self.repository.git("add", "-A")
            self.repository.git("commit", "-q", "--allow-empty", "-m", "before")
            self.repository.git("checkout", "-q", self.rng.choice(["main", "release"]))

    def commands(self):
        branch = self.rng.choice(["main", "feature", "release", "HEAD~1"])
        return [
            (self.root, "sync"), (self.root, "index"), (self.root, "index", "--force"), (self.root, "sync", "--ref", branch),
            (self.root, "index", "--ref", branch), (self.linked, "sync"), (self.root, "prune-overlays", "--older-than", "0"),
            (self.root, "state", "import", self.archive), (self.root, "state", "export", "--force", self.archive),
            (self.root, "diff", "main..feature"),
        ]

    def kill_command(self):
        root, *args = self.rng.choice(self.commands())
        self.done[" ".join(args[:2] if args[0] == "state" else args[:1])] += 1
        # Other processes write, too.
        rival = self.program.start(self.rng.choice([self.root, self.linked]), "sync") if self.rng.random() < 0.3 else None
        if self.rng.random() < 0.5:
            self.ended(self.program.start(root, *args, CODECOMPASS_KILL_AT_WRITE=self.some_write()), None)
        else:
            self.ended(self.program.start(root, *args), 10 ** self.rng.uniform(-3, -0.3))
        if rival:
            self.ended(rival, self.rng.uniform(0, 0.3) if self.rng.random() < 0.5 else None)

    def ended(self, process, seconds):
        """Waits for a command to end, and kills it after a number of seconds."""
        try:
            process.communicate(timeout=seconds or ground.ANSWER_TIMEOUT)
            self.done["ended by themselves" if process.returncode >= 0 else "killed at a write"] += 1
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.done["killed at a time"] += 1

    def kill_server(self):
        """A server with a watch and jobs."""
        self.done["server"] += 1
        flags = ["--no-prewarm", "--auto-index"] + (["--no-watch"] if self.rng.random() < 0.3 else [])
        more = {"CODECOMPASS_KILL_AT_WRITE": self.some_write()} if self.rng.random() < 0.5 else {}
        with contextlib.suppress(Silent):
            pipe = Pipe(self.program, self.root, *flags, **more)
            try:
                for _ in range(self.rng.randrange(1, 6)):
                    job = self.rng.choice(["index_repo", "sync_repo"])
                    asked = {"ref": self.rng.choice(["main", "feature", "release"])} if self.rng.random() < 0.6 else {}
                    pipe.send("tools/call", {"name": job, "arguments": asked})
                    self.repository.edit(1)
                    if self.rng.random() < 0.5:
                        pipe.call("locate_symbol", name="run", freshness_policy=self.rng.choice(["strict", "balanced"]))
                    time.sleep(10 ** self.rng.uniform(-3, -0.3))
            finally:
                self.done["killed at a write" if pipe.process.poll() is not None else "killed at a time"] += 1
                pipe.kill()

    def look(self):
        """Returns the violations after the round."""
        faults = []
        branches = [branch for branch in self.repository.branches()]
        for program in (self.program, fresh := Program(self.program.binary, self.folder / "fresh")):
            program.must(self.root, "sync" if program is self.program else "index")
            for branch in branches:
                program.must(self.root, "index", "--ref", branch)
            program.must(self.linked, "sync")
        code, said = self.program.run(self.root, "doctor")
        if code != 0:
            faults.append(f"doctor: {said}")
        files = self.repository.files()
        number = self.rng.randrange(1, self.repository.names + 1)
        words = {"name": f"name_{number}", "kind": f"Kind{number}", "path": self.rng.choice(files)}
        for root in (self.root, self.linked):
            mine, others = (ground.answers(program, root, branches, words) for program in (self.program, fresh))
            self.done["answers compared"] += len(mine)
            faults += [f"{key}\n  here:  {mine.get(key)}\n  fresh: {others.get(key)}" for key in ground.differences(mine, others)[:3]]
        return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=2000 if ground.is_long() else 60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    total, wrong, left, seed = collections.Counter(), 0, asked.kills, asked.seed
    began = time.monotonic()
    while left > 0:
        folder = tempfile.mkdtemp(prefix="kills-")
        kills = min(left, KILLS_PER_ROUND)
        this = None
        try:
            this = Round(asked.binary, folder, seed)
            faults = this.play(kills)
        except Exception as error:
            faults = [f"{type(error).__name__}: {error}"]
        if this:
            total += this.done
            kills = max(this.kills(), 1)
        if faults:
            wrong += 1
            print(f"seed {seed}, {folder}:", *faults, sep="\n  ", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
        left, seed = left - kills, seed + 1
        print(f"to seed {seed - 1}: {asked.kills - left} kills, {time.monotonic() - began:.0f} s, {wrong} rounds wrong", flush=True)
    print(f"seeds {asked.seed} to {seed - 1}: {asked.kills - left} kills in {time.monotonic() - began:.0f} s, {wrong} rounds wrong")
    print(", ".join(f"{name}: {count}" for name, count in sorted(total.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
