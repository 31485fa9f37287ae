"""The report as one HTML file: no script, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import jinja2
from markupsafe import Markup

from maskpool_verify.formats import wording
from maskpool_verify.formats.drawing import draw
from maskpool_verify.refute import Counterexample
from maskpool_verify.refute import render as counterexample_text
from maskpool_verify.report import KernelReport, Report, TraceReport
from maskpool_verify.stress import text as stress_text


@dataclass(frozen=True)
class _Line:
    """An equation in both languages; ``broken`` are the properties whose counterexamples begin at it.

    The lines of Lean are without the number of their variable, which follows.
    """

    jaxpr: str
    lean: tuple[tuple[str, str], ...]
    broken: tuple[str, ...]


@dataclass(frozen=True)
class _Group:
    """The equations of one line of the user's code."""

    source: str
    code: str
    lines: tuple[_Line, ...]


@dataclass(frozen=True)
class _Program:
    title: str
    digest: str
    open: bool
    groups: tuple[_Group, ...]


@dataclass(frozen=True)
class _Drawing:
    """A counterexample: ``wide`` and ``narrow`` are SVG, of which the page shows one."""

    title: str
    sentence: str
    wide: Markup
    narrow: Markup
    text: str


def render(report: Report) -> str:
    """The page. Whatever comes from the kernel, from JAX or from Lean is escaped."""
    return _template().render(
        report=report,
        summary=wording.summary(report),
        facts=wording.facts(report),
        trusted=list(wording.trusted(report)),
        meaning=wording.MEANING,
        standing=wording.standing,
        assumptions=wording.assumptions,
        in_order=wording.in_order,
        place_of=wording.place_of,
        programs=_programs,
        drawings=_drawings,
        stress=stress_text,
        number_proved=lambda kernel: sum(t.status == "proved" for t in kernel.theorems),
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("maskpool_verify.formats"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html.j2")


def _drawings(kernel: KernelReport, number: int) -> list[_Drawing]:
    return [
        _Drawing(
            title=f"Counterexample to {found.property.replace('_', ' ')}",
            sentence=found.sentence,
            wide=Markup(draw(found, "beside", f"k{number}-{found.property}-wide")),
            narrow=Markup(draw(found, "below", f"k{number}-{found.property}-narrow")),
            text=counterexample_text(found),
        )
        for found in kernel.counterexamples
    ]


def _programs(kernel: KernelReport) -> list[_Program]:
    """The traces of a kernel; the first one is shown unfolded."""
    broken: dict[str, set[str]] = {
        found.property: set(_broken_variables(found)) for found in kernel.counterexamples
    }
    return [
        _Program(
            title=f"The program {wording.sizes_of(trace)}",
            digest=trace.digest,
            open=number == 0,
            groups=tuple(_groups(trace, broken)),
        )
        for number, trace in enumerate(kernel.traces)
        if trace.listing
    ]


def _broken_variables(found: Counterexample) -> Iterator[str]:
    for origin in (found.broken, found.undefined):
        if origin and (variable := re.match(r"v#\d+", origin.equation)):
            yield variable[0]


def _groups(trace: TraceReport, broken: Mapping[str, set[str]]) -> Iterator[_Group]:
    """Neighbours that come from the same line of code are put together."""
    for (source, code), members in groupby(trace.listing, key=lambda listed: (listed.source, listed.code)):
        lines = tuple(
            _Line(
                listed.jaxpr,
                tuple(map(_numbered, listed.lean)),
                tuple(name for name, variables in broken.items() if _defines(listed.lean, variables)),
            )
            for listed in members
        )
        yield _Group(source, code, lines)


def _defines(lean: Sequence[str], variables: set[str]) -> bool:
    return any(line.rpartition("-- ")[2] in variables for line in lean)


def _numbered(line: str) -> tuple[str, str]:
    """A line of Lean, and the comment at its end that numbers its variable."""
    found = re.search(r" *(-- v#\d+)$", line)
    return (line[: found.start()], found[1]) if found else (line, "")
