"""What happens to a bag without unmasked rows."""

import jax.numpy as jnp
from jax import Array


def guard_single_where(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, or zero if the normalizer is not positive."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return jnp.where(normalizer > 0, weights @ features / normalizer, 0.0)


def guard_any(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, or zero if no row is unmasked."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    nonempty = jnp.any(mask)
    return jnp.where(nonempty, weights @ features / jnp.where(nonempty, jnp.sum(weights), 1.0), 0.0)


def guard_equality(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; a normalizer of zero is replaced by one."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return jnp.where(normalizer == 0, 0.0, weights @ features / jnp.where(normalizer == 0, 1.0, normalizer))


def guard_count(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling, or zero if the number of unmasked rows is zero."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    count = jnp.sum(mask.astype(jnp.int32))
    return jnp.where(count == 0, 0.0, weights @ features / jnp.where(count == 0, 1.0, jnp.sum(weights)))


def guard_maximum_one(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; after the shift by the masked maximum the normalizer is zero or at least one."""
    shift = jnp.max(jnp.where(mask, logits, jnp.finfo(logits.dtype).min))
    weights = jnp.where(mask, jnp.exp(logits - shift), 0.0)
    return weights @ features / jnp.maximum(jnp.sum(weights), 1.0)


def guard_indicator_added(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; one is added to a normalizer of zero."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / (normalizer + (normalizer == 0).astype(normalizer.dtype))


def guard_output_multiplied(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; the weights of an empty bag are all one, and its result is multiplied by zero."""
    nonempty = jnp.any(mask)
    weights = jnp.where(mask | ~nonempty, jnp.exp(logits), 0.0)
    return weights @ features / jnp.sum(weights) * nonempty.astype(features.dtype)
