"""Workflow commands: what GitHub's own writer would write, and what its runner reads."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from packages import unpacked

from maskpool_verify.engine.wasm.node import node_command
from maskpool_verify.formats import github
from maskpool_verify.formats.findings import findings
from maskpool_verify.report import Report

WRITER = """
const { issueCommand } = require("./lib/command.js");
for (const [name, properties, message] of JSON.parse(require("fs").readFileSync(0, "utf8")))
  issueCommand(name, properties, message);
"""


def parsed(line: str) -> tuple[str, dict[str, str], str]:
    """A command as the runner reads it: name, properties and message, unescaped."""
    found = re.fullmatch(r"::(?P<name>[a-z-]+)(?: (?P<properties>[^\n]*?))?::(?P<message>[^\r\n]*)", line)
    assert found is not None
    properties = {}
    for part in (found["properties"] or "").split(","):
        key, _, value = part.partition("=")
        for code, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            value = value.replace(code, letter)
        properties[key] = value
    message = found["message"].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    return found["name"], properties, message


def test_one_annotation_for_each_finding(any_report: Report):
    *lines, last = github.render(any_report).removesuffix("\n").split("\n")
    wanted = findings(any_report)
    assert len(lines) == len(wanted)
    for line, finding in zip(lines, wanted, strict=True):
        name, properties, message = parsed(line)
        assert (name, message) == (finding.level, finding.text)
        place = finding.place and {"file": finding.place.file, "line": str(finding.place.line)}
        assert properties == (place or {}) | {"title": finding.title}
    assert parsed(last)[0] == "notice"


def test_it_is_what_github_writes(any_report: Report, tmp_path: Path):
    package = unpacked("@actions/core@1.11.1", tmp_path)
    commands = [parsed(line) for line in github.render(any_report).removesuffix("\n").split("\n")]
    ended = subprocess.run(
        [*node_command(), "-e", WRITER],
        cwd=package,
        input=json.dumps(commands),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert ended.stdout == github.render(any_report)


@given(st.text(), st.text())
def test_any_text_comes_back(title: str, message: str):
    line = github._command("error", {"file": "a.py", "line": "1", "title": title}, message)
    assert line.count("\n") == 1
    assert parsed(line.removesuffix("\n")) == (
        "error",
        {"file": "a.py", "line": "1", "title": title},
        message,
    )


def test_files_below_the_top_of_the_repository(corpus: Report):
    first, *_ = github.render(corpus, "sub").splitlines()
    assert parsed(first)[1]["file"].startswith("sub/kernels/")
