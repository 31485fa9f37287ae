"""The results of ``make bench``: the document says what the samples say. Nothing is timed here."""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import processes
from benchmarks.certificates import EQUATIONS, SHAPES
from benchmarks.results import (
    SCHEMA,
    Machine,
    Measurement,
    MeasurementError,
    Results,
    Topic,
    from_json,
    markdown,
    merged,
    to_json,
)
from benchmarks.topics import PLANS

ROOT = Path(__file__).resolve().parents[1]

MACHINE = Machine(system="Linux", cores=2, memory_gb=8.0, python="3.11.7", jax="0.10.2", engine="Lean 4.28.0")

numbers = st.floats(min_value=0, max_value=1e6)
measurements = st.builds(
    Measurement,
    what=st.just("work"),
    unit=st.sampled_from(["s", "MB", "s/equation", "times"]),
    samples=st.lists(numbers, min_size=1, max_size=5).map(tuple),
    target=st.none() | st.floats(min_value=0.1, max_value=1e6),
)


def results_of(*measured: Measurement) -> Results:
    return Results(schema=SCHEMA, quick=False, machine=MACHINE, topics=(topic_of("engine", *measured),))


def topic_of(name: str, *measured: Measurement) -> Topic:
    return Topic(
        name=name,
        title="The engine",
        method="By hand.",
        date="2026-01-31",
        commit="0123456789ab",
        measurements=measured,
    )


# -- the committed files


def test_the_document_is_that_of_the_samples() -> None:
    committed = from_json((ROOT / "docs" / "benchmarks.json").read_text())
    assert (ROOT / "docs" / "benchmarks.md").read_text() == markdown(committed)


def test_every_topic_is_in_the_results() -> None:
    committed = from_json((ROOT / "docs" / "benchmarks.json").read_text())
    assert [topic.name for topic in committed.topics] == [plan.name for plan in PLANS]


def test_the_targets_are_those_of_the_project() -> None:
    committed = from_json((ROOT / "docs" / "benchmarks.json").read_text())
    targets = {
        (topic.name, re.sub(r" \(`.*`\)$", "", m.what)): (m.target, m.unit)
        for topic in committed.topics
        for m in topic.measurements
        if m.unit in ("s", "MB") and m.target is not None
    }
    assert targets == {
        ("engine", "seconds"): (3, "s"),
        ("engine", "peak memory"): (700, "MB"),
        ("check", "nothing built"): (60, "s"),
        ("check", "nothing changed"): (3, "s"),
        ("audit", "read and audit"): (3, "s"),
        ("replay", "check every declaration"): (5, "s"),
        ("replay", "peak memory"): (500, "MB"),
        ("equations", "80 equations"): (10, "s"),
        ("instances", "one further shape"): (2, "s"),
        ("instances", "each of ten further shapes"): (2, "s"),
        ("instances", "fifty shapes, 1 × 1 to 8192 × 2048"): (90, "s"),
        ("corpus", "all verdicts"): (720, "s"),
        ("corpus", "the median verdict"): (8, "s"),
        ("corpus", "the slowest verdict"): (60, "s"),
    }
    assert EQUATIONS == (5, 10, 20, 40, 80)
    assert [tuple(shape.values()) for shape in SHAPES] == [(4, 3), (64, 32), (4096, 1024)]


# -- the format


@given(st.lists(measurements, min_size=1, max_size=4))
def test_json_gives_the_results_back(measured: list[Measurement]) -> None:
    results = results_of(*measured)
    assert from_json(to_json(results)) == results


@given(measurements)
def test_a_target_is_met_exactly_if_the_median_is_not_above_it(measured: Measurement) -> None:
    middle = sorted(measured.samples)[len(measured.samples) // 2]
    if measured.target is None:
        assert measured.verdict == ""
    elif len(measured.samples) % 2:
        assert (measured.verdict == "met") == (middle <= measured.target)


def test_a_row_says_by_how_much_a_target_is_missed() -> None:
    text = markdown(results_of(Measurement(what="work", unit="s", samples=(14, 10, 12), target=8)))
    assert "| work | ≤ 8.00 s | 12.00 s | 4.00 s | 3 | **missed by 4.00 s (50%)** |" in text.splitlines()


def test_what_could_not_be_measured_is_shown() -> None:
    text = markdown(results_of(Measurement(what="work", unit="s", failure="Lean rejects it.", target=8)))
    assert "| work | ≤ 8.00 s |  |  |  | **failed** |" in text.splitlines()
    assert "work: Lean rejects it." in text.splitlines()


def test_topics_that_are_measured_again_replace_their_like() -> None:
    old, new = (Measurement(what="work", unit="s", samples=(seconds,)) for seconds in (1, 2))
    kept = results_of(old).model_copy(update={"topics": (topic_of("engine", old), topic_of("check", old))})
    both = merged(results_of(new), kept)
    assert [(topic.name, topic.measurements) for topic in both.topics] == [
        ("engine", (new,)),
        ("check", (old,)),
    ]
    elsewhere = results_of(new).model_copy(update={"machine": MACHINE.model_copy(update={"cores": 64})})
    with pytest.raises(MeasurementError, match="another machine"):
        merged(elsewhere, kept)


def corrupted(**changes: Any) -> str:
    data = json.loads(to_json(results_of(Measurement(what="work", unit="s", samples=(1.0,)))))
    measurement = data["topics"][0]["measurements"][0]
    for key, value in changes.items():
        (data if key in data or key == "unknown" else measurement)[key] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "the file"),
        ("{", "the file"),
        (corrupted(schema="maskpool-verify/benchmarks/1"), "schema"),
        (corrupted(unknown=1), "unknown"),
        (corrupted(topics=[]), "topics"),
        (corrupted(quick="perhaps"), "quick"),
        (corrupted(unit="hours"), "topics.0.measurements.0.unit"),
        (corrupted(samples=[]), "topics.0.measurements.0"),
        (corrupted(samples=["fast"]), "topics.0.measurements.0.samples.0"),
        (corrupted(samples=[float("nan")]), "topics.0.measurements.0.samples.0"),
        (corrupted(failure="and yet it was measured"), "topics.0.measurements.0"),
    ],
)
def test_malformed_results_are_refused(text: str, named: str) -> None:
    with pytest.raises(MeasurementError, match=rf"malformed: {re.escape(named)}: .+; run make bench again"):
        from_json(text)


# -- processes


def test_memory_is_that_of_the_largest_descendant(tmp_path: Path) -> None:
    size = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + 100_000_000
    inner = f"block = b'x' * {size}"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}]); print('done')"
    used = processes.run((sys.executable, "-c", outer), tmp_path)
    assert used.stdout == "done\n"
    assert size / 1e6 < used.peak_mb < size / 1e6 + 100


def test_a_command_that_fails_is_no_measurement(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "import sys; sys.exit('no engine')")
    with pytest.raises(MeasurementError, match="status 1: no engine"):
        processes.run(command, tmp_path)


def test_memory_below_ours_is_not_reported(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="less memory"):
        processes.run(("true",), tmp_path)


def test_an_interrupted_measurement_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    def interrupted(pid: int, options: int) -> None:
        started.append(pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "wait4", interrupted)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        processes.run(("sleep", "60"), tmp_path)
    assert time.monotonic() - begin < 30
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)
