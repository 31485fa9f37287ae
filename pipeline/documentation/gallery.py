"""The gallery of ``docs/kernels.md``: the kernels of the corpus, and what the tool says about each."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from maskpool_verify.refute import Counterexample, render

CORPUS = Path(__file__).parent.parent.parent / "tests" / "corpus"


@cache
def _sources(file: str) -> Mapping[str, str]:
    """The text of every function of a file with kernels."""
    text = (CORPUS / file).read_text("utf-8")
    return {
        node.name: ast.get_source_segment(text, node) or ""
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }


@cache
def _title(file: str) -> str:
    """The docstring of the file of a theme."""
    return (ast.get_docstring(ast.parse((CORPUS / file).read_text("utf-8"))) or "").splitlines()[0]


def _kernels() -> list[dict[str, Any]]:
    kernels: list[dict[str, Any]] = tomllib.loads((CORPUS / "corpus.toml").read_text("utf-8"))["kernel"]
    return kernels


def _verdicts() -> Mapping[str, Any]:
    kernels: Mapping[str, Any] = json.loads((CORPUS / "verdicts.json").read_text("utf-8"))["kernels"]
    return kernels


def gallery() -> str:
    """All themes, each with its kernels."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    practices = tomllib.loads((CORPUS / "expectations.toml").read_text("utf-8"))
    verdicts = _verdicts()
    theme = ""
    for kernel in _kernels():
        file, function = kernel["function"].split(":")
        if file != theme:
            theme = file
            yield f"\n### {_title(file)}\n"
        name = kernel["name"]
        verdict = verdicts[name]
        specification = "" if kernel["spec"] == "attention" else ', `spec = "none"`'
        yield f"<details><summary><b>{verdict['verdict']}</b> <code>{name}</code>{specification}: "
        yield f"{practices[name]['practice']}</summary>\n"
        yield f"```python\n{_sources(file)[function]}\n```\n"
        yield from _explanation(verdict)
        if remark := practices[name].get("floats"):
            yield f"In floating point: {remark}\n"
        yield "</details>\n"


def _explanation(verdict: Mapping[str, Any]) -> Iterator[str]:
    """The counterexample that is easiest to see, or why there is no verdict."""
    found = [Counterexample.model_validate(each) for each in verdict["counterexamples"]]
    if found:
        others = [each.property for each in found[1:]]
        yield f"```text\n{render(found[0])}\n```\n"
        if others:
            yield f"Also refuted: {', '.join(others)}.\n"
    elif verdict["verdict"] == "unsupported":
        yield f"> {verdict['messages'][0]}\n"
    proved = [name for name, status in verdict["theorems"].items() if status == "proved"]
    if verdict["verdict"] == "unproved":
        left = [name for name, status in verdict["theorems"].items() if status != "proved"]
        yield f"Proved: {', '.join(proved) or 'nothing'}; not proved: {', '.join(left)}.\n"


def summary() -> str:
    """A table of the verdicts by theme."""
    order = ("verified", "refuted", "unproved", "unsupported")
    verdicts = _verdicts()
    counts: dict[str, list[int]] = {}
    for kernel in _kernels():
        row = counts.setdefault(_title(kernel["function"].split(":")[0]), [0] * len(order))
        row[order.index(verdicts[kernel["name"]]["verdict"])] += 1
    lines = [f"| | {' | '.join(order)} |", f"|---|{'---|' * len(order)}"]
    for title, row in counts.items():
        lines.append(f"| {title.rstrip('.')} | {' | '.join(str(n) if n else '' for n in row)} |")
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    lines.append(f"| **all {sum(total)}** | {' | '.join(f'**{n}**' for n in total)} |")
    return "\n".join(lines) + "\n"
