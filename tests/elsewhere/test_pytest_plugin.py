"""The fixture ``maskpool``: a verified kernel passes, a wrong one fails with its counterexample."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from environments import Elsewhere

from maskpool_verify import api, loading
from maskpool_verify.engine.wasm import default_cache

pytest_plugins = ["pytester"]

CACHE = default_cache()  # before pytester sets another home
_INSTALLED = any(entry.name == "maskpool" for entry in metadata.entry_points(group="pytest11"))
PLUGIN = () if _INSTALLED else ("-p", "maskpool_verify.pytest_plugin")

HEADER = '''\
import jax.numpy as jnp

ARGUMENTS = {
    "features": {"role": "features", "dtype": "float32", "shape": ["n", "d"]},
    "logits": {"role": "logits", "dtype": "float32", "shape": ["n"]},
    "mask": {"role": "mask", "dtype": "bool", "shape": ["n"]},
}

def pool_with(kept):
    """A kernel that is a closure, which no manifest could name."""
    def pool(features, logits, mask):
        weights = jnp.where(kept(mask), jnp.exp(jnp.where(mask, logits, 0.0)), 0.0)
        total = jnp.sum(weights)
        pooled = weights @ jnp.where(mask[:, None], features, 0.0)
        return jnp.where(total > 0, pooled / jnp.where(total > 0, total, 1.0), 0.0)
    return pool
'''


@pytest.fixture
def inner(
    pytester: pytest.Pytester, built_project: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    """Run pytest on a test file, with a library that is built already."""

    monkeypatch.setenv("MASKPOOL_CACHE", str(CACHE))

    def run(tests: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(HEADER + tests)
        build = pytester.path / ".pytest_cache/d/maskpool/.maskpool/lean/.maskpool"
        if not build.exists():
            shutil.copytree(built_project / ".maskpool", build)
        return pytester.runpytest_inprocess(*PLUGIN, *options)

    return run


def test_kernels_of_tests_pass_or_fail(inner: Callable[..., pytest.RunResult]) -> None:
    result = inner(
        """
def test_right(maskpool):
    report = maskpool.verify(pool_with(lambda mask: mask), arguments=ARGUMENTS, second_kernel="off")
    assert report.verdict == "verified"
    assert {t.property for k in report.kernels for t in k.theorems if t.status == "proved"} >= {"padding"}

def test_wrong(maskpool):
    maskpool.verify(pool_with(jnp.logical_not), arguments=ARGUMENTS, second_kernel="off")

def test_misspelt(maskpool):
    maskpool.verify(pool_with(lambda mask: mask), arguments={**ARGUMENTS, "mask": {"roll": "mask"}})
"""
    )
    result.assert_outcomes(passed=1, failed=2)
    output = result.stdout.str()
    assert "Counterexample to specification (proved over the reals):" in output
    assert "n = 1, d = 1" in output
    assert "arguments.2.roll: unknown key" in output
    assert "Traceback" not in output


def test_a_test_can_be_run_again(inner: Callable[..., pytest.RunResult]) -> None:
    test = """
def test_right(maskpool):
    maskpool.verify(pool_with(lambda mask: mask), arguments=ARGUMENTS, second_kernel="off")
"""
    inner(test).assert_outcomes(passed=1)
    inner(test).assert_outcomes(passed=1)


def test_a_function_is_forgotten_after_the_call(tmp_path: Path) -> None:
    with pytest.raises(api.MaskpoolError, match=r"mask: |arguments"):
        api.verify(lambda x: x, arguments={}, project=tmp_path)
    assert loading._given == {}


def test_pytest_starts_without_jax(elsewhere: Callable[[str], Elsewhere]) -> None:
    here = elsewhere("tests of mine")
    (here.folder / "test_start.py").write_text(
        "import sys\n"
        "def test_fixture(maskpool):\n"
        "    assert maskpool.project.is_dir()\n"
        "    assert not [m for m in ('jax', 'numpy', 'pydantic') if m in sys.modules]\n"
    )
    ended = here.run("python", "-m", "pytest", "-p", "no:hypothesispytest", "-q")
    assert ended.returncode == 0, ended.stdout
