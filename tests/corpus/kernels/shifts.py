"""What is subtracted from the logits, so that exp does not overflow."""

import jax
import jax.numpy as jnp
from jax import Array, lax


def shift_masked_max(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, shifted by the largest unmasked logit."""
    shift = jnp.max(jnp.where(mask, logits, jnp.finfo(logits.dtype).min))
    weights = jnp.where(mask, jnp.exp(logits - shift), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def shift_max_where(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, shifted by a maximum over the unmasked rows that starts at minus infinity."""
    shift = jnp.max(logits, where=mask, initial=-jnp.inf)
    weights = jnp.where(mask, jnp.exp(logits - shift), 0.0)
    normalizer = jnp.sum(weights)
    nonempty = normalizer > 0
    return jnp.where(nonempty, weights @ features / jnp.where(nonempty, normalizer, 1.0), 0.0)


def shift_max_of_all(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, shifted by the largest logit, masked or not."""
    weights = jnp.where(mask, jnp.exp(logits - lax.stop_gradient(jnp.max(logits))), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def shift_mean(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of centred logits."""
    weights = jnp.exp(logits - jnp.mean(logits)) * mask
    normalizer = jnp.sum(weights)
    return jnp.where(normalizer > 0, weights @ features / jnp.where(normalizer > 0, normalizer, 1.0), 0.0)


def shift_parameter(features: Array, logits: Array, mask: Array, offset: Array) -> Array:
    """Attention pooling with a learned offset of the logits."""
    weights = jnp.where(mask, jnp.exp(logits + offset), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def shift_logsumexp(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling from log-probabilities."""
    weights = jnp.where(mask, jnp.exp(logits - jax.nn.logsumexp(logits)), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def softmax_renormalized(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; a softmax over all rows is masked and normalized again."""
    weights = jax.nn.softmax(logits) * mask
    normalizer = jnp.sum(weights)
    return jnp.where(normalizer > 0, weights / jnp.where(normalizer > 0, normalizer, 1.0), 0.0) @ features
