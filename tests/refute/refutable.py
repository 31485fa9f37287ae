"""Kernels for the search: wrong ones, ones that only rounding spoils, and one that cannot be imported."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

Array = Any


def pooled(weights: Array, features: Array) -> Array:
    """The weighted mean; zero if all weights are."""
    total = jnp.sum(weights)
    return jnp.where(total > 0, (weights @ features) / jnp.where(total > 0, total, 1.0), 0.0)


def masked_weights(logits: Array, mask: Array) -> Array:
    return jnp.where(mask, jnp.exp(logits), 0.0)


# -- wrong


def features_zeroed(features: Array, logits: Array, mask: Array) -> Array:
    return pooled(jnp.exp(logits), jnp.where(mask[:, None], features, 0.0))


def mask_ignored(features: Array, logits: Array, mask: Array) -> Array:
    return pooled(jnp.exp(logits), features)


def finite_fill(features: Array, logits: Array, mask: Array) -> Array:
    return jax.nn.softmax(jnp.where(mask, logits, -1e9)) @ features


def mean_over_rows(features: Array, logits: Array, mask: Array) -> Array:
    return (masked_weights(logits * 0, mask) @ features) / features.shape[0]


def epsilon(features: Array, logits: Array, mask: Array) -> Array:
    weights = masked_weights(logits, mask)
    return (weights @ features) / (jnp.sum(weights) + 1e-3)


def mask_inverted(features: Array, logits: Array, mask: Array) -> Array:
    return pooled(jnp.where(mask, 0.0, jnp.exp(logits)), features)


def position_bias(features: Array, logits: Array, mask: Array) -> Array:
    bias = jnp.arange(features.shape[0], dtype=logits.dtype)
    return pooled(masked_weights(logits + bias, mask), features)


def running_sum(features: Array, logits: Array, mask: Array) -> Array:
    return pooled(masked_weights(logits, mask), jnp.cumsum(features, axis=0))


def uniform_on_empty(features: Array, logits: Array, mask: Array) -> Array:
    return pooled(jnp.where(jnp.any(mask), masked_weights(logits, mask), 1.0), features)


def unguarded(features: Array, logits: Array, mask: Array) -> Array:
    weights = masked_weights(logits, mask)
    return (weights @ features) / jnp.sum(weights)


def minus_infinity_fill(features: Array, logits: Array, mask: Array) -> Array:
    return jax.nn.softmax(jnp.where(mask, logits, -jnp.inf)) @ features


def clamped(features: Array, logits: Array, mask: Array) -> Array:
    weights = masked_weights(logits, mask)
    return (weights @ features) / jnp.maximum(jnp.sum(weights), 1e-6)


# -- right over the reals


def nan_spreads(features: Array, logits: Array, mask: Array) -> Array:
    return pooled(masked_weights(logits, mask), features)


def division_times_zero(features: Array, logits: Array, mask: Array) -> Array:
    """The value of 0 / 0 is a factor of zero: no matter which real it is, but NaN for a machine."""
    weights = masked_weights(logits, mask)
    return (weights @ features) / jnp.sum(weights) * jnp.any(mask).astype(features.dtype)


def minus_infinity_guarded(features: Array, logits: Array, mask: Array) -> Array:
    """Right as IEEE 754 has it; for the theorems an infinite literal is some real."""
    weights = jax.nn.softmax(jnp.where(mask, logits, -jnp.inf))
    return jnp.where(jnp.any(mask), weights, 0.0) @ jnp.where(mask[:, None], features, 0.0)


# -- not importable


def sorted_rows(features: Array, logits: Array, mask: Array) -> Array:
    """The first row counts double."""
    order = jnp.argsort(logits)
    weights = masked_weights(logits, mask)[order]
    return pooled(weights, features[order]) + 0.0 * jnp.sum(weights) + features[0] * mask[0]


# -- other arguments


def heads_mixed(features: Array, logits: Array, mask: Array) -> Array:
    """Features [n, d], logits [n, h], mask [n]: the heads in the wrong order."""
    weights = jnp.where(mask[:, None], jnp.exp(logits), 0.0)
    total = jnp.sum(weights, axis=0)[:, None]
    return jnp.flip(weights.T @ features / jnp.where(total > 0, total, 1.0), axis=0)


def length_off_by_one(features: Array, logits: Array, length: Array) -> Array:
    return pooled(masked_weights(logits, jnp.arange(features.shape[0]) <= length), features)


def masked_mean(features: Array, mask: Array) -> Array:
    count = jnp.sum(mask.astype(features.dtype))
    return jnp.where(mask[:, None], features, 0.0).sum(0) / jnp.maximum(count, 1.0)


def mean_of_all(features: Array, mask: Array) -> Array:
    return jnp.where(mask[:, None], features, 0.0).mean(0)


def lengths_of_next_bag(features: Array, logits: Array, length: Array) -> Array:
    """Features [b, n, d], logits [b, n], length [b]: the lengths are in another order."""
    mask = jnp.arange(features.shape[1]) < jnp.flip(length)[:, None]
    weights = masked_weights(logits, mask)
    total = jnp.sum(weights, axis=1)[:, None]
    return jnp.einsum("bn,bnd->bd", weights, features) / jnp.where(total > 0, total, 1.0)


def guarded_fill(features: Array, logits: Array, mask: Array) -> Array:
    """A logit as low as the fill makes a masked row count."""
    weights = jax.nn.softmax(jnp.where(mask, logits, -1e9))
    return jnp.where(jnp.any(mask), weights @ features, 0.0)


def tiny_epsilon(features: Array, logits: Array, mask: Array) -> Array:
    weights = masked_weights(logits, mask)
    return (weights @ features) / (jnp.sum(weights) + 1e-8)
