"""Rows, channels, heads or bags of a batch are confused."""

import jax
import jax.numpy as jnp
from jax import Array


def mask_on_channels(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; the mask broadcasts along the wrong axis when both have the same size."""
    features = features * mask
    weights = jnp.exp(logits)
    return jnp.where(jnp.any(mask), weights @ features / jnp.sum(weights), 0.0)


def softmax_over_batch(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of a batch of bags."""
    attention = jax.nn.softmax(logits, axis=0, where=mask)
    return jnp.einsum("bn,bnd->bd", attention, features)


def heads_mixed_by_reshape(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with several heads; a reshape brings the heads to the front."""
    rows, heads = logits.shape
    weights = jnp.where(mask[:, None], jnp.exp(logits), 0.0).reshape(heads, rows)
    normalizer = jnp.sum(weights, axis=1, keepdims=True)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def mask_of_first_bag(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of a batch of bags; one mask is broadcast over the batch."""
    weights = jnp.where(mask[:1], jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights, axis=1, keepdims=True)
    return jnp.einsum("bn,bnd->bd", weights, features) / jnp.where(normalizer > 0, normalizer, 1.0)


def normalizer_of_other_head(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with several heads."""
    weights = jnp.where(mask[:, None], jnp.exp(logits), 0.0)
    normalizer = jnp.flip(jnp.sum(weights, axis=0))
    return weights.T @ features / jnp.where(normalizer > 0, normalizer, 1.0)[:, None]


def normalizer_over_batch(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of a batch of bags."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return jnp.einsum("bn,bnd->bd", weights, features) / jnp.where(normalizer > 0, normalizer, 1.0)


def lengths_of_next_bag(features: Array, logits: Array, length: Array) -> Array:
    """Attention pooling of a batch of bags; the lengths come in another order."""
    mask = jnp.arange(features.shape[1])[None, :] < jnp.flip(length)[:, None]
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights, axis=1, keepdims=True)
    return jnp.einsum("bn,bnd->bd", weights, features) / jnp.where(normalizer > 0, normalizer, 1.0)
