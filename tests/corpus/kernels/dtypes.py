"""Floating formats, and functions of JAX that wrap others."""

import jax
import jax.numpy as jnp
from jax import Array


def half_precision_fill(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling in float16, shifted by the maximum of filled logits."""
    filled = jnp.where(mask, logits, -1e9)
    weights = jnp.where(mask, jnp.exp(logits - jnp.max(filled)), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def bfloat16_storage(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of bfloat16 arrays, computed in float32."""
    weights = jnp.where(mask, jnp.exp(logits.astype(jnp.float32)), 0.0)
    normalizer = jnp.sum(weights)
    pooled = weights @ features.astype(jnp.float32) / jnp.where(normalizer > 0, normalizer, 1.0)
    return pooled.astype(features.dtype)


def double_precision(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling in float64."""
    shift = jnp.max(logits, where=mask, initial=jnp.finfo(logits.dtype).min)
    weights = jnp.exp(logits - shift) * mask
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


@jax.jit
def _attention(logits: Array, mask: Array) -> Array:
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights / jnp.where(normalizer > 0, normalizer, 1.0)


@jax.jit
def jitted_helpers(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling under jit, with a helper under jit."""
    return _attention(logits, mask) @ features


def checkpointed(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling that is computed again in the backward pass."""

    @jax.checkpoint
    def pool(rows: Array) -> Array:
        return _attention(logits, mask) @ rows

    return pool(features)


@jax.custom_vjp
def _clip_gradient(values: Array) -> Array:
    return values


def _forward(values: Array) -> tuple[Array, None]:
    return values, None


def _backward(_: None, gradient: Array) -> tuple[Array]:
    return (jnp.clip(gradient, -1.0, 1.0),)


_clip_gradient.defvjp(_forward, _backward)


def custom_gradient(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with a gradient of the logits that is clipped."""
    return _attention(_clip_gradient(logits), mask) @ features


def half_precision_epsilon(features: Array, logits: Array, mask: Array) -> Array:
    """Attention weights in float16 with a small number in the denominator."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    return weights @ features / (jnp.sum(weights) + 1e-8)
