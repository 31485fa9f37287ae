"""Attention pooling as people write it, right and wrong.

Every function maps features float[n, d], logits float[n] and mask bool[n] to float[d].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

Array = Any
Kernel = Callable[[Array, Array, Array], Array]


def weights(logits: Array, mask: Array) -> Array:
    return jnp.where(mask, jnp.exp(logits), 0.0)


FILL = -9.0
"""For masked logits: its exponential is not zero, in float32 either."""


def guarded(numerator: Array, normalizer: Array) -> Array:
    """Zero instead of 0 / 0, and no 0 / 0 in the branch that is not taken."""
    nonempty = normalizer > 0
    return jnp.where(nonempty, numerator / jnp.where(nonempty, normalizer, 1.0), 0.0)


# -- right


def selected(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(jnp.where(mask, logits, 0.0), mask)
    return guarded(w @ jnp.where(mask[:, None], features, 0.0), jnp.sum(w))


def features_not_selected(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return guarded(w @ features, jnp.sum(w))


def product_and_sum(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return guarded(jnp.sum(w[:, None] * features, axis=0), jnp.sum(w))


def product_from_the_right(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return guarded(jnp.sum(features * w[:, None], axis=0), jnp.sum(w))


def einsum(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return guarded(jnp.einsum("n,nd->d", w, features), jnp.sum(w))


def transposed_features(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return guarded(features.T @ w, jnp.sum(w))


def row_matrix(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)[None, :]
    return guarded(w @ features, jnp.sum(w, axis=1, keepdims=True))[0]


def mask_multiplied(features: Array, logits: Array, mask: Array) -> Array:
    w = jnp.exp(logits) * mask
    return guarded(w @ features, jnp.sum(w))


def mask_multiplied_first(features: Array, logits: Array, mask: Array) -> Array:
    m = mask.astype(logits.dtype)
    w = m * jnp.exp(m * logits)
    return guarded(w @ (m[:, None] * features), jnp.sum(w))


def normalized_first(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return jnp.where(z > 0, w / jnp.where(z > 0, z, 1.0), 0.0) @ features


def normalized_first_without_outer_guard(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return (w / jnp.where(z > 0, z, 1.0)) @ features


def equality_guard(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return jnp.where(z == 0, 0.0, (w @ features) / jnp.where(z == 0, 1.0, z))


def inequality_guard(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return jnp.where(z != 0, (w @ features) / jnp.where(z != 0, z, 1.0), 0.0)


def single_guard(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return jnp.where(z > 0, (w @ features) / z, 0.0)


def guard_of_the_divisor_only(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return (w @ features) / jnp.where(z == 0, 1.0, z)


def one_added_to_zero(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return (w @ features) / (z + (z == 0))


def masked_maximum(features: Array, logits: Array, mask: Array) -> Array:
    shift = jnp.max(jnp.where(mask, logits, jnp.finfo(logits.dtype).min))
    w = weights(logits - shift, mask)
    return guarded(w @ features, jnp.sum(w))


def maximum_of_all(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits - lax.stop_gradient(jnp.max(logits)), mask)
    return guarded(w @ features, jnp.sum(w))


def filled_and_selected(features: Array, logits: Array, mask: Array) -> Array:
    filled = jnp.where(mask, logits, -1e9)
    w = weights(filled - jnp.max(filled), mask)
    return guarded(w @ features, jnp.sum(w))


def softmax_then_mask(features: Array, logits: Array, mask: Array) -> Array:
    e = jnp.exp(logits - jnp.max(logits))
    a = jnp.where(mask, e / jnp.sum(e), 0.0)
    return guarded(a @ features, jnp.sum(a))


def negated_guard(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return jnp.where(z <= 0, 0.0, (w @ features) / jnp.where(z <= 0, 1.0, z))


def any_guard(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    nonempty = jnp.any(mask)
    return jnp.where(nonempty, (w @ features) / jnp.where(nonempty, jnp.sum(w), 1.0), 0.0)


def reciprocal(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return jnp.where(z > 0, (w @ features) * (1 / jnp.where(z > 0, z, 1.0)), 0.0)


RIGHT: tuple[Kernel, ...] = (
    negated_guard,
    any_guard,
    reciprocal,
    selected,
    features_not_selected,
    product_and_sum,
    product_from_the_right,
    einsum,
    transposed_features,
    row_matrix,
    mask_multiplied,
    mask_multiplied_first,
    normalized_first,
    normalized_first_without_outer_guard,
    equality_guard,
    inequality_guard,
    single_guard,
    guard_of_the_divisor_only,
    one_added_to_zero,
    masked_maximum,
    maximum_of_all,
    filled_and_selected,
    softmax_then_mask,
)


# -- wrong


def only_features_zeroed(features: Array, logits: Array, mask: Array) -> Array:
    w = jnp.exp(logits)
    return (w @ jnp.where(mask[:, None], features, 0.0)) / jnp.sum(w)


def mask_ignored(features: Array, logits: Array, mask: Array) -> Array:
    w = jnp.exp(logits)
    return guarded(w @ features, jnp.sum(w))


def normalizer_not_masked(features: Array, logits: Array, mask: Array) -> Array:
    return guarded(weights(logits, mask) @ features, jnp.sum(jnp.exp(logits)))


def filled_only(features: Array, logits: Array, mask: Array) -> Array:
    w = jnp.exp(jnp.where(mask, logits, FILL))
    return (w @ features) / jnp.sum(w)


def filled_and_guarded(features: Array, logits: Array, mask: Array) -> Array:
    w = jnp.exp(jnp.where(mask, logits, FILL))
    return jnp.where(jnp.any(mask), (w @ features) / jnp.sum(w), 0.0)


def mean_over_rows(features: Array, logits: Array, mask: Array) -> Array:
    return (weights(logits, mask) @ features) / features.shape[0]


def mask_inverted(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, ~mask)
    return guarded(w @ features, jnp.sum(w))


def epsilon_added(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return (w @ features) / (jnp.sum(w) + 1e-6)


def clamped_normalizer(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return (w @ features) / jnp.maximum(jnp.sum(w), 1e-6)


def unguarded(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return (w @ features) / jnp.sum(w)


def one_for_the_empty_bag(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return jnp.where(z > 0, (w @ features) / z, 1.0)


def guard_inverted(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return jnp.where(z > 0, 0.0, (w @ features) / jnp.where(z > 0, z, 1.0))


def guard_above_one(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return jnp.where(z > 1, (w @ features) / jnp.where(z > 1, z, 1.0), 0.0)


def not_normalized(features: Array, logits: Array, mask: Array) -> Array:
    return weights(logits, mask) @ features


def logits_doubled(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(2.0 * logits, mask)
    return guarded(w @ features, jnp.sum(w))


def shifted_numerator_only(features: Array, logits: Array, mask: Array) -> Array:
    return guarded(weights(logits - jnp.max(logits), mask) @ features, jnp.sum(weights(logits, mask)))


def weights_squared(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return guarded((w * w) @ features, jnp.sum(w))


WRONG: tuple[Kernel, ...] = (
    only_features_zeroed,
    mask_ignored,
    normalizer_not_masked,
    filled_only,
    filled_and_guarded,
    mean_over_rows,
    mask_inverted,
    epsilon_added,
    clamped_normalizer,
    unguarded,
    one_for_the_empty_bag,
    guard_inverted,
    guard_above_one,
    not_normalized,
    logits_doubled,
    shifted_numerator_only,
    weights_squared,
)
