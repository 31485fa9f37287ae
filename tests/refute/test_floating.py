"""Warnings: what floating point spoils although the reals hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from maskpool_verify.refute import FloatWarning, Subject, float_warnings


def cases(found: tuple[FloatWarning, ...]) -> set[str]:
    return {warning.case for warning in found}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # 0 * inf is NaN, exp(1e4) overflows, exp(-1e4) underflows: all weights are 0 then.
        (
            "nan_spreads",
            {
                "inf in the features of a masked row",
                "-10000 as the logits of all rows",
                "10000 as the logits of all rows",
            },
        ),
        ("division_times_zero", {"all rows masked"}),
        ("minus_infinity_guarded", set()),
        ("masked_mean", set()),
    ],
)
def test_warnings(subject: Callable[..., Subject], name: str, expected: set[str]) -> None:
    found = float_warnings(subject(name))
    assert expected <= cases(found)
    if not expected:
        assert found == ()
    for warning in found:
        assert FloatWarning.model_validate_json(warning.model_dump_json()) == warning
        assert warning.found != warning.expected
        assert warning.dtype == "float32"


def test_the_sentence_has_both_results(subject: Callable[..., Subject]) -> None:
    (warning,) = [w for w in float_warnings(subject("nan_spreads")) if w.case.startswith("inf in the feat")]
    assert warning.property == "masked_irrelevance"
    assert warning.right is not None
    assert "inf" in warning.right.inputs[0].values.entries
    assert "nan" in warning.found.entries
    assert warning.sentence.startswith(
        "In float32, with inf in the features of a masked row, JAX gives [nan, "
    )


def test_a_kernel_that_is_refuted_anyway_gets_no_warning(subject: Callable[..., Subject]) -> None:
    every = float_warnings(subject("nan_spreads"))
    rest = float_warnings(subject("nan_spreads"), refuted=["masked_irrelevance"])
    assert cases(rest) == {w.case for w in every if w.property != "masked_irrelevance"}


def test_without_a_program(subject: Callable[..., Subject]) -> None:
    assert subject("sorted_rows").program_at is None
    assert "nan" in str(cases(float_warnings(subject("sorted_rows")))) or float_warnings(
        subject("sorted_rows")
    )
