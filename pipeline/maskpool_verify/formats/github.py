"""GitHub's workflow commands: annotations at lines of the user's code.

A command is a line ``::error file=f,line=1,title=t::message``; see "Workflow commands for GitHub Actions" in
GitHub's documentation. GitHub shows ten annotations of a kind for a step, and all of them in the log.
"""

from __future__ import annotations

from maskpool_verify.formats.findings import Finding, findings, within
from maskpool_verify.formats.wording import summary
from maskpool_verify.report import Report


def render(report: Report, base: str = "") -> str:
    """A command for each finding, and a notice with the verdict; files are named from above ``base``."""
    notice = _command("notice", {"title": "maskpool-verify"}, summary(report))
    return "".join([*(_annotation(found, base) for found in findings(report)), notice])


def _annotation(found: Finding, base: str) -> str:
    where: dict[str, str] = {}
    if found.place is not None:
        place = within(found.place, base)
        where = {"file": place.file, "line": str(place.line)}
    return _command(found.level, {**where, "title": found.title}, found.text)


def _command(name: str, properties: dict[str, str], message: str) -> str:
    shown = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {shown}::{_data(message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
