"""The kernels of ``reported.py``, and what a quick stress run says about them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import reported

from maskpool_verify.manifest import ArgumentSpec, Kernel
from maskpool_verify.stress import StressReport, stress

HERE = Path(__file__).parent


@cache
def make_kernel(name: str, dtype: Any = "float32", mask: Any = "bool") -> Kernel:
    """The kernel of a function of ``reported.py``, at all sizes; ``dtype`` is that of what is pooled."""
    arguments = {
        "features": ArgumentSpec(name="features", role="features", dtype=dtype, shape=("n", "d")),
        "logits": ArgumentSpec(name="logits", role="logits", dtype=dtype, shape=("n",)),
        "mask": ArgumentSpec(name="mask", role="mask", dtype=mask, shape=("n",)),
    }
    names = list(inspect.signature(getattr(reported, name)).parameters)
    return Kernel(
        name=name,
        function=f"reported.py:{name}",
        spec="attention" if "logits" in names else "none",
        rows="n",
        shapes=({"n": "n", "d": "d"},),
        arguments=tuple(arguments[each] for each in names),
    )


@cache
def make_report(name: str, dtype: Any = "float32", mask: Any = "bool") -> StressReport:
    """The result of a quick run."""
    return stress(make_kernel(name, dtype, mask), root=HERE, quick=True, budget_seconds=600)


@pytest.fixture
def kernel() -> Callable[..., Kernel]:
    return make_kernel


@pytest.fixture
def quick_report() -> Callable[..., StressReport]:
    return make_report
