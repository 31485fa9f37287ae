"""Machine code of the embedded Lean, kept from one process for the next ones.

Node translates a function of ``lean.wasm`` when it is first called, and once more when it is called often.
That takes a process 3 CPU-seconds for its first module. What it has translated can be loaded by another one,
with the same version of Node on the same kind of processor; Node refuses any other.

Layout of ``machine-code`` in the cache directory::

    SHA256          the code
    record.json     its checksum and size, sealed with the key of this user
    lock            held while code is saved
    new.*/          code that is being saved
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from maskpool_verify.engine.wasm.sealed import Sealed
from maskpool_verify.files import exclusive, write_whole

_GROWTH = 1.05
"""How much more code than is kept is worth being kept instead."""


class _Record(Sealed):
    schema_version: Literal[1] = 1
    sha256: str
    size: int
    node: str
    """The command that wrote it."""


@dataclass(frozen=True)
class MachineCode:
    """The machine code in a cache directory.

    Args:
        cache: the directory.
        key: of this user; a record without its seal does not count.
        node: the command that runs Node; code that another has written is not used.
    """

    cache: Path
    key: bytes
    node: str

    def arguments(self) -> list[str]:
        """The file and its checksum, as arguments of ``lean.cjs``; none if nothing is kept."""
        record = self._record()
        return [str(self._directory / record.sha256), record.sha256] if record else []

    def renew(self, save: Callable[[Path, int], bool]) -> None:
        """Keep the code that ``save`` writes to a file, if there are at least so many bytes of it.

        A process that is about to read what was kept before will do without.
        """
        with exclusive(self._directory / "lock"):
            record = self._record()
            with tempfile.TemporaryDirectory(prefix="new.", dir=self._directory) as name:
                file = Path(name, "code")
                if not save(file, int(_GROWTH * record.size) if record else 1):
                    return
                content = file.read_bytes()
                record = _Record(
                    sha256=hashlib.sha256(content).hexdigest(), size=len(content), node=self.node
                )
                file.replace(self._directory / record.sha256)
            sealed = record.sealed(self.key).model_dump_json().encode()
            write_whole(self._directory / "record.json", sealed)
            for other in self._directory.iterdir():
                if other.is_dir():
                    shutil.rmtree(other)  # of a killed process: a living one holds the lock
                elif other.name not in (record.sha256, "record.json", "lock"):
                    other.unlink()

    def forget(self) -> None:
        """Keep nothing."""
        (self._directory / "record.json").unlink(missing_ok=True)

    @property
    def _directory(self) -> Path:
        return self.cache / "machine-code"

    def _record(self) -> _Record | None:
        try:
            record = _Record.model_validate_json((self._directory / "record.json").read_bytes())
        except (OSError, ValidationError):  # then it is made anew
            return None
        return record if record.is_genuine(self.key) and record.node == self.node else None
