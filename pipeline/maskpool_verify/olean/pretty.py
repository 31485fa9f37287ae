"""Statements as readable Lean, printed from their terms.

Implicit and instance arguments, universe levels and annotations are not shown, as in Lean. What is shown is
never ambiguous: a bound variable gets another name if a constant is printed the same, and a namespace is
left out only if no other constant has the short name. Terms too large or too deep end in ``⋯``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from .constants import Constant
from .expr import (
    DEFAULT,
    INSTANCE,
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
    free_variables,
    spine,
)
from .names import Name, escape, is_plain, make_name, parse_name
from .notation import ATOMS, CONS, EXISTS, FST, INFIX, ITE, METHODS, NIL, OF_NAT, PAIR, PREFIX, SND

Lookup = Callable[[Name], Constant | None]

MAX_NODES: Final = 50_000
MAX_DEPTH: Final = 100
MAX_BINDERS: Final = 500
MAX: Final = 1024  # the precedence of an argument
OMITTED: Final = "⋯"
_BRACKETS: Final = ("()", "{}", "⦃⦄", "[]")


def pretty(
    e: Expr,
    lookup: Lookup = lambda _: None,
    open_namespaces: Collection[str] = (),
    max_nodes: int = MAX_NODES,
) -> str:
    """Print ``e`` on one line.

    ``lookup`` finds a constant, to learn which of its arguments are implicit; without it all are shown.
    ``open_namespaces``, as ``MaskPool``, are left out in front of names.
    """
    return _Printer(lookup, open_namespaces, e, max_nodes).term(e, (), 0)


# The variables in scope, the innermost first: a name and the type.
_Scope = tuple[tuple[str, Expr], ...]


class _Printer:
    def __init__(self, lookup: Lookup, open_namespaces: Collection[str], root: Expr, max_nodes: int) -> None:
        self.lookup = lookup
        self.open = [parse_name(namespace) for namespace in open_namespaces]
        self.left, self.depth = max_nodes, 0
        self.free, self.constants = free_variables(root)
        self.short = {name: self._shortened(name) for name in self.constants}
        self.taken = {*self.short.values(), *ATOMS.values()}

    def _exists(self, name: Name) -> bool:
        return self.lookup(name) is not None or name in self.constants

    def _shortened(self, name: Name) -> str:
        for namespace in self.open:
            prefix, parts = namespace.components(), name.components()
            if len(parts) > len(prefix) and parts[: len(prefix)] == prefix:
                rest = parts[len(prefix) :]
                readings = (make_name(*rest), *(make_name(*other.components(), *rest) for other in self.open))
                if not any(reading is not name and self._exists(reading) for reading in readings):
                    return str(readings[0])
        return str(name)

    def _variable(self, name: Name, scope: _Scope) -> str:
        """A name for a variable that nothing in sight has."""
        first = next(iter(name.components()), "x")
        text = base = first if isinstance(first, str) and is_plain(first) else "x"
        count = 0
        while text in self.taken or any(text == other for other, _ in scope) or self._constant(text):
            count += 1
            text = f"{base}_{count}"
        return text

    def _constant(self, text: str) -> bool:
        names = (make_name(text), *(make_name(text, parent=namespace) for namespace in self.open))
        return any(self.lookup(name) is not None for name in names)

    def _uses(self, body: Expr) -> bool:
        return self.free.get(id(body), 0) & 1 == 1

    def term(self, e: Expr, scope: _Scope, precedence: int) -> str:
        """``e`` with its variables from ``scope``, in brackets if it binds weaker than ``precedence``."""
        while isinstance(e, MData):
            e = e.expr
        self.left -= 1
        if self.left < 0 or self.depth >= MAX_DEPTH or len(scope) > MAX_BINDERS:
            return OMITTED
        self.depth += 1
        text, own = self._term(e, scope)
        self.depth -= 1
        return f"({text})" if own < precedence else text

    def _term(self, e: Expr, scope: _Scope) -> tuple[str, int]:
        match e:
            case BVar(index):
                return (scope[index][0] if index < len(scope) else f"#{index - len(scope)}"), MAX
            case FVar(name) | MVar(name):
                return f"?{name}", MAX
            case Sort(level):
                return self._sort(level)
            case Lit(value):
                return (str(value) if isinstance(value, int) else f'"{escape(value, chr(34))}"'), MAX
            case Pi():
                return self._pi(e, scope)
            case Lam():
                return self._lambda(e, scope)
            case Let(name, type_, value, body, nondep):
                text = self._variable(name, scope)
                head = f"{'have' if nondep else 'let'} {text} : {self.term(type_, scope, 0)}"
                rest = self.term(body, ((text, type_), *scope), 0)
                return f"{head} := {self.term(value, scope, 0)}; {rest}", 0
            case Proj(_, index, inner):
                return f"{self.term(inner, scope, MAX)}.{index + 1}", MAX
        function, arguments = spine(e)
        return self._application(function, arguments, scope)

    # -- binders

    def _pi(self, e: Expr, scope: _Scope) -> tuple[str, int]:
        if isinstance(e, Pi) and e.info == DEFAULT and not self._uses(e.body):
            name = self._variable(e.name, scope)
            domain = self.term(e.type, scope, 26)
            rest = self.term(e.body, ((name, e.type), *scope), 0 if isinstance(e.body, Pi) else 25)
            return f"{domain} → {rest}", 25
        groups: list[tuple[int, list[str], str]] = []  # binder info, names, type
        while isinstance(e, Pi) and (e.info != DEFAULT or self._uses(e.body)) and len(scope) <= MAX_BINDERS:
            name, type_ = self._variable(e.name, scope), self.term(e.type, scope, 0)
            if e.info == INSTANCE and len(e.name.components()) > 1:  # not named in the source
                groups.append((e.info, [], type_))
            elif groups and groups[-1][1] and groups[-1][::2] == (e.info, type_):
                groups[-1][1].append(name)
            else:
                groups.append((e.info, [name], type_))
            scope = ((name, e.type), *scope)
            e = e.body
        binders = [
            _BRACKETS[info][0] + (f"{' '.join(names)} : " if names else "") + type_ + _BRACKETS[info][-1]
            for info, names, type_ in groups
        ]
        return f"∀ {' '.join(binders)}, {self.term(e, scope, 0)}", 0

    def _lambda(self, e: Expr, scope: _Scope) -> tuple[str, int]:
        names: list[str] = []
        while isinstance(e, Lam) and len(scope) <= MAX_BINDERS:
            name = self._variable(e.name, scope) if self._uses(e.body) else "_"
            names.append(name if e.info == DEFAULT else _BRACKETS[e.info][0] + name + _BRACKETS[e.info][-1])
            scope = ((name, e.type), *scope)
            e = e.body
        return f"fun {' '.join(names)} => {self.term(e, scope, 0)}", 0

    # -- applications

    def _application(self, head: Expr, arguments: list[Expr], scope: _Scope) -> tuple[str, int]:
        if not isinstance(head, Const):
            return self._applied(self.term(head, scope, MAX), self._explicit(head, arguments, scope), scope)
        arity = (INFIX.get(head.name) or PREFIX.get(head.name) or (0,))[0]
        if 0 < arity < len(arguments):
            function = self._application(head, arguments[:arity], scope)[0]
            return self._applied(f"({function})", arguments[arity:], scope)
        notation = self._notation(head.name, arguments, scope)
        if notation is not None:
            return notation
        shown = self._explicit(head, arguments, scope)
        position = METHODS.get(head.name)
        if position is not None and position < len(shown):
            value = self.term(shown[position], scope, MAX)
            if all(part.isidentifier() or part.rstrip("'").isidentifier() for part in value.split(".")):
                method = str(head.name.components()[-1])
                return self._applied(f"{value}.{method}", shown[:position] + shown[position + 1 :], scope)
        return self._applied(self.short[head.name], shown, scope)

    def _applied(self, head: str, arguments: list[Expr], scope: _Scope) -> tuple[str, int]:
        if not arguments:
            return head, MAX
        return " ".join([head, *(self.term(a, scope, MAX) for a in arguments)]), MAX - 1

    def _explicit(self, head: Expr, arguments: list[Expr], scope: _Scope) -> list[Expr]:
        """The arguments that Lean would show: those of explicit binders in the type of ``head``."""
        type_: Expr | None = None
        if isinstance(head, Const):
            constant = self.lookup(head.name)
            type_ = constant.type if constant is not None else None
        elif isinstance(head, BVar) and head.index < len(scope):
            type_ = scope[head.index][1]
        shown: list[Expr] = []
        for argument in arguments:
            while isinstance(type_, MData):
                type_ = type_.expr
            if not isinstance(type_, Pi) or type_.info == DEFAULT:
                shown.append(argument)
            type_ = type_.body if isinstance(type_, Pi) else None
        return shown

    def _notation(self, name: Name, arguments: list[Expr], scope: _Scope) -> tuple[str, int] | None:
        count = len(arguments)
        if name in INFIX and count == INFIX[name][0]:
            _, symbol, own, side = INFIX[name]
            left = self.term(arguments[-2], scope, own + (side != "left"))
            return f"{left} {symbol} {self.term(arguments[-1], scope, own + (side != 'right'))}", own
        if name in PREFIX and count == PREFIX[name][0]:
            _, symbol, own = PREFIX[name]
            return symbol + self.term(arguments[-1], scope, own), own
        if name in ATOMS and not arguments:
            return ATOMS[name], MAX
        if name is OF_NAT and count == 3 and isinstance(arguments[1], Lit):
            return self.term(arguments[1], scope, MAX), MAX
        if name in (FST, SND) and count == 3:
            return f"{self.term(arguments[2], scope, MAX)}.{1 if name is FST else 2}", MAX
        if name is EXISTS and count == 2 and isinstance(arguments[1], Lam):
            predicate = arguments[1]
            text, type_ = self._variable(predicate.name, scope), self.term(predicate.type, scope, 0)
            return f"∃ {text} : {type_}, {self.term(predicate.body, ((text, predicate.type), *scope), 0)}", 0
        if name is ITE and count == 5:
            condition, yes, no = (self.term(arguments[i], scope, 0) for i in (1, 3, 4))
            return f"if {condition} then {yes} else {no}", 0
        if name is PAIR and count == 4:
            items, last = _chain(arguments, PAIR)
            return f"({', '.join(self.term(item, scope, 0) for item in (*items, last))})", MAX
        if name is NIL and count == 1:
            return "[]", MAX
        if name is CONS and count == 3:
            items, last = _chain(arguments, CONS)
            if _is_const(spine(last)[0], NIL):
                return f"[{', '.join(self.term(item, scope, 0) for item in items)}]", MAX
            return " :: ".join([*(self.term(i, scope, 68) for i in items), self.term(last, scope, 67)]), 67
        return None

    # -- universes

    def _sort(self, level: Level) -> tuple[str, int]:
        if isinstance(level, Zero):
            return "Prop", MAX
        if isinstance(level, Succ):
            text = self._level(level.level, MAX)
            return ("Type", MAX) if text == "0" else (f"Type {text}", MAX - 1)
        return f"Sort {self._level(level, MAX)}", MAX - 1

    def _level(self, level: Level, precedence: int) -> str:
        self.left -= 1
        added = 0
        while isinstance(level, Succ):
            level, added = level.level, added + 1
        if isinstance(level, Zero):
            return str(added)
        if self.left < 0 or self.depth >= MAX_DEPTH:
            return OMITTED
        self.depth += 1
        match level:
            case Param(name):
                text = str(name)
            case LevelMVar(name):
                text = f"?{name}"
            case Max(a, b) | IMax(a, b):
                kind = "max" if isinstance(level, Max) else "imax"
                text = f"{kind} {self._level(a, MAX)} {self._level(b, MAX)}"
                text = f"({text})" if added or precedence == MAX else text
        self.depth -= 1
        if added:
            return f"({text}+{added})" if precedence == MAX else f"{text}+{added}"
        return text


def _is_const(e: Expr, name: Name) -> bool:
    return isinstance(e, Const) and e.name is name


def _chain(arguments: list[Expr], name: Name) -> tuple[list[Expr], Expr]:
    """The items of nested pairs or of a list, made by ``name``, and what follows the last."""
    items: list[Expr] = []
    while True:
        items.append(arguments[-2])
        head, following = spine(arguments[-1])
        if not _is_const(head, name) or len(following) != len(arguments):
            return items, arguments[-1]
        arguments = following
