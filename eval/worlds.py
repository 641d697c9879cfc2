#!/usr/bin/env python3
"""Count the marks and known gaps of the resolution tests, per language.

    worlds.py [--gaps]

Marks are the lines of carets in `crates/lang/worlds/LANGUAGE/*.world` (notation: `crates/testkit/README.md`). Source
lines are all lines of `*.rs` and `*.stubs` in the language's folder of `crates/lang/src`; the density is marks per 100
of them. TypeScript, JavaScript, Svelte and Vue share the folder `ecmascript`. Languages with a table also run on the
shared engine (`rules`, `spec`), which is not counted.

A gap (`TRUTH but TODAY`) is one of

- missing: unresolved, or extraction has no such reference;
- guess: a guess;
- excess: proved, and the truth is among other targets;
- wrong: proved as something else, also as external or local.

`--gaps` lists the gaps. Only the standard library is used.
"""

import collections
import pathlib
import sys

LANG = pathlib.Path(__file__).resolve().parent.parent / "crates" / "lang"
FOLDERS = {name: "ecmascript" for name in ("javascript", "svelte", "typescript", "vue")}
CLASSES = ("missing", "guess", "excess", "wrong")


def class_of(truth, today):
    if today in ("unknown", "no reference"):
        return "missing"
    if today.startswith("guess "):
        return "guess"
    if set(truth.split(", ")) < set(today.split(", ")):
        return "excess"
    return "wrong"


def marks_of(world):
    """Yields line number, code and answer of each mark."""
    code = ""
    for number, line in enumerate(world.read_text().splitlines(), 1):
        if line.lstrip().startswith("^"):
            yield number, code.strip(), line.split("→", 1)[1].strip()
        else:
            code = line


def main():
    counts = collections.defaultdict(collections.Counter)
    for world in sorted((LANG / "worlds").glob("*/*.world")):
        count = counts[FOLDERS.get(world.parent.name, world.parent.name)]
        for number, code, answer in marks_of(world):
            count["marks"] += 1
            truth, but, today = answer.partition(" but ")
            if but:
                found = class_of(truth, today)
                count[found] += 1
                if "--gaps" in sys.argv:
                    print(f"{found:8} {world.relative_to(LANG)}:{number}: {answer}: {code}")
    print(f"{'folder':12}{'marks':>7}{'lines':>8}{'density':>9}" + "".join(f"{name:>9}" for name in CLASSES))
    for folder, count in sorted(counts.items()):
        files = [file for file in (LANG / "src" / folder).rglob("*") if file.suffix in (".rs", ".stubs")]
        lines = sum(len(file.read_text().splitlines()) for file in files)
        density = 100 * count["marks"] / lines
        gaps = "".join(f"{count[name]:9}" for name in CLASSES)
        print(f"{folder:12}{count['marks']:7}{lines:8}{density:9.1f}{gaps}")


if __name__ == "__main__":
    main()
