"""The report as text: what it shows, and that it fits."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskpool_verify.engine.protocol import EngineInfo
from maskpool_verify.formats.text import WIDTH, to_text
from maskpool_verify.formats.wording import MEANING
from maskpool_verify.lean.properties import PROPERTIES
from maskpool_verify.provenance import Provenance
from maskpool_verify.refute.counterexample import (
    Broken,
    Counterexample,
    FloatWarning,
    Input,
    RunReport,
    Values,
)
from maskpool_verify.report import (
    SCHEMA,
    AuditReport,
    KernelReport,
    Report,
    TheoremReport,
    TraceReport,
    trusted,
)

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

OPEN = {"n": "n", "d": "d"}
REFUTED = theorem(
    status="refuted", property="all_masked", shape=OPEN, axioms=(), reason="see the counterexample"
)
ONE = Values(shape=(1,), entries=("1",))
RUN = RunReport(
    sizes={"n": 1, "d": 1},
    inputs=(
        Input(name="features", role="features", row_axis=0, values=Values(shape=(1, 1), entries=("1/3",))),
        Input(name="mask", role="mask", row_axis=0, values=Values(shape=(1,), entries=("false",))),
    ),
    result=ONE,
    jax=ONE,
    jax_float64=ONE,
)
COUNTEREXAMPLE = Counterexample(
    property="all_masked",
    evidence="proved",
    rows_symbol="n",
    dtype="float32",
    left=RUN,
    right=None,
    expected=Values(shape=(1,), entries=("0",)),
    orders=(),
    rows=(),
    undefined=None,
    broken=Broken(equation="v#3 = exp v#1", source="k.py:4", code="jnp.exp(logits)"),
    confirmed_by_jax=True,
    sentence="No row of the bag counts, and its result is not zero.",
)
WARNING = FloatWarning(
    property="padding",
    case="large logits",
    dtype="float32",
    left=RUN,
    right=None,
    found=Values(shape=(1,), entries=("nan",)),
    expected=ONE,
    sentence="With large logits the result in float32 is nan " + 20 * "and not a number ",
)


def refuted(**changes: Any) -> Report:
    """A kernel with a counterexample and a warning."""
    made = report(theorem(shape=OPEN), REFUTED)
    kernel = made.kernels[0].model_copy(
        update={
            "verdict": "refuted",
            "traces": (TraceReport(shape=OPEN, equations=5, digest="sha256:" + "5" * 64),),
            "counterexamples": (COUNTEREXAMPLE,),
            "warnings": (WARNING,),
            **changes,
        }
    )
    return made.model_copy(update={"verdict": "refuted", "kernels": (kernel,)})


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
    verified, unproved = to_text(report(theorem())), to_text(MIXED)
    for name, meaning in MEANING.items():
        assert (f"- {name}: {meaning}" in verified) == (name == "specification")
        assert f"- {name}: {meaning}" not in unproved
    assert "Trusted, and outside of the proofs" in verified
    assert "Trusted, and outside of the proofs" in unproved


def test_violations_are_shown():
    audit = AuditReport(allowed=(), audited=1, violations=("t rests on the axiom evil.",))
    for quiet in (False, True):
        assert "  - t rests on the axiom evil.\n" in to_text(report(FAILED, audit=audit), quiet=quiet)


def test_the_engine_and_the_numbers_are_named():
    lines = to_text(report()).splitlines()
    assert "engine: wasm, Lean 4.28.0" in lines
    assert "real numbers: the theorems are over an abstract field with exp and log (no mathlib)" in lines


def test_quiet_keeps_what_is_wrong():
    assert to_text(report(theorem()), quiet=True) == "kernel: verified\n"
    text = to_text(MIXED, quiet=True)
    assert "FAILED" in text
    assert "⊢ a =" in text
    assert "Trusted" not in text


# -- sizes that are left open, and counterexamples


def test_all_sizes_have_a_name() -> None:
    text = to_text(report(theorem(shape=OPEN)))
    assert ["specification", "symbolic", "proved", "propext,"] in [
        line.split()[:4] for line in text.splitlines()
    ]
    assert "  traced for all sizes: 5 equations, " in to_text(refuted())
    assert "  traced at n = 4, d = 3: 5 equations, " in text


@pytest.mark.parametrize("quiet", [False, True])
def test_a_counterexample_can_be_checked_by_hand(quiet: bool) -> None:
    lines = to_text(refuted(), quiet=quiet).splitlines()
    assert "kernel  refuted" in lines
    rows = [line.split(maxsplit=3) for line in lines]
    assert ["all_masked", "symbolic", "REFUTED", "see the counterexample"] in rows
    start = lines.index("  Counterexample to all masked (proved over the reals):")
    assert ["row", "features", "mask"] in [line.split() for line in lines[start:]]
    assert ["0", "[1/3]", "no"] in [line.split() for line in lines[start:]]
    assert ["exact", "[1]", "[0]"] in [line.split() for line in lines[start:]]
    assert "    No row of the bag counts, and its result is not zero." in lines[start:]
    assert "      k.py:4: jnp.exp(logits)" in lines[start:]


def test_warnings_are_shown_and_wrapped() -> None:
    lines = to_text(refuted(), width=80).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("  Warning: With large"))
    shown = " ".join(" ".join(lines[first : first + 6]).split())
    assert shown.startswith(f"Warning: {WARNING.sentence.strip()}")
    assert all(len(line) <= 80 for line in lines)


def test_names_in_a_counterexample_cannot_control_the_terminal() -> None:
    broken = COUNTEREXAMPLE.broken
    assert broken is not None
    code = broken.model_copy(update={"code": "x = '\x1b[31m'"})
    changed = COUNTEREXAMPLE.model_copy(update={"broken": code})
    assert "\x1b" not in to_text(refuted(counterexamples=(changed,)))


def test_every_property_is_explained() -> None:
    assert set(MEANING) == set(PROPERTIES)
