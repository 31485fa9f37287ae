"""SARIF 2.1.0, as GitHub's code scanning and editors read it: a result for each finding."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from maskpool_verify.formats.findings import RULES, Finding, findings, within
from maskpool_verify.formats.wording import MEANING
from maskpool_verify.report import Place, Report

_RULES: dict[str, str] = {
    **{name: f"It has to be proved that {meaning}." for name, meaning in MEANING.items()},
    **RULES,
}


def render(report: Report, base: str = "") -> str:
    """The log; files are named from the directory above ``base`` that holds the sources, ``%SRCROOT%``."""
    driver: dict[str, Any] = {
        "name": "maskpool-verify",
        "rules": [
            {"id": name, "name": _pascal(name), "shortDescription": {"text": text}}
            for name, text in _RULES.items()
        ],
    }
    if version := _version():
        driver["version"] = version
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True, "exitCode": report.exit_code}],
        "columnKind": "unicodeCodePoints",
        "results": [_result(found, base) for found in findings(report)],
    }
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _result(found: Finding, base: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "ruleIndex": list(_RULES).index(found.rule),
        "level": found.level,
        "message": {"text": f"{found.title}\n{found.text}"},
        "partialFingerprints": {"kernelAndRule/v1": f"{found.kernel}/{found.rule}"},
    }
    if found.place is not None:
        place = within(found.place, base)
        region = {"startLine": place.line}
        result["locations"] = [{"physicalLocation": {"artifactLocation": _artifact(place), "region": region}}]
    return result


def _artifact(place: Place) -> dict[str, str]:
    if PurePosixPath(place.file).is_absolute():
        return {"uri": PurePosixPath(place.file).as_uri()}
    return {"uri": quote(place.file), "uriBaseId": "%SRCROOT%"}


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.replace("-", "_").split("_"))


def _version() -> str | None:
    try:
        return metadata.version("maskpool-verify")
    except metadata.PackageNotFoundError:
        return None
