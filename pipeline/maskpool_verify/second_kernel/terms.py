"""Terms and declarations of the compiled files, as objects of the native Lean; and errors back as terms.

Lean's own constructors are called, so that cached hashes and flags are computed anew. Nothing here recurses:
terms may be deep.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from maskpool_verify.errors import AuditError
from maskpool_verify.olean import ANONYMOUS, Name, make_name
from maskpool_verify.olean import constants as c
from maskpool_verify.olean import expr as x
from maskpool_verify.second_kernel.abi import BOX_0, Lean, box

_SAFETY: Final = {"unsafe": 0, "safe": 1, "partial": 2}
_MAX_SHOWN: Final = 5_000


class Terms:
    """Makes objects of :class:`.abi.Lean` from terms; a term that is shared is made once."""

    def __init__(self, lean: Lean) -> None:
        self.lean: Final = lean
        self._names: Final[dict[Name, int]] = {ANONYMOUS: BOX_0}
        self._levels: Final[dict[int, int]] = {}
        self._exprs: Final[dict[int, int]] = {}
        self._keep: Final[list[object]] = []  # terms whose id is a key
        call = lean.call
        self._str, self._num = call("lean_name_mk_string"), call("lean_name_mk_numeral")
        self._succ, self._param = call("lean_level_mk_succ"), call("lean_level_mk_param")
        self._max, self._imax = call("lean_level_mk_max"), call("lean_level_mk_imax")
        self._bvar, self._sort = call("lean_expr_mk_bvar"), call("lean_expr_mk_sort")
        self._const, self._app = call("lean_expr_mk_const"), call("lean_expr_mk_app")
        self._lam, self._pi = call("lean_expr_mk_lambda"), call("lean_expr_mk_forall")
        self._let, self._lit = call("l_Lean_Expr_letE___override"), call("lean_expr_mk_lit")
        self._proj, self._mark = call("lean_expr_mk_proj"), call("lean_mark_persistent")

    # -- to Lean

    def name(self, name: Name) -> int:
        """A ``Lean.Name``."""
        chain: list[Name] = []
        while (found := self._names.get(name)) is None:
            assert name.parent is not None
            chain.append(name)
            name = name.parent
        for name in reversed(chain):
            last = name.last
            if isinstance(last, str):
                made = self._str(found, self.lean.text(last))
            else:
                made = self._num(found, self.lean.number(last or 0))
            found = self._names[name] = self.lean.keep(made)
        return found

    def names(self, names: Iterable[Name]) -> int:
        """A list of names."""
        return self.lean.list([self.name(n) for n in names])

    def level(self, root: x.Level) -> int:
        """A ``Lean.Level``.

        Raises:
            AuditError: elaboration left it open.
        """
        memo = self._levels
        stack: list[x.Level] = [root]
        while stack:
            level = stack[-1]
            if id(level) in memo:
                stack.pop()
                continue
            match level:
                case x.Zero():
                    made = BOX_0
                case x.Succ(inner):
                    if (a := memo.get(id(inner))) is None:
                        stack.append(inner)
                        continue
                    made = self._succ(a)
                case x.Max(left, right) | x.IMax(left, right):
                    a, b = memo.get(id(left)), memo.get(id(right))
                    if a is None or b is None:
                        stack += (left, right)
                        continue
                    made = (self._max if isinstance(level, x.Max) else self._imax)(a, b)
                case x.Param(name):
                    made = self._param(self.name(name))
                case x.LevelMVar(name):
                    raise AuditError(f"elaboration left the universe ?{name} open")
            memo[id(level)] = self.lean.keep(made) if made != BOX_0 else made
            self._keep.append(level)
            stack.pop()
        return memo[id(root)]

    def expr(self, root: x.Expr) -> int:
        """A ``Lean.Expr``, without annotations, which the kernel ignores.

        Raises:
            AuditError: it has free variables, or elaboration left it open.
        """
        memo, mark = self._exprs, self._mark
        get = memo.get
        stack: list[x.Expr] = [root]
        while stack:
            e = stack[-1]
            if id(e) in memo:
                stack.pop()
                continue
            made: int | None
            if isinstance(e, x.App):  # most terms are applications and binders, and `match` takes longer
                p, q = get(id(e.function)), get(id(e.argument))
                if p is None or q is None:
                    stack += (e.argument, e.function)
                    continue
                made = self._app(p, q)
            elif isinstance(e, x.Lam | x.Pi):
                p, q = get(id(e.type)), get(id(e.body))
                if p is None or q is None:
                    stack += (e.body, e.type)
                    continue
                made = (self._lam if isinstance(e, x.Lam) else self._pi)(self.name(e.name), p, q, e.info)
            elif (made := self._other(e, stack)) is None:
                continue
            mark(made)
            memo[id(e)] = made
            self._keep.append(e)
            stack.pop()
        return memo[id(root)]

    def _other(self, e: x.Expr, stack: list[x.Expr]) -> int | None:
        """A term of the other kinds; None if its parts, now on the ``stack``, have to be made first."""
        lean, get = self.lean, self._exprs.get
        match e:
            case x.BVar(index):
                return int(self._bvar(lean.number(index)))
            case x.Const(name, levels):
                return int(self._const(self.name(name), lean.list([self.level(v) for v in levels])))
            case x.Sort(level):
                return int(self._sort(self.level(level)))
            case x.Let(name, type_, value, body, nondep):
                p, q, r = get(id(type_)), get(id(value)), get(id(body))
                if p is None or q is None or r is None:
                    stack += (body, value, type_)
                    return None
                return int(self._let(self.name(name), p, q, r, int(nondep)))
            case x.Lit(value):
                natural = isinstance(value, int)
                content = lean.number(value) if isinstance(value, int) else lean.text(value)
                return int(self._lit(lean.constructor(0 if natural else 1, content)))
            case x.MData(inner) | x.Proj(_, _, inner):
                if (p := get(id(inner))) is None:
                    stack.append(inner)
                    return None
                if isinstance(e, x.MData):
                    return p
                return int(self._proj(self.name(e.structure), lean.number(e.index), p))
            case x.FVar(name) | x.MVar(name):
                raise AuditError(f"the term has the free or unsolved variable {name}")
            case _:
                raise AssertionError("it is of the kinds above")

    def declaration(self, constant: c.Constant) -> int:
        """A ``Lean.Declaration`` of one constant.

        Raises:
            AuditError: as :meth:`expr`.
        """
        lean = self.lean
        head = (self.name(constant.name), self.names(constant.level_params), self.expr(constant.type))
        match constant:
            case c.Axiom(unsafe=unsafe):
                return lean.constructor(0, lean.keep(lean.call("lean_mk_axiom_val")(*head, int(unsafe))))
            case c.Definition():
                made = lean.call("lean_mk_definition_val")(
                    *head,
                    self.expr(constant.value),
                    self._hints(constant.height),
                    _SAFETY[constant.safety],
                    self.names(constant.all),
                )
                return lean.constructor(1, lean.keep(made))
            case c.Theorem():
                made = lean.call("lean_mk_theorem_val")(
                    *head, self.expr(constant.value), self.names(constant.all)
                )
                return lean.constructor(2, lean.keep(made))
            case c.Opaque():
                made = lean.call("lean_mk_opaque_val")(
                    *head, self.expr(constant.value), int(constant.unsafe), self.names(constant.all)
                )
                return lean.constructor(3, lean.keep(made))
            case c.Quot():
                return box(4)
            case _:
                raise AssertionError(f"{constant.kind} is declared with its type")

    def _hints(self, height: int | None) -> int:
        if height is None or height < 0:
            return box(0) if height is None else box(1)
        return self.lean.constructor(2, scalars=8, scalar=height)

    def inductive(self, types: Sequence[c.Inductive], ctors: Sequence[Sequence[c.Constructor]]) -> int:
        """The ``Lean.Declaration`` of types declared together, with the constructors of each."""
        lean = self.lean
        objects = [
            lean.constructor(
                0,
                self.name(type_.name),
                self.expr(type_.type),
                lean.list([lean.constructor(0, self.name(k.name), self.expr(k.type)) for k in own]),
            )
            for type_, own in zip(types, ctors, strict=True)
        ]
        first = types[0]
        made = lean.call("lean_mk_inductive_decl")(
            self.names(first.level_params),
            lean.number(first.num_params),
            lean.list(objects),
            int(first.unsafe),
        )
        return lean.keep(made)

    # -- from Lean

    def read_name(self, o: int) -> Name:
        """The name that is the object ``o``."""
        parts: list[str | int] = []
        while not o & 1:
            last = self.lean.field(o, 1)
            parts.append(last >> 1 if last & 1 else self.lean.read_text(last))
            o = self.lean.field(o, 0)
        return make_name(*reversed(parts))

    def read_expr(self, root: int, limit: int = _MAX_SHOWN) -> x.Expr | None:
        """The term that is the object ``root``, its universes left out; None beyond ``limit`` subterms.

        For messages only: a number beyond 63 bits is shown as ``?big``.
        """
        lean, memo = self.lean, dict[int, x.Expr]()
        field = lean.field
        inner = {5: (0, 1), 6: (1, 2), 7: (1, 2), 8: (1, 2, 3), 10: (1,), 11: (2,)}
        stack = [root]
        while stack:
            o = stack[-1]
            if o in memo:
                stack.pop()
                continue
            if len(memo) > limit:
                return None
            tag = lean.tag(o)
            children = [field(o, i) for i in inner.get(tag, ())]
            if missing := [child for child in children if child not in memo]:
                stack += missing
                continue
            e = [memo[child] for child in children]
            match tag:
                case 0:
                    made: x.Expr = x.BVar(field(o, 0) >> 1)
                case 1 | 2:
                    made = x.FVar(self.read_name(field(o, 0)))
                case 3:
                    made = x.Sort(x.Zero() if field(o, 0) & 1 else x.Param(make_name("_")))
                case 4:
                    made = x.Const(self.read_name(field(o, 0)), ())
                case 5:
                    made = x.App(e[0], e[1])
                case 6 | 7:
                    info = lean.byte(o, 3, 8) & 3
                    made = (x.Lam if tag == 6 else x.Pi)(self.read_name(field(o, 0)), e[0], e[1], info)
                case 8:
                    made = x.Let(self.read_name(field(o, 0)), e[0], e[1], e[2], False)
                case 9:
                    content = field(field(o, 0), 0)
                    if content & 1:
                        made = x.Lit(content >> 1)
                    elif lean.tag(field(o, 0)) == 1:
                        made = x.Lit(lean.read_text(content))
                    else:
                        made = x.MVar(make_name("big"))
                case 10:
                    made = e[0]
                case 11:
                    made = x.Proj(self.read_name(field(o, 0)), field(o, 1) >> 1, e[0])
                case _:
                    return None
            memo[o] = made
            stack.pop()
        return memo[root]
