"""Writes ``.olean`` files, honest or not, from terms: what a hostile machine could put in place of Lean's.

The layout is that of Lean 4.28: ``src/runtime/compact.cpp`` and ``object.h`` of Lean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from maskpool_verify.olean import Name
from maskpool_verify.olean import constants as c
from maskpool_verify.olean import expr as x

VERSION, GITHASH = "4.28.0", "0123456789abcdef0123456789abcdef01234567"
KIND_EXTENSION = ("_private", "Lean", "AddDecl", 0, "Lean", "privateConstKindsExt")
STEP = 1 << 16


class Writer:
    """The files of one module: write objects, then :meth:`end` each file with its root object.

    Objects of earlier files can be referred to; equal objects are written once, as by Lean.
    """

    def __init__(
        self, pointer: int = 4, gmp: bool = False, version: str = VERSION, githash: str = GITHASH
    ) -> None:
        self.pointer, self.gmp, self.version, self.githash = pointer, gmp, version, githash
        self.base, self.data = 7 * STEP, bytearray(80 + 2 * pointer)
        self.known: dict[Any, int] = {}
        self.kept: list[object] = []  # so that ids in ``known`` stay their own

    # -- objects

    def _words(self, *values: int) -> bytes:
        return b"".join(v.to_bytes(self.pointer, "little") for v in values)

    def object(self, tag: int, other: int, body: bytes, size: int = 1) -> int:
        """One object; ``size`` is what its header says, if not the size of a constructor."""
        self.data += b"\0" * (-len(self.data) % self.pointer)
        address = self.base + len(self.data)
        body += b"\0" * (-(8 + len(body)) % self.pointer)
        size = 8 + len(body) if tag < 245 else size
        self.data += b"\0\0\0\0" + size.to_bytes(2, "little") + bytes([other, tag]) + body
        return address

    def constructor(self, tag: int, *fields: int, scalars: bytes = b"") -> int:
        """A constructor object; one without fields and scalars is a small number."""
        if not fields and not scalars:
            return 2 * tag + 1
        return self.object(tag, len(fields), self._words(*fields) + scalars)

    def array(self, elements: Iterable[int]) -> int:
        items = list(elements)
        return self.object(246, 0, self._words(len(items), len(items), *items))

    def list(self, elements: Sequence[int]) -> int:
        address = 1
        for element in reversed(elements):
            address = self._once(("list", element, address), partial(self.constructor, 1, element, address))
        return address

    def string(self, text: str) -> int:
        raw = text.encode() + b"\0"
        return self._once(
            ("string", text), lambda: self.object(249, 0, self._words(len(raw), len(raw), len(text)) + raw)
        )

    def nat(self, value: int) -> int:
        if value < 1 << (8 * self.pointer - 1):
            return 2 * value + 1
        unit = self.pointer if self.gmp else 4
        count = -(-value.bit_length() // (8 * unit))
        head = 8 + self.pointer if self.gmp else 3 * self.pointer
        self.data += b"\0" * (-len(self.data) % self.pointer)
        digits = self.base + len(self.data) + 8 + head
        if self.gmp:
            fields = count.to_bytes(4, "little") * 2 + self._words(digits)
        else:
            fields = self._words(0, count, digits)
        return self.object(250, 0, fields + value.to_bytes(count * unit, "little"))

    def _once(self, key: Any, make: Callable[[], int]) -> int:
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    # -- names, levels, expressions, constants

    def name(self, name: Name) -> int:
        if name.parent is None or name.last is None:
            return 1
        parent, last = self.name(name.parent), name.last
        if isinstance(last, str):
            return self._once(
                name, lambda: self.constructor(1, parent, self.string(last), scalars=b"\xaa" * 8)
            )
        return self._once(name, lambda: self.constructor(2, parent, self.nat(last), scalars=b"\xaa" * 8))

    def names(self, names: Iterable[Name]) -> int:
        return self.list([self.name(n) for n in names])

    def level(self, level: x.Level) -> int:
        junk = b"\xbb" * 8  # a cached hash, not to be believed
        match level:
            case x.Zero():
                return 1
            case x.Succ(u):
                return self.constructor(1, self.level(u), scalars=junk)
            case x.Max(u, v) | x.IMax(u, v):
                fields = self.level(u), self.level(v)
                return self.constructor(2 if isinstance(level, x.Max) else 3, *fields, scalars=junk)
            case x.Param(n) | x.LevelMVar(n):
                return self.constructor(4 if isinstance(level, x.Param) else 5, self.name(n), scalars=junk)

    def expr(self, e: x.Expr) -> int:
        self.kept.append(e)
        return self._once(("expr", id(e)), lambda: self._expr(e))

    def _expr(self, e: x.Expr) -> int:
        junk = b"\xcc" * 8
        match e:
            case x.BVar(i):
                tag, fields = 0, [self.nat(i)]
            case x.FVar(n):
                tag, fields = 1, [self.name(n)]
            case x.MVar(n):
                tag, fields = 2, [self.name(n)]
            case x.Sort(u):
                tag, fields = 3, [self.level(u)]
            case x.Const(n, us):
                tag, fields = 4, [self.name(n), self.list([self.level(u) for u in us])]
            case x.App(f, a):
                tag, fields = 5, [self.expr(f), self.expr(a)]
            case x.Lam(n, t, b, info) | x.Pi(n, t, b, info):
                tag, fields = 6 if isinstance(e, x.Lam) else 7, [self.name(n), self.expr(t), self.expr(b)]
                junk += bytes([info])
            case x.Let(n, t, v, b, nondep):
                tag, fields = 8, [self.name(n), self.expr(t), self.expr(v), self.expr(b)]
                junk += bytes([nondep])
            case x.Lit(v):
                literal = (
                    self.constructor(0, self.nat(v))
                    if isinstance(v, int)
                    else self.constructor(1, self.string(v))
                )
                tag, fields = 9, [literal]
            case x.MData(b):
                tag, fields = 10, [1, self.expr(b)]
            case x.Proj(n, i, b):
                tag, fields = 11, [self.name(n), self.nat(i), self.expr(b)]
        return self.constructor(tag, *fields, scalars=junk)

    def constant(self, k: c.Constant) -> int:
        self.kept.append(k)
        val = self._once(
            ("val", id(k.type), k.name),
            lambda: self.constructor(0, self.name(k.name), self.names(k.level_params), self.expr(k.type)),
        )
        match k:
            case c.Axiom(unsafe=unsafe):
                tag, value = 0, self.constructor(0, val, scalars=bytes([unsafe]))
            case c.Definition():
                hints = 1 if k.height is None else 3 if k.height < 0 else 0
                hints = hints or self.constructor(2, scalars=(k.height or 0).to_bytes(4, "little"))
                safety = bytes([("unsafe", "safe", "partial").index(k.safety)])
                fields = val, self.expr(k.value), hints, self.names(k.all)
                tag, value = 1, self.constructor(0, *fields, scalars=safety)
            case c.Theorem():
                tag, value = 2, self.constructor(0, val, self.expr(k.value), self.names(k.all))
            case c.Opaque():
                fields3 = val, self.expr(k.value), self.names(k.all)
                tag, value = 3, self.constructor(0, *fields3, scalars=bytes([k.unsafe]))
            case c.Quot():
                which = bytes([("type", "mk", "lift", "ind").index(k.which)])
                tag, value = 4, self.constructor(0, val, scalars=which)
            case c.Inductive():
                numbers = self.nat(k.num_params), self.nat(k.num_indices)
                fields6 = val, *numbers, self.names(k.all), self.names(k.ctors), self.nat(k.num_nested)
                tag = 5
                value = self.constructor(0, *fields6, scalars=bytes([k.recursive, k.unsafe, k.reflexive]))
            case c.Constructor():
                counts = map(self.nat, (k.index, k.num_params, k.num_fields))
                tag, value = (
                    6,
                    self.constructor(0, val, self.name(k.induct), *counts, scalars=bytes([k.unsafe])),
                )
            case c.Recursor():
                counts = map(self.nat, (k.num_params, k.num_indices, k.num_motives, k.num_minors))
                rules = self.list([self._once(("rule", id(r)), partial(self._rule, r)) for r in k.rules])
                tag = 7
                value = self.constructor(
                    0, val, self.names(k.all), *counts, rules, scalars=bytes([k.k, k.unsafe])
                )
        return self.constructor(tag, value)

    def _rule(self, r: c.Rule) -> int:
        return self.constructor(0, self.name(r.ctor), self.nat(r.num_fields), self.expr(r.rhs))

    # -- files

    def module(
        self,
        constants: Sequence[c.Constant] = (),
        imports: Sequence[Name] = (),
        entries: Mapping[Name, Sequence[int]] | None = None,
        names: Sequence[Name] | None = None,
        is_module: bool = True,
    ) -> int:
        """A ``ModuleData``; ``names`` if the list of names is to lie."""
        listed = [k.name for k in constants] if names is None else names
        return self.constructor(
            0,
            self.array([self.constructor(0, self.name(i), scalars=b"\0\1\0") for i in imports]),
            self.array([self.name(n) for n in listed]),
            self.array([self.constant(k) for k in constants]),
            self.array([]),
            self.array(
                [self.constructor(0, self.name(n), self.array(e)) for n, e in (entries or {}).items()]
            ),
            scalars=bytes([is_module]),
        )

    def pair(self, name: Name, value: int) -> int:
        """An entry of an extension."""
        return self.constructor(0, self.name(name), value)

    def end(self, root: int) -> bytes:
        """The file with everything since the last one."""
        data = self.data + b"\0" * (-len(self.data) % self.pointer)
        header = b"olean\2" + bytes([self.gmp])
        header += self.version.encode().ljust(33, b"\0") + self.githash.encode().ljust(40, b"\0")
        data[: 80 + 2 * self.pointer] = header + self._words(self.base, root)
        self.base += -(-len(data) // STEP) * STEP
        self.data = bytearray(80 + 2 * self.pointer)
        return bytes(data)


def three_parts(writer: Writer, *roots: Callable[[], int]) -> list[bytes]:
    """The files of a module from what makes their roots, one after the other."""
    return [writer.end(root()) for root in roots]


def save(directory: Path, module: str, files: Sequence[bytes]) -> Path:
    """Write the files of ``A.B`` as ``A/B.olean``, ``A/B.olean.server``, ``A/B.olean.private``."""
    path = directory.joinpath(*module.split(".")).with_suffix(".olean")
    path.parent.mkdir(parents=True, exist_ok=True)
    for part, data in zip(("", ".server", ".private"), files, strict=False):
        path.with_name(path.name + part).write_bytes(data)
    return path


def shape(value: Any) -> Any:
    """A term or constant as nested tuples, which can be compared."""
    if isinstance(value, Name) or not hasattr(value, "__slots__"):
        return tuple(map(shape, value)) if isinstance(value, tuple) else value
    fields = [f for k in reversed(type(value).__mro__) for f in getattr(k, "__slots__", ())]
    return (type(value).__name__, *(shape(getattr(value, f)) for f in fields))
