"""Stands in for `node lean.cjs INSTALLATION BUILD WORK --json FILE -R . -o OLEAN -i ILEAN`.

A source directs it with lines `-- fake: WORD`. It appends its process id and the module to $FAKE_LEAN_LOG.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

_script, _installation, build, work, _json, file, _r, _dot, _o, olean, _i, ilean = sys.argv[1:]
source = Path(work, file).read_text("utf-8")
words = [line.removeprefix("-- fake: ") for line in source.splitlines() if line.startswith("-- fake: ")]


def log(process: int) -> None:
    with open(os.environ["FAKE_LEAN_LOG"], "a", encoding="utf-8") as out:
        out.write(f"{process} {file}\n")


def say(severity: str, text: str) -> None:
    position = {"line": 2, "column": 4}
    print(json.dumps({"severity": severity, "pos": position, "caption": "", "data": text, "fileName": file}))


log(os.getpid())
if "warning" in words:
    say("warning", "declaration uses `sorry`")
if "hang" in words:
    Path(work, olean).write_bytes(b"half")
    log(subprocess.Popen(["sleep", "60"]).pid)
    time.sleep(60)
if "stack" in words:
    print("Lean crashed: Maximum call stack size exceeded", file=sys.stderr)
    sys.exit(70)
if "memory" in words:
    os.kill(os.getpid(), 9)
if "unloadable" in words:
    print("not a wasm module", file=sys.stderr)
    sys.exit(71)
if "error" in words:
    say("error", "unsolved goals\n⊢ False")
    sys.exit(1)
for name in (olean, olean + ".private", ilean):
    Path(work, name).write_text(f"{name} of {source}")
