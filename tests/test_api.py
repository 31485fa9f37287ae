"""The Python interface: the same answers as the commands, for manifests and for function objects."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from maskpool_verify import api, loading

ARGUMENTS: dict[str, api.Argument] = {
    "features": {"role": "features", "dtype": "float32", "shape": ["n", "d"]},
    "logits": {"role": "logits", "dtype": "float32", "shape": ["n"]},
    "mask": {"role": "mask", "dtype": "bool", "shape": ["n"]},
}


def pool_over(total: Callable[[jax.Array, jax.Array], jax.Array]) -> Callable[..., jax.Array]:
    def pool(features: jax.Array, logits: jax.Array, mask: jax.Array) -> jax.Array:
        weights = jnp.where(mask, jnp.exp(jnp.where(mask, logits, 0.0)), 0.0)
        pooled = weights @ jnp.where(mask[:, None], features, 0.0)
        normalizer = total(weights, mask)
        return jnp.where(normalizer > 0, pooled / jnp.where(normalizer > 0, normalizer, 1.0), 0.0)

    return pool


RIGHT = pool_over(lambda weights, mask: jnp.sum(weights))
WRONG = pool_over(lambda weights, mask: jnp.sum(mask))


def of(kernel: api.Kernel, root: Path) -> api.Manifest:
    return api.Manifest(root / "maskpool.toml", (kernel,))


def test_every_verb_is_documented_with_its_errors() -> None:
    for verb in (api.trace, api.check, api.refute, api.stress, api.accept, api.verify):
        assert "Raises:" in (inspect.getdoc(verb) or "")
        assert set(api.__all__) <= vars(api).keys()


def test_trace_writes_once(tmp_path: Path) -> None:
    with api.kernel_of(RIGHT, arguments=ARGUMENTS) as kernel:
        (first,) = api.trace(of(kernel, tmp_path))
        (second,) = api.trace(of(kernel, tmp_path))
    assert first.changed == tuple(
        f"certificates/{kernel.name}/{file}"
        for file in (
            "symbolic.json",
            "symbolic.lean",
            "properties.lean",
            "any_arithmetic.lean",
            "index.json",
        )
    )
    assert second.changed == ()
    assert all((tmp_path / path).is_file() for path in first.changed)


def test_refute_gives_a_proved_counterexample(tmp_path: Path) -> None:
    with api.kernel_of(WRONG, arguments=ARGUMENTS) as kernel:
        (found,) = api.refute(of(kernel, tmp_path), budget=2)
        (again,) = api.refute(of(kernel, tmp_path), budget=2)
    assert found.unsupported is None
    assert found.counterexamples == again.counterexamples
    assert {c.property: c.evidence for c in found.counterexamples}["specification"] == "proved"


def test_refute_observes_what_cannot_be_imported(tmp_path: Path) -> None:
    def pool(features: jax.Array, logits: jax.Array, mask: jax.Array) -> jax.Array:
        return jnp.sort(features, axis=0)[0]

    with api.kernel_of(pool, arguments=ARGUMENTS) as kernel:
        (found,) = api.refute(of(kernel, tmp_path), budget=2)
    assert found.unsupported is not None
    assert "sort" in found.unsupported
    assert {c.evidence for c in found.counterexamples} == {"observed"}


def test_stress_reports_what_breaks(tmp_path: Path) -> None:
    def leaking(features: jax.Array, logits: jax.Array, mask: jax.Array) -> jax.Array:
        return (jax.nn.softmax(jnp.where(mask, logits, -1e9)) * mask) @ features

    steps = []
    with api.kernel_of(leaking, arguments=ARGUMENTS) as kernel:
        report = api.stress(
            of(kernel, tmp_path), quick=True, budget=20, progress=lambda k, step: steps.append(k.name)
        )
    assert report.exit_code == 1
    assert set(steps) == {kernel.name}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"mask": {"role": "mask", "dtype": "bool"}}, "pool, kernel .*shape: the key is missing"),
        ({"mask": {"role": "mask", "dtype": "bool", "shape": ["m"]}}, 'must have the row symbol "n"'),
        ({"more": {"role": "parameter", "dtype": "float32", "shape": []}}, "lists 4 arguments"),
    ],
)
def test_what_is_said_of_a_function_is_checked(tmp_path: Path, change: dict, problem: str) -> None:
    with pytest.raises(api.MaskpoolError, match=problem):
        api.verify(RIGHT, arguments={**ARGUMENTS, **change}, project=tmp_path)


def test_names_tell_functions_and_arguments_apart() -> None:
    with api.kernel_of(RIGHT, arguments=ARGUMENTS) as first:
        with api.kernel_of(RIGHT, arguments=ARGUMENTS, spec="none") as second:
            assert first.name != second.name
        assert first.name.startswith("pool_")
    with api.kernel_of(lambda features, logits, mask: features[0], arguments=ARGUMENTS) as third:
        assert third.name.startswith("kernel__lambda__")


def test_a_function_object_is_forgotten(tmp_path: Path) -> None:
    with api.kernel_of(RIGHT, arguments=ARGUMENTS) as kernel:
        assert loading.load_function(kernel, tmp_path) is RIGHT
    with pytest.raises(api.MaskpoolError):
        loading.load_function(kernel, tmp_path)
