"""The first bytes of an ``.olean`` file: which Lean wrote it, and where its objects lie."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from .errors import OleanError

MARKER: Final = b"olean"
HEADER_VERSION: Final = 2
ACCEPTED_VERSIONS: Final = frozenset({"4.28.0-pre", "4.28.0"})
"""Lean versions whose layout of objects this reader knows; it is not guaranteed between versions."""

ALIGNMENT: Final = 1 << 16
"""The files of one module begin at multiples of this in their address space."""


@dataclass(frozen=True, slots=True)
class Header:
    """``gmp``: big numbers as in GMP, else Lean's own; ``pointer``: bytes of a pointer, 4 or 8.

    ``base`` is the address of byte 0 of the file, ``root`` that of the ``ModuleData`` object.
    """

    gmp: bool
    lean_version: str
    githash: str
    base: int
    pointer: int
    root: int

    @property
    def size(self) -> int:
        """Bytes before the first object."""
        return 80 + 2 * self.pointer


def _text(data: bytes, offset: int) -> str:
    text, _, rest = data.partition(b"\0")
    if rest.strip(b"\0") or not text.isascii() or not text.decode("ascii").isprintable():
        raise OleanError("malformed header", offset)
    return text.decode("ascii")


def read_header(
    data: bytes, versions: Collection[str] = ACCEPTED_VERSIONS, first: Header | None = None
) -> Header:
    """Read the header of one file; ``first`` is that of the first file of the module, for the further ones.

    A further file may consist of a header alone, whose root lies in an earlier file: so it is for a module
    that declares nothing.

    Raises:
        OleanError: it is malformed, or written by a Lean that is not one of ``versions``.
    """
    if data[:5] != MARKER:
        raise OleanError("not an .olean file", 0)
    if len(data) < (first.size if first else 96):
        raise OleanError("the file is cut off", len(data))
    if data[5] != HEADER_VERSION:
        raise OleanError(f"unknown header version {data[5]}, expected {HEADER_VERSION}", 5)
    if data[6] > 1:
        raise OleanError(f"unknown flags {data[6]:#x}", 6)
    version = _text(data[7:40], 7)
    if version not in versions:
        raise OleanError(
            f"written by Lean {version or '(unnamed)'}, expected {' or '.join(sorted(versions))}", 7
        )
    # The pointer size is not written down: it is the one with which the root lies in the first file.
    found: list[Header] = []
    for pointer in (first.pointer,) if first else (4, 8):
        base = int.from_bytes(data[80 : 80 + pointer], "little")
        root = int.from_bytes(data[80 + pointer : 80 + 2 * pointer], "little")
        header = Header(data[6] == 1, version, _text(data[40:80], 40), base, pointer, root)
        start = first.base + first.size if first else base + header.size
        if base % ALIGNMENT == 0 and root % pointer == 0 and start <= root < base + len(data):
            found.append(header)
    if len(found) != 1:
        raise OleanError("the root object is outside of the file", 80)
    return found[0]
