"""The report as text: what it shows, and that it fits."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskpool_verify.engine.protocol import EngineInfo
from maskpool_verify.provenance import Provenance
from maskpool_verify.report import (
    SCHEMA,
    AuditReport,
    KernelReport,
    Report,
    TheoremReport,
    TraceReport,
    trusted,
)
from maskpool_verify.text import MEANING, WIDTH, to_text

ANSI = re.compile(r"\x1b\[[\d;]*m")
SHA512 = "sha512-" + "0aA/+" * 17 + "=="
SHORT, LONG = {"n": 4, "d": 3}, {"n": 6, "d": 3}


def theorem(**changes: Any) -> TheoremReport:
    fields = {
        "name": "certificates.k.n4_d3.specification",
        "property": "specification",
        "shape": SHORT,
        "statement": "True",
        "axioms": ("propext", "Classical.choice", "Quot.sound"),
        "status": "proved",
    }
    return TheoremReport.model_validate(fields | changes)


def report(*theorems: TheoremReport, messages: tuple[str, ...] = (), **changes: Any) -> Report:
    verdict = "verified" if all(t.status == "proved" for t in theorems) and not messages else "unproved"
    engine = EngineInfo(
        name="wasm", lean_version="4.28.0", githash="", source=f"npm package x, {SHA512}", files={}
    )
    kernel = KernelReport(
        name="kernel",
        verdict=verdict,
        traces=(TraceReport(shape=SHORT, equations=5, digest="sha256:" + "5" * 64),),
        theorems=theorems,
        messages=messages,
    )
    fields = {
        "schema": SCHEMA,
        "verdict": verdict,
        "engine": engine,
        "kernels": (kernel,),
        "audit": AuditReport(allowed=("propext",), audited=len(theorems), violations=()),
        "second_kernel": None,
        "definitions": {},
        "provenance": Provenance(versions={}, sources={}, engine={}, artifacts={}),
        "trusted": trusted(engine, 3, None),
    }
    return Report.model_validate(fields | changes)


FAILED = theorem(status="failed", axioms=(), reason="its proof did not go through, " * 4)
PADDING = theorem(property="padding", padded_shape=LONG, name="certificates.k.padding_n4_d3_n6_d3")
MIXED = report(
    theorem(),
    PADDING,
    FAILED,
    messages=("one two three " * 20, "head:\n  ⊢ a =\n      b\n" + "x" * 300),
)

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60)


@given(st.integers(60, 200), st.booleans(), st.lists(words, max_size=3))
def test_lines_fit_and_end_without_blanks(width: int, colour: bool, messages: list[str]):
    text = to_text(report(theorem(), PADDING, FAILED, messages=tuple(messages)), width=width, colour=colour)
    for line in ANSI.sub("", text).split("\n"):
        assert len(line) <= min(width, WIDTH)
        assert line == line.rstrip()
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@given(words)
def test_messages_cannot_control_the_terminal(message: str):
    text = to_text(report(theorem(), messages=(message,)))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


def test_colours_change_nothing_else():
    coloured = to_text(MIXED, colour=True)
    assert ANSI.search(coloured)
    assert ANSI.sub("", coloured) == to_text(MIXED)


@pytest.mark.parametrize("width", [80, 100])
def test_every_theorem_has_a_row(width: int):
    text = to_text(report(theorem(), PADDING, FAILED), width=width)
    rows = [line.split() for line in text.splitlines()]
    assert ["specification", "n4_d3", "proved", "propext,"] in [row[:4] for row in rows]
    assert ["padding", "n4_d3", "→", "n6_d3", "proved", "propext,"] in [row[:6] for row in rows]
    assert ["specification", "n4_d3", "FAILED", "its"] in [row[:4] for row in rows]
    header = next(line for line in text.splitlines() if line.startswith("  property"))
    for row in text.splitlines():
        if row.startswith("  specification ") and "n4_d3" in row:
            assert row.index("n4_d3") == header.index("shape")
    assert " ".join(text.split()).count("propext, Classical.choice, Quot.sound") == 2


def test_the_lines_of_a_goal_keep_their_places():
    text = to_text(report(FAILED, messages=("failed:\n  ⊢ a =\n      b",)))
    assert "\n  failed:\n    ⊢ a =\n        b\n" in text


def test_checksums_are_shortened():
    text = to_text(report(theorem()))
    assert SHA512[:19] + "…" in text
    assert SHA512[:20] not in text


def test_the_last_line_counts():
    assert to_text(report(theorem(), PADDING)).splitlines()[-1] == (
        "verified: 2 of 2 proved, 2 audited; axioms allowed: propext"
    )
    assert to_text(report(theorem(), FAILED)).splitlines()[-1].startswith("unproved: 1 of 2 proved")


def test_what_is_proved_is_explained_only_if_everything_is():
    meanings = [f"- {name}: {meaning}" for name, meaning in MEANING.items()]
    verified, unproved = to_text(report(theorem())), to_text(MIXED)
    assert all(meaning in verified for meaning in meanings)
    assert not any(meaning in unproved for meaning in meanings)
    assert "Trusted, and outside of the proofs" in verified
    assert "Trusted, and outside of the proofs" in unproved


def test_violations_are_shown():
    audit = AuditReport(allowed=(), audited=1, violations=("t rests on the axiom evil.",))
    for quiet in (False, True):
        assert "  - t rests on the axiom evil.\n" in to_text(report(FAILED, audit=audit), quiet=quiet)


def test_quiet_keeps_what_is_wrong():
    assert to_text(report(theorem()), quiet=True) == "kernel: verified\n"
    text = to_text(MIXED, quiet=True)
    assert "FAILED" in text
    assert "⊢ a =" in text
    assert "Trusted" not in text
