"""How weights and features are combined, and where the normalizer goes."""

import jax.numpy as jnp
from jax import Array


def transposed_features(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling as a product of the transposed features with the weights."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return features.T @ weights / jnp.where(normalizer > 0, normalizer, 1.0)


def einsum_contraction(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling by einsum."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.einsum("n->", weights)
    return jnp.einsum("n,nd->d", weights, features) / jnp.where(normalizer > 0, normalizer, 1.0)


def product_and_sum(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling as a sum of weighted rows."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return jnp.sum(weights[:, None] * features, axis=0) / jnp.where(normalizer > 0, normalizer, 1.0)


def tensordot_contraction(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of feature matrices by tensordot."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return jnp.tensordot(weights, features, axes=(0, 0)) / jnp.where(normalizer > 0, normalizer, 1.0)


def average_weights(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling by jnp.average; an empty bag gets equal weights and is then zeroed."""
    nonempty = jnp.any(mask)
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    average = jnp.average(features, axis=0, weights=jnp.where(nonempty, weights, 1.0))
    return jnp.where(nonempty, average, 0.0)


def normalized_first(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with weights that sum to one."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    attention = weights / jnp.where(normalizer > 0, normalizer, 1.0)
    return attention @ features


def reciprocal_normalizer(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; multiplies by one over the normalizer."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    scale = jnp.where(normalizer > 0, jnp.reciprocal(jnp.where(normalizer > 0, normalizer, 1.0)), 0.0)
    return scale * (weights @ features)


def row_matrix(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with the weights as a matrix of one row."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)[None, :]
    normalizer = jnp.sum(weights, axis=1, keepdims=True)
    pooled = weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)
    return jnp.squeeze(pooled, axis=0)


def scalar_instances(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of one number for each instance."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return jnp.where(
        normalizer > 0, jnp.dot(weights, features) / jnp.where(normalizer > 0, normalizer, 1.0), 0.0
    )


def image_instances(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of images, height by width by channels."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    pooled = jnp.sum(jnp.expand_dims(weights, (1, 2, 3)) * features, axis=0)
    return pooled / jnp.where(normalizer > 0, normalizer, 1.0)


def flattened_instances(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of feature matrices, flattened for the product."""
    rows, height, width = features.shape
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    pooled = weights @ features.reshape(rows, height * width)
    return pooled.reshape(height, width) / jnp.where(normalizer > 0, normalizer, 1.0)


def normalizer_as_column(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; a column of ones gives the normalizer in the same product."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    totals = weights @ jnp.concatenate([features, jnp.ones_like(features[:, :1])], axis=1)
    pooled, normalizer = totals[:-1], totals[-1:]
    return pooled / jnp.where(normalizer > 0, normalizer, 1.0)


def channels_first(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling of features with one column for each instance."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return features @ weights / jnp.where(normalizer > 0, normalizer, 1.0)
