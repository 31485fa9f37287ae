"""Reader of the compiled modules of Lean 4 (``.olean``, header version 2), of 32 and of 64 bit.

Uses nothing of Lean, so that what it finds does not rest on Lean's word.
"""

from __future__ import annotations

from .errors import OleanError
from .header import ACCEPTED_VERSIONS, Header
from .module import PARTS, Import, ModuleData, decode, load
from .names import ANONYMOUS, Name, make_name, parse_name
from .pretty import pretty

__all__ = [
    "ACCEPTED_VERSIONS",
    "ANONYMOUS",
    "PARTS",
    "Header",
    "Import",
    "ModuleData",
    "Name",
    "OleanError",
    "decode",
    "load",
    "make_name",
    "parse_name",
    "pretty",
]
