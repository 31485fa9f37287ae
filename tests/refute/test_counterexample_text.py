"""The text of a counterexample, and that it is data."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from maskpool_verify.refute import Counterexample, Subject, observe, refute, render
from maskpool_verify.refute.counterexample import Values
from maskpool_verify.refute.text import nested

SECONDS = 60.0

FEATURES_ZEROED = """\
Counterexample to padding (proved over the reals):
  n = 1, d = 1                     n = 2, d = 1
  row  features  logits  mask      row  features  logits  mask
    0       [1]       0   yes        0       [1]       0   yes
                                    1*       [0]       0    no
               first  second
  exact        [1]    [1/2]
  JAX float32  [1]    [0.5]
  JAX float64  [1]    [0.5]
  The new row 1, which is masked, changes the result.
  The first equation at which the two runs do not correspond:
    refutable.py:15: total = jnp.sum(weights)"""


def text(subject: Subject, property_: str) -> str:
    search = observe if subject.program_at is None else refute
    counter = search(subject, property_, budget=SECONDS).counterexample  # type: ignore[arg-type]
    assert counter is not None
    return render(counter)


def test_the_whole_block(subject: Callable[..., Subject]) -> None:
    """One row, and a masked one beside it: the mean of 1 and nothing is 1, and the kernel gives 1/2."""
    block, _, equation = text(subject("features_zeroed"), "padding").rpartition("\n")
    assert block == FEATURES_ZEROED
    assert "= reduce_sum (axes := [0]) v#" in equation


def test_a_run_without_a_value(subject: Callable[..., Subject]) -> None:
    shown = text(subject("unguarded"), "all_masked").splitlines()
    assert "  exact        [nan]   [0]" in shown
    assert "    refutable.py:66: return (weights @ features) / jnp.sum(weights)" in shown


def test_a_reordering_shows_where_each_row_was(subject: Callable[..., Subject]) -> None:
    shown = text(subject("position_bias"), "permutation").splitlines()
    rows = [line.split() for line in shown[3:5]]
    half = len(rows[0]) // 2
    assert [row[0] for row in rows] == ["0", "1"]
    assert [row[half] for row in rows] == ["1", "0"]
    assert rows[0][1:half] == rows[1][half + 1 :]


def test_an_observation_says_that_it_is_one(subject: Callable[..., Subject]) -> None:
    shown = text(subject("sorted_rows"), "permutation")
    assert shown.startswith("Counterexample to permutation (observed with JAX in float64, not proved):")
    assert "exact" not in shown


def test_lengths_stand_below_the_rows(subject: Callable[..., Subject]) -> None:
    assert "  length = 0" in text(subject("length_off_by_one"), "specification").splitlines()


def test_what_jax_does_not_show_is_said(subject: Callable[..., Subject]) -> None:
    counter = refute(subject("mask_ignored"), "all_masked", budget=SECONDS).counterexample
    assert counter is not None
    assert "JAX does not show" not in render(counter)
    assert "JAX does not show" in render(counter.model_copy(update={"confirmed_by_jax": False}))


def test_nested_arrays() -> None:
    entries = tuple(map(str, range(6)))
    assert nested(Values(shape=(2, 3), entries=entries)) == "[[0, 1, 2], [3, 4, 5]]"
    assert nested(Values(shape=(), entries=("1/2",))) == "1/2"


def test_malformed_data_is_refused(subject: Callable[..., Subject]) -> None:
    with pytest.raises(ValidationError, match="2 entries for the shape"):
        Values(shape=(3,), entries=("0", "1"))
    counter = refute(subject("mask_ignored"), "all_masked", budget=SECONDS).counterexample
    assert counter is not None
    data = counter.model_dump()
    with pytest.raises(ValidationError):
        Counterexample.model_validate({**data, "more": 1})
    with pytest.raises(ValidationError):
        Counterexample.model_validate({**data, "evidence": "guessed"})
