"""Counts, means, maxima and scales over the wrong rows, or another function of the logits."""

import jax
import jax.numpy as jnp
from jax import Array


def mean_over_padded_length(features: Array, mask: Array) -> Array:
    """Mean of the rows, with zeros for the padding."""
    return jnp.mean(jnp.where(mask[:, None], features, 0.0), axis=0)


def attention_over_padded_length(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, divided by the number of rows."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    return weights @ features / features.shape[0]


def max_finite_fill(features: Array, mask: Array) -> Array:
    """Largest entry of each channel over the unmasked rows."""
    return jnp.max(jnp.where(mask[:, None], features, -1e9), axis=0)


def max_of_padded_rows(features: Array, mask: Array) -> Array:
    """Largest entry of each channel, for a bag with an unmasked row."""
    return jnp.where(jnp.any(mask), jnp.max(features, axis=0), 0.0)


def variance_around_padded_mean(features: Array, mask: Array) -> Array:
    """Variance of each channel over the unmasked rows."""
    centered = jnp.where(mask[:, None], features - jnp.mean(features, axis=0), 0.0)
    return jnp.sum(centered**2, axis=0) / jnp.maximum(jnp.sum(mask), 1)


def batch_norm_of_padded_rows(features: Array, mask: Array) -> Array:
    """Mean of the unmasked rows after normalization by the statistics of the batch."""
    centered = features - jnp.mean(features, axis=0)
    normalized = centered * jax.lax.rsqrt(jnp.mean(jnp.square(centered), axis=0) + 1e-3)
    keep = mask.astype(features.dtype)
    return keep @ normalized / jnp.maximum(jnp.sum(keep), 1.0)


def log_sum_exp_of_zeros(logits: Array, mask: Array) -> Array:
    """Logarithm of the sum of exp, with zero for masked logits."""
    return jax.nn.logsumexp(jnp.where(mask, logits, 0.0))


def scaled_by_padded_length(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; logits are scaled by the logarithm of the number of rows."""
    logits = logits * jnp.log(jnp.asarray(logits.shape[0], logits.dtype))
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def standardized_logits(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of standardized logits."""
    logits = (logits - jnp.mean(logits)) / (jnp.std(logits) + 1.0)
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def shift_in_numerator_only(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, shifted by the maximum."""
    pooled = jnp.where(mask, jnp.exp(logits - jnp.max(logits)), 0.0) @ features
    normalizer = jnp.sum(jnp.where(mask, jnp.exp(logits), 0.0))
    return pooled / jnp.where(normalizer > 0, normalizer, 1.0)


def not_normalized(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling without a normalizer."""
    return jnp.where(mask, jnp.exp(logits), 0.0) @ features


def sigmoid_for_exp(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with sigmoid weights."""
    weights = jnp.where(mask, jax.nn.sigmoid(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)
