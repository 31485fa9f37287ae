"""The logits that a kernel computes itself: the variable that is found holds them, whatever is made of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from maskpool_verify.errors import UnsupportedError
from maskpool_verify.evaluate import evaluate, result
from maskpool_verify.importer import import_program
from maskpool_verify.lowering import lowered
from maskpool_verify.manifest import ArgumentSpec, Kernel
from maskpool_verify.program import at
from maskpool_verify.scoring import find_scores
from maskpool_verify.tracing import Aval, FlatJaxpr, restricted, trace

Array = Any

SIZES = {"n": 4, "d": 3, "h": 2, "b": 2, "p": 5}
FEATURES = ArgumentSpec(name="features", role="features", dtype="float32", shape=("n", "d"))
MASK = ArgumentSpec(name="mask", role="mask", dtype="bool", shape=("n",))


def parameter(name: str, *shape: str) -> ArgumentSpec:
    return ArgumentSpec(name=name, role="parameter", dtype="float32", shape=shape)


def declared(*arguments: ArgumentSpec, result: tuple[str, ...] | None = None) -> Kernel:
    kernel = Kernel(
        name="k", function="k.py:k", spec="attention", rows="n", shapes=(), arguments=arguments, result=result
    )
    return kernel.model_copy(update={"shapes": (kernel.open_shape,)})


def traced(function: Callable[..., Array], kernel: Kernel) -> FlatJaxpr:
    inputs = [Aval(argument.dtype, argument.sizes(kernel.open_shape)) for argument in kernel.arguments]
    return lowered(trace(function, inputs, label="Kernel", root=Path(__file__).parent))


def assert_finds(
    kernel: Kernel, function: Callable[..., Array], expected: Callable[..., Array], axes: tuple[str, ...]
) -> None:
    """The variable that is found has these axes, and the values of ``expected`` at unmasked rows."""
    flat = traced(function, kernel)
    scores = restricted(flat, find_scores(flat, kernel, kernel.open_shape))
    assert scores.output_aval == Aval("float32", axes)
    program = at(import_program(scores, kernel, kernel.open_shape).program, SIZES)
    random = np.random.default_rng(3)
    shapes = [argument.sizes(SIZES) for argument in kernel.arguments]
    inputs = [
        np.ones(shape, bool) if spec.role == "mask" else random.standard_normal(shape).astype("float32")
        for spec, shape in zip(kernel.arguments, shapes, strict=True)
    ]
    found = result(program, evaluate(program, inputs))
    np.testing.assert_allclose(found, expected(*inputs), rtol=1e-4, atol=1e-5)


def pooled(weights: Array, features: Array) -> Array:
    total = jnp.sum(weights)
    return jnp.where(total > 0, weights @ features / jnp.where(total > 0, total, 1.0), 0.0)


def plain(features: Array, w: Array, mask: Array) -> Array:
    return pooled(jnp.where(mask, jnp.exp(features @ w), 0.0), features)


def shifted_by_the_greatest(features: Array, w: Array, mask: Array) -> Array:
    logits = features @ w
    shift = jax.lax.stop_gradient(jnp.max(jnp.where(mask, logits, -1e30)))
    return pooled(jnp.where(mask, jnp.exp(logits - shift), 0.0), features)


def shifted_before_it_is_selected(features: Array, w: Array, mask: Array) -> Array:
    logits = features @ w
    return pooled(jnp.exp(jnp.where(mask, logits - jnp.max(logits), 0.0)) * mask, features)


def softmax_with_a_fill(features: Array, w: Array, mask: Array) -> Array:
    return jax.nn.softmax(jnp.where(mask, features @ w, -1e9)) @ features


def softmax_where(features: Array, w: Array, mask: Array) -> Array:
    return jax.nn.softmax(features @ w, where=mask) @ features


@pytest.mark.parametrize(
    "function",
    [plain, shifted_by_the_greatest, shifted_before_it_is_selected, softmax_with_a_fill, softmax_where],
)
def test_a_shift_and_a_selection_are_left_out(function: Callable[..., Array]) -> None:
    kernel = declared(FEATURES, parameter("w", "d"), MASK)
    assert_finds(kernel, function, lambda features, w, mask: features @ w, ("n",))


def test_a_temperature_belongs_to_the_logits() -> None:
    def function(features: Array, w: Array, tau: Array, mask: Array) -> Array:
        return pooled(jnp.where(mask, jnp.exp((features @ w) / tau), 0.0), features)

    kernel = declared(FEATURES, parameter("w", "d"), parameter("tau"), MASK)
    assert_finds(kernel, function, lambda features, w, tau, mask: features @ w / tau, ("n",))


def test_a_shift_that_is_a_parameter_belongs_to_the_logits() -> None:
    """It is computed row by row: nothing is gained by looking deeper."""

    def function(features: Array, w: Array, c: Array, mask: Array) -> Array:
        return pooled(jnp.where(mask, jnp.exp(features @ w + c), 0.0), features)

    kernel = declared(FEATURES, parameter("w", "d"), parameter("c"), MASK)
    assert_finds(kernel, function, lambda features, w, c, mask: features @ w + c, ("n",))


def test_gated_attention() -> None:
    def score(features: Array, v: Array, u: Array, w: Array) -> Array:
        return (jnp.tanh(features @ v) * jax.nn.sigmoid(features @ u)) @ w

    def function(features: Array, v: Array, u: Array, w: Array, mask: Array) -> Array:
        logits = score(features, v, u, w)
        logits = logits - jnp.max(jnp.where(mask, logits, -1e30))
        return pooled(jnp.where(mask, jnp.exp(logits), 0.0), features)

    kernel = declared(FEATURES, parameter("v", "d", "p"), parameter("u", "d", "p"), parameter("w", "p"), MASK)
    assert_finds(kernel, function, lambda features, v, u, w, mask: score(features, v, u, w), ("n",))


def test_an_exp_inside_of_the_logits_is_not_that_of_the_weights() -> None:
    def function(features: Array, w: Array, mask: Array) -> Array:
        return pooled(jnp.where(mask, jnp.exp(jnp.log(1.0 + jnp.exp(features @ w))), 0.0), features)

    kernel = declared(FEATURES, parameter("w", "d"), MASK)
    assert_finds(kernel, function, lambda features, w, mask: np.log1p(np.exp(features @ w)), ("n",))


def test_heads() -> None:
    def function(features: Array, w: Array, mask: Array) -> Array:
        logits = features @ w
        shift = jnp.max(jnp.where(mask[:, None], logits, -1e30), axis=0)
        weights = jnp.where(mask[:, None], jnp.exp(logits - shift), 0.0)
        total = jnp.sum(weights, axis=0)[:, None]
        return weights.T @ features / jnp.where(total > 0, total, 1.0)

    kernel = declared(FEATURES, parameter("w", "d", "h"), MASK, result=("h", "d"))
    assert_finds(kernel, function, lambda features, w, mask: features @ w, ("n", "h"))


def test_batches() -> None:
    def function(features: Array, w: Array, mask: Array) -> Array:
        logits = jnp.einsum("bnd,d->bn", features, w)
        shift = jnp.max(jnp.where(mask, logits, -1e30), axis=1, keepdims=True)
        weights = jnp.where(mask, jnp.exp(logits - shift), 0.0)
        total = jnp.sum(weights, axis=1)[:, None]
        return jnp.einsum("bn,bnd->bd", weights, features) / jnp.where(total > 0, total, 1.0)

    kernel = declared(
        FEATURES.model_copy(update={"shape": ("b", "n", "d")}),
        parameter("w", "d"),
        MASK.model_copy(update={"shape": ("b", "n")}),
    )
    assert_finds(kernel, function, lambda features, w, mask: features @ w, ("b", "n"))


# -- refusals


def no_exp(features: Array, w: Array, mask: Array) -> Array:
    return pooled(jnp.where(mask, features @ w, 0.0), features)


def exp_of_the_whole_bag(features: Array, w: Array, mask: Array) -> Array:
    return features.sum(0) * jnp.exp(jnp.sum(features @ w))


def exp_of_running_sums(features: Array, w: Array, mask: Array) -> Array:
    return pooled(jnp.where(mask, jnp.exp(jnp.cumsum(features @ w)), 0.0), features)


def exp_in_another_order(features: Array, w: Array, mask: Array) -> Array:
    return pooled(jnp.where(mask, jnp.exp(jnp.flip(features @ w)), 0.0), features)


def exp_of_a_parameter(features: Array, w: Array, mask: Array) -> Array:
    return pooled(mask.astype(features.dtype), features) * jnp.exp(w)


def exp_of_pairs(features: Array, w: Array, mask: Array) -> Array:
    return pooled(jnp.where(mask, jnp.exp(features @ features.T)[0], 0.0), features)


@pytest.mark.parametrize(
    "function",
    [
        no_exp,
        exp_of_the_whole_bag,
        exp_of_running_sums,
        exp_in_another_order,
        exp_of_a_parameter,
        exp_of_pairs,
    ],
)
def test_what_is_not_computed_row_by_row_is_not_taken(function: Callable[..., Array]) -> None:
    kernel = declared(FEATURES, parameter("w", "d"), MASK)
    with pytest.raises(
        UnsupportedError, match=r'no exp of a value that is computed row by row was found.*"none"'
    ):
        find_scores(traced(function, kernel), kernel, kernel.open_shape)


def test_logits_with_an_axis_that_the_result_does_not_have() -> None:
    def function(features: Array, w: Array, mask: Array) -> Array:
        weights = jnp.where(mask, jnp.sum(jnp.exp(features @ w), axis=1), 0.0)
        return pooled(weights, features)

    kernel = declared(FEATURES, parameter("w", "d", "p"), MASK)
    with pytest.raises(
        UnsupportedError, match=r"test_scoring.py:\d+: the logits have the axes float32\[n,p\]"
    ):
        find_scores(traced(function, kernel), kernel, kernel.open_shape)
