"""The expectations of the corpus, checked with JAX in float64 and NumPy alone.

A property that is expected to hold holds on all inputs tried, to nine digits; one that is expected to break
breaks on one of them, visibly. That a kernel stays correct between the inputs is what the product proves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import pooling
import pytest
from expectations import INVARIANCES, PROPERTIES, Argument, Entry, Property, entries, expectations
from pooling import Array, Inputs

ENTRIES = {entry.name: entry for entry in entries()}
pytestmark = pytest.mark.slow  # a minute, for what changes with the corpus alone

EXPECTATIONS = expectations()

SIZES = {"d": 3, "b": 2, "h": 2, "k": 2, "w": 2, "q": 2, "c": 2, "e": 2, "m": 8}
SAMPLES = 24
WITNESSES: dict[str, dict[str, float]] = {
    "finite_fill_guarded": {"logits": -1e9},
    "clamped_normalizer": {"logits": -20.0},
    "guard_threshold": {"logits": -20.0},
    "max_finite_fill": {"features": -2e9},
    "best_instance": {"logits": 0.0},
    "top_two_instances": {"logits": 0.0},
}
"""Inputs that random search misses: an argument with this value everywhere."""

SAME = 1e-9
DIFFERENT = 1e-7


@pytest.fixture(autouse=True)
def _double_precision(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels that name float32 compute in float64 too."""
    monkeypatch.setattr(jnp, "float32", jnp.float64)
    with jax.enable_x64(True):
        yield


def draw(entry: Entry, sizes: dict[str, int], random: np.random.Generator) -> dict[str, Array]:
    """A stack of samples: the first have all patterns of a mask, and some have round numbers."""
    inputs = {}
    for argument in entry.arguments:
        shape = (SAMPLES, *(sizes[axis] if isinstance(axis, str) else axis for axis in argument.shape))
        inputs[argument.name] = _draw(argument, shape, sizes["n"], random)
    return inputs


def _draw(argument: Argument, shape: tuple[int, ...], rows: int, random: np.random.Generator) -> Array:
    match argument.role:
        case "mask":
            mask = random.random(shape) < 0.6
            patterns = np.array(list(product([False, True], repeat=rows)))[:SAMPLES]
            if len(shape) == 2:
                mask[: len(patterns)] = patterns
            mask[-1], mask[-2] = True, False
            return (
                mask
                if argument.dtype == "bool"
                else mask.astype(np.int32 if "int" in argument.dtype else float)
            )
        case "length":
            length = random.integers(0, rows + 1, shape).astype(np.int32)
            length[-1], length[-2] = rows, -1
            return length
        case "parameter":  # a temperature must not be near zero
            return random.standard_normal(shape) if len(shape) > 1 else random.uniform(0.5, 2.0, shape)
    value = 2 * random.standard_normal(shape)
    value[::4] = np.round(value[::4])
    return value


def constant(entry: Entry, inputs: Inputs) -> dict[str, Array]:
    """The inputs with the constant argument of a witness."""
    changed = {name: np.full_like(inputs[name], value) for name, value in WITNESSES[entry.name].items()}
    return {**inputs, **changed}


def difference(left: Array, right: Array) -> float:
    """The largest relative difference; infinite if one number is NaN or infinite and the other differs."""
    assert left.shape == right.shape
    with np.errstate(invalid="ignore"):
        distance = np.abs(left - right) / (1 + np.abs(left) + np.abs(right))
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    return float(np.where(same, 0.0, np.where(np.isfinite(distance), distance, np.inf)).max(initial=0.0))


def observe(entry: Entry, function: Callable[..., Any]) -> dict[Property, str]:
    """For each property ``holds`` or ``breaks``, over all inputs; ``unclear`` if it breaks by very little.

    JAX compiles every operation for every shape, so that all bags of one size are computed together.
    """
    random = np.random.default_rng(0)
    cases: list[_Case] = []
    for sizes, extra in _shapes(entry):
        inputs = draw(entry, sizes, random)
        for given in (inputs, constant(entry, inputs)) if entry.name in WITNESSES else (inputs,):
            cases.append(_Case("value", given, sizes["n"]))
            original = len(cases) - 1
            permuted = pooling.permuted(entry, given, sizes["n"], random)
            refilled = pooling.refilled(entry, given, sizes["n"], random)
            cases.append(_Case("permutation", permuted, sizes["n"], original))
            cases.append(_Case("masked_irrelevance", refilled, sizes["n"], original))
            if extra:
                padded = pooling.padded(entry, given, extra, random)
                cases.append(_Case("padding", padded, sizes["n"] + extra, original))
    values = _run(function, cases)
    worst: dict[Property, float] = {}

    def note(claim: Property, left: Array, right: Array) -> None:
        worst[claim] = max(worst.get(claim, 0.0), difference(left, right))

    for case, value in zip(cases, values, strict=True):
        if case.claim != "value":
            note(case.claim, value, values[case.same_as])
        if entry.spec == "attention" and case.claim == "value":
            expected, empty = pooling.pool(entry, case.inputs)
            note("specification", value, expected)
            note("all_masked", value[empty], np.zeros_like(value[empty]))
    return {claim: _outcome(distance) for claim, distance in worst.items()}


@dataclass(frozen=True)
class _Case:
    """Inputs with ``rows`` rows, which a claim says to have the same result as case ``same_as``."""

    claim: Property | Literal["value"]
    inputs: Inputs
    rows: int
    same_as: int = 0


def _shapes(entry: Entry) -> Iterator[tuple[dict[str, int], int]]:
    """The sizes at which a kernel runs, and how many rows are padded then."""
    if entry.is_open:
        yield {**SIZES, "n": 2}, 2
        yield {**SIZES, "n": 4}, 0
        return
    for shape in entry.listed:
        longer = [other["n"] for other in entry.listed if other["n"] > shape["n"]]
        yield shape, min(longer) - shape["n"] if longer else 0


def _run(function: Callable[..., Any], cases: list[_Case]) -> list[Array]:
    """The result for each case, computed by one call for each number of rows."""
    values: dict[int, Array] = {}
    for rows in {case.rows for case in cases}:
        alike = [number for number, case in enumerate(cases) if case.rows == rows]
        stacks = [
            np.concatenate(arrays) for arrays in zip(*(cases[k].inputs.values() for k in alike), strict=True)
        ]
        result = np.asarray(jax.vmap(function)(*stacks))
        values |= dict(zip(alike, np.split(result, len(alike)), strict=True))
    return [values[number] for number in range(len(cases))]


def _outcome(distance: float) -> str:
    return "holds" if distance <= SAME else "breaks" if distance >= DIFFERENT else f"unclear ({distance:.1e})"


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES.keys())
def test_properties_hold_and_break_as_expected(entry: Entry) -> None:
    breaks = EXPECTATIONS[entry.name].breaks
    observed = observe(entry, entry.load())
    assert observed == {claim: "breaks" if claim in breaks else "holds" for claim in observed}
    claimed = set(PROPERTIES if entry.spec == "attention" else INVARIANCES)
    assert claimed - observed.keys() <= ({"padding"} if len(entry.listed) == 1 else set())


# -- floating point

BAG = {
    "features": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    "logits": np.array([0.0, 1.0, 2.0]),
    "mask": np.array([True, True, False]),
}
EMPTY = {"mask": np.zeros(3, bool)}
NAN_IN_MASKED_ROW = {"features": np.array([[1.0, 2.0], [3.0, 4.0], [np.nan, np.nan]])}
LARGE_MASKED_LOGIT = {"logits": np.array([0.0, 1.0, 1000.0])}
LARGE_LOGITS = {"logits": np.array([1000.0, 1000.0, 0.0])}

FLOATS: dict[str, tuple[Literal["value", "gradient"], dict[str, Array]]] = {
    "where_weights": ("value", NAN_IN_MASKED_ROW),
    "where_everything": ("value", LARGE_LOGITS),
    "mask_multiplied_everywhere": ("value", NAN_IN_MASKED_ROW),
    "float_mask": ("value", LARGE_MASKED_LOGIT),
    "softmax_where": ("value", NAN_IN_MASKED_ROW),
    "shift_max_where": ("gradient", EMPTY),
    "shift_max_of_all": ("value", LARGE_MASKED_LOGIT),
    "shift_logsumexp": ("value", LARGE_MASKED_LOGIT),
    "softmax_renormalized": ("value", LARGE_MASKED_LOGIT),
    "guard_single_where": ("gradient", EMPTY),
    "batch_of_heads": ("value", {"logits": np.array([-200.0, -200.0, 0.0])}),
    "half_precision_fill": ("gradient", EMPTY),
    "half_precision_epsilon": ("value", EMPTY),
    "log_sum_exp": ("value", LARGE_LOGITS),
}
"""A bag on which a kernel that is right over the reals goes wrong, in the value or in its gradient."""


def test_every_remark_on_floating_point_has_its_bag() -> None:
    assert FLOATS.keys() == {name for name, expected in EXPECTATIONS.items() if expected.floats}


@pytest.mark.parametrize("name", list(FLOATS))
def test_remarks_on_floating_point_are_true(name: str) -> None:
    """In the dtypes of the manifest, unlike above."""
    entry, (what, changed) = ENTRIES[name], FLOATS[name]
    kept = (BAG | changed)["mask"]
    with jax.enable_x64(False):
        inputs = {
            argument.name: jnp.asarray((BAG | changed)[argument.role], argument.dtype).reshape(
                (1,) * (len(argument.shape) - (2 if argument.role == "features" else 1))
                + (BAG[argument.role].shape)
            )
            for argument in entry.arguments
        }

        def total(arguments: dict[str, Any]) -> Any:
            return jnp.sum(entry.load()(*arguments.values()), dtype=np.float32)

        if what == "gradient":
            floats = {key: value for key, value in inputs.items() if value.dtype != bool}
            gradients = jax.grad(lambda given: total(inputs | given))(floats)
            assert any(jnp.isnan(gradient).any() for gradient in gradients.values())
            return
        value = float(total(inputs))
    weights = np.exp(BAG["logits"] * kept) * kept
    assert not np.isfinite(value) or (value == 0 and weights.sum() > 0)


# -- the oracle itself


def _mean(features: Array, logits: Array, mask: Array) -> Any:
    """The right value of the plain kernel, by the softmax of JAX."""
    return jnp.where(mask.any(), jax.nn.softmax(jnp.where(mask, logits, -jnp.inf)) @ features, 0.0)


@pytest.mark.parametrize(
    ("function", "breaks"),
    [
        (_mean, set()),
        (lambda x, a, m: _mean(x, a, m) * (1 + 1e-6), {"specification"}),
        (lambda x, a, m: _mean(x, a, m) + 1e-6 * (a[0] - a[-1]), set(PROPERTIES)),
        (
            lambda x, a, m: _mean(x, a, m) + 1e-3 * jnp.where(m, 0.0, a).sum(),
            set(PROPERTIES) - {"permutation"},
        ),
        (lambda x, a, m: _mean(x, a, m) + 1e-3 * m[0] * a[0], {"specification", "permutation"}),
        (lambda x, a, m: jnp.where(m.all(), jnp.nan, _mean(x, a, m)), {"specification", "padding"}),
        (lambda x, a, m: jnp.where(m.any(), _mean(x, a, m), jnp.inf), {"specification", "all_masked"}),
    ],
)
def test_the_oracle_sees_small_deviations(function: Callable[..., Any], breaks: set[Property]) -> None:
    observed = observe(ENTRIES["where_weights"], function)
    assert {claim for claim, outcome in observed.items() if outcome == "breaks"} == breaks
    assert set(observed.values()) <= {"holds", "breaks"}


def test_attention_pooling_of_a_bag_that_can_be_done_by_hand() -> None:
    inputs = {
        "features": np.array([[[1.0], [5.0], [100.0]]]),
        "logits": np.log([[1.0, 3.0, 7.0]]),
        "mask": np.array([[True, True, False]]),
    }
    value, empty = pooling.pool(ENTRIES["where_weights"], inputs)
    np.testing.assert_allclose(value, [[4.0]])  # (1 * 1 + 3 * 5) / (1 + 3)
    assert empty.tolist() == [[False]]


def test_heads_and_bags_are_pooled_apart() -> None:
    """Two bags with two heads: every bag and head has its own weights, and the mask is that of the bag."""
    inputs = {
        "features": np.array([[[[1.0], [2.0]], [[3.0], [5.0]]]]),  # [samples, b, n, d]
        "logits": np.log([[[[1.0, 1.0], [1.0, 3.0]], [[9.0, 1.0], [1.0, 1.0]]]]),  # [samples, b, h, n]
        "mask": np.array([[[True, True], [False, True]]]),  # [samples, b, n]
    }
    value, empty = pooling.pool(ENTRIES["batch_of_heads"], inputs)
    np.testing.assert_allclose(value, [[[[1.5], [1.75]], [[5.0], [5.0]]]])
    assert not empty.any()
