"""Commands and what they print, as blocks of Markdown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``maskpool-verify`` in a directory."""
    command = [sys.executable, "-m", "maskpool_verify.main", *arguments]
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "100"}
    return subprocess.run(command, cwd=project, capture_output=True, text=True, env=environment, check=False)


def console(project: Path, *arguments: str) -> str:
    """A command, what it prints on stdout, and its exit code unless that is 0.

    Raises:
        RuntimeError: it prints nothing.
    """
    ended = run(project, *arguments)
    if not (shown := ended.stdout.strip("\n")):
        raise RuntimeError(f"{' '.join(arguments)} prints nothing: {ended.stderr}")
    lines = [f"$ maskpool-verify {' '.join(arguments)}", *shown.splitlines()]
    if ended.returncode:
        lines += ["$ echo $?", str(ended.returncode)]
    return fenced("console", lines)


def fenced(language: str, lines: list[str]) -> str:
    """Lines as a block of code."""
    body = "\n".join(line.rstrip() for line in lines)
    return f"```{language}\n{body}\n```\n"
