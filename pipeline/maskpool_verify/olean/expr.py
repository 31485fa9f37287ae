"""Universe levels and expressions. One object of the file is one Python object: compare with :func:`alike`.

The classes are not frozen only because that would double the time to read a file; nothing changes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .names import Name


@dataclass(slots=True, eq=False)
class Zero:
    """``0``"""


@dataclass(slots=True, eq=False)
class Succ:
    """``level + 1``"""

    level: Level


@dataclass(slots=True, eq=False)
class Max:
    """``max left right``"""

    left: Level
    right: Level


@dataclass(slots=True, eq=False)
class IMax:
    """``imax left right``: 0 if ``right`` is, else the maximum."""

    left: Level
    right: Level


@dataclass(slots=True, eq=False)
class Param:
    """A universe parameter of the constant."""

    name: Name


@dataclass(slots=True, eq=False)
class LevelMVar:
    """A universe that elaboration left open; never in a checked constant."""

    name: Name


Level = Zero | Succ | Max | IMax | Param | LevelMVar

DEFAULT: Final = 0
IMPLICIT: Final = 1
STRICT_IMPLICIT: Final = 2
INSTANCE: Final = 3


@dataclass(slots=True, eq=False)
class BVar:
    """A bound variable; 0 is that of the innermost binder."""

    index: int


@dataclass(slots=True, eq=False)
class FVar:
    """A free variable; never in a checked constant."""

    name: Name


@dataclass(slots=True, eq=False)
class MVar:
    """A term that elaboration left open; never in a checked constant."""

    name: Name


@dataclass(slots=True, eq=False)
class Sort:
    """``Sort level``; ``Prop`` is ``Sort 0``."""

    level: Level


@dataclass(slots=True, eq=False)
class Const:
    """A constant at universe ``levels``."""

    name: Name
    levels: tuple[Level, ...]


@dataclass(slots=True, eq=False)
class App:
    """``function argument``"""

    function: Expr
    argument: Expr


@dataclass(slots=True, eq=False)
class Lam:
    """``fun (name : type) => body``; ``info`` is DEFAULT, IMPLICIT, STRICT_IMPLICIT or INSTANCE."""

    name: Name
    type: Expr
    body: Expr
    info: int


@dataclass(slots=True, eq=False)
class Pi:
    """``(name : type) → body``; ``info`` as in :class:`Lam`."""

    name: Name
    type: Expr
    body: Expr
    info: int


@dataclass(slots=True, eq=False)
class Let:
    """``let name : type := value; body``; ``have`` if ``nondep``."""

    name: Name
    type: Expr
    value: Expr
    body: Expr
    nondep: bool


@dataclass(slots=True, eq=False)
class Lit:
    """A natural number or a string."""

    value: int | str


@dataclass(slots=True, eq=False)
class MData:
    """``expr`` with an annotation, which the kernel ignores and this reader leaves out."""

    expr: Expr


@dataclass(slots=True, eq=False)
class Proj:
    """Field ``index``, from 0, of ``expr`` of type ``structure``."""

    structure: Name
    index: int
    expr: Expr


Expr = BVar | FVar | MVar | Sort | Const | App | Lam | Pi | Let | Lit | MData | Proj


def children(e: Expr) -> tuple[Expr, ...]:
    """The expressions directly in ``e``."""
    if isinstance(e, App):
        return (e.function, e.argument)
    if isinstance(e, Lam | Pi):
        return (e.type, e.body)
    if isinstance(e, Let):
        return (e.type, e.value, e.body)
    if isinstance(e, MData | Proj):
        return (e.expr,)
    return ()


def subterms(*roots: Expr) -> Iterator[Expr]:
    """Every distinct subterm, each once, however often it is shared."""
    seen: set[int] = set()
    stack: list[Expr] = list(roots)
    while stack:
        e = stack.pop()
        if id(e) not in seen:
            seen.add(id(e))
            yield e
            # most are applications, and a call takes longer
            stack += (e.function, e.argument) if isinstance(e, App) else children(e)


def has_level_mvar(*roots: Level) -> bool:
    """Whether a universe is left open."""
    seen: set[int] = set()
    stack: list[Level] = list(roots)
    while stack:
        level = stack.pop()
        if id(level) in seen:
            continue
        seen.add(id(level))
        if isinstance(level, LevelMVar):
            return True
        if isinstance(level, Succ):
            stack.append(level.level)
        elif isinstance(level, Max | IMax):
            stack += (level.left, level.right)
    return False


def alike(left: Expr, right: Expr, limit: int = 1_000_000) -> bool:
    """Whether two terms are the same up to names of bound variables, binder infos and annotations.

    False also if more than ``limit`` pairs of subterms would have to be compared.
    """
    seen: set[tuple[int, int]] = set()
    stack: list[tuple[Expr | Level, Expr | Level]] = [(left, right)]
    while stack:
        a, b = stack.pop()
        while isinstance(a, MData):
            a = a.expr
        while isinstance(b, MData):
            b = b.expr
        if a is b or (id(a), id(b)) in seen:
            continue
        if len(seen) == limit or type(a) is not type(b):
            return False
        seen.add((id(a), id(b)))
        match a, b:
            case (Zero(), Zero()):
                pass
            case (
                (BVar(i), BVar(j))
                | (Lit(i), Lit(j))
                | (Param(i), Param(j))
                | (LevelMVar(i), LevelMVar(j))
                | (FVar(i), FVar(j))
                | (MVar(i), MVar(j))
            ) if i == j:
                pass
            case (Const(n, us), Const(m, vs)) if n is m and len(us) == len(vs):
                stack += zip(us, vs, strict=True)
            case (Sort(u), Sort(v)) | (Succ(u), Succ(v)):
                stack.append((u, v))
            case (
                (App(f, x), App(g, y))
                | (Pi(_, f, x), Pi(_, g, y))
                | (Lam(_, f, x), Lam(_, g, y))
                | (Max(f, x), Max(g, y))
                | (IMax(f, x), IMax(g, y))
            ):
                stack += ((f, g), (x, y))
            case (Let(_, t, f, x, _), Let(_, r, g, y, _)):
                stack += ((t, r), (f, g), (x, y))
            case (Proj(n, i, x), Proj(m, j, y)) if n is m and i == j:
                stack.append((x, y))
            case _:
                return False
    return True


def spine(e: Expr) -> tuple[Expr, list[Expr]]:
    """The function and all arguments of an application."""
    arguments: list[Expr] = []
    while True:
        if isinstance(e, App):
            arguments.append(e.argument)
            e = e.function
        elif isinstance(e, MData):
            e = e.expr
        else:
            return e, arguments[::-1]


def free_variables(root: Expr) -> tuple[dict[int, int], set[Name]]:
    """For each subterm, by id, its free variables as bits; and the constants. Indices that no term within
    the limits can reach are left out, for they would make the bits long."""
    free: dict[int, int] = {}
    constants: set[Name] = set()
    stack = [root]
    while stack:
        e = stack[-1]
        if id(e) in free:
            stack.pop()
            continue
        missing = [child for child in children(e) if id(child) not in free]
        if missing:
            stack += missing
            continue
        bits = 0
        if isinstance(e, BVar):
            bits = 1 << e.index if e.index < 1000 else 0
        elif isinstance(e, Const):
            constants.add(e.name)
        parts = [free[id(child)] for child in children(e)]
        if isinstance(e, Lam | Pi | Let):
            parts[-1] >>= 1
        for part in parts:
            bits |= part
        free[id(e)] = bits
        stack.pop()
    return free, constants
