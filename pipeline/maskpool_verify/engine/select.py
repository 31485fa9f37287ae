"""Which engine does the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from maskpool_verify.engine.lake import LakeEngine
from maskpool_verify.engine.protocol import Engine
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.errors import EnvironmentFault


def choose(
    name: Literal["auto", "wasm", "lake"] = "auto", tell: Callable[[str], None] = lambda _: None
) -> Engine:
    """Return the engine of that name; ``auto`` is lake if the right Lean is installed, else wasm.

    Where there is a lake, ``tell`` is told which one ``auto`` has taken, and why not lake. The report names
    the engine in any case.

    Raises:
        EnvironmentFault: ``lake`` is asked for, but is not installed or has another version.
    """
    if name == "wasm":
        return WasmEngine()
    lake = LakeEngine()
    try:
        version = lake.info().lean_version
    except EnvironmentFault as error:
        if name == "lake":
            raise
        if lake.is_on_path():
            tell(f"engine: wasm, the embedded Lean, and not lake: {error}")
        return WasmEngine()
    if name == "auto":
        tell(f"engine: lake, the native Lean {version}")
    return lake
