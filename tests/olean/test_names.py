"""Names: structures, and a way of printing them that cannot deceive."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maskpool_verify.errors import AuditError
from maskpool_verify.olean import ANONYMOUS, Name, make_name, parse_name

tricky = st.sampled_from(
    ["", ".", "a.b", "«a»", "«", "»", "\n", "\\", "\\u{a}", "0", "[anonymous]", "a'", "α₁", "\u202e"]
)
components = st.one_of(tricky, st.text(max_size=6), st.integers(min_value=0))
names = st.lists(components, max_size=4).map(lambda parts: make_name(*parts))


@given(names)
@example(make_name("Classical.choice"))
@example(make_name(10**2000))
def test_printing_is_injective_because_it_can_be_read_back(name: Name) -> None:
    assert parse_name(str(name)) is name


@given(names)
def test_printed_names_are_one_line(name: Name) -> None:
    assert str(name).isprintable()


@pytest.mark.parametrize(
    ("parts", "printed"),
    [
        ((), "[anonymous]"),
        (("Classical", "choice"), "Classical.choice"),
        (("Classical.choice",), "«Classical.choice»"),
        (("«Classical", "choice»"), "«\\u{ab}Classical».«choice\\u{bb}»"),
        (("propext\n",), "«propext\\u{a}»"),
        (("_private", "A", 0, "x!'?₁"), "_private.A.0.x!'?₁"),
        (("A", "0"), "A.«0»"),
        (("λ",), "«λ»"),
        (("α", "ℝ", "𝒜"), "α.ℝ.𝒜"),
        (("",), "«»"),
        (("Clаssical",), "«Clаssical»"),  # with a Cyrillic letter
    ],
)
def test_printing(parts: tuple[str | int, ...], printed: str) -> None:
    assert str(make_name(*parts)) == printed


def test_a_number_is_not_its_digits() -> None:
    assert make_name("a", 1) is not make_name("a", "1")


def test_equal_names_are_identical() -> None:
    assert make_name("a", "b") is make_name("b", parent=make_name("a"))
    assert make_name() is ANONYMOUS


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "a b",
        "«",
        "«a",
        "a»",
        "«a»",
        "«\\u{41}»",
        "01",
        "a\n",
        "«\\u{110000}»",
        "λ",
        "a.-1",
    ],
)
def test_what_is_not_printed_so_is_refused(text: str) -> None:
    with pytest.raises(AuditError, match="not the name"):
        parse_name(text)
