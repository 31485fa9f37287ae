"""The result depends on where in the bag a row stands."""

import jax.numpy as jnp
from jax import Array, lax


def position_bias(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling that prefers later rows."""
    logits = logits + 0.1 * jnp.arange(logits.shape[0])
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def position_embedding(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of features with a sinusoidal position embedding."""
    positions = jnp.sin(jnp.arange(features.shape[0], dtype=features.dtype))
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ (features + positions[:, None]) / jnp.where(normalizer > 0, normalizer, 1.0)


def cumulative_features(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of running sums of the rows."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ jnp.cumsum(features, axis=0) / jnp.where(normalizer > 0, normalizer, 1.0)


def last_row_residual(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling plus the last row, as the last state of a sequence."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0) + features[-1]


def first_row_kept(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; the first row is a class token and is never masked."""
    keep = mask | (jnp.arange(mask.shape[0]) == 0)
    weights = jnp.where(keep, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def features_reversed(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; the features are stored from the last row to the first."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ jnp.flip(features, axis=0) / jnp.where(normalizer > 0, normalizer, 1.0)


def moving_average(features: Array, mask: Array) -> Array:
    """Exponential moving average over the unmasked rows."""

    def step(average: Array, row: tuple[Array, Array]) -> tuple[Array, None]:
        values, keep = row
        return jnp.where(keep, 0.5 * average + 0.5 * values, average), None

    average, _ = lax.scan(step, jnp.zeros_like(features[0]), (features, mask))
    return average


def best_instance(features: Array, logits: Array, mask: Array) -> Array:
    """Features of the instance with the largest logit."""
    best = jnp.argmax(jnp.where(mask, jnp.exp(logits), 0.0))
    return jnp.where(jnp.any(mask), features[best], 0.0)


def top_two_instances(features: Array, logits: Array, mask: Array) -> Array:
    """Mean of the two instances with the largest logits."""
    scores, rows = lax.top_k(jnp.where(mask, jnp.exp(logits), 0.0), 2)
    keep = (scores > 0).astype(features.dtype)
    return keep @ features[rows] / jnp.maximum(jnp.sum(keep), 1.0)
