"""``mask_pool`` recognizes attention pooling in many spellings, and nothing that is not attention pooling.

The theorems are about the readable functions; that these are the imported programs is another theorem.
"""

from __future__ import annotations

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from claims import errors, parts, translated
from pooling_kernels import RIGHT, WRONG, Array, Kernel, features_beside_ones, masked_maximum

from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.tracing import Aval

NAMES = ("features", "logits", "mask")
SMALL = ((1, 1), (1, 3), (4, 1))
"""Axes of size one have the coordinate 0, which is a case of its own in a proof."""


def claim(kernel: Kernel, label: str, n: int | str = "n", d: int | str = "d") -> str:
    """The theorem that a kernel is attention pooling, with the proof that certificates have."""
    inputs = Aval("float32", (n, d)), Aval("float32", (n,)), Aval("bool", (n,))
    case = translated(kernel, *inputs, names=NAMES)
    sizes = f"{{{' '.join(case.symbols)} : Nat}}" if case.symbols else ""
    return f"""namespace {label}
{case.definition}
theorem specification {{R : Type}} [RealArith R] {sizes} (features : Tensor R [{n}, {d}])
    (logits : Tensor R [{n}]) (mask : Tensor Bool [{n}]) :
    readable features logits mask = pool logits features.rows mask := by
  tensor_ext
  simp only [readable, shared]
  mask_pool
end {label}"""


@pytest.fixture(scope="module")
def refusals(engine: WasmEngine, lean_project: Path) -> dict[str, list[str]]:
    claims = {kernel.__name__: claim(kernel, kernel.__name__) for kernel in (*RIGHT, *WRONG)}
    for kernel in (masked_maximum, features_beside_ones):
        for n, d in SMALL:
            label = f"{kernel.__name__}_{n}_{d}"
            claims[label] = claim(kernel, label, n, d)
    imports = ["MaskPool.Certificate.Normalize", "MaskPool.Certificate.Translation"]
    return errors(engine, lean_project, parts("normalize.kernels", claims, 2), imports)


@pytest.mark.parametrize("kernel", RIGHT, ids=lambda kernel: kernel.__name__)
def test_attention_pooling_is_recognized(kernel: Kernel, refusals: dict[str, list[str]]) -> None:
    assert refusals[kernel.__name__] == []


@pytest.mark.parametrize(("n", "d"), SMALL)
@pytest.mark.parametrize("kernel", [masked_maximum, features_beside_ones])
def test_attention_pooling_is_recognized_at_small_shapes(
    kernel: Kernel, n: int, d: int, refusals: dict[str, list[str]]
) -> None:
    assert refusals[f"{kernel.__name__}_{n}_{d}"] == []


@pytest.mark.parametrize("kernel", WRONG, ids=lambda kernel: kernel.__name__)
def test_other_kernels_are_refused(kernel: Kernel, refusals: dict[str, list[str]]) -> None:
    messages = refusals[kernel.__name__]
    assert messages
    assert all(message.startswith("maskpool: cannot show that the kernel") for message in messages)


# -- the lists themselves: numbers tell which kernels are attention pooling


def pool(features: Array, logits: Array, mask: Array) -> Array:
    w = np.where(mask, np.exp(logits), 0)
    return w @ features / w.sum() if mask.any() else np.zeros(features.shape[1])


def agrees(kernel: Kernel) -> bool:
    """Whether a kernel computes attention pooling of some bags, also of small weights."""
    random = np.random.default_rng(3)
    features, logits = random.normal(1, 1, (4, 2)), random.standard_normal(4)
    for mask in ([True] * 4, [False] * 4, [True, False, True, False], [False, False, True, False]):
        for scale in (0.0, 20.0):
            bag = features, logits - scale, np.array(mask)
            value = kernel(*(jnp.asarray(x, "bool" if x.dtype == bool else "float32") for x in bag))
            if not np.allclose(value, pool(*bag), rtol=1e-4, atol=1e-5):
                return False
    return True


@pytest.mark.parametrize("kernel", RIGHT, ids=lambda kernel: kernel.__name__)
def test_right_kernels_compute_attention_pooling(kernel: Kernel) -> None:
    assert agrees(kernel)


@pytest.mark.parametrize("kernel", WRONG, ids=lambda kernel: kernel.__name__)
def test_wrong_kernels_compute_something_else(kernel: Kernel) -> None:
    assert not agrees(kernel)
