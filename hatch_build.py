"""Puts the Lean library into the wheel; an editable install uses that of the checkout."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIBRARY = ("MaskPool", "MaskPool.lean", "lake-manifest.json", "lakefile.lean", "lean-toolchain")


class LibraryHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling is not typed
    """Adds ``maskpool_verify/library``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling; ``version`` is ``"standard"`` or ``"editable"``."""
        if version == "standard":
            build_data["force_include"] |= {name: f"maskpool_verify/library/{name}" for name in LIBRARY}
