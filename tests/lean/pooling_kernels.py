"""Attention pooling as people write it, right and wrong.

Every function maps features float[n, d], logits float[n] and mask bool[n] to float[d].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
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


def boolean_sum_guard(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    nonempty = jnp.sum(mask.astype(logits.dtype)) > 0
    return jnp.where(nonempty, (w @ features) / jnp.where(nonempty, jnp.sum(w), 1.0), 0.0)


def at_least_one_guard(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return jnp.where(jnp.sum(mask) >= 1, (w @ features) / jnp.sum(w), 0.0)


def count_as_number_guard(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    count = jnp.count_nonzero(mask).astype(logits.dtype)
    return jnp.where(count == 0, 0.0, (w @ features) / jnp.where(count == 0, 1.0, jnp.sum(w)))


def none_guard(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return jnp.where(~jnp.any(mask), 0.0, (w @ features) / jnp.sum(w))


def all_masked_guard(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    empty = jnp.all(~mask)
    return jnp.where(empty, 0.0, (w @ features) / jnp.where(empty, 1.0, jnp.sum(w)))


def output_times_any(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w)
    return (w @ features) / jnp.where(z > 0, z, 1.0) * jnp.any(mask).astype(features.dtype)


def negated_sums(features: Array, logits: Array, mask: Array) -> Array:
    w = -weights(logits, mask)
    z = jnp.sum(w)
    return jnp.where(z < 0, (w @ features) / jnp.where(z < 0, z, -1.0), 0.0)


def weights_doubled(features: Array, logits: Array, mask: Array) -> Array:
    w = jnp.where(mask, 2.0 * jnp.exp(logits), 0.0)
    return guarded(w @ features, jnp.sum(w))


def numerator_and_normalizer_scaled(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    z = jnp.sum(w) * 0.5
    return guarded(0.5 * (w @ features), z)


def quotient_of_exponentials(features: Array, logits: Array, mask: Array) -> Array:
    w = jnp.where(mask, jnp.exp(logits) / jnp.exp(jnp.mean(logits)), 0.0)
    return guarded(w @ features, jnp.sum(w))


def product_of_exponentials(features: Array, logits: Array, mask: Array) -> Array:
    w = jnp.where(mask, jnp.exp(-jnp.max(logits)) * jnp.exp(logits), 0.0)
    return guarded(w @ features, jnp.sum(w))


def shifted_twice(features: Array, logits: Array, mask: Array) -> Array:
    centred = logits - jnp.mean(logits)
    w = weights(centred - jnp.max(jnp.where(mask, centred, -1e9)), mask)
    return guarded(w @ features, jnp.sum(w))


def shift_by_norm(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits - jnp.sqrt(jnp.sum(features * features)), mask)
    return guarded(w @ features, jnp.sum(w))


def additive_bias_and_selection(features: Array, logits: Array, mask: Array) -> Array:
    m = mask.astype(logits.dtype)
    w = m * jnp.exp(logits + (1.0 - m) * -1e9)
    return guarded(w @ features, jnp.sum(w))


def softmax_where(features: Array, logits: Array, mask: Array) -> Array:
    return jax.nn.softmax(logits, where=mask) @ features


def masked_softmax_twice(features: Array, logits: Array, mask: Array) -> Array:
    a = jax.nn.softmax(logits, where=mask)
    z = jnp.sum(a)
    return (a @ features) / jnp.where(z > 0, z, 1.0)


def weighted_average(features: Array, logits: Array, mask: Array) -> Array:
    mean = jnp.average(features, axis=0, weights=weights(logits, mask))
    return jnp.where(jnp.any(mask), mean, 0.0)


def weights_as_column(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)[:, None]
    z = jnp.sum(w)
    return jnp.sum(w * features, axis=0) / jnp.where(z > 0, z, 1.0)


def features_beside_ones(features: Array, logits: Array, mask: Array) -> Array:
    ones = jnp.ones((features.shape[0], 1), features.dtype)
    sums = weights(logits, mask) @ jnp.concatenate([features, ones], axis=1)
    return guarded(sums[:-1], sums[-1])


def logits_reshaped(features: Array, logits: Array, mask: Array) -> Array:
    column = logits.reshape(-1, 1)
    w = jnp.where(mask[:, None], jnp.exp(column - jnp.max(column, axis=0, keepdims=True)), 0.0)
    return guarded((w.T @ features)[0], jnp.sum(w))


RIGHT: tuple[Kernel, ...] = (
    boolean_sum_guard,
    at_least_one_guard,
    count_as_number_guard,
    none_guard,
    all_masked_guard,
    output_times_any,
    negated_sums,
    weights_doubled,
    numerator_and_normalizer_scaled,
    quotient_of_exponentials,
    product_of_exponentials,
    shifted_twice,
    shift_by_norm,
    additive_bias_and_selection,
    softmax_where,
    masked_softmax_twice,
    weighted_average,
    weights_as_column,
    features_beside_ones,
    logits_reshaped,
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


def normalizer_halved(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return guarded(w @ features, 0.5 * jnp.sum(w))


def guard_of_two_rows(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return jnp.where(jnp.sum(mask) >= 2, (w @ features) / jnp.sum(w), 0.0)


def sign_lost(features: Array, logits: Array, mask: Array) -> Array:
    w = weights(logits, mask)
    return -guarded(w @ features, jnp.sum(w))


WRONG: tuple[Kernel, ...] = (
    normalizer_halved,
    guard_of_two_rows,
    sign_lost,
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
