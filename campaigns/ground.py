"""Shared by the campaigns: the program, a client on a pipe, a repository with branches, and the answers of a fresh index.
Standard library only."""

import collections
import json
import os
import queue
import subprocess
import threading
import time

ANSWER_TIMEOUT = 120  # Seconds for any answer, on a busy machine and from a debug build.


class Silent(Exception):
    """A server that does not answer, or has gone."""


def is_long():
    return os.environ.get("CAMPAIGN") == "long"


class Program:
    """The program with a data folder of its own."""

    def __init__(self, binary, home):
        self.binary, self.home = os.path.abspath(binary), str(home)

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CODECOMPASS_")}
        return {**kept, "CODECOMPASS_HOME": self.home, "GIT_CONFIG_GLOBAL": "/dev/null", **more}

    def start(self, root, *args, **more):
        """Starts a command; the caller waits for it or ends it."""
        return subprocess.Popen(
            [self.binary, *args], cwd=root, env=self.environment(**more),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )

    def run(self, root, *args):
        """Returns the exit code and the output of a command."""
        done = subprocess.run(
            [self.binary, *args], cwd=root, env=self.environment(), capture_output=True, text=True, timeout=ANSWER_TIMEOUT,
        )
        return done.returncode, done.stdout + done.stderr

    def must(self, root, *args):
        code, said = self.run(root, *args)
        if code != 0:
            raise RuntimeError(f"{' '.join(args)} ended with {code}: {said}")
        return said


class Pipe:
    """A server on a pipe, with a session of a revision before the stateless one."""

    def __init__(self, program, root, *flags, **more):
        self.process = subprocess.Popen(
            [program.binary, "serve-mcp", *flags], cwd=root, env=program.environment(**more),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        self.number, self.lines, self.kept = 0, queue.Queue(), {}
        threading.Thread(target=self.read, daemon=True).start()
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "campaign", "version": "1"}}
        self.receive(self.send("initialize", hello))
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def write(self, message):
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Silent("it has gone") from error

    def send(self, method, params):
        self.number += 1
        self.write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def receive(self, number):
        until = time.monotonic() + ANSWER_TIMEOUT
        while number not in self.kept:
            try:
                line = self.lines.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                raise Silent("no answer") from None
            if line is None:
                raise Silent("it has gone")
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self.kept[message["id"]] = message
        return self.kept.pop(number)

    def call(self, tool, **arguments):
        """A tool's answer or error, as JSON."""
        return content_of(self.receive(self.send("tools/call", {"name": tool, "arguments": arguments})))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.process.stdin.close()
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
            return None


def content_of(message):
    """Returns the content of the answer to a tool call."""
    if "result" not in message:
        return {"error": {"code": "protocol", **message["error"]}}
    return json.loads(message["result"]["content"][0]["text"])


def code_of(answer):
    """Returns the code of an error, or None for an answer."""
    return answer["error"]["code"] if isinstance(answer.get("error"), dict) else None


# A small repository

LANGUAGES = {
    "rs": "pub fn {name}() -> u32 {{\n    {call}\n}}\n\npub struct {kind};\n\nimpl {kind} {{\n    pub fn run(&self) -> u32 {{\n        {name}()\n    }}\n}}\n",
    "py": "def {name}():\n    return {call}\n\n\nclass {kind}:\n    def run(self):\n        return {name}()\n",
    "go": "package main\n\nfunc {name}() int {{\n\treturn {call}\n}}\n\ntype {kind} struct{{}}\n\nfunc (k {kind}) Run() int {{\n\treturn {name}()\n}}\n",
    "ts": "export function {name}(): number {{\n  return {call};\n}}\n\nexport class {kind} {{\n  run(): number {{\n    return {name}();\n  }}\n}}\n",
    "md": "# {name}\n\nAbout {kind}, which calls {call}.\n",
}


class Repository:
    """A git repository that is changed at random; every function gets a new name."""

    def __init__(self, root, rng, files=12):
        self.root, self.rng, self.names = str(root), rng, 0
        os.makedirs(self.root, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        for at in range(files):
            self.write(f"src/part{at % 4}/file{at}.{list(LANGUAGES)[at % len(LANGUAGES)]}")
        self.commit("first")
        for branch in ("feature", "release"):
            self.git("checkout", "-q", "-b", branch)
            self.edit(3)
            self.commit(branch)
            self.git("checkout", "-q", "main")

    def git(self, *args):
        identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@a", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@a"}
        env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", **identity}
        done = subprocess.run(["git", *args], cwd=self.root, env=env, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"git {' '.join(args)}: {done.stderr}")
        return done.stdout.strip()

    def write(self, path):
        self.names += 1
        extension = path.rsplit(".", 1)[1]
        call = f"name_{self.rng.randrange(1, self.names + 1)}()" if extension != "md" else f"name_{self.names}"
        text = LANGUAGES[extension].format(name=f"name_{self.names}", kind=f"Kind{self.names}", call=call)
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as file:
            file.write(text)

    def files(self):
        found = []
        for folder, _, names in os.walk(os.path.join(self.root, "src")):
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in names]
        return sorted(found)

    def edit(self, count=1):
        """Writes, adds and removes files."""
        for _ in range(count):
            files = self.files()
            way = self.rng.random()
            if way < 0.2 and len(files) > 6:
                os.remove(os.path.join(self.root, self.rng.choice(files)))
            elif way < 0.4 or not files:
                extension = self.rng.choice(list(LANGUAGES))
                self.write(f"src/part{self.rng.randrange(4)}/new{self.rng.randrange(40)}.{extension}")
            else:
                self.write(self.rng.choice(files))

    def commit(self, message="next"):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def branches(self):
        return self.git("branch", "--format=%(refname:short)").split()


# Answers, and their comparison with a fresh index

QUESTIONS = [
    ("locate_symbol", {"name": "{name}"}),
    ("locate_symbol", {"name": "run", "limit": 50}),
    ("search_code", {"query": "{name}", "limit": 20}),
    ("search_code", {"query": "which kind runs and calls", "limit": 30, "ranking_explain_level": "full"}),
    ("grep_code", {"pattern": "name_[0-9]+", "limit": 100}),
    ("find_references", {"symbol_name": "{name}"}),
    ("get_call_graph", {"symbol_name": "{name}", "depth": 2}),
    ("find_related_symbols", {"symbol_name": "{name}"}),
    ("get_symbol_hierarchy", {"symbol_name": "{kind}", "direction": "descendants"}),
    ("get_file_outline", {"path": "{path}"}),
    ("read_code", {"what": ["{path}", "{name}"]}),
    ("get_code_context", {"query": "{name} run", "max_tokens": 800}),
    ("explain_ranking", {"query": "run", "result_path": "{path}", "result_line_start": 1}),
    ("suggest_followup_queries", {
        "previous_query": {"tool": "search_code", "params": {"query": "{name}"}},
        "previous_results": {"results": [], "query_intent": "symbol", "top_score": 0.1},
    }),
]
BETWEEN = [
    ("diff_context", {"base_ref": "main", "head_ref": "{ref}", "include_callers": True}),
    ("compare_symbol_between_commits", {"symbol_name": "{name}", "base_ref": "main", "head_ref": "{ref}"}),
]


def filled(value, words):
    if isinstance(value, str):
        return value.format(**words) if "{" in value else value
    if isinstance(value, list):
        return [filled(item, words) for item in value]
    return {key: filled(item, words) for key, item in value.items()} if isinstance(value, dict) else value


def bare(answer):
    """Returns an answer without the fields that identify the index it came from."""
    if isinstance(answer, list):
        return [bare(item) for item in answer]
    if not isinstance(answer, dict):
        return answer
    of_the_index = {"metadata", "last_indexed_at", "last_accessed_at", "indexed_at", "job_id", "duration_ms", "data"}
    return {key: bare(value) for key, value in answer.items() if key not in of_the_index}


def whole(pipe, tool, arguments):
    """Repeats a call until its answer is complete: an answer that ran out of time says so, and continues when it is repeated."""
    for _ in range(20):
        answer = pipe.call(tool, **arguments)
        is_cut = answer.get("metadata", {}).get("result_completeness") == "partial"
        if not is_cut or tool == "get_code_context":  # Its answers are cut by the token budget.
            break
    return answer


def answers(program, root, refs, words):
    """Returns the answers of every tool, for the work tree and for each ref."""
    pipe = Pipe(program, root, "--no-prewarm", "--no-watch", "--answers", "json", "--tools", "all")
    found = collections.OrderedDict()
    for ref in [None, *refs]:
        asked = QUESTIONS + ([] if ref is None else BETWEEN)
        for tool, arguments in asked:
            arguments = filled(arguments, {**words, "ref": ref})
            if ref is not None and tool not in ("diff_context", "compare_symbol_between_commits", "suggest_followup_queries"):
                arguments["ref"] = ref
            found[f"{ref or 'work tree'}: {tool} {json.dumps(arguments, sort_keys=True)}"] = bare(whole(pipe, tool, arguments))
    pipe.close()
    return found


def differences(one, other):
    return [key for key in one if one[key] != other.get(key)] + [key for key in other if key not in one]
