"""Runs two servers for a long time: `python soak.py BINARY [--seconds N] [--repositories 20] [--seed N]`.

Twenty repositories are edited, committed to and switched between branches, while two servers that share one data folder are queried
about them in turn: by name, by words, by text, for references, outlines, other branches and changes. Each server may have ten of the
repositories open. Invariants:

- every query is answered, without errors except for a name, a file or a ref that does not exist;
- memory, open files, watched folders and database logs level off: in the last third of the time none of them exceeds the middle third by
  more than a fifth plus a margin;
- no log ever exceeds 24 MiB, and none exceeds 8 MiB at the end;
- at the end `doctor` finds no problem with any index.

Prints a row per sample, and exits with 1 on a violation. Runs for a minute, or for an hour with CAMPAIGN=long. Everything happens in a
temporary folder. Linux only: it reads /proc.
"""

import argparse
import pathlib
import random
import sys
import tempfile
import time

from ground import Pipe, Program, Repository, Silent, code_of, is_long

MIB = 1 << 20
# Allowed errors: the subject of a query may not exist.
ALLOWED = {"symbol_not_found", "file_not_found", "ref_not_indexed", "ambiguous_symbol", "no_edges_available", "result_not_found",
           "index_not_ready", "index_stale", "merge_base_failed", "project_not_found", "workspace_limit_exceeded",
           "workspace_not_registered", "index_in_progress", "sync_in_progress"}
# The margin of each measure above the middle of the run, in addition to a fifth of it.
SLACK = {"memory": 48 * MIB, "files": 24, "watches": 60, "logs": 12 * MIB}


class Soak:
    def __init__(self, args, folder):
        self.args, self.random = args, random.Random(args.seed)
        root = folder / "repositories"
        self.repositories = [Repository(root / f"r{at}", self.random, files=24) for at in range(args.repositories)]
        self.program = Program(args.binary, folder / "data")
        self.program.must(self.repositories[0].root, "index")
        flags = ["--auto-workspace", "--allowed-root", str(root), "--answers", "json", "--tools", "all"]
        self.servers = [Pipe(self.program, self.repositories[at].root, *flags) for at in range(2)]
        self.samples, self.faults, self.asked, self.changed, self.highest_log = [], [], 0, 0, 0

    def change(self, repository):
        self.changed += 1
        way = self.random.random()
        if way < 0.7:
            repository.edit(self.random.randrange(1, 4))
        elif way < 0.85:
            repository.commit()
        else:
            repository.commit()
            repository.git("checkout", "-q", self.random.choice(repository.branches()))

    def ask(self, server, repository):
        self.asked += 1
        name = f"name_{self.random.randrange(1, repository.names + 1)}"
        files = repository.files() or ["src/none.py"]
        tool, arguments = self.random.choice([
            ("locate_symbol", {"name": name}),
            ("search_code", {"query": f"{name} run"}),
            ("search_code", {"query": "which kind runs and calls"}),
            ("grep_code", {"pattern": "name_[0-9]+"}),
            ("grep_code", {"pattern": "."}),
            ("find_references", {"symbol_name": name}),
            ("get_call_graph", {"symbol_name": name, "depth": 2}),
            ("get_file_outline", {"path": self.random.choice(files)}),
            ("locate_symbol", {"name": "run", "ref": self.random.choice(repository.branches())}),
            ("diff_context", {"base_ref": "main", "head_ref": "@worktree"}),
            ("get_code_context", {"query": f"{name} run", "max_tokens": 600}),
            ("health_check", {}),
        ])
        if tool != "health_check":
            arguments["workspace"] = repository.root
        answer = server.call(tool, **arguments)
        if code_of(answer) not in (None, *ALLOWED):
            self.faults.append(f"{tool} {arguments}: {answer['error']}")

    def logs(self):
        sizes = []
        for log in pathlib.Path(self.program.home).glob("projects/*/epoch-*/store.db-wal"):
            try:
                sizes.append(log.stat().st_size)
            except OSError:
                pass
        return sizes

    def sample(self, since):
        logs = self.logs()
        self.highest_log = max([self.highest_log, *logs])
        row = {"at": since, "memory": 0, "files": 0, "watches": 0, "logs": sum(logs)}
        for server in self.servers:
            process = pathlib.Path(f"/proc/{server.process.pid}")
            status = (process / "status").read_text()
            row["memory"] += int(status.split("RssAnon:")[1].split()[0]) << 10
            row["files"] += len(list((process / "fd").iterdir()))
            for file in (process / "fdinfo").iterdir():
                try:
                    row["watches"] += file.read_text().count("inotify wd:")
                except OSError:
                    pass
        self.samples.append(row)
        print(f"{since:7.0f} s  memory {row['memory'] / MIB:7.1f} MiB  logs {row['logs'] / MIB:6.1f} MiB  files {row['files']:4}  "
              f"watches {row['watches']:4}  changes {self.changed:6}  questions {self.asked:6}", flush=True)

    def run(self):
        began, last = time.monotonic(), -1e9
        every = max(2.0, self.args.seconds / 60)
        while (since := time.monotonic() - began) < self.args.seconds:
            if since - last >= every:
                self.sample(since)
                last = since
            # One repository is edited for a while and others are queried, as by a user with several open.
            repository = self.random.choice(self.repositories)
            for _ in range(self.random.randrange(1, 6)):
                self.change(repository)
                for server in self.servers:
                    self.ask(server, repository if self.random.random() < 0.7 else self.random.choice(self.repositories))
        self.sample(time.monotonic() - began)

    def judge(self):
        third = len(self.samples) // 3
        for measure, slack in SLACK.items():
            middle = max(row[measure] for row in self.samples[third:2 * third] or self.samples[:1])
            end = max(row[measure] for row in self.samples[2 * third:])
            if third >= 3 and end > middle * 1.2 + slack:
                self.faults.append(f"{measure} goes on growing: {middle} in the middle, {end} at the end")
        if self.highest_log > 24 * MIB:
            self.faults.append(f"a log had {self.highest_log / MIB:.1f} MiB")
        for server in self.servers:
            if server.close() != 0:
                self.faults.append("a server did not end by itself")
        if max(self.logs()) > 8 * MIB:
            self.faults.append(f"a log has {max(self.logs()) / MIB:.1f} MiB at the end")
        for repository in self.repositories:
            self.program.run(repository.root, "sync")
            code, said = self.program.run(repository.root, "doctor")
            bad = [line for line in said.splitlines() if line.startswith("FAIL") and "free disk" not in line]
            if bad:
                self.faults.append(f"{repository.root}: {bad}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=3600 if is_long() else 60)
    parser.add_argument("--repositories", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print(f"seed {args.seed}, {args.seconds:.0f} s, {args.repositories} repositories, two servers")
    with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as folder:
        soak = Soak(args, pathlib.Path(folder).resolve())
        try:
            soak.run()
        except Silent as silent:
            soak.faults.append(f"a server does not answer: {silent}")
        soak.judge()
    print(f"{soak.changed} changes, {soak.asked} questions, the longest log {soak.highest_log / MIB:.1f} MiB")
    for fault in soak.faults[:20]:
        print(f"FAULT {fault}")
    print(f"{len(soak.faults)} faults")
    sys.exit(1 if soak.faults else 0)


if __name__ == "__main__":
    main()
