"""The objects of the files of one module, decoded when asked for.

Nothing is mapped at its address, and no cached hash or flag in the files is believed. Sharing is kept: one
object of the file is one Python object. Every loop is bounded by the size of the files: children lie before
their parents, and overlapping objects cannot be used to make more of them.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final, NoReturn

from .constants import (
    Axiom,
    Constant,
    Constructor,
    Definition,
    Inductive,
    Opaque,
    Quot,
    Recursor,
    Rule,
    Theorem,
)
from .errors import OleanError
from .expr import (
    App,
    BVar,
    Const,
    Expr,
    FVar,
    IMax,
    Lam,
    Let,
    Level,
    LevelMVar,
    Lit,
    Max,
    MData,
    MVar,
    Param,
    Pi,
    Proj,
    Sort,
    Succ,
    Zero,
)
from .header import ACCEPTED_VERSIONS, ALIGNMENT, read_header
from .names import ANONYMOUS, Name, make_name

MAX_IMAGE: Final = 1 << 28
"""Bytes of one module."""
MAX_NAT: Final = 1 << 10
"""Bytes of a number; Python refuses to print much larger ones."""

# kinds of objects; smaller ones are constructors
ARRAY: Final = 246
STRING: Final = 249
BIGNUM: Final = 250

# number of fields and bytes of scalars, by constructor
_EXPR_FIELDS: Final = (1, 1, 1, 1, 2, 2, 3, 3, 4, 1, 2, 3)
_EXPR_SCALARS: Final = (8, 8, 8, 8, 8, 8, 9, 9, 9, 8, 8, 8)
_LEVEL_FIELDS: Final = (0, 1, 2, 2, 1, 1)
_CONSTANT_SHAPES: Final = ((1, 1), (4, 1), (3, 0), (3, 1), (1, 1), (6, 3), (5, 1), (7, 2))


class Image:
    """``files`` are the files of one module in the order of :data:`~.module.PARTS`.

    Addresses are those that Lean would map the files at; an odd address is a small number itself. All
    methods raise :class:`OleanError` for an object that is not of the kind asked for.
    """

    def __init__(
        self,
        files: Sequence[bytes],
        path: Path | None = None,
        versions: Collection[str] = ACCEPTED_VERSIONS,
    ) -> None:
        if sys.byteorder != "little":
            raise OleanError("this machine is not little-endian, as the files are")
        self.path: Final = path
        first = read_header(files[0], versions)
        self.headers: Final = [first, *(read_header(data, versions, first) for data in files[1:])]
        self.pointer: Final = first.pointer
        self.base: Final = first.base
        buffer = bytearray()
        for data, header in zip(files, self.headers, strict=True):
            gap = header.base - self.base - len(buffer)
            same = (header.pointer, header.gmp, header.lean_version, header.githash) == (
                first.pointer,
                first.gmp,
                first.lean_version,
                first.githash,
            )
            if not 0 <= gap <= ALIGNMENT or not same:
                raise OleanError("the files are not of one module", len(buffer))
            if len(data) % self.pointer or len(buffer) + gap + len(data) > MAX_IMAGE:
                raise OleanError("impossible size of a file", len(buffer))
            # a pointer into a header or a gap meets the kind 255, which is none
            buffer += b"\xff" * (gap + header.size) + data[header.size :]
        self.bytes: Final = bytes(buffer)
        self.words: Final = memoryview(self.bytes).cast("I" if self.pointer == 4 else "Q")
        self._shift: Final = 2 if self.pointer == 4 else 3
        self._head: Final = 2 if self.pointer == 4 else 1  # words of an object's header
        self._names: Final[dict[int, Name]] = {1: ANONYMOUS}
        self._levels: Final[dict[int, Level]] = {1: Zero()}
        self._exprs: Final[dict[int, Expr]] = {}
        self._strings: Final[dict[int, str]] = {}
        self._name_lists: Final[dict[int, tuple[Name, ...]]] = {}
        self._level_lists: Final[dict[int, tuple[Level, ...]]] = {}
        self._shapes: Final[dict[int, int]] = {}  # header of an expression -> words of it, if well formed
        self._budget = 4096 + 2 * len(self.words)  # elements of lists and words of numbers, still to be read

    # -- single objects

    def fail(self, message: str, address: int) -> NoReturn:
        """Raise an :class:`OleanError` for the object at ``address``."""
        offset = address - self.base
        raise OleanError(message, offset if 0 <= offset <= len(self.bytes) else None, self.path)

    def header(self, address: int) -> tuple[int, int, int, int]:
        """Of an object: index of its first word, size, number of pointers, kind."""
        index = (address - self.base) >> self._shift
        if address & (self.pointer - 1) or not 0 <= index < len(self.words) - 1:
            self.fail("a pointer leads outside of the files", address)
        key = self.words[index + 1] if self._head == 2 else self.words[index] >> 32
        return index, key & 0xFFFF, key >> 16 & 0xFF, key >> 24

    def constructor(self, address: int, tag: int, fields: int, scalars: int = 0) -> int:
        """Check the shape of a constructor object; the index in ``words`` of its first field."""
        index, size, other, found = self.header(address)
        need = 8 + fields * self.pointer + scalars
        if found != tag or other != fields or size < need:
            self.fail(f"object of kind {found} with {other} fields in place of {tag} with {fields}", address)
        if address - self.base + need > len(self.bytes):
            self.fail("an object is cut off", address)
        return index + self._head

    def scalar(self, index: int, fields: int, offset: int, width: int) -> int:
        """An unsigned number of ``width`` bytes, ``offset`` bytes after the ``fields`` at ``index``."""
        start = ((index + fields) << self._shift) + offset
        return int.from_bytes(self.bytes[start : start + width], "little")

    def flag(self, index: int, fields: int, offset: int, limit: int = 1) -> int:
        """An enumeration value of one byte, at most ``limit``."""
        value = self.bytes[((index + fields) << self._shift) + offset]
        if value > limit:
            self.fail(f"enumeration value {value}, at most {limit}", self.base + (index << self._shift))
        return value

    def _sized(self, address: int, tag: int, sizes: int, width: int) -> tuple[int, int]:
        index, _, _, found = self.header(address)
        if found != tag:
            self.fail(f"object of kind {found} in place of {tag}", address)
        start = index + self._head + sizes
        if start > len(self.words):
            self.fail("an object is cut off", address)
        count = self.words[index + self._head]
        if (start << self._shift) + count * width > len(self.bytes):
            self.fail("an object is larger than the file", address)
        return start, count

    def array(self, address: int) -> memoryview:
        """The elements of an array, as words; no copy."""
        start, count = self._sized(address, ARRAY, 2, self.pointer)
        return self.words[start : start + count]

    def string(self, address: int) -> str:
        """A string."""
        text = self._strings.get(address)
        if text is None:
            start, count = self._sized(address, STRING, 3, 1)
            raw = self.bytes[start << self._shift : (start << self._shift) + count]
            try:
                text = raw[:-1].decode("utf-8")
            except UnicodeDecodeError:
                self.fail("a string is not UTF-8", address)
            if raw[-1:] != b"\0" or len(text) != self.words[start - 1]:
                self.fail("a string is not as long as it says", address)
            self._strings[address] = text
        return text

    def nat(self, address: int) -> int:
        """A natural number."""
        if address & 1:
            return address >> 1
        index, _, _, tag = self.header(address)
        if tag != BIGNUM:
            self.fail(f"object of kind {tag} in place of a number", address)
        index += self._head
        # GMP: int32 allocated, int32 size with sign, pointer; Lean's own: bool sign, words, pointer to uint32
        gmp, narrow = self.headers[0].gmp, self.pointer == 4
        end = index + (2 if gmp and not narrow else 3)
        if end > len(self.words):
            self.fail("an object is cut off", address)
        length = self.scalar(index, 0, 4, 4) * self.pointer if gmp else self.words[index + 1] * 4
        at = self.words[end - 1] - self.base
        negative = not gmp and self.bytes[index << self._shift]
        if negative or length > MAX_NAT:  # a negative size is a large one here
            self.fail("a number is negative or too large", address)
        if not end << self._shift <= at <= len(self.bytes) - length:
            self.fail("the digits of a number are outside of the file", address)
        self._spend(length // 4, address)
        return int.from_bytes(self.bytes[at : at + length], "little")

    def list(self, address: int) -> list[int]:
        """The elements of a ``List``, as words."""
        result: list[int] = []
        while address != 1:
            index = self.constructor(address, 1, 2)
            result.append(self.words[index])
            address = self._below(address, self.words[index + 1])
        self._spend(len(result), address)
        return result

    def _spend(self, words: int, address: int) -> None:
        # Lists can share their ends, and numbers their digits: without this, a small file could grow large.
        self._budget -= words
        if self._budget < 0:
            self.fail("lists or numbers overlap without measure", address)

    def _below(self, parent: int, child: int) -> int:
        # Lean writes children first; this also rules out cycles
        if not child & 1 and child >= parent:
            self.fail("an object refers to a later one", parent)
        return child

    # -- names, levels, expressions

    def name(self, address: int) -> Name:
        """A name."""
        names = self._names
        name = names.get(address)
        if name is not None:
            return name
        chain: list[tuple[int, str | int]] = []
        while (name := names.get(address)) is None:
            tag = self.header(address)[3]
            index = self.constructor(address, 2 if tag == 2 else 1, 2, 8)
            last = self.words[index + 1]
            chain.append((address, self.nat(last) if tag == 2 else self.string(last)))
            address = self._below(address, self.words[index])
        for address, part in reversed(chain):
            name = names[address] = make_name(part, parent=name)
        return name

    def names(self, address: int) -> tuple[Name, ...]:
        """A ``List Name``."""
        found = self._name_lists.get(address)
        if found is None:
            found = self._name_lists[address] = tuple([self.name(a) for a in self.list(address)])
        return found

    def _levels_at(self, address: int) -> tuple[Level, ...]:
        found = self._level_lists.get(address)
        if found is None:
            found = self._level_lists[address] = tuple([self.level(a) for a in self.list(address)])
        return found

    def level(self, root: int) -> Level:
        """A universe level."""
        memo, words = self._levels, self.words
        stack = [root]
        while stack:
            address = stack[-1]
            if address in memo:
                stack.pop()
                continue
            tag = self.header(address)[3]
            if not 1 <= tag <= 5:
                self.fail(f"object of kind {tag} in place of a level", address)
            index = self.constructor(address, tag, _LEVEL_FIELDS[tag], 8)
            if tag >= 4:
                memo[address] = (Param if tag == 4 else LevelMVar)(self.name(words[index]))
                continue
            below = [self._below(address, words[index + i]) for i in range(_LEVEL_FIELDS[tag])]
            missing = [child for child in below if child not in memo]
            if missing:
                stack += missing
            elif tag == 1:
                memo[address] = Succ(memo[below[0]])
            else:
                memo[address] = (Max if tag == 2 else IMax)(memo[below[0]], memo[below[1]])
        return memo[root]

    def _shape(self, address: int, key: int) -> int:
        """Words of an expression whose header ends in ``key``: size, number of pointers, kind."""
        tag = key >> 24
        if tag > 11:
            self.fail(f"object of kind {tag} in place of an expression", address)
        need = 8 + _EXPR_FIELDS[tag] * self.pointer + _EXPR_SCALARS[tag]
        if key >> 16 & 255 != _EXPR_FIELDS[tag] or key & 0xFFFF < need:
            self.fail(f"malformed expression of kind {tag}", address)
        words = self._shapes[key] = -(-need // self.pointer)
        return words

    def expr(self, root: int) -> Expr:
        """An expression. One loop without calls where they can be spared: most of the time goes here."""
        memo = self._exprs
        words, base, shift, head = self.words, self.base, self._shift, self._head
        size, mask, shapes, narrow = len(words), self.pointer - 1, self._shapes, self.pointer == 4
        get = memo.get
        stack = [root]
        while stack:
            address = stack[-1]
            if address in memo:
                stack.pop()
                continue
            i = (address - base) >> shift
            if address & mask or not 0 <= i < size - 1:
                self.fail("a pointer leads outside of the files", address)
            key = words[i + 1] if narrow else words[i] >> 32
            need = shapes.get(key) or self._shape(address, key)
            if i + need > size:
                self.fail("an object is cut off", address)
            i += head
            tag = key >> 24
            e: Expr
            if tag == 5:
                a, b = words[i], words[i + 1]
                f, x = get(a), get(b)
                if f is None or x is None:
                    stack += (self._below(address, a), self._below(address, b))
                    continue
                e = App(f, x)
            elif tag in (6, 7):
                a, b = words[i + 1], words[i + 2]
                f, x = get(a), get(b)
                if f is None or x is None:
                    stack += (self._below(address, a), self._below(address, b))
                    continue
                e = (Lam if tag == 6 else Pi)(self.name(words[i]), f, x, self.flag(i, 3, 8, 3))
            elif tag == 4:
                e = Const(self.name(words[i]), self._levels_at(words[i + 1]))
            elif tag == 8:
                a, b, c = words[i + 1], words[i + 2], words[i + 3]
                f, x, y = get(a), get(b), get(c)
                if f is None or x is None or y is None:
                    stack += (self._below(address, a), self._below(address, b), self._below(address, c))
                    continue
                e = Let(self.name(words[i]), f, x, y, self.flag(i, 4, 8) == 1)
            elif tag in (10, 11):
                a = words[i + tag - 9]
                f = get(a)
                if f is None:
                    stack.append(self._below(address, a))
                    continue
                e = MData(f) if tag == 10 else Proj(self.name(words[i]), self.nat(words[i + 1]), f)
            elif tag == 0:
                e = BVar(self.nat(words[i]))
            elif tag == 9:
                e = self._literal(words[i])
            elif tag == 3:
                e = Sort(self.level(words[i]))
            else:
                e = (FVar if tag == 1 else MVar)(self.name(words[i]))
            memo[address] = e
            stack.pop()
        return memo[root]

    def _literal(self, address: int) -> Lit:
        kind = self.header(address)[3]
        value = self.words[self.constructor(address, 0 if kind == 0 else 1, 1)]
        return Lit(self.nat(value) if kind == 0 else self.string(value))

    # -- constants

    def constant_parts(self, address: int) -> tuple[int, int, int]:
        """Of a ``ConstantInfo``: its constructor, and the indices of the fields of its value and of the
        ``ConstantVal`` (name, universe parameters, type) therein."""
        tag = self.header(address)[3]
        if tag >= len(_CONSTANT_SHAPES):
            self.fail(f"object of kind {tag} in place of a constant", address)
        index = self.constructor(self.words[self.constructor(address, tag, 1)], 0, *_CONSTANT_SHAPES[tag])
        return tag, index, self.constructor(self.words[index], 0, 3)

    def constant_content(self, address: int) -> tuple[int, bytes]:
        """Of a ``ConstantInfo``: its constructor, and the fields of its value as they are in the file."""
        tag, index, _ = self.constant_parts(address)
        fields, scalars = _CONSTANT_SHAPES[tag]
        start = index << self._shift
        return tag, self.bytes[start : start + fields * self.pointer + scalars]

    def constant(self, address: int) -> Constant:
        """A ``ConstantInfo`` with all its terms."""
        tag, i, v = self.constant_parts(address)
        w = self.words
        name, params, type_ = self.name(w[v]), self.names(w[v + 1]), self.expr(w[v + 2])
        match tag:
            case 0:
                return Axiom(name, params, type_, unsafe=self.flag(i, 1, 0) == 1)
            case 1:
                value, all_ = self.expr(w[i + 1]), self.names(w[i + 3])
                safety = ("unsafe", "safe", "partial")[self.flag(i, 4, 0, 2)]
                return Definition(name, params, type_, value, self._height(w[i + 2]), all_, safety)  # type: ignore[arg-type]
            case 2:
                return Theorem(name, params, type_, self.expr(w[i + 1]), self.names(w[i + 2]))
            case 3:
                unsafe = self.flag(i, 3, 0) == 1
                return Opaque(name, params, type_, self.expr(w[i + 1]), self.names(w[i + 2]), unsafe)
            case 4:
                which = ("type", "mk", "lift", "ind")[self.flag(i, 1, 0, 3)]
                return Quot(name, params, type_, which)  # type: ignore[arg-type]
            case 5:
                recursive, unsafe, reflexive = (self.flag(i, 6, k) == 1 for k in range(3))
                return Inductive(
                    name,
                    params,
                    type_,
                    num_params=self.nat(w[i + 1]),
                    num_indices=self.nat(w[i + 2]),
                    all=self.names(w[i + 3]),
                    ctors=self.names(w[i + 4]),
                    num_nested=self.nat(w[i + 5]),
                    recursive=recursive,
                    unsafe=unsafe,
                    reflexive=reflexive,
                )
            case 6:
                return Constructor(
                    name,
                    params,
                    type_,
                    induct=self.name(w[i + 1]),
                    index=self.nat(w[i + 2]),
                    num_params=self.nat(w[i + 3]),
                    num_fields=self.nat(w[i + 4]),
                    unsafe=self.flag(i, 5, 0) == 1,
                )
            case _:
                return Recursor(
                    name,
                    params,
                    type_,
                    all=self.names(w[i + 1]),
                    num_params=self.nat(w[i + 2]),
                    num_indices=self.nat(w[i + 3]),
                    num_motives=self.nat(w[i + 4]),
                    num_minors=self.nat(w[i + 5]),
                    rules=tuple([self._rule(a) for a in self.list(w[i + 6])]),
                    k=self.flag(i, 7, 0) == 1,
                    unsafe=self.flag(i, 7, 1) == 1,
                )

    def _height(self, hints: int) -> int | None:
        if hints in (1, 3):  # ReducibilityHints.opaque and .abbrev, which have no fields
            return None if hints == 1 else -1
        return self.scalar(self.constructor(hints, 2, 0, 4), 0, 0, 4)

    def _rule(self, address: int) -> Rule:
        r = self.constructor(address, 0, 3)
        return Rule(self.name(self.words[r]), self.nat(self.words[r + 1]), self.expr(self.words[r + 2]))
