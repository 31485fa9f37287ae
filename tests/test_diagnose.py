"""Findings: none for kernels that pool, the guilty line for kernels that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskpool_verify.diagnose import Diagnosis
from maskpool_verify.frontend import trace_kernel
from maskpool_verify.lean.properties import PROPERTIES, Property
from maskpool_verify.manifest import Kernel, Shape, load_manifest

ROOT = Path(__file__).parent.parent
SHAPES = load_manifest(ROOT / "maskpool.toml").kernels[0].shapes

POOL = """import jax.numpy as jnp


def pool(features, logits, mask):
    kept = jnp.where(mask[:, None], features, 0.0)
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    total = jnp.sum(weights)
    nonempty = total > 0
    return jnp.where(nonempty, (weights @ kept) / jnp.where(nonempty, total, 1.0), 0.0)
"""


def diagnosis(source: str, root: Path, shapes: tuple[Shape, ...] = SHAPES) -> Diagnosis:
    """Of a kernel with this source; by default at the shapes of the bundled ones."""
    bundled = load_manifest(ROOT / "maskpool.toml").kernels[0]
    changes = {"name": "pool", "function": "pool.py:pool", "shapes": shapes}
    kernel: Kernel = bundled.model_copy(update=changes)
    (root / "pool.py").write_text(source)
    return Diagnosis(kernel, [trace_kernel(kernel, shape, root) for shape in kernel.shapes], root)


def finding(found: Diagnosis, property_: Property) -> str | None:
    short, long = SHAPES
    return found.finding(property_, short, long if property_ == "padding" else None)


@pytest.mark.parametrize("number", [0, 1])
def test_nothing_is_found_in_the_bundled_kernels(number: int):
    kernel = load_manifest(ROOT / "maskpool.toml").kernels[number]
    found = Diagnosis(kernel, [trace_kernel(kernel, shape, ROOT) for shape in kernel.shapes], ROOT)
    assert [finding(found, property_) for property_ in PROPERTIES] == [None] * len(PROPERTIES)


def test_nothing_is_found_in_the_example(tmp_path: Path):
    found = diagnosis(POOL, tmp_path)
    assert [finding(found, property_) for property_ in PROPERTIES] == [None] * len(PROPERTIES)


@pytest.mark.parametrize(
    ("old", "new", "property_", "places"),
    [
        (
            "jnp.where(mask, jnp.exp(logits), 0.0)",
            "jnp.exp(logits)",
            "masked_irrelevance",
            ["pool.py:7: total = jnp.sum(weights)", "pool.py:6: weights = jnp.exp(logits)"],
        ),
        (
            "jnp.sum(weights)",
            "jnp.sum(jnp.exp(logits))",
            "padding",
            ["pool.py:7: total = jnp.sum(jnp.exp(logits))"],
        ),
    ],
    ids=["weights of masked rows", "total of masked rows"],
)
def test_the_guilty_line_is_found(old: str, new: str, property_: Property, places: list[str], tmp_path: Path):
    assert POOL.count(old) == 1
    found = finding(diagnosis(POOL.replace(old, new), tmp_path), property_)
    assert found is not None
    positions = [found.index(place) for place in places]
    assert positions == sorted(positions)
    assert len(set(found.splitlines())) == len(found.splitlines()), "no line is shown twice"


def test_division_by_zero_is_found(tmp_path: Path):
    old = "jnp.where(nonempty, (weights @ kept) / jnp.where(nonempty, total, 1.0), 0.0)"
    found = diagnosis(POOL.replace(old, "(weights @ kept) / total"), tmp_path)
    assert (
        finding(found, "all_masked")
        == "With all rows masked the program gives [nan, nan, nan], and not zero."
    )
    assert finding(found, "specification") is None, "some rows are not masked there"


def test_the_line_is_found_without_a_larger_shape(tmp_path: Path):
    found = diagnosis(POOL.replace("exp(logits), 0.0", "exp(logits), 1.0"), tmp_path, SHAPES[:1])
    text = str(found.finding("specification", SHAPES[0], None))
    assert text.startswith("It is not attention pooling")
    assert text.index("pool.py:7: total = jnp.sum(weights)") < text.index("pool.py:6: weights = jnp.where(")


def test_other_weights_break_the_specification_alone(tmp_path: Path):
    found = diagnosis(POOL.replace("jnp.exp(logits)", "jnp.exp(logits + logits)"), tmp_path)
    findings = {property_: finding(found, property_) for property_ in PROPERTIES}
    assert {property_ for property_, text in findings.items() if text} == {"specification"}
    assert str(findings["specification"]).startswith(
        "It is not attention pooling: for a random bag with mask ["
    )
    assert findings["specification"] == finding(found, "specification"), "the same at every call"


def test_rows_taken_for_columns_are_found(tmp_path: Path):
    """Nothing that the importer accepts tells rows apart, unless there are as many columns."""
    square = {"n": 4, "d": 4}
    for broken in (False, True):
        rows = "kept + kept.T" if broken else "kept"
        found = diagnosis(POOL.replace("weights @ kept", f"weights @ ({rows})"), tmp_path, (square,))
        text = found.finding("permutation", square, None)
        if broken:
            assert str(text).startswith("Another order of the rows changes v#")
            assert "pool.py:9: return jnp.where(nonempty, (weights @ (kept + kept.T))" in str(text)
            assert " = add " in str(text)
        else:
            assert text is None
