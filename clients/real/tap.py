"""A recorder between a client and the server: `tap.py REAL LOG ARGUMENT...` runs REAL with the arguments.

`serve-mcp` is recorded: one JSON line in LOG for the start (working folder, environment, process ids), for each message in either
direction, and for the end. Other commands run unrecorded. `installed` puts a tap where the program was, under the same path.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path


@contextlib.contextmanager
def installed(program: Path, log: Path):
    """Replaces the program by a script that runs it through this recorder, and puts it back."""
    real = program.with_name(program.name + ".real")
    program.rename(real)
    program.write_text(f"#!/bin/sh\nexec {sys.executable} {Path(__file__).resolve()} {real} {log} \"$@\"\n")
    program.chmod(0o755)
    try:
        yield
    finally:
        real.rename(program)


def read(log: Path) -> list[dict]:
    """The entries of a log, a last incomplete line left out."""
    entries = []
    for line in log.read_text().splitlines() if log.exists() else []:
        try:
            entries.append(json.loads(line))
        except ValueError:
            pass
    return entries


def main() -> None:
    real, log, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    if "serve-mcp" not in arguments:
        os.execv(real, [real, *arguments])
    out = open(log, "a", buffering=1)
    lock = threading.Lock()

    def write(**entry):
        with lock:
            out.write(json.dumps({"tap": os.getpid(), "at": round(time.time(), 3)} | entry) + "\n")

    server = subprocess.Popen([real, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    write(start=arguments, server=server.pid, cwd=os.getcwd(), env=dict(os.environ))

    def pump(source, sink, way):
        for line in source:
            try:
                message = json.loads(line)
            except ValueError:
                message = line.decode("utf-8", "replace")
            write(**{way: message})
            try:
                sink.write(line)
                sink.flush()
            except OSError:
                break
        write(closed=way)
        try:
            sink.close()
        except OSError:
            pass

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _: server.send_signal(received))
    threading.Thread(target=pump, args=(sys.stdin.buffer, server.stdin, "received"), daemon=True).start()
    answers = threading.Thread(target=pump, args=(server.stdout, sys.stdout.buffer, "sent"), daemon=True)
    answers.start()
    code = server.wait()
    answers.join(2)
    write(exit=code)
    out.flush()
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
