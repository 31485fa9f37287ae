"""The example kernels against the formula of attention pooling, in plain NumPy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from maskpool_verify.frontend import trace_kernel
from maskpool_verify.loading import load_function
from maskpool_verify.manifest import load_manifest

ROOT = Path(__file__).parent.parent
MANIFEST = load_manifest(ROOT / "maskpool.toml")
MASKS = [[True] * 4, [False] * 4, [True, False, True, False], [False, False, False, True]]
POOLS = [load_function(kernel, ROOT) for kernel in MANIFEST.kernels]


def reference(features: Any, logits: Any, mask: Any) -> Any:
    """Sum over unmasked rows of softmax(logits of these rows) times features; zero for no row."""
    if not mask.any():
        return np.zeros(features.shape[1])
    weights = np.exp(logits[mask] - logits[mask].max())
    return (weights / weights.sum()) @ features[mask]


@pytest.fixture
def bag() -> tuple[Any, Any]:
    random = np.random.default_rng(7)
    return random.standard_normal((4, 3)).astype("float32"), random.standard_normal(4).astype("float32")


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("mask", MASKS)
def test_the_value_is_the_formula_whatever_the_masked_rows_hold(
    pool: Callable[..., Any], mask: list[bool], bag: tuple[Any, Any]
) -> None:
    keep = np.array(mask)
    features, logits = bag
    expected = reference(features, logits, keep)
    for filler in (0.0, 1e30, np.inf, np.nan):
        poisoned = np.where(keep[:, None], features, filler), np.where(keep, logits, filler)
        np.testing.assert_allclose(pool(*poisoned, keep), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("mask", MASKS)
def test_gradients_are_finite_and_zero_at_masked_rows(
    pool: Callable[..., Any], mask: list[bool], bag: tuple[Any, Any]
) -> None:
    keep = np.array(mask)
    features, logits = np.where(keep[:, None], bag[0], np.nan), np.where(keep, bag[1], np.nan)
    gradients = jax.grad(lambda f, a: jnp.sum(pool(f, a, keep) ** 2), argnums=(0, 1))(features, logits)
    for gradient in gradients:
        assert np.isfinite(gradient).all()
        assert (np.asarray(gradient)[~keep] == 0).all()


def test_only_the_stable_kernel_takes_large_logits(bag: tuple[Any, Any]) -> None:
    features, logits = bag[0], bag[1] + 1000
    keep = np.array([True, True, False, True])
    plain, stable = POOLS
    assert not np.isfinite(plain(features, logits, keep)).any()
    np.testing.assert_allclose(stable(features, logits, keep), reference(features, logits, keep), rtol=1e-4)


@pytest.mark.parametrize("kernel", MANIFEST.kernels, ids=lambda kernel: kernel.name)
def test_every_kernel_of_the_manifest_is_imported(kernel: Any) -> None:
    for shape in kernel.shapes:
        traced = trace_kernel(kernel, shape, ROOT)
        assert len(traced.sources) == len(traced.program.equations)
        assert {source.split(":")[0] for source in traced.sources} == {kernel.function.split(":")[0]}
        assert traced.program.type.shape == (shape["d"],)
