"""What docs/ci.md shows: a new project, a red pull request, and a green one."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

from documentation.console import console, fenced, run
from maskpool_verify import scaffold

REPOSITORY = Path(__file__).parent.parent.parent

RIGHT, WRONG = "total = jnp.sum(weights)", "total = jnp.sum(mask)"
OTHER = "total = jnp.sum(jnp.where(mask, weights, 0.0))"


class Walkthrough:
    """Outputs in a project that ``init`` makes beside ``built``, whose compiled library it takes over."""

    def __init__(self, built: Path) -> None:
        self._built = built
        self.makers: Mapping[str, Callable[[], str]] = {
            "ci-init": lambda: self._shown["init"],
            "ci-green": lambda: self._shown["green"],
            "ci-stale": lambda: self._shown["stale"],
            "ci-red": lambda: self._shown["red"],
            "ci-summary": lambda: self._shown["summary"],
            "ci-refute": lambda: self._shown["refute"],
            "ci-other": lambda: self._shown["other"],
            "ci-workflow": lambda: fenced("yaml", scaffold.workflow(_version()).splitlines()),
        }

    @cached_property
    def _shown(self) -> Mapping[str, str]:
        project = self._built.with_name("new project")
        shutil.copytree(self._built / ".maskpool", project / ".maskpool" / "lean" / ".maskpool")
        shown = {"init": console(project, "init"), "green": console(project, "check", "--quiet")}
        kernel = project / scaffold.SAMPLE
        text = kernel.read_text("utf-8")
        kernel.write_text(_exchanged(text, WRONG), "utf-8")
        shown["refute"] = console(project, "refute", "--quiet", "--budget", "2")
        shown["stale"] = console(project, "check", "--format", "github")
        run(project, "trace")
        shown["red"] = console(project, "check", "--format", "github", "--report", "report.md")
        shown["summary"] = fenced("markdown", (project / "report.md").read_text("utf-8").splitlines())
        kernel.write_text(_exchanged(text, OTHER), "utf-8")
        commands = (["trace"], ["accept"], ["check", "--quiet"])
        shown["other"] = "\n".join(console(project, *command) for command in commands)
        return shown


def _exchanged(text: str, line: str) -> str:
    if text.count(RIGHT) != 1:
        raise ValueError(f"{scaffold.SAMPLE} does not contain {RIGHT!r} exactly once")
    return text.replace(RIGHT, line)


def _version() -> str:
    version: str = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return version
