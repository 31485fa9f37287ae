"""Right kernels that the proof does not reach, or that cannot be imported."""

import jax
import jax.numpy as jnp
from jax import Array, lax


def max_where(features: Array, mask: Array) -> Array:
    """Largest entry of each channel over the unmasked rows, at least zero."""
    return jnp.max(features, axis=0, where=mask[:, None], initial=0.0)


def appended_null_row(features: Array, logits: Array, mask: Array) -> Array:
    """Attention with a row of zeros, never masked, appended to the bag."""
    features = jnp.concatenate([features, jnp.zeros_like(features[:1])])
    logits = jnp.concatenate([logits, jnp.zeros_like(logits[:1])])
    mask = jnp.concatenate([mask, jnp.ones_like(mask[:1])])
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    return weights @ features / jnp.sum(weights)


def blocks_of_rows(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling in blocks of two rows, with a running maximum and normalizer."""

    def step(carry: tuple[Array, ...], block: tuple[Array, ...]) -> tuple[tuple[Array, ...], None]:
        shift, normalizer, pooled = carry
        rows, scores, keep = block
        new_shift = jnp.maximum(shift, jnp.max(jnp.where(keep, scores, -1e9)))
        weights = jnp.where(keep, jnp.exp(scores - new_shift), 0.0)
        scale = jnp.exp(shift - new_shift)
        return (new_shift, normalizer * scale + jnp.sum(weights), pooled * scale + weights @ rows), None

    width = features.shape[1]
    start = (jnp.full((), -1e9, logits.dtype), jnp.zeros((), logits.dtype), jnp.zeros(width, features.dtype))
    blocks = (features.reshape(-1, 2, width), logits.reshape(-1, 2), mask.reshape(-1, 2))
    (_, normalizer, pooled), _ = lax.scan(step, start, blocks)
    return pooled / jnp.where(normalizer > 0, normalizer, 1.0)


def special_small_bag(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; small bags take a simpler path."""
    if features.shape[0] <= 2:
        weights = jnp.where(mask, jnp.exp(logits), 0.0)
    else:
        shift = jnp.max(jnp.where(mask, logits, jnp.finfo(logits.dtype).min))
        weights = jnp.where(mask, jnp.exp(logits - shift), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def special_small_bag_listed(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; small bags take a simpler path."""
    return special_small_bag(features, logits, mask)


def loop_over_rows(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, row by row in a loop."""

    def step(row: Array, totals: tuple[Array, Array]) -> tuple[Array, Array]:
        weight = jnp.where(mask[row], jnp.exp(logits[row]), 0.0)
        return totals[0] + weight * features[row], totals[1] + weight

    start = (jnp.zeros_like(features[0]), jnp.zeros_like(logits[0]))
    pooled, normalizer = lax.fori_loop(0, features.shape[0], step, start)
    return pooled / jnp.where(normalizer > 0, normalizer, 1.0)


def top_two_mean(logits: Array, mask: Array) -> Array:
    """Mean of the two largest probabilities."""
    largest, _ = lax.top_k(jnp.where(mask, jax.nn.sigmoid(logits), 0.0), 2)
    return jnp.mean(largest)


def discounted_ranking(logits: Array, mask: Array) -> Array:
    """Probabilities from the largest to the smallest, each with half the weight of the one before."""
    ranked = jnp.sort(jnp.where(mask, jax.nn.sigmoid(logits), 0.0), descending=True)
    return jnp.sum(ranked * jnp.exp2(-jnp.arange(logits.shape[0], dtype=logits.dtype)))
