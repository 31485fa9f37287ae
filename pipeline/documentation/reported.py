"""The table of ``docs/stress.md``: what people report, and what a stress run says about it."""

from __future__ import annotations

import tomllib

from documentation.gallery import CORPUS

REPORTED = CORPUS.parent / "stress" / "reported.toml"


def reported() -> str:
    """A row for each kind of failure; the tests compare the last column with what a run gives."""
    lines = ["| what is reported | where | kernel | what a stress run says |", "|---|---|---|---|"]
    for failure in tomllib.loads(REPORTED.read_text("utf-8"))["failure"]:
        links = ", ".join(
            f"[{reference}](https://github.com/{reference.replace('#', '/issues/')})"
            for reference in failure["where"]
        )
        dtype = f" in {failure['dtype']}" if "dtype" in failure else ""
        said = f"`{failure['property']}`: {failure['sentence']}"
        lines.append(f"| {failure['reported']} | {links} | `{failure['kernel']}`{dtype} | {said} |")
    return "\n".join(lines) + "\n"
