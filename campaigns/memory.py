"""Measures the memory of a server under queries: `python memory.py BINARY REPOSITORY… [--queries 1000] [--edits 0]
[--kinds words,calls] [--max MIB]`.

One server on a pipe answers mixed text queries about the repositories in turn: words, names, literals, references, calls, outlines,
bodies and changes, about names drawn from the sources with a fixed seed. Prints memory and the latency of each kind of query in
rows, and the memory five seconds after the last query. With `--edits N`, every tenth query follows an edit of a copy of the
repositories, up to N edits. Exits with 1 if the server has more resident memory than `--max` after the last query, or if an answer
is an unexpected error.

Repositories are cloned into a temporary folder, so nothing in them changes. Linux only: it reads /proc.
"""

import argparse
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

from ground import Pipe, Program

DEFINITION = re.compile(r"\b(?:def|class|func|function|fn|struct|trait|interface|enum|type)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w{2,})")
# Allowed errors: a name may be local or defined in a language without rules, and a file may be excluded from the index.
ALLOWED = ("symbol_not_found", "ambiguous_symbol", "no_edges_available", "file_not_found")
SOURCES = {".py", ".rs", ".go", ".ts", ".js", ".java", ".c", ".h", ".cpp", ".cs", ".kt", ".rb", ".php", ".swift", ".scala"}


class Sample:
    """Names, files and words of a repository."""

    def __init__(self, root, rng):
        listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split("\n")
        files = sorted(path for path in listed if pathlib.PurePath(path).suffix in SOURCES)
        self.files = rng.sample(files, min(len(files), 400))
        names, words = set(), set()
        for path in self.files:
            try:
                text = (root / path).read_text(errors="replace")
            except OSError:
                continue
            names.update(DEFINITION.findall(text))
            words.update(re.findall(r"\b[a-z]{5,12}\b", text))
        self.names, self.words = sorted(names), sorted(words)

    def query(self, rng, kinds):
        name, path = rng.choice(self.names), rng.choice(self.files)
        words = " ".join(rng.sample(self.words, 4))
        queries = [
            ("words", "search_code", {"query": f"where is the {words}"}),
            ("name", "search_code", {"query": name}),
            ("literal", "grep_code", {"pattern": name, "literal": True}),
            ("references", "find_references", {"symbol_name": name}),
            ("calls", "get_call_graph", {"symbol_name": name, "depth": 2}),
            ("outline", "get_file_outline", {"path": path}),
            ("read", "read_code", {"what": [name]}),
            ("changes", "diff_context", {"base_ref": "HEAD~3", "head_ref": "HEAD"}),
        ]
        return rng.choice([query for query in queries if not kinds or query[0] in kinds])


def memory(pid):
    """Resident and anonymous memory in MiB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return [int(status.split(f"{name}:")[1].split()[0]) / 1024 for name in ("VmRSS", "RssAnon")]


def text_of(message):
    if "result" not in message:
        return False, str(message["error"])
    return message["result"].get("isError", False), message["result"]["content"][0]["text"]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("repositories", nargs="+")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--edits", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", type=lambda text: text.split(","), help="only these kinds of queries")
    parser.add_argument("--max", type=float, default=float("inf"))
    args = parser.parse_args()
    rng, faults = random.Random(args.seed), []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program, roots = Program(args.binary, folder / "data"), []
        for at, source in enumerate(args.repositories):
            root = folder / "clones" / f"r{at}"
            subprocess.run(["git", "clone", "-q", source, str(root)], check=True)
            program.must(root, "index")
            roots.append(root)
        samples = [Sample(root, rng) for root in roots]
        server = Pipe(program, roots[0], "--answers", "text", "--tools", "core", "--auto-workspace", "--allowed-root", str(folder))
        took, edits = {}, 0
        for number in range(args.queries):
            at = number % len(roots)
            if args.edits and number % 10 == 5 and edits < args.edits:
                edits += 1
                path = roots[at] / rng.choice(samples[at].files)
                with path.open("a") as file:
                    file.write("\n")
            kind, tool, arguments = samples[at].query(rng, args.kinds)
            arguments["workspace"] = str(roots[at])
            began = time.perf_counter()
            is_error, text = text_of(server.receive(server.send("tools/call", {"name": tool, "arguments": arguments})))
            took.setdefault(kind, []).append((time.perf_counter() - began) * 1e3)
            if is_error and not text.startswith(ALLOWED):
                faults.append(f"{tool} {arguments}: {text[:200]}")
            if number in (99, args.queries // 2 - 1):
                print("after {} queries: {:.0f} MiB resident, {:.0f} anonymous".format(number + 1, *memory(server.process.pid)), flush=True)
        resident, anonymous = memory(server.process.pid)
        print(f"after {args.queries} queries, {edits} edits: {resident:.0f} MiB resident, {anonymous:.0f} anonymous")
        time.sleep(5)
        print("five seconds later: {:.0f} MiB resident, {:.0f} anonymous".format(*memory(server.process.pid)))
        for kind, values in sorted(took.items()):
            print(f"{kind:11} {len(values):4}  p50 {statistics.median(values):7.1f} ms  p95 {percentile(values, .95):7.1f}  max {max(values):7.1f}")
        server.close()
    if resident > args.max:
        faults.append(f"{resident:.0f} MiB resident, more than {args.max:.0f}")
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
