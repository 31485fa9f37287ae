"""The modules of a Lean project: which source imports which."""

from __future__ import annotations

import graphlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from maskpool_verify.errors import EnvironmentFault, MaskpoolError

_COMPONENT = r"(?:[^\W\d][\w'!?]*|«[^»\s]+»)"
_WORD = re.compile(r"[^\W\d][\w'!?]*")
_NAME = re.compile(rf"{_COMPONENT}(?:\.{_COMPONENT})*")
_PLAIN_NAME = re.compile(r"[^\W\d][\w'!?]*(?:\.[^\W\d][\w'!?]*)*")
_LINE_COMMENT = re.compile(r"--[^\n]*")
_BLOCK_EDGE = re.compile(r"/-|-/")


@dataclass(frozen=True)
class Source:
    """A module's source as it was read. ``file`` is relative to the project, with ``/``.

    ``imports`` holds only the imports that have a source in the project.
    """

    module: str
    file: str
    content: bytes
    imports: tuple[str, ...]


def source_file(module: str) -> str:
    """The file of a module, relative to the project: ``A.B`` is ``A/B.lean``."""
    return module.replace(".", "/") + ".lean"


def imported_modules(source: str) -> tuple[str, ...]:
    """The modules named in the header of a Lean source, each once, in order.

    The header is ``module? prelude? (public? meta? import all? NAME)*``, with comments between.
    """
    position = 0

    def word(*expected: str) -> bool:
        nonlocal position
        start = _skip_blank(source, position)
        found = _WORD.match(source, start)
        if found is None or found[0] not in expected or source[found.end() : found.end() + 1] == ".":
            return False
        position = found.end()
        return True

    word("module")
    word("prelude")
    names: dict[str, None] = {}
    while True:
        word("public")
        word("meta")
        if not word("import"):
            return tuple(names)
        word("all")
        start = _skip_blank(source, position)
        name = _NAME.match(source, start)
        if name is None:
            return tuple(names)  # Lean reports the syntax error, with its position
        names[name[0].replace("«", "").replace("»", "")] = None
        position = name.end()


def _skip_blank(source: str, position: int) -> int:
    """Skip white space and comments; ``/--`` and ``/-!`` are tokens of Lean, not comments."""
    while position < len(source):
        if source[position].isspace():
            position += 1
        elif comment := _LINE_COMMENT.match(source, position):
            position = comment.end()
        elif source.startswith("/-", position) and source[position + 2 : position + 3] not in ("-", "!"):
            position = _end_of_block(source, position)
        else:
            break
    return position


def _end_of_block(source: str, position: int) -> int:
    depth = 0
    for edge in _BLOCK_EDGE.finditer(source, position):
        depth += 1 if edge[0] == "/-" else -1
        if depth == 0:
            return edge.end()
    return len(source)


def read_sources(project: Path, modules: Sequence[str], reserved: Collection[str]) -> dict[str, Source]:
    """Read ``modules`` and every project module they import, imports before importers.

    Args:
        reserved: first components of Lean's own modules (``Init``, ...), which a project may not use.

    Raises:
        MaskpoolError: an import cycle, a module without a source, or a source that is not UTF-8.
        EnvironmentFault: a source cannot be read.
    """
    for module in modules:
        if not _PLAIN_NAME.fullmatch(module):
            raise MaskpoolError(
                f"{module!r} is not a module name; write it as in `import`, such as MaskPool.Pool."
            )
        if module.split(".")[0] in reserved:
            raise MaskpoolError(
                f"Module {module} has a name of Lean's own library; rename {source_file(module)}."
            )
        if not (project / source_file(module)).is_file():
            raise MaskpoolError(
                f"Module {module} has no source: {project / source_file(module)} does not exist."
            )
    sources: dict[str, Source] = {}
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in sources:
            sources[module] = _read(project, module, reserved)
            waiting += sources[module].imports
    order = _import_order({m: s.imports for m, s in sorted(sources.items())})
    return {module: sources[module] for module in order}


def _read(project: Path, module: str, reserved: Collection[str]) -> Source:
    file = source_file(module)
    try:
        content = (project / file).read_bytes()
    except OSError as error:
        raise EnvironmentFault(f"Cannot read {project / file}: {error.strerror}.") from error
    try:
        found = imported_modules(content.decode())
    except UnicodeDecodeError as error:
        raise MaskpoolError(f"{file} is not UTF-8 at byte {error.start}; save it as UTF-8.") from error
    own = (m for m in found if m.split(".")[0] not in reserved and (project / source_file(m)).is_file())
    return Source(module, file, content, tuple(own))


def _import_order(imports: Mapping[str, Sequence[str]]) -> list[str]:
    try:
        return list(graphlib.TopologicalSorter(imports).static_order())
    except graphlib.CycleError as error:
        cycle = " imports ".join(reversed(error.args[1]))
        raise MaskpoolError(f"Import cycle: {cycle}; remove one of these imports.") from error
