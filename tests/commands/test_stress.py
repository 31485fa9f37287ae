"""``maskpool-verify stress`` and ``check --stress``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maskpool_verify import formats
from maskpool_verify import report as reports
from maskpool_verify.check import check
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.manifest import load_manifest
from maskpool_verify.stress import from_json

KERNEL = """
import jax.numpy as jnp

def mean(features, mask):
    return jnp.mean(jnp.where(mask[:, None], features, 0.0), axis=0)

def total(features, mask):
    return jnp.sum(jnp.where(mask[:, None], features, 0.0), axis=0)
"""
ENTRY = """
[[kernel]]
name = "{name}"
function = "pools.py:{name}"
spec = "none"
rows = "n"
shapes = "all"
arguments = [
  {{ name = "features", role = "features", dtype = "float32", shape = ["n", "d"] }},
  {{ name = "mask", role = "mask", dtype = "bool", shape = ["n"] }},
]
"""

Run = Callable[..., Any]


@pytest.fixture
def pools(tmp_path: Path) -> Path:
    (tmp_path / "pools.py").write_text(KERNEL, "utf-8")
    (tmp_path / "maskpool.toml").write_text(ENTRY.format(name="mean") + ENTRY.format(name="total"), "utf-8")
    return tmp_path


def test_what_breaks_is_shown_with_the_smallest_input(run: Run, pools: Path) -> None:
    ended = run(pools, "stress", "--quick", "--kernel", "mean")
    assert ended.status == 1
    assert ended.out.startswith("Observed in floating point\n")
    assert "evidence, and no proof" in ended.out
    shown = """
    padding, value: With 1 further masked row, the result changes.
      n = 1, d = 1             n = 2, d = 1
      row  features  mask      row  features  mask
        0       [1]   yes        0       [1]   yes
                                1*       [0]    no
      first   [1]
      second  [0.5]
"""
    assert shown in ended.out
    assert "mean in float32, n = 1, d = 1: " in ended.err
    assert all(line == line.rstrip() for line in ended.out.splitlines())


def test_what_does_not_break_is_no_failure(run: Run, pools: Path) -> None:
    ended = run(pools, "stress", "--quick", "--kernel", "total", "--quiet")
    assert (ended.status, ended.err) == (0, "")
    assert "total  nothing broken" in ended.out


def test_json(run: Run, pools: Path) -> None:
    arguments = ("stress", "--quick", "--format", "json", "--quiet", "--dtype", "float16", "--seed", "3")
    ended = run(pools, *arguments)
    assert ended.status == 1
    report = from_json(ended.out)
    assert report.seed == 3
    assert [(k.name, k.broken, [d.name for d in k.in_dtypes]) for k in report.kernels] == [
        ("mean", True, ["float32", "float16"]),
        ("total", False, ["float32", "float16"]),
    ]


@pytest.mark.parametrize(
    "arguments", [("--dtype", "float8"), ("--budget", "0"), ("--seed", "-1"), ("--kernel", "median")]
)
def test_bad_usage(arguments: tuple[str, ...], run: Run, pools: Path) -> None:
    ended = run(pools, "stress", *arguments)
    assert (ended.status, ended.out) == (2, "")


def test_a_function_that_is_not_there_is_one_sentence(run: Run, pools: Path) -> None:
    (pools / "pools.py").write_text("def mean(features, mask): ...\n", "utf-8")
    ended = run(pools, "stress", "--quiet", "--kernel", "total")
    assert ended.status == 2
    assert ended.sentence.startswith('Kernel "total": pools.py has no function "total"')


def test_a_check_with_a_stress_run(engine: WasmEngine, project: Path) -> None:
    """A proof over the reals beside an overflow in floating point: the verdict is that of the proof."""
    manifest = load_manifest(project / "maskpool.toml")
    report = check(
        manifest,
        [manifest.kernel("masked_attention_pool")],
        engine,
        second="off",
        stress_seconds=60,
        require_accepted=False,
    )
    assert (report.verdict, report.exit_code) == ("verified", 0)
    assert reports.from_json(reports.to_json(report)) == report
    assert report.observed is not None
    (observed,) = report.observed.kernels
    assert observed.broken
    for format_ in ("text", "markdown", "html"):
        shown = formats.render(report, format_)
        assert "Observed in floating point" in shown
        assert "With 100 in the logits, the result is NaN" in shown.replace("\\", "")
    without = report.model_copy(update={"observed": None})
    for format_ in formats.FORMATS:
        if format_ != "json":
            assert "Observed in floating point" not in formats.render(without, format_)


def test_the_option_of_check(run: Run, pools: Path) -> None:
    assert "--stress SECONDS" in run(pools, "check", "--help").out
    assert run(pools, "check", "--stress", "-1").status == 2
