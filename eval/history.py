#!/usr/bin/env python3
"""Questions from a repository's history: does search find the symbols that a fix changed?

  history.py make  --bin BIN --repo CLONE --out SET.json [--most 200]
  history.py score --bin BIN --repo CLONE --questions SET.json [--json]

`make` searches the log for fixes: commits with one parent that change a few symbols in a few code files. The message, without issue
numbers, is the question; the answers are the symbols around the changed lines in the parent commit, and their files. `score` indexes
each parent commit and searches there (`search --ref`), so nothing of the fix itself can be found. It prints how often an answer is first
and among the first five, by symbol (path and name) and by file. `make` uses only the extraction of BIN, so one set can compare two
programs.
"""
import argparse, json, os, re, subprocess, sys, tempfile

CODE = (".rs", ".py", ".go", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs")
HOLDERS = {"fn", "method", "struct", "class", "enum", "trait", "interface", "type", "macro", "constructor", "const", "static", "var"}
FIX = re.compile(r"\b(fix(e[sd])?|bug|correct(ly)?|wrong|handle[sd]?|prevent|avoid|ensure|don't|do not|missing|regression|crash|panic|error|fail(s|ed|ure)?|leak|race|allow|support)\b", re.I)
CHORE = re.compile(r"\b(typos?|bump|release|changelog|readme|docs?|lint|clippy|format(ting)?|merge|revert|version|deps?|dependenc\w+|ci|tests?|refactor|cleanup|rename)\b", re.I)
TEST = re.compile(r"(^|/)(tests?|testing|__tests__|specs?|testdata|examples?|benches|benchmarks?|fixtures|docs?)/|(^|/)(test_|conftest)|[._](test|spec)\.", re.I)
MOST_FILES, MOST_SYMBOLS, LEAST_WORDS = 4, 6, 4


def git(repo, *args):
    done = subprocess.run(["git", "-C", repo, *args], capture_output=True)
    return done.stdout.decode("utf8", "replace") if done.returncode == 0 else ""


def question(message):
    """Returns the subject and the first paragraph below it, without issue references and trailers."""
    subject, _, body = message.strip().partition("\n")
    paragraph = body.strip().split("\n\n")[0] if body.strip() else ""
    if re.match(r"(?im)^(\w[\w-]*-by|co-authored|closes|fixes|refs?|see|resolves)\b", paragraph):
        paragraph = ""
    text = subject + "\n" + paragraph
    text = re.sub(r"(?im)^(\w[\w-]*-by:|co-authored|closes|fixes #|refs?:?|resolves|see also).*$", " ", text)
    text = re.sub(r"https?://\S+|\(?#\d+\)?|\bGH-\d+", " ", text)
    text = re.sub(r"^\s*\w+(\([\w, /-]+\))?!?:\s+", "", text)
    return re.sub(r"\s+", " ", text).strip()[:600]


def changed_lines(repo, commit):
    """Returns, per file, the lines of the parent that the commit changed; for an insertion, the line before it."""
    lines, path = {}, None
    for line in git(repo, "diff", "-U0", "--no-renames", "--diff-filter=M", commit + "^", commit).splitlines():
        if line.startswith("--- "):
            path = line[6:] if line.startswith("--- a/") else None
        elif path and (hunk := re.match(r"@@ -(\d+)(?:,(\d+))? ", line)):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            lines.setdefault(path, []).extend(range(start, start + count) if count else [start])
    return lines


def symbols_of(binary, repo, commit, paths):
    """Returns the symbols of each file in a commit."""
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            full = os.path.join(folder, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as file:
                file.write(subprocess.run(["git", "-C", repo, "show", f"{commit}:{path}"], capture_output=True).stdout)
        done = subprocess.run([binary, "facts", *paths, "--json"], cwd=folder, capture_output=True, text=True)
        answer = json.loads(done.stdout)
    files = answer if isinstance(answer, list) else answer.get("files", [answer])
    return {path: file.get("symbols", []) for path, file in zip(paths, files)}


def around(symbols, line):
    """Returns the innermost enclosing symbol of a line that is not a field, variant or similar part."""
    holders = [s for s in symbols if s["kind"] in HOLDERS and s["line_start"] <= line <= s["line_end"]]
    return min(holders, key=lambda s: s["line_end"] - s["line_start"], default=None)


def make(args):
    questions, seen = [], set()
    log = git(args.repo, "log", "--no-merges", "--format=%H%x00%B%x01", "-n", "8000", "HEAD")
    for entry in log.split("\x01"):
        commit, _, message = entry.strip().partition("\0")
        subject = message.strip().split("\n")[0]
        if len(questions) >= args.most or not commit:
            break
        query = question(message)
        if not FIX.search(subject) or CHORE.search(subject) or len(query.split()) < LEAST_WORDS or query in seen:
            continue
        lines = changed_lines(args.repo, commit)
        code = {path: at for path, at in lines.items() if path.endswith(CODE) and not TEST.search(path)}
        if not 1 <= len(code) <= MOST_FILES:
            continue
        found = symbols_of(args.bin, args.repo, commit + "^", list(code))
        answers = []
        for path, at in code.items():
            for symbol in filter(None, (around(found[path], line) for line in at)):
                answer = {"path": path, "name": symbol["name"]}
                if answer not in answers:
                    answers.append(answer)
        if not 1 <= len(answers) <= MOST_SYMBOLS:
            continue
        seen.add(query)
        parent = git(args.repo, "rev-parse", commit + "^").strip()
        questions.append({"commit": commit, "parent": parent, "query": query, "answers": answers})
    with open(args.out, "w") as file:
        json.dump({"repository": os.path.basename(os.path.abspath(args.repo)), "questions": questions}, file, indent=1)
    print(f"{len(questions)} questions in {args.out}")


def rank(results, test):
    return next((at for at, result in enumerate(results, 1) if test(result)), 0)


def figures(ranks):
    share = lambda most: round(sum(0 < rank <= most for rank in ranks) / max(1, len(ranks)), 4)
    return {"acc@1": share(1), "acc@5": share(5), "mrr": round(sum(1 / rank for rank in ranks if rank) / max(1, len(ranks)), 4)}


def score(args):
    questions = json.load(open(args.questions))["questions"]
    by_symbol, by_file, failed = [], [], 0
    with tempfile.TemporaryDirectory() as home:
        env = dict(os.environ, CODECOMPASS_HOME=os.environ.get("CODECOMPASS_HOME", home))
        run = lambda *words: subprocess.run([args.bin, *words], cwd=args.repo, env=env, capture_output=True, text=True)
        for one in questions:
            run("index", "--ref", one["parent"])
            done = run("search", one["query"], "--ref", one["parent"], "--json", "--limit", "10", "--detail", "location", "--no-sync")
            try:
                results = json.loads(done.stdout).get("results", [])
            except ValueError:
                results, failed = [], failed + 1
            names = {(answer["path"], answer["name"]) for answer in one["answers"]}
            paths = {answer["path"] for answer in one["answers"]}
            by_symbol.append(rank(results, lambda result: (result["path"], result.get("name")) in names))
            by_file.append(rank(results, lambda result: result["path"] in paths))
    answer = {"questions": len(questions), "failed": failed, "symbol": figures(by_symbol), "file": figures(by_file)}
    if args.json:
        print(json.dumps(dict(answer, ranks=[{"commit": one["commit"], "symbol": s, "file": f} for one, s, f in zip(questions, by_symbol, by_file)])))
        return
    print(f"{len(questions)} questions, {failed} without an answer")
    for what in ("symbol", "file"):
        print(f"  {what:6}", "  ".join(f"{key} {value:.3f}" for key, value in answer[what].items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("make", "score"):
        command = commands.add_parser(name)
        command.add_argument("--bin", required=True, type=os.path.abspath)
        command.add_argument("--repo", required=True)
        if name == "make":
            command.add_argument("--out", required=True)
            command.add_argument("--most", type=int, default=200)
        else:
            command.add_argument("--questions", required=True)
            command.add_argument("--json", action="store_true")
    args = parser.parse_args()
    (make if args.command == "make" else score)(args)


if __name__ == "__main__":
    sys.exit(main())
