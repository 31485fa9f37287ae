"""Masked attention pooling with a guarded normalizer."""

import jax
import jax.numpy as jnp


def masked_attention_pool(features: jax.Array, logits: jax.Array, mask: jax.Array) -> jax.Array:
    """Weighted mean of the unmasked instances of one bag, with weights proportional to ``exp(logits)``.

    Args:
        features: float[n, d], one row per instance.
        logits: float[n], the attention logits.
        mask: bool[n], true for the instances that count.

    Returns:
        float[d]; zero if the mask is false everywhere.

    Masked rows are replaced before anything is computed from them, so that a NaN there reaches neither the
    value nor the gradient. ``exp`` overflows for large logits: see ``masked_attention_pool_stable``.
    """
    selected_logits = jnp.where(mask, logits, 0.0)
    selected_features = jnp.where(mask[:, None], features, 0.0)
    weights = jnp.where(mask, jnp.exp(selected_logits), 0.0)
    normalizer = jnp.sum(weights)
    pooled = weights @ selected_features
    nonempty = normalizer > 0
    # `where` evaluates both branches: the inner one keeps 0 / 0 out of the value and of the gradient.
    return jnp.where(nonempty, pooled / jnp.where(nonempty, normalizer, 1.0), 0.0)
