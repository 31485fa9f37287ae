"""Which engine does the work."""

from __future__ import annotations

from typing import Literal

from maskpool_verify.engine.lake import LakeEngine
from maskpool_verify.engine.protocol import Engine
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.errors import EnvironmentFault


def choose(name: Literal["auto", "wasm", "lake"] = "auto") -> Engine:
    """Return the engine of that name; ``auto`` is lake if the right Lean is installed, else wasm.

    Raises:
        EnvironmentFault: ``lake`` is asked for, but is not installed or has another version.
    """
    if name == "wasm":
        return WasmEngine()
    lake = LakeEngine()
    try:
        lake.info()
    except EnvironmentFault:
        if name == "lake":
            raise
        return WasmEngine()
    return lake
