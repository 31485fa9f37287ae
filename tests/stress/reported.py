"""Kernels that fail in the ways that people report; written for these tests, after what the reports say."""

import jax
import jax.numpy as jnp
from jax import Array


def softmax_of_minus_infinity(features: Array, logits: Array, mask: Array) -> Array:
    """A bag without rows that count has the weights 0 / 0."""
    weights = jax.nn.softmax(jnp.where(mask, logits, -jnp.inf))
    return weights @ jnp.where(mask[:, None], features, 0.0)


def divided_before_where(features: Array, logits: Array, mask: Array) -> Array:
    """The value is guarded, but the gradient is 0 / 0 times 0; ``mask`` is float[n]."""
    weights = jnp.exp(logits - jax.lax.stop_gradient(jnp.max(logits))) * mask
    pooled = weights @ (features * mask[:, None])
    return jnp.where(mask.any(), pooled / weights.sum(), 0.0)


def unit_length(features: Array, mask: Array) -> Array:
    """The gradient of the square root at zero is infinite, whatever ``where`` selects."""
    pooled = jnp.sum(jnp.where(mask[:, None], features, 0.0), axis=0)
    norm = jnp.sqrt(jnp.sum(pooled**2))
    return jnp.where(norm > 0, pooled / norm, 0.0)


def additive_bias(features: Array, logits: Array, mask: Array) -> Array:
    """The bias is added to what a masked row holds."""
    weights = jnp.where(mask, jax.nn.softmax(logits + jnp.where(mask, 0.0, -1e9)), 0.0)
    return weights @ jnp.where(mask[:, None], features, 0.0)


def large_negative_fill(features: Array, logits: Array, mask: Array) -> Array:
    """Without rows that count, all weights are the same."""
    weights = jax.nn.softmax(jnp.where(mask, logits, jnp.asarray(-1e9, logits.dtype)))
    return weights @ features


def maximum_of_all_rows(features: Array, logits: Array, mask: Array) -> Array:
    """A large logit in a masked row makes all weights zero."""
    weights = jnp.where(mask, jnp.exp(logits - jnp.max(logits)), 0.0)
    total = weights.sum()
    return weights @ jnp.where(mask[:, None], features, 0.0) / jnp.where(total > 0, total, 1.0)


def features_not_selected(features: Array, logits: Array, mask: Array) -> Array:
    """The weight of a masked row is zero, and zero times infinity is NaN."""
    shift = jax.lax.stop_gradient(jnp.max(jnp.where(mask, logits, -jnp.inf), initial=-jnp.inf))
    shifted = jnp.where(mask, logits - jnp.where(mask.any(), shift, 0.0), 0.0)
    weights = jnp.where(mask, jnp.exp(shifted), 0.0)
    total = weights.sum()
    return weights @ features / jnp.where(total > 0, total, 1.0)


def exp_before_select(features: Array, logits: Array, mask: Array) -> Array:
    """The gradient goes through ``exp`` of a masked row, which overflows if logits that count are small."""
    shift = jnp.max(jnp.where(mask, logits, -jnp.inf), initial=-jnp.inf)
    selected = jnp.where(mask, logits, 0.0) - jnp.where(jnp.isfinite(shift), shift, 0.0)
    weights = jnp.where(mask, jnp.exp(selected), 0.0)
    total = weights.sum()
    return weights @ jnp.where(mask[:, None], features, 0.0) / jnp.where(total > 0, total, 1.0)


def epsilon_in_the_denominator(features: Array, logits: Array, mask: Array) -> Array:
    """1e-8 is zero in float16."""
    weights = jnp.where(mask, jnp.exp(jnp.where(mask, logits, 0.0)), 0.0)
    return weights @ jnp.where(mask[:, None], features, 0.0) / (weights.sum() + 1e-8)


def mask_times_logits(features: Array, logits: Array, mask: Array) -> Array:
    """A masked row has the logit 0, which counts."""
    return jax.nn.softmax(logits * mask) @ jnp.where(mask[:, None], features, 0.0)


def exp_of_raw_logits(features: Array, logits: Array, mask: Array) -> Array:
    """Nothing is subtracted, and ``exp`` overflows."""
    weights = jnp.where(mask, jnp.exp(jnp.where(mask, logits, 0.0)), 0.0)
    total = weights.sum()
    return weights @ jnp.where(mask[:, None], features, 0.0) / jnp.where(total > 0, total, 1.0)


def mask_after_exp(features: Array, logits: Array, mask: Array) -> Array:
    """``exp`` of a masked row overflows before it is multiplied by zero; ``mask`` is float[n]."""
    shift = jax.lax.stop_gradient(jnp.max(jnp.where(mask > 0, logits, -jnp.inf), initial=-jnp.inf))
    weights = jnp.exp(logits - jnp.where(jnp.isfinite(shift), shift, 0.0)) * mask
    total = weights.sum()
    return weights @ jnp.where(mask[:, None] > 0, features, 0.0) / jnp.where(total > 0, total, 1.0)


def finite_sentinel(features: Array, logits: Array, mask: Array) -> Array:
    """Logits that count may lie below the number that stands for none."""
    selected = jnp.where(mask, logits, -5e4)
    weights = jnp.where(mask, jnp.exp(selected - jnp.max(selected, initial=-5e4)), 0.0)
    total = weights.sum()
    return weights @ jnp.where(mask[:, None], features, 0.0) / jnp.where(total > 0, total, 1.0)


def maximum_with_zeros(features: Array, mask: Array) -> Array:
    """The zeros of padded rows are larger than negative features."""
    return jnp.max(jnp.where(mask[:, None], features, 0.0), axis=0)


def mean_over_padded_length(features: Array, mask: Array) -> Array:
    """Divided by the number of all rows."""
    return jnp.mean(jnp.where(mask[:, None], features, 0.0), axis=0)


def normalized_rows(features: Array, mask: Array) -> Array:
    """The norm of a row of zeros has no gradient."""
    norms = jnp.linalg.norm(features, axis=1, keepdims=True)
    return jnp.sum(jnp.where(mask[:, None], features / jnp.maximum(norms, 1e-6), 0.0), axis=0)


def centred_by_all_rows(features: Array, mask: Array) -> Array:
    """The mean that is subtracted is one of masked rows too."""
    centred = features - features.mean(axis=0)
    return jnp.sum(jnp.where(mask[:, None], centred, 0.0), axis=0)


def stable(features: Array, logits: Array, mask: Array) -> Array:
    """Nothing fails: selected before anything is computed, shifted, and guarded inside and outside."""
    selected = jnp.where(mask, logits, -jnp.inf)
    shift = jax.lax.stop_gradient(jnp.max(selected, initial=-jnp.inf))
    shifted = jnp.where(mask, logits - jnp.where(mask.any(), shift, 0.0), 0.0)
    weights = jnp.where(mask, jnp.exp(shifted), 0.0)
    pooled = weights @ jnp.where(mask[:, None], features, 0.0)
    total = weights.sum()
    return jnp.where(total > 0, pooled / jnp.where(total > 0, total, 1.0), 0.0)
