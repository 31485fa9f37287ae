"""The mask is lost, or reaches only a part of the computation."""

import jax
import jax.numpy as jnp
from jax import Array


def features_zeroed_only(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of features whose padding is zero."""
    return jax.nn.softmax(logits) @ jnp.where(mask[:, None], features, 0.0)


def mask_ignored(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling."""
    del mask
    return jax.nn.softmax(logits) @ features


def scores_times_mask(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of masked scores."""
    return jax.nn.softmax(logits * mask) @ features


def finite_fill(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with a large negative number for masked logits."""
    return jax.nn.softmax(jnp.where(mask, logits, -1e9)) @ features


def finite_fill_guarded(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with a large negative number for masked logits, and zero for an empty bag."""
    attention = jax.nn.softmax(jnp.where(mask, logits, -1e9))
    return jnp.where(jnp.any(mask), attention @ features, 0.0)


def additive_bias(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with a large negative bias on masked rows."""
    bias = (1.0 - mask.astype(logits.dtype)) * -1e4
    return jax.nn.softmax(logits + bias) @ features


def minus_infinity_fill(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with minus infinity for masked logits."""
    return jax.nn.softmax(jnp.where(mask, logits, -jnp.inf)) @ features


def numerator_masked_only(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; the weights are masked after the softmax."""
    return jnp.where(mask, jax.nn.softmax(logits), 0.0) @ features


def normalizer_masked_only(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, normalized over the unmasked rows."""
    weights = jnp.exp(logits)
    normalizer = jnp.sum(weights, where=mask)
    return jnp.where(normalizer > 0, weights @ features / jnp.where(normalizer > 0, normalizer, 1.0), 0.0)


def mask_inverted(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; the arguments of where are in the order of torch's masked_fill."""
    weights = jnp.where(mask, 0.0, jnp.exp(logits))
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def mask_shifted_by_one(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; the mask is read one row too late."""
    mask = jnp.concatenate([mask[1:], jnp.zeros_like(mask[:1])])
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def zero_rows_as_padding(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of the rows that are not all zero."""
    del mask
    keep = jnp.any(features != 0, axis=1)
    weights = jnp.where(keep, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def length_inclusive(features: Array, logits: Array, length: Array) -> Array:
    """Attention pooling of the first rows."""
    mask = jnp.arange(features.shape[0]) <= length
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def length_counted_from_one(features: Array, logits: Array, length: Array) -> Array:
    """Attention pooling of the first rows."""
    mask = jnp.arange(1, features.shape[0] + 1) < length
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)
