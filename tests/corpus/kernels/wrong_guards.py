"""The normalizer or the empty bag is handled wrongly."""

import jax.numpy as jnp
from jax import Array


def unguarded(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    return weights @ features / jnp.sum(weights)


def epsilon_and_shift(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, shifted by the maximum, with a small number in the denominator."""
    weights = jnp.where(mask, jnp.exp(logits - jnp.max(logits)), 0.0)
    return weights @ features / (jnp.sum(weights) + 1e-6)


def epsilon_added(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with a small number in the denominator."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    return weights @ features / (jnp.sum(weights) + 1e-6)


def clamped_normalizer(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with a normalizer of at least a small number."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    return weights @ features / jnp.maximum(jnp.sum(weights), 1e-6)


def maximum_one_without_shift(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with a normalizer of at least one."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    return weights @ features / jnp.maximum(jnp.sum(weights), 1.0)


def uniform_on_empty_bag(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; a bag without unmasked rows gets equal weights."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    weights = jnp.where(jnp.any(mask), weights, 1.0)
    return weights @ features / jnp.sum(weights)


def ones_on_empty_bag(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; the neutral value of an empty bag is one."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    nonempty = jnp.any(mask)
    return jnp.where(nonempty, weights @ features / jnp.where(nonempty, jnp.sum(weights), 1.0), 1.0)


def guard_inverted(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, or zero for an empty bag."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return jnp.where(normalizer > 0, 0.0, weights @ features / jnp.where(normalizer > 0, normalizer, 1.0))


def guard_count_above_one(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, or zero for an empty bag."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    nonempty = jnp.sum(mask) > 1
    return jnp.where(nonempty, weights @ features / jnp.where(nonempty, jnp.sum(weights), 1.0), 0.0)


def guard_threshold(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, or zero if the normalizer is small."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    nonempty = normalizer > 1e-3
    return jnp.where(nonempty, weights @ features / jnp.where(nonempty, normalizer, 1.0), 0.0)


def guard_all_for_any(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, or zero for an empty bag."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    nonempty = jnp.all(mask)
    return jnp.where(nonempty, weights @ features / jnp.where(nonempty, jnp.sum(weights), 1.0), 0.0)
