"""Every error that a user can meet: one sentence that says what, where, and what to do.

The command line turns a :class:`MaskpoolError` into that sentence and an exit code; it never shows a
traceback for one. Anything else that escapes is a defect of this program.
"""

from __future__ import annotations

from typing import ClassVar


class MaskpoolError(Exception):
    """Base class; ``str(error)`` is the sentence, ``exit_code`` what the process returns."""

    exit_code: ClassVar[int] = 1


class UsageError(MaskpoolError):
    """The command line asks for something that does not exist or contradicts itself."""

    exit_code = 2


class ManifestError(MaskpoolError):
    """The manifest is missing, malformed, or does not fit the kernel it describes."""

    exit_code = 2


class TraceError(MaskpoolError):
    """The kernel cannot be loaded or traced: it raises, or its shapes do not fit."""


class UnsupportedError(MaskpoolError):
    """The kernel uses a primitive, parameter, dtype, effect or literal outside the embedding."""


class StaleError(MaskpoolError):
    """A committed certificate is not what the kernel gives now."""


class AuditError(MaskpoolError):
    """A compiled artifact is malformed, or a theorem rests on more than it may."""


class EnvironmentFault(MaskpoolError):
    """The machine lacks something: engine, network, disk space, permissions."""

    exit_code = 3
