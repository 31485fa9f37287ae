"""The report for a terminal: at most 100 columns, colours only where the terminal shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import StringIO
from typing import IO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from maskpool_verify.lean.properties import PROPERTIES, Property, shape_name
from maskpool_verify.report import KernelReport, Report, TheoremReport, Verdict

WIDTH = 100

_COLOURS: Mapping[Verdict, str] = {
    "verified": "bold green",
    "refuted": "bold red",
    "unproved": "bold red",
    "unsupported": "bold yellow",
    "stale": "bold yellow",
    "error": "bold red",
}

MEANING: Mapping[Property, str] = {
    "translation": "the imported program is the traced function, over any arithmetic",
    "specification": "it computes masked attention pooling",
    "permutation": "the order of the rows does not matter",
    "padding": "further masked rows do not matter, whatever they hold",
    "masked_irrelevance": "what masked rows hold does not matter",
    "all_masked": "with all rows masked the result is zero",
}


def console(file: IO[str]) -> Console:
    """A console that never exceeds ``WIDTH`` columns."""
    terminal = Console(file=file, highlight=False, soft_wrap=False, emoji=False, markup=False)
    terminal.width = min(terminal.width, WIDTH) if terminal.is_terminal else WIDTH
    return terminal


def _place(theorem: TheoremReport) -> str:
    if theorem.padded_shape:
        return f"{shape_name(theorem.shape)} → {shape_name(theorem.padded_shape)}"
    return shape_name(theorem.shape)


def _table(kernel: KernelReport) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("property", no_wrap=True)
    table.add_column("shape", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("axioms", overflow="fold")
    for property_ in PROPERTIES:
        for theorem in kernel.theorems:
            if theorem.property == property_:
                proved = theorem.status == "proved"
                status = Text("proved" if proved else "FAILED", "green" if proved else "bold red")
                last = ", ".join(theorem.axioms) or "none"
                table.add_row(
                    property_, _place(theorem), status, last if proved else Text(theorem.reason or "")
                )
    return table


def _kernel(out: Console, kernel: KernelReport) -> None:
    out.print()
    out.print(Text.assemble((kernel.name, "bold"), "  ", (kernel.verdict, _COLOURS[kernel.verdict])))
    for trace in kernel.traces:
        shape = ", ".join(f"{symbol} = {size}" for symbol, size in trace.shape.items())
        out.print(Text(f"  traced at {shape}: {trace.equations} equations, {trace.digest[:19]}…", "dim"))
    if kernel.theorems:
        out.print(Padding(_table(kernel), (1, 0, 0, 2)))
    for message in kernel.messages:
        out.print()
        out.print(Padding(Text(message), (0, 0, 0, 2)))


def _list(out: Console, title: str, items: Iterable[str]) -> None:
    out.print()
    out.print(Text(title, "bold"))
    for item in items:
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_row(" ", "-", Text(item))
        out.print(grid)


def render(report: Report, file: IO[str], *, quiet: bool = False) -> None:
    """Print the report; ``quiet`` leaves one line for each kernel that is verified."""
    out = console(file)
    for kernel in report.kernels:
        if quiet and kernel.verdict == "verified":
            out.print(f"{kernel.name}: verified")
        else:
            _kernel(out, kernel)
    if quiet and report.verdict == "verified":
        return
    if report.verdict == "verified":
        _list(
            out,
            "Each theorem holds for every R with RealArith R, the real numbers among them:",
            [f"{name}: {meaning}" for name, meaning in MEANING.items()],
        )
    if report.audit.violations:
        _list(out, "The audit found", report.audit.violations)
    _list(out, "Trusted, and outside of the proofs", report.trusted)
    out.print()
    count = report.audit.audited
    proved = sum(t.status == "proved" for k in report.kernels for t in k.theorems)
    allowed = ", ".join(report.audit.allowed) or "none"
    out.print(
        Text.assemble(
            (report.verdict, _COLOURS[report.verdict]),
            f": {proved} theorems proved, {count} audited; axioms allowed: {allowed}",
        )
    )


def to_text(report: Report) -> str:
    """The report as plain text."""
    file = StringIO()
    render(report, file)
    return file.getvalue()
