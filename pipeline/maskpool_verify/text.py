"""The report as text: at most ``width`` columns wherever words can be broken, without trailing blanks."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from click import style

from maskpool_verify.lean.bags import OPEN, shape_name
from maskpool_verify.lean.properties import PROPERTIES, Property
from maskpool_verify.refute import render
from maskpool_verify.report import KernelReport, Report, TheoremReport, Verdict
from maskpool_verify.stress import StressReport
from maskpool_verify.stress import text as stress_text

WIDTH = 100

MEANING: Mapping[Property, str] = {
    "translation": "the imported program is the traced function, over any arithmetic",
    "instance": "the program at a listed shape is the one for all sizes, over any arithmetic",
    "specification": "it computes masked attention pooling",
    "permutation": "the order of the rows does not matter",
    "padding": "further masked rows do not matter, whatever they hold",
    "masked_irrelevance": "what masked rows hold does not matter",
    "all_masked": "with all rows masked the result is zero",
}

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
_CHECKSUM = re.compile(r"(sha512-[\w+/]{12})[\w+/=]+")


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


def _place(theorem: TheoremReport) -> str:
    shapes = (theorem.shape, theorem.padded_shape)
    return " → ".join(shape_name(shape) for shape in shapes if shape)


def _rows(kernel: KernelReport) -> Iterator[tuple[Sequence[str], str | None]]:
    for property_ in PROPERTIES:
        for theorem in kernel.theorems:
            if theorem.property == property_:
                if theorem.status == "proved":
                    axioms = ", ".join(theorem.axioms) or "none"
                    yield (property_, _place(theorem), "proved", axioms), "green"
                else:
                    yield (property_, _place(theorem), theorem.status.upper(), theorem.reason or ""), "red"


def _kernel(page: _Page, kernel: KernelReport) -> None:
    verdict = page.styled(kernel.verdict, _COLOURS[kernel.verdict], bold=True)
    page.lines += ["", f"{page.styled(kernel.name, bold=True)}  {verdict}"]
    for trace in kernel.traces:
        shape = ", ".join(f"{symbol} = {size}" for symbol, size in trace.shape.items())
        where = "for all sizes" if shape_name(trace.shape) == OPEN else f"at {shape}"
        line = f"traced {where}: {trace.equations} equations, {trace.digest[:19]}…"
        page.lines += [page.styled(part, dim=True) for part in page.wrapped(line, "  ")]
    if kernel.arithmetic == "extended":
        page.lines += page.wrapped("theorems among infinities and NaN, for arguments that are numbers", "  ")
    if kernel.theorems:
        page.lines.append("")
        page.table(("property", "shape", "status", "axioms"), _rows(kernel))
    for message in kernel.messages:
        page.lines.append("")
        page.put(message, "  ")
    for found in kernel.counterexamples:
        page.lines.append("")
        page.verbatim(render(found))
    for warning in kernel.warnings:
        page.lines.append("")
        page.put(f"Warning: {warning.sentence}", "  ")


def _second_kernel(page: _Page, report: Report) -> None:
    """One line about the second kernel, if there was something to check."""
    if (second := report.second_kernel) is None:
        return
    if second.status == "accepted" and second.kernel and second.counts:
        page.put(
            f"second kernel: native Lean {second.kernel.version} ({second.kernel.githash[:12]}) has checked "
            f"{second.counts.declared} declarations; of Lean's library, it took "
            f"{second.counts.assumptions} without their bodies"
        )
    elif second.status == "refused":
        page.put("second kernel: REFUSED")
    else:
        page.put(f"second kernel: none; {second.why}")


def _summary(page: _Page, report: Report) -> None:
    theorems = [theorem for kernel in report.kernels for theorem in kernel.theorems]
    proved = sum(theorem.status == "proved" for theorem in theorems)
    allowed = ", ".join(report.audit.allowed) or "none"
    rest = f"{proved} of {len(theorems)} proved, {report.audit.audited} audited; axioms allowed: {allowed}"
    first, *more = page.wrapped(f"{report.verdict}: {rest}")
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
            _kernel(page, kernel)
    if report.audit.audited and report.audit.violations:
        page.heading("The audit found")
        page.items(report.audit.violations)
    if not quiet:
        if report.verdict == "verified":
            page.heading("Proved for every RealArith R, the real numbers among them")
            page.items(f"{name}: {meaning}" for name, meaning in MEANING.items())
        page.heading("Trusted, and outside of the proofs")
        page.items(_CHECKSUM.sub(r"\1…", sentence) for sentence in report.trusted)
        page.lines.append("")
        _second_kernel(page, report)
        _summary(page, report)
    if page.lines[0] == "":
        del page.lines[0]
    return "\n".join(page.lines) + "\n"


OBSERVED = "Observed in floating point"


def stress_to_text(
    report: StressReport, *, width: int = WIDTH, colour: bool = False, quiet: bool = False
) -> str:
    """A stress report for people, ended by a line break; the parameters are those of :func:`to_text`."""
    page = _Page(min(width, WIDTH), colour)
    _observed(page, report, quiet)
    return "\n".join(page.lines[1:]) + "\n"


def _observed(page: _Page, report: StressReport, quiet: bool) -> None:
    """The section on what was observed, which proves nothing."""
    page.heading(OBSERVED)
    page.put(f"{stress_text.heading(report)}; evidence, and no proof", "  ")
    for kernel in report.kernels:
        summary = page.styled(stress_text.summary(kernel), "red" if kernel.broken else "green")
        page.lines += ["", f"{page.styled(kernel.name, bold=True)}  {summary}"]
        if not quiet:
            page.verbatim("\n".join(stress_text.observed(kernel)).rstrip())
