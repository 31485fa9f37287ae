"""Stands in for `node lean.cjs INSTALLATION BUILD [CODE SHA256]`, with the same requests and answers.

A source directs it with lines `-- fake: WORD`. It appends its process id and the module to $FAKE_LEAN_LOG,
and once its process id to $FAKE_LEAN_LOG.started. Its machine code is the number of modules that it has
built, once for each.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

modules = 0
code = sys.argv[4:]


def log(process: int, file: str) -> None:
    with open(os.environ["FAKE_LEAN_LOG"], "a", encoding="utf-8") as out:
        out.write(f"{process} {file}\n")


def say(severity: str, text: str, file: str, line: int = 2) -> None:
    position = {"line": line, "column": 4}
    print(json.dumps({"severity": severity, "pos": position, "caption": "", "data": text, "fileName": file}))


def end(status: int, reason: str) -> None:
    print(reason, file=sys.stderr)
    sys.exit(status)


def build(work: str, file: str, olean: str, ilean: str) -> int:
    source = Path(work, file).read_text("utf-8")
    words = [line.removeprefix("-- fake: ") for line in source.splitlines() if line.startswith("-- fake: ")]
    log(os.getpid(), file)
    if "warning" in words:
        say("warning", "declaration uses `sorry`", file)
    if "imitate" in words:
        print("0" * 32, "0 0")
    if "hang" in words:
        Path(work, olean).write_bytes(b"half")
        log(subprocess.Popen(["sleep", "60"]).pid, file)
        time.sleep(60)
    if "stack" in words:
        end(70, "Lean crashed: Maximum call stack size exceeded")
    if "code" in words and code:
        os.kill(os.getpid(), 11)
    if "memory" in words or ("alone" in words and modules):
        os.kill(os.getpid(), 9)
    if "unloadable" in words:
        end(71, "not a wasm module")
    if "error" in words or ("full" in words and modules):
        say("error", "unsolved goals\n⊢ False", file)
        return 1
    if "import" in words:
        say("error", "failed to read file", file, line=1)
        return 1
    if "nothing" in words:
        return 0
    for name in (olean, olean + ".private", ilean):
        Path(work, name).write_text(f"{name} of {source}")
    return 0


with open(os.environ["FAKE_LEAN_LOG"] + ".started", "a", encoding="utf-8") as started:
    started.write(f"{os.getpid()}\n")
for line in sys.stdin:
    request = json.loads(line)
    token = request.pop("token")
    if "save" in request:
        content = str(modules).encode() * modules
        Path(request["save"]).write_bytes(content)
        print(token, 0 if len(content) >= request["from"] else 1, 0, flush=True)
        continue
    status = build(**request)
    modules += 1
    print(token, status, 1_500_000_000 if "Full" in request["file"] else 500_000_000 + modules, flush=True)
