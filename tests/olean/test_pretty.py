"""Printed statements: the right side of each case is what one would write in Lean for the term."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from test_reader import exprs

from maskpool_verify.olean import Name, make_name, parse_name, pretty
from maskpool_verify.olean import constants as c
from maskpool_verify.olean import expr as x

PROP, TYPE = x.Sort(x.Zero()), x.Sort(x.Succ(x.Zero()))
U = x.Param(make_name("u"))


def const(name: str) -> x.Const:
    return x.Const(parse_name(name), ())


def app(f: x.Expr | str, *arguments: x.Expr) -> x.Expr:
    e: x.Expr = const(f) if isinstance(f, str) else f
    for argument in arguments:
        e = x.App(e, argument)
    return e


def pi(name: str, type_: x.Expr, body: x.Expr, info: int = x.DEFAULT) -> x.Expr:
    return x.Pi(make_name(*name.split(".")), type_, body, info)


def fun(name: str, type_: x.Expr, body: x.Expr) -> x.Expr:
    return x.Lam(parse_name(name), type_, body, x.DEFAULT)


NAT, R = const("Nat"), const("R")
INST = const("inst")


def num(n: int, type_: x.Expr = NAT) -> x.Expr:
    return app("OfNat.ofNat", type_, x.Lit(n), INST)


def listed(*items: x.Expr, end: x.Expr | None = None) -> x.Expr:
    e = end or app("List.nil", NAT)
    for item in reversed(items):
        e = app("List.cons", NAT, item, e)
    return e


def eq(a: x.Expr, b: x.Expr) -> x.Expr:
    return app("Eq", NAT, a, b)


def binary(op: str, a: x.Expr, b: x.Expr) -> x.Expr:
    return app(op, NAT, NAT, NAT, INST, a, b)


def lt(a: x.Expr, b: x.Expr) -> x.Expr:
    return app("LT.lt", NAT, INST, a, b)


def pair(a: x.Expr, b: x.Expr) -> x.Expr:
    return app("Prod.mk", NAT, NAT, a, b)


A, B, C, V0, V1 = const("a"), const("b"), const("c"), x.BVar(0), x.BVar(1)

# {α : Type} → [C α] → α → α, of the constants f and MaskPool.f
F_TYPE = pi("α", TYPE, pi("i", app("C", V0), pi("x", V1, x.BVar(2)), x.INSTANCE), x.IMPLICIT)
TYPES = {parse_name(n): F_TYPE for n in ("f", "MaskPool.f", "MaskPool.g")}


def lookup(name: Name) -> c.Constant | None:
    return c.Axiom(name, (), TYPES[name], False) if name in TYPES else None


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (PROP, "Prop"),
        (TYPE, "Type"),
        (x.Sort(x.Succ(x.Succ(x.Zero()))), "Type 1"),
        (x.Sort(x.Succ(U)), "Type u"),
        (x.Sort(U), "Sort u"),
        (x.Sort(x.Max(U, x.Succ(U))), "Sort (max u (u+1))"),
        (x.Sort(x.Succ(x.IMax(U, U))), "Type (imax u u)"),
        (num(4), "4"),
        (x.Lit(4), "4"),
        (x.Lit('a"\n'), '"a\\u{22}\\u{a}"'),
        (listed(num(4), num(3)), "[4, 3]"),
        (listed(), "[]"),
        (listed(A, B, end=C), "a :: b :: c"),
        (pair(A, pair(B, C)), "(a, b, c)"),
        (pair(pair(A, B), C), "((a, b), c)"),
        (pair(A, const("Unit.unit")), "(a, ())"),
        (app("Prod.fst", NAT, NAT, app("Prod.snd", NAT, NAT, A)), "a.2.1"),
        (x.Proj(parse_name("S"), 0, app("g", A)), "(g a).1"),
        (eq(A, B), "a = b"),
        (app("Not", eq(A, B)), "¬a = b"),
        (app("Not", app("And", A, B)), "¬(a ∧ b)"),
        (app("And", A, app("And", B, C)), "a ∧ b ∧ c"),
        (app("And", app("And", A, B), C), "(a ∧ b) ∧ c"),
        (app("Or", app("And", A, B), C), "a ∧ b ∨ c"),
        (app("And", app("Or", A, B), C), "(a ∨ b) ∧ c"),
        (app("Iff", A, app("Iff", B, C)), "a ↔ (b ↔ c)"),
        (eq(binary("HAdd.hAdd", A, binary("HMul.hMul", B, C)), A), "a + b * c = a"),
        (binary("HMul.hMul", binary("HAdd.hAdd", A, B), C), "(a + b) * c"),
        (binary("HSub.hSub", A, binary("HSub.hSub", B, C)), "a - (b - c)"),
        (binary("HSub.hSub", binary("HSub.hSub", A, B), C), "a - b - c"),
        (binary("HDiv.hDiv", app("g", A), B), "g a / b"),
        (app("g", binary("HDiv.hDiv", A, B)), "g (a / b)"),
        (lt(A, B), "a < b"),
        (app("LE.le", NAT, INST, A, B), "a ≤ b"),
        (
            app("Prod", NAT, app("MaskPool.Equiv", app("Fin", num(4)), app("Fin", num(4)))),
            "Nat × (Fin 4 ≃ Fin 4)",
        ),
        (app("Neg.neg", NAT, INST, A), "-a"),
        (app("ite", NAT, A, INST, B, C), "if a then b else c"),
        (app("g", app("ite", NAT, A, INST, B, C)), "g (if a then b else c)"),
        (app("Exists", NAT, fun("n", NAT, lt(A, V0))), "∃ n : Nat, a < n"),
        (app("Exists", NAT, A), "Exists Nat a"),
        (app("And", A), "And a"),
        (app("And", A, B, C), "(a ∧ b) c"),
        (pi("x", A, B), "a → b"),
        (pi("x", A, pi("y", B, C)), "a → b → c"),
        (pi("x", pi("y", A, B), C), "(a → b) → c"),
        (pi("x", NAT, pi("y", NAT, lt(V1, V0))), "∀ (x y : Nat), x < y"),
        (pi("x", NAT, pi("y", lt(V0, A), lt(V1, B))), "∀ (x : Nat), x < a → x < b"),
        (pi("x", NAT, pi("y", app("Fin", V0), lt(V0, V0))), "∀ (x : Nat) (y : Fin x), y < y"),
        (pi("α", TYPE, pi("C", app("C", V0), A, x.INSTANCE), x.IMPLICIT), "∀ {α : Type} [C_1 : C α], a"),
        (pi("α", TYPE, pi("inst._@.M", app("C", V0), A, x.INSTANCE), x.IMPLICIT), "∀ {α : Type} [C α], a"),
        (pi("α", TYPE, V0, x.STRICT_IMPLICIT), "∀ ⦃α : Type⦄, α"),
        (fun("x", NAT, fun("y", NAT, lt(V0, V1))), "fun x y => y < x"),
        (fun("x", NAT, A), "fun _ => a"),
        (app("g", fun("x", NAT, V0)), "g (fun x => x)"),
        (x.Let(make_name("x"), NAT, A, lt(V0, B), False), "let x : Nat := a; x < b"),
        (x.Let(make_name("x"), NAT, A, lt(V0, B), True), "have x : Nat := a; x < b"),
        (app("f", NAT, INST, A), "f a"),
        (app("f", NAT, INST, app("f", NAT, INST, A)), "f (f a)"),
        (app("f", NAT), "f"),
        (app("g", NAT, INST, A), "g Nat inst a"),
        (pi("k", F_TYPE, app("P", app(V0, NAT, INST, A))), "∀ (k : ∀ {α : Type} [i : C α], α → α), P (k a)"),
        (app("Bool.or", const("Bool.true")), "Bool.or true"),
        (x.MData(app(x.MData(const("g")), x.MData(A))), "g a"),
        (x.BVar(2), "#2"),
        (x.MVar(make_name("m")), "?m"),
        (const("x.«y z»"), "x.«y z»"),
    ],
)
def test_notation(term: x.Expr, text: str) -> None:
    assert pretty(term, lookup) == text


def test_open_namespaces_are_left_out() -> None:
    term = app("MaskPool.g", NAT, INST, const("MaskPool.Program.eval"))
    assert pretty(term, lookup, ["MaskPool"]) == "g Program.eval"
    assert pretty(term, lookup) == "MaskPool.g MaskPool.Program.eval"


def test_a_namespace_stays_where_the_short_name_would_mean_something_else() -> None:
    assert pretty(const("MaskPool.f"), lookup, ["MaskPool"]) == "MaskPool.f"
    both = app("MaskPool.h", const("h"))
    assert pretty(both, lookup, ["MaskPool"]) == "MaskPool.h h"


def test_variables_cannot_pose_as_constants_or_each_other() -> None:
    same = pi("x", NAT, pi("x", NAT, lt(V1, V0)))
    assert pretty(same) == "∀ (x x_1 : Nat), x < x_1"
    assert pretty(pi("a", NAT, lt(A, V0))) == "∀ (a_1 : Nat), a < a_1"
    assert pretty(pi("f", NAT, lt(V0, V0)), lookup) == "∀ (f_1 : Nat), f_1 < f_1"
    assert pretty(pi("g", NAT, lt(V0, V0)), lookup, ["MaskPool"]) == "∀ (g_1 : Nat), g_1 < g_1"
    assert pretty(pi("true", NAT, lt(V0, V0))) == "∀ (true_1 : Nat), true_1 < true_1"
    assert pretty(x.Pi(make_name("x), (y"), NAT, lt(V0, V0), 0)) == "∀ (x : Nat), x < x"


def test_a_constant_that_only_looks_like_a_notation_gets_none() -> None:
    fake = x.App(x.App(x.Const(make_name("Iff."), ()), A), B)
    assert pretty(fake) == "«Iff.» a b"


@given(exprs)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_term_is_printed_on_one_line(e: x.Expr) -> None:
    assert pretty(e).isprintable()


def test_huge_terms_are_cut() -> None:
    wide: x.Expr = A
    deep: x.Expr = A
    binders: x.Expr = lt(V0, x.BVar(1000))
    for _ in range(1000):
        wide = app("g", wide, wide)  # a tree of 2^1000 nodes
        deep = app("g", deep)
        binders = pi("x", NAT, binders)
    for term in (wide, deep, binders):
        text = pretty(term, max_nodes=1000)
        assert "⋯" in text
        assert len(text) < 20_000
