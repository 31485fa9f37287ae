"""Kernels that need something of their sizes, or compute with them."""

import jax
import jax.numpy as jnp
from jax import Array


def max_of_some_rows(features: Array, mask: Array) -> Array:
    """Largest entry of each channel, at least zero, of a bag that has a row."""
    return jnp.max(jnp.where(mask[:, None], jax.nn.relu(features), 0.0), axis=0)


def heads_of_equal_width(features: Array, logits: Array, mask: Array) -> Array:
    """The channels are split into four heads, which are pooled with the same weights and joined again."""
    rows, width = features.shape
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    total = jnp.sum(weights)
    heads = features.reshape(rows, 4, width // 4)
    pooled = jnp.einsum("n,nhk->hk", weights, heads).reshape(width)
    return jnp.where(total > 0, pooled / jnp.where(total > 0, total, 1.0), 0.0)


def rows_in_pairs(features: Array, logits: Array, mask: Array) -> Array:
    """Sums over neighbouring rows first, then over the pairs."""
    rows, width = features.shape
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    pairs = jnp.sum((weights[:, None] * features).reshape(rows // 2, 2, width), axis=1)
    total = jnp.sum(weights)
    return jnp.where(total > 0, jnp.sum(pairs, axis=0) / jnp.where(total > 0, total, 1.0), 0.0)


def every_other_row(features: Array, logits: Array, mask: Array) -> Array:
    """Sums over the rows with even and with odd numbers."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    weighted = weights[:, None] * features
    total = jnp.sum(weights)
    summed = jnp.sum(weighted[::2], axis=0) + jnp.sum(weighted[1::2], axis=0)
    return jnp.where(total > 0, summed / jnp.where(total > 0, total, 1.0), 0.0)


def scaled_by_half_width(features: Array, mask: Array, query: Array) -> Array:
    """Dot products with a query, divided by the number of pairs of channels."""
    logits = features @ query / (features.shape[1] // 2)
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    total = jnp.sum(weights)
    return jnp.where(total > 0, weights @ features / jnp.where(total > 0, total, 1.0), 0.0)


def max_of_pairs(features: Array, mask: Array) -> Array:
    """Sum over pairs of neighbours of the larger row."""
    rows, width = features.shape
    pairs = jnp.where(mask[:, None], jax.nn.relu(features), 0.0).reshape(rows // 2, 2, width)
    return jnp.sum(jnp.max(pairs, axis=1), axis=0)


def mean_over_padded_capacity(features: Array, mask: Array) -> Array:
    """The masked sum, divided by the number of rows, which is at most 64."""
    return jnp.sum(jnp.where(mask[:, None], features, 0.0), axis=0) / jnp.minimum(features.shape[0], 64)
