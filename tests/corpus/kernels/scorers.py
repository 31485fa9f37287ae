"""Logits that the kernel computes from the features."""

import jax
import jax.numpy as jnp
from jax import Array, lax


def linear_scorer(features: Array, mask: Array, query: Array, bias: Array) -> Array:
    """Attention pooling with a linear score."""
    weights = jnp.where(mask, jnp.exp(features @ query + bias), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def tanh_scorer(features: Array, mask: Array, hidden: Array, query: Array) -> Array:
    """Attention-based multiple instance learning: a score by one tanh layer."""
    attention = jax.nn.softmax(jnp.tanh(features @ hidden) @ query, where=mask)
    return attention @ features


def gated_scorer(features: Array, mask: Array, value: Array, gate: Array, query: Array) -> Array:
    """Gated attention: tanh times sigmoid."""
    logits = (jnp.tanh(features @ value) * jax.nn.sigmoid(features @ gate)) @ query
    shift = jnp.max(jnp.where(mask, logits, jnp.finfo(logits.dtype).min))
    weights = jnp.where(mask, jnp.exp(logits - shift), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def gated_split_scorer(features: Array, mask: Array, projection: Array, query: Array) -> Array:
    """Gated attention with one projection for both halves."""
    value, gate = jnp.split(features @ projection, 2, axis=1)
    weights = jnp.where(mask, jnp.exp((jnp.tanh(value) * jax.nn.sigmoid(gate)) @ query), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def relu_scorer(features: Array, mask: Array, hidden: Array, bias: Array, query: Array) -> Array:
    """Attention pooling with a score by one relu layer."""
    weights = jnp.exp(jax.nn.relu(features @ hidden + bias) @ query) * mask
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def temperature_scorer(features: Array, mask: Array, query: Array, temperature: Array) -> Array:
    """Attention pooling with a learned temperature."""
    logits = features @ query / temperature
    weights = jnp.where(mask, jnp.exp(logits - jnp.max(logits)), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def scaled_dot_scorer(features: Array, mask: Array, query: Array) -> Array:
    """Attention of one query, scaled by the square root of the feature dimension."""
    logits = features @ query / jnp.sqrt(features.shape[1])
    return jax.nn.softmax(logits, where=mask) @ features


def cosine_scorer(features: Array, mask: Array, query: Array) -> Array:
    """Attention pooling by the cosine between a row and a query."""
    norms = lax.rsqrt(jnp.sum(jnp.square(features), axis=1) + 1e-6)
    weights = jnp.where(mask, jnp.exp((features @ query) * norms), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def distance_scorer(features: Array, mask: Array, center: Array) -> Array:
    """Attention pooling by the squared distance to a learned center."""
    logits = -jnp.sum((features - center) ** 2, axis=1)
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return jnp.einsum("n,nd->d", weights, features) / jnp.where(normalizer > 0, normalizer, 1.0)


def softplus_scorer(features: Array, mask: Array, hidden: Array, query: Array) -> Array:
    """Attention pooling with a score by one softplus layer."""
    weights = jnp.where(mask, jnp.exp(jax.nn.softplus(features @ hidden) @ query), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def gelu_scorer(features: Array, mask: Array, hidden: Array, query: Array) -> Array:
    """Attention pooling with a score by one layer of exact gelu."""
    logits = jax.nn.gelu(features @ hidden, approximate=False) @ query
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def clipped_scorer(features: Array, mask: Array, query: Array) -> Array:
    """Attention pooling with logits clipped to [-5, 5]."""
    weights = jnp.where(mask, jnp.exp(lax.clamp(-5.0, features @ query, 5.0)), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def stacked_layers_scorer(features: Array, mask: Array, layers: Array, query: Array) -> Array:
    """Attention pooling with a score by three equal layers, applied in a scan."""

    def layer(hidden: Array, matrix: Array) -> tuple[Array, None]:
        return jnp.tanh(hidden @ matrix), None

    hidden, _ = lax.scan(layer, features, layers)
    weights = jnp.where(mask, jnp.exp(hidden @ query), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def zeroed_before_scorer(features: Array, mask: Array, hidden: Array, query: Array) -> Array:
    """Attention pooling; masked rows are zeroed before they are scored."""
    features = features * mask[:, None]
    logits = jnp.tanh(features @ hidden) @ query
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def first_channel_scorer(features: Array, mask: Array) -> Array:
    """Attention pooling; the first channel of a row is its logit."""
    weights = jnp.where(mask, jnp.exp(features[:, 0]), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def key_channels_scorer(features: Array, mask: Array, query: Array) -> Array:
    """Attention pooling; the last two of six channels are the key."""
    keys = features[:, 4:]
    weights = jnp.where(mask, jnp.exp(keys @ query), 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)
