"""Kernels that select by the mask before they compute, and kernels that do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from maskpool_verify.tracing import Aval

Array = Any

FEATURES, LOGITS, MASK = Aval("float32", ("n", "d")), Aval("float32", ("n",)), Aval("bool", ("n",))
BAG = (FEATURES, MASK)
ATTENTION = (FEATURES, LOGITS, MASK)


@dataclass(frozen=True)
class Case:
    """A function of bags of ``n`` rows, the last argument of which is the mask.

    ``leak`` is the first equation that lets through what masked rows hold: the name of the primitive, and
    which of the equations with this primitive; ``None`` if there is none. ``zero`` says whether a bag without
    unmasked rows is known to give zero where zero and one behave.
    """

    function: Callable[..., Any]
    inputs: tuple[Aval, ...]
    leak: tuple[str, int] | None = None
    zero: bool = False

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def mask(self) -> int:
        return len(self.inputs) - 1


# -- select before they compute


def guarded_attention(features: Array, logits: Array, mask: Array) -> Array:
    w = jnp.where(mask, jnp.exp(logits), 0.0)
    z = jnp.sum(w)
    pooled = w @ jnp.where(mask[:, None], features, 0.0)
    return jnp.where(z > 0, pooled / jnp.where(z > 0, z, 1.0), 0.0)


def selected_mean(features: Array, mask: Array) -> Array:
    return jnp.sum(features, axis=0, where=mask[:, None]) / jnp.maximum(jnp.sum(mask), 1)


def mean_by_floats(features: Array, mask: Array) -> Array:
    count = jnp.sum(mask.astype("float32"))
    return jnp.sum(jnp.where(mask[:, None], features, 0.0), axis=0) / jnp.maximum(count, 1.0)


def softmax_of_infinity(features: Array, logits: Array, mask: Array) -> Array:
    """NaN without unmasked rows."""
    return jax.nn.softmax(jnp.where(mask, logits, -jnp.inf)) @ jnp.where(mask[:, None], features, 0.0)


def selected_with_epsilon(features: Array, logits: Array, mask: Array) -> Array:
    w = jnp.where(mask, jnp.exp(logits), 0.0)
    return w @ jnp.where(mask[:, None], features, 0.0) / (jnp.sum(w) + 1e-6)


def largest_with_fill(features: Array, mask: Array) -> Array:
    return jnp.max(jnp.where(mask[:, None], features, -1e30), axis=0)


def integer_mask(features: Array, mask: Array) -> Array:
    return jnp.sum(jnp.where((mask != 0)[:, None], features, 0.0), axis=0)


def negated(features: Array, mask: Array) -> Array:
    return jnp.sum(jnp.where(~mask[:, None] | (mask[:, None] & False), 0.0, features), axis=0)


def attended_rows(features: Array, mask: Array) -> Array:
    """Two axes of rows, and a mask of both."""
    kept = jnp.where(mask[:, None], features, 0.0)
    weights = jnp.where(mask[:, None] & mask[None, :], jnp.exp(features @ features.T), 0.0)
    return jnp.sum(weights @ kept, axis=0)


def weighted_positions(features: Array, mask: Array) -> Array:
    """It depends on positions and on the number of rows, but not on what masked rows hold."""
    kept = jnp.where(mask[:, None], features, 0.0)
    return (jnp.arange(features.shape[0], dtype="float32") @ jnp.cumsum(kept, axis=0)) / features.shape[0]


def last_kept(features: Array, mask: Array) -> Array:
    return jnp.where(mask[:, None], features, 0.0)[-1]


def selected_heads(features: Array, logits: Array, keep: Array) -> Array:
    """Bags in a batch with the rows last, and heads that share the features; the mask is of integers."""
    valid = (keep != 0)[:, None, :]
    weights = jnp.where(valid, jnp.exp(logits), 0.0)
    total = jnp.sum(weights, axis=2)[:, :, None]
    pooled = jnp.einsum("bhn,bdn->bhd", weights, jnp.where(valid, features, 0.0))
    return jnp.where(total > 0, pooled / jnp.where(total > 0, total, 1.0), 0.0)


SELECTING = (
    Case(guarded_attention, ATTENTION, zero=True),
    Case(selected_mean, BAG, zero=True),
    Case(mean_by_floats, BAG, zero=True),
    Case(softmax_of_infinity, ATTENTION),
    Case(selected_with_epsilon, ATTENTION),
    Case(largest_with_fill, BAG),
    Case(integer_mask, (FEATURES, Aval("int32", ("n",))), zero=True),
    Case(negated, BAG, zero=True),
    Case(attended_rows, BAG, zero=True),
    Case(weighted_positions, BAG),
    Case(last_kept, BAG, zero=True),
)


# -- let a masked value through


def unselected_features(features: Array, logits: Array, mask: Array) -> Array:
    """Right over the real numbers: the weights are zero. But `0 * NaN` is NaN."""
    w = jnp.where(mask, jnp.exp(logits), 0.0)
    z = jnp.sum(w)
    return jnp.where(z > 0, w @ features / jnp.where(z > 0, z, 1.0), 0.0)


def multiplied_weights(features: Array, logits: Array, mask: Array) -> Array:
    """A NaN in the normalizer makes the guard choose zero."""
    w = jnp.exp(logits) * mask.astype("float32")
    z = jnp.sum(w)
    kept = jnp.where(mask[:, None], features, 0.0)
    return jnp.where(z > 0, w @ kept / jnp.where(z > 0, z, 1.0), 0.0)


def shifted_by_all(features: Array, logits: Array, mask: Array) -> Array:
    """The shift is the maximum of all logits."""
    w = jnp.where(mask, jnp.exp(logits - jnp.max(logits)), 0.0)
    return w @ jnp.where(mask[:, None], features, 0.0) / jnp.maximum(jnp.sum(w), 1.0)


def multiplied_mean(features: Array, mask: Array) -> Array:
    return jnp.sum(features * mask.astype("float32")[:, None], axis=0) / jnp.maximum(jnp.sum(mask), 1)


def inverted(features: Array, mask: Array) -> Array:
    return jnp.sum(jnp.where(mask[:, None], 0.0, features), axis=0)


def cumulated_first(features: Array, mask: Array) -> Array:
    return jnp.sum(jnp.where(mask[:, None], jnp.cumsum(features, axis=0), 0.0), axis=0)


def neighbours(features: Array, mask: Array) -> Array:
    """Every row is mixed with the one at its mirrored place before it is selected."""
    return jnp.sum(jnp.where(mask[:, None], features + jnp.flip(features, 0), 0.0), axis=0)


def compared_floats(features: Array, mask: Array) -> Array:
    """Right with the comparisons of IEEE 754, of which nothing is known in every arithmetic."""
    return jnp.sum(jnp.where((mask > 0.5)[:, None], features, 0.0), axis=0)


LEAKING = (
    Case(unselected_features, ATTENTION, leak=("dot_general", 0), zero=True),
    Case(multiplied_weights, ATTENTION, leak=("reduce_sum", 0)),
    Case(shifted_by_all, ATTENTION, leak=("reduce_max", 0), zero=True),
    Case(multiplied_mean, BAG, leak=("reduce_sum", 0)),
    Case(inverted, BAG, leak=("reduce_sum", 0)),
    Case(cumulated_first, BAG, leak=("cumsum", 0), zero=True),
    Case(neighbours, BAG, leak=("rev", 0), zero=True),
    Case(compared_floats, (FEATURES, LOGITS), leak=("reduce_sum", 0)),
)
