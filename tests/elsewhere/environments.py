"""The command line of an installed wheel, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def quiet_run(
    command: list[str], cwd: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@dataclass(frozen=True)
class Elsewhere:
    """A folder with an environment of its own, in which the wheel is installed."""

    folder: Path
    programs: Path

    def run(self, program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in the folder."""
        kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
        return quiet_run([str(self.programs / program), *arguments], self.folder, kept | environment)
