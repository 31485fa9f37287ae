"""What an engine is: it builds Lean modules and says where the compiled artifacts are.

An engine knows nothing about kernels or certificates. Adding one means one more module that implements
:class:`Engine`; nothing else changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Position(_Frozen):
    """A place in a Lean source: ``line`` from 1, ``column`` from 0, as Lean counts them."""

    line: int
    column: int


class Message(_Frozen):
    """A message of the elaborator. ``file`` is the source path relative to the project, with ``/``."""

    severity: Literal["error", "warning", "information"]
    file: str
    position: Position | None
    text: str


class ModuleResult(_Frozen):
    """What became of one module.

    ``built``: compiled now; ``cached``: unchanged, the artifacts and messages of last time stand;
    ``failed``: Lean reported an error; ``skipped``: not tried, because an import failed.
    """

    module: str
    status: Literal["built", "cached", "failed", "skipped"]
    seconds: float
    messages: tuple[Message, ...]


class EngineInfo(_Frozen):
    """Which Lean did the work.

    ``source`` says where it comes from, with a checksum where there is one; ``files`` are the SHA-256 of its
    files by name, as recorded when it was installed.
    """

    name: Literal["wasm", "lake"]
    lean_version: str
    githash: str
    source: str
    files: dict[str, str] = {}


class Artifacts(_Frozen):
    """Where ``A/B.olean`` (``.server``, ``.private``) of module ``A.B`` lie.

    ``own`` holds the project's modules, ``library`` Lean's own (``Init``, ...).
    """

    own: Path
    library: tuple[Path, ...]


class Progress(_Frozen):
    """One step of a build: ``module`` has begun (``result`` is None) or ended."""

    module: str
    result: ModuleResult | None
    done: int
    total: int


class Engine(Protocol):
    """Builds the Lean modules below a project directory; module ``A.B`` is the file ``A/B.lean``."""

    @property
    def name(self) -> Literal["wasm", "lake"]:
        """The name by which ``--engine`` selects it."""
        ...

    def info(self) -> EngineInfo:
        """Describe the Lean that this engine runs.

        Raises:
            EnvironmentFault: it is not installed, or is not the version this project is for.
        """
        ...

    def build(
        self,
        project: Path,
        modules: Sequence[str],
        *,
        fresh: bool = False,
        seconds: Callable[[str], float] = lambda _: math.inf,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> dict[str, ModuleResult]:
        """Build ``modules`` and the project modules they import, in the order of their imports.

        ``seconds`` is asked how long a module may take when it is about to be built; one that takes longer
        fails. An engine that builds all modules in one process limits none.

        A module whose source and imports are unchanged is not rebuilt, unless ``fresh``. An error in a
        module fails it and skips its importers; the others are still built. Returns a result for
        every module reached. Nothing half-written remains if the process is interrupted.

        Raises:
            EnvironmentFault: Lean cannot be run, or the directory cannot be written.
            MaskpoolError: an import cycle, or a module without a source.
        """
        ...

    def session(
        self, project: Path, modules: Sequence[str], *, fresh: bool = False
    ) -> AbstractContextManager[None]:
        """Within it builds share what takes time to start; that begins at once if ``modules`` need a build.

        Says nothing of faults, which a build reports.
        """
        ...

    def artifacts(self, project: Path) -> Artifacts:
        """Where the compiled artifacts of this project are."""
        ...
