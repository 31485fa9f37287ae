"""Fixtures shared by all tests."""

from __future__ import annotations

import pytest

from maskpool_verify.engine.wasm import WasmEngine, default_cache, install


@pytest.fixture(scope="session")
def engine() -> WasmEngine:
    """The embedded Lean, installed if needed. A run costs 2.5 s: keep modules few and tiny."""
    install(default_cache())
    return WasmEngine()
