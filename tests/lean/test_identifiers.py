"""Names of Python as names of Lean."""

from __future__ import annotations

import keyword
from pathlib import Path

import pytest
from claims import errors
from hypothesis import given
from hypothesis import strategies as st

from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.names import binders, dotted, identifier, symbol_names

RESERVED = ["at", "where", "fun", "end", "theorem", "let", "do", "then", "share", "this", "matches", "from"]
TAKEN = ["program", "t3", "j", "i", "R", "pool", "true", "Tensor", "bool", "row", "extra", "score"]
PYTHON_NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,11}", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name)
)
AWKWARD = [*TAKEN, *RESERVED, "junk_x", "arg_junk_x", "h_x", "arg_h_x", "size_h_x"]
NAMES = st.lists(st.sampled_from(AWKWARD) | PYTHON_NAMES, unique=True)


def test_ordinary_names_stay() -> None:
    assert binders(["features", "logits", "mask", "tau", "_x"]) == ("features", "logits", "mask", "tau", "_x")


@pytest.mark.parametrize("word", RESERVED)
def test_reserved_words_are_quoted(word: str) -> None:
    assert identifier(word) == f"«{word}»"
    assert binders([word]) == (f"«{word}»",)
    assert dotted("certificates", word, "n4") == f"certificates.«{word}».n4"


@pytest.mark.parametrize("word", TAKEN)
def test_names_with_another_meaning_in_the_file_are_changed(word: str) -> None:
    assert binders([word]) == (f"{word}_",)


def test_names_of_the_same_form_as_generated_ones() -> None:
    assert binders(["junk_x", "x"]) == ("arg_junk_x", "x")
    assert binders(["h_x", "x"]) == ("arg_h_x", "x")
    assert symbol_names(["junk_x", "h_x", "x"]) == ("size_junk_x", "size_h_x", "x")
    assert binders(["n4_d3"], taken=["n4_d3", "n6_d3"]) == ("n4_d3_",)
    assert binders(["t3", "t3_"]) == ("t3_", "t3__")


def test_symbols_are_quoted_nowhere() -> None:
    """They are names of sizes in statements, of ``abbrev``s, and keys in JSON."""
    assert symbol_names(["n", "at", "q", "q_", "extra", "t1"]) == ("n", "at_", "q_", "q__", "extra_", "t1_")


@given(NAMES)
def test_distinct_symbols_get_distinct_sizes(names: list[str]) -> None:
    sizes = symbol_names(names)
    assert len(set(sizes)) == len(names)
    assert not [size for size in sizes if size.startswith(("junk_", "h_")) or size == "extra"]
    assert symbol_names(sizes) == sizes


@given(NAMES)
def test_distinct_arguments_get_distinct_variables(names: list[str]) -> None:
    bound = binders(names)
    assert len(set(bound)) == len(names)
    plain = [name.strip("«»") for name in bound]
    assert not set(bound) & {f"{prefix}{name}" for prefix in ("junk_", "h_") for name in plain}
    assert binders([name.strip("«»") for name in bound]) == bound


def test_lean_takes_them_as_variables(engine: WasmEngine, lean_project: Path) -> None:
    """Also words that are reserved in Lean, but not here: the lists above are not all of Lean."""
    words = [
        *RESERVED,
        *TAKEN,
        "simp",
        "by_cases",
        "mask_pool",
        "all",
        "bag",
        "x1",
        "self",
        "str",
        "e",
        "at1",
    ]
    claims = {
        f"{word}_is_a_variable": f"example ({binders([word])[0]} : Nat) : {binders([word])[0]} + 0 = "
        f"{binders([word])[0]} := rfl"
        for word in words
    }
    claims["unquoted"] = "example (where : Nat) : where + 0 = where := rfl"
    found = errors(engine, lean_project, {"identifiers.words": claims}, ["MaskPool.Certificate.Normalize"])
    assert {name for name in found if found[name]} == {"unquoted"}
