"""Reports to render: the verdicts of the corpus, with the traces of its kernels."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from maskpool_verify.engine.protocol import EngineInfo
from maskpool_verify.errors import UnsupportedError
from maskpool_verify.frontend import TracedKernel, trace_kernel
from maskpool_verify.lean.properties import theorems
from maskpool_verify.listing import listing
from maskpool_verify.manifest import Kernel, load_manifest
from maskpool_verify.program import digest
from maskpool_verify.provenance import Provenance
from maskpool_verify.reals import RealsReport
from maskpool_verify.report import (
    SCHEMA,
    AuditReport,
    KernelReport,
    Place,
    Report,
    TheoremReport,
    TraceReport,
    trusted,
    worst,
)

CORPUS = Path(__file__).parent.parent / "corpus"
ALLOWED = ("propext", "Classical.choice", "Quot.sound")
REASONS = {
    "proved": None,
    "refuted": "see the counterexample",
    "failed": "it rests on specification at symbolic",
}
ENGINE = EngineInfo(name="wasm", lean_version="4.28.0-pre", githash="38f3", source="npm package x", files={})

SHOWN = (
    "where_everything",
    "mask_shifted_by_one",
    "features_zeroed_only",
    "unguarded",
    "softmax_over_batch",
    "length_inclusive",
    "moving_average",
)
"""Verified; permutation; padding; no real value; several bags; a length; only observed."""


@cache
def _verdicts() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CORPUS / "verdicts.json").read_text("utf-8"))["kernels"]
    return found


def kernel_report(kernel: Kernel) -> KernelReport:
    """What ``check`` reports of a kernel of the corpus, but for what only Lean's artifacts tell."""
    known = _verdicts()[kernel.name]
    traces: tuple[TracedKernel, ...] = ()
    try:
        traces = (trace_kernel(kernel, kernel.open_shape, CORPUS),)
    except UnsupportedError:
        assert known["verdict"] == "unsupported"
    wanted = theorems(kernel) if traces else ()
    file = kernel.function.partition(":")[0]
    lines = (CORPUS / file).read_text("utf-8").splitlines()
    line = next(
        n for n, text in enumerate(lines, 1) if text.startswith(f"def {kernel.function.split(':')[1]}(")
    )
    return KernelReport.model_validate(
        {
            "name": kernel.name,
            "verdict": known["verdict"],
            "place": Place(file=file, line=line),
            "problem": Place(file=file, line=line + 2) if known["verdict"] == "unsupported" else None,
            "traces": [
                TraceReport(
                    shape=t.program.shape,
                    equations=len(t.program.equations),
                    digest=digest(t.program),
                    listing=listing(t, CORPUS),
                )
                for t in traces
            ],
            "theorems": [
                TheoremReport(
                    name=t.dotted,
                    property=t.proves,
                    shape=t.shape,
                    padded_shape=t.padded_shape,
                    statement=t.statement,
                    axioms=ALLOWED[:2] if known["theorems"][t.proves] == "proved" else (),
                    status=known["theorems"][t.proves],
                    reason=REASONS[known["theorems"][t.proves]],
                )
                for t in wanted
                if t.proves in known["theorems"]
            ],
            "counterexamples": known["counterexamples"],
            "warnings": known["warnings"],
            "messages": known["messages"],
        }
    )


@cache
def corpus_report(*names: str) -> Report:
    """The report of some kernels of the corpus."""
    manifest = load_manifest(CORPUS / "corpus.toml")
    return report(*(kernel_report(manifest.kernel(name)) for name in names or SHOWN))


def report(*kernels: KernelReport, **changes: Any) -> Report:
    """The report of these kernels."""
    wanted = [theorem for kernel in kernels for theorem in kernel.theorems]
    fields = {
        "schema": SCHEMA,
        "verdict": worst(kernel.verdict for kernel in kernels),
        "engine": ENGINE,
        "kernels": kernels,
        "audit": AuditReport(allowed=ALLOWED, audited=len(wanted), violations=()),
        "second_kernel": None,
        "definitions": {},
        "provenance": Provenance(
            versions={"jax": "0.10.2"}, sources={"maskpool.toml": "8e21"}, engine={}, artifacts={}
        ),
        "trusted": trusted(ENGINE, 3, None),
    }
    return Report.model_validate(fields | changes)


HOSTILE = (
    "</style><script>alert('%0A')</script>|`*_[x](y)::error file=a,line=1::b\r\n::warning::\x1b[31m\x00&amp;"
)
"""Markup, control characters, and commands."""


def hostile_report() -> Report:
    """A kernel in whose names and messages everything has a meaning in some format."""
    (shifted,) = corpus_report("mask_shifted_by_one").kernels
    (counterexample, *_) = shifted.counterexamples
    (given, *others) = counterexample.left.inputs
    changed = counterexample.model_copy(
        update={
            "sentence": HOSTILE,
            "left": counterexample.left.model_copy(
                update={"inputs": (given.model_copy(update={"name": HOSTILE}), *others)}
            ),
        }
    )
    theorem = shifted.theorems[0].model_copy(update={"status": "failed", "reason": HOSTILE, "axioms": ()})
    second = theorem.model_copy(update={"statement": HOSTILE})
    entry = shifted.traces[0].listing[1]
    listed = entry.model_copy(update={"jaxpr": HOSTILE, "lean": (HOSTILE,), "code": HOSTILE})
    trace = shifted.traces[0].model_copy(update={"listing": (listed,)})
    kernel = shifted.model_copy(
        update={
            "name": HOSTILE,
            "place": Place(file="a folder/ü,:%#?.py", line=7),
            "counterexamples": (changed,),
            "theorems": (theorem, second),
            "traces": (trace,),
            "messages": (HOSTILE, f"```\n{HOSTILE}\n````"),
        }
    )
    audit = AuditReport(allowed=ALLOWED, audited=2, violations=(HOSTILE,))
    reals = RealsReport(basis="mathlib", mathlib="v4.28.0", revision="0" * 40, violations=(HOSTILE,))
    return report(
        kernel,
        kernel.model_copy(update={"name": "second"}),
        audit=audit,
        trusted=(HOSTILE,),
        reals=reals,
    )
