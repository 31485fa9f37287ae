"""What the second kernel is asked, and what it answers: both go to and from the child process as JSON.

The child reads lines: a :class:`Request`, then one :class:`Handed` after another until there are no more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from maskpool_verify.olean.constants import Kind

Schema: TypeAlias = Literal["maskpool-verify/second-kernel/2"]
SCHEMA: Schema = "maskpool-verify/second-kernel/2"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True, populate_by_name=True)


class Request(_Frozen):
    """Replay the modules that follow, what they import of the directory ``own``, and use of ``library``.

    ``progress`` is the number of an open file, in which the child says what it is doing.
    """

    schema_version: Schema = Field(alias="schema")
    installation: Path
    wheel: str
    own: Path
    library: tuple[Path, ...]
    progress: int


class Handed(_Frozen):
    """Modules that have been built, after all that they import."""

    modules: tuple[str, ...] = Field(min_length=1)


class KernelIdentity(_Frozen):
    """Which kernel: ``sha256`` is that of the shared library, ``wheel`` the package it came in."""

    name: Literal["native Lean"]
    version: str
    githash: str = Field(pattern="^[0-9a-f]{40}$")
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    wheel: str


class Counts(_Frozen):
    """``declared`` constants are in the kernel: ``own`` ones, and ``library`` ones that these need.

    ``compared`` of them were derived by the kernel, as recursors, and are the same in the files.
    ``assumptions`` of the library ones came without a body. ``skipped`` own constants are unsafe or partial;
    no declared constant can name one.
    """

    declared: int = Field(ge=0)
    own: int = Field(ge=0)
    library: int = Field(ge=0)
    compared: int = Field(ge=0)
    assumptions: int = Field(ge=0)
    skipped: int = Field(ge=0)


class Assumption(_Frozen):
    """A constant of Lean's library whose body the engine does not ship, so that only its type was checked."""

    name: str
    kind: Kind


class Refusal(_Frozen):
    """Why the replay was refused: ``declaration`` of ``module``, if it got so far; the ``error`` of the
    kernel in words; and what it means. ``position`` is the ``file:line:column`` of the declaration, as the
    engine recorded it."""

    declaration: str | None
    module: str | None
    position: str | None = None
    error: str
    meaning: str


class SecondKernelResult(_Frozen):
    """What the second kernel says of the whole project.

    ``accepted``: it checked every declaration. ``refused``: it did not, for ``refusal``. ``unavailable``:
    there is none here, because of ``why``. ``seconds`` of processor time and ``megabytes`` are what the child
    process took.
    """

    status: Literal["accepted", "refused", "unavailable"]
    kernel: KernelIdentity | None = None
    counts: Counts | None = None
    assumptions: tuple[Assumption, ...] = ()
    refusal: Refusal | None = None
    why: str | None = None
    seconds: float | None = None
    megabytes: int | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        accepted, refused = self.status == "accepted", self.status == "refused"
        if accepted and (self.kernel is None or self.counts is None or self.counts.own == 0):
            raise ValueError("accepted, but not by a kernel, or nothing")
        if self.counts is not None and self.counts.assumptions != len(self.assumptions):
            raise ValueError("the assumptions are not all listed")
        if refused != (self.refusal is not None) or (self.status == "unavailable") != (self.why is not None):
            raise ValueError(f"{self.status}, but with the reason of something else")
        return self

    @property
    def library_theorems(self) -> tuple[str, ...]:
        """The assumptions that are theorems of Lean's library."""
        return tuple(a.name for a in self.assumptions if a.kind == "theorem")


class Answer(_Frozen):
    """What the child process writes before it ends; ``files`` are the SHA-256 of what it read of the own
    modules, by their names."""

    schema_version: Schema = Field(alias="schema")
    result: SecondKernelResult
    files: dict[str, str]
