"""A number of valid rows in place of a mask."""

import jax
import jax.numpy as jnp
from jax import Array, lax


def length_mask(features: Array, logits: Array, length: Array) -> Array:
    """Attention pooling of the first rows."""
    mask = jnp.arange(features.shape[0]) < length
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def length_of_padding(features: Array, logits: Array, length: Array) -> Array:
    """Attention pooling of the first rows, shifted by their maximum."""
    padding = lax.iota(jnp.int32, features.shape[0]) >= length
    shift = jnp.max(jnp.where(padding, jnp.finfo(logits.dtype).min, logits))
    weights = jnp.where(padding, 0.0, jnp.exp(logits - shift))
    return jnp.where(length > 0, weights @ features / jnp.where(length > 0, jnp.sum(weights), 1.0), 0.0)


def length_batch(features: Array, logits: Array, length: Array) -> Array:
    """Attention pooling of a batch of bags, padded to a common number of rows."""
    mask = jnp.arange(features.shape[1])[None, :] < length[:, None]
    attention = jax.nn.softmax(logits, axis=1, where=mask)
    return jnp.einsum("bn,bnd->bd", attention, features)


def length_scorer(features: Array, length: Array, hidden: Array, query: Array) -> Array:
    """Attention-based multiple instance learning of the first rows."""
    mask = (jnp.arange(features.shape[0]) < length).astype(features.dtype)
    weights = jnp.exp(jnp.tanh(features @ hidden) @ query) * mask
    normalizer = jnp.sum(weights)
    return jnp.where(normalizer > 0, weights @ features / jnp.where(normalizer > 0, normalizer, 1.0), 0.0)
