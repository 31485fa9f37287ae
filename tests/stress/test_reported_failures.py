"""What people report is found, each with the smallest input; a kernel that does it right has no findings."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import reported

from maskpool_verify.manifest import Kernel
from maskpool_verify.refute.counterexample import Values
from maskpool_verify.stress import StressReport, ulps
from maskpool_verify.stress.report import Bag, Break

FAILURES: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "reported.toml").read_text("utf-8"))[
    "failure"
]
RUNS = list(dict.fromkeys((f["kernel"], f.get("dtype", "float32"), f.get("mask", "bool")) for f in FAILURES))

MakeKernel = Callable[..., Kernel]
MakeReport = Callable[..., StressReport]


def breaks(report: StressReport, property_: str, part: str) -> list[Break]:
    (kernel,) = report.kernels
    (seen,) = kernel.in_dtypes
    (found,) = [o for o in seen.observations if (o.property, o.part) == (property_, part)]
    return list(found.breaks)


def entries(bag: Bag) -> dict[str, list[str]]:
    assert bag.inputs is not None
    return {given.name: list(given.values.entries) for given in bag.inputs}


@pytest.mark.parametrize("failure", FAILURES, ids=lambda f: f"{f['kernel']}-{f['property']}")
def test_a_reported_failure_is_found(failure: dict[str, Any], quick_report: MakeReport) -> None:
    report = quick_report(failure["kernel"], failure.get("dtype", "float32"), failure.get("mask", "bool"))
    assert report.exit_code == 1
    found = breaks(report, failure["property"], failure.get("part", "value"))
    (smallest,) = [each for each in found if each.sentence == failure["sentence"]]
    assert smallest.minimal
    assert entries(smallest.left) == failure["inputs"]
    assert smallest.found is not None
    assert list(smallest.found.entries) == failure["found"]
    if "second" in failure:
        assert smallest.required is not None
        assert list(smallest.required.entries) == failure["second"]
        assert smallest.right is not None
    else:
        assert smallest.right is None


def test_there_are_many_kinds_of_failures() -> None:
    assert len({failure["reported"] for failure in FAILURES}) >= 10
    for failure in FAILURES:
        assert failure["where"]
        for reference in failure["where"]:
            repository, _, number = reference.partition("#")
            assert len(repository.split("/")) == 2
            assert number.isdecimal()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_right_kernel_has_no_findings(dtype: str, quick_report: MakeReport) -> None:
    report = quick_report("stable", dtype)
    (kernel,) = report.kernels
    (seen,) = kernel.in_dtypes
    assert report.exit_code == 0
    assert seen.complete
    assert seen.raised == ()
    assert (seen.arguments, seen.result) == ((dtype, dtype), dtype)
    status = {(o.property, o.part): o.status for o in seen.observations}
    # It selects before it computes: what masked rows hold is seen by no operation, bit for bit.
    assert status["masked_irrelevance", "value"] == "equal"
    assert status["masked_irrelevance", "gradient"] == "equal"
    assert status["masked_gradient", "gradient"] == "equal"
    assert status["all_masked", "value"] == "equal"
    assert set(status.values()) <= {"equal", "rounding"}
    assert all(o.epsilons < 8 for o in seen.observations)


# -- every finding can be checked again, by JAX alone


def array(values: Values, dtype: str) -> Any:
    if dtype == "bool":
        return np.asarray([entry == "true" for entry in values.entries]).reshape(values.shape)
    return np.asarray([float(e) for e in values.entries]).reshape(values.shape).astype(jax.numpy.dtype(dtype))


def shown(result: Any) -> list[str]:
    return [ulps.text(entry) for entry in np.asarray(result).ravel()]


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run[0]}-{run[1]}")
def test_every_finding_can_be_run_again(
    run: tuple[str, str, str], kernel: MakeKernel, quick_report: MakeReport
) -> None:
    described = kernel(*run)
    function = getattr(reported, run[0])
    dtypes = [spec.dtype for spec in described.arguments]
    names = [spec.name for spec in described.arguments]
    (observed,) = quick_report(*run).kernels
    again = 0
    for observation in observed.in_dtypes[0].observations:
        for found in observation.breaks:
            if observation.part == "value":
                call = jax.jit(function)
            else:
                call = jax.jit(
                    jax.grad(lambda *a: function(*a).sum(), argnums=names.index(found.of))  # type: ignore[misc]
                )
            for bag, expected in ((found.left, found.found), (found.right, found.required)):
                if bag is None or expected is None:
                    continue
                assert bag.inputs is not None
                arguments = [array(i.values, d) for i, d in zip(bag.inputs, dtypes, strict=True)]
                again += 1
                if observation.part == "value":
                    assert shown(call(*arguments)) == list(expected.entries)
                else:
                    # Two gradients are compared without masked rows, and where both bags have rows.
                    gradient = shown(call(*arguments))
                    unmasked = [
                        entry for entry, same in zip(gradient, expected.entries, strict=False) if same != "0"
                    ]
                    assert unmasked == [entry for entry in expected.entries if entry != "0"]
    assert again
