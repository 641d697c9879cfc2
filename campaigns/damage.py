"""Corrupts files of the data folder: `python3 damage.py BINARY [--damages 2000] [--seed N] [--jobs 2]`.

A small repository with branches is indexed twice: once with everything in the database, once with everything in its log. Then one file
of the data folder is corrupted at a time: a byte is flipped, a few are flipped, a range is zeroed, or the file is truncated, emptied,
removed, or replaced by an older copy of itself or by a sibling. Queries of every kind are sent by commands or to a server, and `doctor`
is run. Invariants:

- an answer equals that of the intact index; or it is `index_incompatible` with `corrupt_manifest`, exit code 3; or it says that it is
  stale or that nothing is indexed, if the corruption leaves an older state (a truncated log, an older copy);
- nothing panics, nothing is an `internal_error`, and no server ends or stops answering;
- `doctor` finds whatever a query found, and a server's `health_check` is `error` afterwards;
- every tenth time: `index --force` repairs the index, and every answer is right again.

SQLite has no checksums of its pages. If a byte changes that none of our checksums covers (an index entry, the structure of a page), an
answer can lack something without a warning. Such cases are counted separately, and `doctor` has to find them, because SQLite's own check
does. Corruption that changes nothing is harmless.

Prints a table and each finding with its seed, and exits with 1 on a violation. Everything happens in a temporary folder.
`CAMPAIGN=long` runs 2,000 corruptions, the default is 60.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

import ground

REPAIR_EVERY = 10  # Every tenth corruption is repaired.
COMMANDS = [
    ["locate", "run", "--limit", "50"], ["locate", "{kind}"], ["search", "which kind runs and calls"],
    ["search", "{name}"], ["search", "\"fn {name}\""], ["grep", "name_[0-9]+", "--limit", "100"],
    ["grep", "-F", "return"], ["references", "{name}"], ["callers", "{name}"], ["callees", "run"],
    ["outline", "{path}"], ["context", "{name} run"], ["read", "{path}"], ["related", "{name}"],
    ["diff", "main", "feature"], ["locate", "run", "--ref", "feature"], ["status"],
]
TEXT = [".idx", ".term", ".fast", ".fieldnorm", ".pos", ".store", ".del"]
KINDS = ["store.db"] * 8 + ["store.db-wal"] * 2 + ["store.db-shm", "meta.json", "meta.json", ".managed.json", "current", "lock"] + TEXT[:6] * 2


def kind_of(path):
    return next((kind for kind in TEXT if path.name.endswith(kind)), "lock" if path.name.endswith(".lock") else path.name)


def files_below(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


class Sound:
    """A repository and its indexes as they should be, with their answers."""

    def __init__(self, binary, folder, seed):
        self.folder, self.rng, self.binary = folder, random.Random(seed), binary
        self.repository = ground.Repository(folder / "repository", self.rng, files=40)
        self.root = self.repository.root
        program = ground.Program(binary, folder / "older")
        program.must(self.root, "index")
        program.must(self.root, "index", "--ref", "feature")
        shutil.copytree(folder / "older", folder / "logged")
        program = ground.Program(binary, folder / "logged")
        for _ in range(4):
            self.repository.edit(3)
            program.must(self.root, "sync")
        self.repository.commit()
        program.must(self.root, "sync")
        program.must(self.root, "index", "--ref", "release")
        shutil.copytree(folder / "logged", folder / "settled")
        for home in ("settled", "older"):
            settle(folder / home)
        number = next(number for number in range(1, 90) if self.has(f"name_{number}"))
        path = self.rng.choice(self.repository.files())
        self.words = {"name": f"name_{number}", "kind": f"Kind{number}", "path": path}
        self.commands = {}
        for command in COMMANDS:
            code, said, _ = run(program, self.root, self.filled(command))
            self.commands[tuple(command)] = (code, comparable(said))
        self.answers = ask_server(program, self.root, self.words)[0]

    def has(self, name):
        return any(f" {name}(" in pathlib.Path(self.root, path).read_text() for path in self.repository.files())

    def filled(self, command):
        return [ground.filled(word, self.words) for word in command] + ["--json"]


def settle(home):
    """Checkpoints every log into its database."""
    for database in home.rglob("store.db"):
        connection = sqlite3.connect(database)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()


def run(program, root, command):
    """Returns the exit code, the JSON and the standard error of a command."""
    done = subprocess.run(
        [program.binary, *command], cwd=root, env=program.environment(), capture_output=True, text=True,
        timeout=ground.ANSWER_TIMEOUT,
    )
    try:
        return done.returncode, json.loads(done.stdout), done.stderr
    except ValueError:
        return done.returncode, {"no JSON": done.stdout}, done.stderr


def comparable(answer):
    """Returns an answer without the fields about the index, its jobs and its size."""
    of_the_index = {"recent_jobs", "active_job", "index_bytes"}
    return ground.bare({key: value for key, value in answer.items() if key not in of_the_index})


def without_layers(value):
    """Removes `source_layer`: it depends on the published default branch, which is older in an older copy."""
    if isinstance(value, list):
        return [without_layers(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: without_layers(item) for key, item in value.items() if key != "source_layer"}


def asked_out(pipe, tool, arguments):
    """Repeats a call whose answer ran out of time, as on a busy machine, until it is complete."""
    for _ in range(8):
        answer = pipe.call(tool, **arguments)
        if answer.get("metadata", {}).get("result_completeness") != "partial":
            break
    return answer


def ask_server(program, root, words):
    """Returns every tool's answer, bare and whole, and the server's health at the end."""
    pipe = ground.Pipe(program, root, "--no-prewarm", "--no-watch", "--answers", "json", "--tools", "all")
    found, whole = {}, {}
    try:
        for tool, arguments in ground.QUESTIONS + [("diff_context", {"base_ref": "main", "head_ref": "feature"})]:
            arguments = ground.filled(arguments, words)
            key = f"{tool} {json.dumps(arguments, sort_keys=True)}"
            whole[key] = asked_out(pipe, tool, arguments)
            found[key] = ground.bare(whole[key])
        whole["health"] = pipe.call("health_check")
        whole["status"] = pipe.call("index_status")
    finally:
        pipe.close()
    return found, whole


class Damage:
    """One corrupted file in a copy of an intact index."""

    def __init__(self, sound, home, seed):
        rng = self.rng = random.Random(seed)
        self.base = rng.choice(["settled", "settled", "logged"])
        shutil.copytree(sound.folder / self.base, home)
        kind = rng.choice(KINDS)
        there = [path for path in files_below(home) if kind_of(path) == kind]
        there = there or [path for path in files_below(home) if kind_of(path) == "store.db"]
        self.path, self.kind = rng.choice(there), kind_of(rng.choice(there))
        self.how = rng.choice(["flip", "flip", "flip", "flips", "zero", "cut", "empty", "remove", "older", "sibling"])
        older = sound.folder / "older" / self.path.relative_to(home)
        siblings = [path for path in files_below(home) if kind_of(path) == self.kind and path != self.path]
        if self.how == "older" and (not older.is_file() or older.read_bytes() == self.path.read_bytes()):
            self.how = "older text" if self.kind in TEXT or self.kind == "meta.json" else "flip"
        if self.how == "sibling" and not siblings:
            self.how = "flip"
        if self.path.stat().st_size == 0 and self.how not in ("remove", "older", "older text"):
            self.how = "remove"
        self.apply(sound, home, older, siblings)

    def apply(self, sound, home, older, siblings):
        rng, path = self.rng, self.path
        data = bytearray(path.read_bytes())
        if self.how in ("flip", "flips"):
            for _ in range(1 if self.how == "flip" else 8):
                data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        elif self.how == "zero":
            at = rng.randrange(len(data))
            length = min(rng.choice([1, 16, 512, 4096]), len(data) - at)
            data[at:at + length] = bytes(length)
        elif self.how == "cut":
            del data[rng.randrange(len(data)):]
        elif self.how == "empty":
            data.clear()
        elif self.how == "sibling":
            data = bytearray(rng.choice(siblings).read_bytes())
        elif self.how == "older":
            data = bytearray(older.read_bytes())
        elif self.how == "older text":
            text = next(folder for folder in path.parents if folder.name == "text")
            shutil.rmtree(text)
            shutil.copytree(sound.folder / "older" / text.relative_to(home), text)
            return
        if self.how == "remove":
            path.unlink()
        else:
            path.write_bytes(data)
        if self.kind in ("store.db", "store.db-wal"):
            # The shared-memory file belongs to the original log.
            for shared in path.parent.glob("store.db-shm"):
                shared.unlink()

    def __str__(self):
        return f"{self.how} of {self.path.name} ({self.base})"


def is_reported(code, answer):
    """Whether the answer reports the fault: the index is corrupt, or it is gone."""
    error = answer.get("error") or {}
    status = error.get("data", {}).get("schema_status")
    damaged = error.get("code") == "index_incompatible" and status in ("corrupt_manifest", "reindex_required")
    lost = error.get("code") in ("project_not_found", "workspace_not_registered")
    return (damaged or lost) and code in (3, None)


def is_older(answer):
    """Whether the answer says that it may be outdated, or that nothing is published."""
    metadata = answer.get("metadata", {})
    error = (answer.get("error") or {}).get("code")
    return (
        metadata.get("freshness_status") in ("stale", "syncing") or metadata.get("indexing_status") == "not_indexed"
        or error in ("index_not_ready", "ref_not_indexed", "index_stale", "no_edges_available")
    )


class Trial:
    """One corruption and its outcome."""

    def __init__(self, sound, seed, folder):
        self.sound, self.seed, self.folder = sound, seed, folder
        self.home = folder / f"trial-{seed}"
        self.faults, self.reported, self.silent, self.stale, self.asked = [], 0, [], 0, 0

    def play(self):
        try:
            self.damage = Damage(self.sound, self.home, self.seed)
            self.copy = self.folder / f"copy-{self.seed}"
            shutil.copytree(self.home, self.copy)
            self.program = ground.Program(self.sound.binary, self.home)
            self.doctor = self.examine(ground.Program(self.sound.binary, self.copy))
            self.ask_commands() if self.seed % 2 else self.ask_server()
            self.outcome = self.judge()
            if self.seed % REPAIR_EVERY == 0:
                self.repair()
        except Exception as error:
            self.faults.append(f"{type(error).__name__}: {error}")
            self.outcome = "FAULT"
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.rmtree(self.folder / f"copy-{self.seed}", ignore_errors=True)
        return self

    def examine(self, program):
        code, report, stderr = run(program, self.sound.root, ["doctor", "--json"])
        if code not in (0, 1) and not is_reported(code, report):
            self.faults.append(f"doctor ended with {code}: {report} {stderr}")
        return code != 0

    def weigh(self, what, right, code, answer, bare, stderr=""):
        self.asked += 1
        if code == 101 or (code is not None and code < 0) or "internal error" in stderr:
            self.faults.append(f"{what}: panicked, {code}: {stderr.strip()[-300:]}")
        elif (answer.get("error") or {}).get("code") == "internal_error":
            self.faults.append(f"{what}: {answer['error']['message']}")
        elif bare == right or (self.damage.how == "older" and without_layers(bare) == without_layers(right)):
            pass
        elif is_reported(code, answer):
            self.reported += 1
        elif what.startswith("status") and answer.get("schema_status") == "corrupt_manifest":
            self.reported += 1
        elif is_older(answer):
            self.stale += 1
        else:
            self.silent.append(f"{what}: {json.dumps(bare)[:300]} instead of {json.dumps(right)[:300]}")

    def ask_commands(self):
        for command in self.damage.rng.sample(COMMANDS, 6):
            code, answer, stderr = run(self.program, self.sound.root, self.sound.filled(command))
            right_code, right = self.sound.commands[tuple(command)]
            bare = comparable(answer)
            if bare == right and code != right_code:
                self.faults.append(f"{command}: exit code {code}")
            self.weigh(" ".join(command), right, code, answer, bare, stderr)

    def ask_server(self):
        found, whole = ask_server(self.program, self.sound.root, self.sound.words)
        refused = [key for key in found if is_reported(None, whole[key])]
        for key, right in self.sound.answers.items():
            self.weigh(key, right, None, whole[key], found[key])
        keys = list(found)
        after = keys[keys.index(refused[0]):] if refused else []
        # A sync between the queries may have rebuilt the text index.
        if len(refused) < len(after) and whole["health"].get("status") == "error":
            answered = [key for key in after if key not in refused]
            self.faults.append(f"refused {refused[0]} and answered {answered[:3]} after it")
        damaged = [key for key in refused if whole[key]["error"]["code"] == "index_incompatible"]
        # A concurrent sync rebuilds a text index that it cannot open.
        if damaged and len(refused) == len(after) and whole["health"].get("status") not in ("error", "indexing"):
            self.faults.append(f"refused, and its health is {whole['health'].get('status')}")

    def judge(self):
        if self.faults:
            return "FAULT"
        if self.silent:
            if self.damage.kind in ("store.db", "store.db-wal", "store.db-shm") and self.doctor:
                return "only SQLite"
            self.faults += self.silent
            return "FAULT"
        if self.reported and not self.doctor:
            self.faults.append("a query was refused, and doctor finds nothing")
            return "FAULT"
        if self.reported:
            return "reported"
        if self.stale:
            return "older, reported"
        return "found by doctor" if self.doctor else "harmless"

    def repair(self):
        program, root = self.program, self.sound.root
        for args in (["index", "--force"], ["index", "--ref", "feature"], ["index", "--ref", "release"]):
            code, said = program.run(root, *args)
            if code != 0:
                self.faults.append(f"not repaired: {' '.join(args)} ended with {code}: {said[-300:]}")
                return
        code, said = program.run(root, "doctor")
        if code != 0:
            self.faults.append(f"not repaired, according to doctor: {said[-600:]}")
        found = ask_server(program, root, self.sound.words)[0]
        different = ground.differences(found, self.sound.answers)
        self.faults += [f"not repaired: {key}\n    {found.get(key)}\n    {self.sound.answers.get(key)}" for key in different[:2]]


OUTCOMES = ["reported", "older, reported", "found by doctor", "harmless", "only SQLite", "FAULT"]


def table(counts, title):
    print(f"{title:16}" + "".join(f"{outcome:>17}" for outcome in OUTCOMES))
    for key in sorted({key for key, _ in counts}):
        print(f"{key:16}" + "".join(f"{counts[key, outcome]:17}" for outcome in OUTCOMES))
    print()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--damages", type=int, default=2000 if ground.is_long() else 60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    began = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="damage-"))
    sound = Sound(os.path.abspath(asked.binary), folder, asked.seed)
    by_kind, by_way, wrong, questions, repaired = collections.Counter(), collections.Counter(), 0, 0, 0
    seeds = range(asked.seed, asked.seed + asked.damages)
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for at, trial in enumerate(pool.map(lambda seed: Trial(sound, seed, folder).play(), seeds), 1):
            outcome = "FAULT" if trial.faults else trial.outcome
            by_kind[trial.damage.kind, outcome] += 1
            by_way[trial.damage.how, outcome] += 1
            questions, repaired = questions + trial.asked, repaired + (trial.seed % REPAIR_EVERY == 0)
            if trial.faults:
                wrong += 1
                print(f"seed {trial.seed}, {trial.damage}:", *trial.faults, sep="\n  ", flush=True)
            if at % 100 == 0:
                print(f"{at} corruptions, {time.monotonic() - began:.0f} s, {wrong} wrong", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    print()
    table(by_kind, "file")
    table(by_way, "damage")
    print(f"{asked.damages} corruptions, seeds {seeds[0]} to {seeds[-1]}, {questions} queries, {repaired} repaired, "
          f"{time.monotonic() - began:.0f} s, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
