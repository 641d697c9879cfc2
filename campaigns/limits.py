"""The limits of a machine: `python limits.py BINARY [SCENARIO…]`.

Each scenario removes a resource (disk space, memory, open files, watches, write permission, the clock, a worker's time) while a
repository is indexed, synced, served and queried. Invariants of all scenarios:

- no panic, no signal, and no answer that reports corruption (`index_incompatible`, `corrupt_manifest`), because there is none;
- queries about published data are answered, or one sentence says why not;
- when the limit is gone, the next sync completes: `doctor` finds nothing, and the newest edit is found.

The docstring of each scenario has its own invariants. A disk, a read-only folder and a limit on watches are created in a separate
namespace (`unshare`); `faketime` sets the clock. A scenario that cannot run on this machine says so and is skipped. Exits with 1 on a
violation. Everything happens in a temporary folder.
"""

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time

from ground import Pipe, Program, Repository, Silent, code_of, is_long

DAMAGE = ("index_incompatible", "corrupt_manifest", "panicked", "damaged")


class Impossible(Exception):
    """A scenario that cannot run on this machine."""


class Ground:
    """An indexed repository, and the program behind a line of shell that removes a resource."""

    def __init__(self, folder, binary, seed):
        self.folder, self.binary = folder, os.path.abspath(binary)
        self.repository = Repository(folder / "repository", random.Random(seed), files=40)
        self.root = self.repository.root
        self.program = Program(self.binary, folder / "data")
        self.faults = []

    def behind(self, shell, name="limited"):
        """The program, started by a shell after some preparation. Its standard error is in `errors`."""
        script = self.folder / name
        script.write_text(f"#!/bin/bash\n{shell}\nexec \"{self.binary}\" \"$@\" 2> >(tee -a \"{self.folder}/errors\" >&2)\n")
        script.chmod(0o755)
        return Program(script, self.program.home)

    def errors(self):
        path = self.folder / "errors"
        return path.read_text() if path.exists() else ""

    def expect(self, holds, what):
        if not holds:
            self.faults.append(what)

    def sane(self, code, said, what):
        """Whether a command ended properly: with an answer, or with an error message."""
        self.expect(code is not None and 0 <= code < 100 and not any(word in said for word in DAMAGE), f"{what}: {code} {said[-600:]}")

    def newest(self):
        """Writes a function with a new name, and returns the name."""
        path = pathlib.Path(self.root) / "src/newest.py"
        self.repository.names += 1
        name = f"newest_{self.repository.names}"
        path.write_text(f"def {name}():\n    return {self.repository.names}\n")
        return name

    def recovered(self, program=None):
        """Checks that everything works once the limit is gone."""
        program, name = program or self.program, self.newest()
        code, said = program.run(self.root, "sync")
        self.expect(code == 0, f"the sync after it ended with {code}: {said[-600:]}")
        code, said = program.run(self.root, "locate", name)
        self.expect(code == 0 and "newest.py" in said, f"the newest edit is not found: {said[-600:]}")
        code, said = program.run(self.root, "doctor")
        bad = [line for line in said.splitlines() if line.startswith("FAIL") and "free disk" not in line]
        self.expect(not bad, f"doctor: {bad}")


def can(*command):
    return subprocess.run(command, capture_output=True).returncode == 0


def in_namespace(ground, script, **more):
    """Runs a script in a namespace where disks can be mounted; its output is checked."""
    if not can("unshare", "--user", "--map-root-user", "--mount", "true"):
        raise Impossible("no name space can be made")
    env = ground.program.environment(PROGRAM=ground.binary, DATA=ground.program.home, FOLDER=str(ground.folder), **more)
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", textwrap.dedent(script)],
        cwd=ground.root, env=env, capture_output=True, text=True, timeout=600,
    )
    if done.returncode == 77:
        raise Impossible("no disk can be mounted")
    return done.stdout + done.stderr


def full_disk(ground):
    """Disks of all sizes from too small to large enough: `index` reports which folder is full, how much is free and how much is
    needed, or it succeeds; it never reports corruption; with enough space, the next sync completes."""
    os.makedirs(ground.program.home, exist_ok=True)
    sizes = range(20, 800, 8) if is_long() else (40, 80, 120, 160, 200, 240, 280, 400)
    outcomes = []
    for size in sizes:
        said = in_namespace(ground, """
            mount -t tmpfs -o size=${SIZE}k none "$DATA" || exit 77
            "$PROGRAM" index; echo "index ended with $?"
            "$PROGRAM" doctor | grep -E "^FAIL|→"
            mount -o remount,size=64m "$DATA"
            "$PROGRAM" sync; echo "sync ended with $?"
            "$PROGRAM" locate run | head -1
            "$PROGRAM" doctor; echo "doctor ended with $?"
        """, SIZE=str(size))
        failed = "index ended with 0" not in said
        outcomes.append(f"{size}k {'full' if failed else 'indexed'}")
        if failed:
            for word in ("There is no space left in", "are free", "are needed", "CODECOMPASS_HOME", "FAIL  free disk"):
                ground.expect(word in said, f"{size} KiB: {word!r} is not said: {said[:1500]}")
        ground.expect("sync ended with 0" in said and "doctor ended with 0" in said, f"{size} KiB did not recover: {said[-1500:]}")
        ground.expect(not any(word in said for word in DAMAGE), f"{size} KiB is called damage: {said[:1500]}")
    print("   ", ", ".join(outcomes))


def full_disk_under_a_server(ground):
    """A server whose disk fills up answers as before and reports it once on standard error; `health_check` is `error` with folder and
    numbers. With space again, the edits are indexed without a request, and `health_check` is `ready`."""
    here = pathlib.Path(__file__).resolve()
    said = in_namespace(ground, """
        mkdir -p "$DATA"; mount -t tmpfs -o size=6m none "$DATA" || exit 77
        "$PROGRAM" index > /dev/null 2>&1 || echo "FAULT not indexed"
        python3 "$HERE" --inside "$PROGRAM" "$FOLDER"
    """, HERE=str(here))
    print(textwrap.indent(said.strip(), "    "))
    ground.expect("FAULT" not in said and "finished" in said, said[-1500:])


def inside_full_disk(binary, folder):
    """The part of the scenario that runs in the namespace with the disk."""
    data, root = folder / "data", str(folder / "repository")
    errors = folder / "server-errors"
    script = folder / "noted"
    script.write_text(f"#!/bin/bash\nexec \"{binary}\" \"$@\" 2>> \"{errors}\"\n")
    script.chmod(0o755)
    program = Program(script, data)
    pipe = Pipe(program, root, "--no-prewarm", "--answers", "json", "--tools", "all")
    pipe.call("locate_symbol", name="run")
    filler = data / "filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
    words = "".join(f"def wide_{at}(word_{at}):\n    return other_{at}\n" for at in range(30000))
    (folder / "repository/src/wide.py").write_text(words[:900_000])

    def until(is_so, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if is_so():
                return True
            time.sleep(0.1)
        return False

    def health():
        return pipe.call("health_check")

    is_reported = until(lambda: "There is no space left in" in str(health()["metadata"].get("warnings")))
    state = health()
    for holds, what in [
        (is_reported and state["status"] == "error", f"health_check does not say it: {state['status']} {state['metadata']}"),
        (pipe.call("locate_symbol", name="run").get("total_candidates", 0) > 0, "what was published is not answered"),
    ]:
        if not holds:
            print(f"FAULT {what}")
    for at in range(3):
        (folder / "repository/src/small.py").write_text(f"def small_{at}():\n    pass\n")
        pipe.call("locate_symbol", name=f"small_{at}")
        time.sleep(0.7)
    count = errors.read_text().count("There is no space left in")
    if count != 1:
        print(f"FAULT said {count} times: {errors.read_text()}")
    filler.unlink()
    (folder / "repository/src/wide.py").unlink()
    (folder / "repository/src/small.py").write_text("def small_again():\n    pass\n")
    if not until(lambda: pipe.call("locate_symbol", name="small_again").get("total_candidates") == 1):
        print("FAULT with room again nothing comes in")
    if not until(lambda: health()["status"] == "ready"):
        print(f"FAULT with room again it is {health()['status']}")
    pipe.close()
    print(f"finished; standard error: {errors.read_text().strip()}")


def address_space(ground):
    """Too little memory: an error or an answer, and nothing is corrupt afterwards."""
    ground.program.must(ground.root, "index")
    outcomes = []
    for mib in (64, 128, 256, 400, 600, 1000, 2000):
        limited = ground.behind(f"ulimit -v {mib << 10}")
        ground.newest()
        codes = []
        for command in (["sync"], ["search", "which kind runs"], ["grep", "."], ["references", "run"]):
            code, said = limited.run(ground.root, *command)
            # A failed allocation ends a program by SIGABRT, which is expected with less memory than it needs to start.
            ground.expect(not any(word in said for word in DAMAGE[:2]), f"{mib} MiB, {command}: {said[-600:]}")
            codes.append(str(code))
        outcomes.append(f"{mib} MiB {'/'.join(codes)}")
    print("   ", ", ".join(outcomes))
    ground.recovered()


def descriptors(ground):
    """Sixty-four open files, and fewer: commands and a server answer, or report what they lack."""
    ground.program.must(ground.root, "index")
    for most in (64, 32, 16, 12):
        limited = ground.behind(f"ulimit -n {most}")
        ground.newest()
        for command in (["sync"], ["search", "which kind runs"], ["grep", "name_"], ["references", "run"], ["doctor"]):
            code, said = limited.run(ground.root, *command)
            ground.sane(code, said, f"{most} files, {command}")
            ground.expect(most < 64 or code in (0, 1), f"{most} files are enough for {command}: {code} {said[-600:]}")
    limited = ground.behind("ulimit -n 64")
    pipe = Pipe(limited, ground.root, "--no-prewarm", "--answers", "json", "--tools", "all")
    for _ in range(5):
        name = ground.newest()
        found = False
        for _ in range(200):
            answer = pipe.call("locate_symbol", name=name)
            ground.expect(code_of(answer) is None, f"a server with 64 files: {answer}")
            found = answer.get("total_candidates") == 1
            if found:
                break
            time.sleep(0.05)
        ground.expect(found, f"a server with 64 files does not bring in {name}")
        for tool, arguments in [("search_code", {"query": "which kind runs"}), ("grep_code", {"pattern": "name_"}),
                                ("find_references", {"symbol_name": "run"}), ("health_check", {})]:
            answer = pipe.call(tool, **arguments)
            ground.expect(code_of(answer) in (None, "ambiguous_symbol"), f"a server with 64 files, {tool}: {answer}")
    ground.expect(pipe.close() == 0, "it does not end by itself")
    ground.recovered()


def watches(ground):
    """Ten watches at most: the server reports once that it cannot watch, gives the reason in `health_check`, and its answers are right."""
    limit = "/proc/sys/user/max_inotify_watches"
    if not can("unshare", "--user", "--map-root-user", "bash", "-c", f"echo 10 > {limit}"):
        raise Impossible("the limit can not be set")
    ground.program.must(ground.root, "index")
    for at in range(30):
        os.makedirs(f"{ground.root}/src/many{at}")
        pathlib.Path(f"{ground.root}/src/many{at}/a.py").write_text(f"def many_{at}():\n    pass\n")
    script = ground.folder / "few"
    script.write_text(
        f"#!/bin/bash\nexec unshare --user --map-root-user bash -c 'echo 10 > {limit}; exec \"$0\" \"$@\" 2>> \"{ground.folder}/errors\"' \"{ground.binary}\" \"$@\"\n"
    )
    script.chmod(0o755)
    pipe = Pipe(Program(script, ground.program.home), ground.root, "--no-prewarm", "--answers", "json", "--tools", "all")
    for _ in range(5):
        name = ground.newest()
        answers = [pipe.call("locate_symbol", name=name)]
        ground.expect(answers[0].get("total_candidates") == 1 or answers[0]["metadata"]["freshness_status"] != "fresh", f"falsely fresh: {answers[0]}")
        for _ in range(200):
            if answers[-1].get("total_candidates") == 1:
                break
            time.sleep(0.05)
            answers.append(pipe.call("locate_symbol", name=name))
        ground.expect(answers[-1].get("total_candidates") == 1, f"{name} is never found: {answers[-1]}")
    warnings = str(pipe.call("health_check")["metadata"].get("warnings"))
    ground.expect("not watched" in warnings, f"health_check does not say it: {warnings}")
    ground.expect(ground.errors().count("every query compares all files") == 1, f"not said once: {ground.errors()}")
    pipe.close()
    ground.recovered()


def read_only(ground):
    """A read-only data folder: queries are answered, a sync reports what it cannot do."""
    ground.program.must(ground.root, "index")
    ground.newest()
    said = in_namespace(ground, """
        mount --bind "$DATA" "$DATA" && mount -o remount,bind,ro "$DATA" || exit 77
        "$PROGRAM" locate run > /dev/null; echo "locate ended with $?"
        "$PROGRAM" search "which kind runs" > /dev/null; echo "search ended with $?"
        "$PROGRAM" grep name_ > /dev/null; echo "grep ended with $?"
        "$PROGRAM" sync; echo "sync ended with $?"
    """)
    ground.expect(said.count("ended with 0") == 3, f"questions are not answered: {said}")
    ground.expect("sync ended with 0" not in said, f"a sync that can not be: {said}")
    ground.expect(not any(word in said for word in DAMAGE), f"it is called damage: {said}")
    ground.recovered()


def clock_set_back(ground):
    """A clock that is set back by a day and forward by two: every edit is indexed, whatever the times of files are."""
    if not shutil.which("faketime"):
        raise Impossible("faketime is not installed")
    ground.program.must(ground.root, "index")
    for offset in ("-1d", "+2d", "-3d", "+0d"):
        shifted = ground.behind(f"export FAKETIME_DONT_FAKE_MONOTONIC=1\nexec faketime -f '{offset}' \"{ground.binary}\" \"$@\"")
        name = ground.newest()
        code, said = shifted.run(ground.root, "locate", name)
        ground.expect(code == 0 and "newest.py" in said, f"{offset}: {name} is not found: {code} {said[-600:]}")
        # The same length and the same times: only the content differs.
        path = pathlib.Path(ground.root) / "src/newest.py"
        before = path.stat()
        renamed = name.replace("newest", "latest")
        path.write_text(path.read_text().replace(name, renamed))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        code, said = shifted.run(ground.root, "locate", renamed)
        ground.expect(code == 0, f"{offset}: an edit that keeps size and time is not found: {code} {said[-600:]}")
    ground.recovered()


def slow_questions(ground):
    """As many slow expressions as there are threads: a query for a name and `health_check` are answered meanwhile, cancelled queries free
    their processor at once, and the others are cut off and say so."""
    rng = random.Random(7)
    for at in range(6):
        # The last letter is inside a word, so the word index cannot rule out a match.
        lines = ("w " + "".join(rng.choice("qzx ") for _ in range(1000)) for _ in range(600))
        pathlib.Path(ground.root, f"letters{at}.txt").write_text("\n".join(lines) + "\n")
    ground.program.must(ground.root, "index")
    pipe = Pipe(ground.program, ground.root, "--no-prewarm", "--answers", "json", "--tools", "all")
    slow = {"name": "grep_code", "arguments": {"pattern": ".{0,500}q.{0,500}z.{0,500}w"}}
    pipe.call("locate_symbol", name="run")
    numbers = [pipe.send("tools/call", slow) for _ in range(12)]
    longest = 0.0
    for tool, arguments in [("health_check", {}), ("locate_symbol", {"name": "run"}), ("get_file_outline", {"path": "letters0.txt"})] * 3:
        began = time.monotonic()
        pipe.call(tool, **arguments)
        longest = max(longest, time.monotonic() - began)
    answers = [pipe.receive(number) for number in numbers]
    partial = sum('"result_completeness":"partial"' in str(answer["result"]["content"][0]["text"]).replace(" ", "") for answer in answers)
    ground.expect(partial == len(answers), f"only {partial} of {len(answers)} slow answers say that they are partial")
    cancelled = [pipe.send("tools/call", slow) for _ in range(4)]
    for number in cancelled:
        pipe.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": "enough"}})
    pipe.call("health_check")

    def used():
        fields = pathlib.Path(f"/proc/{pipe.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    time.sleep(0.25)
    began = used()
    time.sleep(1.0)
    after = used() - began
    print(f"    the longest short answer beside twelve slow ones {longest * 1000:.0f} ms; a quarter of a second after cancelling four, "
          f"{after:.2f} s of processor per second")
    ground.expect(after < 0.3, f"cancelled questions go on: {after:.2f} s of processor in a second")
    pipe.close()


SCENARIOS = [full_disk, full_disk_under_a_server, address_space, descriptors, watches, read_only, clock_set_back, slow_questions]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("scenarios", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        inside_full_disk(args.binary, pathlib.Path(args.scenarios[0]))
        return
    print(f"seed {args.seed}")
    count = 0
    for scenario in SCENARIOS:
        if args.scenarios and scenario.__name__ not in args.scenarios:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="limits-", ignore_cleanup_errors=True) as folder:
            ground = Ground(pathlib.Path(folder).resolve(), args.binary, args.seed)
            try:
                scenario(ground)
                outcome = "held" if not ground.faults else f"{len(ground.faults)} FAULTS"
            except Impossible as why:
                outcome = f"passed over: {why}"
            except Silent as why:
                ground.faults.append(f"a server does not answer: {why}; {ground.errors()[-600:]}")
                outcome = "FAULT"
        print(f"{scenario.__name__}: {outcome} in {time.monotonic() - began:.0f} s", flush=True)
        for fault in ground.faults[:5]:
            print(f"    FAULT {fault}")
        count += len(ground.faults)
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
