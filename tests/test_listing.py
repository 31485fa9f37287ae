"""The Jaxpr beside the Lean program: JAX's own notation, and every line of the certificate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from maskpool_verify.frontend import TracedKernel, trace_kernel
from maskpool_verify.lean.render import trace_file
from maskpool_verify.listing import listing, source_line
from maskpool_verify.manifest import Kernel, load_manifest

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "tests" / "corpus"
BUNDLED = load_manifest(ROOT / "maskpool.toml").kernels
ZEROED = load_manifest(CORPUS / "corpus.toml").kernel("features_zeroed_only")

PLAIN = """
import jax.numpy as jnp


def plain(features, logits, mask):
    halved = jnp.tanh(-features) / 2.0
    return jnp.exp(halved).sum(axis=0)
"""


def traced(kernel: Kernel, root: Path = ROOT) -> TracedKernel:
    return trace_kernel(kernel, kernel.shapes[-1], root)


@pytest.fixture
def plain(tmp_path: Path) -> Any:
    """A kernel of which JAX makes no calls, at n = 4 and d = 3."""
    (tmp_path / "plain.py").write_text(PLAIN)
    kernel = BUNDLED[0].model_copy(update={"name": "plain", "function": "plain.py:plain"})
    return listing(traced(kernel, tmp_path), tmp_path)


def test_equations_are_written_as_jax_writes_them(plain: Any):
    """But for the parameters that are None."""
    namespace: dict[str, Any] = {}
    exec(PLAIN, namespace)
    arguments = jnp.ones((4, 3)), jnp.ones(4), jnp.ones(4, bool)
    printed = str(jax.make_jaxpr(namespace["plain"])(*arguments)).replace(" out_sharding=None", "")
    assert [entry.jaxpr for entry in plain] == [line.strip() for line in printed.splitlines()]


def test_every_equation_has_its_line_of_code(plain: Any):
    assert [(entry.source, entry.code) for entry in plain] == [
        ("", ""),
        *[("plain.py:6", "halved = jnp.tanh(-features) / 2.0")] * 3,
        *[("plain.py:7", "return jnp.exp(halved).sum(axis=0)")] * 2,
        ("", ""),
    ]


@pytest.mark.parametrize(
    ("kernel", "root"),
    [*((k, ROOT) for k in BUNDLED), (ZEROED, CORPUS)],
    ids=lambda x: getattr(x, "name", ""),
)
def test_the_lean_lines_are_those_of_the_certificate(kernel: Kernel, root: Path):
    found = traced(kernel, root)
    entries = listing(found, root)
    lines = [line for entry in entries[1:] for line in entry.lean]
    program = trace_file(kernel, found, "0").partition("def program")[2].partition("\n\n")[0]
    assert lines == [line.strip() for line in program.split(":=\n", 1)[1].splitlines()]
    assert len(entries) == len(found.flat.equations) + 2


def test_lean_equations_stand_beside_what_they_come_from():
    """A primitive has the same name in both; only broadcasts are added, and the identity vanishes."""
    entries = listing(traced(ZEROED, CORPUS), CORPUS)
    for entry in entries[1:-1]:
        primitive = entry.jaxpr.partition(" = ")[2].partition(" ")[0].partition("[")[0]
        if primitive == "stop_gradient":
            assert entry.lean == ()
            continue
        *added, last = entry.lean
        assert f"(.{primitive} " in last
        assert all("(.broadcast_in_dim " in line for line in added)
    assert [len(entry.lean) for entry in entries].count(0) == 1
    assert [len(entry.lean) for entry in entries].count(2) == 2


@pytest.mark.parametrize("source", ["<lambda>:0", "missing.py:3", "maskpool.toml:9999", "x"])
def test_a_line_that_is_not_there(source: str):
    assert source_line(ROOT, source) == ""
