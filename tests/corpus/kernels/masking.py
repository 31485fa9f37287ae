"""How the mask is applied."""

import jax
import jax.numpy as jnp
from jax import Array


def where_weights(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; the weights of masked rows are zero."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    nonempty = normalizer > 0
    return jnp.where(nonempty, weights @ features / jnp.where(nonempty, normalizer, 1.0), 0.0)


def where_everything(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; masked rows are replaced before anything is computed from them."""
    logits = jnp.where(mask, logits, 0.0)
    features = jnp.where(mask[:, None], features, 0.0)
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    normalizer = jnp.sum(weights)
    nonempty = normalizer > 0
    return jnp.where(nonempty, weights @ features / jnp.where(nonempty, normalizer, 1.0), 0.0)


def mask_multiplied(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; the weights are multiplied by the mask."""
    weights = jnp.exp(logits) * mask
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer == 0, 1.0, normalizer)


def mask_multiplied_everywhere(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; logits, weights and features are multiplied by a float mask."""
    keep = mask.astype(features.dtype)
    weights = keep * jnp.exp(keep * logits)
    pooled = weights @ (keep[:, None] * features)
    return jnp.where(jnp.any(mask), pooled / jnp.where(jnp.any(mask), jnp.sum(weights), 1.0), 0.0)


def float_mask(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with a mask of zeros and ones."""
    weights = jnp.exp(logits) * mask
    normalizer = jnp.sum(weights)
    return weights @ features / (normalizer + (normalizer == 0))


def float_mask_threshold(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with a float mask that is compared with one half."""
    keep = mask > 0.5
    weights = jnp.where(keep, jnp.exp(logits), 0.0)
    return jnp.where(jnp.any(keep), weights @ features / jnp.sum(weights), 0.0)


def integer_mask(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling with an integer mask, as tokenizers return it."""
    weights = jnp.exp(logits) * mask.astype(logits.dtype)
    count = jnp.sum(mask)
    return jnp.where(count > 0, weights @ features / jnp.where(count > 0, jnp.sum(weights), 1.0), 0.0)


def softmax_where(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling by JAX's own masked softmax."""
    return jax.nn.softmax(logits, where=mask) @ features


def sum_where(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling by sums over the unmasked rows."""
    weights = jnp.exp(logits)
    normalizer = jnp.sum(weights, where=mask)
    pooled = jnp.sum(weights[:, None] * features, axis=0, where=mask[:, None])
    return jnp.where(normalizer > 0, pooled / jnp.where(normalizer > 0, normalizer, 1.0), 0.0)


def fill_then_select(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; masked logits are filled, and their weights removed after the softmax."""
    weights = jax.nn.softmax(jnp.where(mask, logits, -1e9))
    weights = jnp.where(mask, weights, 0.0)
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)


def excluded_rows(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; works with the rows to leave out."""
    padding = jnp.logical_not(mask)
    weights = jnp.where(padding, 0.0, jnp.exp(logits))
    empty = jnp.all(padding)
    return jnp.where(empty, 0.0, weights @ features / jnp.where(empty, 1.0, jnp.sum(weights)))


def nan_rows_dropped(features: Array, logits: Array, mask: Array) -> Array:
    """Attention pooling; drops masked rows and rows whose logit is not a number."""
    dropped = ~mask | jnp.isnan(logits)
    weights = jnp.where(dropped, 0.0, jnp.exp(jnp.where(dropped, 0.0, logits)))
    normalizer = jnp.sum(weights)
    return weights @ features / jnp.where(normalizer > 0, normalizer, 1.0)
