"""Kernels whose result may or may not depend on the order, the number and the masked rows of a bag."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from maskpool_verify.tracing import Aval

Array = Any

BAG = (Aval("float32", ("n", "d")), Aval("bool", ("n",)))


@dataclass(frozen=True)
class Case:
    """A function of bags of ``n`` rows, whose argument number ``mask`` is their mask.

    ``first`` is, for each law that does not hold or is not proved, the equation at which two runs may begin
    to disagree: the name of the primitive, and which of the equations with this primitive.
    """

    function: Callable[..., Any]
    inputs: tuple[Aval, ...] = BAG
    mask: int = 1
    permutation: tuple[str, int] | None = None
    padding: tuple[str, int] | None = None
    irrelevance: tuple[str, int] | None = None

    @property
    def name(self) -> str:
        return self.function.__name__


# -- right


def masked_mean(features: Array, mask: Array) -> Array:
    return jnp.sum(features, axis=0, where=mask[:, None]) / jnp.maximum(jnp.sum(mask), 1)


def weighted_mean(features: Array, mask: Array) -> Array:
    """Normalized before the contraction."""
    count = jnp.maximum(jnp.sum(mask.astype("float32")), 1.0)
    return (mask.astype("float32") / count) @ features


def log_sum_exp(logits: Array, mask: Array) -> Array:
    return jnp.log(jnp.sum(jnp.where(mask, jnp.exp(logits), 0.0)))


def with_epsilon(features: Array, logits: Array, mask: Array) -> Array:
    w = jnp.where(mask, jnp.exp(logits), 0.0)
    return w @ features / (jnp.sum(w) + 1e-6)


def deep_sets(features: Array, mask: Array, inner: Array, outer: Array) -> Array:
    return jnp.tanh(jnp.sum(jax.nn.relu(features @ inner) * mask[:, None], axis=0) @ outer)


def second_axis(features: Array, weight: Array, mask: Array) -> Array:
    """Rows in second place, and a mask of numbers."""
    return mask @ jnp.tanh(features.T @ weight)


def compared_mask(features: Array, mask: Array) -> Array:
    """A mask of numbers that is compared."""
    return jnp.sum(jnp.where((mask > 0.5)[:, None], features, 0.0), axis=0)


def batch(features: Array, mask: Array) -> Array:
    keep = mask.astype("float32")
    return jnp.einsum("bn,bnd->bd", keep, features) / jnp.maximum(jnp.sum(keep, axis=1, keepdims=True), 1.0)


def total_of_batch(features: Array, mask: Array) -> Array:
    """The elements of the batch have a divisor in common."""
    keep = mask.astype("float32")
    return jnp.einsum("bn,bnd->bd", keep, features) / jnp.maximum(jnp.sum(keep), 1.0)


def probability_of_any(logits: Array, mask: Array) -> Array:
    return 1.0 - jnp.prod(jnp.where(mask, 1.0 - jax.nn.sigmoid(logits), 1.0))


def self_attention(features: Array, mask: Array) -> Array:
    """Two axes of rows, with the mask on both."""
    weights = jnp.where(mask[None, :], jnp.exp(features @ features.T), 0.0)
    attended = weights @ features / (jnp.sum(weights, axis=1, keepdims=True) + 1.0)
    return jnp.sum(jnp.where(mask[:, None], attended, 0.0), axis=0)


def channel_positions(features: Array, mask: Array) -> Array:
    """Positions, reversal, slices and cumulative sums along the features."""
    kept = jnp.where(mask[:, None], features, 0.0)
    total = jnp.sum(kept * jnp.arange(3.0), axis=0)
    return jnp.cumsum(total)[1:] + jnp.flip(jnp.concatenate([total, total])[2:4])


RIGHT = (
    Case(masked_mean),
    Case(weighted_mean),
    Case(log_sum_exp, (Aval("float32", ("n",)), BAG[1])),
    Case(with_epsilon, (BAG[0], Aval("float32", ("n",)), BAG[1]), mask=2),
    Case(deep_sets, (*BAG, Aval("float32", ("d", "h")), Aval("float32", ("h", "c")))),
    Case(
        second_axis,
        (Aval("float32", ("d", "n")), Aval("float32", ("d", "h")), Aval("float32", ("n",))),
        mask=2,
    ),
    Case(compared_mask, (BAG[0], Aval("float32", ("n",)))),
    Case(batch, (Aval("float32", ("b", "n", "d")), Aval("bool", ("b", "n")))),
    Case(total_of_batch, (Aval("float32", ("b", "n", "d")), Aval("bool", ("b", "n")))),
    Case(probability_of_any, (Aval("float32", ("n",)), BAG[1])),
    Case(self_attention),
    Case(channel_positions, (Aval("float32", ("n", 3)), BAG[1])),
)


# -- wrong, or not proved


def no_mask(features: Array, mask: Array) -> Array:
    return jnp.sum(features, axis=0) + 0.0 * jnp.sum(mask)


def position_bias(features: Array, mask: Array) -> Array:
    kept = jnp.where(mask[:, None], features, 0.0)
    return jnp.arange(features.shape[0], dtype="float32") @ kept


def last_row(features: Array, mask: Array) -> Array:
    return jnp.where(mask[:, None], features, 0.0)[-1]


def mean_over_rows(features: Array, mask: Array) -> Array:
    return jnp.sum(jnp.where(mask[:, None], features, 0.0), axis=0) / features.shape[0]


def cumulative(features: Array, mask: Array) -> Array:
    return jnp.sum(jnp.cumsum(jnp.where(mask[:, None], features, 0.0), axis=0), axis=0)


def max_of_all(features: Array, mask: Array) -> Array:
    return jnp.max(features, axis=0) + 0.0 * jnp.sum(mask)


def masked_max(features: Array, mask: Array) -> Array:
    """Right if there is a row: the maximum of none is not known to be 0."""
    return jnp.max(jnp.where(mask[:, None], jax.nn.relu(features), 0.0), axis=0)


def max_with_fill(features: Array, mask: Array) -> Array:
    return jnp.max(jnp.where(mask[:, None], features, -1e30), axis=0)


def inverted_mask(features: Array, mask: Array) -> Array:
    return jnp.sum(jnp.where(mask[:, None], 0.0, features), axis=0)


def one_for_masked(logits: Array, mask: Array) -> Array:
    """The fill is not neutral."""
    return jnp.sum(jnp.exp(jnp.where(mask, logits, 0.0)))


def unguarded_weights(features: Array, logits: Array, mask: Array) -> Array:
    """Right unless the bag is empty: 0 / 0 is not known to be 0."""
    w = jnp.where(mask, jnp.exp(logits), 0.0)
    return (w / jnp.sum(w)) @ features


WRONG = (
    Case(no_mask, padding=("reduce_sum", 0), irrelevance=("reduce_sum", 0)),
    Case(position_bias, permutation=("iota", 0), padding=("iota", 0)),
    Case(last_row, permutation=("slice", 0), padding=("slice", 0)),
    Case(mean_over_rows, padding=("dim_as_value", 0)),
    Case(cumulative, permutation=("cumsum", 0), padding=("cumsum", 0)),
    Case(max_of_all, padding=("reduce_max", 0), irrelevance=("reduce_max", 0)),
    Case(masked_max, padding=("reduce_max", 0)),
    Case(max_with_fill, padding=("reduce_max", 0)),
    Case(inverted_mask, padding=("reduce_sum", 0), irrelevance=("reduce_sum", 0)),
    Case(one_for_masked, (Aval("float32", ("n",)), BAG[1]), padding=("reduce_sum", 0)),
    Case(
        unguarded_weights,
        (BAG[0], Aval("float32", ("n",)), BAG[1]),
        mask=2,
        padding=("dot_general", 0),
        irrelevance=("dot_general", 0),
    ),
)


# -- maxima that are raised to what masked rows hold, of bags with a row


def raised_max(features: Array, mask: Array) -> Array:
    return jnp.max(jnp.where(mask[:, None], features, 0.0), axis=0, initial=0.0)


def raised_to_two(features: Array, mask: Array) -> Array:
    return jnp.maximum(2.0, jnp.max(jnp.where(mask[:, None], features, 2.0), axis=0))


def raised_to_less(features: Array, mask: Array) -> Array:
    return jnp.maximum(jnp.max(jnp.where(mask[:, None], features, 2.0), axis=0), 0.0)


def not_raised(features: Array, mask: Array) -> Array:
    return jnp.max(jnp.where(mask[:, None], features, 0.0), axis=0)


def squared_before(features: Array, mask: Array) -> Array:
    largest = jnp.max(jnp.where(mask[:, None], features, 0.0), axis=0)
    return jnp.maximum(largest * largest, 0.0)


def raised_min(features: Array, mask: Array) -> Array:
    return jnp.maximum(jnp.min(jnp.where(mask[:, None], jnp.exp(features), 0.0), axis=0), 0.0)


def raised_without_mask(features: Array, mask: Array) -> Array:
    return jnp.max(features, axis=0, initial=0.0)


RAISED = (
    Case(raised_max),
    Case(raised_to_two),
    Case(raised_to_less, padding=("max", 0)),
    Case(not_raised, padding=("ret", 0)),
    Case(squared_before, padding=("mul", 0)),
    Case(raised_min, padding=("reduce_min", 0)),
    Case(raised_without_mask, padding=("reduce_max", 0)),
)
"""``ret`` stands for the result: every equation is accepted, and the result is not."""
