"""Several bags and several heads at once."""

import jax
import jax.numpy as jnp
from jax import Array


def explicit_batch(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of a batch of bags, each with its own mask."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights, axis=-1, keepdims=True)
    pooled = jnp.einsum("bn,bnd->bd", weights, features)
    return pooled / jnp.where(normalizer > 0, normalizer, 1.0)


def softmax_batch(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of a batch by JAX's masked softmax and a batched product."""
    attention = jax.nn.softmax(logits, axis=-1, where=mask)
    return jnp.matmul(attention[:, None, :], features)[:, 0]


def _pool(features: Array, logits: Array, mask: Array) -> Array:
    shift = jnp.max(jnp.where(mask, logits, jnp.finfo(logits.dtype).min))
    weights = jnp.where(mask, jnp.exp(logits - shift), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def vmapped_batch(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of a batch, by vmap of the kernel for one bag."""
    return jax.vmap(_pool)(features, logits, mask)


def vmapped_heads(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with several heads, by vmap over the columns of the logits."""
    return jax.vmap(_pool, in_axes=(None, 1, None))(features, logits, mask)


def shared_features_heads(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with several heads over the same features."""
    weights = jnp.where(mask[:, None], jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights, axis=0)
    return weights.T @ features / jnp.where(normalizer > 0, normalizer, 1.0)[:, None]


def split_features_heads(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling in which each head has its own features."""
    weights = jnp.where(mask[:, None], jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights, axis=0)
    pooled = jnp.sum(weights[:, :, None] * features, axis=0)
    return pooled / jnp.where(normalizer > 0, normalizer, 1.0)[:, None]


def stacked_heads(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with several heads, in a Python loop."""
    pooled = []
    for head in range(logits.shape[1]):
        weights = jnp.where(mask, jnp.exp(logits[:, head]), 0.0)
        normalizer = jnp.sum(weights)
        pooled.append(weights @ features / jnp.where(normalizer > 0, normalizer, 1.0))
    return jnp.stack(pooled)


def batch_of_heads(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of a batch with several heads, the mask shared by the heads."""
    logits = jnp.where(mask[:, None, :], logits, 0.0)
    weights = jnp.exp(logits - jnp.max(logits, axis=-1, keepdims=True)) * mask[:, None, :]
    normalizer = jnp.sum(weights, axis=-1, keepdims=True)
    return jnp.einsum("bhn,bnd->bhd", weights, features) / jnp.where(normalizer == 0, 1.0, normalizer)


def several_queries(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of one bag for several queries."""
    weights = jnp.exp(logits) * mask.astype(logits.dtype)
    normalizer = weights.sum(axis=1, keepdims=True)
    return jnp.where(normalizer > 0, weights / jnp.where(normalizer > 0, normalizer, 1.0), 0.0) @ features


def scored_batch(features: Array, mask: Array, hidden: Array, query: Array) -> Array:
    """Attention-based multiple instance learning for a batch of bags."""
    logits = jnp.tanh(features @ hidden) @ query
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights, axis=1)[:, None]
    pooled = jnp.sum(weights[..., None] * features, axis=1)
    return pooled / jnp.where(normalizer > 0, normalizer, 1.0)
