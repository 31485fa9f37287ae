"""Wrong kernels are refuted by the smallest inputs, right ones never."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from maskpool_verify.lean.properties import Property
from maskpool_verify.program import Program
from maskpool_verify.refute import (
    Located,
    Outcome,
    Progress,
    Subject,
    float_warnings,
    observe,
    properties,
    refute,
)
from maskpool_verify.refute.cases import Layout, Slot, Stage, small_sizes
from maskpool_verify.refute.counterexample import Counterexample
from maskpool_verify.refute.explain import first_broken
from maskpool_verify.refute.finding import counterexample
from maskpool_verify.refute.proof import prove
from maskpool_verify.refute.search import layouts

ROOT = Path(__file__).parents[2]
SECONDS = 60.0
"""More than any search of these tests takes; the order of the cases does not depend on it."""


def found(outcome: Outcome) -> Counterexample:
    assert outcome.counterexample is not None
    return outcome.counterexample


WRONG: list[tuple[str, Property, dict[str, int], str]] = [
    ("features_zeroed", "specification", {"n": 2, "d": 1}, "jnp.sum(weights)"),
    ("features_zeroed", "masked_irrelevance", {"n": 2, "d": 1}, "jnp.sum(weights)"),
    ("features_zeroed", "padding", {"n": 1, "d": 1}, "jnp.sum(weights)"),
    ("mask_ignored", "all_masked", {"n": 1, "d": 1}, ""),
    ("mask_ignored", "masked_irrelevance", {"n": 1, "d": 1}, ""),
    ("finite_fill", "all_masked", {"n": 1, "d": 1}, ""),
    ("mean_over_rows", "padding", {"n": 1, "d": 1}, "features.shape[0]"),
    ("epsilon", "specification", {"n": 1, "d": 1}, ""),
    ("mask_inverted", "specification", {"n": 1, "d": 1}, ""),
    ("position_bias", "permutation", {"n": 2, "d": 1}, "jnp.arange"),
    ("position_bias", "specification", {"n": 2, "d": 1}, ""),
    ("running_sum", "permutation", {"n": 2, "d": 1}, "jnp.cumsum"),
    ("uniform_on_empty", "all_masked", {"n": 1, "d": 1}, ""),
    ("unguarded", "all_masked", {"n": 1, "d": 1}, ""),
    ("minus_infinity_fill", "all_masked", {"n": 1, "d": 1}, ""),
    ("clamped", "specification", {"n": 1, "d": 1}, ""),
    ("heads_mixed", "specification", {"n": 2, "d": 1, "h": 2}, ""),
    ("length_off_by_one", "specification", {"n": 1, "d": 1}, ""),
    ("length_off_by_one", "padding", {"n": 1, "d": 1}, ""),
    ("lengths_of_next_bag", "specification", {"b": 2, "n": 1, "d": 1}, ""),
    ("lengths_of_next_bag", "all_masked", {"b": 2, "n": 1, "d": 1}, ""),
    ("lengths_of_next_bag", "masked_irrelevance", {"b": 2, "n": 1, "d": 1}, ""),
    ("lengths_of_next_bag", "permutation", {"b": 2, "n": 2, "d": 1}, ""),
    ("guarded_fill", "masked_irrelevance", {"n": 2, "d": 1}, ""),
    ("tiny_epsilon", "specification", {"n": 1, "d": 1}, ""),
    ("mean_of_all", "padding", {"n": 1, "d": 1}, ""),
]


@pytest.mark.parametrize(
    ("name", "property_", "sizes", "code"), WRONG, ids=[f"{name}-{claim}" for name, claim, *_ in WRONG]
)
def test_wrong_kernels_are_refuted_by_the_smallest_input(
    subject: Callable[..., Subject], name: str, property_: Property, sizes: dict[str, int], code: str
) -> None:
    counter = found(refute(subject(name), property_, budget=SECONDS))
    assert counter.left.sizes == sizes
    assert counter.evidence == "proved"
    assert counter.confirmed_by_jax
    assert counter.left.jax is not None
    assert Counterexample.model_validate_json(counter.model_dump_json()) == counter
    if code:
        assert counter.broken is not None
        assert code in counter.broken.code
        assert counter.broken.source.startswith("refutable.py:")


def test_a_counterexample_that_one_can_check_by_hand(subject: Callable[..., Subject]) -> None:
    """Two rows with logits 0, one of them masked: the kernel takes it into the mean."""
    counter = found(refute(subject("features_zeroed"), "specification", budget=SECONDS))
    features, logits, mask = (given.values for given in counter.left.inputs)
    assert (features.shape, sorted(features.entries)) == ((2, 1), ["0", "1"])
    assert (logits.entries, sorted(mask.entries)) == (("0", "0"), ["false", "true"])
    assert counter.left.result is not None
    assert counter.expected is not None
    assert (counter.left.result.entries, counter.expected.entries) == (("1/2",), ("1",))


def test_division_by_zero_is_named(subject: Callable[..., Subject]) -> None:
    counter = found(refute(subject("unguarded"), "all_masked", budget=SECONDS))
    assert counter.left.result is not None
    assert counter.left.result.entries == ("nan",)
    assert counter.undefined is not None
    assert counter.undefined.code == "return (weights @ features) / jnp.sum(weights)"
    assert " div " in counter.undefined.equation


RIGHT = ["nan_spreads", "division_times_zero", "minus_infinity_guarded", "masked_mean"]


@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_are_not_refuted(subject: Callable[..., Subject], name: str) -> None:
    """Also where floating point or the theorems go another way: neither alone refutes."""
    kernel = subject(name)
    for property_ in properties(kernel.kernel):
        assert refute(kernel, property_, budget=1).counterexample is None


@pytest.mark.parametrize("name", ["masked_attention_pool", "masked_attention_pool_stable"])
def test_the_bundled_kernels_are_not_refuted(subject: Callable[..., Subject], name: str) -> None:
    kernel = subject(name, f"kernels/{name}.py", ROOT)
    for property_ in properties(kernel.kernel):
        outcome = refute(kernel, property_, budget=1)
        assert (outcome.counterexample, outcome.doubtful) == (None, False)
        assert outcome.tried > 5


def test_the_search_is_deterministic(subject: Callable[..., Subject]) -> None:
    """The same counterexample with another budget, and the same progress."""
    reports: list[list[Progress]] = [[], []]
    outcomes = [
        refute(subject("position_bias"), "permutation", budget=budget, progress=seen.append)
        for budget, seen in zip((SECONDS, 2 * SECONDS), reports, strict=True)
    ]
    assert outcomes[0] == outcomes[1]
    assert reports[0] == reports[1]
    assert reports[0][0] == Progress("permutation", {"n": 2, "d": 1}, 0)


def test_the_budget_is_respected(subject: Callable[..., Subject], monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(10**6))
    monkeypatch.setattr("maskpool_verify.refute.search.monotonic", lambda: next(ticks))
    whole = refute(subject("nan_spreads"), "permutation", budget=1000)
    assert (whole.complete, whole.tried > 3000) == (True, True)
    ticks = iter(range(10**6))
    hurried = refute(subject("nan_spreads"), "permutation", budget=10)
    assert (hurried.complete, 64 < hurried.tried < 640) == (False, True)
    ticks = iter(range(10**6))
    assert refute(subject("mask_ignored"), "all_masked", budget=10).counterexample is not None


def test_a_difference_that_one_can_see_is_preferred(subject: Callable[..., Subject]) -> None:
    """1 / (1 + 1e-8) is proved to be less than 1; with a weight of exp(-100) the result is about zero."""
    kernel = subject("tiny_epsilon")
    layout = Layout(kernel.kernel, "specification", {"n": 1, "d": 1})
    case = layout.case({Slot("value", "features", (0, 0)): Fraction(1)})
    assert case is not None
    assert prove(kernel, case) is not None
    counter = found(refute(kernel, "specification", budget=SECONDS))
    assert counter.left.inputs[1].values.entries == ("-100",)


def test_the_literals_of_a_program_are_tried(subject: Callable[..., Subject]) -> None:
    assert subject("guarded_fill").constants({"n": 2, "d": 1}) == (-(10**9), -2 * 10**9)
    counter = found(refute(subject("guarded_fill"), "masked_irrelevance", budget=SECONDS))
    assert "-1000000000" in counter.left.inputs[1].values.entries


def test_bags_are_permuted_one_by_one(subject: Callable[..., Subject]) -> None:
    counter = found(refute(subject("lengths_of_next_bag"), "permutation", budget=SECONDS))
    assert sorted(counter.orders) == [(0, 1), (1, 0)]
    features = [run.inputs[0].values.entries for run in (counter.left, counter.right) if run]
    moved = [
        x for bag, order in enumerate(counter.orders) for row in order for x in features[0][2 * bag + row]
    ]
    assert "".join(moved) == "".join(features[1])


@pytest.mark.parametrize(
    "name", [*RIGHT, "heads_mixed", "running_sum", "position_bias", "lengths_of_next_bag"]
)
def test_many_inputs_at_once_give_what_each_gives(subject: Callable[..., Subject], name: str) -> None:
    kernel = subject(name)
    layout = layouts(kernel.kernel, "masked_irrelevance")[-1]
    candidates = layout.candidates(Stage(8, 4), 0, 20, Random(1))
    runs = [case.left for values in candidates if (case := layout.case(values))]
    together = kernel.float64_of(runs)
    assert together is not None
    assert kernel.located(runs[0].sizes) is not None
    assert len(together) == 20
    for run, result in zip(runs, together, strict=True):
        np.testing.assert_array_equal(result, kernel.float64(run))
        by_jax = kernel.jax(run, in_float64=True)
        assert by_jax is not None
        np.testing.assert_allclose(result, by_jax, rtol=1e-9, atol=1e-12)


def test_a_corrupted_evaluation_is_noticed(subject: Callable[..., Subject]) -> None:
    """A program that is not the kernel: what is proved of it, JAX does not confirm."""
    right = subject("nan_spreads")
    assert right.program_at is not None

    def corrupted(sizes: Any) -> Located:
        assert right.program_at is not None
        located = right.program_at(sizes)
        text = located.program.model_dump_json()
        assert text.count('"primitive":"exp"') == 1
        changed = text.replace('"primitive":"exp"', '"primitive":"tanh"')
        return Located(Program.model_validate_json(changed), located.sources)

    wrong = Subject(right.kernel, right.root, corrupted, right.function)
    counter = found(refute(wrong, "specification", budget=SECONDS))
    assert not counter.confirmed_by_jax


def test_a_difference_that_is_none_is_not_proved(subject: Callable[..., Subject]) -> None:
    right = subject("nan_spreads")
    layout = Layout(right.kernel, "specification", {"n": 2, "d": 1})
    values = dict.fromkeys(layout.slots, Fraction(1)) | {Slot("mask", "mask", (0,)): False}
    case = layout.case(values)
    assert case is not None
    assert prove(right, case) is None
    assert prove(subject("mask_inverted"), case) is None, "both rows are the same"
    assert prove(subject("epsilon"), case) is not None


def test_zero_times_an_undefined_value_is_a_warning_and_no_refutation(
    subject: Callable[..., Subject],
) -> None:
    outcome = refute(subject("division_times_zero"), "all_masked", budget=1)
    assert outcome.counterexample is None
    assert outcome.doubtful


def test_the_layouts_begin_small_and_cover_two_of_each_symbol(subject: Callable[..., Subject]) -> None:
    kernel = subject("heads_mixed").kernel
    sizes = list(small_sizes(kernel))
    assert sizes[0] == {"n": 1, "d": 1, "h": 1}
    assert {"n": 3, "d": 2, "h": 2} in sizes
    assert all(layout.rows > 1 for layout in layouts(kernel, "permutation"))


def test_concrete_shapes_are_searched_as_they_are(subject: Callable[..., Subject]) -> None:
    whole = subject("features_zeroed")
    shapes = ({"n": 4, "d": 3}, {"n": 6, "d": 3})
    kernel = whole.kernel.model_copy(update={"shapes": shapes})
    concrete = replace(whole, kernel=kernel)
    assert [layout.sizes for layout in layouts(kernel, "specification")] == list(shapes)
    (padding,) = layouts(kernel, "padding")
    assert (padding.sizes, padding.extra) == ({"n": 4, "d": 3}, 2)
    assert found(refute(concrete, "specification", budget=SECONDS)).left.sizes == {"n": 4, "d": 3}
    counter = found(refute(concrete, "padding", budget=SECONDS))
    assert counter.right is not None
    assert (counter.right.sizes, counter.rows) == ({"n": 6, "d": 3}, (4, 5))


def test_a_shape_that_is_too_large_for_a_search_is_left_out(subject: Callable[..., Subject]) -> None:
    """One case alone would take longer than a search may."""
    whole = subject("features_zeroed")
    huge = ({"n": 4096, "d": 1024}, {"n": 6144, "d": 1024})
    alone = replace(whole, kernel=whole.kernel.model_copy(update={"shapes": huge}))
    for property_ in properties(alone.kernel):
        assert refute(alone, property_, budget=SECONDS) == Outcome(
            property_, None, 0, complete=False, doubtful=False
        )
    assert float_warnings(alone) == ()
    shapes = ({"n": 4, "d": 3}, *huge)
    among = replace(whole, kernel=whole.kernel.model_copy(update={"shapes": shapes}))
    assert found(refute(among, "specification", budget=SECONDS)).left.sizes == {"n": 4, "d": 3}
    assert not refute(among, "all_masked", budget=SECONDS).complete


def test_a_large_shape_is_searched_with_few_cases_at_once(subject: Callable[..., Subject]) -> None:
    whole = subject("features_zeroed")
    kernel = whole.kernel.model_copy(update={"shapes": ({"n": 64, "d": 64},)})
    counter = found(refute(replace(whole, kernel=kernel), "specification", budget=1))
    assert (counter.left.sizes, counter.evidence) == ({"n": 64, "d": 64}, "proved")


def test_what_cannot_be_imported_is_observed(subject: Callable[..., Subject]) -> None:
    kernel = subject("sorted_rows")
    assert kernel.program_at is None
    with pytest.raises(ValueError, match="use observe"):
        refute(kernel, "permutation")
    counter = found(observe(kernel, "permutation", budget=SECONDS))
    assert (counter.evidence, counter.left.result, counter.confirmed_by_jax) == ("observed", None, True)
    assert counter.left.sizes == {"n": 2, "d": 1}
    assert counter.right is not None
    assert counter.left.jax_float64 != counter.right.jax_float64


def test_a_function_that_raises_is_not_searched_for_long(subject: Callable[..., Subject]) -> None:
    def raising(*_: Any) -> Any:
        raise RuntimeError("no")

    kernel = subject("sorted_rows")
    outcome = observe(Subject(kernel.kernel, kernel.root, None, raising), "permutation", budget=SECONDS)
    assert outcome == Outcome("permutation", None, 0, complete=True, doubtful=False)


def test_an_unknown_property_is_refused(subject: Callable[..., Subject]) -> None:
    with pytest.raises(ValueError, match="cannot be searched"):
        refute(subject("masked_mean"), "all_masked")


def test_only_valid_rows_trade_places_when_there_is_a_length(subject: Callable[..., Subject]) -> None:
    kernel = subject("length_off_by_one").kernel
    layout = Layout(kernel, "permutation", {"n": 2, "d": 1})
    length = Slot("length", "length", ())
    swapped = Slot("order", "", ())
    allowed = [layout.case({length: count, swapped: 1}) is not None for count in (0, 1, 2)]
    assert allowed == [True, False, True]


def test_masked_irrelevance_changes_masked_rows_alone(subject: Callable[..., Subject]) -> None:
    kernel = subject("heads_mixed").kernel
    layout = Layout(kernel, "masked_irrelevance", {"n": 2, "d": 1, "h": 2})
    other = {slot: Fraction(7) for slot in layout.slots if slot.what == "other"}
    case = layout.case({**other, Slot("mask", "mask", (1,)): False})
    assert case is not None
    assert case.right is not None
    features, logits, mask = case.right.inputs
    assert features.tolist() == [[0], [7]]
    assert logits.tolist() == [[0, 0], [7, 7]]
    assert mask.tolist() == case.left.inputs[2].tolist() == [True, False]


def test_the_broken_equation_is_one_of_the_counterexample(subject: Callable[..., Subject]) -> None:
    """On an input where the runs correspond, no equation is broken."""
    kernel = subject("features_zeroed")
    layout = Layout(kernel.kernel, "masked_irrelevance", {"n": 2, "d": 1})
    masked = {Slot("mask", "mask", (1,)): False, Slot("value", "features", (0, 0)): Fraction(1)}
    unchanged = layout.case(masked)
    changed = layout.case({**masked, Slot("other", "logits", (1,)): Fraction(1)})
    assert unchanged is not None
    assert changed is not None
    assert first_broken(kernel, unchanged, 64) is None
    broken = first_broken(kernel, changed, 64)
    assert broken is not None
    assert "reduce_sum" in broken.equation


def test_every_value_is_a_float_of_every_width(subject: Callable[..., Subject]) -> None:
    layout = Layout(subject("mask_ignored").kernel, "specification", {"n": 1, "d": 1})
    for slot in layout.slots:
        for value in layout.domain(slot, Stage(99, 99)):
            if isinstance(value, Fraction):
                assert float(jnp.asarray(float(value), "bfloat16")) == value
                assert np.float16(float(value)) == value


def test_an_undecided_difference_is_no_counterexample(subject: Callable[..., Subject]) -> None:
    """The weight of a filled row is about 10**-434294482: beside 1 it vanishes, beside 0 it does not."""
    kernel = subject("finite_fill")
    layout = Layout(kernel.kernel, "specification", {"n": 2, "d": 1})
    for row, proved in ((0, False), (1, True)):
        case = layout.case(
            {Slot("mask", "mask", (1,)): False, Slot("value", "features", (row, 0)): Fraction(1)}
        )
        assert case is not None
        difference = prove(kernel, case)
        assert (difference is not None) == proved
        shown = counterexample(kernel, case, difference)
        assert not shown.confirmed_by_jax
        if proved:
            assert shown.left.result is not None
            assert shown.left.result.entries == ("about 10^-434294482",)


# -- constraints


def constrained(subject: Subject, *constraints: str) -> Subject:
    """The kernel under constraints on its sizes."""
    return replace(subject, kernel=subject.kernel.model_copy(update={"constraints": constraints}))


@pytest.mark.parametrize(
    ("constraints", "property_", "sizes"),
    [
        (("mod(n, 2) == 0",), "padding", [{"n": 2, "d": 1}, {"n": 4, "d": 1}, {"n": 6, "d": 1}]),
        (("mod(n, 2) == 0",), "permutation", [{"n": 2, "d": 1}, {"n": 4, "d": 1}, {"n": 6, "d": 1}]),
        (("n >= 4", "d >= n"), "permutation", [{"n": 4, "d": 4}, {"n": 4, "d": 5}, {"n": 5, "d": 5}]),
        (("n <= 2",), "padding", [{"n": 1, "d": 1}]),
        (("n <= 2",), "masked_irrelevance", [{"n": 1, "d": 1}, {"n": 2, "d": 1}]),
    ],
)
def test_only_sizes_that_satisfy_the_constraints_are_searched(
    subject: Callable[[str], Subject],
    constraints: tuple[str, ...],
    property_: Property,
    sizes: list[dict[str, int]],
) -> None:
    kernel = constrained(subject("mean_over_rows"), *constraints).kernel
    places = layouts(kernel, property_)
    assert [layout.sizes for layout in places[: len(sizes)]] == sizes
    for layout in places:
        assert kernel.assumed.violated(layout.sizes) is None
        assert property_ != "padding" or kernel.assumed.violated(layout.padded_sizes) is None


def test_a_counterexample_satisfies_the_constraints(subject: Callable[[str], Subject]) -> None:
    kernel = subject("mean_over_rows")
    shown = found(refute(constrained(kernel, "mod(n, 3) == 0"), "padding", budget=SECONDS))
    assert shown.right is not None
    assert (shown.left.sizes["n"], shown.right.sizes["n"]) == (3, 6)
    impossible = refute(constrained(kernel, "n <= 1"), "padding", budget=SECONDS)
    assert impossible.counterexample is None
