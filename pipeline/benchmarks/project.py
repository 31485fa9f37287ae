"""Copies of this project in a temporary directory, so that measurements leave the checkout alone."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Mapping
from pathlib import Path

from benchmarks.results import MeasurementError
from maskpool_verify.engine.protocol import ModuleResult
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.lean.properties import theorems
from maskpool_verify.manifest import load_manifest

ROOT = Path(__file__).resolve().parents[2]
_LIBRARY = "MaskPool"
_PARTS = ("MaskPool", "MaskPool.lean", "kernels", "certificates", "maskpool.toml")


class Workspace:
    """A temporary directory, and how often to measure.

    One module is built at a time, so that its time is its own.
    """

    def __init__(self, directory: Path, *, quick: bool) -> None:
        self._directory = directory
        self._numbers = itertools.count()
        self._built: Path | None = None
        self.repetitions = 1 if quick else 3
        self.engine = WasmEngine(jobs=1)

    def copy(self) -> Path:
        """A copy of the project with nothing built."""
        target = self._directory / f"project{next(self._numbers)}"
        target.mkdir()
        for part in _PARTS:
            source = ROOT / part
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target / part)
        return target

    def built(self) -> Path:
        """A copy of the project with everything built, always the same."""
        if self._built is None:
            self._built = self.copy()
            self.build_all(self._built)
        return self._built

    def build_all(self, project: Path) -> Mapping[str, ModuleResult]:
        """Build the library and the certificates, whether or not they changed."""
        kernels = load_manifest(project / "maskpool.toml").kernels
        modules = sorted({theorem.module for kernel in kernels for theorem in theorems(kernel)})
        return self.build(project, _LIBRARY, *modules, fresh=True)

    def build(self, project: Path, *modules: str, fresh: bool = False) -> Mapping[str, ModuleResult]:
        """Build modules and what they import.

        Raises:
            MeasurementError: one of them has an error.
        """
        results = self.engine.build(project, modules, fresh=fresh)
        for result in results.values():
            if result.status == "failed":
                error = next(m for m in result.messages if m.severity == "error")
                raise MeasurementError(f"Lean rejects {result.module}: {error.text.splitlines()[0]}.")
        return results
