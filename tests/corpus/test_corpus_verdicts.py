"""What the tool said of the corpus, against what is expected; and that it still says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import CORPUS, expectations
from verdicts import KernelVerdict, condensed, copy_project, read, run

from maskpool_verify import refute
from maskpool_verify.frontend import trace_kernel
from maskpool_verify.manifest import load_manifest

EXPECTATIONS = expectations()
VERDICTS = read().kernels
KERNELS = {kernel.name: kernel for kernel in load_manifest(CORPUS / "corpus.toml").kernels}

AGAIN = (
    "features_zeroed_only",
    "mask_inverted",
    "uniform_on_empty_bag",
    "position_bias",
    "heads_mixed_by_reshape",
)
"""Kernels whose counterexamples are searched again in every run of the tests."""


def test_the_file_covers_the_corpus() -> None:
    assert list(VERDICTS) == list(KERNELS)


@pytest.mark.parametrize("name", KERNELS)
def test_a_verdict_is_as_expected(name: str) -> None:
    found, expected = VERDICTS[name], EXPECTATIONS[name]
    assert found.verdict == expected.verdict
    refuted = {each.property for each in found.counterexamples if each.evidence == "proved"}
    assert refuted == (set(expected.breaks) - _without_numbers(name) if found.verdict == "refuted" else set())
    for property_, status in found.theorems.items():
        assert (status == "refuted") == (property_ in refuted)
    assert not {property_ for property_, status in found.theorems.items() if status == "proved"} & {
        *expected.breaks
    }
    if found.verdict == "verified":
        assert set(found.theorems.values()) == {"proved"}


def _without_numbers(name: str) -> set[str]:
    """The specification of a kernel that computes its logits has no numbers to compare with."""
    kernel = KERNELS[name]
    return {"specification"} if kernel.argument("logits") is None else set()


@pytest.mark.parametrize("name", [name for name, found in VERDICTS.items() if found.counterexamples])
def test_jax_confirms_what_is_refuted(name: str) -> None:
    for found in VERDICTS[name].counterexamples:
        assert found.confirmed_by_jax or "JAX does not show the difference" in refute.render(found)


@pytest.mark.parametrize("name", AGAIN)
def test_the_counterexamples_are_found_again(name: str) -> None:
    kernel = KERNELS[name]
    traces = [trace_kernel(kernel, shape, CORPUS) for shape in kernel.shapes]
    subject = refute.Subject.of_traces(kernel, traces, CORPUS)
    for kept in VERDICTS[name].counterexamples:
        outcome = refute.refute(subject, kept.property)
        assert outcome.counterexample == kept


@pytest.mark.slow
def test_the_tool_still_says_so(tmp_path: Path) -> None:
    copy_project(tmp_path)
    now: dict[str, KernelVerdict] = {kernel.name: condensed(kernel) for kernel in run(tmp_path).kernels}
    assert {name: found.verdict for name, found in now.items()} == {
        name: found.verdict for name, found in VERDICTS.items()
    }
    assert {name: found.theorems for name, found in now.items()} == {
        name: found.theorems for name, found in VERDICTS.items()
    }
