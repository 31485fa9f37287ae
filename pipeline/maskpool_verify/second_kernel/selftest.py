"""What the native library has to do right before its kernel is believed.

The shapes of all objects that are made or read are compared with those that Lean 4.35 has. Then the kernel
has to accept true theorems, and to refuse false and ill-typed ones, each for the right reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from maskpool_verify.olean import constants as c
from maskpool_verify.olean import expr as x
from maskpool_verify.olean import make_name, parse_name
from maskpool_verify.second_kernel.abi import BOX_0, WHEEL, Lean, UnavailableError
from maskpool_verify.second_kernel.kernel import Kernel, KernelError, Reason
from maskpool_verify.second_kernel.terms import Terms

_PROP: Final = x.Sort(x.Zero())
_TYPE: Final = x.Sort(x.Succ(x.Zero()))
_N: Final = make_name("n")
_B0, _B1 = x.BVar(0), x.BVar(1)


def self_test(lean: Lean) -> None:
    """Try the library.

    Raises:
        UnavailableError: it is not as it has to be; the text says what is not.
    """
    for what, passed in (*_shapes(Terms(lean)), *_verdicts(lean)):
        if not passed:
            raise UnavailableError(
                f"Lean {lean.version} ({lean.githash[:12]}) does not pass the self-test: {what}; install the "
                f"{WHEEL} that this project names."
            )


def _shapes(terms: Terms) -> list[tuple[str, bool]]:
    """Every constructor that is called: its tag, its fields, and the bytes behind them."""
    lean = terms.lean
    u, name = x.Param(make_name("u")), terms.name(_N)

    def shape(o: int, tag: int, *fields: int) -> bool:
        if o & 1 or lean.tag(o) != tag or lean.count(o) != len(fields):
            return False
        return all(lean.field(o, i) == field for i, field in enumerate(fields))

    level, prop, b0 = terms.level(u), terms.expr(_PROP), terms.expr(_B0)
    constant, lambda_, pi = (
        x.Const(_N, (u,)),
        x.Lam(_N, _PROP, _B0, x.INSTANCE),
        x.Pi(_N, _PROP, _B0, x.IMPLICIT),
    )
    let = x.Let(_N, _PROP, _B0, _B0, True)
    params, value = terms.names((make_name("u"),)), terms.expr(lambda_)
    results = [
        ("names", shape(name, 1, BOX_0, lean.field(name, 1)) and lean.read_text(lean.field(name, 1)) == "n"),
        ("numbered names", shape(terms.name(make_name(7, parent=_N)), 2, name, 15)),
        ("universe successors", shape(terms.level(x.Succ(u)), 1, level)),
        ("universe maxima", shape(terms.level(x.Max(u, x.Zero())), 2, level, BOX_0)),
        ("universe impredicative maxima", shape(terms.level(x.IMax(u, x.Zero())), 3, level, BOX_0)),
        ("universe parameters", shape(level, 4, terms.name(make_name("u")))),
        ("bound variables", shape(terms.expr(x.BVar(3)), 0, 7)),
        ("sorts", shape(prop, 3, BOX_0)),
        ("constants", shape(o := terms.expr(constant), 4, name, lean.field(o, 1))),
        ("levels of constants", lean.items(lean.field(terms.expr(constant), 1)) == [level]),
        ("applications", shape(terms.expr(x.App(_PROP, _B0)), 5, prop, b0)),
        ("lambdas", shape(value, 6, name, prop, b0) and lean.byte(value, 3, 8) == x.INSTANCE),
        ("products", shape(o := terms.expr(pi), 7, name, prop, b0) and lean.byte(o, 3, 8) == x.IMPLICIT),
        ("lets", shape(o := terms.expr(let), 8, name, prop, b0, b0) and lean.byte(o, 4, 8) == 1),
        (
            "literals",
            shape(o := terms.expr(x.Lit(5)), 9, lean.field(o, 0)) and shape(lean.field(o, 0), 0, 11),
        ),
        ("projections", shape(terms.expr(x.Proj(_N, 2, _B0)), 11, name, 5, b0)),
        ("big numbers", lean.tag(terms.lean.number(1 << 70)) == 250),
        ("term equality", bool(lean.call("lean_expr_equal")(prop, terms.expr(x.Sort(x.Zero()))))),
        ("term inequality", not lean.call("lean_expr_equal")(prop, terms.expr(_TYPE))),
        ("name equality", bool(lean.call("lean_name_eq")(name, name))),
        ("name inequality", not lean.call("lean_name_eq")(name, terms.name(make_name("m")))),
    ]
    all_ = (_N,)
    head = (_N, (make_name("u"),), _PROP)

    def value_of(constant: c.Constant) -> int:
        return lean.field(terms.declaration(constant), 0)

    def declared(o: int, *fields: int) -> bool:
        common = lean.field(o, 0)
        return (
            lean.tag(o) == 0
            and lean.count(o) == 1 + len(fields)
            and shape(common, 0, name, lean.field(common, 1), prop)
            and [terms.read_name(n) for n in lean.items(lean.field(common, 1))] == [make_name("u")]
            and all(lean.field(o, 1 + i) == field for i, field in enumerate(fields) if field)
        )

    definition = value_of(c.Definition(*head, lambda_, 9, all_, "safe"))
    opaque = value_of(c.Opaque(*head, lambda_, all_, True))
    axiom = value_of(c.Axiom(*head, True))
    hints = lean.field(definition, 2)
    inductive = terms.inductive([c.Inductive(*head, 0, 0, all_, (), 0, False, True, False)], [[]])
    return [
        *results,
        ("axioms", declared(axiom) and lean.byte(axiom, 1, 0) == 1),
        ("theorems", declared(value_of(c.Theorem(*head, lambda_, all_)), value, 0)),
        ("opaque constants", declared(opaque, value, 0) and lean.byte(opaque, 3, 0) == 1),
        ("definitions", declared(definition, value, 0, 0) and lean.byte(definition, 4, 0) == 1),
        ("heights of definitions", not hints & 1 and lean.tag(hints) == 2 and lean.byte(hints, 0, 0) == 9),
        ("inductive types", lean.tag(inductive) == 6 and lean.count(inductive) == 3),
        ("unsafe inductive types", lean.byte(inductive, 3, 0) == 1),
        ("lists of universe parameters", len(lean.items(params)) == 1),
    ]


def _verdicts(lean: Lean) -> list[tuple[str, bool]]:
    """What the kernel says of small declarations."""
    kernel = Kernel(lean)
    terms = kernel.terms
    truth, intro, recursor = map(parse_name, ("SelfTest.Truth", "SelfTest.Truth.intro", "SelfTest.Truth.rec"))
    true, proof = x.Const(truth, ()), x.Const(intro, ())
    type_ = c.Inductive(truth, (), _PROP, 0, 0, (truth,), (intro,), 0, False, False, False)
    ctor = c.Constructor(intro, (), true, truth, 0, 0, 0, False)

    def verdict(make: Callable[[], int], *, trial: bool = True) -> Reason | None:
        try:
            kernel.add(make(), trial=trial)
        except KernelError as error:
            return error.reason
        return None

    def theorem(type_: x.Expr, value: x.Expr) -> Reason | None:
        made = c.Theorem(parse_name("SelfTest.theorem"), (), type_, value, (parse_name("SelfTest.theorem"),))
        return verdict(lambda: terms.declaration(made))

    # Truth.rec : {motive : Truth → Sort u} → motive intro → (t : Truth) → motive t, which reduces on intro
    motive = x.Pi(make_name("t"), true, x.Sort(x.Param(make_name("u"))), x.DEFAULT)
    minor = x.Pi(make_name("t"), true, x.App(x.BVar(2), _B0), x.DEFAULT)
    at_intro = x.App(_B0, proof)
    rec_type = x.Pi(
        make_name("motive"), motive, x.Pi(make_name("intro"), at_intro, minor, x.DEFAULT), x.IMPLICIT
    )
    rhs = x.Lam(make_name("motive"), motive, x.Lam(make_name("intro"), at_intro, _B0, x.DEFAULT), x.DEFAULT)

    def rec(k: bool, rhs: x.Expr) -> c.Recursor:
        rules = (c.Rule(intro, 0, rhs),)
        return c.Recursor(recursor, (make_name("u"),), rec_type, (truth,), 0, 0, 1, 1, rules, k, False)

    p_to_p = x.Pi(make_name("p"), _PROP, x.Pi(make_name("h"), _B0, _B1, x.DEFAULT), x.DEFAULT)
    identity = x.Lam(make_name("p"), _PROP, x.Lam(make_name("h"), _B0, _B0, x.DEFAULT), x.DEFAULT)
    anything = x.Pi(make_name("p"), _PROP, _B0, x.DEFAULT)
    itself = x.Lam(make_name("p"), _PROP, _B0, x.DEFAULT)
    declared = verdict(lambda: terms.inductive([type_], [[ctor]]), trial=False)
    if declared is not None:
        return [("an inductive type is refused", False)]
    return [
        ("a true theorem is refused", theorem(true, proof) is None),
        ("p → p is refused", theorem(p_to_p, identity) is None),
        ("a false theorem is accepted", theorem(anything, itself) == "type"),
        ("a proof of another proposition is accepted", theorem(p_to_p, proof) == "type"),
        (
            "an ill-typed application is accepted",
            theorem(true, x.App(x.App(identity, proof), proof)) == "type",
        ),
        ("a theorem whose type is no type is accepted", theorem(proof, proof) == "type"),
        ("a theorem whose type is no proposition is accepted", theorem(_PROP, true) == "type"),
        ("an unknown constant is accepted", theorem(true, x.Const(_N, ())) == "unknown"),
        ("a second declaration is accepted", verdict(lambda: terms.inductive([type_], [[ctor]])) is not None),
        ("a type or constructor is derived otherwise", kernel.derived(type_) and kernel.derived(ctor)),
        ("a recursor is derived otherwise", kernel.derived(rec(True, rhs))),
        (
            "a wrong recursor is not noticed",
            not kernel.derived(rec(False, rhs)) and not kernel.derived(rec(True, x.Lam(_N, _PROP, _B0, 0))),
        ),
    ]
