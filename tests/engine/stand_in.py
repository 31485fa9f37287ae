"""Stands in for native Lean where there is none: ``elan``, ``lake`` and ``lean`` that run the embedded Lean.

``lake build`` has the modules built by :class:`WasmEngine`, prints its results as Lake 5 of Lean 4.28 does
without a terminal, and puts the artifacts where Lake puts them. ``lean`` names the version and the library of
the embedded Lean, as these are what the artifacts are of. So the driver in ``engine/lake.py`` meets real
messages and real artifacts, but it is not tested here that Lake itself behaves like this: the workflow
``native.yml`` does that.

In a package that requires mathlib, the hand-written interface stands in for mathlib: the package is built in
the directory ``$STAND_IN_MATHLIB``, where a test has put it beside the library and the interface. Without
that variable mathlib cannot be downloaded.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from maskpool_verify.engine.lake import TOOLCHAIN
from maskpool_verify.engine.protocol import Message, ModuleResult
from maskpool_verify.engine.wasm import WasmEngine, default_cache
from maskpool_verify.engine.wasm.package import GITHASH, LEAN_VERSION, installation

_SEVERITY = {"error": "error", "warning": "warning", "information": "info"}
OWN = Path(".lake", "build", "lib", "lean")
MATHLIB = Path(".lake", "packages", "mathlib") / OWN
LIBRARY = Path("..") / OWN


def install(folder: Path) -> None:
    """Write the three programs into ``folder``, for a PATH that begins with it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("elan", "lake", "lean"):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve()}" {name} "$@"\n')
        program.chmod(0o755)


def lines(results: Mapping[str, ModuleResult]) -> Iterator[str]:
    """What lake prints about the modules, in their order."""
    tried = [result for result in results.values() if result.status != "skipped"]
    for number, result in enumerate(tried, 1):
        mark, verb = {"built": ("✔", "Built"), "cached": ("✔", "Replayed"), "failed": ("✖", "Building")}[
            result.status
        ]
        if result.messages and result.status != "failed":
            mark = "⚠" if any(m.severity == "warning" for m in result.messages) else "ℹ"
        time = "" if result.status == "cached" else f" ({result.seconds:.1f}s)"
        yield f"{mark} [{number}/{len(tried)}] {verb} {result.module}{time}"
        yield from map(_message, result.messages)
        if result.status == "failed":
            yield "error: Lean exited with code 1"
    if failed := [result.module for result in tried if result.status == "failed"]:
        yield "Some required targets logged failures:"
        yield from (f"- {module}" for module in failed)
        yield "error: build failed"
    else:
        yield f"Build completed successfully ({len(tried)} jobs)."


def _message(message: Message) -> str:
    place = message.position
    where = f"{message.file}:{place.line}:{place.column}: " if place else ""
    return f"{_SEVERITY[message.severity]}: {where}{message.text}"


def _requires_mathlib() -> bool:
    return (
        '"mathlib"' in Path("lakefile.lean").read_text("utf-8") if Path("lakefile.lean").exists() else False
    )


def _place(module: str) -> Path:
    """Where the artifacts of a module belong, from the package that is built."""
    if not _requires_mathlib():
        return OWN
    return {"Mathlib": MATHLIB, "MaskPoolReal": OWN}.get(module.split(".", maxsplit=1)[0], LIBRARY)


def _fetch_mathlib() -> int:
    if "STAND_IN_MATHLIB" not in os.environ:
        print("info: mathlib: cloning\nerror: external command 'git' exited with code 128", file=sys.stderr)
        return 1
    mathlib = {"name": "mathlib", "inputRev": "v4.28.0", "rev": "0123456789abcdef"}
    Path("lake-manifest.json").write_text(json.dumps({"packages": [mathlib]}))
    return 0


def _build(modules: Sequence[str]) -> int:
    project = Path(os.environ["STAND_IN_MATHLIB"]) if _requires_mathlib() else Path.cwd()
    engine = WasmEngine()
    results = engine.build(project, modules)
    built = engine.artifacts(project).own
    for result in results.values():
        if result.status in ("built", "cached"):
            *folders, last = result.module.split(".")
            target = _place(result.module).joinpath(*folders)
            target.mkdir(parents=True, exist_ok=True)
            for file in built.joinpath(*folders).glob(f"{last}.*"):
                if file.is_file():
                    shutil.copy(file, target)
    print("\n".join(lines(results)))
    return int(any(result.status == "failed" for result in results.values()))


def main(arguments: Sequence[str]) -> int:
    """Be one of the three programs."""
    match arguments:
        case ["elan", "toolchain", "list"]:
            print(f"{TOOLCHAIN} (default)")
        case ["lean", "--version"]:
            print(f"Lean (version {LEAN_VERSION}, wasm32-unknown-emscripten, commit {GITHASH}, Release)")
        case ["lean", "--print-prefix"]:
            print(installation(default_cache()))
        case ["lake", "build", "--no-ansi", "-v", *modules]:
            assert os.environ["ELAN_TOOLCHAIN"] == TOOLCHAIN
            return _build(modules)
        case ["lake", "exe", "cache", "get"]:
            return _fetch_mathlib()
        case ["lake", "env", "printenv", "LEAN_PATH"]:
            print(os.pathsep.join(map(str, (MATHLIB, LIBRARY, OWN))))
        case _:
            print(f"error: the stand-in does not know {' '.join(arguments)}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
