"""SARIF: valid by its schema, with every result at a line of the user's code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from packages import unpacked

from maskpool_verify.formats import sarif
from maskpool_verify.formats.findings import RULES, findings
from maskpool_verify.lean.properties import PROPERTIES
from maskpool_verify.report import Report


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    package = unpacked("@microsoft/jest-sarif@1.0.0-beta.0", tmp_path_factory.mktemp("sarif"))
    found: dict[str, Any] = json.loads((package / "lib/schemas/sarif-2.1.0-rtm.5.json").read_text("utf-8"))
    return found


def test_it_is_valid(any_report: Report, schema: dict[str, Any]):
    jsonschema.validate(json.loads(sarif.render(any_report, "a folder")), schema)


def test_the_schema_refuses_what_it_does_not_know(corpus: Report, schema: dict[str, Any]):
    log = json.loads(sarif.render(corpus))
    log["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(log, schema)


def test_results_are_the_findings(any_report: Report):
    (run,) = json.loads(sarif.render(any_report))["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == [*PROPERTIES, *RULES]
    wanted = findings(any_report)
    assert len(run["results"]) == len(wanted)
    for result, finding in zip(run["results"], wanted, strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"] == finding.rule
        assert result["level"] == finding.level
        assert result["message"]["text"] == f"{finding.title}\n{finding.text}"
        if finding.place is None:
            assert "locations" not in result
            continue
        (location,) = result["locations"]
        artifact = location["physicalLocation"]["artifactLocation"]
        assert unquote(artifact["uri"]) == finding.place.file
        assert artifact["uriBaseId"] == "%SRCROOT%"
        assert location["physicalLocation"]["region"] == {"startLine": finding.place.line}


def test_a_result_keeps_its_fingerprint_when_lines_move(corpus: Report):
    moved = corpus.model_copy(
        update={"kernels": tuple(k.model_copy(update={"place": None}) for k in corpus.kernels)}
    )
    prints = [
        [result["partialFingerprints"] for result in json.loads(sarif.render(r))["runs"][0]["results"]]
        for r in (corpus, moved)
    ]
    assert prints[0] == prints[1]
    assert len({json.dumps(each) for each in prints[0]}) == len(prints[0])


def test_files_outside_of_the_repository(corpus: Report):
    first = corpus.kernels[1]
    assert first.place is not None
    outside = first.model_copy(
        update={"place": first.place.model_copy(update={"file": "/other place/a.py"}), "counterexamples": ()}
    )
    (run,) = json.loads(sarif.render(corpus.model_copy(update={"kernels": (outside,)}), "sub"))["runs"]
    location = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": Path("/other place/a.py").as_uri()}


def test_the_exit_code_is_that_of_check(any_report: Report):
    (run,) = json.loads(sarif.render(any_report))["runs"]
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": any_report.exit_code}]
