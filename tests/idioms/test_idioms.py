"""The table of idioms: every theorem exists and rests on Lean's axioms alone; JAX shows what they say."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from documentation import idioms, underflow
from maskpool_verify.audit import AuditResult
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.loading import load_function
from maskpool_verify.manifest import load_manifest

AXIOMS = {"propext", "Classical.choice", "Quot.sound"}


def test_every_theorem_rests_on_the_axioms_of_lean(audited_idioms: AuditResult) -> None:
    assert [theorem.name for theorem in audited_idioms.theorems] == list(idioms.THEOREMS)
    assert audited_idioms.all_violations == ()
    for theorem in audited_idioms.theorems:
        assert theorem.kind == "theorem"
        assert set(theorem.axioms) <= AXIOMS


def test_every_theorem_on_programs_is_in_the_table_or_leads_to_one() -> None:
    """Nothing is proved of a program that the table does not say, but for what the proofs use."""
    source = idioms.PROGRAMS.read_text("utf-8")
    names = set(re.findall(r"^theorem (\S+)", source, re.MULTILINE))
    shown = {name.rpartition(".")[2] for name in idioms.THEOREMS}
    used = {name for name in names if len(re.findall(rf"\b{name}\b", source)) > 1}
    assert names - used - shown == {"minus_infinity_fill_eq_pool"}


def test_a_theorem_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ValueError, match="declared 0 times"):
        idioms.place("idioms.no_such_theorem")


WRONG = """module
public import idioms
@[expose] public noncomputable section
open MaskPool certificates

theorem unconditional {R : Type} [RealArith R] {n d : Nat} (features : Tensor R [n, d])
    (logits : Tensor R [n]) (mask : Tensor Bool [n]) :
    minus_infinity_fill.symbolic.program.eval [n, d] (features.finite, logits.finite, mask, ()) =
      Tensor.finite (pool logits features.rows mask) := by
  rw [minus_infinity_fill.symbolic.translation]
  tensor_ext
  simp only [minus_infinity_fill.symbolic.readable, shared]
  extended_pool

theorem guarded {R : Type} [RealArith R] {n d : Nat} (features : Tensor R [n, d])
    (logits : Tensor R [n]) (mask : Tensor Bool [n]) :
    minus_infinity_guarded.symbolic.program.eval [n, d] (features.finite, logits.finite, mask, ()) =
      Tensor.finite (pool logits features.rows mask) := by
  rw [minus_infinity_guarded.symbolic.translation]
  tensor_ext
  simp only [minus_infinity_guarded.symbolic.readable, shared]
  extended_pool

theorem constant {R : Type} [RealArith R] {n d : Nat} (features : Tensor R [n, d])
    (logits : Tensor R [n]) (mask : Tensor Bool [n]) :
    finite_fill.symbolic.program.eval [n, d] (features.finite, logits.finite, mask, ()) =
      Tensor.finite (pool logits features.rows mask) := by
  rw [finite_fill.symbolic.translation]
  tensor_ext
  simp only [finite_fill.symbolic.readable, shared]
  extended_pool
"""


@pytest.mark.usefixtures("audited_idioms")
def test_the_tactic_proves_the_guarded_idiom_and_says_what_the_others_lack(
    idioms_project: Path, engine: WasmEngine
) -> None:
    (idioms_project / "wrong.lean").write_text(WRONG, encoding="utf-8")
    messages = engine.build(idioms_project, ["wrong"])["wrong"].messages
    found = [message.text.splitlines()[0] for message in messages if message.severity == "error"]
    empty = "maskpool: cannot show that the kernel maps an all-masked bag to zero"
    other = "maskpool: cannot show that the kernel is masked attention pooling"
    assert found == [empty, empty, other]


# -- what JAX shows


KERNELS = {kernel.name: kernel for kernel in load_manifest(idioms.CORPUS / "corpus.toml").kernels}


def compiled(name: str) -> Callable[..., jax.Array]:
    """A kernel of the corpus, compiled."""
    return jax.jit(load_function(KERNELS[name], idioms.CORPUS))


NUMBERS = (jnp.array([[1.0], [2.0], [4.0]]), jnp.array([0.0, 1.0, 2.0]), jnp.array([True, True, False]))


def pooled(features: jax.Array, logits: jax.Array, mask: jax.Array) -> float:
    """Masked pooling of one coordinate, in double precision."""
    keep = np.asarray(mask)
    weights = np.exp(np.asarray(logits, np.float64)[keep])
    return float(weights @ np.asarray(features, np.float64)[keep, 0] / weights.sum()) if keep.any() else 0.0


@pytest.mark.parametrize("junk", [4.0, np.inf, -np.inf, np.nan])
def test_minus_infinity_is_pooling_or_nan_as_the_theorems_say(junk: float) -> None:
    features, logits, mask = NUMBERS
    features, logits = features.at[2].set(junk), logits.at[2].set(junk)
    fill = compiled("minus_infinity_fill")
    guarded = compiled("minus_infinity_guarded")
    everything = compiled("where_everything")
    expected = pooled(features, logits, mask)
    for kernel in (fill, guarded):
        (value,) = kernel(features, logits, mask)
        assert np.isclose(value, expected) if np.isfinite(junk) else np.isnan(value)
    np.testing.assert_allclose(everything(features, logits, mask), [expected], rtol=1e-6)
    nobody = jnp.zeros_like(mask)
    assert np.isnan(fill(features, logits, nobody)).all()
    assert (guarded(features, logits, nobody) == 0).all()
    assert (everything(features, logits, nobody) == 0).all()


def test_a_constant_is_exact_exactly_below_the_threshold() -> None:
    """The masked logit is -1e9; numbers of float32 near it are 64 apart."""
    features, _, _ = NUMBERS
    mask = jnp.array([True, False, False])
    fill = compiled("finite_fill")
    limit = underflow.underflow("float32").compiled
    for above in (0.0, 64.0, 128.0, 192.0):
        logits = jnp.array([-1e9 + above, 0.0, 0.0])
        (value,) = fill(features, logits, mask)
        weight = jnp.exp(jnp.float32(-1e9) - logits[0])
        assert (weight == 0) == (-above <= limit)
        if (
            above == 64.0
        ):  # a weight of 2e-28 is lost when it is added to one, but not where features are large
            (value,) = fill(features.at[1:].set(1e30), logits, mask)
        assert (value == features[0, 0]) == (-above <= limit)


def test_in_float16_the_constant_is_minus_infinity() -> None:
    assert jnp.where(True, -1e9, jnp.float16(0)) == -jnp.inf
    assert jnp.where(True, -1e4, jnp.float16(0)) == -1e4


# -- thresholds


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_the_exponential_is_zero_exactly_below_the_threshold(name: str) -> None:
    dtype = underflow.FORMATS[name]
    x = underflow.numbers(dtype, np.arange(underflow.infinity(dtype) + 1))
    for exp in (underflow.compiled, underflow.rounded, underflow.flushed):
        zero = exp(x) == 0
        assert (zero == (x.astype(np.float64) <= underflow.threshold(dtype, exp))).all()


def test_the_exponential_in_float32_is_zero_exactly_below_the_threshold() -> None:
    """The numbers next to the threshold, and others over the whole range."""
    dtype = underflow.FORMATS["float32"]
    for exp in (underflow.compiled, underflow.rounded, underflow.flushed):
        limit = underflow.threshold(dtype, exp)
        bits = int(np.asarray(-limit, dtype).view(np.uint32))
        near = bits + np.arange(-50_000, 50_000)
        far = np.linspace(0, underflow.infinity(dtype), 100_000).astype(np.int64)
        x = underflow.numbers(dtype, np.concatenate([near, far]))
        assert ((exp(x) == 0) == (x.astype(np.float64) <= limit)).all()


def test_the_thresholds_are_those_of_the_formats() -> None:
    """Half of the smallest subnormal number rounds to zero; the smallest normal number stays."""
    for name, least, normal in (("float16", -24, -14), ("bfloat16", -133, -126), ("float32", -149, -126)):
        found, spacing = underflow.underflow(name), 2.0 ** (-3 if name == "bfloat16" else -6)
        assert found.rounded == pytest.approx((least - 1) * np.log(2), abs=4 * spacing)
        assert found.flushed == pytest.approx(normal * np.log(2), abs=4 * spacing)
        assert found.compiled == (found.rounded if name == "float16" else found.flushed)
