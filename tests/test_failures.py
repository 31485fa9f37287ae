"""Lean's messages: which proof they belong to, and what of them is worth showing."""

from __future__ import annotations

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from maskpool_verify.engine.protocol import Message, ModuleResult, Position
from maskpool_verify.failures import (
    BY_SPECIFICATION,
    MAX_LINES,
    Failure,
    by_specification,
    failures,
    goals,
    place,
    remaining,
)
from maskpool_verify.lean.properties import Theorem

FILE = "certificates/k/properties.lean"
SOURCE = """module

namespace certificates.k.n4

theorem first {R : Type} :
    True :=
  trivial

def second := 1

end certificates.k.n4

namespace certificates.k

theorem third : True := trivial
"""

GOAL = """unsolved goals
case h.refine_2
R : Type
inst✝ : RealArith R
features features' : Tensor R [4, 3]
long : ∀ i,
  i = i
h : mask i = true
⊢ 0 =
    logits i"""


def message(
    line: int | None, text: str = "error", severity: Literal["error", "warning", "information"] = "error"
) -> Message:
    position = None if line is None else Position(line=line, column=2)
    return Message(severity=severity, file=FILE, position=position, text=text)


def result(*messages: Message) -> ModuleResult:
    return ModuleResult(module="certificates.k.properties", status="failed", seconds=0, messages=messages)


def test_an_error_belongs_to_the_declaration_around_it():
    lines = SOURCE.splitlines()
    names = {
        lines.index("  trivial") + 1: "certificates.k.n4.first",
        lines.index("def second := 1") + 1: "certificates.k.n4.second",
        lines.index("theorem third : True := trivial") + 1: "certificates.k.third",
    }
    for line, name in names.items():
        assert failures(SOURCE, result(message(line))) == [Failure(name, message(line))]
    assert [f.theorem for f in failures(SOURCE, result(*map(message, names)))] == list(names.values())


def test_only_the_first_error_of_a_proof_counts():
    assert failures(SOURCE, result(message(6, "a"), message(7, "b"))) == [
        Failure("certificates.k.n4.first", message(6, "a"))
    ]


def test_what_is_no_error_or_has_no_place_belongs_to_no_proof():
    assert failures(SOURCE, result(message(6, severity="warning"), message(None), message(1))) == []


def test_a_proof_says_that_it_is_by_the_specification():
    lines = SOURCE.splitlines()
    note = message(lines.index("  trivial") + 1, BY_SPECIFICATION, "information")
    assert by_specification(SOURCE, result(note, message(len(lines)))) == {"certificates.k.n4.first"}
    assert failures(SOURCE, result(note)) == []


def test_a_place_is_as_exact_as_known():
    assert place(message(6)) == f"{FILE}:6:2"
    assert place(message(None)) == FILE


def test_the_statement_is_not_repeated_with_the_goal():
    assert remaining(GOAL, {"R", "features", "features'", "long"}).splitlines() == [
        "unsolved goals",
        "h : mask i = true",
        "⊢ 0 =",
        "    logits i",
    ]
    assert "features features' :" in remaining(GOAL, {"features"}), "a line stays if one name is new"


def test_a_message_without_goal_is_shown_as_it_is():
    text = "R : Type\ncase x"
    assert remaining(text, {"R"}) == text


@given(st.integers(0, 3 * MAX_LINES))
def test_long_messages_are_cut(number: int):
    shown = remaining("\n".join(map(str, range(number))), ()).splitlines()
    assert shown[:MAX_LINES] == [str(k) for k in range(min(number, MAX_LINES))]
    assert len(shown) == min(number, MAX_LINES + 1)
    assert (number > MAX_LINES) == (shown[-1:] == [f"⋯ ({number - MAX_LINES} more lines)"])


def specification(n: int) -> Theorem:
    return Theorem(
        name=("certificates", "k", f"n{n}", "specification"),
        module="certificates.k.properties",
        proves="specification",
        shape={"n": n},
        padded_shape=None,
        binders=("{R : Type} [RealArith R]", f"(features features' : Tensor R [{n}, 3])"),
        conclusion=("a", "b"),
        proof="rfl",
    )


def test_shapes_with_the_same_goal_share_a_paragraph():
    theorems = {t.dotted: t for t in map(specification, (4, 6, 8))}
    found = [
        Failure("certificates.k.n4.specification", message(5, "features : A\n⊢ x")),
        Failure("certificates.k.n6.specification", message(9, "features : B\n⊢ x")),
        Failure("certificates.k.n8.specification", message(13, "⊢ y")),
        Failure("certificates.k.n4.readable", message(20, "type mismatch")),
    ]
    assert goals(found, theorems) == [
        f"specification at n4 and n6 failed at {FILE}:5:2 and 9:2:\n  ⊢ x",
        f"specification at n8 failed at {FILE}:13:2:\n  ⊢ y",
        f"certificates.k.n4.readable failed at {FILE}:20:2:\n  type mismatch",
    ]
