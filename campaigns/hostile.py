"""Hostile input of every kind: `python hostile.py BINARY [--minutes N] [--seed N] [--half NAME] [--step N]`.

Arguments: every parameter of every tool that `tools/list` names, one that no tool declares, and every address of the explorer
get values by length (1 B to 1 MB), depth, repetition and width, wrong types and huge numbers; over a pipe with JSON and with text
answers, over HTTP with and without sessions, and as pages. Connections: slow, half-open, odd, many at once, left or unread.
Repositories: a generator makes small hostile ones (objects, packs, refs, links that are swapped while they are read, pipes, sockets,
devices and sparse files in the tree and in `.git`, settings of git and of ours, ignore files, sources that break parsers, git
folders of somebody else); each is indexed and asked about by a server of its own, and named to servers of another workspace.
What must hold:

- no server ends, panics or starts a process, and no configured program runs;
- every request has an answer, or an error with a code, in 10 s; a repository is indexed in 60 s;
- no server has more than 1 GB resident (see `hostile/server.py` for how that is measured);
- a block of 500 requests whose values never come again leaves no more than 32 MB when it is played a third time;
- no error is longer than 64 KiB, and no text of an address becomes markup;
- nothing is written outside of the data folder, and no answer has a word of a file outside of the work tree;
- `/health` answers at the end.

Each finding is printed once, with a line that plays it again; its material is kept in the folder that is named at the end. What
was found often enough is passed over. Prints the seed, counts, the slowest requests and the peaks of memory, and ends with 1 when
something did not hold. Five minutes; an hour with CAMPAIGN=long. Everything else happens in a temporary folder. Linux only: it
reads /proc.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import ground as ordinary
from hostile import arguments, connections, repositories
from hostile.server import Ground, Report

# The share of the time that each part has; `growth` takes as long as its blocks do.
SHARES = {"growth": 0, "pipe": 0.22, "http": 0.1, "explorer": 0.12, "connections": 0.1, "repositories": 0.46}


def workspace(folder, seed):
    """An ordinary repository with branches, a very long line and many words."""
    repository = ordinary.Repository(folder, random.Random(seed))
    root = pathlib.Path(repository.root)
    (root / "long.txt").write_text("a" * 1_000_000)
    (root / "words.txt").write_text("".join(f"word{at} and word{at * 7}\n" for at in range(20_000)))
    repository.commit("long lines")
    return root


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--minutes", type=float, default=60 if ordinary.is_long() else 5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", choices=SHARES, action="append", help="play this part only; can be given several times")
    parser.add_argument("--step", type=int, help="play this step of the part only")
    parser.add_argument("--features", help="with --step: the features of the repository, with commas between them")
    asked = parser.parse_args()
    parts = asked.half or list(SHARES)
    kept = pathlib.Path(tempfile.gettempdir()) / f"hostile-kept-{asked.seed}"
    report = Report(kept, f"python3 campaigns/hostile.py {asked.binary} --seed {asked.seed}")
    began = time.monotonic()
    folder = tempfile.mkdtemp(prefix="hostile-")
    try:
        play(pathlib.Path(folder), asked, parts, report)
    except KeyboardInterrupt:
        print("interrupted")
    finally:
        subprocess.run(["/bin/rm", "-rf", folder], check=False)
    print(f"\nseed {asked.seed}, {time.monotonic() - began:.0f} s", end="")
    return report.finish()


def play(folder, asked, parts, report):
    seed, only = asked.seed, asked.step
    token = f"{random.Random(f'{seed}/token').getrandbits(96):024x}"
    ground = Ground(folder / "ground", asked.binary, token)
    data, root = folder / "data", workspace(folder / "work", seed)
    program = ordinary.Program(asked.binary, data)
    program.must(root, "index")
    program.must(root, "index", "--ref", "feature")
    ground.before = ground.listing()
    total = sum(SHARES[part] for part in parts)
    for part in parts:
        seconds = asked.minutes * 60 * SHARES[part] / total if total else 0
        until = time.monotonic() + (seconds if only is None else 3600)
        print(f"{part}, {seconds:.0f} s", flush=True)
        if part == "growth":
            arguments.growth(ground, root, data, report, seed, only)
        elif part == "pipe":
            arguments.over_a_pipe(ground, root, data, report, seed, until, only=only)
        elif part == "http":
            arguments.over_http(ground, root, data, report, seed, until, only=only)
        elif part == "explorer":
            arguments.of_the_explorer(ground, root, data, report, seed, until, only=only)
        elif part == "connections":
            connections.connections(ground, root, data, report, seed, until, only)
        else:
            extensions = repositories.extensions_of(ground, data)
            limited = asked.features.split(",") if asked.features else None
            repositories.repositories(ground, root, report, seed, until, extensions, only=only, limited=limited)


if __name__ == "__main__":
    sys.exit(main())
