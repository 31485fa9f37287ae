"""Poolings that are not attention: sums, means, maxima, and networks around them."""

import jax
import jax.numpy as jnp
from jax import Array, lax


def masked_mean(features: Array, mask: Array) -> Array:
    """Mean of the unmasked rows; zero if there is none."""
    keep = mask.astype(features.dtype)
    return keep @ features / jnp.maximum(jnp.sum(keep), 1.0)


def masked_sum(features: Array, mask: Array) -> Array:
    """Sum of the unmasked rows."""
    return jnp.sum(features, axis=0, where=mask[:, None])


def masked_max(features: Array, mask: Array) -> Array:
    """Largest entry of each channel, at least zero, as after a relu."""
    return jnp.max(jnp.where(mask[:, None], jax.nn.relu(features), 0.0), axis=0)


def max_with_identity_row(features: Array, mask: Array) -> Array:
    """Largest entry of each channel, with a row of zeros among the rows."""
    return jnp.max(jnp.where(mask[:, None], features, 0.0), axis=0, initial=0.0)


def log_sum_exp(logits: Array, mask: Array) -> Array:
    """Logarithm of the sum of exp over the unmasked rows."""
    return jnp.log(jnp.sum(jnp.where(mask, jnp.exp(logits), 0.0)))


def noisy_or(logits: Array, mask: Array) -> Array:
    """Probability that at least one instance is positive."""
    negative = jnp.where(mask, jnp.log1p(-jax.nn.sigmoid(logits)), 0.0)
    return -jnp.expm1(jnp.sum(negative))


def epsilon_attention(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with a small number in the denominator."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    return weights @ features / (jnp.sum(weights) + 1e-6)


def null_token(features: Array, logits: Array, mask: Array, sink: Array) -> Array:
    """Attention with a learned logit for attending to nothing."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    return weights @ features / (jnp.sum(weights) + jnp.exp(sink))


def deep_sets(features: Array, mask: Array, inner: Array, outer: Array) -> Array:
    """A layer for each row, a masked sum, and a layer for the bag."""
    rows = jax.nn.relu(features @ inner) * mask[:, None]
    return jnp.tanh(jnp.sum(rows, axis=0) @ outer)


def power_mean(features: Array, mask: Array) -> Array:
    """Root mean square of the unmasked rows."""
    squares = jnp.sum(jnp.where(mask[:, None], features**2, 0.0), axis=0)
    return jnp.sqrt(squares / jnp.maximum(jnp.sum(mask), 1))


def masked_variance(features: Array, mask: Array) -> Array:
    """Variance of each channel over the unmasked rows."""
    count = jnp.maximum(jnp.sum(mask.astype(features.dtype)), 1.0)
    mean = jnp.sum(jnp.where(mask[:, None], features, 0.0), axis=0) / count
    return jnp.sum(jnp.where(mask[:, None], (features - mean) ** 2, 0.0), axis=0) / count


def moments(features: Array, mask: Array) -> Array:
    """Mean and mean cube of each channel, side by side."""
    keep = mask.astype(features.dtype)
    count = jnp.maximum(jnp.sum(keep), 1.0)
    return jnp.concatenate([keep @ features, keep @ features**3]) / count


def positive_share(features: Array, mask: Array) -> Array:
    """Share of the unmasked rows in which a channel is positive."""
    positive = (features > 0) & mask[:, None]
    return jnp.sum(positive, axis=0) / jnp.maximum(jnp.sum(mask), 1)


def probit_mean(features: Array, mask: Array, query: Array) -> Array:
    """Mean over the unmasked rows of the normal distribution function of a score."""
    probabilities = 0.5 * (1.0 + lax.erf(features @ query))
    return jnp.sum(jnp.where(mask, probabilities, 0.0)) / jnp.maximum(jnp.sum(mask), 1)


def gated_classifier(
    features: Array, mask: Array, value: Array, gate: Array, query: Array, head: Array
) -> Array:
    """A classifier of bags: gated attention, pooling, and a linear head."""
    logits = (jnp.tanh(features @ value) * jax.nn.sigmoid(features @ gate)) @ query
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    pooled = weights @ features / jnp.maximum(jnp.sum(weights), 1e-6)
    return jax.nn.sigmoid(pooled @ head)


def cumulative_histogram(values: Array, mask: Array, centers: Array) -> Array:
    """Cumulative soft counts, for an ordinal distance between bags."""
    counts = jnp.where(mask[:, None], jnp.exp(-jnp.square(values[:, None] - centers)), 0.0)
    return jnp.cumsum(jnp.sum(counts, axis=0))


def reversed_channels(features: Array, mask: Array) -> Array:
    """Sum of the unmasked pixels, blue first."""
    return jnp.sum(jnp.flip(jnp.where(mask[:, None], features, 0.0), axis=1), axis=0)


def cross_covariance(features: Array, targets: Array, mask: Array) -> Array:
    """Sum of outer products of two descriptions of an instance."""
    keep = mask.astype(features.dtype)
    return jnp.einsum("n,nd,ne->de", keep, features, targets)


def centered_rows(features: Array, mask: Array) -> Array:
    """Rows minus the mean of their bag, through tanh, summed."""
    keep = mask[:, None].astype(features.dtype)
    mean = jnp.sum(features * keep, axis=0) / jnp.maximum(jnp.sum(keep), 1.0)
    return jnp.sum(jnp.tanh(features - mean) * keep, axis=0)


def self_attention_sum(features: Array, mask: Array) -> Array:
    """Every row attends to the unmasked rows; the results of the unmasked rows are summed."""
    weights = jnp.where(mask[None, :], jnp.exp(features @ features.T), 0.0)
    attended = weights @ features / (jnp.sum(weights, axis=1, keepdims=True) + 1.0)
    return jnp.sum(jnp.where(mask[:, None], attended, 0.0), axis=0)


def mean_batch(features: Array, mask: Array) -> Array:
    """Masked mean of each bag of a batch."""
    keep = mask.astype(features.dtype)
    total = jnp.einsum("bn,bnd->bd", keep, features)
    return total / jnp.maximum(jnp.sum(keep, axis=1, keepdims=True), 1.0)
