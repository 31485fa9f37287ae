"""The report as text: at most ``width`` columns wherever words can be broken, without trailing blanks."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from click import style

from maskpool_verify.formats.wording import (
    MEANING,
    assumptions,
    facts,
    in_order,
    place_of,
    sizes_of,
    standing,
    summary,
    trusted,
)
from maskpool_verify.lean.properties import PROPERTIES
from maskpool_verify.refute import render
from maskpool_verify.report import KernelReport, Report, Verdict
from maskpool_verify.stress import StressReport
from maskpool_verify.stress import text as stress_text

WIDTH = 100

_COLOURS: Mapping[Verdict, str] = {
    "verified": "green",
    "refuted": "red",
    "unproved": "red",
    "unsupported": "yellow",
    "stale": "yellow",
    "error": "red",
}
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
"""Characters that could move the cursor; messages quote the kernel's source and Lean's output."""


@dataclass
class _Page:
    """Lines of text, wrapped; the colour of a word is given where it is printed."""

    width: int
    colour: bool
    lines: list[str] = field(default_factory=list)

    def styled(self, text: str, fg: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
        return style(text, fg=fg, bold=bold or None, dim=dim or None) if self.colour else text

    def wrapped(self, text: str, first: str = "", later: str | None = None) -> list[str]:
        """``text`` in lines; the first begins with ``first``, the others with ``later`` (or as far right)."""
        return textwrap.wrap(
            _CONTROL.sub(" ", text),
            max(self.width, len(first) + 20),
            initial_indent=first,
            subsequent_indent=" " * len(first) if later is None else later,
            break_on_hyphens=False,
        )

    def put(self, text: str, first: str = "") -> None:
        """Wrap every line of ``text`` by itself, with its own indentation below ``first``."""
        for line in _CONTROL.sub(" ", text).splitlines():
            indent = " " * len(first) + line[: len(line) - len(line.lstrip())]
            self.lines += self.wrapped(line.strip(), indent, indent + "  ") or [""]

    def verbatim(self, text: str) -> None:
        """Lines that are laid out already."""
        self.lines += [f"  {line}" if line else "" for line in _CONTROL.sub(" ", text).splitlines()]

    def heading(self, text: str) -> None:
        self.lines += ["", self.styled(text, bold=True)]

    def items(self, items: Iterable[str]) -> None:
        for item in items:
            self.lines += self.wrapped(item, "  - ")

    def table(self, header: Sequence[str], rows: Iterable[tuple[Sequence[str], str | None]]) -> None:
        """Columns as wide as they need, the last one wrapped; the third one has the colour of its row."""
        rows = list(rows)
        widths = [max(len(cells[i]) for cells in (header, *(cells for cells, _ in rows))) for i in range(3)]
        offset = 2 + sum(widths) + 2 * len(widths)
        beside = self.width - offset >= 20
        for cells, colour in ((header, None), *rows):
            padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
            padded[2] = self.styled(padded[2], colour, bold=colour == "red")
            begin = "  " + "  ".join(padded) + "  "
            if beside:
                first, *more = self.wrapped(cells[3], " " * offset) or [""]
                row = [begin + first.strip(), *more]
            else:
                row = [begin.rstrip(), *self.wrapped(cells[3], " " * 6)]
            self.lines += [self.styled(line, dim=True) for line in row] if cells is header else row


def _rows(kernel: KernelReport) -> Iterator[tuple[Sequence[str], str | None]]:
    for theorem in in_order(kernel):
        if theorem.status == "proved":
            axioms = ", ".join(theorem.axioms) or "none"
            yield (theorem.property, place_of(theorem), "proved", axioms), "green"
        else:
            reason = theorem.reason or ""
            yield (theorem.property, place_of(theorem), theorem.status.upper(), reason), "red"


def _kernel(page: _Page, kernel: KernelReport, observed: StressReport | None) -> None:
    verdict = page.styled(kernel.verdict, _COLOURS[kernel.verdict], bold=True)
    page.lines += ["", f"{page.styled(kernel.name, bold=True)}  {verdict}"]
    for trace in kernel.traces:
        line = f"traced {sizes_of(trace)}: {trace.equations} equations, {trace.digest[:19]}…"
        page.lines += [page.styled(part, dim=True) for part in page.wrapped(line, "  ")]
    for sentence in assumptions(kernel):
        page.lines += page.wrapped(sentence, "  ")
    if kernel.theorems:
        page.lines.append("")
        page.table(("property", "shape", "status", "axioms"), _rows(kernel))
    if known := standing(kernel, observed):
        page.lines.append("")
        page.put("; ".join(f"{words}: {', '.join(names)}" for words, names in known), "  ")
    for message in kernel.messages:
        page.lines.append("")
        page.put(message, "  ")
    for found in kernel.counterexamples:
        page.lines.append("")
        page.verbatim(render(found))
    for warning in kernel.warnings:
        page.lines.append("")
        page.put(f"Warning: {warning.sentence}", "  ")


def _summary(page: _Page, report: Report) -> None:
    first, *more = page.wrapped(summary(report))
    coloured = page.styled(report.verdict, _COLOURS[report.verdict], bold=True)
    page.lines += [coloured + first.removeprefix(report.verdict), *more]


def to_text(report: Report, *, width: int = WIDTH, colour: bool = False, quiet: bool = False) -> str:
    """The report for people, ended by a line break.

    ``width`` are the columns there are; no more than ``WIDTH`` are used. ``colour`` allows terminal escapes.
    ``quiet`` leaves one line for each kernel that is verified, and what is wrong with the others.
    """
    page = _Page(min(width, WIDTH), colour)
    for kernel in report.kernels:
        if quiet and kernel.verdict == "verified":
            page.lines.append(f"{kernel.name}: verified")
        else:
            _kernel(page, kernel, report.observed)
    if report.audit.audited and report.audit.violations:
        page.heading("The audit found")
        page.items(report.audit.violations)
    if not quiet:
        if report.verdict == "verified":
            page.heading("Proved for every RealArith R, the real numbers among them")
            shown = {theorem.property for kernel in report.kernels for theorem in kernel.theorems}
            page.items(f"{name}: {MEANING[name]}" for name in PROPERTIES if name in shown)
        if report.observed is not None:
            _observed(page, report.observed, quiet)
        page.heading("Trusted, and outside of the proofs")
        page.items(trusted(report))
        page.lines.append("")
        for fact in facts(report):
            page.put(fact)
        page.items(report.reals.violations)
        _summary(page, report)
    if page.lines[0] == "":
        del page.lines[0]
    return "\n".join(page.lines) + "\n"


def stress_to_text(
    report: StressReport, *, width: int = WIDTH, colour: bool = False, quiet: bool = False
) -> str:
    """A stress report for people, ended by a line break; the parameters are those of :func:`to_text`."""
    page = _Page(min(width, WIDTH), colour)
    _observed(page, report, quiet)
    return "\n".join(page.lines[1:]) + "\n"


def _observed(page: _Page, report: StressReport, quiet: bool) -> None:
    """The section on what was observed, which proves nothing."""
    page.heading(stress_text.TITLE)
    page.put(f"{stress_text.heading(report)}; evidence, and no proof", "  ")
    for kernel in report.kernels:
        summary = page.styled(stress_text.summary(kernel), "red" if kernel.broken else "green")
        page.lines += ["", f"{page.styled(kernel.name, bold=True)}  {summary}"]
        if not quiet:
            page.verbatim("\n".join(stress_text.observed(kernel)).rstrip())
