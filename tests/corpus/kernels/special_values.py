"""Infinities and NaN on the way to a right result."""

import jax
import jax.numpy as jnp
from jax import Array


def minus_infinity_guarded(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with minus infinity for masked logits, or zero if no row is unmasked."""
    attention = jax.nn.softmax(jnp.where(mask, logits, -jnp.inf))
    return jnp.where(jnp.any(mask), attention @ features, 0.0)


def nan_to_zero(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; the NaN of an empty bag is replaced by zero afterwards."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    return jnp.nan_to_num(weights @ features / jnp.sum(weights))


def finite_rows(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of the unmasked rows that have a finite logit."""
    keep = mask & jnp.isfinite(logits)
    weights = jnp.where(keep, jnp.exp(logits), 0.0)
    nonempty = jnp.any(keep)
    return jnp.where(nonempty, weights @ features / jnp.where(nonempty, jnp.sum(weights), 1.0), 0.0)


def nan_rows(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; masked logits are NaN until the exponential, and their weights then zero."""
    weights = jnp.exp(jnp.where(mask, logits, jnp.nan))
    weights = jnp.where(jnp.isnan(weights), 0.0, weights)
    total = jnp.sum(weights)
    nonempty = total > 0
    return jnp.where(nonempty, weights @ features / jnp.where(nonempty, total, 1.0), 0.0)
