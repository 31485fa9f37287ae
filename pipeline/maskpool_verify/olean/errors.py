"""The one error of this package."""

from __future__ import annotations

from pathlib import Path

from maskpool_verify.errors import AuditError


class OleanError(AuditError):
    """A file is not what Lean writes.

    ``offset`` counts bytes from the start of the first file of the module, ``path`` is that file; either
    may be unknown.
    """

    def __init__(self, message: str, offset: int | None = None, path: Path | None = None) -> None:
        super().__init__(message)
        self.message, self.offset, self.path = message, offset, path

    def __str__(self) -> str:
        place = "" if self.offset is None else f" at byte {self.offset:#x}"
        return f"{self.path or 'compiled Lean module'}{place}: {self.message}; build the module again"
