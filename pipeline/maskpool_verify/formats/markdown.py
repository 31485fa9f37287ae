"""GitHub's Markdown, as for the summary of a step: a table of the verdicts, then what is wrong."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from maskpool_verify.formats.findings import OBSERVED, THE_WHOLE, Finding, findings
from maskpool_verify.formats.wording import assumptions, facts, in_order, place_of, standing, summary, trusted
from maskpool_verify.report import KernelReport, Report, Verdict
from maskpool_verify.stress import StressReport
from maskpool_verify.stress import text as stress_text

_SIGNS: dict[Verdict, str] = {
    "verified": "✅",
    "refuted": "❌",
    "unproved": "❌",
    "unsupported": "⚠️",
    "stale": "⚠️",
    "error": "❌",
}
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>()#+.!|~&$@:-]")


def render(report: Report) -> str:
    """The document; every name and message is escaped, so that it is shown as it is."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"## {_SIGNS[report.verdict]} maskpool\\-verify: {report.verdict}"
    yield ""
    yield "| kernel | verdict | what is known |"
    yield "|---|---|---|"
    for kernel in report.kernels:
        lines = [f"{words}: {', '.join(names)}" for words, names in standing(kernel, report.observed)]
        known = "<br>".join(map(escaped, [*assumptions(kernel), *lines]))
        yield f"| {escaped(kernel.name)} | {_SIGNS[kernel.verdict]} {kernel.verdict} | {known} |"
    yield ""
    yield escaped(f"{summary(report)}.")
    for fact in facts(report):
        yield ""
        yield escaped(f"{fact}.")
    for violation in report.audit.violations if report.audit.audited else ():
        yield ""
        yield f"> The audit found: {escaped(violation)}"
    found = [finding for finding in findings(report) if finding.rule != OBSERVED]  # has a section of its own
    for kernel in report.kernels:
        yield from _kernel(kernel, [finding for finding in found if finding.kernel == kernel.name])
    yield from _findings(finding for finding in found if finding.kernel == THE_WHOLE)
    if report.observed is not None:
        yield from _folded(stress_text.TITLE, list(_observed(report.observed)))
    yield from _folded("Trusted, and outside of the proofs", [f"- {escaped(s)}" for s in trusted(report)])


def _findings(found: Iterable[Finding]) -> Iterator[str]:
    for finding in found:
        place = f", {escaped(str(finding.place))}" if finding.place else ""
        yield ""
        yield f"**{escaped(finding.title)}**{place}"
        yield ""
        yield from _code(finding.text)


def _kernel(kernel: KernelReport, found: Sequence[Finding]) -> Iterator[str]:
    if found:
        yield ""
        yield f"### {escaped(kernel.name)}"
    yield from _findings(found)
    rows = ["| property | shape | status | axioms |", "|---|---|---|---|"]
    for theorem in in_order(kernel):
        last = ", ".join(theorem.axioms) or "none" if theorem.status == "proved" else theorem.reason or ""
        cells = (theorem.property, place_of(theorem), theorem.status, last)
        rows.append(f"| {' | '.join(map(escaped, cells))} |")
    if kernel.theorems:
        yield from _folded(f"The theorems of {kernel.name}", rows)


def _observed(report: StressReport) -> Iterator[str]:
    yield escaped(f"{stress_text.heading(report)}; evidence, and no proof.")
    for kernel in report.kernels:
        yield ""
        yield f"**{escaped(kernel.name)}**: {escaped(stress_text.summary(kernel))}"
        yield ""
        yield from _code("\n".join(stress_text.observed(kernel)).rstrip())


def _folded(title: str, lines: list[str]) -> Iterator[str]:
    yield ""
    yield f"<details><summary>{html.escape(title)}</summary>"  # no Markdown in a block of HTML
    yield ""
    yield from lines
    yield ""
    yield "</details>"


def _code(text: str) -> Iterator[str]:
    """A code block, fenced by more backticks than the text has anywhere."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    yield f"{fence}text"
    yield from _lines_of(text)
    yield fence


def escaped(text: str) -> str:
    """Text on one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(_lines_of(text)))


def _lines_of(text: str) -> list[str]:
    return [re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", " ", line) for line in text.split("\n")]
