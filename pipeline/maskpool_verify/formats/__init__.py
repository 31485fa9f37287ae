"""The report in the formats of people, CI systems and editors, one module a format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from maskpool_verify.errors import UsageError
from maskpool_verify.formats import github, html, junit, markdown, sarif, text
from maskpool_verify.report import Report, to_json

Format: TypeAlias = Literal["text", "json", "github", "markdown", "junit", "sarif", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)

SUFFIXES: Mapping[str, Format] = {
    ".json": "json",
    ".html": "html",
    ".md": "markdown",
    ".xml": "junit",
    ".sarif": "sarif",
    ".txt": "text",
}
"""Which format a report file has, by the end of its name."""

_ANYWHERE: Mapping[Format, Callable[[Report], str]] = {
    "text": text.to_text,
    "json": to_json,
    "markdown": markdown.render,
    "junit": junit.render,
    "html": html.render,
}
_LOCATED: Mapping[Format, Callable[[Report, str], str]] = {"github": github.render, "sarif": sarif.render}


def render(report: Report, format_: Format, base: str = "") -> str:
    """The report as text in a format.

    ``base`` leads from the directory that files are named from, the top of the repository, to that of the
    manifest; it is ``""`` if they are the same. Only formats that are read together with the sources need it.
    """
    if format_ in _LOCATED:
        return _LOCATED[format_](report, base)
    return _ANYWHERE[format_](report)


def format_of(path: Path) -> Format:
    """The format of a report file.

    Raises:
        UsageError: the end of its name is none of those known.
    """
    if (found := SUFFIXES.get(path.suffix.lower())) is None:
        known = ", ".join(SUFFIXES)
        raise UsageError(f"The report {path} is of no known format; end its name with one of {known}.")
    return found
